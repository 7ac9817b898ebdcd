/* The families of the catalogue: recognised, with the profile of the literature, and IC-optimal by
 * exact search. */
#include "base/mem.h"
#include "model/builder.h"
#include "plan/order/blocks.h"
#include "plan/order/ideals.h"
#include "tap.h"

static struct builder *b;

static void begin(uint32_t n)
{
    char name[16];
    b = builder_new("<test>", "test");
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
}

/* Tails 0..s-1 and heads s.. of every family. */
static void make(enum family f, uint32_t x, uint32_t y)
{
    uint32_t s;
    switch (f) {
    case FAMILY_V:
        begin(1 + x);
        for (uint32_t h = 0; h < x; h++)
            builder_edge(b, 0, 1 + h, 0);
        return;
    case FAMILY_L:
        begin(x + 1);
        for (uint32_t t = 0; t < x; t++)
            builder_edge(b, t, x, 0);
        return;
    case FAMILY_W: /* x tails of y children, in a shuffled numbering */
        begin(x + x * (y - 1) + 1);
        for (uint32_t t = 0; t < x; t++)
            for (uint32_t k = 0; k < y; k++)
                builder_edge(b, t * 3 % x, x + t * (y - 1) + k, 0);
        return;
    case FAMILY_M: /* x heads of y parents */
        s = x * (y - 1) + 1;
        begin(s + x);
        for (uint32_t h = 0; h < x; h++)
            for (uint32_t k = 0; k < y; k++)
                builder_edge(b, (h * (y - 1) + k) * 5 % s, s + h, 0);
        return;
    case FAMILY_N:
        begin(2 * x);
        for (uint32_t t = 0; t < x; t++) {
            builder_edge(b, t, x + t, 0);
            if (t + 1 < x)
                builder_edge(b, t, x + t + 1, 0);
        }
        return;
    case FAMILY_C:
        begin(2 * x);
        for (uint32_t t = 0; t < x; t++) {
            builder_edge(b, t, x + t, 0);
            builder_edge(b, t, x + (t + 1) % x, 0);
        }
        return;
    case FAMILY_Q:
        begin(x + y);
        for (uint32_t t = 0; t < x; t++)
            for (uint32_t h = 0; h < y; h++)
                builder_edge(b, t, x + h, 0);
        return;
    case FAMILY_HUB: /* y of the x heads are shared with a tail of their own; the hub is tail y */
        begin(y + 1 + x);
        for (uint32_t h = 0; h < x; h++) {
            builder_edge(b, y, y + 1 + h, 0);
            if (h < y)
                builder_edge(b, h, y + 1 + h, 0);
        }
        return;
    case FAMILY_NONE:
        begin(0);
    }
}

static uint32_t profile(enum family f, uint32_t x, uint32_t y, uint32_t t, uint32_t tails)
{
    switch (f) {
    case FAMILY_V:
        return t ? x : 0;
    case FAMILY_L:
        return t == tails;
    case FAMILY_W:
        return (y - 1) * t + (t == tails);
    case FAMILY_M:
        return t ? (t - 1) / (y - 1) : 0;
    case FAMILY_N:
        return t;
    case FAMILY_C:
        return t == tails ? tails : t ? t - 1 : 0;
    case FAMILY_Q:
        return t == tails ? y : 0;
    case FAMILY_HUB:
        return t ? x - y + t - 1 : 0;
    case FAMILY_NONE:
        break;
    }
    return 0;
}

static void check_family(enum family f, uint32_t x, uint32_t y)
{
    struct error err = {0};
    make(f, x, y);
    struct workflow *w = builder_finish(b, &err);
    struct skeleton *s = skeleton_new(w, false, 0);
    struct effort effort = {
        .ideals = 100000, .ideals_left = 1000000, .tables_left = 1u << 24, .largest = NONE};
    struct blocks blocks;
    blocks_solve(&blocks, s, &effort);
    char name[48];
    catalogue_name(blocks.all[0].entry, name, sizeof name);
    bool good = s->nblocks == 1 && blocks.all[0].entry.family == f;
    const struct order_shape *shape = blocks_shape(&blocks, 0);
    for (uint32_t t = 0; t <= shape->tails; t++)
        good &= shape->rise[t] == profile(f, x, y, t, shape->tails);
    uint32_t *local = mem_new_zero(uint32_t, w->ntasks);
    struct order_piece *p = skeleton_phase_piece(s, 0, local);
    struct ideals i;
    good &= ideals_solve(p, 1000000, &i);
    for (uint32_t t = 0; t <= p->ntails; t++)
        good &= i.most[t] == shape->rise[t];
    ok(good && i.is_ic, "%s (%u, %u) is %s, with its profile, IC-optimal",
       workflow_text(w, w->file), x, y, name);
    ideals_free(&i);
    piece_free(p);
    free(local);
    blocks_free(&blocks);
    skeleton_free(s);
    workflow_free(w);
}

int main(void)
{
    for (uint32_t x = 2; x <= 5; x++) {
        check_family(FAMILY_V, x, 0);
        check_family(FAMILY_L, x, 0);
        check_family(FAMILY_N, x, 0);
        check_family(FAMILY_C, x + 1, 0);
        for (uint32_t y = 2; y <= 4; y++) {
            if (x != 3)
                check_family(FAMILY_W, x, y);
            if (x * (y - 1) + 1 != 5 && x * (y - 1) + 1 != 10)
                check_family(FAMILY_M, x, y);
            check_family(FAMILY_Q, x, y);
            if (x > 2 && y <= x)
                check_family(FAMILY_HUB, x, y);
        }
    }
    return tap_done();
}
