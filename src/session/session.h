/* A run of a workflow in its folder, from the first look to the record of what happened: what is
 * known there, what must run and why, how long it will take, the run itself, its record in the
 * history. Who prints, and what, is the caller's business.
 *
 *     struct session s;
 *     session_begin(&s, &options);           the folder's memo is read meanwhile
 *     session_open(&s, workflow, &err)       what must run: s.needs
 *     session_predict(&s);                   s.seconds, s.ahead
 *     session_listen(&s, sink);              as often as there are listeners
 *     session_start(&s, &err)                s.record is begun
 *     while (session_step(&s, -1)) ...       or by session_fd() in a loop of one's own
 *     session_finish(&s, &err)               s.result, s.record
 *     session_close(&s);
 *
 * Everything happens in the thread that calls, except session_stop(). Several sessions may be open
 * in one process, in different folders. Nothing of the process is touched: no signal handlers, no
 * working folder, no output. */
#pragma once
#include "base/error.h"
#include "drive/run.h"
#include "history/history.h"
#include "memo/keeping.h"
#include "memo/need.h"
#include "model/environment.h"
#include "model/outside.h"
#include "model/plan.h"
#include "model/record.h"
#include "session/image.h"
#include "session/listeners.h"
#include "session/now.h"
#include "session/remark.h"
#include "session/retention.h"
#include "session/run_forecast.h"
#include "session/workspace.h"
#include <stdatomic.h>

struct session;

struct session_options {
    const char *flow;   /* the workflow's file as the user names it, or its name */
    const char *folder; /* where its files are; NULL: where that file is */
    const char *given;  /* parameters and lists from outside, for the record; NULL: none */
    const char *place;  /* as --on has it, for the record; NULL: here */
    const char *const *targets, *const *since; /* only a part (model/select.h); NULL: all */
    uint32_t cores;        /* that tasks may use at once; 0: all of this machine */
    double memory;         /* bytes that tasks may use at once; 0: all of this machine */
    const char *has;       /* attributes of this machine, "avx512,ssd"; NULL: none */
    const char *resources; /* things of this machine, "gpu=0,1 licence=4"; NULL: none */
    double disk;           /* most bytes of intermediate files alive at once; 0: no limit */
    bool in_memory;        /* intermediate files are in memory: they and the tasks share `memory` */
    double data_memory;    /* of `memory`, for data of functions; 0: what they need at most */
    const char *spill;     /* with in_memory: folder on a disk for files that a plan writes out */
    double retry_first;    /* seconds before the second attempt; 0: 0.1; negative: at once */
    bool force;            /* every task runs, done or not */
    bool resume;           /* say so when no run was cut off here */
    bool keep_going;       /* after a failure, run what does not depend on it */
    bool unlimited;        /* the memory of tasks is measured, not enforced */
    bool no_sandbox;
    bool keep_failed;  /* sandboxes of failed tasks stay */
    bool keep_results; /* of all tasks, as if each said `results: keep` */
    bool overwrite;    /* outputs replace what weft did not make, and no copy is kept */
    bool no_history;   /* leave no record, and predict nothing */
    bool look;         /* nothing will run: nothing is locked, made or written */
    double wait;       /* seconds to wait while another run has the folder */
    double risk;    /* times are taken so long that tasks stay below so probably; 0: as predicted */
    bool adds;      /* elsewhere: tasks will be added to it (session_add()) */
    bool elsewhere; /* tasks will run on other machines: files between them may be absent here */
    struct remarks remarks;
};

/* Who runs the tasks. Between open and close the same thread calls all but stop. */
struct session_executor {
    bool (*open)(void *self, struct session *s, const struct run_options *o, struct error *err);
    int (*fd)(void *self);
    bool (*step)(void *self, double wait); /* false: it is over */
    void (*stop)(void *self);              /* from any thread and from signal handlers */
    /* These tasks join soon, as session_add() says. */
    bool (*add)(void *self, const struct workflow *more, struct error *err);
    /* As run_cancel(), and what is said of NOW_SHOW. */
    void (*cancel)(void *self, uint32_t task);
    void (*show)(void *self, uint32_t task);
    /* As run_close(); s->detached is set when the run goes on without us. */
    bool (*close)(void *self, struct session *s, struct run_result *result, struct error *err);
};

enum session_state {
    SESSION_CLOSED,
    SESSION_OPEN,    /* what must run is known */
    SESSION_RUNNING, /* started; step it */
    SESSION_OVER,    /* nothing is left to step; finish it */
    SESSION_ENDED,   /* result and record are complete */
};

struct session {
    /* fixed once it is open */
    struct session_options o; /* flow, folder and targets: copies of our own */
    char *flow;
    bool is_part; /* of its workflow only what `targets` and `since` name is here */
    const char **targets, **since; /* those of `o`, as the workflow calls them */
    struct workspace ws;
    struct workflow *w; /* owned */
    struct image image; /* of `w` as it was read; written by session_prepare() */
    char *name;         /* of the workflow, for people and for the history */
    struct needs needs;
    struct run_environment environment; /* what its tasks run in, as it was found */
    struct strbuf text;                 /* elsewhere: the native text from which `w` was read */
    struct outside source;              /* elsewhere: all that it was read from, if it grows */
    uint32_t cores;          /* what there is to run on: this machine, or all agents together */
    double memory, disk;     /* INFINITY: no limit */
    struct growing *growing; /* session/growing.h; NULL: it stays as it is */
    bool grew;               /* while it ran */
    double retry_first;
    struct retention keep;  /* how long what it leaves behind stays */
    struct keeping keeping; /* results that are kept, and restored */

