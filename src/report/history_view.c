/* Runs of the history as tables, JSON and CSV. Reads records, decides nothing. */
#include "report/history_view.h"
#include "report/history_parts.h"

#include "base/mem.h"
#include "base/quantity.h"
#include "base/utf8.h"
#include "model/command.h"
#include "report/human.h"
#include "report/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 10 /* rows of each table of one run */

/* ---- JSON ---- */

/* The keys of a run's head; also used by comparisons, so that both have the same names. */
void history_view_head(struct json_writer *j, const struct run_record *r)
{
    json_put_integer(j, "run", r->run);
    json_put_text(j, "workflow", r->name);
    json_put_text(j, "file", r->file);
    json_put_text(j, "folder", r->folder);
    json_put_text(j, "host", r->host);
    json_put_text(j, "planner", r->planner);
    json_put_text(j, "given", r->given);
    json_put_text(j, "place", r->place);
    json_put_text(j, "version", r->version);
    json_put_text(j, "system", r->system);
    json_put_string(j, "outcome", record_outcome_name(r->outcome));
    json_put_number(j, "started", r->started);
    json_put_number(j, "seconds", r->seconds);
    json_put_integer(j, "tasks", r->tasks);
    json_put_integer(j, "ran", r->ran);
    json_put_integer(j, "reused", r->reused);
    json_put_integer(j, "failed", r->failed);
    json_put_integer(j, "skipped", r->skipped);
    json_put_integer(j, "untaken", r->untaken);
    json_put_integer(j, "excused", r->excused);
    json_put_integer(j, "cores", r->cores);
    json_put_number(j, "memory", r->memory);
    json_put_number(j, "speed", r->speed);
    json_put_number(j, "predicted_seconds", r->predicted_seconds);
    json_put_number(j, "predicted_memory", r->predicted_memory);
    json_put_number(j, "predicted_disk", r->predicted_disk);
    json_put_number(j, "peak_memory", r->peak_memory);
    json_put_number(j, "peak_disk", r->peak_disk);
}

