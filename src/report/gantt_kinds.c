/* Pictures of the plans that are no Gantt charts by nature: partitions (one bar a part), streams
 * (load of a node for each item) and orders (eligible tasks over time). */
#include "report/gantt_kinds.h"
#include "report/chart.h"
#include "report/human.h"
#include "report/svg.h"
#include "report/timeline.h"
#include "base/mem.h"
#include "base/plural.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tasks of a part or cluster: entries of plan->tasks that are there. */
static uint32_t known_entries(const struct plan *plan, uint32_t first, uint32_t count)
{
    if (first > plan->tasks.n)
        return 0;
    uint32_t left = (uint32_t)(plan->tasks.n - first);
    return count < left ? count : left;
}

/* Numbers in a plan may point anywhere: tasks that do not exist count nothing. */
static double work_of(const struct plan *plan, const struct workflow *w, uint32_t first,
                      uint32_t count)
{
    double work = 0;
    count = known_entries(plan, first, count);
    for (uint32_t i = 0; i < count; i++)
        if (plan->tasks.at[first + i] < w->ntasks)
            work += w->work[plan->tasks.at[first + i]];
    return work;
}

static double speed_of(const struct platform *p, uint32_t node)
{
    return node < p->nnodes && p->speed[node] > 0 ? p->speed[node] : 1;
}

/* ---- partitions ---- */

/* An object that leaves one part for another. */
struct part_edge {
    uint32_t from, to;
    double size;
};

typedef ARRAY(struct part_edge) part_edges;

static double part_transfer_time(const struct platform *p, uint32_t a, uint32_t b, double size)
{
    double time = a < p->nnodes && b < p->nnodes ? platform_transfer(p, a, b, size) : 0;
    return isfinite(time) ? time : 0;
}

/* Edges between different parts, the bytes of input files that each part reads, and those that go to its disk and
 * back. */
static void edges_between(const struct plan *plan, const struct workflow *w, part_edges *edges,
                          double *input, double *disk)
{
    uint32_t *part = mem_new(uint32_t, w->ntasks + 1);
    memset(part, 0xff, (w->ntasks + 1) * sizeof *part);
    for (uint32_t i = 0; i < plan->parts.n; i++) {
        const struct part *pt = &plan->parts.at[i];
        uint32_t count = known_entries(plan, pt->tasks, pt->count);
        for (uint32_t k = 0; k < count; k++)
            if (plan->tasks.at[pt->tasks + k] < w->ntasks)
                part[plan->tasks.at[pt->tasks + k]] = i;
    }
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (part[t] == NONE)
            continue;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t from = part[w->pred_task[e]], object = w->pred_object[e];
            if (from != part[t] && from != NONE)
                array_push(edges,
                           (struct part_edge){from, part[t], object == NONE ? 0 : w->size[object]});
        }
        for (uint32_t e = w->input_off ? w->input_off[t] : 0;
             w->input_off && e < w->input_off[t + 1]; e++)
            input[part[t]] += w->size[w->input_object[e]];
    }
    for (size_t i = 0; i < plan->evictions.n; i++) {
        const struct plan_eviction *x = &plan->evictions.at[i];
        if (x->to < w->ntasks && part[x->to] != NONE)
            disk[part[x->to]] += 2 * plan_eviction_bytes(w, x);
    }
    free(part);
}

/* When each part starts to receive, has its inputs and ends, under the makespan model of the
 * partition planners: whole parts one after the other, in topological order (Kahn). arrived - start
 * is the transfer of the input that comes last. */
