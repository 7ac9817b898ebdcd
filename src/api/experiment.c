/* weft/run.h: experiments. The expansion (session/expand.h) behind a handle; a run of it borrows the
 * merged workflow, which the run's session owns from then on. */
#include "api/inside_run.h"
#include "api/run_handle.h"
#include "base/mem.h"
#include "formats/format.h"
#include "model/select.h"
#include "plan/planner.h"

#include <stdlib.h>
#include <string.h>

static bool experiment_report_planning(void *context, double fraction, const char *what)
{
    struct weft_experiment *x = context;
    return x->planning_function(x->to.context, fraction, what);
}

/* The planner is looked for before the file is read: a mistake in a word costs no time. */
static bool experiment_open(struct weft_experiment *x, const char *path,
                            const struct weft_experiment_options *o, struct error *err)
{
    const struct format *format = o->format ? format_find(o->format) : NULL;
    x->to = (struct event_target){o->event, o->context};
    x->planning_function = o->planning;
    x->planning = (struct progress){experiment_report_planning, x};
    if (o->format && !format)
        return error_set(err, ERROR_INPUT, "there is no format '%s'; `weft formats` lists them",
                         o->format);
    if (!api_risk(o->risk, err) || !api_pairs_split(&x->read, o->read, err))
        return false;
    x->o = (struct expand_options){
        .planner = o->planner,
        .platform = o->platform,
        .seed = o->seed,
        .format = format,
        .read = x->read.at,
        .assertions = o->assertions,
        .progress = o->planning ? &x->planning : NULL,
        .no_history = o->no_history,
        .risk = o->risk,
        .remarks = api_remarks(&x->to),
    };
    /* planner and platform are looked up now and kept as models */
    bool good = expansion_open(&x->e, path, &x->o, err);
    x->o.assertions = NULL;
    x->o.planner = x->o.platform = NULL; /* the caller's texts: not needed again */
    return good;
}

/* Of the last combination that was asked for. */
static void experiment_drop_paths(struct weft_experiment *x)
{
    for (size_t i = 0; i < x->npaths; i++)
        free(x->paths[i]);
    free(x->paths);
    x->paths = NULL;
    x->npaths = 0;
}

static void experiment_tidy(struct weft_experiment *x)
{
    experiment_drop_paths(x);
    expansion_free(&x->e);
    api_pairs_free(&x->read);
    strbuf_free(&x->said);
    free(x);
}

EXPORT struct weft_experiment *weft_experiment_open(const char *path,
                                                    const struct weft_experiment_options *options,
                                                    struct weft_error *error)
{
    struct weft_experiment *volatile opened = NULL;
    bool broken = false;
    RUN_CALL(call, error, &broken)
    {
        struct weft_experiment_options o = WEFT_EXPERIMENT_OPTIONS_INIT;
        if (api_options(&o, options, &call.err)) {
            opened = mem_new_zero(struct weft_experiment, 1);
            call.good = experiment_open(opened, path, &o, &call.err);
        }
    }
    if (run_call_end(&call))
        return opened;
    if (opened && !call.boundary.failed)
        experiment_tidy(opened);
    return NULL;
}

/* After its runs: they look into it. */
EXPORT void weft_experiment_close(struct weft_experiment *x)
{
    if (x && !x->broken)
        experiment_tidy(x);
}

EXPORT uint32_t weft_experiment_combinations(const struct weft_experiment *x)
{
    return x->e.merged->ncombinations;
}

EXPORT const char *weft_experiment_label(struct weft_experiment *x, uint32_t combination)
{
    if (combination >= x->e.merged->ncombinations)
        return NULL;
    RUN_CALL(call, NULL, &x->broken)
    {
        strbuf_clear(&x->said);
        merged_label(x->e.merged, &x->e.x, combination, &x->said);
        call.good = true;
    }
    return run_call_end(&call) ? strbuf_text(&x->said) : NULL;
}

/* Paths as the merged workflow names them: relative to the folder of the original. */
EXPORT size_t weft_experiment_results(struct weft_experiment *x, uint32_t combination,
                                      const char *const **paths)
{
    *paths = NULL;
    if (combination >= x->e.merged->ncombinations || !x->e.merged->workflow)
        return 0;
    RUN_CALL(call, NULL, &x->broken)
    {
        const struct merged *m = x->e.merged;
        /* room for the combination with most results; each asks for at most that */
        uint32_t most = merged_most_results(m);
        uint32_t *object = mem_new(uint32_t, most + 1);
        char label[512];
        experiment_drop_paths(x);
        uint32_t n = merged_results(m, combination, object, NULL);
        x->paths = mem_new_zero(char *, (size_t)n + 1);
        for (uint32_t i = 0; i < n; i++)
            x->paths[x->npaths++] =
                mem_copy_string(workflow_object_label(m->workflow, object[i], label, sizeof label));
        free(object);
        call.good = true;
    }
    if (!run_call_end(&call))
        return 0;
    *paths = (const char *const *)x->paths;
    return x->npaths;
}

/* Its merged workflow went with a run that is closed: nothing more can be asked of it. */
static bool experiment_is_whole(const struct weft_experiment *x, struct error *err)
{
    return x->e.merged->workflow ||
           error_set(err, ERROR_FAILED, "the experiment was run already; open it again");
}

