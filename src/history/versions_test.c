/* A history of every older version is brought up to date: what that version knew of a run is there afterwards, is
 * found by each question, and the history records on. Old tables are made by the steps of database.c up to that
 * version, which nobody has changed since they were released. */
#include "history/database.h"
#include "history/testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct version_rows {
    int since; /* the version that brought these columns or tables */
    int until; /* and the last that had them so; 0: today's */
    const char *sql;
};

/* Run 1 of workflow 1: two tasks, three attempts of which one failed, a result and an input. */
static const struct version_rows rows[] = {
    {1, 0,
     "INSERT INTO workflows(id, digest, name, tasks, text) VALUES(1, x'00', 'old', 2,"
     " 'weft: 1\nname: old\ntasks:\n  copy: { run: cp in x.dat, in: in, out: x.dat }\n"
     "  again_7: { run: cat x.dat, in: x.dat }\n');"
     "INSERT INTO kinds VALUES(1, 'cp');"
     "INSERT INTO tasks(id, name, kind) VALUES(4294967296, 'copy', 1), (4294967297, 'again_7', 1);"
     "INSERT INTO runs(id, workflow, name, file, folder, host, planner, started, seconds, cores,"
     " memory, speed, outcome, tasks, ran, reused, failed, skipped)"
     " VALUES(1, 1, 'old', 'old.yaml', '/a', 'h', 'heft', 10, 5, 2, 1e9, 1, 1, 2, 2, 0, 0, 0);"
     "INSERT INTO attempts VALUES(4294967296, 0, 0, 1000000, 90, 4, 5, 6, 1, 3, 1, 0, 0, NULL),"
     " (4294967297, 0, 1000000, 3000000, 100, 5, 6, 7, 0, 0, 2, 0, 0, 1),"
     " (4294967298, 1, 4000000, 500000, 100, 5, 6, 7, 0, 0, 1, 0, 1, 1);"},
    {1, 1,
     "INSERT INTO files VALUES(4294967296, 'x.dat', 0, 0, zeroblob(32), NULL, 9, 1),"
     " (4294967297, 'in', 1, NULL, NULL, NULL, 3, 0);"},
    {2, 0,
     "INSERT INTO folders VALUES(1, '/a');"
     "INSERT INTO paths VALUES(1, 1, 'x.dat', path_hash(1, 'x.dat')), (2, 1, 'in', path_hash(1,"
     " 'in'));"
     "INSERT INTO files VALUES(4294967296, 1, 0, 0, zeroblob(32), NULL, 9, 1),"
     " (4294967297, 2, 1, NULL, NULL, NULL, 3, 0);"
     "UPDATE runs SET predicted_seconds = 4.5;"},
    {3, 0,
     "INSERT INTO failures(id, task, attempt, outcome, status, command) VALUES(4294967296, 0, 1, 1,"
     " 3, 'cp in x.dat');"},
    {4, 0, "UPDATE runs SET given = 'sigma=2';"},
    {5, 0, "UPDATE runs SET untaken = 0, excused = 1;"},
    {6, 0,
     "UPDATE runs SET version = '0.6';"
     "INSERT INTO names(id, name) VALUES(1, 'sigma'), (2, 'f1');"
     "INSERT INTO facts VALUES(1, 1, 0, -1, 0, 2), (2, 1, 0, 0, 2, 0.93);"},
    {9, 0, "UPDATE runs SET place = 'slurm';"},
};

/* The steps of migration fill columns with it. */
static void old_path_hash(sqlite3_context *c, int n, sqlite3_value **v)
{
    (void)n;
    sqlite3_result_int64(
        c, database_path_hash(sqlite3_value_int64(v[0]), (const char *)sqlite3_value_text(v[1])));
}

static bool make_old(const char *path, int version)
{
    struct error err = {0};
    sqlite3 *db;
    sqlite3_open(path, &db);
    sqlite3_create_function(db, "path_hash", 2, SQLITE_UTF8, NULL, old_path_hash, NULL, NULL);
    struct history old = {.db = db, .path = (char *)path};
    bool good = ok(database_migrate(&old, version, &err), "version %d: %s", version, err.text);
    for (size_t i = 0; good && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].since <= version && (!rows[i].until || version <= rows[i].until))
            good = is_int(sqlite3_exec(db, rows[i].sql, NULL, NULL, NULL), SQLITE_OK,
                          "what version %d brought: %s", rows[i].since, sqlite3_errmsg(db));
    sqlite3_close(db);
    return good;
}

