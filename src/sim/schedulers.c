/* N real schedulers (sched.h) with the real tables of the store, in virtual time. Nothing here
 * decides anything: it carries out what the schedulers ask for and says how long that takes.
 *
 *   event ──▶ sched_handle() ──▶ actions:  sends ──▶ parcel, latency          ──▶ EVENT_MESSAGES
 *                                          ops   ──▶ parcel, latency, service ──▶ EVENT_ANSWERS
 *                                          starts ─▶ data fetched, then run   ──▶ EVENT_ENDED
 *                                          timers ──────────────────────────────▶ EVENT_TIMER
 *
 * I1. Time only moves in schedulers_step(); events of one instant come out in order of entry.
 * I2. c->out belongs to the scheduler that is being handled and is empty otherwise: handling never
 *     nests (fetches and answers are events, not calls).
 * I3. A server's operations are applied when they arrive and answered when its service is over;
 *     their order is that of arrival.
 * I4. What is on its way is owned by its parcel, run or fetch, whose index the event carries; the
 *     handler of the event gives the slot back.
 *
 * A task costs a handful of events; 128 million tasks fit because graphs are arithmetic
 * (workload.h) and a task's metadata take 15 bytes. */
#include "sim/schedulers_state.h"
#include <math.h>
#include <stdio.h>

#define SUBMIT_CHUNK 64 /* tasks a submission message; bounds what is on its way at the start */
/* Every 65,536 events, about 30 ms: a line of progress needs no more. */
#define PROGRESS_EVERY 65536

/* ---- cores over time ---- */

/* Add [from, to] to a histogram of fixed length whose bins double in width when time runs past its
 * end: bounded memory and O(bins) a doubling, whatever the makespan will be. */
static void account_cores(struct schedulers *c, double *bins, double from, double to)
{
    struct schedulers_result *r = c->result;
    while (to >= r->bin_width * SCHEDULERS_BINS) { /* two bins become one */
        for (uint32_t i = 0; i < SCHEDULERS_BINS; i++) {
            bool there = i < SCHEDULERS_BINS / 2;
            r->running[i] = there ? r->running[2 * i] + r->running[2 * i + 1] : 0;
            r->fetching[i] = there ? r->fetching[2 * i] + r->fetching[2 * i + 1] : 0;
        }
        r->bin_width *= 2;
    }
    while (from < to) {
        uint32_t i = (uint32_t)(from / r->bin_width);
        double end = (i + 1) * r->bin_width;
        if (end <= from) /* rounding at the edge of a bin */
            end = (++i + 1) * r->bin_width;
        if (end > to)
            end = to;
        bins[i < SCHEDULERS_BINS ? i : SCHEDULERS_BINS - 1] += end - from;
        from = end;
    }
}

/* ---- parcels ---- */

/* The pool keeps indices small enough to travel in an event; the bytes are the parcel's own. */
static struct schedulers_parcel *parcel_new(struct schedulers *c, size_t bytes, uint32_t *index)
{
    *index = pool_take(&c->parcels);
    struct schedulers_parcel *p = mem_alloc(sizeof *p + bytes);
    c->parcels.all.at[*index] = p;
    return p;
}

static struct schedulers_parcel *parcel_at(struct schedulers *c, uint32_t index)
{
    return c->parcels.all.at[index];
}

static void parcel_free(struct schedulers *c, uint32_t index)
{
    free(c->parcels.all.at[index]);
    c->parcels.all.at[index] = NULL;
    pool_give(&c->parcels, index);
}

/* What follows `n` messages in a parcel stands on a boundary. */
static size_t messages_size(size_t n)
{
    return (n * sizeof(struct sched_message) + 15) & ~(size_t)15;
}

/* memcpy() must not be given NULL, even for no bytes. */
static void put_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
}

/* ---- the store ---- */

/* A task's metadata stand with the scheduler that it was submitted to; with fewer servers than
 * nodes, each serves a stretch of neighbours. */
static uint32_t server_of(const struct schedulers *c, const struct meta_op *op)
{
    uint32_t nodes = c->config.nodes, servers = c->config.servers;
    uint32_t home = op->task < c->dag->ntasks
                        ? workload_home(c->dag, c->config.submit, nodes, op->task)
                        : op->node;
    if (servers == nodes)
        return home;
    uint64_t server = (uint64_t)home * servers / nodes;
    return (uint32_t)(server * nodes / servers); /* the node that it stands on */
}

