/* Recording: the run fills one set of buffers, a thread of its own swaps them and writes.
 *
 *   run's threads ── event(), file() ──▶ filling ──swap──▶ writing ──transactions──▶ database
 *
 * I1. `lock` protects filling, dropped and stop. It is held for a copy or a swap, never while
 *     SQLite works: recording cannot stop a run, however slow the disk.
 * I2. `writing`, the counters and the statements belong to the thread, and to the caller once it is
 *     joined.
 * I3. The counters (entries_done, nattempts ...) move only after COMMIT: a transaction that fails
 *     is rolled back, and its rows are written again with the same numbers.
 * I4. Buffers swap only when `writing` is empty, so rows are written in the order of events.
 * I5. Past PENDING_MOST entries new ones are counted and dropped: a full disk does not fill the
 *     memory too. history_end() says how many.
 * I6. The thread has a boundary of its own (base/mem.h): memory that runs out there is an error of
 *     one try to write, as a full disk is. Whoever runs out under `lock` gives it back first. */
#include "history/database.h"
#include "history/facts.h"
#include "history/failures.h"
#include "history/board.h"
#include "history/head.h"
#include "history/stated.h"
#include "history/task_rows.h"

#include "base/cond.h"
#include "base/array.h"
#include "base/compare.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/plural.h"
#include "model/task_kind.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a crash of the machine can cost at most; two commits a second are no load. */
#define FLUSH_SECONDS 0.5
#define FLUSH_EVENTS 32768   /* write early when this many wait */
#define SLICE 65536          /* rows a transaction: others get a turn after 0.2 s */
#define PENDING_MOST 4000000 /* 300 MB */

/* An event in 72 bytes; times in microseconds. */
struct recorder_entry {
    uint8_t kind, outcome;
    int32_t status;
    uint32_t id, node, other, attempt; /* other: the lane of an attempt */
    int64_t start, took, cpu, memory, read, written;
    double amount;
};

struct file_entry {
    uint32_t object, task;
    size_t path; /* in `text` */
    struct digest digest, key;
    int64_t size;
    bool produced;
};

struct buffer {
    ARRAY(struct recorder_entry) entries;
    ARRAY(struct file_entry) files;
    struct strbuf text; /* paths, each with its NUL */
};

struct statements {
    sqlite3_stmt *attempt, *event, *reused, *file, *find_path, *add_path;
};

struct recorder {
    struct history *history;
    struct head_rows rows;
    const struct workflow *workflow; /* not owned */
    char *folder;                    /* where files are */
    pthread_t thread;
    bool running;

    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct buffer filling;
    uint64_t dropped;
    bool stop;
    bool reading;        /* the thread reads the workflow */
    pthread_cond_t read; /* it does not any more */

    /* of the writing thread; of the caller once it has ended */
    struct buffer writing;
    size_t entries_done, files_done;              /* of `writing`: committed */
    uint32_t nattempts, nevents, nreused, nfiles; /* committed rows of this run */
    struct statements s;
    uint32_t ntasks;      /* entries of task_kind */
    uint32_t *task_kind;  /* number of its kind, per task; NULL: no workflow */
    int64_t *kind_row;    /* per kind */
    uint32_t *kind_count; /* successful attempts seen, per kind */
    struct error error;   /* of the last try that failed */
};

/* ---- the run's side ---- */

/* -1: not a time that can be stored (infinite, NAN). */
static int64_t recorder_micro(double seconds)
{
    return seconds > -9e12 && seconds < 9e12 ? (int64_t)(seconds * 1e6 + (seconds < 0 ? -0.5 : 0.5))
                                             : -1;
}

static int64_t recorder_whole(double bytes)
{
    return bytes > 0 && bytes < 9e18 ? (int64_t)bytes : 0;
}

/* A guard's: an event that finds no memory must not keep the lock. */
static void recorder_unlock(void *recorder)
{
    pthread_mutex_unlock(&((struct recorder *)recorder)->lock);
}

/* Called from any thread of the run, thousands of times a second: one lock, one copy. Beginnings
 * are not stored; the attempt's row has the start. */
