/* HetPart2: exchange processors of a finished mapping, now with their speeds. The cuts stay. */
#pragma once
#include "plan/tree/partition.h"

/* Would each piece fit on the other's processor? Either may be idle, not both. */
bool swap_fits(struct partition *p, uint32_t a, uint32_t b);

/* Phase A, SWAPUNTILBEST (Algorithm 4): the best exchange of two processors, idle ones included,
 * until none shortens the makespan. Only pieces on the critical path can help, so one of the two
 * always is. Past 128 processors the first exchange that helps is taken, and no more than
 * 32 a processor are tried. */
void swap_until_best(struct partition *p);

/* Phase B, PERTURB (Algorithm 5): exchanges between different speeds, those with the fastest
 * processors first, then by pieces with few of them; each only if it fits when its turn comes. */
void swap_perturb(struct partition *p);

/* Phases A and B in turn until B does not help (Algorithm 6); the best mapping is the one left. */
void swap_phases(struct partition *p, bool with_b);
