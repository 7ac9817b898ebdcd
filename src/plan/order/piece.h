/* A piece of a dag, as IC-scheduling sees it: *tails* are run, *heads* are rendered eligible when
 * all their parents (tails of the piece) have run. A head may itself be a tail of the piece (the
 * piece is not bipartite then).
 *
 * `rise[t]` is the number of heads rendered after t tails: the profile of the literature (E of the
 * paper for bipartite dags, R of the specification otherwise: heads count whether or not they have
 * run). */
#pragma once
#include "model/workflow.h"

struct order_piece {
    uint32_t ntails, nheads;
    uint32_t *parent_off, *parent; /* of a head: tails, ascending */
    uint32_t *child_off, *child;   /* of a tail: heads, ascending */
    uint32_t *self;                /* self[t]: the head that is tail t; NONE: t may run at once */
};

/* Takes parent_off, parent and self; makes the rest. Tails must be numbered topologically, heads
 * too. */
struct order_piece *piece_new(uint32_t ntails, uint32_t nheads, uint32_t *parent_off,
                              uint32_t *parent, uint32_t *self);
void piece_free(struct order_piece *p); /* NULL is fine */
uint32_t piece_arcs(const struct order_piece *p);

/* All arcs turned round: heads become tails. Both are numbered backwards: tail i of the dual is
 * head nheads-1-i. */
struct order_piece *piece_dual(const struct order_piece *p);
/* From an order of the dual's tails the order of the piece: packets of what each step renders, last
 * packet first. It is IC-optimal (AREA-maximal) iff the dual's is. */
void piece_from_dual(const struct order_piece *p, const struct order_piece *dual,
                     const uint32_t *dual_order, uint32_t *order);

/* The piece between two ideals: tails[0..count) in an order that respects precedence, all earlier
 * tails done, the heads that `count` more tails complete. `position[t]` is the place of tail t in
 * the order that `tails` is cut from, `last[h]` the largest place of a parent of head h, `from` the
 * place of tails[0]. */
struct order_piece *piece_between(const struct order_piece *p, const uint32_t *tails,
                                  uint32_t count, const uint32_t *position, const uint32_t *last,
                                  uint32_t from);

/* rise[0..ntails] of an order; false when the order runs a tail before it is rendered. */
bool piece_rise(const struct order_piece *p, const uint32_t *order, uint32_t *rise);
uint64_t rise_area(const uint32_t *rise, uint32_t ntails); /* rise[1] + ... + rise[ntails] */
