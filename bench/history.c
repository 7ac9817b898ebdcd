/* What recording costs, and what it takes up.
 *   bench_history [--json FILE] [--quick]
 * A million attempts from first event to the end of the run; the share of that which the run itself
 * pays; bytes on disk for a new workflow, for the same again, and with a file each; a small run;
 * what a prediction costs over a full history. The database is in $TMPDIR. */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "history/history.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPEATS 5

static char path[4096];

static double database_bytes(void)
{
    struct stat st;
    return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

static void database_wipe(void)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[4200];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static struct workflow *history_workflow(uint32_t n, uint32_t kinds)
{
    struct builder *b = builder_new("<bench>", "bench");
    char name[32];
    for (uint32_t t = 0; t < n; t++) {
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "task%u", t), 0);
        builder_kind(b, t, name, (size_t)snprintf(name, sizeof name, "kind%u", t % kinds));
        builder_produces(
            b, t, builder_object(b, name, (size_t)snprintf(name, sizeof name, "out%u.dat", t)), 0);
    }
    return builder_finish(b, NULL);
}

struct history_figures {
    double begin, events, end; /* seconds: history_begin(), the run's side, history_end() */
    double cpu;                /* seconds of all threads, from begin to end */
    double size;               /* bytes added to the file */
};

/* Of the whole process: unlike the clock, it does not count who else is on the machine. */
static double all_cpu_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static struct history_figures record_run(const struct workflow *w, bool files, double pause)
{
    struct error err = {0};
    struct rng r;
    rng_seed(&r, 1);
    struct history *h = history_open(path, &err);
    bench_must(h != NULL, &err);
    double before = database_bytes();
    struct run_record head = {.name = "bench",
                              .folder = "/data/project",
                              .tasks = w->ntasks,
                              .predicted_seconds = NAN,
                              .predicted_memory = NAN,
                              .predicted_disk = NAN,
                              .workflow = (struct workflow *)w};
    struct history_figures f;
    double start = clock_seconds(), cpu = all_cpu_seconds();
    bench_must(history_begin(h, &head, NULL, 0, &err) > 0, &err);
    f.begin = clock_seconds() - start;
    start = clock_seconds();
    struct trace_sink sink = history_sink(h);
    double now = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double took = 0.5e-3 + rng_exponential(&r, 1e-2), read = floor(rng_exponential(&r, 1e6));
        struct trace_event e = {.kind = TRACE_TASK,
                                .id = t,
                                .lane = t % 16,
                                .start = now,
                                .finish = now + took,
                                .attempt = 1,
                                .cpu = 0.8 * took,
                                .memory = 4096 * floor(2000 + read / 4096),
                                .read = read,
                                .written = floor(read / 3)};
        now += took / 16;
        sink.event(sink.context, &e);
        if (files) {
            char name[32];
            snprintf(name, sizeof name, "out%u.dat", t);
            struct trace_file file = {
                .object = t, .task = t, .path = name, .size = e.written, .produced = true};
            for (size_t i = 0; i < 4; i++) {
                uint64_t word = rng_next(&r);
                memcpy(file.digest.at + 8 * i, &word, 8);
                memcpy(file.key.at + 8 * i, &word, 8);
            }
            sink.file(sink.context, &file);
        }
        if (pause > 0)
            usleep((useconds_t)(pause * 1e6));
    }
    f.events = clock_seconds() - start;
    start = clock_seconds();
    struct run_record totals = {
        .outcome = RECORD_DONE, .seconds = now, .tasks = w->ntasks, .ran = w->ntasks};
    bench_must(history_end(h, &totals, &err), &err);
    f.end = clock_seconds() - start;
    f.cpu = all_cpu_seconds() - cpu;
    history_close(h); /* the last one: the log is folded into the file */
    f.size = database_bytes() - before;
    return f;
}

static int by_total(const void *a, const void *b)
{
    const struct history_figures *x = a, *y = b;
    double s = x->events + x->end, t = y->events + y->end;
    return (s > t) - (s < t);
}

