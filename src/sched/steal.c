/* Adaptive work stealing (section 2.2.1).
 *
 *     NO ── idle ──▶ QUERYING ── replies ──▶ ASKED ── tasks ──▶ NO, interval back to the first
 *                       │                      │
 *                       │ nobody has any       │ none, or no answer
 *                       └──────────┬───────────┘
 *                                  ├──▶ BACKOFF, interval doubled ── timer ──▶ NO
 *                                  └──▶ DORMANT, interval over the bound ── work again ──▶ NO
 *
 * The paper asks its neighbours one after the other; here all are asked at once, which costs one
 * round trip and not √n. */
#include "sched/state.h"
#include <math.h>

/* O(dead nodes): few, and asked a few times an event. */
bool node_is_down(const struct sched *s, uint32_t node)
{
    for (size_t i = 0; i < s->down.n; i++)
        if (s->down.at[i].node == node)
            return true;
    return false;
}

/* Tasks that arrive may fill the cores: not idle yet. Those that wait for things do not. */
static bool steal_is_due(const struct sched *s)
{
    return start_has_room(s, 0) && s->own.cores && !s->self_aside && !gang_is_waited_for(s) &&
           !fit_startable(s, &s->local) && !fit_startable(s, &s->shared) &&
           !s->count[SCHED_ARRIVING];
}

bool steal_is_in_vain(const struct sched *s)
{
    return (s->steal == STEAL_BACKOFF || s->steal == STEAL_DORMANT) && steal_is_due(s);
}

/* Things that nothing is left of, or that tasks here wait for: more such tasks would only wait, too. */
static uint32_t steal_without(const struct sched *s)
{
    return s->things ? s->reserved | things_exhausted(s->things) : 0;
}

/* Nobody had anything. The interval doubles up to its bound; past it the node sleeps until there is
 * a sign of work, unless tt is so small that others are about to relax their queues. */
static void steal_failed(struct sched *s)
{
    s->counts.failed_steals++;
    /* section 4.4: thieves go hungry, so less may wait in LReadyQs */
    if (s->config.adapt_tt && s->rules->relax)
        s->tt /= 2;
    double wait = s->interval;
    if (wait > s->config.steal_bound) {
        if (!s->config.adapt_tt || s->tt > s->config.tt_small) {
            s->steal = STEAL_DORMANT;
            return;
        }
        wait = s->config.steal_first;
    }
    s->interval = wait * 2;
    s->steal = STEAL_BACKOFF;
    timer_add(s, wait, TIMER_STEAL, ++s->round);
}

/* The second step: half of what the most loaded of those that answered can spare. */
static void steal_ask_most_loaded(struct sched *s)
{
    if (!s->best_load) {
        steal_failed(s);
        return;
    }
    s->steal = STEAL_ASKED;
    send_begin(s, SCHED_STEAL, s->best_node, ++s->round)->load = steal_without(s);
    timer_add(s, s->config.reply_timeout, TIMER_REPLY, s->round);
}

/* √n different living neighbours, drawn by rejection: most draws hit while few nodes are down, and
 * when most are down the few that live are walked from a random one on. */
static void steal_query_neighbours(struct sched *s)
{
    uint32_t n = s->config.nodes, self = s->config.node;
    uint32_t others = n - 1 - (uint32_t)s->down.n;
    uint32_t want = (uint32_t)sqrt((double)n);
    if (want > others)
        want = others;
    s->scratch.n = 0;
    uint32_t tries = 0, next = 0;
    while (s->scratch.n < want) {
        uint32_t node;
        /* eight draws for each that is wanted are nearly always enough; then walk, to come to an
         * end */
        if (tries < 8 * want) {
            node = (uint32_t)rng_below(&s->rng, n);
            if (++tries == 8 * want)
                next = node;
        } else {
            node = next++ % n;
        }
        bool usable = node != self && !node_is_down(s, node);
        for (size_t i = 0; usable && i < s->scratch.n; i++)
            usable = s->scratch.at[i] != node;
        if (usable)
            array_push(&s->scratch, node);
    }
    s->steal = STEAL_QUERYING;
    s->counts.steals++;
    s->round++;
    s->pending = want;
    s->best_load = 0;
    s->best_node = NONE;
    uint32_t without = steal_without(s);
    for (uint32_t i = 0; i < want; i++)
        send_begin(s, SCHED_LOAD_QUERY, s->scratch.at[i], s->round)->load = without;
    timer_add(s, s->config.reply_timeout, TIMER_REPLY, s->round);
}

/* Begin a round if the node is idle, not in one already, and not alone. */
void steal_maybe(struct sched *s)
{
    if (s->steal == STEAL_NO && s->config.nodes > 1 + s->down.n && steal_is_due(s))
        steal_query_neighbours(s);
}

/* There is a sign of work somewhere: a node that gave up begins again, with the first interval. */
void steal_wake(struct sched *s)
{
    if (s->steal == STEAL_DORMANT) {
        s->steal = STEAL_NO;
        s->interval = s->config.steal_first;
    }
}

/* Of the time between two starts here: a thief that has the data so soon is waited for by nobody. */
#define STEAL_NO_TURN 0.1

/* How many tasks this node itself would have begun before a thief has the data of this one: what others
 * were given travels first, one after the other, over the one interface. Data that are not here are on
 * their way to this node, and to a thief they would come after that. */
