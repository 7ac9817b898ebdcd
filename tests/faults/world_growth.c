/* Graphs that grow while they run, and tasks that decide: in one world some tasks are not taken, or fail
 * and may, and what comes after them goes on or is skipped, too; when some are done, parts join.
 *
 *     ids:      0 ... | part 1 | part 2 | part 3      as drawn: a task is the same in every run of its seed
 *     numbers:  0 ... | part 2 | part 1               as they joined: which part is first, is chance
 *
 * A part hangs on a task of an earlier part (or of what was there at first), which decides; its tasks come
 * after tasks of that part and of those that it hangs on in turn, by order or by what they wrote. Nodes
 * learn of a part one by one, late. Until then they know nothing of its tasks: messages that speak of them
 * are lost, and what the store says of them is passed over, as on agents (cluster/agent).
 *
 * What each task ends as follows from the drawing alone (faults_expected()), whatever goes wrong, unless
 * tasks fail or are removed at random. A generator of its own: the other worlds are what they were. */
#include "world_state.h"
#include "model/builder.h"
#include "model/growth.h"
#include <stdio.h>

static bool is_above(const struct fault_world *w, uint32_t parent, uint32_t id)
{
    return w->above[id][parent / 64] >> (parent % 64) & 1;
}

static void put_above(struct fault_world *w, uint32_t parent, uint32_t id)
{
    w->above[id][parent / 64] |= UINT64_C(1) << (parent % 64);
}

/* An id of the part, or of one that it hangs on. */
static uint32_t draw_ancestor(struct fault_world *w, struct rng *rng, uint32_t part)
{
    uint32_t up = part;
    while (up && rng_unit(rng) < 0.5)
        up = w->part[up].parent;
    return w->part[up].first + (uint32_t)rng_below(rng, w->part[up].end - w->part[up].first);
}

/* After draw(), before anything is made: w->tasks are there at first. */
void faults_draw_growth(struct fault_world *w, uint64_t seed)
{
    struct rng *rng = &w->growth_rng;
    rng_seed_stream(rng, seed, 17);
    bool grows = rng_unit(rng) < 0.25, decides = rng_unit(rng) < 0.3;
    w->grows = w->options->grows || grows;
    w->decides = w->options->grows || decides;
    w->part[0] = (struct faults_part){.end = w->tasks, .joined = true};
    w->nparts = 1;
    if (w->grows && w->options->grows && w->tasks > FAULTS_TASKS / 2)
        w->tasks = w->part[0].end = w->tasks / 2;
    w->total = w->tasks;
    uint32_t parts = w->grows ? 1 + (uint32_t)rng_below(rng, FAULTS_PARTS - 1) : 0;
    for (; parts && w->total < FAULTS_TASKS; parts--) {
        uint32_t most = FAULTS_TASKS - w->total, k = w->nparts;
        uint32_t size = 1 + (uint32_t)rng_below(rng, most < 25 ? most : 25);
        uint32_t parent = (uint32_t)rng_below(rng, k);
        w->part[k] = (struct faults_part){
            .first = w->total,
            .end = w->total + size,
            .parent = parent,
            .decider = w->part[parent].first +
                       (uint32_t)rng_below(rng, w->part[parent].end - w->part[parent].first)};
        w->nparts++;
        w->total += size;
        for (uint32_t id = w->part[k].first; id < w->part[k].end; id++) {
            if (rng_unit(rng) < 0.7)
                put_above(w, draw_ancestor(w, rng, parent), id);
            for (uint32_t n = (uint32_t)rng_below(rng, 3); n && id > w->part[k].first; n--)
                put_above(w, w->part[k].first + (uint32_t)rng_below(rng, id - w->part[k].first),
                          id);
        }
    }
    for (uint32_t id = 0; id < w->total; id++) {
        double x = rng_unit(rng);
        w->kind[id] = !w->decides ? FAULTS_RUNS
                      : x < 0.1   ? FAULTS_IS_SKIPPED
                      : x < 0.18  ? FAULTS_MAY_FAIL
                                  : FAULTS_RUNS;
        w->tolerant[id] = rng_unit(rng) < 0.5;
        w->number[id] = id < w->tasks ? id : NONE;
        w->id[id] = id;
    }
}

/* What it writes, for tasks that join later. */
static void add_output(const struct fault_world *w, struct builder *b, uint32_t task, uint32_t id)
{
    char name[16];
    if (!w->grows || id % 2)
        return;
    uint32_t o = builder_object(b, name, (size_t)snprintf(name, sizeof name, "o%u", id));
    builder_produces(b, task, o, 0);
    builder_size(b, o, id % 3 ? 1e5 : 1e8, 0);
}

