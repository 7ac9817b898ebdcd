/* The factorisation itself, by weft_compute(), and the solution of A x = b with it. */
#include "internal.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double factor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *factor_folder(const struct factor *f)
{
    const char *given = f->o.folder ? f->o.folder : getenv("TMPDIR");
    return given && *given ? given : "/tmp";
}

/* Room for L: memory, or a file that is gone when this process is. */
static bool factor_make_room(struct factor *f, struct weft_error *error)
{
    char name[4096], text[4200];
    size_t bytes = (size_t)f->figures.factor_bytes;
    if (!f->figures.on_disk) {
        f->l = f->l ? f->l : aligned_alloc(64, (bytes + 127) / 64 * 64);
        return f->l || factor_failed(error, WEFT_NO_MEMORY, "no memory for the factor");
    }
    snprintf(name, sizeof name, "%s/weft-factor-XXXXXX", factor_folder(f));
    f->file = f->file >= 0 ? f->file : mkstemp(name);
    if (f->file >= 0) {
        unlink(name);
        return true;
    }
    snprintf(text, sizeof text, "%s: %s", name, strerror(errno));
    return factor_failed(error, WEFT_FAILED, text);
}

bool factor_compute(struct factor *f, struct weft_error *error)
{
    struct weft_compute_figures figures = {0};
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    double start = factor_seconds();
    if (!factor_make_room(f, error))
        return false;
    o.threads = f->o.threads;
    o.functions = (struct weft_function[]){{"front", factor_front}, {NULL, NULL}};
    o.context = f;
    o.memory = f->budget;
    o.folder = f->o.folder;
    openblas_set_num_threads((int)f->o.threads); /* so that it has them */
    atomic_store(&f->blas, (int)f->o.threads);
    atomic_store(&f->running, 0);
    atomic_store(&f->broken, 0);
    bool good = weft_compute(f->flow, &o, &figures, error);
    openblas_set_num_threads(1);
    f->figures.compute_seconds = factor_seconds() - start;
    f->figures.peak = figures.peak + (f->l ? f->figures.factor_bytes : 0);
    f->figures.evicted = figures.evicted;
    int column = atomic_load(&f->broken);
    if (good || !column)
        return good;
    char text[120];
    snprintf(text, sizeof text, "the matrix is not positive definite (row %d)",
             f->order[column - 1] + 1);
    return factor_failed(error, WEFT_FAILED, text);
}

/* ---- solving ---- */

/* The columns of a front: where they are, or read into `room`. NULL: they cannot be read. */
static const double *solve_panel(const struct factor *f, const struct front *s, double *room)
{
    if (f->l)
        return f->l + s->panel;
    size_t bytes = front_panel_bytes(s), done = 0;
    for (ssize_t n = 1; n > 0 && done<bytes; done += n> 0 ? (size_t)n : 0)
        n = pread(f->file, (char *)room + done, bytes - done,
                  (off_t)(s->panel * sizeof(double) + done));
    return done == bytes ? room : NULL;
}

/* L y = y, then, from the last front to the first, L' y = y; `w`: as many numbers as the largest front has rows. */
static bool solve_front(const struct factor *f, const struct front *s, bool back, double *y,
                        double *w, double *room)
{
    const double *l = solve_panel(f, s, room);
    const uint32_t *row = f->index + s->row + s->width;
    int n = (int)s->width, border = (int)front_border(s), lda = (int)s->rows;
    if (!l)
        return false;
    if (!back) {
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, l, lda, y + s->first,
                    1);
        if (border)
            cblas_dgemv(CblasColMajor, CblasNoTrans, border, n, 1, l + n, lda, y + s->first, 1, 0,
                        w, 1);
        for (int i = 0; i < border; i++)
            y[row[i]] -= w[i];
        return true;
    }
    for (int i = 0; i < border; i++)
        w[i] = y[row[i]];
    if (border)
        cblas_dgemv(CblasColMajor, CblasTrans, border, n, -1, l + n, lda, w, 1, 1, y + s->first, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, l, lda, y + s->first, 1);
    return true;
}

bool factor_solve(struct factor *f, const double *b, double *x, struct weft_error *error)
{
    double start = factor_seconds();
    size_t rows = 1, panel = 1, n = f->figures.rows;
    for (uint32_t s = 0; s < f->fronts; s++) {
        size_t bytes = front_panel_bytes(&f->front[s]);
        rows = rows > f->front[s].rows ? rows : f->front[s].rows;
        panel = panel > bytes ? panel : bytes;
    }
    double *y = malloc((n + 1) * sizeof *y), *w = malloc(rows * sizeof *w);
    double *room = f->l ? NULL : malloc(panel);
    bool memory = y && w && (f->l || room), good = memory;
    for (size_t i = 0; good && i < n; i++)
        y[i] = b[f->order[i]];
    for (uint32_t s = 0; good && s < f->fronts; s++)
        good = solve_front(f, &f->front[s], false, y, w, room);
    for (uint32_t s = f->fronts; good && s--;)
        good = solve_front(f, &f->front[s], true, y, w, room);
    for (size_t i = 0; good && i < n; i++)
        x[f->order[i]] = y[i];
    free(y);
    free(w);
    free(room);
    f->figures.solve_seconds = factor_seconds() - start;
    return good || factor_failed(error, memory ? WEFT_FAILED : WEFT_NO_MEMORY,
                                 memory ? "the file of the factor cannot be read"
                                        : "no memory for the solution");
}

const struct factor_figures *factor_figures(const struct factor *f)
{
    return &f->figures;
}

void factor_free(struct factor *f)
{
    if (!f)
        return;
    weft_workflow_free(f->flow);
    cholmod_free_sparse(&f->a, f->common);
    if (f->file >= 0)
        close(f->file);
    free(f->order);
    free(f->front);
    free(f->index);
    free(f->place);
    free(f->l);
    free(f);
}
