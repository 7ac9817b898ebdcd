/* How long the history takes to answer.
 *   bench_questions [--json FILE] [--quick] [--in FOLDER] [--only WORDS]
 * A history of 10^7 attempts (--quick: 10^6): runs of 10,000 tasks in one folder, which differ in a
 * parameter and in what their result states, a file for every tenth task. Then each question that
 * `weft history` and the page ask, through the library: first as a program that was just started asks it,
 * the database in nobody's cache (cold), then the median of three. Processor time is what a question costs
 * beside others, and the wall what it takes alone. The issue asks for 0.2 s each. The database is in $TMPDIR,
 * about 60 bytes an attempt. --in FOLDER: the history stays there, and one that is there is asked. --only:
 * questions that have these words in their names. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "formats/registry.h"
#include "history/history.h"
#include "model/builder.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft.h>

enum { TASKS = 10000, VALUES = 50, FILE_EVERY = 10 };

static char folder[4096], database[4200];

/* What every run of one value of the parameter has in common. */
struct question_flow {
    struct workflow *w;
    struct strbuf text;
};

static void flow_make(struct question_flow *f, int sigma)
{
    struct builder *b = builder_new("<bench>", "native");
    char name[64], value[16];
    builder_name(b, "study", 5);
    snprintf(value, sizeof value, "%d", sigma);
    builder_parameter(b, "sigma", value);
    for (uint32_t t = 0; t < TASKS; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "task%u", t), 0);
        builder_kind(b, t, name, (size_t)snprintf(name, sizeof name, "kind%u", t % 10));
        builder_command(b, t, "step --sigma {sigma} {in} > {out}", 33);
        uint32_t o = builder_object(b, name, (size_t)snprintf(name, sizeof name, "out%u.dat", t));
        builder_produces(b, t, o, 0);
        if (t >= 100)
            builder_consumes(
                b, t,
                builder_object(b, name, (size_t)snprintf(name, sizeof name, "out%u.dat", t - 100)),
                0);
    }
    builder_produces(b, TASKS - 1, builder_object(b, "score.txt", 9), 0);
    struct error err = {0};
    struct strbuf dropped = {0};
    f->w = builder_finish(b, &err);
    bench_must(f->w != NULL, &err);
    bench_must(format_native.write_workflow(f->w, &f->text, &dropped, &err), &err);
    strbuf_free(&dropped);
}

/* Some files keep their content from run to run, as where a parameter does not reach. */
static void question_digest(struct digest *d, uint32_t task, uint64_t run)
{
    char text[64];
    int n =
        snprintf(text, sizeof text, "%u %llu", task, task % 20 ? (unsigned long long)run : 0ULL);
    digest_of(text, (size_t)n, d);
}

static void question_files(const struct trace_sink *sink, const struct workflow *w, uint64_t run)
{
    char name[64];
    for (uint32_t t = 0; t < TASKS; t += FILE_EVERY) {
        snprintf(name, sizeof name, "out%u.dat", t);
        struct trace_file file = {
            .object = w->object_off[t], .task = t, .path = name, .size = 1e5, .produced = true};
        question_digest(&file.digest, t, run);
        question_digest(&file.key, t + 1, run);
        sink->file(sink->context, &file);
    }
    struct trace_file result = {.object = w->object_off[TASKS - 1] + 1,
                                .task = TASKS - 1,
                                .path = "score.txt",
                                .size = 8,
                                .produced = true};
    question_digest(&result.digest, TASKS, run);
    sink->file(sink->context, &result);
}

