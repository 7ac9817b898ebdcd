/* One run in an agent: its scheduler between the store, the other agents and the processes here. */
#include "base/clock.h"
#include "cluster/agent/agent_state.h"

#include <math.h>

enum {
    TOLD_AT_ONCE = 2048, /* events */
    STEAL_MOST = 16384,  /* tasks: a message holds no more */
};

static const double turn_most = 0.005; /* seconds, before others have their turn */
static const double tell_every = 0.05;

void job_log(struct job *j, const char *text)
{
    agent_log(j->agent, "run %llu: %s", (unsigned long long)j->number, text);
}

/* ---- the scheduler ---- */

static void note(struct job *j, const struct sched_note *n)
{
    switch (n->kind) {
    case SCHED_NOTE_DONE:
        j->result.done++;
        break;
    case SCHED_NOTE_FAILED:
        j->result.failed++;
        if (!j->ticket.keep_going && j->state < BOARD_RUN_STOPPING) {
            board_run_state(j->agent->board, j->number, BOARD_RUN_STOPPING, agent_noted, j->agent);
            job_state(j, BOARD_RUN_STOPPING);
        }
        break;
    case SCHED_NOTE_REMOVED:
        j->result.skipped++;
        break;
    default:
        break;
    }
}

static void send_message(struct job *j, const struct sched_message *m)
{
    struct link *l = agent_link(j->agent, m->to);
    if (!l)
        return; /* lost on the way: the schedulers are used to it */
    strbuf_clear(&j->scratch);
    protocol_put_sched(&j->scratch, j->number, m, m->count ? j->run.out.items.at + m->first : NULL);
    link_send(l, MESSAGE_SCHED, j->scratch.at, j->scratch.n, NULL, 0);
}

static void carry_out(struct job *j)
{
    struct sched_actions *out = &j->run.out;
    for (size_t i = 0; i < out->timers.n; i++)
        array_push(&j->run.timers, out->timers.at[i]);
    if (out->ops.n)
        store_submit(j->run.store, out->ops.at, out->ops.n);
    for (size_t i = 0; i < out->sends.n; i++)
        send_message(j, &out->sends.at[i]);
    for (size_t i = 0; i < out->stops.n; i++)
        if (!supply_stop(j, out->stops.at[i].task))
            task_stop(&j->run, out->stops.at[i].task);
    j->run.call_ended = 0;
    for (size_t i = 0; i < out->starts.n; i++)
        supply_start(j, &out->starts.at[i]);
    __typeof__(out->notes) notes = out->notes; /* a note may lead to removals: actions again */
    out->notes = (__typeof__(out->notes)){0};
    sched_actions_clear(out);
    for (size_t i = 0; i < notes.n; i++)
        note(j, &notes.at[i]);
    if (!out->notes.at)
        out->notes = notes, out->notes.n = 0;
    else
        array_free(&notes);
    if (j->run.jobs.n) {
        calls_submit(j->run.calls, j->run.jobs.at, j->run.jobs.n);
        j->run.jobs.n = 0;
    }
}

static void handle(struct job *j, struct sched_event *e)
{
    if (!j->run.sched)
        return;
    e->now = run_now(&j->run);
    sched_handle(j->run.sched, e, &j->run.out);
    carry_out(j);
}

static void flush_ops(struct job *j)
{
    if (j->ops.n && j->has_store) {
        store_submit(j->run.store, j->ops.at, j->ops.n);
        j->ops.n = 0;
    }
}

/* ---- the store ---- */

static void counted(struct job *j, const struct meta_answer *a)
{
    j->counting = false;
    uint64_t ended = (uint64_t)a->item.task + a->item.epoch + a->item.waiting;
    if (a->outcome != META_OK || ended < j->w->ntasks || j->told_end)
        return;
    j->told_end = true;
    board_run_state(j->agent->board, j->number, BOARD_RUN_ENDED, agent_noted, j->agent);
}

void job_store_ready(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    struct job *j = poll->data;
    for (;;) {
        struct sched_event e = {.kind = SCHED_EVENT_STORE};
        struct error err;
        error_clear(&err);
        if (!store_poll(j->run.store, &e.store, &err)) {
            if (!j->trouble)
                job_log(j, err.text);
            j->trouble = true;
            return;
        }
        if (!e.store.n)
            return;
        for (size_t i = 0; i < e.store.n; i++)
            if (e.store.at[i].kind == META_COUNT)
                counted(j, &e.store.at[i]);
        if (j->depot)
            supply_answers(j, &e.store);
        handle(j, &e);
    }
}

static void go_on(struct job *j)
{
    struct error err = {0};
    if (j->trouble && store_retry(j->run.store, &err)) {
        j->trouble = false;
        job_log(j, "the store is back");
    }
}

/* ---- messages ---- */

