/* A lower bound on the makespan of every valid mapping of a tree.
 *
 * For each task x: the tasks on the way from the root to x run one after the other, each at best on
 * the fastest processor that holds it, and the rest of x's subtree is spread evenly over all
 * processors but one of the way's. Which processor is the fastest of the way is not known, so the
 * bound is taken for groups of speeds (GROUPS at most) and the least counts. Besides: work that
 * only the k largest memories hold, over the speeds of those k.
 *
 * Valid because both only drop constraints: transfers, cuts at task borders, memory of parts. O(n x
 * groups + n log p). */
#include "plan/tree/bound.h"
#include "base/mem.h"
#include <stdlib.h>

enum { GROUPS = 16 };

static int compare_falling_speeds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* The fastest processor that holds each task: processors go by decreasing memory, so a prefix of
 * them does. */
static double *fastest_holder(const struct tree_setting *s, uint32_t *holders)
{
    double *prefix = mem_new(double, s->nprocs), *fastest = mem_new(double, s->t->n);
    for (uint32_t q = 0; q < s->nprocs; q++)
        prefix[q] = q ? fmax(prefix[q - 1], s->speed[q]) : s->speed[q];
    for (uint32_t x = 0; x < s->t->n; x++) {
        uint32_t low = 0, high = s->nprocs; /* processors that hold x: 0 .. low-1 */
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (s->memory[middle] >= s->need[x])
                low = middle + 1;
            else
                high = middle;
        }
        holders[x] = low;
        fastest[x] = low ? prefix[low - 1] : prefix[0];
    }
    free(prefix);
    return fastest;
}

/* For every task the bound when the fastest processor on the way to it has a speed from `slow` to
 * `fast`: least[x] becomes no more than that. */
static void chain_bounds(const struct tree_setting *s, double slow, double fast,
                         const double *fastest, double *path, double *least)
{
    const struct tree *t = s->t;
    double rest_speed = fmax(fast, s->all_speeds - slow);
    for (uint32_t x = 0; x < t->n; x++) {
        path[x] = (x ? path[t->parent[x]] : 0) + t->work[x] / fmin(fast, fastest[x]);
        least[x] = fmin(least[x], path[x] + (s->work[x] - t->work[x]) / rest_speed);
    }
}

/* Work that only the first k processors hold, over their speeds. */
static double memory_bound(const struct tree_setting *s, const uint32_t *holders)
{
    double *work = mem_new_zero(double, s->nprocs + 1), sum = 0, speeds = 0, most = 0;
    for (uint32_t x = 0; x < s->t->n; x++)
        work[holders[x]] += s->t->work[x];
    for (uint32_t k = 1; k <= s->nprocs; k++) {
        sum += work[k];
        speeds += s->speed[k - 1];
        most = fmax(most, sum / speeds);
    }
    free(work);
    return most;
}

/* A hair less than computed: the makespan sums in another order. */
double tree_lower_bound(const struct tree_setting *s)
{
    uint32_t *holders = mem_new(uint32_t, s->t->n);
    double *fastest = fastest_holder(s, holders), *path = mem_new(double, s->t->n);
    double *speed = mem_new(double, s->nprocs), *least = mem_new(double, s->t->n);
    double bound = memory_bound(s, holders);
    for (uint32_t x = 0; x < s->t->n; x++)
        least[x] = INFINITY;
    for (uint32_t q = 0; q < s->nprocs; q++)
        speed[q] = s->speed[q];
    qsort(speed, s->nprocs, sizeof *speed, compare_falling_speeds);
    uint32_t distinct = 0;
    for (uint32_t q = 0; q < s->nprocs; q++)
        if (!distinct || speed[q] != speed[distinct - 1])
            speed[distinct++] = speed[q];
    /* speeds in groups: the bound of a group holds for all its speeds */
    uint32_t groups = distinct < GROUPS ? distinct : GROUPS;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t from = (uint32_t)((uint64_t)g * distinct / groups);
        uint32_t to = (uint32_t)((uint64_t)(g + 1) * distinct / groups);
        chain_bounds(s, speed[to - 1], speed[from], fastest, path, least);
    }
    for (uint32_t x = 0; x < s->t->n; x++)
        bound = fmax(bound, least[x]);
    bound += s->root_transfer;
    free(holders);
    free(fastest);
    free(path);
    free(speed);
    free(least);
    return bound * (1 - 1e-12);
}
