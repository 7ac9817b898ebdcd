/* How fast orders are found, and what is proved about them: the families of IC-scheduling up to a
 * million tasks and more, many equal blocks, and the hardest dags of 24 nonsinks.
 *
 *     bench_order [--json FILE] [--quick]
 *
 * Times are processor seconds of one core, reading and checking not included. --quick stops at
 * 100,000 tasks. */
#include "bench/bench.h"
#include "base/json.h"
#include "base/rng.h"
#include "generate/generate.h"
#include "model/builder.h"
#include "plan/planner.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct workflow *order_generated(const char *name, const char *options)
{
    struct option_value values[8];
    size_t n = 0;
    char text[256], *rest = NULL;
    snprintf(text, sizeof text, "%s", options);
    for (char *at = strtok_r(text, " ", &rest); at; at = strtok_r(NULL, " ", &rest)) {
        char *equal = strchr(at, '=');
        *equal = '\0';
        values[n++] = (struct option_value){at, equal + 1};
    }
    struct error err = {0};
    struct workflow *w = generator_workflow(generator_find(name), values, n, 1, &err);
    if (!w) {
        fprintf(stderr, "bench_order: %s\n", err.text);
        exit(1);
    }
    return w;
}

/* `copies` disjoint blocks, alternating between the two that need the Sweep (Figure 4). */
static struct workflow *many_blocks(uint32_t copies)
{
    struct builder *b = builder_new("<bench>", "bench");
    char name[24];
    for (uint32_t c = 0; c < copies; c++) {
        uint32_t own = c % 2 ? 3 : 4, first = builder_task_count(b);
        for (uint32_t i = 0; i < own + 4; i++)
            builder_task(b, name, (size_t)snprintf(name, sizeof name, "b%u.%u", c, i), 0);
        for (uint32_t i = 0; i < own + 1; i++)
            builder_edge(b, first, first + 2 + i, 0);
        builder_edge(b, first + 1, first + own + 2, 0);
        builder_edge(b, first + 1, first + own + 3, 0);
    }
    struct error err = {0};
    return builder_finish(b, &err);
}

/* 24 nonsinks without precedence among them, heads of three random parents: all 2^24 sets are
 * ideals. */
static struct workflow *hard_graph(uint32_t nonsinks, uint64_t seed)
{
    struct builder *b = builder_new("<bench>", "bench");
    struct rng r;
    char name[24];
    rng_seed(&r, seed);
    for (uint32_t i = 0; i < 3 * nonsinks; i++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i), 0);
    for (uint32_t h = nonsinks; h < 3 * nonsinks; h++)
        for (int k = 0; k < 3; k++)
            builder_edge(b, (h + (k ? (uint32_t)rng_below(&r, nonsinks) : 0)) % nonsinks, h, 0);
    struct error err = {0};
    return builder_finish(b, &err);
}

static struct json_writer *json;

static void order_measure(const char *title, struct workflow *w, const char *planner)
{
    struct error err = {0};
    struct platform_builder *pb = platform_builder_new("<bench>");
    platform_builder_node(pb, "n", 1, 0);
    struct platform *p = platform_builder_finish(pb, &err);
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    double start = bench_cpu_seconds();
    struct plan *plan = planner_run(planner_find(planner), &request, &err);
    double seconds = bench_cpu_seconds() - start;
    if (!plan) {
        fprintf(stderr, "bench_order: %s\n", err.text);
        exit(1);
    }
    double area = plan_objective(plan, "area"), bound = plan_objective(plan, "area_bound");
    printf("%-22s %-5s %9u %10u %9.3f %8.2f  %-11s %.4f  %s\n", title, planner, w->ntasks,
           w->npairs, seconds, seconds / w->ntasks * 1e6, plan->verdict,
           bound > 0 ? area / bound : NAN, plan->proof ? plan->proof : "");
    fflush(stdout);
    json_write_object_inline(json);
    json_write_key(json, "dag");
    json_write_string(json, title);
    json_write_key(json, "planner");
    json_write_string(json, planner);
    json_write_key(json, "tasks");
    json_write_unsigned(json, w->ntasks);
    json_write_key(json, "seconds");
    json_write_number(json, seconds);
    json_write_key(json, "verdict");
    json_write_string(json, plan->verdict);
    json_write_end_object(json);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

int main(int argc, char **argv)
{
    const char *file = NULL;
    bool quick = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            file = argv[++i];
    }
    struct bench_report report = {.file = file};
    json = bench_report_begin(&report, NULL);
    json_write_key(json, "order");
    json_write_array(json);
    printf("%-22s %-5s %9s %10s %9s %8s  %-11s %s\n", "dag", "with", "tasks", "arcs", "seconds",
           "us/task", "verdict", "area/bound");
    static const struct {
        const char *title, *name, *small, *middle, *large;
    } families[] = {
        {"mesh", "stencil", "shape=out-mesh rows=140", "shape=out-mesh rows=446",
         "shape=out-mesh rows=1414"},
        {"in-mesh", "stencil", "shape=in-mesh rows=140", "shape=in-mesh rows=446",
         "shape=in-mesh rows=1414"},
        {"grid", "stencil", "rows=100 cols=100", "rows=316 cols=316", "rows=1000 cols=1000"},
        {"butterfly", "fft", "points=1024 calls=no", "points=8192 calls=no",
         "points=65536 calls=no"},
        {"diamond", "diamond", "depth=12", "depth=15", "depth=19"},
        {"laplace", "laplace", "points=1024", "points=8192", "points=65536"},
        {"montage", "montage", "images=1700", "images=16700", "images=167000"},
        {"airsn", "airsn", "width=3300", "width=33000", "width=333000"},
        {"inspiral", "inspiral", "groups=240 templates=2400", "groups=2400 templates=24000",
         "groups=24000 templates=240000"},
        {"sdss", "sdss", "fields=3100 coalesces=620", "fields=31000 coalesces=6200",
         "fields=312500 coalesces=62500"},
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        order_measure(families[i].title, order_generated(families[i].name, families[i].small),
                      "ic");
        order_measure(families[i].title, order_generated(families[i].name, families[i].middle),
                      "ic");
        if (!quick)
            order_measure(families[i].title, order_generated(families[i].name, families[i].large),
                          "ic");
    }
    order_measure("100 blocks", many_blocks(100), "ic");
    order_measure("100,000 blocks", many_blocks(100000), "ic");
    for (uint32_t n = 20; n <= 24; n += 2)
        order_measure(n == 20   ? "20 nonsinks"
                      : n == 22 ? "22 nonsinks"
                                : "24 nonsinks",
                      hard_graph(n, 3), "ic");
    order_measure("montage", order_generated("montage", "images=1700"), "prio");
    if (!quick)
        order_measure("montage", order_generated("montage", "images=167000"), "prio");
    json_write_end_array(json);
    return bench_report_end(&report);
}
