/* Advice of the library: which order for which clients. Every planner that may suit makes its order,
 * and all orders meet the same clients in paired simulations (sim/contest.h). */
#include "api/making.h"
#include "sim/contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADVICE_ORDERS = 7, ADVICE_MOST_RUNS = 1000, ADVICE_LEAST_RUNS = 5 };
/* Tasks given to clients in all runs together, where nobody says how many runs: a few seconds. */
static const double advice_steps = 2e7;
/* Past so many tasks, the four that matter. */
enum { ADVICE_MANY_TASKS = 20000, ADVICE_FEW_ORDERS = 4 };

/* The first one is best in most cases; fifo is what happens without an order. */
static const char *const advice_planners[ADVICE_ORDERS] = {
    "order", "criticalpath", "ic", "fifo", "prio", "batch", "outdegree"};

struct advice_row {
    const char *planner;
    size_t place; /* in the list of planners: of equal times the first wins */
    struct weft_plan *plan;
    struct repeat_metric time;
    struct repeat_ratio over_best;
};

struct weft_advice {
    struct advice_row rows[ADVICE_ORDERS];
    size_t nrows;
    uint32_t runs;
    char clients[128];
};

/* The planner's order, for these clients where it can know of them. */
static bool advice_plan(struct weft_advice *a, const char *planner, const struct weft_workflow *w,
                        const struct weft_platform *p, const char *text, const struct clients *c,
                        const struct weft_advice_options *o, struct error *err)
{
    struct weft_plan_options options = WEFT_PLAN_INIT;
    char setting[256];
    const char *settings[] = {setting, NULL};
    options.seed = o->seed;
    options.options = settings;
    if (strcmp(planner, "order") == 0)
        snprintf(setting, sizeof setting, "clients=%.200s", text);
    else if (strcmp(planner, "batch") == 0)
        snprintf(setting, sizeof setting, "size=%.0f", c->count);
    else
        options.options = NULL;
    struct making m;
    struct plan *plan = NULL;
    if (making_begin(&m, w, p, &options, err))
        plan = making_run(&m, planner, err);
    making_end(&m);
    if (!plan)
        return false;
    a->rows[a->nrows] = (struct advice_row){
        .planner = planner, .place = a->nrows, .plan = api_plan_unkept(plan, w, p)};
    a->nrows++;
    return true;
}

static int advice_by_time(const void *x, const void *y)
{
    const struct advice_row *a = x, *b = y;
    if (a->time.mean != b->time.mean)
        return a->time.mean < b->time.mean ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

static bool advice_simulate(struct weft_advice *a, const struct workflow *w,
                            const struct clients *clients, const struct weft_advice_options *o,
                            struct error *err)
{
    struct order_options order;
    struct contest contest = {.w = w, .o = &order, .norders = (uint32_t)a->nrows};
    struct progress progress = {o->progress, o->context};
    struct repeat_result r;
    order_options_for(&order, clients, w);
    for (size_t i = 0; i < a->nrows; i++)
        contest.orders[i] =
            strcmp(a->rows[i].planner, "fifo") == 0 ? NULL : a->rows[i].plan->model->order.at;
    double runs = floor(advice_steps / ((double)a->nrows * (w->ntasks + 1)));
    runs = fmax(ADVICE_LEAST_RUNS, fmin(ADVICE_MOST_RUNS, runs));
    a->runs = o->repeat ? o->repeat : (uint32_t)runs;
    struct repeat_options options = {.count = a->runs,
                                     .threads = o->threads,
                                     .seed = o->seed,
                                     .confidence = o->confidence,
                                     .progress = o->progress ? &progress : NULL};
    if (!contest_run(&contest, &options, &r, err))
        return false;
    uint32_t best = 0;
    for (uint32_t i = 0; i < a->nrows; i++) {
        a->rows[i].time = r.metrics[contest_column(i, CONTEST_TIME)];
        if (a->rows[i].time.mean < a->rows[best].time.mean)
            best = i;
    }
    for (uint32_t i = 0; i < a->nrows; i++)
        a->rows[i].over_best = repeat_ratio(&r, contest_column(i, CONTEST_TIME),
                                            contest_column(best, CONTEST_TIME), o->confidence);
    repeat_result_free(&r);
    qsort(a->rows, a->nrows, sizeof *a->rows, advice_by_time);
    return true;
}

static bool advice_fill(struct weft_advice *a, const struct weft_workflow *w,
                        const struct weft_platform *p, const char *text,
                        const struct weft_advice_options *given, struct error *err)
{
    struct weft_advice_options o = WEFT_ADVICE_INIT;
    struct clients clients;
    if (!api_options(&o, given, err))
        return false;
    if (!w->model->ntasks)
        return error_set(err, ERROR_INPUT, "the workflow has no tasks: there is nothing to order");
    if (!clients_parse(text, w->model, &clients, err))
        return false;
    struct strbuf words = {0};
    clients_describe(&clients, &words);
    snprintf(a->clients, sizeof a->clients, "%s", strbuf_text(&words));
    strbuf_free(&words);
    size_t n = w->model->ntasks > ADVICE_MANY_TASKS ? ADVICE_FEW_ORDERS : ADVICE_ORDERS;
    for (size_t i = 0; i < n; i++)
        if (!advice_plan(a, advice_planners[i], w, p, text, &clients, &o, err))
            return false;
    return advice_simulate(a, w->model, &clients, &o, err);
}

EXPORT struct weft_advice *weft_advice_make(const struct weft_workflow *w, const char *clients,
                                            const struct weft_advice_options *options,
                                            struct weft_error *error)
{
    struct weft_platform *one = weft_platform_named("1", error); /* orders do not depend on it */
    if (!one)
        return NULL;
    API_CALL(call, error)
    {
        struct weft_advice *a = mem_new_zero(struct weft_advice, 1);
        bool good = advice_fill(a, w, one, clients, options, &call.err);
        for (size_t i = 0; i < a->nrows; i++) /* after the last allocation */
            api_plan_keep(a->rows[i].plan, w, one);
        if (good)
            call.result = a;
        else
            weft_advice_free(a);
    }
    weft_platform_free(one);
    return api_result(&call);
}

EXPORT void weft_advice_free(struct weft_advice *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->nrows; i++)
        weft_plan_free(a->rows[i].plan);
    free(a);
}

EXPORT const char *weft_advice_clients(const struct weft_advice *a, uint32_t *runs)
{
    if (runs)
        *runs = a->runs;
    return a->clients;
}

EXPORT bool weft_advice_order(const struct weft_advice *a, size_t i, struct weft_advised *out)
{
    if (i >= a->nrows)
        return false;
    const struct advice_row *row = &a->rows[i];
    double over = row->over_best.value, half = row->over_best.half_width;
    *out = (struct weft_advised){row->planner,    row->time.mean, row->time.half_width, over, half,
                                 over - half > 1, row->plan};
    return true;
}
