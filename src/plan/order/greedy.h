/* Orders for pieces too large for exact search, and bounds on what any order can reach. */
#pragma once
#include "plan/order/piece.h"
#include "plan/order/shape.h"

/* Always the available tail that renders the most heads at once; then that with the most children,
 * then the lowest. m log n. */
void greedy_order(const struct order_piece *p, uint32_t *order);

/* An upper bound of the area of any order of p: R(X) is at most the sum over X of shares, where
 * every head shares 1 equally among its parents. Adds the shares as atoms of length 1 to be handed
 * to atoms_bound(). */
struct slope {
    double value;
    uint32_t length;
};
void greedy_shares(const struct order_piece *p, struct slope *shares);
/* Bound from slopes of any order: the concave envelope, rounded down at every step. Sorts `slopes`.
 */
uint64_t slopes_bound(struct slope *slopes, size_t count, uint64_t heads);
