/* Bars on lanes over time, as SVG: what the pictures of static plans, partitions and streams share.
 *
 * The document is bounded: up to TIMELINE_BARS bars are elements of their own with a tooltip; more
 * become one path a colour without tooltips, neighbours closer than the drawing shows merged (in
 * the colour of the longest, red if one failed), coarser and coarser until at most TIMELINE_RUNS
 * are left. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "report/kinds.h"

enum { TIMELINE_BARS = 6000, TIMELINE_RUNS = 80000, TIMELINE_LANES = 1024, TIMELINE_MARKS = 8 };

struct timeline_bar {
    double start, finish;
    uint32_t lane, span; /* it covers lanes lane .. lane + span - 1 */
    uint32_t id;         /* for describe() */
    uint8_t colour;      /* of svg_fill() */
    bool faint, unlabelled;
    uint32_t mark; /* a number in a disc on the bar, explained by `marks`; 0: none */
};

struct timeline_mark {
    uint32_t number;
    char *text;
};

struct timeline_arrow {
    double start, finish;
    uint32_t from, to; /* lanes */
    uint32_t id;
};

struct timeline {
    char *title, *subtitle, *note; /* owned; note may be NULL */
    const struct kinds *kinds;     /* for the legend; NULL: none */
    ARRAY(uint32_t) lanes;         /* the group (node) of each; lanes of a group are neighbours */
    ARRAY(struct timeline_bar) bars;
    ARRAY(struct timeline_arrow) arrows;
    ARRAY(struct timeline_mark) marks; /* owned; below the axis, the first TIMELINE_MARKS */
    double end;                        /* of the dashed line; NAN: none */
    const char *end_label;             /* "makespan" */
    double width;
    double from, to; /* seconds: only this stretch is drawn; to 0: all of it */
    bool bare;       /* no title and subtitle in the picture: the page around it has them */
    /* The name of a group; the short label of a bar (whole = false) and its tooltip; the tooltip of
     * an arrow. */
    void *context;
    const char *(*group_name)(void *context, uint32_t group);
    void (*describe)(void *context, const struct timeline_bar *bar, bool whole, struct strbuf *out);
    void (*describe_arrow)(void *context, const struct timeline_arrow *arrow, struct strbuf *out);
};

/* Draw and free what the timeline owns. Bars are sorted in place. Lanes past TIMELINE_LANES are
 * left out and told. */
void timeline_svg(struct timeline *t, struct strbuf *out);
