/* Greedy order of a piece, and bounds on areas by slopes, where nothing exact is affordable.
 *
 * Greedy: always the available tail that renders most heads now, then the one with most children,
 * then the lowest. A head with one parent missing knows which by the xor of the missing ones, so
 * gains are kept in O(arcs) and the order takes O(arcs log tails). */
#include "plan/order/greedy.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>

/* A binary heap of tails with their keys, stale entries skipped when they come up. */
struct greedy_entry {
    uint32_t gain, degree, tail;
};

/* Gain, then degree, then number: a total order. */
static bool entry_is_before(struct greedy_entry a, struct greedy_entry b)
{
    if (a.gain != b.gain)
        return a.gain > b.gain;
    if (a.degree != b.degree)
        return a.degree > b.degree;
    return a.tail < b.tail;
}

typedef ARRAY(struct greedy_entry) entries;

static void entries_push(entries *h, struct greedy_entry e)
{
    array_push(h, e);
    size_t i = h->n - 1;
    for (; i > 0 && entry_is_before(e, h->at[(i - 1) / 2]); i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = e;
}

static struct greedy_entry entries_pop(entries *h)
{
    struct greedy_entry top = h->at[0], e = array_pop(h);
    size_t i = 0;
    while (2 * i + 1 < h->n) {
        size_t child = 2 * i + 1;
        if (child + 1 < h->n && entry_is_before(h->at[child + 1], h->at[child]))
            child++;
        if (!entry_is_before(h->at[child], e))
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    if (h->n)
        h->at[i] = e;
    return top;
}

/* A changed gain pushes the tail again; the entry that was pushed before is stale and is skipped.
 */
void greedy_order(const struct order_piece *p, uint32_t *order)
{
    uint32_t n = p->ntails, at = 0;
    uint32_t *missing = mem_new(uint32_t, p->nheads), *gain = mem_new_zero(uint32_t, n);
    uint32_t *mix = mem_new_zero(
        uint32_t, p->nheads); /* missing parents, xor-ed: the last one when one is missing */
    uint32_t *tail_of = mem_new(uint32_t, p->nheads);
    bool *available = mem_new_zero(bool, n), *done = mem_new_zero(bool, n);
    entries heap = {0};
    for (uint32_t h = 0; h < p->nheads; h++) {
        missing[h] = p->parent_off[h + 1] - p->parent_off[h];
        tail_of[h] = NONE;
        for (uint32_t a = p->parent_off[h]; a < p->parent_off[h + 1]; a++)
            mix[h] ^= p->parent[a];
        if (missing[h] == 1)
            gain[mix[h]]++;
    }
    for (uint32_t t = 0; t < n; t++) {
        available[t] = p->self[t] == NONE;
        if (!available[t])
            tail_of[p->self[t]] = t;
        else
            entries_push(&heap,
                         (struct greedy_entry){gain[t], p->child_off[t + 1] - p->child_off[t], t});
    }
    while (heap.n) {
        struct greedy_entry e = entries_pop(&heap);
        uint32_t t = e.tail;
        if (done[t] || e.gain != gain[t])
            continue;
        done[t] = true;
        order[at++] = t;
        for (uint32_t a = p->child_off[t]; a < p->child_off[t + 1]; a++) {
            uint32_t h = p->child[a];
            mix[h] ^= t;
            uint32_t left = --missing[h];
            uint32_t touched = left == 1 ? mix[h] : left == 0 ? tail_of[h] : NONE;
            if (left == 1)
                gain[touched]++;
            if (left == 0 && touched != NONE)
                available[touched] = true;
            if (touched != NONE && available[touched])
                entries_push(
                    &heap, (struct greedy_entry){gain[touched],
                                                 p->child_off[touched + 1] - p->child_off[touched],
                                                 touched});
        }
    }
    free(missing);
    free(gain);
    free(mix);
    free(tail_of);
    free(available);
    free(done);
    array_free(&heap);
}

/* Each head gives its parents equal shares: t tails cannot render more heads than their t largest
 * shares sum to. */
void greedy_shares(const struct order_piece *p, struct slope *shares)
{
    for (uint32_t t = 0; t < p->ntails; t++) {
        shares[t] = (struct slope){0, 1};
        for (uint32_t a = p->child_off[t]; a < p->child_off[t + 1]; a++) {
            uint32_t h = p->child[a];
            shares[t].value += 1.0 / (p->parent_off[h + 1] - p->parent_off[h]);
        }
    }
}

static int compare_falling_slopes(const void *a, const void *b)
{
    double x = ((const struct slope *)a)->value, y = ((const struct slope *)b)->value;
    return x > y ? -1 : x < y;
}

/* The concave envelope: slopes by falling value, rounded down at every step. No order renders more.
 */
uint64_t slopes_bound(struct slope *slopes, size_t count, uint64_t heads)
{
    double rise = 0;
    uint64_t bound = 0;
    if (count)
        qsort(slopes, count, sizeof *slopes, compare_falling_slopes);
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < slopes[i].length; k++) {
            rise += slopes[i].value;
            uint64_t whole = (uint64_t)floor(rise + 1e-6);
            bound += whole < heads ? whole : heads;
        }
    return bound;
}
