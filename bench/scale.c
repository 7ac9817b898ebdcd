/* How planning grows with the graph: every family of planners at 100,000 and 1,000,000 tasks on 1,000
 * nodes, the processor seconds of all threads, and the one over the other.
 *
 *     bench_scale [--json FILE] [--quick] [--only PLANNER] [--nodes N]
 *
 * Ten times the tasks may take ten times the time; where tasks are sorted or stand in a heap, a fifth more
 * (log n of a million over log n of a hundred thousand). --quick: 10,000 and 100,000 tasks. */
#include "bench/bench.h"
#include "generate/generate.h"
#include "model/tree.h"
#include "plan/planner.h"

#include <math.h>

/* A search that has a budget gets the same for both sizes by its nature: `auto` is asked for moves, so
 * that its bounds and its search are in the figure; `tree` has two million by default. */
static const struct scale_planner {
    const char *name;
    const char *family;
    const char *budget; /* NULL: as it is */
    bool tree;          /* plans trees with memories; else graphs with data */
} scale_planners[] = {
    {"hetpart1", "tree", NULL, true},
    {"hetpart2", "tree", NULL, true},
    {"tree", "tree", NULL, true},
    {"heft", "list", NULL, false},
    {"cpop", "list", NULL, false},
    {"flb", "list", NULL, false},
    {"auto", "search", "1000000moves", false},
};
enum { SCALE_PLANNERS = sizeof scale_planners / sizeof *scale_planners, SCALE_NODES = 1000 };

/* Ten times the tasks: linear, and with a logarithm. */
static const double SCALE_LINEAR = 10, SCALE_SORTED = 12;

static struct workflow *scale_tree(uint32_t n)
{
    char count[16];
    snprintf(count, sizeof count, "%u", n);
    struct option_value values[] = {{"n", count}, {"category", "random"}};
    struct error err = {0};
    struct workflow *w = generator_workflow(generator_find("prufer"), values, 2, 1, &err);
    bench_must(w != NULL, &err);
    return w;
}

/* Every task reads from three of the thousand before it. */
static struct workflow *scale_graph(uint32_t n)
{
    struct rng r;
    rng_seed(&r, 1);
    struct builder *b = builder_new("<bench>", "bench");
    char name[24];
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_work(b, t, rng_uniform(&r, 1, 100), 0);
    }
    for (uint32_t t = 1; t < n; t++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t parent;
            graph_parents(&r, t, 1, GRAPH_WINDOW, &parent);
            builder_data_edge(b, parent, t, rng_uniform(&r, 1, 100), 0);
        }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    bench_must(w != NULL, &err);
    return w;
}

/* The four kinds of nodes of the trees' paper, as many of each; for graphs the same count, of speeds 1 to 4. */
static struct platform *scale_nodes(const struct workflow *w, uint32_t nodes, bool tree)
{
    char dmax[32] = "", count[16];
    struct error err = {0};
    struct platform *p;
    if (tree) {
        struct tree *t = tree_new(w, NULL);
        snprintf(dmax, sizeof dmax, "%.17g", tree_largest_need(t));
        tree_free(t);
        snprintf(count, sizeof count, "%u", nodes / 4);
        struct option_value values[] = {{"dmax", dmax}, {"per-kind", count}};
        p = generator_platform(generator_find("fourfold"), values, 2, 1, &err);
    } else {
        struct platform_builder *b = platform_builder_new("<bench>");
        platform_builder_network(b, 1, 0, NAN, 0);
        for (uint32_t i = 0; i < nodes; i++) {
            char name[16];
            int n = snprintf(name, sizeof name, "n%u", i);
            platform_builder_speed(b, platform_builder_node(b, name, (size_t)n, 0), 1 + i % 4, 0);
        }
        p = platform_builder_finish(b, &err);
    }
    bench_must(p != NULL, &err);
    return p;
}

/* Processor seconds of one plan, all threads. */
static double scale_measure(const struct scale_planner *which, uint32_t tasks, uint32_t nodes)
{
    struct workflow *w = which->tree ? scale_tree(tasks) : scale_graph(tasks);
    struct platform *p = scale_nodes(w, nodes, which->tree);
    struct option_value option = {"budget", which->budget};
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .options = &option,
                                   .noptions = which->budget ? 1 : 0,
                                   .seed = 1};
    struct error err = {0};
    double began = bench_cpu_seconds();
    struct plan *plan = planner_run(planner_find(which->name), &request, &err);
    double seconds = bench_cpu_seconds() - began;
    bench_must(plan != NULL, &err);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
    return seconds;
}

int main(int argc, char **argv)
{
    const char *json = NULL, *only = NULL;
    uint32_t small = 100000, nodes = SCALE_NODES;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json = argv[++i];
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--nodes") == 0 && i + 1 < argc)
            nodes = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--quick") == 0)
            small = 10000;
        else {
            fprintf(stderr, "usage: bench_scale [--json FILE] [--quick] [--only PLANNER] [--nodes "
                            "N]\n");
            return 2;
        }
    }
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-scale/1");
    printf("planning on %u nodes, processor seconds of all threads; ten times the tasks: linear is "
           "%g, "
           "with a sort %g\n%-10s %-8s %12s %12s %8s %9s %8s\n",
           nodes, SCALE_LINEAR, SCALE_SORTED, "planner", "family", "s at small", "s at large",
           "ratio", "exponent", "linear");
    printf("%19s %12u %12u\n", "tasks:", small, 10 * small);
    json_write_key(j, "growth");
    json_write_array(j);
    for (size_t i = 0; i < SCALE_PLANNERS; i++) {
        const struct scale_planner *which = &scale_planners[i];
        if (only && strcmp(only, which->name) != 0)
            continue;
        double a = scale_measure(which, small, nodes), b = scale_measure(which, 10 * small, nodes);
        printf("%-10s %-8s %12.2f %12.2f %8.2f %9.2f %8s\n", which->name, which->family, a, b,
               b / a, log10(b / a), b / a <= SCALE_SORTED ? "yes" : "NO");
        fflush(stdout);
        json_write_object_inline(j);
        json_put_string(j, "planner", which->name);
        json_put_integer(j, "tasks", 10 * small);
        json_put_integer(j, "nodes", nodes);
        json_put_number(j, "cpu_seconds_small", a);
        json_put_number(j, "cpu_seconds_large", b);
        json_put_number(j, "ratio", b / a);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    return bench_report_end(&report);
}
