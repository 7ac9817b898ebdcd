#include "sim/replay.h"
#include "random_plan.h"
#include "sim/network.h"
#include "tap.h"

/* a -> b (object of 10 bytes), a -> c (the same object), on two nodes, bandwidth 10, latency 1. */
struct small {
    struct workflow *w;
    struct platform *p;
    struct plan *plan;
};

static struct platform *two_nodes(double memory)
{
    struct platform_builder *b = platform_builder_new("<test>");
    platform_builder_network(b, 10, 1, NAN, 0);
    for (uint32_t i = 0; i < 2; i++) {
        platform_builder_node(b, i ? "y" : "x", 1, 0);
        platform_builder_cores(b, i, 2, 0);
        platform_builder_memory(b, i, memory, 0);
    }
    struct error err = {0};
    return platform_builder_finish(b, &err);
}

static void place(struct plan *plan, uint32_t task, uint32_t node, uint32_t core, double start,
                  double finish)
{
    array_push(&plan->placements, (struct placement){task, 0, node, core, start, finish});
}

/* a makes o, read by b, c, d; b, c, d on node y; c after b on core 0. */
static struct small broadcast(void)
{
    struct builder *b = builder_new("<test>", "test");
    const char *names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        uint32_t t = builder_task(b, names[i], 1, 0);
        builder_work(b, t, i + 1, 0);
        builder_memory(b, t, 60, 0);
    }
    uint32_t o = builder_object(b, "o", 1);
    builder_size(b, o, 10, 0);
    builder_produces(b, 0, o, 0);
    for (uint32_t i = 1; i < 4; i++)
        builder_consumes(b, i, o, 0);
    struct error err = {0};
    struct small s = {builder_finish(b, &err), two_nodes(100), plan_new(PLAN_STATIC)};
    place(s.plan, 0, 0, 0, 0, 1);
    place(s.plan, 1, 1, 0, 3, 5);
    place(s.plan, 2, 1, 0, 5, 8);
    place(s.plan, 3, 1, 1, 3, 7);
    return s;
}

static void small_free(struct small *s)
{
    workflow_free(s->w);
    platform_free(s->p);
    plan_free(s->plan);
}

struct count {
    int tasks, transfers, faults, lost;
    double last;
    bool ordered;
};

static void count_event(void *context, const struct trace_event *e)
{
    struct count *c = context;
    if (e->kind == TRACE_TASK)
        e->outcome ? c->lost++ : c->tasks++;
    else if (e->kind == TRACE_TRANSFER)
        c->transfers++;
    else if (e->kind == TRACE_FAULT)
        c->faults++;
    c->ordered = c->ordered && e->finish >= c->last;
    c->last = e->finish;
}

static void by_hand(void)
{
    struct small s = broadcast();
    struct replay_options o;
    replay_options_init(&o);
    struct count count = {.ordered = true};
    struct trace_sink sink = {.event = count_event, .context = &count};
    o.trace = &sink;
    struct replay_result r;
    struct error err = {0};
    ok(replay_run(s.w, s.p, s.plan, &o, &r, &err), "a broadcast replays %s", err.text);
    is_dbl(r.makespan, 8, 1e-12, "1 + (1 + 10/10) + 2 + 3 = 8");
    is_dbl(r.predicted, 8, 1e-12, "as predicted");
    is_int(r.transfers, 1, "the object travels once for three tasks of one node");
    is_dbl(r.bytes_moved, 10, 0, "10 bytes");
    is_dbl(r.start[3], 3, 1e-12, "d starts when the object is there");
    is_dbl(r.compute, 10, 1e-12, "10 core-seconds of computing");
    is_dbl(r.wait_data, 6, 1e-12, "b and d wait 3 s each for data");
    is_dbl(r.wait_node, 2, 1e-12, "c waits 2 s for its core");
    is_dbl(r.node_peak[1], 120, 0, "b and d together need 120");
    is_int(r.node_exceeded_by[1], 3, "d is the task that exceeds node y");
    is_int(r.node_exceeded_by[0], NONE, "node x is not exceeded");
    ok(r.nchain == 3 && r.chain[0] == 0 && r.chain[1] == 1 && r.chain[2] == 2,
       "the chain is a, b, c");
    ok(fabs(r.chain_compute - 6) < 1e-12 && fabs(r.chain_data - 2) < 1e-12 && r.chain_idle == 0,
       "6 s computing, 2 s waiting for data");
    is_dbl(r.utilization, 10.0 / (4 * 8), 1e-12, "10 core-seconds of 4 cores x 8 s");
    ok(count.tasks == 4 && count.transfers == 1 && count.ordered, "the trace tells it in order");
    is_int(r.events, 5, "four ends and one arrival");
    replay_result_free(&r);
    small_free(&s);
}

