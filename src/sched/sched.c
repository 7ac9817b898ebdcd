/* The machine itself: the places of tasks, the life of a task from submission to its end, and what
 * each event does. Stealing, moving, answers and policies stand in files of their own (state.h).
 *
 *   I1. A task that is held has one slot; the slot's `place` says which queue has it, and only
 *       place_enter() and place_leave() change it.
 *   I2. Free cores, memory and disk are those of the machine less what RUNNING tasks take.
 *   I3. Nothing starts before the store has said that the task is ours (ARRIVING comes first), nor on
 *       a node that has not all that it asks for (fit.c).
 *   I4. What an event leads to depends on the events so far and on the seed, on nothing else.
 *
 * sched_check() counts I1 and I2 again; the others are watched from outside (tests/faults). */
#include "sched/state.h"
#include <math.h>

/* Zero, and anything that is no positive number, means "the default". */
static void or_default(double *field, double value)
{
    if (!(*field > 0))
        *field = value;
}

/* Alone, nobody else completes a parent: there is no lost message to make up for. That lasts only until
 * somebody joins (sched_node_changed()). */
static void sched_arm_wait_poll(struct sched_config *c)
{
    if (c->nodes > 1 && !(c->wait_poll < 0))
        or_default(&c->wait_poll, 1);
}

struct sched *sched_new(const struct sched_config *config)
{
    struct sched *s = mem_new_zero(struct sched, 1);
    struct sched_config *c = &s->config;
    *c = *config;
    c->nodes = c->nodes ? c->nodes : 1;
    c->cores = c->cores ? c->cores : 1;
    c->threads = c->threads && c->threads < c->cores ? c->threads : c->cores;
    c->steal_most = c->steal_most ? c->steal_most : 65536;
    c->wait_batch = c->wait_batch ? c->wait_batch : 1024;
    or_default(&c->memory, INFINITY);
    or_default(&c->disk, INFINITY);
    or_default(&c->retry_most, INFINITY);
    or_default(&c->t, 0.5);
    or_default(&c->tt, 10);
    or_default(&c->bandwidth, 1e9);
    or_default(&c->default_length, 1);
    or_default(&c->much, 0.5);
    or_default(&c->little, 0.01);
    or_default(&c->start_early, 0.001);
    or_default(&c->steal_first, 0.001);
    or_default(&c->steal_bound, 50);
    or_default(&c->tt_small, 1);
    or_default(&c->reply_timeout, 1);
    or_default(&c->monitor_every, 1);
    sched_arm_wait_poll(c);
    rng_seed_stream(&s->rng, c->seed, c->node);
    slots_init(&s->tasks);
    readyset_init(&s->local);
    readyset_init(&s->shared);
    s->wait = s->moving = s->unfit = (struct slot_list){NONE, NONE, 0};
    fit_begin(s);
    c->capacity = NULL; /* the caller's, and read */
    if (c->task_nodes)
        gangs_init(s);
    s->free_cores = c->cores;
    s->free_memory = c->memory;
    s->free_disk = c->disk;
    s->policy = (unsigned)c->policy < SCHED_POLICIES ? c->policy : 0;
    s->rules = c->own_policy ? c->own_policy : sched_policy(s->policy);
    s->t = c->t;
    s->tt = c->tt;
    s->window_start = -1;
    s->interval = c->steal_first;
    look_soon(s);
    return s;
}

void sched_grow(struct sched *s, const struct sched_config *config)
{
    s->config.task_cores = config->task_cores;
    s->config.task_memory = config->task_memory;
    s->config.task_needs = config->task_needs;
    s->config.task_asks = config->task_asks;
    s->config.amount = config->amount;
    s->config.task_nodes = config->task_nodes;
    s->config.task_disk = config->task_disk;
    s->config.task_retries = config->task_retries;
    s->config.priority = config->priority;
    s->config.not_before = config->not_before;
    if (config->task_nodes && !s->gangs)
        gangs_init(s);
    fit_grow(s, config); /* they may ask for things that nobody has asked for so far */
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    gangs_free(s);
    slots_free(&s->tasks);
    readyset_free(&s->local);
    readyset_free(&s->shared);
    array_free(&s->others);
    array_free(&s->demands);
    array_free(&s->demand_asks);
    things_free(s->things);
    array_free(&s->down);
    array_free(&s->aside);
    array_free(&s->failed_at);
    array_free(&s->scratch);
    free(s);
}