static void recorder_event(void *context, const struct trace_event *e)
{
    struct recorder *r = context;
    struct mem_guard guard;
    if (e->kind == TRACE_BEGIN || e->kind == TRACE_GROWN)
        return;
    struct recorder_entry entry = {
        .kind = (uint8_t)e->kind,
        .outcome = (uint8_t)e->outcome,
        .status = e->status,
        .id = e->id,
        .node = e->node,
        .other = e->kind == TRACE_TASK ? e->lane : e->other,
        .attempt = e->attempt,
        .start = recorder_micro(e->start),
        .took = recorder_micro(e->finish - e->start),
        .cpu = recorder_micro(e->cpu),
        .memory = recorder_whole(e->memory),
        .read = recorder_whole(e->read),
        .written = recorder_whole(e->written),
        .amount = e->amount,
    };
    pthread_mutex_lock(&r->lock);
    mem_guard_enter(&guard, recorder_unlock, r);
    size_t n = r->filling.entries.n;
    if (n < PENDING_MOST)
        array_push(&r->filling.entries, entry);
    else
        r->dropped++;
    mem_guard_leave(&guard);
    pthread_mutex_unlock(&r->lock);
    /* once a buffer, not at every event after */
    if (n + 1 == FLUSH_EVENTS)
        pthread_cond_signal(&r->wake);
}

/* Files that were made or put back, and inputs from outside; an intermediate file that was merely found again
 * is known from the run that made it. */
static void recorder_file(void *context, const struct trace_file *f)
{
    struct recorder *r = context;
    struct mem_guard guard;
    if (!f->produced && !f->restored && f->task != NONE)
        return;
    struct file_entry entry = {
        .object = f->object,
        .task = f->task,
        .digest = f->digest,
        .key = f->key,
        .size = recorder_whole(f->size),
        .produced = f->produced,
    };
    pthread_mutex_lock(&r->lock);
    mem_guard_enter(&guard, recorder_unlock, r);
    if (r->filling.files.n < PENDING_MOST) {
        entry.path = r->filling.text.n;
        strbuf_add_bytes(&r->filling.text, f->path ? f->path : "", f->path ? strlen(f->path) : 0);
        strbuf_add_char(&r->filling.text, 0);
        array_push(&r->filling.files, entry);
    } else {
        r->dropped++;
    }
    mem_guard_leave(&guard);
    pthread_mutex_unlock(&r->lock);
}

struct trace_sink history_sink(struct history *h)
{
    return (struct trace_sink){recorder_event, h->recorder, recorder_file, NULL};
}

/* ---- tasks and kinds ---- */

/* Once, before the first attempt is written: numbers for the kinds, rows for new tasks. */
static bool prepare_tasks(struct recorder *r, struct error *err)
{
    pthread_mutex_lock(&r->lock);
    const struct workflow *w = r->task_kind ? NULL : r->workflow;
    r->reading = w != NULL;
    pthread_mutex_unlock(&r->lock);
    if (!w)
        return true;
    struct task_kinds kinds;
    task_kinds_find(w, &kinds);
    r->kind_row = mem_new_zero(int64_t, kinds.names.n + 1);
    r->kind_count = mem_new_zero(uint32_t, kinds.names.n + 1);
    r->ntasks = w->ntasks;
    r->task_kind = kinds.of; /* last: says that all three are there */
    kinds.of = NULL;
    struct mem_guard guard;
    mem_guard_enter(&guard, database_roll_back, r->history->db);
    bool ok = database_exec(r->history, "BEGIN IMMEDIATE", err) &&
              tasks_add_kinds(r->history, &kinds.names, r->kind_row, err) &&
              (!r->rows.add_tasks ||
               tasks_add(r->history, r->rows.workflow, w, r->task_kind, r->kind_row, err)) &&
              database_exec(r->history, "COMMIT", err);
    mem_guard_leave(&guard);
    task_kinds_free(&kinds);
    pthread_mutex_lock(&r->lock);
    r->reading = false;
    pthread_cond_broadcast(&r->read);
    pthread_mutex_unlock(&r->lock);
    if (ok)
        return true;
    sqlite3_exec(r->history->db, "ROLLBACK", NULL, NULL, NULL);
    free(r->task_kind);
    free(r->kind_row);
    free(r->kind_count);
    r->task_kind = NULL;
    r->kind_row = NULL;
    r->kind_count = NULL;
    return false;
}

