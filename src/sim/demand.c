/* Who needs which object where, and from where it comes, worked out once before a replay.
 *
 * A demand is (object, node): the object must be on that node, whoever reads it there. Copies of a
 * task on one node share a demand, so an object travels to a node once.
 *
 *   object o:  at[off[o]] .. at[off[o + 1] - 1]        its demands
 *   demand x:  waiters[at[x].first] .. up to the first of x + 1   placements that wait for it
 *
 * Everything is in arrays by counting sort: O(placements + transfers + edges x copies), no hashing.
 * Ten million tasks have twenty million transfers, and each byte that is touched here is a page that
 * the system clears first: transfers that only say from where a reader's node gets an object are
 * settled where they stand (settle_transfers()), and only plans that say more have them grouped. */
#include "sim/demand.h"
#include "base/bitset.h"
#include "base/mem.h"
#include "base/prefetch.h"
#include <stdlib.h>

/* The placements of every task as a CSR (`copy_off`, `copy`), in the order of the plan. A task that
 * is nowhere, or twice on one node, is an error of the plan. */
static bool index_copies(struct demands *d, const struct workflow *w, const struct platform *p,
                         const struct plan *plan, struct error *err)
{
    d->copy_off = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    for (size_t i = 0; i < plan->placements.n; i++)
        d->copy_off[plan->placements.at[i].task + 1]++;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (!d->copy_off[t + 1])
            return error_set(err, ERROR_INPUT,
                             "the plan does not belong to this workflow: it places task '%s' "
                             "nowhere",
                             workflow_task_name(w, t));
        d->copy_off[t + 1] += d->copy_off[t];
    }
    d->copy = mem_new(uint32_t, plan->placements.n);
    d->copy_node = mem_new(uint32_t, plan->placements.n);
    for (size_t i = 0; i < plan->placements.n; i++) {
        uint32_t place = d->copy_off[plan->placements.at[i].task]++;
        d->copy[place] = (uint32_t)i;
        d->copy_node[place] = plan->placements.at[i].node;
    }
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
            uint32_t node = d->copy_node[c];
            if (seen[node] == t)
                good = error_set(err, ERROR_INPUT, "task '%s' has two copies on node '%s'",
                                 workflow_task_name(w, t), platform_node_name(p, node));
            seen[node] = t;
        }
    free(seen);
    return good;
}

