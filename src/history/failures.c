/* Why tasks failed. There are few of them (a thousand at most, model/record.h), written once when the
 * run is over, so that a run without a failure costs nothing. */
#include "history/failures.h"

#include "base/mem.h"

#include <stdlib.h>

static bool failures_write_row(struct history *h, sqlite3_stmt *s, int64_t row,
                               const struct record_failure *f, struct error *err)
{
    const int64_t numbers[] = {row, f->task, f->attempt, f->outcome, f->status, f->cause};
    const char *const texts[] = {f->reason, f->command, f->hint, f->log, f->tail};
    for (int i = 0; i < 6; i++)
        sqlite3_bind_int64(s, i + 1, numbers[i]);
    database_bind_number(s, 7, f->limit);
    for (int i = 0; i < 5; i++)
        database_bind_text(s, i + 8, texts[i]);
    return database_run(h, s, err);
}

bool failures_write(struct history *h, int64_t run, const struct run_record *r, struct error *err)
{
    if (!r->failures.n)
        return true;
    sqlite3_stmt *s = NULL;
    bool ok =
        database_exec(h, "BEGIN IMMEDIATE", err) &&
        (s = database_prepare(
             h, "INSERT INTO failures VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
             err));
    for (uint32_t i = 0; ok && i < r->failures.n; i++)
        ok = failures_write_row(h, s, database_row(run, i), &r->failures.at[i], err);
    sqlite3_finalize(s);
    ok = ok && database_exec(h, "COMMIT", err);
    if (!ok)
        database_roll_back(h->db);
    return ok;
}

bool failures_load(struct history *h, struct run_record *out, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard,
        "SELECT task, attempt, outcome, status, cause, most, reason, command, hint, log, tail"
        " FROM failures WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, database_row(out->run, 0));
    sqlite3_bind_int64(s, 2, database_row(out->run, UINT32_MAX));
    int row;
    while ((row = database_step(h, s, err)) == 1) {
        int64_t task = sqlite3_column_int64(s, 0), cause = sqlite3_column_int64(s, 4);
        if (task < 0 || task >= out->tasks || cause < 0 || cause > (int64_t)out->failures.n)
            continue;
        double limit = database_number(s, 5);
        array_push(&out->failures, ((struct record_failure){
                                       .task = (uint32_t)task,
                                       .attempt = (uint32_t)sqlite3_column_int64(s, 1),
                                       .outcome = sqlite3_column_int(s, 2),
                                       .status = sqlite3_column_int(s, 3),
                                       .cause = (uint32_t)cause,
                                       .limit = limit > 0 ? limit : 0,
                                       .reason = database_text(s, 6),
                                       .command = database_text(s, 7),
                                       .hint = database_text(s, 8),
                                       .log = database_text(s, 9),
                                       .tail = database_text(s, 10),
                                   }));
    }
    database_close_query(s, &guard);
    return row == 0;
}

/* ---- of earlier runs ---- */

bool history_past_failures(struct history *h, const char *folder, const char *workflow,
                           history_pasts *out, struct error *err)
{
    struct mem_guard guard;
    *out = (history_pasts){0};
    sqlite3_stmt *s = database_query(
        h, &guard,
        "SELECT r.id, r.started, t.name, f.outcome, f.status, f.most, f.reason, f.log"
        " FROM (SELECT id, started, workflow FROM runs WHERE folder = ?1 AND name = ?2"
        " ORDER BY id DESC LIMIT 10) r"
        " JOIN failures f ON f.id BETWEEN r.id << 32 AND (r.id << 32) + 4294967295"
        " JOIN tasks t ON t.id = (r.workflow << 32) + f.task ORDER BY f.id DESC",
        err);
    if (!s)
        return false;
    database_bind_text(s, 1, folder);
    database_bind_text(s, 2, workflow);
    int row;
    while ((row = database_step(h, s, err)) == 1) {
        double limit = database_number(s, 5);
        array_push(out, ((struct history_past){.run = sqlite3_column_int64(s, 0),
                                               .started = sqlite3_column_double(s, 1),
                                               .task = database_text(s, 2),
                                               .failure = {.outcome = sqlite3_column_int(s, 3),
                                                           .status = sqlite3_column_int(s, 4),
                                                           .limit = limit > 0 ? limit : 0,
                                                           .reason = database_text(s, 6),
                                                           .log = database_text(s, 7)}}));
    }
    database_close_query(s, &guard);
    if (row != 0)
        history_pasts_free(out);
    return row == 0;
}

void history_pasts_free(history_pasts *past)
{
    for (size_t i = 0; i < past->n; i++) {
        free(past->at[i].task);
        free(past->at[i].failure.reason);
        free(past->at[i].failure.log);
    }
    array_free(past);
}

bool history_ended_well_since(struct history *h, const char *folder, const char *workflow,
                              const char *task, int64_t run)
{
    struct error ignored = {0};
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard,
        "SELECT 1 FROM runs r"
        " JOIN tasks t ON t.id BETWEEN r.workflow << 32 AND (r.workflow << 32) + 4294967295"
        " AND t.name = ?3"
        " JOIN attempts a ON a.id BETWEEN r.id << 32 AND (r.id << 32) + 4294967295"
        " AND a.task = t.id & 4294967295 AND a.outcome = 0"
        " WHERE r.id > ?4 AND r.folder = ?1 AND r.name = ?2 LIMIT 1",
        &ignored);
    if (!s)
        return false;
    database_bind_text(s, 1, folder);
    database_bind_text(s, 2, workflow);
    database_bind_text(s, 3, task);
    sqlite3_bind_int64(s, 4, run);
    bool well = database_step(h, s, &ignored) == 1;
    database_close_query(s, &guard);
    return well;
}
