/* Random graphs: by levels as daggen makes them, by fan-in and fan-out as TGFF does, and
 * Erdos-Renyi's. */
#include "generate/generators.h"
#include "generate/sketch.h"
#include "base/mem.h"
#include "base/plural.h"

#include <math.h>
#include <string.h>

/* ---- layered ---- */

static const struct option layered_options[] = {
    {"n", OPTION_INTEGER, "100", NULL, 1, SKETCH_TASKS, "tasks"},
    {"fat", OPTION_NUMBER, "0.5", NULL, 0, 1,
     "width: about n^fat tasks a level (0: a chain, 1: one level)"},
    {"density", OPTION_NUMBER, "0.5", NULL, 0, 1,
     "parents: 1 + up to this share of the level above"},
    {"regular", OPTION_NUMBER, "0.9", NULL, 0, 1,
     "1: all levels alike, 0: from 1 to twice the width"},
    {"jump", OPTION_INTEGER, "1", NULL, 1, 1000000, "levels an edge may span"},
    {"parents", OPTION_INTEGER, "0", NULL, 0, 1000000,
     "most parents of a task; 0: as density says"},
    {"costs", OPTION_CHOICE, "uniform", "uniform|mixed|n2|nlogn|n3", 0, 0,
     "uniform: work-min, work-max, ccr; the others: daggen's --ccr 0, 1, 2, 3 by complexity of the "
     "task"},
    {"data-min", OPTION_INTEGER, "2048", NULL, 1024, 1e9,
     "daggen's costs: least elements of a task's data"},
    {"data-max", OPTION_INTEGER, "11264", NULL, 1024, 1e9, "daggen's costs: greatest"},
    SKETCH_OPTIONS,
    {0},
};

/* daggen's costs: d elements in steps of 1024; a task makes 8 d^2 bytes and takes a d^2, 2 a d^2
 * log2 d or d^3 operations with a drawn from 64 to 512. Returns the bytes it sends to each child.
 */
static double daggen_costs(struct rng *rng, const struct generator_request *r, double *work)
{
    double least = generator_real(r, "data-min"), most = generator_real(r, "data-max");
    double d = floor(rng_uniform(rng, least, most) / 1024) * 1024, a = rng_uniform(rng, 64, 512);
    const char *costs = generator_text(r, "costs");
    uint64_t complexity = strcmp(costs, "n2") == 0      ? 0
                          : strcmp(costs, "nlogn") == 0 ? 1
                          : strcmp(costs, "n3") == 0    ? 2
                                                        : rng_below(rng, 3);
    *work = sketch_round(complexity == 0   ? a * d * d
                         : complexity == 1 ? 2 * a * d * d * log2(d)
                                           : d * d * d);
    return 8 * d * d;
}

/* The levels' first tasks; `first[levels]` is n. */
static uint32_t *draw_levels(struct rng *rng, uint32_t n, double fat, double regular,
                             uint32_t *nlevels)
{
    /* the little more keeps 100^0.5 at 10 */
    double perfect = floor(exp(fat * log((double)n)) * (1 + 1e-12));
    ARRAY(uint32_t) first = {0};
    uint32_t total = 0;
    while (total < n) {
        double width = floor(perfect * (1 + rng_uniform(rng, regular - 1, 1 - regular)));
        array_push(&first, total);
        uint32_t count = width < 1 ? 1 : width > n ? n : (uint32_t)width;
        total = count > n - total ? n : total + count;
    }
    array_push(&first, n);
    *nlevels = (uint32_t)first.n - 1;
    return first.at;
}

/* For the limit: what the draw below gives on average. */
static double expected_edges(const uint32_t *first, uint32_t nlevels, double density, double most)
{
    double edges = 0;
    for (uint32_t level = 1; level < nlevels; level++) {
        double parents = 1 + density * (first[level] - first[level - 1]) / 2;
        edges += (parents < most ? parents : most) * (first[level + 1] - first[level]);
    }
    return edges;
}

/* Parents: 1 + U[0, density x width of the level above), each in a level 1 .. jump above, from a
 * random task on to the next that is not a parent yet. */
