/* `optimal`: the shortest plan with one copy of each task, proven where time allows.
 *
 * The portfolio's plans and a short annealing give an upper bound, then exact_search() improves or
 * proves it (at most EXACT_TASKS tasks; beyond that local search and a simple bound). Ports are
 * hidden while searching: the optimum without them is a lower bound with them, and the best order
 * and nodes are decoded again under the true rules.
 *
 * Exponential; stops at `limit` seconds or `states` states with the best so far. By states alone it
 * is reproducible. */
#include "plan/planner.h"
#include "base/clock.h"
#include "base/plural.h"
#include "plan/memory/improve.h"
#include "plan/memory/within.h"
#include "plan/search/anneal.h"
#include "plan/search/exact.h"
#include "plan/search/portfolio.h"
#include <inttypes.h>
#include <math.h>

/* Before the exact search: enough to be at or near the optimum of what the search can finish. */
enum { OPTIMAL_MOVES = 20000 };

const struct planner planner_optimal;

/* The best of `best` decoded under the true rules (`p` with its ports) and `plan`, which is freed
 * if it loses. */
static struct plan *realise_best(const struct problem *p, const struct encoding *best,
                                 struct plan *plan)
{
    if (!isfinite(best->makespan))
        return plan;
    struct decoder *d = decoder_new(p);
    double makespan = decoder_load(d, best);
    if (!plan || (isfinite(makespan) && makespan < plan_makespan(plan))) {
        plan_free(plan);
        plan = decoder_plan(d);
    }
    decoder_free(d);
    return plan;
}

/* Takes over `other` either way; the first stays on ties. */
static void take_if_shorter(struct plan **plan, struct plan *other)
{
    if (other && (!*plan || plan_makespan(other) < plan_makespan(*plan))) {
        plan_free(*plan);
        *plan = other;
    } else {
        plan_free(other);
    }
}

static void optimal_note(struct plan *plan, const struct problem *p,
                         const struct exact_result *result, bool ports)
{
    double makespan = plan_makespan(plan), bound = fmin(result->bound, makespan);
    plan_set_objective(plan, "lower_bound", bound);
    if (makespan <= bound * (1 + 1e-9))
        plan_note(plan, "proven optimal after %" PRIu64 " states%s", result->states,
                  ports ? ": as short as it could be with unlimited ports and resources" : "");
    else
        plan_note(plan, "best found; the optimum is at least %.10g (%" PRIu64 " states)", bound,
                  result->states);
    if (ports && makespan > bound * (1 + 1e-9))
        plan_note(
            plan, "%s",
            p->costs->workflow->asks
                ? "the search ignores resources and ports: the bound is that without them, and "
                  "the plan is the best found for it, carried out with them"
                : "the search ignores ports: the bound is that of the network without a port "
                  "limit, and the "
                  "plan is the best found for it, carried out with ports");
    if (p->n > EXACT_TASKS)
        plan_note(
            plan,
            "%u task%s are too many for exact search (at most %d): local search and a simple bound",
            p->n, plural(p->n), EXACT_TASKS);
}

/* The best of the portfolio's solutions, annealed: what the exact search has to beat. */
static struct encoding best_start(const struct problem *p, const struct portfolio *portfolio,
                                  uint64_t seed, double deadline, double bound)
{
    struct encoding best = encoding_new(p->n);
    struct decoder *d = decoder_new(p);
    for (uint32_t i = 0; i < portfolio->count; i++) {
        double makespan = decoder_load(d, &portfolio->solutions[i]);
        if (makespan < best.makespan)
            decoder_save(d, &best);
    }
    decoder_free(d);
    if (isfinite(best.makespan))
        anneal(
            p, &best, portfolio->solutions, portfolio->count, seed, 0,
            &(struct anneal_limits){.moves = OPTIMAL_MOVES, .deadline = deadline, .target = bound});
    return best;
}

