/* Where a task fits: on this node, on every node, on which other one.
 *
 *                          fits here?
 *     ready, in any way ──▶ yes ──▶ LReadyQ or SReadyQ, in the group of what it asks for
 *                       └─▶ no  ──▶ another node has room? ── yes ──▶ MOVING, to that node
 *                                                          └─ no  ──▶ UNFIT ── one comes ──▶ again
 *
 * Decided once when a task becomes ready, never per steal: a thief gets from the groups that fit it.
 *
 *   F1. A task in a ready queue fits this node, but for the time that is left there (lasts.c);
 *       sched_check() looks.
 *   F2. A task of group 0 fits every node that takes anything (`least`); one of another group asks for
 *       at most what the group's demand says. So a thief whose capacity meets the demand can run all
 *       of the group.
 *   F3. A node that was never told of is like this one was at first.
 *   F4. Tasks that hold things are in groups of their own, one a demand: what waits for a GPU is passed
 *       over by its group, in O(groups), and keeps nobody else waiting. Among those that ask for the same
 *       thing the order holds: what the first waits for, no other takes, so that one that wants two is
 *       not overtaken for ever by those that want one. */
#include "sched/state.h"

#include <math.h>

/* F3. */
static const struct capacity *fit_capacity(const struct sched *s, uint32_t node)
{
    return node == s->config.node ? &s->own
           : node < s->others.n   ? &s->others.at[node]
                                  : &s->standard;
}

bool fit_at(const struct sched *s, uint32_t task, uint32_t node)
{
    return fit_within(s, task, fit_capacity(s, node));
}

/* Apart from things: those it holds by a group of its own. */
static bool fit_is_small(const struct sched *s, uint32_t task)
{
    const struct sched_config *k = &s->config;
    return (k->task_cores ? k->task_cores[task] : 1) <= s->least.cores &&
           (!k->task_memory || k->task_memory[task] <= s->least.memory) &&
           (!k->task_needs || !(k->task_needs[task] & ~s->least.has)) &&
           !(lasts_class(s, task) > 0);
}

bool fit_things(const struct sched *s, uint32_t task, const struct capacity *c)
{
    const uint32_t *demand = fit_demand(s, task);
    for (uint32_t i = 0; demand && i < THING_SORTS; i++)
        if (demand[i] && !thing_fits(c->thing[i], c->things >> i & 1, demand[i]))
            return false;
    return true;
}

/* ---- things ---- */

bool fit_may_hold(struct sched *s, const struct slot *task, uint64_t *groups)
{
    const uint32_t *demand = fit_demand(s, task->task);
    uint32_t wants = 0;
    for (uint32_t i = 0; demand && i < THING_SORTS; i++)
        wants |= (uint32_t)(demand[i] > 0) << i;
    if (!wants || (!(wants & s->reserved) && things_can_take(s->things, demand)))
        return true;
    s->reserved |= wants;
    s->lacking |= UINT64_C(1) << task->group;
    *groups = ~s->lacking;
    return false;
}

/* ---- groups ---- */

/* A group for each demand that differs; when there are too many, the last one takes the rest, and asks
 * for the most of all of them: then a thief may be refused what it could run, and never gets what it
 * cannot. Raising it needs no regrouping: what is in it asks for less. */
uint8_t fit_group(struct sched *s, uint32_t task)
{
    const struct sched_config *k = &s->config;
    uint32_t row = k->task_asks ? k->task_asks[task] : 0;
    /* what fits everywhere but for its things need not be told apart by its cores */
    struct capacity asks = {.cores = 1};
    if (!fit_is_small(s, task))
        asks = (struct capacity){.cores = k->task_cores ? k->task_cores[task] : 1,
                                 .memory = k->task_memory ? k->task_memory[task] : 0,
                                 .has = k->task_needs ? k->task_needs[task] : 0,
                                 .seconds = lasts_class(s, task)};
    else if (!row)
        return 0;
    for (size_t i = 0; i < s->demands.n; i++) {
        const struct capacity *d = &s->demands.at[i];
        if (s->demand_asks.at[i] == row && d->cores == asks.cores && d->memory == asks.memory &&
            d->has == asks.has && d->seconds == asks.seconds)
            return (uint8_t)(i + READY_DEMANDS);
    }
    for (uint32_t i = 0; row && i < THING_SORTS; i++) {
        asks.thing[i] = k->amount[(size_t)row * THING_SORTS + i];
        asks.things |= (uint32_t)(asks.thing[i] > 0) << i;
    }
    if (s->demands.n < READY_GROUPS - READY_DEMANDS) {
        array_push(&s->demands, asks);
        array_push(&s->demand_asks, row);
    } else {
        struct capacity *last = &array_last(&s->demands);
        *last = capacity_most(last, &asks);
        array_last(&s->demand_asks) = NONE;
    }
    return (uint8_t)(s->demands.n - 1 + READY_DEMANDS);
}

