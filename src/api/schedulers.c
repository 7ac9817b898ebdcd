/* A cluster of distributed schedulers in virtual time, and the analytical bound of the same graph:
 * which graph, on which cluster, by the caller's options. */
#include "api/inside.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "base/strbuf.h"
#include "base/plural.h"
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
    ROW("drawn-files", COUNT, 0, 1, "1: files stand on nodes drawn at random, not evenly"),
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
    ROW("has", TEXT, 0, 0, "attributes of each node that tasks may need: avx512,ssd"),
    ROW("resources", TEXT, 0, 0, "things of each node that tasks may hold: gpu=0,1 licence=4"),
#undef ROW
    {0},
};
enum { BENCHMARK_OPTIONS = 8 }; /* the first rows, down to drawn-files */

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
    struct workload dag; /* of the first run */
    struct schedulers_config config;
    struct bound_config bound;
    char resources[1024], has[1024]; /* of --set resources, has */
    uint32_t *platform_node;         /* of nodes that are up */
    /* of weft_sim_runs(), else 0 */
    size_t nruns;
    struct workload *run_dag;
    struct schedulers_entry *entry;
};

static void cluster_free(struct cluster_problem *s)
{
    free(s->platform_node);
    free(s->run_dag);
    free(s->entry);
    free(s);
}

/* The workflow of run `i`; NULL: there are no more. */
static const struct workflow *cluster_workflow(const struct cluster_problem *s, size_t i)
{
    return i < s->nruns ? s->entry[i].dag->workflow : i == 0 ? s->dag.workflow : NULL;
}

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
    bool asked = false;
    for (size_t i = 0; cluster_workflow(s, i); i++)
        asked |= cluster_workflow(s, i)->asks != NULL;
    if (!asked)
        return error_set(err, ERROR_INPUT,
                         "--set resources does nothing here: no task asks for any (`resources:`)");
    s->config.resources = s->resources;
    return true;
}

static bool cluster_has(struct cluster_problem *s, const char *value, struct error *err)
{
    bool asked = false;
    for (size_t i = 0; cluster_workflow(s, i); i++)
        asked |= cluster_workflow(s, i)->needs != NULL;
    if (!asked)
        return error_set(err, ERROR_INPUT,
                         "--set has does nothing here: no task needs any attribute (`needs:`)");
    if (strlen(value) >= sizeof s->has)
        return error_set(err, ERROR_INPUT, "--set has: %zu character%s are too many", strlen(value),
                         plural(strlen(value)));
    snprintf(s->has, sizeof s->has, "%s", value);
    s->config.has = s->has;
    return true;
}

/* What the nodes of a platform have is not set besides. */
static bool cluster_setting(struct cluster_problem *s, void *const *field,
                            const struct option_value *value, struct error *err)
{
    static const char *const of_nodes[] = {"memory", "large", "factor", "resources", "has"};
    for (size_t i = 0; s->config.platform && i < sizeof of_nodes / sizeof *of_nodes; i++)
        if (strcmp(value->name, of_nodes[i]) == 0)
            return error_set(err, ERROR_INPUT,
                             "--set %s does nothing with a platform (--on), which says what its "
                             "nodes have",
                             value->name);
    return strcmp(value->name, "resources") == 0 ? cluster_resources(s, value->text, err)
           : strcmp(value->name, "has") == 0     ? cluster_has(s, value->text, err)
                                                 : cluster_set(&s->dag, field, value, err);
}