/* ---- places ---- */

static uint32_t task_cores(const struct sched *s, uint32_t task)
{
    return s->config.task_cores ? s->config.task_cores[task] : 1;
}

static double task_memory(const struct sched *s, uint32_t task)
{
    return s->config.task_memory ? s->config.task_memory[task] : 0;
}

/* The only two functions that change a place: queues, counts and free resources follow from it. The
 * slot is nowhere before place_enter() and after place_leave(). */
void place_enter(struct sched *s, uint32_t slot, enum sched_place place)
{
    struct slot *task = slot_at(s, slot);
    task->place = (uint8_t)place;
    s->count[place]++;
    if (place == SCHED_WAITQ) {
        slot_list_add(&s->wait, s->tasks.slots.at, slot);
    } else if (place == SCHED_MOVING) {
        slot_list_add(&s->moving, s->tasks.slots.at, slot);
    } else if (place == SCHED_UNFIT) {
        slot_list_add(&s->unfit, s->tasks.slots.at, slot);
    } else if (place == SCHED_WIDEQ) {
        gang_queue(s, slot, true);
    } else if (place == SCHED_LREADYQ || place == SCHED_SREADYQ) {
        task->group = fit_ready_group(s, task);
        readyset_push(place == SCHED_LREADYQ ? &s->local : &s->shared, s->tasks.slots.at, slot,
                      policy_key(s, task));
    } else if (place == SCHED_RUNNING) {
        s->free_cores -= task_cores(s, task->task);
        if (s->config.task_memory)
            s->free_memory -= task_memory(s, task->task);
        s->taken_disk += room_taken(s, task->task);
        if (s->things && fit_demand(s, task->task))
            things_take(s->things, slot, fit_demand(s, task->task));
    }
}

void place_leave(struct sched *s, uint32_t slot)
{
    struct slot *task = slot_at(s, slot);
    enum sched_place place = task->place;
    s->count[place]--;
    task->place = SCHED_NOWHERE;
    if (place == SCHED_WAITQ) {
        slot_list_remove(&s->wait, s->tasks.slots.at, slot);
    } else if (place == SCHED_MOVING) {
        slot_list_remove(&s->moving, s->tasks.slots.at, slot);
    } else if (place == SCHED_UNFIT) {
        slot_list_remove(&s->unfit, s->tasks.slots.at, slot);
    } else if (place == SCHED_WIDEQ) {
        gang_queue(s, slot, false);
    } else if (place == SCHED_LREADYQ) {
        readyset_remove(&s->local, s->tasks.slots.at, slot);
    } else if (place == SCHED_SREADYQ) {
        readyset_remove(&s->shared, s->tasks.slots.at, slot);
    } else if (place == SCHED_RUNNING) {
        s->free_cores += task_cores(s, task->task);
        s->taken_disk =
            s->count[SCHED_RUNNING] ? s->taken_disk - room_taken(s, task->task) : 0; /* no drift */
        if (s->config.task_memory)
            s->free_memory = s->count[SCHED_RUNNING] || gang_gives(s)
                                 ? s->free_memory + task_memory(s, task->task)
                                 : s->config.memory; /* no drift */
        if (s->things && s->things->holds.n)
            things_give(s->things, slot);
    }
    if (s->gangs && (place == SCHED_GATHERING || place == SCHED_RUNNING))
        gang_left(s, slot, place);
}

