/* The handles: counted references to frozen models. The counts are atomic, so that two plans of
 * one workflow may be freed on two threads; nothing else in a handle changes after it was made. */
#include "api/api.h"

#include <stdio.h>
#include <string.h>

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
    char buffer[sizeof w->name];
    snprintf(w->name, sizeof w->name, "%s", workflow_display_name(model, buffer, sizeof buffer));
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
    free(p->measured);
    free(p);
}

/* What came through standard input cannot be found again under any name. */
static char *handles_file(const char *path)
{
    return mem_copy_string(strcmp(path, "standard input") == 0 ? "" : path);
}

/* A plan says which workflow and platform it is for, so that its file finds them again. */
static void handles_sign(struct plan *plan, const struct weft_workflow *w,
                         const struct weft_platform *p)
{
    if (plan->workflow_name)
        return;
    plan->workflow_name = mem_copy_string(w->name);
    plan->workflow_file = handles_file(workflow_text(w->model, w->model->file));
    plan->platform_name = mem_copy_string(pool_text(&p->model->text, p->model->name));
    plan->platform_file = handles_file(pool_text(&p->model->text, p->model->file));
}

struct weft_plan *api_plan_unkept(struct plan *model, const struct weft_workflow *w,
                                  const struct weft_platform *p)
{
    if (!model)
        return NULL;
    struct weft_plan *plan = mem_new_zero(struct weft_plan, 1);
    plan->model = model;
    handles_sign(model, w, p);
    return plan;
}

struct weft_plan *api_plan_keep(struct weft_plan *plan, const struct weft_workflow *w,
                                const struct weft_platform *p)
{
    if (plan) {
        plan->workflow = api_workflow_keep(w);
        plan->platform = api_platform_keep(p);
    }
    return plan;
}

struct weft_plan *api_plan(struct plan *model, const struct weft_workflow *w,
                           const struct weft_platform *p)
{
    return api_plan_keep(api_plan_unkept(model, w, p), w, p);
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
