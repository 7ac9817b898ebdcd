/* What a simulation found, as text and as JSON: one table or one object a kind of simulation. */
#include "report/sim_view.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/mem.h"
#include "base/plural.h"
#include "report/chart.h"
#include "report/human.h"
#include "report/table.h"
#include "sim/replay_series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Points of the utilisation curve in JSON: a plot needs no more, and the object stays readable. */
enum { BINS = 100 };

/* ---- shared ---- */

void sim_view_notes(struct json_writer *j, const struct workflow *w)
{
    if (!w->nwarnings)
        return;
    json_write_key(j, "notes");
    json_write_array(j);
    for (uint32_t i = 0; i < w->nwarnings; i++)
        json_write_string(j, w->warnings[i]);
    json_write_end_array(j);
}

/* What every kind of simulation has: opens the object; the caller closes it. */
static void put_head(struct json_writer *j, const struct sim_subject *s, const char *kind,
                     double makespan)
{
    json_write_object(j);
    json_put_string(j, "schema", "weft-sim/1");
    json_put_string(j, "kind", kind);
    json_put_number(j, "makespan", makespan);
    json_put_integer(j, "tasks", s->workflow->ntasks);
    json_put_integer(j, "seed", (int64_t)s->seed);
    if (s->network)
        json_put_string(j, "network", s->network);
    if (s->plan && s->plan->planner)
        json_put_string(j, "planner", s->plan->planner);
    sim_view_notes(j, s->workflow);
}

/* Only after --repeat: mean, interval and extremes of every metric. */
static void put_repeat(struct json_writer *j, const struct sim_subject *s)
{
    const struct repeat_result *r = s->repeat;
    if (!r)
        return;
    json_write_key(j, "repeat");
    json_write_object(j);
    json_put_integer(j, "count", r->count);
    json_put_number(j, "confidence", s->confidence);
    json_write_key(j, "metrics");
    json_write_object(j);
    for (uint32_t i = 0; i < r->nmetrics; i++) {
        const struct repeat_metric *m = &r->metrics[i];
        json_write_key(j, m->name);
        json_write_object_inline(j);
        json_put_number(j, "mean", m->mean);
        json_put_number(j, "low", m->mean - m->half_width);
        json_put_number(j, "high", m->mean + m->half_width);
        json_put_number(j, "deviation", m->deviation);
        json_put_number(j, "min", m->least);
        json_put_number(j, "median", m->median);
        json_put_number(j, "max", m->most);
        json_write_end_object(j);
    }
    json_write_end_object(j);
    json_write_end_object(j);
}

static void print_repeat(const struct sim_subject *s, struct strbuf *out)
{
    const struct repeat_result *r = s->repeat;
    if (!r)
        return;
    strbuf_printf(out, "\n%u repeats (mean, %g %% confidence interval)\n", r->count,
                  100 * s->confidence);
    struct table *t = table_new();
    table_column(t, "", TABLE_LEFT);
    table_column(t, "mean", TABLE_RIGHT);
    table_column(t, "from", TABLE_RIGHT);
    table_column(t, "to", TABLE_RIGHT);
    table_column(t, "least", TABLE_RIGHT);
    table_column(t, "median", TABLE_RIGHT);
    table_column(t, "most", TABLE_RIGHT);
    for (uint32_t i = 0; i < r->nmetrics; i++) {
        const struct repeat_metric *m = &r->metrics[i];
        table_row(t);
        table_cell(t, m->name);
        table_printf(t, "%.6g", m->mean);
        table_printf(t, "%.6g", m->mean - m->half_width);
        table_printf(t, "%.6g", m->mean + m->half_width);
        table_printf(t, "%.6g", m->least);
        table_printf(t, "%.6g", m->median);
        table_printf(t, "%.6g", m->most);
    }
    struct table_style style = {.colour = s->colour, .indent = 2};
    table_print(t, out, &style);
    table_free(t);
}

/* What the simulation itself cost, not what it simulated. */
static void print_effort(const struct sim_subject *s, uint64_t events, struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    report_line(out, "simulated", "%s event%s in %s", human_count(a, events), plural(events),
                human_seconds(b, s->seconds));
}

