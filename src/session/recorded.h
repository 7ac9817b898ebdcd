/* The history as commands use it: where it is, a run by its number, the workflow it ran. */
#pragma once
#include "base/error.h"
#include "history/history.h"

/* The history of $WEFT_HISTORY or the home folder. NULL with err->kind ERROR_NONE: none is wanted
 * or there is none yet. */
struct history *recorded_open(struct error *err);
/* The same for a command that has nothing to do without one. */
struct history *recorded_require(struct error *err);
/* A guard's `clean` (base/mem.h) for whoever allocates while he has one open: history_close(). */
void recorded_abandon(void *history);

/* A run by what the user typed: a number, "last", or a name that somebody gave it. */
bool recorded_number(struct history *h, const char *text, int64_t *run, struct error *err);
/* history_load() with the workflow, parsed from its text (NULL when it was not kept or no longer
 * reads). */
bool recorded_load(struct history *h, int64_t run, struct run_record *out, struct error *err);
struct workflow *recorded_workflow(struct history *h, int64_t run);
/* A workflow in which the task is, with all it reads and makes: that task alone where its text can be cut
 * out, which costs a thousandth of reading the graph of 10,000 tasks, else the whole. NULL: none. */
struct workflow *recorded_task(struct history *h, int64_t run, const char *task);
/* Names and kinds of its tasks alone: quick. NULL: they are not all on record. */
struct workflow *recorded_names(struct history *h, const struct run_record *r);
/* The graph of a run as it was, to be run again: an error when its text was not kept. `folder` is where it
 * ran, which the caller frees. */
struct workflow *recorded_graph(struct history *h, int64_t run, char **folder, struct error *err);
/* A run for a report: as the user names it, in the standard history, with a workflow of names and
 * kinds where the text was not kept. Free with record_free(). */
bool recorded_show(const char *which, struct run_record *out, struct error *err);

/* history_compare(), with the commands as they ran, by the tasks' names. */
struct history_changes;
bool recorded_compare(struct history *h, int64_t first, int64_t second, struct history_changes *out,
                      struct error *err);

/* Absolute, without "." and "..", links not followed. The caller frees. */
char *recorded_path(const char *path);
