#include "cli/sim_schedulers.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/cluster_settings.h"
#include "report/human.h"
#include "report/table.h"
#include "report/utilization.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = SCHED_POLICY_CHOICES };

struct study {
    struct cluster_settings settings;
    struct sched_policy_choice policy[RUNS_MOST];
    struct schedulers_result result[RUNS_MOST];
    double seconds[RUNS_MOST];
    uint32_t n;
    struct bound_result bound;
};

static bool read_policy(struct study *s, const struct arguments *a, struct error *err)
{
    const char *text = arguments_value(a, "policy");
    if (text && strcmp(text, "all") == 0)
        for (; s->n < RUNS_MOST; s->n++)
            s->policy[s->n] = sched_policy_choice(s->n);
    else if (sched_policy_choose(text, &s->policy[0]))
        s->n = 1;
    return s->n > 0 ||
           error_set(err, ERROR_INPUT,
                     "--policy is '%s'; expected " SCHED_POLICY_NAMES "auto or all", text);
}

/* What belongs to the other simulations is refused, not passed over. */
static bool only_ours(const struct arguments *a, struct error *err)
{
    static const char *const ours[] = {"schedulers", "dag",  "policy", "cores",
                                       "submit",     "set",  "seed",   "from",
                                       "read",       "json", "quiet",  "utilization"};
    for (size_t i = 0; i < a->ngiven; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            known |= strcmp(a->given[i].name, ours[k]) == 0;
        if (!known)
            return error_set(err, ERROR_INPUT,
                             "--%s has no meaning for a cluster of schedulers; leave it out, or "
                             "--schedulers and --dag",
                             a->given[i].name);
    }
    return true;
}

/* ---- pictures ---- */

static bool write_chart(const struct study *s, const struct arguments *a, struct error *err)
{
    const char *path = arguments_value(a, "utilization");
    if (!path)
        return true;
    struct strbuf svg = {0};
    char title[200];
    uint32_t last = s->n - 1;
    snprintf(title, sizeof title, "%s, %u schedulers, policy %s", s->settings.name,
             s->settings.config.nodes, s->policy[last].name);
    const struct schedulers_result *r = &s->result[last];
    report_utilization_chart(&(struct utilization_chart){.title = title,
                                                         .cores = (double)s->settings.bound.cores,
                                                         .makespan = r->makespan,
                                                         .bin_width = r->bin_width,
                                                         .nbins = r->nbins,
                                                         .running = r->running,
                                                         .fetching = r->fetching,
                                                         .moves_data = r->bytes_moved > 0},
                             &svg);
    bool good = cli_write_text(path, &svg, err);
    strbuf_free(&svg);
    return good;
}

/* ---- text ---- */

static void line(struct strbuf *out, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void line(struct strbuf *out, const char *name, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    strbuf_printf(out, "  %-18s %s\n", name, text);
}

static void print_one(const struct study *s, struct strbuf *out)
{
    const struct schedulers_result *r = &s->result[0];
    const struct bound_result *b = &s->bound;
    char x[HUMAN_SIZE], y[HUMAN_SIZE], z[HUMAN_SIZE], u[HUMAN_SIZE];
    line(out, "graph", "%s: %s tasks, %s of work", s->settings.name, human_count(x, r->tasks),
         human_seconds(y, r->work));
    line(out, "cluster", "%s schedulers of %u cores, policy %s",
         human_count(x, s->settings.config.nodes), s->settings.config.cores, s->policy[0].name);
    line(out, "makespan", "%s, efficiency %s", human_seconds(x, r->makespan),
         human_percent(y, r->efficiency));
    line(out, "throughput", "%s tasks a second", human_number(x, r->throughput));
    line(out, "bound", "%s (section 3): this is %s of it", human_seconds(x, b->timespan),
         human_percent(y, r->makespan > 0 ? b->timespan / r->makespan : 1));
    line(out, "data", "%s moved in %s transfers; %s of %s reads were local, %s of the others hits",
         human_bytes(x, r->bytes_moved), human_count(y, r->transfers),
         human_percent(z, r->reads ? (double)r->local_reads / r->reads : 1),
         human_count(u, r->reads), human_percent((char[HUMAN_SIZE]){0}, r->hit_rate));
    line(out, "stealing", "%s tasks stolen in %s rounds (%s failed), %s pushed, %s relaxed",
         human_count(x, r->stolen), human_count(y, r->steals), human_count(z, r->failed_steals),
         human_count(u, r->pushed), human_count((char[HUMAN_SIZE]){0}, r->relaxed));
    line(out, "store",
         "%.2f operations and %.2f round trips a task, %.2f messages between schedulers",
         (double)r->store_operations / r->tasks, (double)r->store_trips / r->tasks,
         (double)r->messages / r->tasks);
    line(out, "simulated", "%s events in %s, %s", human_count(x, r->events),
         human_seconds(y, s->seconds[0]), human_bytes(z, r->memory));
}

static void print_table(const struct study *s, struct strbuf *out)
{
    char x[HUMAN_SIZE], y[HUMAN_SIZE];
    strbuf_printf(out, "%s: %s tasks on %u schedulers of %u cores; bound %s\n\n", s->settings.name,
                  human_count(x, s->result[0].tasks), s->settings.config.nodes,
                  s->settings.config.cores, human_seconds(y, s->bound.timespan));
    static const char *const columns[] = {"makespan",  "efficiency", "of bound", "tasks/s", "moved",
                                          "transfers", "cache hits", "stolen",   "pushed"};
    struct table *t = table_new();
    table_column(t, "policy", TABLE_LEFT);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i], TABLE_RIGHT);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct schedulers_result *r = &s->result[i];
        table_row(t);
        table_cell(t, s->policy[i].name);
        table_seconds(t, r->makespan);
        table_cell(t, human_percent(x, r->efficiency));
        table_cell(t, human_percent(x, r->makespan > 0 ? s->bound.timespan / r->makespan : 1));
        table_number(t, r->throughput);
        table_bytes(t, r->bytes_moved);
        table_cell(t, human_count(x, r->transfers));
        table_cell(t, human_percent(x, r->hit_rate));
        table_cell(t, human_count(x, r->stolen));
        table_cell(t, human_count(x, r->pushed));
    }
    table_print(t, out, &(struct table_style){.colour = cli_colour(), .indent = 2});
    table_free(t);
}

