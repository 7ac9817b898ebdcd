/* What the files of an agent share. An agent has jobs, one a run; a job has the run's scheduler,
 * store, processes and data.
 *
 *     agent.c    the loop: board, links, membership, cores shared by all jobs
 *     agent_links.c  messages of others
 *     job.c      one run: events to the scheduler, its actions carried out
 *     job_open.c     from its ticket to its end
 *     watch.c    those who follow it are told
 *     supply.c   the inputs of tasks: found, fetched, recomputed
 *     evict.c    data that is too much, dropped */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "cluster/agent/agent.h"
#include "cluster/data/depot.h"
#include "cluster/wire/link.h"
#include "cluster/wire/protocol.h"
#include "cluster/wire/ticket.h"
#include "drive/executor.h"

struct json_writer;

/* Another agent, by its number on the board. */
struct peer {
    uint32_t life;
    bool known, up, leaving;
    bool stranger; /* has another key */
    char *address;
    struct link *link; /* NULL: none */
    double refused;    /* when the last connection failed; 0: it did not */
};

/* An object that somebody here needs and that is not here. */
enum want_state {
    WANT_CHECKING, /* nobody has it: is its producer done at all? */
    WANT_ASKING,   /* the store where it is */
    WANT_FETCHING, /* from `from`, or (NONE) from a client */
    WANT_MAKING,   /* its producer runs here again, or waits for its own inputs */
    WANT_RESTING,  /* until `again`: nobody has it who can be reached now */
};

struct want {
    uint32_t object; /* NONE: free */
    uint8_t state;
    bool make_here; /* somebody asked us to recompute it */
    uint32_t from;  /* node */
    double since, again;
    ARRAY(uint32_t) waiting; /* entries of `held`, whose inputs it is one of */
    ARRAY(uint32_t) places;  /* nodes still to be tried */
    bool unreached;          /* one that lives and may have it could not be reached */
    bool asked_owner;
    bool is_done; /* its producer, the store says */
};

/* A task that may run but for its inputs, or for a core. */
struct held {
    struct sched_start start; /* task NONE: free */
    uint32_t missing;         /* inputs */
    bool again;               /* for its data: recomputed */
    uint32_t tries;
    double fetched; /* bytes that had to come for it */
};

/* An object that may be dropped, while the store is asked about it. */
struct evict {
    uint32_t object, open; /* open: questions */
    bool needed, elsewhere;
};

#define HELD_MARK 0x80000000u /* in a slot: the number of a recomputation */

struct job {
    struct agent *agent;
    uint64_t number;
    struct ticket ticket;
    struct workflow *w;
    struct run_options options;
    struct run_result result;
    struct driver *driver;     /* its scheduler and store */
    struct executor *executor; /* processes and calls; NULL: it cannot be worked on */
    struct outbox outbox;      /* for those who follow it */
    double told;               /* when they were told last */
    bool stop_due;             /* a task failed for good: nothing new is to start, anywhere */
    struct needs needs;
    struct memo *memo;
    struct predictor predictor;
    struct depot *depot; /* NULL: shared file system, or no files */
    char *home, *files, *partial;
    uint32_t open_parts; /* driver and executor, until it may be freed */
    bool scheduling, closing, remove_data;
    enum board_run_state state;
    double loaded; /* clock_seconds() */

    ARRAY(struct want) wants;
    ARRAY(uint32_t) free_wants;
    uint32_t *want_of; /* by object: NONE, or its want */
    ARRAY(struct held) held;
    ARRAY(uint32_t) free_held, runnable; /* runnable: inputs are here, cores are not */
    size_t runnable_at;
    uint32_t *used;            /* by object: tasks here that read it now */
    double *fetched;           /* by task that runs: bytes that had to come for it */
    double *touched;           /* by object: when it was last read */
    ARRAY(struct meta_op) ops; /* our own, for the store */
    ARRAY(struct evict) evicts;

    ARRAY(struct link *) watchers;
    size_t failures_told;
    uint64_t hits, misses, recomputed, dropped;
    uint32_t idle;           /* seconds without a task */
    bool counting, told_end; /* the store is asked how many tasks have ended; all have */
    struct strbuf scratch;
};

struct keep { /* a KEEP that is not answered yet */
    uint64_t run;
    uint32_t object;
    struct link *link;
};

struct early { /* a message for a run that is still being read */
    uint64_t run;
    struct link *link; /* NULL: closed */
    uint8_t kind;
    char *data;
    size_t n;
};

struct loading { /* a run whose text was asked for */
    struct agent *agent;
    uint64_t run;
    double created;
    enum board_run_state state;
};

