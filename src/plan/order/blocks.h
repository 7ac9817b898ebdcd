/* Every block of a skeleton with its order and shape. Blocks of the catalogue are recognised;
 * others are searched once per normal form (equal normal forms are the same block up to names) and
 * remembered. */
#pragma once
#include "plan/order/catalogue.h"
#include "plan/order/shape.h"
#include "plan/order/solve.h"

struct order_block {
    struct catalogue_entry entry;
    enum proof proof; /* of its order, which s->tail holds */
    uint32_t shape;   /* the profile of that order */
    uint64_t bound;   /* of the area of any order; that of its own when proved */
};

struct blocks {
    struct skeleton *s;
    struct shapes shapes;
    struct order_block *all;
    uint32_t *number_of; /* scratch by shape, all NONE: see line.c */
    uint32_t searched,
        remembered; /* blocks outside the catalogue: searched; found among those searched before */
};

/* Shares `effort` with what comes after. */
void blocks_solve(struct blocks *b, struct skeleton *s, struct effort *effort);
void blocks_free(struct blocks *b);
const struct order_shape *blocks_shape(const struct blocks *b, uint32_t block);
