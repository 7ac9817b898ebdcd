/* Items flowing through a stream mapping in virtual time; stream.h states the model.
 *
 * I1. missing[item][copy] counts the inputs of one task for one item that have not arrived; at 0 it
 *     goes to the ready queue of the replica's node.
 * I2. Nodes with something ready and nothing running are in `awake`; who runs is decided at the end
 *     of an instant, when all its arrivals are known, and so does not depend on their order.
 * I3. Items enter in order, at most `window` at a time.
 * I4. Under a schedule nothing starts before its time: what is ready early waits in the engine's
 *     queue, and what is ready goes by its time instead of by item and priority.
 * I5. A task that takes no time (the joint of several sources or sinks) needs no node: it is done
 *     once it is ready, whatever runs there. Else a schedule without gaps would have it wait for
 *     the next item's task whenever rounding puts that one first.
 *
 * O(items x (copies + feeds) log); two bytes an instance are held for all items at once. */
#include "sim/stream.h"
#include "base/clock.h"
#include "base/compare.h"
#include "base/plural.h"
#include "model/stream_schedule.h"
#include "sim/engine.h"
#include "sim/mapping.h"
#include "sim/network.h"
#include "sim/pairmap.h"

enum stream_event {
    STREAM_DONE,
    STREAM_DONE_BESIDE,
    STREAM_ARRIVES,
    STREAM_TASK_DUE,
    STREAM_SEND_DUE
};

const char *const stream_feed_names[] = {"flood", "period", "window", NULL};

/* Instances (item x copy) that one replay may hold: 4 GB of counters. */
#define MOST_INSTANCES ((uint64_t)1 << 31)
enum { MOST_ITEMS = 100000000 };

void stream_options_init(struct stream_options *o)
{
    *o = (struct stream_options){.items = 200, .seed = 1};
}

struct stream {
    const struct workflow *w;
    const struct platform *p;
    const struct plan *plan;
    const struct stream_options *o;
    struct stream_result *out;
    struct engine engine;
    struct network *network;
    struct mapping map;
    struct costs *costs;
    uint32_t ports, window;
    double period; /* between items; 0: they do not come one by one */

    /* the schedule; NULL: none is kept to */
    double *copy_due, *feed_due; /* from the item's base */
    double *base;                /* per item: when its schedule begins */

    uint16_t *missing;    /* item x copy */
    uint32_t *exits_left; /* per item */
    double *began;        /* per item: its first task started; NAN: not yet */
    uint32_t arrived, released, finished;

    struct queue *ready; /* per node */
    uint64_t *running;   /* per node: item << 32 | copy; UINT64_MAX: idle */
    double *busy;        /* per node */
    double *task_start;  /* per node */
    ARRAY(uint32_t) awake;

    struct pairmap pairs;
    ARRAY(struct stream_channel) channels;
};

/* Let items enter as far as they have arrived and the window allows. */
static void release_items(struct stream *s);

/* A task of an item is ready; who runs is decided when everything of this instant is known. */
static void make_ready(struct stream *s, uint64_t item, uint32_t copy)
{
    uint32_t node = mapping_node(&s->map, s->map.copies[copy].cluster, item);
    if (costs_time(s->costs, s->map.copies[copy].task, node) == 0) { /* an event: no recursion */
        if (isnan(s->began[item]))
            s->began[item] = s->engine.now;
        engine_at(&s->engine, s->engine.now, STREAM_DONE_BESIDE, item << 32 | copy);
        return;
    }
    double key = s->copy_due ? s->base[item] + s->copy_due[copy] : (double)item;
    queue_push(&s->ready[node], key, copy, item << 32 | copy);
    if (s->running[node] == UINT64_MAX)
        array_push(&s->awake, node);
}

