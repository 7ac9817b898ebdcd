/* Expanding experiments: reading, merging, and the figures with and without reuse.
 *
 * Times come from past runs where the history knows the task, else from what the file states. The
 * workflow without reuse, a yardstick, is only made while it stays small enough to plan. */
#include "session/expand.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "formats/native/experiment.h"
#include "memo/need.h"
#include "plan/planner.h"
#include "session/machine.h"
#include "session/readings.h"
#include "session/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNMERGED = 200000 }; /* tasks: past them the plan without reuse is not made */

/* What is replaced must be there; who asked for a part is told that it may stand in the rest. */
static bool expansion_blame_part(const struct expand_options *o, struct error *err)
{
    for (const struct option_value *r = o->read; r && r->name; r++)
        if (strcmp(r->name, FORMAT_UNTIL) == 0 || strcmp(r->name, FORMAT_SINCE) == 0) {
            struct error why = *err;
            error_clear(err);
            return error_set(
                err, why.kind, "%.1200s (only the part that %s %.200s names was read)", why.text,
                strcmp(r->name, FORMAT_UNTIL) == 0 ? "a target or --until" : "--since", r->text);
        }
    return false;
}

/* The platform before the merge: a mistake in it should not cost the time of merging. */
bool expansion_open(struct expansion *e, const char *path, const struct expand_options *o,
                    struct error *err)
{
    const char *name = o->planner ? o->planner : "auto";
    const struct planner *planner = planner_find(name);
    *e = (struct expansion){.seed = o->seed};
    if (!planner)
        return planner_unknown(name, err);
    if (planner->accepts & (ACCEPTS_ORDER | ACCEPTS_STREAM))
        return error_set(
            err, ERROR_INPUT,
            "--with %s: that planner predicts no makespan; auto or a list planner does", name);
    e->planner = planner->name;
    if (!experiment_file_read(path, &e->x, err) || !readings_open(e, o, err))
        return false;
    e->platform = machine_named(o->platform ? o->platform : "this-machine", err);
    for (size_t i = 0; o->assertions && o->assertions[i]; i++)
        experiment_assert(&e->x, o->assertions[i], strlen(o->assertions[i]), 0);
    double started = clock_seconds();
    struct readings all = readings_of(e);
    e->merged = e->platform ? experiment_merge_readings(&e->x, &all, true, err) : NULL;
    e->seconds = clock_seconds() - started;
    if (!e->merged)
        return expansion_blame_part(o, err);
    /* who names no planner gets the one that looks at constraints, if there are any */
    if (e->merged->workflow->nassertions && !o->planner)
        e->planner = "constraints";
    else if (e->merged->workflow->nassertions && strcmp(e->planner, "constraints") != 0)
        remark(&o->remarks, REMARK_WARNING,
               "%s does not look at the constraints; --with constraints does", e->planner);
    return true;
}

void expansion_free(struct expansion *e)
{
    merged_free(e->merged);
    readings_close(e);
    platform_free(e->platform);
    workflow_free(e->original);
    experiment_free(&e->x);
    *e = (struct expansion){0};
}

/* ---- figures ---- */

/* Seconds at speed 1: what one core would take for all. */
static double expansion_sum_work(const struct workflow *w)
{
    double sum = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        sum += w->work[t];
    return sum;
}

/* Does any task say how long it takes? */
static bool expansion_states_times(const struct workflow *w)
{
    bool any = w->time_off != NULL;
    for (uint32_t t = 0; t < w->ntasks && !any; t++)
        any = w->work[t] > 0;
    return any;
}

/* Times that past runs tell, in place of what the file states. How many tasks they are known of; no
 * history, or one that cannot be read, knows none. */
