/* Recording and reading back: whole, in pieces, twice at once, after kill -9, with damage. */
#include "history/database.h"
#include "history/testing.h"

#include "base/mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static void end_well(struct history *h, uint32_t ran, uint32_t reused, const char *what)
{
    struct error err = {0};
    struct run_record totals = {.outcome = RECORD_DONE,
                                .seconds = 2.5,
                                .tasks = ran + reused,
                                .ran = ran,
                                .reused = reused,
                                .peak_memory = 5e6,
                                .peak_disk = NAN};
    ok(history_end(h, &totals, &err), "%s: ends: %s", what, err.text);
}

static void test_default_path(void)
{
    setenv("WEFT_HISTORY", "/some/where.db", 1);
    char *path = history_default_path();
    is_str(path, "/some/where.db", "WEFT_HISTORY names the database");
    free(path);
    setenv("WEFT_HISTORY", "none", 1);
    ok(!history_default_path(), "WEFT_HISTORY=none: none");
    unsetenv("WEFT_HISTORY");
    setenv("XDG_DATA_HOME", "/xdg", 1);
    path = history_default_path();
    is_str(path, "/xdg/weft/history.db", "XDG_DATA_HOME");
    free(path);
    unsetenv("XDG_DATA_HOME");
    setenv("HOME", "/home/me", 1);
    path = history_default_path();
    is_str(path, "/home/me/.local/share/weft/history.db", "the home folder");
    free(path);
    unsetenv("HOME");
    ok(!history_default_path(), "no home: none");
}

/* ---- a whole run ---- */

static void report_run(struct trace_sink sink)
{
    struct trace_event e = {.kind = TRACE_BEGIN, .id = 0};
    sink.event(sink.context, &e);
    e = testing_attempt(0, 0, 1.25);
    e.outcome = TRACE_FAILED;
    e.status = 3;
    sink.event(sink.context, &e);
    e = testing_attempt(0, 1.5, 0.5);
    e.attempt = 2;
    sink.event(sink.context, &e);
    e = testing_attempt(1, 0.25, 0.000123);
    sink.event(sink.context, &e);
    for (uint32_t t = 2; t < 10; t++) {
        e = (struct trace_event){.kind = TRACE_REUSED, .id = t == 5 ? 9 : t == 9 ? 5 : t};
        sink.event(sink.context, &e);
    }
    e = (struct trace_event){
        .kind = TRACE_COUNTER, .id = COUNTER_READY, .start = 0.75, .finish = 0.75, .amount = 42.5};
    sink.event(sink.context, &e);
    struct trace_file f = {.object = 10, .task = NONE, .path = "in.dat", .size = 77};
    memset(f.digest.at, 7, sizeof f.digest.at);
    sink.file(sink.context, &f);
    f = (struct trace_file){
        .object = 0, .task = 0, .path = "out-0", .size = 123456, .produced = true};
    memset(f.digest.at, 1, sizeof f.digest.at);
    memset(f.key.at, 2, sizeof f.key.at);
    sink.file(sink.context, &f);
    f.path = "out-2";
    f.task = 2;
    f.produced = false; /* found: its maker has recorded it */
    sink.file(sink.context, &f);
}