/* All inputs are there: ready, or ready when it is due. */
static void has_inputs(struct stream *s, uint64_t item, uint32_t copy)
{
    double due = s->copy_due ? s->base[item] + s->copy_due[copy] : 0;
    if (due > s->engine.now)
        engine_at(&s->engine, due, STREAM_TASK_DUE, item * s->map.ncopies + copy);
    else
        make_ready(s, item, copy);
}

/* One input fewer is missing. */
static void got_input(struct stream *s, uint64_t item, uint32_t copy)
{
    if (--s->missing[item * s->map.ncopies + copy] == 0)
        has_inputs(s, item, copy);
}

/* Every copy in the receiving cluster that waits for the object has it. Where clusters share nodes
 * (rotating plans) it has come for all of them that have this item there. */
static void feed_arrived(struct stream *s, uint64_t item, uint32_t feed)
{
    const struct feed *f = &s->map.feeds[feed], *first = f, *last = f + 1;
    uint32_t node = mapping_node(&s->map, f->to, item);
    if (s->map.unrolled) /* feeds of one object stand together */
        while (last < s->map.feeds + s->map.nfeeds && last->from == f->from &&
               last->object == f->object)
            last++;
    for (f = first; f < last; f++) {
        if (mapping_node(&s->map, f->to, item) != node)
            continue;
        for (uint32_t k = f->waiter_off; k < f[1].waiter_off; k++)
            got_input(s, item, s->map.waiters[k]);
    }
}

/* Does an earlier feed of the same object bring it to this node, too? */
static bool comes_along(const struct stream *s, uint64_t item, uint32_t feed, uint32_t to)
{
    const struct feed *f = &s->map.feeds[feed];
    for (uint32_t k = feed; s->map.unrolled && k-- > 0;) {
        const struct feed *before = &s->map.feeds[k];
        if (before->from != f->from || before->object != f->object)
            break;
        if (mapping_node(&s->map, before->to, item) == to)
            return true;
    }
    return false;
}

/* The oldest ready item on an idle node, then the highest priority (copies are numbered by it). */
static void start_next(struct stream *s, uint32_t node)
{
    if (s->running[node] != UINT64_MAX || !s->ready[node].n)
        return;
    uint64_t value = queue_pop(&s->ready[node]).value;
    uint32_t copy = (uint32_t)value;
    uint64_t item = value >> 32;
    double time = costs_time(s->costs, s->map.copies[copy].task, node);
    if (s->o->noise > 0) {
        double variance = log1p(s->o->noise * s->o->noise);
        time *= exp(sqrt(variance) * rng_normal(&s->engine.rng) - variance / 2);
    }
    s->running[node] = value;
    s->task_start[node] = s->engine.now;
    if (isnan(s->began[item]))
        s->began[item] = s->engine.now;
    engine_at(&s->engine, s->engine.now + time, STREAM_DONE, node);
}

/* From the node of its producer. False: it has no way to travel. */
static bool send_feed(struct stream *s, uint64_t item, uint32_t feed, uint32_t node,
                      struct error *err)
{
    const struct feed *f = &s->map.feeds[feed];
    uint32_t to = mapping_node(&s->map, f->to, item);
    double size = f->object == NONE ? 0 : s->w->size[f->object];
    double priority =
        s->feed_due ? s->base[item] + s->feed_due[feed] : (double)(item * s->map.nfeeds + f->rank);
    if (comes_along(s, item, feed, to))
        return true;
    if (to == node || f->object == NONE || platform_transfer(s->p, node, to, size) == 0) {
        feed_arrived(s, item, feed);
        return true;
    }
    if (network_send(s->network, s->engine.now, node, to, size, priority,
                     item * s->map.nfeeds + feed))
        return true;
    char label[256];
    return error_set(err, ERROR_FAILED,
                     "object '%s' cannot travel: no network between nodes '%s' and '%s'",
                     workflow_object_label(s->w, f->object, label, sizeof label),
                     platform_node_name(s->p, node), platform_node_name(s->p, to));
}

/* Local followers and feeds; the end of an item's last sink completes it and lets another enter.
 * False: an object has no way to travel. */
