/* What happened, or would have: the events that simulation and real runs report. They write a
 * trace_sink; history, report and the page supply one and cannot tell simulated from real. */
#pragma once
#include "base/digest.h"
#include "model/trouble.h"
#include <stdbool.h>
#include <stdint.h>

enum trace_kind {
    TRACE_TASK,     /* task `id` ran on `node`, core `lane`, from start to finish */
    TRACE_TRANSFER, /* object `id` went from `node` to `other` */
    TRACE_FAULT,    /* node `node` failed at start (finish: back up, or INFINITY) */
    TRACE_COUNTER,  /* value `amount` of counter `id` on `node` at start: see enum trace_counter */
    TRACE_BEGIN,  /* an attempt of task `id` began on `node`, core `lane`; TRACE_TASK will follow */
    TRACE_REUSED, /* task `id` did not run: its result was there already */
    /* task `id` was not taken: its condition does not hold, or (`other`, not NONE) the task that makes
     * what it needs has no outputs */
    TRACE_SKIPPED,
    TRACE_GROWN, /* tasks joined: there are `id` now, and `amount` of them are new */
};

enum trace_counter {
    COUNTER_MEMORY,
    COUNTER_READY,
    COUNTER_RUNNING,
    COUNTER_CORES, /* of the agents that live */
};

/* How an attempt ended. */
enum trace_outcome {
    TRACE_DONE,
    TRACE_FAILED,      /* exit status not 0, missing output, or lost */
    TRACE_KILLED,      /* by a signal that weft did not send: `status` is 128 + its number */
    TRACE_TIMEOUT,     /* past its time limit */
    TRACE_MEMORY,      /* past its memory limit */
    TRACE_CANCELLED,   /* the user or a failed sibling ended it */
    TRACE_NOT_STARTED, /* could not be started: command not found, directory gone */
    TRACE_NODE_FAILED, /* its node failed, not the task: another takes it, and no attempt counts.
                          `status` is an enum trace_trouble */
};

/* Has an attempt that ended so failed, for the task's sake? */
static inline bool trace_is_failure(int outcome)
{
    return outcome != TRACE_DONE && outcome != TRACE_CANCELLED && outcome != TRACE_NODE_FAILED;
}

/* Real runs fill everything; the simulator leaves what it does not know at 0. Times are seconds
 * since the start of the run. */
struct trace_event {
    enum trace_kind kind;
    uint32_t id, node, other, lane, copy;
    double start, finish, amount;
    int outcome;          /* enum trace_outcome */
    int status;           /* TRACE_TASK: exit status, or 128 + signal */
    uint32_t attempt;     /* 1 is the first; 0: not known */
    double cpu;           /* seconds, user and system */
    double memory;        /* bytes at its peak */
    double read, written; /* bytes of declared inputs and outputs */
};

/* A file that a run produced or found: provenance. */
struct trace_file {
    uint32_t object, task;     /* task: its producer; NONE: an input of the workflow */
    const char *path;          /* as in the workflow */
    struct digest digest, key; /* content; the computation that produced it (zero: an input) */
    double size;
    bool produced; /* by this run; false: found as it was */
    bool restored; /* not found: put back from what was kept, so that it is another than before */
};

/* An agent of a run on several machines came or went. */
enum trace_node_change {
    TRACE_NODE_JOINED,
    TRACE_NODE_LEFT,
    TRACE_NODE_DIED,
    TRACE_NODE_ASIDE, /* its machine fails tasks: others come first, until it is BACK */
    TRACE_NODE_BACK,
};

struct trace_node {
    uint32_t node;
    enum trace_node_change change;
    double time;      /* as in events */
    const char *host; /* valid during the call */
    const char *why;  /* ASIDE: for people; else NULL */
    uint32_t cores;
    uint32_t running; /* tasks that it ran, and that others run again */
    uint32_t needed; /* tasks done there whose results others still need, and may have only there */
};

struct trace_sink {
    void (*event)(void *context, const struct trace_event *event);
    void *context;
    void (*file)(void *context, const struct trace_file *file); /* may be NULL */
    void (*node)(void *context, const struct trace_node *node); /* may be NULL */
};
