/* The head of a run: its rows in workflows, folders, runs and predictions, in one transaction
 * before the run begins, so that a run that crashes has left at least who and when. Workflows are
 * stored once, by digest. */
#include "history/head.h"

#include "base/mem.h"
#include "history/facts.h"
#include "history/process.h"
#include "history/shape.h"
#include "history/spans.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Without a text to know it by: names, kinds and edges. */
static void workflow_digest(const struct workflow *w, struct digest *out)
{
    struct digest_state s;
    digest_begin(&s);
    digest_number(&s, w ? w->ntasks : 0);
    for (uint32_t t = 0; w && t < w->ntasks; t++) {
        const char *name = workflow_task_name(w, t), *kind = workflow_text(w, w->kind[t]);
        digest_string(&s, name, strlen(name));
        digest_string(&s, kind, strlen(kind));
    }
    if (w && w->nedges)
        digest_bytes(&s, w->succ_task, w->nedges * sizeof *w->succ_task);
    digest_end(&s, out);
}

/* Texts up to HISTORY_TEXT_LIMIT are kept, so that the graph of an old run can be drawn.
 * `add_tasks` when the workflow is new or its tasks were never written to the end. */
static bool add_workflow(struct history *h, struct head_rows *r, const struct run_record *head,
                         const char *text, size_t n, struct error *err)
{
    bool keep = text && n <= HISTORY_TEXT_LIMIT;
    struct digest digest;
    if (keep)
        digest_of(text, n, &digest);
    else
        workflow_digest(head->workflow, &digest);
    sqlite3_stmt *find =
        database_prepare(h, "SELECT id, tasks FROM workflows WHERE digest = ?", err);
    if (!find)
        return false;
    sqlite3_bind_blob(find, 1, digest.at, sizeof digest.at, SQLITE_STATIC);
    int row = database_step(h, find, err);
    r->workflow = row == 1 ? sqlite3_column_int64(find, 0) : 0;
    /* below 0: an older weft wrote them, without their commands */
    r->add_tasks = row != 1 || sqlite3_column_int64(find, 1) <= 0;
    sqlite3_finalize(find);
    if (row != 0)
        return row == 1;
    sqlite3_stmt *add =
        database_prepare(h, "INSERT INTO workflows(digest, name, text) VALUES(?, ?, ?)", err);
    if (!add)
        return false;
    sqlite3_bind_blob(add, 1, digest.at, sizeof digest.at, SQLITE_STATIC);
    database_bind_text(add, 2, head->name);
    if (keep)
        sqlite3_bind_blob(add, 3, text, (int)n, SQLITE_STATIC);
    bool ok = database_run(h, add, err);
    sqlite3_finalize(add);
    r->workflow = sqlite3_last_insert_rowid(h->db);
    return ok && (!keep || !head->workflow || shape_add(h, r->workflow, head->workflow, err));
}

/* Insert and look: another process may have inserted it in between. */
static bool add_folder(struct history *h, struct head_rows *r, const char *folder,
                       struct error *err)
{
    sqlite3_stmt *add = database_prepare(h, "INSERT OR IGNORE INTO folders(path) VALUES(?)", err);
    sqlite3_stmt *find = database_prepare(h, "SELECT id FROM folders WHERE path = ?", err);
    bool ok = add && find;
    if (ok) {
        database_bind_text(add, 1, folder ? folder : "");
        database_bind_text(find, 1, folder ? folder : "");
        ok = database_run(h, add, err) && database_step(h, find, err) == 1;
    }
    if (ok)
        r->folder = sqlite3_column_int64(find, 0);
    sqlite3_finalize(add);
    sqlite3_finalize(find);
    return ok;
}

