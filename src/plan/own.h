/* Planners that a program added to the registry while it runs (weft_planner_register). */
#pragma once
#include "plan/planner.h"

/* Enter a row, which must stay until planner_remove(). False: a planner of that name is there. */
bool planner_add(const struct planner *row, struct error *err);
/* Take it out again; the row, NULL when none of that name was added. */
const struct planner *planner_remove(const char *name);
/* Every planner by number: the registry's rows, then added ones in order. NULL: there are no more.
 */
const struct planner *planner_at(size_t i);
/* The added one of that name; NULL: none. */
const struct planner *planner_find_own(const char *name);