void gantt_part_times(const struct plan *plan, const struct workflow *w, const struct platform *p,
                      double *start, double *arrived, double *finish)
{
    uint32_t n = (uint32_t)plan->parts.n;
    part_edges edges = {0};
    double *input = mem_new_zero(double, n + 1), *disk = mem_new_zero(double, n + 1);
    edges_between(plan, w, &edges, input, disk);
    uint32_t *waits = mem_new_zero(uint32_t, n + 1), *off = mem_new_zero(uint32_t, n + 2);
    uint32_t *out = mem_new(uint32_t, edges.n + 1), *queue = mem_new(uint32_t, n + 1), tail = 0;
    for (size_t e = 0; e < edges.n; e++) {
        waits[edges.at[e].to]++;
        off[edges.at[e].from + 2]++;
    }
    for (uint32_t i = 2; i <= n; i++)
        off[i] += off[i - 1];
    for (size_t e = 0; e < edges.n; e++)
        out[off[edges.at[e].from + 1]++] = (uint32_t)e;
    for (uint32_t i = 0; i < n; i++) {
        start[i] = arrived[i] = finish[i] = 0;
        if (!waits[i]) {
            arrived[i] = p->bandwidth > 0 ? input[i] / p->bandwidth : 0;
            queue[tail++] = i;
        }
    }
    /* Parts in a circle (no valid partition) are never reached and stay at 0. */
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t i = queue[head];
        const struct part *pt = &plan->parts.at[i];
        finish[i] = arrived[i] + work_of(plan, w, pt->tasks, pt->count) / speed_of(p, pt->node);
        if (disk[i] > 0 && pt->node < p->nnodes && p->disk[pt->node] > 0)
            finish[i] += disk[i] / p->disk[pt->node];
        for (uint32_t k = off[i]; k < off[i + 1]; k++) {
            const struct part_edge *e = &edges.at[out[k]];
            double at =
                finish[i] + part_transfer_time(p, pt->node, plan->parts.at[e->to].node, e->size);
            if (at >= arrived[e->to]) {
                arrived[e->to] = at;
                start[e->to] = finish[i];
            }
            if (--waits[e->to] == 0)
                queue[tail++] = e->to;
        }
    }
    free(input);
    free(disk);
    free(waits);
    free(off);
    free(out);
    free(queue);
    array_free(&edges);
}

struct node_plan {
    const struct plan *plan;
    const struct workflow *w;
    const struct platform *p;
};

/* A part on a node that does not exist is shown, with a question mark. */
static const char *lane_node(void *context, uint32_t node)
{
    const struct node_plan *c = context;
    return node < c->p->nnodes ? platform_node_name(c->p, node) : "?";
}

/* Nodes that something is on, ascending; lane_of[node] for each. The caller frees. */
/* Lanes only for nodes in use: platforms are larger than plans. */
static uint32_t *used_nodes(const struct platform *p, const uint8_t *used, struct timeline *t)
{
    uint32_t *lane = mem_new_zero(uint32_t, p->nnodes + 1);
    for (uint32_t n = 0; n < p->nnodes; n++)
        if (used[n]) {
            lane[n] = (uint32_t)t->lanes.n;
            array_push(&t->lanes, n);
        }
    return lane;
}

static void describe_part(void *context, const struct timeline_bar *bar, bool whole,
                          struct strbuf *out)
{
    const struct node_plan *c = context;
    const struct part *pt = &c->plan->parts.at[bar->id];
    const char *root = pt->root < c->w->ntasks ? workflow_task_name(c->w, pt->root) : "?";
    if (!whole) {
        strbuf_printf(out, "%s (%u)", root, pt->count);
        return;
    }
    char text[HUMAN_SIZE];
    if (bar->faint) {
        strbuf_printf(out, "input of part %s: %s", root,
                      human_seconds(text, bar->finish - bar->start));
        return;
    }
    strbuf_printf(out, "part of %u task%s with root %s on %s: ", pt->count, plural(pt->count), root,
                  lane_node(context, pt->node));
    strbuf_printf(out, "%s to ", human_number(text, bar->start));
    strbuf_printf(out, "%s", human_number(text, bar->finish));
    if (isfinite(pt->memory))
        strbuf_printf(out, ", memory %s", human_bytes(text, pt->memory));
}

