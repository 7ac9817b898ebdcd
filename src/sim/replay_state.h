/* The inside of a replay, shared by replay.c (what happens), replay_prepare.c (before), replay_account.c (after)
 * and replay_ahead.c (what will be touched soon). */
#pragma once
#include "sim/demand.h"
#include "sim/engine.h"
#include "sim/lane.h"
#include "sim/network.h"
#include "sim/replay.h"
#include "sim/replay_files.h"
#include "sim/replay_things.h"

enum replay_event {
    EVENT_DONE,
    EVENT_FAIL,
    EVENT_FAIL_AGAIN,
    EVENT_REPAIR,
    EVENT_WAITED,
    EVENT_START, /* where files count: the planned start of a task that was ready before */
    EVENT_SEND,  /* the same of a transfer, or the end of a hold */
    EVENT_CHANGE,
};

struct replay {
    const struct workflow *workflow;
    const struct platform *platform;
    const struct plan *plan; /* static */
    struct plan *own_plan;   /* when the given one is a partition */
    const struct replay_options *options;
    struct replay_result *result;
    struct trace_sink *trace;

    struct engine engine;
    struct network *network;
    struct lanes lanes;
    struct demands demands;

    double *duration;       /* per placement */
    uint32_t *core_missing; /* per placement: cores on which someone stands before it */
    uint32_t *
        cause; /* per placement: which one let it start, | 1 << 31 when by its data; NONE: nobody */
    uint64_t *is_running;       /* bit per placement */
    uint64_t *task_done;        /* bit per task: a copy is done (tasks with several copies only) */
    double *memory;             /* per node, of running tasks, and of files where they count */
    struct replay_files *files; /* NULL: files do not count */
    struct replay_things *things; /* NULL: no task asks for any */
    uint32_t *wait_off; /* per task, and one more: who waits for its end; NULL: nobody does */
    uint32_t *waiter;   /* tasks */
    uint32_t timed;     /* waits for a time that has not come */
    uint32_t left, running;

    /* changes of nodes; NULL without */
    double *speed;   /* per node: as it is now */
    double *limit;   /* per node: its memory now */
    uint32_t *turns; /* per placement: how often its end was put elsewhere */
    double *hold;    /* per demand: it does not leave before; NULL: nobody holds anything */

    /* faults; NULL without */
    uint64_t *down; /* bit per node */
    double *back;   /* per node: when it is up again */
    uint32_t *losses;
    uint32_t repairs;           /* nodes that will come back */
    ARRAY(uint32_t) postponed;  /* demands that wait for a node that is down */
    ARRAY(uint32_t) impossible; /* demands between nodes that cannot talk */
};

bool replay_prepare(struct replay *r, const struct workflow *w, const struct platform *p,
                    const struct plan *plan, const struct replay_options *options,
                    struct replay_result *result, struct error *err);
void replay_release(struct replay *r);
/* Asks for what will be touched soon, when so many placements are done; in steps of a line of doubles. */
enum { REPLAY_STRIDE = 8 };
void replay_look_ahead(const struct replay *r, uint32_t done);
/* Fill what the run itself did not count. `complete`: every task ran. */
void replay_account(struct replay *r, bool complete);
/* Always false: says which tasks wait for what. */
bool replay_explain_standstill(struct replay *r, struct error *err);
