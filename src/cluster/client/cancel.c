/* Ending things from outside: a run, a task with what depends on it, agents.
 *
 * Invariants:
 *   I1. One agent is asked at a time to take a task out; the next only when it has answered, its
 *       link has closed, or ANSWERING seconds have passed. Being asked twice does no harm: what
 *       is taken out already is not there.
 *   I2. The listener stands on the caller's stack and is taken away before these functions
 *       return. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const double CONNECTING = 5, ANSWERING = 20; /* seconds */

struct cancelling {
    struct client *c;
    uint64_t run;
    uint32_t asked; /* node; NONE: nobody now */
    bool answered, good, lost;
    struct strbuf *answer;
};

/* Only the one that was asked last: an earlier one may answer late, after another was asked. */
static bool cancel_take_result(void *context, struct message_in *m)
{
    struct cancelling *d = context;
    bool good = bytes_u8(&m->in);
    size_t n;
    const char *text = bytes_text(&m->in, &n);
    if (!bytes_end(&m->in))
        return false;
    if (m->run == d->run && client_peer_of(m)->node == d->asked && !d->answered) {
        d->answered = true;
        d->good = good;
        if (n)
            strbuf_add_bytes(d->answer, text, n);
    }
    return true;
}

static message_handler *const cancel_handlers[MESSAGES] = {[MESSAGE_RESULT] = cancel_take_result};

/* Whoever was asked is gone: ask the next. */
static void cancel_peer_closed(void *context, struct client_peer *p)
{
    struct cancelling *d = context;
    d->lost |= p->node == d->asked;
}

static bool cancel_is_answered(void *context)
{
    const struct cancelling *d = context;
    return d->answered || d->lost || client_stops(d->c);
}

/* One agent, until it has answered (I1). */
static void cancel_ask(struct cancelling *d, struct client_peer *p, uint8_t kind,
                       const struct strbuf *head)
{
    d->answered = d->lost = false;
    strbuf_clear(d->answer);
    d->asked = p->node;
    link_send(p->link, kind, head->at, head->n, NULL, 0);
    client_drive(d->c, cancel_is_answered, d, ANSWERING);
}

/* Any agent will do: it finds the others that hold a part of the subtree. */
static bool cancel_task(struct client *c, uint64_t run, uint32_t task, struct strbuf *answer,
                        struct error *err)
{
    struct cancelling d = {.c = c, .run = run, .asked = NONE, .answer = answer};
    c->listener = (struct client_listener){
        .handlers = cancel_handlers, .closed = cancel_peer_closed, .context = &d};
    struct strbuf head = {0};
    bytes_put_u64(&head, run);
    bytes_put_u32(&head, task);
    uint32_t open = client_connected(c, CONNECTING);
    /* one that does not know the run or the task yet is not the last word */
    for (size_t i = 0; i < c->peers.n && !(d.answered && d.good) && !client_stops(c); i++) {
        struct client_peer *p = c->peers.at[i];
        if (!p->open)
            continue;
        cancel_ask(&d, p, MESSAGE_CANCEL, &head);
    }
    c->listener = (struct client_listener){0};
    strbuf_free(&head);
    if (d.answered)
        return d.good || error_set(err, ERROR_FAILED, "%s", strbuf_text(answer));
    return error_set(err, ERROR_FAILED,
                     open ? "no agent answered; `weft status` shows who is there"
                          : "no agent at %s can be reached; a task can only be cancelled by one",
                     c->o.address->text);
}

/* A whole run is ended by the board alone: agents see its state, at once when they are told to
 * look, else within a second. */
bool client_cancel(struct client *c, uint64_t run, uint32_t task, struct strbuf *answer,
                   struct error *err)
{
    bool good;
    if (task != NONE) {
        good = cancel_task(c, run, task, answer, err);
    } else {
        const struct board_run *r = client_run(c, run);
        uint8_t id[SEAL_ID];
        if (r)
            memcpy(id, r->id, sizeof id);
        if (!r)
            good = client_no_such_run(c, run, err);
        else if (r->forged)
            good = error_set(err, ERROR_FAILED,
                             "what the board at %s says of run %" PRIu64
                             " was written by nobody who has the cluster's key; it cannot be "
                             "cancelled there",
                             c->o.address->text, run);
        else
            good = client_set_state(c, run, id, BOARD_RUN_CANCELLED, err);
        if (good && client_connected(c, CONNECTING))
            client_send_all(c, MESSAGE_RUN_CHANGED, run);
    }
    client_settle(c);
    return good;
}