/* Of the whole run, or all it knows. The task is whose result states it. */
void history_put_facts(struct json_writer *j, const struct run_record *r,
                       const struct history_tasks *t)
{
    json_write_key(j, "facts");
    json_write_array(j);
    for (size_t i = 0; i < r->facts.n; i++) {
        const struct record_fact *f = &r->facts.at[i];
        double number;
        json_write_object_inline(j);
        json_put_string(j, "sort", fact_sort_name(f->sort));
        json_put_string(j, "name", f->name);
        if (f->sort <= FACT_VALUE && quantity_number(f->value, strlen(f->value), &number))
            json_put_number(j, "value", number);
        else
            json_put_string(j, "value", f->value);
        if (t && f->task != NONE)
            json_put_string(j, "task", history_task_name(t, f->task));
        if (f->item)
            json_put_integer(j, "item", f->item);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

void history_view_list_json(const history_runs *runs, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-history/1");
    json_write_key(&j, "runs");
    json_write_array(&j);
    for (size_t i = 0; i < runs->n; i++) {
        json_write_object_inline(&j);
        history_view_head(&j, &runs->at[i]);
        if (runs->at[i].facts.n)
            history_put_facts(&j, &runs->at[i], NULL);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

/* Times are seconds since the start of the run. */
static void put_attempt(struct json_writer *j, const struct trace_event *e,
                        const struct history_tasks *t, const struct workflow *w)
{
    struct strbuf command = {0};
    json_write_object_inline(j);
    json_put_string(j, "task", history_task_name(t, e->id));
    json_put_string(j, "kind", history_task_kind(t, e->id));
    json_put_integer(j, "attempt", e->attempt);
    json_put_string(j, "outcome", trace_outcome_name(e->outcome));
    json_put_integer(j, "status", e->status);
    json_put_number(j, "start", e->start);
    json_put_number(j, "finish", e->finish);
    json_put_number(j, "cpu", e->cpu);
    json_put_number(j, "memory", e->memory);
    json_put_number(j, "read", e->read);
    json_put_number(j, "written", e->written);
    json_put_integer(j, "node", e->node);
    json_put_integer(j, "lane", e->lane);
    json_put_text(j, "command",
                  command_readable(w, e->id, e->attempt, &command) ? strbuf_text(&command) : NULL);
    json_write_end_object(j);
    strbuf_free(&command);
}

/* Digests that are zero were not computed: null. */
static void history_put_file(struct json_writer *j, const struct record_file *f,
                             const struct history_tasks *t)
{
    char text[DIGEST_TEXT];
    json_write_object_inline(j);
    json_put_string(j, "path", f->path);
    json_put_text(j, "task", f->task == NONE ? NULL : history_task_name(t, f->task));
    json_put_number(j, "size", f->size);
    json_put_text(j, "digest", digest_is_zero(&f->digest) ? NULL : digest_text(&f->digest, text));
    json_put_text(j, "key", digest_is_zero(&f->key) ? NULL : digest_text(&f->key, text));
    json_put_bool(j, "made", f->produced);
    json_write_end_object(j);
}

/* "cause" is the first task with the same one, which has the hint and the last lines. */
static void history_put_failure(struct json_writer *j, const struct run_record *r, size_t i,
                                const struct history_tasks *t)
{
    const struct record_failure *f = &r->failures.at[i];
    json_write_object_inline(j);
    json_put_string(j, "task", history_task_name(t, f->task));
    json_put_integer(j, "attempt", f->attempt);
    json_put_string(j, "outcome", trace_outcome_name(f->outcome));
    json_put_integer(j, "status", f->status);
    json_put_string(j, "cause", history_task_name(t, r->failures.at[f->cause].task));
    json_put_text(j, "reason", f->reason);
    json_put_text(j, "command", f->command);
    json_put_text(j, "hint", f->hint);
    json_put_text(j, "log", f->log);
    json_put_text(j, "last_lines", f->tail);
    json_write_end_object(j);
}

/* Everything that is recorded: the tables show ten rows of it. */
void history_view_run_json(const struct run_record *r, const struct history_tasks *t,
                           struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-history/1");
    history_view_head(&j, r);
    history_put_facts(&j, r, t);
    json_write_key(&j, "attempts");
    json_write_array(&j);
    for (size_t i = 0; i < r->events.n; i++)
        if (r->events.at[i].kind == TRACE_TASK)
            put_attempt(&j, &r->events.at[i], t, r->workflow);
    json_write_end_array(&j);
    json_write_key(&j, "failures");
    json_write_array(&j);
    for (size_t i = 0; i < r->failures.n; i++)
        history_put_failure(&j, r, i, t);
    json_write_end_array(&j);
    json_write_key(&j, "reused_tasks");
    json_write_array_inline(&j);
    for (size_t i = 0; i < r->events.n; i++)
        if (r->events.at[i].kind == TRACE_REUSED)
            json_write_string(&j, history_task_name(t, r->events.at[i].id));
    json_write_end_array(&j);
    json_write_key(&j, "skipped_tasks");
    json_write_array_inline(&j);
    for (size_t i = 0; i < r->events.n; i++)
        if (r->events.at[i].kind == TRACE_SKIPPED)
            json_write_string(&j, history_task_name(t, r->events.at[i].id));
    json_write_end_array(&j);
    json_write_key(&j, "files");
    json_write_array(&j);
    for (size_t i = 0; i < r->files.n; i++)
        history_put_file(&j, &r->files.at[i], t);
    json_write_end_array(&j);
    json_write_end_object(&j);
}

/* ---- CSV (RFC 4180) ---- */

/* Quoted only where it must be; a quote inside is doubled. */
void history_csv_text(struct strbuf *out, const char *text)
{
    if (!text)
        return;
    if (!strpbrk(text, ",\"\r\n")) {
        strbuf_add(out, text);
        return;
    }
    strbuf_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            strbuf_add_char(out, '"');
        strbuf_add_char(out, *text);
    }
    strbuf_add_char(out, '"');
}

/* Nothing for what is not known: spreadsheets read an empty cell as such. */
void history_csv_number(struct strbuf *out, double value, char after)
{
    if (isfinite(value))
        strbuf_add_number(out, value);
    strbuf_add_char(out, after);
}

/* Lines end with CR LF, as RFC 4180 says. */
void history_view_list_csv(const history_runs *runs, struct strbuf *out)
{
    strbuf_add(out, "run,workflow,file,folder,host,planner,outcome,started,seconds,tasks,ran,"
                    "reused,failed,skipped,cores,speed,peak_memory\r\n");
    for (size_t i = 0; i < runs->n; i++) {
        const struct run_record *r = &runs->at[i];
        strbuf_printf(out, "%lld,", (long long)r->run);
        const char *const texts[] = {r->name, r->file,    r->folder,
                                     r->host, r->planner, record_outcome_name(r->outcome)};
        for (size_t k = 0; k < 6; k++) {
            history_csv_text(out, texts[k]);
            strbuf_add_char(out, ',');
        }
        history_csv_number(out, r->started, ',');
        history_csv_number(out, r->seconds, ',');
        strbuf_printf(out, "%u,%u,%u,%u,%u,%u,", r->tasks, r->ran, r->reused, r->failed, r->skipped,
                      r->cores);
        history_csv_number(out, r->speed, ',');
        history_csv_number(out, r->peak_memory, '\r');
        strbuf_add_char(out, '\n');
    }
}

void history_view_run_csv(const struct run_record *r, const struct history_tasks *t,
                          struct strbuf *out)
{
    strbuf_add(out, "task,kind,attempt,outcome,status,start,finish,cpu,memory,read,written,node,"
                    "lane,command\r\n");
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind != TRACE_TASK)
            continue;
        history_csv_text(out, history_task_name(t, e->id));
        strbuf_add_char(out, ',');
        history_csv_text(out, history_task_kind(t, e->id));
        strbuf_printf(out, ",%u,%s,%d,", e->attempt, trace_outcome_name(e->outcome), e->status);
        const double figures[] = {e->start, e->finish, e->cpu, e->memory, e->read, e->written};
        for (size_t k = 0; k < 6; k++)
            history_csv_number(out, figures[k], ',');
        struct strbuf command = {0};
        command_readable(r->workflow, e->id, e->attempt, &command);
        strbuf_printf(out, "%u,%u,", e->node, e->lane);
        history_csv_text(out, strbuf_text(&command));
        strbuf_add(out, "\r\n");
        strbuf_free(&command);
    }
}

/* ---- tables ---- */

/* The first `left` columns are texts, the others numbers. */
void history_add_columns(struct table *t, const char *const *titles, size_t left)
{
    for (size_t i = 0; titles[i]; i++)
        table_column(t, titles[i], i < left ? TABLE_LEFT : TABLE_RIGHT);
}

void history_print_table(struct table *t, bool colour, struct strbuf *out)
{
    table_print(t, out, &(struct table_style){.colour = colour, .max_cell = 40});
    table_free(t);
}

/* "sigma=2 f1=0.93": what the question named, of each run. */
void history_facts_cell(struct table *t, const struct run_record *r)
{
    enum { FACTS_SHOWN = 8 };
    struct strbuf text = {0};
    for (size_t i = 0; i < r->facts.n && i < FACTS_SHOWN; i++)
        strbuf_printf(&text, "%s%s=%s", i ? " " : "", r->facts.at[i].name, r->facts.at[i].value);
    if (r->facts.n > FACTS_SHOWN)
        strbuf_add(&text, " ...");
    table_cell(t, strbuf_text(&text));
    strbuf_free(&text);
}

/* Failed and lost runs stand out. */
void history_view_list(const history_runs *runs, bool colour, struct strbuf *out)
{
    struct table *t = table_new();
    table_column(t, "run", TABLE_RIGHT);
    static const char *const titles[] = {"when",   "workflow", "outcome", "ran",
                                         "reused", "failed",   "time",    NULL};
    history_add_columns(t, titles, 3);
    bool facts = false;
    for (size_t i = 0; i < runs->n && !facts; i++)
        facts = runs->at[i].facts.n > 0;
    if (facts)
        table_column(t, "of which", TABLE_LEFT);
    char when[HUMAN_SIZE];
    for (size_t i = 0; i < runs->n; i++) {
        const struct run_record *r = &runs->at[i];
        table_row(t);
        table_printf(t, "%lld", (long long)r->run);
        table_cell(t, human_when(when, r->started));
        table_cell(t, r->name ? r->name : "-");
        table_cell(t, record_outcome_name(r->outcome));
        table_printf(t, "%u", r->ran);
        table_printf(t, "%u", r->reused);
        table_printf(t, "%u", r->failed);
        table_seconds(t, r->seconds);
        if (facts)
            history_facts_cell(t, r);
        if (r->outcome == RECORD_FAILED || r->outcome == RECORD_LOST)
            table_emphasise(t);
    }
    history_print_table(t, colour, out);
}

/* Equal times by number, so that the table repeats. */
static int longest_first(const void *a, const void *b)
{
    const struct trace_event *x = *(const struct trace_event *const *)a,
                             *y = *(const struct trace_event *const *)b;
    double s = x->finish - x->start, t = y->finish - y->start;
    if (s != t)
        return s > t ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Two tables in one: how attempts ended, or what they used. */
static void attempts_table(const struct trace_event **at, size_t n, const struct history_tasks *t,
                           bool endings, bool colour, struct strbuf *out)
{
    struct table *table = table_new();
    static const char *const good[] = {"task",   "kind", "time",    "processor",
                                       "memory", "read", "written", NULL};
    static const char *const bad[] = {"task",    "kind",  "outcome", "status",
                                      "attempt", "after", "time",    NULL};
    history_add_columns(table, endings ? bad : good, endings ? 3 : 2);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const struct trace_event *e = at[i];
        table_row(table);
        table_cell(table, history_task_name(t, e->id));
        table_cell(table, history_task_kind(t, e->id));
        if (endings) {
            table_cell(table, trace_outcome_name(e->outcome));
            if (e->outcome == TRACE_NODE_FAILED)
                table_cell(table, trace_trouble_text(e->status));
            else
                table_printf(table, "%d", e->status);
            table_printf(table, "%u", e->attempt);
            table_seconds(table, e->start);
            table_seconds(table, e->finish - e->start);
        } else {
            table_seconds(table, e->finish - e->start);
            table_seconds(table, e->cpu);
            table_bytes(table, e->memory > 0 ? e->memory : NAN);
            table_bytes(table, e->read);
            table_bytes(table, e->written);
        }
    }
    history_print_table(table, colour, out);
    if (n > SHOWN)
        strbuf_printf(out, "and %zu more\n", n - SHOWN);
}

/* Inputs have no maker. */
static void files_table(const struct run_record *r, const struct history_tasks *t, bool colour,
                        struct strbuf *out)
{
    struct table *table = table_new();
    static const char *const titles[] = {"file", "made by", "size", NULL};
    history_add_columns(table, titles, 2);
    for (size_t i = 0; i < r->files.n && i < SHOWN; i++) {
        const struct record_file *f = &r->files.at[i];
        table_row(table);
        table_cell(table, f->path);
        table_cell(table, f->task == NONE ? "(input)" : history_task_name(t, f->task));
        table_bytes(table, f->size);
    }
    history_print_table(table, colour, out);
    if (r->files.n > SHOWN)
        strbuf_printf(out, "and %zu more\n", r->files.n - SHOWN);
}

/* A text of the record, if there is one; made visible, since it may come from a file. */
static void history_line(struct strbuf *out, const char *name, const char *text)
{
    struct strbuf shown = {0};
    if (text && *text) {
        utf8_add_visible(&shown, text);
        strbuf_printf(out, "  %-10s %s\n", name, strbuf_text(&shown));
    }
    strbuf_free(&shown);
}

/* What was measured beside what was predicted; nothing when neither is known. */
static void history_measured(struct strbuf *out, const char *name, double real, double predicted,
                             char *(*human)(char *, double))
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    if (isnan(real) && isnan(predicted))
        return;
    strbuf_printf(out, "  %-10s %s", name, human(a, real));
    if (!isnan(predicted))
        strbuf_printf(out, " (predicted %s)", human(b, predicted));
    strbuf_add_char(out, '\n');
}

