/* A stable priority queue: smallest key first, equal keys in the order they were pushed.
 * (Equal keys must keep insertion order, or simulations and plans do not repeat.) */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

struct heap_item {
    double key;
    uint64_t order;
    uint64_t value;
};

struct heap {
    struct heap_item *at;
    size_t n, cap;
    uint64_t pushed;
};

void heap_free(struct heap *h);
void heap_clear(struct heap *h); /* empties it and restarts the insertion count */
void heap_push(struct heap *h, double key, uint64_t value);
struct heap_item heap_pop(struct heap *h); /* must not be empty */
static inline const struct heap_item *heap_peek(const struct heap *h)
{
    return h->n ? h->at : NULL;
}
