/* The best order of a piece, and what is proved about it: exact search, Sidney's decomposition with
 * certificates, or greedy. */
#pragma once
#include "plan/order/piece.h"

enum proof {
    PROOF_IC,    /* IC-optimal */
    PROOF_NONE,  /* no IC-optimal order exists; the order may still be AREA-maximal: see area ==
                    bound */
    PROOF_AREA,  /* AREA-maximal; whether an IC-optimal order exists is open */
    PROOF_GUESS, /* neither */
};

/* What searches may spend, over the whole dag: shared by all pieces. */
struct effort {
    uint64_t ideals;      /* most ideals of one search, when it is too large for a table */
    uint64_t ideals_left; /* and of all */
    uint64_t tables_left; /* subsets in tables, of all */
    uint64_t flow_left;   /* arc visits of minimum cuts */
    uint32_t flow_arcs;   /* pieces with more arcs are not decomposed */
    uint32_t largest;     /* pieces with more tails are not searched */
};

struct solution {
    enum proof proof;
    const char *route;    /* "exact search", "Sidney decomposition" ...: static text */
    uint32_t *order;      /* of the piece's tails */
    uint64_t area, bound; /* sum of rise[1..ntails]; no order has more than bound */
};

/* Exact search only: false when it is too large. */
bool solve_exactly(const struct order_piece *p, struct effort *effort, struct solution *out);
/* Always an answer. */
void solve_piece(const struct order_piece *p, struct effort *effort, struct solution *out);
void solution_free(struct solution *s);
