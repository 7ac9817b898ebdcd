/* What the history predicts for a workflow, as commands use it. */
#pragma once
#include "model/plan.h"
#include "session/recorded.h"
#include "session/remark.h"

/* The forecast for `w`; NULL with err->kind ERROR_NONE: there is no history. `sizes`: bytes of
 * all inputs are looked up, too. */
struct forecast *prediction_make(const struct workflow *w, bool sizes, struct error *err);

/* Tasks with a command but without a stated work get their predicted one, and their predicted
 * memory when none is stated. Says so (INFO), and also when the history cannot be read (WARNING).
 * Nothing happens without a history that knows a kind of the workflow. `risk`: with which probability
 * tasks stay below their work; 0: as predicted. */
void prediction_apply(struct workflow *w, double risk, const struct remarks *remarks);
/* The same for the workflow of a plan: a static one says itself how long those tasks take, and that
 * counts, however the history has changed since. */
void prediction_of_plan(struct workflow *w, const struct plan *plan, const struct platform *p,
                        double risk, const struct remarks *remarks);
/* Where a workflow's files are: the folder of its file. NULL: here. The caller frees. */
char *prediction_folder(const struct workflow *w);
