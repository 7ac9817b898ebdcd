/* How many nodes (elastic.h). Pure: no loop, no clock; whoever has a fleet calls it. */
#include "cluster/launch/elastic.h"

uint32_t elastic_ready_tasks(const struct workflow *w, const struct needs *needs, uint32_t *widest)
{
    uint32_t ready = 0;
    *widest = 1;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool waits = !need_runs(needs, t);
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1] && !waits; e++)
            waits = need_runs(needs, w->pred_task[e]);
        ready += !waits;
        if (!waits && workflow_span(w, t) > *widest)
            *widest = w->nodes[t];
    }
    return ready;
}

/* Rounded up: a task more than fits is worth a node. */
static uint32_t elastic_divide(const struct elastic *e, uint64_t tasks, uint32_t cores)
{
    uint64_t nodes = tasks / cores + (tasks % cores != 0);
    nodes = nodes < 1 ? 1 : nodes;
    nodes = nodes < e->least ? e->least : nodes;
    return nodes < e->most ? (uint32_t)nodes : e->most;
}

uint32_t elastic_first(const struct elastic *e, uint64_t tasks)
{
    return elastic_divide(e, e->cores ? tasks : 1, e->cores ? e->cores : 1);
}

void elastic_learn(struct elastic *e, uint32_t agents, uint32_t cores)
{
    if (!e->cores && agents)
        e->cores = cores / agents; /* nodes of one job array are alike */
}

uint32_t elastic_nodes(const struct elastic *e, uint64_t tasks)
{
    return tasks ? elastic_first(e, tasks) : 0;
}
