/* BIL, best imaginary level: Oh and Ha, Euro-Par 1996.
 *
 * The imaginary level of a task on a node is how long the rest of the graph takes at best after
 * that choice, as if all nodes were idle; the best imaginary makespan (BIM) adds when the task
 * could start there. With k ready tasks, the task whose k-th smallest BIM is greatest is served
 * first: it would lose most if the k - 1 others took the better nodes. It goes to the node of its
 * least revised BIM.
 *
 * O(tasks x nodes) memory for the levels; every step asks every ready task on every node, so
 * O(tasks x width x nodes log nodes) time: not for wide graphs. Without insertion. Ties: lowest
 * task, lowest node. */
#include "plan/list/list.h"
#include <string.h>

/* level[task][node] = time + the worst child's best: on the same node, or on any other after a
 * transfer. */
static double *imaginary_levels(const struct costs *c)
{
    const struct workflow *w = c->workflow;
    uint32_t nnodes = c->platform->nnodes;
    double latency, seconds_per_byte;
    rank_network(c->platform, &latency, &seconds_per_byte);
    double *levels = mem_new(double, (size_t)w->ntasks *nnodes);
    for (uint32_t i = w->ntasks; i-- > 0;) {
        uint32_t task = w->topo[i];
        double *row = levels + (size_t)task * nnodes;
        memset(row, 0, nnodes * sizeof *row);
        for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
            const double *below = levels + (size_t)w->succ_task[e] * nnodes;
            uint32_t object = w->succ_object[e];
            double talk = object == NONE ? 0 : latency + w->size[object] * seconds_per_byte;
            double least = INFINITY;
            for (uint32_t n = 0; n < nnodes; n++)
                least = fmin(least, below[n]);
            for (uint32_t n = 0; n < nnodes; n++)
                row[n] = fmax(row[n], fmin(below[n], least + talk));
        }
        for (uint32_t n = 0; n < nnodes; n++)
            row[n] += costs_time(c, task, n);
    }
    return levels;
}

static int bil_compare_makespans(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The run; the arrays below have one entry a node and are scratch. */
struct bil {
    struct list_run l;
    double *levels, *makespans; /* of the task in hand: best imaginary makespan per node */
    double *sorted;
    ARRAY(uint32_t) ready;
};

/* Best imaginary makespans of the task; returns the k-th smallest, k the number of ready tasks (the
 * largest finite one when there are fewer). */
static double task_priority(struct bil *b, uint32_t task)
{
    uint32_t nnodes = b->l.p->nnodes, finite = 0;
    double largest = -1;
    const double *level = b->levels + (size_t)task * nnodes;
    for (uint32_t n = 0; n < nnodes; n++) {
        struct schedule_slot slot = schedule_append(b->l.s, task, n);
        b->makespans[n] = slot.start + level[n];
        if (b->makespans[n] < INFINITY) {
            b->sorted[finite++] = b->makespans[n];
            largest = fmax(largest, b->makespans[n]);
        }
    }
    if (!finite)
        return INFINITY; /* nobody can take it: let it fail at once */
    if (b->ready.n >= finite)
        return largest;
    qsort(b->sorted, finite, sizeof *b->sorted, bil_compare_makespans);
    return b->sorted[b->ready.n - 1];
}

/* The node of the least revised makespan: with more ready tasks than nodes, the time on the node
 * counts that much more. */
static struct schedule_slot choose_node(struct bil *b, uint32_t task)
{
    task_priority(b, task);
    double crowd = fmax((double)b->ready.n / b->l.p->nnodes - 1, 0), best_value = INFINITY;
    uint32_t best = NONE;
    for (uint32_t n = 0; n < b->l.p->nnodes; n++) {
        double value = b->makespans[n] + costs_time(b->l.costs, task, n) * crowd;
        if (value < best_value) {
            best_value = value;
            best = n;
        }
    }
    if (best == NONE)
        return (struct schedule_slot){.finish = INFINITY};
    return schedule_append(b->l.s, task, best);
}

/* Select a task, select a node, place it, until no task is ready. */
static bool bil_place_all(struct bil *b, struct error *err)
{
    struct ready ready;
    ready_init(&ready, b->l.w);
    bool good = true;
    while (good) {
        for (size_t i = 0; i < ready.fresh.n; i++)
            array_push(&b->ready, ready.fresh.at[i]);
        ready.fresh.n = 0;
        if (!b->ready.n)
            break;
        /* the task of the greatest k-th BIM; ties: the lowest */
        size_t best = 0;
        double best_priority = -1;
        for (size_t i = 0; i < b->ready.n; i++) {
            double priority = task_priority(b, b->ready.at[i]);
            if (priority > best_priority ||
                (priority == best_priority && b->ready.at[i] < b->ready.at[best])) {
                best = i;
                best_priority = priority;
            }
        }
        uint32_t task = b->ready.at[best];
        good = list_place(&b->l, task, choose_node(b, task), err);
        b->ready.at[best] = array_last(&b->ready);
        b->ready.n--;
        ready_done(&ready, task);
    }
    ready_free(&ready);
    return good;
}

static struct plan *run_bil(const struct plan_request *request, struct error *err)
{
    struct bil b = {0};
    if (!list_begin(&b.l, request, err))
        return NULL;
    b.levels = imaginary_levels(b.l.costs);
    b.makespans = mem_new(double, b.l.p->nnodes);
    b.sorted = mem_new(double, b.l.p->nnodes);
    bool done = bil_place_all(&b, err);
    free(b.levels);
    free(b.makespans);
    free(b.sorted);
    array_free(&b.ready);
    return list_end(&b.l, done);
}

const struct planner planner_bil = {
    .name = "bil",
    .family = "list",
    .summary = "best imaginary level: the task whose k-th best imaginary makespan is longest, to "
               "its best node, without insertion",
    .paper = "H. Oh, S. Ha: A static scheduling heuristic for heterogeneous processors. Euro-Par "
             "1996",
    .guarantee = "optimal for linear graphs (chains) on a uniform network",
    .tie_rule = "equal priorities: lowest task; equal values: lowest node",
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_bil,
};
