/* A cluster of distributed schedulers in virtual time, and the analytical bound of the same graph:
 * which graph, on which cluster, by the caller's options. */
#include "api/inside.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "base/strbuf.h"
#include "model/things.h"
#include "sim/bound.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- settings: name=value ---- */

/* What --set takes. The standards are those of the graph and the cluster that are prepared. */
static const struct option cluster_options[] = {
#define ROW(name, type, least, most, help)                                                         \
    {                                                                                              \
        name, OPTION_##type, NULL, NULL, least, most, help                                         \
    }
    ROW("tasks", COUNT, 1, UINT32_MAX / 2, "of the benchmark"),
    ROW("degree", COUNT, 1, 1e6, "children or parents of a task, or length of a pipe"),
    ROW("files", COUNT, 1, 40000, "of the benchmark that reads files"),
    ROW("length", SECONDS, 0, 1e9, "mean run time of a task"),
    ROW("spread", NUMBER, 0, 1, "of run times; 1: from 0 to twice the mean"),
    ROW("size", BYTES, 0, 1e15, "mean bytes of an output"),
    ROW("file-size", BYTES, 0, 1e15, "bytes of a file"),
    ROW("memory", BYTES, 1, 1e18, "bytes of each node; tasks run only where theirs fits"),
    ROW("large", COUNT, 0, 1u << 24, "nodes that have more than the others: the first so many"),
    ROW("factor", COUNT, 1, 1024, "how many times the cores and memory a large node has"),
    ROW("t", NUMBER, 1e-9, 1e9, "transfer time / task length up to which a task is shared"),
    ROW("tt", SECONDS, 1e-6, 1e9, "FLDS: most work in the queue of local tasks"),
    ROW("steal-bound", SECONDS, 1e-6, 1e9, "longest pause between two attempts to steal"),
    ROW("rigid", COUNT, 0, 1, "1: thieves get tasks of the SReadyQ only, as in the paper"),
    ROW("latency", SECONDS, 1e-9, 1e3, "of a message"),
    ROW("bandwidth", BYTES, 1, 1e15, "bytes a second of each node's interface"),
    ROW("servers", COUNT, 1, 1u << 24, "of the store"),
    ROW("service", SECONDS, 1e-9, 1e3, "time of an operation of the store"),
    ROW("dispatch", SECONDS, 0, 1e3, "time of a core a task besides its length"),
    ROW("cache", BYTES, 0, 1e18, "bytes a node keeps of what it fetched; 0: nothing"),
    ROW("prefetch", COUNT, 0, 32, "tasks a core whose data are fetched ahead; 0: none"),
    ROW("task-size", BYTES, 0, 1e9, "bytes of a task's description, for the bound"),
    ROW("resources", TEXT, 0, 0, "things of each node that tasks may hold: gpu=0,1 licence=4"),
#undef ROW
    {0},
};
enum { BENCHMARK_OPTIONS = 7 }; /* the first rows, down to file-size */

/* Settings of graphs that have no use for them would be ignored: an error instead. */
static bool cluster_setting_counts(const struct workload *d, const struct option *o,
                                   struct error *err)
{
    bool files = d->kind == WORKLOAD_STACKING || d->kind == WORKLOAD_ALL_PAIRS;
    bool degree =
        d->kind == WORKLOAD_FAN_OUT || d->kind == WORKLOAD_FAN_IN || d->kind == WORKLOAD_PIPELINE;
    if (d->kind == WORKLOAD_WORKFLOW && o - cluster_options < BENCHMARK_OPTIONS)
        return error_set(err, ERROR_INPUT,
                         "--set %s does nothing for a workflow: it is of a benchmark (--dag)",
                         o->name);
    if ((strcmp(o->name, "degree") == 0 && !degree) || (strstr(o->name, "file") && !files))
        return error_set(err, ERROR_INPUT, "--set %s does nothing for this --dag", o->name);
    return true;
}

/* `field`, by the row's number: uint32_t for counts, double otherwise. */
static bool cluster_set(const struct workload *d, void *const *field,
                        const struct option_value *value, struct error *err)
{
    const struct option *o = option_find(cluster_options, value->name);
    if (o) {
        void *at = field[o - cluster_options];
        if (!cluster_setting_counts(d, o, err) || !option_check(o, "--set ", value->text, err))
            return false;
        if (o->type == OPTION_COUNT)
            *(uint32_t *)at = (uint32_t)option_number(o, value->text);
        else
            *(double *)at = option_number(o, value->text);
        return true;
    }
    struct strbuf known = {0};
    for (o = cluster_options; o->name; o++)
        strbuf_printf(&known, "%s%s", known.n ? ", " : "", o->name);
    error_set(err, ERROR_INPUT, "--set %s: there is no such setting; there are: %s", value->name,
              strbuf_text(&known));
    strbuf_free(&known);
    return false;
}