static void faults(void)
{
    struct small s = broadcast();
    struct replay_options o;
    replay_options_init(&o);
    struct replay_result r;
    struct error err = {0};
    struct fault at_four = {1, 4, 2};
    o.faults = &at_four;
    o.nfaults = 1;
    struct count count = {.ordered = true};
    struct trace_sink sink = {.event = count_event, .context = &count};
    o.trace = &sink;
    ok(replay_run(s.w, s.p, s.plan, &o, &r, &err), "node y fails at 4 for 2 s");
    is_dbl(r.makespan, 11, 1e-12, "b and d start again at 6: 6 + 2 + 3");
    is_int(r.tasks_lost, 2, "two runs lost");
    is_dbl(r.lost, 2, 1e-12, "2 core-seconds lost");
    is_dbl(r.chain_fault, 3, 1e-12, "3 s of the chain are the failure's");
    is_dbl(r.chain_compute + r.chain_data + r.chain_fault + r.chain_idle, r.makespan, 1e-12,
           "the chain adds up");
    ok(count.lost == 2 && count.faults == 1, "the trace shows both");
    replay_result_free(&r);
    o.trace = NULL;

    struct fault during_transfer = {1, 2, 1};
    o.faults = &during_transfer;
    ok(replay_run(s.w, s.p, s.plan, &o, &r, &err), "node y fails while it receives");
    is_dbl(r.start[1], 5, 1e-12, "the transfer starts again at 3");
    replay_result_free(&r);

    struct fault for_good = {1, 4, INFINITY};
    o.faults = &for_good;
    ok(!replay_run(s.w, s.p, s.plan, &o, &r, &err) && err.kind == ERROR_FAILED,
       "a node that never comes back stops a static plan");
    has_str(err.text, "task 'b' on 'y' waits for its node, which failed",
            "it says who waits for what");
    replay_result_free(&r);
    error_clear(&err);

    struct fault sender[2] = {{0, 1.5, INFINITY}, {1, 1.2, 0.1}};
    o.faults = sender;
    o.nfaults = 2;
    ok(!replay_run(s.w, s.p, s.plan, &o, &r, &err),
       "the sender fails for good in the middle of a transfer");
    has_str(err.text, "waits for object 'o' from node 'x' (node 'x' failed", "and is named");
    replay_result_free(&r);
    error_clear(&err);

    o.faults = NULL;
    o.nfaults = 0;
    o.mtbf = 5;
    o.repair = 1;
    double first = 0;
    for (int i = 0; i < 2; i++) {
        ok(replay_run(s.w, s.p, s.plan, &o, &r, &err), "failures by mean time between them");
        if (i)
            is_dbl(r.makespan, first, 0, "the same seed gives the same failures");
        first = r.makespan;
        replay_result_free(&r);
    }
    o.mtbf = 1e-3;
    o.repair = 0;
    ok(!replay_run(s.w, s.p, s.plan, &o, &r, &err) && err.kind == ERROR_FAILED,
       "a task that can never get through is given up");
    has_str(err.text, "was lost 1000 times", "and named");
    replay_result_free(&r);
    error_clear(&err);
    o.mtbf = 3;
    o.repair = INFINITY;
    ok(!replay_run(s.w, s.p, s.plan, &o, &r, &err) && err.kind == ERROR_FAILED,
       "nodes that fail for good one by one");
    replay_result_free(&r);
    small_free(&s);
}

static void expect_bad(const struct small *s, const struct replay_options *o, enum error_kind kind,
                       const char *part, const char *what)
{
    struct replay_result r;
    struct error err = {0};
    bool good = replay_run(s->w, s->p, s->plan, o, &r, &err);
    ok(!good && err.kind == kind, "%s is refused", what);
    has_str(err.text, part, "%s is named", what);
    replay_result_free(&r);
}