void gantt_partition_svg(const struct plan *plan, const struct workflow *w,
                         const struct platform *p, struct strbuf *out,
                         const struct gantt_options *options)
{
    struct node_plan c = {plan, w, p};
    uint32_t n = (uint32_t)plan->parts.n;
    double *start = mem_new(double, n + 1), *arrived = mem_new(double, n + 1),
           *finish = mem_new(double, n + 1);
    gantt_part_times(plan, w, p, start, arrived, finish);
    uint8_t *used = mem_new_zero(uint8_t, p->nnodes + 1);
    /* the model's makespan, which for a valid plan is the one that it claims */
    double makespan = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (plan->parts.at[i].node < p->nnodes)
            used[plan->parts.at[i].node] = 1;
        makespan = fmax(makespan, finish[i]);
    }
    struct timeline t = {
        .context = &c,
        .group_name = lane_node,
        .describe = describe_part,
        .end = makespan,
        .end_label = "makespan",
        .width = options ? options->width : 0,
    };
    uint32_t *lane = used_nodes(p, used, &t);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = plan->parts.at[i].node;
        if (node >= p->nnodes)
            continue;
        /* the input's own bar, pale and before the part */
        if (arrived[i] > start[i])
            array_push(&t.bars, (struct timeline_bar){start[i], arrived[i], lane[node], 1, i,
                                                      SVG_COLOURS, true, true, 0});
        array_push(&t.bars, (struct timeline_bar){arrived[i], finish[i], lane[node], 1, i,
                                                  (uint8_t)(i % SVG_COLOURS), false, false, 0});
    }
    struct strbuf text = {0};
    char number[HUMAN_SIZE];
    strbuf_printf(&text, "makespan %s, ", human_seconds(number, makespan));
    strbuf_printf(&text, "%s task%s in ", human_count(number, w->ntasks), plural(w->ntasks));
    strbuf_printf(&text, "%u part%s on %zu of %u node%s", n, plural(n), (size_t)t.lanes.n,
                  p->nnodes, plural(p->nnodes));
    t.title = gantt_title(plan, w, p, options);
    t.subtitle = strbuf_steal(&text);
    t.note = mem_copy_string("A part starts when the whole part before it has ended and its input "
                             "(pale) has arrived; labels are root (tasks).");
    timeline_svg(&t, out);
    free(lane);
    free(used);
    free(start);
    free(arrived);
    free(finish);
}

/* ---- streams ---- */

/* Up to 30 names: a tooltip is no list. */
static void describe_cluster(void *context, const struct timeline_bar *bar, bool whole,
                             struct strbuf *out)
{
    const struct node_plan *c = context;
    const struct cluster *cl = &c->plan->clusters.at[bar->id];
    uint32_t count = known_entries(c->plan, cl->tasks, cl->ntasks);
    if (whole)
        strbuf_printf(out, "cluster %u on %u node%s, %u task%s, %u duplicate%s: ", bar->id,
                      cl->nnodes, plural(cl->nnodes), cl->ntasks, plural(cl->ntasks),
                      cl->nduplicates, plural(cl->nduplicates));
    for (uint32_t i = 0; i < count && i < 30; i++) {
        uint32_t task = c->plan->tasks.at[cl->tasks + i];
        strbuf_printf(out, "%s%s", i ? " " : "",
                      task < c->w->ntasks ? workflow_task_name(c->w, task) : "?");
    }
    if (count > 30)
        strbuf_add(out, " ...");
    char text[HUMAN_SIZE];
    if (whole)
        strbuf_printf(out, "; busy %s for each item of the stream",
                      human_seconds(text, bar->finish - bar->start));
}

/* A bar is the time that a node works for each item of the stream: its clusters' work, shared among
 * the nodes of the cluster. The dashed line is the time between items: no bar may pass it. */
