/* See ready.h. The heap has four children an entry: half the levels of a binary heap, and the
 * children of one entry are near each other in memory. */
#include "sched/ready.h"
#include "sched/slots.h"

#define WAYS 4

/* `order` is the number of the push that opened the bucket: equal keys come out as they came in. */
static bool readyq_before(const struct ready_entry *a, const struct ready_entry *b)
{
    return a->key > b->key || (a->key == b->key && a->order < b->order);
}

void readyq_init(struct ready_queue *q)
{
    *q = (struct ready_queue){.last = NONE};
}

void readyq_free(struct ready_queue *q)
{
    array_free(&q->heap);
    array_free(&q->buckets);
    array_free(&q->unused);
}

/* A hole moves up until the entry fits; the last entry moves down into the hole of the first. */
static void heap_add(struct ready_queue *q, struct ready_entry entry)
{
    array_push(&q->heap, entry);
    size_t i = q->heap.n - 1;
    while (i) {
        size_t up = (i - 1) / WAYS;
        if (!readyq_before(&entry, &q->heap.at[up]))
            break;
        q->heap.at[i] = q->heap.at[up];
        i = up;
    }
    q->heap.at[i] = entry;
}

static void heap_take(struct ready_queue *q)
{
    struct ready_entry entry = array_pop(&q->heap);
    size_t n = q->heap.n, i = 0;
    if (!n)
        return;
    for (;;) {
        size_t first = i * WAYS + 1, end = first + WAYS < n ? first + WAYS : n;
        if (first >= n)
            break;
        size_t best = first;
        for (size_t c = first + 1; c < end; c++)
            if (readyq_before(&q->heap.at[c], &q->heap.at[best]))
                best = c;
        if (!readyq_before(&q->heap.at[best], &entry))
            break;
        q->heap.at[i] = q->heap.at[best];
        i = best;
    }
    q->heap.at[i] = entry;
}

/* The key of the last push again: into its bucket, O(1). Else a bucket is opened, also if another
 * one has the same key: the older one comes first. */
void readyq_push(struct ready_queue *q, struct slot *slots, uint32_t slot, double key)
{
    if (!(key == key)) /* no order among NaN */
        key = 0;
    if (q->last == NONE || q->last_key != key) {
        uint32_t bucket;
        if (q->unused.n) {
            bucket = array_pop(&q->unused);
        } else {
            bucket = (uint32_t)q->buckets.n;
            array_add(&q->buckets);
        }
        q->buckets.at[bucket].head = q->buckets.at[bucket].tail = NONE;
        heap_add(q, (struct ready_entry){key, q->pushed, bucket});
        q->last = bucket;
        q->last_key = key;
    }
    q->pushed++;
    uint32_t tail = q->buckets.at[q->last].tail;
    slots[slot].bucket = q->last;
    slots[slot].prev = tail;
    slots[slot].next = NONE;
    if (tail == NONE)
        q->buckets.at[q->last].head = slot;
    else
        slots[tail].next = slot;
    q->buckets.at[q->last].tail = slot;
    q->length++;
}

/* Buckets that removal emptied are thrown away here, when they come to the top: each once. */
uint32_t readyq_peek(struct ready_queue *q)
{
    while (q->length && q->heap.n) {
        uint32_t bucket = q->heap.at[0].bucket;
        if (q->buckets.at[bucket].head != NONE)
            return q->buckets.at[bucket].head;
        if (q->last == bucket)
            q->last = NONE;
        array_push(&q->unused, bucket);
        heap_take(q);
    }
    return NONE;
}

/* The end of the heap's array is one of its leaves. Taking it off keeps the heap a heap. */
uint32_t readyq_tail(struct ready_queue *q)
{
    while (q->length && q->heap.n) {
        uint32_t bucket = array_last(&q->heap).bucket;
        if (q->buckets.at[bucket].tail != NONE)
            return q->buckets.at[bucket].tail;
        if (q->last == bucket)
            q->last = NONE;
        array_push(&q->unused, bucket);
        q->heap.n--;
    }
    return NONE;
}

void readyq_remove(struct ready_queue *q, struct slot *slots, uint32_t slot)
{
    struct slot *s = &slots[slot];
    if (s->prev == NONE)
        q->buckets.at[s->bucket].head = s->next;
    else
        slots[s->prev].next = s->next;
    if (s->next == NONE)
        q->buckets.at[s->bucket].tail = s->prev;
    else
        slots[s->next].prev = s->prev;
    s->next = s->prev = NONE;
    q->length--;
}

uint32_t readyq_pop(struct ready_queue *q, struct slot *slots)
{
    uint32_t slot = readyq_peek(q);
    if (slot != NONE)
        readyq_remove(q, slots, slot);
    return slot;
}

/* Best first over the heap: an entry is looked at before those below it. */
uint32_t readyq_first(const struct ready_queue *q, const struct slot *slots, uint32_t *out,
                      uint32_t most)
{
    uint32_t n = 0;
    ARRAY(size_t) edge = {0};
    if (q->length && q->heap.n && most)
        array_push(&edge, 0);
    while (edge.n && n < most) {
        size_t best = 0;
        for (size_t i = 1; i < edge.n; i++)
            if (readyq_before(&q->heap.at[edge.at[i]], &q->heap.at[edge.at[best]]))
                best = i;
        size_t at = edge.at[best];
        edge.at[best] = array_pop(&edge);
        uint32_t slot = q->buckets.at[q->heap.at[at].bucket].head;
        for (; slot != NONE && n < most; slot = slots[slot].next)
            out[n++] = slots[slot].task;
        /* its children may be next; all others come after what is in `edge` already */
        for (size_t c = at * WAYS + 1; n < most && c <= at * WAYS + WAYS && c < q->heap.n; c++)
            array_push(&edge, c);
    }
    array_free(&edge);
    return n;
}

size_t readyq_bytes(const struct ready_queue *q)
{
    return q->heap.cap * sizeof *q->heap.at + q->buckets.cap * sizeof *q->buckets.at +
           q->unused.cap * sizeof *q->unused.at;
}

bool readyq_check(const struct ready_queue *q, const struct slot *slots)
{
    size_t tasks = 0;
    for (size_t i = 0; i < q->heap.n; i++) {
        if (i && readyq_before(&q->heap.at[i], &q->heap.at[(i - 1) / WAYS]))
            return false;
        uint32_t bucket = q->heap.at[i].bucket, previous = NONE;
        for (uint32_t s = q->buckets.at[bucket].head; s != NONE; s = slots[s].next) {
            if (slots[s].prev != previous || slots[s].bucket != bucket || tasks++ > q->length)
                return false;
            previous = s;
        }
        if (q->buckets.at[bucket].tail != previous)
            return false;
    }
    return tasks == q->length && q->heap.n + q->unused.n == q->buckets.n;
}
