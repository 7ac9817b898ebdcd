/* Runs the members of the portfolio side by side, one a core, and keeps the shortest plan as it is
 * and a dozen different ones as solutions that the searches can change.
 *
 * Deterministic on any number of cores: results are compared in the order of the registry after all
 * have ended, and a member sees nothing of the others. Costs what the slowest member costs. */
#include "plan/search/portfolio.h"
#include "plan/own.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

/* Solutions kept for the searches to start from and return to. */
enum { PORTFOLIO_KEPT = 12 };

static bool is_member(const struct planner *planner, uint32_t tasks)
{
    switch (planner->portfolio) {
    case PORTFOLIO_NEVER:
        return false;
    case PORTFOLIO_TINY:
        return tasks <= PORTFOLIO_TINY_TASKS;
    case PORTFOLIO_SMALL:
        return tasks <= PORTFOLIO_SMALL_TASKS;
    case PORTFOLIO_MEDIUM:
        return tasks <= PORTFOLIO_MEDIUM_TASKS;
    case PORTFOLIO_ANY:
        return true;
    }
    return false;
}

/* The planners that may be members, as far as they are (or are not) with so many tasks. */
static const struct planner **select_members(uint32_t tasks, bool inside)
{
    size_t all = 0, count = 0;
    while (planner_at(all))
        all++;
    const struct planner **members = mem_new(const struct planner *, all + 1);
    for (size_t i = 0; i < all; i++) {
        const struct planner *planner = planner_at(i);
        if (planner && planner->portfolio != PORTFOLIO_NEVER && is_member(planner, tasks) == inside)
            members[count++] = planner;
    }
    members[count] = NULL;
    return members;
}

const struct planner **portfolio_members(uint32_t tasks)
{
    return select_members(tasks, true);
}

const struct planner **portfolio_left_out(uint32_t tasks)
{
    return select_members(tasks, false);
}

struct portfolio_work {
    struct plan_request request;
    const struct planner **planner; /* the members, and by member: */
    struct plan **plan;             /* NULL: it found none, and `error` says why */
    struct error *error;
};

/* A member that is a search itself and counts its states gets so many: enough for its first way down,
 * and the same everywhere. */
static const struct option_value portfolio_states = {"states", "20000"};

static void run_member(void *context, size_t i)
{
    struct portfolio_work *work = context;
    struct plan_request own = work->request;
    own.planner = work->planner[i];
    for (const struct option *o = own.planner->options; o && o->name; o++)
        if (strcmp(o->name, portfolio_states.name) == 0) {
            own.options = &portfolio_states;
            own.noptions = 1;
        }
    work->plan[i] = own.planner->run(&own, &work->error[i]);
}

/* Into out->solutions, sorted by makespan; equal makespans are taken for the same solution and kept
 * once. */
static void keep_solution(struct portfolio *out, const struct problem *p, struct decoder *d,
                          const struct plan *plan)
{
    struct encoding s = encoding_new(p->n);
    encoding_from_plan(&s, p, plan);
    s.makespan = decoder_load(d, &s);
    uint32_t at = out->count;
    for (uint32_t i = 0; i < out->count; i++)
        if (out->solutions[i].makespan == s.makespan)
            at = NONE;
    if (at == NONE || !isfinite(s.makespan)) {
        encoding_free(&s);
        return;
    }
    for (; at > 0 && out->solutions[at - 1].makespan > s.makespan; at--)
        out->solutions[at] = out->solutions[at - 1];
    out->solutions[at] = s;
    if (out->count == PORTFOLIO_KEPT)
        encoding_free(&out->solutions[PORTFOLIO_KEPT]);
    else
        out->count++;
}

/* Keeps the shortest with and the shortest without copies; takes `plan` over. */
static void keep_plan(struct portfolio *out, const struct problem *p, struct plan *plan,
                      const char *name)
{
    double makespan = plan_makespan(plan);
    struct plan **place = &out->best;
    if (plan->placements.n > p->n)
        place = &out->copied;
    if (*place && plan_makespan(*place) <= makespan) {
        plan_free(plan);
        return;
    }
    plan_free(*place);
    *place = plan;
    if (place == &out->copied) {
        out->copied_name = name;
        out->copied_makespan = makespan;
        return;
    }
    out->best_name = name;
    out->makespan = makespan;
}

/* Options of the search are not the members'; their progress would be nobody's. */
bool portfolio_run(const struct plan_request *request, const struct problem *p, bool copies,
                   struct portfolio *out, struct error *err)
{
    *out = (struct portfolio){.makespan = INFINITY, .copied_makespan = INFINITY};
    struct portfolio_work work = {.request = *request};
    work.request.options = NULL;
    work.request.noptions = 0;
    work.request.progress = NULL;
    work.planner = portfolio_members(p->n);
    size_t count = 0;
    while (work.planner[count])
        count++;
    work.plan = mem_new_zero(struct plan *, count);
    work.error = mem_new_zero(struct error, count);
    /* each member writes its own entry; nobody looks before all are done */
    parallel_for(count, 0, run_member, &work);

    out->solutions = mem_new(struct encoding, PORTFOLIO_KEPT + 1);
    struct decoder *d = decoder_new(p);
    for (size_t i = 0; i < count; i++) {
        if (!work.plan[i])
            continue;
        out->members++;
        keep_solution(out, p, d, work.plan[i]);
        keep_plan(out, p, work.plan[i], work.planner[i]->name);
    }
    decoder_free(d);
    bool found = out->best || (copies && out->copied);
    if (!found) {
        if (count)
            error_set(err, work.error[0].kind ? work.error[0].kind : ERROR_INFEASIBLE, "%s",
                      work.error[0].text[0] ? work.error[0].text : "no list planner found a plan");
        else
            error_set(err, ERROR_FAILED, "no list planners to start from");
    }
    free(work.planner);
    free(work.plan);
    free(work.error);
    return found;
}

void portfolio_free(struct portfolio *out)
{
    for (uint32_t i = 0; i < out->count; i++)
        encoding_free(&out->solutions[i]);
    free(out->solutions);
    plan_free(out->best);
    plan_free(out->copied);
    *out = (struct portfolio){0};
}
