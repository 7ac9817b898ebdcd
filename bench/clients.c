/* Which order for which clients, on real workflows: every workflow of 10 to 10,000 tasks in the shared
 * data, under several patterns of clients, in paired simulation.
 *
 *     bench_clients [--json FILE] [--quick] [--runs N] [--pattern P]
 *
 * A row a workflow: the mean time of `ic`, `criticalpath` and `order` over that of FIFO, and `order`
 * over the better of the other two with its 95 % interval. "worse" stands where that interval lies
 * above 1: with 62 workflows about 1.5 of them do so by chance alone. */
#include "base/progress.h"
#include "bench/bench.h"
#include "formats/format.h"
#include "model/platform.h"
#include "plan/planner.h"
#include "sim/contest.h"

#include <dirent.h>
#include <math.h>

static const char *const folders[] = {"cws",       "dagman",   "dagman/osg", "dax",
                                      "dot",       "makeflow", "wfformat",   "wfformat-old",
                                      "saga-json", "daggen"};
static const char *const patterns[] = {"poisson", "workers:4", "workers:16", "batches", "single"};
static const char *const contestants[] = {"fifo", "ic", "criticalpath", "order"};
enum { FIFO, IC, PATH, ORDER, CONTESTANTS };

static uint32_t runs = 400;
static struct platform *one_node;

struct real_workflow {
    char name[96];
    struct workflow *w;
};
static struct real_workflow real[256];
static int nreal;

static int by_file(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Files that hold no workflow, or a bad one on purpose, are passed over. The same graph in several
 * versions of a format counts once. */
static void take_folder(const char *shared, const char *folder)
{
    char path[4500];
    struct dirent **names;
    snprintf(path, sizeof path, "%s/data/%s", shared, folder);
    int n = scandir(path, &names, NULL, by_file);
    for (int i = 0; i < n; i++) {
        struct error err = {0};
        struct workflow *w = NULL;
        snprintf(path, sizeof path, "%s/data/%s/%s", shared, folder, names[i]->d_name);
        if (names[i]->d_type == DT_REG && nreal < 256)
            w = format_read_workflow(path, NULL, NULL, &err);
        bool good = w && w->ntasks >= 10 && w->ntasks <= 10000 && w->npairs > 0;
        for (int k = 0; good && k < nreal; k++)
            good = real[k].w->ntasks != w->ntasks || real[k].w->npairs != w->npairs;
        if (good) {
            real[nreal].w = w;
            snprintf(real[nreal++].name, sizeof real->name, "%.80s", names[i]->d_name);
        } else {
            workflow_free(w);
        }
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

static struct plan *plan_by(const char *planner, const struct workflow *w, const char *clients)
{
    struct error err = {0};
    struct option_value value = {"clients", clients};
    struct plan_request request = {.workflow = w,
                                   .platform = one_node,
                                   .seed = 1,
                                   .options = &value,
                                   .noptions = strcmp(planner, "order") == 0};
    struct plan *plan = planner_run(planner_find(planner), &request, &err);
    bench_must(plan, &err);
    return plan;
}

/* Means over the workflows of a pattern. */
struct bench_totals {
    double log_ratio[CONTESTANTS], log_best;
    int worse, better;
};

static void measure_one(const struct real_workflow *x, const char *pattern,
                        struct bench_totals *sum, struct json_writer *j)
{
    struct error err = {0};
    struct clients clients;
    struct order_options o;
    struct plan *plans[CONTESTANTS];
    struct contest c = {.w = x->w, .o = &o, .norders = CONTESTANTS};
    bench_must(clients_parse(pattern, x->w, &clients, &err), &err);
    order_options_for(&o, &clients, x->w);
    double start = bench_cpu_seconds(), seconds = 0;
    for (int i = 0; i < CONTESTANTS; i++) {
        start = bench_cpu_seconds();
        plans[i] = plan_by(contestants[i], x->w, pattern);
        seconds = bench_cpu_seconds() - start;
        c.orders[i] = i == FIFO ? NULL : plans[i]->order.at;
    }
    struct repeat_options ro = {.count = runs, .seed = 20261116, .confidence = 0.95};
    struct repeat_result r;
    bench_must(contest_run(&c, &ro, &r, &err), &err);
    struct repeat_ratio over[CONTESTANTS];
    for (uint32_t i = 0; i < CONTESTANTS; i++) {
        over[i] = repeat_ratio(&r, contest_column(i, CONTEST_TIME),
                               contest_column(FIFO, CONTEST_TIME), 0.95);
        sum->log_ratio[i] += log(over[i].value);
    }
    uint32_t best = over[IC].value < over[PATH].value ? IC : PATH;
    struct repeat_ratio b = repeat_ratio(&r, contest_column(ORDER, CONTEST_TIME),
                                         contest_column(best, CONTEST_TIME), 0.95);
    bool worse = b.value - b.half_width > 1, better = b.value + b.half_width < 1;
    sum->log_best += log(b.value);
    sum->worse += worse;
    sum->better += better;
    printf("%-44.44s %6u %7.3f %7.3f %7.3f   %.3f +-%.3f %-6s %6.2f %s\n", x->name, x->w->ntasks,
           over[IC].value, over[PATH].value, over[ORDER].value, b.value, b.half_width,
           worse    ? "worse"
           : better ? "better"
                    : "",
           seconds, plans[ORDER]->verdict);
    fflush(stdout);
    json_write_object_inline(j);
    json_write_key(j, "workflow");
    json_write_string(j, x->name);
    json_write_key(j, "pattern");
    json_write_string(j, pattern);
    json_write_key(j, "ratio");
    json_write_number(j, b.value);
    json_write_key(j, "half_width");
    json_write_number(j, b.half_width);
    json_write_end_object(j);
    repeat_result_free(&r);
    for (int i = 0; i < CONTESTANTS; i++)
        plan_free(plans[i]);
}

static void measure_pattern(const char *pattern, struct json_writer *j)
{
    struct bench_totals sum = {0};
    printf("\nclients %s, %u paired runs\n%-44s %6s %7s %7s %7s   %-14s %-6s %6s\n", pattern, runs,
           "workflow", "tasks", "ic", "path", "order", "over the best", "", "s");
    for (int i = 0; i < nreal; i++)
        measure_one(&real[i], pattern, &sum, j);
    double n = nreal ? nreal : 1;
    printf(
        "geometric means over %d: ic %.3f, critical path %.3f, order %.3f; order over the better "
        "of the two %.4f, worse %d, better %d\n",
        nreal, exp(sum.log_ratio[IC] / n), exp(sum.log_ratio[PATH] / n),
        exp(sum.log_ratio[ORDER] / n), exp(sum.log_best / n), sum.worse, sum.better);
}

int main(int argc, char **argv)
{
    const char *json = NULL, *only = NULL, *given = getenv("WEFT_SHARED");
    struct error err = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            runs = 40;
        else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            runs = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--pattern") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json = argv[++i];
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        take_folder(given ? given : WEFT_SOURCE_DIR "/../shared", folders[i]);
    if (!nreal)
        printf("no shared data: nothing to measure (WEFT_SHARED names another place)\n");
    struct platform_builder *pb = platform_builder_new("<bench>");
    platform_builder_node(pb, "n", 1, 0);
    one_node = platform_builder_finish(pb, &err);
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-clients/1");
    json_write_key(j, "rows");
    json_write_array(j);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (!only || strcmp(only, patterns[i]) == 0)
            measure_pattern(patterns[i], j);
    json_write_end_array(j);
    for (int i = 0; i < nreal; i++)
        workflow_free(real[i].w);
    platform_free(one_node);
    return bench_report_end(&report);
}
