/* `constraints`: the user's own constraints, fulfilled by search (Ahrens, Shapiro, Tanimoto 1997).
 *
 * Reads the rules (default, file, workflow, --assert, in this order), sets up the space (space.h),
 * searches it, and says what happened: the search in a line, with --explain every constraint and
 * what it did, and which tasks a constraint pinned to their processor. When nothing is found the
 * message names the constraint that removed the deepest states. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/plural.h"
#include "plan/constraints/rules.h"
#include "plan/constraints/search.h"
#include "plan/constraints/ways.h"
#include <inttypes.h>
#include <stdio.h>

const struct planner planner_constraints;

/* Proof that there is none, with the constraint to blame: exit 3. */
static void say_none(const struct space *s, const struct ways_result *w, struct error *err)
{
    struct strbuf text = {0};
    if (s->killer != SIZE_MAX) {
        strbuf_printf(&text, "; the last states were removed by ");
        space_describe(s, s->killer, &text);
        strbuf_printf(&text, " (%" PRIu64 " states)", s->killed[s->killer]);
    } else {
        strbuf_add(&text, ": no processor that can run a task can be reached from where its "
                          "inputs are");
    }
    error_set(err, ERROR_INFEASIBLE,
              "no schedule fulfils the requirements (%" PRIu64 " states, all there are)%s",
              w->r.states + w->more_states, strbuf_text(&text));
    strbuf_free(&text);
}

/* The requirements that the schedule laid out breaks. */
static void describe_broken(struct space *s, struct strbuf *out)
{
    for (size_t i = 0; i < query_size(s->query); i++)
        if (s->info[i].requirement && !space_is_default_order(s, i) && !query_holds(s->query, i)) {
            strbuf_add(out, "; it breaks ");
            space_describe(s, i, out);
        }
}

