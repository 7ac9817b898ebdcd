/* The table of formats: how a file becomes a model and back. One row a format, one file a format.
 */
#pragma once
#include "base/array.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/option.h"
#include "base/strbuf.h"
#include "formats/carries.h"
#include "model/builder.h"
#include "model/outside.h"
#include "model/plan.h"
#include "model/platform.h"
#include "model/workflow.h"

/* What a reader gets. Text is NUL-terminated and may be changed in place. */
struct format_source {
    const char *path; /* for messages and for files it refers to */
    char *text;
    size_t length;
    const struct option_value
        *options; /* --set name=value of convert/show/plan; ends with a NULL name; may be NULL */
    /* Where files that it names stand: absolute names in it are the relative ones. NULL: beside
     * `path`, if anywhere: absolute names stay, as in a text that came over a wire, in which who wrote
     * it has made them relative. */
    const char *folder;
    /* Who reads it lets it grow (model/future.h): what is not known yet is left for later. False: what
     * is to be read while it runs is read as things stand, and what cannot be is left out, with a
     * remark. */
    bool grows;
    struct outside
        *outside; /* other files are read through it (model/outside.h); NULL: from the disk */
};

/* In remarks about what only a run tells, and about those alone: there is nothing wrong with it. */
#define FORMAT_NOT_KNOWN " not known before "

/* Something suspicious in a file: the rule's name (a constant), its line, and words for people. */
typedef void (*format_lint_found)(void *context, const char *rule, uint32_t line, const char *text);

/* A file to be written: a user's own file, byte for byte but for what was added. */
struct format_copy {
    char *path;
    struct strbuf text;
    bool fresh; /* there was none before */
};

struct format_copies {
    ARRAY(struct format_copy) files; /* what the others name comes before them */
    size_t overridden;               /* priorities of the user's own that no longer count */
};

/* The last option, of whoever reads for a simulation: what only a run tells is decided, and told. A format
 * in which all is known has no use for it. */
#define FORMAT_SIMULATES "--simulates"

/* Options of every format, given as often as there are names: the workflow is only what they name
 * (model/select.h), the targets with what they need, and of it what depends on others. */
#define FORMAT_UNTIL "--until"
#define FORMAT_SINCE "--since"

/* UNSURE: whether there is a platform only reading tells. */
enum { HOLDS_WORKFLOW = 1, HOLDS_PLATFORM = 2, HOLDS_UNSURE = 4 };

struct format {
    const char *name;     /* "wfformat", "dax", "dagman" ... */
    const char *summary;  /* one line */
    const char *suffixes; /* ".dot .gv"; for writing and as a hint when sniffing; NULL: none */
    /* Is this text of this format? 0: no, 1: perhaps (suffix decides), 2: likely, 3: certainly.
     * Looks at no more than the first few kB. */
    int (*sniff)(const char *path, const char *text, size_t length);
    /* Each may be NULL when the format has no such thing. On success the result is finished and
     * valid. */
    struct workflow *(*read_workflow)(const struct format_source *source, struct error *err);
    struct platform *(*read_platform)(const struct format_source *source, struct error *err);
    /* Append the text. `dropped` collects a line for each kind of information the format cannot
     * carry ("memory of 12 tasks"). */
    bool (*write_workflow)(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                           struct error *err);
    bool (*write_platform)(const struct platform *p, struct strbuf *out, struct strbuf *dropped,
                           struct error *err);
    /* What its writer can carry of a workflow, CARRIES_* bits; 0: it writes none. What this set
     * lacks and a workflow has is named in `dropped`. */
    uint64_t carries;
    /* What this very text holds, where the format alone does not say: HOLDS_* bits. NULL: whatever
     * has a reader. */
    unsigned (*holds)(const char *text, size_t length);
    const struct option *options; /* of its reader, for --read; ends with a NULL name; NULL: none */
    bool has_parameters; /* options of its reader are parameters of the workflow; it checks them */
    /* Its reader looks at nothing but the text, its path and the options (no other file, no folder, no
     * environment), or says that it did (builder_outside). What it returned once may then be kept
     * (format_file_digest). */
    bool text_alone;
    /* What is suspicious in a text that can be read, beyond what the workflow tells; NULL: nothing. */
    void (*lint)(const struct format_source *source, format_lint_found found, void *context);
    /* The same file as `path`, with the priorities of `w` (which was read from it) in it, and copies of
     * the files that it names where they need some too. NULL: the format has no place for them. */
    bool (*annotate)(const struct format_source *source, const struct workflow *w, const char *path,
                     struct format_copies *out, struct error *err);
    struct option_value
        whole; /* the reader's option by which all that can hold priorities is read */
};

extern const struct format *const format_registry[]; /* ends with NULL */
const struct format *format_find(const char *name);
/* For writing, by the name's suffix; NULL with an error that lists the suffixes. */
const struct format *format_for_path(const char *path, struct error *err);
/* For reading: the one whose sniff is surest. */
const struct format *format_detect(const char *path, const char *text, size_t length,
                                   struct error *err);

