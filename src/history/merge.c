/* Taking over another machine's history.
 *
 *     other.db ──read──▶ copy beside ours ──migrated──▶ attached ── rows, renumbered ──▶ ours, one transaction
 *
 * I1. The other file is only read: what is migrated is a copy, which is removed.
 * I2. A run is the same when host, time, workflow, folder and process are: it is not taken twice.
 * I3. Rows of a run, or of a workflow, are numbered owner * 2^32 + n; columns that name rows of other tables
 *     are translated, all others are copied whatever they are called: a later version's columns come along. */
#include "history/database.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool history_is_database(const char *path)
{
    static const char mark[] = "SQLite format 3";
    char head[sizeof mark] = "";
    FILE *f = fopen(path, "re");
    bool is =
        f && fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, mark, sizeof mark) == 0;
    if (f)
        fclose(f);
    return is;
}

/* A column that is not copied as it stands. */
struct merge_rule {
    const char *table, *column;
    const char *value; /* in SQL; t is the other's row */
};

#define OWNED_BY_RUN                                                                               \
    "(SELECT m.new FROM temp.merge_runs m WHERE m.old = t.id >> 32) << 32 | (t.id & 4294967295)"
static const struct merge_rule merge_rules[] = {
    {"runs", "id", "(SELECT m.new FROM temp.merge_runs m WHERE m.old = t.id)"},
    {"runs", "workflow",
     "(SELECT w.id FROM main.workflows w JOIN other.workflows o ON o.digest = w.digest WHERE o.id "
     "= t.workflow)"},
    {"attempts", "id", OWNED_BY_RUN},
    {"attempts", "kind",
     "(SELECT k.id FROM main.kinds k JOIN other.kinds o ON o.name = k.name WHERE o.id = t.kind)"},
    {"reused", "id", OWNED_BY_RUN},
    {"events", "id", OWNED_BY_RUN},
    {"failures", "id", OWNED_BY_RUN},
    {"files", "id", OWNED_BY_RUN},
    {"files", "path", "(SELECT m.new FROM temp.merge_paths m WHERE m.old = t.path)"},
    {"predictions", "run", "(SELECT m.new FROM temp.merge_runs m WHERE m.old = t.run)"},
    {"reasons", "run", "(SELECT m.new FROM temp.merge_runs m WHERE m.old = t.run)"},
    {"facts", "run", "(SELECT m.new FROM temp.merge_runs m WHERE m.old = t.run)"},
    {"facts", "name",
     "(SELECT n.id FROM main.names n JOIN other.names o ON o.name = n.name WHERE o.id = t.name)"},
    {NULL, NULL, NULL},
};

/* Which rows of a table come over. */
static const struct merge_table {
    const char *name, *which;
} merge_tables[] = {
    {"runs", "t.id IN (SELECT old FROM temp.merge_runs)"},
    {"attempts", "t.id >> 32 IN (SELECT old FROM temp.merge_runs)"},
    {"reused", "t.id >> 32 IN (SELECT old FROM temp.merge_runs)"},
    {"events", "t.id >> 32 IN (SELECT old FROM temp.merge_runs)"},
    {"failures", "t.id >> 32 IN (SELECT old FROM temp.merge_runs)"},
    {"files", "t.id >> 32 IN (SELECT old FROM temp.merge_runs)"},
    {"predictions", "t.run IN (SELECT old FROM temp.merge_runs)"},
    {"reasons", "t.run IN (SELECT old FROM temp.merge_runs)"},
    /* a name (sort 5) is of one run: that of ours stays */
    {"facts",
     "t.run IN (SELECT old FROM temp.merge_runs) AND NOT (t.sort = 5 AND EXISTS (SELECT 1 FROM"
     " main.facts f WHERE f.sort = 5 AND f.value = t.value))"},
};

