/* The exact search within memory against an oracle of its own: every order of starts of runs and transfers,
 * each at 0 or at an end, judged by the checker. And the list planners against the exact search. */
#include "plan/memory/prove.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "plan/memory/keep.h"
#include "plan/planner.h"
#include "tap.h"
#include <math.h>

static struct workflow *small_dag(struct rng *rng, uint32_t tasks, bool shared)
{
    struct builder *b = builder_new("<test>", "test");
    char name[16];
    for (uint32_t t = 0; t < tasks; t++) {
        uint32_t task = builder_task(b, name, (size_t)sprintf(name, "t%u", t), 0);
        builder_work(b, task, 1 + (double)rng_below(rng, 9), 0);
        builder_memory(b, task, (double)rng_below(rng, 5), 0);
        uint32_t out = builder_object(b, name, (size_t)sprintf(name, "o%u", t));
        builder_size(b, out, 1 + (double)rng_below(rng, 20), 0);
        builder_produces(b, task, out, 0);
        for (uint32_t u = 0; u < t; u++)
            if (rng_below(rng, 5) < 2) {
                if (shared)
                    builder_consumes(b, task,
                                     builder_object(b, name, (size_t)sprintf(name, "o%u", u)), 0);
                else
                    builder_data_edge(b, u, t, 1 + (double)rng_below(rng, 20), 0);
            }
    }
    return builder_finish(b, NULL);
}

static struct platform *small_nodes(struct rng *rng, const struct workflow *w, uint32_t nodes,
                                    double factor)
{
    double most = 1;
    for (uint32_t t = 0; t < w->ntasks; t++)
        most = fmax(most, keep_task_bytes(w, t));
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, 1 + (double)rng_below(rng, 10), 0, NAN, 0);
    char name[16];
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t node = platform_builder_node(b, name, (size_t)sprintf(name, "n%u", n), 0);
        platform_builder_memory(b, node, floor(most * (n ? rng_uniform(rng, 0.7, factor) : factor)),
                                0);
        platform_builder_speed(b, node, 1 + (double)rng_below(rng, 2), 0);
    }
    return platform_builder_finish(b, NULL);
}

/* ---- the oracle ---- */

struct step {
    uint32_t task, object, node;
    double start, finish;
};

struct oracle {
    const struct workflow *w;
    const struct platform *p;
    uint32_t node[8];
    struct step step[24];
    uint32_t n, order[24], placed;
    bool is_placed[24];
    double best;
};

static void oracle_judge(struct oracle *x)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    plan->memory = MEMORY_FILES;
    double makespan = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct step *s = &x->step[i];
        if (s->object == NONE)
            array_push(&plan->placements,
                       (struct placement){s->task, 0, s->node, 0, s->start, s->finish});
        else
            array_push(&plan->transfers, (struct transfer){s->object, x->node[s->task], s->node,
                                                           s->start, s->finish});
        makespan = s->object == NONE ? fmax(makespan, s->finish) : makespan;
    }
    struct check_result r;
    if (check_plan(plan, x->w, x->p, &r, NULL) && !r.total)
        x->best = fmin(x->best, makespan);
    check_result_free(&r);
    plan_free(plan);
}

/* The end of what step i waits for; -1: that is not placed. */
static double oracle_ready(const struct oracle *x, uint32_t i)
{
    double ready = 0;
    const struct step *s = &x->step[i];
    for (uint32_t k = 0; k < x->n; k++) {
        const struct step *b = &x->step[k];
        bool needs = s->object != NONE && b->object == NONE && b->task == s->task;
        for (uint32_t e = x->w->pred_off[s->task];
             s->object == NONE && e < x->w->pred_off[s->task + 1]; e++) {
            bool here = x->node[x->w->pred_task[e]] == s->node;
            needs |= here ? b->object == NONE && b->task == x->w->pred_task[e]
                          : b->object == x->w->pred_object[e] && b->node == s->node;
        }
        if (needs && !x->is_placed[k])
            return -1;
        ready = needs ? fmax(ready, b->finish) : ready;
    }
    return ready;
}

static void oracle_times(struct oracle *x, double last)
{
    if (x->placed == x->n) {
        oracle_judge(x);
        return;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        double ready = x->is_placed[i] ? -1 : oracle_ready(x, i);
        if (ready < 0)
            continue;
        struct step *s = &x->step[i];
        double seconds = s->finish - s->start;
        x->is_placed[i] = true;
        x->placed++;
        for (uint32_t k = 0; k <= x->n; k++) {
            double at = k == x->n ? last : x->step[k].finish;
            if ((k < x->n && (k == i || !x->is_placed[k] || at <= last)) || at < ready ||
                at + seconds >= x->best)
                continue;
            s->start = at;
            s->finish = at + seconds;
            oracle_times(x, at);
        }
        s->start = 0;
        s->finish = seconds;
        x->is_placed[i] = false;
        x->placed--;
    }
}

