/* Clusters of schedulers in virtual time: how good the schedule is at 200 cores, and what
 * simulating a task costs up to 128,000 cores and 128 million tasks.
 *
 *     bench_cluster [--json FILE] [--quick] [--full]
 *
 * The first table is virtual time and the same on every machine. The second is processor seconds of
 * one core: 1.28 million tasks of each DAG; with --full 12.8 and 128 million as well (15 GB).
 * --quick stops at 128,000 tasks. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/json.h"
#include "sim/bound.h"
#include "sim/schedulers.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static const enum workload_kind dags[] = {WORKLOAD_BOT, WORKLOAD_PIPELINE, WORKLOAD_FAN_OUT,
                                          WORKLOAD_FAN_IN};

static void simulate_paper(struct workload *d, uint32_t nodes, struct schedulers_result *r)
{
    struct error err = {0};
    struct schedulers_config c = {.dag = d, .nodes = nodes, .cores = 2, .seed = 1};
    if (!workload_init(d, &err) || !schedulers_run(&c, r, &err)) {
        fprintf(stderr, "bench_cluster: %s\n", err.text);
        exit(1);
    }
}

static void measure_quality(struct json_writer *j)
{
    printf("200 cores, FLDS         tasks    makespan      bound   of bound  efficiency\n");
    json_write_key(j, "quality");
    json_write_array(j);
    for (size_t i = 0; i <= sizeof dags / sizeof *dags; i++) {
        struct workload d;
        struct schedulers_result r;
        struct bound_result b;
        struct error err = {0};
        workload_benchmark(&d, i < 4 ? dags[i] : WORKLOAD_ALL_PAIRS, 200);
        simulate_paper(&d, 100, &r);
        bound_compute(
            &(struct bound_config){.dag = &d, .cores = 200, .bandwidth = 125e6, .task_bytes = 1024},
            &b, &err);
        printf("%-18s %10u %9.3f s %8.3f s    %5.1f %%     %5.1f %%\n", workload_name(d.kind),
               d.ntasks, r.makespan, b.timespan, 100 * b.timespan / r.makespan, 100 * r.efficiency);
        json_write_object_inline(j);
        json_put_string(j, "dag", workload_name(d.kind));
        json_put_number(j, "makespan", r.makespan);
        json_put_number(j, "of_bound", b.timespan / r.makespan);
        json_put_number(j, "efficiency", r.efficiency);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void measure_cost(struct json_writer *j, const uint32_t *nodes, size_t n)
{
    printf("\ncost                  tasks  schedulers   events    cpu    wall   us/task  memory of "
           "the run  efficiency\n");
    json_write_key(j, "cost");
    json_write_array(j);
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < sizeof dags / sizeof *dags; i++) {
            struct workload d;
            struct schedulers_result r;
            workload_benchmark(&d, dags[i], (uint64_t)nodes[s] * 2);
            double began = clock_seconds(), cpu = bench_cpu_seconds();
            simulate_paper(&d, nodes[s], &r);
            cpu = bench_cpu_seconds() - cpu;
            double wall = clock_seconds() - began;
            printf("%-16s %10u  %10u  %6.1f M %6.1f %7.1f %8.2f  %12.2f GB  %9.1f %%\n",
                   workload_name(d.kind), d.ntasks, nodes[s], r.events / 1e6, cpu, wall,
                   cpu / d.ntasks * 1e6, r.memory / 1e9, 100 * r.efficiency);
            fflush(stdout);
            json_write_object_inline(j);
            json_put_string(j, "dag", workload_name(d.kind));
            json_put_integer(j, "tasks", d.ntasks);
            json_put_integer(j, "schedulers", nodes[s]);
            json_put_number(j, "cpu_seconds", cpu);
            json_put_number(j, "wall_seconds", wall);
            json_put_number(j, "memory", (double)r.memory);
            json_write_end_object(j);
        }
    json_write_end_array(j);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("most memory of the program: %.2f GB\n", usage.ru_maxrss / 1e6);
}

int main(int argc, char **argv)
{
    static const uint32_t nodes[] = {64, 640, 6400, 64000};
    const char *json = NULL;
    size_t first = 1, n = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            first = 0;
        else if (strcmp(argv[i], "--full") == 0)
            n = 3;
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json = argv[++i];
    }
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, NULL);
    measure_quality(j);
    measure_cost(j, nodes + first, n);
    return bench_report_end(&report);
}
