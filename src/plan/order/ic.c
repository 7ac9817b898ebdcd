/* The planners that stand on IC-scheduling theory: ic (the Sweep paper and what the specification
 * adds), area (largest AREA at once), prio (the DAGMan tool). study.h does the work; here are
 * options, verdicts and rows. */
#include "base/mem.h"
#include "plan/order/orders.h"
#include "plan/order/study.h"
#include <stdlib.h>
#include <string.h>

extern const struct planner planner_ic, planner_area, planner_prio;

static const char *const verdicts[] = {
    [PROOF_IC] = "IC_PROVED",
    [PROOF_NONE] = "IC_NONE",
    [PROOF_AREA] = "AREA_PROVED",
    [PROOF_GUESS] = "HEURISTIC",
};

/* One note a line. */
static void add_notes(struct plan *plan, const struct strbuf *text)
{
    const char *at = strbuf_text(text);
    while (*at) {
        size_t length = strcspn(at, "\n");
        plan_note(plan, "%.*s", (int)length, at);
        at += length + (at[length] == '\n');
    }
}

static struct plan *run_study(const struct plan_request *request, struct order_study_options *o)
{
    struct order_study s;
    struct strbuf explain = {0};
    o->progress = request->progress;
    o->explain = request->explain ? &explain : NULL;
    study_run(&s, request->workflow, o);
    struct plan *plan = order_plan(request->workflow, s.order);
    plan_set_objective(plan, "area_bound", (double)s.bound);
    plan->verdict = mem_copy_string(verdicts[s.proof]);
    plan->proof = mem_copy_string(strbuf_text(&s.why));
    if (request->explain) {
        add_notes(plan, &explain);
        plan_note(plan, "%s: %s", verdicts[s.proof], strbuf_text(&s.why));
    }
    strbuf_free(&explain);
    study_free(&s);
    return plan;
}

#define SEARCH_OPTIONS                                                                             \
    {.name = "ideals",                                                                             \
     .type = OPTION_INTEGER,                                                                       \
     .standard = "400000",                                                                         \
     .least = 1,                                                                                   \
     .most = 100000000,                                                                            \
     .help = "exact search gives up after so many ideals (dags of 24 nonsinks never do)"},         \
    {                                                                                              \
        .name = "flow", .type = OPTION_INTEGER, .standard = "200000000", .least = 0, .most = 1e15, \
        .help = "arc visits of the minimum cuts of Sidney's decomposition"                         \
    }

static void study_by_search(const struct plan_request *request, const struct planner *p,
                            struct order_study_options *o)
{
    study_options_init(o);
    o->effort.ideals = (uint64_t)request_integer(request, p, "ideals");
    o->effort.flow_left = (uint64_t)request_integer(request, p, "flow");
    if (o->effort.ideals_left < 2 * o->effort.ideals)
        o->effort.ideals_left = 2 * o->effort.ideals;
}

static const struct option ic_options[] = {
    {.name = "method",
     .type = OPTION_CHOICE,
     .standard = "all",
     .choices = "all|paper",
     .help =
         "paper: the Sweep paper's procedure alone, without phases, merged blocks and searches"},
    SEARCH_OPTIONS,
    {0},
};

static const struct option area_options[] = {SEARCH_OPTIONS, {0}};

static struct plan *run_ic(const struct plan_request *request, struct error *err)
{
    (void)err;
    struct order_study_options o;
    study_by_search(request, &planner_ic, &o);
    bool is_paper = strcmp(request_text(request, &planner_ic, "method"), "paper") == 0;
    o.method = is_paper ? METHOD_PAPER : METHOD_ALL;
    return run_study(request, &o);
}

static struct plan *run_area(const struct plan_request *request, struct error *err)
{
    (void)err;
    struct order_study_options o;
    study_by_search(request, &planner_area, &o);
    o.method = METHOD_AREA;
    return run_study(request, &o);
}

static struct plan *run_prio(const struct plan_request *request, struct error *err)
{
    (void)err;
    struct order_study_options o;
    study_options_init(&o);
    o.method = METHOD_PRIO;
    return run_study(request, &o);
}

const struct planner planner_ic = {
    .name = "ic",
    .family = "order",
    .summary =
        "the order that keeps the most tasks eligible at every step, with what is proved about it",
    .paper =
        "Cordasco, Malewicz, Rosenberg: Extending IC-scheduling via the Sweep Algorithm, PDP 2008",
    .guarantee = "IC_PROVED: no order has more eligible tasks at any step; IC_NONE: no such order "
                 "exists; AREA_PROVED: "
                 "largest sum of eligible tasks; decides every dag of up to 24 nonsinks",
    .tie_rule =
        "equal blocks by first task; within blocks and searches lowest topological index first",
    .options = ic_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER,
    .run = run_ic,
};

const struct planner planner_area = {
    .name = "area",
    .family = "order",
    .summary = "the order of the largest AREA (sum of eligible counts) by search and Sidney's "
               "decomposition",
    .paper = "Cordasco, De Chiara, Rosenberg: On scheduling dags to maximize AREA, IPDPS 2009; "
             "Sidney 1975",
    .guarantee = "AREA_PROVED or IC_PROVED where said; otherwise the ratio to an upper bound",
    .tie_rule = "lowest topological index first",
    .options = area_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER | ACCEPTS_SLOW,
    .run = run_area,
};

const struct planner planner_prio = {
    .name = "prio",
    .family = "order",
    .summary = "the DAGMan priority tool's order: source blocks by their worst ratio of priority",
    .paper = "Malewicz, Foster, Rosenberg, Wilde: A tool for prioritizing DAGMan jobs, J. Grid "
             "Computing 2007",
    .tie_rule = "equal ratios: steepest first atom, then first block",
    .accepts = ACCEPTS_DAG | ACCEPTS_ORDER,
    .run = run_prio,
};
