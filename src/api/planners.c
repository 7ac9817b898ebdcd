/* Planners: the list of them with their options, and planners of the program's own.
 *
 * A registered planner is a row of the registry like any other (plan/own.h). Its run() makes a
 * draft, hands it to the program's function, and turns it into a plan.
 *
 * I1. A draft's blocks are on the account of the call that plans: the weft_draft_* functions enter
 *     boundaries of their own with that ledger, so that a failure returns to the program's function
 *     and never jumps over its frames.
 * I2. After such a failure the draft is broken, and run() fails with it when the function returns,
 *     whatever it returned. */
#include "api/api.h"
#include "model/costs.h"
#include "plan/own.h"

#include <stdio.h>
#include <string.h>

/* ---- the list ---- */

static bool planners_is_own(const struct planner *p)
{
    return planner_find_own(p->name) == p;
}

EXPORT bool weft_planner(size_t i, struct weft_planner *out)
{
    _Static_assert(
        (int)ACCEPTS_DAG == WEFT_ACCEPTS_DAG && (int)ACCEPTS_TREE == WEFT_ACCEPTS_TREE &&
            (int)ACCEPTS_STREAM == WEFT_ACCEPTS_STREAM &&
            (int)ACCEPTS_SMALL == WEFT_ACCEPTS_SMALL && (int)ACCEPTS_SLOW == WEFT_ACCEPTS_SLOW &&
            (int)ACCEPTS_META == WEFT_ACCEPTS_META && (int)ACCEPTS_ORDER == WEFT_ACCEPTS_ORDER,
        "same bits");
    const struct planner *p = planner_at(i);
    if (!p)
        return false;
    *out = (struct weft_planner){
        .name = p->name,
        .family = p->family,
        .summary = p->summary,
        .paper = p->paper,
        .guarantee = p->guarantee,
        .tie_rule = p->tie_rule,
        .accepts = p->accepts,
        .own = planners_is_own(p),
    };
    return true;
}

EXPORT size_t weft_planner_find(const char *name, struct weft_error *error)
{
    struct error err = {0};
    for (size_t i = 0; planner_at(i); i++)
        if (strcmp(planner_at(i)->name, name) == 0) {
            api_error_out(&err, error);
            return i;
        }
    planner_unknown(name, &err);
    api_error_out(&err, error);
    return SIZE_MAX;
}

EXPORT bool weft_planner_option(size_t i, size_t k, struct weft_option *out)
{
    const struct planner *p = planner_at(i);
    return api_option(p ? p->options : NULL, k, out);
}

EXPORT bool weft_planner_suits(const char *name, const struct weft_workflow *w,
                               const struct weft_platform *p, struct weft_error *error)
{
    API_CALL(call, error)
    {
        const struct planner *planner = planner_find(name);
        call.good = planner ? planner_suits(planner, w->model, p->model, &call.err)
                            : planner_unknown(name, &call.err);
    }
    return api_end(&call);
}

/* ---- planners of the program's own ---- */

struct planners_own {
    struct planner row; /* first: the registry's pointer is a pointer to this */
    bool (*run)(void *context, struct weft_draft *draft);
    void *context;
    char *name, *family, *summary;
    struct option *options; /* copies; end with a NULL name */
};

struct weft_draft {
    const struct plan_request *request;
    struct plan *plan;
    struct weft_workflow workflow; /* handles on this stack: nobody may keep them */
    struct weft_platform platform;
    struct costs *costs;
    struct api_account account; /* the ledger of the planning call */
    struct error err;
};

/* I2 and the end of a draft. */
static struct plan *planners_finish(struct weft_draft *d, bool good, struct error *err)
{
    costs_free(d->costs);
    if (good && d->err.kind == ERROR_NONE) {
        plan_sort(d->plan);
        if (d->plan->kind == PLAN_STATIC && d->plan->placements.n)
            plan_set_objective(d->plan, "makespan", plan_makespan(d->plan));
        return d->plan;
    }
    plan_free(d->plan);
    if (d->err.kind == ERROR_NONE)
        error_set(&d->err, ERROR_FAILED, "planner '%s' found no plan", d->request->planner->name);
    error_set(err, d->err.kind, "%s", d->err.text);
    return NULL;
}

static struct plan *planners_run_own(const struct plan_request *request, struct error *err)
{
    const struct planners_own *own = (const void *)request->planner;
    struct weft_draft *d = mem_new_zero(struct weft_draft, 1);
    struct mem_ledger *ledger = mem_boundary_ledger();
    d->request = request;
    d->costs = costs_new(request->workflow, request->platform, err);
    if (!d->costs) {
        free(d);
        return NULL;
    }
    d->plan = plan_new(own->row.accepts & ACCEPTS_ORDER ? PLAN_ORDER : PLAN_STATIC);
    d->workflow.model = (struct workflow *)(uintptr_t)request->workflow;
    d->platform.model = (struct platform *)(uintptr_t)request->platform;
    char buffer[sizeof d->workflow.name];
    snprintf(d->workflow.name, sizeof d->workflow.name, "%s",
             workflow_display_name(request->workflow, buffer, sizeof buffer));
    /* References that never reach 0 here: a plan made of them inside run() gives back its own. */
    atomic_init(&d->workflow.references, 1);
    atomic_init(&d->platform.references, 1);
    d->account.outer = ledger;
    bool good = own->run(own->context, d);
    bool broken = d->account.broken;
    struct plan *plan = broken ? NULL : planners_finish(d, good, err);
    free(d);
    if (broken)
        mem_fail(0);
    return plan;
}

static void planners_free_own(struct planners_own *own)
{
    if (!own)
        return;
    for (struct option *o = own->options; o && o->name; o++) {
        free((char *)o->name);
        free((char *)o->standard);
        free((char *)o->choices);
        free((char *)o->help);
    }
    free(own->options);
    free(own->name);
    free(own->family);
    free(own->summary);
    free(own);
}

