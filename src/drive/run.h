/* A workflow of commands, really run on this machine: the scheduler (sched) and its store driven in
 * real time by a libuv loop.
 *
 *     struct run_options o = {.workflow = w, .needs = &needs, ...};
 *     struct run_result result;
 *     run_workflow(&o, &result, &err)                  from beginning to end, waiting; or
 *
 *     struct run *r = run_open(&o, &err);              in a loop of one's own:
 *     ... poll(run_fd(r)) ... run_step(r, 0) ...       until it answers false
 *     run_close(r, &result, &err)
 *
 * A run touches nothing that belongs to the whole process: no signal handler, mask, working folder
 * or umask is changed. So several runs may be open at once, in one thread or several; each is used
 * by one thread at a time, except for run_stop(). Runs that are open at once in the same `state`
 * need different labels. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "model/predictor.h"
#include "model/trace.h"
#include "model/workflow.h"
#include "memo/need.h"

/* Whose doing is a bad end? */
enum run_blame {
    RUN_BLAMES_TASK,   /* a failure */
    RUN_BLAMES_NOBODY, /* not yet known: executor_judge() will tell */
    RUN_BLAMES_NODE, /* a node that goes, or is gone: the task goes back, and no attempt was made */
};

/* Whose is a task that has ended here? */
enum run_holding {
    RUN_HOLDS,
    RUN_DOUBTS, /* not yet known: asked again ten times a second */
    RUN_LOST,   /* another node's, which took this one for dead */
};

/* What an agent knows of the other nodes of tasks that span several, of who holds which, and of its own
 * end. */
struct run_gang {
    /* Its command is about to start: append "NAME=VALUE" for its environment, a NUL behind each. */
    bool (*begin)(void *context, uint32_t task, struct strbuf *variables, struct error *err);
    /* It ended badly; `killed`: by a signal that ends whatever runs on a node, and that weft did not
     * send. */
    enum run_blame (*blame)(void *context, uint32_t task, bool killed);
    /* It ended, well or not: is it this node's, so that what it made may be taken? */
    enum run_holding (*holds)(void *context, uint32_t task, bool good);
    void *context;
};

/* What an agent makes of attempts for which this machine is to blame, not the task. */
struct run_node {
    /* `place`: a full disk, else NULL; `text`: what is known besides, may be NULL; `cost`: 1, or more
     * when the task may be to blame after all. True: another machine takes the task, and no attempt was
     * made. False: nobody can; it has failed, and `why` says so. */
    bool (*failed)(void *context, uint32_t task, enum trace_trouble trouble, const char *place,
                   uint32_t cost, const char *text, struct strbuf *why);
    void *context;
};

/* How a run grows while it goes on (model/growth.h). The owner appends to the workflow, to `needs` and to
 * the priorities; the run then takes the new tasks in. Called from run_step(), never for a task that
 * could be of no account to it. */
struct run_growth {
    /* This task is done, or else was not taken, or failed and may. True: growth is due. NULL: only
     * run_grow_soon() says so. */
    bool (*decides)(void *context, uint32_t task, bool done);
    /* Append what has become known, perhaps nothing. False: the run ends with this error, when what
     * runs has ended. */
    bool (*grow)(void *context, struct error *err);
    bool (*is_open)(void *context); /* more may join */
    void *context;
    const double *priority; /* of all tasks, as long as the workflow: set by `grow` */
};

/* A file that is written out of memory when `after` has ended, and read again when `to` is to start. */
struct run_spilled {
    uint32_t object, after, to;
};

/* What a plan writes to a disk (drive/spill.h). */
struct run_spill {
    const char *folder; /* on it */
    const struct run_spilled *at;
    size_t n;
};

