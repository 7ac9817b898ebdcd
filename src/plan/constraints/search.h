/* The searches over the space: best-first and A* (section 3.3), branch and bound, and for large
 * workflows construction with local search. All leave the found goal laid out in the space. */
#pragma once
#include "plan/constraints/space.h"

struct constraints_limits {
    double deadline; /* on the clock; INFINITY: none */
    double seconds;  /* what it was made from, for messages */
    uint64_t states; /* 0: no limit */
};

struct search_result {
    bool found;
    bool complete;   /* nothing better exists (optimal), or all was looked at (nothing found) */
    bool stopped;    /* by the limits or the user */
    uint64_t states; /* created */
    uint64_t expanded;
    uint64_t duplicates;
    uint64_t moves; /* of the local search */
    double g;
    double bound; /* branch and bound: no goal has a smaller g */
};

struct search_result search_best_first(struct space *s, const struct constraints_limits *limits,
                                       bool optimal);
struct search_result search_large(struct space *s, const struct constraints_limits *limits);
