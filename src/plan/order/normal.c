/* A normal form of a piece: equal pieces under other names get the same form nearly always. Colour
 * refinement by hashes; where colours tie, the lowest number goes first, so that equal pieces may
 * get different forms (then both are searched, which costs time, not truth). */
#include "plan/order/normal.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* MurmurHash3's finaliser; sums of mixed colours do not depend on the order of the neighbours. */
static uint64_t mix_colour(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

struct coloured {
    uint64_t colour;
    uint32_t index;
};

static int by_colour(const void *a, const void *b)
{
    const struct coloured *x = a, *y = b;
    if (x->colour != y->colour)
        return x->colour < y->colour ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_form_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Colours that do not depend on names: degrees, refined by the colours around. */
static void refine_colours(const struct order_piece *p, uint64_t *tail, uint64_t *head)
{
    enum { ROUNDS = 4 };
    for (uint32_t t = 0; t < p->ntails; t++)
        tail[t] = p->child_off[t + 1] - p->child_off[t] + (p->self[t] == NONE ? 0 : 1u << 20);
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t h = 0; h < p->nheads; h++) {
            uint64_t sum = p->parent_off[h + 1] - p->parent_off[h];
            for (uint32_t a = p->parent_off[h]; a < p->parent_off[h + 1]; a++)
                sum += mix_colour(tail[p->parent[a]]);
            head[h] = mix_colour(sum);
        }
        for (uint32_t t = 0; t < p->ntails;
             t++) /* a head that is a tail has that tail's colour in it */
            if (p->self[t] != NONE)
                head[p->self[t]] = mix_colour(head[p->self[t]] + 3 * tail[t] + 7);
        for (uint32_t t = 0; t < p->ntails; t++) {
            uint64_t sum = mix_colour(tail[t]) + (p->self[t] == NONE ? 1 : head[p->self[t]] * 5);
            for (uint32_t a = p->child_off[t]; a < p->child_off[t + 1]; a++)
                sum += mix_colour(head[p->child[a]] + 11);
            tail[t] = mix_colour(sum);
        }
    }
}

/* Heads as rows: which tail it is (ntails: none), number of parents, parents by normal place. */
struct rows {
    const uint32_t *at, *off;
};

static int by_row(const void *a, const void *b, void *context)
{
    const struct rows *r = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t nx = r->off[x + 1] - r->off[x], ny = r->off[y + 1] - r->off[y];
    for (uint32_t i = 0; i < nx && i < ny; i++)
        if (r->at[r->off[x] + i] != r->at[r->off[y] + i])
            return r->at[r->off[x] + i] < r->at[r->off[y] + i] ? -1 : 1;
    return nx < ny ? -1 : nx > ny;
}

/* The form: ntails, nheads, then for every head its row (which tail it is, how many parents,
 * which), tails named by their place in the order of colours, rows sorted. place[i] is the tail at
 * normal place i. The caller frees it. */
uint32_t *normal_form(const struct order_piece *p, uint32_t *place, size_t *length)
{
    uint64_t *tail = mem_new(uint64_t, p->ntails), *head = mem_new(uint64_t, p->nheads);
    struct coloured *sorted = mem_new(struct coloured, p->ntails);
    uint32_t *rank = mem_new(uint32_t, p->ntails), arcs = piece_arcs(p), at = 0;
    refine_colours(p, tail, head);
    for (uint32_t t = 0; t < p->ntails; t++)
        sorted[t] = (struct coloured){tail[t], t};
    if (p->ntails)
        qsort(sorted, p->ntails, sizeof *sorted, by_colour);
    for (uint32_t i = 0; i < p->ntails; i++) {
        place[i] = sorted[i].index;
        rank[sorted[i].index] = i;
    }
    /* one row a head, in normal names, parents ascending */
    uint32_t *rows = mem_new(uint32_t, (size_t)arcs + 2 * (size_t)p->nheads);
    uint32_t *off = mem_new(uint32_t, (size_t)p->nheads + 1), *is = mem_new(uint32_t, p->nheads);
    uint32_t *which = mem_new(uint32_t, p->nheads);
    for (uint32_t h = 0; h < p->nheads; h++)
        is[h] = p->ntails;
    for (uint32_t t = 0; t < p->ntails; t++)
        if (p->self[t] != NONE)
            is[p->self[t]] = rank[t];
    for (uint32_t h = 0; h < p->nheads; h++) {
        off[h] = at;
        which[h] = h;
        rows[at++] = is[h];
        rows[at++] = p->parent_off[h + 1] - p->parent_off[h];
        for (uint32_t a = p->parent_off[h]; a < p->parent_off[h + 1]; a++)
            rows[at++] = rank[p->parent[a]];
        qsort(rows + off[h] + 2, at - off[h] - 2, sizeof *rows, compare_form_numbers);
    }
    off[p->nheads] = at;
    /* rows in lexicographic order, so that the heads' own numbers do not matter */
    struct rows context = {rows, off};
    if (p->nheads)
        qsort_r(which, p->nheads, sizeof *which, by_row, &context);
    *length = 2 + (size_t)at;
    uint32_t *form = mem_new(uint32_t, *length), n = 0;
    form[n++] = p->ntails;
    form[n++] = p->nheads;
    for (uint32_t i = 0; i < p->nheads; i++) {
        uint32_t size = off[which[i] + 1] - off[which[i]];
        memcpy(form + n, rows + off[which[i]], size * sizeof *form);
        n += size;
    }
    free(tail);
    free(head);
    free(sorted);
    free(rank);
    free(rows);
    free(off);
    free(is);
    free(which);
    return form;
}
