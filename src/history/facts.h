/* Facts of a run: parameters, labels and values of results, and what people said of it afterwards, by
 * name. Private to the room. */
#pragma once
#include "history/database.h"

/* Within the caller's transaction: the parameters that the run's workflow has. */
bool facts_add_parameters(struct history *h, int64_t run, const struct workflow *w,
                          struct error *err);
/* Likewise: what the file at `path` (under `folder`) that a task of the run made states. */
bool facts_add_result(struct history *h, int64_t run, const char *folder, const char *path,
                      uint32_t task, struct error *err);
/* Likewise: what it says of itself. */
bool facts_add_figure(struct history *h, int64_t run, const struct history_figure *f,
                      struct error *err);
/* At the end of the run: what results state that it found as they were. */
bool facts_add_reused(struct history *h, int64_t run, const char *folder, const struct workflow *w,
                      struct error *err);
/* Facts of the run that `out` is of, into it; of one name, if `name` is not 0. */
bool facts_load(struct history *h, struct run_record *out, int64_t name, struct error *err);
/* Those of one name that are the run's, or a task's of it (NONE: of none). */
bool facts_load_task(struct history *h, struct run_record *out, int64_t name, uint32_t task,
                     struct error *err);
/* The number of a name; 0: nobody has it, or an error. */
int64_t facts_find_name(struct history *h, const char *name, struct error *err);
