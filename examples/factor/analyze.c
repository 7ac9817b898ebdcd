/* Ordering, fronts and their tree (all by CHOLMOD), and what the tree takes in memory (by weft). */
#include "internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double analyze_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool factor_failed(struct weft_error *error, enum weft_status status, const char *text)
{
    if (error) {
        error->status = status;
        snprintf(error->text, sizeof error->text, "%s", text);
    }
    return false;
}

/* The supernodes of a symbolic factor. Rows of a front that are not its own columns are rows of its parent, too: the
 * one that has the first of them as a column. */
static bool analyze_fronts(struct factor *f, const cholmod_factor *l)
{
    const int *super = l->super, *start = l->pi, *rows = l->s;
    f->fronts = (uint32_t)l->nsuper;
    f->front = calloc(f->fronts + 1, sizeof *f->front);
    f->index = malloc((l->ssize + 1) * sizeof *f->index);
    f->place = malloc((l->ssize + 1) * sizeof *f->place);
    uint32_t *of = malloc((l->n + 1) * sizeof *of); /* by column: its front */
    uint32_t *at =
        malloc((l->n + 1) * sizeof *at); /* by row: where it stands in the front at hand */
    uint64_t panel = 0;
    if (!f->front || !f->index || !f->place || !of || !at) {
        free(of);
        free(at);
        return false;
    }
    for (size_t e = 0; e < l->ssize; e++)
        f->index[e] = (uint32_t)rows[e];
    for (uint32_t s = 0; s < f->fronts; s++) {
        uint32_t first = (uint32_t)super[s], width = (uint32_t)super[s + 1] - first;
        f->front[s] = (struct front){first,
                                     width,
                                     (uint32_t)(start[s + 1] - start[s]),
                                     (uint32_t)start[s],
                                     UINT32_MAX,
                                     UINT32_MAX,
                                     UINT32_MAX,
                                     panel};
        panel += (uint64_t)width * f->front[s].rows;
        for (uint32_t j = first; j < first + width; j++)
            of[j] = s;
    }
    f->figures.entries = (double)panel;
    for (uint32_t s = f->fronts; s--;) { /* children are listed by rising number */
        struct front *x = &f->front[s];
        if (!front_border(x))
            continue;
        x->parent = of[f->index[x->row + x->width]];
        x->sibling = f->front[x->parent].child;
        f->front[x->parent].child = s;
    }
    for (uint32_t s = 0; s < f->fronts; s++) {
        const struct front *x = &f->front[s];
        for (uint32_t i = 0; i < x->rows; i++)
            at[f->index[x->row + i]] = i;
        for (uint32_t c = x->child; c != UINT32_MAX; c = f->front[c].sibling)
            for (uint32_t i = f->front[c].width; i < f->front[c].rows; i++)
                f->place[f->front[c].row + i] = at[f->index[f->front[c].row + i]];
    }
    free(of);
    free(at);
    return true;
}

struct weft_workflow *factor_tree(const struct factor *f, bool scratch, struct weft_error *error)
{
    struct weft_builder *b = weft_builder_new("fronts");
    uint32_t roots = 0;
    char name[16];
    for (uint32_t s = 0; s < f->fronts; s++) {
        const struct front *x = &f->front[s];
        snprintf(name, sizeof name, "f%u", s);
        uint32_t task = weft_builder_task(b, name), object;
        weft_builder_call(b, task, ":front");
        double width = x->width, rows = x->rows;
        weft_builder_work(b, task, width * rows * rows * 1e-10); /* about 10 GFLOP/s */
        if (scratch)
            weft_builder_memory(b, task, (double)front_panel_bytes(x));
        roots += x->parent == UINT32_MAX;
        object = x->parent == UINT32_MAX ? WEFT_NONE : weft_builder_object(b, name);
        if (object == WEFT_NONE)
            continue;
        weft_builder_in_memory(b, object);
        weft_builder_size(b, object, (double)front_left_bytes(x));
        weft_builder_writes(b, task, object);
    }
    for (uint32_t s = 0; s < f->fronts; s++)
        for (uint32_t c = f->front[s].child; c != UINT32_MAX; c = f->front[c].sibling) {
            snprintf(name, sizeof name, "f%u", c);
            weft_builder_reads(b, s, weft_builder_object(b, name));
        }
    if (roots > 1) { /* planners of trees want one */
        uint32_t end = weft_builder_task(b, "end");
        weft_builder_call(b, end, ":front");
        for (uint32_t s = 0; s < f->fronts; s++)
            if (f->front[s].parent == UINT32_MAX)
                weft_builder_order(b, s, end);
    }
    return weft_builder_finish(b, error);
}

/* With what it reads; `scratch`: its columns of L, too. */
static double analyze_largest(const struct factor *f, bool scratch)
{
    double largest = 0;
    for (uint32_t s = 0; s < f->fronts; s++) {
        const struct front *x = &f->front[s];
        double bytes = (double)front_left_bytes(x) + (scratch ? (double)front_panel_bytes(x) : 0);
        for (uint32_t c = x->child; c != UINT32_MAX; c = f->front[c].sibling)
            bytes += (double)front_left_bytes(&f->front[c]);
        largest = fmax(largest, bytes);
    }
    return largest;
}

