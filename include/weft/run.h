/* Runs: a workflow of commands, really run, here or on other machines.
 *
 *     struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
 *     o.cores = 4;
 *     struct weft_run *run = weft_run_open("flow.yaml", &o, &error);
 *     if (run && weft_run_start(run, &error) && weft_run_wait(run, &error))
 *         puts("all is done");
 *     weft_run_close(run);
 *
 * What has been computed is not computed again: a task runs when its command, its parameters or the
 * content of its inputs changed, or an output is gone. What is known stands in `.weft` in the
 * workflow's folder; one run at a time has a folder. A run that was cut off goes on where it was.
 *
 * A run is used by one thread at a time, except for weft_run_stop() and weft_run_detach(). Several
 * runs may be open at once in one process, in different folders. The process is left alone: no
 * signal handlers, no working folder, no output. For runs on other machines it has to ignore
 * SIGPIPE. Children of the run are reaped by their own numbers: a program may have other children.
 *
 * When memory runs out inside a call on a run, the call says so and the run is good for nothing but
 * closing it. Closing it then ends its children (on this machine), gives up its folder's lock and closes
 * the history; what was not written of the memo runs again. Its blocks of memory are lost, and so are,
 * until the process ends, the sockets and descriptors of a run on agents.
 *
 * Texts and arrays that a function gives belong to the run (cluster, experiment) and are valid until
 * the next call on it, unless a comment says more. Options may be freed once the call that takes
 * them has returned. Numbers of tasks are those of weft_run_workflow(). */
#ifndef WEFT_RUN_H
#define WEFT_RUN_H

#include "weft/plan.h"
#include "weft/common.h"
#include "weft/workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_run;

/* ---- what a run reports ---- */

enum weft_event_kind {
    WEFT_EVENT_STARTED,  /* nothing has run yet; weft_run_number() is known */
    WEFT_EVENT_BEGUN,    /* an attempt of a task began; `attempt` above 1: it is tried again */
    WEFT_EVENT_ENDED,    /* an attempt of a task ended: see `outcome` */
    WEFT_EVENT_REUSED,   /* a task need not run: its result is there */
    WEFT_EVENT_FILE,     /* a file that the run produced or found */
    WEFT_EVENT_PROGRESS, /* ten times a second: see `counts` */
    WEFT_EVENT_REMARK,   /* a line for people */
    WEFT_EVENT_OVER,     /* the result is complete */
    WEFT_EVENT_SKIPPED, /* a task is not taken: its `when` does not hold, or what it needs is missing */
    WEFT_EVENT_GROWN, /* tasks joined: counts.tasks is how many there are now */
};

enum weft_outcome {
    WEFT_OUTCOME_DONE,
    WEFT_OUTCOME_FAILED,      /* exit status not 0, missing output, or lost */
    WEFT_OUTCOME_KILLED,      /* by a signal that weft did not send: status is 128 + its number */
    WEFT_OUTCOME_TIMEOUT,     /* past its time limit */
    WEFT_OUTCOME_MEMORY,      /* past its memory limit */
    WEFT_OUTCOME_CANCELLED,   /* a stop or a failed sibling ended it */
    WEFT_OUTCOME_NOT_STARTED, /* could not be started: command not found, folder gone */
    /* its machine failed it (a full disk): another takes it, and no attempt counts. status: 1 no space on
     * a disk, 2 a disk fails, 3 no process can be started, 4 out of memory, 5 no shell */
    WEFT_OUTCOME_NODE_FAILED,
};

/* Remarks (enum weft_remark): INFO tells how things go, and a program that was told to be quiet
 * leaves it out; a NOTE comes from the cluster while a run is followed; after a WARNING the run goes
 * on, but something is not as it was asked for. */

struct weft_counts {
    uint32_t tasks;                         /* of the workflow */
    uint32_t done, failed, reused, running; /* of them; failed: and not tried again so far */
    uint32_t retried;                       /* attempts beyond the first */
    double seconds;                         /* since it started */
    int stopping;                           /* 0: no; 1: nothing new starts; 2: all is ended */
    uint32_t skipped;                       /* of the tasks: not taken */
};

