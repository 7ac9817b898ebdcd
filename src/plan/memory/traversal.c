/* Orders that need little memory. They are made for one node, and planners of many nodes take them, too, where
 * memory is short: what is begun in such an order is finished soon, so that few files wait.
 *
 * Of a tree the best one; of a series-parallel graph (series.h), too, where each file has one reader; of other graphs the
 * best of three greedy ones and of what series.h makes of them.
 *
 * Greedy: of the tasks that are ready, the one after which the least waits (what it leaves less what it was
 * the last to read); or the one that became ready last, so that branches are finished before others are begun;
 * or as the file has them. What a task frees grows when it becomes the last reader of an object: it is then
 * put into the queue again, and the older entry is passed over. */
#include "plan/memory/traversal.h"
#include "base/heap.h"
#include "base/mem.h"
#include "model/graph.h"
#include "model/tree.h"
#include "plan/memory/keep.h"
#include "plan/memory/series.h"

struct traversal {
    const struct workflow *w;
    uint32_t *left;    /* per object: readers to come */
    uint32_t *missing; /* per task: edges from tasks to come */
    uint8_t *done;
    struct heap ready;
};

/* Bytes that wait after the task less those before it. */
static double traversal_delta(const struct traversal *t, uint32_t task)
{
    const struct workflow *w = t->w;
    double delta = 0;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        delta += workflow_is_intermediate(w, o) ? w->size[o] : 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t o = w->pred_object[e];
        delta -= o != NONE && t->left[o] == 1 ? w->size[o] : 0;
    }
    return delta;
}

/* `turn` counts the steps: with the depth first, later ones come first. */
static void traversal_offer(struct traversal *t, uint32_t task, bool deep, uint32_t turn)
{
    heap_push(&t->ready, deep ? -(double)turn : traversal_delta(t, task), task);
}

static void traversal_run(struct traversal *t, uint32_t task, bool deep, uint32_t turn)
{
    const struct workflow *w = t->w;
    t->done[task] = 1;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t o = w->pred_object[e], count;
        if (o == NONE || --t->left[o] != 1 || deep)
            continue;
        const uint32_t *reader = workflow_consumers(w, o, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!t->done[reader[i]] && !t->missing[reader[i]])
                traversal_offer(t, reader[i], deep, turn);
    }
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++)
        if (--t->missing[w->succ_task[e]] == 0)
            traversal_offer(t, w->succ_task[e], deep, turn);
}

/* O(edges + tasks log tasks): a task is offered once when it is ready, and once more for every object that it
 * is left as the only reader of. */
static uint32_t *traversal_greedy(const struct workflow *w, bool deep)
{
    struct traversal t = {.w = w};
    t.left = mem_new_zero(uint32_t, w->nobjects);
    t.missing = mem_new(uint32_t, w->ntasks);
    t.done = mem_new_zero(uint8_t, w->ntasks);
    for (uint32_t o = 0; o < w->nobjects; o++)
        workflow_consumers(w, o, &t.left[o]);
    uint32_t *order = mem_new(uint32_t, w->ntasks), n = 0;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t task = w->topo[i];
        t.missing[task] = w->pred_off[task + 1] - w->pred_off[task];
        if (!t.missing[task])
            traversal_offer(&t, task, deep, 0);
    }
    while (t.ready.n) {
        uint32_t task = (uint32_t)heap_pop(&t.ready).value;
        if (t.done[task])
            continue;
        order[n++] = task;
        traversal_run(&t, task, deep, n);
    }
    free(t.left);
    free(t.missing);
    free(t.done);
    heap_free(&t.ready);
    return order;
}

uint32_t *traversal_deep(const struct workflow *w)
{
    return traversal_greedy(w, true);
}

/* NULL: it is no tree. */
static uint32_t *traversal_of_tree(const struct workflow *w)
{
    struct tree *t = graph_tree_shape(w) == TREE_NOT ? NULL : tree_new(w, NULL);
    if (!t)
        return NULL;
    struct tree_memory *memory = tree_memory_new(t);
    uint32_t *order = mem_new(uint32_t, w->ntasks), count = 0;
    tree_least_memory(memory, 0, NULL, TREE_STRICT, order, &count);
    for (uint32_t i = 0; i < count; i++)
        order[i] = t->task[order[i]];
    if (count != w->ntasks) {
        free(order);
        order = NULL;
    }
    tree_memory_free(memory);
    tree_free(t);
    return order;
}

double traversal_peak(const struct workflow *w, const uint32_t *order)
{
    uint32_t *left = mem_new_zero(uint32_t, w->nobjects);
    double waiting = 0, peak = 0;
    for (uint32_t o = 0; o < w->nobjects; o++)
        workflow_consumers(w, o, &left[o]);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = order[i];
        double inputs = 0, kept = 0;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            inputs += w->pred_object[e] == NONE ? 0 : w->size[w->pred_object[e]];
        double now = waiting - inputs + keep_task_bytes(w, t);
        peak = now > peak ? now : peak;
        for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
            kept += workflow_is_intermediate(w, o) ? w->size[o] : 0;
        waiting += kept;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (w->pred_object[e] != NONE && --left[w->pred_object[e]] == 0)
                waiting -= w->size[w->pred_object[e]];
    }
    free(left);
    return peak;
}

uint32_t *traversal_best(const struct workflow *w, double *peak)
{
    uint32_t *topo = mem_new(uint32_t, w->ntasks), *best = NULL;
    for (uint32_t i = 0; i < w->ntasks; i++)
        topo[i] = w->topo[i];
    uint32_t *greedy = traversal_greedy(w, false);
    uint32_t *all[] = {traversal_of_tree(w), series_order(w, greedy), greedy,
                       traversal_greedy(w, true), topo};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double own = all[i] ? traversal_peak(w, all[i]) : INFINITY;
        if (all[i] && (!best || own < *peak)) {
            free(best);
            best = all[i];
            *peak = own;
        } else {
            free(all[i]);
        }
    }
    return best;
}

double *traversal_keys(const struct workflow *w)
{
    double peak, *key = mem_new(double, w->ntasks);
    uint32_t *order = traversal_best(w, &peak);
    for (uint32_t i = 0; i < w->ntasks; i++)
        key[order[i]] = i;
    free(order);
    return key;
}
