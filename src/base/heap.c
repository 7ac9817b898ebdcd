/* A stable priority queue: equal keys come out in the order in which they went in, without which no
 * simulation or planner would repeat. O(log n) a push or a pop. */
#include "base/heap.h"
#include "base/mem.h"

#include <stdlib.h>

/* Never equal: every item has an order of its own. */
static inline bool heap_before(const struct heap_item *a, const struct heap_item *b)
{
    return a->key < b->key || (a->key == b->key && a->order < b->order);
}

void heap_free(struct heap *h)
{
    free(h->at);
    *h = (struct heap){0};
}

void heap_clear(struct heap *h)
{
    h->n = 0;
    h->pushed = 0;
}

/* A 4-ary heap: half the levels of a binary one, children in one or two cache lines. */
void heap_push(struct heap *h, double key, uint64_t value)
{
    if (h->n == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 64;
        h->at = mem_resize(h->at, h->cap);
    }
    struct heap_item item = {key, h->pushed++, value};
    size_t i = h->n++;
    while (i) {
        size_t parent = (i - 1) / 4;
        if (!heap_before(&item, &h->at[parent]))
            break;
        h->at[i] = h->at[parent];
        i = parent;
    }
    h->at[i] = item;
}

/* The heap must not be empty. */
struct heap_item heap_pop(struct heap *h)
{
    struct heap_item top = h->at[0];
    struct heap_item last = h->at[--h->n];
    size_t i = 0;
    for (;;) {
        size_t child = i * 4 + 1, least = child;
        if (child >= h->n)
            break;
        size_t end = child + 4 < h->n ? child + 4 : h->n;
        for (size_t c = child + 1; c < end; c++)
            if (heap_before(&h->at[c], &h->at[least]))
                least = c;
        if (!heap_before(&h->at[least], &last))
            break;
        h->at[i] = h->at[least];
        i = least;
    }
    if (h->n)
        h->at[i] = last;
    return top;
}
