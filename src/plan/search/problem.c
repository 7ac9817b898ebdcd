/* A workflow on a platform as flat arrays for the searches: times, edges joined by pair, costs of
 * edges, and tails, the lower bounds on what follows a task.
 *
 * Built once, O((tasks + edges) x nodes) time and memory up to PROBLEM_TABLE entries of the table
 * of times, then read-only: threads share it. */
#include "plan/search/problem.h"
#include "base/array.h"
#include "model/graph.h"
#include <math.h>
#include <string.h>

double problem_far(const struct problem *p, double bytes, uint32_t from, uint32_t to)
{
    if (bytes < 0)
        return 0;
    if (!p->inverse)
        return platform_transfer(p->costs->platform, from, to, bytes);
    size_t link = (size_t)from * p->m + to;
    return p->latency[link] + bytes * p->inverse[link];
}

/* One entry a pair: pred_* of the workflow is sorted by (producer, object). */
static void join_edges(struct problem *p, const struct workflow *w)
{
    p->pred_off = mem_new(uint32_t, (size_t)p->n + 1);
    p->pred = mem_new(uint32_t, w->nedges);
    p->pred_bytes = mem_new(double, w->nedges);
    uint32_t used = 0;
    for (uint32_t t = 0; t < p->n; t++) {
        p->pred_off[t] = used;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            double bytes = w->pred_object[e] == NONE ? -1 : w->size[w->pred_object[e]];
            if (used > p->pred_off[t] && p->pred[used - 1] == w->pred_task[e]) {
                p->pred_bytes[used - 1] = fmax(p->pred_bytes[used - 1], bytes);
                continue;
            }
            p->pred[used] = w->pred_task[e];
            p->pred_bytes[used++] = bytes;
        }
    }
    p->pred_off[p->n] = used;

    /* successors by counting sort: ordered by consumer, as pred is by producer */
    p->succ_off = mem_new_zero(uint32_t, (size_t)p->n + 2);
    p->succ = mem_new(uint32_t, used);
    p->succ_bytes = mem_new(double, used);
    for (uint32_t e = 0; e < used; e++)
        p->succ_off[p->pred[e] + 2]++;
    for (uint32_t t = 0; t < p->n; t++)
        p->succ_off[t + 2] += p->succ_off[t + 1];
    for (uint32_t t = 0; t < p->n; t++)
        for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
            uint32_t at = p->succ_off[p->pred[e] + 1]++;
            p->succ[at] = t;
            p->succ_bytes[at] = p->pred_bytes[e];
        }
}

/* Links that cannot be used get an infinite latency and no cost a byte, so that no 0 x INFINITY
 * arises. */
static void copy_links(struct problem *p, const struct platform *platform)
{
    p->uniform = platform_is_uniform(platform);
    if (p->uniform || p->m > PROBLEM_LINKS)
        return;
    size_t pairs = (size_t)p->m * p->m;
    p->inverse = mem_new_zero(double, pairs);
    p->latency = mem_new_zero(double, pairs);
    for (uint32_t a = 0; a < p->m; a++)
        for (uint32_t b = 0; b < p->m; b++) {
            if (a == b)
                continue;
            double bandwidth, latency;
            platform_link(platform, a, b, &bandwidth, &latency);
            size_t link = (size_t)a * p->m + b;
            p->latency[link] = bandwidth > 0 ? latency : INFINITY;
            p->inverse[link] = bandwidth > 0 ? 1 / bandwidth : 0;
        }
}

/* What every transfer costs at the least: exact when all pairs are alike. */
static void price_edges(struct problem *p, const struct platform *platform)
{
    double inverse = 0, latency = 0;
    if (p->uniform) {
        inverse = 1 / platform->bandwidth;
        latency = platform->latency;
    } else if (p->inverse && p->m > 1) {
        inverse = latency = INFINITY;
        for (uint32_t a = 0; a < p->m; a++)
            for (uint32_t b = 0; b < p->m; b++) {
                size_t link = (size_t)a * p->m + b;
                if (a == b || isinf(p->latency[link]))
                    continue;
                inverse = fmin(inverse, p->inverse[link]);
                latency = fmin(latency, p->latency[link]);
            }
    }
    uint32_t edges = p->pred_off[p->n];
    p->pred_comm = mem_new(double, edges);
    p->succ_comm = mem_new(double, edges);
    for (uint32_t e = 0; e < edges; e++) {
        double in = p->pred_bytes[e], out = p->succ_bytes[e];
        /* an unusable network: everything stays on one node, whatever its size */
        p->pred_comm[e] = in < 0 ? 0 : isinf(inverse) ? INFINITY : latency + in * inverse;
        p->succ_comm[e] = out < 0 ? 0 : isinf(inverse) ? INFINITY : latency + out * inverse;
    }
}

