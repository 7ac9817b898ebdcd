/* What every planner must fulfil, for tests: its row is complete; on small random graphs and
 * platforms of every sort the plan passes the one checker, claims a makespan that is its own and
 * not below what physics allows, and comes out the same a second time; what cannot be planned is
 * infeasible.
 *
 * conformance_test.c asks it of every planner in the registry; tests/plan/adding_planner_test.c of
 * the one that docs/adding-a-planner.md shows. */
#pragma once
#include "base/rng.h"
#include "model/builder.h"
#include "model/check.h"
#include "model/graph.h"
#include "plan/planner.h"
#include "tap.h"

enum { CASES = 300, SEARCH_CASES = 24 }; /* searches take their time, and have tests of their own */

/* What a case has; each is drawn at random. */
enum trait {
    UNRELATED = 1,  /* times of their own on some nodes */
    RESTRICTED = 2, /* some tasks only run on some nodes */
    LINKS = 4,      /* pairs that differ */
    CORES = 8,      /* several cores, tasks that need several, memory that runs short */
    PORTS = 16,
    ZEROS = 32,  /* tasks without work, edges without data */
    SHARED = 64, /* objects with several consumers, several objects between two tasks */
    DOWN = 128,  /* a node is down */
    LATENCY = 256,
    INPUTS = 512, /* objects that nobody makes */
};

static size_t name_of(char *name, char prefix, uint32_t number)
{
    return (size_t)sprintf(name, "%c%u", prefix, number);
}

static void add_edges(struct builder *b, struct rng *rng, unsigned traits, uint32_t ntasks)
{
    char name[16];
    double density = rng_uniform(rng, 0, 0.5);
    for (uint32_t t = 0; t < ntasks; t++) {
        uint32_t shared = NONE;
        for (uint32_t u = t + 1; u < ntasks; u++) {
            if (rng_unit(rng) > density)
                continue;
            double size = traits & ZEROS && rng_below(rng, 4) == 0 ? 0 : rng_uniform(rng, 1, 40);
            if (traits & SHARED && rng_below(rng, 2)) {
                if (shared == NONE || rng_below(rng, 3) == 0) {
                    size_t length = name_of(name, 'o', t * 100 + u);
                    shared = builder_object(b, name, length);
                    builder_size(b, shared, size, 0);
                    builder_produces(b, t, shared, 0);
                }
                builder_consumes(b, u, shared, 0);
            } else if (rng_below(rng, 6) == 0) {
                builder_edge(b, t, u, 0);
            } else {
                builder_data_edge(b, t, u, size, 0);
            }
        }
        if (traits & INPUTS && rng_below(rng, 3) == 0) {
            uint32_t input = builder_object(b, "input", 5);
            builder_size(b, input, 17, 0);
            builder_consumes(b, t, input, 0);
        }
    }
}

