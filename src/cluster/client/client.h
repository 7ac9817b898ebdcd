/* The side of a cluster that hands work in, follows it and takes the results home: `weft submit`,
 * `status`, `attach`, `cancel` and `weft run --on`. The agents need none of it once a run is open.
 *
 *     struct client *c = client_open(&config, &err);
 *     client_submit(c, &work, &run, &err)          the run is open; one may leave now
 *     client_follow(c, &following, &result, &err)  until it has ended and its results are here
 *     client_close(c);
 *
 * Submitting and following can be done by steps (client_submit_open, client_follow_open), for an
 * event loop of one's own; the rest blocks, for moments. Nothing here is for two threads at once,
 * but client_stop() and client_detach(): they are for any thread and for signal handlers. The
 * process is left alone: no signal handlers, no output, no change of folder; it has to ignore
 * SIGPIPE. A server that restarts, agents that die or join and links that break are waited for and
 * said once. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/seal.h"
#include "cluster/wire/member.h"
#include "cluster/wire/remains.h"
#include "cluster/client/share.h"
#include "cluster/wire/ticket.h"
#include "memo/need.h"
#include "model/guide.h"
#include "drive/run.h"
#include "store/board.h"

struct client;
struct uv_loop_s;

struct client_config {
    const struct store_address *address; /* must outlive the client */
    struct seal_key key;
    struct uv_loop_s *loop;                       /* NULL: one of its own */
    void (*say)(void *context, const char *line); /* for people, rarely; may be NULL */
    void *context;
};

/* False with NULL: no server, or what stands on its board is sealed with another key. */
struct client *client_open(const struct client_config *config, struct error *err);
/* Does the store keep what it has answered? For who hands something in; see board_check_promise(). */
bool client_check_store(struct client *c, struct error *err);
/* What agents, or the store itself, say is wrong with it; "": nothing is known. */
const char *client_store_trouble(struct client *c);
void client_close(struct client *c); /* NULL is fine */
void client_listen(struct client *c, void (*say)(void *context, const char *line), void *context);

/* ---- stopping, and waiting from outside ---- */

/* What is under way should end, as Ctrl-C asks for it. A submission and a wait end with an error; a
 * run that is followed does as client_following.interrupt says, a little more with each call. One
 * that comes while nothing is under way counts for what begins next. */
void client_stop(struct client *c);
/* Leave a run that is followed: it goes on without us. */
void client_detach(struct client *c);
/* Readable when client_follow_step() would find something to do, timers included; for the event
 * loop of others. The same as long as the client lives; -1: the process has no descriptors left. */
int client_fd(struct client *c);

/* ---- what is there ---- */

/* Look at the board now. False: the server did not answer in `patience` seconds. */
bool client_refresh(struct client *c, double patience, struct error *err);
/* Of the last look; valid until the next, or until something else is asked of the client. */
const struct member *client_members(const struct client *c, size_t *n);
const struct board_run *client_runs(const struct client *c, size_t *n);
double client_now(const struct client *c); /* server's clock */
/* Beats, and leaves no more than that to be seen. */
bool client_is_alive(const struct client *c, const struct member *m);
/* The run on the board; NULL: not there (not opened yet, or collected long ago). */
const struct board_run *client_run(const struct client *c, uint64_t run);
/* What its submitter left on the board. False: there is none of that number, and these are. */
bool client_ticket(struct client *c, uint64_t run, struct ticket *t, struct error *err);
/* What stands there instead when its results were taken. False: nothing that we can read. */
bool client_remains(struct client *c, uint64_t run, struct run_remains *r);
/* What has joined a run that grows, from part *parts on, joins `w`, and *parts is how many there are then. It
 * waits for the board. False: what joined cannot join, or the board is silent. */
bool client_grow(struct client *c, uint64_t run, const uint8_t id[static SEAL_ID],
                 struct workflow *w, uint32_t *parts, struct error *err);
/* The run has no such number: an error that lists those there are. */
bool client_no_such_run(const struct client *c, uint64_t run, struct error *err);
/* Wait until so many agents live, or so many ever stood there (0: nobody knows how many that are), or somebody
 * stops us, or the seconds have passed (false). */
bool client_wait_agents(struct client *c, uint32_t agents, uint32_t ever, double seconds);

