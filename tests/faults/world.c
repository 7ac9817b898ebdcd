/* The world itself: an event queue in virtual time, the actions of the schedulers carried out
 * badly, and the faults of world.h. All chance comes from one generator, drawn in the order of
 * events: a change in the order of two draws makes every seed another run. */
#include "world_state.h"
#include "model/builder.h"
#include "model_store.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define EVENTS_MOST 400000

/* Most are quick; one in ten takes up to the longest delay, so that much is overtaken. */
double faults_delay(struct fault_world *w, uint32_t node)
{
    return w->slow[node] * rng_uniform(&w->rng, 1e-5, faults_chance(w, 0.1) ? w->late : 1e-3);
}

/* ---- what is on its way ---- */

struct faults_pending *faults_later(struct fault_world *w, double after, enum faults_event kind,
                                    uint32_t node)
{
    struct faults_pending *p = mem_new_zero(struct faults_pending, 1);
    p->kind = kind;
    p->node = node;
    p->life = w->life[node];
    uint32_t index;
    if (w->unused.n) {
        index = array_pop(&w->unused);
        w->pool.at[index] = p;
    } else {
        index = (uint32_t)w->pool.n;
        array_push(&w->pool, p);
    }
    heap_push(&w->queue, w->now + after, index);
    return p;
}

static void pending_free(struct faults_pending *p)
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

/* The same again a little later: its receiver cannot be reached now. */
static void again(struct fault_world *w, struct faults_pending *p)
{
    struct faults_pending *next =
        faults_later(w, rng_uniform(&w->rng, 0.005, 0.05), p->kind, p->node);
    *next = *p;
    p->items = NULL;
    p->ops = NULL;
    p->answers = NULL;
    p->tasks = NULL;
}

/* ---- the store ---- */

static bool open_store(struct fault_world *w)
{
    struct error err = {0};
    if (w->options->model) {
        w->store = model_store_open(w->workflow,
                                    w->options->adopt_most ? w->options->adopt_most : UINT64_MAX);
        return true;
    }
    struct store_embedded_config config = {
        .workflow = w->workflow, .journal = w->journal[0] ? w->journal : NULL, .no_sync = true};
    w->store = store_embedded_open(&config, NULL, &err);
    if (!w->store)
        faults_trouble(w, "%s", err.text);
    return w->store;
}

/* One batch: applied in order, answered in order. A resent ADOPT may have been applied, and a
 * second one would take what others got meanwhile: nobody knows, so the answer is STALE. */
static void apply(struct fault_world *w, struct faults_pending *p)
{
    struct faults_pending *back = faults_later(w, faults_delay(w, p->node), EVENT_ANSWERS, p->node);
    struct meta_answers answers;
    struct error err = {0};
    ARRAY(struct meta_item) items = {0};
    back->life = p->life;
    back->answers = mem_new(struct meta_answer, p->n);
    back->ops = p->ops;
    back->n = p->n;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct meta_op *op = &p->ops[i];
        struct meta_answer *a = &back->answers[i];
        if (p->resent && op->kind == META_ADOPT) {
            *a = (struct meta_answer){.kind = op->kind,
                                      .outcome = META_STALE,
                                      .slot = op->slot,
                                      .asked_epoch = op->epoch,
                                      .item = {.task = NONE, .holder = op->other}};
            continue;
        }
        if (op->kind == META_ADOPT) /* it may get tasks of all parts */
            faults_learn(w, p->node);
        store_submit(w->store, op, 1);
        if (!store_flush(w->store, &err) || !store_poll(w->store, &answers, &err) ||
            answers.n != 1) {
            faults_trouble(w, "the store does not answer: %s", err.text);
            answers.n = 0;
            *a = (struct meta_answer){.kind = op->kind, .outcome = META_STALE};
            continue;
        }
        faults_check_answer(w, op, &answers.at[0], answers.items);
        *a = answers.at[0];
        a->first = (uint32_t)items.n;
        a->count = 0;
        for (uint32_t k = 0; k < answers.at[0].count; k++) {
            const struct meta_item *item = &answers.items[answers.at[0].first + k];
            if (faults_knows_items(w, p->node, item, 1)) {
                array_push(&items, *item);
                a->count++;
            }
        }
        if (op->kind == META_ADOPT && a->outcome == META_OK && op->other != op->node &&
            w->sched[op->other]) {
            w->suspected = true; /* it lives: its heart beats, and it is told to join again */
            w->result->adoptions++;
            faults_later(w, 0.3, EVENT_REJOIN, op->other);
        }
    }
    back->items = items.at;
    p->ops = NULL;
}

