/* How long a task takes on a node: the workflow's figures resolved against one platform, ready for
 * hot loops.
 *
 * A task's own time on a node wins; otherwise work / speed. INFINITY where the task cannot run: the
 * node is down, has too few cores, too little memory or too few things for the task, or the task has only times of
 * its own and none for this node. */
#pragma once
#include "model/capacity.h"
#include "model/platform.h"
#include "model/workflow.h"

struct costs {
    const struct workflow *workflow;
    const struct platform *platform;
    double *inverse_speed; /* per node; INFINITY: down */
    double *own;           /* rows of nnodes for tasks with times of their own */
    uint32_t *own_row;     /* per task, NONE: none; NULL when no task has any */
    uint64_t *has;         /* per node: attributes that tasks need; NULL: none needs any */
    struct capacity *node; /* per node: its things; NULL: no task asks for any */
    bool *restricted;      /* per task: cannot run on every node that is up (NULL: every task runs
                              everywhere) */
    bool unrelated;        /* some task has times of its own */
};

/* Fails (infeasible) when a task can run on no node, naming the task and why. */
struct costs *costs_new(const struct workflow *w, const struct platform *p, struct error *err);
/* The same without the check: a task may cost INFINITY everywhere. For the checker. */
struct costs *costs_lenient(const struct workflow *w, const struct platform *p);
void costs_free(struct costs *c); /* NULL is fine */

double costs_restricted_time(const struct costs *c, uint32_t task, uint32_t node);
static inline double costs_time(const struct costs *c, uint32_t task, uint32_t node)
{
    if (c->restricted && c->restricted[task])
        return costs_restricted_time(c, task, node);
    if (c->own_row && c->own_row[task] != NONE)
        return c->own[(size_t)c->own_row[task] * c->platform->nnodes + node];
    return c->workflow->work[task] * c->inverse_speed[node];
}
/* Mean and least time over the nodes that can run it. */
double costs_mean(const struct costs *c, uint32_t task);
double costs_least(const struct costs *c, uint32_t task, uint32_t *node);
