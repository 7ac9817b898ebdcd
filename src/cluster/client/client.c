#include "cluster/client/client.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double LOOK_EVERY = 1;    /* seconds */
static const double OPEN_STORE = 60;   /* that a run's store may take to open */
static const double LOOK_HURRY = 0.1;  /* when something is about to be over */
static const double SILENCE = 10;      /* of the server, until people are told */
static const double BEATS_UNTIL = 20;  /* no agent beats less often, unless told to */
static const double FOREVER = 1e12;    /* seconds: only an event or a stop ends the wait */
static const double OPEN_PATIENCE = 8; /* for the first look */
enum { TICK_MS = 100 };                /* how late a stop or a display may be noticed */

void client_say(struct client *c, const char *fmt, ...)
{
    if (!c->o.say)
        return;
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    c->o.say(c->o.context, line);
}

/* ---- the board ---- */

static void forget_look(struct client *c)
{
    for (size_t i = 0; i < c->members.n; i++)
        member_free(&c->members.at[i]);
    c->members.n = c->runs.n = 0;
}

bool client_lives(const struct client *c, const struct member *m)
{
    (void)c;
    return !m->sealed && m->state != BOARD_DEAD && m->age < BEATS_UNTIL;
}

static void refresh_peers(struct client *c);

static void on_view(void *context, const struct board_view *view, const char *why)
{
    struct client *c = context;
    c->asked = 0;
    if (!view) {
        client_say(c, "the board cannot be read: %s", why ? why : "no reason given");
        return;
    }
    forget_look(c);
    c->sealed = c->opened = false;
    for (size_t i = 0; i < view->nmembers; i++) {
        struct member m;
        member_read(&view->members[i], &c->o.key, &m);
        c->sealed |= m.sealed && m.state != BOARD_DEAD && m.age < BEATS_UNTIL;
        c->opened |= client_lives(c, &m);
        array_push(&c->members, m);
    }
    for (size_t i = 0; i < view->nruns; i++)
        array_push(&c->runs, view->runs[i]);
    c->server_now = view->now;
    c->looked = clock_seconds();
    if (c->said_silent)
        client_say(c, "the store at %s answers again", c->o.address->text);
    c->said_silent = false;
    refresh_peers(c);
    if (c->listener.looked)
        c->listener.looked(c->listener.context);
}

void client_ask_look(struct client *c)
{
    if (c->asked > 0)
        return;
    c->asked = clock_seconds();
    board_view(c->board, on_view, c);
}

static void on_board(uv_poll_t *poll, int status, int events)
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

struct since {
    const struct client *c;
    double when;
};

static bool looked_since(void *context)
{
    const struct since *s = context;
    return s->c->looked > s->when;
}

bool client_look(struct client *c, double patience, struct error *err)
{
    struct since s = {c, clock_seconds()};
    client_ask_look(c);
    if (client_drive(c, looked_since, &s, patience))
        return true;
    return error_set(err, ERROR_FAILED, "the store at %s does not answer", c->o.address->text);
}

struct enough {
    struct client *c;
    uint32_t agents;
};

static bool enough_agents(void *context)
{
    const struct enough *e = context;
    uint32_t n = 0;
    for (size_t i = 0; i < e->c->members.n; i++)
        n += client_lives(e->c, &e->c->members.at[i]) && e->c->members.at[i].state == BOARD_UP;
    return n >= e->agents;
}

bool client_wait_agents(struct client *c, uint32_t agents, double seconds)
{
    return client_drive(c, enough_agents, &(struct enough){c, agents}, seconds);
}

bool client_unknown(const struct client *c, uint64_t run, struct error *err)
{
    struct strbuf list = {0};
    size_t first = c->runs.n > 10 ? c->runs.n - 10 : 0;
    for (size_t i = first; i < c->runs.n; i++)
        strbuf_printf(&list, "%s%" PRIu64, i > first ? ", " : "", c->runs.at[i].run);
    if (c->runs.n)
        error_set(err, ERROR_INPUT, "there is no run %" PRIu64 " at %s; there %s %s%s", run,
                  c->o.address->text, c->runs.n == 1 ? "is" : "are", first ? "..., " : "", list.at);
    else
        error_set(err, ERROR_INPUT, "there is no run %" PRIu64 " at %s; there is none at all", run,
                  c->o.address->text);
    strbuf_free(&list);
    return false;
}

