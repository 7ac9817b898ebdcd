/* Pictures of plans.
 *
 * The SVG stays small whatever the plan: up to 6,000 bars have labels and tooltips; more are drawn
 * without, neighbours that the picture cannot show apart merged into one. Above lanes whose bars are too
 * fine to read stands how many cores each kind held over time. Of the lanes (cores) at most GANTT_LANES
 * are drawn, and those without a bar only while there are at most 64; nodes without a task are folded
 * into a note past GANTT_IDLE; a note tells what was left out. 100,000 placements give less than 4 MB, in linear time but for one sort.
 * Nothing in a plan can break it: placements that refer to no task or node, or have no finite
 * times, are left out. */
#pragma once
#include "base/strbuf.h"
#include "model/plan.h"
#include "model/platform.h"
#include "model/workflow.h"

enum { GANTT_LANES = 1024, GANTT_IDLE = 2 }; /* lanes drawn at most; nodes without a task */

struct gantt_options {
    double width;      /* of the picture in pixels; 0: 1200 */
    const char *title; /* NULL: workflow, planner, makespan */
    bool no_transfers; /* leave out the arrows between lanes (they are drawn up to 60 transfers) */
    bool used_only;    /* lanes without a bar are left out (always so past 64) */
    double from, to;   /* seconds: only this stretch of a static plan is drawn; to 0: all */
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
