/* A run whose folder is in memory: files between tasks take of the same bytes as the tasks. By the rule of
 * model/residence.h a file is there from the start of the task that makes it until it is gone. Without
 * session_options.in_memory neither does anything. */
#pragma once
#include "drive/run.h"
#include "session/following.h"

/* False (infeasible): a task with all of its files is more than the run has, and which. */
bool in_memory_fits(const struct session *s, struct error *err);
/* What the rows of a plan write out of memory and read again, for a run that follows it strictly. False: it cannot be done so,
 * and why. */
bool in_memory_spills(const struct session *s, struct following *f, struct error *err);
/* Where no plan says otherwise: an order that needs little memory. */
void in_memory_order(struct session *s, struct run_options *o);
/* Before the start: what counts in memory, and where no plan is followed, an order that needs little of it. */
void in_memory_begin(struct session *s, struct run_options *o);
/* Then, with the edges of a plan that is followed, where files have a limit, in memory or on a disk: an order of which a run keeps
 * room for the rest (drive/sequel.h). */
void in_memory_look_ahead(struct session *s, struct run_options *o);
