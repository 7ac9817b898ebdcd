/* The trade-off of latency and throughput: one plan for each of `points` throughputs from 0 to
 * Tmax, and of those only what no other beats in both. Costs `points` runs of the planner. */
#include "plan/stream/stream.h"

#include <stdio.h>

/* By rising latency, then falling throughput. */
static int compare_plans(const void *a, const void *b)
{
    const struct plan *x = *(struct plan *const *)a, *y = *(struct plan *const *)b;
    double tx = plan_objective(x, "throughput"), ty = plan_objective(y, "throughput");
    double lx = plan_objective(x, "latency"), ly = plan_objective(y, "latency");
    if (lx != ly)
        return lx < ly ? -1 : 1;
    return (tx < ty) - (tx > ty);
}

bool stream_front(const struct planner *planner, const struct plan_request *request,
                  uint32_t points, struct stream_front *out, struct error *err)
{
    struct option_value options[32];
    size_t count = 1;
    for (size_t i = 0; i < request->noptions && count < 32; i++)
        if (strcmp(request->options[i].name, "throughput") &&
            strcmp(request->options[i].name, "latency"))
            options[count++] = request->options[i];
    *out = (struct stream_front){0};
    for (uint32_t k = 0; k < points; k++) {
        char text[64];
        snprintf(text, sizeof text, "%.9gTmax", points > 1 ? (double)k / (points - 1) : 0.0);
        options[0] = (struct option_value){"throughput", text};
        struct plan_request at = *request;
        struct error why = {0};
        at.options = options;
        at.noptions = count;
        struct plan *plan = planner_run(planner, &at, &why);
        if (plan)
            array_push(&out->plans, plan);
        else if (why.kind != ERROR_INFEASIBLE)
            return error_set(err, why.kind, "%s", why.text);
        progress_report(request->progress, (k + 1.0) / points, "front");
    }
    if (!out->plans.n)
        return error_set(err, ERROR_INFEASIBLE, "no throughput can be met at all");
    qsort(out->plans.at, out->plans.n, sizeof *out->plans.at, compare_plans);
    /* by rising latency: keep what brings more throughput than all before */
    size_t kept = 0;
    for (size_t i = 0; i < out->plans.n; i++) {
        struct plan *plan = out->plans.at[i];
        if (kept &&
            plan_objective(plan, "throughput") <=
                plan_objective(out->plans.at[kept - 1], "throughput") * (1 + STREAM_TOLERANCE))
            plan_free(plan);
        else
            out->plans.at[kept++] = plan;
    }
    out->plans.n = kept;
    return true;
}

void stream_front_free(struct stream_front *f)
{
    for (size_t i = 0; i < f->plans.n; i++)
        plan_free(f->plans.at[i]);
    array_free(&f->plans);
}
