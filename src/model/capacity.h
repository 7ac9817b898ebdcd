/* What a node has and what a task asks for: cores, memory, attributes, things. A task runs only where
 * all of it fits; nothing is ever cut down to what is there.
 *
 * Attributes ("avx512", "ssd") are words. A workflow numbers those that its tasks ask for
 * (workflow.h), and a set of them is a mask over these numbers: what nobody asks for has none. So with
 * things that tasks hold (things.h): `thing` has the amounts of those that some task asks for. */
#pragma once
#include "base/error.h"
#include "model/things.h"
#include "model/workflow.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capacity {
    uint32_t cores; /* 0: it takes nothing (more) */
    double memory;  /* bytes; INFINITY: no limit */
    uint64_t has;   /* attributes: a mask over the workflow's */
    /* a demand: which it asks for; a node: which have ids. Masks over the workflow's resources */
    uint32_t things;
    uint32_t thing[THING_SORTS]; /* amounts, in ten-thousandths */
    /* A node that goes at a known time: when, on the clock of whoever compares; 0: it stays. A demand: how
     * long it takes, in seconds; 0: nobody knows. Not looked at by capacity_fits(), which knows no clock */
    double ends, seconds;
};

/* Are there ever as many things as it asks for? */
bool capacity_holds(const struct capacity *there, const struct capacity *demand);
/* Does a task that asks for `demand` fit there? */
static inline bool capacity_fits(const struct capacity *there, const struct capacity *demand)
{
    return demand->cores <= there->cores && demand->memory <= there->memory &&
           !(demand->has & ~there->has) && (!demand->things || capacity_holds(there, demand));
}

/* The things of a node that tasks of this workflow ask for, into its capacity: "gpu=[0,1],licence=4". A
 * text that is none has nothing. */
void capacity_set_things(struct capacity *c, const struct workflow *w, const char *text);

/* What a task asks for, in its first attempt. */
struct capacity capacity_demand(const struct workflow *w, uint32_t task);
/* Each as small as the smaller, and as large as the larger, of the two. */
struct capacity capacity_least(const struct capacity *a, const struct capacity *b);
struct capacity capacity_most(const struct capacity *a, const struct capacity *b);

/* The tasks of a workflow that fit nowhere, for those who refuse to begin. */
struct capacity_misfits {
    uint32_t count, first; /* tasks; NONE: none */
    struct capacity asks;  /* the first, on each node that it spans */
    uint32_t span, room;   /* the first: nodes that it spans, nodes that have room for it */
    uint32_t widest;       /* of all: most nodes that one spans */
};
/* Of the tasks `from` and on. Those with runs[t] zero (NULL: none), or no command, take nothing and fit
 * everywhere. O(tasks) when all fit the smallest node, else up to O(tasks x nodes). A node stands once
 * for each that there is: a task may span several. */
struct capacity_misfits capacity_find_misfits(const struct workflow *w, uint32_t from,
                                              const uint8_t *runs, const struct capacity *nodes,
                                              size_t n);

/* The words of a refusal. */
struct capacity_words {
    const char *where;          /* "this run", "the agents": who has too little */
    const char *before, *after; /* of the option that would help: "run with", "" */
    const char
        *nodes; /* what to do for more nodes: "start more agents"; NULL: there is one alone */
    /* before a number of cores, of bytes, a list of attributes, "gpu=1" */
    const char *cores, *memory, *has, *things; /* [-j , -m , --has , --resources ] */
};
/* ERROR_INFEASIBLE: which task asks for what, what the largest node has, and what to do about it.
 * Always false. */
bool capacity_refuse(const struct workflow *w, const struct capacity_misfits *misfits,
                     const struct capacity *nodes, size_t n, const struct capacity_words *words,
                     struct error *err);
/* "4 cores and 2G of memory": what is unusual of a demand. */
const char *capacity_text(const struct workflow *w, const struct capacity *asks, char *out,
                          size_t size);