static void check_run(struct history *h, int64_t run)
{
    struct error err = {0};
    struct run_record r;
    if (!ok(history_load(h, run, &r, &err), "a run is read back: %s", err.text))
        return;
    is_int(r.run, run, "its number");
    is_str(r.name, "flow", "its workflow's name");
    is_str(r.folder, "/data/project", "its folder");
    ok(!r.planner && r.host && *r.host, "no planner, this host");
    is_int(r.outcome, RECORD_DONE, "its outcome");
    is_dbl(r.seconds, 2.5, 0, "its seconds");
    is_dbl(r.started, 1e9, 0, "when it started");
    ok(isnan(r.predicted_seconds) && isnan(r.peak_disk), "what was not known is not known");
    is_dbl(r.peak_memory, 5e6, 0, "peak memory");
    is_int(r.tasks, 10, "tasks");
    is_int(r.reused, 8, "reused");
    is_int(r.events.n, 3 + 8 + 1, "every event but the beginnings");
    struct trace_event *e = NULL;
    uint32_t reused = 0;
    for (size_t i = 0; i < r.events.n; i++) {
        struct trace_event *x = &r.events.at[i];
        if (x->kind == TRACE_TASK && x->status == 3)
            e = x;
        reused |= x->kind == TRACE_REUSED ? 1u << x->id : 0;
        if (x->kind == TRACE_COUNTER)
            ok(x->amount == 42.5 && x->id == COUNTER_READY && x->start == 0.75, "a counter");
        if (x->kind == TRACE_TASK && x->id == 1)
            is_dbl(x->finish - x->start, 0.000123, 1e-9, "times to the microsecond");
    }
    is_int(reused, 0x3fc, "the reused tasks");
    ok(e && e->id == 0 && e->outcome == TRACE_FAILED && e->attempt == 1, "the failed attempt");
    is_dbl(e ? e->finish : 0, 1.25, 1e-9, "its end");
    is_dbl(e ? e->cpu : 0, 0.625, 1e-9, "its processor time");
    is_dbl(e ? e->memory : 0, 1e6, 0, "its memory");
    is_int(r.files.n, 2, "an input and a file that was made");
    if (r.files.n == 2) {
        is_str(r.files.at[0].path, "in.dat", "the input's path");
        ok(r.files.at[0].task == NONE && !r.files.at[0].produced, "nobody made it");
        ok(digest_is_zero(&r.files.at[0].key) && r.files.at[0].digest.at[31] == 7, "its digests");
        ok(r.files.at[1].produced && r.files.at[1].task == 0 && r.files.at[1].size == 123456,
           "the file's maker and size");
        ok(r.files.at[1].digest.at[0] == 1 && r.files.at[1].key.at[0] == 2, "its digests");
    }
    ok(r.predicted && r.predicted[9].samples == 9 && r.predicted[9].low == 4.5,
       "predictions are kept");
    uint8_t *reasons = NULL;
    ok(history_reasons(h, run, 12, &reasons, &err) && reasons &&
           memcmp(reasons, "\1\1\1\5\5\0\7\7\7\7\0\0", 12) == 0,
       "and so is why each task had to run; of tasks that came later nothing is known");
    free(reasons);
    ok(history_reasons(h, run + 1000, 10, &reasons, &err) && !reasons, "nor of another run");
    record_free(&r);
}

static void check_origins(struct history *h, int64_t newest)
{
    struct error err = {0};
    history_origins origins;
    ok(history_file(h, "/data/project/out-0", 0, &origins, &err), "a file is looked up");
    is_int(origins.n, 2, "two runs made it");
    if (origins.n == 2) {
        is_int(origins.at[0].run, newest, "the newest first");
        is_str(origins.at[0].maker, "t0", "its maker");
    }
    history_origins_free(&origins);
    ok(history_file(h, "/data/project/out-0", 1, &origins, &err) && origins.n == 1, "a limit");
    history_origins_free(&origins);
    ok(history_file(h, "/elsewhere/out-0", 0, &origins, &err) && !origins.n,
       "the same name in another folder is another file");
    history_origins_free(&origins);
}

static void test_run(void)
{
    struct error err = {0};
    const char *path = testing_path("deep/er/history.db");
    struct history *h = history_open(path, &err);
    if (!ok(h != NULL, "a new history, with its folders: %s", err.text))
        return;
    ok(!history_load(h, 0, &(struct run_record){0}, &err), "it is empty");
    has_str(err.text, "no run", "and says so");
    error_clear(&err);
    struct workflow *w = testing_workflow(10, 3);
    struct run_record head = testing_head(w);
    head.predicted = mem_new_zero(struct prediction, 10);
    head.predicted[9] = (struct prediction){5, 4.5, 6, NAN, 9};
    head.reasons = (const uint8_t *)"\1\1\1\5\5\0\7\7\7\7";
    static const char text[] = "weft: 1\ntasks: {}\n";
    int64_t run = 0;
    for (int i = 0; i < 2; i++) {
        run = history_begin(h, &head, text, strlen(text), &err);
        is_int(run, i + 1, "runs are numbered: %s", err.text);
        ok(!history_begin(h, &head, NULL, 0, NULL), "one at a time");
        report_run(history_sink(h));
        end_well(h, 2, 8, "a run");
        check_run(h, run);
    }
    check_origins(h, 2);
    size_t n = 0;
    char *kept = history_workflow_text(h, run, &n, &err);
    is_str(kept, text, "the workflow's text");
    is_int(n, strlen(text), "its length");
    free(kept);
    struct history_tasks tasks;
    ok(history_tasks(h, run, &tasks, &err) && tasks.n == 10, "the tasks' names");
    is_str(history_task_name(&tasks, 7), "t7", "a name");
    is_str(history_task_kind(&tasks, 7), "k1", "a kind");
    is_str(history_task_name(&tasks, 10), "?", "no such task");
    history_tasks_free(&tasks);
    history_close(h);
    h = history_open_existing(path, &err);
    ok(h != NULL, "opened again");
    check_run(h, 1);
    history_close(h);
    free(head.predicted);
    workflow_free(w);
    ok(!history_open_existing(testing_path("none.db"), &err) && err.kind == ERROR_NONE,
       "no history yet is no error");
}