/* ---- rows ---- */

/* Prepared once, used for every row: parsing would cost more than inserting. */
static bool prepare_statements(struct recorder *r, struct error *err)
{
    static const char *const sql[] = {
        "INSERT INTO attempts VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        "INSERT INTO events VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        "INSERT INTO reused VALUES(?, ?, ?, ?)",
        "INSERT INTO files VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
        "SELECT id FROM paths WHERE hash = ?1 AND folder = ?2 AND path = ?3",
        "INSERT INTO paths(folder, path, hash) VALUES(?2, ?3, ?1)",
    };
    sqlite3_stmt **s = (sqlite3_stmt *[]){NULL, NULL, NULL, NULL, NULL, NULL};
    if (r->s.add_path)
        return true;
    bool ok = true;
    for (size_t i = 0; ok && i < 6; i++)
        ok = (s[i] = database_prepare(r->history, sql[i], err)) != NULL;
    if (ok)
        r->s = (struct statements){s[0], s[1], s[2], s[3], s[4], s[5]};
    else
        for (size_t i = 0; i < 6; i++)
            sqlite3_finalize(s[i]);
    return ok;
}

/* Which attempts serve prediction: the first 1,000 of a kind, then every 2nd, from 2,000 on every
 * 4th ...: a run adds at most 1,000 + 500 log2(n / 1000) to the index, however large it is. */
static bool is_sample(uint32_t n)
{
    uint32_t step = 1;
    while (n / step >= FORECAST_SAMPLES)
        step *= 2;
    return n % step == 0;
}

/* `kind` is set for samples only: the index over it stays small. */
static bool write_attempt(struct recorder *r, const struct recorder_entry *e, uint32_t n,
                          struct error *err)
{
    sqlite3_stmt *s = r->s.attempt;
    int64_t kind = 0;
    /* No time at all: a joint in the graph, without a command. */
    if (e->outcome == TRACE_DONE && e->took > 0 && r->task_kind && e->id < r->ntasks) {
        uint32_t k = r->task_kind[e->id];
        if (is_sample(r->kind_count[k]++))
            kind = r->kind_row[k];
    }
    sqlite3_bind_int64(s, 1, database_row(r->rows.run, n));
    sqlite3_bind_int64(s, 2, e->id);
    sqlite3_bind_int64(s, 3, e->start);
    sqlite3_bind_int64(s, 4, e->took);
    sqlite3_bind_int64(s, 5, e->cpu);
    sqlite3_bind_int64(s, 6, e->memory);
    sqlite3_bind_int64(s, 7, e->read);
    sqlite3_bind_int64(s, 8, e->written);
    sqlite3_bind_int64(s, 9, e->outcome);
    sqlite3_bind_int64(s, 10, e->status);
    sqlite3_bind_int64(s, 11, e->attempt);
    sqlite3_bind_int64(s, 12, e->node);
    sqlite3_bind_int64(s, 13, e->other);
    if (kind)
        sqlite3_bind_int64(s, 14, kind);
    else
        sqlite3_bind_null(s, 14);
    return database_run(r->history, s, err);
}

static bool recorder_write_event(struct recorder *r, const struct recorder_entry *e, uint32_t n,
                                 struct error *err)
{
    sqlite3_stmt *s = r->s.event;
    sqlite3_bind_int64(s, 1, database_row(r->rows.run, n));
    sqlite3_bind_int64(s, 2, e->kind);
    sqlite3_bind_int64(s, 3, e->id);
    sqlite3_bind_int64(s, 4, e->node);
    sqlite3_bind_int64(s, 5, e->other);
    sqlite3_bind_int64(s, 6, e->start);
    sqlite3_bind_int64(s, 7, e->took);
    sqlite3_bind_double(s, 8, e->amount);
    return database_run(r->history, s, err);
}

