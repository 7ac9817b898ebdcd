/* Inside a schedule under construction: shared by schedule.c (slots, placing), arrival.c (when the
 * data of a task is where) and schedule_plan.c (the finished plan). Planners include schedule.h
 * only. */
#pragma once
#include "plan/list/ports.h"
#include "plan/list/profile.h"
#include "plan/list/schedule.h"
#include "plan/list/timeline.h"

/* One copy of a task. The first copies stand at copies[task], further ones behind:
 *
 *     copies   0      1      2    ..  ntasks-1 | ntasks  ntasks+1 ..
 *            +------+------+------+--+--------+--------+--------+
 *            | t0   | t1   | t2   |  |        | t1'    | t1"    |
 *            +------+--|---+------+--+--------+-^----|-+-^------+
 *                      +------- more -----------+    +---+
 *
 * so that a task without duplicates is found without a search. */
struct schedule_copy {
    uint32_t node, core; /* node NONE: not placed */
    uint32_t task, more; /* next copy of the same task, NONE: none */
    double start, finish;
};

/* A booked transfer (port mode); `more` chains those of one object, the latest first: undoing a
 * booking takes the head off its chain again. */
struct schedule_delivery {
    uint32_t object, from, to, more;
    uint32_t source; /* index of the copy that sends */
    double start, finish;
};

/* An input that has to be sent (port mode). */
struct input_need {
    double finish; /* of the copy that sends */
    uint32_t object, source;
};

/* When the data of one task is where. On a uniform network without copies two numbers say it: every
 * node waits for `top`, but the node it comes from only for `second`; nobody starts before `floor`,
 * the last predecessor's end.
 *
 *     arrival at a node
 *       top    ----------+      +-----------    all others wait for the object sent by top_node,
 *       second           +------+               top_node itself only for what others send it
 *       floor  .............................    the last predecessor's end holds for all
 *                        top_node
 *
 * It is kept until the schedule changes, because planners ask node after node about one task. */
struct arrival {
    uint32_t task;
    uint64_t version; /* of the schedule it was computed for; 0: nothing */
    double floor, top, second;
    uint32_t top_node;
    bool in_row; /* schedule->row holds it node by node */
};

struct undo_core {
    uint32_t line;
    struct timeline_booking done;
};

struct schedule {
    const struct costs *costs;
    const struct workflow *w;
    const struct platform *p;
    bool simple_network; /* uniform */

    /* nodes */
    uint32_t *core_off;          /* nnodes + 1: the node's timelines */
    struct core_timeline *lines; /* one a core */
    struct timeline_store store;
    double *least;                  /* per node: the shortest time of any task */
    struct memory_profile **memory; /* per node; NULL: memory cannot run short there */
    struct memory_profile *things;  /* per node, THING_SORTS each: amounts held; NULL: none asks */

    /* what is placed */
    ARRAY(struct schedule_copy) copies;
    double makespan;
    uint64_t version;
    struct arrival arrival;
    double *row;
    double *bound; /* per node, scratch of schedule_best() */

    /* port mode */
    bool limited;
    struct ports ports;
    ARRAY(struct schedule_delivery) deliveries;
    uint32_t *delivered; /* per object: its last delivery, NONE: none */
    ARRAY(struct input_need) needs;

    /* trying */
    bool trying;
    ARRAY(uint32_t) tried; /* indices of copies */
    ARRAY(struct undo_core) bookings;
    size_t deliveries_before, copies_before;
    double makespan_before;
};

/* ---- arrival.c ---- */

/* Seconds of an object from node to node, without contention. */
static inline double object_transfer_time(const struct schedule *s, uint32_t from, uint32_t to,
                                          uint32_t object)
{
    double seconds = platform_transfer(s->p, from, to, s->w->size[object]);
    return seconds == seconds ? seconds : INFINITY; /* 0 bytes over a link without bandwidth */
}

/* When `object` (NONE: only the end of `producer`) can be on `node`, without contention: from the
 * copy that gets it there first. O(copies of the producer). */
double arrival_of_object(const struct schedule *s, uint32_t producer, uint32_t object,
                         uint32_t node);

/* Copies and pairs that differ need the arrivals node by node. */
static inline bool arrival_needs_row(const struct schedule *s)
{
    return !s->simple_network || s->copies.n > s->w->ntasks;
}

/* Fill s->arrival for a task: what holds without contention. O(degree), or O(degree x nodes) when a
 * row is needed. */
void arrival_compute(struct schedule *s, uint32_t task);

/* The same, unless it is known. */
static inline void arrival_prepare(struct schedule *s, uint32_t task)
{
    if (s->arrival.version != s->version || s->arrival.task != task)
        arrival_compute(s, task);
}

/* When the data of the task of s->arrival is on the node. */
static inline double arrival_at(const struct schedule *s, uint32_t node)
{
    const struct arrival *a = &s->arrival;
    if (a->in_row)
        return s->row[node];
    double remote = node == a->top_node ? a->second : a->top;
    return remote > a->floor ? remote : a->floor;
}

/* Port mode: book the transfers that bring the task's data to the node, those that can leave first
 * first (ties: lowest object); returns when all is there. Without `keep` nothing remains booked. */
double arrival_book_inputs(struct schedule *s, uint32_t task, uint32_t node, bool keep);
/* Port mode: the delivery of the object to the node, NONE: none is booked. */
uint32_t arrival_find_delivery(const struct schedule *s, uint32_t object, uint32_t node);
