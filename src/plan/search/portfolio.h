/* The list planners that the searches start from. Which ones depends on the size of the workflow
 * alone, so that "never worse than its members" can be checked. Planners that copy tasks are not
 * among them: the searches plan one copy each. */
#pragma once
#include "plan/planner.h"
#include "plan/search/decoder.h"

struct portfolio {
    struct plan *best; /* the shortest; ties: first member */
    const char *best_name;
    double makespan;             /* of best */
    struct candidate *solutions; /* different makespans, shortest first; decoded */
    uint32_t count;
    uint32_t members; /* planners that gave a plan */
};

/* The names for a workflow of `tasks` tasks, ended by NULL. Names that are not in the registry are
 * passed over. */
const char *const *portfolio_members(uint32_t tasks);
/* Run them on all cores. False with the first member's error when none has a plan. */
bool portfolio_run(const struct plan_request *request, const struct problem *p,
                   struct portfolio *out, struct error *err);
void portfolio_free(struct portfolio *out);
