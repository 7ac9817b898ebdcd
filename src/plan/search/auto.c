/* `auto`: the best of a portfolio of list planners, improved by local search, for small graphs by
 * exact search, and by a search for plans that run some tasks twice.
 *
 *    portfolio --> best, starts; the best with copies
 *         |
 *      bounds: what cannot be beaten, by plans with one copy of each task and by all plans
 *         |
 *         v        at most 64 tasks, no ports                    otherwise
 *    exact 5 %, anneal to 50 %, exact to 70 %, anneal to 100 %   anneal 100 %     of the share
 *         |
 *      twins (twin_team.h), where the plan is far from its bound: to the end, or as long as they help
 *         |
 *      copying: the rest of the budget; half of it where a member's copies are the shortest plan
 *         |
 *         v
 *    the shortest: the best encoding, decoded; the best plan of a member; that of the exact
 *    search; that with copies
 *
 * Where it says anneal and the plan is far from its bound, tabu search goes first: over twins that are not
 * copied, all streams together, or one a stream where links differ or exact search goes before (tabu.h). If it is
 * near, every other stream packs first (pack.h).
 *
 * By time the search uses all cores; with a budget in moves always AUTO_STREAMS streams, so that
 * the answer does not depend on the machine. Streams share nothing but the stop flag (but for those over
 * twins, which help each other); results are compared in order of streams, and the first of equals stays. */
#include "base/clock.h"
#include "base/parallel.h"
#include "base/quantity.h"
#include "base/strbuf.h"
#include "plan/memory/improve.h"
#include "plan/memory/within.h"
#include "plan/search/auto_run.h"
#include "plan/search/exact.h"
#include "plan/search/pack.h"
#include "plan/search/tabu.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Steps of the bounds (5 ns each): a fifth of a budget in seconds or moves, and 5 ms in any case; twice
 * as many beside a first plan with copies, which takes longer. They depend on what is asked alone; by
 * time they are over at half of the budget, or when the time for that plan is, whatever a busy machine has
 * done by then. */
#define AUTO_BOUND_SHARE 0.5
enum { BOUND_STEPS = 1000000, BOUND_STEPS_SECOND = 40000000, BOUND_STEPS_MOVE = 40 };

/* Of the budget, for plans with one copy of each task: most of it, unless a member's copies are ahead. */
#define AUTO_SINGLE_SHARE 0.9
#define AUTO_SINGLE_SHARE_BEHIND 0.5
/* Of local search, for tabu search of graphs that no exact search proves. It ends near the bound: there annealing
 * packs better. Its streams of random numbers. */
#define AUTO_TABU_SHARE 0.8
#define AUTO_TABU_NEAR 1.06
enum { AUTO_TABU_STREAM = 4096 };
/* Packing (pack.h) begins where tabu search does not, with this part of the budget at most. */
#define AUTO_PACK_SHARE 0.3
enum { AUTO_PACK_STREAM = 16384 };
/* Of the budget, for one copy of each task where the search over twins follows, which begins with what that
 * finds. */
#define AUTO_TWINS_AFTER 0.5
/* Annealing rarely shortens a large plan by more than a tenth: it need not try to catch up with more. */
#define AUTO_SINGLE_SHARE_FAR 0.1
#define AUTO_FAR_BEHIND 0.87

/* The search with copies ends after so many candidates that improved nothing: where copies do not help
 * a small graph should not wait for the end of its budget. */
enum { AUTO_PATIENCE = 1000 };

const struct planner planner_auto;

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

static unsigned auto_streams(unsigned cores)
{
    return cores < AUTO_MOST_STREAMS ? cores : AUTO_MOST_STREAMS;
}

/* By the user, by proof, or because nothing can be shorter than the bound. */
static bool auto_is_done(struct auto_run *run)
{
    return atomic_load(&run->stop) || run->proven || run->best.makespan <= run->bounds.single.value;
}

static void auto_take_share(struct anneal_limits *limits, double share)
{
    double now = clock_seconds();
    limits->moves = (uint64_t)((double)limits->moves * share);
    if (isfinite(limits->deadline))
        limits->deadline = now + share * (limits->deadline - now);
    limits->progress_to =
        limits->progress_from + share * (limits->progress_to - limits->progress_from);
}