static void add_task(struct builder *b, uint32_t id)
{
    char name[16];
    builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", id), 0);
}

bool faults_make_graph(struct fault_world *w)
{
    struct builder *b = builder_new("<faults>", "faults");
    struct error err = {0};
    for (uint32_t t = 0; t < w->tasks; t++)
        add_task(b, t);
    for (uint32_t t = 0; t < w->tasks; t++)
        add_output(w, b, t, t);
    for (uint32_t t = 1; t < w->tasks; t++)
        for (uint32_t k = (uint32_t)rng_below(&w->rng, 4); k > 0; k--) {
            uint32_t from = (uint32_t)rng_below(&w->rng, t);
            put_above(w, from, t);
            if (rng_unit(&w->rng) < 0.3)
                builder_edge(b, from, t, 0);
            else
                builder_data_edge(b, from, t,
                                  rng_uniform(&w->rng, 0, rng_unit(&w->rng) < 0.5 ? 1e5 : 1e9), 0);
        }
    w->workflow = builder_finish(b, &err);
    if (!w->workflow)
        faults_trouble(w, "%s", err.text);
    return w->workflow;
}

/* ---- what nodes know ---- */

/* Its arrays say nothing of what it does not know; what nobody asks for yet, it has not heard of. */
static void know_all(struct fault_world *w, uint32_t node)
{
    struct sched_config *c = &w->config[node];
    bool wide = false, asks = false;
    w->knows[node] = w->tasks;
    for (uint32_t t = 0; t < w->tasks; t++) {
        wide |= w->wide && w->task_nodes[t] > 1;
        asks |= w->task_asks[t] > 0;
    }
    c->task_nodes = wide || (w->wide && !w->grows) ? w->task_nodes : NULL;
    c->task_asks = asks || !w->grows ? w->task_asks : NULL;
}

void faults_learn(struct fault_world *w, uint32_t node)
{
    if (w->knows[node] == w->tasks)
        return;
    know_all(w, node);
    if (w->sched[node])
        sched_grow(w->sched[node], &w->config[node]);
}

/* In arrays by id, before parts join: what tasks ask for was drawn that way. */
void faults_keep_demands(struct fault_world *w)
{
    for (uint32_t id = 0; id < w->total; id++)
        w->drawn[id] = (struct faults_demand){w->asks[id], w->task_asks[id], w->task_nodes[id]};
}

bool faults_knows_items(const struct fault_world *w, uint32_t node, const struct meta_item *items,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (items[i].task >= w->knows[node])
            return false;
    return true;
}

/* ---- joining ---- */

/* A task was committed as done: what it decides will join. */
uint32_t faults_next_part(const struct fault_world *w, uint32_t task, uint32_t after)
{
    for (uint32_t k = after + 1; k < w->nparts; k++)
        if (w->part[k].decider == w->id[task])
            return k;
    return NONE;
}

static struct workflow *build_part(const struct fault_world *w, const struct faults_part *part,
                                   struct future_links *links, struct error *err)
{
    struct builder *b = builder_new("<part>", "part");
    for (uint32_t id = part->first; id < part->end; id++)
        add_task(b, id);
    for (uint32_t id = part->first; id < part->end; id++) {
        uint32_t task = id - part->first;
        add_output(w, b, task, id);
        for (uint32_t up = 0; up < id; up++) {
            char name[16];
            if (!is_above(w, up, id))
                continue;
            if (up >= part->first && up % 3)
                builder_edge(b, up - part->first, task, 0);
            else if (up >= part->first)
                builder_data_edge(b, up - part->first, task, 1e6, 0);
            else if (up % 2)
                array_push(links, (struct growth_link){w->number[up], task});
            else
                builder_consumes(
                    b, task,
                    builder_object(b, name, (size_t)snprintf(name, sizeof name, "o%u", up)), 0);
        }
    }
    return builder_finish(b, err);
}

/* PUT for a node, which may be fenced: then for another. O(nodes). */
static uint32_t put_somewhere(struct fault_world *w, uint32_t task)
{
    uint32_t first = (uint32_t)rng_below(&w->rng, w->nodes);
    for (uint32_t i = 0; i < w->nodes; i++) {
        struct meta_op op = {.kind = META_PUT, .task = task, .node = (first + i) % w->nodes};
        struct meta_answers answers;
        struct error err = {0};
        store_submit(w->store, &op, 1);
        if (!store_flush(w->store, &err) || !store_poll(w->store, &answers, &err) || answers.n != 1)
            break;
        if (answers.at[0].outcome == META_OK)
            return op.node;
    }
    faults_trouble(w, "nobody takes task %u, which joins", task);
    return w->immortal;
}

