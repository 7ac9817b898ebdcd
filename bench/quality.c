/* How good the plans are: against proven optima (data/optimal), against a public library
 * (data/saga-json), and how much `auto` improves on heft at sizes where nothing is proven.
 *
 *   bench_quality [--json FILE] [--budget 1s]
 *   bench_quality --large yes [--budget 1s] [--nodes 16] [--ccr 5]    the layered graphs alone, or some of them
 *   bench_quality --table docs/best-known.md [--moves 1000000moves] [--write yes]    best_known.c
 *   bench_quality --evidence yes                                  how much of a gap is the bound */
#include "bench/quality.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "formats/dot/dot.h"
#include "plan/search/bounds.h"
#include "tests/plan/saga_published.h"
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *budget = "1s";
static bool one_copy;
static double only_ccr = NAN;
static uint32_t only_nodes;

static struct plan *plan_with(const struct planner *planner, const struct workflow *w,
                              const struct platform *p)
{
    bool exact = planner->accepts & ACCEPTS_SMALL, meta = planner->accepts & ACCEPTS_META;
    /* the optima are those of plans with one copy of each task */
    struct option_value option[] = {{exact ? "limit" : "budget", budget},
                                    {"duplication", one_copy ? "false" : "true"}};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = option, .noptions = meta ? 2 : exact, .seed = 1};
    struct error err = {0};
    struct plan *plan = planner_run(planner, &request, &err);
    if (!plan)
        fprintf(stderr, "%s: %s\n", planner->name, err.text);
    return plan;
}