/* Valid during the call. Fields that a kind does not have are 0 or NULL. */
struct weft_event {
    enum weft_event_kind kind;
    double time;      /* seconds since the run started */
    uint32_t task;    /* BEGUN, ENDED, REUSED; FILE: its producer (UINT32_MAX: none) */
    const char *name; /* of the task */
    uint32_t attempt; /* from 1 */
    uint32_t node;    /* on a cluster: the agent's number */
    uint32_t core;    /* on which it runs there */
    enum weft_outcome outcome;
    int status;       /* ENDED: exit status, or 128 + signal */
    double seconds;   /* ENDED: how long the attempt took */
    double cpu;       /* ENDED: seconds of processor time */
    double memory;    /* ENDED: bytes at its peak */
    const char *path; /* FILE: as in the workflow */
    double bytes;     /* FILE: its size */
    bool produced;    /* FILE: by this run; false: found as it was */
    enum weft_remark remark;
    const char *text; /* REMARK: one line, without its end */
    struct weft_counts counts;
};

/* Called from within weft_run_start(), _step(), _wait() and whatever else waits, in its thread. It
 * may call weft_run_stop(), weft_run_add() and read the run, nothing else of it. */
typedef void (*weft_event_function)(void *context, const struct weft_event *event);

/* ---- options ---- */

struct weft_run_options {
    size_t size; /* set by WEFT_RUN_OPTIONS_INIT: fields may be added at the end */

    const char *folder;      /* where the files are [where the workflow's file is] */
    const char *format;      /* of the workflow's file [by its content] */
    const char *const *read; /* options of its reader, "name=value", ends with NULL */

    uint32_t cores;     /* that tasks may use at once [all of this machine] */
    double memory;      /* bytes that tasks may use at once [all of this machine] */
    double disk;        /* most bytes of intermediate files alive at once [no limit] */
    double retry_delay; /* seconds before the second attempt, then doubled [0.1]; negative: none */
    bool keep_going;    /* after a failure, run what does not depend on it */
    bool force;         /* run every task, done or not */
    bool resume;        /* remark when no run was cut off here; going on is the default */
    bool no_sandbox;    /* tasks run in the folder itself */
    bool no_limits;     /* the memory of tasks is measured, not enforced */
    bool no_history;    /* leave no record, and predict nothing */

    /* On other machines: "local:3", "ssh:a,b", "slurm" start agents for this run alone, "cluster"
     * uses those at `store`. Then cores and memory are an agent's. NULL: here. */
    const char *on;
    uint32_t nodes;      /* slurm: at most so many [1] */
    const char *store;   /* URL of the cluster's Redis [$WEFT_STORE, else the local one] */
    const char *key;     /* file with its key; "-": standard input [$WEFT_KEY, else the user's] */
    const char *submit;  /* which agents get tasks: "best", "worst", "group:HOST,HOST" ["best"] */
    const char *policy;  /* of stealing: "flds", "rlds", "mlb", "mdl", "auto" ["flds"] */
    bool shared;         /* agents see the folder, too, and work in it */
    bool not_shared;     /* they do not, even if it looks like it [both false: look] */
    const char *program; /* of agents that are started: weft [the one in PATH] */

    weft_event_function event; /* may be NULL */
    /* While weft_run_plan() plans. May be NULL. */
    weft_progress planning;
    void *context; /* of both */

    /* Only to look: nothing is run, locked, made or written, and another run may go on meanwhile. For
     * weft_run_forecast(), _need(), _why(), and weft_run_clean() with `dry`. */
    bool look;
    double wait; /* seconds to wait for a run that has the folder; INFINITY: until it is over [0] */

    /* An output takes the place of a file that weft did not make, and nothing of that is kept [it is
     * kept beside, as NAME.before-weft, and remarked] */
    bool overwrite;

