/* DagHetPart against DagHetMem (Kulagina, Meyerhenke, Benoit 2024: 2.44 times shorter), by two measures, and ours beside them.
 *   bench_daghet [--json FILE] [--budget TEXT] [--only SORT] [--least TASKS] [--most TASKS]        budget of auto (default 0.5s)
 *
 *     blocks   the paper's: what a node has is a block; it begins when all blocks before it have ended and sent
 *     tasks    weft's: each task begins when its own inputs are there
 *
 * DagHetMem fills node after node in one order, so that its blocks are a chain and nothing of it runs side by side by the first
 * measure; by the second a good part does. 36 nodes of six kinds; memories are scaled so that the largest holds 1, 2 or 20 times
 * what the most demanding task needs. Three sorts of graphs, each with its own means:
 *
 *     WfCommons   traces of the shared folder
 *     families    the shapes that the paper grows with WfGen, of 200 to 30,000 tasks (works, memories and files are drawn by
 *                 kind of task: the paper's come from measurements that it does not publish)
 *     layered     random graphs, which the paper does not have
 *
 * The exit status is 1 when a plan is not valid, or DagHetPart's is longer than DagHetMem's by the measure it was asked for. */
#include "bench/bench.h"
#include "base/mem.h"
#include "base/rng.h"
#include "formats/format.h"
#include "generate/generate.h"
#include "model/builder.h"
#include "model/check.h"
#include "model/costs.h"
#include "plan/memory/keep.h"
#include "plan/planner.h"

#include <dirent.h>
#include <math.h>

enum { DAGHET_PLANNERS = 4, DAGHET_NODES = 36, DAGHET_KINDS = 6 };
static const char *const daghet_planners[DAGHET_PLANNERS] = {"daghetmem", "daghetpart", "heft-mem",
                                                             "auto"};
static const double daghet_factors[] = {1, 2, 20};

/* Sums of logarithms, for geometric means. */
struct daghet_sum {
    double log;
    uint32_t n;
};
enum daghet_sort { DAGHET_WFCOMMONS, DAGHET_FAMILIES, DAGHET_LAYERED, DAGHET_SORTS };
static const char *const daghet_sorts[DAGHET_SORTS] = {"WfCommons", "families", "layered"};
struct daghet_means {
    struct daghet_sum blocks, tasks, ours[DAGHET_PLANNERS];
};
static struct daghet_means daghet_means[DAGHET_SORTS];
static uint32_t daghet_invalid, daghet_longer;

static void daghet_add(struct daghet_sum *s, double above, double below)
{
    if (!(above > 0) || !(below > 0) || !isfinite(above) || !isfinite(below))
        return;
    s->log += log(above / below);
    s->n++;
}

static double daghet_mean(const struct daghet_sum *s)
{
    return s->n ? exp(s->log / s->n) : NAN;
}

static struct platform *daghet_platform(const struct workflow *w, double most, double bandwidth)
{
    static const double memory[DAGHET_KINDS] = {16, 32, 64, 64, 64, 192},
                        speed[DAGHET_KINDS] = {4, 32, 6, 12, 8, 32};
    struct platform_builder *b = platform_builder_new("<bench>");
    uint32_t cores = 1;
    for (uint32_t t = 0; t < w->ntasks; t++)
        cores = w->cores[t] > cores ? w->cores[t] : cores;
    platform_builder_network(b, bandwidth, 0, NAN, 0);
    for (int i = 0; i < DAGHET_NODES; i++) {
        char name[8];
        int n = snprintf(name, sizeof name, "n%d", i + 1);
        uint32_t node = platform_builder_node(b, name, (size_t)n, 0);
        platform_builder_memory(b, node, most * memory[i % DAGHET_KINDS] / 192, 0);
        platform_builder_speed(b, node, speed[i % DAGHET_KINDS] / 8, 0);
        platform_builder_cores(b, node, cores, 0);
    }
    struct error err = {0};
    struct platform *p = platform_builder_finish(b, &err);
    bench_must(p, &err);
    return p;
}

/* By nodes: what each works, and the bytes between two. */
struct daghet_quotient {
    double work[DAGHET_NODES], bytes[DAGHET_NODES][DAGHET_NODES];
    bool edge[DAGHET_NODES][DAGHET_NODES];
};

static void daghet_fill(const struct plan *plan, const struct workflow *w,
                        const struct costs *costs, struct daghet_quotient *q)
{
    uint32_t *node = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        node[x->task] = x->node;
        q->work[x->node] += costs_time(costs, x->task, x->node);
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t from = node[w->pred_task[e]], o = w->pred_object[e];
            if (from == node[t])
                continue;
            q->edge[from][node[t]] = true;
            q->bytes[from][node[t]] += o == NONE ? 0 : w->size[o];
        }
    free(node);
}

