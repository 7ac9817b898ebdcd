/* The same simulation many times with different randomness, over the cores: means and confidence
 * intervals. Results do not depend on the number of threads. */
#pragma once
#include "base/error.h"
#include "base/progress.h"
#include <stdint.h>

enum { REPEAT_METRICS = 48 };

struct repeat_metric {
    const char *name;
    double mean, deviation; /* of the sample */
    double
        half_width; /* of the confidence interval of the mean, Student's t; INFINITY for one run */
    double least, median, most;
};

struct repeat_options {
    uint32_t count;
    unsigned threads; /* 0: one per core */
    uint64_t seed;
    double confidence; /* 0.95 */
    const struct progress *progress;
};

struct repeat_result {
    uint32_t count, nmetrics;
    struct repeat_metric metrics[REPEAT_METRICS];
    double *values; /* count x nmetrics */
};

/* Call run(context, i, seed_i, values, err) for i in 0..count-1 on several threads; it fills one
 * value a metric. Run 0 has the seed itself, so that one repeat is what a single simulation gives.
 * False when a run failed: the error of the first in order. */
bool repeat_run(const struct repeat_options *o, const char *const *names, uint32_t nmetrics,
                bool (*run)(void *context, uint32_t i, uint64_t seed, double *values,
                            struct error *err),
                void *context, struct repeat_result *out, struct error *err);
void repeat_result_free(struct repeat_result *r);

/* The mean of metric `a` over that of `b`, where each run gave both under the same randomness: the
 * interval is of what differs within the runs, not of what differs between them (common random
 * numbers; the ratio's error to first order). */
struct repeat_ratio {
    double value, half_width;
};
struct repeat_ratio repeat_ratio(const struct repeat_result *r, uint32_t a, uint32_t b,
                                 double confidence);
/* Is the ratio's interval on one side of 1? */
static inline bool repeat_differs(struct repeat_ratio r)
{
    return r.value + r.half_width < 1 || r.value - r.half_width > 1;
}

uint64_t repeat_seed(uint64_t seed, uint32_t i);
/* t such that a Student variable of `freedom` degrees lies within -t..t with this probability. */
double student_quantile(double confidence, uint32_t freedom);
