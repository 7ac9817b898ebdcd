/* One run in an agent: its scheduler between the store, the other agents and the tasks here.
 *
 * I1. All of it happens on the loop's thread, in turns (job_turn()) between which the loop brings
 *     ends, answers and messages.
 * I2. What a task produced is on record here (memo) before the store learns that it is done.
 * I3. Operations of our own (job_ask()) are sent at the end of a turn, of a tick, and before ended
 *     tasks are: a reader elsewhere learns where an object is no later than that it exists.
 * I4. The run's end is decided by the store: it counts the tasks that have ended. Before an agent says
 *     so it has looked at each record, and each end was proved (store/redis/proofs.c). */
#include "base/clock.h"
#include "cluster/agent/agent_state.h"
#include "cluster/agent/job_failures.h"
#include "cluster/agent/watch.h"
#include "exec/health.h"
#include "model/future.h"

#include <math.h>

enum {
    SENT_AT_ONCE = 2048, /* events that wait: more are sent before their time */
    STEAL_MOST = 16384,  /* tasks: a message holds no more */
    IDLE_LEAST = 5,      /* seconds without a task before the store is asked what is ours */
};

static const double audit_pause = 1;             /* seconds for the first agent to end the run */
static const double turn_most = 0.005;           /* seconds, before others have their turn */
static const double send_every = 0.05;           /* seconds: what a display shows as "at once" */
static const double bandwidth_standard = 1.25e8; /* bytes a second: 1 Gbit/s */
/* Polling for work to steal. First: a few times the round trip in a machine room. At most half a
 * second, since a run's end is waited for by people. */
static const double steal_first = 0.002, steal_bound = 0.5;

void job_log(struct job *j, const char *text)
{
    agent_log(j->agent, "run %llu: %s", (unsigned long long)j->number, text);
}

double job_now(const struct job *j)
{
    return driver_now(j->driver);
}

struct meta_op *job_ask(struct job *j, enum meta_kind kind, uint32_t task, uint32_t slot)
{
    struct meta_op *op = array_add(&j->supply.ops);
    op->kind = (uint8_t)kind;
    op->task = task;
    op->slot = slot;
    op->node = j->agent->node;
    return op;
}

void job_flush_ops(struct job *j)
{
    if (!driver_store(j->driver))
        return;
    driver_submit(j->driver, j->supply.ops.at, j->supply.ops.n);
    j->supply.ops.n = 0;
}

/* ---- states ---- */

bool job_change(struct job *j, enum job_event event)
{
    enum job_state next = job_next(j->state, event);
    if (next == JOB_STATES)
        return false;
    agent_trace(j->agent, "run %llu: %s -> %s", (unsigned long long)j->number,
                job_state_name(j->state), job_state_name(next));
    j->state = next;
    return true;
}

bool job_is_scheduling(const struct job *j)
{
    return j->state >= JOB_OPEN && j->state <= JOB_ENDED;
}

/* ---- what the driver asks for ---- */

/* It failed for good, and the run is not to go on. Not now: stopping removes tasks, and the driver may be in
 * the middle of its actions. The log says why, whatever becomes of the failure's own report. */
static void job_stop_for(struct job *j, uint32_t task)
{
    if (!j->stop_due && j->state < JOB_STOPPING)
        agent_log(j->agent, "run %llu: '%s' has failed: nothing more starts",
                  (unsigned long long)j->number, workflow_task_name(j->w, task));
    j->stop_due = true;
}

/* Of this node's scheduler alone: the run's own figures are the store's. */
static void job_note(void *context, const struct sched_note *notes, size_t n)
{
    struct job *j = context;
    for (size_t i = 0; i < n; i++) {
        j->result.done += notes[i].kind == SCHED_NOTE_DONE;
        if (notes[i].kind == SCHED_NOTE_DONE)
            growth_task_ended(j, notes[i].task, META_DONE);
        if (notes[i].kind == SCHED_NOTE_SKIPPED)
            growth_task_ended(j, notes[i].task, META_SKIPPED);
        if (notes[i].kind == SCHED_NOTE_EXCUSED)
            growth_task_ended(j, notes[i].task, META_EXCUSED);
        j->result.failed += notes[i].kind == SCHED_NOTE_FAILED;
        j->result.failed += notes[i].kind == SCHED_NOTE_EXCUSED;
        j->result.skipped += notes[i].kind == SCHED_NOTE_REMOVED;
        j->result.untaken += notes[i].kind == SCHED_NOTE_SKIPPED;
        if (notes[i].kind == SCHED_NOTE_FAILED && !j->ticket.keep_going)
            job_stop_for(j, notes[i].task);
        if (notes[i].kind == SCHED_NOTE_LOST)
            job_drop_failure(j, notes[i].task);
        watch_noted(j, &notes[i]);
    }
}

