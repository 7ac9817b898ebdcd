/* What has to be where: for every object and every node with a task that reads it, one demand. An
 * object needed by several tasks on one node therefore travels once.
 *
 * The demands of object o are at[off[o]] .. at[off[o+1]-1]; those of a demand are waiters[first] up
 * to the first of the next demand. Objects without producer are everywhere and have none. */
#pragma once
#include "model/plan.h"

enum demand_state {
    DEMAND_IDLE,
    DEMAND_SENT, /* on its way, or waiting for a node that is down */
    DEMAND_ARRIVED,
};

struct demand {
    uint32_t object, node;
    uint32_t source; /* node that the plan's transfer names; NONE: the copy that is done first; the
                        node itself: made here */
    uint32_t first;  /* into waiters[] */
};

struct demands {
    uint32_t *off; /* nobjects + 1 */
    struct demand *at;
    uint8_t *state;
    double *
        priority; /* planned start of the transfer (INFINITY: not planned); NULL unless asked for */
    uint32_t n;
    uint32_t *waiters; /* placements */
    uint32_t nwaiters;
    uint64_t *relayed; /* bit per object: some transfer starts where the object was brought; NULL:
                          no object has one */

    uint32_t *copy_off; /* ntasks + 1 */
    uint32_t *copy;     /* placements of each task, in the order of the plan */
    uint32_t *
        copy_node; /* where each of them is: four bytes beside each other instead of a placement each */
    uint32_t
        *missing; /* per placement: objects and ordering predecessors that it still waits for */
};

/* The placements must have been checked (lanes_build). ERROR_INPUT: a task without placement, two
 * copies on one node, a transfer of something that is not there or from where it never is. */
bool demands_build(struct demands *d, const struct workflow *w, const struct platform *p,
                   const struct plan *plan, bool with_priority, struct error *err);
void demands_free(struct demands *d);

static inline uint32_t demands_copy(const struct demands *d, uint32_t task, uint32_t i)
{
    return d->copy[d->copy_off[task] + i];
}
/* The copy of `task` on `node`, NONE: none there. */
uint32_t demands_copy_on(const struct demands *d, uint32_t task, uint32_t node);