/* It is nowhere, and its slot another's from now on. */
static void task_drop(struct sched *s, uint32_t slot)
{
    if (slot_at(s, slot)->passed)
        aside_forget_failed(s, slot_at(s, slot)->task);
    slots_drop(&s->tasks, slot);
}

void task_forget(struct sched *s, uint32_t slot)
{
    place_leave(s, slot);
    task_drop(s, slot);
}

/* The sizes and the place of the inputs, which Algorithm 1 asks for. */
void item_to_slot(struct slot *slot, const struct meta_item *item)
{
    slot->all_size = item->all_size;
    slot->max_size = item->max_size;
    slot->max_node = item->max_node;
}

uint32_t answer_slot(struct sched *s, const struct meta_answer *answer, enum sched_place place)
{
    if (answer->slot >= s->tasks.slots.n)
        return NONE;
    const struct slot *slot = slot_at(s, answer->slot);
    return slot->task == answer->item.task && slot->place == place &&
                   slot->epoch == answer->asked_epoch
               ? answer->slot
               : NONE;
}

/* ---- the life of a task ---- */

/* Tasks in the WaitQ from which on a node looks ahead; and how many whose data are elsewhere prove
 * nothing yet: the first that become ready of a connected share have theirs elsewhere, too. */
enum { KIN_WAITING = 16, KIN_DOUBT = 16, KIN_WINDOW = 128 };

/* Algorithm 1 would push it to its data. Should it stay all the same? Yes, on a node that holds tasks that
 * wait, and has mostly seen tasks of its own become ready with their data here: then those that wait are
 * below this one, and each pushed away would drag them all to the one node where the graph began. That
 * node's interface then sends whatever they make to everybody else: on 131,072 cores it was still at it
 * long after all others had nothing left to do. So what else there is to start here does not count: it is
 * perhaps stolen, and one input that comes here is little beside a branch that leaves. */
static bool stays_with_kin(struct sched *s, bool away)
{
    if (away)
        s->kin_away++;
    else
        s->kin_here++;
    if (s->kin_away + s->kin_here > KIN_WINDOW) {
        s->kin_away /= 2;
        s->kin_here /= 2;
    }
    return away && s->config.share_local && s->rules->relax && s->wait.length > KIN_WAITING &&
           s->kin_away <= s->kin_here + KIN_DOUBT;
}

/* Algorithm 1, by the policy of the moment. A task without inputs from others is nobody's in
 * particular, and costs no call. */
void task_ready(struct sched *s, uint32_t slot)
{
    struct slot *task = slot_at(s, slot);
    enum decision where = DECIDE_SHARED;
    if (task->all_size > 0)
        where = s->rules->decide(&(struct decide_input){.all_size = task->all_size,
                                                        .max_size = task->max_size,
                                                        .max_node = task->max_node,
                                                        .self = s->config.node,
                                                        .bandwidth = s->config.bandwidth,
                                                        .length = policy_length(s, task->task),
                                                        .t = s->t});
    /* whoever has the data cannot take it: let anybody come for it */
    if (where == DECIDE_PUSH &&
        (task->max_node >= s->config.nodes || node_is_down(s, task->max_node) ||
         !fit_at(s, task->task, task->max_node) ||
         (s->aside.n && node_is_aside(s, task->max_node))))
        where = DECIDE_SHARED;
    bool looked = task->flags & SLOT_LOOKED;
    task->flags &= (uint8_t)~SLOT_LOOKED;
    if (where != DECIDE_SHARED && (looked || stays_with_kin(s, where == DECIDE_PUSH)))
        where = DECIDE_LOCAL;
    if (where == DECIDE_PUSH) {
        s->counts.pushed++;
        move_give(s, slot, SCHED_PUSH, task->max_node, 0);
    } else {
        task_enqueue(s, slot, where == DECIDE_LOCAL ? SCHED_LREADYQ : SCHED_SREADYQ);
    }
}

