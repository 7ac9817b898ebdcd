#include "drive/run.h"

#include "base/clock.h"
#include "drive/state.h"
#include "store/embedded.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    CHUNK = 4096,  /* tasks submitted, results taken, at once */
    EVENTS = 4096, /* told at once */
    ROUNDS = 1024, /* of calls that end at once, between looks at the world */
};

static const double step_most = 0.005; /* seconds: then run_step(r, 0) lets its caller breathe */

double run_now(const struct run *r)
{
    return clock_seconds() - r->began;
}

void run_tell(struct run *r, const struct trace_event *e)
{
    if (r->o->nsinks)
        array_push(&r->events, *e);
}

void run_ended(struct run *r, uint32_t task, uint32_t slot, bool failed, double start,
               double finish, double bytes)
{
    r->unrecorded += finish - start;
    array_push(&r->ended, (struct sched_ended){.task = task,
                                               .slot = slot,
                                               .failed = failed,
                                               .start = start,
                                               .finish = finish,
                                               .bytes = bytes});
}

void run_broken(struct run *r, const struct error *err)
{
    if (r->error.kind == ERROR_NONE)
        r->error = *err;
    if (!r->stopping)
        r->stopping = 1;
}

/* ---- the scheduler and its store ---- */

static void note(struct run *r, const struct sched_note *n)
{
    switch (n->kind) {
    case SCHED_NOTE_DONE:
        r->result->done++;
        r->ended_tasks++;
        break;
    case SCHED_NOTE_FAILED:
        r->result->failed++;
        r->ended_tasks++;
        if (!r->o->keep_going && !r->stopping)
            r->stopping = 1;
        break;
    case SCHED_NOTE_REMOVED:
        r->result->skipped++;
        r->ended_tasks++;
        break;
    default:
        break;
    }
}

static void carry_out(struct run *r)
{
    struct sched_actions *out = &r->out;
    for (size_t i = 0; i < out->notes.n; i++)
        note(r, &out->notes.at[i]);
    for (size_t i = 0; i < out->timers.n; i++)
        array_push(&r->timers, out->timers.at[i]);
    for (size_t i = 0; i < out->stops.n; i++)
        task_stop(r, out->stops.at[i].task);
    if (out->ops.n)
        store_submit(r->store, out->ops.at, out->ops.n);
    r->call_ended = 0;
    for (size_t i = 0; i < out->starts.n; i++)
        task_start(r, &out->starts.at[i]);
    sched_actions_clear(out);
    if (r->jobs.n) {
        calls_submit(r->calls, r->jobs.at, r->jobs.n);
        r->jobs.n = 0;
    }
}

static void handle(struct run *r, struct sched_event *e)
{
    e->now = run_now(r);
    sched_handle(r->sched, e, &r->out);
    carry_out(r);
    for (;;) {
        struct sched_event answers = {.kind = SCHED_EVENT_STORE, .now = e->now};
        struct error err;
        error_clear(&err);
        if (!store_poll(r->store, &answers.store, &err)) {
            run_broken(r, &err);
            return;
        }
        if (!answers.store.n)
            return;
        sched_handle(r->sched, &answers, &r->out);
        carry_out(r);
    }
}

/* Without edges and with priorities that fall from task to task, what has been submitted goes
 * before what has not: the rest may wait, and the scheduler's tables stay in the caches. */
static bool may_wait(const struct run *r)
{
    if (r->w->nedges)
        return false;
    for (uint32_t t = 1; t < r->w->ntasks; t++)
        if (r->priority[t] > r->priority[t - 1])
            return false;
    return true;
}

static void submit_more(struct run *r)
{
    static const uint32_t window = 4 * CHUNK;
    while (r->submitted < r->total && !r->stopping &&
           (!r->windowed || r->submitted - r->ended_tasks < window - CHUNK ||
            (r->running < r->o->cores && !r->ended.n))) {
        uint32_t n = 0;
        for (; n < CHUNK && r->submitted < r->total; n++, r->submitted++) {
            r->puts[n] = (struct meta_op){.kind = META_PUT, .task = r->submitted};
            r->chunk[n] = r->submitted;
        }
        store_submit(r->store, r->puts, n);
        handle(r, &(struct sched_event){.kind = SCHED_EVENT_SUBMIT, .submit = {r->chunk, n}});
    }
}

/* ---- stopping ---- */

static void run_interrupt(struct run *r)
{
    r->result->interrupted = true;
    r->stopping += r->stopping < 2;
    if (r->stopping > 1)
        for (uint32_t lane = 0; lane < r->o->cores; lane++)
            if (r->active[lane].used)
                child_stop(r->children, lane, true);
}

/* ---- time ---- */

