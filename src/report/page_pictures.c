/* Pictures over time for a run's page: the timeline of attempts, cores in use, memory, tasks that
 * could run. Linear in events; curves are averages over 240 bins. */
#include "report/chart.h"
#include "report/human.h"
#include "report/page_parts.h"
#include "report/svg.h"
#include "report/timeline.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An attempt of a task that exists, over a span of time. */
static bool picture_drawable(const struct page *p, const struct trace_event *e)
{
    return e->kind == TRACE_TASK && e->id < p->f.ntasks && isfinite(e->start) &&
           isfinite(e->finish) && e->finish >= e->start && e->start >= 0;
}

/* ---- timeline ---- */

struct page_lanes {
    struct page *page;
    ARRAY(uint64_t) keys; /* node << 32 | core, ascending */
    bool nodes;           /* there are several */
    char text[64];
};

/* Nodes first, then cores: one number sorts both. */
static uint64_t lane_key(const struct trace_event *e)
{
    return (uint64_t)e->node << 32 | e->lane;
}

/* Sort, and drop equal neighbours. */
static void keep_distinct(struct page_lanes *l)
{
    size_t n = 0;
    if (l->keys.n)
        qsort(l->keys.at, l->keys.n, sizeof *l->keys.at, compare_u64);
    for (size_t k = 0; k < l->keys.n; k++)
        if (!n || l->keys.at[n - 1] != l->keys.at[k])
            l->keys.at[n++] = l->keys.at[k];
    l->keys.n = n;
}

/* The cores that something ran on: few, whatever the number of events. */
static void find_lanes(struct page_lanes *l)
{
    const struct run_record *r = l->page->r;
    /* keys are made distinct whenever their number has doubled: memory stays near the number of
     * cores */
    size_t limit = 1 << 16;
    for (size_t i = 0; i < r->events.n; i++) {
        if (!picture_drawable(l->page, &r->events.at[i]))
            continue;
        array_push(&l->keys, lane_key(&r->events.at[i]));
        if (l->keys.n >= limit) {
            keep_distinct(l);
            limit = 2 * l->keys.n + (1 << 16);
        }
    }
    keep_distinct(l);
    size_t n = l->keys.n;
    l->nodes = n && l->keys.at[0] >> 32 != l->keys.at[n - 1] >> 32;
}

static uint32_t find_lane(const struct page_lanes *l, uint64_t key)
{
    const uint64_t *at = bsearch(&key, l->keys.at, l->keys.n, sizeof key, compare_u64);
    return (uint32_t)(at - l->keys.at);
}

/* Valid until the next call. */
static const char *lane_name(void *context, uint32_t lane)
{
    struct page_lanes *l = context;
    unsigned node = (unsigned)(l->keys.at[lane] >> 32), core = (unsigned)l->keys.at[lane];
    if (l->nodes)
        snprintf(l->text, sizeof l->text, "node %u core %u", node + 1, core + 1);
    else
        snprintf(l->text, sizeof l->text, "core %u", core + 1);
    return l->text;
}

static void picture_describe(void *context, const struct timeline_bar *bar, bool whole,
                             struct strbuf *out)
{
    struct page *p = ((struct page_lanes *)context)->page;
    const struct trace_event *e = &p->r->events.at[bar->id];
    char buffer[32], a[HUMAN_SIZE], b[HUMAN_SIZE];
    strbuf_add(out, figures_task_name(&p->f, e->id, buffer, sizeof buffer));
    if (!whole)
        return;
    strbuf_printf(out, ": %s, from %s", human_seconds(a, e->finish - e->start),
                  human_seconds(b, e->start));
    uint32_t cores = figures_cores(&p->f, e->id);
    if (cores > 1)
        strbuf_printf(out, ", %u core%s", cores, plural(cores));
    if (e->memory > 0)
        strbuf_printf(out, ", %s of memory", human_bytes(a, e->memory));
    if (e->attempt > 1)
        strbuf_printf(out, ", attempt %u", e->attempt);
    if (e->outcome != TRACE_DONE)
        strbuf_add(out, e->outcome == TRACE_CANCELLED     ? ", cancelled"
                        : e->outcome == TRACE_NODE_FAILED ? ", its machine failed"
                                                          : ", failed");
}

