/* Two runs side by side: which kinds and which tasks took longer. Tasks are matched by name. */
#pragma once
#include "history/history.h"

/* A task or a kind, in either run. */
struct history_change {
    const char *name, *kind;
    double a, b; /* seconds, of kinds the mean; NAN: it did not run there */
    double memory_a, memory_b;
    uint32_t n_a, n_b; /* of kinds: tasks that ran */
};
typedef ARRAY(struct history_change) history_change_list;

static inline double history_change_of(const struct history_change *r)
{
    return r->b - r->a;
}

struct history_changes {
    struct run_record run[2];
    struct history_tasks names[2];    /* what the rows' texts point into */
    history_change_list tasks, kinds; /* by how much longer it took, most first; what ran in one
                                         of them only comes last */
};

/* O(tasks log tasks). Free with history_changes_free() in any case. */
bool history_compare(struct history *h, int64_t first, int64_t second, struct history_changes *out,
                     struct error *err);
void history_changes_free(struct history_changes *c);
