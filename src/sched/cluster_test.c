/* Many schedulers, one store, a bad network, from a seed: messages late, out of order, twice or
 * never; store operations and answers late and out of order; tasks that fail, removals, policy
 * changes, nodes that die, come back, or are only thought dead. After every event: each task is in
 * one place, none is lost, none is committed twice, the queues agree with themselves; at the end
 * everything has ended and nobody holds anything.
 *
 * The store here is a second, independent writing of what model/metadata.h promises. */
#include "base/heap.h"
#include "base/rng.h"
#include "sched/sched.h"
#include "tap.h"

#define NONE UINT32_MAX
#define MAX_NODES 9
#define MAX_TASKS 120

struct faults {
    double lose, twice, delay; /* chances a message; longest delay in seconds */
    double fail;               /* chance of an attempt */
    bool crash, suspect, remove, switching;
};

enum pending_kind {
    P_SUBMIT,
    P_MESSAGE,
    P_TIMER,
    P_ENDED,
    P_OPS,
    P_ANSWERS,
    P_CONTROL,
    P_CRASH,
    P_RESTART,
    P_REJOIN
};

struct pending {
    enum pending_kind kind;
    uint32_t node, life; /* of the receiver; another life: lost */
    struct sched_message head;
    struct meta_item *items;
    struct meta_op *ops;
    struct meta_answer *answers;
    uint32_t *tasks;
    uint32_t n;
    struct sched_timer timer;
    struct sched_ended ended;
    struct sched_event control;
};

struct world {
    struct rng rng;
    struct faults faults;
    uint32_t nodes, tasks;
    double now;

    /* the graph: parents[t] are the tasks p < t with edge[p][t] >= 0 (bytes) */
    double edge[MAX_TASKS][MAX_TASKS];

    /* the store */
    uint8_t status[MAX_TASKS];
    uint32_t epoch[MAX_TASKS], holder[MAX_TASKS], ran_on[MAX_TASKS], attempts[MAX_TASKS];
    bool fenced[MAX_NODES];
    uint32_t joined[MAX_NODES]; /* life */

    /* the cluster */
    struct sched *sched[MAX_NODES]; /* NULL: dead */
    uint32_t life[MAX_NODES];
    struct sched_config config[MAX_NODES];
    struct heap queue;
    ARRAY(struct pending *) pool;
    ARRAY(uint32_t) free;
    struct sched_actions out;

    /* witnesses */
    uint32_t commits[MAX_TASKS], notes[MAX_TASKS], owed[MAX_TASKS];
    uint64_t events, digest;
    uint32_t lives;
    bool suspected;
    char trouble[400];
};

static void trouble(struct world *w, const char *fmt, ...)
{
    if (w->trouble[0])
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(w->trouble, sizeof w->trouble, fmt, args);
    va_end(args);
}

static bool ended(const struct world *w, uint32_t t)
{
    return w->status[t] == META_DONE || w->status[t] == META_FAILED || w->status[t] == META_REMOVED;
}

/* ---- the event queue ---- */

static struct pending *later(struct world *w, double delay, enum pending_kind kind, uint32_t node)
{
    struct pending *p = mem_new_zero(struct pending, 1);
    p->kind = kind;
    p->node = node;
    p->life = w->life[node];
    uint32_t index;
    if (w->free.n) {
        index = array_pop(&w->free);
        w->pool.at[index] = p;
    } else {
        index = (uint32_t)w->pool.n;
        array_push(&w->pool, p);
    }
    heap_push(&w->queue, w->now + delay, index);
    return p;
}

static void pending_free(struct pending *p)
{
    free(p->items);
    free(p->ops);
    free(p->answers);
    free(p->tasks);
    free(p);
}

static void *copy(const void *from, size_t bytes)
{
    void *to = mem_alloc(bytes + 1);
    if (bytes)
        memcpy(to, from, bytes);
    return to;
}

