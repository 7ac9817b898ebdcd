/* What is drawn of one world: its faults, what nodes have and what tasks ask for, the schedulers. */
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
static void faults_make_sizes(struct fault_world *w)
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

void faults_make_nodes(struct fault_world *w, uint64_t seed)
{
    faults_make_sizes(w);
    faults_make_spans(w, seed);
    faults_keep_demands(w);
    for (uint32_t n = 0; n < w->nodes; n++) {
        w->slow[n] = faults_has(w, FAULT_SLOW) && faults_chance(w, 0.3) ? 10 : 1;
        w->config[n] =
            (struct sched_config){.node = n,
                                  .nodes = w->nodes,
                                  .seed = seed,
                                  .cores = w->capacity[n].cores,
                                  .memory = w->capacity[n].memory,
                                  .has = w->capacity[n].has,
                                  .task_cores = w->task_cores,
                                  .task_memory = w->task_memory,
                                  .task_needs = w->task_needs,
                                  .task_nodes = w->wide ? w->task_nodes : NULL,
                                  .parts_wait = w->parts_wait,
                                  .things = w->capacity[n].things,
                                  .task_asks = w->task_asks,
                                  .amount = w->amount,
                                  .capacity = w->capacity,
                                  .policy = (enum sched_policy)rng_below(&w->rng, SCHED_POLICIES),
                                  .tt = 0.1,
                                  .bandwidth = 1e9,
                                  .default_length = 0.05,
                                  .share_local = faults_chance(w, 0.5),
                                  .adapt_tt = faults_chance(w, 0.5),
                                  .adapt_policy = faults_chance(w, 0.3),
                                  .steal_bound = 0.5,
                                  .reply_timeout = 0.1,
                                  .monitor_every = 0.05,
                                  .wait_poll = 0.2,
                                  .wait_batch = 5,
                                  .steal_most = 16,
                                  .retries = 2,
                                  .retry_first = faults_chance(w, 0.5) ? 0.02 : 0,
                                  .record_starts = faults_chance(w, 0.5)};
        memcpy(w->config[n].thing, w->capacity[n].thing, sizeof w->config[n].thing);
        faults_learn(w, n);
    }
}

void faults_draw(struct fault_world *w, uint64_t seed)
{
    static const double delays[] = {0.05, 0.3, 1};
    rng_seed(&w->rng, seed);
    w->faults = (uint32_t)rng_below(&w->rng, FAULT_ALL + 1) &
                (faults_chance(w, 0.5) ? FAULT_ALL : (uint32_t)rng_below(&w->rng, FAULT_ALL + 1));
    if (w->options->faults)
        w->faults = w->options->faults;
    w->nodes = 1 + (uint32_t)rng_below(&w->rng, FAULTS_NODES);
    w->tasks = 1 + (uint32_t)rng_below(&w->rng, FAULTS_TASKS);
    w->immortal = (uint32_t)rng_below(&w->rng, w->nodes);
    w->lose = faults_has(w, FAULT_LOSE) ? rng_uniform(&w->rng, 0, 0.25) : 0;
    w->twice = faults_has(w, FAULT_TWICE) ? rng_uniform(&w->rng, 0, 0.25) : 0;
    rng_seed_stream(&w->meets, seed, 19);
    w->meet_late = rng_unit(&w->meets) < 0.5;
    if (!w->options->faults && rng_unit(&w->meets) < 0.2)
        w->faults |= FAULT_EXODUS;
    w->late = faults_has(w, FAULT_LATE) ? delays[rng_below(&w->rng, 3)] : 0.002;
}

/* What an attempt on a node that is set aside comes to: others take it if they can, and else it goes well. */
void faults_fail_on_sick_node(struct fault_world *w, uint32_t node, struct sched_ended *e)
{
    if (!e->passed_on)
        return;
    bool passed = sched_may_pass_on(w->sched[node], e->task, e->passed_on);
    e->passed_on = passed;
    e->returned = passed;
    e->failed = passed || e->failed;
    w->result->passed_on += passed;
}
