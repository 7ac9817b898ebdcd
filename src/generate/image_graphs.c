/* Program graphs of an image-processing course, drawn: shapes first (how many tasks and
 * dependencies, exact on average over all), then each graph from its own seed. */
#include "generate/image_graphs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The paper gives the average only; these keep single graphs within what a course would set. */
enum { LEAST_TASKS = 5, MOST_TASKS = 40 };

/* How like a chain a graph is: set so that the parallelism is about that of the paper's Figure 6.
 */
static const double continues_often = 0.85; /* an operator follows the one before it */
static const double shown = 0.35;           /* part of the tasks that show results */

/* ---- shapes ---- */

void image_shapes(struct image_shape *shapes, size_t count, uint64_t seed)
{
    static const char *const topics[] = {"representation", "manipulation", "linear-operators",
                                         "nonlinear-operators", "classification"};
    struct rng rng;
    rng_seed_stream(&rng, seed, 1997);
    size_t tasks = 0, dependencies = 0, wanted = count * IMAGE_GRAPH_TASKS;
    for (size_t i = 0; i < count; i++) {
        struct image_shape *s = &shapes[i];
        snprintf(s->name, sizeof s->name, "%s-%02u", topics[i * 5 / count], (unsigned)i % 100 + 1);
        s->tasks = LEAST_TASKS + (uint32_t)(rng_below(&rng, 14) + rng_below(&rng, 14));
        s->seed = rng_next(&rng);
        tasks += s->tasks;
    }
    for (size_t i = 0; tasks != wanted; i = (i + 1) % count) {
        struct image_shape *s = &shapes[i];
        if (tasks < wanted && s->tasks < MOST_TASKS) {
            s->tasks++;
            tasks++;
        } else if (tasks > wanted && s->tasks > LEAST_TASKS) {
            s->tasks--;
            tasks--;
        }
    }
    /* a forest of one tree an input, and second inputs of operators to make up for the roots */
    for (size_t i = 0; i < count; i++) {
        struct image_shape *s = &shapes[i];
        s->inputs = 1 + (uint32_t)rng_below(&rng, 1 + s->tasks / 8);
        s->dependencies = s->tasks - s->inputs;
        dependencies += s->dependencies;
    }
    for (; dependencies < wanted; dependencies++) {
        struct image_shape *s = &shapes[rng_below(&rng, count)];
        while (s->dependencies >= s->tasks + s->tasks / 4)
            s = s + 1 < shapes + count ? s + 1 : shapes;
        s->dependencies++;
    }
}

/* ---- graphs ---- */

struct image_drawing {
    const struct image_shape *shape;
    struct rng rng;
    struct builder *b;
    uint32_t viewers; /* tasks from here on show results; operators stand before them */
    uint8_t *edge;    /* tasks x tasks */
    uint32_t edges;
};

/* A dependency stated twice is one. */
static void image_join_two(struct image_drawing *d, uint32_t from, uint32_t to)
{
    uint8_t *there = &d->edge[from * d->shape->tasks + to];
    d->edges += !*there;
    *there = 1;
}

/* Chains with branches: an operator mostly follows the one before it, a viewer looks at anything.
 */
static void image_join_rest(struct image_drawing *d)
{
    const struct image_shape *s = d->shape;
    for (uint32_t t = s->inputs; t < d->viewers; t++) {
        bool continues = t > s->inputs && rng_unit(&d->rng) < continues_often;
        image_join_two(d, continues ? t - 1 : (uint32_t)rng_below(&d->rng, t), t);
    }
    for (uint32_t t = d->viewers; t < s->tasks; t++)
        image_join_two(d, (uint32_t)rng_below(&d->rng, d->viewers), t);
    /* most draws succeed; the number only keeps a full graph from going on for ever */
    for (int tries = 0; d->edges < s->dependencies && tries < 10000; tries++) {
        uint32_t to = s->inputs + (uint32_t)rng_below(&d->rng, d->viewers - s->inputs);
        image_join_two(d, (uint32_t)rng_below(&d->rng, to), to);
    }
    /* few operators: viewers that compare two results take the rest */
    for (uint32_t t = d->viewers; t < s->tasks; t++)
        for (uint32_t u = 0; u < d->viewers && d->edges < s->dependencies; u++)
            image_join_two(d, u, t);
}

