/* The list planners against a public library (SAGA 2.1.0) on its graphs. Ties differ between
 * implementations, so ratios are compared, not digits. (Graphs with proven optima:
 * optimal_data_test.c.) */
#include "formats/format.h"
#include "model/check.h"
#include "plan/planner.h"
#include "saga_published.h"
#include "tap.h"

static double makespan(const struct planner *planner, const struct workflow *w,
                       const struct platform *p, const char *graph)
{
    struct error err = {0};
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct plan *plan = planner_run(planner, &request, &err);
    if (!plan) {
        ok(false, "%s on %s: %s", planner->name, graph, err.text);
        return INFINITY;
    }
    struct check_result result;
    double value = plan_objective(plan, "makespan");
    if (!check_plan(plan, w, p, &result, &err) || result.total) {
        ok(false, "%s on %s is valid: %s", planner->name, graph,
           result.violations.n ? result.violations.at[0].detail : err.text);
        value = INFINITY;
    }
    check_result_free(&result);
    plan_free(plan);
    return value;
}

static void test_saga(const char *shared)
{
    double ratio[COLUMNS] = {0};
    for (size_t g = 0; g < GRAPHS; g++) {
        char path[4096];
        struct error err = {0};
        snprintf(path, sizeof path, "%s/data/saga-json/%s.json", shared, saga[g].file);
        struct workflow *w = format_read_workflow(path, NULL, NULL, &err);
        struct platform *p = w ? format_read_platform(path, NULL, NULL, &err) : NULL;
        if (!p) {
            ok(false, "%s can be read: %s", saga[g].file, err.text);
            workflow_free(w);
            return;
        }
        for (size_t c = 0; c < COLUMNS; c++) {
            double ours = makespan(planner_find(column[c]), w, p, saga[g].file);
            ratio[c] += ours / saga[g].makespan[c] / GRAPHS;
            if (ours > saga[g].makespan[c] * 1.001 || ours < saga[g].makespan[c] * 0.999)
                printf("# %s %s: %g, the library %g\n", saga[g].file, column[c], ours,
                       saga[g].makespan[c]);
        }
        platform_free(p);
        workflow_free(w);
    }
    for (size_t c = 0; c < COLUMNS; c++)
        ok(ratio[c] <= 1.02, "%s: %.4f times the library's makespans on average", column[c],
           ratio[c]);
}

int main(void)
{
    const char *shared = tap_shared();
    if (!shared) {
        tap_skip("published results", "the shared data is not here");
        return tap_done();
    }
    TAP_DO(test_saga(shared));
    return tap_done();
}