    /* On agents: begin though some task fits none that is there now; it waits for one that has its
     * cores, memory and attributes [WEFT_INFEASIBLE] */
    bool later;
    /* Only these tasks, families or files, and what they need [everything]; with `force` they run
     * again, done or not. Only what depends on `since` [everything]. Both end with NULL. */
    const char *const *targets, *const *since;
    /* On agents that work on several runs: each more doubles this one's share of them, each less halves
     * it; -20 to 20 [0] */
    double priority;
    /* Attributes of this machine, or of each agent that is started, "avx512,ssd" [none] */
    const char *has;
    /* Here: the sandbox of a task that failed for good stays to be looked at, in .weft/failed; a remark
     * names it [it is removed] */
    bool keep_failed;
    /* Things of this machine, or of each agent that is started, that tasks may hold (`resources:`):
     * "gpu=0,1 licence=4" [none] */
    const char *resources;
    /* On agents: weft_run_add() will be called. The run is held open for that, until this program has heard of
     * the end of every task and has added no more; here that is so without being asked for */
    bool adds;
    /* How a plan is followed (weft_run_follow(), _follow_file(), _plan()): "strict": placements, the order
     * on each core, waits; "order": its order among ready tasks and waits for other tasks, and no core
     * idles for more; "hint": priorities alone [NULL: strict for a plan under constraints, else order] */
    const char *follow;
    /* The results of all tasks are kept by content, as if each said `results: keep` [of those that do] */
    bool keep_results;
    /* Predicted times are taken so long that a task stays below with this probability: above 0 and
     * below 1 [0: as predicted, the middle] */
    double risk;
    /* Here: the folder is in memory, so that files between tasks take of `memory`, too, from when the task
     * that makes them starts until they are gone [they take of the disk] */
    bool in_memory;
    /* With in_memory: a folder on a disk. Files that the plan that is followed writes out of memory (a tree's,
     * "evictions") go there, and come back before they are read [such a plan is refused] */
    const char *spill;
    /* Here: of `memory`, what data of functions have: objects in memory (weft_builder_in_memory()) and what functions take
     * themselves, by the sizes and memories that the workflow states. Objects that are read last make room on the disk
     * and come back, by the order of the plan that is followed, else one that needs little memory. Commands have the rest
     * of `memory` [what they take together, where that fits; else all but what the largest command takes] */
    double data_memory;
};
#define WEFT_RUN_OPTIONS_INIT                                                                      \
    {                                                                                              \
        .size = sizeof(struct weft_run_options)                                                    \
    }

/* ---- opening ---- */

/* A workflow's file, and what is known about its folder. NULL: an error; options may be NULL. */
struct weft_run *weft_run_open(const char *path, const struct weft_run_options *options,
                               struct weft_error *error);
/* The graph of a run on record, as it was: parameters, lists and commands of that day. `which` is its
 * number, "last" or its name; without a folder in the options it runs where it did. */
struct weft_run *weft_run_open_recorded(const char *which, const struct weft_run_options *options,
                                        struct weft_error *error);
/* The same for a workflow that is built or read already; the run has a copy. Without a folder in the
 * options it is the current one. */
struct weft_run *weft_run_open_workflow(const struct weft_workflow *w,
                                        const struct weft_run_options *options,
                                        struct weft_error *error);
/* A run that goes on on a cluster, by its number there: starting it follows it, tells what happened
 * before and brings the results. Of the options: folder [from where it was submitted], store, key,
 * no_history, event, adds. Stopping it detaches. */
struct weft_run *weft_run_attach(uint64_t number, const struct weft_run_options *options,
                                 struct weft_error *error);
/* Stops what still runs, without waiting for it any longer than ending it takes. NULL is fine. */
void weft_run_close(struct weft_run *run);

/* The workflow as it is run. Valid as long as the run; do not free it. */
const struct weft_workflow *weft_run_workflow(const struct weft_run *run);
const char *weft_run_name(const struct weft_run *run);   /* of the workflow, for people */
const char *weft_run_folder(const struct weft_run *run); /* where the files are */

/* Follow a plan of this workflow, or one in a file, as the options say. Before the start. One that cannot
 * be followed so is WEFT_BAD_INPUT (it is of another workflow) or WEFT_INFEASIBLE. After the run every
 * constraint is asked of what happened; a requirement that did not hold makes the run fail. */
bool weft_run_follow(struct weft_run *run, const struct weft_plan *plan, struct weft_error *error);
bool weft_run_follow_file(struct weft_run *run, const char *path, struct weft_error *error);
/* Plan first, on predicted times, and follow the plan. `planner` NULL: `constraints`, if the workflow has
 * some (`assert:`), else nothing is done; who starts such a run without asking for it gets the same.
 * `options` is NULL or a list of "name=value"
 * that ends with NULL. `order_only`: the planner has to be one that makes orders. */
