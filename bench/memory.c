/* Plans within memory of real workflows: every WfCommons graph of the shared folder on four nodes whose
 * memory is 1.0 to 2 times the least with which its largest task fits at all.
 *   bench_memory [--json FILE] [--budget TEXT] [--only real|large]        of auto (default 0.5s)
 * For each planner: plans found, of those that any planner found, and the mean of its makespans over the shortest.
 * Two platforms a graph: four nodes alike; and speeds 3, 1.5, 1, 0.5 of which only the slowest have all the
 * memory. The exit status is 1 when auto or heft-mem missed a plan that another found.
 *
 * Then 100,000 tasks on 32 nodes (asked: 5 s), with memories from plenty to so little that hardly a plan exists: processor time of
 * the planners that count files, beside heft, which counts none and is repaired. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/mem.h"
#include "formats/format.h"
#include "generate/generate.h"
#include "model/check.h"
#include "model/platform.h"
#include "plan/memory/keep.h"
#include "plan/planner.h"

#include <dirent.h>
#include <math.h>

enum { PLANNERS = 6, NODES = 4 };
static const char *const memory_planners[PLANNERS] = {"auto",      "heft-mem",   "minmin-mem",
                                                      "daghetmem", "daghetpart", "heft"};
static const double memory_factors[] = {1.0, 1.05, 1.1, 1.25, 1.5, 2};

struct memory_score {
    uint32_t found, missed;
    double ratios, seconds;
};
static struct memory_score memory_scores[PLANNERS];
static uint32_t memory_cases, memory_possible;

/* Relative memories and speeds; the network carries the mean object in a second, so that transfers matter. */
static struct platform *memory_nodes(double bytes, bool alike, double bandwidth)
{
    static const double share[NODES] = {0.25, 0.5, 1, 1}, speed[NODES] = {3, 1.5, 1, 0.5};
    struct platform_builder *b = platform_builder_new("<bench>");
    platform_builder_network(b, bandwidth, 0, NAN, 0);
    for (int i = 0; i < NODES; i++) {
        char name[8];
        int n = snprintf(name, sizeof name, "n%d", i + 1);
        uint32_t node = platform_builder_node(b, name, (size_t)n, 0);
        platform_builder_memory(b, node, alike ? bytes : bytes * share[i], 0);
        platform_builder_speed(b, node, alike ? 1 : speed[i], 0);
        platform_builder_cores(b, node, 64, 0); /* traces have tasks of many cores */
    }
    struct error err = {0};
    struct platform *p = platform_builder_finish(b, &err);
    bench_must(p, &err);
    return p;
}

/* NAN: no valid plan. */
static double memory_plan(int which, const struct workflow *w, const struct platform *p,
                          const char *budget)
{
    struct option_value value = {"budget", budget};
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct error err = {0};
    if (which == 0) {
        request.options = &value;
        request.noptions = 1;
    }
    double start = clock_cpu_seconds(), makespan = NAN;
    struct plan *plan = planner_run(planner_find(memory_planners[which]), &request, &err);
    memory_scores[which].seconds += clock_cpu_seconds() - start;
    if (plan) {
        struct check_result result;
        bench_must(check_plan(plan, w, p, &result, &err), &err);
        if (result.total == 0)
            makespan = plan_makespan(plan);
        check_result_free(&result);
        plan_free(plan);
    } else if (err.kind != ERROR_INFEASIBLE) {
        bench_must(false, &err);
    }
    return makespan;
}

static void memory_case(const char *name, const struct workflow *w, double factor, double least,
                        bool alike, const char *budget, struct json_writer *out)
{
    double bytes = 0, makespan[PLANNERS], best = INFINITY;
    for (uint32_t o = 0; o < w->nobjects; o++)
        bytes += w->size[o] / w->nobjects;
    struct platform *p = memory_nodes(factor * least, alike, fmax(bytes, 1));
    for (int i = 0; i < PLANNERS; i++) {
        makespan[i] = memory_plan(i, w, p, budget);
        best = fmin(best, makespan[i]);
    }
    memory_cases++;
    memory_possible += isfinite(best);
    json_write_object(out);
    json_put_string(out, "workflow", name);
    json_put_number(out, "tasks", w->ntasks);
    json_put_number(out, "factor", factor);
    json_put_bool(out, "alike", alike);
    printf("%-44.44s %6u %5.2f %-6s", name, w->ntasks, factor, alike ? "alike" : "mixed");
    for (int i = 0; i < PLANNERS; i++) {
        json_put_number(out, memory_planners[i], makespan[i]);
        if (isnan(makespan[i])) {
            memory_scores[i].missed += isfinite(best);
            printf(" %10s", "-");
            continue;
        }
        memory_scores[i].found++;
        memory_scores[i].ratios += best > 0 ? makespan[i] / best : 1;
        printf(" %10.3f", best > 0 ? makespan[i] / best : 1);
    }
    printf("\n");
    fflush(stdout);
    json_write_end_object(out);
    platform_free(p);
}

static void memory_file(const char *path, const char *name, const char *budget,
                        struct json_writer *out)
{
    struct error err = {0};
    struct workflow *w = format_read_workflow(path, NULL, NULL, &err);
    bench_must(w, &err);
    double least = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        least = fmax(least, keep_task_bytes(w, t));
    for (size_t f = 0; least > 0 && f < sizeof memory_factors / sizeof *memory_factors; f++)
        for (int alike = 1; alike >= 0; alike--)
            memory_case(name, w, memory_factors[f], least, alike, budget, out);
    workflow_free(w);
}