/* Children whose metadata another server keeps: it works on each, a round trip away. */
static bool tell_children(struct schedulers *c, uint32_t server, uint32_t task)
{
    bool away = false;
    for (uint32_t i = 0, n = workload_children(c->dag, task); i < n; i++) {
        uint32_t other = server_of(
            c, &(struct meta_op){.task = workload_child(c->dag, task, i), .node = server});
        double *free_at = &c->nodes[other].server_free;
        *free_at = (*free_at > c->now ? *free_at : c->now) + c->config.store_service;
        away |= other != server;
    }
    return away;
}

/* Operations at their server: they are applied in the order of arrival, and answered when their
 * turn is over. */
static void server_apply(struct schedulers *c, uint32_t server, uint32_t node,
                         const struct meta_op *ops, uint32_t n)
{
    bool away = false;
    answers_clear(&c->answers);
    for (uint32_t i = 0; i < n; i++) {
        bool changed = store_table_apply(&c->table, &ops[i], &c->answers);
        if (ops[i].kind == META_COMPLETE && changed) {
            c->done++;
            away |= tell_children(c, server, ops[i].task);
        }
    }
    c->result->store_operations += n;
    double *free_at = &c->nodes[server].server_free;
    *free_at = (*free_at > c->now ? *free_at : c->now) + n * c->config.store_service;
    size_t heads = c->answers.at.n * sizeof *c->answers.at.at,
           items = c->answers.items.n * sizeof *c->answers.items.at;
    uint32_t index;
    struct schedulers_parcel *p = parcel_new(c, heads + items, &index);
    *p = (struct schedulers_parcel){.node = node,
                                    .server = server,
                                    .n = (uint32_t)c->answers.at.n,
                                    .nitems = (uint32_t)c->answers.items.n};
    put_bytes(p->data, c->answers.at.at, heads);
    put_bytes(p->data + heads, c->answers.items.at, items);
    schedulers_later(
        c, *free_at + (away ? 2 * c->config.latency : 0) + (server != node ? c->config.latency : 0),
        EVENT_ANSWERS, index, 0);
}

/* Operations for the same server that follow each other travel together. A server on the same node
 * costs its service but no message. */
static void send_ops(struct schedulers *c, uint32_t node)
{
    for (size_t i = 0; i < c->out.ops.n;) {
        uint32_t server = server_of(c, &c->out.ops.at[i]);
        size_t end = i + 1;
        while (end < c->out.ops.n && server_of(c, &c->out.ops.at[end]) == server)
            end++;
        uint32_t n = (uint32_t)(end - i), index;
        if (server == node) {
            server_apply(c, server, node, c->out.ops.at + i, n);
        } else {
            struct schedulers_parcel *p = parcel_new(c, n * sizeof(struct meta_op), &index);
            *p = (struct schedulers_parcel){.node = node, .server = server, .n = n};
            put_bytes(p->data, c->out.ops.at + i, n * sizeof(struct meta_op));
            schedulers_later(c, c->now + c->config.latency, EVENT_OPS, index, 0);
            c->result->store_trips++;
        }
        i = end;
    }
}

/* ---- what a scheduler wants ---- */

/* The scheduler has given a task a core: it holds it from now on, also while data are fetched. */
static void task_started(struct schedulers *c, uint32_t node, const struct sched_start *s)
{
    uint32_t run = pool_take(&c->runs);
    c->runs.all.at[run] = (struct schedulers_running){
        .task = s->task, .slot = s->slot, .node = node, .started = c->now};
    schedulers_data_need(c, run);
}

void schedulers_begin(struct schedulers *c, uint32_t run)
{
    struct schedulers_running *r = &c->runs.all.at[run];
    r->begun = c->now;
    schedulers_later(c, c->now + c->config.dispatch + workload_length(c->dag, r->task), EVENT_ENDED,
                     run, 0);
}

