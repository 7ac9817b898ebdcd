/* Several runs on simulated nodes, against the fluid in which the cores of all nodes flow to the runs by
 * weight, reckoned apart; and nodes that differ: what runs where, by sums of the test's own. */
#include "base/rng.h"
#include "model/builder.h"
#include "model/platform.h"
#include "sim/schedulers.h"
#include "tap.h"

#include <math.h>

enum { MOST_RUNS = 4 };

static struct workflow *bag(uint32_t n, double length, double spread, struct rng *rng)
{
    struct builder *b = builder_new("<bag>", "bag");
    struct error err = {0};
    char name[16];
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_work(b, t, length * (1 + spread * (2 * rng_unit(rng) - 1)), 0);
    }
    return builder_finish(b, &err);
}

static struct workload over(const struct workflow *w)
{
    struct workload d = {.kind = WORKLOAD_WORKFLOW, .workflow = w};
    struct error err = {0};
    ok(workload_init(&d, &err), "a graph of %u tasks", d.ntasks);
    return d;
}

struct beside {
    struct workflow *w[MOST_RUNS];
    struct workload dag[MOST_RUNS];
    struct schedulers_entry entry[MOST_RUNS];
    struct schedulers_run run[MOST_RUNS];
    uint32_t n;
};

static void beside_add(struct beside *s, struct workflow *w, double at, double priority)
{
    s->w[s->n] = w;
    s->dag[s->n] = over(w);
    s->entry[s->n] = (struct schedulers_entry){&s->dag[s->n], at, priority};
    s->n++;
}

static double beside_run(struct beside *s, struct schedulers_config k)
{
    struct schedulers_result total;
    struct error err = {0};
    bool good = schedulers_run_beside(&k, s->entry, s->n, &total, s->run, &err);
    ok(good, "%u runs end%s%s", s->n, good ? "" : ": ", err.text);
    return total.makespan;
}

static void beside_free(struct beside *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        workflow_free(s->w[i]);
    *s = (struct beside){0};
}

/* When each run is through if cores could be divided at will. */
static void fluid(const struct beside *s, double cores, double *finish)
{
    double left[MOST_RUNS] = {0}, now = 0;
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t t = 0; t < s->w[i]->ntasks; t++)
            left[i] += s->w[i]->work[t] * s->w[i]->cores[t];
    for (;;) {
        double weight = 0, step = INFINITY;
        for (uint32_t i = 0; i < s->n; i++)
            weight += left[i] > 1e-9 && s->entry[i].at <= now ? exp2(s->entry[i].priority) : 0;
        for (uint32_t i = 0; i < s->n; i++)
            if (left[i] > 1e-9)
                step = fmin(step, s->entry[i].at > now
                                      ? s->entry[i].at - now
                                      : left[i] / (cores * exp2(s->entry[i].priority) / weight));
        if (!isfinite(step))
            return;
        for (uint32_t i = 0; i < s->n; i++)
            if (left[i] > 1e-9 && s->entry[i].at <= now) {
                left[i] -= step * cores * exp2(s->entry[i].priority) / weight;
                if (left[i] <= 1e-9)
                    finish[i] = now + step;
            }
        now += step;
    }
}

/* Within 2 %, or a few tasks: nodes share for themselves, and nothing is taken from a task that runs. */
static void test_fluid(void)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct rng rng;
        struct beside s = {0};
        double finish[MOST_RUNS], longest = 0, worst = 0;
        rng_seed(&rng, seed);
        uint32_t n = 2 + (uint32_t)rng_below(&rng, MOST_RUNS - 1),
                 nodes = 1 + (uint32_t)rng_below(&rng, 6), cores = 1 + (uint32_t)rng_below(&rng, 4);
        for (uint32_t i = 0; i < n; i++) {
            double length = rng_uniform(&rng, 0.2, 2), spread = rng_unit(&rng);
            uint32_t tasks = nodes * cores * (100 + (uint32_t)rng_below(&rng, 300));
            longest = fmax(longest, length * (1 + spread));
            beside_add(&s, bag(tasks, length, spread, &rng), i ? rng_uniform(&rng, 0, 100) : 0,
                       (double)rng_below(&rng, 4) - 1);
        }
        beside_run(&s, (struct schedulers_config){.nodes = nodes, .cores = cores, .seed = seed});
        fluid(&s, nodes * cores, finish);
        for (uint32_t i = 0; i < n; i++)
            worst = fmax(worst, (fabs(s.run[i].finish - finish[i]) - 3 * longest) /
                                    (finish[i] - s.entry[i].at));
        ok(worst < 0.02,
           "seed %d: %u runs on %u nodes of %u cores end when the fluid does (%.1f %%)", (int)seed,
           n, nodes, cores, 100 * worst);
        beside_free(&s);
    }
}

