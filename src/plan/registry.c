/* The registry: the table of all planners, their options read and checked, and the one way in which
 * a planner is run.
 *
 * A planner's row stands in its own file; planners.def names it, and everything else (help, pages,
 * completion, `compare`, the portfolio of the searches, the conformance test) follows from the row.
 * The table is read-only: any thread may use it. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "base/plural.h"
#include "model/capacity.h"
#include "model/check.h"
#include "model/graph.h"
#include "plan/memory/within.h"
#include "plan/own.h"
#include "plan/planner.h"
#include <stdio.h>
#include <math.h>
#include <string.h>

#define PLANNER(x) extern const struct planner planner_##x;
#include "plan/planners.def"
#undef PLANNER

const struct planner *const planner_registry[] = {
#define PLANNER(x) &planner_##x,
#include "plan/planners.def"
#undef PLANNER
    NULL,
};

const struct planner *planner_find(const char *name)
{
    for (size_t i = 0; planner_registry[i]; i++)
        if (strcmp(planner_registry[i]->name, name) == 0)
            return planner_registry[i];
    return planner_find_own(name);
}

bool planner_unknown(const char *name, struct error *err)
{
    const char *names[256] = {0};
    size_t count = 0;
    for (const struct planner *p; (p = planner_at(count)) && count < sizeof names / sizeof *names;)
        names[count++] = p->name;
    const char *near = suggest_nearest(name, names, count);
    if (near)
        return error_set(err, ERROR_INPUT,
                         "no planner '%s'; did you mean '%s'? `weft planners` lists them", name,
                         near);
    return error_set(err, ERROR_INPUT, "no planner '%s'; `weft planners` lists them", name);
}

/* ---- options ---- */

/* A planner signs its plan with its options, so that one given twice is a question, not an answer. */
static bool planner_options_once(const struct planner *planner, const struct option_value *options,
                                 size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(options[k].name, options[i].name) == 0)
                return error_set(err, ERROR_INPUT, "option '%s' of planner '%s' is given twice",
                                 options[i].name, planner->name);
    return true;
}

bool planner_check_options(const struct planner *planner, const struct option_value *options,
                           size_t count, struct error *err)
{
    char owner[96];
    snprintf(owner, sizeof owner, "planner '%s'", planner->name);
    return options_check(planner->options, owner, options, count, err) &&
           planner_options_once(planner, options, count, err);
}

const char *request_text(const struct plan_request *r, const struct planner *p, const char *name)
{
    return option_text(p->options, r->options, r->noptions, name);
}

double request_number(const struct plan_request *r, const struct planner *p, const char *name)
{
    const struct option *o = option_find(p->options, name);
    const char *text = request_text(r, p, name);
    return o && text ? option_number(o, text) : 0;
}

/* Not by way of a double: it has all 63 bits. */
int64_t request_integer(const struct plan_request *r, const struct planner *p, const char *name)
{
    const char *text = request_text(r, p, name);
    int64_t number = 0;
    if (text)
        quantity_integer(text, strlen(text), &number);
    return number;
}

bool request_bool(const struct plan_request *r, const struct planner *p, const char *name)
{
    return request_number(r, p, name) != 0;
}

/* ---- running ---- */

/* Planners of trees take any task for one of work / speed on any node. What is not would be planned wrongly
 * without a word: refused. O(tasks + nodes). */
static bool tree_planner_suits(const struct planner *planner, const struct workflow *w,
                               const struct platform *p, struct error *why)
{
    uint32_t fewest = UINT32_MAX;
    uint64_t common = UINT64_MAX;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (!p->up[n])
            continue;
        fewest = p->cores[n] < fewest ? p->cores[n] : fewest;
        if (w->needs)
            common &= workflow_attribute_mask(w, platform_has(p, n));
    }
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool times = w->time_off && w->time_off[t + 1] > w->time_off[t];
        bool lacks = w->needs && w->needs[t] & ~common, wide = w->cores[t] > fewest;
        if (times || lacks || wide)
            return error_set(why, ERROR_INPUT,
                             "planner '%s' runs any task on any node, in work / speed, and task "
                             "'%s' %s; heft, auto, optimal and the other planners of any graph "
                             "count that",
                             planner->name, workflow_task_name(w, t),
                             times   ? "has times of its own on nodes"
                             : lacks ? "needs an attribute that not every node has"
                                     : "needs more cores than some node has");
    }
    return true;
}

bool planner_suits(const struct planner *planner, const struct workflow *w,
                   const struct platform *p, struct error *why)
{
    if (p->nnodes == 0)
        return error_set(why, ERROR_INPUT, "the platform has no nodes");
    if ((planner->accepts & ACCEPTS_TREE) && !(planner->accepts & ACCEPTS_DAG) &&
        graph_tree_shape(w) == TREE_NOT)
        return error_set(why, ERROR_INPUT,
                         "planner '%s' takes trees only, and workflow '%s' is none: every task but "
                         "the root must have one parent, or every task but the root one child",
                         planner->name, workflow_text(w, w->name));
    bool streams = planner->accepts & ACCEPTS_STREAM;
    bool trees = planner->accepts & ACCEPTS_TREE && !(planner->accepts & ACCEPTS_DAG);
    if (w->asks && (streams || trees))
        return error_set(
            why, ERROR_INPUT,
            "planner '%s' does not count resources, and tasks of workflow '%s' ask for "
            "some; heft, auto, optimal and the other planners of any graph do",
            planner->name, workflow_text(w, w->name));
    if (trees && !tree_planner_suits(planner, w, p, why))
        return false;
    return planner->accepts & ACCEPTS_ORDER || plan_can_place(w, why);
}

