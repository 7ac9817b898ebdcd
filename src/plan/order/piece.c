/* Pieces of a dag, their duals, and profiles of orders; piece.h says what tails, heads and `rise`
 * are. Everything is linear in arcs, but for sorting. */
#include "plan/order/piece.h"
#include "base/mem.h"
#include <stdlib.h>

struct order_piece *piece_new(uint32_t ntails, uint32_t nheads, uint32_t *parent_off,
                              uint32_t *parent, uint32_t *self)
{
    struct order_piece *p = mem_new_zero(struct order_piece, 1);
    *p = (struct order_piece){.ntails = ntails,
                              .nheads = nheads,
                              .parent_off = parent_off,
                              .parent = parent,
                              .self = self};
    uint32_t arcs = parent_off[nheads];
    p->child_off = mem_new_zero(uint32_t, (size_t)ntails + 2);
    p->child = mem_new(uint32_t, arcs);
    for (uint32_t a = 0; a < arcs; a++)
        p->child_off[parent[a] + 2]++;
    for (uint32_t t = 0; t < ntails; t++)
        p->child_off[t + 2] += p->child_off[t + 1];
    for (uint32_t h = 0; h < nheads; h++)
        for (uint32_t a = parent_off[h]; a < parent_off[h + 1]; a++)
            p->child[p->child_off[parent[a] + 1]++] = h;
    return p;
}

void piece_free(struct order_piece *p)
{
    if (!p)
        return;
    free(p->parent_off);
    free(p->parent);
    free(p->child_off);
    free(p->child);
    free(p->self);
    free(p);
}

uint32_t piece_arcs(const struct order_piece *p)
{
    return p->parent_off[p->nheads];
}

struct order_piece *piece_dual(const struct order_piece *p)
{
    uint32_t nt = p->nheads, nh = p->ntails, at = 0;
    uint32_t *off = mem_new(uint32_t, (size_t)nh + 1), *parent = mem_new(uint32_t, piece_arcs(p));
    uint32_t *self = mem_new(uint32_t, nt);
    for (uint32_t h = 0; h < nh; h++) {
        uint32_t tail = nh - 1 - h;
        off[h] = at;
        for (uint32_t a = p->child_off[tail + 1]; a > p->child_off[tail]; a--)
            parent[at++] = nt - 1 - p->child[a - 1];
    }
    off[nh] = at;
    for (uint32_t t = 0; t < nt; t++)
        self[t] = NONE;
    for (uint32_t t = 0; t < p->ntails; t++)
        if (p->self[t] != NONE)
            self[nt - 1 - p->self[t]] = nh - 1 - t;
    return piece_new(nt, nh, off, parent, self);
}

void piece_from_dual(const struct order_piece *p, const struct order_piece *dual,
                     const uint32_t *dual_order, uint32_t *order)
{
    uint32_t *missing = mem_new(uint32_t, dual->nheads), at = p->ntails;
    for (uint32_t h = 0; h < dual->nheads; h++)
        missing[h] = dual->parent_off[h + 1] - dual->parent_off[h];
    for (uint32_t i = 0; i < dual->ntails; i++)
        for (uint32_t a = dual->child_off[dual_order[i]]; a < dual->child_off[dual_order[i] + 1];
             a++)
            if (--missing[dual->child[a]] == 0)
                order[--at] = p->ntails - 1 - dual->child[a];
    free(missing);
}

static int compare_piece_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

struct order_piece *piece_between(const struct order_piece *p, const uint32_t *tails,
                                  uint32_t count, const uint32_t *position, const uint32_t *last,
                                  uint32_t from)
{
    /* a head belongs here when its last parent does; found once, at that parent */
    uint32_t nheads = 0, arcs = 0, cap = 16;
    uint32_t *heads = mem_new(uint32_t, cap);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t a = p->child_off[tails[i]]; a < p->child_off[tails[i] + 1]; a++) {
            uint32_t h = p->child[a];
            if (last[h] != from + i)
                continue;
            if (nheads == cap) {
                cap += cap / 2 + 8;
                heads = mem_resize(heads, cap);
            }
            heads[nheads++] = h;
            arcs += p->parent_off[h + 1] - p->parent_off[h];
        }
    if (nheads)
        qsort(heads, nheads, sizeof *heads, compare_piece_numbers);
    uint32_t *off = mem_new(uint32_t, (size_t)nheads + 1), *parent = mem_new(uint32_t, arcs),
             at = 0;
    uint32_t *self = mem_new(uint32_t, count);
    for (uint32_t t = 0; t < count; t++)
        self[t] = NONE;
    for (uint32_t i = 0; i < nheads; i++) {
        off[i] = at;
        for (uint32_t b = p->parent_off[heads[i]]; b < p->parent_off[heads[i] + 1]; b++)
            if (position[p->parent[b]] >= from)
                parent[at++] = position[p->parent[b]] - from;
        qsort(parent + off[i], at - off[i], sizeof *parent, compare_piece_numbers);
    }
    off[nheads] = at;
    for (uint32_t t = 0; t < count && nheads; t++) {
        const uint32_t *found =
            p->self[tails[t]] == NONE
                ? NULL
                : bsearch(&p->self[tails[t]], heads, nheads, sizeof *heads, compare_piece_numbers);
        if (found)
            self[t] = (uint32_t)(found - heads);
    }
    free(heads);
    return piece_new(count, nheads, off, parent, self);
}

bool piece_rise(const struct order_piece *p, const uint32_t *order, uint32_t *rise)
{
    uint32_t *missing = mem_new(uint32_t, p->nheads), rendered = 0;
    bool good = true;
    for (uint32_t h = 0; h < p->nheads; h++)
        missing[h] = p->parent_off[h + 1] - p->parent_off[h];
    rise[0] = 0;
    for (uint32_t i = 0; i < p->ntails; i++) {
        uint32_t t = order[i];
        good &= p->self[t] == NONE || missing[p->self[t]] == 0;
        for (uint32_t a = p->child_off[t]; a < p->child_off[t + 1]; a++)
            rendered += --missing[p->child[a]] == 0;
        rise[i + 1] = rendered;
    }
    free(missing);
    return good;
}

uint64_t rise_area(const uint32_t *rise, uint32_t ntails)
{
    uint64_t area = 0;
    for (uint32_t t = 1; t <= ntails; t++)
        area += rise[t];
    return area;
}
