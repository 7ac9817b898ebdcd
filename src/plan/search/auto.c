/* `auto`: the best of a portfolio of list planners, improved by local search and - for small graphs
 * - exact search.
 *
 *    portfolio --> best, starts
 *         |
 *         v        at most 64 tasks, no ports                    otherwise
 *    exact 5 %, anneal to 50 %, exact to 70 %, anneal to 100 %   anneal 100 %     of the budget
 *         |
 *         v
 *    the shortest: the best encoding, decoded; the best plan of a member; that of the exact
 *    search
 *
 * By time the search uses all cores; with a budget in moves always AUTO_STREAMS streams, so that
 * the answer does not depend on the machine. Streams share nothing but the stop flag; results are
 * compared in order of streams, and the first of equals stays. */
#include "plan/planner.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/quantity.h"
#include "plan/search/anneal.h"
#include "plan/search/exact.h"
#include "plan/search/portfolio.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* With a budget in moves always so many searches side by side, whatever the machine: the answer
 * must not depend on it. */
enum { AUTO_STREAMS = 4, AUTO_MOST_STREAMS = 16 };

const struct planner planner_auto;

struct auto_budget {
    uint64_t moves; /* 0: by time */
    double seconds;
};

/* "1s", "500ms", "2" (seconds), "20000moves", "20000 moves" */
static bool auto_parse_budget(const char *text, struct auto_budget *out, struct error *err)
{
    *out = (struct auto_budget){0};
    size_t length = strlen(text);
    static const char unit[] = "moves";
    size_t tail = sizeof unit - 1;
    if (length > tail && strcmp(text + length - tail, unit) == 0) {
        size_t digits = length - tail;
        while (digits && text[digits - 1] == ' ')
            digits--;
        int64_t moves;
        if (quantity_integer(text, digits, &moves) && moves > 0) {
            out->moves = (uint64_t)moves;
            return true;
        }
    } else if (quantity_seconds(text, length, &out->seconds)) {
        return true;
    }
    return error_set(
        err, ERROR_INPUT,
        "option budget=%s: expected a time such as 1s or 500ms, or a number of moves such as "
        "20000moves",
        text);
}

/* The state of one call. */
struct auto_run {
    const struct plan_request *request;
    const struct problem *problem;
    const struct portfolio *portfolio;
    struct auto_budget budget;
    double begun;
    double bound; /* nothing is shorter */
    struct encoding best;
    struct plan *plan; /* the shortest so far that is not `best` decoded: a member's, or of the
                          exact search */
    bool proven;
    uint64_t moves, states;

    /* one local search a stream */
    struct encoding results[AUTO_MOST_STREAMS];
    uint64_t made[AUTO_MOST_STREAMS];
    struct anneal_limits limits;
    unsigned streams, phase;
    atomic_bool stop; /* by the user */
};

/* By the user, by proof, or because nothing can be shorter than the bound. */
static bool auto_is_done(struct auto_run *run)
{
    return atomic_load(&run->stop) || run->proven || run->best.makespan <= run->bound;
}

static void auto_run_stream(void *context, size_t i)
{
    struct auto_run *run = context;
    struct anneal_limits limits = run->limits;
    if (i != 0)
        limits.progress = NULL;
    run->made[i] = anneal(run->problem, &run->results[i], run->portfolio->solutions,
                          run->portfolio->count, run->request->seed, run->phase * 64 + i, &limits);
}

/* Local search until `share` of the budget is used, all streams from the best so far. */
static void search_locally(struct auto_run *run, double from, double share)
{
    const struct problem *p = run->problem;
    if (auto_is_done(run))
        return;
    run->limits = (struct anneal_limits){.deadline = INFINITY,
                                         .target = run->bound,
                                         .progress = run->request->progress,
                                         .stop = &run->stop,
                                         .progress_from = from,
                                         .progress_to = share};
    if (run->budget.moves) {
        /* reproducible: a fixed number of streams, each with its share of the moves */
        run->streams = AUTO_STREAMS;
        run->limits.moves = (uint64_t)((double)run->budget.moves * (share - from) / AUTO_STREAMS);
        if (run->limits.moves == 0)
            return;
    } else {
        run->streams = parallel_cores();
        if (run->streams > AUTO_MOST_STREAMS)
            run->streams = AUTO_MOST_STREAMS;
        run->limits.deadline = run->begun + run->budget.seconds * share;
    }
    for (unsigned i = 0; i < run->streams; i++) {
        run->results[i] = encoding_new(p->n);
        encoding_copy(&run->results[i], &run->best, p->n);
    }
    /* streams differ by their random numbers and by where they restart */
    parallel_for(run->streams, 0, auto_run_stream, run);
    for (unsigned i = 0; i < run->streams; i++) {
        if (run->results[i].makespan < run->best.makespan)
            encoding_copy(&run->best, &run->results[i], p->n);
        encoding_free(&run->results[i]);
        run->moves += run->made[i];
    }
    run->phase++;
}

