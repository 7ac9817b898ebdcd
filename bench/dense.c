/* Dense factorisations of weft's example programs beside StarPU, OpenMP tasks and the BLAS' own, on 2 threads.
 *   bench_dense [--json FILE] [--quick] [--only N]
 * All use OpenBLAS, one thread of it a task; dpotrf and dgetrf have two threads of it. Each program fills the
 * matrix, factors it and says how long that took, the best of 3; GFLOP/s count n^3/3, for LU 2n^3/3. The last line of a
 * size is weft's best over the best of the others. One that fails, or whose residual is too large, ends with status 1. */
#include "bench/bench.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct dense_program {
    const char *name, *path, *more;
    bool lu, tiled;
} programs[] = {
    {"weft", WEFT_DENSE_CHOLESKY, "", false, true},
#ifdef WEFT_DENSE_OPENMP
    {"OpenMP tasks", WEFT_DENSE_OPENMP, "", false, true},
#endif
#ifdef WEFT_DENSE_STARPU
    {"StarPU", WEFT_DENSE_STARPU, "", false, true},
#endif
    {"dpotrf", WEFT_DENSE_BLAS, "", false, false},
    {"weft, LU", WEFT_DENSE_LU, "", true, true},
    {"dgetrf", WEFT_DENSE_BLAS, "--lu", true, false},
};
enum { DENSE_PROGRAMS = sizeof programs / sizeof *programs };

static bool dense_failed;

/* GFLOP/s; negative: it failed. */
static double dense_run(const struct dense_program *p, int n, int tile, int tries)
{
    char line[1200];
    double seconds = 0, rate = -1;
    snprintf(line, sizeof line, "'%s' %d %d 2 %d %s 2>/dev/null", p->path, n, tile, tries, p->more);
    FILE *f = popen(line, "r"); /* NOLINT(cert-env33-c): a program of ours, by its path */
    if (f && fscanf(f, "%lf s %lf", &seconds, &rate) != 2)
        rate = -1;
    if (f && pclose(f) != 0)
        rate = -1;
    if (rate < 0)
        fprintf(stderr, "bench_dense: %s failed: n = %d, tile %d\n", p->name, n, tile);
    dense_failed |= rate < 0;
    return rate;
}

static void dense_print_share(int n, const double *best)
{
    double weft[2] = {0}, others[2] = {0};
    for (int k = 0; k < DENSE_PROGRAMS; k++) {
        double *side = strncmp(programs[k].name, "weft", 4) == 0 ? weft : others;
        side[programs[k].lu] = best[k] > side[programs[k].lu] ? best[k] : side[programs[k].lu];
    }
    printf("%6d  best: weft %.3f of the best of the others; LU %.3f\n", n, weft[0] / others[0],
           weft[1] / others[1]);
}

static void dense_row(struct json_writer *j, int n, int tile, int tries, const double *untiled,
                      double *best)
{
    printf("%6d %5d", n, tile);
    for (int k = 0; k < DENSE_PROGRAMS; k++) {
        double rate = programs[k].tiled ? dense_run(&programs[k], n, tile, tries) : untiled[k];
        printf(" %13.2f", rate);
        best[k] = rate > best[k] ? rate : best[k];
        fflush(stdout);
        json_write_object_inline(j);
        json_put_number(j, "n", n);
        json_put_number(j, "tile", tile);
        json_put_string(j, "setting", programs[k].name);
        json_put_number(j, "gflops", rate);
        json_write_end_object(j);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const int sizes[] = {2048, 4096, 8192}, tiles[] = {128, 256, 512};
    const char *json = NULL;
    int only = 0, tries = 3;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = argv[++i];
        } else if (strcmp(argv[i], "--quick") == 0) {
            tries = 1;
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            only = atoi(argv[++i]);
            if (only != sizes[0] && only != sizes[1] && only != sizes[2]) {
                fprintf(stderr, "bench_dense: --only %s: expected 2048, 4096 or 8192\n", argv[i]);
                return 2;
            }
        } else {
            fprintf(stderr, "usage: bench_dense [--json FILE] [--quick] [--only N]\n");
            return 2;
        }
    }
    struct bench_report report = {.file = json};
    struct json_writer *j = bench_report_begin(&report, "weft-bench-dense/1");
    json_write_key(j, "rows");
    json_write_array(j);
    setenv("STARPU_SILENT", "1", 1);
    printf("GFLOP/s on 2 threads\n%6s %5s", "n", "tile");
    for (int k = 0; k < DENSE_PROGRAMS; k++)
        printf(" %13s", programs[k].name);
    printf("\n");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double untiled[DENSE_PROGRAMS], best[DENSE_PROGRAMS] = {0};
        if (only && sizes[s] != only)
            continue;
        for (int k = 0; k < DENSE_PROGRAMS; k++)
            untiled[k] = programs[k].tiled ? 0 : dense_run(&programs[k], sizes[s], 0, tries);
        for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++)
            dense_row(j, sizes[s], tiles[t], tries, untiled, best);
        dense_print_share(sizes[s], best);
    }
    json_write_end_array(j);
    int status = bench_report_end(&report);
    return dense_failed ? 1 : status;
}
