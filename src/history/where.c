/* Questions in SQL: an expression over the columns of a run and the names of its facts becomes a
 * condition on rows of `runs`.
 *
 *     sigma > 1 and f1 > 0.9
 *
 *     EXISTS (SELECT 1 FROM (SELECT 1) LEFT JOIN facts v0 ON v0.name = 3 AND v0.run = r.id
 *                                      LEFT JOIN facts v1 ON v1.name = 7 AND v1.run = r.id
 *             WHERE (+v0.value > 1 and +v1.value > 0.9) AND (facts of one item))
 *
 * Asked of each run, newest first, until there are enough: a fact of a run is one step in the table's
 * key, and the first that does not hold ends it. No run is lost to an `or`. The plus keeps SQLite from
 * beginning with all values that are large, which without statistics it would: ten times slower where
 * many are (measured with 10^7 attempts).
 *
 * A text that begins with SELECT is taken as it is: its first column are numbers of runs. Texts come
 * from people and pages: the authorizer lets them read our tables, and nothing else. */
#include "history/where.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/repeatable.h"
#include "base/suggest.h"
#include "history/facts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* SQLite asks every STEPS steps, about a millisecond, whether to go on. */
enum { STEPS = 10000 };
static const double LONGEST = 10; /* seconds; every question of ours takes less than one */

/* What a run has of its own. Whoever means a fact of the same name writes it in double quotes. */
static const struct where_column {
    const char *name, *sql;
} where_columns[] = {
    {"run", "r.id"},
    {"workflow", "r.name"},
    {"file", "r.file"},
    {"folder", "r.folder"},
    {"host", "r.host"},
    {"planner", "r.planner"},
    {"given", "r.given"},
    {"started", "r.started"},
    {"seconds", "r.seconds"},
    {"cores", "r.cores"},
    {"tasks", "r.tasks"},
    {"ran", "r.ran"},
    {"reused", "r.reused"},
    {"failed", "r.failed"},
    {"skipped", "r.skipped"},
    {"peak_memory", "r.peak_memory"},
    {"peak_disk", "r.peak_disk"},
    {"version", "r.version"},
    {"outcome", "(CASE r.outcome WHEN 0 THEN 'running' WHEN 1 THEN 'done' WHEN 2 THEN 'failed'"
                " WHEN 3 THEN 'cancelled' ELSE 'lost' END)"},
};
enum { WHERE_COLUMNS = sizeof where_columns / sizeof *where_columns };

/* Words of the language that may stand in an expression; whatever else is a name. */
static const char *const where_words[] = {
    "and",    "or",      "not",    "is",       "null", "in",      "like",
    "glob",   "between", "case",   "when",     "then", "else",    "end",
    "isnull", "notnull", "escape", "cast",     "as",   "real",    "integer",
    "text",   "true",    "false",  "distinct", "from", "collate", "nocase",
};

/* Of the language, whatever its case: SQL does not tell AND from and. */
static bool where_is_word(const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof where_words / sizeof *where_words; i++)
        if (strlen(where_words[i]) == n && strncasecmp(where_words[i], text, n) == 0)
            return true;
    return false;
}

void where_free(struct where *w)
{
    strbuf_free(&w->condition);
    array_free(&w->names);
}

/* Every name that some run has, and our own columns: the nearest is what was meant. */
static bool where_unknown(struct history *h, const char *name, struct error *err)
{
    ARRAY(char *) known = {0};
    struct mem_guard guard;
    for (size_t i = 0; i < WHERE_COLUMNS; i++)
        array_push(&known, mem_copy_string(where_columns[i].name));
    sqlite3_stmt *s = database_query(h, &guard, "SELECT name FROM names LIMIT 10000", NULL);
    while (s && database_step(h, s, NULL) == 1)
        array_push(&known, database_text(s, 0));
    database_close_query(s, &guard);
    const char *near = suggest_nearest(name, (const char *const *)known.at, known.n);
    if (near)
        error_set(err, ERROR_INPUT,
                  "no run has a parameter, label or value '%s'; did you mean '%s'?", name, near);
    else
        error_set(
            err, ERROR_INPUT,
            "no run has a parameter, label or value '%s'; a text is written in single quotes: "
            "'%s'",
            name, name);
    for (size_t i = 0; i < known.n; i++)
        free(known.at[i]);
    array_free(&known);
    return false;
}

