/* What the files of the executor share: executor.c (from beginning to end), executor_task.c (one
 * task from start to end), executor_call.c (those that are functions), executor_crew.c (graphs of
 * nothing else). Private to them.
 *
 * I1. A lane is either in `lanes`, or used by one child, whose slot is the lane's number, or kept for
 *     one in `waiting`.
 * I2. `running` counts tasks that were started and have not been reported: children, calls with a
 *     thread, calls to be handed over.
 * I3. Every start is reported once: executor_task_over(), executor_report(). But for those that
 *     come after executor_set_stop().
 * I4. Everything here belongs to the loop's thread. Threads of calls touch only the job that they
 *     were handed (struct call_arguments, kept until its result was taken) and executor_wake(). */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "drive/executor.h"
#include "drive/holding.h"
#include "drive/sequel.h"
#include "drive/spill.h"
#include "exec/calls.h"
#include "exec/child.h"
#include "exec/crew.h"
#include "exec/data.h"
#include "exec/ration.h"
#include "exec/sandbox.h"
#include "memo/inputs.h"
#include "model/shell.h"

/* A command that runs, by lane. */
struct active {
    bool used;
    uint32_t task, slot, attempt, cores; /* slot: the scheduler's mark */
    double began;                        /* the driver's time */
    char *sandbox;                       /* NULL: none */
    struct input_marks inputs;           /* as they were when it began */
    char *script;                        /* file that holds the command; NULL: none */
    char *lists;                         /* folder of what {in.list} names, without a sandbox */
    bool strict;                         /* under the strict shell */
    bool shelled;                        /* under a shell or an interpreter */
    bool contained;                      /* an engine runs it for us */
    bool lost;                           /* another node of the task's is gone, and it is stopped */
};

/* A command that has a lane and waits for what the system lacks at the moment. */
struct waiting_start {
    struct sched_start start;
    uint32_t lane;
    double since; /* clock_seconds() */
};

/* What a call gets, kept while it runs. */
struct call_arguments {
    struct weft_task task;
    char *sandbox;
    struct input_marks inputs; /* as they were when it began */
    char **paths;              /* nin + nout, owned */
    char **variables;          /* of things that it holds; NULL: none */
    struct data_slot data;     /* while `with_data` */
    bool with_data;
    uint32_t slot, cores, next; /* slot: the scheduler's mark; next: of the free ones */
};

/* An input that was found changed after this task: who reads it next is told. */
struct changed_input {
    uint32_t object, task;
};

struct executor {
    const struct run_options *o;
    const struct workflow *w;
    struct run_result *result;
    struct driver *driver;
    struct outbox *outbox;
    struct disk *disk;
    void (*trouble)(void *context, const struct error *err);
    void (*moved)(void *context);
    void *context;
    struct spill *spill;    /* files that leave memory for a while; NULL: none does */
    ARRAY(uint32_t) roomed; /* tasks whose room is another at executor_settle() */
    enum executor_stop stop;
    uint32_t running;

    uv_loop_t *loop;
    uv_poll_t children_ready;
    bool watches_children; /* it is open */
    uv_async_t calls_ready;
    uint32_t handles; /* that are open */
    void (*closed)(void *context);
    void *closed_context;

    struct limits *limits; /* NULL: no task has a limit, or they are not enforced */
    struct children *children;
    struct calls *calls;         /* NULL: no task is a call */
    bool calls_alone;            /* they have no thread, and are made on this one */
    bool calls_lost;             /* some did not return in time: nobody waits for them any more */
    double ends_at;              /* clock_seconds(): calls that still run then are lost */
    ARRAY(uint32_t) failed;      /* tasks, for good; not counted when the run keeps going */
    ARRAY(struct call_job) jobs; /* to be handed over */
    ARRAY(struct call_arguments *) arguments;
    uint32_t free_arguments; /* NONE: none */
    double call_ended;       /* clock_seconds() when the last call of this batch did; 0: look */
    uint32_t call_text, call_function; /* the function found last, by its text in the workflow */

    struct data *data;               /* objects in memory; NULL: no call has an object */
    struct data_slot data_slot;      /* for tasks that need not run */
    struct ration *ration;           /* memory that they keep to; NULL: no limit */
    uint8_t *ration_called;          /* by task: a function that runs */
    char *ration_folder;             /* of objects that make room */
    bool ration_told;                /* of its trouble */
    bool crewed;                     /* a crew carries the workflow out, no scheduler */
    struct crew *crew;               /* NULL: not begun, or it has left */
    weft_task_function *crew_call;   /* by task; NULL: none is called */
    struct crew_counts crew_counted; /* that are in the result */
    uint8_t *verdict;                /* by task: how it ended when a crew left; NULL: none has */
    uint32_t verdicts;

