/* MOS: the guarantee on thousands of graphs, Figure 1, the inverse, tasks that may not be
 * replicated. */
#include "plan/stream/mos.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "plan/stream/stream_fixture.h"
#include "tap.h"

static struct plan *plan_at(const char *name, const struct workflow *w, const struct platform *p,
                            const char *option, const char *value, struct error *err)
{
    struct option_value options[] = {{option, value}};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = options, .noptions = 1, .seed = 1};
    return planner_run(planner_find(name), &request, err);
}

/* Every throughput up to Tmax, always; and the plan is what it says. */
static void test_guarantee(void)
{
    static const double fractions[] = {1, 0.75, 0.5, 0.25, 0};
    struct rng rng;
    rng_seed(&rng, 5);
    int missed = 0, invalid = 0, single = 0, runs = 0;
    for (int round = 0; round < 500; round++) {
        static const double ccr[] = {0.1, 1, 10};
        struct workflow *w = random_stream(&rng, 3 + (uint32_t)rng_below(&rng, 10),
                                           ccr[rng_below(&rng, 3)], true, round % 2);
        struct platform *p =
            equal_nodes(1 + (uint32_t)rng_below(&rng, 10), 1u << rng_below(&rng, 3));
        for (size_t k = 0; k < 5; k++, runs++) {
            struct error err = {0};
            char text[32];
            snprintf(text, sizeof text, "%gTmax", fractions[k]);
            struct plan *plan = plan_at("mos", w, p, "throughput", text, &err);
            struct stream_graph *g = stream_graph_new(w, p);
            double wanted = fractions[k] * p->nnodes / g->total;
            stream_graph_free(g);
            if (!plan) {
                printf("# round %d at %s: %s\n", round, text, err.text);
                missed++;
                continue;
            }
            struct check_result r;
            bool good = check_plan(plan, w, p, &r, &err) && !r.total;
            if (!good)
                printf("# round %d at %s: %s\n", round, text,
                       r.total ? r.violations.at[0].detail : err.text);
            invalid += !good;
            missed += !(plan_objective(r.recomputed, "throughput") >= wanted * (1 - 1e-9)) ||
                      plan_objective(r.recomputed, "processors") > p->nnodes;
            single += !plan->pipelined;
            check_result_free(&r);
            plan_free(plan);
        }
        platform_free(p);
        workflow_free(w);
    }
    is_int(invalid, 0, "every plan of %d passes the checker", runs);
    is_int(missed, 0, "every throughput up to Tmax is met");
    ok(single > 0 && single < runs / 5, "the schedule without pipelining wins now and then (%d)",
       single);
}

static void test_figure_1(void)
{
    /* all tasks 10, all edges 8, negligible throughput, two ports: mapping A, not B */
    static const uint8_t edges[][2] = {{0, 1}, {0, 2}, {2, 3}, {2, 4}, {2, 5},
                                       {1, 6}, {3, 6}, {4, 6}, {5, 6}};
    struct builder *b = builder_new("<figure 1>", "test");
    struct error err = {0};
    char name[16];
    for (int i = 0; i < 7; i++)
        builder_work(b, builder_task(b, name, (size_t)sprintf(name, "t%d", i + 1), 0), 10, 0);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        builder_data_edge(b, edges[i][0], edges[i][1], 8, 0);
    struct workflow *w = builder_finish(b, &err);
    struct platform *p = equal_nodes(8, 2);
    struct plan *plan = plan_at("mos", w, p, "throughput", "0", &err);
    if (ok(plan != NULL, "Figure 1 is planned %s", err.text))
        ok(plan_objective(plan, "latency") <= 48 + 1e-9, "Figure 1: latency 48 with two ports (%g)",
           plan_objective(plan, "latency"));
    plan_free(plan);
    plan = plan_at("mos", w, p, "latency", "20", &err);
    ok(!plan && err.kind == ERROR_INFEASIBLE, "a latency that nothing has: %s", err.text);
    has_str(err.text, "the least is", "and says the least there is");
    plan_free(plan);
    error_clear(&err);
    plan = plan_at("mos", w, p, "latency", "70", &err);
    if (ok(plan != NULL, "the latency of one processor can be kept %s", err.text))
        is_dbl(plan_objective(plan, "throughput"), 8.0 / 70, 1e-9, "at Tmax");
    plan_free(plan);
    plan = plan_at("mos", w, p, "throughput", "0.2", &err);
    ok(!plan && err.kind == ERROR_INFEASIBLE, "more than Tmax: %s", err.text);
    plan_free(plan);
    error_clear(&err);
    static const char *const bad[] = {"fast", "-1", "1.5Tmax", "xTmax", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        plan = plan_at("mos", w, p, "throughput", bad[i], &err);
        ok(!plan && err.kind != ERROR_NONE, "throughput %s: %s", bad[i], err.text);
        plan_free(plan);
        error_clear(&err);
    }
    platform_free(p);
    workflow_free(w);
}