static void question_run(struct history *h, const struct question_flow *f, uint64_t run,
                         struct rng *r)
{
    struct error err = {0};
    char path[4200], score[32];
    snprintf(path, sizeof path, "%s/score.txt", folder);
    int n = snprintf(score, sizeof score, "f1 %.4f\n", rng_unit(r));
    bench_must(file_write(path, score, (size_t)n, &err), &err);
    struct run_record head = {.name = "study",
                              .folder = folder,
                              .host = "bench",
                              .started = 1.7e9 + 3600.0 * (double)run,
                              .tasks = TASKS,
                              .predicted_seconds = NAN,
                              .predicted_memory = NAN,
                              .predicted_disk = NAN,
                              .workflow = f->w};
    bench_must(history_begin(h, &head, f->text.at, f->text.n, &err) > 0, &err);
    struct trace_sink sink = history_sink(h);
    double now = 0;
    for (uint32_t t = 0; t < TASKS; t++) {
        double took = 0.5e-3 + rng_exponential(r, 1e-2);
        sink.event(sink.context, &(struct trace_event){.kind = TRACE_TASK,
                                                       .id = t,
                                                       .lane = t % 16,
                                                       .start = now,
                                                       .finish = now + took,
                                                       .attempt = 1,
                                                       .cpu = 0.8 * took,
                                                       .memory = 8e6,
                                                       .read = 1e5,
                                                       .written = 1e5});
        now += took / 16;
    }
    question_files(&sink, f->w, run);
    struct run_record totals = {
        .outcome = RECORD_DONE, .seconds = now, .tasks = TASKS, .ran = TASKS};
    bench_must(history_end(h, &totals, &err), &err);
}

/* Runs that an earlier call left; each is as the seed and its number make it, but for the times. */
static uint64_t questions_there(void)
{
    struct error err = {0};
    struct run_record head;
    struct history *h = history_open_existing(database, &err);
    uint64_t n = h && history_head(h, 0, &head, &err) ? (uint64_t)head.run : 0;
    if (n)
        record_free(&head);
    history_close(h);
    return n;
}

static double questions_fill(uint64_t runs)
{
    struct error err = {0};
    struct rng r;
    struct question_flow flow[VALUES] = {0};
    rng_seed(&r, 17);
    double start = clock_seconds();
    for (uint64_t i = questions_there(); i < runs; i++) {
        struct question_flow *f = &flow[i % VALUES];
        struct history *h = history_open(database, &err); /* as each run is a process of its own */
        bench_must(h != NULL, &err);
        if (!f->w)
            flow_make(f, (int)(i % VALUES));
        question_run(h, f, i, &r);
        history_close(h);
    }
    for (int i = 0; i < VALUES; i++) {
        workflow_free(flow[i].w);
        strbuf_free(&flow[i].text);
    }
    return clock_seconds() - start;
}

/* ---- questions ---- */

struct question {
    struct weft_history *h;
    int64_t runs;
    char path[4200];
    bool cut; /* the last answer is not whole */
};

static bool ask_list(struct question *q, struct weft_runs_filter filter, struct weft_error *error)
{
    filter.limit = 20;
    struct weft_runs *runs = weft_history_runs(q->h, &filter, error);
    weft_runs_free(runs);
    return runs != NULL;
}

#define FILTER(...)                                                                                \
    ask_list(q, (struct weft_runs_filter){.size = sizeof(struct weft_runs_filter), __VA_ARGS__}, e)

