/* The paper's linearisation of the super-dag of one phase (Cordasco, Malewicz, Rosenberg 2008,
 * section 4.2); linear.h says what it does and what it proves. */
#include "plan/order/line.h"
#include "base/mem.h"
#include "plan/order/sweep.h"
#include <stdlib.h>
#include <string.h>

/* ---- the paper's procedure ---- */

static bool shape_has_priority(struct order_line *l, uint32_t a, uint32_t b)
{
    l->out->spent++;
    return shapes_priority(&l->b->shapes, l->shape_id[a], l->shape_id[b]);
}

/* Every super-arc must respect priority: one violation and no linearisation exists. */
static bool check_super_arcs(struct order_line *l)
{
    const struct skeleton *s = l->s;
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t block = l->first + i, last = NONE;
        for (uint32_t k = s->head_off[block]; k < s->head_off[block + 1]; k++) {
            uint32_t to = line_waiting_block(s, s->head[k], block);
            if (to == NONE || to == last)
                continue;
            last = to;
            if (!shape_has_priority(l, l->number[i], l->number[to - l->first]))
                return line_fail(l->out,
                                 "a block does not have priority over one that depends on it",
                                 block, to);
        }
    }
    return true;
}

/* A present shape with priority over all others present (and over itself when it is there twice).
 * It must have the steepest first atom of all. */
static uint32_t choose_prior_shape(struct order_line *l)
{
    const struct shapes *shapes = &l->b->shapes;
    struct atom steepest = {1, 0};
    for (size_t i = 0; i < l->present.n; i++) {
        struct atom first = shapes->all.at[l->shape_id[l->present.at[i]]].atoms[0];
        if (atom_compare(first, steepest) > 0)
            steepest = first;
    }
    l->out->spent += l->present.n;
    uint32_t best = NONE;
    for (size_t i = 0; i < l->present.n && l->out->spent < l->out->budget; i++) {
        uint32_t a = l->present.at[i];
        if (atom_compare(shapes->all.at[l->shape_id[a]].atoms[0], steepest) < 0)
            continue;
        bool good = l->queued[a] == 1 || shape_has_priority(l, a, a);
        for (size_t k = 0; k < l->present.n && good; k++)
            good = l->present.at[k] == a || shape_has_priority(l, a, l->present.at[k]);
        /* several: the choice is irrelevant; the block that comes first, for a stable result */
        if (good && (best == NONE || l->queue_head[a] < l->queue_head[best]))
            best = a;
    }
    return best;
}

/* The whole block, in its own order. */
static void emit_block(struct order_line *l, uint32_t block)
{
    const struct skeleton *s = l->s;
    for (uint32_t i = s->tail_off[block]; i < s->tail_off[block + 1]; i++)
        array_push(&l->out->order, s->tail[i]);
}

static int compare_task_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The order of a sum of blocks: the IC-Sweep read off its tables, or for large sums all atoms by
 * falling slope, which is the same up to ties when every two summands are sweepable (pairwise
 * theorem). */
static void emit_sum(struct order_line *l, const uint32_t *members, uint32_t count)
{
    const struct skeleton *s = l->s;
    uint64_t cells = 0, tails = 0, natoms = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct order_shape *x = blocks_shape(l->b, members[i]);
        cells += tails * x->tails;
        tails += x->tails;
        natoms += x->natoms;
    }
    uint32_t *turn = NULL;
    /* the tables take this many cells: a millisecond or so */
    if (cells <= 1u << 20) {
        const uint32_t **rise = mem_new(const uint32_t *, count);
        uint32_t *sizes = mem_new(uint32_t, count), *taken = mem_new_zero(uint32_t, count);
        for (uint32_t i = 0; i < count; i++) {
            rise[i] = blocks_shape(l->b, members[i])->rise;
            sizes[i] = blocks_shape(l->b, members[i])->tails;
        }
        turn = sweep_all(rise, sizes, count);
        for (uint64_t t = 0; turn && t < tails; t++)
            array_push(&l->out->order, s->tail[s->tail_off[members[turn[t]]] + taken[turn[t]]++]);
        free(rise);
        free(sizes);
        free(taken);
    }
    /* by atoms: all of them by falling slope */
    if (!turn) {
        struct block_atom *all = mem_new(struct block_atom, natoms);
        size_t n = 0;
        for (uint32_t i = 0; i < count; i++) {
            const struct order_shape *x = blocks_shape(l->b, members[i]);
            for (uint32_t k = 0, from = 0; k < x->natoms; from += x->atoms[k++].length)
                all[n++] = (struct block_atom){x->atoms[k], members[i], from};
        }
        if (n)
            qsort(all, n, sizeof *all, block_atom_falling);
        for (size_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < all[i].atom.length; k++)
                array_push(&l->out->order, s->tail[s->tail_off[all[i].block] + all[i].from + k]);
        free(all);
    }
    free(turn);
}

