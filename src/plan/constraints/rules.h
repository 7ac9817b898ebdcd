/* The paper's default constraints as text, and what the planner says of its search. */
#pragma once
#include "model/plan.h"

extern const char *const constraints_default_rules;
/* How many states the search that made this plan created: from its first remark. 0: not its plan.
 */
uint64_t constraints_states(const struct plan *plan);
