/* The executor from beginning to end: what must be there before tasks can run, how ends come in,
 * and what is left to free. Its invariants stand in executor_private.h. */
#include "drive/executor_private.h"

#include "base/clock.h"
#include "base/tree.h"
#include "drive/order.h"
#include "exec/limit.h"
#include "model/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    AHEAD = 256,       /* calls that may wait for each thread: a batch is handed over at once */
    REAPED = 64,       /* children taken at once: what children_reap() gives at most */
    CALLS_TAKEN = 256, /* results of calls taken under one lock */
    TICKS_A_SECOND = 10,
};

/* Seconds before the second attempt, doubled each time, up to the second of them: what failed for
 * want of a server or a file of others has time to recover, and nobody waits long in vain. */
static const double retry_first = 0.1, retry_most = 10;
/* At least, when attempts get more memory: it is set by executor_settle(), after the scheduler has
 * seen the end, and a retry at once would start with what was too little. */
static const double retry_after_settle = 0.001;

static const double calls_grace = 5; /* seconds for a call to return, as children have */

/* ---- what ends ---- */

static void executor_on_children(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct executor *x = poll->data;
    struct child_result results[REAPED];
    size_t n;
    do { /* a full batch may not have been all */
        n = children_reap(x->children, results, REAPED);
        for (size_t i = 0; i < n; i++)
            executor_child_ended(x, &results[i]);
    } while (n == REAPED);
    executor_retry_waiting(x);
}

static void executor_on_calls(uv_async_t *async)
{
    struct executor *x = async->data;
    struct call_result results[CALLS_TAKEN];
    if (x->calls_lost)
        return;
    /* until there is none: only then does the next result wake again. Alone, one is made in each
     * turn of the loop, and the shortage of threads may have passed before it */
    if (x->calls_alone)
        x->calls_alone = calls_threads(x->calls) == 0;
    for (size_t n; (n = calls_take(x->calls, results, CALLS_TAKEN)) > 0;) {
        for (size_t i = 0; i < n; i++)
            executor_call_ended(x, &results[i]);
        if (x->calls_alone)
            break;
    }
}

/* On a thread of the calls. */
void executor_wake(void *context)
{
    struct executor *x = context;
    uv_async_send(&x->calls_ready);
}

/* ---- what is known of the tasks ---- */

/* Then the scheduler may start more than there are threads: calls wait for them in batches, which
 * costs less than asking it for each. With commands, memory or several cores, a start means now. */
static bool has_only_calls(const struct workflow *w)
{
    bool any = false;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (!w->command[t])
            continue;
        if (!(w->flags[t] & TASK_CALL) || w->memory[t] > 0 || w->cores[t] > 1 ||
            workflow_demand(w, t))
            return false;
        any = true;
    }
    return any;
}

/* What a joint asks for, or a task whose result is there, is of no account: it takes nothing. */
bool executor_takes_room(const struct executor *x, uint32_t task)
{
    return x->w->command[task] && !(x->o->needs && !need_runs(x->o->needs, task));
}

/* Copies only where some task differs from what the workflow says of it. */
static void executor_prepare_cores(struct executor *x)
{
    const struct workflow *w = x->w;
    uint32_t t = 0;
    while (t < w->ntasks && (w->cores[t] == 1 || executor_takes_room(x, t)))
        t++;
    if (t == w->ntasks)
        return;
    x->cores = mem_new(uint32_t, w->ntasks);
    for (t = 0; t < w->ntasks; t++)
        x->cores[t] = executor_takes_room(x, t) ? w->cores[t] : 1;
}

/* Memory and retries by task, only if some task has any: a million tasks without pay nothing. */
static void executor_prepare_limits(struct executor *x)
{
    const struct workflow *w = x->w;
    bool memory = false;
    for (uint32_t t = 0; t < w->ntasks && !memory; t++)
        memory = w->memory[t] > 0 && !executor_is_rationed(x, t);
    if (memory) {
        x->memory = mem_new(double, w->ntasks);
        for (uint32_t t = 0; t < w->ntasks; t++)
            x->memory[t] =
                executor_takes_room(x, t) && !executor_is_rationed(x, t) ? w->memory[t] : 0;
        x->rung = mem_new_zero(uint8_t, w->ntasks);
    }
    if (!w->retries && !w->more_off)
        return;
    x->retries = mem_new_zero(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) { /* every rung of memory is worth an attempt */
        uint32_t rungs = w->more_off ? w->more_off[t + 1] - w->more_off[t] : 0;
        x->retries[t] = w->retries ? w->retries[t] : 0;
        x->retries[t] = x->retries[t] > rungs ? x->retries[t] : rungs;
    }
}

