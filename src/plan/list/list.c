/* What the list planners share: begin and end of a run, placing with an error that names the task,
 * ranks, orders, and the set of ready tasks. All of it is O(edges + tasks log tasks) but for the
 * schedule itself.
 *
 * Where pairs of nodes cannot talk, means over the network are taken over those that can, so that
 * ranks stay finite. */
#include "plan/list/list.h"
#include "model/graph.h"

bool list_begin(struct list_run *l, const struct plan_request *request, struct error *err)
{
    *l = (struct list_run){.w = request->workflow, .p = request->platform};
    l->costs = costs_new(l->w, l->p, err);
    if (!l->costs)
        return false;
    l->s = schedule_new(l->costs);
    return true;
}

struct plan *list_end(struct list_run *l, bool done)
{
    struct plan *plan = done ? schedule_plan(l->s) : NULL;
    schedule_free(l->s);
    costs_free(l->costs);
    return plan;
}

bool list_place(struct list_run *l, uint32_t task, struct schedule_slot slot, struct error *err)
{
    if (!(slot.finish < INFINITY))
        return error_set(err, ERROR_INFEASIBLE,
                         "task '%s': no node that can run it can be reached from where its inputs "
                         "are; another planner may find a way, or give the nodes links",
                         workflow_task_name(l->w, task));
    schedule_place(l->s, task, slot);
    return true;
}

bool list_place_in_order(struct list_run *l, const uint32_t *order, struct error *err)
{
    for (uint32_t i = 0; i < l->w->ntasks; i++)
        if (!list_place(l, order[i], schedule_best(l->s, order[i]), err))
            return false;
    return true;
}

double *rank_times(const struct costs *c)
{
    uint32_t ntasks = c->workflow->ntasks, nnodes = c->platform->nnodes;
    double *times = mem_new(double, ntasks);
    double inverse = 0; /* the mean for all tasks that run everywhere at work / speed */
    for (uint32_t n = 0; n < nnodes; n++)
        inverse += c->inverse_speed[n] / nnodes;
    for (uint32_t t = 0; t < ntasks; t++) {
        bool plain = !(c->restricted && c->restricted[t]) && !(c->own_row && c->own_row[t] != NONE);
        times[t] = plain ? c->workflow->work[t] * inverse : costs_mean(c, t);
    }
    return times;
}

void rank_network(const struct platform *p, double *latency, double *seconds_per_byte)
{
    platform_mean_transfer(p, latency, seconds_per_byte);
    if (isfinite(*latency) && isfinite(*seconds_per_byte))
        return;
    /* Some pairs cannot talk: the mean over those that can. */
    double latencies = 0, seconds = 0, pairs = 0;
    for (uint32_t a = 0; a < p->nnodes; a++)
        for (uint32_t b = 0; b < p->nnodes; b++) {
            double bandwidth, wait;
            if (a == b)
                continue;
            platform_link(p, a, b, &bandwidth, &wait);
            if (!(bandwidth > 0))
                continue;
            latencies += wait;
            seconds += 1 / bandwidth;
            pairs++;
        }
    *latency = pairs > 0 ? latencies / pairs : 0;
    *seconds_per_byte = pairs > 0 ? seconds / pairs : 0;
}

double *rank_upward(const struct costs *c, const double *times)
{
    double *rank = mem_new(double, c->workflow->ntasks), latency, seconds_per_byte;
    rank_network(c->platform, &latency, &seconds_per_byte);
    graph_bottom_levels(c->workflow, times, latency, seconds_per_byte, rank);
    return rank;
}

double *rank_downward(const struct costs *c, const double *times)
{
    double *rank = mem_new(double, c->workflow->ntasks), latency, seconds_per_byte;
    rank_network(c->platform, &latency, &seconds_per_byte);
    graph_top_levels(c->workflow, times, latency, seconds_per_byte, rank);
    return rank;
}

double *rank_static(const struct costs *c, const double *times)
{
    double *rank = mem_new(double, c->workflow->ntasks);
    graph_bottom_levels(c->workflow, times, 0, 0, rank);
    return rank;
}

/* For sorting by a key; the position in topological order breaks ties and makes the order total. */
struct list_ranked {
    double key;
    uint32_t position, task;
};

static int compare_ranked_tasks(const void *a, const void *b)
{
    const struct list_ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static uint32_t *order_by(const struct workflow *w, const double *key, double sign)
{
    struct list_ranked *ranked = mem_new(struct list_ranked, w->ntasks);
    for (uint32_t i = 0; i < w->ntasks; i++)
        ranked[i] = (struct list_ranked){sign * key[w->topo[i]], i, w->topo[i]};
    qsort(ranked, w->ntasks, sizeof *ranked, compare_ranked_tasks);
    uint32_t *order = mem_new(uint32_t, w->ntasks);
    for (uint32_t i = 0; i < w->ntasks; i++)
        order[i] = ranked[i].task;
    free(ranked);
    return order;
}

uint32_t *rank_order(const struct workflow *w, const double *rank)
{
    return order_by(w, rank, -1);
}

uint32_t *rank_order_rising(const struct workflow *w, const double *key)
{
    return order_by(w, key, 1);
}

void ready_init(struct ready *r, const struct workflow *w)
{
    *r = (struct ready){.w = w, .missing = mem_new(uint32_t, w->ntasks)};
    for (uint32_t t = 0; t < w->ntasks; t++) {
        r->missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!r->missing[t])
            array_push(&r->fresh, t);
    }
}

void ready_free(struct ready *r)
{
    free(r->missing);
    array_free(&r->fresh);
}

void ready_done(struct ready *r, uint32_t task)
{
    for (uint32_t e = r->w->succ_off[task]; e < r->w->succ_off[task + 1]; e++)
        if (--r->missing[r->w->succ_task[e]] == 0)
            array_push(&r->fresh, r->w->succ_task[e]);
}

void ready_push(struct ready *r, struct heap *heap, const double *key, double sign)
{
    for (size_t i = 0; i < r->fresh.n; i++)
        heap_push(heap, sign * key[r->fresh.at[i]], r->fresh.at[i]);
    r->fresh.n = 0;
}
