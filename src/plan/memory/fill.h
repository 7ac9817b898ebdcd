/* Fill a schedule that keeps to memory: which task is next, and on which node. */
#pragma once
#include "plan/memory/keep.h"

enum fill_choice {
    FILL_EARLIEST, /* where the task ends first */
    FILL_RESERVE,  /* so too, but some node keeps room for the largest task to come */
    FILL_ROOMIEST, /* where the most memory is free */
    FILL_IN_TURN,  /* node after node by falling memory, never back: DagHetMem */
};

struct fill {
    const double
        *key; /* per task: of the ready ones the least is next; ties: first to become ready */
    enum fill_choice choice;
    bool strict; /* in the order of the keys alone: a task that does not fit is not passed over */
    const uint32_t *node; /* per task: where it must run, NONE: anywhere; NULL: all anywhere */
    bool prefer;          /* `node` is a wish: anywhere else when it does not fit there */
    bool sticky;          /* so too, and also when it ends sooner elsewhere */
    double longest;       /* given up, as if nothing fitted, when it ends later; 0: never */
    /* What has begun, producers before consumers: stays where and when it is. The others begin at `now` at the soonest. */
    const struct placement *begun;
    uint32_t nbegun;
    double now;
};

/* The schedule must be empty. False: it came to a point where nothing fits, and *stuck is the first that
 * does not. */
bool fill_schedule(struct keep_schedule *k, const struct fill *f, uint32_t *stuck);
/* The same with the smallest end of the ready tasks first (MinMin). */
bool fill_smallest_end(struct keep_schedule *k, uint32_t *stuck);
