/* Tasks and files that a search of the history found, as tables, JSON and CSV. Reads findings, decides
 * nothing; an answer that is not whole says so in each of them but CSV, which has no place for it. */
#include "report/findings_view.h"

#include "base/digest.h"
#include "report/history_parts.h"
#include "report/human.h"

#include <math.h>

/* ---- JSON ---- */

static void findings_put_task(struct json_writer *j, const struct history_found *f)
{
    const struct trace_event *e = &f->attempt;
    json_put_text(j, "task", f->task);
    json_put_text(j, "kind", f->kind);
    json_put_text(j, "command", f->command);
    json_put_integer(j, "attempt", e->attempt);
    json_put_string(j, "outcome", trace_outcome_name(e->outcome));
    json_put_integer(j, "status", e->status);
    json_put_number(j, "started", f->run.started + e->start);
    json_put_number(j, "seconds", e->finish - e->start);
    json_put_number(j, "cpu", e->cpu);
    json_put_number(j, "memory", e->memory);
    json_put_number(j, "read", e->read);
    json_put_number(j, "written", e->written);
    json_put_integer(j, "node", e->node);
    json_put_integer(j, "core", e->lane);
}

/* A digest of zeros was not computed: null. */
static void findings_put_file(struct json_writer *j, const struct history_found *f)
{
    char text[DIGEST_TEXT];
    json_put_string(j, "path", f->file.path);
    json_put_text(j, "task", f->task);
    json_put_number(j, "size", f->file.size);
    json_put_text(j, "digest",
                  digest_is_zero(&f->file.digest) ? NULL : digest_text(&f->file.digest, text));
    json_put_bool(j, "made", f->file.produced);
    json_put_number(j, "started", f->run.started);
}

void findings_view_json(const history_findings *f, bool files, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-history/1");
    json_put_bool(&j, "whole", f->whole);
    if (!f->whole)
        json_put_integer(&j, "from", f->from);
    json_write_key(&j, files ? "files" : "tasks");
    json_write_array(&j);
    for (size_t i = 0; i < f->list.n; i++) {
        const struct history_found *x = &f->list.at[i];
        json_write_object_inline(&j);
        json_put_integer(&j, "run", x->run.run);
        json_put_text(&j, "workflow", x->run.name);
        json_put_text(&j, "folder", x->run.folder);
        json_put_text(&j, "host", x->run.host);
        if (files)
            findings_put_file(&j, x);
        else
            findings_put_task(&j, x);
        if (x->run.facts.n)
            history_put_facts(&j, &x->run, NULL);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

/* ---- CSV ---- */

static void findings_csv_task(const struct history_found *f, struct strbuf *out)
{
    const struct trace_event *e = &f->attempt;
    const char *const texts[] = {f->task, f->kind, f->command, trace_outcome_name(e->outcome)};
    for (size_t k = 0; k < 4; k++) {
        history_csv_text(out, texts[k]);
        strbuf_add_char(out, ',');
    }
    strbuf_printf(out, "%u,%d,", e->attempt, e->status);
    const double figures[] = {f->run.started + e->start, e->finish - e->start, e->cpu, e->memory,
                              e->read};
    for (size_t k = 0; k < 5; k++)
        history_csv_number(out, figures[k], ',');
    history_csv_number(out, e->written, '\r');
}

static void findings_csv_file(const struct history_found *f, struct strbuf *out)
{
    char text[DIGEST_TEXT];
    history_csv_text(out, f->file.path);
    strbuf_add_char(out, ',');
    history_csv_text(out, f->task);
    strbuf_printf(out, ",%d,", f->file.produced);
    history_csv_number(out, f->file.size, ',');
    if (!digest_is_zero(&f->file.digest))
        strbuf_add(out, digest_text(&f->file.digest, text));
    strbuf_add_char(out, ',');
    history_csv_number(out, f->run.started, '\r');
}

/* Lines end with CR LF, as RFC 4180 says. */
void findings_view_csv(const history_findings *f, bool files, struct strbuf *out)
{
    strbuf_add(out, files ? "run,workflow,folder,host,path,task,made,size,digest,started\r\n"
                          : "run,workflow,folder,host,task,kind,command,outcome,attempt,status,"
                            "started,seconds,cpu,memory,read,written\r\n");
    for (size_t i = 0; i < f->list.n; i++) {
        const struct history_found *x = &f->list.at[i];
        const char *const texts[] = {x->run.name, x->run.folder, x->run.host};
        strbuf_printf(out, "%lld,", (long long)x->run.run);
        for (size_t k = 0; k < 3; k++) {
            history_csv_text(out, texts[k]);
            strbuf_add_char(out, ',');
        }
        if (files)
            findings_csv_file(x, out);
        else
            findings_csv_task(x, out);
        strbuf_add_char(out, '\n');
    }
}

/* ---- tables ---- */

/* What did not end well stands out. */
static void findings_task_cells(struct table *t, const struct history_found *f)
{
    const struct trace_event *e = &f->attempt;
    char when[HUMAN_SIZE];
    table_cell(t, human_when(when, f->run.started + e->start));
    table_cell(t, f->task ? f->task : "?");
    table_cell(t, f->run.name ? f->run.name : "-");
    table_cell(t, trace_outcome_name(e->outcome));
    table_seconds(t, e->finish - e->start);
    table_bytes(t, e->memory > 0 ? e->memory : NAN);
    if (e->outcome != TRACE_DONE)
        table_emphasise(t);
}

/* Twelve digits of the digest: enough for people to tell contents apart. */
static void findings_file_cells(struct table *t, const struct history_found *f)
{
    enum { DIGITS = 12 };
    char when[HUMAN_SIZE], text[DIGEST_TEXT] = "-";
    if (!digest_is_zero(&f->file.digest))
        digest_text(&f->file.digest, text);
    table_cell(t, human_when(when, f->run.started));
    table_cell(t, f->file.path);
    table_cell(t, f->run.name ? f->run.name : "-");
    table_cell(t, f->task ? f->task : "(input)");
    table_printf(t, "%.*s", DIGITS, text);
    table_bytes(t, f->file.size);
}

void findings_view(const history_findings *f, bool files, bool colour, struct strbuf *out)
{
    static const char *const of_tasks[] = {"when", "task",   "workflow", "outcome",
                                           "time", "memory", NULL};
    static const char *const of_files[] = {"when",   "file", "workflow", "made by",
                                           "digest", "size", NULL};
    struct table *t = table_new();
    bool facts = false;
    table_column(t, "run", TABLE_RIGHT);
    history_add_columns(t, files ? of_files : of_tasks, files ? 5 : 4);
    for (size_t i = 0; i < f->list.n && !facts; i++)
        facts = f->list.at[i].run.facts.n > 0;
    if (facts)
        table_column(t, "of which", TABLE_LEFT);
    for (size_t i = 0; i < f->list.n; i++) {
        table_row(t);
        table_printf(t, "%lld", (long long)f->list.at[i].run.run);
        if (files)
            findings_file_cells(t, &f->list.at[i]);
        else
            findings_task_cells(t, &f->list.at[i]);
        if (facts)
            history_facts_cell(t, &f->list.at[i].run);
    }
    history_print_table(t, colour, out);
}