/* Of which of several a figure is that the run states itself: the names of results say it for theirs. */
static void history_labels(const struct run_record *r, const struct record_fact *f,
                           struct strbuf *line)
{
    for (size_t i = 0; f->item && f->sort == FACT_VALUE && i < r->facts.n; i++)
        if (r->facts.at[i].sort == FACT_LABEL && r->facts.at[i].item == f->item)
            strbuf_printf(line, "  (%s %s)", r->facts.at[i].name, r->facts.at[i].value);
}

/* What is known of it by name, a line each; of values of many results the first. */
static void history_facts(const struct run_record *r, const struct history_tasks *t,
                          struct strbuf *out)
{
    enum { FACTS_SHOWN = 40 };
    for (size_t i = 0; i < r->facts.n && i < FACTS_SHOWN; i++) {
        const struct record_fact *f = &r->facts.at[i];
        struct strbuf line = {0};
        if (f->sort == FACT_LABEL)
            continue; /* in the names of the results */
        if (f->sort == FACT_PARAMETER || f->sort == FACT_VALUE)
            strbuf_printf(&line, "%s = %s", f->name, f->value);
        else
            strbuf_add(&line, f->value);
        if (f->task != NONE)
            strbuf_printf(&line, "  (%s)", history_task_name(t, f->task));
        else
            history_labels(r, f, &line);
        history_line(out, fact_sort_name(f->sort), line.at);
        strbuf_free(&line);
    }
    if (r->facts.n > FACTS_SHOWN)
        strbuf_printf(out, "  and %zu more (--json has them all)\n", r->facts.n - FACTS_SHOWN);
}

