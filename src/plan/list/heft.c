/* HEFT, heterogeneous earliest finish time: Topcuoglu, Hariri, Wu 2002, section 4.2.
 *
 * Task prioritizing phase: tasks by falling upward rank (mean time plus the heaviest way to a sink,
 * with mean communication), which is a topological order. Processor selection phase: each into the
 * idle slot, between other tasks or behind them, in which it ends first.
 *
 * O(edges + tasks x nodes x log tasks) on a uniform network. Ties: equal ranks in topological
 * order, equal ends on the lowest node and core. No bound on the makespan is known; list.h does the
 * rest. */
#include "plan/list/list.h"

static struct plan *run_heft(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = rank_times(l.costs), *rank = rank_upward(l.costs, times);
    uint32_t *order = rank_order(l.w, rank);
    bool done = list_place_in_order(&l, order, err);
    free(times);
    free(rank);
    free(order);
    return list_end(&l, done);
}

const struct planner planner_heft = {
    .name = "heft",
    .family = "list",
    .summary = "heterogeneous earliest finish time: upward rank, then the slot that ends first",
    .paper = "H. Topcuoglu, S. Hariri, M.-Y. Wu: Performance-effective and low-complexity task "
             "scheduling for heterogeneous computing. IEEE TPDS 13(3), 2002",
    .tie_rule = "equal ranks: first in topological order; equal ends: lowest node, lowest core",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_ANY,
    .run = run_heft,
};
