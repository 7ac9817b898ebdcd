/* The schedule under construction against one that looks at every interval, and its promise that
 * trying leaves no trace. */
#include "base/rng.h"
#include "model/builder.h"
#include "plan/list/schedule.h"
#include "tap.h"

enum { TASKS = 120, NODES = 5 };

static struct workflow *random_workflow(struct rng *rng)
{
    struct builder *b = builder_new("<random>", "test");
    char name[16];
    for (uint32_t t = 0; t < TASKS; t++) {
        uint32_t task = builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, task, 1 + (double)rng_below(rng, 20), 0);
        for (int k = 0; t && k < 3; k++)
            if (rng_below(rng, 2)) {
                uint32_t from = (uint32_t)rng_below(rng, t);
                builder_edge(b, from, t, 0);
                uint32_t object = builder_object(b, name, (size_t)sprintf(name, "o%u", from));
                if (builder_producer(b, object) == NONE) {
                    builder_size(b, object, (double)rng_below(rng, 30), 0);
                    builder_produces(b, from, object, 0);
                }
                builder_consumes(b, t, object, 0);
            }
    }
    struct error err = {0};
    return builder_finish(b, &err);
}

static struct platform *random_platform(struct rng *rng, bool links, uint32_t ports)
{
    struct platform_builder *b = platform_builder_new("<random>");
    char name[16];
    platform_builder_network(b, 2, 1, ports ? ports : NAN, 0);
    for (uint32_t n = 0; n < NODES; n++) {
        uint32_t node = platform_builder_node(b, name, (size_t)sprintf(name, "n%u", n), 0);
        platform_builder_speed(b, node, 1 + (double)rng_below(rng, 3), 0);
        for (uint32_t m = 0; links && m < n; m++)
            platform_builder_link(b, m, n, 1 + (double)rng_below(rng, 4), NAN, 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

struct naive {
    const struct costs *c;
    uint32_t node[TASKS];
    double start[TASKS], finish[TASKS];
    uint32_t placed[TASKS], count;
};

/* Every placed task on the node, every predecessor, from the definitions. */
static struct schedule_slot naive_slot(const struct naive *x, uint32_t task, uint32_t node)
{
    const struct workflow *w = x->c->workflow;
    double ready = 0, seconds = costs_time(x->c, task, node);
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = w->pred_task[e], object = w->pred_object[e];
        double there = x->finish[from];
        if (object != NONE)
            there += platform_transfer(x->c->platform, x->node[from], node, w->size[object]);
        ready = fmax(ready, there);
    }
    double best = INFINITY;
    for (uint32_t i = 0; i <= x->count; i++) { /* candidates: ready, and the end of every task */
        double at = ready;
        if (i < x->count) {
            if (x->node[x->placed[i]] != node)
                continue;
            at = fmax(at, x->finish[x->placed[i]]);
        }
        bool idle = at < best;
        for (uint32_t k = 0; idle && k < x->count; k++) {
            uint32_t other = x->placed[k];
            idle =
                x->node[other] != node || x->finish[other] <= at || x->start[other] >= at + seconds;
        }
        if (idle)
            best = at;
    }
    return (struct schedule_slot){node, 0, best, best + seconds};
}

static void test_against_naive(bool links, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    struct workflow *w = random_workflow(&rng);
    struct platform *p = random_platform(&rng, links, 0);
    struct error err = {0};
    struct costs *c = costs_new(w, p, &err);
    struct schedule *s = schedule_new(c);
    struct naive naive = {.c = c};
    int differ = 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        uint32_t task = w->topo[i];
        struct schedule_slot best = {.finish = INFINITY};
        for (uint32_t n = 0; n < NODES; n++) {
            struct schedule_slot want = naive_slot(&naive, task, n),
                                 got = schedule_earliest(s, task, n);
            differ += want.start != got.start || want.finish != got.finish;
            if (want.finish < best.finish)
                best = want;
        }
        struct schedule_slot got = schedule_best(s, task);
        differ += got.node != best.node || got.start != best.start;
        if (rng_below(&rng, 3) == 0) /* bad choices leave gaps */
            got = schedule_earliest(s, task, (uint32_t)rng_below(&rng, NODES));
        schedule_place(s, task, got);
        naive.node[task] = got.node;
        naive.start[task] = got.start;
        naive.finish[task] = got.finish;
        naive.placed[naive.count++] = task;
    }
    is_int(differ, 0, "%s: all slots as found by looking everywhere",
           links ? "pairs that differ" : "uniform network");
    schedule_free(s);
    costs_free(c);
    platform_free(p);
    workflow_free(w);
}

/* What all nodes offer all tasks that could be placed now, in one number. */
static double fingerprint(struct schedule *s)
{
    double sum = schedule_makespan(s);
    for (uint32_t t = 0; t < TASKS; t++)
        for (uint32_t n = 0; n < NODES; n++) {
            struct schedule_slot a = schedule_earliest(s, t, n), b = schedule_append(s, t, n);
            sum = sum * 1.0000001 + a.start + 3 * b.start + schedule_ready(s, t, n);
        }
    return sum;
}

static void test_no_trace(uint32_t ports, uint64_t seed)
{
    struct rng rng;
    rng_seed(&rng, seed);
    struct workflow *w = random_workflow(&rng);
    struct platform *p = random_platform(&rng, seed % 2, ports);
    struct error err = {0};
    struct costs *c = costs_new(w, p, &err);
    struct schedule *s = schedule_new(c);
    int differ = 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        if (i % 10 == 5) {
            double before = fingerprint(s);
            schedule_try(s);
            for (uint32_t k = i; k < TASKS && k < i + 12; k++)
                schedule_place(s, w->topo[k],
                               schedule_earliest(s, w->topo[k], (uint32_t)rng_below(&rng, NODES)));
            for (uint32_t n = 0; n < NODES; n++)
                if (!schedule_has_copy(s, w->topo[i - 1], n))
                    schedule_duplicate(s, w->topo[i - 1], schedule_earliest(s, w->topo[i - 1], n));
            schedule_undo(s);
            differ += before != fingerprint(s) || schedule_is_placed(s, w->topo[i]);
        }
        schedule_place(s, w->topo[i],
                       schedule_earliest(s, w->topo[i], (uint32_t)rng_below(&rng, NODES)));
    }
    is_int(differ, 0, "%u ports: what was tried and undone, and estimates, leave no trace", ports);
    schedule_reset(s);
    is_dbl(schedule_makespan(s), 0, 0, "reset empties it");
    struct schedule_slot first = schedule_earliest(s, w->topo[0], 0);
    is_dbl(first.start, 0, 0, "and the first task starts at once");
    schedule_free(s);
    costs_free(c);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        TAP_DO(test_against_naive(false, seed));
        TAP_DO(test_against_naive(true, seed));
        TAP_DO(test_no_trace(0, seed));
        TAP_DO(test_no_trace(1, seed));
        TAP_DO(test_no_trace(2, seed));
        TAP_DO(test_no_trace(9, seed));
    }
    return tap_done();
}