static bool chance(struct world *w, double p)
{
    return p > 0 && rng_unit(&w->rng) < p;
}

static double delay(struct world *w)
{
    return rng_uniform(&w->rng, 1e-5, chance(w, 0.1) ? w->faults.delay : 1e-3);
}

/* ---- the store ---- */

static struct meta_item store_item(const struct world *w, uint32_t t)
{
    struct meta_item item = {.task = t,
                             .epoch = w->epoch[t],
                             .holder = w->holder[t],
                             .max_node = NONE,
                             .attempts = w->attempts[t]};
    for (uint32_t p = 0; p < t; p++) {
        if (w->edge[p][t] < 0)
            continue;
        if (w->status[p] != META_DONE) {
            item.waiting++;
            continue;
        }
        item.all_size += w->edge[p][t];
        if (item.max_node == NONE || w->edge[p][t] > item.max_size) {
            item.max_size = w->edge[p][t];
            item.max_node = w->ran_on[p];
        }
    }
    return item;
}

static void list_ready(const struct world *w, uint32_t t, struct meta_answer *a,
                       struct meta_item *items, uint32_t *nitems)
{
    for (uint32_t c = t + 1; c < w->tasks; c++)
        if (w->edge[t][c] >= 0 && !ended(w, c)) {
            struct meta_item item = store_item(w, c);
            if (!item.waiting) {
                items[(*nitems)++] = item;
                a->count++;
            }
        }
}

static void store_apply(struct world *w, const struct meta_op *op, struct meta_answer *a,
                        struct meta_item *items, uint32_t *nitems)
{
    uint32_t t = op->task, node = op->node;
    *a = (struct meta_answer){
        .kind = op->kind, .slot = op->slot, .asked_epoch = op->epoch, .first = *nitems};
    a->item.task = t;
    if (op->kind == META_JOIN) {
        if (op->life >= w->joined[node]) {
            w->joined[node] = op->life;
            w->fenced[node] = false;
        }
        return;
    }
    if (op->kind == META_ADOPT) {
        a->item.holder = op->other;
        a->item.task = NONE;
        if (op->epoch < w->joined[node] || w->fenced[node]) {
            a->outcome = META_STALE;
            return;
        }
        if (op->other != node)
            w->fenced[op->other] = true;
        if (op->other != node && w->sched[op->other]) { /* it lives: its heart beats, and it will be
                                                           told to join again */
            w->suspected = true;
            later(w, 0.3, P_REJOIN, op->other);
        }
        for (uint32_t i = op->task; i < w->tasks; i++)
            if (!ended(w, i) && w->holder[i] == op->other) {
                if (a->count == 7) { /* few, so that it takes turns */
                    a->item.task = i;
                    break;
                }
                w->holder[i] = node;
                w->epoch[i]++;
                w->status[i] = META_QUEUED;
                w->owed[i]++;
                items[(*nitems)++] = store_item(w, i);
                a->count++;
            }
        return;
    }
    bool mine = w->epoch[t] == op->epoch && w->holder[t] == node;
    switch (op->kind) {
    case META_HOLD:
        if (ended(w, t))
            a->outcome = META_ENDED;
        else if (w->epoch[t] == op->epoch + 1 && w->holder[t] == node)
            a->outcome = META_OK;
        else if (w->epoch[t] == op->epoch && !w->fenced[node] && op->life >= w->joined[node]) {
            w->epoch[t]++;
            w->holder[t] = node;
        } else
            a->outcome = META_STALE;
        break;
    case META_GET:
        for (uint32_t p = 0; p < t; p++)
            if (w->edge[p][t] >= 0 && (w->status[p] == META_FAILED || w->status[p] == META_REMOVED))
                a->doomed = 1;
        if (ended(w, t))
            a->outcome = META_ENDED;
        break;
    case META_START:
        if (mine && !ended(w, t)) {
            w->status[t] = META_RUNNING;
            w->attempts[t] = op->attempt;
        }
        break;
    case META_RETRY:
        if (mine && !ended(w, t))
            w->status[t] = META_QUEUED;
        break;
    case META_COMPLETE:
        if (w->status[t] == META_DONE && mine)
            list_ready(w, t, a, items, nitems);
        else if (ended(w, t))
            a->outcome = META_ENDED;
        else if (!mine)
            a->outcome = META_STALE;
        else {
            if (w->commits[t]++)
                trouble(w, "task %u committed twice", t);
            w->status[t] = META_DONE;
            w->ran_on[t] = node;
            list_ready(w, t, a, items, nitems);
        }
        break;
    case META_REMOVE:
        if (ended(w, t))
            a->outcome = META_ENDED;
        else if (op->status == META_FAILED && !mine)
            a->outcome = META_STALE;
        else {
            w->status[t] = op->status;
            for (uint32_t c = t + 1; c < w->tasks; c++)
                if (w->edge[t][c] >= 0) {
                    items[(*nitems)++] = store_item(w, c);
                    a->count++;
                }
        }
        break;
    default:
        trouble(w, "the scheduler sent operation %u", op->kind);
    }
    a->status = w->status[t];
    a->item = store_item(w, t);
}

