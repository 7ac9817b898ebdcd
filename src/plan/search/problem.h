/* A workflow on a platform as the searches see it: one edge a pair of tasks, costs in flat arrays,
 * nothing to look up.
 *
 * Several objects between two tasks become the largest of them: on one link the largest arrives
 * last. A pair that is only ordered has `bytes` below zero and costs nothing between nodes. About 8
 * bytes a (task, node) pair as long as that is below PROBLEM_TABLE entries; beyond, times are
 * looked up in the costs. */
#pragma once
#include "model/costs.h"
#include "model/plan.h"

enum { PROBLEM_TABLE = 1 << 24, PROBLEM_LINKS = 1024 };

struct problem {
    const struct costs *costs; /* not owned */
    uint32_t n, m;             /* tasks, nodes */
    double *time;  /* n x m, INFINITY: cannot run there; NULL: too large, see problem_time() */
    double *least; /* per task: time on its fastest node */

    /* edges into and out of each task, by producer and by consumer */
    uint32_t *pred_off, *pred, *succ_off, *succ;
    double *pred_bytes, *succ_bytes; /* negative: ordering only */
    double *pred_comm,
        *succ_comm; /* seconds between two nodes: of every pair (uniform), or of the fastest pair */
    bool uniform;
    double *inverse, *latency; /* m x m when not uniform and m is at most PROBLEM_LINKS */

    uint32_t *cores;       /* per task */
    uint32_t *core_off;    /* m + 1: the node's cores in the list of all cores */
    double *memory;        /* per task */
    uint32_t *topo, *rank; /* rank: the task's place in topo */
    double *
        speed; /* per node: how fast it is compared with the fastest, on the average of the tasks */
    double *load; /* per task: least speed x time x cores over the nodes, so that speed x free time
                     bounds it */
    double *tail; /* per task: at least this long from its end to the end of everything; see
                     problem_tails() */

    bool whole;        /* all times are whole numbers, so every makespan worth having is one */
    bool wide;         /* some task needs several cores */
    bool memory_binds; /* tasks that run together on a node may need more memory than it has */
    bool ports; /* transfers contend for ports, or tasks for things: only the schedule knows */
};

struct problem *problem_new(const struct costs *costs);
void problem_free(struct problem *p); /* NULL is fine */

static inline double problem_time(const struct problem *p, uint32_t task, uint32_t node)
{
    return p->time ? p->time[(size_t)task * p->m + node] : costs_time(p->costs, task, node);
}

double problem_far(const struct problem *p, double bytes, uint32_t from, uint32_t to);
/* Seconds until what edge `e` (index into pred) carries is on `to`, from `from`. */
static inline double problem_comm(const struct problem *p, uint32_t e, uint32_t from, uint32_t to)
{
    if (from == to)
        return 0;
    return p->uniform ? p->pred_comm[e] : problem_far(p, p->pred_bytes[e], from, to);
}

/* Lower bound on any makespan: longest way with least times and joins, and total work over all
 * cores. */
double problem_bound(const struct problem *p);

/* A plan from every task's node, core (in the list of all cores), start and finish: contention-free
 * transfers as soon as their object is there, and the makespan. */
struct plan *problem_plan(const struct problem *p, const uint32_t *node, const uint32_t *core,
                          const double *start, const double *finish);