static bool task_done(struct stream *s, uint64_t value, uint32_t node, double start,
                      struct error *err)
{
    uint64_t item = value >> 32;
    const struct mapping_copy *c = &s->map.copies[(uint32_t)value];
    double now = s->engine.now;
    s->out->tasks++;
    if (s->o->trace) {
        struct trace_event e = {.kind = TRACE_TASK,
                                .id = c->task,
                                .node = node,
                                .copy = (uint32_t)item,
                                .start = start,
                                .finish = now};
        s->o->trace->event(s->o->trace->context, &e);
    }
    for (uint32_t k = c->local_off; k < c[1].local_off; k++)
        got_input(s, item, s->map.local[k]);
    for (uint32_t k = c->feed_off; k < c[1].feed_off; k++) {
        double due = s->feed_due ? s->base[item] + s->feed_due[k] : 0;
        if (due > now)
            engine_at(&s->engine, due, STREAM_SEND_DUE, item * s->map.nfeeds + k);
        else if (!send_feed(s, item, k, node, err))
            return false;
    }
    if (c->is_exit && --s->exits_left[item] == 0) {
        double from = s->period > 0 ? (double)item * s->period : s->began[item];
        s->out->completion[item] = now;
        s->out->latency[item] = now - from;
        if (now > s->out->makespan)
            s->out->makespan = now;
        s->finished++;
        release_items(s);
    }
    return true;
}

/* The node is free for whoever is ready at the end of this instant. */
static bool node_done(struct stream *s, uint32_t node, struct error *err)
{
    uint64_t value = s->running[node];
    s->running[node] = UINT64_MAX;
    s->busy[node] += s->engine.now - s->task_start[node];
    array_push(&s->awake, node);
    return task_done(s, value, node, s->task_start[node], err);
}

/* Channels are counted by ordered pair in the order of first use. */
static void message_arrived(struct stream *s, const struct network_message *m)
{
    uint64_t item = m->tag / s->map.nfeeds;
    uint32_t feed = (uint32_t)(m->tag % s->map.nfeeds);
    s->engine.events++;
    uint32_t id = pairmap_number(&s->pairs, m->from, m->to);
    if (id == s->channels.n)
        array_push(&s->channels, (struct stream_channel){.from = m->from, .to = m->to});
    struct stream_channel *channel = &s->channels.at[id];
    channel->messages++;
    channel->busy += m->finish - m->start;
    channel->bytes += m->bytes;
    if (s->o->trace) {
        struct trace_event e = {.kind = TRACE_TRANSFER,
                                .id = s->map.feeds[feed].object,
                                .node = m->from,
                                .other = m->to,
                                .copy = (uint32_t)item,
                                .start = m->start,
                                .finish = m->finish,
                                .amount = m->bytes};
        s->o->trace->event(s->o->trace->context, &e);
    }
    feed_arrived(s, item, feed);
}

static void release_items(struct stream *s)
{
    while (s->released < s->arrived && (!s->window || s->released - s->finished < s->window)) {
        uint64_t item = s->released++;
        if (s->base)
            s->base[item] = fmax((double)item * s->period, s->engine.now);
        for (uint32_t c = 0; c < s->map.ncopies; c++) {
            s->missing[item * s->map.ncopies + c] = (uint16_t)s->map.copies[c].inputs;
            if (!s->map.copies[c].inputs)
                has_inputs(s, item, c);
        }
    }
}

/* The node that makes what a feed sends. */
static uint32_t feed_source(const struct stream *s, uint64_t item, uint32_t feed)
{
    return mapping_node(&s->map, s->map.copies[s->map.feeds[feed].from].cluster, item);
}

