/* The order of a phase by atoms: all atoms of all blocks by falling slope, each run when its tails
 * are eligible (specification 4.4, the pairwise theorem). It attains the sum of the blocks'
 * profiles at every step, which no order exceeds, and needs every two shapes to be sweepable.
 *
 * O(atoms log atoms + arcs). Within one slope a worklist finds the order, since running one atom
 * may make another possible; if the worklist runs dry before the slope is done, the procedure
 * fails, which proves nothing. */
#include "plan/order/line.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* Run order: atoms sorted by falling slope. */
struct atoms {
    struct block_atom *all;
    uint32_t count;
    uint32_t *missing; /* per atom: tails not rendered by other blocks yet, + 1 for the atom before
                          it in its block */
    uint32_t *atom_of; /* per task: its atom; NONE */
    uint32_t *successor; /* the next atom of the same block; NONE */
};

/* All atoms of the blocks first .. end_block - 1, and what each waits for. */
static void cut_into_atoms(struct atoms *x, struct blocks *b, uint32_t first, uint32_t end_block)
{
    struct skeleton *s = b->s;
    size_t total = 0;
    for (uint32_t i = first; i < end_block; i++)
        total += blocks_shape(b, i)->natoms;
    *x = (struct atoms){.all = mem_new(struct block_atom, total), .count = (uint32_t)total};
    x->missing = mem_new_zero(uint32_t, total);
    x->successor = mem_new(uint32_t, total);
    x->atom_of = mem_new(uint32_t, s->n);
    uint32_t n = 0;
    for (uint32_t i = first; i < end_block; i++) {
        const struct order_shape *shape = blocks_shape(b, i);
        for (uint32_t k = 0, from = 0; k < shape->natoms; from += shape->atoms[k++].length)
            x->all[n++] = (struct block_atom){shape->atoms[k], i, from};
    }
    if (n)
        qsort(x->all, n, sizeof *x->all, block_atom_falling);
    uint32_t *last = mem_new(uint32_t, end_block - first);
    memset(last, 0xff, (end_block - first) * sizeof *last);
    for (uint32_t i = 0; i < n; i++) {
        struct block_atom *a = &x->all[i];
        x->successor[i] = NONE;
        if (last[a->block - first] != NONE) {
            x->successor[last[a->block - first]] = i;
            x->missing[i]++;
        }
        last[a->block - first] = i;
        for (uint32_t k = 0; k < a->atom.length; k++)
            x->atom_of[s->tail[s->tail_off[a->block] + a->from + k]] = i;
    }
    for (uint32_t i = first; i < end_block; i++)
        for (uint32_t k = s->head_off[i]; k < s->head_off[i + 1]; k++)
            if (line_waiting_block(s, s->head[k], i) != NONE)
                x->missing[x->atom_of[s->head[k]]]++;
    free(last);
}

/* Everything is counted down as heads are rendered; an atom runs when its count is 0 and its slope
 * is the largest left. */
static bool run_atoms(struct atoms *x, struct order_line *l, struct linear *out)
{
    struct skeleton *s = l->s;
    uint32_t *left = mem_new(uint32_t, s->n), next = 0;
    bool good = true;
    ARRAY(uint32_t) ready = {0};
    for (uint32_t h = s->head_off[l->first]; h < s->head_off[l->first + l->count]; h++)
        left[s->head[h]] = s->parent_off[s->head[h] + 1] - s->parent_off[s->head[h]];
    while (next < x->count && good) {
        uint32_t group_end = next, ran = 0;
        while (group_end < x->count && atom_compare(x->all[group_end].atom, x->all[next].atom) == 0)
            group_end++;
        for (uint32_t i = group_end; i-- > next;)
            if (!x->missing[i])
                array_push(&ready, i);
        while (ready.n) {
            uint32_t i = array_pop(&ready);
            const struct block_atom *a = &x->all[i];
            ran++;
            for (uint32_t k = 0; k < a->atom.length; k++) {
                uint32_t t = s->tail[s->tail_off[a->block] + a->from + k];
                array_push(&out->order, t);
                for (uint32_t c = s->child_off[t]; c < s->child_off[t + 1]; c++) {
                    uint32_t h = s->child[c];
                    if (--left[h] || line_waiting_block(s, h, a->block) == NONE)
                        continue;
                    uint32_t to = x->atom_of[h];
                    if (--x->missing[to] == 0 && to >= next && to < group_end)
                        array_push(&ready, to);
                }
            }
            uint32_t to = x->successor[i];
            if (to != NONE && --x->missing[to] == 0 && to < group_end)
                array_push(&ready, to);
        }
        good = ran == group_end - next;
        next = group_end;
    }
    free(left);
    array_free(&ready);
    return good || line_fail(out, "an atom comes before what it depends on", NONE, NONE);
}

/* Every two shapes of the phase sweepable? */
static bool all_sweepable(struct order_line *l)
{
    uint32_t *times = mem_new_zero(uint32_t, l->nshapes);
    bool good = true;
    for (uint32_t i = 0; i < l->count; i++)
        times[l->number[i]]++;
    for (uint32_t a = 0; a < l->nshapes && good; a++)
        for (uint32_t c = a; c < l->nshapes && good; c++)
            if (a != c || times[a] > 1)
                good = ++l->out->spent < l->out->budget &&
                       shapes_sweepable(&l->b->shapes, l->shape_id[a], l->shape_id[c]);
    free(times);
    return good || line_fail(l->out, "two blocks cannot be swept together", NONE, NONE);
}

bool linear_by_atoms(struct blocks *b, uint32_t phase, struct linear *out)
{
    struct order_line l;
    line_begin(&l, b, phase, out);
    bool good = all_sweepable(&l);
    if (good) {
        struct atoms x;
        cut_into_atoms(&x, b, l.first, l.first + l.count);
        good = run_atoms(&x, &l, out);
        free(x.all);
        free(x.missing);
        free(x.atom_of);
        free(x.successor);
    }
    line_end(&l);
    return good;
}