static void test_list(void)
{
    struct error err = {0};
    struct history *h = history_open(testing_path("list.db"), &err);
    struct workflow *w = testing_workflow(3, 1);
    static char *const names[] = {"alpha", "beta", "alphabet", "gamma"};
    for (int i = 0; i < 4; i++) {
        struct run_record head = testing_head(w);
        head.name = names[i];
        head.started = 1000 * (i + 1);
        history_begin(h, &head, NULL, 0, &err);
        struct run_record totals = {
            .outcome = i == 2 ? RECORD_FAILED : RECORD_DONE, .seconds = i, .tasks = 3};
        history_end(h, &totals, &err);
    }
    history_runs runs;
    ok(history_list(h, NULL, &runs, &err) && runs.n == 4, "all runs");
    is_str(runs.n ? runs.at[0].name : NULL, "gamma", "the newest first");
    history_runs_free(&runs);
    ok(history_list(h, &(struct history_filter){.workflow = "alpha"}, &runs, &err) && runs.n == 2,
       "by name");
    history_runs_free(&runs);
    ok(history_list(h, &(struct history_filter){.failed = true}, &runs, &err) && runs.n == 1,
       "the failed one");
    is_int(runs.n ? runs.at[0].run : 0, 3, "is run 3");
    history_runs_free(&runs);
    ok(history_list(h, &(struct history_filter){.since = 2500}, &runs, &err) && runs.n == 2,
       "since");
    history_runs_free(&runs);
    ok(history_list(h, &(struct history_filter){.limit = 3}, &runs, &err) && runs.n == 3,
       "a limit");
    history_runs_free(&runs);
    struct run_record r;
    ok(!history_head(h, 77, &r, &err), "no such run");
    has_str(err.text, "there is no run 77", "is said");
    history_close(h);
    workflow_free(w);
}

/* ---- many attempts, from several threads ---- */

static void *report_part(void *context)
{
    struct trace_sink *sink = context;
    for (uint32_t i = 0; i < 30000; i++) {
        struct trace_event e = testing_attempt(i, i * 1e-3, 1e-3);
        sink->event(sink->context, &e);
    }
    return NULL;
}

static void test_many(void)
{
    struct error err = {0};
    struct history *h = history_open(testing_path("many.db"), &err);
    struct workflow *w = testing_workflow(30000, 2);
    struct run_record head = testing_head(w);
    int64_t run = history_begin(h, &head, NULL, 0, &err);
    struct trace_sink sink = history_sink(h);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, report_part, &sink);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    end_well(h, 30000, 0, "90,000 attempts");
    struct run_record r;
    ok(history_load(h, run, &r, &err), "are read: %s", err.text);
    is_int(r.events.n, 90000, "all of them");
    uint64_t sum = 0;
    for (size_t i = 0; i < r.events.n; i++)
        sum += r.events.at[i].id;
    is_int(sum, 3ull * 30000 * 29999 / 2, "each task three times");
    record_free(&r);
    /* 45,000 of each kind: 1,000 and 500 for each doubling. */
    sqlite3_stmt *s = database_prepare(h, "SELECT count(*) FROM attempts WHERE kind = 1", &err);
    is_int(database_step(h, s, &err), 1, "samples are counted");
    int64_t samples = sqlite3_column_int64(s, 0);
    ok(samples >= 1000 && samples <= 4000, "of 45,000 attempts %lld are samples",
       (long long)samples);
    sqlite3_finalize(s);
    history_close(h);
    workflow_free(w);
}

/* ---- two writers ---- */

static void record_in_child(const char *path, uint32_t tasks, bool finish)
{
    struct error err = {0};
    struct history *h = history_open(path, &err);
    struct workflow *w = testing_workflow(tasks, 2);
    struct run_record head = testing_head(w);
    if (!h || !history_begin(h, &head, NULL, 0, &err)) {
        fprintf(stderr, "# child: %s\n", err.text);
        _exit(1);
    }
    struct trace_sink sink = history_sink(h);
    for (uint32_t t = 0; t < tasks; t++) {
        struct trace_event e = testing_attempt(t, t, 1);
        sink.event(sink.context, &e);
        if (t % 500 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    if (!finish) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL); /* two flushes */
        kill(getpid(), SIGKILL);
    }
    struct run_record totals = {.outcome = RECORD_DONE, .seconds = 1, .tasks = tasks, .ran = tasks};
    bool good = history_end(h, &totals, &err);
    if (!good)
        fprintf(stderr, "# child: %s\n", err.text);
    history_close(h);
    workflow_free(w);
    _exit(good ? 0 : 1);
}

