/* Why tasks of a run failed, in the database: a row a failure. Private to the history. */
#pragma once
#include "history/database.h"

/* All of them in one transaction; none is no transaction. */
bool failures_write(struct history *h, int64_t run, const struct run_record *r, struct error *err);
/* Into `out`, whose `run` and `tasks` are set; damaged rows are left out. */
bool failures_load(struct history *h, struct run_record *out, struct error *err);
