/* See replay_things.h.
 *
 * I1. The row of a (node, sort) has the placements that ask for it by planned start, finish, place in the
 *     graph. A placement takes its things when it is the next of each of its rows, or has been before.
 * I2. So of all that wait, those that are next in all their rows may be kept from starting only by what
 *     others hold, who run and will end: nothing waits for ever that the plan's order lets go on. */
#include "sim/replay_things.h"

#include "base/array.h"
#include "base/bitset.h"
#include "model/capacity.h"
#include "sim/lane.h"

#include <stdlib.h>

struct thing_row {
    ARRAY(uint32_t) placements;
    size_t next;
};

struct node_things {
    struct things *stock;
    struct thing_row row[THING_SORTS];
    ARRAY(uint32_t) waiting; /* few: one a core */
};

struct replay_things {
    const struct workflow *w;
    const struct plan *plan;
    uint32_t nnodes;
    struct node_things *node;
    uint64_t
        *had; /* bit per placement: it has had its turn in its rows, and may have been lost since */
};

static const uint32_t *demand_of(const struct replay_things *t, uint32_t placement)
{
    return workflow_demand(t->w, t->plan->placements.at[placement].task);
}

static void fill_rows(struct replay_things *t)
{
    const struct plan *plan = t->plan;
    ARRAY(struct lane_key) order = {0};
    uint32_t *rank = mem_new(uint32_t, t->w->ntasks);
    for (uint32_t i = 0; i < t->w->ntasks; i++)
        rank[t->w->topo[i]] = i;
    for (uint32_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        if (demand_of(t, i))
            array_push(&order, (struct lane_key){x->start, x->finish, rank[x->task], i});
    }
    if (order.n)
        qsort(order.at, order.n, sizeof *order.at, lane_compare_keys);
    for (size_t k = 0; k < order.n; k++) {
        uint32_t i = order.at[k].placement;
        struct node_things *n = &t->node[plan->placements.at[i].node];
        const uint32_t *demand = demand_of(t, i);
        for (uint32_t r = 0; demand && r < t->w->nresources; r++)
            if (demand[r])
                array_push(&n->row[r].placements, i);
    }
    free(rank);
    array_free(&order);
}

struct replay_things *replay_things_new(const struct workflow *w, const struct platform *p,
                                        const struct plan *plan)
{
    if (!w->asks)
        return NULL;
    struct replay_things *t = mem_new_zero(struct replay_things, 1);
    *t = (struct replay_things){w, plan, p->nnodes, mem_new_zero(struct node_things, p->nnodes),
                                mem_new_zero(uint64_t, bitset_words(plan->placements.n))};
    for (uint32_t n = 0; n < p->nnodes; n++) {
        struct capacity there = {0};
        capacity_set_things(&there, w, platform_resources(p, n));
        t->node[n].stock = things_new(there.thing, there.things, THING_SORTS);
    }
    fill_rows(t);
    return t;
}

void replay_things_free(struct replay_things *t)
{
    for (uint32_t n = 0; t && n < t->nnodes; n++) {
        things_free(t->node[n].stock);
        for (uint32_t r = 0; r < THING_SORTS; r++)
            array_free(&t->node[n].row[r].placements);
        array_free(&t->node[n].waiting);
    }
    if (t) {
        free(t->node);
        free(t->had);
    }
    free(t);
}

/* I1. */
static bool take_in_order(struct replay_things *t, uint32_t i)
{
    const uint32_t *demand = demand_of(t, i);
    bool again = bitset_get(t->had, i);
    if (!demand)
        return true;
    struct node_things *n = &t->node[t->plan->placements.at[i].node];
    for (uint32_t r = 0; !again && r < t->w->nresources; r++)
        if (demand[r] && n->row[r].placements.at[n->row[r].next] != i)
            return false;
    if (!things_take(n->stock, i, demand))
        return false;
    for (uint32_t r = 0; !again && r < t->w->nresources; r++)
        n->row[r].next += demand[r] > 0;
    bitset_set(t->had, i);
    return true;
}

bool replay_things_take(struct replay_things *t, uint32_t placement)
{
    if (!demand_of(t, placement) || take_in_order(t, placement))
        return true;
    array_push(&t->node[t->plan->placements.at[placement].node].waiting, placement);
    return false;
}

void replay_things_give(struct replay_things *t, uint32_t placement)
{
    if (demand_of(t, placement))
        things_give(t->node[t->plan->placements.at[placement].node].stock, placement);
}

uint32_t replay_things_next(struct replay_things *t, uint32_t node)
{
    struct node_things *n = &t->node[node];
    for (size_t k = 0; k < n->waiting.n; k++) {
        uint32_t i = n->waiting.at[k];
        if (!take_in_order(t, i))
            continue;
        n->waiting.at[k] = array_pop(&n->waiting);
        return i;
    }
    return NONE;
}

void replay_things_down(struct replay_things *t, uint32_t node)
{
    t->node[node].waiting.n = 0;
}