static double steal_keeps(const struct sched *s, const struct slot *task)
{
    double wait = task->all_size / s->config.bandwidth;
    double until = task->max_node == s->config.node ? s->sending_until : s->awaited_until;
    if (until > s->now)
        wait += until - s->now;
    double turns = s->config.threads * wait / policy_length(s, task->task);
    /* long tasks with little to read: none of them is worth an idle node */
    return !(task->all_size > 0) || turns < STEAL_NO_TURN ? 0 : ceil(turns);
}

/* Tasks of these groups in the LReadyQ that a thief would have started before this node does: the
 * i-th waits for i / cores task lengths, and moving the data of the first, which has the most, is what
 * a thief spends. */
static uint32_t steal_spare_local(struct sched *s, uint64_t groups)
{
    uint32_t first = readyset_peek(&s->local, groups);
    if (!s->config.share_local || !s->rules->relax || first == NONE)
        return 0;
    double keep = steal_keeps(s, slot_at(s, first));
    uint32_t queued = readyset_length(&s->local, groups);
    return keep < queued ? queued - (uint32_t)keep : 0;
}

/* The same of the SReadyQ, whose tasks come after those of the LReadyQ; without share_local all of it. */
static uint32_t steal_spare_shared(struct sched *s, uint64_t groups)
{
    uint32_t queued = readyset_length(&s->shared, groups);
    uint32_t first =
        s->config.share_local && s->rules->relax ? readyset_peek(&s->shared, groups) : NONE;
    if (first == NONE)
        return queued;
    double keep = steal_keeps(s, slot_at(s, first)) - s->local.length;
    return keep <= 0 ? queued : keep < queued ? queued - (uint32_t)keep : 0;
}

/* So many of the LReadyQ into the SReadyQ, from its far end. */
static void steal_offer_local(struct sched *s, uint32_t n, uint64_t groups)
{
    for (; n; n--) {
        uint32_t slot = readyset_tail(&s->local, groups);
        place_leave(s, slot);
        place_enter(s, slot, SCHED_SREADYQ);
        s->counts.relaxed++;
    }
}

/* Half of what fits the thief in the SReadyQ, rounded up, from its front: it is idle and starts them at
 * once. With
 * share_local of what the LReadyQ can spare as well, and from the far end: those move the least
 * data, and children of one parent stay together. */
static void steal_give_half(struct sched *s, const struct sched_message *m)
{
    uint64_t groups = fit_groups_of(s, m->from, m->load);
    uint32_t shared = steal_spare_shared(s, groups);
    uint32_t total = shared + steal_spare_local(s, groups), n = total - total / 2;
    double last = 0; /* siblings read one object, which is sent once */
    double until = s->now;
    if (n > s->config.steal_most)
        n = s->config.steal_most;
    if (n > shared)
        steal_offer_local(s, n - shared, groups);
    send_begin(s, SCHED_TASKS, m->from, m->round);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = s->config.share_local ? readyset_tail(&s->shared, groups)
                                              : readyset_peek(&s->shared, groups);
        const struct slot *task = slot_at(s, slot);
        double *busy = task->max_node == s->config.node ? &s->sending_until : &s->awaited_until;
        if (task->all_size != last) {
            last = task->all_size;
            *busy = fmax(*busy, s->now) + last / s->config.bandwidth;
        }
        until = last > 0 ? fmax(until, *busy) : until;
        place_leave(s, slot);
        move_give(s, slot, SCHED_TASKS, m->from, m->round);
    }
    s->counts.given += n;
    array_last(&s->out->sends).load = (uint32_t)fmin((until - s->now) * 1e6, UINT32_MAX);
}

/* The round number keeps late answers of an earlier round from being counted in this one. Tasks are
 * taken whatever the round: they were given away, and nobody else has them. */
void steal_message(struct sched *s, const struct sched_message *m, const struct meta_item *items)
{
    bool mine = m->round == s->round;
    switch (m->kind) {
    case SCHED_LOAD_QUERY: {
        uint64_t groups = fit_groups_of(s, m->from, m->load);
        send_begin(s, SCHED_LOAD_REPLY, m->from, m->round)->load =
            steal_spare_shared(s, groups) + steal_spare_local(s, groups);
        break;
    }
    case SCHED_LOAD_REPLY:
        if (s->steal != STEAL_QUERYING || !mine)
            break;
        if (m->load > s->best_load ||
            (m->load && m->load == s->best_load && m->from < s->best_node)) {
            s->best_load = m->load;
            s->best_node = m->from;
        }
        if (--s->pending == 0)
            steal_ask_most_loaded(s);
        break;
    case SCHED_STEAL:
        steal_give_half(s, m);
        break;
    case SCHED_TASKS:
        for (uint32_t i = 0; i < m->count; i++)
            move_accept(s, m->from, &items[i], false);
        s->counts.stolen += m->count;
        s->awaited_until = fmax(s->awaited_until, s->now + m->load * 1e-6);
        if (s->steal != STEAL_ASKED || !mine)
            break;
        if (m->count) {
            s->steal = STEAL_NO;
            s->interval = s->config.steal_first;
        } else {
            steal_failed(s);
        }
        break;
    default:
        break;
    }
}

/* Who has not answered by now has lost the message, or is dead. */
void steal_timer(struct sched *s, enum timer_kind kind, uint32_t mark)
{
    if (mark != s->round)
        return;
    if (kind == TIMER_STEAL && s->steal == STEAL_BACKOFF)
        s->steal = STEAL_NO;
    else if (kind == TIMER_REPLY && s->steal == STEAL_QUERYING)
        steal_ask_most_loaded(s); /* with what the others said */
    else if (kind == TIMER_REPLY && s->steal == STEAL_ASKED)
        steal_failed(s);
}