/* Answers that are on their way are lost with the server that gave them, perhaps; whoever asked
 * asks the next one again. */
static void store_down(struct fault_world *w)
{
    w->result->failovers++;
    w->store_down = true;
    for (size_t i = 0; i < w->pool.n; i++) {
        struct faults_pending *p = w->pool.at[i];
        if (!p || p->kind != EVENT_ANSWERS || !faults_chance(w, 0.7))
            continue;
        for (uint32_t k = 0; k < p->n; k++)
            for (uint32_t c = 0; p->answers[k].kind == META_ADOPT && c < p->answers[k].count; c++)
                w->owed[p->items[p->answers[k].first + c].task]--;
        free(p->answers);
        free(p->items);
        p->answers = NULL;
        p->items = NULL;
        p->kind = EVENT_OPS;
        p->resent = true;
        w->result->resent++;
    }
    faults_later(w, rng_uniform(&w->rng, 0.01, 0.3), EVENT_STORE_UP, w->immortal);
}

/* Half a frame at the end of the journal, as a crash leaves it. */
static void tear(struct fault_world *w)
{
    FILE *file = fopen(w->journal, "ab");
    uint32_t n = 1 + (uint32_t)rng_below(&w->rng, 7);
    for (uint32_t i = 0; file && i < n; i++)
        fputc((int)rng_below(&w->rng, 256), file);
    if (file)
        fclose(file);
}

static void store_up(struct fault_world *w)
{
    struct error err = {0};
    w->store_down = false;
    if (!w->journal[0])
        return;
    if (!store_close(w->store, &err))
        faults_trouble(w, "%s", err.text);
    w->store = NULL;
    if (faults_chance(w, 0.5))
        tear(w);
    w->result->replays++;
    if (open_store(w))
        faults_check_store(w);
}

/* ---- carrying out actions ---- */

static void send(struct fault_world *w, const struct sched_message *m)
{
    int copies = faults_chance(w, w->lose) ? 0 : faults_chance(w, w->twice) ? 2 : 1;
    w->result->lost += copies == 0;
    w->result->doubled += copies == 2;
    while (copies--) {
        struct faults_pending *p = faults_later(w, faults_delay(w, m->from), EVENT_MESSAGE, m->to);
        p->head = *m;
        p->items = copy(w->out.items.at + m->first, m->count * sizeof(struct meta_item));
    }
}

static void start(struct fault_world *w, uint32_t node, const struct sched_start *s)
{
    faults_check_start(w, node, s->task);
    faults_check_room(w, node, s->task);
    double length = w->slow[node] * rng_exponential(&w->rng, 0.05);
    struct faults_pending *p = faults_later(w, length, EVENT_ENDED, node);
    p->ended =
        (struct sched_ended){.task = s->task,
                             .slot = s->slot,
                             .failed = faults_has(w, FAULT_FAIL) && faults_chance(w, 0.15),
                             .returned = faults_has(w, FAULT_LEAVE) && faults_chance(w, 0.05),
                             .start = w->now,
                             .finish = w->now + length,
                             .bytes = 1,
                             .fetched = rng_uniform(&w->rng, 0, 1e6)};
    faults_decide(w, node, s->task, &p->ended);
    if (w->aside[node] && !p->ended.returned && !p->ended.skipped && rng_unit(&w->sick) < 0.7)
        p->ended.passed_on = 1;
    faults_gang_begins(w, node, s->task, p);
    w->result->parts += p->ngang;
}

