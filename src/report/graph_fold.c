/* graph_fold.h: boxes are found by sorting tasks by kind and level; the picture is graph_svg.c's. */
#include "report/graph_fold.h"
#include "base/pool.h"
#include "base/mem.h"
#include "model/builder.h"
#include "model/graph.h"
#include "report/human.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tasks sorted by it stand box by box:
 *
 *     level 1  split                       a box each: fewer than FOLD_LEAST
 *     level 2  count count count ...       one box, "count × 200"
 *     level 2  log
 *     level 3  sort sort sort ...          one box
 *
 * The number of the task comes last, so that the first of a box is the first in the file. */
struct fold_key {
    uint32_t level, kind, task;
};

static int fold_by_key(const void *a, const void *b)
{
    const struct fold_key *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* The stated kind, else (a task alone is of its own kind) the name without its number. */
static const char *fold_kind(const struct workflow *w, uint32_t task, size_t *n)
{
    const char *kind = workflow_text(w, w->kind[task]), *name = workflow_task_name(w, task);
    bool stated = *kind && strcmp(kind, name) != 0;
    *n = stated ? strlen(kind) : kinds_stem(name);
    return stated ? kind : name;
}

/* Tasks sorted so that those of a box are neighbours. The caller frees. */
static struct fold_key *fold_keys(const struct workflow *w)
{
    struct fold_key *keys = mem_new(struct fold_key, w->ntasks + 1);
    uint32_t *depth = mem_new_zero(uint32_t, w->ntasks + 1);
    struct intern kinds;
    intern_init(&kinds);
    graph_depths(w, depth);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        size_t n;
        const char *kind = fold_kind(w, t, &n);
        keys[t] = (struct fold_key){depth[t], intern_number(&kinds, kind, n), t};
    }
    qsort(keys, w->ntasks, sizeof *keys, fold_by_key);
    intern_free(&kinds);
    free(depth);
    return keys;
}

/* How many boxes; of, count and first are filled in. Boxes are numbered by level, as the layout wants them. */
static uint32_t fold_number(struct graph_fold *f, const struct workflow *w)
{
    struct fold_key *keys = fold_keys(w);
    uint32_t boxes = 0;
    for (uint32_t i = 0, end; i < w->ntasks; i = end) {
        for (end = i;
             end < w->ntasks && keys[end].level == keys[i].level && keys[end].kind == keys[i].kind;)
            end++;
        bool whole = end - i >= FOLD_LEAST;
        for (uint32_t k = i; k < end; k++) {
            if (k == i || !whole) {
                f->first[boxes] = keys[k].task;
                f->count[boxes++] = 0;
            }
            f->of[keys[k].task] = boxes - 1;
            f->count[boxes - 1]++;
        }
    }
    free(keys);
    return boxes;
}

/* What stands in a box. A single task keeps its name: that is what people look for. The caller frees. */
static char *fold_label(const struct graph_fold *f, const struct workflow *w, uint32_t box)
{
    if (f->count[box] == 1)
        return mem_copy_string(workflow_task_name(w, f->first[box]));
    struct strbuf text = {0};
    char number[HUMAN_SIZE];
    size_t n;
    const char *kind = fold_kind(w, f->first[box], &n);
    strbuf_add_bytes(&text, kind, n);
    strbuf_printf(&text, " × %s", human_count(number, f->count[box]));
    return strbuf_steal(&text);
}

/* Two boxes that an edge joins; sorted, equal ones are counted. */
struct fold_pair {
    uint32_t from, to;
};

static int fold_by_pair(const void *a, const void *b)
{
    const struct fold_pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* An edge between two boxes for all edges between their tasks. */
static void fold_edges(const struct graph_fold *f, const struct workflow *w, struct builder *b)
{
    uint32_t nedges = w->succ_off[w->ntasks], n = 0;
    struct fold_pair *pairs = mem_new(struct fold_pair, nedges + 1);
    uint32_t *joined = mem_new_zero(uint32_t, w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t to = w->succ_task[e];
            if (joined[to] != t + 1) /* several objects between two tasks are one pair */
                pairs[n++] = (struct fold_pair){f->of[t], f->of[to]};
            joined[to] = t + 1;
        }
    if (n)
        qsort(pairs, n, sizeof *pairs, fold_by_pair);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && fold_by_pair(&pairs[i], &pairs[end]) == 0;)
            end++;
        builder_data_edge(b, pairs[i].from, pairs[i].to, end - i, 0);
    }
    free(joined);
    free(pairs);
}