/* All that was gathered leaves as one parcel. */
static void send_off(struct schedulers *c)
{
    if (!c->sends.n)
        return;
    size_t heads = messages_size(c->sends.n), items = c->sent_items.n * sizeof *c->sent_items.at;
    uint32_t index;
    struct schedulers_parcel *p = parcel_new(c, heads + items, &index);
    *p = (struct schedulers_parcel){.n = (uint32_t)c->sends.n, .nitems = (uint32_t)c->sent_items.n};
    put_bytes(p->data, c->sends.at, c->sends.n * sizeof *c->sends.at);
    put_bytes(p->data + heads, c->sent_items.at, items);
    schedulers_later(c, c->now + c->config.latency, EVENT_MESSAGES, index, 0);
    c->result->messages += c->sends.n;
    c->sends.n = c->sent_items.n = 0;
}

/* Copies, since the scheduler's buffers are used again with the next event. */
static void gather_sends(struct schedulers *c)
{
    uint32_t base = (uint32_t)c->sent_items.n;
    for (size_t i = 0; i < c->out.items.n; i++)
        array_push(&c->sent_items, c->out.items.at[i]);
    for (size_t i = 0; i < c->out.sends.n; i++) {
        struct sched_message m = c->out.sends.at[i];
        m.first += base;
        array_push(&c->sends, m);
    }
    if (!c->gathering)
        send_off(c);
}

/* One event for one scheduler, and everything that it wants done about it. */
static void scheduler_handle(struct schedulers *c, uint32_t node, struct sched_event *e)
{
    struct sched_actions *out = &c->out;
    e->now = c->now;
    sched_handle(c->nodes[node].sched, e, out);
    if (out->sends.n)
        gather_sends(c);
    for (size_t i = 0; i < out->timers.n; i++)
        schedulers_later(c, fmax(out->timers.at[i].when, c->now), EVENT_TIMER,
                         out->timers.at[i].mark, node << 3 | out->timers.at[i].kind);
    send_ops(c, node);
    bool started = out->starts.n > 0;
    for (size_t i = 0; i < out->starts.n; i++)
        task_started(c, node, &out->starts.at[i]);
    sched_actions_clear(out);
    /* only a start changes what comes next */
    if (started && c->has_data && c->config.prefetch)
        schedulers_data_ahead(c, node);
}

/* ---- events ---- */

/* The next tasks of a node's share: PUT by the client, then told to the scheduler. */
static void submit_share(struct schedulers *c, uint32_t node)
{
    struct schedulers_node *n = &c->nodes[node];
    uint32_t tasks[SUBMIT_CHUNK], count = 0;
    while (count < SUBMIT_CHUNK) {
        if (n->share.first >= n->share.end) {
            if (!workload_share(c->dag, c->config.submit, c->config.nodes, node, n->range,
                                &n->share))
                break;
            n->range++;
            continue;
        }
        uint32_t task = workload_task(c->dag, c->config.submit, n->share.first);
        struct meta_op put = {.kind = META_PUT, .task = task, .node = node, .time = c->now};
        store_table_apply(&c->table, &put, NULL);
        tasks[count++] = task;
        uint64_t next = (uint64_t)n->share.first + n->share.step;
        n->share.first = next < n->share.end ? (uint32_t)next : n->share.end;
    }
    if (!count && c->now > 0)
        return; /* at the start even those without a share get word, and go stealing */
    struct sched_event e = {.kind = SCHED_EVENT_SUBMIT};
    e.submit.tasks = tasks;
    e.submit.n = count;
    scheduler_handle(c, node, &e);
    if (count)
        schedulers_later(c, fmax(n->server_free, c->now + count * c->config.store_service),
                         EVENT_SUBMIT, node, 0);
}

/* The core is free: account for it, then say so to its scheduler. */
static void task_ended(struct schedulers *c, uint32_t run)
{
    struct schedulers_running r = c->runs.all.at[run];
    pool_give(&c->runs, run);
    account_cores(c, c->result->fetching, r.started, r.begun);
    account_cores(c, c->result->running, r.begun, c->now);
    c->result->waited += r.begun - r.started;
    struct sched_ended e = {
        .task = r.task, .slot = r.slot, .start = r.begun, .finish = c->now, .fetched = r.fetched};
    struct sched_event event = {.kind = SCHED_EVENT_ENDED};
    event.ended.at = &e;
    event.ended.n = 1;
    scheduler_handle(c, r.node, &event);
}

