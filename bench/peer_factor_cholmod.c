/* CHOLMOD's supernodal factorisation: peer_factor_cholmod A.mtx THREADS TRIES prints seconds of analysis, of
 * factorisation (the best), and the most bytes that the process had. */
#include "bench/factor.h"
#include <suitesparse/cholmod.h>

void openblas_set_num_threads(int threads);

int main(int argc, char **argv)
{
    cholmod_common c;
    FILE *f = argc == 4 ? fopen(argv[1], "r") : NULL;
    cholmod_start(&c);
    cholmod_sparse *a = f ? cholmod_read_sparse(f, &c) : NULL;
    if (!a)
        return 2;
    openblas_set_num_threads(atoi(argv[2]));
    c.supernodal = CHOLMOD_SUPERNODAL;
    c.final_ll = 1;
    double start = factor_clock(), best = 1e300;
    cholmod_factor *l = cholmod_analyze(a, &c);
    double analysis = factor_clock() - start;
    for (int k = 0; k < atoi(argv[3]); k++) {
        start = factor_clock();
        if (!cholmod_factorize(a, l, &c) || c.status < 0)
            return 1;
        best = factor_clock() - start < best ? factor_clock() - start : best;
    }
    printf("%.4f %.4f %.0f\n", analysis, best, factor_process_peak());
    cholmod_free_factor(&l, &c);
    cholmod_free_sparse(&a, &c);
    cholmod_finish(&c);
    fclose(f);
    return 0;
}
