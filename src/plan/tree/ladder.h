/* Mappings of a whole tree by a ladder of deadlines: all levels of cuts at once. */
#pragma once
#include "plan/tree/partition.h"

/* The shortest mappings found into out[most] (snapshot_keep), none later than `deadline` (clock_seconds();
 * INFINITY: all rounds). `known`: a makespan worth beating. Every mapping kept is valid. */
void ladder_mappings(const struct tree_setting *s, double known, double deadline,
                     struct snapshot *out, uint32_t *found, uint32_t most);
