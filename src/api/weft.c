/* The public API: thin, and the only symbols that libweft.so exports. */
#include "weft/weft.h"
#include "base/file.h"
#include "base/mem.h"
#include "formats/format.h"
#include "model/check.h"
#include "plan/planner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The handles are the model's own structs under another name; a plan also remembers what it belongs
 * to. */
struct weft_plan {
    struct plan *plan;
    const struct workflow *workflow;
    const struct platform *platform;
};

static const struct workflow *flow(const struct weft_workflow *w)
{
    return (const struct workflow *)(const void *)w;
}

static const struct platform *machine(const struct weft_platform *p)
{
    return (const struct platform *)(const void *)p;
}

static void pass_on(const struct error *from, struct weft_error *to)
{
    if (!to || from->kind == ERROR_NONE)
        return;
    to->status = (enum weft_status)from->kind;
    snprintf(to->text, sizeof to->text, "%s", from->text);
}

EXPORT const char *weft_version(void)
{
    return WEFT_VERSION;
}

EXPORT struct weft_workflow *weft_workflow_read(const char *path, struct weft_error *error)
{
    struct error err = {0};
    struct workflow *w = format_read_workflow(path, NULL, NULL, &err);
    pass_on(&err, error);
    return (struct weft_workflow *)(void *)w;
}

EXPORT bool weft_workflow_write(const struct weft_workflow *w, const char *path,
                                struct weft_error *error)
{
    struct error err = {0};
    bool ok = format_write_workflow(path, NULL, flow(w), NULL, &err);
    pass_on(&err, error);
    return ok;
}

EXPORT void weft_workflow_free(struct weft_workflow *w)
{
    workflow_free((struct workflow *)(void *)w);
}

EXPORT uint32_t weft_workflow_tasks(const struct weft_workflow *w)
{
    return flow(w)->ntasks;
}

EXPORT uint32_t weft_workflow_edges(const struct weft_workflow *w)
{
    return flow(w)->npairs;
}

EXPORT const char *weft_workflow_task_name(const struct weft_workflow *w, uint32_t task)
{
    return task < flow(w)->ntasks ? workflow_task_name(flow(w), task) : NULL;
}

EXPORT uint32_t weft_workflow_find_task(const struct weft_workflow *w, const char *name)
{
    return workflow_find_task(flow(w), name);
}

EXPORT struct weft_platform *weft_platform_read(const char *path, struct weft_error *error)
{
    struct error err = {0};
    struct platform *p = format_read_platform(path, NULL, NULL, &err);
    pass_on(&err, error);
    return (struct weft_platform *)(void *)p;
}

EXPORT void weft_platform_free(struct weft_platform *p)
{
    platform_free((struct platform *)(void *)p);
}

EXPORT uint32_t weft_platform_nodes(const struct weft_platform *p)
{
    return machine(p)->nnodes;
}

EXPORT const char *weft_platform_node_name(const struct weft_platform *p, uint32_t node)
{
    return node < machine(p)->nnodes ? platform_node_name(machine(p), node) : NULL;
}

static struct weft_plan *wrap(struct plan *plan, const struct workflow *w, const struct platform *p)
{
    struct weft_plan *wrapped = mem_new_zero(struct weft_plan, 1);
    wrapped->plan = plan;
    wrapped->workflow = w;
    wrapped->platform = p;
    return wrapped;
}

/* "name=value" strings as option values; the copies live in `storage`. */
static bool split_options(const char *const *options, struct option_value *values, char **storage,
                          size_t *count, struct error *err)
{
    *count = 0;
    for (size_t i = 0; options && options[i]; i++) {
        storage[i] = mem_copy_string(options[i]);
        char *equals = strchr(storage[i], '=');
        *count = i + 1;
        if (!equals)
            return error_set(err, ERROR_INPUT, "option '%s' is not name=value", options[i]);
        *equals = 0;
        values[i] = (struct option_value){storage[i], equals + 1};
    }
    return true;
}

EXPORT struct weft_plan *weft_plan_make(const struct weft_workflow *w,
                                        const struct weft_platform *p, const char *name,
                                        const char *const *options, uint64_t seed,
                                        struct weft_error *error)
{
    struct error err = {0};
    const struct planner *planner = planner_find(name);
    struct plan *plan = NULL;
    size_t most = 0, count = 0;
    while (options && options[most])
        most++;
    struct option_value *values = mem_new_zero(struct option_value, most + 1);
    char **storage = mem_new_zero(char *, most + 1);
    if (!planner)
        planner_unknown(name, &err);
    else if (split_options(options, values, storage, &count, &err))
        plan = planner_run(planner,
                           &(struct plan_request){.workflow = flow(w),
                                                  .platform = machine(p),
                                                  .options = values,
                                                  .noptions = count,
                                                  .seed = seed},
                           &err);
    for (size_t i = 0; i < most; i++)
        free(storage[i]);
    free(storage);
    free(values);
    struct weft_plan *wrapped = plan ? wrap(plan, flow(w), machine(p)) : NULL;
    pass_on(&err, error);
    if (wrapped && weft_plan_check(wrapped, error)) {
        weft_plan_free(wrapped);
        wrapped = NULL;
    }
    return wrapped;
}

EXPORT struct weft_plan *weft_plan_read(const char *path, const struct weft_workflow *w,
                                        const struct weft_platform *p, struct weft_error *error)
{
    struct error err = {0};
    struct plan *plan = NULL;
    struct plan_file *f = plan_file_open(path, &err);
    if (f)
        plan = plan_file_read(f, flow(w), machine(p), &err);
    plan_file_close(f);
    pass_on(&err, error);
    return plan ? wrap(plan, flow(w), machine(p)) : NULL;
}

EXPORT bool weft_plan_write(const struct weft_plan *plan, const char *path,
                            struct weft_error *error)
{
    struct error err = {0};
    struct strbuf text = {0};
    plan_json_write(plan->plan, plan->workflow, plan->platform, &text);
    bool ok = file_write(path, strbuf_text(&text), text.n, &err);
    strbuf_free(&text);
    pass_on(&err, error);
    return ok;
}

EXPORT void weft_plan_free(struct weft_plan *plan)
{
    if (!plan)
        return;
    plan_free(plan->plan);
    free(plan);
}

EXPORT double weft_plan_objective(const struct weft_plan *plan, const char *name)
{
    return plan_objective(plan->plan, name);
}

EXPORT size_t weft_plan_placements(const struct weft_plan *plan,
                                   const struct weft_placement **placements)
{
    /* The public struct has the private one's fields in its order: say so to the compiler, copy
     * nothing. */
    _Static_assert(sizeof(struct weft_placement) == sizeof(struct placement), "same layout");
    *placements = (const struct weft_placement *)(const void *)plan->plan->placements.at;
    return plan->plan->placements.n;
}

EXPORT size_t weft_plan_check(const struct weft_plan *plan, struct weft_error *error)
{
    struct error err = {0};
    struct check_result result;
    if (!check_plan(plan->plan, plan->workflow, plan->platform, &result, &err))
        result.total = 1;
    else if (result.total)
        error_set(&err, ERROR_FAILED, "%s: %s", violation_name(result.violations.at[0].kind),
                  result.violations.at[0].detail);
    size_t total = result.total;
    check_result_free(&result);
    pass_on(&err, error);
    return total;
}
