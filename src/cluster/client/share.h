/* How a submitter hands tasks out to agents (section 2.2.2 of the MATRIX paper). */
#pragma once
#include "model/workflow.h"

/* `nodes[0..n)`: the agents that get tasks. best: equal shares of tasks that have to run,
 * neighbours in the graph together; worst: all to the first. `skip` (may be NULL): per task, not
 * zero: needs no home, and gets NONE. */
enum share_kind { SHARE_BEST, SHARE_WORST };

void share_tasks(const struct workflow *w, enum share_kind kind, const uint32_t *nodes, uint32_t n,
                 const uint8_t *skip, uint32_t *home);
