/* Tasks and files of all runs, found by what is known of them.
 *
 *     runs, newest first ── what must hold of the run (where.c, spans.c) ──▶ run
 *       run's rows, last first ── the whole question ──▶ findings, until there are enough
 *
 * I1. Rows of a run stand together (id = run << 32 | n) and are read in that order: no index over ten million
 *     attempts is needed, nor kept.
 * I2. Not more than `look` rows are looked at, whatever is asked: about 0.15 s of a usual machine. What a run
 *     cannot have is known without looking at its rows in nearly all questions, so that this is a bound for the
 *     odd ones; and an answer that it cut short says so.
 * I3. A word of the question may stand in what is known of the run: bit i of its mask. Only the others are
 *     looked for in rows, and in a workflow whose tasks have them nowhere no row is read. */
#include "history/reader.h"

#include "history/facts.h"
#include "history/spans.h"
#include "history/where.h"
#include "history/words.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORDS_MOST = 60,       /* bits of a mask */
    LOOKED_THROUGH = 20000 /* kinds or commands, at most, for a word that none of them may have */
};

/* Which words the tasks of a workflow have, of those that were looked for. */
struct search_flow {
    int64_t workflow;
    int64_t asked, words;
};

struct search {
    struct history *h;
    const struct history_search *ask;
    enum where_subject subject;
    struct where where;
    int nwords;
    struct strbuf runs_sql, rows_sql, names_sql;
    ARRAY(struct search_flow)
    flows;         /* by number, the largest first, as newer runs have larger ones */
    uint64_t left; /* rows that may still be looked at */
    history_findings *out;
};

/* ---- questions in SQL ---- */

/* Is the word in so few paths that their runs can be listed? */
static bool search_is_rare(struct history *h, const char *pattern)
{
    struct strbuf sql = {0};
    int64_t n = 0;
    strbuf_printf(&sql,
                  "SELECT CASE WHEN (SELECT max(id) FROM paths) > %d THEN %d ELSE (SELECT count(*)"
                  " FROM (SELECT 1 FROM paths p CROSS JOIN files f ON f.path = p.id"
                  " WHERE p.path LIKE %s LIMIT %d)) END",
                  WHERE_PATHS, WHERE_RARE + 1, pattern, WHERE_RARE + 1);
    bool rare = database_integer(h, sql.at, &n, NULL) && n <= WHERE_RARE;
    strbuf_free(&sql);
    return rare;
}

/* Does the table have the pattern anywhere? Kinds and commands mostly do not: then no task is asked. */
static bool search_has(struct history *h, const char *table, const char *column,
                       const char *pattern)
{
    struct strbuf sql = {0};
    int64_t has = 1;
    strbuf_printf(&sql,
                  "SELECT EXISTS (SELECT 1 FROM (SELECT %s AS it FROM %s LIMIT %d) WHERE it"
                  " LIKE %s) OR (SELECT count(*) FROM (SELECT 1 FROM %s LIMIT %d)) > %d",
                  column, table, LOOKED_THROUGH, pattern, table, LOOKED_THROUGH + 1,
                  LOOKED_THROUGH);
    database_integer(h, sql.at, &has, NULL);
    strbuf_free(&sql);
    return has;
}

/* Which tasks `t` of workflow ?7 have the word: "FROM tasks t WHERE ...". */
static void search_having(struct history *h, const char *pattern, struct strbuf *out)
{
    strbuf_printf(out,
                  "FROM tasks t WHERE t.id BETWEEN ?7 << 32 AND (?7 << 32) + 4294967295 AND"
                  " (t.name LIKE %s",
                  pattern);
    if (search_has(h, "kinds", "name", pattern))
        strbuf_printf(out, " OR t.kind IN (SELECT id FROM kinds WHERE name LIKE %s)", pattern);
    if (search_has(h, "commands", "text", pattern))
        strbuf_printf(
            out,
            " OR t.command IN (SELECT c.id & 4294967295 FROM commands c WHERE c.id BETWEEN"
            " ?7 << 32 AND (?7 << 32) + 4294967295 AND c.text LIKE %s)",
            pattern);
    strbuf_add_char(out, ')');
}

