/* Shapes: the profiles of blocks, each kept once, with what is asked of them: atoms, priority,
 * sweepability. All answers are remembered per pair of shapes, so that a hundred thousand blocks of
 * few shapes cost no more a block than a hundred.
 *
 * Atoms of a profile: repeatedly the shortest prefix of the rest with the largest average gain (its
 * slope); slopes never rise. */
#pragma once
#include "base/array.h"
#include <stdbool.h>
#include <stdint.h>

struct atom {
    uint32_t length, gain;
};

struct order_shape {
    uint32_t tails;
    uint32_t *rise; /* 0..tails */
    struct atom *atoms;
    uint32_t natoms;
    bool is_convex,
        is_concave; /* gains never fall, never rise: windows are prefixes and suffixes */
    bool has_windows, no_windows; /* computed; too costly to compute */
    uint32_t *least, *most; /* gain of the worst and the best window of k tails, k = 0..tails */
};

struct shapes {
    ARRAY(struct order_shape) all;
    uint32_t *slots; /* hash table of profiles: index + 1 */
    uint32_t nslots;
    uint64_t *pairs; /* hash table of answers */
    uint8_t *answers;
    uint64_t npairs, pair_slots;
    uint64_t spent, budget; /* elementary steps of priority tests and sweeps; past the budget
                               answers are "no" */
};

void shapes_init(struct shapes *s, uint64_t budget);
void shapes_free(struct shapes *s);
/* The number of the shape of this profile (rise[0..tails] is copied when new). */
uint32_t shapes_add(struct shapes *s, const uint32_t *rise, uint32_t tails);

/* a |> b, equation (1): running all of a, then b, is as good as any mixture. */
bool shapes_priority(struct shapes *s, uint32_t a, uint32_t b);
/* Does the sum of a block of shape a and one of shape b have an IC-optimal order? By priority, else
 * by 2-IC-Sweep. */
bool shapes_sweepable(struct shapes *s, uint32_t a, uint32_t b);
/* Largest r in 0..1 with r (Ea(x) + Eb(y)) <= Ea(min(sa, x+y)) + Eb(max(0, x+y-sa)): how nearly a
 * |> b. Long profiles are sampled at 128 points. */
double shapes_ratio(struct shapes *s, uint32_t a, uint32_t b);

/* < 0, 0, > 0 as the slope of a is smaller, equal, larger. */
static inline int atom_compare(struct atom a, struct atom b)
{
    uint64_t x = (uint64_t)a.gain * b.length, y = (uint64_t)b.gain * a.length;
    return x < y ? -1 : x > y;
}
