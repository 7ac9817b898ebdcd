/* What a run's scheduler is told of the nodes, this one included: who is there, what tasks may ask for where, who does
 * not take part. */
#include "cluster/agent/agent_state.h"

#include <math.h>

/* The most memory that a task may get after it ran out: on whichever agent lives. */
void job_find_most_memory(struct job *j)
{
    const struct agent *a = j->agent;
    double most = 0;
    for (uint32_t node = 0; node < a->peers.n || node <= a->node; node++) {
        struct capacity c = peer_capacity(a, node, j->w, 0);
        if (c.cores && (node == a->node || peer_is_up(a, node)) && c.memory > most)
            most = c.memory;
    }
    j->options.memory_most = most;
}

/* As the scheduler sees it. */
struct capacity job_capacity_of(const struct job *j, uint32_t node)
{
    struct capacity c = peer_capacity(j->agent, node, j->w, job_patience(j));
    c.ends = c.ends > 0 ? fmax(c.ends - driver_began(j->driver), 1e-3) : 0;
    return c;
}

void job_capacity_changed(struct job *j, uint32_t node)
{
    struct sched_event e = {.kind = SCHED_EVENT_CAPACITY};
    e.capacity.node = node;
    e.capacity.has = job_capacity_of(j, node);
    job_find_most_memory(j);
    driver_handle(j->driver, &e);
}

void job_without(struct job *j, uint32_t node)
{
    if (job_is_without(j, node) || node == j->agent->node || node >= j->agent->peers.n)
        return;
    agent_log(j->agent, "run %llu: node %u does not take part; its tasks are others'",
              (unsigned long long)j->number, node);
    array_push(&j->without, node);
    if (job_is_scheduling(j))
        job_peer_changed(j, node, false);
}

void job_peer_changed(struct job *j, uint32_t node, bool up)
{
    for (size_t i = 0; up && i < j->without.n; i++) /* another life may do what this one did not */
        if (j->without.at[i] == node)
            j->without.at[i--] = array_pop(&j->without);
    growth_look_again(j);
    const struct peer *p = &j->agent->peers.at[node];
    driver_handle(j->driver,
                  &(struct sched_event){.kind = up ? SCHED_EVENT_NODE_UP : SCHED_EVENT_NODE_DOWN,
                                        .node = node,
                                        .over = p->known ? p->life : SCHED_NOT_YET});
}
