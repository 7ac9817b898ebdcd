/* The decoder's fast way, private to it: every node has one core and nothing contends, so a
 * solution is a graph in which each task waits for its producers and for the task before it on its
 * node. A trial changes a few links, and only the tasks whose times change are computed again:
 * forward for the start, and for kept trials backward for the time from a task's end to the end of
 * all, which tells early that a trial will be too long. */
#pragma once
#include "base/array.h"
#include "plan/search/problem.h"

struct decoder;

struct link_change {
    uint32_t *where, old;
};

struct search_links {
    uint32_t *before, *after; /* per task: its neighbours on its node; NONE */
    uint32_t *head, *last;    /* per node */
    double *rest; /* per task: longest way from its end to the end, in the current encoding */
    ARRAY(struct link_change) log;
    ARRAY(uint32_t) stale; /* tasks whose start may have changed by the trial's links */
    ARRAY(uint32_t) loose; /* tasks whose rest may have changed */
    ARRAY(uint32_t) moved; /* tasks computed anew */
    uint64_t *marks;       /* by position */
    uint32_t low, high;    /* words of marks in use */
    uint32_t settled;      /* from this position on only times have changed, no links */
};

struct search_links *search_links_new(const struct problem *p);
void search_links_free(struct search_links *l); /* NULL is fine */
double links_load(struct decoder *d);
/* Around every change of a task's node or place: unlink, change, link. */
void links_unlink(struct decoder *d, uint32_t task);
void links_link(struct decoder *d, uint32_t task);
double links_run(struct decoder *d, double limit);
void links_keep(struct decoder *d);
/* Call before order and nodes are put back. */
void links_drop(struct decoder *d);
