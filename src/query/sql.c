/* SQLite over the relations: an in-memory database with three read-only virtual tables that read
 * the state laid out. sql.h has the contract.
 *
 * Constraints come from files of strangers. Nothing is allowed but SELECT over our tables and
 * json_each/json_tree (sql_authorize(), checked while preparing), with functions from a list: those
 * that give the same answer for the same state, which no clock, file or die does. A progress
 * handler ends an evaluation at the search's deadline; SQLite's own limits bound depth, length and
 * memory.
 *
 * A virtual table holds no data: columns are computed by relations_value() when asked for. The
 * database belongs to one search and one thread. */
#include "query/sql.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/repeatable.h"
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

/* The clock is looked at every so many steps of SQLite, about a millisecond. Without a deadline an
 * evaluation ends after about a minute: a recursive query without end stops there. */
enum { STEPS_A_CALL = 10000, MOST_CALLS = 200000 };

struct sql {
    sqlite3 *db;
    struct relations *relations;
    uint32_t calls;  /* of the progress handler in this evaluation */
    double deadline; /* on the clock; INFINITY: none */
    struct mem_guard guard;
};

/* Prepared once, asked for every state. */
struct sql_statement {
    struct sql *sql;
    sqlite3_stmt *stmt;
};

/* ---- the virtual tables ---- */

struct sql_table {
    sqlite3_vtab base;
    struct relations *relations;
    enum relation relation;
};

struct sql_cursor {
    sqlite3_vtab_cursor base;
    uint32_t row, end;
};

/* Which module is which relation: the client data of the modules. */
struct module {
    struct relations *relations;
    enum relation relation;
};

/* Declares the columns from the table of attributes. */
static int table_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    (void)argc;
    (void)argv;
    (void)message;
    const struct module *m = context;
    /* SQLite calls this: its own memory, and its own error when there is none (base/mem.h). */
    sqlite3_str *declaration = sqlite3_str_new(db);
    sqlite3_str_appendall(declaration, "CREATE TABLE x(");
    for (int a = relation_first(m->relation); a <= (int)relation_last(m->relation); a++) {
        enum value_kind kind = attribute_table[a].kind;
        sqlite3_str_appendf(declaration, "%s%s %s", a > (int)relation_first(m->relation) ? "," : "",
                            attribute_table[a].name,
                            kind == VALUE_TEXT      ? "TEXT"
                            : kind == VALUE_INTEGER ? "INTEGER"
                                                    : "REAL");
    }
    sqlite3_str_appendall(declaration, ")");
    char *text = sqlite3_str_finish(declaration);
    int rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (rc != SQLITE_OK)
        return rc;
    struct sql_table *table = sqlite3_malloc64(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct sql_table){0};
    table->relations = m->relations;
    table->relation = m->relation;
    *out = &table->base;
    return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* id = value finds its row at once, so that joins over ids are not quadratic. */
static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct sql_table *table = (const struct sql_table *)base;
    double rows = relations_rows(table->relations, table->relation) + 1.0;
    info->estimatedCost = rows;
    info->estimatedRows = (sqlite3_int64)rows;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != 0 || !info->aConstraint[i].usable ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->idxNum = 1;
        info->estimatedCost = 1;
        info->estimatedRows = 1;
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
        break;
    }
    return SQLITE_OK;
}

static int table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct sql_cursor *cursor = sqlite3_malloc64(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct sql_cursor){0};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* All rows, or the one whose id is asked for. */
static int table_filter(sqlite3_vtab_cursor *base, int index, const char *text, int argc,
                        sqlite3_value **argv)
{
    (void)text;
    struct sql_cursor *cursor = (struct sql_cursor *)base;
    const struct sql_table *table = (const struct sql_table *)base->pVtab;
    cursor->row = 0;
    cursor->end = relations_rows(table->relations, table->relation);
    if (index != 1 || argc != 1)
        return SQLITE_OK;
    /* SQLite tests the equality again: a number that is near is enough here */
    double id =
        sqlite3_value_numeric_type(argv[0]) == SQLITE_NULL ? 0 : sqlite3_value_double(argv[0]);
    if (id >= 1 && id <= cursor->end) {
        cursor->row = (uint32_t)id - 1;
        cursor->end = cursor->row + 1;
    } else {
        cursor->end = 0;
    }
    return SQLITE_OK;
}

static int table_next(sqlite3_vtab_cursor *base)
{
    ((struct sql_cursor *)base)->row++;
    return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *base)
{
    const struct sql_cursor *cursor = (const struct sql_cursor *)base;
    return cursor->row >= cursor->end;
}

