/* What the planner `tree` promises, measured:
 *   bench_trees [--json FILE] [--budget TEXT] [--before FILE] [--only small|planted|published]
 *                                                                     budget of the published trees (default 2s)
 *
 *     small        1,000 random trees of 2 to 13 tasks: proven, and the longest time of one
 *     planted      mappings planted into trees of 144 to 50,000 tasks: how far from them, in 2 s, past 10,000 tasks in 10 s
 *     published    the trees of the shared folder on the cluster of the paper's Table 2, memories at 1 and 3 times the most
 *                  demanding task: makespan, lower bound, gap; with --before (lines "name factor makespan") also that value
 *                  and the least that is possible of it, which is the bound over it; and geometric means of all three
 *
 * The exit status is 1 when a small tree is not proven, a planted one is past 1.03 of its value, or a plan is not valid. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "formats/format.h"
#include "generate/generate.h"
#include "model/builder.h"
#include "model/check.h"
#include "model/tree.h"
#include "plan/planner.h"

#include <dirent.h>
#include <math.h>

enum { TREES_PARTS = 36, TREES_SMALL = 1000, TREES_SMALL_MOST = 13 };
static const double trees_speeds[] = {3, 1.5, 1, 0.5};
static const double trees_planted = 111, trees_bandwidth = 500;
static bool trees_failed;

struct trees_answer {
    double seconds, makespan, bound;
    bool proven, found;
};

static struct trees_answer trees_plan(const struct workflow *w, const struct platform *p,
                                      const char *budget)
{
    struct option_value value = {"budget", budget};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = &value, .noptions = budget ? 1 : 0, .seed = 1};
    struct trees_answer a = {.makespan = NAN, .bound = NAN};
    struct error err = {0};
    double start = clock_seconds();
    struct plan *plan = planner_run(planner_find("tree"), &request, &err);
    a.seconds = clock_seconds() - start;
    /* that none exists is a proof, too */
    a.proven = !plan && strstr(err.text, "no mapping exists") != NULL;
    if (!plan)
        return a;
    struct check_result result;
    bench_must(check_plan(plan, w, p, &result, &err), &err);
    a.found = result.total == 0;
    trees_failed |= result.total > 0;
    a.makespan = plan_objective(plan, "makespan");
    a.bound = plan_objective(plan, "lower_bound");
    a.proven = a.bound >= a.makespan * (1 - 1e-9);
    check_result_free(&result);
    plan_free(plan);
    return a;
}

/* ---- small ones ---- */

static struct workflow *trees_small_tree(struct rng *rng, uint32_t n)
{
    struct builder *b = builder_new("<bench>", "small");
    uint32_t reach = 1 + (uint32_t)rng_below(rng, n);
    bool in = rng_below(rng, 2);
    char name[16];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t task = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i), 0);
        builder_work(b, task, 1 + (double)rng_below(rng, 100), 0);
        builder_memory(b, task, (double)rng_below(rng, 50), 0);
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t far = i < reach ? i : reach, parent = i - 1 - (uint32_t)rng_below(rng, far);
        builder_data_edge(b, in ? i : parent, in ? parent : i, 1 + (double)rng_below(rng, 100), 0);
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    bench_must(w, &err);
    return w;
}

static struct platform *trees_nodes(struct rng *rng, uint32_t n, double memory, double bandwidth)
{
    static const double sizes[] = {0.7, 1, 1.5, 3};
    struct platform_builder *b = platform_builder_new("<bench>");
    char name[16];
    platform_builder_network(b, bandwidth, 0, NAN, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node =
            platform_builder_node(b, name, (size_t)snprintf(name, sizeof name, "n%u", i), 0);
        platform_builder_memory(b, node, rng ? sizes[rng_below(rng, 4)] * memory : memory, 0);
        platform_builder_speed(b, node, trees_speeds[rng ? rng_below(rng, 4) : i / 9], 0);
    }
    struct error err = {0};
    struct platform *p = platform_builder_finish(b, &err);
    bench_must(p, &err);
    return p;
}

