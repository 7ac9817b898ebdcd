/* Orders for clients: the planner's rehearsal against the simulator, to the bit; the planner `order`
 * against all orders of small workflows, each judged by the simulator; never worse than what it
 * knows. */
#include "base/mem.h"
#include "model/builder.h"
#include "plan/order/rehearsal.h"
#include "plan/planner.h"
#include "sim/contest.h"
#include "tap.h"

#include <math.h>

static const char *const patterns[] = {"workers:1", "workers:3",   "single",        "batches:2",
                                       "batches",   "batches:3/1", "poisson:4/0.5", "poisson"};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static struct workflow *random_timed(struct rng *r, uint32_t n, double density, bool times)
{
    struct builder *b = builder_new("<test>", "test");
    struct error err = {0};
    char name[16];
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
        if (times)
            builder_work(b, t, rng_below(r, 5) ? rng_exponential(r, 10) : 0, 0);
    }
    for (uint32_t v = 1; v < n; v++)
        for (uint32_t u = 0; u < v; u++)
            if (rng_unit(r) < density)
                builder_edge(b, u, v, 0);
    return builder_finish(b, &err);
}

static double simulated(const struct workflow *w, const struct clients *c, const uint32_t *order,
                        uint64_t seed)
{
    struct order_options o;
    struct order_result r;
    struct error err = {0};
    order_options_for(&o, c, w);
    o.order = order;
    o.seed = seed;
    return order_run(w, &o, &r, &err) ? r.makespan : NAN;
}

/* A random topological order. */
static void random_order(const struct workflow *w, struct rng *r, uint32_t *order)
{
    uint32_t n = w->ntasks, done = 0;
    uint32_t *missing = mem_new(uint32_t, n);
    for (uint32_t t = 0; t < n; t++)
        missing[t] = w->pred_off[t + 1] - w->pred_off[t];
    while (done < n) {
        uint32_t t = (uint32_t)rng_below(r, n);
        if (missing[t])
            continue;
        missing[t] = NONE;
        order[done++] = t;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            missing[w->succ_task[e]]--;
    }
    free(missing);
}

static void test_witness(void)
{
    struct rng r;
    rng_seed(&r, 3);
    int differ = 0, high = 0;
    for (int i = 0; i < 160; i++) {
        uint32_t n = 1 + (uint32_t)rng_below(&r, i % 8 ? 30 : 300);
        struct workflow *w = random_timed(&r, n, rng_uniform(&r, 0, 0.3), i % 3);
        struct clients c;
        struct error err = {0};
        clients_parse(patterns[i % PATTERNS], w, &c, &err);
        struct rehearsal *x = rehearsal_new(w, &c, (uint64_t)i, 4);
        uint32_t *order = mem_new(uint32_t, n);
        double sum = 0;
        random_order(w, &r, order);
        for (uint32_t s = 0; s < 4; s++) {
            double one = rehearsal_time(x, order, s);
            differ += one != simulated(w, &c, order, rehearsal_seed(x, s));
            sum += one;
        }
        double mean = rehearsal_mean(x, order, NULL);
        differ += fabs(mean - sum / 4) > 1e-12 * mean;
        for (uint32_t k = 0; k < n && k < 20; k++)
            high += rehearsal_bound(x, order, k) > mean * (1 + 1e-12);
        rehearsal_free(x);
        free(order);
        workflow_free(w);
    }
    is_int(differ, 0, "160 workflows: what is rehearsed is what is simulated, to the bit");
    is_int(high, 0, "no bound of a beginning is above what it becomes");
}

/* ---- all orders ---- */

struct every_order {
    const struct workflow *w;
    const struct clients *c;
    const uint64_t *seeds;
    uint32_t nseeds, order[8], missing[8];
    double least;
};

static void every_place(struct every_order *e, uint32_t at)
{
    const struct workflow *w = e->w;
    if (at == w->ntasks) {
        double sum = 0;
        for (uint32_t s = 0; s < e->nseeds; s++)
            sum += simulated(w, e->c, e->order, e->seeds[s]);
        e->least = fmin(e->least, sum / e->nseeds);
        return;
    }
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (e->missing[t])
            continue;
        e->order[at] = t;
        e->missing[t] = NONE;
        for (uint32_t k = w->succ_off[t]; k < w->succ_off[t + 1]; k++)
            e->missing[w->succ_task[k]]--;
        every_place(e, at + 1);
        for (uint32_t k = w->succ_off[t]; k < w->succ_off[t + 1]; k++)
            e->missing[w->succ_task[k]]++;
        e->missing[t] = 0;
    }
}

static struct platform *one_node(void)
{
    struct error err = {0};
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_node(b, "n", 1, 0);
    return platform_builder_finish(b, &err);
}

static struct plan *order_for(const struct workflow *w, const char *clients, const char *effort)
{
    struct error err = {0};
    struct platform *p = one_node();
    struct option_value values[] = {{"clients", clients}, {"effort", effort}};
    struct plan_request request = {
        .workflow = w, .platform = p, .options = values, .noptions = 2, .seed = 11};
    struct plan *plan = planner_run(planner_find("order"), &request, &err);
    if (!plan)
        printf("# %s\n", err.text);
    platform_free(p);
    return plan;
}

