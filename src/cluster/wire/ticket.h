/* What a submitter leaves on the board about a run: everything that an agent must know to work on
 * it. The workflow is text in the native format, so that every side reads the same numbers of tasks
 * and objects out of it. */
#pragma once
#include "base/array.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/seal.h"
#include "base/strbuf.h"
#include "model/environment.h"
#include "sched/policies.h"
#include "sched/share.h"
#include <stdbool.h>
#include <stdint.h>

/* The submitter as a node of the store: it holds what was done before the run, and sends no heartbeats. */
#define TICKET_CLIENT_NODE ((1u << 24) - 2)

/* An object that the submitter has: an input of the workflow, or made by a task that is done. */
struct ticket_file {
    uint32_t object;
    double bytes;
    struct digest digest;
};

struct ticket {
    uint8_t id[SEAL_ID]; /* of the run, drawn by the submitter: numbers may repeat, this does not */
    char *name;          /* of the workflow, for people */
    char *host, *folder; /* of the submitter; the folder as an absolute path */
    char *program;       /* version of the submitter's weft */
    bool shared;         /* agents see that folder too, and work in it */
    bool keep_going;     /* after a failure, run what does not depend on it */
    bool no_sandbox, unlimited;
    bool adapt;     /* policy changes by the volume transferred */
    bool adds;      /* a program may add tasks, and holds the run open for that */
    uint8_t policy; /* enum sched_policy */
    double t, tt;   /* 0: the scheduler's own */
    double retry_first, retry_most;
    double priority_of_run; /* among runs on one agent: each more doubles its share [0] */
    ARRAY(struct ticket_file) files;
    ARRAY(uint32_t) done;               /* tasks that need not run */
    ARRAY(uint32_t) skipped;            /* tasks that are known not to be taken */
    ARRAY(double) priority;             /* per task; empty: depth first */
    ARRAY(double) seconds;              /* expected, per task; empty: nobody knows */
    struct run_environment environment; /* variables, secrets, images: what its tasks run in */
    struct strbuf workflow;
};

void ticket_put(const struct ticket *t, struct strbuf *out);
/* `plain`: what ticket_put() wrote. On true the ticket has its memory, and it is empty. */
bool ticket_read(struct strbuf *plain, struct ticket *t, struct error *err);
void ticket_free(struct ticket *t);
