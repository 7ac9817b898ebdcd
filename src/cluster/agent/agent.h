/* One agent of a cluster: joins the board, works on every run that is open there, until it is asked
 * to leave. */
#pragma once
#include "base/error.h"
#include "base/seal.h"
#include "model/workflow.h"
#include "store/board.h"

struct agent_options {
    const struct store_address *store;
    struct seal_key key;
    const char *bind;      /* "host:port" for links ["127.0.0.1:0"] */
    const char *advertise; /* HOST or HOST:PORT under which others reach it [those of `bind`] */
    bool advertise_port;   /* it has a port */
    const char *state;     /* its own folder: identity, data of runs, logs; one agent at a time */
    const char *scratch;   /* where the data of runs is kept: a disk of this machine [state] */
    const char *host;      /* its name for people */
    uint32_t cores;
    double memory;         /* bytes [no limit] */
    const char *has;       /* attributes that tasks may need, "avx512,ssd" [none] */
    const char *resources; /* things that tasks may hold, "gpu=[0,1],licence=4" [none] */
    double cache;          /* most bytes of data kept for a run [no limit] */
    double keep_for;  /* seconds that the data of an ended run waits for who takes it [14 days] */
    double keep_size; /* most bytes of such data [a fifth of the disk it is on] */
    double lease;     /* seconds without a beat until others take over [5] */
    double ends;      /* when it is taken back, seconds since 1970 [never] */
    double linger;    /* leave after so many seconds without work [never] */
    uint64_t only;    /* work on this run alone, and leave when it was collected; 0: on all */
    bool temporary;   /* its data in `scratch` goes with it */
    bool serves;      /* the store is its own: it leaves last */
    bool allocated;   /* a batch system gave this node, and takes it back: it signals tasks, too */
    double bandwidth; /* bytes a second between agents, for Algorithm 1 [1.25e8] */
    int stop;         /* an eventfd: what is added to it are requests to leave [0: there is none] */
    /* The reader of the native format: a run's workflow is such a text. */
    struct workflow *(*read)(const char *text, size_t n, struct error *err);
    void (*ready)(void *context, uint32_t node, const char *address);
    void (*log)(void *context, const char *line);
    /* every change of state of the agent, its jobs and wants, for who looks for a mistake; may be
     * NULL */
    void (*trace)(void *context, const char *line);
    void *context;
};

/* Until it has left: by MESSAGE_LEAVE, a request at `stop` (running tasks may end), a second one
 * (they are ended), or `linger`. Installs no signal handlers. False: could not begin, or could not go on. */
bool agent_run(const struct agent_options *o, struct error *err);
