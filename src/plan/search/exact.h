/* Exact search: the least makespan by branch and bound, one copy of each task, transfers without
 * contention.
 *
 * Schedules are built by adding one (task, node) at a time, each at its earliest start after what
 * its core already holds, and only in the order of the key (start, finish, place in topo): a child
 * whose key is below its parent's is not made.
 *
 * Why an optimum is among them. Take an optimal schedule S. Sort its tasks by key; that order puts
 * producers before consumers, and of two tasks on one core the one that runs first (of two with the
 * same start one takes no time, and has the earlier finish). Rebuild S in that order with every
 * task on the same node and core, as early as possible: by induction no task starts later than in
 * S, because its data and its core are there no later, and - where memory binds - because every
 * task that the rebuilt task finds running at its old start was running then in S too. If some task
 * moved, sort and rebuild again: the sum of starts falls each time, and there are finitely many
 * schedules of this form. It ends with a schedule in key order that is its own rebuild, no longer
 * than S: one that the search builds. (Sums and maxima of doubles are monotone, so this also holds
 * as computed.)
 *
 * On a node whose tasks all need one core, only one core is tried: the one that became free last of
 * those that allow the earliest start. All further tasks start no earlier (key order), so cores
 * free by then are interchangeable from there on. When some task needs several neighbouring cores,
 * every window is tried.
 *
 * Two tasks back to back on one core whose swap harms nobody - b has its data whenever a has, and
 * the same tasks wait for both, for at least as many bytes of b - are only tried in the order b, a.
 * Why an optimum remains: give every task the weight time x g, where g grows with the preference
 * (bytes out, then fewer bytes in, then rank). A swap of a, b into b, a lowers the sum of weight x
 * start by time x time x (g of b - g of a), a rebuild never raises it and lowers the sum of starts,
 * and naming interchangeable tasks by rank lowers it too; so swapping and rebuilding ends, and
 * where it ends nothing is left to swap. (Tasks without a time, of several cores, or under a memory
 * limit are not swapped.)
 *
 * What is not searched twice: of interchangeable nodes that are still empty one is tried;
 * interchangeable tasks (same times, same producers and consumers with the same data) are taken in
 * their order; a state that was met before - the same tasks done, and the rest of the world looking
 * the same to the others up to a renaming of interchangeable nodes - is cut. States are recognised
 * by a 128-bit hash: in 10^9 states, one chance in 10^20 that two are mistaken for each other.
 *
 * Pruning is by 1e-9 of the makespan: the answer is optimal to within that. */
#pragma once
#include "base/progress.h"
#include "plan/search/decoder.h"

enum { EXACT_TASKS = 64 };

struct exact_limits {
    double seconds;  /* wall time; INFINITY: none */
    uint64_t states; /* 0: none */
    const struct progress *progress;
    double progress_from, progress_to; /* fractions of the whole work that this search covers */
};

struct exact_result {
    bool proven;
    bool interrupted; /* by the user */
    double bound;     /* no schedule is shorter; the makespan itself when proven */
    uint64_t states;
    bool improved;     /* `best` was replaced */
    struct plan *plan; /* the schedule that replaced it, contention-free, with its cores; the caller
                          frees it; NULL: none */
};

/* Search for something shorter than `best` (whose makespan must be true of it, or INFINITY), which
 * is replaced when found. Ports are ignored. Where tasks need several cores, decoding `best` may
 * choose other cores than the search did and be longer: `plan` is what was found. The problem must
 * have at most EXACT_TASKS tasks. */
struct exact_result exact_search(const struct problem *p, struct encoding *best,
                                 const struct exact_limits *limits);