    struct active *active; /* per lane */
    ARRAY(uint32_t) lanes; /* free ones, the smallest on top */
    ARRAY(struct waiting_start) waiting;
    bool is_short, short_remarked; /* a start failed for want of something that may come back */
    bool lacks_shell;              /* and for want of a shell or an interpreter */
    uint64_t oom_kills[2];         /* of the kernel, when last looked at and before */
    const char *full_place;        /* a disk that was seen full; NULL: none was */
    double full_at;                /* driver_now() of that */
    int ticks;
    uint32_t room;                 /* entries of these arrays by task; 0: one for each task */
    bool has_grown;                /* tasks have joined */
    uint32_t *cores;               /* per task; NULL: as the workflow says */
    uint32_t *asks;                /* per task: rows of the workflow's amounts; NULL: none asks */
    struct holding *holding;       /* who holds what; NULL: none asks */
    struct holding *own_holding;   /* the same, if it is this executor's own */
    uint64_t run;                  /* of the holding */
    double *memory;                /* per task, for its next attempt; NULL: no task has any */
    uint8_t *rung;                 /* per task: how often it was given more */
    ARRAY(uint32_t) out_of_memory; /* tasks that will get more at executor_settle() */
    uint32_t *retries;             /* per task; NULL: none has any */
    double *priority, *task_disk;  /* task_disk: NULL when the options give one, or disk is free */
    struct sequel *sequel;         /* what follows fits; NULL: nobody looks ahead */

    ARRAY(struct child_result) parked;  /* ended badly, and nobody knows why (executor_wide.c) */
    ARRAY(struct child_result) doubted; /* ended, perhaps as another node's (executor_doubt.c) */
    ARRAY(struct call_result) doubted_calls;
    struct strbuf variables;             /* scratch: of a command that spans several nodes */
    ARRAY(struct changed_input) changed; /* first come first */

    bool decides;          /* tasks may end without outputs (executor_decide.c) */
    const uint8_t *absent; /* by object: nobody makes it in this run; NULL: nothing is so */
    uint32_t absent_count; /* entries of own_absent */
    uint8_t *own_absent;   /* the same array, when it is ours */

    bool has_sandboxes;                /* the folder of sandboxes is there */
    mode_t sandbox_mode;               /* of a sandbox when it is made; 0: not known yet */
    struct executor_emptied *emptied;  /* sandboxes that wait for the next task of their lane */
    struct strbuf command, path;       /* scratch */
    struct strbuf source;              /* of a long command: what reads its file */
    ARRAY(char *) words;               /* scratch: of the command at hand */
    struct shell_words shell;          /* scratch: that `words` point into */
    bool shell_remarked;               /* this machine has no shell that is strict enough */
    struct strbuf logs;                /* folder */
    struct surroundings *surroundings; /* scratch, executor_environment.c; NULL: not used yet */
    ARRAY(char *) hidden;              /* variables that nobody inherits; owned */
    size_t hidden_first;               /* from here on: since tasks joined that named them */
};

/* executor_decide.c */
void executor_prepare_decisions(struct executor *x);
void executor_grow_decisions(struct executor *x); /* tasks joined */
/* Before a task starts. True: it has ended, not taken or because nobody can say whether it is. */
bool executor_decide(struct executor *x, const struct sched_start *s);
/* Does no attempt follow this failure? */
bool executor_is_last_failure(const struct executor *x, uint32_t task, uint32_t attempt,
                              enum trace_outcome outcome, int status);
void executor_report_failure(struct executor *x, uint32_t task, uint32_t slot, bool last,
                             double start, double finish);

/* executor_sandbox.c */
/* The folder for an attempt, into `path`; with `keep` the one that the attempt before left. */
bool executor_make_sandbox(struct executor *x, uint32_t task, const char *kind, uint32_t number,
                           struct strbuf *path, struct error *err);
/* Its attempt has not begun, or will not be reported. */
void executor_drop_sandbox(struct executor *x, uint32_t task, const char *sandbox);
/* At the end: what was emptied for a task that did not come. */
void executor_drop_emptied(struct executor *x);
/* The files behind {in.list}, in this folder. */
bool executor_make_lists(const struct executor *x, uint32_t task, const char *folder,
                         struct error *err);