/* How far a run is, from its store: tasks that have ended, and how. */
struct client_progress {
    uint32_t done, failed, removed, skipped, excused;
};
/* Zeros before the first time; given again it saves the reading where nothing has changed. */
struct client_count {
    struct client_progress is;   /* as far as it is known: */
    bool proved;                 /* by a proof of each end, else only the store says so */
    uint32_t forged;             /* ends that stand there and that nobody proves; not in `is` */
    struct client_progress says; /* what the store said */
};
/* `most_reads`: with more tasks than that nothing is proved. */
bool client_count(struct client *c, uint64_t run, const uint8_t id[static SEAL_ID],
                  const struct workflow *w, uint32_t most_reads, struct client_count *count,
                  struct error *err);

/* ---- submitting ---- */

enum client_shared { CLIENT_SHARED_LOOK, CLIENT_SHARED_YES, CLIENT_SHARED_NO };

struct client_work {
    const struct workflow *workflow; /* read from `text`: agents have the same numbers */
    const struct strbuf *text;
    struct needs *needs;
    const struct run_environment *environment; /* what its tasks run in; it goes sealed */
    const char *folder, *state;
    const char *name;
    enum share_kind share;
    const char *group; /* "host,host": only these agents get tasks; NULL: all */
    enum client_shared shared;
    uint32_t copies; /* of each input, on agents [2] */
    bool keep_going, no_sandbox, unlimited, adapt;
    bool overwrite; /* as in run_options; of a shared folder. Others: client_following has it */
    enum sched_policy policy;
    double t, tt, retry_first, retry_most;
    double priority_of_run; /* among runs on the same agents: each more doubles its share */
    const double *priority, *seconds; /* per task; may be NULL */
    const uint32_t
        *home;  /* per task: the agent that gets it at first [as `share` says]; NONE: likewise */
    bool watch; /* client_follow() comes next: miss nothing until then */
    bool adds;  /* tasks will be added (client_follow_add()): the run is held open for that */
    /* the run has this number, and is about to be opened: whoever is killed from here on leaves one that
     * goes on. May be NULL */
    void (*opening)(void *context, uint64_t run, const uint8_t *id);
    void *context;
};

struct client_submitted {
    uint64_t run;
    bool shared;     /* agents work in the folder itself */
    uint32_t agents; /* that have tasks */
    uint32_t files;  /* handed over, in so many copies, of so many bytes */
    uint32_t copies;
    double bytes;
};

struct client_submit;

/* Begin. What `work` points to must stay until the close; one thing at a time. */
struct client_submit *client_submit_open(struct client *c, const struct client_work *work);
/* As client_follow_step() below. False: the run is open, or never will be. */
bool client_submit_step(struct client_submit *s, double wait);
/* False: an error, client_stop(), or closed before it was over; the run was never opened, and
 * nothing runs. */
bool client_submit_close(struct client_submit *s, struct client_submitted *out, struct error *err);
/* All three. */
bool client_submit(struct client *c, const struct client_work *work, struct client_submitted *out,
                   struct error *err);

/* ---- following ---- */

/* Every few seconds: what there is to do, for whoever brings more agents. */
struct client_load {
    uint32_t agents, cores;        /* living */
    uint32_t ready, running, soon; /* tasks; soon: once something that runs has ended */
    uint32_t widest;               /* of these: most nodes that one spans */
    uint32_t going; /* living agents to be replaced: they go soon, or have no time for what waits */
    bool ending;    /* no more agents are of use */
};

enum client_interrupt {
    CLIENT_INTERRUPT_STOPS, /* once: nothing new starts; twice: everything ends; then: detached */
    CLIENT_INTERRUPT_DETACHES, /* the run goes on without us */
};

