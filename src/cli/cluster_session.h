/* A session (run_session.h) whose tasks run on a cluster: handed in by `weft submit` and `weft run
 * --on`, followed by the latter and by `weft attach`. */
#pragma once
#include "cli/cluster_options.h"
#include "cli/run_session.h"

/* How work is handed in; a command that does it has these among its options. */
#define CLUSTER_WORK_OPTIONS                                                                       \
    {"submit", 0, "HOW",                                                                           \
     "which agents get tasks: best (all, equal shares; default), worst (one), group:HOST,HOST"},   \
        {"policy", 0, "NAME",                                                                      \
         "of stealing: " SCHED_POLICY_NAMES "or auto: by the volume transferred (default flds)"},  \
        {"shared", 0, NULL,                                                                        \
         "agents see the workflow's folder too: they work in it, nothing moves"},                  \
    {                                                                                              \
        "no-shared", 0, NULL, "copy files even when agents see the folder (default: look)"         \
    }

struct cluster_session {
    struct session *session;
    struct client *client;
    const struct cluster_place *place;
    const char *key_file;        /* of --key; NULL: the note keeps a key of its own */
    const char *target;          /* of --on; NULL: others' agents */
    uint64_t run;                /* 0: to be handed in */
    const struct ticket *ticket; /* of a run that is joined */
    enum client_interrupt interrupt;
    void (*load)(void *context, const struct client_load *load);
    void *load_context;
    struct client_followed followed;
    bool stopped; /* by the user: what runs is to be ended */
};

/* The options above. `group` belongs to the arguments. */
bool cluster_work_options(const struct arguments *a, struct client_work *work, struct error *err);
/* All of it, from a session that is open and predicted. */
bool cluster_hand_in(struct cluster_session *c, const struct run_options *o,
                     struct client_submitted *out, struct error *err);
/* A session_execute; the session's `where` is a cluster_session. */
bool cluster_execute(struct session *s, const struct run_options *o, struct run_result *result,
                     struct error *err);
/* How to come back to a run that goes on, and how to end it. */
void cluster_say_detached(const struct cluster_session *c);