bool weft_run_plan(struct weft_run *run, const char *planner, const char *const *options,
                   uint64_t seed, bool order_only, struct weft_error *error);

/* ---- without running: what would run, why, and how long it takes ---- */

struct weft_forecast {
    uint32_t tasks, to_run, done; /* done: their results are there */
    uint32_t known;               /* tasks whose time is stated or was seen */
    uint32_t cores;               /* that it counts with */
    /* of the run: time, peak memory, peak of intermediate files; NAN: of some task it is not known */
    double seconds, memory, disk;
};
bool weft_run_forecast(struct weft_run *run, struct weft_forecast *out, struct weft_error *error);

struct weft_need {
    bool runs;
    const char
        *reason;    /* "new", "command changed" ...; NULL: it need not run; "kept": its results are
                           restored */
    double seconds; /* expected; NAN: not known */
    double memory;  /* bytes, expected; NAN: not known */
};
/* After weft_run_forecast(). */
bool weft_run_need(struct weft_run *run, uint32_t task, struct weft_need *out,
                   struct weft_error *error);
/* Why this task, or the producer of this file, would run or not, in a sentence: "align runs: its
 * command changed since it last ran". NULL: there is no such task. Valid until the next call. */
const char *weft_run_why(struct weft_run *run, const char *task_or_file, struct weft_error *error);

/* ---- running ---- */

/* Begin. Nothing blocks but what `on` asks for: agents are started and the work is handed in. False:
 * it could not begin; the result says nothing, close it. */
bool weft_run_start(struct weft_run *run, struct weft_error *error);
/* A descriptor that becomes readable whenever weft_run_step() has something to do, timers included:
 * for any poll, select or epoll loop. It is only waited on, never read. -1: nothing goes on. */
int weft_run_fd(struct weft_run *run);
/* Do what there is to do. `wait`: 0, never blocks; positive, waits so many seconds at most for
 * something to do; negative, until something happens. False: the run is over, or `error` is set. */
bool weft_run_step(struct weft_run *run, double wait, struct weft_error *error);
/* The tasks of another workflow join a run while it goes on: after weft_run_start(), between two steps or
 * from the event function (the end of the last task is not too late there). What they read and tasks of
 * the run make, they wait for; they are memoised, limited and recorded as all others. They join with one of
 * the next steps, which WEFT_EVENT_GROWN tells. Tasks that do not fit (a name that the run has, a file that
 * another task makes or has read) end the run with that error, and what was done stays done. `more` is
 * copied. False: the run does not go on, or `more` has hooks or constraints. Costs what is added costs,
 * however large the run is.
 *
 * On agents the run was opened with options.adds. With WEFT_EVENT_GROWN the tasks are the run's for good:
 * they run also if this program or an agent dies, and weft_run_attach() (with `adds`, to go on adding) finds
 * them. Agents ask this program for input files that only they read, so those join a run best in a folder that
 * agents share. A program that does not step for a minute does not hold the run open any more: if all tasks
 * are done by then it ends, and what is added afterwards is an error of the run. False also: tasks ask for
 * secrets or variables (`pass`) that no task of the opened workflow names. */
bool weft_run_add(struct weft_run *run, const struct weft_workflow *more, struct weft_error *error);
/* Step until it is over, and complete the result. False: tasks failed, it was stopped, or it could
 * not go on: `error` says which, weft_run_result() tells all. May be called after the last
 * weft_run_step() just as well: it then only completes the result. */
bool weft_run_wait(struct weft_run *run, struct weft_error *error);
/* Once: nothing new starts, what runs may end. Twice: everything is ended now. A third time, on a
 * cluster: detach. From any thread and from signal handlers, between open and close. */
void weft_run_stop(struct weft_run *run);
/* On a cluster: leave, the run goes on. Here: as weft_run_stop(). Likewise from anywhere. */
void weft_run_detach(struct weft_run *run);

/* Let go of what it ran on: agents that were started for it leave, unless it goes on. After the
 * wait; weft_run_close() does the same. For programs that want to be stoppable meanwhile. */
void weft_run_release(struct weft_run *run);

/* ---- results ---- */

