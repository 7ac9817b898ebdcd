/* What the files of a run share: run.c (the loop), setup.c (what there must be for it), task.c (one
 * task from start to end), disk.c (files that come and go). Private to the room. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "exec/calls.h"
#include "exec/child.h"
#include "drive/run.h"
#include "sched/sched.h"
#include "store/store.h"
#include <uv.h>

/* A command that runs, by lane. */
struct active {
    bool used;
    uint32_t task, slot, attempt, cores;
    char *sandbox; /* NULL: none */
};

/* What a call gets, kept while it runs. */
struct call_arguments {
    struct weft_task task;
    char *sandbox;
    char **paths;               /* nin + nout, owned */
    uint32_t lane, cores, next; /* next: of the free ones */
};

struct run {
    const struct run_options *o;
    const struct workflow *w;
    struct run_result *result;
    struct error error; /* what stops the run and is not a task's fault */
    double began;       /* clock_seconds() */
    uint32_t total, ended_tasks, running;
    int stopping; /* 0: no, 1: nothing new, 2: everything ends now */

    uv_loop_t *loop;
    uv_poll_t children_ready;
    uv_async_t calls_ready;
    uv_timer_t ticker, waker;

    struct store *store;
    struct sched *sched;
    struct sched_actions out;
    ARRAY(struct sched_ended) ended, handled; /* handled: the batch before, kept for its room */
    ARRAY(struct sched_timer) timers;
    uint32_t submitted; /* tasks that the scheduler knows: those below */
    bool windowed;      /* the others may wait for them */
    struct meta_op *puts;
    uint32_t *chunk;

    struct limits *limits;
    struct children *children;
    struct calls *calls;
    ARRAY(struct call_job) jobs; /* to be handed over */
    ARRAY(struct call_arguments *) arguments;
    uint32_t free_arguments; /* NONE: none */
    double call_ended;       /* clock_seconds() when the last call of this batch did; 0: look */
    uint32_t call_text, call_function; /* the function found last, by its text in the workflow */

    struct active *active;  /* per lane */
    ARRAY(uint32_t) lanes;  /* free ones, the smallest on top */
    double *memory;         /* per task, for its next attempt; NULL: no task has any */
    uint8_t *rung;          /* per task: how often it was given more */
    ARRAY(uint32_t) hungry; /* tasks that will get more once the scheduler has seen their end */
    uint32_t *retries;
    double *priority, *task_disk; /* owned, when the options give none */

    uint32_t *left; /* per object: consumers that have not ended well yet */
    double live;    /* bytes of intermediate files */
    bool disk_changed;

    ARRAY(struct trace_event) events; /* to be told once what they tell is on record */
    double unrecorded;                /* seconds of work that a crash now would lose */
    double told;                      /* when everything was last on record */
    ARRAY(struct trace_file) files;
    struct strbuf command, path;
    struct strbuf logs; /* folder */

    /* of a run with a loop of its own (run_open()) */
    struct run_options options;
    struct run_result counts;
    uv_loop_t turns;
    uv_poll_t stop_ready;
    uint32_t rounds;       /* of calls that end at once, since the world was looked at */
    int stop, timer, poll; /* eventfd, timerfd; an epoll of the timer and the loop's own */
    bool over;
    bool due; /* the timer has been set to the past: `poll` is readable */
};

/* run.c */
double run_now(const struct run *r); /* seconds since it began */
void run_tell(struct run *r, const struct trace_event *e);
void run_ended(struct run *r, uint32_t task, uint32_t slot, bool failed, double start,
               double finish, double bytes);
/* Something that no task is to blame for: nothing new starts, and this is what the run says. */
void run_broken(struct run *r, const struct error *err);

/* setup.c */
void run_prepare(struct run *r); /* what is known of the tasks: memory, retries, priorities */
/* Children and threads, on r->loop: their ends come to task.c, which calls run_ended(). */
bool run_setup(struct run *r, struct error *err);
struct sched_config run_sched_config(const struct run *r);
/* The scheduler's timers that are due; r->waker is set for the next. */
void run_fire_timers(struct run *r, void (*fire)(void *context, const struct sched_timer *t),
                     void *context);
void run_release(struct run *r); /* after the handles were closed */

/* task.c */
void task_start(struct run *r, const struct sched_start *s);
/* It cannot be: the attempt ends here, and `err` is why. */
void task_not_started(struct run *r, const struct sched_start *s, const struct error *err);
void task_stop(struct run *r, uint32_t task);
void task_more_memory(struct run *r, uint32_t task);
void task_child_ended(struct run *r, const struct child_result *c);
void task_call_ended(struct run *r, const struct call_result *c);
void tasks_free(struct run *r);

/* disk.c */
void disk_begin(struct run *r);
/* A task has ended well: what it made is there, what it read may have served. `made`: by this run.
 */
void disk_task_done(struct run *r, uint32_t task, bool made);
void disk_end(struct run *r);
double disk_expected(const struct workflow *w, uint32_t task);
