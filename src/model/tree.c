/* A workflow that is a tree, renumbered level by level from the root, so that parents have lower
 * numbers than children and passes over the tree are loops over an array. */
#include "model/tree.h"
#include "base/mem.h"
#include "model/graph.h"

#include <math.h>
#include <stdlib.h>

/* Bytes on the edges between a task and its one neighbour; without a neighbour, of what it takes
 * from or leaves to the outside. */
static double file_of(const struct workflow *w, bool in, uint32_t task)
{
    const uint32_t *off = in ? w->succ_off : w->pred_off;
    const uint32_t *object = in ? w->succ_object : w->pred_object;
    double bytes = 0;
    for (uint32_t e = off[task]; e < off[task + 1]; e++)
        bytes += object[e] == NONE ? 0 : w->size[object[e]];
    if (off[task] < off[task + 1])
        return bytes;
    if (in)
        for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
            bytes += w->size[o];
    else if (w->input_off)
        for (uint32_t i = w->input_off[task]; i < w->input_off[task + 1]; i++)
            bytes += w->size[w->input_object[i]];
    return bytes;
}

/* Breadth first: the numbers given so far are the queue. */
struct tree *tree_new(const struct workflow *w, struct error *err)
{
    enum tree_shape shape = graph_tree_shape(w);
    if (shape == TREE_NOT) {
        error_set(err, ERROR_INPUT,
                  "the workflow is not a tree: every task but one must have exactly one %s",
                  "predecessor (or exactly one successor)");
        return NULL;
    }
    struct tree *t = mem_new_zero(struct tree, 1);
    uint32_t n = t->n = w->ntasks, next = 0;
    t->in = shape == TREE_IN;
    t->task = mem_new(uint32_t, n);
    t->number = mem_new(uint32_t, n);
    t->parent = mem_new(uint32_t, n);
    t->child_off = mem_new(uint32_t, (size_t)n + 1);
    t->work = mem_new(double, n);
    t->memory = mem_new(double, n);
    t->file = mem_new(double, n);
    const uint32_t *towards = t->in ? w->succ_off : w->pred_off; /* edges to the parent */
    const uint32_t *away = t->in ? w->pred_off : w->succ_off;    /* edges to the children */
    const uint32_t *child = t->in ? w->pred_task : w->succ_task;
    for (uint32_t i = 0; i < n; i++)
        t->number[i] = NONE;
    for (uint32_t i = 0; i < n; i++)
        if (towards[i] == towards[i + 1]) {
            t->number[i] = next;
            t->parent[next] = NONE;
            t->task[next++] = i;
        }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t task = t->task[i];
        t->child_off[i] = next;
        for (uint32_t e = away[task]; e < away[task + 1]; e++) {
            uint32_t c = child[e];
            if (t->number[c] != NONE)
                continue; /* several objects to one child */
            t->number[c] = next;
            t->parent[next] = i;
            t->task[next++] = c;
        }
        t->work[i] = w->work[task];
        t->memory[i] = w->memory[task];
        t->file[i] = file_of(w, t->in, task);
    }
    t->child_off[n] = next;
    return t;
}

void tree_free(struct tree *t)
{
    if (!t)
        return;
    free(t->task);
    free(t->number);
    free(t->parent);
    free(t->child_off);
    free(t->work);
    free(t->memory);
    free(t->file);
    free(t);
}

/* req(i) of the HetPart paper: file, memory and the children's files are there while i runs. */
double tree_need(const struct tree *t, uint32_t i)
{
    double bytes = t->file[i] + t->memory[i];
    for (uint32_t c = t->child_off[i]; c < t->child_off[i + 1]; c++)
        bytes += t->file[c];
    return bytes;
}

double tree_largest_need(const struct tree *t)
{
    double most = 0;
    for (uint32_t i = 0; i < t->n; i++)
        most = fmax(most, tree_need(t, i));
    return most;
}