/* What the version knew is known. */
static void check_run(struct history *h, int version)
{
    struct error err = {0};
    struct run_record r;
    if (!ok(history_load(h, 1, &r, &err), "its run is read: %s", err.text))
        return;
    is_str(r.planner, "heft", "with its planner");
    is_int(r.events.n, 3, "its attempts");
    is_int(r.files.n, 2, "its files");
    is_dbl(r.seconds, 5, 0, "its seconds");
    ok(version >= 2 ? r.predicted_seconds == 4.5 : isnan(r.predicted_seconds),
       "what was predicted, or that it is not known");
    is_int(r.failures.n, version >= 3, "why an attempt failed");
    is_str(r.given ? r.given : "-", version >= 4 ? "sigma=2" : "-", "what it was given");
    is_str(r.place ? r.place : "-", version >= 9 ? "slurm" : "-", "on whose machines it was");
    is_str(r.version ? r.version : "-", version >= 6 ? "0.6" : "-", "by which weft");
    record_free(&r);
    size_t n = 0;
    char *text = history_workflow_text(h, 1, &n, &err);
    ok(text && strncmp(text, "weft: 1", 7) == 0, "the graph as it was");
    free(text);
}

static size_t count_runs(struct history *h, struct history_filter filter)
{
    struct error err = {0};
    history_runs runs = {0};
    bool good = history_list(h, &filter, &runs, &err);
    size_t n = runs.n;
    if (good)
        history_runs_free(&runs);
    else
        printf("# %s\n", err.text);
    return good ? n : SIZE_MAX;
}

static size_t count_tasks(struct history *h, struct history_search ask)
{
    struct error err = {0};
    history_findings found;
    if (!history_search_tasks(h, &ask, &found, &err)) {
        printf("# %s\n", err.text);
        return SIZE_MAX;
    }
    size_t n = found.list.n;
    history_findings_free(&found);
    return n;
}

static void check_questions(struct history *h, int version)
{
    struct error err = {0};
    struct digest content = {0};
    history_origins origins;
    is_int(count_runs(h, (struct history_filter){.where = "seconds > 4"}), 1, "asked by a column");
    is_int(count_runs(h, (struct history_filter){.words = "again_7 cat"}), 1, "by words");
    is_int(count_runs(h, (struct history_filter){.digest = &content}), 1, "by a content");
    if (version >= 6)
        is_int(count_runs(h, (struct history_filter){.where = "sigma > 1 and f1 > 0.9"}), 1,
               "by a parameter and a value");
    is_int(count_tasks(h, (struct history_search){.where = "seconds > 2"}), 1, "tasks, by time");
    is_int(count_tasks(h, (struct history_search){.failed = true}), 1, "that failed");
    is_int(count_tasks(h, (struct history_search){.words = "again_7"}), 1, "by words");
    is_int(count_tasks(h, (struct history_search){.digest = &content}), 2, "by a content");
    ok(history_file(h, "/a/x.dat", 0, &origins, &err) && origins.n == 1, "a file by its path");
    is_str(origins.n ? origins.at[0].maker : NULL, "copy", "with its maker");
    history_origins_free(&origins);
}

static void check_version(int version)
{
    struct error err = {0};
    char name[32];
    snprintf(name, sizeof name, "version%d.db", version);
    const char *path = testing_path(name);
    if (!make_old(path, version))
        return;
    struct history *h = history_open(path, &err);
    if (!ok(h != NULL, "is brought up to date: %s", err.text))
        return;
    int64_t now = 0;
    ok(database_integer(h, "PRAGMA user_version", &now, &err) && now == DATABASE_VERSION,
       "to version %d", DATABASE_VERSION);
    check_run(h, version);
    check_questions(h, version);
    struct workflow *w = testing_workflow(2, 1);
    struct run_record head = testing_head(w);
    is_int(history_begin(h, &head, NULL, 0, &err), 2, "and it records");
    struct run_record totals = {.tasks = 2, .outcome = RECORD_DONE};
    ok(history_end(h, &totals, &err), "another run: %s", err.text);
    is_int(count_runs(h, (struct history_filter){0}), 2, "which is one of two");
    workflow_free(w);
    history_close(h);
}

int main(void)
{
    testing_start();
    for (int version = 1; version < DATABASE_VERSION; version++)
        check_version(version);
    return tap_done();
}
