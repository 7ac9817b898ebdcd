#include "cli/front.h"
#include "base/json.h"
#include "base/mem.h"
#include "plan/stream/stream.h"
#include "report/chart.h"
#include "report/table.h"
#include "sim/stream.h"

#include <stdlib.h>
#include <string.h>

enum { REPLAYED = 1000, POINTS = 65 };

static bool replay(void *context, const struct workflow *w, const struct platform *p,
                   const struct plan *plan, double *out)
{
    (void)context;
    struct stream_options o;
    struct stream_result r;
    struct error err = {0};
    stream_options_init(&o);
    o.items = REPLAYED;
    bool good = stream_run(w, p, plan, &o, &r, &err);
    if (good)
        *out = r.throughput;
    stream_result_free(&r);
    return good;
}

const struct replayer cli_replayer = {.throughput = replay};

static void draw(const struct stream_front *front, struct strbuf *out)
{
    size_t n = front->plans.n;
    double *x = mem_new(double, n), *y = mem_new(double, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = plan_objective(front->plans.at[i], "throughput");
        y[i] = plan_objective(front->plans.at[i], "latency");
    }
    struct chart_series series = {.x = x, .y = y, .n = n, .points = true, .steps = true};
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

static void as_json(const struct stream_front *front, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-front/1");
    json_write_key(&j, "points");
    json_write_array(&j);
    for (size_t i = 0; i < front->plans.n; i++) {
        const struct plan *plan = front->plans.at[i];
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

static void as_table(const struct stream_front *front, struct strbuf *out)
{
    struct table *t = table_new();
    table_column(t, "throughput", TABLE_RIGHT);
    table_column(t, "period", TABLE_RIGHT);
    table_column(t, "latency", TABLE_RIGHT);
    table_column(t, "processors", TABLE_RIGHT);
    table_column(t, "clusters", TABLE_RIGHT);
    table_column(t, "", TABLE_LEFT);
    for (size_t i = 0; i < front->plans.n; i++) {
        const struct plan *plan = front->plans.at[i];
        double throughput = plan_objective(plan, "throughput");
        table_row(t);
        table_printf(t, "%.6g", throughput);
        table_printf(t, "%.6g", throughput > 0 ? 1 / throughput : 0);
        table_printf(t, "%.6g", plan_objective(plan, "latency"));
        table_printf(t, "%.0f", plan_objective(plan, "processors"));
        table_printf(t, "%zu", plan->clusters.n);
        table_cell(t, plan->pipelined ? "" : "one item at a time");
    }
    struct table_style style = {.colour = cli_colour()};
    table_print(t, out, &style);
    table_free(t);
}

int front_run(const struct arguments *a, const struct planner *planner, uint64_t seed,
              const struct workflow *w, const struct platform *p)
{
    struct error err = {0};
    struct stream_front front = {0};
    size_t count;
    int status;
    if (!(planner->accepts & ACCEPTS_STREAM)) {
        error_set(&err, ERROR_INPUT,
                  "--front needs a planner of streams (mos, stream); '%s' is none", planner->name);
        return cli_fail(&err);
    }
    struct pair *pairs = arguments_pairs(a, "set", &count, &err);
    if (!pairs)
        return cli_fail(&err);
    struct option_value *values = mem_new_zero(struct option_value, count + 1);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct option_value){pairs[i].name, pairs[i].text};
    struct progress progress = cli_progress("front");
    bool quiet = arguments_flag(a, "quiet") || arguments_flag(a, "json");
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .replayer = &cli_replayer,
                                   .options = values,
                                   .noptions = count,
                                   .seed = seed,
                                   .progress = quiet ? NULL : &progress};
    bool good = planner_check_options(planner, values, count, &err) &&
                stream_front(planner, &request, POINTS, &front, &err);
    cli_progress_done();
    const char *picture = arguments_value(a, "gantt");
    if (good && picture) {
        struct strbuf svg = {0};
        draw(&front, &svg);
        good = cli_write_text(picture, &svg, &err);
        strbuf_free(&svg);
    }
    if (good) {
        struct strbuf out = {0};
        if (arguments_flag(a, "json"))
            as_json(&front, &out);
        else
            as_table(&front, &out);
        status = cli_print(&out);
        strbuf_free(&out);
    } else {
        status = cli_fail(&err);
    }
    stream_front_free(&front);
    free(values);
    pairs_free(pairs);
    return status;
}
