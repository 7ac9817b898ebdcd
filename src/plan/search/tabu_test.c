/* Tabu search: what it returns decodes to the makespan that it says, is a valid plan, is never longer than
 * its start, the same for the same seed, and on graphs whose data take as long as the tasks shorter than
 * what annealing finds with as many moves. */
#include "plan/search/tabu.h"
#include "plan/search/fixture.h"

struct tabu_instance {
    struct fixture f;
    struct costs *costs;
    struct problem *p;
    struct encoding start;
};

static void tabu_instance_make(struct tabu_instance *x, const struct fixture_shape *shape,
                               uint64_t seed)
{
    struct error err = {0};
    fixture_build(&x->f, shape, seed);
    x->costs = costs_new(x->f.workflow, x->f.platform, &err);
    x->p = problem_new(x->costs);
    x->start = encoding_new(x->p->n);
    struct decoder *d = decoder_new(x->p);
    for (uint32_t t = 0; t < x->p->n; t++) {
        x->start.order[t] = x->p->topo[t];
        uint32_t v = t % x->p->m; /* dealt out, where a task can run */
        while (!isfinite(x->f.time[t][v]))
            v = (v + 1) % x->p->m;
        x->start.node[t] = v;
    }
    x->start.makespan = decoder_load(d, &x->start);
    decoder_free(d);
}

static void tabu_instance_free(struct tabu_instance *x)
{
    encoding_free(&x->start);
    problem_free(x->p);
    costs_free(x->costs);
    fixture_free(&x->f);
}

static struct encoding searched(const struct tabu_instance *x, uint64_t moves, bool tabu)
{
    struct anneal_limits limits = {.moves = moves, .deadline = INFINITY};
    struct encoding best = encoding_new(x->p->n);
    encoding_copy(&best, &x->start, x->p->n);
    if (tabu)
        tabu_search(x->p, &best, &x->start, 1, 7, &limits);
    else
        anneal(x->p, &best, &x->start, 1, 1, 7, &limits);
    return best;
}

/* True: it is a plan of that makespan. */
static bool holds(const struct tabu_instance *x, const struct encoding *s)
{
    struct decoder *d = decoder_new(x->p);
    bool same = decoder_load(d, s) == s->makespan;
    struct plan *plan = decoder_plan(d);
    same = same && fixture_violations(&x->f, plan) == 0;
    plan_free(plan);
    decoder_free(d);
    return same;
}

static void test_searches(const char *what, const struct fixture_shape *shape)
{
    uint32_t wrong = 0, longer = 0, shorter = 0, other = 0;
    enum { GRAPHS = 12 };
    for (uint32_t g = 0; g < GRAPHS; g++) {
        struct fixture_shape own = *shape;
        static struct tabu_instance x;
        own.density = 0.02 + 0.02 * g;
        own.ccr = g % 3 ? 2 : 0.5;
        tabu_instance_make(&x, &own, 900 + g);
        if (isfinite(x.start.makespan)) {
            struct encoding a = searched(&x, 4000, true), b = searched(&x, 4000, true);
            wrong += !holds(&x, &a);
            longer += !(a.makespan <= x.start.makespan);
            shorter += a.makespan < x.start.makespan;
            other += a.makespan != b.makespan ||
                     memcmp(a.order, b.order, x.p->n * sizeof *a.order) != 0 ||
                     memcmp(a.node, b.node, x.p->n * sizeof *a.node) != 0;
            encoding_free(&a);
            encoding_free(&b);
        } else {
            shorter++; /* some pairs cannot talk: there is nothing to begin with */
        }
        tabu_instance_free(&x);
    }
    is_int(wrong, 0, "%s: a valid plan of the makespan that is said", what);
    is_int(longer, 0, "%s: never longer than the start", what);
    is_int(shorter, GRAPHS, "%s: shorter than tasks dealt out", what);
    is_int(other, 0, "%s: the same for the same seed", what);
}

static void test_shorter_than_annealing(void)
{
    double ratio = 1;
    for (uint32_t g = 0; g < 6; g++) {
        static struct tabu_instance x;
        tabu_instance_make(
            &x,
            &(struct fixture_shape){
                .tasks = 64, .nodes = 8, .cores = 1, .density = 0.05, .ccr = 1, .fractions = true},
            40 + g);
        struct encoding a = searched(&x, 20000, true), b = searched(&x, 20000, false);
        ratio *= pow(a.makespan / b.makespan, 1.0 / 6);
        encoding_free(&a);
        encoding_free(&b);
        tabu_instance_free(&x);
    }
    ok(ratio < 1, "shorter than annealing with as many moves (%.4f)", ratio);
}

static void test_refused(void)
{
    static struct tabu_instance x;
    tabu_instance_make(
        &x, &(struct fixture_shape){.tasks = 10, .nodes = 3, .cores = 4, .wide = true}, 3);
    struct encoding a = searched(&x, 100, true);
    ok(!tabu_suits(x.p) && a.makespan == x.start.makespan,
       "nodes of several cores: not asked, nothing done");
    encoding_free(&a);
    tabu_instance_free(&x);
    tabu_instance_make(&x, &(struct fixture_shape){.tasks = 10, .nodes = 3, .cores = 1, .ports = 1},
                       3);
    ok(!tabu_suits(x.p), "nor with ports");
    tabu_instance_free(&x);
}

int main(void)
{
    test_searches("one core a node", &(struct fixture_shape){.tasks = 50, .nodes = 4, .cores = 1});
    test_searches("links that differ, unrelated times, tasks that run on few nodes",
                  &(struct fixture_shape){.tasks = 50,
                                          .nodes = 5,
                                          .cores = 1,
                                          .links = true,
                                          .unrelated = true,
                                          .restricted = true,
                                          .fractions = true});
    test_searches(
        "pairs that cannot talk",
        &(struct fixture_shape){
            .tasks = 30, .nodes = 6, .cores = 1, .links = true, .cut = true, .fractions = true});
    test_searches("two nodes", &(struct fixture_shape){.tasks = 40, .nodes = 2, .cores = 1});
    test_shorter_than_annealing();
    test_refused();
    return tap_done();
}