static void digest(struct fault_world *w, uint64_t value)
{
    w->result->digest = (w->result->digest ^ value) * 0x100000001b3u;
}

static void carry_out(struct fault_world *w, uint32_t node)
{
    struct sched_actions *out = &w->out;
    for (size_t i = 0; i < out->sends.n; i++) {
        digest(w, (uint64_t)out->sends.at[i].kind << 32 | out->sends.at[i].to);
        send(w, &out->sends.at[i]);
    }
    for (size_t i = 0; i < out->starts.n; i++)
        start(w, node, &out->starts.at[i]);
    for (size_t i = 0; i < out->parts.n; i++)
        if (out->parts.at[i].begins)
            faults_later(w, faults_delay(w, node), EVENT_ROOM, node)->room = out->parts.at[i];
    for (size_t i = 0; i < out->timers.n; i++) {
        double wait = fmax(out->timers.at[i].when - w->now, 0);
        faults_later(w, wait * fmin(w->slow[node], 1.5), EVENT_TIMER, node)->timer =
            out->timers.at[i];
    }
    for (size_t i = 0; i < out->notes.n; i++)
        faults_check_note(w, &out->notes.at[i]);
    for (size_t i = 0; i < out->ops.n;) {
        size_t n = 1 + rng_below(&w->rng, out->ops.n - i);
        struct faults_pending *p = faults_later(w, faults_delay(w, node), EVENT_OPS, node);
        p->ops = copy(out->ops.at + i, n * sizeof *p->ops);
        p->n = (uint32_t)n;
        for (size_t k = i; k < i + n; k++)
            digest(w, (uint64_t)out->ops.at[k].kind << 32 | out->ops.at[k].task);
        i += n;
    }
    sched_actions_clear(out);
}

void faults_deliver(struct fault_world *w, uint32_t node, struct sched_event *e)
{
    if (!w->sched[node])
        return;
    e->now = w->now;
    sched_handle(w->sched[node], e, &w->out);
    carry_out(w, node);
    struct error err = {0};
    struct sched_counts counts;
    if (!sched_check(w->sched[node], &err))
        faults_trouble(w, "node %u: %s", node, err.text);
    sched_snapshot(w->sched[node], &counts);
    w->result->unfit += counts.at[SCHED_UNFIT] > 0;
}

/* ---- growth ---- */

void faults_grow_later(struct fault_world *w, uint32_t part)
{
    w->joining++;
    faults_later(w, faults_delay(w, w->immortal), EVENT_GROW, w->immortal)->n = part;
}

/* Every node hears of it, one sooner, one later; those who are dead when they begin anew. */
static void grow(struct fault_world *w, struct faults_pending *p)
{
    struct faults_pending *to[FAULTS_NODES];
    if (w->store_down) {
        again(w, p);
        return;
    }
    for (uint32_t n = 0; n < w->nodes; n++) {
        to[n] =
            faults_later(w, faults_delay(w, n) + (faults_chance(w, 0.3) ? 0.3 : 0), EVENT_GREW, n);
        to[n]->tasks = mem_new(uint32_t, FAULTS_TASKS);
    }
    w->joining--;
    faults_join(w, p->n, to);
}

/* ---- events ---- */

static void answers(struct fault_world *w, struct faults_pending *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->answers[i].kind == META_ADOPT)
            for (uint32_t k = 0; k < p->answers[i].count; k++)
                w->owed[p->items[p->answers[i].first + k].task]--;
    if (p->life != w->life[p->node])
        return;
    struct sched_event e = {.kind = SCHED_EVENT_STORE};
    e.store = (struct meta_answers){.at = p->answers, .n = p->n, .items = p->items};
    faults_deliver(w, p->node, &e);
}

