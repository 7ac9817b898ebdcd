/* The robust fit against an oracle that does everything the slow way: all pairs, every fit redone
 * without each sample. */
#include "history/fit.h"
#include "tap.h"

#include "base/mem.h"
#include "base/rng.h"

static int up(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double *v, uint32_t n)
{
    qsort(v, n, sizeof *v, up);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Theil-Sen by definition, without sample `out`. */
static void oracle(const struct fit_sample *s, uint32_t n, uint32_t out, double *slope,
                   double *intercept)
{
    double *v = mem_new(double, (size_t)n *n);
    uint32_t m = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            if (a != out && b != out && s[b].x - s[a].x >= 0.01)
                v[m++] = (s[b].y - s[a].y) / (s[b].x - s[a].x);
    *slope = fmin(3, fmax(0, middle(v, m)));
    m = 0;
    for (uint32_t a = 0; a < n; a++)
        if (a != out)
            v[m++] = s[a].y - *slope * s[a].x;
    *intercept = middle(v, m);
    free(v);
}

static void test_oracle(void)
{
    struct rng r;
    rng_seed(&r, 7);
    for (uint32_t n = 5; n <= FIT_PAIRED; n += 13) {
        struct fit_sample s[FIT_PAIRED];
        for (uint32_t i = 0; i < n; i++) {
            s[i].x = rng_uniform(&r, 5, 15);
            s[i].y = -3 + 0.8 * s[i].x + 0.2 * rng_normal(&r);
            s[i].group = NONE;
            if (i % 5 == 4) /* a fifth is wild */
                s[i].y += rng_uniform(&r, -8, 8);
        }
        struct fit f;
        fit_make(&f, s, n, 0);
        double slope, intercept, y, low, high;
        oracle(s, n, NONE, &slope, &intercept);
        is_int(f.method, FORECAST_LINE, "%u samples: a line", n);
        is_dbl(f.slope, slope, 1e-12, "its slope");
        is_dbl(f.intercept, intercept, 1e-12, "its intercept");
        double errors[FIT_PAIRED];
        for (uint32_t i = 0; i < n; i++) {
            oracle(s, n, i, &slope, &intercept);
            errors[i] = fabs(exp(intercept + slope * s[i].x - s[i].y) - 1);
        }
        is_dbl(f.error, middle(errors, n), 1e-9, "its error, each sample left out");
        fit_predict(&f, 10, NONE, &y, &low, &high);
        is_dbl(y, f.intercept + 10 * f.slope, 1e-12, "predicts");
        ok(low <= y && y <= high, "inside its interval");
        fit_free(&f);
    }
}

static void test_robust(void)
{
    struct rng r;
    rng_seed(&r, 3);
    struct fit_sample s[1000];
    for (uint32_t i = 0; i < 1000; i++) {
        s[i].x = rng_uniform(&r, 0, 20);
        s[i].y = 1 + 0.5 * s[i].x + 0.05 * rng_normal(&r);
        if (i % 4 == 0) /* a quarter is wrong in both directions at once */
            s[i] = (struct fit_sample){rng_uniform(&r, 15, 20), rng_uniform(&r, -20, 0), NONE};
        s[i].group = NONE;
    }
    struct fit f;
    fit_make(&f, s, 1000, 0);
    is_int(f.method, FORECAST_LINE, "1,000 samples, a quarter of them wild: a line");
    is_dbl(f.slope, 0.5, 0.15, "its slope is near the truth (least squares: below 0)");
    fit_free(&f);
    for (uint32_t i = 0; i < 1000; i++)
        s[i] = (struct fit_sample){rng_uniform(&r, 0, 20), 2 + 0.3 * rng_normal(&r), NONE};
    fit_make(&f, s, 1000, 0);
    is_int(f.method, FORECAST_MEDIAN, "no dependence on size: the median");
    is_dbl(f.intercept, 2, 0.05, "of all");
    fit_free(&f);
    for (uint32_t i = 0; i < 1000; i++)
        s[i].x = 4;
    fit_make(&f, s, 1000, 0);
    is_int(f.method, FORECAST_MEDIAN, "sizes all equal: the median");
    fit_free(&f);
    for (uint32_t i = 0; i < 1000; i++)
        s[i] = (struct fit_sample){i, 5, NONE};
    fit_make(&f, s, 1000, 0);
    is_dbl(f.error, 0, 0, "values all equal: no error");
    fit_free(&f);
}

/* The interval must hold about 90 % of new values. */
static void test_coverage(void)
{
    struct rng r;
    rng_seed(&r, 11);
    static const uint32_t sizes[] = {5, 10, 20, 100};
    for (size_t k = 0; k < 4; k++) {
        uint32_t n = sizes[k], inside = 0, total = 0;
        for (uint32_t trial = 0; trial < 300; trial++) {
            struct fit_sample s[101];
            for (uint32_t i = 0; i <= n; i++) {
                s[i].x = rng_uniform(&r, 5, 15);
                s[i].y = 0.9 * s[i].x + rng_normal(&r) * 0.4;
                s[i].group = NONE;
            }
            struct fit f;
            double y, low, high;
            fit_make(&f, s, n, 0);
            fit_predict(&f, s[n].x, NONE, &y, &low, &high);
            inside += s[n].y >= low && s[n].y <= high;
            total++;
            fit_free(&f);
        }
        double expected = n < 19 ? (n - 1.0) / (n + 1) : 0.9;
        ok(inside >= (expected - 0.07) * total, "%u samples: %u of %u new values in the interval",
           n, inside, total);
        ok(n < 19 || inside <= 0.97 * total, "which is not far too wide");
    }
}

static void test_own(void)
{
    struct rng r;
    rng_seed(&r, 5);
    struct fit_sample s[120];
    for (uint32_t i = 0; i < 120; i++) { /* 10 tasks of one kind, each with a time of its own */
        s[i].group = i % 10;
        s[i].x = 0;
        s[i].y = s[i].group + 0.05 * rng_normal(&r);
    }
    struct fit f;
    double y, low, high;
    fit_make(&f, s, 120, 10);
    is_int(f.method, FORECAST_MEDIAN_OWN, "tasks with a time of their own: their own past counts");
    fit_predict(&f, 0, 9, &y, &low, &high);
    is_dbl(y, 9 - 4.5 / 13, 0.2, "shrunk towards the kind");
    double width = high - low;
    ok(width < 2, "a narrow interval");
    fit_predict(&f, 0, NONE, &y, &low, &high);
    ok(high - low > 4 * width, "a wide one for a task without a past");
    ok(f.error < 0.7, "the error is that with its own past: %g", f.error);
    fit_free(&f);
    for (uint32_t i = 0; i < 120; i++)
        s[i].y = rng_normal(&r);
    fit_make(&f, s, 120, 10);
    is_int(f.method, FORECAST_MEDIAN, "noise alone: the kind's median");
    fit_free(&f);
}

static void test_few(void)
{
    struct fit_sample s[4] = {{1, 3, 0}, {2, 1, 0}, {3, 2, 1}, {4, 5, 1}};
    struct fit f;
    double y, low, high;
    fit_make(&f, s, 0, 0);
    ok(!fit_predict(&f, 1, 0, &y, &low, &high), "no samples: no prediction");
    fit_make(&f, s, 1, 2);
    ok(fit_predict(&f, 1, 0, &y, &low, &high) && y == 3, "one sample");
    is_dbl(high - y, log(2), 1e-12, "a factor of two");
    ok(isnan(f.error), "and no error known");
    fit_make(&f, s, 4, 2);
    is_int(f.method, FORECAST_FEW, "four are few");
    fit_predict(&f, NAN, NONE, &y, &low, &high);
    is_dbl(y, 2.5, 1e-12, "their median");
    is_dbl(high, 5 + log(2), 1e-12, "twice the largest");
    is_dbl(low, 1 - log(2), 1e-12, "half the smallest");
    fit_free(&f);
}

static void test_beyond(void)
{
    struct fit_sample s[20];
    for (uint32_t i = 0; i < 20; i++)
        s[i] = (struct fit_sample){i, i, NONE};
    struct fit f;
    double y, low, high;
    fit_make(&f, s, 20, 0);
    fit_predict(&f, 1000, NONE, &y, &low, &high);
    is_dbl(y, 19 + log(10), 1e-3, "far beyond the sizes seen, the line ends");
    fit_predict(&f, NAN, NONE, &y, &low, &high);
    is_dbl(y, 9.5, 1e-9, "a size not known: the middle one");
    fit_free(&f);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_oracle), TAP_CASE(test_robust), TAP_CASE(test_coverage),
        TAP_CASE(test_own),    TAP_CASE(test_few),    TAP_CASE(test_beyond),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
