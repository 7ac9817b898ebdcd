/* A cluster of schedulers in virtual time: one run in detail, several in a table, all as JSON. */
#include "report/schedulers_view.h"
#include "report/sim_view.h"
#include "base/json.h"
#include "base/plural.h"
#include "report/human.h"
#include "report/table.h"
#include "report/utilization.h"

#include <stdio.h>

/* Of the last policy: with several, pictures would need one file each. */
void schedulers_view_chart(const struct schedulers_view *s, struct strbuf *out)
{
    char title[200];
    uint32_t last = s->n - 1;
    char beside[64] = "";
    if (s->nruns)
        snprintf(beside, sizeof beside, " and %u other run%s", s->nruns - 1, plural(s->nruns - 1));
    snprintf(title, sizeof title, "%s%s, %u scheduler%s, policy %s", s->name, beside, s->nodes,
             plural(s->nodes), s->policy[last]);
    const struct schedulers_result *r = s->result[last];
    report_utilization_chart(&(struct utilization_chart){.title = title,
                                                         .cores = s->all_cores,
                                                         .makespan = r->makespan,
                                                         .bin_width = r->bin_width,
                                                         .nbins = r->nbins,
                                                         .running = r->running,
                                                         .fetching = r->fetching,
                                                         .moves_data = r->bytes_moved > 0},
                             out);
}

/* ---- text ---- */

/* Several runs on the same nodes: a row each. */
static void schedulers_runs(const struct schedulers_view *s, struct strbuf *out)
{
    char x[HUMAN_SIZE];
    struct table *t = table_new();
    table_column(t, "run", TABLE_LEFT);
    static const char *const columns[] = {"priority", "submitted", "first task", "end",
                                          "takes",    "alone",     "slowdown",   "cores"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i], TABLE_RIGHT);
    for (uint32_t i = 0; i < s->nruns; i++) {
        const struct schedulers_run *r = &s->figures[i];
        double takes = r->finish - s->entries[i].at;
        table_row(t);
        table_cell(t, s->run_name[i]);
        table_number(t, s->entries[i].priority);
        table_seconds(t, s->entries[i].at);
        table_seconds(t, r->first);
        table_seconds(t, r->finish);
        table_seconds(t, takes);
        table_seconds(t, r->alone);
        table_number(t, r->slowdown);
        table_number(t, takes > 0 ? r->used / takes : 0);
    }
    strbuf_add_char(out, '\n');
    table_print(t, out, &(struct table_style){.colour = s->colour, .indent = 2});
    table_free(t);
    strbuf_printf(out, "\n  fairness %s (Jain's index of the speeds, 1 / slowdown)\n",
                  human_number(x, schedulers_fairness(s->figures, s->nruns)));
}

/* What ran, where. */
static void schedulers_head(const struct schedulers_view *s, struct strbuf *out)
{
    const struct schedulers_result *r = s->result[0];
    char x[HUMAN_SIZE], y[HUMAN_SIZE];
    if (s->nruns)
        report_line(out, "runs", "%u: %s task%s, %s of work", s->nruns, human_count(x, r->tasks),
                    plural(r->tasks), human_seconds(y, r->work));
    else
        report_line(out, "graph", "%s: %s task%s, %s of work", s->name, human_count(x, r->tasks),
                    plural(r->tasks), human_seconds(y, r->work));
    if (s->platform)
        report_line(out, "cluster", "%s scheduler%s, %s core%s in all, policy %s",
                    human_count(x, s->nodes), plural(s->nodes),
                    human_count(y, (uint64_t)s->all_cores), plural((uint64_t)s->all_cores),
                    s->policy[0]);
    else
        report_line(out, "cluster", "%s scheduler%s of %u core%s, policy %s",
                    human_count(x, s->nodes), plural(s->nodes), s->cores, plural(s->cores),
                    s->policy[0]);
}

