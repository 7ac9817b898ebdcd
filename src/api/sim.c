/* Simulations of the library: one handle over the three kinds of replay, with repeats and with what
 * happened kept as a plan that pictures and traces can show. */
#include "api/inside.h"
#include "api/files.h"
#include "api/sim_changes.h"
#include "base/clock.h"
#include "base/plural.h"
#include "formats/json/trace_json.h"
#include "sim/network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what happened ---- */

static void sim_pass_on(struct weft_sim *s, const struct trace_event *e)
{
    _Static_assert(
        (int)TRACE_TASK == WEFT_TRACE_TASK && (int)TRACE_TRANSFER == WEFT_TRACE_TRANSFER &&
            (int)TRACE_FAULT == WEFT_TRACE_FAULT && (int)TRACE_COUNTER == WEFT_TRACE_COUNTER,
        "same numbers");
    if (s->options.event && e->kind <= TRACE_COUNTER)
        s->options.event(s->options.context,
                         &(struct weft_trace){(enum weft_trace_kind)e->kind, e->id, e->node,
                                              e->other, e->lane, e->copy, e->start, e->finish,
                                              e->amount});
    if (s->options.keep)
        array_push(&s->events, *e);
}

static void sim_record(void *context, const struct trace_event *e)
{
    struct weft_sim *s = context;
    sim_pass_on(s, e);
    if (!s->happened.model)
        return;
    if (e->kind == TRACE_TASK)
        array_push(&s->happened.model->placements,
                   (struct placement){e->id, e->copy, e->node, e->lane, e->start, e->finish});
    else if (e->kind == TRACE_TRANSFER)
        array_push(&s->happened.model->transfers,
                   (struct transfer){e->id, e->node, e->other, e->start, e->finish});
}

/* Clients have no names: each task goes to the client that has been free for longest, or a new one.
 */
static void sim_record_client(void *context, const struct trace_event *e)
{
    struct weft_sim *s = context;
    struct trace_event with_lane = *e;
    if (s->lanes.n && queue_peek(&s->lanes)->key <= e->start)
        with_lane.lane = (uint32_t)queue_pop(&s->lanes).value;
    else
        with_lane.lane = s->nlanes++;
    queue_push(&s->lanes, e->finish, with_lane.lane, with_lane.lane);
    sim_pass_on(s, &with_lane);
    if (s->happened.model)
        array_push(&s->happened.model->placements,
                   (struct placement){e->id, 0, 0, with_lane.lane, e->start, e->finish});
}

/* Clients as one node with a core each. */
static struct platform *sim_clients_platform(uint32_t lanes, struct error *err)
{
    struct platform_builder *b = platform_builder_new("<clients>");
    platform_builder_name(b, "clients", strlen("clients"));
    uint32_t node = platform_builder_node(b, "clients", strlen("clients"), 0);
    platform_builder_cores(b, node, lanes ? lanes : 1, 0);
    return platform_builder_finish(b, err);
}

/* ---- repeats: the metrics of one run, by kind ---- */

static const char *const sim_replay_metrics[] = {"makespan",  "utilization", "wait_data",
                                                 "wait_node", "lost",        "failures"};
static const char *const sim_stream_metrics[] = {"throughput",  "latency_mean", "latency_p95",
                                                 "latency_max", "makespan",     "utilization"};
static const char *const sim_order_metrics[] = {"makespan", "stall_probability", "unfilled",
                                                "utilization", "eligible_mean"};

static void sim_replay_values(const struct replay_result *r, double *values)
{
    double all[] = {r->makespan,  r->utilization, r->wait_data,
                    r->wait_node, r->lost,        (double)r->failures};
    memcpy(values, all, sizeof all);
}

static void sim_stream_values(const struct stream_result *r, double *values)
{
    double all[] = {r->throughput,  r->latency_mean, r->latency_p95,
                    r->latency_max, r->makespan,     r->utilization};
    memcpy(values, all, sizeof all);
}

