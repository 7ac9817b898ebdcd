/* Blocks with few bytes between them: what dagP does for the published DagHetPart, by simpler means
 * (moves that keep the numbers of blocks in order: Moreira, Popp, Schulz, Graph partitioning with
 * acyclicity constraints, SEA 2017).
 *
 *     order   ─────────┬─────────┬─────────┬─────▶   stretches of equal work are acyclic at once
 *     block      0     │    1    │    2    │  3
 *                         x ▲ may go to any block from the last of its producers to the first of its
 *                           │ consumers: no edge goes back then
 *
 * A task goes where the most bytes of its files are, if that block stays within a tenth of the mean
 * work, or if its own is the heavier one. Orders that finish a branch before the next (traversal.h) leave
 * few files between stretches, so that blocks side by side are found. */
#include "plan/memory/acyclic.h"
#include "base/mem.h"
#include <math.h>

enum { ACYCLIC_PASSES = 8 };
static const double ACYCLIC_SLACK = 1.1;

struct acyclic {
    const struct workflow *w;
    uint32_t *block, k;
    double *work;   /* per block */
    double *bytes;  /* per block: of the task that is looked at; 0 between two looks */
    double an_edge; /* what an edge counts beside its bytes, so that edges without files do, too */
    double most;    /* work of a block */
};

static double acyclic_work(const struct workflow *w, uint32_t task)
{
    return w->work[task] + 1e-9; /* tasks of no work are spread as well */
}

static double edge_bytes(const struct acyclic *a, uint32_t object)
{
    return a->an_edge + (object == NONE ? 0 : a->w->size[object]);
}

static void acyclic_stretches(struct acyclic *a, const uint32_t *order)
{
    double total = 0, done = 0;
    for (uint32_t t = 0; t < a->w->ntasks; t++)
        total += acyclic_work(a->w, t);
    for (uint32_t i = 0; i < a->w->ntasks; i++) {
        uint32_t t = order[i], b = (uint32_t)fmin(a->k - 1, floor(a->k * (done / total)));
        a->block[t] = b;
        a->work[b] += acyclic_work(a->w, t);
        done += acyclic_work(a->w, t);
    }
    a->most = ACYCLIC_SLACK * total / a->k;
}

/* The block for a task; its own if none is better. */
static uint32_t acyclic_better(struct acyclic *a, uint32_t t)
{
    const struct workflow *w = a->w;
    uint32_t own = a->block[t], low = 0, high = a->k - 1, best = own;
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
        uint32_t b = a->block[w->pred_task[e]];
        low = b > low ? b : low;
        a->bytes[b] += edge_bytes(a, w->pred_object[e]);
    }
    for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
        uint32_t b = a->block[w->succ_task[e]];
        high = b < high ? b : high;
        a->bytes[b] += edge_bytes(a, w->succ_object[e]);
    }
    const uint32_t asked[] = {low, high};
    for (int i = 0; i < 2; i++) {
        uint32_t b = asked[i];
        double now = a->work[b] + acyclic_work(w, t);
        if (a->bytes[b] > a->bytes[best] && (now <= a->most || now <= a->work[own]))
            best = b;
    }
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        a->bytes[a->block[w->pred_task[e]]] = 0;
    for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
        a->bytes[a->block[w->succ_task[e]]] = 0;
    return best;
}

/* Forwards and backwards in turns, so that a chain can follow its first or its last task. */
static bool acyclic_pass(struct acyclic *a, const uint32_t *order, bool back)
{
    bool moved = false;
    for (uint32_t i = 0; i < a->w->ntasks; i++) {
        uint32_t t = order[back ? a->w->ntasks - 1 - i : i], to = acyclic_better(a, t);
        if (to == a->block[t])
            continue;
        a->work[a->block[t]] -= acyclic_work(a->w, t);
        a->work[to] += acyclic_work(a->w, t);
        a->block[t] = to;
        moved = true;
    }
    return moved;
}

void acyclic_partition(const struct workflow *w, const uint32_t *order, uint32_t k, uint32_t *block)
{
    struct acyclic a = {.w = w, .block = block, .k = k, .an_edge = 1e-9};
    a.work = mem_new_zero(double, k);
    a.bytes = mem_new_zero(double, k);
    for (uint32_t o = 0; o < w->nobjects; o++)
        a.an_edge += 1e-3 * w->size[o] / w->nobjects;
    acyclic_stretches(&a, order);
    for (int pass = 0; pass < ACYCLIC_PASSES && acyclic_pass(&a, order, pass % 2); pass++)
        continue;
    free(a.work);
    free(a.bytes);
}
