/* A plan carried out in virtual time: tasks in the planned order on their cores, each as soon as
 * its data and all its cores are there, transfers under a network model, nodes that fail and come
 * back.
 *
 *   placement:   waits for data and cores ──▶ runs ──▶ done
 *                     ▲                        │
 *                     └── its node fails ──────┘ (what arrived stays on its disk)
 *
 * I1. A placement starts when demands.missing and core_missing are both 0 and its node is up. Each
 *     reaches 0 once, so whoever lowers the last counter starts it: nobody searches.
 * I2. lanes.head of every core is the placement that runs on it or waits for it; only the end of
 *     that placement moves it on.
 * I3. An end event carries the number of losses at its start: ends of runs that were lost are old
 *     and ignored, so nothing needs to be taken out of the queue.
 *     So are ends that a change of the node's speed put elsewhere (turns).
 * I4. Events of one instant are handled before the network settles, and ties go by order of entry:
 *     the same input gives the same run to the bit.
 *
 * O((placements + transfers) log) without faults; a failure costs the cores of its node and one
 * look over all messages. */
#include "sim/replay.h"
#include "base/bitset.h"
#include "base/clock.h"
#include "model/costs.h"
#include "sim/replay_state.h"
#include <string.h>

/* A task may be lost this often before we say that it will never get through. */
enum { MOST_LOSSES = 1000 };
/* In cause[]: the placement that let this one start did so by its data, not by giving up a core. */
enum { CAUSE_DATA = 1u << 31 };

void replay_options_init(struct replay_options *o)
{
    *o = (struct replay_options){.seed = 1, .repair = INFINITY};
}

/* Ports in the plan or the platform are there to be kept; without any, nobody counted on
 * contention. */
const char *replay_network(const struct plan *plan, const struct platform *p)
{
    return plan->ports || platform_limits_ports(p) ? "kport" : "free";
}

/* ---- starting and ending tasks ---- */

/* The memory of a node rises or falls; `by` is the placement that is named when it is too much. */
static void change_memory(struct replay *r, uint32_t node, double bytes, uint32_t by)
{
    struct replay_result *out = r->result;
    if (bytes == 0)
        return;
    double now = r->engine.now, level = r->memory[node] += bytes;
    if (level > out->node_peak[node]) {
        out->node_peak[node] = level;
        out->node_peak_time[node] = now;
    }
    /* sums that went up and down are rounded */
    double limit = r->limit ? r->limit[node] : r->platform->memory[node];
    if (bytes > 0 && level > limit * (1 + 1e-9)) {
        out->exceeded_last = now;
        if (out->node_exceeded_by[node] == NONE) {
            out->node_exceeded_by[node] = by;
            out->node_limit[node] = limit;
        }
    }
    if (r->trace) {
        struct trace_event e = {.kind = TRACE_COUNTER,
                                .id = COUNTER_MEMORY,
                                .node = node,
                                .start = now,
                                .finish = now,
                                .amount = level};
        r->trace->event(r->trace->context, &e);
    }
}

/* Where files count the plan is followed by the clock: what begins early could be one file too many. */
static bool replay_early(const struct replay *r, double planned)
{
    return r->files && isfinite(planned) && planned > r->engine.now * (1 + 1e-12) + 1e-12;
}

/* I3: which end of the placement counts. */
static uint64_t replay_attempt(const struct replay *r, uint32_t i)
{
    return (uint64_t)(r->losses ? r->losses[i] : 0) + (r->turns ? r->turns[i] : 0);
}

/* Takes the cores (they are free by I1), the memory, and notes how long it waited for what. Its things are
 * its own already. */
