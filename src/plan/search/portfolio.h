/* The list planners that the searches start from: those whose row says so (`.portfolio`), in the
 * order of the registry. Which ones depends on the size of the workflow alone, so that "never worse
 * than its members" can be checked. Some of them copy tasks; the searches plan one copy each, so
 * the shortest plan with copies is kept beside the shortest without. */
#pragma once
#include "plan/planner.h"
#include "plan/search/decoder.h"

struct portfolio {
    struct plan
        *best; /* the shortest with one copy of each task; ties: first member; may be NULL */
    const char *best_name;
    double makespan;     /* of best */
    struct plan *copied; /* the shortest that runs some task twice; NULL: none */
    const char *copied_name;
    double copied_makespan;
    struct encoding *solutions; /* different makespans, shortest first; decoded */
    uint32_t count;
    uint32_t members; /* planners that gave a plan */
};

/* How many tasks a workflow may have for members of each class, so that a search is not kept
 * waiting: of 2,000 tasks in layers on 16 nodes the slowest member (lookahead) takes about 0.2 s;
 * past 50,000 tasks even those of n log n take seconds. */
enum {
    PORTFOLIO_TINY_TASKS = 400, /* `constraints` takes about 0.1 s for 400 tasks on 16 nodes */
    PORTFOLIO_SMALL_TASKS = 2000,
    PORTFOLIO_MEDIUM_TASKS = 50000
};

/* The members for a workflow of `tasks` tasks, ended by NULL; free() the array. */
const struct planner **portfolio_members(uint32_t tasks);
/* Those that were left out because the workflow has so many tasks, likewise. */
const struct planner **portfolio_left_out(uint32_t tasks);
/* Run them on all cores. False with the first member's error when none has a plan, or - without
 * `copies` - none with one copy of each task. */
bool portfolio_run(const struct plan_request *request, const struct problem *p, bool copies,
                   struct portfolio *out, struct error *err);
void portfolio_free(struct portfolio *out);
