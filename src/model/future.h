/* What a workflow will become: lists that are read, and files of tasks that join, when tasks are done.
 *
 * Whoever reads a workflow that is not all known gives it a future (workflow.future); who runs it asks
 * which tasks decide, and when they are done has the next part made and appended (model/growth.h).
 * Which text that comes from, only the reader knows: an interface, since readers are a room. */
#pragma once
#include "model/growth.h"
#include "model/outside.h"

/* Something that is read when tasks are done: the tasks first .. first + count - 1 of the workflow.
 * 0 of them: they are not known themselves yet. */
struct future_item {
    const char *name; /* for people: "list 'chunk'" */
    uint32_t first, count;
    uint32_t last_time; /* values that it has as things stand on the disk; 0: none */
    /* It is also decided by tasks that were not taken, or failed and may: what comes of it then is skipped
     * as they were, and what can do without goes on. Else it is never read. */
    bool by_ended;
};

struct future_part {
    struct workflow *workflow; /* NULL: nothing has become known */
    ARRAY(struct growth_link) links;
};

struct future_ops {
    void (*discard)(struct future *f);
    /* How many items are still to be read, and the i-th. */
    size_t (*items)(struct future *f);
    struct future_item (*item)(struct future *f, size_t i);
    /* Read those in `ready` (one bool an item), which changes the items, and make what became known by
     * that, for `w`, which is not changed. It must be appended. `from`: what look() noted; NULL: as it
     * stands on the disk. False: an error with its place. */
    bool (*expand)(struct future *f, const struct workflow *w, const bool *ready,
                   struct outside *from, struct future_part *out, struct error *err);
    /* Note what expand() would read of them, and change nothing. What is not there is noted, too.
     * into->folder is set: where names begin. */
    void (*look)(struct future *f, const bool *ready, struct outside *into);
    /* Tasks and families that are not known yet, as they are called in the file, one after the other;
     * NULL after the last. `item`: the first that they wait for. */
    const char *(*unknown)(struct future *f, size_t i, size_t *item);
    /* Could a task, family or file of this name come? */
    bool (*may_make)(struct future *f, const char *name);
    /* Could one of them read the file of this name? */
    bool (*may_read)(struct future *f, const char *name);
    /* Secrets that these name in the file, one after the other; NULL after the last. */
    const char *(*secret)(struct future *f, size_t i);
};

struct future {
    const struct future_ops *ops;
};

void future_free(struct future *f); /* NULL is fine */
void future_part_free(struct future_part *p);
/* ---- parts as bytes: the same part on every machine ---- */

#define FUTURE_LAST_ITEM UINT32_MAX /* in a part's bytes: the last item that there is then */

/* What expand() would read for these items is looked at, below `real` where the workflow's own folder is
 * meant (NULL: that itself), and put into `out`. */
void future_note_part(struct workflow *w, const bool *ready, const char *real, struct strbuf *out);
/* The part that those bytes make, for this workflow: it must be appended. Every machine that appends the
 * same parts in the same order has the same tasks under the same numbers. False: an error, the same
 * everywhere; such a workflow does not grow any more. */
bool future_play_part(struct workflow *w, const void *part, size_t n, struct future_part *out,
                      struct error *err);
/* And appended. */
bool future_append_part(struct workflow *w, const void *part, size_t n, struct error *err);
/* Does it look as it did when these bytes were noted? Below `real`, as above. */
bool future_part_is_same(const void *part, size_t n, const char *real);

/* Could a task that is not known yet read this object? */
bool future_may_read(const struct workflow *w, uint32_t object);
/* Is there anything that is not known yet? */
bool workflow_is_open(const struct workflow *w);
