/* The state of one call of `auto`, which auto.c and auto_twins.c share. */
#pragma once
#include "plan/planner.h"
#include "plan/search/anneal.h"
#include "plan/search/bounds.h"
#include "plan/search/copying.h"
#include "plan/search/portfolio.h"
#include "plan/search/twins.h"

/* With a budget in moves always so many searches side by side, whatever the machine: the answer
 * must not depend on it. */
enum { AUTO_STREAMS = 4, AUTO_MOST_STREAMS = 16 };

/* Tabu search, and that over twins, begins where the plan is so much longer than the bound. */
#define AUTO_TABU_FAR 1.1

/* Of the budget, for a first plan with copies of a graph that is too large for the members which make one. Of
 * seconds nearly all: what it does not need is the others'. */
#define AUTO_LARGE_COPY_SHARE 0.8
#define AUTO_LARGE_COPY_TIME 0.92

/* A candidate with copies places every task on the best of all nodes: as long as so many moves a task. */
enum { AUTO_MOVES_A_COPY = 8 };

struct auto_budget {
    uint64_t moves; /* 0: by time */
    double seconds;
};

/* The state of one call. */
struct auto_run {
    const struct plan_request *request;
    const struct problem *problem;
    const struct portfolio *portfolio;
    struct auto_budget budget;
    double begun;
    struct bounds bounds;
    struct encoding best;
    struct plan
        *plan; /* the shortest so far with one copy of each task that is not `best` decoded: a
                          member's, or of the exact search; NULL: none */
    struct plan *copied; /* the shortest so far that copies; NULL: none, or copies are not wanted */
    bool proven, allow_copies;
    bool began_with_copies, began_with_twins; /* no member could try to copy: this was first */
    bool suits;                               /* the search over twins can be asked */
    bool twins;                               /* plans with copies are searched for as twins */
    struct twin_list built;                   /* the shortest of them so far */
    uint64_t moves, states, candidates;

    /* one local search a stream */
    struct encoding results[AUTO_MOST_STREAMS];
    struct plan *copies[AUTO_MOST_STREAMS];
    struct copying_request copying;
    uint64_t made[AUTO_MOST_STREAMS];
    struct anneal_limits limits;
    unsigned streams, phase;
    atomic_bool stop; /* by the user */
};

/* What each stream of a search may use until `share` of the budget is used. Returns how many streams there are;
 * 0: nothing is left for them. By moves always as many, so that the answer is reproducible. */
unsigned auto_limit_streams(struct auto_run *run, double from, double share, double target,
                            struct anneal_limits *limits);

/* ---- plans with copies as twins (auto_twins.c) ---- */

/* May there be much in copies, though no member could try to copy? */
bool auto_copies_are_promising(const struct problem *p);
/* A first plan with copies, in milliseconds for 1,000 tasks. */
void auto_build_twins(struct auto_run *run);
/* With the bounds: whether twins are for this plan, which is far from them. */
void auto_begin_twins(struct auto_run *run);
/* From the best so far, with copies or without, until `share` of the budget is used, or to less where it does
 * not help: returns to which. */
double auto_search_twins(struct auto_run *run, double from, double share);
/* The same from the best plan with one copy of each task, to a better one. */
double auto_search_single(struct auto_run *run, double from, double share);
/* What twins have found, as a plan among the others. */
void auto_keep_twins(struct auto_run *run);
