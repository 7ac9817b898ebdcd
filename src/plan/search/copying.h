/* Search for plans that run some tasks twice. Where sending costs more than computing, a copy of a
 * producer beside its consumer is the shorter way; the other searches plan one copy each.
 *
 * A candidate is an order of the tasks (by priority, producers first) and for some of them a node;
 * tasks are placed in that order with copies of late predecessors (list/duplicate.h), on their node
 * or where they end first. The best is changed a little, again and again; what is no longer stays. A
 * candidate costs O(tasks x nodes x copies x degree), a thousand times a move of the annealing. */
#pragma once
#include "plan/search/anneal.h"

struct copying_request {
    const struct problem *problem;
    const struct encoding
        *start; /* a good plan with one copy each: one of the orders to begin with */
    uint64_t seed, stream;
    uint64_t candidates; /* at most so many */
    uint64_t patience;   /* stop after so many that improved nothing */
    double deadline;     /* on clock_seconds(); INFINITY: none */
    double shorter_than; /* a plan that is not shorter than this is of no use */
    double target;       /* stop at this makespan: it cannot be improved */
    atomic_bool *stop;   /* by the user */
};

/* The shortest plan found; NULL: none was short enough. *tried counts the candidates. */
struct plan *copying_search(const struct copying_request *r, uint64_t *tried);
