/* Curves over time from a finished replay: memory of a node, cores at work, utilisation, and the
 * stretch of tasks. Each O(n log n) in placements, from the result alone. */
#include "sim/replay_series.h"
#include "base/compare.h"
#include <math.h>

void series_free(struct series *s)
{
    free(s->at);
    *s = (struct series){0};
}

/* A change of level at an instant. */
struct series_change {
    double time, amount;
};

/* Falls first: a task that ends when another starts must not show as a peak. */
static int series_compare_changes(const void *a, const void *b)
{
    const struct series_change *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->amount > y->amount) - (x->amount < y->amount); /* falls before rises */
}

typedef ARRAY(struct series_change) changes;

static void add_span(changes *c, double start, double finish, double amount)
{
    if (finish > start && amount > 0) {
        array_push(c, (struct series_change){start, amount});
        array_push(c, (struct series_change){finish, -amount});
    }
}

/* Changes to a step function with one point an instant. Frees the changes. */
static void sum_up(changes *c, struct series *out)
{
    qsort(c->at, c->n, sizeof *c->at, series_compare_changes);
    out->at = mem_new(struct series_point, c->n + 1);
    out->n = 0;
    double level = 0;
    uint64_t open = 0;
    if (!c->n || c->at[0].time > 0)
        out->at[out->n++] = (struct series_point){0, 0};
    for (size_t i = 0; i < c->n; i++) {
        level += c->at[i].amount;
        open += c->at[i].amount > 0 ? 1 : (uint64_t)-1;
        if (!open)
            level = 0; /* no rest of rounding */
        if (i + 1 == c->n || c->at[i + 1].time > c->at[i].time)
            out->at[out->n++] = (struct series_point){c->at[i].time, level};
    }
    array_free(c);
}

/* Runs that a failure cut short held memory too. */
void replay_memory_series(const struct replay_result *r, const struct workflow *w,
                          const struct plan *plan, uint32_t node, struct series *out)
{
    changes c = {0};
    for (uint32_t i = 0; i < r->nplacements && i < plan->placements.n; i++)
        if (plan->placements.at[i].node == node && !isnan(r->finish[i]))
            add_span(&c, r->start[i], r->finish[i], w->memory[plan->placements.at[i].task]);
    for (size_t k = 0; k < r->lost_runs.n; k++) {
        const struct lost_run *l = &r->lost_runs.at[k];
        if (plan->placements.at[l->placement].node == node)
            add_span(&c, l->start, l->finish, w->memory[plan->placements.at[l->placement].task]);
    }
    sum_up(&c, out);
}

void replay_running_series(const struct replay_result *r, const struct workflow *w,
                           const struct plan *plan, struct series *out)
{
    changes c = {0};
    for (uint32_t i = 0; i < r->nplacements && i < plan->placements.n; i++)
        if (!isnan(r->finish[i]))
            add_span(&c, r->start[i], r->finish[i], w->cores[plan->placements.at[i].task]);
    for (size_t k = 0; k < r->lost_runs.n; k++) {
        const struct lost_run *l = &r->lost_runs.at[k];
        add_span(&c, l->start, l->finish, w->cores[plan->placements.at[l->placement].task]);
    }
    sum_up(&c, out);
}

/* Spread a span over the bins it meets. Long spans meet many bins, so whole bins go into a
 * difference array. */
static void series_spread(double start, double finish, double amount, double width, uint32_t bins,
                          double *part, double *step)
{
    if (!(finish > start))
        return;
    double last = bins - 1;
    uint32_t a = (uint32_t)fmin(floor(start / width), last);
    uint32_t b = (uint32_t)fmin(floor(finish / width), last);
    if (a == b) {
        part[a] += (finish - start) * amount;
        return;
    }
    part[a] += ((a + 1) * width - start) * amount;
    part[b] += (finish - b * width) * amount;
    step[a + 1] += amount;
    step[b] -= amount;
}

/* Averages over equal bins, as a share of the cores of the nodes that the plan uses. */
void replay_utilization_series(const struct replay_result *r, const struct workflow *w,
                               const struct platform *p, const struct plan *plan, uint32_t bins,
                               struct series *out)
{
    *out = (struct series){0};
    if (!bins || !(r->makespan > 0))
        return;
    double width = r->makespan / bins;
    double *part = mem_new_zero(double, bins), *step = mem_new_zero(double, (size_t)bins + 1);
    bool *used = mem_new_zero(bool, p->nnodes);
    for (uint32_t i = 0; i < r->nplacements && i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        used[x->node] = true;
        if (!isnan(r->finish[i]))
            series_spread(r->start[i], r->finish[i], w->cores[x->task], width, bins, part, step);
    }
    double cores = 0;
    for (uint32_t i = 0; i < p->nnodes; i++)
        cores += used[i] ? p->cores[i] : 0;
    out->at = mem_new(struct series_point, bins);
    out->n = bins;
    double level = 0;
    for (uint32_t i = 0; i < bins; i++) {
        level += step[i];
        out->at[i] = (struct series_point){i * width, (part[i] + level * width) / (width * cores)};
    }
    free(part);
    free(step);
    free(used);
}

/* Time from when a task could have begun to its end, over its length: 1 is ideal. */
void replay_stretch(const struct replay_result *r, const struct workflow *w,
                    const struct plan *plan, double *stretch)
{
    /* A task is over for its successors when its first copy is. */
    double *ended = mem_new(double, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        ended[t] = INFINITY;
    for (uint32_t i = 0; i < r->nplacements; i++) {
        uint32_t t = plan->placements.at[i].task;
        if (r->finish[i] < ended[t])
            ended[t] = r->finish[i];
    }
    for (uint32_t i = 0; i < r->nplacements; i++) {
        uint32_t t = plan->placements.at[i].task;
        double ready = 0;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (ended[w->pred_task[e]] > ready)
                ready = ended[w->pred_task[e]];
        double computed = r->finish[i] - r->start[i];
        stretch[i] = isnan(computed) ? NAN : computed > 0 ? (r->finish[i] - ready) / computed : 1;
    }
    free(ended);
}

void replay_stretch_summary(const struct replay_result *r, const struct workflow *w,
                            const struct plan *plan, struct stretch_summary *out)
{
    *out = (struct stretch_summary){.worst = NONE};
    double *s = mem_new(double, r->nplacements);
    replay_stretch(r, w, plan, s);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->nplacements; i++) {
        if (isnan(s[i]))
            continue;
        out->mean += s[i];
        if (out->worst == NONE || s[i] > out->max) {
            out->max = s[i];
            out->worst = i;
        }
        s[n++] = s[i];
    }
    if (n) {
        qsort(s, n, sizeof *s, compare_doubles);
        out->mean /= n;
        out->median = s[n / 2];
        out->p95 = s[(uint64_t)n * 95 / 100];
    }
    free(s);
}