/* NAN: the blocks wait for each other in a circle, so that the measure says nothing. */
static double daghet_block_makespan(const struct plan *plan, const struct workflow *w,
                                    const struct platform *p)
{
    struct costs *costs = costs_lenient(w, p);
    struct daghet_quotient *q = mem_new_zero(struct daghet_quotient, 1);
    double ends[DAGHET_NODES], last = 0;
    bool done[DAGHET_NODES] = {false};
    daghet_fill(plan, w, costs, q);
    for (int round = 0; round < DAGHET_NODES; round++) {
        int next = -1;
        for (int n = 0; n < DAGHET_NODES && next < 0; n++) {
            bool ready = !done[n];
            for (int k = 0; k < DAGHET_NODES; k++)
                ready = ready && (!q->edge[k][n] || done[k]);
            next = ready ? n : -1;
        }
        if (next < 0) {
            last = NAN;
            break;
        }
        double starts = 0;
        for (int k = 0; k < DAGHET_NODES; k++)
            if (q->edge[k][next])
                starts = fmax(starts, ends[k] + q->bytes[k][next] / p->bandwidth);
        ends[next] = starts + q->work[next];
        done[next] = true;
        last = fmax(last, ends[next]);
    }
    free(q);
    costs_free(costs);
    return last;
}

/* NAN: no plan. `option` may be NULL. */
static double daghet_plan(const char *planner, const struct option_value *option,
                          const struct workflow *w, const struct platform *p, double *blocks)
{
    struct plan_request request = {
        .workflow = w, .platform = p, .options = option, .noptions = option != NULL, .seed = 1};
    struct error err = {0};
    *blocks = NAN;
    struct plan *plan = planner_run(planner_find(planner), &request, &err);
    if (!plan)
        return NAN;
    struct check_result result;
    bench_must(check_plan(plan, w, p, &result, &err), &err);
    daghet_invalid += result.total > 0;
    double makespan = plan_makespan(plan);
    *blocks = daghet_block_makespan(plan, w, p);
    check_result_free(&result);
    plan_free(plan);
    return makespan;
}

static void daghet_case(enum daghet_sort sort, const char *name, const struct workflow *w,
                        double factor, const char *budget, struct json_writer *out)
{
    double most = 0, bytes = 0, makespan[DAGHET_PLANNERS], mem_blocks, part_blocks, unused;
    const struct option_value by_blocks = {"measure", "blocks"}, limit = {"budget", budget};
    for (uint32_t t = 0; t < w->ntasks; t++)
        most = fmax(most, keep_task_bytes(w, t));
    for (uint32_t o = 0; o < w->nobjects; o++)
        bytes += w->size[o] / w->nobjects;
    struct platform *p = daghet_platform(w, factor * most, fmax(10 * bytes, 1));
    json_write_object(out);
    json_put_string(out, "workflow", name);
    json_put_number(out, "factor", factor);
    makespan[0] = daghet_plan("daghetmem", NULL, w, p, &mem_blocks);
    for (int i = 1; i < DAGHET_PLANNERS; i++) {
        bool searches = strcmp(daghet_planners[i], "auto") == 0;
        makespan[i] = daghet_plan(daghet_planners[i], searches ? &limit : NULL, w, p, &unused);
    }
    daghet_plan("daghetpart", &by_blocks, w, p, &part_blocks);
    for (int i = 0; i < DAGHET_PLANNERS; i++)
        json_put_number(out, daghet_planners[i], makespan[i]);
    json_put_number(out, "blocks_mem", mem_blocks);
    json_put_number(out, "blocks_part", part_blocks);
    json_write_end_object(out);
    struct daghet_means *means = &daghet_means[sort];
    daghet_add(&means->blocks, mem_blocks, part_blocks);
    daghet_add(&means->tasks, makespan[0], makespan[1]);
    for (int i = 0; i < DAGHET_PLANNERS; i++)
        daghet_add(&means->ours[i], makespan[i], makespan[1]);
    daghet_longer +=
        makespan[1] > makespan[0] * (1 + 1e-9) || part_blocks > mem_blocks * (1 + 1e-9);
    printf("%-40.40s %6u %5.2f %10.2f %10.2f %12.3f %12.3f\n", name, w->ntasks, factor,
           mem_blocks / part_blocks, makespan[0] / makespan[1], makespan[2] / makespan[1],
           makespan[3] / makespan[1]);
    fflush(stdout);
    platform_free(p);
}