/* pid, time of birth and boot tell later whether the process still lives (process.c). */
static bool add_run(struct history *h, struct head_rows *r, const struct run_record *head,
                    struct error *err)
{
    sqlite3_stmt *s = database_prepare(
        h,
        "INSERT INTO runs(workflow, name, file, folder, host, planner, started, cores, memory,"
        " speed, outcome, tasks, ran, reused, failed, skipped, pid, born, boot, predicted_seconds,"
        " predicted_memory, predicted_disk, given, version, system, place)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        err);
    if (!s)
        return false;
    /* who writes this: see process.c */
    struct process self;
    process_self(&self);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    sqlite3_bind_int64(s, 1, r->workflow);
    database_bind_text(s, 2, head->name);
    database_bind_text(s, 3, head->file);
    database_bind_text(s, 4, head->folder);
    database_bind_text(s, 5, head->host ? head->host : host);
    database_bind_text(s, 6, head->planner);
    database_bind_number(
        s, 7, head->started > 0 ? head->started : (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
    sqlite3_bind_int64(s, 8, head->cores);
    database_bind_number(s, 9, head->memory);
    database_bind_number(s, 10, head->speed > 0 ? head->speed : NAN); /* NAN: not measured */
    /* until head_end() says otherwise, or a reader finds the process gone */
    sqlite3_bind_int64(s, 11, RECORD_RUNNING);
    sqlite3_bind_int64(s, 12,
                       head->tasks      ? head->tasks
                       : head->workflow ? head->workflow->ntasks
                                        : 0);
    sqlite3_bind_int64(s, 13, self.pid);
    sqlite3_bind_int64(s, 14, self.born);
    database_bind_text(s, 15, self.boot);
    database_bind_number(s, 16, head->predicted_seconds);
    database_bind_number(s, 17, head->predicted_memory);
    database_bind_number(s, 18, head->predicted_disk);
    database_bind_text(s, 19, head->given);
    /* a run of another system's brings its own, or none */
    database_bind_text(s, 20, head->host ? head->version : WEFT_VERSION);
    database_bind_text(s, 21, head->host ? head->system : NULL);
    database_bind_text(s, 22, head->place);
    bool ok = database_run(h, s, err);
    sqlite3_finalize(s);
    r->run = sqlite3_last_insert_rowid(h->db);
    /* rows of a run are numbered (run << 32) + n */
    if (ok && r->run > INT32_MAX)
        ok = error_set(err, ERROR_FAILED, "%s: the history has no number left for another run",
                       h->path);
    return ok;
}

/* Five 32-bit words a task: seconds, low, high, memory as floats, and the samples. */
static bool add_predictions(struct history *h, struct head_rows *r, const struct run_record *head,
                            struct error *err)
{
    const struct workflow *w = head->workflow;
    bool any = false;
    for (uint32_t t = 0; head->predicted && w && t < w->ntasks && !any; t++)
        any = head->predicted[t].samples > 0;
    if (!any)
        return true;
    /* floats: seven digits are more than a prediction is worth */
    uint32_t *words = mem_new(uint32_t, (size_t)w->ntasks * 5);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const struct prediction *p = &head->predicted[t];
        const float figures[4] = {(float)p->seconds, (float)p->low, (float)p->high,
                                  (float)p->memory};
        memcpy(&words[(size_t)t * 5], figures, sizeof figures);
        words[(size_t)t * 5 + 4] = p->samples;
    }
    sqlite3_stmt *s = database_prepare(h, "INSERT INTO predictions(run, tasks) VALUES(?, ?)", err);
    bool ok = s != NULL;
    if (ok) {
        sqlite3_bind_int64(s, 1, r->run);
        sqlite3_bind_blob64(s, 2, words, (uint64_t)w->ntasks * 20, SQLITE_STATIC);
        ok = database_run(h, s, err);
    }
    sqlite3_finalize(s);
    free(words);
    return ok;
}

/* Neighbours have mostly one reason: a 32-bit word for each stretch, the number of its tasks above its reason's byte. */
enum { REASON_BITS = 8, REASON_STRETCH = (1 << 24) - 1 };

static bool add_reasons(struct history *h, struct head_rows *r, const struct run_record *head,
                        struct error *err)
{
    ARRAY(uint32_t) words = {0};
    uint32_t tasks = head->reasons && head->workflow ? head->workflow->ntasks : 0;
    for (uint32_t t = 0, n; t < tasks; t += n) {
        for (n = 1;
             t + n < tasks && n < REASON_STRETCH && head->reasons[t + n] == head->reasons[t];)
            n++;
        array_push(&words, n << REASON_BITS | head->reasons[t]);
    }
    if (!words.n)
        return true;
    sqlite3_stmt *s = database_prepare(h, "INSERT INTO reasons(run, tasks) VALUES(?, ?)", err);
    if (s) {
        sqlite3_bind_int64(s, 1, r->run);
        sqlite3_bind_blob64(s, 2, words.at, words.n * sizeof *words.at, SQLITE_STATIC);
    }
    bool ok = s && database_run(h, s, err);
    sqlite3_finalize(s);
    array_free(&words);
    return ok;
}

/* All or nothing. `text` need not outlive the call. */
bool head_add(struct history *h, const struct run_record *head, const char *text, size_t n,
              struct head_rows *r, struct error *err)
{
    struct mem_guard guard;
    mem_guard_enter(&guard, database_roll_back, h->db);
    bool ok = database_exec(h, "BEGIN IMMEDIATE", err) && add_workflow(h, r, head, text, n, err) &&
              add_folder(h, r, head->folder, err);
    int taken = ok ? head_take_up(h, head, r, err) : 0;
    ok = ok && taken >= 0 &&
         (taken || (add_run(h, r, head, err) && add_predictions(h, r, head, err) &&
                    add_reasons(h, r, head, err))) &&
         facts_add_parameters(h, r->run, head->workflow, err) && database_exec(h, "COMMIT", err);
    mem_guard_leave(&guard);
    if (!ok)
        database_roll_back(h->db);
    return ok;
}

bool head_change_workflow(struct history *h, const struct run_record *head, const char *text,
                          size_t n, struct head_rows *r, struct error *err)
{
    sqlite3_stmt *s = NULL;
    bool ok = add_workflow(h, r, head, text, n, err) &&
              (s = database_prepare(h, "UPDATE runs SET workflow = ?2, tasks = ?3 WHERE id = ?1",
                                    err)) != NULL;
    if (ok) {
        sqlite3_bind_int64(s, 1, r->run);
        sqlite3_bind_int64(s, 2, r->workflow);
        sqlite3_bind_int64(s, 3, head->workflow->ntasks);
        ok = database_run(h, s, err);
    }
    sqlite3_finalize(s);
    return ok;
}

bool head_add_samples(struct history *h, const struct head_rows *r, uint32_t most,
                      struct error *err)
{
    sqlite3_stmt *s = database_prepare(
        h,
        "UPDATE attempts SET kind = (SELECT kind FROM tasks WHERE tasks.id = (?2 << 32) + task)"
        " WHERE id >= ?1 << 32 AND id < (?1 << 32) + ?3 AND kind IS NULL AND outcome = 0 AND took "
        "> 0",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, r->workflow);
    sqlite3_bind_int64(s, 3, most);
    bool ok = database_run(h, s, err);
    sqlite3_finalize(s);
    return ok;
}

/* Totals of the run; its rows are written by then. */
bool head_end(struct history *h, int64_t run, const struct run_record *t, struct error *err)
{
    if (!spans_add(h, run, err))
        return false;
    sqlite3_stmt *s = database_prepare(
        h,
        "UPDATE runs SET outcome = ?2, seconds = ?3, tasks = ?4, ran = ?5, reused = ?6,"
        " failed = ?7, skipped = ?8, peak_memory = ?9, peak_disk = ?10, untaken = ?11,"
        " excused = ?12 WHERE id = ?1",
        err);
    if (!s)
        return false;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, t->outcome);
    database_bind_number(s, 3, t->seconds);
    sqlite3_bind_int64(s, 4, t->tasks);
    sqlite3_bind_int64(s, 5, t->ran);
    sqlite3_bind_int64(s, 6, t->reused);
    sqlite3_bind_int64(s, 7, t->failed);
    sqlite3_bind_int64(s, 8, t->skipped);
    database_bind_number(s, 9, t->peak_memory);
    database_bind_number(s, 10, t->peak_disk);
    sqlite3_bind_int64(s, 11, t->untaken);
    sqlite3_bind_int64(s, 12, t->excused);
    bool ok = database_run(h, s, err);
    sqlite3_finalize(s);
    return ok;
}