static bool stream_happened(struct stream *s, const struct event *x, struct error *err)
{
    switch ((enum stream_event)x->kind) {
    case STREAM_DONE:
        return node_done(s, (uint32_t)x->payload, err);
    case STREAM_DONE_BESIDE: {
        uint32_t cluster = s->map.copies[(uint32_t)x->payload].cluster;
        return task_done(s, x->payload, mapping_node(&s->map, cluster, x->payload >> 32),
                         s->engine.now, err);
    }
    case STREAM_TASK_DUE:
        make_ready(s, x->payload / s->map.ncopies, (uint32_t)(x->payload % s->map.ncopies));
        return true;
    case STREAM_SEND_DUE: {
        uint64_t item = x->payload / s->map.nfeeds;
        uint32_t feed = (uint32_t)(x->payload % s->map.nfeeds);
        return send_feed(s, item, feed, feed_source(s, item, feed), err);
    }
    case STREAM_ARRIVES:
        break;
    }
    s->arrived++;
    if (s->arrived < s->o->items)
        engine_at(&s->engine, s->arrived * s->period, STREAM_ARRIVES, 0);
    release_items(s);
    return true;
}

/* Until all items are done; see network.h for the loop. */
static bool stream_loop(struct stream *s, struct error *err)
{
    struct engine *e = &s->engine;
    struct network *n = s->network;
    uint64_t next_report = 1 << 16;
    if (s->period > 0)
        engine_at(e, 0, STREAM_ARRIVES, 0);
    else
        s->arrived = s->o->items;
    release_items(s);
    while (s->finished < s->o->items) {
        double te = engine_next(e), tn = network_next(n);
        double t = te < tn ? te : tn;
        if (t > e->now && (n->unsettled || s->awake.n)) {
            for (size_t i = 0; i < s->awake.n; i++)
                start_next(s, s->awake.at[i]);
            s->awake.n = 0;
            if (n->unsettled)
                network_settle(n, e->now);
            continue;
        }
        if (t == INFINITY)
            return error_set(err, ERROR_FAILED,
                             "the simulation cannot progress at time %g: %u of %u item%s done",
                             e->now, s->finished, s->o->items, plural(s->o->items));
        if (tn <= te) {
            struct network_message m;
            e->now = tn;
            if (network_step(n, tn, &m))
                message_arrived(s, &m);
        } else {
            struct event x = engine_take(e);
            if (!stream_happened(s, &x, err))
                return false;
        }
        if (e->events >= next_report) {
            next_report = e->events + (1 << 16);
            if (!progress_report(s->o->progress, (double)s->finished / s->o->items, "streaming"))
                return error_set(err, ERROR_FAILED, "stopped by the user");
        }
    }
    return true;
}

/* The k-th percentile by the nearest-rank rule. */
static double stream_percentile(const double *sorted, uint32_t n, double share)
{
    uint32_t k = (uint32_t)ceil(share * n);
    return sorted[k ? k - 1 : 0];
}

static void account_latency(struct stream_result *out, double *sorted, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = out->latency[i];
        out->latency_mean += out->latency[i];
    }
    out->latency_mean /= n;
    out->latency_first = out->latency[0];
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    out->latency_p50 = stream_percentile(sorted, n, 0.50);
    out->latency_p95 = stream_percentile(sorted, n, 0.95);
    out->latency_p99 = stream_percentile(sorted, n, 0.99);
    out->latency_max = sorted[n - 1];
}

/* The steady state: items a second as the least-squares slope of the second half of completions.
 * Once the last item has entered, the source no longer competes for ports and buffers drain: what
 * completes then is left out, unless that leaves fewer than 16 completions to look at. */