struct weft_failure {
    uint32_t task, attempt;
    const char *name; /* of the task */
    enum weft_outcome outcome;
    int status;
    double limit;     /* MEMORY: bytes, TIMEOUT: seconds */
    const char *text; /* what weft has to say; NULL: nothing beyond the status */
    const char *log;  /* path of what it wrote; NULL: nothing */
    bool last;        /* no attempt follows */
};

/* Failures of one cause, together: the same ending, program and last line, but for numbers and the
 * task's own names. */
struct weft_cause {
    uint32_t task;  /* the first that it struck */
    uint32_t count; /* how many tasks it struck */
    enum weft_outcome outcome;
    int status;
    const char *text;       /* as in weft_failure; NULL: nothing beyond the status */
    const char *command;    /* of that task, as it ran; NULL: not known */
    const char *hint;       /* what would help; NULL: nothing is certain */
    const char *log;        /* path of what it wrote; NULL: nothing */
    const char *last_lines; /* of that; NULL: nothing */
};

struct weft_result {
    /* skipped: because of failures, a stop, or a decision */
    uint32_t tasks, done, reused, failed, skipped;
    uint32_t attempts;
    uint32_t orphans; /* processes that outlived the task that started them, and were ended */
    bool stopped, detached;
    double seconds;
    double busy, cpu;              /* seconds: time x cores of tasks; processor time */
    double peak_memory, peak_disk; /* bytes; NAN: not measured */
    double log_bytes;
    const char *logs;                    /* the folder with the logs of this run */
    const struct weft_failure *failures; /* at most 1,000 are kept */
    size_t nfailures;
    const char *const *remarks; /* undeclared files and the like */
    size_t nremarks;
    uint32_t
        untaken; /* of the skipped: their `when` does not hold, or what they need is not made */
    uint32_t excused;  /* of the failed: those that may (`may_fail`) */
    uint32_t restored; /* of the reused: their results were kept, and were put back */
};
/* Valid until the run is closed. NULL: it is not over. */
const struct weft_result *weft_run_result(struct weft_run *run);
/* The number of this run in the history; 0: it is not recorded. */
int64_t weft_run_number(const struct weft_run *run);
/* Its number on the cluster; 0: not there. */
uint64_t weft_run_cluster_number(const struct weft_run *run);
/* Cause number `i` of the failures of a run that is over, in order of time; false: there are no more.
 * Texts are the run's. */
bool weft_run_cause(struct weft_run *run, size_t i, struct weft_cause *out);
/* The last lines of a log, to be given back with weft_text_free(). NULL: there is none. */
char *weft_log_tail(const char *path);

struct weft_cleaned {
    uint32_t logs, sandboxes, files, records;
    double bytes;
};
/* Remove what no run of the workflow needs: logs and sandboxes of runs that are over, records of
 * computations that it no longer has, temporary files that nobody will read. `all`: also the outputs
 * of all tasks that are as a task left them; what is not is kept, and remarked. `dry`: only count. Of a run that
 * was opened for a part, only the outputs of that part, with `all`, and nothing else. */
bool weft_run_clean(struct weft_run *run, bool all, bool dry, struct weft_cleaned *out,
                    struct weft_error *error);
/* Remove the outputs of a part of the workflow that are as a task left them, and nothing else: what the targets need
 * [everything], of it what depends on `since` [everything]. Both end with NULL, or are NULL. */
bool weft_run_clean_part(struct weft_run *run, const char *const *targets, const char *const *since,
                         bool dry, struct weft_cleaned *out, struct weft_error *error);

/* Remove the results that were kept in the folder (`results: keep`): how many, of how many bytes. Of
 * `dry` they stay. */
bool weft_run_clean_kept(struct weft_run *run, bool dry, uint32_t *count, double *bytes,
                         struct weft_error *error);

/* Processes that outlive the task that started them become children of this process, so that runs
 * can end them, too. It is a property of the whole process: a program that only runs workflows calls
 * this once. */
void weft_adopt_orphans(void);

/* ---- clusters ---- */

struct weft_submitted {
    uint64_t run;           /* its number on the cluster; 0: nothing had to run */
    uint32_t agents;        /* that have tasks */
    bool shared;            /* they work in the folder itself */
    uint32_t files, copies; /* handed over, in so many copies, of so many bytes */
    double bytes;
};
/* Hand the work to the agents at options.store and let go: the run was opened with "cluster" in
 * `on`, and is not started. weft_run_stop() meanwhile: an error, and nothing runs. */
