/* A client and the board: who is there, which runs there are, and requests whose answer is waited
 * for. The board is looked at once a second (client_tick), more often when something is about to be
 * over; a look replaces all that was known.
 *
 * Invariants:
 *   I1. members and runs are those of one look, never of two.
 *   I2. At most one look is under way (`asked`): a server that is silent for an hour has one
 *       request to answer, not thousands.
 *   I3. A request whose asker does not wait any more must not find its context gone: closing the
 *       board drops it, and nothing but closing follows. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"
#include "cluster/wire/run_part.h"
#include "model/future.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* An agent that has not sent a heartbeat for so many seconds is not counted on; none sends them
 * less often unless its user says so. */
static const double HEARTBEAT_UNTIL = 20;

/* ---- looks ---- */

/* Keeps the arrays. */
void client_forget_view(struct client *c)
{
    for (size_t i = 0; i < c->members.n; i++)
        member_free(&c->members.at[i]);
    c->members.n = c->runs.n = 0;
}

/* Its last one is not too old for the next to come. An agent with a long lease (--lease) beats seldom. */
static bool heartbeat_is_due(const struct member *m)
{
    return m->age < HEARTBEAT_UNTIL || m->age < m->lease;
}

/* Sealed with another key, dead, or silent for too long: not one of ours to count on. */
bool client_is_alive(const struct client *c, const struct member *m)
{
    (void)c;
    return !m->sealed && !board_is_gone(m->state) && heartbeat_is_due(m);
}

/* Somebody who has not the key wrote to the server: said once. Another id is another cluster: nothing
 * of what we were at is there. */
static void client_check_charter(struct client *c, const struct board_view *view)
{
    uint8_t id[SEAL_ID];
    char was[CHARTER_NAME], is[CHARTER_NAME];
    switch (charter_standing(&c->charter, c->o.address, view, id)) {
    case CHARTER_STANDS:
        break;
    case CHARTER_GONE:
        if (!c->said_forged)
            client_say(
                c,
                "the id of the cluster at %s is gone from its store: the store was emptied, or "
                "somebody without the key wrote to it",
                c->o.address->text);
        c->said_forged = true;
        break;
    case CHARTER_CHANGED:
        charter_name(c->charter.id, was);
        charter_name(id, is);
        if (c->changed.kind == ERROR_NONE)
            error_set(
                &c->changed, ERROR_FAILED,
                "the cluster at %s has another id now (%s, was %s): its store was emptied or put "
                "back to an earlier state, and another cluster was founded there",
                c->o.address->text, is, was);
        break;
    }
}

/* A whole look at once (I1). Peers are told before the listener, so that he finds links to whom he
 * sees. */
static void client_took_view(void *context, const struct board_view *view, const char *why)
{
    struct client *c = context;
    c->asked = 0;
    if (!view) {
        client_say(c, "the board cannot be read: %s", why ? why : "no reason given");
        return;
    }
    client_forget_view(c);
    c->sealed = c->opened = false;
    for (size_t i = 0; i < view->nmembers; i++) {
        struct member m;
        member_read(&view->members[i], &c->charter, &m);
        c->sealed |= m.sealed && !m.silent && !board_is_gone(m.state) && heartbeat_is_due(&m);
        c->opened |= client_is_alive(c, &m);
        array_push(&c->members, m);
    }
    for (size_t i = 0; i < view->nruns; i++) {
        array_push(&c->runs, view->runs[i]);
        c->runs.at[i].forged = !charter_proves(&c->charter, &view->runs[i]);
    }
    client_check_charter(c, view);
    c->server_now = view->now;
    c->looked = clock_seconds();
    if (c->said_silent)
        client_say(c, "the store at %s answers again", c->o.address->text);
    c->said_silent = false;
    client_refresh_peers(c);
    if (c->listener.looked)
        c->listener.looked(c->listener.context);
}

void client_ask_refresh(struct client *c)
{
    if (c->asked > 0)
        return;
    c->asked = clock_seconds();
    board_view(c->board, client_took_view, c);
}

void client_board_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct client *c = poll->data;
    board_poll(c->board);
}

const struct member *client_members(const struct client *c, size_t *n)
{
    *n = c->members.n;
    return c->members.at;
}

const struct board_run *client_runs(const struct client *c, size_t *n)
{
    *n = c->runs.n;
    return c->runs.at;
}

/* The server's clock, carried on by ours since the last look: the two may differ by hours. */
double client_now(const struct client *c)
{
    return c->server_now + (clock_seconds() - c->looked);
}

