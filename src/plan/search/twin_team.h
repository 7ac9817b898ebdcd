/* The search over twins by several streams that help each other: in rounds, each of a share of the plan.
 *
 *    plan ─┬─▶ stream 0: first share  ─┐
 *          ├─▶ stream 1: second share ─┼─▶ joined: the next round's plan
 *          └─▶ ...                    ─┘
 *
 * Shares lie one after the other in time and are cut elsewhere in each round. Where there are more streams
 * than shares several search one, and the best is taken. */
#pragma once
#include "plan/search/twin_search.h"

/* Improve `best`, which must hold a plan; needs twins_suit(). `copies`: tasks may be copied; without, a plan with
 * one copy of each task keeps that. `limits` are each stream's. With a limit of moves
 * the same seed, plan and number of streams give the same plan. It ends before its limits where it does not
 * help. Returns the moves of all streams. */
uint64_t twin_team_search(const struct problem *p, struct twin_list *best, bool copies,
                          unsigned streams, uint64_t seed, const struct anneal_limits *limits);
