/* One run as JSON: its head, predicted against real, the path that decided its length, kinds,
 * slowest tasks and failures, as figures_of() finds them. */
#include "report/record_json.h"

#include "base/json.h"
#include "report/failures.h"
#include "report/figures.h"

#include <math.h>

static void record_put_pair(struct json_writer *j, const char *key, double predicted, double real)
{
    json_write_key(j, key);
    json_write_object_inline(j);
    json_put_number(j, "predicted", predicted);
    json_put_number(j, "real", real);
    json_write_end_object(j);
}

/* The same object wherever an attempt is told: on the path, among the slowest, among failures. */
static void record_put_attempt(struct json_writer *j, const struct run_figures *f, uint32_t event)
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

/* Predicted and real are means over the tasks that had a prediction: the two can be compared. */
static void record_put_kinds(struct json_writer *j, const struct run_figures *f)
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

/* Tasks of the path that were reused have no attempt, and took no time. */
static void record_put_path(struct json_writer *j, const struct run_figures *f)
{
    json_write_key(j, "critical_path");
    json_write_array(j);
    for (uint32_t i = 0; i < f->npath; i++)
        if (f->last[f->path[i]] != NONE)
            record_put_attempt(j, f, f->last[f->path[i]]);
    json_write_end_array(j);
}

/* The failures by their cause, all of them. */
static void record_put_causes(struct json_writer *j, const struct run_figures *f)
{
    struct failure_groups g;
    failure_groups_of(&g, f);
    failure_put_causes(&g, f, j);
    failure_groups_free(&g);
}

/* Numbers that are not known are null (NAN), never 0. */
void record_json(const struct run_record *r, struct strbuf *out)
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
    json_put_integer(&j, "untaken", r->untaken);
    json_put_integer(&j, "excused", r->excused);
    json_put_integer(&j, "attempts", f.attempts);
    json_put_integer(&j, "cores", r->cores);
    json_put_number(&j, "speed", r->speed);
    json_put_number(&j, "utilization", f.used);
    json_put_number(&j, "computing", f.computed);
    json_put_number(&j, "cpu", f.cpu);
    json_put_number(&j, "read", f.read);
    json_put_number(&j, "written", f.written);
    record_put_pair(&j, "time", r->predicted_seconds, r->seconds);
    record_put_pair(&j, "memory", r->predicted_memory, r->peak_memory);
    record_put_pair(&j, "disk", r->predicted_disk, r->peak_disk);
    json_put_number(&j, "critical_path_running", f.path_running);
    json_put_number(&j, "critical_path_waiting", f.path_waiting);
    record_put_path(&j, &f);
    record_put_kinds(&j, &f);
    json_write_key(&j, "slowest");
    json_write_array(&j);
    for (size_t i = 0; i < f.slowest.n; i++)
        record_put_attempt(&j, &f, f.slowest.at[i]);
    json_write_end_array(&j);
    json_write_key(&j, "failures");
    json_write_array(&j);
    for (size_t i = 0; i < f.failures.n; i++)
        record_put_attempt(&j, &f, f.failures.at[i]);
    json_write_end_array(&j);
    record_put_causes(&j, &f);
    json_write_end_object(&j);
    figures_free(&f);
}
