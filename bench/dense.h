/* A symmetric matrix in tiles for the peers of bench_dense: the same numbers as examples/c/cholesky.c, the same kernels,
 * the same line at the end. */
#pragma once
#include "examples/c/matrix.h"

struct dense {
    struct tiling t;
    double **tile; /* lower ones: row i, column j at i * count + j */
    int threads, tries;
};

static inline struct dense dense_make(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s N TILE THREADS TRIES\n", argv[0]);
        exit(2);
    }
    struct dense d = {.t = tiling_of((uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2])),
                      .threads = atoi(argv[3]),
                      .tries = atoi(argv[4])};
    d.tile = matrix_room(sizeof *d.tile * d.t.count * d.t.count);
    for (uint32_t j = 0; j < d.t.count; j++)
        for (uint32_t i = j; i < d.t.count; i++)
            d.tile[i * d.t.count + j] =
                matrix_room(sizeof(double) * tiling_size(&d.t, i) * tiling_size(&d.t, j));
    return d;
}

static inline void dense_fill(struct dense *d)
{
    for (uint32_t j = 0; j < d->t.count; j++)
        for (uint32_t i = j; i < d->t.count; i++) {
            double *a = d->tile[i * d->t.count + j];
            uint32_t rows = tiling_size(&d->t, i), columns = tiling_size(&d->t, j);
            for (uint32_t y = 0; y < columns; y++)
                for (uint32_t x = 0; x < rows; x++) {
                    uint32_t r = i * d->t.most + x, c = j * d->t.most + y;
                    a[(size_t)y * rows + x] =
                        r == c ? (double)d->t.n : matrix_entry(r > c ? r : c, r > c ? c : r);
                }
        }
}

/* The last entry of L as a witness that the work was done: weft's is the same to rounding. */
static inline void dense_print(const struct dense *d, double best)
{
    uint32_t last = d->t.count - 1, n = tiling_size(&d->t, last);
    printf("%.6f s  %.2f GFLOP/s  last %.12f\n", best,
           (double)d->t.n * d->t.n * d->t.n / 3 / best / 1e9,
           d->tile[last * d->t.count + last][(size_t)n * n - 1]);
}

static inline void dense_potrf(const struct dense *d, uint32_t k)
{
    int n = (int)tiling_size(&d->t, k), info;
    dpotrf_("L", &n, d->tile[k * d->t.count + k], &n, &info);
    if (info)
        exit(1);
}

static inline void dense_trsm(const struct dense *d, uint32_t i, uint32_t k)
{
    int m = (int)tiling_size(&d->t, i), n = (int)tiling_size(&d->t, k);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1,
                d->tile[k * d->t.count + k], n, d->tile[i * d->t.count + k], m);
}

static inline void dense_syrk(const struct dense *d, uint32_t j, uint32_t k)
{
    int n = (int)tiling_size(&d->t, j), inner = (int)tiling_size(&d->t, k);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, inner, -1, d->tile[j * d->t.count + k],
                n, 1, d->tile[j * d->t.count + j], n);
}

static inline void dense_gemm(const struct dense *d, uint32_t i, uint32_t j, uint32_t k)
{
    int m = (int)tiling_size(&d->t, i), n = (int)tiling_size(&d->t, j);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, n, (int)tiling_size(&d->t, k), -1,
                d->tile[i * d->t.count + k], m, d->tile[j * d->t.count + k], n, 1,
                d->tile[i * d->t.count + j], m);
}
