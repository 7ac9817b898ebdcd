/* The graphs and the kernel of the METG benchmark, equal for weft and its peers.
 *
 * A grid of `width` columns and `steps` rows; a point waits for some points of the row before
 * (Slaughter et al., "Task Bench", SC 2020, from the text of the paper). Each point is a task: it reads
 * the bytes of those that it waits for, computes for a given time, and writes its own. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { METG_BYTES = 64, METG_DEGREE = 8 };

static const char *const metg_patterns[] = {
    "trivial",        "no_comm", "stencil_1d", "stencil_1d_periodic", "fft", "tree",
    "random_nearest", "spread",  NULL};
enum { TRIVIAL, NO_COMM, STENCIL, STENCIL_PERIODIC, FFT, TREE, RANDOM_NEAREST, SPREAD };

static inline int metg_pattern(const char *name)
{
    for (int p = 0; metg_patterns[p]; p++)
        if (strcmp(metg_patterns[p], name) == 0)
            return p;
    return -1;
}

static inline uint32_t metg_add(uint32_t *out, uint32_t n, int64_t x, uint32_t width)
{
    for (uint32_t i = 0; i < n; i++)
        if (x >= 0 && out[i] == (uint32_t)x)
            return n;
    if (x >= 0 && x < (int64_t)width)
        out[n++] = (uint32_t)x;
    return n;
}

/* Columns of row `step` - 1 that point (step, x) waits for; how many. Row 0 waits for nothing. */
static inline uint32_t metg_parents(int pattern, uint32_t width, uint32_t step, uint32_t x,
                                    uint32_t out[METG_DEGREE])
{
    uint32_t n = 0, levels = 0, hash = (step * 2654435761u) ^ (x * 40503u);
    while ((1u << (levels + 1)) <= width)
        levels++;
    if (!step)
        return 0;
    switch (pattern) {
    case NO_COMM:
        return metg_add(out, n, x, width);
    case STENCIL:
        for (int d = -1; d <= 1; d++)
            n = metg_add(out, n, (int64_t)x + d, width);
        return n;
    case STENCIL_PERIODIC:
        for (int d = -1; d <= 1; d++)
            n = metg_add(out, n, ((int64_t)x + d + width) % width, width);
        return n;
    case FFT: {
        int64_t far = INT64_C(1) << (levels ? (step - 1) % levels : 0);
        n = metg_add(out, n, x, width);
        n = metg_add(out, n, (int64_t)x - far, width);
        return metg_add(out, n, (int64_t)x + far, width);
    }
    case TREE:
        return metg_add(out, n, x / 2, width);
    case RANDOM_NEAREST:
        for (int d = -2; d <= 2; d++) {
            hash = hash * 1664525u + 1013904223u;
            if (d == 0 || hash >> 31)
                n = metg_add(out, n, (int64_t)x + d, width);
        }
        return n;
    case SPREAD:
        for (uint32_t k = 0; k < 3; k++)
            n = metg_add(out, n, (x + k * (width / 3 + 1) + step) % width, width);
        return n;
    default: /* trivial */
        return 0;
    }
}

/* `rounds` steps of arithmetic that no compiler removes. */
static inline double metg_kernel(uint64_t rounds, double from)
{
    volatile double x = from;
    for (uint64_t i = 0; i < rounds; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

/* The first number of each point of the last row, as a serial evaluation has it: the kernel's of the sum of those that it
 * waits for. `last`: room for `width` numbers, at most METG_DEGREE. */
static inline void metg_evaluate(int pattern, uint32_t width, uint32_t steps, uint64_t rounds,
                                 double *last)
{
    double before[METG_DEGREE] = {0};
    for (uint32_t s = 0; s < steps; s++) {
        for (uint32_t x = 0; x < width; x++) {
            uint32_t from[METG_DEGREE], n = metg_parents(pattern, width, s, x, from);
            double sum = 0;
            for (uint32_t i = 0; i < n; i++)
                sum += before[from[i]];
            last[x] = metg_kernel(rounds, sum);
        }
        memcpy(before, last, width * sizeof *last);
    }
}

/* What a peer prints: seconds, and those numbers, `stride` apart. */
static inline void metg_print(double seconds, const double *last, size_t stride, uint32_t width)
{
    printf("%.9f", seconds);
    for (uint32_t x = 0; x < width; x++)
        printf(" %a", last[x * stride]);
    printf("\n");
}

/* A point whose bytes tell from which others they come: a mean of its number and of theirs, so that it stays small.
 * The first double goes through the kernel. */
static inline void metg_mix(uint64_t rounds, uint32_t number, uint32_t n, const double *const *in,
                            double *out)
{
    for (size_t k = 0; k < METG_BYTES / sizeof *out; k++) {
        double sum = number % 97;
        for (uint32_t i = 0; i < n; i++)
            sum += in[i][k];
        out[k] = sum / (n + 1);
    }
    out[0] = metg_kernel(rounds, out[0]);
}

static inline double metg_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The same; with METG_CPU in the environment processor time, shared by so many threads: for a machine that others use. It sees
 * what a runtime computes and spins, and not what it sleeps. */
static inline double metg_spent(int threads)
{
    struct timespec t;
    if (!getenv("METG_CPU"))
        return metg_seconds();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return ((double)t.tv_sec + (double)t.tv_nsec * 1e-9) / threads;
}