/* A round of stealing asks hundreds of schedulers that nobody has touched for long: bring the next
 * ones near while this one works. */
static void prefetch_schedulers(const struct schedulers *c, const struct sched_message *heads,
                                uint32_t i, uint32_t n)
{
    if (i + 8 < n)
        __builtin_prefetch(&c->nodes[heads[i + 8].to]);
    if (i + 4 >= n)
        return;
    const char *sched = (const char *)c->nodes[heads[i + 4].to].sched;
    for (int line = 0; line < 12; line++)
        __builtin_prefetch(sched + 64 * line);
}

/* All messages that left together arrive together. */
static void parcel_delivered(struct schedulers *c, uint32_t index)
{
    struct schedulers_parcel *p = parcel_at(c, index);
    const struct sched_message *heads = (const void *)p->data;
    const struct meta_item *items = (const void *)(p->data + messages_size(p->n));
    c->gathering = true;
    for (uint32_t i = 0; i < p->n; i++) {
        prefetch_schedulers(c, heads, i, p->n);
        struct sched_event e = {.kind = SCHED_EVENT_MESSAGE};
        e.message.head = &heads[i];
        e.message.items = items + heads[i].first;
        scheduler_handle(c, heads[i].to, &e);
    }
    c->gathering = false;
    send_off(c);
    parcel_free(c, index);
}

/* Take the next event; layout of its value: kind in the top 4 bits, b in 28, a in 32. */
static void schedulers_step(struct schedulers *c)
{
    struct queue_item next = queue_pop(&c->queue);
    uint32_t a = (uint32_t)next.value, b = (uint32_t)(next.value >> 32) & 0xFFFFFFF;
    struct sched_event e = {0};
    c->now = next.key;
    c->result->events++;
    switch ((enum schedulers_event)(next.value >> 60)) {
    case EVENT_SUBMIT:
        submit_share(c, a);
        break;
    case EVENT_TIMER:
        e.kind = SCHED_EVENT_TIMER;
        e.timer.kind = b & 7;
        e.timer.mark = a;
        scheduler_handle(c, b >> 3, &e);
        break;
    case EVENT_ENDED:
        task_ended(c, a);
        break;
    case EVENT_MESSAGES:
        parcel_delivered(c, a);
        break;
    case EVENT_OPS: {
        struct schedulers_parcel *p = parcel_at(c, a);
        server_apply(c, p->server, p->node, (const void *)p->data, p->n);
        parcel_free(c, a);
        break;
    }
    case EVENT_ANSWERS: {
        struct schedulers_parcel *p = parcel_at(c, a);
        e.kind = SCHED_EVENT_STORE;
        e.store = (struct meta_answers){
            .at = (const void *)p->data,
            .n = p->n,
            .items = (const void *)(p->data + p->n * sizeof(struct meta_answer))};
        scheduler_handle(c, p->node, &e);
        parcel_free(c, a);
        break;
    }
    case EVENT_ARRIVES:
        schedulers_data_arrives(c, a);
        break;
    case EVENT_FETCHED:
        schedulers_data_fetched(c, a);
        break;
    }
}

/* ---- a run ---- */

/* Also when it is negative or not a number. */
static void default_when_zero(double *field, double value)
{
    if (!(*field > 0))
        *field = value;
}

/* Fill in defaults. Node numbers share 28 bits of an event with a timer's kind (3): 24 are used. */
static bool check_config(struct schedulers_config *c, struct error *err)
{
    c->nodes = c->nodes ? c->nodes : 1;
    c->cores = c->cores ? c->cores : 2;
    c->servers = c->servers && c->servers < c->nodes ? c->servers : c->nodes;
    c->prefetch = c->prefetch == SCHEDULERS_NO_PREFETCH ? 0 : c->prefetch ? c->prefetch : 2;
    c->factor = c->factor ? c->factor : 4;
    default_when_zero(&c->memory, INFINITY);
    default_when_zero(&c->t, 0.5);
    default_when_zero(&c->tt, 10);
    default_when_zero(&c->steal_bound, 50);
    default_when_zero(&c->bandwidth, 125e6);
    default_when_zero(&c->latency, 100e-6);
    default_when_zero(&c->store_service, 10e-6);
    if (!(c->dispatch > 0))
        c->dispatch = 0;
    if (!(c->cache < 0))
        default_when_zero(&c->cache, 8e9);
    if (c->nodes > 1u << 24 || (uint64_t)c->nodes * c->cores > UINT32_MAX)
        return error_set(err, ERROR_INPUT, "%u schedulers of %u cores; at most %u schedulers",
                         c->nodes, c->cores, 1u << 24);
    return true;
}

