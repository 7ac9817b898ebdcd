/* CPOP, critical path on a processor: Topcuoglu, Hariri, Wu 2002, section 4.3.
 *
 * A task's priority is its upward plus its downward rank: the length of the longest path through
 * it. The tasks of one critical path all go to the critical-path processor, the one that runs the
 * path fastest; every other task goes where it ends first. Tasks are taken as they become ready,
 * greatest priority first.
 *
 * O(edges + tasks x nodes x log tasks). Ties: first to become ready; lowest node. Where the
 * critical-path processor cannot take a task of the path (restricted tasks, memory), it goes where
 * it ends first, a case that the paper does not have. */
#include "plan/list/list.h"

/* Mark a critical path: from the first source of greatest priority, always on to the first
 * successor whose priority is the same (within rounding). */
static void mark_critical_path(const struct workflow *w, const double *priority, bool *critical)
{
    uint32_t at = NONE;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (w->pred_off[t] == w->pred_off[t + 1] && (at == NONE || priority[t] > priority[at]))
            at = t;
    while (at != NONE) {
        critical[at] = true;
        uint32_t next = NONE;
        for (uint32_t e = w->succ_off[at]; e < w->succ_off[at + 1]; e++)
            if (next == NONE || priority[w->succ_task[e]] > priority[next])
                next = w->succ_task[e];
        at = next;
    }
}

/* The node on which the path takes the least time; where no node can run all of it, the one that
 * can run most. */
static uint32_t path_node(const struct list_run *l, const bool *critical)
{
    uint32_t best = 0, best_missing = UINT32_MAX;
    double best_time = INFINITY;
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        double time = 0;
        uint32_t missing = 0;
        for (uint32_t t = 0; t < l->w->ntasks; t++) {
            if (!critical[t])
                continue;
            double here = costs_time(l->costs, t, n);
            if (here < INFINITY)
                time += here;
            else
                missing++;
        }
        if (missing < best_missing || (missing == best_missing && time < best_time)) {
            best = n;
            best_missing = missing;
            best_time = time;
        }
    }
    return best;
}

/* The processor selection phase: the queue of ready tasks by falling priority. */
static bool cpop_place_all(struct list_run *l, const double *priority, const bool *critical,
                           uint32_t node, struct error *err)
{
    struct ready ready;
    struct heap heap = {0};
    ready_init(&ready, l->w);
    ready_push(&ready, &heap, priority, -1);
    bool good = true;
    while (good && heap.n) {
        uint32_t task = (uint32_t)heap_pop(&heap).value;
        struct schedule_slot slot = {.finish = INFINITY};
        if (critical[task])
            slot = schedule_earliest(l->s, task, node);
        if (!(slot.finish < INFINITY))
            slot = schedule_best(l->s, task);
        good = list_place(l, task, slot, err);
        ready_done(&ready, task);
        ready_push(&ready, &heap, priority, -1);
    }
    heap_free(&heap);
    ready_free(&ready);
    return good;
}

static struct plan *run_cpop(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = rank_times(l.costs);
    double *priority = rank_upward(l.costs, times), *down = rank_downward(l.costs, times);
    for (uint32_t t = 0; t < l.w->ntasks; t++)
        priority[t] += down[t];
    bool *critical = mem_new_zero(bool, l.w->ntasks);
    mark_critical_path(l.w, priority, critical);
    bool done = cpop_place_all(&l, priority, critical, path_node(&l, critical), err);
    free(times);
    free(priority);
    free(down);
    free(critical);
    return list_end(&l, done);
}

const struct planner planner_cpop = {
    .name = "cpop",
    .family = "list",
    .summary = "critical path on a processor: the critical path's tasks share the node that runs "
               "them fastest, the others go where they end first",
    .paper = "H. Topcuoglu, S. Hariri, M.-Y. Wu: Performance-effective and low-complexity task "
             "scheduling for heterogeneous computing. IEEE TPDS 13(3), 2002",
    .tie_rule = "equal priorities: the task that became ready first; critical path: first source, "
                "first edge; equal ends: lowest node, lowest core",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_cpop,
};
