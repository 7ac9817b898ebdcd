/* Rows of a workflow's tasks, written once for all runs of it.
 *
 *     tasks     id = workflow << 32 | task      name, kind, command
 *     commands  id = workflow << 32 | command   text, as the workflow has it: "sort {in} > {out}"
 *
 * A family of a thousand tasks has one command, so that whoever looks for a word in commands reads it
 * once. A graph in which each command is another has its text twice, here and in `workflows`; past
 * COMMANDS_MOST bytes they are only there. */
#include "history/task_rows.h"

#include <string.h>

#define COMMANDS_MOST                                                                              \
    ((size_t)16 << 20) /* bytes of a workflow: a quarter of the text that is kept */

bool tasks_add_kinds(struct history *h, const struct intern *kinds, int64_t *kind_row,
                     struct error *err)
{
    sqlite3_stmt *add = database_prepare(h, "INSERT OR IGNORE INTO kinds(name) VALUES(?)", err);
    sqlite3_stmt *find = database_prepare(h, "SELECT id FROM kinds WHERE name = ?", err);
    bool ok = add && find;
    for (uint32_t k = 0; ok && k < kinds->n; k++) {
        database_bind_text(add, 1, intern_text(kinds, k));
        database_bind_text(find, 1, intern_text(kinds, k));
        ok = database_run(h, add, err) && database_step(h, find, err) == 1;
        if (ok)
            kind_row[k] = sqlite3_column_int64(find, 0);
        sqlite3_reset(find);
    }
    sqlite3_finalize(add);
    sqlite3_finalize(find);
    return ok;
}

/* The number of the task's command, which is new or was seen; NONE: it has none, or there is no room. */
static uint32_t tasks_command(struct intern *commands, const struct workflow *w, uint32_t t)
{
    const char *text = w->command && w->command[t] ? workflow_text(w, w->command[t]) : NULL;
    if (!text)
        return NONE;
    size_t n = strlen(text);
    uint32_t seen = intern_find(commands, text, n);
    if (seen != UINT32_MAX)
        return seen;
    return commands->pool.n + n > COMMANDS_MOST ? NONE : intern_number(commands, text, n);
}

static bool tasks_add_commands(struct history *h, int64_t workflow, const struct intern *commands,
                               struct error *err)
{
    sqlite3_stmt *s =
        database_prepare(h, "INSERT OR REPLACE INTO commands(id, text) VALUES(?, ?)", err);
    bool ok = s != NULL;
    for (uint32_t i = 0; ok && i < commands->n; i++) {
        sqlite3_bind_int64(s, 1, database_row(workflow, i));
        database_bind_text(s, 2, intern_text(commands, i));
        ok = database_run(h, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

/* `tasks` of the workflow is set last and says that all are there. */
static bool tasks_complete(struct history *h, int64_t workflow, uint32_t n, struct error *err)
{
    sqlite3_stmt *s = database_prepare(h, "UPDATE workflows SET tasks = ? WHERE id = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, n);
    sqlite3_bind_int64(s, 2, workflow);
    bool ok = database_run(h, s, err);
    sqlite3_finalize(s);
    return ok;
}

bool tasks_add(struct history *h, int64_t workflow, const struct workflow *w, const uint32_t *kind,
               const int64_t *kind_row, struct error *err)
{
    struct mem_guard guard;
    struct intern commands;
    intern_init(&commands);
    sqlite3_stmt *s = database_query(
        h, &guard, "INSERT OR REPLACE INTO tasks(id, name, kind, command) VALUES(?, ?, ?, ?)", err);
    bool ok = s != NULL;
    for (uint32_t t = 0; ok && t < w->ntasks; t++) {
        uint32_t command = tasks_command(&commands, w, t);
        sqlite3_bind_int64(s, 1, database_row(workflow, t));
        database_bind_text(s, 2, workflow_task_name(w, t));
        sqlite3_bind_int64(s, 3, kind_row[kind[t]]);
        if (command == NONE)
            sqlite3_bind_null(s, 4);
        else
            sqlite3_bind_int64(s, 4, command);
        ok = database_run(h, s, err);
    }
    database_close_query(s, &guard);
    ok = ok && tasks_add_commands(h, workflow, &commands, err) &&
         tasks_complete(h, workflow, w->ntasks, err);
    intern_free(&commands);
    return ok;
}