static void oracle_nodes(struct oracle *x, uint32_t given)
{
    const struct workflow *w = x->w;
    if (given < w->ntasks) {
        for (uint32_t n = 0; n < x->p->nnodes; n++) {
            x->node[given] = n;
            oracle_nodes(x, given + 1);
        }
        return;
    }
    x->n = x->placed = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        x->step[x->n++] =
            (struct step){t, NONE, x->node[t], 0, w->work[t] / x->p->speed[x->node[t]]};
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t to = x->node[w->succ_task[e]], o = w->succ_object[e];
            bool sent = to == x->node[t];
            for (uint32_t i = 0; i < x->n; i++)
                sent |= x->step[i].object == o && x->step[i].node == to;
            if (!sent)
                x->step[x->n++] = (struct step){t, o, to, 0, w->size[o] / x->p->bandwidth};
        }
    memset(x->is_placed, 0, sizeof x->is_placed);
    oracle_times(x, 0);
}

static void test_oracle(void)
{
    struct rng rng;
    rng_seed(&rng, 3);
    uint32_t wrong = 0, feasible = 0, dearer = 0;
    for (int round = 0; round < 120; round++) {
        struct workflow *w = small_dag(&rng, 2 + (uint32_t)rng_below(&rng, 3), round % 2);
        struct platform *p = small_nodes(&rng, w, 2, rng_uniform(&rng, 1, 1.6));
        struct oracle x = {.w = w, .p = p, .best = INFINITY};
        oracle_nodes(&x, 0);
        struct costs *costs = costs_new(w, p, NULL);
        struct prove_limits limits = {.seconds = INFINITY, .upper = INFINITY};
        struct prove_result r = prove_shortest(costs, &limits);
        double makespan = r.plan ? plan_makespan(r.plan) : INFINITY;
        bool same = r.complete && (makespan == x.best || fabs(makespan - x.best) < 1e-9);
        struct check_result judged;
        if (r.plan && (!check_plan(r.plan, w, p, &judged, NULL) || judged.total))
            same = false;
        if (r.plan)
            check_result_free(&judged);
        if (!same)
            printf("# round %d: %g, the oracle says %g\n", round, makespan, x.best);
        wrong += !same;
        feasible += isfinite(makespan);
        for (uint32_t n = 0; n < 2; n++)
            p->memory[n] = INFINITY;
        struct prove_result without = prove_shortest(costs, &limits);
        dearer += r.plan && plan_makespan(without.plan) < makespan * (1 - 1e-9);
        plan_free(without.plan);
        plan_free(r.plan);
        costs_free(costs);
        platform_free(p);
        workflow_free(w);
    }
    is_int(wrong, 0, "120 graphs: the shortest plan within memory is the oracle's");
    printf("# %u feasible, memory makes %u longer\n", feasible, dearer);
    ok(feasible > 60 && dearer > 15, "in many memory matters");
}

/* A few need more states: from the plan that was found, as `auto` goes on. The shorter plan of both stays. */
static bool proven_in_the_end(const struct costs *costs, struct prove_result *exact)
{
    double upper = exact->plan ? plan_makespan(exact->plan) : INFINITY;
    struct prove_limits limits = {.seconds = INFINITY, .upper = upper, .states = 30000000};
    struct prove_result more = prove_shortest(costs, &limits);
    printf("# %llu states more\n", (unsigned long long)more.states);
    if (more.plan) {
        plan_free(exact->plan);
        exact->plan = more.plan;
    }
    return more.complete;
}

/* The goal: valid wherever the exact search finds a plan, and within 1.25 of it on average. */
static void test_lists(void)
{
    static const char *const names[] = {"heft-mem", "minmin-mem"};
    struct rng rng;
    rng_seed(&rng, 8);
    uint32_t proven = 0, none[2] = {0}, cases = 0;
    double ratio[2] = {0};
    for (int round = 0; round < 200; round++) {
        struct workflow *w = small_dag(&rng, 4 + (uint32_t)rng_below(&rng, 4), round % 2);
        struct platform *p =
            small_nodes(&rng, w, 2 + (uint32_t)rng_below(&rng, 2), rng_uniform(&rng, 1, 2));
        struct costs *costs = costs_new(w, p, NULL);
        struct plan_request r = {.workflow = w, .platform = p, .seed = 1};
        struct plan *made[2];
        for (int i = 0; i < 2; i++)
            made[i] = planner_run(planner_find(names[i]), &r, NULL);
        struct prove_limits limits = {.seconds = INFINITY, .upper = INFINITY, .states = 300000};
        struct prove_result exact = prove_shortest(costs, &limits);
        proven += exact.complete || proven_in_the_end(costs, &exact);
        cases += exact.plan != NULL;
        for (int i = 0; i < 2; i++) {
            none[i] += exact.plan && !made[i];
            if (exact.plan && made[i])
                ratio[i] += plan_makespan(made[i]) / plan_makespan(exact.plan);
            plan_free(made[i]);
        }
        plan_free(exact.plan);
        costs_free(costs);
        platform_free(p);
        workflow_free(w);
    }
    printf("# exact: %u with a plan\n", cases);
    is_int(proven, 200, "the exact search comes to its end in all");
    for (int i = 0; i < 2; i++) {
        double mean = ratio[i] / (cases - none[i]);
        printf("# %s: %u without a plan, %.3f of the exact\n", names[i], none[i], mean);
        is_int(none[i], 0, "%s finds a plan wherever the exact search does", names[i]);
        ok(mean <= 1.25, "%s is within 1.25 of it on average", names[i]);
    }
}

int main(void)
{
    TAP_DO(test_oracle());
    TAP_DO(test_lists());
    return tap_done();
}
