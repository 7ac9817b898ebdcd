/* HEFT: tasks by falling upward rank, each into the slot in which it ends first. */
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
