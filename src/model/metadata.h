/* Task metadata (Figure 2 of the MATRIX paper) and the operations on it: the words that `sched`
 * speaks and `store` understands.
 *
 * They stand in the hall because the two rooms have no door between them: a driver (`sim`, `run`)
 * takes the operations out of a scheduler's actions, hands them to a store as they are, and brings
 * the answers back as an event.
 *
 *     Figure 2         here                what it is
 *     ---------------  ------------------  ------------------------------------------------------
 *     status           enum meta_status    see below
 *     num_wait_parent  waiting             incoming edges whose producer is not DONE (several
 *                                          objects from one parent count each)
 *     parent_list,     from the graph      the node on which each parent ran, and the objects'
 *     data_object,                         sizes
 *     data_size
 *     history          nodes, epoch        the nodes that held the task, one after the other;
 *                                          `epoch` is how often it was taken
 *
 *                  PUT            START               COMPLETE (also from QUEUED: a holder may
 *       ABSENT ---------> QUEUED --------> RUNNING ------> DONE   report start and end at once)
 *                            ^                |
 *                            '----------------'
 *                        RETRY: the attempt failed
 *                        ADOPT: the holder died; another node has it now
 *
 *       COMPLETE may also say that a task ended without outputs, and those who need them are to see
 *       for themselves: SKIPPED, its condition does not hold or it needs what is not there; EXCUSED,
 *       it failed and may. Its children go on as after DONE.
 *       REMOVE: QUEUED or RUNNING -> FAILED or REMOVED.   HOLD: another holder, the same status.
 *       All from DONE on have ended: nothing changes them.
 *
 * Ownership is a compare-and-swap on the epoch, so that a task moved twice, a message delivered
 * twice and a node that was declared dead and comes back are all decided in one place: the store. A
 * node's `life` counts its (re)starts: what an earlier life asked for and nobody has heard of is
 * refused. Every operation but ADOPT is idempotent: applied again with the same fields it changes
 * nothing and gives the same outcome. */
#pragma once
#include "base/digest.h"
#include <stddef.h>
#include <stdint.h>

/* In the place of a node. */
#define META_NOBODY (UINT32_MAX - 1)

enum meta_status {
    META_ABSENT, /* not submitted */
    META_QUEUED, /* waiting for parents, or ready */
    META_RUNNING,
    META_DONE,
    META_FAILED,
    META_REMOVED, /* by the user, or below a task that failed or was removed */
    META_SKIPPED, /* COMPLETE: it was not taken */
    META_EXCUSED, /* COMPLETE: it failed, and may */
};

/* Has it ended so that its children go on? */
static inline int meta_is_complete(uint8_t status)
{
    return status == META_DONE || status >= META_SKIPPED;
}

enum meta_kind {
    /* submit `task` to `node` (NONE: to nobody yet); a task that is there stays as it is */
    META_PUT,
    /* `node` in `life` takes over a task that it knows at `epoch`: granted when the epoch is still
     * that */
    META_HOLD,
    META_GET,   /* look: status, waiting, holder, sizes */
    META_START, /* the holder starts attempt `attempt` at `time` */
    META_RETRY, /* the attempt failed, the holder will try again */
    /* the holder ran it from `start` to `time`; the children wait for one parent less. `status`:
     * SKIPPED, EXCUSED; anything else is DONE */
    META_COMPLETE,
    /* ended by `status` FAILED or REMOVED unless it has ended already; answers the children */
    META_REMOVE,
    /* `node` takes at most `limit` unfinished tasks from number `task` on of the dead node `other`,
     * which is fenced off: it can take no task until it joins again. node == other: its own tasks
     * after a restart. The answer's item: `holder` is `other`, `task` where to go on (NONE: that was
     * all). `bytes`: the life of `other` that is over; when it has begun another, nothing is taken
     * (0: whatever it is). A store that cannot know whether it was applied answers STALE; the node
     * then adopts itself */
    META_ADOPT,
    META_JOIN,   /* `node` starts its `life`, a larger number than before, and may take tasks */
    META_OBJECT, /* object `task` really has `bytes` bytes */
    /* object `task`, of `bytes` bytes, also stands on `node`, with this digest; `status` 0: no longer.
     * META_NOBODY: it was so, and nobody needs it any more */
    META_COPY,
    META_READ, /* everything about `task`: a meta_record */
    /* the nodes that have object `task`: `count` of `nodes` from `first` on, its producer's first;
     * the answer's `status` is its producer's (ABSENT: nobody makes it); the item has in `all_size` the
     * bytes of what the last of them has whose digest is known */
    META_WHERE,
    /* how many tasks have ended, of the whole run: the answer's item has the done in `task`, the
     * failed in `epoch`, the removed in `waiting`, the skipped in `all_size`, the excused in
     * `max_size`. While others end tasks it may be a moment old, but never counts one twice or too
     * early. `status` 1: by looking at each task from `task` on, of which only proved ends count; the
     * answer's `holder` is where to go on (NONE: that was all) */
    META_COUNT,
    /* the children of `task` that joined the workflow after it (model/growth.h) learn how it ended, if
     * it has: who ended it may not have known of them yet. As often as one likes */
    META_SETTLE,
    META_KINDS
};