/* One word: into the mask of the run, the condition on rows, and what tells that no row can have it. */
static void search_add_word(struct search *s, const char *pattern, struct strbuf *mask)
{
    strbuf_printf(mask, "%s(", s->nwords ? " | " : "");
    words_of_run(pattern, mask);
    strbuf_printf(mask, " << %d)", s->nwords);
    strbuf_printf(&s->rows_sql, " AND ((?3 >> %d) & 1", s->nwords);
    if (s->subject == WHERE_TASKS) {
        struct strbuf has = {0};
        search_having(s->h, pattern, &has);
        strbuf_printf(&s->rows_sql, " OR a.task IN (SELECT t.id & 4294967295 %s))", has.at);
        /* only a word that is asked for: ?8 */
        strbuf_printf(&s->names_sql,
                      "%sCASE WHEN (?8 >> %d) & 1 THEN EXISTS (SELECT 1 %s) << %d"
                      " ELSE 0 END",
                      s->nwords ? " | " : "SELECT ", s->nwords, has.at, s->nwords);
        strbuf_free(&has);
    } else {
        strbuf_printf(&s->rows_sql, " OR p.path LIKE %s)", pattern);
        if (search_is_rare(s->h, pattern)) {
            strbuf_add(&s->runs_sql, " AND (");
            words_of_run(pattern, &s->runs_sql);
            strbuf_printf(&s->runs_sql,
                          " OR r.id IN (SELECT f.id >> 32 FROM paths p CROSS JOIN files f"
                          " ON f.path = p.id WHERE p.path LIKE %s))",
                          pattern);
        }
    }
    s->nwords++;
}

static bool search_add_words(struct search *s, struct strbuf *mask, struct error *err)
{
    struct strbuf pattern = {0};
    const char *at = s->ask->words ? s->ask->words : "";
    while (s->nwords < WORDS_MOST && words_next(&at, &pattern))
        search_add_word(s, pattern.at, mask);
    bool ok = !words_next(&at, &pattern) ||
              error_set(err, ERROR_INPUT, "more than %d words are asked for", WORDS_MOST);
    strbuf_free(&pattern);
    return ok;
}

static const char search_task_rows[] =
    "SELECT a.task, a.start, a.took, a.cpu, a.memory, a.read, a.written, a.outcome, a.status,"
    " a.attempt, a.node, a.lane, t.name, k.name, c.text FROM runs r CROSS JOIN attempts a"
    " LEFT JOIN tasks t ON t.id = (r.workflow << 32) + a.task LEFT JOIN kinds k ON k.id = t.kind"
    " LEFT JOIN commands c ON c.id = (r.workflow << 32) + t.command"
    " WHERE r.id = ?1 AND a.id BETWEEN ?5 AND (?1 << 32) + 4294967295";
static const char search_file_rows[] =
    "SELECT f.object, f.task, p.path, f.digest, f.key, f.size, f.made, t.name, k.name"
    " FROM runs r CROSS JOIN files f LEFT JOIN paths p ON p.id = f.path"
    " LEFT JOIN tasks t ON t.id = (r.workflow << 32) + f.task LEFT JOIN kinds k ON k.id = t.kind"
    " WHERE r.id = ?1 AND f.id BETWEEN ?5 AND (?1 << 32) + 4294967295";

