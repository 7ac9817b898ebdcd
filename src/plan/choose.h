/* Which planner: what "no --with" means. */
#pragma once
#include "plan/planner.h"

/* The planner of that name, or, when `name` is NULL, the one for what is asked:
 *
 *     constraints    among the options (`assert`, `rules`) or in the workflow itself
 *     tree           a tree whose tasks need memory, on several single-core nodes that limit it:
 *                    there a partition answers what is asked. Where memory does not matter, or
 *                    nodes have several cores (a partition keeps one part a node), a plan of single
 *                    tasks is the better answer
 *     auto           everything else
 *
 * NULL: no planner of that name; the error suggests one. */
const struct planner *planner_choose(const char *name, const struct workflow *w,
                                     const struct platform *p, const struct option_value *options,
                                     size_t noptions, struct error *err);
