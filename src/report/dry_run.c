/* The dry run as a table and as JSON: tasks in topological order, with the reason of each. */
#include "report/dry_run.h"

#include "base/json.h"
#include "base/utf8.h"
#include "base/plural.h"
#include "model/command.h"
#include "report/families.h"
#include "model/future.h"
#include "report/human.h"
#include "report/table.h"

#include <math.h>

enum { SHOWN = 40 }; /* rows of the table: two screens; --json lists all */

void dry_run_nothing(const char *name, uint32_t tasks, uint32_t skipped, uint32_t restored,
                     struct strbuf *out)
{
    char count[HUMAN_SIZE];
    uint32_t done = tasks - skipped - restored;
    strbuf_printf(out, "%s: nothing to %s: ", name, restored ? "compute" : "do");
    if (restored)
        strbuf_printf(out, "restored %s%s", human_count(count, restored), done ? ", " : "");
    if (skipped && !done && !restored)
        strbuf_printf(out, "%s%s task%s skipped (--why TASK says why)", skipped == 1 ? "" : "all ",
                      human_count(count, skipped), skipped == 1 ? " is" : "s are");
    else if (done || !restored)
        strbuf_printf(out, "%s task%s up to date", human_count(count, done),
                      done == 1 ? " is" : "s are");
    if (skipped && (done || restored))
        strbuf_printf(out, ", %s skipped", human_count(count, skipped));
    strbuf_add_char(out, '\n');
}

/* A line each of tasks that do not run for a reason worth saying: NEED_SKIPPED, what is known now not
 * to be taken (the rest is decided when it could start); NEED_KEPT. */
static void dry_run_unrun(const struct dry_run *d, enum need need, uint32_t count, const char *are,
                          struct strbuf *out)
{
    const struct workflow *w = d->workflow;
    struct strbuf why = {0};
    uint32_t shown = 0;
    for (uint32_t i = 0; i < w->ntasks && shown < SHOWN; i++) {
        uint32_t task = w->topo[i];
        if (d->needs->task[task] != need)
            continue;
        strbuf_clear(&why);
        need_explain(d->needs, task, &why);
        utf8_add_visible(out, workflow_task_name(w, task));
        strbuf_add_char(out, ' ');
        utf8_add_visible(out, strbuf_text(&why));
        strbuf_add_char(out, '\n');
        shown++;
    }
    if (count > shown)
        strbuf_printf(out, "... and %u more are %s (--json lists them all)\n", count - shown, are);
    strbuf_free(&why);
}

static void dry_run_skipped(const struct dry_run *d, struct strbuf *out)
{
    dry_run_unrun(d, NEED_KEPT, d->needs->kept, "restored", out);
    dry_run_unrun(d, NEED_SKIPPED, d->needs->untaken, "skipped", out);
}

