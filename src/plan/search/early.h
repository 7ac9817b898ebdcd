/* How early a task can start on each node, whatever a plan does: heads, and - with the graph turned
 * around - tails. The bounds (bounds.h) are made of them.
 *
 * A task v on node x either has an ancestor u run on x before it, or u's data comes over the
 * network. When u's way from elsewhere ends after T, a start at T needs u on x, and with it all
 * others of which that is true: one after the other, since a node has its cores and no more. The
 * least T for which that works out is v's head on x:
 *
 *    elsewhere   u1 ----- far(u1) ------>|                 far: at best, from the end of u to v
 *    node x          [u2][u3][u2']       [v]               u2, u3: forced, each not before its head
 *                                        ^ T               and early enough for what lies between
 *
 * What is forced forces more: data for u2 must reach x itself, and not only v's node in time, so that
 * the ways of u2's own ancestors are longer than they look from v. So for one T the forced ones are
 * found from v upwards, and T by halving.
 *
 * That is Papadimitriou and Yannakakis' bound for plans that may copy tasks, with heads, tails and
 * times of each node in Jackson's preemptive schedule of the forced ones, and with ways that know who
 * is forced. It holds with copies: any copy of v on x was fed by some copy of u, here or elsewhere.
 * Turned around (tails) it holds for plans with one copy of each task, which read the same backwards.
 *
 * Nodes that are alike in every task's time are one class. Transfers cost what they cost between
 * the closest two nodes; ports, memory and things are left out: a bound only drops constraints. */
#pragma once
#include "plan/search/problem.h"

/* The classes of nodes: one column of times each. */
struct early_classes {
    uint32_t count;
    double *time;       /* n x count; INFINITY: cannot run there */
    uint32_t *members;  /* nodes of the class */
    double *cores;      /* of each of its nodes */
    double *else_least; /* n x count: the least time on any node but this one */
};

/* All nodes by class or, with `merged`, one class of least times and most cores. */
struct early_classes early_classes_new(const struct problem *p, bool merged);
void early_classes_free(struct early_classes *c);

struct early_options {
    const struct early_classes *classes;
    bool backwards; /* tails instead of heads */
    bool copies;    /* hold for plans that copy tasks, too; not backwards, and without a limit */
    uint32_t reach; /* look at so many ancestors of a task at most */
    const double *least; /* by task: no start is before, as is known otherwise; NULL: nothing is */
    double limit;        /* a plan of this length is asked for; INFINITY: none is */
    const double *rest;  /* with a limit: n x classes, what follows a task at the least */
    double deadline;     /* on clock_seconds(), INFINITY: none; EARLY_LATE when it passes */
};

/* EARLY_NONE: some task has no node left, so no plan is as short as the limit. */
enum early_answer { EARLY_DONE, EARLY_NONE, EARLY_LATE };

/* Into early (n x classes): the least start on a node of each class, INFINITY where it cannot run or
 * would break the limit; incomplete unless EARLY_DONE. *cut is set when some task had more ancestors
 * than `reach`. O(n x classes x reach x log reach) for each T that is tried, six or so. */
enum early_answer early_starts(const struct problem *p, const struct early_options *o,
                               double *early, bool *cut);
