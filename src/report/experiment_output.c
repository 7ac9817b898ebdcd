/* Views of an experiment: its combinations and results, the work with and without reuse. */
#include "report/experiment_output.h"
#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "report/human.h"
#include "report/table.h"
#include "base/tree.h"
#include "base/plural.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A result with figures is a short text; a table wider than any screen helps nobody. */
enum { LARGEST_FIGURES = 65536, MOST_COLUMNS = 64 }; /* bytes of a file; columns of a table */

/* ---- figures in results ---- */

/* A table of texts: a row a combination, a column a name, in the order of first sight. */
struct figures {
    struct intern names;
    struct pool text;
    ARRAY(str_id) cell; /* rows of MOST_COLUMNS; 0: empty */
};

static void experiment_figures_free(struct figures *f)
{
    if (f->cell.n) {
        intern_free(&f->names);
        pool_free(&f->text);
    }
    array_free(&f->cell);
}

/* By its path or by its last part: people say score.txt for results/score.txt. */
static bool is_named(const struct workflow *w, uint32_t object, const char *name)
{
    const char *own = workflow_text(w, w->object_name[object]);
    return strcmp(own, name) == 0 || strcmp(file_basename(own), name) == 0;
}

/* --values "score_{res}.txt": the name that it is in a combination, with that one's values. */
static const char *values_name(const struct expansion *e, uint32_t combination, struct strbuf *out)
{
    const struct experiment *x = &e->x;
    const uint32_t *row = e->merged->choice + (size_t)combination * e->merged->nsubstitutions;
    strbuf_clear(out);
    for (const char *at = e->values; *at;) {
        const struct alternative *filled = NULL;
        size_t length = *at == '{' ? strcspn(at, "}") : 0;
        for (size_t s = 0; length && s < x->substitutions.n; s++) {
            const struct substitution *sub = &x->substitutions.at[s];
            if (sub->target == SUBSTITUTE_PARAMETER && row[s] != CHOICE_ORIGINAL &&
                strlen(sub->what) == length - 1 && memcmp(sub->what, at + 1, length - 1) == 0)
                filled = &sub->by.at[row[s]];
        }
        if (filled)
            strbuf_add(out, filled->text);
        else
            strbuf_add_char(out, *at);
        at += filled ? length + 1 : 1;
    }
    return strbuf_text(out);
}

/* Results are what nobody reads further: objects with a producer and no consumer. Each reading of the
 * file is asked once, with its first combination. */
bool experiment_has_values(const struct expansion *e, struct error *err)
{
    const struct workflow *w;
    const struct merged *m = e->merged;
    struct strbuf name = {0};
    ARRAY(const char *) known = {0};
    bool found = !e->values;
    for (uint32_t c = 0, next = 0; c < m->ncombinations && !found; c++) {
        if (m->reading_of[c] != next)
            continue;
        next++;
        w = merged_original(m, c);
        values_name(e, c, &name);
        for (uint32_t o = 0; o < w->nobjects; o++)
            if (w->producer[o] != NONE && w->object_edge[o] == NONE) {
                array_push(&known, workflow_text(w, w->object_name[o]));
                found |= is_named(w, o, strbuf_text(&name));
            }
    }
    strbuf_free(&name);
    size_t n = known.n;
    const char **names = known.at;
    if (!found) {
        const char *near = suggest_nearest(e->values, names, n);
        error_set(err, ERROR_INPUT, "--values %s: no result of %s has that name%s%s%s", e->values,
                  e->x.workflow,
                  near ? "; did you mean '"
                  : n  ? "; one is '"
                       : "",
                  near ? near
                  : n  ? names[0]
                       : "",
                  near ? "'?"
                  : n  ? "'"
                       : "");
    }
    array_free(&known);
    return found;
}

/* "name value" lines into a row. A text of one word is a figure by itself. */
static void read_figures(struct figures *f, const char *name, char *text, str_id *row)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        size_t n = strcspn(line, " \t:=,");
        const char *value = line + n + strspn(line + n, " \t:=,");
        const char *key = *value ? line : name;
        if (!*value)
            value = line;
        uint32_t column = intern_number(&f->names, key, key == line ? n : strlen(key));
        if (!*line || column >= MOST_COLUMNS || row[column])
            continue;
        row[column] = pool_add(&f->text, value, strlen(value));
    }
}

