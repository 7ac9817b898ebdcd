/* The handles: counted references to frozen models. The counts are atomic, so that two plans of
 * one workflow may be freed on two threads; nothing else in a handle changes after it was made. */
#include "api/api.h"

EXPORT const char *weft_version(void)
{
    return WEFT_VERSION;
}

EXPORT unsigned weft_api(void)
{
    return WEFT_API;
}

struct weft_workflow *api_workflow(struct workflow *model)
{
    if (!model)
        return NULL;
    struct weft_workflow *w = mem_new_zero(struct weft_workflow, 1);
    atomic_init(&w->references, 1);
    w->model = model;
    return w;
}

struct weft_platform *api_platform(struct platform *model)
{
    if (!model)
        return NULL;
    struct weft_platform *p = mem_new_zero(struct weft_platform, 1);
    atomic_init(&p->references, 1);
    p->model = model;
    return p;
}

/* The count is no part of what const promises. */
struct weft_workflow *api_workflow_keep(const struct weft_workflow *w)
{
    struct weft_workflow *own = (struct weft_workflow *)(uintptr_t)w;
    if (own)
        atomic_fetch_add_explicit(&own->references, 1, memory_order_relaxed);
    return own;
}

struct weft_platform *api_platform_keep(const struct weft_platform *p)
{
    struct weft_platform *own = (struct weft_platform *)(uintptr_t)p;
    if (own)
        atomic_fetch_add_explicit(&own->references, 1, memory_order_relaxed);
    return own;
}

EXPORT void weft_workflow_free(struct weft_workflow *w)
{
    if (!w || atomic_fetch_sub(&w->references, 1) != 1)
        return;
    workflow_free(w->model);
    free(w);
}

EXPORT void weft_platform_free(struct weft_platform *p)
{
    if (!p || atomic_fetch_sub(&p->references, 1) != 1)
        return;
    platform_free(p->model);
    free(p);
}

struct weft_plan *api_plan(struct plan *model, const struct weft_workflow *w,
                           const struct weft_platform *p)
{
    if (!model)
        return NULL;
    struct weft_plan *plan = mem_new_zero(struct weft_plan, 1);
    plan->model = model;
    /* Last, with no allocation after them: a failed call would not give the references back. */
    plan->workflow = api_workflow_keep(w);
    plan->platform = api_platform_keep(p);
    return plan;
}

EXPORT void weft_plan_free(struct weft_plan *plan)
{
    if (!plan)
        return;
    plan_free(plan->model);
    weft_workflow_free(plan->workflow);
    weft_platform_free(plan->platform);
    free(plan);
}
