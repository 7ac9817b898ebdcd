/* Random workflows, platforms and valid static plans for tests: no planner needed, nothing clever.
 */
#pragma once
#include "base/rng.h"
#include "model/builder.h"
#include "model/costs.h"
#include "model/plan.h"
#include <stdio.h>
#include <stdlib.h>

struct random_shape {
    uint32_t tasks, nodes;
    double degree;   /* mean number of objects a task reads */
    double ordering; /* share of edges that carry nothing */
    double ccr;      /* mean transfer time / mean task time on the default network */
    double copies;   /* probability that a task gets a second copy */
    uint32_t cores;  /* most cores of a node; tasks then need up to 2 */
    bool links;      /* some pairs have a network of their own */
    double latency;
};

__attribute__((unused)) static struct workflow *random_workflow(struct rng *r,
                                                                const struct random_shape *s)
{
    struct builder *b = builder_new("<random>", "test");
    for (uint32_t i = 0; i < s->tasks; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "t%u", i);
        uint32_t t = builder_task(b, name, (size_t)len, 0);
        builder_work(b, t, 0.5 + rng_unit(r), 0);
        builder_memory(b, t, (double)rng_below(r, 100), 0);
        if (s->cores > 1 && rng_below(r, 4) == 0)
            builder_cores(b, t, 2, 0);
        len = snprintf(name, sizeof name, "o%u", i);
        uint32_t o = builder_object(b, name, (size_t)len);
        builder_size(b, o, 1000 * s->ccr * 2 * rng_unit(r), 0);
        builder_produces(b, t, o, 0);
    }
    for (uint32_t i = 1; i < s->tasks; i++) {
        uint32_t reads = (uint32_t)rng_below(r, (uint64_t)(2 * s->degree) + 1);
        for (uint32_t k = 0; k < reads; k++) {
            uint32_t window = i < 50 ? i : 50;
            uint32_t from = i - 1 - (uint32_t)rng_below(r, window);
            if (rng_unit(r) < s->ordering)
                builder_edge(b, from, i, 0);
            else
                builder_consumes(b, i, from, 0); /* object number = task number */
        }
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

__attribute__((unused)) static struct platform *random_platform(struct rng *r,
                                                                const struct random_shape *s)
{
    struct platform_builder *b = platform_builder_new("<random>");
    platform_builder_network(b, 1000, s->latency, NAN, 0);
    for (uint32_t i = 0; i < s->nodes; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "n%u", i);
        platform_builder_node(b, name, (size_t)len, 0);
        platform_builder_speed(b, i, 0.5 + rng_unit(r), 0);
        platform_builder_cores(b, i, s->cores > 1 ? (double)(2 + rng_below(r, s->cores - 1)) : 1,
                               0);
    }
    if (s->links)
        for (uint32_t i = 0; i < s->nodes; i++)
            for (uint32_t j = i + 1; j < s->nodes; j++)
                if (rng_below(r, 3) == 0)
                    platform_builder_link(b, i, j, 200 + 2000 * rng_unit(r),
                                          s->latency * 2 * rng_unit(r), 0);
    struct error err = {0};
    struct platform *p = platform_builder_finish(b, &err);
    if (!p)
        printf("# %s\n", err.text);
    return p;
}

/* When `object` can be on `node`, from the placements so far; `from` is where it comes from. */
static double random_arrival(const struct workflow *w, const struct platform *p,
                             const struct plan *plan, uint32_t object, uint32_t node,
                             uint32_t *from)
{
    double best = INFINITY;
    *from = NONE;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        if (x->task != w->producer[object])
            continue;
        double at = x->finish + platform_transfer(p, x->node, node, w->size[object]);
        if (at < best) {
            best = at;
            *from = x->node;
        }
    }
    return best;
}

static void random_place(const struct workflow *w, const struct platform *p,
                         const struct costs *costs, struct plan *plan, double *core_free,
                         uint32_t task, uint32_t copy, uint32_t node, struct rng *r, bool transfers)
{
    uint32_t most = p->cores[node] - w->cores[task];
    uint32_t core = (uint32_t)rng_below(r, most + 1);
    double start = 0;
    for (uint32_t c = core; c < core + w->cores[task]; c++)
        start = fmax(start, core_free[node * 64 + c]);
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from;
        double at = INFINITY;
        if (w->pred_object[e] == NONE) {
            for (size_t i = 0; i < plan->placements.n; i++)
                if (plan->placements.at[i].task == w->pred_task[e])
                    at = fmin(at, plan->placements.at[i].finish);
        } else {
            at = random_arrival(w, p, plan, w->pred_object[e], node, &from);
            bool stated = from == node;
            for (size_t i = 0; i < plan->transfers.n; i++) {
                const struct transfer *t = &plan->transfers.at[i];
                if (t->object == w->pred_object[e] && t->to == node) {
                    stated = true;
                    at = fmin(at, t->finish);
                }
            }
            if (!stated && transfers)
                array_push(&plan->transfers,
                           (struct transfer){
                               w->pred_object[e], from, node,
                               at - platform_transfer(p, from, node, w->size[w->pred_object[e]]),
                               at});
        }
        start = fmax(start, at);
    }
    double finish = start + costs_time(costs, task, node);
    for (uint32_t c = core; c < core + w->cores[task]; c++)
        core_free[node * 64 + c] = finish;
    array_push(&plan->placements, (struct placement){task, copy, node, core, start, finish});
}

/* Every task in topological order on a random node and core, as early as that allows. O(tasks^2):
 * for small graphs. `transfers`: state them in the plan (with copies they decide which copy feeds
 * whom). At most 64 cores a node. */
__attribute__((unused)) static struct plan *random_plan(const struct workflow *w,
                                                        const struct platform *p, struct rng *r,
                                                        double copies, bool transfers)
{
    struct error err = {0};
    struct costs *costs = costs_new(w, p, &err);
    if (!costs) {
        printf("# %s\n", err.text);
        return NULL;
    }
    double *core_free = calloc((size_t)p->nnodes * 64, sizeof *core_free);
    struct plan *plan = plan_new(PLAN_STATIC);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t task = w->topo[i], node = (uint32_t)rng_below(r, p->nnodes);
        random_place(w, p, costs, plan, core_free, task, 0, node, r, transfers);
        if (p->nnodes > 1 && rng_unit(r) < copies) {
            uint32_t other = (node + 1 + (uint32_t)rng_below(r, p->nnodes - 1)) % p->nnodes;
            random_place(w, p, costs, plan, core_free, task, 1, other, r, transfers);
        }
    }
    free(core_free);
    costs_free(costs);
    plan_sort(plan);
    plan_set_objective(plan, "makespan", plan_makespan(plan));
    return plan;
}
