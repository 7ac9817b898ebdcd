#include "sim/order.h"
#include "base/rng.h"
#include "model/builder.h"
#include "sim/repeat.h"
#include "tap.h"

/* AIRSN of width w: a handle of 21 jobs ending in the bottleneck b, w fringe jobs f, first cover c
 * (parents b and f), a join, second cover e, a join. `order` runs the handle first. */
static struct workflow *airsn(uint32_t width, uint32_t *order)
{
    struct builder *b = builder_new("<airsn>", "test");
    uint32_t n = 3 * width + 23, k = 0;
    for (uint32_t i = 0; i < n; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "j%u", i);
        builder_work(b, builder_task(b, name, (size_t)len, 0), 1, 0);
    }
    uint32_t fringe = 21, first = fringe + width, join = first + width, second = join + 1;
    for (uint32_t i = 0; i < 20; i++)
        builder_edge(b, i, i + 1, 0);
    for (uint32_t i = 0; i < width; i++) {
        builder_edge(b, 20, first + i, 0);
        builder_edge(b, fringe + i, first + i, 0);
        builder_edge(b, first + i, join, 0);
        builder_edge(b, join, second + i, 0);
        builder_edge(b, second + i, n - 1, 0);
    }
    for (uint32_t i = 0; i < n; i++)
        order[k++] = i; /* numbered in that order already */
    struct error err = {0};
    return builder_finish(b, &err);
}

struct trial {
    const struct workflow *w;
    struct order_options o;
};

static bool run_trial(void *context, uint32_t i, uint64_t seed, double *values, struct error *err)
{
    (void)i;
    struct trial *t = context;
    struct order_options o = t->o;
    o.seed = seed;
    struct order_result r;
    if (!order_run(t->w, &o, &r, err))
        return false;
    values[0] = r.makespan;
    values[1] = r.stall_probability;
    values[2] = r.utilization;
    return true;
}

static void airsn_table(void)
{
    /* specs/ic-spec.md 7.5: mean times, ratio of means, stalling probabilities, utilisations; 500
     * runs each there */
    struct {
        double bit, bs, prio, fifo, low, high, stall_p, stall_f, util_p, util_f;
    } rows[] = {
        {1, 16, 80.1, 93.4, 0.83, 0.89, .203, .250, .599, .510},
        {1, 8, 110, 137, 0.77, 0.83, .079, .172, .848, .674},
        {0.1, 1, 59.2, 73.8, 0.79, 0.815, .150, .317, .844, .671},
        {1, 2, 311, 345, 0.88, 0.92, .010, .067, .982, .891},
        {0.01, 16, NAN, NAN, 0.98, 1.02, NAN, NAN, NAN, NAN},
    };
    static const char *const names[] = {"time", "stall", "utilisation"};
    uint32_t *order = calloc(773, sizeof *order);
    struct workflow *w = airsn(250, order);
    if (!ok(w && w->ntasks == 773, "AIRSN of width 250 has 773 jobs"))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trial t = {.w = w};
        order_options_init(&t.o);
        t.o.interarrival = rows[i].bit;
        t.o.batch = rows[i].bs;
        struct repeat_options ro = {.count = 500, .seed = 7, .confidence = 0.95};
        struct repeat_result prio, fifo;
        struct error err = {0};
        t.o.order = order;
        ok(repeat_run(&ro, names, 3, run_trial, &t, &prio, &err), "IC order at (%g, %g)",
           rows[i].bit, rows[i].bs);
        t.o.order = NULL;
        ok(repeat_run(&ro, names, 3, run_trial, &t, &fifo, &err), "FIFO at (%g, %g)", rows[i].bit,
           rows[i].bs);
        double ratio = prio.metrics[0].mean / fifo.metrics[0].mean;
        ok(ratio >= rows[i].low && ratio <= rows[i].high, "ratio %.3f in [%g, %g]", ratio,
           rows[i].low, rows[i].high);
        if (!isnan(rows[i].prio)) {
            is_dbl(prio.metrics[0].mean, rows[i].prio, 0.025 * rows[i].prio,
                   "time of the IC order");
            is_dbl(fifo.metrics[0].mean, rows[i].fifo, 0.025 * rows[i].fifo, "time of FIFO");
            is_dbl(prio.metrics[1].mean, rows[i].stall_p, 0.012, "stalling probability, IC order");
            is_dbl(fifo.metrics[1].mean, rows[i].stall_f, 0.012, "stalling probability, FIFO");
            is_dbl(prio.metrics[2].mean, rows[i].util_p, 0.015, "utilisation, IC order");
            is_dbl(fifo.metrics[2].mean, rows[i].util_f, 0.015, "utilisation, FIFO");
        }
        repeat_result_free(&prio);
        repeat_result_free(&fifo);
    }
    free(order);
    workflow_free(w);
}

