/* The database file: opening, versions, errors in words, and the few calls of SQLite that the other
 * files use. docs/history.md describes the tables.
 *
 * I1. Every version is reached by the same steps, one transaction for all of them: a file is of one
 *     version, whole, or unchanged.
 * I2. A file that is not ours (application_id) or newer than we are is never written.
 * I3. Several processes may open, migrate and write at the same time; SQLite's locks decide, and
 *     whoever waits gives up after DATABASE_WAIT.
 * I4. Blocks of SQLite are in no ledger (base/mem.h): what is open while memory is allocated has a
 *     guard, so that a call that runs out leaves no statement, no transaction and no connection
 *     behind. A history that was read stays usable. */
#include "history/database.h"
#include "history/board.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define APPLICATION_ID 0x77656674 /* "weft" in the file's header: it is ours */

/* Step n brings version n to n + 1; a new file takes them all, so every step is always in use.
 * Times are whole microseconds since the start of the run, sizes whole bytes: SQLite stores small
 * integers in few bytes (an attempt takes about 45). */
static const char *const steps[DATABASE_VERSION] = {
    "CREATE TABLE workflows(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, name TEXT,"
    " tasks INTEGER, text BLOB);"
    "CREATE TABLE kinds(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE tasks(id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind INTEGER NOT NULL);"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, workflow INTEGER, name TEXT,"
    " file TEXT, folder TEXT, host TEXT, planner TEXT, started REAL, seconds REAL, cores INTEGER,"
    " memory REAL, speed REAL, outcome INTEGER, tasks INTEGER, ran INTEGER, reused INTEGER,"
    " failed INTEGER, skipped INTEGER, pid INTEGER, born INTEGER, boot TEXT);"
    "CREATE TABLE attempts(id INTEGER PRIMARY KEY, task INTEGER, start INTEGER, took INTEGER,"
    " cpu INTEGER, memory INTEGER, read INTEGER, written INTEGER, outcome INTEGER, status INTEGER,"
    " attempt INTEGER, node INTEGER, lane INTEGER, kind INTEGER);"
    "CREATE TABLE reused(id INTEGER PRIMARY KEY, first INTEGER, count INTEGER, at INTEGER);"
    "CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT, object INTEGER, task INTEGER,"
    " digest BLOB, key BLOB, size INTEGER, made INTEGER);",

    /* 2: what was predicted; counters; a path is stored once and found without reading every run;
     * samples of a kind are found without reading every attempt. */
    "ALTER TABLE runs ADD COLUMN predicted_seconds REAL;"
    "ALTER TABLE runs ADD COLUMN predicted_memory REAL;"
    "ALTER TABLE runs ADD COLUMN predicted_disk REAL;"
    "ALTER TABLE runs ADD COLUMN peak_memory REAL;"
    "ALTER TABLE runs ADD COLUMN peak_disk REAL;"
    "CREATE TABLE predictions(run INTEGER PRIMARY KEY, tasks BLOB NOT NULL);"
    "CREATE TABLE events(id INTEGER PRIMARY KEY, type INTEGER, subject INTEGER, node INTEGER,"
    " other INTEGER, start INTEGER, took INTEGER, amount REAL);"
    "CREATE TABLE folders(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);"
    "CREATE TABLE paths(id INTEGER PRIMARY KEY, folder INTEGER NOT NULL, path TEXT NOT NULL,"
    " hash INTEGER NOT NULL);"
    "INSERT INTO folders(path) SELECT DISTINCT ifnull(folder, '') FROM runs;"
    "INSERT INTO paths(folder, path, hash)"
    " SELECT DISTINCT d.id, f.path, path_hash(d.id, f.path) FROM files f JOIN runs r"
    " ON r.id = f.id >> 32 JOIN folders d ON d.path = ifnull(r.folder, '');"
    "CREATE INDEX paths_by_hash ON paths(hash);"
    "CREATE TABLE files2(id INTEGER PRIMARY KEY, path INTEGER, object INTEGER, task INTEGER,"
    " digest BLOB, key BLOB, size INTEGER, made INTEGER);"
    "INSERT INTO files2 SELECT f.id, p.id, f.object, f.task, f.digest, f.key, f.size, f.made"
    " FROM files f JOIN runs r ON r.id = f.id >> 32 JOIN folders d"
    " ON d.path = ifnull(r.folder, '')"
    " JOIN paths p ON p.hash = path_hash(d.id, f.path) AND p.folder = d.id AND p.path = f.path;"
    "DROP TABLE files;"
    "ALTER TABLE files2 RENAME TO files;"
    "CREATE INDEX files_by_path ON files(path);"
    "CREATE INDEX attempts_by_kind ON attempts(kind) WHERE kind IS NOT NULL;",

    /* 3: why tasks failed: the command, the last lines, a hint. */
    "CREATE TABLE failures(id INTEGER PRIMARY KEY, task INTEGER, attempt INTEGER, outcome INTEGER,"
    " status INTEGER, cause INTEGER, most REAL, reason TEXT, command TEXT, hint TEXT, log TEXT,"
    " tail TEXT);",

    /* 4: parameters and lists that were given from outside. */
    "ALTER TABLE runs ADD COLUMN given TEXT;",

    /* 5: of the skipped those that a decision skipped, of the failed those that may. */
    "ALTER TABLE runs ADD COLUMN untaken INTEGER;"
    "ALTER TABLE runs ADD COLUMN excused INTEGER;",

    /* 6: what a run can be asked for: parameters, labels, values, what people say of it (facts.c);
     * a file by its content, of which six bytes tell nearly all apart. */
    "ALTER TABLE runs ADD COLUMN version TEXT;"
    "ALTER TABLE runs ADD COLUMN system TEXT;"
    "CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE facts(name INTEGER NOT NULL, run INTEGER NOT NULL, item INTEGER NOT NULL,"
    " task INTEGER NOT NULL, sort INTEGER NOT NULL, value, PRIMARY KEY(name, run, item, task))"
    " WITHOUT ROWID;"
    "CREATE INDEX facts_by_value ON facts(name, value);"
    "CREATE INDEX facts_by_run ON facts(run);"
    "CREATE INDEX files_by_digest ON files(substr(digest, 1, 6)) WHERE digest IS NOT NULL;",

    /* 7: which task reads and makes which file, beside the text (shape.c). */
    "CREATE TABLE IF NOT EXISTS shapes(workflow INTEGER PRIMARY KEY, image BLOB NOT NULL);",

    /* 8: what tasks and files can be asked for: commands (task_rows.c), what a task's results state,
     * the least and the most of each figure in a run (spans.c; of older runs when they are asked). */
    "ALTER TABLE tasks ADD COLUMN command INTEGER;"
    "UPDATE workflows SET tasks = -tasks WHERE tasks > 0;" /* the next run adds the commands */
    "CREATE TABLE commands(id INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE spans(run INTEGER PRIMARY KEY, attempts INTEGER, bad INTEGER, files INTEGER,"
    " least_took INTEGER, most_took INTEGER, least_cpu INTEGER, most_cpu INTEGER,"
    " least_memory INTEGER, most_memory INTEGER, least_read INTEGER, most_read INTEGER,"
    " least_written INTEGER, most_written INTEGER, least_size INTEGER, most_size INTEGER);"
    "DROP INDEX facts_by_run;"
    "CREATE INDEX facts_by_run ON facts(run, task, name);",

    /* 9: on whose machines a run was. */
    "ALTER TABLE runs ADD COLUMN place TEXT;",

    /* 10: why each task had to run (head.c). */
    "CREATE TABLE IF NOT EXISTS reasons(run INTEGER PRIMARY KEY, tasks BLOB NOT NULL);",
};