/* Tasks first .. first + count - 1 were reused at this time. */
static bool write_range(struct recorder *r, uint32_t first, uint32_t count, int64_t at, uint32_t n,
                        struct error *err)
{
    sqlite3_stmt *s = r->s.reused;
    sqlite3_bind_int64(s, 1, database_row(r->rows.run, n));
    sqlite3_bind_int64(s, 2, first);
    sqlite3_bind_int64(s, 3, count);
    sqlite3_bind_int64(s, 4, at);
    return database_run(r->history, s, err);
}

/* The path's row is found or made; a file row has only its number. */
static bool recorder_write_file(struct recorder *r, const struct file_entry *f, const char *path,
                                uint32_t n, struct error *err)
{
    struct history *h = r->history;
    sqlite3_stmt *const by_path[] = {r->s.find_path, r->s.add_path};
    for (int i = 0; i < 2; i++) {
        sqlite3_bind_int64(by_path[i], 1, database_path_hash(r->rows.folder, path));
        sqlite3_bind_int64(by_path[i], 2, r->rows.folder);
        database_bind_text(by_path[i], 3, path);
    }
    int row = database_step(h, r->s.find_path, err);
    int64_t id = row == 1 ? sqlite3_column_int64(r->s.find_path, 0) : 0;
    sqlite3_reset(r->s.find_path);
    if (row < 0)
        return false;
    if (!id) {
        if (!database_run(h, r->s.add_path, err))
            return false;
        id = sqlite3_last_insert_rowid(h->db);
    }
    sqlite3_stmt *s = r->s.file;
    sqlite3_bind_int64(s, 1, database_row(r->rows.run, n));
    sqlite3_bind_int64(s, 2, id);
    sqlite3_bind_int64(s, 3, f->object);
    if (f->task == NONE)
        sqlite3_bind_null(s, 4);
    else
        sqlite3_bind_int64(s, 4, f->task);
    if (digest_is_zero(&f->digest))
        sqlite3_bind_null(s, 5);
    else
        sqlite3_bind_blob(s, 5, f->digest.at, sizeof f->digest.at, SQLITE_STATIC);
    if (digest_is_zero(&f->key))
        sqlite3_bind_null(s, 6);
    else
        sqlite3_bind_blob(s, 6, f->key.at, sizeof f->key.at, SQLITE_STATIC);
    sqlite3_bind_int64(s, 7, f->size);
    sqlite3_bind_int64(s, 8, f->produced);
    if (!database_run(h, s, err))
        return false;
    /* a small result may state values; what a call makes in memory is not there to be read */
    return !f->produced || f->task == NONE || f->size <= 0 || f->size > STATED_BYTES ||
           facts_add_result(h, r->rows.run, r->folder, path, f->task, err);
}

/* Entries and files of `writing` from what is done on, at most SLICE of each, one transaction. */
static bool write_slice(struct recorder *r, struct error *err)
{
    struct buffer *b = &r->writing;
    size_t last = r->entries_done + SLICE < b->entries.n ? r->entries_done + SLICE : b->entries.n;
    size_t last_file = r->files_done + SLICE < b->files.n ? r->files_done + SLICE : b->files.n;
    uint32_t nattempts = r->nattempts, nevents = r->nevents, nreused = r->nreused;
    uint32_t nfiles = r->nfiles;
    ARRAY(uint32_t) reused = {0};
    int64_t reused_at = 0;
    struct mem_guard guard;
    mem_guard_enter(&guard, database_roll_back, r->history->db);
    bool ok = database_exec(r->history, "BEGIN IMMEDIATE", err);
    for (size_t i = r->entries_done; ok && i < last; i++) {
        const struct recorder_entry *e = &b->entries.at[i];
        if (e->kind == TRACE_TASK) {
            ok = write_attempt(r, e, nattempts++, err);
        } else if (e->kind == TRACE_REUSED) {
            reused_at = reused.n ? reused_at : e->start;
            array_push(&reused, e->id);
        } else {
            ok = recorder_write_event(r, e, nevents++, err);
        }
    }
    /* reused tasks come in any order, but mostly are ranges: a million of them may be one row */
    if (reused.n)
        qsort(reused.at, reused.n, sizeof *reused.at, compare_u32);
    for (size_t i = 0, k; ok && i < reused.n; i = k) {
        for (k = i + 1; k < reused.n && reused.at[k] == reused.at[k - 1] + 1; k++)
            ;
        ok = write_range(r, reused.at[i], (uint32_t)(k - i), reused_at, nreused++, err);
    }
    array_free(&reused);
    for (size_t i = r->files_done; ok && i < last_file; i++)
        ok = recorder_write_file(r, &b->files.at[i], b->text.at + b->files.at[i].path, nfiles++,
                                 err);
    ok = ok && database_exec(r->history, "COMMIT", err);
    mem_guard_leave(&guard);
    if (!ok) {
        database_roll_back(r->history->db);
        return false;
    }
    r->entries_done = last;
    r->files_done = last_file;
    r->nattempts = nattempts;
    r->nevents = nevents;
    r->nreused = nreused;
    r->nfiles = nfiles;
    return true;
}

