/* What has gone over a channel: between two workers of a plan, or between the stream and one of its
 * helpers. Several threads count, any number read. */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

struct channel {
    _Atomic uint64_t items, bytes;
    _Atomic double seconds; /* that something was under way */
};

void channel_count(struct channel *c, uint64_t bytes, double seconds);
