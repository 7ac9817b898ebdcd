/* Planners that keep files within memory: every plan that comes out passes the checker, and one comes out
 * wherever a small search finds one. */
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "plan/memory/keep.h"
#include "plan/memory/traversal.h"
#include "plan/planner.h"
#include "tap.h"
#include <math.h>

static struct workflow *random_dag(struct rng *rng, uint32_t tasks)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t task = builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, task, 1 + (double)rng_below(rng, 20), 0);
        builder_memory(b, task, (double)rng_below(rng, 10), 0);
        for (uint32_t u = 0; u < t; u++)
            if (rng_below(rng, tasks) < 2)
                builder_data_edge(b, u, t, 1 + (double)rng_below(rng, 30), 0);
        if (t && rng_below(rng, 3) == 0) {
            uint32_t o = builder_object(b, name, (size_t)sprintf(name, "o%u", t / 2));
            builder_size(b, o, 5, 0);
            if (t / 2 != t)
                builder_consumes(b, task, o, 0);
        }
    }
    for (uint32_t t = 0; t < tasks; t++)
        if (rng_below(rng, 2)) {
            uint32_t o = builder_object(b, name, (size_t)sprintf(name, "o%u", t));
            builder_size(b, o, 1 + (double)rng_below(rng, 15), 0);
            builder_produces(b, t, o, 0);
        }
    return builder_finish(b, NULL);
}

static struct platform *random_nodes(struct rng *rng, const struct workflow *w, uint32_t nodes,
                                     double factor)
{
    double most = 1;
    for (uint32_t t = 0; t < w->ntasks; t++)
        most = fmax(most, keep_task_bytes(w, t));
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, 2 + (double)rng_below(rng, 10), 0, NAN, 0);
    char name[16];
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t node = platform_builder_node(b, name, (size_t)sprintf(name, "n%u", n), 0);
        platform_builder_memory(b, node, floor(most * (n ? rng_uniform(rng, 0.6, factor) : factor)),
                                0);
        platform_builder_speed(b, node, 1 + (double)rng_below(rng, 3), 0);
        platform_builder_cores(b, node, 1 + (double)rng_below(rng, 2), 0);
    }
    return platform_builder_finish(b, NULL);
}

static void test_planners(void)
{
    static const char *const names[] = {"heft-mem", "minmin-mem", "heft",   "cpop", "peft",
                                        "dsc",      "heft-dup",   "minmin", "etf"};
    struct rng rng;
    rng_seed(&rng, 5);
    uint32_t invalid = 0, found = 0, made = 0;
    for (int round = 0; round < 150; round++) {
        struct workflow *w = random_dag(&rng, 2 + (uint32_t)rng_below(&rng, 14));
        struct platform *p =
            random_nodes(&rng, w, 1 + (uint32_t)rng_below(&rng, 4), rng_uniform(&rng, 1, 2));
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            struct plan_request r = {.workflow = w, .platform = p, .seed = 1};
            struct error err = {0};
            struct plan *plan = planner_run(planner_find(names[i]), &r, &err);
            made++;
            if (!plan) {
                invalid += err.kind != ERROR_INFEASIBLE;
                continue;
            }
            found++;
            struct check_result result;
            check_plan(plan, w, p, &result, NULL);
            if (result.total || !plan_counts_files(plan, p)) {
                invalid++;
                printf("# round %d %s: %s\n", round, names[i],
                       result.total ? result.violations.at[0].detail : "files do not count");
            }
            check_result_free(&result);
            plan_free(plan);
        }
        platform_free(p);
        workflow_free(w);
    }
    is_int(invalid, 0, "no planner hands out a plan that breaks memory or anything else");
    printf("# %u plans of %u\n", found, made);
    ok(found > made / 2, "and most find one");
}

static double makespan_of(const char *name, const struct workflow *w, const struct platform *p)
{
    struct plan_request r = {.workflow = w, .platform = p, .seed = 1};
    struct error err = {0};
    struct plan *plan = planner_run(planner_find(name), &r, &err);
    double makespan = plan ? plan_makespan(plan) : INFINITY;
    plan_free(plan);
    return makespan;
}

/* Where sending is dear, ranks spread tasks over nodes and pay for it: one node after the other is shorter then. */
static void test_never_longer(void)
{
    struct rng rng;
    rng_seed(&rng, 11);
    uint32_t longer = 0, plans = 0;
    for (int round = 0; round < 300; round++) {
        struct workflow *w = random_dag(&rng, 2 + (uint32_t)rng_below(&rng, 14));
        struct platform *p =
            random_nodes(&rng, w, 1 + (uint32_t)rng_below(&rng, 4), rng_uniform(&rng, 1, 6));
        double most = makespan_of("daghetmem", w, p);
        plans += isfinite(most);
        longer += makespan_of("heft-mem", w, p) > most * (1 + 1e-9);
        platform_free(p);
        workflow_free(w);
    }
    is_int(longer, 0, "heft-mem is never longer than daghetmem");
    ok(plans > 150, "which finds most plans, too (%u)", plans);
}

int main(void)
{
    TAP_DO(test_planners());
    TAP_DO(test_never_longer());
    return tap_done();
}
