/* An LU factorisation with partial pivoting: P A = L U, by block columns.
 *
 *     cc -O2 lu.c $(pkg-config --cflags --libs weft openblas) -o lu
 *     ./lu 4096 128 2 3            n, width of a block column, threads, the best of so many
 *
 *     panel(0) ─┬─▶ update(1,0) ─▶ panel(1) ─┬─▶ update(2,1) ─▶ panel(2) ...
 *               └─▶ update(2,0) ─────────────┘
 *
 * A panel task factors one block column and chooses its pivots; an update swaps the rows of a column to
 * its right, solves with the panel's triangle and multiplies. A block column is one object, the program's
 * own memory, changed in place; the pivots of a panel are another. At the end the swaps of later panels
 * are done on the columns to their left, as LAPACK's dgetrf leaves them.
 *
 * Prints seconds, GFLOP/s and |P A - L U| / |A|. */
#include "matrix.h"

struct lu {
    struct tiling t;
    double *a;    /* n x n by columns: a block column is one stretch of it */
    int *pivot;   /* as of dgetrf: row i was swapped with row pivot[i], from 1 */
    uint32_t *of; /* by task: panel and column, two entries */
    size_t ntasks;
};

static double *column_of(const struct lu *m, uint32_t j)
{
    return m->a + (size_t)j * m->t.most * m->t.n;
}

static int panel(const struct weft_task *task)
{
    const struct lu *m = task->context;
    uint32_t k = m->of[2 * task->number], first = k * m->t.most;
    int n = (int)m->t.n, rows = n - (int)first, width = (int)tiling_size(&m->t, k), info = 1;
    double *a = weft_task_pass(task, 0, 0, NULL);
    int *pivot = weft_task_out(task, 1, sizeof(int) * (size_t)width);
    if (!a || !pivot)
        return 1;
    dgetrf_(&rows, &width, a + first, &n, pivot, &info);
    for (int i = 0; i < width; i++)
        pivot[i] += (int)first;
    return info; /* not 0: A is singular */
}

static int update(const struct weft_task *task)
{
    const struct lu *m = task->context;
    uint32_t k = m->of[2 * task->number], j = m->of[2 * task->number + 1];
    int n = (int)m->t.n, width = (int)tiling_size(&m->t, j), inner = (int)tiling_size(&m->t, k);
    int first = (int)(k * m->t.most), from = first + 1, to = first + inner, one = 1;
    const double *left = weft_task_in(task, 1, NULL);
    const int *pivot = weft_task_in(task, 2, NULL);
    double *a = weft_task_pass(task, 0, 0, NULL);
    if (!left || !pivot || !a)
        return 1;
    dlaswp_(&width, a, &n, &from, &to, pivot - first, &one);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, inner, width, 1,
                left + first, n, a + first, n);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n - to, width, inner, -1, left + to, n,
                a + first, n, 1, a + to, n);
    return 0;
}

static const struct weft_function functions[] = {{"panel", panel}, {"update", update}, {0}};

/* ---- the graph ---- */

struct lu_graph {
    struct weft_builder *b;
    struct lending lending;
};

static uint32_t object(struct lu_graph *g, const char *what, uint32_t k, uint32_t j, void *at,
                       size_t bytes)
{
    char name[40];
    snprintf(name, sizeof name, "%s %u.%u", what, j, k);
    return lending_add(&g->lending, g->b, name, at, bytes);
}

static uint32_t add(struct lu *m, struct lu_graph *g, const char *function, uint32_t k, uint32_t j)
{
    char name[48];
    snprintf(name, sizeof name, "%s %u,%u", function, k, j);
    uint32_t task = weft_builder_task(g->b, name);
    snprintf(name, sizeof name, ":%s", function);
    weft_builder_call(g->b, task, name);
    /* the next panel goes before everything that does not lead to it: it is the longest chain */
    weft_builder_priority(g->b, task, (double)(m->t.count - j));
    m->of[2 * m->ntasks] = k;
    m->of[2 * m->ntasks++ + 1] = j;
    return task;
}