static void fire(void *context, const struct sched_timer *t)
{
    handle(context, &(struct sched_event){.kind = SCHED_EVENT_TIMER, .timer = {t->kind, t->mark}});
}

static void count(struct run *r, enum trace_counter counter, double amount)
{
    run_tell(r, &(struct trace_event){.kind = TRACE_COUNTER,
                                      .id = counter,
                                      .start = run_now(r),
                                      .finish = run_now(r),
                                      .amount = amount});
}

/* What a display and a page about the run want to know ten times a second. */
static void tell_counters(struct run *r)
{
    struct sched_counts now;
    if (!r->o->nsinks)
        return;
    sched_look(r->sched, &now);
    count(r, COUNTER_READY, now.at[SCHED_LREADYQ] + now.at[SCHED_SREADYQ]);
    count(r, COUNTER_RUNNING, r->running);
    if (r->limits) /* only tasks under a limit are looked at while they run */
        count(r, COUNTER_MEMORY, children_memory(r->children));
}

static void on_tick(uv_timer_t *timer)
{
    struct run *r = timer->data;
    children_tick(r->children);
    tell_counters(r);
    if (r->o->tick && r->o->tick(r->o->context, r->stopping))
        run_interrupt(r);
}

/* run_stop() was called, perhaps twice since we looked. */
static void on_stop(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct run *r = poll->data;
    uint64_t times = 0;
    if (read(r->stop, &times, sizeof times) != sizeof times)
        return;
    for (; times && (r->stopping < 2 || !r->result->interrupted); times--)
        run_interrupt(r);
}

/* ---- what ends ---- */

/* What has been recorded may be told. */
static void tell(struct run *r)
{
    struct error err = {0};
    if (r->o->needs && !memo_flush(r->o->needs->memo, &err))
        run_broken(r, &err);
    for (size_t s = 0; s < r->o->nsinks; s++) {
        const struct trace_sink *sink = r->o->sinks[s];
        for (size_t i = 0; i < r->events.n; i++)
            sink->event(sink->context, &r->events.at[i]);
        for (size_t i = 0; i < r->files.n && sink->file; i++)
            sink->file(sink->context, &r->files.at[i]);
    }
    r->events.n = r->files.n = 0;
    r->unrecorded = 0;
    r->told = run_now(r);
}

/* A write for every task of a millisecond would be a part of its cost: at most five milliseconds of
 * work, and ten of time while tasks keep ending, are at stake. */
static bool must_tell(const struct run *r)
{
    return r->unrecorded > 0.005 || run_now(r) - r->told > 0.01;
}

/* Nothing runs, nothing is due, and yet tasks are left: a limit keeps them all out. */
static void stalled(struct run *r)
{
    struct error err = {0};
    if (isfinite(r->o->disk) && r->o->disk > 0)
        error_set(
            &err, ERROR_FAILED,
            "no task fits on the disk any more: %.0f bytes of intermediate files are alive, "
            "the limit is %.0f; raise --disk, or declare intermediate files `temporary: true`",
            r->live, r->o->disk);
    else
        error_set(&err, ERROR_FAILED, "%u tasks are left and none can start",
                  r->total - r->ended_tasks);
    run_broken(r, &err);
}

static void tell_disk(struct run *r)
{
    r->disk_changed = false;
    if (r->o->disk > 0)
        handle(r, &(struct sched_event){.kind = SCHED_EVENT_DISK, .disk = r->o->disk - r->live});
}

/* The workflow's own inputs, once: where a result comes from ends here. */
static void tell_inputs(struct run *r)
{
    const struct workflow *w = r->w;
    const struct needs *n = r->o->needs;
    if (!n || !r->o->nsinks)
        return;
    for (uint32_t o = w->nobjects; o-- && w->producer[o] == NONE;)
        if (n->present[o] && w->object_name[o])
            array_push(&r->files, (struct trace_file){.object = o,
                                                      .task = NONE,
                                                      .path = workflow_text(w, w->object_name[o]),
                                                      .digest = n->content[o],
                                                      .size = n->bytes[o]});
}

/* ---- turns ---- */

enum turn {
    TURN_MORE,  /* something is to be done at once */
    TURN_WAITS, /* for a task to end, or a timer */
    TURN_OVER,
};

