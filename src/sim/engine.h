/* Virtual time: a clock, a queue of events, a source of randomness. One engine per simulation and
 * nothing global, so that many run at once in one process; the same calls in the same order give
 * the same simulation to the bit.
 *
 * An event is a kind (the caller's small enum) and a payload. Events of one instant come out in the
 * order they were put in. */
#pragma once
#include "base/rng.h"
#include "sim/queue.h"
#include <math.h>

struct engine {
    struct queue queue;
    double now;
    uint64_t pushed; /* sequence number of the next event */
    uint64_t
        events; /* handled so far: those taken here, and those that the caller counts himself */
    struct rng rng;
};

struct event {
    double time;
    uint32_t kind;    /* 0 .. 255 */
    uint64_t payload; /* 56 bits */
};

void engine_init(struct engine *e, uint64_t seed);
void engine_free(struct engine *e);

/* `time` must not lie before the clock. */
static inline void engine_at(struct engine *e, double time, uint32_t kind, uint64_t payload)
{
    queue_push(&e->queue, time, e->pushed++, (uint64_t)kind << 56 | payload);
}

/* When the next event is due; INFINITY: nothing is. */
static inline double engine_next(const struct engine *e)
{
    return e->queue.n ? e->queue.at[0].key : INFINITY;
}

/* Take the next event (there must be one) and set the clock to it. */
static inline struct event engine_take(struct engine *e)
{
    struct queue_item item = queue_pop(&e->queue);
    e->now = item.key;
    e->events++;
    return (struct event){item.key, (uint32_t)(item.value >> 56),
                          item.value & (((uint64_t)1 << 56) - 1)};
}