/* Files that are not there yet leave their row empty: the table shows how far the runs have come. */
static void figures_read(const struct expansion *e, struct figures *f)
{
    const struct merged *m = e->merged;
    uint32_t most = merged_most_results(m);
    uint32_t *object = mem_new(uint32_t, most), *original = mem_new(uint32_t, most);
    struct strbuf path = {0}, name = {0};
    char *folder = file_beside(e->x.workflow, ".");
    intern_init(&f->names);
    pool_init(&f->text);
    for (uint32_t c = 0; c < m->ncombinations; c++) {
        for (int i = 0; i < MOST_COLUMNS; i++)
            array_push(&f->cell, 0);
        uint32_t n = merged_results(m, c, object, original);
        for (uint32_t i = 0; i < n; i++) {
            struct stat st;
            struct text text;
            if (!is_named(merged_original(m, c), original[i], values_name(e, c, &name)))
                continue;
            path_in(folder, workflow_text(m->workflow, m->workflow->object_name[object[i]]), &path);
            if (stat(path.at, &st) != 0 || st.st_size > LARGEST_FIGURES ||
                !file_read(path.at, &text, NULL))
                continue; /* not there yet, or nothing to tabulate */
            read_figures(f, e->values, text.at, f->cell.at + (size_t)c * MOST_COLUMNS);
            text_free(&text);
        }
    }
    free(folder);
    free(object);
    free(original);
    strbuf_free(&path);
    strbuf_free(&name);
}

/* More names than columns: the first ones are shown. */
static uint32_t figures_columns(const struct figures *f)
{
    return f->names.n < MOST_COLUMNS ? f->names.n : MOST_COLUMNS;
}

/* Only what the result of this combination has. */
static void values_json(const struct figures *f, uint32_t combination, struct json_writer *j)
{
    const str_id *row = f->cell.at + (size_t)combination * MOST_COLUMNS;
    json_write_key(j, "values");
    json_write_object(j);
    for (uint32_t k = 0; k < figures_columns(f); k++)
        if (row[k])
            json_put_string(j, intern_text(&f->names, k), pool_text(&f->text, row[k]));
    json_write_end_object(j);
}

/* ---- combinations ---- */

/* The results of one combination, in one cell. */
static void list_files(const struct expansion *e, uint32_t combination, uint32_t *object,
                       struct strbuf *out)
{
    const struct merged *m = e->merged;
    char label[512];
    uint32_t n = merged_results(m, combination, object, NULL);
    strbuf_clear(out);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_add(out, i ? " " : "");
        strbuf_add(out, workflow_object_label(m->workflow, object[i], label, sizeof label));
    }
}

/* Rows as m->choice has them. A result that several combinations share stands in the row of each. */
void experiment_results(const struct expansion *e, bool colour, struct strbuf *out)
{
    const struct experiment *x = &e->x;
    const struct merged *m = e->merged;
    uint32_t *object = mem_new(uint32_t, merged_most_results(m));
    struct strbuf files = {0};
    struct figures f = {0};
    struct table *t = table_new();
    if (e->values)
        figures_read(e, &f);
    uint32_t columns = e->values ? figures_columns(&f) : 0;
    for (size_t i = 0; i < x->substitutions.n; i++)
        table_column(t, x->substitutions.at[i].name, TABLE_LEFT);
    for (uint32_t k = 0; k < columns; k++)
        table_column(t, intern_text(&f.names, k), TABLE_RIGHT);
    table_column(t, columns ? "" : "results", TABLE_LEFT);
    for (uint32_t c = 0; c < m->ncombinations; c++) {
        const uint32_t *row = m->choice + (size_t)c * m->nsubstitutions;
        table_row(t);
        for (size_t i = 0; i < x->substitutions.n; i++)
            table_cell(t, row[i] == CHOICE_ORIGINAL ? "-"
                                                    : x->substitutions.at[i].by.at[row[i]].label);
        for (uint32_t k = 0; k < columns; k++) {
            str_id cell = f.cell.at[(size_t)c * MOST_COLUMNS + k];
            table_cell(t, cell ? pool_text(&f.text, cell) : "-");
        }
        list_files(e, c, object, &files);
        table_cell(t, columns ? "" : strbuf_text(&files));
    }
    table_print(t, out, &(struct table_style){.colour = colour});
    table_free(t);
    experiment_figures_free(&f);
    strbuf_free(&files);
    free(object);
}