/* One policy: everything that was counted, in words. */
static void schedulers_one(const struct schedulers_view *s, struct strbuf *out)
{
    const struct schedulers_result *r = s->result[0];
    char x[HUMAN_SIZE], y[HUMAN_SIZE], z[HUMAN_SIZE], u[HUMAN_SIZE];
    schedulers_head(s, out);
    report_line(out, "makespan", "%s, efficiency %s", human_seconds(x, r->makespan),
                human_percent(y, r->efficiency));
    report_line(out, "throughput", "%s tasks a second", human_number(x, r->throughput));
    if (s->bound > 0)
        report_line(out, "bound", "%s (section 3): this is %s of it", human_seconds(x, s->bound),
                    human_percent(y, r->makespan > 0 ? s->bound / r->makespan : 1));
    if (r->joined)
        report_line(out, "growth", "%s task%s while it runs", human_count(x, r->joined),
                    plural_word(r->joined, " joins", "s join"));
    report_line(out, "data",
                "%s moved in %s transfer%s; %s of %s reads were local, %s of the others hits",
                human_bytes(x, r->bytes_moved), human_count(y, r->transfers), plural(r->transfers),
                human_percent(z, r->reads ? (double)r->local_reads / r->reads : 1),
                human_count(u, r->reads), human_percent((char[HUMAN_SIZE]){0}, r->hit_rate));
    report_line(out, "stealing",
                "%s task%s stolen in %s round%s (%s failed), %s pushed, %s relaxed",
                human_count(x, r->stolen), plural(r->stolen), human_count(y, r->steals),
                plural(r->steals), human_count(z, r->failed_steals), human_count(u, r->pushed),
                human_count((char[HUMAN_SIZE]){0}, r->relaxed));
    report_line(out, "store",
                "%.2f operations and %.2f round trips a task, %.2f messages between schedulers",
                (double)r->store_operations / r->tasks, (double)r->store_trips / r->tasks,
                (double)r->messages / r->tasks);
    report_line(out, "simulated", "%s event%s in %s, %s", human_count(x, r->events),
                plural(r->events), human_seconds(y, s->seconds[0]), human_bytes(z, r->memory));
    if (s->nruns)
        schedulers_runs(s, out);
}

/* Did the two decide alike all along? Then their rows say nothing about the policies. */
static bool schedulers_are_alike(const struct schedulers_result *a,
                                 const struct schedulers_result *b)
{
    return a->makespan == b->makespan && a->bytes_moved == b->bytes_moved &&
           a->transfers == b->transfers && a->stolen == b->stolen && a->pushed == b->pushed &&
           a->steals == b->steals;
}

/* Policies whose runs were the same, each group once, so that nobody compares rows that cannot differ. */
static void schedulers_view_alike(const struct schedulers_view *s, struct strbuf *out)
{
    for (uint32_t i = 0; i < s->n; i++) {
        bool told = false;
        uint32_t alike = 0;
        for (uint32_t k = 0; k < i; k++)
            told |= schedulers_are_alike(s->result[i], s->result[k]);
        for (uint32_t k = i + 1; k < s->n && !told; k++)
            if (schedulers_are_alike(s->result[i], s->result[k]))
                strbuf_printf(out, "%s%s, %s", alike ? "" : "\n  ", alike ? "" : s->policy[i],
                              s->policy[k]),
                    alike++;
        if (alike)
            strbuf_printf(out, ": the same run%s\n",
                          alike + 1 < s->n
                              ? ""
                              : "; no decision of a policy came up, such as data that are "
                                "large for their task and somewhere else");
    }
}

/* Several policies: a row each, the columns that tell them apart. */
static void schedulers_table(const struct schedulers_view *s, struct strbuf *out)
{
    char x[HUMAN_SIZE], y[HUMAN_SIZE];
    strbuf_printf(out, "%s: %s task%s on %u scheduler%s", s->name,
                  human_count(x, s->result[0]->tasks), plural(s->result[0]->tasks), s->nodes,
                  plural(s->nodes));
    if (s->platform)
        strbuf_printf(out, ", %s core%s in all\n\n", human_count(x, (uint64_t)s->all_cores),
                      plural((uint64_t)s->all_cores));
    else
        strbuf_printf(out, " of %u core%s; bound %s\n\n", s->cores, plural(s->cores),
                      human_seconds(y, s->bound));
    static const char *const columns[] = {"makespan", "efficiency", "of bound",   "tasks/s",
                                          "moved",    "transfers",  "cache hits", "stolen",
                                          "pushed",   "relaxed"};
    struct table *t = table_new();
    table_column(t, "policy", TABLE_LEFT);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(t, columns[i], TABLE_RIGHT);
    for (uint32_t i = 0; i < s->n; i++) {
        const struct schedulers_result *r = s->result[i];
        table_row(t);
        table_cell(t, s->policy[i]);
        table_seconds(t, r->makespan);
        table_cell(t, human_percent(x, r->efficiency));
        table_cell(t, !(s->bound > 0)
                          ? "-"
                          : human_percent(x, r->makespan > 0 ? s->bound / r->makespan : 1));
        table_number(t, r->throughput);
        table_bytes(t, r->bytes_moved);
        table_cell(t, human_count(x, r->transfers));
        table_cell(t, human_percent(x, r->hit_rate));
        table_cell(t, human_count(x, r->stolen));
        table_cell(t, human_count(x, r->pushed));
        table_cell(t, human_count(x, r->relaxed));
    }
    table_print(t, out, &(struct table_style){.colour = s->colour, .indent = 2});
    table_free(t);
    schedulers_view_alike(s, out);
}

