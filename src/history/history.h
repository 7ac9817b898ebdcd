/* What runs leave behind: one SQLite database (WAL) of runs, tasks, attempts and files, and the
 * predictions that follow from them. docs/history.md describes the tables and the method.
 *
 * A run that records:
 *
 *     struct history *h = history_open(path, &err);       NULL: print a warning, run without
 *     head.run = history_begin(h, &head, text, n, &err);  0: likewise
 *     ... the run reports to history_sink(h) ...
 *     history_end(h, &totals, &err);                      false: a warning; the run is unharmed
 *     history_close(h);
 *
 * Two runs may record into one database at the same time. Every function returns false (NULL, 0)
 * and fills `err` on failure. Between history_begin() and history_end() only the sink may be used:
 * the connection belongs to the writing thread. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/pool.h"
#include "model/predictor.h"
#include "model/record.h"
#include "model/trace.h"
#include "model/workflow.h"
#include <stddef.h>
#include <stdint.h>

#define HISTORY_TEXT_LIMIT ((size_t)64 << 20) /* bytes of workflow text that are kept */

struct history;

/* Where the history is: $WEFT_HISTORY, else $XDG_DATA_HOME/weft/history.db, else
 * ~/.local/share/weft/history.db. NULL: none is wanted (WEFT_HISTORY=none) or there is no home.
 * The caller frees. */
char *history_default_path(void);

/* Open for recording and reading; makes the file and its folders, brings an older one up to date.
 * NULL: damaged, locked for 5 s, from a newer weft, not a history, not to be written. */
struct history *history_open(const char *path, struct error *err);
/* The same for a reader: NULL with err->kind ERROR_NONE when there is no such file yet. */
struct history *history_open_existing(const char *path, struct error *err);
void history_close(struct history *h); /* NULL is fine; a run that was not ended will be "lost" */

/* ---- recording ---- */

/* A new run; its number, 0 on failure. With head->run and head->started it is one that has a record, whose process is gone or which it has
 * ended: that record begins anew, under its number, with its head, its predictions and what people said of it. Where there is no such
 * record, or somebody writes it, the run is new as well. From `head`: name, file, folder, host (NULL: this one),
 * planner, started (0: now), cores, memory, speed, tasks, predicted_*, predicted and reasons (per task, may be
 * NULL) and workflow, which must stay unchanged until history_end(): the tasks' names and kinds are
 * read by the writing thread. `text` (n bytes, may be NULL) is the workflow as native YAML; it is
 * kept once for all equal ones, and not kept past HISTORY_TEXT_LIMIT. It is copied. */
int64_t history_begin(struct history *h, const struct run_record *head, const char *text, size_t n,
                      struct error *err);

/* The workflow is about to grow (model/growth.h): the writing thread lets go of it, and
 * history_set_workflow() will tell what became of it. Cheap after the first time. */
void history_let_go(struct history *h);
/* Before history_end(), of a run that grew: what its workflow is now, with its text as in
 * history_begin(). */
bool history_set_workflow(struct history *h, const struct run_record *head, const char *text,
                          size_t n, struct error *err);

/* Where the run reports to, from any thread. An event costs a lock and a copy; a thread of its own
 * writes twice a second, and no failure of it reaches the run before history_end(). Of the events,
 * TRACE_BEGIN is not kept; TRACE_REUSED is kept as ranges of tasks. Of the files, those that the
 * run made and the inputs of the workflow are kept (a reused file was recorded by its maker). */
struct trace_sink history_sink(struct history *h);

/* What a run says of itself while it goes on: a value, as results state them. `label`, `of`: of which of
 * several ("filter", "blur"), or NULL. NAN is left out. */
struct history_figure {
    const char *name, *label, *of;
    double value;
};
/* Of the run that is being recorded, from one thread at a time. They replace those of the same name and label; copied. */
void history_figures(struct history *h, const struct history_figure *figures, size_t n);

/* Write what is left and the end of the run: from `totals`, outcome, seconds, ran, reused, failed,
 * skipped, tasks, peak_memory, peak_disk, failures. False: how much could not be recorded, and why. */
bool history_end(struct history *h, const struct run_record *totals, struct error *err);

struct history_pruning {
    double age, size; /* seconds, bytes; INFINITY: no limit */
    uint32_t runs;    /* that went */
    bool first;       /* and none had before */
};
/* Remove runs that are older, and the oldest while the history is larger: but not the twenty newest, nor
 * one that may still go on. For about a second at most; the rest goes another time. */
bool history_prune(struct history *h, struct history_pruning *p, struct error *err);

