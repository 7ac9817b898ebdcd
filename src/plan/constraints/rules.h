/* The paper's default constraints as text, and what the planner says of its search. */
#pragma once
#include "model/plan.h"

struct space;
struct plan_request;

extern const char *const constraints_default_rules;
/* An option of the planner as the request has it; "": not given. */
const char *constraints_option(const struct plan_request *r, const char *name);
/* All rules of the request into s->query: the default ones, a file's, the workflow's, --assert's. */
bool constraints_read_rules(struct space *s, struct error *err);
/* How many states the search that made this plan created: from its first remark. 0: not its plan.
 */
uint64_t constraints_states(const struct plan *plan);
