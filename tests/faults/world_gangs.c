/* Tasks that span several nodes, in one world: who gives a part to which, by a count of our own. */
#include "world_state.h"

/* In these nobody can know that a node which is thought dead still runs what it ran. */
#define UNSURE (FAULT_SUSPECT | FAULT_PARTITION)

/* In two worlds of five, or where the options say so, one task of three spans several of the nodes that
 * it fits. There nobody dies or leaves for good, or some could never run. A generator of its own: the
 * worlds without such tasks are what they were. */
void faults_make_spans(struct fault_world *w, uint64_t seed)
{
    struct rng rng;
    rng_seed_stream(&rng, seed, 16);
    bool drawn = rng_unit(&rng) < 0.4;
    w->wide = w->nodes > 1 && (w->options->wide || drawn);
    w->parts_wait = rng_unit(&rng) < 0.5;
    for (uint32_t t = 0; t < w->total; t++) {
        uint32_t fit = 0;
        for (uint32_t n = 0; n < w->nodes; n++)
            fit += capacity_fits(&w->capacity[n], &w->asks[t]);
        w->task_nodes[t] = fit > 1 && rng_unit(&rng) < 0.3 ? 1 + (uint32_t)rng_below(&rng, fit) : 1;
        w->result->wide += w->wide && w->task_nodes[t] > 1;
    }
}

static bool faults_is_wide(const struct fault_world *w, uint32_t task)
{
    return w->wide && w->task_nodes[task] > 1;
}

/* What tasks and parts use there together; tasks alone where nobody can know of the parts. */
void faults_check_use(struct fault_world *w, uint32_t node, uint32_t task)
{
    bool sure = !(w->faults & UNSURE);
    uint32_t cores = w->busy_cores[node] + (sure ? w->part_cores[node] : 0);
    double memory = w->busy_memory[node] + (sure ? w->part_memory[node] : 0);
    if (cores > w->capacity[node].cores || memory > w->capacity[node].memory)
        faults_trouble(w, "with task %u node %u uses %u cores of %u, %g bytes of %g", task, node,
                       cores, w->capacity[node].cores, memory, w->capacity[node].memory);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t things = w->busy_things[node][i] + (sure ? w->part_things[node][i] : 0);
        if (things > w->capacity[node].thing[i])
            faults_trouble(w, "with task %u node %u uses %u of its %u of thing %u", task, node,
                           things, w->capacity[node].thing[i], i);
    }
}

static void faults_take_part(struct fault_world *w, uint32_t node, uint32_t task)
{
    if (!capacity_fits(&w->capacity[node], &w->asks[task]))
        faults_trouble(w, "task %u has a part on node %u, which it does not fit", task, node);
    w->part_cores[node] += w->asks[task].cores;
    w->part_memory[node] += w->asks[task].memory;
    for (uint32_t i = 0; i < 2; i++)
        w->part_things[node][i] += w->asks[task].thing[i];
    faults_check_use(w, node, task);
}

void faults_gang_begins(struct fault_world *w, uint32_t node, uint32_t task,
                        struct faults_pending *p)
{
    uint32_t n = 0;
    bool here = false;
    if (!faults_is_wide(w, task))
        return;
    const uint32_t *nodes = sched_gang(w->sched[node], task, &n);
    if (n != w->task_nodes[task])
        faults_trouble(w, "task %u spans %u nodes and started on %u", task, w->task_nodes[task], n);
    for (uint32_t i = 0; i < n; i++) {
        if (i && nodes[i] <= nodes[i - 1])
            faults_trouble(w, "task %u has node %u twice", task, nodes[i]);
        here |= nodes[i] == node;
        if (nodes[i] == node)
            continue;
        /* it may have granted it in a life that is over, which is found out later */
        if (!w->sched[nodes[i]] || !sched_gives(w->sched[nodes[i]], task, node)) {
            if (!(w->faults & (UNSURE | FAULT_CRASH | FAULT_EXODUS)))
                faults_trouble(w, "task %u started without its part on node %u", task, nodes[i]);
            continue;
        }
        p->gang[p->ngang] = nodes[i];
        p->gang_life[p->ngang++] = w->life[nodes[i]];
        faults_take_part(w, nodes[i], task);
    }
    if (!here)
        faults_trouble(w, "task %u runs on node %u, which is not of its gang", task, node);
}

/* It has ended, or died with its node. Of those who died meanwhile nothing is left to give back. */
void faults_gang_ends(struct fault_world *w, struct faults_pending *p)
{
    for (uint32_t i = 0; i < p->ngang; i++) {
        uint32_t node = p->gang[i];
        if (w->life[node] != p->gang_life[i])
            continue;
        w->part_cores[node] -= w->asks[p->ended.task].cores;
        w->part_memory[node] -= w->asks[p->ended.task].memory;
        for (uint32_t k = 0; k < 2; k++)
            w->part_things[node][k] -= w->asks[p->ended.task].thing[k];
    }
    p->ngang = 0;
}

void faults_gangs_crash(struct fault_world *w, uint32_t node)
{
    w->part_cores[node] = 0;
    w->part_memory[node] = 0;
    memset(w->part_things[node], 0, sizeof w->part_things[node]);
    for (size_t i = 0; i < w->pool.n; i++) {
        struct faults_pending *p = w->pool.at[i];
        if (p && p->kind == EVENT_ENDED && p->node == node && p->life == w->life[node])
            faults_gang_ends(w, p);
    }
}

/* Of nodes the board shows what is, not what was: old news that overtook the new would be believed for
 * ever. That is hard on schedulers and good for the other worlds, in which one node can do it all. */
bool faults_is_news(const struct fault_world *w, struct sched_event *e)
{
    bool seen_now = w->wide || faults_has(w, FAULT_EXODUS); /* in those nobody can do it all */
    if (seen_now && e->kind == SCHED_EVENT_CAPACITY)
        *e = faults_capacity_event(w, e->capacity.node);
    if (e->kind == SCHED_EVENT_ASIDE)
        e->aside.is = w->aside[e->aside.node];
    if ((seen_now || w->meet_late) && e->kind == SCHED_EVENT_NODE_UP && !w->sched[e->node])
        return false; /* it has died since: a gang would wait for it for ever */
    return !(seen_now && e->kind == SCHED_EVENT_NODE_DOWN && w->sched[e->node] &&
             w->born[e->node] != e->over);
}