/* With tasks that change nodes goes what their next attempt is to get, if it got more here. */
static void job_send(void *context, const struct sched_message *m, const struct meta_item *items)
{
    struct job *j = context;
    struct link *l = peer_link(j->agent, m->to);
    protocol_memory *memory = &j->agent->memory;
    if (!l)
        return; /* lost on the way: the schedulers are used to it */
    memory->n = 0;
    for (uint32_t i = 0; i < m->count; i++)
        array_push(memory, executor_task_memory(j->executor, items[i].task));
    strbuf_clear(&j->scratch);
    protocol_put_sched(&j->scratch, j->number, m, items, memory->at);
    link_send(l, MESSAGE_SCHED, j->scratch.at, j->scratch.n, NULL, 0);
}

static void job_stop_tasks(void *context, const struct sched_start *stops, size_t n)
{
    struct job *j = context;
    for (size_t i = 0; i < n; i++)
        if (supply_stop(j, stops[i].task))
            continue;
        else if (sched_is_lost(driver_sched(j->driver), stops[i].task))
            executor_lose_task(j->executor, stops[i].task);
        else
            executor_stop_task(j->executor, stops[i].task);
}

static void job_parts(void *context, const struct sched_part *parts, size_t n)
{
    gang_parts(context, parts, n);
}

static void job_start_tasks(void *context, const struct sched_start *starts, size_t n)
{
    struct job *j = context;
    for (size_t i = 0; i < n; i++)
        supply_start(j, &starts[i]);
    executor_hand_over(j->executor);
}

/* Recomputations are taken out (the scheduler never knew of them), inputs are given back, results
 * are announced; I2 and I3. */
static size_t job_tasks_ended(void *context, struct sched_ended *ended, size_t n)
{
    struct job *j = context;
    size_t kept = 0;
    executor_release(j->executor, ended, n);
    bool well = false;
    for (size_t i = 0; i < n; i++) {
        well |= !ended[i].failed && !ended[i].returned && ended[i].finish > ended[i].start;
        if (!supply_ended(j, &ended[i]))
            ended[kept++] = ended[i];
    }
    if (well)
        aside_count_success(j->agent);
    /* before the scheduler starts others in the place of what failed (job_failures.c) */
    for (size_t i = 0; i < kept; i++)
        if (ended[i].failed && executor_has_failed(j->executor, ended[i].task))
            array_push(&j->failing, ended[i].task);
    struct error err = {0};
    if (j->memo && !memo_flush(j->memo, &err)) { /* what is committed is on record here */
        aside_count_trouble(j->agent, health_of_error(err.text), NULL, err.text);
        job_log(j, err.text);
    }
    job_flush_ops(j);
    return kept;
}

/* Whichever way. */
static uint64_t job_ended_of(const struct meta_answer *a)
{
    return (uint64_t)a->item.task + a->item.epoch + a->item.waiting + (uint64_t)a->item.all_size +
           (uint64_t)a->item.max_size;
}

/* The ends themselves, from this task on: proved, or not counted. */
static void job_ask_audit(struct job *j, uint32_t from)
{
    j->audit_asked = true;
    job_ask(j, META_COUNT, from, SLOT_AUDIT)->status = 1;
}

/* Only one agent looks at all records when the last task has ended: the first that lives. The others
 * wait for it, and look themselves when nothing comes of it. */
static bool job_may_audit(const struct job *j)
{
    const struct agent *a = j->agent;
    bool first = true;
    for (uint32_t node = 0; node < a->node && first; node++)
        first = !peer_is_up(a, node);
    return !j->audit_asked && (first || clock_seconds() - j->ended_since > audit_pause);
}

