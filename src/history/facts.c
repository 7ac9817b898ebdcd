/* Facts: what is known of a run by name. One table for parameters, labels and values of results, tags,
 * notes and names of runs, so that one question reaches them all (where.c), found by run (the key),
 * and by value (an index).
 *
 *     facts(name, run, item, task, sort, value)
 *       name   number in `names`
 *       item   0: of the whole run; else the set of labels that the result has in its name
 *       task   whose result states it; below 0: nobody's (-1 a parameter, else a hash of the text, so
 *              that a run has several tags and each of them once)
 *       value  a number where the text is one, so that 10 is more than 9
 *
 * Values are written in the transaction of the file that states them: what is there is whole. */
#include "history/facts.h"

#include "base/mem.h"
#include "base/quantity.h"
#include "base/strbuf.h"
#include "history/stated.h"

#include <stdlib.h>
#include <string.h>

int64_t facts_find_name(struct history *h, const char *name, struct error *err)
{
    sqlite3_stmt *s = database_prepare(h, "SELECT id FROM names WHERE name = ?", err);
    if (!s)
        return 0;
    database_bind_text(s, 1, name);
    int64_t id = database_step(h, s, err) == 1 ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return id;
}

/* Found, or made. 0: an error. */
static int64_t facts_name(struct history *h, const char *name, struct error *err)
{
    int64_t id = facts_find_name(h, name, err);
    if (id)
        return id;
    sqlite3_stmt *s = database_prepare(h, "INSERT INTO names(name) VALUES(?)", err);
    if (!s)
        return 0;
    database_bind_text(s, 1, name);
    bool ok = database_run(h, s, err);
    sqlite3_finalize(s);
    return ok ? sqlite3_last_insert_rowid(h->db) : 0;
}

/* A row before its name has a number. Texts are the caller's. */
struct fact_row {
    int64_t run, item, task;
    enum fact_sort sort;
    const char *name, *value;
};

/* What is there is replaced: a transaction that was rolled back is written again, a name given anew. */
static bool facts_add(struct history *h, const struct fact_row *f, struct error *err)
{
    int64_t name = facts_name(h, f->name, err);
    sqlite3_stmt *s =
        name ? database_prepare(h,
                                "INSERT OR REPLACE INTO facts(name, run, item, task, sort, value)"
                                " VALUES(?, ?, ?, ?, ?, ?)",
                                err)
             : NULL;
    if (!s)
        return false;
    const int64_t numbers[] = {name, f->run, f->item, f->task, f->sort};
    double number;
    for (int i = 0; i < 5; i++)
        sqlite3_bind_int64(s, i + 1, numbers[i]);
    if (f->sort <= FACT_VALUE && quantity_number(f->value, strlen(f->value), &number))
        sqlite3_bind_double(s, 6, number);
    else
        database_bind_text(s, 6, f->value);
    bool ok = database_run(h, s, err);
    sqlite3_finalize(s);
    return ok;
}

bool facts_add_parameters(struct history *h, int64_t run, const struct workflow *w,
                          struct error *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && w && i < w->nparameters; i++)
        ok = facts_add(h,
                       &(struct fact_row){.run = run,
                                          .task = -1,
                                          .sort = FACT_PARAMETER,
                                          .name = workflow_text(w, w->parameter_name[i]),
                                          .value = workflow_text(w, w->parameter_value[i])},
                       err);
    return ok;
}

/* Labels only of results that state something: a thousand files of one combination need them once. */
bool facts_add_result(struct history *h, int64_t run, const char *folder, const char *path,
                      uint32_t task, struct error *err)
{
    struct strbuf whole = {0};
    stated_list values = {0}, labels = {0};
    if (*path != '/')
        strbuf_printf(&whole, "%s/", folder);
    strbuf_add(&whole, path);
    stated_read(whole.at, &values);
    strbuf_free(&whole);
    uint32_t item = values.n ? stated_labels(path, &labels) : 0;
    bool ok = true;
    for (size_t i = 0; ok && i < labels.n; i++)
        ok = facts_add(
            h, &(struct fact_row){run, item, -1, FACT_LABEL, labels.at[i].name, labels.at[i].value},
            err);
    for (size_t i = 0; ok && i < values.n; i++)
        ok = facts_add(
            h,
            &(struct fact_row){run, item, task, FACT_VALUE, values.at[i].name, values.at[i].value},
            err);
    stated_free(&values);
    stated_free(&labels);
    return ok;
}

