/* The record of a stream: a run of the history whose tasks are filters. It has no attempts, for there
 * may be millions of items a second; it has figures, once a second while it goes on, and what its user
 * said of items that were given up. */
#pragma once
#include "history/history.h"
#include "model/plan.h"

struct streamed;

/* Begin a run in the history of $WEFT_HISTORY or the home folder. NULL: none is wanted (err->kind
 * ERROR_NONE), or it cannot be. The workflow must outlive it. */
struct streamed *streamed_begin(const struct workflow *w, const char *folder, const char *planner,
                                uint32_t workers, struct error *err);
int64_t streamed_run(const struct streamed *s); /* its number */
void streamed_tell(struct streamed *s, const struct history_figure *figures, size_t n);
/* An item that was given up. */
void streamed_add_failure(struct streamed *s, uint32_t task, uint64_t item, const char *why);
/* How it ended; frees it. False: the record is not whole. `ran`: tasks that did an item. */
bool streamed_end(struct streamed *s, enum record_outcome outcome, double seconds, uint32_t ran,
                  struct error *err);
