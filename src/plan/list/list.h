/* What the list planners share: one planning run from request to plan, ranks, orders, and the set
 * of ready tasks. */
#pragma once
#include "base/heap.h"
#include "plan/list/schedule.h"
#include "plan/planner.h"

/* One run. Everything in it is freed by list_end(). */
struct list_run {
    const struct workflow *w;
    const struct platform *p;
    struct costs *costs;
    struct schedule *s;
};

bool list_begin(struct list_run *l, const struct plan_request *request, struct error *err);
/* The plan, or NULL when `done` is false; frees the run in any case. */
struct plan *list_end(struct list_run *l, bool done);
/* Place it; false with an error that names the task when the slot is none (finish INFINITY). */
bool list_place(struct list_run *l, uint32_t task, struct schedule_slot slot, struct error *err);
/* Place all tasks in this order, each where it ends first. */
bool list_place_in_order(struct list_run *l, const uint32_t *order, struct error *err);

/* ---- weights and ranks; every array has ntasks entries and belongs to the caller ---- */

/* Mean time of every task over the nodes that can run it. */
double *rank_times(const struct costs *c);
/* Mean latency and seconds a byte over the pairs of nodes that can talk. */
void rank_network(const struct platform *p, double *latency, double *seconds_per_byte);
/* HEFT's upward rank: mean time + the heaviest way to a sink with mean communication. */
double *rank_upward(const struct costs *c, const double *times);
/* HEFT's downward rank: the heaviest way from a source, without the task itself. */
double *rank_downward(const struct costs *c, const double *times);
/* Static level: as the upward rank, communication free. */
double *rank_static(const struct costs *c, const double *times);
/* All tasks by falling rank; ties: first in topological order. Where ranks do not grow along edges
 * this is a topological order. */
uint32_t *rank_order(const struct workflow *w, const double *rank);
/* The same by rising key. */
uint32_t *rank_order_rising(const struct workflow *w, const double *key);

/* ---- which tasks are ready ---- */

struct ready {
    const struct workflow *w;
    uint32_t *missing; /* per task: edges from tasks that are not placed */
    ARRAY(uint32_t)
    fresh; /* became ready since the caller last emptied it; at first: the sources */
};

void ready_init(struct ready *r, const struct workflow *w);
void ready_free(struct ready *r);
/* The task is placed: adds what became ready to r->fresh, in order of its edges. */
void ready_done(struct ready *r, uint32_t task);
/* Move the fresh tasks into a heap under `key` (smallest first; ties: first to become ready). */
void ready_push(struct ready *r, struct heap *heap, const double *key, double sign);
