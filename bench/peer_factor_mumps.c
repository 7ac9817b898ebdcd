/* MUMPS (sequential MPI, threaded BLAS): peer_factor_mumps A.mtx THREADS TRIES [MEGABYTES [ooc]] prints seconds of
 * analysis, of factorisation (the best), and the most bytes that the process had. With MEGABYTES its own limit
 * (ICNTL(23)) stands; `ooc`: factors go to files. What MUMPS says of a failure (INFOG(1)) goes to standard error. */
#include "bench/factor.h"
#include <dmumps_c.h>
#include <suitesparse/cholmod.h>

void openblas_set_num_threads(int threads);

enum { JOB_INIT = -1, JOB_END = -2, USE_COMM_WORLD = -987654, SYMMETRIC_POSITIVE = 1 };

static int mumps_do(DMUMPS_STRUC_C *id, int job)
{
    id->job = job;
    dmumps_c(id);
    if (id->infog[0] < 0)
        fprintf(stderr, "INFOG(1) = %d, INFOG(2) = %d\n", id->infog[0], id->infog[1]);
    return id->infog[0] < 0;
}

int main(int argc, char **argv)
{
    cholmod_common c;
    FILE *f = argc >= 4 ? fopen(argv[1], "r") : NULL;
    cholmod_start(&c);
    cholmod_triplet *t = f ? cholmod_read_triplet(f, &c) : NULL;
    if (!t)
        return 2;
    openblas_set_num_threads(atoi(argv[2]));
    for (size_t k = 0; k < t->nnz; k++) {
        ((int *)t->i)[k]++;
        ((int *)t->j)[k]++;
    }
    DMUMPS_STRUC_C id = {.par = 1, .sym = SYMMETRIC_POSITIVE, .comm_fortran = USE_COMM_WORLD};
    if (mumps_do(&id, JOB_INIT))
        return 1;
    for (int k = 0; k < 4; k++)
        id.icntl[k] = k == 3 ? 0 : -1; /* it prints nothing */
    id.n = (int)t->nrow;
    id.nnz = (int64_t)t->nnz;
    id.irn = t->i;
    id.jcn = t->j;
    id.a = t->x;
    if (argc > 4)
        id.icntl[22] = atoi(argv[4]);
    if (argc > 5)
        id.icntl[21] = 1;
    double start = factor_clock(), best = 1e300;
    if (mumps_do(&id, 1))
        return 1;
    double analysis = factor_clock() - start;
    for (int k = 0; k < atoi(argv[3]); k++) {
        start = factor_clock();
        if (mumps_do(&id, 2))
            return 1;
        best = factor_clock() - start < best ? factor_clock() - start : best;
    }
    printf("%.4f %.4f %.0f\n", analysis, best, factor_process_peak());
    mumps_do(&id, JOB_END);
    cholmod_free_triplet(&t, &c);
    cholmod_finish(&c);
    fclose(f);
    return 0;
}