static void history_row(struct json_writer *j, const char *name, const struct workflow *w,
                        bool files, bool fresh, int repeats)
{
    struct history_figures f[REPEATS];
    for (int i = 0; i < repeats; i++) {
        if (fresh)
            database_wipe();
        f[i] = record_run(w, files, 0);
    }
    qsort(f, (size_t)repeats, sizeof *f, by_total);
    struct history_figures m = f[repeats / 2];
    double rate = w->ntasks / (m.events + m.end), cost = 1e9 * m.events / w->ntasks;
    printf("%-34s %9u %12.0f %10.0f %10.0f %10.1f %10.1f\n", name, w->ntasks, rate,
           1e9 * m.cpu / w->ntasks, cost, m.size / w->ntasks, 1e3 * m.begin);
    fflush(stdout);
    json_write_object_inline(j);
    json_put_string(j, "setting", name);
    json_put_integer(j, "tasks", w->ntasks);
    json_put_number(j, "attempts_per_second", rate);
    json_put_number(j, "cpu_ns_per_attempt", 1e9 * m.cpu / w->ntasks);
    json_put_number(j, "run_ns_per_attempt", cost);
    json_put_number(j, "bytes_per_task", m.size / w->ntasks);
    json_put_number(j, "begin_milliseconds", 1e3 * m.begin);
    json_write_end_object(j);
}

static void small_runs(struct json_writer *j)
{
    struct workflow *w = history_workflow(10, 2);
    double times[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        double start = clock_seconds();
        record_run(w, true, 0);
        times[i] = 1e3 * (clock_seconds() - start);
        for (int k = i; k > 0 && times[k] < times[k - 1]; k--) {
            double t = times[k];
            times[k] = times[k - 1];
            times[k - 1] = t;
        }
    }
    printf("\nten tasks into a history that is there: %.1f ms, opened and closed\n",
           times[REPEATS / 2]);
    json_put_number(j, "small_run_milliseconds", times[REPEATS / 2]);
    workflow_free(w);
}

static void predict_all(struct json_writer *j, uint32_t n)
{
    struct error err = {0};
    struct workflow *w = history_workflow(n, 10);
    struct history *h = history_open(path, &err);
    bench_must(h != NULL, &err);
    double start = clock_seconds();
    struct forecast *f =
        history_forecast(h, &(struct forecast_request){.workflow = w, .name = "bench"}, &err);
    bench_must(f != NULL, &err);
    double ready = clock_seconds() - start;
    start = clock_seconds();
    double sum = 0;
    struct forecast_task t;
    for (uint32_t i = 0; i < n; i++) {
        forecast_task(f, i, &t);
        sum += t.prediction.seconds;
    }
    double each = 1e9 * (clock_seconds() - start) / n;
    printf("a forecast of %u tasks of 10 kinds, 1,000 samples each: %.0f ms, then %.0f ns a task "
           "(sum %.3g s)\n",
           n, 1e3 * ready, each, sum);
    json_put_number(j, "forecast_milliseconds", 1e3 * ready);
    json_put_number(j, "forecast_ns_per_task", each);
    forecast_free(f);
    history_close(h);
    workflow_free(w);
}

int main(int argc, char **argv)
{
    const char *json = NULL;
    uint32_t n = 1000000;
    int repeats = REPEATS;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            n = 100000;
            repeats = 1;
        } else {
            fprintf(stderr, "usage: bench_history [--json FILE] [--quick]\n");
            return 2;
        }
    }
    bench_temporary_name(path, sizeof path - 3, "weft-bench-history");
    strcat(path, ".db");
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-history/1");
    json_write_key(j, "rows");
    json_write_array(j);
    printf("%-34s %9s %12s %10s %10s %10s %10s\n", "setting", "tasks", "attempts/s", "CPU ns",
           "ns in run", "B/task", "begin ms");
    struct workflow *w = history_workflow(n, 10);
    history_row(j, "a new workflow", w, false, true, repeats);
    history_row(j, "the same workflow again", w, false, false, repeats);
    history_row(j, "a new workflow, a file a task", w, true, true, repeats > 1 ? 3 : 1);
    history_row(j, "the same again, a file a task", w, true, false, 1);
    json_write_end_array(j);
    small_runs(j);
    predict_all(j, n);
    workflow_free(w);
    database_wipe();
    return bench_report_end(&report);
}
