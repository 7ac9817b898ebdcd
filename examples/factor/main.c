/* weft-factor: solve A x = b for a sparse symmetric positive definite A, within a limit of memory.
 *
 *     weft-factor A.mtx -b rhs.txt -o x.txt        numbers, one a line; without -b all ones, without -o only figures
 *     weft-factor --grid 2d:500 -m 200M            a Laplacian on a grid instead of a file
 *     weft-factor A.mtx --plan                     what it would take, and nothing is computed
 *
 *     weft-factor A.mtx --parts DIR [--part-work N]  DIR/flow.yaml: fronts as commands, for `weft run` here or on agents;
 *     weft-factor --gather DIR -b rhs.txt -o x.txt  and, when it is done, the solution
 *
 * Options: -m BYTES (k, M, G), -t THREADS, --folder DIR for files, --disk (columns of L always go to a file).
 * Ends with 0; 1: it failed, or the residual is not below 1e-10; 2: bad input; 3: it does not fit into memory. */
#include "factor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *matrix, *grid, *rhs, *out, *parts, *gather, *part;
    double part_work; /* operations of the subtrees that are one part */
    bool plan;
    struct factor_options o;
};

static int usage(void)
{
    fprintf(stderr, "usage: weft-factor A.mtx|--grid 2d:N|--grid 3d:N [-b RHS] [-o X] [-m BYTES] "
                    "[-t THREADS] [--folder DIR] [--disk] [--plan]\n"
                    "       weft-factor A.mtx|--grid ... --parts DIR [--part-work OPERATIONS]\n"
                    "       weft-factor --gather DIR [-b RHS] [-o X]\n");
    return 2;
}

/* "200M"; negative: none. */
static double bytes_of(const char *text)
{
    char *end;
    double n = strtod(text, &end);
    const char *units = "kMG", *unit = *end ? strchr(units, *end) : NULL;
    if (unit)
        end++;
    for (; unit && unit >= units; unit--)
        n *= 1000;
    return *end || !(n > 0) ? -1 : n;
}

static bool parse(int argc, char **argv, struct arguments *a)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--plan") == 0) {
            a->plan = true;
        } else if (strcmp(argv[i], "--disk") == 0) {
            a->o.disk = true;
        } else if (argv[i][0] != '-') {
            if (a->matrix)
                return false;
            a->matrix = argv[i];
        } else if (!value) {
            return false;
        } else {
            if (strcmp(argv[i], "-b") == 0)
                a->rhs = value;
            else if (strcmp(argv[i], "-o") == 0)
                a->out = value;
            else if (strcmp(argv[i], "-m") == 0)
                a->o.memory = bytes_of(value);
            else if (strcmp(argv[i], "-t") == 0)
                a->o.threads = (uint32_t)strtoul(value, NULL, 10);
            else if (strcmp(argv[i], "--folder") == 0)
                a->o.folder = value;
            else if (strcmp(argv[i], "--grid") == 0)
                a->grid = value;
            else if (strcmp(argv[i], "--parts") == 0)
                a->parts = value;
            else if (strcmp(argv[i], "--part-work") == 0)
                a->part_work = bytes_of(value);
            else if (strcmp(argv[i], "--part") == 0)
                a->part = value;
            else if (strcmp(argv[i], "--gather") == 0)
                a->gather = value;
            else
                return false;
            i++;
        }
    }
    bool one = !!a->matrix + !!a->grid + !!a->part + !!a->gather == 1;
    return a->o.memory >= 0 && a->part_work >= 0 && one && (!a->parts || a->matrix || a->grid);
}

/* ---- matrices ---- */

/* The Laplacian of a grid: 4 (6 in space) on the diagonal, -1 for each neighbour. */
static cholmod_sparse *grid_matrix(const char *text, cholmod_common *c)
{
    unsigned d = 0, n = 0;
    if (sscanf(text, "%ud:%u", &d, &n) != 2 || (d != 2 && d != 3) || !n ||
        n > (d == 2 ? 4000u : 250u))
        return NULL;
    size_t rows = (size_t)n * n * (d == 3 ? n : 1), step[3] = {1, n, (size_t)n * n};
    cholmod_triplet *t = cholmod_allocate_triplet(rows, rows, rows * (d + 1), -1, CHOLMOD_REAL, c);
    if (!t)
        return NULL;
    for (size_t r = 0; r < rows; r++)
        for (unsigned k = 0; k <= d; k++) { /* itself, then the next in each direction */
            if (k && r / step[k - 1] % n == n - 1)
                continue;
            ((int *)t->i)[t->nnz] = (int)(k ? r + step[k - 1] : r);
            ((int *)t->j)[t->nnz] = (int)r;
            ((double *)t->x)[t->nnz++] = k ? -1 : 2.0 * d;
        }
    cholmod_sparse *a = cholmod_triplet_to_sparse(t, t->nnz, c);
    cholmod_free_triplet(&t, c);
    return a;
}

/* Symmetric, its lower half. NULL: it is not, or cannot be read. */
static cholmod_sparse *file_matrix(const char *path, cholmod_common *c)
{
    FILE *f = fopen(path, "r");
    cholmod_sparse *a = f ? cholmod_read_sparse(f, c) : NULL;
    if (f)
        fclose(f);
    if (a && (a->stype == 0 || a->nrow != a->ncol || a->xtype != CHOLMOD_REAL))
        cholmod_free_sparse(&a, c);
    if (a && a->stype > 0) {
        cholmod_sparse *lower = cholmod_ptranspose(a, 1, NULL, NULL, 0, c);
        cholmod_free_sparse(&a, c);
        a = lower;
    }
    return a;
}

