/* What the files of the factorisation share. */
#pragma once
#include "factor.h"
#include <stdatomic.h>

/* Of OpenBLAS, whose headers do not declare LAPACK. */
void openblas_set_num_threads(int threads);
void dpotrf_(const char *half, const int *n, double *a, const int *lda, int *info);

/* A front: the columns first .. first + width - 1 of L, in `rows` rows of which the first `width` are those columns. */
struct front {
    uint32_t first, width, rows;
    uint32_t row;    /* its rows in `index`, and where they stand in its parent in `place` */
    uint32_t parent; /* UINT32_MAX: none */
    uint32_t child, sibling; /* lists; UINT32_MAX: the end */
    uint64_t panel;          /* its columns in L, in doubles */
};

struct factor {
    struct factor_options o;
    struct factor_figures figures;
    cholmod_common *common;
    cholmod_sparse *a; /* permuted, lower, sorted */
    int *order;        /* row i of it is row order[i] of the matrix */
    struct front *front;
    uint32_t fronts;
    uint32_t *index, *place; /* of struct front */
    double *l;               /* NULL: it is in `file` */
    int file;
    double budget; /* bytes for fronts and contributions; 0: no limit */
    struct weft_workflow *flow;
    _Atomic int running, blas; /* fronts at work; threads that the BLAS was told last */
    _Atomic int broken;        /* 1 + a column at which the matrix is not positive definite */
};

/* The tree of fronts as a workflow, task i being front i; NULL: an error. `scratch`: fronts hold their columns while
 * they run. */
struct weft_workflow *factor_tree(const struct factor *f, bool scratch, struct weft_error *error);
/* Where a front finds what a child left for it; NULL: it cannot be had. `input`: the how manieth child it is. */
struct front_source {
    const double *(*left)(void *context, uint32_t child, uint32_t input);
    void *context;
};
/* Gather, factor, leave the rest (NULL: there is none). 0; 1: not positive definite; 2: a child's part is missing. */
int front_compute(struct factor *f, const struct front *s, double *panel, double *rest,
                  const struct front_source *source);
/* A front's task; the context is the factor. */
int factor_front(const struct weft_task *task);
bool factor_failed(struct weft_error *error, enum weft_status status, const char *text);

static inline size_t front_border(const struct front *s)
{
    return s->rows - s->width;
}
static inline size_t front_panel_bytes(const struct front *s)
{
    return sizeof(double) * s->rows * s->width;
}
/* What it leaves to its parent: a square of which the lower half is used. */
static inline size_t front_left_bytes(const struct front *s)
{
    return sizeof(double) * front_border(s) * front_border(s);
}
