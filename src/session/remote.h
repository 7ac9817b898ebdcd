/* A session whose tasks run on agents: those of a cluster, or some that are started for this run
 * alone (on this machine, over ssh, by Slurm).
 *
 *     remote_open(&r, s, &options, &err)      agents are up, the client speaks to them
 *     session_prepare, session_go, step, finish      as on this machine: the executor is the remote
 *     remote_close(&r);                       own agents are released, unless the run goes on
 *
 *     remote_attach(&r, s, ...)               in place of the first: a run that goes on already
 *     remote_submit(&r, &in, &err)            in place of the second: hand it in, and go
 *
 * Opening, submitting and closing wait for the network; remote_stop() ends the waiting, from any
 * thread and from signal handlers. The process has to ignore SIGPIPE. */
#pragma once
#include "cluster/client/client.h"
#include "cluster/launch/elastic.h"
#include "cluster/launch/fleet.h"
#include "session/place.h"
#include "session/session.h"
#include <stdatomic.h>

struct remote_options {
    struct place_options place;
    const char *on;     /* NULL, "cluster": agents at the place; "local:3", "ssh:a,b", "slurm" */
    uint32_t nodes;     /* slurm: at most so many [1] */
    const char *submit; /* "best" [default], "worst", "group:HOST,HOST..." */
    const char *policy; /* "flds" [default], "rlds", "mlb", "mdl", "auto" */
    enum client_shared shared;
    double priority;     /* of the run among others on the same agents [0] */
    bool adds;           /* tasks will be added: the run is held open for that */
    bool later;          /* tasks that no agent has room for wait for one that does [an error] */
    const char *program; /* of agents that are started: weft [the one in PATH] */
};

struct remote {
    struct session *session;
    struct remote_options o;
    struct cluster_place place;
    struct client *client;
    struct fleet *fleet; /* NULL: others' agents */
    char *fleet_state;
    char *store;            /* the URL that its agents are given, with its password */
    struct elastic elastic; /* how many nodes the fleet should have */
    char *key_file;         /* for the note; NULL: the note keeps a key of its own */
    char *target;           /* for the note: what started the agents; NULL: others' */

    uint64_t run; /* 0: not handed in yet */
    struct ticket ticket;
    uint32_t parts; /* that had joined it when it was looked at */
    bool late;      /* somebody else handed it in: what happened before is told first */
    enum client_interrupt interrupt;
    struct client_follow *follow;
    ARRAY(struct strbuf) added; /* while what is known already is told: before there is a follow */
    struct client_submitted submitted;
    struct client_followed followed;
    bool stopped; /* by the user: what runs is to be ended */

    /* what a stop or a hang-up reaches now; set before it can, cleared before it is closed */
    struct client *_Atomic stop_client;
    struct fleet *_Atomic stop_fleet;
    atomic_int early_stops; /* that reached neither: what is opened next gets them */
};

/* Are the texts among the options valid? Opens nothing. */
bool remote_check(const struct remote_options *o, struct error *err);
/* The session is open, `elsewhere`. Its cores and memory become those of the agents. False: an
 * error; close all the same. */
bool remote_open(struct remote *r, struct session *s, const struct remote_options *o,
                 struct error *err);
/* Only the client, for remote_submit(). */
bool remote_connect(struct remote *r, struct session *s, const struct remote_options *o,
                    struct error *err);
/* A run by its number; opens the session, whose results go into s_options->folder (NULL: where it
 * was submitted from, if that is this machine's). */
bool remote_attach(struct remote *r, struct session *s, const struct remote_options *o,
                   const struct session_options *s_options, uint64_t run, struct error *err);
/* Hand the session's work in: r->submitted. */
bool remote_submit(struct remote *r, struct error *err);
void remote_stop(struct remote *r);
/* What a stop reaches from now on; each may be NULL. For agents.c. */
void remote_reachable(struct remote *r, struct client *c, struct fleet *f);
/* Leave: the run goes on without us. From any thread and from signal handlers. */
void remote_detach(struct remote *r);
/* How to come back to a run that goes on, and how to end it: a line for people. */
void remote_explain_detached(const struct remote *r, struct strbuf *out);
/* After the session was finished. Releases own agents unless the run goes on. */
void remote_close(struct remote *r);

/* The executor of a session on agents; its self is a struct remote. */
extern const struct session_executor remote_executor;
