/* Random trees from Pruefer sequences, in the eight categories of HetPart's Table 1.
 *
 * The published generator reads the table so: "mean" is a range from which one base per tree is
 * drawn, "stddev" the half-width of the uniform draw around it per task; makespan weights are
 * uniform reals per task; the root is any node, numbered breadth first. The tree points away from
 * its root: f_i arrives from the parent. The root's own f is an input of the workflow,
 * "root-input", as in the published files. */
#include "generate/generators.h"
#include "generate/sketch.h"
#include "base/mem.h"
#include "model/builder.h"

#include <stdio.h>
#include <string.h>

/* low to high for a tree's base, +- spread for a task around it. */
struct range {
    uint32_t low, high, spread;
};

static const struct category {
    const char *name;
    uint32_t fanout, fanout_spread; /* 0: uniform labels */
    struct range memory, file;
    double work_low, work_high;
} categories[] = {
    {"random", 0, 0, {11, 200, 10}, {1000, 5000, 500}, 0.01, 0.9},
    {"large-all", 0, 0, {1100, 20000, 1000}, {100000, 500000, 50000}, 1, 90},
    {"small-all", 0, 0, {1, 20, 1}, {100, 500, 5}, 0.001, 0.09},
    {"large-m", 0, 0, {1100, 20000, 1000}, {1000, 5000, 500}, 0.01, 0.9},
    {"large-w", 0, 0, {11, 200, 10}, {1000, 5000, 500}, 1, 90},
    {"large-f", 0, 0, {11, 200, 10}, {100000, 500000, 50000}, 0.01, 0.9},
    {"fanout3", 3, 1, {11, 200, 10}, {1000, 5000, 500}, 0.01, 0.9},
    {"fanout20", 20, 4, {11, 200, 10}, {1000, 5000, 500}, 0.01, 0.9},
};

static const struct option prufer_options[] = {
    {"n", OPTION_INTEGER, "2000", NULL, 1, SKETCH_TASKS, "tasks"},
    {"category", OPTION_CHOICE, "random",
     "random|large-all|small-all|large-m|large-w|large-f|fanout3|fanout20", 0, 0,
     "row of Table 1: which weights are large or small, or the mean fanout"},
    {0},
};

/* n - 2 labels 0 .. n-1. With a fanout k +- d, label 0, 1, 2 ... each comes k + U{-d .. d} times,
 * in random order. */
static uint32_t *draw_sequence(struct rng *rng, uint32_t n, const struct category *c)
{
    uint32_t length = n > 2 ? n - 2 : 0;
    uint32_t *sequence = mem_new(uint32_t, length + 1);
    if (c->fanout == 0) {
        for (uint32_t i = 0; i < length; i++)
            sequence[i] = (uint32_t)rng_below(rng, n);
        return sequence;
    }
    for (uint32_t i = 0, label = 0; i < length; label++) {
        uint64_t times = c->fanout - c->fanout_spread + rng_below(rng, 2 * c->fanout_spread + 1);
        for (; times && i < length; times--)
            sequence[i++] = label;
    }
    for (uint32_t i = length; i > 1; i--) {
        uint32_t j = (uint32_t)rng_below(rng, i), swap = sequence[i - 1];
        sequence[i - 1] = sequence[j];
        sequence[j] = swap;
    }
    return sequence;
}

/* The n - 1 edges of the tree, by the linear-time decoding: the smallest leaf moves up, except when
 * removing an edge makes a smaller one. */
static uint32_t *prufer_decode(const uint32_t *sequence, uint32_t n)
{
    uint32_t *degree = mem_new(uint32_t, n), *edges = mem_new(uint32_t, 2 * (size_t)n);
    for (uint32_t v = 0; v < n; v++)
        degree[v] = 1;
    for (uint32_t i = 0; i + 2 < n; i++)
        degree[sequence[i]]++;
    uint32_t pointer = 0;
    while (degree[pointer] != 1)
        pointer++;
    uint32_t leaf = pointer;
    for (uint32_t i = 0; i + 2 < n; i++) {
        uint32_t v = sequence[i];
        edges[2 * i] = leaf;
        edges[2 * i + 1] = v;
        if (--degree[v] == 1 && v < pointer) {
            leaf = v;
        } else {
            do
                pointer++;
            while (degree[pointer] != 1);
            leaf = pointer;
        }
    }
    edges[2 * (n - 2)] = leaf;
    edges[2 * (n - 2) + 1] = n - 1;
    free(degree);
    return edges;
}