/* ---- answers of the board that are waited for ---- */

struct reply {
    const struct client *c;
    int stops; /* before it was asked for */
    bool come, good;
    struct strbuf text;
    char why[256];
};

/* Or somebody does not want to wait any more. */
static bool has_come(void *context)
{
    const struct reply *r = context;
    return r->come || client_stops(r->c) > r->stops || atomic_load(&r->c->detach);
}

static void keep_why(struct reply *r, bool good, const char *why)
{
    r->come = true;
    r->good = good;
    snprintf(r->why, sizeof r->why, "%s", why ? why : "");
}

static void on_text(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct reply *r = context;
    keep_why(r, good, why);
    if (good && n)
        strbuf_add_bytes(&r->text, data, n);
}

static void on_done(void *context, bool good, const char *why)
{
    keep_why(context, good, why);
}

/* A request that the server never answers must not find its context gone: closing the board drops
 * it, and nothing but closing follows. */
static bool await_reply(struct client *c, struct reply *r, struct error *err)
{
    client_drive(c, has_come, r, FOREVER);
    if (!r->come) {
        board_close(c->board);
        c->board = NULL;
        return error_set(err, ERROR_FAILED, "stopped while waiting for the store at %s",
                         c->o.address->text);
    }
    return r->good ||
           error_set(err, ERROR_FAILED, "the store at %s refuses: %s", c->o.address->text, r->why);
}

bool client_ticket(struct client *c, uint64_t run, struct ticket *t, struct error *err)
{
    struct reply r = {.c = c, .stops = client_stops(c)};
    struct strbuf text = {0};
    *t = (struct ticket){0};
    board_run_text(c->board, run, on_text, &r);
    struct error stopped = {0};
    bool found = await_reply(c, &r, &stopped), good = false;
    if (!r.come)
        error_set(err, stopped.kind, "%s", stopped.text);
    else if (!found || !r.text.n)
        client_unknown(c, run, err);
    else if (!seal_open_piece(&c->o.key, "ticket", r.text.at, r.text.n, &text))
        error_set(err, ERROR_FAILED,
                  "run %" PRIu64 " at %s was submitted with another cluster key; --key names the "
                  "key's file",
                  run, c->o.address->text);
    else
        good = ticket_read(text.at, text.n, t, err);
    strbuf_free(&r.text);
    strbuf_free(&text);
    return good;
}

bool client_set_state(struct client *c, uint64_t run, enum board_run_state state, struct error *err)
{
    struct reply r = {.c = c, .stops = client_stops(c)};
    board_run_state(c->board, run, state, on_done, &r);
    return await_reply(c, &r, err);
}

/* ---- links ---- */

struct client_peer *client_peer(const struct client *c, uint32_t node)
{
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->node == node)
            return c->peers.at[i];
    return NULL;
}

static void on_link_open(void *context, struct link *l)
{
    struct client *c = context;
    struct client_peer *p = link_data(l);
    if (!p)
        return;
    p->open = true;
    p->why[0] = 0;
    if (c->listener.opened)
        c->listener.opened(c->listener.context, p);
}

static void on_link_closed(void *context, struct link *l, const char *why)
{
    struct client *c = context;
    struct client_peer *p = link_data(l);
    if (c->depot)
        depot_closed(c->depot, l);
    if (!p || p->link != l)
        return;
    p->link = NULL;
    p->open = false;
    p->again = clock_seconds() + 1;
    snprintf(p->why, sizeof p->why, "%s", why ? why : "");
    if (c->listener.closed)
        c->listener.closed(c->listener.context, p);
}

static void on_link_drained(void *context, struct link *l)
{
    struct client *c = context;
    if (c->depot)
        depot_drained(c->depot, l);
}

static bool client_take_data(void *context, struct message_in *m)
{
    struct client *c = context;
    return !c->depot || depot_message(c->depot, m->from, m->kind, m->data, m->n);
}

/* For what is under way; reports of a run that is about to be followed are kept until it is. */
static bool client_take_other(void *context, struct message_in *m)
{
    struct client *c = context;
    message_handler *handler = c->listener.handlers ? c->listener.handlers[m->kind] : NULL;
    if (handler)
        return handler(c->listener.context, m);
    if (c->watched && message_family(m->kind) == MESSAGE_FAMILY_REPORT)
        array_push(&c->early, (struct client_early){client_peer_of(m)->node, m->kind,
                                                    mem_copy_bytes(m->data, m->n), m->n});
    return true;
}