/* Input files stand on their nodes before anything begins: as copies in the store's table. */
static void place_files(struct schedulers *c)
{
    const struct workload *d = c->dag;
    uint32_t first = d->workflow ? 0 : d->ntasks;
    if (d->workflow ? !d->workflow->input_off : d->nobjects == d->ntasks)
        return;
    for (uint32_t o = first; o < d->nobjects; o++)
        if (!d->workflow || d->workflow->producer[o] == NONE) {
            struct meta_op copy = {.kind = META_COPY,
                                   .status = 1,
                                   .task = o,
                                   .node = workload_file_node(d, o, c->config.nodes)};
            store_table_apply(&c->table, &copy, NULL);
        }
}

/* What a node has; the workflow's attributes are nobody's here, things are the same everywhere. */
static struct capacity node_capacity(const struct schedulers_config *k, uint32_t node)
{
    uint32_t factor = node < k->large ? k->factor : 1;
    struct capacity c = {.cores = k->cores * factor, .memory = k->memory * factor};
    if (k->dag && k->dag->workflow && k->dag->workflow->asks)
        capacity_set_things(&c, k->dag->workflow, k->resources);
    return c;
}

uint32_t schedulers_cores(const struct schedulers *c, uint32_t node)
{
    return node_capacity(&c->config, node).cores;
}

/* Is there a node for each task? Benchmarks ask for one core each. */
static bool check_fits(const struct schedulers_config *k, struct error *err)
{
    static const struct capacity_words words = {.where = "the nodes",
                                                .before = "simulate",
                                                .after = "",
                                                .nodes = "simulate more --schedulers",
                                                .things = "with --set resources="};
    const struct workflow *w = k->dag->workflow;
    if (!w)
        return true;
    /* a large and a small one are enough, unless tasks span several */
    uint32_t n = w->nodes ? k->nodes : 2;
    struct capacity *there = mem_new(struct capacity, n);
    for (uint32_t i = 0; i < n; i++)
        there[i] = node_capacity(k, i + 1 < n ? i : k->nodes - 1);
    struct capacity_misfits misfits = capacity_find_misfits(w, NULL, there, n);
    bool good = !misfits.count || capacity_refuse(w, &misfits, there, n, &words, err);
    free(there);
    return good;
}

/* Tables, files, one scheduler a node. `mean` is what a scheduler takes for the length of a task
 * that it knows nothing of. */
static void open_cluster(struct schedulers *c, double mean)
{
    const struct schedulers_config *k = &c->config;
    c->has_data = workload_has_data(c->dag);
    c->nodes = mem_new_zero(struct schedulers_node, k->nodes);
    if (c->dag->workflow)
        store_table_init(&c->table, c->dag->workflow);
    else
        store_table_init_graph(&c->table, &c->dag->graph);
    place_files(c);
    struct capacity *capacity = k->large ? mem_new(struct capacity, k->nodes) : NULL;
    for (uint32_t n = 0; capacity && n < k->nodes; n++)
        capacity[n] = node_capacity(k, n);
    for (uint32_t n = 0; n < k->nodes; n++) {
        struct sched_config s = {.node = n,
                                 .nodes = k->nodes,
                                 .seed = k->seed,
                                 .cores = node_capacity(k, n).cores,
                                 .memory = node_capacity(k, n).memory,
                                 .capacity = capacity,
                                 .policy = k->policy,
                                 .t = k->t,
                                 .tt = k->tt,
                                 .bandwidth = k->bandwidth,
                                 .default_length = mean,
                                 .share_local = !k->rigid_steal,
                                 .adapt_policy = k->adapt,
                                 .adapt_tt = k->adapt,
                                 .steal_bound = k->steal_bound,
                                 /* a reply takes two latencies here: never reached */
                                 .reply_timeout = 5,
                                 .wait_poll = -1}; /* no word is lost here */
        if (c->dag->workflow) {
            s.task_cores = c->dag->workflow->cores;
            s.task_nodes = c->dag->workflow->nodes;
            s.task_asks = c->dag->workflow->asks;
            s.amount = c->dag->workflow->amount;
            struct capacity there = node_capacity(k, n);
            s.things = there.things;
            memcpy(s.thing, there.thing, sizeof s.thing);
            s.task_memory = isfinite(k->memory) ? c->dag->workflow->memory : NULL;
        }
        c->nodes[n].sched = sched_new(&s);
        schedulers_later(c, 0, EVENT_SUBMIT, n, 0);
    }
    free(capacity);
}

