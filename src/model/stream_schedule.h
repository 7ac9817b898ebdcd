/* The periodic schedule of a stream's mapping: when each copy of a task and each transfer starts,
 * so that one item every period goes through without waiting for anybody.
 *
 * A cluster of r replicas does everything once every r periods. So its tasks must not overlap on a
 * circle of r periods, nor more transfers than it has ports; and two clusters of r and s replicas
 * have a circle of lcm(r, s) periods on which one transfer at a time may run. What fits on these
 * circles once is without conflict for ever. */
#pragma once
#include "model/stream.h"

/* A plan's clusters in the form that estimates take. */
struct stream_tables {
    uint32_t *off, *cluster, *home, *procs, *node_off, *nodes;
};
void stream_tables_fill(struct stream_tables *s, const struct plan *plan, uint32_t ntasks);
void stream_tables_free(struct stream_tables *s);
struct stream_map stream_tables_map(const struct stream_tables *s, const struct plan *plan);

/* How many items pass before the same replicas of two clusters meet again. */
double stream_meeting(uint32_t a, uint32_t b);

/* A schedule with one item every `period` seconds, for a plan whose clusters are sound. A cluster
 * and a set of clusters that exchange data take the earliest gaps; where those do not suffice, tasks
 * stand one behind the other and transfers in the slots of the estimate, which do suffice down to
 * the estimate's own period (longer waits, the same rate). False: not at this period. A plan that is
 * not pipelined gets its list schedule, at its own period. */
bool stream_schedule_build(const struct stream_graph *g, const struct plan *plan, double period,
                           struct stream_schedule *out);
/* From the first start to the last end of one item. */
double stream_schedule_latency(const struct stream_graph *g, const struct plan *plan,
                               const struct stream_schedule *schedule);

/* Give the plan its schedule, at a rate between what was asked for (0: nothing) and what it claims:
 * the quickest at which an item among others takes hardly longer than at the slowest, or at most
 * `within` (INFINITY: no latency was asked for). Then it claims that rate. Where no schedule is found
 * at the rate that it claims, it claims what was found. Notes say both, and when items wait for long
 * all the same. A plan that rotates, or whose rate has no bound, gets none. (stream_pace.c) */
void stream_plan_schedule(const struct stream_graph *g, struct plan *plan, double asked,
                          double within);
