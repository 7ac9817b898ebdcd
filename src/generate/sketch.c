/* A graph under way: generators say tasks, edges and relative weights; costs are drawn here at the
 * end, the same way for all, and the result is built. Everything is rounded to six digits, so that
 * machines agree. O(tasks + edges). */
#include "generate/sketch.h"
#include "base/mem.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sketch_init(struct sketch *s, const struct generator_request *r)
{
    *s = (struct sketch){0};
    rng_seed(&s->rng, r->seed);
}

void sketch_free(struct sketch *s)
{
    array_free(&s->tasks);
    array_free(&s->edges);
}

/* Asked before anything is allocated, with the numbers that the options imply. */
bool sketch_fits(double tasks, double edges, const struct generator_request *r, const char *remedy,
                 struct error *err)
{
    if (tasks > SKETCH_TASKS)
        return error_set(err, ERROR_INPUT,
                         "generator '%s': that makes %.3g tasks, more than the limit of %d; %s",
                         r->generator->name, tasks, SKETCH_TASKS, remedy);
    if (edges > SKETCH_EDGES)
        return error_set(
            err, ERROR_INPUT,
            "generator '%s': that makes about %.3g edges, more than the limit of %d; %s",
            r->generator->name, edges, SKETCH_EDGES, remedy);
    return true;
}

/* `kind` must be a constant text: kinds are told apart by address. */
uint32_t sketch_task(struct sketch *s, const char *kind, double weight)
{
    array_push(&s->tasks, (struct sketch_task){kind, weight});
    return (uint32_t)(s->tasks.n - 1);
}

void sketch_edge(struct sketch *s, uint32_t from, uint32_t to, double weight)
{
    array_push(&s->edges, (struct sketch_edge){from, to, weight});
}

/* Six significant digits, the same on every machine. */
double sketch_round(double value)
{
    if (!(value > 0) || isinf(value))
        return value;
    /* Powers of ten by multiplication: pow() may differ between machines in the last bit. */
    double scale = 1;
    while (value * scale < 1e5)
        scale *= 10;
    if (scale > 1)
        return floor(value * scale + 0.5) / scale;
    while (value / scale >= 1e6)
        scale *= 10;
    return floor(value / scale + 0.5) * scale;
}

/* ---- names ---- */

/* Kinds are constant texts and few: a short list of those seen, with the number of their tasks so
 * far. */
struct kind_counts {
    struct {
        const char *kind;
        uint32_t count;
    } seen[32];
    size_t n;
};

/* "mProject3": the third task of its kind; "t3" where there are no kinds. At most 32 kinds. */
static int sketch_task_name(struct kind_counts *counts, const char *kind, char *out, size_t size)
{
    size_t i = 0;
    while (i < counts->n && counts->seen[i].kind != kind)
        i++;
    if (i == counts->n) {
        counts->seen[i].kind = kind;
        counts->n++;
    }
    return snprintf(out, size, "%s%u", kind ? kind : "t", ++counts->seen[i].count);
}

/* ---- costs ---- */

/* Weights are scaled to a mean of 1, then drawn: relative costs of kinds survive whatever range is
 * asked for. */
static void draw_work(struct sketch *s, const struct generator_request *r)
{
    double least = generator_real(r, "work-min"), most = generator_real(r, "work-max");
    double sum = 0;
    for (size_t t = 0; t < s->tasks.n; t++)
        sum += s->tasks.at[t].weight;
    double scale = sum > 0 ? (double)s->tasks.n / sum : 1;
    for (size_t t = 0; t < s->tasks.n; t++)
        s->tasks.at[t].weight =
            sketch_round(s->tasks.at[t].weight * scale * rng_uniform(&s->rng, least, most));
}

/* Sizes from half to one and a half of the mean, then scaled so that the mean over the edges is
 * what the ratio says. */
static void draw_sizes(struct sketch *s, const struct generator_request *r)
{
    double ccr = generator_real(r, "ccr"), work = 0, size = 0;
    for (size_t t = 0; t < s->tasks.n; t++)
        work += s->tasks.at[t].weight;
    double *output = NULL; /* by producer: all its edges carry the same object */
    if (s->outputs) {
        output = mem_new(double, s->tasks.n);
        for (size_t t = 0; t < s->tasks.n; t++)
            output[t] = rng_uniform(&s->rng, 0.5, 1.5);
    }
    for (size_t e = 0; e < s->edges.n; e++) {
        struct sketch_edge *edge = &s->edges.at[e];
        edge->weight *= output ? output[edge->from] : rng_uniform(&s->rng, 0.5, 1.5);
        size += edge->weight;
    }
    free(output);
    double scale =
        size > 0 && s->tasks.n ? ccr * (work / (double)s->tasks.n) * (double)s->edges.n / size : 0;
    for (size_t e = 0; e < s->edges.n; e++)
        s->edges.at[e].weight = sketch_round(s->edges.at[e].weight * scale);
}