static void begin_task(struct replay *r, uint32_t i)
{
    const struct placement *x = &r->plan->placements.at[i];
    double now = r->engine.now;
    struct replay_result *out = r->result;
    /* Until here start[] tells when its cores became free (or it was lost). */
    if (r->losses && r->losses[i])
        out->wait_node += now - out->start[i];
    else {
        if (out->data_ready[i] > out->start[i])
            out->wait_data += out->data_ready[i] - out->start[i];
        out->wait_node += now - out->data_ready[i];
    }
    out->start[i] = now;
    r->running++;
    bitset_set(r->is_running, i);
    engine_at(&r->engine, now + r->duration[i], EVENT_DONE, replay_attempt(r, i) << 32 | i);
    double bytes = r->files ? replay_files_start(r->files, i) : 0;
    change_memory(r, x->node, r->workflow->memory[x->task] + bytes, i);
}

/* Now, or when it may have its things. */
static void start_task(struct replay *r, uint32_t i)
{
    if (!r->things || replay_things_take(r->things, i))
        begin_task(r, i);
}

/* Things of the node have come back, or the next in a row has had its turn: who waits may go on. */
static void start_waiting(struct replay *r, uint32_t node, uint32_t cause)
{
    for (uint32_t i; r->things && (i = replay_things_next(r->things, node)) != NONE;) {
        r->cause[i] = cause;
        begin_task(r, i);
    }
}

/* A task that ended (0) or was lost (1). */
static void trace_task(const struct replay *r, uint32_t i, int outcome)
{
    if (!r->trace)
        return;
    const struct placement *x = &r->plan->placements.at[i];
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = x->task,
                            .node = x->node,
                            .lane = x->core,
                            .copy = x->copy,
                            .start = r->result->start[i],
                            .finish = r->engine.now,
                            .outcome = outcome};
    r->trace->event(r->trace->context, &e);
}

static bool is_first_in_lanes(const struct replay *r, uint32_t i)
{
    return r->core_missing[i] == 0;
}

/* `cause` is whoever took away the last obstacle; follow_chain() goes back along it. A node that is
 * down starts what is ready when it is repaired. */
static void start_if_ready(struct replay *r, uint32_t i, uint32_t cause)
{
    if (r->demands.missing[i] || !is_first_in_lanes(r, i))
        return;
    r->cause[i] = cause;
    if (replay_early(r, r->plan->placements.at[i].start)) {
        r->timed++;
        engine_at(&r->engine, r->plan->placements.at[i].start, EVENT_START, i);
        return;
    }
    if (!r->down || !bitset_get(r->down, r->plan->placements.at[i].node)) {
        start_task(r, i);
        start_waiting(r, r->plan->placements.at[i].node, cause);
    }
}

/* One input fewer is missing at placement i. */
static void give_data(struct replay *r, uint32_t i, uint32_t producer)
{
    if (--r->demands.missing[i] == 0) {
        r->result->data_ready[i] = r->engine.now;
        start_if_ready(r, i, producer | CAUSE_DATA);
    }
}

static void send_demand(struct replay *r, uint32_t x, uint32_t from);

/* The object is on the node: everybody there who waits for it gets it, and relays pass it on. An
 * object that two copies bring counts once. */
static void demand_met(struct replay *r, uint32_t x, uint32_t producer)
{
    struct demands *d = &r->demands;
    if (d->state[x] == DEMAND_ARRIVED)
        return;
    d->state[x] = DEMAND_ARRIVED;
    uint32_t object = d->at[x].object, node = d->at[x].node;
    uint32_t end = x + 1 < d->n ? d->at[x + 1].first : d->nwaiters;
    for (uint32_t k = d->at[x].first; k < end; k++)
        give_data(r, d->waiters[k], producer);
    if (d->relayed && bitset_get(d->relayed, object))
        for (uint32_t y = d->off[object]; y < d->off[object + 1]; y++)
            if (d->at[y].source == node && y != x && d->state[y] == DEMAND_IDLE)
                send_demand(r, y, node);
}

static bool is_down(const struct replay *r, uint32_t node)
{
    return r->down && bitset_get(r->down, node);
}

/* Messages from or to a node that is down wait for its repair. An impossible one (no network
 * between the two) is remembered for the explanation of the standstill that will follow. */
