/* WfFormat (WfCommons JSON) 1.0 to 1.6: what replaying a recorded execution needs beyond the
 * workflow and the platform, and what the three files of this format share.
 *
 * Decisions, where the versions and real files leave room:
 * - Tasks are named by what other tasks refer to: the id in 1.5, the name before.
 * - Precedence is what `parents` and `children` state, together. Files carry volumes along stated
 *   edges; a file that two tasks share without a stated edge makes none (and a remark). Only when no
 *   task states any parents or children do files make the edges.
 * - work is the runtime in seconds, whatever machine it was recorded on; memory is memoryInBytes, or
 *   1000 x the older `memory`.
 * - The platform has a node a machine. Speeds are 1, unless the machines state different MHz: then
 *   MHz / fastest MHz.
 * - What the format has no place for stands in members called "weft" (wfformat_own.c). */
#pragma once
#include "base/json.h"
#include "formats/format.h"
#include "model/record.h"

/* What the file says about the run it records. */
struct wfformat_execution {
    double makespan;           /* seconds; NAN: not stated */
    uint32_t ntasks;           /* of the workflow; length of the arrays */
    uint32_t *machine_of_task; /* node of the platform, the first where several are stated; NONE:
                                  not stated or not in it */
    double *start;             /* seconds after the earliest stated start; NAN: not stated */
    double *runtime;           /* seconds; NAN: not stated */
    double *cpu;               /* seconds, by the average share; NAN: not stated */
    double *read, *written;    /* bytes; NAN: not stated */
    double first; /* the earliest stated start, else the run's, since 1970; INFINITY: none */
};

/* `source` is the file's text as read from disk (reading changes it, so it serves once). `p` is any
 * platform; machines are found by name. Fill `out`; the caller frees it with
 * wfformat_execution_free(), also after a failure. */
bool wfformat_read_execution(const struct format_source *source, const struct workflow *w,
                             const struct platform *p, struct wfformat_execution *out,
                             struct error *err);
void wfformat_execution_free(struct wfformat_execution *x);

/* A run, which has its workflow, as an execution: of each task its last attempt that ended well. */
void wfformat_write_run(const struct run_record *r, struct strbuf *out);

/* ---- shared by wfformat*.c ---- */

struct wfformat_document {
    struct json json;
    bool split;      /* 1.5: specification and execution apart */
    char format[16]; /* "wfformat-1.4" */
    json_ref name, tasks, files, weft;
    json_ref execution;       /* the object with makespan and machines; JSON_NONE: none */
    json_ref execution_tasks; /* 1.5 only */
    const char *doubt;        /* a remark about the version for the user; NULL: none */
};

/* Parse and find the parts; false with an error. Free with json_free(&d->json), after success only.
 */
bool wfformat_open(struct wfformat_document *d, const struct format_source *source,
                   struct error *err);

/* The members of a task or machine that mean something to us, whichever version spells them.
 * JSON_NONE: absent or null. */
struct wfformat_members {
    json_ref name, id, parents, children, input_files, output_files, files;
    json_ref runtime, memory_bytes, memory_kb, cores, command, arguments, category, priority;
    json_ref machines, executed_at, node_name, cpu, speed, weft;
    json_ref average_cpu, bytes_read, bytes_written;
};
void wfformat_members(const struct json *j, json_ref object, struct wfformat_members *out);

/* `v`, or JSON_NONE when it is null. */
json_ref wfformat_stated(const struct json *j, json_ref v);

struct workflow *wfformat_read_workflow(const struct format_source *source, struct error *err);
bool wfformat_write(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                    struct error *err);
struct platform *wfformat_read_platform(const struct format_source *source, struct error *err);
/* The stem of a task's name: "mProject" of "mProject_ID0000001", "FASTQC" of "FASTQC_2". Its
 * length, never 0. */
size_t wfformat_stem(const char *name, size_t length);
/* The kind that a reader derives when none is stated: the program's basename if the program is one
 * word, else the stem. */
const char *wfformat_kind(const char *name, size_t name_length, const char *program,
                          size_t program_length, size_t *length);

/* ---- metrics (wfformat_metrics.c) ---- */
/* Remarks where they state other numbers than the file has. */
void wfformat_metrics_check(const struct wfformat_document *d, struct builder *b);
/* The same of levels and widths, which are known when the graph is. */
void wfformat_metrics_check_levels(const struct wfformat_document *d, struct workflow *w);
void wfformat_metrics_write(struct json_writer *j,
                            const struct workflow *w); /* the specification's */
/* The workflow's name and what is doubtful about the version. */
void wfformat_begin(const struct wfformat_document *d, struct builder *b);

/* ---- members that WfFormat does not have (wfformat_unknown.c) ---- */
/* One remark for each kind of them. */
void wfformat_unknown_remark(const struct wfformat_document *d, struct builder *b);

/* ---- members called "weft" (wfformat_own.c) ---- */
/* Of a task: nothing when there is nothing to say. `has_record`: it has an entry in the execution. */
void wfformat_own_write(struct json_writer *j, const struct workflow *w, uint32_t t,
                        bool has_record);
bool wfformat_own_needed(const struct workflow *w, uint32_t t, bool has_record);
void wfformat_own_write_document(struct json_writer *j, const struct workflow *w);
/* What such a member says about the rest of its task. */
struct wfformat_own {
    bool unstated; /* the 0 of its runtime stands in for "not stated" */
    bool command;  /* it has the command itself: that of the execution is filled in */
};
/* False with an error of the builder. */
bool wfformat_own_read(const struct json *j, json_ref own, struct builder *b, uint32_t task,
                       struct wfformat_own *said);
bool wfformat_own_read_document(const struct json *j, json_ref own, struct builder *b);