/* How many tasks of the run have ended, by all agents: done, failed, removed. The number is anybody's
 * who may write to the store, so it is only the reason to look. */
static void job_counted(struct job *j, const struct meta_answer *a)
{
    j->count_asked = false;
    uint64_t ended = job_ended_of(a);
    if (a->outcome != META_OK || ended < j->w->ntasks || j->end_reported) {
        j->ended_since = 0;
        return;
    }
    if (j->ended_since == 0)
        j->ended_since = clock_seconds();
    if (!growth_is_final(j) || !job_may_audit(j))
        return;
    j->audit_tasks = j->w->ntasks;
    j->audited = 0;
    job_ask_audit(j, 0);
}

/* I4. */
static void job_took_audit(struct job *j, const struct meta_answer *a)
{
    j->audited += (uint32_t)job_ended_of(a);
    if (a->outcome == META_OK && a->item.holder != NONE) {
        job_ask_audit(j, a->item.holder);
        return;
    }
    j->audit_asked = false;
    if (a->outcome != META_OK || j->end_reported || j->audit_tasks != j->w->ntasks)
        return; /* it has grown meanwhile */
    if (j->audited < j->w->ntasks) {
        j->ended_since = clock_seconds(); /* again in a while: somebody may put it right */
        if (!j->forgery_told)
            job_log(j,
                    "the store says that all tasks have ended, and their records do not: somebody "
                    "else writes to the store, or it went back; the run goes on");
        j->forgery_told = true;
        return;
    }
    j->end_reported = true;
    if (j->ticket.adds)
        growth_end_run(j);
    else
        agent_set_run_state(j->agent, j, BOARD_RUN_ENDED);
}

/* Answers come once each and in any order; the scheduler sees them after us. */
static void job_answers(void *context, const struct meta_answers *answers)
{
    struct job *j = context;
    for (size_t i = 0; i < answers->n; i++)
        if (answers->at[i].kind == META_COUNT && answers->at[i].slot == SLOT_AUDIT)
            job_took_audit(j, &answers->at[i]);
        else if (answers->at[i].kind == META_COUNT)
            job_counted(j, &answers->at[i]);
    if (answers->n && j->store_trouble[0]) {
        j->store_trouble[0] = 0;
        job_log(j, "the store is back");
    }
    if (answers->forged && !j->forgery_told) {
        j->forgery_told = true;
        job_log(j, answers->forged);
    }
    growth_answers(j, answers);
    supply_answers(j, answers);
}

/* Once, though it is tried again every second. */
static void job_store_trouble(void *context, const struct error *err)
{
    struct job *j = context;
    if (strncmp(j->store_trouble, err->text, sizeof j->store_trouble - 1) == 0)
        return;
    snprintf(j->store_trouble, sizeof j->store_trouble, "%.511s", err->text);
    job_log(j, j->store_trouble);
}

const struct driver_ops job_driver_ops = {
    .note = job_note,
    .send = job_send,
    .stop = job_stop_tasks,
    .parts = job_parts,
    .look = want_look_ahead,
    .start = job_start_tasks,
    .ended = job_tasks_ended,
    .answers = job_answers,
    .store_trouble = job_store_trouble,
};

/* ---- messages ---- */

/* A client or an agent that leaves wants us to have these. */
static void job_keep(struct job *j, struct link *l, struct bytes *in, bool *malformed)
{
    uint32_t n = bytes_u32(in);
    for (uint32_t i = 0; i < n && !in->bad; i++) {
        uint32_t object = bytes_u32(in);
        struct digest content = {{0}};
        const void *bytes = bytes_take(in, sizeof content.at);
        if (bytes)
            memcpy(content.at, bytes, sizeof content.at);
        if (in->bad || object >= j->w->nobjects) {
            *malformed = true;
            return;
        }
        bool begun = !j->depot || !depot_is_fetching(j->depot, object);
        array_push(&j->agent->keeps, (struct keep){j->number, object, l, content, begun});
        if (!agent_is_staying(j->agent))
            agent_answer_keep(j->agent, j->number, object, false, "this agent is leaving too");
        else if (!j->depot || depot_has(j->depot, object))
            agent_answer_keep(j->agent, j->number, object, true, "");
        else if (begun)
            depot_fetch(j->depot, object, l, &content, false);
        /* else it comes from elsewhere; if it does not, from here (agent_fetch_kept()) */
    }
    *malformed |= !bytes_end(in);
}

