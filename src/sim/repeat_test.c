#include "sim/repeat.h"
#include "base/rng.h"
#include "tap.h"

static bool draw(void *context, uint32_t i, uint64_t seed, double *values, struct error *err)
{
    const uint32_t *fail = context;
    if (fail && i >= *fail)
        return error_set(err, ERROR_FAILED, "run %u failed", i);
    struct rng r;
    rng_seed(&r, seed);
    values[0] = rng_unit(&r);
    values[1] = i;
    return true;
}

int main(void)
{
    is_dbl(student_quantile(0.95, 1), 12.7062047364, 1e-8, "t, 1 degree of freedom");
    is_dbl(student_quantile(0.95, 2), 4.30265272991, 1e-9, "t, 2");
    is_dbl(student_quantile(0.95, 9), 2.26215716280, 1e-9, "t, 9");
    is_dbl(student_quantile(0.99, 30), 2.74999565357, 1e-9, "t, 30 at 99 %%");
    is_dbl(student_quantile(0.95, 1000000), 1.95996635682, 1e-7, "t, a million: nearly normal");

    static const char *const names[] = {"unit", "number"};
    struct repeat_options o = {.count = 101, .seed = 5, .confidence = 0.95, .threads = 1};
    struct repeat_result a, b;
    struct error err = {0};
    ok(repeat_run(&o, names, 2, draw, NULL, &a, &err), "101 runs on one thread");
    o.threads = 4;
    ok(repeat_run(&o, names, 2, draw, NULL, &b, &err), "101 runs on four threads");
    ok(memcmp(a.values, b.values, 101 * 2 * sizeof(double)) == 0 &&
           a.metrics[0].mean == b.metrics[0].mean,
       "the same to the bit");
    is_dbl(a.metrics[1].mean, 50, 1e-12, "mean of 0 .. 100");
    is_dbl(a.metrics[1].median, 50, 0, "median");
    is_dbl(a.metrics[1].deviation, 29.300170647967224, 1e-9, "deviation of the sample");
    is_dbl(a.metrics[1].half_width, student_quantile(0.95, 100) * 29.300170647967224 / sqrt(101),
           1e-9, "half width");
    ok(a.metrics[1].least == 0 && a.metrics[1].most == 100, "least and most");
    ok(fabs(a.metrics[0].mean - 0.5) < 3 * a.metrics[0].half_width, "streams are independent");
    ok(repeat_seed(5, 0) == 5 && repeat_seed(5, 1) != repeat_seed(5, 2) &&
           repeat_seed(5, 1) != repeat_seed(6, 1),
       "run 0 keeps the seed, the others get their own");
    repeat_result_free(&a);
    repeat_result_free(&b);

    uint32_t fail = 17;
    ok(!repeat_run(&o, names, 2, draw, &fail, &a, &err), "a run that fails");
    is_str(err.text, "run 17 failed", "the first in order is reported");
    repeat_result_free(&a);
    error_clear(&err);
    o.count = 1;
    ok(repeat_run(&o, names, 2, draw, NULL, &a, &err) && a.metrics[0].half_width == INFINITY,
       "one run has no interval");
    repeat_result_free(&a);
    o.count = 0;
    ok(!repeat_run(&o, names, 2, draw, NULL, &a, &err) && err.kind == ERROR_INPUT, "0 repeats");
    error_clear(&err);
    o.count = 2;
    o.confidence = 1;
    ok(!repeat_run(&o, names, 2, draw, NULL, &a, &err) && err.kind == ERROR_INPUT, "confidence 1");
    return tap_done();
}
