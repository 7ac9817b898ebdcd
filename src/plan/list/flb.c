/* FLB, fast load balancing: Radulescu and van Gemund, ICPP 1999.
 *
 * Chooses the ready task that can start first, as ETF does, but finds it by looking at two
 * candidates only (the paper proves that this is enough on equal processors): the task of type EP,
 * which should run on its enabling processor, the sender of its last message, that can start first
 * there; and the task of type non-EP whose last message is there first, on the processor that is
 * idle first.
 *
 *    ready task -- last message later than its sender is idle --> EP: stay_data, stay_last there
 *        |                                                           |
 *        +-- otherwise --> non-EP: anywhere <-- it gets busy beyond --+
 *
 * O(tasks (log width + nodes) + edges), without insertion. Entries of tasks that were placed or
 * have changed type are dropped when they come up. Ties: the non-EP task, then first in, then
 * lowest node. */
#include "plan/list/list.h"

struct flb {
    struct list_run l;
    struct ready ready;
    double latency, seconds_per_byte;
    bool *placed;
    uint32_t
        *home; /* per ready task: the node its last message comes from; NONE: it may go anywhere */
    double *last;    /* per ready task: when its last message is everywhere */
    double *at_home; /* per ready task: when its data is on that node */
    double *idle;    /* per node: end of the last task on its earliest free core; INFINITY: down */
    struct heap *stay_data,
        *stay_last;       /* per node: the tasks at home there, by at_home and by last */
    struct heap anywhere; /* by last */
};

/* A task became ready: which type is it, and in which queues does it wait? */
static void add_ready(struct flb *f, uint32_t task)
{
    const struct workflow *w = f->l.w;
    double last = 0;
    uint32_t home = NONE;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = w->pred_task[e], object = w->pred_object[e];
        double there = schedule_finish(f->l.s, from);
        if (object != NONE)
            there += f->latency + w->size[object] * f->seconds_per_byte;
        if (there > last || home == NONE) {
            last = there;
            home = object == NONE ? NONE : schedule_node(f->l.s, from);
        }
    }
    f->last[task] = last;
    f->home[task] = NONE;
    if (home != NONE && last > f->idle[home] && costs_time(f->l.costs, task, home) < INFINITY) {
        f->home[task] = home;
        f->at_home[task] = schedule_ready(f->l.s, task, home);
        heap_push(&f->stay_data[home], f->at_home[task], task);
        heap_push(&f->stay_last[home], last, task);
    } else {
        heap_push(&f->anywhere, last, task);
    }
}

/* The node is busy until later now: tasks whose messages are everywhere by then have no reason to
 * stay. */
static void flb_node_busy(struct flb *f, uint32_t node)
{
    f->idle[node] = schedule_available(f->l.s, node);
    const struct heap_item *top;
    while ((top = heap_peek(&f->stay_last[node])) && top->key <= f->idle[node]) {
        uint32_t task = (uint32_t)heap_pop(&f->stay_last[node]).value;
        if (f->placed[task])
            continue;
        f->home[task] = NONE;
        heap_push(&f->anywhere, f->last[task], task);
    }
}

/* The first task that still stays at this node; NONE: none. */
static uint32_t first_at_home(struct flb *f, uint32_t node)
{
    const struct heap_item *top;
    while ((top = heap_peek(&f->stay_data[node]))) {
        uint32_t task = (uint32_t)top->value;
        if (!f->placed[task] && f->home[task] == node)
            return task;
        heap_pop(&f->stay_data[node]);
    }
    return NONE;
}

/* For a task that its candidate's node cannot take: where it starts first. */
static struct schedule_slot start_anywhere(struct flb *f, uint32_t task)
{
    struct schedule_slot best = {.start = INFINITY, .finish = INFINITY};
    for (uint32_t n = 0; n < f->l.p->nnodes; n++) {
        struct schedule_slot slot = schedule_append(f->l.s, task, n);
        if (slot.start < best.start || (slot.start == best.start && slot.finish < best.finish))
            best = slot;
    }
    return best;
}

