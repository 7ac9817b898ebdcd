/* One run in an agent: a scheduler and its store (driver), tasks (executor), data (depot), and the
 * inputs of tasks between them (supply). job.c drives it, job_open.c makes and frees it. */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "cluster/agent/evict.h"
#include "cluster/agent/job_gang.h"
#include "cluster/agent/job_growth.h"
#include "cluster/agent/job_machine.h"
#include "cluster/agent/memory_files.h"
#include "cluster/agent/supply.h"
#include "cluster/data/depot.h"
#include "cluster/wire/link.h"
#include "cluster/wire/ticket.h"
#include "drive/executor.h"
#include "store/board.h"

struct agent;
struct loading;
struct member_work;

/* A task whose end nobody can explain yet. */
struct job_doubt {
    uint32_t task;
    double until; /* clock_seconds(): by then it is a failure */
};

/* A message of schedulers that came before there was one here (job_early.c). */
struct job_early {
    char *data;
    size_t n;
};

struct job {
    /* fixed when it is opened */
    struct agent *agent;
    uint64_t number;
    struct ticket ticket; /* its id is the run's */
    struct workflow *w;
    struct run_options options;
    struct predictor predictor;
    char *home, *files, *partial; /* folders: its own, of whole objects, of halves */
    double loaded;                /* clock_seconds() */

    /* its parts */
    struct driver *driver;
    struct executor *executor; /* NULL: only while it is opened, or could not be */
    struct needs needs;
    struct memo *memo;
    struct depot *depot; /* NULL: shared file system, or no files */
    struct supply supply;
    struct eviction eviction;
    struct job_objects objects;
    struct run_gang gang_ops;
    ARRAY(struct job_doubt)
    doubts; /* tasks that ended badly, and perhaps with this node (blame.c) */
    struct run_node node_ops;
    ARRAY(uint32_t) without; /* nodes that do not take part in it */
    struct job_gangs gangs;
    struct job_growth growth;
    uint32_t open_parts; /* driver and executor: freed when the loop has seen both close */

    /* state */
    enum job_state state;
    bool handed;      /* fact: the agent leaves, and others were asked to keep its data */
    bool remove_data; /* fact: when it is freed, its folder goes too */
    bool stop_due;    /* fact: a task failed for good, and nothing new is to start, anywhere */
    ARRAY(uint32_t) failing; /* tasks that did so here; the store decides (job_failures.c) */
    bool count_asked;        /* fact: the store is asked how many tasks have ended */
    bool audit_asked;        /* fact: the store is asked for the ends themselves */
    bool forgery_told;       /* fact: somebody else writes to the store, and the log says so */
    uint32_t audit_tasks;    /* of the audit under way: tasks that there were when it began */
    uint32_t audited;        /* of the audit under way: ends that are proved, so far */
    double ended_since; /* clock_seconds() since when the store says that all have ended; 0: not */
    bool end_reported;  /* fact: all have, and the board was notified */
    uint64_t had;       /* words of agents, as they were looked at last (job_told.c) */
    uint32_t idle;      /* seconds without a task */
    uint32_t quiet;     /* seconds since it has ended and nobody is at it */
    struct run_result result;
    char store_trouble[512]; /* why the store does not take what it is given; "": it does */

    ARRAY(struct job_early) early; /* while it is UNOPENED */

    /* those who follow it (watch.c) */
    ARRAY(struct link *) watchers;
    struct outbox outbox; /* not yet sent to them */
    struct outbox ahead;  /* of tasks that ran ahead: sent when the store has taken their ends */
    uint8_t *taken;       /* by task: it has; NULL: nobody follows, or nothing runs ahead */
    double sent;          /* when they were sent something last */
    size_t failures_sent; /* of result.failures */
    size_t logs_sent;     /* of outbox.logs */
    double log_bytes;     /* of these */
    bool logs_full;       /* fact: no more are listed, and those who follow know where they are */
    struct strbuf scratch;
};