static void sim_order_values(const struct order_result *r, double *values)
{
    double all[] = {r->makespan, r->stall_probability, r->unfilled, r->utilization,
                    r->eligible_mean};
    memcpy(values, all, sizeof all);
}

static bool sim_repeat_replay(void *context, uint32_t i, uint64_t seed, double *values,
                              struct error *err)
{
    (void)i;
    const struct weft_sim *s = context;
    struct replay_options o = s->replay_options;
    o.seed = seed;
    o.trace = NULL;
    o.progress = NULL;
    struct replay_result r;
    bool good = replay_run(s->workflow->model, s->platform->model, s->plan, &o, &r, err);
    sim_replay_values(&r, values);
    replay_result_free(&r);
    return good;
}

static bool sim_repeat_stream(void *context, uint32_t i, uint64_t seed, double *values,
                              struct error *err)
{
    (void)i;
    const struct weft_sim *s = context;
    struct stream_options o = s->stream_options;
    o.seed = seed;
    o.trace = NULL;
    o.progress = NULL;
    struct stream_result r;
    bool good = stream_run(s->workflow->model, s->platform->model, s->plan, &o, &r, err);
    sim_stream_values(&r, values);
    stream_result_free(&r);
    return good;
}

static bool sim_repeat_order(void *context, uint32_t i, uint64_t seed, double *values,
                             struct error *err)
{
    (void)i;
    const struct weft_sim *s = context;
    struct order_options o = s->order_options;
    o.seed = seed;
    o.trace = NULL;
    struct order_result r;
    bool good = order_run(s->workflow->model, &o, &r, err);
    sim_order_values(&r, values);
    return good;
}

typedef bool sim_repeat_f(void *context, uint32_t i, uint64_t seed, double *values,
                          struct error *err);

static bool sim_repeat(struct weft_sim *s, sim_repeat_f *run_one, struct error *err)
{
    if (s->options.repeat <= 1)
        return true;
    s->repeated = true;
    struct repeat_options o = {.count = s->options.repeat,
                               .threads = s->options.threads,
                               .seed = s->options.seed,
                               .confidence = s->options.confidence,
                               .progress = s->progress.report ? &s->progress : NULL};
    return repeat_run(&o, s->metrics, s->nmetrics, run_one, s, &s->repeat, err);
}

/* ---- the three simulations ---- */

static bool sim_run_replay(struct weft_sim *s, const struct plan *given, struct error *err)
{
    const struct plan *plan = given;
    const struct weft_sim_options *o = &s->options;
    struct replay_options *r = &s->replay_options;
    struct trace_sink sink = {.event = sim_record, .context = s};
    s->kind = WEFT_SIM_REPLAY;
    s->metrics = sim_replay_metrics;
    s->nmetrics = 6;
    if (plan->kind == PLAN_PARTITION && !plan->placements.n) {
        s->sequences = plan_of_parts(plan, s->workflow->model, s->platform->model, err);
        if (!s->sequences)
            return false;
        plan = s->sequences;
    }
    s->network = o->network ? o->network : replay_network(plan, s->platform->model);
    if (!sim_changes_follow(s, given, &plan, err))
        return false;
    s->plan = plan;
    s->faults = mem_new_zero(struct fault, o->nfaults + 1);
    for (size_t i = 0; i < o->nfaults; i++)
        s->faults[i] = (struct fault){o->faults[i].node, o->faults[i].time, o->faults[i].repair};
    replay_options_init(r);
    r->seed = o->seed;
    r->network = o->network;
    r->ports = o->ports;
    r->noise = o->noise;
    r->planned_times = o->planned_times;
    r->mtbf = o->mtbf;
    r->repair = o->repair;
    r->changes = s->changes.at;
    r->nchanges = s->changes.n;
    r->holds = s->holds.at;
    r->nholds = s->holds.n;
    r->faults = s->faults;
    r->nfaults = o->nfaults;
    r->trace = o->keep || o->event ? &sink : NULL;
    r->progress = s->progress.report ? &s->progress : NULL;
    bool good = replay_run(s->workflow->model, s->platform->model, plan, r, &s->replay, err);
    sim_replay_values(&s->replay, s->values);
    good = good && sim_repeat(s, sim_repeat_replay, err);
    r->trace = NULL; /* it lived on this stack */
    return good;
}