/* ---- JSON ---- */

static void put_run(struct json_writer *j, const struct study *s, uint32_t i)
{
    const struct schedulers_result *r = &s->result[i];
    json_write_object(j);
    json_put_string(j, "policy", s->policy[i].name);
    json_put_number(j, "makespan", r->makespan);
    json_put_number(j, "efficiency", r->efficiency);
    json_put_number(j, "of_bound", r->makespan > 0 ? s->bound.timespan / r->makespan : 1);
    json_put_number(j, "throughput", r->throughput);
    json_put_number(j, "seconds", s->seconds[i]);
    json_put_integer(j, "events", (int64_t)r->events);
    json_put_integer(j, "messages", (int64_t)r->messages);
    json_put_integer(j, "store_operations", (int64_t)r->store_operations);
    json_put_integer(j, "store_trips", (int64_t)r->store_trips);
    json_put_integer(j, "steals", (int64_t)r->steals);
    json_put_integer(j, "failed_steals", (int64_t)r->failed_steals);
    json_put_integer(j, "stolen", (int64_t)r->stolen);
    json_put_integer(j, "pushed", (int64_t)r->pushed);
    json_put_integer(j, "relaxed", (int64_t)r->relaxed);
    json_put_integer(j, "reads", (int64_t)r->reads);
    json_put_integer(j, "local_reads", (int64_t)r->local_reads);
    json_put_integer(j, "transfers", (int64_t)r->transfers);
    json_put_number(j, "bytes_moved", r->bytes_moved);
    json_put_number(j, "hit_rate", r->hit_rate);
    json_put_number(j, "wait_data", r->waited);
    json_put_integer(j, "memory", (int64_t)r->memory);
    json_write_end_object(j);
}

static void print_json(const struct study *s, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-cluster/1");
    json_put_string(&j, "workflow", s->settings.name);
    json_put_integer(&j, "tasks", (int64_t)s->result[0].tasks);
    json_put_number(&j, "work", s->result[0].work);
    json_put_integer(&j, "schedulers", s->settings.config.nodes);
    json_put_integer(&j, "cores", s->settings.config.cores);
    json_put_integer(&j, "seed", (int64_t)s->settings.config.seed);
    json_put_number(&j, "bound", s->bound.timespan);
    json_write_key(&j, "runs");
    json_write_array(&j);
    for (uint32_t i = 0; i < s->n; i++)
        put_run(&j, s, i);
    json_write_end_array(&j);
    json_write_end_object(&j);
}

/* ---- the command ---- */

static bool simulate(struct study *s, const struct arguments *a, struct error *err)
{
    bool quiet = arguments_flag(a, "quiet") || arguments_flag(a, "json");
    struct progress progress = cli_progress("simulating");
    s->settings.config.progress = quiet ? NULL : &progress;
    for (uint32_t i = 0; i < s->n; i++) {
        s->settings.config.policy = s->policy[i].policy;
        s->settings.config.adapt = s->policy[i].adapt;
        double began = clock_seconds();
        if (!schedulers_run(&s->settings.config, &s->result[i], err))
            return false;
        s->seconds[i] = clock_seconds() - began;
    }
    s->settings.config.progress = NULL;
    cli_progress_done();
    return bound_compute(&s->settings.bound, &s->bound, err);
}

int sim_schedulers_run(const struct arguments *a)
{
    struct study *s = mem_new_zero(struct study, 1);
    struct error err = {0};
    struct strbuf out = {0};
    int status;
    if (!only_ours(a, &err) || !cluster_settings_read(&s->settings, a, &err) ||
        !read_policy(s, a, &err) || !simulate(s, a, &err) || !write_chart(s, a, &err)) {
        cli_progress_done();
        status = cli_fail(&err);
    } else {
        if (arguments_flag(a, "json"))
            print_json(s, &out);
        else if (s->n == 1)
            print_one(s, &out);
        else
            print_table(s, &out);
        status = cli_print(&out);
    }
    strbuf_free(&out);
    cluster_settings_free(&s->settings);
    free(s);
    return status;
}