/* A running task is only asked to stop; its slot goes when its end is reported, since the driver
 * names it by this slot. */
void task_remove_here(struct sched *s, uint32_t slot)
{
    struct slot *task = slot_at(s, slot);
    if (task->place != SCHED_RUNNING) {
        task_forget(s, slot);
    } else if (!(task->flags & SLOT_CANCELLED)) {
        task->flags |= SLOT_CANCELLED;
        array_push(&s->out->stops, (struct sched_start){task->task, slot, task->attempts});
    }
}

void task_start(struct sched *s, uint32_t slot)
{
    struct slot *task = slot_at(s, slot);
    place_leave(s, slot);
    task->since = s->now;
    task->attempts++;
    place_enter(s, slot, SCHED_RUNNING);
    look_soon(s);
    if (s->config.gate.started)
        s->config.gate.started(s->config.gate.context, task->task);
    array_push(&s->out->starts, (struct sched_start){task->task, slot, task->attempts});
    if (s->config.record_starts)
        op_for_slot(s, META_START, slot)->attempt =
            (uint16_t)(task->attempts < UINT16_MAX ? task->attempts : UINT16_MAX);
}

/* Is there a thread for one more task, or at least soon? Tasks that are predicted to be shorter than they have
 * proved to be count as these do. */
bool start_has_room(const struct sched *s, double length)
{
    uint32_t started = s->config.cores - s->free_cores, threads = s->config.threads;
    if (started < threads || !s->free_cores)
        return s->free_cores;
    double seen = s->length_count > 0 ? s->length_sum / s->length_count : s->config.default_length;
    return (started - threads + 1) * fmax(length, seen) <= threads * s->config.start_early;
}

/* Strictly in order, the LReadyQ first: a large task at the front waits until it fits and is never
 * overtaken for ever. But for one that waits for things: it is passed by those who want others (F4). */
static void start_tasks(struct sched *s)
{
    uint64_t groups = READY_ALL;
    s->lacking = 0;
    s->reserved = 0;
    while (s->free_cores && !gang_is_waited_for(s)) {
        uint32_t slot = readyset_peek(&s->local, groups);
        if (slot == NONE)
            slot = readyset_peek(&s->shared, groups);
        if (slot == NONE)
            return;
        if (lasts_no_more(s, slot))
            continue;
        struct slot *task = slot_at(s, slot);
        if (s->config.threads < s->config.cores && !start_has_room(s, policy_length(s, task->task)))
            return;
        if (s->things && !fit_may_hold(s, task, &groups))
            continue;
        if (task_cores(s, task->task) > s->free_cores ||
            task_memory(s, task->task) > s->free_memory)
            return;
        if (!room_fits(s, task->task, true))
            slot = room_other_that_fits(s);
        if (slot == NONE)
            return;
        task_start(s, slot);
    }
}

/* Its end, as an operation. */
static struct meta_op *op_of_end(struct sched *s, enum meta_kind kind, uint32_t slot)
{
    struct meta_op *op = op_for_slot(s, kind, slot);
    op->ahead = (slot_at(s, slot)->flags & SLOT_AHEAD) != 0;
    return op;
}

/* The COMPLETE of a task that was not taken, or failed and may: no outputs, and the children go on. */
static void complete_without(struct sched *s, const struct sched_ended *e, enum meta_status status)
{
    const struct slot *task = slot_at(s, e->slot);
    place_enter(s, e->slot, SCHED_COMPLETEQ);
    struct meta_op *op = op_of_end(s, META_COMPLETE, e->slot);
    op->status = (uint8_t)status;
    op->attempt = (uint16_t)(task->attempts < UINT16_MAX ? task->attempts : UINT16_MAX);
    op->start = e->start;
    op->time = e->finish;
}

/* Try again, after a pause that doubles, or end it for good: a final failure is an operation like a
 * completion, since only the holder may say it. */
