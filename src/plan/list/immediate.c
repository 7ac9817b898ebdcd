/* OLB, MET, MCT (Armstrong, Hensgen, Kidd 1998): every task in topological order goes at once to a
 * node chosen by one look, as an on-line scheduler would do it.
 *
 * Opportunistic load balancing: the node that is free first, without asking how fast it is. Minimum
 * execution time: the node that runs it fastest, without asking how busy it is. Minimum completion
 * time: both. O(edges + tasks x nodes x log tasks). Ties: lowest node. */
#include "plan/list/list.h"

typedef struct schedule_slot (*choose_f)(struct list_run *l, uint32_t task);

/* The node that is free first, whatever it costs there. */
static struct schedule_slot choose_olb(struct list_run *l, uint32_t task)
{
    struct schedule_slot best = {.finish = INFINITY};
    double best_free = INFINITY;
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        double idle = schedule_available(l->s, n);
        if (idle >= best_free || !(costs_time(l->costs, task, n) < INFINITY))
            continue;
        struct schedule_slot slot = schedule_append(l->s, task, n);
        if (slot.finish < INFINITY) {
            best = slot;
            best_free = idle;
        }
    }
    return best;
}

/* The node that runs it fastest, however long the queue there. */
static struct schedule_slot choose_met(struct list_run *l, uint32_t task)
{
    struct schedule_slot best = {.finish = INFINITY};
    double best_time = INFINITY;
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        double time = costs_time(l->costs, task, n);
        if (time > best_time || !(time < INFINITY))
            continue;
        struct schedule_slot slot = schedule_earliest(l->s, task, n);
        if (time < best_time ? slot.finish < INFINITY : slot.finish < best.finish) {
            best = slot;
            best_time = time;
        }
    }
    return best;
}

static struct schedule_slot choose_mct(struct list_run *l, uint32_t task)
{
    return schedule_best(l->s, task);
}

static struct plan *immediate_run(const struct plan_request *request, choose_f choose,
                                  struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    bool done = true;
    for (uint32_t i = 0; done && i < l.w->ntasks; i++)
        done = list_place(&l, l.w->topo[i], choose(&l, l.w->topo[i]), err);
    return list_end(&l, done);
}

static struct plan *run_olb(const struct plan_request *request, struct error *err)
{
    return immediate_run(request, choose_olb, err);
}

static struct plan *run_met(const struct plan_request *request, struct error *err)
{
    return immediate_run(request, choose_met, err);
}

static struct plan *run_mct(const struct plan_request *request, struct error *err)
{
    return immediate_run(request, choose_mct, err);
}

#define ARMSTRONG                                                                                  \
    "R. Armstrong, D. Hensgen, T. Kidd: The relative performance of various mapping algorithms "   \
    "is independent of sizable variances in run-time predictions. HCW 1998"

const struct planner planner_olb = {
    .name = "olb",
    .family = "list",
    .summary = "opportunistic load balancing: the next task to the node that is free first",
    .paper = ARMSTRONG,
    .tie_rule = "tasks in topological order; nodes free at the same time: lowest",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_olb,
};

const struct planner planner_met = {
    .name = "met",
    .family = "list",
    .summary = "minimum execution time: the next task to the node that runs it fastest",
    .paper = ARMSTRONG,
    .tie_rule =
        "tasks in topological order; equal times: the node where it ends first, then lowest",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_met,
};

const struct planner planner_mct = {
    .name = "mct",
    .family = "list",
    .summary = "minimum completion time: the next task to the node where it ends first",
    .paper = ARMSTRONG,
    .tie_rule = "tasks in topological order; equal ends: lowest node",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_mct,
};
