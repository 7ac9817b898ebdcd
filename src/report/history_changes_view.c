/* Two runs side by side, as text and as JSON: what differs in parameters, values, commands and files,
 * which kinds and which tasks took longer. */
#include "base/utf8.h"
#include "history/changes.h"
#include "report/history_view.h"
#include "report/human.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHOWN 10 /* rows of each table: what changed most stands first */

/* NAN on one side (the task ran in one run only) becomes null. */
static void changes_put_rows(struct json_writer *j, const char *key,
                             const history_change_list *rows, bool tasks)
{
    json_write_key(j, key);
    json_write_array(j);
    for (size_t i = 0; i < rows->n; i++) {
        const struct history_change *r = &rows->at[i];
        json_write_object_inline(j);
        json_put_string(j, tasks ? "task" : "kind", r->name);
        if (tasks) {
            json_put_string(j, "kind", r->kind);
        } else {
            json_put_integer(j, "tasks_before", r->n_a);
            json_put_integer(j, "tasks_after", r->n_b);
        }
        json_put_number(j, "before", r->a);
        json_put_number(j, "after", r->b);
        json_put_number(j, "ratio", r->a > 0 ? r->b / r->a : NAN);
        json_put_number(j, "memory_before", r->memory_a);
        json_put_number(j, "memory_after", r->memory_b);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* All of them: null where one of the runs has no such thing. */
static void changes_put_differences(struct json_writer *j, const struct history_changes *c)
{
    json_write_key(j, "differences");
    json_write_array(j);
    for (size_t i = 0; i < c->differences.n; i++) {
        const struct history_difference *d = &c->differences.at[i];
        json_write_object_inline(j);
        json_put_string(j, "what", d->what);
        json_put_string(j, "name", d->name);
        json_put_text(j, "before", d->a);
        json_put_text(j, "after", d->b);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* Twenty for people; a digest by its first part, which tells files apart. */
static void changes_print_differences(const struct history_changes *c, bool colour,
                                      struct strbuf *out)
{
    enum { DIFFERENCES = 20, DIGEST_SHOWN = 12 };
    struct table *t = table_new();
    char title[2][32];
    table_column(t, "differs", TABLE_LEFT);
    table_column(t, "", TABLE_LEFT);
    for (int i = 0; i < 2; i++) {
        snprintf(title[i], sizeof title[i], "run %lld", (long long)c->run[i].run);
        table_column(t, title[i], TABLE_LEFT);
    }
    for (size_t i = 0; i < c->differences.n && i < DIFFERENCES; i++) {
        const struct history_difference *d = &c->differences.at[i];
        bool file = strcmp(d->what, "file") == 0;
        table_row(t);
        table_cell(t, d->what);
        table_cell(t, d->name);
        table_printf(t, "%.*s", file ? DIGEST_SHOWN : 1000, d->a ? d->a : "-");
        table_printf(t, "%.*s", file ? DIGEST_SHOWN : 1000, d->b ? d->b : "-");
    }
    if (c->differences.n) {
        strbuf_add_char(out, '\n');
        table_print(t, out, &(struct table_style){.colour = colour, .max_cell = 40});
    } else {
        strbuf_add(out, "\nno parameter, value, command or file differs\n");
    }
    if (c->differences.n > DIFFERENCES)
        strbuf_printf(out, "and %zu more (--json has them all)\n", c->differences.n - DIFFERENCES);
    table_free(t);
}

void history_view_changes_json(const struct history_changes *c, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-history/1");
    json_write_key(&j, "compare");
    json_write_array(&j);
    for (int i = 0; i < 2; i++) {
        json_write_object_inline(&j);
        history_view_head(&j, &c->run[i]);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    changes_put_differences(&j, c);
    changes_put_rows(&j, "kinds", &c->kinds, false);
    changes_put_rows(&j, "tasks", &c->tasks, true);
    json_write_end_object(&j);
}

/* Rows are sorted by change: the slower half from the front, the faster from the back. */
static void changes_print_rows(const history_change_list *rows, bool tasks, bool slower,
                               const struct history_changes *c, bool colour, struct strbuf *out)
{
    struct table *t = table_new();
    char title[32], ratio[32];
    table_column(t, tasks ? "task" : "kind", TABLE_LEFT);
    if (tasks)
        table_column(t, "kind", TABLE_LEFT);
    else
        table_column(t, "tasks", TABLE_RIGHT);
    snprintf(title, sizeof title, "run %lld", (long long)c->run[0].run);
    table_column(t, title, TABLE_RIGHT);
    snprintf(title, sizeof title, "run %lld", (long long)c->run[1].run);
    table_column(t, title, TABLE_RIGHT);
    table_column(t, "change", TABLE_RIGHT);
    size_t shown = 0;
    for (size_t i = 0; i < rows->n && shown < SHOWN; i++) {
        const struct history_change *r = &rows->at[slower ? i : rows->n - 1 - i];
        if (tasks && !(slower ? history_change_of(r) > 0 : history_change_of(r) < 0))
            continue;
        shown++;
        table_row(t);
        table_cell(t, r->name);
        if (tasks)
            table_cell(t, r->kind);
        else if (r->n_a == r->n_b)
            table_printf(t, "%u", r->n_a);
        else
            table_printf(t, "%u, %u", r->n_a, r->n_b);
        table_seconds(t, r->a);
        table_seconds(t, r->b);
        snprintf(ratio, sizeof ratio, "%+.1f %%", 100 * (r->b / r->a - 1));
        table_cell(t, r->a > 0 && !isnan(r->b) ? ratio : "-");
    }
    if (shown) {
        strbuf_add(out, !tasks   ? "\nmean time by kind\n\n"
                        : slower ? "\ngot slower\n\n"
                                 : "\ngot faster\n\n");
        table_print(t, out, &(struct table_style){.colour = colour, .max_cell = 40});
    }
    table_free(t);
}

/* How many tasks each run has for itself: times of such tasks cannot be compared. */
void history_view_changes(const struct history_changes *c, bool colour, struct strbuf *out)
{
    char when[HUMAN_SIZE], time[HUMAN_SIZE];
    uint32_t only[2] = {0, 0};
    for (size_t i = 0; i < c->tasks.n; i++) {
        only[0] += !isnan(c->tasks.at[i].a) && isnan(c->tasks.at[i].b);
        only[1] += isnan(c->tasks.at[i].a) && !isnan(c->tasks.at[i].b);
    }
    for (int i = 0; i < 2; i++) {
        const struct run_record *r = &c->run[i];
        struct strbuf name = {0};
        utf8_add_visible(&name, r->name ? r->name : "-");
        strbuf_printf(out, "run %lld: %s, %s, %s, %s; %u ran (%u only in this one)\n",
                      (long long)r->run, strbuf_text(&name), human_when(when, r->started),
                      record_outcome_name(r->outcome), human_seconds(time, r->seconds), r->ran,
                      only[i]);
        strbuf_free(&name);
    }
    changes_print_differences(c, colour, out);
    changes_print_rows(&c->kinds, false, true, c, colour, out);
    changes_print_rows(&c->tasks, true, true, c, colour, out);
    changes_print_rows(&c->tasks, true, false, c, colour, out);
}
