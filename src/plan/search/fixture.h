/* For the tests of this folder: random workflows and platforms, kept both as plain arrays (for
 * oracles that must not rely on the code under test) and as the model's own types. */
#pragma once
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "model/platform.h"
#include "plan/planner.h"
#include "tap.h"

enum { FIXTURE_TASKS = 160, FIXTURE_NODES = 8 };

struct fixture_shape {
    uint32_t tasks, nodes, cores; /* cores: most on a node */
    double density, ccr;
    bool unrelated, links, memory, wide, restricted, fractions;
    bool cut; /* some pairs of nodes cannot talk */
    uint32_t ports;
};

struct fixture {
    uint32_t n, m;
    double time[FIXTURE_TASKS][FIXTURE_NODES];  /* INFINITY: cannot run there */
    double bytes[FIXTURE_TASKS][FIXTURE_TASKS]; /* from, to; -1: no edge, -2: ordering only */
    double bandwidth[FIXTURE_NODES][FIXTURE_NODES], latency[FIXTURE_NODES][FIXTURE_NODES];
    double need[FIXTURE_TASKS], memory[FIXTURE_NODES]; /* memory */
    uint32_t width[FIXTURE_TASKS], cores[FIXTURE_NODES];
    struct workflow *workflow;
    struct platform *platform;
};

__attribute__((unused)) static double fixture_value(struct rng *rng,
                                                    const struct fixture_shape *shape, double most)
{
    double x = rng_uniform(rng, 0, most);
    return shape->fractions ? x : (double)(long)x;
}

__attribute__((unused)) static void fixture_build(struct fixture *f,
                                                  const struct fixture_shape *shape, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    f->n = shape->tasks;
    f->m = shape->nodes;
    struct platform_builder *pb = platform_builder_new("<random>");
    platform_builder_memory_rule(
        pb, MEMORY_TASKS); /* the enumeration knows no files: plan/memory does */
    double bandwidth = shape->fractions ? rng_uniform(&rng, 0.5, 2) : 1;
    double latency = rng_below(&rng, 2) ? fixture_value(&rng, shape, 3) : 0;
    platform_builder_network(pb, bandwidth, latency, shape->ports ? shape->ports : NAN, 0);
    double speed[FIXTURE_NODES];
    for (uint32_t v = 0; v < f->m; v++) {
        char name[32];
        snprintf(name, sizeof name, "n%u", v);
        platform_builder_node(pb, name, strlen(name), 0);
        speed[v] = rng_below(&rng, 3) == 0 ? 2 : 1;
        f->cores[v] = 1 + (uint32_t)rng_below(&rng, shape->cores);
        f->memory[v] = shape->memory ? 10 + (double)rng_below(&rng, 6) : INFINITY;
        platform_builder_speed(pb, v, speed[v], 0);
        platform_builder_cores(pb, v, f->cores[v], 0);
        if (shape->memory)
            platform_builder_memory(pb, v, f->memory[v], 0);
    }
    f->cores[0] = shape->wide && f->cores[0] < 2 ? 2 : f->cores[0];
    platform_builder_cores(pb, 0, f->cores[0], 0);
    for (uint32_t a = 0; a < f->m; a++)
        for (uint32_t b = a + 1; b < f->m; b++) {
            bool own = shape->links && rng_below(&rng, 2);
            double w = own ? (double)(1 + rng_below(&rng, 4)) : bandwidth;
            double l = own ? fixture_value(&rng, shape, 4) : latency;
            if (shape->cut && rng_below(&rng, 2)) {
                own = true;
                w = 0;
            }
            f->bandwidth[a][b] = f->bandwidth[b][a] = w;
            f->latency[a][b] = f->latency[b][a] = l;
            if (own)
                platform_builder_link(pb, a, b, w, l, 0);
        }
    struct error err = {0};
    f->platform = platform_builder_finish(pb, &err);
    struct builder *b = builder_new("<random>", "random");
    for (uint32_t t = 0; t < f->n; t++) {
        char name[32];
        snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, strlen(name), 0);
        double work = rng_below(&rng, 12) ? 1 + fixture_value(&rng, shape, 9) : 0;
        f->width[t] = shape->wide && rng_below(&rng, 3) == 0 ? 2 : 1;
        f->need[t] = shape->memory ? (double)rng_below(&rng, 10) : 0;
        bool own = shape->unrelated && rng_below(&rng, 3);
        bool few = shape->restricted && rng_below(&rng, 4) == 0;
        if (!few)
            builder_work(b, t, work, 0);
        builder_cores(b, t, f->width[t], 0);
        builder_memory(b, t, f->need[t], 0);
        for (uint32_t v = 0; v < f->m; v++) {
            f->time[t][v] = few ? INFINITY : work / speed[v];
            if (own || (few && (v == 0 || rng_below(&rng, 2)))) {
                f->time[t][v] = 1 + fixture_value(&rng, shape, 9);
                snprintf(name, sizeof name, "n%u", v);
                builder_time(b, t, name, strlen(name), f->time[t][v], 0);
            }
            if (f->width[t] > f->cores[v])
                f->time[t][v] = INFINITY;
        }
    }
    for (uint32_t a = 0; a < f->n; a++)
        for (uint32_t c = 0; c < f->n; c++) {
            f->bytes[a][c] = -1;
            if (c <= a || rng_unit(&rng) >= shape->density)
                continue;
            if (rng_below(&rng, 8) == 0) {
                f->bytes[a][c] = -2;
                builder_edge(b, a, c, 0);
            } else {
                f->bytes[a][c] = 1 + fixture_value(&rng, shape, 10 * shape->ccr);
                builder_data_edge(b, a, c, f->bytes[a][c], 0);
            }
        }
    f->workflow = builder_finish(b, &err);
    if (!f->platform || !f->workflow) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
}

__attribute__((unused)) static void fixture_free(struct fixture *f)
{
    workflow_free(f->workflow);
    platform_free(f->platform);
}

__attribute__((unused)) static struct plan *fixture_plan(const struct fixture *f,
                                                         const char *planner, const char *option,
                                                         const char *value, uint64_t seed,
                                                         struct error *err)
{
    struct option_value given = {option, value};
    struct plan_request request = {.workflow = f->workflow,
                                   .platform = f->platform,
                                   .options = option ? &given : NULL,
                                   .noptions = option ? 1 : 0,
                                   .seed = seed};
    const struct planner *row = planner_find(planner);
    if (!row) {
        error_set(err, ERROR_INPUT, "no planner %s", planner);
        return NULL;
    }
    return row->run(&request, err);
}

/* Number of violations; the first is printed. */
__attribute__((unused)) static size_t fixture_violations(const struct fixture *f,
                                                         const struct plan *plan)
{
    struct check_result result = {0};
    struct error err = {0};
    if (!check_plan(plan, f->workflow, f->platform, &result, &err)) {
        printf("# cannot be judged: %s\n", err.text);
        check_result_free(&result);
        return 1;
    }
    size_t total = result.total;
    if (total)
        printf("# %s: %s\n", violation_name(result.violations.at[0].kind),
               result.violations.at[0].detail);
    check_result_free(&result);
    return total;
}