static void send_demand(struct replay *r, uint32_t x, uint32_t from)
{
    struct demands *d = &r->demands;
    struct demand *demand = &d->at[x];
    d->state[x] = DEMAND_SENT;
    demand->source = from;
    double leaves = r->files && d->priority && replay_early(r, d->priority[x]) ? d->priority[x] : 0;
    if (r->hold && r->hold[x] > leaves)
        leaves = r->hold[x];
    if (leaves > r->engine.now) {
        r->timed++;
        engine_at(&r->engine, leaves, EVENT_SEND, x);
        return;
    }
    if (is_down(r, from) || is_down(r, demand->node)) {
        array_push(&r->postponed, x);
        return;
    }
    /* under kport: by the planned start of the transfer; one that the plan does not state, by the
     * planned end of its producer */
    double priority = d->priority ? d->priority[x] : 0;
    if (priority == INFINITY)
        priority = r->plan->placements.at[demands_copy(d, r->workflow->producer[demand->object], 0)]
                       .finish;
    if (r->files)
        change_memory(r, demand->node, replay_files_sent(r->files, x),
                      demands_copy(d, r->workflow->producer[demand->object], 0));
    if (!network_send(r->network, r->engine.now, from, demand->node,
                      r->workflow->size[demand->object], priority, x))
        array_push(&r->impossible, x);
}

/* One thing fewer that every copy of the task waits for. */
static void end_wait(struct replay *r, uint32_t task, uint32_t cause)
{
    const struct demands *d = &r->demands;
    for (uint32_t c = d->copy_off[task]; c < d->copy_off[task + 1]; c++)
        give_data(r, d->copy[c], cause);
}

/* Placement i is done: its objects go where they are needed, its followers may start. */
static void finish_task(struct replay *r, uint32_t i)
{
    const struct placement *x = &r->plan->placements.at[i];
    const struct workflow *w = r->workflow;
    struct demands *d = &r->demands;
    struct replay_result *out = r->result;
    uint32_t t = x->task;
    out->finish[i] = r->engine.now;
    r->running--;
    r->left--;
    uint32_t done = out->nplacements - r->left;
    if (done % REPLAY_STRIDE == 0)
        replay_look_ahead(r, done);
    bitset_clear(r->is_running, i);
    if (r->things)
        replay_things_give(r->things, i);
    trace_task(r, i, 0);
    change_memory(r, x->node, -w->memory[t] - (r->files ? replay_files_end(r->files, i) : 0), i);

    /* an ordering edge is fulfilled by the first copy of the task that ends, and only once */
    bool first_copy = true;
    if (d->copy_off[t + 1] - d->copy_off[t] > 1) {
        first_copy = !bitset_get(r->task_done, t);
        bitset_set(r->task_done, t);
    }
    uint32_t first = d->off[w->object_off[t]], end = d->off[w->object_end[t]];
    for (uint32_t y = first; y < end; y++) {
        if (d->at[y].node == x->node)
            demand_met(r, y, i);
        else if (d->state[y] == DEMAND_IDLE &&
                 (d->at[y].source == x->node || d->at[y].source == NONE))
            send_demand(r, y, x->node);
    }
    if (first_copy)
        for (uint32_t e = w->succ_off[t + 1]; e-- > w->succ_off[t] && w->succ_object[e] == NONE;)
            for (uint32_t c = d->copy_off[w->succ_task[e]]; c < d->copy_off[w->succ_task[e] + 1];
                 c++)
                give_data(r, d->copy[c], i);

    if (first_copy && r->wait_off)
        for (uint32_t k = r->wait_off[t]; k < r->wait_off[t + 1]; k++)
            end_wait(r, r->waiter[k], i);

    /* its cores go to whoever is next on each of them */
    uint32_t lane = r->lanes.node_first[x->node] + x->core;
    for (uint32_t c = 0; c < w->cores[t]; c++) {
        size_t next = ++r->lanes.head[lane + c];
        if (next < r->lanes.off[lane + c + 1]) {
            uint32_t follower = r->lanes.placement[next];
            if (--r->core_missing[follower] == 0) {
                out->start[follower] = r->engine.now;
                start_if_ready(r, follower, i);
            }
        }
    }
    start_waiting(r, x->node, i);
}