static void handle(struct fault_world *w, struct faults_pending *p)
{
    bool same_life = p->life == w->life[p->node];
    struct sched_event e = {0};
    switch (p->kind) {
    case EVENT_GROW:
        grow(w, p);
        break;
    case EVENT_GREW:
        faults_learn(w, p->node);
        if (!p->n)
            break;
        /* fall through */
    case EVENT_SUBMIT:
        for (uint32_t i = 0; i < p->n; i++)
            w->owed[p->tasks[i]]--;
        e.kind = SCHED_EVENT_SUBMIT;
        e.submit.tasks = p->tasks;
        e.submit.n = p->n;
        faults_deliver(w, p->node, &e);
        break;
    case EVENT_MESSAGE: /* also reaches the next life, and not the other side of a cut */
        e.kind = SCHED_EVENT_MESSAGE;
        e.message.head = &p->head;
        e.message.items = p->items;
        if (!faults_knows_items(w, p->node, p->items, p->head.count)) {
            faults_later(w, faults_delay(w, p->node), EVENT_GREW,
                         p->node); /* as if lost; and it asks */
            break;
        }
        if (w->cut[p->head.from] == w->cut[p->node])
            faults_deliver(w, p->node, &e);
        break;
    case EVENT_TIMER:
        e.kind = SCHED_EVENT_TIMER;
        e.timer.kind = p->timer.kind;
        e.timer.mark = p->timer.mark;
        if (same_life)
            faults_deliver(w, p->node, &e);
        break;
    case EVENT_ENDED:
        e.kind = SCHED_EVENT_ENDED;
        e.ended.at = &p->ended;
        e.ended.n = 1;
        if (same_life) {
            w->busy_cores[p->node] -= w->asks[p->ended.task].cores;
            w->busy_memory[p->node] -= w->asks[p->ended.task].memory;
            for (uint32_t i = 0; i < 2; i++)
                w->busy_things[p->node][i] -= w->asks[p->ended.task].thing[i];
            faults_fail_on_sick_node(w, p->node, &p->ended);
            w->result->returned += p->ended.returned;
            faults_gang_ends(w, p);
            if (!p->ended.failed && !p->ended.returned && !p->ended.skipped)
                w->ended_here[p->node][p->ended.task] = true;
            faults_deliver(w, p->node, &e);
        }
        break;
    case EVENT_OPS: /* those of the dead arrive too, unless nobody is left to send them again */
        if (w->store_down || w->cut[p->node])
            again(w, p);
        else if (!p->resent || same_life)
            apply(w, p);
        break;
    case EVENT_ANSWERS:
        if (w->cut[p->node] && same_life)
            again(w, p);
        else
            answers(w, p);
        break;
    case EVENT_CONTROL:
        if (same_life && faults_is_news(w, &p->control))
            faults_deliver(w, p->node, &p->control);
        break;
    case EVENT_ROOM:
        e.kind = SCHED_EVENT_ROOM;
        e.room = p->room;
        if (same_life)
            faults_deliver(w, p->node, &e);
        break;
    case EVENT_EXODUS:
        faults_exodus(w);
        break;
    case EVENT_CRASH:
        if (p->n && w->sched[p->node]) { /* in an exodus: it has left, as the board shows at once */
            faults_end_life(w, p->node);
            faults_tell_others(w, 0.001, p->node, SCHED_EVENT_NODE_DOWN);
        } else {
            faults_crash(w, p->node);
        }
        break;
    case EVENT_RESTART:
        faults_restart(w, p->node);
        break;
    case EVENT_REJOIN:
        e.kind = SCHED_EVENT_START;
        e.life = w->lives + 1;
        if (same_life) {
            w->born[p->node] = ++w->lives;
            faults_deliver(w, p->node, &e);
            faults_tell_others(w, 0.01, p->node,
                               SCHED_EVENT_NODE_UP); /* as they see on the board */
        }
        break;
    case EVENT_CUT:
        faults_cut(w);
        break;
    case EVENT_HEAL:
        memset(w->cut, 0, sizeof w->cut);
        break;
    case EVENT_STORE_DOWN:
        if (!w->store_down)
            store_down(w);
        break;
    case EVENT_STORE_UP:
        store_up(w);
        break;
    case EVENT_ASIDE:
    case EVENT_BACK:
        faults_set_aside(w, p->node, p->kind == EVENT_ASIDE);
        break;
    case EVENT_LEAVE:
    case EVENT_STAY:
        faults_leave(w, p->node, p->kind == EVENT_LEAVE);
        break;
    }
}

