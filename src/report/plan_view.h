/* A plan as JSON for who draws it: the page. Times in seconds, sizes in bytes, null: not known. Columns stand as arrays
 * side by side, so that 100,000 placements are a few megabytes. */
#pragma once
#include "base/strbuf.h"
#include "model/plan.h"
#include "model/platform.h"
#include "model/workflow.h"

enum { PLAN_VIEW_PLACEMENTS = 100000, PLAN_VIEW_TRANSFERS = 20000, PLAN_VIEW_STEPS = 400 };

struct json_writer;
/* Members of the object that is open: kind, planner, objectives, notes, kinds with their colours, nodes, and by kind of
 * plan placements, transfers and memory over time; parts; clusters; the order with its eligible tasks. What is
 * past the limits is left out and counted: "left_out". */
void plan_view(struct json_writer *j, const struct plan *plan, const struct workflow *w,
               const struct platform *p);

/* Memory on a node over time as a plan has it: what tasks that run at the same time take together, and nothing else. At
 * most PLAN_VIEW_STEPS steps, each with the most in its stretch of time. Both arrays have room for as many
 * plus 1. How many there are. */
uint32_t plan_view_memory(const struct plan *plan, const struct workflow *w,
                          const struct platform *p, uint32_t node, double *time, double *bytes);
