/* Inside the pictures of plans: what gantt.c, gantt_kinds.c and gantt_text.c share. */
#pragma once
#include "report/gantt.h"

/* Refers to a task and a node that are there, at finite times in order. */
bool gantt_usable(const struct placement *pl, const struct workflow *w, const struct platform *p);
/* Cores that it occupies on its node, at least 1. */
uint32_t gantt_cores(const struct placement *pl, const struct workflow *w,
                     const struct platform *p);
/* The caller frees. `p` may be NULL. */
char *gantt_title(const struct plan *plan, const struct workflow *w, const struct platform *p,
                  const struct gantt_options *options);

/* When each part of a partition runs by equation (1) of HetPart: a part starts when the whole of
 * the part before it has ended and its file has arrived. start[i] .. arrived[i] is the transfer,
 * arrived[i] .. finish[i] the work; arrays of plan->parts.n. */
void gantt_part_times(const struct plan *plan, const struct workflow *w, const struct platform *p,
                      double *start, double *arrived, double *finish);

/* Eligible tasks (all predecessors executed, itself not) after 0, 1 ... n executions of an order: the plan's own
 * profile where it has one, since that is what its planner proved something about. n + 1 numbers; the caller
 * frees. */
double *gantt_eligible(const struct plan *plan, const struct workflow *w);

void gantt_partition_svg(const struct plan *plan, const struct workflow *w,
                         const struct platform *p, struct strbuf *out,
                         const struct gantt_options *options);
void gantt_stream_svg(const struct plan *plan, const struct workflow *w, const struct platform *p,
                      struct strbuf *out, const struct gantt_options *options);
void gantt_order_svg(const struct plan *plan, const struct workflow *w, const struct platform *p,
                     struct strbuf *out, const struct gantt_options *options);