/* Puts SQLite's last error into words that say what to do; always false. `busy` tells the one case
 * in which trying again helps. */
bool database_error(struct history *h, struct error *err)
{
    int code = sqlite3_errcode(h->db);
    const char *what = sqlite3_errmsg(h->db);
    h->busy = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
    switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return error_set(err, ERROR_FAILED,
                         "%s: the history is damaged (%s); move the file away to start a new one",
                         h->path, what);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(err, ERROR_FAILED,
                         "%s: the history is locked by another program (waited %d s)", h->path,
                         DATABASE_WAIT / 1000);
    case SQLITE_NOMEM:
        return error_set(err, ERROR_MEMORY, "%s: out of memory", h->path);
    case SQLITE_INTERRUPT:
        return error_set(err, ERROR_FAILED,
                         "%s: the question takes too long and was stopped; name a parameter, a "
                         "value or a time that fewer runs have",
                         h->path);
    case SQLITE_FULL:
        return error_set(err, ERROR_FAILED, "%s: the disk is full", h->path);
    case SQLITE_IOERR: /* a log or an index beside it that could not grow */
        if (sqlite3_system_errno(h->db) == ENOSPC || sqlite3_system_errno(h->db) == EDQUOT)
            return error_set(err, ERROR_FAILED, "%s: the disk is full", h->path);
        return error_set(err, ERROR_FAILED, "%s: %s", h->path, what);
    case SQLITE_READONLY:
        return error_set(err, ERROR_FAILED, "%s: the history may not be written (%s)", h->path,
                         what);
    default:
        return error_set(err, ERROR_FAILED, "%s: %s", h->path, what);
    }
}

