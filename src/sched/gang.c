/* Tasks that span several nodes. The nodes of such a task are its gang: the task's own, which runs its
 * command, and others, each of which gives a part (the task's cores and memory) while it runs.
 *
 *     owner    WIDEQ ── its turn ──▶ GATHERING ── all have granted ──▶ RUNNING ── ended ──▶ FREE to all
 *                ▲                     │    │                             │
 *                │   busy, others not  │    │ a node is lost              │ a node is lost: stopped,
 *                │   MOVING ◀──────────┘    ▼                             ▼ and tried again as a whole
 *                └───────────────────── BACKOFF, WIDEQ ◀──────────────────┘
 *
 *     part     ASK ──▶ WAITS ── room, and nothing before it ──▶ ROOM ──▶ GRANTED ── FREE ──▶ gone
 *
 *   G1. No deadlock. A gang asks one node after the other, in the order of their numbers, its own among
 *       them. So whoever waits at a node waits for gangs that run, or that wait at nodes with larger
 *       numbers, or before it in the line of this node.
 *   G2. No starvation. A part that waits is served before any task of this node starts, first come first
 *       served: what becomes free is kept for it.
 *   G3. A node gathers one gang at a time, so that gangs of one node do not wait for each other half done.
 *   G4. A part belongs to (task, owner, epoch, round), which no two gatherings share. Either side may ask
 *       the other whether it still has its side of it (CALL, HERE) and lets go if it has not: lost, late
 *       and doubled messages cost time, and never a core for good.
 *   G5. Which nodes: those that could begin at once before others, so the candidates are asked first
 *       (QUERY, OFFER). When this node itself is busy and enough others are not, one of those gets the
 *       task, once. */
#include "sched/gang.h"

#include <stdlib.h>

#define OFFER_MISSING UINT32_MAX /* no answer yet */

void gangs_init(struct sched *s)
{
    s->gangs = mem_new_zero(struct gangs, 1);
    readyq_init(&s->gangs->wide);
    s->gangs->timer = INFINITY;
}

void gangs_free(struct sched *s)
{
    struct gangs *g = s->gangs;
    if (!g)
        return;
    for (size_t i = 0; i < g->all.n; i++) {
        array_free(&g->all.at[i].nodes);
        array_free(&g->all.at[i].loads);
    }
    array_free(&g->all);
    array_free(&g->parts);
    readyq_free(&g->wide);
    free(g);
}

static uint32_t gang_span(const struct sched *s, uint32_t task)
{
    return s->config.task_nodes[task];
}

static bool gang_may_use(const struct sched *s, uint32_t task, uint32_t node)
{
    return fit_at(s, task, node) && (node == s->config.node || !node_is_down(s, node));
}

bool gang_fits(const struct sched *s, uint32_t task)
{
    uint32_t found = 0, span = gang_span(s, task);
    for (uint32_t node = 0; node < s->config.nodes && found < span; node++)
        found += gang_may_use(s, task, node);
    return found == span;
}

/* ---- messages ---- */

struct sched_message *gang_send(struct sched *s, enum sched_message_kind kind, uint32_t to,
                                const struct gang_key *key)
{
    struct meta_item item = {
        .task = key->task, .epoch = key->epoch, .holder = key->owner, .max_node = NONE};
    struct sched_message *m = send_begin(s, kind, to, key->round);
    array_push(&s->out->items, item);
    m->count = 1;
    return m;
}

static struct gang *gang_find(const struct sched *s, const struct gang_key *key)
{
    for (size_t i = 0; i < s->gangs->all.n; i++)
        if (gang_key_is(&s->gangs->all.at[i].key, key))
            return &s->gangs->all.at[i];
    return NULL;
}

static struct gang *gang_of_slot(const struct sched *s, uint32_t slot)
{
    for (size_t i = 0; s->gangs && i < s->gangs->all.n; i++)
        if (s->gangs->all.at[i].slot == slot)
            return &s->gangs->all.at[i];
    return NULL;
}

static bool gang_has_node(const struct gang *x, uint32_t node)
{
    for (size_t i = 0; i < x->nodes.n; i++)
        if (x->nodes.at[i] == node)
            return true;
    return false;
}

