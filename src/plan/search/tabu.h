/* Tabu search for a short makespan on nodes of one core, where nothing contends for ports or memory.
 *
 * Every step looks at all tasks of a critical chain, each on every node and in every gap of it that
 * producers and consumers leave, and takes the place that promises the shortest way through the task;
 * how long that way is, heads and tails tell without decoding. Where annealing tries a move a
 * microsecond, this judges hundreds: on large graphs whose data take as long as the tasks it is a
 * tenth shorter after the same time.
 *
 * After the neighbourhood of M. Mastrolilli, L. M. Gambardella: Effective neighbourhood functions for
 * the flexible job shop problem. J. Scheduling 3(1), 2000; nodes of different speed and the time of
 * sending are ours. */
#pragma once
#include "plan/search/anneal.h"

/* Can it be asked? Otherwise only decoding tells how long a change makes the schedule. */
bool tabu_suits(const struct problem *p);

/* Improve `best`, which must hold a solution with its makespan, from `start`. Limits are anneal()'s: a
 * step counts as so many moves as take its time. The same seed, start and number of moves give the same
 * solution. It ends before its limits where it does not help. Returns the moves made. */
uint64_t tabu_search(const struct problem *p, struct encoding *best, const struct encoding *start,
                     uint64_t seed, uint64_t stream, const struct anneal_limits *limits);

/* ---- shared with the search over twins (twin_search.h) ---- */

/* What is forbidden may be done for a plan that is shorter, but for one that seems so by rounding: a way is
 * summed in another order than a start. */
#define TABU_TRULY (1 - 1e-9)

/* How much of the budget is used, by moves or by the clock, and whether it is worth while. */
struct tabu_pace {
    const struct anneal_limits *limits;
    double started, told, done; /* told: when the user was; done: 0 to 1 */
    double first;               /* the makespan that it began with */
    bool judged;                /* whether it helps */
};

struct tabu_pace tabu_begin(const struct anneal_limits *limits, double makespan);
/* By moves, by the user, by the clock. */
bool tabu_is_over(struct tabu_pace *pace, uint64_t moves);
