/* Bounds against plain enumeration, written apart from them: every order, node and core, with one copy
 * of each task and, on smaller graphs, with any number. No bound may exceed the best that enumeration
 * finds, with many steps or with few; and the bounds must be worth having. */
#include "plan/search/bounds.h"
#include "plan/search/fixture.h"

/* ---- the oracle ---- */

struct bounds_oracle {
    const struct fixture *f;
    bool copies;
    uint32_t at[FIXTURE_TASKS];                  /* how many copies it has */
    double finish[FIXTURE_TASKS][FIXTURE_NODES]; /* of the copy on a node; INFINITY: none */
    double available[FIXTURE_NODES][8];
    double best;
};

/* When what `from` makes can be on node v, from whichever copy is first. */
static double oracle_arrival(const struct bounds_oracle *o, uint32_t from, uint32_t to, uint32_t v)
{
    const struct fixture *f = o->f;
    double first = INFINITY;
    for (uint32_t u = 0; u < f->m; u++) {
        double there = o->finish[from][u];
        if (isfinite(there) && u != v && f->bytes[from][to] >= 0)
            there += f->latency[u][v] + f->bytes[from][to] / f->bandwidth[u][v];
        first = fmin(first, there);
    }
    return first;
}

static double oracle_ready(const struct bounds_oracle *o, uint32_t t, uint32_t v)
{
    double ready = 0;
    for (uint32_t q = 0; q < o->f->n; q++)
        if (o->f->bytes[q][t] != -1)
            ready = fmax(ready, oracle_arrival(o, q, t, v));
    return ready;
}

/* Every schedule that is built by adding a copy at its earliest start after what its cores hold, in any
 * order; `length` is the end of the latest. */
static void oracle_enumerate(struct bounds_oracle *o, uint32_t distinct, double length)
{
    const struct fixture *f = o->f;
    if (length >= o->best)
        return;
    if (distinct == f->n) {
        o->best = length;
        return;
    }
    for (uint32_t t = 0; t < f->n; t++)
        for (uint32_t v = 0; v < f->m; v++) {
            if ((o->at[t] && !o->copies) || isfinite(o->finish[t][v]) || isinf(f->time[t][v]))
                continue;
            double ready = oracle_ready(o, t, v);
            for (uint32_t c = 0; isfinite(ready) && c + f->width[t] <= f->cores[v]; c++) {
                uint32_t last = c + f->width[t] - 1;
                double old[2] = {o->available[v][c], o->available[v][last]};
                double finish = fmax(ready, fmax(old[0], old[1])) + f->time[t][v];
                o->available[v][c] = o->available[v][last] = o->finish[t][v] = finish;
                o->at[t]++;
                oracle_enumerate(o, distinct + (o->at[t] == 1), fmax(length, finish));
                o->at[t]--;
                o->finish[t][v] = INFINITY;
                o->available[v][last] = old[1];
                o->available[v][c] = old[0];
            }
        }
}

static double oracle_optimum(const struct fixture *f, bool copies, double known)
{
    static struct bounds_oracle o;
    o = (struct bounds_oracle){.f = f, .copies = copies, .best = known};
    for (uint32_t t = 0; t < f->n; t++)
        for (uint32_t v = 0; v < f->m; v++)
            o.finish[t][v] = INFINITY;
    oracle_enumerate(&o, 0, 0);
    return o.best;
}

/* ---- the comparison ---- */

struct bounds_sums {
    uint32_t graphs, single_wrong, copies_wrong, order_wrong, cut_wrong, late_wrong, exact;
    double simple, single; /* sums of bound / optimum */
};

static struct problem *problem_of(const struct fixture *f, struct costs **costs)
{
    struct error err = {0};
    *costs = costs_new(f->workflow, f->platform, &err);
    return *costs ? problem_new(*costs) : NULL;
}

static void judge_graph(struct bounds_sums *sums, const struct fixture *f, bool copies, uint32_t g)
{
    struct costs *costs;
    struct problem *p = problem_of(f, &costs);
    if (!p)
        return;
    double optimum = oracle_optimum(f, false, INFINITY);
    double copied = copies ? oracle_optimum(f, true, optimum * (1 + 1e-12)) : optimum;
    /* a makespan to prove against: the optimum, more, or none at all */
    double known = g % 3 == 0 ? INFINITY : g % 3 == 1 ? optimum : 1.5 * optimum;
    struct bounds b = bounds_find(p, 100000000, INFINITY, known),
                  few = bounds_find(p, 0, INFINITY, known),
                  late = bounds_find(p, 100000000, 0, known);
    double slack = 1 + 1e-9;
    sums->graphs++;
    if (b.single.value > optimum * slack || b.copies.value > copied * slack)
        printf("# graph %u: %.10g (%s) of %.10g, with copies %.10g (%s) of %.10g\n", g,
               b.single.value, bound_kind_name(b.single.kind), optimum, b.copies.value,
               bound_kind_name(b.copies.kind), copied);
    sums->single_wrong += b.single.value > optimum * slack;
    sums->copies_wrong += copies && b.copies.value > copied * slack;
    sums->order_wrong += b.copies.value > b.single.value * slack;
    sums->cut_wrong += few.single.value > b.single.value * slack ||
                       few.copies.value > b.copies.value * slack || !few.cut || b.cut;
    sums->late_wrong +=
        late.single.value > b.single.value * slack || late.copies.value > b.copies.value * slack;
    sums->exact += b.single.value >= optimum / slack;
    if (optimum > 0) {
        sums->simple += problem_bound(p) / optimum;
        sums->single += b.single.value / optimum;
    }
    problem_free(p);
    costs_free(costs);
}