const struct board_run *client_run(const struct client *c, uint64_t run)
{
    for (size_t i = 0; i < c->runs.n; i++)
        if (c->runs.at[i].run == run)
            return &c->runs.at[i];
    return NULL;
}

struct look_since {
    const struct client *c;
    double when;
};

static bool client_looked_since(void *context)
{
    const struct look_since *s = context;
    return s->c->looked > s->when;
}

/* A look that was under way already counts: it ends after this call began. */
bool client_refresh(struct client *c, double patience, struct error *err)
{
    struct look_since s = {c, clock_seconds()};
    client_ask_refresh(c);
    if (client_drive(c, client_looked_since, &s, patience))
        return true;
    return error_set(err, ERROR_FAILED, "the store at %s does not answer", c->o.address->text);
}

struct agents_wanted {
    struct client *c;
    uint32_t agents, ever;
};

static bool client_has_agents(void *context)
{
    const struct agents_wanted *e = context;
    uint32_t n = 0;
    for (size_t i = 0; i < e->c->members.n; i++)
        n += client_is_alive(e->c, &e->c->members.at[i]) &&
             e->c->members.at[i].state != BOARD_LEAVING;
    return n >= e->agents || (e->ever && e->c->members.n >= e->ever) || client_stops(e->c);
}

bool client_wait_agents(struct client *c, uint32_t agents, uint32_t ever, double seconds)
{
    return client_drive(c, client_has_agents, &(struct agents_wanted){c, agents, ever}, seconds);
}

/* The last ten that can be followed: an old cluster has had thousands. */
bool client_no_such_run(const struct client *c, uint64_t run, struct error *err)
{
    const struct board_run *r = client_run(c, run);
    if (r && !r->forged && r->state == BOARD_RUN_EXPIRED)
        return error_set(
            err, ERROR_FAILED,
            "the results of run %" PRIu64
            " at %s are gone: it had ended, nobody took them, and the "
            "agents keep such data for a limited time and size (`weft status` shows which; `weft "
            "agent --keep-for --keep-size` change it); submit the workflow again",
            run, c->o.address->text);
    struct strbuf list = {0};
    uint32_t open = 0, said = 0;
    for (size_t i = 0; i < c->runs.n; i++)
        open += c->runs.at[i].state != BOARD_RUN_COLLECTED && c->runs.at[i].run != run;
    for (size_t i = 0, skipped = 0; i < c->runs.n; i++) {
        if (c->runs.at[i].state == BOARD_RUN_COLLECTED || c->runs.at[i].run == run)
            continue;
        if (open > 10 && skipped++ < open - 10)
            continue;
        strbuf_printf(&list, "%s%" PRIu64,
                      said++      ? ", "
                      : open > 10 ? "..., "
                                  : "",
                      c->runs.at[i].run);
    }
    if (open)
        error_set(err, ERROR_INPUT, "there is no run %" PRIu64 " at %s; there %s %s", run,
                  c->o.address->text, open == 1 ? "is" : "are", list.at);
    else
        error_set(err, ERROR_INPUT,
                  "there is no run %" PRIu64 " at %s, nor any other whose results wait there", run,
                  c->o.address->text);
    strbuf_free(&list);
    return false;
}

/* ---- answers that are waited for ---- */

struct board_reply {
    const struct client *c;
    int stops; /* before it was asked for */
    bool come, good;
    struct strbuf text;
    char why[256];
};

/* Or somebody does not want to wait any more. */
static bool reply_has_come(void *context)
{
    const struct board_reply *r = context;
    return r->come || client_stops(r->c) > r->stops || atomic_load(&r->c->detach);
}

/* The answer may come in any turn of the loop; the text is the board's and gone after the call. */
static void reply_keep(struct board_reply *r, bool good, const char *why)
{
    r->come = true;
    r->good = good;
    snprintf(r->why, sizeof r->why, "%s", why ? why : "");
}

static void reply_took_text(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct board_reply *r = context;
    reply_keep(r, good, why);
    if (good && n)
        strbuf_add_bytes(&r->text, data, n);
}

static void reply_done(void *context, bool good, const char *why)
{
    reply_keep(context, good, why);
}

/* A request that the server never answers must not find its context gone: closing the board drops
 * it, and nothing but closing follows. */
static bool reply_await(struct client *c, struct board_reply *r, struct error *err)
{
    client_drive(c, reply_has_come, r, CLIENT_FOREVER);
    if (!r->come) {
        board_close(c->board);
        c->board = NULL;
        return error_set(err, ERROR_FAILED, "stopped while waiting for the store at %s",
                         c->o.address->text);
    }
    return r->good ||
           error_set(err, ERROR_FAILED, "the store at %s refuses: %s", c->o.address->text, r->why);
}

