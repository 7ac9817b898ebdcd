/* Clusters of a stream, and orders. */
#include "model/check_rules.h"

/* ---- stream ---- */

void check_stream(struct check *c)
{
    uint8_t *home = mem_new_zero(uint8_t, c->w->ntasks);
    uint8_t *used = mem_new_zero(uint8_t, c->p->nnodes);
    uint32_t *inside = mem_new_zero(uint32_t, c->w->ntasks); /* cluster + 1 that last listed the task */
    double processors = 0;
    for (uint32_t i = 0; i < c->plan->clusters.n; i++) {
        const struct cluster *x = &c->plan->clusters.at[i];
        for (uint32_t k = 0; k < x->ntasks + x->nduplicates; k++) {
            bool duplicate = k >= x->ntasks;
            uint32_t t = c->plan->tasks.at[duplicate ? x->duplicates + k - x->ntasks : x->tasks + k];
            const char *name = workflow_task_name(c->w, t);
            if (inside[t] == i + 1)
                check_say(c, VIOLATION_STREAM, t, "'%s' is twice in cluster %u", name, i);
            inside[t] = i + 1;
            if (!duplicate && home[t]++)
                check_say(c, VIOLATION_STREAM, t, "'%s' is in two clusters and a duplicate in neither",
                          name);
            if (x->replicas > 1 + 1e-9 && c->w->flags[t] & TASK_NOT_REPLICABLE)
                check_say(c, VIOLATION_STREAM, t, "'%s' may not be replicated; cluster %u has %g replicas",
                          name, i, x->replicas);
        }
        double needs = fmax(1, ceil(x->replicas - 1e-7));
        processors += needs;
        if (x->nnodes && x->nnodes != needs)
            check_say(c, VIOLATION_STREAM, NONE, "cluster %u has %g replicas on %u nodes", i, x->replicas,
                      x->nnodes);
        for (uint32_t k = 0; k < x->nnodes; k++) {
            uint32_t node = c->plan->nodes.at[x->nodes + k];
            if (used[node]++)
                check_say(c, VIOLATION_STREAM, NONE, "'%s' runs two clusters or replicas",
                          platform_node_name(c->p, node));
            if (!c->p->up[node])
                check_say(c, VIOLATION_NODE, NONE, "'%s' is down", platform_node_name(c->p, node));
        }
    }
    for (uint32_t t = 0; t < c->w->ntasks; t++)
        if (!home[t])
            check_say(c, VIOLATION_STREAM, t, "'%s' is in no cluster", workflow_task_name(c->w, t));
    check_objective(c, "processors", processors);
    if (processors > c->p->nnodes)
        check_say(c, VIOLATION_STREAM, NONE, "needs %g processors; the platform has %u", processors,
                  c->p->nnodes);
    free(home);
    free(used);
    free(inside);
}

/* ---- order ---- */

void check_order(struct check *c)
{
    const struct plan *plan = c->plan;
    uint32_t n = c->w->ntasks, eligible = 0;
    uint32_t *left = mem_new(uint32_t, n);
    uint8_t *done = mem_new_zero(uint8_t, n);
    bool counts = plan->eligible.n == (size_t)n + 1, good = plan->order.n == n;
    double area = 0;
    for (uint32_t t = 0; t < n; t++) {
        left[t] = c->w->pred_off[t + 1] - c->w->pred_off[t];
        eligible += !left[t];
    }
    if (!good)
        check_say(c, VIOLATION_ORDER, NONE, "%zu tasks are ordered; the workflow has %u", plan->order.n, n);
    if (plan->eligible.n && !counts)
        check_say(c, VIOLATION_OBJECTIVE, NONE, "%zu eligible counts; expected %u", plan->eligible.n, n + 1);
    for (size_t i = 0; i <= plan->order.n && good; i++) {
        area += eligible;
        if (counts && plan->eligible.at[i] != eligible)
            check_say(c, VIOLATION_OBJECTIVE, NONE, "claims %u eligible tasks after %zu; there are %u",
                      plan->eligible.at[i], i, eligible);
        if (i == plan->order.n)
            break;
        uint32_t t = plan->order.at[i];
        const char *name = workflow_task_name(c->w, t);
        if (done[t] || left[t]) {
            if (done[t])
                check_say(c, VIOLATION_ORDER, t, "'%s' is ordered twice", name);
            else
                check_say(c, VIOLATION_ORDER, t, "'%s' comes before a task it depends on", name);
            good = false;
            break;
        }
        done[t] = 1;
        eligible--;
        for (uint32_t e = c->w->succ_off[t]; e < c->w->succ_off[t + 1]; e++)
            eligible += !--left[c->w->succ_task[e]];
    }
    if (good) {
        check_objective(c, "area", area);
        double bound = plan_objective(plan, "area_bound");
        if (bound < area - 1e-9 * area)
            check_say(c, VIOLATION_OBJECTIVE, NONE, "claims an area bound of %g below its area %g", bound,
                      area);
    }
    free(left);
    free(done);
}