static void account_throughput(const struct stream *s, double *sorted, uint32_t n)
{
    struct stream_result *out = s->out;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = out->completion[i];
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    out->overall = out->makespan > 0 ? n / out->makespan : INFINITY;
    out->throughput = out->overall;
    double entered = 0;
    for (uint32_t i = 0; i < n; i++)
        if (s->began[i] > entered)
            entered = s->began[i];
    uint32_t before = 0;
    while (before < n && sorted[before] <= entered)
        before++;
    uint32_t last = before >= 16 ? before : n, first = last / 2, count = last - first;
    if (count < 2)
        return;
    double mean_i = (count - 1) / 2.0, mean_t = 0, both = 0, square = 0;
    for (uint32_t i = 0; i < count; i++)
        mean_t += sorted[first + i];
    mean_t /= count;
    for (uint32_t i = 0; i < count; i++) {
        both += (i - mean_i) * (sorted[first + i] - mean_t);
        square += (i - mean_i) * (i - mean_i);
    }
    out->throughput = both > 0 ? square / both : INFINITY;
}

/* Every node of the mapping once, in the order of the clusters; a node of two clusters counts to
 * the first. */
static void account_processors(const struct stream *s)
{
    struct stream_result *out = s->out;
    const struct plan *plan = s->plan;
    bool *seen = mem_new_zero(bool, s->p->nnodes);
    out->processors = mem_new_zero(struct stream_processor, s->p->nnodes);
    for (uint32_t c = 0; c < plan->clusters.n; c++)
        for (uint32_t k = 0; k < plan->clusters.at[c].nnodes; k++) {
            uint32_t node = plan->nodes.at[plan->clusters.at[c].nodes + k];
            if (seen[node])
                continue;
            seen[node] = true;
            struct stream_processor *x = &out->processors[out->nprocessors++];
            double span = out->makespan > 0 ? out->makespan : 1;
            uint32_t ports = s->ports ? s->ports : platform_ports(s->p, node);
            *x =
                (struct stream_processor){node, c, s->busy[node], s->busy[node] / span,
                                          (s->network->out_busy[node] + s->network->in_busy[node]) /
                                              span / (ports ? ports : 1)};
            out->utilization += x->occupancy;
        }
    free(seen);
    if (out->nprocessors)
        out->utilization /= out->nprocessors;
}

/* After the last item: statistics, and the channels handed over to the result. */
static void stream_account(struct stream *s)
{
    struct stream_result *out = s->out;
    double *sorted = mem_new(double, s->o->items);
    account_latency(out, sorted, s->o->items);
    account_throughput(s, sorted, s->o->items);
    free(sorted);
    account_processors(s);
    for (size_t i = 0; i < s->channels.n; i++)
        s->channels.at[i].occupancy = s->channels.at[i].busy / out->makespan;
    out->nchannels = (uint32_t)s->channels.n;
    out->channels = s->channels.at;
    s->channels.at = NULL;
    out->bytes_moved = s->network->bytes;
    out->transfers = s->network->delivered;
    out->events = s->engine.events;
}

static bool stream_check_options(const struct stream *s, const struct plan *plan, struct error *err)
{
    const struct stream_options *o = s->o;
    if (plan->kind != PLAN_STREAM)
        return error_set(err, ERROR_INPUT, "a plan of kind '%s' is not a stream mapping",
                         plan_kind_name(plan->kind));
    if (!o->items)
        return error_set(err, ERROR_INPUT, "a stream of 0 items; expected 1 or more");
    if (o->items > MOST_ITEMS)
        return error_set(err, ERROR_INPUT, "a stream of %u item%s; at most %d can be simulated",
                         o->items, plural(o->items), MOST_ITEMS);
    if (!isfinite(o->period) || o->period < 0)
        return error_set(err, ERROR_INPUT, "the period is %g; it must be 0 (the plan's) or more",
                         o->period);
    if (o->fed == FEED_WINDOW && !o->window)
        return error_set(err, ERROR_INPUT, "a stream fed by a window needs the window's size");
    if (!isfinite(o->noise) || o->noise < 0)
        return error_set(err, ERROR_INPUT, "noise is %g; it must be 0 or more", o->noise);
    if (!s->w->ntasks)
        return error_set(err, ERROR_INPUT, "the workflow has no tasks to stream items through");
    return true;
}

