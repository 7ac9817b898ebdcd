/* A run on this machine: a driver with an embedded store, an executor, and the loop that turns
 * both.
 *
 * I1. One thread at a time is inside a run. The exception is run_stop(), which only counts and
 *     wakes the loop (exec/stepper.h).
 * I2. Nothing of the process is touched: no signal handler or mask, working folder, umask, nor a
 *     default of libuv's. Two runs share nothing.
 * I3. What sinks receive is on record before (memo_flush()): whoever learns that a task is done
 *     will find it done after a crash.
 * I4. The disk's true space is reported to the scheduler before a batch of ended tasks is: what
 *     they were expected to leave is given back then, and never too much is free.
 * I5. run_fd() is readable whenever run_step() has something to do: the stepper sees to descriptors
 *     and timers of the loop, and `spin` is active when a step left something undone. */
#include "drive/run_private.h"

#include "base/clock.h"
#include "base/plural.h"
#include "model/capacity.h"
#include "store/embedded.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 4096,       /* tasks submitted at once: some hundred kilobytes of operations */
    WINDOW = 4 * CHUNK, /* tasks that the scheduler holds at most when others may wait */
    ROUNDS = 1024,      /* of calls that end at once, between looks at the world */
    TICK_MS = 100,      /* a display moves ten times a second, and limits are looked at */
};

static const double step_most = 0.005; /* seconds: then run_step(r, 0) lets its caller breathe */

/* A write for every task of a millisecond would be a part of its cost: at most so much work, and so
 * much time while tasks keep ending, are at stake in a crash. */
static const double unrecorded_most = 0.005, unflushed_most = 0.01; /* seconds */

/* ---- stopping ---- */

/* Something that no task is to blame for: nothing new starts, and this is what the run says. */
void run_broken(void *context, const struct error *err)
{
    struct run *r = context;
    if (r->error.kind == ERROR_NONE)
        r->error = *err;
    if (!r->stopping)
        r->stopping = 1;
    executor_set_stop(r->executor, EXECUTOR_NOTHING_NEW);
}

/* Once more: run_stop(), or the owner's tick said so. After a failure the first one already is the
 * second, since nothing new starts then anyway. */
static void run_interrupt(struct run *r)
{
    r->result.interrupted = true;
    r->stopping += r->stopping < 2;
    executor_set_stop(r->executor, r->stopping > 1 ? EXECUTOR_ENDS_NOW : EXECUTOR_NOTHING_NEW);
}

/* After a failure nothing new starts: not even what the scheduler starts when it learns of it, since
 * the failed task's core is free then. */
static void run_heed_failure(struct run *r)
{
    if (r->o.keep_going || r->stopping || !executor_has_failed(r->executor, NONE))
        return;
    r->stopping = 1;
    executor_set_stop(r->executor, EXECUTOR_NOTHING_NEW);
}

/* ---- what the driver asks for ---- */

/* Every task is noted once when it is over, however it went: that is how the end is known. */
static void run_note(void *context, const struct sched_note *notes, size_t n)
{
    struct run *r = context;
    for (size_t i = 0; i < n; i++)
        switch (notes[i].kind) {
        case SCHED_NOTE_DONE:
            r->result.done++;
            r->ended_tasks++;
            run_decide(r, notes[i].task, true);
            break;
        case SCHED_NOTE_FAILED:
            r->result.failed++;
            r->ended_tasks++;
            executor_task_lost(r->executor, notes[i].task);
            run_lost(r, notes[i].task);
            break;
        case SCHED_NOTE_REMOVED:
            r->result.skipped++;
            r->ended_tasks++;
            executor_task_lost(r->executor, notes[i].task);
            run_lost(r, notes[i].task);
            run_removed(r, notes[i].task);
            break;
        case SCHED_NOTE_SKIPPED:
            r->result.untaken++;
            r->ended_tasks++;
            run_decide(r, notes[i].task, false);
            break;
        case SCHED_NOTE_EXCUSED:
            r->result.failed++, r->result.excused++;
            r->ended_tasks++;
            executor_task_lost(r->executor, notes[i].task);
            run_decide(r, notes[i].task, false);
            break;
        default:
            break;
        }
}

/* After a stop the executor passes over starts. */
static void run_start_tasks(void *context, const struct sched_start *starts, size_t n)
{
    struct run *r = context;
    for (size_t i = 0; i < n; i++) {
        executor_start(r->executor, &starts[i]);
        run_heed_failure(r); /* it could not be started */
    }
    executor_hand_over(r->executor);
}

