/* How long a task takes on a node. Most tasks run everywhere in work / speed, which costs_time()
 * answers inline from two arrays; what deviates has rows (`own`) or a mark (`restricted`) that is
 * built here once, so that hot loops branch on one bit. */
#include "model/costs.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/plural.h"

#include <math.h>
#include <stdlib.h>

/* A row of nnodes for each task with times of its own: work / speed as a start (or INFINITY,
 * where it states no work), then its own times over it. Names of nodes that this platform lacks
 * are passed over. */
static void fill_own_times(struct costs *c)
{
    const struct workflow *w = c->workflow;
    const struct platform *p = c->platform;
    if (!w->time_off)
        return;
    size_t rows = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        rows += w->time_off[t + 1] > w->time_off[t];
    if (!rows)
        return;
    c->unrelated = true;
    c->own = mem_new(double, rows * p->nnodes);
    c->own_row = mem_new(uint32_t, w->ntasks);
    uint32_t row = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        c->own_row[t] = NONE;
        if (w->time_off[t + 1] == w->time_off[t])
            continue;
        double *times = c->own + (size_t)row * p->nnodes;
        for (uint32_t n = 0; n < p->nnodes; n++)
            times[n] = w->flags[t] & TASK_HAS_WORK ? w->work[t] / p->speed[n] : INFINITY;
        for (uint32_t i = w->time_off[t]; i < w->time_off[t + 1]; i++) {
            uint32_t n = platform_find_node(p, workflow_text(w, w->time[i].node));
            if (n != NONE)
                times[n] = w->time[i].seconds;
        }
        c->own_row[t] = row++;
    }
}

/* Marks tasks that cannot run on every node. Compared are the smallest node's cores and memory and
 * what all have: a task that fits there fits everywhere, and most do. */
static void fill_restricted(struct costs *c)
{
    const struct workflow *w = c->workflow;
    const struct platform *p = c->platform;
    uint32_t fewest = UINT32_MAX;
    double least = INFINITY;
    bool some_down = false;
    uint64_t common = UINT64_MAX;
    c->has = w->needs ? mem_new(uint64_t, p->nnodes) : NULL;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (c->has)
            common &= c->has[n] = workflow_attribute_mask(w, platform_has(p, n));
        if (p->cores[n] < fewest)
            fewest = p->cores[n];
        if (p->memory[n] < least)
            least = p->memory[n];
        some_down |= !p->up[n];
    }
    if (w->asks) {
        c->node = mem_new_zero(struct capacity, p->nnodes);
        for (uint32_t n = 0; n < p->nnodes; n++)
            capacity_set_things(&c->node[n], w, platform_resources(p, n));
    }
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool own = c->own_row && c->own_row[t] != NONE && !(w->flags[t] & TASK_HAS_WORK);
        if (!(some_down || own || w->cores[t] > fewest || w->memory[t] > least ||
              (c->has && w->needs[t] & ~common) || (c->node && w->asks[t])))
            continue;
        if (!c->restricted)
            c->restricted = mem_new_zero(bool, w->ntasks);
        c->restricted[t] = true;
    }
}

struct costs *costs_lenient(const struct workflow *w, const struct platform *p)
{
    struct costs *c = mem_new_zero(struct costs, 1);
    c->workflow = w;
    c->platform = p;
    c->inverse_speed = mem_new(double, p->nnodes);
    for (uint32_t n = 0; n < p->nnodes; n++)
        c->inverse_speed[n] = 1 / p->speed[n];
    fill_own_times(c);
    fill_restricted(c);
    return c;
}

/* Names what it needs: no node that is large enough has all of it. */
static void costs_refuse_needs(const struct costs *c, uint32_t task, struct error *err)
{
    struct strbuf words = {0};
    workflow_needs_text(c->workflow, task, &words);
    error_set(err, ERROR_INFEASIBLE,
              "task '%s' needs %s; no node that is up and large enough has that (`has: [...]`)",
              workflow_task_name(c->workflow, task), strbuf_text(&words));
    strbuf_free(&words);
}

