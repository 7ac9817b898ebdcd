/* Memory of data that functions hand to each other (exec/data.h) in a run on this machine: of what the run has, a part is set
 * aside for them, and commands have the rest.
 *
 *     --memory-for-data    so much; objects that are read last make room on the disk
 *     otherwise            what all objects in memory take together, where that fits beside the largest task: nobody counts
 *                          then; else all but what the largest command takes, and it is kept to as above */
#pragma once
#include "drive/run.h"

struct session;

void data_memory_set_aside(const struct session *s, struct run_options *o);
/* False (infeasible): a function with its data is more than they have; or nobody says how large an object is. */
bool data_memory_fits(const struct session *s, const struct run_options *o, struct error *err);
/* Before the start: where no plan is followed, an order that needs little memory. */
void data_memory_begin(struct session *s, struct run_options *o);
/* Then, with the edges of a plan that is followed: the order by which objects leave memory. */
void data_memory_look_ahead(struct session *s, struct run_options *o);
