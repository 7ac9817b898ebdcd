/* Pictures of plans.
 *
 * The SVG stays small whatever the plan: bars thinner than half a pixel are merged into grey-free
 * "busy" runs of their kind's colour, at most 64 node names and GANTT_LANES lanes are drawn (a note
 * tells what was left out). 100,000 placements give less than 4 MB, in time linear in the plan but
 * for one sort. Nothing in a plan can break it: placements that refer to no task or node, or have
 * no finite times, are left out. */
#pragma once
#include "base/strbuf.h"
#include "model/plan.h"
#include "model/platform.h"
#include "model/workflow.h"

enum { GANTT_LANES = 1024 }; /* cores, or nodes when there are many, drawn at most */

struct gantt_options {
    double width;      /* of the picture in pixels; 0: 1200 */
    const char *title; /* NULL: workflow, planner, makespan */
    bool no_transfers; /* leave out the arrows between lanes (they are drawn up to 400 transfers) */
    bool used_only;    /* lanes without a bar are left out (always so past 64 lanes) */
};

/* Any kind of plan: static plans as a Gantt chart, partitions as their parts by equation (1) of
 * HetPart (one lane a node), streams as what each node hosts, orders as the curve of eligible
 * tasks. `platform` may be NULL for orders; `options` may be NULL. Appends one whole SVG document
 * to `out`. */
void report_gantt_svg(const struct plan *plan, const struct workflow *w,
                      const struct platform *platform, struct strbuf *out,
                      const struct gantt_options *options);

struct gantt_text_options {
    unsigned columns;  /* width of the whole thing; 0: 80 */
    unsigned max_rows; /* lanes shown; 0: 24. "... and N more" tells the rest */
    bool ascii;        /* '#' instead of block characters */
    bool colour;       /* terminal colours by kind of task */
};

/* A static or partition plan for the terminal: a line a lane, eighth-blocks as bars, an axis below.
 * Other kinds: one or two lines that say what the plan is. */
void report_gantt_text(const struct plan *plan, const struct workflow *w,
                       const struct platform *platform, struct strbuf *out,
                       const struct gantt_text_options *options);
