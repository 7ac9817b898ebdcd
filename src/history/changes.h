/* Two runs side by side: what differs in parameters, values, commands and files, which kinds and which
 * tasks took longer. Tasks are matched by name. */
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

/* Something else than a time that is not the same in both. */
struct history_difference {
    const char *what; /* "parameter", "value", "command", "file" ... */
    char *name;
    char *a, *b; /* NULL: it is not there */
};

struct history_changes {
    struct run_record run[2];
    struct history_tasks names[2];    /* what the rows' texts point into */
    history_change_list tasks, kinds; /* by how much longer it took, most first; what ran in one
                                         of them only comes last */
    ARRAY(struct history_difference) differences; /* by what, then by name */
};

/* O(tasks log tasks). Free with history_changes_free() in any case. */
bool history_compare(struct history *h, int64_t first, int64_t second, struct history_changes *out,
                     struct error *err);
/* One more, for what history_compare() cannot know: commands. Takes copies. */
void history_changes_add(struct history_changes *c, const char *what, const char *name,
                         const char *a, const char *b);
void history_changes_free(struct history_changes *c);
