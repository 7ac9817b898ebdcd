/* A workflow: a DAG of tasks and data objects, frozen into arrays.
 *
 * An object has a size, at most one producer and any number of consumers. An edge is (producer,
 * object, consumer); a pure ordering edge carries no object. Everything is indexed by small
 * integers and stored column by column:
 *
 *     succ_off[t] .. succ_off[t+1]   the edges out of task t, sorted by (object, consumer),
 * ordering edges last succ_task[e], succ_object[e]        consumer, object (NONE: ordering)
 *     pred_off[t] .. pred_off[t+1]   the edges into t, sorted by (producer, object)
 *         pred_task[e], pred_object[e]        producer, object (NONE: ordering)
 *     object_off[t] .. object_off[t+1]        the objects that t produces (also those nobody
 * consumes) input_off[t] .. input_off[t+1]          objects without a producer that t reads:
 * input_object[]
 *
 * Objects are numbered by producer; those without a producer (the workflow's inputs) come last. Two
 * tasks may be joined by several edges (several objects); `npairs` counts joined pairs once. The
 * fields are read-only outside workflow.c and builder.c. Cost: about 60 bytes a task with its name,
 * 36 bytes an edge that has an object of its own. */
#pragma once
#include "base/error.h"
#include "base/pool.h"
#include <stdint.h>

#define NONE UINT32_MAX

enum task_flag {
    TASK_NOT_REPLICABLE = 1, /* replicas may not process different items of a stream */
    TASK_CALL = 2,           /* the command is `call: lib.so:function`, not a command line */
    TASK_HAS_WORK = 4,  /* the file stated a work (0 counts); without it and with times, unlisted
                           nodes cannot run it */
    TASK_DONE = 8,      /* the file says it is already done (Snakemake dashed, DAGMan DONE) */
    TASK_IN_PLACE = 16, /* `sandbox: false`: runs in the workflow's folder itself */
};

enum object_flag {
    OBJECT_TEMPORARY = 1, /* may be deleted once its last consumer is done */
};

/* A time of its own on one node (unrelated machines). */
struct node_time {
    str_id node; /* the node's name, in the workflow's pool */
    double seconds;
};

struct workflow {
    struct pool text; /* every name and command */
    str_id name, file, format;

    uint32_t ntasks, nobjects, nedges, npairs,
        ninputs; /* ninputs: (input object, consumer) pairs */

    /* tasks */
    double *work;   /* operations; seconds at speed 1 */
    double *memory; /* bytes while it runs */
    uint32_t *cores;
    str_id *task_name, *kind;
    uint8_t *flags;
    /* columns that are NULL when no task has one */
    uint32_t *line;   /* where the task stands in its file; 0 unknown */
    str_id *command;  /* 0: none */
    double *deadline; /* seconds from the start; INFINITY: none */
    double *priority; /* larger is more urgent; 0: none */
    double *timeout;  /* seconds; INFINITY: none */
    uint32_t *retries;
    uint32_t *time_off; /* ntasks + 1: the task's own times, time[] */
    struct node_time *time;
    uint32_t *more_off;  /* ntasks + 1: memory for the attempts after the first, more_memory[] */
    double *more_memory; /* `memory: [2G, 4G, 8G]`: 4G, 8G */

    /* what `{in}` and `{out}` stand for, in the order of the file; NULL when no task has a command.
     * The inputs of t, from tasks or not: in_object[in_off[t] .. in_off[t+1]]; its outputs:
     * out_object[object_off[t] .. object_off[t+1]] */
    uint32_t *in_off, *in_object, *out_object;

    /* edges */
    uint32_t *succ_off, *succ_task, *succ_object;
    uint32_t *pred_off, *pred_task, *pred_object;
    uint32_t *object_off;
    uint32_t *input_off, *input_object; /* NULL when there are no inputs */

    /* objects */
    double *size; /* bytes; 0 when unknown */
    uint32_t *producer;
    str_id *object_name;   /* 0: anonymous, see workflow_object_label() */
    uint8_t *object_flags; /* enum object_flag; NULL: none has any */
    uint32_t *object_edge; /* first edge that carries it in succ_*; for inputs: in input_task[];
                              NONE: no consumer */
    uint32_t *input_task;  /* consumers of input objects, grouped by object; NULL when none */

    uint32_t *topo; /* every task once, producers before consumers: sources by index, then in the
                       order in which Kahn's queue frees them */

    struct name_index task_index, object_index;

    str_id *parameter_name, *parameter_value; /* {sigma} in commands */
    uint32_t nparameters;

    str_id *assertion;        /* constraints on its schedule (docs/constraints.md), a text each */
    uint32_t *assertion_line; /* where the text stands in the file; 0 unknown */
    uint32_t nassertions;

    char **warnings;
    uint32_t nwarnings;
};

void workflow_free(struct workflow *w); /* NULL is fine */

/* Its name for people: its own, else the stem of its file. Belongs to the workflow or stands in the
 * buffer. */
const char *workflow_display_name(const struct workflow *w, char *buffer, size_t size);

static inline const char *workflow_text(const struct workflow *w, str_id id)
{
    return pool_text(&w->text, id);
}
static inline const char *workflow_task_name(const struct workflow *w, uint32_t task)
{
    return pool_text(&w->text, w->task_name[task]);
}

/* Made by a task and read by another? */
static inline bool workflow_is_intermediate(const struct workflow *w, uint32_t object)
{
    return w->producer[object] != NONE && w->object_edge[object] != NONE;
}
static inline bool workflow_is_temporary(const struct workflow *w, uint32_t object)
{
    return w->object_flags && (w->object_flags[object] & OBJECT_TEMPORARY);
}

uint32_t workflow_find_task(const struct workflow *w, const char *name); /* NONE: no such task */
/* By name; anonymous objects are found by their label. */
uint32_t workflow_find_object(const struct workflow *w, const char *name);

/* The object's name, or for an anonymous one "producer->consumer", written into `buffer` when
 * needed. */
const char *workflow_object_label(const struct workflow *w, uint32_t object, char *buffer,
                                  size_t size);

/* The consumers of an object: a contiguous run. */
const uint32_t *workflow_consumers(const struct workflow *w, uint32_t object, uint32_t *count);

/* Give every task a priority (an array of ntasks, copied), in place of those it has. NULL: none. */
void workflow_set_priorities(struct workflow *w, const double *priority);

/* Give tasks a work and a memory that nobody stated (a prediction): arrays of ntasks, copied; NAN:
 * leave that of this task as it is. TASK_HAS_WORK stays unset. `memory` may be NULL. */
void workflow_set_work(struct workflow *w, const double *work, const double *memory);

/* Bytes of memory the workflow occupies (names included). */
size_t workflow_bytes(const struct workflow *w);

/* The same graph in everything a format can carry: names, work, memory, cores, commands, objects,
 * edges. On a difference, says which in `why`. */
bool workflow_equal(const struct workflow *a, const struct workflow *b, struct error *why);