struct run_options {
    const struct workflow *workflow;
    const char *folder;  /* where its files are and its commands run */
    const char *state;   /* weft's own folder for sandboxes and logs; NULL: none of either */
    const char *label;   /* of this run: its logs stand in STATE/logs/LABEL */
    struct needs *needs; /* what must run; NULL: everything, and nothing is recorded */
    const struct run_environment *environment; /* what tasks were given from outside; NULL: none */
    const char *shelf; /* folder for what outlives the run: environments of conda [state] */

    uint32_t cores;        /* [1] */
    double memory;         /* bytes all tasks together may use [no limit] */
    double memory_most;    /* bytes that one task may get anywhere, after it ran out [memory] */
    uint64_t has;          /* attributes of this machine: a mask over the workflow's [none] */
    const char *resources; /* things of this machine, "gpu=[0,1],licence=4" [none] */
    struct holding
        *holding;   /* who holds them, shared with other runs [its own, from `resources`] */
    double disk;    /* bytes of intermediate files alive at once [no limit] */
    bool in_memory; /* files are in memory: `disk` bounds them and running tasks together */
    const struct run_spill *spill; /* with in_memory and needs; NULL: nothing leaves */
    const double *priority;        /* larger first [depth first] */
    /* All tasks in an order that needs little room: with `disk` and needs nothing starts after which it would not fit any more
     * (drive/sequel.h) [nobody looks ahead] */
    const uint32_t *order;
    /* Of `memory`, what data of functions are given: objects in memory and what functions take themselves. Commands have the
     * rest [nothing is set aside] */
    double data_memory;
    bool
        data_limited; /* they keep to it, by `order` and the sizes that the workflow states (exec/ration.h) */
    bool ordered; /* of functions, too: among all that are ready, not among a thread's own */
    const double *task_disk; /* expected bytes of a task's outputs [as stated in the workflow] */
    const struct predictor *predictor;
    const struct run_gang *gang; /* NULL: this machine is alone, and no task spans several */
    const struct run_node *node; /* NULL: what fails here fails for good */

    bool keep_going; /* after a failure, run what does not depend on it */
    bool unlimited;  /* memory is measured, not enforced */
    bool no_sandbox;
    bool same_shell;  /* of an agent: the strict shell is bash or none, as the key says */
    bool keep_failed; /* the sandbox of a task that failed for good stays, in STATE/failed */
    bool overwrite;   /* outputs replace what weft did not make, and nothing of it is kept */
    double retry_first, retry_most; /* seconds [0.1, 10]; negative: at once */
    double grace;                   /* from SIGTERM to SIGKILL [5] */
    const char *journal;            /* of the store; NULL: in memory */
    bool journal_eager;

    const struct run_growth *growth;       /* NULL: it stays as it is */
    const struct trace_sink *const *sinks; /* events, after what they tell is on record */
    size_t nsinks;
    /* ten times a second, for a display, from run_step(). `stopping`: 1 after the first run_stop()
     * or failure, 2 after the second run_stop(). True asks the run to stop, as run_stop() does */
    bool (*tick)(void *context, int stopping);
    void *context;
};

struct run_failure {
    uint32_t task, attempt;
    enum trace_outcome outcome;
    int status;
    double limit; /* MEMORY: bytes, TIMEOUT: seconds */
    char *text;   /* what weft has to say; NULL: nothing beyond the status */
    char *log;    /* path; NULL: it wrote nothing */
    bool last;    /* no attempt follows */
};

struct run_result {
    /* tasks; skipped: not run, because of failures, a stop or a decision */
    uint32_t done, reused, failed, skipped;
    uint32_t
        untaken; /* of the skipped: by a decision (`when`), or for want of what such a task makes */
    uint32_t excused;   /* of the failed: those that may (`may_fail`) */
    uint32_t cancelled; /* of the skipped: those that somebody named (run_cancel()) */
    uint32_t attempts, orphans;
    bool interrupted;
    double seconds, busy; /* busy: sum over tasks of time x cores */
    double cpu;
    double peak_disk; /* bytes of intermediate files */
    /* out of memory as planned: files, bytes written and read again, time of the copies */
    uint32_t spilled_files;
    double spilled, spilled_back, spill_seconds;
    /* With data_limited: most bytes of data at once, what they had, what made room on a disk and came back */
    double data_peak, data_limit, data_evicted;
    uint32_t data_evictions;
    double log_bytes;
    ARRAY(struct run_failure) failures; /* at most RUN_FAILURES are kept */
    ARRAY(char *) remarks;              /* undeclared files and the like */
    uint32_t kept, kept_told; /* files that weft did not make, kept beside; those with a remark */
};