static bool planners_copy_option(const struct weft_option *from, struct option *to,
                                 struct error *err)
{
    int type = 0; /* the public header has all types below OPTION_COUNT */
    while (type < OPTION_COUNT && strcmp(option_type_name((enum option_type)type), from->type) != 0)
        type++;
    if (type == OPTION_COUNT || !from->standard)
        return error_set(err, ERROR_INPUT,
                         "option '%s': its type is '%s', or it has no standard; types are bool, "
                         "integer, number, seconds, bytes, choice, text",
                         from->name, from->type);
    *to = (struct option){
        .name = mem_copy_string(from->name),
        .type = (enum option_type)type,
        .standard = mem_copy_string(from->standard),
        .choices = from->choices ? mem_copy_string(from->choices) : NULL,
        .least = from->least,
        .most = from->most,
        .help = mem_copy_string(from->help ? from->help : ""),
    };
    return true;
}

static bool planners_register(const struct weft_planner_own *p, struct error *err)
{
    if (!p->name || !*p->name || !p->run)
        return error_set(err, ERROR_INPUT, "a planner needs a name and a function");
    size_t n = 0;
    while (p->options && p->options[n].name)
        n++;
    struct planners_own *own = mem_new_zero(struct planners_own, 1);
    own->run = p->run;
    own->context = p->context;
    own->name = mem_copy_string(p->name);
    own->family = mem_copy_string(p->family ? p->family : "own");
    own->summary = mem_copy_string(p->summary ? p->summary : "");
    own->options = mem_new_zero(struct option, n + 1);
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = planners_copy_option(&p->options[i], &own->options[i], err);
    own->row = (struct planner){
        .name = own->name,
        .family = own->family,
        .summary = own->summary,
        .options = own->options,
        .accepts = p->accepts,
        .portfolio = p->in_auto ? PORTFOLIO_ANY : PORTFOLIO_NEVER,
        .run = planners_run_own,
    };
    if (good && planner_add(&own->row, err))
        return true;
    planners_free_own(own);
    return false;
}

EXPORT bool weft_planner_register(const struct weft_planner_own *planner, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_planner_own own = WEFT_PLANNER_INIT;
        call.good = api_options(&own, planner, &call.err) && planners_register(&own, &call.err);
    }
    return api_end(&call);
}

EXPORT bool weft_planner_unregister(const char *name)
{
    const struct planner *row = planner_remove(name);
    planners_free_own((struct planners_own *)(uintptr_t)row);
    return row != NULL;
}

/* ---- drafts ---- */

EXPORT const struct weft_workflow *weft_draft_workflow(const struct weft_draft *d)
{
    return &d->workflow;
}

EXPORT const struct weft_platform *weft_draft_platform(const struct weft_draft *d)
{
    return &d->platform;
}

EXPORT uint64_t weft_draft_seed(const struct weft_draft *d)
{
    return d->request->seed;
}

EXPORT const char *weft_draft_option(const struct weft_draft *d, const char *name)
{
    return request_text(d->request, d->request->planner, name);
}

EXPORT double weft_draft_time(const struct weft_draft *d, uint32_t task, uint32_t node)
{
    return costs_time(d->costs, task, node);
}

EXPORT bool weft_draft_progress(struct weft_draft *d, double fraction, const char *what)
{
    return progress_report(d->request->progress, fraction, what);
}

/* A change of the draft: `what` works on d->plan. */
#define DRAFT_DO(what)                                                                             \
    do {                                                                                           \
        API_CALL_ON(call, NULL, &d->account)                                                       \
        {                                                                                          \
            what;                                                                                  \
            call.good = true;                                                                      \
        }                                                                                          \
        return api_end(&call);                                                                     \
    } while (0)

EXPORT bool weft_draft_place(struct weft_draft *d, const struct weft_placement *at)
{
    /* Checked here, because planners' helpers index by these; the checker judges the rest. */
    if (at->task >= d->request->workflow->ntasks || at->node >= d->request->platform->nnodes)
        return error_set(&d->err, ERROR_INPUT, "there is no task %u or no node %u", at->task,
                         at->node);
    DRAFT_DO(array_push(&d->plan->placements, (struct placement){at->task, at->copy, at->node,
                                                                 at->core, at->start, at->finish}));
}

EXPORT bool weft_draft_transfer(struct weft_draft *d, const struct weft_transfer *x)
{
    uint32_t nodes = d->request->platform->nnodes;
    if (x->object >= d->request->workflow->nobjects || x->from >= nodes || x->to >= nodes)
        return error_set(&d->err, ERROR_INPUT, "there is no object %u or no node %u or %u",
                         x->object, x->from, x->to);
    DRAFT_DO(array_push(&d->plan->transfers,
                        (struct transfer){x->object, x->from, x->to, x->start, x->finish}));
}

EXPORT bool weft_draft_objective(struct weft_draft *d, const char *name, double value)
{
    DRAFT_DO(plan_set_objective(d->plan, name, value));
}

EXPORT bool weft_draft_note(struct weft_draft *d, const char *line)
{
    DRAFT_DO(plan_note(d->plan, "%s", line));
}

EXPORT bool weft_draft_order(struct weft_draft *d, const uint32_t *tasks, size_t n)
{
    DRAFT_DO(for (size_t i = 0; i < n; i++) array_push(&d->plan->order, tasks[i]));
}

EXPORT void weft_draft_fail(struct weft_draft *d, enum weft_status status, const char *why)
{
    error_set(&d->err, status == WEFT_DONE ? ERROR_FAILED : (enum error_kind)status, "%s", why);
}
