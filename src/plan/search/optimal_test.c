/* `optimal` against plain enumeration, written apart from it: every order of the tasks, every node,
 * every core. */
#include "plan/search/fixture.h"

struct oracle {
    const struct fixture *f;
    bool done[FIXTURE_TASKS];
    uint32_t node[FIXTURE_TASKS];
    double start[FIXTURE_TASKS], finish[FIXTURE_TASKS];
    double available[FIXTURE_NODES][8];
    double best;
};

static double needed_at(const struct oracle *o, uint32_t node, double when)
{
    double sum = 0;
    for (uint32_t t = 0; t < o->f->n; t++)
        if (o->done[t] && o->node[t] == node && o->start[t] <= when && when < o->finish[t])
            sum += o->f->need[t];
    return sum;
}

static bool fits(const struct oracle *o, uint32_t task, uint32_t node, double from)
{
    double room = o->f->memory[node] - o->f->need[task];
    double until = from + o->f->time[task][node];
    if (needed_at(o, node, from) > room)
        return false;
    for (uint32_t t = 0; t < o->f->n; t++)
        if (o->done[t] && o->node[t] == node && o->start[t] > from && o->start[t] < until &&
            needed_at(o, node, o->start[t]) > room)
            return false;
    return true;
}

static double with_memory(const struct oracle *o, uint32_t task, uint32_t node, double from)
{
    if (isinf(o->f->memory[node]) || fits(o, task, node, from))
        return from;
    double best = INFINITY;
    for (uint32_t t = 0; t < o->f->n; t++)
        if (o->done[t] && o->node[t] == node && o->finish[t] > from && o->finish[t] < best &&
            fits(o, task, node, o->finish[t]))
            best = o->finish[t];
    return best;
}

static void enumerate(struct oracle *o, uint32_t count, double length)
{
    const struct fixture *f = o->f;
    if (length >= o->best)
        return;
    if (count == f->n) {
        o->best = length;
        return;
    }
    for (uint32_t t = 0; t < f->n; t++) {
        bool ready = !o->done[t];
        for (uint32_t q = 0; q < f->n && ready; q++)
            ready = f->bytes[q][t] == -1 || o->done[q];
        if (!ready)
            continue;
        for (uint32_t v = 0; v < f->m; v++) {
            if (isinf(f->time[t][v]))
                continue;
            double data = 0;
            for (uint32_t q = 0; q < f->n; q++) {
                if (f->bytes[q][t] == -1)
                    continue;
                double arrival = o->finish[q];
                uint32_t u = o->node[q];
                if (u != v && f->bytes[q][t] >= 0)
                    arrival += f->latency[u][v] + f->bytes[q][t] / f->bandwidth[u][v];
                data = fmax(data, arrival);
            }
            for (uint32_t c = 0; c + f->width[t] <= f->cores[v]; c++) {
                double old[2] = {o->available[v][c], o->available[v][c + f->width[t] - 1]};
                double start = fmax(data, fmax(old[0], old[1]));
                start = with_memory(o, t, v, start);
                double finish = start + f->time[t][v];
                o->done[t] = true;
                o->node[t] = v;
                o->start[t] = start;
                o->finish[t] = finish;
                o->available[v][c] = o->available[v][c + f->width[t] - 1] = finish;
                enumerate(o, count + 1, fmax(length, finish));
                o->available[v][c + f->width[t] - 1] = old[1];
                o->available[v][c] = old[0];
                o->done[t] = false;
            }
        }
    }
}

static void compare(const char *what, const struct fixture_shape *shape, uint32_t graphs)
{
    uint32_t wrong = 0, unproven = 0, invalid = 0, beaten = 0;
    static const char *const others[] = {"heft", "cpop", "minmin", "fastest"};
    for (uint32_t g = 0; g < graphs; g++) {
        struct fixture_shape own = *shape;
        own.tasks = shape->tasks - g % 3;
        own.density = 0.15 + 0.2 * (g % 4);
        own.ccr = g % 5 == 0 ? 5 : g % 5 == 1 ? 0.2 : 1;
        static struct fixture f;
        fixture_build(&f, &own, 1000 * shape->tasks + g);
        struct oracle o = {.f = &f, .best = INFINITY};
        enumerate(&o, 0, 0);
        struct error err = {0};
        struct plan *plan = fixture_plan(&f, "optimal", NULL, NULL, 1, &err);
        if (!plan) {
            printf("# graph %u: %s\n", g, err.text);
            wrong++;
            fixture_free(&f);
            continue;
        }
        double makespan = plan_objective(plan, "makespan");
        if (fabs(makespan - o.best) > 1e-9 * (1 + o.best)) {
            printf("# graph %u: got %.17g, enumeration says %.17g\n", g, makespan, o.best);
            wrong++;
        }
        unproven += plan_objective(plan, "lower_bound") < makespan * (1 - 1e-8) || !plan->notes.n ||
                    !strstr(plan->notes.at[0], "proven optimal");
        invalid += fixture_violations(&f, plan) != 0;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            struct error none = {0};
            struct plan *other = fixture_plan(&f, others[i], NULL, NULL, 1, &none);
            beaten += other && plan_makespan(other) < makespan * (1 - 1e-9);
            plan_free(other);
        }
        plan_free(plan);
        fixture_free(&f);
    }
    is_int(wrong, 0, "%s: equals enumeration on %u graphs", what, graphs);
    is_int(unproven, 0, "%s: and says it is proven", what);
    is_int(invalid, 0, "%s: and the plans are valid", what);
    is_int(beaten, 0, "%s: and no list planner is below", what);
}

