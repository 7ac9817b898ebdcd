/* Planner `stream` and the schemes MOS is compared with: optimal on small graphs, never worse than
 * MOS, valid everywhere. */
#include "plan/stream/stream.h"
#include "model/check.h"
#include "plan/stream/baselines.h"
#include "plan/stream/stream_fixture.h"
#include "tap.h"

static struct plan *plan_at(const char *name, const struct workflow *w, const struct platform *p,
                            const char *throughput, const char *duplication, struct error *err)
{
    struct option_value options[] = {
        {"throughput", throughput}, {"duplication", duplication}, {"effort", "0.05"}};
    struct plan_request request = {.workflow = w,
                                   .platform = p,
                                   .options = options,
                                   .noptions = strcmp(name, "stream") ? 2 : 3,
                                   .seed = 1};
    return planner_run(planner_find(name), &request, err);
}

static bool is_valid(const struct plan *plan, const struct workflow *w, const struct platform *p)
{
    struct check_result r;
    struct error err = {0};
    bool good = check_plan(plan, w, p, &r, &err) && !r.total;
    if (!good)
        printf("# %s\n", r.total ? r.violations.at[0].detail : err.text);
    check_result_free(&r);
    return good;
}

/* The optimum over all partitions without duplicates, written for clarity: replicas by brute force
 * of the closed form. */
static double best_partition(const struct workflow *w, const struct platform *p, double throughput)
{
    struct stream_graph *g = stream_graph_new(w, p);
    struct stream_work *work = stream_work_new(g);
    struct stream_estimate e = {0};
    uint32_t n = w->ntasks, off[9], code[8] = {0}, procs[8];
    double best = INFINITY;
    for (uint32_t t = 0; t <= n; t++)
        off[t] = t;
    for (bool more = true; more;) {
        uint32_t m = 0;
        for (uint32_t t = 0; t < n; t++)
            m = code[t] + 1 > m ? code[t] + 1 : m;
        for (uint32_t c = 0; c < m; c++)
            procs[c] = 1;
        struct stream_map map = {m, off, code, code, procs, NULL, NULL};
        stream_estimate(work, &map, p->ports, INFINITY, NULL, &e);
        double time[8] = {0};
        uint32_t total = 0;
        for (uint32_t t = 0; t < n; t++)
            time[code[t]] += g->time[t];
        for (uint32_t c = 0; c < m; c++) {
            double need = fmax(ceil(throughput * time[c] - 1e-7),
                               ceil(throughput * e.component.at[c] - 1e-7));
            procs[c] = (uint32_t)fmax(1, need);
            total += procs[c];
        }
        if (total <= p->nnodes)
            best = fmin(best, e.latency);
        uint32_t i = n;
        more = false;
        while (--i > 0 && !more) {
            uint32_t above = 0;
            for (uint32_t k = 0; k < i; k++)
                above = code[k] > above ? code[k] : above;
            if (code[i] <= above) {
                code[i]++;
                for (uint32_t k = i + 1; k < n; k++)
                    code[k] = 0;
                more = true;
            }
        }
    }
    uint32_t processor[8];
    memset(processor, 0xff, sizeof processor);
    double item = stream_item(work, p->nnodes, NULL, p->ports, processor);
    if (item * throughput <= 1 + 1e-9)
        best = fmin(best, item);
    stream_estimate_free(&e);
    stream_work_free(work);
    stream_graph_free(g);
    return best;
}

