/* Everything that a replay needs before its first event: options and plan checked, lanes, demands,
 * durations, the network. O(size of plan and workflow). */
#include "base/bitset.h"
#include "model/costs.h"
#include "sim/replay_state.h"
#include <string.h>

/* Numbers come from a command line: anything that is not a number of the right kind is refused
 * here, so that the loop need not ask. */
static bool replay_check_options(const struct replay_options *o, const struct platform *p,
                                 struct error *err)
{
    if (!isfinite(o->noise) || o->noise < 0)
        return error_set(err, ERROR_INPUT, "noise is %g; it must be a finite number, 0 or more",
                         o->noise);
    if (!isfinite(o->mtbf) || o->mtbf < 0)
        return error_set(err, ERROR_INPUT,
                         "the mean time between failures is %g; it must be positive, or 0 for none",
                         o->mtbf);
    if (isnan(o->repair) || o->repair < 0)
        return error_set(err, ERROR_INPUT, "the repair time is %g; it must be 0 or more",
                         o->repair);
    for (size_t i = 0; i < o->nfaults; i++) {
        const struct fault *f = &o->faults[i];
        if (f->node >= p->nnodes)
            return error_set(err, ERROR_INPUT, "fault %zu is on node number %u of %u", i + 1,
                             f->node, p->nnodes);
        if (!isfinite(f->time) || f->time < 0 || isnan(f->repair) || f->repair < 0)
            return error_set(err, ERROR_INPUT,
                             "fault %zu (node '%s') is at %g s with a repair of %g s: both must be "
                             "0 or more",
                             i + 1, platform_node_name(p, f->node), f->time, f->repair);
    }
    for (size_t i = 0; i < o->nchanges; i++) {
        const struct node_change *c = &o->changes[i];
        if (c->node >= p->nnodes)
            return error_set(err, ERROR_INPUT, "change %zu is of node number %u of %u", i + 1,
                             c->node, p->nnodes);
        if (!isfinite(c->time) || c->time < 0 || (!isnan(c->speed) && !(c->speed > 0)) ||
            isinf(c->speed) || (!isnan(c->memory) && !(c->memory >= 0)))
            return error_set(err, ERROR_INPUT,
                             "change %zu (node '%s') is at %g s: its time must be 0 or more, its "
                             "speed positive, its memory 0 or more",
                             i + 1, platform_node_name(p, c->node), c->time);
    }
    return true;
}

/* The disk is the node's own and the part runs one task after the other, so nobody else waits for it:
 * files that a part writes to its disk hold up the task before which they go, and the one that reads them
 * again. */
static void add_disk_time(struct replay *r)
{
    const struct workflow *w = r->workflow;
    const struct plan *plan = r->plan;
    if (!plan->evictions.n)
        return;
    uint32_t *at = mem_new_zero(uint32_t, w->ntasks);
    for (size_t i = 0; i < plan->placements.n; i++)
        at[plan->placements.at[i].task] = (uint32_t)i;
    for (size_t i = 0; i < plan->evictions.n; i++) {
        const struct plan_eviction *x = &plan->evictions.at[i];
        double bytes = plan_eviction_bytes(w, x);
        double disk = r->platform->disk[plan->placements.at[at[x->to]].node];
        r->duration[at[x->before]] += disk > 0 ? bytes / disk : 0;
        r->duration[at[x->to]] += disk > 0 ? bytes / disk : 0;
    }
    free(at);
}

/* The nodes with the most memory that they ever have: where it grows, what fits later may be planned there. Whether a task
 * fits when it starts is counted then. */
static struct platform replay_roomiest(const struct replay *r)
{
    struct platform roomy = *r->platform;
    roomy.memory = mem_new(double, (size_t)roomy.nnodes + 1);
    memcpy(roomy.memory, r->platform->memory, roomy.nnodes * sizeof *roomy.memory);
    for (size_t i = 0; i < r->options->nchanges; i++) {
        const struct node_change *c = &r->options->changes[i];
        roomy.memory[c->node] = fmax(roomy.memory[c->node], c->memory); /* NAN is no number */
    }
    return roomy;
}

