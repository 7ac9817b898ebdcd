/* A run on agents outlives whoever recorded it: who follows it later is told everything from its beginning, and goes on with the record
 * that is there, under its number, so that one run has one record. */
#include "history/forget.h"
#include "history/head.h"
#include "history/process.h"
#include "history/reader.h"

#include <math.h>

/* Number and moment are those that a note of the run has; another history has another run by that number. One that is being recorded
 * stays who records it. 1: it is to be had, 0: not, -1: an error. */
static int take_up_find(struct history *h, const struct run_record *head, struct error *err)
{
    const double rounding = 1e-3; /* of a moment that went through a text */
    sqlite3_stmt *s = database_prepare(
        h, "SELECT started, outcome, pid, born, boot, host FROM runs WHERE id = ?", err);
    if (!s)
        return -1;
    sqlite3_bind_int64(s, 1, head->run);
    int found = database_step(h, s, err);
    if (found == 1 && fabs(sqlite3_column_double(s, 0) - head->started) > rounding)
        found = 0;
    if (found == 1 && sqlite3_column_int64(s, 1) == RECORD_RUNNING &&
        !reader_is_lost(s, 2, (const char *)sqlite3_column_text(s, 5)))
        found = 0;
    sqlite3_finalize(s);
    return found;
}

/* What was written of it is told again, and goes; what was predicted and what people have said of it stays.
 * ?3 the run; ?4 the first sort of facts that people say. */
static bool take_up_clear(struct history *h, int64_t run, struct error *err)
{
    static const char *const steps[] = {"DELETE FROM facts WHERE run = ?3 AND sort < ?4"};
    const int64_t values[] = {database_row(run, 0), database_row(run, UINT32_MAX), run, FACT_TAG};
    return forget_told(h, values, err) &&
           forget_by(h, steps, sizeof steps / sizeof *steps, values, err);
}

/* Planner, parameters, place and predictions are those of its beginning; who follows does not know them. */
static bool take_up_row(struct history *h, const struct head_rows *r, const struct run_record *head,
                        struct error *err)
{
    sqlite3_stmt *s = database_prepare(
        h,
        "UPDATE runs SET workflow = ?2, outcome = ?3, seconds = NULL, ran = 0, reused = 0,"
        " failed = 0, skipped = 0, pid = ?4, born = ?5, boot = ?6, tasks = ?7,"
        " cores = max(cores, ?8) WHERE id = ?1",
        err);
    if (!s)
        return false;
    struct process self;
    process_self(&self);
    sqlite3_bind_int64(s, 1, head->run);
    sqlite3_bind_int64(s, 2, r->workflow);
    sqlite3_bind_int64(s, 3, RECORD_RUNNING);
    sqlite3_bind_int64(s, 4, self.pid);
    sqlite3_bind_int64(s, 5, self.born);
    database_bind_text(s, 6, self.boot);
    sqlite3_bind_int64(s, 7, head->tasks);
    sqlite3_bind_int64(s, 8, head->cores);
    bool ok = database_run(h, s, err);
    sqlite3_finalize(s);
    return ok;
}

int head_take_up(struct history *h, const struct run_record *head, struct head_rows *r,
                 struct error *err)
{
    int found = head->run ? take_up_find(h, head, err) : 0;
    if (found != 1)
        return found;
    r->run = head->run;
    return take_up_clear(h, r->run, err) && take_up_row(h, r, head, err) ? 1 : -1;
}
