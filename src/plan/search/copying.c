/* Search over orders and nodes with copies; copying.h says what a candidate is.
 *
 * Candidates begin with the upward ranks, the static levels, and the order of the best plan with one
 * copy each, with and without its nodes. Then the best is changed: priorities by some noise, all or a
 * few, or a task is sent to a node, or is set free again. A candidate that is as long as the best
 * replaces it, so that the search drifts over plateaus. It is given up as soon as a task's end and
 * what must follow it exceed the best.
 *
 * The numbers decide nothing but quality, which bench/quality.c measures. */
#include "plan/search/copying.h"
#include "base/clock.h"
#include "base/rng.h"
#include "plan/list/duplicate.h"
#include <math.h>
#include <string.h>

struct copying {
    const struct copying_request *r;
    struct list_run l;
    struct duplicator *duplicator;
    struct rng rng;
    struct ready ready;
    struct heap heap;
    uint32_t *missing; /* edges into every task: what `ready` begins with */
    double *tail;      /* what must follow a task, whatever the plan copies */
    double *priority, *best_priority;
    uint32_t *node, *best_node; /* NONE: where it ends first */
    double best;
    bool found;
};

/* From a task's end to the end of all, everything on its fastest node and nothing sent. */
static void copying_tails(struct copying *c)
{
    const struct problem *p = c->r->problem;
    for (uint32_t i = p->n; i-- > 0;) {
        uint32_t t = p->topo[i];
        for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
            c->tail[p->pred[e]] = fmax(c->tail[p->pred[e]], p->least[t] + c->tail[t]);
    }
}

/* The candidate's makespan, INFINITY when it is longer than `limit`. The schedule stays. */
static double build_candidate(struct copying *c, double limit)
{
    uint32_t n = c->r->problem->n, placed = 0;
    schedule_reset(c->l.s);
    heap_clear(&c->heap);
    memcpy(c->ready.missing, c->missing, n * sizeof *c->missing);
    c->ready.fresh.n = 0;
    for (uint32_t t = 0; t < n; t++)
        if (!c->missing[t])
            array_push(&c->ready.fresh, t);
    double makespan = 0;
    for (; placed < n; placed++) {
        ready_push(&c->ready, &c->heap, c->priority, -1);
        uint32_t t = (uint32_t)heap_pop(&c->heap).value;
        struct schedule_slot slot = duplicator_place(c->duplicator, t, c->node[t]);
        if (!(slot.finish + c->tail[t] <= limit))
            return INFINITY;
        schedule_place(c->l.s, t, slot);
        makespan = fmax(makespan, slot.finish);
        ready_done(&c->ready, t);
    }
    return makespan;
}

/* Build it; keep it if it is no longer than the best. True: it is shorter. */
static bool try_candidate(struct copying *c)
{
    uint32_t n = c->r->problem->n;
    double makespan = build_candidate(c, c->best);
    if (!(makespan <= c->best))
        return false;
    bool shorter = makespan < c->best * (1 - 1e-9);
    c->best = makespan;
    c->found = true;
    memcpy(c->best_priority, c->priority, n * sizeof *c->priority);
    memcpy(c->best_node, c->node, n * sizeof *c->node);
    return shorter;
}

