/* The order of a series-parallel workflow that needs the least memory on one node. */
#pragma once
#include "model/workflow.h"

/* The least possible where the workflow is series-parallel (every set of tasks that cannot be told apart
 * by the others is in series or side by side) and each file has one reader; else a good one: what is
 * neither in series nor side by side is taken as `other` has it. The caller frees it. */
uint32_t *series_order(const struct workflow *w, const uint32_t *other);