static void keep(struct job *j, struct link *l, struct bytes *in, bool *malformed)
{
    uint32_t n = bytes_u32(in);
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        uint32_t object = bytes_u32(in);
        if (in->bad || object >= j->w->nobjects) {
            *malformed = true;
            return;
        }
        array_push(&j->agent->keeps, (struct keep){j->number, object, l});
        if (j->agent->leave != AGENT_STAYS)
            agent_kept(j->agent, j->number, object, false, "this agent is leaving too");
        else if (!j->depot || depot_has(j->depot, object))
            agent_kept(j->agent, j->number, object, true, "");
        else
            depot_fetch(j->depot, object, l, NULL, false);
    }
    *malformed |= !bytes_end(in);
}

void job_message(struct job *j, struct link *l, uint8_t kind, const void *data, size_t n,
                 bool *malformed)
{
    struct bytes in = {data, n, false};
    bytes_u64(&in);
    switch (kind) {
    case MESSAGE_SCHED: {
        struct sched_message m;
        static const struct sched_event none;
        if (!protocol_sched(&in, &m, &j->agent->items)) {
            *malformed = true;
            return;
        }
        for (size_t i = 0; i < j->agent->items.n; i++)
            if (j->agent->items.at[i].task >= j->w->ntasks) {
                *malformed = true;
                return;
            }
        struct sched_event e = none;
        e.kind = SCHED_EVENT_MESSAGE;
        e.message.head = &m;
        e.message.items = j->agent->items.at;
        handle(j, &e);
        break;
    }
    case MESSAGE_KEEP:
        keep(j, l, &in, malformed);
        break;
    case MESSAGE_WATCH:
        watch_begin(j, l);
        break;
    default:
        if (j->depot)
            *malformed = !depot_message(j->depot, l, kind, data, n);
        break;
    }
}

/* ---- turns ---- */

static void handle_ended(struct job *j)
{
    struct run *r = &j->run;
    __typeof__(r->ended) batch = r->ended;
    r->ended = r->handled;
    r->handled = batch;
    size_t kept = 0;
    for (size_t i = 0; i < batch.n; i++)
        if (!supply_ended(j, &batch.at[i]))
            batch.at[kept++] = batch.at[i];
    struct error err = {0};
    if (j->memo && !memo_flush(j->memo, &err)) /* what is committed is on record here */
        job_log(j, err.text);
    flush_ops(j);
    if (kept)
        handle(j, &(struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {batch.at, kept}});
    r->handled.n = 0;
    for (size_t i = 0; i < r->hungry.n; i++)
        task_more_memory(r, r->hungry.at[i]);
    r->hungry.n = 0;
}

static void fire(void *context, const struct sched_timer *t)
{
    handle(context, &(struct sched_event){.kind = SCHED_EVENT_TIMER, .timer = {t->kind, t->mark}});
}

bool job_turn(struct job *j)
{
    struct run *r = &j->run;
    if (j->closing || !j->scheduling)
        return false;
    double until = clock_seconds() + turn_most;
    do {
        if (r->ended.n)
            handle_ended(j);
        if (r->timers.n)
            run_fire_timers(r, fire, j);
        supply_pump(j);
    } while (r->ended.n && clock_seconds() < until);
    supply_prefetch(j);
    flush_ops(j);
    if (run_now(r) - r->told > tell_every || r->events.n > TOLD_AT_ONCE)
        watch_tell(j);
    return r->ended.n > 0;
}

static void ask_count(struct job *j)
{
    if (j->counting || j->told_end)
        return;
    j->counting = true;
    array_push(&j->ops, (struct meta_op){.kind = META_COUNT, .slot = NONE});
}

void job_tick(struct job *j)
{
    if (j->has_setup)
        children_tick(j->run.children);
    if (j->scheduling)
        supply_tick(j);
    if (j->scheduling && !j->idle && job_is_idle(j)) /* just now: perhaps it is over */
        ask_count(j);
    if (j->watchers.n && j->scheduling) {
        struct sched_counts now;
        sched_look(j->run.sched, &now);
        double at = run_now(&j->run);
        run_tell(&j->run,
                 &(struct trace_event){.kind = TRACE_COUNTER,
                                       .id = COUNTER_READY,
                                       .start = at,
                                       .finish = at,
                                       .amount = now.at[SCHED_LREADYQ] + now.at[SCHED_SREADYQ]});
    }
    flush_ops(j);
}

bool job_is_idle(const struct job *j)
{
    struct sched_counts now;
    if (!j->scheduling)
        return true;
    if (j->run.running || j->held.n > j->free_held.n)
        return false;
    sched_look(j->run.sched, &now);
    for (int i = SCHED_ARRIVING; i < SCHED_PLACES; i++)
        if (now.at[i])
            return false;
    return true;
}