/* Both questions; the numbers of their parameters are the same where they mean the same. */
static bool search_make_sql(struct search *s, struct error *err)
{
    const struct history_search *ask = s->ask;
    bool tasks = s->subject == WHERE_TASKS;
    struct strbuf mask = {0}, begin = {0};
    strbuf_add(&s->rows_sql, tasks ? search_task_rows : search_file_rows);
    /* a task may begin long after its run */
    strbuf_add(&s->runs_sql,
               tasks ? " AND r.started + ifnull(r.seconds, 1e12) >= ?2" : " AND r.started >= ?2");
    if (tasks && ask->since > 0)
        strbuf_add(&s->rows_sql, " AND r.started + 1e-6 * a.start >= ?6");
    if (ask->failed) {
        strbuf_printf(&s->runs_sql, " AND %s", spans_bad);
        strbuf_add(&s->rows_sql, " AND a.outcome <> 0");
    }
    if (ask->digest) {
        /* by the index alone: the few others that begin alike are told apart by the rows */
        strbuf_add(&s->runs_sql,
                   " AND r.id IN (SELECT f.id >> 32 FROM files f INDEXED BY files_by_digest WHERE"
                   " f.digest IS NOT NULL AND substr(f.digest, 1, 6) = substr(?4, 1, 6))");
        strbuf_add(&s->rows_sql, tasks ? " AND a.task IN (SELECT f.task" READER_OF_DIGEST
                                         " AND f.id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295)"
                                       : " AND f.digest = ?4");
    }
    bool ok = search_add_words(s, &mask, err) &&
              (!ask->where || where_translate(s->h, ask->where, s->subject, &s->where, err));
    strbuf_add(&s->rows_sql, strbuf_text(&s->where.rows));
    if (s->where.condition.n)
        strbuf_printf(&s->rows_sql, " AND %s", s->where.condition.at);
    strbuf_printf(&s->rows_sql, " ORDER BY %s.id DESC LIMIT ?2", tasks ? "a" : "f");
    strbuf_printf(&begin,
                  "SELECT r.id, r.workflow, r.started, r.name, r.folder, r.host, r.tasks,"
                  " r.outcome <> 0 AND NOT EXISTS (SELECT 1 FROM spans s WHERE s.run = r.id), %s"
                  " FROM runs r WHERE (?1 IS NULL OR instr(r.name, ?1)) AND (?3 = 0 OR r.id = ?3)"
                  "%s%s ORDER BY r.id DESC",
                  s->nwords ? mask.at : "0", s->runs_sql.at, strbuf_text(&s->where.runs));
    strbuf_free(&s->runs_sql);
    s->runs_sql = begin;
    strbuf_free(&mask);
    return ok;
}

/* ---- answers ---- */

/* A candidate: the columns of runs_sql. */
struct search_run {
    int64_t run, workflow, tasks, words;
    double started;
    const char *name, *folder, *host; /* of the statement: until its next step */
    bool unspanned;                   /* ended, and spans.c has nothing of it */
};

static void search_found(const struct search_run *r, sqlite3_stmt *s, bool tasks,
                         struct history_found *out)
{
    int after = tasks ? 12 : 7;
    *out = (struct history_found){
        .run = {.run = r->run, .started = r->started},
        .task = database_text(s, after),
        .kind = database_text(s, after + 1),
        .command = tasks ? database_text(s, after + 2) : NULL,
    };
    out->run.name = r->name ? mem_copy_string(r->name) : NULL;
    out->run.folder = r->folder ? mem_copy_string(r->folder) : NULL;
    out->run.host = r->host ? mem_copy_string(r->host) : NULL;
    if (tasks)
        reader_read_attempt(s, &out->attempt);
    else
        reader_read_file(s, 0, &out->file);
}

/* How many rows the run has, by the number of the last; in one step. */
static uint64_t search_size(struct search *s, sqlite3_stmt *last, int64_t run)
{
    sqlite3_bind_int64(last, 1, database_row(run, 0));
    uint64_t n = database_step(s->h, last, NULL) == 1 && sqlite3_column_type(last, 0) != SQLITE_NULL
                     ? (uint64_t)(sqlite3_column_int64(last, 0) & UINT32_MAX) + 1
                     : 0;
    sqlite3_reset(last);
    return n;
}

static void search_pay(struct search *s, uint64_t rows)
{
    s->left -= rows < s->left ? rows : s->left;
}

/* Its place in s->flows; a new one has been asked nothing. */
static struct search_flow *search_flow(struct search *s, int64_t workflow)
{
    size_t low = 0, high = s->flows.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (s->flows.at[mid].workflow > workflow)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == s->flows.n || s->flows.at[low].workflow != workflow) {
        array_push(&s->flows, (struct search_flow){0});
        memmove(&s->flows.at[low + 1], &s->flows.at[low],
                (s->flows.n - 1 - low) * sizeof *s->flows.at);
        s->flows.at[low] = (struct search_flow){.workflow = workflow};
    }
    return &s->flows.at[low];
}