static void run_stop_tasks(void *context, const struct sched_start *stops, size_t n)
{
    struct run *r = context;
    for (size_t i = 0; i < n; i++)
        executor_stop_task(r->executor, stops[i].task);
}

/* The scheduler takes off what running tasks will leave, so it gets what is there now. */
static void report_free_space(struct run *r)
{
    if (r->o.disk > 0)
        driver_handle(r->driver, &(struct sched_event){.kind = SCHED_EVENT_DISK,
                                                       .disk = r->o.disk - disk_live(r->disk)});
}

static size_t run_tasks_ended(void *context, struct sched_ended *ended, size_t n)
{
    struct run *r = context;
    executor_release(r->executor, ended, n);
    run_heed_failure(r);
    if (disk_take_changed(r->disk)) /* I4 */
        report_free_space(r);
    return n;
}

static const struct driver_ops run_driver_ops = {
    .note = run_note,
    .start = run_start_tasks,
    .stop = run_stop_tasks,
    .ended = run_tasks_ended,
    .store_trouble = run_broken,
};

/* ---- submission ---- */

/* Without edges and with priorities that fall from task to task, what has been submitted goes
 * before what has not: the rest may wait, and the scheduler's tables stay in the caches. */
static bool may_submit_late(const struct workflow *w, const double *priority)
{
    if (w->nedges)
        return false;
    for (uint32_t t = 1; t < w->ntasks; t++)
        if (priority[t] > priority[t - 1])
            return false;
    return true;
}

/* All at once, unless they may wait: then a chunk whenever the window has room, or a core nothing
 * to do (tasks that do not fit into memory may fill the window). */
static bool wants_more_tasks(const struct run *r)
{
    if (r->submitted >= r->total || r->stopping)
        return false;
    return !r->windowed || r->submitted - r->ended_tasks < WINDOW - CHUNK ||
           (executor_running(r->executor) < r->o.cores && !driver_ended_waiting(r->driver));
}

/* PUT into the store and submitted to the scheduler, a chunk at a time: the embedded store answers
 * in between, so that neither holds a million operations. */
static void submit_more(struct run *r)
{
    while (wants_more_tasks(r)) {
        uint32_t n = 0;
        for (; n < CHUNK && r->submitted < r->total; n++, r->submitted++) {
            r->puts[n] = (struct meta_op){.kind = META_PUT, .task = r->submitted};
            r->chunk[n] = r->submitted;
        }
        driver_submit(r->driver, r->puts, n);
        driver_handle(r->driver,
                      &(struct sched_event){.kind = SCHED_EVENT_SUBMIT, .submit = {r->chunk, n}});
    }
    for (size_t i = 0; i < r->never.n; i++)
        driver_handle(r->driver,
                      &(struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = r->never.at[i]});
    r->never.n = 0;
    run_take_out(r);
}

/* ---- reporting ---- */

/* What has been recorded goes to the sinks (I3). */
void run_flush(struct run *r)
{
    struct error err = {0};
    if (r->o.needs && !memo_flush(r->o.needs->memo, &err))
        run_broken(r, &err);
    for (size_t s = 0; s < r->o.nsinks; s++) {
        const struct trace_sink *sink = r->o.sinks[s];
        for (size_t i = 0; i < r->outbox.events.n; i++)
            sink->event(sink->context, &r->outbox.events.at[i]);
        for (size_t i = 0; i < r->outbox.files.n && sink->file; i++)
            sink->file(sink->context, &r->outbox.files.at[i]);
    }
    outbox_clear(&r->outbox);
    r->worked_flushed = driver_worked(r->driver);
    r->flushed = driver_now(r->driver);
}

/* Not after every task: see unrecorded_most. */
bool run_must_flush(const struct run *r, double now)
{
    return driver_worked(r->driver) - r->worked_flushed > unrecorded_most ||
           now - r->flushed > unflushed_most;
}

/* The workflow's own inputs, once: where a result comes from ends here. */
void run_report_inputs(struct run *r, uint32_t first)
{
    const struct workflow *w = r->w;
    const struct needs *n = r->o.needs;
    if (!n || !r->outbox.wanted)
        return;
    for (uint32_t o = w->nobjects; o-- > first && (w->producer[o] == NONE || w->growth);)
        if (w->producer[o] == NONE && n->present[o] && w->object_name[o])
            array_push(&r->outbox.files,
                       (struct trace_file){.object = o,
                                           .task = NONE,
                                           .path = workflow_text(w, w->object_name[o]),
                                           .digest = n->content[o],
                                           .size = n->bytes[o]});
}