bool weft_run_submit(struct weft_run *run, struct weft_submitted *out, struct weft_error *error);

struct weft_cluster; /* a connection to the store of a cluster, for one thread at a time */

struct weft_cluster_options {
    size_t size;
    const char *store, *key;   /* as in weft_run_options */
    uint64_t run;              /* find both in the note that this run has left ... */
    const char *folder;        /* ... in this folder [the current one] */
    weft_event_function event; /* remarks only */
    void *context;
};
#define WEFT_CLUSTER_OPTIONS_INIT                                                                  \
    {                                                                                              \
        .size = sizeof(struct weft_cluster_options)                                                \
    }

struct weft_cluster *weft_cluster_open(const struct weft_cluster_options *options,
                                       struct weft_error *error);
void weft_cluster_close(struct weft_cluster *c);              /* NULL is fine */
const char *weft_cluster_store(const struct weft_cluster *c); /* its address */

/* An agent's part in one run: tasks that are there now, what became of others, data. */
struct weft_agent_work {
    uint64_t run;
    const char *policy;
    double tt; /* seconds that a task may wait for its data's node */
    double held, waiting, local, shared, running, fetching;
    double done, failed, lost;
    double steals, failed_steals, stolen, given, pushed, recomputed, dropped;
    double fetched, fetched_bytes, served, served_bytes;
    double hits, misses, cache_bytes, busy;
};

enum weft_agent_state {
    WEFT_AGENT_UP,
    WEFT_AGENT_LEAVING,
    WEFT_AGENT_SILENT, /* it has not said for a while that it lives */
    WEFT_AGENT_DEAD,
    WEFT_AGENT_LEFT,  /* in order, as it was told to */
    WEFT_AGENT_ASIDE, /* its machine fails tasks: others come first, until that is over */
};

struct weft_agent_info {
    uint32_t node, life;
    enum weft_agent_state state;
    double age;                           /* seconds since it last said that it lives */
    bool known;                           /* it has told of itself: */
    const char *host, *address, *version; /* NULL: not known */
    uint32_t cores;
    double memory, started, cache_limit;
    int64_t pid;
    const struct weft_agent_work *work; /* by run */
    size_t nwork;
    const char *aside; /* why it is set aside; NULL: it is not */
};

enum weft_cluster_run_state {
    WEFT_CLUSTER_RUNNING,
    WEFT_CLUSTER_STOPPING,  /* nothing new starts */
    WEFT_CLUSTER_CANCELLED, /* everything is being ended */
    WEFT_CLUSTER_ENDED,
    WEFT_CLUSTER_COLLECTED, /* and its results were taken */
    WEFT_CLUSTER_FORGED,    /* somebody without the key wrote its record: nothing is known of it */
    WEFT_CLUSTER_EXPIRED,   /* it had ended, nobody took its results, and they were deleted */
};

/* Data of ended runs whose results nobody has taken, with one agent. */
struct weft_agent_kept {
    uint32_t node, runs;
    double bytes, most; /* most: its limit */
    double seconds;     /* how long it is kept */
};

/* How quick an agent is, for who plans for it. */
struct weft_agent_pace {
    uint32_t node;
    double
        speed; /* of a core, by its own measurement, as `weft platform --measure` counts; 0: not yet */
    double load; /* part of its machine that others use, 0 to 1 */
};

struct weft_cluster_run {
    uint64_t run;
    enum weft_cluster_run_state state;
    /* seconds since 1970, by the server's clock; changed: its state; of a collected one: when it ended */
    double created, changed;
    const char *workflow;      /* its name; NULL: not known any more */
    const char *host, *folder; /* from where it was submitted; may be NULL */
    bool shared;
    bool known;                     /* the workflow can be read: */
    uint32_t tasks, before;         /* before: that did not have to run */
    bool counted;                   /* the store has answered: */
    bool proved;                    /* each end was verified; else the store says so */
    uint32_t done, failed, removed; /* done: or skipped by a decision */
    uint32_t unproved;              /* ends that nobody who has the key wrote; in none of these */
};

