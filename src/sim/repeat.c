/* The same simulation many times with different seeds, on several threads, and its statistics.
 *
 * I1. Run i uses repeat_seed(seed, i) and writes only its own row of `values`: which thread does it
 *     does not matter.
 * I2. `lock` guards done, failed, error and stop; run() is called without it.
 * I3. Sums are taken in the order of the runs after all threads have ended, so results are the same
 *     to the bit for any number of threads.
 * I4. Of several failures the one of the lowest number is reported, whichever came first. */
#include "sim/repeat.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* The first run has the seed itself: `--repeat 1` is the run without --repeat. */
uint64_t repeat_seed(uint64_t seed, uint32_t i)
{
    if (i == 0)
        return seed;
    struct rng r;
    rng_seed_stream(&r, seed, i);
    return rng_next(&r);
}

/* Regularised incomplete beta function by its continued fraction (Lentz). */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    if (x > (a + 1) / (a + b + 2))
        return 1 - incomplete_beta(b, a, 1 - x); /* once: the other side converges */
    int sign;
    double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                       a * log(x) + b * log1p(-x)) /
                   a;
    /* `tiny` keeps Lentz's method from dividing by 0; 500 terms are far more than it needs */
    double tiny = 1e-300, c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m <= 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step = 1;
        for (int half = 0; half < 2; half++) {
            double coefficient = half ? odd : even;
            d = 1 + coefficient * d;
            c = 1 + coefficient / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            f *= step;
        }
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return front * f;
}

/* The t for which |T| <= t with this probability, by bisection: exact enough (1e-12) and no table.
 * The doubling stops at 1e9, beyond any quantile that is asked for. */
double student_quantile(double confidence, uint32_t freedom)
{
    if (!freedom)
        return INFINITY;
    /* P(|T| > t) = I(n / (n + t^2); n/2, 1/2), falling in t */
    double low = 0, high = 1, n = freedom;
    while (1 - incomplete_beta(n / 2, 0.5, n / (n + high * high)) < confidence && high < 1e9)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
        double t = (low + high) / 2;
        if (1 - incomplete_beta(n / 2, 0.5, n / (n + t * t)) < confidence)
            low = t;
        else
            high = t;
    }
    return (low + high) / 2;
}

struct repeat_work {
    const struct repeat_options *o;
    bool (*run)(void *context, uint32_t i, uint64_t seed, double *values, struct error *err);
    void *context;
    double *values;
    uint32_t nmetrics;
    pthread_mutex_t lock;  /* guards the rest */
    uint32_t done, failed; /* failed: the lowest number of a run that did */
    struct error error;
    bool stop;
};

/* Runs after a failed one are skipped: their values would not be used. */
static void repeat_once(void *context, size_t i)
{
    struct repeat_work *w = context;
    pthread_mutex_lock(&w->lock);
    bool skip = w->stop || i > w->failed;
    pthread_mutex_unlock(&w->lock);
    if (skip)
        return;
    struct error err = {0};
    bool good = w->run(w->context, (uint32_t)i, repeat_seed(w->o->seed, (uint32_t)i),
                       w->values + i * w->nmetrics, &err);
    pthread_mutex_lock(&w->lock);
    w->done++;
    if (!good && i < w->failed) {
        w->failed = (uint32_t)i;
        w->error = err;
    }
    if (!progress_report(w->o->progress, (double)w->done / w->o->count, "repeating"))
        w->stop = true;
    pthread_mutex_unlock(&w->lock);
}

static void repeat_summarise(struct repeat_result *r, uint32_t metric, double confidence)
{
    struct repeat_metric *m = &r->metrics[metric];
    uint32_t n = r->count;
    double *sorted = mem_new(double, n);
    for (uint32_t i = 0; i < n;
         i++) { /* in order of the runs: the same sum whatever the threads did */
        sorted[i] = r->values[(size_t)i * r->nmetrics + metric];
        m->mean += sorted[i];
    }
    m->mean /= n;
    double square = 0;
    for (uint32_t i = 0; i < n; i++)
        square += (sorted[i] - m->mean) * (sorted[i] - m->mean);
    m->deviation = n > 1 ? sqrt(square / (n - 1)) : 0;
    /* Student's interval for the mean; one run says nothing about its spread */
    m->half_width = n > 1 ? student_quantile(confidence, n - 1) * m->deviation / sqrt(n) : INFINITY;
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    m->least = sorted[0];
    m->most = sorted[n - 1];
    m->median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    free(sorted);
}

bool repeat_run(const struct repeat_options *o, const char *const *names, uint32_t nmetrics,
                bool (*run)(void *context, uint32_t i, uint64_t seed, double *values,
                            struct error *err),
                void *context, struct repeat_result *out, struct error *err)
{
    *out = (struct repeat_result){0};
    /* ten million runs of 48 metrics are 3.8 GB of values */
    if (!o->count || o->count > 10000000)
        return error_set(err, ERROR_INPUT, "%u repeats; expected 1 to 10,000,000", o->count);
    if (!(o->confidence > 0 && o->confidence < 1))
        return error_set(err, ERROR_INPUT,
                         "a confidence of %g; expected more than 0 and less than 1", o->confidence);
    if (nmetrics > REPEAT_METRICS)
        return error_set(err, ERROR_INPUT, "more than %d metrics", REPEAT_METRICS);
    out->count = o->count;
    out->nmetrics = nmetrics;
    out->values = mem_new_zero(double, (size_t)o->count *nmetrics);
    struct repeat_work w = {.o = o,
                            .run = run,
                            .context = context,
                            .values = out->values,
                            .nmetrics = nmetrics,
                            .failed = UINT32_MAX};
    pthread_mutex_init(&w.lock, NULL);
    parallel_for(o->count, o->threads, repeat_once, &w);
    pthread_mutex_destroy(&w.lock);
    if (w.failed != UINT32_MAX)
        return error_set(err, w.error.kind, "%s", w.error.text);
    if (w.stop && w.done < o->count)
        return error_set(err, ERROR_FAILED, "stopped by the user after %u of %u repeats", w.done,
                         o->count);
    for (uint32_t i = 0; i < nmetrics; i++) {
        out->metrics[i].name = names[i];
        repeat_summarise(out, i, o->confidence);
    }
    return true;
}

/* Of R = mean a / mean b the error is that of the mean of a - R b, over mean b. Equal runs give an
 * interval of 0: nothing differs. */
struct repeat_ratio repeat_ratio(const struct repeat_result *r, uint32_t a, uint32_t b,
                                 double confidence)
{
    double over = r->metrics[b].mean, value = r->metrics[a].mean / over, square = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const double *run = r->values + (size_t)i * r->nmetrics;
        double rest = run[a] - value * run[b];
        square += rest * rest;
    }
    if (r->count < 2)
        return (struct repeat_ratio){value, INFINITY};
    double error = sqrt(square / (r->count - 1) / r->count) / fabs(over);
    return (struct repeat_ratio){value, student_quantile(confidence, r->count - 1) * error};
}

void repeat_result_free(struct repeat_result *r)
{
    free(r->values);
    *r = (struct repeat_result){0};
}
