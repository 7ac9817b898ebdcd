/* Carries tasks out on this machine: commands as child processes, one a lane, under memory limits
 * and in sandboxes; calls on threads. What the scheduler starts comes in, what ended goes to the
 * driver (driver_ended()), once for each start, and what is worth telling to the outbox.
 *
 *     executor_start(x, &start) ...      whichever tasks; some end at once (reused, cannot start)
 *     executor_hand_over(x)              calls among them go to their threads, in one batch
 *     ... the loop runs: ends are reported ...
 *     driver_handle_ended(d); executor_settle(x);
 *
 * All on one thread, that of the loop. It decides nothing: which task, when, and what a failure
 * means are the scheduler's and the owner's. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include "drive/disk.h"
#include "drive/driver.h"
#include "drive/outbox.h"
#include "drive/run.h"
#include "sched/sched.h"

struct executor;

struct executor_config {
    uv_loop_t *loop;
    /* Of them, what concerns tasks: not sinks, tick and the store's. */
    const struct run_options *options;
    struct driver *driver;     /* gets what ended; its clock is the executor's */
    struct outbox *outbox;     /* events and files */
    struct disk *disk;         /* NULL: files are not counted */
    struct run_result *result; /* attempts, reuse, failures, remarks, times are counted there */
    /* Something that no task is to blame for (a log cannot be written). Called from the loop. */
    void (*trouble)(void *context, const struct error *err);
    /* A file has left memory or come back (options->spill): the disk is to be asked. NULL: no matter. */
    void (*moved)(void *context);
    void *context;
};

/* What the configuration points to must stay until executor_free(). NULL: it cannot be; `err`. */
struct executor *executor_new(const struct executor_config *config, struct error *err);
/* Waits for calls that run, and closes its handles: `closed` is called, from a later turn of the
 * loop, when they are, and executor_free() may be called from then on. */
void executor_close(struct executor *x, void (*closed)(void *context), void *context);
/* Kills what still runs. NULL is fine. */
void executor_free(struct executor *x);
/* In its place when memory ran out in a call: the children end, the rest is left as it is. */
void executor_abandon(struct executor *x);

/* The scheduler's view of this machine and these tasks: cores, memory, disk, priorities, retries.
 * Its arrays are the executor's; memory changes as attempts get more. */
struct sched_config executor_sched_config(struct executor *x);

/* The workflow has grown: tasks from `first` on are new. Then executor_sched_config() has longer
 * arrays. `priority`: of all tasks, in place of the options' */
void executor_grow(struct executor *x, uint32_t first, const double *priority);

/* What its next attempt gets. An attempt that ran out of memory elsewhere tells how much that is; not
 * while the task runs here. */
double executor_task_memory(const struct executor *x, uint32_t task);
/* It will not end well in this run. */
void executor_task_lost(struct executor *x, uint32_t task);
/* Bytes of intermediate files that it will leave, and where files are in memory its own, too. */
double executor_room_needed(const struct executor *x, uint32_t task);
void executor_set_task_memory(struct executor *x, uint32_t task, double memory);

/* Start a task. True: it is a command and runs now, on a lane. False: it has ended already, which
 * was reported; or it is a call; or nothing starts any more. */
bool executor_start(struct executor *x, const struct sched_start *s);
/* It cannot be: the attempt ends here, and `err` is why. */
void executor_refuse(struct executor *x, const struct sched_start *s, const struct error *err);
/* Its producer has ended without outputs, elsewhere. */
void executor_set_absent(struct executor *x, uint32_t object);
/* Calls that were started since the last time go to their threads. */
void executor_hand_over(struct executor *x);
/* The scheduler is about to learn that these have ended: what they held of the machine's things is free
 * then, not before, so that both count alike. */