/* ---- carrying out actions ---- */

static void send(struct world *w, const struct sched_message *m)
{
    int copies = chance(w, w->faults.lose) ? 0 : chance(w, w->faults.twice) ? 2 : 1;
    while (copies--) {
        struct pending *p = later(w, delay(w), P_MESSAGE, m->to);
        p->head = *m;
        p->items = copy(w->out.items.at + m->first, m->count * sizeof(struct meta_item));
    }
}

static void start(struct world *w, uint32_t node, const struct sched_start *s)
{
    for (uint32_t p = 0; p < s->task; p++)
        if (w->edge[p][s->task] >= 0 && w->status[p] != META_DONE)
            trouble(w, "task %u started before its parent %u was done", s->task, p);
    double length = rng_exponential(&w->rng, 0.05);
    struct pending *p = later(w, length, P_ENDED, node);
    p->ended = (struct sched_ended){.task = s->task,
                                    .slot = s->slot,
                                    .failed = chance(w, w->faults.fail),
                                    .start = w->now,
                                    .finish = w->now + length,
                                    .bytes = 1,
                                    .fetched = rng_uniform(&w->rng, 0, 1e6)};
}

static void carry_out(struct world *w, uint32_t node)
{
    struct sched_actions *out = &w->out;
    for (size_t i = 0; i < out->sends.n; i++)
        send(w, &out->sends.at[i]);
    for (size_t i = 0; i < out->starts.n; i++)
        start(w, node, &out->starts.at[i]);
    for (size_t i = 0; i < out->timers.n; i++) {
        struct pending *p = later(w, fmax(out->timers.at[i].when - w->now, 0), P_TIMER, node);
        p->timer = out->timers.at[i];
    }
    for (size_t i = 0; i < out->notes.n; i++) {
        if (out->notes.at[i].kind == SCHED_NOTE_DONE && w->notes[out->notes.at[i].task]++)
            trouble(w, "task %u reported done twice", out->notes.at[i].task);
        if (out->notes.at[i].kind == SCHED_NOTE_UNKNOWN)
            trouble(w, "task %u unknown to the store", out->notes.at[i].task);
    }
    for (size_t i = 0; i < out->ops.n;) {
        size_t n = 1 + rng_below(&w->rng, out->ops.n - i);
        struct pending *p = later(w, delay(w), P_OPS, node);
        p->ops = copy(out->ops.at + i, n * sizeof *p->ops);
        p->n = (uint32_t)n;
        i += n;
    }
    for (size_t i = 0; i < out->ops.n; i++)
        w->digest = w->digest * 31 + out->ops.at[i].kind * 7 + out->ops.at[i].task;
    for (size_t i = 0; i < out->sends.n; i++)
        w->digest = w->digest * 31 + out->sends.at[i].kind * 5 + out->sends.at[i].to;
    sched_actions_clear(out);
}

