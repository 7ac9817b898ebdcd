/* The rest of a run, planned again (rest.h): list schedules that keep to memory, behind what has begun.
 *
 * Four ways, since none of them is always shortest: by rank, each task where it ends first, of equal nodes on the one that
 * it had; so too, but on the node that it had wherever it fits there still; by rank with a reserve for the largest task to
 * come; and in an order that needs little memory. Who called replays them all and takes the shortest. */
#include "plan/memory/rest.h"
#include "plan/list/list.h"
#include "plan/memory/fill.h"
#include "plan/memory/traversal.h"
#include <math.h>
#include <string.h>

bool rest_can(const struct workflow *w, const struct platform *p, const struct plan *plan,
              struct error *err)
{
    const char *has = platform_limits_ports(p) || plan->ports ? "limits ports"
                      : w->asks                               ? "has tasks that hold resources"
                      : plan->evictions.n                     ? "writes files to disk"
                      : plan->pins.n || plan->constraints.n || plan->waits.n
                          ? "is under constraints"
                      : plan->placements.n != w->ntasks ? "runs some tasks twice"
                                                        : NULL;
    return !has ||
           error_set(err, ERROR_INPUT, "the plan %s: the rest of it cannot be planned again", has);
}

/* Times of tasks' own follow the node's speed, too. */
static void rest_stretch(struct costs *costs, const double *stretch)
{
    uint32_t nodes = costs->platform->nnodes;
    if (!stretch || !costs->own_row)
        return;
    for (uint32_t t = 0; t < costs->workflow->ntasks; t++)
        if (costs->own_row[t] != NONE)
            for (uint32_t n = 0; n < nodes; n++)
                costs->own[(size_t)costs->own_row[t] * nodes + n] *= stretch[n];
}

/* A task that has not begun and that no node can take now; NONE: there is none. */
static uint32_t rest_homeless(const struct rest *r, const struct costs *costs)
{
    uint32_t found = NONE;
    bool *begun = mem_new_zero(bool, (size_t)r->workflow->ntasks + 1);
    bool files = platform_counts_files(r->platform, r->workflow);
    for (uint32_t i = 0; i < r->nbegun; i++)
        begun[r->begun[i].task] = true;
    for (uint32_t t = 0; t < r->workflow->ntasks && found == NONE; t++) {
        double need = files ? keep_task_bytes(r->workflow, t) : 0;
        bool fits = begun[t];
        for (uint32_t n = 0; n < r->platform->nnodes && !fits; n++)
            fits =
                costs_time(costs, t, n) < INFINITY && need <= r->platform->memory[n] * (1 + 1e-9);
        found = fits ? NONE : t;
    }
    free(begun);
    return found;
}

/* Upward ranks as keys, the largest first. Those of tasks that have begun do not matter, and may be infinite where
 * they fit nowhere any more. */
static double *rest_ranks(const struct costs *costs)
{
    double *times = rank_times(costs), *rank = rank_upward(costs, times);
    for (uint32_t t = 0; t < costs->workflow->ntasks; t++)
        rank[t] = -rank[t];
    free(times);
    return rank;
}

/* Each way fills the same schedule anew, behind the same beginning. O(ways x tasks x nodes) but for
 * what memory holds up. */
size_t rest_plans(const struct rest *r, struct plan *out[REST_WAYS], struct error *err)
{
    const struct workflow *w = r->workflow;
    struct costs *costs = costs_lenient(w, r->platform);
    rest_stretch(costs, r->stretch);
    uint32_t stuck = rest_homeless(r, costs);
    size_t n = 0;
    if (stuck == NONE) {
        double *rank = rest_ranks(costs), *traversal = traversal_keys(w);
        uint32_t *node = mem_new(uint32_t, (size_t)w->ntasks + 1);
        for (size_t i = 0; i < r->plan->placements.n; i++)
            node[r->plan->placements.at[i].task] = r->plan->placements.at[i].node;
        const struct fill ways[REST_WAYS] = {
            {.key = rank, .choice = FILL_EARLIEST, .node = node, .sticky = true},
            {.key = rank, .choice = FILL_EARLIEST, .node = node, .prefer = true},
            {.key = rank, .choice = FILL_RESERVE},
            {.key = traversal, .choice = FILL_EARLIEST},
        };
        struct keep_schedule *k = keep_new(costs);
        for (size_t i = 0; i < REST_WAYS; i++) {
            struct fill f = ways[i];
            uint32_t where;
            f.begun = r->begun;
            f.nbegun = r->nbegun;
            f.now = r->now;
            keep_reset(k);
            if (fill_schedule(k, &f, &where))
                out[n++] = keep_plan(k);
            else if (where != NONE)
                stuck = where;
        }
        keep_free(k);
        free(node);
        free(rank);
        free(traversal);
    }
    if (!n)
        error_set(err, ERROR_INFEASIBLE,
                  "no node has room for task '%s' any more, which needs %.10g bytes%s",
                  stuck == NONE ? "" : workflow_task_name(w, stuck),
                  stuck == NONE                           ? 0
                  : platform_counts_files(r->platform, w) ? keep_task_bytes(w, stuck)
                                                          : w->memory[stuck],
                  platform_counts_files(r->platform, w) ? " with its files" : "");
    costs_free(costs);
    return n;
}
