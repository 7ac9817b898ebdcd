/* A schedule under construction that keeps tasks and files within the memory of nodes, by the rule of
 * model/residence.h.
 *
 * Tasks are placed one after the other, producers before consumers. A file that still has consumers to
 * come is booked on its owner, the node that made it, without an end:
 *
 *     used   ┌────────┐  ┌──────┐
 *            │ task   ├──┤ task ├──────────────────   what waits for consumers that are not placed
 *       ─────┘        └──┘      └──────────────────
 *                                            the tail: what a task finds that starts late enough
 *
 * When its last consumer is placed the booking ends with the last use. So a task fits a node at some time
 * exactly when it fits behind the tail, whatever the times are; an estimate finds the earliest.
 * Transfers arrive when their task starts, unless the receiver has more room than the sender. Where no task fits
 * anywhere, keep_move() takes a waiting file to a node with room.
 *
 * No ports and no things: who calls it has the checker judge the plan. An estimate costs O(degree x nodes) a
 * task and the steps of memory after the start; placing one O(degree). */
#pragma once
#include "model/costs.h"
#include "model/plan.h"

struct keep_schedule;

struct keep_slot {
    uint32_t node, core;
    double start, finish; /* INFINITY: it does not fit */
};

/* Whether files count is the platform's to say. */
struct keep_schedule *keep_new(const struct costs *costs);
void keep_free(struct keep_schedule *k);
void keep_reset(struct keep_schedule *k); /* empty again */
/* From here on no task starts and no file leaves before `now`: what is placed so far has happened. 0 at first, and
 * after keep_reset(). */
void keep_from(struct keep_schedule *k, double now);

/* The earliest slot of a task, whose predecessors are placed, on one node and on the best of all (ties:
 * the lowest). */
struct keep_slot keep_earliest(struct keep_schedule *k, uint32_t task, uint32_t node);
struct keep_slot keep_best(struct keep_schedule *k, uint32_t task);
/* False: the slot of keep_earliest() ends at `finish` or later, as data and cores alone show. */
bool keep_can_beat(struct keep_schedule *k, uint32_t task, uint32_t node, double finish);
/* The slot must come from an estimate on the current state. Returns whether memory came free. */
bool keep_place(struct keep_schedule *k, uint32_t task, struct keep_slot slot);
/* Make room behind the tail of some node for a task that fits nowhere, by moving files that wait there to
 * others. False: that helps nobody. */
bool keep_make_room(struct keep_schedule *k, uint32_t task);

const struct costs *keep_costs(const struct keep_schedule *k);
const struct workflow *keep_workflow(const struct keep_schedule *k);
const struct platform *keep_platform(const struct keep_schedule *k);
bool keep_is_placed(const struct keep_schedule *k, uint32_t task);
uint32_t keep_node(const struct keep_schedule *k, uint32_t task);
/* Bytes that are free behind the tail; INFINITY: no limit. */
double keep_room(const struct keep_schedule *k, uint32_t node);
/* Bytes that the task occupies on a node that has none of its inputs, with its files where they count. */
double keep_needs(const struct keep_schedule *k, uint32_t task);
double keep_task_bytes(const struct workflow *w, uint32_t task); /* with its files */
double keep_makespan(const struct keep_schedule *k);
struct plan *keep_plan(const struct keep_schedule *k); /* all tasks must be placed */