static bool read_numbers(const char *path, double *x, size_t n)
{
    FILE *f = fopen(path, "r");
    size_t got = 0;
    double extra;
    while (f && got < n && fscanf(f, "%lf", &x[got]) == 1)
        got++;
    bool good = f && got == n && fscanf(f, "%lf", &extra) != 1;
    if (f)
        fclose(f);
    if (!good)
        fprintf(stderr, "%s: expected %zu numbers, found %zu%s\n", path, n, got,
                got == n ? " and more" : "");
    return good;
}

static bool write_numbers(const char *path, const double *x, size_t n)
{
    FILE *f = fopen(path, "w");
    for (size_t i = 0; f && i < n; i++)
        fprintf(f, "%.17g\n", x[i]);
    bool bad = !f || ferror(f);
    if (f && fclose(f) != 0)
        bad = true;
    if (bad)
        fprintf(stderr, "%s could not be written\n", path);
    return !bad;
}

/* ---- what is said ---- */

/* The most memory that this process had, as the system counts: matrix, analysis and all. */
static double process_peak(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "VmHWM: %lf", &kib);
    if (f)
        fclose(f);
    return kib * 1024;
}

static void print_plan(const struct factor_figures *g)
{
    printf("%u rows, %u fronts, %.3g entries of L, %.3g operations\n", g->rows, g->fronts,
           g->entries, g->operations);
    printf("L takes %.0f bytes, fronts and contributions at least %.0f (one front %.0f)\n",
           g->factor_bytes, g->least, g->largest);
    if (isfinite(g->promise))
        printf("plan: %s, at most %.0f bytes\n",
               !g->on_disk              ? "all in memory"
               : g->least <= g->promise ? "L in a file"
                                        : "L in a file, contributions make room",
               g->promise);
    else
        printf("plan: %s, no limit\n", g->on_disk ? "L in a file" : "all in memory");
}

static void print_done(const struct factor_figures *g, double off)
{
    printf("peak %.0f bytes, %.0f to files, process %.0f\n", g->peak,
           g->evicted + (g->on_disk ? g->factor_bytes : 0), process_peak());
    printf("analysis %.3f s, plan %.3f s, factorisation %.3f s (%.2f GFLOP/s), solution %.3f s\n",
           g->analyze_seconds, g->plan_seconds, g->compute_seconds,
           g->operations / g->compute_seconds / 1e9, g->solve_seconds);
    printf("residual %.2e\n", off);
}

static int failed(const struct weft_error *error)
{
    fprintf(stderr, "weft-factor: %s\n", error->text);
    return error->status ? (int)error->status : 1;
}

/* `computed`: of L nothing is left to do. */
static int solve(const struct arguments *a, struct factor *f, bool computed)
{
    struct weft_error error;
    size_t n = factor_figures(f)->rows;
    double *b = malloc((n + 1) * sizeof *b), *x = malloc((n + 1) * sizeof *x);
    int status = 1;
    for (size_t i = 0; b && i < n; i++)
        b[i] = 1;
    if (!b || !x || (a->rhs && !read_numbers(a->rhs, b, n)))
        status = 2;
    else if ((!computed && !factor_compute(f, &error)) || !factor_solve(f, b, x, &error))
        status = failed(&error);
    else if (!a->out || write_numbers(a->out, x, n)) {
        double off = factor_residual(f, x, b);
        if (computed)
            printf("residual %.2e\n", off);
        else
            print_done(factor_figures(f), off);
        status = off < 1e-10 ? 0 : 1;
    }
    free(b);
    free(x);
    return status;
}

/* Subtrees below a hundredth of all work, unless somebody says otherwise: some hundred parts. */
static int write_parts(const struct arguments *a, const struct factor *f)
{
    struct weft_error error;
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    double work = a->part_work > 0 ? a->part_work : factor_figures(f)->operations / 100;
    return factor_write_parts(f, a->parts, work, program, &error) ? 0 : failed(&error);
}

static int factor_matrix(const struct arguments *a, cholmod_common *common)
{
    struct weft_error error;
    int status = 2;
    cholmod_sparse *m = a->grid ? grid_matrix(a->grid, common) : file_matrix(a->matrix, common);
    if (!m) {
        fprintf(stderr, "weft-factor: %s is no real symmetric matrix\n",
                a->grid ? a->grid : a->matrix);
    } else {
        struct factor *f = factor_analyze(m, &a->o, common, &error);
        if (f)
            print_plan(factor_figures(f));
        status = !f         ? failed(&error)
                 : a->plan  ? 0
                 : a->parts ? write_parts(a, f)
                            : solve(a, f, false);
        factor_free(f);
    }
    cholmod_free_sparse(&m, common);
    return status;
}

static int gather(const struct arguments *a, cholmod_common *common)
{
    struct weft_error error;
    struct factor *f = factor_read_parts(a->gather, common, &error);
    int status = f ? solve(a, f, true) : failed(&error);
    factor_free(f);
    return status;
}

/* A part, and a gathering that cannot go on, end with their process and take nothing apart: to the sanitizer that is no leak. It
 * looks at everything else. */
static bool ends_whole;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return ends_whole;
}

int main(int argc, char **argv)
{
    struct arguments a = {0};
    struct weft_error error = {0};
    cholmod_common common;
    if (!parse(argc, argv, &a))
        return usage();
    ends_whole = a.part || a.gather;
    if (a.part) {
        int status = factor_part((uint32_t)strtoul(a.part, NULL, 10), &error);
        if (status)
            fprintf(stderr, "weft-factor: %s\n", error.text);
        return status;
    }
    cholmod_start(&common);
    common.print = 0;
    int status = a.gather ? gather(&a, &common) : factor_matrix(&a, &common);
    cholmod_finish(&common);
    return status;
}
