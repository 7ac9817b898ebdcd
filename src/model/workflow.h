/* A workflow: a DAG of tasks and data objects, frozen into arrays.
 *
 * An object has a size, at most one producer and any number of consumers. An edge is (producer,
 * object, consumer); a pure ordering edge carries no object. Everything is indexed by small integers
 * and stored column by column. Lists that belong to a task stand one after the other in one array,
 * with the places where they begin in another (CSR, compressed sparse rows):
 *
 *     succ_off    [ 0 | 2 | 3 | 3 ]            ntasks + 1 entries; task t has succ_off[t] up to,
 *                   |   '---.                  but not including, succ_off[t + 1]
 *                   v       v
 *     succ_task   [ 1 | 2 | 2 ]                the consumer of each edge
 *     succ_object [ 0 | 0 | NONE ]             what it carries; NONE: ordering only
 *
 *     list of task t    begins at     entries                      sorted by
 *     ----------------  ------------  ---------------------------  ---------------------------------
 *     edges out of it   succ_off[t]   succ_task[], succ_object[]   object, consumer; orderings last
 *     edges into it     pred_off[t]   pred_task[], pred_object[]   producer, object
 *     objects it makes  object_off[t] the numbers themselves       (also those that nobody reads);
 *                                     up to object_end[t]
 *     inputs it reads   input_off[t]  input_object[]               object; those without a producer
 *     its own times     time_off[t]   time[]
 *     further memory    more_off[t]   more_memory[]                size
 *
 * Objects are numbered by producer, so that a task's objects are a range, and so are an object's
 * edges in succ_*: object_edge[o] is the first of them. The workflow's inputs come last:
 *
 *     object   0 .. 2        3       4 .. 7        8 .. 9
 *              by task 0     task 1  task 3        nobody: inputs of the workflow
 *              ^             ^       ^             ^
 *              object_off[0] [1]     [2] = [3]     [4] = object_off[ntasks]; nobjects is 10
 *
 * A workflow that has grown (model/growth.h) has such a row for each part that joined it, one after
 * the other, inputs in between: so the end of a task's objects is an array of its own there, and
 * object_off + 1 everywhere else.
 *
 * Two tasks may be joined by several edges (several objects); `npairs` counts joined pairs once. The
 * fields are read-only outside workflow.c and builder*.c. Cost: about 60 bytes a task with its name,
 * 36 bytes an edge that has an object of its own. */
#pragma once
#include "base/error.h"
#include "base/pool.h"
#include "model/column_list.h"
#include "model/things.h"
#include <stdint.h>

#define NONE UINT32_MAX

enum task_flag {
    TASK_NOT_REPLICABLE = 1, /* replicas may not process different items of a stream */
    TASK_CALL = 2,           /* the command is `call: lib.so:function`, not a command line */
    TASK_HAS_WORK = 4,  /* the file stated a work (0 counts); without it and with times, unlisted
                           nodes cannot run it */
    TASK_DONE = 8,      /* the file says it is already done (Snakemake dashed, DAGMan DONE) */
    TASK_IN_PLACE = 16, /* `sandbox: false`: runs in the workflow's folder itself */
    TASK_MAY_FAIL = 32, /* the run goes on without its outputs */
    TASK_KEEP = 64,     /* the sandbox of an attempt that failed is the next one's */
    TASK_KEEPS_RESULTS =
        128,                /* its outputs are kept by content, and restored instead of computed */
    TASK_KIND_STATED = 256, /* its kind is its family, or stands in the file: see task_kind.h */
    TASK_PER_ITEM = 512,    /* in a stream: its command is started for each item, with files */
};

enum object_flag {
    OBJECT_TEMPORARY = 1, /* may be deleted once its last consumer is done */
    OBJECT_GATHERED =
        2,             /* a folder that nobody makes, but tasks make files in it: who reads it reads
                             those, too; it stands for the other files there */
    OBJECT_INSIDE = 4, /* lies in a folder that its producer makes, and comes and goes with it */
    OBJECT_IN_MEMORY = 16, /* between functions of one process: has no file (exec/data.h) */
    OBJECT_READ_LATER = 8, /* a task that joined after its producer reads it (model/growth.h) */
};

