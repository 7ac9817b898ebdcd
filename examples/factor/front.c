/* One front: gather, factor, leave the rest.
 *
 *          width   border
 *        ┌───────┬────────┐
 *        │ L11   │        │  the columns of L: a panel of `rows` x `width`
 *        ├───────┼────────┤
 *        │ L21   │ A22    │  what is left for the parent, - L21 L21', a square of its own
 *        └───────┴────────┘
 *
 * While several fronts run each has one core. One that runs alone (the top of the tree, or little memory) has the
 * BLAS use all of them; that is looked at before each block, so that a long front notices when it is left alone. */
#include "internal.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double front_large = 2e7; /* operations: a millisecond */

enum {
    BLOCK = 256
}; /* columns: large enough for the BLAS, small enough to look around in between */

/* Threads for the next call of the BLAS. It is one number for all threads: who reads an old one loses a little time.
 * A small front would wait longer for another thread than it would gain. */
static void front_share(struct factor *f, const struct front *s)
{
    bool shared = atomic_load_explicit(&f->running, memory_order_relaxed) > 1;
    bool small = (double)s->width * s->rows * s->rows < front_large;
    int wanted = shared || small ? 1 : (int)f->o.threads;
    if (atomic_load_explicit(&f->blas, memory_order_relaxed) == wanted)
        return;
    atomic_store_explicit(&f->blas, wanted, memory_order_relaxed);
    openblas_set_num_threads(wanted);
}

/* Entries of the matrix into the panel. */
static void front_scatter(const struct factor *f, const struct front *s, double *panel)
{
    const int *start = f->a->p, *row = f->a->i;
    const double *value = f->a->x;
    const uint32_t *index = f->index + s->row;
    for (uint32_t j = 0; j < s->width; j++) {
        double *column = panel + (size_t)j * s->rows;
        uint32_t at = 0; /* both lists rise */
        for (int e = start[s->first + j]; e < start[s->first + j + 1]; e++) {
            while (index[at] != (uint32_t)row[e])
                at++;
            column[at] += value[e];
        }
    }
}

/* What a child left, to where its rows stand here. */
static void front_add(const struct factor *f, const struct front *s, const struct front *child,
                      const double *left, double *panel, double *rest)
{
    const uint32_t *place = f->place + child->row + child->width;
    size_t n = front_border(child), border = front_border(s);
    for (size_t j = 0; j < n; j++) {
        const double *from = left + j * n;
        double *to = place[j] < s->width ? panel + (size_t)place[j] * s->rows
                                         : rest + (place[j] - s->width) * border - s->width;
        for (size_t i = j; i < n; i++)
            to[place[i]] += from[i];
    }
}

/* L11 and L21, block by block; false: not positive definite. */
static bool front_factor(struct factor *f, const struct front *s, double *panel)
{
    int lda = (int)s->rows;
    for (uint32_t k = 0; k < s->width; k += BLOCK) {
        int n = (int)(s->width - k < BLOCK ? s->width - k : BLOCK), info;
        int below = (int)(s->rows - k) - n, right = (int)(s->width - k) - n;
        double *d = panel + (size_t)k * s->rows + k;
        front_share(f, s);
        dpotrf_("L", &n, d, &lda, &info);
        if (info) {
            atomic_store(&f->broken, (int)(s->first + k) + info);
            return false;
        }
        if (below)
            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, below, n,
                        1, d, lda, d + n, lda);
        if (!right)
            continue;
        double *next = d + (size_t)n * s->rows + n;
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, right, n, -1, d + n, lda, 1, next,
                    lda);
        if (below > right)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, below - right, right, n, -1,
                        d + n + right, lda, d + n, lda, 1, next + right, lda);
    }
    return true;
}

/* rest = (children's, if any) - L21 L21', by block columns. */
static void front_update(struct factor *f, const struct front *s, const double *panel, double *rest,
                         bool gathered)
{
    size_t border = front_border(s);
    const double *l = panel + s->width;
    for (size_t j = 0; j < border; j += 2 * BLOCK) {
        size_t n = border - j < 2 * BLOCK ? border - j : 2 * BLOCK, below = border - j - n;
        double *d = rest + j * border + j;
        front_share(f, s);
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)s->width, -1, l + j,
                    (int)s->rows, gathered, d, (int)border);
        if (below)
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)below, (int)n, (int)s->width,
                        -1, l + j + n, (int)s->rows, l + j, (int)s->rows, gathered, d + n,
                        (int)border);
    }
}

static bool front_write(const struct factor *f, const struct front *s, const double *panel)
{
    size_t bytes = front_panel_bytes(s), done = 0;
    for (ssize_t n = 1; n > 0 && done<bytes; done += n> 0 ? (size_t)n : 0)
        n = pwrite(f->file, (const char *)panel + done, bytes - done,
                   (off_t)(s->panel * sizeof(double) + done));
    return done == bytes;
}

int front_compute(struct factor *f, const struct front *s, double *panel, double *rest,
                  const struct front_source *source)
{
    bool gathered = s->child != UINT32_MAX;
    memset(panel, 0, front_panel_bytes(s));
    for (size_t j = 0, n = front_border(s); gathered && j < n; j++)
        memset(rest + j * n + j, 0, (n - j) * sizeof *rest);
    front_scatter(f, s, panel);
    uint32_t input = 0;
    for (uint32_t c = s->child; c != UINT32_MAX; c = f->front[c].sibling) {
        const double *left = source->left(source->context, c, input++);
        if (!left)
            return 2;
        front_add(f, s, &f->front[c], left, panel, rest);
    }
    if (!front_factor(f, s, panel))
        return 1;
    if (rest)
        front_update(f, s, panel, rest, gathered);
    return 0;
}

/* Children are a task's inputs, in their order. */
static const double *front_input(void *task, uint32_t child, uint32_t input)
{
    (void)child;
    return weft_task_in(task, input, NULL);
}

static int front_run(struct factor *f, const struct weft_task *task)
{
    const struct front *s = &f->front[task->number];
    double *panel = f->l ? f->l + s->panel : weft_task_scratch(task, front_panel_bytes(s));
    double *rest = front_border(s) ? weft_task_out(task, 0, front_left_bytes(s)) : NULL;
    if (!panel || (front_border(s) && !rest))
        return 2;
    struct front_source source = {front_input, (void *)task};
    int status = front_compute(f, s, panel, rest, &source);
    return status ? status : f->l || front_write(f, s, panel) ? 0 : 3;
}

int factor_front(const struct weft_task *task)
{
    struct factor *f = task->context;
    if (task->number >= f->fronts) /* the end of several trees */
        return 0;
    atomic_fetch_add(&f->running, 1);
    int status = front_run(f, task);
    atomic_fetch_sub(&f->running, 1);
    return status;
}