/* ---- faults ---- */

/* A message that the failure of a node took off the network; it asks again when the node is back.
 */
static void replay_postpone(void *context, uint64_t tag)
{
    struct replay *r = context;
    array_push(&r->postponed, (uint32_t)tag);
}

/* The node failed under a running task: its time is lost, its memory free, it will start over. */
static bool lose_task(struct replay *r, uint32_t i, struct error *err)
{
    const struct placement *x = &r->plan->placements.at[i];
    struct replay_result *out = r->result;
    array_push(&out->lost_runs, (struct lost_run){i, out->start[i], r->engine.now});
    out->tasks_lost++;
    out->lost += (r->engine.now - out->start[i]) * r->workflow->cores[x->task];
    if (r->things)
        replay_things_give(r->things, i);
    r->running--;
    bitset_clear(r->is_running, i);
    trace_task(r, i, 1);
    change_memory(r, x->node,
                  -r->workflow->memory[x->task] - (r->files ? replay_files_lost(r->files, i) : 0),
                  i);
    out->start[i] = r->engine.now;
    if (++r->losses[i] >= MOST_LOSSES)
        return error_set(err, ERROR_FAILED,
                         "task '%s' was lost %d times on node '%s': it takes %g s and the node "
                         "fails every %g s on average",
                         workflow_task_name(r->workflow, x->task), MOST_LOSSES,
                         platform_node_name(r->platform, x->node), r->duration[i],
                         r->options->mtbf);
    return true;
}

/* False: some task has been lost so often that it will never get through. */
static bool fail_node(struct replay *r, uint32_t node, double repair, struct error *err)
{
    double back = r->engine.now + repair;
    struct replay_result *out = r->result;
    out->failures++;
    /* the repair that was announced earlier is then too early, and repair_node() ignores it */
    if (bitset_get(r->down, node)) { /* fails again while down: back later */
        if (back > r->back[node]) {
            r->back[node] = back;
            for (size_t i = out->outages.n; i-- > 0;)
                if (out->outages.at[i].node == node) {
                    out->outages.at[i].finish = back;
                    break;
                }
            if (back < INFINITY)
                engine_at(&r->engine, back, EVENT_REPAIR, node);
        }
        return true;
    }
    bitset_set(r->down, node);
    r->back[node] = back;
    array_push(&out->outages, (struct outage){node, r->engine.now, back});
    if (back < INFINITY) {
        engine_at(&r->engine, back, EVENT_REPAIR, node);
        r->repairs++;
    }
    if (r->things)
        replay_things_down(r->things, node);
    network_cancel(r->network, r->engine.now, node, replay_postpone, r);
    for (uint32_t lane = r->lanes.node_first[node]; lane < r->lanes.node_first[node + 1]; lane++) {
        size_t head = r->lanes.head[lane];
        if (head < r->lanes.off[lane + 1] && bitset_get(r->is_running, r->lanes.placement[head]) &&
            !lose_task(r, r->lanes.placement[head], err))
            return false;
    }
    return true;
}

/* Unless another failure put the repair off. What was ready meanwhile starts now, and with random
 * failures the next one is drawn. */
