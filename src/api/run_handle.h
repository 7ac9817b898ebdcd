/* The handles of runs, clusters and experiments with what is behind them, and the one way in and out
 * of a call on them.
 *
 * A run does not keep a ledger (api.h): it is stepped millions of times, has children, threads and a
 * database behind it, and a block-by-block release would pull the memory from under them. Running
 * out of memory inside a call breaks the handle instead: the call fails with WEFT_NO_MEMORY, every
 * later one says so, and closing it ends the children, gives up the folder's lock, closes the history
 * and frees the handle alone: the blocks of the session are lost. Of a run on agents (session/remote.h)
 * the connections stay until the process ends. */
#pragma once
#include "api/api.h"
#include "model/guide.h"
#include "session/expand.h"
#include "session/remote.h"
#include "session/session.h"
#include "weft/run.h"

struct run_call {
    struct mem_boundary boundary;
    struct error err;
    struct weft_error *out;
    bool *broken;
    bool good;
};

void run_call_begin(struct run_call *call, struct weft_error *out, bool *broken);
bool run_call_end(struct run_call *call);

/* As API_CALL of api.h: what stands after it sets call.good; no return, break or goto leaves it. */
#define RUN_CALL(call, out, broken_at)                                                             \
    struct run_call call;                                                                          \
    run_call_begin(&call, (out), (broken_at));                                                     \
    if (!*call.broken && setjmp(call.boundary.jump) == 0)

/* Who gets events: a run's, a cluster's or an experiment's. */
struct event_target {
    weft_event_function event;
    void *context;
};
struct remarks api_remarks(struct event_target *to);

struct weft_run {
    const char *resources; /* of this machine, as resources_resolve() gives them; NULL: none */
    bool broken;
    struct session session;
    struct remote remote;
    bool on_agents, attached;    /* the remote is the executor, or is to be */
    uint64_t cluster_number;     /* once the remote is released */
    struct remote_options place; /* its texts are ours: */
    ARRAY(char *) texts;
    struct event_target to;
    weft_progress planning;
    enum plan_follow follow;
    struct weft_platform *platform; /* of a plan that a caller gave; NULL: none */
    /* a plan that is made when the agents are known; NULL: none. Its options are texts of ours */
    const struct planner *asked;
    const char **asked_options;
    uint64_t asked_seed;
    bool planned; /* a plan was chosen, or is not wanted */
    struct weft_counts counts;
    uint8_t *task_state; /* per task: enum in run_events.c */
    struct weft_workflow view;
    struct strbuf said;
    struct weft_result result;
    struct weft_failure *failures;
    bool started, over;
    struct weft_experiment *experiment; /* whose merged workflow it runs; NULL: none */
};

struct weft_experiment {
    bool broken;
    struct expansion e;
    struct expand_options o;
    struct event_target to;
    struct progress planning;
    struct api_pairs read;
    weft_progress planning_function;
    struct strbuf said;
    char **paths;
    size_t npaths;
    bool running; /* its merged workflow is lent to a run */
};

/* A run on options, not open yet: texts are copied, remarks go to its events. NULL on failure. */
struct weft_run *run_handle_new(const struct weft_run_options *options, struct error *err);
void run_handle_free(struct weft_run *run);
/* The options as a session and a remote have them. `flow`: the file. */
struct session_options run_handle_session(struct weft_run *run, const struct weft_run_options *o,
                                          const char *flow);
/* After session_open(). */
void run_handle_opened(struct weft_run *run);

/* A workflow of one's own: the model of a handle is frozen and others may read it, while a session
 * learns times into its own. By way of its native text; NULL: an error. */
struct workflow *run_copy_workflow(const struct workflow *w, const char *folder, struct error *err);

/* run_ahead.c: a workflow with constraints of its own is planned, unless a plan was chosen. */
bool run_plan_asserted(struct weft_run *run, struct error *err);
/* On agents, once they are known: the plan that was asked for. */
bool run_plan_on_agents(struct weft_run *run, struct error *err);
/* A copy that lives as long as the run. NULL gives NULL. */
const char *run_keep_text(struct weft_run *run, const char *text);

/* run_events.c: listen to the session and report; count progress. */
void run_events_listen(struct weft_run *run);
void run_events_report(struct weft_run *run, enum weft_event_kind kind);
void run_events_on_tick(void *run, int stopping);
/* The planner's progress as the caller's. */
bool run_events_planning(void *run, double fraction, const char *what);
