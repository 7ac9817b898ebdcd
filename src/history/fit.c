/* Robust regression of log seconds (or bytes) on log bytes read: a median, a line through medians
 * of slopes (Theil and Sen), each with or without an offset for a task's own past. The candidate
 * that predicts best when each sample is left out wins, simpler ones first. docs/history.md has the
 * method.
 *
 * All in logarithms, so residuals are ratios. O(n log n + FIT_PAIRED^2 log) for n samples; no
 * iteration, no randomness. */
#include "history/fit.h"

#include "base/compare.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_SIZE 0.01 /* sizes within 1 % say nothing about a slope */
#define SIMPLER 0.9    /* a more complicated candidate must reach this share of the error */
#define BEYOND 2.3026  /* a line is followed to 10 times beyond the sizes seen, then it is level */

/* Of n > 0 sorted values. */
static double median_sorted(const double *v, uint32_t n)
{
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Median of n values, which are moved about; O(n) expected (quickselect, middle pivot of three). */
static double median_of(double *v, uint32_t n)
{
    uint32_t k = n / 2, from = 0, to = n - 1;
    while (to > from) {
        double a = v[from], b = v[from + (to - from) / 2], c = v[to];
        double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        uint32_t i = from, j = to;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                double t = v[i];
                v[i++] = v[j];
                v[j] = t;
                if (!j)
                    break;
                j--;
            }
        }
        if (k <= j)
            to = j;
        else if (k >= i)
            from = i;
        else
            break;
    }
    if (n % 2)
        return v[k];
    double below = v[0];
    for (uint32_t i = 1; i < k; i++)
        below = v[i] > below ? v[i] : below;
    return (below + v[k]) / 2;
}

/* ---- slopes ---- */

/* The slope between two samples. */
struct fit_pair {
    double slope;
    uint32_t a, b;
};

static int by_slope(const void *a, const void *b)
{
    const struct fit_pair *x = a, *y = b;
    return (x->slope > y->slope) - (x->slope < y->slope);
}

/* More input never makes a task faster here, and cost beyond FIT_SLOPE_MOST is not believed. */
static double clamp_slope(double slope)
{
    return slope < 0 ? 0 : slope > FIT_SLOPE_MOST ? FIT_SLOPE_MOST : slope;
}

/* The median slope of the sorted pairs that do not touch `out` (NONE: all of them). */
static double slope_without(const struct fit_pair *pairs, uint32_t n, uint32_t out)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++)
        left += pairs[i].a != out && pairs[i].b != out;
    if (!left)
        return 0;
    uint32_t seen = 0;
    double below = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (pairs[i].a == out || pairs[i].b == out)
            continue;
        if (seen == left / 2)
            return clamp_slope(left % 2 ? pairs[i].slope : (below + pairs[i].slope) / 2);
        below = pairs[i].slope;
        seen++;
    }
    return 0;
}

/* Equal sizes by number: samples are newest first, and stay so. */
static int by_size(const void *a, const void *b, void *context)
{
    const struct fit_sample *s = context;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (s[i].x != s[k].x)
        return s[i].x < s[k].x ? -1 : 1;
    return (i > k) - (i < k);
}

/* Slopes with all samples and without each one; false: the sizes do not differ enough. */
static bool fit_slopes(const struct fit_sample *s, uint32_t n, double *whole, double *without)
{
    uint32_t *order = mem_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, by_size, (void *)(uintptr_t)s);
    /* pairs are quadratic: of many samples, some that are spread evenly over the sizes */
    uint32_t m = n < FIT_PAIRED ? n : FIT_PAIRED, chosen[FIT_PAIRED];
    for (uint32_t k = 0; k < m; k++)
        chosen[k] = order[m > 1 ? (uint64_t)k * (n - 1) / (m - 1) : 0];
    free(order);
    struct fit_pair *pairs = mem_new(struct fit_pair, (size_t)m * (m - 1) / 2 + 1);
    uint32_t count = 0;
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = a + 1; b < m; b++) {
            double dx = s[chosen[b]].x - s[chosen[a]].x;
            if (dx >= SAME_SIZE)
                pairs[count++] =
                    (struct fit_pair){(s[chosen[b]].y - s[chosen[a]].y) / dx, chosen[a], chosen[b]};
        }
    if (count)
        qsort(pairs, count, sizeof *pairs, by_slope);
    *whole = slope_without(pairs, count, NONE);
    for (uint32_t i = 0; i < n; i++)
        without[i] = *whole;
    for (uint32_t k = 0; k < m && count; k++)
        without[chosen[k]] = slope_without(pairs, count, chosen[k]);
    free(pairs);
    /* fewer than three slopes have no median to speak of */
    return count >= 3 && *whole > 0;
}

