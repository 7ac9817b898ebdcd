/* The ready tasks of a crew that keeps to an order: a binary heap, best first. Under the crew's lock but for `n`, at
 * which threads look before they ask for the lock. Private to the crew. */
#pragma once
#include "model/workflow.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct crew_heap {
    uint32_t *at;           /* NULL: the crew keeps to no order */
    const double *priority; /* by task, larger first; then the smaller number */
    _Atomic uint32_t n;
};

static inline bool crew_heap_before(const double *priority, uint32_t a, uint32_t b)
{
    return priority[a] > priority[b] || (priority[a] == priority[b] && a < b);
}

static inline void crew_heap_push(struct crew_heap *h, uint32_t task)
{
    uint32_t i = atomic_fetch_add(&h->n, 1);
    for (; i && crew_heap_before(h->priority, task, h->at[(i - 1) / 2]); i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = task;
}

/* NONE: it is empty. */
static inline uint32_t crew_heap_pop(struct crew_heap *h)
{
    uint32_t n = atomic_load_explicit(&h->n, memory_order_relaxed);
    if (!n)
        return NONE;
    uint32_t best = h->at[0], last = h->at[--n], i = 0;
    atomic_store(&h->n, n);
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && crew_heap_before(h->priority, h->at[child + 1], h->at[child]);
        if (!crew_heap_before(h->priority, h->at[child], last))
            break;
        h->at[i] = h->at[child];
    }
    if (n)
        h->at[i] = last;
    return best;
}