/* Which of the wanted words the tasks of the run's workflow have; each is asked once. One that is too
 * large to ask may have all. */
static int64_t search_flow_words(struct search *s, sqlite3_stmt *names, const struct search_run *r,
                                 int64_t wanted)
{
    struct search_flow *f = search_flow(s, r->workflow);
    int64_t missing = wanted & ~f->asked;
    if (!missing)
        return f->words;
    if (r->tasks < 0 || (uint64_t)r->tasks > s->left / 2)
        return -1;
    sqlite3_bind_int64(names, 7, r->workflow);
    sqlite3_bind_int64(names, 8, missing);
    int64_t words = database_step(s->h, names, NULL) == 1 ? sqlite3_column_int64(names, 0) : -1;
    sqlite3_reset(names);
    search_pay(s, (uint64_t)r->tasks / 2); /* a name costs about half of an attempt */
    f->asked |= missing;
    f->words |= words & missing;
    return f->words;
}

/* Facts of the question, of the finding: that is what one wants to see. */
static bool search_add_facts(struct search *s, struct history_found *f, struct error *err)
{
    uint32_t task = s->subject == WHERE_TASKS ? f->attempt.id : f->file.task;
    bool ok = true;
    for (size_t k = 0; ok && k < s->where.names.n; k++)
        ok = facts_load_task(s->h, &f->run, s->where.names.at[k], task, err);
    return ok;
}

/* The rows of one run. `n` of them, of which the last `left` are looked at. */
static bool search_rows(struct search *s, sqlite3_stmt *rows, const struct search_run *r,
                        uint64_t n, struct error *err)
{
    const struct history_search *ask = s->ask;
    uint32_t first = n > s->left ? (uint32_t)(n - s->left) : 0;
    sqlite3_bind_int64(rows, 1, r->run);
    sqlite3_bind_int64(rows, 2, ask->limit ? (int64_t)(ask->limit - s->out->list.n) : -1);
    sqlite3_bind_int64(rows, 3, r->words);
    if (ask->digest)
        sqlite3_bind_blob(rows, 4, ask->digest->at, sizeof ask->digest->at, SQLITE_STATIC);
    sqlite3_bind_int64(rows, 5, database_row(r->run, first));
    if (sqlite3_bind_parameter_count(rows) >= 6)
        sqlite3_bind_double(rows, 6, ask->since);
    if (sqlite3_bind_parameter_count(rows) >= 7)
        sqlite3_bind_int64(rows, 7, r->workflow);
    int row;
    bool ok = true;
    while (ok && (row = database_step(s->h, rows, err)) == 1) {
        struct history_found *f = array_add(&s->out->list);
        search_found(r, rows, s->subject == WHERE_TASKS, f);
        ok = search_add_facts(s, f, err);
    }
    ok = ok && row == 0;
    sqlite3_reset(rows);
    search_pay(s, n);
    if (first)
        s->out->whole = false;
    return ok;
}

/* A run that an older weft recorded: the next question need not look at its rows. Only if that can be done
 * at once. */
static void search_span(struct search *s, const struct search_run *r, uint64_t n)
{
    if (!r->unspanned || n > s->left || sqlite3_db_readonly(s->h->db, "main") == 1)
        return;
    sqlite3_busy_timeout(s->h->db, 0);
    spans_add(s->h, r->run, NULL);
    sqlite3_busy_timeout(s->h->db, DATABASE_WAIT);
    search_pay(s, n);
}

static void search_read_run(sqlite3_stmt *s, struct search_run *r)
{
    *r = (struct search_run){
        .run = sqlite3_column_int64(s, 0),
        .workflow = sqlite3_column_int64(s, 1),
        .tasks = sqlite3_column_int64(s, 6),
        .words = sqlite3_column_int64(s, 8),
        .started = sqlite3_column_double(s, 2),
        .name = (const char *)sqlite3_column_text(s, 3),
        .folder = (const char *)sqlite3_column_text(s, 4),
        .host = (const char *)sqlite3_column_text(s, 5),
        .unspanned = sqlite3_column_int(s, 7) != 0,
    };
}

struct search_statements {
    sqlite3_stmt *runs, *rows, *last, *names; /* names: NULL where it is not asked */
};

