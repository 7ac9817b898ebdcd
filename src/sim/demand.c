/* Who needs which object where, and from where it comes, worked out once before a replay.
 *
 * A demand is (object, node): the object must be on that node, whoever reads it there. Copies of a
 * task on one node share a demand, so an object travels to a node once.
 *
 *   object o:  at[off[o]] .. at[off[o + 1] - 1]        its demands
 *   demand x:  waiters[at[x].first] .. up to the first of x + 1   placements that wait for it
 *
 * Everything is in arrays by counting sort: O(placements + transfers + edges x copies), no hashing.
 */
#include "sim/demand.h"
#include "base/bitset.h"
#include "base/mem.h"
#include <stdlib.h>

/* The placements of every task as a CSR (`copy_off`, `copy`), in the order of the plan. A task that
 * is nowhere, or twice on one node, is an error of the plan. */
static bool index_copies(struct demands *d, const struct workflow *w, const struct platform *p,
                         const struct plan *plan, struct error *err)
{
    d->copy_off = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    for (size_t i = 0; i < plan->placements.n; i++)
        d->copy_off[plan->placements.at[i].task + 1]++;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!d->copy_off[t + 1])
            return error_set(err, ERROR_INPUT,
                             "the plan does not belong to this workflow: it places task '%s' "
                             "nowhere",
                             workflow_task_name(w, t));
    for (uint32_t t = 0; t < w->ntasks; t++)
        d->copy_off[t + 1] += d->copy_off[t];
    d->copy = mem_new(uint32_t, plan->placements.n);
    for (size_t i = 0; i < plan->placements.n; i++)
        d->copy[d->copy_off[plan->placements.at[i].task]++] = (uint32_t)i;
    /* filling moved every offset to the next one's place: move them back */
    for (uint32_t t = w->ntasks; t > 0; t--)
        d->copy_off[t] = d->copy_off[t - 1];
    d->copy_off[0] = 0;

    if (plan->placements.n == w->ntasks)
        return true;
    /* only plans with duplicates can have two copies on one node */
    uint32_t *seen = mem_new(uint32_t, p->nnodes);
    for (uint32_t i = 0; i < p->nnodes; i++)
        seen[i] = NONE;
    bool good = true;
    for (uint32_t t = 0; t < w->ntasks && good; t++)
        for (uint32_t c = d->copy_off[t]; c < d->copy_off[t + 1] && good; c++) {
            uint32_t node = plan->placements.at[d->copy[c]].node;
            if (seen[node] == t)
                good = error_set(err, ERROR_INPUT, "task '%s' has two copies on node '%s'",
                                 workflow_task_name(w, t), platform_node_name(p, node));
            seen[node] = t;
        }
    free(seen);
    return good;
}

uint32_t demands_copy_on(const struct demands *d, const struct plan *plan, uint32_t task,
                         uint32_t node)
{
    for (uint32_t c = d->copy_off[task]; c < d->copy_off[task + 1]; c++)
        if (plan->placements.at[d->copy[c]].node == node)
            return d->copy[c];
    return NONE;
}

/* The plan's transfers grouped by object, copied: reading them where they are would miss the cache
 * once each. */
struct route {
    uint32_t from, to;
};
struct by_object {
    uint32_t *off;
    struct route *route;
    double *start; /* NULL unless wanted */
};

/* Says what is wrong with a transfer that failed the test below; always false. Apart, because it
 * runs once and the test runs for millions. */
static bool bad_transfer(const struct transfer *t, const struct workflow *w,
                         const struct platform *p, struct error *err)
{
    if (t->object >= w->nobjects)
        return error_set(
            err, ERROR_INPUT,
            "the plan does not belong to this workflow: it moves object number %u of %u", t->object,
            w->nobjects);
    char label[256];
    const char *object = workflow_object_label(w, t->object, label, sizeof label);
    if (t->from >= p->nnodes || t->to >= p->nnodes)
        return error_set(err, ERROR_INPUT,
                         "the plan does not belong to this platform: object '%s' moves from node "
                         "number %u to %u of %u",
                         object, t->from, t->to, p->nnodes);
    if (t->from == t->to)
        return error_set(err, ERROR_INPUT,
                         "the transfer of object '%s' starts and ends on node '%s'", object,
                         platform_node_name(p, t->to));
    return error_set(
        err, ERROR_INPUT,
        "the transfer of object '%s' to node '%s' is planned from %g to %g: not a span "
        "of time",
        object, platform_node_name(p, t->to), t->start, t->finish);
}

/* Group the plan's transfers by object (counting sort, stable). Plans that state no transfers leave
 * `off` NULL: then every demand is served by whichever copy ends first. */