/* Where a failed, stopped or cancelled run stands: what does not run is taken out, everywhere, and
 * so the run ends like any other. */
void job_remove(struct job *j, uint32_t task)
{
    if (!j->run.sched)
        return;
    if (task != NONE) {
        handle(j, &(struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = task});
        return;
    }
    bool all = j->state >= BOARD_RUN_CANCELLED;
    for (uint32_t t = 0; t < j->w->ntasks; t++) {
        enum sched_place place = sched_place(j->run.sched, t, NULL);
        bool runs = place == SCHED_RUNNING || place == SCHED_COMPLETEQ;
        for (size_t i = 0; runs && !all && i < j->held.n; i++) /* only waits for its inputs */
            runs = j->held.at[i].start.task != t || j->held.at[i].again;
        if (place != SCHED_NOWHERE && (all ? place != SCHED_COMPLETEQ : !runs))
            handle(j, &(struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = t});
    }
}

/* Is it over? And if not, is something ours that we do not know of: a store that was killed may
 * have lost its last words, also such as it had answered. Asked ever more rarely: mostly others
 * just have all the work. */
static void be_idle(struct job *j)
{
    ask_count(j);
    j->idle++;
    bool now = j->idle >= 5 && (j->idle & (j->idle - 1)) == 0; /* 8, 16, 32 ... seconds */
    if (now && !j->told_end && j->state < BOARD_RUN_ENDED)
        job_rejoined(j);
}

void job_second(struct job *j)
{
    struct sched_counts now;
    if (j->closing || !j->has_store)
        return;
    if (j->trouble)
        go_on(j);
    if (j->depot)
        depot_tick(j->depot, clock_seconds());
    if (!j->scheduling)
        return;
    if (j->state >= BOARD_RUN_STOPPING && j->state < BOARD_RUN_ENDED)
        job_remove(j, NONE);
    if (job_is_idle(j))
        be_idle(j);
    else
        j->idle = 0;
    sched_look(j->run.sched, &now);
    if (now.dormant && j->state == BOARD_RUN_OPEN) /* a thief that gave up: try again */
        for (uint32_t node = 0; node < j->agent->peers.n; node++)
            if (agent_is_up(j->agent, node)) {
                handle(j, &(struct sched_event){.kind = SCHED_EVENT_NODE_UP, .node = node});
                break;
            }
    flush_ops(j);
}

/* ---- the world ---- */

void job_peer(struct job *j, uint32_t node, bool up)
{
    handle(j, &(struct sched_event){.kind = up ? SCHED_EVENT_NODE_UP : SCHED_EVENT_NODE_DOWN,
                                    .node = node,
                                    .over = j->agent->peers.at[node].life});
}

void job_rejoined(struct job *j)
{
    handle(j, &(struct sched_event){.kind = SCHED_EVENT_START, .life = j->agent->life});
}

static void begin_scheduling(struct job *j)
{
    struct agent *a = j->agent;
    struct sched_config config = run_sched_config(&j->run);
    config.node = a->node;
    config.nodes = a->peers.n > a->node ? (uint32_t)a->peers.n : a->node + 1;
    config.seed = j->number * 1000003u + a->node;
    config.policy = j->ticket.shared ? SCHED_MLB : (enum sched_policy)j->ticket.policy;
    config.t = j->ticket.t;
    config.tt = j->ticket.tt;
    config.adapt_policy = config.adapt_tt = j->ticket.adapt;
    config.share_local = true;
    config.bandwidth = a->o->bandwidth > 0 ? a->o->bandwidth : 1.25e8;
    config.steal_first = 0.002;
    config.steal_bound = 0.5;
    config.steal_most = STEAL_MOST;
    /* for those who look, and so that attempts count after a crash; with calls of microseconds it
     * would be a quarter of the store's work */
    config.record_starts = config.cores == j->options.cores;
    if (j->ticket.seconds.n)
        config.predictor = &j->predictor;
    j->run.sched = sched_new(&config);
    j->scheduling = true;
    job_rejoined(j);
    for (uint32_t node = 0; node < a->peers.n; node++)
        if (node != a->node && !a->peers.at[node].up)
            job_peer(j, node, false);
}

void job_state(struct job *j, enum board_run_state state)
{
    if (j->closing || (j->scheduling && state <= j->state))
        return;
    j->state = state;
    if (!j->scheduling && j->has_store && state < BOARD_RUN_COLLECTED)
        begin_scheduling(j);
    if (state == BOARD_RUN_STOPPING || state == BOARD_RUN_CANCELLED) {
        job_log(j, state == BOARD_RUN_STOPPING ? "is being stopped" : "was cancelled");
        job_remove(j, NONE);
    }
    if (state == BOARD_RUN_ENDED) {
        watch_tell(j);
        job_log(j, "has ended");
    }
}