/* What both the simulation and the bound are made of. The configurations point at `dag`: do not
 * move. */
struct cluster_problem {
    struct weft_schedulers_options options;
    struct workload dag;
    struct schedulers_config config;
    struct bound_config bound;
    char resources[1024]; /* of --set resources */
};

/* Benchmarks ask for none. */
static bool cluster_resources(struct cluster_problem *s, const char *value, struct error *err)
{
    struct thing_list list;
    struct error wrong = {0};
    bool good = thing_list_read(value, &list, &wrong);
    struct strbuf text = {0};
    thing_list_text(&list, &text);
    snprintf(s->resources, sizeof s->resources, "%s", strbuf_text(&text));
    good = good && text.n < sizeof s->resources;
    strbuf_free(&text);
    thing_list_free(&list);
    if (!good)
        return error_set(err, ERROR_INPUT, "--set resources=%s: %s", value, wrong.text);
    if (s->dag.kind != WORKLOAD_WORKFLOW || !s->dag.workflow->asks)
        return error_set(err, ERROR_INPUT,
                         "--set resources does nothing here: no task asks for any (`resources:`)");
    s->config.resources = s->resources;
    return true;
}

static bool cluster_settings(struct cluster_problem *s, struct error *err)
{
    struct workload *d = &s->dag;
    struct schedulers_config *c = &s->config;
    uint32_t rigid = 0, prefetch = 2;
    double cache = 8e9;
    void *const field[] = {
        &d->ntasks,           &d->degree,  &d->files,
        &d->length,           &d->spread,  &d->size,
        &d->file_size,        &c->memory,  &c->large,
        &c->factor,           &c->t,       &c->tt,
        &c->steal_bound,      &rigid,      &c->latency,
        &c->bandwidth,        &c->servers, &c->store_service,
        &c->dispatch,         &cache,      &prefetch,
        &s->bound.task_bytes, NULL,
    };
    _Static_assert(sizeof field / sizeof *field + 1 ==
                       sizeof cluster_options / sizeof *cluster_options,
                   "a field a row");
    struct api_pairs pairs;
    bool good = api_pairs_split(&pairs, s->options.settings, err);
    for (size_t i = 0; i < pairs.n && good; i++)
        good = strcmp(pairs.at[i].name, "resources") == 0
                   ? cluster_resources(s, pairs.at[i].text, err)
                   : cluster_set(d, field, &pairs.at[i], err);
    api_pairs_free(&pairs);
    c->rigid_steal = rigid;
    c->prefetch = prefetch ? prefetch : SCHEDULERS_NO_PREFETCH;
    c->cache = cache > 0 ? cache : -1;
    return good;
}

/* ---- the graph and the cluster ---- */

static bool cluster_submit(struct cluster_problem *s, struct error *err)
{
    static const char *const names[] = {"best", "hash", "worst"};
    const char *text = s->options.submit;
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], text) == 0) {
            s->config.submit = (enum workload_submit)i;
            return true;
        }
    return error_set(err, ERROR_INPUT, "--submit is '%s'; expected best, hash or worst", text);
}

static bool cluster_wait(struct cluster_problem *s, struct error *err)
{
    const char *text = s->options.wait;
    if (strcmp(text, "mean") == 0)
        s->bound.wait = BOUND_WAIT_MEAN;
    else if (strcmp(text, "last") != 0)
        return error_set(err, ERROR_INPUT, "--wait is '%s'; expected last or mean", text);
    return true;
}

static bool cluster_graph(struct cluster_problem *s, const struct weft_workflow *w, uint64_t cores,
                          struct error *err)
{
    const char *name = s->options.dag;
    if (name && w)
        return error_set(err, ERROR_INPUT, "both --dag %s and a workflow; give one of them", name);
    if (!name && !w)
        return error_set(err, ERROR_INPUT,
                         "no graph; give a workflow or --dag bot, fan-out, fan-in, pipeline, "
                         "stacking or all-pairs");
    if (w) {
        s->dag = (struct workload){.kind = WORKLOAD_WORKFLOW, .workflow = w->model};
        return true;
    }
    enum workload_kind kind = workload_find(name);
    if (kind == WORKLOAD_KINDS)
        return error_set(err, ERROR_INPUT,
                         "--dag is '%s'; expected bot, fan-out, fan-in, pipeline, stacking or "
                         "all-pairs",
                         name);
    workload_benchmark(&s->dag, kind, cores);
    return true;
}

