/* A scheduler (sched) driven in real time: the only caller of sched_handle() outside simulation and
 * tests. The driver owns the scheduler, its store, the actions at hand, the timers and the batches
 * of ended tasks; what is done about them is the owner's, given as a table of functions.
 *
 *                    driver_handle(event)          driver_ended(task)
 *                             |                            |  (from within `start` too)
 *                             v                            v
 *     answers ---------> sched_handle()             batch of ended tasks
 *        ^                    |                            |
 *        |                    v                            |  driver_handle_ended()
 *        |                 actions                         |
 *        |   notes   timers   operations   messages   stops   starts
 *        |     |        |         |            |        |        |
 *        |    note   kept here    |           send     stop    start       (struct driver_ops)
 *        |                        v
 *        +------------------ the store
 *
 * There are two owners: a run on this machine (drive/run.c: an embedded store, no messages) and a
 * job of an agent (cluster/agent/job.c: a store on Redis, other nodes).
 *
 * What ended is collected, not handled, until the owner says driver_handle_ended(): a task may end
 * while it is being started, and a batch costs the scheduler little more than one task. Nothing is
 * allocated and no function of the table is called for a single task: but for messages, all get
 * batches. */
#pragma once
#include "base/error.h"
#include "sched/sched.h"
#include "store/store.h"
#include <uv.h>

struct driver;

/* Called from driver_handle(), driver_handle_ended(), driver_fire_timers() and driver_poll_store(),
 * with the context of the configuration. What pointers point to is valid during the call. None may
 * call driver_handle() or free the driver, but for `ended`, which may do the first. Those marked
 * NULL may be missing. */
struct driver_ops {
    /* What happened to tasks: before the starts of the same actions, so that a failure can keep
     * these from being carried out. */
    void (*note)(void *context, const struct sched_note *notes, size_t n);
    /* NULL: there is no other node. The message's items; it may get lost. */
    void (*send)(void *context, const struct sched_message *m, const struct meta_item *items);
    /* End these attempts; their ends are still due. */
    void (*stop)(void *context, const struct sched_start *stops, size_t n);
    /* Find the room for these parts of tasks that span several nodes, and say SCHED_EVENT_ROOM, later; or
     * they are over. NULL: there is no other node. */
    void (*parts)(void *context, const struct sched_part *parts, size_t n);
    /* These wait here and nothing else is to be done: bring those of their inputs that are made. NULL. */
    void (*look)(void *context, const uint32_t *tasks, size_t n);
    /* Start these tasks. Each will be reported once by driver_ended(), perhaps before
     * this returns. */
    void (*start)(void *context, const struct sched_start *starts, size_t n);
    /* A batch of ended tasks, taken out, before the scheduler sees it. What it needs to know first
     * may be handled now. The number of them, moved to the front, that are of its concern. NULL:
     * all. */
    size_t (*ended)(void *context, struct sched_ended *ended, size_t n);
    /* Answers of the store, before the scheduler sees them: it passes over those that it did not
     * ask for. NULL. */
    void (*answers)(void *context, const struct meta_answers *answers);
    /* The store cannot go on: called once, until driver_retry_store() succeeds. */
    void (*store_trouble)(void *context, const struct error *err);
};

struct driver_config {
    uv_loop_t *loop;
    const struct driver_ops *ops;
    void *context;
    double began; /* clock_seconds() that is second 0 for the scheduler */
    /* The store answers at once though it has a descriptor (an embedded one whose journal follows
     * behind): it is asked after every event, and the descriptor is left alone. */
    bool prompt_store;
};

struct driver *driver_new(const struct driver_config *config);
/* Its handles are closed, which takes a turn of the loop: `closed` is called when they are, and
 * driver_free() may be called from then on, not before. */
void driver_close(struct driver *d, void (*closed)(void *context), void *context);
/* Closes the store. False: it could not be made durable; all is freed all the same. NULL
 * is fine. */
bool driver_free(struct driver *d, struct error *err);

/* Seconds since it began. */
double driver_now(const struct driver *d);
/* When the task that was reported last ended: as good as now in the turn that handles it, and costs
 * no look at the clock. */
double driver_last_end(const struct driver *d);
double driver_began(const struct driver *d);
void driver_set_began(struct driver *d, double began); /* before it schedules */

/* The store is the driver's from now on. One without a descriptor answers at once and is asked
 * after every event (as with `prompt_store`); another is watched by the loop. */
void driver_attach_store(struct driver *d, struct store *store);
struct store *driver_store(const struct driver *d); /* NULL: none yet */
/* Operations of the owner's own; their answers come to `answers`. */
void driver_submit(struct driver *d, const struct meta_op *ops, size_t n);
void driver_poll_store(struct driver *d);
/* True: it was in trouble, and is back. */
bool driver_retry_store(struct driver *d);

/* Make the scheduler. What `config` points to must stay. */
void driver_schedule(struct driver *d, const struct sched_config *config);
/* The workflow has grown: for the store, and for the scheduler with longer arrays (sched_grow()). */
void driver_grow(struct driver *d, const struct sched_config *config);
/* NULL: it does not schedule yet. */
const struct sched *driver_sched(const struct driver *d);
/* Something happened; `now` is filled in. Without a scheduler nothing comes of it. */
void driver_handle(struct driver *d, struct sched_event *e);

/* A task has ended. O(1); it waits for driver_handle_ended(). */
void driver_ended(struct driver *d, const struct sched_ended *e);
size_t driver_ended_waiting(const struct driver *d);
/* Seconds of execution of all tasks that were reported so far. */
double driver_worked(const struct driver *d);
/* Hand the batch to the scheduler. What ends because of that is in the next one. */
void driver_handle_ended(struct driver *d);

/* Timers that are due; the loop will be woken for the next. */
void driver_fire_timers(struct driver *d);
size_t driver_timers_waiting(const struct driver *d);