/* ---- large ones ---- */

enum { LARGE_KINDS = 4, LARGE_PER_KIND = 8 };

/* The memory of the largest nodes, those of the other kinds a half, a fourth, an eighth; the smaller, the faster. */
static struct platform *large_nodes(double bytes)
{
    static const double speed[LARGE_KINDS] = {0.5, 1, 1.5, 3};
    struct platform_builder *b = platform_builder_new("<bench>");
    platform_builder_network(b, 10, 0, NAN, 0);
    for (int i = 0; i < LARGE_KINDS * LARGE_PER_KIND; i++) {
        char name[8];
        int n = snprintf(name, sizeof name, "n%d", i + 1), kind = i / LARGE_PER_KIND;
        uint32_t node = platform_builder_node(b, name, (size_t)n, 0);
        platform_builder_memory(b, node, bytes / (1 << kind), 0);
        platform_builder_speed(b, node, speed[kind], 0);
    }
    struct error err = {0};
    struct platform *p = platform_builder_finish(b, &err);
    bench_must(p, &err);
    return p;
}

static void large_graph(const char *name, const char *generator, const struct option_value *values,
                        size_t count, struct json_writer *out)
{
    static const double factors[] = {4, 20, 100, 1000};
    static const int planners[] = {1, 0, 5}; /* heft-mem, auto, heft */
    struct error err = {0};
    struct workflow *w = generator_workflow(generator_find(generator), values, count, 1, &err);
    bench_must(w, &err);
    double least = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        least = fmax(least, keep_task_bytes(w, t));
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        struct platform *p = large_nodes(factors[f] * least);
        json_write_object(out);
        json_put_string(out, "workflow", name);
        json_put_number(out, "factor", factors[f]);
        printf("%-44s %6u %5.0f", name, w->ntasks, factors[f]);
        for (size_t i = 0; i < sizeof planners / sizeof *planners; i++) {
            double before = memory_scores[planners[i]].seconds;
            double makespan = memory_plan(planners[i], w, p, "0.5s");
            double seconds = memory_scores[planners[i]].seconds - before;
            json_put_number(out, memory_planners[planners[i]], makespan);
            printf("   %-8s %10.6g in %5.2f s", memory_planners[planners[i]], makespan, seconds);
        }
        printf("\n");
        fflush(stdout);
        json_write_end_object(out);
        platform_free(p);
    }
    workflow_free(w);
}

static void memory_large(struct json_writer *out)
{
    static const struct option_value layered[] = {
        {"n", "100000"}, {"density", "0.1"}, {"parents", "4"}, {"memory", "50"}};
    static const struct option_value forkjoin[] = {{"stages", "100"}, {"width", "1000"}};
    printf("100,000 tasks on 32 nodes, the largest so many times the most demanding task: makespan "
           "and processor seconds (asked: 5)\n");
    large_graph("layered", "layered", layered, sizeof layered / sizeof *layered, out);
    large_graph("forkjoin", "forkjoin", forkjoin, sizeof forkjoin / sizeof *forkjoin, out);
}

static int memory_is_json(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".json") == 0;
}

/* False: auto or heft-mem missed a plan that another found. */
static bool memory_real(const char *budget, struct json_writer *out)
{
    const char *shared = getenv("WEFT_SHARED");
    char folder[4096];
    struct dirent **names;
    snprintf(folder, sizeof folder, "%s/data/wfformat",
             shared ? shared : WEFT_SOURCE_DIR "/../shared");
    int n = scandir(folder, &names, memory_is_json, alphasort);
    if (n <= 0)
        printf("no shared data: nothing to measure (WEFT_SHARED names another place)\n");
    printf("%-44s %6s %5s %-6s", "workflow", "tasks", "times", "nodes");
    for (int i = 0; i < PLANNERS; i++)
        printf(" %10s", memory_planners[i]);
    printf("   (makespan over the shortest)\n");
    for (int i = 0; i < n; i++) {
        char path[4096 + 300];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        memory_file(path, names[i]->d_name, budget, out);
        free(names[i]);
    }
    if (n > 0)
        free(names);
    printf("%u cases, %u with a plan\n", memory_cases, memory_possible);
    for (int i = 0; i < PLANNERS; i++)
        printf("%-12s found %4u, missed %4u, %7.3f times the shortest, %8.1f s\n",
               memory_planners[i], memory_scores[i].found, memory_scores[i].missed,
               memory_scores[i].ratios / fmax(memory_scores[i].found, 1), memory_scores[i].seconds);
    return !memory_scores[0].missed && !memory_scores[1].missed;
}

int main(int argc, char **argv)
{
    const char *json = NULL, *budget = "0.5s", *only = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0)
            json = argv[i + 1];
        else if (strcmp(argv[i], "--budget") == 0)
            budget = argv[i + 1];
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
    }
    struct bench_report report = {.file = json};
    struct json_writer *out = bench_report_begin(&report, NULL);
    json_write_key(out, "memory");
    json_write_array(out);
    bool good = strcmp(only, "large") == 0 || memory_real(budget, out);
    if (strcmp(only, "real") != 0)
        memory_large(out);
    json_write_end_array(out);
    int status = bench_report_end(&report);
    return good ? status : 1;
}
