/* Every block of a skeleton solved: by the catalogue of known families, else by search, equal
 * blocks once.
 *
 * A real workflow has many copies of few blocks. A block outside the catalogue is brought into a
 * normal form that does not depend on names (normal.h) and searched only if no equal form was; the
 * answer is kept by normal place. Forms are compared in full, the hash only finds them. */
#include "plan/order/blocks.h"
#include "base/mem.h"
#include "plan/order/greedy.h"
#include "plan/order/normal.h"
#include <stdlib.h>
#include <string.h>

/* A block outside the catalogue that has been searched: its form and its order by normal place. */
struct memory {
    uint32_t *form, *order;
    size_t length;
    uint64_t hash;
    enum proof proof;
    uint64_t bound;
};

struct solver {
    struct blocks *b;
    struct effort *effort;
    ARRAY(struct memory) known;
    uint32_t *slots, nslots; /* of known, by hash: index + 1 */
    uint32_t *local, *missing;
    ARRAY(uint32_t) rise;
};

/* Only finds candidates: memcmp decides. */
static uint64_t hash_form(const uint32_t *form, size_t length)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ form[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 31;
    }
    return hash;
}

/* Doubled when half full. */
static void solver_grow(struct solver *k)
{
    k->nslots = k->nslots ? 2 * k->nslots : 64;
    k->slots = mem_resize(k->slots, k->nslots);
    memset(k->slots, 0, k->nslots * sizeof *k->slots);
    for (uint32_t i = 0; i < k->known.n; i++) {
        uint64_t at = k->known.at[i].hash & (k->nslots - 1);
        while (k->slots[at])
            at = (at + 1) & (k->nslots - 1);
        k->slots[at] = i + 1;
    }
}

/* The slot of a form: that of an equal one, or a free one. */
static uint32_t *solver_slot(struct solver *k, const uint32_t *form, size_t length, uint64_t hash)
{
    if (2 * (k->known.n + 1) > k->nslots)
        solver_grow(k);
    uint64_t at = hash & (k->nslots - 1);
    for (; k->slots[at]; at = (at + 1) & (k->nslots - 1)) {
        const struct memory *m = &k->known.at[k->slots[at] - 1];
        if (m->hash == hash && m->length == length &&
            memcmp(m->form, form, length * sizeof *form) == 0)
            break;
    }
    return &k->slots[at];
}

/* Search the block, or remember an equal one. Leaves its tails in order. */
static enum proof solve_odd(struct solver *k, uint32_t block, uint64_t *bound)
{
    struct skeleton *s = k->b->s;
    uint32_t *tails = s->tail + s->tail_off[block], n = s->tail_off[block + 1] - s->tail_off[block];
    struct order_piece *p = skeleton_piece(s, tails, n, s->head + s->head_off[block],
                                           s->head_off[block + 1] - s->head_off[block], k->local);
    uint32_t *place = mem_new(uint32_t, n), *order = mem_new(uint32_t, n);
    size_t length;
    uint32_t *form = normal_form(p, place, &length);
    uint64_t hash = hash_form(form, length);
    uint32_t *slot = solver_slot(k, form, length, hash);
    enum proof proof;
    /* an equal block was searched: its order, by normal place */
    if (*slot) {
        const struct memory *m = &k->known.at[*slot - 1];
        for (uint32_t i = 0; i < n; i++)
            order[i] = tails[place[m->order[i]]];
        proof = m->proof;
        *bound = m->bound;
        k->b->remembered++;
        free(form);
    } else {
        struct solution solution;
        solve_piece(p, k->effort, &solution);
        proof = solution.proof;
        *bound = solution.bound;
        uint32_t *rank = mem_new(uint32_t, n);
        for (uint32_t i = 0; i < n; i++)
            rank[place[i]] = i;
        struct memory m = {form, mem_new(uint32_t, n), length, hash, proof, *bound};
        for (uint32_t i = 0; i < n; i++) {
            order[i] = tails[solution.order[i]];
            m.order[i] = rank[solution.order[i]];
        }
        array_push(&k->known, m);
        *slot = (uint32_t)k->known.n;
        k->b->searched++;
        free(rank);
        solution_free(&solution);
    }
    memcpy(tails, order, n * sizeof *tails);
    free(place);
    free(order);
    piece_free(p);
    return proof;
}

/* The profile of the block's order. */
static uint32_t shape_of(struct solver *k, uint32_t block)
{
    const struct skeleton *s = k->b->s;
    uint32_t rendered = 0;
    k->rise.n = 0;
    array_push(&k->rise, 0);
    for (uint32_t i = s->head_off[block]; i < s->head_off[block + 1]; i++)
        k->missing[s->head[i]] = s->parent_off[s->head[i] + 1] - s->parent_off[s->head[i]];
    for (uint32_t i = s->tail_off[block]; i < s->tail_off[block + 1]; i++) {
        uint32_t t = s->tail[i];
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++)
            rendered += --k->missing[s->child[a]] == 0;
        array_push(&k->rise, rendered);
    }
    return shapes_add(&k->b->shapes, k->rise.at, (uint32_t)k->rise.n - 1);
}

/* Blocks in order; each leaves its tails in the order found, and its profile among the shapes. */
void blocks_solve(struct blocks *b, struct skeleton *s, struct effort *effort)
{
    *b = (struct blocks){.s = s, .all = mem_new_zero(struct order_block, s->nblocks)};
    shapes_init(&b->shapes, 400000000);
    struct solver k = {.b = b,
                       .effort = effort,
                       .local = mem_new_zero(uint32_t, s->n),
                       .missing = mem_new(uint32_t, s->n)};
    for (uint32_t i = 0; i < s->nblocks; i++) {
        struct order_block *x = &b->all[i];
        x->entry = catalogue_recognise(s, i);
        x->proof = x->entry.family != FAMILY_NONE ? PROOF_IC : solve_odd(&k, i, &x->bound);
        x->shape = shape_of(&k, i);
        if (x->proof == PROOF_IC) {
            const struct order_shape *shape = blocks_shape(b, i);
            x->bound = rise_area(shape->rise, shape->tails);
        }
    }
    b->number_of = mem_new(uint32_t, b->shapes.all.n);
    memset(b->number_of, 0xff, b->shapes.all.n * sizeof *b->number_of);
    for (size_t i = 0; i < k.known.n; i++) {
        free(k.known.at[i].form);
        free(k.known.at[i].order);
    }
    array_free(&k.known);
    array_free(&k.rise);
    free(k.slots);
    free(k.local);
    free(k.missing);
}

void blocks_free(struct blocks *b)
{
    shapes_free(&b->shapes);
    free(b->all);
    free(b->number_of);
    *b = (struct blocks){0};
}

const struct order_shape *blocks_shape(const struct blocks *b, uint32_t block)
{
    return &b->shapes.all.at[b->all[block].shape];
}