/* ---- plans ---- */

/* Where the time of cores and tasks went, and the chain that decided the makespan; the chain's
 * names are cut at a thousand. */
static void replay_put_times(struct json_writer *j, const struct sim_subject *s,
                             const struct replay_result *r)
{
    const struct workflow *w = s->workflow;
    json_write_key(j, "time");
    json_write_object_inline(j);
    json_put_number(j, "compute", r->compute);
    json_put_number(j, "lost", r->lost);
    json_put_number(j, "wait_data", r->wait_data);
    json_put_number(j, "wait_node", r->wait_node);
    json_write_end_object(j);
    json_write_key(j, "critical_chain");
    json_write_object(j);
    json_put_number(j, "compute", r->chain_compute);
    json_put_number(j, "data", r->chain_data);
    json_put_number(j, "fault", r->chain_fault);
    json_put_number(j, "idle", r->chain_idle);
    json_write_key(j, "tasks");
    json_write_array_inline(j);
    for (uint32_t i = 0; i < r->nchain && i < 1000; i++)
        json_write_string(j, workflow_task_name(w, s->plan->placements.at[r->chain[i]].task));
    json_write_end_array(j);
    json_write_end_object(j);
}

static void replay_put_stretch(struct json_writer *j, const struct sim_subject *s,
                               const struct replay_result *r)
{
    const struct workflow *w = s->workflow;
    struct stretch_summary stretch;
    replay_stretch_summary(r, w, s->plan, &stretch);
    json_write_key(j, "stretch");
    json_write_object_inline(j);
    json_put_number(j, "mean", stretch.mean);
    json_put_number(j, "median", stretch.median);
    json_put_number(j, "p95", stretch.p95);
    json_put_number(j, "max", stretch.max);
    if (stretch.worst != NONE)
        json_put_string(j, "worst",
                        workflow_task_name(w, s->plan->placements.at[stretch.worst].task));
    json_write_end_object(j);
}

