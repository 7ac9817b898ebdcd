/* Plans within memory: what every planner's plan passes through when files count, and the planners that
 * know them from the start. */
#pragma once
#include "model/costs.h"
#include "plan/planner.h"

/* Does this request have to keep files within memory? */
bool within_asked(const struct plan_request *request);
/* The names of planners that know files, for remedies. */
#define WITHIN_REMEDY                                                                              \
    "--with heft-mem, minmin-mem or auto look for a plan that keeps to it; `memory: tasks` in "    \
    "the "                                                                                         \
    "platform counts no files"

/* The planner's static plan, if it keeps to memory; else one with its order and, where that is possible, its
 * nodes, delayed and moved until it does. Takes `plan`; NULL with an error when none was found. */
struct plan *within_memory(const struct plan_request *request, struct plan *plan,
                           struct error *err);
/* The repair alone, given up as soon as it ends after `longest`, so that it costs little where it is in vain. NULL: none. Knows no
 * ports and no things; nobody has judged it. */
struct plan *within_shorter(const struct costs *costs, const struct plan *plan, double longest);
/* False (infeasible), naming the task, when some task with its files fits into no node. */
bool within_possible(const struct workflow *w, const struct costs *costs, struct error *err);
/* heft's or minmin's plan, for platforms with ports and workflows with resources, which only the list planners
 * know; with a note. */
struct plan *within_plain_list(const struct plan_request *request, bool minmin, struct error *err);
