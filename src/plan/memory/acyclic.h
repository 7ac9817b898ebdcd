/* An acyclic partition of a workflow: blocks of about equal work, every edge within a block or to a later one. */
#pragma once
#include "model/workflow.h"

/* block[task] becomes 0 .. k-1. `order` has producers before consumers. Stretches of it, then tasks
 * change to blocks between those of their producers and consumers while fewer bytes go between blocks. O(edges) a pass. */
void acyclic_partition(const struct workflow *w, const uint32_t *order, uint32_t k,
                       uint32_t *block);