static void dry_run_unknown_json(const struct dry_run *d, struct json_writer *j)
{
    struct future *f = d->workflow->future;
    size_t items = f ? f->ops->items(f) : 0, of = 0;
    if (!items)
        return;
    json_write_key(j, "unknown");
    json_write_array(j);
    for (size_t i = 0; i < items; i++) {
        struct future_item item = f->ops->item(f, i);
        const char *name;
        json_write_object(j);
        json_put_string(j, "waits_for", item.name);
        json_put_integer(j, "last_time", item.last_time);
        json_write_key(j, "tasks");
        json_write_array(j);
        for (size_t k = 0; (name = f->ops->unknown(f, k, &of)) != NULL; k++)
            if (of == i)
                json_write_string(j, name);
        json_write_end_array(j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void dry_run_unrun_json(const struct dry_run *d, enum need need, const char *key,
                               struct json_writer *j)
{
    const struct workflow *w = d->workflow;
    struct strbuf why = {0};
    json_write_key(j, key);
    json_write_array(j);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        if (d->needs->task[w->topo[i]] != need)
            continue;
        strbuf_clear(&why);
        need_explain(d->needs, w->topo[i], &why);
        json_write_object_inline(j);
        json_put_string(j, "task", workflow_task_name(w, w->topo[i]));
        json_put_string(j, "because", strbuf_text(&why));
        json_write_end_object(j);
    }
    json_write_end_array(j);
    strbuf_free(&why);
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
    json_put_number(&j, "predicted_seconds", d->no_time ? NAN : d->total);
    json_put_number(&j, "predicted_memory", d->no_memory ? NAN : d->peak);
    json_put_number(&j, "predicted_disk", d->no_size ? NAN : d->disk);
    json_put_number(&j, "at_least_seconds", d->total);
    json_put_integer(&j, "predicted_tasks", d->known);
    json_write_key(&j, "would_run");
    json_write_array(&j);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        if (!need_runs(d->needs, t))
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
    if (d->needs->kept)
        dry_run_unrun_json(d, NEED_KEPT, "restored", &j);
    dry_run_unrun_json(d, NEED_SKIPPED, "skipped", &j);
    dry_run_unknown_json(d, &j);
    json_write_end_object(&j);
    strbuf_add_char(out, '\n');
    strbuf_free(&why);
}

/* "unknown" where nothing is known, "at least" where something is not. */
static void dry_run_figure(struct strbuf *out, const struct dry_run *d, uint32_t unknown,
                           const char *value)
{
    if (unknown && (unknown >= d->needs->run || !*value))
        strbuf_add(out, "unknown");
    else
        strbuf_printf(out, "%s%s", unknown ? "at least " : "", value);
}

/* Promises nothing that is not known. */
static void dry_run_prediction(const struct dry_run *d, struct strbuf *out)
{
    char a[HUMAN_SIZE];
    strbuf_add(out, "predicted: ");
    dry_run_figure(out, d, d->no_time, human_seconds(a, d->total));
    strbuf_printf(out, " on %u core%s, peak memory ", d->cores, plural(d->cores));
    dry_run_figure(out, d, d->no_memory, human_bytes(a, d->peak));
    strbuf_add(out, ", peak disk ");
    dry_run_figure(out, d, d->no_size, d->disk > 0 || !d->no_size ? human_bytes(a, d->disk) : "");
    if (d->no_time)
        strbuf_printf(out, " (%u task%s without a time stated or seen)", d->no_time,
                      plural(d->no_time));
    strbuf_add_char(out, '\n');
}

/* Members of a family that run for the same sort of reason are one line when they are many. */
enum { ALIKE = 5 };
struct dry_run_group {
    uint32_t first, count;
    double seconds, memory; /* together; the largest */
};
struct dry_run_groups {
    struct intern known;
    ARRAY(struct dry_run_group) at;
    uint32_t *of; /* per task; NONE: a line of its own */
};

/* By family and sort of reason: a line that says why for one says it for all of them. O(tasks). */
static void dry_run_find_groups(const struct dry_run *d, struct dry_run_groups *g)
{
    const struct workflow *w = d->workflow;
    struct strbuf key = {0};
    *g = (struct dry_run_groups){.of = mem_new(uint32_t, (size_t)w->ntasks + 1)};
    intern_init(&g->known);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        g->of[t] = NONE;
        if (!need_runs(d->needs, t) || !families_is_member(w, t))
            continue;
        strbuf_clear(&key);
        strbuf_printf(&key, "%d %s", (int)d->needs->task[t], workflow_text(w, w->kind[t]));
        uint32_t k = g->of[t] = intern_number(&g->known, key.at, key.n);
        if (k == g->at.n)
            array_push(&g->at, (struct dry_run_group){.first = t});
        struct dry_run_group *x = &g->at.at[k];
        x->count++;
        x->seconds += d->seconds[t];
        /* one that is not known makes the sum, and the largest, not known */
        x->memory = isnan(d->memory[t]) || d->memory[t] > x->memory ? d->memory[t] : x->memory;
    }
    strbuf_free(&key);
}

static void dry_run_groups_free(struct dry_run_groups *g)
{
    intern_free(&g->known);
    array_free(&g->at);
    free(g->of);
}

/* The line that the task stands in; NULL: none, another one stands for it. `alone` is filled in for a
 * task that is its own. */
static const struct dry_run_group *dry_run_line(const struct dry_run *d,
                                                const struct dry_run_groups *g, uint32_t task,
                                                struct dry_run_group *alone)
{
    const struct dry_run_group *x = g->of[task] == NONE ? NULL : &g->at.at[g->of[task]];
    if (!need_runs(d->needs, task) || (x && x->count > ALIKE && x->first != task))
        return NULL;
    if (x && x->count > ALIKE)
        return x;
    *alone = (struct dry_run_group){task, 1, d->seconds[task], d->memory[task]};
    return alone;
}

/* With commands a table would be too wide: a paragraph a task. */
static void dry_run_paragraph(const struct dry_run *d, const struct dry_run_group *x,
                              struct strbuf *out)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    uint32_t task = x->first;
    struct strbuf text = {0};
    families_add_label(d->workflow, task, x->count - 1, &text);
    utf8_add_visible(out, text.at);
    strbuf_printf(out, "  (%s, %s)  ",
                  isnan(x->seconds) ? "time unknown" : human_seconds(a, x->seconds),
                  isnan(x->memory) ? "memory unknown" : human_bytes(b, x->memory));
    strbuf_clear(&text);
    need_explain(d->needs, task, &text);
    utf8_add_visible(out, strbuf_text(&text));
    strbuf_add_char(out, '\n');
    strbuf_clear(&text);
    if (command_readable(d->workflow, task, 1, &text))
        human_command(out, 2, strbuf_text(&text));
    human_environment(out, 2, d->workflow, task);
    strbuf_free(&text);
}