static void test_short_beside_long(void)
{
    struct rng rng;
    rng_seed(&rng, 1);
    for (int priority = -20; priority <= 0; priority += 20) {
        struct beside s = {0};
        beside_add(&s, bag(4000, 60, 0, &rng), 0, 0);
        beside_add(&s, bag(2, 1, 0, &rng), 600, priority);
        beside_run(&s, (struct schedulers_config){.nodes = 4, .cores = 2});
        ok(s.run[1].first <= 661, "priority %d: a run of two tasks begins when a core is free",
           priority);
        ok(s.run[1].finish < s.run[0].finish / 10, "and is through at %g s, the long one at %g s",
           s.run[1].finish, s.run[0].finish);
        beside_free(&s);
    }
}

static void test_figures(void)
{
    struct rng rng;
    struct beside s = {0};
    rng_seed(&rng, 1);
    beside_add(&s, bag(200, 1, 0, &rng), 0, 0);
    beside_add(&s, bag(200, 1, 0, &rng), 0, 0);
    double end = beside_run(&s, (struct schedulers_config){.nodes = 2, .cores = 2});
    is_dbl(end, 100, 0.1, "two bags of 200 s on four cores");
    is_dbl(s.run[0].alone, 50, 0.1, "one alone");
    is_dbl(s.run[0].slowdown, 2, 0.05, "is twice as fast");
    is_dbl(s.run[0].used, 200, 1e-6, "core seconds are those of its tasks");
    is_dbl(schedulers_fairness(s.run, 2), 1, 1e-3, "equal runs: fairness 1");
    struct schedulers_run unfair[4] = {
        {.slowdown = 1}, {.slowdown = 1e9}, {.slowdown = 1e9}, {.slowdown = 1e9}};
    is_dbl(schedulers_fairness(unfair, 4), 0.25, 1e-3, "one of four has all: 1/4");
    beside_free(&s);
}

/* Chains, data, tasks of several cores and of several nodes, runs that come late: all of it ends, and
 * the same configuration gives the same run. */
static struct workflow *mixed(struct rng *rng, uint32_t n, bool wide)
{
    struct builder *b = builder_new("<mixed>", "mixed");
    struct error err = {0};
    char name[16];
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_work(b, t, rng_uniform(rng, 0.01, 2), 0);
        builder_cores(b, t, 1 + (double)rng_below(rng, 3), 0);
        builder_memory(b, t, (double)rng_below(rng, 5), 0);
        if (wide && rng_below(rng, 5) == 0)
            builder_nodes(b, t, 1 + (double)rng_below(rng, 3), 0);
        for (uint32_t k = t ? (uint32_t)rng_below(rng, 3) : 0; k > 0; k--)
            builder_data_edge(b, (uint32_t)rng_below(rng, t), t, rng_uniform(rng, 0, 1e8), 0);
    }
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        ok(false, "%s", err.text);
    return w;
}

static void test_mixed(void)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct beside s = {0};
        struct rng rng;
        double end[2];
        for (int again = 0; again < 2; again++) {
            beside_free(&s);
            rng_seed(&rng, seed);
            for (uint32_t i = 0; i < MOST_RUNS; i++)
                beside_add(&s, mixed(&rng, 5 + (uint32_t)rng_below(&rng, 60), seed % 2), (double)i,
                           (double)rng_below(&rng, 3));
            end[again] = beside_run(
                &s, (struct schedulers_config){.nodes = 3, .cores = 3, .memory = 6, .seed = seed});
        }
        ok(end[0] == end[1], "seed %d: the same again", (int)seed);
        for (uint32_t i = 0; i < s.n; i++) {
            double work = 0;
            for (uint32_t t = 0; t < s.w[i]->ntasks; t++)
                work += s.w[i]->work[t] * s.w[i]->cores[t] * (s.w[i]->nodes ? s.w[i]->nodes[t] : 1);
            if (!(s.run[i].used >= work * (1 - 1e-9)) || !(s.run[i].finish - i >= work / 9))
                ok(false, "seed %d: run %u had %g core seconds for %g", (int)seed, i, s.run[i].used,
                   work);
        }
        beside_free(&s);
    }
}

/* ---- nodes that differ ---- */

/* Three kinds of nodes; tasks of three kinds, each at home on some of them. A task that started where it
 * does not fit would take for ever (costs.h), so an end is proof. */
