/* Fair shares: several runs on one node, whose cores go to the run that has had the least of it.
 *
 * What a run has *had* is core seconds over its weight, with what it runs now counted as if it were
 * through, or as long as it has lasted, whichever is more. Of the runs that have something to start, the
 * one that has had least starts next (start-time fair queueing, Goyal et al. 1996), also when its first
 * task needs more than is free now: then the others wait, so that it is not overtaken for ever. A run
 * that had nothing to start has no credit for that time.
 *
 * Nothing is taken away from a task that runs: a core is given anew when it becomes free. So two runs
 * that always have something to start differ in what they had by at most what their running tasks still
 * take (share_test.c), and no run waits for ever, whatever its weight.
 *
 * Each node counts for itself, for real agents (cluster/agent/supply.c) and for simulated nodes
 * (sim/schedulers_rooms.c). No clock: times come with the calls. All O(1) but where it says so. */
#pragma once
#include "base/array.h"
#include <stdbool.h>
#include <stdint.h>

/* One run on one node; zeroed before share_joins(). */
struct run_share {
    double weight;  /* share_weight() of its priority */
    double served;  /* core seconds of what has ended, over the weight */
    uint32_t busy;  /* cores that it uses */
    double running; /* core seconds of what runs, up to `since` */
    double since;   /* when `busy` was last another */
    double lengths; /* seconds of what has ended, together */
    uint64_t ended; /* how many that were */
    bool competes;  /* fact: it has something to start, or runs something */
};

enum { SHARE_PRIORITY_MOST = 20 }; /* either way */
/* Each more doubles the share: two cores for priority 1 to one for priority 0. */
double share_weight(double priority);

void share_takes(struct run_share *r, double now, uint32_t cores);
/* Something has ended after so many seconds. */
void share_gives(struct run_share *r, double now, uint32_t cores, double seconds);
double share_had(const struct run_share *r, double now);

/* The runs of a node. */
struct node_shares {
    ARRAY(struct run_share *) runs;           /* the caller's */
    bool (*waits)(const struct run_share *r); /* has it something to start? */
};

void share_joins(struct node_shares *n, struct run_share *r, double priority);
void share_leaves(struct node_shares *n, const struct run_share *r); /* O(runs) */
/* It has something to start: call it whenever that may be new. O(runs) if it is. */
void share_competes(struct node_shares *n, struct run_share *r, double now);
/* The run that starts next; the first of equals. NULL: none waits. O(runs). */
struct run_share *share_next(const struct node_shares *n, double now);
/* Has another that waits had less? O(runs). */
bool share_is_turn_of_another(const struct node_shares *n, const struct run_share *r, double now);