static void draw_parents(struct sketch *s, const uint32_t *first, uint32_t nlevels, double density,
                         uint32_t jump, double most, const double *sent)
{
    uint32_t *child_of = mem_new_zero(uint32_t, s->tasks.n); /* last child joined, + 1 */
    uint32_t *used = mem_new_zero(uint32_t, nlevels); /* parents that the task has in a level */
    uint32_t *touched = mem_new(uint32_t, nlevels);
    for (uint32_t level = 1; level < nlevels; level++) {
        double above = first[level] - first[level - 1];
        for (uint32_t task = first[level]; task < first[level + 1]; task++) {
            double parents = 1 + floor(rng_uniform(&s->rng, 0, density * above));
            parents = fmin(fmin(parents, above), most);
            uint32_t ntouched = 0;
            for (uint32_t k = 0; k < (uint32_t)parents; k++) {
                uint32_t up = 1 + (uint32_t)rng_below(&s->rng, jump);
                uint32_t from = up > level ? 0 : level - up;
                uint32_t width = first[from + 1] - first[from];
                uint32_t at = (uint32_t)rng_below(&s->rng, width);
                if (used[from] == width)
                    continue; /* all of them are parents already */
                while (child_of[first[from] + at] == task + 1)
                    at = at + 1 == width ? 0 : at + 1;
                uint32_t parent = first[from] + at;
                child_of[parent] = task + 1;
                if (used[from]++ == 0)
                    touched[ntouched++] = from;
                sketch_edge(s, parent, task, sent ? sent[parent] : 1);
            }
            while (ntouched)
                used[touched[--ntouched]] = 0;
        }
    }
    free(child_of);
    free(used);
    free(touched);
}

static struct workflow *make_layered(const struct generator_request *r, struct error *err)
{
    uint32_t n = (uint32_t)generator_whole(r, "n"), nlevels;
    double density = generator_real(r, "density"), most = generator_real(r, "parents");
    /* 0 is "as density says" */
    if (most == 0)
        most = INFINITY;
    struct sketch s;
    sketch_init(&s, r);
    s.absolute = strcmp(generator_text(r, "costs"), "uniform") != 0;
    if (s.absolute && generator_real(r, "data-min") > generator_real(r, "data-max")) {
        error_set(err, ERROR_INPUT,
                  "generator 'layered': data-min=%s is more than data-max=%s; exchange them",
                  generator_text(r, "data-min"), generator_text(r, "data-max"));
        return NULL;
    }
    uint32_t *first =
        draw_levels(&s.rng, n, generator_real(r, "fat"), generator_real(r, "regular"), &nlevels);
    struct workflow *w = NULL;
    if (sketch_fits(n, expected_edges(first, nlevels, density, most), r,
                    "lower density, or limit the parents of a task with parents=10", err)) {
        double *sent = s.absolute ? mem_new(double, n) : NULL;
        for (uint32_t t = 0; t < n; t++) {
            double work = 1;
            if (sent)
                sent[t] = daggen_costs(&s.rng, r, &work);
            sketch_task(&s, NULL, work);
        }
        draw_parents(&s, first, nlevels, density, (uint32_t)generator_whole(r, "jump"), most, sent);
        free(sent);
        w = sketch_finish(&s, r, err);
    }
    free(first);
    return w;
}

const struct generator generator_layered = {
    .name = "layered",
    .summary = "random graph by levels, with daggen's parameters",
    .options = layered_options,
    .workflow = make_layered,
};

/* ---- tgff ---- */

static const struct option tgff_options[] = {
    {"n", OPTION_INTEGER, "50", NULL, 1, SKETCH_TASKS, "tasks"},
    {"max-in", OPTION_INTEGER, "4", NULL, 1, 1000, "most parents of a task"},
    {"max-out", OPTION_INTEGER, "4", NULL, 1, 1000, "most children of a task"},
    {"mean-degree", OPTION_NUMBER, "0", NULL, 0, 1000,
     "0: TGFF's method; else so many edges a task, parents anywhere before it, degrees not "
     "limited"},
    SKETCH_OPTIONS,
    {0},
};