/* ---- one run ---- */

static void submit(struct fault_world *w)
{
    bool one = faults_chance(w, 0.4); /* the paper's worst case: all to one scheduler */
    struct meta_answers ignored;
    struct error err = {0};
    for (uint32_t n = 0; n < w->nodes; n++) {
        struct faults_pending *p = faults_later(w, faults_delay(w, n), EVENT_SUBMIT, n);
        p->tasks = mem_new(uint32_t, w->tasks);
        for (uint32_t t = 0; t < w->tasks; t++)
            if (one ? n == 0 : t % w->nodes == n) {
                struct meta_op put = {.kind = META_PUT, .task = t, .node = n};
                store_submit(w->store, &put, 1);
                w->status[t] = META_QUEUED;
                w->holder[t] = n;
                w->epoch[t] = 1;
                w->owed[t]++;
                p->tasks[p->n++] = t;
            }
    }
    if (!store_flush(w->store, &err) || !store_poll(w->store, &ignored, &err))
        faults_trouble(w, "%s", err.text);
}

static void plan_faults(struct fault_world *w)
{
    for (uint32_t n = 0; n < w->nodes && faults_has(w, FAULT_CRASH); n++)
        for (int k = 0; n != w->immortal && k < 2; k++)
            if (faults_chance(w, 0.4))
                faults_later(w, rng_uniform(&w->rng, 0.05, 1), EVENT_CRASH, n);
    if (faults_has(w, FAULT_SUSPECT) && w->nodes > 1) {
        uint32_t node = (uint32_t)rng_below(&w->rng, w->nodes);
        double when = rng_uniform(&w->rng, 0.01, 0.3);
        faults_tell_others(w, when, node, SCHED_EVENT_NODE_DOWN);
        faults_tell_others(w, when + 0.6, node, SCHED_EVENT_NODE_UP);
    }
    for (int i = 0; i < 2 && faults_has(w, FAULT_PARTITION) && w->nodes > 1; i++)
        faults_later(w, i + rng_uniform(&w->rng, 0.01, 0.2), EVENT_CUT, w->immortal);
    for (int i = 0; i < 3 && faults_has(w, FAULT_FAILOVER); i++)
        faults_later(w, rng_uniform(&w->rng, 0.01, 1), EVENT_STORE_DOWN, w->immortal);
    for (uint32_t n = 0; n < w->nodes && faults_has(w, FAULT_LEAVE); n++)
        if (n != w->immortal && faults_chance(w, 0.5))
            faults_later(w, rng_uniform(&w->rng, 0.01, 0.5), EVENT_LEAVE, n);
    for (int i = 0; i < 3 && faults_has(w, FAULT_REMOVE); i++)
        faults_control(w, rng_uniform(&w->rng, 0, 0.3), (uint32_t)rng_below(&w->rng, w->nodes),
                       (struct sched_event){.kind = SCHED_EVENT_REMOVE,
                                            .task = (uint32_t)rng_below(&w->rng, w->tasks)});
    for (int i = 0; i < 6 && faults_has(w, FAULT_SWITCH); i++) {
        struct sched_event e = {.kind = SCHED_EVENT_POLICY};
        e.policy.policy = (enum sched_policy)rng_below(&w->rng, SCHED_POLICIES);
        e.policy.t = faults_chance(w, 0.5) ? -1 : rng_unit(&w->rng);
        e.policy.tt = faults_chance(w, 0.5) ? -1 : rng_unit(&w->rng);
        faults_control(w, rng_uniform(&w->rng, 0, 0.5), (uint32_t)rng_below(&w->rng, w->nodes), e);
    }
}