static void repair_node(struct replay *r, uint32_t node)
{
    if (!r->down || !bitset_get(r->down, node) || r->engine.now < r->back[node])
        return;
    bitset_clear(r->down, node);
    r->repairs--;
    if (r->trace)
        for (size_t i = r->result->outages.n; i-- > 0;)
            if (r->result->outages.at[i].node == node) {
                r->trace->event(r->trace->context,
                                &(struct trace_event){.kind = TRACE_FAULT,
                                                      .id = node,
                                                      .node = node,
                                                      .start = r->result->outages.at[i].start,
                                                      .finish = r->engine.now});
                break;
            }
    /* Messages that waited for it ask again, in the order in which they were postponed. */
    size_t kept = 0, n = r->postponed.n;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = r->postponed.at[i];
        struct demand *demand = &r->demands.at[x];
        if (is_down(r, demand->source) || is_down(r, demand->node))
            r->postponed.at[kept++] = x;
        else if (r->demands.state[x] == DEMAND_SENT)
            send_demand(r, x, demand->source);
    }
    r->postponed.n = kept;
    for (uint32_t lane = r->lanes.node_first[node]; lane < r->lanes.node_first[node + 1]; lane++) {
        size_t head = r->lanes.head[lane];
        if (head == r->lanes.off[lane + 1])
            continue;
        uint32_t i = r->lanes.placement[head];
        if (!bitset_get(r->is_running, i) && !r->demands.missing[i] && is_first_in_lanes(r, i))
            start_task(r, i);
    }
    start_waiting(r, node, NONE);
    if (r->options->mtbf > 0)
        engine_at(&r->engine, r->engine.now + rng_exponential(&r->engine.rng, r->options->mtbf),
                  EVENT_FAIL_AGAIN, node);
}

/* ---- changes ---- */

/* What runs there has done a part of its work at the old speed and does the rest at the new one; what comes later does
 * all of it so. Memory that shrinks under tasks that run is theirs until they end: the next that starts is asked. */
static void change_node(struct replay *r, const struct node_change *c)
{
    double now = r->engine.now;
    if (!isnan(c->memory))
        r->limit[c->node] = c->memory;
    r->result->node_limit[c->node] = r->limit[c->node];
    if (isnan(c->speed))
        return;
    double factor = r->speed[c->node] / c->speed;
    r->speed[c->node] = c->speed;
    for (uint32_t i = 0; i < r->plan->placements.n; i++) {
        if (r->plan->placements.at[i].node != c->node || !isnan(r->result->finish[i]))
            continue;
        if (!bitset_get(r->is_running, i)) {
            r->duration[i] *= factor;
            continue;
        }
        double done = now - r->result->start[i], left = (r->duration[i] - done) * factor;
        r->duration[i] = done + left;
        r->turns[i]++;
        engine_at(&r->engine, now + left, EVENT_DONE, replay_attempt(r, i) << 32 | i);
    }
}

/* ---- the run ---- */

static bool replay_handle_event(struct replay *r, struct event e, struct error *err)
{
    switch ((enum replay_event)e.kind) {
    case EVENT_DONE: {
        uint32_t i = (uint32_t)e.payload;
        if (replay_attempt(r, i) == e.payload >> 32)
            finish_task(r, i);
        return true;
    }
    case EVENT_FAIL:
        return fail_node(r, r->options->faults[e.payload].node,
                         r->options->faults[e.payload].repair, err);
    case EVENT_FAIL_AGAIN:
        return fail_node(r, (uint32_t)e.payload, r->options->repair, err);
    case EVENT_REPAIR:
        repair_node(r, (uint32_t)e.payload);
        return true;
    case EVENT_CHANGE:
        change_node(r, &r->options->changes[e.payload]);
        return true;
    case EVENT_START: {
        /* a repair may have started it already */
        uint32_t i = (uint32_t)e.payload;
        r->timed--;
        if (isnan(r->result->finish[i]) && !bitset_get(r->is_running, i))
            start_if_ready(r, i, r->cause[i]);
        return true;
    }
    case EVENT_SEND:
        r->timed--;
        if (r->demands.state[e.payload] == DEMAND_SENT)
            send_demand(r, (uint32_t)e.payload, r->demands.at[e.payload].source);
        return true;
    case EVENT_WAITED:
        r->timed--;
        end_wait(r, (uint32_t)e.payload, NONE);
        return true;
    }
    return true;
}

