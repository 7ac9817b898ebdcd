/* Checking a plan, and comparing planners by plans that were checked. */
#include "api/inside.h"
#include "api/making.h"
#include "base/quantity.h"
#include "model/check.h"
#include "model/graph.h"
#include "plan/own.h"

#include <math.h>
#include <string.h>

/* ---- checking ---- */

EXPORT size_t weft_plan_check(const struct weft_plan *plan, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct check_result result;
        bool judged = check_plan(plan->model, plan->workflow->model, plan->platform->model, &result,
                                 &call.err);
        call.number = judged ? result.total : 1;
        call.good = !call.number;
        if (judged && result.total)
            error_set(&call.err, ERROR_FAILED, "%s: %s",
                      violation_name(result.violations.at[0].kind), result.violations.at[0].detail);
        check_result_free(&result);
    }
    if (api_end(&call))
        return 0;
    return call.number ? call.number : 1; /* could not be judged: not valid */
}

EXPORT struct weft_check *weft_check_new(const struct weft_plan *plan, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_check *c = mem_new_zero(struct weft_check, 1);
        if (check_plan(plan->model, plan->workflow->model, plan->platform->model, &c->result,
                       &call.err)) {
            call.result = c;
        } else {
            check_result_free(&c->result);
            free(c);
        }
    }
    return api_result(&call);
}

EXPORT void weft_check_free(struct weft_check *c)
{
    if (!c)
        return;
    check_result_free(&c->result);
    free(c);
}

EXPORT size_t weft_check_total(const struct weft_check *c)
{
    return c->result.total;
}

EXPORT bool weft_check_violation(const struct weft_check *c, size_t i, struct weft_violation *out)
{
    if (i >= c->result.violations.n)
        return false;
    const struct violation *v = &c->result.violations.at[i];
    *out = (struct weft_violation){violation_name(v->kind), v->detail, v->task};
    return true;
}

EXPORT double weft_check_objective(const struct weft_check *c, const char *name)
{
    return plan_objective(c->result.recomputed, name);
}

/* ---- comparing ---- */

/* Without being asked for by name, planners that the registry marks as exact are left out past so
 * many tasks (they would not end), those past n log n past so many (they would take minutes). */
enum { SMALL_TASKS = 24, SLOW_TASKS = 20000 };

struct compare_entry {
    char *planner, *failure;
    double makespan, seconds;
    uint32_t nodes_used;
    bool valid;
};

struct weft_compare {
    ARRAY(struct compare_entry) rows;
    double sequential; /* all tasks on the one node that is fastest for them */
    double critical;   /* the longest chain, every task at its best */
    double cores;      /* of nodes that are up */
    size_t left_out;
};

static void compare_measure(struct weft_compare *c, const struct workflow *w,
                            const struct platform *p, const struct costs *costs)
{
    double *least = mem_new(double, w->ntasks), sum = 0;
    c->sequential = INFINITY;
    for (uint32_t t = 0; t < w->ntasks; t++)
        sum += least[t] = costs_least(costs, t, NULL);
    for (uint32_t n = 0; n < p->nnodes; n++) {
        double total = 0;
        for (uint32_t t = 0; t < w->ntasks && total < c->sequential; t++)
            total += costs_time(costs, t, n);
        if (total < c->sequential)
            c->sequential = total;
        c->cores += p->up[n] ? p->cores[n] : 0;
    }
    if (isinf(c->sequential))
        c->sequential = sum; /* no node can run them all: each at its best */
    c->critical = graph_critical_path(w, least, NULL, NULL);
    free(least);
}