/* The same for a task without a sandbox, in a folder of their own: *folder, absolute, or NULL where its
 * command names none. Who has it removes it. */
bool executor_list_apart(struct executor *x, uint32_t task, uint32_t lane, char **folder,
                         struct error *err);
/* Its attempt is over; `last`: and none follows. */
void executor_leave_sandbox(struct executor *x, uint32_t task, const char *sandbox, bool done,
                            bool last);
/* executor.c */
bool executor_takes_room(const struct executor *x, uint32_t task);
void executor_open_calls(struct executor *x); /* if some task is one */
void executor_start_threads(struct executor *x);
void executor_wake(void *executor); /* from any thread: calls have ended */
/* Before a command is started: the loop hears of its end. */
bool executor_watch_children(struct executor *x, struct error *err);

/* executor_blame.c */
/* A task that ran and ended badly, or could not start. True: this machine is to blame, and it is given
 * back; sandbox, failure and report are dealt with. False: it has failed. */
bool executor_pass_on(struct executor *x, const struct trace_event *e, uint32_t slot,
                      uint32_t cores, const char *sandbox, struct run_failure *failure);
/* The caller's text; on false perhaps another. */
bool executor_pass_on_start(struct executor *x, const struct sched_start *s, int status,
                            char **text);
void executor_look_at_health(struct executor *x, uint32_t tick); /* which of a second's */

/* executor_memory.c */
void executor_prepare_sequel(struct executor *x);
void executor_drop_sequel(struct executor *x);
struct sched_gate executor_gate(struct executor *x);
/* How many it may have at once; 0: any number. */
uint32_t executor_processes(const struct executor *x, uint32_t task);
/* It had more. The caller's text. */
char *executor_explain_processes(const struct executor *x, const struct child_result *c);
/* An attempt that ran out of memory, and what the next would get is nowhere to be had: there is no next
 * one. The caller's text; NULL: it may be tried again. */
char *executor_out_of_rungs(struct executor *x, uint32_t task, uint32_t attempt);

/* What has ended well, or need not run (`produced`: it ran), means for files. */
void executor_files_done(struct executor *x, uint32_t task, bool produced);
void executor_attempt_failed(struct executor *x, uint32_t task);
/* Before it starts. False: files of it are on their way (x->is_short), or cannot be read again (`err`). */
bool executor_bring_files(struct executor *x, uint32_t task, struct error *err);
bool executor_open_spill(struct executor *x, uv_loop_t *loop, struct error *err);

/* executor_task.c */
bool executor_is_last_attempt(const struct executor *x, uint32_t task, uint32_t attempt);
bool executor_has_files(const struct workflow *w, uint32_t task);
/* Its inputs are looked at; a sandbox if it wants one, folders of its outputs otherwise. `kind` and
 * `number` name it among those of this run; *sandbox and *inputs are the caller's, the first NULL
 * without one. */
bool executor_make_room(struct executor *x, uint32_t task, const char *kind, uint32_t number,
                        char **sandbox, struct input_marks *inputs, struct error *err);
/* What both kinds of task do at their end. `e` is its event, `slot` the scheduler's mark; the
 * failure's text and log are taken over. */
void executor_task_over(struct executor *x, const struct trace_event *e, uint32_t slot,
                        uint32_t cores, const char *sandbox, const struct input_marks *inputs,
                        struct run_failure failure);
/* It went well. */
void executor_report(struct executor *x, uint32_t task, uint32_t slot, double start, double finish,
                     double bytes);
/* As executor_refuse(), and it would be so again. */
void executor_refuse_for_good(struct executor *x, const struct sched_start *s,
                              const struct error *err);
void executor_child_ended(struct executor *x, const struct child_result *c);
void executor_child_over(struct executor *x, const struct child_result *c); /* beyond doubt */
void executor_clear_lane(struct executor *x, uint32_t lane);
/* Start it on its lane. False: nothing of it is left, and x->is_short tells whether it is worth
 * another try. */
bool executor_begin_command(struct executor *x, const struct sched_start *s, uint32_t lane,
                            struct error *err);

/* executor_things.c */
void executor_prepare_things(struct executor *x);
void executor_grow_things(struct executor *x, uint32_t first); /* tasks joined */
/* What it asks for is its own from now on. */
bool executor_take_things(struct executor *x, const struct sched_start *s, struct error *err);
char **executor_variables(const struct executor *x, uint32_t task, uint32_t slot); /* NULL: none */
static inline bool executor_holds_things(const struct executor *x, uint32_t task)
{
    return x->asks && x->asks[task];
}
void executor_free_things(struct executor *x);