enum { RUN_FAILURES = 1000, RUN_REMARKS = 20 };

struct run;

/* What is left to commands, 0: no limit. At least a byte: nothing would mean no limit. */
static inline double run_memory_of_tasks(const struct run_options *o)
{
    double left = o->memory - o->data_memory;
    return o->memory > 0 && left < 1 ? 1 : o->memory > 0 ? left : 0;
}
/* Has this machine what each task that may run asks for? ERROR_INFEASIBLE: not, and why. run_open()
 * asks itself; this is for who wants to know before. `from`: the first task that is asked about. */
bool run_fits(const struct run_options *o, uint32_t from, struct error *err);
/* Begin: nothing has been started yet when it returns. What `o` points to stays the caller's and
 * must stay until run_close(). NULL: it cannot be run, and `err` says why. */
struct run *run_open(const struct run_options *o, struct error *err);
/* A descriptor that becomes readable whenever run_step() has something to do, timers included: for
 * any poll, select or epoll loop. It is only waited on, never read; it may also be readable when
 * there turns out to be nothing to do. The run's, closed by run_close(). -1: the process has no
 * descriptors left. */
int run_fd(struct run *r);
/* Do what there is to do. `wait`: 0, never blocks (and returns after some milliseconds even if
 * there is more, which run_fd() tells); positive, waits so many seconds at most for something to
 * do; negative, until something happens. False: the run is over, and run_close() is what
 * is left. */
bool run_step(struct run *r, double wait);
/* Once: nothing new starts, what runs may end. Twice: everything is ended now. May be called from
 * any thread and from a signal handler, between run_open() and run_close(). */
void run_stop(struct run *r);
/* This task is not wanted any more, nor what depends on it: the rest goes on, and the run does not end well. A task that is over
 * stays as it is; a function that runs cannot be ended, but nothing of it is used. By who steps it, from a sink, the tick or
 * between two steps. */
void run_cancel(struct run *r, uint32_t task);
/* Something is to join: `grow` is called in the next step. By who steps it, from a sink or between two
 * steps. */
void run_grow_soon(struct run *r);
/* Frees the run; ends what still runs, if it is closed before it is over. No child is left behind.
 * False: the run could not go on for a reason that is not a task's (disk full, folder gone), or
 * tasks failed or were stopped: see the result, which is filled either way. */
bool run_close(struct run *r, struct run_result *result, struct error *err);

/* In place of run_close() when memory ran out in a call on it (base/mem.h): its children end, and the
 * rest is left as it is, lost. Allocates nothing. */
void run_abandon(struct run *r);

/* Open, step until it is over, close. The result is filled (zeroed, if it could not be opened). */
bool run_workflow(const struct run_options *o, struct run_result *result, struct error *err);
void run_result_free(struct run_result *r);
/* Did all go well that must? Else an error that counts what did not. */
bool run_result_judge(const struct run_result *r, struct error *err);
/* A file that weft did not make stood at an output's place, and is kept under another name. */
void run_result_kept(struct run_result *r, const char *name, const char *kept);
/* At the end: of those that had no remark of their own. */
void run_result_count_kept(struct run_result *r);
/* At the end: what data took of their memory, as a remark. */
void run_result_tell_data(struct run_result *r);
/* At the end: what was written out of memory, as a remark. */
void run_result_tell_spilled(struct run_result *r);