/* One object a node, idle ones too, in the order of the platform. */
static void replay_put_nodes(struct json_writer *j, const struct sim_subject *s,
                             const struct replay_result *r)
{
    const struct workflow *w = s->workflow;
    const struct platform *p = s->platform;
    json_write_key(j, "nodes");
    json_write_array(j);
    for (uint32_t i = 0; i < p->nnodes; i++) {
        json_write_object_inline(j);
        json_put_string(j, "node", platform_node_name(p, i));
        json_put_number(j, "utilization",
                        r->makespan > 0 ? r->node_busy[i] / (r->makespan * p->cores[i]) : 0);
        json_put_number(j, "memory_peak", r->node_peak[i]);
        json_write_key(j, "memory_exceeded_by");
        uint32_t by = r->node_exceeded_by[i];
        if (by == NONE)
            json_write_null(j);
        else
            json_write_string(j, workflow_task_name(w, s->plan->placements.at[by].task));
        json_put_number(j, "sending", r->node_sending[i]);
        json_put_number(j, "receiving", r->node_receiving[i]);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* Pairs of time and share. */
static void replay_put_utilization(struct json_writer *j, const struct sim_subject *s,
                                   const struct replay_result *r)
{
    struct series u;
    replay_utilization_series(r, s->workflow, s->platform, s->plan, BINS, &u);
    json_write_key(j, "utilization_over_time");
    json_write_array_inline(j);
    for (size_t i = 0; i < u.n; i++) {
        json_write_array_inline(j);
        json_write_number(j, u.at[i].time);
        json_write_number(j, u.at[i].value);
        json_write_end_array(j);
    }
    json_write_end_array(j);
    series_free(&u);
}

static void replay_put_changes(struct json_writer *j, const struct sim_subject *s)
{
    if (!s->nchanged)
        return;
    json_write_key(j, "changes");
    json_write_array(j);
    for (size_t i = 0; i < s->nchanged; i++) {
        const struct sim_changed *x = &s->changed[i];
        json_write_object(j);
        json_put_number(j, "time", x->time);
        json_put_integer(j, "left", x->left);
        json_put_integer(j, "moved", x->moved);
        json_put_number(j, "makespan_as_planned", x->stays); /* infinite: null */
        json_put_number(j, "makespan", x->makespan);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void replay_json(const struct sim_subject *s, const struct replay_result *r,
                        struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    put_head(&j, s, "static", r->makespan);
    json_put_number(&j, "predicted", r->predicted);
    json_put_integer(&j, "events", (int64_t)r->events);
    json_put_number(&j, "seconds", s->seconds);
    json_put_number(&j, "utilization", r->utilization);
    json_put_number(&j, "bytes_moved", r->bytes_moved);
    json_put_integer(&j, "transfers", (int64_t)r->transfers);
    replay_put_times(&j, s, r);
    replay_put_stretch(&j, s, r);
    json_put_integer(&j, "failures", (int64_t)r->failures);
    json_put_integer(&j, "tasks_lost", (int64_t)r->tasks_lost);
    replay_put_changes(&j, s);
    replay_put_nodes(&j, s, r);
    replay_put_utilization(&j, s, r);
    put_repeat(&j, s);
    json_write_end_object(&j);
}

static void print_changes(const struct sim_subject *s, struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];
    for (size_t i = 0; i < s->nchanged; i++) {
        const struct sim_changed *x = &s->changed[i];
        if (!isfinite(x->stays))
            report_line(out, "change",
                        "at %s: %u task%s left, %u moved: %s; as planned they do not fit any more",
                        human_seconds(a, x->time), x->left, plural(x->left), x->moved,
                        human_seconds(b, x->makespan));
        else if (!x->moved)
            report_line(out, "change", "at %s: %u task%s left, none moved: %s",
                        human_seconds(a, x->time), x->left, plural(x->left),
                        human_seconds(b, x->makespan));
        else
            report_line(out, "change", "at %s: %u task%s left, %u moved: %s instead of %s",
                        human_seconds(a, x->time), x->left, plural(x->left), x->moved,
                        human_seconds(b, x->makespan), human_seconds(c, x->stays));
    }
}

/* Nodes that did something, at most 24: a cluster of thousands does not fit a screen. */
static void print_nodes(const struct sim_subject *s, const struct replay_result *r,
                        struct strbuf *out)
{
    enum { SHOWN = 24 };
    const struct platform *p = s->platform;
    struct table *t = table_new();
    table_column(t, "node", TABLE_LEFT);
    table_column(t, "busy", TABLE_RIGHT);
    table_column(t, "sending", TABLE_RIGHT);
    table_column(t, "receiving", TABLE_RIGHT);
    table_column(t, "memory peak", TABLE_RIGHT);
    table_column(t, "exceeded by", TABLE_LEFT);
    /* nodes that did nothing are not worth a row */
    uint32_t used = 0;
    for (uint32_t i = 0; i < p->nnodes; i++) {
        if (!(r->node_busy[i] > 0) || used++ >= SHOWN)
            continue;
        char a[HUMAN_SIZE];
        table_row(t);
        table_cell(t, platform_node_name(p, i));
        table_cell(t, human_percent(a, r->node_busy[i] / (r->makespan * p->cores[i])));
        table_seconds(t, r->node_sending[i]);
        table_seconds(t, r->node_receiving[i]);
        table_bytes(t, r->node_peak[i]);
        uint32_t by = r->node_exceeded_by[i];
        if (by != NONE)
            table_printf(t, "%s (node has %s)",
                         workflow_task_name(s->workflow, s->plan->placements.at[by].task),
                         human_bytes(a, r->node_limit[i]));
    }
    struct table_style style = {.colour = s->colour, .indent = 2, .max_cell = 60};
    strbuf_add_char(out, '\n');
    table_print(t, out, &style);
    if (used > SHOWN)
        strbuf_printf(out, "  and %u more node%s\n", used - SHOWN, plural(used - SHOWN));
    table_free(t);
}

/* Promise and result first, then where the time went. */
static void replay_text(const struct sim_subject *s, const struct replay_result *r,
                        struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE];
    struct stretch_summary stretch;
    replay_stretch_summary(r, s->workflow, s->plan, &stretch);
    report_line(out, "makespan", "%.10g s simulated, %.10g s predicted (%+.1f %%)", r->makespan,
                r->predicted, r->predicted > 0 ? 100 * (r->makespan / r->predicted - 1) : 0.0);
    report_line(out, "network", "%s: %s in %s transfer%s", s->network,
                human_bytes(a, r->bytes_moved), human_count(b, r->transfers), plural(r->transfers));
    report_line(out, "utilisation", "%s of the cores of the nodes in use",
                human_percent(a, r->utilization));
    report_line(out, "computing", "%s core-seconds, %s lost to failures",
                human_number(a, r->compute), human_number(b, r->lost));
    report_line(out, "waiting", "%s task-seconds for data, %s for a core or node",
                human_number(a, r->wait_data), human_number(b, r->wait_node));
    report_line(out, "critical chain", "%u task%s: %s computing, %s waiting for data, %s failures",
                r->nchain, plural(r->nchain), human_seconds(a, r->chain_compute),
                human_seconds(b, r->chain_data), human_seconds(c, r->chain_fault));
    struct strbuf worst = {0}; /* a name from a file must not move the cursor */
    if (stretch.worst != NONE)
        utf8_add_visible(
            &worst, workflow_task_name(s->workflow, s->plan->placements.at[stretch.worst].task));
    report_line(
        out, "stretch", "mean %s, median %s, 95 %% %s, worst %s%s%s", human_number(a, stretch.mean),
        human_number(b, stretch.median), human_number(c, stretch.p95), human_number(d, stretch.max),
        stretch.worst == NONE ? "" : ", task ", stretch.worst == NONE ? "" : strbuf_text(&worst));
    strbuf_free(&worst);
    if (r->failures)
        report_line(out, "failures", "%s of nodes, %s run%s of tasks lost",
                    human_count(a, r->failures), human_count(b, r->tasks_lost),
                    plural(r->tasks_lost));
    print_changes(s, out);
    print_effort(s, r->events, out);
    print_nodes(s, r, out);
    print_repeat(s, out);
}

void sim_view_replay(const struct sim_subject *s, const struct replay_result *r, bool json,
                     struct strbuf *out)
{
    if (json)
        replay_json(s, r, out);
    else
        replay_text(s, r, out);
}

/* 400 points: two pixels each. */
void sim_view_utilization(const struct sim_subject *s, const struct replay_result *r,
                          struct strbuf *out)
{
    struct series u;
    replay_utilization_series(r, s->workflow, s->platform, s->plan, 400, &u);
    double *x = mem_new(double, u.n), *y = mem_new(double, u.n);
    for (size_t i = 0; i < u.n; i++) {
        x[i] = u.at[i].time;
        y[i] = u.at[i].value;
    }
    struct chart_series line_of = {.x = x, .y = y, .n = u.n, .steps = true};
    struct chart chart = {.title = "utilisation of the cores in use",
                          .x_title = "time",
                          .x_seconds = true,
                          .y_from_zero = true,
                          .series = &line_of,
                          .nseries = 1};
    report_line_chart(&chart, out);
    free(x);
    free(y);
    series_free(&u);
}

/* ---- streams ---- */

/* All processors and channels, however many: JSON is for programs. */
static void stream_json(const struct sim_subject *s, const struct stream_result *r,
                        struct strbuf *out)
{
    const struct platform *p = s->platform;
    struct json_writer j;
    json_write_start(&j, out, true);
    put_head(&j, s, "stream", r->makespan);
    json_put_integer(&j, "items", r->items);
    json_put_string(&j, "fed", stream_feed_names[r->fed]);
    json_put_bool(&j, "scheduled", r->scheduled);
    if (r->fed == FEED_PERIOD)
        json_put_number(&j, "period", r->period);
    if (r->window)
        json_put_integer(&j, "window", r->window);
    json_put_number(&j, "throughput", r->throughput);
    json_put_number(&j, "throughput_overall", r->overall);
    json_put_number(&j, "predicted_throughput", r->predicted_throughput);
    json_put_number(&j, "predicted_latency", r->predicted_latency);
    json_write_key(&j, "latency");
    json_write_object_inline(&j);
    json_put_number(&j, "first", r->latency_first);
    json_put_number(&j, "mean", r->latency_mean);
    json_put_number(&j, "p50", r->latency_p50);
    json_put_number(&j, "p95", r->latency_p95);
    json_put_number(&j, "p99", r->latency_p99);
    json_put_number(&j, "max", r->latency_max);
    json_write_end_object(&j);
    json_put_integer(&j, "events", (int64_t)r->events);
    json_put_number(&j, "seconds", s->seconds);
    json_put_number(&j, "utilization", r->utilization);
    json_put_number(&j, "bytes_moved", r->bytes_moved);
    json_put_integer(&j, "transfers", (int64_t)r->transfers);
    json_write_key(&j, "processors");
    json_write_array(&j);
    for (uint32_t i = 0; i < r->nprocessors; i++) {
        const struct stream_processor *x = &r->processors[i];
        json_write_object_inline(&j);
        json_put_string(&j, "node", platform_node_name(p, x->node));
        json_put_integer(&j, "cluster", x->cluster);
        json_put_number(&j, "occupancy", x->occupancy);
        json_put_number(&j, "communication", x->communication);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_key(&j, "channels");
    json_write_array(&j);
    for (uint32_t i = 0; i < r->nchannels; i++) {
        const struct stream_channel *x = &r->channels[i];
        json_write_object_inline(&j);
        json_put_string(&j, "from", platform_node_name(p, x->from));
        json_put_string(&j, "to", platform_node_name(p, x->to));
        json_put_integer(&j, "messages", (int64_t)x->messages);
        json_put_number(&j, "bytes", x->bytes);
        json_put_number(&j, "occupancy", x->occupancy);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    put_repeat(&j, s);
    json_write_end_object(&j);
}

/* Two tables, each cut at 32 rows; a note says where the rest is. */
static void print_processors(const struct sim_subject *s, const struct stream_result *r,
                             struct strbuf *out)
{
    enum { SHOWN = 32 };
    struct table_style style = {.colour = s->colour, .indent = 2};
    char a[HUMAN_SIZE];
    struct table *t = table_new();
    table_column(t, "processor", TABLE_LEFT);
    table_column(t, "cluster", TABLE_RIGHT);
    table_column(t, "computing", TABLE_RIGHT);
    table_column(t, "ports", TABLE_RIGHT);
    for (uint32_t i = 0; i < r->nprocessors && i < SHOWN; i++) {
        table_row(t);
        table_cell(t, platform_node_name(s->platform, r->processors[i].node));
        table_printf(t, "%u", r->processors[i].cluster);
        table_cell(t, human_percent(a, r->processors[i].occupancy));
        table_cell(t, human_percent(a, r->processors[i].communication));
    }
    strbuf_add_char(out, '\n');
    table_print(t, out, &style);
    table_free(t);
    if (!r->nchannels)
        return;
    t = table_new();
    table_column(t, "channel", TABLE_LEFT);
    table_column(t, "messages", TABLE_RIGHT);
    table_column(t, "data", TABLE_RIGHT);
    table_column(t, "occupied", TABLE_RIGHT);
    for (uint32_t i = 0; i < r->nchannels && i < SHOWN; i++) {
        const struct stream_channel *x = &r->channels[i];
        table_row(t);
        table_printf(t, "%s > %s", platform_node_name(s->platform, x->from),
                     platform_node_name(s->platform, x->to));
        table_printf(t, "%llu", (unsigned long long)x->messages);
        table_bytes(t, x->bytes);
        table_cell(t, human_percent(a, x->occupancy));
    }
    strbuf_add_char(out, '\n');
    table_print(t, out, &style);
    table_free(t);
    if (r->nprocessors > SHOWN || r->nchannels > SHOWN)
        strbuf_printf(out, "  only the first %d are shown; --json lists all\n", SHOWN);
}

/* How the items came. */
static void print_feed(const struct stream_result *r, struct strbuf *out)
{
    const char *schedule = r->scheduled ? ", by the plan's schedule" : "";
    char window[48] = "";
    if (r->window && r->fed != FEED_WINDOW)
        snprintf(window, sizeof window, ", at most %u in work at once", r->window);
    if (r->fed == FEED_PERIOD)
        report_line(out, "fed", "period: an item every %.6g s%s%s", r->period, schedule, window);
    else if (r->fed == FEED_WINDOW)
        report_line(out, "fed", "window: at most %u item%s in work at once%s", r->window,
                    plural(r->window), schedule);
    else
        report_line(out, "fed", "flood: all items are there at the start%s%s", schedule, window);
}

/* What the plan promised stands below what was reached. */
void sim_view_stream(const struct sim_subject *s, const struct stream_result *r, bool json,
                     struct strbuf *out)
{
    if (json) {
        stream_json(s, r, out);
        return;
    }
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE];
    print_feed(r, out);
    report_line(out, "throughput", "%.6g items a second in steady state, %.6g overall%s",
                r->throughput, r->overall, "");
    if (!isnan(r->predicted_throughput))
        report_line(out, "", "%.6g promised by the plan", r->predicted_throughput);
    report_line(out, "latency", "mean %s, 50 %% %s, 95 %% %s, 99 %% %s",
                human_seconds(a, r->latency_mean), human_seconds(b, r->latency_p50),
                human_seconds(c, r->latency_p95), human_seconds(d, r->latency_p99));
    report_line(out, "", "largest %s, first item %.6g s", human_seconds(a, r->latency_max),
                r->latency_first);
    if (!isnan(r->predicted_latency))
        report_line(out, "", "%.6g s promised by the plan", r->predicted_latency);
    report_line(out, "makespan", "%.10g s for %u item%s", r->makespan, r->items, plural(r->items));
    report_line(out, "network", "%s: %s in %s transfer%s", s->network,
                human_bytes(a, r->bytes_moved), human_count(b, r->transfers), plural(r->transfers));
    report_line(out, "utilisation", "%s of %u processor%s", human_percent(a, r->utilization),
                r->nprocessors, plural(r->nprocessors));
    print_effort(s, r->events, out);
    print_processors(s, r, out);
    print_repeat(s, out);
}

/* ---- orders ---- */

/* Few enough numbers for one function to print both forms. */
void sim_view_order(const struct sim_subject *s, const struct order_options *o,
                    const struct order_result *r, bool json, struct strbuf *out)
{
    if (json) {
        struct json_writer j;
        json_write_start(&j, out, true);
        put_head(&j, s, "order", r->makespan);
        json_put_string(&j, "order", o->order ? "plan" : "fifo");
        json_put_number(&j, "interarrival", o->interarrival);
        json_put_number(&j, "batch", o->batch);
        json_put_integer(&j, "events", (int64_t)r->events);
        json_put_number(&j, "seconds", s->seconds);
        json_put_number(&j, "utilization", r->utilization);
        json_put_number(&j, "bytes_moved", 0);
        json_put_integer(&j, "batches", (int64_t)r->batches);
        json_put_integer(&j, "requests", (int64_t)r->requests);
        json_put_number(&j, "stall_probability", r->stall_probability);
        json_put_number(&j, "unfilled", r->unfilled);
        json_put_integer(&j, "vanished", (int64_t)r->vanished);
        json_put_number(&j, "eligible_mean", r->eligible_mean);
        put_repeat(&j, s);
        json_write_end_object(&j);
        return;
    }
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    report_line(out, "completion", "%.10g s, tasks given %s", r->makespan,
                o->order ? "in the order of the plan" : "first in, first out");
    report_line(out, "clients", "%s requests in %s batches", human_count(a, r->requests),
                human_count(b, r->batches));
    report_line(out, "stalled", "%s of the batches found no eligible task",
                human_percent(a, r->stall_probability));
    report_line(out, "unfilled", "%s of the requests", human_percent(a, r->unfilled));
    report_line(out, "utilisation", "%s of the requests got a task",
                human_percent(a, r->utilization));
    report_line(out, "eligible", "%s tasks on average", human_number(a, r->eligible_mean));
    if (r->vanished)
        report_line(out, "vanished", "%s clients", human_count(a, r->vanished));
    print_effort(s, r->events, out);
    print_repeat(s, out);
}
