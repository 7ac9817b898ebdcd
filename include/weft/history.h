/* libweft: the history. What past runs left behind: runs, attempts, files, where a file comes from,
 * what got slower, and what follows for the next run.
 *
 * A history handle is used by one thread at a time; what it gives out are snapshots that live on
 * their own. Part of <weft/weft.h>. */
#ifndef WEFT_HISTORY_H
#define WEFT_HISTORY_H
#include "weft/common.h"
#include "weft/run.h"
#include "weft/workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_history;

/* `path` NULL: $WEFT_HISTORY, else $XDG_DATA_HOME/weft/history.db, else
 * ~/.local/share/weft/history.db. A history that is not there is an error. */
struct weft_history *weft_history_open(const char *path, struct weft_error *error);
void weft_history_close(struct weft_history *h);

/* What another system recorded, into the history of the user: a WfFormat file with an execution, a trace
 * of Nextflow, what `sacct -P` prints. Prediction learns from it as from runs of our own. False: an error,
 * also when it is there already. */
struct weft_imported {
    int64_t run;
    uint32_t tasks, attempts;
    size_t left_out; /* rows of tasks that did not run (cached, pending) or have no time */
    char system[16]; /* "nextflow", "slurm", "wfformat" */
};
bool weft_history_import(const char *path, struct weft_imported *out, struct weft_error *error);

/* The runs of another machine's history, of this version or an older one, into that of the user: with
 * new numbers, and the host they ran on. What is there already is not taken twice; the file is only read.
 * All of it or nothing. False: an error, also when it is not a history. */
struct weft_merged {
    int64_t first;    /* number of the first run that came; 0: none did */
    uint32_t runs;    /* that came, numbered from there on */
    uint32_t there;   /* that were there already */
    uint32_t running; /* without an end: left out */
    char hosts[256];  /* where they ran, as far as they fit */
};
bool weft_history_merge(const char *path, struct weft_merged *out, struct weft_error *error);
/* Is the file a database (and so for weft_history_merge(), not _import())? */
bool weft_history_is_database(const char *path);

/* ---- runs ---- */

struct weft_run_head {
    int64_t run;                                 /* its number */
    const char *workflow, *file, *folder, *host; /* NULL: not known */
    const char *planner;                         /* whose order it followed; NULL: none */
    const char *outcome; /* "running", "done", "failed", "cancelled", "lost" */
    double started;      /* seconds since 1970 */
    double seconds;      /* NAN: it runs, or was lost */
    uint32_t cores, tasks, ran, reused, failed, skipped;
    double predicted_seconds, peak_memory, peak_disk; /* NAN: not known */
    uint32_t untaken;                                 /* of the skipped: by a decision */
    uint32_t excused;                                 /* of the failed: those that may */
};

struct weft_runs; /* a list, newest first */
struct weft_runs_filter {
    size_t size;
    const char *workflow; /* part of its name; NULL: any */
    bool failed;          /* only those that did not end well */
    double since;         /* seconds since 1970; 0: any time */
    size_t limit;         /* 0: none */
    /* An expression in SQL over parameters, labels and values of results, tags and columns of runs:
     * "sigma > 1 and f1 > 0.9"; or a SELECT of numbers of runs. docs/history.md; NULL: any. It reads
     * and does nothing else, and is stopped after 10 s. */
    const char *where;
    /* Words, at blanks, each of which the run has somewhere: names of workflow, tasks and files, folder,
     * host, commands, parameters, labels, values, tags, notes; NULL: any */
    const char *words;
    const char *digest; /* as in struct weft_search: runs that made or read it; NULL: any */
};
#define WEFT_RUNS_INIT                                                                             \
    {                                                                                              \
        sizeof(struct weft_runs_filter), NULL, false, 0, 0, NULL, NULL, NULL                       \
    }
struct weft_runs *weft_history_runs(struct weft_history *h, const struct weft_runs_filter *filter,
                                    struct weft_error *error);
void weft_runs_free(struct weft_runs *runs);
/* Run number `i` of the list; false: there are no more. */
bool weft_runs_get(const struct weft_runs *runs, size_t i, struct weft_run_head *out);

/* ---- tasks and files of all runs ---- */

