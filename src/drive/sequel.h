/* A run under a limit of bytes for files must not begin so much that nothing fits any more. A sequel is a way to its end: when
 * what is under way has ended, the tasks left, one after the other in a given order.
 *
 *     order     a  b  c  d  e  f  g
 *               ■  ■  ·  ▶  ·  ·  ·        ■ ended   ▶ under way   · left: c e f g, each with the bytes that it
 *                     └──┴──┴──┴─▶           would see in use, and its own
 *
 * Invariant: every task left fits into the limit when its turn in the sequel comes. A task starts only when it holds afterwards.
 * So a run never stands still for want of room, whatever the timing: when nothing is under way, the first task left is ready,
 * fits, and to start it is the sequel's next step. (The banker's algorithm, Dijkstra 1965, with one order for all: to look for
 * another order would be a search.) It holds for as long as files are as large as stated; where the order does not fit from the
 * beginning, or files are larger, a run does what it can.
 *
 * Not for threads. A question costs O((inputs + outputs) log tasks). */
#pragma once
#include "memo/need.h"
#include "model/workflow.h"

struct sequel;

/* Of a workflow with commands and files. `order`: all tasks, each after those that it waits for. `room`: what a task takes while it runs, what it leaves among it.
 * `used`: bytes of intermediate files that are there. Workflow and needs stay the caller's; `needs` may be NULL. O(tasks + edges). */
struct sequel *sequel_new(const struct workflow *w, const struct needs *needs,
                          const uint32_t *order, const double *room, double used, double limit);
void sequel_free(struct sequel *q); /* NULL is fine */

/* Does the invariant hold afterwards? `left`: bytes that stay free while it runs. */
bool sequel_lets(struct sequel *q, uint32_t task, double left);
void sequel_started(struct sequel *q, uint32_t task);
/* An attempt is over, and another follows: its room stays reserved. */
void sequel_waits(struct sequel *q, uint32_t task);
/* It ended well: what it read is read. `produced`: what it makes is there; else it makes nothing. */
void sequel_ended(struct sequel *q, uint32_t task, bool produced);
/* It will not end well in this run: what it would have made does not come, what it would have read stays. */
void sequel_lost(struct sequel *q, uint32_t task);