void gantt_stream_svg(const struct plan *plan, const struct workflow *w, const struct platform *p,
                      struct strbuf *out, const struct gantt_options *options)
{
    struct node_plan c = {plan, w, p};
    double throughput = plan_objective(plan, "throughput"),
           latency = plan_objective(plan, "latency");
    struct timeline t = {
        .context = &c,
        .group_name = lane_node,
        .describe = describe_cluster,
        .end = throughput > 0 ? 1 / throughput : NAN,
        .end_label = "an item every",
        .width = options ? options->width : 0,
    };
    uint8_t *used = mem_new_zero(uint8_t, p->nnodes + 1);
    double *busy = mem_new_zero(double, p->nnodes + 1);
    for (size_t i = 0; i < plan->nodes.n; i++)
        if (plan->nodes.at[i] < p->nnodes)
            used[plan->nodes.at[i]] = 1;
    uint32_t *lane = used_nodes(p, used, &t);
    for (uint32_t i = 0; i < plan->clusters.n; i++) {
        const struct cluster *cl = &plan->clusters.at[i];
        /* duplicates are computed too, in every cluster that has them */
        double work = work_of(plan, w, cl->tasks, cl->ntasks) +
                      work_of(plan, w, cl->duplicates, cl->nduplicates);
        for (uint32_t k = 0; k < cl->nnodes && cl->nodes + k < plan->nodes.n; k++) {
            uint32_t node = plan->nodes.at[cl->nodes + k];
            if (node >= p->nnodes)
                continue;
            double time = work / speed_of(p, node) / cl->nnodes;
            array_push(&t.bars,
                       (struct timeline_bar){busy[node], busy[node] + time, lane[node], 1, i,
                                             (uint8_t)(i % SVG_COLOURS), false, false, 0});
            busy[node] += time;
        }
    }
    struct strbuf text = {0};
    char number[HUMAN_SIZE];
    strbuf_printf(&text, "%zu cluster%s of %s task%s on %zu of %u node%s", plan->clusters.n,
                  plural(plan->clusters.n), human_count(number, w->ntasks), plural(w->ntasks),
                  t.lanes.n, p->nnodes, plural(p->nnodes));
    if (throughput > 0)
        strbuf_printf(&text, ", %s items a second", human_number(number, throughput));
    if (latency > 0)
        strbuf_printf(&text, ", latency %s", human_seconds(number, latency));
    t.title = gantt_title(plan, w, p, options);
    t.subtitle = strbuf_steal(&text);
    t.note =
        mem_copy_string("Bars: time a node works for each item of the stream. Colours: clusters.");
    timeline_svg(&t, out);
    free(lane);
    free(used);
    free(busy);
}

/* ---- orders ---- */

double *gantt_eligible(const struct plan *plan, const struct workflow *w)
{
    double *count = mem_new_zero(double, plan->order.n + 1);
    uint32_t *waits = mem_new_zero(uint32_t, w->ntasks + 1);
    uint8_t *done = mem_new_zero(uint8_t, w->ntasks + 1);
    double eligible = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        waits[t] = w->pred_off[t + 1] - w->pred_off[t];
        eligible += waits[t] == 0;
    }
    count[0] = eligible;
    for (size_t i = 0; i < plan->order.n; i++) {
        uint32_t t = plan->order.at[i];
        if (t < w->ntasks && !done[t]) {
            done[t] = 1;
            eligible -= waits[t] == 0;
            for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
                eligible += --waits[w->succ_task[e]] == 0 && !done[w->succ_task[e]];
        }
        count[i + 1] = eligible;
    }
    free(waits);
    free(done);
    for (size_t i = 0; plan->eligible.n == plan->order.n + 1 && i < plan->eligible.n; i++)
        count[i] = plan->eligible.at[i];
    return count;
}

void gantt_order_svg(const struct plan *plan, const struct workflow *w, const struct platform *p,
                     struct strbuf *out, const struct gantt_options *options)
{
    size_t n = plan->order.n + 1;
    double *y = gantt_eligible(plan, w), *x = mem_new(double, n);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)i;
    struct strbuf title = {0};
    char *head = gantt_title(plan, w, p, options), number[HUMAN_SIZE];
    strbuf_add(&title, head);
    if (plan->verdict)
        strbuf_printf(&title, ": %s", plan->verdict);
    if (!isnan(plan_objective(plan, "area")))
        strbuf_printf(&title, ", area %s", human_number(number, plan_objective(plan, "area")));
    struct chart_series series = {.x = x, .y = y, .n = n, .steps = true};
    struct chart chart = {
        .title = strbuf_text(&title),
        .x_title = "tasks executed",
        .y_title = "tasks eligible",
        .width = options && options->width > 0 ? options->width : 900,
        .y_from_zero = true,
        .series = &series,
        .nseries = 1,
    };
    report_line_chart(&chart, out);
    free(head);
    strbuf_free(&title);
    free(x);
    free(y);
}
