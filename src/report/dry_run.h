/* What a run would do, as `weft run --dry-run` shows it. */
#pragma once
#include "base/strbuf.h"
#include "memo/need.h"

struct dry_run {
    const char *name; /* of the workflow */
    const struct workflow *workflow;
    const struct needs *needs;
    const double *seconds, *memory; /* expected, per task; NAN: not known */
    uint32_t cores;
    uint32_t known;           /* tasks whose time is stated or was seen */
    bool commands;            /* the text shows each task's, too; JSON always does */
    double total, peak, disk; /* of the whole run: seconds, bytes of memory, bytes of files; what is
                                 not known counts as 0 */
    uint32_t no_time, no_memory, no_size; /* tasks that run and of which that is not known */
};

void dry_run_text(const struct dry_run *d, bool colour, struct strbuf *out);
void dry_run_json(const struct dry_run *d, struct strbuf *out); /* weft-dry-run/1 */
/* "NAME: nothing to do: 12 tasks are up to date" */
void dry_run_nothing(const char *name, uint32_t tasks, uint32_t skipped, uint32_t restored,
                     struct strbuf *out);