/* Values of one label belong together, as those of a result do: the label is a fact beside them. */
bool facts_add_figure(struct history *h, int64_t run, const struct history_figure *f,
                      struct error *err)
{
    struct strbuf value = {0}, label = {0};
    uint32_t item = 0;
    bool ok = true;
    strbuf_add_number(&value, f->value);
    if (f->label && f->of) {
        strbuf_printf(&label, "%s=%s", f->label, f->of);
        item = (uint32_t)database_path_hash(0, label.at) | 1;
        ok = facts_add(h, &(struct fact_row){run, item, -1, FACT_LABEL, f->label, f->of}, err);
    }
    ok = ok && facts_add(h, &(struct fact_row){run, item, -1, FACT_VALUE, f->name, value.at}, err);
    strbuf_free(&value);
    strbuf_free(&label);
    return ok;
}

/* ---- results that were there already ---- */

/* Was the task reused in the run? */
static bool facts_was_reused(struct history *h, int64_t run, uint32_t task)
{
    sqlite3_stmt *s = database_prepare(h,
                                       "SELECT 1 FROM reused WHERE id BETWEEN ?1 AND ?2"
                                       " AND first <= ?3 AND first + count > ?3 LIMIT 1",
                                       NULL);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, database_row(run, 0));
    sqlite3_bind_int64(s, 2, database_row(run, UINT32_MAX));
    sqlite3_bind_int64(s, 3, task);
    bool found = database_step(h, s, NULL) == 1;
    sqlite3_finalize(s);
    return found;
}

/* Which tasks state something, the run before this one of the same workflow in the same folder knows;
 * what they state is read again from their files, so that it is what this run found. Without values
 * there it costs one look at the newest runs. */
bool facts_add_reused(struct history *h, int64_t run, const char *folder, const struct workflow *w,
                      struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard,
        "SELECT DISTINCT t.name FROM (SELECT p.id AS id, p.workflow AS workflow FROM runs p, runs r"
        " WHERE r.id = ?1 AND p.id < ?1 AND p.id > ?1 - 1000 AND p.folder = r.folder"
        " AND p.name = r.name ORDER BY p.id DESC LIMIT 1) b"
        " JOIN facts f ON f.run = b.id AND f.sort = 2"
        " JOIN tasks t ON t.id = (b.workflow << 32) + f.task",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    int row;
    bool ok = true;
    ARRAY(uint32_t) tasks = {0};
    while ((row = database_step(h, s, err)) == 1) {
        uint32_t task = workflow_find_task(w, (const char *)sqlite3_column_text(s, 0));
        if (task != NONE)
            array_push(&tasks, task);
    }
    database_close_query(s, &guard);
    for (size_t i = 0; row == 0 && ok && i < tasks.n; i++) {
        uint32_t t = tasks.at[i];
        if (!facts_was_reused(h, run, t))
            continue;
        for (uint32_t o = w->object_off[t]; ok && o < w->object_end[t]; o++)
            ok = !w->object_name[o] ||
                 facts_add_result(h, run, folder, workflow_text(w, w->object_name[o]), t, err);
    }
    array_free(&tasks);
    return ok && row == 0;
}

/* "0.1" was stored as a number; what comes back is the shortest text of the same number. */
static char *facts_text(sqlite3_stmt *s, int column)
{
    struct strbuf text = {0};
    if (sqlite3_column_type(s, column) != SQLITE_FLOAT &&
        sqlite3_column_type(s, column) != SQLITE_INTEGER)
        return database_text(s, column);
    strbuf_add_number(&text, sqlite3_column_double(s, column));
    return strbuf_steal(&text);
}

/* Rows of name, item, task, sort and value, of the run that `out` is of. The statement is ended. */
static bool facts_rows(struct history *h, sqlite3_stmt *s, struct mem_guard *g,
                       struct run_record *out, struct error *err)
{
    int row;
    while ((row = database_step(h, s, err)) == 1) {
        int64_t task = sqlite3_column_int64(s, 2), sort = sqlite3_column_int64(s, 3);
        if (sort < 0 || sort >= FACT_SORTS)
            continue; /* damaged */
        struct record_fact f = {
            .sort = (enum fact_sort)sort,
            .task = task >= 0 && task < NONE ? (uint32_t)task : NONE,
            .item = (uint32_t)sqlite3_column_int64(s, 1),
            .name = database_text(s, 0),
            .value = facts_text(s, 4),
        };
        if (!f.value)
            f.value = mem_copy_string("");
        array_push(&out->facts, f);
    }
    database_close_query(s, g);
    return row == 0;
}

