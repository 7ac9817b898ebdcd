/* Planners that keep files within memory: every plan that comes out passes the checker, and one comes out
 * wherever a small search finds one. */
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "plan/memory/acyclic.h"
#include "plan/memory/keep.h"
#include "plan/memory/series.h"
#include "plan/memory/traversal.h"
#include "plan/planner.h"
#include "tap.h"
#include <math.h>
#include <string.h>

static struct workflow *random_dag(struct rng *rng, uint32_t tasks)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t task = builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, task, 1 + (double)rng_below(rng, 20), 0);
        builder_memory(b, task, (double)rng_below(rng, 10), 0);
        for (uint32_t u = 0; u < t; u++)
            if (rng_below(rng, tasks) < 2)
                builder_data_edge(b, u, t, 1 + (double)rng_below(rng, 30), 0);
        if (t && rng_below(rng, 3) == 0) {
            uint32_t o = builder_object(b, name, (size_t)sprintf(name, "o%u", t / 2));
            builder_size(b, o, 5, 0);
            if (t / 2 != t)
                builder_consumes(b, task, o, 0);
        }
    }
    for (uint32_t t = 0; t < tasks; t++)
        if (rng_below(rng, 2)) {
            uint32_t o = builder_object(b, name, (size_t)sprintf(name, "o%u", t));
            builder_size(b, o, 1 + (double)rng_below(rng, 15), 0);
            builder_produces(b, t, o, 0);
        }
    return builder_finish(b, NULL);
}

static struct platform *random_nodes(struct rng *rng, const struct workflow *w, uint32_t nodes,
                                     double factor)
{
    double most = 1;
    for (uint32_t t = 0; t < w->ntasks; t++)
        most = fmax(most, keep_task_bytes(w, t));
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, 2 + (double)rng_below(rng, 10), 0, NAN, 0);
    char name[16];
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t node = platform_builder_node(b, name, (size_t)sprintf(name, "n%u", n), 0);
        platform_builder_memory(b, node, floor(most * (n ? rng_uniform(rng, 0.6, factor) : factor)),
                                0);
        platform_builder_speed(b, node, 1 + (double)rng_below(rng, 3), 0);
        platform_builder_cores(b, node, 1 + (double)rng_below(rng, 2), 0);
    }
    return platform_builder_finish(b, NULL);
}

static void test_planners(void)
{
    static const char *const names[] = {"heft-mem", "minmin-mem", "heft",       "cpop",
                                        "peft",     "dsc",        "daghetpart", "daghetmem",
                                        "heft-dup", "minmin",     "etf"};
    struct rng rng;
    rng_seed(&rng, 5);
    uint32_t invalid = 0, found = 0, made = 0;
    for (int round = 0; round < 150; round++) {
        struct workflow *w = random_dag(&rng, 2 + (uint32_t)rng_below(&rng, 14));
        struct platform *p =
            random_nodes(&rng, w, 1 + (uint32_t)rng_below(&rng, 4), rng_uniform(&rng, 1, 2));
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            struct plan_request r = {.workflow = w, .platform = p, .seed = 1};
            struct error err = {0};
            struct plan *plan = planner_run(planner_find(names[i]), &r, &err);
            made++;
            if (!plan) {
                invalid += err.kind != ERROR_INFEASIBLE;
                continue;
            }
            found++;
            struct check_result result;
            check_plan(plan, w, p, &result, NULL);
            if (result.total || !plan_counts_files(plan, p)) {
                invalid++;
                printf("# round %d %s: %s\n", round, names[i],
                       result.total ? result.violations.at[0].detail : "files do not count");
            }
            check_result_free(&result);
            plan_free(plan);
        }
        platform_free(p);
        workflow_free(w);
    }
    is_int(invalid, 0, "no planner hands out a plan that breaks memory or anything else");
    printf("# %u plans of %u\n", found, made);
    ok(found > made / 2, "and most find one");
}

/* The same nodes, with a link stated between the first two that is as quick as all others. */
static struct platform *with_a_link(const struct platform *p)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, p->bandwidth, p->latency, NAN, 0);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        const char *name = platform_node_name(p, n);
        uint32_t node = platform_builder_node(b, name, strlen(name), 0);
        platform_builder_memory(b, node, p->memory[n], 0);
        platform_builder_speed(b, node, p->speed[n], 0);
        platform_builder_cores(b, node, p->cores[n], 0);
    }
    platform_builder_link(b, 0, 1, p->bandwidth, p->latency, 0);
    return platform_builder_finish(b, NULL);
}

/* Task after task on the best node of both: how often they differ, by more than the rounding of a link's seconds a byte. */
static uint32_t slots_that_differ(struct keep_schedule *one, struct keep_schedule *two,
                                  const struct workflow *w, uint32_t *placed)
{
    uint32_t other = 0;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        struct keep_slot a = keep_best(one, w->topo[i]), b = keep_best(two, w->topo[i]), least = b;
        for (uint32_t n = keep_platform(two)->nnodes; n-- > 0;) {
            struct keep_slot slot = keep_earliest(two, w->topo[i], n);
            least = slot.finish <= least.finish && slot.finish < INFINITY ? slot : least;
        }
        other += a.node != b.node || fabs(a.start - b.start) > 1e-9 || b.node != least.node;
        if (!(a.finish < INFINITY) || !(b.finish < INFINITY))
            break;
        keep_place(one, w->topo[i], a);
        keep_place(two, w->topo[i], b);
        ++*placed;
    }
    return other;
}