static void bad_input(void)
{
    struct replay_options o;
    replay_options_init(&o);
    struct small s = broadcast();
    struct placement *x = s.plan->placements.at;
    x[1].task = 77;
    expect_bad(&s, &o, ERROR_INPUT, "does not belong to this workflow", "an unknown task");
    x[1].task = 0;
    expect_bad(&s, &o, ERROR_INPUT, "places task 'b' nowhere", "a missing task");
    x[1].task = 1;
    x[1].node = 9;
    expect_bad(&s, &o, ERROR_INPUT, "does not belong to this platform", "an unknown node");
    x[1].node = 1;
    x[1].core = 2;
    expect_bad(&s, &o, ERROR_INPUT, "needs 1 core(s) from core 2", "an unknown core");
    x[1].core = 0;
    x[1].start = NAN;
    expect_bad(&s, &o, ERROR_INPUT, "not a span of time", "a time that is no number");
    x[1].start = 3;
    array_push(&s.plan->placements, (struct placement){1, 1, 1, 1, 9, 11});
    expect_bad(&s, &o, ERROR_INPUT, "two copies on node 'y'", "two copies on one node");
    s.plan->placements.n--;
    array_push(&s.plan->transfers, (struct transfer){0, 1, 0, 1, 3});
    for (int i = 1; i < 4; i++)
        x[i].node = 0;
    expect_bad(&s, &o, ERROR_INPUT, "never on 'y'", "a transfer from a node without the object");
    for (int i = 1; i < 4; i++)
        x[i].node = 1;
    s.plan->transfers.at[0] = (struct transfer){5, 0, 1, 1, 3};
    expect_bad(&s, &o, ERROR_INPUT, "object number 5", "an unknown object");
    s.plan->transfers.at[0] = (struct transfer){0, 1, 1, 1, 3};
    expect_bad(&s, &o, ERROR_INPUT, "starts and ends", "a transfer on one node");
    s.plan->transfers.at[0] = (struct transfer){0, 0, 1, NAN, 3};
    expect_bad(&s, &o, ERROR_INPUT, "not a span of time", "a transfer at no time");
    s.plan->transfers.n = 0;
    o.noise = NAN;
    expect_bad(&s, &o, ERROR_INPUT, "noise", "noise that is no number");
    o.noise = -1;
    expect_bad(&s, &o, ERROR_INPUT, "noise", "negative noise");
    o.noise = 0;
    o.mtbf = -3;
    expect_bad(&s, &o, ERROR_INPUT, "mean time between failures",
               "a negative time between failures");
    o.mtbf = 0;
    struct fault f = {5, 1, 1};
    o.faults = &f;
    o.nfaults = 1;
    expect_bad(&s, &o, ERROR_INPUT, "fault 1 is on node", "a fault on no node");
    f = (struct fault){0, NAN, 1};
    expect_bad(&s, &o, ERROR_INPUT, "fault 1", "a fault at no time");
    o.nfaults = 0;
    o.network = "wifi";
    expect_bad(&s, &o, ERROR_INPUT, "no network model 'wifi'", "an unknown network model");
    o.network = NULL;
    s.plan->kind = PLAN_ORDER;
    expect_bad(&s, &o, ERROR_INPUT, "'order'", "a plan without placements");
    s.plan->kind = PLAN_STATIC;

    /* a planned before its producer on one core */
    x[0].node = 1;
    x[0].start = 20;
    x[0].finish = 21;
    expect_bad(&s, &o, ERROR_FAILED, "task 'b' on 'y' waits for object 'o' of task 'a'",
               "a deadlock");
    small_free(&s);
}

/* ---- an oracle: relax until nothing changes; no queue, no clock ---- */

