/* The BLAS' own: dpotrf, or dgetrf with --lu, of OpenBLAS on so many threads: peer_dense_blas N TILE THREADS TRIES
 * [--lu]. TILE is not used: the library blocks as it likes. */
#include "examples/c/matrix.h"

int main(int argc, char **argv)
{
    bool lu = argc == 6 && strcmp(argv[5], "--lu") == 0;
    if (argc != 5 + lu)
        return 2;
    int n = atoi(argv[1]), tries = atoi(argv[4]), info = 0;
    double *a = matrix_room(sizeof(double) * (size_t)n * (size_t)n), best = INFINITY;
    int *pivot = matrix_room(sizeof(int) * (size_t)n);
    openblas_set_num_threads(atoi(argv[3]));
    for (int k = 0; k < tries && !info; k++) {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                a[(size_t)j * (size_t)n + (size_t)i] =
                    !lu && i == j ? n
                                  : matrix_entry((uint64_t)(lu || i > j ? i : j),
                                                 (uint64_t)(lu || i > j ? j : i));
        double start = matrix_seconds();
        if (lu)
            dgetrf_(&n, &n, a, &n, pivot, &info);
        else
            dpotrf_("L", &n, a, &n, &info);
        best = fmin(best, matrix_seconds() - start);
    }
    printf("%.6f s  %.2f GFLOP/s  last %.12f\n", best,
           (lu ? 2.0 : 1.0) / 3 * n * (double)n * n / best / 1e9, a[(size_t)n * (size_t)n - 1]);
    free(a);
    free(pivot);
    return info != 0;
}
