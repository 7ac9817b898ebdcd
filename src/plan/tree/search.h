/* Local search over partitions: cuts and mapping changed together, the makespan kept incrementally
 * on the quotient tree. */
#pragma once
#include "base/progress.h"
#include "plan/tree/partition.h"

/* Where a search may cut: the tasks in preorder, thinned by weight. Level 0 has the heaviest
 * subtrees only, the last level every task. Shared by all searches of one setting, read-only. */
struct cut_levels;
struct cut_levels *cut_levels_new(const struct tree_setting *s);
void cut_levels_free(struct cut_levels *levels);

struct tree_search_limits {
    uint64_t moves;  /* cost to spend: a move counts 1, 1 more for every 128 pieces, and 1 more for
                        every 16 tasks looked at  for memory */
    double deadline; /* clock_seconds(); INFINITY: by moves alone */
    double target;   /* stop when the makespan is this short */
    const struct progress *progress;      /* may be NULL */
    double progress_from, progress_share; /* what part of the whole this search is */
    bool overhauls; /* take several pieces away and cut anew, then a few moves; else moves alone */
    double heat;    /* how much longer a makespan may become at first, relative */
};

/* Improve `best` (a valid, mapped partition; replaced only by shorter valid ones). Deterministic
 * for seed, stream and moves. Returns the cost spent. */
uint64_t tree_search(const struct tree_setting *s, const struct cut_levels *levels,
                     struct snapshot *best, uint64_t seed, uint64_t stream,
                     const struct tree_search_limits *limits);