struct weft_search {
    size_t size;          /* set by WEFT_SEARCH_INIT: fields may be added at the end */
    int64_t run;          /* only of this one; 0: of all */
    const char *workflow; /* part of its name; NULL: any */
    bool failed;          /* tasks: attempts that did not end well; of files an error */
    double since; /* seconds since 1970: tasks that began, files of runs that did; 0: any time */
    /* As of runs. A task has columns of its own (task, kind, command, attempt, status, started, seconds, cpu,
     * memory, read, written, node, core, outcome), a file too (path, size, digest, made, task, kind), and a
     * value is what results of the task state. */
    const char *where;
    /* Words, at blanks, each of which the task has in its name, kind or command, the file in its path, or the
     * run in what is known of it as a whole */
    const char *words;
    /* A content: 64 hexadecimal digits, or the path of a file that has it. Files with it, tasks that made it */
    const char *digest;
    size_t limit; /* findings at most; 0: all */
    /* Rows that are looked at, at most; 0: all. What a run cannot have is mostly known without its rows:
     * weft_findings_whole() says whether this was enough. */
    size_t look;
};
#define WEFT_LOOK 500000 /* rows: about 0.15 s */
#define WEFT_SEARCH_INIT                                                                           \
    {                                                                                              \
        .size = sizeof(struct weft_search), .limit = 20, .look = WEFT_LOOK                         \
    }
struct weft_findings;
/* Attempts of tasks that a run ran; what it found done is not among them. */
struct weft_findings *weft_history_search_tasks(struct weft_history *h,
                                                const struct weft_search *search,
                                                struct weft_error *error);
/* Files that runs made, and inputs of their workflows. */
struct weft_findings *weft_history_search_files(struct weft_history *h,
                                                const struct weft_search *search,
                                                struct weft_error *error);
void weft_findings_free(struct weft_findings *f);
/* False: runs older than number `from` were not looked at (of that one perhaps a part). `from` may be
 * NULL. */
bool weft_findings_whole(const struct weft_findings *f, int64_t *from);

struct weft_found_task {
    size_t size; /* set by the caller, by WEFT_FOUND_TASK_INIT: fields may be added at the end */
    int64_t run;
    const char *workflow, *folder, *host; /* of the run; NULL: not known */
    const char *name, *kind;              /* NULL: not known */
    const char *command; /* as the workflow has it, "sort {in} > {out}"; NULL: not known */
    const char *outcome; /* "done", "failed", "killed", "timeout", "memory", ... */
    uint32_t task, attempt;
    int status;
    double started; /* seconds since 1970 */
    double seconds, cpu, memory, read, written;
    uint32_t node, core;
};
#define WEFT_FOUND_TASK_INIT                                                                       \
    {                                                                                              \
        .size = sizeof(struct weft_found_task)                                                     \
    }
/* Finding number `i`, the newest run first; false: there are no more, or it was a search of files. */
bool weft_findings_task(const struct weft_findings *f, size_t i, struct weft_found_task *out);

struct weft_found_file {
    size_t size; /* set by the caller, by WEFT_FOUND_FILE_INIT: fields may be added at the end */
    int64_t run;
    double started;                       /* of the run, seconds since 1970 */
    const char *workflow, *folder, *host; /* of the run; NULL: not known */
    const char *path;                     /* as in the workflow, under the folder */
    const char *maker;                    /* the task's name; NULL: an input of the workflow */
    double bytes;
    bool produced;   /* by this run; else found as it was */
    char digest[65]; /* of its content, in hexadecimal; "": not known */
};
#define WEFT_FOUND_FILE_INIT                                                                       \
    {                                                                                              \
        .size = sizeof(struct weft_found_file)                                                     \
    }
bool weft_findings_file(const struct weft_findings *f, size_t i, struct weft_found_file *out);

/* ---- one run ---- */

/* A run by what people type: a number, "last", or its name. -1: none such. */
int64_t weft_history_find(struct weft_history *h, const char *text, struct weft_error *error);

/* Say something of a run: "tag", "note" (any number of either), or "name" (one, and of no other run);
 * weft_history_find() knows runs by their names. `unsay` takes it back. */
bool weft_history_say(struct weft_history *h, int64_t run, const char *sort, const char *text,
                      bool unsay, struct weft_error *error);

/* The graph of a run as it was, with its parameters and commands: to look at, to write, to run again
 * (weft_run_open_recorded() does that where it ran). */
struct weft_workflow *weft_history_workflow(struct weft_history *h, int64_t run,
                                            struct weft_error *error);

