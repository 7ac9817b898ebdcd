/* Predicted times put into a workflow, in place of those that it does not state. What a file states
 * is never overwritten: people who write a time down mean it. */
#include "session/prediction.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *prediction_folder(const struct workflow *w)
{
    const char *file = workflow_text(w, w->file), *base = file_basename(file);
    if (base == file)
        return NULL;
    return mem_copy_bytes(file, (size_t)(base - file));
}

/* The forecast keeps what it needs of the history, which is closed here. */
struct forecast *prediction_make(const struct workflow *w, bool sizes, struct error *err)
{
    struct history *h = recorded_open(err);
    struct mem_guard guard;
    if (!h)
        return NULL;
    mem_guard_enter(&guard, recorded_abandon, h);
    char name[256], *folder = prediction_folder(w);
    struct forecast *f = history_forecast(
        h,
        &(struct forecast_request){.workflow = w,
                                   .name = workflow_display_name(w, name, sizeof name),
                                   .folder = folder,
                                   .sizes = sizes},
        err);
    free(folder);
    mem_guard_leave(&guard);
    history_close(h);
    return f;
}

/* A command, and nothing said about how long it takes. */
static bool prediction_is_wanted(const struct workflow *w, uint32_t t)
{
    return w->command && w->command[t] && !(w->flags[t] & TASK_HAS_WORK) &&
           !(w->time_off && w->time_off[t] < w->time_off[t + 1]);
}

void prediction_apply(struct workflow *w, double risk, const struct remarks *remarks)
{
    uint32_t wanted = 0, predicted = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        wanted += prediction_is_wanted(w, t);
    if (!wanted)
        return;
    struct error err = {0};
    struct forecast *f = prediction_make(w, false, &err);
    if (!f) {
        if (err.kind != ERROR_NONE)
            remark(remarks, REMARK_WARNING, "warning: nothing is predicted: %s", err.text);
        return;
    }
    /* NAN leaves a task as it is: only those without a stated time are touched */
    double *work = mem_new(double, w->ntasks), *memory = mem_new(double, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        struct forecast_task p;
        work[t] = memory[t] = NAN;
        if (!prediction_is_wanted(w, t))
            continue;
        forecast_task(f, t, &p);
        if (p.method == FORECAST_NONE)
            continue;
        predicted++;
        work[t] = risk > 0 ? forecast_seconds(f, t, risk) : p.prediction.seconds;
        if (w->memory[t] <= 0)
            memory[t] = p.prediction.memory;
    }
    if (predicted) {
        char at[64] = "";
        if (risk > 0)
            snprintf(at, sizeof at, ", so long that %g %% of tasks stay below", 100 * risk);
        workflow_set_work(w, work, memory);
        remark(remarks, REMARK_INFO,
               "note: the work of %u of %u task%s without a stated one is predicted from past runs "
               "(see weft predict)%s",
               predicted, wanted, plural(wanted), at);
    }
    free(work);
    free(memory);
    forecast_free(f);
}

void prediction_of_plan(struct workflow *w, const struct plan *plan, const struct platform *p,
                        double risk, const struct remarks *remarks)
{
    if (plan->kind != PLAN_STATIC) {
        prediction_apply(w, risk, remarks);
        return;
    }
    /* a plan says when each task starts and ends on its node; times its speed that is its work */
    double *work = mem_new(double, w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++)
        work[t] = NAN;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *at = &plan->placements.at[i];
        if (prediction_is_wanted(w, at->task) && isnan(work[at->task]) && at->finish >= at->start)
            work[at->task] = (at->finish - at->start) * p->speed[at->node];
    }
    workflow_set_work(w, work, NULL);
    free(work);
}
