/* The dags on which IC-scheduling was published: AIRSN, Inspiral and SDSS of the DAGMan priority
 * tool (structure as far as it is known: docs/order.md), divide and conquer, and the discrete
 * Laplace transform. */
#include "generate/generators.h"
#include "generate/sketch.h"
#include "base/mem.h"

/* ---- AIRSN ---- */

static const struct option airsn_options[] = {
    {"width", OPTION_INTEGER, "250", NULL, 1, 6000000, "width W: 3 W + handle + 2 tasks"},
    {"handle", OPTION_INTEGER, "21", NULL, 1, SKETCH_TASKS / 10,
     "tasks in the chain that ends in the bottleneck"},
    SKETCH_OPTIONS,
    {0},
};

/* The umbrella of the DAGMan priority tool: a handle that ends in the bottleneck, and two covers.
 *
 *   h ─ h ─ ... ─ h ─┬─▶ first 1 ─┐           ┌─▶ second 1 ─┐
 *       fringe 1 ────┼─▶          ├──▶ join ──┤             ├──▶ join
 *                    └─▶ first W ─┘           └─▶ second W ─┘
 *       fringe W ──────▶
 *
 * Each task of the first cover also waits for its own fringe task. */
static struct workflow *make_airsn(const struct generator_request *r, struct error *err)
{
    uint32_t width = (uint32_t)generator_whole(r, "width");
    uint32_t handle = (uint32_t)generator_whole(r, "handle"), bottleneck = 0;
    if (!sketch_fits(3.0 * width + handle + 2, 5.0 * width + handle, r, "lower width or handle",
                     err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    for (uint32_t i = 0; i < handle; i++) {
        bottleneck = sketch_task(&s, "handle", 1);
        if (i)
            sketch_edge(&s, bottleneck - 1, bottleneck, 1);
    }
    uint32_t fringe = (uint32_t)s.tasks.n;
    for (uint32_t i = 0; i < width; i++)
        sketch_task(&s, "fringe", 1);
    /* two covers: the first behind bottleneck and fringe, the second behind the first's join */
    uint32_t before = NONE;
    for (uint32_t cover = 0; cover < 2; cover++) {
        uint32_t first = (uint32_t)s.tasks.n;
        for (uint32_t i = 0; i < width; i++) {
            sketch_task(&s, cover ? "second" : "first", 1);
            sketch_edge(&s, cover ? before : bottleneck, first + i, 1);
            if (!cover)
                sketch_edge(&s, fringe + i, first + i, 1);
        }
        before = sketch_task(&s, "join", 1);
        for (uint32_t i = 0; i < width; i++)
            sketch_edge(&s, first + i, before, 1);
    }
    return sketch_finish(&s, r, err);
}

const struct generator generator_airsn = {
    .name = "airsn",
    .summary = "AIRSN (functional MRI): a handle, a fringe and two covers, 3 W + handle + 2 tasks",
    .options = airsn_options,
    .workflow = make_airsn,
};

/* ---- Inspiral ---- */

static const struct option inspiral_options[] = {
    {"groups", OPTION_INTEGER, "74", NULL, 1, SKETCH_TASKS / 10, "groups G"},
    {"templates", OPTION_INTEGER, "710", NULL, 1, SKETCH_TASKS / 4,
     "template banks M, shared out evenly: 4 M + 2 G tasks"},
    SKETCH_OPTIONS,
    {0},
};

/* A group, twice the same with another kind of bank; groups do not touch:
 *
 *   TmpltBank ─▶ Inspiral ─┐              ┌─▶ TrigBank ─▶ Inspiral ─┐
 *   TmpltBank ─▶ Inspiral ─┼──▶ Thinca ───┼─▶ TrigBank ─▶ Inspiral ─┼──▶ Thinca
 *   TmpltBank ─▶ Inspiral ─┘              └─▶ TrigBank ─▶ Inspiral ─┘ */
static struct workflow *make_inspiral(const struct generator_request *r, struct error *err)
{
    uint64_t groups = (uint64_t)generator_whole(r, "groups");
    uint64_t templates = (uint64_t)generator_whole(r, "templates");
    if (templates < groups) {
        error_set(err, ERROR_INPUT, "generator 'inspiral': templates must be at least groups");
        return NULL;
    }
    if (!sketch_fits(4.0 * (double)templates + 2.0 * (double)groups, 5.0 * (double)templates, r,
                     "lower templates", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    for (uint64_t g = 0; g < groups; g++) {
        /* shared out evenly: groups differ by one at most */
        uint32_t size = (uint32_t)((g + 1) * templates / groups - g * templates / groups);
        uint32_t before = NONE;
        for (int half = 0; half < 2; half++) {
            uint32_t bank = (uint32_t)s.tasks.n;
            for (uint32_t i = 0; i < size; i++) {
                sketch_task(&s, half ? "TrigBank" : "TmpltBank", 1);
                if (half)
                    sketch_edge(&s, before, bank + i, 1);
            }
            for (uint32_t i = 0; i < size; i++)
                sketch_edge(&s, bank + i, sketch_task(&s, "Inspiral", 1), 1);
            before = sketch_task(&s, "Thinca", 1);
            for (uint32_t i = 0; i < size; i++)
                sketch_edge(&s, bank + size + i, before, 1);
        }
    }
    return sketch_finish(&s, r, err);
}

const struct generator generator_inspiral = {
    .name = "inspiral",
    .summary = "LIGO Inspiral: groups of template banks, inspirals and joins, 4 M + 2 G tasks",
    .options = inspiral_options,
    .workflow = make_inspiral,
};

/* ---- SDSS ---- */

static const struct option sdss_options[] = {
    {"fields", OPTION_INTEGER, "15004", NULL, 1, SKETCH_TASKS / 4, "fields F of a strip of sky"},
    {"coalesces", OPTION_INTEGER, "3000", NULL, 1, SKETCH_TASKS / 4,
     "coalescing tasks C: 3 F + C + 1 tasks"},
    SKETCH_OPTIONS,
    {0},
};

/* A strip of sky: neighbouring searches share their inputs, then coalesce in stretches.
 *
 *   field ─▶ brgSearch ─┬─▶ bcgSearch ─┐
 *   field ─▶ brgSearch ─┼─▶ bcgSearch ─┼─▶ bcgCoalesce ─┐
 *   field ─▶ brgSearch ─┴─▶ bcgSearch ─┘                ├─▶ getCatalog
 *   ...                                   bcgCoalesce ──┘ */
static struct workflow *make_sdss(const struct generator_request *r, struct error *err)
{
    uint64_t fields = (uint64_t)generator_whole(r, "fields");
    uint64_t coalesces = (uint64_t)generator_whole(r, "coalesces");
    if (fields < coalesces) {
        error_set(err, ERROR_INPUT, "generator 'sdss': fields must be at least coalesces");
        return NULL;
    }
    if (!sketch_fits(3.0 * (double)fields + (double)coalesces + 1,
                     5.0 * (double)fields + (double)coalesces, r, "lower fields", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    uint32_t n = (uint32_t)fields;
    for (uint32_t i = 0; i < n; i++)
        sketch_task(&s, "field", 1);
    for (uint32_t i = 0; i < n; i++)
        sketch_edge(&s, i, sketch_task(&s, "brgSearch", 1), 1);
    for (uint32_t i = 0; i < n; i++) {
        /* a search reads its field and the two beside it */
        uint32_t search = sketch_task(&s, "bcgSearch", 1);
        for (uint32_t k = i ? i - 1 : 0; k <= i + 1 && k < n; k++)
            sketch_edge(&s, n + k, search, 1);
    }
    uint32_t first = (uint32_t)s.tasks.n;
    for (uint64_t c = 0; c < coalesces; c++) {
        uint32_t task = sketch_task(&s, "bcgCoalesce", 1);
        for (uint64_t i = c * fields / coalesces; i < (c + 1) * fields / coalesces; i++)
            sketch_edge(&s, 2 * n + (uint32_t)i, task, 1);
    }
    uint32_t catalog = sketch_task(&s, "getCatalog", 1);
    for (uint32_t c = 0; c < coalesces; c++)
        sketch_edge(&s, first + c, catalog, 1);
    return sketch_finish(&s, r, err);
}

const struct generator generator_sdss = {
    .name = "sdss",
    .summary = "SDSS galaxy clusters: fields, searches that need neighbours, coalescing, 3 F + C + "
               "1 tasks",
    .options = sdss_options,
    .workflow = make_sdss,
};

/* ---- divide and conquer ---- */

static const struct option diamond_options[] = {
    {"depth", OPTION_INTEGER, "3", NULL, 1, 60,
     "levels below the root before the conquering starts"},
    {"arity", OPTION_INTEGER, "2", NULL, 2, SKETCH_TASKS, "parts that a task is divided into"},
    SKETCH_OPTIONS,
    {0},
};

/* A tree that opens and its mirror image that closes, joined at the leaves: task t and n - 1 - t
 * are images of each other. */
static struct workflow *make_diamond(const struct generator_request *r, struct error *err)
{
    uint32_t depth = (uint32_t)generator_whole(r, "depth");
    uint32_t arity = (uint32_t)generator_whole(r, "arity");
    /* tasks above the leaves, and leaves: the mirror image shares the latter */
    double row = 1, inner = 0;
    for (uint32_t level = 0; level < depth && inner <= SKETCH_TASKS; level++, row *= arity)
        inner += row;
    if (!sketch_fits(2 * inner + row, 2 * (inner + row), r, "lower depth or arity", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    uint32_t above = (uint32_t)inner, leaves = (uint32_t)row, n = 2 * above + leaves;
    for (uint32_t t = 0; t < n; t++)
        sketch_task(&s, t < above ? "divide" : t < above + leaves ? "leaf" : "conquer", 1);
    for (uint32_t t = 1; t < above + leaves; t++) {
        sketch_edge(&s, (t - 1) / arity, t, 1);
        /* mirrored: the leaves are their own images */
        uint32_t image = t < above ? n - 1 - t : above + leaves - 1 - (t - above);
        sketch_edge(&s, image, n - 1 - (t - 1) / arity, 1);
    }
    return sketch_finish(&s, r, err);
}

const struct generator generator_diamond = {
    .name = "diamond",
    .summary = "divide and conquer: a complete tree and its mirror image, joined at the leaves",
    .options = diamond_options,
    .workflow = make_diamond,
};

/* ---- discrete Laplace transform ---- */

static const struct option laplace_options[] = {
    {"points", OPTION_INTEGER, "8", NULL, 2, SKETCH_TASKS / 16,
     "points P, a power of 2: P (log2 P + 2) - 1 tasks"},
    SKETCH_OPTIONS,
    {0},
};

static struct workflow *make_laplace(const struct generator_request *r, struct error *err)
{
    uint32_t points = (uint32_t)generator_whole(r, "points"), levels = 0;
    while (1u << levels < points)
        levels++;
    if (1u << levels != points) {
        error_set(err, ERROR_INPUT, "generator 'laplace': points=%u is no power of 2", points);
        return NULL;
    }
    double n = (double)points * (levels + 2) - 1;
    if (!sketch_fits(n, 2 * n, r, "lower points", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    /* a parallel prefix (Kogge and Stone): level l adds what stands 2^(l-1) to the left */
    for (uint32_t level = 0; level <= levels; level++)
        for (uint32_t i = 0; i < points; i++) {
            uint32_t t = sketch_task(&s, "prefix", 1);
            if (!level)
                continue;
            sketch_edge(&s, t - points, t, 1);
            if (i >= 1u << (level - 1))
                sketch_edge(&s, t - points - (1u << (level - 1)), t, 1);
        }
    /* the last row of the prefix feeds a binary reduction */
    uint32_t from = levels * points;
    for (uint32_t row = points / 2; row > 0; row /= 2) {
        uint32_t first = (uint32_t)s.tasks.n;
        for (uint32_t i = 0; i < row; i++) {
            uint32_t t = sketch_task(&s, "sum", 1);
            sketch_edge(&s, from + 2 * i, t, 1);
            sketch_edge(&s, from + 2 * i + 1, t, 1);
        }
        from = first;
    }
    return sketch_finish(&s, r, err);
}

const struct generator generator_laplace = {
    .name = "laplace",
    .summary = "discrete Laplace transform: a parallel prefix that feeds a reduction tree",
    .options = laplace_options,
    .workflow = make_laplace,
};
