/* A run whose folder is in memory: files between tasks take of the same bytes as the tasks. By the rule of
 * model/residence.h a file is there from the start of the task that makes it until it is gone. Without
 * session_options.in_memory neither does anything. */
#pragma once
#include "drive/run.h"
#include "session/session.h"

/* False (infeasible): a task with all of its files is more than the run has, and which. */
bool in_memory_fits(const struct session *s, struct error *err);
/* Before the start: what counts in memory, and where no plan is followed, an order that needs little of it. */
void in_memory_begin(struct session *s, struct run_options *o);
