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
 * Of tasks and files the same is asked of each row, with what the task's own results state; before that,
 * parts of it that an `and` joins are asked of the run, so that rows of other runs are not read:
 *
 *     sigma > 1 and seconds > 60 and task like 'fit%'
 *
 *     runs:  sigma > 1 holds with what the run knows, and its longest attempt took more than 60 s
 *     rows:  all of it
 *
 * A text that begins with SELECT is taken as it is: its first column are numbers of runs. Texts come
 * from people and pages: the authorizer lets them read our tables, and nothing else. */
#include "history/where.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/repeatable.h"
#include "base/suggest.h"
#include "history/facts.h"
#include "history/spans.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* SQLite asks every STEPS steps, about a millisecond, whether to go on. */
enum { STEPS = 10000 };
static const double LONGEST = 10; /* seconds; every question of ours takes less than one */

/* As trace_outcome_name() has them. */
#define WHERE_OUTCOME                                                                              \
    "(CASE a.outcome WHEN 0 THEN 'done' WHEN 1 THEN 'failed' WHEN 2 THEN 'killed' WHEN 3 THEN"     \
    " 'timeout' WHEN 4 THEN 'memory' WHEN 5 THEN 'cancelled' WHEN 6 THEN 'not-started'"            \
    " WHEN 7 THEN 'node-failed' ELSE 'failed' END)"

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

/* And what an attempt or a file has; where both have a name, this is meant. */
static const struct where_column task_columns[] = {
    {"task", "t.name"},
    {"kind", "k.name"},
    {"command", "c.text"},
    {"attempt", "a.attempt"},
    {"status", "a.status"},
    {"started", "(r.started + 1e-6 * a.start)"},
    {"seconds", "(1e-6 * a.took)"},
    {"cpu", "(1e-6 * a.cpu)"},
    {"memory", "a.memory"},
    {"read", "a.read"},
    {"written", "a.written"},
    {"node", "a.node"},
    {"core", "a.lane"},
    {"outcome", WHERE_OUTCOME},
    {NULL, NULL},
};
static const struct where_column file_columns[] = {
    {"path", "p.path"}, {"size", "f.size"}, {"digest", "lower(hex(f.digest))"},
    {"made", "f.made"}, {"task", "t.name"}, {"kind", "k.name"},
    {NULL, NULL},
};
static const struct where_column *const where_own[] = {
    [WHERE_RUNS] = task_columns + sizeof task_columns / sizeof *task_columns - 1, /* none */
    [WHERE_TASKS] = task_columns,
    [WHERE_FILES] = file_columns,
};

/* NULL: the subject has no such column of its own. */
static const struct where_column *where_own_column(enum where_subject subject, const char *name)
{
    const struct where_column *c = where_own[subject];
    while (c->name && strcasecmp(c->name, name) != 0)
        c++;
    return c->name ? c : NULL;
}

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
    strbuf_free(&w->runs);
    strbuf_free(&w->rows);
    array_free(&w->names);
}