/* Nodes of one core run one task at a time, which fits by itself. */
static bool memory_can_bind(const struct problem *p, const struct platform *platform)
{
    double most = 0;
    for (uint32_t t = 0; t < p->n; t++)
        most = fmax(most, p->memory[t]);
    for (uint32_t v = 0; v < p->m; v++)
        if (platform->up[v] && platform->cores[v] > 1 &&
            most * platform->cores[v] > platform->memory[v])
            return true;
    return false;
}

/* Any weights s_v give a bound: the tasks on node v take sum of s_v x time out of s_v x cores x C.
 * These are exact when every time is work / speed. */
static void measure_load(struct problem *p)
{
    p->speed = mem_new_zero(double, p->m);
    p->load = mem_new(double, p->n);
    uint32_t *counted = mem_new_zero(uint32_t, p->m);
    for (uint32_t t = 0; t < p->n; t++)
        for (uint32_t v = 0; v < p->m; v++) {
            double time = problem_time(p, t, v);
            if (!isfinite(time) || time <= 0)
                continue;
            p->speed[v] += p->least[t] / time;
            counted[v]++;
        }
    for (uint32_t v = 0; v < p->m; v++)
        p->speed[v] = counted[v] ? p->speed[v] / counted[v] : 0;
    for (uint32_t t = 0; t < p->n; t++) {
        double cheapest = INFINITY;
        for (uint32_t v = 0; v < p->m; v++) {
            double time = problem_time(p, t, v);
            if (isfinite(time))
                cheapest = fmin(cheapest, p->speed[v] * time);
        }
        p->load[t] = isfinite(cheapest) ? cheapest * p->cores[t] : 0;
    }
    free(counted);
}

/* Below 2^40 the sums of whole numbers that a schedule makes are exact. */
static bool is_whole(double x)
{
    return !isfinite(x) || (x == rint(x) && x < 0x1p40);
}

static bool all_whole(const struct problem *p)
{
    if (!p->uniform || !p->time)
        return false;
    for (size_t i = 0; i < (size_t)p->n * p->m; i++)
        if (!is_whole(p->time[i]))
            return false;
    for (uint32_t e = 0; e < p->pred_off[p->n]; e++)
        if (!is_whole(p->pred_comm[e]))
            return false;
    return true;
}

/* A consumer, seen from the end of its producer. */
struct problem_child {
    double time, after, far; /* least time, least tail behind it, arrival elsewhere + time + tail */
};

static int by_far(const void *a, const void *b)
{
    const struct problem_child *x = a, *y = b;
    return x->far > y->far ? -1 : x->far < y->far;
}

/* How long `count` tasks need on one node at the least, each followed by its tail: sorted by tail,
 * longest first, the first k together and then the shortest tail of the k (a preemptive relaxation;
 * `cores` of the node share the load). */
static double least_together(const struct problem_child *local, uint32_t count, double cores)
{
    double sum = 0, bound = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += local[i].time;
        bound = fmax(bound, sum / cores + local[i].after);
    }
    return bound;
}

/* tail[t]: the least Y such that the successors that would end later than Y elsewhere can end
 * within Y on t's own node. The children that must stay are those with the latest ends elsewhere,
 * so the answer is found by letting the first k of them stay, k = 0, 1, ...: Y is the least over k
 * of max(what the k need here, when the k+1st ends elsewhere). */
static void problem_tails(struct problem *p)
{
    p->tail = mem_new(double, p->n);
    double most_cores = 1;
    for (uint32_t v = 0; v < p->m; v++)
        most_cores = fmax(most_cores, p->core_off[v + 1] - p->core_off[v]);
    ARRAY(struct problem_child) children = {0};
    ARRAY(struct problem_child) local = {0};
    for (uint32_t i = p->n; i-- > 0;) {
        uint32_t t = p->topo[i];
        double longest = 0;
        children.n = 0;
        for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++) {
            uint32_t c = p->succ[e];
            double rest = p->least[c] + p->tail[c];
            longest = fmax(longest, rest);
            array_push(&children,
                       (struct problem_child){p->least[c], p->tail[c], p->succ_comm[e] + rest});
        }
        p->tail[t] = longest;
        if (children.n < 2 ||
            children.n > 64) /* many children: the load bound says more, and this is quadratic */
            continue;
        qsort(children.at, children.n, sizeof *children.at, by_far);
        double best = INFINITY;
        local.n = 0;
        for (size_t k = 0; k <= children.n; k++) {
            double away = k < children.n ? children.at[k].far : 0;
            double here = least_together(local.at, (uint32_t)local.n, most_cores);
            best = fmin(best, fmax(here, away));
            if (here >= best || k == children.n)
                break;
            size_t at = local.n; /* keep `local` sorted by tail, longest first */
            array_push(&local, children.at[k]);
            for (; at > 0 && local.at[at - 1].after < children.at[k].after; at--)
                local.at[at] = local.at[at - 1];
            local.at[at] = children.at[k];
        }
        p->tail[t] = fmax(longest, best);
    }
    array_free(&children);
    array_free(&local);
}