/* What a display and a page about the run want to know ten times a second. */
static void report_counters(struct run *r)
{
    struct sched_counts counts;
    if (!r->outbox.wanted || !driver_sched(r->driver))
        return;
    double now = driver_now(r->driver), memory = executor_memory(r->executor);
    sched_snapshot(driver_sched(r->driver), &counts);
    outbox_counter(&r->outbox, now, COUNTER_READY,
                   counts.at[SCHED_LREADYQ] + counts.at[SCHED_SREADYQ]);
    outbox_counter(&r->outbox, now, COUNTER_RUNNING, executor_running(r->executor));
    if (memory >= 0) /* only tasks under a limit are looked at while they run */
        outbox_counter(&r->outbox, now, COUNTER_MEMORY, memory);
}

/* ---- what the loop brings ---- */

/* TICK_MS have passed. */
static void run_on_tick(uv_timer_t *timer)
{
    struct run *r = timer->data;
    executor_tick(r->executor);
    report_counters(r);
    if (r->o.tick && r->o.tick(r->o.context, r->stopping))
        run_interrupt(r);
}

static void run_on_spin(uv_idle_t *idle)
{
    (void)idle; /* that it is active is what it is for */
}

/* Let the loop have its turn. run_stop() may have been called since, perhaps twice. */
static void run_look(struct run *r, double wait)
{
    stepper_step(&r->stepper, wait);
    for (int stops = stepper_stops(&r->stepper); r->stops_seen < stops; r->stops_seen++)
        run_interrupt(r);
}

/* ---- turns ---- */

/* Nothing runs, nothing is due, and yet tasks are left: a limit keeps them all out. */
static void run_stalled(struct run *r)
{
    struct error err = {0};
    if (r->o.in_memory)
        error_set(&err, ERROR_FAILED,
                  "no task fits into memory any more: %.0f bytes of intermediate files are alive, "
                  "and there "
                  "are %.0f for them and the tasks; give it more (-m), declare files `temporary: "
                  "true`, or "
                  "leave out --in-memory",
                  disk_live(r->disk), r->o.disk);
    else if (isfinite(r->o.disk) && r->o.disk > 0)
        error_set(
            &err, ERROR_FAILED,
            "no task fits on the disk any more: %.0f bytes of intermediate files are alive, "
            "the limit is %.0f; raise --disk, or declare intermediate files `temporary: true`",
            disk_live(r->disk), r->o.disk);
    else
        error_set(&err, ERROR_FAILED, "%u task%s left and none can start",
                  r->total - r->ended_tasks,
                  plural_word(r->total - r->ended_tasks, " is", "s are"));
    run_broken(r, &err);
}

void run_grow_soon(struct run *r)
{
    r->grows = true;
    uv_idle_start(&r->spin, run_on_spin);
    stepper_rearm(&r->stepper);
}

/* A file is out of memory, or back: the next turn tells the scheduler. */
void run_more_to_do(struct run *r)
{
    uv_idle_start(&r->spin, run_on_spin); /* I5 */
}

static void run_on_moved(void *context)
{
    run_more_to_do(context);
}

/* A command that was cancelled has its grace, and its end is on record. */
static bool run_all_ended(const struct run *r)
{
    return r->ended_tasks >= r->total && !(r->gone && executor_running(r->executor));
}

/* One batch of ended tasks and what is due; what they lead to may be there when it returns. */
static enum run_turn run_turn(struct run *r)
{
    if (executor_is_crewed(r->executor))
        return run_crew_turn(r);
    if (r->grows && !r->stopping)
        run_grow(r);
    if (run_all_ended(r))
        return TURN_OVER;
    if (r->o.spill && disk_take_changed(r->disk)) /* a file has left memory */
        report_free_space(r);
    submit_more(r);
    if (driver_ended_waiting(r->driver)) {
        /* before others start, which takes time: a crash would cost both */
        if (run_must_flush(r, driver_last_end(r->driver)))
            run_flush(r);
        driver_handle_ended(r->driver);
        executor_settle(r->executor);
    }
    driver_fire_timers(r->driver);
    if (driver_ended_waiting(r->driver)) {
        if (r->outbox.events.n > RUN_EVENTS)
            run_flush(r);
        return TURN_MORE;
    }
    if (run_must_flush(r, driver_now(r->driver)))
        run_flush(r);
    if (r->grows && !r->stopping)
        return TURN_MORE;
    uint32_t running = executor_running(r->executor);
    if (run_all_ended(r) || (r->stopping && !running))
        return TURN_OVER;
    if (!running && !driver_timers_waiting(r->driver) && !executor_is_moving(r->executor)) {
        if (r->submitted < r->total)
            return TURN_MORE;
        run_stalled(r);
        return TURN_OVER;
    }
    return TURN_WAITS;
}

