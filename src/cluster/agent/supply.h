/* The inputs of tasks. A task that the scheduler starts is *held* until its inputs are here and a
 * core is free; an object that is not here is *wanted* (want.h). Belongs to a job. */
#pragma once
#include "base/array.h"
#include "cluster/agent/want.h"
#include "sched/sched.h"
#include "sched/share.h"

/* A task that may run but for its inputs, or for a core. */
struct held {
    struct sched_start start; /* task NONE: free */
    uint32_t missing;         /* inputs */
    bool recomputation;       /* it is done already, and runs for its lost data alone */
    uint32_t tries;           /* of a recomputation, that failed */
    double fetched;           /* bytes that had to come for it */
};

/* It waits until a thread has read the copy of one of its inputs. */
struct held_check {
    uint32_t object, held;
};

struct supply {
    ARRAY(struct want) wants;
    ARRAY(uint32_t) free_wants;
    uint32_t *want_of; /* by object: NONE, or its want */
    ARRAY(struct held) held;
    ARRAY(uint32_t) free_held;
    ARRAY(uint32_t) runnable; /* held ones whose inputs are here; NONE: stopped meanwhile */
    size_t runnable_at;       /* first that has not been started */
    bool stands_back;         /* fact: all of them wait for things that other tasks hold */
    uint64_t lacking;         /* those things, as the machine counts them: a mask */
    ARRAY(struct held_check) checks;
    uint32_t object_room, task_room; /* entries of the arrays by object, and of `fetched` */
    uint32_t *used;                  /* by object: tasks here that read it now */
    double *touched;                 /* by object: when it was last read */
    double *fetched;                 /* by task that runs: bytes that had to come for it */
    ARRAY(struct digest *)
    said;                      /* digests that the store was given: they stay until it is closed */
    ARRAY(struct meta_op) ops; /* for the store, at the end of the turn */
    uint64_t hits, misses;     /* inputs that were here, or not, when their task was started */
    uint64_t recomputed;
    struct run_share share; /* of this machine's cores, among its runs */
    double busy_memory;     /* bytes that its commands may use */
};

/* A `slot` goes with every question to the store and comes back with its answer. Ours tell who
 * asked:
 *
 *      31   30   29 ............ 0
 *     +----+----+-----------------+
 *     |  0 | ev |     number      |    ev 0: of a want, 1: of a candidate for eviction
 *     +----+----+-----------------+
 *
 * A slot also goes with every start and comes back with the task's end: the scheduler's own (bit 31
 * is 0), or that of a recomputation, of which the scheduler knows nothing:
 *
 *      31   30 ................. 0
 *     +----+----------------------+
 *     |  1 |  number of the held  |
 *     +----+----------------------+
 */
enum { SLOT_NUMBER = 0x3fffffff };
#define SLOT_EVICTION 0x40000000u
#define SLOT_AUDIT 0x3ffffffeu /* of a COUNT that looks at each record */
#define SLOT_LOOK 0x3ffffffbu  /* of a WHERE about an input of a task that waits */
#define SLOT_RECOMPUTATION 0x80000000u

/* The scheduler says start: at once, or when the inputs are here. */
void supply_start(struct job *j, const struct sched_start *s);
/* False: it is not among those that wait. */
bool supply_stop(struct job *j, uint32_t task);
/* All that wait, recomputations not among them, go back to the scheduler: they did not begin. */
void supply_give_back(struct job *j);
void supply_pump(struct job *j); /* start what can be started */
/* A task of this job has ended here. True: it was a recomputation, of no interest to
 * the scheduler. */
bool supply_ended(struct job *j, struct sched_ended *e);
/* A fetch of the depot's has ended. */
void supply_arrived(struct job *j, uint32_t object, bool good, const char *why);
/* The depot has read what it left for later: those that wait for it go on, or wait for another. */
void supply_checked(struct job *j, uint32_t object);
void supply_answers(struct job *j, const struct meta_answers *all);
/* Inputs of tasks that start soon are wanted before they do. */
void supply_prefetch(struct job *j);
void supply_tick(struct job *j);          /* ten times a second: rested wants; too much data */
bool supply_is_idle(const struct job *j); /* no task is held */
/* Room for so much on this machine, over all jobs? */
bool supply_fits(const struct job *j, uint32_t cores, double memory);
void supply_take_room(struct job *j, uint32_t cores, double memory);
void supply_give_room(struct job *j, uint32_t cores, double memory, double seconds);
/* Has that run something that could start but for room? (node_shares.waits) */
bool supply_share_waits(const struct run_share *share);
/* The job ends: what its commands had is free again. */
void supply_release(struct job *j);
/* Tables by object and task, when the job has data of its own. */
void supply_init(struct job *j);
/* The run has grown: tasks from `first`, objects from `object` on are new. */
void supply_grow(struct job *j, uint32_t first, uint32_t object);
void supply_free(struct job *j);

/* ---- for want.c ---- */

/* What is brought for this input (of workflow.in_object): a file that lies in what a task made comes with that
 * folder. */
uint32_t supply_object(const struct job *j, uint32_t reading);
/* The producer of a lost object runs here again, unless it does already. */
void supply_recompute(struct job *j, uint32_t task);
/* One of the inputs that it waits for is here. */
void supply_input_arrived(struct job *j, uint32_t held, double fetched);
/* One of them cannot be had: it ends here. */
void supply_held_failed(struct job *j, uint32_t held, const char *why);