/* How items are fed: as asked, else as the other options and the plan suggest. */
static bool sim_choose_feed(const struct weft_sim_options *o, const struct plan *plan,
                            enum stream_feed *out, struct error *err)
{
    double promised = plan_objective(plan, "throughput");
    *out = o->period > 0                        ? FEED_PERIOD
           : o->window                          ? FEED_WINDOW
           : promised > 0 && isfinite(promised) ? FEED_PERIOD
                                                : FEED_FLOOD;
    if (!o->fed)
        return true;
    for (int i = 0; stream_feed_names[i]; i++)
        if (strcmp(o->fed, stream_feed_names[i]) == 0) {
            *out = (enum stream_feed)i;
            if (*out == FEED_FLOOD && (o->period > 0 || o->window))
                return error_set(
                    err, ERROR_INPUT,
                    "a flood has no period and no window: all items are there at once");
            if (*out == FEED_WINDOW && (o->period > 0 || !o->window))
                return error_set(err, ERROR_INPUT,
                                 "items fed by a window need its size (--window N), and no "
                                 "period: one enters when another has left");
            return true;
        }
    return error_set(err, ERROR_INPUT, "items are fed by '%s'; expected flood, period or window",
                     o->fed);
}

static bool sim_run_stream(struct weft_sim *s, const struct plan *plan, struct error *err)
{
    const struct weft_sim_options *o = &s->options;
    struct stream_options *r = &s->stream_options;
    struct trace_sink sink = {.event = sim_record, .context = s};
    s->kind = WEFT_SIM_STREAM;
    s->metrics = sim_stream_metrics;
    s->nmetrics = 6;
    s->plan = plan;
    s->network = o->network ? o->network : "kport";
    stream_options_init(r);
    r->seed = o->seed;
    r->network = o->network;
    r->ports = o->ports;
    r->noise = o->noise;
    r->items = o->items;
    r->window = o->window;
    r->period = o->period;
    if (!sim_choose_feed(o, plan, &r->fed, err))
        return false;
    r->trace = o->keep || o->event ? &sink : NULL;
    r->progress = s->progress.report ? &s->progress : NULL;
    bool good = stream_run(s->workflow->model, s->platform->model, plan, r, &s->stream, err);
    sim_stream_values(&s->stream, s->values);
    good = good && sim_repeat(s, sim_repeat_stream, err);
    r->trace = NULL;
    return good;
}

