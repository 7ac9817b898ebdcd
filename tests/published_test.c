/* The list planners against a public library (SAGA 2.1.0) on its graphs. Ties differ between
 * implementations, so ratios are compared, not digits. (Graphs with proven optima:
 * optimal_data_test.c.) */
#include "formats/format.h"
#include "model/check.h"
#include "plan/planner.h"
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

enum { COLUMNS = 13 };
static const char *const column[COLUMNS] = {"heft", "cpop",   "peft",   "etf",       "flb",
                                            "bil",  "minmin", "maxmin", "sufferage", "mct",
                                            "met",  "olb",    "fastest"};
static const struct {
    const char *file;
    double makespan[COLUMNS];
} saga[] = {
    {"agriculture_iot-crop_disease",
     {0.9, 0.9, 0.9, 1.6504, 25.11, 1.81056, 0.9, 0.9, 0.9, 0.9, 0.9, 21.0526, 0.9}},
    {"classic_benchmarks-cholesky_5",
     {90, 90, 90, 100.02, 106.02, 94.24, 98.04, 106.1, 98.06, 102.04, 230, 102.2, 230}},
    {"classic_benchmarks-fft_16",
     {24.02, 26.03, 24.02, 25.02, 24.01, 24.03, 24.01, 24.04, 26.01, 24.02, 96, 24.02, 96}},
    {"classic_benchmarks-gauss_elim_10",
     {293.58, 407.58, 293.58, 293.58, 300.51, 293.83, 293.58, 293.58, 293.58, 293.58, 715, 293.83,
      715}},
    {"classic_benchmarks-gauss_elim_5",
     {58.1, 76.1, 58.1, 58.1, 58.1, 58.19, 58.1, 58.1, 58.1, 58.1, 95, 58.19, 95}},
    {"classic_benchmarks-mapreduce_8m_4r",
     {49.06, 49.06, 49.06, 49.06, 69.03, 49.06, 49.06, 49.06, 49.06, 49.06, 169, 49.06, 169}},
    {"edge_computing-autonomous_driving",
     {1.8, 1.8, 1.88, 20.84, 64.056, 2.535, 1.88, 1.88, 1.8, 1.88, 1.88, 46.265, 1.88}},
    {"edge_computing-mtec_video_analytics",
     {14.5, 12.5, 14.5, 24.2857, 17, 19.9396, 14.5, 12.503, 12.5, 14.5, 14.5, 19.3881, 14.5}},
};
enum { GRAPHS = sizeof saga / sizeof *saga };

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
    test_saga(shared);
    return tap_done();
}
