/* What --explain says of an order: the blocks with their profiles, the linearisation, and the
 * sweep's tables as the paper prints them. Text only; decides nothing. */
#include "plan/order/explain.h"
#include "plan/order/sweep.h"
#include "base/plural.h"
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BLOCKS = 60, MOST_NAMES = 24, MOST_CELLS = 16 };

static void explain_tasks(const struct workflow *w, const uint32_t *tasks, uint32_t n,
                          struct strbuf *out)
{
    for (uint32_t i = 0; i < n && i < MOST_NAMES; i++)
        strbuf_printf(out, "%s%s", i ? " " : "", workflow_task_name(w, tasks[i]));
    if (n > MOST_NAMES)
        strbuf_printf(out, " ... (%u)", n);
}

static void add_rise(const struct order_shape *x, struct strbuf *out)
{
    for (uint32_t t = 0; t <= x->tails && t <= MOST_NAMES; t++)
        strbuf_printf(out, "%s%u", t ? "," : "", x->rise[t]);
    if (x->tails > MOST_NAMES)
        strbuf_printf(out, ",...,%u", x->rise[x->tails]);
}

static const char *const proofs[] = {"", "no IC-optimal order", "AREA-maximal", "heuristic order"};

/* A line a block, MOST_BLOCKS at most. */
void explain_blocks(const struct blocks *b, const struct workflow *w, struct strbuf *out)
{
    const struct skeleton *s = b->s;
    strbuf_printf(out, "%u task%s, %u nonsinks; %zu shortcuts removed", s->n, plural(s->n),
                  s->nonsinks, s->shortcuts);
    if (s->undecided)
        strbuf_printf(out, " (%zu arcs not examined)", s->undecided);
    strbuf_printf(out, "; %u phase%s; %u block%s, %zu different profile%s\n", s->nphases,
                  plural(s->nphases), s->nblocks, plural(s->nblocks), b->shapes.all.n,
                  plural(b->shapes.all.n));
    for (uint32_t i = 0; i < s->nblocks && i < MOST_BLOCKS; i++) {
        char name[48];
        strbuf_printf(out, "block B%u%s%s%s: ", i + 1, b->all[i].entry.family ? " = " : "",
                      catalogue_name(b->all[i].entry, name, sizeof name),
                      s->merged[i] ? " (not bipartite)" : "");
        explain_tasks(w, s->tail + s->tail_off[i], s->tail_off[i + 1] - s->tail_off[i], out);
        strbuf_add(out, " -> ");
        explain_tasks(w, s->head + s->head_off[i], s->head_off[i + 1] - s->head_off[i], out);
        strbuf_add(out, "; E = ");
        add_rise(blocks_shape(b, i), out);
        if (b->all[i].proof != PROOF_IC)
            strbuf_printf(out, " (%s)", proofs[b->all[i].proof]);
        strbuf_add_char(out, '\n');
    }
    if (s->nblocks > MOST_BLOCKS)
        strbuf_printf(out, "... %u more blocks\n", s->nblocks - MOST_BLOCKS);
}

static void add_table(struct blocks *b, uint32_t one, uint32_t two, struct strbuf *out)
{
    const struct order_shape *x = blocks_shape(b, one), *y = blocks_shape(b, two);
    char name1[24], name2[24];
    snprintf(name1, sizeof name1, "B%u", one + 1);
    snprintf(name2, sizeof name2, "B%u", two + 1);
    uint32_t i = b->all[one].shape, k = b->all[two].shape;
    bool over = shapes_priority(&b->shapes, i, k), under = shapes_priority(&b->shapes, k, i);
    const char *relation = over && under ? "each has priority over the other"
                           : over        ? "the first has priority over the second"
                           : under       ? "the second has priority over the first"
                                         : "neither has priority over the other";
    strbuf_printf(out, "%s, %s: %s; their sum %s\n", name1, name2, relation,
                  shapes_sweepable(&b->shapes, i, k) ? "can be swept" : "has no IC-optimal order");
    if (x->tails <= MOST_CELLS && y->tails <= MOST_CELLS) {
        strbuf_add(out, "table E, ");
        sweep_table(x->rise, x->tails, y->rise, y->tails, name1, name2, out);
    }
}

/* Tables of all pairs of different shapes between two elements. */
static void between_elements(struct blocks *b, const struct linear *l, struct linear_element one,
                             struct linear_element two, struct strbuf *out)
{
    for (uint32_t i = 0; i < one.count && i < 4; i++)
        for (uint32_t k = 0; k < two.count && k < 4; k++)
            if (one.first != two.first || k > i)
                add_table(b, l->sequence.at[one.first + i], l->sequence.at[two.first + k], out);
}

/* The sequence with |> between its elements, where it stopped and why, and what holds between
 * neighbours (up to 16 elements). */
void explain_linear(struct blocks *b, uint32_t phase, const struct linear *l, bool good,
                    struct strbuf *out)
{
    if (b->s->nphases > 1)
        strbuf_printf(out, "phase %u: ", phase + 1);
    strbuf_add(out, good ? "linearisation: " : "linearisation so far: ");
    for (size_t e = 0; e < l->elements.n && e < MOST_BLOCKS; e++) {
        struct linear_element x = l->elements.at[e];
        strbuf_add(out, e ? " |> " : "");
        strbuf_add(out, x.count > 1 ? "(" : "");
        for (uint32_t i = 0; i < x.count && i < MOST_NAMES; i++)
            strbuf_printf(out, "%sB%u", i ? " + " : "", l->sequence.at[x.first + i] + 1);
        strbuf_add(out, x.count > MOST_NAMES ? " + ..." : "");
        strbuf_add(out, x.count > 1 ? ")" : "");
    }
    strbuf_add(out, l->elements.n > MOST_BLOCKS ? " |> ...\n" : "\n");
    if (!good)
        strbuf_printf(out, "it stops: %s\n", l->failure);
    if (!good && l->blame[0] != NONE && l->blame[1] != NONE)
        add_table(b, l->blame[0], l->blame[1], out);
    if (l->elements.n > 16)
        return;
    for (size_t e = 0; e < l->elements.n && good; e++) {
        if (l->elements.at[e].count > 1)
            between_elements(b, l, l->elements.at[e], l->elements.at[e], out);
        if (e + 1 < l->elements.n)
            between_elements(b, l, l->elements.at[e], l->elements.at[e + 1], out);
    }
}