/* A name becomes a column of the run, or the value of a fact that is joined once however often it is
 * named. */
static bool where_name(struct history *h, struct where *w, const char *name, bool quoted,
                       struct strbuf *out, struct error *err)
{
    for (size_t i = 0; !quoted && i < WHERE_COLUMNS; i++)
        if (strcasecmp(name, where_columns[i].name) == 0) {
            strbuf_add(out, where_columns[i].sql);
            return true;
        }
    int64_t id = facts_find_name(h, name, err);
    size_t at = 0;
    if (!id)
        return where_unknown(h, name, err);
    while (at < w->names.n && w->names.at[at] != id)
        at++;
    if (at == w->names.n)
        array_push(&w->names, id);
    strbuf_printf(out, "+v%zu.value", at);
    return true;
}

/* How many bytes of a name stand here; 0: none begins. Letters of other alphabets are letters. */
static size_t where_name_length(const char *text)
{
    size_t n = 0;
    /* a dot inside: values of nested objects are "scores.f1" */
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || (unsigned char)text[n] >= 128 ||
           (n && text[n] == '.' && (isalpha((unsigned char)text[n + 1]) || text[n + 1] == '_')))
        n++;
    return n;
}

/* From quote to quote, doubled ones inside. 0: it does not end. */
static size_t where_quoted_length(const char *text)
{
    for (size_t n = 1; text[n]; n++)
        if (text[n] == *text && text[++n] != *text)
            return n;
    return 0;
}

/* The expression with every name replaced; the rest is left to SQLite to understand. */
static bool where_expression(struct history *h, const char *text, struct where *w,
                             struct strbuf *out, struct error *err)
{
    while (*text) {
        size_t n = 1;
        if (*text == '\'' || *text == '"') {
            n = where_quoted_length(text);
            if (!n)
                return error_set(err, ERROR_INPUT, "--where: a quote is not closed: %s", text);
        } else if (*text == ';' || strncmp(text, "--", 2) == 0 || strncmp(text, "/*", 2) == 0) {
            return error_set(err, ERROR_INPUT, "--where takes one expression, without '%.2s'",
                             text);
        } else if (isalpha((unsigned char)*text) || *text == '_' || (unsigned char)*text >= 128) {
            n = where_name_length(text);
        } else if (isdigit((unsigned char)*text)) {
            while (isalnum((unsigned char)text[n]) || text[n] == '.')
                n++;
        }
        bool quoted = *text == '"';
        bool name = quoted || (n && !isdigit((unsigned char)*text) && where_name_length(text) == n);
        if (name && !quoted)
            name = !where_is_word(text, n) && text[n + strspn(text + n, " \t\n")] != '(';
        if (name) {
            char *copy = quoted ? mem_copy_bytes(text + 1, n - 2) : mem_copy_bytes(text, n);
            bool ok = where_name(h, w, copy, quoted, out, err);
            free(copy);
            if (!ok)
                return false;
        } else {
            strbuf_add_bytes(out, text, n);
        }
        text += n;
    }
    return true;
}

/* Is it known of runs as wholes, a parameter, a tag? Values of results are many a run. */
static bool where_is_of_run(struct history *h, int64_t name)
{
    sqlite3_stmt *s = database_prepare(h, "SELECT sort FROM facts WHERE name = ? LIMIT 1", NULL);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, name);
    int sort = database_step(h, s, NULL) == 1 ? sqlite3_column_int(s, 0) : FACT_VALUE;
    sqlite3_finalize(s);
    return sort != FACT_VALUE && sort != FACT_LABEL;
}

/* What a run has once comes before what it has often: where that does not hold, nothing else is looked
 * at. Joins that are LEFT give the same in any order. */