/* A run for other programs, by the format's name:
 *     "crate"     a Workflow Run RO-Crate: a folder with its description (ro-crate-metadata.json), the
 *                 graph as it was, and copies of what the run read and left, as far as that is still there
 *                 or kept. A path that ends with ro-crate-metadata.json: without the copies
 *     "wfformat"  the graph with its execution, in WfFormat; tasks that failed are left out
 *     "csv", "json"  the attempts
 *     any other   the graph alone, in that format of workflows (weft_format_for())
 * NULL: by the path's suffix; one without, or that ends with a slash, is a crate. Nothing that is there is
 * written over by a crate; files are. */
struct weft_exported {
    size_t size;      /* set by WEFT_EXPORTED_INIT: fields may be added at the end */
    uint32_t files;   /* that it describes */
    uint32_t missing; /* of them: wanted in the crate, and not to be had any more */
    double bytes;     /* copied */
};
#define WEFT_EXPORTED_INIT                                                                         \
    {                                                                                              \
        .size = sizeof(struct weft_exported)                                                       \
    }
/* `out` may be NULL. */
bool weft_history_export(struct weft_history *h, int64_t run, const char *path, const char *format,
                         struct weft_exported *out, struct weft_error *error);

struct weft_record; /* one run with everything that was recorded */
struct weft_record *weft_history_run(struct weft_history *h, int64_t run, struct weft_error *error);
void weft_record_free(struct weft_record *r);
void weft_record_head(const struct weft_record *r, struct weft_run_head *out);

/* What it was given, and where it ran. */
struct weft_run_about {
    size_t size;         /* set by WEFT_RUN_ABOUT_INIT: fields may be added at the end */
    const char *given;   /* parameters and lists of the command line: "sigma=2"; NULL: none */
    const char *version; /* of weft; NULL: not known */
    const char *system;  /* "Linux 6.1.0 x86_64"; NULL: not known */
    double memory;       /* bytes that it might use at once; 0: not known */
    double speed;        /* of the machine; 0 or 1: not measured */
};
#define WEFT_RUN_ABOUT_INIT                                                                        \
    {                                                                                              \
        .size = sizeof(struct weft_run_about)                                                      \
    }
void weft_record_about(const struct weft_record *r, struct weft_run_about *out);

struct weft_attempt {
    uint32_t task, attempt;
    const char *name, *kind;
    const char *outcome;  /* "done", "failed", "killed", "timeout", "memory", ... */
    int status;           /* exit status, or 128 + signal */
    double start, finish; /* seconds since the run began */
    double cpu, memory;   /* seconds; bytes at its peak */
    double read, written; /* bytes */
    uint32_t node, core;
};
/* Attempt number `i` in order of time; false: there are no more. */
bool weft_record_attempt(const struct weft_record *r, size_t i, struct weft_attempt *out);

/* Why tasks of it failed: cause number `i`, in order of time; false: there are no more. */
bool weft_record_cause(const struct weft_record *r, size_t i, struct weft_cause *out);

/* Something known of a run by name: a parameter of its workflow, what a result of it states, what
 * people said of it. */
struct weft_fact {
    const char *sort; /* "parameter", "label", "value", "tag", "note", "name" */
    const char *name, *value;
    const char *task; /* whose result states it; NULL: it is the run's */
    uint32_t item;    /* facts of the same number other than 0 belong together: the same labels */
};
/* Fact number `i`; false: there are no more. */
bool weft_record_fact(const struct weft_record *r, size_t i, struct weft_fact *out);
/* Fact number `k` of run or finding number `i`: those that the question named, tasks left out of runs. */
bool weft_runs_fact(const struct weft_runs *runs, size_t i, size_t k, struct weft_fact *out);
bool weft_findings_fact(const struct weft_findings *f, size_t i, size_t k, struct weft_fact *out);

struct weft_record_file {
    const char *path;  /* as in the workflow */
    const char *maker; /* the task's name; NULL: an input of the workflow */
    double bytes;
    bool produced;   /* by this run; else found as it was */
    char digest[65]; /* of its content, in hexadecimal; "": not known */
};
bool weft_record_file(const struct weft_record *r, size_t i, struct weft_record_file *out);

/* ---- kept results ---- */

/* What became of each file that was to be kept, or restored. */
struct weft_kept;
struct weft_kept_file {
    const char *path; /* where it is, or would be */
    bool good;        /* it is kept, or there, now */
    const char *text; /* "kept", "was kept already", "restored", "is there already"; else why not */
    double bytes;     /* written for it */
};
/* Keep what a run left, or a file (its whole path or one from here), in the store of its folder
 * (.weft/objects) by content. Of a run what is still as it left it. */
