/* A run from the command line: what `weft run` and `weft experiment` share. Reads what is known
 * about the folder, says what would run and why, runs it under the display, records it, sums it up.
 */
#pragma once
#include "cli/cli.h"
#include "session/run_forecast.h"
#include "history/history.h"
#include "memo/need.h"
#include "drive/run.h"

struct session;

/* Who runs the tasks, in place of this machine (run_workflow() is the same for it). False: see the
 * error; s->detached: the run goes on without us. */
typedef bool (*session_execute)(struct session *s, const struct run_options *o,
                                struct run_result *result, struct error *err);

struct session {
    const struct arguments *a;
    const char *flow; /* the file as the user names it */
    struct workflow *w;
    char *folder, *state;      /* where the files are; weft's own folder in there */
    char *name;                /* of the workflow, for people and for the history */
    bool quiet, json, crashed; /* crashed: the last run here ended without a word */

    uint32_t cores;
    double memory, disk; /* INFINITY: no limit */
    double retry_first;

    struct memo *memo;
    struct memo_opened found;
    struct memo_loader *loader; /* reads the memo while the workflow is being read; NULL: nobody */
    struct needs needs;
    struct history *history; /* NULL: none */
    struct forecast *forecast;
    double *seconds, *task_memory; /* expected, per task */
    struct prediction *predicted;
    double *priority; /* once something asks for an order: a plan, or session_predict() */
    char *planner;    /* whose order; NULL: depth first */
    struct run_forecast ahead;

    bool elsewhere;     /* tasks run on other machines: files between them may be absent here */
    struct strbuf text; /* elsewhere: the workflow in the native format, from which `w` was read */
    session_execute execute;      /* NULL: this machine */
    void *where;                  /* its own */
    struct live_display *display; /* while it executes */
    bool detached;
};

/* The options that a command must have among its own. */
#define RUN_OPTIONS                                                                                \
    {"jobs", 'j', "N", "cores that tasks may use at once (default: all of this machine)"},         \
        {"memory", 'm', "SIZE", "memory that tasks may use at once (default: all)"},               \
        {"disk", 0, "SIZE", "most bytes of intermediate files alive at once"},                     \
        {"directory", 'C', "DIR", "where the files are (default: where the workflow's file is)"},  \
        {"keep-going", 'k', NULL, "after a failure, run what does not depend on it"},              \
        {"force", 'f', NULL, "run every task, done or not"},                                       \
        {"dry-run", 'n', NULL, "say what would run and why, with predicted time, memory, disk"},   \
        {"resume", 0, NULL,                                                                        \
         "go on after a crash (a plain run does too; this says what it found)"},                   \
        {"no-sandbox", 0, NULL, "run every task in the workflow's folder itself"},                 \
        {"no-limits", 0, NULL, "measure the memory of tasks, but do not enforce it"},              \
        {"retry-delay", 0, "SECONDS", "before the second attempt, then doubled (default 0.1)"},    \
    {                                                                                              \
        "no-history", 0, NULL, "leave no record of this run, and predict nothing"                  \
    }

/* Before the workflow is read: what is known about its folder is read meanwhile, by a thread. */
void session_begin(struct session *s, const struct arguments *a, const char *flow);
/* Before opening: tasks will run on other machines. */
void session_elsewhere(struct session *s, session_execute execute, void *where);
/* In place of begin and open: a run that goes on already, whose results belong into `folder`. Takes
 * the workflow over; `done`: tasks that did not have to run. */
bool session_join(struct session *s, const struct arguments *a, const char *name,
                  const char *folder, struct workflow *w, const uint32_t *done, size_t ndone,
                  struct error *err);
/* Take the workflow over (NULL: there is none after all) and look at its folder. False: an error;
 * close all the same. */
bool session_open(struct session *s, struct workflow *w, struct error *err);
/* Prefer tasks in the order of a plan, of which `planner` is the name. */
void session_follow(struct session *s, const struct plan *plan);
/* Time, memory and disk ahead, from the history's predictions. */
void session_predict(struct session *s);
/* Run what must; the exit status. */
int session_run(struct session *s);
/* --dry-run: the same without running. */
int session_show(struct session *s);
/* --why TASK */
int session_why(struct session *s, const char *task);
void session_close(struct session *s);
