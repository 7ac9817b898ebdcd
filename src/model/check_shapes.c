/* Orders. */
#include "model/check_rules.h"
#include "base/plural.h"

/* Every task once, after all its predecessors. Walks the order once and counts eligible tasks
 * (not done, all predecessors done) before each step: their sum is the area (docs/order.md).
 */
void check_order(struct check *c)
{
    const struct plan *plan = c->plan;
    uint32_t n = c->w->ntasks, eligible = 0;
    uint32_t *left = mem_new(uint32_t, n);
    uint8_t *done = mem_new_zero(uint8_t, n);
    /* a plan may leave the counts out; if it states them, every one must be right */
    bool counts = plan->eligible.n == (size_t)n + 1, good = plan->order.n == n;
    double area = 0;
    for (uint32_t t = 0; t < n; t++) {
        left[t] = c->w->pred_off[t + 1] - c->w->pred_off[t];
        eligible += !left[t];
    }
    if (!good)
        check_say(c, VIOLATION_ORDER, NONE, "%zu task%s ordered; the workflow has %u",
                  plan->order.n, plural_word(plan->order.n, " is", "s are"), n);
    if (plan->eligible.n && !counts)
        check_say(c, VIOLATION_OBJECTIVE, NONE, "%zu eligible counts; expected %u",
                  plan->eligible.n, n + 1);
    for (size_t i = 0; i <= plan->order.n && good; i++) {
        area += eligible;
        if (counts && plan->eligible.at[i] != eligible)
            check_say(c, VIOLATION_OBJECTIVE, NONE,
                      "claims %u eligible task%s after %zu; there are %u", plan->eligible.at[i],
                      plural(plan->eligible.at[i]), i, eligible);
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
            check_say(c, VIOLATION_OBJECTIVE, NONE, "claims an area bound of %g below its area %g",
                      bound, area);
    }
    free(left);
    free(done);
}
