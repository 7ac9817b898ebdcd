/* METG through agents beside Dask (metg_agents.h). Agents get a task's rounds by its name; Dask is a process that is
 * asked over pipes (bench/dask_metg.py). */
#include "bench/metg_agents.h"

#include "bench/bed.h"
#include "bench/bench.h"
#include "bench/metg.h"
#include "bench/metg_search.h"
#include "formats/format.h"
#include "session/place.h"

#include <signal.h>
#include <sys/wait.h>

enum { CORES = 2, CHECK_STEPS = 12, CHECK_ROUNDS = 100, TRIES = 3 };
/* Seconds that a run's tasks take in all at least, shared by the cores: its beginning is some 20 ms. */
static const double metg_run_seconds = 0.3;

enum metg_side { TWO_AGENTS, FOUR_AGENTS, DASK, SIDES };
static const char *const side_names[SIDES] = {"weft, 2 agents", "weft, 4 agents",
                                              "Dask, 2 workers"};
/* Where the search begins: about twice what was found. */
static const uint64_t side_first[SIDES] = {1 << 18, 1 << 18, 1 << 22};

struct metg_side_run {
    const struct metg_agents *how;
    enum metg_side side;
    int pattern;
    struct bed *bed;         /* of agents */
    FILE *to_dask, *of_dask; /* of Dask */
};

/* ---- weft ---- */

static double agents_seconds(const struct metg_side_run *s, const struct metg_grid *grid)
{
    struct error err = {0};
    struct strbuf text = {0};
    struct timespec now;
    struct workflow *w = metg_workflow(grid);
    bench_must(format_find("native")->write_workflow(w, &text, NULL, &err), &err);
    clock_gettime(CLOCK_REALTIME, &now); /* the store's clock: its server is on this machine */
    place_put_image(w, &text);
    struct board_run r = bed_run(s->bed, w, &text, s->how->folder);
    struct bed_times times = bed_read_times(s->bed, w, &r);
    bed_collect(s->bed, &r);
    workflow_free(w);
    strbuf_free(&text);
    return r.created + times.last - (double)now.tv_sec - (double)now.tv_nsec * 1e-9;
}

/* ---- Dask ---- */

