/* A run whose workflow grows: what the end of a task decides, and tasks that join while others run. */
#include "drive/run_private.h"

#include "base/mem.h"

#include <string.h>

/* Who joins later below such a task can never run. Only a run that keeps going meets one. */
void run_lost(struct run *r, uint32_t task)
{
    if (!r->o.growth)
        return;
    if (!r->lost) /* by task */
        r->lost = mem_new_zero(uint8_t, r->total);
    r->lost[task] = 1;
}

void run_decide(struct run *r, uint32_t task, bool done)
{
    if (r->o.growth && r->o.growth->decides)
        r->grows |= r->o.growth->decides(r->o.growth->context, task, done);
}

/* The tasks from `first` on have joined. Those below a lost one are lost; the first on each way down is
 * removed, and takes the others with it. */
static void run_find_lost(struct run *r, uint32_t first)
{
    const struct workflow *w = r->w;
    if (r->gone) {
        r->gone = mem_resize(r->gone, w->ntasks);
        memset(r->gone + first, 0, w->ntasks - first);
    }
    if (!r->lost)
        return;
    r->lost = mem_resize(r->lost, w->ntasks);
    memset(r->lost + first, 0, w->ntasks - first);
    for (uint32_t i = first; i < w->ntasks; i++) {
        uint32_t task = w->topo[i];
        bool removed = false;
        for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
            r->lost[task] |= r->lost[w->pred_task[e]];
            removed |= r->lost[w->pred_task[e]] && w->pred_task[e] < first;
        }
        if (removed)
            array_push(&r->never, task);
    }
}

/* What became known joins. Names of files that sinks have not been given yet point into the workflow's
 * texts, which may move: so they go first. */
void run_grow(struct run *r)
{
    const struct run_growth *g = r->o.growth;
    struct error err = {0};
    uint32_t first = r->w->ntasks, object = r->w->nobjects;
    r->grows = false;
    run_flush(r);
    if (!g->grow(g->context, &err)) {
        run_broken(r, &err);
        return;
    }
    disk_grow(r->disk, first, object, g->is_open(g->context));
    r->total = r->w->ntasks;
    if (r->total == first)
        return;
    r->windowed = false;
    executor_grow(r->executor, first, g->priority);
    struct sched_config config = executor_sched_config(r->executor);
    driver_grow(r->driver, &config);
    run_find_lost(r, first);
    double now = driver_now(r->driver);
    outbox_event(&r->outbox, &(struct trace_event){.kind = TRACE_GROWN,
                                                   .id = r->total,
                                                   .start = now,
                                                   .finish = now,
                                                   .amount = r->total - first});
    run_report_inputs(r, object);
}