static void deliver(struct world *w, uint32_t node, struct sched_event *e)
{
    if (!w->sched[node])
        return;
    e->now = w->now;
    sched_handle(w->sched[node], e, &w->out);
    carry_out(w, node);
    struct error err = {0};
    if (!sched_check(w->sched[node], &err))
        trouble(w, "node %u: %s", node, err.text);
}

static void control(struct world *w, double after, uint32_t node, struct sched_event e)
{
    later(w, after, P_CONTROL, node)->control = e;
}

static void tell_others(struct world *w, double after, uint32_t node, enum sched_event_kind kind)
{
    for (uint32_t i = 0; i < w->nodes; i++)
        if (i != node && w->sched[i])
            control(w, after + delay(w), i, (struct sched_event){.kind = kind, .node = node});
}

static void restart(struct world *w, uint32_t node)
{
    w->sched[node] = sched_new(&w->config[node]);
    struct sched_event e = {.kind = SCHED_EVENT_START, .life = ++w->lives};
    deliver(w, node, &e);
    for (uint32_t i = 0; i < w->nodes;
         i++) /* it learns who is dead as the others do: from outside */
        if (i != node && !w->sched[i])
            control(w, delay(w), node,
                    (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = i});
    tell_others(w, 0.01, node, SCHED_EVENT_NODE_UP);
}

static void handle(struct world *w, struct pending *p)
{
    bool same_life = p->life == w->life[p->node];
    struct sched_event e = {0};
    switch (p->kind) {
    case P_SUBMIT:
        for (uint32_t i = 0; i < p->n; i++)
            w->owed[p->tasks[i]]--;
        e.kind = SCHED_EVENT_SUBMIT;
        e.submit.tasks = p->tasks;
        e.submit.n = p->n;
        deliver(w, p->node, &e);
        break;
    case P_MESSAGE: /* also reaches the next life */
        e.kind = SCHED_EVENT_MESSAGE;
        e.message.head = &p->head;
        e.message.items = p->items;
        deliver(w, p->node, &e);
        break;
    case P_TIMER:
        if (!same_life)
            break;
        e.kind = SCHED_EVENT_TIMER;
        e.timer.kind = p->timer.kind;
        e.timer.mark = p->timer.mark;
        deliver(w, p->node, &e);
        break;
    case P_ENDED:
        if (!same_life)
            break;
        e.kind = SCHED_EVENT_ENDED;
        e.ended.at = &p->ended;
        e.ended.n = 1;
        deliver(w, p->node, &e);
        break;
    case P_OPS: { /* the operations of the dead arrive too */
        struct pending *answer = later(w, delay(w), P_ANSWERS, p->node);
        answer->life = p->life;
        answer->answers = mem_new(struct meta_answer, p->n);
        answer->items = mem_new(struct meta_item, (size_t)p->n * MAX_TASKS);
        uint32_t nitems = 0;
        for (uint32_t i = 0; i < p->n; i++)
            store_apply(w, &p->ops[i], &answer->answers[i], answer->items, &nitems);
        answer->n = p->n;
        break;
    }
    case P_ANSWERS:
        for (uint32_t i = 0; i < p->n; i++)
            if (p->answers[i].kind == META_ADOPT)
                for (uint32_t k = 0; k < p->answers[i].count; k++)
                    w->owed[p->items[p->answers[i].first + k].task]--;
        if (!same_life)
            break;
        e.kind = SCHED_EVENT_STORE;
        e.store = (struct meta_answers){.at = p->answers, .n = p->n, .items = p->items};
        deliver(w, p->node, &e);
        break;
    case P_CONTROL:
        if (same_life)
            deliver(w, p->node, &p->control);
        break;
    case P_CRASH:
        if (!w->sched[p->node])
            break;
        sched_free(w->sched[p->node]);
        w->sched[p->node] = NULL;
        w->life[p->node]++;
        if (chance(w, 0.4)) { /* so quickly that nobody notices */
            later(w, 0.01, P_RESTART, p->node);
            break;
        }
        tell_others(w, 0.05, p->node, SCHED_EVENT_NODE_DOWN);
        if (chance(w, 0.6))
            later(w, rng_uniform(&w->rng, 0.01, 2), P_RESTART, p->node);
        break;
    case P_REJOIN:
        e.kind = SCHED_EVENT_START;
        e.life = ++w->lives;
        if (same_life)
            deliver(w, p->node, &e);
        break;
    case P_RESTART:
        if (!w->sched[p->node])
            restart(w, p->node);
        break;
    }
}