/* parent[i] of the tree renumbered breadth first from `root`, which becomes 0 (its parent: NONE).
 */
static uint32_t *breadth_first(const uint32_t *edges, uint32_t n, uint32_t root)
{
    uint32_t *offset = mem_new_zero(uint32_t, n + 1), *near = mem_new(uint32_t, 2 * (size_t)n);
    for (size_t e = 0; e < 2 * ((size_t)n - 1); e++)
        offset[edges[e] + 1]++;
    for (uint32_t v = 0; v < n; v++)
        offset[v + 1] += offset[v];
    uint32_t *fill = mem_new(uint32_t, n);
    memcpy(fill, offset, n * sizeof *fill);
    for (size_t e = 0; e + 1 < n; e++) {
        uint32_t a = edges[2 * e], b = edges[2 * e + 1];
        near[fill[a]++] = b;
        near[fill[b]++] = a;
    }
    uint32_t *queue = fill, *parent = mem_new(uint32_t, n), *from = mem_new(uint32_t, n);
    uint32_t tail = 1;
    queue[0] = root;
    from[root] = NONE;
    parent[0] = NONE;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t v = queue[head];
        for (uint32_t k = offset[v]; k < offset[v + 1]; k++) {
            if (near[k] == from[v])
                continue;
            from[near[k]] = v;
            parent[tail] = head;
            queue[tail++] = near[k];
        }
    }
    free(offset);
    free(near);
    free(queue);
    free(from);
    return parent;
}

static uint32_t *draw_tree(struct rng *rng, uint32_t n, const struct category *c)
{
    if (n == 1) {
        uint32_t *parent = mem_new(uint32_t, 1);
        parent[0] = NONE;
        return parent;
    }
    uint32_t *sequence = draw_sequence(rng, n, c), *edges = prufer_decode(sequence, n);
    free(sequence);
    uint32_t *parent = breadth_first(edges, n, (uint32_t)rng_below(rng, n));
    free(edges);
    return parent;
}

/* One base a tree: trees of a category differ more than tasks of a tree. */
static double draw_base(struct rng *rng, const struct range *range)
{
    return range->low + (double)rng_below(rng, range->high - range->low + 1);
}

static double prufer_draw_around(struct rng *rng, double base, const struct range *range)
{
    return base - range->spread + (double)rng_below(rng, 2 * range->spread + 1);
}

static struct workflow *make_prufer(const struct generator_request *r, struct error *err)
{
    uint32_t n = (uint32_t)generator_whole(r, "n");
    const struct category *c = categories;
    while (strcmp(c->name, generator_text(r, "category")) != 0)
        c++;
    struct rng rng;
    rng_seed(&rng, r->seed);
    uint32_t *parent = draw_tree(&rng, n, c);
    /* the tree's own bases, before any task is drawn */
    double memory = draw_base(&rng, &c->memory), file = draw_base(&rng, &c->file);

    struct builder *b = builder_new("<generated>", "prufer");
    char name[64];
    int len = snprintf(name, sizeof name, "prufer-%s", c->name);
    builder_name(b, name, (size_t)len);
    builder_expect(b, n, n);
    for (uint32_t i = 0; i < n; i++) {
        len = snprintf(name, sizeof name, "t%u", i + 1);
        uint32_t task = builder_task(b, name, (size_t)len, 0);
        builder_memory(b, task, prufer_draw_around(&rng, memory, &c->memory), 0);
        builder_work(b, task, sketch_round(rng_uniform(&rng, c->work_low, c->work_high)), 0);
        double size = prufer_draw_around(&rng, file, &c->file);
        if (parent[i] != NONE) {
            builder_data_edge(b, parent[i], task, size, 0);
        } else {
            uint32_t input = builder_object(b, "root-input", strlen("root-input"));
            builder_size(b, input, size, 0);
            builder_consumes(b, task, input, 0);
        }
    }
    free(parent);
    return builder_finish(b, err);
}

const struct generator generator_prufer = {
    .name = "prufer",
    .summary = "random tree from a Pruefer sequence, in the categories of HetPart's Table 1",
    .options = prufer_options,
    .workflow = make_prufer,
};
