#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "session/recorded.h"
#include "formats/json/trace_record.h"
#include "model/builder.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
    {"output", 'o', "FILE", "write the page (HTML) to this file"},
    {"workflow", 0, "FILE", "for a trace: the workflow that it is of"},
    OPTION_FROM,
    OPTION_READ,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

/* ---- reading ---- */

/* Names and kinds, when the text of the workflow was not kept: no edges, but better than numbers.
 */
static struct workflow *bare_workflow(struct history *h, const struct run_record *r)
{
    struct history_tasks tasks;
    if (!history_tasks(h, r->run, &tasks, NULL))
        return NULL;
    struct builder *b = builder_new("history", "history");
    for (uint32_t t = 0; t < tasks.n; t++) {
        const char *name = history_task_name(&tasks, t), *kind = history_task_kind(&tasks, t);
        uint32_t task = builder_task(b, name, strlen(name), 0);
        if (kind && *kind)
            builder_kind(b, task, kind, strlen(kind));
    }
    bool whole = tasks.n && tasks.n == r->tasks;
    history_tasks_free(&tasks);
    if (whole)
        return builder_finish(b, NULL);
    builder_free(b);
    return NULL;
}

static bool read_history(const char *which, struct run_record *r, struct error *err)
{
    struct history *h = recorded_require(err);
    int64_t run = 0;
    bool good = h && recorded_number(h, which, &run, err) && recorded_load(h, run, r, err);
    if (good && !r->workflow)
        r->workflow = bare_workflow(h, r);
    history_close(h);
    return good;
}

static bool read_trace(const struct arguments *a, const char *path, struct run_record *r,
                       struct error *err)
{
    const char *flow = arguments_value(a, "workflow");
    struct workflow *w = NULL;
    if (flow) {
        struct format_file *file = cli_open(a, flow, err);
        w = file ? format_file_workflow(file, err) : NULL;
        format_file_close(file);
        if (!w)
            return false;
    }
    return trace_record_read(path, w, r, err);
}

/* ---- JSON ---- */

static void put_pair(struct json_writer *j, const char *key, double predicted, double real)
{
    json_write_key(j, key);
    json_write_object_inline(j);
    json_put_number(j, "predicted", predicted);
    json_put_number(j, "real", real);
    json_write_end_object(j);
}

static void put_attempt(struct json_writer *j, const struct run_figures *f, uint32_t event)
{
    const struct trace_event *e = &f->record->events.at[event];
    char buffer[32];
    json_write_object_inline(j);
    json_put_string(j, "task", figures_task_name(f, e->id, buffer, sizeof buffer));
    json_put_string(j, "kind", intern_text(&f->kinds, f->kind_of[e->id]));
    json_put_string(j, "outcome", trace_outcome_name(e->outcome));
    json_put_integer(j, "status", e->status);
    json_put_integer(j, "attempt", e->attempt);
    json_put_integer(j, "core", e->lane);
    json_put_number(j, "start", e->start);
    json_put_number(j, "seconds", e->finish - e->start);
    json_put_number(j, "predicted", figures_predicted(f, e->id));
    json_put_number(j, "cpu", e->cpu);
    json_put_number(j, "memory", e->memory);
    json_write_end_object(j);
}

