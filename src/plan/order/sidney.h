/* Sidney's decomposition of a piece: nested ideals 0 = A_0 < A_1 < ... < A_K = all with strictly
 * falling slopes, the vertices of the concave envelope of M(t). Maximal AREA is single-machine
 * weighted completion time, so some AREA-maximal order runs A_1, then A_2 - A_1, ...: exact search
 * inside each component gives the maximum. Each A_k is the only ideal of its size that reaches M,
 * so every IC-optimal order passes through all of them; that yields certificates and refutations.
 *
 * Computed by divide and conquer: the ideal between A and B that maximises R(I) - slope(A,B) |I| is
 * a closure, found by a minimum cut. */
#pragma once
#include "plan/order/piece.h"

struct sidney {
    uint32_t *order; /* a permutation of the tails; component k is order[off[k] .. off[k+1]) in
                        topological order */
    uint32_t *off, *heads; /* heads[k]: rendered within component k; slope = heads / tails */
    uint32_t count;
};

/* False (nothing to free) when *budget arc visits are not enough; it is reduced by what was used.
 */
bool sidney_decompose(const struct order_piece *p, uint64_t *budget, struct sidney *out);
void sidney_free(struct sidney *s);
