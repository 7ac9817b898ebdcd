/* The order in which a run prefers its tasks. */
#pragma once
#include "model/plan.h"
#include "model/workflow.h"

/* Depth first: a task that finishes a branch goes before one that opens another, so that few
 * intermediate files and little memory are alive at once. Larger first, every task another value;
 * the priorities of the workflow come before everything. */
void order_depth_first(const struct workflow *w, double *priority);
/* As a plan has them: by start (static, partition), by position (order). */
void order_of_plan(const struct workflow *w, const struct plan *plan, double *priority);
/* The tasks in the order in which one core would take them by these priorities; the caller frees it. */
uint32_t *order_by_priority(const struct workflow *w, const double *priority);