uint32_t demands_copy_on(const struct demands *d, uint32_t task, uint32_t node)
{
    for (uint32_t c = d->copy_off[task]; c < d->copy_off[task + 1]; c++)
        if (d->copy_node[c] == node)
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

static bool is_transfer(const struct transfer *t, const struct workflow *w,
                        const struct platform *p)
{
    return t->object < w->nobjects && t->from < p->nnodes && t->to < p->nnodes &&
           t->from != t->to && t->start >= 0 && t->finish >= t->start && t->finish < INFINITY;
}

/* Group the plan's transfers by object (counting sort, stable). */
static bool index_transfers(struct by_object *b, const struct workflow *w, const struct platform *p,
                            const struct plan *plan, bool with_start, struct error *err)
{
    for (size_t i = 0; i < plan->transfers.n; i++)
        if (!is_transfer(&plan->transfers.at[i], w, p))
            return bad_transfer(&plan->transfers.at[i], w, p, err);
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
    uint32_t *of_node; /* the demand of the object at hand on this node, if >= the object's first */
    size_t cap;
};

/* The demand of the object at hand on this node, NONE: there is none. `of_node` is never cleared between
 * objects: an entry below the object's first demand is a leftover. */
static uint32_t find_demand(const struct demand_build *b, uint32_t object, uint32_t node)
{
    uint32_t x = b->of_node[node];
    return x >= b->d->off[object] ? x : NONE;
}

/* The same, made on first use. Inline: it runs for every read of an object. */
static inline uint32_t add_demand(struct demand_build *b, uint32_t object, uint32_t node)
{
    struct demands *d = b->d;
    uint32_t x = find_demand(b, object, node);
    if (x != NONE)
        return x;
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
    return demands_copy_on(b->d, task, node) != NONE;
}

/* Where the producer runs, its object is made, unless a transfer of the plan brings it: that wins even there. */
static void set_made_here(struct demand_build *b, uint32_t object)
{
    struct demands *d = b->d;
    uint32_t producer = b->w->producer[object];
    for (uint32_t c = d->copy_off[producer]; c < d->copy_off[producer + 1]; c++) {
        uint32_t x = find_demand(b, object, d->copy_node[c]);
        if (x != NONE && d->at[x].source == NONE)
            d->at[x].source = d->copy_node[c];
    }
}

/* Where each demand of the object comes from, as the grouped transfers of the plan say. NONE stays: any copy of
 * the producer may serve it. A transfer from a node that only receives the object is a relay; objects with one are
 * marked in `relayed`. */
static bool set_sources(struct demand_build *b, uint32_t object, struct error *err)
{
    struct demands *d = b->d;
    const struct workflow *w = b->w;
    uint32_t producer = w->producer[object];
    for (uint32_t i = b->transfers.off[object]; i < b->transfers.off[object + 1]; i++) {
        const struct route *r = &b->transfers.route[i];
        uint32_t x = add_demand(b, object, r->to);
        if (d->at[x].source != NONE)
            continue; /* stated twice: the first counts */
        d->at[x].source = r->from;
        if (d->priority)
            d->priority[x] = b->transfers.start[i];
    }
    for (uint32_t x = d->off[object]; x < d->n; x++) {
        const struct demand *demand = &d->at[x];
        if (demand->source == NONE || has_copy_on(b, producer, demand->source))
            continue;
        if (find_demand(b, object, demand->source) == NONE) {
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
        for (uint32_t c = d->copy_off[consumers[i]]; c < d->copy_off[consumers[i] + 1]; c++)
            d->at[add_demand(b, object, d->copy_node[c])].first++;
    if (b->transfers.off && !set_sources(b, object, err))
        return false;
    set_made_here(b, object);
    /* counts to places, filled from the back so that `first` ends where it belongs */
    uint32_t total = d->nwaiters;
    for (uint32_t x = d->off[object]; x < d->n; x++)
        d->at[x].first = total += d->at[x].first;
    for (uint32_t i = count; i-- > 0;)
        for (uint32_t c = d->copy_off[consumers[i] + 1]; c-- > d->copy_off[consumers[i]];) {
            uint32_t x = b->of_node[d->copy_node[c]];
            d->waiters[--d->at[x].first] = d->copy[c];
        }
    d->nwaiters = total;
    return true;
}

/* The demands of all objects, after the transfers if they are grouped, else as if the plan stated none. */
static bool add_objects(struct demand_build *b, struct error *err)
{
    struct demands *d = b->d;
    d->n = d->nwaiters = 0;
    for (uint32_t i = 0; i < b->p->nnodes; i++)
        b->of_node[i] = NONE;
    for (uint32_t o = 0; o < b->w->nobjects; o++) {
        d->off[o] = d->n;
        if (b->w->producer[o] != NONE && !add_object(b, o, err))
            return false;
    }
    d->off[b->w->nobjects] = d->n;
    return true;
}

/* Transfers stand by time, demands by object: what will be looked at lies near, but in an order that the processor
 * cannot guess. Asked for now, it has come from memory by then; `near` reads what was asked for as `far`. */
static void settle_look_ahead(const struct demand_build *b, size_t i)
{
    enum { NEAR = 32, FAR = 64 };
    if (i + FAR >= b->plan->transfers.n)
        return;
    uint32_t near = b->plan->transfers.at[i + NEAR].object,
             far = b->plan->transfers.at[i + FAR].object;
    if (near >= b->w->nobjects || far >= b->w->nobjects)
        return; /* settle_transfers() will come to it */
    const struct demands *d = b->d;
    prefetch_read(&b->w->producer[far]);
    prefetch_read(&d->off[far]);
    prefetch_write(&d->at[d->off[near]]);
    prefetch_write(&d->at[d->off[near + 1]]);
    if (b->w->producer[near] != NONE)
        prefetch_read(&d->copy_off[b->w->producer[near]]);
}

/* Where each demand comes from, by a look at the transfers in their own order. False, and the demands
 * are then made anew from grouped transfers: one is wrong, the plan relays, or sends an object to where nobody reads
 * it, or an object has so many demands that looking for one costs more than grouping. */
static bool settle_transfers(struct demand_build *b)
{
    struct demands *d = b->d;
    size_t patience = 8 * b->plan->transfers.n + 64;
    for (size_t i = 0; i < b->plan->transfers.n; i++) {
        const struct transfer *t = &b->plan->transfers.at[i];
        if (!is_transfer(t, b->w, b->p))
            return false;
        settle_look_ahead(b, i);
        uint32_t producer = b->w->producer[t->object], x = d->off[t->object],
                 end = d->off[t->object + 1];
        if (producer == NONE)
            continue; /* it is everywhere */
        for (; x < end && d->at[x].node != t->to && patience; x++)
            patience--;
        if (x == end || !patience || !has_copy_on(b, producer, t->from))
            return false;
        if (d->at[x].source != NONE && d->at[x].source != t->to)
            continue; /* stated twice: the first counts */
        d->at[x].source = t->from;
        if (d->priority)
            d->priority[x] = t->start;
    }
    return true;
}

/* What every placement waits for: the inputs that some task makes, and ordering predecessors. How many
 * waiters there will be is known before any is written: one allocation, and the limit of 32-bit offsets
 * is checked in time. */
static uint64_t count_missing(struct demands *d, const struct workflow *w, const struct plan *plan)
{
    uint64_t waiters = 0;
    d->missing = mem_new(uint32_t, plan->placements.n);
    for (size_t i = 0; i < plan->placements.n; i++) {
        uint32_t t = plan->placements.at[i].task;
        d->missing[i] = w->pred_off[t + 1] - w->pred_off[t];
        waiters += d->missing[i];
    }
    return waiters;
}

/* Transfers of most plans only say that a reader gets its object from where it was made: those are
 * settled in place, without an index of transfers. Only a plan with relays or copies needs the
 * second pass. */
bool demands_build(struct demands *d, const struct workflow *w, const struct platform *p,
                   const struct plan *plan, bool with_priority, struct error *err)
{
    *d = (struct demands){0};
    struct demand_build b = {.d = d, .w = w, .p = p, .plan = plan};
    bool good = plan->placements.n < UINT32_MAX / 2 ||
                error_set(err, ERROR_INPUT, "the plan has more than 2^31 placements");
    good = good && index_copies(d, w, p, plan, err);
    if (good && plan->transfers.n > UINT32_MAX)
        good = error_set(err, ERROR_INPUT, "the plan has more than 2^32 transfers");
    uint64_t waiters = good ? count_missing(d, w, plan) : 0;
    if (waiters >= UINT32_MAX)
        good = error_set(err, ERROR_INPUT, "the plan has more than 2^32 data dependences");
    if (good) {
        d->waiters = mem_new(uint32_t, (size_t)waiters);
        d->off = mem_new(uint32_t, (size_t)w->nobjects + 1);
        b.of_node = mem_new(uint32_t, p->nnodes);
        /* no more than there are waiters; mostly two an object are enough, and what is not touched is free */
        b.cap =
            (waiters < 2 * (uint64_t)w->nobjects ? (size_t)waiters : 2 * (size_t)w->nobjects) + 64;
        d->at = mem_new(struct demand, b.cap);
        if (with_priority)
            d->priority = mem_new(double, b.cap);
        good = add_objects(&b, err);
        if (good && !settle_transfers(&b))
            good = index_transfers(&b.transfers, w, p, plan, with_priority, err) &&
                   add_objects(&b, err);
        d->at = mem_resize(d->at, d->n);
        d->state = mem_new_zero(uint8_t, d->n);
    }
    free(b.of_node);
    free(b.transfers.off);
    free(b.transfers.route);
    free(b.transfers.start);
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
    free(d->copy_node);
    free(d->missing);
    *d = (struct demands){0};
}
