/* Tiled Cholesky by StarPU, tiles as its data handles, dependencies by their order of use:
 * peer_dense_starpu N TILE THREADS TRIES. Its standard scheduler, with priorities. */
#include "bench/dense.h"
#include <starpu.h>

enum { POTRF, TRSM, SYRK, GEMM, KERNELS };

struct starpu_place {
    uint32_t i, j, k;
};

static struct dense starpu_dense;

/* The tiles are in main memory where they were: StarPU's pointers are ours. */
static void starpu_potrf(void *buffers[], void *argument)
{
    (void)buffers;
    dense_potrf(&starpu_dense, ((struct starpu_place *)argument)->k);
}
static void starpu_trsm(void *buffers[], void *argument)
{
    struct starpu_place *p = argument;
    (void)buffers;
    dense_trsm(&starpu_dense, p->i, p->k);
}
static void starpu_syrk(void *buffers[], void *argument)
{
    struct starpu_place *p = argument;
    (void)buffers;
    dense_syrk(&starpu_dense, p->j, p->k);
}
static void starpu_gemm(void *buffers[], void *argument)
{
    struct starpu_place *p = argument;
    (void)buffers;
    dense_gemm(&starpu_dense, p->i, p->j, p->k);
}

static struct starpu_codelet codelets[KERNELS] = {
    {.cpu_funcs = {starpu_potrf}, .nbuffers = 1, .modes = {STARPU_RW}},
    {.cpu_funcs = {starpu_trsm}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}},
    {.cpu_funcs = {starpu_syrk}, .nbuffers = 2, .modes = {STARPU_RW, STARPU_R}},
    {.cpu_funcs = {starpu_gemm}, .nbuffers = 3, .modes = {STARPU_RW, STARPU_R, STARPU_R}},
};

static void starpu_add(int kernel, struct starpu_place at, int priority, starpu_data_handle_t a,
                       starpu_data_handle_t b, starpu_data_handle_t c)
{
    struct starpu_task *t = starpu_task_create();
    struct starpu_place *place = malloc(sizeof *place);
    if (!place)
        exit(1);
    *place = at;
    t->cl = &codelets[kernel];
    t->cl_arg = place;
    t->cl_arg_size = sizeof *place;
    t->cl_arg_free = 1;
    t->priority = priority;
    t->handles[0] = a;
    t->handles[1] = b;
    t->handles[2] = c;
    if (starpu_task_submit(t) != 0)
        exit(1);
}

static void starpu_factor(starpu_data_handle_t *a, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        starpu_add(POTRF, (struct starpu_place){k, k, k}, STARPU_MAX_PRIO, a[k * n + k], NULL,
                   NULL);
        for (uint32_t i = k + 1; i < n; i++)
            starpu_add(TRSM, (struct starpu_place){i, k, k}, STARPU_MAX_PRIO, a[i * n + k],
                       a[k * n + k], NULL);
        for (uint32_t j = k + 1; j < n; j++) {
            starpu_add(SYRK, (struct starpu_place){j, j, k}, STARPU_DEFAULT_PRIO, a[j * n + j],
                       a[j * n + k], NULL);
            for (uint32_t i = j + 1; i < n; i++)
                starpu_add(GEMM, (struct starpu_place){i, j, k}, STARPU_DEFAULT_PRIO, a[i * n + j],
                           a[i * n + k], a[j * n + k]);
        }
    }
    starpu_task_wait_for_all();
}

int main(int argc, char **argv)
{
    starpu_dense = dense_make(argc, argv);
    struct dense *d = &starpu_dense;
    uint32_t n = d->t.count;
    double best = INFINITY;
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = d->threads;
    openblas_set_num_threads(1);
    if (starpu_init(&conf) != 0)
        return 1;
    starpu_data_handle_t *handle = calloc((size_t)n * n, sizeof(starpu_data_handle_t));
    if (!handle)
        return 1;
    for (int k = 0; k < d->tries; k++) {
        dense_fill(d);
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t i = j; i < n; i++)
                starpu_vector_data_register(
                    &handle[i * n + j], STARPU_MAIN_RAM, (uintptr_t)d->tile[i * n + j],
                    tiling_size(&d->t, i) * tiling_size(&d->t, j), sizeof(double));
        double start = matrix_seconds();
        starpu_factor(handle, n);
        best = fmin(best, matrix_seconds() - start);
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t i = j; i < n; i++)
                starpu_data_unregister(handle[i * n + j]);
    }
    dense_print(d, best);
    free(handle);
    starpu_shutdown();
    return 0;
}