/* ---- gathering ---- */

static void gang_wait(struct sched *s, struct gang *x)
{
    x->due = s->now + x->pause;
}

/* G1. */
static void gang_ask_next(struct sched *s, struct gang *x)
{
    uint32_t node = x->nodes.at[x->granted];
    gang_wait(s, x);
    if (node == s->config.node)
        part_add(s, &x->key);
    else
        gang_send(s, SCHED_GANG_ASK, node, &x->key);
}

/* What its own node gave goes over to the task that runs. */
static void gang_start(struct sched *s, struct gang *x)
{
    x->state = GANG_RUNNING;
    s->gangs->gathers = false;
    gang_wait(s, x);
    part_remove(s, part_find(s, &x->key));
    task_start(s, x->slot);
}

void gang_granted(struct sched *s, const struct gang_key *key, uint32_t node)
{
    struct gang *x = gang_find(s, key);
    if (!x || x->state == GANG_CHOOSING || !gang_has_node(x, node)) {
        gang_send(s, SCHED_GANG_FREE, node, key); /* G4 */
        return;
    }
    if (x->state != GANG_ASKING || x->nodes.at[x->granted] != node)
        return; /* said before */
    x->granted++;
    if (x->granted == x->nodes.n)
        gang_start(s, x);
    else
        gang_ask_next(s, x);
}

static int compare_nodes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The nodes are chosen: ask them (G1). */
static void gang_begin_asking(struct sched *s, struct gang *x)
{
    x->state = GANG_ASKING;
    qsort(x->nodes.at, x->nodes.n, sizeof *x->nodes.at, compare_nodes);
    x->granted = 0;
    x->pause = s->config.reply_timeout;
    gang_ask_next(s, x);
}

/* The best come to the front, of equal ones those that stand before: this node, then those behind it. O(nodes
 * x span). */
static void gang_sort_offers(struct gang *x, uint32_t span)
{
    uint32_t *nodes = x->nodes.at, *loads = x->loads.at;
    for (size_t i = 0; i < span; i++) {
        size_t best = i;
        for (size_t k = i + 1; k < x->nodes.n; k++)
            if (loads[k] < loads[best])
                best = k;
        uint32_t node = nodes[best], load = loads[best];
        memmove(nodes + i + 1, nodes + i, (best - i) * sizeof *nodes);
        memmove(loads + i + 1, loads + i, (best - i) * sizeof *loads);
        nodes[i] = node;
        loads[i] = load;
    }
}

/* G5. Each that was asked and all that was offered stand in two columns. */
static void gang_choose(struct sched *s, struct gang *x)
{
    struct slot *task = slot_at(s, x->slot);
    uint32_t span = gang_span(s, x->key.task), offered = 0;
    for (size_t i = 0; i < x->nodes.n; i++) {
        if (x->nodes.at[i] == s->config.node)
            x->loads.at[i] = gang_load(s, x->key.task);
        offered += x->loads.at[i] < OFFER_REFUSED;
    }
    if (offered < span) { /* words were lost, or nodes leave */
        gang_abandon(s, x->slot);
        return;
    }
    gang_sort_offers(x, span);
    uint32_t first = x->nodes.at[0];
    bool self = false;
    for (size_t i = 0; i < span; i++)
        self |= x->nodes.at[i] == s->config.node;
    if (!self && !(task->flags & SLOT_SETTLED)) {
        uint32_t slot = x->slot;
        place_leave(s, slot);
        s->counts.given++;
        move_give(s, slot, SCHED_TASKS, first, 0);
        return;
    }
    if (!self)
        x->nodes.at[span - 1] = s->config.node;
    x->nodes.n = span;
    gang_begin_asking(s, x);
}

/* Candidates: all that it fits and that live; of many, as many as give a choice, from a random one on. From
 * the next one on otherwise: owners then choose different ones. */