/* Past some hundred clusters several merges are done at once, past 1,024 not all pairs are looked
 * at. The guarantee stays. */
static void test_large(void)
{
    static const struct {
        uint32_t tasks, nodes, ports;
        double ccr;
        const char *throughput;
    } cases[] = {{1100, 1040, 2, 1, "0.02Tmax"},
                 {300, 60, 2, 4, "0.6Tmax"},
                 {300, 60, 4, 0.1, "0.5Tmax"},
                 {320, 32, 4, 1, "Tmax"}};
    struct rng rng;
    rng_seed(&rng, 15);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workflow *w = random_stream(&rng, cases[i].tasks, cases[i].ccr, true, 0);
        struct platform *p = equal_nodes(cases[i].nodes, cases[i].ports);
        struct error err = {0};
        struct check_result r;
        struct plan *plan = plan_at("mos", w, p, "throughput", cases[i].throughput, &err);
        if (!ok(plan, "%u tasks on %u nodes at %s %s", cases[i].tasks, cases[i].nodes,
                cases[i].throughput, err.text))
            continue;
        double total = 0;
        for (uint32_t t = 0; t < w->ntasks; t++)
            total += w->work[t];
        double fraction = i == 3 ? 1 : atof(cases[i].throughput);
        ok(check_plan(plan, w, p, &r, &err) && !r.total, "valid");
        ok(plan_objective(r.recomputed, "throughput") >= fraction * p->nnodes / total * (1 - 1e-9),
           "the throughput is met");
        ok(plan_objective(r.recomputed, "processors") <= p->nnodes, "on the nodes there are");
        check_result_free(&r);
        plan_free(plan);
        platform_free(p);
        workflow_free(w);
    }
}

/* Slots, times, cycle times and components, one by one. */
static bool same_estimates(const struct stream_estimate *a, const struct stream_estimate *b)
{
    bool same = a->messages.n == b->messages.n && a->ports.n == b->ports.n &&
                a->component.n == b->component.n && a->latency == b->latency &&
                a->throughput == b->throughput && a->cycle == b->cycle &&
                a->slow_cluster == b->slow_cluster && a->slow_channel == b->slow_channel;
    for (size_t i = 0; same && i < a->messages.n; i++) {
        const struct stream_message *x = &a->messages.at[i], *y = &b->messages.at[i];
        same = x->edge == y->edge && x->from == y->from && x->to == y->to &&
               x->from_channel == y->from_channel && x->to_channel == y->to_channel &&
               x->start == y->start && x->begin == y->begin && x->end == y->end &&
               memcmp(x->before, y->before, sizeof x->before) == 0;
    }
    for (size_t i = 0; same && i < a->ports.n; i++)
        same = a->ports.at[i].cluster == b->ports.at[i].cluster &&
               a->ports.at[i].channel == b->ports.at[i].channel &&
               a->ports.at[i].cycle == b->ports.at[i].cycle;
    for (size_t i = 0; same && i < a->component.n; i++)
        same = a->component.at[i] == b->component.at[i] && a->member.at[i] == b->member.at[i];
    return same;
}