static void attempt_failed(struct sched *s, const struct sched_ended *e)
{
    uint32_t slot = e->slot;
    struct slot *task = slot_at(s, slot);
    uint32_t retries =
        s->config.task_retries ? s->config.task_retries[task->task] : s->config.retries;
    s->counts.failed_attempts++;
    if (task->attempts > retries || e->last) {
        if (e->excused) {
            complete_without(s, e, META_EXCUSED);
            return;
        }
        place_enter(s, slot, SCHED_COMPLETEQ);
        op_of_end(s, META_REMOVE, slot)->status = META_FAILED;
        return;
    }
    op_for_slot(s, META_RETRY, slot)->attempt =
        (uint16_t)(task->attempts < UINT16_MAX ? task->attempts : UINT16_MAX);
    if (s->config.retry_first > 0) {
        /* 65536 times the first pause is days; the shift must not overflow */
        uint32_t doublings = task->attempts - 1 < 16 ? task->attempts - 1 : 16;
        place_enter(s, slot, SCHED_BACKOFF);
        double after = s->config.retry_first * (double)(1u << doublings);
        timer_add(s, after < s->config.retry_most ? after : s->config.retry_most, TIMER_RETRY,
                  task->task);
    } else {
        task_enqueue(s, slot, SCHED_SREADYQ);
    }
}

/* It was started and has not begun: its node leaves, or cannot run it now; or its node failed it
 * (`cost`). The store, which may have its start, learns that it is queued again. */
static void task_returned(struct sched *s, uint32_t slot, uint32_t cost)
{
    struct slot *task = slot_at(s, slot);
    task->attempts -= task->attempts > 0;
    if (s->config.record_starts)
        op_for_slot(s, META_RETRY, slot)->attempt =
            (uint16_t)(task->attempts < UINT16_MAX ? task->attempts : UINT16_MAX);
    s->counts.passed_on += cost > 0;
    if (cost)
        aside_pass_on(s, slot, cost);
    else
        task_enqueue(s, slot, SCHED_SREADYQ);
}

/* P2: a COMPLETE goes to the store, and the task stays in the CompleteQ until it is answered. An
 * end that nobody waits for (of an earlier life, reported twice) is passed over. */
static void task_attempt_ended(struct sched *s, const struct sched_ended *e)
{
    if (e->slot >= s->tasks.slots.n)
        return;
    struct slot *task = slot_at(s, e->slot);
    if (task->task != e->task || task->place != SCHED_RUNNING)
        return;
    bool broken = s->gangs && gang_is_broken(s, e->slot), doubted = task->flags & SLOT_DOUBTED;
    place_leave(s, e->slot);
    if (task->flags & SLOT_CANCELLED) {
        task_drop(s, e->slot);
        return;
    }
    task->flags &= (uint8_t)~SLOT_SETTLED;
    if (e->returned || (broken && e->failed)) {
        task_returned(s, e->slot, e->returned ? e->passed_on : 0);
        return;
    }
    if (e->skipped) {
        complete_without(s, e, META_SKIPPED);
        return;
    }
    double length = e->finish > e->start ? e->finish - e->start : 0;
    /* a failed attempt has also kept a core busy and moved data: the policies count both */
    s->counts.busy += length;
    s->counts.fetched += e->fetched;
    s->window_busy += length;
    s->window_fetched += e->fetched;
    if (e->failed) {
        attempt_failed(s, e);
        return;
    }
    s->length_sum += length;
    s->length_count++;
    s->window_done++;
    place_enter(s, e->slot, SCHED_COMPLETEQ);
    struct meta_op *op = op_of_end(s, META_COMPLETE, e->slot);
    op->attempt = (uint16_t)(task->attempts < UINT16_MAX ? task->attempts : UINT16_MAX);
    op->start = e->start;
    op->time = e->finish;
    op->bytes = e->bytes;
    if (!doubted)
        ahead_ended(s, e->task, e->bytes);
}