/* Not of a task that is here already: what runs keeps what it was given, and its count. */
static void job_take_memory(struct job *j)
{
    const struct agent *a = j->agent;
    const struct sched *sched = driver_sched(j->driver);
    for (size_t i = 0; sched && i < a->memory.n; i++)
        if (sched_place(sched, a->items.at[i].task, NULL) == SCHED_NOWHERE)
            executor_set_task_memory(j->executor, a->items.at[i].task, a->memory.at[i]);
}

/* Numbers of tasks and objects are checked before they are used: a peer of another version may
 * speak of another graph. */
void job_message(struct job *j, struct link *l, uint8_t kind, const void *data, size_t n,
                 bool *malformed)
{
    struct bytes in = {data, n, false};
    bytes_u64(&in);
    switch (kind) {
    case MESSAGE_SCHED: {
        struct sched_message m;
        static const struct sched_event none;
        if (job_keep_early(j, data, n))
            return;
        if (!protocol_sched(&in, &m, &j->agent->items, &j->agent->memory)) {
            *malformed = true;
            return;
        }
        for (size_t i = 0; i < j->agent->items.n; i++)
            if (j->agent->items.at[i].task >= j->w->ntasks) {
                *malformed = !workflow_is_open(j->w);
                growth_ask(j); /* whoever sent it is further; it is as if the message were lost */
                return;
            }
        job_take_memory(j);
        struct sched_event e = none;
        e.kind = SCHED_EVENT_MESSAGE;
        e.message.head = &m;
        e.message.items = j->agent->items.at;
        e.sending = j->depot ? depot_owed(j->depot) : 0;
        driver_handle(j->driver, &e);
        break;
    }
    case MESSAGE_GREW:
        growth_message(j, &in);
        break;
    case MESSAGE_PART_RUN:
        part_run_message(j, &in, malformed);
        break;
    case MESSAGE_PART_ENDED:
        part_ended_message(j, &in, malformed);
        break;
    case MESSAGE_LASTS:
        job_lasts(j, &in, malformed);
        break;
    case MESSAGE_PLACED:
        job_placed(j, &in, malformed);
        break;
    case MESSAGE_KEEP:
        job_keep(j, l, &in, malformed);
        break;
    case MESSAGE_WATCH:
        watch_begin(j, l);
        break;
    case MESSAGE_SHOW:
        watch_show(j, l, &in, malformed);
        break;
    default:
        if (j->depot)
            *malformed = !depot_message(j->depot, l, kind, data, n);
        break;
    }
}

void job_link_closed(struct job *j, struct link *l)
{
    watch_end(j, l);
    if (j->depot)
        depot_closed(j->depot, l);
}

/* ---- turns ---- */

/* A task failed for good, and the run is not to go on: stopped here, and everywhere by
 * the board. */
static void job_stop_run(struct job *j)
{
    j->stop_due = false;
    if (j->state >= JOB_STOPPING)
        return;
    agent_set_run_state(j->agent, j, BOARD_RUN_STOPPING);
    job_board_state(j, BOARD_RUN_STOPPING);
}

/* Ended tasks, timers and inputs that came, until there is nothing more or others must have their
 * turn. Calls of microseconds end while they are started: hence the limit. */
bool job_turn(struct job *j)
{
    struct driver *d = j->driver;
    if (!job_is_scheduling(j))
        return false;
    double until = clock_seconds() + turn_most;
    do {
        if (driver_ended_waiting(d)) {
            driver_handle_ended(d);
            executor_settle(j->executor);
        }
        driver_fire_timers(d);
        if (j->stop_due)
            job_stop_run(j);
        growth_turn(j);
        job_look_for_verdicts(j);
        supply_pump(j);
    } while (driver_ended_waiting(d) && clock_seconds() < until);
    supply_prefetch(j);
    job_flush_ops(j);
    /* with nothing left to do here the run may be over before the next turn */
    if (driver_now(d) - j->sent > send_every || j->outbox.events.n > SENT_AT_ONCE ||
        (j->outbox.logs.n > j->logs_sent && !executor_running(j->executor)))
        watch_flush(j);
    return driver_ended_waiting(d) > 0;
}

