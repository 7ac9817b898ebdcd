/* xoshiro256** of Blackman and Vigna, seeded by splitmix64. The only source of randomness below the
 * apps: the same seed gives the same numbers on every machine. */
#include "base/rng.h"

#include <math.h>

static uint64_t rng_splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Streams of one seed are independent for all purposes here: several parts of a simulation draw
 * without disturbing each other. */
void rng_seed_stream(struct rng *r, uint64_t seed, uint64_t stream)
{
    uint64_t x = seed ^ (stream * 0xD1342543DE82EF95ull);
    for (int i = 0; i < 4; i++)
        r->s[i] = rng_splitmix(&x);
    r->has_spare = 0;
    r->spare = 0;
}

void rng_seed(struct rng *r, uint64_t seed)
{
    rng_seed_stream(r, seed, 0);
}

static uint64_t rng_rotl(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

/* Period 2^256 - 1; passes the usual batteries of tests. */
uint64_t rng_next(struct rng *r)
{
    uint64_t result = rng_rotl(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;
    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = rng_rotl(r->s[3], 45);
    return result;
}

/* 53 bits in [0, 1): every value a double can have there is equally far from the next. */
double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* By rejection, so that all numbers are equally likely. bound > 0. */
uint64_t rng_below(struct rng *r, uint64_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound, x;
    do
        x = rng_next(r);
    while (x >= limit);
    return x % bound;
}

double rng_uniform(struct rng *r, double lo, double hi)
{
    return lo + (hi - lo) * rng_unit(r);
}

/* Marsaglia's polar method gives two at a time; the second is kept. */
double rng_normal(struct rng *r)
{
    if (r->has_spare) {
        r->has_spare = 0;
        return r->spare;
    }
    double u, v, s;
    do {
        u = 2 * rng_unit(r) - 1;
        v = 2 * rng_unit(r) - 1;
        s = u * u + v * v;
    } while (s >= 1 || s == 0);
    double f = sqrt(-2 * log(s) / s);
    r->spare = v * f;
    r->has_spare = 1;
    return u * f;
}

/* 1 - u is never 0. */
double rng_exponential(struct rng *r, double mean)
{
    return -mean * log(1 - rng_unit(r));
}
