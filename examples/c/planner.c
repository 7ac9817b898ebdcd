/* A planner of one's own, beside the library's.
 *
 *     cc planner.c $(pkg-config --cflags --libs weft) -o planner
 *     ./planner flow.yaml nodes.yaml
 *
 * Registered once, it is a planner like the others: weft_plan_make() runs it by its name, the checker
 * judges its plans, weft_compare_new() sets it beside the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

/* When the data of `task` can be on `node`: after each producer, and after the transfer from where
 * the producer ran. Every transfer is entered into the plan. */
static double data_ready(struct weft_draft *d, uint32_t task, uint32_t node,
                         const struct weft_placement *at, bool enter)
{
    const struct weft_platform *p = weft_draft_platform(d);
    const uint32_t *from, *objects;
    size_t n = weft_workflow_predecessors(weft_draft_workflow(d), task, &from, &objects);
    double ready = 0;
    for (size_t i = 0; i < n; i++) {
        const struct weft_placement *before = &at[from[i]];
        double there = before->finish;
        if (before->node != node && objects[i] != WEFT_NONE) { /* WEFT_NONE: order alone */
            struct weft_object_info object;
            weft_workflow_object(weft_draft_workflow(d), objects[i], &object);
            there += weft_platform_transfer(p, before->node, node, object.bytes);
            if (enter)
                weft_draft_transfer(d, &(struct weft_transfer){objects[i], before->node, node,
                                                               before->finish, there});
        }
        if (there > ready)
            ready = there;
    }
    return ready;
}

/* Greedy: tasks in topological order, each where it ends first, one at a time on core 0 of a node.
 * Called on the thread that plans; several may plan at once, so everything stands on this stack. */
static bool plan_greedily(void *context, struct weft_draft *d)
{
    (void)context;
    const struct weft_workflow *w = weft_draft_workflow(d);
    uint32_t tasks = weft_workflow_tasks(w), nodes = weft_platform_nodes(weft_draft_platform(d));
    const uint32_t *order = weft_workflow_topological(w);
    struct weft_placement *at = calloc(tasks + 1, sizeof *at);
    double *free_from = calloc(nodes + 1, sizeof *free_from);
    bool good = at && free_from;
    for (uint32_t i = 0; i < tasks && good; i++) {
        uint32_t task = order[i];
        struct weft_placement best = {.task = task, .finish = -1};
        for (uint32_t node = 0; node < nodes; node++) {
            double start = data_ready(d, task, node, at, false);
            if (start < free_from[node])
                start = free_from[node];
            double finish = start + weft_draft_time(d, task, node);
            if (best.finish < 0 || finish < best.finish)
                best = (struct weft_placement){task, 0, node, 0, start, finish};
        }
        data_ready(d, task, best.node, at, true);
        at[task] = best;
        free_from[best.node] = best.finish;
        /* False: memory ran out. Then so does this function, and weft_plan_make() says it. */
        good = weft_draft_place(d, &best);
    }
    free(at);
    free(free_from);
    return good;
}

int main(int argc, char **argv)
{
    struct weft_error error;
    struct weft_planner_own own = WEFT_PLANNER_INIT;
    struct weft_problem problem;
    struct weft_problem_options where = WEFT_PROBLEM_INIT;
    if (argc != 3) {
        fprintf(stderr, "usage: planner FLOW PLATFORM\n");
        return 2;
    }
    own.name = "greedy";
    own.summary = "each task where it ends first";
    own.run = plan_greedily;
    where.platform = argv[2];
    if (!weft_planner_register(&own, &error) ||
        !weft_problem_read(argv[1], &where, &problem, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return error.status;
    }

    /* By its name, as any other. What comes back has passed the checker. */
    struct weft_plan *plan =
        weft_plan_make(problem.workflow, problem.platform, "greedy", NULL, &error);
    if (plan)
        printf("greedy: %g\n", weft_plan_objective(plan, "makespan"));
    else
        fprintf(stderr, "%s\n", error.text);

    /* Beside two of the library's: best first. */
    static const char *const names[] = {"greedy", "heft", "roundrobin", NULL};
    struct weft_compare_options with = WEFT_COMPARE_INIT;
    with.planners = names;
    struct weft_compare *c =
        plan ? weft_compare_new(problem.workflow, problem.platform, &with, &error) : NULL;
    struct weft_compare_row row;
    for (size_t i = 0; c && weft_compare_row(c, i, &row); i++)
        printf("%-12s %g\n", row.planner, row.makespan);

    int status = c ? 0 : (int)error.status;
    weft_compare_free(c);
    weft_plan_free(plan);
    weft_problem_free(&problem);
    weft_planner_unregister("greedy");
    return status;
}