/* Merges of mappings without and with duplicates: what they say of clusters is what a count from the
 * start says, to the last bit. */
static void test_merges(void)
{
    struct rng rng;
    rng_seed(&rng, 21);
    int unlike = 0, merges = 0;
    for (int round = 0; round < 60; round++) {
        struct workflow *w = random_stream(&rng, 20, 1, round % 3, 0);
        struct platform *p = equal_nodes(20, 2);
        struct stream_graph *g = stream_graph_new(w, p);
        struct stream_problem q;
        stream_problem_init(&q, g, p->ports);
        q.throughput = 0.3 * stream_problem_most(&q);
        struct stream_state s, t;
        state_init(&s, w->ntasks);
        state_init(&t, w->ntasks);
        state_single(&s, &q);
        for (int step = 0; step < 18; step++) {
            uint32_t a = (uint32_t)rng_below(&rng, s.nclusters),
                     b = (uint32_t)rng_below(&rng, s.nclusters);
            if (a == b || !s.size[a] || !s.size[b])
                continue;
            if (round % 2 && step % 3 == 2)
                state_add(&s, &q, (uint32_t)rng_below(&rng, w->ntasks), a);
            else
                state_merge(&s, &q, a, b);
            state_copy(&t, &s);
            state_refresh(&t, &q);
            merges++;
            bool same = s.need == t.need && s.processors == t.processors &&
                        s.clusters == t.clusters && s.possible == t.possible;
            for (uint32_t c = 0; same && c < s.nclusters; c++)
                same = s.time[c] == t.time[c] && s.size[c] == t.size[c] &&
                       s.fixed[c] == t.fixed[c] && s.procs[c] == t.procs[c] &&
                       s.extra[c] == t.extra[c];
            for (uint32_t k = 0; same && k < w->ntasks; k++)
                same = state_has(&s, k, s.home[k]);
            unlike += !same;
        }
        state_free(&s);
        state_free(&t);
        stream_problem_free(&q);
        stream_graph_free(g);
        platform_free(p);
        workflow_free(w);
    }
    ok(merges > 500, "%d moves", merges);
    is_int(unlike, 0,
           "times, replicas and processors after each are those of a count from the start");
}

/* The incremental estimate is the full one. */
static void test_incremental(void)
{
    struct rng rng;
    rng_seed(&rng, 9);
    int wrong = 0, tries = 0, unlike = 0, refused = 0;
    for (int round = 0; round < 60; round++) {
        struct workflow *w = random_stream(&rng, 20, 1, true, round % 2);
        struct platform *p = equal_nodes(20, 1 + (uint32_t)rng_below(&rng, 3));
        struct stream_graph *g = stream_graph_new(w, p);
        struct stream_problem q;
        stream_problem_init(&q, g, p->ports);
        struct stream_state s, t;
        struct stream_estimate base = {0}, quick = {0}, full = {0};
        state_init(&s, w->ntasks);
        state_init(&t, w->ntasks);
        state_single(&s, &q);
        state_estimate(&s, &q, INFINITY, NULL, &base);
        for (int step = 0; step < 15 && s.clusters > 2; step++) {
            uint32_t a = (uint32_t)rng_below(&rng, s.nclusters),
                     b = (uint32_t)rng_below(&rng, s.nclusters);
            state_copy(&t, &s);
            if (a == b)
                continue;
            if (rng_below(&rng, 2))
                state_merge(&t, &q, a, b);
            else
                state_add(&t, &q, (uint32_t)rng_below(&rng, w->ntasks), a);
            state_estimate(&t, &q, INFINITY, &base, &quick);
            double latency = t.latency, rate = t.rate;
            state_estimate(&t, &q, INFINITY, NULL, &full);
            wrong += latency != t.latency || rate != t.rate || !same_estimates(&quick, &full);
            tries++;
            /* bounds that it just keeps do not refuse it */
            double hair = 1 + STREAM_TOLERANCE;
            refused += !state_estimate_above(&t, &q, latency * hair, rate, &base, &quick) ||
                       !state_estimate_above(&t, &q, latency * hair, rate, NULL, &full);
            refused += state_estimate_above(&t, &q, latency / hair, 0, &base, &quick) ||
                       state_estimate_above(&t, &q, INFINITY, rate * (hair + 1e-8), &base, &quick);
            /* made, it is the next base, numbered without gaps, as if estimated anew */
            state_copy(&s, &t);
            state_perform(&s, &q, &base, &quick, false);
            state_estimate(&s, &q, INFINITY, NULL, &full);
            unlike += !same_estimates(&base, &full);
        }
        state_free(&s);
        state_free(&t);
        stream_estimate_free(&base);
        stream_estimate_free(&quick);
        stream_estimate_free(&full);
        stream_problem_free(&q);
        stream_graph_free(g);
        platform_free(p);
        workflow_free(w);
    }
    is_int(wrong, 0, "%d incremental estimates equal the full ones", tries);
    is_int(refused, 0, "bounds refuse exactly what is beyond them");
    is_int(unlike, 0, "and those of moves that were made, under their new numbers");
}