uint64_t fit_groups_of(const struct sched *s, uint32_t node, uint32_t without)
{
    const struct capacity *c = fit_capacity(s, node);
    uint64_t groups = c->cores > 0;
    if (s->aside.n && node_is_aside(s, node))
        return 0;
    for (size_t i = 0; i < s->demands.n; i++)
        groups |= (uint64_t)(capacity_fits(c, &s->demands.at[i]) &&
                             !(s->demands.at[i].things & without) &&
                             (!(c->ends > 0) || s->now + s->demands.at[i].seconds <= c->ends))
                  << (i + READY_DEMANDS);
    return groups;
}

/* ---- elsewhere ---- */

/* Where its data are, if it fits there; else the next that lives, from a random one on. One that has
 * failed it if there is no other, one that is set aside if there is none but such. O(nodes) when few
 * fit. */
static uint32_t fit_find_node(struct sched *s, const struct slot *task)
{
    uint32_t n = s->config.nodes, near = task->max_node;
    if (near < n && aside_is_usable(s, task->task, near) && !aside_has_failed(s, task, near))
        return near;
    uint32_t at = n > 2 ? (uint32_t)rng_below(&s->rng, n) : 0, last = NONE, worst = NONE;
    for (uint32_t i = 0; i < n; i++, at = at + 1 < n ? at + 1 : 0) {
        if (at == s->config.node || !fit_at(s, task->task, at) || node_is_down(s, at))
            continue;
        if (s->aside.n && node_is_aside(s, at))
            worst = at;
        else if (aside_has_failed(s, task, at))
            last = at;
        else
            return at;
    }
    return last != NONE ? last : worst;
}

/* The taker puts it into its SReadyQ, as if it
 * had stolen it: with what it has, others may take it on. */
void fit_send_on(struct sched *s, uint32_t slot)
{
    uint32_t to = fit_find_node(s, slot_at(s, slot));
    if (to == NONE) {
        place_enter(s, slot, SCHED_UNFIT);
        return;
    }
    s->counts.given++;
    move_give(s, slot, SCHED_TASKS, to, 0); /* of no round: nobody has asked */
}

void task_enqueue(struct sched *s, uint32_t slot, enum sched_place place)
{
    uint32_t task = slot_at(s, slot)->task;
    double start = s->config.not_before ? s->config.not_before[task] : 0;
    if (start >
        s->now) { /* as after a failure, but that nothing has failed: the same timer ends it */
        place_enter(s, slot, SCHED_BACKOFF);
        timer_add(s, start - s->now, TIMER_RETRY, task);
        return;
    }
    if (gang_is_wide(s, slot_at(s, slot)->task))
        gang_enqueue(s, slot);
    else if (fit_here(s, slot_at(s, slot)->task) &&
             !aside_is_better_elsewhere(s, slot_at(s, slot)->task) &&
             !aside_is_for_another(s, slot_at(s, slot)))
        place_enter(s, slot, place);
    else
        fit_send_on(s, slot);
}

/* ---- changes ---- */

/* Those that fit this node go there, or to another that they fit. Each once: what finds no place after
 * all stands at the end of the list again. O(tasks that wait). */
void fit_look_again(struct sched *s, uint32_t node)
{
    uint32_t next = s->unfit.head;
    for (uint32_t n = s->unfit.length; n; n--) {
        uint32_t slot = next;
        next = slot_at(s, slot)->next;
        if (!fit_at(s, slot_at(s, slot)->task, node) || node_is_down(s, node))
            continue;
        place_leave(s, slot);
        task_enqueue(s, slot, SCHED_SREADYQ);
    }
}