/* In three worlds of ten half of the nodes are sick for a while, the immortal one as well. */
static void plan_sick_nodes(struct fault_world *w, uint64_t seed)
{
    rng_seed_stream(&w->sick, seed, 18);
    bool some = rng_unit(&w->sick) < 0.3;
    for (uint32_t n = 0; some && n < w->nodes; n++) {
        double from = rng_uniform(&w->sick, 0.01, 0.5);
        if (rng_unit(&w->sick) < 0.5)
            continue;
        faults_later(w, from, EVENT_ASIDE, n);
        faults_later(w, from + rng_uniform(&w->sick, 0.05, 0.6), EVENT_BACK, n);
    }
}

/* Once or twice, and not before the tasks are there. */
static void plan_exodus(struct fault_world *w)
{
    uint64_t times = 1 + rng_below(&w->meets, 2);
    for (uint64_t i = 0; faults_has(w, FAULT_EXODUS) && i < times; i++)
        faults_later(w, (double)i + rng_uniform(&w->meets, 0.05, 0.5), EVENT_EXODUS, w->immortal);
}

static void loop(struct fault_world *w)
{
    struct fault_world_result *r = w->result;
    while (!r->trouble[0] && w->queue.n && !faults_finished(w)) {
        struct heap_item next = heap_pop(&w->queue);
        struct faults_pending *p = w->pool.at[next.value];
        w->now = fmax(w->now, next.key);
        w->pool.at[next.value] = NULL;
        handle(w, p);
        pending_free(p);
        array_push(&w->unused, (uint32_t)next.value);
        faults_check_world(w);
        if (++r->events % 256 == 0 && !w->store_down && w->store)
            faults_check_store(w);
        if (r->events > EVENTS_MOST)
            faults_trouble(w, "no end in sight");
    }
    if (!r->trouble[0])
        faults_check_end(w);
}

static void clean_up(struct fault_world *w)
{
    for (uint32_t n = 0; n < w->nodes; n++)
        sched_free(w->sched[n]);
    for (size_t i = 0; i < w->pool.n; i++)
        if (w->pool.at[i])
            pending_free(w->pool.at[i]);
    array_free(&w->pool);
    array_free(&w->unused);
    heap_free(&w->queue);
    sched_actions_free(&w->out);
    struct error err = {0};
    if (w->store && !store_close(w->store, &err))
        faults_trouble(w, "%s", err.text);
    if (w->journal[0])
        unlink(w->journal);
    workflow_free(w->workflow);
}

void fault_world_run(uint64_t seed, const struct fault_world_options *options,
                     struct fault_world_result *out)
{
    struct fault_world *w = mem_new_zero(struct fault_world, 1);
    *out = (struct fault_world_result){0};
    w->options = options;
    w->result = out;
    faults_draw(w, seed);
    faults_draw_growth(w, seed);
    /* the journal of a run that grows is not kept: it would be of another workflow */
    if (options->folder && !options->model && faults_has(w, FAULT_FAILOVER) && !w->grows)
        snprintf(w->journal, sizeof w->journal, "%s/%llu.journal", options->folder,
                 (unsigned long long)seed);
    struct rng ahead; /* a generator of its own, likewise */
    rng_seed_stream(&ahead, seed, 22);
    w->ahead = rng_unit(&ahead) < 0.5 && !w->grows;
    w->early = rng_unit(&ahead) < 0.5;
    if (faults_make_graph(w) && open_store(w)) {
        faults_make_nodes(w, seed);
        for (uint32_t n = 0; n < w->nodes; n++)
            faults_begin_life(w, n);
        submit(w);
        plan_faults(w);
        plan_sick_nodes(w, seed);
        plan_exodus(w);
        loop(w);
    }
    out->nodes = w->nodes;
    out->tasks = w->total;
    out->faults = w->faults;
    out->time = w->now;
    clean_up(w);
    free(w);
}
