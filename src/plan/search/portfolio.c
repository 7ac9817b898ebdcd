#include "plan/search/portfolio.h"
#include "base/parallel.h"
#include <math.h>

static const char *const members_all[] = {
    "heft", "peft", "cpop", "lookahead", "dls",     "etf",    "mcp",       "hlfet",
    "hcpt", "bil",  "dsc",  "flb",       "minmin",  "maxmin", "sufferage", "duplex",
    "olb",  "met",  "mct",  "wu-gajski", "fastest", NULL};
/* n log n, or close to it for a fixed number of nodes */
static const char *const members_fast[] = {"heft", "cpop", "mcp",     "hlfet", "hcpt",
                                           "flb",  "mct",  "fastest", NULL};
static const char *const members_few[] = {"heft", "fastest", NULL};

enum { PORTFOLIO_ALL = 2000, PORTFOLIO_FAST = 50000, PORTFOLIO_KEPT = 12 };

const char *const *portfolio_members(uint32_t tasks)
{
    return tasks <= PORTFOLIO_ALL    ? members_all
           : tasks <= PORTFOLIO_FAST ? members_fast
                                     : members_few;
}

struct work {
    struct plan_request request;
    const struct planner **planner;
    struct plan **plan;
    struct error *error;
};

static void run_member(void *context, size_t i)
{
    struct work *work = context;
    work->plan[i] = work->planner[i]->run(&work->request, &work->error[i]);
}

static void keep_solution(struct portfolio *out, const struct problem *p, struct decoder *d,
                          const struct plan *plan)
{
    struct candidate s = candidate_new(p->n);
    candidate_from_plan(&s, p, plan);
    s.makespan = decoder_load(d, &s);
    uint32_t at = out->count;
    for (uint32_t i = 0; i < out->count; i++)
        if (out->solutions[i].makespan == s.makespan)
            at = NONE;
    if (at == NONE || !isfinite(s.makespan)) {
        candidate_free(&s);
        return;
    }
    for (; at > 0 && out->solutions[at - 1].makespan > s.makespan; at--)
        out->solutions[at] = out->solutions[at - 1];
    out->solutions[at] = s;
    if (out->count == PORTFOLIO_KEPT)
        candidate_free(&out->solutions[PORTFOLIO_KEPT]);
    else
        out->count++;
}

bool portfolio_run(const struct plan_request *request, const struct problem *p,
                   struct portfolio *out, struct error *err)
{
    *out = (struct portfolio){.makespan = INFINITY};
    const char *const *names = portfolio_members(p->n);
    size_t most = 0, count = 0;
    while (names[most])
        most++;
    struct work work = {.request = *request};
    work.request.options = NULL;
    work.request.noptions = 0;
    work.request.progress = NULL;
    work.planner = mem_new(const struct planner *, most);
    work.plan = mem_new_zero(struct plan *, most);
    work.error = mem_new_zero(struct error, most);
    for (size_t i = 0; i < most; i++) {
        const struct planner *planner = planner_find(names[i]);
        if (planner)
            work.planner[count++] = planner;
    }
    parallel_for(count, 0, run_member, &work);

    out->solutions = mem_new(struct candidate, PORTFOLIO_KEPT + 1);
    struct decoder *d = decoder_new(p);
    for (size_t i = 0; i < count; i++) {
        if (!work.plan[i])
            continue;
        out->members++;
        keep_solution(out, p, d, work.plan[i]);
        double makespan = plan_makespan(work.plan[i]);
        if (makespan < out->makespan) {
            plan_free(out->best);
            out->best = work.plan[i];
            out->best_name = work.planner[i]->name;
            out->makespan = makespan;
        } else {
            plan_free(work.plan[i]);
        }
    }
    decoder_free(d);
    bool found = out->best != NULL;
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
        candidate_free(&out->solutions[i]);
    free(out->solutions);
    plan_free(out->best);
    *out = (struct portfolio){0};
}
