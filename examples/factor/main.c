/* weft-factor: solve A x = b for a sparse symmetric positive definite A, within a limit of memory. `weft-factor --help`, and
 * "A sparse factorisation that fits" in docs/numerics.md. */
#include "factor.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct arguments {
    const char *matrix, *grid, *rhs, *out, *parts, *gather, *part;
    double part_work; /* operations of the subtrees that are one part */
    bool plan, help;
    struct factor_options o;
};

/* A part, and a gathering that cannot go on, end with their process and take nothing apart, and CHOLMOD keeps what it has read of a
 * file that was cut off: to the sanitizer that is no leak. It looks at everything else. */
static bool ends_whole;
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return ends_whole;
}

static const char usage_text[] =
    "usage: weft-factor A.mtx|--grid 2d:N|--grid 3d:N [-b RHS] [-o X] [-m BYTES] [-t THREADS] "
    "[--folder DIR] [--disk]\n"
    "       weft-factor A.mtx|--grid ... --plan [-m BYTES] [--disk]\n"
    "       weft-factor A.mtx|--grid ... --parts DIR [--part-work OPERATIONS]\n"
    "       weft-factor --gather DIR [-b RHS] [-o X]\n";

static const char help_text[] =
    "weft-factor: solve A x = b, A sparse, real, symmetric and positive definite, within a limit "
    "of memory\n\n"
    "%s\n"
    "  A.mtx                  a Matrix Market file: coordinate, real or integer, symmetric\n"
    "  --grid 2d:N, 3d:N      instead: the Laplacian of a grid of N x N (up to 4000), N x N x N "
    "(up to 250) points\n"
    "  -b RHS                 numbers of b, one a line (without: all 1)\n"
    "  -o X                   where the numbers of x go, one a line (without: only figures are "
    "printed)\n"
    "  -m BYTES               most memory of L, fronts and contributions, as 800M, 2G (without: no "
    "limit). The matrix and its\n"
    "                         ordering come on top\n"
    "  -t THREADS             without: one a core\n"
    "  --folder DIR           of files that hold what has no room (without: $TMPDIR, else /tmp)\n"
    "  --disk                 columns of L go to a file also where they would fit\n"
    "  --plan                 what it would take and which way it would go; nothing is computed\n"
    "  --parts DIR            write DIR/flow.yaml, a workflow of its fronts, for `weft run` here "
    "or on agents\n"
    "  --part-work N          with it: operations of a subtree that is one task (without: a "
    "hundredth of all)\n"
    "  --gather DIR           solve with what such a run has made\n\n"
    "It ends with 0; 1: it failed, A is not positive definite, or the residual |A x - b| / (|A| "
    "|x| + |b|) is not below\n"
    "1e-10; 2: bad input; 3: it does not fit into the memory.\n";

static int usage(void)
{
    fprintf(stderr, "%s`weft-factor --help` says more\n", usage_text);
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

/* 0: it is none. */
static uint32_t threads_of(const char *text)
{
    char *end;
    long n = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    return n > 0 && n <= 1024 && !*end ? (uint32_t)n : 0;
}

/* What is wrong with them, before how they are used. */
static bool wrong(const char *option, const char *why)
{
    fprintf(stderr, "weft-factor: %s%s\n", option, why);
    return false;
}

/* What would do nothing where it was said is refused, and so is what says two things. */
static bool parse_holds(const struct arguments *a, bool threads)
{
    bool one = !!a->matrix + !!a->grid + !!a->part + !!a->gather == 1;
    bool here = a->matrix || a->grid, computes = here && !a->plan && !a->parts;
    if (a->o.memory < 0 || a->part_work < 0)
        return wrong(a->o.memory < 0 ? "-m" : "--part-work",
                     ": expected a number above 0, as 800M or 2G");
    if (threads && !a->o.threads)
        return wrong("-t", ": expected a number of threads, 1 to 1024");
    if (!one)
        return wrong("", "expected one of A.mtx, --grid and --gather");
    bool good = (here || (!a->plan && !a->parts)) && !(a->plan && a->parts) &&
                (a->parts || a->part_work <= 0) &&
                ((!a->rhs && !a->out) || computes || a->gather) && (!threads || computes) &&
                ((a->o.memory <= 0 && !a->o.disk) || (here && !a->parts));
    return good || wrong("", "these options do not go together: one of them would do nothing");
}

static bool parse(int argc, char **argv, struct arguments *a)
{
    bool threads = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--plan") == 0) {
            a->plan = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            a->help = true;
            return true;
        } else if (strcmp(argv[i], "--disk") == 0) {
            a->o.disk = true;
        } else if (argv[i][0] != '-') {
            if (a->matrix)
                return wrong(argv[i], ": one matrix is named already");
            a->matrix = argv[i];
        } else if (!value) {
            return wrong(argv[i], ": there is no such option, or its value is missing");
        } else {
            if (strcmp(argv[i], "-b") == 0)
                a->rhs = value;
            else if (strcmp(argv[i], "-o") == 0)
                a->out = value;
            else if (strcmp(argv[i], "-m") == 0)
                a->o.memory = bytes_of(value);
            else if (strcmp(argv[i], "-t") == 0)
                threads = true, a->o.threads = threads_of(value);
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
                return wrong(argv[i], ": there is no such option");
            i++;
        }
    }
    return parse_holds(a, threads);
}

/* ---- matrices ---- */