void page_timeline(struct page *p)
{
    const struct run_record *r = p->r;
    if (!p->f.attempts)
        return;
    struct page_lanes l = {.page = p};
    find_lanes(&l);
    struct timeline t = {
        .title = mem_copy_string("Which task ran when, on which core"),
        .subtitle = mem_copy_string(""),
        .kinds = r->workflow ? &p->kinds : NULL,
        .end = isfinite(r->seconds) ? r->seconds : NAN,
        .end_label = "end",
        .width = 1200,
        .bare = true,
        .context = &l,
        .group_name = lane_name,
        .describe = picture_describe,
    };
    for (uint32_t i = 0; i < l.keys.n; i++)
        array_push(&t.lanes, i);
    bool failed = false;
    for (uint32_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (!picture_drawable(p, e))
            continue;
        bool bad = trace_is_failure(e->outcome);
        failed = failed || bad;
        array_push(&t.bars,
                   (struct timeline_bar){.start = e->start,
                                         .finish = e->finish,
                                         .lane = find_lane(&l, lane_key(e)),
                                         .span = 1,
                                         .id = i,
                                         .faint = e->outcome != TRACE_DONE && !bad,
                                         .colour = bad               ? SVG_FAILED
                                                   : p->kinds.colour ? p->kinds.colour[e->id]
                                                                     : 0});
    }
    /* the note says what a bar is, which depends on how many there are */
    bool merged = t.bars.n > TIMELINE_BARS;
    page_section(
        p, "timeline", "Timeline",
        failed   ? "A bar is an attempt of a task, in the colour of its kind. Red: it failed."
        : merged ? "A bar is one task or several that the picture cannot show apart, in "
                   "the colour of the kind that took most time."
                 : "A bar is a task, in the colour of its kind; point at one for details.");
    page_figure(p, "time", "Timeline");
    timeline_svg(&t, p->out);
    page_figure_end(p);
    page_section_end(p);
    array_free(&l.keys);
}

/* ---- load over time ---- */

/* A bin is about two pixels of the pictures' 580. */
enum { BINS = 240 };

/* Add `amount` to every bin of [start, finish), by the share of the bin that it covers. `slope` is
 * a difference array for the bins that are covered whole, so that an attempt costs the same
 * however long it is. */
static void picture_spread(double *bin, double *slope, double width, double start, double finish,
                           double amount)
{
    double from = start / width, to = finish / width;
    uint32_t first = (uint32_t)fmin(fmax(from, 0), BINS - 1);
    uint32_t last = (uint32_t)fmin(fmax(to, 0), BINS - 1);
    if (first == last) {
        bin[first] += amount * (to - from);
        return;
    }
    bin[first] += amount * (first + 1 - from);
    bin[last] += amount * fmin(to - last, 1);
    slope[first + 1] += amount;
    slope[last] -= amount;
}

static void picture_chart(struct page *p, const char *title, const struct chart *c)
{
    svg_printf(p->out, "<div><h3>%s</h3>\n", title);
    page_figure(p, "chart", title);
    report_line_chart(c, p->out);
    page_figure_end(p);
    strbuf_add(p->out, "</div>\n");
}

/* Cores that tasks held, and what they computed with them: the distance is waiting for disk or
 * network. */
static void cores_chart(struct page *p)
{
    double *held = mem_new_zero(double, 2 * (BINS + 2)), *held_slope = held + BINS + 2;
    double *used = mem_new_zero(double, 2 * (BINS + 2)), *used_slope = used + BINS + 2;
    double *x = mem_new(double, BINS + 1), width = p->f.end / BINS;
    for (size_t i = 0; i < p->r->events.n; i++) {
        const struct trace_event *e = &p->r->events.at[i];
        if (!picture_drawable(p, e))
            continue;
        picture_spread(held, held_slope, width, e->start, e->finish, figures_cores(&p->f, e->id));
        if (e->cpu > 0 && e->finish > e->start)
            picture_spread(used, used_slope, width, e->start, e->finish,
                           e->cpu / (e->finish - e->start));
    }
    for (uint32_t i = 0; i < BINS; i++) {
        /* differences to levels, then the parts of bins on top */
        held_slope[i + 1] += held_slope[i];
        used_slope[i + 1] += used_slope[i];
        held[i] += held_slope[i];
        used[i] += used_slope[i];
        x[i] = i * width;
    }
    x[BINS] = p->f.end;
    held[BINS] = held[BINS - 1];
    used[BINS] = used[BINS - 1];
    double ends[] = {0, p->f.end}, all[] = {p->r->cores, p->r->cores};
    struct chart_series series[] = {
        {.name = "held by tasks", .x = x, .y = held, .n = BINS + 1, .steps = true},
        {.name = "computing", .x = x, .y = used, .n = BINS + 1, .steps = true},
        {.name = "there are", .x = ends, .y = all, .n = 2},
    };
    if (!(p->f.cpu > 0))
        /* no processor time was measured: the line of all cores takes its place */
        series[1] = series[2];
    struct chart c = {.x_title = "time",
                      .y_title = "cores",
                      .width = 580,
                      .height = 260,
                      .x_seconds = true,
                      .y_from_zero = true,
                      .series = series,
                      .nseries = (p->f.cpu > 0 ? 3 : 2) - (p->r->cores == 0)};
    picture_chart(p, "Cores in use", &c);
    free(held);
    free(used);
    free(x);
}

struct curve {
    ARRAY(double) x;
    ARRAY(double) y;
};

static void curve_free(struct curve *c)
{
    array_free(&c->x);
    array_free(&c->y);
}

/* The samples of one counter, in order of time, drawn on to the end of the run. Samples that go
 * back in time (a damaged record) are left out. */
