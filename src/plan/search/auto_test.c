/* `auto`: valid, never longer than any other planner of static plans, and reproducible when its budget
 * is in moves. The planners are those of the table, so that a new one is compared, too. */
#include "plan/search/anneal.h"
#include "plan/search/fixture.h"
#include "plan/search/portfolio.h"

static bool same_plan(const struct plan *a, const struct plan *b)
{
    if (a->placements.n != b->placements.n || a->transfers.n != b->transfers.n)
        return false;
    for (size_t i = 0; i < a->placements.n; i++) {
        const struct placement *x = &a->placements.at[i], *y = &b->placements.at[i];
        if (x->task != y->task || x->node != y->node || x->core != y->core ||
            x->start != y->start || x->finish != y->finish)
            return false;
    }
    for (size_t i = 0; i < a->transfers.n; i++) {
        const struct transfer *x = &a->transfers.at[i], *y = &b->transfers.at[i];
        if (x->object != y->object || x->to != y->to || x->start != y->start ||
            x->finish != y->finish)
            return false;
    }
    return true;
}

/* Planners that answer what `auto` answers: static plans of any graph. The exact search has a limit of
 * ten seconds of its own, and is compared where it needs no more than a moment. */
static bool is_comparable(const struct planner *planner, uint32_t tasks)
{
    unsigned accepts = planner->accepts;
    if (!(accepts & ACCEPTS_DAG) || accepts & (ACCEPTS_META | ACCEPTS_STREAM | ACCEPTS_ORDER))
        return false;
    return !(accepts & ACCEPTS_SMALL) || tasks <= 9;
}

/* How many plans others made; *worse counts those that are shorter. */
static uint32_t compare_with_all(const struct fixture *f, uint32_t graph, double makespan,
                                 uint32_t *worse)
{
    uint32_t others = 0;
    for (size_t i = 0; planner_registry[i]; i++) {
        const struct planner *planner = planner_registry[i];
        struct error none = {0};
        if (!is_comparable(planner, f->n))
            continue;
        struct plan *other = fixture_plan(f, planner->name, NULL, NULL, 7, &none);
        if (other && other->kind == PLAN_STATIC) {
            others++;
            if (makespan > plan_makespan(other) * (1 + 1e-12)) {
                printf("# graph %u: %s has %.17g, auto %.17g\n", graph, planner->name,
                       plan_makespan(other), makespan);
                ++*worse;
            }
        }
        plan_free(other);
    }
    return others;
}

/* Who is not asked cannot be matched: every planner of static plans has a class, or says that it is a
 * search of its own. */
static void everybody_is_asked(void)
{
    uint32_t asked = 0;
    for (size_t i = 0; planner_registry[i]; i++) {
        const struct planner *planner = planner_registry[i];
        if (!is_comparable(planner, 1000))
            continue;
        asked++;
        ok(planner->portfolio != PORTFOLIO_NEVER, "%s is a member of the portfolio", planner->name);
    }
    ok(asked >= 25, "%u planners", asked);
    const struct planner **members = portfolio_members(3000), **left = portfolio_left_out(3000);
    size_t inside = 0, outside = 0;
    while (members[inside])
        inside++;
    while (left[outside])
        outside++;
    ok(inside && outside && inside + outside == asked,
       "3,000 tasks: %zu are asked and %zu are named as left out", inside, outside);
    free(members);
    free(left);
}

/* One producer of four consumers whose data takes thrice their time to send: one copy each takes 41, a
 * copy of the producer beside each consumer 11. */
static void copies_are_taken(void)
{
    static struct fixture f;
    fixture_build(&f, &(struct fixture_shape){.tasks = 1, .nodes = 1, .cores = 1}, 1);
    struct builder *b = builder_new("<fork>", "fork");
    builder_work(b, builder_task(b, "a", 1, 0), 1, 0);
    for (uint32_t t = 1; t <= 4; t++) {
        char name[2] = {(char)('a' + t), 0};
        builder_work(b, builder_task(b, name, 1, 0), 10, 0);
        builder_data_edge(b, 0, t, 30, 0);
    }
    struct platform_builder *pb = platform_builder_new("<four>");
    platform_builder_network(pb, 1, 0, NAN, 0);
    for (uint32_t v = 0; v < 4; v++) {
        char name[2] = {(char)('0' + v), 0};
        platform_builder_node(pb, name, 1, 0);
    }
    struct error err = {0};
    fixture_free(&f);
    f.workflow = builder_finish(b, &err);
    f.platform = platform_builder_finish(pb, &err);
    struct plan *copied = fixture_plan(&f, "auto", "budget", "1000moves", 1, &err);
    struct plan *single = fixture_plan(&f, "auto", "duplication", "false", 1, &err);
    is_dbl(plan_makespan(copied), 11, 1e-9, "a fork whose data is large: the producer is copied");
    is_dbl(plan_objective(copied, "lower_bound"), 11, 1e-9, "and nothing can be shorter");
    is_dbl(plan_makespan(single), 41, 1e-9, "duplication=false: one copy of each task");
    is_int(single->placements.n, 5, "and no more");
    is_int(fixture_violations(&f, copied) + fixture_violations(&f, single), 0, "both are valid");
    plan_free(copied);
    plan_free(single);
    fixture_free(&f);
}

