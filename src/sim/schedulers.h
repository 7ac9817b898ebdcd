/* Distributed schedulers in virtual time: N real schedulers (sched/), the real tables of the store
 * (store/table.h) behind modelled servers, and a modelled network; docs/cluster-simulation.md.
 *
 *     network   a message takes `latency`; a transfer waits for the sender's interface, then for the
 *               receiver's, first come first served, and holds each for bytes / bandwidth
 *     store     a task's metadata stand on one server; an operation is a message there, waits its
 *               turn, takes `store_service`, and a message back. COMPLETE takes one more service at
 *               the server of each child, and one more round trip when one is elsewhere
 *     task      holds its core from the start; what it reads is fetched from where it was written
 *               (or from a node that keeps an input file), once for all who want it at the same
 *               node, and kept there; then it runs for its length
 *
 * Nothing is lost and nobody dies here (tests/faults/world.h is for that). Same configuration, same
 * result to the bit. Memory: 15 bytes a task and about 80 a task that a scheduler holds. */
#pragma once
#include "base/error.h"
#include "base/progress.h"
#include "model/platform.h"
#include "sched/sched.h"
#include "sim/workload.h"

/* A zeroed field takes the default in brackets. */
struct schedulers_config {
    const struct workload *dag;
    uint32_t nodes, cores; /* schedulers [1]; cores of each [2] */
    double memory;         /* bytes of each [no limit] */
    const char *has;       /* attributes of each, "avx512,ssd" [none] */
    const char *
        resources; /* things of each node, "gpu=[0,1],licence=4" [none]; a workflow's tasks hold them */
    /* Nodes as a platform has them, instead of the three above: cores, memory, speed, attributes and
     * things of each; `nodes` of them [none] */
    const struct platform *platform;
    const uint32_t *platform_node; /* their numbers there [the first] */
    uint32_t large;   /* the first so many have `factor` times the cores and memory [0] */
    uint32_t factor;  /* [4] */
    uint32_t servers; /* of the store [one a node] */
    enum workload_submit submit;
    uint64_t seed;

    enum sched_policy policy;
    bool adapt;       /* switch policy by the volume transferred, and adapt tt (section 4.4) */
    bool rigid_steal; /* thieves get tasks of the SReadyQ only, as in the paper */
    double t, tt, steal_bound; /* Table 3's: [0.5, 10 s, 50 s] */

    double latency;       /* seconds [100 us] */
    double bandwidth;     /* bytes a second of an interface [125e6: Kodiak's gigabit] */
    double store_service; /* seconds an operation [10 us] */
    double dispatch;      /* seconds of a core a task besides its length [0] */
    double cache;         /* bytes a node keeps of what it fetched [8e9]; negative: nothing */
    uint32_t prefetch;    /* tasks whose data are fetched ahead, a core [2]; NO_PREFETCH: none */
    const struct progress *progress;
};

#define SCHEDULERS_NO_PREFETCH UINT32_MAX

#define SCHEDULERS_BINS 512

struct schedulers_result {
    uint64_t tasks;
    double makespan, work; /* seconds; seconds of all tasks together */
    double efficiency;     /* work / cores / makespan */
    double throughput;     /* tasks a second */
    uint64_t events, messages, store_operations, store_trips; /* trips: batches to another node */
    uint64_t steals, failed_steals, stolen, pushed, relaxed;
    uint64_t joined; /* tasks that were not there from the beginning */
    uint64_t reads, local_reads, remote_reads, transfers; /* objects; remote = reads - local */
    double bytes_moved, hit_rate; /* hit_rate: remote reads that needed no transfer of their own */
    double waited;                /* core seconds with a task that waits for data */
    uint32_t policies[SCHED_POLICIES]; /* schedulers by the policy they ended with */
    uint64_t memory;                   /* bytes of tables and schedulers at the end */
    /* cores over time: in bin i, from i * bin_width on */
    double bin_width;
    uint32_t nbins;
    double running[SCHEDULERS_BINS], fetching[SCHEDULERS_BINS];
};

/* False: a configuration that makes no sense, a task that no node has room for (ERROR_INFEASIBLE), or
 * the user stopped it. */
bool schedulers_run(const struct schedulers_config *config, struct schedulers_result *out,
                    struct error *err);

/* Several runs on the same nodes, each with schedulers of its own, as real agents have them: the network,
 * the servers of the store and the cores are shared, the cores fairly (sched/share.h). */
struct schedulers_entry {
    const struct workload *dag;
    double at, priority; /* when it is submitted; each more of priority doubles its share */
};

struct schedulers_run {
    uint64_t tasks;
    double first, finish; /* when its first task began, and its last ended */
    double used;          /* core seconds that its tasks had */
    double alone;         /* seconds that it takes with the cluster to itself */
    double slowdown;      /* (finish - at) / alone */
};

/* `total`: all together, its figures summed up. `config->dag` is not looked at. At most
 * SCHEDULERS_ENTRIES of them. */
#define SCHEDULERS_ENTRIES 1000
bool schedulers_run_beside(const struct schedulers_config *config,
                           const struct schedulers_entry *entries, uint32_t n,
                           struct schedulers_result *total, struct schedulers_run *runs,
                           struct error *err);
/* Jain's index of the runs' speeds, 1 / slowdown: 1 when all are slowed down alike, 1 / n when one has
 * everything. */
double schedulers_fairness(const struct schedulers_run *runs, uint32_t n);