/* Tasks that somebody PUT for this node. They are asked for like any other, so that a task which an
 * adopter was quicker to take is found out. */
static void sched_submitted(struct sched *s, const uint32_t *tasks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (slots_find(&s->tasks, tasks[i]) != NONE)
            continue;
        uint32_t slot = slots_add(&s->tasks, tasks[i]);
        move_hold(s, slot); /* epoch 0: what the client PUT for us, or for nobody */
    }
}

/* What it held before is taken back when the store has answered: an operation of an earlier life
 * that is still on its way could otherwise take a task after this life has looked, and nobody would
 * know it. */
static void sched_begin_life(struct sched *s)
{
    struct meta_op *op = op_add(s, META_JOIN, NONE);
    op->life = op->epoch = s->life;
    move_ask_again(s);
}

/* ---- events ---- */

/* A message that cannot be meant for us (another node, a number that nobody has) is passed over:
 * the sender may have another idea of the cluster than we. */
static void sched_message_arrived(struct sched *s, const struct sched_message *m,
                                  const struct meta_item *items)
{
    if (m->from >= s->config.nodes || m->to != s->config.node || m->from == m->to)
        return;
    switch (m->kind) {
    case SCHED_PUSH:
        for (uint32_t i = 0; i < m->count; i++)
            move_accept(s, m->from, &items[i], true);
        break;
    case SCHED_ACK:
        for (uint32_t i = 0; i < m->count; i++)
            move_acknowledged(s, &items[i]);
        break;
    case SCHED_READY:
        for (uint32_t i = 0; i < m->count; i++)
            answers_ready(s, &items[i]);
        break;
    case SCHED_DROP:
        for (uint32_t i = 0; i < m->count; i++) {
            uint32_t slot = slots_find(&s->tasks, items[i].task);
            if (slot != NONE)
                task_remove_here(s, slot);
        }
        break;
    case SCHED_GANG_QUERY:
    case SCHED_GANG_OFFER:
    case SCHED_GANG_ASK:
    case SCHED_GANG_GRANT:
    case SCHED_GANG_FREE:
    case SCHED_GANG_CALL:
    case SCHED_GANG_HERE:
        gang_message(s, m, items);
        break;
    default:
        steal_message(s, m, items);
        break;
    }
}

/* Timers are never withdrawn: each handler sees for itself whether it is still due. */
static void sched_timer_fired(struct sched *s, uint32_t kind, uint32_t mark)
{
    switch (kind) {
    case TIMER_STEAL:
    case TIMER_REPLY:
        steal_timer(s, (enum timer_kind)kind, mark);
        break;
    case TIMER_MONITOR:
        policy_monitor(s);
        break;
    case TIMER_WAIT:
        if (mark == LOOK_MARK)
            look_timer(s);
        else
            answers_poll_waiting(s);
        break;
    case TIMER_MOVING:
        move_timer(s);
        break;
    case TIMER_ADOPT:
        move_adopt_all(s);
        break;
    case TIMER_GANG:
        gang_timer(s);
        break;
    case TIMER_RETRY: {
        uint32_t slot = slots_find(&s->tasks, mark);
        if (slot != NONE && slot_at(s, slot)->place == SCHED_BACKOFF) {
            place_leave(s, slot);
            task_enqueue(s, slot, SCHED_SREADYQ);
        }
        break;
    }
    default:
        break;
    }
}

/* Somebody outside watches heartbeats and reports who is down (with the life that is over) and up.
 * The numbers of dead nodes are kept: they are not asked for work, and get none. */