/* ---- reading ---- */

struct history_filter {
    const char *workflow; /* NULL: any; else part of the workflow's name */
    bool failed;          /* only those that did not end well */
    double since;         /* seconds since 1970; 0: any time */
    size_t limit;         /* 0: none */
    const char
        *where; /* an expression in SQL over facts and columns of runs, or a SELECT of numbers
                             of runs (docs/history.md); NULL: any */
    const char
        *words; /* at blanks; a run has each of them in something that is known of it; NULL: any */
    const struct digest *digest; /* of a file that the run made or read; NULL: any */
};

typedef ARRAY(struct run_record) history_runs;

/* Heads of runs (no events, files, workflow; of the facts those that `where` names), newest first. A run without an end whose process is
 * gone is RECORD_LOST. Free with history_runs_free(). */
bool history_list(struct history *h, const struct history_filter *filter, history_runs *out,
                  struct error *err);
void history_runs_free(history_runs *runs);

/* ---- tasks and files of all runs ---- */

struct history_search {
    int64_t run;          /* only of this one; 0: any */
    const char *workflow; /* NULL: any; else part of the workflow's name */
    bool failed;          /* tasks: only attempts that did not end well */
    double since;         /* seconds since 1970: tasks that began, files of runs that did; 0: any */
    const char *where;    /* in SQL over facts, columns of runs and of the subject; NULL: any */
    const char *words; /* at blanks, each in the name, kind or command of the task, the path of the
                                    file, or what is known of the run as a whole; NULL: any */
    const struct digest *digest; /* files of this content, tasks that made it; NULL: any */
    size_t limit;                /* 0: none */
    uint64_t look;               /* rows to look at, at most about so many; 0: all */
};

/* An attempt of a task, or a file, with the head of its run: number, name, folder, host and start, and those
 * facts of both that the question names. */
struct history_found {
    struct run_record run;
    char *task, *kind, *command; /* of a file its maker; NULL: not known */
    struct trace_event attempt;  /* of a task */
    struct record_file file;     /* of a file */
};
typedef struct {
    ARRAY(struct history_found) list; /* newest run first, in it the last written first */
    bool whole;                       /* false: what is older than run `from` was not looked at */
    int64_t from;
} history_findings;
bool history_search_tasks(struct history *h, const struct history_search *s, history_findings *out,
                          struct error *err);
bool history_search_files(struct history *h, const struct history_search *s, history_findings *out,
                          struct error *err);
void history_findings_free(history_findings *f);

/* One run with everything but the workflow, which the caller may parse from its text. 0: the
 * newest run. Free with record_free(). */
bool history_load(struct history *h, int64_t run, struct run_record *out, struct error *err);
/* Its head only. */
bool history_head(struct history *h, int64_t run, struct run_record *out, struct error *err);

/* ---- following a run while it goes on, from another process ---- */

/* An attempt as the record has it, in half of the room of an event. */
struct history_attempt {
    double start, finish, cpu, memory;
    double written; /* bytes of outputs */
    uint32_t task, node, lane, attempt;
    int outcome, status; /* enum trace_outcome */
};
typedef ARRAY(struct history_attempt) history_attempts;

/* Data that went from one node to another. */
struct history_transfer {
    double start, finish, bytes;
    uint32_t object, from, to; /* from NONE: who submitted the run, or followed it */
};
typedef ARRAY(struct history_transfer) history_transfers;

/* How far a run has been read. */
struct history_place {
    uint32_t attempts, reused, events; /* rows */
};
/* What was written since: attempts and transfers are appended; `reused` and `skipped` (tasks bytes each) get a 1 for each task that is. Costs
 * what is new. */
bool history_follow(struct history *h, int64_t run, struct history_place *at, history_attempts *out,
                    history_transfers *transfers, uint8_t *reused, uint8_t *skipped, uint32_t tasks,
                    struct error *err);
/* Its head, without what counting its rows tells: ran, failed and reused of a run without an end are 0. */
bool history_follow_head(struct history *h, int64_t run, struct run_record *out, struct error *err);
/* r->predicted, of r->run and its tasks; it stays NULL when nothing was predicted. */
bool history_predictions(struct history *h, struct run_record *r, struct error *err);
/* A byte a task, as head->reasons was; the caller frees. NULL: of this run it is not known; tasks that came later have 0. */
bool history_reasons(struct history *h, int64_t run, uint32_t tasks, uint8_t **out,
                     struct error *err);