typedef ARRAY(uint32_t) task_list;

/* Tasks by the children they may still get (`level[0]` is not kept), and all that may get one. A
 * task leaves a list in O(1): the last one takes its place. */
struct free_degrees {
    task_list *level, any;
    uint32_t *in_level, *in_any; /* places in the lists */
    uint32_t *left;              /* children each may still get */
    uint32_t most;
};

/* O(1): the last one takes its place, so the order of a list means nothing. */
static void list_remove(task_list *list, uint32_t *place, uint32_t task)
{
    uint32_t last = array_pop(list);
    if (last != task) {
        list->at[place[task]] = last;
        place[last] = place[task];
    }
}

static void list_add(task_list *list, uint32_t *place, uint32_t task)
{
    place[task] = (uint32_t)list->n;
    array_push(list, task);
}

/* A new task may get `most` children. */
static void degrees_new_task(struct free_degrees *f, uint32_t task)
{
    f->left[task] = f->most;
    list_add(&f->level[f->most], f->in_level, task);
    list_add(&f->any, f->in_any, task);
}

/* One child fewer: to the next list, or out of all of them. */
static void degrees_take(struct free_degrees *f, uint32_t task)
{
    uint32_t left = f->left[task]--;
    list_remove(&f->level[left], f->in_level, task);
    if (left > 1)
        list_add(&f->level[left - 1], f->in_level, task);
    else
        list_remove(&f->any, f->in_any, task);
}

/* A task with the most free out-degree gets U{0 .. free} new children. */
static void fan_out(struct sketch *s, struct free_degrees *f, uint32_t n)
{
    uint32_t level = f->most;
    while (f->level[level].n == 0)
        level--;
    uint32_t task = f->level[level].at[rng_below(&s->rng, f->level[level].n)];
    uint64_t children = rng_below(&s->rng, level + 1);
    for (; children && s->tasks.n < n; children--) {
        uint32_t child = sketch_task(s, NULL, 1);
        sketch_edge(s, task, child, 1);
        degrees_take(f, task);
        degrees_new_task(f, child);
    }
}

/* A new task gets U{1 .. max_in} parents out of those with free out-degree. */
static void fan_in(struct sketch *s, struct free_degrees *f, uint32_t max_in)
{
    uint64_t most = f->any.n < max_in ? f->any.n : max_in, parents = 1 + rng_below(&s->rng, most);
    uint32_t chosen[1000]; /* max-in's limit */
    for (uint64_t k = 0; k < parents; k++) {
        /* the chosen ones gather at the front, so that none is drawn twice */
        uint64_t at = k + rng_below(&s->rng, f->any.n - k);
        uint32_t parent = f->any.at[at], front = f->any.at[k];
        f->any.at[at] = front;
        f->in_any[front] = (uint32_t)at;
        f->any.at[k] = chosen[k] = parent;
        f->in_any[parent] = (uint32_t)k;
    }
    uint32_t task = sketch_task(s, NULL, 1);
    for (uint64_t k = 0; k < parents; k++) {
        sketch_edge(s, chosen[k], task, 1);
        degrees_take(f, chosen[k]);
    }
    degrees_new_task(f, task);
}

/* Fan-in and fan-out steps in turn by the toss of a coin, until there are n tasks. */
static void draw_tgff(struct sketch *s, uint32_t n, uint32_t max_in, uint32_t max_out)
{
    struct free_degrees f = {.most = max_out};
    f.level = mem_new_zero(task_list, max_out + 1);
    f.in_level = mem_new(uint32_t, n);
    f.in_any = mem_new(uint32_t, n);
    f.left = mem_new(uint32_t, n);
    degrees_new_task(&f, sketch_task(s, NULL, 1));
    /* A new task always has free out-degree, so some task always can become a parent. */
    while (s->tasks.n < n) {
        if (rng_below(&s->rng, 2))
            fan_out(s, &f, n);
        else
            fan_in(s, &f, max_in);
    }
    for (uint32_t level = 0; level <= max_out; level++)
        array_free(&f.level[level]);
    array_free(&f.any);
    free(f.level);
    free(f.in_level);
    free(f.in_any);
    free(f.left);
}