/* Write everything in `writing`. False: what is left stays for another try. */
static bool recorder_write_all(struct recorder *r)
{
    struct buffer *b = &r->writing;
    error_clear(&r->error);
    if (!prepare_tasks(r, &r->error) || !prepare_statements(r, &r->error))
        return false;
    while (r->entries_done < b->entries.n || r->files_done < b->files.n)
        if (!write_slice(r, &r->error))
            return false;
    b->entries.n = b->files.n = 0;
    strbuf_clear(&b->text);
    r->entries_done = r->files_done = 0;
    return board_write(r->history, r->rows.run, &r->error);
}

static void recorder_try(void *recorder)
{
    recorder_write_all(recorder);
}

/* On the recorder's thread (I6). What a failed allocation left behind is not whole, so that it is
 * begun again: the kinds' arrays are published only when all of them are there. */
static void recorder_write_on_thread(struct recorder *r)
{
    size_t asked;
    if (!mem_try(NULL, recorder_try, r, &asked))
        error_set(&r->error, ERROR_MEMORY, "out of memory (asked for %zu bytes)", asked);
}

/* Under the lock: take what is filled, if everything before it is written. */
static void swap_buffers(struct recorder *r)
{
    if (r->writing.entries.n || r->writing.files.n)
        return;
    struct buffer full = r->filling;
    r->filling = r->writing;
    r->writing = full;
}

/* Writes every half second, or when many wait. After an error it waits out its time before trying
 * again, whatever waits. */