/* One batch of ended tasks and what is due; what they lead to may be there when it returns. */
static enum turn run_turn(struct run *r)
{
    if (r->ended_tasks >= r->total)
        return TURN_OVER;
    submit_more(r);
    if (r->ended.n) {
        if (must_tell(r)) /* before others start, which takes time: a crash would cost both */
            tell(r);
        /* taken out first: handling starts tasks, and some of those end at once */
        __typeof__(r->ended) batch = r->ended;
        r->ended = r->handled;
        r->handled = batch;
        if (r->disk_changed) /* before what they took is given back: never too much is free */
            tell_disk(r);
        handle(r, &(struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {batch.at, batch.n}});
        r->handled.n = 0;
        for (size_t i = 0; i < r->hungry.n; i++)
            task_more_memory(r, r->hungry.at[i]);
        r->hungry.n = 0;
    }
    if (r->timers.n)
        run_fire_timers(r, fire, r);
    if (r->ended.n) {
        if (r->events.n > EVENTS)
            tell(r);
        return TURN_MORE;
    }
    if (must_tell(r))
        tell(r);
    if (r->ended_tasks >= r->total || (r->stopping && !r->running))
        return TURN_OVER;
    if (!r->running && !r->timers.n) {
        if (r->submitted < r->total)
            return TURN_MORE;
        stalled(r);
        return TURN_OVER;
    }
    return TURN_WAITS;
}

/* run_fd() becomes readable in so many seconds, if nothing happens before. 0 also takes a system
 * call only once in a row. */
static void wake_in(struct run *r, double seconds)
{
    if (seconds <= 0 && r->due)
        return;
    r->due = seconds <= 0;
    struct itimerspec in = {.it_value.tv_nsec = 1};
    if (seconds > 0) {
        in.it_value.tv_sec = (time_t)seconds;
        in.it_value.tv_nsec = (long)((seconds - (double)in.it_value.tv_sec) * 1e9) + 1;
    }
    timerfd_settime(r->timer, 0, &in, NULL);
}

static bool step_over(struct run *r)
{
    if (!r->over)
        tell(r);
    r->over = true;
    wake_in(r, 0);
    return false;
}

/* Never blocks. Between two batches the loop is asked for what has happened meanwhile. */
static bool step_now(struct run *r)
{
    double until = clock_seconds() + step_most;
    for (;;) {
        uv_run(r->loop, UV_RUN_NOWAIT);
        enum turn turn = run_turn(r);
        for (uint32_t i = 1; turn == TURN_MORE && i < ROUNDS; i++)
            turn = run_turn(r);
        if (turn == TURN_OVER)
            return step_over(r);
        if (turn == TURN_WAITS || clock_seconds() > until) {
            uv_update_time(r->loop);
            /* -1 would be "no timer", but the ticker always is one */
            wake_in(r, turn == TURN_WAITS ? 0.001 * uv_backend_timeout(r->loop) : 0);
            return true;
        }
    }
}

/* Until something has happened, which the next step will see to. */
static bool step_waiting(struct run *r)
{
    for (;;) {
        switch (run_turn(r)) {
        case TURN_OVER:
            return step_over(r);
        case TURN_MORE:
            if (++r->rounds % ROUNDS == 0) /* calls made here must not keep others out */
                uv_run(r->loop, UV_RUN_NOWAIT);
            break;
        case TURN_WAITS:
            wake_in(r, 0); /* should somebody look at run_fd() after all */
            uv_run(r->loop, UV_RUN_ONCE);
            return true;
        }
    }
}

bool run_step(struct run *r, double wait)
{
    if (r->over)
        return false;
    if (wait < 0)
        return step_waiting(r);
    if (wait > 0) {
        struct pollfd in = {.fd = r->poll, .events = POLLIN};
        poll(&in, 1, wait < 1e6 ? (int)(wait * 1000) + 1 : -1);
    }
    return step_now(r);
}

int run_fd(const struct run *r)
{
    return r->poll;
}

void run_stop(struct run *r)
{
    int before = errno; /* a signal handler must leave it as it was */
    uint64_t once = 1;
    ssize_t n = write(r->stop, &once, sizeof once);
    (void)n; /* it can only fail after 2^64 - 1 calls */
    errno = before;
}

/* ---- from beginning to end ---- */

static bool open_store(struct run *r, struct error *err)
{
    r->store = store_embedded_open(&(struct store_embedded_config){.workflow = r->w,
                                                                   .journal = r->o->journal,
                                                                   .eager = r->o->journal_eager},
                                   NULL, err);
    return r->store != NULL;
}

static void open_sched(struct run *r)
{
    struct sched_config config = run_sched_config(r);
    config.policy = SCHED_MLB; /* one node: every task is as near to its data as any other */
    r->sched = sched_new(&config);
}

