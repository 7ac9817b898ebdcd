/* What a format cannot carry, said once for all of them: a line for each kind of information that
 * this workflow has and the format has no place for. A writer calls dropped_report() with what its
 * row says it carries, less what does not hold for this workflow, and adds lines of its own for
 * losses in between ("commands with a line break"). */
#pragma once
#include "base/strbuf.h"
#include "formats/carries.h"

/* Linear in the workflow. `dropped` may be NULL. */
void dropped_report(const struct workflow *w, uint64_t carried, struct strbuf *dropped);
/* One more line: "memory of 12 tasks"; nothing for a count of 0. */
void dropped_count(struct strbuf *dropped, size_t count, const char *what, const char *of);
