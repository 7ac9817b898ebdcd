/* Old runs go, so that a history does not grow for ever. One run a transaction, so that others who record
 * wait for no longer than that; what only it had (texts of workflows, names of tasks, paths) goes with
 * it. SQLite uses the pages again: the file stays as large as it was, and grows no more. */
#include "base/clock.h"
#include "history/forget.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { STAY = 20, AT_MOST = 1000 }; /* newest runs, which stay; runs that go at once */
static const double PATIENCE = 1;   /* seconds: the rest goes after the next run */
static const double MAY_RUN =
    2.6e6; /* seconds: a run without an end that began so long ago has one */

struct prune_victim {
    int64_t run, workflow;
    double started;
};

/* The oldest run that may go. False: none, or an error. */
static bool prune_find(struct history *h, int64_t below, struct prune_victim *v, struct error *err)
{
    sqlite3_stmt *s =
        database_prepare(h,
                         "SELECT id, workflow, started FROM runs WHERE id < ?1"
                         " AND NOT (outcome = 0 AND started > ?2) ORDER BY id LIMIT 1",
                         err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, below);
    sqlite3_bind_double(s, 2, (double)time(NULL) - MAY_RUN);
    bool found = database_step(h, s, err) == 1;
    if (found)
        *v = (struct prune_victim){sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
                                   sqlite3_column_double(s, 2)};
    sqlite3_finalize(s);
    return found;
}

/* ?1 to ?2: rows of the run; ?3 the run; ?4 its workflow; ?5 to ?6: rows of that. */
static const char *const prune_steps[] = {
    "DELETE FROM predictions WHERE run = ?3",
    "DELETE FROM reasons WHERE run = ?3",
    "DELETE FROM facts WHERE run = ?3",
    "DELETE FROM runs WHERE id = ?3",
    ("DELETE FROM tasks WHERE id BETWEEN ?5 AND ?6"
     " AND NOT EXISTS (SELECT 1 FROM runs WHERE workflow = ?4)"),
    ("DELETE FROM commands WHERE id BETWEEN ?5 AND ?6"
     " AND NOT EXISTS (SELECT 1 FROM runs WHERE workflow = ?4)"),
    ("DELETE FROM shapes WHERE workflow = ?4"
     " AND NOT EXISTS (SELECT 1 FROM runs WHERE workflow = ?4)"),
    "DELETE FROM workflows WHERE id = ?4 AND NOT EXISTS (SELECT 1 FROM runs WHERE workflow = ?4)",
};

static bool prune_run(struct history *h, const struct prune_victim *v, struct error *err)
{
    const int64_t values[] = {
        database_row(v->run, 0),      database_row(v->run, UINT32_MAX),     v->run, v->workflow,
        database_row(v->workflow, 0), database_row(v->workflow, UINT32_MAX)};
    bool ok = database_exec(h, "BEGIN IMMEDIATE", err);
    ok = ok && forget_told(h, values, err) &&
         forget_by(h, prune_steps, sizeof prune_steps / sizeof *prune_steps, values, err);
    ok = ok && database_exec(h, "COMMIT", err);
    if (!ok)
        database_roll_back(h->db);
    return ok;
}

/* Bytes of what is in use; the file may have more, which the next runs fill. */
static bool prune_bytes(struct history *h, double *out, struct error *err)
{
    int64_t pages, unused, size;
    if (!database_integer(h, "PRAGMA page_count", &pages, err) ||
        !database_integer(h, "PRAGMA freelist_count", &unused, err) ||
        !database_integer(h, "PRAGMA page_size", &size, err))
        return false;
    *out = (double)(pages - unused) * (double)size;
    return true;
}

/* Numbers of runs are given once: as long as the first is there, none has gone. */
bool history_prune(struct history *h, struct history_pruning *p, struct error *err)
{
    struct prune_victim v;
    struct error why = {0};
    double bytes = 0, until = clock_seconds() + PATIENCE;
    char newest[96];
    int64_t below = 0, first = 0;
    p->runs = 0;
    p->first = false;
    if (!isfinite(p->age) && !isfinite(p->size))
        return true;
    snprintf(newest, sizeof newest,
             "SELECT ifnull((SELECT id FROM runs ORDER BY id DESC LIMIT 1 OFFSET %d), 0)",
             STAY - 1);
    if (!database_integer(h, newest, &below, err) ||
        !database_integer(h, "SELECT ifnull(min(id), 0) FROM runs", &first, err))
        return false;
    p->first = first == 1;
    while (p->runs < AT_MOST && clock_seconds() < until && prune_find(h, below, &v, &why)) {
        if (!prune_bytes(h, &bytes, &why))
            break;
        if ((double)time(NULL) - v.started <= p->age && bytes <= p->size)
            break;
        if (!prune_run(h, &v, &why))
            break;
        p->runs++;
    }
    return why.kind == ERROR_NONE || error_set(err, why.kind, "%s", why.text);
}