static struct workflow *random_workflow(struct rng *rng, unsigned traits, uint32_t ntasks,
                                        uint32_t nnodes)
{
    struct builder *b = builder_new("<random>", "test");
    char name[16], node[16];
    for (uint32_t t = 0; t < ntasks; t++) {
        uint32_t task = builder_task(b, name, name_of(name, 't', t), 0);
        bool own = traits & UNRELATED && rng_below(rng, 2);
        bool restricted = traits & RESTRICTED && rng_below(rng, 3) == 0;
        double work = traits & ZEROS && rng_below(rng, 4) == 0 ? 0 : rng_uniform(rng, 1, 30);
        if (!restricted)
            builder_work(b, task, work, 0);
        /* a restricted task has times on some nodes only; node 0 is always up and always one of
         * them */
        for (uint32_t n = 0; (own || restricted) && n < nnodes; n++)
            if (n == 0 || rng_below(rng, 2))
                builder_time(b, task, node, name_of(node, 'n', n), rng_uniform(rng, 1, 30), 0);
        if (traits & CORES) {
            builder_cores(b, task, 1 + (double)rng_below(rng, 3), 0);
            builder_memory(b, task, (double)rng_below(rng, 6), 0);
        }
    }
    add_edges(b, rng, traits, ntasks);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

static struct platform *random_platform(struct rng *rng, unsigned traits, uint32_t nnodes)
{
    struct platform_builder *b = platform_builder_new("<random>");
    char name[16];
    platform_builder_memory_rule(b, MEMORY_TASKS); /* files: plan/memory */
    platform_builder_network(b, rng_uniform(rng, 0.5, 8), traits & LATENCY ? 1.5 : 0,
                             traits & PORTS ? 1 + (double)rng_below(rng, 3) : NAN, 0);
    for (uint32_t n = 0; n < nnodes; n++) {
        uint32_t node = platform_builder_node(b, name, name_of(name, 'n', n), 0);
        platform_builder_speed(b, node, rng_uniform(rng, 0.5, 4), 0);
        if (traits & CORES) {
            platform_builder_cores(b, node, n ? 1 + (double)rng_below(rng, 4) : 4, 0);
            platform_builder_memory(b, node, n ? 3 + (double)rng_below(rng, 9) : 7, 0);
        }
        if (traits & DOWN && n && n == nnodes / 2)
            platform_builder_down(b, node);
    }
    for (uint32_t a = 0; traits & LINKS && a < nnodes; a++)
        for (uint32_t c = a + 1; c < nnodes; c++)
            if (rng_below(rng, 2))
                platform_builder_link(b, a, c, rng_uniform(rng, 0.5, 8), NAN, 0);
    struct error err = {0};
    struct platform *p = platform_builder_finish(b, &err);
    if (!p)
        printf("# %s\n", err.text);
    return p;
}

/* No plan is shorter than the longest chain at the best times, or than all core-seconds spread over
 * all cores. */
static double least_makespan(const struct workflow *w, const struct platform *p)
{
    struct error err = {0};
    struct costs *c = costs_new(w, p, &err);
    if (!c)
        return 0;
    double *least = mem_new(double, w->ntasks), area = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        least[t] = costs_least(c, t, NULL);
        area += least[t] * w->cores[t];
    }
    double chain = graph_critical_path(w, least, NULL, NULL);
    free(least);
    costs_free(c);
    return fmax(chain, area / (double)platform_total_cores(p));
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
    if (a->placements.n != b->placements.n || a->transfers.n != b->transfers.n ||
        a->order.n != b->order.n)
        return false;
    for (size_t i = 0; i < a->order.n; i++)
        if (a->order.at[i] != b->order.at[i])
            return false;
    for (size_t i = 0; i < a->placements.n; i++) {
        const struct placement *x = &a->placements.at[i], *y = &b->placements.at[i];
        if (x->task != y->task || x->node != y->node || x->core != y->core ||
            x->start != y->start || x->finish != y->finish)
            return false;
    }
    for (size_t i = 0; i < a->transfers.n; i++) {
        const struct transfer *x = &a->transfers.at[i], *y = &b->transfers.at[i];
        if (x->object != y->object || x->from != y->from || x->to != y->to || x->start != y->start)
            return false;
    }
    return true;
}

/* A copy that no other task and no transfer draws on (and is not the only one) is useless. */
static bool has_useless_copy(const struct plan *plan, const struct workflow *w)
{
    uint32_t *copies = mem_new_zero(uint32_t, w->ntasks);
    for (size_t i = 0; i < plan->placements.n; i++)
        copies[plan->placements.at[i].task]++;
    bool useless = false;
    for (size_t i = 0; i < plan->placements.n && !useless; i++) {
        const struct placement *x = &plan->placements.at[i];
        bool serves = copies[x->task] == 1;
        for (size_t k = 0; k < plan->placements.n && !serves; k++) {
            const struct placement *y = &plan->placements.at[k];
            for (uint32_t e = w->pred_off[y->task]; e < w->pred_off[y->task + 1]; e++)
                serves |= w->pred_task[e] == x->task && y->node == x->node && y->start >= x->finish;
        }
        for (size_t k = 0; k < plan->transfers.n && !serves; k++)
            serves = plan->transfers.at[k].from == x->node &&
                     w->producer[plan->transfers.at[k].object] == x->task;
        useless = !serves;
    }
    free(copies);
    return useless;
}

