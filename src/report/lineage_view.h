/* Where a file comes from and what came of it, shown. */
#pragma once
#include "base/strbuf.h"
#include "model/workflow.h"

/* `w` has the tasks, of which the first `nback` made the object `focus`; `cut`: there are more. */
void lineage_view(const struct workflow *w, uint32_t focus, uint32_t nback, bool cut,
                  struct strbuf *out);
/* With the run of each task. */
void lineage_view_json(const struct workflow *w, uint32_t focus, uint32_t nback, bool cut,
                       const int64_t *run, struct strbuf *out);