/* ---- figures of the experiment ---- */

static void pair_of_counts(struct table *t, const char *what, uint64_t with, uint64_t without)
{
    char a[HUMAN_SIZE];
    table_row(t);
    table_cell(t, what);
    table_cell(t, human_count(a, with));
    table_cell(t, human_count(a, without));
}

static void pair_of_seconds(struct table *t, const char *what, double with, double without)
{
    table_row(t);
    table_cell(t, what);
    table_seconds(t, with);
    table_seconds(t, without);
}

/* The name as a terminal may show it, in the buffer. */
static const char *workflow_title(const struct workflow *w, char *buffer, size_t size)
{
    struct strbuf shown = {0};
    utf8_add_visible(&shown, workflow_display_name(w, buffer, size));
    snprintf(buffer, size, "%s", strbuf_text(&shown));
    strbuf_free(&shown);
    return buffer;
}

/* "6 tasks", or of several graphs "6 to 12 tasks in 4 graphs". */
static void add_task_counts(const struct merged *m, struct strbuf *out)
{
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t k = 0; k < m->nreadings; k++) {
        uint32_t n = m->reading[k].original->ntasks;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    if (least < most)
        strbuf_printf(out, "%u to ", least);
    strbuf_printf(out, "%u task%s", most, plural(most));
    if (m->nreadings > 1)
        strbuf_printf(out, " in %u graphs", m->nreadings);
}

/* Times only where something is known of them: a table of zeros would look like an answer. */
void experiment_text(const struct expansion *e, bool list, bool colour, struct strbuf *out)
{
    const struct merged *m = e->merged;
    char name[256], count[HUMAN_SIZE], total[HUMAN_SIZE];
    strbuf_printf(out, "%s: %s combination%s of %u substitution%s in %s (",
                  workflow_title(m->workflow, name, sizeof name),
                  human_count(count, m->ncombinations), plural(m->ncombinations), m->nsubstitutions,
                  plural(m->nsubstitutions), e->x.workflow);
    add_task_counts(m, out);
    strbuf_add(out, ")\n\n");
    struct table *t = table_new();
    table_column(t, "", TABLE_LEFT);
    table_column(t, "with reuse", TABLE_RIGHT);
    table_column(t, "without", TABLE_RIGHT);
    pair_of_counts(t, "tasks", m->workflow->ntasks, m->tasks_without_reuse);
    pair_of_counts(t, "input files", m->nfiles, m->nfiles);
    if (!isnan(e->time)) {
        pair_of_seconds(t, "work", e->work, e->work_without);
        pair_of_seconds(t, "predicted time", e->time, e->time_without);
    }
    table_print(t, out, &(struct table_style){.colour = colour, .indent = 2});
    table_free(t);
    if (e->remaining < m->workflow->ntasks)
        strbuf_printf(out, "\n%s of %s task%s still to be computed\n",
                      human_count(count, e->remaining), human_count(total, m->workflow->ntasks),
                      plural_word(m->workflow->ntasks, " is", "s are"));
    strbuf_printf(out, "\nmerged in %s\n", human_seconds(count, e->seconds));
    if (isnan(e->time))
        strbuf_add(out, "no task states its work, so that no time can be predicted\n");
    else
        strbuf_printf(out, "times by %s on %u node%s (%s)%s", e->planner, e->platform->nnodes,
                      plural(e->platform->nnodes),
                      e->platform->name ? pool_text(&e->platform->text, e->platform->name)
                                        : pool_text(&e->platform->text, e->platform->file),
                      isnan(e->time_without) ? "; without reuse there are too many tasks to plan"
                                             : "");
    if (e->measured)
        strbuf_printf(out, "; %s of %s task%s as past runs measured them",
                      human_count(count, e->measured), human_count(total, m->workflow->ntasks),
                      plural(m->workflow->ntasks));
    strbuf_add(out, isnan(e->time) ? "" : "\n");
    if (list) {
        strbuf_add_char(out, '\n');
        experiment_results(e, colour, out);
    }
}