static bool stream_prepare(struct stream *s, const struct plan *plan, struct error *err)
{
    const struct workflow *w = s->w;
    const struct platform *p = s->p;
    const struct stream_options *o = s->o;
    s->ports = o->ports ? o->ports : plan->ports;
    s->window = o->fed == FEED_FLOOD ? 0 : o->window;
    if (!plan->pipelined)
        s->window = 1;
    s->network = network_new(o->network ? o->network : "kport", p, s->ports, err);
    s->costs = s->network ? costs_new(w, p, err) : NULL;
    if (!s->costs || !mapping_build(&s->map, w, p, s->costs, plan, err))
        return false;
    uint64_t instances = (uint64_t)o->items * s->map.ncopies;
    if (instances > MOST_INSTANCES)
        return error_set(err, ERROR_INPUT, "%u item%s through %u task copies are too many at once",
                         o->items, plural(o->items), s->map.ncopies);
    for (uint32_t i = 0; i < s->map.ncopies; i++) {
        const struct mapping_copy *c = &s->map.copies[i];
        if (c->inputs > UINT16_MAX)
            return error_set(err, ERROR_INPUT, "task '%s' has more than 65,535 inputs",
                             workflow_task_name(w, c->task));
        const struct cluster *x = &s->map.plan->clusters.at[c->cluster];
        for (uint32_t k = 0; k < x->nnodes; k++) {
            uint32_t node = s->map.plan->nodes.at[x->nodes + k];
            if (!isfinite(costs_time(s->costs, c->task, node)))
                return error_set(err, ERROR_INPUT, "task '%s' cannot run on node '%s'",
                                 workflow_task_name(w, c->task), platform_node_name(p, node));
        }
    }
    s->missing = mem_new(uint16_t, (size_t)instances);
    s->exits_left = mem_new(uint32_t, o->items);
    s->began = mem_new(double, o->items);
    s->out->latency = mem_new_zero(double, o->items);
    s->out->completion = mem_new_zero(double, o->items);
    for (uint32_t i = 0; i < o->items; i++) {
        s->exits_left[i] = s->map.nexits;
        s->began[i] = NAN;
    }
    s->ready = mem_new_zero(struct queue, p->nnodes);
    s->running = mem_new(uint64_t, p->nnodes);
    s->busy = mem_new_zero(double, p->nnodes);
    s->task_start = mem_new_zero(double, p->nnodes);
    for (uint32_t i = 0; i < p->nnodes; i++)
        s->running[i] = UINT64_MAX;
    return true;
}