/* ---- leaving ---- */

struct leaving {
    struct client *c;
    const uint32_t *nodes;
    size_t n;
    bool now;
};

static void leaving_head(struct strbuf *head, bool now)
{
    bytes_put_u64(head, 0);
    bytes_put_u8(head, now);
}

/* No list: all of them. */
static bool leaving_names(const struct leaving *l, uint32_t node)
{
    for (size_t i = 0; l->nodes && i < l->n; i++)
        if (l->nodes[i] == node)
            return true;
    return !l->nodes;
}

/* Also when an agent joins meanwhile: it is among all. */
static void leaving_send(void *context, struct client_peer *p)
{
    struct leaving *l = context;
    struct strbuf head = {0};
    if (!leaving_names(l, p->node))
        return;
    leaving_head(&head, l->now);
    link_send(p->link, MESSAGE_LEAVE, head.at, head.n, NULL, 0);
    p->told = true;
    strbuf_free(&head);
}

/* The store may go with the last of them: then a closed link is all that tells. */
static uint32_t leaving_count(const struct leaving *l)
{
    bool silent = board_silence(l->c->board) > 2;
    uint32_t count = 0;
    for (size_t i = 0; i < l->c->peers.n; i++) {
        const struct client_peer *p = l->c->peers.at[i];
        /* all leave, and the store with them; one that we have not reached yet is not gone */
        bool gone = p->told && !p->open && (silent || !l->nodes);
        count += p->lives && leaving_names(l, p->node) && !gone;
    }
    return count;
}

static bool leaving_is_over(void *context)
{
    const struct leaving *l = context;
    return !leaving_count(l) || client_stops(l->c) > 1;
}

/* Agents hand their data to others before they go, which takes its time: the caller says how much.
 */
uint32_t client_shut_down(struct client *c, const uint32_t *nodes, size_t n, bool now,
                          double seconds)
{
    struct leaving l = {c, nodes, n, now};
    if (!c->board)
        return 0;
    c->listener = (struct client_listener){.opened = leaving_send, .context = &l};
    client_connect(c);
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->open)
            leaving_send(&l, c->peers.at[i]);
    client_hurry(c, true);
    client_drive(c, leaving_is_over, &l, seconds);
    client_hurry(c, false);
    c->listener = (struct client_listener){0};
    client_settle(c);
    return leaving_count(&l);
}

/* A link that closes before the answer is no answer: with `now` the agent may have gone so quickly, and the board tells. */
bool client_drain(struct client *c, uint32_t node, bool now, struct strbuf *answer,
                  struct error *err)
{
    struct cancelling d = {.c = c, .asked = NONE, .answer = answer};
    struct strbuf head = {0};
    leaving_head(&head, now);
    c->listener = (struct client_listener){
        .handlers = cancel_handlers, .closed = cancel_peer_closed, .context = &d};
    client_connected(c, CONNECTING);
    struct client_peer *p = client_peer(c, node);
    bool reached = p && p->lives && p->open;
    if (reached)
        cancel_ask(&d, p, MESSAGE_LEAVE, &head);
    c->listener = (struct client_listener){0};
    strbuf_free(&head);
    bool good = d.answered && d.good;
    if (!reached)
        error_set(err, ERROR_FAILED,
                  "node %u cannot be reached%s%s; `weft status` shows who is there", node,
                  p && *p->why ? ": " : "", p ? p->why : "");
    else if (!good)
        error_set(err, ERROR_FAILED, "node %u %s; `weft status` shows what it does", node,
                  d.lost ? "closed its connection before it answered" : "did not answer");
    client_settle(c);
    return good;
}