static void test_optimum(void)
{
    static const double fractions[] = {1, 0.75, 0.5, 0.25, 0};
    struct rng rng;
    rng_seed(&rng, 21);
    double sum = 0, worst = 0;
    int runs = 0, optimal = 0, exact = 0, below = 0, worse = 0;
    for (int round = 0; round < 96; round++) {
        static const double ccr[] = {0.1, 1, 10};
        struct workflow *w =
            random_stream(&rng, 4 + (uint32_t)rng_below(&rng, 4), ccr[round % 3], true, 0);
        struct platform *p =
            equal_nodes(2 + (uint32_t)rng_below(&rng, 6), 1u << rng_below(&rng, 3));
        double total = 0;
        for (uint32_t t = 0; t < w->ntasks; t++)
            total += w->work[t];
        for (size_t k = 0; k < 5; k++) {
            char text[32];
            struct error err = {0};
            snprintf(text, sizeof text, "%gTmax", fractions[k]);
            double best = best_partition(w, p, fractions[k] * p->nnodes / total);
            struct plan *mos = plan_at("mos", w, p, text, "off", &err);
            struct plan *stream = plan_at("stream", w, p, text, "off", &err);
            struct plan *copies = plan_at("mos", w, p, text, "on", &err);
            struct plan *both = plan_at("stream", w, p, text, "on", &err);
            double a = plan_objective(mos, "latency"), b = plan_objective(stream, "latency");
            runs++;
            sum += a / best;
            worst = fmax(worst, a / best);
            optimal += a <= best * (1 + 1e-9);
            exact += b <= best * (1 + 1e-9);
            below += a < best * (1 - 1e-9) || b < best * (1 - 1e-9);
            worse += b > a * (1 + 1e-9) || plan_objective(both, "latency") >
                                               plan_objective(copies, "latency") * (1 + 1e-9);
            plan_free(mos);
            plan_free(stream);
            plan_free(copies);
            plan_free(both);
        }
        platform_free(p);
        workflow_free(w);
    }
    printf("# mos without duplication: optimal in %d of %d, mean %.4f, worst %.3f; stream optimal "
           "in %d\n",
           optimal, runs, sum / runs, worst, exact);
    is_int(below, 0, "nothing is below the optimum");
    ok(sum / runs <= 1.02, "mos is within 2 %% of the optimum on average (%.4f)", sum / runs);
    ok(exact >= 0.99 * runs, "stream is optimal in 99 %% (%d of %d)", exact, runs);
    is_int(worse, 0, "stream is never worse than mos, with and without duplicates");
}

static struct platform *unequal_nodes(struct rng *rng, uint32_t count, bool links)
{
    struct platform_builder *b = platform_builder_new("<unequal>");
    struct error err = {0};
    char name[16];
    platform_builder_network(b, rng_uniform(rng, 0.5, 4), rng_below(rng, 2) ? 0.5 : 0,
                             1 + (double)rng_below(rng, 3), 0);
    for (uint32_t i = 0; i < count; i++) {
        platform_builder_node(b, name, (size_t)sprintf(name, "n%u", i), 0);
        platform_builder_speed(b, i, rng_uniform(rng, 0.5, 4), 0);
        platform_builder_memory(b, i, i ? 2 + (double)rng_below(rng, 8) : 20, 0);
        if (i && rng_below(rng, 8) == 0)
            platform_builder_down(b, i);
    }
    for (uint32_t a = 0; links && a < count; a++)
        for (uint32_t c = a + 1; c < count; c++)
            if (rng_below(rng, 2))
                platform_builder_link(b, a, c, rng_uniform(rng, 0.2, 4), NAN, 0);
    return platform_builder_finish(b, &err);
}

static void test_unequal(void)
{
    struct rng rng;
    rng_seed(&rng, 33);
    int invalid = 0, planned = 0, missed = 0;
    for (int round = 0; round < 60; round++) {
        struct workflow *w =
            random_stream(&rng, 3 + (uint32_t)rng_below(&rng, 12), 1, round % 5 != 0, round % 2);
        for (uint32_t t = 0; t < w->ntasks; t++)
            w->memory[t] = (double)rng_below(&rng, 8);
        struct platform *p = unequal_nodes(&rng, 2 + (uint32_t)rng_below(&rng, 10), round % 2);
        static const char *const at[] = {"0.9Tmax", "0.5Tmax", "0"};
        struct error err = {0};
        struct plan *plan = plan_at("stream", w, p, at[round % 3], "on", &err);
        if (plan) {
            planned++;
            invalid += !is_valid(plan, w, p);
        } else {
            missed += err.kind != ERROR_INFEASIBLE;
            printf("# round %d: %s\n", round, err.text);
        }
        plan_free(plan);
        error_clear(&err);
        plan = plan_at("mos", w, p, "0", "on", &err);
        missed += plan == NULL && err.kind != ERROR_INPUT;
        plan_free(plan);
        platform_free(p);
        workflow_free(w);
    }
    is_int(invalid, 0, "plans on unequal nodes, links and memories are valid");
    is_int(missed, 0, "what cannot be done is said");
    ok(planned >= 55, "%d of 60 planned", planned);
}

/* Nodes with k ports each (and one that is down and has others, or all would count as the
 * network's) against a network of k ports. */