/* Every name that some run has, and our own columns: the nearest is what was meant. */
static bool where_unknown(struct history *h, enum where_subject subject, const char *name,
                          struct error *err)
{
    ARRAY(char *) known = {0};
    struct mem_guard guard;
    for (size_t i = 0; i < WHERE_COLUMNS; i++)
        array_push(&known, mem_copy_string(where_columns[i].name));
    for (const struct where_column *c = where_own[subject]; c->name; c++)
        array_push(&known, mem_copy_string(c->name));
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
    const struct where_column *own = quoted ? NULL : where_own_column(w->subject, name);
    if (own) {
        w->own = true;
        w->other_than_path |= strcmp(own->sql, "p.path") != 0;
        strbuf_add(out, own->sql);
        return true;
    }
    for (size_t i = 0; !quoted && i < WHERE_COLUMNS; i++)
        if (strcasecmp(name, where_columns[i].name) == 0) {
            w->of_run = true;
            strbuf_add(out, where_columns[i].sql);
            return true;
        }
    int64_t id = facts_find_name(h, name, err);
    size_t at = 0;
    if (!id &&
        (strcmp(name, "tag") == 0 || strcmp(name, "note") == 0 || strcmp(name, "name") == 0)) {
        strbuf_add(out, "NULL"); /* nobody has said anything yet: that is no mistake */
        return true;
    }
    if (!id)
        return where_unknown(h, w->subject, name, err);
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

/* Of a task or a file: what the run knows as a whole, what results of the task state, and the labels that
 * those have. Tags and notes stand under numbers of their own. */
static void where_join_own(struct history *h, struct where *w)
{
    const char *row = w->subject == WHERE_TASKS ? "a" : "f";
    int64_t tag = facts_find_name(h, "tag", NULL), note = facts_find_name(h, "note", NULL);
    for (size_t i = 0; i < w->names.n; i++) {
        int64_t name = w->names.at[i];
        if (name == tag || name == note)
            strbuf_printf(&w->condition,
                          " LEFT JOIN facts v%zu ON v%zu.name = %lld AND v%zu.run = r.id", i, i,
                          (long long)name, i);
        else
            strbuf_printf(&w->condition,
                          " LEFT JOIN facts v%zu INDEXED BY facts_by_run ON v%zu.run = r.id"
                          " AND v%zu.task IN (%s.task, -1) AND v%zu.name = %lld AND (v%zu.sort <>"
                          " 1 OR v%zu.item IN (SELECT x.item FROM facts x INDEXED BY facts_by_run"
                          " WHERE x.run = r.id AND x.task = %s.task))",
                          i, i, i, row, i, (long long)name, i, i, row);
    }
}

/* Facts of different labels are of different computations. */
static void where_one_item(struct where *w)
{
    for (size_t i = 0; i < w->names.n; i++)
        for (size_t k = 0; k < i; k++)
            strbuf_printf(&w->condition,
                          " AND ifnull(v%zu.item, 0) IN (0, ifnull(nullif(v%zu.item, 0),"
                          " ifnull(v%zu.item, 0)))",
                          i, k, i);
}

/* ---- what must hold of the run ---- */

/* "seconds > 60": what the run's attempts lie between decides. */
static void where_narrow_own(const char *part, enum where_subject subject, struct strbuf *runs)
{
    char name[16] = "", test[3] = "", value[40] = "";
    int n = 0;
    if (sscanf(part, " %15[a-zA-Z_] %2[<>=] %39[-+0-9.eE] %n", name, test, value, &n) != 3 ||
        part[n])
        return;
    const struct where_column *own = where_own_column(subject, name);
    double number;
    if (!own || !quantity_number(value, strlen(value), &number))
        return;
    char *sql = spans_condition(own->name, test, value);
    if (sql)
        strbuf_printf(runs, " AND %s", sql);
    free(sql);
}

/* Tasks of which a part with one name holds, found once a run by what it states under that name: asking each of
 * ten thousand rows for its facts takes many times as long. Of all tasks it holds where what the run knows
 * fulfils it, or a value that is not there. */
static void where_narrow_rows(const struct where *one, const char *expression, struct where *w)
{
    strbuf_printf(&w->rows,
                  " AND (%s.task IN (SELECT v0.task FROM facts v0 WHERE v0.name = %lld AND v0.run ="
                  " ?1 AND v0.task >= 0 AND (%s)) OR (SELECT 1 FROM (SELECT value FROM facts WHERE"
                  " name = %lld AND run = ?1 AND task < 0 UNION ALL SELECT NULL) v0 WHERE (%s)))",
                  w->subject == WHERE_TASKS ? "a" : "f", (long long)one->names.at[0], expression,
                  (long long)one->names.at[0], expression);
}

/* A question in SQL that somebody wrote a part of; -1: it cannot be answered. */
static int64_t where_count(struct history *h, const char *sql)
{
    struct mem_guard guard;
    sqlite3_stmt *s = where_query(h, &guard, sql, NULL);
    if (!s)
        return -1;
    int64_t n = database_step(h, s, NULL) == 1 ? sqlite3_column_int64(s, 0) : -1;
    where_end(h, s, &guard);
    return n;
}

/* "path like '%.png'": paths are stored once, so that the few files which have such a one are found by
 * looking through the paths; all others' runs are left out. */
static void where_narrow_paths(struct history *h, const char *expression, struct strbuf *runs)
{
    struct strbuf files = {0}, sql = {0};
    strbuf_printf(&files, "FROM paths p CROSS JOIN files f ON f.path = p.id WHERE (%s)",
                  expression);
    strbuf_printf(&sql,
                  "SELECT CASE WHEN (SELECT max(id) FROM paths) > %d OR EXISTS (SELECT 1 FROM"
                  " (SELECT NULL AS path) p WHERE (%s)) THEN %d ELSE"
                  " (SELECT count(*) FROM (SELECT 1 %s LIMIT %d)) END",
                  WHERE_PATHS, expression, WHERE_RARE + 1, files.at, WHERE_RARE + 1);
    int64_t n = where_count(h, sql.at);
    if (n >= 0 && n <= WHERE_RARE)
        strbuf_printf(runs, " AND r.id IN (SELECT f.id >> 32 %s)", files.at);
    strbuf_free(&files);
    strbuf_free(&sql);
}

/* A part that holds of a task holds with some value that the run has under the name, or with none. With two
 * names there would be four cases: it is left to the rows. */
static bool where_narrow(struct history *h, const char *part, struct where *w, struct error *err)
{
    struct where one = {.subject = w->subject};
    struct strbuf expression = {0};
    bool ok = where_expression(h, part, &one, &expression, err);
    if (ok && one.own) {
        where_narrow_own(part, w->subject, &w->runs);
        if (!one.names.n && !one.of_run && !one.other_than_path)
            where_narrow_paths(h, strbuf_text(&expression), &w->runs);
        if (!one.names.n) /* while the row is made, before what only is shown of it is looked up */
            strbuf_printf(&w->rows, " AND (%s)", strbuf_text(&expression));
    } else if (ok && !one.names.n)
        strbuf_printf(&w->runs, " AND (%s)", strbuf_text(&expression));
    else if (ok && one.names.n == 1)
        strbuf_printf(&w->runs,
                      " AND EXISTS (SELECT 1 FROM (SELECT value FROM facts WHERE name = %lld AND"
                      " run = r.id UNION ALL SELECT NULL) v0 WHERE (%s))",
                      (long long)one.names.at[0], strbuf_text(&expression));
    if (ok && !one.own && !one.of_run && one.names.n == 1)
        where_narrow_rows(&one, strbuf_text(&expression), w);
    strbuf_free(&expression);
    where_free(&one);
    return ok;
}

/* The length of the next word, number, quoted text or sign. */
static size_t where_token(const char *text)
{
    size_t n = *text == '\'' || *text == '"' ? where_quoted_length(text) : where_name_length(text);
    return n ? n : 1;
}

/* How deep parentheses and CASE ... END are after this token; an AND of BETWEEN is owed. */
struct where_nesting {
    int depth, between;
};

static bool where_is(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(text, word, n) == 0;
}

/* True: an `and` that joins two parts of the whole. */
static bool where_joins(struct where_nesting *at, const char *text, size_t n)
{
    if (*text == '(' || where_is(text, n, "case"))
        at->depth++;
    else if (*text == ')' || where_is(text, n, "end"))
        at->depth--;
    else if (!at->depth && where_is(text, n, "between"))
        at->between++;
    else if (!at->depth && where_is(text, n, "and"))
        return at->between == 0 || at->between-- == 0;
    return false;
}

/* Split at its ands; an `or` beside them leaves one part. */
static bool where_narrow_all(struct history *h, const char *text, struct where *w,
                             struct error *err)
{
    struct where_nesting at = {0};
    bool ok = true;
    const char *from = text;
    for (const char *p = text; *p;) {
        size_t n = where_token(p);
        if (!at.depth && where_is(p, n, "or"))
            return where_narrow(h, text, w, err);
        where_joins(&at, p, n);
        p += n;
    }
    at = (struct where_nesting){0};
    for (const char *p = text; ok; p += where_token(p)) {
        size_t n = *p ? where_token(p) : 0;
        if (*p && !where_joins(&at, p, n))
            continue;
        char *part = mem_copy_bytes(from, (size_t)(p - from));
        ok = where_narrow(h, part, w, err);
        free(part);
        if (!*p)
            break;
        from = p + n;
    }
    return ok;
}

bool where_translate(struct history *h, const char *text, enum where_subject subject,
                     struct where *out, struct error *err)
{
    struct strbuf expression = {0};
    *out = (struct where){.subject = subject};
    text += strspn(text, " \t\n");
    if (!*text)
        return error_set(err, ERROR_INPUT, "--where is empty; for example: sigma > 1 and f1 > 0.9");
    if (strncasecmp(text, "select", 6) == 0 && isspace((unsigned char)text[6])) {
        if (subject == WHERE_RUNS)
            strbuf_printf(&out->condition, "r.id IN (%s)", text);
        else
            strbuf_printf(&out->runs, " AND r.id IN (%s)", text);
        return true;
    }
    bool ok = where_expression(h, text, out, &expression, err);
    if (ok) {
        strbuf_add(&out->condition, "EXISTS (SELECT 1 FROM (SELECT 1)");
        if (subject == WHERE_RUNS)
            where_join(h, out);
        else
            where_join_own(h, out);
        strbuf_printf(&out->condition, " WHERE (%s)", strbuf_text(&expression));
        where_one_item(out);
        strbuf_add_char(&out->condition, ')');
    }
    if (ok && subject != WHERE_RUNS)
        ok = where_narrow_all(h, text, out, err);
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