struct weft_cluster_status {
    double now; /* the server's clock */
    const struct weft_agent_info *agents;
    size_t nagents;
    const struct weft_cluster_run *runs;
    size_t nruns;
    size_t all_runs;                    /* that the board knows */
    const struct weft_agent_kept *kept; /* of agents that live */
    size_t nkept;
    const char *store_trouble; /* what the store refuses to do, with the remedy; NULL: nothing */
    const char *const *waits;  /* what runs wait for that somebody has to bring, a sentence each */
    size_t nwaits;
    const struct weft_agent_pace *paces; /* of agents that live */
    size_t npaces;
};

struct weft_cluster_query {
    size_t size;
    uint64_t run;    /* only this one [all]; an unknown one is an error */
    uint32_t latest; /* at most so many of the last runs; those whose results wait go first [all] */
    bool count_collected; /* without a meaning: what was taken is counted by who took it */
    double patience;      /* look again, waiting so many seconds at most [what opening saw] */
};
#define WEFT_CLUSTER_QUERY_INIT                                                                    \
    {                                                                                              \
        .size = sizeof(struct weft_cluster_query)                                                  \
    }
/* What is there. Valid until the next call on the cluster. `query` may be NULL. */
const struct weft_cluster_status *weft_cluster_snapshot(struct weft_cluster *c,
                                                        const struct weft_cluster_query *query,
                                                        struct weft_error *error);
/* End a run, or (`task` not NULL) one of its tasks with everything that depends on it. What is done
 * stays done. `said` (may be NULL): what the agent says of it; valid until the next call. */
bool weft_cluster_cancel(struct weft_cluster *c, uint64_t run, const char *task, const char **said,
                         struct weft_error *error);
/* Tell an agent to leave. It starts nothing new, its tasks and data go to others, and it goes when what runs there has
 * ended; `now`: what runs is ended as well, and begins again elsewhere. Returns when the agent has answered; its state is
 * LEAVING until it is LEFT. `said` as above. */
bool weft_cluster_drain(struct weft_cluster *c, uint32_t node, bool now, const char **said,
                        struct weft_error *error);
/* What is under way ends with an error. From any thread and from signal handlers. */
void weft_cluster_stop(struct weft_cluster *c);

/* ---- keys ---- */

enum { WEFT_KEY_NAME = 9 };
/* Where a cluster's key is looked for: $WEFT_KEY, else in the user's configuration. To be given back
 * with weft_text_free(). NULL: there is no home folder. */
char *weft_key_file(void);
/* A new key, readable by its owner alone; never overwrites. Makes the folders it stands in. */
bool weft_key_make(const char *path, struct weft_error *error);
/* Eight digits that tell keys apart and say nothing about them, into `name`. */
bool weft_key_name(const char *path, char name[WEFT_KEY_NAME], struct weft_error *error);

/* ---- experiments ---- */

struct
    weft_experiment; /* combinations of substitutions as one workflow; for one thread at a time */

struct weft_experiment_options {
    size_t size;
    const char *format;        /* of the workflow [by its content] */
    const char *const *read;   /* options of its reader, "name=value", ends with NULL */
    const char *planner;       /* that predicts ["auto"] */
    const char *platform;      /* a file, a number of nodes, a generator [this machine] */
    uint64_t seed;             /* [1] */
    bool no_history;           /* predict from what the workflow states alone */
    weft_event_function event; /* remarks only */
    weft_progress planning;    /* may be NULL */
    void *context;
    /* Constraints on the schedule beside those of the two files, ends with NULL; they name tasks of the
     * merged workflow. With any, the planner is "constraints" unless another is named. */
    const char *const *assertions;
    double risk; /* as in struct weft_run_options */
};
#define WEFT_EXPERIMENT_OPTIONS_INIT                                                               \
    {                                                                                              \
        .size = sizeof(struct weft_experiment_options), .seed = 1                                  \
    }

/* Read an experiment's file and merge its combinations. */
struct weft_experiment *weft_experiment_open(const char *path,
                                             const struct weft_experiment_options *options,
                                             struct weft_error *error);
void weft_experiment_close(struct weft_experiment *x); /* NULL is fine */
uint32_t weft_experiment_combinations(const struct weft_experiment *x);
/* "image=region_a,filter=sobel". Valid until the next call. */
const char *weft_experiment_label(struct weft_experiment *x, uint32_t combination);
/* The files that a combination gives, in the folder of the workflow; how many. */
size_t weft_experiment_results(struct weft_experiment *x, uint32_t combination,
                               const char *const **paths);

