/* What nodes have and what tasks ask for, in one world. */
#include "world_state.h"
#include <math.h>

/* Two sorts of things, the first with ids. In three worlds of four there are some, and a third of the
 * tasks asks for one of these. */
static const uint32_t demands[FAULTS_DEMANDS][2] = {
    {0, 0}, {THING_ONE, 0}, {THING_ONE / 2, 0}, {2 * THING_ONE, 0}, {0, 15000}, {3000, THING_ONE},
};

static void make_things(struct fault_world *w)
{
    bool any = rng_unit(&w->rng) < 0.75;
    for (uint32_t k = 0; k < FAULTS_DEMANDS; k++)
        for (uint32_t i = 0; i < 2; i++)
            w->amount[k * THING_SORTS + i] = demands[k][i];
    for (uint32_t n = 0; any && n < w->nodes; n++) {
        struct capacity *c = &w->capacity[n];
        c->things = 1;
        c->thing[0] = THING_ONE * (uint32_t)rng_below(&w->rng, 3);
        c->thing[1] = THING_ONE * (uint32_t)rng_below(&w->rng, 4);
        if (n == w->immortal)
            c->thing[0] = c->thing[1] = 2 * THING_ONE;
    }
    for (uint32_t t = 0; any && t < w->total; t++) {
        uint32_t k = rng_below(&w->rng, 3) ? 0 : (uint32_t)rng_below(&w->rng, FAULTS_DEMANDS);
        w->task_asks[t] = k;
        for (uint32_t i = 0; i < 2; i++) {
            w->asks[t].thing[i] = demands[k][i];
            w->asks[t].things |= (uint32_t)(demands[k][i] > 0) << i;
        }
        w->result->holding += k > 0;
    }
}

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
    for (uint32_t t = 0; t < w->total; t++) {
        bool asks = uneven && rng_unit(&w->rng) < 0.5;
        w->task_cores[t] = asks ? 1 + (uint32_t)rng_below(&w->rng, most.cores) : 1;
        w->task_memory[t] = asks ? (double)rng_below(&w->rng, 9) : 0;
        w->task_needs[t] = asks && attributes ? rng_below(&w->rng, 4) : 0;
        w->asks[t] = (struct capacity){
            .cores = w->task_cores[t], .memory = w->task_memory[t], .has = w->task_needs[t]};
        w->result->picky += !capacity_fits(&least, &w->asks[t]);
    }
    make_things(w);
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