/* A time of its own on one node (unrelated machines). */
struct node_time {
    str_id node; /* the node's name, in the workflow's pool */
    double seconds;
};

/* When a command of the workflow's own is run: the run is over and all is done, it is over otherwise,
 * a task has failed for good. */
enum workflow_hook { HOOK_DONE, HOOK_FAILED, HOOK_TASK_FAILED, WORKFLOW_HOOKS };
extern const char *const workflow_hook_name[WORKFLOW_HOOKS + 1]; /* "done" ..., then NULL */

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
    uint16_t *flags;
    /* columns that are NULL when no task has one */
    uint32_t *line;  /* where the task stands in its file; 0 unknown */
    str_id *command; /* 0: none */
    str_id *shell;   /* what commands run under, model/shell.h; 0: as their text says */
    /* what commands run in, model/environment.h: str_id *env, *pass ...; 0: none */
#define WORKFLOW_TEXT(name) str_id *name;
    TASK_TEXTS(WORKFLOW_TEXT)
#undef WORKFLOW_TEXT
    str_id *when;     /* a condition (model/condition.h) on its being run; 0: none */
    str_id *retry_on; /* which failures are tried again (model/retry.h); 0: all */
    /* The optional numbers of column_list.h: double *timeout, *deadline (seconds; INFINITY: none),
     * *priority (larger is more urgent; 0: none), uint32_t *retries ... */
#define WORKFLOW_FIELD(name, ctype, ...) ctype *name;
    TASK_COLUMNS(COLUMN_SKIP, WORKFLOW_FIELD, COLUMN_SKIP)
#undef WORKFLOW_FIELD
    uint64_t
        *needs;     /* attributes of a node that it needs: a mask over attribute[]; NULL: no task */
    uint32_t *asks; /* what it holds of its node: a row of amount[], 0: nothing; NULL: no task */
    uint32_t *amount; /* nasks rows of THING_SORTS (model/things.h), the first all 0 */
    double
        *not_before; /* seconds of the run before which it does not start: a plan's (model/guide.h),
                           never the file's; NULL: no task */
    uint32_t *time_off; /* ntasks + 1: the task's own times, time[] */
    struct node_time *time;
    uint32_t *more_off;  /* ntasks + 1: memory for the attempts after the first, more_memory[] */
    double *more_memory; /* `memory: [2G, 4G, 8G]`: 4G, 8G */

    /* what `{in}` and `{out}` stand for, in the order of the file; NULL when no task has a command.
     * The inputs of t, from tasks or not: in_object[in_off[t] .. in_off[t+1]]; its outputs:
     * out_object[object_off[t] .. object_end[t]] */
    uint32_t *in_off, *in_object, *out_object;
    uint8_t *in_optional; /* beside in_object: it can do without; NULL: no task can */

    /* edges */
    uint32_t *succ_off, *succ_task, *succ_object;
    uint32_t *pred_off, *pred_task, *pred_object;
    uint32_t *object_off, *object_end;  /* object_end: object_off + 1, unless it has grown */
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

    str_id *attribute; /* words that tasks need of a node (model/capacity.h), at most 64 */
    uint32_t nattributes;

    uint32_t nresources;
    str_id *resource; /* sorts of things that tasks ask for, by name; at most THING_SORTS */
    uint32_t nasks;   /* different demands for them, the empty one among them; 0: no task asks */

    str_id *assertion;        /* constraints on its schedule (docs/constraints.md), a text each */
    uint32_t *assertion_line; /* where the text stands in the file; 0 unknown */
    uint32_t nassertions;

    str_id hook[WORKFLOW_HOOKS]; /* commands that a run runs beside its tasks; 0: none */

    struct growth *growth; /* NULL: it is as its builder left it (model/growth.h) */
    struct future *future; /* what it will become while it runs; NULL: all of it is known */
    struct joins *joins;   /* tasks that in a run are not there at first; NULL: none */

    char **warnings;
    uint32_t nwarnings;

    bool outside; /* its reader looked at more than the text of its file: an image of it would not
                     know when that changes */
};