struct meta_op {
    uint8_t kind, status;
    uint16_t attempt;
    uint32_t task;
    uint32_t slot; /* the asker's mark, given back in the answer */
    uint32_t epoch, node;
    union {
        uint32_t life;  /* HOLD, JOIN; ADOPT has it in `epoch` */
        uint32_t other; /* ADOPT */
        /* COMPLETE, REMOVE as FAILED: 1: it began when its parents had ended at its holder, whose word of
         * that may not count. STALE unless they are complete; it is its holder's still, and may end again */
        uint32_t ahead;
    };
    union {
        double start;                /* COMPLETE */
        uint64_t limit;              /* ADOPT */
        const struct digest *digest; /* COPY: stays until it is answered; NULL: not known */
    };
    double time, bytes;
};

enum meta_outcome {
    META_OK,
    META_STALE,   /* somebody else holds it, or the epoch has passed */
    META_ENDED,   /* done, failed or removed already */
    META_UNKNOWN, /* no such task, or not submitted */
};

/* A task in an answer's list or in a message: what Algorithm 1 wants to know about it. */
struct meta_item {
    uint32_t task, epoch, holder, waiting;
    uint32_t max_node; /* where the largest input stands; NONE: no input, or nobody knows */
    uint16_t attempts;
    uint16_t passed;           /* in a message: how often nodes have failed it (sched/aside.c) */
    double all_size, max_size; /* bytes of all inputs; of the largest one from one parent */
};

/* Of an item in a message with which tasks change nodes, when it was passed on: the nodes that failed
 * it, a bit each by their number modulo 64. Holder and waiting parents say nothing there. */
static inline void meta_item_set_failed_at(struct meta_item *item, uint64_t nodes)
{
    item->holder = (uint32_t)nodes;
    item->waiting = (uint32_t)(nodes >> 32);
}

static inline uint64_t meta_item_failed_at(const struct meta_item *item)
{
    return item->holder | (uint64_t)item->waiting << 32;
}

struct meta_answer {
    uint8_t kind, outcome, status; /* status: of the task, after the operation */
    uint8_t doomed;        /* GET: a parent has failed or was removed: the task can never run */
    uint32_t slot;         /* of the operation */
    uint32_t asked_epoch;  /* of the operation */
    uint32_t first, count; /* COMPLETE: children that became ready; REMOVE: children; ADOPT: tasks.
                              In `items` */
    struct meta_item item;
};

/* Figure 2, whole. */
struct meta_record {
    uint32_t task, waiting_parents; /* parents, each counted once */
    uint32_t holder, epoch, ran_on; /* ran_on: NONE until it is done */
    uint16_t attempts;
    uint8_t status;
    uint8_t forged;  /* the store says that it ended, and nobody proves it: `status` is QUEUED */
    double all_size; /* bytes of all inputs from parents */
    double submitted, queued, started, ended; /* NAN: not yet. queued: by its present holder */
    uint32_t first, count; /* its history in `nodes` of the answers, oldest first */
};

/* What a store hands back; all arrays belong to the store and stay valid until it is asked again.
 */
struct meta_answers {
    const struct meta_answer *at;
    size_t n;
    const struct meta_item *items;
    const struct meta_record *records; /* one a READ, in the order of the READ answers */
    const uint32_t *nodes;
    const struct digest
        *digests; /* of what each node has that WHERE names, by the place of the node in
                                     `nodes`; zeros: not known; NULL: this store knows of none */
    const char
        *forged; /* for people: what somebody without the key wrote to the store; NULL: nothing
                           was found */
};