    /* what is expected */
    struct history *history; /* NULL: none */
    struct forecast *forecast;
    double *seconds, *task_memory; /* per task, NAN: not known; NULL before session_predict() */
    struct prediction *predicted;  /* per task; NULL: no history */
    double *priority;              /* NULL before something asked for an order */
    uint32_t *order;               /* the rest of a run fits in it; NULL: not asked for */
    char *planner;                 /* whose order; NULL: depth first */
    struct following *following;   /* a plan to keep to (session/following.h); NULL: none */
    struct run_forecast ahead;

    /* while it runs */
    enum session_state state;
    struct run *run; /* on this machine; NULL: elsewhere, or not running */
    const struct session_executor *executor;
    void *executor_self;
    struct listeners listeners;
    struct trace_sink fan;
    const struct trace_sink *fan_at;
    void (*tick)(void *context, int stopping); /* ten times a second; may be NULL */
    void *tick_context;
    struct now
        *now; /* what it does, for who looks from outside (session/now.h); NULL: nobody can */
    struct hooks *hooks; /* of the workflow; NULL: it has none, or nothing runs */
    char label[32];      /* of its logs */
    char *logs;          /* where they are */
    bool detached;       /* it goes on, without us */
    atomic_bool steps;   /* it can be reached by a stop */
    atomic_int stops;    /* that came before it could */
    struct error failure;

    /* results */
    struct run_record record; /* its workflow and predictions are the session's */
    struct run_result result;
};

/* Before the workflow is read: what is known about its folder is read meanwhile, by a thread. */
void session_begin(struct session *s, const struct session_options *o);
/* The workflow in a file, for session_open(): a large one from its image (session/image.h), if there is
 * one. Takes the text. NULL: an error. */
struct workflow *session_read(struct session *s, struct format_file *file, struct error *err);
/* Take the workflow over (NULL: there is none after all) and look at its folder. False: an error;
 * close all the same. */
bool session_open(struct session *s, struct workflow *w, struct error *err);
/* Is it known what depends on `since` (NULL: nobody asks)? False: lists are read while it runs, and the error says so. */
bool session_knows_after(const struct session *s, const char *const *since, struct error *err);
/* In place of begin and open: a run that goes on already on a cluster, whose results belong into
 * `o->folder`. Takes the workflow over; `done`: tasks that did not have to run. */
bool session_join(struct session *s, const struct session_options *o, struct workflow *w,
                  const uint32_t *done, size_t ndone, struct error *err);
void session_close(struct session *s);
/* In its place when memory ran out in a call on it (base/mem.h): ends the children of a run on this
 * machine, gives up the folder's lock, closes the history. The rest is left as it is, lost. */
void session_abandon(struct session *s);

/* Prefer tasks in the order of a plan. */
void session_follow(struct session *s, const struct plan *plan);
/* Time, memory and disk ahead, from the history's predictions. */
void session_predict(struct session *s);
void session_drop_prediction(struct session *s);
/* A platform of one node with what this session may use. */
struct platform *session_platform(const struct session *s, struct error *err);
/* The task of this name, or the producer of this file. NONE: an error that suggests one. */
uint32_t session_find_task(const struct session *s, const char *name, struct error *err);

/* ---- running ---- */

/* Has this machine all that each task to run asks for? ERROR_INFEASIBLE: not; before session_prepare(),
 * so that nothing is recorded of a run that cannot begin. */
bool session_fits(const struct session *s, struct error *err);
/* What tasks get from outside, variables and secrets, and the programs that they need here; before
 * session_prepare(). False: something is not there. */
bool session_surround(struct session *s, struct error *err);
/* What a run on this machine is given of it, but for what belongs to the run itself. */
struct run_options session_run_options(const struct session *s);
/* Another executor than this machine; before the start. */
void session_execute_by(struct session *s, const struct session_executor *executor, void *self);
void session_listen(struct session *s, struct trace_sink sink);
/* Put back what was kept of results that are gone or others now (memo/keeping.h), so that what is left must
 * run; before session_fits(). False: an error in what became known by it. */
bool session_restore(struct session *s, struct error *err);
/* Clear up after a crash, predict, begin the record (s->record.run is its number) and the marks.
 * What follows is session_go(). When nothing must run, the state is OVER at once and the record
 * says so. */
void session_prepare(struct session *s);
/* Begin to run. False: it could not; finish it all the same. */
bool session_go(struct session *s, struct error *err);
int session_fd(const struct session *s); /* readable when session_step() has something to do */
bool session_step(struct session *s, double wait); /* as run_step(); false: finish it */
/* Tasks of another workflow join one that runs here; it is taken over, also after an error. What they
 * read and tasks of the run make, they wait for. They join with the next step; tasks that do not fit
 * (a name that is there, a file that another makes) end the run with that error. From a sink or between
 * two steps. Elsewhere the session was opened with `adds`. False: it is not running, or not for that. */
bool session_add(struct session *s, struct workflow *more, struct error *err);
/* Once: nothing new starts; twice: everything is ended now. From any thread or signal handler. */
void session_stop(struct session *s);
/* Complete result and record. False: tasks failed, it was stopped, or could not go on. */
bool session_finish(struct session *s, struct error *err);
