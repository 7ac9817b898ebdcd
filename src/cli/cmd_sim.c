#include "base/clock.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "cli/cli.h"
#include "formats/json/trace_json.h"
#include "cli/sim_output.h"
#include "cli/sim_schedulers.h"
#include "plan/planner.h"
#include "sim/network.h"
#include "sim/queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"workflow", 0, "FILE", "the workflow of the plan, instead of the one it names"},
    OPTION_ON,
    {"with", 0, "PLANNER", "for a workflow: plan it with this first (default heft)"},
    {"set", 0, "NAME=VALUE", "an option of the planner or of the cluster; may be repeated"},
    {"network", 0, "MODEL",
     "free, kport or fair (default: kport where ports are limited, else free)"},
    {"ports", 0, "K", "ports a node under kport (default: the plan's, else the platform's)"},
    {"noise", 0, "CV", "lognormal noise on task times: deviation / mean (0.1 is 10 %)"},
    {"fail", 0, "NODE@TIME[+REPAIR]",
     "this node fails then, for good or for so long; may be repeated"},
    {"mtbf", 0, "TIME", "every node fails at random, so long apart on average"},
    {"repair", 0, "TIME", "how long a node is down after a failure of --mtbf (default: for good)"},
    {"planned-times", 0, NULL, "tasks take the time the plan says, not work / speed"},
    {"items", 0, "N", "streams: items to process (default 200)"},
    {"period", 0, "TIME", "streams: time between items (default: all there at once)"},
    {"window", 0, "N", "streams: most items in the system at once"},
    {"clients", 0, NULL, "a server hands the tasks to clients that come and go"},
    {"interarrival", 0, "TIME", "clients: mean time between batches of requests (default 1)"},
    {"batch", 0, "N", "clients: mean number of requests a batch (default 16)"},
    {"arrivals", 0, "KIND", "clients: exponential, fixed or uniform (default exponential)"},
    {"run-time", 0, "TIME", "clients: mean run time of every task; 0: its own work (default 1)"},
    {"deviation", 0, "SHARE", "clients: deviation of run times / mean (default 0.1)"},
    {"slow", 0, "SHARE[xFACTOR]", "clients: so many are slower, by this factor (default 10)"},
    {"vanish", 0, "SHARE", "clients: so many never answer"},
    {"timeout", 0, "TIME", "clients: when a task of one that vanished is given again (default 10)"},
    {"fifo", 0, NULL, "clients: first in, first out instead of the plan's order"},
    {"schedulers", 0, "N",
     "a cluster of so many distributed schedulers runs the graph, without a plan"},
    {"dag", 0, "NAME",
     "schedulers: a benchmark instead of FLOW: bot, fan-out, fan-in, pipeline, stacking, "
     "all-pairs"},
    {"policy", 0, "NAME",
     "schedulers: " SCHED_POLICY_NAMES "auto, or all to compare them (default flds)"},
    {"cores", 0, "N", "schedulers: cores of each (default 2)"},
    {"submit", 0, "HOW", "schedulers: best, hash or worst case (default best)"},
    {"repeat", 0, "N", "so many runs over the cores: means and confidence intervals"},
    {"confidence", 0, "SHARE", "of the intervals (default 0.95)"},
    {"threads", 'j', "N", "threads for repeats (default: one a core); results do not depend on it"},
    {"trace", 0, "FILE", "write what happened as a Chrome/Perfetto trace"},
    {"gantt", 0, "FILE", "draw what happened (SVG)"},
    {"utilization", 0, "FILE", "draw the utilisation of the cores over time (SVG)"},
    OPTION_SEED,
    OPTION_FROM,
    OPTION_READ,
    OPTION_NO_PREDICT,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

struct simulation {
    const struct arguments *a;
    struct workflow *w;
    struct platform *p;
    struct plan *plan;
    struct plan
        *happened; /* what the simulation did, for trace and Gantt chart; NULL: not asked for */
    bool keep_events;
    ARRAY(struct trace_event) events; /* for the trace file, which shows more than a plan can */
    struct queue lanes; /* for `happened` of clients: client slots by when they are free */
    uint32_t nlanes;
    uint64_t seed;
    uint32_t repeat;
    struct repeat_options repeat_options;
    struct progress progress;
    bool quiet;
    /* one of these, by the kind of the plan */
    struct replay_options replay;
    struct stream_options stream;
    struct order_options order;
    struct fault *faults;
    uint32_t *order_of_plan;
};