static bool ask_newest(struct question *q, struct weft_error *e)
{
    return FILTER(.limit = 20);
}
static bool ask_where(struct question *q, struct weft_error *e)
{
    return FILTER(.where = "sigma > 1 and f1 > 0.9");
}
static bool ask_where_none(struct question *q, struct weft_error *e)
{
    return FILTER(.where = "sigma > 1 and f1 > 99");
}
static bool ask_select(struct question *q, struct weft_error *e)
{
    return FILTER(.where = "SELECT id FROM runs WHERE ran = 10000 AND seconds > 1e9");
}
static bool ask_words(struct question *q, struct weft_error *e)
{
    return FILTER(.words = "task77 sigma");
}
static bool ask_words_none(struct question *q, struct weft_error *e)
{
    return FILTER(.words = "nowhere-to-be-found");
}
static bool ask_since(struct question *q, struct weft_error *e)
{
    return FILTER(.since = 1.7e9, .workflow = "stud");
}
static bool ask_failed(struct question *q, struct weft_error *e)
{
    return FILTER(.failed = true);
}
static bool ask_named(struct question *q, struct weft_error *e)
{
    return weft_history_find(q->h, "best", e) == q->runs / 2;
}
static bool ask_path(struct question *q, struct weft_error *e)
{
    struct weft_story *s = weft_history_file(q->h, q->path, 20, e);
    weft_story_free(s);
    return s != NULL;
}
static bool ask_content(struct question *q, struct weft_error *e)
{
    char copy[4300]; /* the content of what run 1 left as score.txt, elsewhere */
    snprintf(copy, sizeof copy, "%s/copy.txt", folder);
    struct weft_story *s = weft_history_file(q->h, copy, 20, e);
    weft_story_free(s);
    return s != NULL;
}
static bool ask_lineage(struct question *q, struct weft_error *e)
{
    struct weft_lineage *l = weft_history_lineage(q->h, q->path, e);
    weft_lineage_free(l);
    return l != NULL;
}
static bool ask_shared(struct question *q, struct weft_error *e)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/out5000.dat", folder);
    struct weft_lineage *l = weft_history_lineage(q->h, path, e);
    weft_lineage_free(l);
    return l != NULL;
}
static bool ask_compare(struct question *q, struct weft_error *e)
{
    struct weft_changes *c = weft_history_compare(q->h, 1, q->runs, e);
    weft_changes_free(c);
    return c != NULL;
}
static bool ask_run(struct question *q, struct weft_error *e)
{
    struct weft_record *r = weft_history_run(q->h, q->runs / 3, e);
    weft_record_free(r);
    return r != NULL;
}

/* ---- tasks and files ---- */

/* `least` findings, at least; 0: none at all, of a question that nothing answers. */
static bool ask_findings(struct question *q, struct weft_search search, bool files, size_t least,
                         struct weft_error *error)
{
    search.limit = 20;
    search.look = WEFT_LOOK;
    struct weft_findings *f = files ? weft_history_search_files(q->h, &search, error)
                                    : weft_history_search_tasks(q->h, &search, error);
    struct weft_found_task task = WEFT_FOUND_TASK_INIT;
    struct weft_found_file file = WEFT_FOUND_FILE_INIT;
    size_t n = 0;
    while (f && (files ? weft_findings_file(f, n, &file) : weft_findings_task(f, n, &task)))
        n++;
    bool good = f && (least ? n >= least : n == 0);
    q->cut = f && !weft_findings_whole(f, NULL);
    if (f && !good)
        snprintf(error->text, sizeof error->text, "%zu findings", n);
    weft_findings_free(f);
    return good;
}

#define SEARCH(files, least, ...)                                                                  \
    ask_findings(q, (struct weft_search){.size = sizeof(struct weft_search), __VA_ARGS__}, files,  \
                 least, e)