static double oracle(const struct workflow *w, const struct platform *p, const struct plan *plan,
                     const double *duration, double *finish)
{
    size_t n = plan->placements.n;
    double *start = calloc(n, sizeof *start);
    for (size_t i = 0; i < n; i++)
        finish[i] = duration[i];
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            const struct placement *x = &plan->placements.at[i];
            double at = 0;
            for (size_t j = 0; j < i; j++) { /* the plan is sorted by start */
                const struct placement *y = &plan->placements.at[j];
                bool shares = y->node == x->node && y->core < x->core + w->cores[x->task] &&
                              x->core < y->core + w->cores[y->task];
                if (shares)
                    at = fmax(at, finish[j]);
            }
            for (uint32_t e = w->pred_off[x->task]; e < w->pred_off[x->task + 1]; e++) {
                uint32_t object = w->pred_object[e], from = NONE;
                double there = INFINITY;
                for (size_t k = 0; k < plan->transfers.n; k++)
                    if (plan->transfers.at[k].object == object &&
                        plan->transfers.at[k].to == x->node)
                        from = plan->transfers.at[k].from;
                double earliest = INFINITY;
                size_t sender = 0;
                bool local = false;
                for (size_t j = 0; j < n; j++) {
                    const struct placement *y = &plan->placements.at[j];
                    if (y->task != w->pred_task[e])
                        continue;
                    if (y->node == x->node) {
                        there = fmin(there, finish[j]);
                        local = true;
                    }
                    if (from != NONE && y->node == from)
                        there = fmin(there, finish[j] + platform_transfer(p, from, x->node,
                                                                          w->size[object]));
                    if (finish[j] < earliest) {
                        earliest = finish[j];
                        sender = j;
                    }
                }
                if (object == NONE)
                    there = earliest;
                else if (from == NONE && !local)
                    there = earliest + platform_transfer(p, plan->placements.at[sender].node,
                                                         x->node, w->size[object]);
                at = fmax(at, there);
            }
            if (at != start[i]) {
                start[i] = at;
                finish[i] = at + duration[i];
                changed = true;
            }
        }
    }
    double makespan = 0;
    for (size_t i = 0; i < n; i++)
        makespan = fmax(makespan, finish[i]);
    free(start);
    return makespan;
}

static void against_oracle(void)
{
    struct rng r;
    rng_seed(&r, 5);
    double worst = 0, late = 0;
    int failed = 0, ran = 0;
    bool chains = true, lower = true;
    for (int round = 0; round < 120; round++) {
        struct random_shape shape = {.tasks = 5 + (uint32_t)rng_below(&r, 60),
                                     .nodes = 1 + (uint32_t)rng_below(&r, 6),
                                     .degree = 3 * rng_unit(&r),
                                     .ordering = 0.2,
                                     .ccr = round % 3,
                                     .copies = round % 2 ? 0.3 : 0,
                                     .cores = round % 5 == 0 ? 4 : 1,
                                     .links = round % 4 == 0,
                                     .latency = round % 2 ? 0.1 : 0};
        struct workflow *w = random_workflow(&r, &shape);
        struct platform *p = random_platform(&r, &shape);
        struct plan *plan = random_plan(w, p, &r, shape.copies, round % 3 != 0);
        struct replay_options o;
        replay_options_init(&o);
        o.network = "free";
        o.noise = round % 6 == 5 ? 0.3 : 0;
        o.seed = (uint64_t)round;
        struct replay_result a, b;
        struct error err = {0};
        if (!replay_run(w, p, plan, &o, &a, &err)) {
            printf("# %s\n", err.text);
            failed++;
        } else {
            double *duration = calloc(plan->placements.n, sizeof(double));
            double *finish = calloc(plan->placements.n, sizeof(double));
            for (size_t i = 0; i < plan->placements.n; i++)
                duration[i] = a.finish[i] - a.start[i];
            double want = oracle(w, p, plan, duration, finish);
            for (size_t i = 0; i < plan->placements.n; i++)
                worst = fmax(worst, fabs(finish[i] - a.finish[i]));
            worst = fmax(worst, fabs(want - a.makespan));
            if (o.noise == 0 && plan->transfers.n)
                late = fmax(late, a.makespan - a.predicted);
            double sum = a.chain_compute + a.chain_data + a.chain_fault + a.chain_idle;
            chains = chains && fabs(sum - a.makespan) < 1e-9;
            free(duration);
            free(finish);
            ran++;
            /* contention never helps a fixed order under max-min sharing of one flow a pair at
             * most: only a lone bound */
            o.network = "fair";
            if (replay_run(w, p, plan, &o, &b, &err))
                lower = lower && b.makespan >= a.chain_compute - 1e-9;
            else
                failed++;
            replay_result_free(&b);
        }
        replay_result_free(&a);
        plan_free(plan);
        platform_free(p);
        workflow_free(w);
    }
    is_int(failed, 0, "%d random plans replay", ran);
    ok(worst < 1e-9, "every finish agrees with the oracle (worst %.1e)", worst);
    ok(late < 1e-9, "without noise no valid plan is late under free (%.1e)", late);
    ok(chains, "every chain adds up to its makespan");
    ok(lower, "fair is never below the computing on the chain");
}

