/* Reading runs back: lists, heads, whole records, tasks, where a file came from. A database may be
 * damaged or half written: every number is checked before it is used as an index or a size.
 *
 * Rows of a run stand together: id = (run << 32) + n, so one range of the primary key is one run,
 * and 4294967295 is the last n. */
#include "history/reader.h"

#include "history/facts.h"
#include "history/failures.h"
#include "history/process.h"
#include "history/where.h"
#include "history/words.h"

#include "base/mem.h"
#include "base/plural.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASKS_MOST (UINT32_C(1) << 27) /* the largest workflow of all: docs/architecture.md */

/* ---- runs ---- */

#define HEAD_COLUMNS                                                                               \
    "id, name, file, folder, host, planner, started, seconds, cores, memory, speed, outcome,"      \
    " tasks, ran, reused, failed, skipped, predicted_seconds, predicted_memory, predicted_disk,"   \
    " peak_memory, peak_disk, pid, born, boot, given,"                                             \
    " untaken, excused, version, system, place"

/* A run without an end on this host, whose process is gone. On another host nobody can tell. */
bool reader_is_lost(sqlite3_stmt *s, int from, const char *host)
{
    char here[256] = "";
    gethostname(here, sizeof here - 1);
    if (!host || strcmp(host, here) != 0)
        return false;
    struct process p = {.pid = sqlite3_column_int64(s, from),
                        .born = sqlite3_column_int64(s, from + 1)};
    const char *boot = (const char *)sqlite3_column_text(s, from + 2);
    strncpy(p.boot, boot ? boot : "", sizeof p.boot - 1);
    return !process_may_live(&p);
}

/* What a lost run had done, from its rows: its head says nothing of it. */
static bool count_attempts(struct history *h, struct run_record *r, struct error *err)
{
    sqlite3_stmt *s = database_prepare(
        h,
        "SELECT count(DISTINCT CASE WHEN outcome = 0 THEN task END),"
        " count(DISTINCT CASE WHEN outcome NOT IN (0, 7) THEN task END) FROM attempts"
        " WHERE id BETWEEN ?1 AND ?1 + 4294967295",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, database_row(r->run, 0));
    int row = database_step(h, s, err);
    if (row == 1) {
        r->ran = (uint32_t)sqlite3_column_int64(s, 0);
        r->failed = (uint32_t)sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    /* the number of reused tasks is a sum over ranges */
    s = row == 1 ? database_prepare(h,
                                    "SELECT sum(count) FROM reused"
                                    " WHERE id BETWEEN ?1 AND ?1 + 4294967295",
                                    err)
                 : NULL;
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, database_row(r->run, 0));
    row = database_step(h, s, err);
    if (row == 1)
        r->reused = (uint32_t)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return row == 1;
}

/* A count, or 0 for what cannot be one. */
static uint32_t column_count(sqlite3_stmt *s, int column)
{
    int64_t value = sqlite3_column_int64(s, column);
    return value > 0 && value < NONE ? (uint32_t)value : 0;
}

/* Owns its texts. A run that has no end and no living process is lost. */
static void reader_read_head(sqlite3_stmt *s, struct run_record *r)
{
    *r = (struct run_record){
        .run = sqlite3_column_int64(s, 0),
        .name = database_text(s, 1),
        .file = database_text(s, 2),
        .folder = database_text(s, 3),
        .host = database_text(s, 4),
        .planner = database_text(s, 5),
        .started = sqlite3_column_double(s, 6),
        .seconds = database_number(s, 7),
        .cores = column_count(s, 8),
        .memory = database_number(s, 9),
        .speed = sqlite3_column_double(s, 10) > 0 ? sqlite3_column_double(s, 10) : 1,
        .tasks = column_count(s, 12),
        .ran = column_count(s, 13),
        .reused = column_count(s, 14),
        .failed = column_count(s, 15),
        .skipped = column_count(s, 16),
        .predicted_seconds = database_number(s, 17),
        .predicted_memory = database_number(s, 18),
        .predicted_disk = database_number(s, 19),
        .peak_memory = database_number(s, 20),
        .peak_disk = database_number(s, 21),
        .given = database_text(s, 25),
        .untaken = column_count(s, 26),
        .excused = column_count(s, 27),
        .version = database_text(s, 28),
        .system = database_text(s, 29),
        .place = database_text(s, 30),
    };
    int64_t outcome = sqlite3_column_int64(s, 11);
    r->outcome =
        outcome >= 0 && outcome <= RECORD_LOST ? (enum record_outcome)outcome : RECORD_LOST;
    if (r->outcome == RECORD_RUNNING && reader_is_lost(s, 22, r->host))
        r->outcome = RECORD_LOST;
    if (r->outcome == RECORD_RUNNING || r->outcome == RECORD_LOST)
        r->seconds = NAN;
}

