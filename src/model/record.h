/* One run as it is remembered: what history keeps, what reports show. Real runs and simulated ones
 * look alike. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "model/predictor.h"
#include "model/trace.h"
#include "model/workflow.h"

enum record_outcome { RECORD_RUNNING, RECORD_DONE, RECORD_FAILED, RECORD_CANCELLED, RECORD_LOST };

struct record_file {
    uint32_t object, task;
    char *path;
    struct digest digest, key;
    double size;
    bool produced;
};

/* Why a task failed for good: what the event of its last attempt cannot hold. */
struct record_failure {
    uint32_t task, attempt;
    int outcome, status; /* as in the event */
    uint32_t cause; /* the first of the list with the same cause; its own place: it is the first */
    double limit;   /* that applied: bytes (TRACE_MEMORY) or seconds (TRACE_TIMEOUT); 0: none */
    char *reason;   /* in words; NULL: outcome and status say all */
    char *command;  /* as it ran, files and parameters filled in; NULL: not known */
    char *hint;     /* what would help; NULL: nothing is certain */
    char *log;      /* path of what it wrote; NULL: nothing */
    char *tail;     /* the last lines of that; NULL: none, or the first of its cause has them */
};

/* Something known of a run beside its figures: a name and what it is there. */
enum fact_sort {
    FACT_PARAMETER, /* of the workflow, as it was in this run */
    FACT_LABEL,     /* of a result, from its name: "sigma=2,region=a.txt" */
    FACT_VALUE,     /* that a result states: "f1 0.93" */
    FACT_TAG,       /* the last three are said afterwards, by people */
    FACT_NOTE,
    FACT_NAME,
    FACT_SORTS
};

struct record_fact {
    enum fact_sort sort;
    uint32_t task; /* whose result states it; NONE: it is the run's */
    uint32_t item; /* facts of one item belong together (the same labels); 0: of the whole run */
    char *name, *value;
};

/* A constraint of the user's, asked of what happened. */
struct record_constraint {
    char *text; /* where it stands, and what it says */
    bool requirement, held;
    bool wish;      /* a preference that holds or does not; others are more or less well met */
    double measure; /* its value, or its failed tests; NAN: unknown */
};

struct run_record {
    int64_t run;  /* its number in the history; 0: none */
    char *name;   /* of the workflow */
    char *file;   /* workflow file as given, NULL: none */
    char *folder; /* where it ran */
    char *host;
    char *planner; /* whose order it followed; NULL: none */
    char *given;   /* parameters and lists from outside: "sigma=2; n=1,2"; NULL: none */
    char *place;   /* whose machines: "ssh:a,b", "slurm", "cluster"; NULL: this one, or not known */
    char *version; /* of weft; NULL: not known */
    char *system;  /* "Linux 6.1.0 x86_64"; NULL: not known */
    double started; /* seconds since 1970 */
    double seconds; /* from start to end; NAN while running or lost */
    uint32_t cores;
    double memory; /* bytes the run may use at once */
    double speed;  /* of the node, as `weft platform --measure` has it; 0 or 1: not measured */
    enum record_outcome outcome;
    uint32_t tasks, ran, reused, failed, skipped;
    uint32_t untaken;  /* of the skipped: by a decision; the others because of failures or a stop */
    uint32_t excused;  /* of the failed: those that may */
    uint32_t restored; /* of the reused: from results that were kept; not on record */
    double predicted_seconds, predicted_memory, predicted_disk; /* NAN: no prediction */
    double peak_memory, peak_disk;                              /* NAN: not measured */
    struct workflow *workflow;    /* owned; NULL when it is not known any more */
    struct prediction *predicted; /* per task, owned; NULL: none */
    const uint8_t *reasons; /* per task, why it has to run, for who begins a record; not owned */
    ARRAY(struct trace_event) events; /* TRACE_TASK, TRACE_REUSED, TRACE_COUNTER in order of time */
    ARRAY(struct record_file) files;
    ARRAY(struct record_fact) facts; /* by sort, item and name */
    ARRAY(struct record_failure)
    failures; /* of a real run, at most a thousand; cancelled ones not */
    ARRAY(struct record_constraint) constraints; /* of a run that is just over; none: not judged */
};

void record_free(struct run_record *r);          /* what it owns; not the struct */
const char *fact_sort_name(enum fact_sort sort); /* "parameter", "label", "value", "tag" ... */
const char *record_outcome_name(enum record_outcome outcome); /* "running", "done", ... */
/* Of an attempt (enum trace_outcome): "done", "failed", "killed", "timeout", "memory", "cancelled",
 * "not-started". */
const char *trace_outcome_name(int outcome);
const char *trace_trouble_text(int trouble); /* enum trace_trouble, for people */

/* The name of an attempt's log, in the folder of the run's logs. Appends. */
void record_log_name(const char *task_name, uint32_t task, uint32_t attempt, struct strbuf *out);

/* The path that really happened: from the task that ended last back along the input (or the core)
 * that each waited for. Task numbers, first to last, into `out` (room for ntasks). Every hop is a
 * predecessor or the task before on the same lane, whichever ended later. */
uint32_t record_critical_path(const struct run_record *r, uint32_t *out);
