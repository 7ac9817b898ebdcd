/* Makespans and ranks that papers and a public simulator state for small graphs. */
#include "model/check.h"
#include "plan/list/known_graphs.h"
#include "plan/list/peft.h"
#include "plan/planner.h"
#include "tap.h"

static double makespan(const char *planner, const struct workflow *w, const struct platform *p)
{
    struct error err = {0};
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct plan *plan = planner_run(planner_find(planner), &request, &err);
    if (!plan) {
        printf("# %s: %s\n", planner, err.text);
        return -1;
    }
    struct check_result result;
    check_plan(plan, w, p, &result, &err);
    is_int(result.total, 0, "%s: the plan is valid", planner);
    for (size_t i = 0; i < result.violations.n; i++)
        printf("# %s\n", result.violations.at[i].detail);
    check_result_free(&result);
    double value = plan_objective(plan, "makespan");
    plan_free(plan);
    return value;
}

static void all(const char *title, const struct workflow *w, const struct platform *p)
{
    for (size_t i = 0; getenv("WEFT_SHOW") && planner_registry[i]; i++)
        printf("# %s %s %g\n", title, planner_registry[i]->name,
               makespan(planner_registry[i]->name, w, p));
}

static void test_heft_graph(void)
{
    struct workflow *w = known_workflow(KNOWN(heft), heft_times, NULL);
    struct platform *p = known_platform(3, NULL);
    struct error err = {0};
    struct costs *c = costs_new(w, p, &err);
    double *times = rank_times(c), *rank = rank_upward(c, times);
    for (int t = 0; t < 10; t++)
        is_dbl(rank[t], heft_upward[t], 1e-9, "HEFT graph: upward rank of task %d", t + 1);
    free(times);
    free(rank);
    costs_free(c);
    is_dbl(makespan("heft", w, p), 80, 1e-9, "HEFT graph: heft as in the paper");
    is_dbl(makespan("cpop", w, p), 86, 1e-9, "HEFT graph: cpop as in the paper");
    is_dbl(makespan("dls", w, p), 91, 1e-9, "HEFT graph: dls as the HEFT paper reports it");
    all("heft graph", w, p);
    workflow_free(w);
    platform_free(p);
}

static void test_peft_graph(void)
{
    struct workflow *w = known_workflow(KNOWN(peft), peft_times, NULL);
    struct platform *p = known_platform(3, NULL);
    struct error err = {0};
    struct costs *c = costs_new(w, p, &err);
    double *table = peft_table(c);
    for (int t = 0; t < 10; t++)
        for (int n = 0; n < 3; n++)
            is_dbl(table[3 * t + n], peft_oct[t][n], 1e-9,
                   "PEFT graph: optimistic cost of task %d on P%d", t + 1, n + 1);
    free(table);
    costs_free(c);
    is_dbl(makespan("peft", w, p), 122, 1e-9, "PEFT graph: peft as in the paper");
    is_dbl(makespan("heft", w, p), 133, 1e-9, "PEFT graph: heft as in the paper");
    all("peft graph", w, p);
    workflow_free(w);
    platform_free(p);
}

static void test_dslab_graph(void)
{
    struct workflow *w = known_workflow(KNOWN(heft), NULL, dslab_work);
    struct platform *p = known_platform(4, dslab_speed);
    is_dbl(makespan("heft", w, p), 98, 1e-9, "dslab test_4: heft");
    is_dbl(makespan("lookahead", w, p), 94, 1e-9, "dslab test_4: lookahead");
    /* dslab states 96 for DLS: its static levels contain communication, and ties go to the higher
     * level. Sih and Lee's levels are median times only, as are ours; with the lowest task winning
     * ties that gives 95 here. (Computed by hand both ways.) */
    is_dbl(makespan("dls", w, p), 95, 1e-9, "dslab test_4: dls, static levels as published");
    is_dbl(makespan("peft", w, p), 95, 1e-9, "dslab test_4: peft");
    all("dslab", w, p);
    workflow_free(w);
    platform_free(p);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_heft_graph),
        TAP_CASE(test_peft_graph),
        TAP_CASE(test_dslab_graph),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
