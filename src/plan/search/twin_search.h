/* Tabu search over plans that run tasks twice (twins.h): tabu.h's, where a twin may also be added beside a
 * consumer that waits for its data, or removed where another can supply its consumers. */
#pragma once
#include "plan/search/anneal.h"
#include "plan/search/twins.h"

/* Improve `best`, which must hold a plan. Limits as anneal()'s: a step counts as so many moves as take
 * its time. The same seed, plan and number of moves give the same plan. It ends before its limits where
 * it does not help. Returns the moves made. */
uint64_t twin_search(const struct problem *p, struct twin_list *best, uint64_t seed,
                     uint64_t stream, const struct anneal_limits *limits);
