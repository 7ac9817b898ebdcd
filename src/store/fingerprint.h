/* What a record that speaks of tasks by number must agree on: the graph and the names. */
#pragma once
#include "model/workflow.h"

uint64_t store_fingerprint(const struct workflow *w);