struct client_following {
    uint64_t run;
    const struct ticket *ticket; /* of the run */
    const struct workflow *workflow;
    struct needs *needs;       /* contents are learned, and what was done is recorded there */
    const char *folder;        /* where final outputs go */
    const char *state, *label; /* logs of failures: STATE/logs/LABEL */
    bool late;                 /* somebody else submitted it: tell what happened before, first */
    bool overwrite;            /* as in run_options */
    enum client_interrupt interrupt;
    const struct trace_sink *const *sinks;
    size_t nsinks;
    bool (*tick)(void *context, int stopping); /* as in run_options */
    void *context;
    bool
        renewed; /* agents that go are replaced by others alike: what none has the time for is an error */
    bool
        orphaned; /* its agents were started for it by a command that is gone: nobody asks for others */
    uint32_t parts; /* of a run that grows: those that its workflow has already */
    /* What joins it, as bytes of model/future.h: they join the workflow, and all that is kept by task but
     * for what is the follower's. False: they cannot. NULL: it does not grow */
    bool (*grow)(void *context, const void *part, size_t n, struct error *err);
    void *grow_context;
    bool adds; /* we may add tasks: the run is held open while we follow it, and we end it */
    /* Agents died or left while it goes on: may it go on? False: it is stopped, for this error. It may call
     * the functions on places below. NULL: nobody asks */
    bool (*gone)(void *context, struct error *err);
    /* No agent has been there for half a minute; may another come? False: the run ends, for this error. NULL:
     * it waits for one */
    bool (*deserted)(void *context, struct error *err);
    void *gone_context;                                          /* of both */
    void (*load)(void *context, const struct client_load *load); /* may be NULL */
    void *load_context;
};

struct client_followed {
    bool detached;      /* the run goes on */
    uint32_t collected; /* final outputs that came here */
    double bytes;
    uint32_t missing; /* final outputs that nobody had; attach again */
};

struct client_follow;

/* Begin. What `f` points to must stay until the close; one run at a time. May wait for a server
 * that is being started again. NULL: an error. */
struct client_follow *client_follow_open(struct client *c, const struct client_following *f,
                                         struct error *err);
/* Let happen what is due; sinks, tick and load are called from here. wait 0: never blocks;
 * negative: until something happens; else at most so many seconds. False: it is over. */
bool client_follow_step(struct client_follow *f, double wait);
/* These tasks join the run, as bytes of model/future.h: soon, by client_following.grow. False: it is over, or
 * was not opened for that. From a sink or between two steps. */
bool client_follow_add(struct client_follow *f, const void *part, size_t n, struct error *err);
/* A plan that was made anew places these tasks on these agents (NONE: any): all that are there are told, and
 * those that come. Only of a run whose workflow took a guide (model/guide.h). */
void client_follow_place(struct client_follow *f, const struct guide_place *at, size_t n);
/* Has it begun, as far as is known here? Where, and has it ended? */
bool client_follow_began(const struct client_follow *f, uint32_t task, uint32_t *node, bool *ended);
double client_follow_now(const struct client_follow *f); /* seconds of the run */
/* Cancel a task that waits or runs, and what depends on it: an agent is asked from the next step on, and what it cannot do is
 * said. From a sink, the tick or between two steps. */
void client_follow_cancel(struct client_follow *f, uint32_t task);
/* Bring here what a task that runs has written so far, into STATE/logs/LABEL/.live-TASK-ATTEMPT: once, what is new. */
void client_follow_show(struct client_follow *f, uint32_t task);
/* What became of it. Closed before it is over: detached. False: an error, or tasks failed or were
 * stopped: see the result, which is filled either way. */
bool client_follow_close(struct client_follow *f, struct client_followed *out,
                         struct run_result *result, struct error *err);
/* All three: until the run has ended and its final outputs are here, or detached. */
bool client_follow(struct client *c, const struct client_following *f, struct client_followed *out,
                   struct run_result *result, struct error *err);

/* ---- ending ---- */

/* End a run, or (task not NONE) a task and what depends on it. `answer`: what the agent says of it,
 * for people. */
bool client_cancel(struct client *c, uint64_t run, uint32_t task, struct strbuf *answer,
                   struct error *err);
/* Tell one agent to leave, and wait for its word, not for its going; `now`: running tasks are ended. `answer`: as above. */
bool client_drain(struct client *c, uint32_t node, bool now, struct strbuf *answer,
                  struct error *err);
/* Tell these agents (NULL: all) to leave; `now`: running tasks are ended. Waits until they have
 * left the board, or so many seconds. How many have not. */
uint32_t client_shut_down(struct client *c, const uint32_t *nodes, size_t n, bool now,
                          double seconds);
