/* Things of a node that tasks hold while they run: GPUs, licences. A node has so much of each sort
 * (`resources: { gpu: [0, 1], licence: 4 }`), a task asks for so much (`resources: { gpu: 0.5 }`).
 *
 *     with ids      each is a thing of its own, handed out by id. A task gets whole ones, or a part of
 *                   one: a part never spans two, and what holds a part stays where it is until it ends
 *     without ids   an amount: tasks take any number from it, 2.5 of 10, too
 *
 * A count of `gpu` is as many ids, 0 1 2 ...: without one nobody could tell a program which to use.
 *
 * Amounts are whole numbers of ten-thousandths, so that sums are exact. Ids of one sort on one node are
 * at most THING_IDS: a set of them is a mask. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"
#include <stdint.h>

enum {
    THING_ONE = 10000,   /* one whole thing */
    THING_MOST = 100000, /* things of one sort */
    THING_SORTS = 16,    /* in one workflow */
    THING_IDS = 64,      /* of one sort on one node */
    THING_LISTED = 32,   /* sorts on one node */
};

/* ---- what a node has, as text ---- */

struct thing_sort {
    char *name;
    uint32_t amount;   /* in ten-thousandths */
    ARRAY(char *) ids; /* none: they have none */
};

struct thing_list {
    ARRAY(struct thing_sort) sorts; /* by name */
};

/* "gpu=0,1 licence=4", "gpu=[0],licence=4", "" and NULL: nothing. One number is a count, several words
 * or brackets are ids. ERROR_INPUT names what is wrong; `out` is to be freed either way. */
bool thing_list_read(const char *text, struct thing_list *out, struct error *err);
void thing_list_free(struct thing_list *l);
/* The same for all that mean the same: "gpu=[0,1],licence=4". Appended. */
void thing_list_text(const struct thing_list *l, struct strbuf *out);
const struct thing_sort *thing_list_find(const struct thing_list *l, const char *name);

/* A name of things: letters, digits and _, a letter first. NULL: it is one; else what is wrong. */
const char *thing_name_fault(const char *name, size_t length);
/* 0.5, 2, 1e3 as ten-thousandths. False: finer than that, negative, or more than THING_MOST. */
bool thing_amount(double x, uint32_t *amount);
void thing_amount_text(uint32_t amount, struct strbuf *out); /* "0.5", "2" */
/* WEFT_GPU: the variable that tells a task its ids. */
void thing_variable(const char *name, struct strbuf *out);

/* ---- who holds what ---- */

struct thing_stock {
    uint32_t amount, free; /* free: without ids */
    bool named;
    uint64_t ids, untouched; /* with ids: all; those of which nobody holds anything */
    uint32_t *room;          /* with ids: what is left of each */
};

struct thing_hold {
    uint64_t owner;
    uint32_t thing, amount;
    uint64_t ids; /* with ids */
};

struct things {
    struct thing_stock *stock;
    uint32_t n;
    ARRAY(struct thing_hold) holds; /* of all owners, in no order: as many as tasks that run */
};

/* `n` sorts; named[i] says whether those of sort i have ids: amount[i] is then a whole number of them. */
struct things *things_new(const uint32_t *amount, uint32_t named, uint32_t n);
void things_free(struct things *t); /* NULL is fine */

/* Could a node with so much ever meet the demand? O(1). */
static inline bool thing_fits(uint32_t amount, bool named, uint32_t demand)
{
    return demand <= amount && (!named || demand < THING_ONE || demand % THING_ONE == 0);
}
/* Demands are rows of t->n amounts. Is all of it there now? O(sorts, ids where parts are asked for). */
bool things_can_take(const struct things *t, const uint32_t *demand);
/* Take it for this owner, who holds nothing. A part comes from the id that has least room for it, then
 * from the first that nobody has touched; whole ones are the first untouched. False: not all is there,
 * and nothing was taken. */
bool things_take(struct things *t, uint64_t owner, const uint32_t *demand);
/* The same with the ids that somebody chose: ids[i], 0: as things_take() would. */
bool things_take_ids(struct things *t, uint64_t owner, const uint32_t *demand, const uint64_t *ids);
void things_give(struct things *t, uint64_t owner); /* all that it holds. O(holds) */
uint64_t things_held(const struct things *t, uint64_t owner, uint32_t thing); /* ids; 0: none */
/* So much of a sort is there from now on, if nobody holds any of it. */
void things_set(struct things *t, uint32_t thing, uint32_t amount, bool named);
/* Sorts of which nothing is left: a mask. */
uint32_t things_exhausted(const struct things *t);