static int sim_by_start(const void *a, const void *b)
{
    const struct placement *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* The order of an order plan; of a static plan, by start. */
static bool sim_order_of(struct weft_sim *s, const struct plan *plan, struct error *err)
{
    uint32_t n = s->workflow->model->ntasks, k = 0;
    if (plan->kind == PLAN_ORDER) {
        s->order_options.order = plan->order.at;
        if (plan->order.n != n)
            return error_set(
                err, ERROR_INPUT,
                "the plan does not belong to this workflow: its order has %zu task%s of %u",
                plan->order.n, plural(plan->order.n), n);
        return true;
    }
    if (plan->kind != PLAN_STATIC)
        return error_set(err, ERROR_INPUT, "a plan of kind '%s' gives no order for clients",
                         plan_kind_name(plan->kind));
    s->order_of_plan = mem_new(uint32_t, n);
    struct placement *sorted = mem_new(struct placement, plan->placements.n);
    for (size_t i = 0; i < plan->placements.n; i++)
        sorted[i] = plan->placements.at[i];
    if (plan->placements.n)
        qsort(sorted, plan->placements.n, sizeof *sorted, sim_by_start);
    for (size_t i = 0; i < plan->placements.n && k < n; i++)
        if (sorted[i].copy == 0)
            s->order_of_plan[k++] = sorted[i].task;
    free(sorted);
    s->order_options.order = s->order_of_plan;
    return k == n ||
           error_set(err, ERROR_INPUT, "the plan places only %u of %u task%s", k, n, plural(n));
}

static bool sim_run_order(struct weft_sim *s, const struct plan *plan, struct error *err)
{
    const struct weft_sim_options *o = &s->options;
    struct order_options *r = &s->order_options;
    struct trace_sink sink = {.event = sim_record_client, .context = s};
    s->kind = WEFT_SIM_CLIENTS;
    s->metrics = sim_order_metrics;
    s->nmetrics = 5;
    s->plan = plan;
    order_options_init(r);
    r->seed = o->seed;
    r->interarrival = o->interarrival;
    r->batch = o->batch;
    r->arrivals = (enum order_arrivals)o->arrivals;
    r->fixed_batch = r->arrivals == ARRIVALS_FIXED;
    r->run_time = o->run_time;
    r->deviation = o->deviation;
    r->slow_share = o->slow_share;
    r->slow_factor = o->slow_factor;
    r->vanish_share = o->vanish_share;
    r->timeout = o->timeout;
    if (plan && !sim_order_of(s, plan, err))
        return false;
    r->trace = o->keep || o->event ? &sink : NULL;
    bool good = order_run(s->workflow->model, r, &s->order, err);
    sim_order_values(&s->order, s->values);
    good = good && sim_repeat(s, sim_repeat_order, err);
    r->trace = NULL;
    return good;
}

/* ---- the handle ---- */

static void sim_tidy(struct weft_sim *s)
{
    replay_result_free(&s->replay);
    stream_result_free(&s->stream);
    repeat_result_free(&s->repeat);
    plan_free(s->happened.model);
    plan_free(s->sequences);
    array_free(&s->events);
    queue_free(&s->lanes);
    free(s->faults);
    array_free(&s->changes);
    array_free(&s->holds);
    array_free(&s->changed);
    free(s->order_of_plan);
}

static bool sim_options_good(struct weft_sim *s, const struct weft_sim_options *options,
                             struct error *err)
{
    struct weft_sim_options standard = WEFT_SIM_INIT;
    s->options = standard;
    if (!api_options(&s->options, options, err))
        return false;
    const struct weft_sim_options *o = &s->options;
    if (!(o->confidence > 0 && o->confidence < 1))
        return error_set(err, ERROR_INPUT, "--confidence is %g; expected a share below 1",
                         o->confidence);
    if (o->network && !network_summary(o->network))
        return error_set(err, ERROR_INPUT, "--network is '%s'; expected free, kport or fair",
                         o->network);
    s->progress = (struct progress){o->progress, o->context};
    return true;
}

static bool sim_run(struct weft_sim *s, const struct plan *plan, bool clients, struct error *err)
{
    double began = clock_seconds();
    if (s->options.keep)
        s->happened.model = plan_new(PLAN_STATIC);
    /* only clients come without a plan: first in, first out */
    bool good = clients || !plan || plan->kind == PLAN_ORDER ? sim_run_order(s, plan, err)
                : plan->kind == PLAN_STREAM                  ? sim_run_stream(s, plan, err)
                                                             : sim_run_replay(s, plan, err);
    s->seconds = clock_seconds() - began;
    if (good && s->happened.model) {
        plan_sort(s->happened.model);
        plan_set_objective(s->happened.model, "makespan", plan_makespan(s->happened.model));
    }
    return good;
}

static struct weft_sim *sim_new(const struct weft_workflow *w, const struct weft_platform *p,
                                const struct weft_plan *plan, bool clients,
                                const struct weft_sim_options *options, struct error *err)
{
    struct weft_sim *s = mem_new_zero(struct weft_sim, 1);
    const struct plan *model = plan ? plan->model : NULL;
    clients = clients || (model && model->kind == PLAN_ORDER);
    s->workflow = (struct weft_workflow *)(uintptr_t)w; /* kept below, when all is well */
    s->platform = (struct weft_platform *)(uintptr_t)p;
    bool good = sim_options_good(s, options, err) && sim_run(s, model, clients, err);
    if (good && clients && s->happened.model) /* clients are the platform here */
        s->clients = api_platform(sim_clients_platform(s->nlanes, err));
    if (!good) {
        sim_tidy(s);
        free(s);
        return NULL;
    }
    api_workflow_keep(w);
    s->platform = s->clients ? s->clients : api_platform_keep(p);
    s->happened.workflow = s->workflow;
    s->happened.platform = s->platform;
    return s;
}

EXPORT struct weft_sim *weft_sim_plan(const struct weft_plan *plan,
                                      const struct weft_sim_options *options,
                                      struct weft_error *error)
{
    API_CALL(call, error)
    call.result = sim_new(plan->workflow, plan->platform, plan, false, options, &call.err);
    return api_result(&call);
}

EXPORT struct weft_sim *weft_sim_clients(const struct weft_workflow *w,
                                         const struct weft_plan *plan,
                                         const struct weft_sim_options *options,
                                         struct weft_error *error)
{
    API_CALL(call, error)
    call.result = sim_new(w, NULL, plan, true, options, &call.err);
    return api_result(&call);
}

EXPORT void weft_sim_free(struct weft_sim *s)
{
    if (!s)
        return;
    sim_tidy(s);
    weft_workflow_free(s->workflow);
    weft_platform_free(s->platform);
    free(s);
}

/* ---- looking ---- */

EXPORT enum weft_sim_kind weft_sim_kind(const struct weft_sim *s)
{
    return s->kind;
}

EXPORT bool weft_sim_metric(const struct weft_sim *s, size_t i, struct weft_metric *out)
{
    if (i >= s->nmetrics)
        return false;
    double value = s->values[i];
    *out = (struct weft_metric){s->metrics[i], value, value, 0, INFINITY, value, value, value};
    if (s->repeated) {
        const struct repeat_metric *m = &s->repeat.metrics[i];
        *out = (struct weft_metric){m->name,       value,    m->mean,   m->deviation,
                                    m->half_width, m->least, m->median, m->most};
    }
    return true;
}

EXPORT bool weft_sim_change(const struct weft_sim *s, size_t i, struct weft_changed *out)
{
    if (i >= s->changed.n)
        return false;
    *out = s->changed.at[i];
    return true;
}

EXPORT double weft_sim_value(const struct weft_sim *s, const char *name)
{
    for (size_t i = 0; i < s->nmetrics; i++)
        if (strcmp(s->metrics[i], name) == 0)
            return s->values[i];
    return NAN;
}

EXPORT size_t weft_sim_times(const struct weft_sim *s, const double **start, const double **finish)
{
    *start = s->replay.start;
    *finish = s->replay.finish;
    return s->replay.nplacements;
}

EXPORT const struct weft_plan *weft_sim_happened(const struct weft_sim *s)
{
    return s->happened.model ? &s->happened : NULL;
}

static int sim_event_by_start(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Everything that the simulation told: tasks, transfers, outages, lost runs, counters. */
EXPORT char *weft_sim_trace(const struct weft_sim *s, size_t *n, struct weft_error *error)
{
    API_CALL(call, error)
    {
        if (!s->options.keep) {
            error_set(&call.err, ERROR_INPUT,
                      "what happened was not kept: simulate with `keep` in the options");
        } else {
            struct strbuf text = {0};
            struct trace_event *events = mem_new(struct trace_event, s->events.n + 1);
            for (size_t i = 0; i < s->events.n; i++)
                events[i] = s->events.at[i];
            if (s->events.n)
                qsort(events, s->events.n, sizeof *events, sim_event_by_start);
            struct trace_json *t =
                trace_json_open(s->workflow->model, s->platform->model, NULL, &text);
            struct trace_sink sink = trace_json_sink(t);
            for (size_t i = 0; i < s->events.n; i++)
                sink.event(sink.context, &events[i]);
            trace_json_close(t);
            free(events);
            call.result = api_text(&text, n);
        }
    }
    return api_result(&call);
}
