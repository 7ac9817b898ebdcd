/* Traces for Chrome and Perfetto: events as they come, one line each, into memory or, flushed
 * every 64 KB, into a stream, so that a simulation of a million tasks needs no million events in
 * memory.
 *
 *     process (pid)    a node, from 1
 *     thread 0         faults
 *     threads 1 ..     its cores
 *     then             sending (even) and receiving (odd) lanes, as many as are busy at once */
#include "formats/json/trace_json.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/mem.h"
#include "formats/format.h"
#include "model/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { FLUSH_AT = 1 << 16, FAULT_THREAD = 0 };

/* A thread shows one thing at a time: a lane is free again when its last transfer ends. Lanes by
 * that end: thousands may be busy at once when a node sends to all others. */
typedef struct heap lanes;

struct node_threads {
    uint32_t cores_named;
    bool faults_named;
    lanes send, receive;
};

struct trace_json {
    const struct workflow *w;
    const struct platform *p;
    FILE *stream;
    struct strbuf own, *out;
    struct json_writer j;
    struct node_threads *node;
    uint64_t arrows;
    struct strbuf label;
};

/* ---- single events ---- */

/* What every event has: phase, process, thread. The caller goes on, and ends it with
 * trace_end_event(). */
static void trace_begin_event(struct trace_json *t, const char *phase, uint32_t node,
                              uint64_t thread)
{
    json_write_object_inline(&t->j);
    json_put_string(&t->j, "ph", phase);
    json_put_integer(&t->j, "pid", (int64_t)node + 1);
    json_put_integer(&t->j, "tid", (int64_t)thread);
}

static void trace_end_event(struct trace_json *t)
{
    json_write_end_object(&t->j);
    if (t->stream && t->out->n >= FLUSH_AT) {
        fwrite(t->out->at, 1, t->out->n, t->stream);
        strbuf_clear(t->out);
    }
}

/* A metadata event: viewers show these names instead of numbers. */
static void name_thing(struct trace_json *t, const char *what, uint32_t node, uint64_t thread,
                       const char *name)
{
    trace_begin_event(t, "M", node, thread);
    json_put_string(&t->j, "name", what);
    json_write_key(&t->j, "args");
    json_write_object(&t->j);
    json_put_string(&t->j, "name", name);
    json_write_end_object(&t->j);
    trace_end_event(t);
}

/* A slice from start to finish; the caller adds to it and calls trace_end_event(). */
static void begin_slice(struct trace_json *t, uint32_t node, uint64_t thread, const char *name,
                        const char *category, double start, double finish)
{
    trace_begin_event(t, "X", node, thread);
    json_put_string(&t->j, "name", name);
    json_put_string(&t->j, "cat", category);
    json_put_number(&t->j, "ts", start * 1e6);
    json_put_number(&t->j, "dur", fmax(0, finish - start) * 1e6);
}

/* One end of the arrow between sender and receiver; both carry the same id. */
static void arrow_end(struct trace_json *t, const char *phase, uint32_t node, uint64_t thread,
                      double at)
{
    trace_begin_event(t, phase, node, thread);
    json_put_string(&t->j, "name", "transfer");
    json_put_string(&t->j, "cat", "transfer");
    json_put_integer(&t->j, "id", (int64_t)t->arrows);
    json_put_number(&t->j, "ts", at * 1e6);
    if (*phase == 'f')
        json_put_string(&t->j, "bp", "e"); /* bind to the slice around it, not to the next */
    trace_end_event(t);
}

/* ---- threads ---- */

/* Threads are named when first used: a node of 128 cores that runs one task shows one row. */
static uint64_t core_thread(struct trace_json *t, uint32_t node, uint32_t core)
{
    struct node_threads *n = &t->node[node];
    while (n->cores_named <= core && n->cores_named < t->p->cores[node]) {
        char name[32];
        snprintf(name, sizeof name, "core %u", n->cores_named);
        name_thing(t, "thread_name", node, (uint64_t)n->cores_named + 1, name);
        n->cores_named++;
    }
    return (uint64_t)core + 1;
}

