/* Lower bounds on the makespan: what no plan can beat, and why.
 *
 *    path                      the longest way through the graph, every task on its fastest node
 *    path with communication   the same where data that several tasks exchange must travel, or the
 *                              tasks share a node and wait for each other (early.h)
 *    load                      all work over all cores
 *    interval                  the work that can only be done between two moments, over all cores
 *    exact search              everything shorter was looked at
 *
 * Two answers: for plans with one copy of each task, and for all plans. Bounds cost a fixed number of
 * steps that the caller allows, so that a request gives the same answer everywhere (unless its budget
 * is a time); with few steps they look less far, and say so. */
#pragma once
#include "plan/search/problem.h"

enum bound_kind { BOUND_PATH, BOUND_COMMUNICATION, BOUND_LOAD, BOUND_INTERVAL, BOUND_EXACT };
const char *bound_kind_name(enum bound_kind kind);

struct lower_bound {
    double value;
    enum bound_kind kind;
};

struct bounds {
    struct lower_bound single; /* no plan with one copy of each task is shorter */
    struct lower_bound copies; /* no plan is shorter */
    bool cut;                  /* steps were too few: more of them may give a higher bound */
};

/* About `steps` steps of 5 ns at most, beyond the cheap bounds, which are linear; and none after the
 * deadline (on clock_seconds(); INFINITY: none), which a busy machine may reach before. `makespan`: of
 * some plan with one copy of each task, where there is no use in proving more (INFINITY: unknown). */
struct bounds bounds_find(const struct problem *p, uint64_t steps, double deadline,
                          double makespan);
