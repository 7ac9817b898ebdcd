/* The simulator's speed: plan replay from 10^4 to 10^7 tasks, the three network models, and SimGrid
 * on the same plan in the same run.
 *
 *     bench_sim [--json FILE] [--quick] [--ends N] [--witness PROGRAM]
 *
 * --quick leaves out 10^7 tasks (5 GB while the graph is built); --ends N measures 10^4 and N tasks under
 * `free` alone, which is all that the growth of the cost needs. The witness is
 * tests/sim/witness/simgrid_replay; without it the comparison is left out. Cost per event is CPU time,
 * which other work on the machine disturbs least.
 *
 * A first run touches memory that the process did not have: the system clears each page, and a virtual
 * machine gets it from its host. A later one finds it there. Small runs get theirs from the heap that the
 * run before left, so that the sizes are alike only if large ones may too (keep_memory()): both are
 * told, first against first and later against later. Of the later runs the least and the median are told: the
 * least of forty runs of 4 ms falls into a moment when the neighbours are quiet, which a run of 6 s never does. */
#include "bench/bench.h"
#include "../tests/sim/witness/describe.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/rng.h"
#include "model/builder.h"
#include "sim/replay.h"
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef WEFT_WITNESS
#define WEFT_WITNESS ""
#endif

enum { NODES = 64, DEGREE = 2 };

/* Task i makes one object and reads DEGREE objects of the 1,000 tasks before it. */
static struct workflow *make_workflow(uint32_t tasks)
{
    struct builder *b = builder_new("<bench>", "bench");
    builder_expect(b, tasks, (size_t)tasks * DEGREE);
    struct rng r;
    rng_seed(&r, tasks);
    for (uint32_t i = 0; i < tasks; i++) {
        char name[24];
        int len = snprintf(name, sizeof name, "t%u", i);
        uint32_t t = builder_task(b, name, (size_t)len, 0);
        builder_work(b, t, 0.5 + rng_unit(&r), 0);
        builder_memory(b, t, 1e6, 0);
        name[0] = 'o';
        uint32_t o = builder_object(b, name, (size_t)len);
        builder_size(b, o, 1e6 * rng_unit(&r), 0);
        builder_produces(b, t, o, 0);
    }
    for (uint32_t i = 1; i < tasks; i++)
        for (int k = 0; k < DEGREE; k++) {
            uint32_t window = i < 1000 ? i : 1000;
            builder_consumes(b, i, i - 1 - (uint32_t)rng_below(&r, window), 0);
        }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w) {
        fprintf(stderr, "bench_sim: %s\n", err.text);
        exit(1);
    }
    return w;
}

