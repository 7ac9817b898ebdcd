/* Runs whose files are in memory (in_memory.h): what fits at all, and in which order. While it goes on, the scheduler counts
 * (drive/executor_memory.c): a task takes its memory and what it will leave, and what is there is taken already. */
#include "session/in_memory.h"
#include "drive/disk.h"
#include "drive/order.h"
#include "model/future.h"
#include "plan/memory/traversal.h"

#include <stdlib.h>

/* Where files are in memory: a task with all of its files must fit, or nothing else could ever make room. */
bool in_memory_fits(const struct session *s, struct error *err)
{
    const struct workflow *w = s->w;
    for (uint32_t t = 0; s->o.in_memory && t < w->ntasks; t++) {
        double bytes = w->memory[t] + disk_expected(w, t);
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            bytes += w->pred_object[e] == NONE ? 0 : w->size[w->pred_object[e]];
        if (need_runs(&s->needs, t) && bytes > s->memory)
            return error_set(err, ERROR_INFEASIBLE,
                             "task '%s' needs %.10g bytes with its files, and this run has %.10g "
                             "(-m); without --in-memory files count on the disk",
                             workflow_task_name(w, t), bytes, s->memory);
    }
    return true;
}

/* What bounds files bounds them and the tasks together. Where no plan says otherwise, the order that needs little of it (plan/memory/traversal.h). Ranks
 * or depth would begin much at once, and fill all memory with files that wait. */
void in_memory_begin(struct session *s, struct run_options *o)
{
    if (!s->o.in_memory)
        return;
    o->disk = s->memory;
    o->in_memory = true;
    if (s->priority || workflow_is_open(s->w))
        return;
    double peak;
    struct plan *plan = plan_new(PLAN_ORDER);
    uint32_t *order = traversal_best(s->w, &peak);
    for (uint32_t i = 0; i < s->w->ntasks; i++)
        array_push(&plan->order, order[i]);
    s->priority = mem_new(double, (size_t)s->w->ntasks + 1);
    order_of_plan(s->w, plan, s->priority);
    o->priority = s->priority;
    o->ordered = true;
    free(order);
    plan_free(plan);
}