/* Collect what the schedulers counted, then free everything. */
static void close_cluster(struct schedulers *c)
{
    struct schedulers_result *r = c->result;
    r->memory = store_table_bytes(&c->table) + c->queue.cap * sizeof *c->queue.at;
    for (uint32_t n = 0; n < c->config.nodes; n++) {
        struct sched_counts counts;
        sched_snapshot(c->nodes[n].sched, &counts);
        r->steals += counts.steals;
        r->failed_steals += counts.failed_steals;
        r->stolen += counts.stolen;
        r->pushed += counts.pushed;
        r->relaxed += counts.relaxed;
        r->policies[counts.policy]++;
        r->memory += sched_bytes(c->nodes[n].sched) + sizeof *c->nodes;
        sched_free(c->nodes[n].sched);
        schedulers_cache_free(&c->nodes[n].cache);
    }
    free(c->nodes);
    store_table_free(&c->table);
    answers_free(&c->answers);
    queue_free(&c->queue);
    sched_actions_free(&c->out);
    array_free(&c->sends);
    array_free(&c->sent_items);
    for (size_t i = 0; i < c->parcels.all.n; i++)
        free(c->parcels.all.at[i]);
    array_free(&c->parcels.all);
    array_free(&c->parcels.unused);
    array_free(&c->runs.all);
    array_free(&c->runs.unused);
    array_free(&c->fetches.all);
    array_free(&c->fetches.unused);
    array_free(&c->waiters.all);
    array_free(&c->waiters.unused);
    free(c->copies);
    free(c->flying);
}

bool schedulers_run(const struct schedulers_config *config, struct schedulers_result *out,
                    struct error *err)
{
    struct schedulers c = {.config = *config, .dag = config->dag, .result = out};
    *out = (struct schedulers_result){.tasks = config->dag->ntasks, .bin_width = 1e-3};
    if (!check_config(&c.config, err) || !check_fits(&c.config, err))
        return false;
    double mean = workload_mean_length(c.dag);
    out->work = mean * c.dag->ntasks;
    open_cluster(&c, mean);
    bool stopped = false;
    while (c.done < c.dag->ntasks && c.queue.n && !stopped) {
        schedulers_step(&c);
        if (out->events % PROGRESS_EVERY == 0) {
            char what[64];
            snprintf(what, sizeof what, "%llu tasks done at %.3g s", (unsigned long long)c.done,
                     c.now);
            stopped = !progress_report(c.config.progress, (double)c.done / c.dag->ntasks, what);
        }
    }
    uint32_t large = c.config.large < c.config.nodes ? c.config.large : c.config.nodes;
    double cores =
        ((double)c.config.nodes + (double)large * (c.config.factor - 1)) * c.config.cores;
    uint64_t left = c.dag->ntasks - c.done;
    out->makespan = c.now;
    out->efficiency = c.now > 0 ? out->work / cores / c.now : 1;
    out->throughput = c.now > 0 ? c.dag->ntasks / c.now : 0;
    out->remote_reads = out->reads - out->local_reads;
    out->hit_rate =
        out->remote_reads > out->transfers ? 1 - (double)out->transfers / out->remote_reads : 0;
    out->nbins = (uint32_t)fmin(SCHEDULERS_BINS, ceil(c.now / out->bin_width));
    close_cluster(&c);
    if (stopped)
        return error_set(err, ERROR_FAILED, "stopped");
    if (left)
        return error_set(err, ERROR_FAILED, "%llu tasks were not done and nothing is left to do",
                         (unsigned long long)left);
    return true;
}
