/* A trace file (Chrome / Perfetto JSON, as `weft sim --trace` writes it) as the record of a run, so
 * that reports show simulated runs like real ones. */
#pragma once
#include "model/record.h"

/* Slices of category "task" become attempts, "memory" and "ready tasks" counters. `w` (may be NULL;
 * taken over, also on failure) gives the graph: tasks are found by name. Without it the tasks have
 * names and kinds and no edges. False: an error. Free with record_free(). */
bool trace_record_read(const char *path, struct workflow *w, struct run_record *out,
                       struct error *err);
