/* METG, the smallest task at which half of the machine's time is still the tasks' own (Task Bench's
 * minimum effective task granularity), of weft and its peers in one run.
 *   bench_metg [--json FILE] [--quick] [--only PATTERN] [--of CONTENDER] [--cpu] [--chart FILE.svg]
 * Grids of 8 columns on 2 threads, 64 bytes from point to point. The kernel is timed alone first; the
 * efficiency of a run is that time, shared by the threads, over its own. Tasks are halved until it falls
 * below a half; between the last two the point is interpolated. The best of some runs counts, since
 * others use the machine. Graphs are built before the clock starts, but by OpenMP, which has no other way.
 * --cpu: by processor time instead of the clock on the wall, where others use the machine (metg.h).
 * "recorded": with the memo, so that every task is on record when the run ends.
 * --chart: efficiency over the length of a task, of stencil_1d or of the one pattern that is asked for. */
#include "bench/bench.h"
#include "bench/metg.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/tree.h"
#include "drive/run.h"
#include "model/builder.h"
#include "report/chart.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 8, THREADS = 2, MOST_TASKS = 40000, FIRST_ROUNDS = 1 << 16, LENGTHS = 16 };

/* Efficiencies of one contender, the shortest task first: filled from the end. */
struct metg_curve {
    double task[LENGTHS], efficiency[LENGTHS]; /* microseconds, percent */
    size_t from;
};

static char folder[1024];
static uint64_t *weft_rounds; /* of bench/metg_function.c */

enum contender { WEFT, WEFT_RECORDED, TBB, OPENMP, STARPU, CONTENDERS };
static const char *const names[CONTENDERS] = {"weft", "weft, recorded", "oneTBB flow graph",
                                              "OpenMP tasks", "StarPU"};
static const char *const programs[CONTENDERS] = {
#ifdef WEFT_METG_TBB
    [TBB] = WEFT_METG_TBB,
#endif
#ifdef WEFT_METG_OPENMP
    [OPENMP] = WEFT_METG_OPENMP,
#endif
#ifdef WEFT_METG_STARPU
    [STARPU] = WEFT_METG_STARPU,
#endif
};

/* ---- weft ---- */