/* ---- options ---- */

static bool seconds_option(const struct arguments *a, const char *name, double standard,
                           double *out, struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = standard;
    if (text && !quantity_seconds(text, strlen(text), out))
        return error_set(err, ERROR_INPUT, "--%s is '%s'; expected a time (10, 1.5s, 3ms, 2h)",
                         name, text);
    return true;
}

static bool count_option(const struct arguments *a, const char *name, uint32_t standard,
                         uint32_t least, uint32_t *out, struct error *err)
{
    int64_t value;
    if (!arguments_integer(a, name, standard, least, UINT32_MAX - 1, &value, err))
        return false;
    *out = (uint32_t)value;
    return true;
}

/* NODE@TIME[+REPAIR] */
static bool parse_fault(const char *text, const struct platform *p, struct fault *f,
                        struct error *err)
{
    const char *at = strrchr(text, '@'), *plus = at ? strchr(at, '+') : NULL;
    if (!at || at == text)
        return error_set(err, ERROR_INPUT, "--fail is '%s'; expected NODE@TIME or NODE@TIME+REPAIR",
                         text);
    char *name = mem_copy_bytes(text, (size_t)(at - text));
    f->node = platform_find_node(p, name);
    free(name);
    if (f->node == NONE)
        return error_set(err, ERROR_INPUT, "--fail is '%s'; the platform has no node of that name",
                         text);
    f->repair = INFINITY;
    size_t len = plus ? (size_t)(plus - at - 1) : strlen(at + 1);
    if (!quantity_seconds(at + 1, len, &f->time) ||
        (plus && !quantity_seconds(plus + 1, strlen(plus + 1), &f->repair)))
        return error_set(err, ERROR_INPUT, "--fail is '%s'; expected times after '@' and '+'",
                         text);
    return true;
}

static bool replay_settings(struct simulation *s, struct error *err)
{
    const struct arguments *a = s->a;
    replay_options_init(&s->replay);
    s->replay.seed = s->seed;
    s->replay.network = arguments_value(a, "network");
    s->replay.planned_times = arguments_flag(a, "planned-times");
    if (!count_option(a, "ports", 0, 0, &s->replay.ports, err) ||
        !arguments_number(a, "noise", 0, &s->replay.noise, err) ||
        !seconds_option(a, "mtbf", 0, &s->replay.mtbf, err) ||
        !seconds_option(a, "repair", INFINITY, &s->replay.repair, err))
        return false;
    s->faults = mem_new_zero(struct fault, a->ngiven + 1);
    for (size_t i = 0; i < a->ngiven; i++)
        if (strcmp(a->given[i].name, "fail") == 0 &&
            !parse_fault(a->given[i].value, s->p, &s->faults[s->replay.nfaults++], err))
            return false;
    s->replay.faults = s->faults;
    return true;
}

static bool stream_settings(struct simulation *s, struct error *err)
{
    const struct arguments *a = s->a;
    stream_options_init(&s->stream);
    s->stream.seed = s->seed;
    s->stream.network = arguments_value(a, "network");
    return count_option(a, "ports", 0, 0, &s->stream.ports, err) &&
           count_option(a, "items", 200, 1, &s->stream.items, err) &&
           count_option(a, "window", 0, 0, &s->stream.window, err) &&
           arguments_number(a, "noise", 0, &s->stream.noise, err) &&
           seconds_option(a, "period", 0, &s->stream.period, err);
}

static bool parse_arrivals(const char *text, enum order_arrivals *out, struct error *err)
{
    static const char *const names[] = {"exponential", "fixed", "uniform"};
    for (int i = 0; text && i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum order_arrivals)i;
            return true;
        }
    return !text || error_set(err, ERROR_INPUT,
                              "--arrivals is '%s'; expected exponential, fixed or uniform", text);
}

