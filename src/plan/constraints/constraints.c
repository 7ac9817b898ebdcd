/* `constraints`: the user's own constraints, fulfilled by search (Ahrens, Shapiro, Tanimoto 1997).
 *
 * Reads the rules (default, file, workflow, --assert, in this order), sets up the space (space.h),
 * searches it, and says what happened: the search in a line, with --explain every constraint and
 * what it did, and which tasks a constraint pinned to their processor. When nothing is found the
 * message names the constraint that removed the deepest states. */
#include "base/clock.h"
#include "plan/constraints/rules.h"
#include "plan/constraints/search.h"
#include <inttypes.h>
#include <stdio.h>

const struct planner planner_constraints;

static const char *text_option(const struct plan_request *r, const char *name)
{
    const char *text = request_text(r, &planner_constraints, name);
    return text ? text : "";
}

/* What the workflow file itself asks for. Messages name the file, the line of the text in it, and
 * the place within the text. */
static bool read_workflow_rules(struct space *s, struct error *err)
{
    const struct workflow *w = s->w;
    const char *file = workflow_text(w, w->file);
    struct strbuf name = {0};
    bool good = true;
    for (uint32_t i = 0; i < w->nassertions && good; i++) {
        strbuf_clear(&name);
        strbuf_add(&name, *file ? file : "<workflow>");
        if (w->assertion_line[i])
            strbuf_printf(&name, ":%u", w->assertion_line[i]);
        strbuf_printf(&name, " (assert %u)", i + 1);
        good = query_read(s->query, strbuf_text(&name), workflow_text(w, w->assertion[i]), err);
    }
    strbuf_free(&name);
    return good;
}

/* The default constraints go first; a file replaces them unless the user says otherwise. */
static bool read_rules(struct space *s, struct error *err)
{
    const struct plan_request *r = s->request;
    const char *file = text_option(r, "rules"), *more = text_option(r, "assert");
    const char *name = text_option(r, "rules-name"), *defaults = text_option(r, "defaults");
    bool wanted = strcmp(defaults, "auto") == 0 ? !*file : strcmp(defaults, "yes") == 0;
    if (wanted && !query_read(s->query, "<default>", constraints_default_rules, err))
        return false;
    if (*file && !query_read(s->query, *name ? name : "<rules>", file, err))
        return false;
    if (!read_workflow_rules(s, err))
        return false;
    return !*more || query_read(s->query, "--assert", more, err);
}

/* "no schedule fulfils the requirements", with the constraint to blame. Always false. */
static bool say_infeasible(struct space *s, const struct search_result *r,
                           const struct constraints_limits *limits, struct error *err)
{
    struct strbuf text = {0};
    if (s->killer != SIZE_MAX) {
        strbuf_printf(&text, "; the last states were removed by ");
        space_describe(s, s->killer, &text);
        strbuf_printf(&text, " (%" PRIu64 " states)", s->killed[s->killer]);
        if (!s->goal_only)
            strbuf_add(&text, "; requirements hold in every state on the way: --set "
                              "requirements=goal asks them of complete schedules only");
    } else {
        strbuf_add(&text, ": no processor that can run a task can be reached from where its "
                          "inputs are");
    }
    if (r->complete)
        error_set(err, ERROR_INFEASIBLE,
                  "no schedule fulfils the requirements (%" PRIu64 " states, all there are)%s",
                  r->states, strbuf_text(&text));
    else
        error_set(err, ERROR_INFEASIBLE,
                  "no schedule that fulfils the requirements was found in "
                  "%" PRIu64 " states and %g s%s",
                  r->states, limits->seconds, strbuf_text(&text));
    strbuf_free(&text);
    return false;
}

/* ---- what to tell ---- */

/* The search in one line: method, states, what the preferences sum to. */
static void tell_search(struct plan *plan, const struct space *s, const struct search_result *r,
                        bool optimal)
{
    double total = s->weights + s->p1;
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "%s, p1 = %g: %" PRIu64 " states, %" PRIu64 " expanded, %" PRIu64 " met again",
                  optimal     ? "branch and bound"
                  : r->moves  ? "construction and local search"
                  : s->p1 > 0 ? "A*"
                              : "best-first",
                  s->p1, r->states, r->expanded, r->duplicates);
    if (r->moves)
        strbuf_printf(&text, ", %" PRIu64 " moves tried", r->moves);
    strbuf_printf(&text, "; preferences sum to %.6g (0 is best)", total > 0 ? r->g / total : 0);
    if (optimal && r->complete)
        strbuf_add(&text, ", proven optimal");
    else if (optimal)
        strbuf_printf(&text, ", at least %.6g", total > 0 ? r->bound / total : 0);
    if (r->stopped)
        strbuf_add(&text, "; stopped early, this is the best so far");
    plan_note(plan, "%s", strbuf_text(&text));
    if (s->pinned)
        plan_note(plan, "requirements keep %u of %u tasks off some processors that could run them",
                  s->pinned, s->w->ntasks);
    strbuf_free(&text);
}