static struct weft_workflow *graph(struct lu *m, struct lu_graph *g, struct weft_error *error)
{
    uint32_t n = m->t.count;
    size_t most = (size_t)n * (n + 1) / 2 + n;
    uint32_t *version = matrix_room(n * sizeof *version);
    g->b = weft_builder_new("lu");
    m->of = matrix_room(2 * most * sizeof *m->of);
    for (uint32_t j = 0; j < n; j++)
        version[j] = object(g, "column", 0, j, column_of(m, j),
                            sizeof(double) * m->t.n * tiling_size(&m->t, j));
    for (uint32_t k = 0; k < n; k++) {
        size_t bytes = sizeof(double) * m->t.n * tiling_size(&m->t, k);
        uint32_t task = add(m, g, "panel", k, k);
        weft_builder_reads(g->b, task, version[k]);
        uint32_t done = object(g, "column", n + 1, k, column_of(m, k), bytes);
        uint32_t pivots = object(g, "pivots", k, k, m->pivot + (size_t)k * m->t.most,
                                 sizeof(int) * tiling_size(&m->t, k));
        weft_builder_writes(g->b, task, done);
        weft_builder_writes(g->b, task, pivots);
        for (uint32_t j = k + 1; j < n; j++) {
            task = add(m, g, "update", k, j);
            weft_builder_reads(g->b, task, version[j]);
            weft_builder_reads(g->b, task, done);
            weft_builder_reads(g->b, task, pivots);
            version[j] = object(g, "column", k + 1, j, column_of(m, j),
                                sizeof(double) * m->t.n * tiling_size(&m->t, j));
            weft_builder_writes(g->b, task, version[j]);
        }
    }
    free(version);
    struct weft_workflow *flow = weft_builder_finish(g->b, error);
    if (flow)
        lending_resolve(&g->lending, flow);
    return flow;
}

/* Rows of columns to the left of each panel, swapped as it swapped its own. */
static void swap_left(struct lu *m)
{
    int n = (int)m->t.n, one = 1;
    for (uint32_t k = 1; k < m->t.count; k++) {
        int width = (int)(k * m->t.most), from = width + 1;
        int to = width + (int)tiling_size(&m->t, k);
        dlaswp_(&width, m->a, &n, &from, &to, m->pivot, &one);
    }
}

/* |P A v - L (U v)| / (|A| |v|) of a random v. */
static double residual(const struct lu *m)
{
    uint32_t n = m->t.n;
    double *v = matrix_room(n * sizeof *v), *u = matrix_room(n * sizeof *u);
    double *w = matrix_room(n * sizeof *w), worst = 0, norm = 0, length = 0;
    for (uint32_t i = 0; i < n; i++) {
        v[i] = matrix_entry(i, 7777777);
        length = fmax(length, fabs(v[i]));
    }
    for (uint32_t i = 0; i < n; i++) {
        double row = 0;
        w[i] = 0;
        for (uint32_t j = 0; j < n; j++) {
            w[i] += matrix_entry(i, j) * v[j];
            row += fabs(matrix_entry(i, j));
        }
        norm = fmax(norm, row);
    }
    for (uint32_t i = 0; i < n; i++) { /* P */
        uint32_t other = (uint32_t)m->pivot[i] - 1;
        double one = w[i];
        w[i] = w[other];
        w[other] = one;
    }
    memcpy(u, v, n * sizeof *u);
    cblas_dtrmv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)n, m->a, (int)n, u, 1);
    cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasUnit, (int)n, m->a, (int)n, u, 1);
    for (uint32_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(w[i] - u[i]));
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
        fprintf(stderr, "usage: lu [N [WIDTH [THREADS [TRIES]]]]\n");
        return 2;
    }
    openblas_set_num_threads(1);
    struct lu m = {.t = tiling_of(n, size)};
    struct lu_graph g = {0};
    m.a = matrix_room(sizeof(double) * n * n);
    m.pivot = matrix_room(sizeof(int) * n);
    struct weft_workflow *flow = graph(&m, &g, &error);
    if (!flow)
        matrix_failed(&error);
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    o.threads = threads == UINT32_MAX ? 0 : threads;
    o.functions = functions;
    o.context = &m;
    o.lent = g.lending.lent;
    o.nlent = g.lending.n;
    double best = INFINITY;
    for (uint32_t k = 0; k < tries; k++) {
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t i = 0; i < n; i++)
                m.a[(size_t)j * n + i] = matrix_entry(i, j);
        double start = matrix_seconds();
        if (!weft_compute(flow, &o, NULL, &error))
            matrix_failed(&error);
        swap_left(&m);
        best = fmin(best, matrix_seconds() - start);
    }
    double off = residual(&m);
    printf("%.6f s  %.2f GFLOP/s  residual %.2e\n", best, 2.0 / 3 * n * n * n / best / 1e9, off);
    weft_workflow_free(flow);
    free(m.a);
    free(m.pivot);
    free(m.of);
    lending_free(&g.lending);
    return off <= 1e-12 ? 0 : 1;
}
