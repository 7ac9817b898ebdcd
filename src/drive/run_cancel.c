/* Tasks that somebody does not want any more (run_cancel()): they and what depends on them are taken out, the rest goes on.
 *
 *     run_cancel ──▶ wishes ── next turn: run_take_out ──▶ scheduler: removes the subtree ──▶ run_removed: told, counted
 *
 * A run that a crew carries out has no scheduler: it gets one first (run_crew.c). */
#include "drive/run_private.h"

#include "base/mem.h"

void run_cancel(struct run *r, uint32_t task)
{
    if (task >= r->total || r->over)
        return;
    if (!r->gone)
        r->gone = mem_new_zero(uint8_t, r->total);
    if (!r->gone[task])
        r->gone[task] = CANCELLED_ASKED;
    array_push(&r->wishes, task);
    run_more_to_do(r);
}

void run_take_out(struct run *r)
{
    for (size_t i = r->wishes.n; i-- > 0;) {
        uint32_t task = r->wishes.at[i];
        if (task >= r->submitted && !r->stopping)
            continue; /* its turn comes */
        r->wishes.at[i] = r->wishes.at[--r->wishes.n];
        driver_handle(r->driver, &(struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = task});
    }
}

/* Because somebody cancelled it, or one above it? Those above are noted before. One that runs here is told of by its end. */
void run_removed(struct run *r, uint32_t task)
{
    const struct workflow *w = r->w;
    uint32_t because = NONE;
    if (!r->gone)
        return;
    bool asked = r->gone[task] == CANCELLED_ASKED;
    for (uint32_t e = w->pred_off[task]; !asked && because == NONE && e < w->pred_off[task + 1];
         e++)
        if (r->gone[w->pred_task[e]] == CANCELLED_GONE)
            because = w->pred_task[e];
    if (!asked && because == NONE)
        return; /* a failure's doing */
    r->gone[task] = CANCELLED_GONE;
    r->result.cancelled += asked;
    double now = driver_now(r->driver);
    if (!executor_runs(r->executor, task))
        outbox_event(&r->outbox, &(struct trace_event){.kind = TRACE_SKIPPED,
                                                       .id = task,
                                                       .other = because,
                                                       .outcome = TRACE_CANCELLED,
                                                       .start = now,
                                                       .finish = now});
}