/* The value of a cell, at an edge: a list of tasks is built in our memory, and a failure must not
 * jump over SQLite's frames. */
struct sql_cell {
    struct relations *relations;
    enum attribute attribute;
    uint32_t row;
    struct value value;
};

static void sql_cell_read(void *of)
{
    struct sql_cell *c = of;
    c->value = relations_value(c->relations, c->attribute, c->row);
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct sql_cursor *cursor = (const struct sql_cursor *)base;
    const struct sql_table *table = (const struct sql_table *)base->pVtab;
    int attribute = relation_first(table->relation) + column;
    struct sql_cell cell = {table->relations, (enum attribute)attribute, cursor->row, {0}};
    size_t asked;
    if (attribute != PROC_TASK_LIST) {
        sql_cell_read(&cell);
    } else if (!mem_try(NULL, sql_cell_read, &cell, &asked)) {
        sqlite3_result_error_nomem(context);
        return SQLITE_NOMEM;
    }
    struct value v = cell.value;
    switch (v.kind) {
    case VALUE_UNKNOWN:
        sqlite3_result_null(context);
        break;
    case VALUE_INTEGER:
        sqlite3_result_int64(context, (sqlite3_int64)v.number);
        break;
    case VALUE_REAL:
        sqlite3_result_double(context, v.number);
        break;
    case VALUE_TEXT:
        /* a task list does not outlive the next one */
        sqlite3_result_text(context, v.text, -1,
                            attribute == PROC_TASK_LIST ? SQLITE_TRANSIENT : SQLITE_STATIC);
        break;
    }
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((const struct sql_cursor *)base)->row + 1;
    return SQLITE_OK;
}

/* Without xCreate it exists by its name alone; without xUpdate it is read-only. */
static const sqlite3_module module_functions = {
    .xConnect = table_connect,
    .xBestIndex = table_best_index,
    .xDisconnect = table_disconnect,
    .xOpen = table_open,
    .xClose = table_close,
    .xFilter = table_filter,
    .xNext = table_next,
    .xEof = table_eof,
    .xColumn = table_column,
    .xRowid = table_rowid,
};

/* ---- what is allowed ---- */

static bool is_word_listed(const char *word, const char *const *list)
{
    for (; word && *list; list++)
        if (sqlite3_stricmp(word, *list) == 0)
            return true;
    return false;
}

/* Tables: ours and the two of JSON. */
static int sql_authorize(void *context, int action, const char *a, const char *b,
                         const char *database, const char *inner)
{
    static const char *const tables[] = {"task", "proc", "dep", "json_each", "json_tree", NULL};
    (void)context;
    (void)database;
    (void)inner;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        return is_word_listed(a, tables) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        return repeatable_function(b) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* Called by SQLite every STEPS_A_CALL steps; not 0 interrupts the evaluation. */
static int too_long(void *context)
{
    struct sql *s = context;
    return ++s->calls > MOST_CALLS || clock_seconds() >= s->deadline;
}

/* What no honest constraint needs is switched off, what it needs a little of is bounded. */
static void set_limits(sqlite3 *db)
{
    static const int limits[][2] = {
        {SQLITE_LIMIT_LENGTH, 1000000},
        {SQLITE_LIMIT_SQL_LENGTH, 1000000},
        {SQLITE_LIMIT_COLUMN, 200},
        {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 50},
        {SQLITE_LIMIT_VDBE_OP, 250000},
        {SQLITE_LIMIT_FUNCTION_ARG, 50},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i][0], limits[i][1]);
    static const int switches[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},    {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
    };
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        sqlite3_db_config(db, switches[i][0], switches[i][1], (int *)NULL);
}

/* A guard: what a failed call leaves open. The statements first, or the connection stays. */
static void sql_abandon(void *of)
{
    struct sql *s = of;
    sqlite3_stmt *stmt;
    while (s->db && (stmt = sqlite3_next_stmt(s->db, NULL)))
        sqlite3_finalize(stmt);
    sqlite3_close(s->db);
}

/* SQLite had no memory, or a callback of ours had none: as if ours had failed here. */
static void sql_check_memory(int rc)
{
    if ((rc & 0xff) == SQLITE_NOMEM)
        mem_fail(0);
}

/* The order matters: modules first, their columns declared, then limits and the authorizer that
 * refuses any further declaration. */
