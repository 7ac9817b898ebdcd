/* Demands of random plans against a search through the plan for each of them: plans that say no
 * transfers, some, all, twice, to where nobody reads, relayed, and objects that go everywhere. */
#include "sim/demand.h"
#include "base/rng.h"
#include "model/builder.h"
#include "tap.h"

enum { TASKS = 40, NODES = 12 };

static struct workflow *demand_workflow(struct rng *r, bool everywhere)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < TASKS; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        uint32_t o = builder_object(b, name, (size_t)snprintf(name, sizeof name, "o%u", t));
        builder_produces(b, t, o, 0);
    }
    builder_consumes(b, 0, builder_object(b, "input", 5), 0);
    for (uint32_t t = 1; t < TASKS; t++) {
        builder_consumes(b, t, everywhere ? 0 : (uint32_t)rng_below(r, t), 0);
        if (rng_below(r, 2))
            builder_edge(b, (uint32_t)rng_below(r, t), t, 0); /* order only */
    }
    return builder_finish(b, NULL);
}

static struct platform *demand_platform(void)
{
    struct platform_builder *b = platform_builder_new("<test>");
    char name[16];
    for (uint32_t i = 0; i < NODES; i++)
        platform_builder_node(b, name, (size_t)snprintf(name, sizeof name, "n%u", i), 0);
    return platform_builder_finish(b, NULL);
}

static uint32_t node_of(const struct plan *plan, const struct workflow *w, uint32_t object)
{
    for (size_t i = 0; i < plan->placements.n; i++)
        if (plan->placements.at[i].task == w->producer[object])
            return plan->placements.at[i].node;
    return NONE;
}

/* `extra`: 0 only what readers need; 1 also to where nobody reads, some of it passed on from there. */
static struct plan *demand_plan(struct rng *r, const struct workflow *w, int copies, int extra)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    for (uint32_t k = 0; k < TASKS; k++) {
        uint32_t node = (uint32_t)rng_below(r, NODES);
        for (uint32_t c = 0; c <= (copies ? rng_below(r, 3) : 0); c++)
            array_push(&plan->placements,
                       (struct placement){w->topo[k], c, (node + c) % NODES, 0, k, k + 1});
    }
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        for (uint32_t e = w->pred_off[x->task]; e < w->pred_off[x->task + 1]; e++) {
            uint32_t object = w->pred_object[e];
            uint32_t from = object == NONE ? NONE : node_of(plan, w, object);
            if (object == NONE || from == x->node || rng_below(r, 4) == 0)
                continue;
            uint32_t way = extra ? (uint32_t)rng_below(r, NODES) : from;
            if (way != from && way != x->node) {
                array_push(&plan->transfers, (struct transfer){object, from, way, 0, 1});
                from = way;
            }
            array_push(&plan->transfers, (struct transfer){object, from, x->node, (double)i, 1e3});
        }
    }
    return plan;
}

static bool runs_on(const struct plan *plan, uint32_t task, uint32_t node)
{
    for (size_t i = 0; i < plan->placements.n; i++)
        if (plan->placements.at[i].task == task && plan->placements.at[i].node == node)
            return true;
    return false;
}

/* The source and priority of (object, node), by reading the plan from its start. */
static uint32_t stated_source(const struct plan *plan, const struct workflow *w, uint32_t object,
                              uint32_t node, double *priority)
{
    *priority = INFINITY;
    for (size_t i = 0; i < plan->transfers.n; i++)
        if (plan->transfers.at[i].object == object && plan->transfers.at[i].to == node) {
            *priority = plan->transfers.at[i].start;
            return plan->transfers.at[i].from;
        }
    return runs_on(plan, w->producer[object], node) ? node : NONE;
}

/* Who waits for the object on the node, in the order of the workflow's edges and the plan's copies. */
static uint32_t list_readers(const struct plan *plan, const struct workflow *w, uint32_t object,
                             uint32_t node, uint32_t *out)
{
    uint32_t n = 0, count;
    const uint32_t *tasks = workflow_consumers(w, object, &count);
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = 0; k < plan->placements.n; k++)
            if (plan->placements.at[k].task == tasks[i] && plan->placements.at[k].node == node)
                out[n++] = (uint32_t)k;
    return n;
}

/* The nodes of an object in the order in which demands are numbered: readers', then transfers'. */
static uint32_t list_nodes(const struct plan *plan, const struct workflow *w, uint32_t object,
                           uint32_t *out)
{
    bool seen[NODES] = {0};
    uint32_t n = 0, count;
    const uint32_t *tasks = workflow_consumers(w, object, &count);
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = 0; k < plan->placements.n; k++) {
            uint32_t node = plan->placements.at[k].node;
            if (plan->placements.at[k].task == tasks[i] && !seen[node])
                seen[out[n++] = node] = true;
        }
    for (size_t i = 0; i < plan->transfers.n; i++) {
        uint32_t node = plan->transfers.at[i].to;
        if (plan->transfers.at[i].object == object && !seen[node])
            seen[out[n++] = node] = true;
    }
    return n;
}

static bool object_agrees(const struct demands *d, const struct plan *plan,
                          const struct workflow *w, uint32_t object)
{
    uint32_t nodes[NODES], readers[3 * TASKS],
        n = w->producer[object] == NONE ? 0 : list_nodes(plan, w, object, nodes);
    if (d->off[object + 1] - d->off[object] != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = d->off[object] + i, end = x + 1 < d->n ? d->at[x + 1].first : d->nwaiters;
        double priority;
        uint32_t source = stated_source(plan, w, object, nodes[i], &priority);
        if (d->at[x].object != object || d->at[x].node != nodes[i] || d->at[x].source != source ||
            (d->priority && d->priority[x] != priority))
            return false;
        uint32_t count = list_readers(plan, w, object, nodes[i], readers);
        if (end - d->at[x].first != count ||
            (count && memcmp(d->waiters + d->at[x].first, readers, count * sizeof *readers) != 0))
            return false;
    }
    return true;
}

static void random_plans(void)
{
    struct rng r;
    rng_seed(&r, 21);
    struct platform *p = demand_platform();
    int wrong = 0, relayed = 0;
    for (int round = 0; round < 400; round++) {
        struct workflow *w = demand_workflow(&r, round % 5 == 0);
        struct plan *plan = demand_plan(&r, w, round / 2 % 2, round / 4 % 2);
        struct demands d;
        struct error err = {0};
        if (!demands_build(&d, w, p, plan, round % 2, &err)) {
            /* a relay whose first leg was stated for another source is on its way from nowhere */
            wrong += !strstr(err.text, "never") || !(round / 4 % 2);
            d = (struct demands){0};
        } else {
            for (uint32_t o = 0; o < w->nobjects; o++)
                wrong += !object_agrees(&d, plan, w, o);
            for (size_t i = 0; i < plan->placements.n; i++) {
                uint32_t t = plan->placements.at[i].task;
                wrong += d.missing[i] != w->pred_off[t + 1] - w->pred_off[t];
            }
            relayed += d.relayed != NULL;
        }
        demands_free(&d);
        plan_free(plan);
        workflow_free(w);
    }
    platform_free(p);
    is_int(wrong, 0, "demands, sources, priorities and waiters as the plan says");
    ok(relayed > 50, "%d plans relay", relayed);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(random_plans)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
