/* Rows of a workflow's tasks: names, kinds, commands. Private to the room. */
#pragma once
#include "base/pool.h"
#include "history/database.h"

/* All within the caller's transaction. Row numbers of the kinds, into kind_row[]; new kinds are added. */
bool tasks_add_kinds(struct history *h, const struct intern *kinds, int64_t *kind_row,
                     struct error *err);
/* The tasks of workflow number `workflow`, which is then complete; task t is of kind kind_row[kind[t]]. */
bool tasks_add(struct history *h, int64_t workflow, const struct workflow *w, const uint32_t *kind,
               const int64_t *kind_row, struct error *err);
