/* How busy the cores of a cluster were over time, as a chart (SVG). */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

/* Core seconds in bins of equal width; bin i begins at i * bin_width, the last ends at the
 * makespan. */
struct utilization_chart {
    const char *title;
    double cores; /* all of them: what a share of 1 means */
    double makespan, bin_width;
    uint32_t nbins;
    const double *running;  /* core seconds a bin that executed tasks */
    const double *fetching; /* core seconds a bin held by tasks that waited for data */
    bool moves_data;        /* false: the second line would be the first, and is left out */
};

void report_utilization_chart(const struct utilization_chart *u, struct strbuf *out);