/* Names what it asks for, and what there is of it on the node that has most. */
static void costs_refuse_things(const struct costs *c, uint32_t task, struct error *err)
{
    const struct workflow *w = c->workflow;
    struct strbuf asks = {0}, most = {0};
    const uint32_t *demand = workflow_demand(w, task);
    workflow_resources_text(w, task, &asks);
    for (uint32_t i = 0; i < w->nresources; i++) {
        uint32_t amount = 0;
        for (uint32_t n = 0; n < c->platform->nnodes; n++)
            if (c->platform->up[n] && c->node[n].thing[i] > amount)
                amount = c->node[n].thing[i];
        if (!demand[i])
            continue;
        strbuf_printf(&most, "%s%s=", most.n ? "," : "", workflow_text(w, w->resource[i]));
        thing_amount_text(amount, &most);
    }
    error_set(
        err, ERROR_INFEASIBLE,
        "task '%s' asks for %s; no node that is up and large enough has that, the most on one "
        "node is %s: say what nodes have (`resources: { gpu: [0, 1], licence: 4 }` of a node, "
        "of this machine --resources), or lower its `resources`",
        workflow_task_name(w, task), strbuf_text(&asks), strbuf_text(&most));
    strbuf_free(&asks);
    strbuf_free(&most);
}

/* The check that every task can run somewhere; says the first reason that holds for it: nothing
 * is up, cores, memory, its own times. */
struct costs *costs_new(const struct workflow *w, const struct platform *p, struct error *err)
{
    struct costs *c = costs_lenient(w, p);
    for (uint32_t t = 0; c->restricted && t < w->ntasks; t++) {
        if (!c->restricted[t] || isfinite(costs_least(c, t, NULL)))
            continue;
        double most_memory = 0;
        uint32_t most_cores = 0;
        for (uint32_t n = 0; n < p->nnodes; n++) {
            if (p->up[n] && p->memory[n] > most_memory)
                most_memory = p->memory[n];
            if (p->up[n] && p->cores[n] > most_cores)
                most_cores = p->cores[n];
        }
        const char *name = workflow_task_name(w, t);
        if (!most_cores)
            error_set(err, ERROR_INFEASIBLE, "no node of the platform is up");
        else if (w->cores[t] > most_cores)
            error_set(err, ERROR_INFEASIBLE, "task '%s' needs %u core%s; the largest node has %u",
                      name, w->cores[t], plural(w->cores[t]), most_cores);
        else if (w->memory[t] > most_memory)
            error_set(err, ERROR_INFEASIBLE,
                      "task '%s' needs %.4g bytes of memory; the largest node has %.4g", name,
                      w->memory[t], most_memory);
        else if (c->has && w->needs[t])
            costs_refuse_needs(c, t, err);
        else if (workflow_demand(w, t))
            costs_refuse_things(c, t, err);
        else
            error_set(
                err, ERROR_INFEASIBLE,
                "task '%s' can run on no node: its times name none that is up and large enough",
                name);
        costs_free(c);
        return NULL;
    }
    return c;
}

void costs_free(struct costs *c)
{
    if (!c)
        return;
    free(c->inverse_speed);
    free(c->own);
    free(c->own_row);
    free(c->restricted);
    free(c->has);
    free(c->node);
    free(c);
}

static bool costs_has_things(const struct costs *c, uint32_t task, uint32_t node)
{
    const uint32_t *demand = workflow_demand(c->workflow, task);
    for (uint32_t i = 0; demand && i < c->workflow->nresources; i++)
        if (!thing_fits(c->node[node].thing[i], c->node[node].things >> i & 1, demand[i]))
            return false;
    return true;
}

/* The slow way: every reason why the task might not run here. */
double costs_restricted_time(const struct costs *c, uint32_t task, uint32_t node)
{
    const struct workflow *w = c->workflow;
    const struct platform *p = c->platform;
    if (!p->up[node] || w->cores[task] > p->cores[node] || w->memory[task] > p->memory[node] ||
        (c->has && w->needs[task] & ~c->has[node]) || !costs_has_things(c, task, node))
        return INFINITY;
    if (c->own_row && c->own_row[task] != NONE)
        return c->own[(size_t)c->own_row[task] * p->nnodes + node];
    return w->work[task] * c->inverse_speed[node];
}

/* Nodes that cannot run it do not count; INFINITY when none can. */
double costs_mean(const struct costs *c, uint32_t task)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t n = 0; n < c->platform->nnodes; n++) {
        double time = costs_time(c, task, n);
        if (isfinite(time)) {
            sum += time;
            count++;
        }
    }
    return count ? sum / count : INFINITY;
}

/* *node is set only when some node can run it. */
double costs_least(const struct costs *c, uint32_t task, uint32_t *node)
{
    double least = INFINITY;
    for (uint32_t n = 0; n < c->platform->nnodes; n++) {
        double time = costs_time(c, task, n);
        if (time < least) {
            least = time;
            if (node)
                *node = n;
        }
    }
    return least;
}