/* ---- invariants ---- */

static bool executable(enum sched_place p)
{
    return p == SCHED_LREADYQ || p == SCHED_SREADYQ || p == SCHED_RUNNING || p == SCHED_COMPLETEQ ||
           p == SCHED_BACKOFF;
}

static void check_world(struct world *w)
{
    for (uint32_t t = 0; t < w->tasks; t++) {
        if (w->status[t] == META_ABSENT || ended(w, t))
            continue;
        uint32_t copies = 0;
        for (uint32_t n = 0; n < w->nodes; n++)
            if (w->sched[n])
                copies += executable(sched_place(w->sched[n], t, NULL));
        if (copies > 1 && !w->suspected)
            trouble(w, "task %u can run on %u nodes", t, copies);
        uint32_t h = w->holder[t];
        if (w->sched[h] && !w->owed[t] && sched_place(w->sched[h], t, NULL) == SCHED_NOWHERE &&
            !w->faults.crash && !w->faults.suspect)
            trouble(w, "task %u is held by node %u, which does not know it", t, h);
    }
}

static bool finished(const struct world *w)
{
    for (uint32_t t = 0; t < w->tasks; t++)
        if (!ended(w, t))
            return false;
    for (uint32_t n = 0; n < w->nodes; n++) {
        struct sched_counts c;
        if (!w->sched[n])
            continue;
        sched_look(w->sched[n], &c);
        for (int p = 1; p < SCHED_PLACES; p++)
            if (c.at[p])
                return false;
    }
    return true;
}

static void check_end(struct world *w)
{
    for (uint32_t t = 0; t < w->tasks; t++) {
        if (!ended(w, t))
            trouble(w, "task %u has not ended (status %u, held by node %u)", t, w->status[t],
                    w->holder[t]);
        if (w->commits[t] != (w->status[t] == META_DONE))
            trouble(w, "task %u has status %u and %u commits", t, w->status[t], w->commits[t]);
        bool doomed = false;
        for (uint32_t p = 0; p < t; p++)
            if (w->edge[p][t] >= 0)
                doomed |= w->status[p] != META_DONE;
        if (doomed && w->status[t] != META_REMOVED)
            trouble(w, "task %u has status %u below one that did not complete", t, w->status[t]);
        if (!w->faults.fail && !w->faults.remove && w->status[t] != META_DONE)
            trouble(w, "task %u ended with status %u though nothing failed", t, w->status[t]);
    }
    for (uint32_t n = 0; n < w->nodes; n++)
        for (uint32_t t = 0; w->sched[n] && t < w->tasks; t++)
            if (sched_place(w->sched[n], t, NULL) != SCHED_NOWHERE)
                trouble(w, "node %u still holds task %u in place %d", n, t,
                        (int)sched_place(w->sched[n], t, NULL));
}

/* ---- one run ---- */

static void make_graph(struct world *w)
{
    for (uint32_t t = 0; t < w->tasks; t++) {
        for (uint32_t p = 0; p < t; p++)
            w->edge[p][t] = -1;
        uint32_t degree = t ? (uint32_t)rng_below(&w->rng, 4) : 0;
        for (uint32_t k = 0; k < degree; k++)
            w->edge[rng_below(&w->rng, t)][t] =
                chance(w, 0.3) ? 0 : rng_uniform(&w->rng, 0, chance(w, 0.5) ? 1e5 : 1e9);
    }
}