/* Where all links are alike rows are made in a quicker way, and only nodes that may be best are looked at (keep.c): the slots are
 * those of a platform that states a link, and of all nodes asked one by one. */
static void test_links(void)
{
    struct rng rng;
    rng_seed(&rng, 9);
    uint32_t other = 0, placed = 0;
    for (int round = 0; round < 300; round++) {
        struct workflow *w = random_dag(&rng, 4 + (uint32_t)rng_below(&rng, 24));
        struct platform *alike = random_nodes(&rng, w, 2 + (uint32_t)rng_below(&rng, 4), 2);
        struct platform *linked = with_a_link(alike);
        struct costs *costs = costs_new(w, alike, NULL), *costs_linked = costs_new(w, linked, NULL);
        struct keep_schedule *one = keep_new(costs), *two = keep_new(costs_linked);
        other += slots_that_differ(one, two, w, &placed);
        keep_free(one);
        keep_free(two);
        costs_free(costs);
        costs_free(costs_linked);
        platform_free(alike);
        platform_free(linked);
        workflow_free(w);
    }
    is_int(other, 0, "a link like all others changes no slot");
    ok(placed > 2000, "of %u", placed);
}

/* Every edge stays in its block or goes to a later one, no block has more than a tenth above the mean and a task, and fewer
 * bytes go between blocks than between the stretches of the order that they come from. */
static void test_acyclic(void)
{
    struct rng rng;
    rng_seed(&rng, 23);
    uint32_t back = 0, heavy = 0, outside = 0, fewer = 0;
    for (int round = 0; round < 200; round++) {
        struct workflow *w = random_dag(&rng, 20 + (uint32_t)rng_below(&rng, 40));
        uint32_t k = 1 + (uint32_t)rng_below(&rng, 8), *block = mem_new(uint32_t, w->ntasks);
        uint32_t *order = traversal_deep(w);
        acyclic_partition(w, order, k, block);
        double work[8] = {0}, total = 0, largest = 0, bytes = 0, cut = 0, done = 0;
        uint32_t *stretch = mem_new(uint32_t, w->ntasks);
        for (uint32_t t = 0; t < w->ntasks; t++) {
            outside += block[t] >= k;
            work[block[t] % 8] += w->work[t];
            total += w->work[t];
            largest = fmax(largest, w->work[t]);
        }
        for (uint32_t i = 0; i < w->ntasks; done += w->work[order[i++]])
            stretch[order[i]] = (uint32_t)fmin(k - 1, floor(k * done / total));
        for (uint32_t b = 0; b < k; b++)
            heavy += work[b] > 1.1 * total / k + largest + 1e-6;
        for (uint32_t t = 0; t < w->ntasks; t++)
            for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
                uint32_t to = w->succ_task[e], o = w->succ_object[e];
                double size = o == NONE ? 0 : w->size[o];
                back += block[to] < block[t];
                bytes += block[to] != block[t] ? size : 0;
                cut += stretch[to] != stretch[t] ? size : 0;
            }
        fewer += k > 1 && bytes < cut;
        free(stretch);
        free(order);
        free(block);
        workflow_free(w);
    }
    is_int(back, 0, "no edge goes back to an earlier block");
    is_int(outside, 0, "every task is in one of the blocks");
    is_int(heavy, 0, "and none of them has much more work than the mean");
    ok(fewer > 120, "most have fewer bytes between them than stretches (%u of 200)", fewer);
}

/* The tasks with which a series-parallel graph begins and ends; each edge has a file of its own. */
struct terminals {
    uint32_t first[16], last[16], nfirst, nlast;
};

static struct terminals grow_series(struct builder *b, struct rng *rng, uint32_t tasks, uint32_t *n)
{
    struct terminals own = {0};
    char name[16];
    if (tasks == 1) {
        uint32_t t = builder_task(b, name, (size_t)sprintf(name, "t%u", (*n)++), 0);
        builder_work(b, t, 1, 0);
        builder_memory(b, t, (double)rng_below(rng, 12), 0);
        own.first[own.nfirst++] = own.last[own.nlast++] = t;
        return own;
    }
    uint32_t left = 1 + (uint32_t)rng_below(rng, tasks - 1);
    bool series = rng_below(rng, 2);
    struct terminals x = grow_series(b, rng, left, n), y = grow_series(b, rng, tasks - left, n);
    for (uint32_t i = 0; series && i < x.nlast; i++)
        for (uint32_t j = 0; j < y.nfirst; j++)
            builder_data_edge(b, x.last[i], y.first[j], (double)rng_below(rng, 20), 0);
    if (series) {
        memcpy(x.last, y.last, sizeof x.last);
        x.nlast = y.nlast;
        return x;
    }
    for (uint32_t i = 0; i < y.nfirst; i++)
        x.first[x.nfirst++] = y.first[i];
    for (uint32_t i = 0; i < y.nlast; i++)
        x.last[x.nlast++] = y.last[i];
    return x;
}

