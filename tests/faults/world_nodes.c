/* Nodes that come and go: who dies, leaves, begins, is cut off or set aside, and what the others hear of it. */
#include "world_state.h"

void faults_control(struct fault_world *w, double after, uint32_t node, struct sched_event e)
{
    faults_later(w, after, EVENT_CONTROL, node)->control = e;
}

void faults_tell_others(struct fault_world *w, double after, uint32_t node,
                        enum sched_event_kind kind)
{
    for (uint32_t i = 0; i < w->nodes; i++)
        if (i != node && w->sched[i])
            faults_control(w, after + faults_delay(w, i), i,
                           (struct sched_event){.kind = kind, .node = node, .over = w->born[node]});
}

/* Its process ends. */
void faults_end_life(struct fault_world *w, uint32_t node)
{
    sched_free(w->sched[node]);
    w->sched[node] = NULL;
    faults_gangs_crash(w, node);
    w->life[node]++;
    w->busy_cores[node] = 0;
    w->busy_memory[node] = 0;
    memset(w->busy_things[node], 0, sizeof w->busy_things[node]);
}

void faults_crash(struct fault_world *w, uint32_t node)
{
    if (!w->sched[node])
        return;
    w->result->crashes++;
    faults_end_life(w, node);
    if (faults_chance(w, 0.4)) { /* so quickly that nobody notices */
        faults_later(w, 0.01, EVENT_RESTART, node);
        return;
    }
    faults_tell_others(w, 0.05, node, SCHED_EVENT_NODE_DOWN);
    if (faults_chance(w, 0.6) || w->wide)
        faults_later(w, rng_uniform(&w->rng, 0.01, 2), EVENT_RESTART, node);
}

/* The others see it on the board. */
static void tell_capacity(struct fault_world *w, uint32_t node)
{
    for (uint32_t i = 0; i < w->nodes; i++)
        if (i != node && w->sched[i])
            faults_control(w, faults_delay(w, i), i, faults_capacity_event(w, node));
}

/* It is told to leave: nothing new starts, and what is ready goes to others. Or it may stay. */
void faults_leave(struct fault_world *w, uint32_t node, bool leaves)
{
    if (!w->sched[node] || w->leaves[node] == leaves)
        return;
    w->leaves[node] = leaves;
    w->result->leaves += leaves;
    struct sched_event e = faults_capacity_event(w, node);
    faults_deliver(w, node, &e);
    tell_capacity(w, node);
    if (leaves && (faults_chance(w, 0.5) || w->wide))
        faults_later(w, rng_uniform(&w->rng, 0.01, 0.5), EVENT_STAY, node);
}

/* A scheduler is made. As an agent that joins while others do: of those after it, it has not heard at all,
 * and of those before it that they are not there yet. It hears of all of them later. */
void faults_begin_life(struct fault_world *w, uint32_t node)
{
    struct sched_config config = w->config[node];
    memset(w->ended_here[node], 0, sizeof w->ended_here[node]);
    config.ahead = w->ahead ? w->workflow : NULL;
    config.threads = w->early ? 1 : 0;
    bool stranger = w->meet_late && rng_unit(&w->meets) < 0.5;
    if (stranger) {
        config.nodes = node + 1;
        if (!w->grows && w->nodes > 1) /* else it looks always, as agents do */
            config.wait_poll = 0;
    }
    w->sched[node] = sched_new(&config);
    for (uint32_t i = 0; stranger && i < w->nodes; i++) {
        struct sched_event e = {.kind = SCHED_EVENT_NODE_DOWN, .node = i, .over = SCHED_NOT_YET};
        if (i == node)
            continue;
        if (i < node)
            faults_deliver(w, node, &e);
        double when = rng_unit(&w->meets); /* what it has room for, and then that it is there */
        faults_control(w, when, node, faults_capacity_event(w, i));
        faults_control(w, when, node, (struct sched_event){.kind = SCHED_EVENT_NODE_UP, .node = i});
    }
    w->result->strangers += stranger;
}

/* As when a batch system ends all jobs: each is told to leave, gives what it has to others that leave, and
 * goes. Each number gets another life, some before the last has gone. */
void faults_exodus(struct fault_world *w)
{
    w->result->exoduses++;
    for (uint32_t n = 0; n < w->nodes; n++) {
        double gone = rng_uniform(&w->meets, 0.001, 0.3);
        faults_leave(w, n, true);
        faults_later(w, gone, EVENT_CRASH, n)->n = 1;
        faults_later(w, gone + rng_uniform(&w->meets, 0.001, 0.4), EVENT_RESTART, n);
    }
}

/* Its machine fails tasks for a while, and the others see it on the board. */
void faults_set_aside(struct fault_world *w, uint32_t node, bool is)
{
    struct sched_event e = {.kind = SCHED_EVENT_ASIDE, .aside = {node, is}};
    if (!w->sched[node] || w->aside[node] == is)
        return;
    w->aside[node] = is;
    w->result->asides += is;
    faults_deliver(w, node, &e);
    for (uint32_t i = 0; i < w->nodes; i++)
        if (i != node && w->sched[i])
            faults_control(w, faults_delay(w, i), i, e);
}

void faults_restart(struct fault_world *w, uint32_t node)
{
    if (w->sched[node])
        return;
    faults_learn(w, node);
    faults_begin_life(w, node);
    if (w->leaves[node]) {
        w->leaves[node] = false;
        tell_capacity(w, node);
    }
    for (uint32_t i = 0; i < w->nodes; i++)
        if (w->leaves[i])
            faults_control(w, faults_delay(w, node), node, faults_capacity_event(w, i));
    bool was_aside = w->aside[node];
    w->aside[node] = false;
    struct sched_event e = {.kind = SCHED_EVENT_START, .life = ++w->lives};
    w->born[node] = w->lives;
    faults_deliver(w, node, &e);
    for (uint32_t i = 0; i < w->nodes; i++) {
        struct sched_event said = {.kind = SCHED_EVENT_ASIDE, .aside = {node, false}};
        if (was_aside && i != node && w->sched[i])
            faults_control(w, faults_delay(w, i), i, said);
        said.aside.node = i;
        if (w->aside[i])
            faults_control(w, faults_delay(w, node), node, said);
    }
    for (uint32_t i = 0; i < w->nodes;
         i++) /* who is dead it learns as the others do: from outside */
        if (i != node && !w->sched[i])
            faults_control(
                w, faults_delay(w, node), node,
                (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = i, .over = w->born[i]});
    faults_tell_others(w, 0.01, node, SCHED_EVENT_NODE_UP);
}

/* Some nodes lose the others and the store. Long enough, and they are thought dead; they think
 * nothing, since nobody told them. */
void faults_cut(struct fault_world *w)
{
    double length = rng_uniform(&w->rng, 0.02, 0.8);
    w->result->partitions++;
    for (uint32_t n = 0; n < w->nodes; n++) {
        w->cut[n] = faults_chance(w, 0.4);
        if (w->cut[n] && length > 0.15 && n != w->immortal) {
            for (uint32_t i = 0; i < w->nodes; i++)
                if (i != n && !w->cut[i] && w->sched[i]) {
                    faults_control(w, 0.15 + faults_delay(w, i), i,
                                   (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN,
                                                        .node = n,
                                                        .over = w->born[n]});
                    faults_control(w, length + 0.35 + faults_delay(w, i), i,
                                   (struct sched_event){.kind = SCHED_EVENT_NODE_UP, .node = n});
                }
        }
    }
    faults_later(w, length, EVENT_HEAL, w->immortal);
}