struct agent {
    const struct agent_options *o;
    uv_loop_t loop;
    uv_timer_t beat, tick;
    uv_prepare_t turn;
    uv_idle_t spin; /* active while there is more to do at once */
    uv_signal_t signals[2];
    uv_poll_t board_ready;
    struct board *board;
    struct links *links;
    char *identity, *address;
    double started; /* since 1970 */
    uint32_t node, life;
    bool joined, joining, beating, told_ready, seen_once;
    enum { AGENT_STAYS, AGENT_LEAVING, AGENT_LEAVING_NOW, AGENT_LEFT } leave;
    double leave_since;
    double leave_asked;
    ARRAY(struct keep) handing; /* objects that others are asked to keep before it leaves */
    bool handed, left_sent, collected;
    uint64_t ticks;
    double lease;
    double steady;            /* since when beats are answered without a gap */
    double answered;          /* when the last one was */
    double idle;              /* since when there is no work */
    double server_offset;     /* server's clock minus clock_seconds() */
    ARRAY(struct peer) peers; /* by node */
    ARRAY(struct job *) jobs; /* by number */
    ARRAY(uint64_t) refused;  /* runs that cannot be worked on here */
    ARRAY(struct keep) keeps;
    ARRAY(struct loading *) loading; /* runs whose text was asked for */
    ARRAY(struct early) early;
    uint32_t busy;        /* cores in use, over all jobs */
    protocol_items items; /* of the message at hand */
    struct error error;
    struct strbuf scratch;
};

/* ---- agent.c ---- */

void agent_log(struct agent *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The link to another agent, connected if there is none; NULL: it is not up, or was just refused.
 */
struct link *agent_link(struct agent *a, uint32_t node);
bool agent_is_up(const struct agent *a, uint32_t node);
struct job *agent_job(struct agent *a, uint64_t run);
/* An object that a KEEP asked for is here (or cannot be). */
void agent_kept(struct agent *a, uint64_t run, uint32_t object, bool good, const char *why);
/* The board has written something down, or could not: said in the log. */
void agent_noted(void *context, bool good, const char *why);

/* Get a run's text and begin to work on it; COLLECTED stands for a run that is not open yet. */
void agent_load(struct agent *a, uint64_t run, double created, enum board_run_state state);
void agent_beat(struct agent *a);
void agent_leave(struct agent *a, bool now);
void agent_go_on_leaving(struct agent *a);

/* ---- agent_links.c ---- */

struct links *agent_listen(struct agent *a, struct error *err);
/* The answer to a KEEP of a run that is not worked on here. */
void agent_keep_not(struct agent *a, struct link *l, const void *data, size_t n);

/* ---- job.c ---- */

/* job_open.c: begin with a sealed ticket. NULL: it cannot be worked on here; the log says
 * why. `again`: it may be possible later. */
struct job *job_open(struct agent *a, uint64_t run, double created, const void *text, size_t n,
                     bool *again);
void job_close(struct job *j,
               bool remove_data); /* freed when the loop has seen its handles close */
/* The run's state on the board. */
void job_state(struct job *j, enum board_run_state state);
void job_peer(struct job *j, uint32_t node, bool up);
void job_rejoined(struct job *j); /* the agent has a new life */
void job_message(struct job *j, struct link *l, uint8_t kind, const void *data, size_t n,
                 bool *malformed);
/* Before the loop waits: what ended, timers. True: there is more to do at once. */
bool job_turn(struct job *j);
void job_tick(struct job *j);   /* ten times a second */
void job_second(struct job *j); /* once a second */
bool job_is_idle(const struct job *j);
void job_link_closed(struct job *j, struct link *l);
void job_say(const struct job *j, struct json_writer *out); /* about itself, for the board */
/* A task and what depends on it; NONE: all that do not run (all, when the run was cancelled). */
void job_remove(struct job *j, uint32_t task);

void job_log(struct job *j, const char *text);
extern const struct driver_ops job_driver_ops;

/* ---- watch.c ---- */

void watch_begin(struct job *j, struct link *l);
void watch_tell(struct job *j); /* what has happened since the last time */

/* ---- supply.c ---- */

/* The scheduler says start: at once, or when the inputs are here. */
void supply_start(struct job *j, const struct sched_start *s);
/* False: it is not among those that wait. */
bool supply_stop(struct job *j, uint32_t task);
void supply_pump(struct job *j); /* start what can be started */
/* A task of this job has ended here. True: it was a recomputation, of no interest to the scheduler.
 */
bool supply_ended(struct job *j, struct sched_ended *e);
void supply_arrived(struct job *j, uint32_t object, bool good, const char *why);
bool supply_make(struct job *j, uint32_t object);
void supply_answers(struct job *j, const struct meta_answers *all);
void supply_prefetch(struct job *j);
void supply_tick(struct job *j); /* rested wants; too much data */
void supply_free(struct job *j);
struct meta_op *supply_ask(struct job *j, enum meta_kind kind, uint32_t task, uint32_t slot);

/* ---- evict.c ---- */

/* Marks of its questions to the store, beside the numbers of wants. */
#define EVICT_MARK 0x40000000u
void evict_look(struct job *j); /* there is too much: ask what may go */
void evict_answer(struct job *j, const struct meta_answer *answer, const struct meta_answers *all,
                  size_t record);
