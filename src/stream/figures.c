/* The histogram of latencies, and throughput. */
#include "stream/figures.h"

#include <math.h>

enum { LOWEST = -34 };

/* By exponent, then by the first four bits behind the leading one. */
static uint32_t latencies_bucket(double seconds)
{
    int exponent;
    if (!(seconds > 0))
        return 0;
    double fraction = frexp(seconds, &exponent); /* 0.5 <= fraction < 1 */
    int at = (exponent - LOWEST) * LATENCY_STEPS + (int)((fraction - 0.5) * 2 * LATENCY_STEPS);
    return at < 0 ? 0 : at >= LATENCY_BUCKETS ? LATENCY_BUCKETS - 1 : (uint32_t)at;
}

void latencies_add(struct latencies *l, double seconds, uint64_t count)
{
    /* one writer: loads and stores, no locked instructions */
    _Atomic uint64_t *bucket = &l->bucket[latencies_bucket(seconds)];
    atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + count,
                          memory_order_relaxed);
    atomic_store_explicit(&l->count, atomic_load_explicit(&l->count, memory_order_relaxed) + count,
                          memory_order_relaxed);
    atomic_store_explicit(
        &l->sum, atomic_load_explicit(&l->sum, memory_order_relaxed) + seconds * (double)count,
        memory_order_relaxed);
    if (seconds > atomic_load_explicit(&l->most, memory_order_relaxed))
        atomic_store_explicit(&l->most, seconds, memory_order_relaxed);
}

double latencies_mean(const struct latencies *l)
{
    uint64_t count = atomic_load_explicit(&l->count, memory_order_relaxed);
    return count ? atomic_load_explicit(&l->sum, memory_order_relaxed) / (double)count : 0;
}

double latencies_quantile(const struct latencies *l, double share)
{
    uint64_t count = atomic_load_explicit(&l->count, memory_order_relaxed), seen = 0;
    double most = atomic_load_explicit(&l->most, memory_order_relaxed);
    double wanted = ceil((double)count * share);
    for (uint32_t i = 0; count && i < LATENCY_BUCKETS; i++) {
        seen += atomic_load_explicit(&l->bucket[i], memory_order_relaxed);
        if ((double)seen < wanted || !seen)
            continue;
        /* the middle of the bucket, but no more than the most there was */
        double low = ldexp(0.5 + (i % LATENCY_STEPS) / (2.0 * LATENCY_STEPS),
                           (int)(i / LATENCY_STEPS) + LOWEST);
        double middle = low + ldexp(1 / (4.0 * LATENCY_STEPS), (int)(i / LATENCY_STEPS) + LOWEST);
        return fmin(middle, most);
    }
    return most;
}

void departures_add(struct departures *d, uint64_t items, double entered, double now)
{
    if (!atomic_load_explicit(&d->first_out, memory_order_relaxed)) {
        atomic_store_explicit(&d->first_in, entered, memory_order_relaxed);
        atomic_store_explicit(&d->first_items, items, memory_order_relaxed);
        atomic_store_explicit(&d->first_out, now, memory_order_relaxed);
    }
    atomic_store_explicit(&d->last_out, now, memory_order_relaxed);
}

double departures_seconds(const struct departures *d)
{
    return atomic_load_explicit(&d->last_out, memory_order_relaxed) -
           atomic_load_explicit(&d->first_in, memory_order_relaxed);
}

double departures_throughput(const struct departures *d, uint64_t items, double latency_mean,
                             bool paced)
{
    uint64_t first = atomic_load_explicit(&d->first_items, memory_order_relaxed);
    double all = departures_seconds(d),
           behind = atomic_load_explicit(&d->last_out, memory_order_relaxed) -
                    atomic_load_explicit(&d->first_out, memory_order_relaxed);
    if (behind > 0 && items > first && (paced || behind >= latency_mean))
        return (double)(items - first) / behind;
    return items && all > 0 ? (double)items / all : 0;
}
