/* Workflows of functions alone: a crew carries them out (exec/crew.h), past the scheduler.
 *
 *     run ── executor_crew_begin() ──▶ crew: threads, deques, counters of what waits
 *      ▲                                 │ ends, in batches
 *      └── executor_crew_take() ◀────────┘      the same events, records and counts as any task's
 *
 * The scheduler is for what must be weighed: memory, cores and things that tasks hold, attempts,
 * decisions, files, other nodes. Where none of that is, a graph is nothing but its edges. The first
 * thing that joins such a run makes it an ordinary one: the crew ends what runs, and the scheduler
 * is told of every task how it ended, as if it ended now (executor_crew_recall()).
 *
 * I1. The crew's threads read x->crew_call and the workflow, and touch nothing else of the executor
 *     but executor_wake().
 * I2. Until the crew has left, no task is started by executor_start(). */
#include "drive/executor_private.h"

#include "base/clock.h"
#include "exec/crew.h"

#include <math.h>
#include <stdlib.h>

enum { CREW_TAKEN = 512 }; /* ends taken at once */

/* Nothing of the task is the scheduler's business. */
static bool crew_suits_task(const struct executor *x, uint32_t task)
{
    enum { WEIGHED = TASK_MAY_FAIL | TASK_KEEP | TASK_KEEPS_RESULTS };
    const struct workflow *w = x->w;
    if (w->flags[task] & WEIGHED || w->cores[task] > 1 || executor_has_files(w, task))
        return false;
    uint8_t need = x->o->needs ? x->o->needs->task[task] : NEED_FORCED;
    if (need == NEED_SKIPPED || need == NEED_KEPT || need == NEED_PARENT)
        return false;
    return !w->command[task] || w->flags[task] & TASK_CALL;
}

/* O(tasks), once a run. A run that may grow by what its tasks decide is not for a crew: it would have
 * to leave at once. One that only a program may add to is, until it does. */
static bool crew_suits(const struct executor *x)
{
    const struct workflow *w = x->w;
    const struct run_growth *g = x->o->growth;
    if (!x->calls || x->o->gang || x->o->node || x->o->journal || x->decides || x->memory ||
        x->asks || x->retries || w->needs || w->not_before || w->nodes || w->growth || w->future)
        return false;
    if (g && (g->decides || g->is_open(g->context)))
        return false;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!crew_suits_task(x, t))
            return false;
    return true;
}

/* By task; false: one cannot be had, and the usual way will tell. */
static bool crew_find_functions(struct executor *x)
{
    const struct workflow *w = x->w;
    struct error err;
    uint32_t text = 0, function = 0;
    error_clear(&err);
    x->crew_call = mem_new_zero(weft_task_function, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (!w->command[t] || (x->o->needs && !need_runs(x->o->needs, t)))
            continue;
        if (w->command[t] != text &&
            !calls_find(x->calls, workflow_text(w, w->command[t]), &function, &err))
            return false;
        text = w->command[t];
        x->crew_call[t] = calls_function(x->calls, function);
    }
    return true;
}

bool executor_prepare_crew(struct executor *x)
{
    if (crew_suits(x) && crew_find_functions(x))
        return x->crewed = true;
    free(x->crew_call);
    x->crew_call = NULL;
    return false;
}

bool executor_is_crewed(const struct executor *x)
{
    return x->crewed;
}

bool executor_crew_begin(struct executor *x)
{
    x->crew_counted = (struct crew_counts){0};
    x->crew =
        crew_new(&(struct crew_config){.workflow = x->w,
                                       .threads = x->o->cores,
                                       .call = x->crew_call,
                                       .folder = x->o->folder,
                                       .priority = x->priority,
                                       .ordered = x->o->ordered || x->w->priority || x->ration,
                                       .keep_going = x->o->keep_going,
                                       .quiet = !x->outbox->wanted && !x->o->needs,
                                       .data = x->data,
                                       .ration = x->ration,
                                       .wake = executor_wake,
                                       .context = x});
    if (x->crew && x->stop != EXECUTOR_RUNS)
        crew_stop(x->crew);
    return x->crew != NULL;
}

