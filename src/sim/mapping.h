/* A stream mapping made ready to execute: copies of tasks in clusters and the feeds between them.
 */
#pragma once
#include "model/costs.h"
#include "model/plan.h"

/* One task in one cluster. Copies are numbered in priority order: by decreasing bottom level of the
 * task, then topological position, then cluster. */
struct mapping_copy {
    uint32_t task, cluster;
    uint32_t inputs;              /* feeds and local copies it waits for */
    uint32_t local_off, feed_off; /* what its end triggers: local[] copies beside it, feeds[] it
                                     sends; up to the next copy's */
    bool is_exit;                 /* at home, and the task has no successors */
};

/* An object (or a mere order) from the home of its producer to a cluster. */
struct feed {
    uint32_t object;     /* NONE: order */
    uint32_t from, to;   /* the copy that sends it, the cluster that gets it */
    uint32_t rank;       /* among all feeds, by decreasing bottom level */
    uint32_t waiter_off; /* copies in `to` that wait for it, up to the next feed's */
};

struct mapping {
    struct mapping_copy *copies; /* ncopies + 1: the last is a sentinel */
    uint32_t ncopies, nexits;
    uint32_t *local;
    struct feed *feeds; /* grouped by sending copy; nfeeds + 1 */
    uint32_t nfeeds;
    uint32_t *waiters;
    const struct plan *plan; /* whose clusters the copies are in */
    struct plan *unrolled;   /* owned; of a rotating plan: a cluster a task */
};

/* ERROR_INPUT: tasks missing or at home twice, clusters without nodes, numbers out of range. */
bool mapping_build(struct mapping *m, const struct workflow *w, const struct platform *p,
                   const struct costs *costs, const struct plan *plan, struct error *err);
void mapping_free(struct mapping *m);

static inline uint32_t mapping_node(const struct mapping *m, uint32_t cluster, uint64_t item)
{
    const struct cluster *c = &m->plan->clusters.at[cluster];
    return m->plan->nodes.at[c->nodes + item % c->nnodes];
}
