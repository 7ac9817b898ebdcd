/* HEFT with task duplication, HEFD (Tang, Li, Liao, Li 2010): a task may bring
 * copies of late predecessors onto its node, as long as each makes it end sooner (duplicate.h).
 *
 * O(tasks x nodes x copies x degree). Ties as HEFT; equal ends keep the first node. */
#include "plan/list/duplicate.h"

static struct plan *run_heft_dup(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    struct duplicator *d = duplicator_new(&l);
    double *times = rank_times(l.costs), *rank = rank_upward(l.costs, times);
    uint32_t *order = rank_order(l.w, rank);
    bool done = true;
    for (uint32_t i = 0; done && i < l.w->ntasks; i++)
        done = list_place(&l, order[i], duplicator_place(d, order[i], NONE), err);
    free(times);
    free(rank);
    free(order);
    duplicator_free(d);
    return list_end(&l, done);
}

const struct planner planner_heft_dup = {
    .name = "heft-dup",
    .family = "list",
    .summary = "HEFT with task duplication: late predecessors are run again on the task's node "
               "while each copy makes the task end sooner; copies that serve nobody are removed",
    .paper = "X. Tang, K. Li, G. Liao, R. Li: List scheduling with duplication for heterogeneous "
             "computing systems (HEFD). J. Parallel and Distributed Computing 70(4), 2010",
    .guarantee = "no useless copy; a task followed by an ordering edge is never copied",
    .tie_rule = "equal ranks: first in topological order; equal ends: lowest node; parents that "
                "arrive together: lowest index",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_heft_dup,
};
