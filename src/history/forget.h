/* Removing what is on record of a run, inside a transaction of the caller's. Private. */
#pragma once
#include "history/database.h"

/* Statements with ?1, ?2, ... for `values`; each takes those that it names. */
bool forget_by(struct history *h, const char *const *steps, size_t n, const int64_t *values,
               struct error *err);
/* What the run itself told: attempts, files, events. ?1 to ?2: rows of the run (database_row()); ?3: the run. */
bool forget_told(struct history *h, const int64_t *values, struct error *err);
