/* A ready queue: largest key first, equal keys in the order they came.
 *
 * Workloads have few distinct keys (no data at all; a plan's order has many), so the heap holds
 * buckets of tasks with one key and a bucket is a list threaded through the slots: pushing the same
 * key as last time and popping are O(1) whatever the length, a new key costs O(log buckets),
 * removing any task is O(1). A bucket that removal emptied stays in the heap until it comes to the
 * top. */
#pragma once
#include "base/array.h"
#include <stdbool.h>
#include <stdint.h>

struct slot;

struct ready_entry {
    double key;
    uint64_t order;
    uint32_t bucket;
};

struct ready_bucket {
    uint32_t head, tail; /* slots */
};

struct ready_queue {
    ARRAY(struct ready_entry) heap;
    ARRAY(struct ready_bucket) buckets;
    ARRAY(uint32_t) unused;
    uint64_t pushed;
    double last_key;
    uint32_t last; /* the bucket of the last push, while it is in the heap; NONE */
    uint32_t length;
};

void readyq_init(struct ready_queue *q);
void readyq_free(struct ready_queue *q);
void readyq_push(struct ready_queue *q, struct slot *slots, uint32_t slot, double key);
/* The first task without taking it; NONE when empty. */
uint32_t readyq_peek(struct ready_queue *q);
uint32_t readyq_pop(struct ready_queue *q, struct slot *slots);
void readyq_remove(struct ready_queue *q, struct slot *slots, uint32_t slot);
/* One from the far end of the heap without taking it: not the last, but one of the lower half, in
 * O(1); NONE when empty. */
uint32_t readyq_tail(struct ready_queue *q);
/* The first tasks without taking them, in order; at most `most`, which should be small: O(most^2).
 */
uint32_t readyq_first(const struct ready_queue *q, const struct slot *slots, uint32_t *out,
                      uint32_t most);
size_t readyq_bytes(const struct ready_queue *q);
/* Walk everything: counts, links, heap order. For tests. */
bool readyq_check(const struct ready_queue *q, const struct slot *slots);
