/* A workflow's structure on the way from a generator to the builder.
 *
 * Generators draw tasks and edges with relative weights; sketch_finish() then draws the costs, so
 * that every generator has the same options for them and the ratio of data to work comes out
 * exactly as asked, whatever the structure. */
#pragma once
#include "base/array.h"
#include "base/rng.h"
#include "generate/generate.h"

enum { SKETCH_TASKS = 20000000, SKETCH_EDGES = 100000000 }; /* what we are willing to make */

/* The options of sketch_finish(), for a generator's table. */
#define SKETCH_OPTIONS                                                                             \
    {"work-min", OPTION_NUMBER, "10", NULL, 0, 1e15, "least work of a task (seconds at speed 1)"}, \
        {"work-max", OPTION_NUMBER, "100", NULL, 0, 1e15, "greatest work of a task"},              \
        {"ccr",                                                                                    \
         OPTION_NUMBER,                                                                            \
         "1",                                                                                      \
         NULL,                                                                                     \
         0,                                                                                        \
         1e9,                                                                                      \
         "mean bytes on an edge / mean work of a task; 0: no data"},                               \
    {                                                                                              \
        "memory", OPTION_BYTES, "0", NULL, 0, 1e18,                                                \
            "mean memory of a task, drawn from half to one and a half of it"                       \
    }

struct sketch_task {
    const char *kind; /* a constant text; NULL: none */
    double weight;
};

struct sketch_edge {
    uint32_t from, to;
    double weight;
};

struct sketch {
    struct rng rng; /* seeded by sketch_init(); the structure's draws come first */
    ARRAY(struct sketch_task) tasks;
    ARRAY(struct sketch_edge) edges;
    bool outputs; /* a task's consumers share one output, instead of an object per edge; its size is
                     weighed by the task */
    bool absolute; /* weights are work and bytes as they are: no drawing */
};

void sketch_init(struct sketch *s, const struct generator_request *r);
void sketch_free(struct sketch *s);
/* False with an error when that many are more than SKETCH_TASKS or SKETCH_EDGES; `remedy` tells
 * which option to lower. */
bool sketch_fits(double tasks, double edges, const struct generator_request *r, const char *remedy,
                 struct error *err);
uint32_t sketch_task(struct sketch *s, const char *kind, double weight);
void sketch_edge(struct sketch *s, uint32_t from, uint32_t to, double weight);
/* Draw the costs and build. Tasks are named by kind and number within it, or t1, t2 ... Frees the
 * sketch. */
struct workflow *sketch_finish(struct sketch *s, const struct generator_request *r,
                               struct error *err);

/* Six significant digits. */
double sketch_round(double value);
/* `count` different pairs of 0 .. n-1 out of all, each set of pairs equally likely: pair[2k] <
 * pair[2k+1]. `count` must be at most n (n - 1) / 2. The caller frees. Expected linear in count. */
uint32_t *sketch_pairs(struct rng *rng, uint32_t n, uint64_t count);