/* Everything after the costs: `p` has its ports hidden while searching. */
static struct plan *optimal_search(const struct plan_request *request, struct problem *p,
                                   struct error *err)
{
    double begun = clock_seconds();
    double seconds = request_number(request, &planner_optimal, "limit");
    uint64_t states = (uint64_t)request_integer(request, &planner_optimal, "states");
    bool ports = p->ports;
    struct portfolio portfolio;
    struct error none = {0};
    bool started = portfolio_run(request, p, false, &portfolio, &none);
    if (!started && p->n > EXACT_TASKS) {
        portfolio_free(&portfolio);
        error_set(err, none.kind, "%s", none.text);
        return NULL;
    }
    struct plan *plan = portfolio.best;
    portfolio.best = NULL;

    /* ports hidden: the exact search knows none, and a bound without them holds with them */
    p->ports = false;
    double bound = problem_bound(p);
    double deadline = states ? INFINITY : begun + seconds / 2;
    struct encoding best = best_start(p, &portfolio, request->seed, deadline, bound);
    struct exact_result result = {.bound = bound};
    if (p->n <= EXACT_TASKS) {
        struct exact_limits limits = {.seconds = fmax(0, begun + seconds - clock_seconds()),
                                      .states = states,
                                      .progress = request->progress,
                                      .progress_to = 1};
        result = exact_search(p, &best, &limits);
    }
    /* with ports the exact plan's times are not true: its order is decoded anew below */
    if (!ports)
        take_if_shorter(&plan, result.plan);
    else
        plan_free(result.plan);
    p->ports = ports;
    plan = realise_best(p, &best, plan);
    if (plan)
        optimal_note(plan, p, &result, ports);
    else if (isinf(result.bound))
        error_set(
            err, ERROR_INFEASIBLE,
            "no plan exists: tasks that must exchange data can only run on nodes without a link");
    else
        error_set(err, ERROR_INFEASIBLE, "no plan found within the limit of %g s", seconds);
    encoding_free(&best);
    portfolio_free(&portfolio);
    return plan;
}

static struct plan *run_optimal(const struct plan_request *request, struct error *err)
{
    struct costs *costs = costs_new(request->workflow, request->platform, err);
    if (!costs)
        return NULL;
    struct problem *p = problem_new(costs);
    struct plan *plan = optimal_search(request, p, err);
    problem_free(p);
    costs_free(costs);
    if (plan && within_asked(request)) {
        struct improve_budget rest = {
            .seconds = request_number(request, &planner_optimal, "limit"),
            .moves = (uint64_t)request_integer(request, &planner_optimal, "states")};
        plan = improve_within_memory(request, plan, &rest, err);
    }
    return plan;
}

static const struct option options[] = {
    {"limit", OPTION_SECONDS, "10s", NULL, 0, 0,
     "stop after this long with the best plan found and a proven bound"},
    {"states", OPTION_INTEGER, "0", NULL, 0, 1e15,
     "stop after this many states of the search (0: no limit); reproducible where `limit` is not "
     "reached"},
    {0},
};

const struct planner planner_optimal = {
    .name = "optimal",
    .family = "search",
    .summary = "exact branch and bound for small graphs, with a time limit and a proven bound",
    .paper = "A. Z. S. Shahul, O. Sinnen: Scheduling task graphs optimally with A*. J. "
             "Supercomputing 51(3), 2010 "
             "(pruning); depth-first with bounds of its own",
    .guarantee = "without a port limit and resources: no plan with one copy of each task is "
                 "shorter, when it "
                 "says proven; otherwise none is "
                 "shorter than lower_bound. Where files count, a plan that says proven is the "
                 "shortest that sends each file "
                 "at most once to a node, from where it was made (up to 16 tasks of one core)",
    .tie_rule =
        "children by bound, start, task, node, core; the first of equally short plans stays",
    .options = options,
    .accepts = ACCEPTS_DAG | ACCEPTS_SMALL,
    .run = run_optimal,
};
