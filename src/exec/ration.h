/* Memory that functions and their objects keep to: tasks are admitted in a given order, each when what it takes is free.
 *
 *     order   a  b  c  d  e  f ...          admitted: what it takes is booked, it runs when what it reads is there
 *             └──┴──┴──┘  ▲
 *             in any order the next: when its outputs, its scratch memory, and what it reads and was
 *                         put out fit; when nothing is under way, objects that are read last are put
 *                         out to files until they do
 *
 * Whatever the threads do, booked bytes stay within the limit, and the run always ends: when nothing
 * is under way, memory holds no more than it would if one thread had followed the order (Eyraud-Dubois,
 * Marchal, Sinnen and Vivien 2015, for trees), and whatever is too much of that can be put out.
 *
 * A crew asks ration_next(); a scheduler, which has ready tasks at hand, ration_lets(). From any thread, all of it. */
#pragma once
#include "base/error.h"
#include "model/workflow.h"

struct ration;
struct data;

struct ration_figures {
    double peak;    /* most bytes booked at once */
    double evicted; /* bytes written to files */
    uint32_t files;
};

/* Bytes of objects as the workflow states them; those that a program lent count nothing. What is pointed to must stay. */
struct ration_config {
    const struct workflow *workflow;
    struct data *data;
    double limit;
    const uint32_t *order; /* all tasks, each after those that it waits for */
    const char *folder;    /* for files of objects that were put out */
    const uint8_t *called; /* by task: a function is called, which takes memory; NULL: of each */
};

/* NULL: a task takes more than the limit all alone. */
struct ration *ration_new(const struct ration_config *config, struct error *err);
void ration_free(struct ration *r); /* NULL is fine */

/* A task that may run as soon as what it waits for has ended; NONE: no other at the moment. */
uint32_t ration_next(struct ration *r);
/* May it run now? Admits others before it where that is so. Tasks that joined later take nothing. */
bool ration_lets(struct ration *r, uint32_t task);
/* Between the two it is not lost: a function cannot be taken off its data. Need not be told of those that are not cancelled. */
void ration_begun(struct ration *r, uint32_t task);
void ration_returned(struct ration *r, uint32_t task);
/* It ended well, and its inputs have one reader less. `made`: its outputs are there. Once is enough. */
void ration_ended(struct ration *r, uint32_t task, bool made);
/* It will not end well: what it would have made does not come, what it would have read stays. */
void ration_lost(struct ration *r, uint32_t task);
/* No task will be admitted any more: NULL, or the object that could not be written. */
bool ration_trouble(struct ration *r);
void ration_figures(struct ration *r, struct ration_figures *out);
/* The most that one thread would take in this order with nothing put out. */
double ration_sequential(const struct ration *r);
