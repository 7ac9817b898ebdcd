/* A sparse Cholesky factorisation that keeps to a limit of memory, on libweft.
 *
 *     cholmod_start(&common);
 *     struct factor *f = factor_analyze(A, &options, &common, &error);      ordering, fronts, their tree, its plan
 *     factor_compute(f, &error) && factor_solve(f, b, x, &error)
 *     factor_free(f);
 *
 * The method is multifrontal. CHOLMOD orders the matrix and finds its supernodes. Each is a front: a task that
 * gathers what its children left for it, factors its own columns, and leaves the rest to its parent.
 *
 *     child ── contribution ──▶ parent ── contribution ──▶ ...        objects in memory of libweft
 *                                 │
 *                                 └─▶ columns of L                    in memory, or in a file where memory is short
 *
 * Three ways, by how much memory there is:
 *   1. L and the largest stack of contributions fit: everything in memory;
 *   2. only the contributions do: columns of L go to a file as they are made;
 *   3. not even those: contributions that are needed last go to files and come back, as weft_compute() does it.
 * Below what the largest front takes it cannot be done, and factor_analyze() says so (WEFT_INFEASIBLE). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <suitesparse/cholmod.h>
#include <weft/weft.h>

struct factor;

struct factor_options {
    uint32_t threads;   /* [all cores] */
    double memory;      /* bytes for L, fronts and contributions together; 0: no limit */
    const char *folder; /* for files [$TMPDIR, else /tmp] */
    bool disk;          /* columns of L go to a file, whether or not they would fit */
    bool ways;          /* figures of way 2 and 3 as well, where way 1 is taken */
};

struct factor_figures {
    uint32_t rows, fronts;
    double entries;      /* of L with the zeros that supernodes store */
    double operations;   /* floating point */
    double factor_bytes; /* of L */
    double
        least; /* bytes that fronts and contributions take at once in the plan's order (MinMemory) */
    double largest; /* and that the largest front takes with what it reads */
    double least_with_file, largest_with_file; /* the same where L goes to a file; 0: not asked */
    double promise; /* most bytes that the plan allows for everything; INFINITY: no limit */
    double peak;    /* most bytes that there were */
    double evicted; /* bytes of contributions that went to files */
    bool on_disk;   /* L is in a file */
    double analyze_seconds, plan_seconds, compute_seconds, solve_seconds;
};

/* `a`: symmetric and real, its lower half stored (stype -1); it may be freed afterwards. NULL: an error. */
struct factor *factor_analyze(cholmod_sparse *a, const struct factor_options *options,
                              cholmod_common *common, struct weft_error *error);
/* A = P' L L' P. False: `error` says why; a matrix that is not positive definite is WEFT_FAILED. */
bool factor_compute(struct factor *f, struct weft_error *error);
/* A x = b. */
bool factor_solve(struct factor *f, const double *b, double *x, struct weft_error *error);
const struct factor_figures *factor_figures(const struct factor *f);
void factor_free(struct factor *f); /* NULL is fine */

/* ---- on several machines ----
 * Subtrees of fronts as commands with files between them, which `weft run` plans and carries out where it likes:
 *
 *     factor_write_parts(f, folder, work, program, &error)     FOLDER/flow.yaml, FOLDER/analysis
 *     factor_part("7")                                         one of its tasks, in its folder: c<children> -> c7, l7
 *     factor_read_parts(folder, &common, &error)               with every l<N> there: ready for factor_solve() */
bool factor_write_parts(const struct factor *f, const char *folder, double work,
                        const char *program, struct weft_error *error);
int factor_part(uint32_t part, struct weft_error *error);
struct factor *factor_read_parts(const char *folder, cholmod_common *common,
                                 struct weft_error *error);
/* |A x - b| / (|A| |x| + |b|), all in the largest entry, with the matrix of the analysis. */
double factor_residual(const struct factor *f, const double *x, const double *b);