static void draw_task(struct image_drawing *d, uint32_t t)
{
    static const char *const viewers[] = {"Display Image", "Display Image", "Display Image",
                                          "File Viewer",   "File Viewer",   "Data Object Info",
                                          "2D Plot",       "Animate"};
    static const char *const operators[] = {"Convolve",   "FFT",      "Threshold", "Median Filter",
                                            "Histogram",  "Gradient", "Zoom",      "Rotate",
                                            "Arithmetic", "Classify", "Segment",   "Label"};
    const struct image_shape *s = d->shape;
    bool input = t < s->inputs, viewer = t >= d->viewers;
    const char *kind = input    ? "User defined"
                       : viewer ? viewers[rng_below(&d->rng, 8)]
                                : operators[rng_below(&d->rng, 12)];
    char name[64], file[64];
    int length =
        snprintf(name, sizeof name, "%s %u", kind, 4 * t + 3); /* numbered as in Figure 9 */
    uint32_t task = builder_task(d->b, name, (size_t)length, 0);
    double seconds = input    ? rng_uniform(&d->rng, 1, 4)
                     : viewer ? rng_uniform(&d->rng, 0.5, 3)
                              : 1 + rng_exponential(&d->rng, 3);
    builder_work(d->b, task, round(10 * seconds) / 10, 0);
    builder_kind(d->b, task, kind, strlen(kind));
    length =
        snprintf(name, sizeof name, "%s %u {in} {out}", kind, 4 * t + 3); /* none does the same */
    builder_command(d->b, task, name, (size_t)length);
    length = snprintf(file, sizeof file, "image%u.viff", t + 1);
    uint32_t object = builder_object(d->b, file, (size_t)length);
    builder_produces(d->b, task, object, 0);
    if (viewer)
        return;
    /* 128 x 128, 256 x 256 or 512 x 512 bytes, 36 times as many */
    double side = 128 * (double)(1u << rng_below(&d->rng, 3));
    builder_size(d->b, object, 36 * side * side, 0);
}

/* Edges as a matrix: graphs have at most MOST_TASKS tasks. */
struct workflow *image_graph(const struct image_shape *shape, struct error *err)
{
    uint32_t n = shape->tasks;
    struct image_drawing d = {.shape = shape, .b = builder_new("<generated>", "native")};
    uint32_t last = (uint32_t)lround(shown * n), rest = n - shape->inputs;
    d.viewers = n - (last < rest ? last : rest - 1);
    d.edge = mem_new_zero(uint8_t, (size_t)n * n);
    rng_seed(&d.rng, shape->seed);
    builder_name(d.b, shape->name, strlen(shape->name));
    for (uint32_t t = 0; t < n; t++)
        draw_task(&d, t);
    image_join_rest(&d);
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t t = 0; t < n; t++)
            if (d.edge[u * n + t]) {
                char file[64];
                int length = snprintf(file, sizeof file, "image%u.viff", u + 1);
                builder_consumes(d.b, t, builder_object(d.b, file, (size_t)length), 0);
            }
    free(d.edge);
    return builder_finish(d.b, err);
}

/* ---- workstations ---- */

struct platform *image_workstations(uint64_t seed, bool idle, struct error *err)
{
    /* seven names that the paper mentions, and two more */
    static const char *const names[IMAGE_WORKSTATIONS] = {"lutefisk", "manastash", "norge",
                                                          "oddvar",   "willow",    "lillith",
                                                          "calvin",   "ipx-8",     "ipx-9"};
    struct rng rng;
    rng_seed_stream(&rng, seed, 9);
    struct platform_builder *b = platform_builder_new("<generated>");
    /* 10 Mbit/s Ethernet, a millisecond a message */
    platform_builder_network(b, 1.25e6, 0.001, NAN, 0);
    for (uint32_t i = 0; i < IMAGE_WORKSTATIONS; i++) {
        uint32_t node = platform_builder_node(b, names[i], strlen(names[i]), 0);
        bool busy = !idle && rng_below(&rng, 4) == 0;
        double load = busy ? rng_uniform(&rng, 0.05, 0.6) : rng_uniform(&rng, 0, 0.03);
        platform_builder_utilization(b, node, load, 0);
    }
    return platform_builder_finish(b, err);
}