/* executor_shortage.c */
void executor_wait(struct executor *x, const struct sched_start *s, uint32_t lane,
                   const struct error *err);
/* Another try; when something has ended, and ten times a second. */
void executor_retry_waiting(struct executor *x);
/* The run stops: those that wait stay "running" for the scheduler, as what was not started. */
void executor_drop_waiting(struct executor *x);
/* All go back to the scheduler: they have not begun. */
void executor_return_waiting(struct executor *x);
/* This one (NONE: all) is over, as cancelled. */
void executor_cancel_waiting(struct executor *x, uint32_t task);

/* executor_command.c */
/* What carries the command in x->command out: `program` (NULL: words[0]) and x->words. A file that
 * it needs is a->script, the caller's. */
bool executor_find_words(struct executor *x, uint32_t task, struct active *a, const char **program,
                         struct error *err);
/* A strict shell failed the task: what may be meant, NULL when nothing is worth saying. */
char *executor_explain_strict(const struct executor *x, const struct child_result *c);

/* executor_environment.c */
/* What the task says that it runs in, around x->words and into the request. */
bool executor_surround(struct executor *x, const struct sched_start *start, struct active *a,
                       struct child_request *r, struct error *err);
/* Its log must not have its secrets; before it is kept. */
void executor_mask_secrets(struct executor *x, uint32_t slot, uint32_t task);
void executor_hide_secrets(struct executor *x);
void executor_hide_more(struct executor *x, uint32_t first); /* tasks from `first` on have joined */
void executor_free_surroundings(struct executor *x);

/* executor_wide.c */
/* In front of x->words and *program. */
bool executor_add_variables(struct executor *x, uint32_t task, const char **program,
                            struct error *err);
bool executor_is_wide(const struct executor *x, uint32_t task);
/* It ended badly, and not by its own doing, or nobody knows yet: then it is the business of
 * executor_judge() from now on. */
bool executor_excuse(struct executor *x, const struct child_result *c);
bool executor_take_lost(struct executor *x, const struct child_result *c);

void executor_child_lost(struct executor *x, const struct child_result *c);

/* executor_doubt.c */
/* True: it is, or may be, another node's, and is dealt with. */
bool executor_doubts(struct executor *x, const struct child_result *c);
bool executor_doubts_call(struct executor *x, const struct call_result *c);
void executor_settle_doubts(struct executor *x);               /* ten times a second */
void executor_lose_doubted(struct executor *x, uint32_t task); /* NONE: all */

/* executor_outputs.c */
bool executor_keep_standing(struct executor *x, uint32_t task, bool sandboxed, struct error *err);
enum sandbox_verdict executor_clear_way(void *executor, uint32_t object, const char *from,
                                        struct error *err);
void executor_own_leftovers(struct executor *x, uint32_t task, bool sandboxed);

/* executor_crew.c */
bool executor_prepare_crew(struct executor *x);                             /* can a crew do it? */
void executor_crew_recall(struct executor *x, const struct sched_start *s); /* has a verdict */
bool executor_crew_runs(const struct executor *x);
uint32_t executor_crew_active(const struct executor *x);
bool executor_free_crew(struct executor *x, bool lost); /* false: some calls still run */

/* executor_call.c */
void executor_start_call(struct executor *x, const struct sched_start *s, uint32_t cores);
void executor_call_ended(struct executor *x, const struct call_result *c);
void executor_give_arguments(struct executor *x, uint32_t number); /* its call is over */
void executor_free_calls(struct executor *x);                      /* after the threads are gone */
/* What weft has to say of a call that failed, and its status then; NULL: nothing. */
char *executor_explain_call(struct executor *x, uint32_t task, int *status);

/* executor_data.c */
static inline bool executor_has_objects(const struct workflow *w, uint32_t task)
{
    return w->in_off[task] < w->in_off[task + 1] || w->object_off[task] < w->object_end[task];
}
/* Before calls are opened. False: they cannot keep to their memory, and why. */
bool executor_prepare_data(struct executor *x, struct error *err);
/* Is its memory of what data are given, and not of what tasks are? */
bool executor_is_rationed(const struct executor *x, uint32_t task);
bool executor_data_lets(struct executor *x, uint32_t task);
void executor_free_data(struct executor *x);