/* What tasks and files take at most, if `task` runs when exactly those of `done` have. */
static double bytes_while(const struct workflow *w, uint32_t done, uint32_t task)
{
    double bytes = keep_task_bytes(w, task);
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t count, maker = w->producer[o];
        const uint32_t *reader = workflow_consumers(w, o, &count);
        bool waits = false, own = false;
        for (uint32_t i = 0; i < count; i++) {
            waits |= !(done >> reader[i] & 1);
            own |= reader[i] == task;
        }
        if (maker != NONE && (done >> maker & 1) && waits && !own)
            bytes += w->size[o];
    }
    return bytes;
}

/* The least peak of all orders, by sets of tasks that have run. */
static double least_peak(const struct workflow *w)
{
    uint32_t sets = 1U << w->ntasks;
    double *peak = mem_new(double, sets), least;
    for (uint32_t set = 0; set < sets; set++)
        peak[set] = set ? INFINITY : 0;
    for (uint32_t set = 0; set < sets; set++)
        for (uint32_t t = 0; t < w->ntasks && isfinite(peak[set]); t++) {
            bool ready = !(set >> t & 1);
            for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
                ready = ready && (set >> w->pred_task[e] & 1);
            double *then = &peak[set | 1U << t];
            if (ready)
                *then = fmin(*then, fmax(peak[set], bytes_while(w, set, t)));
        }
    least = peak[sets - 1];
    free(peak);
    return least;
}

/* Against all orders: the least of series-parallel graphs, and of other graphs never less than that. */
static void test_series(void)
{
    struct rng rng;
    rng_seed(&rng, 31);
    uint32_t missed = 0, impossible = 0, wrong = 0, equal = 0;
    for (int round = 0; round < 600; round++) {
        struct builder *b = builder_new("<test>", "series");
        uint32_t n = 0;
        grow_series(b, &rng, 1 + (uint32_t)rng_below(&rng, 10), &n);
        struct workflow *w = builder_finish(b, NULL), *other = random_dag(&rng, 8);
        uint32_t *order = series_order(w, w->topo);
        missed += traversal_peak(w, order) > least_peak(w) + 1e-9;
        double peak, least = least_peak(other);
        uint32_t *best = traversal_best(other, &peak), *alone = series_order(other, other->topo);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < other->ntasks; i++) {
            for (uint32_t e = other->pred_off[alone[i]]; e < other->pred_off[alone[i] + 1]; e++)
                wrong += !(seen >> other->pred_task[e] & 1);
            seen |= 1U << alone[i];
        }
        wrong += seen != (1U << other->ntasks) - 1;
        impossible += peak < least - 1e-9;
        equal += peak < least + 1e-9;
        free(alone);
        free(best);
        free(order);
        workflow_free(w);
        workflow_free(other);
    }
    is_int(missed, 0, "the least memory of 600 series-parallel graphs, as of all orders");
    is_int(wrong, 0, "of other graphs an order, producers before consumers");
    is_int(impossible, 0, "that needs no less than possible");
    ok(equal > 300, "and mostly the least (%u of 600)", equal);
}

static double makespan_of(const char *name, const struct workflow *w, const struct platform *p)
{
    struct plan_request r = {.workflow = w, .platform = p, .seed = 1};
    struct error err = {0};
    struct plan *plan = planner_run(planner_find(name), &r, &err);
    double makespan = plan ? plan_makespan(plan) : INFINITY;
    plan_free(plan);
    return makespan;
}

/* Where sending is dear, ranks spread tasks over nodes and pay for it: one node after the other is shorter then. */
static void test_never_longer(void)
{
    struct rng rng;
    rng_seed(&rng, 11);
    uint32_t longer = 0, parts_longer = 0, plans = 0;
    for (int round = 0; round < 300; round++) {
        struct workflow *w = random_dag(&rng, 2 + (uint32_t)rng_below(&rng, 14));
        struct platform *p =
            random_nodes(&rng, w, 1 + (uint32_t)rng_below(&rng, 4), rng_uniform(&rng, 1, 6));
        double most = makespan_of("daghetmem", w, p);
        plans += isfinite(most);
        longer += makespan_of("heft-mem", w, p) > most * (1 + 1e-9);
        parts_longer += makespan_of("daghetpart", w, p) > most * (1 + 1e-9);
        platform_free(p);
        workflow_free(w);
    }
    is_int(longer, 0, "heft-mem is never longer than daghetmem");
    is_int(parts_longer, 0, "neither is daghetpart");
    ok(plans > 150, "which finds most plans, too (%u)", plans);
}

int main(void)
{
    TAP_DO(test_planners());
    TAP_DO(test_links());
    TAP_DO(test_acyclic());
    TAP_DO(test_series());
    TAP_DO(test_never_longer());
    return tap_done();
}
