/* Two runs side by side: which kinds and which tasks took longer. Tasks are matched by name. */
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/history_view.h"
#include "report/human.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 10

struct side {
    struct run_record run;
    struct history_tasks tasks;
    double *took, *memory; /* of the last attempt that ended well, per task; NAN: none */
};

/* A task or a kind, in either run. */
struct row {
    const char *name, *kind;
    double a, b; /* seconds; NAN: it did not run there */
    double memory_a, memory_b;
    uint32_t n_a, n_b;
};

typedef ARRAY(struct row) row_list;

static bool load_side(struct history *h, int64_t run, struct side *s, struct error *err)
{
    if (!history_load(h, run, &s->run, err) || !history_tasks(h, s->run.run, &s->tasks, err))
        return false;
    s->took = mem_new(double, s->tasks.n + 1);
    s->memory = mem_new(double, s->tasks.n + 1);
    for (uint32_t t = 0; t < s->tasks.n; t++)
        s->took[t] = s->memory[t] = NAN;
    for (size_t i = 0; i < s->run.events.n; i++) {
        const struct trace_event *e = &s->run.events.at[i];
        if (e->kind == TRACE_TASK && e->outcome == TRACE_DONE && e->id < s->tasks.n) {
            s->took[e->id] = e->finish - e->start;
            s->memory[e->id] = e->memory;
        }
    }
    return true;
}

static void free_side(struct side *s)
{
    record_free(&s->run);
    history_tasks_free(&s->tasks);
    free(s->took);
    free(s->memory);
}

static double change(const struct row *r)
{
    return r->b - r->a;
}

