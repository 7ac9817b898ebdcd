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
#include "base/prefetch.h"
#include "sim/schedulers_state.h"
#include <math.h>
#include <stdio.h>

#define SUBMIT_CHUNK 64 /* tasks a submission message; bounds what is on its way at the start */

/* ---- cores over time ---- */

/* Add [from, to] to a histogram of fixed length whose bins double in width when time runs past its
 * end: bounded memory and O(bins) a doubling, whatever the makespan will be. */
static void account_cores(struct schedulers *c, double *bins, double from, double to,
                          uint32_t cores)
{
    struct schedulers_result *r = c->total;
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
        bins[i < SCHEDULERS_BINS ? i : SCHEDULERS_BINS - 1] += cores * (end - from);
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
    uint32_t home =
        op->task < c->dag->ntasks ? workload_home(c->dag, &c->division, op->task) : op->node;
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
        double *free_at = &c->links[other].server_free;
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
            if (c->growth)
                schedulers_growth_done(c, ops[i].task, node);
            away |= tell_children(c, server, ops[i].task);
        }
    }
    c->result->store_operations += n;
    double *free_at = &c->links[server].server_free;
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

void schedulers_asked(struct schedulers *c, uint32_t node, uint32_t task)
{
    uint32_t server = server_of(c, &(struct meta_op){.task = task, .node = node});
    double *free_at = &c->links[server].server_free;
    *free_at = fmax(*free_at, c->now) + c->config.store_service;
    c->result->store_operations++;
    c->result->store_trips += server != node;
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
    if (c->rooms)
        schedulers_room_wait(c, run);
    else
        schedulers_data_need(c, run);
}

void schedulers_begin(struct schedulers *c, uint32_t run)
{
    struct schedulers_running *r = &c->runs.all.at[run];
    double length =
        c->costs ? costs_time(c->costs, r->task, schedulers_platform_node(&c->config, r->node))
                 : workload_length(c->dag, r->task);
    r->begun = c->now;
    schedulers_later(c, c->now + c->config.dispatch + length, EVENT_ENDED, run, 0);
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
    for (size_t i = 0; i < out->parts.n;
         i++) /* of a run alone there are none: nobody else is there */
        schedulers_room_part(c, node, &out->parts.at[i]);
    for (size_t i = 0; c->has_data && c->config.prefetch && i < out->looks.n; i++)
        schedulers_data_look(c, node, out->looks.at[i]);
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
            if (!workload_share(c->dag, &c->division, node, n->range, &n->share))
                break;
            n->range++;
            continue;
        }
        uint32_t task = workload_task(c->dag, c->config.submit, n->share.first);
        uint64_t next = (uint64_t)n->share.first + n->share.step;
        n->share.first = next < n->share.end ? (uint32_t)next : n->share.end;
        if (!schedulers_is_first(c, task))
            continue; /* it joins later */
        struct meta_op put = {.kind = META_PUT, .task = task, .node = node, .time = c->now};
        store_table_apply(&c->table, &put, NULL);
        tasks[count++] = task;
    }
    if (!count && c->now > c->at)
        return; /* at the start even those without a share get word, and go stealing */
    struct sched_event e = {.kind = SCHED_EVENT_SUBMIT};
    e.submit.tasks = tasks;
    e.submit.n = count;
    scheduler_handle(c, node, &e);
    if (count)
        schedulers_later(c,
                         fmax(c->links[node].server_free, c->now + count * c->config.store_service),
                         EVENT_SUBMIT, node, 0);
}

/* The core is free: account for it, then say so to its scheduler. */
static void task_ended(struct schedulers *c, uint32_t run)
{
    struct schedulers_running r = c->runs.all.at[run];
    pool_give(&c->runs, run);
    uint32_t cores = c->dag->workflow ? c->dag->workflow->cores[r.task] : 1;
    account_cores(c, c->total->fetching, r.started, r.begun, cores);
    account_cores(c, c->total->running, r.begun, c->now, cores);
    c->result->waited += r.begun - r.started;
    if (c->rooms)
        schedulers_room_leave(c, &r);
    struct sched_ended e = {
        .task = r.task, .slot = r.slot, .start = r.begun, .finish = c->now, .fetched = r.fetched};
    struct sched_event event = {.kind = SCHED_EVENT_ENDED};
    event.ended.at = &e;
    event.ended.n = 1;
    scheduler_handle(c, r.node, &event);
    if (c->rooms)
        schedulers_room_advance(c, r.node);
}

/* A round of stealing asks hundreds of schedulers that nobody has touched for long: bring the next
 * ones near while this one works. */
static void prefetch_schedulers(const struct schedulers *c, const struct sched_message *heads,
                                uint32_t i, uint32_t n)
{
    if (i + 8 < n)
        prefetch_read(&c->nodes[heads[i + 8].to]);
    if (i + 4 >= n)
        return;
    const char *sched = (const char *)c->nodes[heads[i + 4].to].sched;
    for (int line = 0; line < 12; line++)
        prefetch_read(sched + 64 * line);
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
        double owed = c->links[heads[i].to].out_free - c->now;
        e.sending = owed > 0 ? owed * c->config.bandwidth : 0;
        scheduler_handle(c, heads[i].to, &e);
    }
    c->gathering = false;
    send_off(c);
    parcel_free(c, index);
}

/* Take the next event; layout of its value: kind in the top 4 bits, b in 28, a in 32. */
void schedulers_step(struct schedulers *c)
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
    case EVENT_ROOM:
        e.kind = SCHED_EVENT_ROOM;
        e.room = c->told.at[a];
        scheduler_handle(c, b, &e);
        schedulers_room_advance(c, b);
        break;
    case EVENT_JOIN:
        schedulers_grow(c);
        schedulers_growth_submit(c, a, b, &e);
        scheduler_handle(c, b, &e);
        break;
    }
}
