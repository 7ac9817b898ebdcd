/* The promise of issue and documentation: on 200 random graphs of up to 9 tasks and 3 nodes
 * `optimal` proves its answer, and no other planner of the registry beats it (but by running a task
 * twice, which `optimal` does not do). */
#include "plan/search/fixture.h"

int main(void)
{
    const struct planner *optimal = planner_find("optimal");
    const unsigned graphs = tap_rounds(200);
    int unproven = 0, invalid = 0, beaten = 0, plans = 0;
    for (uint32_t g = 0; g < graphs; g++) {
        struct rng rng;
        rng_seed(&rng, 1000 + g);
        struct fixture_shape shape = {.tasks = 1 + (uint32_t)rng_below(&rng, 9),
                                      .nodes = 1 + (uint32_t)rng_below(&rng, 3),
                                      .cores = 1,
                                      .density = rng_uniform(&rng, 0.1, 0.8),
                                      .ccr = rng_uniform(&rng, 0.1, 5),
                                      .unrelated = g % 4 == 0,
                                      .links = g % 5 == 0,
                                      .fractions = g % 3 == 0};
        static struct fixture f;
        fixture_build(&f, &shape, g);
        struct plan_request request = {.workflow = f.workflow, .platform = f.platform, .seed = 1};
        struct error err = {0};
        struct plan *best = planner_run(optimal, &request, &err);
        double least = plan_objective(best, "makespan");
        unproven += fabs(plan_objective(best, "lower_bound") - least) > 1e-9 * least;
        for (size_t i = 0; planner_registry[i]; i++) {
            const struct planner *planner = planner_registry[i];
            if (planner == optimal || planner->accepts & ACCEPTS_META ||
                !(planner->accepts & ACCEPTS_DAG) ||
                !planner_suits(planner, f.workflow, f.platform, NULL))
                continue;
            struct plan *plan = planner_run(planner, &request, &err);
            if (plan && plan->kind == PLAN_STATIC && plan->placements.n == f.n) {
                struct check_result r;
                invalid += !check_plan(plan, f.workflow, f.platform, &r, &err) || r.total;
                check_result_free(&r);
                beaten += plan_objective(plan, "makespan") < least * (1 - 1e-9);
                plans++;
            }
            plan_free(plan);
        }
        plan_free(best);
        fixture_free(&f);
    }
    is_int(unproven, 0, "%u random graphs of up to 9 tasks and 3 nodes are proven", graphs);
    is_int(invalid, 0, "%d plans of the other planners are valid", plans);
    is_int(beaten, 0, "and none beats the optimum");
    ok(plans > (int)graphs * 15, "enough of them were compared");
    return tap_done();
}
