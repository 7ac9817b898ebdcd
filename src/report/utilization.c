/* Cores over time, drawn as steps: one line for what executes, one above it for what executes or
 * waits for its data. Linear in the number of bins. */
#include "report/utilization.h"
#include "base/mem.h"
#include "report/chart.h"

#include <stdlib.h>

void report_utilization_chart(const struct utilization_chart *u, struct strbuf *out)
{
    /* One point more than bins: the line must come down to 0 at the end. */
    size_t n = (size_t)u->nbins + 1;
    double *x = mem_new(double, n), *running = mem_new(double, n), *held = mem_new(double, n);
    for (uint32_t i = 0; i < n; i++) {
        bool last = i == u->nbins;
        x[i] = last ? u->makespan : i * u->bin_width;
        double width = last ? 0 : i + 1 == u->nbins ? u->makespan - x[i] : u->bin_width;
        running[i] = width > 0 ? u->running[i] / width / u->cores : 0;
        held[i] = width > 0 ? (u->running[i] + u->fetching[i]) / width / u->cores : 0;
        held[i] = held[i] < 1 ? held[i] : 1; /* sums of doubles may pass 1 in the last bits */
    }
    struct chart_series series[] = {
        {.name = "executing", .x = x, .y = running, .n = n, .steps = true},
        {.name = "executing or fetching data", .x = x, .y = held, .n = n, .steps = true},
    };
    report_line_chart(&(struct chart){.title = u->title,
                                      .x_title = "time",
                                      .y_title = "share of the cores",
                                      .x_seconds = true,
                                      .y_from_zero = true,
                                      .series = series,
                                      .nseries = u->moves_data ? 2 : 1},
                      out);
    free(x);
    free(running);
    free(held);
}