void executor_release(struct executor *x, const struct sched_ended *ended, size_t n);
/* Are the machine's things that the task asks for there? Of a task that asks for none they are. */
bool executor_has_things(const struct executor *x, uint32_t task);
/* Things for a part of a task that spans several nodes, by a number of its own. False: they are not there. */
bool executor_take_part(struct executor *x, uint32_t task, uint32_t part);
void executor_give_part(struct executor *x, uint32_t part);
/* What tells a command of that part its ids (drive/holding.h); NONE: of the task itself, which runs here. */
char **executor_part_variables(const struct executor *x, uint32_t task, uint32_t part);
/* Does a command of this task run here? */
bool executor_runs(const struct executor *x, uint32_t task);
/* End a task that runs: SIGTERM, after the grace SIGKILL. Calls cannot be ended. */
void executor_stop_task(struct executor *x, uint32_t task);
/* The same for one that spans several nodes, of which another is gone: its end is no failure, and it goes
 * back to the scheduler. */
void executor_lose_task(struct executor *x, uint32_t task);
/* All that runs is ended at once, and goes back likewise: this node is going. */
void executor_lose_all(struct executor *x);
/* Is a node to blame for the end of a task of which nobody knew (run_gang.blame)? False: it is not
 * such a one. */
bool executor_judge(struct executor *x, uint32_t task, bool lost);
/* After the scheduler has seen a batch of ended tasks: those that died of memory get more. Not
 * before: it would be given back what was never taken. */
void executor_settle(struct executor *x);

/* Workflows that a crew carries out (exec/crew.h), since there is nothing in them for a scheduler to
 * weigh: known from the beginning, and so until something joins. */
bool executor_is_crewed(const struct executor *x);
bool executor_crew_begin(struct executor *x); /* false: it has no threads */
/* What ended since the last time, as in the result and the outbox. */
struct executor_ends {
    uint32_t done, failed;
    bool more; /* there may be more at once */
    bool over; /* no other will end */
};
struct executor_ends executor_crew_take(struct executor *x);
void executor_crew_pause(struct executor *x); /* nothing new starts, until it has left */
/* When it is over, or was never begun: what is left goes the usual way, with a scheduler that knows
 * nothing yet. It is told how tasks ended when it starts them. */
void executor_crew_leave(struct executor *x);

enum executor_stop {
    EXECUTOR_RUNS,
    EXECUTOR_NOTHING_NEW, /* starts are passed over: they stay "running" for the scheduler */
    EXECUTOR_ENDS_NOW,    /* and what runs is killed; what was killed so is not reported either */
};
void executor_set_stop(struct executor *x, enum executor_stop stop); /* never goes back */
/* Kill what runs now; others may start. */
void executor_end_all(struct executor *x);

/* Beginnings of the commands that run now, into the outbox once more: for who comes late. */
void executor_tell_running(struct executor *x);
/* Where the log of an attempt is, if it wrote something. */
void executor_log_path(const struct executor *x, uint32_t task, uint32_t attempt,
                       struct strbuf *out);
/* Where an attempt that runs writes what it writes; NULL: it does not run here, or is given secrets, which are masked in its log
 * when it has ended. */
const char *executor_live_log(const struct executor *x, uint32_t task, uint32_t *attempt);
void executor_tick(struct executor *x); /* ten times a second: limits of time and memory */
/* At the end: processes that outlived their tasks are ended. The number of them, over all. */
uint32_t executor_sweep(struct executor *x);

/* Are files on their way out of memory, or back? */
bool executor_is_moving(const struct executor *x);
/* What data took of their memory, into the result; when they could not keep to it, the run hears of it. */
void executor_tell_data(struct executor *x);
/* At the end, when none is: what is out comes back. False: some cannot. */
bool executor_end_moves(struct executor *x, struct error *err);

uint32_t executor_running(const struct executor *x); /* tasks */
/* Has this task (NONE: any) failed, with no attempt to follow, in a run that then starts nothing
 * more? Known before the scheduler is told, which would start another in its place. */
bool executor_has_failed(const struct executor *x, uint32_t task);
bool executor_has_lane(const struct executor *x); /* another command may start */
/* Bytes of memory that limited tasks use now; negative: none is limited. */
double executor_memory(const struct executor *x);
