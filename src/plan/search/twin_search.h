/* Tabu search (tabu.h) over plans that run tasks twice: it moves twins, copies a producer to where a consumer
 * waits for its data, and takes a copy away that costs more than it serves. */
#pragma once
#include "plan/search/anneal.h"
#include "plan/search/twins.h"

struct twin_searcher;

struct twin_searcher *twin_searcher_new(const struct problem *p, uint64_t seed, uint64_t stream);
void twin_searcher_free(struct twin_searcher *s);

/* A share of a plan: what starts from `from` on and before `to`. */
struct twin_share {
    const struct twins *plan; /* settled; not changed */
    double from, to;
    bool copies;                    /* twins may be added */
    ARRAY(struct twin_place) found; /* what stands there after the search */
    double gained;                  /* by so much the longest way through it is shorter, or 0 */
};

/* Search a share, window by window (twin_window.h). Limits as anneal()'s: a step counts as so many moves as
 * take its time. The same seed, stream, plans and numbers of moves give the same. Returns the moves made. */
uint64_t twin_search(struct twin_searcher *s, struct twin_share *share,
                     const struct anneal_limits *limits);
/* So many tasks a window has at first. */
double twin_window_tasks(const struct problem *p);
