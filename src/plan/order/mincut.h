/* Largest closure by a minimum cut (Dinic's algorithm on integer capacities). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct mincut {
    uint32_t nnodes, narcs, node_cap, arc_cap;
    uint32_t *first, *next, *to; /* arcs in pairs: a and a^1 are each other's reverse */
    int64_t *left;               /* residual capacity */
    uint32_t *level, *current, *queue, *path;
};

enum { MINCUT_SOURCE = 0, MINCUT_SINK = 1 };
#define MINCUT_INFINITE (INT64_MAX / 4)

void mincut_reset(struct mincut *m,
                  uint32_t nodes); /* `nodes` includes source and sink; keeps the memory */
void mincut_arc(struct mincut *m, uint32_t from, uint32_t to, int64_t capacity);
/* Maximum flow; false when more than *budget arc visits were needed (the budget is reduced by what
 * was used). */
bool mincut_run(struct mincut *m, uint64_t *budget, int64_t *flow);
/* After a run: is the node on the source's side of the smallest minimum cut? */
bool mincut_is_source_side(const struct mincut *m, uint32_t node);
void mincut_free(struct mincut *m);
