/* libweft: workflows. Tasks, the objects (files) they read and write, and the order between them.
 *
 * A workflow is read, generated or built, and frozen from then on: any number of threads may read
 * it. Tasks and objects are numbers from 0; WEFT_NONE stands for none. Part of <weft/weft.h>. */
#ifndef WEFT_WORKFLOW_H
#define WEFT_WORKFLOW_H
#include "weft/common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_workflow;
struct weft_builder;

/* ---- building ----
 * The first mistake sticks: later calls are harmless, and weft_builder_finish() tells it. Until
 * then nothing needs to be checked. Values are checked as they come (finite, not negative), the
 * structure at the end (cycles, names that nobody made). A builder belongs to one thread. */

/* `name`: of the workflow. NULL: no memory. */
struct weft_builder *weft_builder_new(const char *name);
void weft_builder_free(struct weft_builder *b); /* only without weft_builder_finish() */

/* A new task; WEFT_NONE when there is one of that name already. */
uint32_t weft_builder_task(struct weft_builder *b, const char *name);
/* What it runs: a command line, in which {in}, {out}, {in[0]} ... stand for the files in the order
 * they were given. With shell syntax it runs under bash -e -o pipefail. */
void weft_builder_command(struct weft_builder *b, uint32_t task, const char *command);
/* Under this instead: "sh", "bash -euo pipefail -c", "python3" (docs/running.md). What is no program
 * with options is an error of weft_builder_finish(). */
void weft_builder_shell(struct weft_builder *b, uint32_t task, const char *shell);
/* Instead of a command: a function of a shared library, "lib.so:name" (weft/task.h). */
void weft_builder_call(struct weft_builder *b, uint32_t task, const char *function);
void weft_builder_kind(struct weft_builder *b, uint32_t task,
                       const char *kind);                                      /* for predictions */
void weft_builder_work(struct weft_builder *b, uint32_t task, double seconds); /* at speed 1 */
/* A time of its own on the node of that name, in place of work / speed. */
void weft_builder_time(struct weft_builder *b, uint32_t task, const char *node, double seconds);
void weft_builder_memory(struct weft_builder *b, uint32_t task, double bytes);
void weft_builder_cores(struct weft_builder *b, uint32_t task, uint32_t cores);
void weft_builder_priority(struct weft_builder *b, uint32_t task,
                           double priority); /* larger first */
void weft_builder_deadline(struct weft_builder *b, uint32_t task,
                           double seconds); /* from the start */
/* Of a command: a call that has one is refused, since a function cannot be ended. */
void weft_builder_timeout(struct weft_builder *b, uint32_t task, double seconds);
void weft_builder_retries(struct weft_builder *b, uint32_t task, uint32_t retries);

/* The object of that name, made on first use. For runs the name is the file's path. */
uint32_t weft_builder_object(struct weft_builder *b, const char *name);
void weft_builder_size(struct weft_builder *b, uint32_t object, double bytes);
/* May be deleted once its last reader is done. */
void weft_builder_temporary(struct weft_builder *b, uint32_t object);
/* Functions hand it to each other in memory (weft/task.h) where its maker and all its readers are
 * functions, in a run on one machine; else it is a file of its name. */
void weft_builder_in_memory(struct weft_builder *b, uint32_t object);
void weft_builder_writes(struct weft_builder *b, uint32_t task, uint32_t object);
void weft_builder_reads(struct weft_builder *b, uint32_t task, uint32_t object);
/* Order alone: `before` ends before `after` starts. */
void weft_builder_order(struct weft_builder *b, uint32_t before, uint32_t after);
/* `bytes` go from one to the other, in an object without a name. */
void weft_builder_data(struct weft_builder *b, uint32_t from, uint32_t to, double bytes);
/* {name} in commands stands for `value`. */
void weft_builder_parameter(struct weft_builder *b, const char *name, const char *value);
/* A shell command that a run runs beside its tasks, with what happened as JSON on its standard input:
 * `when` is "done", "failed" or "task_failed". */