static void bounds_of(const char *what, const struct fixture_shape *shape, uint32_t graphs,
                      bool copies)
{
    struct bounds_sums sums = {0};
    for (uint32_t g = 0; g < graphs; g++) {
        struct fixture_shape own = *shape;
        own.tasks = shape->tasks - g % 3;
        own.density = 0.2 + 0.2 * (g % 4);
        own.ccr = g % 5 == 0 ? 5 : g % 5 == 1 ? 0.2 : 1;
        static struct fixture f;
        fixture_build(&f, &own, 77000 + 1000 * shape->tasks + g);
        judge_graph(&sums, &f, copies, g);
        fixture_free(&f);
    }
    printf("# %s: the cheap bounds reach %.4f of the optimum, these %.4f; %u of %u exactly\n", what,
           sums.simple / sums.graphs, sums.single / sums.graphs, sums.exact, sums.graphs);
    is_int(sums.single_wrong, 0, "%s: %u graphs, no bound above the optimum", what, sums.graphs);
    if (copies)
        is_int(sums.copies_wrong, 0, "%s: nor above that of plans with copies", what);
    is_int(sums.order_wrong, 0, "%s: copies never lengthen a plan", what);
    is_int(sums.cut_wrong, 0, "%s: fewer steps give no higher bound, and say so", what);
    is_int(sums.late_wrong, 0, "%s: nor does a deadline that has passed", what);
    ok(sums.single >= sums.simple * (1 - 1e-9), "%s: better than the cheap bounds", what);
}

/* Three tasks of 1 s each read two more, 10 s away, and feed one that is 4 s away: where all ten run on
 * one node the last begins after 9 s, and where one of the three comes from elsewhere after 7. To begin
 * before 7 all three must be here, and so must the six; one way at a time, each of the six seems to get
 * by with 4 s. */
static void what_is_forced_forces_more(void)
{
    struct builder *b = builder_new("<forced>", "forced");
    uint32_t last = builder_task(b, "v", 1, 0);
    builder_work(b, last, 1, 0);
    for (uint32_t i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "u%u", i);
        uint32_t middle = builder_task(b, name, strlen(name), 0);
        builder_work(b, middle, 1, 0);
        builder_data_edge(b, middle, last, 4, 0);
        for (uint32_t k = 0; k < 2; k++) {
            snprintf(name, sizeof name, "y%u%u", i, k);
            uint32_t first = builder_task(b, name, strlen(name), 0);
            builder_work(b, first, 1, 0);
            builder_data_edge(b, first, middle, 10, 0);
        }
    }
    struct error err = {0};
    struct fixture f = {.workflow = builder_finish(b, &err)};
    struct platform_builder *pb = platform_builder_new("<forced>");
    platform_builder_network(pb, 1, 0, NAN, 0);
    for (uint32_t v = 0; v < 3; v++) {
        char name[8];
        snprintf(name, sizeof name, "n%u", v);
        platform_builder_node(pb, name, strlen(name), 0);
    }
    f.platform = platform_builder_finish(pb, &err);
    struct costs *costs;
    struct problem *p = problem_of(&f, &costs);
    struct bounds bounds = bounds_find(p, 100000000, INFINITY, INFINITY);
    is_dbl(bounds.copies.value, 8, 1e-9, "what is forced forces more, with copies");
    is_dbl(bounds.single.value, 8, 1e-9, "and with one copy of each task");
    is_str(bound_kind_name(bounds.copies.kind), "path with communication", "by what travels");
    struct plan *plan = fixture_plan(&f, "auto", "budget", "20000moves", 1, &err);
    is_dbl(plan_makespan(plan), 8, 1e-9, "a plan is as short as that");
    plan_free(plan);
    problem_free(p);
    costs_free(costs);
    fixture_free(&f);
}

int main(void)
{
    TAP_DO(what_is_forced_forces_more());
    bounds_of("equal nodes", &(struct fixture_shape){.tasks = 6, .nodes = 3, .cores = 1}, 240,
              false);
    bounds_of("links and fractions",
              &(struct fixture_shape){
                  .tasks = 6, .nodes = 3, .cores = 1, .links = true, .fractions = true},
              240, false);
    bounds_of("times of their own",
              &(struct fixture_shape){
                  .tasks = 6, .nodes = 3, .cores = 1, .unrelated = true, .restricted = true},
              240, false);
    bounds_of("several cores",
              &(struct fixture_shape){.tasks = 5, .nodes = 2, .cores = 3, .wide = true}, 160,
              false);
    bounds_of("one node", &(struct fixture_shape){.tasks = 6, .nodes = 1, .cores = 1}, 12, false);
    bounds_of("copies", &(struct fixture_shape){.tasks = 5, .nodes = 2, .cores = 1}, 240, true);
    bounds_of("copies on three nodes",
              &(struct fixture_shape){.tasks = 4, .nodes = 3, .cores = 1, .fractions = true}, 240,
              true);
    bounds_of("copies, times of their own",
              &(struct fixture_shape){
                  .tasks = 5, .nodes = 2, .cores = 1, .unrelated = true, .links = true},
              240, true);
    return tap_done();
}
