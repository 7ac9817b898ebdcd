/* Line and bar charts as SVG. Points that are not finite break the line; long series are thinned to
 * what the picture can show (least and greatest of each pixel column are kept). */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>

struct chart_series {
    const char *name;         /* for the legend; NULL: none */
    const double *x, *y;      /* `n` points, x ascending for lines; not owned */
    const double *low, *high; /* optional: a band (line) around y */
    size_t n;
    bool points; /* markers at the points as well (a front of few points) */
    bool steps;  /* stay at y until the next x (counters over time) */
};

struct chart {
    const char *title, *x_title, *y_title; /* any may be NULL */
    double width, height;                  /* 0: 800 x 400 */
    bool x_seconds, y_seconds, y_bytes;    /* how ticks are written */
    bool x_log, y_log;                     /* logarithmic axes: only positive values are drawn */
    bool y_from_zero;                      /* the axis includes 0 */
    const struct chart_series *series;
    size_t nseries;
};

void report_line_chart(const struct chart *chart, struct strbuf *out);

/* Groups of bars: group g has one bar per series. `value[g * nseries + s]`; NAN draws no bar. `low`
 * and `high` (may be NULL) are the ends of the whiskers. `reference` draws a dashed line (NAN:
 * none), as for "1.0 = as published". */
struct bar_chart {
    const char *title, *y_title;
    double width, height; /* 0: by the number of bars, 400 */
    const char *const *groups;
    size_t ngroups;
    const char *const *series; /* names for the legend; NULL when nseries is 1 */
    size_t nseries;
    const double *value, *low, *high;
    double reference;
    bool y_log;
};

void report_bar_chart(const struct bar_chart *chart, struct strbuf *out);
