/* Reading and planning speed: WfFormat against jansson's own parse of the same text in the same
 * run, and HEFT over four decades. bench_core [--json FILE] */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "formats/format.h"
#include "model/builder.h"
#include "plan/planner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A random graph of fixed degree: every task reads from `degree` of the 1,000 before it. */
static struct workflow *random_graph(uint32_t n, uint32_t degree)
{
    struct rng r;
    rng_seed(&r, 1);
    struct builder *b = builder_new("<bench>", "bench");
    char name[24];
    for (uint32_t t = 0; t < n; t++) {
        uint32_t task =
            builder_task(b, name, (size_t)snprintf(name, sizeof name, "task_%07u", t), 0);
        builder_work(b, task, rng_uniform(&r, 1, 100), 0);
    }
    for (uint32_t t = 1; t < n; t++)
        for (uint32_t k = 0; k < degree; k++) {
            uint32_t window = t < 1000 ? t : 1000;
            builder_data_edge(b, t - 1 - (uint32_t)rng_below(&r, window), t,
                              rng_uniform(&r, 1, 100), 0);
        }
    return builder_finish(b, NULL);
}

static struct platform *core_nodes(uint32_t n)
{
    struct platform_builder *b = platform_builder_new("<bench>");
    platform_builder_network(b, 1, 0, NAN, 0);
    char name[16];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node =
            platform_builder_node(b, name, (size_t)snprintf(name, sizeof name, "n%u", i), 0);
        platform_builder_speed(b, node, 1 + i % 4, 0);
    }
    return platform_builder_finish(b, NULL);
}

extern const struct format format_wfformat;
double peer_jansson_seconds(const char *text, size_t length); /* peer_jansson.c */

static void bench_reading(struct json_writer *out)
{
    struct workflow *w = random_graph(100000, 3);
    struct strbuf text = {0}, dropped = {0};
    struct error err = {0};
    format_wfformat.write_workflow(w, &text, &dropped, &err);
    workflow_free(w);
    strbuf_free(&dropped);
    double ours[5], theirs[5], megabytes = (double)text.n / 1e6;
    for (int i = 0; i < 5; i++) {
        char *copy = mem_copy_bytes(text.at, text.n);
        struct format_source source = {.path = "bench.json", .text = copy, .length = text.n};
        double start = clock_seconds();
        w = format_wfformat.read_workflow(&source, &err);
        ours[i] = clock_seconds() - start;
        if (!w) {
            fprintf(stderr, "bench: %s\n", err.text);
            exit(1);
        }
        workflow_free(w);
        free(copy);
        theirs[i] = peer_jansson_seconds(text.at, text.n);
    }
    double a = bench_median(ours, 5), b = bench_median(theirs, 5);
    printf("reading WfFormat, 100,000 tasks, %.1f MB (medians of 5)\n", megabytes);
    printf("  weft, to a checked workflow   %7.1f MB/s\n", megabytes / a);
    printf("  jansson, to its tree only     %7.1f MB/s\n", megabytes / b);
    printf("  time of weft / jansson        %7.2f (asked: 100 MB/s, or at most 1.3)\n\n", a / b);
    json_write_key(out, "read_wfformat");
    json_write_object_inline(out);
    json_put_number(out, "megabytes", megabytes);
    json_put_number(out, "weft_mb_per_s", megabytes / a);
    json_put_number(out, "jansson_mb_per_s", megabytes / b);
    json_put_number(out, "time_ratio", a / b);
    json_write_end_object(out);
    strbuf_free(&text);
}

static void bench_heft(struct json_writer *out)
{
    struct platform *p = core_nodes(64);
    const struct planner *heft = planner_find("heft");
    printf("heft, 5 edges a task, 64 nodes, one core\n");
    printf("  %9s %10s %12s %16s %14s\n", "tasks", "seconds", "us a task", "us/(task log2 n)",
           "bytes a task");
    json_write_key(out, "heft");
    json_write_array(out);
    for (uint32_t n = 1000; n <= 1000000; n *= 10) {
        struct workflow *w = random_graph(n, 5);
        int rounds = n <= 10000 ? 5 : n <= 100000 ? 3 : 1;
        double times[5];
        for (int i = 0; i < rounds; i++) {
            struct error err = {0};
            double start = clock_seconds();
            struct plan *plan = planner_run(
                heft, &(struct plan_request){.workflow = w, .platform = p, .seed = 1}, &err);
            times[i] = clock_seconds() - start;
            if (!plan) {
                fprintf(stderr, "bench: %s\n", err.text);
                exit(1);
            }
            plan_free(plan);
        }
        double t = bench_median(times, rounds);
        double bytes = ((double)workflow_bytes(w) - 40.0 * w->nedges) / n;
        printf("  %9u %10.4f %12.3f %16.4f %14.1f\n", n, t, 1e6 * t / n, 1e6 * t / n / log2(n),
               bytes);
        json_write_object_inline(out);
        json_put_integer(out, "tasks", n);
        json_put_integer(out, "edges", w->nedges);
        json_put_number(out, "seconds", t);
        json_put_number(out, "us_per_task", 1e6 * t / n);
        json_put_number(out, "model_bytes_per_task_after_40_per_edge", bytes);
        json_write_end_object(out);
        workflow_free(w);
    }
    json_write_end_array(out);
    printf("  (asked: 100,000 tasks in at most 1 s; growth no faster than n log n;\n"
           "   bytes a task after 40 an edge: at most 200)\n\n");
    platform_free(p);
}

int main(int argc, char **argv)
{
    struct bench_report report = {.file = argc < 3 ? NULL : argv[2]};
    struct json_writer *out = bench_report_begin(&report, NULL);
    bench_reading(out);
    bench_heft(out);
    return bench_report_end(&report);
}