/* The first of them; how many tasks. */
static uint32_t dry_run_paragraphs(const struct dry_run *d, const struct dry_run_groups *g,
                                   struct strbuf *out)
{
    const struct workflow *w = d->workflow;
    struct dry_run_group alone;
    uint32_t shown = 0, lines = 0;
    for (uint32_t i = 0; i < w->ntasks && lines < SHOWN; i++) {
        const struct dry_run_group *x = dry_run_line(d, g, w->topo[i], &alone);
        if (!x)
            continue;
        dry_run_paragraph(d, x, out);
        shown += x->count;
        lines++;
    }
    return shown;
}

/* In topological order: a task stands below those that make it run. */
static uint32_t dry_run_table(const struct dry_run *d, const struct dry_run_groups *g, bool colour,
                              struct strbuf *out)
{
    const struct workflow *w = d->workflow;
    struct dry_run_group alone;
    struct strbuf text = {0};
    struct table *t = table_new();
    table_column(t, "task", TABLE_LEFT);
    table_column(t, "time", TABLE_RIGHT);
    table_column(t, "memory", TABLE_RIGHT);
    table_column(t, "why", TABLE_LEFT);
    uint32_t shown = 0, lines = 0;
    for (uint32_t i = 0; i < w->ntasks && lines < SHOWN; i++) {
        const struct dry_run_group *x = dry_run_line(d, g, w->topo[i], &alone);
        if (!x)
            continue;
        strbuf_clear(&text);
        families_add_label(w, x->first, x->count - 1, &text);
        table_row(t);
        table_cell(t, text.at);
        table_seconds(t, x->seconds);
        table_bytes(t, x->memory);
        strbuf_clear(&text);
        need_explain(d->needs, x->first, &text);
        table_cell(t, text.at);
        shown += x->count;
        lines++;
    }
    table_print(t, out, &(struct table_style){.colour = colour});
    table_free(t);
    strbuf_free(&text);
    return shown;
}

/* What joins while it runs: which tasks and families, when, and how much it was last time. */
static void dry_run_unknown(const struct dry_run *d, struct strbuf *out)
{
    struct future *f = d->workflow->future;
    size_t items = f ? f->ops->items(f) : 0, of = 0;
    for (size_t i = 0; i < items; i++) {
        struct future_item item = f->ops->item(f, i);
        const char *name;
        size_t count = 0;
        strbuf_add(out, "not known yet: ");
        for (size_t k = 0; (name = f->ops->unknown(f, k, &of)) != NULL; k++)
            if (of == i && count++ < SHOWN) {
                strbuf_add(out, count > 1 ? ", " : "");
                utf8_add_visible(out, name);
            }
        strbuf_printf(out, " (%s", item.name);
        if (item.last_time)
            strbuf_printf(out, ": %u last time", item.last_time);
        strbuf_add(out, ")\n");
    }
}

void dry_run_text(const struct dry_run *d, bool colour, struct strbuf *out)
{
    const struct workflow *w = d->workflow;
    char count[HUMAN_SIZE];
    if (!d->needs->run) {
        dry_run_skipped(d, out);
        dry_run_nothing(d->name, w->ntasks, d->needs->untaken, d->needs->kept, out);
        return;
    }
    struct dry_run_groups g;
    dry_run_find_groups(d, &g);
    uint32_t shown =
        d->commands ? dry_run_paragraphs(d, &g, out) : dry_run_table(d, &g, colour, out);
    dry_run_groups_free(&g);
    if (d->needs->run > shown)
        strbuf_printf(out, "... and %s more (--json lists them all)\n",
                      human_count(count, d->needs->run - shown));
    dry_run_skipped(d, out);
    strbuf_add_char(out, '\n');
    utf8_add_visible(out, d->name);
    strbuf_printf(out, ": would run %u of %u task%s", d->needs->run, w->ntasks, plural(w->ntasks));
    if (d->needs->kept)
        strbuf_printf(out, ", restored %u", d->needs->kept);
    strbuf_add_char(out, '\n');
    dry_run_unknown(d, out);
    dry_run_prediction(d, out);
}
