/* The ready tasks of one thread: a ring that its owner uses at one end and thieves at the other
 * (Chase and Lev 2005, in the form of Le, Pop, Cohen and Zappa Nardelli 2013; sequentially consistent
 * operations stand for their fences, which the thread sanitizer does not understand).
 *
 *        top: thieves take here                 bottom: the owner puts and takes here
 *          v                                      v
 *     [ .. | 17 | 4 | 9 | ...           ... | 23 | ..                    indices only grow
 *
 * Of fixed size: what does not fit goes where the crew says. Private to the crew. */
#pragma once
#include "model/workflow.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { DEQUE_ROOM = 4096, CACHE_LINE = 64 };

struct deque {
    _Alignas(CACHE_LINE) _Atomic int64_t top;
    _Alignas(CACHE_LINE) _Atomic int64_t bottom;
    _Alignas(CACHE_LINE) _Atomic uint32_t at[DEQUE_ROOM];
};

/* By its owner. False: it is full. */
static inline bool deque_push(struct deque *d, uint32_t task)
{
    int64_t bottom = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    int64_t top = atomic_load_explicit(&d->top, memory_order_acquire);
    if (bottom - top >= DEQUE_ROOM)
        return false;
    atomic_store_explicit(&d->at[bottom % DEQUE_ROOM], task, memory_order_relaxed);
    atomic_store(&d->bottom, bottom + 1); /* before the look at who sleeps */
    return true;
}

/* By its owner; NONE: it is empty. */
static inline uint32_t deque_pop(struct deque *d)
{
    int64_t bottom = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1;
    if (bottom < atomic_load_explicit(&d->top, memory_order_relaxed))
        return NONE; /* nobody else could have put something in */
    atomic_store(&d->bottom, bottom);
    int64_t top = atomic_load(&d->top);
    if (top > bottom) {
        atomic_store_explicit(&d->bottom, bottom + 1, memory_order_relaxed);
        return NONE;
    }
    uint32_t task = atomic_load_explicit(&d->at[bottom % DEQUE_ROOM], memory_order_relaxed);
    if (top == bottom) { /* the last one: a thief may be at it */
        if (!atomic_compare_exchange_strong(&d->top, &top, top + 1))
            task = NONE;
        atomic_store_explicit(&d->bottom, bottom + 1, memory_order_relaxed);
    }
    return task;
}

/* By anybody; NONE: it is empty, or another was quicker. */
static inline uint32_t deque_steal(struct deque *d)
{
    int64_t top = atomic_load(&d->top);
    if (top >= atomic_load(&d->bottom))
        return NONE;
    uint32_t task = atomic_load_explicit(&d->at[top % DEQUE_ROOM], memory_order_relaxed);
    return atomic_compare_exchange_strong(&d->top, &top, top + 1) ? task : NONE;
}

static inline bool deque_has_some(struct deque *d)
{
    return atomic_load(&d->top) < atomic_load(&d->bottom);
}