static void submit(struct world *w)
{
    bool one = chance(w, 0.4); /* the paper's worst case: all to one scheduler */
    for (uint32_t n = 0; n < w->nodes; n++) {
        struct pending *p = later(w, delay(w), P_SUBMIT, n);
        p->tasks = mem_new(uint32_t, w->tasks);
        for (uint32_t t = 0; t < w->tasks; t++)
            if (one ? n == 0 : t % w->nodes == n) {
                w->status[t] = META_QUEUED;
                w->holder[t] = n;
                w->epoch[t] = 1;
                w->owed[t]++;
                p->tasks[p->n++] = t;
            }
    }
}

static uint64_t run(uint64_t seed, struct faults faults, char *why, size_t size, uint64_t *events)
{
    struct world *w = mem_new_zero(struct world, 1);
    rng_seed(&w->rng, seed);
    w->faults = faults;
    w->nodes = 1 + (uint32_t)rng_below(&w->rng, MAX_NODES);
    w->tasks = 1 + (uint32_t)rng_below(&w->rng, MAX_TASKS);
    make_graph(w);
    for (uint32_t n = 0; n < w->nodes; n++) {
        w->config[n] =
            (struct sched_config){.node = n,
                                  .nodes = w->nodes,
                                  .seed = seed,
                                  .cores = 1 + (uint32_t)rng_below(&w->rng, 3),
                                  .policy = (enum sched_policy)rng_below(&w->rng, SCHED_POLICIES),
                                  .tt = 0.1,
                                  .bandwidth = 1e9,
                                  .default_length = 0.05,
                                  .adapt_tt = chance(w, 0.5),
                                  .adapt_policy = chance(w, 0.3),
                                  .steal_bound = 0.5,
                                  .reply_timeout = 0.1,
                                  .monitor_every = 0.05,
                                  .wait_poll = 0.2,
                                  .wait_batch = 5,
                                  .steal_most = 16,
                                  .retries = 2,
                                  .retry_first = chance(w, 0.5) ? 0.02 : 0,
                                  .record_starts = chance(w, 0.5)};
        w->sched[n] = sched_new(&w->config[n]);
    }
    submit(w);
    if (faults.crash)
        for (uint32_t n = 1; n < w->nodes; n++) /* node 0 lives */
            if (chance(w, 0.5))
                later(w, rng_uniform(&w->rng, 0.05, 1), P_CRASH, n);
    if (faults.suspect && w->nodes > 1) {
        uint32_t node = (uint32_t)rng_below(&w->rng, w->nodes);
        double when = rng_uniform(&w->rng, 0.01, 0.3);
        tell_others(w, when, node, SCHED_EVENT_NODE_DOWN);
        tell_others(w, when + 0.6, node, SCHED_EVENT_NODE_UP);
    }
    if (faults.remove)
        for (int i = 0; i < 3; i++)
            control(w, rng_uniform(&w->rng, 0, 0.3), (uint32_t)rng_below(&w->rng, w->nodes),
                    (struct sched_event){.kind = SCHED_EVENT_REMOVE,
                                         .task = (uint32_t)rng_below(&w->rng, w->tasks)});
    if (faults.switching)
        for (int i = 0; i < 6; i++) {
            struct sched_event e = {.kind = SCHED_EVENT_POLICY};
            e.policy.policy = (enum sched_policy)rng_below(&w->rng, SCHED_POLICIES);
            e.policy.t = chance(w, 0.5) ? -1 : rng_unit(&w->rng);
            e.policy.tt = chance(w, 0.5) ? -1 : rng_unit(&w->rng);
            control(w, rng_uniform(&w->rng, 0, 0.5), (uint32_t)rng_below(&w->rng, w->nodes), e);
        }
    while (!w->trouble[0] && w->queue.n && !finished(w)) {
        struct heap_item next = heap_pop(&w->queue);
        w->now = fmax(w->now, next.key);
        struct pending *p = w->pool.at[next.value];
        handle(w, p);
        pending_free(p);
        w->pool.at[next.value] = NULL;
        array_push(&w->free, (uint32_t)next.value);
        check_world(w);
        if (++w->events > 300000)
            trouble(w, "no end after %llu events, at %g s", (unsigned long long)w->events, w->now);
    }
    check_end(w);
    snprintf(why, size, "%s", w->trouble);
    uint64_t digest = w->digest ^ w->events;
    *events += w->events;
    for (uint32_t n = 0; n < w->nodes; n++)
        sched_free(w->sched[n]);
    for (size_t i = 0; i < w->pool.n; i++)
        if (w->pool.at[i])
            pending_free(w->pool.at[i]);
    array_free(&w->pool);
    array_free(&w->free);
    heap_free(&w->queue);
    sched_actions_free(&w->out);
    free(w);
    return digest;
}

