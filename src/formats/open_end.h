/* A workflow to which a program adds tasks while others run it (weft_run_add() on agents).
 *
 * Its future (model/future.h) is what its reader knows of it, if anything, and one item more, the last: its
 * tasks are not known before somebody adds them, and nothing in the run decides about them. A part that
 * adds tasks is a part as any other: everybody who has its bytes makes the same tasks of them. */
#pragma once
#include "model/future.h"

/* From now on it has an open end. */
void open_end_begin(struct workflow *w);
/* The part that adds these tasks to a workflow with an open end, as bytes. False: they cannot be written down. */
bool open_end_put_part(const struct workflow *more, struct strbuf *out, struct error *err);
