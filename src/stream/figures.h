/* How long items took: a histogram whose buckets are a sixteenth of a power of two wide, so that what it
 * says is within 3 % and it never grows. One thread writes at a time, any number read. */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

enum { LATENCY_STEPS = 16, LATENCY_BUCKETS = 64 * LATENCY_STEPS };

struct latencies {
    _Atomic uint64_t count;
    _Atomic double sum, most;
    _Atomic uint64_t bucket[LATENCY_BUCKETS]; /* from 2^-34 s, 58 picoseconds, to 2^30 s */
};

void latencies_add(struct latencies *l, double seconds, uint64_t count); /* so many of them */
double latencies_mean(const struct latencies *l);                        /* 0: there are none */
/* Below which this share of them lies; 0: there are none. */
double latencies_quantile(const struct latencies *l, double share);
