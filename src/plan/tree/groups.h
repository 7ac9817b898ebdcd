/* Mappings to processors that are well connected, where links differ: a start for the searches. */
#pragma once
#include "plan/tree/partition.h"

struct group_budget {
    uint64_t moves, seed; /* of a search in each group; 0 moves: by time */
    double deadline;      /* clock_seconds(); INFINITY: none. Past it no group is begun */
};

/* Groups of processors with quick links among them, and for each the shortest mapping of hetpart2, the ladder, the auction
 * and a search to it alone: up to `most` into out[], the shortest first. Returns how many; 0 where all links are alike. */
uint32_t group_mappings(const struct tree_setting *s, const struct group_budget *budget,
                        struct snapshot *out, uint32_t most);
