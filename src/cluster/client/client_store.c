/* A client and the store of one run: operations out, answers in, a server that comes and goes.
 *
 * Invariants:
 *   I1. `pending` counts the operations that were handed to the store and are not answered; the
 *       store answers each once, however often it has to connect again.
 *   I2. store_error is set once, when the store cannot go on (the run's keys are gone); after that
 *       nothing is polled any more.
 *   I3. A listener's `answers` may close the store: nothing of it is used after that call. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/client/client_state.h"

#include <stdlib.h>
#include <time.h>

static const double OPEN_STORE = 60;            /* seconds that a run's store may take to open */
static const long OPEN_STORE_AGAIN = 200000000; /* nanoseconds between two attempts */

/* Until there are none. A server that is away is said once, and asked again by every tick; it is
 * final when the store says so. */
void client_take_answers(struct client *c)
{
    for (;;) {
        struct meta_answers answers;
        struct error err = {0};
        if (!store_poll(c->store, &answers, &err)) {
            struct error again = {0};
            if (!store_retry(c->store, &again)) { /* final: the run's keys are gone */
                c->store_error = err;
                if (c->polls_store)
                    uv_poll_stop(&c->store_ready);
            } else if (!c->store_silent) {
                client_say(c, "%s", err.text);
            }
            c->store_silent = true;
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

static void store_readable(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    client_take_answers(poll->data);
}

/* Blocks: connecting does, and an old one may have to be closed. Every error but ERROR_FAILED is
 * one that waiting does not mend, and final at once. */
bool client_store(struct client *c, uint64_t run, const uint8_t id[static SEAL_ID],
                  const struct workflow *w, struct error *err)
{
    char prefix[128];
    client_store_close(c);
    struct seal_prover prover = charter_prover(&c->charter, run, id);
    struct store_redis_config config = store_address_config(c->o.address, run, &prover, prefix);
    config.workflow = w;
    /* a server that is just being started again is worth waiting for: so do the agents */
    double until = clock_seconds() + OPEN_STORE;
    int stops = client_stops(c);
    struct error why = {0};
    while (!(c->store = store_redis_open(&config, NULL, &why)) && why.kind == ERROR_FAILED &&
           clock_seconds() < until && client_stops(c) == stops) {
        error_clear(&why);
        nanosleep(&(struct timespec){.tv_nsec = OPEN_STORE_AGAIN}, NULL);
    }
    if (!c->store)
        return error_set(err, why.kind, "%s", why.text);
    c->pending = 0;
    c->store_silent = false;
    error_clear(&c->store_error);
    uv_poll_init(c->stepper.loop, &c->store_ready, store_fd(c->store));
    c->store_ready.data = c;
    c->polls_store = true;
    uv_poll_start(&c->store_ready, UV_READABLE, store_readable);
    return true;
}

/* What is not answered yet is dropped. */
void client_store_close(struct client *c)
{
    if (c->polls_store) {
        uv_poll_stop(&c->store_ready);
        client_close_handle(c, (uv_handle_t *)&c->store_ready);
    }
    c->polls_store = false;
    if (c->store)
        store_close(c->store, &(struct error){0});
    c->store = NULL;
}

/* Nothing blocks: the store buffers, and answers come to the listener (I1). */
void client_ask(struct client *c, const struct meta_op *ops, size_t n)
{
    c->pending += n;
    store_submit(c->store, ops, n);
}

struct store_wait {
    const struct client *c;
    int stops; /* before */
};

static bool store_answered_or_stopped(void *context)
{
    const struct store_wait *a = context;
    return !a->c->pending || a->c->store_error.kind != ERROR_NONE ||
           client_stops(a->c) > a->stops || atomic_load(&a->c->detach);
}

/* For callers that block; a stop ends the wait, as does the end of the store. */
bool client_answered(struct client *c, struct error *err)
{
    client_drive(c, store_answered_or_stopped, &(struct store_wait){c, client_stops(c)},
                 CLIENT_FOREVER);
    if (c->store_error.kind != ERROR_NONE)
        return error_set(err, c->store_error.kind, "%s", c->store_error.text);
    return !c->pending || error_set(err, ERROR_FAILED, "stopped while waiting for the store at %s",
                                    c->o.address->text);
}

/* META_COUNT answers in the fields of an item (store/store.h). */
struct client_progress client_progress_of(const struct meta_answer *a)
{
    return (struct client_progress){a->item.task, a->item.epoch, a->item.waiting,
                                    (uint32_t)a->item.all_size, (uint32_t)a->item.max_size};
}

/* A count under way: what the store says, and what of it is proved. */
struct store_count {
    struct client_progress says, proved;
    uint32_t forged;
};

static void store_keep_count(void *context, const struct meta_answers *answers)
{
    struct store_count *out = context;
    size_t record = 0;
    for (size_t i = 0; i < answers->n; i++) {
        if (answers->at[i].kind == META_COUNT)
            out->says = client_progress_of(&answers->at[i]);
        if (answers->at[i].kind != META_READ)
            continue;
        const struct meta_record *r = &answers->records[record++];
        out->forged += r->forged;
        out->proved.done += r->status == META_DONE;
        out->proved.failed += r->status == META_FAILED;
        out->proved.removed += r->status == META_REMOVED;
        out->proved.skipped += r->status == META_SKIPPED;
        out->proved.excused += r->status == META_EXCUSED;
    }
}

/* Ends are never taken back: the same counts are the same ends. */
static bool progress_same(const struct client_progress *a, const struct client_progress *b)
{
    return a->done == b->done && a->failed == b->failed && a->removed == b->removed &&
           a->skipped == b->skipped && a->excused == b->excused;
}

/* READS at a time, so that a million tasks do not fill the connection. */
static bool store_read_all(struct client *c, uint32_t ntasks, struct error *err)
{
    enum { READS = 4096 };
    struct meta_op *ops = mem_new_zero(struct meta_op, READS);
    bool good = true;
    for (uint32_t at = 0; at < ntasks && good;) {
        size_t n = 0;
        for (; at < ntasks && n < READS; at++)
            ops[n++] = (struct meta_op){.kind = META_READ, .task = at};
        client_ask(c, ops, n);
        good = client_answered(c, err);
    }
    free(ops);
    return good;
}

/* What the store counts is anybody's word: each record is read for the proof of its end, unless nothing
 * has changed since the last time, or there are too many. */
bool client_count(struct client *c, uint64_t run, const uint8_t id[static SEAL_ID],
                  const struct workflow *w, uint32_t most_reads, struct client_count *count,
                  struct error *err)
{
    struct store_count out = {0};
    if (!client_store(c, run, id, w, err))
        return false;
    c->listener = (struct client_listener){.answers = store_keep_count, .context = &out};
    client_ask(c, &(struct meta_op){.kind = META_COUNT}, 1);
    bool good = client_answered(c, err);
    bool news = !count->proved || !progress_same(&out.says, &count->says);
    if (good && news && w->ntasks <= most_reads) {
        good = store_read_all(c, w->ntasks, err);
        count->is = out.proved;
        count->forged = out.forged;
        count->proved = true;
    } else if (good && news) {
        count->is = out.says;
        count->proved = false;
        count->forged = 0;
    }
    count->says = out.says;
    c->listener = (struct client_listener){0};
    client_store_close(c);
    return good;
}
