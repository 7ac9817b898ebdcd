/* The checker's common part: the list of violations, the comparison of claimed objectives, and
 * the dispatch by the plan's kind. It knows the model and no planner, so that a planner cannot
 * excuse itself.
 *
 * check_static.c and check_network.c judge static plans, check_partition.c trees, check_stream.c
 * streams, check_shapes.c orders. Each recomputes what the plan claims from the placements alone.
 */
#include "model/check_rules.h"
#include "base/plural.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [VIOLATION_MISSING_TASK] = "missing-task",
    [VIOLATION_COPY] = "copy",
    [VIOLATION_NODE] = "node",
    [VIOLATION_TIME] = "time",
    [VIOLATION_DURATION] = "duration",
    [VIOLATION_PRECEDENCE] = "precedence",
    [VIOLATION_CORE] = "core",
    [VIOLATION_MEMORY] = "memory",
    [VIOLATION_RESOURCES] = "resources",
    [VIOLATION_TRANSFER] = "transfer",
    [VIOLATION_TRANSFER_EARLY] = "transfer-early",
    [VIOLATION_TRANSFER_SHORT] = "transfer-short",
    [VIOLATION_PORTS] = "ports",
    [VIOLATION_OBJECTIVE] = "objective",
    [VIOLATION_PARTITION] = "partition",
    [VIOLATION_STREAM] = "stream",
    [VIOLATION_ORDER] = "order",
};

const char *violation_name(enum violation_kind kind)
{
    return names[kind];
}

/* Past CHECK_MOST violations only the count grows: a plan for another workflow breaks every rule
 * a million times. */
void check_say(struct check *c, enum violation_kind kind, uint32_t task, const char *fmt, ...)
{
    struct check_result *r = c->result;
    if (++r->total > CHECK_MOST)
        return;
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    array_push(&r->violations, (struct violation){kind, task, mem_copy_string(text)});
}

/* The recomputed value is kept for the user even when the plan claims nothing. */
void check_objective(struct check *c, const char *name, double recomputed)
{
    plan_set_objective(c->result->recomputed, name, recomputed);
    double claimed = plan_objective(c->plan, name);
    if (isnan(claimed))
        return;
    /* Sums of many terms in another order may differ in the last digits. */
    if (!(fabs(claimed - recomputed) <= 1e-6 * fmax(fabs(claimed), fabs(recomputed)) + 1e-12))
        check_say(c, VIOLATION_OBJECTIVE, NONE, "claims %s %.10g; it is %.10g", name, claimed,
                  recomputed);
}

/* Indexes out of range cannot come from our reader, but may from a program that uses the library.
 */
static bool references_fit(const struct plan *plan, const struct workflow *w,
                           const struct platform *p, struct error *err)
{
    for (size_t i = 0; i < plan->placements.n; i++)
        if (plan->placements.at[i].task >= w->ntasks || plan->placements.at[i].node >= p->nnodes)
            return error_set(err, ERROR_INPUT,
                             "the plan does not belong to this workflow and platform");
    for (size_t i = 0; i < plan->transfers.n; i++) {
        const struct transfer *x = &plan->transfers.at[i];
        if (x->object >= w->nobjects || x->from >= p->nnodes || x->to >= p->nnodes)
            return error_set(err, ERROR_INPUT,
                             "the plan does not belong to this workflow and platform");
    }
    for (size_t i = 0; i < plan->waits.n; i++)
        if (plan->waits.at[i].task >= w->ntasks ||
            (plan->waits.at[i].after != NONE && plan->waits.at[i].after >= w->ntasks))
            return error_set(err, ERROR_INPUT, "the plan does not belong to this workflow");
    for (size_t i = 0; i < plan->tasks.n; i++)
        if (plan->tasks.at[i] >= w->ntasks)
            return error_set(err, ERROR_INPUT, "the plan does not belong to this workflow");
    for (size_t i = 0; i < plan->nodes.n; i++)
        if (plan->nodes.at[i] >= p->nnodes)
            return error_set(err, ERROR_INPUT, "the plan does not belong to this platform");
    for (size_t i = 0; i < plan->order.n; i++)
        if (plan->order.at[i] >= w->ntasks)
            return error_set(err, ERROR_INPUT, "the plan does not belong to this workflow");
    for (size_t i = 0; i < plan->parts.n; i++)
        if (plan->parts.at[i].root >= w->ntasks || plan->parts.at[i].node >= p->nnodes)
            return error_set(err, ERROR_INPUT,
                             "the plan does not belong to this workflow and platform");
    return true;
}

/* A plan gives a task one node: one that spans several can be in no valid plan, but for an order, which
 * gives nodes to none. */
static void check_spans(struct check *c)
{
    const struct workflow *w = c->w;
    if (workflow_first_wide(w) == NONE || c->plan->kind == PLAN_ORDER)
        return;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (workflow_span(w, t) > 1)
            check_say(c, VIOLATION_NODE, t, "task '%s' spans %u node%s; the plan gives it one",
                      workflow_task_name(w, t), w->nodes[t], plural(w->nodes[t]));
}

/* Plans of parts and of clusters do not say when a task runs, so nobody can say what is held then. */
static void refuse_things(struct check *c)
{
    if (c->w->asks)
        check_say(c, VIOLATION_RESOURCES, NONE,
                  "tasks hold resources, which a plan of this kind does not tell the times of");
}

/* False only when the plan cannot be judged at all; a plan that breaks rules is judged, and
 * `result` says how. */
bool check_plan(const struct plan *plan, const struct workflow *w, const struct platform *p,
                struct check_result *result, struct error *err)
{
    *result = (struct check_result){0};
    result->recomputed = plan_new(plan->kind);
    if (!references_fit(plan, w, p, err))
        return false;
    struct check c = {.plan = plan, .w = w, .p = p, .result = result};
    /* Times are sums of many terms, rounded as they go: a billionth of the makespan is no
     * violation. */
    double makespan = plan_makespan(plan);
    c.tolerance = 1e-9 * (isfinite(makespan) && makespan > 1 ? makespan : 1);
    check_spans(&c);
    switch (plan->kind) {
    case PLAN_STATIC:
        check_static(&c);
        check_network(&c);
        break;
    case PLAN_PARTITION:
        refuse_things(&c);
        check_partition(&c);
        break;
    case PLAN_STREAM:
        refuse_things(&c);
        check_stream(&c);
        break;
    case PLAN_ORDER:
        check_order(&c);
        break;
    }
    return true;
}

/* For planners: they look before anybody sees the plan. */
bool check_one_rule(const struct plan *plan, const struct workflow *w, const struct platform *p,
                    void (*rule)(struct check *), struct error *err)
{
    struct check_result result = {0};
    double makespan = plan_makespan(plan);
    struct check c = {.plan = plan,
                      .w = w,
                      .p = p,
                      .result = &result,
                      .tolerance = 1e-9 * (makespan > 1 ? makespan : 1),
                      .first = true};
    if (plan->kind == PLAN_STATIC)
        rule(&c);
    bool good = !result.total;
    if (!good)
        error_set(err, ERROR_INFEASIBLE, "%s", result.violations.at[0].detail);
    check_result_free(&result);
    return good;
}

void check_result_free(struct check_result *r)
{
    for (size_t i = 0; i < r->violations.n; i++)
        free(r->violations.at[i].detail);
    array_free(&r->violations);
    array_free(&r->cycle_times);
    plan_free(r->recomputed);
    *r = (struct check_result){0};
}
