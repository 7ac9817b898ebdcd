/* What other systems recorded of their runs, as records like our own: history learns from them, and
 * prediction starts with a past.
 *
 *     WfFormat                 the execution of a WfCommons file: graph, times, machines
 *     Nextflow                 trace.txt, raw or for people: a line a task, no edges
 *     Slurm                    sacct -P: a line a job and a line a step, no edges
 *
 * A log is a table of attempts. Tasks that ended badly are kept as such; those that did not run (cached,
 * pending), or of which no time is stated, are left out and counted. */
#pragma once
#include "formats/format.h"
#include "model/record.h"

/* One attempt as a log states it. Not stated: NAN, and 0 of bytes. */
struct logged_attempt {
    char *name, *kind, *node; /* node NULL: not stated */
    double start;             /* seconds since 1970 */
    double seconds, cpu;
    double memory, read, written; /* bytes */
    int outcome, status;          /* enum trace_outcome */
};

struct execution_log {
    ARRAY(struct logged_attempt) attempts;
    size_t left_out; /* rows of tasks that did not run, or of which no time is stated */
    bool ids;        /* a name is one task's; else tasks may share it */
};
void execution_log_free(struct execution_log *log);

/* The record of a run, for record_free(): its workflow (tasks without edges unless the log has them),
 * its events by time, totals, host and name. `system` becomes the planner's name: who decided. */
bool execution_log_read(const struct format_source *source, struct run_record *out,
                        size_t *left_out, struct error *err);

/* ---- readers ---- */
bool nextflow_sniff(const char *text, size_t length);
bool nextflow_read(const struct format_source *source, struct execution_log *log,
                   struct error *err);
bool sacct_sniff(const char *text, size_t length);
bool sacct_read(const struct format_source *source, struct execution_log *log, struct error *err);

/* ---- tables with a header line, for the readers (delimited_log.c) ---- */
enum { LOG_COLUMNS_MOST = 256 };
struct log_table {
    const char *file, *at, *end;
    char delimiter;
    size_t line, columns;
    const char *cell[LOG_COLUMNS_MOST]; /* of this row */
    size_t length[LOG_COLUMNS_MOST];
    const char *header[LOG_COLUMNS_MOST];
    size_t header_length[LOG_COLUMNS_MOST];
};
bool log_table_begin(struct log_table *t, const struct format_source *source, char delimiter,
                     struct error *err);
bool log_table_row(struct log_table *t, bool *good, struct error *err); /* false: at the end */
size_t log_table_column(const struct log_table *t, const char *name);   /* SIZE_MAX: none */
/* A cell as a text, "" where there is no such column; "-" stands for nothing. */
const char *log_table_cell(const struct log_table *t, size_t column, size_t *length);
/* Bytes of "1536K", "1.2 GB" (of 1024s) or "7"; 0: none. */
double log_bytes(const char *text, size_t length);
/* Seconds since 1970 of "2026-11-16T09:00:00", "2026-11-16 09:00:00.123", seconds or milliseconds; NAN:
 * none. */
double log_time(const char *text, size_t length);