/* The process that began it, if that runs here; 0: it does not, or the run is over. */
int64_t history_process(struct history *h, int64_t run, struct error *err);
/* Changes whenever one of the newest runs begins or ends. Costs less than a millisecond. */
bool history_stamp(struct history *h, uint64_t *stamp, struct error *err);

/* A task that failed for good in an earlier run, newest first. */
struct history_past {
    int64_t run;
    double started; /* of the run */
    char *task;     /* its name */
    struct record_failure failure;
};
typedef ARRAY(struct history_past) history_pasts;

/* Of the ten newest runs of a workflow of this name in this folder (absolute). */
bool history_past_failures(struct history *h, const char *folder, const char *workflow,
                           history_pasts *out, struct error *err);
void history_pasts_free(history_pasts *past);
/* Did the task end well there in a later run than this one? False as well when nobody can tell. */
bool history_ended_well_since(struct history *h, const char *folder, const char *workflow,
                              const char *task, int64_t run);

/* The text given to history_begin(), followed by a NUL that is not counted; the caller frees.
 * NULL with err->kind ERROR_NONE: it was not kept. */
char *history_workflow_text(struct history *h, int64_t run, size_t *n, struct error *err);
/* Runs of equal workflows have the same number, and the same text: who reads it need not read it again.
 * 0: not known. */
int64_t history_workflow_number(struct history *h, int64_t run);

/* What tasks of a workflow read and make, without its text: objects by number, their names as
 * workflow_object_label() has them. Task t reads in[in_off[t] .. in_off[t + 1]] and makes out[t] up to
 * before out_end[t]; object o is read by read[read_off[o] .. read_off[o + 1]]. */
struct history_shape {
    uint32_t ntasks, nobjects;
    const uint32_t *in_off, *in, *out, *out_end, *read_off, *read, *name_off;
    const uint32_t *slot; /* of history_shape_find() */
    uint32_t nslots;
    const char *names; /* name_off[o]: where that of o begins */
    uint32_t *image;   /* owned: all of these point into it */
};
/* By history_workflow_number(). False: it is not on record (an older weft's), or damaged. */
bool history_shape(struct history *h, int64_t workflow, struct history_shape *out);
/* The same, of the workflow itself; put on record if that can be done at once. */
bool history_shape_of(struct history *h, int64_t workflow, const struct workflow *w,
                      struct history_shape *out);
uint32_t history_shape_find(const struct history_shape *s, const char *name); /* NONE: no object */
void history_shape_free(struct history_shape *s);

/* Names and kinds of a run's tasks, by task number. */
struct history_tasks {
    struct pool text;
    str_id *name, *kind;
    uint32_t n;
};
bool history_tasks(struct history *h, int64_t run, struct history_tasks *out, struct error *err);
const char *history_task_name(const struct history_tasks *t, uint32_t task);
const char *history_task_kind(const struct history_tasks *t, uint32_t task);
void history_tasks_free(struct history_tasks *t);

/* Where a file comes from: every run that made it or found it, newest first. */
struct history_origin {
    int64_t run;
    double started; /* of the run */
    char *name;     /* of the workflow */
    char *folder;   /* where the run ran */
    char *maker;    /* the task's name; NULL: it was an input */
    struct record_file file;
};
typedef ARRAY(struct history_origin) history_origins;

/* `path` is absolute, without "." and "..". At most `limit` rows (0: all). */
bool history_file(struct history *h, const char *path, size_t limit, history_origins *out,
                  struct error *err);
/* The newest record of the path (as workflows have it) in this folder up to a run: 1 it is in `out`, whose
 * texts the caller frees, 0 there is none, -1 an error. */
int history_file_at(struct history *h, const char *folder, const char *path, int64_t run,
                    struct history_origin *out, struct error *err);
/* Runs in the folder of this record from its own to the last before the path got another content, oldest
 * first: those that found it there. Only runs below `until` (0: all), at most `most` of them. */
bool history_holders(struct history *h, const struct history_origin *o, int64_t until,
                     int64_t *runs, size_t most, size_t *n, struct error *err);
/* Every file on record with this content, whatever its path, newest run first. */
bool history_content(struct history *h, const struct digest *content, size_t limit,
                     history_origins *out, struct error *err);
void history_origins_free(history_origins *origins);

/* ---- what people say of runs ---- */

/* FACT_TAG, FACT_NOTE (a run has any number of them) or FACT_NAME (one, and no other run has it);
 * `unsay` takes it back. */
bool history_say(struct history *h, int64_t run, enum fact_sort sort, const char *text, bool unsay,
                 struct error *err);
/* The run of this name; 0: none, or an error. */
int64_t history_named(struct history *h, const char *name, struct error *err);

