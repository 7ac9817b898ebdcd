/* Following a run that another process writes: each look reads the rows that came since the last one.
 *
 * Rows of a run are numbered from 0 in the order in which they were written (database_row()), and a transaction adds whole
 * ones, so "since" is a number. SQLite's WAL lets readers and the writer pass each other: looking costs the run nothing but
 * the processor that it takes. */
#include "history/reader.h"

#include <string.h>
#include <unistd.h>

/* A statement over the rows from number `from` on. */
static sqlite3_stmt *follow_rows(struct history *h, struct mem_guard *g, const char *sql,
                                 int64_t run, uint32_t from, struct error *err)
{
    sqlite3_stmt *s = database_query(h, g, sql, err);
    if (s) {
        sqlite3_bind_int64(s, 1, database_row(run, from));
        sqlite3_bind_int64(s, 2, database_row(run, UINT32_MAX));
    }
    return s;
}

static bool follow_attempts(struct history *h, int64_t run, struct history_place *at,
                            history_attempts *out, uint32_t tasks, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s =
        follow_rows(h, &guard,
                    "SELECT task, start, took, cpu, memory, outcome, status, attempt, node, lane,"
                    " written"
                    " FROM attempts WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
                    run, at->attempts, err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        struct history_attempt a = {
            .task = (uint32_t)sqlite3_column_int64(s, 0),
            .start = database_seconds(s, 1),
            .finish = database_seconds(s, 1) + database_seconds(s, 2),
            .cpu = database_seconds(s, 3),
            .memory = sqlite3_column_double(s, 4),
            .outcome = sqlite3_column_int(s, 5),
            .status = sqlite3_column_int(s, 6),
            .attempt = (uint32_t)sqlite3_column_int64(s, 7),
            .node = (uint32_t)sqlite3_column_int64(s, 8),
            .lane = (uint32_t)sqlite3_column_int64(s, 9),
            .written = sqlite3_column_double(s, 10),
        };
        at->attempts++;
        if (a.task < tasks) /* one that joined later is told once the workflow is whole */
            array_push(out, a);
    }
    database_close_query(s, &guard);
    return row == 0;
}

/* Ranges of tasks; a damaged one is cut to the tasks that there are. */
static bool follow_reused(struct history *h, int64_t run, struct history_place *at, uint8_t *reused,
                          uint32_t tasks, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = follow_rows(
        h, &guard, "SELECT first, count FROM reused WHERE id BETWEEN ?1 AND ?2 ORDER BY id", run,
        at->reused, err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        int64_t first = sqlite3_column_int64(s, 0), count = sqlite3_column_int64(s, 1);
        at->reused++;
        if (first < 0 || count < 0 || first > tasks)
            continue;
        uint32_t most = tasks - (uint32_t)first;
        memset(reused + first, 1, count < most ? (size_t)count : most);
    }
    database_close_query(s, &guard);
    return row == 0;
}

static struct history_transfer follow_transfer(sqlite3_stmt *s)
{
    return (struct history_transfer){.object = (uint32_t)sqlite3_column_int64(s, 1),
                                     .from = (uint32_t)sqlite3_column_int64(s, 2),
                                     .to = (uint32_t)sqlite3_column_int64(s, 3),
                                     .start = database_seconds(s, 4),
                                     .finish = database_seconds(s, 4) + database_seconds(s, 5),
                                     .bytes = sqlite3_column_double(s, 6)};
}

static bool follow_events(struct history *h, int64_t run, struct history_place *at,
                          history_transfers *transfers, uint8_t *skipped, uint32_t tasks,
                          struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = follow_rows(h, &guard,
                                  "SELECT type, subject, node, other, start, took, amount"
                                  " FROM events WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
                                  run, at->events, err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        int64_t task = sqlite3_column_int64(s, 1);
        int type = sqlite3_column_int(s, 0);
        at->events++;
        if (type == TRACE_SKIPPED && task >= 0 && task < tasks)
            skipped[task] = 1;
        else if (type == TRACE_TRANSFER)
            array_push(transfers, follow_transfer(s));
    }
    database_close_query(s, &guard);
    return row == 0;
}

bool history_follow(struct history *h, int64_t run, struct history_place *at, history_attempts *out,
                    history_transfers *transfers, uint8_t *reused, uint8_t *skipped, uint32_t tasks,
                    struct error *err)
{
    return follow_attempts(h, run, at, out, tasks, err) &&
           follow_reused(h, run, at, reused, tasks, err) &&
           follow_events(h, run, at, transfers, skipped, tasks, err);
}

#define FOLLOW_RUN "SELECT id, outcome, host, pid, born, boot FROM runs"

/* Outcome of a row of FOLLOW_RUN as it is now. */
static int follow_outcome(sqlite3_stmt *s)
{
    int outcome = sqlite3_column_int(s, 1);
    bool gone =
        outcome == RECORD_RUNNING && reader_is_lost(s, 3, (const char *)sqlite3_column_text(s, 2));
    return gone ? RECORD_LOST : outcome;
}

int64_t history_process(struct history *h, int64_t run, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(h, &guard, FOLLOW_RUN " WHERE id = ?", err);
    int64_t pid = 0;
    if (!s)
        return 0;
    sqlite3_bind_int64(s, 1, run);
    /* a living process of this host: reader_is_lost() doubts for the living only where it cannot tell */
    char here[256] = "";
    gethostname(here, sizeof here - 1);
    if (database_step(h, s, err) == 1 && follow_outcome(s) == RECORD_RUNNING) {
        const char *host = (const char *)sqlite3_column_text(s, 2);
        pid = host && strcmp(host, here) == 0 ? sqlite3_column_int64(s, 3) : 0;
    }
    database_close_query(s, &guard);
    return pid;
}

/* Runs that were pruned change it as well, and so does one whose process died: what a list shows has changed then. */
bool history_stamp(struct history *h, uint64_t *stamp, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(h, &guard, FOLLOW_RUN " ORDER BY id DESC LIMIT 64", err);
    int row = s ? 0 : -1;
    *stamp = UINT64_C(14695981039346656037); /* FNV-1a */
    while (s && (row = database_step(h, s, err)) == 1) {
        *stamp = (*stamp ^ (uint64_t)sqlite3_column_int64(s, 0)) * UINT64_C(1099511628211);
        *stamp = (*stamp ^ (uint64_t)follow_outcome(s)) * UINT64_C(1099511628211);
    }
    database_close_query(s, &guard);
    return row == 0;
}
