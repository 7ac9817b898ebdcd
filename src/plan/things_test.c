/* Plans of tasks that hold things: every planner of the registry on random instances, and the checker
 * against judges of their own. For whole things a judge adds up what is held at every start; for parts
 * one tries every way to hand out ids. */
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "plan/planner.h"
#include "tap.h"

enum { MOST_TASKS = 10, NODES = 2 };

struct instance {
    struct workflow *w;
    struct platform *p;
    uint32_t n, gpus[NODES], licences[NODES];
    double gpu[MOST_TASKS], licence[MOST_TASKS];
};

static void instance_make(struct instance *x, uint64_t seed, bool parts)
{
    struct rng rng;
    struct error err = {0};
    rng_seed_stream(&rng, seed, 5);
    *x = (struct instance){.n = 3 + (uint32_t)rng_below(&rng, MOST_TASKS - 2)};
    struct platform_builder *pb = platform_builder_new("<test>");
    platform_builder_network(pb, 10, 0, NAN, 0);
    for (uint32_t v = 0; v < NODES; v++) {
        char name[8], text[40];
        snprintf(name, sizeof name, "n%u", v);
        x->gpus[v] = v ? (uint32_t)rng_below(&rng, 3) : 2;
        x->licences[v] = v ? (uint32_t)rng_below(&rng, 4) : 3;
        platform_builder_node(pb, name, strlen(name), 0);
        platform_builder_cores(pb, v, 1 + (double)rng_below(&rng, 6), 0);
        platform_builder_speed(pb, v, 1 + (double)rng_below(&rng, 2), 0);
        snprintf(text, sizeof text, "gpu=%u licence=%u", x->gpus[v], x->licences[v]);
        platform_builder_resources(pb, v, text, strlen(text), 0);
    }
    x->p = platform_builder_finish(pb, &err);
    struct builder *b = builder_new("<test>", "test");
    for (uint32_t t = 0; t < x->n; t++) {
        char name[16], text[40];
        snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, strlen(name), 0);
        builder_work(b, t, 1 + (double)rng_below(&rng, 9), 0);
        static const double part[] = {0.5, 0.3, 0.7, 0.25};
        x->gpu[t] = (double)rng_below(&rng, 3);
        if (parts && rng_below(&rng, 2))
            x->gpu[t] = part[rng_below(&rng, 4)];
        x->licence[t] = rng_below(&rng, 3) ? 0 : (double)(1 + rng_below(&rng, 3));
        snprintf(text, sizeof text, "gpu=%g,licence=%g", x->gpu[t], x->licence[t]);
        builder_resources(b, t, text, strlen(text), 0);
        for (uint32_t u = 0; u < t; u++)
            if (rng_below(&rng, 6) == 0)
                builder_data_edge(b, u, t, (double)rng_below(&rng, 20), 0);
    }
    x->w = builder_finish(b, &err);
}

static void instance_free(struct instance *x)
{
    workflow_free(x->w);
    platform_free(x->p);
}

/* ---- judges ---- */

static bool overlaps(const struct placement *a, const struct placement *b)
{
    return a->node == b->node && a->start < b->finish - 1e-6 && b->start < a->finish - 1e-6;
}

/* Sums at the start of each, of all that run then. */
static bool sums_fit(const struct instance *x, const struct plan *plan)
{
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *a = &plan->placements.at[i];
        double gpu = 0, licence = 0;
        for (size_t k = 0; k < plan->placements.n; k++) {
            const struct placement *b = &plan->placements.at[k];
            if (i == k || (overlaps(a, b) && b->start <= a->start + 1e-6)) {
                gpu += x->gpu[b->task];
                licence += x->licence[b->task];
            }
        }
        if (gpu > x->gpus[a->node] + 1e-9 || licence > x->licences[a->node] + 1e-9)
            return false;
    }
    return true;
}

/* Is there a way to give each that asks for GPUs its ids, from the i-th on? ids[k]: a mask. */
static bool ids_exist(const struct instance *x, const struct plan *plan, size_t i, uint32_t *ids)
{
    while (i < plan->placements.n && !(x->gpu[plan->placements.at[i].task] > 0))
        i++;
    if (i == plan->placements.n)
        return true;
    const struct placement *a = &plan->placements.at[i];
    double asks = x->gpu[a->task];
    uint32_t wanted = asks < 1 ? 1 : (uint32_t)asks;
    for (uint32_t mask = 0; mask < 1u << x->gpus[a->node]; mask++) {
        if ((uint32_t)__builtin_popcount(mask) != wanted)
            continue;
        ids[i] = mask;
        bool good = true;
        for (uint32_t id = 0; id < x->gpus[a->node] && good; id++) {
            /* at every instant at which one of those that are placed starts */
            for (size_t s = 0; s <= i && good; s++) {
                const struct placement *at = &plan->placements.at[s];
                double used = 0;
                for (size_t k = 0; k <= i; k++) {
                    const struct placement *b = &plan->placements.at[k];
                    bool holds = x->gpu[b->task] > 0 && ids[k] >> id & 1 && b->node == a->node;
                    if (holds && at->node == a->node && b->start <= at->start + 1e-6 &&
                        b->finish > at->start + 1e-6)
                        used += x->gpu[b->task] < 1 ? x->gpu[b->task] : 1;
                }
                good = used <= 1 + 1e-9;
            }
        }
        if (good && ids_exist(x, plan, i + 1, ids))
            return true;
    }
    ids[i] = 0;
    return false;
}