static void where_join(struct history *h, struct where *w)
{
    for (int turn = 0; turn < 2; turn++)
        for (size_t i = 0; i < w->names.n; i++)
            if (where_is_of_run(h, w->names.at[i]) == !turn)
                strbuf_printf(&w->condition,
                              " LEFT JOIN facts v%zu ON v%zu.name = %lld AND v%zu.run = r.id", i, i,
                              (long long)w->names.at[i], i);
}

bool where_translate(struct history *h, const char *text, struct where *out, struct error *err)
{
    struct strbuf expression = {0};
    *out = (struct where){0};
    text += strspn(text, " \t\n");
    if (!*text)
        return error_set(err, ERROR_INPUT, "--where is empty; for example: sigma > 1 and f1 > 0.9");
    if (strncasecmp(text, "select", 6) == 0 && isspace((unsigned char)text[6])) {
        strbuf_printf(&out->condition, "r.id IN (%s)", text);
        return true;
    }
    bool ok = where_expression(h, text, out, &expression, err);
    if (ok) {
        strbuf_add(&out->condition, "EXISTS (SELECT 1 FROM (SELECT 1)");
        where_join(h, out);
        strbuf_printf(&out->condition, " WHERE (%s)", strbuf_text(&expression));
        /* facts of different labels are of different computations */
        for (size_t i = 0; i < out->names.n; i++)
            for (size_t k = 0; k < i; k++)
                strbuf_printf(&out->condition,
                              " AND ifnull(v%zu.item, 0) IN (0, ifnull(nullif(v%zu.item, 0),"
                              " ifnull(v%zu.item, 0)))",
                              i, k, i);
        strbuf_add_char(&out->condition, ')');
    }
    strbuf_free(&expression);
    return ok;
}

/* ---- asking ---- */

/* Asked by SQLite while it prepares a statement, for each table, column and function in it: before a
 * single row is read. */
static int where_authorize(void *context, int action, const char *a, const char *b,
                           const char *database, const char *inner)
{
    (void)context;
    (void)inner;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ: /* nothing of the schema: only what the page describes */
        return a && strncmp(a, "sqlite_", 7) != 0 && (!database || strcmp(database, "temp") != 0)
                   ? SQLITE_OK
                   : SQLITE_DENY;
    case SQLITE_FUNCTION:
        return repeatable_function(b) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* Not 0 ends the question with SQLITE_INTERRUPT, which database_error() puts into words. */
static int where_too_long(void *context)
{
    const struct history *h = context;
    return clock_seconds() >= h->deadline;
}

sqlite3_stmt *where_query(struct history *h, struct mem_guard *g, const char *sql,
                          struct error *err)
{
    sqlite3_stmt *s = NULL;
    const char *tail = NULL;
    sqlite3_set_authorizer(h->db, where_authorize, NULL);
    sqlite3_db_config(h->db, SQLITE_DBCONFIG_DQS_DML, 0, (int *)NULL);
    int code = sqlite3_prepare_v2(h->db, sql, -1, &s, &tail);
    sqlite3_set_authorizer(h->db, NULL, NULL);
    if (code == SQLITE_NOMEM) {
        database_error(h, err);
    } else if (code != SQLITE_OK) {
        const char *why = sqlite3_errmsg(h->db);
        bool refused = code == SQLITE_AUTH || strstr(why, "not authorized");
        error_set(err, ERROR_INPUT, "--where: %s%s", why,
                  refused ? ": it may read the history, with functions that always give the same "
                            "answer"
                          : "");
        s = NULL;
    } else if (!s || (tail && *tail) || !sqlite3_stmt_readonly(s)) {
        error_set(err, ERROR_INPUT, "--where takes one expression or one SELECT");
        sqlite3_finalize(s);
        s = NULL;
    }
    if (!s)
        return NULL;
    h->deadline = clock_seconds() + LONGEST;
    sqlite3_progress_handler(h->db, STEPS, where_too_long, h);
    mem_guard_enter(g, database_finalize, s);
    return s;
}

void where_end(struct history *h, sqlite3_stmt *s, struct mem_guard *g)
{
    sqlite3_progress_handler(h->db, 0, NULL, NULL);
    database_close_query(s, g);
}
