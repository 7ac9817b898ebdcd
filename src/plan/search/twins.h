/* A plan that runs tasks twice, for the searches to change: the inner loop of twin_search.h.
 *
 * Every copy of a task is a twin, with a place in the sequence of its node and, for each producer, the
 * twin that supplies it. So the plan is a graph, and times follow from it as they do without copies:
 *
 *    node A:   p ------ q ------ r          r is supplied by q here,
 *    node B:   p' --- s                     s by the twin p' that runs beside it
 *
 *    start = max(end of the twin before, arrivals from the suppliers)
 *    rest  = max(what follows by the twin behind, by the consumers supplied): from its end to the end of all
 *
 * A change computes anew only whose times it changes. Where nothing contends, nodes have one core and all
 * pairs are alike (twins_suit()).
 *
 * Invariant: starts label the graph. An edge goes from an earlier start to a later one, or between equal
 * ones; so an edge from a start that is truly earlier closes no circle. */
#pragma once
#include "base/array.h"
#include "plan/search/decoder.h"

struct twin {
    double start, finish, rest;
    uint32_t task, node;
    uint32_t before, after; /* on its node; NONE */
    uint32_t more;          /* the task's next twin; NONE */
    uint32_t supply;        /* twins.supply from here on: one for each edge into the task */
    uint32_t uses;          /* consumers that it supplies */
    uint32_t next;          /* in its bucket */
    bool queued;
    /* where only a window is searched (twin_window.h) */
    uint8_t era;                        /* of enum twin_era */
    bool foreign;                       /* of another share: never inside */
    bool waits_forward, waits_backward; /* to be computed when the window closes */
};

/* Only those inside of a window are changed and timed. */
enum twin_era { TWIN_INSIDE, TWIN_EARLIER, TWIN_LATER };

/* A plan at rest: what is where when. */
struct twin_place {
    double start;
    uint32_t task, node;
};

struct twin_list {
    ARRAY(struct twin_place) places;
    double makespan; /* INFINITY: none yet */
};

struct twins {
    const struct problem *problem;
    ARRAY(struct twin) all;
    ARRAY(uint32_t) supply;
    uint32_t *first;       /* by task: its twins, chained by `more` */
    uint32_t *spare;       /* by task: twins that were removed, likewise */
    uint32_t *head, *last; /* by node */
    uint32_t *slot;        /* by edge out of a task: which of the consumer's edges it is */
    bool *may_copy;        /* by task: whether its consumers need its data only */
    double makespan;
    uint64_t timed; /* twins whose times were computed, for whoever counts work */
    /* who is to be computed anew, forward and backward; then in buckets, by time */
    ARRAY(uint32_t) stale, loose;
    struct twin_window *window; /* NULL: all of the plan is timed */
    uint32_t *bucket, nbuckets; /* the first there; NONE */
    uint64_t *marks;            /* by bucket: whether anybody is there */
    uint32_t low;               /* no mark is in a lower word */
    double scale;               /* buckets a second */
};

bool twins_suit(const struct problem *p);
struct twins *twins_new(const struct problem *p);
void twins_free(struct twins *w);
/* Take the plan over, without the twins that serve nobody, each as early as it can be in the sequence of
 * its node: never longer than the list says. */
void twins_load(struct twins *w, const struct twin_list *list);
void twins_save(const struct twins *w, struct twin_list *list);
/* What stands in `from`, for the same problem and settled, without its window. */
void twins_copy(struct twins *to, const struct twins *from);
/* The same for a copy to come back to, which nobody computes: it needs but the arrays by task and by node. */
void twins_copy_state(struct twins *to, const struct twins *from);
void twin_list_from_encoding(struct twin_list *list, const struct problem *p,
                             const struct encoding *s);
void twin_list_from_plan(struct twin_list *list, const struct plan *plan);
void twin_list_copy(struct twin_list *to, const struct twin_list *from);
struct plan *twin_list_plan(const struct twin_list *list, const struct problem *p);

/* The twin of the edge's producer whose data are on `node` first, and when; of those that start before
 * `before`, and `now` whatever it starts. */
uint32_t twins_supplier(const struct twins *w, uint32_t edge, uint32_t node, uint32_t now,
                        double before, double *arrival);
static inline uint32_t twins_supplied_by(const struct twins *w, uint32_t twin, uint32_t edge)
{
    const struct twin *x = &w->all.at[twin];
    return w->supply.at[x->supply + edge - w->problem->pred_off[x->task]];
}

/* ---- changes; times are stale until twins_settle() ---- */

/* Behind `after` on the node (NONE: first), with the suppliers that are best there. */
void twins_move(struct twins *w, uint32_t twin, uint32_t node, uint32_t after);
/* A new twin of the producer of edge `edge` into `consumer`, on its node behind `after`, for it. */
uint32_t twins_add(struct twins *w, uint32_t consumer, uint32_t edge, uint32_t after);
/* Its consumers are supplied by others, as soon as can be. */
void twins_remove(struct twins *w, uint32_t twin);
void twins_resupply(struct twins *w, uint32_t consumer, uint32_t edge, uint32_t supplier);
/* All times and the makespan; in a window its times, and its longest way. */
void twins_settle(struct twins *w);
