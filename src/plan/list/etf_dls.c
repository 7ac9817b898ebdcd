/* ETF and DLS: of all ready tasks and all nodes, the pair that can start first (ETF) or has the greatest dynamic level (DLS). */
#include "plan/list/pick.h"

struct levels {
    const double *level, *times;
};

static struct choice evaluate_etf(struct list *l, uint32_t task, const void *context)
{
    const struct levels *levels = context;
    struct slot best = {.start = INFINITY, .finish = INFINITY};
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        struct slot slot = schedule_append(l->s, task, n);
        if (slot.start < best.start || (slot.start == best.start && slot.finish < best.finish))
            best = slot;
    }
    return (struct choice){best, best.start, -levels->level[task], NONE};
}

static struct choice evaluate_dls(struct list *l, uint32_t task, const void *context)
{
    const struct levels *levels = context;
    struct choice best = {.slot.finish = INFINITY, .key = INFINITY, .next_node = NONE};
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        struct slot slot = schedule_append(l->s, task, n);
        if (!(slot.finish < INFINITY))
            continue;
        double faster = levels->times[task] - costs_time(l->costs, task, n);
        double dynamic = levels->level[task] - slot.start + faster;
        if (-dynamic < best.key) {
            best.key = -dynamic;
            best.slot = slot;
        }
    }
    return best;
}

static struct plan *run(const struct plan_request *request,
                        struct choice (*evaluate)(struct list *, uint32_t, const void *),
                        struct error *err)
{
    struct list l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = rank_times(l.costs), *level = rank_static(l.costs, times);
    struct levels levels = {level, times};
    bool done = pick_all(&l, &(struct picker){evaluate, &levels, true}, err);
    free(times);
    free(level);
    return list_end(&l, done);
}

static struct plan *run_etf(const struct plan_request *request, struct error *err)
{
    return run(request, evaluate_etf, err);
}

static struct plan *run_dls(const struct plan_request *request, struct error *err)
{
    return run(request, evaluate_dls, err);
}

const struct planner planner_etf = {
    .name = "etf",
    .family = "list",
    .summary = "earliest task first: the ready task and node that can start first, without insertion",
    .paper = "J.-J. Hwang, Y.-C. Chow, F. D. Anger, C.-Y. Lee: Scheduling precedence graphs in "
             "systems with interprocessor communication times. SIAM J. Computing 18(2), 1989",
    .guarantee = "on equal one-core nodes without port limit: at most (2 - 1/n) times the optimum "
                 "without communication plus the communication of one chain",
    .tie_rule = "equal starts: higher static level, then lowest task; of a task's nodes: the one "
                "that ends first, then the lowest",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .run = run_etf,
};

const struct planner planner_dls = {
    .name = "dls",
    .family = "list",
    .summary = "dynamic level scheduling: greatest static level less start plus how much faster "
               "than the mean the node is, without insertion",
    .paper = "G. C. Sih, E. A. Lee: A compile-time scheduling heuristic for "
             "interconnection-constrained heterogeneous processor architectures. IEEE TPDS 4(2), "
             "1993",
    .tie_rule = "equal dynamic levels: lowest task, lowest node",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .run = run_dls,
};