static void trees_small(struct json_writer *out)
{
    static const double rates[] = {1, 5, 50, 500};
    uint32_t proven = 0;
    double longest = 0, start = clock_seconds();
    for (uint32_t i = 0; i < TREES_SMALL; i++) {
        struct rng rng;
        rng_seed_stream(&rng, 7, i);
        struct workflow *w =
            trees_small_tree(&rng, 2 + (uint32_t)rng_below(&rng, TREES_SMALL_MOST - 1));
        struct tree *t = tree_new(w, NULL);
        struct platform *p = trees_nodes(&rng, 1 + (uint32_t)rng_below(&rng, 6),
                                         tree_largest_need(t), rates[rng_below(&rng, 4)]);
        struct trees_answer a = trees_plan(w, p, NULL);
        proven += a.proven;
        longest = fmax(longest, a.seconds);
        tree_free(t);
        platform_free(p);
        workflow_free(w);
    }
    printf(
        "small: %u of %u random trees of 2 to %u tasks proven, %.3f s at most, %.1f s together\n",
        proven, TREES_SMALL, TREES_SMALL_MOST, longest, clock_seconds() - start);
    json_put_number(out, "small_proven", proven);
    json_put_number(out, "small_longest_seconds", longest);
    trees_failed |= proven < TREES_SMALL;
}

/* ---- planted ones ---- */

/* Part 0 works 10 s at speed 3, the others below it 100 s each; a second for each transfer. With `inner` parts between: those
 * work 15 s, and what hangs below them 84 s. Every mapping of a part to its node ends at the same time. */
static struct workflow *trees_planted_tree(struct rng *rng, uint32_t each, uint32_t inner)
{
    struct builder *b = builder_new("<bench>", "planted");
    double *share = mem_new(double, each);
    char name[16];
    for (uint32_t part = 0; part < TREES_PARTS; part++) {
        uint32_t above = 0;
        if (part > inner)
            above = part <= 2 * inner ? part - inner : (uint32_t)rng_below(rng, inner + 1);
        double seconds = part == 0 ? 10 : part <= inner ? 15 : above ? 84 : 100;
        double sum = 0, work = seconds * trees_speeds[part / 9];
        for (uint32_t k = 0; k < each; k++)
            sum += share[k] = 0.02 + rng_unit(rng);
        for (uint32_t k = 0; k < each; k++) {
            uint32_t i = part * each + k;
            uint32_t task = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i), 0);
            builder_work(b, task, share[k] * work / sum, 0);
            if (k)
                builder_data_edge(b, part * each + (uint32_t)rng_below(rng, k), task,
                                  rng_uniform(rng, 1, 30), 0);
            else if (part)
                builder_data_edge(b, above * each + (uint32_t)rng_below(rng, each), task,
                                  trees_bandwidth, 0);
        }
    }
    free(share);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    bench_must(w, &err);
    return w;
}

static void trees_planted_ones(struct json_writer *out)
{
    static const uint32_t sizes[] = {4, 10, 40, 277, 1389};
    struct platform *p = trees_nodes(NULL, TREES_PARTS, 1e9, trees_bandwidth);
    json_write_key(out, "planted");
    json_write_array(out);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (uint32_t inner = 0; inner <= 3; inner += 3) {
            struct rng rng;
            rng_seed_stream(&rng, 21, k * 10 + inner);
            struct workflow *w = trees_planted_tree(&rng, sizes[k], inner);
            struct trees_answer a = trees_plan(w, p, w->ntasks > 10000 ? "10s" : "2s");
            printf("planted: %6u tasks, %u levels: %.4f of the planted value in %.2f s\n",
                   w->ntasks, inner ? 3 : 2, a.makespan / trees_planted, a.seconds);
            fflush(stdout);
            json_write_object(out);
            json_put_number(out, "tasks", w->ntasks);
            json_put_number(out, "levels", inner ? 3 : 2);
            json_put_number(out, "ratio", a.makespan / trees_planted);
            json_put_number(out, "seconds", a.seconds);
            json_write_end_object(out);
            trees_failed |= !(a.makespan <= 1.03 * trees_planted);
            workflow_free(w);
        }
    json_write_end_array(out);
    platform_free(p);
}

/* ---- published ones ---- */

/* Of a file with lines "name factor makespan"; NAN: it has none. */
static double trees_before(const char *file, const char *name, double factor)
{
    char line[512], whose[256];
    double which, value, found = NAN;
    FILE *f = file ? fopen(file, "re") : NULL;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%255s %lf %lf", whose, &which, &value) == 3 && strcmp(whose, name) == 0 &&
            which == factor)
            found = value;
    if (f)
        fclose(f);
    return found;
}

