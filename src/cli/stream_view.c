/* Figures of a stream, for people and for programs, beside what the plan promised. */
#include "cli/stream_view.h"

#include "base/json.h"
#include "base/plural.h"
#include "base/utf8.h"
#include "report/human.h"

#include <math.h>

/* Latencies are from nanoseconds to hours: each in the unit in which it has few digits. */
static void stream_add_seconds(struct strbuf *out, double seconds)
{
    if (seconds >= 1)
        strbuf_printf(out, "%.4g s", seconds);
    else if (seconds >= 1e-3)
        strbuf_printf(out, "%.4g ms", seconds * 1e3);
    else
        strbuf_printf(out, "%.4g us", seconds * 1e6);
}

/* Beside what was reached, so that nobody has to look up the plan. */
static void stream_add_promise(struct strbuf *out, double promised, double reached, bool seconds)
{
    if (isnan(promised) || promised <= 0)
        return;
    strbuf_add(out, "   promised ");
    if (seconds)
        stream_add_seconds(out, promised);
    else
        strbuf_printf(out, "%.4g", promised);
    strbuf_printf(out, ", %.3f of it", reached / promised);
}

void stream_view_line(const struct weft_stream *s, double recent, struct strbuf *out)
{
    struct weft_stream_figures f;
    weft_stream_figures(s, &f);
    strbuf_printf(out, "%llu item%s, %.4g/s", (unsigned long long)f.done, plural(f.done), recent);
    if (f.promised_throughput > 0)
        strbuf_printf(out, " of %.4g", f.promised_throughput);
    strbuf_printf(out, ", %llu in work, latency ", (unsigned long long)(f.taken - f.done));
    stream_add_seconds(out, f.latency_mean);
    strbuf_add(out, ", 95 % ");
    stream_add_seconds(out, f.latency_95);
    if (f.retried)
        strbuf_printf(out, ", %llu tried again", (unsigned long long)f.retried);
    if (f.given_up)
        strbuf_printf(out, ", %llu given up", (unsigned long long)f.given_up);
}

/* A terminal is no place for thousands of lines; that there are more is said. */
enum { MOST_LISTED = 64 };

static void stream_add_more(struct strbuf *out, size_t all)
{
    if (all > MOST_LISTED)
        strbuf_printf(out, "  and %zu more, with --json\n", all - MOST_LISTED);
}

/* The mean is that of the filter alone: what an item waited is in the latency, not here. */
static void stream_summary_tasks(const struct weft_stream *s, struct strbuf *out)
{
    struct weft_stream_task t;
    size_t all = 0;
    strbuf_add(out, "\n  task                      items       mean\n");
    for (; weft_stream_task(s, all, &t); all++) {
        if (all >= MOST_LISTED)
            continue;
        struct strbuf name = {0};
        utf8_add_visible(&name, t.name);
        strbuf_printf(out, "  %-20s %10llu   ", strbuf_text(&name), (unsigned long long)t.items);
        strbuf_free(&name);
        stream_add_seconds(out, t.items ? t.seconds / (double)t.items : 0);
        strbuf_add_char(out, '\n');
    }
    stream_add_more(out, all);
}

/* Threads without a plan are all alike; nodes of a plan are not. */
static void stream_summary_workers(const struct weft_stream *s, struct strbuf *out)
{
    struct weft_stream_worker w;
    if (!weft_stream_worker(s, 0, &w) || !w.node)
        return;
    strbuf_add(out, "\n  node                 cluster      items   busy\n");
    size_t all = 0;
    for (; weft_stream_worker(s, all, &w); all++) {
        if (all >= MOST_LISTED)
            continue;
        struct strbuf name = {0};
        utf8_add_visible(&name, w.node);
        strbuf_printf(out, "  %-20s %7u %10llu   %3.0f %%\n", strbuf_text(&name), w.cluster,
                      (unsigned long long)w.items, 100 * w.busy);
        strbuf_free(&name);
    }
    stream_add_more(out, all);
}

/* Nodes by name, both ways are one channel; a helper has no node of a plan. */
static void stream_channel_name(const struct weft_stream_channel *c, struct strbuf *out)
{
    if (!c->from) {
        strbuf_printf(out, "helper %u", c->helper);
        return;
    }
    utf8_add_visible(out, c->from);
    strbuf_add(out, " - ");
    utf8_add_visible(out, c->to);
}

/* Between threads nothing takes time: bytes tell what a network would have to carry. */
static void stream_summary_channels(const struct weft_stream *s, struct strbuf *out)
{
    struct weft_stream_channel c;
    size_t at = 0, all = 0;
    for (; weft_stream_channel(s, &at, &c); all++) {
        if (all >= MOST_LISTED)
            continue;
        struct strbuf name = {0};
        char bytes[HUMAN_SIZE];
        if (!all)
            strbuf_add(out, "\n  channel                transfers      bytes   busy\n");
        stream_channel_name(&c, &name);
        strbuf_printf(out, "  %-20s %11llu %10s   %3.0f %%\n", strbuf_text(&name),
                      (unsigned long long)c.transfers, human_bytes(bytes, (double)c.bytes),
                      100 * c.busy);
        strbuf_free(&name);
    }
    stream_add_more(out, all);
}