/* How many of the results are there: how far it has come, for who shows a grid. */
static void there_json(const struct expansion *e, const uint32_t *object, uint32_t n,
                       struct json_writer *j)
{
    const struct workflow *w = e->merged->workflow;
    struct strbuf path = {0};
    char *folder = file_beside(e->x.workflow, ".");
    uint32_t there = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct stat st;
        path_in(folder, workflow_text(w, w->object_name[object[i]]), &path);
        there += stat(path.at, &st) == 0;
    }
    json_put_integer(j, "there", there);
    strbuf_free(&path);
    free(folder);
}

/* One object a combination. An original choice is null: nothing was replaced there. */
static void list_json(struct json_writer *j, const struct expansion *e)
{
    const struct merged *m = e->merged;
    uint32_t *object = mem_new(uint32_t, merged_most_results(m));
    struct strbuf text = {0};
    char label[512];
    struct figures f = {0};
    if (e->values)
        figures_read(e, &f);
    json_write_key(j, "rows");
    json_write_array(j);
    for (uint32_t c = 0; c < m->ncombinations; c++) {
        const uint32_t *row = m->choice + (size_t)c * m->nsubstitutions;
        strbuf_clear(&text);
        merged_label(m, &e->x, c, &text);
        json_write_object_inline(j);
        json_put_string(j, "label", strbuf_text(&text));
        json_write_key(j, "choices");
        json_write_array(j);
        for (size_t k = 0; k < m->nsubstitutions; k++)
            if (row[k] == CHOICE_ORIGINAL)
                json_write_null(j);
            else
                json_write_string(j, e->x.substitutions.at[k].by.at[row[k]].label);
        json_write_end_array(j);
        json_write_key(j, "results");
        json_write_array(j);
        uint32_t n = merged_results(m, c, object, NULL);
        for (uint32_t i = 0; i < n; i++)
            json_write_string(j,
                              workflow_object_label(m->workflow, object[i], label, sizeof label));
        json_write_end_array(j);
        there_json(e, object, n, j);
        if (e->values)
            values_json(&f, c, j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    experiment_figures_free(&f);
    strbuf_free(&text);
    free(object);
}

/* Figures as numbers, null where nothing is known. */
void experiment_json(const struct expansion *e, bool list, struct strbuf *out)
{
    static const char *const targets[] = {"data", "task", "parameter"};
    const struct merged *m = e->merged;
    char name[256];
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-experiment/1");
    json_put_string(&j, "name", workflow_display_name(m->workflow, name, sizeof name));
    json_put_string(&j, "workflow", e->x.workflow);
    json_write_key(&j, "substitutions");
    json_write_array(&j);
    for (size_t i = 0; i < e->x.substitutions.n; i++) {
        const struct substitution *sub = &e->x.substitutions.at[i];
        json_write_object_inline(&j);
        json_put_string(&j, "name", sub->name);
        json_put_string(&j, "target", targets[sub->target]);
        json_put_string(&j, "what", sub->what);
        json_write_key(&j, "alternatives");
        json_write_array(&j);
        for (size_t k = 0; k < sub->by.n; k++)
            json_write_string(&j, sub->by.at[k].label);
        json_write_end_array(&j);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_put_integer(&j, "combinations", m->ncombinations);
    json_put_integer(&j, "original_tasks", e->original->ntasks);
    json_put_integer(&j, "graphs", m->nreadings);
    json_put_integer(&j, "tasks", m->workflow->ntasks);
    json_put_integer(&j, "tasks_without_reuse", (int64_t)m->tasks_without_reuse);
    json_put_integer(&j, "tasks_remaining", e->remaining);
    json_put_integer(&j, "tasks_measured", e->measured);
    json_put_integer(&j, "inputs", m->nfiles);
    json_put_number(&j, "work", e->work);
    json_put_number(&j, "work_without_reuse", e->work_without);
    json_put_string(&j, "planner", e->planner);
    json_put_integer(&j, "nodes", e->platform->nnodes);
    json_put_number(&j, "makespan", e->time);
    json_put_number(&j, "makespan_without_reuse", e->time_without);
    json_put_number(&j, "seconds", e->seconds);
    if (list)
        list_json(&j, e);
    json_write_end_object(&j);
}