static bool parse_slow(const char *text, struct order_options *o, struct error *err)
{
    if (!text)
        return true;
    const char *x = strchr(text, 'x');
    size_t len = x ? (size_t)(x - text) : strlen(text);
    if (!quantity_number(text, len, &o->slow_share) ||
        (x && !quantity_number(x + 1, strlen(x + 1), &o->slow_factor)))
        return error_set(err, ERROR_INPUT, "--slow is '%s'; expected a share, as 0.1 or 0.1x5",
                         text);
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct placement *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* The order of an order plan; of a static plan, by start. */
static bool plan_order(struct simulation *s, struct error *err)
{
    const struct plan *plan = s->plan;
    uint32_t n = s->w->ntasks, k = 0;
    if (plan->kind == PLAN_ORDER) {
        if (plan->order.n != n)
            return error_set(
                err, ERROR_INPUT,
                "the plan does not belong to this workflow: its order has %zu tasks of "
                "%u",
                plan->order.n, n);
        s->order.order = plan->order.at;
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
        qsort(sorted, plan->placements.n, sizeof *sorted, by_start);
    for (size_t i = 0; i < plan->placements.n && k < n; i++)
        if (sorted[i].copy == 0)
            s->order_of_plan[k++] = sorted[i].task;
    free(sorted);
    if (k < n)
        return error_set(err, ERROR_INPUT, "the plan places only %u of %u tasks", k, n);
    s->order.order = s->order_of_plan;
    return true;
}

static bool order_settings(struct simulation *s, struct error *err)
{
    const struct arguments *a = s->a;
    struct order_options *o = &s->order;
    order_options_init(o);
    o->seed = s->seed;
    if (!seconds_option(a, "interarrival", 1, &o->interarrival, err) ||
        !arguments_number(a, "batch", 16, &o->batch, err) ||
        !seconds_option(a, "run-time", 1, &o->run_time, err) ||
        !arguments_number(a, "deviation", 0.1, &o->deviation, err) ||
        !arguments_number(a, "vanish", 0, &o->vanish_share, err) ||
        !seconds_option(a, "timeout", 10, &o->timeout, err) ||
        !parse_arrivals(arguments_value(a, "arrivals"), &o->arrivals, err) ||
        !parse_slow(arguments_value(a, "slow"), o, err))
        return false;
    o->fixed_batch = o->arrivals == ARRIVALS_FIXED;
    return !s->plan || arguments_flag(a, "fifo") || plan_order(s, err);
}

/* ---- what happened, as a plan that pictures and traces can show ---- */

static void record(void *context, const struct trace_event *e)
{
    struct simulation *s = context;
    if (s->keep_events)
        array_push(&s->events, *e);
    if (e->kind == TRACE_TASK)
        array_push(&s->happened->placements,
                   (struct placement){e->id, e->copy, e->node, e->lane, e->start, e->finish});
    else if (e->kind == TRACE_TRANSFER)
        array_push(&s->happened->transfers,
                   (struct transfer){e->id, e->node, e->other, e->start, e->finish});
}

/* Clients have no names: each task goes to the client that has been free for longest, or a new one.
 */
static void record_client(void *context, const struct trace_event *e)
{
    struct simulation *s = context;
    uint32_t lane;
    if (s->lanes.n && queue_peek(&s->lanes)->key <= e->start)
        lane = (uint32_t)queue_pop(&s->lanes).value;
    else
        lane = s->nlanes++;
    queue_push(&s->lanes, e->finish, lane, lane);
    if (s->keep_events) {
        struct trace_event with_lane = *e;
        with_lane.lane = lane;
        array_push(&s->events, with_lane);
    }
    array_push(&s->happened->placements,
               (struct placement){e->id, 0, 0, lane, e->start, e->finish});
}

static struct platform *clients_platform(uint32_t lanes, struct error *err)
{
    struct platform_builder *b = platform_builder_new("<clients>");
    platform_builder_name(b, "clients", 7);
    uint32_t node = platform_builder_node(b, "clients", 7, 0);
    platform_builder_cores(b, node, lanes ? lanes : 1, 0);
    return platform_builder_finish(b, err);
}

static int by_event_start(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Everything that the simulation told: tasks, transfers, outages, lost runs, counters. */
static bool write_trace(struct simulation *s, const struct platform *p, const char *path,
                        struct error *err)
{
    struct strbuf text = {0};
    struct trace_json *t = trace_json_open(s->w, p, NULL, &text);
    struct trace_sink sink = trace_json_sink(t);
    if (s->events.n)
        qsort(s->events.at, s->events.n, sizeof *s->events.at, by_event_start);
    for (size_t i = 0; i < s->events.n; i++)
        sink.event(sink.context, &s->events.at[i]);
    trace_json_close(t);
    bool good = cli_write_text(path, &text, err);
    strbuf_free(&text);
    return good;
}

static bool write_pictures(struct simulation *s, const struct replay_result *r,
                           const struct sim_subject *subject, struct error *err)
{
    const char *trace = arguments_value(s->a, "trace"), *gantt = arguments_value(s->a, "gantt");
    const char *utilization = arguments_value(s->a, "utilization");
    bool good = true;
    if (utilization && !r)
        return error_set(err, ERROR_INPUT, "--utilization is for plans with placements only");
    if (s->happened) {
        struct platform *own = NULL;
        const struct platform *p = s->p;
        if (!p)
            p = own = clients_platform(s->nlanes, err);
        if (!p)
            return false;
        plan_sort(s->happened);
        plan_set_objective(s->happened, "makespan", plan_makespan(s->happened));
        if (trace)
            good = write_trace(s, p, trace, err);
        if (good && gantt)
            good = cli_write_gantt(gantt, s->happened, s->w, p, err);
        platform_free(own);
    }
    if (good && utilization) {
        struct strbuf text = {0};
        sim_output_utilization(subject, r, &text);
        good = cli_write_text(utilization, &text, err);
        strbuf_free(&text);
    }
    return good;
}

/* ---- repeats ---- */

static const char *const replay_metrics[] = {"makespan",  "utilization", "wait_data",
                                             "wait_node", "lost",        "failures"};
static bool repeat_replay(void *context, uint32_t i, uint64_t seed, double *values,
                          struct error *err)
{
    (void)i;
    const struct simulation *s = context;
    struct replay_options o = s->replay;
    o.seed = seed;
    o.trace = NULL;
    o.progress = NULL;
    struct replay_result r;
    bool good = replay_run(s->w, s->p, s->plan, &o, &r, err);
    double all[] = {r.makespan,  r.utilization, r.wait_data,
                    r.wait_node, r.lost,        (double)r.failures};
    memcpy(values, all, sizeof all);
    replay_result_free(&r);
    return good;
}

static const char *const stream_metrics[] = {"throughput",  "latency_mean", "latency_p95",
                                             "latency_max", "makespan",     "utilization"};
static bool repeat_stream(void *context, uint32_t i, uint64_t seed, double *values,
                          struct error *err)
{
    (void)i;
    const struct simulation *s = context;
    struct stream_options o = s->stream;
    o.seed = seed;
    o.trace = NULL;
    o.progress = NULL;
    struct stream_result r;
    bool good = stream_run(s->w, s->p, s->plan, &o, &r, err);
    double all[] = {r.throughput,  r.latency_mean, r.latency_p95,
                    r.latency_max, r.makespan,     r.utilization};
    memcpy(values, all, sizeof all);
    stream_result_free(&r);
    return good;
}

static const char *const order_metrics[] = {"makespan", "stall_probability", "unfilled",
                                            "utilization", "eligible_mean"};
static bool repeat_order(void *context, uint32_t i, uint64_t seed, double *values,
                         struct error *err)
{
    (void)i;
    const struct simulation *s = context;
    struct order_options o = s->order;
    o.seed = seed;
    o.trace = NULL;
    struct order_result r;
    bool good = order_run(s->w, &o, &r, err);
    double all[] = {r.makespan, r.stall_probability, r.unfilled, r.utilization, r.eligible_mean};
    memcpy(values, all, sizeof all);
    return good;
}

typedef bool run_f(void *context, uint32_t i, uint64_t seed, double *values, struct error *err);

static bool repeat_if_asked(struct simulation *s, const char *const *names, uint32_t count,
                            run_f *run_one, struct repeat_result *out, struct sim_subject *subject,
                            struct error *err)
{
    if (s->repeat <= 1)
        return true;
    subject->repeat = out;
    return repeat_run(&s->repeat_options, names, count, run_one, s, out, err);
}

/* ---- the three simulations ---- */

static int finish(struct simulation *s, const struct replay_result *r,
                  const struct sim_subject *subject, bool good, const struct strbuf *out,
                  struct error *err)
{
    cli_progress_done();
    good = good && write_pictures(s, r, subject, err);
    return good ? cli_print(out) : cli_fail(err);
}

static int simulate_replay(struct simulation *s, struct sim_subject *subject, struct error *err)
{
    struct replay_result r = {0};
    struct repeat_result repeat = {0};
    struct strbuf out = {0};
    struct trace_sink sink = {.event = record, .context = s};
    if (!replay_settings(s, err))
        return cli_fail(err);
    if (s->plan->kind == PLAN_PARTITION && !s->plan->placements.n) {
        struct plan *sequences = replay_from_partition(s->plan, s->w, s->p, err);
        if (!sequences)
            return cli_fail(err);
        plan_free(s->plan);
        subject->plan = s->plan = sequences;
    }
    subject->network = s->replay.network ? s->replay.network : replay_network(s->plan, s->p);
    s->replay.trace = s->happened ? &sink : NULL;
    s->replay.progress = s->quiet ? NULL : &s->progress;
    double began = clock_seconds();
    bool good = replay_run(s->w, s->p, s->plan, &s->replay, &r, err) &&
                repeat_if_asked(s, replay_metrics, 6, repeat_replay, &repeat, subject, err);
    subject->seconds = clock_seconds() - began;
    if (good)
        sim_output_replay(subject, &r, arguments_flag(s->a, "json"), &out);
    int status = finish(s, &r, subject, good, &out, err);
    strbuf_free(&out);
    repeat_result_free(&repeat);
    replay_result_free(&r);
    s->replay.trace = NULL; /* both lived on this stack */
    subject->repeat = NULL;
    return status;
}

static int simulate_stream(struct simulation *s, struct sim_subject *subject, struct error *err)
{
    struct stream_result r = {0};
    struct repeat_result repeat = {0};
    struct strbuf out = {0};
    struct trace_sink sink = {.event = record, .context = s};
    if (!stream_settings(s, err))
        return cli_fail(err);
    subject->network = s->stream.network ? s->stream.network : "kport";
    s->stream.trace = s->happened ? &sink : NULL;
    s->stream.progress = s->quiet ? NULL : &s->progress;
    double began = clock_seconds();
    bool good = stream_run(s->w, s->p, s->plan, &s->stream, &r, err) &&
                repeat_if_asked(s, stream_metrics, 6, repeat_stream, &repeat, subject, err);
    subject->seconds = clock_seconds() - began;
    if (good)
        sim_output_stream(subject, &r, arguments_flag(s->a, "json"), &out);
    int status = finish(s, NULL, subject, good, &out, err);
    strbuf_free(&out);
    repeat_result_free(&repeat);
    stream_result_free(&r);
    s->stream.trace = NULL;
    subject->repeat = NULL;
    return status;
}

static int simulate_order(struct simulation *s, struct sim_subject *subject, struct error *err)
{
    struct order_result r = {0};
    struct repeat_result repeat = {0};
    struct strbuf out = {0};
    struct trace_sink sink = {.event = record_client, .context = s};
    if (!order_settings(s, err))
        return cli_fail(err);
    s->order.trace = s->happened ? &sink : NULL;
    double began = clock_seconds();
    bool good = order_run(s->w, &s->order, &r, err) &&
                repeat_if_asked(s, order_metrics, 5, repeat_order, &repeat, subject, err);
    subject->seconds = clock_seconds() - began;
    if (good)
        sim_output_order(subject, &s->order, &r, arguments_flag(s->a, "json"), &out);
    platform_free(s->p); /* clients are the platform here */
    s->p = NULL;
    int status = finish(s, NULL, subject, good, &out, err);
    strbuf_free(&out);
    repeat_result_free(&repeat);
    s->order.trace = NULL;
    subject->repeat = NULL;
    return status;
}

/* ---- the command ---- */

static struct plan *make_plan(const struct simulation *s, struct error *err)
{
    const char *name = arguments_value(s->a, "with");
    const struct planner *planner = planner_find(name ? name : "heft");
    if (!planner) {
        planner_unknown(name ? name : "heft", err);
        return NULL;
    }
    size_t count;
    struct pair *pairs = arguments_pairs(s->a, "set", &count, err);
    if (!pairs)
        return NULL;
    struct option_value *values = mem_new_zero(struct option_value, count + 1);
    for (size_t i = 0; i < count; i++)
        values[i] = (struct option_value){pairs[i].name, pairs[i].text};
    struct plan_request request = {.workflow = s->w,
                                   .platform = s->p,
                                   .options = values,
                                   .noptions = count,
                                   .seed = s->seed,
                                   .progress = s->quiet ? NULL : &s->progress};
    struct plan *plan = planner_run(planner, &request, err);
    cli_progress_done();
    free(values);
    pairs_free(pairs);
    return plan;
}

static bool load(struct simulation *s, struct error *err)
{
    if (!cli_read_problem(s->a, s->a->operand[0], &s->plan, &s->w, &s->p, err))
        return false;
    if (s->plan)
        return true;
    if (arguments_flag(s->a, "clients") && !arguments_value(s->a, "with"))
        return true; /* first in, first out needs no plan */
    s->plan = make_plan(s, err);
    return s->plan != NULL;
}

static bool general_settings(struct simulation *s, struct error *err)
{
    const struct arguments *a = s->a;
    int64_t seed;
    uint32_t threads;
    double confidence;
    if (!arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, err) ||
        !count_option(a, "repeat", 1, 1, &s->repeat, err) ||
        !count_option(a, "threads", 0, 0, &threads, err) ||
        !arguments_number(a, "confidence", 0.95, &confidence, err))
        return false;
    if (!(confidence > 0 && confidence < 1))
        return error_set(err, ERROR_INPUT, "--confidence is %g; expected a share below 1",
                         confidence);
    const char *network = arguments_value(a, "network");
    if (network && !network_summary(network))
        return error_set(err, ERROR_INPUT, "--network is '%s'; expected free, kport or fair",
                         network);
    s->seed = (uint64_t)seed;
    s->quiet = arguments_flag(a, "quiet") || arguments_flag(a, "json");
    s->progress = cli_progress("simulating");
    s->repeat_options = (struct repeat_options){.count = s->repeat,
                                                .threads = threads,
                                                .seed = s->seed,
                                                .confidence = confidence,
                                                .progress = s->quiet ? NULL : &s->progress};
    return true;
}

static int run(const struct arguments *a)
{
    struct simulation s = {.a = a};
    struct error err = {0};
    int status;
    if (arguments_value(a, "schedulers") || arguments_value(a, "dag"))
        return sim_schedulers_run(a);
    for (int i = 0; i < 3; i++) {
        static const char *const theirs[] = {"policy", "cores", "submit"};
        if (arguments_value(a, theirs[i])) {
            error_set(&err, ERROR_INPUT, "--%s is for a cluster: give --schedulers N as well",
                      theirs[i]);
            return cli_fail(&err);
        }
    }
    if (!a->noperands) {
        error_set(&err, ERROR_INPUT, "no workflow or plan; give one, or --schedulers and --dag");
        return cli_fail(&err);
    }
    if (!general_settings(&s, &err) || !load(&s, &err)) {
        status = cli_fail(&err);
    } else {
        if (arguments_value(a, "trace") || arguments_value(a, "gantt"))
            s.happened = plan_new(PLAN_STATIC);
        s.keep_events = arguments_value(a, "trace") != NULL;
        struct sim_subject subject = {.workflow = s.w,
                                      .platform = s.p,
                                      .plan = s.plan,
                                      .seed = s.seed,
                                      .confidence = s.repeat_options.confidence};
        bool clients = arguments_flag(a, "clients") || (s.plan && s.plan->kind == PLAN_ORDER);
        if (clients)
            status = simulate_order(&s, &subject, &err);
        else if (s.plan->kind == PLAN_STREAM)
            status = simulate_stream(&s, &subject, &err);
        else
            status = simulate_replay(&s, &subject, &err);
    }
    plan_free(s.happened);
    array_free(&s.events);
    plan_free(s.plan);
    platform_free(s.p);
    workflow_free(s.w);
    queue_free(&s.lanes);
    free(s.faults);
    free(s.order_of_plan);
    return status;
}

const struct command command_sim = {
    .name = "sim",
    .operands = "[FLOW|PLAN]",
    .least = 0,
    .most = 1,
    .summary = "execute a plan in virtual time",
    .details =
        "A plan is replayed by its kind: a static plan task by task, a stream mapping item by "
        "item,\n"
        "an order by a server whose clients come and go. A workflow is planned first (--with), or\n"
        "handed to clients first in, first out (--clients). The same seed gives the same run.\n"
        "With --repeat the figures above the table are those of the first run.\n\n"
        "Exit status 1: the simulation cannot progress, and says which tasks wait for what.\n\n"
        "examples:\n"
        "  weft sim plan.json --network fair\n"
        "  weft sim flow.yaml --on cluster.yaml --with heft --noise 0.2 --repeat 100\n"
        "  weft sim flow.yaml --on cluster.yaml --fail fast1@10+5 --trace trace.json\n"
        "  weft sim stream-plan.json --items 1000 --period 0.5\n"
        "  weft sim --schedulers 100 --dag fan-in --policy all\n"
        "  weft sim flow.yaml --clients --interarrival 1 --batch 16 --repeat 500\n",
    .options = options,
    .run = run,
};
