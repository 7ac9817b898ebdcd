/* A mapping with its nodes: what planner `stream` searches over. On equal nodes the node lists are
 * left out. */
#pragma once
#include "base/rng.h"
#include "plan/stream/mos.h"

struct assignment {
    struct stream_state state;
    uint32_t *node_off, *nodes; /* nodes of each cluster's replicas */
    double latency, rate;
    uint32_t processors;
    bool meets;
};

struct assignment_space {
    struct stream_problem *q; /* on the real platform */
    uint32_t *ranking;        /* nodes that are up, the fastest first */
    uint32_t nnodes;
    struct stream_estimate estimate;
};

void assignment_space_init(struct assignment_space *space, struct stream_problem *q);
void assignment_space_free(struct assignment_space *space);
void assignment_init(struct assignment *l, const struct assignment_space *space);
void assignment_free(struct assignment *l);
void assignment_copy(struct assignment *to, const struct assignment *from,
                     const struct assignment_space *space);
/* Give each cluster the replicas that the throughput needs, the fastest nodes to the heaviest
 * clusters, and judge. */
void assignment_assign(struct assignment *l, struct assignment_space *space, double limit);
/* Judge with the nodes as they are. */
void assignment_judge(struct assignment *l, struct assignment_space *space, double limit);
bool assignment_better(const struct assignment *a,
                       const struct assignment *b); /* meets, least latency, fewest processors */

/* Improve by random moves with a falling temperature; `moves` estimates at most. */
void assignment_anneal(struct assignment *l, struct assignment_space *space, uint64_t moves,
                       struct rng *rng);
/* Merge clusters where that costs no latency: fewer processors. `moves` estimates at most. */
void assignment_thin(struct assignment *l, struct assignment_space *space, uint64_t moves);
/* The best of all mappings, when there are at most 8 tasks (enumerate.c); `most`: with duplicates so
 * many are tried at most, and the partitions that have more only without. True: all were tried. */
bool assignment_enumerate(struct assignment *best, struct assignment_space *space, uint64_t most);
