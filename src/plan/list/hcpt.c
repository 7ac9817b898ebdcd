/* HCPT, heterogeneous critical parent trees: Hagras and Janecek, ISPDC 2003.
 *
 * Listing phase: critical tasks (average latest start equals average earliest start) by rising
 * latest start, each preceded by its unlisted ancestors, of which the one that has to start first
 * goes first: a depth-first walk up the parents, on a stack of our own because graphs may be a
 * million tasks deep. Assignment phase: each in list order into the slot in which it ends first, as
 * HEFT.
 *
 * O(edges log degree + tasks log tasks) for the list, then as HEFT. Ties: lowest task; topological
 * order. */
#include "plan/list/list.h"

struct hcpt {
    const struct workflow *w;
    const double *latest; /* average latest start */
    bool *listed;
    uint32_t *order, count;
    ARRAY(uint32_t) stack;
    uint32_t
        *next_edge; /* per task: its predecessors are sorted by latest start; how many are done */
    uint32_t *parents; /* the predecessors of all tasks, each run sorted by (latest start, index) */
};

static int compare_parents(const void *a, const void *b, void *context)
{
    const double *latest = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (latest[x] != latest[y])
        return latest[x] < latest[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* List the task after all its unlisted ancestors, of each task's parents the one that has to start
 * first. */
static void list_with_ancestors(struct hcpt *h, uint32_t task)
{
    if (h->listed[task])
        return;
    array_push(&h->stack, task);
    while (h->stack.n) {
        uint32_t top = array_last(&h->stack), next = NONE;
        while (h->next_edge[top] < h->w->pred_off[top + 1] && next == NONE) {
            uint32_t parent = h->parents[h->next_edge[top]++];
            if (!h->listed[parent])
                next = parent;
        }
        if (next != NONE) {
            array_push(&h->stack, next);
            continue;
        }
        h->stack.n--;
        if (!h->listed[top])
            h->order[h->count++] = top;
        h->listed[top] = true;
    }
}

/* Tasks as the listing phase of the paper puts them. */
static uint32_t *hcpt_listing(const struct costs *c)
{
    const struct workflow *w = c->workflow;
    double *times = rank_times(c), *up = rank_upward(c, times), *earliest = rank_downward(c, times);
    double path = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        path = fmax(path, up[t]);
    double *latest = mem_new(double, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        latest[t] = path - up[t];
    struct hcpt h = {.w = w, .latest = latest};
    h.listed = mem_new_zero(bool, w->ntasks);
    h.order = mem_new(uint32_t, w->ntasks);
    h.next_edge = mem_new(uint32_t, w->ntasks);
    h.parents = mem_new(uint32_t, w->nedges);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t first = h.next_edge[t] = w->pred_off[t], count = w->pred_off[t + 1] - first;
        for (uint32_t e = first; e < first + count; e++)
            h.parents[e] = w->pred_task[e];
        if (count > 1)
            qsort_r(h.parents + first, count, sizeof *h.parents, compare_parents, latest);
    }
    uint32_t *rising = rank_order_rising(w, latest);
    for (uint32_t i = 0; i < w->ntasks; i++)
        if (latest[rising[i]] - earliest[rising[i]] <= 1e-9 * path)
            list_with_ancestors(&h, rising[i]);
    /* The paper has one exit, which is critical; with several, the rest follows by latest start. */
    for (uint32_t i = 0; i < w->ntasks; i++)
        list_with_ancestors(&h, rising[i]);
    free(rising);
    free(times);
    free(up);
    free(earliest);
    free(latest);
    free(h.listed);
    free(h.next_edge);
    free(h.parents);
    array_free(&h.stack);
    return h.order;
}

static struct plan *run_hcpt(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    uint32_t *order = hcpt_listing(l.costs);
    bool done = list_place_in_order(&l, order, err);
    free(order);
    return list_end(&l, done);
}

const struct planner planner_hcpt = {
    .name = "hcpt",
    .family = "list",
    .summary = "heterogeneous critical parent trees: critical tasks after their unlisted "
               "ancestors, then the slot that ends first",
    .paper = "T. Hagras, J. Janecek: A simple scheduling heuristic for heterogeneous computing "
             "environments. ISPDC 2003",
    .tie_rule = "equal latest starts: critical tasks first in topological order, parents lowest "
                "index; equal ends: lowest node",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_hcpt,
};