static const struct message_receiver client_receiver = {
    .end = MESSAGE_CLIENT,
    .handler =
        {
            [MESSAGE_FETCH] = client_take_data,
            [MESSAGE_HEAD] = client_take_data,
            [MESSAGE_DATA] = client_take_data,
            [MESSAGE_ABSENT] = client_take_data,
            [MESSAGE_LATER] = client_take_data,
            [MESSAGE_UNFETCH] = client_take_data,
            [MESSAGE_UNFETCHED] = client_take_data,
        },
    .otherwise = client_take_other,
};

static void on_link_message(void *context, struct link *l, uint8_t kind, const void *data, size_t n)
{
    if (link_data(l) && !message_dispatch(&client_receiver, context, l, kind, data, n))
        link_close(l, "a message that is not understood");
}

static void connect_peer(struct client *c, struct client_peer *p)
{
    if (p->link || !p->lives || !p->address[0] || clock_seconds() < p->again)
        return;
    struct link *l = link_connect(c->links, p->address);
    p->open = false;
    p->link = l;
    if (l)
        link_set_data(l, p);
}

static void refresh_peers(struct client *c)
{
    for (size_t i = 0; i < c->peers.n; i++)
        c->peers.at[i]->lives = false;
    for (size_t i = 0; i < c->members.n; i++) {
        const struct member *m = &c->members.at[i];
        if (!client_lives(c, m))
            continue;
        struct client_peer *p = client_peer(c, m->node);
        if (!p) {
            p = mem_new_zero(struct client_peer, 1);
            p->node = m->node;
            p->address = mem_copy_string("");
            array_push(&c->peers, p);
        }
        if (p->life != m->life || strcmp(p->address, m->address) != 0) {
            if (p->link)
                link_close(p->link, "");
            free(p->address);
            p->address = mem_copy_string(m->address);
            p->life = m->life;
            p->again = 0;
        }
        p->lives = true;
    }
    for (size_t i = 0; i < c->peers.n; i++) {
        struct client_peer *p = c->peers.at[i];
        if (!p->lives && p->link)
            link_close(p->link, "");
        else if (c->connects)
            connect_peer(c, p);
    }
}

void client_connect(struct client *c)
{
    c->connects = true;
    refresh_peers(c);
}

bool client_all_decided(const struct client *c)
{
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->lives && !c->peers.at[i]->open && !c->peers.at[i]->why[0])
            return false;
    return true;
}

static bool all_decided(void *context)
{
    return client_all_decided(context);
}

uint32_t client_connected(struct client *c, double seconds)
{
    client_connect(c);
    client_drive(c, all_decided, c, seconds);
    uint32_t n = 0;
    for (size_t i = 0; i < c->peers.n; i++)
        n += c->peers.at[i]->open;
    return n;
}

void client_tell_all(struct client *c, uint8_t kind, uint64_t run)
{
    struct strbuf *head = &c->scratch;
    strbuf_clear(head);
    bytes_put_u64(head, run);
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->link)
            link_send(c->peers.at[i]->link, kind, head->at, head->n, NULL, 0);
}

void client_replay_early(struct client *c, uint64_t run)
{
    for (size_t i = 0; i < c->early.n && c->watched == run; i++) {
        const struct client_early *e = &c->early.at[i];
        struct client_peer *p = client_peer(c, e->node);
        if (p) /* its link may have closed since: handlers of reports do not need it */
            message_dispatch(&client_receiver, c, p->link, e->kind, e->data, e->n);
    }
}

void client_forget_early(struct client *c)
{
    for (size_t i = 0; i < c->early.n; i++)
        free(c->early.at[i].data);
    array_free(&c->early);
    c->watched = 0;
}

/* ---- the store of a run ---- */

static void take_answers(struct client *c)
{
    for (;;) {
        struct meta_answers answers;
        struct error err = {0};
        if (!store_poll(c->store, &answers, &err)) {
            if (!c->store_silent)
                client_say(c, "%s", err.text);
            c->store_silent = true;
            struct error again = {0};
            if (!store_retry(c->store, &again)) { /* final: the run's keys are gone */
                c->store_error = err;
                if (c->polls_store)
                    uv_poll_stop(&c->store_ready);
            }
            return;
        }
        if (!answers.n)
            return;
        c->store_silent = false;
        c->pending -= answers.n < c->pending ? answers.n : c->pending;
        if (c->listener.answers)
            c->listener.answers(c->listener.context, &answers);
        if (!c->store)
            return;
    }
}

