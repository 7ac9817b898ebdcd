/* Local search for a short makespan: simulated annealing over (order, node of every task), in
 * rounds that cool down and start again from the best solution or from another start.
 *
 * Moves change a task on the critical path more often than others: to another node, to another
 * place among the tasks of its node, together with producers or consumers, or by exchange with
 * another task. No memory is allocated in the loop. The same seed, starts and number of moves give
 * the same solution; by time they do not. */
#pragma once
#include "base/progress.h"
#include "plan/search/decoder.h"
#include <stdatomic.h>

struct anneal_limits {
    uint64_t moves;  /* 0: until `deadline` only. Of more than 2,000 tasks a move that computes
                        many of them anew counts as several */
    double deadline; /* on clock_seconds(); INFINITY: none, and then `moves` alone decide */
    double target;   /* stop at this makespan: it cannot be improved */
    const struct progress *progress;
    atomic_bool *stop; /* set when the user wants to stop, and heeded by all searches that share it;
                          may be NULL */
    double progress_from, progress_to; /* fractions of the whole work that this search covers */
};

/* Improve `best`, which must hold a solution with its makespan. `starts` are others to begin rounds
 * from, good ones first. Returns the moves made, as the limit counts them. */
uint64_t anneal(const struct problem *p, struct encoding *best, const struct encoding *starts,
                uint32_t nstarts, uint64_t seed, uint64_t stream,
                const struct anneal_limits *limits);
