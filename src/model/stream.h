/* Estimates for workflows that process a stream of items, after Vydyanathan et al.
 * (OSU-CISRC-4/08-TR17): throughput and latency of a mapping under the k-port model, from clusters,
 * duplicates and replicas alone. Planners minimise them, the checker recomputes them.
 *
 * A transfer holds the link between two clusters and one of the k channels of each for its whole
 * duration; channels serve sending and receiving alike. One representative processor per cluster
 * stands for its replicas. An object that several tasks of a cluster read travels once; where every
 * edge has an object of its own, that is the report's model exactly.
 *
 * Where nodes differ (which the report excludes), a copy takes as long as on the slowest replica of
 * its cluster, a transfer as long as on the worst pair of replicas that meet, and a cluster has the
 * channels of its replica with the fewest ports. */
#pragma once
#include "base/array.h"
#include "model/costs.h"
#include "model/plan.h"

/* ---- the graph: times per item, and the one order in which everything is taken ---- */

/* One element of the order, with what every estimate asks of it. */
struct stream_step {
    uint32_t edge;       /* NONE: a task */
    uint32_t task, from; /* the task; of an edge its consumer and its producer */
    bool shared;         /* others read the object too */
    double time;         /* of the task, or of the transfer where nodes are alike */
    double after;        /* of an edge: its consumer's time where nodes are alike, else 0 */
};

struct stream_graph {
    const struct workflow *w;
    const struct platform *p;
    struct costs *costs; /* owned */
    uint32_t ntasks, nedges;
    bool uniform; /* all nodes that are up and all pairs alike: times do not depend on where */
    uint32_t nodes_up;
    double *time;     /* per task; where nodes differ: the mean, used for the order only */
    double *transfer; /* per edge (index into succ_*); 0: never a transfer */
    double *tail; /* per task: longest way from its end to an exit, edges free, at the best times: a
                     lower bound */
    double *head; /* per task: longest way to its start, edges free, at the best times */
    double *bottom;     /* bottom level with all edges at full weight */
    uint32_t *position; /* of a task in the topological order (Kahn, smallest number first) */
    uint32_t *edge_from;
    uint8_t *shared; /* per edge: others read the object too */
    /* Tasks t and edges ntasks + e that can be transfers, by decreasing bottom level, position,
     * edge. Every dependence, also those that a mapping adds, points forward in it. */
    uint32_t *order, norder;
    struct stream_step *steps; /* the same */
    uint8_t *pred_free;        /* per edge (index into pred_*): it never is a transfer */
    uint32_t *tasks;           /* the tasks of `order` alone */
    uint32_t *rank;            /* per edge: its place in `order` */
    uint32_t *task_rank;       /* per task: its place in `order` */
    uint32_t *touched;         /* per task: the first place in `order` where its copies count */
    double total;              /* sum of the times */
    double longest;            /* longest path with all edges free: no latency is below it */
    bool any_fixed, all_fixed; /* some, all tasks may not be replicated */
};

struct stream_graph *stream_graph_new(const struct workflow *w, const struct platform *p);
/* As if all nodes were like the worst of these and all links like the worst between them: whatever
 * is mapped with it is at least as fast on them. A node that cannot run a task counts as infinitely
 * slow. */
struct stream_graph *stream_graph_worst(const struct workflow *w, const struct platform *p,
                                        const uint32_t *nodes, uint32_t count);
void stream_graph_free(struct stream_graph *g); /* NULL is fine */

/* ---- a mapping ---- */

struct stream_map {
    uint32_t nclusters;
    const uint32_t *off,
        *cluster;          /* clusters that hold task t: cluster[off[t] .. off[t+1]), ascending */
    const uint32_t *home;  /* per task: the cluster whose copy feeds clusters without one */
    const uint32_t *procs; /* replicas per cluster, whole; 0: the cluster is empty */
    const uint32_t *node_off,
        *nodes; /* nodes of each cluster's replicas; NULL: not said (the slowest are assumed) */
};

/* Where the copy of a task in a cluster stands in map->cluster; NONE: no copy. */
static inline uint32_t stream_copy(const struct stream_map *m, uint32_t task, uint32_t cluster)
{
    for (uint32_t i = m->off[task]; i < m->off[task + 1]; i++)
        if (m->cluster[i] == cluster)
            return i;
    return NONE;
}

/* One transfer of the communication schedule, in priority order. */
struct stream_message {
    uint32_t edge, from, to; /* edge: the first that it serves */
    uint32_t from_channel, to_channel;
    double start, finish; /* in the periodic communication schedule */
    double begin, end;    /* of one item in the schedule DAG */
    double latest;        /* end that would not lengthen the critical path; stream_slack() */
    uint32_t before[3];   /* the messages before it on the link, the sender's and the receiver's
                             channel; NONE */
    uint32_t
        behind[2]; /* the messages before it at the sender's and the receiver's cluster; NONE */
};

struct stream_port {
    uint32_t cluster, channel;
    double cycle; /* minimum cycle time: last end - first start */
};