static bool cluster_settings(struct cluster_problem *s, struct error *err)
{
    struct workload *d = &s->dag;
    struct schedulers_config *c = &s->config;
    uint32_t rigid = 0, prefetch = 2;
    double cache = 8e9;
    void *const field[] = {
        &d->ntasks,
        &d->degree,
        &d->files,
        &d->length,
        &d->spread,
        &d->size,
        &d->file_size,
        &d->drawn_files,
        &c->memory,
        &c->large,
        &c->factor,
        &c->t,
        &c->tt,
        &c->steal_bound,
        &rigid,
        &c->latency,
        &c->bandwidth,
        &c->servers,
        &c->store_service,
        &c->dispatch,
        &cache,
        &prefetch,
        &s->bound.task_bytes,
        NULL,
        NULL,
    };
    _Static_assert(sizeof field / sizeof *field + 1 ==
                       sizeof cluster_options / sizeof *cluster_options,
                   "a field a row");
    struct api_pairs pairs;
    bool good = api_pairs_split(&pairs, s->options.settings, err);
    for (size_t i = 0; i < pairs.n && good; i++)
        good = cluster_setting(s, field, &pairs.at[i], err);
    api_pairs_free(&pairs);
    c->rigid_steal = rigid;
    c->prefetch = prefetch ? prefetch : SCHEDULERS_NO_PREFETCH;
    c->cache = cache > 0 ? cache : -1;
    return good;
}

/* ---- the graph and the cluster ---- */