/* ---- offsets of groups ---- */

/* Members of each group, newest first, at most FIT_OWN: row g is at[off[g] .. off[g] + n[g]]. */
struct groups {
    uint32_t *off, *n, *at;
};

/* Counting sort; samples come newest first, so the newest FIT_OWN are kept. */
static void groups_make(struct groups *g, const struct fit_sample *s, uint32_t n, uint32_t groups)
{
    g->off = mem_new_zero(uint32_t, (size_t)groups + 2);
    g->n = mem_new_zero(uint32_t, (size_t)groups + 1);
    g->at = mem_new(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (s[i].group < groups)
            g->off[s[i].group + 1]++;
    for (uint32_t k = 0; k < groups; k++)
        g->off[k + 1] += g->off[k];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = s[i].group;
        if (k < groups && g->n[k] < FIT_OWN)
            g->at[g->off[k] + g->n[k]++] = i;
    }
}

static void groups_free(struct groups *g)
{
    free(g->off);
    free(g->n);
    free(g->at);
}

/* Shrunk median residual of the group but sample `out`; NAN: nobody is left. */
static double group_offset(const struct groups *g, uint32_t group, const struct fit_sample *s,
                           double slope, double intercept, uint32_t out)
{
    double residual[FIT_OWN];
    uint32_t n = 0;
    for (uint32_t k = 0; k < g->n[group]; k++) {
        uint32_t i = g->at[g->off[group] + k];
        if (i != out)
            residual[n++] = s[i].y - slope * s[i].x - intercept;
    }
    /* shrunk towards 0: one sample of its own counts half, ten nearly whole */
    return n ? median_of(residual, n) * n / (n + 1) : NAN;
}

/* ---- leaving one out ---- */

/* The intercept without each sample: from the sorted rests where the slope is the same, anew where
 * it is not. */
static void fit_intercepts(const struct fit_sample *s, uint32_t n, double slope,
                           const double *without, double *whole, double *out)
{
    double *rest = mem_new(double, n), *sorted = mem_new(double, n), *left = mem_new(double, n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = rest[i] = s[i].y - slope * s[i].x;
    qsort(sorted, n, sizeof *sorted, compare_doubles);
    *whole = median_sorted(sorted, n);
    for (uint32_t i = 0; i < n; i++) {
        if (without[i] == slope) {
            /* Of n - 1 left, the middle is n/2 - 1 and n/2 of the old ranks, or one further when
             * the one that goes stood at or before it. */
            uint32_t k = (n - 1) / 2;
            double upper = rest[i] <= sorted[k] ? sorted[k + 1] : sorted[k];
            if (n % 2 == 0) {
                out[i] = upper; /* an odd number is left: ranks 0 .. n-2, middle n/2 - 1 = k */
            } else {
                double lower = rest[i] <= sorted[k - 1] ? sorted[k] : sorted[k - 1];
                out[i] = (lower + upper) / 2;
            }
        } else {
            uint32_t m = 0;
            for (uint32_t j = 0; j < n; j++)
                if (j != i)
                    left[m++] = s[j].y - without[i] * s[j].x;
            out[i] = median_of(left, m);
        }
    }
    free(rest);
    free(sorted);
    free(left);
}

struct fit_candidate {
    double slope, intercept;
    double *plain, *own; /* residuals real - predicted, left out; own: NAN without others */
};

/* Residuals of every sample as if it had not been seen: that is what a prediction meets. */
static void candidate_make(struct fit_candidate *c, const struct fit_sample *s, uint32_t n,
                           const struct groups *g, uint32_t groups, double slope,
                           const double *without)
{
    double *intercept = mem_new(double, n);
    c->slope = slope;
    c->plain = mem_new(double, n);
    c->own = mem_new(double, n);
    fit_intercepts(s, n, slope, without, &c->intercept, intercept);
    for (uint32_t i = 0; i < n; i++) {
        c->plain[i] = s[i].y - without[i] * s[i].x - intercept[i];
        c->own[i] = s[i].group < groups
                        ? c->plain[i] - group_offset(g, s[i].group, s, without[i], intercept[i], i)
                        : NAN;
    }
    free(intercept);
}

static void candidate_free(struct fit_candidate *c)
{
    free(c->plain);
    free(c->own);
}

static double fit_residual(const struct fit_candidate *c, bool own, uint32_t i)
{
    return own && !isnan(c->own[i]) ? c->own[i] : c->plain[i];
}

/* Mean absolute error in logarithms; outliers count as a factor of ten and no more. */
static double fit_score(const struct fit_candidate *c, bool own, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        double e = fabs(fit_residual(c, own, i));
        sum += e < BEYOND ? e : BEYOND;
    }
    return sum / n;
}