/* One step; false: nothing ready, or an error. */
static bool flb_place_next(struct flb *f, struct error *err)
{
    uint32_t nnodes = f->l.p->nnodes, home = NONE, staying = NONE, free_node = 0;
    double home_start = INFINITY;
    for (uint32_t n = 0; n < nnodes; n++) {
        if (f->idle[n] < f->idle[free_node])
            free_node = n;
        uint32_t task = first_at_home(f, n);
        if (task == NONE)
            continue;
        double start = fmax(f->at_home[task], f->idle[n]);
        if (home == NONE || start < home_start) {
            home = n;
            home_start = start;
            staying = task;
        }
    }
    const struct heap_item *top = heap_peek(&f->anywhere);
    /* of the two candidates the one that starts first; ties go to the task that may go anywhere */
    uint32_t task = staying, node = home;
    if (top && (staying == NONE || fmax(top->key, f->idle[free_node]) <= home_start)) {
        task = (uint32_t)heap_pop(&f->anywhere).value;
        node = free_node;
    }
    struct schedule_slot slot = schedule_append(f->l.s, task, node);
    if (!(slot.finish < INFINITY))
        slot = start_anywhere(f, task);
    if (!list_place(&f->l, task, slot, err))
        return false;
    f->placed[task] = true;
    /* tasks that waited at this node may be free of it now */
    flb_node_busy(f, slot.node);
    ready_done(&f->ready, task);
    for (size_t i = 0; i < f->ready.fresh.n; i++)
        add_ready(f, f->ready.fresh.at[i]);
    f->ready.fresh.n = 0;
    return true;
}

/* Sources have no messages: they may go anywhere from the start. */
static struct plan *run_flb(const struct plan_request *request, struct error *err)
{
    struct flb f = {0};
    if (!list_begin(&f.l, request, err))
        return NULL;
    uint32_t ntasks = f.l.w->ntasks, nnodes = f.l.p->nnodes;
    rank_network(f.l.p, &f.latency, &f.seconds_per_byte);
    f.placed = mem_new_zero(bool, ntasks);
    f.home = mem_new(uint32_t, ntasks);
    f.last = mem_new(double, ntasks);
    f.at_home = mem_new(double, ntasks);
    f.idle = mem_new(double, nnodes);
    for (uint32_t n = 0; n < nnodes; n++)
        f.idle[n] = f.l.p->up[n] ? 0 : INFINITY;
    f.stay_data = mem_new_zero(struct heap, nnodes);
    f.stay_last = mem_new_zero(struct heap, nnodes);
    ready_init(&f.ready, f.l.w);
    for (size_t i = 0; i < f.ready.fresh.n; i++)
        heap_push(&f.anywhere, f.last[f.ready.fresh.at[i]] = 0, f.ready.fresh.at[i]);
    f.ready.fresh.n = 0;
    bool done = true;
    for (uint32_t i = 0; done && i < ntasks; i++)
        done = flb_place_next(&f, err);
    free(f.placed);
    free(f.home);
    free(f.last);
    free(f.at_home);
    free(f.idle);
    for (uint32_t n = 0; n < nnodes; n++) {
        heap_free(&f.stay_data[n]);
        heap_free(&f.stay_last[n]);
    }
    free(f.stay_data);
    free(f.stay_last);
    heap_free(&f.anywhere);
    ready_free(&f.ready);
    return list_end(&f.l, done);
}

const struct planner planner_flb = {
    .name = "flb",
    .family = "list",
    .summary = "fast load balancing: the ready task that can start first, as ETF chooses it, in n "
               "log n; without insertion",
    .paper = "A. Radulescu, A. J. C. van Gemund: FLB: fast load balancing for distributed-memory "
             "machines. ICPP 1999",
    .tie_rule = "equal starts: a task that may go anywhere, then the task that became ready first; "
                "nodes free at the same time: lowest",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_flb,
};