/* A free lane; threads after the cores, sends even and receives odd. */
static uint64_t lane_thread(struct trace_json *t, uint32_t node, bool receives, double start,
                            double finish)
{
    lanes *busy = receives ? &t->node[node].receive : &t->node[node].send;
    const struct heap_item *first = heap_peek(busy);
    bool is_new = !first || first->key > start;
    uint64_t lane = is_new ? busy->n : heap_pop(busy).value;
    heap_push(busy, finish, lane);
    uint64_t thread = (uint64_t)t->p->cores[node] + 1 + 2 * lane + receives;
    if (is_new) {
        char name[48];
        snprintf(name, sizeof name, receives ? "receive %" PRIu64 : "send %" PRIu64, lane + 1);
        name_thing(t, "thread_name", node, thread, name);
    }
    return thread;
}

/* ---- kinds of events ---- */

/* A slice on the first of its cores; failures are coloured. */
static void trace_write_task(struct trace_json *t, const struct trace_event *e)
{
    if (e->id >= t->w->ntasks)
        return;
    uint64_t thread = core_thread(t, e->node, e->lane);
    begin_slice(t, e->node, thread, workflow_task_name(t->w, e->id), "task", e->start, e->finish);
    if (e->outcome)
        json_put_string(&t->j, "cname", "terrible");
    json_write_key(&t->j, "args");
    json_write_object(&t->j);
    json_put_string(&t->j, "kind", workflow_text(t->w, t->w->kind[e->id]));
    if (e->copy)
        json_put_integer(&t->j, "copy", e->copy);
    if (t->w->cores[e->id] > 1)
        json_put_integer(&t->j, "cores", t->w->cores[e->id]);
    if (e->outcome)
        json_put_string(&t->j, "outcome", "failed");
    strbuf_clear(&t->label);
    if (command_readable(t->w, e->id, e->attempt, &t->label))
        json_put_string(&t->j, "command", strbuf_text(&t->label));
    json_write_end_object(&t->j);
    trace_end_event(t);
}

/* Valid until the next call. */
static const char *object_label(struct trace_json *t, uint32_t object)
{
    const struct workflow *w = t->w;
    if (w->object_name[object])
        return workflow_text(w, w->object_name[object]);
    strbuf_clear(&t->label);
    strbuf_printf(&t->label, "%s->%s", workflow_task_name(w, w->producer[object]),
                  workflow_task_name(w, w->succ_task[w->object_edge[object]]));
    return t->label.at;
}

/* A slice at each end and an arrow between: it ends in the middle of the receiver's slice, which
 * viewers can bind it to. */
static void write_transfer(struct trace_json *t, const struct trace_event *e)
{
    if (e->id >= t->w->nobjects || e->other >= t->p->nnodes)
        return;
    uint32_t nodes[2] = {e->node, e->other};
    uint64_t threads[2];
    for (int i = 0; i < 2; i++) {
        threads[i] = lane_thread(t, nodes[i], i == 1, e->start, e->finish);
        begin_slice(t, nodes[i], threads[i], object_label(t, e->id), "transfer", e->start,
                    e->finish);
        json_write_key(&t->j, "args");
        json_write_object(&t->j);
        json_put_number(&t->j, "bytes", t->w->size[e->id]);
        json_put_string(&t->j, i ? "from" : "to", platform_node_name(t->p, nodes[1 - i]));
        if (e->outcome)
            json_put_string(&t->j, "outcome", "failed");
        json_write_end_object(&t->j);
        trace_end_event(t);
    }
    t->arrows++;
    arrow_end(t, "s", nodes[0], threads[0], e->start);
    arrow_end(t, "f", nodes[1], threads[1], e->start + (e->finish - e->start) / 2);
}

/* A repair makes it a slice; without one it is an instant. */
static void write_fault(struct trace_json *t, const struct trace_event *e)
{
    struct node_threads *n = &t->node[e->node];
    if (!n->faults_named) {
        name_thing(t, "thread_name", e->node, FAULT_THREAD, "faults");
        n->faults_named = true;
    }
    if (isfinite(e->finish)) {
        begin_slice(t, e->node, FAULT_THREAD, "down", "fault", e->start, e->finish);
    } else {
        trace_begin_event(t, "i", e->node, FAULT_THREAD);
        json_put_string(&t->j, "name", "down for good");
        json_put_string(&t->j, "cat", "fault");
        json_put_string(&t->j, "s", "p");
        json_put_number(&t->j, "ts", e->start * 1e6);
    }
    trace_end_event(t);
}