void weft_builder_hook(struct weft_builder *b, const char *when, const char *command);
/* A wish about the schedule, for the planner `constraints`. */
void weft_builder_constraint(struct weft_builder *b, const char *text);
/* Freeze and check. Frees the builder in any case. NULL: the first mistake is in `error`. */
struct weft_workflow *weft_builder_finish(struct weft_builder *b, struct weft_error *error);

/* ---- formats ---- */

struct weft_format {
    const char *name, *summary;
    const char *suffixes;       /* ".dot .gv"; NULL: none */
    const char *reader_options; /* what its reader takes, a line each; NULL: nothing */
    bool reads_workflow, writes_workflow, reads_platform, writes_platform;
};
/* Format number `i` from 0; false: there are no more. */
bool weft_format(size_t i, struct weft_format *out);

/* The format that a writer would take: `format` by name, or by the suffix of `path` when it is NULL.
 * Its name; NULL: there is none, and `error` lists what there is. */
const char *weft_format_for(const char *format, const char *path, struct weft_error *error);

/* ---- reading and writing ---- */

struct weft_read_options {
    size_t size;
    const char *format;         /* NULL: by the content */
    const char *const *options; /* of the reader, "name=value", ends with NULL; NULL: none */
};
#define WEFT_READ_INIT                                                                             \
    {                                                                                              \
        sizeof(struct weft_read_options), NULL, NULL                                               \
    }

/* A file; "-" is standard input. `options` may be NULL. */
struct weft_workflow *weft_workflow_read(const char *path, const struct weft_read_options *options,
                                         struct weft_error *error);
/* `n` bytes in memory. `name` stands for the file in messages, and files that the text refers to
 * are looked for beside it. */
struct weft_workflow *weft_workflow_read_text(const char *text, size_t n, const char *name,
                                              const struct weft_read_options *options,
                                              struct weft_error *error);
/* Whatever `read` gives: it fills at most `size` bytes of `buffer` and returns how many, 0 at the
 * end, negative when it cannot go on (errno is then told). */
typedef ptrdiff_t (*weft_reader)(void *context, char *buffer, size_t size);
struct weft_workflow *weft_workflow_read_from(weft_reader read, void *context, const char *name,
                                              const struct weft_read_options *options,
                                              struct weft_error *error);

struct weft_write_options {
    size_t size;
    const char *format; /* NULL: by the suffix of the path; without a path native YAML */
    /* Called with a line for each kind of information that the format cannot carry. May be NULL. */
    void (*dropped)(void *context, const char *line);
    void *context;
};
#define WEFT_WRITE_INIT                                                                            \
    {                                                                                              \
        sizeof(struct weft_write_options), NULL, NULL, NULL                                        \
    }

/* A file that appears whole or not at all; "-" is standard output. */
bool weft_workflow_write(const struct weft_workflow *w, const char *path,
                         const struct weft_write_options *options, struct weft_error *error);
/* The text itself, NUL-terminated; `*n` (may be NULL) its length. weft_text_free(). */
char *weft_workflow_write_text(const struct weft_workflow *w,
                               const struct weft_write_options *options, size_t *n,
                               struct weft_error *error);
/* Piece by piece to `write`, which returns false when it cannot go on. */
typedef bool (*weft_writer)(void *context, const char *bytes, size_t n);
bool weft_workflow_write_to(const struct weft_workflow *w, weft_writer write, void *context,
                            const struct weft_write_options *options, struct weft_error *error);

/* Plans made of it live on: they keep it. */
void weft_workflow_free(struct weft_workflow *w);

/* ---- generating ---- */

struct weft_generator {
    const char *name, *summary;
    bool makes_platform; /* else a workflow */
};
/* Generator number `i` from 0; false: there are no more. */
bool weft_generator(size_t i, struct weft_generator *out);
/* Its number by its name; SIZE_MAX: none, and `error` tells a name that is near. */
size_t weft_generator_find(const char *name, struct weft_error *error);
/* Its option number `k`; false: there are no more. */
bool weft_generator_option(size_t i, size_t k, struct weft_option *out);
/* The same name, options ("name=value", ends with NULL; NULL: none) and seed give the same graph
 * everywhere. */
