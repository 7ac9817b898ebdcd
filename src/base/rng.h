/* Seeded randomness (xoshiro256**): the same seed gives the same numbers on every machine. */
#pragma once
#include <stdint.h>

struct rng {
    uint64_t s[4];
    double spare; /* second value of the last normal pair */
    int has_spare;
};

void rng_seed(struct rng *r, uint64_t seed);
/* An independent stream for the same seed (thread or repeat number `stream`). */
void rng_seed_stream(struct rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *r);
double rng_unit(struct rng *r);                          /* [0, 1) */
uint64_t rng_below(struct rng *r, uint64_t bound);       /* 0 .. bound-1, unbiased; bound >= 1 */
double rng_uniform(struct rng *r, double lo, double hi); /* [lo, hi) */
double rng_normal(struct rng *r);                        /* mean 0, deviation 1 */
double rng_exponential(struct rng *r, double mean);