static bool cluster_prepare(struct cluster_problem *s, const struct weft_workflow *w,
                            const struct weft_schedulers_options *options, struct error *err)
{
    *s = (struct cluster_problem){.options = WEFT_SCHEDULERS_INIT};
    if (!api_options(&s->options, options, err))
        return false;
    uint64_t cores = (uint64_t)s->options.schedulers * s->options.cores;
    if (!cluster_submit(s, err) || !cluster_wait(s, err) || !cluster_graph(s, w, cores, err))
        return false;
    s->config.nodes = s->options.schedulers;
    s->config.cores = s->options.cores;
    s->config.seed = s->dag.seed = s->options.seed;
    s->config.bandwidth = 125e6; /* the gigabit of the paper's machine */
    s->bound.task_bytes = 1024;
    if (!cluster_settings(s, err) || !workload_init(&s->dag, err))
        return false;
    s->config.dag = s->bound.dag = &s->dag;
    s->bound.cores = cores;
    s->bound.bandwidth = s->config.bandwidth;
    return true;
}

EXPORT const char *weft_policy(size_t i)
{
    return i < SCHED_POLICY_CHOICES ? sched_policy_choice((uint32_t)i).name : NULL;
}

static struct weft_schedulers *cluster_simulate(const struct weft_workflow *w,
                                                const struct weft_schedulers_options *options,
                                                struct error *err)
{
    struct cluster_problem *s = mem_new(struct cluster_problem, 1);
    struct weft_schedulers *sim = mem_new_zero(struct weft_schedulers, 1);
    struct sched_policy_choice policy;
    bool good = cluster_prepare(s, w, options, err);
    if (good && !sched_policy_choose(s->options.policy, &policy))
        good = error_set(err, ERROR_INPUT,
                         "--policy is '%s'; expected " SCHED_POLICY_NAMES "auto or all",
                         s->options.policy);
    if (good) {
        struct progress progress = {s->options.progress, s->options.context};
        s->config.progress = s->options.progress ? &progress : NULL;
        s->config.policy = policy.policy;
        s->config.adapt = policy.adapt;
        sim->policy = policy.name;
        double began = clock_seconds();
        good = schedulers_run(&s->config, &sim->result, err);
        sim->seconds = clock_seconds() - began;
    }
    free(s);
    if (good)
        return sim;
    free(sim);
    return NULL;
}

EXPORT struct weft_schedulers *weft_sim_schedulers(const struct weft_workflow *w,
                                                   const struct weft_schedulers_options *options,
                                                   struct weft_error *error)
{
    API_CALL(call, error)
    call.result = cluster_simulate(w, options, &call.err);
    return api_result(&call);
}

EXPORT void weft_schedulers_free(struct weft_schedulers *s)
{
    free(s);
}

EXPORT void weft_schedulers_figures(const struct weft_schedulers *s,
                                    struct weft_schedulers_figures *out)
{
    const struct schedulers_result *r = &s->result;
    *out = (struct weft_schedulers_figures){
        .tasks = r->tasks,
        .work = r->work,
        .makespan = r->makespan,
        .efficiency = r->efficiency,
        .throughput = r->throughput,
        .messages = r->messages,
        .store_operations = r->store_operations,
        .stolen = r->stolen,
        .transfers = r->transfers,
        .bytes_moved = r->bytes_moved,
        .hit_rate = r->hit_rate,
    };
}

EXPORT bool weft_schedulers_bound(const struct weft_workflow *w,
                                  const struct weft_schedulers_options *options,
                                  struct weft_bound *out, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct cluster_problem *s = mem_new(struct cluster_problem, 1);
        struct bound_result r;
        call.good =
            cluster_prepare(s, w, options, &call.err) && bound_compute(&s->bound, &r, &call.err);
        if (call.good)
            *out = (struct weft_bound){
                .recursion = r.recursion,
                .area = r.area,
                .path = r.path,
                .timespan = r.timespan,
                .throughput = r.throughput,
                .work = r.work,
                .tasks = s->dag.ntasks,
                .cores = s->bound.cores,
                .bandwidth = s->bound.bandwidth,
                .levels = r.levels,
            };
        free(s);
    }
    return api_end(&call);
}
