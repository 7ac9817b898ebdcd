/* Placing a task with copies of late predecessors on its node, as long as each makes it end sooner:
 * what HEFD does for every task, and the search for plans with copies again and again.
 *
 * A task whose successors wait for it without data (order edges) is never copied: one copy's end
 * would not be the task's. O(nodes x copies x degree) a task. */
#pragma once
#include "plan/list/list.h"

struct duplicator {
    struct list_run l; /* not owned */
    bool *may_copy;    /* tasks whose successors only need their data */
    ARRAY(uint32_t) copied, best_copied;
};

struct duplicator *duplicator_new(const struct list_run *l);
void duplicator_free(struct duplicator *d);
/* Makes the copies for good and returns the task's slot, which the caller places: on node `only`, or -
 * NONE - on the node where it ends first; ties: lowest node. finish INFINITY: it can run nowhere. */
struct schedule_slot duplicator_place(struct duplicator *d, uint32_t task, uint32_t only);
