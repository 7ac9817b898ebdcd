/* A workflow with what it is to be planned for, put together as every app does: the one place that
 * decides which platform a file without one means, and that predictions from past runs count. */
#include "api/api.h"
#include "api/files.h"
#include "session/machine.h"
#include "session/prediction.h"

struct problem_remarks {
    void (*say)(void *context, enum weft_remark kind, const char *text);
    void *context;
};

static void problem_say(void *context, enum remark_kind kind, const char *text)
{
    _Static_assert((int)REMARK_INFO == WEFT_REMARK_INFO && (int)REMARK_NOTE == WEFT_REMARK_NOTE &&
                       (int)REMARK_WARNING == WEFT_REMARK_WARNING,
                   "same numbers");
    const struct problem_remarks *r = context;
    if (r->say)
        r->say(r->context, (enum weft_remark)kind, text);
}

/* What is read, before handles are made of it: all or nothing. */
struct problem_parts {
    struct workflow *w;
    struct platform *p;
    struct plan *plan;
};

/* The workflow in `file` and the platform of `on`, or in the same file, or this machine. */
static bool problem_read(struct format_file *file, const char *on,
                         const struct problem_remarks *remarks, struct problem_parts *out,
                         struct error *err)
{
    if (on)
        out->w = format_file_workflow(file, err);
    else
        format_file_both(file, &out->w, &out->p, err);
    for (uint32_t i = 0; out->w && remarks->say && i < out->w->nwarnings; i++)
        remarks->say(remarks->context, WEFT_REMARK_NOTE, out->w->warnings[i]);
    if (out->w && !out->p)
        out->p = on ? machine_named(on, err) : machine_this(err);
    return out->p != NULL;
}

/* A plan, with the workflow and the platform that it names, or those of the options. */
static bool problem_read_plan(struct format_file *file, const struct weft_problem_options *o,
                              const struct problem_remarks *remarks, struct problem_parts *out,
                              struct error *err)
{
    struct plan_file *f = plan_file_from(file, err);
    if (!f)
        return false;
    const char *flow = o->workflow ? o->workflow : plan_file_workflow(f);
    if (!flow)
        error_at(err, format_file_path(file), 0,
                 "the plan does not name its workflow; give it with --workflow FILE");
    struct format_file *source = flow ? api_file_open(flow, &o->read, err) : NULL;
    if (source &&
        problem_read(source, o->platform ? o->platform : plan_file_platform(f), remarks, out, err))
        out->plan = plan_file_read(f, out->w, out->p, err);
    format_file_close(source);
    plan_file_close(f);
    return out->plan != NULL;
}

static bool problem_take(struct format_file *file, const struct weft_problem_options *o,
                         struct weft_problem *out, struct error *err)
{
    struct problem_remarks remarks = {o->remark, o->context};
    struct remarks predicting = {problem_say, &remarks};
    struct problem_parts parts = {0};
    bool is_plan = o->only_plans || (o->plans && format_file_is_plan(file));
    if (!api_risk(o->risk, err))
        return false;
    bool good = is_plan ? problem_read_plan(file, o, &remarks, &parts, err)
                        : problem_read(file, o->platform, &remarks, &parts, err);
    if (!good) {
        workflow_free(parts.w);
        platform_free(parts.p);
        return false;
    }
    if (!o->no_predict && is_plan)
        prediction_of_plan(parts.w, parts.plan, parts.p, o->risk, &predicting);
    else if (!o->no_predict)
        prediction_apply(parts.w, o->risk, &predicting);
    out->workflow = api_workflow(parts.w);
    out->platform = api_platform(parts.p);
    out->plan = api_plan(parts.plan, out->workflow, out->platform);
    return true;
}

EXPORT bool weft_problem_take(struct weft_file *f, const struct weft_problem_options *options,
                              struct weft_problem *out, struct weft_error *error)
{
    *out = (struct weft_problem){0};
    API_CALL(call, error)
    {
        struct weft_problem_options own = WEFT_PROBLEM_INIT;
        call.good =
            api_options(&own, options, &call.err) && problem_take(f->file, &own, out, &call.err);
    }
    if (api_end(&call))
        return true;
    *out = (struct weft_problem){0}; /* what it pointed at is gone */
    return false;
}

EXPORT bool weft_problem_read(const char *path, const struct weft_problem_options *options,
                              struct weft_problem *out, struct weft_error *error)
{
    *out = (struct weft_problem){0};
    API_CALL(call, error)
    {
        struct weft_problem_options own = WEFT_PROBLEM_INIT;
        struct format_file *file = NULL;
        if (api_options(&own, options, &call.err))
            file = api_file_open(path, &own.read, &call.err);
        call.good = file && problem_take(file, &own, out, &call.err);
        format_file_close(file);
    }
    if (api_end(&call))
        return true;
    *out = (struct weft_problem){0};
    return false;
}

EXPORT void weft_problem_free(struct weft_problem *problem)
{
    weft_plan_free(problem->plan);
    weft_platform_free(problem->platform);
    weft_workflow_free(problem->workflow);
    *problem = (struct weft_problem){0};
}