/* What is queued and does not fit this node any more goes on; what has become picky changes its group.
 * Rare: a node has come that is smaller than all before it, or this one leaves. O(tasks held). */
static void fit_sort_ready(struct sched *s)
{
    for (uint32_t slot = 0; slot < s->tasks.slots.n; slot++) {
        struct slot *task = slot_at(s, slot);
        enum sched_place place = task->place;
        if (place == SCHED_GATHERING && !fit_here(s, task->task))
            gang_abandon(s, slot);
        if (place == SCHED_WIDEQ && !fit_here(s, task->task)) {
            place_leave(s, slot);
            task_enqueue(s, slot, place);
        }
        if (place != SCHED_LREADYQ && place != SCHED_SREADYQ)
            continue;
        if (fit_here(s, task->task) && fit_ready_group(s, task) == task->group)
            continue;
        place_leave(s, slot);
        task_enqueue(s, slot, place);
    }
}

static bool capacity_same(const struct capacity *a, const struct capacity *b)
{
    return a->cores == b->cores && a->memory == b->memory && a->has == b->has &&
           a->ends == b->ends && a->things == b->things &&
           memcmp(a->thing, b->thing, sizeof a->thing) == 0;
}

/* `least` only falls: a task that has become picky for a node that is gone may still be stolen by all
 * who have room for it. */
static void fit_note_least(struct sched *s, const struct capacity *has)
{
    if (has->cores) /* one that takes nothing is nobody's measure */
        s->least = capacity_least(&s->least, has);
    s->uneven = !capacity_same(&s->least, &s->standard);
}

/* What this node has, to be held. Amounts that changed count from when nobody holds any. */
static void fit_stock(struct sched *s)
{
    if (!s->config.task_asks)
        return;
    if (!s->things)
        s->things = things_new(s->own.thing, s->own.things, THING_SORTS);
    for (uint32_t i = 0; i < THING_SORTS; i++)
        if (s->things->stock[i].amount != s->own.thing[i] ||
            s->things->stock[i].named != (s->own.things >> i & 1))
            things_set(s->things, i, s->own.thing[i], s->own.things >> i & 1);
}

/* What this node has of things that the workflow names since it grew. */
void fit_grow(struct sched *s, const struct sched_config *config)
{
    s->own.things = config->things;
    memcpy(s->own.thing, config->thing, sizeof s->own.thing);
    if (!s->config.task_asks)
        return;
    fit_note_least(s, &s->own);
    fit_stock(s);
}

void fit_capacity_changed(struct sched *s, uint32_t node, const struct capacity *has)
{
    if (node == s->config.node) {
        s->own = *has;
        fit_stock(s);
    } else {
        while (s->others.n <= node)
            array_push(&s->others, s->standard); /* F3 */
        s->others.at[node] = *has;
    }
    struct capacity before = s->least;
    fit_note_least(s, has);
    if (node == s->config.node || !capacity_same(&before, &s->least))
        fit_sort_ready(s);
    fit_look_again(s, node);
    if (node == s->config.node)
        gang_refuse_parts(s);
    else
        gang_node_lost(s, node, false);
}

/* Before any task is held. */
void fit_begin(struct sched *s)
{
    const struct sched_config *c = &s->config;
    s->own = (struct capacity){.cores = c->cores,
                               .memory = c->memory,
                               .has = c->has,
                               .things = c->things,
                               .ends = c->ends};
    memcpy(s->own.thing, c->thing, sizeof s->own.thing);
    s->standard = s->least = s->own;
    s->standard.ends = 0;
    fit_note_least(s, &s->own);
    fit_stock(s);
    for (uint32_t node = 0; c->capacity && node < c->nodes; node++) {
        if (node == c->node) /* one truth about this node: its own fields */
            continue;
        while (s->others.n < node)
            array_push(&s->others, s->standard);
        array_push(&s->others, c->capacity[node]);
        fit_note_least(s, &c->capacity[node]);
    }
}
