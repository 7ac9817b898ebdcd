/* The things of this machine (model/things.h) in the hands of tasks: which ids a task may use, and the
 * variables that tell it. One for all runs of a process that share the machine, and all of its calls on
 * one thread.
 *
 * Whoever takes and gives in the same order as a scheduler counts finds what that one counted: ids are
 * handed out by one rule. */
#pragma once
#include "base/array.h"
#include "model/things.h"
#include "model/workflow.h"
#include <stdbool.h>
#include <stdint.h>

struct holding;

/* "gpu=[0,1],licence=4"; NULL and what is no such text: there is nothing. */
struct holding *holding_new(const char *resources);
void holding_free(struct holding *h); /* NULL is fine */
/* A number for one run: the upper half of its owners' numbers. */
uint64_t holding_run(struct holding *h);

/* Is all that the task asks for there now? */
bool holding_has(const struct holding *h, const struct workflow *w, uint32_t task);
/* Take it. False: it is not there, and nothing was taken. */
bool holding_take(struct holding *h, const struct workflow *w, uint32_t task, uint64_t owner);
void holding_give(struct holding *h, uint64_t owner);
void holding_give_run(struct holding *h, uint64_t run); /* all that owners of this run hold */
/* Does anybody hold anything? */
bool holding_is_used(const struct holding *h);
/* The things that a task asks for: a mask over those of the machine. */
uint64_t holding_wanted(const struct holding *h, const struct workflow *w, uint32_t task);

/* What the owner's task finds in its environment: "WEFT_GPU=0,1", "CUDA_VISIBLE_DEVICES=0,1"; ends with
 * NULL. The caller's. NULL: it holds nothing with ids. */
char **holding_variables(const struct holding *h, const struct workflow *w, uint32_t task,
                         uint64_t owner);
void holding_free_variables(char **variables); /* NULL is fine */
