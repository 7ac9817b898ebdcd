/* HetPart1 and HetPart2 over their variants. */
#pragma once
#include "plan/tree/pipeline.h"

enum phases { PHASES_NONE, PHASE_A, PHASES_AB };

/* The shortest mappings, with the real speeds, over the step-1 methods asked for (STEP1_BEST: all);
 * what HetPart2 adds by `phases`. Up to `most` of different makespan into out[], the shortest first:
 * of each method the one that equal speeds call the shortest, and two-level splits whose last step
 * counted the real ones. Returns how many. The whole tree as one piece is tried only when no other
 * way is valid. 0: none is valid, and `p` holds the last attempt.
 *
 * `every`: the shortest of all, with the exchanges of `phases` from each mapping on the way. It is
 * never longer than HetPart1 or than phase A from any valid mapping of the same methods. */
uint32_t hetpart_best(struct partition *p, enum step1 method, enum fit_method fit,
                      enum phases phases, struct snapshot *out, uint32_t most,
                      struct snapshot *every);