/* Every task but the first has U{1 .. 2 mean - 1} different parents, or all before it. */
static void draw_mean_degree(struct sketch *s, uint32_t n, double mean)
{
    uint32_t *child_of = mem_new_zero(uint32_t, n);
    for (uint32_t task = 0; task < n; task++) {
        sketch_task(s, NULL, 1);
        double parents = mean < 1 ? rng_unit(&s->rng) < mean : rng_uniform(&s->rng, 1, 2 * mean);
        for (uint32_t k = 0; k < (uint32_t)parents && k < task; k++) {
            uint32_t parent;
            do
                parent = (uint32_t)rng_below(&s->rng, task);
            while (child_of[parent] == task + 1 && (uint32_t)parents * 2 < task);
            /* crowded near the start: walk on to the next free one */
            while (child_of[parent] == task + 1)
                parent = parent + 1 == task ? 0 : parent + 1;
            child_of[parent] = task + 1;
            sketch_edge(s, parent, task, 1);
        }
    }
    free(child_of);
}

static struct workflow *make_tgff(const struct generator_request *r, struct error *err)
{
    uint32_t n = (uint32_t)generator_whole(r, "n");
    uint32_t max_in = (uint32_t)generator_whole(r, "max-in");
    uint32_t max_out = (uint32_t)generator_whole(r, "max-out");
    double mean = generator_real(r, "mean-degree");
    double degree = mean > 0 ? mean : (max_in < max_out ? max_in : max_out);
    if (!sketch_fits(n, n * degree, r, "lower n or the degrees", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    if (mean > 0)
        draw_mean_degree(&s, n, mean);
    else
        draw_tgff(&s, n, max_in, max_out);
    return sketch_finish(&s, r, err);
}

const struct generator generator_tgff = {
    .name = "tgff",
    .summary = "random graph by fan-in and fan-out steps, as TGFF's",
    .options = tgff_options,
    .workflow = make_tgff,
};

/* ---- random ---- */

static const struct option random_options[] = {
    {"n", OPTION_INTEGER, "50", NULL, 1, SKETCH_TASKS, "tasks"},
    {"p", OPTION_NUMBER, "0.1", NULL, 0, 1, "share of all pairs that are edges"},
    {"edges", OPTION_INTEGER, "0", NULL, 0, SKETCH_EDGES, "number of edges; 0: as p says"},
    SKETCH_OPTIONS,
    {0},
};

static struct workflow *make_random(const struct generator_request *r, struct error *err)
{
    uint32_t n = (uint32_t)generator_whole(r, "n");
    /* pairs of an order: every graph drawn this way is acyclic */
    double all = (double)n * (n - 1) / 2, asked = generator_real(r, "edges");
    double edges = asked > 0 ? asked : floor(generator_real(r, "p") * all + 0.5);
    if (edges > all) {
        error_set(err, ERROR_INPUT,
                  "generator 'random': edges=%.0f is more than the %.0f pairs of %u task%s", edges,
                  all, n, plural(n));
        return NULL;
    }
    if (!sketch_fits(n, edges, r, "lower p, or give the number of edges with edges=", err))
        return NULL;
    struct sketch s;
    sketch_init(&s, r);
    for (uint32_t t = 0; t < n; t++)
        sketch_task(&s, NULL, 1);
    uint32_t *pairs = sketch_pairs(&s.rng, n, (uint64_t)edges);
    for (uint64_t e = 0; e < (uint64_t)edges; e++)
        sketch_edge(&s, pairs[2 * e], pairs[2 * e + 1], 1);
    free(pairs);
    return sketch_finish(&s, r, err);
}

const struct generator generator_random = {
    .name = "random",
    .summary = "random graph in which every set of so many edges is equally likely (Erdos-Renyi)",
    .options = random_options,
    .workflow = make_random,
};