/* Of sorted residuals, the outer ranks when few: (n + 1) p, rounded outwards. */
static double residual_quantile(const double *v, uint32_t n, double p)
{
    double rank = p > 0.5 ? ceil(p * (n + 1) - 1e-9) : floor(p * (n + 1) + 1e-9);
    double value = v[rank < 1 ? 0 : rank > n ? n - 1 : (uint32_t)rank - 1];
    /* the prediction itself is always inside */
    return p > 0.5 ? fmax(0, value) : p < 0.5 ? fmin(0, value) : 0;
}

/* 90 % intervals, apart for tasks with and without a past of their own; too few of the latter
 * borrow those of all. */
static void fit_intervals(struct fit *f, const struct fit_candidate *c, uint32_t n)
{
    double *all = mem_new(double, n), *own = mem_new(double, n);
    uint32_t m = 0;
    memcpy(all, c->plain, n * sizeof *all);
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(c->own[i]))
            own[m++] = c->own[i];
    if (m < FIT_FEW) {
        memcpy(own, all, n * sizeof *own);
        m = n;
    }
    f->residual[0] = all;
    f->residual[1] = own;
    f->nresiduals[0] = n;
    f->nresiduals[1] = m;
    for (int k = 0; k < 2; k++) {
        qsort(f->residual[k], f->nresiduals[k], sizeof *all, compare_doubles);
        f->low[k] = residual_quantile(f->residual[k], f->nresiduals[k], 0.05);
        f->high[k] = residual_quantile(f->residual[k], f->nresiduals[k], 0.95);
    }
}

/* Median and 90 % of |predicted / real - 1|, for people to judge the prediction by. */
static void fit_errors(struct fit *f, const struct fit_candidate *c, bool own, uint32_t n)
{
    double *v = mem_new(double, n);
    for (uint32_t i = 0; i < n; i++)
        v[i] = fabs(expm1(-fit_residual(c, own, i)));
    qsort(v, n, sizeof *v, compare_doubles);
    f->error = median_sorted(v, n);
    f->error90 = v[(uint32_t)ceil(0.9 * n) - 1];
    free(v);
}

/* ---- the fit ---- */

/* One to FIT_FEW - 1 samples: their median, with a factor of two beyond the extremes. */
static void fit_few(struct fit *f, const struct fit_sample *s, uint32_t n)
{
    double v[FIT_FEW], left[FIT_FEW], e[FIT_FEW];
    for (uint32_t i = 0; i < n; i++)
        v[i] = s[i].y;
    qsort(v, n, sizeof *v, compare_doubles);
    f->method = FORECAST_FEW;
    f->intercept = median_sorted(v, n);
    f->low[0] = f->low[1] = v[0] - f->intercept - log(2);
    f->high[0] = f->high[1] = v[n - 1] - f->intercept + log(2);
    f->error = f->error90 = NAN;
    if (n < 2)
        return;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = 0;
        for (uint32_t j = 0; j < n; j++)
            if (j != i)
                left[m++] = v[j];
        e[i] = fabs(expm1(median_sorted(left, m) - v[i]));
    }
    qsort(e, n, sizeof *e, compare_doubles);
    f->error = median_sorted(e, n);
    f->error90 = e[n - 1];
}

