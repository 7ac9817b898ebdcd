/* What nodes have and what tasks ask for, in one world. */
#include "world_state.h"
#include <math.h>

/* In three worlds of four nodes differ, and tasks ask for what some of them have not. The immortal
 * one has all of it, so that everything can end. */
void faults_make_sizes(struct fault_world *w)
{
    bool uneven = rng_unit(&w->rng) < 0.75, attributes = rng_unit(&w->rng) < 0.5;
    struct capacity most = {.cores = 4, .memory = 8, .has = attributes ? 3 : 0}, least = most;
    for (uint32_t n = 0; n < w->nodes; n++) {
        w->capacity[n] =
            (struct capacity){.cores = 1 + (uint32_t)rng_below(&w->rng, uneven ? 4 : 3),
                              .memory = uneven ? 1 + (double)rng_below(&w->rng, 8) : INFINITY,
                              .has = attributes ? rng_below(&w->rng, 4) : 0};
        if (n == w->immortal && uneven)
            w->capacity[n] = most;
        least = capacity_least(&least, &w->capacity[n]);
    }
    for (uint32_t t = 0; t < w->tasks; t++) {
        bool asks = uneven && rng_unit(&w->rng) < 0.5;
        w->task_cores[t] = asks ? 1 + (uint32_t)rng_below(&w->rng, most.cores) : 1;
        w->task_memory[t] = asks ? (double)rng_below(&w->rng, 9) : 0;
        w->task_needs[t] = asks && attributes ? rng_below(&w->rng, 4) : 0;
        w->asks[t] = (struct capacity){
            .cores = w->task_cores[t], .memory = w->task_memory[t], .has = w->task_needs[t]};
        w->result->picky += !capacity_fits(&least, &w->asks[t]);
    }
}

struct sched_event faults_capacity_event(const struct fault_world *w, uint32_t node)
{
    struct sched_event e = {.kind = SCHED_EVENT_CAPACITY};
    e.capacity.node = node;
    e.capacity.has = w->capacity[node];
    if (w->leaves[node])
        e.capacity.has.cores = 0;
    return e;
}
