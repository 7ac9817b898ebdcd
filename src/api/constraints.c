/* The wishes about a schedule, judged on a plan, whichever planner made it. */
#include "api/inside.h"
#include "api/making.h"
#include "plan/constraints/happened.h"

struct weft_constraints {
    constraint_outcomes list;
};

/* Of each task the copy with the lowest number: the language speaks of tasks. The caller frees; NULL: a task has no
 * place, or the plan has no places at all. */
static struct placement *constraints_places(const struct plan *plan, uint32_t ntasks)
{
    struct placement *at = mem_new(struct placement, ntasks + 1);
    uint8_t *seen = mem_new_zero(uint8_t, ntasks + 1);
    uint32_t n = 0;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *p = &plan->placements.at[i];
        if (p->task >= ntasks)
            continue;
        n += !seen[p->task];
        if (!seen[p->task] || p->copy < at[p->task].copy)
            at[p->task] = *p;
        seen[p->task] = 1;
    }
    free(seen);
    if (n == ntasks)
        return at;
    free(at);
    return NULL;
}

/* A plan whose planner never heard of the constraints is judged like any other: that is what side by side means.
 * Without constraints the list is empty, and the plan may be of any kind. */
static struct weft_constraints *constraints_of(const struct weft_plan *plan, struct making *m,
                                               struct error *err)
{
    uint32_t n = plan->workflow->model->ntasks;
    struct weft_constraints *c = mem_new_zero(struct weft_constraints, 1);
    if (!constraints_are_given(&m->request))
        return c;
    struct placement *at = constraints_places(plan->model, n);
    bool good = at ? constraints_judge(&m->request, at, n, &c->list, err)
                   : error_set(err, ERROR_INPUT,
                               "constraints are judged on plans with places and "
                               "times for every task");
    free(at);
    if (good)
        return c;
    constraint_outcomes_free(&c->list);
    free(c);
    return NULL;
}

EXPORT struct weft_constraints *weft_plan_constraints(const struct weft_plan *plan,
                                                      const struct weft_plan_options *options,
                                                      struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct making m;
        if (making_begin(&m, plan->workflow, plan->platform, options, &call.err))
            call.result = constraints_of(plan, &m, &call.err);
        making_end(&m);
    }
    return api_result(&call);
}

EXPORT bool weft_workflow_constraints(const struct weft_workflow *w, struct weft_error *error)
{
    if (!w->model->nassertions)
        return true;
    struct weft_platform *p = weft_platform_named("1", error);
    if (!p)
        return false;
    API_CALL(call, error)
    {
        struct making m;
        call.good =
            making_begin(&m, w, p, NULL, &call.err) && constraints_read(&m.request, &call.err);
        making_end(&m);
    }
    bool good = api_end(&call);
    weft_platform_free(p);
    return good;
}

EXPORT bool weft_constraints_get(const struct weft_constraints *c, size_t i,
                                 struct weft_constraint *out)
{
    if (i >= c->list.n)
        return false;
    const struct constraint_outcome *x = &c->list.at[i];
    *out = (struct weft_constraint){x->text, x->requirement, x->wish, x->held, x->measure};
    return true;
}

EXPORT void weft_constraints_free(struct weft_constraints *c)
{
    if (!c)
        return;
    constraint_outcomes_free(&c->list);
    free(c);
}