/* Boxes are named by their numbers: labels of two levels may be the same. */
static struct workflow *fold_build(const struct graph_fold *f, const struct workflow *w,
                                   uint32_t boxes)
{
    struct builder *b = builder_new(workflow_text(w, w->file), "folded");
    const char *name = workflow_text(w, w->name);
    double *work = mem_new_zero(double, boxes + 1), *memory = mem_new_zero(double, boxes + 1);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        work[f->of[t]] += w->work[t];
        memory[f->of[t]] = fmax(memory[f->of[t]], w->memory[t]);
    }
    builder_name(b, name, strlen(name));
    for (uint32_t i = 0; i < boxes; i++) {
        char number[16];
        int n = snprintf(number, sizeof number, "%u", i);
        builder_task(b, number, (size_t)n, 0);
        builder_work(b, i, work[i], 0);
        builder_memory(b, i, memory[i], 0);
    }
    fold_edges(f, w, b);
    free(work);
    free(memory);
    return builder_finish(b, NULL);
}

bool graph_fold(struct graph_fold *f, const struct workflow *w)
{
    *f = (struct graph_fold){.of = mem_new(uint32_t, w->ntasks + 1),
                             .count = mem_new_zero(uint32_t, w->ntasks + 1),
                             .first = mem_new(uint32_t, w->ntasks + 1)};
    uint32_t boxes = fold_number(f, w);
    if (boxes > w->ntasks - w->ntasks / 3) {
        graph_fold_free(f);
        return false;
    }
    f->drawn = fold_build(f, w, boxes);
    f->label = mem_new(char *, boxes + 1);
    for (uint32_t i = 0; i < boxes; i++)
        f->label[i] = fold_label(f, w, i);
    return true;
}

void graph_fold_free(struct graph_fold *f)
{
    for (uint32_t i = 0; f->label && i < f->drawn->ntasks; i++)
        free(f->label[i]);
    free(f->label);
    free(f->of);
    free(f->count);
    free(f->first);
    workflow_free(f->drawn);
    *f = (struct graph_fold){0};
}

/* ---- drawing ---- */

/* The path over boxes; tasks of one box follow each other as one. How many. */
static uint32_t fold_path(const struct graph_fold *f, const uint32_t *path, uint32_t n,
                          uint32_t *out)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!kept || out[kept - 1] != f->of[path[i]])
            out[kept++] = f->of[path[i]];
    return kept;
}

/* Seconds of a box are those of its tasks together; its colour is that of the task that took longest, since a
 * shade says how long; but one that failed wins. */
static void fold_times(const struct graph_fold *f, const struct workflow *w,
                       const struct graph_svg_options *o, const uint8_t *colour, double *sum,
                       uint8_t *shade)
{
    const double *seconds = o->seconds;
    double *longest = mem_new(double, f->drawn->ntasks + 1);
    for (uint32_t i = 0; i < f->drawn->ntasks; i++) {
        sum[i] = NAN;
        longest[i] = -1;
        shade[i] = colour[f->first[i]];
    }
    for (uint32_t t = 0; seconds && t < w->ntasks; t++) {
        uint32_t box = f->of[t];
        if (isnan(seconds[t]))
            continue;
        sum[box] = (isnan(sum[box]) ? 0 : sum[box]) + seconds[t];
        double weight = o->wins && colour[t] + 1 == o->wins ? INFINITY : seconds[t];
        if (weight > longest[box]) {
            longest[box] = weight;
            shade[box] = colour[t];
        }
    }
    free(longest);
}

void graph_fold_svg(const struct graph_fold *f, const struct workflow *w, struct strbuf *out,
                    const struct graph_svg_options *options, const char *subtitle)
{
    static const struct graph_svg_options standard = {0};
    const struct graph_svg_options *o = options ? options : &standard;
    struct kinds own = {0};
    if (!o->shades)
        kinds_of(&own, w);
    struct kinds shown = o->shades ? *o->shades : own;
    uint32_t boxes = f->drawn->ntasks, npath = o->npath;
    uint8_t *shade = mem_new_zero(uint8_t, boxes + 1);
    double *sum = mem_new(double, boxes + 1);
    uint32_t *path = mem_new(uint32_t, w->ntasks + 1), *own_path = mem_new(uint32_t, w->ntasks + 1);
    fold_times(f, w, o, shown.colour, sum, shade);
    shown.colour = shade;
    bool critical = o->path != NULL;
    if (!critical && !o->no_critical)
        critical = graph_critical_path(w, NULL, own_path, &npath) > 0;
    npath = critical ? fold_path(f, o->path ? o->path : own_path, npath, path) : 0;
    struct graph_svg_options mapped = *o;
    mapped.shades = &shown;
    mapped.subtitle = o->subtitle ? o->subtitle : subtitle;
    mapped.seconds = o->seconds ? sum : NULL;
    mapped.no_critical = !critical;
    mapped.path = critical ? path : NULL;
    mapped.npath = npath;
    mapped.labels = (const char *const *)f->label;
    mapped.folded = f->count;
    report_graph_svg(f->drawn, out, &mapped);
    free(path);
    free(own_path);
    free(sum);
    free(shade);
    kinds_free(&own);
}