/* A copy that comes late feeds only what ends early: x 0 to 60, a' 60 to 61, b 61 to 62 beside a 0
 * to 1, c 1 to 51. What follows a elsewhere says nothing about a'. */
static void test_late_copy(void)
{
    static const double work[] = {1, 1, 50, 60};
    struct builder *b = builder_new("<late copy>", "test");
    struct error err = {0};
    for (int i = 0; i < 4; i++)
        builder_work(b, builder_task(b, &"abcx"[i], 1, 0), work[i], 0);
    builder_data_edge(b, 0, 1, 1, 0);
    builder_data_edge(b, 0, 2, 1, 0);
    builder_data_edge(b, 3, 1, 1, 0);
    struct workflow *w = builder_finish(b, &err);
    struct platform *p = equal_nodes(4, 2);
    struct stream_graph *g = stream_graph_new(w, p);
    struct stream_problem q;
    stream_problem_init(&q, g, p->ports);
    struct stream_state s;
    struct stream_estimate e = {0};
    state_init(&s, w->ntasks);
    state_single(&s, &q);
    state_merge(&s, &q, 0, 2);
    state_merge(&s, &q, 1, 3);
    state_add(&s, &q, 0, 1);
    ok(state_estimate(&s, &q, 62.5, NULL, &e), "a limit above the latency refuses nothing");
    is_dbl(s.latency, 62, 1e-9, "which is as drawn");
    ok(!state_estimate(&s, &q, 61.5, NULL, &e), "a limit below it does");
    state_free(&s);
    stream_estimate_free(&e);
    stream_problem_free(&q);
    stream_graph_free(g);
    platform_free(p);
    workflow_free(w);
}

static void test_not_replicable(void)
{
    struct rng rng;
    rng_seed(&rng, 11);
    int met = 0, wrong = 0;
    for (int round = 0; round < 150; round++) {
        struct workflow *w =
            random_stream(&rng, 4 + (uint32_t)rng_below(&rng, 6), 0.5, round % 3 == 0, 0);
        struct platform *p = equal_nodes(2 + (uint32_t)rng_below(&rng, 5), 2);
        struct error err = {0};
        struct plan *plan =
            plan_at("mos", w, p, "throughput", round % 2 ? "0.5Tmax" : "0.9Tmax", &err);
        if (plan) {
            struct check_result r;
            met++;
            wrong += !check_plan(plan, w, p, &r, &err) || r.total;
            check_result_free(&r);
        } else {
            wrong += err.kind != ERROR_INFEASIBLE;
        }
        plan_free(plan);
        platform_free(p);
        workflow_free(w);
    }
    is_int(wrong, 0, "plans of tasks that may not be replicated are valid, or none is claimed");
    ok(met > 50, "%d of 150 met", met);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_figure_1),  TAP_CASE(test_merges),    TAP_CASE(test_incremental),
        TAP_CASE(test_large),     TAP_CASE(test_guarantee), TAP_CASE(test_not_replicable),
        TAP_CASE(test_late_copy),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
