/* Which task reads and makes which file, stored beside a workflow's text. Private. */
#pragma once
#include "history/database.h"

/* Inside a transaction or alone. */
bool shape_add(struct history *h, int64_t workflow, const struct workflow *w, struct error *err);
