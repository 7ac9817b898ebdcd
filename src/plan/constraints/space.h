/* The problem space of section 3.1: one state laid out (relations, constraints, schedule), the one
 * operator schedule-task-to-processor, and what a new state is worth.
 *
 * A state is remembered as its parent and the one task it adds (struct space_state): 88 bytes
 * whatever the size of the workflow. space_go() lays another one out; it takes back and schedules
 * only the tasks in which the two differ, but for the schedule's timelines, which know no way back
 * and are filled anew unless the new state continues the old one. */
#pragma once
#include "plan/constraints/orders.h"
#include "plan/list/schedule.h"
#include "plan/planner.h"
#include "query/query.h"

struct space_state {
    uint32_t parent, depth; /* parent NONE: the initial state */
    uint32_t task;
    struct schedule_slot slot;
    double g, h;     /* weighted sum of all preferences but the first, and the first unweighted */
    double makespan; /* no goal below ends before this */
    double busy;     /* core-seconds: scheduled ones as they are, the rest at their least */
    double bound;    /* no goal below has a smaller g */
    uint64_t hash;
};

/* How a search goes about it; all false: as published. */
struct space_manner {
    bool goal_only;    /* requirements are asked of goal states only */
    bool order_yields; /* the default constraint on the order of scheduling is left out */
    bool keeps_orders; /* orders between times that requirements ask for hold by construction */
    bool firm;         /* so that they hold in the run too */
    bool keeps_wishes; /* and those of preferences, where they contradict nothing */
    bool guided;       /* failed tests weigh more than progress; unused processors finish at 0 */
    bool soft;         /* requirements remove nothing, what they miss weighs most */
};

struct space {
    const struct plan_request *request;
    const struct workflow *w;
    const struct platform *p;
    struct costs *costs;
    struct schedule *schedule;
    struct relations *relations;
    struct query *query;

    /* options, set before space_begin() */
    bool insertion;
    bool as_predicted; /* a required order that holds if all times do is as good as a certain one */
    struct space_manner manner;

    /* the constraints, sorted out */
    struct constraint_info *info; /* per constraint */
    ARRAY(size_t) requirements;   /* those that the table `allowed` does not decide */
    ARRAY(size_t) preferences;    /* all but the first */
    ARRAY(size_t) softened;       /* requirements that only weigh */
    size_t first;                 /* the preference for more scheduled tasks; SIZE_MAX: none */
    double p1, weights;           /* its priority; the sum of the others */
    double soft_weight;           /* of each requirement that only weighs */
    bool all_grow;                /* g never falls on the way to a goal */
    uint64_t *killed;             /* per constraint: states */
    size_t refused;               /* the requirement that refused last */
    size_t killer;                /* who is to blame if nothing is found; SIZE_MAX: nobody */
    uint32_t killer_depth;
    uint64_t *forbidden; /* bits task x node, NULL: none */
    uint32_t pinned;     /* tasks that may not run everywhere */
    struct kept_orders orders;
    /* what the constraints say of times of tasks, and which one says it */
    time_orders stated;
    ARRAY(size_t) stated_by; /* per entry of `stated`: the constraint */
    const double *delay;     /* per task: it does not start before; NULL: no such wish. Borrowed */

    /* what does not change */
    uint32_t *by_rank; /* tasks by falling path length */
    uint32_t *rank;
    double *tail;  /* least time after the task's end */
    double *least; /* least time of the task */
    double cores;
    uint32_t *kind;  /* per node: the first node that it cannot be told from */
    bool sees_order; /* constraints or ports make the order of scheduling part of a state */
    double root_makespan, root_busy;

    /* the state laid out */
    uint32_t *missing;  /* per task: edges from tasks not scheduled */
    uint64_t *ready;    /* bits by rank */
    uint64_t *contents; /* per node: hash of its tasks */
    uint32_t *core;     /* per task: where on its node */
    uint64_t hash;
    ARRAY(uint32_t) path; /* states from the first scheduled task on */
    size_t placed;        /* how many of them stand in the schedule */
    bool stale;           /* and the schedule has more, or others */

    ARRAY(struct space_state) states;   /* the first is the initial state */
    ARRAY(struct space_state) children; /* of space_expand() */
};

/* NULL with an error. The caller reads the rules into it, those called SPACE_DEFAULT_RULES first. */
#define SPACE_DEFAULT_RULES "<default>"
struct space *space_new(const struct plan_request *request, struct error *err);
void space_free(struct space *s);
/* After all constraints are read into s->query: sort them out, set up tables. Infeasible when a
 * task may run nowhere. `p1` negative: as the rules say. */
bool space_begin(struct space *s, double p1, struct error *err);

/* Lay out a state of s->states. */
void space_go(struct space *s, uint32_t state);
/* Schedule one more task on the state laid out, outside of s->states. */
void space_push(struct space *s, uint32_t task, struct schedule_slot slot);
/* Back to the initial state, for walks outside of s->states. */
void space_reset(struct space *s);
/* Where the task would run on the node now. */
struct schedule_slot space_slot(struct space *s, uint32_t task, uint32_t node);

/* The successors of the state laid out into s->children (parent and depth not set), tasks by rank,
 * then nodes. Looks at the first `most` ready tasks only, and at more while there is no successor
 * (0: at all of them). With `quick`, constraints that need SQLite or a look through a relation are
 * left out. */
void space_expand(struct space *s, uint32_t most, bool quick);

/* Is it the default constraint on the order of scheduling? It tells a search how to go about it,
 * and yields to what a user asks for. */
bool space_is_default_order(const struct space *s, size_t constraint);

/* g of the state laid out, and whether its requirements hold (the killer is noted). */
double space_g(struct space *s, bool quick);
bool space_allows(struct space *s, bool quick, bool goal);
double space_f(const struct space *s, const struct space_state *state);
static inline bool space_may(const struct space *s, uint32_t task, uint32_t node)
{
    size_t bit = (size_t)task * s->p->nnodes + node;
    return !s->forbidden || !(s->forbidden[bit / 64] >> (bit % 64) & 1);
}
/* "rules.sql:3:1: assert ..." shortened. */
void space_describe(const struct space *s, size_t constraint, struct strbuf *out);