/* Exact search until `share` of the budget is used; one state counts as one move. */
static void search_exactly(struct auto_run *run, double from, double share)
{
    const struct problem *p = run->problem;
    if (auto_is_done(run))
        return;
    struct exact_limits limits = {.seconds = INFINITY,
                                  .progress = run->request->progress,
                                  .progress_from = from,
                                  .progress_to = share};
    if (run->budget.moves) {
        limits.states = 1 + (uint64_t)((double)run->budget.moves * (share - from));
    } else {
        limits.seconds = run->begun + run->budget.seconds * share - clock_seconds();
        if (limits.seconds <= 0)
            return;
    }
    /* a bound that decoding `best` cannot reach (cores chosen otherwise) must not stop the search
     */
    struct exact_result result = exact_search(p, &run->best, &limits);
    run->states += result.states;
    run->bound = fmax(run->bound, result.bound);
    run->proven = result.proven;
    if (result.interrupted)
        atomic_store(&run->stop, true);
    if (result.plan) {
        plan_free(run->plan);
        run->plan = result.plan;
    }
}

/* The best of everything, with what happened as notes. */
static struct plan *auto_finish(struct auto_run *run)
{
    struct decoder *d = decoder_new(run->problem);
    double makespan = decoder_load(d, &run->best);
    if (isfinite(makespan) && makespan <= plan_makespan(run->plan)) {
        plan_free(run->plan);
        run->plan = decoder_plan(d);
    }
    decoder_free(d);
    struct plan *plan = run->plan;
    makespan = plan_makespan(plan);
    double bound = fmin(run->bound, makespan);
    plan_set_objective(plan, "lower_bound", bound);
    plan_note(plan, "best of %u list planners: %s with %.10g", run->portfolio->members,
              run->portfolio->best_name, run->portfolio->makespan);
    plan_note(plan, "improved by %.3g %% to %.10g in %" PRIu64 " moves and %" PRIu64 " states",
              run->portfolio->makespan > 0 ? 100 * (1 - makespan / run->portfolio->makespan) : 0,
              makespan, run->moves, run->states);
    if (makespan <= bound * (1 + 1e-9))
        plan_note(plan, "proven optimal");
    return plan;
}

static struct plan *run_auto(const struct plan_request *request, struct error *err)
{
    struct auto_run run = {.request = request, .begun = clock_seconds()};
    if (!auto_parse_budget(request_text(request, &planner_auto, "budget"), &run.budget, err))
        return NULL;
    struct costs *costs = costs_new(request->workflow, request->platform, err);
    if (!costs)
        return NULL;
    struct problem *p = problem_new(costs);
    struct portfolio portfolio;
    struct plan *plan = NULL;
    if (portfolio_run(request, p, &portfolio, err)) {
        run.problem = p;
        run.portfolio = &portfolio;
        run.bound = problem_bound(p);
        run.plan = portfolio.best;
        portfolio.best = NULL;
        run.best = encoding_new(p->n);
        if (portfolio.count)
            encoding_copy(&run.best, &portfolio.solutions[0], p->n);
        else
            encoding_from_plan(&run.best, p, run.plan);
        if (p->n <= EXACT_TASKS && !p->ports) {
            /* A first short look settles most graphs of a dozen tasks; the second has a better
             * start. */
            search_exactly(&run, 0, 0.05);
            search_locally(&run, 0.05, 0.5);
            search_exactly(&run, 0.5, 0.7);
            search_locally(&run, 0.7, 1);
        } else {
            search_locally(&run, 0, 1);
        }
        plan = auto_finish(&run);
        encoding_free(&run.best);
    }
    portfolio_free(&portfolio);
    problem_free(p);
    costs_free(costs);
    return plan;
}

static const struct option options[] = {
    {"budget", OPTION_TEXT, "1s", NULL, 0, 0,
     "how long to improve: a time (1s, 500ms) or a number of moves (20000moves), which is "
     "reproducible from the seed"},
    {0},
};

const struct planner planner_auto = {
    .name = "auto",
    .family = "search",
    .summary = "the best of many list planners, improved by local search within a budget",
    .paper = "portfolio, simulated annealing over (order, node) and branch and bound; weft's own",
    .guarantee = "never longer than the plan of any of its members; the same seed and a budget in "
                 "moves give the same plan",
    .tie_rule =
        "members in a fixed order, then streams in order; the first of equally short plans stays",
    .options = options,
    .accepts = ACCEPTS_DAG | ACCEPTS_META,
    .run = run_auto,
};
