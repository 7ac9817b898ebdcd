/* A stream mapping while it is being changed: clusters of task copies and their replicas, on equal
 * nodes.
 *
 * Moves leave cluster numbers alone (a cluster may become empty), so that the estimate of a
 * candidate can start from that of its parent; state_compact() closes the gaps once a move is
 * performed. A state is a few small arrays: copying one is cheap beside estimating it. */
#pragma once
#include "model/stream.h"

#define STREAM_TOLERANCE 1e-9

/* What is asked for. */
struct stream_problem {
    const struct stream_graph *g;
    struct stream_work *work;
    uint64_t *closure; /* rows of reachability; NULL when the graph is too large for it */
    size_t closure_words;
    uint32_t processors, ports; /* ports 0: as the platform says */
    double throughput;          /* required; 0: none */
    double latency;             /* asked for; INFINITY: none, and the throughput is what counts */
    bool duplication;
};

void stream_problem_init(struct stream_problem *q, const struct stream_graph *g, uint32_t ports);
void stream_problem_free(struct stream_problem *q);
/* The largest throughput that computation allows. */
double stream_problem_most(const struct stream_problem *q);

struct stream_state {
    uint32_t ntasks, nclusters; /* nclusters counts empty ones */
    uint32_t *off, *cluster, *home;
    size_t cap; /* of `cluster` */
    /* per cluster */
    double *extra, *time;
    uint32_t *procs, *size;
    uint8_t *fixed; /* holds a task that may not be replicated */
    /* estimates */
    double latency, rate, need; /* need: sum of the replicas as real numbers */
    uint32_t processors, clusters;
    bool possible; /* no cluster of fixed tasks is too slow for the throughput */
};

void state_init(struct stream_state *s, uint32_t ntasks);
void state_free(struct stream_state *s);
void state_copy(struct stream_state *to, const struct stream_state *from);
void state_single(struct stream_state *s,
                  const struct stream_problem *q); /* one cluster per task */

/* Moves. Each ends with state_refresh(). */
void state_merge(struct stream_state *s, const struct stream_problem *q, uint32_t a, uint32_t b);
void state_add(struct stream_state *s, const struct stream_problem *q, uint32_t task,
               uint32_t cluster);
void state_move(struct stream_state *s, const struct stream_problem *q, uint32_t task,
                uint32_t from, uint32_t to);
/* At least so many replicas. Several clusters may be asked for before the one refresh. */
void state_ask(struct stream_state *s, const struct stream_problem *q, uint32_t cluster,
               uint32_t replicas);
/* Remove copies that nobody reads. */
void state_prune(struct stream_state *s, const struct stream_problem *q);
/* Close the gaps of empty clusters, also in the estimate of it (may be NULL). */
void state_compact(struct stream_state *s, struct stream_estimate *e);
/* Recompute times, replicas and processors after a change. */
void state_refresh(struct stream_state *s, const struct stream_problem *q);

static inline bool state_has(const struct stream_state *s, uint32_t task, uint32_t cluster)
{
    for (uint32_t i = s->off[task]; i < s->off[task + 1]; i++)
        if (s->cluster[i] == cluster)
            return true;
    return false;
}

static inline struct stream_map state_map(const struct stream_state *s)
{
    return (struct stream_map){.nclusters = s->nclusters,
                               .off = s->off,
                               .cluster = s->cluster,
                               .home = s->home,
                               .procs = s->procs};
}

/* Fill latency and rate; false when the latency exceeds `limit` (then it is INFINITY). */
bool state_estimate(struct stream_state *s, const struct stream_problem *q, double limit,
                    const struct stream_estimate *base, struct stream_estimate *out);
/* The same; false also when the throughput is below what is asked for by `rate`. */
bool state_estimate_above(struct stream_state *s, const struct stream_problem *q, double limit,
                          double rate, const struct stream_estimate *base,
                          struct stream_estimate *out);
/* Whatever the rate; the limit counts once the inputs of these tasks are estimated, see stream_estimate_past(). */
bool state_estimate_past(struct stream_state *s, const struct stream_problem *q, double limit,
                         const uint32_t *tasks, size_t ntasks, const struct stream_estimate *base,
                         struct stream_estimate *out);
/* A move was made: *now, the estimate of the mapping before it, becomes that of this one, without
 * empty clusters. `spare`: memory for an estimate; `judged`: it is in it already. */
void state_perform(struct stream_state *s, const struct stream_problem *q,
                   struct stream_estimate *now, struct stream_estimate *spare, bool judged);
/* The same set of clusters gives the same value, however they are numbered. */
uint64_t state_hash(const struct stream_state *s);
/* The same clusters in the same order, with the same replicas: their estimates are equal, too. */
uint64_t state_fingerprint(const struct stream_state *s);
/* Is the rate beyond what the ports can carry? Cheap; false says nothing. */
bool state_misses(const struct stream_state *s, const struct stream_problem *q, double rate);
/* Does it meet what is asked for? */
bool state_meets(const struct stream_state *s, const struct stream_problem *q);

/* Set the replicas to the least that meet the throughput by the closed form, and the rate to what
 * they reach, given an estimate of this state. Latency does not depend on replicas. */
void state_close(struct stream_state *s, const struct stream_problem *q,
                 const struct stream_estimate *e);