/* Logarithms, for geometric means. */
struct trees_mean {
    double sum, most;
    uint32_t n;
};
static struct trees_mean trees_gap, trees_now, trees_least;

static void trees_count(struct trees_mean *m, double ratio)
{
    if (!(ratio > 0) || isinf(ratio))
        return;
    m->sum += log(ratio);
    m->most = fmax(m->most, ratio);
    m->n++;
}

static double trees_mean_of(const struct trees_mean *m)
{
    return m->n ? exp(m->sum / m->n) : NAN;
}

static void trees_published_one(const char *path, const char *name, const char *budget,
                                const char *before, struct json_writer *out)
{
    static const double factors[] = {1, 3};
    struct error err = {0};
    struct workflow *w = format_read_workflow(path, NULL, NULL, &err);
    bench_must(w, &err);
    struct tree *t = tree_new(w, NULL);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        char dmax[32];
        snprintf(dmax, sizeof dmax, "%.17g", tree_largest_need(t) * factors[f]);
        struct option_value values[] = {{"dmax", dmax}, {"per-kind", "9"}};
        struct platform *p = generator_platform(generator_find("fourfold"), values, 2, 1, &err);
        bench_must(p, &err);
        struct trees_answer a = trees_plan(w, p, budget);
        double was = trees_before(before, name, factors[f]);
        printf("%-40.40s %6u %5.1f %12.6g %12.6g %7.1f %%", name, w->ntasks, factors[f], a.makespan,
               a.bound, 100 * (a.makespan / a.bound - 1));
        if (!isnan(was))
            printf(" %12.6g %7.3f %9.3f", was, a.makespan / was, a.bound / was);
        printf("\n");
        fflush(stdout);
        trees_count(&trees_gap, a.makespan / a.bound);
        trees_count(&trees_now, a.makespan / was);
        trees_count(&trees_least, a.bound / was);
        json_write_object(out);
        json_put_string(out, "tree", name);
        json_put_number(out, "factor", factors[f]);
        json_put_number(out, "makespan", a.makespan);
        json_put_number(out, "lower_bound", a.bound);
        json_put_number(out, "before", was);
        json_write_end_object(out);
        platform_free(p);
    }
    tree_free(t);
    workflow_free(w);
}

static int trees_is_tree(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".tree") == 0;
}

static void trees_published(const char *budget, const char *before, struct json_writer *out)
{
    const char *shared = getenv("WEFT_SHARED");
    char folder[4096];
    struct dirent **names;
    snprintf(folder, sizeof folder, "%s/data/trees",
             shared ? shared : WEFT_SOURCE_DIR "/../shared");
    int n = scandir(folder, &names, trees_is_tree, alphasort);
    if (n <= 0)
        printf("no shared data: no published trees (WEFT_SHARED names another place)\n");
    else
        printf("%-40s %6s %5s %12s %12s %9s %s\n", "tree", "tasks", "times", "makespan", "bound",
               "gap", before ? "       before    now/it  bound/it" : "");
    json_write_key(out, "published");
    json_write_array(out);
    for (int i = 0; i < n; i++) {
        char path[4096 + 300];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        trees_published_one(path, names[i]->d_name, budget, before, out);
        free(names[i]);
    }
    json_write_end_array(out);
    if (n > 0) {
        free(names);
        printf("geometric means of %u: makespan over bound %.3f\n", trees_gap.n,
               trees_mean_of(&trees_gap));
    }
    if (trees_now.n)
        printf("of %u with an earlier value: now over it %.3f (at most %.3f), bound over it %.3f\n",
               trees_now.n, trees_mean_of(&trees_now), trees_now.most, trees_mean_of(&trees_least));
}

int main(int argc, char **argv)
{
    const char *json = NULL, *budget = "2s", *before = NULL, *only = "";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0)
            json = argv[i + 1];
        else if (strcmp(argv[i], "--budget") == 0)
            budget = argv[i + 1];
        else if (strcmp(argv[i], "--before") == 0)
            before = argv[i + 1];
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
    }
    struct bench_report report = {.file = json};
    struct json_writer *out = bench_report_begin(&report, NULL);
    if (!*only || strcmp(only, "small") == 0)
        trees_small(out);
    if (!*only || strcmp(only, "planted") == 0)
        trees_planted_ones(out);
    if (!*only || strcmp(only, "published") == 0)
        trees_published(budget, before, out);
    int status = bench_report_end(&report);
    return trees_failed ? 1 : status;
}
