/* Counting what goes over a channel (channel.h). */
#include "stream/channel.h"

/* C has no atomic sum of doubles: who comes between two others tries again. */
void channel_count(struct channel *c, uint64_t bytes, double seconds)
{
    atomic_fetch_add_explicit(&c->items, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->bytes, bytes, memory_order_relaxed);
    if (!(seconds > 0))
        return; /* in memory nothing travels */
    double now = atomic_load_explicit(&c->seconds, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&c->seconds, &now, now + seconds,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}