/* Seconds of every placement: as planned, or by the costs of its node; then with noise. */
static bool set_durations(struct replay *r, struct error *err)
{
    const struct workflow *w = r->workflow;
    const struct platform *p = r->platform;
    size_t n = r->plan->placements.n;
    r->duration = mem_new(double, n);
    if (r->options->planned_times) {
        for (size_t i = 0; i < n; i++)
            r->duration[i] = r->plan->placements.at[i].finish - r->plan->placements.at[i].start;
    } else {
        struct platform roomy = replay_roomiest(r); /* a view, but for its memory */
        struct costs *costs = costs_new(w, &roomy, err);
        bool good = costs != NULL;
        for (size_t i = 0; i < n && good; i++) {
            const struct placement *x = &r->plan->placements.at[i];
            r->duration[i] = costs_time(costs, x->task, x->node);
            if (!isfinite(r->duration[i]))
                good = error_set(err, ERROR_INPUT,
                                 "the plan puts task '%s' on node '%s', which cannot run it%s",
                                 workflow_task_name(w, x->task), platform_node_name(p, x->node),
                                 p->up[x->node] ? "" : ": the node is down");
        }
        costs_free(costs);
        free(roomy.memory);
        if (!good)
            return false;
    }
    add_disk_time(r);
    if (r->options->noise > 0) {
        /* lognormal with mean 1; drawn in the order of the plan, so that the order of events does
         * not matter */
        struct rng noise;
        rng_seed_stream(&noise, r->options->seed, 1);
        double variance = log1p(r->options->noise * r->options->noise);
        double deviation = sqrt(variance);
        for (size_t i = 0; i < n; i++)
            r->duration[i] *= exp(deviation * rng_normal(&noise) - variance / 2);
    }
    return true;
}

/* A placement is first in line when every one of its cores says so. */
static void count_core_waits(struct replay *r)
{
    const struct plan *plan = r->plan;
    r->core_missing = mem_new(uint32_t, plan->placements.n);
    for (size_t i = 0; i < plan->placements.n; i++)
        r->core_missing[i] = r->workflow->cores[plan->placements.at[i].task];
}

/* A wait counts as one more input of every copy; those for a time come by an event. */
static void count_waits(struct replay *r)
{
    const struct plan *plan = r->plan;
    struct demands *d = &r->demands;
    uint32_t n = r->workflow->ntasks;
    if (!plan->waits.n)
        return;
    r->wait_off = mem_new_zero(uint32_t, n + 2u);
    r->waiter = mem_new(uint32_t, plan->waits.n);
    for (size_t i = 0; i < plan->waits.n; i++) {
        const struct plan_wait *x = &plan->waits.at[i];
        for (uint32_t c = d->copy_off[x->task]; c < d->copy_off[x->task + 1]; c++)
            d->missing[d->copy[c]]++;
        if (x->after != NONE)
            r->wait_off[x->after + 2]++;
        else
            engine_at(&r->engine, x->until, EVENT_WAITED, x->task);
        r->timed += x->after == NONE;
    }
    for (uint32_t t = 0; t < n; t++)
        r->wait_off[t + 2] += r->wait_off[t + 1];
    for (size_t i = 0; i < plan->waits.n; i++)
        if (plan->waits.at[i].after != NONE)
            r->waiter[r->wait_off[plan->waits.at[i].after + 1]++] = plan->waits.at[i].task;
}

/* What changes of nodes need: their speeds and memories, and by demand until when it is held. */
static void replay_open_changes(struct replay *r)
{
    const struct replay_options *o = r->options;
    const struct platform *p = r->platform;
    const struct demands *d = &r->demands;
    if (o->nchanges) {
        r->speed = mem_new(double, p->nnodes);
        r->limit = mem_new(double, p->nnodes);
        memcpy(r->speed, p->speed, p->nnodes * sizeof *r->speed);
        memcpy(r->limit, p->memory, p->nnodes * sizeof *r->limit);
        r->turns = mem_new_zero(uint32_t, r->plan->placements.n);
    }
    if (o->nholds)
        r->hold = mem_new_zero(double, (size_t)d->n + 1);
    for (size_t i = 0; i < o->nholds; i++) {
        const struct replay_hold *h = &o->holds[i];
        for (uint32_t x = d->off[h->object]; x < d->off[h->object + 1]; x++)
            if (d->at[x].node == h->node)
                r->hold[x] = h->time;
    }
}