void fit_make(struct fit *f, const struct fit_sample *s, uint32_t n, uint32_t groups)
{
    *f = (struct fit){.samples = n};
    if (!n)
        return;
    double *x = mem_new(double, n);
    f->least = f->most = s[0].x;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = s[i].x;
        f->least = s[i].x < f->least ? s[i].x : f->least;
        f->most = s[i].x > f->most ? s[i].x : f->most;
    }
    f->middle = median_of(x, n);
    free(x);
    if (n < FIT_FEW) {
        fit_few(f, s, n);
        return;
    }
    struct groups g;
    groups_make(&g, s, n, groups);
    struct fit_candidate c[2];
    double *without = mem_new_zero(double, n), slope = 0;
    candidate_make(&c[0], s, n, &g, groups, 0, without);
    uint32_t lines = 1;
    if (fit_slopes(s, n, &slope, without))
        candidate_make(&c[lines++], s, n, &g, groups, slope, without);
    free(without);
    /* simpler candidates first: a later one must beat SIMPLER times the best error so far */
    double best = INFINITY;
    bool own = false;
    uint32_t line = 0;
    for (uint32_t k = 0; k < 2 * lines; k++) { /* median, line, median own, line own */
        double e = fit_score(&c[k % lines], k >= lines, n);
        if (e < best * (k ? SIMPLER : 1)) {
            best = e;
            line = k % lines;
            own = k >= lines;
        }
    }
    /* by [own past][line] */
    static const enum forecast_method methods[2][2] = {{FORECAST_MEDIAN, FORECAST_LINE},
                                                       {FORECAST_MEDIAN_OWN, FORECAST_LINE_OWN}};
    f->method = methods[own][line];
    f->slope = c[line].slope;
    f->intercept = c[line].intercept;
    fit_intervals(f, &c[line], n);
    fit_errors(f, &c[line], own, n);
    if (own) {
        f->groups = groups;
        f->offset = mem_new(double, groups);
        for (uint32_t k = 0; k < groups; k++)
            f->offset[k] = group_offset(&g, k, s, f->slope, f->intercept, NONE);
    }
    for (uint32_t k = 0; k < lines; k++)
        candidate_free(&c[k]);
    groups_free(&g);
}

void fit_free(struct fit *f)
{
    free(f->offset);
    free(f->residual[0]);
    free(f->residual[1]);
    *f = (struct fit){0};
}

/* Sizes far outside of what was seen are moved to ten times its edge: a line does not hold for
 * ever. `known`: the group has a past of its own. */
static double fit_middle(const struct fit *f, double x, uint32_t group, bool *known)
{
    if (isnan(x))
        x = f->middle;
    x = x < f->least - BEYOND ? f->least - BEYOND : x > f->most + BEYOND ? f->most + BEYOND : x;
    double offset = group < f->groups ? f->offset[group] : NAN;
    *known = !isnan(offset);
    return f->intercept + f->slope * x + (*known ? offset : 0);
}

bool fit_predict(const struct fit *f, double x, uint32_t group, double *y, double *low,
                 double *high)
{
    bool known;
    if (!f->samples)
        return false;
    *y = fit_middle(f, x, group, &known);
    *low = *y + f->low[known];
    *high = *y + f->high[known];
    return true;
}

/* Few samples have no ranks: their range is taken for 5 % to 95 %, and is straight in between. */
double fit_quantile(const struct fit *f, double x, uint32_t group, double p)
{
    bool known;
    if (!f->samples || !(p > 0 && p < 1))
        return NAN;
    double y = fit_middle(f, x, group, &known);
    if (f->residual[known])
        return y + residual_quantile(f->residual[known], f->nresiduals[known], p);
    return y + (p > 0.5 ? f->high[known] : -f->low[known]) * (p - 0.5) / 0.45;
}