/* Searches get a small effort, given in steps so that they repeat. */
static struct plan_request request_for(const struct planner *planner, const struct workflow *w,
                                       const struct platform *p, struct option_value *value)
{
    struct plan_request request = {.workflow = w, .platform = p, .seed = 7};
    if (planner->accepts & ACCEPTS_META && planner->accepts & ACCEPTS_ORDER)
        *value = (struct option_value){"effort", "1"};
    else if (planner->accepts & ACCEPTS_META)
        *value = (struct option_value){"budget", "40moves"};
    else if (planner->accepts & ACCEPTS_SMALL)
        *value = (struct option_value){"states", "300"};
    else
        return request;
    request.options = value;
    request.noptions = 1;
    return request;
}

/* What is wrong with the planner on this case; NULL: nothing. Writes into `text`. */
static const char *judge(const struct planner *planner, const struct workflow *w,
                         const struct platform *p, char *text, size_t size)
{
    struct error err = {0};
    struct option_value value;
    struct plan_request request = request_for(planner, w, p, &value);
    struct plan *plan = planner_run(planner, &request, &err);
    if (!plan) {
        snprintf(text, size, "no plan: %s", err.text);
        return text;
    }
    const char *wrong = NULL;
    struct plan *again = planner_run(planner, &request, &err);
    struct check_result result;
    double makespan = plan_objective(plan, "makespan"), least = least_makespan(w, p);
    if (!check_plan(plan, w, p, &result, &err)) {
        snprintf(text, size, "cannot be judged: %s", err.text);
        wrong = text;
    } else if (result.total) {
        snprintf(text, size, "%s: %s", violation_name(result.violations.at[0].kind),
                 result.violations.at[0].detail);
        wrong = text;
    } else if (!(planner->accepts & ACCEPTS_ORDER) && !(makespan >= least * (1 - 1e-9))) {
        snprintf(text, size, "makespan %g is below the bound %g", makespan, least);
        wrong = text;
    } else if (!again || !same_plan(plan, again)) {
        wrong = "another plan the second time";
    } else if (!plan->planner || strcmp(plan->planner, planner->name) != 0 || plan->seed != 7) {
        wrong = "not signed";
    } else if (has_useless_copy(plan, w)) {
        wrong = "a copy that serves nobody";
    }
    check_result_free(&result);
    plan_free(plan);
    plan_free(again);
    return wrong;
}

static bool takes_any_graph(const struct planner *planner)
{
    return !(planner->accepts & ACCEPTS_TREE) || planner->accepts & ACCEPTS_DAG;
}

/* One random case. */
struct conformance_case {
    struct workflow *workflow;
    struct platform *platform;
    unsigned traits; /* of enum trait, or-ed */
    uint32_t ntasks, nnodes;
};

/* All of them, the same for every planner: made at the first call, never freed. */
static const struct conformance_case *random_cases(void)
{
    static struct conformance_case cases[CASES];
    struct rng rng;
    rng_seed(&rng, 20240607);
    for (int i = 0; i < CASES && !cases[i].workflow; i++) {
        struct conformance_case *c = &cases[i];
        /* the first cases have one trait each, then everything in all mixtures */
        c->traits = i < 11 ? (i ? 1u << (i - 1) : 0) : (unsigned)rng_below(&rng, 1024);
        c->nnodes = 1 + (uint32_t)rng_below(&rng, 5);
        c->ntasks = (uint32_t)rng_below(&rng, 14);
        if (i % 10 == 9) /* a few larger ones */
            c->ntasks = 40 + (uint32_t)rng_below(&rng, 40);
        c->platform = random_platform(&rng, c->traits, c->nnodes);
        c->workflow = random_workflow(&rng, c->traits, c->ntasks, c->nnodes);
    }
    return cases;
}