/* ---- steps ---- */

/* Batches until there is none left, or it is time for others: with `wait` there is no hurry, since
 * whoever waits has nothing else to do, but even then the world is looked at now and then. */
static enum run_turn run_turns(struct run *r, bool wait)
{
    double until = wait ? INFINITY : clock_seconds() + step_most;
    for (;;) {
        enum run_turn turn = run_turn(r);
        if (turn != TURN_MORE)
            return turn;
        if (++r->rounds % ROUNDS) /* calls made here must not keep others out */
            continue;
        if (clock_seconds() > until)
            return TURN_MORE;
        run_look(r, 0);
    }
}

bool run_step(struct run *r, double wait)
{
    if (r->over)
        return false;
    if (wait == 0)
        run_look(r, 0);
    enum run_turn turn = run_turns(r, wait < 0);
    if (turn == TURN_OVER) {
        run_flush(r);
        r->over = !r->grows || r->stopping; /* who learns of the last task may add others */
    } else if (turn == TURN_WAITS) {
        uv_idle_stop(&r->spin);
        if (wait != 0)
            run_look(r, wait); /* what happened, the next step will see to */
    }
    if (turn != TURN_WAITS || driver_ended_waiting(r->driver)) /* I5 */
        uv_idle_start(&r->spin, run_on_spin);
    stepper_rearm(&r->stepper);
    return !r->over;
}

int run_fd(struct run *r)
{
    return stepper_fd(&r->stepper);
}

void run_stop(struct run *r)
{
    stepper_stop(&r->stepper);
}

/* ---- from beginning to end ---- */

static bool open_loop(struct run *r, struct error *err)
{
    if (!stepper_open(&r->stepper, NULL, err))
        return false;
    r->loop_open = true;
    uv_timer_init(r->stepper.loop, &r->ticker);
    r->ticker.data = r;
    uv_timer_start(&r->ticker, run_on_tick, TICK_MS, TICK_MS);
    uv_idle_init(r->stepper.loop, &r->spin);
    uv_idle_start(&r->spin, run_on_spin); /* the first step has something to do */
    return true;
}

static bool open_store(struct run *r, struct error *err)
{
    struct store *store = store_embedded_open(
        &(struct store_embedded_config){
            .workflow = r->w, .journal = r->o.journal, .eager = r->o.journal_eager},
        NULL, err);
    if (store)
        driver_attach_store(r->driver, store);
    return store != NULL;
}

/* Nothing is submitted yet: the first step does, so that run_open() returns at once. */
bool run_schedule(struct run *r, struct error *err)
{
    struct sched_config config = executor_sched_config(r->executor);
    if (!open_store(r, err))
        return false;
    config.policy = SCHED_MLB; /* one node: every task is as near to its data as any other */
    driver_schedule(r->driver, &config);
    report_free_space(r);
    disk_take_changed(r->disk);
    r->windowed = may_submit_late(r->w, config.priority);
    return true;
}

/* In the order of dependence; what is open when one fails, run_free() closes. */
static bool open_parts(struct run *r, struct error *err)
{
    double began = clock_seconds();
    if (!open_loop(r, err))
        return false;
    r->disk = disk_new(r->w, r->o.needs, r->o.folder);
    if (r->o.growth)
        disk_grow(r->disk, r->w->ntasks, r->w->nobjects,
                  r->o.growth->is_open(r->o.growth->context));
    r->driver = driver_new(&(struct driver_config){.loop = r->stepper.loop,
                                                   .ops = &run_driver_ops,
                                                   .context = r,
                                                   .began = began,
                                                   .prompt_store = true});
    r->executor = executor_new(&(struct executor_config){.loop = r->stepper.loop,
                                                         .options = &r->o,
                                                         .driver = r->driver,
                                                         .outbox = &r->outbox,
                                                         .disk = r->disk,
                                                         .result = &r->result,
                                                         .trouble = run_broken,
                                                         .moved = run_on_moved,
                                                         .context = r},
                               err);
    return r->executor && (executor_is_crewed(r->executor) || run_schedule(r, err));
}

static void run_part_closed(void *context)
{
    (void)context; /* run_free() waits for all of them */
}

