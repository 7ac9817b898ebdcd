/* A robust fit of positive values (seconds, bytes) that grow with a size. Private; pure: no
 * database.
 *
 * Everything is on the log scale, y = log value, x = log(1 + size): what makes a task slow
 * multiplies, and errors are wanted in percent. Four candidates, simplest first:
 *
 *     median         y = median of all y
 *     line           y = a + b x: Theil-Sen, b the median of the slopes between pairs, a the
 *                    median of y - b x. Chosen over Huber's M-estimator because it has no scale to
 *                    tune, no iteration that may fail, 29 % of the samples may be wild in x and y
 *                    alike (Huber: none in x), and leaving one sample out is cheap to redo exactly
 *     median, own    either plus the offset of the group (a task's own past): the median residual
 *     line, own      of its n newest samples, times n / (n + 1)
 *
 * Each predicts every sample from the others (leave-one-out). The one with the smallest mean error
 * |log predicted / real|, each counted up to a factor of 10, is taken; a more complicated one must
 * be better by a tenth. The same residuals give the interval and the error that are reported.
 *
 * The slopes use all pairs of at most FIT_PAIRED samples (even ranks by x), so a fit costs
 * O(n log n + FIT_PAIRED^3 / 2): 4 ms at n = 1,000. */
#pragma once
#include "history/history.h"

#define FIT_FEW 5     /* fewer samples: their median, and twice their range as interval */
#define FIT_PAIRED 96 /* samples whose pairs give the slope */
#define FIT_OWN 32    /* newest samples of a group that count */
#define FIT_SLOPE_MOST 3.0

struct fit_sample {
    double x, y;    /* logs */
    uint32_t group; /* small numbers; NONE: belongs to none */
};

struct fit {
    enum forecast_method method;
    uint32_t samples;
    double slope, intercept;
    double middle;          /* x of the middle sample: for a size not known */
    double least, most;     /* range of x seen */
    double low[2], high[2]; /* added to y: 5 % and 95 %; [1]: for a group that is known */
    double
        *residual[2]; /* sorted, left out: what the quantiles are taken from; NULL: few samples */
    uint32_t nresiduals[2];
    double *offset; /* per group; NAN: no sample */
    uint32_t groups;
    double error, error90; /* of |predicted / real - 1|, left out; NAN with one sample */
};

/* Samples newest first. `groups`: numbers of groups are below it. */
void fit_make(struct fit *f, const struct fit_sample *samples, uint32_t n, uint32_t groups);
void fit_free(struct fit *f);
/* Logs of the value and its interval. x NAN: not known. False: no samples. */
bool fit_predict(const struct fit *f, double x, uint32_t group, double *y, double *low,
                 double *high);
/* The log that the value stays below with probability p, 0 < p < 1: 0.5 is the prediction itself. NAN: no
 * samples, or no probability. */
double fit_quantile(const struct fit *f, double x, uint32_t group, double p);