struct platform *quality_nodes(uint32_t count, double fastest, struct rng *rng)
{
    struct platform_builder *b = platform_builder_new("<bench>");
    platform_builder_network(b, 1, 0, NAN, 0);
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%u", i);
        uint32_t node = platform_builder_node(b, name, strlen(name), 0);
        if (rng)
            platform_builder_speed(b, node, rng_uniform(rng, 1, fastest), 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && strcmp(name + n - k, suffix) == 0;
}

enum { PLANNERS = 64 };

struct quality_figures {
    uint32_t plans, optimal, below, proven;
    double sum, worst, seconds;
    char worst_name[256];
};

/* ---- proven optima ---- */

static void run_optimal(struct quality_figures *all, const char *path, const char *name)
{
    struct error err = {0};
    struct text text;
    if (!file_read(path, &text, &err))
        return;
    struct format_source source = {.path = path, .text = text.at, .length = text.n};
    uint32_t processors;
    double optimum;
    struct workflow *w = NULL;
    if (dot_read_optimum(&source, &processors, &optimum, &err))
        w = format_read_workflow(path, NULL, NULL, &err);
    text_free(&text);
    if (!w) {
        fprintf(stderr, "%s\n", err.text);
        return;
    }
    struct platform *p = quality_nodes(processors, 1, NULL);
    for (size_t k = 0; planner_registry[k] && k < PLANNERS; k++) {
        unsigned accepts = planner_registry[k]->accepts;
        if (!(accepts & ACCEPTS_DAG) || accepts & (ACCEPTS_STREAM | ACCEPTS_ORDER))
            continue;
        struct plan *plan = plan_with(planner_registry[k], w, p);
        if (!plan)
            continue;
        double ratio = plan_makespan(plan) / optimum;
        struct quality_figures *f = &all[k];
        f->plans++;
        f->optimal += ratio < 1 + 1e-9;
        f->below += ratio < 1 - 1e-9;
        f->proven += plan_objective(plan, "lower_bound") >= plan_makespan(plan) * (1 - 1e-9);
        f->sum += ratio;
        f->seconds += plan->planning_seconds;
        if (ratio > f->worst) {
            f->worst = ratio;
            snprintf(f->worst_name, sizeof f->worst_name, "%s", name);
        }
        plan_free(plan);
    }
    workflow_free(w);
    platform_free(p);
}

static void bench_optimal(const char *shared, struct json_writer *out)
{
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/data/optimal", shared);
    static struct quality_figures all[PLANNERS];
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[8400];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (has_suffix(names[i]->d_name, ".dot"))
            run_optimal(all, path, names[i]->d_name);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    printf("Makespan / proven optimum (data/optimal; auto and optimal: %s a graph)\n", budget);
    printf("%-12s %6s %8s %8s %8s %7s %6s %9s  %s\n", "planner", "graphs", "average", "worst",
           "optimal", "proven", "below", "seconds", "worst on");
    json_write_key(out, "optimal");
    json_write_array(out);
    for (size_t k = 0; planner_registry[k] && k < PLANNERS; k++) {
        const struct quality_figures *f = &all[k];
        if (!f->plans)
            continue;
        printf("%-12s %6u %8.4f %8.4f %8u %7u %6u %9.3f  %s\n", planner_registry[k]->name, f->plans,
               f->sum / f->plans, f->worst, f->optimal, f->proven, f->below, f->seconds,
               f->worst_name);
        json_write_object_inline(out);
        json_put_string(out, "planner", planner_registry[k]->name);
        json_put_integer(out, "graphs", f->plans);
        json_put_number(out, "average", f->sum / f->plans);
        json_put_number(out, "worst", f->worst);
        json_put_integer(out, "optimal", f->optimal);
        json_put_integer(out, "proven", f->proven);
        json_put_integer(out, "below", f->below);
        json_put_number(out, "seconds", f->seconds);
        json_write_end_object(out);
    }
    json_write_end_array(out);
}

/* ---- a public library's makespans on data/saga-json ---- */

static void bench_saga(const char *shared, struct json_writer *out)
{
    double sum[COLUMNS] = {0};
    uint32_t count[COLUMNS] = {0};
    printf("\nauto (%s) against the best of %d planners of a public library (data/saga-json)\n",
           budget, COLUMNS);
    printf("%-38s %12s %12s %8s\n", "graph", "best of them", "auto", "ratio");
    json_write_key(out, "saga_auto");
    json_write_array(out);
    for (size_t g = 0; g < GRAPHS; g++) {
        char path[8400];
        snprintf(path, sizeof path, "%s/data/saga-json/%s.json", shared, saga[g].file);
        struct error err = {0};
        struct workflow *w = format_read_workflow(path, NULL, NULL, &err);
        struct platform *p = w ? format_read_platform(path, NULL, NULL, &err) : NULL;
        if (!p) {
            fprintf(stderr, "%s\n", err.text);
            workflow_free(w);
            continue;
        }
        double best = INFINITY;
        for (size_t k = 0; k < COLUMNS; k++) {
            best = fmin(best, saga[g].makespan[k]);
            const struct planner *planner = planner_find(column[k]);
            struct plan *plan = planner ? plan_with(planner, w, p) : NULL;
            if (plan) {
                sum[k] += plan_makespan(plan) / saga[g].makespan[k];
                count[k]++;
            }
            plan_free(plan);
        }
        struct plan *plan = plan_with(planner_find("auto"), w, p);
        if (plan) {
            double makespan = plan_makespan(plan);
            printf("%-38s %12.6g %12.6g %8.4f\n", saga[g].file, best, makespan, makespan / best);
            json_write_object_inline(out);
            json_put_string(out, "graph", saga[g].file);
            json_put_number(out, "best_published", best);
            json_put_number(out, "auto", makespan);
            json_put_number(out, "ratio", makespan / best);
            json_write_end_object(out);
        }
        plan_free(plan);
        workflow_free(w);
        platform_free(p);
    }
    json_write_end_array(out);
    printf("\nthe same planner, ours / theirs, average over the %d graphs\n", GRAPHS);
    json_write_key(out, "saga_same");
    json_write_array(out);
    for (size_t k = 0; k < COLUMNS; k++)
        if (count[k]) {
            printf("%-12s %8.4f\n", column[k], sum[k] / count[k]);
            json_write_object_inline(out);
            json_put_string(out, "planner", column[k]);
            json_put_number(out, "ratio", sum[k] / count[k]);
            json_write_end_object(out);
        }
    json_write_end_array(out);
}

/* ---- larger graphs ---- */

struct workflow *quality_layered(uint32_t tasks, uint32_t width, double ccr, struct rng *rng)
{
    struct builder *b = builder_new("<bench>", "generated");
    for (uint32_t t = 0; t < tasks; t++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", t);
        builder_work(b, builder_task(b, name, strlen(name), 0), rng_uniform(rng, 1, 20), 0);
    }
    for (uint32_t t = width; t < tasks; t++) {
        uint32_t edges = 1 + (uint32_t)rng_below(rng, 5), layer = t / width, used[5];
        for (uint32_t e = 0; e < edges; e++) {
            uint32_t up = 1 + (layer > 1 && rng_below(rng, 4) == 0);
            used[e] = (layer - up) * width + (uint32_t)rng_below(rng, width);
            bool again = false;
            for (uint32_t i = 0; i < e; i++)
                again |= used[i] == used[e];
            if (!again)
                builder_data_edge(b, used[e], t, rng_uniform(rng, 1, 20) * ccr, 0);
        }
    }
    struct error err = {0};
    return builder_finish(b, &err);
}

const struct quality_size quality_sizes[] = {
    {100, 8, 10, 1},       {1000, 16, 40, 0.1}, {1000, 16, 40, 1},  {1000, 16, 40, 5},
    {10000, 64, 200, 0.1}, {10000, 64, 200, 1}, {10000, 64, 200, 5}};
const size_t quality_nsizes = sizeof quality_sizes / sizeof *quality_sizes;

double quality_bound(const struct workflow *w, const struct platform *p)
{
    struct error err = {0};
    struct costs *costs = costs_new(w, p, &err);
    bench_must(costs != NULL, &err);
    struct problem *problem = problem_new(costs);
    double bound = bounds_find(problem, 100000000, INFINITY, INFINITY).single.value;
    problem_free(problem);
    costs_free(costs);
    return bound;
}

/* The gap is what the makespan is above the bound, in percent of the bound. */
static void bench_large(struct json_writer *out)
{
    const struct quality_size *sizes = quality_sizes;
    printf("\nauto (%s) against heft on layered graphs, speeds 1 to 4\n", budget);
    printf("%8s %6s %5s %12s %12s %12s %9s %12s %8s %8s %8s\n", "tasks", "nodes", "ccr", "heft",
           "best member", "auto", "shorter", "lower bound", "gap", "members", "seconds");
    json_write_key(out, "large");
    json_write_array(out);
    for (size_t i = 0; i < quality_nsizes; i++) {
        struct rng rng;
        rng_seed(&rng, 42 + i);
        if ((only_nodes && sizes[i].nodes != only_nodes) ||
            (!isnan(only_ccr) && sizes[i].ccr != only_ccr))
            continue;
        struct workflow *w = quality_layered(sizes[i].tasks, sizes[i].width, sizes[i].ccr, &rng);
        struct platform *p = quality_nodes(sizes[i].nodes, 4, &rng);
        struct plan *heft = plan_with(planner_find("heft"), w, p);
        const char *kept = budget;
        budget = "0";
        struct plan *member = plan_with(planner_find("auto"), w, p);
        budget = kept;
        struct plan *best = plan_with(planner_find("auto"), w, p);
        if (heft && member && best) {
            double a = plan_makespan(heft), b = plan_makespan(best);
            printf("%8u %6u %5g %12.6g %12.6g %12.6g %8.2f%% %12.6g %7.1f%% %7.3fs %7.3fs\n",
                   sizes[i].tasks, sizes[i].nodes, sizes[i].ccr, a, plan_makespan(member), b,
                   100 * (1 - b / a), plan_objective(best, "lower_bound"),
                   100 * (b / plan_objective(best, "lower_bound") - 1), member->planning_seconds,
                   best->planning_seconds);
            json_write_object_inline(out);
            json_put_integer(out, "tasks", sizes[i].tasks);
            json_put_integer(out, "nodes", sizes[i].nodes);
            json_put_number(out, "ccr", sizes[i].ccr);
            json_put_number(out, "heft", a);
            json_put_number(out, "best_member", plan_makespan(member));
            json_put_number(out, "auto", b);
            json_put_number(out, "lower_bound", plan_objective(best, "lower_bound"));
            json_put_number(out, "seconds", best->planning_seconds);
            json_write_end_object(out);
        }
        plan_free(heft);
        plan_free(member);
        plan_free(best);
        workflow_free(w);
        platform_free(p);
    }
    json_write_end_array(out);
}

static int quality_refuse(const char *word)
{
    fprintf(
        stderr,
        "bench_quality: %s: expected one of --budget TIME, --large yes, --nodes N, --ccr X, "
        "--evidence yes, --table FILE, --moves N, --write yes, --json FILE, each with its value\n",
        word);
    return 2;
}

int main(int argc, char **argv)
{
    const char *file = NULL, *table = NULL, *moves = "1000000moves";
    bool write = false, evidence = false, large = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0)
            file = argv[i + 1];
        else if (strcmp(argv[i], "--budget") == 0)
            budget = argv[i + 1];
        else if (strcmp(argv[i], "--table") == 0)
            table = argv[i + 1];
        else if (strcmp(argv[i], "--moves") == 0)
            moves = argv[i + 1];
        else if (strcmp(argv[i], "--write") == 0)
            write = strcmp(argv[i + 1], "yes") == 0;
        else if (strcmp(argv[i], "--large") == 0)
            large = strcmp(argv[i + 1], "yes") == 0;
        else if (strcmp(argv[i], "--nodes") == 0)
            only_nodes = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--ccr") == 0)
            only_ccr = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--evidence") == 0)
            evidence = strcmp(argv[i + 1], "yes") == 0;
        else
            return quality_refuse(argv[i]);
    }
    if (argc % 2 == 0)
        return quality_refuse(argv[argc - 1]);
    const char *given = getenv("WEFT_SHARED");
    char shared[4096], probe[4200];
    snprintf(shared, sizeof shared, "%s", given ? given : WEFT_SOURCE_DIR "/../shared");
    snprintf(probe, sizeof probe, "%s/data/optimal", shared);
    if (evidence) {
        quality_evidence();
        return 0;
    }
    if (table)
        return quality_table(table, shared, moves, write);
    struct bench_report report = {.file = file};
    struct json_writer *out = bench_report_begin(&report, NULL);
    json_put_string(out, "budget", budget);
    if (large) {
        /* nothing else was asked for */
    } else if (file_exists(probe)) {
        one_copy = true;
        bench_optimal(shared, out);
        one_copy = false;
        bench_saga(shared, out);
    } else {
        printf("no shared data at %s: only generated graphs (WEFT_SHARED names another place)\n",
               shared);
    }
    bench_large(out);
    return bench_report_end(&report);
}
