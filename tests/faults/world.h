/* A small cluster in a bad world, from a seed: real schedulers, a store, and everything between
 * them that can go wrong.
 *
 *     messages   late, out of order, twice, never
 *     nodes      die, come back at once, late or never; are slow; are thought dead and are not
 *     network    part of the nodes is cut off from the others and from the store, for a while
 *     store      fails over: for a while nobody answers, answers are lost and their operations sent
 *                again; with a journal it is opened anew, a torn write at its end
 *     users      remove tasks, change policies; tasks fail
 *     growth     in some worlds parts of the graph join when tasks are done, and nodes learn of that late
 *     decisions  in some worlds tasks are not taken, or fail and may
 *     machines   in some worlds nodes fail what they run for a while, and are set aside; all may be
 *     knowledge  in half of the worlds nodes that begin have not heard of all others yet
 *     haste      in half of the worlds tasks start when their parents have ended on their node (sched/ahead.c)
 *     exodus     all nodes are told to leave at once and go; others begin under their numbers
 *     sizes      in most worlds nodes have unequal cores, memory and attributes, and tasks ask for
 *                some; nodes leave in order, and give back what has not begun
 *
 * The seed also draws the graph, the nodes and which of these happen. One node never dies but in an exodus. After
 * every event and at the end the invariants of docs/scheduler.md are checked; a seed gives the same
 * run to the bit, so a failing one can be run again.
 *
 * The world is judged with two stores: the real embedded one (with its journal, when a folder is
 * given; soak_test.c) and the model (model_store.h; faults_test.c), which must lead to the same
 * run. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum fault {
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
    FAULT_LEAVE = 2048,
    FAULT_ALL = 4095,
    FAULT_EXODUS = 4096, /* drawn by itself: it changes much of what the others do */
    FAULT_NONE = 8192,   /* a good world; not to be drawn */
};

struct fault_world_options {
    const char *folder;  /* for journals; NULL: the store is in memory only */
    uint32_t faults;     /* enum fault; 0: the seed draws them */
    bool model;          /* the store is the model, and has no journal */
    bool wide;           /* tasks that span several nodes, in every world */
    bool grows;          /* graphs that grow, and tasks that decide, in every world */
    uint64_t adopt_most; /* of the model: tasks that one ADOPT gives; 0: as asked */
};

struct fault_world_result {
    uint32_t nodes, tasks, faults; /* what was drawn */
    uint64_t events, digest;       /* digest: of everything the schedulers did */
    double time;                   /* virtual, at the end */
    uint32_t lost, doubled, crashes, adoptions, partitions, failovers, resent, replays;
    uint32_t done, ended_otherwise;
    uint32_t picky;   /* tasks that some node has no room for */
    uint32_t holding; /* tasks that hold things */
    uint32_t unfit;   /* times that one waited, since nobody there had room for it */
    uint32_t leaves, returned;
    uint32_t asides, passed_on; /* nodes that were set aside; attempts that they failed */
    uint32_t wide, parts; /* tasks that span several nodes; times that a node gave a part to one */
    uint32_t joined, skipped, excused; /* tasks */
    uint32_t ahead; /* tasks that started before the store knew that their parents had ended */
    uint32_t exoduses, strangers; /* strangers: schedulers that began without having heard of all */
    char trouble[400];            /* empty: all is well */
};

void fault_world_run(uint64_t seed, const struct fault_world_options *options,
                     struct fault_world_result *out);