static void put_kinds(struct json_writer *j, const struct run_figures *f)
{
    json_write_key(j, "kinds");
    json_write_array(j);
    for (size_t i = 0; i < f->kind.n; i++) {
        const struct figures_kind *k = &f->kind.at[i];
        json_write_object_inline(j);
        json_put_string(j, "kind", intern_text(&f->kinds, k->name));
        json_put_integer(j, "ran", k->ran);
        json_put_integer(j, "failed", k->failed);
        json_put_number(j, "seconds", k->total);
        json_put_number(j, "median", k->ran ? k->median : NAN);
        json_put_number(j, "longest", k->ran ? k->longest : NAN);
        json_put_number(j, "cpu", k->cpu);
        json_put_number(j, "memory", k->memory);
        json_put_number(j, "predicted", k->predicted ? k->expected / k->predicted : NAN);
        json_put_number(j, "real", k->predicted ? k->real / k->predicted : NAN);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void put_path(struct json_writer *j, const struct run_figures *f)
{
    json_write_key(j, "critical_path");
    json_write_array(j);
    for (uint32_t i = 0; i < f->npath; i++)
        if (f->last[f->path[i]] != NONE)
            put_attempt(j, f, f->last[f->path[i]]);
    json_write_end_array(j);
}

static void as_json(const struct run_record *r, struct strbuf *out)
{
    struct json_writer j;
    struct run_figures f;
    figures_of(&f, r);
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-report/1");
    json_put_integer(&j, "run", r->run);
    json_put_text(&j, "workflow", r->name);
    json_put_text(&j, "file", r->file);
    json_put_text(&j, "folder", r->folder);
    json_put_text(&j, "host", r->host);
    json_put_text(&j, "planner", r->planner);
    json_put_string(&j, "outcome", record_outcome_name(r->outcome));
    json_put_number(&j, "started", r->started > 0 ? r->started : NAN);
    json_put_number(&j, "seconds", r->seconds);
    json_put_integer(&j, "tasks", r->tasks);
    json_put_integer(&j, "ran", r->ran);
    json_put_integer(&j, "reused", r->reused);
    json_put_integer(&j, "failed", r->failed);
    json_put_integer(&j, "skipped", r->skipped);
    json_put_integer(&j, "attempts", f.attempts);
    json_put_integer(&j, "cores", r->cores);
    json_put_number(&j, "speed", r->speed);
    json_put_number(&j, "utilization", f.used);
    json_put_number(&j, "computing", f.computed);
    json_put_number(&j, "cpu", f.cpu);
    json_put_number(&j, "read", f.read);
    json_put_number(&j, "written", f.written);
    put_pair(&j, "time", r->predicted_seconds, r->seconds);
    put_pair(&j, "memory", r->predicted_memory, r->peak_memory);
    put_pair(&j, "disk", r->predicted_disk, r->peak_disk);
    json_put_number(&j, "critical_path_running", f.path_running);
    json_put_number(&j, "critical_path_waiting", f.path_waiting);
    put_path(&j, &f);
    put_kinds(&j, &f);
    json_write_key(&j, "slowest");
    json_write_array(&j);
    for (size_t i = 0; i < f.slowest.n; i++)
        put_attempt(&j, &f, f.slowest.at[i]);
    json_write_end_array(&j);
    json_write_key(&j, "failures");
    json_write_array(&j);
    for (size_t i = 0; i < f.failures.n; i++)
        put_attempt(&j, &f, f.failures.at[i]);
    json_write_end_array(&j);
    json_write_end_object(&j);
    figures_free(&f);
}

/* ---- the command ---- */

static int print(const struct arguments *a, const struct run_record *r)
{
    struct strbuf out = {0};
    struct error err = {0};
    const char *path = arguments_value(a, "output");
    int status = 0;
    if (path) {
        report_page(r, &out);
        if (!cli_write_text(path, &out, &err))
            status = cli_fail(&err);
        strbuf_clear(&out);
    }
    if (status == 0 && arguments_flag(a, "json"))
        as_json(r, &out);
    else if (status == 0 && !path)
        report_summary(
            r, &(struct summary_options){.colour = cli_colour(), .columns = cli_columns()}, &out);
    if (status == 0)
        status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct run_record r = {0};
    const char *which = a->noperands ? a->operand[0] : "last";
    bool file = strchr(which, '.') || strchr(which, '/');
    if (!(file ? read_trace(a, which, &r, &err) : read_history(which, &r, &err)))
        return cli_fail(&err);
    int status = print(a, &r);
    record_free(&r);
    return status;
}

const struct command command_report = {
    .name = "report",
    .operands = "[RUN]",
    .least = 0,
    .most = 1,
    .summary = "what a run did, and why it took as long as it did",
    .details =
        "RUN is a number from `weft history` or last (the default),\n"
        "or a trace that `weft sim --trace FILE` wrote. Prints the summary; with -o "
        "writes\n"
        "one HTML page that needs nothing else: timeline, load and memory over time, the graph\n"
        "coloured by time, the critical path that really happened, slowest kinds and tasks,\n"
        "failures, predicted against real, files.\n"
        "\n"
        "  weft report\n"
        "  weft report 12 -o run.html\n"
        "  weft sim flow.yaml --on 8 --trace t.json && weft report t.json -o sim.html\n",
    .options = options,
    .run = run,
};