static void try_shape(const char *what, const struct fixture_shape *shape, uint32_t graphs,
                      const char *budget)
{
    uint32_t failed = 0, invalid = 0, worse = 0, differs = 0, members = 0;
    for (uint32_t g = 0; g < graphs; g++) {
        struct fixture_shape own = *shape;
        own.density = 0.05 + 0.1 * (g % 3);
        own.ccr = g % 3 == 0 ? 8 : g % 3 == 1 ? 0.5 : 2;
        static struct fixture f;
        fixture_build(&f, &own, 31000 + 100 * shape->tasks + g);
        struct error err = {0};
        struct plan *plan = fixture_plan(&f, "auto", "budget", budget, 7, &err);
        struct plan *again = fixture_plan(&f, "auto", "budget", budget, 7, &err);
        if (!plan || !again) {
            printf("# graph %u: %s\n", g, err.text);
            failed++;
        } else {
            invalid += fixture_violations(&f, plan) != 0;
            differs += !same_plan(plan, again);
            members += compare_with_all(&f, g, plan_makespan(plan), &worse);
        }
        plan_free(plan);
        plan_free(again);
        fixture_free(&f);
    }
    is_int(failed, 0, "%s: a plan for each of %u graphs", what, graphs);
    is_int(invalid, 0, "%s: valid", what);
    ok(worse == 0 && members >= 3 * graphs, "%s: never longer than one of %u plans of others", what,
       members);
    is_int(differs, 0, "%s: the same seed gives the same plan", what);
}

static void budgets(void)
{
    struct fixture_shape shape = {.tasks = 20, .nodes = 3, .cores = 1, .density = 0.2, .ccr = 2};
    static struct fixture f;
    fixture_build(&f, &shape, 3);
    static const char *const bad[] = {"", "moves", "0moves", "-5moves", "1.5moves", "soon", "-1s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct error err = {0};
        struct plan *plan = fixture_plan(&f, "auto", "budget", bad[i], 1, &err);
        ok(!plan && err.kind == ERROR_INPUT && strstr(err.text, "budget"), "budget '%s' is refused",
           bad[i]);
        plan_free(plan);
    }
    static const char *const good[] = {"20ms", "0", "100 moves", "1moves"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct error err = {0};
        struct plan *plan = fixture_plan(&f, "auto", "budget", good[i], 1, &err);
        ok(plan && fixture_violations(&f, plan) == 0, "budget '%s' gives a valid plan", good[i]);
        plan_free(plan);
    }
    fixture_free(&f);
}

static bool stop_at_once(void *context, double fraction, const char *what)
{
    (void)what;
    bool sane = fraction <= 1;
    *(int *)context += sane ? 1 : 1000;
    return false;
}

/* Told to stop, it ends long before its budget with what it has. */
static void stopped(void)
{
    struct fixture_shape shape = {.tasks = 64, .nodes = 4, .cores = 1, .density = 0.1, .ccr = 2};
    static struct fixture f;
    fixture_build(&f, &shape, 8);
    int told = 0;
    struct progress progress = {stop_at_once, &told};
    struct option_value option = {"budget", "1000s"};
    struct plan_request request = {.workflow = f.workflow,
                                   .platform = f.platform,
                                   .options = &option,
                                   .noptions = 1,
                                   .progress = &progress};
    struct error err = {0};
    struct plan *plan = planner_find("auto")->run(&request, &err);
    ok(plan && fixture_violations(&f, plan) == 0, "stopped by the user: a valid plan");
    ok(told < 10, "and it asks no more than %d times", told);
    plan_free(plan);
    fixture_free(&f);
}

