/* Plans with copies from an order of the tasks, by the millisecond: every task goes where it ends first,
 * with copies of late producers, and of theirs, in the gaps before it (after I. Ahmad, Y.-K. Kwok: On
 * exploiting task duplication in parallel program scheduling. IEEE Trans. Parallel and Distributed
 * Systems 9(9), 1998). A plan is some milliseconds for 1,000 tasks, where list/duplicate.h, which knows
 * ports, memory and several cores, takes ten times as long. */
#pragma once
#include "plan/search/twins.h"
#include <stdatomic.h>

struct twin_builder;

struct twin_builder *twin_builder_new(const struct problem *p); /* needs twins_suit() */
void twin_builder_free(struct twin_builder *b);
/* Tasks by priority, the highest first (producers are put before their consumers). `depth`: of how many
 * generations a task may bring copies. The makespan; INFINITY, and nothing to list, past the deadline. */
double twin_build(struct twin_builder *b, const double *priority, unsigned depth, double deadline);
void twin_builder_list(const struct twin_builder *b, struct twin_list *list);
/* So many plans a stream, each with priorities that the last suggests; streams weigh them otherwise. The shortest
 * that is shorter than `best` takes its place, without the copies that serve nobody. */
void twin_build_several(const struct problem *p, unsigned plans, double deadline,
                        const atomic_bool *stop, struct twin_list *best);