/* Sizes that enumeration cannot do: proven, valid, and never above a list planner. */
static void prove_larger(void)
{
    uint32_t unproven = 0, invalid = 0, worse = 0;
    for (uint32_t g = 0; g < 60; g++) {
        struct fixture_shape shape = {.tasks = 7 + g % 3,
                                      .nodes = 2 + g % 2,
                                      .cores = 1,
                                      .density = 0.1 + 0.1 * (g % 6),
                                      .ccr = g % 3,
                                      .fractions = g % 2};
        static struct fixture f;
        fixture_build(&f, &shape, 77000 + g);
        struct error err = {0};
        struct plan *plan = fixture_plan(&f, "optimal", NULL, NULL, 1, &err);
        struct plan *heft = fixture_plan(&f, "heft", NULL, NULL, 1, &err);
        unproven += !plan || plan_objective(plan, "lower_bound") < plan_makespan(plan) * (1 - 1e-8);
        invalid += !plan || fixture_violations(&f, plan);
        worse += plan && heft && plan_makespan(plan) > plan_makespan(heft) * (1 + 1e-9);
        plan_free(plan);
        plan_free(heft);
        fixture_free(&f);
    }
    is_int(unproven, 0, "60 graphs of 7 to 9 tasks on 2 or 3 nodes are proven");
    is_int(invalid, 0, "with valid plans");
    is_int(worse, 0, "none longer than heft's");
}

/* Stopped early: a valid plan, a bound that is not above it, and the same again. */
static void stop_early(void)
{
    struct fixture_shape shape = {.tasks = 30, .nodes = 4, .cores = 1, .density = 0.12, .ccr = 2};
    static struct fixture f;
    fixture_build(&f, &shape, 5);
    struct error err = {0};
    struct plan *a = fixture_plan(&f, "optimal", "states", "50", 1, &err);
    struct plan *b = fixture_plan(&f, "optimal", "states", "50", 1, &err);
    if (ok(a && b, "a search of 50 states gives a plan")) {
        double bound = plan_objective(a, "lower_bound");
        ok(bound > 0 && bound <= plan_makespan(a), "its bound %g is not above its makespan %g",
           bound, plan_makespan(a));
        is_int(fixture_violations(&f, a), 0, "it is valid");
        ok(plan_makespan(a) == plan_makespan(b) && bound == plan_objective(b, "lower_bound"),
           "and the same again");
    }
    plan_free(a);
    plan_free(b);
    fixture_free(&f);
}

/* With ports the bound is that of the free network, and the plan keeps to the ports. */
static void with_ports(void)
{
    uint32_t invalid = 0, above = 0;
    for (uint32_t g = 0; g < 20; g++) {
        struct fixture_shape shape = {
            .tasks = 7, .nodes = 3, .cores = 1, .density = 0.4, .ccr = 2, .ports = 1};
        static struct fixture f;
        fixture_build(&f, &shape, 900 + g);
        struct error err = {0};
        struct plan *plan = fixture_plan(&f, "optimal", NULL, NULL, 1, &err);
        invalid += !plan || fixture_violations(&f, plan);
        above += plan && plan_objective(plan, "lower_bound") > plan_makespan(plan);
        plan_free(plan);
        fixture_free(&f);
    }
    is_int(invalid, 0, "plans under a port limit are valid");
    is_int(above, 0, "and their bounds not above them");
}

int main(void)
{
    compare("identical or related nodes",
            &(struct fixture_shape){.tasks = 7, .nodes = 2, .cores = 1}, 60);
    compare("three nodes",
            &(struct fixture_shape){.tasks = 6, .nodes = 3, .cores = 1, .fractions = true}, 90);
    compare("unrelated times, links that differ",
            &(struct fixture_shape){
                .tasks = 5, .nodes = 3, .cores = 1, .unrelated = true, .links = true},
            90);
    compare("some tasks only on some nodes",
            &(struct fixture_shape){
                .tasks = 6, .nodes = 2, .cores = 1, .restricted = true, .links = true},
            60);
    compare("several cores",
            &(struct fixture_shape){.tasks = 5, .nodes = 2, .cores = 3, .fractions = true}, 60);
    compare("several cores and memory",
            &(struct fixture_shape){.tasks = 5, .nodes = 2, .cores = 3, .memory = true}, 60);
    compare("tasks of two cores",
            &(struct fixture_shape){.tasks = 5, .nodes = 2, .cores = 3, .wide = true}, 60);
    compare("all of it",
            &(struct fixture_shape){.tasks = 5,
                                    .nodes = 2,
                                    .cores = 3,
                                    .wide = true,
                                    .memory = true,
                                    .unrelated = true,
                                    .links = true,
                                    .fractions = true},
            60);
    compare("nodes that cannot talk",
            &(struct fixture_shape){.tasks = 6, .nodes = 3, .cores = 1, .links = true, .cut = true},
            60);
    TAP_DO(prove_larger());
    TAP_DO(stop_early());
    TAP_DO(with_ports());
    return tap_done();
}