/* Those of the columns, one by one. */
static double analyze_operations(const struct factor *f)
{
    double sum = 0;
    for (uint32_t s = 0; s < f->fronts; s++)
        for (uint32_t j = 0; j < f->front[s].width; j++)
            sum += (double)(f->front[s].rows - j) * (double)(f->front[s].rows - j);
    return sum;
}

/* By weft's planner for trees: the least memory of one node on which every front runs (Liu 1987). */
static double analyze_least(const struct weft_workflow *flow, struct weft_error *error)
{
    struct weft_compute_figures figures = {0};
    struct weft_compute_options o = WEFT_COMPUTE_INIT;
    o.functions = (struct weft_function[]){{"front", factor_front}, {NULL, NULL}};
    o.memory = 1e300;
    o.look = true;
    return weft_compute(flow, &o, &figures, error) ? figures.needed : -1;
}

/* What it would take if L went to a file. */
static bool analyze_with_file(struct factor *f, struct weft_error *error)
{
    struct factor_figures *g = &f->figures;
    struct weft_workflow *flow = factor_tree(f, true, error);
    g->least_with_file = flow ? analyze_least(flow, error) : -1;
    g->largest_with_file = analyze_largest(f, true);
    weft_workflow_free(flow);
    return g->least_with_file >= 0;
}

/* Which of the three ways (factor.h). */
static bool analyze_plan(struct factor *f, struct weft_error *error)
{
    struct factor_figures *g = &f->figures;
    double memory = f->o.memory;
    g->factor_bytes = g->entries * sizeof(double);
    g->on_disk = f->o.disk;
    for (int way = f->o.disk ? 2 : 1; way <= 2; way++) {
        g->on_disk = way == 2;
        weft_workflow_free(f->flow);
        f->flow = factor_tree(f, g->on_disk, error);
        g->least = f->flow ? analyze_least(f->flow, error) : -1;
        if (g->least < 0)
            return false;
        if (!memory || (way == 1 && g->factor_bytes + g->least <= memory))
            break;
    }
    if (f->o.ways && !g->on_disk && !analyze_with_file(f, error))
        return false;
    g->largest = analyze_largest(f, g->on_disk);
    g->operations = analyze_operations(f);
    g->promise = memory ? memory : INFINITY;
    f->budget = memory ? memory - (g->on_disk ? 0 : g->factor_bytes) : 0;
    if (!memory || g->largest <= f->budget)
        return true;
    char text[200];
    snprintf(text, sizeof text,
             "the largest front takes %.0f bytes with what it reads, and memory is limited to %.0f",
             g->largest, memory);
    return factor_failed(error, WEFT_INFEASIBLE, text);
}

/* The matrix by the order, its lower half with rising rows. */
static bool analyze_permute(struct factor *f, cholmod_sparse *a, const cholmod_factor *l)
{
    cholmod_sparse *upper = cholmod_ptranspose(a, 1, l->Perm, NULL, 0, f->common);
    f->a = upper ? cholmod_ptranspose(upper, 1, NULL, NULL, 0, f->common) : NULL;
    cholmod_free_sparse(&upper, f->common);
    f->order = malloc((l->n + 1) * sizeof *f->order);
    if (f->order)
        memcpy(f->order, l->Perm, l->n * sizeof *f->order);
    return f->a && f->order && cholmod_sort(f->a, f->common);
}

struct factor *factor_analyze(cholmod_sparse *a, const struct factor_options *options,
                              cholmod_common *common, struct weft_error *error)
{
    double start = analyze_seconds();
    struct factor *f = calloc(1, sizeof *f);
    if (!f || a->stype >= 0 || a->xtype != CHOLMOD_REAL || a->itype != CHOLMOD_INT) {
        free(f);
        factor_failed(error, WEFT_BAD_INPUT,
                      "expected a real symmetric matrix of which the lower half is stored");
        return NULL;
    }
    f->o = *options;
    f->common = common;
    f->file = -1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    f->o.threads = f->o.threads ? f->o.threads : cores > 0 ? (uint32_t)cores : 1;
    common->supernodal = CHOLMOD_SUPERNODAL;
    cholmod_factor *l = cholmod_analyze(a, common);
    bool good = l && analyze_permute(f, a, l) && analyze_fronts(f, l);
    f->figures.rows = (uint32_t)a->nrow;
    f->figures.fronts = f->fronts;
    cholmod_free_factor(&l, common);
    double middle = analyze_seconds();
    f->figures.analyze_seconds = middle - start;
    if (!good)
        factor_failed(error, WEFT_NO_MEMORY, "no memory for the analysis");
    if (good && analyze_plan(f, error)) {
        f->figures.plan_seconds = analyze_seconds() - middle;
        return f;
    }
    factor_free(f);
    return NULL;
}
