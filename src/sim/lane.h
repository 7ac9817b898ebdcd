/* Who runs after whom on every core: the order of a static plan.
 *
 * A lane is one core of one node. Placements of a lane come by planned start, then planned finish,
 * then topological position of the task, so that tasks without duration never stand before their
 * predecessors. A task of c cores stands in c lanes. */
#pragma once
#include "model/plan.h"

struct lanes {
    uint32_t *node_first; /* nnodes + 1: lanes of a node */
    uint32_t nlanes;
    size_t *off; /* nlanes + 1, into placement[] */
    uint32_t *placement;
    size_t *head; /* per lane: the first that has not finished */
};

/* The place of a placement in the order of a plan. */
struct lane_key {
    double start, finish;
    uint32_t rank, placement; /* rank: topological position of its task */
};
/* For qsort(): by planned start, then finish, then topological position: a task of no length stands
 * before its successor at the same instant. */
int lane_compare_keys(const void *a, const void *b);

/* ERROR_INPUT when a placement names a task, node or core that is not there, or a time that is not
 * one. */
bool lanes_build(struct lanes *l, const struct workflow *w, const struct platform *p,
                 const struct plan *plan, struct error *err);
void lanes_free(struct lanes *l);