/* The placement whose end sent this demand's object, for the chain of causes. */
static uint32_t replay_sender(const struct replay *r, uint32_t x)
{
    const struct demand *d = &r->demands.at[x];
    uint32_t producer = r->workflow->producer[d->object];
    if (r->demands.copy_off[producer + 1] - r->demands.copy_off[producer] == 1)
        return demands_copy(&r->demands, producer, 0);
    uint32_t copy = demands_copy_on(&r->demands, producer, d->source);
    return copy != NONE ? copy : demands_copy(&r->demands, producer, 0);
}

static void replay_input_arrived(struct replay *r, const struct network_message *m)
{
    uint32_t x = (uint32_t)m->tag;
    r->engine.events++;
    if (r->trace)
        r->trace->event(r->trace->context, &(struct trace_event){.kind = TRACE_TRANSFER,
                                                                 .id = r->demands.at[x].object,
                                                                 .node = m->from,
                                                                 .other = m->to,
                                                                 .start = m->start,
                                                                 .finish = m->finish,
                                                                 .amount = m->bytes});
    demand_met(r, x, replay_sender(r, x));
    if (r->files) {
        double sender, receiver;
        replay_files_arrived(r->files, x, &sender, &receiver);
        change_memory(r, r->demands.at[x].source, -sender, NONE);
        change_memory(r, r->demands.at[x].node, -receiver, NONE);
    }
}

/* Until every placement has run. The loop is the one that network.h describes. */
static bool replay_loop(struct replay *r, struct error *err)
{
    struct engine *e = &r->engine;
    struct network *n = r->network;
    for (uint32_t lane = 0; lane < r->lanes.nlanes; lane++)
        if (r->lanes.off[lane] < r->lanes.off[lane + 1]) {
            uint32_t i = r->lanes.placement[r->lanes.off[lane]];
            if (--r->core_missing[i] == 0)
                start_if_ready(r, i, NONE);
        }
    uint32_t total = r->left;
    /* every 65,536 events, some tens of milliseconds: often enough for a line of progress */
    uint64_t next_report = 1 << 16;
    while (r->left) {
        double te = engine_next(e), tn = network_next(n);
        double t = te < tn ? te : tn;
        if (n->unsettled && t > e->now) {
            network_settle(n, e->now);
            continue;
        }
        /* Only failures ahead, nobody at work, nobody coming back: it stands still. */
        if (t == INFINITY ||
            (!r->running && !n->in_flight && !r->repairs && !r->timed && r->options->mtbf > 0))
            return replay_explain_standstill(r, err);
        if (tn <= te) {
            struct network_message m;
            e->now = tn;
            if (network_step(n, tn, &m))
                replay_input_arrived(r, &m);
        } else if (!replay_handle_event(r, engine_take(e), err))
            return false;
        if (e->events >= next_report) {
            next_report = e->events + (1 << 16);
            if (!progress_report(r->options->progress, 1 - (double)r->left / total, "simulating"))
                return error_set(err, ERROR_FAILED, "stopped by the user");
        }
    }
    return true;
}

bool replay_run(const struct workflow *w, const struct platform *p, const struct plan *plan,
                const struct replay_options *options, struct replay_result *result,
                struct error *err)
{
    double began = clock_seconds();
    struct replay r;
    bool good = replay_prepare(&r, w, p, plan, options, result, err);
    if (good) {
        if (r.down) {
            for (size_t i = 0; i < options->nfaults; i++)
                engine_at(&r.engine, options->faults[i].time, EVENT_FAIL, i);
            for (uint32_t i = 0; i < p->nnodes && options->mtbf > 0; i++)
                engine_at(&r.engine, rng_exponential(&r.engine.rng, options->mtbf),
                          EVENT_FAIL_AGAIN, i);
        }
        for (size_t i = 0; i < options->nchanges; i++)
            engine_at(&r.engine, options->changes[i].time, EVENT_CHANGE, i);
        good = replay_loop(&r, err);
        replay_account(&r, good);
    }
    replay_release(&r);
    result->seconds = clock_seconds() - began;
    return good;
}
