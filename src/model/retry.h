/* After which failures a task is tried again: `retry_on: [137, SIGKILL, memory, timeout]`.
 *
 *     137          an exit status; one of a signal is 128 and its number, whether a shell said so or
 *                  the command itself was killed
 *     SIGKILL      128 and its number; KILL is the same
 *     memory       it used more than it may
 *     timeout      it ran longer than it may
 *
 * Kept as a text, words at commas: "137,memory". */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include "model/trace.h"
#include "model/workflow.h"

/* One word as it is kept, after a comma if `list` has some. False: it is none of these, and `err`
 * says what was expected. */
bool retry_add(struct strbuf *list, const char *word, struct error *err);
/* Is it such a list? */
bool retry_check(const char *list, struct error *err);
/* Is this failure in the list? `status`: 128 and the signal's number of one that was killed. */
bool retry_has(const char *list, enum trace_outcome outcome, int status);
/* Does what the workflow says of the task let no attempt follow this failure? */
bool retry_is_last(const struct workflow *w, uint32_t task, uint32_t attempt,
                   enum trace_outcome outcome, int status);
