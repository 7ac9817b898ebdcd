/* The yardsticks: everything on one node (the serial time of speedup), round robin (balance without
 * any knowledge), and chance.
 *
 * All are O(edges + tasks x nodes x log tasks) or less. `random` draws only from the request's
 * seed. */
#include "base/rng.h"
#include "plan/list/list.h"

/* The node that would take the least time for all; if none can run all tasks, the one that can run
 * most. */
static uint32_t fastest_node(const struct list_run *l)
{
    uint32_t best = 0, best_missing = UINT32_MAX;
    double best_time = INFINITY;
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        double time = 0;
        uint32_t missing = 0;
        for (uint32_t t = 0; t < l->w->ntasks; t++) {
            double here = costs_time(l->costs, t, n);
            if (here < INFINITY)
                time += here;
            else
                missing++;
        }
        time /= l->p->cores[n];
        if (missing < best_missing || (missing == best_missing && time < best_time)) {
            best = n;
            best_missing = missing;
            best_time = time;
        }
    }
    return best;
}

static struct plan *run_fastest(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = rank_times(l.costs), *rank = rank_upward(l.costs, times);
    uint32_t *order = rank_order(l.w, rank), node = fastest_node(&l);
    bool done = true;
    for (uint32_t i = 0; done && i < l.w->ntasks; i++) {
        struct schedule_slot slot = schedule_earliest(l.s, order[i], node);
        if (!(slot.finish < INFINITY))
            slot = schedule_best(l.s, order[i]);
        done = list_place(&l, order[i], slot, err);
    }
    free(times);
    free(rank);
    free(order);
    return list_end(&l, done);
}

static struct plan *run_roundrobin(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    bool done = true;
    uint32_t next = 0;
    for (uint32_t i = 0; done && i < l.w->ntasks; i++) {
        struct schedule_slot slot = {.finish = INFINITY};
        for (uint32_t tries = 0; tries < l.p->nnodes && !(slot.finish < INFINITY); tries++) {
            slot = schedule_earliest(l.s, l.w->topo[i], next);
            next = next + 1 < l.p->nnodes ? next + 1 : 0;
        }
        done = list_place(&l, l.w->topo[i], slot, err);
    }
    return list_end(&l, done);
}

/* A random node of those that can run the task now. */
static struct schedule_slot random_slot(struct list_run *l, uint32_t task, struct rng *rng,
                                        uint32_t *nodes)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < l->p->nnodes; n++)
        if (costs_time(l->costs, task, n) < INFINITY)
            nodes[count++] = n;
    while (count) {
        uint32_t i = (uint32_t)rng_below(rng, count);
        struct schedule_slot slot = schedule_earliest(l->s, task, nodes[i]);
        if (slot.finish < INFINITY)
            return slot;
        nodes[i] = nodes[--count];
    }
    return (struct schedule_slot){.finish = INFINITY};
}

static struct plan *run_random_placement(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    struct rng rng;
    struct ready ready;
    rng_seed(&rng, request->seed);
    ready_init(&ready, l.w);
    uint32_t *nodes = mem_new(uint32_t, l.p->nnodes);
    bool done = true;
    while (done && ready.fresh.n) {
        size_t i = rng_below(&rng, ready.fresh.n);
        uint32_t task = ready.fresh.at[i];
        ready.fresh.at[i] = array_last(&ready.fresh);
        ready.fresh.n--;
        done = list_place(&l, task, random_slot(&l, task, &rng, nodes), err);
        ready_done(&ready, task);
    }
    free(nodes);
    ready_free(&ready);
    return list_end(&l, done);
}

const struct planner planner_fastest = {
    .name = "fastest",
    .family = "list",
    .summary = "all tasks on the one node that gets through them first; tasks that it cannot run "
               "go where they end first",
    .paper = "the serial yardstick of speedup",
    .guarantee = "no transfers when the node can run every task",
    .tie_rule = "tasks by falling upward rank, ties in topological order; equal nodes: lowest",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_ANY,
    .run = run_fastest,
};

const struct planner planner_roundrobin = {
    .name = "roundrobin",
    .family = "list",
    .summary =
        "tasks in topological order to the nodes in turn, skipping nodes that cannot run them",
    .paper = "a yardstick: balance without any knowledge",
    .tie_rule = "none needed",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_roundrobin,
};

const struct planner planner_random = {
    .name = "random",
    .family = "list",
    .summary = "a random ready task to a random node that can run it, from --seed",
    .paper = "a yardstick: what chance achieves",
    .tie_rule = "the seed decides",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_random_placement,
};
