/* Search over orders with copies; copying.h says what a candidate is.
 *
 * Candidates begin with the upward ranks, the static levels, and the order of the best plan with one
 * copy each, with and without its nodes. Then some priorities of the present one are changed by some
 * noise, and every task goes where it ends first. (To keep most tasks on their nodes makes candidates
 * cheaper and the search worse: measured.) A candidate that is at most a little longer than the best
 * becomes the present one (record-to-record travel), and it is given up as soon as a task's end and
 * what must follow it exceed that. After a while without success the search starts again from the
 * best.
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
    struct copying_order {
        double *priority;
        uint32_t *node; /* NONE: where it ends first */
    } candidate, present, best;
    double makespan;        /* of the best */
    double limit, deadline; /* a candidate that is longer, or not ready by then, is given up */
    bool found;
    bool best_stands; /* the schedule is that of the best */
};

/* How much longer than the best a candidate may be to go on from, and how long to do without success. */
#define COPYING_SLACK 0.001
enum { COPYING_AWAY = 150 };

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

/* The candidate's makespan, INFINITY when it is longer than the limit or time is over. The schedule
 * stays. */
static double build_candidate(struct copying *c)
{
    uint32_t n = c->r->problem->n;
    schedule_reset(c->l.s);
    heap_clear(&c->heap);
    memcpy(c->ready.missing, c->missing, n * sizeof *c->missing);
    c->ready.fresh.n = 0;
    for (uint32_t t = 0; t < n; t++)
        if (!c->missing[t])
            array_push(&c->ready.fresh, t);
    double makespan = 0;
    for (uint32_t i = 0; i < n; i++) {
        ready_push(&c->ready, &c->heap, c->candidate.priority, -1);
        uint32_t t = (uint32_t)heap_pop(&c->heap).value;
        struct schedule_slot slot = duplicator_place(c->duplicator, t, c->candidate.node[t]);
        if (!(slot.finish + c->tail[t] <= c->limit))
            return INFINITY;
        /* of many tasks on many nodes a single candidate may take longer than there is */
        if (i % 64 == 63 && isfinite(c->deadline) && clock_seconds() >= c->deadline)
            return INFINITY;
        schedule_place(c->l.s, t, slot);
        c->candidate.node[t] = slot.node;
        makespan = fmax(makespan, slot.finish);
        ready_done(&c->ready, t);
    }
    return makespan;
}

static void copy_order(struct copying_order *to, const struct copying_order *from, uint32_t n)
{
    memcpy(to->priority, from->priority, n * sizeof *to->priority);
    memcpy(to->node, from->node, n * sizeof *to->node);
}

/* Build it; go on from it if it is short enough. True: it is the shortest. */
static bool try_candidate(struct copying *c)
{
    uint32_t n = c->r->problem->n;
    double makespan = build_candidate(c);
    c->best_stands = false;
    if (!(makespan <= c->limit))
        return false;
    c->found = true;
    copy_order(&c->present, &c->candidate, n);
    if (!(makespan <= c->makespan))
        return false;
    bool shorter = makespan < c->makespan * (1 - 1e-9);
    copy_order(&c->best, &c->candidate, n);
    c->best_stands = true;
    c->makespan = makespan;
    c->limit = makespan * (1 + COPYING_SLACK);
    return shorter;
}

/* The number-th of the orders to begin with. */
static void begin_candidate(struct copying *c, uint32_t number)
{
    uint32_t n = c->r->problem->n;
    for (uint32_t t = 0; t < n; t++)
        c->candidate.node[t] = number == 3 ? c->r->start->node[t] : NONE;
    if (number < 2) {
        double *times = rank_times(c->l.costs);
        double *rank = number ? rank_static(c->l.costs, times) : rank_upward(c->l.costs, times);
        memcpy(c->candidate.priority, rank, n * sizeof *rank);
        free(times);
        free(rank);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        c->candidate.priority[c->r->start->order[i]] = n - i;
}

/* The present one with noise for some of its priorities; half of the time the others keep their nodes,
 * which costs a part of looking at all nodes. */
static void change_candidate(struct copying *c)
{
    static const double noises[] = {0.02, 0.05, 0.1};
    static const double shares[] = {0.01, 0.05, 0.3};
    uint32_t n = c->r->problem->n;
    copy_order(&c->candidate, &c->present, n);
    bool keep = rng_below(&c->rng, 2);
    double noise = noises[rng_below(&c->rng, 3)];
    double share = keep ? shares[rng_below(&c->rng, 3)] : rng_below(&c->rng, 2) ? 0.3 : 0.05;
    for (uint32_t t = 0; t < n; t++) {
        bool changes = rng_unit(&c->rng) < share;
        if (changes)
            c->candidate.priority[t] *= exp(noise * rng_normal(&c->rng));
        if (changes || !keep)
            c->candidate.node[t] = NONE;
    }
}

static bool copying_is_over(const struct copying *c, uint64_t tried, uint64_t since)
{
    const struct copying_request *r = c->r;
    return tried >= r->candidates || since >= r->patience || c->makespan <= r->target ||
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
    c->candidate.priority = mem_new(double, p->n);
    c->candidate.node = mem_new(uint32_t, p->n);
    c->present.priority = mem_new(double, p->n);
    c->present.node = mem_new(uint32_t, p->n);
    c->best.priority = mem_new(double, p->n);
    c->best.node = mem_new(uint32_t, p->n);
    c->makespan = c->r->shorter_than;
    c->limit = c->r->shorter_than * (1 + COPYING_SLACK);
}

static void copying_done(struct copying *c)
{
    schedule_free(c->l.s);
    duplicator_free(c->duplicator);
    ready_free(&c->ready);
    heap_free(&c->heap);
    free(c->missing);
    free(c->tail);
    free(c->candidate.priority);
    free(c->candidate.node);
    free(c->present.priority);
    free(c->present.node);
    free(c->best.priority);
    free(c->best.node);
}

/* Orders of tasks are changed and built anew, with copies wherever they help, and kept when they are
 * not longer. After a while without success it goes back to the best. Whoever calls says how short a
 * plan must be to be worth anything: candidates are given up as soon as they are longer. */
struct plan *copying_search(const struct copying_request *r, uint64_t *tried)
{
    struct copying c = {.r = r, .deadline = r->deadline};
    struct plan *plan = NULL;
    uint64_t since = 0;
    *tried = 0;
    if (!r->problem->n)
        return NULL;
    copying_init(&c);
    for (uint32_t i = 0; i < 4 && !copying_is_over(&c, *tried, 0); i++, ++*tried) {
        begin_candidate(&c, i);
        try_candidate(&c);
    }
    bool begun = c.makespan < r->shorter_than; /* else the record is somebody else's plan */
    /* nothing to change: not even the ranks gave a plan that is short enough */
    while (c.found && !copying_is_over(&c, *tried, since)) {
        if (begun && since % COPYING_AWAY == COPYING_AWAY - 1)
            copy_order(&c.present, &c.best, r->problem->n);
        change_candidate(&c);
        since = try_candidate(&c) ? 0 : since + 1;
        begun |= since == 0;
        ++*tried;
    }
    if (c.makespan < r->shorter_than) {
        /* of a large graph the one that there was time for stands there still */
        if (!c.best_stands) {
            copy_order(&c.candidate, &c.best, r->problem->n);
            c.limit = INFINITY;
            c.deadline = INFINITY; /* it was built before: the last time is paid */
            build_candidate(&c);
        }
        plan = schedule_plan(c.l.s);
    }
    copying_done(&c);
    return plan;
}