/* What the question of the filter names, of each run of the list: that is what one wants to see. */
static bool list_facts(struct history *h, const struct where *w, history_runs *out,
                       struct error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < out->n; i++)
        for (size_t k = 0; ok && k < w->names.n; k++)
            ok = facts_load(h, &out->at[i], w->names.at[k], err);
    return ok;
}

static int list_rows(struct history *h, sqlite3_stmt *s, const struct history_filter *filter,
                     history_runs *out, struct error *err)
{
    int row = 0;
    database_bind_text(s, 1, filter->workflow);
    database_bind_number(s, 2, filter->since);
    if (filter->digest)
        sqlite3_bind_blob(s, 4, filter->digest->at, sizeof filter->digest->at, SQLITE_STATIC);
    while ((!filter->limit || out->n < filter->limit) && (row = database_step(h, s, err)) == 1) {
        struct run_record r;
        reader_read_head(s, &r);
        if (filter->failed && (r.outcome == RECORD_DONE || r.outcome == RECORD_RUNNING)) {
            record_free(&r);
            continue;
        }
        array_push(out, r);
    }
    return row;
}

/* Newest first. `failed` also lists lost and cancelled runs. */
bool history_list(struct history *h, const struct history_filter *filter, history_runs *out,
                  struct error *err)
{
    memset(out, 0, sizeof *out);
    struct history_filter any = {0};
    filter = filter ? filter : &any;
    struct mem_guard guard;
    struct where where = {0};
    struct strbuf sql = {0};
    strbuf_add(&sql, "SELECT " HEAD_COLUMNS " FROM runs r"
                     " WHERE (?1 IS NULL OR instr(name, ?1)) AND started >= ?2");
    bool ok = !filter->where || where_translate(h, filter->where, WHERE_RUNS, &where, err);
    if (ok && filter->where)
        strbuf_printf(&sql, " AND %s", strbuf_text(&where.condition));
    words_condition(filter->words, &sql);
    if (filter->digest)
        strbuf_add(&sql, " AND r.id IN (SELECT f.id >> 32" READER_OF_DIGEST ")");
    strbuf_add(&sql, " ORDER BY id DESC");
    sqlite3_stmt *s = ok ? where_query(h, &guard, sql.at, err) : NULL;
    int row = s ? list_rows(h, s, filter, out, err) : -1;
    if (s)
        where_end(h, s, &guard);
    for (size_t i = 0; row >= 0 && i < out->n; i++)
        if ((out->at[i].outcome == RECORD_LOST || out->at[i].outcome == RECORD_RUNNING) &&
            !count_attempts(h, &out->at[i], err))
            row = -1;
    if (row >= 0 && !list_facts(h, &where, out, err))
        row = -1;
    where_free(&where);
    strbuf_free(&sql);
    if (row < 0)
        history_runs_free(out);
    return row >= 0;
}

void history_runs_free(history_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++)
        record_free(&runs->at[i]);
    array_free(runs);
}