/* The Laplacian of a grid: 4 (6 in space) on the diagonal, -1 for each neighbour. */
static cholmod_sparse *grid_matrix(const char *text, cholmod_common *c)
{
    unsigned d = 0, n = 0;
    int all = -1;
    if (sscanf(text, "%ud:%u%n", &d, &n, &all) != 2 || all < 0 || text[all] || (d != 2 && d != 3) ||
        !n || n > (d == 2 ? 4000u : 250u))
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

/* NULL: its first line says that it is what can be factored. CHOLMOD would read more: of a pattern it makes up the numbers. */
static const char *banner_fault(const char *line)
{
    char object[32], format[32], field[32], symmetry[32];
    if (sscanf(line, "%%%%MatrixMarket %31s %31s %31s %31s", object, format, field, symmetry) != 4)
        return "is no Matrix Market file: its first line does not begin with %%MatrixMarket and "
               "four words";
    if (strcasecmp(object, "matrix") != 0 || strcasecmp(format, "coordinate") != 0)
        return "is not sparse: expected `matrix coordinate` in its first line";
    if (strcasecmp(field, "pattern") == 0)
        return "is a pattern: it has no numbers to factor";
    if (strcasecmp(field, "real") != 0 && strcasecmp(field, "integer") != 0)
        return "is not real: expected `real` or `integer` in its first line";
    if (strcasecmp(symmetry, "symmetric") != 0)
        return "is not symmetric by its first line; where it is by its numbers, store its lower "
               "half and say `symmetric`";
    return NULL;
}

/* Its lower half. NULL: said why. */
static cholmod_sparse *file_matrix(const char *path, cholmod_common *c)
{
    char line[1024] = "";
    FILE *f = fopen(path, "r");
    const char *fault = !f                            ? strerror(errno)
                        : fgets(line, sizeof line, f) ? banner_fault(line)
                        : ferror(f)                   ? strerror(errno)
                                                      : "is empty";
    cholmod_sparse *a = NULL;
    if (!fault) {
        rewind(f);
        a = cholmod_read_sparse(f, c);
        ends_whole = !a;
        if (!a)
            fault =
                c->status == CHOLMOD_OUT_OF_MEMORY
                    ? "does not fit into memory"
                    : "cannot be read: a line is no entry, or there are fewer or more than it says";
        else if (a->stype == 0 || a->nrow != a->ncol || a->xtype != CHOLMOD_REAL)
            fault = "is not symmetric";
    }
    if (f)
        fclose(f);
    if (fault) {
        fprintf(stderr, "weft-factor: %s: %s\n", path, fault);
        cholmod_free_sparse(&a, c);
    }
    if (a && a->stype > 0) {
        cholmod_sparse *lower = cholmod_ptranspose(a, 1, NULL, NULL, 0, c);
        cholmod_free_sparse(&a, c);
        a = lower;
        if (!a)
            fprintf(stderr, "weft-factor: %s: does not fit into memory\n", path);
    }
    return a;
}

static bool read_numbers(const char *path, double *x, size_t n)
{
    FILE *f = fopen(path, "r");
    size_t got = 0;
    double extra;
    if (!f) {
        fprintf(stderr, "weft-factor: %s: %s\n", path, strerror(errno));
        return false;
    }
    while (got < n && fscanf(f, "%lf", &x[got]) == 1 && isfinite(x[got]))
        got++;
    bool more = got == n && fscanf(f, "%lf", &extra) == 1;
    bool good = got == n && !more && feof(f);
    fclose(f);
    if (!good)
        fprintf(stderr, "weft-factor: %s: expected %zu numbers, found %zu%s\n", path, n, got,
                more       ? " and more"
                : got == n ? " and a text"
                           : "");
    return good;
}

static bool write_numbers(const char *path, const double *x, size_t n)
{
    FILE *f = fopen(path, "w");
    for (size_t i = 0; f && i < n; i++)
        fprintf(f, "%.17g\n", x[i]);
    bool bad = !f || fflush(f) != 0 || ferror(f);
    int reason = errno;
    if (f && fclose(f) != 0 && !bad) {
        reason = errno;
        bad = true;
    }
    if (bad)
        fprintf(stderr, "weft-factor: %s: cannot be written: %s\n", path, strerror(reason));
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
    if (g->least_with_file > 0)
        printf("-m %.0f is enough for all in memory, %.0f with L in a file, %.0f where "
               "contributions make "
               "room, too\n",
               g->factor_bytes + g->least, g->least_with_file, g->largest_with_file);
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
        if (status)
            fprintf(stderr, "weft-factor: the residual is not below 1e-10: x is no solution%s\n",
                    isfinite(off) ? "; is the matrix nearly singular?"
                                  : ", its numbers are out of range");
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
    if (!m && a->grid) {
        fprintf(stderr,
                "weft-factor: --grid %s: expected 2d:N with N from 1 to 4000, or 3d:N with N from "
                "1 to 250\n",
                a->grid);
    } else if (m) {
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

int main(int argc, char **argv)
{
    struct arguments a = {0};
    struct weft_error error = {0};
    cholmod_common common;
    if (!parse(argc, argv, &a))
        return usage();
    if (a.help)
        return printf(help_text, usage_text) < 0 || fflush(stdout) != 0;
    ends_whole = a.part || a.gather;
    if (a.part) {
        int status = factor_part((uint32_t)strtoul(a.part, NULL, 10), &error);
        if (status)
            fprintf(stderr, "weft-factor: %s\n", error.text);
        return status;
    }
    cholmod_start(&common);
    common.print = 0;
    a.o.ways = a.plan;
    int status = a.gather ? gather(&a, &common) : factor_matrix(&a, &common);
    cholmod_finish(&common);
    if (fflush(stdout) == 0)
        return status;
    fprintf(stderr, "weft-factor: what it has to say cannot be written: %s\n", strerror(errno));
    return status ? status : 1;
}