struct sql *sql_open(struct relations *r, struct error *err)
{
    struct sql *s = mem_new_zero(struct sql, 1);
    mem_guard_enter(&s->guard, sql_abandon, s);
    s->relations = r;
    s->deadline = INFINITY;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    int rc = sqlite3_open_v2(":memory:", &s->db, flags, NULL);
    /* a large sort must not go to a file */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    for (int k = 0; rc == SQLITE_OK && k < RELATIONS; k++) {
        struct module *m = mem_new(struct module, 1);
        *m = (struct module){r, (enum relation)k};
        rc = sqlite3_create_module_v2(s->db, relation_name[k], &module_functions, m, mem_free);
    }
    /* a virtual table declares its columns when first named: before declarations are refused */
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db,
                          "SELECT 1 FROM task, proc, dep, json_each('[]'), json_tree('[]') LIMIT 0",
                          NULL, NULL, NULL);
    if (s->db)
        sql_check_memory(rc);
    if (rc != SQLITE_OK) {
        error_set(err, ERROR_FAILED, "SQLite cannot start: %s",
                  s->db ? sqlite3_errmsg(s->db) : "out of memory");
        sql_close(s);
        return NULL;
    }
    set_limits(s->db);
    sqlite3_set_authorizer(s->db, sql_authorize, NULL);
    sqlite3_progress_handler(s->db, STEPS_A_CALL, too_long, s);
    return s;
}

void sql_set_deadline(struct sql *s, double deadline)
{
    s->deadline = deadline;
}

/* Statements must be finished before. */
void sql_close(struct sql *s)
{
    if (!s)
        return;
    mem_guard_leave(&s->guard);
    sqlite3_close(s->db);
    free(s);
}

/* One read-only statement with one column, or NULL with what is wrong. */
struct sql_statement *sql_prepare(struct sql *s, const char *text, char *message, size_t size,
                                  int *offset)
{
    sqlite3_stmt *stmt = NULL;
    const char *tail = NULL;
    s->calls = 0;
    *offset = -1;
    int rc = sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT, &stmt, &tail);
    sql_check_memory(rc);
    if (rc != SQLITE_OK) {
        snprintf(message, size, "%s", sqlite3_errmsg(s->db));
        *offset = sqlite3_error_offset(s->db);
        if (rc == SQLITE_AUTH || strstr(message, "not authorized"))
            snprintf(message, size,
                     "%s: constraints may only read task, proc and dep, with functions that "
                     "always give the same answer",
                     sqlite3_errmsg(s->db));
        return NULL;
    }
    if (!stmt || (tail && *tail) || !sqlite3_stmt_readonly(stmt)) {
        snprintf(message, size, "this is not one SELECT");
        sqlite3_finalize(stmt);
        return NULL;
    }
    if (sqlite3_column_count(stmt) != 1) {
        snprintf(message, size, "expected one attribute or one value, this selects %d",
                 sqlite3_column_count(stmt));
        sqlite3_finalize(stmt);
        return NULL;
    }
    struct sql_statement *out = mem_new(struct sql_statement, 1);
    *out = (struct sql_statement){s, stmt};
    return out;
}

void sql_finish(struct sql_statement *s)
{
    if (!s)
        return;
    sqlite3_finalize(s->stmt);
    free(s);
}

void values_clear(struct values *v)
{
    for (size_t i = 0; i < v->texts.n; i++)
        free(v->texts.at[i]);
    v->texts.n = 0;
    v->list.n = 0;
}

void values_free(struct values *v)
{
    values_clear(v);
    array_free(&v->texts);
    array_free(&v->list);
}

/* Texts are copied: SQLite's are gone with the next step. */
static struct value column_value(sqlite3_stmt *stmt, struct values *out)
{
    switch (sqlite3_column_type(stmt, 0)) {
    case SQLITE_INTEGER:
        return value_integer((double)sqlite3_column_int64(stmt, 0));
    case SQLITE_FLOAT:
        return value_real(sqlite3_column_double(stmt, 0));
    case SQLITE_NULL:
        return value_unknown();
    default: {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        array_push(&out->texts, mem_copy_string(text ? text : ""));
        return value_text(array_last(&out->texts));
    }
    }
}

/* The statement is reset in any case, so that it can be asked again. */
bool sql_rows(struct sql_statement *s, struct values *out, struct error *err)
{
    s->sql->calls = 0;
    int rc;
    while ((rc = sqlite3_step(s->stmt)) == SQLITE_ROW)
        array_push(&out->list, column_value(s->stmt, out));
    sql_check_memory(rc);
    if (rc == SQLITE_INTERRUPT)
        error_set(
            err, ERROR_FAILED,
            "this constraint takes too long: its evaluation on one state was stopped at the time "
            "limit (--set limit=...)");
    else if (rc != SQLITE_DONE)
        error_set(err, ERROR_INPUT, "this constraint cannot be evaluated: %s",
                  sqlite3_errmsg(s->sql->db));
    sqlite3_reset(s->stmt);
    return rc == SQLITE_DONE;
}
