/* Removing what no run of a workflow needs: logs and sandboxes of runs that are over, records of
 * computations that the workflow no longer has, temporary files that nobody will read. The session
 * is open, so that no run goes on in the folder meanwhile. */
#pragma once
#include "session/session.h"

struct cleaning {
    bool dry; /* only count */
    bool all; /* also the outputs of all tasks, and every record of them */
    const char *const *targets,
        *const *since;   /* a part (model/select.h): its outputs alone; NULL: all */
    const uint8_t *only; /* the part, one a task; NULL: all */
    /* counted: */
    uint32_t logs, sandboxes, files, records;
    uint32_t
        kept; /* files at outputs' places that weft did not make: they stay, and are remarked */
    double bytes;
};

/* Kept results (memo/objects.h), all of them: how many there were. `dry`: they stay. */
void session_clean_kept(struct session *s, bool dry, uint32_t *count, double *bytes);
/* False: the records could not be written again; the counts say how far it came. */
bool session_clean(struct session *s, struct cleaning *c, struct error *err);
