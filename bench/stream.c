/* Streams: how long mos and stream take, how good they are, and what a replay reaches of the
 * promise.
 *
 *   bench_stream [--json FILE] [--large] */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/file.h"
#include "generate/generate.h"
#include "plan/planner.h"
#include "sim/stream.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const fractions[] = {"Tmax", "0.75Tmax", "0.5Tmax", "0.25Tmax", "0"};
enum { FRACTIONS = 5 };

static struct workflow *stream_workflow(uint32_t n, const char *degree, const char *ccr,
                                        uint64_t seed)
{
    char text[16];
    struct error err = {0};
    snprintf(text, sizeof text, "%u", n);
    struct option_value values[] = {
        {"n", text}, {"ccr", ccr}, {"work-min", "0"}, {"work-max", "60"}, {"mean-degree", degree}};
    return generator_workflow(generator_find("tgff"), values, 5, seed, &err);
}

static struct platform *stream_nodes(uint32_t count, uint32_t ports)
{
    struct platform_builder *b = platform_builder_new("<bench>");
    struct error err = {0};
    char name[16];
    platform_builder_network(b, 1, 0, ports, 0);
    for (uint32_t i = 0; i < count; i++)
        platform_builder_node(b, name, (size_t)snprintf(name, sizeof name, "p%u", i), 0);
    return platform_builder_finish(b, &err);
}

struct stream_figures {
    uint32_t runs, replayed;
    double seconds, most;
    /* what replays reach of the promise: at the plan's pace, by its schedule; and flooded, which no plan promises anything of:
     * the source runs ahead and takes ports that older items wait for */
    struct {
        double ratio, least;
    } fed[2];
};

static void stream_measure_replay(struct stream_figures *f, const struct workflow *w,
                                  const struct platform *p, const struct plan *plan)
{
    static const enum stream_feed feeds[] = {FEED_PERIOD, FEED_FLOOD};
    double ratio[2] = {NAN, NAN};
    for (int k = 0; k < 2; k++) {
        struct stream_options o;
        struct stream_result r;
        struct error err = {0};
        stream_options_init(&o);
        o.items = 1000;
        o.fed = feeds[k];
        if (stream_run(w, p, plan, &o, &r, &err))
            ratio[k] = r.throughput / plan_objective(plan, "throughput");
        stream_result_free(&r);
    }
    if (isnan(ratio[0]) || isnan(ratio[1]))
        return;
    f->replayed++;
    for (int k = 0; k < 2; k++) {
        f->fed[k].ratio += ratio[k];
        f->fed[k].least = fmin(f->fed[k].least, ratio[k]);
    }
}

static void stream_measure_planner(struct stream_figures *f, const char *planner,
                                   const struct workflow *w, const struct platform *p,
                                   const char *throughput, double *latency)
{
    struct option_value options[] = {{"throughput", throughput}};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = options, .noptions = 1, .seed = 1};
    struct error err = {0};
    double start = bench_cpu_seconds();
    struct plan *plan = planner_run(planner_find(planner), &request, &err);
    double seconds = bench_cpu_seconds() - start;
    if (!plan) {
        fprintf(stderr, "%s: %s\n", planner, err.text);
        return;
    }
    f->runs++;
    f->seconds += seconds;
    f->most = fmax(f->most, seconds);
    *latency = plan_objective(plan, "latency");
    if (w->ntasks <= 100)
        stream_measure_replay(f, w, p, plan);
    plan_free(plan);
}

/* `dense`: 4 edges a task instead of 1.5. */
static void stream_measure(struct json_writer *j, uint32_t n, uint32_t processors, uint32_t graphs,
                           bool dense, bool both)
{
    static const char *const ccr[] = {"0.1", "1", "10"};
    struct stream_figures f[2] = {{.fed = {{0, INFINITY}, {0, INFINITY}}},
                                  {.fed = {{0, INFINITY}, {0, INFINITY}}}};
    double better = 0;
    struct platform *p = stream_nodes(processors, 4);
    for (uint32_t i = 0; i < graphs; i++) {
        struct workflow *w =
            stream_workflow(n, dense ? "4" : "0", ccr[graphs == 1 ? 1 : i % 3], i + 1);
        for (int k = 0; k < FRACTIONS; k++) {
            double latency[2] = {1, 1};
            stream_measure_planner(&f[0], "mos", w, p, fractions[k], &latency[0]);
            if (both)
                stream_measure_planner(&f[1], "stream", w, p, fractions[k], &latency[1]);
            better += latency[1] / latency[0];
        }
        workflow_free(w);
    }
    platform_free(p);
    for (int x = 0; x < (both ? 2 : 1); x++) {
        const char *name = x ? "stream" : "mos";
        printf("%5u tasks%s, %3u processors  %-7s mean %8.2f ms  most %8.2f ms", n,
               dense ? ", dense" : "", processors, name, 1e3 * f[x].seconds / f[x].runs,
               1e3 * f[x].most);
        if (f[x].replayed)
            printf("  replay / promise: mean %.4f least %.4f, flooded %.4f %.4f",
                   f[x].fed[0].ratio / f[x].replayed, f[x].fed[0].least,
                   f[x].fed[1].ratio / f[x].replayed, f[x].fed[1].least);
        if (x)
            printf("  latency / mos %.4f", better / f[x].runs);
        printf("\n");
        char key[64];
        snprintf(key, sizeof key, "%s_%u_tasks%s_seconds", name, n, dense ? "_dense" : "");
        json_put_number(j, key, f[x].seconds / f[x].runs);
        snprintf(key, sizeof key, "%s_%u_tasks%s_most_seconds", name, n, dense ? "_dense" : "");
        json_put_number(j, key, f[x].most);
        if (f[x].replayed) {
            snprintf(key, sizeof key, "%s_%u_tasks%s_replay_least", name, n, dense ? "_dense" : "");
            json_put_number(j, key, f[x].fed[0].least);
            snprintf(key, sizeof key, "%s_%u_tasks%s_flooded_least", name, n,
                     dense ? "_dense" : "");
            json_put_number(j, key, f[x].fed[1].least);
        }
    }
}

int main(int argc, char **argv)
{
    const char *output = NULL;
    bool large = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            output = argv[++i];
        else if (strcmp(argv[i], "--large") == 0)
            large = true;
    }
    struct bench_report report = {.file = output};
    struct json_writer *j = bench_report_begin(&report, NULL);
    stream_measure(j, 10, 8, 6, false, true);
    stream_measure(j, 50, 32, 6, false, true);
    stream_measure(j, 50, 32, 6, true, false);
    stream_measure(j, 200, 64, 3, false, false);
    if (large) {
        stream_measure(j, 1000, 256, 1, false, false);
        stream_measure(j, 1000, 256, 1, true, false);
    }
    return bench_report_end(&report);
}
