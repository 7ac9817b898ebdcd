/* Graphs and platforms for the tests of this folder. */
#pragma once
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/platform.h"
#include <stdio.h>
#include <stdlib.h>

/* A connected DAG with one source and one sink, whole weights, the mean edge ccr times the mean
 * task. `shared`: some objects have several consumers. */
__attribute__((unused)) static struct workflow *
random_stream(struct rng *rng, uint32_t n, double ccr, bool replicable, int shared)
{
    struct builder *b = builder_new("<random>", "test");
    struct error err = {0};
    char name[32];
    double most = 2 * 6 * ccr;
    bool *has_child = mem_new_zero(bool, n);
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, t, 1 + (double)rng_below(rng, 12), 0);
        if (!replicable)
            builder_flag(b, t, TASK_NOT_REPLICABLE);
    }
    for (uint32_t t = 1; t < n; t++) {
        uint32_t parents = 1 + (uint32_t)rng_below(rng, 3);
        for (uint32_t k = 0; k < parents && k < t; k++) {
            uint32_t from = (uint32_t)rng_below(rng, t);
            double size = 1 + (double)rng_below(rng, (uint64_t)most + 1);
            has_child[from] = true;
            if (shared && rng_below(rng, 2)) {
                uint32_t object = builder_object(b, name, (size_t)sprintf(name, "o%u", from));
                if (builder_producer(b, object) == NONE) {
                    builder_size(b, object, size, 0);
                    builder_produces(b, from, object, 0);
                }
                builder_consumes(b, t, object, 0);
            } else {
                builder_data_edge(b, from, t, size, 0);
            }
        }
    }
    for (uint32_t t = 0; t + 1 < n; t++)
        if (!has_child[t])
            builder_data_edge(b, t, n - 1, 1 + (double)rng_below(rng, (uint64_t)most + 1), 0);
    free(has_child);
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

__attribute__((unused)) static struct platform *equal_nodes(uint32_t count, uint32_t ports)
{
    struct platform_builder *b = platform_builder_new("<equal>");
    struct error err = {0};
    char name[16];
    platform_builder_network(b, 1, 0, ports ? (double)ports : NAN, 0);
    for (uint32_t i = 0; i < count; i++)
        platform_builder_node(b, name, (size_t)sprintf(name, "n%u", i), 0);
    return platform_builder_finish(b, &err);
}
