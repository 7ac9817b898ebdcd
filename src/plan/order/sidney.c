/* Sidney's decomposition (Sidney 1975; specification 7.2): cut the tails into components of falling
 * density (heads rendered per tail) by minimum cuts; some order of largest AREA runs them one after
 * the other.
 *
 * A region of the permutation is cut in two by the closure of largest density, found by one flow:
 * the closure renders more than its share of the region's heads iff the cut is below `all`. Regions
 * are kept as ranges of one permutation, so the recursion is a stack of ranges.
 *
 *    perm   [ region A | region B ............ | region C ]     pop B: cut --> [ B' denser | B'' ]
 *
 * Costs one flow a region; the budget counts arc visits. */
#include "plan/order/sidney.h"
#include "base/array.h"
#include "base/mem.h"
#include "plan/order/mincut.h"
#include <stdlib.h>

struct region {
    uint32_t from, end;
};

/* The permutation, its inverse, and scratch of the region at hand. */
struct sidney_work {
    const struct order_piece *p;
    uint32_t *perm, *pos;
    uint32_t *last; /* of a head: latest place of a parent inside the region at hand */
    uint32_t *top;  /* and of all its parents; exact up to the order inside a region */
    uint32_t *node; /* of a head in the network of the region */
    uint32_t *scratch;
    struct mincut cut;
};

/* Places of the region's tails, and the latest parent of every head inside it. */
static void locate_region(struct sidney_work *k, struct region r)
{
    const struct order_piece *p = k->p;
    for (uint32_t i = r.from; i < r.end; i++)
        k->pos[k->perm[i]] = i;
    for (uint32_t i = r.from; i < r.end; i++)
        for (uint32_t a = p->child_off[k->perm[i]]; a < p->child_off[k->perm[i] + 1]; a++)
            k->last[p->child[a]] = 0;
    for (uint32_t i = r.from; i < r.end; i++)
        for (uint32_t a = p->child_off[k->perm[i]]; a < p->child_off[k->perm[i] + 1]; a++)
            if (i > k->last[p->child[a]])
                k->last[p->child[a]] = i;
    for (uint32_t i = r.from; i < r.end; i++)
        for (uint32_t a = p->child_off[k->perm[i]]; a < p->child_off[k->perm[i] + 1]; a++)
            if (k->top[p->child[a]] < r.end)
                k->top[p->child[a]] = k->last[p->child[a]];
}

/* The network of the spec's 7.2: source -> head (tails), head -> parents, tail -> itself as a head,
 * tail -> sink (heads). */
static uint32_t build_network(struct sidney_work *k, struct region r, uint32_t *arcs)
{
    const struct order_piece *p = k->p;
    uint32_t tails = r.end - r.from, heads = 0;
    *arcs = 0;
    for (uint32_t i = r.from; i < r.end; i++)
        for (uint32_t a = p->child_off[k->perm[i]]; a < p->child_off[k->perm[i] + 1]; a++) {
            uint32_t h = p->child[a];
            if (k->last[h] != i) /* seen from its last parent inside only */
                continue;
            k->node[h] = k->top[h] < r.end ? 2 + tails + heads++ : NONE;
        }
    mincut_reset(&k->cut, 2 + tails + heads);
    for (uint32_t i = r.from; i < r.end; i++) {
        uint32_t t = k->perm[i];
        mincut_arc(&k->cut, 2 + i - r.from, MINCUT_SINK, heads);
        for (uint32_t a = p->child_off[t]; a < p->child_off[t + 1]; a++) {
            uint32_t h = p->child[a];
            if (k->node[h] == NONE)
                continue;
            mincut_arc(&k->cut, k->node[h], 2 + i - r.from, MINCUT_INFINITE);
            if (k->last[h] == i)
                mincut_arc(&k->cut, MINCUT_SOURCE, k->node[h], tails);
        }
        uint32_t self = p->self[t]; /* rendered in this region, not before? */
        if (self != NONE && k->top[self] >= r.from)
            mincut_arc(&k->cut, 2 + i - r.from, k->node[self], MINCUT_INFINITE);
    }
    *arcs = k->cut.narcs;
    return heads;
}

/* Stable: the tails of the closure first. Returns how many. */
static uint32_t partition_region(struct sidney_work *k, struct region r)
{
    uint32_t inside = 0, outside = 0;
    for (uint32_t i = r.from; i < r.end; i++) {
        if (mincut_is_source_side(&k->cut, 2 + i - r.from))
            k->perm[r.from + inside++] = k->perm[i];
        else
            k->scratch[outside++] = k->perm[i];
    }
    for (uint32_t i = 0; i < outside; i++)
        k->perm[r.from + inside + i] = k->scratch[i];
    return inside;
}

/* Regions until none can be cut; false: the budget is spent. */
bool sidney_decompose(const struct order_piece *p, uint64_t *budget, struct sidney *out)
{
    uint32_t n = p->ntails;
    struct sidney_work k = {.p = p,
                            .perm = mem_new(uint32_t, n),
                            .pos = mem_new(uint32_t, n),
                            .last = mem_new_zero(uint32_t, p->nheads),
                            .top = mem_new_zero(uint32_t, p->nheads),
                            .node = mem_new(uint32_t, p->nheads),
                            .scratch = mem_new(uint32_t, n)};
    ARRAY(struct region) todo = {0};
    ARRAY(uint32_t) off = {0};
    ARRAY(uint32_t) heads = {0};
    bool done = true;
    for (uint32_t t = 0; t < n; t++)
        k.perm[t] = k.pos[t] = t;
    for (uint32_t h = 0; h < p->nheads; h++)
        for (uint32_t a = p->parent_off[h]; a < p->parent_off[h + 1]; a++)
            k.top[h] = p->parent[a] > k.top[h] ? p->parent[a] : k.top[h];
    if (n)
        array_push(&todo, (struct region){0, n});
    while (todo.n && done) {
        struct region r = array_pop(&todo);
        uint32_t arcs, tails = r.end - r.from;
        locate_region(&k, r);
        uint32_t rendered = build_network(&k, r, &arcs);
        int64_t flow = 0, all = (int64_t)rendered * tails;
        *budget -= *budget < arcs ? *budget : arcs;
        done = tails == 1 || (mincut_run(&k.cut, budget, &flow) && *budget > 0);
        if (!done)
            break;
        uint32_t inside = tails > 1 && flow < all ? partition_region(&k, r) : 0;
        if (inside && inside < tails) {
            struct region later = {r.from + inside, r.end};
            locate_region(&k, r); /* the split's places */
            array_push(&todo, later);
            array_push(&todo, (struct region){r.from, r.from + inside});
        } else {
            array_push(&off, r.from);
            array_push(&heads, rendered);
        }
    }
    array_push(&off, n);
    if (done)
        *out = (struct sidney){k.perm, off.at, heads.at, (uint32_t)heads.n};
    else {
        free(k.perm);
        array_free(&off);
        array_free(&heads);
    }
    array_free(&todo);
    free(k.pos);
    free(k.last);
    free(k.top);
    free(k.node);
    free(k.scratch);
    mincut_free(&k.cut);
    return done;
}

void sidney_free(struct sidney *s)
{
    free(s->order);
    free(s->off);
    free(s->heads);
    *s = (struct sidney){0};
}
