/* Graphs of numerical algorithms: FFT, Gaussian elimination, tiled Cholesky, stencils. Each keeps
 * the last writer of every column or tile, and an update comes after it: the data flow of the
 * algorithm, not a list of edges. */
#include "generate/generators.h"
#include "generate/sketch.h"
#include "base/mem.h"

#include <string.h>

#define PROPORTIONAL                                                                               \
    {                                                                                              \
        "proportional", OPTION_BOOL, "yes", NULL, 0, 0,                                            \
            "tasks cost as in the real algorithm, relative to each other; no: all drawn alike"     \
    }

/* ---- fft ---- */

static const struct option fft_options[] = {
    {"points", OPTION_INTEGER, "16", NULL, 2, 1 << 20, "points of the transform, a power of two"},
    {"calls", OPTION_BOOL, "yes", NULL, 0, 0,
     "with the tree of recursive calls above the butterfly, as in the HEFT paper"},
    SKETCH_OPTIONS,
    {0},
};

/* Stage s joins points whose numbers differ in bit s; above the butterflies, the tree of calls.
 *
 *   call ─┬─ call ─┬─ ...        butterfly i of a row reads i and i xor 2^s of the row above
 *         └─ call ─┴─ ... */
static struct workflow *make_fft(const struct generator_request *r, struct error *err)
{
    uint32_t points = (uint32_t)generator_whole(r, "points"), stages = 0;
    if (points & (points - 1)) {
        error_set(err, ERROR_INPUT, "generator 'fft': points=%u is not a power of two; try %u",
                  points, 1u << (31 - __builtin_clz(points)));
        return NULL;
    }
    /* log2 of the points: one row of butterflies each */
    while (1u << stages < points)
        stages++;
    double n = points;
    if (!sketch_fits(n * (stages + 2), 2 * n * (stages + 1), r, "lower points", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    uint32_t row = 0; /* first task of the row above the next stage */
    if (generator_flag(r, "calls")) {
        /* a complete binary tree in breadth-first numbers: its last row has a leaf a point */
        for (uint32_t t = 0; t < 2 * points - 1; t++) {
            sketch_task(&s, "call", 1);
            if (t)
                sketch_edge(&s, (t - 1) / 2, t, 1);
        }
        row = points - 1;
    } else {
        for (uint32_t i = 0; i < points; i++)
            sketch_task(&s, "butterfly", 1);
    }
    for (uint32_t stage = 0; stage < stages; stage++) {
        uint32_t next = (uint32_t)s.tasks.n;
        for (uint32_t i = 0; i < points; i++) {
            sketch_task(&s, "butterfly", 1);
            sketch_edge(&s, row + i, next + i, 1);
            sketch_edge(&s, row + (i ^ 1u << stage), next + i, 1);
        }
        row = next;
    }
    return sketch_finish(&s, r, err);
}

const struct generator generator_fft = {
    .name = "fft",
    .summary = "fast Fourier transform: 2 points - 1 calls and points x log2(points) butterflies",
    .options = fft_options,
    .workflow = make_fft,
};

/* ---- gauss ---- */

static const struct option gauss_options[] = {
    {"size", OPTION_INTEGER, "10", NULL, 2, 6000,
     "rows of the matrix: (size^2 + size - 2) / 2 tasks"},
    PROPORTIONAL,
    SKETCH_OPTIONS,
    {0},
};

/* Step k: one pivot in column k, then an update of every column to its right. */
static struct workflow *make_gauss(const struct generator_request *r, struct error *err)
{
    uint32_t size = (uint32_t)generator_whole(r, "size");
    bool proportional = generator_flag(r, "proportional");
    /* pivots and updates of columns, as the HEFT paper counts them */
    double n = ((double)size * size + size - 2) / 2;
    if (!sketch_fits(n, 2 * n, r, "lower size", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    uint32_t *column = mem_new(uint32_t, size + 1); /* the task that last wrote column j */
    for (uint32_t k = 1; k < size; k++) {
        /* rows that are left: what a pivot searches and an update changes */
        double rest = proportional ? size - k : 1;
        uint32_t pivot = sketch_task(&s, "pivot", rest);
        if (k > 1)
            sketch_edge(&s, column[k], pivot, rest);
        for (uint32_t j = k + 1; j <= size; j++) {
            uint32_t update = sketch_task(&s, "update", proportional ? 2 * rest : 1);
            sketch_edge(&s, pivot, update, rest);
            if (k > 1)
                sketch_edge(&s, column[j], update, rest);
            column[j] = update;
        }
    }
    free(column);
    return sketch_finish(&s, r, err);
}

const struct generator generator_gauss = {
    .name = "gauss",
    .summary = "Gaussian elimination by columns",
    .options = gauss_options,
    .workflow = make_gauss,
};

/* ---- cholesky ---- */

static const struct option cholesky_options[] = {
    {"tiles", OPTION_INTEGER, "5", NULL, 1, 490,
     "tiles in a row of the matrix: tiles (tiles + 1) (tiles + 2) / 6 tasks"},
    PROPORTIONAL,
    SKETCH_OPTIONS,
    {0},
};

/* A task that updates tile (i, j): after the tile's last writer, which it replaces. */
static uint32_t tile_task(struct sketch *s, uint32_t *writer, const char *kind, double weight)
{
    uint32_t task = sketch_task(s, kind, weight);
    if (*writer != NONE)
        sketch_edge(s, *writer, task, 1);
    *writer = task;
    return task;
}

/* For every k: factor the diagonal tile, solve the tiles below it, update what is right of them.
 *
 *   potrf(k,k) ─▶ trsm(i,k) ─┬─▶ syrk(i,i)
 *                            └─▶ gemm(i,j)    with trsm(j,k) */
static struct workflow *make_cholesky(const struct generator_request *r, struct error *err)
{
    uint32_t tiles = (uint32_t)generator_whole(r, "tiles");
    double n = (double)tiles * (tiles + 1) * (tiles + 2) / 6;
    if (!sketch_fits(n, 3 * n, r, "lower tiles", err))
        return NULL;
    /* operations of each kernel on tiles of b x b, in units of b^3 */
    bool proportional = generator_flag(r, "proportional");
    double potrf = proportional ? 1.0 / 3 : 1, gemm = proportional ? 2 : 1;
    struct sketch s;
    sketch_init(&s, r);
    size_t cells = (size_t)tiles * tiles;
    uint32_t *writer = mem_new(uint32_t, cells);
    memset(writer, 0xff, cells * sizeof *writer);
    for (uint32_t k = 0; k < tiles; k++) {
        uint32_t factor = tile_task(&s, &writer[k * tiles + k], "potrf", potrf);
        for (uint32_t i = k + 1; i < tiles; i++) {
            uint32_t solve = tile_task(&s, &writer[i * tiles + k], "trsm", 1);
            sketch_edge(&s, factor, solve, 1);
        }
        for (uint32_t i = k + 1; i < tiles; i++) {
            uint32_t left = writer[i * tiles + k];
            for (uint32_t j = k + 1; j < i; j++) {
                uint32_t multiply = tile_task(&s, &writer[i * tiles + j], "gemm", gemm);
                sketch_edge(&s, left, multiply, 1);
                sketch_edge(&s, writer[j * tiles + k], multiply, 1);
            }
            uint32_t update = tile_task(&s, &writer[i * tiles + i], "syrk", 1);
            sketch_edge(&s, left, update, 1);
        }
    }
    free(writer);
    return sketch_finish(&s, r, err);
}

const struct generator generator_cholesky = {
    .name = "cholesky",
    .summary = "tiled Cholesky factorisation (potrf, trsm, syrk, gemm)",
    .options = cholesky_options,
    .workflow = make_cholesky,
};

/* ---- stencil ---- */

static const struct option stencil_options[] = {
    {"rows", OPTION_INTEGER, "8", NULL, 1, SKETCH_TASKS, "rows, steps, or levels of a mesh"},
    {"cols", OPTION_INTEGER, "8", NULL, 1, SKETCH_TASKS, "columns (not for meshes)"},
    {"shape", OPTION_CHOICE, "wavefront", "wavefront|steps|out-mesh|in-mesh", 0, 0,
     "wavefront: after the cells above and left; steps: a row a step, after three neighbours; "
     "meshes: triangles"},
    SKETCH_OPTIONS,
    {0},
};

/* Row by row: a cell's number less `cols` is the cell above it. */
static void draw_rectangle(struct sketch *s, uint32_t rows, uint32_t cols, bool steps)
{
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t col = 0; col < cols; col++) {
            uint32_t cell = sketch_task(s, NULL, 1);
            if (row && steps && col)
                sketch_edge(s, cell - cols - 1, cell, 1);
            if (row)
                sketch_edge(s, cell - cols, cell, 1);
            if (row && steps && col + 1 < cols)
                sketch_edge(s, cell - cols + 1, cell, 1);
            if (!steps && col)
                sketch_edge(s, cell - 1, cell, 1);
        }
}

/* Level l has l + 1 tasks, each before two of the next level; the in-mesh is its mirror image. */
static void draw_mesh(struct sketch *s, uint32_t levels, bool in)
{
    uint32_t n = (uint32_t)((uint64_t)levels * (levels + 1) / 2), task = 0;
    for (uint32_t t = 0; t < n; t++)
        sketch_task(s, NULL, 1);
    for (uint32_t level = 0; level + 1 < levels; level++)
        for (uint32_t i = 0; i <= level; i++, task++)
            for (uint32_t side = 0; side < 2; side++) {
                uint32_t below = task + level + 1 + side;
                if (in)
                    sketch_edge(s, n - 1 - below, n - 1 - task, 1);
                else
                    sketch_edge(s, task, below, 1);
            }
}

static struct workflow *make_stencil(const struct generator_request *r, struct error *err)
{
    uint32_t rows = (uint32_t)generator_whole(r, "rows");
    uint32_t cols = (uint32_t)generator_whole(r, "cols");
    const char *shape = generator_text(r, "shape");
    /* both meshes are triangles; the others rectangles */
    bool mesh = strstr(shape, "mesh"), steps = strcmp(shape, "steps") == 0;
    double n = mesh ? (double)rows * (rows + 1.0) / 2 : (double)rows * cols;
    if (!sketch_fits(n, (steps ? 3 : 2) * n, r, "lower rows or cols", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    if (mesh)
        draw_mesh(&s, rows, strcmp(shape, "in-mesh") == 0);
    else
        draw_rectangle(&s, rows, cols, steps);
    return sketch_finish(&s, r, err);
}

const struct generator generator_stencil = {
    .name = "stencil",
    .summary = "wavefront over a grid, stencil steps, or a triangular mesh",
    .options = stencil_options,
    .workflow = make_stencil,
};
