/* For the tests of this folder: random trees as workflows, random platforms. */
#pragma once
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "model/tree.h"
#include "plan/planner.h"
#include "tap.h"

/* A random tree of n tasks; `reach`: parents are among the last so many tasks (1: a chain). With
 * `in` every edge points to the root. */
__attribute__((unused)) static struct workflow *random_tree(struct rng *rng, uint32_t n,
                                                            uint32_t reach, bool in)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t task = builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", i), 0);
        builder_work(b, task, (double)rng_below(rng, 20), 0);
        builder_memory(b, task, (double)rng_below(rng, 8), 0);
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t far = i < reach ? i : reach, parent = i - 1 - (uint32_t)rng_below(rng, far);
        double bytes = (double)(1 + rng_below(rng, 9));
        if (in)
            builder_data_edge(b, i, parent, bytes, 0);
        else
            builder_data_edge(b, parent, i, bytes, 0);
    }
    return builder_finish(b, NULL);
}

/* Nodes of a few memories and speeds around `memory`; `links`: some pairs differ. */
__attribute__((unused)) static struct platform *random_nodes(struct rng *rng, uint32_t n,
                                                             double memory, bool links)
{
    static const double sizes[] = {0.5, 1, 1.5, 3}, speeds[] = {3, 1.5, 1, 0.5};
    struct platform_builder *b = platform_builder_new("<test>");
    char name[16];
    platform_builder_network(b, 4, 0, NAN, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t kind = i == 0 ? 3 : (uint32_t)rng_below(rng, 4); /* one large at least */
        uint32_t node =
            platform_builder_node(b, name, (size_t)snprintf(name, sizeof name, "n%u", i), 0);
        platform_builder_memory(b, node, sizes[kind] * memory, 0);
        platform_builder_speed(b, node, speeds[kind], 0);
    }
    for (uint32_t i = 1; i < n && links; i++)
        platform_builder_link(b, (uint32_t)rng_below(rng, i), i, 1 + (double)rng_below(rng, 9), NAN,
                              0);
    return platform_builder_finish(b, NULL);
}