static bool auto_is_far(const struct auto_run *run)
{
    return run->best.makespan >= AUTO_TABU_FAR * run->bounds.single.value;
}

/* Is tabu search over twins, window by window, for this graph? Then it has searched before the streams do. */
static bool auto_has_windows(const struct auto_run *run)
{
    return run->suits && run->problem->n > EXACT_TASKS;
}

/* The part of a stream's budget that tabu search has; false: none. */
static bool auto_tabu_limits(const struct auto_run *run, struct anneal_limits *limits)
{
    if (auto_has_windows(run) || !tabu_suits(run->problem) || !auto_is_far(run))
        return false;
    auto_take_share(limits, run->twins ? 1 : AUTO_TABU_SHARE);
    limits->target = fmax(limits->target, AUTO_TABU_NEAR * run->bounds.single.value);
    return limits->moves || isfinite(limits->deadline);
}

/* And that packing has, of every other stream: from where it ends annealing often finds less than from where a
 * member did. */
static bool auto_pack_limits(const struct auto_run *run, size_t stream,
                             struct anneal_limits *limits)
{
    if (stream % 2 || !pack_suits(run->problem) || auto_is_far(run))
        return false;
    auto_take_share(limits, AUTO_PACK_SHARE);
    return limits->moves || isfinite(limits->deadline);
}

/* Packing and tabu search have the first part of the stream, where they suit; annealing the rest. */
static void auto_run_stream(void *context, size_t i)
{
    struct auto_run *run = context;
    const struct portfolio *portfolio = run->portfolio;
    struct anneal_limits limits = run->limits, first;
    uint64_t stream = run->phase * 64 + i, seed = run->request->seed, made = 0;
    struct encoding *result = &run->results[i];
    if (i != 0)
        limits.progress = NULL;
    first = limits;
    if (auto_pack_limits(run, i, &first)) {
        made = pack_search(run->problem, result, seed, AUTO_PACK_STREAM + stream, &first);
    } else if (auto_tabu_limits(run, &first)) {
        struct encoding own = encoding_new(run->problem->n);
        encoding_copy(&own, result, run->problem->n);
        made = tabu_search(run->problem, result, &own, seed, AUTO_TABU_STREAM + stream, &first);
        encoding_free(&own);
    }
    if (made)
        limits.progress_from = first.progress_to;
    run->made[i] = made;
    if (limits.moves && made >= limits.moves)
        return;
    limits.moves -= limits.moves ? made : 0;
    run->made[i] +=
        anneal(run->problem, result, portfolio->solutions, portfolio->count, seed, stream, &limits);
}

unsigned auto_limit_streams(struct auto_run *run, double from, double share, double target,
                            struct anneal_limits *limits)
{
    *limits = (struct anneal_limits){.deadline = INFINITY,
                                     .target = target,
                                     .progress = run->request->progress,
                                     .stop = &run->stop,
                                     .progress_from = from,
                                     .progress_to = share};
    if (run->budget.moves) {
        limits->moves = (uint64_t)((double)run->budget.moves * (share - from) / AUTO_STREAMS);
        return limits->moves ? AUTO_STREAMS : 0;
    }
    limits->deadline = run->begun + run->budget.seconds * share;
    return auto_streams(parallel_cores());
}

/* Local search until `share` of the budget is used, all streams from the best so far. */
static void search_locally(struct auto_run *run, double from, double share)
{
    const struct problem *p = run->problem;
    if (auto_is_done(run))
        return;
    run->streams = auto_limit_streams(run, from, share, run->bounds.single.value, &run->limits);
    if (run->streams == 0)
        return;
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
    if (result.bound > run->bounds.single.value)
        run->bounds.single = (struct lower_bound){result.bound, BOUND_EXACT};
    run->proven = result.proven;
    if (result.interrupted)
        atomic_store(&run->stop, true);
    if (result.plan) {
        plan_free(run->plan);
        run->plan = result.plan;
    }
}

static void auto_run_copying(void *context, size_t i)
{
    struct auto_run *run = context;
    struct copying_request request = run->copying;
    request.stream = 1024 + i; /* apart from the streams of the annealing */
    run->copies[i] = copying_search(&request, &run->made[i]);
}