/* Everything that the searches ask of workflow and platform again and again. */
struct problem *problem_new(const struct costs *costs)
{
    const struct workflow *w = costs->workflow;
    const struct platform *platform = costs->platform;
    struct problem *p = mem_new_zero(struct problem, 1);
    p->costs = costs;
    p->n = w->ntasks;
    p->m = platform->nnodes;
    p->ports = platform_limits_ports(platform) || w->asks;
    p->cores = mem_new(uint32_t, p->n);
    p->memory = mem_new(double, p->n);
    p->topo = mem_new(uint32_t, p->n);
    p->rank = mem_new(uint32_t, p->n);
    p->least = mem_new(double, p->n);
    for (uint32_t t = 0; t < p->n; t++) {
        p->cores[t] = w->cores[t];
        p->memory[t] = w->memory[t];
        p->wide |= w->cores[t] > 1;
        p->topo[t] = w->topo[t];
        p->rank[w->topo[t]] = t;
        uint32_t fastest;
        p->least[t] = costs_least(costs, t, &fastest);
    }
    p->core_off = mem_new_zero(uint32_t, (size_t)p->m + 1);
    for (uint32_t v = 0; v < p->m; v++)
        p->core_off[v + 1] = p->core_off[v] + (platform->up[v] ? platform->cores[v] : 0);
    if ((uint64_t)p->n * p->m <= PROBLEM_TABLE) {
        p->time = mem_new(double, (size_t)p->n * p->m);
        for (uint32_t t = 0; t < p->n; t++)
            for (uint32_t v = 0; v < p->m; v++)
                p->time[(size_t)t * p->m + v] = costs_time(costs, t, v);
    }
    join_edges(p, w);
    copy_links(p, platform);
    price_edges(p, platform);
    p->memory_binds = memory_can_bind(p, platform);
    p->whole = all_whole(p);
    measure_load(p);
    problem_tails(p);
    return p;
}

void problem_free(struct problem *p)
{
    if (!p)
        return;
    free(p->time);
    free(p->least);
    free(p->pred_off);
    free(p->pred);
    free(p->succ_off);
    free(p->succ);
    free(p->pred_bytes);
    free(p->succ_bytes);
    free(p->pred_comm);
    free(p->succ_comm);
    free(p->inverse);
    free(p->latency);
    free(p->cores);
    free(p->core_off);
    free(p->memory);
    free(p->topo);
    free(p->rank);
    free(p->tail);
    free(p->speed);
    free(p->load);
    free(p);
}

/* The longest way with least times (and tails, which know joins), and the load over all cores;
 * whole numbers round up. */
double problem_bound(const struct problem *p)
{
    double longest = 0, load = 0, capacity = 0;
    for (uint32_t v = 0; v < p->m; v++)
        capacity += p->speed[v] * (p->core_off[v + 1] - p->core_off[v]);
    double *top = mem_new_zero(double, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t t = p->topo[i];
        for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++)
            top[t] = fmax(top[t], top[p->pred[e]] + p->least[p->pred[e]]);
        longest = fmax(longest, top[t] + p->least[t] + p->tail[t]);
        load += p->load[t];
    }
    free(top);
    double bound = fmax(longest, capacity > 0 ? load / capacity : 0);
    return p->whole ? ceil(bound - 1e-6) : bound;
}

/* An encoding carries times and cores; what a plan has besides are the transfers, which leave when
 * their producer ends: the searches know no ports. */
struct plan *problem_plan(const struct problem *p, const uint32_t *node, const uint32_t *core,
                          const double *start, const double *finish)
{
    const struct workflow *w = p->costs->workflow;
    const struct platform *platform = p->costs->platform;
    struct plan *plan = plan_new(PLAN_STATIC);
    array_reserve(&plan->placements, p->n);
    for (uint32_t t = 0; t < p->n; t++)
        array_push(
            &plan->placements,
            (struct placement){t, 0, node[t], core[t] - p->core_off[node[t]], start[t], finish[t]});
    /* an object goes once to every other node that needs it; sent[] holds the last object + 1 sent
     * there, and the edges out of a task are sorted by object */
    uint32_t *sent = mem_new_zero(uint32_t, p->m);
    for (uint32_t t = 0; t < p->n; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t object = w->succ_object[e], to = node[w->succ_task[e]];
            if (object == NONE || to == node[t] || sent[to] == object + 1)
                continue;
            sent[to] = object + 1;
            double seconds = platform_transfer(platform, node[t], to, w->size[object]);
            array_push(&plan->transfers,
                       (struct transfer){object, node[t], to, finish[t], finish[t] + seconds});
        }
    free(sent);
    plan_sort(plan);
    plan_set_objective(plan, "makespan", plan_makespan(plan));
    return plan;
}