/* One object per producer that has a consumer, read by them all. */
static void build_outputs(const struct sketch *s, struct builder *b)
{
    uint32_t *object = mem_new(uint32_t, s->tasks.n);
    memset(object, 0xff, s->tasks.n * sizeof *object);
    for (size_t e = 0; e < s->edges.n; e++) {
        const struct sketch_edge *edge = &s->edges.at[e];
        if (edge->weight <= 0) {
            builder_edge(b, edge->from, edge->to, 0);
            continue;
        }
        if (object[edge->from] == NONE) {
            char name[64];
            int len = snprintf(name, sizeof name, "%s.out", builder_task_name(b, edge->from));
            object[edge->from] = builder_object(b, name, (size_t)len);
            builder_size(b, object[edge->from], edge->weight, 0);
            builder_produces(b, edge->from, object[edge->from], 0);
        }
        builder_consumes(b, edge->to, object[edge->from], 0);
    }
    free(object);
}

/* Frees the sketch, whatever happens. */
struct workflow *sketch_finish(struct sketch *s, const struct generator_request *r,
                               struct error *err)
{
    if (!s->absolute && generator_real(r, "work-min") > generator_real(r, "work-max")) {
        error_set(err, ERROR_INPUT,
                  "generator '%s': work-min=%s is more than work-max=%s; exchange them",
                  r->generator->name, generator_text(r, "work-min"), generator_text(r, "work-max"));
        sketch_free(s);
        return NULL;
    }
    if (!s->absolute) {
        draw_work(s, r);
        draw_sizes(s, r);
    }
    struct builder *b = builder_new("<generated>", r->generator->name);
    builder_name(b, r->generator->name, strlen(r->generator->name));
    builder_expect(b, s->tasks.n, s->edges.n);
    double memory = generator_real(r, "memory");
    struct kind_counts counts = {0};
    for (size_t t = 0; t < s->tasks.n; t++) {
        const struct sketch_task *task = &s->tasks.at[t];
        char name[64];
        int len = sketch_task_name(&counts, task->kind, name, sizeof name);
        uint32_t id = builder_task(b, name, (size_t)len, 0);
        builder_work(b, id, task->weight, 0);
        if (task->kind)
            builder_kind(b, id, task->kind, strlen(task->kind));
        if (memory > 0)
            builder_memory(b, id, floor(memory * rng_uniform(&s->rng, 0.5, 1.5)), 0);
    }
    if (s->outputs)
        build_outputs(s, b);
    else
        for (size_t e = 0; e < s->edges.n; e++)
            builder_data_edge(b, s->edges.at[e].from, s->edges.at[e].to, s->edges.at[e].weight, 0);
    sketch_free(s);
    return builder_finish(b, err);
}

/* ---- different pairs ---- */

/* Row i of the triangle below the diagonal starts at i (i - 1) / 2: the inverse, exact for any
 * 64-bit index. */
static void pair_of(uint64_t index, uint32_t *pair)
{
    uint64_t row = (uint64_t)((1 + sqrt(1 + 8 * (double)index)) / 2);
    while (row * (row - 1) / 2 > index)
        row--;
    while ((row + 1) * row / 2 <= index)
        row++;
    pair[0] = (uint32_t)(index - row * (row - 1) / 2);
    pair[1] = (uint32_t)row;
}

/* Floyd's sampling: one draw and one look into a hash table per pair, however dense. */
uint32_t *sketch_pairs(struct rng *rng, uint32_t n, uint64_t count)
{
    uint64_t all = (uint64_t)n * (n ? n - 1 : 0) / 2, slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    uint64_t *table = mem_new_zero(uint64_t, slots); /* index + 1 */
    uint32_t *pairs = mem_new(uint32_t, 2 * count + 1);
    for (uint64_t k = 0; k < count; k++) {
        uint64_t last = all - count + k, chosen = rng_below(rng, last + 1);
        for (;;) {
            uint64_t slot = chosen * 0x9E3779B97F4A7C15ull >> 20 & (slots - 1);
            while (table[slot] && table[slot] != chosen + 1)
                slot = (slot + 1) & (slots - 1);
            if (!table[slot]) {
                table[slot] = chosen + 1;
                break;
            }
            chosen = last; /* taken: the newest index cannot be */
        }
        pair_of(chosen, pairs + 2 * k);
    }
    free(table);
    return pairs;
}
