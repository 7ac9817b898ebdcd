/* Simple shapes (fork and join, trees, chains) and the Montage mosaic. Trees are numbered as heaps,
 * so parents and children are arithmetic. */
#include "generate/generators.h"
#include "generate/sketch.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

/* ---- forkjoin ---- */

static const struct option forkjoin_options[] = {
    {"stages", OPTION_INTEGER, "3", NULL, 1, SKETCH_TASKS, "forks one after the other"},
    {"width", OPTION_INTEGER, "10", NULL, 1, SKETCH_TASKS, "tasks between a fork and its join"},
    SKETCH_OPTIONS,
    {0},
};

/* A join is the next stage's fork:
 *
 *           ┌─▶ work ─┐        ┌─▶ work ─┐
 *     fork ─┼─▶ work ─┼─▶ join ┼─▶ work ─┼─▶ join
 *           └─▶ work ─┘        └─▶ work ─┘
 */
static struct workflow *make_forkjoin(const struct generator_request *r, struct error *err)
{
    uint32_t stages = (uint32_t)generator_whole(r, "stages");
    uint32_t width = (uint32_t)generator_whole(r, "width");
    /* a fork, then `width` tasks and a join for every stage */
    double n = 1 + stages * (width + 1.0);
    if (!sketch_fits(n, 2.0 * stages * width, r, "lower stages or width", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    uint32_t fork = sketch_task(&s, "fork", 1);
    for (uint32_t stage = 0; stage < stages; stage++) {
        uint32_t first = (uint32_t)s.tasks.n;
        for (uint32_t i = 0; i < width; i++)
            sketch_edge(&s, fork, sketch_task(&s, "work", 1), 1);
        fork = sketch_task(&s, "join", 1);
        for (uint32_t i = 0; i < width; i++)
            sketch_edge(&s, first + i, fork, 1);
    }
    return sketch_finish(&s, r, err);
}

const struct generator generator_forkjoin = {
    .name = "forkjoin",
    .summary = "stages of parallel tasks with a join between: 1 + stages (width + 1) tasks",
    .options = forkjoin_options,
    .workflow = make_forkjoin,
};

/* ---- trees and chains ---- */

static const struct option tree_options[] = {
    {"depth", OPTION_INTEGER, "5", NULL, 1, SKETCH_TASKS, "levels of a complete tree"},
    {"arity", OPTION_INTEGER, "2", NULL, 1, SKETCH_TASKS, "children of a node"},
    {"n", OPTION_INTEGER, "0", NULL, 0, SKETCH_TASKS,
     "tasks instead of depth; the last level may be incomplete"},
    SKETCH_OPTIONS,
    {0},
};

/* Numbered as a heap: the parent of t is (t - 1) / arity. */
static struct workflow *make_tree(const struct generator_request *r, bool in, struct error *err)
{
    uint32_t arity = (uint32_t)generator_whole(r, "arity");
    double n = generator_real(r, "n");
    if (n == 0) {
        double row = 1, depth = generator_real(r, "depth");
        for (double level = 0; level < depth && n <= SKETCH_TASKS; level++, row *= arity)
            n += row;
    }
    if (!sketch_fits(n, n, r, "lower depth or arity", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    uint32_t count = (uint32_t)n;
    for (uint32_t t = 0; t < count; t++)
        sketch_task(&s, NULL, 1);
    for (uint32_t t = 1; t < count; t++) {
        uint32_t parent = (t - 1) / arity;
        if (in) /* mirrored, so that tasks are numbered from the leaves to the root */
            sketch_edge(&s, count - 1 - t, count - 1 - parent, 1);
        else
            sketch_edge(&s, parent, t, 1);
    }
    return sketch_finish(&s, r, err);
}

static struct workflow *make_intree(const struct generator_request *r, struct error *err)
{
    return make_tree(r, true, err);
}

static struct workflow *make_outtree(const struct generator_request *r, struct error *err)
{
    return make_tree(r, false, err);
}

const struct generator generator_intree = {
    .name = "intree",
    .summary = "reduction: a tree from its leaves to its root",
    .options = tree_options,
    .workflow = make_intree,
};

const struct generator generator_outtree = {
    .name = "outtree",
    .summary = "a tree from its root to its leaves",
    .options = tree_options,
    .workflow = make_outtree,
};

static const struct option chain_options[] = {
    {"n", OPTION_INTEGER, "10", NULL, 1, SKETCH_TASKS, "tasks"},
    SKETCH_OPTIONS,
    {0},
};

static struct workflow *make_chain(const struct generator_request *r, struct error *err)
{
    uint32_t n = (uint32_t)generator_whole(r, "n");
    struct sketch s;
    sketch_init(&s, r);
    for (uint32_t t = 0; t < n; t++) {
        sketch_task(&s, NULL, 1);
        if (t)
            sketch_edge(&s, t - 1, t, 1);
    }
    return sketch_finish(&s, r, err);
}

const struct generator generator_chain = {
    .name = "chain",
    .summary = "tasks one after the other",
    .options = chain_options,
    .workflow = make_chain,
};

/* ---- montage ---- */

static const struct option montage_options[] = {
    {"images", OPTION_INTEGER, "12", NULL, 2, 4000000, "images X: 2 X + Y + 6 tasks"},
    {"diffs", OPTION_INTEGER, "0", NULL, 0, SKETCH_TASKS,
     "overlaps Y of two images, drawn at random; 0: neighbours in a square mosaic, diagonals too"},
    {"add-reads", OPTION_BOOL, "yes", NULL, 0, 0,
     "mAdd also reads the corrected images (shortcut edges)"},
    SKETCH_OPTIONS,
    {0},
};

/* Neighbours in a mosaic of rows of `cols` images, each pair once. Returns the number; fills
 * `pairs` if not NULL. */
static uint64_t mosaic_pairs(uint32_t images, uint32_t cols, uint32_t *pairs)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < images; i++) {
        uint32_t col = i % cols;
        uint32_t near[4] = {i + 1, i + cols - 1, i + cols, i + cols + 1};
        bool there[4] = {col + 1 < cols, col > 0 && cols > 1, true, col + 1 < cols};
        for (int k = 0; k < 4; k++) {
            if (!there[k] || near[k] >= images)
                continue;
            if (pairs) {
                pairs[2 * count] = i;
                pairs[2 * count + 1] = near[k];
            }
            count++;
        }
    }
    return count;
}

/* The tasks of a mosaic in the order of the real workflow: project, compare overlaps, model the
 * background, correct, add, shrink. */
static void draw_montage(struct sketch *s, uint32_t images, const uint32_t *pairs, uint64_t diffs,
                         bool add_reads)
{
    /* Relative costs of the kinds follow the published profile of a 2-degree mosaic: projecting and
     * correcting an image, and adding them all, are what takes long; only image files are large. */
    const double picture = 1, table = 0.01;
    for (uint32_t i = 0; i < images; i++)
        sketch_task(s, "mProject", 1);
    uint32_t diff = (uint32_t)s->tasks.n;
    for (uint64_t d = 0; d < diffs; d++) {
        sketch_task(s, "mDiffFit", 0.3);
        sketch_edge(s, pairs[2 * d], diff + (uint32_t)d, picture);
        sketch_edge(s, pairs[2 * d + 1], diff + (uint32_t)d, picture);
    }
    uint32_t concat = sketch_task(s, "mConcatFit", 1);
    for (uint64_t d = 0; d < diffs; d++)
        sketch_edge(s, diff + (uint32_t)d, concat, table);
    uint32_t model = sketch_task(s, "mBgModel", 2);
    sketch_edge(s, concat, model, table);
    uint32_t background = (uint32_t)s->tasks.n;
    for (uint32_t i = 0; i < images; i++) {
        sketch_task(s, "mBackground", 0.5);
        sketch_edge(s, model, background + i, table);
        sketch_edge(s, i, background + i, picture);
    }
    uint32_t imgtbl = sketch_task(s, "mImgTbl", 0.5), add = sketch_task(s, "mAdd", 4);
    for (uint32_t i = 0; i < images; i++) {
        sketch_edge(s, background + i, imgtbl, picture);
        if (add_reads)
            sketch_edge(s, background + i, add, picture);
    }
    uint32_t shrink = sketch_task(s, "mShrink", 1), jpeg = sketch_task(s, "mJPEG", 0.5);
    sketch_edge(s, imgtbl, add, table);
    sketch_edge(s, add, shrink, picture);
    sketch_edge(s, shrink, jpeg, picture);
}

static struct workflow *make_montage(const struct generator_request *r, struct error *err)
{
    uint32_t images = (uint32_t)generator_whole(r, "images");
    uint64_t diffs = (uint64_t)generator_whole(r, "diffs"),
             all = (uint64_t)images * (images - 1) / 2;
    /* the smallest square that holds all images */
    uint32_t cols = 1;
    while ((uint64_t)cols * cols < images)
        cols++;
    bool mosaic = diffs == 0;
    if (mosaic)
        diffs = mosaic_pairs(images, cols, NULL);
    if (diffs > all) {
        error_set(err, ERROR_INPUT,
                  "generator 'montage': diffs=%llu is more than the %llu pairs of %u images",
                  (unsigned long long)diffs, (unsigned long long)all, images);
        return NULL;
    }
    if (!sketch_fits(2.0 * images + (double)diffs + 6, 4.0 * images + 3.0 * (double)diffs, r,
                     "lower images or diffs", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    s.outputs = true;
    uint32_t *pairs;
    if (mosaic) {
        pairs = mem_new(uint32_t, 2 * diffs + 1);
        mosaic_pairs(images, cols, pairs);
    } else {
        pairs = sketch_pairs(&s.rng, images, diffs);
    }
    draw_montage(&s, images, pairs, diffs, generator_flag(r, "add-reads"));
    free(pairs);
    return sketch_finish(&s, r, err);
}

const struct generator generator_montage = {
    .name = "montage",
    .summary = "Montage astronomy mosaic: X images, Y overlaps, 2 X + Y + 6 tasks",
    .options = montage_options,
    .workflow = make_montage,
};
