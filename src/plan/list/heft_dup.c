/* HEFT with task duplication, HEFD (Tang, Li, Liao, Li 2010): a task may bring
 * copies of late predecessors onto its node, as long as each makes it end sooner.
 *
 * Only the critical parent (whose data arrives last) is worth a copy, and only one whose copy ends
 * before the task could have started. Copies are tried with schedule_try() and taken back, node by
 * node, and the best node's are made again for good. schedule_plan() leaves out copies that serve
 * nobody in the end.
 *
 * O(tasks x nodes x copies x degree). Ties as HEFT; equal ends keep the first node. A task whose
 * successors wait for it without data (order edges) is never copied: one copy's end would not be
 * the task's. */
#include "plan/list/list.h"

struct duplicator {
    struct list_run l;
    bool *may_copy; /* tasks whose successors only need their data */
    ARRAY(uint32_t) copied, best_copied;
};

/* The predecessor whose data reaches the node last; NONE when that is no message or the task may
 * not be copied. */
static uint32_t critical_parent(const struct duplicator *d, uint32_t task, uint32_t node)
{
    const struct workflow *w = d->l.w;
    uint32_t last = NONE;
    double latest = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        double there = schedule_arrival(d->l.s, w->pred_task[e], w->pred_object[e], node);
        if (there > latest) {
            latest = there;
            last = w->pred_task[e];
        }
    }
    if (last == NONE || !d->may_copy[last] || schedule_has_copy(d->l.s, last, node))
        return NONE;
    return last;
}

/* The earliest slot of the task on the node with the help of copies, which are listed in d->copied.
 * Leaves no trace. */
static struct schedule_slot slot_with_copies(struct duplicator *d, uint32_t task, uint32_t node)
{
    struct schedule *s = d->l.s;
    d->copied.n = 0;
    struct schedule_slot slot = schedule_earliest(s, task, node);
    if (!(costs_time(d->l.costs, task, node) < INFINITY) || critical_parent(d, task, node) == NONE)
        return slot;
    schedule_try(s);
    for (;;) {
        uint32_t parent = critical_parent(d, task, node);
        if (parent == NONE)
            break;
        struct schedule_slot copy = schedule_earliest(s, parent, node);
        if (!(copy.finish < slot.start))
            break;
        schedule_duplicate(s, parent, copy);
        struct schedule_slot sooner = schedule_earliest(s, task, node);
        if (!(sooner.finish < slot.finish))
            break;
        slot = sooner;
        array_push(&d->copied, parent);
    }
    schedule_undo(s);
    return slot;
}

/* Try all nodes, keep the best, and make its copies for good: the same questions on the same state
 * give the same slots. */
static bool place_with_copies(struct duplicator *d, uint32_t task, struct error *err)
{
    struct schedule_slot best = {.finish = INFINITY};
    d->best_copied.n = 0;
    for (uint32_t n = 0; n < d->l.p->nnodes; n++) {
        struct schedule_slot slot = slot_with_copies(d, task, n);
        if (!(slot.finish < best.finish))
            continue;
        best = slot;
        d->best_copied.n = 0;
        for (size_t i = 0; i < d->copied.n; i++)
            array_push(&d->best_copied, d->copied.at[i]);
    }
    for (size_t i = 0; i < d->best_copied.n; i++) {
        uint32_t parent = d->best_copied.at[i];
        schedule_duplicate(d->l.s, parent, schedule_earliest(d->l.s, parent, best.node));
    }
    return list_place(&d->l, task, best, err);
}

static struct plan *run_heft_dup(const struct plan_request *request, struct error *err)
{
    struct duplicator d = {0};
    if (!list_begin(&d.l, request, err))
        return NULL;
    const struct workflow *w = d.l.w;
    d.may_copy = mem_new(bool, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        d.may_copy[t] = true;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            d.may_copy[t] &= w->succ_object[e] != NONE;
    }
    double *times = rank_times(d.l.costs), *rank = rank_upward(d.l.costs, times);
    uint32_t *order = rank_order(w, rank);
    bool done = true;
    for (uint32_t i = 0; done && i < w->ntasks; i++)
        done = place_with_copies(&d, order[i], err);
    free(times);
    free(rank);
    free(order);
    free(d.may_copy);
    array_free(&d.copied);
    array_free(&d.best_copied);
    return list_end(&d.l, done);
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
    .run = run_heft_dup,
};