/* One constraint on the schedule laid out: its measure, whether it holds or what it weighs. */
static void tell_constraint(struct plan *plan, struct space *s, size_t i)
{
    const struct constraint_info *info = &s->info[i];
    struct strbuf text = {0};
    double measure = query_measure(s->query, i), total = s->weights + s->p1;
    static const char *const types[] = {"relationship", "value", "ordering"};
    strbuf_printf(&text, "%s %s: ", types[info->type],
                  info->requirement ? "requirement" : "preference");
    if (info->type == CONSTRAINT_VALUE && measure != measure)
        strbuf_add(&text, "unknown");
    else if (info->type == CONSTRAINT_VALUE)
        strbuf_printf(&text, "%.10g", measure);
    else
        strbuf_printf(&text, "%.0f failed tests", measure);
    if (info->requirement) {
        strbuf_printf(&text, ", %s; removed %" PRIu64 " states",
                      query_holds(s->query, i) ? "holds" : "does not hold", s->killed[i]);
    } else {
        double scaled = query_scaled(s->query, i);
        strbuf_printf(&text, ", %s, %.6g of %.6g..%.6g; priority %g, weighs %.6g",
                      info->maximize ? "maximized" : "minimized", scaled, info->low, info->high,
                      info->priority, total > 0 ? scaled * info->priority / total : 0);
    }
    strbuf_printf(&text, " (%s) ",
                  info->incremental ? "incremental"
                  : info->native    ? "by rows"
                                    : "SQLite");
    space_describe(s, i, &text);
    plan_note(plan, "%s", strbuf_text(&text));
    strbuf_free(&text);
}

/* Read back from the first note: the plan has no field for it. */
uint64_t constraints_states(const struct plan *plan)
{
    const char *at = plan->notes.n ? strstr(plan->notes.at[0], ": ") : NULL;
    return at ? strtoull(at + 2, NULL, 10) : 0;
}

/* ---- what was pinned ---- */

/* How many of the processors that can run the task a constraint on assignments leaves it: those
 * where it fails least. 0 when `node` is not one of them, or when all are. The state laid out is
 * empty. */
static uint32_t count_left(struct space *s, size_t constraint, uint32_t task, uint32_t node)
{
    uint32_t best = 0, could = 0;
    double least = INFINITY, here = NAN;
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        double seconds = costs_time(s->costs, task, n);
        if (!(seconds < INFINITY))
            continue;
        query_push(s->query, task, n, 0, seconds);
        double failed = query_measure(s->query, constraint);
        query_pop(s->query);
        best = failed < least ? 1 : best + (failed == least);
        least = fmin(least, failed);
        here = n == node ? failed : here;
        could++;
    }
    return here == least && best < could ? best : 0;
}

/* Mark tasks whose processor a constraint chose: it leaves them one only, or fewer than it leaves
 * other tasks (one that closes processors to all pins nobody). The first such constraint counts.
 * Costs an evaluation for each task and processor; spends nothing on other constraints. */
static void mark_pins(struct plan *plan, struct space *s)
{
    uint32_t n = s->w->ntasks;
    uint32_t *node = mem_new(uint32_t, n), *left = mem_new(uint32_t, n);
    uint32_t *pinned = mem_new_zero(uint32_t, n);
    for (size_t i = 0; i < plan->placements.n; i++)
        node[plan->placements.at[i].task] = plan->placements.at[i].node;
    bool any = false;
    for (size_t c = 0; c < query_size(s->query); c++) {
        /* what requirements forbid is counted already */
        if (!s->info[c].pins || (s->info[c].requirement && !s->pinned))
            continue;
        uint32_t most = 0;
        for (uint32_t t = 0; t < n; t++) {
            left[t] = count_left(s, c, t, node[t]);
            uint32_t choice = left[t] ? left[t] : s->p->nnodes;
            most = choice > most ? choice : most;
        }
        for (uint32_t t = 0; t < n; t++)
            if (!pinned[t] && left[t] && (left[t] == 1 || left[t] < most)) {
                pinned[t] = (uint32_t)c + 1;
                any = true;
            }
    }
    for (uint32_t t = 0; any && t < n; t++)
        if (pinned[t])
            array_push(&plan->pins, (struct plan_pin){t, pinned[t]});
    for (size_t c = 0; any && c < query_size(s->query); c++) {
        struct strbuf text = {0};
        space_describe(s, c, &text);
        array_push(&plan->constraints, strbuf_steal(&text));
    }
    free(node);
    free(left);
    free(pinned);
}

