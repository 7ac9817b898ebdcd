/* A client: its loop, from open to close. What it does stands in files of their own: client_board.c
 * (who is there), client_peers.c (links), client_store.c (a run's store), submit.c, follow.c,
 * collect.c, cancel.c.
 *
 * Invariants:
 *   I1. One thing at a time is under way (a submission, a run that is followed, a cancellation): it
 *       has the `listener`, the store and the depot, and gives them back when it ends.
 *   I2. Stops are counted for what is under way. When it ends they are forgotten (client_settle);
 *       one that came in between counts for what begins next.
 *   I3. The ticker runs from open to close, so that a step never waits longer than TICK_MS. */
#include "cluster/client/client.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"

#include <stdio.h>
#include <stdlib.h>

static const double LOOK_EVERY = 1;    /* seconds: what people notice */
static const double LOOK_HURRY = 0.02; /* when something is about to be over */
static const double SILENCE = 10;      /* seconds of the server, until people are told */
static const double OPEN_PATIENCE =
    8; /* seconds for the first look: a server that is there answers */
static const double LAST_WORDS = 0.02; /* seconds for what was sent last to leave this machine */
enum {
    TICK_MS = 100, /* how late a stop or a display may be noticed */
    HURRY_MS = 10, /* between ticks when something is about to be over */
};

/* A line that does not fit is cut: it is for people. */
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

/* Tells client_close_handle(), which waits on its stack. */
static void client_handle_closed(uv_handle_t *handle)
{
    *(bool *)handle->data = true;
}

void client_close_handle(struct client *c, uv_handle_t *handle)
{
    bool closed = false;
    handle->data = &closed;
    uv_close(handle, client_handle_closed);
    while (!closed)
        uv_run(c->stepper.loop, UV_RUN_NOWAIT);
}

/* Ten times a second: the board is looked at when it is due, what the sockets did not announce is
 * polled (a connection that is being made again has no descriptor yet), and what is under way has
 * its turn. */
static void client_tick(uv_timer_t *timer)
{
    struct client *c = timer->data;
    double now = clock_seconds();
    if (c->board) {
        if (now - c->looked >= (c->hurry ? LOOK_HURRY : LOOK_EVERY))
            client_ask_refresh(c);
        board_poll(c->board);
        if (c->looked > 0 && !c->said_silent && now - c->looked > SILENCE) {
            c->said_silent = true;
            client_say(c, "the store at %s does not answer; waiting for it", c->o.address->text);
        }
    }
    if (c->store && c->store_error.kind == ERROR_NONE)
        client_take_answers(c);
    if (c->listener.tick)
        c->listener.tick(c->listener.context);
}

/* Nobody is kept waiting for a tick at the end: it comes at once, and then more often. */
void client_hurry(struct client *c, bool hurry)
{
    if (c->hurry == hurry)
        return;
    c->hurry = hurry;
    uv_timer_start(&c->ticker, client_tick, hurry ? 0 : TICK_MS, hurry ? HURRY_MS : TICK_MS);
}

int client_fd(struct client *c)
{
    return stepper_fd(&c->stepper);
}

void client_stop(struct client *c)
{
    stepper_stop(&c->stepper);
}

/* The flag first, then the wake-up: a step that was woken sees it. */
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

/* For what blocks. The owner of the loop may be somebody else (a fleet): his handles have their
 * turns as well. */
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

static bool client_has_looked(void *context)
{
    return ((struct client *)context)->looked > 0;
}

/* The first look decides: a server that does not answer, or agents that all have another key, is an
 * error; some agents with another key are only worth a remark. */
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
    uv_timer_start(&c->ticker, client_tick, TICK_MS, TICK_MS);
    c->board = board_open(config->address, err);
    if (c->board &&
        !charter_open(&c->charter, c->board, config->address, &config->key, NULL, err)) {
        board_close(c->board); /* before it could answer to what is gone */
        c->board = NULL;
    }
    c->links = c->board ? client_links(c, err) : NULL;
    bool good = c->links != NULL;
    if (good) {
        uv_poll_init(c->stepper.loop, &c->board_ready, board_fd(c->board));
        c->board_ready.data = c;
        c->polls_board = true;
        uv_poll_start(&c->board_ready, UV_READABLE, client_board_readable);
        client_ask_refresh(c);
        good =
            client_drive(c, client_has_looked, c, OPEN_PATIENCE) ||
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

/* A link that has closed has sent what it had. */
static bool client_has_hung_up(void *context)
{
    const struct client *c = context;
    for (size_t i = 0; i < c->peers.n; i++)
        if (c->peers.at[i]->link)
            return false;
    return true;
}

/* Backwards. The listener goes first, so that nothing is told any more; links are given a moment to
 * write, and turns of the loop to close; the stepper last, since all handles stood on its loop. */
void client_close(struct client *c)
{
    if (!c)
        return;
    c->listener = (struct client_listener){0};
    client_store_close(c);
    if (c->polls_board) {
        uv_poll_stop(&c->board_ready);
        client_close_handle(c, (uv_handle_t *)&c->board_ready);
    }
    board_close(c->board);
    c->board = NULL;
    if (c->links) {
        c->connects = false;
        for (size_t i = 0; i < c->peers.n; i++) /* or agents log that we crashed */
            if (c->peers.at[i]->link)
                link_close(c->peers.at[i]->link, "");
        client_hurry(c, true);
        client_drive(c, client_has_hung_up, c,
                     LAST_WORDS); /* what was said last may still be on its way out */
        links_cut_off(c->links);  /* in order, one may take longer than we are there */
    }
    uv_timer_stop(&c->ticker);
    client_close_handle(c, (uv_handle_t *)&c->ticker);
    for (int i = 0; i < 100 && c->links; i++) /* closing links want a few turns */
        uv_run(c->stepper.loop, UV_RUN_NOWAIT);
    stepper_close(&c->stepper);
    for (size_t i = 0; i < c->peers.n; i++) {
        free(c->peers.at[i]->address);
        free(c->peers.at[i]);
    }
    array_free(&c->peers);
    client_forget_early(c);
    client_forget_view(c);
    array_free(&c->members);
    array_free(&c->runs);
    strbuf_free(&c->scratch);
    strbuf_free(&c->part.text);
    charter_free(&c->charter);
    free(c);
}