static void daghet_graph(enum daghet_sort sort, const char *name, struct workflow *w,
                         const char *budget, struct json_writer *out)
{
    for (size_t f = 0; f < sizeof daghet_factors / sizeof *daghet_factors; f++)
        daghet_case(sort, name, w, daghet_factors[f], budget, out);
    workflow_free(w);
}

static void daghet_layered(uint32_t n, const char *budget, struct json_writer *out)
{
    char count[16], name[32];
    snprintf(count, sizeof count, "%u", n);
    snprintf(name, sizeof name, "layered-%u", n);
    struct option_value values[] = {
        {"n", count}, {"density", "0.1"}, {"parents", "4"}, {"memory", "50"}};
    struct error err = {0};
    struct workflow *w = generator_workflow(generator_find("layered"), values, 4, 1, &err);
    bench_must(w, &err);
    daghet_graph(DAGHET_LAYERED, name, w, budget, out);
}

/* ---- the shapes that WfGen grows ---- */

/* `first` tasks, all of which each branch reads; branches of `length` tasks one after the other, `together` of which end in one
 * joining task (0: all); then `last` tasks one after the other, the first of which reads all joins. */
struct daghet_family {
    const char *name;
    uint32_t first, length, together, last;
};
static const struct daghet_family daghet_families[] = {
    {"blast", 1, 1, 0, 1},      {"bwa", 2, 1, 0, 1},   {"epigenomics", 1, 4, 0, 2},
    {"seismology", 0, 1, 0, 0}, {"soykb", 0, 6, 4, 3}, {"1000genome", 1, 2, 10, 0},
};

struct daghet_drawing {
    struct builder *b;
    struct rng rng;
    uint32_t n;
    double work[16], memory[16], file[16]; /* means by kind of task */
};

/* A task of a kind: around the kind's means. */
static uint32_t daghet_draw(struct daghet_drawing *d, uint32_t kind)
{
    char name[24];
    int length = snprintf(name, sizeof name, "k%u_%u", kind, d->n++);
    uint32_t task = builder_task(d->b, name, (size_t)length, 0);
    builder_work(d->b, task, d->work[kind] * rng_uniform(&d->rng, 0.5, 1.5), 0);
    builder_memory(d->b, task, d->memory[kind] * rng_uniform(&d->rng, 0.5, 1.5), 0);
    return task;
}

static void daghet_link(struct daghet_drawing *d, uint32_t from, uint32_t to, uint32_t kind)
{
    builder_data_edge(d->b, from, to, d->file[kind] * rng_uniform(&d->rng, 0.5, 1.5), 0);
}

static struct workflow *daghet_grow(const struct daghet_family *f, uint32_t tasks)
{
    enum { JOIN = 12, LAST = 13 };
    struct daghet_drawing d = {.b = builder_new("<bench>", f->name)};
    uint32_t first[2], join = NONE, branches = (tasks - f->first - f->last - 1) / f->length;
    uint32_t *joins = mem_new(uint32_t, branches + 1), njoins = 0;
    if (f->together)
        branches = branches * f->length * f->together / (f->length * f->together + 1);
    rng_seed_stream(&d.rng, 5, tasks);
    for (uint32_t kind = 0; kind < 16; kind++) {
        d.work[kind] = exp(rng_uniform(&d.rng, 0, log(100)));
        d.memory[kind] = exp(rng_uniform(&d.rng, 0, log(100)));
        d.file[kind] = exp(rng_uniform(&d.rng, 0, log(30)));
    }
    for (uint32_t i = 0; i < f->first; i++)
        first[i] = daghet_draw(&d, i);
    for (uint32_t i = 0; i < branches; i++) {
        uint32_t task = NONE;
        for (uint32_t k = 0; k < f->length; k++) {
            uint32_t next = daghet_draw(&d, 2 + k);
            for (uint32_t j = 0; j < f->first && k == 0; j++)
                daghet_link(&d, first[j], next, j);
            if (k)
                daghet_link(&d, task, next, 1 + k);
            task = next;
        }
        if (i == 0 || (f->together && i % f->together == 0))
            joins[njoins++] = join = daghet_draw(&d, JOIN);
        daghet_link(&d, task, join, 1 + f->length);
    }
    uint32_t before = NONE;
    for (uint32_t i = 0; i < f->last; i++) {
        uint32_t task = daghet_draw(&d, LAST);
        for (uint32_t j = 0; i == 0 && j < njoins; j++)
            daghet_link(&d, joins[j], task, JOIN);
        if (i)
            daghet_link(&d, before, task, LAST);
        before = task;
    }
    free(joins);
    struct error err = {0};
    struct workflow *w = builder_finish(d.b, &err);
    bench_must(w, &err);
    return w;
}