/* Its results were taken, and there they are. What stands on the board says so; without it only the
 * board's word counts. */
static bool client_was_taken(struct client *c, uint64_t run, const struct strbuf *text,
                             struct error *err)
{
    struct run_remains r;
    const struct board_run *there = client_run(c, run);
    if (run_remains_unseal(&r, &c->charter, run, text->at, text->n)) {
        error_set(err, ERROR_INPUT,
                  "the results of run %" PRIu64 " (%s) were taken already: they are on %s in %s",
                  run, r.name, r.taken_by, r.taken_to);
        run_remains_free(&r);
        return true;
    }
    if (!there || there->forged || there->state != BOARD_RUN_COLLECTED)
        return false;
    error_set(err, ERROR_INPUT,
              "the results of run %" PRIu64 " were taken already; agents have deleted their copies",
              run);
    return true;
}

/* Who stopped the wait is told so; who asked for a run that is over or not there, what there is. */
bool client_ticket(struct client *c, uint64_t run, struct ticket *t, struct error *err)
{
    struct board_reply r = {.c = c, .stops = client_stops(c)};
    struct strbuf text = {0};
    *t = (struct ticket){0};
    board_run_text(c->board, run, reply_took_text, &r);
    struct error stopped = {0};
    bool found = reply_await(c, &r, &stopped), good = false;
    if (!r.come)
        error_set(err, stopped.kind, "%s", stopped.text);
    else if (found && r.text.n &&
             charter_unseal(&c->charter, "ticket", run, r.text.at, r.text.n, &text))
        good = ticket_read(&text, t, err);
    else if (client_was_taken(c, run, &r.text, err))
        ;
    else if (!found || !r.text.n)
        client_no_such_run(c, run, err);
    else
        error_set(err, ERROR_FAILED,
                  "run %" PRIu64 " at %s was not submitted under this number in this cluster with "
                  "this key: it is another cluster's, or somebody wrote to the store",
                  run, c->o.address->text);
    strbuf_free(&r.text);
    strbuf_wipe(&text); /* it may have secrets */
    return good;
}

bool client_grow(struct client *c, uint64_t run, const uint8_t id[static SEAL_ID],
                 struct workflow *w, uint32_t *parts, struct error *err)
{
    bool good = true, more = true;
    while (good && more && workflow_is_open(w)) {
        struct board_reply r = {.c = c, .stops = client_stops(c)};
        struct run_part part;
        board_run_part(c->board, run, *parts, reply_took_text, &r);
        good = reply_await(c, &r, err);
        /* what is nobody's is as if it were not there: agents say so, and write over it */
        more = good && r.text.n &&
               run_part_unseal(&part, &c->charter, run, id, *parts, r.text.at, r.text.n);
        if (more) {
            good = future_append_part(w, part.bytes.at, part.bytes.n, err);
            ++*parts;
            run_part_free(&part);
        }
        strbuf_free(&r.text);
    }
    return good;
}

/* One request, waited for: for whoever lists runs. A run of an older weft has left nothing. */
bool client_remains(struct client *c, uint64_t run, struct run_remains *remains)
{
    struct board_reply r = {.c = c, .stops = client_stops(c)};
    *remains = (struct run_remains){0};
    board_run_text(c->board, run, reply_took_text, &r);
    bool good = reply_await(c, &r, &(struct error){0}) &&
                run_remains_unseal(remains, &c->charter, run, r.text.at, r.text.n);
    strbuf_free(&r.text);
    return good;
}

/* For callers that block; a run that is followed asks without waiting (follow.c). */
bool client_set_state(struct client *c, uint64_t run, const uint8_t id[static SEAL_ID],
                      enum board_run_state state, struct error *err)
{
    struct board_reply r = {.c = c, .stops = client_stops(c)};
    struct board_change change = charter_change(&c->charter, run, id, state);
    board_run_state(c->board, &change, reply_done, &r);
    return reply_await(c, &r, err);
}

bool client_check_store(struct client *c, struct error *err)
{
    char remark[BOARD_REMARK];
    if (!board_check_promise(c->board, c->o.address, remark, err))
        return false;
    if (remark[0])
        client_say(c, "%s", remark);
    return true;
}

/* An agent's word first: it is of now. */
const char *client_store_trouble(struct client *c)
{
    for (size_t i = 0; i < c->members.n; i++)
        if (client_is_alive(c, &c->members.at[i]) && c->members.at[i].store_trouble)
            return c->members.at[i].store_trouble;
    return c->board ? board_is_full(c->board) : "";
}