static void conform_row(const struct planner *p)
{
    ok(p->name && p->family && p->summary && p->paper && p->tie_rule && p->accepts && p->run,
       "%s: its row is complete", p->name);
    const unsigned other = ACCEPTS_STREAM | ACCEPTS_ORDER | ACCEPTS_META | ACCEPTS_SMALL;
    ok(p->portfolio == PORTFOLIO_NEVER || (p->accepts & ACCEPTS_DAG && !(p->accepts & other)),
       "%s: if a search begins from it, it makes static plans of any graph, and is no search "
       "itself",
       p->name);
    ok(p->portfolio < PORTFOLIO_MEDIUM || !(p->accepts & ACCEPTS_SLOW),
       "%s: is not at once slow and quick enough for a portfolio of thousands", p->name);
}

/* Trees and streams have tests of their own: those planners take no random graph, or promise no
 * makespan. */
static bool takes_random_cases(const struct planner *planner)
{
    return takes_any_graph(planner) && !(planner->accepts & ACCEPTS_STREAM);
}

static void conform_random(const struct planner *planner)
{
    const struct conformance_case *cases = random_cases();
    bool is_search = planner->accepts & (ACCEPTS_SMALL | ACCEPTS_META);
    int failures = 0;
    for (int i = 0; i < CASES && takes_random_cases(planner); i++) {
        const struct conformance_case *c = &cases[i];
        if (!c->workflow || !c->platform) {
            ok(false, "case %d can be built", i);
            break;
        }
        if (is_search && (i > SEARCH_CASES || c->ntasks > 12))
            continue;
        char text[2048];
        const char *wrong = judge(planner, c->workflow, c->platform, text, sizeof text);
        if (wrong && failures++ < 3)
            printf("# %s, case %d (traits %u, %u tasks, %u nodes): %s\n", planner->name, i,
                   c->traits, c->ntasks, c->nnodes, wrong);
    }
    is_int(failures, 0, "%s: valid, honest and repeatable on random cases", planner->name);
}

/* Two islands of nodes: what starts on one cannot be joined on the other. */
static void conform_unreachable(const struct planner *planner)
{
    if (!takes_random_cases(planner) || planner->accepts & ACCEPTS_ORDER)
        return; /* an order knows no nodes */
    struct error err = {0};
    struct builder *b = builder_new("<test>", "test");
    uint32_t x = builder_task(b, "x", 1, 0), y = builder_task(b, "y", 1, 0);
    builder_time(b, x, "n0", 2, 1, 0);
    builder_time(b, y, "n1", 2, 1, 0);
    builder_data_edge(b, x, y, 10, 0);
    struct workflow *w = builder_finish(b, &err);
    struct platform_builder *pb = platform_builder_new("<test>");
    platform_builder_network(pb, 1, 0, NAN, 0);
    uint32_t n0 = platform_builder_node(pb, "n0", 2, 0), n1 = platform_builder_node(pb, "n1", 2, 0);
    platform_builder_link(pb, n0, n1, 0, NAN, 0);
    struct platform *p = platform_builder_finish(pb, &err);
    if (ok(w && p, "%s: two islands can be built: %s", planner->name, err.text)) {
        struct option_value value;
        struct plan_request request = request_for(planner, w, p, &value);
        struct plan *plan = planner_run(planner, &request, &err);
        ok(!plan && err.kind == ERROR_INFEASIBLE, "%s: nodes that cannot talk are infeasible",
           planner->name);
        plan_free(plan);
    }
    workflow_free(w);
    platform_free(p);
}

/* Everything, as one case of the test program under the planner's name. */
static void conform(const struct planner *planner)
{
    if (!tap_wanted(planner->name))
        return;
    conform_row(planner);
    conform_random(planner);
    conform_unreachable(planner);
}