/* What others point to, by what it is called everywhere: once. */
static const char merge_shared[] =
    "INSERT OR IGNORE INTO main.kinds(name) SELECT name FROM other.kinds;"
    "INSERT OR IGNORE INTO main.names(name) SELECT name FROM other.names;"
    "INSERT OR IGNORE INTO main.folders(path) SELECT path FROM other.folders;"
    "CREATE TEMP TABLE merge_workflows AS SELECT o.id AS old, o.digest AS digest FROM "
    "other.workflows o"
    " WHERE o.id IN (SELECT r.workflow FROM other.runs r JOIN temp.merge_runs m ON m.old = r.id)"
    " AND NOT EXISTS (SELECT 1 FROM main.workflows w WHERE w.digest = o.digest);"
    "INSERT INTO main.workflows(digest, name, tasks, text) SELECT digest, name, tasks, text"
    " FROM other.workflows WHERE id IN (SELECT old FROM temp.merge_workflows);"
    "INSERT INTO main.commands(id, text) SELECT w.id << 32 | (c.id & 4294967295), c.text"
    " FROM temp.merge_workflows m JOIN main.workflows w ON w.digest = m.digest"
    " JOIN other.commands c ON c.id BETWEEN m.old << 32 AND (m.old << 32 | 4294967295);"
    "INSERT INTO main.tasks(id, name, kind, command)"
    " SELECT w.id << 32 | (t.id & 4294967295), t.name, k.id, t.command"
    " FROM temp.merge_workflows m JOIN main.workflows w ON w.digest = m.digest"
    " JOIN other.tasks t ON t.id BETWEEN m.old << 32 AND (m.old << 32 | 4294967295)"
    " JOIN other.kinds ok ON ok.id = t.kind JOIN main.kinds k ON k.name = ok.name;"
    "CREATE TEMP TABLE merge_wanted AS SELECT DISTINCT p.id AS old, f.id AS folder, p.path AS path"
    " FROM other.files t JOIN other.paths p ON p.id = t.path JOIN other.folders o ON o.id = "
    "p.folder"
    " JOIN main.folders f ON f.path = o.path WHERE t.id >> 32 IN (SELECT old FROM temp.merge_runs);"
    "INSERT INTO main.paths(folder, path, hash) SELECT folder, path, path_hash(folder, path)"
    " FROM temp.merge_wanted w WHERE NOT EXISTS (SELECT 1 FROM main.paths p WHERE"
    " p.hash = path_hash(w.folder, w.path) AND p.folder = w.folder AND p.path = w.path);"
    "CREATE TEMP TABLE merge_paths AS SELECT w.old AS old, p.id AS new FROM temp.merge_wanted w"
    " JOIN main.paths p ON p.hash = path_hash(w.folder, w.path) AND p.folder = w.folder AND p.path "
    "= w.path;"
    "CREATE INDEX temp.merge_paths_by_old ON merge_paths(old);";

/* I2. `IS`: what is not known on either side is the same. Their order stays. */
static const char merge_choice[] =
    "CREATE TEMP TABLE merge_there AS SELECT o.id AS old FROM other.runs o WHERE EXISTS (SELECT 1 "
    "FROM"
    " main.runs r WHERE r.started IS o.started AND r.host IS o.host AND r.name IS o.name"
    " AND r.folder IS o.folder AND r.pid IS o.pid AND r.tasks IS o.tasks);"
    "CREATE TEMP TABLE merge_runs AS SELECT o.id AS old, row_number() OVER (ORDER BY o.id) +"
    " (SELECT max(ifnull((SELECT seq FROM main.sqlite_sequence WHERE name = 'runs'), 0),"
    " ifnull((SELECT max(id) FROM main.runs), 0))) AS new FROM other.runs o"
    " WHERE o.outcome <> 0 AND o.id NOT IN (SELECT old FROM temp.merge_there);"
    "CREATE UNIQUE INDEX temp.merge_runs_by_old ON merge_runs(old);";

static const char *merge_value(const char *table, const char *column)
{
    for (const struct merge_rule *r = merge_rules; r->table; r++)
        if (strcmp(r->table, table) == 0 && strcmp(r->column, column) == 0)
            return r->value;
    return NULL;
}

/* I3. */
static bool merge_table(struct history *h, const struct merge_table *t, struct error *err)
{
    struct strbuf into = {0}, from = {0}, sql = {0};
    struct mem_guard guard;
    int row = 0;
    strbuf_printf(&sql, "PRAGMA main.table_info(%s)", t->name);
    sqlite3_stmt *s = database_query(h, &guard, sql.at, err);
    while (s && (row = database_step(h, s, err)) == 1) {
        const char *column = (const char *)sqlite3_column_text(s, 1);
        const char *value = merge_value(t->name, column);
        strbuf_printf(&into, "%s\"%s\"", into.n ? ", " : "", column);
        if (value)
            strbuf_printf(&from, "%s%s", from.n ? ", " : "", value);
        else
            strbuf_printf(&from, "%st.\"%s\"", from.n ? ", " : "", column);
    }
    bool good = s && row == 0;
    database_close_query(s, &guard);
    strbuf_clear(&sql);
    strbuf_printf(&sql, "INSERT INTO main.%s(%s) SELECT %s FROM other.%s t WHERE %s", t->name,
                  strbuf_text(&into), strbuf_text(&from), t->name, t->which);
    good = good && database_exec(h, sql.at, err);
    strbuf_free(&into);
    strbuf_free(&from);
    strbuf_free(&sql);
    return good;
}

