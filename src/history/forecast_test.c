/* Predictions from runs made up by a law that is known. */
#include "base/rng.h"
#include "history/testing.h"

/* Tasks: in.dat -> split0..n-1 (kind split) -> merge (kind merge); lone of kind odd. */
static struct workflow *make_flow(uint32_t n)
{
    struct builder *b = builder_new("<test>", "test");
    uint32_t merge = builder_task(b, "merge", 5, 0), odd = builder_task(b, "lone", 4, 0);
    builder_kind(b, merge, "merge", 5);
    builder_kind(b, odd, "odd", 3);
    for (uint32_t i = 0; i < n; i++) {
        char name[32];
        uint32_t t = builder_task(b, name, (size_t)snprintf(name, sizeof name, "split%u", i), 0);
        builder_kind(b, t, "split", 5);
        builder_command(b, t, "split x", 7);
        int len = snprintf(name, sizeof name, "in-%u.dat", i);
        builder_consumes(b, t, builder_object(b, name, (size_t)len), 0);
        len = snprintf(name, sizeof name, "part-%u", i);
        builder_produces(b, t, builder_object(b, name, (size_t)len), 0);
        builder_consumes(b, merge, builder_object(b, name, (size_t)len), 0);
    }
    return builder_finish(b, NULL);
}

/* Time at speed 1: split 1e-6 s a byte, merge 2e-6 s a byte; split writes half of what it reads;
 * memory: split 1000 times the bytes read. 5 % noise. */
static void record(struct history *h, const struct workflow *w, double speed, struct rng *r)
{
    struct error err = {0};
    struct run_record head = testing_head(w);
    head.speed = speed;
    ok(history_begin(h, &head, NULL, 0, &err) > 0, "a run is recorded %s", err.text);
    struct trace_sink sink = history_sink(h);
    double half = 0;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        bool split = strcmp(workflow_text(w, w->kind[t]), "split") == 0;
        if (!split && strcmp(workflow_text(w, w->kind[t]), "merge") != 0)
            continue;
        double read = split ? exp(rng_uniform(r, log(1e4), log(1e7))) : half;
        double noise = exp(0.05 * rng_normal(r));
        struct trace_event e = testing_attempt(t, 0, (split ? 1e-6 : 2e-6) * read * noise / speed);
        e.read = read;
        e.written = split ? read / 2 : 100;
        e.memory = 1000 * read;
        half += split ? read / 2 : 0;
        sink.event(sink.context, &e);
        e.outcome = TRACE_FAILED; /* failures say nothing about the time */
        e.finish = e.start + 1000;
        sink.event(sink.context, &e);
    }
    ok(history_end(h, &(struct run_record){.outcome = RECORD_DONE, .tasks = w->ntasks}, &err),
       "and ended %s", err.text);
}

static void put_file(const char *name, size_t size)
{
    FILE *f = fopen(testing_path(name), "w");
    if (ftruncate(fileno(f), (off_t)size) != 0)
        abort();
    fclose(f);
}

static struct forecast *predict_flow(struct history *h, const struct workflow *w)
{
    struct error err = {0};
    struct forecast *f = history_forecast(
        h, &(struct forecast_request){.workflow = w, .name = "flow", .folder = testing_folder},
        &err);
    ok(f != NULL, "a forecast: %s", err.text);
    return f;
}

int main(void)
{
    testing_start();
    struct error err = {0};
    struct rng r;
    rng_seed(&r, 42);
    struct history *h = history_open(testing_path("history.db"), &err);
    struct workflow *w = make_flow(4);
    struct forecast *f = predict_flow(h, w);
    ok(f && !forecast_knows(f), "an empty history knows nothing");
    struct forecast_task t;
    uint32_t split = workflow_find_task(w, "split0"), merge = workflow_find_task(w, "merge");
    forecast_task(f, split, &t);
    is_int(t.method, FORECAST_NONE, "nothing is known");
    ok(isnan(t.prediction.seconds) && isnan(t.prediction.memory) && isnan(t.busy) && isnan(t.disk),
       "and nothing is said");
    struct prediction p;
    struct predictor predictor = history_predictor(f);
    ok(!predictor.predict(predictor.context, split, 0, &p), "nor given to planners");
    forecast_free(f);

    TAP_DO(record(h, w, 1, &r));
    f = predict_flow(h, w);
    struct forecast_kind k;
    forecast_kind(f, 0, &k);
    is_str(k.name, "merge", "kinds in order of their first task");
    forecast_kind(f, 2, &k);
    is_str(k.name, "split", "the third");
    is_int(k.method, FORECAST_FEW, "four samples are few");
    is_int(k.tasks, 4, "four tasks");
    forecast_free(f);

    for (int run = 0; run < 9; run++)
        record(h, w, run % 3 + 1, &r); /* machines of speed 1, 2, 3 */
    TAP_DO(put_file("in-0.dat", 1000000));
    TAP_DO(put_file("in-1.dat", 1000000));
    TAP_DO(put_file("in-2.dat", 100000));
    f = predict_flow(h, w);
    ok(f && forecast_knows(f), "ten runs");
    forecast_kind(f, 2, &k);
    is_int(k.samples, 40, "40 samples, none of a failure");
    is_int(k.method, FORECAST_LINE, "regression");
    is_dbl(k.slope, 1, 0.05, "its slope");
    ok(k.error < 0.1 && k.error90 < 0.3, "its own error: %g, %g", k.error, k.error90);
    forecast_task(f, split, &t);
    is_dbl(t.read, 1e6, 0, "the input's size is looked up");
    is_dbl(t.prediction.seconds, 1, 0.1, "a second for a megabyte, at speed 1");
    ok(t.prediction.low < 1 && t.prediction.high > 1, "inside the interval");
    ok(t.prediction.high < 1.5 && t.prediction.low > 0.7, "which is narrow");
    ok(t.prediction.memory > 0.95e9 && t.prediction.memory < 1.3e9, "memory, on the safe side: %g",
       t.prediction.memory);
    forecast_task(f, workflow_find_task(w, "split3"), &t);
    ok(isnan(t.read) && t.prediction.samples == 40, "an input that is not there yet: the middle");
    forecast_task(f, merge, &t);
    ok(t.read > 1e5, "its output is predicted from the middle, too: %g", t.read);
    forecast_free(f);
    TAP_DO(put_file("in-3.dat", 2000000));
    f = predict_flow(h, w);
    forecast_task(f, merge, &t);
    is_dbl(t.read, 2.05e6, 0.1e6, "what the producers will write is predicted");
    is_dbl(t.prediction.seconds, 4.1, 0.5, "and the time from it");
    forecast_task(f, workflow_find_task(w, "lone"), &t);
    is_int(t.method, FORECAST_NONE, "a kind never seen");
    forecast_free(f);
    /* Many samples: the newest 1,000. */
    struct workflow *wide = make_flow(3000);
    TAP_DO(record(h, wide, 2, &r));
    f = predict_flow(h, w);
    forecast_kind(f, 2, &k);
    is_int(k.samples, FORECAST_SAMPLES, "at most 1,000 samples");
    forecast_task(f, split, &t);
    is_dbl(t.prediction.seconds, 1, 0.1, "and the same answer");
    forecast_free(f);
    workflow_free(wide);
    workflow_free(w);
    history_close(h);
    return tap_done();
}