void stream_view_summary(const struct weft_stream *s, struct strbuf *out)
{
    struct weft_stream_figures f;
    weft_stream_figures(s, &f);
    strbuf_printf(out, "  items        %llu", (unsigned long long)f.done);
    if (f.empty)
        strbuf_printf(out, ", %llu without a result", (unsigned long long)f.empty);
    if (f.given_up)
        strbuf_printf(out, ", %llu given up", (unsigned long long)f.given_up);
    if (f.retried)
        strbuf_printf(out, ", %llu tries beyond the first", (unsigned long long)f.retried);
    strbuf_add(out, "\n  took         ");
    stream_add_seconds(out, f.seconds);
    strbuf_printf(out, "\n  throughput   %.4g items/s", f.throughput);
    stream_add_promise(out, f.promised_throughput, f.throughput, false);
    strbuf_add(out, "\n  latency      ");
    stream_add_seconds(out, f.latency_mean);
    strbuf_add(out, " mean");
    stream_add_promise(out, f.promised_latency, f.latency_mean, true);
    strbuf_add(out, "\n               ");
    stream_add_seconds(out, f.latency_50);
    strbuf_add(out, " half, ");
    stream_add_seconds(out, f.latency_95);
    strbuf_add(out, " 95 %, ");
    stream_add_seconds(out, f.latency_99);
    strbuf_add(out, " 99 %, ");
    stream_add_seconds(out, f.latency_max);
    strbuf_add(out, " the most\n");
    stream_summary_tasks(s, out);
    stream_summary_workers(s, out);
    stream_summary_channels(s, out);
}

/* All of them: who reads JSON asked for all. */
static void stream_json_channels(const struct weft_stream *s, struct json_writer *j)
{
    struct weft_stream_channel c;
    size_t at = 0;
    json_write_key(j, "channels");
    json_write_array(j);
    while (weft_stream_channel(s, &at, &c)) {
        json_write_object_inline(j);
        if (c.from) {
            json_put_text(j, "from", c.from);
            json_put_text(j, "to", c.to);
        } else {
            json_put_integer(j, "helper", c.helper);
        }
        json_put_integer(j, "transfers", (int64_t)c.transfers);
        json_put_integer(j, "bytes", (int64_t)c.bytes);
        json_put_number(j, "busy", c.busy);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void stream_json_lists(const struct weft_stream *s, struct json_writer *j)
{
    struct weft_stream_task t;
    struct weft_stream_worker w;
    struct weft_stream_failure x;
    json_write_key(j, "tasks");
    json_write_array(j);
    for (size_t i = 0; weft_stream_task(s, i, &t); i++) {
        json_write_object_inline(j);
        json_put_string(j, "task", t.name);
        json_put_integer(j, "items", (int64_t)t.items);
        json_put_number(j, "seconds", t.seconds);
        json_put_integer(j, "waiting", (int64_t)t.waiting);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    json_write_key(j, "workers");
    json_write_array(j);
    for (size_t i = 0; weft_stream_worker(s, i, &w); i++) {
        json_write_object_inline(j);
        json_put_text(j, "node", w.node);
        json_put_integer(j, "cluster", w.cluster);
        json_put_integer(j, "replica", w.replica);
        json_put_integer(j, "items", (int64_t)w.items);
        json_put_number(j, "busy", w.busy);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    stream_json_channels(s, j);
    json_write_key(j, "failures");
    json_write_array(j);
    for (size_t i = 0; weft_stream_failure(s, i, &x); i++) {
        json_write_object_inline(j);
        json_put_integer(j, "item", (int64_t)x.item);
        json_put_string(j, "task", x.task);
        json_put_string(j, "reason", x.why);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

void stream_view_json(const struct weft_stream *s, bool whole, struct strbuf *out)
{
    struct weft_stream_figures f;
    struct json_writer j;
    weft_stream_figures(s, &f);
    json_write_start(&j, out, whole);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-stream/1");
    if (weft_stream_recorded(s))
        json_put_integer(&j, "run", weft_stream_recorded(s));
    json_put_integer(&j, "taken", (int64_t)f.taken);
    json_put_integer(&j, "items", (int64_t)f.done);
    json_put_integer(&j, "empty", (int64_t)f.empty);
    json_put_integer(&j, "given_up", (int64_t)f.given_up);
    json_put_integer(&j, "retried", (int64_t)f.retried);
    json_put_number(&j, "seconds", f.seconds);
    json_put_number(&j, "throughput", f.throughput);
    json_put_number(&j, "promised_throughput", f.promised_throughput);
    json_write_key(&j, "latency");
    json_write_object_inline(&j);
    json_put_number(&j, "mean", f.latency_mean);
    json_put_number(&j, "p50", f.latency_50);
    json_put_number(&j, "p95", f.latency_95);
    json_put_number(&j, "p99", f.latency_99);
    json_put_number(&j, "max", f.latency_max);
    json_write_end_object(&j);
    json_put_number(&j, "promised_latency", f.promised_latency);
    stream_json_lists(s, &j);
    json_write_end_object(&j);
    if (!whole)
        strbuf_add_char(out, '\n');
}