/* Read a file, whatever its format; `format` may be NULL. */
struct workflow *format_read_workflow(const char *path, const struct format *format,
                                      const struct option_value *options, struct error *err);
struct platform *format_read_platform(const char *path, const struct format *format,
                                      const struct option_value *options, struct error *err);

/* ---- a file read once ----
 * A pipe can be read only once and a large file should be, while a command may want to know what a
 * file holds before it chooses, or want both its workflow and its platform. What takes the text
 * (workflow, platform, both, take) comes last: after one of these there is only closing. */
/* What -p NAME=VALUE is told when a file has nothing of that name; "; did you mean 'x'?" may follow. An
 * experiment, which gives values the same way, tells it in its own words. */
#define FORMAT_UNKNOWN_PARAMETER "there is no parameter and no list of that name"

struct format_file;
/* "-": standard input. `format` NULL: by the content. The options are copied. NULL: an error. */
struct format_file *format_file_open(const char *path, const struct format *format,
                                     const struct option_value *options, struct error *err);
/* The same for a text in memory, which it takes; `name` stands for the path. */
struct format_file *format_file_of(const char *name, struct text text, const struct format *format,
                                   const struct option_value *options);
void format_file_close(struct format_file *f); /* NULL is fine */
/* Files that the workflow names stand in this folder, not beside its own file. Copied. */
void format_file_set_folder(struct format_file *f, const char *folder);
/* Who reads it will let it grow while it runs: see struct format_source. */
void format_file_let_grow(struct format_file *f);
/* All that it is read from is noted there: its text, its options, and what else is looked at. */
void format_file_note(struct format_file *f, struct outside *o);
/* The same workflow again, native and one that may grow, from what was noted and nothing else. */
struct workflow *format_read_noted(struct outside *o, struct error *err);
const char *format_file_path(const struct format_file *f);
size_t format_file_length(const struct format_file *f); /* bytes of the text */
/* A digest of everything that the workflow will be read from: the text, its path, the options, and
 * the reader itself (its sources; the library under it). Equal digests: equal workflows. False: it
 * depends on more than these, or cannot be read. Costs a second a gigabyte. */
bool format_file_digest(const struct format_file *f, struct digest *out);
/* Of the readers of this build: who has another may read another workflow out of the same text, and its
 * structs may be others. */
const char *format_readers(void);
bool format_file_is_plan(const struct format_file *f);     /* a weft plan? */
bool format_file_is_platform(const struct format_file *f); /* a platform and no workflow? */
struct workflow *format_file_workflow(struct format_file *f, struct error *err);
struct platform *format_file_platform(struct format_file *f, struct error *err);
/* The workflow and, where the file holds one (SAGA), the platform; else *p is NULL. A platform that
 * is there and broken is an error, never passed over. */
bool format_file_both(struct format_file *f, struct workflow **w, struct platform **p,
                      struct error *err);
struct text format_file_take(struct format_file *f); /* the text, now the caller's */
/* Who reads it will write priorities back into it: before it is read. False: its format has no place
 * for them. */
bool format_file_to_annotate(struct format_file *f, struct error *err);
/* The file's own text with the priorities of `w`, which was read from it, at `path`, and what belongs
 * to it: each file whole or not at all, `path` last. The caller frees the list in any case. */
bool format_file_annotate(struct format_file *f, const struct workflow *w, const char *path,
                          struct format_copies *out, struct error *err);
void format_copies_free(struct format_copies *copies);

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
struct plan_file *plan_file_from(struct format_file *f, struct error *err); /* takes its text */
const char *
plan_file_workflow(const struct plan_file *f); /* path as seen from here, NULL: not stated */
const char *plan_file_platform(const struct plan_file *f);
struct plan *plan_file_read(struct plan_file *f, const struct workflow *w, const struct platform *p,
                            struct error *err);
void plan_file_close(struct plan_file *f);

/* ---- the trace file (trace_json.c): Chrome / Perfetto ---- */
/* A plan as a trace: a process a node, a thread a core, transfers as flow arrows. Times in
 * microseconds. */
void trace_json_write_plan(const struct plan *plan, const struct workflow *w,
                           const struct platform *p, struct strbuf *out);

/* Names and values of the options against the table of the format's reader: done for every file that
 * is read by the functions above. */
bool format_check_options(const struct format *format, const struct option_value *options,
                          struct error *err);

/* ---- for readers ---- */
/* An option that was given, checked already. */
const char *format_option(const struct format_source *source,
                          const char *name);          /* NULL: not given */
size_t format_line(const char *text, const char *at); /* line number of a place in a text */
/* For sniffing JSON: how many of the first kilobytes to look at when the text begins with an object
 * (after a byte order mark and blanks), 0 when it does not. */
size_t format_json_head(const char *text, size_t length);
/* Cores of a task, where a format allows parts of one (WfFormat 1.6, PMC): rounded up, and counted. */
void format_cores(struct builder *b, uint32_t task, double cores, size_t line, size_t *rounded);
void format_cores_remark(struct builder *b, size_t rounded); /* one for all of them; none: 0 */
/* UTF-8 without NUL bytes? If not, an error that names the line. */
bool format_require_utf8(const struct format_source *source, struct error *err);
