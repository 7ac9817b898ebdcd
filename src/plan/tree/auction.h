/* A piece cut anew in two levels: a top, and subtrees that run side by side after it on processors
 * that are idle. Which ones is found by an auction. It is the large move of the search, since a single
 * cut rarely helps where two or thirty at once do, and makes mappings of its own. */
#pragma once
#include "base/rng.h"
#include "plan/tree/partition.h"

/* Room for it, one a thread. */
struct auction;
struct auction *auction_new(const struct tree_setting *s);
void auction_free(struct auction *a);

struct auction_terms {
    uint32_t top;    /* processor for what stays of the piece: its own or an idle one */
    double seconds;  /* what hangs should end so soon after the top */
    double reserve;  /* no processor is worth less than this share of the work it can do in time */
    double limit;    /* only lengths of the piece below this count */
    uint32_t rounds; /* of bids */
    struct rng *rng;
};

/* Cut subtrees off piece i for idle processors; the pieces below it stay. False, and nothing changed:
 * no way is shorter than the limit, or the top's memory does not hold what stays. *cost grows by what
 * it cost, in moves: O(heavy subtrees of the piece) a round. */
bool auction_piece(struct auction *a, struct partition *p, uint32_t i,
                   const struct auction_terms *terms, uint64_t *cost);

/* The whole tree, with each kind of processor as the top's and for many deadlines; then on along the
 * critical path while processors are idle. `known`: a makespan that is reached already; tops that come
 * nowhere near it are left early. Valid mappings are added to out[*found], the shortest
 * first, at most `most` and only of different makespan; none is begun after `deadline`
 * (clock_seconds(); INFINITY: the same answer every time). */
void auction_mappings(const struct tree_setting *s, double known, double deadline,
                      struct snapshot *out, uint32_t *found, uint32_t most);
