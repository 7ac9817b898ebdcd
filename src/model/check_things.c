/* Static plans: the things that tasks hold (things.h). Ids are no part of a plan: they are handed out
 * here as a run hands them out, in the order in which tasks start, of those that start together the
 * larger demands first. Of whole things that is exact: any that are free will do. Of parts the plan has to
 * work with this rule, since it is the one that will be used.
 *
 * O(n log n) for n placements that hold things, and the holders of a node at each start. */
#include "model/capacity.h"
#include "model/check_rules.h"

/* A placement that begins or ends to hold. */
struct thing_event {
    uint32_t node, task;
    size_t placement;
    double time;
    uint64_t amount; /* 0: it ends */
};

static int compare_events(const void *a, const void *b)
{
    const struct thing_event *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (!x->amount != !y->amount) /* what ends makes room before what starts */
        return x->amount ? 1 : -1;
    if (x->amount != y->amount)
        return x->amount > y->amount ? -1 : 1;
    return x->placement < y->placement ? -1 : x->placement > y->placement;
}

/* Names the first sort of thing that is short, and how much of it is in use. */
static void say_short(struct check *c, const struct thing_event *e, const struct things *t)
{
    const uint32_t *demand = workflow_demand(c->w, e->task);
    for (uint32_t i = 0; demand && i < c->w->nresources; i++) {
        uint32_t one[THING_SORTS] = {0};
        one[i] = demand[i];
        if (!demand[i] || things_can_take(t, one))
            continue;
        uint64_t used = 0;
        for (size_t k = 0; k < t->holds.n; k++)
            used += t->holds.at[k].thing == i ? t->holds.at[k].amount : 0;
        check_say(c, VIOLATION_RESOURCES, e->task,
                  "when '%s' starts at %.10g, it asks for %g %s of '%s', where tasks hold %g of %g",
                  workflow_task_name(c->w, e->task), e->time, (double)demand[i] / THING_ONE,
                  workflow_text(c->w, c->w->resource[i]), platform_node_name(c->p, e->node),
                  (double)used / THING_ONE, (double)t->stock[i].amount / THING_ONE);
        return;
    }
}

static struct things *things_of_node(const struct check *c, uint32_t node)
{
    struct capacity there = {0};
    capacity_set_things(&there, c->w, platform_resources(c->p, node));
    return things_new(there.thing, there.things, THING_SORTS);
}

void check_things(struct check *c)
{
    ARRAY(struct thing_event) events = {0};
    for (size_t i = 0; c->w->asks && i < c->plan->placements.n; i++) {
        const struct placement *x = &c->plan->placements.at[i];
        const uint32_t *demand = workflow_demand(c->w, x->task);
        uint64_t amount = 0;
        for (uint32_t k = 0; demand && k < c->w->nresources; k++)
            amount += demand[k];
        if (!amount || !(x->finish - x->start > 2 * c->tolerance))
            continue;
        /* shrunk by the tolerance, as with memory */
        array_push(&events,
                   (struct thing_event){x->node, x->task, i, x->start + c->tolerance, amount});
        array_push(&events, (struct thing_event){x->node, x->task, i, x->finish - c->tolerance, 0});
    }
    if (events.n)
        qsort(events.at, events.n, sizeof *events.at, compare_events);
    struct things *t = NULL;
    for (size_t i = 0; i < events.n; i++) {
        const struct thing_event *e = &events.at[i];
        if (!i || events.at[i - 1].node != e->node) {
            things_free(t);
            t = things_of_node(c, e->node);
        }
        if (!e->amount)
            things_give(t, e->placement);
        else if (!things_take(t, e->placement, workflow_demand(c->w, e->task)))
            say_short(c, e, t);
    }
    things_free(t);
    array_free(&events);
}

bool check_plan_things(const struct plan *plan, const struct workflow *w, const struct platform *p,
                       struct error *err)
{
    return check_one_rule(plan, w, p, check_things, err);
}