static void test_exact(void)
{
    struct rng r, seeds;
    rng_seed(&r, 9);
    int wrong = 0, unproved = 0;
    for (int i = 0; i < 32; i++) {
        uint32_t n = 2 + (uint32_t)rng_below(&r, 5);
        struct workflow *w = random_timed(&r, n, rng_uniform(&r, 0, 0.5), i % 4);
        struct clients c;
        struct error err = {0};
        clients_parse(patterns[i % PATTERNS], w, &c, &err);
        struct plan *plan = order_for(w, patterns[i % PATTERNS], "5");
        unproved += !plan || strcmp(plan->verdict, "TIME_PROVED") != 0;
        /* the scenarios of the planner, as its file says: 64 seeds of this stream */
        uint64_t own[64];
        rng_seed_stream(&seeds, 11, 0x6f72646572);
        rng_seed(&seeds, rng_next(&seeds));
        for (int s = 0; s < 64; s++)
            own[s] = rng_next(&seeds);
        struct every_order e = {.w = w, .c = &c, .seeds = own, .nseeds = 64, .least = INFINITY};
        for (uint32_t t = 0; t < n; t++)
            e.missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        every_place(&e, 0);
        wrong += plan && fabs(plan_objective(plan, "completion") - e.least) > 1e-9 * e.least;
        double mean = 0;
        for (int s = 0; plan && s < 64; s++)
            mean += simulated(w, &c, plan->order.at, own[s]) / 64;
        wrong += fabs(mean - e.least) > 1e-9 * e.least;
        plan_free(plan);
        workflow_free(w);
    }
    is_int(unproved, 0, "32 workflows of 2 to 6 tasks are all searched to the end");
    is_int(wrong, 0, "and no order of all has a smaller mean in the simulator");
}

/* ---- never worse ---- */

static void test_never_worse(void)
{
    struct rng r;
    rng_seed(&r, 21);
    struct platform *p = one_node();
    int worse = 0, compared = 0;
    for (int i = 0; i < 12; i++) {
        struct workflow *w = random_timed(&r, 60, 0.04, true);
        const char *pattern = patterns[1 + i % (PATTERNS - 1)];
        struct plan_request request = {.workflow = w, .platform = p, .seed = 1};
        struct error err = {0};
        struct plan *plans[3] = {planner_run(planner_find("ic"), &request, &err),
                                 planner_run(planner_find("criticalpath"), &request, &err),
                                 order_for(w, pattern, "1")};
        struct clients c;
        struct order_options o;
        clients_parse(pattern, w, &c, &err);
        order_options_for(&o, &c, w);
        struct contest contest = {.w = w, .o = &o, .norders = 3};
        for (int k = 0; k < 3; k++)
            contest.orders[k] = plans[k]->order.at;
        struct repeat_options ro = {.count = 200, .seed = 77, .confidence = 0.999};
        struct repeat_result result;
        contest_run(&contest, &ro, &result, &err);
        for (uint32_t k = 0; k < 2; k++, compared++) {
            struct repeat_ratio ratio = repeat_ratio(&result, contest_column(2, CONTEST_TIME),
                                                     contest_column(k, CONTEST_TIME), 0.999);
            worse += ratio.value - ratio.half_width > 1;
        }
        repeat_result_free(&result);
        for (int k = 0; k < 3; k++)
            plan_free(plans[k]);
        workflow_free(w);
    }
    is_int(worse, 0, "%d comparisons with ic and criticalpath in other scenarios: never worse",
           compared);
    platform_free(p);
}

/* Equal orders give a ratio of exactly 1; pairing makes intervals narrower than apart. */
static void test_pairs(void)
{
    struct rng r;
    rng_seed(&r, 2);
    struct workflow *w = random_timed(&r, 40, 0.05, true);
    uint32_t one[40], two[40];
    struct clients c;
    struct error err = {0};
    struct order_options o;
    random_order(w, &r, one);
    random_order(w, &r, two);
    clients_parse("poisson:2", w, &c, &err);
    order_options_for(&o, &c, w);
    struct contest contest = {.w = w, .o = &o, .norders = 3, .orders = {one, one, two}};
    struct repeat_options ro = {.count = 100, .seed = 5, .confidence = 0.95};
    struct repeat_result result;
    ok(contest_run(&contest, &ro, &result, &err), "three orders in the same 100 scenarios");
    struct repeat_ratio same = repeat_ratio(&result, contest_column(1, CONTEST_TIME),
                                            contest_column(0, CONTEST_TIME), 0.95);
    ok(same.value == 1 && same.half_width == 0, "an order against itself: 1, without doubt");
    ok(!repeat_differs(same), "which is no difference");
    struct repeat_ratio other = repeat_ratio(&result, contest_column(2, CONTEST_TIME),
                                             contest_column(0, CONTEST_TIME), 0.95);
    const struct repeat_metric *x = &result.metrics[contest_column(0, CONTEST_TIME)],
                               *y = &result.metrics[contest_column(2, CONTEST_TIME)];
    double apart = other.value * hypot(x->half_width / x->mean, y->half_width / y->mean);
    ok(other.half_width < apart, "paired +-%.4f, apart +-%.4f", other.half_width, apart);
    repeat_result_free(&result);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_witness),
        TAP_CASE(test_exact),
        TAP_CASE(test_never_worse),
        TAP_CASE(test_pairs),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
