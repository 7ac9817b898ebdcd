/* What the history predicts for a workflow, as commands use it. */
#pragma once
#include "cli/recorded.h"

/* The forecast for `w`; NULL with err->kind ERROR_NONE: there is no history. The history may be
 * closed afterwards. */
struct forecast *prediction_make(const struct workflow *w, struct error *err);

/* Tasks with a command but without a stated work get their predicted one, and their predicted
 * memory when none is stated. Says so on standard error, and also when the history cannot be read.
 * Nothing with --no-predict, or without a history that knows a kind of the workflow. */
void prediction_apply(const struct arguments *a, struct workflow *w);
/* The same for the workflow of a plan: a static one says itself how long those tasks take, and that
 * counts, however the history has changed since. */
void prediction_of_plan(const struct arguments *a, struct workflow *w, const struct plan *plan,
                        const struct platform *p);
/* Where a workflow's files are: the folder of its file. NULL: here. The caller frees. */
char *prediction_folder(const struct workflow *w);
