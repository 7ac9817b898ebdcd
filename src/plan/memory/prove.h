/* The shortest plan within memory, for a handful of tasks: branch and bound.
 *
 * Exact among plans that run each task once and send each file at most once to a node, from the node that
 * made it. Nodes are given to tasks in topological order; then the runs and transfers that follow from that are
 * started one after the other in time. */
#pragma once
#include "model/costs.h"
#include "model/plan.h"

enum { PROVE_TASKS = 16, PROVE_OBJECTS = 48, PROVE_NODES = 8, PROVE_ACTIVITIES = 128 };

struct prove_limits {
    double seconds;  /* INFINITY: no limit */
    uint64_t states; /* 0: no limit */
    double bound;    /* nothing is shorter: a plan that reaches it ends the search */
    double upper;    /* only shorter ones are of interest; INFINITY: any */
};

struct prove_result {
    struct plan *plan; /* NULL: none shorter than `upper` was found */
    bool complete;     /* the search came to its end: none shorter exists */
    uint64_t states;
};

/* Few enough tasks, each on one core, no ports, no things? */
bool prove_suits(const struct costs *costs);
struct prove_result prove_shortest(const struct costs *costs, const struct prove_limits *limits);
