/* Pairs of clusters that might be merged, for Algorithm 2.
 *
 * The report looks at every pair before every merge. So do we up to MANY clusters; above, only at
 * pairs with a transfer, and at pairs that follow each other in time. Up to EXACT clusters every
 * pair is kept; above, the most promising by their overlap in time. */
#pragma once
#include "plan/stream/mos.h"

enum { PAIRS_EXACT = 12, PAIRS_MANY = 1024 };

struct pair_candidate {
    uint32_t a, b;
    double rough; /* overlap in time: how much of it would be serialised at most */
    double estimate;
    double waste;
    bool connected;
    enum { MISSES, REPLICATES, KEEPS } keeps; /* the throughput: with more replicas, or as it is */
};

struct stream_pairs {
    const struct stream_problem *q;
    const struct stream_state *state;       /* whose clusters */
    const struct stream_estimate *estimate; /* of it */
    /* tasks of each cluster in task order, and the time it is occupied by an item */
    uint32_t *off, *task;
    double *first, *last;
    double *finish; /* per task, of the pass over a pair */
    uint32_t *stamp, now;
    uint8_t *linked; /* pairs with a transfer: nclusters^2 / 8; only up to PAIRS_MANY clusters */
    size_t most;     /* to keep past PAIRS_EXACT clusters */
    ARRAY(struct pair_candidate) list;
};

void pairs_init(struct stream_pairs *r, const struct stream_problem *q,
                const struct stream_state *state, const struct stream_estimate *estimate);
void stream_pairs_free(struct stream_pairs *r);

/* Fill the list: pairs that save a processor, or else (false) those that waste the most of one. */
bool pairs_gather(struct stream_pairs *r, size_t most);
/* Sort the list by the latency through each pair if merged, everything else staying where it is. */
void pairs_sort(struct stream_pairs *r);
/* Some task of one and some task of the other could run at the same time. */
bool pairs_concurrent(const struct stream_pairs *r, uint32_t a, uint32_t b);