static void begin_with_ranks(struct copying *c, uint32_t number)
{
    const struct encoding *start = c->r->start;
    uint32_t n = c->r->problem->n;
    for (uint32_t t = 0; t < n; t++)
        c->node[t] = NONE;
    if (number < 2) {
        double *times = rank_times(c->l.costs);
        double *rank = number ? rank_static(c->l.costs, times) : rank_upward(c->l.costs, times);
        memcpy(c->priority, rank, n * sizeof *rank);
        free(times);
        free(rank);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        c->priority[start->order[i]] = n - i;
    if (number == 3)
        memcpy(c->node, start->node, n * sizeof *c->node);
}

/* The best, a little different. */
static void change_candidate(struct copying *c)
{
    static const double noises[] = {0.02, 0.1, 0.4};
    uint32_t n = c->r->problem->n;
    memcpy(c->priority, c->best_priority, n * sizeof *c->priority);
    memcpy(c->node, c->best_node, n * sizeof *c->node);
    uint32_t kind = (uint32_t)rng_below(&c->rng, 3);
    double noise = noises[rng_below(&c->rng, 3)];
    double few = 1 + (double)rng_below(&c->rng, 8), share = kind == 0 ? 1 : few / n;
    for (uint32_t t = 0; t < n && kind < 2; t++)
        if (rng_unit(&c->rng) < share)
            c->priority[t] *= exp(noise * rng_normal(&c->rng));
    for (uint32_t i = 0; i < few && kind == 2; i++) {
        uint32_t t = (uint32_t)rng_below(&c->rng, n);
        uint32_t v = (uint32_t)rng_below(&c->rng, c->r->problem->m);
        bool set = rng_below(&c->rng, 2) && isfinite(problem_time(c->r->problem, t, v));
        c->node[t] = set ? v : NONE;
    }
}

static bool copying_is_over(const struct copying *c, uint64_t tried, uint64_t since)
{
    const struct copying_request *r = c->r;
    return tried >= r->candidates || since >= r->patience || c->best <= r->target ||
           (r->stop && atomic_load_explicit(r->stop, memory_order_relaxed)) ||
           (isfinite(r->deadline) && clock_seconds() >= r->deadline);
}

static void copying_init(struct copying *c)
{
    const struct problem *p = c->r->problem;
    const struct workflow *w = p->costs->workflow;
    c->l = (struct list_run){
        .w = w, .p = p->costs->platform, .costs = (struct costs *)(uintptr_t)p->costs};
    c->l.s = schedule_new(p->costs);
    c->duplicator = duplicator_new(&c->l);
    rng_seed_stream(&c->rng, c->r->seed, c->r->stream);
    ready_init(&c->ready, w);
    c->missing = mem_new(uint32_t, p->n);
    if (p->n)
        memcpy(c->missing, c->ready.missing, p->n * sizeof *c->missing);
    c->tail = mem_new_zero(double, p->n);
    copying_tails(c);
    c->priority = mem_new(double, p->n);
    c->best_priority = mem_new(double, p->n);
    c->node = mem_new(uint32_t, p->n);
    c->best_node = mem_new(uint32_t, p->n);
}

static void copying_done(struct copying *c)
{
    schedule_free(c->l.s);
    duplicator_free(c->duplicator);
    ready_free(&c->ready);
    heap_free(&c->heap);
    free(c->missing);
    free(c->tail);
    free(c->priority);
    free(c->best_priority);
    free(c->node);
    free(c->best_node);
}

struct plan *copying_search(const struct copying_request *r, uint64_t *tried)
{
    struct copying c = {.r = r, .best = r->shorter_than};
    struct plan *plan = NULL;
    uint64_t since = 0;
    *tried = 0;
    if (!r->problem->n)
        return NULL;
    copying_init(&c);
    for (uint32_t i = 0; i < 4 && !copying_is_over(&c, *tried, 0); i++, ++*tried) {
        begin_with_ranks(&c, i);
        try_candidate(&c);
    }
    /* nothing to change: not even the ranks gave a plan that is short enough */
    while (c.found && !copying_is_over(&c, *tried, since)) {
        change_candidate(&c);
        since = try_candidate(&c) ? 0 : since + 1;
        ++*tried;
    }
    if (c.found && c.best < r->shorter_than) {
        memcpy(c.priority, c.best_priority, r->problem->n * sizeof *c.priority);
        memcpy(c.node, c.best_node, r->problem->n * sizeof *c.node);
        build_candidate(&c, INFINITY);
        plan = schedule_plan(c.l.s);
    }
    copying_done(&c);
    return plan;
}
