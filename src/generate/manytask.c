/* The four many-task workloads of MATRIX (Table 3): 1,000 tasks a core of 50 ms on average, drawn
 * from 0 to twice that, each with an output of 5 MB on average that its children read; degree of a
 * fan and length of a pipe are 10. */
#include "generate/generators.h"
#include "generate/sketch.h"
#include "model/builder.h"

#include <stdio.h>
#include <string.h>

#define MANY_OPTIONS                                                                               \
    {"per-core", OPTION_INTEGER, "1000", NULL, 1, SKETCH_TASKS, "tasks a core"},                   \
        {"cores", OPTION_INTEGER, "1", NULL, 1, SKETCH_TASKS, "cores; tasks = per-core x cores"},  \
        {"time",                                                                                   \
         OPTION_SECONDS,                                                                           \
         "50ms",                                                                                   \
         NULL,                                                                                     \
         0,                                                                                        \
         1e9,                                                                                      \
         "mean work of a task (at speed 1), drawn from 0 to twice this"},                          \
        {"size",                                                                                   \
         OPTION_BYTES,                                                                             \
         "5M",                                                                                     \
         NULL,                                                                                     \
         0,                                                                                        \
         1e18,                                                                                     \
         "mean size of a task's output, drawn from 0 to twice this"},                              \
    {                                                                                              \
        "memory", OPTION_BYTES, "0", NULL, 0, 1e18, "memory of a task"                             \
    }

static const struct option bag_options[] = {MANY_OPTIONS, {0}};
static const struct option fan_options[] = {
    MANY_OPTIONS,
    {"degree", OPTION_INTEGER, "10", NULL, 1, SKETCH_TASKS,
     "in-degree of a fan-in, out-degree of a fan-out"},
    {0},
};
static const struct option pipeline_options[] = {
    MANY_OPTIONS,
    {"pipe", OPTION_INTEGER, "10", NULL, 1, SKETCH_TASKS, "tasks in a pipe"},
    {0},
};

/* One function draws all four: they differ in whom a task reads from. */
enum shape { BAG, FAN_IN, FAN_OUT, PIPELINE };

static struct workflow *make_many(const struct generator_request *r, enum shape shape,
                                  struct error *err)
{
    double count = generator_real(r, "per-core") * generator_real(r, "cores");
    if (!sketch_fits(count, count, r, "lower per-core or cores", err))
        return NULL;
    uint32_t n = (uint32_t)count, degree = 1;
    if (shape == FAN_IN || shape == FAN_OUT)
        degree = (uint32_t)generator_whole(r, "degree");
    else if (shape == PIPELINE)
        degree = (uint32_t)generator_whole(r, "pipe");
    double time = generator_real(r, "time"), size = generator_real(r, "size");
    double memory = generator_real(r, "memory");
    /* drawn in the order of the tasks: work, then size */
    struct rng rng;
    rng_seed(&rng, r->seed);
    struct builder *b = builder_new("<generated>", r->generator->name);
    builder_name(b, r->generator->name, strlen(r->generator->name));
    builder_expect(b, n, n);
    /* Outputs are objects of their own, also those that nobody reads: a bag's tasks write as much
     * as the others'. Object i is task i's. */
    for (uint32_t i = 0; i < n; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "t%u", i + 1);
        uint32_t task = builder_task(b, name, (size_t)len, 0);
        builder_work(b, task, sketch_round(rng_uniform(&rng, 0, 2 * time)), 0);
        if (memory > 0)
            builder_memory(b, task, memory, 0);
        len = snprintf(name, sizeof name, "o%u", i + 1);
        uint32_t object = builder_object(b, name, (size_t)len);
        builder_size(b, object, sketch_round(rng_uniform(&rng, 0, 2 * size)), 0);
        builder_produces(b, task, object, 0);
        /* a heap: the parent of task i is (i - 1) / degree */
        if (shape == FAN_OUT && i)
            builder_consumes(b, task, (i - 1) / degree, 0);
        if (shape == PIPELINE && i % degree)
            builder_consumes(b, task, i - 1, 0);
    }
    /* The fan-in is the fan-out upside down: the last task is the root. */
    for (uint32_t i = 1; shape == FAN_IN && i < n; i++)
        builder_consumes(b, n - 1 - (i - 1) / degree, n - 1 - i, 0);
    return builder_finish(b, err);
}

static struct workflow *make_bag(const struct generator_request *r, struct error *err)
{
    return make_many(r, BAG, err);
}

static struct workflow *make_fanin(const struct generator_request *r, struct error *err)
{
    return make_many(r, FAN_IN, err);
}

static struct workflow *make_fanout(const struct generator_request *r, struct error *err)
{
    return make_many(r, FAN_OUT, err);
}

static struct workflow *make_pipeline(const struct generator_request *r, struct error *err)
{
    return make_many(r, PIPELINE, err);
}

const struct generator generator_bag = {
    .name = "bag",
    .summary = "bag of independent tasks, as in MATRIX",
    .options = bag_options,
    .workflow = make_bag,
};

const struct generator generator_fanin = {
    .name = "fanin",
    .summary = "tree of fan-ins towards one last task, as in MATRIX",
    .options = fan_options,
    .workflow = make_fanin,
};

const struct generator generator_fanout = {
    .name = "fanout",
    .summary = "tree of fan-outs from one first task, as in MATRIX",
    .options = fan_options,
    .workflow = make_fanout,
};

const struct generator generator_pipeline = {
    .name = "pipeline",
    .summary = "pipes of tasks one after the other, as in MATRIX",
    .options = pipeline_options,
    .workflow = make_pipeline,
};
