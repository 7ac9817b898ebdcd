/* Constraints: text to checked expression to value (Ahrens, Shapiro, Tanimoto 1997, section 3.2).
 *
 *     assert {relationship | value | ordering} {requirement | preference} ( ... )
 *
 * A query holds the constraints of one search and the state they are evaluated on. It knows nothing
 * of planners: who schedules pushes tasks and asks what each constraint says. docs/constraints.md
 * is the language's manual. */
#pragma once
#include "base/array.h"
#include "query/relations.h"

enum constraint_type { CONSTRAINT_RELATIONSHIP, CONSTRAINT_VALUE, CONSTRAINT_ORDERING };

struct constraint; /* constraint.h, for this room only */
struct query;

/* What a user wants to know of a constraint. */
struct constraint_info {
    const char *name, *text; /* where it comes from; its text on one line */
    uint32_t line, column;
    enum constraint_type type;
    bool requirement;
    bool maximize;
    double priority, low, high; /* preferences: as evaluated on the empty state */
    bool scheduled_count;       /* prefers more scheduled tasks: the H of A* */
    bool grows;                 /* its scaled value never falls on the way to a goal */
    bool makespan;              /* minimises max(task_finish_time) */
    bool incremental;           /* without SQLite and without looking through a relation */
    bool native;                /* without SQLite */
    bool assignment;            /* a requirement that each (task, processor) pair decides alone */
    bool pins;                  /* the same, or a preference of that kind */
    bool by_task;               /* a requirement on the order of scheduling alone */
    bool sees_order;            /* depends on the order in which tasks were scheduled */
    bool wish;     /* a preference that counts failed tests: fulfilled or not, not more or less */
    bool timeless; /* reads no time of the schedule */
    bool stays;    /* a requirement: once broken, broken in every schedule that follows */
    bool early;    /* a requirement that a task which waits longer cannot fulfil */
};

/* `after` starts or ends no earlier than `before` does; strict: later. */
struct time_order {
    uint32_t before, after;
    bool before_start, after_start; /* of these, the start counts, not the end */
    bool strict;
};
typedef ARRAY(struct time_order) time_orders;

/* `relations` is borrowed and must be empty until query_begin(). */
struct query *query_new(struct relations *relations, struct error *err);
void query_free(struct query *q); /* NULL is fine */

/* Add the statements of a text; `name` is what messages call it (a file's name, "--assert"). An
 * error names line and column, what was expected and, for an attribute, the nearest one. */
bool query_read(struct query *q, const char *name, const char *text, struct error *err);
/* Use SQLite for everything, to compare. Before query_begin(). */
void query_sqlite_only(struct query *q);
/* Evaluate priorities and bounds on the empty state and start watching. */
bool query_begin(struct query *q, struct error *err);

/* From the empty state on, a processor without tasks finishes at 0 also while the schedule is
 * partial. Not what the paper says of such a state, but it shows a search the way. */
void query_count_unused(struct query *q);

size_t query_size(const struct query *q);
struct constraint_info query_info(const struct query *q, size_t index);

void query_push(struct query *q, uint32_t task, uint32_t proc, double start, double finish);
void query_pop(struct query *q);

/* The value of a value constraint, the number of failed tests of the others. NAN: unknown. */
double query_measure(struct query *q, size_t index);
/* A requirement: not FALSE (unknown is not). */
bool query_holds(struct query *q, size_t index);
/* A preference scaled to 0 (best) .. 1 by its bounds; 0 while unknown. Beyond 1 when the bounds
 * were too narrow. */
double query_scaled(struct query *q, size_t index);
/* Scaled value of `measure` in place of the measured one. */
double query_scale(const struct query *q, size_t index, double measure);

/* An evaluation that runs at `deadline` (on the clock) is stopped. Also for bounds: before
 * query_begin(). Forgets a failure before. */
void query_set_deadline(struct query *q, double deadline);
/* An evaluation that failed (SQLite ran out of its limits, or of time) makes everything after it
 * unknown and is told here with its place: the first one since the deadline was set. */
bool query_failed(const struct query *q, struct error *err);

/* Added to `out`: the orders between times of tasks that the constraint asks for and that together
 * are all it asks for. False: it is none of that sort (times of single tasks or of lists, with
 * < <= >= >, or a sequence of times). On the empty state. */
bool query_time_orders(struct query *q, size_t index, time_orders *out);

/* Which processors the constraints can tell apart: `single[n]` is set where n is named alone.
 * False: any two may differ. */
bool query_symmetry(const struct query *q, bool *single);
/* Does any constraint depend on the order in which tasks were scheduled? */
bool query_sees_order(const struct query *q);
