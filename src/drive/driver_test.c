/* The driver against a real scheduler and store, with an owner that only writes down what it is
 * asked for: order of actions, batches of ended tasks, timers, a store in trouble. */
#include "base/array.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "drive/driver.h"
#include "folder_testing.h"
#include "store/embedded.h"
#include "tap.h"

struct recorder_owner {
    struct driver *driver;
    struct strbuf said; /* a letter for each call: n)ote, s)tart, x) stop, e)nded, !) trouble */
    ARRAY(struct sched_start) started;
    uint32_t done, failed, removed;
    uint32_t attempts_that_fail; /* of every task */
    bool at_once;                /* tasks end while they are started */
    size_t largest_batch;
};

static void owner_note(void *context, const struct sched_note *notes, size_t n)
{
    struct recorder_owner *o = context;
    strbuf_add_char(&o->said, 'n');
    for (size_t i = 0; i < n; i++) {
        o->done += notes[i].kind == SCHED_NOTE_DONE;
        o->failed += notes[i].kind == SCHED_NOTE_FAILED;
        o->removed += notes[i].kind == SCHED_NOTE_REMOVED;
    }
}

static void owner_end(struct recorder_owner *o, const struct sched_start *s)
{
    double now = driver_now(o->driver);
    driver_ended(o->driver, &(struct sched_ended){.task = s->task,
                                                  .slot = s->slot,
                                                  .failed = s->attempt <= o->attempts_that_fail,
                                                  .start = now - 0.5,
                                                  .finish = now});
}

static void owner_start(void *context, const struct sched_start *starts, size_t n)
{
    struct recorder_owner *o = context;
    strbuf_add_char(&o->said, 's');
    for (size_t i = 0; i < n; i++) {
        array_push(&o->started, starts[i]);
        if (o->at_once)
            owner_end(o, &starts[i]);
    }
}

static void owner_stop(void *context, const struct sched_start *stops, size_t n)
{
    (void)stops;
    (void)n;
    strbuf_add_char(&((struct recorder_owner *)context)->said, 'x');
}

static size_t owner_ended(void *context, struct sched_ended *ended, size_t n)
{
    struct recorder_owner *o = context;
    (void)ended;
    strbuf_add_char(&o->said, 'e');
    o->largest_batch = n > o->largest_batch ? n : o->largest_batch;
    return n;
}

static void owner_trouble(void *context, const struct error *err)
{
    (void)err;
    strbuf_add_char(&((struct recorder_owner *)context)->said, '!');
}

static const struct driver_ops owner_ops = {
    .note = owner_note,
    .start = owner_start,
    .stop = owner_stop,
    .ended = owner_ended,
    .store_trouble = owner_trouble,
};

struct driver_bench {
    uv_loop_t loop;
    struct workflow *w;
    struct recorder_owner owner;
    struct driver *driver;
};

/* `tasks` in a row (chain) or side by side, on so many cores. */
static void bench_open(struct driver_bench *b, uint32_t tasks, bool chain, uint32_t cores,
                       uint32_t retries)
{
    struct builder *builder = builder_new("flow.yaml", "native");
    char name[16];
    for (uint32_t t = 0; t < tasks; t++) {
        snprintf(name, sizeof name, "t%u", t);
        add_task(builder, name, "true", "");
        if (chain && t)
            builder_edge(builder, t - 1, t, 0);
    }
    *b = (struct driver_bench){.w = builder_finish(builder, NULL)};
    uv_loop_init(&b->loop);
    b->driver = b->owner.driver = driver_new(&(struct driver_config){
        .loop = &b->loop, .ops = &owner_ops, .context = &b->owner, .began = clock_seconds()});
    driver_attach_store(
        b->driver,
        store_embedded_open(&(struct store_embedded_config){.workflow = b->w}, NULL, NULL));
    driver_schedule(b->driver, &(struct sched_config){.cores = cores,
                                                      .policy = SCHED_MLB,
                                                      .retries = retries,
                                                      .retry_first = 0.02});
    for (uint32_t t = 0; t < tasks; t++)
        driver_submit(b->driver, &(struct meta_op){.kind = META_PUT, .task = t}, 1);
    for (uint32_t t = 0; t < tasks; t++)
        driver_handle(b->driver,
                      &(struct sched_event){.kind = SCHED_EVENT_SUBMIT, .submit = {&t, 1}});
}

static void bench_closed(void *context)
{
    *(bool *)context = true;
}

static void bench_close(struct driver_bench *b)
{
    bool closed = false;
    struct error err = {0};
    driver_close(b->driver, bench_closed, &closed);
    ok(!closed, "closing takes a turn of the loop");
    uv_run(&b->loop, UV_RUN_DEFAULT);
    ok(closed, "and is told then");
    ok(driver_free(b->driver, &err), "the store is closed %s", err.text);
    is_int(uv_loop_close(&b->loop), 0, "no handle is left");
    workflow_free(b->w);
    strbuf_free(&b->owner.said);
    array_free(&b->owner.started);
}