static bool cluster_submit(struct cluster_problem *s, struct error *err)
{
    static const char *const names[] = {"best", "hash", "worst", "even"};
    const char *text = s->options.submit;
    for (int i = 0; i < 4; i++)
        if (strcmp(names[i], text) == 0) {
            s->config.submit = (enum workload_submit)i;
            return true;
        }
    return error_set(err, ERROR_INPUT, "--submit is '%s'; expected best, hash, worst or even",
                     text);
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

/* Nodes that are up, and the network. */
static bool cluster_platform(struct cluster_problem *s, struct error *err)
{
    const struct platform *p = s->options.platform ? inside_platform(s->options.platform) : NULL;
    if (!p)
        return s->options.schedulers > 0 ||
               error_set(err, ERROR_INPUT, "--schedulers all needs a platform (--on)");
    if (!s->dag.workflow)
        return error_set(err, ERROR_INPUT,
                         "a platform (--on) is for a workflow; a benchmark has --cores");
    if (!platform_is_uniform(p))
        return error_set(err, ERROR_INPUT,
                         "the platform has links of their own; a cluster of schedulers has one "
                         "bandwidth and one latency: leave them out, or plan and replay");
    uint32_t n = 0;
    s->platform_node = mem_new(uint32_t, p->nnodes);
    for (uint32_t i = 0; i < p->nnodes; i++)
        if (p->up[i])
            s->platform_node[n++] = i;
    if (!n || s->options.schedulers > n)
        return error_set(err, ERROR_INPUT,
                         "--schedulers is %u; the platform has %u node%s that are up",
                         s->options.schedulers, n, plural(n));
    s->config.nodes = s->options.schedulers ? s->options.schedulers : n;
    s->config.cores = 1; /* each says its own */
    s->config.platform = p;
    s->config.platform_node = s->platform_node;
    s->config.bandwidth = p->bandwidth;
    s->config.latency = p->latency;
    return true;
}

static bool cluster_prepare(struct cluster_problem *s, const struct weft_workflow *w,
                            const struct weft_schedulers_options *options, struct error *err)
{
    s->options = (struct weft_schedulers_options)WEFT_SCHEDULERS_INIT;
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
    if (!cluster_platform(s, err) || !cluster_settings(s, err) || !workload_init(&s->dag, err))
        return false;
    if (s->config.platform)
        cores = 0;
    for (uint32_t n = 0; s->config.platform && n < s->config.nodes; n++)
        cores += s->config.platform->cores[s->platform_node[n]];
    s->config.dag = s->bound.dag = &s->dag;
    s->bound.cores = cores;
    s->bound.bandwidth = s->config.bandwidth;
    return true;
}

/* What each run brings with it. */
static bool cluster_runs(struct cluster_problem *s, const struct weft_sim_run *runs, size_t n,
                         struct error *err)
{
    if (!n || n > SCHEDULERS_ENTRIES)
        return error_set(err, ERROR_INPUT, "%zu run%s; expected 1 to %d", n, plural(n),
                         SCHEDULERS_ENTRIES);
    s->run_dag = mem_new_zero(struct workload, n);
    s->entry = mem_new_zero(struct schedulers_entry, n);
    for (size_t i = 0; i < n; i++) {
        s->run_dag[i] =
            (struct workload){.kind = WORKLOAD_WORKFLOW, .workflow = runs[i].workflow->model};
        s->entry[i] = (struct schedulers_entry){&s->run_dag[i], runs[i].at, runs[i].priority};
        if (!workload_init(&s->run_dag[i], err))
            return false;
    }
    s->nruns = n;
    return true;
}

EXPORT const char *weft_policy(size_t i)
{
    return i < SCHED_POLICY_CHOICES ? sched_policy_choice((uint32_t)i).name : NULL;
}

static bool cluster_run(struct cluster_problem *s, struct weft_schedulers *sim, struct error *err)
{
    struct sched_policy_choice policy;
    if (!sched_policy_choose(s->options.policy, &policy))
        return error_set(err, ERROR_INPUT,
                         "--policy is '%s'; expected " SCHED_POLICY_NAMES "auto or all",
                         s->options.policy);
    struct progress progress = {s->options.progress, s->options.context};
    s->config.progress = s->options.progress ? &progress : NULL;
    s->config.policy = policy.policy;
    s->config.adapt = policy.adapt;
    sim->policy = policy.name;
    sim->nodes = s->config.nodes;
    sim->cores = (double)s->bound.cores;
    double began = clock_seconds();
    sim->nruns = (uint32_t)s->nruns;
    sim->runs = mem_new_zero(struct schedulers_run, s->nruns);
    bool good = s->nruns ? schedulers_run_beside(&s->config, s->entry, sim->nruns, &sim->result,
                                                 sim->runs, err)
                         : schedulers_run(&s->config, &sim->result, err);
    sim->seconds = clock_seconds() - began;
    return good;
}

/* `runs` NULL: `w`, or a benchmark, alone. */
static struct weft_schedulers *cluster_simulate(const struct weft_workflow *w,
                                                const struct weft_sim_run *runs, size_t n,
                                                const struct weft_schedulers_options *options,
                                                struct error *err)
{
    struct cluster_problem *s = mem_new_zero(struct cluster_problem, 1);
    struct weft_schedulers *sim = mem_new_zero(struct weft_schedulers, 1);
    bool good = (!runs || cluster_runs(s, runs, n, err)) &&
                cluster_prepare(s, runs ? runs[0].workflow : w, options, err) &&
                cluster_run(s, sim, err);
    cluster_free(s);
    if (good)
        return sim;
    weft_schedulers_free(sim);
    return NULL;
}

EXPORT struct weft_schedulers *weft_sim_schedulers(const struct weft_workflow *w,
                                                   const struct weft_schedulers_options *options,
                                                   struct weft_error *error)
{
    API_CALL(call, error)
    call.result = cluster_simulate(w, NULL, 0, options, &call.err);
    return api_result(&call);
}

EXPORT struct weft_schedulers *weft_sim_runs(const struct weft_sim_run *runs, size_t n,
                                             const struct weft_schedulers_options *options,
                                             struct weft_error *error)
{
    API_CALL(call, error)
    call.result = cluster_simulate(NULL, runs, n, options, &call.err);
    return api_result(&call);
}

EXPORT void weft_schedulers_free(struct weft_schedulers *s)
{
    if (s)
        free(s->runs);
    free(s);
}

EXPORT bool weft_schedulers_run(const struct weft_schedulers *s, size_t i,
                                struct weft_run_figures *out)
{
    if (i >= s->nruns)
        return false;
    const struct schedulers_run *r = &s->runs[i];
    *out = (struct weft_run_figures){.tasks = r->tasks,
                                     .first = r->first,
                                     .finish = r->finish,
                                     .core_seconds = r->used,
                                     .alone = r->alone,
                                     .slowdown = r->slowdown};
    return true;
}

EXPORT double weft_schedulers_fairness(const struct weft_schedulers *s)
{
    return s->nruns ? schedulers_fairness(s->runs, s->nruns) : 1;
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
        struct cluster_problem *s = mem_new_zero(struct cluster_problem, 1);
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
        cluster_free(s);
    }
    return api_end(&call);
}