static uint64_t due_key(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

struct due {
    uint64_t key;
    double start;
};

static int compare_dues(const void *a, const void *b)
{
    const struct due *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* 0 for what the schedule does not name: transfers that take no time. */
static double find_due(const struct due *list, size_t n, uint64_t key)
{
    struct due wanted = {.key = key};
    const struct due *found = n ? bsearch(&wanted, list, n, sizeof *list, compare_dues) : NULL;
    return found ? found->start : 0;
}

/* The schedule's starts by copy and feed of the mapping. */
static void keep_schedule(struct stream *s, const struct stream_schedule *x)
{
    struct due *list = mem_new(struct due, x->starts.n + x->sends.n);
    for (size_t i = 0; i < x->starts.n; i++)
        list[i] = (struct due){due_key(x->starts.at[i].task, x->starts.at[i].cluster),
                               x->starts.at[i].start};
    if (x->starts.n)
        qsort(list, x->starts.n, sizeof *list, compare_dues);
    s->copy_due = mem_new(double, s->map.ncopies);
    for (uint32_t i = 0; i < s->map.ncopies; i++)
        s->copy_due[i] =
            find_due(list, x->starts.n, due_key(s->map.copies[i].task, s->map.copies[i].cluster));
    for (size_t i = 0; i < x->sends.n; i++)
        list[i] =
            (struct due){due_key(x->sends.at[i].object, x->sends.at[i].to), x->sends.at[i].start};
    if (x->sends.n)
        qsort(list, x->sends.n, sizeof *list, compare_dues);
    s->feed_due = mem_new(double, s->map.nfeeds);
    for (uint32_t i = 0; i < s->map.nfeeds; i++)
        s->feed_due[i] =
            find_due(list, x->sends.n, due_key(s->map.feeds[i].object, s->map.feeds[i].to));
    s->base = mem_new_zero(double, s->o->items);
    free(list);
}

/* By the plan's schedule, or by one that is built here for a plan from before it had any. Pipelined
 * items keep to it only when they come at its pace. */
static bool stream_pace(struct stream *s, const struct plan *plan, struct error *err)
{
    const struct stream_options *o = s->o;
    struct stream_schedule own = {0};
    const struct stream_schedule *schedule = &plan->schedule;
    double claimed = plan_objective(plan, "throughput");
    bool wanted = plan->pipelined ? o->fed == FEED_PERIOD && o->period == 0 : true;
    if (plan->rotating)
        wanted = false; /* nodes of several clusters: no schedule of clusters fits */
    if (wanted && !(schedule->period > 0)) {
        struct stream_graph *g = stream_graph_new(s->w, s->p);
        if ((!plan->pipelined || (claimed > 0 && isfinite(claimed))) &&
            stream_schedule_build(g, plan, 1 / claimed, &own))
            schedule = &own;
        stream_graph_free(g);
    }
    if (o->fed == FEED_PERIOD)
        s->period = o->period > 0          ? o->period
                    : schedule->period > 0 ? schedule->period
                    : claimed > 0          ? 1 / claimed
                                           : 0;
    bool paced = o->fed != FEED_PERIOD || s->period > 0 || claimed == INFINITY;
    if (wanted && schedule->period > 0)
        keep_schedule(s, schedule);
    stream_schedule_free(&own);
    s->out->fed = o->fed;
    s->out->period = s->period;
    s->out->window = s->window;
    s->out->scheduled = s->copy_due != NULL;
    return paced || error_set(err, ERROR_INPUT,
                              "the plan promises no throughput to feed it by; give the period");
}

/* What the plan promises of an item that is fed so: by its schedule, among others; else alone. */
static double stream_promised_latency(const struct stream *s, const struct plan *plan)
{
    double steady = plan_objective(plan, "steady_latency");
    return s->copy_due && !isnan(steady) ? steady : plan_objective(plan, "latency");
}

bool stream_run(const struct workflow *w, const struct platform *p, const struct plan *plan,
                const struct stream_options *o, struct stream_result *out, struct error *err)
{
    double began = clock_seconds();
    *out = (struct stream_result){.items = o->items};
    struct stream s = {.w = w, .p = p, .plan = plan, .o = o, .out = out};
    engine_init(&s.engine, o->seed);
    bool good = plan_can_place(w, err) && stream_check_options(&s, plan, err) &&
                stream_prepare(&s, plan, err) && stream_pace(&s, plan, err) && stream_loop(&s, err);
    if (good) {
        stream_account(&s);
        out->predicted_throughput = plan_objective(plan, "throughput");
        out->predicted_latency = stream_promised_latency(&s, plan);
    }
    engine_free(&s.engine);
    network_free(s.network);
    mapping_free(&s.map);
    costs_free(s.costs);
    free(s.copy_due);
    free(s.feed_due);
    free(s.base);
    free(s.missing);
    free(s.exits_left);
    free(s.began);
    for (uint32_t i = 0; s.ready && i < p->nnodes; i++)
        queue_free(&s.ready[i]);
    free(s.ready);
    free(s.running);
    free(s.busy);
    free(s.task_start);
    array_free(&s.awake);
    pairmap_free(&s.pairs);
    array_free(&s.channels);
    out->seconds = clock_seconds() - began;
    return good;
}

void stream_result_free(struct stream_result *r)
{
    free(r->latency);
    free(r->completion);
    free(r->processors);
    free(r->channels);
    *r = (struct stream_result){0};
}
