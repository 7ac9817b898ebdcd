/* A schedule under construction: what all list planners place tasks into.
 *
 * Insertion-based: a task goes into the earliest idle slot that is long enough after its data is
 * there. Two network modes, chosen by the platform: without a port limit transfers are
 * contention-free and arrive latency + size / bandwidth after their producer; with `ports: k` every
 * input transfer is placed in the earliest slot in which the pair, a channel of the sender and a
 * channel of the receiver are idle. An object that several tasks of one node need travels once.
 *
 * Predecessors that are not placed yet are ignored by all estimates (look-ahead needs that);
 * planners that place tasks in topological order never see it.
 *
 * Cost of an estimate: O(degree + log of the slots on the node); of one on all nodes: O(degree +
 * nodes x log) on a uniform network, O(degree x nodes) where pairs differ. */
#pragma once
#include "model/costs.h"
#include "model/plan.h"

struct schedule;

struct schedule_slot {
    uint32_t node, core;
    double start, finish; /* finish INFINITY: cannot run there */
};

struct schedule *schedule_new(const struct costs *costs);
void schedule_free(struct schedule *s);
void schedule_reset(struct schedule *s); /* empty again, memory kept */

/* When all data of `task` could be on `node`, its predecessors being placed. */
double schedule_ready(struct schedule *s, uint32_t task, uint32_t node);
/* When `object` of the placed task `producer` could be on `node` if nothing else were on the
 * network. */
double schedule_arrival(const struct schedule *s, uint32_t producer, uint32_t object,
                        uint32_t node);
/* The earliest slot of `task` on `node`, its predecessors being placed. Does not change anything.
 */
struct schedule_slot schedule_earliest(struct schedule *s, uint32_t task, uint32_t node);
/* The same without insertion: after the last task of some core. */
struct schedule_slot schedule_append(struct schedule *s, uint32_t task, uint32_t node);
/* Either of them, but not before `least`: a task that waits for something else than its data. */
struct schedule_slot schedule_from(struct schedule *s, uint32_t task, uint32_t node, bool insertion,
                                   double least);
/* The slot that ends first over all nodes; ties: lowest node. finish INFINITY when no node can run
 * it. */
struct schedule_slot schedule_best(struct schedule *s, uint32_t task);
/* Put the task there (the slot must come from an estimate on the current state); with ports, places
 * its transfers. */
void schedule_place(struct schedule *s, uint32_t task, struct schedule_slot slot);
/* A further copy of a task that is already placed (duplication), on a node without one. Copies that
 * turn out to serve nobody are left out of the plan. */
void schedule_duplicate(struct schedule *s, uint32_t task, struct schedule_slot slot);
bool schedule_has_copy(const struct schedule *s, uint32_t task, uint32_t node);

/* Try something: everything placed between the two calls is forgotten by the second. Not nested. */
void schedule_try(struct schedule *s);
void schedule_undo(struct schedule *s);

bool schedule_is_placed(const struct schedule *s, uint32_t task);
uint32_t schedule_node(const struct schedule *s, uint32_t task); /* of its first copy */
double schedule_start(const struct schedule *s, uint32_t task);
double schedule_finish(const struct schedule *s, uint32_t task);
double schedule_available(const struct schedule *s,
                          uint32_t node); /* end of the last task on its earliest free core */
double schedule_makespan(const struct schedule *s);

/* The finished plan, with the transfers it needs and objective "makespan". */
struct plan *schedule_plan(struct schedule *s);
