/* Building a workflow: what every reader and generator calls.
 *
 * The first mistake sticks: later calls are harmless, and builder_finish() returns NULL with that
 * first error, so that readers need not check every call. Values are checked as they come (finite,
 * not negative), structure at the end (dangling names, cycles, self loops). `line` is where the
 * thing stands in the file, 0 when there is no line. */
#pragma once
#include "model/columns.h"
#include "model/joins.h"

struct builder;

/* `file` is for messages ("<generated>" is fine), `format` is what `weft show` reports. Both are
 * copied. */
struct builder *builder_new(const char *file, const char *format);
void builder_free(struct builder *b); /* NULL is fine; only when builder_finish() was not called */

/* The workflow is made from several files: lines past `base` are those of `file`, which is copied.
 * Each base is past the lines of all files before it. */
void builder_source(struct builder *b, const char *file, size_t base);

/* Say that something is wrong at a line; always returns false. */
bool builder_error(struct builder *b, size_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool builder_failed(const struct builder *b);
const struct error *builder_first_error(const struct builder *b);
/* A remark for the user that is not an error: repeated edge, file size redefined ... Kept with the
 * workflow. At most 20 of a reader's many are kept; the rest are counted in a closing one. */
void builder_warn(struct builder *b, size_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of a workflow that is finished. */
void builder_add_warning(struct workflow *w, const char *text);

void builder_name(struct builder *b, const char *name, size_t len);
/* Rough sizes, when a header tells them: only to allocate once. */
void builder_expect(struct builder *b, size_t tasks, size_t edges);
/* The same where things come that are alike: so many times more what was added since `before`. */
struct builder_counts {
    size_t objects, readings, made, text;
};
struct builder_counts builder_counts_now(const struct builder *b);
void builder_expect_alike(struct builder *b, const struct builder_counts *before, size_t times);

/* ---- tasks ---- */
/* A new task; a second one of that name is an error (and NONE). Empty names are refused. */
uint32_t builder_task(struct builder *b, const char *name, size_t len, size_t line);
uint32_t builder_find_task(const struct builder *b, const char *name,
                           size_t len); /* NONE: not (yet) there */
uint32_t builder_task_count(const struct builder *b);
const char *builder_task_name(const struct builder *b, uint32_t task);
void builder_work(struct builder *b, uint32_t task, double work, size_t line);
void builder_memory(struct builder *b, uint32_t task, double bytes, size_t line);
void builder_cores(struct builder *b, uint32_t task, double cores,
                   size_t line); /* a whole number, 1 or more */
void builder_kind(struct builder *b, uint32_t task, const char *kind, size_t len);
/* What pictures group it by where nothing is stated: its program. Predictions go by its name. */
void builder_usual_kind(struct builder *b, uint32_t task, const char *kind, size_t len);
/* A template (model/command.h): builder_finish() refuses a {word} that nothing has. */
void builder_command(struct builder *b, uint32_t task, const char *command, size_t len);
/* What its command runs under (model/shell.h); "" takes a default back. Not a program with options:
 * an error. */
void builder_shell(struct builder *b, uint32_t task, const char *shell, size_t len, size_t line);
/* A column of TASK_TEXTS, written as model/environment.h says; "" takes a default back. */
void builder_text(struct builder *b, uint32_t task, enum column_id id, const char *text, size_t len,
                  size_t line);
/* A condition on its being run, with its names filled in (model/condition.h), which the caller has
 * parsed. Places are those of the inputs as they were told. */
void builder_when(struct builder *b, uint32_t task, const char *condition, size_t len);
/* Which failures are tried again (model/retry.h); "" takes a default back. */
void builder_retry_on(struct builder *b, uint32_t task, const char *list, size_t len, size_t line);
/* The columns of `t` of `w` that are texts: its condition, retry_on, needs, resources. */
void builder_copy_texts(struct builder *b, uint32_t task, const struct workflow *w, uint32_t t);
/* Attributes that its node must have: words of letters, digits and "-._+", at commas or blanks; at
 * most 64 different ones in a workflow. They take the place of what it needed before. */
void builder_needs(struct builder *b, uint32_t task, const char *list, size_t len, size_t line);
/* What it holds of its node while it runs, "gpu=0.5,licence=2": names and numbers, at commas or blanks.
 * It takes the place of what it asked for before; "" and 0 are nothing. */
void builder_resources(struct builder *b, uint32_t task, const char *list, size_t len, size_t line);
/* A text that stands for itself, braces and all: what formats without templates carry. */
void builder_literal_command(struct builder *b, uint32_t task, const char *command, size_t len);
/* Where its first line stands, for messages about its words. */
void builder_command_line(struct builder *b, uint32_t task, size_t line);
void builder_flag(struct builder *b, uint32_t task, unsigned flags); /* enum task_flag */
void builder_time(struct builder *b, uint32_t task, const char *node, size_t len, double seconds,
                  size_t line);
/* An optional number of column_list.h. builder_timeout(), builder_retries(), builder_deadline() ...
 * are the same by name. */
void builder_number(struct builder *b, uint32_t task, enum column_id id, double value, size_t line);
/* A call has no process that could be ended, or whose children be counted: what defaults said of these goes. */
void builder_forget_limits(struct builder *b, uint32_t task);
#define BUILDER_SETTER(name, ...)                                                                  \
    static inline void builder_##name(struct builder *b, uint32_t task, double value, size_t line) \
    {                                                                                              \
        builder_number(b, task, COLUMN_##name, value, line);                                       \
    }
TASK_COLUMNS(COLUMN_SKIP, BUILDER_SETTER, COLUMN_SKIP)
#undef BUILDER_SETTER
/* The texts, optional numbers and switches of task `t` of `w`, but for those in the set `without`. */
void builder_copy_columns(struct builder *b, uint32_t task, const struct workflow *w, uint32_t t,
                          uint64_t without);
/* One more rung of `memory: [2G, 4G, 8G]` than builder_memory() and earlier calls gave this task.
 */
void builder_more_memory(struct builder *b, uint32_t task, double bytes, size_t line);
/* The reader looked at something else than the text of its file (other files, a folder). */
void builder_outside(struct builder *b);
void builder_parameter(struct builder *b, const char *name, const char *value);
/* A word in braces that the reader fills in itself: where a command has a slip, it may have been meant. */
void builder_variable(struct builder *b, const char *name);
/* Constraints on the schedule, kept as text: the constraint planner reads them. */
void builder_assertion(struct builder *b, const char *text, size_t len, size_t line);

/* A command that a run runs beside its tasks. */
void builder_hook(struct builder *b, enum workflow_hook hook, const char *command, size_t len);

/* ---- objects and edges ---- */
/* Names of objects are names of files: `./x`, `a//x` and `b/../x` are `x` (base/path.h), and so is an
 * absolute name in this folder, if it is told before any object is named. A slash at the end says
 * that it is a folder, which the finished workflow's name shows wherever it was said. */
void builder_home(struct builder *b, const char *folder); /* NULL is fine */
/* The object of that name, made on first use. */
uint32_t builder_object(struct builder *b, const char *name, size_t len);
/* Its one spelling, without the slash of a folder. */
const char *builder_object_name(const struct builder *b, uint32_t object);
uint32_t builder_object_count(const struct builder *b); /* anonymous ones counted */
uint32_t builder_find_object(struct builder *b, const char *name, size_t len);
/* Set the size. A different size for an object that has one keeps the first and warns. */
void builder_size(struct builder *b, uint32_t object, double bytes, size_t line);
void builder_temporary(struct builder *b, uint32_t object);
/* Functions hand it to each other without a file, where its maker and all its readers are functions. */
void builder_in_memory(struct builder *b, uint32_t object);
/* `task` makes `object`; a second producer is an error that names both. */
void builder_produces(struct builder *b, uint32_t task, uint32_t object, size_t line);
uint32_t builder_producer(const struct builder *b, uint32_t object); /* NONE: none so far */
/* `task` reads `object`: an edge from its producer, if it has one at the end. */
void builder_consumes(struct builder *b, uint32_t task, uint32_t object, size_t line);
/* `task`, which reads `object`, can do without it. Of a folder: without all that is in it. */
void builder_optional(struct builder *b, uint32_t task, uint32_t object);
/* Ordering without data. Repeated ones, and ones between tasks that a data edge joins, count once.
 */
void builder_edge(struct builder *b, uint32_t from, uint32_t to, size_t line);
/* The tasks first .. first + count - 1 join when by .. by + nby - 1 are done (model/joins.h). False:
 * there are too many of them for edges, and it is noted without. */
bool builder_join(struct builder *b, struct join row, size_t line);
/* Ordering by names that may not be there yet: resolved at the end, a dangling one is an error at
 * that line. */
void builder_edge_named(struct builder *b, const char *from, size_t from_len, const char *to,
                        size_t to_len, size_t line);
/* An edge with data of its own: an anonymous object. A second one between the same tasks: `bytes`
 * of the first stay, and it warns. A size of 0 is a plain ordering edge. */
void builder_data_edge(struct builder *b, uint32_t from, uint32_t to, double bytes, size_t line);

/* For formats that keep the order of a task's inputs (or outputs) apart from the statements that
 * make them: place[i] is where the i-th stands in the order in which this builder heard of them.
 * Matters to commands, whose {in} and {out} follow that order; not a permutation: an error. */
void builder_permute(struct builder *b, uint32_t task, bool outputs, const uint32_t *place,
                     uint32_t n, size_t line);

/* Freeze and check. Frees the builder. A cycle is an error that names its tasks. */
struct workflow *builder_finish(struct builder *b, struct error *err);