static void test_batches(void)
{
    struct driver_bench b;
    bench_open(&b, 8, false, 4, 0);
    is_int((long long)b.owner.started.n, 4, "as many are started as there are cores");
    is_int((long long)driver_ended_waiting(b.driver), 0, "none has ended");
    for (uint32_t i = 0; i < 4; i++)
        owner_end(&b.owner, &b.owner.started.at[i]);
    is_int((long long)driver_ended_waiting(b.driver), 4, "what ended waits");
    is_int((long long)b.owner.started.n, 4, "and starts nothing yet");
    ok(driver_worked(b.driver) > 1.9 && driver_worked(b.driver) < 2.1, "but is counted");
    bench_close(&b);
}

/* Tasks that end while they are started: each batch is handled whole, what it leads to is in the
 * next, and there is no recursion. */
static void test_ends_at_once(void)
{
    enum { TASKS = 5000 };
    struct driver_bench b;
    bench_open(&b, TASKS, true, 2, 0);
    b.owner.at_once = true;
    is_int((long long)b.owner.started.n, 1, "the first of a chain is started");
    owner_end(&b.owner, &b.owner.started.at[0]);
    uint32_t rounds = 0;
    for (; driver_ended_waiting(b.driver) && rounds < 2 * TASKS; rounds++)
        driver_handle_ended(b.driver);
    is_int(b.owner.done, TASKS, "the chain runs to its end");
    is_int(rounds, TASKS, "one batch after the other");
    is_int((long long)b.owner.largest_batch, 1, "of one task each");
    bool order = true;
    for (size_t i = 0; i < b.owner.started.n; i++)
        order &= b.owner.started.at[i].task == i;
    ok(order, "in order");
    bench_close(&b);
}

static void test_note_before_start(void)
{
    struct driver_bench b;
    bench_open(&b, 2, true, 1, 0);
    strbuf_clear(&b.owner.said);
    owner_end(&b.owner, &b.owner.started.at[0]);
    driver_handle_ended(b.driver);
    is_str(strbuf_text(&b.owner.said), "ens",
           "an end is seen by the owner, noted, and then the next task is started");
    bench_close(&b);
}

static void test_timers(void)
{
    struct driver_bench b;
    bench_open(&b, 1, false, 1, 3);
    b.owner.attempts_that_fail = 2;
    b.owner.at_once = true;
    owner_end(&b.owner, &b.owner.started.at[0]);
    driver_handle_ended(b.driver);
    is_int((long long)driver_timers_waiting(b.driver), 1, "a failed attempt sets a timer");
    driver_fire_timers(b.driver);
    is_int((long long)b.owner.started.n, 1, "that is not due yet");
    double before = clock_seconds();
    while (!b.owner.done && clock_seconds() - before < 5) {
        uv_run(&b.loop, UV_RUN_ONCE); /* the waker ends the wait */
        driver_fire_timers(b.driver);
        if (driver_ended_waiting(b.driver))
            driver_handle_ended(b.driver);
    }
    is_int((long long)b.owner.started.n, 3, "the third attempt is made");
    ok(b.owner.done == 1 && clock_seconds() - before >= 0.05, "after both pauses, and counts");
    bench_close(&b);
}

/* ---- a store that fails ---- */

struct failing_store {
    struct store base;
    bool away;
};

static bool failing_poll(struct store *s, struct meta_answers *out, struct error *err)
{
    *out = (struct meta_answers){0};
    return !((struct failing_store *)s)->away ||
           error_set(err, ERROR_FAILED, "the store is away for this test");
}

static void failing_submit(struct store *s, const struct meta_op *ops, size_t n)
{
    (void)s;
    (void)ops;
    (void)n;
}

static int failing_fd(struct store *s)
{
    (void)s;
    return -1;
}

static bool failing_retry(struct store *s, struct error *err)
{
    (void)err;
    return !((struct failing_store *)s)->away;
}

static bool failing_close(struct store *s, struct error *err)
{
    (void)s;
    (void)err;
    return true;
}

static void test_store_trouble(void)
{
    static const struct store_ops ops = {.submit = failing_submit,
                                         .poll = failing_poll,
                                         .fd = failing_fd,
                                         .retry = failing_retry,
                                         .close = failing_close};
    struct failing_store store = {.base = {&ops}, .away = true};
    struct driver_bench b = {0};
    struct error err = {0};
    bool closed = false;
    uv_loop_init(&b.loop);
    b.driver = driver_new(
        &(struct driver_config){.loop = &b.loop, .ops = &owner_ops, .context = &b.owner});
    driver_attach_store(b.driver, &store.base);
    for (int i = 0; i < 3; i++)
        driver_poll_store(b.driver);
    is_str(strbuf_text(&b.owner.said), "!", "a store in trouble is told once");
    ok(!driver_retry_store(b.driver), "as long as it is");
    store.away = false;
    ok(driver_retry_store(b.driver), "it comes back");
    ok(!driver_retry_store(b.driver), "once");
    store.away = true;
    driver_poll_store(b.driver);
    is_str(strbuf_text(&b.owner.said), "!!", "new trouble is told again");
    driver_close(b.driver, bench_closed, &closed);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    driver_free(b.driver, &err);
    uv_loop_close(&b.loop);
    strbuf_free(&b.owner.said);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_batches), TAP_CASE(test_ends_at_once),  TAP_CASE(test_note_before_start),
        TAP_CASE(test_timers),  TAP_CASE(test_store_trouble),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