/* ---- another history ---- */

struct history_merged {
    uint32_t runs;    /* that came over, with numbers of their own here */
    uint32_t there;   /* that were here already: the same host, time, workflow and process */
    uint32_t running; /* that have no end, and were left out */
    int64_t first;    /* number of the first that came; 0: none did */
    char hosts[256];  /* where they ran, as far as they fit */
};
/* Take over the runs of another history, of this version or an older one, which is only read. All of them
 * or, after an error, none. False as well: it is not one, or this one itself. */
bool history_merge(struct history *h, const char *path, struct history_merged *out,
                   struct error *err);
/* Is this file a database? Then history_merge() says whether it is a history. */
bool history_is_database(const char *path);

/* ---- prediction ---- */

enum forecast_method {
    FORECAST_NONE,       /* no sample of its kind: nothing is known */
    FORECAST_FEW,        /* median of fewer than 5 samples */
    FORECAST_MEDIAN,     /* median of the kind */
    FORECAST_LINE,       /* regression on the bytes read */
    FORECAST_MEDIAN_OWN, /* either, corrected by the task's own past */
    FORECAST_LINE_OWN,
};
const char *forecast_method_name(enum forecast_method method);

#define FORECAST_SAMPLES 1000 /* most recent ones of a kind */

struct forecast; /* what is predicted for each task of a workflow */

struct forecast_task {
    struct prediction prediction; /* samples 0: its figures are NAN */
    const char *kind;             /* that it is predicted by (model/task_kind.h) */
    enum forecast_method method;
    /* each NAN when it is not known */
    double read, written; /* bytes of inputs, found or predicted; of outputs */
    double transfer;      /* seconds in which its inputs come from another machine */
    double disk;          /* bytes that 19 of 20 write less than */
    double busy;          /* cores that it keeps busy: processor time by time */
};

struct forecast_kind {
    const char *name;
    uint32_t tasks, samples;     /* tasks of the workflow; samples in the history */
    enum forecast_method method; /* of the time */
    double slope;                /* of log time over log bytes; 0 without regression */
    double error, error90; /* leave-one-out: median and 90 % quantile of |predicted/real - 1| */
    double memory_error;   /* the same median for memory; NAN: no sample */
    uint32_t hosts;        /* machines that the samples come from: forecast_host() */
};

struct forecast_host {
    const char *name;
    double speed; /* that its times were scaled by; 0: not measured, taken for 1 */
    uint32_t samples;
};

/* What is asked for. */
struct forecast_request {
    const struct workflow *workflow; /* must outlive the forecast */
    const char *name;   /* what its runs are recorded under (run_record.name); NULL: not known */
    const char *folder; /* where its files are; NULL: here */
    bool sizes;         /* of all inputs, also where no time depends on them */
};

/* Predict every task. A task's own past is that of its name in workflows of that name. */
struct forecast *history_forecast(struct history *h, const struct forecast_request *request,
                                  struct error *err);
bool forecast_knows(const struct forecast *f); /* there is a sample for some task */
void forecast_free(struct forecast *f);
/* For planners; valid as long as the forecast. Knows nothing about tasks without samples. */
struct predictor history_predictor(struct forecast *f);
void forecast_task(const struct forecast *f, uint32_t task, struct forecast_task *out);
/* Seconds at speed 1 that it stays below with probability `risk`, 0 < risk < 1; 0.5 is the prediction.
 * NAN: not known. */
double forecast_seconds(const struct forecast *f, uint32_t task, double risk);
/* The kinds of the workflow in order of first task. */
uint32_t forecast_kinds(const struct forecast *f);
void forecast_kind(const struct forecast *f, uint32_t kind, struct forecast_kind *out);
/* Machine `i` of those of the kind, the one with the newest sample first. */
void forecast_host(const struct forecast *f, uint32_t kind, uint32_t i, struct forecast_host *out);

/* How well a kind was predicted in a past run, of which something was. */
struct history_error {
    int64_t run;
    double started; /* of the run */
    char *workflow, *kind;
    uint32_t attempts; /* that ended well and were predicted */
    double error;      /* median of |predicted / real - 1| */
    double ratio;      /* median of predicted / real: above 1 too much was expected */
    double inside;     /* share of them inside the interval, 0 to 1 */
};
typedef ARRAY(struct history_error) history_errors;
/* Of the newest `runs` with predictions, newest first. */
bool history_predicted(struct history *h, size_t runs, history_errors *out, struct error *err);
void history_errors_free(history_errors *errors);
