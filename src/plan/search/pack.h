/* Plans in which no node is idle, for graphs with so much to do that the load of the nodes bounds them.
 *
 * List scheduling puts a task where it ends first, and lets the node wait for its data, a little before most
 * tasks: together more than all that the end of the plan costs. Here a node's waiting counts many times, so
 * that a task goes where its data are when the node is free:
 *
 *     node A   ████████████ t        ends first, after a gap
 *     node B   ████████████████ t    ends later, without a gap: this one
 *
 * What then is left is the end, where nodes are done at different times: it is scheduled again and again, with
 * priorities that differ a little. */
#pragma once
#include "plan/search/anneal.h"

/* One core a task, and nothing contends for ports or memory. */
bool pack_suits(const struct problem *p);

/* Improve `best`, which must hold a solution with its makespan, or leave it. Limits are anneal()'s: a pass over
 * tasks counts as so many moves as take its time. The same seed, solution and number of moves give the same
 * solution. It ends before its limits where it does not help. Returns the moves made. */
uint64_t pack_search(const struct problem *p, struct encoding *best, uint64_t seed, uint64_t stream,
                     const struct anneal_limits *limits);
