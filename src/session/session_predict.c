/* What a session expects of its tasks: seconds and memory from the history, and of the run as a whole. */
#include "session/session.h"

#include "base/mem.h"
#include "drive/order.h"
#include "session/machine.h"
#include "session/recording.h"

#include <math.h>
#include <stdlib.h>

void session_drop_prediction(struct session *s)
{
    free(s->seconds);
    free(s->task_memory);
    free(s->predicted);
    s->seconds = s->task_memory = NULL;
    s->predicted = NULL;
}

/* Of one task: what was measured counts before what the file states; NAN where neither is. Seconds of
 * this machine, or at speed 1 where others run it. */
static void session_predict_task(struct session *s, uint32_t t, double speed, double *written)
{
    const struct workflow *w = s->w;
    struct forecast_task f = {.prediction = {NAN, NAN, NAN, NAN, 0}, .written = NAN};
    if (s->forecast)
        forecast_task(s->forecast, t, &f);
    bool seen = f.prediction.samples > 0, joint = !w->command || !w->command[t];
    double seconds =
        seen ? s->o.risk > 0 ? forecast_seconds(s->forecast, t, s->o.risk) : f.prediction.seconds
        : w->flags[t] & TASK_HAS_WORK ? w->work[t]
                                      : NAN;
    /* a task without a command takes nothing */
    s->seconds[t] = isnan(seconds) && joint ? 0 : seconds / speed;
    s->task_memory[t] = f.prediction.memory > 0 ? f.prediction.memory
                        : w->memory[t] > 0      ? w->memory[t]
                        : joint                 ? 0
                                                : NAN;
    *written = f.written;
    if (s->predicted)
        s->predicted[t] = f.prediction;
}

/* May be called again, after an order was chosen or cores became known: the history is asked once. */
void session_predict(struct session *s)
{
    const struct workflow *w = s->w;
    struct error err = {0};
    if (!s->priority) {
        s->priority = mem_new(double, w->ntasks);
        order_depth_first(w, s->priority);
    }
    if (!s->history)
        recording_open_history(s);
    if (s->history && !s->forecast)
        s->forecast = history_forecast(
            s->history,
            &(struct forecast_request){.workflow = w, .name = s->name, .folder = s->ws.folder},
            &err);
    session_drop_prediction(s);
    s->seconds = mem_new(double, w->ntasks);
    s->task_memory = mem_new(double, w->ntasks);
    s->predicted = s->forecast ? mem_new_zero(struct prediction, w->ntasks) : NULL;
    double *written = mem_new(double, w->ntasks);
    double speed = s->o.elsewhere ? 0 : machine_speed();
    uint32_t known = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        session_predict_task(s, t, speed > 0 ? speed : 1, &written[t]);
        known += !isnan(s->seconds[t]);
    }
    s->ahead = run_forecast(&(struct run_forecast_request){.workflow = w,
                                                           .needs = &s->needs,
                                                           .priority = s->priority,
                                                           .seconds = s->seconds,
                                                           .memory = s->task_memory,
                                                           .written = written,
                                                           .cores = s->cores,
                                                           .total_memory = s->memory});
    s->ahead.known = known;
    free(written);
}