struct weft_workflow *weft_workflow_generate(const char *generator, const char *const *options,
                                             uint64_t seed, struct weft_error *error);

/* ---- walking ---- */

const char *weft_workflow_name(const struct weft_workflow *w); /* its own, else its file's stem */
uint32_t weft_workflow_tasks(const struct weft_workflow *w);
uint32_t weft_workflow_edges(const struct weft_workflow *w); /* distinct pairs of tasks */
uint32_t weft_workflow_objects(const struct weft_workflow *w);
/* NULL: no such number. */
const char *weft_workflow_task_name(const struct weft_workflow *w, uint32_t task);
/* WEFT_NONE: no task of that name. Expected O(1). */
uint32_t weft_workflow_find_task(const struct weft_workflow *w, const char *name);

struct weft_task_info {
    const char *name, *kind; /* kind "": none */
    const char *command;     /* NULL: none */
    bool is_call;            /* the command is "lib.so:function" */
    double work, memory;     /* seconds at speed 1; bytes */
    uint32_t cores, retries;
    double priority;          /* 0: none */
    double deadline, timeout; /* seconds; INFINITY: none */
    uint32_t line;            /* in its file; 0: not known */
};
bool weft_workflow_task(const struct weft_workflow *w, uint32_t task, struct weft_task_info *out);

/* The command of a task as that attempt has it (0: the first): {in}, {out} and parameters filled in,
 * for people to read; `call lib.so:function` of a call. NULL with WEFT_DONE in `error`: it has none.
 * The caller frees it by weft_text_free(). */
char *weft_workflow_command(const struct weft_workflow *w, uint32_t task, uint32_t attempt,
                            struct weft_error *error);

/* The edges out of a task and into it: `*tasks` are the tasks at their other ends, `*objects` what
 * they carry (WEFT_NONE: order alone). Returns how many. Two tasks may be joined by several. */
size_t weft_workflow_successors(const struct weft_workflow *w, uint32_t task,
                                const uint32_t **tasks, const uint32_t **objects);
size_t weft_workflow_predecessors(const struct weft_workflow *w, uint32_t task,
                                  const uint32_t **tasks, const uint32_t **objects);

struct weft_object_info {
    const char *name; /* "": it has none */
    double bytes;
    uint32_t producer;         /* WEFT_NONE: an input of the workflow */
    const uint32_t *consumers; /* tasks */
    size_t nconsumers;
    bool temporary;
};
bool weft_workflow_object(const struct weft_workflow *w, uint32_t object,
                          struct weft_object_info *out);
uint32_t weft_workflow_find_object(const struct weft_workflow *w, const char *name);
/* Every task once, producers before consumers. */
const uint32_t *weft_workflow_topological(const struct weft_workflow *w);
/* Remark number `i` of the reader ("edge given twice ..."); NULL: there are no more. */
const char *weft_workflow_remark(const struct weft_workflow *w, size_t i);

struct weft_statistics {
    uint32_t tasks, edges, objects, sources, sinks, depth, width, components;
    bool width_exact; /* else it is at least so wide */
    double work, data, critical_path, largest_memory;
    double ccr;       /* mean object / mean work, at speed and bandwidth 1 */
    const char *tree; /* "in", "out", "chain"; NULL: not a tree */
};
bool weft_workflow_statistics(const struct weft_workflow *w, struct weft_statistics *out,
                              struct weft_error *error);

struct weft_plan;
/* Give the tasks priorities by the order of a plan (family `order`): the first of n gets n. The
 * one call that changes a workflow: before another thread or plan uses it, `order` excepted. */
bool weft_workflow_prioritize(struct weft_workflow *w, const struct weft_plan *order,
                              struct weft_error *error);

#ifdef __cplusplus
}
#endif
#endif