bool database_exec(struct history *h, const char *sql, struct error *err)
{
    return sqlite3_exec(h->db, sql, NULL, NULL, NULL) == SQLITE_OK || database_error(h, err);
}

sqlite3_stmt *database_prepare(struct history *h, const char *sql, struct error *err)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(h->db, sql, -1, &s, NULL) == SQLITE_OK)
        return s;
    database_error(h, err);
    return NULL;
}

void database_finalize(void *statement)
{
    sqlite3_finalize(statement);
}

sqlite3_stmt *database_query(struct history *h, struct mem_guard *g, const char *sql,
                             struct error *err)
{
    sqlite3_stmt *s = database_prepare(h, sql, err);
    if (s)
        mem_guard_enter(g, database_finalize, s);
    return s;
}

void database_close_query(sqlite3_stmt *s, struct mem_guard *g)
{
    if (s)
        mem_guard_leave(g);
    sqlite3_finalize(s);
}

/* A guard's `clean`: it waits for its next question, and holds no lock. */
static void database_reset(void *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

sqlite3_stmt *database_kept(struct history *h, struct mem_guard *g, enum database_kept which,
                            const char *sql, struct error *err)
{
    if (!h->kept[which])
        h->kept[which] = database_prepare(h, sql, err);
    if (h->kept[which])
        mem_guard_enter(g, database_reset, h->kept[which]);
    return h->kept[which];
}

void database_end_kept(sqlite3_stmt *s, struct mem_guard *g)
{
    if (!s)
        return;
    mem_guard_leave(g);
    database_reset(s);
}

void database_close(struct history *h)
{
    for (int i = 0; i < DATABASE_KEPT; i++)
        sqlite3_finalize(h->kept[i]);
    sqlite3_close(h->db);
    board_free(h);
}

void database_roll_back(void *db)
{
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

/* 1: a row; 0: no more; -1: an error. */
int database_step(struct history *h, sqlite3_stmt *s, struct error *err)
{
    int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        return 1;
    if (code == SQLITE_DONE)
        return 0;
    database_error(h, err);
    return -1;
}

double database_seconds(sqlite3_stmt *s, int column)
{
    return 1e-6 * (double)sqlite3_column_int64(s, column);
}

/* A statement without rows, made ready for the next binding. Bound texts must live until here: they
 * are not copied (SQLITE_STATIC). */
bool database_run(struct history *h, sqlite3_stmt *s, struct error *err)
{
    bool ok = sqlite3_step(s) == SQLITE_DONE || database_error(h, err);
    sqlite3_reset(s);
    return ok;
}

void database_bind_text(sqlite3_stmt *s, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(s, at);
}

/* NAN is "not known": NULL in the database. */
void database_bind_number(sqlite3_stmt *s, int at, double value)
{
    if (isnan(value))
        sqlite3_bind_null(s, at);
    else
        sqlite3_bind_double(s, at, value);
}

/* The caller frees; NULL stays NULL. */
char *database_text(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? mem_copy_string(text) : NULL;
}

double database_number(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

/* ---- versions ---- */

bool database_integer(struct history *h, const char *sql, int64_t *out, struct error *err)
{
    sqlite3_stmt *s = database_prepare(h, sql, err);
    int row = s ? database_step(h, s, err) : -1;
    if (row == 1)
        *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return row == 1;
}

/* An index over 32-bit hashes is a third of one over paths; equal hashes are told apart by the
 * path. Signed, since SQLite stores small negative numbers in few bytes too. */
int64_t database_path_hash(int64_t folder, const char *path)
{
    uint32_t hash =
        2166136261u ^ (uint32_t)folder; /* FNV-1a: the same on every machine, for ever */
    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * 16777619u;
    return (int32_t)hash;
}

/* The same hash for SQL: migration fills the column with it. */
static void path_hash(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    const char *text = (const char *)sqlite3_value_text(v[1]);
    sqlite3_result_int64(c, database_path_hash(sqlite3_value_int64(v[0]), text ? text : ""));
}

/* To version `to`; tests stop at older ones. */
bool database_migrate(struct history *h, int to, struct error *err)
{
    int64_t version = 0, application = 0, tables = 0;
    if (!database_integer(h, "PRAGMA user_version", &version, err) ||
        !database_integer(h, "PRAGMA application_id", &application, err) ||
        !database_integer(h, "SELECT count(*) FROM sqlite_master", &tables, err))
        return false;
    /* an empty file is ours to fill, anything else with another mark is somebody's data */
    if (application != APPLICATION_ID && (tables || version))
        return error_set(err, ERROR_FAILED, "%s: a database, but not a history of weft", h->path);
    if (version > DATABASE_VERSION)
        return error_set(err, ERROR_FAILED,
                         "%s: written by a newer weft (version %lld of the tables, this one knows "
                         "%d)",
                         h->path, (long long)version, DATABASE_VERSION);
    if (version >= to)
        return true;
    if (sqlite3_db_readonly(h->db, "main") == 1)
        return error_set(err, ERROR_FAILED,
                         "%s: from an older weft, and cannot be brought up to date: not writable",
                         h->path);
    /* the lock before the first read of the version that counts */
    if (!database_exec(h, "BEGIN IMMEDIATE", err))
        return false;
    /* Another process may have done it while we waited for the lock. */
    bool ok = database_integer(h, "PRAGMA user_version", &version, err);
    for (; ok && version < to; version++)
        ok = database_exec(h, steps[version], err);
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %lld; PRAGMA application_id = %d; COMMIT",
             (long long)version, APPLICATION_ID);
    ok = ok && database_exec(h, sql, err);
    if (!ok)
        sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
    return ok;
}

/* ---- opening ---- */

char *history_default_path(void)
{
    const char *given = getenv("WEFT_HISTORY"), *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    struct strbuf path = {0};
    if (given && *given) {
        if (strcmp(given, "none") == 0)
            return NULL;
        strbuf_add(&path, given);
    } else if (data && *data == '/') {
        strbuf_printf(&path, "%s/weft/history.db", data);
    } else if (home && *home) {
        strbuf_printf(&path, "%s/.local/share/weft/history.db", home);
    } else {
        return NULL;
    }
    return strbuf_steal(&path);
}

/* What somebody computes is his own business: folders that are not there yet are made for him alone. */
static bool database_make_folders(const char *path, struct error *err)
{
    char *copy = mem_copy_string(path);
    bool ok = true;
    for (char *slash = strchr(copy + 1, '/'); ok && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            ok = error_set(err, ERROR_FAILED, "%s: cannot make the folder: %s", copy,
                           strerror(errno));
        *slash = '/';
    }
    free(copy);
    return ok;
}

static bool set_up(struct history *h, struct error *err)
{
    /* WAL: readers and the writer do not wait for one another, and a commit needs no fsync;
     * NORMAL: it survives the end of the process, and after a power cut it is whole though the
     * last seconds may be missing. The log is folded into the file every 32 MB, and the cache
     * holds as much: the pages that every transaction touches are then written once. */
    return (sqlite3_db_readonly(h->db, "main") == 1 ||
            database_exec(h,
                          "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                          "PRAGMA wal_autocheckpoint = 8000; PRAGMA cache_size = -32000",
                          err)) &&
           database_migrate(h, DATABASE_VERSION, err);
}

/* Several programs that make a new history at once: SQLite does not wait for the lock that it takes
 * to change into WAL, it says busy at once. We wait. */
static bool set_up_patiently(struct history *h, struct error *err)
{
    double until = clock_seconds() + 1e-3 * DATABASE_WAIT;
    for (;;) {
        struct error why = {0};
        h->busy = false;
        if (set_up(h, &why))
            return true;
        if (!h->busy || clock_seconds() >= until)
            return error_set(err, why.kind, "%s", why.text);
        /* 5 ms: changing into WAL takes about as long */
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

static void database_abandon(void *history)
{
    history_close(history);
}

/* Its owner's alone, before SQLite makes it for everybody; the files beside it get its mode. One that
 * others may write to is shared on purpose, and left as it is. */
static void database_make_private(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) /* SQLite will say why */
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) &&
        !(st.st_mode & 022) && fchmod(fd, 0600) != 0)
        errno = 0; /* a file system without modes */
    close(fd);
}

/* On a file system that cannot be written SQLite cannot read a log either, nor make the index that
 * readers of one share. Nobody writes there, so the file is all there is, unless a log is left:
 * "immutable" says so. Its name as a URI, or NULL: open it as usual. */
static char *database_frozen(const char *path)
{
    struct strbuf name = {0}, uri = {0};
    const char *slash = strrchr(path, '/');
    strbuf_add_bytes(&name, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    bool frozen = access(name.at, W_OK) != 0;
    strbuf_clear(&name);
    strbuf_printf(&name, "%s-wal", path);
    frozen = frozen && !file_exists(name.at);
    strbuf_free(&name);
    if (!frozen)
        return NULL;
    strbuf_add(&uri, "file:");
    for (const char *c = path; *c; c++) {
        if (strchr("?#%", *c))
            strbuf_printf(&uri, "%%%02X", (unsigned char)*c);
        else
            strbuf_add_char(&uri, *c);
    }
    strbuf_add(&uri, "?immutable=1");
    return strbuf_steal(&uri);
}

static struct history *database_open(const char *path, const char *frozen, struct error *err)
{
    struct mem_guard guard;
    struct history *h = mem_new_zero(struct history, 1);
    h->path = mem_copy_string(path);
    mem_guard_enter(&guard, database_abandon, h);
    h->board = board_new();
    int code = sqlite3_open_v2(
        frozen ? frozen : path, &h->db,
        frozen ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE, NULL);
    bool ok = code == SQLITE_OK;
    if (!ok) {
        error_set(err, ERROR_FAILED, "%s: %s", path,
                  h->db ? sqlite3_errmsg(h->db) : sqlite3_errstr(code));
    } else {
        sqlite3_busy_timeout(h->db, DATABASE_WAIT);
        sqlite3_extended_result_codes(h->db, 1);
        sqlite3_create_function(h->db, "path_hash", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                path_hash, NULL, NULL);
        ok = set_up_patiently(h, err);
    }
    mem_guard_leave(&guard);
    if (!ok) {
        history_close(h);
        return NULL;
    }
    return h;
}

struct history *history_open(const char *path, struct error *err)
{
    if (!database_make_folders(path, err))
        return NULL;
    database_make_private(path);
    return database_open(path, NULL, err);
}

/* A reader makes no empty history where there is none. */
struct history *history_open_existing(const char *path, struct error *err)
{
    if (!file_exists(path))
        return NULL;
    char *frozen = database_frozen(path);
    struct history *h = database_open(path, frozen, err);
    free(frozen);
    return h;
}