static struct platform *make_platform(void)
{
    struct platform_builder *b = platform_builder_new("<bench>");
    platform_builder_network(b, 1e8, 1e-4, NAN, 0);
    for (uint32_t i = 0; i < NODES; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "n%u", i);
        platform_builder_node(b, name, (size_t)len, 0);
        platform_builder_speed(b, i, 1 + i % 4, 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

/* What a list planner leaves behind, without its cost: the earlier-free of two random nodes, times
 * without contention, and every transfer stated. */
static struct plan *make_plan(const struct workflow *w, const struct platform *p)
{
    struct error err = {0};
    struct costs *costs = costs_new(w, p, &err);
    struct plan *plan = plan_new(PLAN_STATIC);
    array_reserve(&plan->placements, w->ntasks);
    array_reserve(&plan->transfers, w->nedges);
    uint32_t *node = malloc(w->ntasks * sizeof *node);
    double *finish = malloc(w->ntasks * sizeof *finish);
    double core_free[NODES] = {0};
    uint64_t *sent = calloc(w->nobjects, sizeof *sent); /* bit per node: NODES is 64 */
    struct rng r;
    rng_seed(&r, 3);
    for (uint32_t k = 0; k < w->ntasks; k++) {
        uint32_t t = w->topo[k], a = (uint32_t)rng_below(&r, NODES),
                 b = (uint32_t)rng_below(&r, NODES);
        node[t] = core_free[a] <= core_free[b] ? a : b;
        double start = core_free[node[t]];
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t from = w->pred_task[e], object = w->pred_object[e];
            double time = platform_transfer(p, node[from], node[t], w->size[object]);
            start = fmax(start, finish[from] + time);
            if (node[from] != node[t] && !(sent[object] >> node[t] & 1)) {
                sent[object] |= (uint64_t)1 << node[t];
                array_push(&plan->transfers, (struct transfer){object, node[from], node[t],
                                                               finish[from], finish[from] + time});
            }
        }
        finish[t] = core_free[node[t]] = start + costs_time(costs, t, node[t]);
        array_push(&plan->placements, (struct placement){t, 0, node[t], 0, start, finish[t]});
    }
    array_fit(&plan->transfers);
    free(node);
    free(finish);
    free(sent);
    costs_free(costs);
    plan_sort(plan);
    return plan;
}

/* ---- memory: the peak of the resident set since the last reset, in MB ---- */

static void reset_peak(void)
{
    malloc_trim(0);
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

static double peak_megabytes(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char row[256];
    double kilobytes = NAN;
    while (f && fgets(row, sizeof row, f))
        if (strncmp(row, "VmHWM:", 6) == 0)
            kilobytes = strtod(row + 6, NULL);
    if (f)
        fclose(f);
    return kilobytes / 1000 * 1.024;
}

/* Seconds that the system worked for this process. */
static double system_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_stime.tv_sec + 1e-6 * (double)u.ru_stime.tv_usec;
}

/* What is freed stays with the process, until reset_peak() gives it back. */
static void keep_memory(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

enum { MOST_RUNS = 50 };

struct sim_figures {
    double seconds, cpu; /* best of the runs: by the clock, and of this thread */
    double median;       /* cpu of the runs in memory that was there */
    double system;       /* of the run with the best cpu */
    double first;        /* cpu of the best run in new memory */
    double megabytes, makespan;
    uint64_t events;
};

static struct sim_figures sim_measure(const struct workflow *w, const struct platform *p,
                                      const struct plan *plan, const char *network, int times)
{
    struct sim_figures best = {.seconds = INFINITY, .cpu = INFINITY, .first = INFINITY};
    double later[MOST_RUNS];
    int nlater = 0;
    reset_peak();
    for (int i = 0; i < times; i++) {
        bool first = i < (times + 4) / 5;
        if (first)
            malloc_trim(0);
        struct replay_options o;
        replay_options_init(&o);
        o.network = network;
        o.ports = 4;
        struct replay_result r;
        struct error err = {0};
        double began = clock_seconds(), cpu = clock_cpu_seconds(), system = system_seconds();
        if (!replay_run(w, p, plan, &o, &r, &err)) {
            fprintf(stderr, "bench_sim: %s\n", err.text);
            exit(1);
        }
        double took = clock_seconds() - began;
        cpu = clock_cpu_seconds() - cpu;
        if (first)
            best.first = fmin(best.first, cpu);
        else
            later[nlater++] = cpu;
        if (cpu < best.cpu) {
            best.cpu = cpu;
            best.system = system_seconds() - system;
        }
        if (took < best.seconds)
            best.seconds = took;
        best.events = r.events;
        best.makespan = r.makespan;
        replay_result_free(&r);
    }
    best.median = nlater ? bench_median(later, nlater) : best.first;
    best.megabytes = peak_megabytes();
    return best;
}

static void sim_put_row(struct json_writer *j, const struct workflow *w, const char *network,
                        struct sim_figures f)
{
    printf("%10u %10u  %-6s %12llu %9.3f %12.0f %9.1f %9.1f %9.1f %9.1f %8.0f\n", w->ntasks,
           w->nedges, network, (unsigned long long)f.events, f.seconds,
           (double)f.events / f.seconds, 1e9 * f.cpu / (double)f.events,
           1e9 * f.median / (double)f.events, 1e9 * f.system / (double)f.events,
           1e9 * f.first / (double)f.events, f.megabytes);
    fflush(stdout);
    json_write_object_inline(j);
    json_put_integer(j, "tasks", w->ntasks);
    json_put_integer(j, "edges", w->nedges);
    json_put_string(j, "network", network);
    json_put_integer(j, "events", (int64_t)f.events);
    json_put_number(j, "seconds", f.seconds);
    json_put_number(j, "cpu_seconds", f.cpu);
    json_put_number(j, "cpu_ns_per_event", 1e9 * f.cpu / (double)f.events);
    json_put_number(j, "system_ns_per_event", 1e9 * f.system / (double)f.events);
    json_put_number(j, "median_cpu_ns_per_event", 1e9 * f.median / (double)f.events);
    json_put_number(j, "first_cpu_ns_per_event", 1e9 * f.first / (double)f.events);
    json_put_number(j, "megabytes", f.megabytes);
    json_write_end_object(j);
}

/* ---- SimGrid on the same plan ---- */

static bool run_witness(const char *program, const struct workflow *w, const struct platform *p,
                        const struct plan *plan, const char *network, struct sim_figures *out)
{
    char path[] = P_tmpdir "/weft-bench-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return false;
    bool good = describe_plan(f, w, p, plan, network);
    good = fclose(f) == 0 && good;
    char command[4096];
    snprintf(command, sizeof command, "%s %s", program, path);
    FILE *answer = good ? popen(command, "r") : NULL;
    unsigned long long activities = 0;
    good = answer && fscanf(answer, "makespan %lf activities %llu seconds %lf", &out->makespan,
                            &activities, &out->seconds) == 3;
    out->events = activities;
    if (answer)
        pclose(answer);
    unlink(path);
    return good;
}

static void beside_simgrid(struct json_writer *j, const char *program, const struct platform *p)
{
    json_write_key(j, "simgrid");
    if (!*program || access(program, X_OK) != 0) {
        printf("\nSimGrid: no witness program (built with libsimgrid-dev), comparison left out\n");
        json_write_null(j);
        return;
    }
    struct workflow *w = make_workflow(5000);
    struct plan *plan = make_plan(w, p);
    static const char *const networks[] = {"free", "fair"};
    printf("\nbeside SimGrid, the same plan of %u tasks in one run\n", w->ntasks);
    printf("%-8s %14s %14s %8s %12s\n", "network", "weft events/s", "SimGrid ev./s", "ratio",
           "makespans");
    json_write_array(j);
    for (int i = 0; i < 2; i++) {
        struct sim_figures ours = sim_measure(w, p, plan, networks[i], 3), theirs = {0};
        if (!run_witness(program, w, p, plan, networks[i], &theirs)) {
            printf("%-8s failed\n", networks[i]);
            continue;
        }
        double a = (double)ours.events / ours.seconds, b = (double)theirs.events / theirs.seconds;
        printf("%-8s %14.0f %14.0f %8.1f %12.1e\n", networks[i], a, b, a / b,
               fabs(ours.makespan - theirs.makespan) / theirs.makespan);
        json_write_object_inline(j);
        json_put_string(j, "network", networks[i]);
        json_put_integer(j, "tasks", w->ntasks);
        json_put_number(j, "weft_events_per_second", a);
        json_put_number(j, "simgrid_events_per_second", b);
        json_put_number(j, "ratio", a / b);
        json_put_number(j, "makespan_difference",
                        fabs(ours.makespan - theirs.makespan) / theirs.makespan);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    plan_free(plan);
    workflow_free(w);
}

int main(int argc, char **argv)
{
    const char *json = NULL, *program = WEFT_WITNESS;
    uint32_t largest = 10000000, ends = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json = argv[++i];
        else if (strcmp(argv[i], "--witness") == 0 && i + 1 < argc)
            program = argv[++i];
        else if (strcmp(argv[i], "--quick") == 0)
            largest = 1000000;
        else if (strcmp(argv[i], "--ends") == 0 && i + 1 < argc)
            largest = ends = (uint32_t)strtoul(argv[++i], NULL, 10);
        else {
            fprintf(stderr, "usage: bench_sim [--json FILE] [--quick] [--ends N] [--witness "
                            "PROGRAM]\n");
            return 2;
        }
    }
    keep_memory();
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-sim/1");
    struct platform *p = make_platform();
    printf("plan replay on %d nodes, %d objects read by each task; memory: everything resident\n",
           NODES, DEGREE);
    printf("%10s %10s  %-6s %12s %9s %12s %9s %9s %9s %9s %8s\n", "tasks", "edges", "model",
           "events", "seconds", "events/s", "cpu ns/ev", "median", "of system", "first", "MB");
    json_write_key(j, "replay");
    json_write_array(j);
    struct sim_figures small = {0}, large = {0};
    double million = 0, million_mb = 0;
    for (uint32_t n = 10000; n <= largest; n = ends && n < ends ? ends : n * 10) {
        struct workflow *w = make_workflow(n);
        struct plan *plan = make_plan(w, p);
        struct sim_figures f = sim_measure(w, p, plan, "free",
                                           n <= 10000    ? MOST_RUNS
                                           : n <= 100000 ? 5
                                                         : 3);
        sim_put_row(j, w, "free", f);
        large = f;
        if (n == 10000)
            small = f;
        if (n == 1000000) {
            million = f.seconds;
            million_mb = f.megabytes;
        }
        if (n <= 1000000 && !ends) {
            sim_put_row(j, w, "kport", sim_measure(w, p, plan, "kport", 1));
            if (n <= 100000)
                sim_put_row(j, w, "fair", sim_measure(w, p, plan, "fair", 1));
        }
        plan_free(plan);
        workflow_free(w);
    }
    json_write_end_array(j);
    if (million > 0)
        printf("\n1,000,000 tasks: %.2f s (at most 2), %.0f MB (at most 400)\n", million,
               million_mb);
    double scale = (double)small.events / (double)large.events;
    double median = scale * large.median / small.median, least = scale * large.cpu / small.cpu,
           first = scale * large.first / small.first;
    printf("cost per event, largest / 10,000 tasks: median %.2f (at most 1.5), least %.2f, first "
           "runs %.2f\n",
           median, least, first);
    json_put_number(j, "million_seconds", million);
    json_put_number(j, "million_megabytes", million_mb);
    json_put_number(j, "cost_growth", median);
    json_put_number(j, "cost_growth_of_least", least);
    json_put_number(j, "cost_growth_of_first", first);
    if (!ends)
        beside_simgrid(j, program, p);
    platform_free(p);
    return bench_report_end(&report);
}