static void dask_start(struct metg_side_run *s)
{
    int to[2], of[2];
    if (pipe(to) < 0 || pipe(of) < 0) {
        perror("bench_agents: a pipe");
        exit(1);
    }
    pid_t pid =
        fork(); /* by its whole path: workers are started by the program that argv[0] names */
    if (pid == 0) {
        dup2(to[0], 0);
        dup2(of[1], 1);
        for (int i = 0; i < 2; i++)
            close(to[i]), close(of[i]);
        execl("/usr/bin/python3", "/usr/bin/python3", WEFT_DASK_METG, WEFT_METG_FUNCTION,
              (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(of[1]);
    s->to_dask = fdopen(to[1], "w");
    s->of_dask = fdopen(of[0], "r");
}

/* It ends when nothing more can come. */
static void dask_end(struct metg_side_run *s)
{
    fclose(s->to_dask);
    while (fgetc(s->of_dask) != EOF)
        ;
    fclose(s->of_dask);
    wait(NULL);
}

static void dask_ask(const struct metg_side_run *s, const char *what, const struct metg_grid *grid,
                     char *out, size_t size)
{
    const char *path = bench_below(s->how->folder, "metg-graph");
    FILE *f = fopen(path, "we");
    for (uint32_t t = 0; f && t < METG_WIDTH * grid->steps; t++) {
        uint32_t from[METG_DEGREE], row = t / METG_WIDTH;
        uint32_t n = metg_parents(grid->pattern, METG_WIDTH, row, t % METG_WIDTH, from);
        for (uint32_t i = 0; i < n; i++)
            fprintf(f, "%u ", (row - 1) * METG_WIDTH + from[i]);
        fputc('\n', f);
    }
    if (!f || fclose(f) != 0 ||
        fprintf(s->to_dask, "%s %s %llu\n", what, path, (unsigned long long)grid->rounds) < 0 ||
        fflush(s->to_dask) != 0 || !fgets(out, (int)size, s->of_dask)) {
        fprintf(stderr, "bench_agents: Dask does not answer\n");
        exit(1);
    }
}

static double dask_seconds(const struct metg_side_run *s, const struct metg_grid *grid)
{
    char line[64];
    dask_ask(s, "time", grid, line, sizeof line);
    return strtod(line, NULL);
}

/* ---- are the bytes right? ---- */

typedef double metg_row[METG_WIDTH][METG_BYTES / sizeof(double)];

static void evaluate_serially(const struct metg_grid *grid, metg_row last)
{
    metg_row before = {0};
    for (uint32_t step = 0; step < grid->steps; step++) {
        memcpy(before, last, sizeof before);
        for (uint32_t x = 0; x < METG_WIDTH; x++) {
            uint32_t from[METG_DEGREE];
            const double *in[METG_DEGREE];
            uint32_t n = metg_parents(grid->pattern, METG_WIDTH, step, x, from);
            for (uint32_t i = 0; i < n; i++)
                in[i] = before[from[i]];
            metg_mix(grid->rounds, step * METG_WIDTH + x, n, in, last[x]);
        }
    }
}

/* The last row as the side computed it. False: it is not there. */
static bool side_row(const struct metg_side_run *s, struct metg_grid *grid, metg_row got)
{
    char line[2 * sizeof(metg_row) + 2];
    unsigned char *bytes = (unsigned char *)got;
    if (s->side != DASK) {
        const char *path = bench_below(s->how->folder, "metg-kept");
        unlink(path);
        grid->keep = WEFT_METG_FUNCTION ":keep";
        agents_seconds(s, grid);
        FILE *f = fopen(bench_below(s->how->folder, "metg-kept"), "re");
        bool good = f && fread(bytes, sizeof(metg_row), 1, f) == 1;
        if (f)
            fclose(f);
        return good;
    }
    dask_ask(s, "check", grid, line, sizeof line);
    for (size_t i = 0; i < sizeof(metg_row); i++)
        if (sscanf(line + 2 * i, "%2hhx", &bytes[i]) != 1)
            return false;
    return true;
}

static void check_side(const struct metg_side_run *s)
{
    struct metg_grid grid = {.pattern = s->pattern,
                             .steps = CHECK_STEPS,
                             .command = WEFT_METG_FUNCTION ":named_point",
                             .rounds = CHECK_ROUNDS};
    metg_row want = {0}, got = {0};
    evaluate_serially(&grid, want);
    if (!side_row(s, &grid, got) || memcmp(want, got, sizeof want) != 0) {
        fprintf(stderr, "bench_agents: %s: %s has other bytes in the last row than it should\n",
                metg_patterns[s->pattern], side_names[s->side]);
        exit(1);
    }
}

/* ---- METG ---- */

/* More than one try where it decides: around a half. */
static double side_efficiency(void *context, uint64_t rounds, double task)
{
    const struct metg_side_run *s = context;
    struct metg_grid grid = {.pattern = s->pattern,
                             .steps = metg_steps(metg_run_seconds, task, CORES),
                             .command = WEFT_METG_FUNCTION ":named_point",
                             .rounds = rounds};
    double best = 0, work = task * METG_WIDTH * grid.steps / CORES;
    for (int k = 0; k < (s->how->quick ? 1 : TRIES); k++) {
        double seconds = s->side == DASK ? dask_seconds(s, &grid) : agents_seconds(s, &grid);
        best = fmax(best, work / seconds);
        if (best < 0.3 || best > 0.75)
            break;
    }
    return best;
}

static void put_side(struct json_writer *j, const char *pattern, enum metg_side side, double found)
{
    json_write_object_inline(j);
    json_put_string(j, "pattern", pattern);
    json_put_string(j, "setting", side_names[side]);
    if (found > 0)
        json_put_number(j, "metg_us", found * 1e6);
    json_write_end_object(j);
}

/* One side after the other, so that nothing of the others is there while it runs. */
static void measure_side(struct metg_side_run *s, double *found, struct metg_curve *curve)
{
    struct bed bed = {.scripted = s->how->scripted};
    if (s->side == DASK) {
        dask_start(s);
    } else {
        bed_start(&bed, bench_below(s->how->folder, "metg"), s->side == TWO_AGENTS ? 2 : 4, 1);
        s->bed = &bed;
    }
    for (s->pattern = 0; metg_patterns[s->pattern]; s->pattern++) {
        check_side(s);
        bool drawn = s->how->chart && s->pattern == STENCIL;
        found[s->pattern] =
            metg_search(side_efficiency, s, side_first[s->side], drawn ? curve : NULL);
        fprintf(stderr, "\r%s: %s        ", side_names[s->side], metg_patterns[s->pattern]);
    }
    fputc('\r', stderr);
    if (s->side == DASK)
        dask_end(s);
    else
        bed_end(&bed);
}

void metg_agents_measure(const struct metg_agents *how, struct json_writer *j)
{
    enum { PATTERNS = sizeof metg_patterns / sizeof *metg_patterns - 1 };
    double found[SIDES][PATTERNS];
    struct metg_curve curves[SIDES];
    setenv("METG_KEEP", bench_below(how->folder, "metg-kept"), 1);
    size_t sides = how->peers ? SIDES : DASK;
    for (size_t side = 0; side < SIDES; side++)
        curves[side].from = METG_LENGTHS;
    for (size_t side = 0; side < sides; side++) {
        struct metg_side_run s = {.how = how, .side = (enum metg_side)side};
        measure_side(&s, found[side], &curves[side]);
    }
    printf("\nMETG in microseconds, %d cores, %d columns, bytes as a serial evaluation's\n%-20s",
           CORES, METG_WIDTH, "");
    for (size_t side = 0; side < sides; side++)
        printf(" %17s", side_names[side]);
    json_write_key(j, "metg");
    json_write_array(j);
    for (int p = 0; p < PATTERNS; p++) {
        printf("\n%-20s", metg_patterns[p]);
        for (size_t side = 0; side < sides; side++) {
            if (found[side][p] > 0)
                printf(" %17.1f", found[side][p] * 1e6);
            else
                printf(" %17s", "-");
            put_side(j, metg_patterns[p], (enum metg_side)side, found[side][p]);
        }
    }
    printf("\n");
    json_write_end_array(j);
    if (how->chart)
        metg_write_chart(how->chart,
                         "How much of the time is the tasks' own: stencil_1d, through agents",
                         side_names, curves, SIDES);
}
