/* The trade-offs of latency, throughput and processors that a stream can have: plans none of which is beaten in all, as table and
 * JSON. The chart shows those that are not beaten in latency and throughput. */
#include "report/front_view.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/chart.h"
#include "report/table.h"

#include <stdlib.h>

/* Has another at least the throughput at no more latency? Of plans that are alike the first is drawn. */
static bool front_hides(const struct plan *const *plans, size_t n, size_t i)
{
    double rate = plan_objective(plans[i], "throughput"),
           latency = plan_objective(plans[i], "latency");
    for (size_t k = 0; k < n; k++) {
        double r = plan_objective(plans[k], "throughput"), l = plan_objective(plans[k], "latency");
        if (k != i && r >= rate && l <= latency && (r > rate || l < latency || k < i))
            return true;
    }
    return false;
}

void front_view_draw(const struct plan *const *plans, size_t n, struct strbuf *out)
{
    double *x = mem_new(double, n), *y = mem_new(double, n);
    size_t drawn = 0;
    for (size_t i = 0; i < n; i++) {
        if (front_hides(plans, n, i))
            continue;
        double rate = plan_objective(plans[i], "throughput");
        size_t at = drawn++;
        for (; at && x[at - 1] > rate; at--) {
            x[at] = x[at - 1];
            y[at] = y[at - 1];
        }
        x[at] = rate;
        y[at] = plan_objective(plans[i], "latency");
    }
    struct chart_series series = {.x = x, .y = y, .n = drawn, .points = true, .steps = true};
    struct chart chart = {.title = "latency and throughput",
                          .x_title = "items a second",
                          .y_title = "latency",
                          .y_seconds = true,
                          .y_from_zero = true,
                          .series = &series,
                          .nseries = 1};
    report_line_chart(&chart, out);
    free(x);
    free(y);
}

void front_view_json(const struct plan *const *plans, size_t n, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-front/1");
    json_write_key(&j, "points");
    json_write_array(&j);
    for (size_t i = 0; i < n; i++) {
        const struct plan *plan = plans[i];
        json_write_object_inline(&j);
        json_put_number(&j, "throughput", plan_objective(plan, "throughput"));
        json_put_number(&j, "latency", plan_objective(plan, "latency"));
        json_put_number(&j, "processors", plan_objective(plan, "processors"));
        json_put_bool(&j, "pipelined", plan->pipelined);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

void front_view(const struct plan *const *plans, size_t n, bool colour, struct strbuf *out)
{
    struct table *t = table_new();
    table_column(t, "throughput", TABLE_RIGHT);
    table_column(t, "period", TABLE_RIGHT);
    table_column(t, "latency", TABLE_RIGHT);
    table_column(t, "processors", TABLE_RIGHT);
    table_column(t, "clusters", TABLE_RIGHT);
    table_column(t, "", TABLE_LEFT);
    for (size_t i = 0; i < n; i++) {
        const struct plan *plan = plans[i];
        double throughput = plan_objective(plan, "throughput");
        table_row(t);
        table_printf(t, "%.6g", throughput);
        table_printf(t, "%.6g", throughput > 0 ? 1 / throughput : 0);
        table_printf(t, "%.6g", plan_objective(plan, "latency"));
        table_printf(t, "%.0f", plan_objective(plan, "processors"));
        table_printf(t, "%zu", plan->clusters.n);
        table_cell(t, plan->pipelined ? "" : "one item at a time");
    }
    struct table_style style = {.colour = colour};
    table_print(t, out, &style);
    table_free(t);
}
