/* A part of a plan that is searched by itself: the twins that start in a stretch of time. What comes before
 * and after stands still, so that a change is timed in a small part of what it takes in all of the plan:
 *
 *           earlier          | inside |        later
 *     finishes stand still   | search |   rests stand still
 *
 * Every longest way of the plan passes the window, unless data are sent past it: so the plan becomes
 * shorter by what the longest way through the window loses.
 *
 * Several windows are searched at the same time, each in a share of its own: a stretch whose other side is
 * foreign to it. At its ends finishes are taken to be later, and rests longer, by half of the slack that they
 * have: so that a way from share to share loses in all of them what it lost in each.
 *
 *    twins_copy() ─▶ twin_window_share() ─▶ open ─▶ search ─▶ close ─▶ open ─▶ ...
 *
 * Invariant: what is earlier or inside depends on nothing later, whatever is changed inside; so starts label
 * what is inside as they do the whole graph (twins.h), and those of others need not be true. */
#pragma once
#include "plan/search/twins.h"

struct twin_window {
    ARRAY(uint32_t) inside;            /* with those that were dropped */
    ARRAY(uint32_t) forward, backward; /* outside: to be computed when it closes */
    uint32_t *beyond;                  /* by node: the first that is later; NONE */
    uint32_t way_end;                  /* the last inside on the longest way; NONE: there is none */
    bool closing;                      /* all of the share is computed, wherever it is */
    /* to come back to */
    struct twins kept; /* its state (twins_copy_state()) */
    size_t kept_inside;
    uint32_t kept_way_end;
};

struct twin_window *twin_window_new(const struct problem *p);
void twin_window_free(struct twin_window *window);

/* From here on only what starts in this stretch is searched, until the twins are loaded or copied anew. */
void twin_window_share(struct twins *w, struct twin_window *window, double from, double to);
/* Of the share what starts in this stretch, with its longest way as the makespan. */
void twin_window_open(struct twins *w, double from, double to);
/* The times of all of the share again. */
void twin_window_close(struct twins *w);
/* The longest way through the share, and how many twins it has. */
double twin_window_longest(const struct twins *w, size_t *twins);

/* While a window is open: what stands there now, and back to it. */
void twin_window_keep(struct twins *w);
void twin_window_return(struct twins *w);

/* The last on the node that is not later. NONE: there is none. */
uint32_t twin_window_last(const struct twins *w, uint32_t node);

/* ---- for twins.c ---- */

/* Must it wait until the window closes? */
static inline bool twin_window_holds(const struct twins *w, const struct twin *x)
{
    return x->era != TWIN_INSIDE && (x->foreign || !w->window->closing);
}

void twin_window_defer_forward(struct twins *w, uint32_t twin);
void twin_window_defer_backward(struct twins *w, uint32_t twin);
/* The longest way through what is inside, and where it ends. */
double twin_window_inside(struct twins *w);
