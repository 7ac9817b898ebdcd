/* The rest of a run, planned again from its present state: a node has become slower, or lost memory, and the plan was
 * made for what it was. What has begun stays where it is; everything else may move.
 *
 *     begun ──────────┤ stays, and ends when it ends
 *                     │
 *     not begun       ├──▶ planned again, from `now` on, for the nodes as they are now
 *                    now
 *
 * Without ports and things: a request that has any is refused (rest_can()). */
#pragma once
#include "model/plan.h"

struct rest {
    const struct workflow *workflow;
    const struct platform *platform; /* as it is now */
    /* per node: how many times longer than stated a time of a task's own takes there now; NULL: 1 */
    const double *stretch;
    const struct plan *plan; /* static: the one that was followed so far */
    double now;
    const struct placement
        *begun; /* producers before consumers; finish: expected where it runs still */
    uint32_t nbegun;
};

/* False, with the reason: nothing of this plan can be planned again here. */
bool rest_can(const struct workflow *w, const struct platform *p, const struct plan *plan,
              struct error *err);

enum { REST_WAYS = 4 };
/* Up to REST_WAYS static plans of the whole workflow, each within the memory of nodes from now on; in all of them
 * what has begun is as given. The caller frees them. 0: no way was found, and `err` names a task that fits nowhere. */
size_t rest_plans(const struct rest *r, struct plan *out[REST_WAYS], struct error *err);
