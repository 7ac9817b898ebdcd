/* An experiment: a workflow, what is replaced in it, and in which combinations.
 *
 * formats reads one from a file, the room `experiment` merges its combinations into one workflow.
 * All texts are copies that the experiment owns; experiment_free() frees the lot. */
#pragma once
#include "base/array.h"
#include "base/digest.h"
#include <stdbool.h>
#include <stdint.h>

enum substitution_target { SUBSTITUTE_DATA, SUBSTITUTE_TASK, SUBSTITUTE_PARAMETER };

/* What a task does instead. Only what is stated replaces; the rest stays as the workflow has it. */
struct task_change {
    char *command;                                /* NULL: not stated */
    bool is_call;                                 /* the command is `call: lib.so:function` */
    char *kind;                                   /* NULL: not stated */
    double work, memory, cores, timeout, retries; /* NAN: not stated */
    bool has_inputs;                              /* it reads `input` instead */
    ARRAY(char *) input;
};

/* One of the things that may stand at a substitution's place. */
struct alternative {
    char
        *label; /* unique in its substitution; letters, digits and ._+-% only: part of file names */
    char *text; /* data: the file or object; parameter: the value; task: NULL */
    struct task_change change; /* tasks */
    uint32_t line;
};

struct substitution {
    char *name; /* unique; letters, digits, _ and - */
    enum substitution_target target;
    char *what; /* the data object, task or parameter that is replaced */
    uint32_t line;
    /* Of a parameter that stands in names, settings or lists, and of lists: its value is given when the
     * workflow is read, and with another value it is another graph. */
    bool with_file;
    ARRAY(struct alternative) by; /* at least one */
};

enum combination_choice { COMBINE_ALL, COMBINE_LISTED, COMBINE_SAMPLE };

#define CHOICE_ORIGINAL UINT32_MAX /* what the workflow itself has stays */

/* A constraint on the schedule of all combinations together (docs/constraints.md). */
struct experiment_assertion {
    char *text;
    uint32_t line; /* in the experiment's file; 0: it came from outside */
};

struct experiment {
    char *file;     /* for messages */
    char *name;     /* "": none stated */
    char *workflow; /* the workflow's file as seen from here */
    char *results;  /* folder of what the merged workflow makes, without a slash at its end */
    ARRAY(struct substitution) substitutions;
    enum combination_choice combine;
    ARRAY(uint32_t)
    listed; /* a row a combination: the number of the alternative, per substitution */
    uint64_t sample, seed;
    ARRAY(struct experiment_assertion) assertions; /* beside those of the workflow */
};

void experiment_init(struct experiment *x);
/* One more; takes a copy. */
void experiment_assert(struct experiment *x, const char *text, size_t length, uint32_t line);
void experiment_free(struct experiment *x); /* what it owns; not the struct */

/* "Is the result of this computation there already?": what has been run answers, cli passes it in.
 * `task` is its number in the merged workflow, `key` names the computation. `done` NULL: nothing
 * is.
 */
struct known_results {
    bool (*done)(void *context, uint32_t task, const struct digest *key);
    void *context;
};
