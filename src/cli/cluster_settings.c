#include "cli/cluster_settings.h"
#include "base/mem.h"
#include "base/quantity.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- --set NAME=VALUE ---- */

enum unit { COUNT, SECONDS, BYTES, SHARE };

struct setting {
    const char *name;
    enum unit unit;
    void *field; /* uint32_t for counts, double otherwise */
    double least, most;
};

static bool set_one(const struct setting *table, size_t n, const struct pair *pair,
                    struct error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct setting *s = &table[i];
        if (strcmp(s->name, pair->name) != 0)
            continue;
        double value;
        size_t length = strlen(pair->text);
        bool good = s->unit == SECONDS ? quantity_seconds(pair->text, length, &value)
                    : s->unit == SHARE ? quantity_number(pair->text, length, &value)
                                       : quantity_bytes(pair->text, length, &value);
        if (!good || value < s->least || value > s->most ||
            (s->unit == COUNT && value != floor(value)))
            return error_set(err, ERROR_INPUT, "--set %s=%s: expected %s from %g to %g", s->name,
                             pair->text,
                             s->unit == SECONDS ? "a time"
                             : s->unit == BYTES ? "bytes"
                             : s->unit == COUNT ? "a whole number"
                                                : "a number",
                             s->least, s->most);
        if (s->unit == COUNT)
            *(uint32_t *)s->field = (uint32_t)value;
        else
            *(double *)s->field = value;
        return true;
    }
    struct strbuf known = {0};
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&known, "%s%s", i ? ", " : "", table[i].name);
    error_set(err, ERROR_INPUT, "--set %s: there is no such setting; there are: %s", pair->name,
              strbuf_text(&known));
    strbuf_free(&known);
    return false;
}

static bool read_sets(struct cluster_settings *s, const struct arguments *a, struct error *err)
{
    struct workload *d = &s->dag;
    struct schedulers_config *c = &s->config;
    uint32_t rigid = 0, prefetch = 2;
    double cache = 8e9;
    const struct setting table[] = {
        {"tasks", COUNT, &d->ntasks, 1, UINT32_MAX / 2},
        {"degree", COUNT, &d->degree, 1, 1e6},
        {"files", COUNT, &d->files, 1, 40000},
        {"length", SECONDS, &d->length, 0, 1e9},
        {"spread", SHARE, &d->spread, 0, 1},
        {"size", BYTES, &d->size, 0, 1e15},
        {"file-size", BYTES, &d->file_size, 0, 1e15},
        {"t", SHARE, &c->t, 1e-9, 1e9},
        {"tt", SECONDS, &c->tt, 1e-6, 1e9},
        {"steal-bound", SECONDS, &c->steal_bound, 1e-6, 1e9},
        {"rigid", COUNT, &rigid, 0, 1},
        {"latency", SECONDS, &c->latency, 1e-9, 1e3},
        {"bandwidth", BYTES, &c->bandwidth, 1, 1e15},
        {"servers", COUNT, &c->servers, 1, 1u << 24},
        {"service", SECONDS, &c->store_service, 1e-9, 1e3},
        {"dispatch", SECONDS, &c->dispatch, 0, 1e3},
        {"cache", BYTES, &cache, 0, 1e18},
        {"prefetch", COUNT, &prefetch, 0, 32},
        {"task-size", BYTES, &s->bound.task_bytes, 0, 1e9},
    };
    size_t count;
    struct pair *pairs = arguments_pairs(a, "set", &count, err);
    if (!pairs)
        return false;
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = set_one(table, sizeof table / sizeof *table, &pairs[i], err);
    pairs_free(pairs);
    c->rigid_steal = rigid;
    c->prefetch = prefetch ? prefetch : SCHEDULERS_NO_PREFETCH;
    c->cache = cache > 0 ? cache : -1;
    return good;
}

/* ---- the graph and the cluster ---- */

static bool read_submit(struct cluster_settings *s, const struct arguments *a, struct error *err)
{
    static const char *const names[] = {"best", "hash", "worst"};
    const char *text = arguments_value(a, "submit");
    for (int i = 0; text && i < 3; i++)
        if (strcmp(names[i], text) == 0) {
            s->config.submit = (enum workload_submit)i;
            return true;
        }
    return !text ||
           error_set(err, ERROR_INPUT, "--submit is '%s'; expected best, hash or worst", text);
}

static bool read_graph(struct cluster_settings *s, const struct arguments *a, uint64_t cores,
                       struct error *err)
{
    const char *name = arguments_value(a, "dag");
    if (name && a->noperands)
        return error_set(err, ERROR_INPUT, "both --dag %s and a workflow; give one of them", name);
    if (!name && !a->noperands)
        return error_set(err, ERROR_INPUT,
                         "no graph; give a workflow or --dag bot, fan-out, fan-in, pipeline, "
                         "stacking or all-pairs");
    if (name) {
        enum workload_kind kind = workload_find(name);
        if (kind == WORKLOAD_KINDS)
            return error_set(err, ERROR_INPUT,
                             "--dag is '%s'; expected bot, fan-out, fan-in, pipeline, stacking or "
                             "all-pairs",
                             name);
        workload_benchmark(&s->dag, kind, cores);
        snprintf(s->name, sizeof s->name, "%s", name);
        return true;
    }
    struct format_file *file = cli_open(a, a->operand[0], err);
    s->workflow = file ? format_file_workflow(file, err) : NULL;
    if (file)
        format_file_close(file);
    if (!s->workflow)
        return false;
    cli_warnings(a, s->workflow);
    s->dag = (struct workload){.kind = WORKLOAD_WORKFLOW, .workflow = s->workflow};
    cli_workflow_title(s->workflow, s->name, sizeof s->name);
    return true;
}

bool cluster_settings_read(struct cluster_settings *s, const struct arguments *a, struct error *err)
{
    int64_t nodes, cores, seed;
    *s = (struct cluster_settings){0};
    if (!arguments_integer(a, "schedulers", 100, 1, 1 << 24, &nodes, err) ||
        !arguments_integer(a, "cores", 2, 1, 1 << 20, &cores, err) ||
        !arguments_integer(a, "seed", 1, 0, INT64_MAX, &seed, err) || !read_submit(s, a, err) ||
        !read_graph(s, a, (uint64_t)(nodes * cores), err))
        return false;
    s->config.nodes = (uint32_t)nodes;
    s->config.cores = (uint32_t)cores;
    s->config.seed = s->dag.seed = (uint64_t)seed;
    s->config.bandwidth = 125e6;
    s->bound.task_bytes = 1024;
    if (!read_sets(s, a, err) || !workload_init(&s->dag, err))
        return false;
    s->config.dag = s->bound.dag = &s->dag;
    s->bound.cores = (uint64_t)(nodes * cores);
    s->bound.bandwidth = s->config.bandwidth;
    return true;
}

void cluster_settings_free(struct cluster_settings *s)
{
    workflow_free(s->workflow);
    s->workflow = NULL;
}
