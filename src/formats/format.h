/* The table of formats: how a file becomes a model and back. One row a format, one file a format. */
#pragma once
#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "model/builder.h"
#include "model/plan.h"
#include "model/platform.h"
#include "model/workflow.h"

struct format_option {
    const char *name, *value;
};

/* What a reader gets. Text is NUL-terminated and may be changed in place. */
struct format_source {
    const char *path; /* for messages and for files it refers to */
    char *text;
    size_t length;
    const struct format_option *options; /* --set name=value of convert/show/plan; ends with a NULL name; may be NULL */
};

enum { HOLDS_WORKFLOW = 1, HOLDS_PLATFORM = 2 };

struct format {
    const char *name;    /* "wfformat", "dax", "dagman" ... */
    const char *summary; /* one line */
    const char *suffixes; /* ".dot .gv"; for writing and as a hint when sniffing; NULL: none */
    /* Is this text of this format? 0: no, 1: perhaps (suffix decides), 2: likely, 3: certainly. Looks at no more than the first few kB. */
    int (*sniff)(const char *path, const char *text, size_t length);
    /* Each may be NULL when the format has no such thing. On success the result is finished and valid. */
    struct workflow *(*read_workflow)(const struct format_source *source, struct error *err);
    struct platform *(*read_platform)(const struct format_source *source, struct error *err);
    /* Append the text. `dropped` collects a line for each kind of information the format cannot carry ("memory of 12 tasks"). */
    bool (*write_workflow)(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                           struct error *err);
    bool (*write_platform)(const struct platform *p, struct strbuf *out, struct strbuf *dropped,
                           struct error *err);
    /* What this very text holds, where the format alone does not say: HOLDS_* bits. NULL: whatever has a reader. */
    unsigned (*holds)(const char *text, size_t length);
    const char *options; /* help for its reader's options, one line each; NULL: none */
};

extern const struct format *const format_registry[]; /* ends with NULL */
const struct format *format_find(const char *name);
/* For writing, by the name's suffix; NULL with an error that lists the suffixes. */
const struct format *format_for_path(const char *path, struct error *err);
/* For reading: the one whose sniff is surest. */
const struct format *format_detect(const char *path, const char *text, size_t length, struct error *err);

/* Read a file, whatever its format; `format` may be NULL. */
struct workflow *format_read_workflow(const char *path, const struct format *format,
                                      const struct format_option *options, struct error *err);
struct platform *format_read_platform(const char *path, const struct format *format,
                                      const struct format_option *options, struct error *err);
/* Does this file hold a platform beside its workflow (SAGA), so that --on can be left out? */
bool format_has_platform(const char *path);
/* Does it hold a platform and no workflow? */
bool format_is_platform(const char *path);
bool format_write_workflow(const char *path, const struct format *format, const struct workflow *w,
                           struct strbuf *dropped, struct error *err);
bool format_write_platform(const char *path, const struct format *format, const struct platform *p,
                           struct strbuf *dropped, struct error *err);

/* ---- the plan file (plan_json.c) ---- */
void plan_json_write(const struct plan *plan, const struct workflow *w, const struct platform *p,
                     struct strbuf *out);
/* In two steps, because a plan names its workflow and platform: */
struct plan_file;
struct plan_file *plan_file_open(const char *path, struct error *err);
const char *plan_file_workflow(const struct plan_file *f); /* path as seen from here, NULL: not stated */
const char *plan_file_platform(const struct plan_file *f);
struct plan *plan_file_read(struct plan_file *f, const struct workflow *w, const struct platform *p,
                            struct error *err);
void plan_file_close(struct plan_file *f);
bool plan_file_sniff(const char *path); /* is this a weft plan? */

/* ---- the trace file (trace_json.c): Chrome / Perfetto ---- */
/* A plan as a trace: a process a node, a thread a core, transfers as flow arrows. Times in microseconds. */
void trace_json_write_plan(const struct plan *plan, const struct workflow *w,
                           const struct platform *p, struct strbuf *out);

/* ---- for readers ---- */
const char *format_option(const struct format_source *source, const char *name); /* NULL: not given */
size_t format_line(const char *text, const char *at);                             /* line number of a place in a text */
/* UTF-8 without NUL bytes? If not, an error that names the line. */
bool format_require_utf8(const struct format_source *source, struct error *err);
