/* A small cluster in a bad world, from a seed: real schedulers, the real embedded store (with its
 * journal, when a folder is given), and everything between them that can go wrong.
 *
 *     messages    late, out of order, twice, never
 *     nodes       die, come back at once, late or never; are slow; are thought dead and are not
 *     network     part of the nodes is cut off from the others and from the store, for a while
 *     store       fails over: for a while nobody answers, answers are lost and their operations
 * sent again; with a journal it is opened anew, a torn write at its end users       remove tasks,
 * change policies; tasks fail
 *
 * The seed also draws the graph, the nodes and which of these happen. One node never dies. After
 * every event and at the end the invariants of docs/scheduler.md are checked; a seed gives the same
 * run to the bit, so a failing one can be run again. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum cluster_fault {
    FAULT_LOSE = 1,
    FAULT_TWICE = 2,
    FAULT_LATE = 4,
    FAULT_CRASH = 8,
    FAULT_SUSPECT = 16,
    FAULT_PARTITION = 32,
    FAULT_FAILOVER = 64,
    FAULT_SLOW = 128,
    FAULT_FAIL = 256,
    FAULT_REMOVE = 512,
    FAULT_SWITCH = 1024,
    FAULT_ALL = 2047,
};

struct cluster_faults_options {
    const char *folder; /* for journals; NULL: the store is in memory only */
    uint32_t faults;    /* enum cluster_fault; 0: the seed draws them */
};

struct cluster_faults_result {
    uint32_t nodes, tasks, faults; /* what was drawn */
    uint64_t events, digest;       /* digest: of everything the schedulers did */
    double time;                   /* virtual, at the end */
    uint32_t lost, doubled, crashes, adoptions, partitions, failovers, resent, replays;
    uint32_t done, ended_otherwise;
    char trouble[400]; /* empty: all is well */
};

void cluster_faults_run(uint64_t seed, const struct cluster_faults_options *options,
                        struct cluster_faults_result *out);
