/* The dry run as a table and as JSON: tasks in topological order, with the reason of each. */
#include "report/dry_run.h"

#include "base/json.h"
#include "base/utf8.h"
#include "model/command.h"
#include "report/human.h"
#include "report/table.h"

enum { SHOWN = 40 }; /* rows of the table: two screens; --json lists all */

void dry_run_nothing(const char *name, uint32_t tasks, struct strbuf *out)
{
    char count[HUMAN_SIZE];
    strbuf_printf(out, "%s: nothing to do: %s task%s up to date\n", name, human_count(count, tasks),
                  tasks == 1 ? " is" : "s are");
}

/* Every task that would run, with the reason as a word and as a sentence. */
void dry_run_json(const struct dry_run *d, struct strbuf *out)
{
    const struct workflow *w = d->workflow;
    struct json_writer j;
    struct strbuf why = {0};
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-dry-run/1");
    json_put_string(&j, "workflow", d->name);
    json_put_integer(&j, "tasks", w->ntasks);
    json_put_integer(&j, "run", d->needs->run);
    json_put_integer(&j, "done", d->needs->skip);
    json_put_integer(&j, "cores", d->cores);
    json_put_number(&j, "predicted_seconds", d->total);
    json_put_number(&j, "predicted_memory", d->peak);
    json_put_number(&j, "predicted_disk", d->disk);
    json_put_integer(&j, "predicted_tasks", d->known);
    json_write_key(&j, "would_run");
    json_write_array(&j);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        if (d->needs->task[t] == NEED_NOT)
            continue;
        strbuf_clear(&why);
        need_explain(d->needs, t, &why);
        json_write_object_inline(&j);
        json_put_string(&j, "task", workflow_task_name(w, t));
        json_put_string(&j, "why", need_name(d->needs->task[t]));
        json_put_string(&j, "because", why.at);
        strbuf_clear(&why);
        if (command_readable(w, t, 1, &why))
            json_put_string(&j, "command", strbuf_text(&why));
        json_put_number(&j, "seconds", d->seconds[t]);
        json_put_number(&j, "memory", d->memory[t]);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
    strbuf_add_char(out, '\n');
    strbuf_free(&why);
}

/* Says how much of it is a guess. */
static void dry_run_prediction(const struct dry_run *d, struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];
    uint32_t unknown = d->workflow->ntasks - d->known;
    strbuf_printf(out, "predicted: %s on %u core%s, peak memory %s, peak disk %s",
                  human_seconds(a, d->total), d->cores, d->cores == 1 ? "" : "s",
                  human_bytes(b, d->peak), human_bytes(c, d->disk));
    if (unknown)
        strbuf_printf(out, " (%u task%s without a time stated or seen count as %g s)", unknown,
                      unknown == 1 ? "" : "s", d->default_seconds);
    strbuf_add_char(out, '\n');
}

/* With commands a table would be too wide: a paragraph a task. */
static void dry_run_paragraph(const struct dry_run *d, uint32_t task, struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    struct strbuf text = {0};
    utf8_add_visible(out, workflow_task_name(d->workflow, task));
    strbuf_printf(out, "  (%s, %s)  ", human_seconds(a, d->seconds[task]),
                  human_bytes(b, d->memory[task]));
    need_explain(d->needs, task, &text);
    utf8_add_visible(out, strbuf_text(&text));
    strbuf_add_char(out, '\n');
    strbuf_clear(&text);
    if (command_readable(d->workflow, task, 1, &text))
        human_command(out, 2, strbuf_text(&text));
    strbuf_free(&text);
}

/* The first of them; how many. */
static uint32_t dry_run_paragraphs(const struct dry_run *d, struct strbuf *out)
{
    const struct workflow *w = d->workflow;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < w->ntasks && shown < SHOWN; i++)
        if (d->needs->task[w->topo[i]] != NEED_NOT) {
            dry_run_paragraph(d, w->topo[i], out);
            shown++;
        }
    return shown;
}

/* In topological order: a task stands below those that make it run. */
static uint32_t dry_run_table(const struct dry_run *d, bool colour, struct strbuf *out)
{
    const struct workflow *w = d->workflow;
    struct strbuf why = {0};
    struct table *t = table_new();
    table_column(t, "task", TABLE_LEFT);
    table_column(t, "time", TABLE_RIGHT);
    table_column(t, "memory", TABLE_RIGHT);
    table_column(t, "why", TABLE_LEFT);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < w->ntasks && shown < SHOWN; i++) {
        uint32_t task = w->topo[i];
        if (d->needs->task[task] == NEED_NOT)
            continue;
        strbuf_clear(&why);
        need_explain(d->needs, task, &why);
        table_row(t);
        table_cell(t, workflow_task_name(w, task));
        table_seconds(t, d->seconds[task]);
        table_bytes(t, d->memory[task]);
        table_cell(t, why.at);
        shown++;
    }
    table_print(t, out, &(struct table_style){.colour = colour});
    table_free(t);
    strbuf_free(&why);
    return shown;
}

void dry_run_text(const struct dry_run *d, bool colour, struct strbuf *out)
{
    const struct workflow *w = d->workflow;
    char count[HUMAN_SIZE];
    if (!d->needs->run) {
        dry_run_nothing(d->name, w->ntasks, out);
        return;
    }
    uint32_t shown = d->commands ? dry_run_paragraphs(d, out) : dry_run_table(d, colour, out);
    if (d->needs->run > shown)
        strbuf_printf(out, "... and %s more (--json lists them all)\n",
                      human_count(count, d->needs->run - shown));
    strbuf_printf(out, "\n%s: would run %u of %u tasks\n", d->name, d->needs->run, w->ntasks);
    dry_run_prediction(d, out);
}
