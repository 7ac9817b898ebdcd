/* From an order of tasks to a plan. */
#pragma once
#include "plan/planner.h"

/* A plan of kind order with its eligible counts and area; takes nothing. */
struct plan *order_plan(const struct workflow *w, const uint32_t *order);
/* Every task once: of the eligible ones that with the largest key, then the lowest. The caller frees. */
uint32_t *order_by_key(const struct workflow *w, const double *key);
