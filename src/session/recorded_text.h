/* Texts of graphs as histories have them: weft's own writer wrote them, a task is a key of two blanks and
 * what is deeper. Private to recorded.c and recorded_compare.c. */
#pragma once
#include "base/strbuf.h"
#include "history/history.h"

/* Errors are of no interest: a run without its workflow can still be shown. The text is used up. */
struct workflow *recorded_read(char *text, size_t n);
/* The lines from `at` on that are indented deeper than `indent`: where they end. */
const char *recorded_block_end(const char *at, size_t indent);
/* What stands before the tasks of a part of the text: the parameters, which commands use. `tasks`: where
 * the line of that name is in it. */
void recorded_add_head(const char *text, const char *tasks, struct strbuf *out);
/* What stands below a task's key, but for `after`: other tasks may not be there. */
void recorded_add_body(const char *body, const char *end, struct strbuf *out);