static struct platform *equal_ports(uint32_t count, uint32_t ports, bool own)
{
    struct platform_builder *b = platform_builder_new("<ports>");
    struct error err = {0};
    char name[16];
    platform_builder_network(b, 1, 0, own ? NAN : ports, 0);
    for (uint32_t i = 0; i <= count; i++) {
        platform_builder_node(b, name, (size_t)sprintf(name, "n%u", i), 0);
        if (own)
            platform_builder_ports(b, i, i < count ? ports : ports + 1, 0);
    }
    platform_builder_down(b, count);
    return platform_builder_finish(b, &err);
}

static bool same_figures(const struct plan *a, const struct plan *b)
{
    static const char *const names[] = {"latency", "throughput", "processors"};
    bool same = a && b && a->clusters.n == b->clusters.n && a->tasks.n == b->tasks.n &&
                memcmp(a->tasks.at, b->tasks.at, a->tasks.n * sizeof *a->tasks.at) == 0;
    for (size_t i = 0; same && i < 3; i++)
        same = plan_objective(a, names[i]) == plan_objective(b, names[i]);
    return same;
}

static void test_own_ports(void)
{
    static const char *const names[] = {"mos", "stream", "expert", "expert-e", "fcp"};
    static const char *const at[] = {"0.9Tmax", "0.5Tmax", "0"};
    struct rng rng;
    rng_seed(&rng, 71);
    int differ = 0, invalid = 0, planned = 0, better = 0, worse = 0;
    for (int round = 0; round < 24; round++) {
        struct workflow *w = random_stream(&rng, 4 + (uint32_t)rng_below(&rng, 12), 1, true, 0);
        uint32_t count = 2 + (uint32_t)rng_below(&rng, 6), k = 1 + (uint32_t)rng_below(&rng, 3);
        struct platform *one = equal_ports(count, k, false), *own = equal_ports(count, k, true);
        struct error err = {0};
        for (size_t i = 0; i < 5; i++) {
            struct plan *a = plan_at(names[i], w, one, at[round % 3], "on", &err);
            struct plan *b = plan_at(names[i], w, own, at[round % 3], "on", &err);
            differ += !same_figures(a, b);
            invalid += !a || !b || !is_valid(a, w, own) || !is_valid(b, w, one);
            plan_free(a);
            plan_free(b);
        }
        platform_free(one);
        platform_free(own);

        /* half the nodes have one port, half have four */
        struct platform_builder *b = platform_builder_new("<mixed>");
        char name[16];
        platform_builder_network(b, 1, 0, 1, 0);
        for (uint32_t i = 0; i < count; i++) {
            platform_builder_node(b, name, (size_t)sprintf(name, "n%u", i), 0);
            platform_builder_ports(b, i, i % 2 ? 4 : NAN, 0);
        }
        struct platform *mixed = platform_builder_finish(b, &err), *few = equal_nodes(count, 1);
        struct plan *plan = plan_at("stream", w, mixed, at[round % 3], "on", &err);
        struct plan *less = plan_at("stream", w, few, at[round % 3], "on", &err);
        if (plan && less) {
            double x = plan_objective(plan, "latency"), y = plan_objective(less, "latency");
            planned++;
            invalid += !is_valid(plan, w, mixed);
            better += x < y * (1 - 1e-9);
            worse += x > y * 1.05;
        }
        plan_free(plan);
        plan_free(less);
        plan = plan_at("mos", w, mixed, "0", "on", &err);
        invalid += plan != NULL || err.kind != ERROR_INPUT;
        plan_free(plan);
        platform_free(mixed);
        platform_free(few);
        workflow_free(w);
    }
    is_int(differ, 0, "equal ports of nodes give what the network's would");
    is_int(invalid, 0, "plans with ports of nodes are valid; mos takes equal ones only");
    ok(planned >= 20 && better > 0, "more ports at some nodes help: %d of %d", better, planned);
    ok(worse <= planned / 10, "and seldom mislead the search (%d)", worse);
}