/* Begin with a ticket, whose memory the job takes. NULL: it cannot be worked on here; the log says why. `again`: it may
 * be possible later. */
struct job *job_open(struct agent *a, struct loading *run, bool *again, struct error *err);
/* The folder of a run: its number, and its id when another run has left a folder of that number. The
 * caller frees. */
char *job_home(const struct agent *a, uint64_t run, const uint8_t id[static SEAL_ID]);
/* Not to be used any more; freed when the loop has seen its handles close. */
void job_close(struct job *j, bool remove_data);

/* The one place where its state changes. False: the event means nothing in this state. */
bool job_change(struct job *j, enum job_event event);
/* Tasks start when their parents have ended here, before the store has said that these ends count: not where
 * what joins, or is decided by how tasks end, is the store's to say. */
bool job_runs_ahead(const struct job *j);
/* It has a scheduler: OPEN to ENDED. */
bool job_is_scheduling(const struct job *j);
/* The run's state on the board; not COLLECTED. Late and repeated news is passed over. */
void job_board_state(struct job *j, enum board_run_state state);

/* job_nodes.c */
void job_peer_changed(struct job *j, uint32_t node, bool up);
/* It does not take part in this run: what it holds of it is others'. */
void job_without(struct job *j, uint32_t node);
bool job_is_without(const struct job *j, uint32_t node);
/* What tasks may ask for there, or here, is another. */
void job_capacity_changed(struct job *j, uint32_t node);
struct capacity job_capacity_of(const struct job *j, uint32_t node); /* on the run's clock */
void job_find_most_memory(struct job *j);

void job_rejoined(struct job *j); /* the agent has a new life */
void job_message(struct job *j, struct link *l, uint8_t kind, const void *data, size_t n,
                 bool *malformed);
void job_link_closed(struct job *j, struct link *l);

/* job_early.c */
/* Of schedulers, when there is none here. False: there is. */
bool job_keep_early(struct job *j, const void *data, size_t n);
void job_deliver_early(struct job *j); /* there is a scheduler now */
void job_free_early(struct job *j);

/* job_told.c: what whoever follows it says */
void job_lasts(struct job *j, struct bytes *in, bool *malformed);
void job_placed(struct job *j, struct bytes *in, bool *malformed);
/* Seconds that tasks of an agent that is gone wait for a plan that is made anew. */
double job_patience(const struct job *j);
void job_places_changed(struct job *j);
void job_look_at_places(struct job *j); /* once a second */

/* Before the loop waits: what ended, timers, inputs that came. True: there is more to do
 * at once. */
bool job_turn(struct job *j);
void job_tick(struct job *j);   /* ten times a second */
void job_second(struct job *j); /* once a second */
bool job_is_idle(const struct job *j);
/* The agent leaves: what has not begun goes to others. */
void job_leave(struct job *j);

/* Take out a task and what depends on it; NONE: all that do not run (all, once it is CANCELLED). */
void job_remove(struct job *j, uint32_t task);
/* About itself, for the board. */
void job_work(const struct job *j, struct member_work *out);
void job_log(struct job *j, const char *text);
/* A question or news of our own for the store; sent at the end of the turn. `slot` comes back with
 * the answer (supply.h). Valid until the next call. */
struct meta_op *job_ask(struct job *j, enum meta_kind kind, uint32_t task, uint32_t slot);
void job_flush_ops(struct job *j); /* send them now */
double job_now(const struct job *j);
/* Would it come to its end here, as far as is known, before this node goes? */
bool job_has_time_for(const struct job *j, uint32_t task);

/* blame.c */
/* For the executor (run_gang.blame). */
enum run_blame job_blame(void *job, uint32_t task, bool killed);
enum run_holding job_holds(void *job, uint32_t task, bool good);
void job_blame_tick(struct job *j);
/* The agent was told to leave: what ended badly a moment ago did so for the same reason. */
void job_blame_told(struct job *j);

extern const struct driver_ops job_driver_ops; /* job.c, for job_open.c */