bool facts_load(struct history *h, struct run_record *out, int64_t name, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard,
        name ? "SELECT n.name, f.item, f.task, f.sort, f.value FROM facts f JOIN names n"
               " ON n.id = f.name WHERE f.name = ?2 AND f.run = ?1 ORDER BY f.sort, f.item"
             : "SELECT n.name, f.item, f.task, f.sort, f.value FROM facts f JOIN names n"
               " ON n.id = f.name WHERE f.run = ?1 ORDER BY f.sort, f.item, n.name, f.task",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, out->run);
    if (name)
        sqlite3_bind_int64(s, 2, name);
    return facts_rows(h, s, &guard, out, err);
}

/* A label is the task's when a value of its results has it. */
bool facts_load_task(struct history *h, struct run_record *out, int64_t name, uint32_t task,
                     struct error *err)
{
    struct mem_guard guard;
    if (name == facts_find_name(h, "tag", NULL) || name == facts_find_name(h, "note", NULL))
        return facts_load(h, out, name, err);
    sqlite3_stmt *s = database_query(
        h, &guard,
        "SELECT n.name, f.item, f.task, f.sort, f.value FROM facts f INDEXED BY facts_by_run"
        " JOIN names n ON n.id = f.name WHERE f.run = ?1 AND f.task IN (?3, -1) AND f.name = ?2"
        " AND (f.sort <> 1 OR f.item IN (SELECT x.item FROM facts x INDEXED BY facts_by_run"
        " WHERE x.run = ?1 AND x.task = ?3)) ORDER BY f.sort, f.item",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, out->run);
    sqlite3_bind_int64(s, 2, name);
    sqlite3_bind_int64(s, 3, task == NONE ? -1 : (int64_t)task);
    return facts_rows(h, s, &guard, out, err);
}

/* ---- said by people ---- */

/* Outside of the range of tasks, and not -1. */
static int64_t facts_text_number(const char *text)
{
    return -2 - (int64_t)(uint32_t)database_path_hash(0, text);
}

bool history_say(struct history *h, int64_t run, enum fact_sort sort, const char *text, bool unsay,
                 struct error *err)
{
    struct mem_guard guard;
    struct fact_row f = {.run = run,
                         .task = sort == FACT_NAME ? -1 : facts_text_number(text),
                         .sort = sort,
                         .name = fact_sort_name(sort),
                         .value = text};
    sqlite3_stmt *s = NULL;
    mem_guard_enter(&guard, database_roll_back, h->db);
    bool ok = database_exec(h, "BEGIN IMMEDIATE", err);
    /* a name is of one run, and a run has one */
    if (ok && (unsay || sort == FACT_NAME)) {
        ok = (s = database_prepare(h,
                                   "DELETE FROM facts WHERE name = (SELECT id FROM names WHERE"
                                   " name = ?1) AND sort = ?2 AND value = ?3 AND"
                                   " (run = ?4 OR ?2 = 5)",
                                   err)) != NULL;
        if (ok) {
            database_bind_text(s, 1, f.name);
            sqlite3_bind_int64(s, 2, sort);
            database_bind_text(s, 3, text);
            sqlite3_bind_int64(s, 4, run);
            ok = database_run(h, s, err);
        }
        sqlite3_finalize(s);
        if (ok && unsay && !sqlite3_changes(h->db))
            ok = error_set(err, ERROR_INPUT, "run %lld has no %s '%s'", (long long)run, f.name,
                           text);
    }
    ok = ok && (unsay || facts_add(h, &f, err)) && database_exec(h, "COMMIT", err);
    mem_guard_leave(&guard);
    if (!ok)
        database_roll_back(h->db);
    return ok;
}

/* By the index over values: as quick among a million runs as among ten. */
int64_t history_named(struct history *h, const char *name, struct error *err)
{
    sqlite3_stmt *s = database_prepare(
        h,
        "SELECT run FROM facts WHERE name = (SELECT id FROM names WHERE name = 'name')"
        " AND sort = 5 AND value = ?",
        err);
    if (!s)
        return 0;
    database_bind_text(s, 1, name);
    int64_t run = database_step(h, s, err) == 1 ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return run;
}