static void test_two_writers(void)
{
    const char *path = testing_path("two.db");
    struct error err = {0};
    pid_t child[4];
    for (int i = 0; i < 4; i++)
        if ((child[i] = fork()) == 0)
            record_in_child(path, 10000, true);
    for (int i = 0; i < 4; i++) {
        int status;
        waitpid(child[i], &status, 0);
        ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a writer among four ends well");
    }
    struct history *h = history_open(path, &err);
    history_runs runs;
    ok(history_list(h, NULL, &runs, &err) && runs.n == 4, "four runs");
    for (size_t i = 0; i < runs.n; i++) {
        struct run_record r;
        ok(history_load(h, runs.at[i].run, &r, &err) && r.events.n == 10000,
           "run %lld has its 10,000 attempts", (long long)runs.at[i].run);
        record_free(&r);
    }
    history_runs_free(&runs);
    history_close(h);
}

/* ---- kill -9 ---- */

static void test_killed(void)
{
    const char *path = testing_path("killed.db");
    struct error err = {0};
    pid_t child = fork();
    if (child == 0)
        record_in_child(path, 5000, false);
    int status;
    waitpid(child, &status, 0);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "killed");
    struct history *h = history_open(path, &err);
    struct run_record r;
    ok(h && history_load(h, 1, &r, &err), "its run is there: %s", err.text);
    is_int(r.outcome, RECORD_LOST, "and lost");
    ok(isnan(r.seconds), "without an end");
    is_int(r.events.n, 5000, "with what was flushed");
    is_int(r.ran, 5000, "counted from its attempts");
    record_free(&r);
    history_runs runs;
    ok(history_list(h, &(struct history_filter){.failed = true}, &runs, &err) && runs.n == 1,
       "among those that did not end well");
    history_runs_free(&runs);
    struct workflow *w = testing_workflow(2, 1);
    struct run_record head = testing_head(w);
    int64_t run = history_begin(h, &head, NULL, 0, &err);
    is_int(run, 2, "the next run");
    struct history *other = history_open(path, &err);
    ok(history_head(other, run, &r, &err), "is seen while it runs");
    is_int(r.outcome, RECORD_RUNNING, "as running");
    record_free(&r);
    history_close(other);
    end_well(h, 2, 0, "it");
    history_close(h);
    workflow_free(w);
}

/* ---- what goes wrong ---- */

static void test_damaged(void)
{
    struct error err = {0};
    const char *path = testing_path("damaged.db");
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 5000; i++)
        fputs("this is no database ", f);
    fclose(f);
    ok(!history_open(path, &err), "not a database");
    has_str(err.text, "damaged", "is said, with a remedy: %s", err.text);
    error_clear(&err);
    /* A real one with its middle overwritten. */
    path = testing_path("torn.db");
    struct history *h = history_open(path, &err);
    struct workflow *w = testing_workflow(2000, 3);
    struct run_record head = testing_head(w);
    history_begin(h, &head, NULL, 0, &err);
    struct trace_sink sink = history_sink(h);
    for (uint32_t t = 0; t < 2000; t++) {
        struct trace_event e = testing_attempt(t, t, 1);
        sink.event(sink.context, &e);
    }
    end_well(h, 2000, 0, "a run");
    history_close(h);
    int fd = open(path, O_WRONLY);
    char junk[4096];
    memset(junk, 0xa5, sizeof junk);
    bool written = true;
    for (off_t at = 4096, end = lseek(fd, 0, SEEK_END); at < end; at += 4096)
        written = written && pwrite(fd, junk, sizeof junk, at) == sizeof junk;
    ok(written, "every page but the first is overwritten");
    close(fd);
    struct run_record r;
    h = history_open(path, &err);
    ok(!h || !history_load(h, 1, &r, &err), "a torn one does not read");
    has_str(err.text, "damaged", "and says so: %s", err.text);
    error_clear(&err);
    ok(!h || !history_begin(h, &head, NULL, 0, &err), "nor record");
    history_close(h);
    /* Somebody else's database. */
    error_clear(&err);
    path = testing_path("other.db");
    sqlite3 *db;
    sqlite3_open(path, &db);
    sqlite3_exec(db, "CREATE TABLE mine(x)", NULL, NULL, NULL);
    sqlite3_close(db);
    ok(!history_open(path, &err), "another program's database is left alone");
    has_str(err.text, "not a history", "and named: %s", err.text);
    error_clear(&err);
    /* From the future. */
    path = testing_path("newer.db");
    history_close(history_open(path, &err));
    sqlite3_open(path, &db);
    sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL);
    sqlite3_close(db);
    ok(!history_open(path, &err), "a newer version");
    has_str(err.text, "newer weft", "is said: %s", err.text);
    error_clear(&err);
    ok(!history_open(testing_folder, &err), "a folder is no history: %s", err.text);
    workflow_free(w);
}

