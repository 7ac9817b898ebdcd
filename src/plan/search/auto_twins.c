/* What `auto` does with plans that run tasks twice: builds one, searches for shorter ones where the plan is
 * far from its bound, and keeps what was found. */
#include "base/clock.h"
#include "plan/search/auto_run.h"
#include "plan/search/twin_build.h"
#include "plan/search/twin_team.h"
#include <math.h>

enum { AUTO_BUILD_PLANS = 4 }; /* of each stream, to begin with */
/* Where sending takes so many times as long as computing copies have been worth more than all else. */
#define AUTO_LARGE_COPY_RATIO 8

bool auto_copies_are_promising(const struct problem *p)
{
    double sent = 0, computed = 0;
    uint32_t edges = p->pred_off[p->n];
    for (uint32_t e = 0; e < edges; e++)
        sent += p->pred_comm[e] / edges;
    for (uint32_t t = 0; t < p->n; t++)
        computed += p->least[t] / p->n;
    return p->n > PORTFOLIO_SMALL_TASKS && sent > AUTO_LARGE_COPY_RATIO * computed;
}

void auto_build_twins(struct auto_run *run)
{
    const struct auto_budget *budget = &run->budget;
    double deadline = INFINITY;
    unsigned plans = AUTO_BUILD_PLANS;
    if (!budget->moves)
        deadline = run->begun + budget->seconds * AUTO_LARGE_COPY_TIME;
    if (budget->moves) {
        double most = (double)budget->moves / (AUTO_MOVES_A_COPY * (run->problem->n + 1.0));
        plans = (unsigned)fmin(most, AUTO_BUILD_PLANS);
    }
    twin_build_several(run->problem, plans, deadline, &run->stop, &run->built);
}

/* The shortest plan so far as one of twins. */
static void auto_take_shortest(struct auto_run *run)
{
    if (run->copied && plan_makespan(run->copied) < run->built.makespan)
        twin_list_from_plan(&run->built, run->copied);
    if (run->best.makespan < run->built.makespan)
        twin_list_from_encoding(&run->built, run->problem, &run->best);
}

void auto_begin_twins(struct auto_run *run)
{
    const struct problem *p = run->problem;
    double copied = run->copied ? plan_makespan(run->copied) : INFINITY;
    double shortest = fmin(run->best.makespan, fmin(copied, run->built.makespan));
    run->twins = shortest >= AUTO_TABU_FAR * run->bounds.copies.value;
    if (!run->twins)
        return;
    if (!run->built.places.n && p->n <= PORTFOLIO_SMALL_TASKS)
        auto_build_twins(run);
    auto_take_shortest(run);
}

/* Until `share` of the budget is used, or to less: returns to which. */
static double search_over_twins(struct auto_run *run, struct twin_list *list, bool copies,
                                double from, double share)
{
    struct anneal_limits limits;
    const struct lower_bound *bound = copies ? &run->bounds.copies : &run->bounds.single;
    unsigned streams = auto_limit_streams(run, from, share, bound->value, &limits);
    if (streams == 0)
        return share;
    uint64_t moves =
        twin_team_search(run->problem, list, copies, streams, run->request->seed, &limits);
    run->moves += moves;
    double all = (double)limits.moves * streams, part = (double)moves / fmax(all, 1);
    if (!limits.moves)
        part = ((clock_seconds() - run->begun) / run->budget.seconds - from) / (share - from);
    return fmin(from + (share - from) * part, share);
}

double auto_search_twins(struct auto_run *run, double from, double share)
{
    if (atomic_load(&run->stop))
        return share;
    auto_take_shortest(run);
    if (!isfinite(run->built.makespan))
        return from;
    return search_over_twins(run, &run->built, true, from, share);
}

double auto_search_single(struct auto_run *run, double from, double share)
{
    const struct problem *p = run->problem;
    if (atomic_load(&run->stop) || !isfinite(run->best.makespan))
        return share;
    struct twin_list list = {0};
    twin_list_from_encoding(&list, p, &run->best);
    double to = search_over_twins(run, &list, false, from, share);
    struct plan *plan = twin_list_plan(&list, p);
    struct encoding found = encoding_new(p->n);
    encoding_from_plan(&found, p, plan);
    struct decoder *d = decoder_new(p);
    found.makespan = decoder_load(d, &found);
    if (found.makespan < run->best.makespan)
        encoding_copy(&run->best, &found, p->n);
    decoder_free(d);
    encoding_free(&found);
    plan_free(plan);
    array_free(&list.places);
    return to;
}

void auto_keep_twins(struct auto_run *run)
{
    if (!isfinite(run->built.makespan) ||
        (run->copied && plan_makespan(run->copied) <= run->built.makespan))
        return;
    plan_free(run->copied);
    run->copied = twin_list_plan(&run->built, run->problem);
}
