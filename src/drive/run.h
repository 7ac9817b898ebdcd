/* A workflow of commands, really run on this machine: the scheduler (sched) and its store driven in
 * real time by a libuv loop.
 *
 *     struct run_options o = {.workflow = w, .needs = &needs, ...};
 *     struct run_result result;
 *     run_workflow(&o, &result, &err)
 *
 * SIGINT and SIGTERM once: nothing new starts, what runs may end. Twice: everything is ended now.
 * No child is left behind either way. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "model/predictor.h"
#include "model/trace.h"
#include "model/workflow.h"
#include "memo/need.h"

struct run_options {
    const struct workflow *workflow;
    const char *folder;  /* where its files are and its commands run */
    const char *state;   /* weft's own folder for sandboxes and logs; NULL: none of either */
    const char *label;   /* of this run: its logs stand in STATE/logs/LABEL */
    struct needs *needs; /* what must run; NULL: everything, and nothing is recorded */

    uint32_t cores;          /* [1] */
    double memory;           /* bytes all tasks together may use [no limit] */
    double disk;             /* bytes of intermediate files alive at once [no limit] */
    const double *priority;  /* larger first [depth first] */
    const double *task_disk; /* expected bytes of a task's outputs [as stated in the workflow] */
    const struct predictor *predictor;

    bool keep_going; /* after a failure, run what does not depend on it */
    bool unlimited;  /* memory is measured, not enforced */
    bool no_sandbox;
    double retry_first, retry_most; /* seconds [0.1, 10]; negative: at once */
    double grace;                   /* from SIGTERM to SIGKILL [5] */
    const char *journal;            /* of the store; NULL: in memory */
    bool journal_eager;

    const struct trace_sink *const *sinks; /* events, after what they tell is on record */
    size_t nsinks;
    /* ten times a second, for a display. `stopping`: 1 after the first SIGINT or failure, 2 after
     * the second SIGINT. True asks the loop to stop, as SIGINT does */
    bool (*tick)(void *context, int stopping);
    void *context;
};

struct run_failure {
    uint32_t task, attempt;
    enum trace_outcome outcome;
    int status;
    double limit; /* MEMORY: bytes, TIMEOUT: seconds */
    char *text;   /* what weft has to say; NULL: nothing beyond the status */
    char *log;    /* path; NULL: it wrote nothing */
    bool last;    /* no attempt follows */
};

struct run_result {
    uint32_t done, reused, failed,
        skipped; /* tasks; skipped: not run because of failures or a stop */
    uint32_t attempts, orphans;
    bool interrupted;
    double seconds, busy; /* busy: sum over tasks of time x cores */
    double cpu;
    double peak_disk; /* bytes of intermediate files */
    double log_bytes;
    ARRAY(struct run_failure) failures; /* at most RUN_FAILURES are kept */
    ARRAY(char *) remarks;              /* undeclared files and the like */
};

enum { RUN_FAILURES = 1000, RUN_REMARKS = 20 };

/* False: the run could not go on for a reason that is not a task's (disk full, folder gone), or
 * tasks failed or were stopped: see the result, which is filled either way. */
bool run_workflow(const struct run_options *o, struct run_result *result, struct error *err);
void run_result_free(struct run_result *r);
