/* Which results of a run are kept, and which tasks need not run because theirs are: between what must
 * run (memo/need.h) and the store of contents (memo/objects.h).
 *
 *     record of the key ── outputs as it left them ───────────────▶ NEED_NOT
 *                      └── not, but their contents are kept ──────▶ NEED_KEPT ── restored ──▶ NEED_NOT
 *                                                                             └─ damaged ───▶ it runs
 */
#pragma once
#include "memo/need.h"
#include "memo/objects.h"

struct keeping {
    struct objects *objects;
    bool all;       /* results of all tasks are kept, not only of those that say so */
    bool started;   /* the run has begun: what joins is restored at once */
    bool computes;  /* nothing is restored: it went wrong in a way that will go wrong again */
    bool overwrite; /* nothing that weft did not make is put aside */
    double most;    /* bytes that one result may have */
    /* what came of it: */
    uint32_t kept, restored; /* outputs that were written to the store; tasks */
    double bytes;            /* written to the store */
    uint32_t unkept;         /* outputs that could not be kept */
    uint32_t damaged;        /* objects */
    struct error why;        /* the first of what went wrong */
    struct strbuf aside;     /* "NAME is kept as NAME.before-weft", a line each */
};

/* Does anybody keep this task's results? Temporary outputs are not. */
bool keeping_wants(const struct needs *n, uint32_t task);
/* Its outputs stand where they belong: keep those that are not. What goes wrong is counted. */
void keeping_keep(struct needs *n, uint32_t task);
/* The same of all tasks that are known to be done: what was found, or came from elsewhere. O(tasks). */
void keeping_keep_all(struct needs *n);

/* Can each output that does not stand as the record says be restored? Then their contents are known. */
bool keeping_can_restore(struct needs *n, uint32_t task, const struct memo_task *t);
/* Put them into place. False: it runs; what could be restored is. */
bool keeping_restore(struct needs *n, uint32_t task, const struct memo_task *t);
/* Is there something that can be restored by this record? Then it is worth keeping. */
bool keeping_needs_record(const struct keeping *k, const struct memo *memo,
                          const struct memo_task *t);
/* All that are NEED_KEPT, from task `first` on; those that cannot be run, and what is below them is
 * judged when its inputs are there. O(tasks + edges). */
void keeping_restore_all(struct needs *n, uint32_t first);