static void sign_plan(struct plan *plan, const struct planner *planner,
                      const struct plan_request *request, double seconds)
{
    free(plan->planner);
    plan->planner = mem_copy_string(planner->name);
    plan->seed = request->seed;
    plan->planning_seconds = seconds;
    for (const struct option *o = planner->options; o && o->name; o++)
        plan_set_option(plan, o->name, request_text(request, planner, o->name));
}

/* ---- things ---- */

/* Does some task ask for a part of a thing? */
static bool asks_for_parts(const struct workflow *w)
{
    for (size_t i = 0; i < (size_t)w->nasks * THING_SORTS; i++)
        if (w->amount[i] % THING_ONE)
            return true;
    return false;
}

/* The same with whole things for parts of them: what fits so can always be handed out. Of things that no
 * node has ids of, parts stay parts. */
static struct plan *run_with_whole_things(const struct planner *planner,
                                          const struct plan_request *request, struct error *err)
{
    struct workflow whole = *request->workflow;
    struct plan_request own = *request;
    uint32_t named = 0;
    for (uint32_t n = 0; n < request->platform->nnodes; n++) {
        struct capacity there = {0};
        capacity_set_things(&there, &whole, platform_resources(request->platform, n));
        named |= there.things;
    }
    size_t cells = (size_t)whole.nasks * THING_SORTS;
    whole.amount = mem_new(uint32_t, cells);
    for (size_t i = 0; i < cells; i++) {
        uint32_t amount = request->workflow->amount[i];
        bool part = amount % THING_ONE && named >> i % THING_SORTS & 1;
        whole.amount[i] = part ? (amount / THING_ONE + 1) * THING_ONE : amount;
    }
    own.workflow = &whole;
    struct plan *plan = planner->run(&own, err);
    free(whole.amount);
    return plan;
}

/* Planners count things by their amounts. Where parts of them cannot be handed out by id that way, the
 * plan is made again with whole ones; and no planner's plan gets past the checker's rule. */
static struct plan *run_with_things(const struct planner *planner,
                                    const struct plan_request *request, struct error *err)
{
    struct plan *plan = planner->run(request, err);
    struct error wrong = {0}, still = {0};
    if (!plan || check_plan_things(plan, request->workflow, request->platform, &wrong))
        return plan;
    plan_free(plan);
    plan = asks_for_parts(request->workflow) ? run_with_whole_things(planner, request, err) : NULL;
    if (plan && check_plan_things(plan, request->workflow, request->platform, &still)) {
        plan_note(plan, "planned with whole things where tasks ask for parts of them: %s",
                  wrong.text);
        return plan;
    }
    plan_free(plan);
    error_set(err, ERROR_INFEASIBLE, "planner '%s' found no plan that keeps to the resources: %s",
              planner->name, wrong.text);
    return NULL;
}

/* Where memory counts, some tasks state theirs and others do not: who reads the plan should know which
 * were taken to need none. */
static void note_unknown_memory(struct plan *plan, const struct workflow *w)
{
    uint32_t unknown = 0, first = 0;
    for (uint32_t t = w->ntasks; t--;)
        if (w->memory[t] == 0) {
            unknown++;
            first = t;
        }
    if (unknown == 0 || unknown == w->ntasks)
        return;
    plan_note(plan, "the memory of %u of %u task%s is 0 or not stated, and counts as 0 ('%s'%s)",
              unknown, w->ntasks, plural(w->ntasks), workflow_task_name(w, first),
              unknown > 1 ? ", ..." : "");
}

/* Asked once before any planner begins, in O(objects), so that none of them has to look out for infinities.
 * Memory is added up in doubles: where all of it together is past their range, no sum of a part can be
 * trusted either. The task is the one at which it overflows. */
static bool memory_adds_up(const struct workflow *w, struct error *err)
{
    double total = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        total += w->memory[t];
        for (uint32_t o = w->object_off[t]; w->size && o < w->object_end[t]; o++)
            total += w->size[o];
        if (!isfinite(total))
            return error_set(
                err, ERROR_INPUT,
                "task '%s': with its memory and the sizes of its files the workflow has more "
                "than 1.8e308 bytes, and memory cannot be counted; state sizes in bytes",
                workflow_task_name(w, t));
    }
    return true;
}

struct plan *planner_run(const struct planner *planner, const struct plan_request *request,
                         struct error *err)
{
    if (!planner_check_options(planner, request->options, request->noptions, err) ||
        !planner_suits(planner, request->workflow, request->platform, err))
        return NULL;
    if (platform_limits_memory(request->platform) && !memory_adds_up(request->workflow, err))
        return NULL;
    struct plan_request own = *request;
    own.planner = planner;
    double start = clock_seconds();
    struct plan *plan =
        request->workflow->asks ? run_with_things(planner, &own, err) : planner->run(&own, err);
    if (plan && plan->kind == PLAN_STATIC && platform_limits_memory(request->platform)) {
        if (within_asked(&own))
            plan = within_memory(&own, plan, err);
        else
            plan->memory = MEMORY_TASKS;
    }
    if (plan && (plan->kind == PLAN_STATIC || plan->kind == PLAN_PARTITION) &&
        platform_limits_memory(request->platform))
        note_unknown_memory(plan, request->workflow);
    if (plan)
        sign_plan(plan, planner, request, clock_seconds() - start);
    return plan;
}