static bool ask_tasks(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 20, .since = 0);
}
static bool ask_tasks_long(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 20, .where = "sigma > 1 and kind = 'kind7' and seconds > 0.06");
}
static bool ask_tasks_longest(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 1, .where = "seconds > 0.15");
}
static bool ask_tasks_none(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 0, .where = "seconds > 3600");
}
static bool ask_tasks_value(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 1, .where = "sigma > 1 and f1 > 0.9");
}
static bool ask_tasks_words(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 20, .words = "task7777 study");
}
static bool ask_tasks_no_words(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 0, .words = "nowhere-to-be-found");
}
static bool ask_tasks_failed(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 0, .failed = true);
}
static bool ask_tasks_odd(struct question *q, struct weft_error *e)
{
    return SEARCH(false, 0, .where = "cpu / seconds > 7");
}
static bool ask_tasks_digest(struct question *q, struct weft_error *e)
{
    char copy[4300];
    snprintf(copy, sizeof copy, "%s/copy.txt", folder);
    return SEARCH(false, 20, .digest = copy);
}
static bool ask_files_digest(struct question *q, struct weft_error *e)
{
    char copy[4300];
    snprintf(copy, sizeof copy, "%s/copy.txt", folder);
    return SEARCH(true, 20, .digest = copy);
}
static bool ask_files_words(struct question *q, struct weft_error *e)
{
    return SEARCH(true, 20, .words = "out5010 study");
}
static bool ask_files_no_words(struct question *q, struct weft_error *e)
{
    return SEARCH(true, 0, .words = "nowhere-to-be-found");
}
static bool ask_files_value(struct question *q, struct weft_error *e)
{
    return SEARCH(true, 1, .where = "path like 'score%' and sigma > 1 and f1 > 0.9");
}
static bool ask_files_size(struct question *q, struct weft_error *e)
{
    return SEARCH(true, 0, .where = "size > 1e9");
}
static bool ask_files_odd(struct question *q, struct weft_error *e)
{
    return SEARCH(true, 0, .where = "path like '%.png'");
}

static const struct {
    const char *name;
    bool (*ask)(struct question *q, struct weft_error *error);
} questions[] = {
    {"the newest 20 runs", ask_newest},
    {"sigma > 1 and f1 > 0.9", ask_where},
    {"sigma > 1 and f1 > 99 (no run)", ask_where_none},
    {"a SELECT over all runs", ask_select},
    {"two words", ask_words},
    {"a word that nobody has", ask_words_none},
    {"since a day, by part of a name", ask_since},
    {"runs that failed (none)", ask_failed},
    {"a run by its name", ask_named},
    {"a run with its 10,000 attempts", ask_run},
    {"a file by its path", ask_path},
    {"a file by its content", ask_content},
    {"lineage, both ways", ask_lineage},
    {"two runs of 10,000 tasks compared", ask_compare},
    {"lineage of what all runs share (cut)", ask_shared},
    {"tasks: the newest 20", ask_tasks},
    {"tasks: parameter, kind and time", ask_tasks_long},
    {"tasks: the few that took longest", ask_tasks_longest},
    {"tasks: seconds > 3600 (none)", ask_tasks_none},
    {"tasks: sigma > 1 and f1 > 0.9", ask_tasks_value},
    {"tasks: two words", ask_tasks_words},
    {"tasks: a word that nobody has", ask_tasks_no_words},
    {"tasks: those that failed (none)", ask_tasks_failed},
    {"tasks: cpu / seconds > 7 (none)", ask_tasks_odd},
    {"tasks: who made a content", ask_tasks_digest},
    {"files: of a content", ask_files_digest},
    {"files: two words", ask_files_words},
    {"files: a word that nobody has", ask_files_no_words},
    {"files: name, parameter and value", ask_files_value},
    {"files: size > 1e9 (none)", ask_files_size},
    {"files: path like '%.png' (none)", ask_files_odd},
};