static struct workflow *metg_workflow(int pattern, uint32_t steps)
{
    struct builder *b = builder_new("<metg>", "bench");
    char name[24];
    const char *command = WEFT_METG_FUNCTION ":point";
    for (uint32_t t = 0; t < WIDTH * steps; t++) {
        uint32_t from[METG_DEGREE];
        uint32_t n = metg_parents(pattern, WIDTH, t / WIDTH, t % WIDTH, from);
        size_t length = (size_t)snprintf(name, sizeof name, "p%u", t);
        builder_task(b, name, length, 0);
        builder_command(b, t, command, strlen(command));
        builder_flag(b, t, TASK_CALL);
        builder_object(b, name, length); /* made by the task of its number, if somebody reads it */
        for (uint32_t i = 0; i < n; i++) {
            uint32_t object = (t / WIDTH - 1) * WIDTH + from[i];
            builder_consumes(b, t, object, 0);
        }
    }
    for (uint32_t t = 0; t < WIDTH * steps; t++) {
        bool read = false;
        for (uint32_t x = 0; x < WIDTH && t / WIDTH + 1 < steps && !read; x++) {
            uint32_t from[METG_DEGREE], n = metg_parents(pattern, WIDTH, t / WIDTH + 1, x, from);
            for (uint32_t i = 0; i < n; i++)
                read |= from[i] == t % WIDTH;
        }
        if (read) { /* what nobody reads would be a file */
            builder_produces(b, t, t, 0);
            builder_in_memory(b, t);
        }
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    bench_must(w != NULL, &err);
    return w;
}

static double run_weft(const struct workflow *w, uint64_t rounds, bool recorded)
{
    struct error err = {0};
    struct memo *memo = NULL;
    struct needs needs;
    struct run_options o = {.workflow = w, .folder = folder, .cores = THREADS};
    struct run_result result;
    *weft_rounds = rounds;
    unlink(bench_below(folder, "memo"));
    if (recorded) {
        memo = memo_open(bench_below(folder, "memo"), NULL, &err);
        bench_must(memo != NULL, &err);
        bench_must(needs_find(&needs, w, folder, memo, &(struct need_options){0}, &err), &err);
        o.needs = &needs;
    }
    double start = metg_spent(THREADS);
    bench_must(run_workflow(&o, &result, &err), &err);
    double seconds = metg_spent(THREADS) - start;
    if (result.done != w->ntasks)
        exit(1);
    run_result_free(&result);
    if (recorded) {
        needs_free(&needs);
        bench_must(memo_close(memo, &err), &err);
    }
    return seconds;
}

/* ---- peers ---- */

static double run_peer(const char *program, int pattern, uint32_t steps, uint64_t rounds)
{
    char line[1200];
    double seconds = -1;
    snprintf(line, sizeof line, "'%s' %s %d %u %llu %d 2>/dev/null", program,
             metg_patterns[pattern], WIDTH, steps, (unsigned long long)rounds, THREADS);
    FILE *f = popen(line, "r"); /* NOLINT(cert-env33-c): a program of ours, by its path */
    if (f && fscanf(f, "%lf", &seconds) != 1)
        seconds = -1;
    if (f)
        pclose(f);
    return seconds;
}

/* ---- METG ---- */

/* Seconds of one task that does nothing else. */
static double kernel_seconds(uint64_t rounds)
{
    double best = INFINITY;
    uint64_t repeats = 2000000 / rounds + 1;
    for (int k = 0; k < 5; k++) {
        double start = metg_spent(1);
        for (uint64_t i = 0; i < repeats; i++)
            metg_kernel(rounds, 1);
        best = fmin(best, (metg_spent(1) - start) / (double)repeats);
    }
    return best;
}

static double efficiency(enum contender who, int pattern, uint64_t rounds, double task, int tries)
{
    double wanted = 0.1 * THREADS / task / WIDTH, best = 0;
    uint32_t steps = wanted < 20                   ? 20
                     : wanted > MOST_TASKS / WIDTH ? MOST_TASKS / WIDTH
                                                   : (uint32_t)wanted;
    struct workflow *w = who <= WEFT_RECORDED ? metg_workflow(pattern, steps) : NULL;
    for (int k = 0; k < tries; k++) {
        double seconds = w ? run_weft(w, rounds, who == WEFT_RECORDED)
                           : run_peer(programs[who], pattern, steps, rounds);
        if (seconds <= 0)
            break;
        best = fmax(best, task * WIDTH * steps / THREADS / seconds);
    }
    workflow_free(w);
    return best;
}

/* Seconds; negative: half is never reached. With a curve it goes on below a half. */
static double metg(enum contender who, int pattern, int tries, struct metg_curve *curve)
{
    double last = 0, last_task = 0, found = 0;
    for (uint64_t rounds = FIRST_ROUNDS; rounds >= 8; rounds /= 2) {
        double task = kernel_seconds(rounds), e = efficiency(who, pattern, rounds, task, tries);
        if (curve && curve->from) {
            curve->task[--curve->from] = task * 1e6;
            curve->efficiency[curve->from] = e * 100;
        }
        if (e < 0.5 && !found) {
            double share = (0.5 - e) / (last - e); /* between the two, in the logarithm */
            found = last_task ? exp(log(task) + share * (log(last_task) - log(task))) : -1;
        }
        if (found && (!curve || e < 0.05))
            break;
        last = e;
        last_task = task;
    }
    return found ? found : last_task;
}

/* A row for each pattern, a column for each that is there. */
static void measure_pattern(struct json_writer *j, int pattern, const char *of, int tries,
                            struct metg_curve *curves)
{
    printf("%-20s", metg_patterns[pattern]);
    for (enum contender who = 0; who < CONTENDERS; who++) {
        bool there =
            (who <= WEFT_RECORDED || programs[who]) && (!of || strcmp(of, names[who]) == 0);
        double found = there ? metg(who, pattern, tries, curves ? &curves[who] : NULL) : -1;
        if (found > 0)
            printf(" %17.2f", found * 1e6);
        else
            printf(" %17s", "-");
        fflush(stdout);
        json_write_object_inline(j);
        json_put_string(j, "pattern", metg_patterns[pattern]);
        json_put_string(j, "setting", names[who]);
        if (found > 0)
            json_put_number(j, "metg_us", found * 1e6);
        json_write_end_object(j);
    }
    printf("\n");
}

static void write_chart(const char *file, const char *pattern, const struct metg_curve *curves)
{
    struct chart_series series[CONTENDERS];
    size_t n = 0;
    char title[120];
    struct strbuf svg = {0};
    struct error err = {0};
    for (int who = 0; who < CONTENDERS; who++)
        if (curves[who].from < LENGTHS)
            series[n++] = (struct chart_series){.name = names[who],
                                                .x = curves[who].task + curves[who].from,
                                                .y = curves[who].efficiency + curves[who].from,
                                                .n = LENGTHS - curves[who].from,
                                                .points = true};
    snprintf(title, sizeof title, "How much of the time is the tasks' own: %s, %d threads", pattern,
             THREADS);
    report_line_chart(&(struct chart){.title = title,
                                      .x_title = "length of a task, microseconds",
                                      .y_title = "efficiency, percent",
                                      .x_log = true,
                                      .y_from_zero = true,
                                      .series = series,
                                      .nseries = n},
                      &svg);
    bench_must(file_write(file, svg.at, svg.n, &err), &err);
    strbuf_free(&svg);
}

int main(int argc, char **argv)
{
    const char *json = NULL, *only = NULL, *of = NULL, *chart = NULL;
    bool quick = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--cpu") == 0) {
            setenv("METG_CPU", "1", 1);
        } else if (strcmp(argv[i], "--of") == 0 && i + 1 < argc) {
            of = argv[++i];
        } else if (strcmp(argv[i], "--chart") == 0 && i + 1 < argc) {
            chart = argv[++i];
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc &&
                   metg_pattern(argv[i + 1]) >= 0) {
            only = argv[++i];
        } else {
            fprintf(stderr, "usage: bench_metg [--json FILE] [--quick] [--only PATTERN] [--of "
                            "CONTENDER] [--cpu] [--chart FILE.svg]\n");
            return 2;
        }
    }
    bench_make_folder(folder, sizeof folder, "weft-bench-metg");
    setenv("STARPU_HOME", folder, 1);
    setenv("STARPU_SILENT", "1", 1);
    void *library = dlopen(WEFT_METG_FUNCTION, RTLD_NOW | RTLD_LOCAL);
    weft_rounds = library ? dlsym(library, "point_rounds") : NULL;
    if (!weft_rounds) {
        fprintf(stderr, "bench_metg: %s\n", dlerror());
        return 1;
    }
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-metg/1");
    json_write_key(j, "rows");
    json_write_array(j);
    printf("METG in microseconds, %d threads, %d columns\n%-20s", THREADS, WIDTH, "");
    for (int who = 0; who < CONTENDERS; who++)
        printf(" %17s", names[who]);
    printf("\n");
    const char *drawn = only ? only : "stencil_1d";
    struct metg_curve curves[CONTENDERS];
    for (int who = 0; who < CONTENDERS; who++)
        curves[who].from = LENGTHS;
    for (int p = 0; metg_patterns[p]; p++)
        if (!only || strcmp(only, metg_patterns[p]) == 0)
            measure_pattern(j, p, of, quick ? 1 : 3,
                            chart && strcmp(drawn, metg_patterns[p]) == 0 ? curves : NULL);
    json_write_end_array(j);
    if (chart)
        write_chart(chart, drawn, curves);
    tree_remove(folder);
    return bench_report_end(&report);
}