static void test_locked(void)
{
    struct error err = {0};
    const char *path = testing_path("locked.db");
    struct history *h = history_open(path, &err);
    struct workflow *w = testing_workflow(100, 1);
    struct run_record head = testing_head(w);
    sqlite3 *db;
    sqlite3_open(path, &db);
    sqlite3_busy_timeout(h->db, 100);
    sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    ok(!history_begin(h, &head, NULL, 0, &err), "locked by another: no beginning");
    has_str(err.text, "locked", "and it is said: %s", err.text);
    error_clear(&err);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    /* Locked in the middle of a run: it goes on, and catches up when the lock is gone. */
    int64_t run = history_begin(h, &head, NULL, 0, &err);
    ok(run > 0, "free again: %s", err.text);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    struct trace_sink sink = history_sink(h);
    for (uint32_t t = 0; t < 100; t++) {
        struct trace_event e = testing_attempt(t, t, 1);
        sink.event(sink.context, &e);
    }
    nanosleep(&(struct timespec){.tv_nsec = 900000000}, NULL);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    end_well(h, 100, 0, "after a lock");
    struct run_record r;
    ok(history_load(h, run, &r, &err) && r.events.n == 100, "nothing is missing");
    record_free(&r);
    /* Locked to the end: one warning, no hang. */
    ok(history_begin(h, &head, NULL, 0, &err) > 0, "another run");
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    sink = history_sink(h);
    struct trace_event e = testing_attempt(5, 0, 1);
    sink.event(sink.context, &e);
    ok(!history_end(h, &(struct run_record){.outcome = RECORD_DONE}, &err), "locked to the end");
    has_str(err.text, "1 attempt is missing", "is a warning: %s", err.text);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    history_close(h);
    workflow_free(w);
}

/* A full disk, as a limit on the size of files: writes fail with EFBIG. In a child, because the
 * limit cannot be taken back. */