/* Of a task that nothing was called for: a joint, or its result is there. */
static void crew_passed(struct executor *x, const struct crew_end *e)
{
    double now = e->finish - driver_began(x->driver);
    bool reused = x->w->command[e->task] != 0;
    outbox_event(x->outbox, &(struct trace_event){.kind = reused ? TRACE_REUSED : TRACE_TASK,
                                                  .id = e->task,
                                                  .start = now,
                                                  .finish = now});
    x->result->reused += reused;
    executor_report(x, e->task, 0, now, now, 0);
}

/* As of any call: executor_call_ended(). */
static void crew_ended(struct executor *x, const struct crew_end *c)
{
    if (!x->crew_call[c->task]) {
        crew_passed(x, c);
        return;
    }
    struct input_marks none = {0};
    int status = c->status;
    char *text = executor_explain_call(x, c->task, &status);
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = c->task,
                            .lane = c->lane,
                            .start = c->start - driver_began(x->driver),
                            .finish = c->finish - driver_began(x->driver),
                            .outcome = status ? TRACE_FAILED : TRACE_DONE,
                            .status = status,
                            .attempt = 1,
                            .cpu = c->finish - c->start};
    struct run_failure failure = {.task = c->task,
                                  .attempt = 1,
                                  .outcome = (enum trace_outcome)e.outcome,
                                  .status = status,
                                  .text = text};
    x->running++; /* for a moment: it is taken off again */
    executor_task_over(x, &e, 0, 1, NULL, &none, failure);
}

/* Those of which nobody wants more than their number: what has come since the last time. */
static uint32_t crew_count_quiet(struct executor *x)
{
    struct crew_counts now, *then = &x->crew_counted;
    crew_count(x->crew, &now);
    uint64_t calls = now.well - then->well, passed = now.passed - then->passed;
    x->result->attempts += (uint32_t)calls;
    x->result->busy += now.busy - then->busy;
    x->result->cpu += now.busy - then->busy;
    *then = now;
    return (uint32_t)(calls + passed);
}

/* Whether it is over is asked before its ends are taken: after, one might have come between. */
struct executor_ends executor_crew_take(struct executor *x)
{
    struct crew_end ends[CREW_TAKEN];
    struct executor_ends out = {0};
    if (x->calls_lost || !x->crew) {
        out.over = true;
        return out;
    }
    bool over = crew_over(x->crew);
    size_t n = crew_take(x->crew, ends, CREW_TAKEN);
    for (size_t i = 0; i < n; i++) {
        crew_ended(x, &ends[i]);
        out.failed += ends[i].status != 0;
    }
    out.done = (uint32_t)n - out.failed + crew_count_quiet(x);
    out.more = n == CREW_TAKEN;
    out.over = over && !out.more;
    if (out.over)
        executor_tell_data(x);
    return out;
}

void executor_crew_leave(struct executor *x)
{
    x->verdicts = x->w->ntasks;
    x->verdict = mem_new_zero(uint8_t, x->verdicts);
    for (uint32_t t = 0; x->crew && t < x->verdicts; t++)
        x->verdict[t] = (uint8_t)crew_verdict(x->crew, t);
    crew_free_within(x->crew, INFINITY);
    x->crew = NULL;
    x->crewed = false;
    executor_start_threads(x);
}

/* No event and no record: those were made when it ended. */
void executor_crew_recall(struct executor *x, const struct sched_start *s)
{
    double now = driver_now(x->driver);
    if (x->verdict[s->task] == CREW_DONE)
        executor_report(x, s->task, s->slot, now, now, 0);
    else
        executor_report_failure(x, s->task, s->slot, true, now, now);
}

void executor_crew_pause(struct executor *x)
{
    if (x->crew)
        crew_stop(x->crew);
}

bool executor_crew_runs(const struct executor *x)
{
    return x->crew && !crew_over(x->crew);
}

/* Threads that are in a call, or look for one. */
uint32_t executor_crew_active(const struct executor *x)
{
    struct crew_counts now = {0};
    if (x->crew)
        crew_count(x->crew, &now);
    return now.active;
}

/* What a function that does not return may use is left to it. */
bool executor_free_crew(struct executor *x, bool lost)
{
    bool gone = crew_free_within(x->crew, lost ? 0 : INFINITY);
    x->crew = NULL;
    free(x->verdict);
    x->verdict = NULL;
    if (gone)
        free(x->crew_call);
    x->crew_call = NULL;
    return gone;
}
