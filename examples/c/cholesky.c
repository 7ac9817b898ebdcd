/* A tiled Cholesky factorisation: A = L L', each tile an object in memory, each BLAS call a task.
 *
 *     cc -O2 cholesky.c $(pkg-config --cflags --libs weft openblas) -o cholesky
 *     ./cholesky 4096 256            n = 4096 in tiles of 256, on all cores
 *     ./cholesky 4096 256 2 3        2 threads, the best of 3
 *
 *     column 0        column 1                   a tile has as many versions as tasks that change it;
 *     potrf(0)  ──▶   syrk(1,0) ─▶ potrf(1)      all are the same memory, which the program lends:
 *       │               ▲            │           weft_task_pass() goes on with it in place
 *       ▼               │            ▼
 *     trsm(1,0) ────────┤          trsm(2,1) ─▶ ...
 *     trsm(2,0) ──▶ gemm(2,1,0) ─────┘
 *
 * Prints seconds, GFLOP/s and |A - L L'| / |A|, which is at most about 1e-15 n. */
#include "matrix.h"

struct cholesky {
    struct tiling t;
    double **tile;     /* lower ones: row i, column j at i * count + j, each by columns */
    uint32_t *version; /* the object that a tile is at the moment, while the graph is built */
    struct weft_builder *b;
    struct lending lending;
    struct cholesky_call *call; /* by task */
    size_t ncalls;
};

/* Sizes of what a task works on; its data come from weft_task_in() and _pass(). */
struct cholesky_call {
    uint32_t rows, columns, inner;
};

/* ---- the kernels ---- */

static int potrf(const struct weft_task *t)
{
    const struct cholesky *c = t->context;
    int n = (int)c->call[t->number].rows, info = 1;
    double *a = weft_task_pass(t, 0, 0, NULL);
    if (a)
        dpotrf_("L", &n, a, &n, &info);
    return info; /* not 0: A is not positive definite */
}

static int trsm(const struct weft_task *t)
{
    const struct cholesky *c = t->context;
    int m = (int)c->call[t->number].rows, n = (int)c->call[t->number].columns;
    const double *l = weft_task_in(t, 1, NULL);
    double *a = weft_task_pass(t, 0, 0, NULL);
    if (!l || !a)
        return 1;
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1, l, n, a,
                m);
    return 0;
}

static int syrk(const struct weft_task *t)
{
    const struct cholesky *c = t->context;
    int n = (int)c->call[t->number].rows, k = (int)c->call[t->number].inner;
    const double *l = weft_task_in(t, 1, NULL);
    double *a = weft_task_pass(t, 0, 0, NULL);
    if (!l || !a)
        return 1;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, -1, l, n, 1, a, n);
    return 0;
}

static int gemm(const struct weft_task *t)
{
    const struct cholesky *c = t->context;
    int m = (int)c->call[t->number].rows, n = (int)c->call[t->number].columns;
    int k = (int)c->call[t->number].inner;
    const double *left = weft_task_in(t, 1, NULL), *right = weft_task_in(t, 2, NULL);
    double *a = weft_task_pass(t, 0, 0, NULL);
    if (!left || !right || !a)
        return 1;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, k, -1, left, m, right, n, 1, a, m);
    return 0;
}

static const struct weft_function functions[] = {
    {"potrf", potrf}, {"trsm", trsm}, {"syrk", syrk}, {"gemm", gemm}, {0}};

/* ---- the graph ---- */

/* A new version of tile (i, j): an object that is the tile's memory. */
static uint32_t next_version(struct cholesky *c, uint32_t i, uint32_t j)
{
    char name[40];
    snprintf(name, sizeof name, "%u,%u.%zu", i, j, c->lending.n);
    return lending_add(&c->lending, c->b, name, c->tile[i * c->t.count + j],
                       sizeof(double) * tiling_size(&c->t, i) * tiling_size(&c->t, j));
}

/* A task that changes tile (i, j); `first` and `second`, tiles that it reads, or -1. */
static void add(struct cholesky *c, const char *function, uint32_t i, uint32_t j, uint32_t k,
                int64_t first, int64_t second)
{
    char name[64];
    snprintf(name, sizeof name, "%s %u,%u,%u", function, i, j, k);
    uint32_t task = weft_builder_task(c->b, name), *at = &c->version[i * c->t.count + j];
    snprintf(name, sizeof name, ":%s", function);
    weft_builder_call(c->b, task, name);
    /* What lies left is waited for by more: about the length of the path from here to the end. The diagonal goes first. */
    weft_builder_priority(c->b, task, 2.0 * (c->t.count - j) + (i == j));
    weft_builder_reads(c->b, task, *at);
    if (first >= 0)
        weft_builder_reads(c->b, task, c->version[first]);
    if (second >= 0)
        weft_builder_reads(c->b, task, c->version[second]);
    *at = next_version(c, i, j);
    weft_builder_writes(c->b, task, *at);
    c->call[c->ncalls++] =
        (struct cholesky_call){tiling_size(&c->t, i), tiling_size(&c->t, j), tiling_size(&c->t, k)};
}

/* Tasks in the order of the textbook: by columns, and what they change to their right. */
static struct weft_workflow *graph(struct cholesky *c, struct weft_error *error)
{
    uint32_t n = c->t.count;
    size_t most = (size_t)n * (n + 1) * (n + 2) / 6 + (size_t)n * n;
    c->call = matrix_room(most * sizeof *c->call);
    c->version = matrix_room(sizeof *c->version * n * n);
    c->b = weft_builder_new("cholesky");
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = j; i < n; i++)
            c->version[i * n + j] = next_version(c, i, j);
    for (uint32_t k = 0; k < n; k++) {
        add(c, "potrf", k, k, k, -1, -1);
        for (uint32_t i = k + 1; i < n; i++)
            add(c, "trsm", i, k, k, (int64_t)k * n + k, -1);
        for (uint32_t j = k + 1; j < n; j++) {
            add(c, "syrk", j, j, k, (int64_t)j * n + k, -1);
            for (uint32_t i = j + 1; i < n; i++)
                add(c, "gemm", i, j, k, (int64_t)i * n + k, (int64_t)j * n + k);
        }
    }
    struct weft_workflow *flow = weft_builder_finish(c->b, error);
    if (flow)
        lending_resolve(&c->lending, flow);
    return flow;
}

