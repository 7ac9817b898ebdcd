/* How long items took, and how many came out a second.
 *
 * Latencies are a histogram whose buckets are a sixteenth of a power of two wide, so that what it says is within
 * 3 % and it never grows. One thread writes at a time, any number read. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
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

/* When items have left a stream: one thread writes at a time, any number read. */
struct departures {
    _Atomic uint64_t first_items; /* that left with the first, at once */
    _Atomic double first_in, first_out, last_out;
};

void departures_add(struct departures *d, uint64_t items, double entered, double now);
double departures_seconds(const struct departures *d); /* from the first item's entry; 0: none */
/* Items a second, of so many: those behind the first ones, by the time between. A stream without a pace that was
 * over before items could follow each other for as long as one takes has no such time: there all items count, by
 * all of its time. */
double departures_throughput(const struct departures *d, uint64_t items, double latency_mean,
                             bool paced);