static bool search_walk(struct search *s, const struct search_statements *q, struct error *err)
{
    const struct history_search *ask = s->ask;
    int64_t all = ((int64_t)1 << s->nwords) - 1;
    int row = 0;
    bool ok = true;
    database_bind_text(q->runs, 1, ask->workflow);
    sqlite3_bind_double(q->runs, 2, ask->since);
    sqlite3_bind_int64(q->runs, 3, ask->run);
    if (ask->digest)
        sqlite3_bind_blob(q->runs, 4, ask->digest->at, sizeof ask->digest->at, SQLITE_STATIC);
    while (ok && s->out->whole && (!ask->limit || s->out->list.n < ask->limit) &&
           (row = database_step(s->h, q->runs, err)) == 1) {
        struct search_run r;
        search_read_run(q->runs, &r);
        if (!s->left) { /* here is one more that would have to be looked at */
            s->out->whole = false;
            break;
        }
        s->out->from = r.run;
        if (q->names && r.words != all &&
            ((r.words | search_flow_words(s, q->names, &r, all & ~r.words)) & all) != all)
            continue;
        uint64_t n = search_size(s, q->last, r.run);
        ok = search_rows(s, q->rows, &r, n, err);
        if (ok)
            search_span(s, &r, n);
    }
    return ok && row >= 0;
}

/* Statements that contain what somebody wrote are prepared under the authorizer; ours are not. */
static bool search_ask(struct search *s, struct error *err)
{
    struct mem_guard guard[4];
    struct search_statements q = {0};
    q.runs = where_query(s->h, &guard[0], s->runs_sql.at, err);
    q.rows = q.runs ? where_query(s->h, &guard[1], s->rows_sql.at, err) : NULL;
    q.last = q.rows ? database_query(s->h, &guard[2],
                                     s->subject == WHERE_TASKS
                                         ? "SELECT max(id) FROM attempts WHERE id BETWEEN ?1 AND"
                                           " ?1 + 4294967295"
                                         : "SELECT max(id) FROM files WHERE id BETWEEN ?1 AND"
                                           " ?1 + 4294967295",
                                     err)
                    : NULL;
    bool named = s->names_sql.n > 0;
    if (q.last && named)
        q.names = database_query(s->h, &guard[3], s->names_sql.at, err);
    bool ok = q.last && (!named || q.names) && search_walk(s, &q, err);
    if (q.names)
        database_close_query(q.names, &guard[3]);
    if (q.last)
        database_close_query(q.last, &guard[2]);
    if (q.rows)
        where_end(s->h, q.rows, &guard[1]);
    if (q.runs)
        where_end(s->h, q.runs, &guard[0]);
    return ok;
}

static bool search_do(struct history *h, const struct history_search *ask,
                      enum where_subject subject, history_findings *out, struct error *err)
{
    *out = (history_findings){.whole = true};
    struct search s = {.h = h,
                       .ask = ask,
                       .subject = subject,
                       .left = ask->look ? ask->look : UINT64_MAX,
                       .out = out};
    bool ok = search_make_sql(&s, err) && search_ask(&s, err);
    where_free(&s.where);
    strbuf_free(&s.runs_sql);
    strbuf_free(&s.rows_sql);
    strbuf_free(&s.names_sql);
    array_free(&s.flows);
    if (!ok)
        history_findings_free(out);
    return ok;
}

bool history_search_tasks(struct history *h, const struct history_search *s, history_findings *out,
                          struct error *err)
{
    return search_do(h, s, WHERE_TASKS, out, err);
}

bool history_search_files(struct history *h, const struct history_search *s, history_findings *out,
                          struct error *err)
{
    *out = (history_findings){0};
    if (s->failed)
        return error_set(err, ERROR_INPUT,
                         "files do not fail: ask for tasks, or say it in --where");
    return search_do(h, s, WHERE_FILES, out, err);
}

void history_findings_free(history_findings *f)
{
    for (size_t i = 0; i < f->list.n; i++) {
        struct history_found *x = &f->list.at[i];
        record_free(&x->run);
        free(x->task);
        free(x->kind);
        free(x->command);
        free(x->file.path);
    }
    array_free(&f->list);
}