bool history_follow_head(struct history *h, int64_t run, struct run_record *out, struct error *err)
{
    *out = (struct run_record){0};
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(h, &guard,
                                     "SELECT " HEAD_COLUMNS " FROM runs WHERE ?1 = 0 OR id = ?1"
                                     " ORDER BY id DESC LIMIT 1",
                                     err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    int row = database_step(h, s, err);
    if (row == 1)
        reader_read_head(s, out);
    database_close_query(s, &guard);
    if (row == 0 && run)
        error_set(err, ERROR_INPUT, "%s: there is no run %lld; `weft history` lists them", h->path,
                  (long long)run);
    else if (row == 0)
        error_set(err, ERROR_INPUT, "%s: no run is recorded yet", h->path);
    if (row == 1 && out->tasks <= TASKS_MOST)
        return true;
    if (row == 1) {
        error_set(err, ERROR_FAILED, "%s: run %lld is damaged: it has too many tasks", h->path,
                  (long long)run);
        record_free(out);
    }
    return false;
}

bool history_head(struct history *h, int64_t run, struct run_record *out, struct error *err)
{
    if (!history_follow_head(h, run, out, err))
        return false;
    if ((out->outcome == RECORD_LOST || out->outcome == RECORD_RUNNING) &&
        !count_attempts(h, out, err)) {
        record_free(out);
        return false;
    }
    return true;
}

/* ---- one run ---- */

/* A statement whose ?1 is the first possible row of the run. */
static sqlite3_stmt *rows_of(struct history *h, struct mem_guard *g, const char *sql, int64_t run,
                             struct error *err)
{
    sqlite3_stmt *s = database_query(h, g, sql, err);
    if (s)
        sqlite3_bind_int64(s, 1, database_row(run, 0));
    return s;
}

/* Times are whole microseconds there. */
void reader_read_attempt(sqlite3_stmt *s, struct trace_event *out)
{
    *out = (struct trace_event){
        .kind = TRACE_TASK,
        .id = (uint32_t)sqlite3_column_int64(s, 0),
        .start = database_seconds(s, 1),
        .finish = database_seconds(s, 1) + database_seconds(s, 2),
        .cpu = database_seconds(s, 3),
        .memory = sqlite3_column_double(s, 4),
        .read = sqlite3_column_double(s, 5),
        .written = sqlite3_column_double(s, 6),
        .outcome = sqlite3_column_int(s, 7),
        .status = sqlite3_column_int(s, 8),
        .attempt = (uint32_t)sqlite3_column_int64(s, 9),
        .node = (uint32_t)sqlite3_column_int64(s, 10),
        .lane = (uint32_t)sqlite3_column_int64(s, 11),
    };
}

static bool load_attempts(struct history *h, struct run_record *r, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = rows_of(h, &guard,
                              "SELECT task, start, took, cpu, memory, read, written, outcome,"
                              " status, attempt, node, lane FROM attempts"
                              " WHERE id BETWEEN ?1 AND ?1 + 4294967295 ORDER BY id",
                              r->run, err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        struct trace_event e;
        reader_read_attempt(s, &e);
        array_push(&r->events, e);
    }
    database_close_query(s, &guard);
    return row == 0;
}

/* Ranges of tasks, checked against their number: a damaged count would fill the memory. */
static bool load_reused(struct history *h, struct run_record *r, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = rows_of(h, &guard,
                              "SELECT first, count, at FROM reused"
                              " WHERE id BETWEEN ?1 AND ?1 + 4294967295 ORDER BY id",
                              r->run, err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        int64_t first = sqlite3_column_int64(s, 0), count = sqlite3_column_int64(s, 1);
        if (first < 0 || count < 0 || first > r->tasks || count > r->tasks - first) {
            row = -1;
            error_set(err, ERROR_FAILED,
                      "%s: run %lld is damaged: %lld of %u task%s reused, from number %lld",
                      h->path, (long long)r->run, (long long)count, r->tasks, plural(r->tasks),
                      (long long)first);
            break;
        }
        struct trace_event e = {.kind = TRACE_REUSED, .start = database_seconds(s, 2)};
        e.finish = e.start;
        for (int64_t t = first; t < first + count; t++) {
            e.id = (uint32_t)t;
            array_push(&r->events, e);
        }
    }
    database_close_query(s, &guard);
    return row == 0;
}

/* Counters, transfers and faults: everything that is neither an attempt nor reuse. */
static bool load_events(struct history *h, struct run_record *r, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = rows_of(h, &guard,
                              "SELECT type, subject, node, other, start, took, amount FROM events"
                              " WHERE id BETWEEN ?1 AND ?1 + 4294967295 ORDER BY id",
                              r->run, err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        struct trace_event e = {
            .kind = (enum trace_kind)sqlite3_column_int(s, 0),
            .id = (uint32_t)sqlite3_column_int64(s, 1),
            .node = (uint32_t)sqlite3_column_int64(s, 2),
            .other = (uint32_t)sqlite3_column_int64(s, 3),
            .start = database_seconds(s, 4),
            .finish = database_seconds(s, 4) + database_seconds(s, 5),
            .amount = sqlite3_column_double(s, 6),
        };
        if (e.kind == TRACE_FAULT && sqlite3_column_int64(s, 5) < 0)
            /* a node that never came back is stored with a negative duration */
            e.finish = INFINITY;
        array_push(&r->events, e);
    }
    database_close_query(s, &guard);
    return row == 0;
}

/* Of another length: none. */
static void read_digest(sqlite3_stmt *s, int column, struct digest *out)
{
    *out = (struct digest){0};
    const void *blob = sqlite3_column_blob(s, column);
    if (blob && sqlite3_column_bytes(s, column) == sizeof out->at)
        memcpy(out->at, blob, sizeof out->at);
}

/* Columns: object, task, path, digest, key, size, made. */
void reader_read_file(sqlite3_stmt *s, int from, struct record_file *f)
{
    *f = (struct record_file){
        .object = (uint32_t)sqlite3_column_int64(s, from),
        .task = sqlite3_column_type(s, from + 1) == SQLITE_NULL
                    ? NONE
                    : (uint32_t)sqlite3_column_int64(s, from + 1),
        .path = database_text(s, from + 2),
        .size = sqlite3_column_double(s, from + 5),
        .produced = sqlite3_column_int(s, from + 6) != 0,
    };
    if (!f->path)
        f->path = mem_copy_string("");
    read_digest(s, from + 3, &f->digest);
    read_digest(s, from + 4, &f->key);
}

/* With the paths, which stand in a table of their own. */
static bool load_files(struct history *h, struct run_record *r, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = rows_of(h, &guard,
                              "SELECT f.object, f.task, p.path, f.digest, f.key, f.size, f.made"
                              " FROM files f LEFT JOIN paths p ON p.id = f.path"
                              " WHERE f.id BETWEEN ?1 AND ?1 + 4294967295 ORDER BY f.id",
                              r->run, err);
    int row = s ? 0 : -1;
    while (s && (row = database_step(h, s, err)) == 1) {
        struct record_file f;
        reader_read_file(s, 0, &f);
        array_push(&r->files, f);
    }
    database_close_query(s, &guard);
    return row == 0;
}

/* Five words a task, as head.c wrote them. */
bool history_predictions(struct history *h, struct run_record *r, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(h, &guard, "SELECT tasks FROM predictions WHERE run = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, r->run);
    int row = database_step(h, s, err);
    const char *blob = row == 1 ? sqlite3_column_blob(s, 0) : NULL;
    /* Of another length: not of these tasks. */
    if (blob && r->tasks && (uint64_t)sqlite3_column_bytes(s, 0) == (uint64_t)r->tasks * 20) {
        r->predicted = mem_new(struct prediction, r->tasks);
        for (uint32_t t = 0; t < r->tasks; t++) {
            float figures[4];
            uint32_t samples;
            memcpy(figures, blob + (size_t)t * 20, sizeof figures);
            memcpy(&samples, blob + (size_t)t * 20 + 16, sizeof samples);
            r->predicted[t] = (struct prediction){(double)figures[0], (double)figures[1],
                                                  (double)figures[2], (double)figures[3], samples};
        }
    }
    database_close_query(s, &guard);
    return row >= 0;
}

/* Stretches, as head.c wrote them. */
bool history_reasons(struct history *h, int64_t run, uint32_t tasks, uint8_t **out,
                     struct error *err)
{
    struct mem_guard guard;
    *out = NULL;
    sqlite3_stmt *s = database_query(h, &guard, "SELECT tasks FROM reasons WHERE run = ?", err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    int row = database_step(h, s, err);
    const char *blob = row == 1 ? sqlite3_column_blob(s, 0) : NULL;
    if (blob) {
        uint8_t *reason = *out = mem_new_zero(uint8_t, (size_t)tasks + 1);
        size_t n = (size_t)sqlite3_column_bytes(s, 0) / sizeof(uint32_t);
        uint32_t t = 0, word;
        for (size_t i = 0; i < n; i++) {
            memcpy(&word, blob + i * sizeof word, sizeof word);
            for (uint32_t left = word >> 8; left && t < tasks; left--)
                reason[t++] = (uint8_t)word;
        }
    }
    database_close_query(s, &guard);
    return row >= 0;
}

/* By the time at which it was reported; equal ones by kind, number and attempt. */
/* Reported: tasks when they end, everything else when it begins. */
static int reader_by_time(const void *a, const void *b)
{
    const struct trace_event *x = a, *y = b;
    double s = x->kind == TRACE_TASK ? x->finish : x->start;
    double t = y->kind == TRACE_TASK ? y->finish : y->start;
    if (s != t)
        return s < t ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

/* Everything about one run; record_free() by the caller. Events come in the order in which they
 * were reported. */
bool history_load(struct history *h, int64_t run, struct run_record *out, struct error *err)
{
    if (!history_head(h, run, out, err))
        return false;
    if (load_attempts(h, out, err) && load_reused(h, out, err) && load_events(h, out, err) &&
        load_files(h, out, err) && history_predictions(h, out, err) && failures_load(h, out, err) &&
        facts_load(h, out, 0, err)) {
        if (out->events.n)
            qsort(out->events.at, out->events.n, sizeof *out->events.at, reader_by_time);
        return true;
    }
    record_free(out);
    return false;
}

/* NULL without an error: it was not kept. */
char *history_workflow_text(struct history *h, int64_t run, size_t *n, struct error *err)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_query(
        h, &guard, "SELECT w.text FROM runs r JOIN workflows w ON w.id = r.workflow WHERE r.id = ?",
        err);
    char *text = NULL;
    if (s) {
        sqlite3_bind_int64(s, 1, run);
        if (database_step(h, s, err) == 1 && sqlite3_column_type(s, 0) != SQLITE_NULL) {
            const char *blob = sqlite3_column_blob(s, 0);
            *n = (size_t)sqlite3_column_bytes(s, 0);
            text = mem_copy_bytes(blob ? blob : "", *n);
        }
    }
    database_close_query(s, &guard);
    return text;
}

int64_t history_workflow_number(struct history *h, int64_t run)
{
    struct mem_guard guard;
    sqlite3_stmt *s = database_kept(h, &guard, KEPT_NUMBER,
                                    "SELECT ifnull(workflow, 0) FROM runs WHERE id = ?", NULL);
    int64_t number = 0;
    if (s) {
        sqlite3_bind_int64(s, 1, run);
        if (database_step(h, s, NULL) == 1)
            number = sqlite3_column_int64(s, 0);
    }
    database_end_kept(s, &guard);
    return number;
}

/* ---- tasks ---- */

/* Names and kinds of a run's tasks, as far as they were written without a hole. */
bool history_tasks(struct history *h, int64_t run, struct history_tasks *out, struct error *err)
{
    *out = (struct history_tasks){0};
    pool_init(&out->text);
    struct mem_guard guard;
    sqlite3_stmt *s =
        database_query(h, &guard,
                       "SELECT t.id & 4294967295, t.name, k.name FROM runs r JOIN tasks t"
                       " ON t.id BETWEEN r.workflow << 32 AND (r.workflow << 32) + 4294967295"
                       " LEFT JOIN kinds k ON k.id = t.kind WHERE r.id = ? ORDER BY t.id",
                       err);
    if (!s) {
        history_tasks_free(out);
        return false;
    }
    sqlite3_bind_int64(s, 1, run);
    /* grown by half: the number of tasks is not known before the last row */
    size_t cap = 0;
    int row;
    char last[256] = "";
    str_id last_kind = 0;
    while ((row = database_step(h, s, err)) == 1) {
        if (sqlite3_column_int64(s, 0) != out->n)
            break; /* a hole: not all were written */
        const char *name = (const char *)sqlite3_column_text(s, 1);
        const char *kind = (const char *)sqlite3_column_text(s, 2);
        if (out->n == cap) {
            cap += cap / 2 + 64;
            out->name = mem_resize(out->name, cap);
            out->kind = mem_resize(out->kind, cap);
        }
        if (strcmp(kind ? kind : "", last) != 0) { /* mostly runs of one kind: stored once each */
            last_kind = pool_add(&out->text, kind ? kind : "", strlen(kind ? kind : ""));
            strncpy(last, kind ? kind : "", sizeof last - 1);
        }
        out->kind[out->n] = last_kind;
        out->name[out->n++] = pool_add(&out->text, name ? name : "", strlen(name ? name : ""));
    }
    database_close_query(s, &guard);
    if (row < 0)
        history_tasks_free(out);
    return row >= 0;
}

const char *history_task_name(const struct history_tasks *t, uint32_t task)
{
    return task < t->n ? pool_text(&t->text, t->name[task]) : "?";
}

const char *history_task_kind(const struct history_tasks *t, uint32_t task)
{
    return task < t->n ? pool_text(&t->text, t->kind[task]) : "?";
}

void history_tasks_free(struct history_tasks *t)
{
    pool_free(&t->text);
    free(t->name);
    free(t->kind);
    *t = (struct history_tasks){0};
}
