/* METG, the smallest task at which half of the machine's time is still the tasks' own (Task Bench's
 * minimum effective task granularity), of weft and its peers in one run.
 *   bench_metg [--json FILE] [--quick] [--only PATTERN] [--of CONTENDER] [--cpu] [--chart FILE.svg]
 * Grids of 8 columns on 2 threads, 64 bytes from point to point. The kernel is timed alone first; the
 * efficiency of a run is that time, shared by the threads, over its own. Tasks are halved until it falls
 * below a half; between the last two the point is interpolated. The best of some runs counts, since
 * others use the machine. Graphs are built before the clock starts, but by OpenMP, which has no other way.
 * The last row of each contender is compared with a serial evaluation first; another one ends the program.
 * --cpu: by processor time instead of the clock on the wall, where others use the machine (metg.h).
 * "recorded": with the memo, so that every task is on record when the run ends.
 * --chart: efficiency over the length of a task, of stencil_1d or of the one pattern that is asked for. */
#include "bench/bench.h"
#include "bench/metg.h"
#include "bench/metg_search.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/tree.h"
#include "drive/run.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 2, FIRST_ROUNDS = 1 << 16, CHECK_STEPS = 12, CHECK_ROUNDS = 100 };

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

/* `last`: the numbers of its last row; NULL: not asked. */
static double run_peer(const char *program, int pattern, uint32_t steps, uint64_t rounds,
                       double *last)
{
    char line[1200];
    double seconds = -1;
    snprintf(line, sizeof line, "'%s' %s %d %u %llu %d 2>/dev/null", program,
             metg_patterns[pattern], METG_WIDTH, steps, (unsigned long long)rounds, THREADS);
    FILE *f = popen(line, "r"); /* NOLINT(cert-env33-c): a program of ours, by its path */
    if (f && fscanf(f, "%lf", &seconds) != 1)
        seconds = -1;
    for (int x = 0; f && last && x < METG_WIDTH; x++)
        if (fscanf(f, "%lf", &last[x]) != 1)
            last[x] = NAN;
    if (f)
        pclose(f);
    return seconds;
}

/* ---- METG ---- */

struct contest {
    enum contender who;
    int pattern, tries;
};

/* Of weft: by one more task that writes the row to a file. False: it is not there. */
static bool contest_row(const struct contest *c, double *last)
{
    double kept[METG_WIDTH][METG_BYTES / sizeof(double)];
    if (c->who > WEFT_RECORDED)
        return run_peer(programs[c->who], c->pattern, CHECK_STEPS, CHECK_ROUNDS, last) > 0;
    const char *path = bench_below(folder, "kept");
    setenv("METG_KEEP", path, 1);
    unlink(path);
    struct workflow *w = metg_workflow(&(struct metg_grid){.pattern = c->pattern,
                                                           .steps = CHECK_STEPS,
                                                           .command = WEFT_METG_FUNCTION ":point",
                                                           .keep = WEFT_METG_FUNCTION ":keep"});
    run_weft(w, CHECK_ROUNDS, c->who == WEFT_RECORDED);
    workflow_free(w);
    FILE *f = fopen(bench_below(folder, "kept"), "re");
    bool good = f && fread(kept, sizeof kept, 1, f) == 1;
    if (f)
        fclose(f);
    for (int x = 0; good && x < METG_WIDTH; x++)
        last[x] = kept[x][0];
    return good;
}

static void contest_check(const struct contest *c)
{
    double want[METG_WIDTH], got[METG_WIDTH];
    metg_evaluate(c->pattern, METG_WIDTH, CHECK_STEPS, CHECK_ROUNDS, want);
    if (contest_row(c, got) && memcmp(want, got, sizeof want) == 0)
        return;
    fprintf(stderr, "bench_metg: %s: %s has other numbers in the last row than it should\n",
            metg_patterns[c->pattern], names[c->who]);
    exit(1);
}

static double contest_efficiency(void *context, uint64_t rounds, double task)
{
    const struct contest *c = context;
    uint32_t steps = metg_steps(0.1, task, THREADS);
    double best = 0;
    struct workflow *w =
        c->who > WEFT_RECORDED
            ? NULL
            : metg_workflow(&(struct metg_grid){
                  .pattern = c->pattern, .steps = steps, .command = WEFT_METG_FUNCTION ":point"});
    for (int k = 0; k < c->tries; k++) {
        double seconds = w ? run_weft(w, rounds, c->who == WEFT_RECORDED)
                           : run_peer(programs[c->who], c->pattern, steps, rounds, NULL);
        if (seconds <= 0)
            break;
        best = fmax(best, task * METG_WIDTH * steps / THREADS / seconds);
    }
    workflow_free(w);
    return best;
}

/* weft's share of another's METG; a hyphen where one of the two is missing. */
static void print_share(double weft, double other)
{
    if (weft > 0 && other > 0)
        printf(" %10.2f", weft / other);
    else
        printf(" %10s", "-");
}

/* A row for each pattern, a column for each that is there. */
static void measure_pattern(struct json_writer *j, int pattern, const char *of, int tries,
                            struct metg_curve *curves)
{
    double metg[CONTENDERS];
    printf("%-20s", metg_patterns[pattern]);
    for (enum contender who = 0; who < CONTENDERS; who++) {
        bool there =
            (who <= WEFT_RECORDED || programs[who]) && (!of || strcmp(of, names[who]) == 0);
        struct contest contest = {.who = who, .pattern = pattern, .tries = tries};
        if (there)
            contest_check(&contest);
        double found = there ? metg_search(contest_efficiency, &contest, FIRST_ROUNDS,
                                           curves ? &curves[who] : NULL)
                             : -1;
        metg[who] = found;
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
    print_share(metg[WEFT], metg[TBB]);
    print_share(metg[WEFT], metg[STARPU]);
    printf("\n");
}

static bool is_contender(const char *name)
{
    for (int who = 0; who < CONTENDERS; who++)
        if (strcmp(name, names[who]) == 0)
            return true;
    fprintf(stderr, "bench_metg: --of %s: expected one of", name);
    for (int who = 0; who < CONTENDERS; who++)
        fprintf(stderr, "%s \"%s\"", who ? "," : "", names[who]);
    fprintf(stderr, "\n");
    return false;
}

static void write_chart(const char *file, const char *pattern, const struct metg_curve *curves)
{
    char title[120];
    snprintf(title, sizeof title, "How much of the time is the tasks' own: %s, %d threads", pattern,
             THREADS);
    metg_write_chart(file, title, names, curves, CONTENDERS);
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
            if (!is_contender(of))
                return 2;
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
    printf("METG in microseconds, %d threads, %d columns\n%-20s", THREADS, METG_WIDTH, "");
    for (int who = 0; who < CONTENDERS; who++)
        printf(" %17s", names[who]);
    printf(" %10s %10s\n", "of oneTBB", "of StarPU");
    const char *drawn = only ? only : "stencil_1d";
    struct metg_curve curves[CONTENDERS];
    for (int who = 0; who < CONTENDERS; who++)
        curves[who].from = METG_LENGTHS;
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