/* I4. One question at a time. */
static void job_ask_count(struct job *j)
{
    if (j->count_asked || j->end_reported)
        return;
    j->count_asked = true;
    job_ask(j, META_COUNT, 0, NONE);
}

void job_tick(struct job *j)
{
    executor_tick(j->executor);
    if (job_is_scheduling(j))
        supply_tick(j);
    if (j->w->nodes)
        gang_tick(j);
    job_blame_tick(j);
    if (job_is_scheduling(j) && !j->idle && job_is_idle(j)) /* just now: perhaps it is over */
        job_ask_count(j);
    if (j->watchers.n && job_is_scheduling(j)) {
        struct sched_counts now;
        sched_snapshot(driver_sched(j->driver), &now);
        outbox_counter(&j->outbox, job_now(j), COUNTER_READY,
                       now.at[SCHED_LREADYQ] + now.at[SCHED_SREADYQ]);
    }
    job_flush_ops(j);
}

/* No task runs, waits for inputs, or stands in a queue here. */
bool job_is_idle(const struct job *j)
{
    struct sched_counts now;
    if (!job_is_scheduling(j))
        return true;
    if (executor_running(j->executor) || !supply_is_idle(j))
        return false;
    sched_snapshot(driver_sched(j->driver), &now);
    for (int i = SCHED_ARRIVING; i < SCHED_PLACES; i++)
        if (now.at[i])
            return false;
    return !now.parts;
}

/* Where a failed, stopped or cancelled run stands: what does not run is taken out, everywhere, and
 * so the run ends like any other. */
void job_remove(struct job *j, uint32_t task)
{
    const struct sched *sched = driver_sched(j->driver);
    if (!sched)
        return;
    if (task != NONE) {
        driver_handle(j->driver, &(struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = task});
        return;
    }
    bool all = j->state >= JOB_CANCELLED;
    for (uint32_t t = 0; t < j->w->ntasks; t++) {
        enum sched_place place = sched_place(sched, t, NULL);
        bool runs = place == SCHED_RUNNING || place == SCHED_COMPLETEQ;
        const struct supply *s = &j->supply;
        for (size_t i = 0; runs && !all && i < s->held.n; i++) /* only waits for its inputs */
            runs = s->held.at[i].start.task != t || s->held.at[i].recomputation;
        if (place != SCHED_NOWHERE && (all ? place != SCHED_COMPLETEQ : !runs))
            driver_handle(j->driver, &(struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = t});
    }
}

/* Is it over? And if not, is something ours that we do not know of: a store that was killed may
 * have lost its last words, also such as it had answered. Asked ever more rarely: mostly others
 * just have all the work. */
static void job_be_idle(struct job *j)
{
    job_ask_count(j);
    j->idle++;
    bool now = j->idle >= IDLE_LEAST && (j->idle & (j->idle - 1)) == 0; /* 8, 16, 32 ... seconds */
    if (now && !j->end_reported && j->state < JOB_ENDED)
        job_rejoined(j);
}

bool job_is_without(const struct job *j, uint32_t node)
{
    for (size_t i = 0; i < j->without.n; i++)
        if (j->without.at[i] == node)
            return true;
    return false;
}

/* What need not be quicker: the store's return, stalled transfers, what is left of a stopped run,
 * idle time, a thief that gave up. */