/* Each cause once: the command, the last lines, what would help. */
static void history_causes(const struct run_record *r, const struct history_tasks *t,
                           struct strbuf *out)
{
    size_t shown = 0;
    for (size_t i = 0; i < r->failures.n && shown < SHOWN; i++) {
        const struct record_failure *f = &r->failures.at[i];
        if (f->cause != i)
            continue;
        strbuf_add(out, shown++ ? "" : "\n");
        utf8_add_visible(out, history_task_name(t, f->task));
        strbuf_add_char(out, '\n');
        if (f->command)
            human_command(out, 2, f->command);
        for (const char *at = f->tail; at && *at;) {
            size_t n = strcspn(at, "\n");
            char *line = mem_copy_bytes(at, n);
            strbuf_add(out, "  | ");
            utf8_add_visible(out, line);
            strbuf_add_char(out, '\n');
            free(line);
            at += n + (at[n] != 0);
        }
        if (f->hint) {
            strbuf_add(out, "  ");
            utf8_add_visible(out, f->hint);
            strbuf_add_char(out, '\n');
        }
    }
}

/* Of a stream, which has no attempts: which items, at which task, and why. */
static void history_given_up(const struct run_record *r, const struct history_tasks *t,
                             struct strbuf *out)
{
    strbuf_add(out, "\nitems that were given up\n\n");
    for (size_t i = 0; i < r->failures.n && i < SHOWN; i++) {
        const struct record_failure *f = &r->failures.at[i];
        strbuf_add(out, "  ");
        utf8_add_visible(out, history_task_name(t, f->task));
        strbuf_add(out, ": ");
        utf8_add_visible(out, f->reason ? f->reason : "it failed");
        strbuf_add_char(out, '\n');
    }
    if (r->failures.n > SHOWN)
        strbuf_printf(out, "  and %zu more (--json has them all)\n", r->failures.n - SHOWN);
}