/* The truth grows; `to` gets the tasks that each node is to begin with. */
void faults_join(struct fault_world *w, uint32_t number, struct faults_pending *const *to)
{
    struct faults_part *part = &w->part[number];
    struct error err = {0};
    struct future_links links = {0};
    struct workflow *x = build_part(w, part, &links, &err);
    uint32_t first = w->tasks;
    if (!x || !workflow_append(w->workflow, x, links.at, links.n, &err)) {
        faults_trouble(w, "part %u does not join: %s", number, err.text);
    } else {
        w->store->ops->grow(w->store);
        w->tasks = w->workflow->ntasks;
        part->joined = true;
        w->result->joined += part->end - part->first;
    }
    for (uint32_t t = first; t < w->tasks; t++) {
        uint32_t id = part->first + t - first, node;
        const struct faults_demand *d = &w->drawn[id];
        w->number[id] = t;
        w->id[t] = id;
        w->asks[t] = d->asks;
        w->task_cores[t] = d->asks.cores;
        w->task_memory[t] = d->asks.memory;
        w->task_needs[t] = d->asks.has;
        w->task_asks[t] = d->row;
        w->task_nodes[t] = d->nodes;
        node = put_somewhere(w, t);
        w->status[t] = META_QUEUED;
        w->holder[t] = node;
        w->epoch[t] = 1;
        w->owed[t] = 1;
        to[node]->tasks[to[node]->n++] = t;
    }
    array_free(&links);
    workflow_free(x);
}

/* ---- tasks that decide ---- */

/* Its parents have ended. */
void faults_decide(const struct fault_world *w, uint32_t node, uint32_t task, struct sched_ended *e)
{
    uint32_t id = w->id[task];
    bool lacks = false;
    for (uint32_t up = 0; up < id; up++)
        if (is_above(w, up, id) && w->number[up] != NONE)
            lacks |= w->status[w->number[up]] != META_DONE &&
                     !(w->ahead && !faults_ended(w, w->number[up]) &&
                       w->ended_here[node][w->number[up]]);
    if (!w->decides || e->returned)
        return;
    if ((lacks && !w->tolerant[id]) || w->kind[id] == FAULTS_IS_SKIPPED) {
        e->skipped = true;
        e->failed = false;
    } else if (w->kind[id] == FAULTS_MAY_FAIL) {
        e->failed = e->excused = true;
    }
}

/* As the drawing has it, parents before children; META_ABSENT: its part does not join. */
static uint8_t faults_expected(const struct fault_world *w, uint32_t id, const uint8_t *before)
{
    bool lacks = false;
    for (uint32_t k = 1; k < w->nparts; k++)
        if (id >= w->part[k].first && id < w->part[k].end &&
            before[w->part[k].decider] != META_DONE)
            return META_ABSENT;
    for (uint32_t up = 0; up < id; up++)
        lacks |= is_above(w, up, id) && before[up] != META_DONE;
    if ((lacks && !w->tolerant[id]) || w->kind[id] == FAULTS_IS_SKIPPED)
        return META_SKIPPED;
    return w->kind[id] == FAULTS_MAY_FAIL ? META_EXCUSED : META_DONE;
}

void faults_check_results(struct fault_world *w)
{
    uint8_t expected[FAULTS_TASKS];
    for (uint32_t id = 0; id < w->total; id++) {
        uint8_t got = w->number[id] == NONE ? META_ABSENT : w->status[w->number[id]];
        expected[id] = faults_expected(w, id, expected);
        if (!(w->faults & (FAULT_FAIL | FAULT_REMOVE)) && got != expected[id])
            faults_trouble(w, "task t%u ended with status %u; expected %u", id, got, expected[id]);
        w->result->skipped += got == META_SKIPPED;
        w->result->excused += got == META_EXCUSED;
    }
    for (uint32_t k = 1; k < w->nparts; k++) {
        uint32_t decider = w->number[w->part[k].decider];
        bool due = decider != NONE && w->status[decider] == META_DONE;
        if (due != w->part[k].joined)
            faults_trouble(w, "part %u %s, though t%u %s", k,
                           w->part[k].joined ? "joined" : "did not join", w->part[k].decider,
                           due ? "is done" : "is not done");
    }
}