static bool compare_has_option(const struct planner *planner, const char *name)
{
    for (const struct option *o = planner->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return true;
    return false;
}

/* The option by which a searching planner is told how long it may take; NULL: it does not search.
 */
static const char *compare_time_option(const struct planner *planner)
{
    return compare_has_option(planner, "budget")  ? "budget"
           : compare_has_option(planner, "limit") ? "limit"
                                                  : NULL;
}

static void compare_add(struct weft_compare *c, const struct planner *planner,
                        const struct plan_request *request, const char *budget)
{
    struct option_value value = {compare_time_option(planner), budget};
    struct plan_request own = *request;
    struct error err = {0};
    own.options = &value;
    own.noptions = value.name != NULL;
    struct compare_entry row = {.planner = mem_copy_string(planner->name), .makespan = NAN};
    struct plan *plan = planner_run(planner, &own, &err);
    if (!plan) {
        row.failure = mem_copy_string(err.text);
    } else {
        struct check_result result;
        row.valid =
            check_plan(plan, request->workflow, request->platform, &result, &err) && !result.total;
        check_result_free(&result);
        row.makespan = plan_objective(plan, "makespan");
        row.seconds = plan->planning_seconds;
        row.nodes_used = plan_nodes_used(plan, request->platform);
        plan_free(plan);
    }
    array_push(&c->rows, row);
}

static int compare_rows(const void *a, const void *b)
{
    const struct compare_entry *x = a, *y = b;
    bool none_x = isnan(x->makespan), none_y = isnan(y->makespan);
    if (none_x != none_y)
        return none_x - none_y;
    if (!none_x && x->makespan != y->makespan)
        return x->makespan < y->makespan ? -1 : 1;
    if (!none_x && x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return strcmp(x->planner, y->planner);
}

typedef ARRAY(const struct planner *) planner_list;

/* Those asked for by name, or all that suit the workflow and end in sensible time. */
static bool compare_choose(const char *const *names, const struct workflow *w,
                           const struct platform *p, planner_list *list, size_t *left_out,
                           struct error *err)
{
    for (size_t i = 0; names && names[i]; i++) {
        const struct planner *planner = planner_find(names[i]);
        if (!planner)
            return planner_unknown(names[i], err);
        if (!planner_suits(planner, w, p, err))
            return false;
        array_push(list, planner);
    }
    if (names)
        return list->n || error_set(err, ERROR_INPUT, "--with names no planner");
    const struct planner *planner;
    for (size_t i = 0; (planner = planner_at(i)); i++) {
        if (!planner_suits(planner, w, p, NULL) ||
            planner->accepts & (ACCEPTS_STREAM | ACCEPTS_ORDER))
            continue;
        if ((planner->accepts & ACCEPTS_SMALL && w->ntasks > SMALL_TASKS) ||
            (planner->accepts & ACCEPTS_SLOW && w->ntasks > SLOW_TASKS))
            ++*left_out;
        else
            array_push(list, planner);
    }
    return true;
}

static struct weft_compare *compare_new(const struct weft_workflow *handle,
                                        const struct weft_platform *platform,
                                        const struct weft_compare_options *o, struct error *err)
{
    const struct workflow *w = handle->model;
    const struct platform *p = platform->model;
    double seconds;
    if (!quantity_seconds(o->budget, strlen(o->budget), &seconds) || !(seconds > 0)) {
        error_set(err, ERROR_INPUT, "--budget is '%s'; expected a time such as 1s or 500ms",
                  o->budget);
        return NULL;
    }
    planner_list list = {0};
    struct weft_compare *c = mem_new_zero(struct weft_compare, 1);
    struct costs *costs = costs_new(w, p, err);
    bool good = costs && compare_choose(o->planners, w, p, &list, &c->left_out, err);
    if (good) {
        compare_measure(c, w, p, costs);
        struct progress progress = {o->progress, o->context};
        struct plan_request request = {.workflow = w, .platform = p, .seed = o->seed};
        for (size_t i = 0; i < list.n; i++) {
            if (!progress_report(&progress, (double)i / (double)list.n, list.at[i]->name))
                break; /* stopped early: those so far */
            compare_add(c, list.at[i], &request, o->budget);
        }
        if (c->rows.n)
            qsort(c->rows.at, c->rows.n, sizeof *c->rows.at, compare_rows);
    }
    costs_free(costs);
    array_free(&list);
    if (good)
        return c;
    free(c);
    return NULL;
}

EXPORT struct weft_compare *weft_compare_new(const struct weft_workflow *w,
                                             const struct weft_platform *p,
                                             const struct weft_compare_options *options,
                                             struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_compare_options own = WEFT_COMPARE_INIT;
        if (api_options(&own, options, &call.err))
            call.result = compare_new(w, p, &own, &call.err);
    }
    return api_result(&call);
}

EXPORT void weft_compare_free(struct weft_compare *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->rows.n; i++) {
        free(c->rows.at[i].planner);
        free(c->rows.at[i].failure);
    }
    array_free(&c->rows);
    free(c);
}

EXPORT bool weft_compare_row(const struct weft_compare *c, size_t i, struct weft_compare_row *out)
{
    if (i >= c->rows.n)
        return false;
    const struct compare_entry *r = &c->rows.at[i];
    *out = (struct weft_compare_row){
        .planner = r->planner,
        .makespan = r->makespan,
        .speedup = r->makespan > 0 ? c->sequential / r->makespan : 1,
        .efficiency = r->makespan > 0 ? c->sequential / r->makespan / c->cores : 1,
        .slr = c->critical > 0 ? r->makespan / c->critical : 1,
        .seconds = r->seconds,
        .nodes_used = r->nodes_used,
        .valid = r->valid,
        .failure = r->failure,
    };
    return true;
}

EXPORT void weft_compare_scale(const struct weft_compare *c, double *sequential,
                               double *critical_path, size_t *left_out)
{
    *sequential = c->sequential;
    *critical_path = c->critical;
    *left_out = c->left_out;
}
