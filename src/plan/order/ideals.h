/* Exact search over ideals (sets of tails closed under precedence) of a small piece: M(t), the
 * largest number of heads that t tails can render; an AREA-maximal order; and whether it is
 * IC-optimal. An order reaches M(t) at every t iff its area is the sum of all M(t), so one search
 * answers both questions. */
#pragma once
#include "plan/order/piece.h"

enum { IDEALS_TABLE = 24 }; /* most tails for a table of all subsets */

struct ideals {
    uint32_t *order; /* AREA-maximal; IC-optimal when there is such an order */
    uint32_t *most;  /* M(0..ntails) */
    uint64_t area;   /* of the order: sum of rise[1..ntails] */
    bool is_ic;      /* an IC-optimal order exists */
    uint64_t visited;
};

/* At most IDEALS_TABLE tails, or heads: then the dual is searched. Otherwise by layers of a hash
 * set, giving up (false, nothing to free) when more than `cap` ideals were met, or eight times as
 * many ways between them. Twins (same parents, same children) run in index order. */
bool ideals_solve(const struct order_piece *p, uint64_t cap, struct ideals *out);
void ideals_free(struct ideals *i);