static void sched_node_changed(struct sched *s, uint32_t node, uint32_t life, bool down)
{
    if (node == s->config.node)
        return;
    /* A newcomer past the last number: those between are not there until they are reported. Also one that
     * is gone when it is first heard of: it may have taken tasks meanwhile. */
    for (; s->config.nodes <= node; s->config.nodes++)
        if (s->config.nodes < node && s->config.nodes != s->config.node)
            array_push(&s->down, (struct sched_down){s->config.nodes, SCHED_NOT_YET});
    sched_arm_wait_poll(&s->config);
    size_t i = 0;
    while (i < s->down.n && s->down.at[i].node != node)
        i++;
    if (down) {
        if (i == s->down.n)
            array_add(&s->down);
        s->down.at[i] = (struct sched_down){node, life};
        move_adopt(s, node, 0);
        gang_node_lost(s, node, true);
    } else if (i < s->down.n) {
        s->down.at[i] = array_pop(&s->down);
    }
    if (!down) {
        steal_wake(s); /* it may bring work, or take some */
        fit_look_again(s, node);
        aside_give_ready(s);
    }
}

/* One event, then what follows from any event: start what fits, steal if idle, see that the timers
 * of the monitor and of P1 run. O(1) a task concerned. */
void sched_handle(struct sched *s, const struct sched_event *e, struct sched_actions *out)
{
    s->out = out;
    if (e->now > s->now)
        s->now = e->now;
    if (e->sending > 0)
        s->sending_until = fmax(s->sending_until, s->now + e->sending / s->config.bandwidth);
    if (e->kind == SCHED_EVENT_MESSAGE && e->message.head->kind == SCHED_LOAD_QUERY) {
        sched_message_arrived(s, e->message.head, e->message.items);
        s->out = NULL;
        return; /* asking changes nothing, and of many schedulers it is most of what they receive */
    }
    switch (e->kind) {
    case SCHED_EVENT_START:
        s->life = e->life;
        sched_begin_life(s);
        break;
    case SCHED_EVENT_SUBMIT:
        sched_submitted(s, e->submit.tasks, e->submit.n);
        break;
    case SCHED_EVENT_MESSAGE:
        sched_message_arrived(s, e->message.head, e->message.items);
        break;
    case SCHED_EVENT_TIMER:
        sched_timer_fired(s, e->timer.kind, e->timer.mark);
        break;
    case SCHED_EVENT_ENDED:
        for (size_t i = 0; i < e->ended.n; i++)
            task_attempt_ended(s, &e->ended.at[i]);
        break;
    case SCHED_EVENT_STORE:
        answers_handle(s, &e->store);
        break;
    case SCHED_EVENT_NODE_DOWN:
        sched_node_changed(s, e->node, e->over, true);
        break;
    case SCHED_EVENT_NODE_UP:
        sched_node_changed(s, e->node, 0, false);
        break;
    case SCHED_EVENT_REMOVE:
        op_add(s, META_REMOVE, e->task)->status = META_REMOVED;
        break;
    case SCHED_EVENT_POLICY:
        if (e->policy.t >= 0)
            s->t = e->policy.t;
        if (e->policy.tt >= 0)
            s->tt = e->policy.tt;
        policy_set(s, e->policy.policy);
        break;
    case SCHED_EVENT_DISK:
        s->free_disk = e->disk;
        break;
    case SCHED_EVENT_CAPACITY:
        fit_capacity_changed(s, e->capacity.node, &e->capacity.has);
        break;
    case SCHED_EVENT_ASIDE:
        aside_changed(s, e->aside.node, e->aside.is);
        break;
    case SCHED_EVENT_ROOM:
        gang_room(s, &e->room);
        break;
    }
    if (s->gangs)
        gang_advance(s);
    /* work that had to wait is a sign that there is more: a thief that gave up begins anew */
    start_tasks(s);
    if (s->local.length || s->shared.length || s->count[SCHED_ARRIVING])
        steal_wake(s);
    steal_maybe(s);
    look_arm(s);
    policy_arm(s);
    if (!s->wait_set && s->wait.length + s->unfit.length && s->config.wait_poll > 0) {
        s->wait_set = true;
        timer_add(s, s->config.wait_poll, TIMER_WAIT, 0);
    }
    s->out = NULL;
}