static void test_full(void)
{
    const char *path = testing_path("full.db");
    pid_t child = fork();
    if (child == 0) {
        struct error err = {0};
        signal(SIGXFSZ, SIG_IGN);
        struct history *h = history_open(path, &err);
        struct workflow *w = testing_workflow(20000, 2);
        struct run_record head = testing_head(w);
        int64_t run = history_begin(h, &head, NULL, 0, &err);
        struct rlimit limit = {300000, 300000};
        setrlimit(RLIMIT_FSIZE, &limit);
        struct trace_sink sink = history_sink(h);
        for (uint32_t t = 0; t < 20000; t++) {
            struct trace_event e = testing_attempt(t, t, 1);
            sink.event(sink.context, &e);
        }
        struct run_record totals = {.outcome = RECORD_DONE};
        bool whole = history_end(h, &totals, &err);
        history_close(h);
        workflow_free(w);
        _exit(run && !whole && strstr(err.text, "attempts are missing") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a full disk is one warning at the end");
    struct error err = {0};
    struct history *h = history_open(path, &err);
    ok(h != NULL, "and the history is whole: %s", err.text);
    history_close(h);
}

/* ---- migration ---- */

static void test_migration(void)
{
    struct error err = {0};
    const char *path = testing_path("old.db");
    sqlite3 *db;
    sqlite3_open(path, &db);
    struct history old = {.db = db, .path = (char *)path};
    sqlite3_exec(db, "PRAGMA application_id = 2003134068", NULL, NULL, NULL);
    ok(database_migrate(&old, 1, &err), "a database of version 1: %s", err.text);
    int code = sqlite3_exec(
        db,
        "INSERT INTO workflows(id, digest, name, tasks) VALUES(1, x'00', 'old', 2);"
        "INSERT INTO kinds VALUES(1, 'cp');"
        "INSERT INTO tasks VALUES(4294967296, 'copy', 1), (4294967297, 'again', 1);"
        "INSERT INTO runs(id, workflow, name, folder, host, started, seconds, cores, memory, speed,"
        " outcome, tasks, ran, reused, failed, skipped)"
        " VALUES(1, 1, 'old', '/a', 'h', 10, 5, 2, 1e9, 1, 1, 2, 2, 0, 0, 0),"
        " (2, 1, 'old', '/b', 'h', 20, 6, 2, 1e9, 1, 1, 2, 2, 0, 0, 0);"
        "INSERT INTO attempts VALUES(4294967296, 0, 0, 3000000, 100, 5, 6, 7, 0, 0, 1, 0, 0, 1);"
        "INSERT INTO files VALUES(4294967296, 'x.dat', 0, 0, x'11', NULL, 9, 1),"
        " (8589934592, 'x.dat', 0, 0, NULL, NULL, 8, 1), (8589934593, 'in', 1, NULL, NULL, NULL,"
        " 3, 0);",
        NULL, NULL, NULL);
    is_int(code, SQLITE_OK, "with data: %s", sqlite3_errmsg(db));
    sqlite3_close(db);
    struct history *h = history_open(path, &err);
    if (!ok(h != NULL, "is brought up to date: %s", err.text))
        return;
    struct run_record r;
    ok(history_load(h, 2, &r, &err), "its runs are read: %s", err.text);
    is_int(r.files.n, 2, "with their files");
    is_str(r.files.n ? r.files.at[0].path : NULL, "x.dat", "and paths");
    is_dbl(r.seconds, 6, 0, "and seconds");
    ok(isnan(r.predicted_seconds), "what it did not know is not known");
    record_free(&r);
    history_origins origins;
    ok(history_file(h, "/b/x.dat", 0, &origins, &err) && origins.n == 1, "a file is found");
    is_int(origins.n ? origins.at[0].run : 0, 2, "with the run of its folder");
    is_str(origins.n ? origins.at[0].maker : NULL, "copy", "and its maker");
    history_origins_free(&origins);
    struct builder *b = builder_new("<test>", "test");
    builder_task(b, "copy", 4, 0);
    builder_kind(b, 0, "cp", 2);
    struct workflow *w = builder_finish(b, NULL);
    struct forecast *f =
        history_forecast(h, &(struct forecast_request){.workflow = w, .name = "old"}, &err);
    struct forecast_task t;
    forecast_task(f, 0, &t);
    is_dbl(t.prediction.seconds, 3, 1e-9, "an old attempt is a sample");
    forecast_free(f);
    struct run_record head = testing_head(w);
    is_int(history_begin(h, &head, NULL, 0, &err), 3, "and it records");
    struct run_record totals = {.tasks = 1, .outcome = RECORD_FAILED, .failed = 1};
    array_push(&totals.failures, (struct record_failure){.attempt = 2,
                                                         .outcome = TRACE_FAILED,
                                                         .status = 7,
                                                         .limit = 3,
                                                         .command = (char *)"cp 'a b' c",
                                                         .tail = (char *)"no\nroom"});
    ok(history_end(h, &totals, &err), "a run that failed: %s", err.text);
    array_free(&totals.failures);
    workflow_free(w);
    history_close(h);
    h = history_open(path, &err);
    ok(h != NULL, "and opens again");
    ok(history_load(h, 3, &r, &err) && r.failures.n == 1, "its failure is there: %s", err.text);
    const struct record_failure none = {0}, *failure = r.failures.n ? r.failures.at : &none;
    ok(failure->attempt == 2 && failure->outcome == TRACE_FAILED && failure->status == 7 &&
           failure->limit == 3,
       "as it was");
    is_str(failure->command, "cp 'a b' c", "its command");
    is_str(failure->tail, "no\nroom", "its last lines");
    ok(!failure->reason && !failure->hint && !failure->log, "and nothing else");
    record_free(&r);
    history_close(h);
}

int main(void)
{
    testing_start();
    test_two_writers(); /* forks: before any thread has been */
    TAP_DO(test_killed());
    TAP_DO(test_full());
    TAP_DO(test_default_path());
    TAP_DO(test_run());
    TAP_DO(test_list());
    TAP_DO(test_many());
    TAP_DO(test_damaged());
    TAP_DO(test_locked());
    TAP_DO(test_migration());
    return tap_done();
}