/* ---- the checker ---- */

static size_t resource_violations(const struct instance *x, const struct plan *plan)
{
    struct check_result r;
    struct error err = {0};
    size_t n = 0;
    check_plan(plan, x->w, x->p, &r, &err);
    for (size_t i = 0; i < r.violations.n; i++)
        n += r.violations.at[i].kind == VIOLATION_RESOURCES;
    check_result_free(&r);
    return n;
}

/* Whenever, wherever: whether it keeps to the things is all that is asked. */
static struct plan *random_placements(const struct instance *x, struct rng *rng)
{
    struct plan *plan = plan_new(PLAN_STATIC);
    for (uint32_t t = 0; t < x->n; t++) {
        double start = (double)rng_below(rng, 14);
        array_push(&plan->placements,
                   (struct placement){.task = t,
                                      .node = (uint32_t)rng_below(rng, NODES),
                                      .start = start,
                                      .finish = start + 1 + (double)rng_below(rng, 5)});
    }
    return plan;
}

static void test_checker(void)
{
    bool whole = true, parts = true;
    uint32_t valid = 0, invalid = 0, shared = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct instance x;
        struct rng rng;
        rng_seed_stream(&rng, seed, 6);
        instance_make(&x, seed, seed % 2);
        struct plan *plan = random_placements(&x, &rng);
        bool good = !resource_violations(&x, plan), sums = sums_fit(&x, plan);
        uint32_t ids[MOST_TASKS] = {0};
        if (seed % 2 == 0) {
            whole = whole && good == sums;
            valid += good;
            invalid += !good;
        } else {
            parts = parts && (!good || (sums && ids_exist(&x, plan, 0, ids)));
            shared += good;
        }
        plan_free(plan);
        instance_free(&x);
    }
    ok(whole, "of whole things the checker says what the sums say");
    ok(parts, "of parts it says yes only where ids can be handed out");
    ok(valid > 50 && invalid > 50 && shared > 50, "%u valid, %u not; %u valid with parts", valid,
       invalid, shared);
}

/* ---- planners ---- */

static void test_planners(void)
{
    for (size_t k = 0; planner_registry[k]; k++) {
        const struct planner *planner = planner_registry[k];
        bool slow = planner->accepts & (ACCEPTS_META | ACCEPTS_SMALL | ACCEPTS_SLOW);
        bool good = true, finds = true;
        uint32_t plans = 0, refused = 0;
        struct option_value few[] = {{"budget", "300moves"}};
        struct option_value states[] = {{"states", "2000"}};
        for (uint64_t seed = 1; seed <= (slow ? 12u : 60u) && good; seed++) {
            struct instance x;
            struct error err = {0};
            instance_make(&x, seed, seed % 2);
            struct plan_request request = {.workflow = x.w, .platform = x.p, .seed = seed};
            if (option_find(planner->options, "budget"))
                request.options = few, request.noptions = 1;
            else if (strcmp(planner->name, "optimal") == 0)
                request.options = states, request.noptions = 1;
            struct plan *plan = planner_run(planner, &request, &err);
            struct check_result r;
            if (!plan) {
                refused++;
                finds = finds && (strstr(err.text, "does not count resources") ||
                                  strstr(err.text, "takes trees only"));
            } else if (plan->kind == PLAN_STATIC) {
                uint32_t ids[MOST_TASKS] = {0};
                struct error none = {0};
                plans++;
                good = check_plan(plan, x.w, x.p, &r, &none) && !r.total && sums_fit(&x, plan) &&
                       (plan->placements.n > MOST_TASKS || ids_exist(&x, plan, 0, ids));
                if (r.total)
                    printf("# %s, seed %llu: %s\n", planner->name, (unsigned long long)seed,
                           r.violations.at[0].detail);
                check_result_free(&r);
            }
            plan_free(plan);
            instance_free(&x);
        }
        ok(good && finds, "%s: %u plans keep to the things, %u were refused", planner->name, plans,
           refused);
    }
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_checker), TAP_CASE(test_planners)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