static void gang_find_candidates(struct sched *s, struct gang *x)
{
    uint32_t n = s->config.nodes, span = gang_span(s, x->key.task);
    uint64_t most = 16 + 4 * (uint64_t)span;
    uint32_t at = n > most ? (uint32_t)rng_below(&s->rng, n) : (s->config.node + 1) % n;
    array_push(&x->nodes, s->config.node);
    for (uint32_t i = 0; i < n && x->nodes.n < most; i++, at = at + 1 < n ? at + 1 : 0)
        if (at != s->config.node && gang_may_use(s, x->key.task, at))
            array_push(&x->nodes, at);
    for (size_t i = 0; i < x->nodes.n; i++)
        array_push(&x->loads, OFFER_MISSING);
}

static void gang_query(struct sched *s, struct gang *x)
{
    gang_wait(s, x);
    for (size_t i = 0; i < x->nodes.n; i++)
        if (x->nodes.at[i] != s->config.node && x->loads.at[i] == OFFER_MISSING)
            gang_send(s, SCHED_GANG_QUERY, x->nodes.at[i], &x->key);
}

/* Its turn has come. */
static void gang_begin(struct sched *s, uint32_t slot)
{
    struct gangs *g = s->gangs;
    struct slot *task = slot_at(s, slot);
    place_leave(s, slot);
    if (!gang_fits(s, task->task) || !fit_here(s, task->task)) {
        task_enqueue(s, slot, SCHED_SREADYQ); /* somebody has gone, or we leave */
        return;
    }
    place_enter(s, slot, SCHED_GATHERING);
    g->gathers = true;
    struct gang *x = array_add(&g->all);
    *x = (struct gang){.key = {task->task, s->config.node, task->epoch, ++g->round},
                       .slot = slot,
                       .state = GANG_CHOOSING,
                       .pause = s->config.reply_timeout};
    gang_find_candidates(s, x);
    if (x->nodes.n == gang_span(s, task->task)) /* no choice */
        gang_begin_asking(s, x);
    else
        gang_query(s, x);
}

void gang_left(struct sched *s, uint32_t slot, enum sched_place place)
{
    struct gangs *g = s->gangs;
    struct gang *x = gang_of_slot(s, slot);
    if (!x || (place == SCHED_GATHERING && x->state == GANG_RUNNING)) /* it starts */
        return;
    struct gang_part *own = part_find(s, &x->key);
    if (own)
        part_end(s, own);
    if (x->state != GANG_RUNNING)
        g->gathers = false;
    size_t asked = x->state == GANG_CHOOSING  ? 0
                   : x->state == GANG_RUNNING ? x->nodes.n
                                              : x->granted + 1;
    for (size_t i = 0; i < asked; i++)
        if (x->nodes.at[i] != s->config.node)
            gang_send(s, SCHED_GANG_FREE, x->nodes.at[i], &x->key);
    array_free(&x->nodes);
    array_free(&x->loads);
    *x = array_pop(&g->all);
}

/* Later again, from the beginning: what was wrong may be over by then. */
void gang_abandon(struct sched *s, uint32_t slot)
{
    place_leave(s, slot);
    slot_at(s, slot)->flags &= (uint8_t)~SLOT_SETTLED;
    place_enter(s, slot, SCHED_BACKOFF);
    timer_add(s, s->config.reply_timeout, TIMER_RETRY, slot_at(s, slot)->task);
}

/* One of its nodes gives its part no more. A task that runs is stopped, and its end is no failure. */
static void gang_lost(struct sched *s, struct gang *x)
{
    if (x->state != GANG_RUNNING) {
        gang_abandon(s, x->slot);
        return;
    }
    const struct slot *task = slot_at(s, x->slot);
    if (!x->broken && !(task->flags & SLOT_CANCELLED))
        array_push(&s->out->stops, (struct sched_start){task->task, x->slot, task->attempts});
    x->broken = true;
}

bool gang_is_broken(const struct sched *s, uint32_t slot)
{
    const struct gang *x = gang_of_slot(s, slot);
    return x && x->broken;
}

/* ---- what happens elsewhere ---- */

/* Of the gangs that it is in, each is dealt with once: one that is lost is gone from the list or
 * marked. */
