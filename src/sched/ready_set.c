/* Ready queues by group: see ready_set.h. */
#include "sched/ready_set.h"

void readyset_init(struct ready_set *set)
{
    *set = (struct ready_set){0};
    readyq_init(&set->any);
}

void readyset_free(struct ready_set *set)
{
    readyq_free(&set->any);
    for (size_t i = 0; i < set->picky.n; i++)
        readyq_free(&set->picky.at[i]);
    array_free(&set->picky);
}

struct ready_queue *readyset_picky(struct ready_set *set, uint32_t group)
{
    while (set->picky.n < group)
        readyq_init(array_add(&set->picky));
    return &set->picky.at[group - 1];
}

static bool readyset_has_group(uint64_t groups, size_t group)
{
    return groups >> group & 1;
}

/* The largest key; a picky group's before an equal one of group 0. */
uint32_t readyset_peek_all(struct ready_set *set, uint64_t groups)
{
    uint32_t best = groups & 1 ? readyq_peek(&set->any) : NONE;
    double key = best == NONE ? 0 : set->any.heap.at[0].key;
    bool picky = false;
    for (size_t i = 0; i < set->picky.n; i++) {
        struct ready_queue *q = &set->picky.at[i];
        uint32_t first = readyset_has_group(groups, i + 1) ? readyq_peek(q) : NONE;
        if (first == NONE)
            continue;
        double own = q->heap.at[0].key;
        if (best == NONE || own > key || (own == key && !picky)) {
            best = first;
            key = own;
            picky = true;
        }
    }
    return best;
}

uint32_t readyset_tail(struct ready_set *set, uint64_t groups)
{
    for (size_t i = 0; i < set->picky.n; i++) {
        uint32_t last = readyset_has_group(groups, i + 1) ? readyq_tail(&set->picky.at[i]) : NONE;
        if (last != NONE)
            return last;
    }
    return groups & 1 ? readyq_tail(&set->any) : NONE;
}

uint32_t readyset_length(const struct ready_set *set, uint64_t groups)
{
    uint32_t n = groups & 1 ? set->any.length : 0;
    for (size_t i = 0; i < set->picky.n; i++)
        n += readyset_has_group(groups, i + 1) ? set->picky.at[i].length : 0;
    return n;
}

uint32_t readyset_first(const struct ready_set *set, const struct slot *slots, uint32_t *out,
                        uint32_t most)
{
    uint32_t n = 0;
    for (size_t i = 0; i < set->picky.n && n < most; i++)
        n += readyq_first(&set->picky.at[i], slots, out + n, most - n);
    return n + readyq_first(&set->any, slots, out + n, most - n);
}

size_t readyset_bytes(const struct ready_set *set)
{
    size_t bytes = readyq_bytes(&set->any) + set->picky.cap * sizeof *set->picky.at;
    for (size_t i = 0; i < set->picky.n; i++)
        bytes += readyq_bytes(&set->picky.at[i]);
    return bytes;
}

bool readyset_check(const struct ready_set *set, const struct slot *slots)
{
    uint32_t length = set->any.length;
    bool good = readyq_check(&set->any, slots);
    for (size_t i = 0; i < set->picky.n; i++) {
        good &= readyq_check(&set->picky.at[i], slots);
        length += set->picky.at[i].length;
    }
    return good && length == set->length;
}