/* A file may claim any number of cores: an error, not an allocation. And a workflow may be empty.
 */
static void extremes(void)
{
    struct builder *b = builder_new("<test>", "test");
    builder_work(b, builder_task(b, "a", 1, 0), 1, 0);
    builder_work(b, builder_task(b, "b", 1, 0), 1, 0);
    struct error err = {0};
    struct small s = {builder_finish(b, &err), NULL, plan_new(PLAN_STATIC)};
    enum { CORES = 1 << 24 };
    struct platform_builder *pb = platform_builder_new("<test>");
    for (uint32_t i = 0; i < 2; i++) {
        platform_builder_node(pb, i ? "y" : "x", 1, 0);
        platform_builder_cores(pb, i, CORES, 0);
    }
    s.p = platform_builder_finish(pb, &err);
    if (!ok(s.w && s.p, "two nodes of 2^24 cores %s", err.text))
        return;
    struct replay_options o;
    replay_options_init(&o);
    place(s.plan, 0, 0, CORES - 1, 0, 1);
    place(s.plan, 1, 1, CORES - 1, 0, 1);
    expect_bad(&s, &o, ERROR_INPUT, "more than 16777216 cores", "a plan over 2^25 cores");
    s.plan->placements.at[0].core = s.plan->placements.at[1].core = 3;
    struct replay_result r;
    ok(replay_run(s.w, s.p, s.plan, &o, &r, &err) && r.makespan == 1, "unused cores cost nothing");
    replay_result_free(&r);
    workflow_free(s.w);
    s.w = builder_finish(builder_new("<test>", "test"), &err);
    s.plan->placements.n = 0;
    ok(s.w && replay_run(s.w, s.p, s.plan, &o, &r, &err) && r.makespan == 0, "an empty workflow %s",
       err.text);
    replay_result_free(&r);
    small_free(&s);
}

static void noise(void)
{
    struct rng r;
    rng_seed(&r, 9);
    struct random_shape shape = {.tasks = 3000, .nodes = 1, .degree = 0, .cores = 1};
    struct workflow *w = random_workflow(&r, &shape);
    struct platform *p = random_platform(&r, &shape);
    struct plan *plan = random_plan(w, p, &r, 0, false);
    struct replay_options o;
    replay_options_init(&o);
    o.noise = 0.5;
    struct replay_result a, b, c;
    struct error err = {0};
    replay_run(w, p, plan, &o, &a, &err);
    replay_run(w, p, plan, &o, &b, &err);
    o.seed = 2;
    replay_run(w, p, plan, &o, &c, &err);
    ok(a.makespan == b.makespan && memcmp(a.finish, b.finish, 3000 * sizeof(double)) == 0,
       "the same seed gives the same run to the bit");
    ok(a.makespan != c.makespan, "another seed another run");
    double mean = 0, square = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        double planned = plan->placements.at[i].finish - plan->placements.at[i].start;
        double factor = (a.finish[i] - a.start[i]) / planned;
        mean += factor / 3000;
        square += factor * factor / 3000;
    }
    is_dbl(mean, 1, 0.05, "noise has mean 1");
    is_dbl(sqrt(square - mean * mean), 0.5, 0.08, "and the deviation asked for");
    replay_result_free(&a);
    replay_result_free(&b);
    replay_result_free(&c);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

