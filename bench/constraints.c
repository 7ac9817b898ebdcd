/* How fast the search under constraints is: states and time for 18 tasks on 9 processors, states a
 * second where nothing hurries it, and 10,000 tasks on 100 processors.
 *
 *   bench_constraints [--json FILE] */
#include "base/clock.h"
#include "base/rng.h"
#include "model/builder.h"
#include "plan/constraints/rules.h"
#include "plan/planner.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char makespan_only[] =
    "assert value preference (opt-type = minimize, priority = 1,"
    " function = (select max(task-finish-time) from task), min = 0,"
    " max = (select sum(task-exec-time) from task) + (select sum(non-local-comm-time) from dep));"
    "assert value preference (minimize, 0, (select sum(task-exec-time) from task), 0, 1);";

/* What users ask for, one of them by a join that only SQLite answers. */
static const char five[] =
    "assert relationship requirement ((select proc-task-list from proc where proc-utilization > "
    "0.03) = UNKNOWN);"
    "assert value preference (maximize, 1000, (select count(task-assigned-proc-id) from task), 0,"
    " (select count(*) from task));"
    "assert value preference (minimize, 1, (select max(task-finish-time) from task), 0,"
    " (select sum(task-exec-time) from task));"
    "assert relationship requirement ((select task-assigned-proc-id from task where task-id < 50)"
    " <= 10);"
    "assert value preference (minimize, 5, (select count(*) from dep d join task t on"
    " d.dep-from-task-id = t.task-id where d.dep-comm-time > 0 and t.task-work > 2), 0, 10000)";

static struct workflow *random_workflow(struct rng *rng, uint32_t ntasks, uint32_t degree)
{
    struct error err = {0};
    struct builder *b = builder_new("<bench>", "bench");
    char name[16];
    for (uint32_t t = 0; t < ntasks; t++) {
        uint32_t task = builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, task, rng_uniform(rng, 1, 20), 0);
        uint32_t window = t < 200 ? t : 200;
        for (uint32_t k = 0; k < degree && window; k++)
            if (k == 0 || rng_below(rng, 2))
                builder_edge(b, t - 1 - (uint32_t)rng_below(rng, window), task, 0);
    }
    return builder_finish(b, &err);
}

static struct platform *constraints_nodes(uint32_t count, bool apart)
{
    struct error err = {0};
    struct platform_builder *b = platform_builder_new("<bench>");
    char name[16];
    platform_builder_network(b, 1, 0, NAN, 0);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t node = platform_builder_node(b, name, (size_t)sprintf(name, "p%u", n), 0);
        if (apart) /* different loads: no two processors can be exchanged */
            platform_builder_utilization(b, node, n * 0.001, 0);
    }
    return platform_builder_finish(b, &err);
}

struct constraints_row {
    const char *name;
    uint32_t tasks, nodes, repeats;
    bool apart;
    struct option_value options[3];
    size_t noptions;
    double states, worst_states, seconds, worst_seconds;
};

static void constraints_measure(struct constraints_row *row)
{
    struct rng rng;
    rng_seed(&rng, 1997);
    for (uint32_t i = 0; i < row->repeats; i++) {
        struct workflow *w = random_workflow(&rng, row->tasks, 2);
        struct platform *p = constraints_nodes(row->nodes, row->apart);
        struct plan_request request = {.workflow = w,
                                       .platform = p,
                                       .options = row->options,
                                       .noptions = row->noptions,
                                       .seed = 1};
        struct error err = {0};
        struct plan *plan = planner_run(planner_find("constraints"), &request, &err);
        if (plan) {
            double states = (double)constraints_states(plan);
            row->states += states;
            row->seconds += plan->planning_seconds;
            row->worst_states = fmax(row->worst_states, states);
            row->worst_seconds = fmax(row->worst_seconds, plan->planning_seconds);
        } else {
            fprintf(stderr, "%s: %s\n", row->name, err.text);
        }
        plan_free(plan);
        platform_free(p);
        workflow_free(w);
    }
}

int main(int argc, char **argv)
{
    struct constraints_row rows[] = {
        {.name = "default, 18 tasks, 9 equal processors", .tasks = 18, .nodes = 9, .repeats = 47},
        {.name = "default, 18 tasks, 9 different ones",
         .tasks = 18,
         .nodes = 9,
         .repeats = 47,
         .apart = true},
        {.name = "makespan only, p1 = 0, 200,000 states",
         .tasks = 18,
         .nodes = 9,
         .repeats = 3,
         .options = {{"rules", makespan_only}, {"states", "200000"}},
         .noptions = 2},
        {.name = "default, p1 = 0, 10 tasks, 9 different",
         .tasks = 10,
         .nodes = 9,
         .repeats = 3,
         .apart = true,
         .options = {{"p1", "0"}, {"states", "200000"}},
         .noptions = 2},
        {.name = "default, 10,000 tasks, 100 processors",
         .tasks = 10000,
         .nodes = 100,
         .repeats = 1},
        {.name = "five with SQLite, 10,000 tasks, 100",
         .tasks = 10000,
         .nodes = 100,
         .repeats = 1,
         .options = {{"rules", five}},
         .noptions = 1},
    };
    printf("%-42s %12s %12s %12s %12s %14s\n", "", "states", "most", "mean ms", "worst ms",
           "states/s");
    FILE *json = argc == 3 && strcmp(argv[1], "--json") == 0 ? fopen(argv[2], "w") : NULL;
    if (json)
        fputs("{", json);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct constraints_row *r = &rows[i];
        constraints_measure(r);
        printf("%-42s %12.0f %12.0f %12.3f %12.3f %14.0f\n", r->name, r->states / r->repeats,
               r->worst_states, 1e3 * r->seconds / r->repeats, 1e3 * r->worst_seconds,
               r->states / r->seconds);
        if (json)
            fprintf(json, "%s\"%s\": {\"states\": %g, \"seconds\": %g, \"states_per_second\": %g}",
                    i ? ", " : "", r->name, r->states / r->repeats, r->seconds / r->repeats,
                    r->states / r->seconds);
    }
    if (json) {
        fputs("}\n", json);
        fclose(json);
    }
    return 0;
}