static void counter_curve(const struct page *p, enum trace_counter counter, struct curve *c)
{
    double last = -INFINITY;
    for (size_t i = 0; i < p->r->events.n; i++) {
        const struct trace_event *e = &p->r->events.at[i];
        if (e->kind != TRACE_COUNTER || e->id != counter || !isfinite(e->start) ||
            e->start < last || !isfinite(e->amount))
            continue;
        last = e->start;
        array_push(&c->x, e->start);
        array_push(&c->y, e->amount);
    }
    if (c->x.n && p->f.end > last) {
        double now = array_last(&c->y);
        array_push(&c->x, p->f.end);
        array_push(&c->y, now);
    }
}

/* Memory that is taken (or, negative, given back) at a time. */
struct memory_step {
    double time, bytes;
};

/* What ends goes before what begins at the same time: they did not run at once. */
static int compare_steps(const void *a, const void *b)
{
    const struct memory_step *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Without samples: the peaks of what ran at the same time, which is never less than the truth. Each
 * point is the most in its stretch of time: short tasks one after the other do not add up. */
static void peaks_curve(const struct page *p, struct curve *c)
{
    ARRAY(struct memory_step) steps = {0};
    double *most = mem_new_zero(double, BINS + 1), width = p->f.end / BINS, now = 0;
    for (size_t i = 0; i < p->r->events.n; i++) {
        const struct trace_event *e = &p->r->events.at[i];
        if (!picture_drawable(p, e) || !(e->memory > 0))
            continue;
        array_push(&steps, (struct memory_step){e->start, e->memory});
        array_push(&steps, (struct memory_step){e->finish, -e->memory});
    }
    if (steps.n)
        qsort(steps.at, steps.n, sizeof *steps.at, compare_steps);
    uint32_t bin = 0;
    for (size_t i = 0; i < steps.n; i++) {
        uint32_t at = (uint32_t)fmin(fmax(steps.at[i].time / width, 0), BINS - 1);
        while (bin < at)
            most[++bin] = now; /* what began before goes on into it */
        now = fmax(now + steps.at[i].bytes, 0);
        most[bin] = fmax(most[bin], now);
    }
    for (uint32_t i = 0; i < BINS; i++) {
        array_push(&c->x, i * width);
        array_push(&c->y, most[i]);
    }
    array_push(&c->x, p->f.end);
    array_push(&c->y, most[BINS - 1]);
    array_free(&steps);
    free(most);
}

static void memory_chart(struct page *p)
{
    struct curve c = {0};
    counter_curve(p, COUNTER_MEMORY, &c);
    bool sampled = c.x.n > 1;
    if (!sampled && p->f.measured_memory) {
        curve_free(&c);
        peaks_curve(p, &c);
    }
    double most = 0;
    for (size_t i = 0; i < c.y.n; i++)
        most = fmax(most, c.y.at[i]);
    /* A limit far above what was used would flatten the curve. */
    double ends[] = {0, p->f.end}, limit[] = {p->r->memory, p->r->memory};
    bool near = isfinite(p->r->memory) && p->r->memory > 0 && p->r->memory < 5 * most;
    struct chart_series series[] = {
        {.name = sampled ? "in use" : "peaks of what ran, added up",
         .x = c.x.at,
         .y = c.y.at,
         .n = c.x.n,
         .steps = true},
        {.name = "there is", .x = ends, .y = limit, .n = 2},
    };
    struct chart picture = {.x_title = "time",
                            .y_title = "memory",
                            .width = 580,
                            .height = 260,
                            .x_seconds = true,
                            .y_bytes = true,
                            .y_from_zero = true,
                            .series = series,
                            .nseries = near ? 2 : 1};
    if (c.x.n > 1)
        picture_chart(p, "Memory", &picture);
    curve_free(&c);
}

/* Ready tasks beside running ones: a long queue means that more cores would have helped. */
static void queue_chart(struct page *p)
{
    struct curve ready = {0}, running = {0};
    counter_curve(p, COUNTER_READY, &ready);
    counter_curve(p, COUNTER_RUNNING, &running);
    struct chart_series series[] = {
        {.name = "ready, waiting for a core",
         .x = ready.x.at,
         .y = ready.y.at,
         .n = ready.x.n,
         .steps = true},
        {.name = "running", .x = running.x.at, .y = running.y.at, .n = running.x.n, .steps = true},
    };
    struct chart picture = {.x_title = "time",
                            .y_title = "tasks",
                            .width = 580,
                            .height = 260,
                            .x_seconds = true,
                            .y_from_zero = true,
                            .series = series,
                            .nseries = running.x.n > 1 ? 2 : 1};
    if (ready.x.n > 1)
        picture_chart(p, "Tasks that could run", &picture);
    curve_free(&ready);
    curve_free(&running);
}

void page_load(struct page *p)
{
    if (!p->f.attempts || !(p->f.end > 0))
        return;
    page_section(p, "load", "Load", NULL);
    strbuf_add(p->out, "<div class=\"two\">\n");
    cores_chart(p);
    memory_chart(p);
    queue_chart(p);
    strbuf_add(p->out, "</div>\n");
    page_section_end(p);
}