static void on_store(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    take_answers(poll->data);
}

bool client_store(struct client *c, uint64_t run, const struct workflow *w, struct error *err)
{
    char prefix[128];
    client_store_close(c);
    struct store_redis_config config = store_address_config(c->o.address, run, prefix);
    config.workflow = w;
    /* a server that is just being started again is worth waiting for: so do the agents */
    double until = clock_seconds() + OPEN_STORE;
    int stops = client_stops(c);
    struct error why = {0};
    while (!(c->store = store_redis_open(&config, NULL, &why)) && why.kind == ERROR_FAILED &&
           clock_seconds() < until && client_stops(c) == stops) {
        error_clear(&why);
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
    if (!c->store)
        return error_set(err, why.kind, "%s", why.text);
    c->pending = 0;
    c->store_silent = false;
    error_clear(&c->store_error);
    uv_poll_init(c->stepper.loop, &c->store_ready, store_fd(c->store));
    c->store_ready.data = c;
    c->polls_store = true;
    uv_poll_start(&c->store_ready, UV_READABLE, on_store);
    return true;
}

static void on_closed(uv_handle_t *handle)
{
    *(bool *)handle->data = true;
}

/* The loop has let go of it: the memory may be used again. */
static void close_handle(struct client *c, uv_handle_t *handle)
{
    bool closed = false;
    handle->data = &closed;
    uv_close(handle, on_closed);
    while (!closed)
        uv_run(c->stepper.loop, UV_RUN_NOWAIT);
}

void client_store_close(struct client *c)
{
    if (c->polls_store) {
        uv_poll_stop(&c->store_ready);
        close_handle(c, (uv_handle_t *)&c->store_ready);
    }
    c->polls_store = false;
    if (c->store)
        store_close(c->store, &(struct error){0});
    c->store = NULL;
}

void client_ask(struct client *c, const struct meta_op *ops, size_t n)
{
    c->pending += n;
    store_submit(c->store, ops, n);
}

struct answered {
    const struct client *c;
    int stops; /* before */
};

static bool answered_or_stopped(void *context)
{
    const struct answered *a = context;
    return !a->c->pending || a->c->store_error.kind != ERROR_NONE ||
           client_stops(a->c) > a->stops || atomic_load(&a->c->detach);
}

bool client_answered(struct client *c, struct error *err)
{
    client_drive(c, answered_or_stopped, &(struct answered){c, client_stops(c)}, FOREVER);
    if (c->store_error.kind != ERROR_NONE)
        return error_set(err, c->store_error.kind, "%s", c->store_error.text);
    return !c->pending || error_set(err, ERROR_FAILED, "stopped while waiting for the store at %s",
                                    c->o.address->text);
}

struct client_progress client_progress_of(const struct meta_answer *a)
{
    return (struct client_progress){a->item.task, a->item.epoch, a->item.waiting};
}

static void keep_count(void *context, const struct meta_answers *answers)
{
    struct client_progress *out = context;
    for (size_t i = 0; i < answers->n; i++)
        if (answers->at[i].kind == META_COUNT)
            *out = client_progress_of(&answers->at[i]);
}

bool client_count(struct client *c, uint64_t run, const struct workflow *w,
                  struct client_progress *out, struct error *err)
{
    *out = (struct client_progress){0};
    if (!client_store(c, run, w, err))
        return false;
    c->listener = (struct client_listener){.answers = keep_count, .context = out};
    client_ask(c, &(struct meta_op){.kind = META_COUNT}, 1);
    bool good = client_answered(c, err);
    c->listener = (struct client_listener){0};
    client_store_close(c);
    return good;
}

/* ---- the loop ---- */

static void on_tick(uv_timer_t *timer)
{
    struct client *c = timer->data;
    double now = clock_seconds();
    if (c->board) {
        if (now - c->looked >= (c->hurry ? LOOK_HURRY : LOOK_EVERY))
            client_ask_look(c);
        board_poll(c->board);
        if (c->looked > 0 && !c->said_silent && now - c->looked > SILENCE) {
            c->said_silent = true;
            client_say(c, "the store at %s does not answer; waiting for it", c->o.address->text);
        }
    }
    if (c->store && c->store_error.kind == ERROR_NONE)
        take_answers(c);
    if (c->listener.tick)
        c->listener.tick(c->listener.context);
}

int client_fd(struct client *c)
{
    return stepper_fd(&c->stepper);
}

void client_stop(struct client *c)
{
    stepper_stop(&c->stepper);
}

void client_detach(struct client *c)
{
    atomic_store(&c->detach, true);
    uv_async_send(&c->stepper.wake);
}

int client_stops(const struct client *c)
{
    return stepper_stops(&c->stepper);
}

void client_settle(struct client *c)
{
    stepper_forget_stops(&c->stepper);
    atomic_store(&c->detach, false);
}

bool client_drive(struct client *c, bool (*until)(void *context), void *context, double seconds)
{
    double end = clock_seconds() + seconds;
    while (!until(context)) {
        if (clock_seconds() > end)
            return false;
        stepper_step(&c->stepper, -1); /* the ticker wakes it up */
    }
    return true;
}

static bool first_look(void *context)
{
    return ((struct client *)context)->looked > 0;
}

struct client *client_open(const struct client_config *config, struct error *err)
{
    struct client *c = mem_new_zero(struct client, 1);
    c->o = *config;
    if (!stepper_open(&c->stepper, config->loop, err)) {
        free(c);
        return NULL;
    }
    uv_timer_init(c->stepper.loop, &c->ticker);
    c->ticker.data = c;
    uv_timer_start(&c->ticker, on_tick, TICK_MS, TICK_MS);
    c->board = board_open(config->address, err);
    c->links = c->board ? links_new(&(struct links_config){.loop = c->stepper.loop,
                                                           .key = config->key,
                                                           .hello = "{\"role\":\"client\"}",
                                                           .open = on_link_open,
                                                           .message = on_link_message,
                                                           .closed = on_link_closed,
                                                           .drained = on_link_drained,
                                                           .context = c},
                                    err)
                        : NULL;
    bool good = c->links != NULL;
    if (good) {
        uv_poll_init(c->stepper.loop, &c->board_ready, board_fd(c->board));
        c->board_ready.data = c;
        c->polls_board = true;
        uv_poll_start(&c->board_ready, UV_READABLE, on_board);
        client_ask_look(c);
        good =
            client_drive(c, first_look, c, OPEN_PATIENCE) ||
            error_set(err, ERROR_FAILED, "the store at %s does not answer", config->address->text);
    }
    if (good && c->sealed && c->opened)
        client_say(c, "some agents at %s have another cluster key; they are left alone",
                   config->address->text);
    if (good && c->sealed && !c->opened) {
        char name[9];
        seal_key_name(&config->key, name);
        good = error_set(err, ERROR_FAILED,
                         "the agents at %s have another cluster key than this one (%s); --key "
                         "names the key's file",
                         config->address->text, name);
    }
    if (good)
        return c;
    client_close(c);
    return NULL;
}

void client_listen(struct client *c, void (*say)(void *context, const char *line), void *context)
{
    c->o.say = say;
    c->o.context = context;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

void client_close(struct client *c)
{
    if (!c)
        return;
    c->listener = (struct client_listener){0};
    client_store_close(c);
    if (c->polls_board) {
        uv_poll_stop(&c->board_ready);
        close_handle(c, (uv_handle_t *)&c->board_ready);
    }
    board_close(c->board);
    c->board = NULL;
    if (c->links) {
        client_drive(c, never, NULL, 0.02); /* what was said last may still be on its way out */
        links_free(c->links);
    }
    uv_timer_stop(&c->ticker);
    close_handle(c, (uv_handle_t *)&c->ticker);
    for (int i = 0; i < 100 && c->links; i++) /* closing links want a few turns */
        uv_run(c->stepper.loop, UV_RUN_NOWAIT);
    stepper_close(&c->stepper);
    for (size_t i = 0; i < c->peers.n; i++) {
        free(c->peers.at[i]->address);
        free(c->peers.at[i]);
    }
    array_free(&c->peers);
    client_forget_early(c);
    forget_look(c);
    array_free(&c->members);
    array_free(&c->runs);
    strbuf_free(&c->scratch);
    free(c);
}
