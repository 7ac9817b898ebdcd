/* The library's view of predictions: what past runs say about each task of a workflow. */
#include "api/api.h"
#include "api/inside.h"
#include "base/mem.h"
#include "session/prediction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The fits of all kinds of the workflow are made here, once; each task is then a look-up. */
EXPORT struct weft_predictions *weft_workflow_predictions(const struct weft_workflow *w,
                                                          struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct forecast *model = prediction_make(w->model, true, &call.err);
        if (!model && call.err.kind == ERROR_NONE) /* says why there is none */
            history_close(recorded_require(&call.err));
        if (model) {
            struct weft_predictions *f = mem_new_zero(struct weft_predictions, 1);
            f->model = model;
            f->tasks = w->model->ntasks;
            call.result = f;
        }
    }
    return api_result(&call);
}

EXPORT void weft_predictions_free(struct weft_predictions *f)
{
    if (!f)
        return;
    forecast_free(f->model);
    free(f);
}

/* What is not known is NAN, never 0: a plan must not take it for quick. */
EXPORT bool weft_predictions_task(const struct weft_predictions *f, uint32_t task,
                                  struct weft_prediction *out)
{
    if (task >= f->tasks)
        return false;
    struct forecast_task p;
    forecast_task(f->model, task, &p);
    *out = (struct weft_prediction){
        .seconds = p.prediction.seconds,
        .low = p.prediction.low,
        .high = p.prediction.high,
        .memory = p.prediction.memory,
        .read = p.read,
        .samples = p.prediction.samples,
        .method = forecast_method_name(p.method),
    };
    return true;
}

/* Apart from weft_predictions_task(), whose struct cannot grow. */
EXPORT bool weft_predictions_usage(const struct weft_predictions *f, uint32_t task,
                                   struct weft_usage *out)
{
    if (task >= f->tasks)
        return false;
    struct forecast_task p;
    forecast_task(f->model, task, &p);
    struct weft_usage mine = {.size = out->size,
                              .kind = p.kind,
                              .read = p.read,
                              .written = p.written,
                              .transfer = p.transfer,
                              .disk = p.disk,
                              .busy = p.busy};
    memcpy(out, &mine, out->size < sizeof mine ? out->size : sizeof mine);
    return true;
}

/* By the quantile of the residuals that give the interval, too. */
EXPORT double weft_predictions_seconds(const struct weft_predictions *f, uint32_t task, double risk)
{
    return task < f->tasks ? forecast_seconds(f->model, task, risk) : NAN;
}

/* How far off a kind is, measured on its own past, each sample from the others. */
EXPORT bool weft_predictions_kind(const struct weft_predictions *f, uint32_t i,
                                  struct weft_prediction_kind *out)
{
    if (i >= forecast_kinds(f->model))
        return false;
    struct forecast_kind k;
    forecast_kind(f->model, i, &k);
    *out = (struct weft_prediction_kind){
        .name = k.name,
        .method = forecast_method_name(k.method),
        .tasks = k.tasks,
        .samples = k.samples,
        .slope = k.slope,
        .error = k.error,
        .error90 = k.error90,
        .memory_error = k.memory_error,
    };
    return true;
}

/* Where the samples come from: whoever doubts a prediction looks here first. */
EXPORT bool weft_predictions_host(const struct weft_predictions *f, uint32_t kind, uint32_t i,
                                  struct weft_prediction_host *out)
{
    struct forecast_kind k;
    if (kind >= forecast_kinds(f->model))
        return false;
    forecast_kind(f->model, kind, &k);
    if (i >= k.hosts)
        return false;
    struct forecast_host h;
    forecast_host(f->model, kind, i, &h);
    *out = (struct weft_prediction_host){h.name, h.speed > 0 ? h.speed : NAN, h.samples};
    return true;
}

struct weft_prediction_errors {
    history_errors model;
};

/* What was expected was recorded before each run: nothing is predicted again with hindsight. */
EXPORT struct weft_prediction_errors *
weft_history_prediction_errors(struct weft_history *h, size_t runs, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_prediction_errors *e = mem_new_zero(struct weft_prediction_errors, 1);
        if (history_predicted(h->model, runs, &e->model, &call.err))
            call.result = e;
    }
    return api_result(&call);
}

EXPORT void weft_prediction_errors_free(struct weft_prediction_errors *e)
{
    if (!e)
        return;
    history_errors_free(&e->model);
    free(e);
}

/* A row for each run and kind. */
EXPORT bool weft_prediction_errors_get(const struct weft_prediction_errors *e, size_t i,
                                       struct weft_prediction_error *out)
{
    if (i >= e->model.n)
        return false;
    const struct history_error *at = &e->model.at[i];
    struct weft_prediction_error mine = {.size = out->size,
                                         .run = at->run,
                                         .started = at->started,
                                         .workflow = at->workflow,
                                         .kind = at->kind,
                                         .attempts = at->attempts,
                                         .error = at->error,
                                         .ratio = at->ratio,
                                         .inside = at->inside};
    memcpy(out, &mine, out->size < sizeof mine ? out->size : sizeof mine);
    return true;
}
