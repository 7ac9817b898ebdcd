/* The queue of virtual time: smallest key first, equal keys by a sequence number that the caller
 * gives.
 *
 * Unlike base/heap.h the sequence is explicit, so that an entry can move from one queue to another
 * and keep its place among equals. Four children a node: half the levels of a binary heap, and the
 * children share a cache line or two. All of it is inline because a simulation spends a third of
 * its time here. */
#pragma once
#include "base/mem.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct queue_item {
    double key;
    uint64_t order;
    uint64_t value;
};

struct queue {
    struct queue_item *at;
    size_t n, cap;
};

static inline void queue_free(struct queue *q)
{
    free(q->at);
    q->at = NULL;
    q->n = q->cap = 0;
}

static inline bool queue_before(const struct queue_item *a, const struct queue_item *b)
{
    return a->key < b->key || (a->key == b->key && a->order < b->order);
}

static inline void queue_push(struct queue *q, double key, uint64_t order, uint64_t value)
{
    if (q->n == q->cap) {
        q->cap = q->cap ? q->cap * 2 : 16;
        q->at = mem_resize(q->at, q->cap);
    }
    struct queue_item item = {key, order, value};
    size_t i = q->n++;
    while (i > 0) {
        size_t parent = (i - 1) / 4;
        if (!queue_before(&item, &q->at[parent]))
            break;
        q->at[i] = q->at[parent];
        i = parent;
    }
    q->at[i] = item;
}

static inline const struct queue_item *queue_peek(const struct queue *q)
{
    return q->n ? q->at : NULL;
}

/* The queue must not be empty. */
static inline struct queue_item queue_pop(struct queue *q)
{
    struct queue_item top = q->at[0];
    struct queue_item item = q->at[--q->n];
    size_t i = 0;
    for (;;) {
        size_t child = 4 * i + 1;
        if (child >= q->n)
            break;
        size_t last = child + 4 < q->n ? child + 4 : q->n;
        size_t least = child;
        for (size_t c = child + 1; c < last; c++)
            if (queue_before(&q->at[c], &q->at[least]))
                least = c;
        if (!queue_before(&q->at[least], &item))
            break;
        q->at[i] = q->at[least];
        i = least;
    }
    q->at[i] = item;
    return top;
}
