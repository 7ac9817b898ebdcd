/* The order of the `prio` tool (Malewicz, Foster, Rosenberg, Wilde 2007): of the source blocks, run
 * whole the one whose worst ratio of priority over the others is largest. Proves nothing; always
 * gives an order.
 *
 * A ratio is asked by pair of shapes and remembered; a choice looks at FEW_SHAPES at most, those
 * with the steepest first atoms. After a choice the same shape goes on until another appears:
 * nothing else could change it. */
#include "plan/order/line.h"
#include "base/mem.h"
#include <stdlib.h>

enum {
    FEW_SHAPES = 48
}; /* with more shapes present, only those with the steepest first atoms are weighed */

struct ratios {
    struct order_line l;
    double *known; /* nshapes x nshapes, -1: not yet; NULL with too many shapes */
};

static double pair_ratio(struct ratios *x, uint32_t a, uint32_t b)
{
    struct shapes *shapes = &x->l.b->shapes;
    if (!x->known)
        return shapes_ratio(shapes, x->l.shape_id[a], x->l.shape_id[b]);
    double *at = &x->known[(size_t)a * x->l.nshapes + b];
    if (*at < 0)
        *at = shapes_ratio(shapes, x->l.shape_id[a], x->l.shape_id[b]);
    return *at;
}

/* The present shapes with the steepest first atoms, FEW_SHAPES at most. */
static uint32_t steepest_shapes(const struct order_line *l, uint32_t *list)
{
    uint32_t n = 0;
    for (size_t i = 0; i < l->present.n; i++) {
        uint32_t a = l->present.at[i], k = n < FEW_SHAPES ? n++ : FEW_SHAPES;
        const struct order_shape *all = l->b->shapes.all.at;
        for (; k > 0; k--) {
            int steeper =
                atom_compare(all[l->shape_id[a]].atoms[0], all[l->shape_id[list[k - 1]]].atoms[0]);
            if (steeper < 0 || (steeper == 0 && a > list[k - 1]))
                break;
            if (k < FEW_SHAPES)
                list[k] = list[k - 1];
        }
        if (k < FEW_SHAPES)
            list[k] = a;
    }
    return n;
}

/* Some shape is present: the caller's loop ends when none is. */
static uint32_t choose_by_ratio(struct ratios *x)
{
    uint32_t list[FEW_SHAPES] = {0}, n = steepest_shapes(&x->l, list), best = list[0];
    double most = -1;
    for (uint32_t i = 0; i < n; i++) {
        double worst = x->l.queued[list[i]] > 1 ? pair_ratio(x, list[i], list[i]) : 1;
        for (uint32_t k = 0; k < n && worst > most; k++)
            if (k != i) {
                double r = pair_ratio(x, list[i], list[k]);
                worst = r < worst ? r : worst;
            }
        if (worst > most) {
            most = worst;
            best = list[i];
        }
    }
    return best;
}

void linear_by_ratio(struct blocks *b, uint32_t phase, struct linear *out)
{
    struct ratios x = {0};
    line_begin(&x.l, b, phase, out);
    struct order_line *l = &x.l;
    if (l->nshapes <= 1024) {
        x.known = mem_new(double, (size_t)l->nshapes * l->nshapes);
        for (size_t i = 0; i < (size_t)l->nshapes * l->nshapes; i++)
            x.known[i] = -1;
    }
    line_expose_sources(l);
    while (l->present.n) {
        uint32_t a = choose_by_ratio(&x);
        size_t present = l->present.n;
        /* until the choice could change: another shape appears, or this one has gone */
        while (l->queued[a] && l->present.n == present) {
            uint32_t block = line_take(l, a);
            array_push(&out->elements, (struct linear_element){(uint32_t)out->sequence.n, 1});
            line_remove(l, block);
            for (uint32_t i = l->s->tail_off[block]; i < l->s->tail_off[block + 1]; i++)
                array_push(&out->order, l->s->tail[i]);
        }
    }
    free(x.known);
    line_end(l);
}