static void allocate_result(struct replay *r)
{
    struct replay_result *out = r->result;
    size_t n = r->plan->placements.n, nodes = r->platform->nnodes;
    out->nplacements = (uint32_t)n;
    out->nnodes = (uint32_t)nodes;
    out->start = mem_new_zero(double, n);
    out->finish = mem_new(double, n);
    for (size_t i = 0; i < n; i++)
        out->finish[i] = NAN;
    out->data_ready = mem_new_zero(double, n);
    out->node_busy = mem_new_zero(double, nodes);
    out->node_peak = mem_new_zero(double, nodes);
    out->node_peak_time = mem_new_zero(double, nodes);
    out->node_exceeded_by = mem_new(uint32_t, nodes);
    out->node_limit = mem_new(double, nodes);
    out->exceeded_last = -INFINITY;
    for (size_t i = 0; i < nodes; i++) {
        out->node_exceeded_by[i] = NONE;
        out->node_limit[i] = r->platform->memory[i];
    }
    out->node_sending = mem_new_zero(double, nodes);
    out->node_receiving = mem_new_zero(double, nodes);
}

bool replay_prepare(struct replay *r, const struct workflow *w, const struct platform *p,
                    const struct plan *plan, const struct replay_options *options,
                    struct replay_result *result, struct error *err)
{
    *r = (struct replay){.workflow = w,
                         .platform = p,
                         .plan = plan,
                         .options = options,
                         .result = result,
                         .trace = options->trace};
    *result = (struct replay_result){0};
    engine_init(&r->engine, options->seed);
    if (!replay_check_options(options, p, err) || !plan_can_place(w, err))
        return false;
    if (plan->kind == PLAN_PARTITION && !plan->placements.n) {
        r->own_plan = plan_of_parts(plan, w, p, err);
        if (!r->own_plan)
            return false;
        r->plan = r->own_plan;
    } else if (plan->kind != PLAN_STATIC && plan->kind != PLAN_PARTITION)
        return error_set(err, ERROR_INPUT, "a plan of kind '%s' has no placements to replay",
                         plan_kind_name(plan->kind));
    const char *network = options->network ? options->network : replay_network(plan, p);
    uint32_t ports = options->ports ? options->ports : plan->ports;
    r->network = network_new(network, p, ports, err);
    if (!r->network || !lanes_build(&r->lanes, w, p, r->plan, err) ||
        !demands_build(&r->demands, w, p, r->plan,
                       strcmp(network, "kport") == 0 || plan_counts_files(r->plan, p), err) ||
        !set_durations(r, err))
        return false;
    count_core_waits(r);
    count_waits(r);
    size_t n = r->plan->placements.n;
    r->cause = mem_new(uint32_t, n);
    r->is_running = mem_new_zero(uint64_t, bitset_words(n));
    /* some task has several copies: who ended first must be remembered */
    if (n > w->ntasks)
        r->task_done = mem_new_zero(uint64_t, bitset_words(w->ntasks));
    r->memory = mem_new_zero(double, p->nnodes);
    r->files = replay_files_new(w, p, r->plan, &r->demands);
    r->things = replay_things_new(w, p, r->plan);
    r->left = (uint32_t)n;
    if (options->nfaults || options->mtbf > 0) {
        r->down = mem_new_zero(uint64_t, bitset_words(p->nnodes));
        r->back = mem_new_zero(double, p->nnodes);
        r->losses = mem_new_zero(uint32_t, n);
    }
    replay_open_changes(r);
    allocate_result(r);
    double claim = plan_objective(plan, "makespan");
    result->predicted = isnan(claim) ? plan_makespan(plan) : claim;
    return true;
}

void replay_release(struct replay *r)
{
    engine_free(&r->engine);
    network_free(r->network);
    lanes_free(&r->lanes);
    demands_free(&r->demands);
    plan_free(r->own_plan);
    free(r->duration);
    free(r->core_missing);
    free(r->wait_off);
    free(r->waiter);
    free(r->cause);
    free(r->is_running);
    free(r->task_done);
    free(r->memory);
    replay_files_free(r->files);
    replay_things_free(r->things);
    free(r->speed);
    free(r->limit);
    free(r->turns);
    free(r->hold);
    free(r->down);
    free(r->back);
    free(r->losses);
    array_free(&r->postponed);
    array_free(&r->impossible);
}

void replay_result_free(struct replay_result *r)
{
    free(r->chain);
    free(r->start);
    free(r->finish);
    free(r->data_ready);
    free(r->node_busy);
    free(r->node_peak);
    free(r->node_peak_time);
    free(r->node_exceeded_by);
    free(r->node_limit);
    free(r->node_sending);
    free(r->node_receiving);
    array_free(&r->lost_runs);
    array_free(&r->outages);
    *r = (struct replay_result){0};
}