struct weft_kept *weft_history_keep(struct weft_history *h, const char *run_or_file,
                                    struct weft_error *error);
/* Put back what a run left, without computing: `name` NULL: all that it made or found made; else a file of
 * it, or a task. Into `folder`, under the same names; NULL: where the run had it. There what stands with
 * other contents is replaced if that is kept, and put aside as NAME.before-weft if not. */
struct weft_kept *weft_history_restore(struct weft_history *h, int64_t run, const char *name,
                                       const char *folder, struct weft_error *error);
/* File number `i`; false: there are no more. */
bool weft_kept_file(const struct weft_kept *k, size_t i, struct weft_kept_file *out);
void weft_kept_free(struct weft_kept *k);

/* ---- for reports ---- */

/* A run of the standard history, by a number or "last", with its workflow: as it was kept, else with
 * names and kinds of tasks alone. */
struct weft_record *weft_record_load(const char *which, struct weft_error *error);
/* A trace (Chrome / Perfetto JSON, as `weft sim --trace` writes it) as the record of a run. `w` gives
 * the graph; NULL: tasks have names and kinds, and no edges. */
struct weft_record *weft_record_of_trace(const char *path, const struct weft_workflow *w,
                                         struct weft_error *error);
/* One HTML page that needs nothing else: timeline, load, memory, the graph, what took long. */
bool weft_record_page(const struct weft_record *r, const char *path, struct weft_error *error);

/* ---- two runs ---- */

struct weft_changes;
struct weft_change {
    const char *name, *kind;
    double before, after; /* seconds; of kinds the mean; NAN: it did not run there */
    double memory_before, memory_after;
    uint32_t tasks_before, tasks_after; /* of kinds */
};
/* What got slower, most first. */
struct weft_changes *weft_history_compare(struct weft_history *h, int64_t before, int64_t after,
                                          struct weft_error *error);
void weft_changes_free(struct weft_changes *c);
bool weft_changes_task(const struct weft_changes *c, size_t i, struct weft_change *out);
/* What else differs: parameters, values, commands (as they ran), contents of files. */
struct weft_difference {
    const char *what;           /* "parameter", "value", "command", "file" */
    const char *name;           /* of the parameter, the value, the task, the file */
    const char *before, *after; /* NULL: it is not there; of files the digests */
};
bool weft_changes_difference(const struct weft_changes *c, size_t i, struct weft_difference *out);
bool weft_changes_kind(const struct weft_changes *c, size_t i, struct weft_change *out);

/* ---- where a file comes from ---- */

struct weft_story;
struct weft_origin {
    int64_t run;
    double started;
    const char *workflow, *folder;
    const char *maker; /* the task; NULL: it was an input */
    bool current;      /* the file is as this run left it */
    size_t ninputs;
    const char *path; /* what the run called it */
};
struct weft_origin_input {
    const char *path;
    int64_t run;       /* that made it or found it; 0: not recorded */
    const char *maker; /* NULL: an input of the workflow */
};
/* Every run that made the file or found it, newest first; at most `limit` (0: all). A file that no
 * run knows by this path is looked for by its content: it was copied, renamed or moved. `path` may also
 * be a digest, 64 hexadecimal digits. One that no run on record made or read is an error. */
struct weft_story *weft_history_file(struct weft_history *h, const char *path, size_t limit,
                                     struct weft_error *error);
void weft_story_free(struct weft_story *s);
bool weft_story_origin(const struct weft_story *s, size_t i, struct weft_origin *out);
/* What the maker of origin number `i` read. */
bool weft_story_input(const struct weft_story *s, size_t i, size_t k,
                      struct weft_origin_input *out);

/* The lineage of a file over all runs on record: back to the inputs that it was made of, forward to all
 * that was made of it. Past 2,000 tasks it has the nearest alone: weft_lineage_whole() says whether it is
 * all. */
struct weft_lineage;
struct weft_lineage *weft_history_lineage(struct weft_history *h, const char *path,
                                          struct weft_error *error);
/* The same with at most `most` tasks; 0: all. Time and memory grow with them, ten thousand take about
 * half a second. */
struct weft_lineage *weft_history_lineage_most(struct weft_history *h, const char *path,
                                               size_t most, struct weft_error *error);