/* What the scheduler weighs: which task goes first, and what it will leave on the disk. */
static void executor_prepare_order(struct executor *x)
{
    const struct workflow *w = x->w;
    const struct needs *n = x->o->needs;
    x->priority = mem_new(double, w->ntasks);
    if (x->o->priority)
        memcpy(x->priority, x->o->priority, w->ntasks * sizeof *x->priority);
    else
        order_depth_first(w, x->priority);
    for (uint32_t t = 0; n && t < w->ntasks; t++)
        if (!need_runs(n, t)) /* costs nothing and may free others */
            x->priority[t] = INFINITY;
    if (!(x->o->disk > 0) || !isfinite(x->o->disk) || x->o->task_disk)
        return;
    x->task_disk = mem_new(double, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        x->task_disk[t] = n && !need_runs(n, t) ? 0 : executor_room_needed(x, t);
}

struct sched_config executor_sched_config(struct executor *x)
{
    const struct run_options *o = x->o;
    double first = o->retry_first < 0 ? 0 : o->retry_first > 0 ? o->retry_first : retry_first;
    if (x->memory && first < retry_after_settle)
        first = retry_after_settle;
    struct capacity here = {0};
    capacity_set_things(&here, x->w, o->resources);
    struct sched_config config = {
        .cores = !x->has_grown && has_only_calls(x->w) ? o->cores * AHEAD : o->cores,
        .memory = run_memory_of_tasks(o),
        .has = o->has,
        .task_cores = x->cores ? x->cores : x->w->cores,
        .task_memory = x->memory,
        .task_needs = x->w->needs,
        .task_nodes = o->gang ? x->w->nodes : NULL,
        .parts_wait = true,
        .things = here.things,
        .task_asks = x->asks,
        .amount = x->w->amount,
        .disk = o->disk,
        .task_disk = o->task_disk ? o->task_disk : x->task_disk,
        .gate = executor_gate(x),
        .priority = x->priority,
        .not_before = x->w->not_before,
        .task_retries = x->retries,
        .retry_first = first,
        .retry_most = o->retry_most > 0 ? o->retry_most : retry_most,
        .predictor = o->predictor,
    };
    memcpy(config.thing, here.thing, sizeof config.thing);
    return config;
}

/* ---- while it runs ---- */

void executor_hand_over(struct executor *x)
{
    x->call_ended = 0; /* the next batch begins at another time */
    if (!x->jobs.n)
        return;
    calls_submit(x->calls, x->jobs.at, x->jobs.n);
    x->jobs.n = 0;
}

void executor_set_stop(struct executor *x, enum executor_stop stop)
{
    if (stop > x->stop)
        x->stop = stop;
    executor_drop_waiting(x);
    if (x->calls)
        x->running -= calls_cancel(x->calls);
    executor_crew_pause(x);
    if (stop == EXECUTOR_ENDS_NOW) {
        x->ends_at = clock_seconds() + (x->o->grace > 0 ? x->o->grace : calls_grace);
        executor_end_all(x);
    }
}

/* A function that does not return cannot be ended, but waited for in vain it need not be. */
static void executor_give_calls_up(struct executor *x)
{
    if (!x->calls || x->calls_lost || x->stop != EXECUTOR_ENDS_NOW ||
        clock_seconds() < x->ends_at || !(calls_pending(x->calls) || executor_crew_runs(x)))
        return;
    x->calls_lost = true;
    x->running -= calls_pending(x->calls);
}

/* O(lanes). Calls go on: a thread cannot be ended from outside without spoiling what it holds. */
void executor_end_all(struct executor *x)
{
    for (uint32_t lane = 0; lane < x->o->cores; lane++)
        if (x->active[lane].used)
            child_stop(x->children, lane, true);
    executor_cancel_waiting(x, NONE);
}

void executor_tick(struct executor *x)
{
    children_tick(x->children);
    executor_settle_doubts(x);
    executor_retry_waiting(x);
    executor_give_calls_up(x);
    if (x->o->node)
        executor_look_at_health(x, x->ticks++ % TICKS_A_SECOND);
}

uint32_t executor_sweep(struct executor *x)
{
    children_sweep(x->children);
    return children_orphans(x->children);
}

uint32_t executor_running(const struct executor *x)
{
    return x->running + executor_crew_active(x);
}

bool executor_has_failed(const struct executor *x, uint32_t task)
{
    for (size_t i = 0; i < x->failed.n; i++)
        if (task == NONE || x->failed.at[i] == task)
            return true;
    return false;
}

bool executor_has_lane(const struct executor *x)
{
    return x->lanes.n > 0;
}

double executor_memory(const struct executor *x)
{
    return x->limits ? children_memory(x->children) : -1;
}

/* ---- from beginning to end ---- */

/* STATE/logs/LABEL, made by the first log; without a state, /tmp/logs. */
static bool executor_name_logs(struct executor *x, struct error *err)
{
    const struct run_options *o = x->o;
    strbuf_printf(&x->logs, "%s/logs", o->state ? o->state : "/tmp");
    if (o->state && !make_parents(strbuf_text(&x->logs), err))
        return false;
    if (o->label) {
        mkdir(x->logs.at, 0775);
        strbuf_printf(&x->logs, "/%s", o->label);
    }
    return true;
}

/* Last of all that can fail: handles are closed by a turn of the loop, not by a return. */
static void executor_open_handles(struct executor *x, uv_loop_t *loop)
{
    uv_async_init(loop, &x->calls_ready, executor_on_calls);
    x->calls_ready.data = x;
    x->loop = loop;
    x->handles = 1;
}

/* From the first command on: a run of which none has begun here has no descriptors for it. */
bool executor_watch_children(struct executor *x, struct error *err)
{
    if (x->watches_children)
        return true;
    int fd = children_fd(x->children);
    int bad = fd < 0 ? -errno : uv_poll_init(x->loop, &x->children_ready, fd);
    if (bad) {
        x->is_short = child_is_shortage(-bad);
        return error_set(err, ERROR_FAILED, "cannot watch processes: %s", strerror(-bad));
    }
    x->children_ready.data = x;
    uv_poll_start(&x->children_ready, UV_READABLE, executor_on_children);
    x->watches_children = true;
    x->handles++;
    return true;
}

void executor_open_calls(struct executor *x)
{
    const struct run_options *o = x->o;
    bool calls = false;
    for (uint32_t t = 0; t < x->w->ntasks && !calls; t++)
        calls = x->w->flags[t] & TASK_CALL;
    if (!calls)
        return;
    x->calls = calls_new(o->cores, o->folder, executor_wake, x);
    if (x->has_grown) /* these are the first; nothing of theirs is limited */
        executor_prepare_data(x, &(struct error){0});
    if (x->has_grown || !executor_prepare_crew(x))
        executor_start_threads(x);
}

void executor_start_threads(struct executor *x)
{
    x->calls_alone = calls_threads(x->calls) == 0;
    if (x->calls_alone)
        array_push(&x->result->remarks,
                   mem_copy_string("no thread could be started for calls (a limit of processes or "
                                   "of memory): they were made one at a time"));
}

struct executor *executor_new(const struct executor_config *config, struct error *err)
{
    const struct run_options *o = config->options;
    struct executor *x = mem_new_zero(struct executor, 1);
    x->o = o;
    x->w = o->workflow;
    x->result = config->result;
    x->driver = config->driver;
    x->outbox = config->outbox;
    x->disk = config->disk;
    x->trouble = config->trouble;
    x->moved = config->moved;
    x->context = config->context;
    x->free_arguments = NONE;
    x->active = mem_new_zero(struct active, o->cores);
    for (uint32_t lane = o->cores; lane--;)
        array_push(&x->lanes, lane);
    executor_prepare_decisions(x);
    executor_prepare_cores(x);
    executor_prepare_limits(x);
    executor_prepare_things(x);
    bool good = executor_open_spill(x, config->loop, err) && executor_name_logs(x, err) &&
                executor_prepare_data(x, err);
    executor_prepare_order(x); /* knows what leaves memory */
    executor_prepare_sequel(x);
    if (good) {
        x->limits = x->memory && !o->unlimited ? limits_new("weft", o->cores) : NULL;
        x->children = children_new(&(struct children_config){.slots = o->cores,
                                                             .folder = o->folder,
                                                             .logs = x->logs.at,
                                                             .grace = o->grace,
                                                             .limits = x->limits});
    }
    if (!x->children) {
        executor_free(x);
        return NULL;
    }
    executor_hide_secrets(x);
    executor_open_handles(x, config->loop);
    executor_open_calls(x);
    return x;
}

/* libuv has let go of one of them. */
static void executor_handle_closed(uv_handle_t *handle)
{
    struct executor *x = handle->data;
    if (--x->handles == 0)
        x->closed(x->closed_context);
}

void executor_close(struct executor *x, void (*closed)(void *context), void *context)
{
    x->closed = closed;
    x->closed_context = context;
    /* no thread may wake what is closed, and none does that comes late */
    bool lost = x->calls_lost;
    x->calls_lost = !executor_free_crew(x, lost);
    if (lost && !x->calls_lost) /* else its functions are in there */
        x->calls_lost = !calls_free_within(x->calls, 0);
    else if (!lost)
        calls_free(x->calls);
    x->calls = NULL;
    if (x->watches_children)
        uv_close((uv_handle_t *)&x->children_ready, executor_handle_closed);
    uv_close((uv_handle_t *)&x->calls_ready, executor_handle_closed);
}

void executor_abandon(struct executor *x)
{
    children_abandon(x->children);
}

void executor_free(struct executor *x)
{
    if (!x)
        return;
    children_free(x->children); /* kills and waits, so nothing writes into the sandboxes below */
    x->children = NULL;
    limits_free(x->limits);
    for (uint32_t lane = 0; lane < x->o->cores; lane++) {
        if (x->active[lane].sandbox)
            executor_drop_sandbox(x, x->active[lane].task, x->active[lane].sandbox);
        free(x->active[lane].sandbox);
        input_marks_free(&x->active[lane].inputs);
        if (x->active[lane].script)
            unlink(x->active[lane].script);
        free(x->active[lane].script);
    }
    free(x->active);
    executor_drop_emptied(x);
    if (!x->calls_lost) { /* else functions that still run may use what they were given */
        executor_free_calls(x);
        executor_free_data(x);
    }
    array_free(&x->lanes);
    array_free(&x->waiting);
    array_free(&x->failed);
    array_free(&x->out_of_memory);
    array_free(&x->roomed);
    spill_free(x->spill);
    executor_drop_sequel(x);
    array_free(&x->changed);
    free(x->cores);
    executor_free_things(x);
    free(x->memory);
    free(x->rung);
    free(x->retries);
    free(x->priority);
    free(x->task_disk);
    free(x->own_absent);
    strbuf_free(&x->command);
    strbuf_free(&x->path);
    strbuf_free(&x->source);
    array_free(&x->parked);
    array_free(&x->doubted);
    array_free(&x->doubted_calls);
    strbuf_free(&x->variables);
    array_free(&x->words);
    strbuf_free(&x->logs);
    executor_free_surroundings(x);
    for (size_t i = 0; i < x->hidden.n; i++)
        free(x->hidden.at[i]);
    array_free(&x->hidden);
    free(x);
}

const char *executor_live_log(const struct executor *x, uint32_t task, uint32_t *attempt)
{
    if (x->w->secret && task < x->w->ntasks &&
        (x->w->secret[task] || x->hidden.n > x->hidden_first))
        return NULL;
    for (uint32_t lane = 0; lane < x->o->cores; lane++) {
        const struct active *a = &x->active[lane];
        if (a->used && a->task == task) {
            *attempt = a->attempt;
            return child_log_path(x->children, lane);
        }
    }
    return NULL;
}
