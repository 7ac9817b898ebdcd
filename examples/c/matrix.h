/* What the dense examples share: a matrix as tiles, a run of random numbers that is the same everywhere, time. */
#pragma once
#include <cblas.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/weft.h>

/* Of OpenBLAS, whose headers do not declare LAPACK. Each task has one core: one thread of the BLAS. */
void openblas_set_num_threads(int threads);
void dpotrf_(const char *half, const int *n, double *a, const int *lda, int *info);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info);
void dlaswp_(const int *n, double *a, const int *lda, const int *from, const int *to,
             const int *pivot, const int *step);

/* Argument k, a number from 1 to a million; `otherwise` where there is none, 0 where it is none. */
static inline uint32_t matrix_argument(int argc, char **argv, int k, uint32_t otherwise)
{
    if (argc <= k)
        return otherwise;
    char *end;
    unsigned long n = strtoul(argv[k], &end, 10);
    return *argv[k] >= '0' && *argv[k] <= '9' && !*end && n <= 1000000 ? (uint32_t)n : 0;
}

static inline double matrix_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Bytes aligned to a cache line, or the end. */
static inline void *matrix_room(size_t bytes)
{
    void *at = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    if (!at) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return at;
}

/* An entry of a random matrix: in [-0.5, 0.5), by place alone (a round of splitmix64). */
static inline double matrix_entry(uint64_t row, uint64_t column)
{
    uint64_t z = row * 0x9e3779b97f4a7c15u + column * 0xbf58476d1ce4e5b9u + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

/* n in tiles of `most`, the last perhaps smaller. */
struct tiling {
    uint32_t n, most, count;
};

static inline struct tiling tiling_of(uint32_t n, uint32_t most)
{
    return (struct tiling){n, most, (n + most - 1) / most};
}

static inline uint32_t tiling_size(const struct tiling *t, uint32_t i)
{
    return i + 1 < t->count ? t->most : t->n - i * t->most;
}

/* Objects that are memory of the program. A builder numbers objects as they come, the finished workflow by
 * their makers: they are found again by their names. */
struct lending {
    struct weft_lent *lent;
    char (*name)[40];
    size_t n, most;
};

static inline uint32_t lending_add(struct lending *l, struct weft_builder *b, const char *name,
                                   void *at, size_t bytes)
{
    uint32_t object = weft_builder_object(b, name);
    weft_builder_in_memory(b, object);
    if (l->n == l->most) {
        l->most = l->most ? 2 * l->most : 1024;
        l->lent = realloc(l->lent, l->most * sizeof *l->lent);
        l->name = realloc(l->name, l->most * sizeof *l->name);
        if (!l->lent || !l->name)
            exit(1);
    }
    l->lent[l->n] = (struct weft_lent){WEFT_NONE, at, bytes};
    snprintf(l->name[l->n++], sizeof *l->name, "%s", name);
    return object;
}

static inline void lending_resolve(struct lending *l, const struct weft_workflow *flow)
{
    for (size_t i = 0; i < l->n; i++)
        l->lent[i].object = weft_workflow_find_object(flow, l->name[i]);
}

static inline void lending_free(struct lending *l)
{
    free(l->lent);
    free(l->name);
}

/* What a program says when the library tells it that something is wrong; its end. */
_Noreturn static inline void matrix_failed(const struct weft_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    exit(error->status ? (int)error->status : 1);
}