/* By how much longer it took, in seconds; what ran in one of them only comes last. */
static int most_changed(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    double s = change(x), t = change(y);
    if (isnan(s) != isnan(t))
        return isnan(s) ? 1 : -1;
    if (!isnan(s) && s != t)
        return s > t ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_side(const struct side *s, bool second, struct intern *names, row_list *tasks)
{
    for (uint32_t t = 0; t < s->tasks.n; t++) {
        const char *name = history_task_name(&s->tasks, t);
        uint32_t n = intern_number(names, name, strlen(name));
        if (n == tasks->n)
            array_push(tasks, (struct row){.name = name,
                                           .kind = history_task_kind(&s->tasks, t),
                                           .a = NAN,
                                           .b = NAN,
                                           .memory_a = NAN,
                                           .memory_b = NAN});
        struct row *r = &tasks->at[n];
        *(second ? &r->b : &r->a) = s->took[t];
        *(second ? &r->memory_b : &r->memory_a) = s->memory[t];
    }
}

static void sum_kinds(const row_list *tasks, struct intern *names, row_list *kinds)
{
    for (size_t i = 0; i < tasks->n; i++) {
        const struct row *t = &tasks->at[i];
        uint32_t n = intern_number(names, t->kind, strlen(t->kind));
        if (n == kinds->n)
            array_push(kinds, (struct row){.name = t->kind, .kind = t->kind});
        struct row *k = &kinds->at[n];
        if (!isnan(t->a)) {
            k->a += t->a;
            k->n_a++;
            k->memory_a = fmax(k->memory_a, t->memory_a);
        }
        if (!isnan(t->b)) {
            k->b += t->b;
            k->n_b++;
            k->memory_b = fmax(k->memory_b, t->memory_b);
        }
    }
    /* Sums over different numbers of tasks do not compare: the mean of each does. */
    for (size_t i = 0; i < kinds->n; i++) {
        struct row *k = &kinds->at[i];
        k->a = k->n_a ? k->a / k->n_a : NAN;
        k->b = k->n_b ? k->b / k->n_b : NAN;
    }
}

static void put_rows(struct json_writer *j, const char *key, const row_list *rows, bool tasks)
{
    json_write_key(j, key);
    json_write_array(j);
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *r = &rows->at[i];
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

static void compare_json(const struct side *a, const struct side *b, const row_list *tasks,
                         const row_list *kinds, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-history/1");
    json_write_key(&j, "compare");
    json_write_array(&j);
    const struct side *const both[] = {a, b};
    for (int i = 0; i < 2; i++) {
        json_write_object_inline(&j);
        history_view_head(&j, &both[i]->run);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    put_rows(&j, "kinds", kinds, false);
    put_rows(&j, "tasks", tasks, true);
    json_write_end_object(&j);
}

static void print_rows(const row_list *rows, bool tasks, bool slower, const struct side *a,
                       const struct side *b, struct strbuf *out)
{
    struct table *t = table_new();
    char title[32], ratio[32];
    table_column(t, tasks ? "task" : "kind", TABLE_LEFT);
    if (tasks)
        table_column(t, "kind", TABLE_LEFT);
    else
        table_column(t, "tasks", TABLE_RIGHT);
    snprintf(title, sizeof title, "run %lld", (long long)a->run.run);
    table_column(t, title, TABLE_RIGHT);
    snprintf(title, sizeof title, "run %lld", (long long)b->run.run);
    table_column(t, title, TABLE_RIGHT);
    table_column(t, "change", TABLE_RIGHT);
    size_t shown = 0;
    for (size_t i = 0; i < rows->n && shown < SHOWN; i++) {
        const struct row *r = &rows->at[slower ? i : rows->n - 1 - i];
        if (tasks && !(slower ? change(r) > 0 : change(r) < 0))
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
        table_print(t, out, &(struct table_style){.colour = cli_colour(), .max_cell = 40});
    }
    table_free(t);
}

static void compare_text(const struct side *a, const struct side *b, const row_list *tasks,
                         const row_list *kinds, struct strbuf *out)
{
    const struct side *const both[] = {a, b};
    char when[32], time[HUMAN_SIZE];
    uint32_t only[2] = {0, 0};
    for (size_t i = 0; i < tasks->n; i++) {
        only[0] += !isnan(tasks->at[i].a) && isnan(tasks->at[i].b);
        only[1] += isnan(tasks->at[i].a) && !isnan(tasks->at[i].b);
    }
    for (int i = 0; i < 2; i++) {
        const struct run_record *r = &both[i]->run;
        struct strbuf name = {0};
        utf8_add_visible(&name, r->name ? r->name : "-");
        strbuf_printf(out, "run %lld: %s, %s, %s, %s; %u ran (%u only in this one)\n",
                      (long long)r->run, strbuf_text(&name), recorded_when(r->started, when),
                      record_outcome_name(r->outcome), human_seconds(time, r->seconds), r->ran,
                      only[i]);
        strbuf_free(&name);
    }
    print_rows(kinds, false, true, a, b, out);
    print_rows(tasks, true, true, a, b, out);
    print_rows(tasks, true, false, a, b, out);
}

bool history_view_compare(struct history *h, int64_t first, int64_t second, bool json,
                          struct strbuf *out, struct error *err)
{
    struct side a = {0}, b = {0};
    bool ok = load_side(h, first, &a, err) && load_side(h, second, &b, err);
    if (ok) {
        struct intern task_names, kind_names;
        intern_init(&task_names);
        intern_init(&kind_names);
        row_list tasks = {0}, kinds = {0};
        add_side(&a, false, &task_names, &tasks);
        add_side(&b, true, &task_names, &tasks);
        sum_kinds(&tasks, &kind_names, &kinds);
        if (tasks.n)
            qsort(tasks.at, tasks.n, sizeof *tasks.at, most_changed);
        if (kinds.n)
            qsort(kinds.at, kinds.n, sizeof *kinds.at, most_changed);
        if (json)
            compare_json(&a, &b, &tasks, &kinds, out);
        else
            compare_text(&a, &b, &tasks, &kinds, out);
        array_free(&tasks);
        array_free(&kinds);
        intern_free(&task_names);
        intern_free(&kind_names);
    }
    free_side(&a);
    free_side(&b);
    return ok;
}
