/* HEFT with one-level look-ahead: Bittencourt, Sakellariou, Madeira, PDP 2010, the variant without
 * changes of priority.
 *
 * A task is tried on every node; its children are then placed as HEFT would place them (their other
 * parents, where not placed, are ignored), and the node wins for which the last child ends first.
 * schedule_try() and schedule_undo() leave no trace.
 *
 * O(nodes) times the cost of HEFT and its degree: edges x nodes^2 estimates. A trial stops as soon
 * as one child ends later than the best so far. Ties: lowest node. */
#include "plan/list/list.h"

/* The children of a task, once each, by falling rank. */
static void collect_children(const struct list_run *l, uint32_t task, const uint32_t *position,
                             uint32_t *children, uint32_t *count)
{
    *count = 0;
    for (uint32_t e = l->w->succ_off[task]; e < l->w->succ_off[task + 1]; e++) {
        uint32_t child = l->w->succ_task[e], i = *count;
        while (i > 0 && position[children[i - 1]] > position[child])
            i--;
        if (i > 0 && children[i - 1] == child)
            continue;
        for (uint32_t k = *count; k > i; k--)
            children[k] = children[k - 1];
        children[i] = child;
        ++*count;
    }
}

/* The slot on the node from which the children end first; without children as HEFT. */
static struct schedule_slot lookahead_slot(struct list_run *l, uint32_t task,
                                           const uint32_t *children, uint32_t count)
{
    if (!count)
        return schedule_best(l->s, task);
    struct schedule_slot best = {.finish = INFINITY};
    double best_value = INFINITY;
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        struct schedule_slot slot = schedule_earliest(l->s, task, n);
        if (!(slot.finish < INFINITY))
            continue;
        /* place it, place its children, see when the last ends, forget it all */
        schedule_try(l->s);
        schedule_place(l->s, task, slot);
        double value = 0;
        for (uint32_t i = 0; i < count && value < best_value; i++) {
            struct schedule_slot child = schedule_best(l->s, children[i]);
            value = fmax(value, child.finish);
            if (child.finish < INFINITY)
                schedule_place(l->s, children[i], child);
        }
        schedule_undo(l->s);
        if (value < best_value || !(best.finish < INFINITY)) {
            best_value = value;
            best = slot;
        }
    }
    return best;
}

static struct plan *run_lookahead(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = rank_times(l.costs), *rank = rank_upward(l.costs, times);
    uint32_t *order = rank_order(l.w, rank), ntasks = l.w->ntasks, count;
    uint32_t *position = mem_new(uint32_t, ntasks), *children = mem_new(uint32_t, ntasks + 1u);
    for (uint32_t i = 0; i < ntasks; i++)
        position[order[i]] = i;
    bool done = true;
    for (uint32_t i = 0; done && i < ntasks; i++) {
        collect_children(&l, order[i], position, children, &count);
        done = list_place(&l, order[i], lookahead_slot(&l, order[i], children, count), err);
    }
    free(times);
    free(rank);
    free(order);
    free(position);
    free(children);
    return list_end(&l, done);
}

const struct planner planner_lookahead = {
    .name = "lookahead",
    .family = "list",
    .summary = "HEFT with one-level look-ahead: the node from which the task's children, placed as "
               "HEFT would, end first",
    .paper =
        "L. F. Bittencourt, R. Sakellariou, E. R. M. Madeira: DAG scheduling using a lookahead "
        "variant of the heterogeneous earliest finish time algorithm. PDP 2010",
    .tie_rule =
        "equal ranks: first in topological order; equal ends of the last child: lowest node",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_lookahead,
};
