/* Packing: what it returns decodes to the makespan that it says, is a valid plan, is never longer than its start,
 * is the same for the same seed and ends with its moves; and where the load bounds the graph it leaves hardly any
 * node idle, where list scheduling does. */
#include "plan/search/pack.h"
#include "plan/search/fixture.h"
#include <inttypes.h>

struct pack_instance {
    struct fixture f;
    struct costs *costs;
    struct problem *p;
    struct encoding start;
};

/* The start is HEFT's plan. */
static void pack_instance_make(struct pack_instance *x, const struct fixture_shape *shape,
                               uint64_t seed)
{
    struct error err = {0};
    fixture_build(&x->f, shape, seed);
    x->costs = costs_new(x->f.workflow, x->f.platform, &err);
    x->p = problem_new(x->costs);
    x->start = encoding_new(x->p->n);
    struct plan_request request = {.workflow = x->f.workflow, .platform = x->f.platform};
    struct plan *plan = planner_run(planner_find("heft"), &request, &err);
    encoding_from_plan(&x->start, x->p, plan);
    plan_free(plan);
    struct decoder *d = decoder_new(x->p);
    x->start.makespan = decoder_load(d, &x->start);
    decoder_free(d);
}

static void pack_instance_free(struct pack_instance *x)
{
    encoding_free(&x->start);
    problem_free(x->p);
    costs_free(x->costs);
    fixture_free(&x->f);
}

static struct encoding packed(const struct pack_instance *x, uint64_t moves)
{
    struct anneal_limits limits = {.moves = moves, .deadline = INFINITY};
    struct encoding best = encoding_new(x->p->n);
    encoding_copy(&best, &x->start, x->p->n);
    pack_search(x->p, &best, 1, 7, &limits);
    return best;
}

static bool holds(const struct pack_instance *x, const struct encoding *s)
{
    struct decoder *d = decoder_new(x->p);
    bool same = decoder_load(d, s) == s->makespan;
    struct plan *plan = decoder_plan(d);
    same = same && fixture_violations(&x->f, plan) == 0;
    plan_free(plan);
    decoder_free(d);
    return same;
}

static void test_packing(const char *what, const struct fixture_shape *shape)
{
    uint32_t wrong = 0, longer = 0, shorter = 0, other = 0;
    for (uint32_t g = 0; g < 12; g++) {
        struct fixture_shape own = *shape;
        static struct pack_instance x;
        own.density = 0.003 + 0.003 * (g % 4);
        own.ccr = 0.1;
        pack_instance_make(&x, &own, 1200 + g);
        struct encoding a = packed(&x, 4000), b = packed(&x, 4000);
        wrong += !holds(&x, &a);
        longer += !(a.makespan <= x.start.makespan);
        shorter += a.makespan < x.start.makespan;
        other += a.makespan != b.makespan ||
                 memcmp(a.order, b.order, x.p->n * sizeof *a.order) != 0 ||
                 memcmp(a.node, b.node, x.p->n * sizeof *a.node) != 0;
        encoding_free(&a);
        encoding_free(&b);
        pack_instance_free(&x);
    }
    is_int(wrong, 0, "%s: a valid plan of the makespan that is said", what);
    is_int(longer, 0, "%s: never longer than the start", what);
    ok(shorter >= 6, "%s: often shorter than HEFT (%" PRIu32 " of 12)", what, shorter);
    is_int(other, 0, "%s: the same for the same seed", what);
}

/* All work over all speeds: each task's time is the same on all nodes but for their speed. */
static double load_of(const struct pack_instance *x)
{
    double work = 0, speed = 0;
    for (uint32_t t = 0; t < x->p->n; t++)
        work += x->p->least[t];
    for (uint32_t v = 0; v < x->p->m; v++)
        speed += x->p->speed[v];
    return work / speed;
}

static void test_idle_time(void)
{
    double before = 0, after = 0;
    for (uint32_t g = 0; g < 6; g++) {
        static struct pack_instance x;
        pack_instance_make(&x,
                           &(struct fixture_shape){.tasks = 150,
                                                   .nodes = 6,
                                                   .cores = 1,
                                                   .density = 0.01,
                                                   .ccr = 0.3,
                                                   .fractions = true},
                           60 + g);
        struct encoding a = packed(&x, 20000);
        before += (x.start.makespan / load_of(&x) - 1) / 6;
        after += (a.makespan / load_of(&x) - 1) / 6;
        encoding_free(&a);
        pack_instance_free(&x);
    }
    ok(after >= -1e-9 && after < 0.5 * before,
       "idle nodes cost less than half of what they do in HEFT's plans (%.3f of %.3f %%)",
       100 * after, 100 * before);
}

static void test_limits(void)
{
    static struct pack_instance x;
    pack_instance_make(
        &x,
        &(struct fixture_shape){.tasks = 60, .nodes = 4, .cores = 1, .density = 0.02, .ccr = 0.1},
        5);
    struct encoding best = encoding_new(x.p->n);
    encoding_copy(&best, &x.start, x.p->n);
    struct anneal_limits past = {.deadline = 0};
    pack_search(x.p, &best, 1, 7, &past);
    ok(best.makespan == x.start.makespan, "past its deadline it leaves the plan as it was");
    struct anneal_limits done = {.moves = 1000, .deadline = INFINITY, .target = best.makespan};
    is_int(pack_search(x.p, &best, 1, 7, &done), 0, "nothing to do at its target");
    atomic_bool stop = true;
    struct anneal_limits stopped = {.moves = 1000000, .deadline = INFINITY, .stop = &stop};
    ok(pack_search(x.p, &best, 1, 7, &stopped) < 100, "it ends when the user stops it");
    encoding_free(&best);
    pack_instance_free(&x);
    pack_instance_make(
        &x, &(struct fixture_shape){.tasks = 10, .nodes = 3, .cores = 4, .wide = true}, 3);
    ok(!pack_suits(x.p), "tasks of several cores: not asked");
    pack_instance_free(&x);
    pack_instance_make(&x, &(struct fixture_shape){.tasks = 10, .nodes = 3, .cores = 1, .ports = 1},
                       3);
    ok(!pack_suits(x.p), "nor with ports");
    pack_instance_free(&x);
}

int main(void)
{
    test_packing("one core a node",
                 &(struct fixture_shape){.tasks = 120, .nodes = 4, .cores = 1, .fractions = true});
    test_packing("several cores a node",
                 &(struct fixture_shape){.tasks = 120, .nodes = 3, .cores = 4, .fractions = true});
    test_packing("links that differ, unrelated times, tasks that run on few nodes",
                 &(struct fixture_shape){.tasks = 100,
                                         .nodes = 5,
                                         .cores = 1,
                                         .links = true,
                                         .unrelated = true,
                                         .restricted = true,
                                         .fractions = true});
    test_idle_time();
    test_limits();
    return tap_done();
}
