/* A ring of transfers with a head that is no element: private to a depot. All O(1). */
#pragma once
#include <stdbool.h>

struct depot_ring {
    struct depot_ring *prev, *next;
};

static inline void depot_ring_init(struct depot_ring *head)
{
    head->prev = head->next = head;
}
static inline void depot_ring_add(struct depot_ring *head, struct depot_ring *x) /* last */
{
    x->prev = head->prev;
    x->next = head;
    head->prev->next = x;
    head->prev = x;
}
static inline void depot_ring_remove(struct depot_ring *x)
{
    x->prev->next = x->next;
    x->next->prev = x->prev;
    x->prev = x->next = x;
}
static inline bool depot_ring_is_empty(const struct depot_ring *head)
{
    return head->next == head;
}