/* Copies and relays. a on x makes o (10 bytes); b on z reads it; the plan sends x -> y -> z. */
static void relays(void)
{
    struct builder *b = builder_new("<test>", "test");
    builder_work(b, builder_task(b, "a", 1, 0), 1, 0);
    builder_work(b, builder_task(b, "b", 1, 0), 1, 0);
    uint32_t o = builder_object(b, "o", 1);
    builder_size(b, o, 10, 0);
    builder_produces(b, 0, o, 0);
    builder_consumes(b, 1, o, 0);
    struct error err = {0};
    struct small s = {builder_finish(b, &err), NULL, plan_new(PLAN_STATIC)};
    struct platform_builder *pb = platform_builder_new("<test>");
    platform_builder_network(pb, 10, 0, NAN, 0);
    platform_builder_node(pb, "x", 1, 0);
    platform_builder_node(pb, "y", 1, 0);
    platform_builder_node(pb, "z", 1, 0);
    platform_builder_link(pb, 0, 2, 0, 0, 0); /* x and z cannot talk */
    s.p = platform_builder_finish(pb, &err);
    place(s.plan, 0, 0, 0, 0, 1);
    place(s.plan, 1, 2, 0, 3, 4);
    struct replay_options options;
    replay_options_init(&options);
    expect_bad(&s, &options, ERROR_FAILED, "no network between nodes 'x' and 'z'",
               "a pair that cannot talk");
    array_push(&s.plan->transfers, (struct transfer){0, 0, 1, 1, 2});
    array_push(&s.plan->transfers, (struct transfer){0, 1, 2, 2, 3});
    struct replay_result r;
    ok(replay_run(s.w, s.p, s.plan, &options, &r, &err), "an object may be passed on %s", err.text);
    is_dbl(r.makespan, 4, 1e-12, "1 + 1 + 1 + 1");
    is_int(r.transfers, 2, "two transfers");
    replay_result_free(&r);
    small_free(&s);
}

static void partitions(void)
{
    struct small s = broadcast();
    struct plan *plan = plan_new(PLAN_PARTITION);
    uint32_t tasks[] = {0, 3, 2, 1};
    for (int i = 0; i < 4; i++)
        array_push(&plan->tasks, tasks[i]);
    array_push(&plan->parts, (struct part){0, 0, 0, NONE, 1, NAN});
    array_push(&plan->parts, (struct part){3, 1, 1, 1, 3, NAN});
    struct replay_options o;
    replay_options_init(&o);
    struct replay_result r;
    struct error err = {0};
    ok(replay_run(s.w, s.p, plan, &o, &r, &err), "a partition replays %s", err.text);
    is_dbl(r.makespan, 3 + 4 + 3 + 2, 1e-12, "one part after the other, each in sequence");
    is_dbl(r.start[3], 10, 1e-12, "in its own order: b last");
    replay_result_free(&r);
    plan->parts.at[1].node = 7;
    ok(!replay_run(s.w, s.p, plan, &o, &r, &err) && err.kind == ERROR_INPUT,
       "a part on no node is refused");
    replay_result_free(&r);
    plan_free(plan);
    small_free(&s);
}

/* Three producers on one node each send to the other node: one port serialises them, fair sharing
 * stretches them. */
static void contention(void)
{
    struct builder *b = builder_new("<test>", "test");
    for (int i = 0; i < 6; i++) {
        char name[2] = {(char)('a' + i), 0};
        builder_work(b, builder_task(b, name, 1, 0), 1, 0);
    }
    for (uint32_t i = 0; i < 3; i++)
        builder_data_edge(b, i, 3 + i, 10, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    struct platform_builder *pb = platform_builder_new("<test>");
    platform_builder_network(pb, 10, 0, NAN, 0);
    for (uint32_t i = 0; i < 4; i++) {
        char name[2] = {(char)('p' + i), 0};
        platform_builder_node(pb, name, 1, 0);
        platform_builder_cores(pb, i, 3, 0);
    }
    struct platform *p = platform_builder_finish(pb, &err);
    struct plan *plan = plan_new(PLAN_STATIC);
    for (uint32_t i = 0; i < 3; i++)
        place(plan, i, 0, i, 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        place(plan, 3 + i, 1 + i, 0, 2, 3);
    struct replay_options o;
    replay_options_init(&o);
    struct replay_result r;
    double want[] = {3, 5, 5};
    for (int i = 0; network_names[i]; i++) {
        o.network = network_names[i];
        o.ports = 1;
        ok(replay_run(w, p, plan, &o, &r, &err), "three messages leave one node under %s",
           o.network);
        is_dbl(r.makespan, want[i], 1e-9, "makespan under %s", o.network);
        replay_result_free(&r);
    }
    o.network = "kport";
    o.ports = 2;
    replay_run(w, p, plan, &o, &r, &err);
    is_dbl(r.makespan, 4, 1e-9, "two ports: two rounds");
    replay_result_free(&r);
    plan_free(plan);
    platform_free(p);
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(by_hand),        TAP_CASE(faults),     TAP_CASE(bad_input),
        TAP_CASE(against_oracle), TAP_CASE(extremes),   TAP_CASE(noise),
        TAP_CASE(relays),         TAP_CASE(partitions), TAP_CASE(contention),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
