/* A workflow that grows: tasks that become known while it runs are appended to it.
 *
 *     part:  an ordinary workflow, read or built by itself. An input of it that a task of `w` makes
 *            becomes an edge from that task; links are further edges, which carry nothing.
 *
 *       w          part                      w, after workflow_append()
 *     +-----+     +-------+      tasks       [ old ........ | part ........ ]      numbers of old
 *     | 0 1 |  +  | 0 1 2 |      objects     [ made | inputs | made | inputs ]     ones stay
 *     +-----+     +-------+      pred_*      [ old ........ | part, old ones among its parents ]
 *                                succ_*      [ old ........ | part, among its own tasks ]
 *                                later       edges from old tasks to new ones, a chain for each
 *
 * A task that depends on what is not known yet is not known itself: so old tasks never wait for new
 * ones, and growth only appends. It costs what the part costs, whatever is there already; arrays are
 * lengthened by half when they are full.
 *
 * What walks over succ_* of a workflow that may have grown walks over `later`, too; or it takes
 * growth_whole(), which has everything in its place. Numbers of tasks are the same in both. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "model/workflow.h"

/* `from`: a task of the workflow; `to`: one of the part. */
struct growth_link {
    uint32_t from, to;
};

/* An edge from a task that was there to one that joined later. */
struct later_edge {
    uint32_t task, object; /* object: NONE: ordering only */
    uint32_t next;         /* of the same task; NONE: that was the last */
};

/* What joined at once: its first task and object. */
struct growth_part {
    uint32_t task, object;
};

struct growth {
    ARRAY(struct growth_part) parts;
    ARRAY(struct later_edge) later;
    ARRAY(uint32_t) first_later; /* by task, NONE: none; past the end: none */
    struct intern folders;       /* that something made lies in, at any depth */
    uint32_t seen;               /* objects whose folders are known */
    size_t *room; /* entries that the arrays have room for, by their row in the list */
};

/* Append the part, which stays the caller's. False: nothing has changed, and `err` says why: a name
 * that is there already, a file that another task makes or has read. O(part), expected. */
bool workflow_append(struct workflow *w, const struct workflow *part,
                     const struct growth_link *links, size_t nlinks, struct error *err);

/* Edges to tasks that joined later, as an index of later.at; NONE: there is none. */
static inline uint32_t growth_first_later(const struct workflow *w, uint32_t task)
{
    return w->growth && task < w->growth->first_later.n ? w->growth->first_later.at[task] : NONE;
}
/* For (e): struct later_edge of this task, in no special order. */
#define growth_each_later(w, task, e)                                                              \
    for (uint32_t e##_at = growth_first_later((w), (task));                                        \
         e##_at != NONE && ((e) = &(w)->growth->later.at[e##_at]);                                 \
         e##_at = (w)->growth->later.at[e##_at].next)

/* The nearest folder above an object that is itself an object; NONE: none is. */
uint32_t growth_folder(const struct workflow *w, uint32_t object);
/* The same tasks, under the same numbers, as a workflow whose every array is whole; objects may have
 * other numbers. A copy of its own if it has grown, else NULL: take `w` itself. O(workflow). */
struct workflow *growth_whole(const struct workflow *w);
void growth_free(struct growth *g); /* NULL is fine */

/* growth_demands.c, for growth.c: may a part's resources join those of the workflow? */
bool growth_demands_fit(const struct workflow *w, const struct workflow *p, struct error *err);
/* They do; `w` has room for all of the part's resources and demands. The number that each demand of the
 * part has in `w`, by its own; the caller's. */
uint32_t *growth_demands(struct workflow *w, const struct workflow *p);
