/* Which agent gets which task (share.h). Only where a run begins: stealing balances it later. Pure;
 * the same input gives the same shares. */
#include "cluster/client/share.h"

#include "base/mem.h"

#include <stdlib.h>

/* Every task after all that it needs, and what a task needs right before it: a walk back from the
 * tasks that nobody waits for, by number. Consecutive parts of this order have few edges between
 * them. O(V + E), no recursion. */
static uint32_t *share_order(const struct workflow *w)
{
    uint32_t *order = mem_new(uint32_t, w->ntasks), *stack = mem_new(uint32_t, w->ntasks);
    uint32_t *next = mem_new(uint32_t, w->ntasks); /* the edge to look at next */
    uint8_t *seen = mem_new_zero(uint8_t, w->ntasks);
    uint32_t n = 0, depth = 0;
    for (uint32_t sink = 0; sink < w->ntasks; sink++) {
        if (w->succ_off[sink] != w->succ_off[sink + 1])
            continue;
        stack[depth++] = sink;
        seen[sink] = 1;
        next[sink] = w->pred_off[sink];
        while (depth) {
            uint32_t task = stack[depth - 1];
            if (next[task] == w->pred_off[task + 1]) {
                order[n++] = task;
                depth--;
                continue;
            }
            uint32_t parent = w->pred_task[next[task]++];
            if (!seen[parent]) {
                seen[parent] = 1;
                next[parent] = w->pred_off[parent];
                stack[depth++] = parent;
            }
        }
    }
    free(stack);
    free(next);
    free(seen);
    return order;
}

/* What counts of a task: its work when all that must run have one, else 1. */
static bool share_all_have_work(const struct workflow *w, const uint8_t *skip)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!(skip && skip[t]) && !(w->work[t] > 0))
            return false;
    return true;
}

/* Consecutive parts of the order, of equal weight: home[t] is a place in the list. A task belongs to
 * the part in which its middle lies, so that one heavy task does not push all others along.
 * O(V + E). */
static void share_evenly(const struct workflow *w, uint32_t n, const uint8_t *skip, uint32_t *home)
{
    bool by_work = share_all_have_work(w, skip);
    double total = 0, before = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (home[t] != NONE)
            total += by_work ? w->work[t] : 1;
    uint32_t *order = share_order(w);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t task = order[i];
        if (home[task] == NONE)
            continue;
        double weight = by_work ? w->work[task] : 1;
        double part = (before + weight / 2) / total * n; /* a task is where its middle is */
        home[task] = part < n ? (uint32_t)part : n - 1;
        before += weight;
    }
    free(order);
}

/* A task that its agent has no room for goes to the next that has, in turn. O(tasks) while all fit. */
static void share_by_room(const struct workflow *w, const struct share_agents *agents,
                          uint32_t *home)
{
    uint32_t turn = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        struct capacity asks = capacity_demand(w, t);
        if (home[t] == NONE || capacity_fits(&agents->capacity[home[t]], &asks))
            continue;
        for (uint32_t i = 0; i < agents->n; i++) {
            uint32_t at = (turn + i) % agents->n;
            if (!capacity_fits(&agents->capacity[at], &asks))
                continue;
            home[t] = at;
            turn = at + 1;
            break;
        }
    }
}

void share_tasks(const struct workflow *w, enum share_kind kind, const struct share_agents *agents,
                 const uint8_t *skip, uint32_t *home)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        home[t] = skip && skip[t] ? NONE : 0;
    if (kind == SHARE_BEST && agents->n > 1 && w->ntasks)
        share_evenly(w, agents->n, skip, home);
    if (agents->capacity && agents->n > 1)
        share_by_room(w, agents, home);
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (home[t] != NONE)
            home[t] = agents->nodes[home[t]];
}
