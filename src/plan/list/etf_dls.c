/* ETF, earliest task first: Hwang, Chow, Anger, Lee 1989. DLS, dynamic level scheduling: Sih and
 * Lee 1993.
 *
 * Both look at all pairs of a ready task and a node at every step, without insertion. ETF takes the
 * pair that can start first (ties: greatest static level). DLS takes the pair of greatest dynamic
 * level: static level less start, plus how much faster than the task's median the node is.
 *
 * pick.h keeps the answers of earlier steps, so that a step costs a few evaluations of O(nodes +
 * degree) instead of one for every ready task. ETF's key only rises, because nodes only get busier;
 * DLS's as well. */
#include "plan/list/pick.h"

struct levels {
    const double *level, *times;
};

/* No ready task can start before the first core that is up is free. */
static double etf_floor(const struct list_run *l)
{
    double floor = INFINITY;
    for (uint32_t n = 0; n < l->p->nnodes; n++)
        if (l->p->up[n])
            floor = fmin(floor, schedule_available(l->s, n));
    return floor;
}

static struct choice evaluate_etf(struct list_run *l, uint32_t task, const void *context)
{
    const struct levels *levels = context;
    struct schedule_slot best = {.start = INFINITY, .finish = INFINITY};
    /* A task that any node can take starts when the first one is free, once its data is everywhere.
     */
    bool anywhere = !(l->costs->restricted && l->costs->restricted[task]) &&
                    l->w->cores[task] == 1 && l->w->memory[task] == 0 &&
                    !platform_limits_ports(l->p);
    double settled = anywhere ? 0 : INFINITY;
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        struct schedule_slot slot = schedule_append(l->s, task, n);
        if (anywhere)
            settled = fmax(settled, schedule_ready(l->s, task, n));
        if (slot.start < best.start || (slot.start == best.start && slot.finish < best.finish))
            best = slot;
    }
    return (struct choice){best, best.start, -levels->level[task], NONE, settled};
}

/* The key is the dynamic level negated: least first. */
static struct choice evaluate_dls(struct list_run *l, uint32_t task, const void *context)
{
    const struct levels *levels = context;
    struct choice best = {.slot.finish = INFINITY, .key = INFINITY, .next_node = NONE};
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        struct schedule_slot slot = schedule_append(l->s, task, n);
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

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sih and Lee weigh tasks by the median of their times. */
static double *median_times(const struct costs *c)
{
    uint32_t nnodes = c->platform->nnodes;
    double *median = mem_new(double, c->workflow->ntasks), *times = mem_new(double, nnodes);
    for (uint32_t t = 0; t < c->workflow->ntasks; t++) {
        uint32_t count = 0;
        for (uint32_t n = 0; n < nnodes; n++)
            if ((times[count] = costs_time(c, t, n)) < INFINITY)
                count++;
        qsort(times, count, sizeof *times, compare_times);
        median[t] = (times[(count - 1) / 2] + times[count / 2]) / 2;
    }
    free(times);
    return median;
}

static struct plan *dynamic_run(const struct plan_request *request, bool medians,
                                struct picker picker, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = medians ? median_times(l.costs) : rank_times(l.costs);
    double *level = rank_static(l.costs, times);
    struct levels levels = {level, times};
    picker.context = &levels;
    bool done = pick_all(&l, &picker, err);
    free(times);
    free(level);
    return list_end(&l, done);
}

static struct plan *run_etf(const struct plan_request *request, struct error *err)
{
    return dynamic_run(request, false, (struct picker){evaluate_etf, NULL, true, etf_floor}, err);
}

static struct plan *run_dls(const struct plan_request *request, struct error *err)
{
    return dynamic_run(request, true, (struct picker){evaluate_dls, NULL, true, NULL}, err);
}

const struct planner planner_etf = {
    .name = "etf",
    .family = "list",
    .summary =
        "earliest task first: the ready task and node that can start first, without insertion",
    .paper = "J.-J. Hwang, Y.-C. Chow, F. D. Anger, C.-Y. Lee: Scheduling precedence graphs in "
             "systems with interprocessor communication times. SIAM J. Computing 18(2), 1989",
    .guarantee = "on equal one-core nodes without port limit: at most (2 - 1/n) times the optimum "
                 "without communication plus the communication of one chain",
    .tie_rule = "equal starts: higher static level, then lowest task; of a task's nodes: the one "
                "that ends first, then the lowest",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_etf,
};

const struct planner planner_dls = {
    .name = "dls",
    .family = "list",
    .summary = "dynamic level scheduling: greatest static level less start plus how much faster "
               "than the median the node is, without insertion",
    .paper = "G. C. Sih, E. A. Lee: A compile-time scheduling heuristic for "
             "interconnection-constrained heterogeneous processor architectures. IEEE TPDS 4(2), "
             "1993",
    .tie_rule = "equal dynamic levels: lowest task, lowest node",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_dls,
};