void workflow_free(struct workflow *w); /* NULL is fine */

/* Its name for people: its own, else the stem of its file. Belongs to the workflow or stands in the
 * buffer. */
const char *workflow_display_name(const struct workflow *w, char *buffer, size_t size);

static inline const char *workflow_text(const struct workflow *w, str_id id)
{
    return pool_text(&w->text, id);
}
/* Nodes that it spans. */
static inline uint32_t workflow_span(const struct workflow *w, uint32_t task)
{
    return w->nodes ? w->nodes[task] : 1;
}
/* The first that spans several nodes; NONE: none does. O(tasks), O(1) when none says so. */
uint32_t workflow_first_wide(const struct workflow *w);
static inline const char *workflow_task_name(const struct workflow *w, uint32_t task)
{
    return pool_text(&w->text, w->task_name[task]);
}

/* Made by a task and read by another? */
static inline bool workflow_is_intermediate(const struct workflow *w, uint32_t object)
{
    return w->producer[object] != NONE &&
           (w->object_edge[object] != NONE ||
            (w->object_flags && w->object_flags[object] & OBJECT_READ_LATER));
}
static inline bool workflow_object_is(const struct workflow *w, uint32_t object,
                                      enum object_flag flag)
{
    return w->object_flags && (w->object_flags[object] & flag);
}
static inline bool workflow_is_temporary(const struct workflow *w, uint32_t object)
{
    return w->object_flags && (w->object_flags[object] & OBJECT_TEMPORARY);
}

/* Can tasks of it end without their outputs: is there a `when`, a `may_fail` or an input that may be
 * missing? O(tasks), once a run. */
bool workflow_decides(const struct workflow *w);

/* The condition of a task for people to read, its files by their names; appended. */
struct strbuf;
void workflow_when_text(const struct workflow *w, uint32_t task, struct strbuf *out);

/* The attributes of a list, "avx512,ssd" (blanks may stand beside commas; NULL: none), that some task
 * needs: a mask over attribute[]. Others are of no interest to this workflow. */
uint64_t workflow_attribute_mask(const struct workflow *w, const char *list);
/* What a task needs of its node as such a list, appended. */
struct strbuf;
void workflow_needs_text(const struct workflow *w, uint32_t task, struct strbuf *out);

/* What it asks for of each resource, THING_SORTS numbers; NULL: nothing. */
static inline const uint32_t *workflow_demand(const struct workflow *w, uint32_t task)
{
    return w->asks && w->asks[task] ? w->amount + (size_t)w->asks[task] * THING_SORTS : NULL;
}
/* The same as text, "gpu=0.5,licence=2", appended. */
void workflow_resources_text(const struct workflow *w, uint32_t task, struct strbuf *out);
uint32_t workflow_find_resource(const struct workflow *w, const char *name); /* NONE: none asks */

/* `w` was read from the text that was written of `from`: messages name the lines of the file that somebody
 * wrote, not of that text. Returns `w`. */
struct workflow *workflow_take_lines(struct workflow *w, const struct workflow *from);

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
/* The edges by consumer anew, from those by producer (succ_*): each list is sorted by (producer, object). */
void workflow_index_predecessors(struct workflow *w);
/* Fills topo, which has room, from the edges of both directions. NULL, or what every task still waits for:
 * those that lie on a cycle or behind one wait for something. The caller frees it. */
uint32_t *workflow_sort(struct workflow *w);

/* The same workflow? Compared are all columns of tasks (column_list.h) and objects, the edges, the
 * order of inputs and outputs where commands use it, the name, parameters and constraints; not where
 * things stand in their files, nor remarks. Tasks and objects are matched by name, whatever their
 * numbers. On a difference, says which in `why`. O(n log n). */
bool workflow_equal(const struct workflow *a, const struct workflow *b, struct error *why);
