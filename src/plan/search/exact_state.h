/* The state of the exact search: a partial schedule that grows and shrinks at its end. Private to
 * exact*.c; exact.h says what is searched and why. */
#pragma once
#include "base/array.h"
#include "plan/search/problem.h"

struct exact_child {
    uint32_t task, node, core; /* core: first, in the list of all cores */
    double start, finish, bound;
};

struct exact_frame {
    size_t begin, next, end;  /* its children */
    struct exact_child entry; /* what made it */
    size_t log;               /* first entry of state->log of that placement */
};

struct exact_core {
    double available;
    uint32_t last;
};

struct exact_state {
    const struct problem *problem;

    /* fixed */
    uint32_t *node_class; /* nodes that may change names */
    uint32_t *twin;       /* the interchangeable task before this one; NONE */
    uint64_t *not_after;  /* per task a: the tasks b that need not be tried right behind a on its
                             core; see exact.h */
    uint32_t *by_tail;    /* tasks, longest tail first */
    double *reach;        /* per task: longest transfer to any consumer on any node */

    /* the partial schedule */
    uint32_t depth;
    uint64_t done;
    uint32_t *placed;  /* tasks in the order they were added */
    uint32_t *waiting; /* per task: producers not yet placed */
    uint32_t *node, *core;
    double *start, *finish;
    double *available;        /* per core */
    uint32_t *last;           /* per core: its last task; NONE */
    uint32_t *tasks_on;       /* per node */
    uint32_t *representative; /* per node: itself, or the first empty node of its class when it is
                                 empty too */
    double *ready; /* n x m: when a task with all its producers placed has its data on a node */
    double *bound; /* per depth */
    struct exact_frame *frames;
    ARRAY(struct exact_child) children;
    ARRAY(struct exact_core) log; /* what the cores were */

    /* scratch of the bound */
    double *early;       /* n x m: earliest finish there */
    double *early_least; /* per task */
    double *open;        /* per node: first time anything more can start there */
    double *base;        /* per core */

    /* states met before: pairs of words, 0 0 is free */
    uint64_t *table;
    size_t table_slots, table_used;
};

struct exact_state *exact_state_new(const struct problem *p, double root_bound);
void exact_state_free(struct exact_state *s);
void exact_state_push(struct exact_state *s, const struct exact_child *child);
void exact_state_pop(struct exact_state *s);
/* May this be added after the last one? */
bool exact_in_order(const struct exact_state *s, const struct exact_child *child);
/* Lower bound on every completion; raises bound[depth]. May stop as soon as it reaches `cut`. */
double exact_state_bound(struct exact_state *s, double cut);
/* Was no such state met before? Remembers it. */
bool exact_state_is_new(struct exact_state *s);