/* Plans that run some tasks twice, at most so many candidates in all, until `share` of the budget is
 * used. */
static void search_with_copies(struct auto_run *run, double from, double share, uint64_t most)
{
    const struct problem *p = run->problem;
    double shortest = run->best.makespan;
    if (run->plan)
        shortest = fmin(shortest, plan_makespan(run->plan));
    if (run->copied)
        shortest = fmin(shortest, plan_makespan(run->copied));
    if (atomic_load(&run->stop) || shortest <= run->bounds.copies.value || p->m < 2)
        return;
    run->copying = (struct copying_request){.problem = p,
                                            .start = &run->best,
                                            .seed = run->request->seed,
                                            .candidates = most,
                                            .patience = AUTO_PATIENCE,
                                            .deadline = INFINITY,
                                            .shorter_than = shortest,
                                            .target = run->bounds.copies.value,
                                            .stop = &run->stop};
    unsigned streams = AUTO_STREAMS;
    if (run->budget.moves) {
        double moves = (double)run->budget.moves * (share - from);
        run->copying.candidates =
            (uint64_t)fmin((double)most, moves / AUTO_STREAMS / (AUTO_MOVES_A_COPY * (p->n + 1.0)));
    } else {
        streams = auto_streams(parallel_cores());
        run->copying.deadline = run->begun + run->budget.seconds * share;
    }
    if (most == 1)
        streams = 1;
    parallel_for(streams, 0, auto_run_copying, run);
    for (unsigned i = 0; i < streams; i++) {
        run->candidates += run->made[i];
        struct plan *plan = run->copies[i];
        if (plan && (!run->copied || plan_makespan(plan) < plan_makespan(run->copied))) {
            plan_free(run->copied);
            run->copied = plan;
        } else {
            plan_free(plan);
        }
    }
}

/* Everything that improves, in its order. */
static void auto_search(struct auto_run *run, bool copies)
{
    const struct problem *p = run->problem;
    double begin = run->began_with_copies && run->budget.moves ? AUTO_LARGE_COPY_SHARE : 0;
    double share = copies ? AUTO_SINGLE_SHARE : 1;
    if (run->twins)
        share = AUTO_TWINS_AFTER;
    double copied = fmin(run->built.makespan, run->copied ? plan_makespan(run->copied) : INFINITY);
    if (copied < run->best.makespan) {
        bool hopeless = copied < AUTO_FAR_BEHIND * run->best.makespan;
        share = run->twins ? AUTO_TWINS_AFTER : AUTO_SINGLE_SHARE_BEHIND;
        if (hopeless && p->n > EXACT_TASKS)
            share = run->twins ? 0 : AUTO_SINGLE_SHARE_FAR;
        share = fmax(share, begin);
    }
    if (p->n <= EXACT_TASKS && !p->ports) {
        /* A first short look settles most graphs of a dozen tasks; the second has a better
         * start. */
        search_exactly(run, 0, 0.05 * share);
        search_locally(run, 0.05 * share, 0.5 * share);
        search_exactly(run, 0.5 * share, 0.7 * share);
        search_locally(run, 0.7 * share, share);
    } else if (share > begin) {
        if (auto_has_windows(run) && auto_is_far(run))
            begin = auto_search_single(run, begin, run->twins ? share : AUTO_TABU_SHARE * share);
        if (run->twins)
            share = begin;
        else
            search_locally(run, begin, share);
    }
    if (run->twins) {
        share = auto_search_twins(run, share, 1);
        run->twins = false; /* what is left is for the others, as if there were none */
        if (share < AUTO_SINGLE_SHARE &&
            AUTO_FAR_BEHIND * run->best.makespan < run->built.makespan) {
            search_locally(run, share, AUTO_SINGLE_SHARE);
            share = AUTO_SINGLE_SHARE;
        }
    }
    auto_keep_twins(run);
    if (copies && share < 1)
        search_with_copies(run, share, 1, UINT64_MAX);
}

/* Which members the size left out: "never longer than any of them" does not speak of these. */
static void note_left_out(struct plan *plan, const struct problem *p)
{
    const struct planner **left_out = portfolio_left_out(p->n);
    struct strbuf names = {0};
    for (size_t i = 0; left_out[i]; i++)
        strbuf_printf(&names, "%s%s", i ? ", " : "", left_out[i]->name);
    if (left_out[0])
        plan_note(plan, "not asked, because of %" PRIu32 " tasks: %s", p->n, strbuf_text(&names));
    strbuf_free(&names);
    free(left_out);
}

