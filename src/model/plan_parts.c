/* Parts of a tree as rows of tasks, for whoever carries a plan out: simulations and runs. */
#include "model/plan.h"

/* A partition of a tree says which node and (perhaps) in which order, not when. Placements get
 * their place in the order as planned time, which is all that who follows them wants of it. */
struct plan *plan_of_parts(const struct plan *given, const struct workflow *w,
                           const struct platform *p, struct error *err)
{
    uint32_t *rank = mem_new(uint32_t, w->ntasks);
    for (uint32_t i = 0; i < w->ntasks; i++)
        rank[w->topo[i]] = i;
    struct plan *plan = plan_new(PLAN_STATIC);
    if (given->planner)
        plan->planner = mem_copy_string(given->planner);
    if (!isnan(plan_objective(given, "makespan")))
        plan_set_objective(plan, "makespan", plan_objective(given, "makespan"));
    plan->ports = given->ports;
    for (size_t i = 0; i < given->evictions.n; i++)
        array_push(&plan->evictions, given->evictions.at[i]);
    bool good = true;
    for (size_t i = 0; i < given->parts.n && good; i++) {
        const struct part *part = &given->parts.at[i];
        uint32_t first = part->order != NONE ? part->order : part->tasks;
        if (part->node >= p->nnodes || first > given->tasks.n ||
            part->count > given->tasks.n - first)
            good = error_set(err, ERROR_INPUT, "part %zu of the plan does not fit the platform", i);
        for (uint32_t k = 0; k < part->count && good; k++) {
            uint32_t t = given->tasks.at[first + k];
            if (t >= w->ntasks)
                good = error_set(err, ERROR_INPUT,
                                 "the plan does not belong to this workflow: part %zu holds task "
                                 "number %u of %u",
                                 i, t, w->ntasks);
            else {
                double place = part->order != NONE ? k : rank[t];
                array_push(&plan->placements,
                           (struct placement){
                               .task = t, .node = part->node, .start = place, .finish = place});
            }
        }
    }
    free(rank);
    if (good)
        return plan;
    plan_free(plan);
    return NULL;
}