/* ---- the matrix and the proof ---- */

/* Symmetric, random, and heavy enough on its diagonal to be positive definite. */
static double entry(uint32_t n, uint32_t i, uint32_t j)
{
    return i == j ? (double)n : matrix_entry(i > j ? i : j, i > j ? j : i);
}

static void fill(struct cholesky *c)
{
    for (uint32_t j = 0; j < c->t.count; j++)
        for (uint32_t i = j; i < c->t.count; i++) {
            double *a = c->tile[i * c->t.count + j];
            uint32_t rows = tiling_size(&c->t, i), columns = tiling_size(&c->t, j);
            for (uint32_t y = 0; y < columns; y++)
                for (uint32_t x = 0; x < rows; x++)
                    a[(size_t)y * rows + x] = entry(c->t.n, i * c->t.most + x, j * c->t.most + y);
        }
}

/* out += the lower tile (i, j) of L, or its transpose, times v. */
static void multiply(const struct cholesky *c, bool transposed, const double *v, double *out)
{
    for (uint32_t j = 0; j < c->t.count; j++)
        for (uint32_t i = j; i < c->t.count; i++) {
            const double *a = c->tile[i * c->t.count + j];
            uint32_t rows = tiling_size(&c->t, i), columns = tiling_size(&c->t, j);
            for (uint32_t y = 0; y < columns; y++)
                for (uint32_t x = i == j ? y : 0; x < rows; x++) {
                    uint32_t row = i * c->t.most + x, column = j * c->t.most + y;
                    if (transposed)
                        out[column] += a[(size_t)y * rows + x] * v[row];
                    else
                        out[row] += a[(size_t)y * rows + x] * v[column];
                }
        }
}

/* |A v - L (L' v)| / (|A| |v|) of a random v: as good as the norm of the whole difference, in n^2. */
static double residual(const struct cholesky *c)
{
    uint32_t n = c->t.n;
    double *v = matrix_room(n * sizeof *v), *u = matrix_room(n * sizeof *u);
    double *w = matrix_room(n * sizeof *w), worst = 0, norm = 0, length = 0;
    memset(u, 0, n * sizeof *u);
    memset(w, 0, n * sizeof *w);
    for (uint32_t i = 0; i < n; i++) {
        v[i] = matrix_entry(i, 7777777);
        length = fmax(length, fabs(v[i]));
    }
    multiply(c, true, v, u);
    multiply(c, false, u, w);
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0, row = 0;
        for (uint32_t j = 0; j < n; j++) {
            sum += entry(n, i, j) * v[j];
            row += fabs(entry(n, i, j));
        }
        worst = fmax(worst, fabs(sum - w[i]));
        norm = fmax(norm, row);
    }
    free(v);
    free(u);
    free(w);
    return worst / (norm * length);
}

int main(int argc, char **argv)
{
    uint32_t n = matrix_argument(argc, argv, 1, 1024), size = matrix_argument(argc, argv, 2, 128);
    uint32_t threads = matrix_argument(argc, argv, 3, UINT32_MAX); /* one a core */
    uint32_t tries = matrix_argument(argc, argv, 4, 1);
    struct weft_error error;
    if (!n || !size || !threads || !tries || argc > 5) {
        fprintf(stderr, "usage: cholesky [N [TILE [THREADS [TRIES]]]]\n");
        return 2;
    }
    openblas_set_num_threads(1);
    struct cholesky c = {.t = tiling_of(n, size)};
    c.tile = matrix_room(sizeof *c.tile * c.t.count * c.t.count);
    for (uint32_t j = 0; j < c.t.count; j++)
        for (uint32_t i = j; i < c.t.count; i++)
            c.tile[i * c.t.count + j] =
                matrix_room(sizeof(double) * tiling_size(&c.t, i) * tiling_size(&c.t, j));
    struct weft_workflow *flow = graph(&c, &error);
    if (!flow)
        matrix_failed(&error);
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    o.threads = threads == UINT32_MAX ? 0 : threads;
    o.functions = functions;
    o.context = &c;
    o.lent = c.lending.lent;
    o.nlent = c.lending.n;
    double best = INFINITY, busy = 0; /* threads that were at work, on the average */
    for (uint32_t k = 0; k < tries; k++) {
        fill(&c);
        double start = matrix_seconds();
        struct weft_compute_figures f;
        if (!weft_compute(flow, &o, &f, &error))
            matrix_failed(&error);
        double seconds = matrix_seconds() - start;
        busy = seconds < best ? f.busy / f.seconds : busy;
        best = fmin(best, seconds);
    }
    double off = residual(&c);
    printf("%.6f s  %.2f GFLOP/s  residual %.2e  busy %.3f threads\n", best,
           (double)n * n * n / 3 / best / 1e9, off, busy);
    weft_workflow_free(flow);
    for (uint32_t j = 0; j < c.t.count; j++)
        for (uint32_t i = j; i < c.t.count; i++)
            free(c.tile[i * c.t.count + j]);
    free(c.tile);
    free(c.version);
    lending_free(&c.lending);
    free(c.call);
    return off <= 1e-12 ? 0 : 1;
}
