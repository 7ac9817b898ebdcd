/* What every run needs, whoever drives it (run.c on one machine, cluster/job.c in an agent): what
 * is known of its tasks, children, threads, and their ends. */
#include "exec/limit.h"
#include "drive/order.h"
#include "base/tree.h"
#include "drive/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { AHEAD = 256 }; /* calls that may wait for each thread: a batch is handed over at once */

/* ---- what ends ---- */

static void on_children(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct run *r = poll->data;
    struct child_result results[64];
    size_t n;
    do { /* a full batch may not have been all */
        n = children_reap(r->children, results, 64);
        for (size_t i = 0; i < n; i++)
            task_child_ended(r, &results[i]);
    } while (n == 64);
}

static void on_calls(uv_async_t *async)
{
    struct run *r = async->data;
    struct call_result results[256];
    for (size_t n; (n = calls_take(r->calls, results, 256)) > 0;)
        for (size_t i = 0; i < n; i++)
            task_call_ended(r, &results[i]);
}

static void wake(void *context)
{
    struct run *r = context;
    uv_async_send(&r->calls_ready);
}

/* ---- timers ---- */

static void on_waker(uv_timer_t *timer)
{
    (void)timer; /* waking up is all it is for: due timers are looked at in every round */
}

void run_fire_timers(struct run *r, void (*fire)(void *context, const struct sched_timer *t),
                     void *context)
{
    double now = run_now(r), next = INFINITY;
    for (size_t i = 0; i < r->timers.n;) {
        struct sched_timer t = r->timers.at[i];
        if (t.when > now) {
            next = t.when < next ? t.when : next;
            i++;
            continue;
        }
        r->timers.at[i] = array_pop(&r->timers);
        fire(context, &t);
        now = run_now(r);
    }
    if (isfinite(next)) /* it may have become due while others were fired */
        uv_timer_start(&r->waker, on_waker, (uint64_t)(fmax(next - now, 0) * 1000) + 1, 0);
}

/* ---- from beginning to end ---- */

static bool only_calls(const struct workflow *w)
{
    bool any = false;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (!w->command[t])
            continue;
        if (!(w->flags[t] & TASK_CALL) || w->memory[t] > 0 || w->cores[t] > 1)
            return false;
        any = true;
    }
    return any;
}

void run_prepare(struct run *r)
{
    const struct workflow *w = r->w;
    r->active = mem_new_zero(struct active, r->o->cores);
    for (uint32_t lane = r->o->cores; lane--;)
        array_push(&r->lanes, lane);
    bool memory = false;
    for (uint32_t t = 0; t < w->ntasks && !memory; t++)
        memory = w->memory[t] > 0;
    if (memory) {
        r->memory = mem_new(double, w->ntasks);
        memcpy(r->memory, w->memory, w->ntasks * sizeof *r->memory);
        r->rung = mem_new_zero(uint8_t, w->ntasks);
    }
    if (w->retries || w->more_off) {
        r->retries = mem_new_zero(uint32_t, w->ntasks);
        for (uint32_t t = 0; t < w->ntasks; t++) {
            uint32_t rungs = w->more_off ? w->more_off[t + 1] - w->more_off[t] : 0;
            r->retries[t] = w->retries ? w->retries[t] : 0;
            r->retries[t] = r->retries[t] > rungs ? r->retries[t] : rungs;
        }
    }
    const double *given = r->o->priority;
    const struct needs *n = r->o->needs;
    r->priority = mem_new(double, w->ntasks);
    if (given)
        memcpy(r->priority, given, w->ntasks * sizeof *given);
    else
        order_depth_first(w, r->priority);
    for (uint32_t t = 0; n && t < w->ntasks; t++)
        if (n->task[t] == NEED_NOT) /* costs nothing and may free others */
            r->priority[t] = INFINITY;
    if (r->o->disk > 0 && isfinite(r->o->disk) && !r->o->task_disk) {
        r->task_disk = mem_new(double, w->ntasks);
        for (uint32_t t = 0; t < w->ntasks; t++)
            r->task_disk[t] = n && n->task[t] == NEED_NOT ? 0 : disk_expected(w, t);
    }
}

struct sched_config run_sched_config(const struct run *r)
{
    const struct run_options *o = r->o;
    double first = o->retry_first < 0 ? 0 : o->retry_first > 0 ? o->retry_first : 0.1;
    if (r->memory && first < 0.001)
        first = 0.001; /* the next attempt's memory is set after the scheduler has seen the end */
    return (struct sched_config){
        .cores = only_calls(r->w) ? o->cores * AHEAD : o->cores,
        .memory = o->memory,
        .task_cores = r->w->cores,
        .task_memory = r->memory,
        .disk = o->disk,
        .task_disk = o->task_disk ? o->task_disk : r->task_disk,
        .priority = r->priority,
        .task_retries = r->retries,
        .retry_first = first,
        .retry_most = o->retry_most > 0 ? o->retry_most : 10,
        .predictor = o->predictor,
    };
}

bool run_setup(struct run *r, struct error *err)
{
    const struct run_options *o = r->o;
    uv_async_init(r->loop, &r->calls_ready, on_calls); /* there, whatever fails below */
    r->calls_ready.data = r;
    strbuf_printf(&r->logs, "%s/logs", o->state ? o->state : "/tmp");
    if (o->state && !make_parents(strbuf_text(&r->logs), err))
        return false;
    if (o->label) {
        mkdir(r->logs.at, 0777);
        strbuf_printf(&r->logs, "/%s", o->label);
    }
    r->limits = r->memory && !o->unlimited ? limits_new("weft", o->cores) : NULL;
    r->children = children_new(&(struct children_config){.slots = o->cores,
                                                         .folder = o->folder,
                                                         .logs = r->logs.at,
                                                         .grace = o->grace,
                                                         .limits = r->limits},
                               err);
    if (!r->children)
        return false;
    uv_poll_init(r->loop, &r->children_ready, children_fd(r->children));
    r->children_ready.data = r;
    uv_poll_start(&r->children_ready, UV_READABLE, on_children);
    bool calls = false;
    for (uint32_t t = 0; t < r->w->ntasks && !calls; t++)
        calls = r->w->flags[t] & TASK_CALL;
    if (calls)
        r->calls = calls_new(o->cores, o->folder, wake, r);
    return true;
}

void run_release(struct run *r)
{
    calls_free(r->calls);
    children_free(r->children);
    limits_free(r->limits);
    tasks_free(r);
    array_free(&r->ended);
    array_free(&r->jobs);
    array_free(&r->lanes);
    array_free(&r->hungry);
    array_free(&r->events);
    array_free(&r->files);
    free(r->memory);
    free(r->rung);
    free(r->retries);
    free(r->priority);
    free(r->task_disk);
    strbuf_free(&r->command);
    strbuf_free(&r->path);
    strbuf_free(&r->logs);
}