static bool merge_count(struct history *h, struct history_merged *out, struct error *err)
{
    int64_t runs = 0, there = 0, running = 0;
    struct mem_guard guard;
    bool good =
        database_integer(h, "SELECT count(*) FROM temp.merge_runs", &runs, err) &&
        database_integer(h, "SELECT count(*) FROM temp.merge_there", &there, err) &&
        database_integer(h,
                         "SELECT count(*) FROM other.runs WHERE outcome = 0 AND id NOT IN"
                         " (SELECT old FROM temp.merge_there)",
                         &running, err) &&
        database_integer(h, "SELECT ifnull(min(new), 0) FROM temp.merge_runs", &out->first, err);
    sqlite3_stmt *s =
        good ? database_query(
                   h, &guard,
                   "SELECT group_concat(host, ', ') FROM (SELECT DISTINCT host FROM other.runs"
                   " WHERE id IN (SELECT old FROM temp.merge_runs) ORDER BY host)",
                   err)
             : NULL;
    if (s && database_step(h, s, err) == 1 && sqlite3_column_text(s, 0))
        snprintf(out->hosts, sizeof out->hosts, "%s", (const char *)sqlite3_column_text(s, 0));
    database_close_query(s, &guard);
    out->runs = (uint32_t)runs;
    out->there = (uint32_t)there;
    out->running = (uint32_t)running;
    return good;
}

static bool merge_attached(struct history *h, struct history_merged *out, struct error *err)
{
    bool good = database_exec(h, "BEGIN IMMEDIATE", err) && database_exec(h, merge_choice, err) &&
                merge_count(h, out, err) && database_exec(h, merge_shared, err);
    for (size_t i = 0; good && i < sizeof merge_tables / sizeof *merge_tables; i++)
        good = merge_table(h, &merge_tables[i], err);
    good = good && database_exec(h, "COMMIT", err);
    if (!good)
        database_roll_back(h->db);
    return good;
}

/* I1. Through SQLite, which knows what stands in a log beside it. */
static bool merge_copy(const char *path, const char *copy, struct error *err)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    int code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db, "VACUUM main INTO ?1", -1, &s, NULL);
    if (code == SQLITE_OK) {
        sqlite3_bind_text(s, 1, copy, -1, SQLITE_STATIC);
        code = sqlite3_step(s) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(db);
    }
    if (code != SQLITE_OK)
        error_set(err, code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? ERROR_INPUT : ERROR_FAILED,
                  "%s: cannot be read as a history: %s", path,
                  db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
    sqlite3_finalize(s);
    sqlite3_close(db);
    return code == SQLITE_OK;
}

/* Migrated where it must be; what is no history of weft's, or a newer one, is refused there. */
static bool merge_prepare(const char *path, const char *copy, struct error *err)
{
    struct error why = {0};
    if (!merge_copy(path, copy, err))
        return false;
    struct history *other = history_open_existing(copy, &why);
    if (!other) {
        const char *text = strstr(why.text, ": "); /* the copy's name means nothing to anybody */
        return error_set(err, ERROR_INPUT, "%s%s", path,
                         text ? text : ": is not a history of weft");
    }
    int64_t runs = 0;
    bool good = database_integer(other, "SELECT count(*) FROM runs", &runs, err);
    history_close(other);
    return good;
}

bool history_merge(struct history *h, const char *path, struct history_merged *out,
                   struct error *err)
{
    struct strbuf copy = {0};
    char *theirs = realpath(path, NULL), *ours = realpath(h->path, NULL);
    *out = (struct history_merged){0};
    bool same = theirs && ours && strcmp(theirs, ours) == 0;
    free(theirs);
    free(ours);
    if (same)
        return error_set(err, ERROR_INPUT, "%s: is this history itself", path);
    strbuf_printf(&copy, "%s-merging-%ld", h->path, (long)getpid());
    unlink(copy.at);
    bool good = merge_prepare(path, copy.at, err);
    sqlite3_stmt *s = good ? database_prepare(h, "ATTACH ?1 AS other", err) : NULL;
    if (s)
        database_bind_text(s, 1, copy.at);
    good = s && database_run(h, s, err);
    sqlite3_finalize(s);
    if (good) {
        good = merge_attached(h, out, err);
        database_exec(
            h,
            "DROP TABLE IF EXISTS temp.merge_runs; DROP TABLE IF EXISTS temp.merge_there;"
            "DROP TABLE IF EXISTS temp.merge_workflows; DROP TABLE IF EXISTS temp.merge_wanted;"
            "DROP TABLE IF EXISTS temp.merge_paths; DETACH other",
            NULL);
    }
    size_t n = copy.n;
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", "-journal", NULL}; *end;
         end++) {
        copy.n = n;
        strbuf_add(&copy, *end);
        unlink(copy.at);
    }
    strbuf_free(&copy);
    return good;
}