struct weft_experiment_figures {
    uint32_t combinations, tasks, inputs;
    uint64_t tasks_without_reuse;
    uint32_t remaining;        /* tasks that a run would still compute */
    uint32_t measured;         /* tasks whose time comes from past runs */
    double work, work_without; /* seconds, with and without reuse; NAN: not known */
    double time, time_without; /* predicted makespan */
};
bool weft_experiment_predict(struct weft_experiment *x, struct weft_experiment_figures *out,
                             struct weft_error *error);
/* What one combination computes, as a workflow of its own: to look at, to change, to run. Its files are those of the
 * merged workflow, so that what is computed already is not computed again. */
struct weft_workflow *weft_experiment_workflow(struct weft_experiment *x, uint32_t combination,
                                               struct weft_error *error);
/* The merged workflow in any format that can be written, by the suffix of the name; "-" is standard
 * output. What the format cannot carry is remarked. */
bool weft_experiment_write(struct weft_experiment *x, const char *path, struct weft_error *error);
/* A run of the merged workflow, in the folder of the original. `planned`: it follows a plan by the
 * experiment's planner. The experiment must stay open as long as the run, and is run once. */
struct weft_run *weft_experiment_run(struct weft_experiment *x, bool planned,
                                     const struct weft_run_options *options,
                                     struct weft_error *error);

/* ---- agents ---- */

struct weft_agent_options {
    size_t size;
    const char *store, *key; /* as in weft_run_options */
    const char *serve_store; /* HOST:PORT: start a redis-server here instead */
    const char *bind;        /* HOST:PORT to listen at [127.0.0.1, any free port] */
    const char *reached_as;  /* HOST or HOST:PORT at which others reach it [that of bind] */
    const char *state;       /* its own folder [.weft-agent] */
    uint32_t cores;          /* [all of this machine] */
    double memory;           /* bytes [all] */
    double cache;            /* most bytes kept of a run [no limit] */
    double bandwidth;        /* bytes a second between agents [125e6] */
    double lease;            /* seconds of silence after which others take its tasks over [5] */
    double linger;           /* seconds without work after which it leaves [it stays] */
    uint64_t only;           /* work on this run alone, leave when its results were taken [all] */
    bool temporary;          /* remove its folder when it has left in order */
    void (*store_ready)(void *context, const char *url); /* its own store is up; may be NULL */
    void (*ready)(void *context, uint32_t node, const char *address); /* may be NULL */
    void (*log)(void *context, const char *line);                     /* may be NULL */
    void *context;
    const char *has;     /* attributes that tasks may need (`needs:`), "avx512,ssd" [none] */
    const char *scratch; /* a folder on a disk of this machine, for the data of runs [state] */
    const char
        *resources;   /* things that tasks may hold (`resources:`), "gpu=0,1 licence=4" [none] */
    double keep_for;  /* seconds that results of an ended run wait for who takes them [14 days] */
    double keep_size; /* most bytes of data of ended runs [a fifth of the disk] */
    /* when a batch system takes this machine back, in seconds since 1970: tasks that would last longer do
     * not start here [what Slurm says; never] */
    double ends;
};
#define WEFT_AGENT_OPTIONS_INIT                                                                    \
    {                                                                                              \
        .size = sizeof(struct weft_agent_options)                                                  \
    }

struct weft_agent;
/* Make its folder and read the key; nothing is begun. What the options point to must stay until it
 * is closed. NULL: an error. */
struct weft_agent *weft_agent_open(const struct weft_agent_options *options,
                                   struct weft_error *error);
/* Work for the cluster until it is told to leave: by weft_agent_stop(), a message, or `linger`.
 * Blocks. Once. */
bool weft_agent_run(struct weft_agent *a, struct weft_error *error);
/* Ask it to leave: running tasks may end. Twice: they are ended. From any thread and from signal
 * handlers, between open and close; before weft_agent_run() it leaves as soon as it has joined. */
void weft_agent_stop(struct weft_agent *a);
const char *weft_agent_state(const struct weft_agent *a); /* its folder */
void weft_agent_close(struct weft_agent *a);              /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