static bool index_transfers(struct by_object *b, const struct workflow *w, const struct platform *p,
                            const struct plan *plan, bool with_start, struct error *err)
{
    *b = (struct by_object){0};
    if (!plan->transfers.n)
        return true;
    if (plan->transfers.n > UINT32_MAX)
        return error_set(err, ERROR_INPUT, "the plan has more than 2^32 transfers");
    for (size_t i = 0; i < plan->transfers.n; i++) {
        const struct transfer *t = &plan->transfers.at[i];
        bool good = t->object < w->nobjects && t->from < p->nnodes && t->to < p->nnodes &&
                    t->from != t->to && t->start >= 0 && t->finish >= t->start &&
                    t->finish < INFINITY;
        if (!good)
            return bad_transfer(t, w, p, err);
    }
    b->off = mem_new_zero(uint32_t, (size_t)w->nobjects + 1);
    b->route = mem_new(struct route, plan->transfers.n);
    if (with_start)
        b->start = mem_new(double, plan->transfers.n);
    for (size_t i = 0; i < plan->transfers.n; i++)
        b->off[plan->transfers.at[i].object + 1]++;
    for (uint32_t o = 0; o < w->nobjects; o++)
        b->off[o + 1] += b->off[o];
    for (size_t i = 0; i < plan->transfers.n; i++) {
        const struct transfer *t = &plan->transfers.at[i];
        uint32_t place = b->off[t->object]++;
        b->route[place] = (struct route){t->from, t->to};
        if (with_start)
            b->start[place] = t->start;
    }
    for (uint32_t o = w->nobjects; o > 0; o--)
        b->off[o] = b->off[o - 1];
    b->off[0] = 0;
    return true;
}

struct demand_build {
    struct demands *d;
    const struct workflow *w;
    const struct platform *p;
    const struct plan *plan;
    struct by_object transfers;
    uint32_t *copy_node; /* parallel to copy[]: its node, near its neighbours by task */
    uint32_t *of_node; /* the demand of the object at hand on this node, if >= the object's first */
    size_t cap;
};

/* The demand of the object at hand on this node, made on first use. `of_node` is never cleared
 * between objects: an entry below the object's first demand is a leftover. */
static uint32_t add_demand(struct demand_build *b, uint32_t object, uint32_t node)
{
    struct demands *d = b->d;
    uint32_t first = d->off[object];
    if (b->of_node[node] != NONE && b->of_node[node] >= first)
        return b->of_node[node];
    if (d->n == b->cap) {
        b->cap += b->cap / 2 + 64;
        d->at = mem_resize(d->at, b->cap);
        if (d->priority)
            d->priority = mem_resize(d->priority, b->cap);
    }
    d->at[d->n] = (struct demand){object, node, NONE, 0};
    if (d->priority)
        d->priority[d->n] = INFINITY;
    b->of_node[node] = d->n;
    return d->n++;
}

static bool has_copy_on(const struct demand_build *b, uint32_t task, uint32_t node)
{
    for (uint32_t c = b->d->copy_off[task]; c < b->d->copy_off[task + 1]; c++)
        if (b->copy_node[c] == node)
            return true;
    return false;
}

/* Where each demand of the object comes from: as a transfer of the plan says, else its own node
 * when the producer runs there too. NONE stays: any copy of the producer may serve it. A transfer
 * from a node that only receives the object is a relay; objects with one are marked in `relayed`.
 */
static bool set_sources(struct demand_build *b, uint32_t object, struct error *err)
{
    struct demands *d = b->d;
    const struct workflow *w = b->w;
    uint32_t producer = w->producer[object], first = d->off[object];
    if (b->transfers.off)
        for (uint32_t i = b->transfers.off[object]; i < b->transfers.off[object + 1]; i++) {
            const struct route *r = &b->transfers.route[i];
            uint32_t x = add_demand(b, object, r->to);
            if (d->at[x].source != NONE)
                continue; /* stated twice: the first counts */
            d->at[x].source = r->from;
            if (d->priority)
                d->priority[x] = b->transfers.start[i];
        }
    for (uint32_t x = first; x < d->n; x++) {
        struct demand *demand = &d->at[x];
        /* the plan's own transfer wins even where a copy of the producer would have it here */
        bool here = has_copy_on(b, producer, demand->node);
        if (demand->source == NONE) {
            if (here)
                demand->source = demand->node;
            continue;
        }
        if (has_copy_on(b, producer, demand->source))
            continue;
        uint32_t relay = b->of_node[demand->source];
        if (relay == NONE || relay < first) {
            char label[256];
            return error_set(
                err, ERROR_INPUT,
                "the plan moves object '%s' from node '%s' to '%s', but it is never "
                "on '%s': no copy of task '%s' runs there and no transfer brings it",
                workflow_object_label(w, object, label, sizeof label),
                platform_node_name(b->p, demand->source), platform_node_name(b->p, demand->node),
                platform_node_name(b->p, demand->source), workflow_task_name(w, producer));
        }
        if (!d->relayed)
            d->relayed = mem_new_zero(uint64_t, bitset_words(w->nobjects));
        bitset_set(d->relayed, object);
    }
    return true;
}