/* Nothing to plan, one task, one node. */
static void corners(void)
{
    static const struct fixture_shape shapes[] = {
        {.tasks = 0, .nodes = 1, .cores = 1},
        {.tasks = 1, .nodes = 1, .cores = 1},
        {.tasks = 9, .nodes = 1, .cores = 1, .density = 0.3, .ccr = 1}};
    for (size_t i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            static struct fixture f;
            fixture_build(&f, &shapes[i], i + 1);
            struct error err = {0};
            const char *planner = k ? "auto" : "optimal";
            struct plan *plan = fixture_plan(&f, planner, NULL, NULL, 1, &err);
            ok(plan && plan->placements.n == f.n && fixture_violations(&f, plan) == 0,
               "%s with %u tasks on one node", planner, f.n);
            double sum = 0;
            for (uint32_t t = 0; t < f.n; t++)
                sum += f.time[t][0];
            if (plan)
                is_dbl(plan_makespan(plan), sum, 1e-9, "%s: one after the other", planner);
            plan_free(plan);
            fixture_free(&f);
        }
}

/* What annealing says it has made with 200 moves on two nodes, for a chain of so many tasks. */
static uint64_t moves_on_chain(uint32_t tasks)
{
    struct builder *b = builder_new("<chain>", "chain");
    for (uint32_t t = 0; t < tasks; t++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", t);
        builder_work(b, builder_task(b, name, strlen(name), 0), 1 + t % 3, 0);
        if (t)
            builder_data_edge(b, t - 1, t, 1, 0);
    }
    struct platform_builder *pb = platform_builder_new("<two>");
    platform_builder_network(pb, 1, 0, NAN, 0);
    platform_builder_node(pb, "a", 1, 0);
    platform_builder_node(pb, "b", 1, 0);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    struct platform *two = platform_builder_finish(pb, &err);
    struct costs *costs = costs_new(w, two, &err);
    struct problem *p = problem_new(costs);
    struct encoding best = encoding_new(tasks);
    for (uint32_t t = 0; t < tasks; t++) {
        best.order[t] = p->topo[t];
        best.node[t] = t % 2; /* every edge is sent: each move changes all that follows */
    }
    struct decoder *d = decoder_new(p);
    best.makespan = decoder_load(d, &best);
    decoder_free(d);
    uint64_t made = anneal(p, &best, NULL, 0, 1, 0,
                           &(struct anneal_limits){.moves = 200, .deadline = INFINITY});
    encoding_free(&best);
    problem_free(p);
    costs_free(costs);
    workflow_free(w);
    platform_free(two);
    return made;
}

/* A move of a small graph is one; where thousands of tasks are computed anew it is several, so that a
 * budget in moves is no longer for a large graph than its size says. */
static void large_moves_cost_more(void)
{
    is_int(moves_on_chain(2000), 200, "200 moves of 2,000 tasks are 200");
    ok(moves_on_chain(60000) > 210, "one of 60,000 tasks is many");
}

int main(void)
{
    try_shape("plain", &(struct fixture_shape){.tasks = 40, .nodes = 4, .cores = 1}, 6,
              "2000moves");
    try_shape("small",
              &(struct fixture_shape){.tasks = 12, .nodes = 3, .cores = 1, .fractions = true}, 6,
              "2000moves");
    try_shape("unrelated, links, restricted",
              &(struct fixture_shape){.tasks = 30,
                                      .nodes = 5,
                                      .cores = 1,
                                      .unrelated = true,
                                      .links = true,
                                      .restricted = true},
              6, "2000moves");
    try_shape("several cores",
              &(struct fixture_shape){.tasks = 40, .nodes = 3, .cores = 4, .wide = true}, 6,
              "2000moves");
    try_shape("memory",
              &(struct fixture_shape){.tasks = 25, .nodes = 3, .cores = 4, .memory = true}, 4,
              "800moves");
    try_shape("ports", &(struct fixture_shape){.tasks = 25, .nodes = 4, .cores = 1, .ports = 1}, 4,
              "800moves");
    try_shape("as small as can be proven",
              &(struct fixture_shape){.tasks = 8, .nodes = 3, .cores = 1, .links = true}, 12, "5s");
    try_shape("nodes without a link",
              &(struct fixture_shape){.tasks = 20, .nodes = 4, .cores = 1, .cut = true}, 6,
              "800moves");
    TAP_DO(everybody_is_asked());
    TAP_DO(copies_are_taken());
    TAP_DO(budgets());
    TAP_DO(stopped());
    TAP_DO(large_moves_cost_more());
    TAP_DO(corners());
    return tap_done();
}