void job_second(struct job *j)
{
    struct sched_counts now;
    driver_retry_store(j->driver); /* job_answers() says when it is back */
    if (j->depot)
        depot_tick(j->depot, clock_seconds());
    if (!job_is_scheduling(j))
        return;
    if (j->state >= JOB_STOPPING && j->state < JOB_ENDED)
        job_remove(j, NONE);
    evict_temporaries(j);
    growth_second(j);
    job_look_at_places(j);
    if (job_is_idle(j))
        job_be_idle(j);
    else
        j->idle = 0;
    sched_snapshot(driver_sched(j->driver), &now);
    if (now.dormant && j->state == JOB_OPEN) /* a thief that gave up: try again */
        for (uint32_t node = 0; node < j->agent->peers.n; node++)
            if (peer_is_up(j->agent, node) && !job_is_without(j, node)) {
                driver_handle(j->driver,
                              &(struct sched_event){.kind = SCHED_EVENT_NODE_UP, .node = node});
                break;
            }
    job_flush_ops(j);
}

/* ---- the world ---- */

/* Held tasks first: they are given back to a scheduler that then has no room for them. */
void job_leave(struct job *j)
{
    supply_give_back(j);
    job_capacity_changed(j, j->agent->node);
    driver_handle_ended(j->driver);
}

/* The scheduler begins a new life: it takes back what the store says is ours. */
void job_rejoined(struct job *j)
{
    driver_handle(j->driver,
                  &(struct sched_event){.kind = SCHED_EVENT_START, .life = j->agent->life});
}

/* The board has shown the run. The scheduler knows all numbers so far, and which of them
 * are dead. */
static void job_begin_scheduling(struct job *j)
{
    struct agent *a = j->agent;
    struct sched_config config = executor_sched_config(j->executor);
    config.node = a->node;
    config.nodes = a->peers.n > a->node ? (uint32_t)a->peers.n : a->node + 1;
    config.seed = j->number * 1000003u + a->node;
    struct capacity *capacity = mem_new(struct capacity, config.nodes);
    for (uint32_t node = 0; node < config.nodes; node++)
        capacity[node] = job_capacity_of(j, node);
    config.capacity = capacity;
    config.ends = capacity[a->node].ends;
    job_find_most_memory(j);
    config.policy = j->ticket.shared ? SCHED_MLB : (enum sched_policy)j->ticket.policy;
    config.t = j->ticket.t;
    config.tt = j->ticket.tt;
    config.adapt_policy = config.adapt_tt = j->ticket.adapt;
    config.share_local = true;
    config.bandwidth = a->o->bandwidth > 0 ? a->o->bandwidth : bandwidth_standard;
    config.steal_first = steal_first;
    config.steal_bound = steal_bound;
    config.steal_most = STEAL_MOST;
    /* for those who look, and so that attempts count after a crash; with calls of microseconds it
     * would be a quarter of the store's work */
    config.record_starts = config.cores == j->options.cores;
    config.threads = j->options.cores;
    config.predictor = &j->predictor;
    config.ahead = job_runs_ahead(j) ? j->w : NULL;
    /* also alone: who ends a parent may not know of its new children, nor we of who has just joined */
    config.wait_poll = 1;
    driver_schedule(j->driver, &config);
    free(capacity);
    job_rejoined(j);
    for (uint32_t node = 0; node < a->peers.n; node++)
        if (node != a->node && (!a->peers.at[node].up || job_is_without(j, node)))
            job_peer_changed(j, node, false);
    for (uint32_t node = 0; node < config.nodes; node++)
        if (aside_is(a, node))
            aside_tell_job(j, node, true);
    job_deliver_early(j);
}

void job_board_state(struct job *j, enum board_run_state state)
{
    static const enum job_event events[] = {
        [BOARD_RUN_OPEN] = JOB_EVENT_OPEN,
        [BOARD_RUN_STOPPING] = JOB_EVENT_STOP,
        [BOARD_RUN_CANCELLED] = JOB_EVENT_CANCEL,
        [BOARD_RUN_ENDED] = JOB_EVENT_END,
    };
    bool unopened = j->state == JOB_UNOPENED;
    if (!job_change(j, events[state]))
        return; /* known, or late */
    if (unopened)
        job_begin_scheduling(j);
    if (j->state == JOB_STOPPING || j->state == JOB_CANCELLED) {
        job_log(j, j->state == JOB_STOPPING ? "is being stopped" : "was cancelled");
        job_remove(j, NONE);
    }
    if (j->state == JOB_ENDED) {
        watch_flush(j);
        job_log(j, "has ended");
    }
}
