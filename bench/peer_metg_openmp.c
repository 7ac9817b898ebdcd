/* OpenMP tasks with `depend` on the grids of bench/metg.h, by gcc's runtime:
 *   peer_metg_openmp PATTERN WIDTH STEPS ROUNDS THREADS      prints seconds, making the tasks included,
 * since that is how such a program runs, and the last row. */
#include "bench/metg.h"
#include <omp.h>
#include <stdio.h>

struct metg_cell {
    _Alignas(METG_BYTES) double at[METG_BYTES / sizeof(double)];
};

static struct metg_cell *grid;

static void openmp_point(int pattern, uint32_t width, uint32_t s, uint32_t x, uint64_t rounds)
{
    uint32_t from[METG_DEGREE], n = metg_parents(pattern, width, s, x, from);
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += grid[(size_t)(s - 1) * width + from[i]].at[0];
    grid[(size_t)s * width + x].at[0] = metg_kernel(rounds, sum);
}

static void openmp_make(int pattern, uint32_t width, uint32_t steps, uint64_t rounds)
{
    for (uint32_t s = 0; s < steps; s++)
        for (uint32_t x = 0; x < width; x++) {
            uint32_t from[METG_DEGREE], n = metg_parents(pattern, width, s, x, from);
            struct metg_cell *before = s ? grid + (size_t)(s - 1) * width : grid;
            struct metg_cell *out = &grid[(size_t)s * width + x];
            (void)before, (void)out, (void)n; /* gcc does not see that the pragma uses them */
#pragma omp task depend(iterator(uint32_t i = 0                                                    \
                                 : n),                                                             \
                        in                                                                         \
                        : before[from[i]]) depend(out                                              \
                                                  : out[0]) firstprivate(s, x)
            openmp_point(pattern, width, s, x, rounds);
        }
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    int pattern = metg_pattern(argv[1]);
    uint32_t width = (uint32_t)strtoul(argv[2], NULL, 10);
    uint32_t steps = (uint32_t)strtoul(argv[3], NULL, 10);
    uint64_t rounds = strtoull(argv[4], NULL, 10);
    omp_set_num_threads(atoi(argv[5]));
    grid = aligned_alloc(METG_BYTES, (size_t)width * steps * sizeof *grid);
    if (!grid)
        return 1;
    memset(grid, 0, (size_t)width * steps * sizeof *grid);
    double start = metg_spent(atoi(argv[5]));
#pragma omp parallel
#pragma omp single
    openmp_make(pattern, width, steps, rounds);
    metg_print(metg_spent(atoi(argv[5])) - start, grid[(size_t)(steps - 1) * width].at,
               METG_BYTES / sizeof(double), width);
    free(grid);
    return 0;
}