EXPORT bool weft_experiment_predict(struct weft_experiment *x, struct weft_experiment_figures *out,
                                    struct weft_error *error)
{
    RUN_CALL(call, error, &x->broken)
    {
        const struct merged *m = x->e.merged;
        call.good = experiment_is_whole(x, &call.err) && expansion_predict(&x->e, &x->o, &call.err);
        *out = (struct weft_experiment_figures){.combinations = m->ncombinations,
                                                .tasks = m->workflow ? m->workflow->ntasks : 0,
                                                .inputs = m->nfiles,
                                                .tasks_without_reuse = m->tasks_without_reuse,
                                                .remaining = x->e.remaining,
                                                .measured = x->e.measured,
                                                .work = x->e.work,
                                                .work_without = x->e.work_without,
                                                .time = x->e.time,
                                                .time_without = x->e.time_without};
    }
    return run_call_end(&call);
}

/* The leaves of the combination, and all that they need. */
static struct workflow *experiment_part(const struct weft_experiment *x, uint32_t combination,
                                        struct error *err)
{
    const struct merged *m = x->e.merged;
    uint8_t *marks = mem_new_zero(uint8_t, m->workflow->ntasks + 1);
    uint32_t leaves = m->reading[m->reading_of[combination]].nleaves;
    for (uint32_t l = 0; l < leaves; l++) {
        uint32_t task = m->instance[m->first[combination] + l];
        if (task != NONE)
            marks[task] = 1;
    }
    select_ancestors(m->workflow, marks);
    struct workflow *part = workflow_part(m->workflow, marks, NULL, err);
    free(marks);
    return part;
}

EXPORT struct weft_workflow *
weft_experiment_workflow(struct weft_experiment *x, uint32_t combination, struct weft_error *error)
{
    API_CALL(call, error)
    {
        if (!experiment_is_whole(x, &call.err))
            ;
        else if (combination >= x->e.merged->ncombinations)
            error_set(&call.err, ERROR_INPUT,
                      "there is no combination %u: they are numbered from 0, and the last is %u",
                      combination, x->e.merged->ncombinations - 1);
        else
            call.result = api_workflow(experiment_part(x, combination, &call.err));
    }
    return api_result(&call);
}

/* One remark for each kind of information that the format cannot carry. */
static void experiment_say_dropped(const struct weft_experiment *x, struct strbuf *dropped)
{
    char *rest = NULL;
    for (char *line = dropped->n ? strtok_r(dropped->at, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        remark(&x->o.remarks, REMARK_NOTE, "dropped: %s", line);
}

EXPORT bool weft_experiment_write(struct weft_experiment *x, const char *path,
                                  struct weft_error *error)
{
    RUN_CALL(call, error, &x->broken)
    {
        const struct format *format =
            strcmp(path, "-") == 0 ? format_find("native") : format_for_path(path, &call.err);
        struct strbuf dropped = {0};
        call.good = format &&
                    format_write_workflow(path, format, x->e.merged->workflow, &dropped, &call.err);
        if (call.good)
            experiment_say_dropped(x, &dropped);
        strbuf_free(&dropped);
    }
    return run_call_end(&call);
}

/* ---- running ---- */

/* The merged workflow becomes the session's: predictions change its times, agents read it anew. */
static bool experiment_run(struct weft_experiment *x, struct weft_run *run, bool planned,
                           const struct weft_run_options *options, struct error *err)
{
    struct session_options so = run_handle_session(run, options, x->e.x.workflow);
    session_begin(&run->session, &so);
    x->running = true;
    run->experiment = x;
    /* The session owns the workflow; ours points at it, so that results can be listed meanwhile. */
    if (!session_open(&run->session, x->e.merged->workflow, err))
        return false;
    x->e.merged->workflow = run->session.w; /* for agents it was read again, out of its text */
    run_handle_opened(run);
    /* constraints are wishes for the run, not for a figure */
    if (!planned && !run->session.w->nassertions)
        return true;
    struct plan *plan = expansion_plan(&x->e, run->session.w, err);
    if (plan)
        session_follow(&run->session, plan);
    plan_free(plan);
    return plan != NULL;
}

/* Once an attempt was made the workflow is the session's, and goes with it when it fails. */
EXPORT struct weft_run *weft_experiment_run(struct weft_experiment *x, bool planned,
                                            const struct weft_run_options *options,
                                            struct weft_error *error)
{
    struct weft_run *volatile run = NULL;
    RUN_CALL(call, error, &x->broken)
    {
        if (x->running) {
            error_set(&call.err, ERROR_FAILED, "the experiment was run already; open it again");
        } else {
            run = run_handle_new(options, &call.err);
            call.good = run && experiment_run(x, run, planned, options, &call.err);
        }
    }
    if (run_call_end(&call))
        return run;
    if (run && !call.boundary.failed) {
        x->e.merged->workflow = NULL; /* was the session's */
        session_close(&run->session);
        run_handle_free(run);
    }
    return NULL;
}

struct expansion *inside_experiment(struct weft_experiment *x)
{
    return &x->e;
}
