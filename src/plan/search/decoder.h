/* From an order and a node for every task to a schedule, again and again: the inner loop of local
 * search.
 *
 * An encoding is an order of the tasks (producers first) and a node for each. Decoding takes the
 * tasks in that order and starts each as early as its data and a core of its node allow, after what
 * is already on that core. Nothing is lost by not using gaps: the tasks of any schedule taken by
 * start time decode to one that is no longer (see exact.h; tasks of several cores may land on other
 * cores, and ports have gaps of their own, so there it is only likely).
 *
 * The decoder keeps the current encoding decoded. A trial changes order and nodes from some place
 * on; it is decoded from there only, stops as soon as it is known to be too long, and is then kept
 * or dropped. Three ways, by the platform: nodes with one core follow changes along the graph
 * (links.h); nodes with several cores decode the rest of the order; with ports, or memory that
 * binds, every trial is decoded as a whole through a `struct schedule`. */
#pragma once
#include "plan/list/schedule.h"
#include "plan/search/links.h"
#include "plan/search/problem.h"

struct encoding {
    uint32_t *order, *node; /* node: by task */
    double makespan;        /* INFINITY: not decoded */
};

struct encoding encoding_new(uint32_t n);
void encoding_free(struct encoding *s);
void encoding_copy(struct encoding *to, const struct encoding *from, uint32_t n);
/* Order by (start, finish, place in topo) of the first copies. */
void encoding_from_plan(struct encoding *s, const struct problem *p, const struct plan *plan);

struct decoder {
    const struct problem *problem;
    uint32_t n;
    /* the current encoding, with a trial's changes while one is open */
    uint32_t *order, *position, *node;
    double makespan;   /* of the current encoding */
    uint64_t computed; /* tasks computed or copied by runs, keeps and saves so far */
    double *start, *finish;
    uint32_t *core; /* first core, in the list of all cores */

    /* the trial */
    uint32_t first, touched; /* positions [first, touched) have been decoded anew */
    double *trial_start, *trial_finish;
    uint32_t *trial_core;
    uint32_t *old_order,
        *old_node; /* as they were: by position in [first, last], by task in changed */
    uint32_t *changed, nchanged;      /* tasks whose node the trial changed */
    uint32_t moved_first, moved_last; /* positions whose order the trial changed */

    /* available[] at every `stride` positions of the current encoding, so that a trial can start
     * in the middle */
    double *available, *snapshots;
    double *longest; /* longest[i]: latest finish among the first i positions of the current
                        encoding */
    uint32_t stride, ncores;

    struct search_links
        *links; /* one core a node and no contention; else NULL, and all below `the trial` serves */
    struct schedule *schedule; /* ports or memory; else NULL */
};

struct decoder *decoder_new(const struct problem *p);
void decoder_free(struct decoder *d);
/* Make `s` the current encoding; returns its makespan. */
double decoder_load(struct decoder *d, const struct encoding *s);
void decoder_save(struct decoder *d, struct encoding *s);

/* ---- one trial at a time: change, run, keep or drop ---- */
void decoder_reassign(struct decoder *d, uint32_t task, uint32_t node);
/* Move a task to another place in the order; the place must lie after its producers and before its
 * consumers. */
void decoder_shift(struct decoder *d, uint32_t task, uint32_t place);
/* Makespan of the trial, or INFINITY once it is known to exceed `limit`. */
double decoder_run(struct decoder *d, double limit);
void decoder_keep(struct decoder *d, double makespan);
void decoder_drop(struct decoder *d);

/* The current solution as a plan with its transfers and makespan. */
struct plan *decoder_plan(struct decoder *d);
