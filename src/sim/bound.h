/* The analytical bound of section 3 of the MATRIX paper: the earliest finishing times t_ef(v) of
 * all tasks by dynamic programming, with a global view and a free core wherever one is wanted but
 * for the waiting time t_qwait.
 *
 *     t_ef(v)   = min(t_ef'(v), t_ef''(v)) + t_exec(v)
 *     t_ef'(v)  = max over parents u of t_ef(u) + d(u)/B                     + t_qwait(v)
 *     t_ef''(v) = min over parents u of max(t_ef(u), t_ef(w) + d(w)/B, w != u) + size(v)/B
 *                                                                          + t_qwait(v)
 *
 * Equation (1) is the mean wait of k tasks of length l on a core, (k - 1) * l / 2. k counts the
 * tasks that can be ready together, those of one level of the graph: with all tasks of the graph a
 * pipe of ten would wait ten times for the whole workload. The timespan is when the *last* task of
 * a level ends, which waited (k - 1) * l; with the mean a bag of tasks would be done in half the
 * time that its cores need. Both, and none, can be asked for.
 *
 * The area (all work over all cores) and the path (t_qwait = 0) bound every schedule under these
 * assumptions; the timespan of the bound is the largest of the recursion and the area. */
#pragma once
#include "sim/workload.h"

enum bound_wait { BOUND_WAIT_LAST, BOUND_WAIT_MEAN };

struct bound_config {
    const struct workload *dag;
    uint64_t cores;
    double bandwidth;  /* bytes a second */
    double task_bytes; /* size(v): of a task's description */
    enum bound_wait wait;
};

struct bound_result {
    double recursion, area, path; /* seconds */
    double timespan;              /* the largest of recursion and area */
    double throughput;            /* tasks a second */
    double work;
    uint32_t levels;
};

/* O(tasks + edges) time, 12 bytes a task. False: no cores or no bandwidth. */
bool bound_compute(const struct bound_config *config, struct bound_result *out, struct error *err);
