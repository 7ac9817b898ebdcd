/* What a run's record says when added up: shared by the page, the summary and the JSON of a report.
 */
#pragma once
#include "base/array.h"
#include "base/pool.h"
#include "model/record.h"

enum { FIGURES_SLOWEST = 50 }; /* attempts that are kept */

struct figures_kind {
    uint32_t name;          /* in `kinds` below */
    uint32_t ran, failed;   /* attempts that ended well; that did not */
    double total, cpu;      /* seconds of all attempts */
    double median, longest; /* of those that ended well */
    double memory;          /* largest peak, bytes */
    uint32_t predicted;     /* tasks with a prediction that ran */
    double expected, real;  /* sums of those tasks' predicted and real seconds */
};

struct run_figures {
    const struct run_record *record;
    uint32_t ntasks;
    uint32_t attempts;
    double end;      /* the last thing that happened, or the run's seconds if that is later */
    double busy;     /* core-seconds in which tasks held cores */
    double cpu;      /* seconds of processor time they used */
    double used;     /* busy / (cores x end); NAN: nothing to divide by */
    double computed; /* cpu / (cores x end); NAN likewise or not measured */
    double read, written;
    uint32_t lanes;
    struct intern kinds;
    ARRAY(struct figures_kind) kind; /* the most time first */
    uint32_t *kind_of;               /* per task: number in `kinds` */
    uint32_t *last;                  /* per task: its last attempt in the events; NONE: none */
    uint8_t *reused;                 /* per task */
    ARRAY(uint32_t) slowest;         /* attempts, longest first */
    ARRAY(uint32_t)
    failures;       /* last attempts of tasks that did not end well, cancelled ones left
                       out, in order of time */
    uint32_t *path; /* the critical path that really happened, first to last */
    uint32_t npath;
    double path_running, path_waiting; /* seconds of it */
    bool measured_memory;              /* some attempt's peak is known */
};

/* The record must outlive the figures. n log n in the events. */
void figures_of(struct run_figures *f, const struct run_record *r);
void figures_free(struct run_figures *f);

/* Name of a task; "task 17" when the workflow is not known. In the buffer only then. */
const char *figures_task_name(const struct run_figures *f, uint32_t task, char *buffer,
                              size_t size);
/* Cores that a task holds, at least 1 and at most the run's. */
uint32_t figures_cores(const struct run_figures *f, uint32_t task);
/* Seconds it was predicted to take on this machine; NAN: no prediction (a default that rests on no
 * sample is none). */
double figures_predicted(const struct run_figures *f, uint32_t task);
