/* Search for plans that run some tasks twice. Where sending costs more than computing, a copy of a
 * producer beside its consumer is the shorter way; the other searches plan one copy each.
 *
 * A candidate is an order of the tasks, by priority and producers first; they are placed in that order
 * where they end first, with copies of late predecessors (list/duplicate.h). Priorities of a good one
 * are changed a little, again and again. A candidate costs O(tasks x nodes x copies x degree), about
 * eight moves of the annealing a task. */
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