void gang_node_lost(struct sched *s, uint32_t node, bool down)
{
    struct gangs *g = s->gangs;
    for (size_t i = 0; g && i < g->all.n;) {
        struct gang *x = &g->all.at[i];
        size_t before = g->all.n;
        bool lost = down || (x->state != GANG_RUNNING && !fit_at(s, x->key.task, node));
        if (lost && gang_has_node(x, node))
            gang_lost(s, x);
        i += g->all.n == before;
    }
    for (size_t i = 0; g && down && i < g->parts.n;)
        if (g->parts.at[i].key.owner == node)
            part_end(s, &g->parts.at[i]);
        else
            i++;
}

static void gang_offered(struct sched *s, const struct gang_key *key, uint32_t from, uint32_t load)
{
    struct gang *x = gang_find(s, key);
    bool missing = false;
    if (!x || x->state != GANG_CHOOSING)
        return;
    for (size_t i = 0; i < x->nodes.n; i++) {
        if (x->nodes.at[i] == from)
            x->loads.at[i] = load < OFFER_REFUSED ? load : OFFER_REFUSED;
        missing |= x->nodes.at[i] != s->config.node && x->loads.at[i] == OFFER_MISSING;
    }
    if (!missing)
        gang_choose(s, x);
}

/* G4: has this node its side of it, as the owner or as one that gives a part? */
static bool gang_is_known(const struct sched *s, const struct gang_key *key, uint32_t from)
{
    if (key->owner != s->config.node)
        return part_find(s, key) != NULL;
    const struct gang *x = gang_find(s, key);
    return x && x->state != GANG_CHOOSING && gang_has_node(x, from);
}

static void gang_not_there(struct sched *s, const struct gang_key *key, uint32_t from)
{
    struct gang_part *p = key->owner == from ? part_find(s, key) : NULL;
    struct gang *x = key->owner == s->config.node ? gang_find(s, key) : NULL;
    if (p)
        part_end(s, p);
    if (x && x->state != GANG_CHOOSING && gang_has_node(x, from))
        gang_lost(s, x);
}

/* A message names the gang in its one item: the task, its epoch, its owner. */
void gang_message(struct sched *s, const struct sched_message *m, const struct meta_item *items)
{
    if (!s->gangs || m->count != 1 || gang_span(s, items[0].task) < 2)
        return;
    struct gang_key key = {items[0].task, items[0].holder, items[0].epoch, m->round};
    struct gang_part *p;
    switch (m->kind) {
    case SCHED_GANG_QUERY:
        gang_send(s, SCHED_GANG_OFFER, m->from, &key)->load = gang_load(s, key.task);
        break;
    case SCHED_GANG_OFFER:
        gang_offered(s, &key, m->from, m->load);
        break;
    case SCHED_GANG_ASK:
        if (key.owner == m->from)
            gang_asked(s, &key);
        break;
    case SCHED_GANG_GRANT:
        gang_granted(s, &key, m->from);
        break;
    case SCHED_GANG_FREE:
        p = key.owner == m->from ? part_find(s, &key) : NULL;
        if (p)
            part_end(s, p);
        break;
    case SCHED_GANG_CALL:
        gang_send(s, SCHED_GANG_HERE, m->from, &key)->load = gang_is_known(s, &key, m->from);
        break;
    case SCHED_GANG_HERE:
        if (!m->load)
            gang_not_there(s, &key, m->from);
        break;
    default:
        break;
    }
}

/* ---- time ---- */

/* What was lost is said again. */
static void gang_due(struct sched *s, struct gang *x)
{
    if (x->state == GANG_CHOOSING) {
        gang_choose(s, x); /* with what came */
        return;
    }
    if (x->state == GANG_ASKING) {
        gang_wait(s, x);
        if (x->nodes.at[x->granted] != s->config.node)
            gang_send(s, SCHED_GANG_ASK, x->nodes.at[x->granted], &x->key);
        return;
    }
    x->pause = gang_pause_longer(s, x->pause);
    gang_wait(s, x);
    for (size_t i = 0; i < x->nodes.n; i++)
        if (x->nodes.at[i] != s->config.node)
            gang_send(s, SCHED_GANG_CALL, x->nodes.at[i], &x->key);
}

