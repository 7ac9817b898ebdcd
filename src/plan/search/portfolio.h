/* The list planners that the searches start from: those whose row says so (`.portfolio`), in the
 * order of the registry. Which ones depends on the size of the workflow alone, so that "never worse
 * than its members" can be checked. Planners that copy tasks are not among them: the searches plan
 * one copy each. */
#pragma once
#include "plan/planner.h"
#include "plan/search/decoder.h"

struct portfolio {
    struct plan *best; /* the shortest; ties: first member */
    const char *best_name;
    double makespan;            /* of best */
    struct encoding *solutions; /* different makespans, shortest first; decoded */
    uint32_t count;
    uint32_t members; /* planners that gave a plan */
};

/* How many tasks a workflow may have for members of each class, so that a search is not kept
 * waiting: of 2,000 tasks in layers on 16 nodes the slowest member (lookahead) takes about 0.2 s;
 * past 50,000 tasks even those of n log n take seconds. */
enum { PORTFOLIO_SMALL_TASKS = 2000, PORTFOLIO_MEDIUM_TASKS = 50000 };

/* The members for a workflow of `tasks` tasks, ended by NULL; free() the array. */
const struct planner **portfolio_members(uint32_t tasks);
/* Run them on all cores. False with the first member's error when none has a plan. */
bool portfolio_run(const struct plan_request *request, const struct problem *p,
                   struct portfolio *out, struct error *err);
void portfolio_free(struct portfolio *out);