/* ---- running ---- */

/* Which search, by size and options; then the plan, and what there is to tell of it. */
static struct plan *search_space(struct space *s, struct error *err)
{
    const struct plan_request *request = s->request;
    bool optimal = request_bool(request, &planner_constraints, "optimal");
    int64_t large = request_integer(request, &planner_constraints, "switch");
    struct constraints_limits limits = {
        .seconds = request_number(request, &planner_constraints, "limit"),
        .states = (uint64_t)request_integer(request, &planner_constraints, "states")};
    limits.deadline = clock_seconds() + limits.seconds;
    struct search_result r = (int64_t)s->w->ntasks > large && !optimal
                                 ? search_large(s, &limits)
                                 : search_best_first(s, &limits, optimal);
    if (query_failed(s->query, err))
        return NULL;
    if (!r.found) {
        say_infeasible(s, &r, &limits, err);
        return NULL;
    }
    if (!space_allows(s, false, true)) {
        say_infeasible(s, &r, &limits, err);
        return NULL;
    }
    struct plan *plan = schedule_plan(s->schedule);
    tell_search(plan, s, &r, optimal);
    for (size_t i = 0; i < query_size(s->query) && request->explain; i++)
        tell_constraint(plan, s, i);
    space_reset(s);
    mark_pins(plan, s);
    return plan;
}

static struct plan *run_constraints(const struct plan_request *request, struct error *err)
{
    struct space *s = space_new(request, err);
    struct plan *plan = NULL;
    if (!s)
        return NULL;
    s->insertion = request_bool(request, &planner_constraints, "insertion");
    s->goal_only = strcmp(text_option(request, "requirements"), "goal") == 0;
    if (read_rules(s, err) &&
        space_begin(s, request_number(request, &planner_constraints, "p1"), err))
        plan = search_space(s, err);
    space_free(s);
    return plan;
}

static const struct option options[] = {
    {"assert", OPTION_TEXT, "", NULL, 0, 0, "constraints (as --assert gives them)"},
    {"rules", OPTION_TEXT, "", NULL, 0, 0,
     "constraints instead of the default ones (the text of --assert-file)"},
    {"rules-name", OPTION_TEXT, "", NULL, 0, 0, "what messages call the rules (the file's name)"},
    {"defaults", OPTION_CHOICE, "auto", "auto|yes|no", 0, 0,
     "the paper's default constraints (auto: unless there are rules)"},
    {"p1", OPTION_NUMBER, "-1", NULL, -1, 1e15,
     "priority of `more scheduled tasks`: large is fast, 0 thorough (-1: as the rules say)"},
    {"optimal", OPTION_BOOL, "false", NULL, 0, 0,
     "branch and bound: the schedule that fulfils the preferences best"},
    {"requirements", OPTION_CHOICE, "always", "always|goal", 0, 0,
     "ask requirements of every state on the way, as published, or of complete schedules only"},
    {"insertion", OPTION_BOOL, "false", NULL, 0, 0,
     "let a task slip into an idle gap before tasks scheduled earlier"},
    {"switch", OPTION_INTEGER, "400", NULL, 0, 1e9,
     "above so many tasks: construction and local search instead of best-first"},
    {"states", OPTION_INTEGER, "0", NULL, 0, 1e15,
     "stop after creating so many states with the best so far (0: no limit)"},
    {"limit", OPTION_SECONDS, "10s", NULL, 0, 0, "stop after this long with the best so far"},
    {0},
};

const struct planner planner_constraints = {
    .name = "constraints",
    .family = "search",
    .summary = "the user's own constraints, written in SQL, fulfilled by A* search",
    .paper =
        "J. P. Ahrens, L. G. Shapiro, S. L. Tanimoto: A distributed computing environment with "
        "support for constraint-based task scheduling and scientific experimentation. HPDC "
        "1997",
    .guarantee = "requirements hold; with optimal=true and no remark that it stopped early, no "
                 "schedule built by appending tasks fulfils the preferences better",
    .tie_rule = "equal scores: deeper states, then the earlier end of the newest task, then tasks "
                "by longest path, then the lowest node",
    .options = options,
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_TINY,
    .run = run_constraints,
};