static void test_baselines(void)
{
    static const char *const names[] = {"fcp", "fcp-e", "expert", "expert-e"};
    struct rng rng;
    rng_seed(&rng, 41);
    int invalid = 0, beaten = 0, met = 0;
    for (int round = 0; round < 100; round++) {
        struct workflow *w =
            random_stream(&rng, 3 + (uint32_t)rng_below(&rng, 15), 0.3, round % 4 != 0, 0);
        struct platform *p = equal_nodes(1 + (uint32_t)rng_below(&rng, 16), 4);
        static const char *const at[] = {"Tmax", "0.5Tmax", "0.25Tmax", "0"};
        for (size_t k = 0; k < 4; k++) {
            struct error err = {0};
            struct plan *plan = plan_at(names[k], w, p, at[round % 4], "on", &err);
            if (!plan) {
                ok(false, "%s plans: %s", names[k], err.text);
                continue;
            }
            invalid += !is_valid(plan, w, p);
            struct plan *mos = plan_at("mos", w, p, at[round % 4], "on", &err);
            if (mos && k >= 2 && !plan->notes.n) {
                met++;
                beaten +=
                    plan_objective(mos, "latency") <= plan_objective(plan, "latency") * (1 + 1e-9);
            }
            plan_free(mos);
            plan_free(plan);
        }
        platform_free(p);
        workflow_free(w);
    }
    is_int(invalid, 0, "plans of fcp, fcp-e, expert and expert-e are valid");
    ok(beaten > met * 0.9,
       "mos is at least as good as expert where that meets the throughput: %d of %d", beaten, met);
}

static void test_front(void)
{
    struct rng rng;
    rng_seed(&rng, 51);
    struct workflow *w = random_stream(&rng, 12, 1, true, 0);
    struct platform *p = equal_nodes(6, 2);
    struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
    struct stream_front front;
    struct error err = {0};
    bool beaten = false, valid = true;
    if (ok(stream_front(planner_find("mos"), &request, 33, &front, &err), "a front %s", err.text)) {
        double fewest = INFINITY, most = 0;
        for (size_t i = 0; i < front.plans.n; i++) {
            const struct plan *x = front.plans.at[i];
            fewest = fmin(fewest, plan_objective(x, "processors"));
            most = fmax(most, plan_objective(x, "processors"));
            valid &= is_valid(x, w, p);
            for (size_t k = 0; k < front.plans.n; k++) {
                const struct plan *y = front.plans.at[k];
                beaten |= k != i && plan_objective(y, "latency") <= plan_objective(x, "latency") &&
                          plan_objective(y, "throughput") >= plan_objective(x, "throughput") &&
                          plan_objective(y, "processors") <= plan_objective(x, "processors");
            }
        }
        ok(front.plans.n > 1 && !beaten, "of %zu plans, none is beaten in all three",
           front.plans.n);
        ok(fewest == 1 && most > 3, "from one processor to all");
        ok(valid, "all are valid on the whole platform");
    }
    stream_front_free(&front);
    platform_free(p);
    workflow_free(w);
}

/* MOS's inverse against a scan of 65 throughputs. */
static void test_inverse(void)
{
    struct rng rng;
    rng_seed(&rng, 61);
    double sum = 0;
    int runs = 0, missed = 0;
    for (int round = 0; round < 24; round++) {
        static const double ccr[] = {0.1, 1, 10};
        struct workflow *w =
            random_stream(&rng, 5 + (uint32_t)rng_below(&rng, 8), ccr[round % 3], true, 0);
        struct platform *p = equal_nodes(3 + (uint32_t)rng_below(&rng, 6), 2);
        struct stream_graph *g = stream_graph_new(w, p);
        struct stream_problem q;
        stream_problem_init(&q, g, p->ports);
        double most = stream_problem_most(&q), latency[65], rate[65];
        for (int k = 0; k <= 64; k++) {
            struct mos_result r;
            q.throughput = most * k / 64;
            mos_run(&q, &r);
            latency[k] = r.latency;
            rate[k] = r.throughput;
            mos_result_free(&r);
        }
        for (int step = 1; step <= 3; step++) {
            double limit = latency[0] + (latency[64] - latency[0]) * step / 4, best = 0, least;
            for (int k = 0; k <= 64; k++)
                if (latency[k] <= limit * (1 + 1e-9))
                    best = fmax(best, rate[k]);
            struct mos_result r;
            bool found = mos_inverse(&q, limit, &r, &least);
            if (best > 0) {
                runs++;
                missed += !found;
                sum += found ? fmin(r.throughput / best, 2) : 0;
            }
            if (found)
                mos_result_free(&r);
        }
        stream_problem_free(&q);
        stream_graph_free(g);
        platform_free(p);
        workflow_free(w);
    }
    printf("# the inverse reaches %.4f of the scan's best on average over %d\n", sum / runs, runs);
    ok(sum / runs >= 0.97, "the inverse reaches 0.97 of the best of a scan");
    is_int(missed, 0, "and finds a mapping wherever the scan does");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_optimum),   TAP_CASE(test_unequal), TAP_CASE(test_own_ports),
        TAP_CASE(test_baselines), TAP_CASE(test_front),   TAP_CASE(test_inverse),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