struct stream_estimate {
    double computation_rate, data_rate, throughput, latency;
    double cycle; /* the largest minimum cycle time; 0: no transfers */
    uint32_t processors;
    uint32_t slow_cluster, slow_channel; /* the channel with the cycle time of the slowest
                                            component; NONE: no transfers */
    ARRAY(struct stream_message) messages;
    ARRAY(struct stream_port) ports; /* by cluster, channel */
    ARRAY(double)
    component; /* per cluster: cycle time of its contention component, 0: talks to nobody */
    ARRAY(uint32_t) member;   /* per cluster: number of its component (one of its clusters) */
    ARRAY(double) begin, end; /* per copy */
    struct stream_origin {    /* the mapping that it is of, as in struct stream_map */
        ARRAY(uint32_t) off, cluster, home;
    } of;
};
void stream_estimate_free(struct stream_estimate *e);

/* Clusters get new numbers in the same order; those that are left out were empty. */
void stream_estimate_renumber(struct stream_estimate *e, const uint32_t *number);

struct stream_work; /* memory reused between estimates; one per thread */
struct stream_work *stream_work_new(const struct stream_graph *g);
void stream_work_free(struct stream_work *work);

/* Estimate a mapping. `ports`: of every cluster; 0: as the platform says, stream_ports(). Gives up
 * (false) as soon as the latency must exceed `limit`. `base` (may be NULL) is the estimate of a
 * mapping with the same cluster numbers that differs little, under the same ports: transfers whose
 * both ends are not touched by the difference keep their slots, only the rest is searched again.
 * Linear in copies and edges but for those searches, each at most quadratic in the transfers of the
 * two clusters. */
bool stream_estimate(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                     double limit, const struct stream_estimate *base, struct stream_estimate *out);
/* The same; gives up also as soon as the throughput must be below `rate`. */
bool stream_estimate_above(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                           double limit, double rate, const struct stream_estimate *base,
                           struct stream_estimate *out);
/* The same without a rate; the limit counts only once the inputs of these tasks' copies are estimated: of what is refused `out` has
 * the messages up to them. Equal nodes only. */
bool stream_estimate_past(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                          double limit, const uint32_t *tasks, size_t ntasks,
                          const struct stream_estimate *base, struct stream_estimate *out);
/* Is the throughput that stream_estimate() would find below `rate`, by what the ports can carry? In a
 * tenth of its time; false says nothing. */
bool stream_rate_below(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                       double rate);
/* A latency that this mapping's is not below, nor that of one in which ancestors of the task have copies in this cluster, too: by
 * the way through the task's copy there. 0 where nodes differ. */
double stream_bound_through(struct stream_work *work, const struct stream_map *map, uint32_t task,
                            uint32_t cluster);
/* After stream_estimate() of the same map with the same work: fills message.latest. */
void stream_slack(struct stream_work *work, const struct stream_map *map,
                  struct stream_estimate *e);

/* Seconds of a task in a cluster, of an object from one cluster to another. */
double stream_time(const struct stream_graph *g, const struct stream_map *map, uint32_t task,
                   uint32_t cluster);
double stream_transfer(const struct stream_graph *g, const struct stream_map *map, uint32_t edge,
                       uint32_t from, uint32_t to);
/* Channels of a cluster: the fewest ports of its replicas' nodes, or of all where they are not said
 * (map may be NULL). 0: no limit. */
uint32_t stream_ports(const struct stream_graph *g, const struct stream_map *map, uint32_t cluster);

/* ---- one item at a time: the list schedule that is not pipelined (stream_item.c) ---- */

/* Schedule one item: tasks in order, each input transfer in the earliest slot that the k-port rules
 * allow, then the task in the earliest idle slot of its processor. processor[t] NONE: choose the
 * one with the least completion time among `nprocessors` (lowest number on ties) and say so in
 * processor[t]. Returns the makespan. nodes (may be NULL) names each processor's node. */
double stream_item(struct stream_work *work, uint32_t nprocessors, const uint32_t *nodes,
                   uint32_t ports, uint32_t *processor);
/* The same; `out` gets the start of every task and transfer, with processors for clusters. */
double stream_item_schedule(struct stream_work *work, uint32_t nprocessors, const uint32_t *nodes,
                            uint32_t ports, uint32_t *processor, struct stream_schedule *out);

/* ---- items dealt out to copies, task by task: Filter Copy Pipeline (stream_rotate.c) ---- */

struct stream_rotation {
    uint32_t *off, *processor; /* copies of task t: processor[off[t] .. off[t+1]); item n goes to
                                  copy n mod their number */
    uint32_t nprocessors;
};
/* ports 0: no limit, as the report estimates; else of every node, and the throughput is a bound.
 * `nodes` may be NULL. */
void stream_rotate(const struct stream_graph *g, const struct stream_rotation *r,
                   const uint32_t *nodes, uint32_t ports, double *throughput, double *latency);
