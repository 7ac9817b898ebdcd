/* Speed and quality of the tree planners: growth with the tree, one core for hetpart1 and hetpart2.
 *   bench_tree [--json FILE] [--most N]        trees of up to N tasks (default 1,000,000)
 * Seconds are CPU time of the planning thread; `tree` also uses the other cores. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "generate/generate.h"
#include "model/check.h"
#include "model/tree.h"
#include "plan/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tree_figures {
    double seconds, makespan, bound;
    size_t violations;
};

static struct workflow *prufer_tree(uint32_t n, const char *category)
{
    char count[16];
    snprintf(count, sizeof count, "%u", n);
    struct option_value values[] = {{"n", count}, {"category", category}};
    struct error err = {0};
    struct workflow *w = generator_workflow(generator_find("prufer"), values, 2, 1, &err);
    if (!w) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(1);
    }
    return w;
}

/* Table 2 of the paper, `kinds` nodes of each of its four kinds. */
static struct platform *fourfold_platform(double dmax, uint32_t kinds)
{
    char memory[32], count[16];
    snprintf(memory, sizeof memory, "%.17g", dmax);
    snprintf(count, sizeof count, "%u", kinds);
    struct option_value values[] = {{"dmax", memory}, {"per-kind", count}};
    struct error err = {0};
    struct platform *p = generator_platform(generator_find("fourfold"), values, 2, 1, &err);
    if (!p) {
        fprintf(stderr, "bench: %s\n", err.text);
        exit(1);
    }
    return p;
}

static struct tree_figures tree_measure(const char *name, const struct workflow *w,
                                        const struct platform *p)
{
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct error err = {0};
    struct tree_figures f = {.makespan = NAN, .bound = NAN};
    double start = clock_cpu_seconds();
    struct plan *plan = planner_run(planner_find(name), &request, &err);
    f.seconds = clock_cpu_seconds() - start;
    if (!plan)
        return f;
    struct check_result result;
    check_plan(plan, w, p, &result, &err);
    f.violations = result.total;
    f.makespan = plan_objective(plan, "makespan");
    f.bound = plan_objective(plan, "lower_bound");
    check_result_free(&result);
    plan_free(plan);
    return f;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *category;
        uint32_t n, kinds;
    } cases[] = {
        {"random", 2000, 9},   {"random", 10000, 9},    {"random", 50000, 9},
        {"fanout3", 50000, 9}, {"fanout20", 50000, 9},  {"large-f", 50000, 9},
        {"random", 200000, 9}, {"random", 200000, 250}, {"random", 1000000, 250},
    };
    static const char *const names[] = {"hetpart1", "hetpart2", "tree"};
    const char *file = NULL;
    uint32_t most = 1000000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0)
            file = argv[i + 1];
        else if (strcmp(argv[i], "--most") == 0)
            most = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    }
    struct bench_report report = {.file = file};
    struct json_writer *out = bench_report_begin(&report, NULL);
    json_write_key(out, "tree");
    json_write_array(out);
    printf("%-10s %8s %6s %12s %-9s %10s %12s %9s\n", "category", "tasks", "nodes", "least memory",
           "planner", "seconds", "makespan", "to bound");
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (cases[k].n > most)
            continue;
        struct workflow *w = prufer_tree(cases[k].n, cases[k].category);
        struct tree *t = tree_new(w, NULL);
        struct platform *p = fourfold_platform(tree_largest_need(t), cases[k].kinds);
        struct tree_memory *room = tree_memory_new(t);
        double start = clock_cpu_seconds();
        tree_least_memory(room, 0, NULL, TREE_STRICT, NULL, NULL);
        double memory = clock_cpu_seconds() - start;
        tree_memory_free(room);
        tree_free(t);
        for (size_t m = 0; m < sizeof names / sizeof *names; m++) {
            struct tree_figures f = tree_measure(names[m], w, p);
            printf("%-10s %8u %6u %9.1f ms %-9s %10.3f %12.6g %8.2fx%s\n", cases[k].category,
                   cases[k].n, 4 * cases[k].kinds, 1e3 * memory, names[m], f.seconds, f.makespan,
                   f.makespan / f.bound, f.violations ? " INVALID" : "");
            fflush(stdout);
            json_write_object(out);
            json_put_string(out, "category", cases[k].category);
            json_put_number(out, "tasks", cases[k].n);
            json_put_number(out, "nodes", 4 * cases[k].kinds);
            json_put_string(out, "planner", names[m]);
            json_put_number(out, "least_memory_seconds", memory);
            json_put_number(out, "seconds", f.seconds);
            json_put_number(out, "makespan", f.makespan);
            json_put_number(out, "lower_bound", f.bound);
            json_write_end_object(out);
        }
        platform_free(p);
        workflow_free(w);
    }
    json_write_end_array(out);
    return bench_report_end(&report);
}
