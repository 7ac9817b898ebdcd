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
#include "sched/sched.h"
#include "sim/workload.h"

/* A zeroed field takes the default in brackets. */
struct schedulers_config {
    const struct workload *dag;
    uint32_t nodes, cores; /* schedulers [1]; cores of each [2] */
    double memory;         /* bytes of each [no limit] */
    const char *
        resources; /* things of each node, "gpu=[0,1],licence=4" [none]; a workflow's tasks hold them */
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
