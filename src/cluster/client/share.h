/* How a submitter hands tasks out to agents (section 2.2.2 of the MATRIX paper). */
#pragma once
#include "model/capacity.h"
#include "model/workflow.h"

/* best: equal shares of tasks that have to run, neighbours in the graph together, but so that agents need not
 * wait for each other's; worst: all to the first. Either way a task that does not fit its agent goes to another
 * that has room for it, if there is one. */
enum share_kind { SHARE_BEST, SHARE_WORST };

struct share_agents {
    const uint32_t *nodes; /* those that get tasks */
    uint32_t n;
    const struct capacity *capacity; /* what each has; NULL: enough for all */
    const double *seconds; /* what each task takes, 0 where nobody knows; NULL: nobody knows */
};

/* `skip` (may be NULL): per task, not zero: needs no home, and gets NONE. */
void share_tasks(const struct workflow *w, enum share_kind kind, const struct share_agents *agents,
                 const uint8_t *skip, uint32_t *home);