static uint32_t expansion_learn(const struct expansion *e, struct workflow *w, double risk)
{
    struct error err = {0};
    char *folder = file_beside(e->x.workflow, "."), name[256];
    struct history *h = recorded_open(&err);
    struct mem_guard guard;
    mem_guard_enter(&guard, recorded_abandon, h);
    struct forecast_request q = {
        .workflow = w, .name = workflow_display_name(w, name, sizeof name), .folder = folder};
    struct forecast *f = h ? history_forecast(h, &q, &err) : NULL;
    uint32_t measured = 0;
    if (f && forecast_knows(f)) {
        double *work = mem_new(double, w->ntasks);
        for (uint32_t t = 0; t < w->ntasks; t++) {
            struct forecast_task task;
            forecast_task(f, t, &task);
            bool known = task.prediction.samples > 0;
            work[t] = !known     ? NAN
                      : risk > 0 ? forecast_seconds(f, t, risk)
                                 : task.prediction.seconds;
            measured += known;
        }
        workflow_set_work(w, work, NULL);
        free(work);
    }
    forecast_free(f);
    mem_guard_leave(&guard);
    history_close(h);
    free(folder);
    return measured;
}

/* The planner's own claim, on the platform of the options. */
static bool expansion_makespan(const struct expansion *e, const struct workflow *w,
                               const struct progress *progress, double *time, struct error *err)
{
    struct plan *plan = planner_run(
        planner_find(e->planner),
        &(struct plan_request){
            .workflow = w, .platform = e->platform, .seed = e->seed, .progress = progress},
        err);
    if (plan)
        *time = plan_objective(plan, "makespan");
    plan_free(plan);
    return plan != NULL;
}

static bool expansion_is_done(void *context, uint32_t task, const struct digest *key)
{
    (void)key; /* the runtime's own keys know the contents of files as well */
    const struct needs *needs = context;
    return needs->task[task] == NEED_NOT;
}

/* Is there a record in the workflow's folder? A folder in which nothing ran, or an input that is not
 * there: then nothing is known, which is no mistake of the user's. */
static void expansion_look_back(struct expansion *e)
{
    char *path = file_beside(e->x.workflow, ".weft/memo");
    char *folder = file_beside(e->x.workflow, ".");
    struct memo *memo = NULL;
    struct needs needs = {0};
    struct known_results known = {expansion_is_done, &needs};
    if (e->merged->workflow->command && file_exists(path))
        memo = memo_look(path, NULL);
    bool there = memo && needs_find(&needs, e->merged->workflow, folder, memo,
                                    &(struct need_options){0}, NULL);
    double work;
    e->remaining = merged_remaining(e->merged, there ? &known : NULL, &work);
    needs_free(&needs);
    memo_close(memo, NULL);
    free(path);
    free(folder);
}

/* Twice the same with and without reuse, so that the difference is reuse alone: the second plan is
 * of the workflow in which every combination computes everything for itself. */
bool expansion_predict(struct expansion *e, const struct expand_options *o, struct error *err)
{
    struct workflow *w = e->merged->workflow;
    expansion_look_back(e);
    e->time = e->time_without = NAN;
    if (!o->no_history)
        e->measured = expansion_learn(e, w, o->risk);
    e->work = expansion_sum_work(w);
    e->work_without = NAN;
    bool stated = expansion_states_times(w);
    if (stated && !expansion_makespan(e, w, o->progress, &e->time, err))
        return false;
    if (e->merged->tasks_without_reuse > MOST_UNMERGED)
        return true;
    struct readings all = readings_of(e);
    struct merged *apart = experiment_merge_readings(&e->x, &all, false, err);
    if (!apart)
        return false;
    if (!o->no_history && e->measured)
        expansion_learn(e, apart->workflow, o->risk);
    e->work_without = expansion_sum_work(apart->workflow);
    /* constraints name tasks of the merged workflow: without reuse they have other names */
    bool good = !stated || w->nassertions ||
                expansion_makespan(e, apart->workflow, o->progress, &e->time_without, err);
    merged_free(apart);
    return good;
}

/* Without progress: the run that follows has a display of its own. */
struct plan *expansion_plan(const struct expansion *e, const struct workflow *w, struct error *err)
{
    return planner_run(
        planner_find(e->planner),
        &(struct plan_request){.workflow = w, .platform = e->platform, .seed = e->seed}, err);
}
