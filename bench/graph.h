/* The graphs that weft and its peers are measured on: equal for all of them. */
#pragma once
#include "base/rng.h"

/* Parents of task `t` (0 < t): `degree` of the `window` tasks before it, drawn from `r`, which must
 * be seeded with 1 and asked for the tasks in order. */
static inline void graph_parents(struct rng *r, uint32_t t, uint32_t degree, uint32_t window,
                                 uint32_t *out)
{
    for (uint32_t k = 0; k < degree; k++)
        out[k] = t - 1 - (uint32_t)rng_below(r, t < window ? t : window);
}

enum { GRAPH_DEGREE = 4, GRAPH_WINDOW = 1000 };