static int by_number(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* What the question costs whoever else works on the machine. */
static double questions_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As a program finds it that was just started, of a history that nobody has asked lately. */
static void questions_begin_cold(struct question *q)
{
    struct weft_error error;
    struct error err = {0};
    weft_history_close(q->h);
    int fd = open(database, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fdatasync(fd); /* what is not written yet would stay */
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
    q->h = weft_history_open(database, &error);
    if (!q->h)
        error_set(&err, ERROR_FAILED, "%s", error.text);
    bench_must(q->h != NULL, &err);
}

static void question_put(struct json_writer *j, const char *name, const double *times,
                         const double *cpu)
{
    json_write_object_inline(j);
    json_put_string(j, "question", name);
    json_put_number(j, "milliseconds", times[1]);
    json_put_number(j, "processor_milliseconds", cpu[1]);
    json_put_number(j, "cold_milliseconds", times[3]);
    json_put_number(j, "cold_processor_milliseconds", cpu[3]);
    json_write_end_object(j);
}

static void questions_ask(struct json_writer *j, struct question *q, const char *only)
{
    struct weft_error error;
    json_write_key(j, "questions");
    json_write_array(j);
    printf("%-38s %10s %10s %10s %10s\n", "question", "ms", "processor", "cold ms", "processor");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        double times[4], cpu[4];
        struct error err = {0};
        q->cut = false;
        if (only && !strstr(questions[i].name, only))
            continue;
        questions_begin_cold(q);
        for (int k = 3; k >= 0; k--) { /* the first is the cold one */
            double start = clock_seconds(), busy = questions_cpu();
            bool good = questions[i].ask(q, &error);
            if (!good)
                error_set(&err, ERROR_FAILED, "%s: %s", questions[i].name, error.text);
            bench_must(good, &err);
            times[k] = 1e3 * (clock_seconds() - start);
            cpu[k] = 1e3 * (questions_cpu() - busy);
        }
        qsort(times, 3, sizeof *times, by_number);
        qsort(cpu, 3, sizeof *cpu, by_number);
        printf("%-38s %10.1f %10.1f %10.1f %10.1f%s%s\n", questions[i].name, times[1], cpu[1],
               times[3], cpu[3], cpu[1] > 200 || cpu[3] > 200 ? "  *" : "",
               q->cut ? "  (not all was looked at)" : "");
        fflush(stdout);
        question_put(j, questions[i].name, times, cpu);
    }
    json_write_end_array(j);
}

/* A file whose content a run left, under a name that none knows. */
static void questions_copy(struct question *q)
{
    struct error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/copy.txt", folder);
    bench_must(file_write(path, "20 0", 4, &err), &err); /* as question_digest() of task 20 */
    snprintf(q->path, sizeof q->path, "%s/out5010.dat", folder);
}

static void questions_remove(struct question *q)
{
    static const char *const left[] = {"history.db", "history.db-wal", "history.db-shm",
                                       "score.txt", "copy.txt"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        snprintf(q->path, sizeof q->path, "%s/%s", folder, left[i]);
        unlink(q->path);
    }
    rmdir(folder);
}

int main(int argc, char **argv)
{
    const char *json = NULL, *in = NULL, *only = NULL;
    uint64_t runs = 1000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--in") == 0 && i + 1 < argc) {
            in = argv[++i];
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            runs = 100;
        } else {
            fprintf(stderr, "usage: bench_questions [--json FILE] [--quick] [--in FOLDER] [--only "
                            "WORDS]\n");
            return 2;
        }
    }
    if (in)
        snprintf(folder, sizeof folder, "%s", in);
    else
        bench_temporary_name(folder, sizeof folder - 3, "weft-bench-questions");
    mkdir(folder, 0700);
    snprintf(database, sizeof database, "%s/history.db", folder);
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-questions/1");
    struct question q = {.runs = (int64_t)runs};
    struct weft_error error;
    struct error err = {0};
    struct stat st = {0};
    double seconds = questions_fill(runs);
    stat(database, &st);
    printf("%.0f attempts of %llu runs, %.2f GB, recorded in %.0f s\n\n", (double)runs * TASKS,
           (unsigned long long)runs, (double)st.st_size / 1e9, seconds);
    json_put_number(j, "attempts", (double)runs * TASKS);
    json_put_number(j, "bytes", (double)st.st_size);
    q.h = weft_history_open(database, &error);
    if (!q.h)
        error_set(&err, ERROR_FAILED, "%s", error.text);
    bench_must(q.h != NULL, &err);
    questions_copy(&q);
    weft_history_say(q.h, q.runs / 2, "name", "best", false, &error);
    questions_ask(j, &q, only);
    weft_history_close(q.h);
    if (!in)
        questions_remove(&q);
    return bench_report_end(&report);
}
