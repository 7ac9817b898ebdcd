/* Random plans with copies, noise and failures under every network model: whatever happens, the
 * laws hold. */
#include "random_plan.h"
#include "sim/network.h"
#include "sim/replay.h"
#include "tap.h"

struct seen {
    ARRAY(struct trace_event) tasks;
    ARRAY(struct trace_event) transfers;
};

static void see(void *context, const struct trace_event *e)
{
    struct seen *s = context;
    if (e->kind == TRACE_TASK)
        array_push(&s->tasks, *e);
    else if (e->kind == TRACE_TRANSFER)
        array_push(&s->transfers, *e);
}

static bool overlap(const struct trace_event *a, const struct trace_event *b)
{
    double slack = 1e-9 * (1 + a->finish);
    return a->start < b->finish - slack && b->start < a->finish - slack;
}

static bool cores_exclusive(const struct seen *s, const struct workflow *w)
{
    for (size_t i = 0; i < s->tasks.n; i++)
        for (size_t j = 0; j < i; j++) {
            const struct trace_event *a = &s->tasks.at[i], *b = &s->tasks.at[j];
            if (a->node == b->node && a->lane < b->lane + w->cores[b->id] &&
                b->lane < a->lane + w->cores[a->id] && overlap(a, b))
                return false;
        }
    return true;
}

/* Every object that a successful run read was made on its node, or brought there, before it
 * started. */
static bool data_present(const struct seen *s, const struct workflow *w)
{
    for (size_t i = 0; i < s->tasks.n; i++) {
        const struct trace_event *x = &s->tasks.at[i];
        for (uint32_t e = w->pred_off[x->id]; e < w->pred_off[x->id + 1]; e++) {
            bool there = false;
            for (size_t j = 0; j < s->tasks.n && !there; j++) {
                const struct trace_event *y = &s->tasks.at[j];
                there = y->id == w->pred_task[e] && !y->outcome && y->finish <= x->start &&
                        (w->pred_object[e] == NONE || y->node == x->node);
            }
            for (size_t j = 0; j < s->transfers.n && !there; j++) {
                const struct trace_event *y = &s->transfers.at[j];
                there = y->id == w->pred_object[e] && y->other == x->node && y->finish <= x->start;
            }
            if (!there)
                return false;
        }
    }
    return true;
}

static bool transfers_honest(const struct seen *s, const struct workflow *w,
                             const struct platform *p)
{
    for (size_t i = 0; i < s->transfers.n; i++) {
        const struct trace_event *x = &s->transfers.at[i];
        bool made = false;
        for (size_t j = 0; j < s->tasks.n && !made; j++)
            made = s->tasks.at[j].id == w->producer[x->id] && s->tasks.at[j].node == x->node &&
                   !s->tasks.at[j].outcome && s->tasks.at[j].finish <= x->start + 1e-9;
        double bandwidth, latency; /* `fair` counts from the end of the latency */
        platform_link(p, x->node, x->other, &bandwidth, &latency);
        if (!made || x->finish - x->start < w->size[x->id] / bandwidth * (1 - 1e-9) - 1e-9)
            return false;
        for (size_t j = 0; j < i; j++)
            if (s->transfers.at[j].id == x->id && s->transfers.at[j].other == x->other)
                return false; /* an object travels to a node once */
    }
    return true;
}

static bool ports_kept(const struct seen *s, uint32_t ports, uint32_t nodes)
{
    for (size_t i = 0; i < s->transfers.n; i++) {
        const struct trace_event *x = &s->transfers.at[i];
        for (uint32_t node = 0; node < nodes; node++) {
            /* at the moment x starts */
            uint32_t busy = 0;
            for (size_t j = 0; j < s->transfers.n; j++) {
                const struct trace_event *y = &s->transfers.at[j];
                busy += (y->node == node || y->other == node) && y->start <= x->start + 1e-12 &&
                        y->finish > x->start + 1e-9;
            }
            if (busy > ports)
                return false;
        }
        for (size_t j = 0; j < i; j++) {
            const struct trace_event *y = &s->transfers.at[j];
            bool pair = (y->node == x->node && y->other == x->other) ||
                        (y->node == x->other && y->other == x->node);
            if (pair && overlap(x, y))
                return false;
        }
    }
    return true;
}

int main(void)
{
    struct rng r;
    rng_seed(&r, 77);
    int runs = 0, failures = 0, lost = 0;
    bool good = true;
    bool cores = true, data = true, transfers = true, ports = true, complete = true, adds = true;
    for (int round = 0; round < 90; round++) {
        struct random_shape shape = {.tasks = 10 + (uint32_t)rng_below(&r, 60),
                                     .nodes = 2 + (uint32_t)rng_below(&r, 5),
                                     .degree = 3 * rng_unit(&r),
                                     .ordering = 0.15,
                                     .ccr = 0.3 + round % 4,
                                     .copies = round % 2 ? 0.3 : 0,
                                     .cores = round % 5 == 0 ? 4 : 1,
                                     .links = round % 4 == 0,
                                     .latency = round % 3 ? 0.1 : 0};
        struct workflow *w = random_workflow(&r, &shape);
        struct platform *p = random_platform(&r, &shape);
        struct plan *plan = random_plan(w, p, &r, shape.copies, true);
        struct seen seen = {0};
        struct trace_sink sink = {.event = see, .context = &seen};
        struct replay_options o;
        replay_options_init(&o);
        o.network = network_names[round % 3];
        o.ports = 1 + (uint32_t)rng_below(&r, 3);
        o.seed = (uint64_t)round;
        o.noise = 0.3;
        o.trace = &sink;
        if (round >= 30) {
            o.mtbf = 20 + 40 * rng_unit(&r);
            o.repair = rng_unit(&r);
        }
        struct fault twice[2] = {{0, 1, 2}, {0, 2, 3}}; /* the second while it is down */
        if (round >= 60) {
            o.faults = twice;
            o.nfaults = 2;
        }
        struct replay_result x;
        struct error err = {0};
        if (!replay_run(w, p, plan, &o, &x, &err)) {
            printf("# round %d: %s\n", round, err.text);
            good = false;
        } else {
            runs++;
            failures += (int)x.failures;
            lost += (int)x.tasks_lost;
            for (uint32_t i = 0; i < x.nplacements; i++)
                complete = complete && x.finish[i] >= x.start[i] && x.start[i] >= x.data_ready[i];
            cores = cores && cores_exclusive(&seen, w);
            data = data && data_present(&seen, w);
            transfers = transfers && transfers_honest(&seen, w, p);
            if (strcmp(o.network, "kport") == 0)
                ports = ports && ports_kept(&seen, o.ports, p->nnodes);
            double sum = x.chain_compute + x.chain_data + x.chain_fault + x.chain_idle;
            adds = adds && fabs(sum - x.makespan) < 1e-6;
        }
        replay_result_free(&x);
        array_free(&seen.tasks);
        array_free(&seen.transfers);
        plan_free(plan);
        platform_free(p);
        workflow_free(w);
    }
    ok(good, "%d plans end, through %d failures that cost %d runs", runs, failures, lost);
    ok(failures > 100 && lost > 50, "failures happen in this test");
    ok(complete, "every copy runs, after its data");
    ok(cores, "one task at a time on a core");
    ok(data, "every object is on the node before it is read");
    ok(transfers,
       "transfers start where the object is, are no faster than the link, and happen once");
    ok(ports, "ports and pairs are respected under kport");
    ok(adds, "chains add up");
    return tap_done();
}