/* Counters are drawn as curves under the node. */
static void write_counter(struct trace_json *t, const struct trace_event *e)
{
    static const struct {
        const char *name, *unit;
    } counters[] = {{"memory", "bytes"}, {"ready tasks", "tasks"}, {"running tasks", "tasks"}};
    if (e->id >= sizeof counters / sizeof *counters)
        return;
    trace_begin_event(t, "C", e->node, 0);
    json_put_string(&t->j, "name", counters[e->id].name);
    json_put_number(&t->j, "ts", e->start * 1e6);
    json_write_key(&t->j, "args");
    json_write_object(&t->j);
    json_put_number(&t->j, counters[e->id].unit, e->amount);
    json_write_end_object(&t->j);
    trace_end_event(t);
}

/* Events without a place or a time are left out: a viewer could not draw them. */
static void write_event(void *context, const struct trace_event *e)
{
    struct trace_json *t = context;
    if (e->node >= t->p->nnodes || !isfinite(e->start) ||
        ((e->kind == TRACE_TASK || e->kind == TRACE_TRANSFER) && !isfinite(e->finish)))
        return;
    switch (e->kind) {
    case TRACE_TASK:
        trace_write_task(t, e);
        break;
    case TRACE_TRANSFER:
        write_transfer(t, e);
        break;
    case TRACE_FAULT:
        write_fault(t, e);
        break;
    case TRACE_COUNTER:
        write_counter(t, e);
        break;
    case TRACE_BEGIN: /* its TRACE_TASK tells all */
    case TRACE_REUSED:
    case TRACE_SKIPPED:
    case TRACE_GROWN:
        break;
    }
}

/* ---- the document ---- */

/* The document is opened and the nodes are named; events follow one by one until
 * trace_json_close(). */
struct trace_json *trace_json_open(const struct workflow *w, const struct platform *p, FILE *stream,
                                   struct strbuf *out)
{
    struct trace_json *t = mem_new_zero(struct trace_json, 1);
    t->w = w;
    t->p = p;
    t->stream = stream;
    t->out = stream ? &t->own : out;
    t->node = mem_new_zero(struct node_threads, p->nnodes);
    json_write_start(&t->j, t->out, true);
    json_write_object(&t->j);
    json_put_string(&t->j, "displayTimeUnit", "ms");
    json_write_key(&t->j, "traceEvents");
    json_write_array(&t->j);
    for (uint32_t n = 0; n < p->nnodes; n++)
        name_thing(t, "process_name", n, 0, platform_node_name(p, n));
    return t;
}

struct trace_sink trace_json_sink(struct trace_json *t)
{
    return (struct trace_sink){.event = write_event, .context = t};
}

void trace_json_close(struct trace_json *t)
{
    json_write_end_array(&t->j);
    json_write_end_object(&t->j);
    if (t->stream)
        fwrite(t->out->at, 1, t->out->n, t->stream);
    for (uint32_t n = 0; n < t->p->nnodes; n++) {
        heap_free(&t->node[n].send);
        heap_free(&t->node[n].receive);
    }
    free(t->node);
    strbuf_free(&t->own);
    strbuf_free(&t->label);
    free(t);
}

void trace_json_write_plan(const struct plan *plan, const struct workflow *w,
                           const struct platform *p, struct strbuf *out)
{
    struct trace_json *t = trace_json_open(w, p, NULL, out);
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        struct trace_event e = {.kind = TRACE_TASK,
                                .id = x->task,
                                .node = x->node,
                                .lane = x->core,
                                .copy = x->copy,
                                .start = x->start,
                                .finish = x->finish};
        write_event(t, &e);
    }
    for (size_t i = 0; i < plan->transfers.n; i++) {
        const struct transfer *x = &plan->transfers.at[i];
        struct trace_event e = {.kind = TRACE_TRANSFER,
                                .id = x->object,
                                .node = x->from,
                                .other = x->to,
                                .start = x->start,
                                .finish = x->finish};
        write_event(t, &e);
    }
    trace_json_close(t);
}