static void seeds(const char *what, struct faults faults, uint64_t first, uint64_t count)
{
    char why[400] = "";
    uint64_t events = 0, bad = 0, seed = first;
    for (; seed < first + count; seed++) {
        run(seed, faults, why, sizeof why, &events);
        if (why[0]) {
            bad = seed;
            break;
        }
    }
    ok(!why[0], "%s: %llu seeds, %llu events", what, (unsigned long long)count,
       (unsigned long long)events);
    if (why[0])
        printf("# seed %llu: %s\n", (unsigned long long)bad, why);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 60,
             first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    TAP_DO(seeds("a good network", (struct faults){.delay = 0.002}, first, n));
    TAP_DO(seeds("late and out of order", (struct faults){.delay = 0.3}, first, n));
    seeds("messages lost and doubled", (struct faults){.delay = 0.05, .lose = 0.2, .twice = 0.2},
          first, n);
    seeds("attempts that fail", (struct faults){.delay = 0.05, .lose = 0.05, .fail = 0.2}, first,
          n);
    seeds("removals", (struct faults){.delay = 0.05, .lose = 0.1, .twice = 0.1, .remove = true},
          first, n);
    seeds("policies switched", (struct faults){.delay = 0.05, .lose = 0.05, .switching = true},
          first, n);
    seeds("nodes that die and come back",
          (struct faults){.delay = 0.05, .lose = 0.05, .twice = 0.05, .crash = true}, first, n);
    seeds("nodes that die, with a slow store and network",
          (struct faults){.delay = 1, .twice = 0.1, .crash = true}, first, n);
    seeds("nodes wrongly thought dead",
          (struct faults){.delay = 0.05, .twice = 0.05, .suspect = true}, first, n);
    seeds("nodes wrongly thought dead, with a slow store and network",
          (struct faults){.delay = 1, .twice = 0.1, .suspect = true}, first, n);
    seeds("everything",
          (struct faults){.delay = 0.2,
                          .lose = 0.1,
                          .twice = 0.1,
                          .fail = 0.1,
                          .crash = true,
                          .suspect = true,
                          .remove = true,
                          .switching = true},
          first, n);

    char why[400];
    uint64_t events = 0;
    struct faults all = {.delay = 0.2,
                         .lose = 0.1,
                         .twice = 0.1,
                         .fail = 0.1,
                         .crash = true,
                         .suspect = true,
                         .remove = true,
                         .switching = true};
    bool same = true;
    for (uint64_t seed = 1; seed <= 10; seed++)
        same &=
            run(seed, all, why, sizeof why, &events) == run(seed, all, why, sizeof why, &events);
    ok(same, "a seed replays exactly");
    ok(run(1, all, why, sizeof why, &events) != run(2, all, why, sizeof why, &events),
       "another seed does not");
    return tap_done();
}