static void by_hand(void)
{
    /* a -> b, a -> c; a batch of 2 every second, run time exactly 1: a at 1, stalled? at 2 a has
     * ended: b and c */
    struct builder *b = builder_new("<test>", "test");
    builder_task(b, "a", 1, 0);
    builder_task(b, "b", 1, 0);
    builder_task(b, "c", 1, 0);
    builder_edge(b, 0, 1, 0);
    builder_edge(b, 0, 2, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    struct order_options o;
    order_options_init(&o);
    o.arrivals = ARRIVALS_FIXED;
    o.fixed_batch = true;
    o.batch = 2;
    o.deviation = 0;
    struct order_result r;
    ok(order_run(w, &o, &r, &err), "three tasks, two requests a second");
    is_dbl(r.makespan, 3, 1e-12, "a at 1, b and c at 2");
    is_int(r.requests, 4, "four requests");
    is_int(r.stalled_requests, 1, "one found nothing");
    is_int(r.stalled_batches, 0, "no batch found nothing");
    is_dbl(r.utilization, 0.75, 1e-12, "three of four");
    o.run_time = 1.5;
    order_run(w, &o, &r, &err);
    is_dbl(r.makespan, 4.5, 1e-12, "a runs until 2.5, b and c from 3");
    is_dbl(r.stall_probability, 1.0 / 3, 1e-12, "the batch at 2 found nothing");
    o.slow_share = 1;
    o.slow_factor = 2;
    order_run(w, &o, &r, &err);
    is_dbl(r.makespan, 7, 1e-12, "slow clients: until 4, then until 7");
    o.slow_share = 0;
    o.vanish_share = 0.5;
    o.timeout = 3;
    bool good = true;
    uint64_t vanished = 0;
    for (o.seed = 1; o.seed < 50; o.seed++) {
        good = good && order_run(w, &o, &r, &err) && r.assignments == 3 + r.vanished;
        vanished += r.vanished;
    }
    ok(good, "tasks of clients that vanish are given again");
    ok(vanished > 100 && vanished < 200, "about as many vanish as come back (%d)", (int)vanished);

    uint32_t wrong[] = {0, 1, 1}, outside[] = {0, 1, 9}, reversed[] = {2, 1, 0};
    order_options_init(&o);
    o.order = wrong;
    ok(!order_run(w, &o, &r, &err) && err.kind == ERROR_INPUT, "an order that names a task twice");
    error_clear(&err);
    o.order = outside;
    ok(!order_run(w, &o, &r, &err) && err.kind == ERROR_INPUT, "an order of another workflow");
    o.order = reversed;
    ok(order_run(w, &o, &r, &err),
       "an order against the arrows still runs: only eligible tasks are taken");
    o.order = NULL;
    error_clear(&err);
    o.vanish_share = 1;
    ok(!order_run(w, &o, &r, &err) && err.kind == ERROR_INPUT, "all clients vanish");
    error_clear(&err);
    order_options_init(&o);
    o.interarrival = 0;
    ok(!order_run(w, &o, &r, &err) && err.kind == ERROR_INPUT, "no time between batches");
    error_clear(&err);
    order_options_init(&o);
    o.batch = NAN;
    ok(!order_run(w, &o, &r, &err) && err.kind == ERROR_INPUT, "a batch of no size");
    error_clear(&err);
    order_options_init(&o);
    o.most_batches = 1;
    ok(!order_run(w, &o, &r, &err) && err.kind == ERROR_FAILED, "too few batches");
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(by_hand),
        TAP_CASE(airsn_table),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
