/* Inside a schedule that keeps to memory: shared by keep.c (slots and placing) and keep_move.c (files out
 * of the way). Planners include keep.h only. */
#pragma once
#include "plan/list/timeline.h"
#include "plan/memory/keep.h"
#include <math.h>

struct kept_task {
    uint32_t node, core; /* node NONE: not placed */
    double start, finish;
};

/* A file that was made. Its owner has it until every consumer has run there or has it elsewhere. */
struct kept_file {
    uint32_t owner;
    uint32_t left;   /* consumers that are not placed */
    uint32_t copies; /* what other nodes received, a chain through copies[]; NONE: nothing */
    uint32_t place;  /* in waiting[], while `left` is not 0 */
    double ready;    /* when the owner has it whole */
    double last;     /* when it was last used there, as far as known */
};

/* What a transfer brought to a node for tasks that are placed there. */
struct kept_copy {
    uint32_t node, more;
    double ready, until;
};

struct keep_step {
    double time, used; /* until the next step; the last one for ever */
};

struct keep_line {
    ARRAY(struct keep_step) steps;
};

/* What a node has to do for the inputs of the task at hand. */
struct keep_row {
    double ready;    /* when they can be there */
    double brought;  /* bytes that come by transfer */
    double lead;     /* the longest of these transfers */
    double freed;    /* bytes that nobody needs any more when the task is done */
    double freed_at; /* but not before this */
    bool owns;       /* the node has some of them itself */
};

struct keep_schedule {
    const struct costs *costs;
    const struct workflow *w;
    const struct platform *p;
    const double *bytes; /* of objects in memory; NULL: they count nothing */
    double *needs; /* per task: keep_needs(), which is asked often, of tasks with many files, too */
    struct kept_task *task;
    struct kept_file *file;
    ARRAY(struct kept_copy) copies;
    ARRAY(struct transfer) transfers;
    ARRAY(uint32_t) waiting; /* files that were made and have consumers to come, in no order */
    struct keep_line *line;  /* per node */
    uint32_t *core_off;
    struct core_timeline *core;
    struct timeline_store store;
    double makespan;
    double now; /* nothing begins before: keep_from() */

    /* the task at hand */
    uint32_t prepared; /* NONE: none */
    struct keep_row *row;
    double *soonest;        /* per node: keep_best() */
    double inside, outputs; /* bytes while it runs; bytes that stay for consumers */
    uint32_t moves;         /* of files out of the way, so far */
};

/* fmax() is a call, and knows NAN, which there is none of here. */
static inline double keep_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double keep_bytes(const struct keep_schedule *k, uint32_t object)
{
    return k->bytes ? k->bytes[object] : 0;
}

/* Steps that begin at or before the time. */
size_t keep_steps_until(const struct keep_line *line, double time);
/* Take (or give back) bytes from one time to another, INFINITY: for good. */
void keep_add(struct keep_schedule *k, uint32_t node, double from, double to, double bytes);
/* The most that is used at any time from `from` to `to`. */
double keep_used_within(const struct keep_schedule *k, uint32_t node, double from, double to);
