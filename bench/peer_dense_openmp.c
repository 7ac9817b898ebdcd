/* Tiled Cholesky by OpenMP tasks with `depend`, gcc's runtime: peer_dense_openmp N TILE THREADS TRIES. */
#include "bench/dense.h"
#include <omp.h>

static void openmp_factor(struct dense *d)
{
    double **a = d->tile;
    uint32_t n = d->t.count;
    (void)a; /* gcc does not see that the pragmas use it */
    for (uint32_t k = 0; k < n; k++) {
#pragma omp task depend(inout : a[k * n + k][0]) firstprivate(k) priority(3)
        dense_potrf(d, k);
        for (uint32_t i = k + 1; i < n; i++) {
#pragma omp task depend(in                                                                         \
                        : a[k * n + k][0]) depend(inout                                            \
                                                  : a[i * n + k][0]) firstprivate(i, k)            \
    priority(2)
            dense_trsm(d, i, k);
        }
        for (uint32_t j = k + 1; j < n; j++) {
#pragma omp task depend(in : a[j * n + k][0]) depend(inout : a[j * n + j][0]) firstprivate(j, k)
            dense_syrk(d, j, k);
            for (uint32_t i = j + 1; i < n; i++) {
#pragma omp task depend(in                                                                         \
                        : a[i * n + k][0], a[j * n + k][0]) depend(inout                           \
                                                                   : a[i * n + j][0])              \
    firstprivate(i, j, k)
                dense_gemm(d, i, j, k);
            }
        }
    }
}

int main(int argc, char **argv)
{
    struct dense d = dense_make(argc, argv);
    double best = INFINITY;
    openblas_set_num_threads(1);
    omp_set_num_threads(d.threads);
    for (int k = 0; k < d.tries; k++) {
        dense_fill(&d);
        double start = matrix_seconds();
#pragma omp parallel
#pragma omp single
        openmp_factor(&d);
        best = fmin(best, matrix_seconds() - start);
    }
    dense_print(&d, best);
    return 0;
}