/* False: the store could not be made durable. */
static bool run_free(struct run *r, struct error *err)
{
    if (r->executor)
        executor_close(r->executor, run_part_closed, r);
    if (r->driver)
        driver_close(r->driver, run_part_closed, r);
    if (r->loop_open) {
        uv_close((uv_handle_t *)&r->ticker, NULL);
        uv_close((uv_handle_t *)&r->spin, NULL);
        stepper_close(&r->stepper); /* and turns the loop until all are closed */
    }
    executor_free(r->executor);
    r->executor = NULL; /* run_abandon() may follow */
    bool good = driver_free(r->driver, err);
    disk_free(r->disk);
    outbox_free(&r->outbox);
    run_result_free(&r->result);
    array_free(&r->never);
    free(r->lost);
    array_free(&r->wishes);
    free(r->gone);
    free(r->puts);
    free(r->chunk);
    free(r);
    return good;
}

/* What need not run asks for nothing. What may turn out to be up to date is asked for:
 * in the middle of a run it would be too late. */
bool run_fits(const struct run_options *o, uint32_t from, struct error *err)
{
    static const struct capacity_words words = {
        .where = "this run", .before = "run with", .after = ""};
    struct capacity here = {.cores = o->cores ? o->cores : 1,
                            .memory = o->memory > 0 ? run_memory_of_tasks(o) : INFINITY,
                            .has = o->has};
    capacity_set_things(&here, o->workflow, o->resources);
    const struct workflow *w = o->workflow;
    uint8_t *runs = o->needs || o->data_limited ? mem_new(uint8_t, w->ntasks) : NULL;
    for (uint32_t t = from; runs && t < w->ntasks; t++) /* what functions take is of the data's */
        runs[t] = (!o->needs || need_runs(o->needs, t)) &&
                  !(o->data_limited && !from && w->flags[t] & TASK_CALL);
    struct capacity_misfits misfits = capacity_find_misfits(o->workflow, from, runs, &here, 1);
    free(runs);
    return !misfits.count || capacity_refuse(o->workflow, &misfits, &here, 1, &words, err);
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
    if (!run_fits(options, 0, err))
        return NULL;
    struct run *r = mem_new_zero(struct run, 1);
    r->o = *options;
    r->o.cores = options->cores ? options->cores : 1;
    r->o.folder = options->folder ? options->folder : ".";
    r->w = w;
    r->total = w->ntasks;
    r->outbox.wanted = options->nsinks > 0;
    r->puts = mem_new_zero(struct meta_op, CHUNK);
    r->chunk = mem_new(uint32_t, CHUNK);
    if (!open_parts(r, err)) {
        struct error ignored = {0}; /* `err` has the reason */
        run_free(r, &ignored);
        return NULL;
    }
    run_report_inputs(r, 0);
    return r;
}

/* The figures that are known at the end only, and the verdict: the first that holds of an error
 * that is no task's, an interruption, failures. */
static bool run_conclude(struct run *r, struct error *err)
{
    struct run_result *x = &r->result;
    x->seconds = driver_now(r->driver);
    /* what was reused was committed like what ran, and noted as done */
    x->done -= x->reused < x->done ? x->reused : x->done;
    x->skipped = r->total - x->done - x->reused - x->failed;
    x->orphans = executor_sweep(r->executor);
    run_result_count_kept(x);
    run_result_tell_spilled(x);
    executor_tell_data(r->executor);
    run_result_tell_data(x);
    x->peak_disk = disk_peak(r->disk);
    if (r->error.kind != ERROR_NONE)
        return error_set(err, r->error.kind, "%s", r->error.text);
    if (x->interrupted)
        return error_set(err, ERROR_FAILED, "stopped; %u of %u task%s left",
                         x->skipped - x->untaken, r->total, plural_word(r->total, " is", "s are"));
    return run_result_judge(x, err);
}

bool run_close(struct run *r, struct run_result *result, struct error *err)
{
    if (!r->over) { /* whoever closes it early wants it to end */
        run_stop(r);
        run_stop(r);
        while (run_step(r, -1))
            ;
    }
    while (executor_is_moving(r->executor)) {
        uv_idle_stop(&r->spin); /* else nothing would be waited for */
        run_look(r, -1);
    }
    struct error stays = {0};
    if (!executor_end_moves(r->executor, &stays) && r->error.kind == ERROR_NONE)
        r->error = stays;
    disk_remove_unread(r->disk);
    bool good = run_conclude(r, err);
    *result = r->result;
    r->result = (struct run_result){0};
    struct error last = {0};
    if (!run_free(r, &last) && good)
        good = error_set(err, last.kind, "%s", last.text);
    return good;
}

void run_abandon(struct run *r)
{
    if (r->executor)
        executor_abandon(r->executor);
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
