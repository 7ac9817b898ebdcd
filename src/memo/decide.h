/* Is a task taken? Its condition (`when`) says so, and whether what it needs is there: an input whose
 * maker was skipped, or failed and may, is absent; who can do without it (`optional`) goes on.
 *
 *     qc.txt absent ──▶ a task that needs it      skipped because of its maker
 *                  └──▶ one that says optional    taken; {in.qc} is empty, the file is not in its
 *                                                 sandbox, its key knows that it is absent
 *
 * The decision is a function of what the task reads, and no part of its key: a condition that changes
 * recomputes nothing that is taken all the same. */
#pragma once
#include "memo/need.h"

enum task_decision {
    DECISION_TAKEN,
    DECISION_SKIPPED,
    DECISION_OPEN,   /* it asks about a file that is not known, or not here, yet */
    DECISION_FAILED, /* it cannot be answered, ever: `err` */
};

struct deciding {
    const struct workflow *w;
    struct needs *needs;   /* NULL: nothing is known of files */
    const uint8_t *absent; /* by object; NULL: none is */
    const char *folder;    /* where files are */
    bool starts;           /* the task could start now: all is known that will be */
};

/* `because`: who skipped it: the maker of what it needs; NONE: its own condition. O(inputs). */
enum task_decision decide_task(const struct deciding *d, uint32_t task, uint32_t *because,
                               struct error *err);

/* A workflow in which tasks may be skipped: its needs keep what is absent from now on. Known to be
 * so when workflow_decides(). */
void needs_decide(struct needs *n);
/* The task has no outputs in this run: it was skipped, or failed and may. */
void need_without_outputs(struct needs *n, uint32_t task);
/* Put the decision on record, where the files that it asked about may be gone next time. */
void need_decided(struct needs *n, uint32_t task, bool taken);