/* False: there is more than it has. */
bool weft_lineage_whole(const struct weft_lineage *l);
void weft_lineage_free(struct weft_lineage *l);
/* As a workflow: tasks "name (run 3)", objects are files. It belongs to the lineage. */
const struct weft_workflow *weft_lineage_graph(const struct weft_lineage *l);
/* Task `i` of it: its run, and whether it comes before the file. False: there are no more. */
bool weft_lineage_task(const struct weft_lineage *l, uint32_t i, int64_t *run, bool *before);
/* A picture of it (SVG), files as arrows from task to task, written to `path`. */
bool weft_lineage_picture(const struct weft_lineage *l, const char *path, struct weft_error *error);

/* ---- predictions ---- */

struct weft_predictions;
struct weft_prediction {
    double seconds, low, high; /* at speed 1; 9 of 10 fall between low and high; NAN: not known */
    double memory;             /* what 19 of 20 stay below; NAN: no idea */
    double read;               /* bytes of inputs; NAN: not known */
    uint32_t samples;          /* 0: nothing is known of its kind */
    const char *method;
};
/* What else a task uses; each NAN when it is not known. */
struct weft_usage {
    size_t size; /* set by WEFT_USAGE_INIT: fields may be added at the end */
    const char
        *kind; /* that it is predicted by: as stated, its family, or its name without a number */
    double read, written; /* bytes that come in and go out */
    double
        transfer; /* seconds in which its inputs come from another machine, as fast as past ones */
    double disk;  /* bytes that 19 of 20 write less than */
    double busy;  /* cores that it keeps busy: processor time by time */
};
#define WEFT_USAGE_INIT                                                                            \
    {                                                                                              \
        .size = sizeof(struct weft_usage)                                                          \
    }
/* A machine that samples of a kind come from: times are scaled by its speed. */
struct weft_prediction_host {
    const char *host;
    double speed; /* NAN: not measured, taken for 1 */
    uint32_t samples;
};
struct weft_prediction_kind {
    const char *name, *method;
    uint32_t tasks, samples;
    double slope;                        /* of log time over log bytes; 0: no regression */
    double error, error90, memory_error; /* leave-one-out, relative; NAN: no sample */
};
/* What past runs (of the standard history) say about each task of a workflow, which must outlive
 * them. */
struct weft_predictions *weft_workflow_predictions(const struct weft_workflow *w,
                                                   struct weft_error *error);
void weft_predictions_free(struct weft_predictions *f);
bool weft_predictions_task(const struct weft_predictions *f, uint32_t task,
                           struct weft_prediction *out);
bool weft_predictions_usage(const struct weft_predictions *f, uint32_t task,
                            struct weft_usage *out);
/* Seconds at speed 1 that the task stays below with probability `risk`, above 0 and below 1. NAN: not
 * known. */
double weft_predictions_seconds(const struct weft_predictions *f, uint32_t task, double risk);
bool weft_predictions_kind(const struct weft_predictions *f, uint32_t i,
                           struct weft_prediction_kind *out);
/* Machine `i` of those that samples of kind number `kind` come from. */
bool weft_predictions_host(const struct weft_predictions *f, uint32_t kind, uint32_t i,
                           struct weft_prediction_host *out);

/* How well a kind was predicted in a past run: what was expected before it, beside what happened. */
struct weft_prediction_error {
    size_t size; /* set by WEFT_PREDICTION_ERROR_INIT: fields may be added at the end */
    int64_t run;
    double started;              /* of the run, seconds since 1970 */
    const char *workflow, *kind; /* workflow NULL: not known */
    uint32_t attempts;
    double error;  /* median of |predicted / real - 1| */
    double ratio;  /* median of predicted / real */
    double inside; /* share inside the interval, 0 to 1; 0.9 is promised */
};
#define WEFT_PREDICTION_ERROR_INIT                                                                 \
    {                                                                                              \
        .size = sizeof(struct weft_prediction_error)                                               \
    }
struct weft_prediction_errors;
/* Of the newest `runs` of which something was predicted, newest first. */
struct weft_prediction_errors *weft_history_prediction_errors(struct weft_history *h, size_t runs,
                                                              struct weft_error *error);
void weft_prediction_errors_free(struct weft_prediction_errors *e);
bool weft_prediction_errors_get(const struct weft_prediction_errors *e, size_t i,
                                struct weft_prediction_error *out);

#ifdef __cplusplus
}
#endif
#endif