static void test_platform(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rng rng;
        struct error err = {0};
        rng_seed(&rng, seed);
        struct platform_builder *pb = platform_builder_new("<nodes>");
        static const char *const has[] = {"", "avx512", "ssd", "avx512,ssd"};
        uint32_t nodes = 4 + (uint32_t)rng_below(&rng, 5);
        double can[4] = {
            0}; /* core seconds a second of nodes that have the attributes of this mask */
        for (uint32_t i = 0; i < nodes; i++) {
            char name[16];
            uint32_t n =
                platform_builder_node(pb, name, (size_t)snprintf(name, sizeof name, "n%u", i), 0);
            uint32_t mask = i < 4 ? i : (uint32_t)rng_below(&rng, 4);
            uint32_t cores = 1 + (uint32_t)rng_below(&rng, 4),
                     speed = 1 + (uint32_t)rng_below(&rng, 3);
            platform_builder_cores(pb, n, cores, 0);
            platform_builder_speed(pb, n, speed, 0);
            platform_builder_memory(pb, n, mask == 3 ? 8 : 1 + (double)rng_below(&rng, 8), 0);
            platform_builder_has(pb, n, has[mask], strlen(has[mask]));
            for (uint32_t m = 0; m < 4; m++)
                can[m] += (mask & m) == m ? cores * speed : 0;
        }
        struct platform *p = platform_builder_finish(pb, &err);
        struct builder *b = builder_new("<needs>", "needs");
        double asked[4] = {0};
        for (uint32_t t = 0; t < 200; t++) {
            char name[16];
            uint32_t mask = (uint32_t)rng_below(&rng, 4);
            double work = rng_uniform(&rng, 0.5, 2);
            builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
            builder_work(b, t, work, 0);
            builder_memory(b, t, (double)rng_below(&rng, 9), 0);
            if (mask)
                builder_needs(b, t, has[mask], strlen(has[mask]), 0);
            for (uint32_t m = 0; m < 4; m++)
                asked[m] += (mask & m) == m ? work : 0;
        }
        struct workflow *w = builder_finish(b, &err);
        struct workload d = over(w);
        struct schedulers_result r;
        bool good = schedulers_run(
            &(struct schedulers_config){.dag = &d, .nodes = nodes, .platform = p, .seed = seed}, &r,
            &err);
        ok(good,
           "seed %d: 200 tasks that need attributes and memory end on %u nodes that differ%s%s",
           (int)seed, nodes, good ? "" : ": ", err.text);
        for (uint32_t m = 0; m < 4; m++)
            if (!(r.makespan >= asked[m] / can[m] * (1 - 1e-9)))
                ok(false, "attributes %u: %g s of work in %g s on %g cores", m, asked[m],
                   r.makespan, can[m]);
        workflow_free(w);
        platform_free(p);
    }
}

/* An attribute that one node of three has: its tasks begin on the others and find their way. */
static void test_one_node_has_it(void)
{
    struct error err = {0};
    struct platform_builder *pb = platform_builder_new("<nodes>");
    for (uint32_t i = 0; i < 3; i++) {
        char name[16];
        uint32_t n =
            platform_builder_node(pb, name, (size_t)snprintf(name, sizeof name, "n%u", i), 0);
        platform_builder_cores(pb, n, 2, 0);
        if (i == 2)
            platform_builder_has(pb, n, "avx512", 6);
    }
    struct platform *p = platform_builder_finish(pb, &err);
    struct builder *b = builder_new("<needs>", "needs");
    for (uint32_t t = 0; t < 40; t++) {
        char name[16];
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        builder_work(b, t, 1, 0);
        if (t % 2)
            builder_needs(b, t, "avx512", 6, 0);
    }
    struct workflow *w = builder_finish(b, &err);
    struct workload d = over(w);
    struct schedulers_config k = {.dag = &d, .nodes = 3, .platform = p};
    struct schedulers_result r;
    ok(schedulers_run(&k, &r, &err), "20 tasks that one node of three can run, 20 that all can");
    is_dbl(r.makespan, 10, 0.5, "the two cores that can take ten seconds");
    k.nodes = 2; /* without it */
    ok(!schedulers_run(&k, &r, &err) && err.kind == ERROR_INFEASIBLE && strstr(err.text, "avx512"),
       "nobody has it: impossible, and says why: %s", err.text);
    err = (struct error){0};
    k = (struct schedulers_config){.dag = &d, .nodes = 2, .has = "avx512"};
    ok(schedulers_run(&k, &r, &err), "nodes that are alike have attributes, too");
    workflow_free(w);
    platform_free(p);
}

int main(void)
{
    TAP_DO(test_figures());
    TAP_DO(test_fluid());
    TAP_DO(test_short_beside_long());
    TAP_DO(test_mixed());
    TAP_DO(test_platform());
    TAP_DO(test_one_node_has_it());
    return tap_done();
}