void gang_timer(struct sched *s)
{
    struct gangs *g = s->gangs;
    if (!g)
        return;
    if (s->now >= g->timer)
        g->timer = INFINITY;
    for (size_t i = 0; i < g->all.n;) {
        size_t before = g->all.n;
        if (g->all.at[i].due <= s->now)
            gang_due(s, &g->all.at[i]);
        i += g->all.n == before;
    }
    parts_call(s);
}

/* A timer for whatever is due next, unless one comes no later. */
static void gang_arm(struct sched *s)
{
    struct gangs *g = s->gangs;
    double next = INFINITY;
    for (size_t i = 0; i < g->all.n; i++)
        next = fmin(next, g->all.at[i].due);
    for (size_t i = 0; i < g->parts.n; i++)
        if (g->parts.at[i].key.owner != s->config.node)
            next = fmin(next, g->parts.at[i].due);
    if (!(next < g->timer))
        return;
    g->timer = next;
    timer_add(s, next > s->now ? next - s->now : 0, TIMER_GANG, 0);
}

/* Before tasks start: parts have what is free first (G2). Then one more gang may gather (G3). */
void gang_advance(struct sched *s)
{
    struct gangs *g = s->gangs;
    parts_serve(s);
    while (!g->gathers && g->wide.length) {
        gang_begin(s, readyq_peek(&g->wide));
        parts_serve(s);
    }
    gang_arm(s);
}

void gang_enqueue(struct sched *s, uint32_t slot)
{
    uint32_t task = slot_at(s, slot)->task;
    if (!gang_fits(s, task))
        place_enter(s, slot, SCHED_UNFIT);
    else if (fit_here(s, task))
        place_enter(s, slot, SCHED_WIDEQ);
    else
        fit_send_on(s, slot);
}

const uint32_t *sched_gang(const struct sched *s, uint32_t task, uint32_t *n)
{
    for (size_t i = 0; s->gangs && i < s->gangs->all.n; i++) {
        const struct gang *x = &s->gangs->all.at[i];
        if (x->key.task == task && x->state == GANG_RUNNING) {
            *n = (uint32_t)x->nodes.n;
            return x->nodes.at;
        }
    }
    return NULL;
}

void gang_queue(struct sched *s, uint32_t slot, bool enters)
{
    if (enters)
        readyq_push(&s->gangs->wide, s->tasks.slots.at, slot, policy_key(s, slot_at(s, slot)));
    else
        readyq_remove(&s->gangs->wide, s->tasks.slots.at, slot);
}

/* Whose inputs should be here when it has its nodes: what gathers, then those that wait for their
 * turn. */
uint32_t gang_upcoming(const struct sched *s, uint32_t *tasks, uint32_t most)
{
    uint32_t n = 0;
    for (size_t i = 0; s->gangs && i < s->gangs->all.n && n < most; i++)
        if (s->gangs->all.at[i].state != GANG_RUNNING)
            tasks[n++] = s->gangs->all.at[i].key.task;
    if (s->gangs)
        n += readyq_first(&s->gangs->wide, s->tasks.slots.at, tasks + n, most - n);
    return n;
}

bool gang_check(const struct sched *s, uint32_t *cores)
{
    const struct gangs *g = s->gangs;
    uint32_t waiting = 0, gathering = 0;
    if (!g)
        return true;
    for (size_t i = 0; i < g->parts.n; i++) {
        waiting += g->parts.at[i].state == PART_WAITS;
        *cores += g->parts.at[i].state == PART_WAITS ? 0 : g->parts.at[i].cores;
    }
    for (size_t i = 0; i < g->all.n; i++) {
        const struct gang *x = &g->all.at[i];
        bool runs = x->state == GANG_RUNNING;
        gathering += !runs;
        if (s->tasks.slots.at[x->slot].task != x->key.task ||
            s->tasks.slots.at[x->slot].place != (runs ? SCHED_RUNNING : SCHED_GATHERING) ||
            (runs && x->nodes.n != gang_span(s, x->key.task)))
            return false;
    }
    return waiting == g->waiting && gathering == s->count[SCHED_GATHERING] &&
           g->gathers == (gathering > 0) && gathering < 2 &&
           g->wide.length == s->count[SCHED_WIDEQ] && readyq_check(&g->wide, s->tasks.slots.at);
}
