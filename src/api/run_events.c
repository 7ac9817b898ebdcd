/* Events of a run as the public API has them: from trace events, remarks and ticks. */
#include "api/run_handle.h"

#include <string.h>

static void target_remark(void *context, enum remark_kind kind, const char *text)
{
    const struct event_target *to = context;
    if (to->event)
        to->event(to->context, &(struct weft_event){.kind = WEFT_EVENT_REMARK,
                                                    .remark = (enum weft_remark)kind,
                                                    .text = text});
}

struct remarks api_remarks(struct event_target *to)
{
    return (struct remarks){target_remark, to};
}

/* What progress counts a task as. */
enum task_count {
    COUNTED_NOT,
    COUNTED_RUNNING,
    COUNTED_DONE,
    COUNTED_FAILED,
    COUNTED_REUSED,
    COUNTED_SKIPPED
};

/* Move a task from one count to another: an attempt that fails and is tried again leaves `failed`. */
static void run_count_task(struct weft_run *run, uint32_t task, enum task_count as)
{
    uint32_t *const counts[] = {
        [COUNTED_RUNNING] = &run->counts.running, [COUNTED_DONE] = &run->counts.done,
        [COUNTED_FAILED] = &run->counts.failed,   [COUNTED_REUSED] = &run->counts.reused,
        [COUNTED_SKIPPED] = &run->counts.skipped,
    };
    enum task_count before = run->task_state[task];
    if (before != COUNTED_NOT)
        --*counts[before];
    if (as != COUNTED_NOT)
        ++*counts[as];
    run->task_state[task] = (uint8_t)as;
}

/* Tasks joined. */
static void run_events_grow(struct weft_run *run, double now)
{
    uint32_t n = run->session.w->ntasks;
    run->task_state = mem_resize(run->task_state, (size_t)n + n / 2 + 1);
    memset(run->task_state + run->counts.tasks, COUNTED_NOT, n - run->counts.tasks);
    run->counts.tasks = n;
    run->counts.seconds = now;
    if (run->to.event)
        run->to.event(
            run->to.context,
            &(struct weft_event){.kind = WEFT_EVENT_GROWN, .time = now, .counts = run->counts});
}

/* From the thread that steps the run, for every attempt: counters and one call, nothing allocated. */
static void run_on_trace_event(void *context, const struct trace_event *e)
{
    struct weft_run *run = context;
    const struct workflow *w = run->session.w;
    if (e->kind == TRACE_GROWN) {
        run_events_grow(run, e->start);
        return;
    }
    if ((e->kind != TRACE_BEGIN && e->kind != TRACE_TASK && e->kind != TRACE_REUSED &&
         e->kind != TRACE_SKIPPED) ||
        e->id >= w->ntasks)
        return;
    struct weft_event out = {.time = e->start,
                             .task = e->id,
                             .name = workflow_task_name(w, e->id),
                             .attempt = e->attempt,
                             .node = e->node,
                             .core = e->lane};
    if (e->kind == TRACE_BEGIN) {
        out.kind = WEFT_EVENT_BEGUN;
        run->counts.retried += e->attempt > 1;
        run_count_task(run, e->id, COUNTED_RUNNING);
    } else if (e->kind == TRACE_REUSED) {
        out.kind = WEFT_EVENT_REUSED;
        run_count_task(run, e->id, COUNTED_REUSED);
    } else if (e->kind == TRACE_SKIPPED) {
        out.kind = WEFT_EVENT_SKIPPED;
        run_count_task(run, e->id, COUNTED_SKIPPED);
    } else {
        out.kind = WEFT_EVENT_ENDED;
        out.time = e->finish;
        out.outcome = (enum weft_outcome)e->outcome;
        out.status = e->status;
        out.seconds = e->finish - e->start;
        out.cpu = e->cpu;
        out.memory = e->memory;
        run_count_task(run, e->id,
                       e->outcome == TRACE_DONE       ? COUNTED_DONE
                       : trace_is_failure(e->outcome) ? COUNTED_FAILED
                                                      : COUNTED_NOT);
    }
    run->counts.seconds = out.time;
    out.counts = run->counts;
    if (run->to.event)
        run->to.event(run->to.context, &out);
}

/* Files that the run produced or found: provenance, in the order in which the run tells of them. */
static void run_on_trace_file(void *context, const struct trace_file *file)
{
    struct weft_run *run = context;
    const struct workflow *w = run->session.w;
    bool has_producer = file->task < w->ntasks;
    if (run->to.event)
        run->to.event(
            run->to.context,
            &(struct weft_event){.kind = WEFT_EVENT_FILE,
                                 .time = run->counts.seconds,
                                 .task = has_producer ? file->task : WEFT_NONE,
                                 .name = has_producer ? workflow_task_name(w, file->task) : NULL,
                                 .path = file->path,
                                 .bytes = file->size,
                                 .produced = file->produced,
                                 .counts = run->counts});
}

void run_events_listen(struct weft_run *run)
{
    session_listen(&run->session,
                   (struct trace_sink){run_on_trace_event, run, run_on_trace_file, NULL});
}

void run_events_report(struct weft_run *run, enum weft_event_kind kind)
{
    if (run->to.event)
        run->to.event(
            run->to.context,
            &(struct weft_event){.kind = kind, .time = run->counts.seconds, .counts = run->counts});
}

/* Ten times a second from the run's own timer, so that a display moves while nothing ends. */
void run_events_on_tick(void *context, int stopping)
{
    struct weft_run *run = context;
    run->counts.stopping = stopping;
    run_events_report(run, WEFT_EVENT_PROGRESS);
}

bool run_events_planning(void *context, double fraction, const char *what)
{
    struct weft_run *run = context;
    return run->planning(run->to.context, fraction, what);
}