/* ---- JSON ---- */

/* Names are those of docs/cluster-simulation.md. */
static void schedulers_put_run(struct json_writer *j, const struct schedulers_view *s, uint32_t i)
{
    const struct schedulers_result *r = s->result[i];
    json_write_object(j);
    json_put_string(j, "policy", s->policy[i]);
    json_put_number(j, "makespan", r->makespan);
    json_put_number(j, "efficiency", r->efficiency);
    if (s->bound > 0)
        json_put_number(j, "of_bound", r->makespan > 0 ? s->bound / r->makespan : 1);
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
    if (r->joined)
        json_put_integer(j, "joined", (int64_t)r->joined);
    json_put_integer(j, "reads", (int64_t)r->reads);
    json_put_integer(j, "local_reads", (int64_t)r->local_reads);
    json_put_integer(j, "transfers", (int64_t)r->transfers);
    json_put_number(j, "bytes_moved", r->bytes_moved);
    json_put_number(j, "hit_rate", r->hit_rate);
    json_put_number(j, "wait_data", r->waited);
    json_put_integer(j, "memory", (int64_t)r->memory);
    json_write_end_object(j);
}

static void schedulers_put_beside(struct json_writer *j, const struct schedulers_view *s)
{
    json_put_number(j, "fairness", schedulers_fairness(s->figures, s->nruns));
    json_write_key(j, "beside");
    json_write_array(j);
    for (uint32_t i = 0; i < s->nruns; i++) {
        const struct schedulers_run *r = &s->figures[i];
        json_write_object(j);
        json_put_string(j, "workflow", s->run_name[i]);
        json_put_number(j, "priority", s->entries[i].priority);
        json_put_number(j, "submitted", s->entries[i].at);
        json_put_integer(j, "tasks", (int64_t)r->tasks);
        json_put_number(j, "first", r->first);
        json_put_number(j, "end", r->finish);
        json_put_number(j, "alone", r->alone);
        json_put_number(j, "slowdown", r->slowdown);
        json_put_number(j, "core_seconds", r->used);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

void schedulers_view_json(const struct schedulers_view *s, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-cluster/1");
    json_put_string(&j, "workflow", s->name);
    json_put_integer(&j, "tasks", (int64_t)s->result[0]->tasks);
    json_put_number(&j, "work", s->result[0]->work);
    json_put_integer(&j, "schedulers", s->nodes);
    if (s->platform)
        json_put_number(&j, "cores_in_all", s->all_cores);
    else
        json_put_integer(&j, "cores", s->cores);
    json_put_integer(&j, "seed", (int64_t)s->seed);
    if (s->workflow)
        sim_view_notes(&j, s->workflow);
    if (s->bound > 0)
        json_put_number(&j, "bound", s->bound);
    if (s->nruns)
        schedulers_put_beside(&j, s);
    json_write_key(&j, "runs");
    json_write_array(&j);
    for (uint32_t i = 0; i < s->n; i++)
        schedulers_put_run(&j, s, i);
    json_write_end_array(&j);
    json_write_end_object(&j);
}

void schedulers_view(const struct schedulers_view *s, struct strbuf *out)
{
    if (s->n == 1)
        schedulers_one(s, out);
    else
        schedulers_table(s, out);
}