/* Head, failures, slowest attempts, files: in the order in which they are asked for. */
void history_view_run(const struct run_record *r, const struct history_tasks *t, bool colour,
                      struct strbuf *out)
{
    char when[HUMAN_SIZE];
    struct strbuf name = {0};
    utf8_add_visible(&name, r->name ? r->name : "a workflow");
    strbuf_printf(out, "run %lld: %s, %s\n\n", (long long)r->run, strbuf_text(&name),
                  record_outcome_name(r->outcome));
    strbuf_free(&name);
    history_line(out, "started", human_when(when, r->started));
    history_line(out, "file", r->file);
    history_line(out, "folder", r->folder);
    history_line(out, "host", r->host);
    history_line(out, "planner", r->planner);
    history_line(out, "given", r->given);
    history_line(out, "place", r->place);
    history_line(out, "version", r->version);
    history_line(out, "system", r->system);
    history_facts(r, t, out);
    history_measured(out, "time", r->seconds, r->predicted_seconds, human_seconds);
    history_measured(out, "memory", r->peak_memory, r->predicted_memory, human_bytes);
    history_measured(out, "disk", r->peak_disk, r->predicted_disk, human_bytes);
    strbuf_printf(out, "  %-10s %u: %u ran, %u reused, %u failed%s, %u not run, %u skipped\n",
                  "tasks", r->tasks, r->ran, r->reused, r->failed,
                  r->excused == r->failed && r->failed ? " (and may)" : "", r->skipped - r->untaken,
                  r->untaken);
    /* two lists of pointers: the record itself stays in order */
    const struct trace_event **good = mem_new(const struct trace_event *, r->events.n + 1);
    const struct trace_event **bad = mem_new(const struct trace_event *, r->events.n + 1);
    size_t ngood = 0, nbad = 0;
    for (size_t i = 0; i < r->events.n; i++) {
        const struct trace_event *e = &r->events.at[i];
        if (e->kind == TRACE_TASK && e->outcome == TRACE_DONE)
            good[ngood++] = e;
        else if (e->kind == TRACE_TASK)
            bad[nbad++] = e;
    }
    if (nbad) {
        strbuf_add(out, "\nattempts that failed\n\n");
        attempts_table(bad, nbad, t, true, colour, out);
        history_causes(r, t, out);
    } else if (r->failures.n) {
        history_given_up(r, t, out);
    }
    if (ngood) {
        qsort(good, ngood, sizeof *good, longest_first);
        strbuf_add(out, "\nthe slowest\n\n");
        attempts_table(good, ngood, t, false, colour, out);
    }
    if (r->files.n) {
        strbuf_add(out, "\nfiles\n\n");
        files_table(r, t, colour, out);
    }
    free(good);
    free(bad);
}