/* What was done, the bound with its kind, and how far apart the two are. */
static void auto_note(struct auto_run *run, struct plan *plan)
{
    const struct portfolio *portfolio = run->portfolio;
    bool copies = plan->placements.n > run->problem->n;
    struct lower_bound bound = copies ? run->bounds.copies : run->bounds.single;
    double makespan = plan_makespan(plan), first = portfolio->makespan;
    const char *name = portfolio->best_name;
    if (portfolio->copied_makespan < first && run->allow_copies) {
        first = portfolio->copied_makespan;
        name = portfolio->copied_name;
    }
    bound.value = fmin(bound.value, makespan);
    plan_set_objective(plan, "lower_bound", bound.value);
    plan_note(plan, "best of %u planners: %s with %.10g", portfolio->members, name, first);
    note_left_out(plan, run->problem);
    struct strbuf found = {0};
    if (makespan < first * (1 - 1e-9))
        strbuf_printf(&found, "improved by %.3g %% to %.10g", 100 * (1 - makespan / first),
                      makespan);
    else
        strbuf_add(&found, "nothing shorter");
    plan_note(plan, "%s in %" PRIu64 " moves, %" PRIu64 " states and %" PRIu64 " plans with copies",
              strbuf_text(&found), run->moves, run->states, run->candidates);
    strbuf_free(&found);
    if (copies)
        plan_note(plan, "%zu copies of tasks; the best found with one copy of each has %.10g",
                  plan->placements.n - run->problem->n, run->best.makespan);
    if (makespan <= bound.value * (1 + 1e-9))
        plan_note(plan, "proven optimal%s (%s)",
                  copies || bound.value <= run->bounds.copies.value * (1 + 1e-9)
                      ? ""
                      : " among plans with one copy of each task",
                  bound_kind_name(bound.kind));
    else
        plan_note(plan, "bound %.10g (%s%s), %.3g %% below", bound.value,
                  bound_kind_name(bound.kind),
                  run->bounds.cut ? "; a longer budget may raise it" : "",
                  100 * (1 - bound.value / makespan));
}

/* The best of everything, with what happened as notes. */
static struct plan *auto_finish(struct auto_run *run)
{
    struct decoder *d = decoder_new(run->problem);
    double makespan = decoder_load(d, &run->best);
    if (isfinite(makespan) && (!run->plan || makespan <= plan_makespan(run->plan))) {
        plan_free(run->plan);
        run->plan = decoder_plan(d);
    }
    decoder_free(d);
    if (run->copied && (!run->plan || plan_makespan(run->copied) < plan_makespan(run->plan))) {
        plan_free(run->plan);
        run->plan = run->copied;
        run->copied = NULL;
    }
    plan_free(run->copied);
    auto_note(run, run->plan);
    return run->plan;
}

static uint64_t bound_steps(const struct auto_run *run)
{
    const struct auto_budget *budget = &run->budget;
    double more = budget->moves ? (double)budget->moves * BOUND_STEPS_MOVE
                                : budget->seconds * BOUND_STEPS_SECOND;
    bool beside = run->began_with_copies || run->began_with_twins;
    return BOUND_STEPS + (uint64_t)fmin(beside ? 2 * more : more, 1e15);
}

struct auto_beginning {
    struct auto_run *run;
    struct bounds *bounds;
};

/* The bounds and, where there is a first plan with copies to be made, that plan: first, if there is
 * one core for both, since it is worth more than what they can say. */
static void auto_begin(void *context, size_t i)
{
    const struct auto_beginning *b = context;
    struct auto_run *run = b->run;
    bool beside = run->began_with_copies || run->began_with_twins;
    if (i == 0 && run->began_with_twins) {
        auto_build_twins(run);
        return;
    }
    if (i == 0 && beside) {
        search_with_copies(run, 0, run->budget.moves ? AUTO_LARGE_COPY_SHARE : AUTO_LARGE_COPY_TIME,
                           1);
        return;
    }
    double share = beside ? AUTO_LARGE_COPY_TIME : AUTO_BOUND_SHARE;
    double deadline = run->begun + share * run->budget.seconds;
    *b->bounds =
        bounds_find(run->problem, bound_steps(run), run->budget.seconds > 0 ? deadline : INFINITY,
                    run->portfolio->makespan);
}

