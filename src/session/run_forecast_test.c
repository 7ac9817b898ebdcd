/* The forecast against schedules that are worked out by hand. */
#include "session/run_forecast.h"

#include "model/builder.h"
#include "tap.h"

/* a and b write files that c reads. */
static struct workflow *fork_join(void)
{
    struct builder *b = builder_new("join.yaml", "native");
    struct error err = {0};
    static const char *const names[] = {"a", "b", "c"}, *const files[] = {"a.out", "b.out"};
    for (uint32_t t = 0; t < 3; t++)
        builder_task(b, names[t], 1, 0);
    for (uint32_t t = 0; t < 2; t++) {
        uint32_t o = builder_object(b, files[t], strlen(files[t]));
        builder_produces(b, t, o, 0);
        builder_consumes(b, 2, o, 0);
        builder_size(b, o, 100 * (t + 1), 0);
    }
    return builder_finish(b, &err);
}

static struct run_forecast forecast_on(const struct workflow *w, uint32_t cores, double memory)
{
    static const double priority[] = {3, 2, 1}, seconds[] = {4, 2, 1}, bytes[] = {10, 20, 40};
    return run_forecast(&(struct run_forecast_request){.workflow = w,
                                                       .priority = priority,
                                                       .seconds = seconds,
                                                       .memory = bytes,
                                                       .cores = cores,
                                                       .total_memory = memory});
}

int main(void)
{
    struct workflow *w = fork_join();
    ok(w != NULL, "a graph");
    struct run_forecast f = forecast_on(w, 2, INFINITY);
    is_dbl(f.seconds, 5, 1e-12, "two cores: a and b at once, then c");
    is_dbl(f.memory, 40, 1e-12, "c needs most memory");
    is_dbl(f.disk, 300, 1e-12, "both files are there at once");
    is_dbl(forecast_on(w, 1, INFINITY).seconds, 7, 1e-12, "one core: one after the other");
    is_dbl(forecast_on(w, 2, 25).seconds, 7, 1e-12, "so does too little memory for a and b");
    is_dbl(forecast_on(w, 2, 5).seconds, 7, 1e-12, "an idle machine takes what is too large");
    workflow_free(w);
    return tap_done();
}