static void daghet_grown(uint32_t tasks, const char *budget, struct json_writer *out)
{
    char name[48];
    for (size_t i = 0; i < sizeof daghet_families / sizeof *daghet_families; i++) {
        snprintf(name, sizeof name, "%s-%u", daghet_families[i].name, tasks);
        daghet_graph(DAGHET_FAMILIES, name, daghet_grow(&daghet_families[i], tasks), budget, out);
    }
}

static int daghet_is_json(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".json") == 0;
}

/* Those of the shared folder, if it is there. */
static void daghet_published(const char *budget, struct json_writer *out)
{
    const char *shared = getenv("WEFT_SHARED");
    char folder[4096];
    struct dirent **names;
    snprintf(folder, sizeof folder, "%s/data/wfformat",
             shared ? shared : WEFT_SOURCE_DIR "/../shared");
    int n = scandir(folder, &names, daghet_is_json, alphasort);
    if (n <= 0)
        printf("no shared data: generated graphs alone (WEFT_SHARED names another place)\n");
    for (int i = 0; i < n; i++) {
        char path[4096 + 300];
        struct error err = {0};
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        struct workflow *w = format_read_workflow(path, NULL, NULL, &err);
        bench_must(w, &err);
        daghet_graph(DAGHET_WFCOMMONS, names[i]->d_name, w, budget, out);
        free(names[i]);
    }
    if (n > 0)
        free(names);
}

/* The published factor is over traces and grown ones together. */
static void daghet_print_together(void)
{
    struct daghet_sum blocks = {0}, tasks = {0};
    for (int sort = DAGHET_WFCOMMONS; sort <= DAGHET_FAMILIES; sort++) {
        blocks.log += daghet_means[sort].blocks.log;
        blocks.n += daghet_means[sort].blocks.n;
        tasks.log += daghet_means[sort].tasks.log;
        tasks.n += daghet_means[sort].tasks.n;
    }
    printf("WfCommons and families together: %.2f by blocks (%u cases), %.2f by tasks (%u)\n",
           daghet_mean(&blocks), blocks.n, daghet_mean(&tasks), tasks.n);
}

static void daghet_print_means(void)
{
    for (int sort = 0; sort < DAGHET_SORTS; sort++) {
        const struct daghet_means *m = &daghet_means[sort];
        printf("%-9s DagHetMem over DagHetPart %.2f by blocks (%u cases; published 2.44), %.2f by "
               "tasks (%u); of DagHetPart's makespan by tasks: heft-mem %.3f, auto %.3f\n",
               daghet_sorts[sort], daghet_mean(&m->blocks), m->blocks.n, daghet_mean(&m->tasks),
               m->tasks.n, daghet_mean(&m->ours[2]), daghet_mean(&m->ours[3]));
    }
    daghet_print_together();
    printf("not valid: %u; DagHetPart longer than DagHetMem: %u\n", daghet_invalid, daghet_longer);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {200, 1000, 4000, 10000, 30000};
    const char *json = NULL, *budget = "0.5s", *only = "";
    uint32_t least = 0, most = 30000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0)
            json = argv[i + 1];
        else if (strcmp(argv[i], "--budget") == 0)
            budget = argv[i + 1];
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
        else if (strcmp(argv[i], "--least") == 0)
            least = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--most") == 0)
            most = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    }
    struct bench_report report = {.file = json};
    struct json_writer *out = bench_report_begin(&report, NULL);
    json_write_key(out, "daghet");
    json_write_array(out);
    printf("%-40s %6s %5s %10s %10s %12s %12s\n", "DagHetMem over DagHetPart", "tasks", "times",
           "blocks", "tasks", "heft-mem to", "auto to it");
    if (!*only || strcmp(only, daghet_sorts[DAGHET_WFCOMMONS]) == 0)
        daghet_published(budget, out);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= most; i++)
        if (sizes[i] >= least && (!*only || strcmp(only, daghet_sorts[DAGHET_FAMILIES]) == 0))
            daghet_grown(sizes[i], budget, out);
    if (!*only || strcmp(only, daghet_sorts[DAGHET_LAYERED]) == 0)
        daghet_layered(1000, budget, out);
    json_write_end_array(out);
    daghet_print_means();
    int status = bench_report_end(&report);
    return daghet_invalid || daghet_longer ? 1 : status;
}
