/* What a record that speaks of tasks by number must agree on: the graph and the names. */
#pragma once
#include "model/workflow.h"

/* Of the tasks from `first` up to `end`. */
uint64_t store_fingerprint(const struct workflow *w, uint32_t first, uint32_t end);
