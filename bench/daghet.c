/* DagHetPart against DagHetMem (Kulagina, Meyerhenke, Benoit 2024: 2.44 times shorter), by two measures, and ours beside them.
 *   bench_daghet [--json FILE] [--budget TEXT]        of auto (default 0.5s)
 *
 *     blocks   the paper's: what a node has is a block; it begins when all blocks before it have ended and sent
 *     tasks    weft's: each task begins when its own inputs are there
 *
 * DagHetMem fills node after node in one order, so that its blocks are a chain and nothing of it runs side by side by the first
 * measure; by the second a good part does. 36 nodes of six kinds; memories are scaled so that the largest holds 1, 2 or 20 times
 * what the most demanding task needs. WfCommons graphs of the shared folder, and layered graphs of 1,000 to 18,000 tasks.
 * The exit status is 1 when a plan is not valid. */
#include "bench/bench.h"
#include "base/mem.h"
#include "formats/format.h"
#include "generate/generate.h"
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
static struct daghet_sum daghet_blocks, daghet_tasks, daghet_ours[DAGHET_PLANNERS];
static uint32_t daghet_invalid;

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

/* NAN: no plan. */
static double daghet_plan(int which, const struct workflow *w, const struct platform *p,
                          const char *budget, double *blocks)
{
    struct option_value value = {"budget", budget};
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct error err = {0};
    if (strcmp(daghet_planners[which], "auto") == 0) {
        request.options = &value;
        request.noptions = 1;
    }
    *blocks = NAN;
    struct plan *plan = planner_run(planner_find(daghet_planners[which]), &request, &err);
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

static void daghet_case(const char *name, const struct workflow *w, double factor,
                        const char *budget, struct json_writer *out)
{
    double most = 0, bytes = 0, makespan[DAGHET_PLANNERS], blocks[DAGHET_PLANNERS];
    for (uint32_t t = 0; t < w->ntasks; t++)
        most = fmax(most, keep_task_bytes(w, t));
    for (uint32_t o = 0; o < w->nobjects; o++)
        bytes += w->size[o] / w->nobjects;
    struct platform *p = daghet_platform(w, factor * most, fmax(10 * bytes, 1));
    json_write_object(out);
    json_put_string(out, "workflow", name);
    json_put_number(out, "factor", factor);
    for (int i = 0; i < DAGHET_PLANNERS; i++) {
        makespan[i] = daghet_plan(i, w, p, budget, &blocks[i]);
        json_put_number(out, daghet_planners[i], makespan[i]);
    }
    json_put_number(out, "blocks_mem", blocks[0]);
    json_put_number(out, "blocks_part", blocks[1]);
    json_write_end_object(out);
    daghet_add(&daghet_blocks, blocks[0], blocks[1]);
    daghet_add(&daghet_tasks, makespan[0], makespan[1]);
    for (int i = 0; i < DAGHET_PLANNERS; i++)
        daghet_add(&daghet_ours[i], makespan[i], makespan[1]);
    printf("%-40.40s %6u %5.2f %10.2f %10.2f %12.3f %12.3f\n", name, w->ntasks, factor,
           blocks[0] / blocks[1], makespan[0] / makespan[1], makespan[2] / makespan[1],
           makespan[3] / makespan[1]);
    fflush(stdout);
    platform_free(p);
}

static void daghet_graph(const char *name, struct workflow *w, const char *budget,
                         struct json_writer *out)
{
    for (size_t f = 0; f < sizeof daghet_factors / sizeof *daghet_factors; f++)
        daghet_case(name, w, daghet_factors[f], budget, out);
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
    daghet_graph(name, w, budget, out);
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
        daghet_graph(names[i]->d_name, w, budget, out);
        free(names[i]);
    }
    if (n > 0)
        free(names);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {1000, 4000, 18000};
    const char *json = NULL, *budget = "0.5s";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--json") == 0)
            json = argv[i + 1];
        else if (strcmp(argv[i], "--budget") == 0)
            budget = argv[i + 1];
    }
    struct bench_report report = {.file = json};
    struct json_writer *out = bench_report_begin(&report, NULL);
    json_write_key(out, "daghet");
    json_write_array(out);
    printf("%-40s %6s %5s %10s %10s %12s %12s\n", "DagHetMem over DagHetPart", "tasks", "times",
           "blocks", "tasks", "heft-mem to", "auto to it");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        daghet_layered(sizes[i], budget, out);
    daghet_published(budget, out);
    json_write_end_array(out);
    printf("geometric means: DagHetMem over DagHetPart %.2f by blocks (%u cases; published 2.44), "
           "%.2f by tasks (%u cases)\n",
           daghet_mean(&daghet_blocks), daghet_blocks.n, daghet_mean(&daghet_tasks),
           daghet_tasks.n);
    printf("of DagHetPart's makespan by tasks: heft-mem %.3f, auto %.3f; %u plan%s not valid\n",
           daghet_mean(&daghet_ours[2]), daghet_mean(&daghet_ours[3]), daghet_invalid,
           daghet_invalid == 1 ? " is" : "s are");
    int status = bench_report_end(&report);
    return daghet_invalid ? 1 : status;
}
