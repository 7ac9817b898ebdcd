/* The best plan within memory that a budget allows: what `auto` and `optimal` do when files count and the plan
 * that they found without them does not fit. */
#pragma once
#include "plan/planner.h"

struct improve_budget {
    double seconds; /* INFINITY: by moves */
    uint64_t moves; /* 0: by time; a state of the exact search counts as one */
    bool
        planners; /* up to PORTFOLIO_TINY_TASKS tasks all others are asked for a plan within memory */
    bool copies; /* also for one that runs some task twice */
};

/* Takes `plan`, found without memory (NULL: none), and gives it back if it fits. */
struct plan *improve_within_memory(const struct plan_request *request, struct plan *plan,
                                   const struct improve_budget *budget, struct error *err);
