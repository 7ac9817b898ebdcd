/* StarPU on the grids of bench/metg.h: peer_metg_starpu PATTERN WIDTH STEPS ROUNDS THREADS prints seconds and the last row.
 * Dependencies between tasks are declared, all tasks are made before the clock starts, data are in one
 * array. */
#include "bench/metg.h"
#include <starpu.h>
#include <stdio.h>

struct metg_cell {
    _Alignas(METG_BYTES) double at[METG_BYTES / sizeof(double)];
};

static struct metg_cell *grid;
static int starpu_pattern;
static uint32_t grid_width;
static uint64_t grid_rounds;

static void starpu_point(void *buffers[], void *argument)
{
    (void)buffers;
    uint32_t number = (uint32_t)(uintptr_t)argument, s = number / grid_width,
             x = number % grid_width;
    uint32_t from[METG_DEGREE], n = metg_parents(starpu_pattern, grid_width, s, x, from);
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += grid[(size_t)(s - 1) * grid_width + from[i]].at[0];
    grid[number].at[0] = metg_kernel(grid_rounds, sum);
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    starpu_pattern = metg_pattern(argv[1]);
    grid_width = (uint32_t)strtoul(argv[2], NULL, 10);
    uint32_t n = grid_width * (uint32_t)strtoul(argv[3], NULL, 10);
    grid_rounds = strtoull(argv[4], NULL, 10);
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = atoi(argv[5]);
    if (starpu_init(&conf) != 0)
        return 1;
    struct starpu_codelet codelet;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = starpu_point;
    codelet.name = "point";
    grid = aligned_alloc(METG_BYTES, n * sizeof *grid);
    struct starpu_task **task = malloc(n * sizeof(struct starpu_task *));
    if (!grid || !task) {
        free(grid);
        free(task);
        return 1;
    }
    memset(grid, 0, n * sizeof *grid);
    for (uint32_t t = 0; t < n; t++) {
        uint32_t from[METG_DEGREE];
        uint32_t count =
            metg_parents(starpu_pattern, grid_width, t / grid_width, t % grid_width, from);
        struct starpu_task *before[METG_DEGREE];
        task[t] = starpu_task_create();
        task[t]->cl = &codelet;
        task[t]->cl_arg = (void *)(uintptr_t)t;
        for (uint32_t i = 0; i < count; i++)
            before[i] = task[(t / grid_width - 1) * grid_width + from[i]];
        if (count)
            starpu_task_declare_deps_array(task[t], count, before);
    }
    double start = metg_spent(atoi(argv[5]));
    for (uint32_t t = 0; t < n; t++)
        if (starpu_task_submit(task[t]) != 0)
            return 1;
    starpu_task_wait_for_all();
    metg_print(metg_spent(atoi(argv[5])) - start, grid[n - grid_width].at,
               METG_BYTES / sizeof(double), grid_width);
    starpu_shutdown();
    free(task);
    free(grid);
    return 0;
}