/* There may be one: exit 1, with the best so far and what it breaks. */
static void say_not_found(struct space *s, const struct ways_result *w, double seconds,
                          struct error *err)
{
    struct strbuf text = {0};
    if (w->best.found) {
        strbuf_printf(&text, "; the best so far ends after %.6g s", w->best.verdict.makespan);
        describe_broken(s, &text);
    } else if (s->killer != SIZE_MAX) {
        strbuf_add(&text, "; the last states were removed by ");
        space_describe(s, s->killer, &text);
    }
    error_set(err, ERROR_FAILED,
              "no schedule that fulfils the requirements was found in %" PRIu64
              " states (limit %g s), and none was proved not to exist%s",
              w->r.states + w->more_states, seconds, strbuf_text(&text));
    strbuf_free(&text);
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
        plan_note(plan, "requirements keep %u of %u task%s off some processors that could run them",
                  s->pinned, s->w->ntasks, plural(s->w->ntasks));
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

/* A wish that stayed open is named, and why it may have. */
static void tell_unmet(struct plan *plan, struct space *s, size_t i)
{
    if (!s->info[i].wish || s->info[i].sees_order)
        return;
    double failed = query_measure(s->query, i);
    if (!(failed > 0))
        return;
    struct strbuf text = {0};
    strbuf_printf(&text, "a preference is not met (%.0f failed tests, priority %g): ", failed,
                  s->info[i].priority);
    space_describe(s, i, &text);
    plan_note(plan, "%s", strbuf_text(&text));
    strbuf_free(&text);
}

/* Another way than the published search, and what it did that the user may not expect. */
static void tell_way(struct plan *plan, const struct space *s, const struct ways_result *w)
{
    if (!w->found_by)
        return;
    plan_note(plan,
              "found by the %s search (%" PRIu64 " more states): the published one left something "
              "open; the default order of scheduling yields to yours",
              w->found_by, w->more_states);
    if (w->waiting)
        plan_note(plan, "%u of %u task%s though %s could start: an order asks for it", w->waiting,
                  s->w->ntasks, plural_word(s->w->ntasks, " waits", "s wait"),
                  plural_word(s->w->ntasks, "it", "they"));
}

/* Required orders that a run cannot wait for; or where it can, that a wish may have been given up for
 * that: the user may see it otherwise. */
static void tell_certainty(struct plan *plan, const struct space *s, const struct ways_result *w)
{
    size_t orders = 0, loose = 0;
    for (size_t i = 0; i < s->stated.n; i++)
        if (s->info[s->stated_by.at[i]].requirement) {
            orders++;
            loose += !verdict_is_firm(s, &s->stated.at[i]);
        }
    if (loose)
        plan_note(plan, "%zu required order%s between tasks only if all times are as predicted",
                  loose, plural_word(loose, " holds", "s hold"));
    else if (orders && w->best.verdict.unmet > 0 && !s->as_predicted)
        plan_note(plan,
                  "required orders that hold however long tasks take come before preferences: "
                  "--set orders=predicted may meet more, with orders that hold as predicted");
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

/* A space of its own for one way of searching: the rules are read again. */
static struct space *open_space(const struct plan_request *request,
                                const struct space_manner *manner, double deadline,
                                struct error *err)
{
    struct space *s = space_new(request, err);
    if (!s)
        return NULL;
    s->insertion = request_bool(request, &planner_constraints, "insertion");
    s->as_predicted = strcmp(constraints_option(request, "orders"), "predicted") == 0;
    s->manner = *manner;
    query_set_deadline(s->query, deadline);
    if (constraints_read_rules(s, err) &&
        space_begin(s, request_number(request, &planner_constraints, "p1"), err))
        return s;
    space_free(s);
    return NULL;
}

/* What a run waits for beside data and cores: the orders that are firm in this schedule, and the
 * start of a task that could have started earlier without any. */
static void note_waits(struct plan *plan, struct space *s)
{
    const struct relations *r = s->relations;
    uint32_t n = s->w->ntasks;
    uint8_t *explained = mem_new_zero(uint8_t, n + 1u);
    struct schedule_found c;
    candidate_init(&c, n);
    candidate_take(&c, s);
    for (size_t i = 0; i < s->stated.n; i++) {
        const struct time_order *o = &s->stated.at[i];
        if (!verdict_is_firm(s, o))
            continue;
        array_push(&plan->waits, (struct plan_wait){.task = o->after, .after = o->before});
        explained[o->after] |= r->start[o->after] <= r->finish[o->before] + 1e-9;
    }
    space_reset(s);
    for (uint32_t i = 0; i < n; i++) {
        const struct schedule_slot *slot = &c.slot[i];
        bool waits = space_slot(s, c.task[i], slot->node).start < slot->start;
        if (waits && !explained[c.task[i]])
            array_push(&plan->waits, (struct plan_wait){c.task[i], NONE, slot->start});
        space_push(s, c.task[i], *slot);
    }
    candidate_free(&c);
    free(explained);
}

/* What was found, as a plan with its remarks. The schedule is laid out. */
static struct plan *tell_plan(struct space *s, struct ways_result *w, bool optimal)
{
    struct plan *plan = schedule_plan(s->schedule);
    w->r.g = space_g(s, false);
    note_waits(plan, s);
    tell_search(plan, s, &w->r, optimal);
    tell_way(plan, s, w);
    for (size_t i = 0; i < query_size(s->query); i++)
        tell_unmet(plan, s, i);
    tell_certainty(plan, s, w);
    for (size_t i = 0; i < query_size(s->query) && s->request->explain; i++)
        tell_constraint(plan, s, i);
    space_reset(s);
    mark_pins(plan, s);
    return plan;
}

/* The search ends a little before the limit, so that what is evaluated then has time to end too. */
static struct plan *search_space(struct space *s, double begun, struct error *err)
{
    const struct plan_request *request = s->request;
    bool optimal = request_bool(request, &planner_constraints, "optimal");
    bool published = strcmp(constraints_option(request, "requirements"), "auto") != 0;
    struct constraints_limits limits = {
        .seconds = request_number(request, &planner_constraints, "limit"),
        .states = (uint64_t)request_integer(request, &planner_constraints, "states")};
    limits.deadline = begun + 0.9 * limits.seconds;
    struct ways_result w;
    struct plan *plan = NULL;
    ways_search(s, open_space, &limits, optimal, published,
                request_integer(request, &planner_constraints, "switch"), &w);
    bool none = !w.best.found || w.best.verdict.broken;
    bool too_slow = none && query_failed(s->query, err); /* then it has its message */
    if (w.impossible.kind) {
        *err = w.impossible;
    } else if (none && !too_slow) {
        if (w.proven || (published && w.r.complete))
            say_none(s, &w, err);
        else
            say_not_found(s, &w, limits.seconds, err);
    } else if (!none) {
        /* looking at what was found is not searching */
        query_set_deadline(s->query, clock_seconds() + fmax(1, limits.seconds));
        plan = tell_plan(s, &w, optimal);
    }
    ways_free(&w);
    return plan;
}

static struct plan *run_constraints(const struct plan_request *request, struct error *err)
{
    double begun = clock_seconds();
    double limit = request_number(request, &planner_constraints, "limit");
    struct space_manner manner = {
        .goal_only = strcmp(constraints_option(request, "requirements"), "goal") == 0};
    struct space *s = open_space(request, &manner, begun + limit, err);
    struct plan *plan = s ? search_space(s, begun, err) : NULL;
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
    {"requirements", OPTION_CHOICE, "auto", "auto|always|goal", 0, 0,
     "ask requirements of every state on the way, as published, or of complete schedules only "
     "(auto: as published, then by every other way)"},
    {"orders", OPTION_CHOICE, "certain", "certain|predicted", 0, 0,
     "required orders between tasks that hold however long tasks take come before preferences, or "
     "need to hold only if all times are as predicted"},
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
