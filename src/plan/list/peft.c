/* PEFT, predict earliest finish time: Arabnejad and Barbosa, IEEE TPDS 25(3), 2014.
 *
 * The optimistic cost table OCT(task, node) is the longest of the shortest ways from the task's end
 * to an exit, if every later task could have the node it likes best, nodes being idle. The priority
 * is a task's mean over its row; the node is the one of the least optimistic end, O_EFT = EFT +
 * OCT.
 *
 * O(edges x nodes) for the table (not nodes^2, see peft_table()), tasks x nodes x 8 bytes of
 * memory; then as HEFT. Ties: first to become ready; lowest node. */
#include "plan/list/peft.h"

/* The OCT, from the exits up. */
double *peft_table(const struct costs *c)
{
    const struct workflow *w = c->workflow;
    uint32_t nnodes = c->platform->nnodes;
    double latency, seconds_per_byte;
    rank_network(c->platform, &latency, &seconds_per_byte);
    double *table = mem_new(double, (size_t)w->ntasks *nnodes);
    for (uint32_t i = w->ntasks; i-- > 0;) {
        uint32_t task = w->topo[i];
        double *row = table + (size_t)task * nnodes;
        for (uint32_t n = 0; n < nnodes; n++)
            row[n] = 0;
        for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
            uint32_t child = w->succ_task[e], object = w->succ_object[e];
            const double *below = table + (size_t)child * nnodes;
            double talk = object == NONE ? 0 : latency + w->size[object] * seconds_per_byte;
            /* min over nodes of (OCT + time + talk unless it is this node): staying is never dearer
             * for that node itself, so the least over all nodes plus talk, or staying, is the
             * minimum. */
            double least = INFINITY;
            for (uint32_t n = 0; n < nnodes; n++)
                least = fmin(least, below[n] + costs_time(c, child, n));
            for (uint32_t n = 0; n < nnodes; n++) {
                double stay = below[n] + costs_time(c, child, n);
                row[n] = fmax(row[n], fmin(stay, least + talk));
            }
        }
    }
    return table;
}

/* The least O_EFT. */
static struct schedule_slot peft_slot(struct list_run *l, uint32_t task, const double *row)
{
    struct schedule_slot best = {.finish = INFINITY};
    double best_value = INFINITY;
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        struct schedule_slot slot = schedule_earliest(l->s, task, n);
        if (slot.finish + row[n] < best_value) {
            best_value = slot.finish + row[n];
            best = slot;
        }
    }
    return best;
}

/* By mean OCT tasks do not come in topological order: a heap of ready tasks. */
static bool peft_place_all(struct list_run *l, const double *table, const double *rank,
                           struct error *err)
{
    struct ready ready;
    struct heap heap = {0};
    ready_init(&ready, l->w);
    ready_push(&ready, &heap, rank, -1);
    bool good = true;
    while (good && heap.n) {
        uint32_t task = (uint32_t)heap_pop(&heap).value;
        good = list_place(l, task, peft_slot(l, task, table + (size_t)task * l->p->nnodes), err);
        ready_done(&ready, task);
        ready_push(&ready, &heap, rank, -1);
    }
    heap_free(&heap);
    ready_free(&ready);
    return good;
}

static struct plan *run_peft(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *table = peft_table(l.costs), *rank = mem_new_zero(double, l.w->ntasks);
    for (uint32_t t = 0; t < l.w->ntasks; t++)
        for (uint32_t n = 0; n < l.p->nnodes; n++)
            rank[t] += table[(size_t)t * l.p->nnodes + n] / l.p->nnodes;
    bool done = peft_place_all(&l, table, rank, err);
    free(table);
    free(rank);
    return list_end(&l, done);
}

const struct planner planner_peft = {
    .name = "peft",
    .family = "list",
    .summary = "predict earliest finish time: HEFT that looks ahead through an optimistic cost "
               "table (tasks x nodes x 8 bytes of memory)",
    .paper = "H. Arabnejad, J. G. Barbosa: List scheduling algorithm for heterogeneous systems by "
             "an optimistic cost table. IEEE TPDS 25(3), 2014",
    .tie_rule = "equal ranks: the task that became ready first; equal values: lowest node",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_peft,
};
