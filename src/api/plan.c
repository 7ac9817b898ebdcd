/* Plans of the library: making, checking, reading, writing, looking at them. */
#include "api/api.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "formats/format.h"
#include "model/check.h"
#include "plan/planner.h"

static bool plan_passes(const struct plan *plan, const struct workflow *w, const struct platform *p,
                        size_t *violations, struct error *err)
{
    struct check_result result;
    bool judged = check_plan(plan, w, p, &result, err);
    *violations = judged ? result.total : 1;
    if (judged && result.total)
        error_set(err, ERROR_FAILED, "%s: %s", violation_name(result.violations.at[0].kind),
                  result.violations.at[0].detail);
    check_result_free(&result);
    return !*violations;
}

static struct plan *plan_make(const struct workflow *w, const struct platform *p, const char *name,
                              const struct weft_plan_options *o, struct error *err)
{
    const struct planner *planner = planner_find(name ? name : "auto");
    struct api_pairs pairs = {0};
    struct plan *plan = NULL;
    size_t violations;
    if (!planner)
        planner_unknown(name, err);
    else if (api_pairs_split(&pairs, o->options, err)) {
        struct option_value *values = mem_new_zero(struct option_value, pairs.n + 1);
        for (size_t i = 0; i < pairs.n; i++)
            values[i] = (struct option_value){pairs.at[i].name, pairs.at[i].text};
        plan = planner_run(planner,
                           &(struct plan_request){.workflow = w,
                                                  .platform = p,
                                                  .options = values,
                                                  .noptions = pairs.n,
                                                  .explain = o->explain,
                                                  .seed = o->seed},
                           err);
        free(values);
    }
    api_pairs_free(&pairs);
    if (plan && !plan_passes(plan, w, p, &violations, err)) {
        plan_free(plan);
        plan = NULL;
    }
    return plan;
}

EXPORT struct weft_plan *weft_plan_make(const struct weft_workflow *w,
                                        const struct weft_platform *p, const char *name,
                                        const struct weft_plan_options *options,
                                        struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_plan_options own = WEFT_PLAN_INIT;
        if (api_options(&own, options, &call.err))
            call.result = api_plan(plan_make(w->model, p->model, name, &own, &call.err), w, p);
    }
    return api_result(&call);
}

EXPORT struct weft_plan *weft_plan_read(const char *path, const struct weft_workflow *w,
                                        const struct weft_platform *p, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct plan_file *f = plan_file_open(path, &call.err);
        call.result = f ? api_plan(plan_file_read(f, w->model, p->model, &call.err), w, p) : NULL;
        plan_file_close(f);
    }
    return api_result(&call);
}

EXPORT bool weft_plan_write(const struct weft_plan *plan, const char *path,
                            struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf text = {0};
        plan_json_write(plan->model, plan->workflow->model, plan->platform->model, &text);
        call.good = file_write(path, strbuf_text(&text), text.n, &call.err);
        strbuf_free(&text);
    }
    return api_end(&call);
}

EXPORT double weft_plan_objective(const struct weft_plan *plan, const char *name)
{
    return plan_objective(plan->model, name);
}

EXPORT size_t weft_plan_placements(const struct weft_plan *plan,
                                   const struct weft_placement **placements)
{
    /* The public struct has the private one's fields in its order: say so to the compiler, copy
     * nothing. */
    _Static_assert(sizeof(struct weft_placement) == sizeof(struct placement), "same layout");
    *placements = (const struct weft_placement *)(const void *)plan->model->placements.at;
    return plan->model->placements.n;
}

EXPORT size_t weft_plan_check(const struct weft_plan *plan, struct weft_error *error)
{
    API_CALL(call, error)
    {
        size_t violations;
        call.good = plan_passes(plan->model, plan->workflow->model, plan->platform->model,
                                &violations, &call.err);
        call.number = violations;
    }
    if (api_end(&call))
        return 0;
    return call.number ? call.number : 1; /* could not be judged: not valid */
}
