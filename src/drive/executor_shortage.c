/* Commands that cannot start for want of descriptors, processes or memory. Such wants pass: what holds
 * them ends, or somebody else's work does. So they wait, each on the lane that it was given, and are
 * tried again when a task has ended and ten times a second. A want that does not pass though nothing
 * of ours runs is a failure that names it.
 *
 *     executor_start() ── no descriptor ──▶ waiting ── tried again ──▶ runs
 *                                             │ └── a minute (an agent: seconds), and nothing else runs ──▶ not started
 *                                             └── the run stops ──▶ left, as what was never started */
#include "drive/executor_private.h"

#include "base/clock.h"

enum { TRY_LATER = 75 }; /* the status for it, EX_TEMPFAIL of sysexits.h */

/* Seconds: longer than a burst of other people's processes; where another machine may take the task, as long
 * as it is worth waiting for this one. */
static const double patience = 60, patience_among_others = 5;

void executor_wait(struct executor *x, const struct sched_start *s, uint32_t lane,
                   const struct error *err)
{
    array_push(&x->waiting, (struct waiting_start){*s, lane, clock_seconds()});
    x->running++;
    if (err->kind == ERROR_NONE || x->short_remarked || x->result->remarks.n >= RUN_REMARKS)
        return;
    struct strbuf text = {0};
    strbuf_printf(&text, "tasks waited until they could start, task '%s' first: %s",
                  workflow_task_name(x->w, s->task), err->text);
    array_push(&x->result->remarks, strbuf_steal(&text));
    x->short_remarked = true;
}

/* The lane is free before the end is reported, since the report may start another task. */
static void waiting_over(struct executor *x, struct waiting_start w, enum trace_outcome outcome,
                         const struct error *why)
{
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = w.start.task,
                            .lane = w.lane,
                            .start = w.since - driver_began(x->driver),
                            .finish = driver_now(x->driver),
                            .outcome = outcome,
                            .status = TRY_LATER,
                            .attempt = w.start.attempt};
    struct run_failure failure = {.task = w.start.task,
                                  .attempt = w.start.attempt,
                                  .outcome = outcome,
                                  .status = TRY_LATER,
                                  .text = why ? mem_copy_string(why->text) : NULL};
    uint32_t cores = x->active[w.lane].cores;
    array_push(&x->lanes, w.lane);
    executor_task_over(x, &e, w.start.slot, cores, NULL, &(struct input_marks){0}, failure);
}

static struct waiting_start waiting_take(struct executor *x, size_t at)
{
    struct waiting_start w = x->waiting.at[at];
    for (x->waiting.n--; at < x->waiting.n; at++)
        x->waiting.at[at] = x->waiting.at[at + 1];
    return w;
}

/* In order, until one is still short of something: the others would be, too. */
void executor_retry_waiting(struct executor *x)
{
    double most = x->o->node ? patience_among_others : patience;
    while (x->waiting.n) {
        const struct waiting_start *w = &x->waiting.at[0];
        struct error err = {0};
        bool good = executor_begin_command(x, &w->start, w->lane, &err);
        bool in_vain = x->running == x->waiting.n && !executor_is_moving(x) &&
                       clock_seconds() - w->since > most;
        if (!good && x->is_short && !in_vain)
            return;
        struct waiting_start tried = waiting_take(x, 0);
        if (!good)
            waiting_over(x, tried, TRACE_NOT_STARTED, &err);
    }
}

void executor_drop_waiting(struct executor *x)
{
    for (size_t i = 0; i < x->waiting.n; i++)
        array_push(&x->lanes, x->waiting.at[i].lane);
    x->running -= (uint32_t)x->waiting.n;
    x->waiting.n = 0;
}

void executor_cancel_waiting(struct executor *x, uint32_t task)
{
    for (size_t i = x->waiting.n; i-- > 0;)
        if (task == NONE || x->waiting.at[i].start.task == task)
            waiting_over(x, waiting_take(x, i), TRACE_CANCELLED, NULL);
}

void executor_return_waiting(struct executor *x)
{
    for (size_t i = 0; i < x->waiting.n; i++) {
        const struct waiting_start *w = &x->waiting.at[i];
        array_push(&x->lanes, w->lane);
        driver_ended(x->driver, &(struct sched_ended){.task = w->start.task,
                                                      .slot = w->start.slot,
                                                      .failed = true,
                                                      .returned = true,
                                                      .start = w->since - driver_began(x->driver),
                                                      .finish = driver_now(x->driver)});
    }
    x->running -= (uint32_t)x->waiting.n;
    x->waiting.n = 0;
}
