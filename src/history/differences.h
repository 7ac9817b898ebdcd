/* What differs between two runs beside times: facts, files. Private. */
#pragma once
#include "history/changes.h"
#include "history/database.h"

void differences_facts(struct history_changes *c, const struct run_record *a,
                       const struct history_tasks *a_tasks, const struct run_record *b,
                       const struct history_tasks *b_tasks);
/* Contents of files; of one that a run found as it was, the content that the newest run before left. */
bool differences_files(struct history *h, struct history_changes *c, const struct run_record *a,
                       const struct run_record *b, struct error *err);