static void *recorder_thread(void *context)
{
    struct recorder *r = context;
    recorder_write_on_thread(r); /* the tasks' names */
    pthread_mutex_lock(&r->lock);
    while (!r->stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += (long)(FLUSH_SECONDS * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (r->filling.entries.n < FLUSH_EVENTS || *r->error.text)
            pthread_cond_timedwait(&r->wake, &r->lock, &until);
        swap_buffers(r);
        pthread_mutex_unlock(&r->lock);
        recorder_write_on_thread(r);
        pthread_mutex_lock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- the beginning and the end of a run ---- */

static void recorder_free(struct recorder *r)
{
    sqlite3_finalize(r->s.attempt);
    sqlite3_finalize(r->s.event);
    sqlite3_finalize(r->s.reused);
    sqlite3_finalize(r->s.file);
    sqlite3_finalize(r->s.find_path);
    sqlite3_finalize(r->s.add_path);
    struct buffer *const buffers[] = {&r->filling, &r->writing};
    for (int i = 0; i < 2; i++) {
        array_free(&buffers[i]->entries);
        array_free(&buffers[i]->files);
        strbuf_free(&buffers[i]->text);
    }
    free(r->folder);
    free(r->task_kind);
    free(r->kind_row);
    free(r->kind_count);
    pthread_cond_destroy(&r->wake);
    pthread_cond_destroy(&r->read);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

/* False: the run goes on without a record. */
static bool start_thread(struct recorder *r, struct error *err)
{
    /* Signals are the run's business: none may land on this thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&r->thread, NULL, recorder_thread, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code)
        return error_set(err, ERROR_FAILED, "cannot start the thread that records the run: %s",
                         strerror(code));
    r->running = true;
    return true;
}

/* Joins, then writes what is left in the caller's thread. Gives up at the first failure. */
static void stop_thread(struct recorder *r)
{
    if (!r->running)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_mutex_unlock(&r->lock);
    pthread_cond_signal(&r->wake);
    pthread_join(r->thread, NULL);
    r->running = false;
    /* What the thread could not write, then what came after its last swap. */
    for (int turn = 0; turn < 2; turn++) {
        swap_buffers(r);
        if (!recorder_write_all(r))
            break;
    }
}

/* The workflow must live until history_end(). 0: an error, and nothing is being recorded. */
int64_t history_begin(struct history *h, const struct run_record *head, const char *text, size_t n,
                      struct error *err)
{
    if (h->recorder) {
        error_set(err, ERROR_FAILED, "%s: a run is being recorded already", h->path);
        return 0;
    }
    struct recorder *r = mem_new_zero(struct recorder, 1);
    r->history = h;
    r->workflow = head->workflow;
    r->folder = mem_copy_string(head->folder ? head->folder : "");
    pthread_mutex_init(&r->lock, NULL);
    cond_init(&r->wake);
    pthread_cond_init(&r->read, NULL);
    bool ok = head_add(h, head, text, n, &r->rows, err) && start_thread(r, err);
    if (!ok) {
        recorder_free(r);
        return 0;
    }
    h->recorder = r;
    return r->rows.run;
}

/* The thread reads it once, at the beginning; should that have failed, not again. */
void history_let_go(struct history *h)
{
    struct recorder *r = h ? h->recorder : NULL;
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    while (r->reading)
        pthread_cond_wait(&r->read, &r->lock);
    r->workflow = NULL;
    pthread_mutex_unlock(&r->lock);
}

/* The thread ends here: what is left is written first, under the numbers that tasks have either way. */
bool history_set_workflow(struct history *h, const struct run_record *head, const char *text,
                          size_t n, struct error *err)
{
    struct recorder *r = h->recorder;
    if (!r)
        return error_set(err, ERROR_FAILED, "%s: no run is being recorded", h->path);
    stop_thread(r);
    free(r->task_kind);
    free(r->kind_row);
    free(r->kind_count);
    r->task_kind = r->kind_count = NULL;
    r->kind_row = NULL;
    r->workflow = head->workflow;
    return head_change_workflow(h, head, text, n, &r->rows, err) && prepare_tasks(r, err) &&
           head_add_samples(h, &r->rows, 4 * FORECAST_SAMPLES, err);
}

/* False: a warning for the user, not a failure of the run. */
bool history_end(struct history *h, const struct run_record *totals, struct error *err)
{
    struct recorder *r = h->recorder;
    if (!r)
        return error_set(err, ERROR_FAILED, "%s: no run is being recorded", h->path);
    stop_thread(r);
    uint64_t lost = r->dropped + r->filling.entries.n + r->writing.entries.n - r->entries_done;
    struct error *first = *r->error.text ? NULL : &r->error;
    bool ended = failures_write(h, r->rows.run, totals, first) &&
                 (!r->nreused || !r->workflow ||
                  facts_add_reused(h, r->rows.run, r->folder, r->workflow, first)) &&
                 head_end(h, r->rows.run, totals, first);
    bool ok = ended && !lost && !*r->error.text;
    if (!ok)
        error_set(err, ERROR_FAILED,
                  "the record of run %lld is not whole (%llu attempt%s missing%s): %s",
                  (long long)r->rows.run, (unsigned long long)lost,
                  plural_word(lost, " is", "s are"), ended ? "" : ", and its end",
                  *r->error.text ? r->error.text : "they came faster than they could be written");
    h->recorder = NULL;
    recorder_free(r);
    return ok;
}

void history_close(struct history *h)
{
    if (!h)
        return;
    if (h->recorder) {
        stop_thread(h->recorder);
        recorder_free(h->recorder);
    }
    database_close(h);
    free(h->path);
    free(h);
}