/* The demands of one object and who waits for them. */
static bool add_object(struct demand_build *b, uint32_t object, struct error *err)
{
    struct demands *d = b->d;
    const struct workflow *w = b->w;
    uint32_t count = 0;
    const uint32_t *consumers = workflow_consumers(w, object, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t c = d->copy_off[consumers[i]]; c < d->copy_off[consumers[i] + 1]; c++) {
            uint32_t placement = d->copy[c];
            uint32_t x = add_demand(b, object, b->copy_node[c]);
            d->at[x].first++;
            d->missing[placement]++;
        }
    if (!set_sources(b, object, err))
        return false;
    /* counts to places, filled from the back so that `first` ends where it belongs */
    uint32_t total = d->nwaiters;
    for (uint32_t x = d->off[object]; x < d->n; x++)
        d->at[x].first = total += d->at[x].first;
    for (uint32_t i = count; i-- > 0;)
        for (uint32_t c = d->copy_off[consumers[i] + 1]; c-- > d->copy_off[consumers[i]];) {
            uint32_t x = b->of_node[b->copy_node[c]];
            d->waiters[--d->at[x].first] = d->copy[c];
        }
    d->nwaiters = total;
    return true;
}

bool demands_build(struct demands *d, const struct workflow *w, const struct platform *p,
                   const struct plan *plan, bool with_priority, struct error *err)
{
    *d = (struct demands){0};
    struct demand_build b = {.d = d, .w = w, .p = p, .plan = plan};
    bool good = plan->placements.n < UINT32_MAX / 2 ||
                error_set(err, ERROR_INPUT, "the plan has more than 2^31 placements");
    good = good && index_copies(d, w, p, plan, err) &&
           index_transfers(&b.transfers, w, p, plan, with_priority, err);
    if (!good) {
        demands_free(d);
        return false;
    }
    d->missing = mem_new_zero(uint32_t, plan->placements.n);
    /* How many waiters there will be is known before any is written: one allocation, and the limit
     * of 32-bit offsets is checked in time. Ordering edges have no demand; they only count as
     * missing. */
    uint64_t waiters = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint64_t copies = d->copy_off[t + 1] - d->copy_off[t];
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (w->pred_object[e] != NONE)
                waiters += copies;
            else
                for (uint32_t c = d->copy_off[t]; c < d->copy_off[t + 1]; c++)
                    d->missing[d->copy[c]]++;
    }
    if (waiters >= UINT32_MAX)
        good = error_set(err, ERROR_INPUT, "the plan has more than 2^32 data dependences");
    else {
        d->waiters = mem_new(uint32_t, (size_t)waiters);
        d->off = mem_new(uint32_t, (size_t)w->nobjects + 1);
        b.copy_node = mem_new(uint32_t, plan->placements.n);
        for (size_t i = 0; i < plan->placements.n; i++)
            b.copy_node[i] = plan->placements.at[d->copy[i]].node;
        b.of_node = mem_new(uint32_t, p->nnodes);
        for (uint32_t i = 0; i < p->nnodes; i++)
            b.of_node[i] = NONE;
        b.cap = (size_t)w->nobjects + 64;
        d->at = mem_new(struct demand, b.cap);
        if (with_priority)
            d->priority = mem_new(double, b.cap);
        for (uint32_t o = 0; o < w->nobjects && good; o++) {
            d->off[o] = d->n;
            if (w->producer[o] != NONE)
                good = add_object(&b, o, err);
        }
        d->off[w->nobjects] = d->n;
        d->at = mem_resize(d->at, d->n);
        d->state = mem_new_zero(uint8_t, d->n);
    }
    free(b.of_node);
    free(b.transfers.off);
    free(b.transfers.route);
    free(b.transfers.start);
    free(b.copy_node);
    if (!good)
        demands_free(d);
    return good;
}

void demands_free(struct demands *d)
{
    free(d->off);
    free(d->at);
    free(d->state);
    free(d->priority);
    free(d->waiters);
    free(d->relayed);
    free(d->copy_off);
    free(d->copy);
    free(d->missing);
    *d = (struct demands){0};
}