/* Step (c): all source blocks as one sum. */
static bool take_sum(struct order_line *l)
{
    size_t kinds = l->present.n;
    uint32_t *mine = mem_new(uint32_t, kinds);
    memcpy(mine, l->present.at, kinds * sizeof *mine);
    bool good = true;
    for (size_t i = 0; i < kinds && good; i++)
        for (size_t k = i; k < kinds && good; k++) {
            if (i == k && l->queued[mine[i]] == 1)
                continue;
            l->out->spent++;
            if (l->out->spent > l->out->budget ||
                !shapes_sweepable(&l->b->shapes, l->shape_id[mine[i]], l->shape_id[mine[k]]))
                good =
                    line_fail(l->out, "the sum of the source blocks has no IC-optimal order",
                              l->first + l->queue_head[mine[i]], l->first + l->queue_head[mine[k]]);
        }
    /* nothing has run and nothing waits: the phase is this sum (Lemma 3.1, pairwise theorem) */
    uint32_t queued = 0;
    for (size_t i = 0; i < kinds; i++)
        queued += l->queued[mine[i]];
    if (!good && queued == l->count && l->out->spent < l->out->budget &&
        l->b->shapes.spent < l->b->shapes.budget / 2)
        l->out->refuted = true;
    if (!good) {
        free(mine);
        return false;
    }
    ARRAY(uint32_t) members = {0};
    for (size_t i = 0; i < kinds; i++)
        for (uint32_t n = l->queued[mine[i]]; n > 0; n--)
            array_push(&members, line_take(l, mine[i]));
    if (members.n)
        qsort(members.at, members.n, sizeof *members.at, compare_task_numbers);
    array_push(&l->out->elements,
               (struct linear_element){(uint32_t)l->out->sequence.n, (uint32_t)members.n});
    for (size_t i = 0; i < members.n; i++)
        line_remove(l, members.at[i]);
    for (size_t i = 0; i < l->present.n && good; i++)
        for (size_t k = 0; k < kinds && good; k++)
            if (l->out->spent > l->out->budget || !shape_has_priority(l, mine[k], l->present.at[i]))
                good = line_fail(
                    l->out, "a swept block does not have priority over one that the sum exposes",
                    NONE, l->first + l->queue_head[l->present.at[i]]);
    if (good)
        emit_sum(l, members.at, (uint32_t)members.n);
    array_free(&members);
    free(mine);
    return good;
}

bool linear_by_priority(struct blocks *b, uint32_t phase, struct linear *out)
{
    struct order_line l;
    line_begin(&l, b, phase, out);
    bool good = check_super_arcs(&l);
    if (good)
        line_expose_sources(&l);
    while (good && l.present.n) {
        uint32_t a = choose_prior_shape(&l);
        if (out->spent >= out->budget)
            good = line_fail(out, "too many different blocks to compare", NONE, NONE);
        else if (a == NONE)
            good = take_sum(&l);
        else
            while (l.queued[a]) {
                uint32_t block = line_take(&l, a);
                array_push(&out->elements, (struct linear_element){(uint32_t)out->sequence.n, 1});
                line_remove(&l, block);
                emit_block(&l, block);
            }
    }
    line_end(&l);
    return good;
}