/* After the portfolio: from its plans to the best one. */
static struct plan *auto_improve(struct auto_run *run, struct portfolio *portfolio)
{
    const struct problem *p = run->problem;
    run->portfolio = portfolio;
    run->plan = portfolio->best;
    portfolio->best = NULL;
    if (run->allow_copies) {
        run->copied = portfolio->copied;
        portfolio->copied = NULL;
    }
    run->best = encoding_new(p->n);
    if (portfolio->count)
        encoding_copy(&run->best, &portfolio->solutions[0], p->n);
    else
        encoding_from_plan(&run->best, p, run->plan ? run->plan : run->copied);
    run->built.makespan = INFINITY;
    run->suits = twins_suit(p);
    bool promising = run->allow_copies && !run->copied && auto_copies_are_promising(p);
    run->began_with_copies = promising && !run->suits;
    run->began_with_twins = promising && run->suits;
    struct bounds bounds = run->bounds;
    parallel_for(promising ? 2 : 1, 0, auto_begin, &(struct auto_beginning){run, &bounds});
    run->bounds = bounds;
    if (run->suits && run->allow_copies)
        auto_begin_twins(run);
    auto_search(run, run->allow_copies);
    struct plan *plan = auto_finish(run);
    encoding_free(&run->best);
    array_free(&run->built.places);
    return plan;
}

static struct plan *run_auto(const struct plan_request *request, struct error *err)
{
    struct auto_run run = {.request = request, .begun = clock_seconds()};
    if (!auto_parse_budget(request_text(request, &planner_auto, "budget"), &run.budget, err))
        return NULL;
    run.allow_copies = request_bool(request, &planner_auto, "duplication");
    /* where files count, half is kept for the search within memory */
    bool files = within_asked(request);
    if (files) {
        run.budget.seconds /= 2;
        run.budget.moves = (run.budget.moves + 1) / 2;
    }
    struct costs *costs = costs_new(request->workflow, request->platform, err);
    if (!costs)
        return NULL;
    struct problem *p = problem_new(costs);
    struct portfolio portfolio;
    struct plan *plan = NULL;
    run.problem = p;
    if (portfolio_run(request, p, run.allow_copies, &portfolio, err))
        plan = auto_improve(&run, &portfolio);
    portfolio_free(&portfolio);
    problem_free(p);
    costs_free(costs);
    if (plan && files)
        plan = improve_within_memory(request, plan,
                                     &(struct improve_budget){.seconds = run.budget.seconds,
                                                              .moves = run.budget.moves,
                                                              .planners = true,
                                                              .copies = run.allow_copies},
                                     err);
    return plan;
}

static const struct option options[] = {
    {"budget", OPTION_TEXT, "1s", NULL, 0, 0,
     "how long to improve: a time (1s, 500ms) or a number of moves (20000moves), which is "
     "reproducible from the seed"},
    {"duplication", OPTION_BOOL, "true", NULL, 0, 0,
     "plans may run a task twice, where that is shorter than sending its data"},
    {0},
};

const struct planner planner_auto = {
    .name = "auto",
    .family = "search",
    .summary = "the best of all planners of static plans, improved by local search within a budget",
    .paper =
        "portfolio, simulated annealing over (order, node), tabu search (after Mastrolilli and "
        "Gambardella, J. Scheduling 3(1), 2000), branch and bound and a search with task "
        "duplication; weft's own",
    .guarantee =
        "never longer than the plan of any other planner of static plans, but for `optimal` "
        "past 9 tasks (it searches for 10 s), where files count in memory past 400 tasks, and "
        "those that a note names as not asked because "
        "of many tasks; no plan is shorter than lower_bound, or none with one copy of each "
        "task where this one has no more; the same seed and a budget in moves give the same "
        "plan",
    .tie_rule =
        "members in a fixed order, then streams in order; the first of equally short plans stays",
    .options = options,
    .accepts = ACCEPTS_DAG | ACCEPTS_META,
    .run = run_auto,
};