static bool watch_descriptor(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_descriptors(struct run *r, struct error *err)
{
    r->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    r->poll = epoll_create1(EPOLL_CLOEXEC);
    if (r->stop < 0 || r->timer < 0 || r->poll < 0 || uv_loop_init(&r->turns) != 0)
        return error_set(err, ERROR_FAILED, "cannot watch tasks: %s", strerror(errno));
    r->loop = &r->turns;
    if (!watch_descriptor(r->poll, r->timer) || !watch_descriptor(r->poll, uv_backend_fd(r->loop)))
        return error_set(err, ERROR_FAILED, "cannot watch tasks: %s", strerror(errno));
    return true;
}

static bool open_loop(struct run *r, struct error *err)
{
    if (!open_descriptors(r, err))
        return false;
    uv_timer_init(r->loop, &r->waker);
    uv_timer_init(r->loop, &r->ticker);
    r->ticker.data = r;
    uv_timer_start(&r->ticker, on_tick, 100, 100);
    uv_poll_init(r->loop, &r->stop_ready, r->stop);
    r->stop_ready.data = r;
    uv_poll_start(&r->stop_ready, UV_READABLE, on_stop);
    return run_setup(r, err);
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void close_descriptor(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void run_free(struct run *r)
{
    calls_free(r->calls);
    r->calls = NULL;
    if (r->loop) {
        uv_walk(r->loop, close_handle, NULL);
        while (uv_run(r->loop, UV_RUN_DEFAULT) != 0)
            ;
        uv_loop_close(r->loop);
    }
    close_descriptor(r->poll);
    close_descriptor(r->timer);
    close_descriptor(r->stop);
    run_release(r);
    sched_free(r->sched);
    sched_actions_free(&r->out);
    array_free(&r->handled);
    array_free(&r->timers);
    run_result_free(&r->counts);
    free(r->puts);
    free(r->chunk);
    free(r->left);
    free(r);
}

static bool finish(struct run *r, struct error *err)
{
    struct run_result *x = r->result;
    x->seconds = run_now(r);
    x->done -= x->reused < x->done ? x->reused : x->done;
    x->skipped = r->total - x->done - x->reused - x->failed;
    children_sweep(r->children);
    x->orphans = children_orphans(r->children);
    if (r->error.kind != ERROR_NONE)
        return error_set(err, r->error.kind, "%s", r->error.text);
    if (x->interrupted)
        return error_set(err, ERROR_FAILED, "stopped; %u of %u tasks are left", x->skipped,
                         r->total);
    if (x->failed)
        return error_set(err, ERROR_FAILED, "%u task%s failed, %u not run because of that",
                         x->failed, x->failed == 1 ? "" : "s", x->skipped);
    return true;
}

struct run *run_open(const struct run_options *options, struct error *err)
{
    const struct workflow *w = options->workflow;
    if (!w->command) {
        error_set(err, ERROR_INPUT,
                  "%s: no task has a command to run; an abstract graph can be planned and "
                  "simulated",
                  workflow_text(w, w->file));
        return NULL;
    }
    struct run *r = mem_new_zero(struct run, 1);
    r->options = *options;
    r->options.cores = options->cores ? options->cores : 1;
    r->options.folder = options->folder ? options->folder : ".";
    r->o = &r->options;
    r->result = &r->counts;
    r->w = w;
    r->free_arguments = NONE;
    r->stop = r->timer = r->poll = -1;
    r->total = w->ntasks;
    r->began = clock_seconds();
    r->puts = mem_new_zero(struct meta_op, CHUNK);
    r->chunk = mem_new(uint32_t, CHUNK);
    run_prepare(r);
    disk_begin(r);
    if (!open_loop(r, err) || !open_store(r, err)) {
        run_free(r);
        return NULL;
    }
    open_sched(r);
    tell_disk(r);
    r->windowed = may_wait(r);
    tell_inputs(r);
    wake_in(r, 0);
    return r;
}

bool run_close(struct run *r, struct run_result *result, struct error *err)
{
    if (!r->over) { /* whoever closes it early wants it to end */
        run_stop(r);
        run_stop(r);
        while (run_step(r, -1))
            ;
    }
    disk_end(r);
    bool good = finish(r, err);
    struct error last = {0};
    if (!store_close(r->store, &last) && good)
        good = error_set(err, last.kind, "%s", last.text);
    *result = r->counts;
    r->counts = (struct run_result){0};
    run_free(r);
    return good;
}

bool run_workflow(const struct run_options *o, struct run_result *result, struct error *err)
{
    *result = (struct run_result){0};
    struct run *r = run_open(o, err);
    if (!r)
        return false;
    while (run_step(r, -1))
        ;
    return run_close(r, result, err);
}

void run_result_free(struct run_result *r)
{
    for (size_t i = 0; i < r->failures.n; i++) {
        free(r->failures.at[i].text);
        free(r->failures.at[i].log);
    }
    array_free(&r->failures);
    for (size_t i = 0; i < r->remarks.n; i++)
        free(r->remarks.at[i]);
    array_free(&r->remarks);
    *r = (struct run_result){0};
}
