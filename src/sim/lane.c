/* The plan as queues of placements, one for each core that it uses: a replay starts placements of a
 * lane in this order and no other. Counting sort by lane; only lanes that come out unsorted are
 * sorted. O(placements x cores each). */
#include "sim/lane.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>

/* Files can claim any number of cores; these keep memory below 400 MB and 2 GB. */
enum { MOST_LANES = 1 << 24, MOST_SLOTS = 1 << 29 };

/* Plans come from files: every number is checked before it is used as an index. Notes in node_first[n + 1]
 * how many cores of node n are in use. */
static bool check_placements(struct lanes *l, const struct workflow *w, const struct platform *p,
                             const struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        if (x->task >= w->ntasks)
            return error_set(err, ERROR_INPUT,
                             "the plan does not belong to this workflow: it places task number %u "
                             "of %u",
                             x->task, w->ntasks);
        if (x->node >= p->nnodes)
            return error_set(err, ERROR_INPUT,
                             "the plan does not belong to this platform: task '%s' is on node "
                             "number %u of %u",
                             workflow_task_name(w, x->task), x->node, p->nnodes);
        if (x->core >= p->cores[x->node] || w->cores[x->task] > p->cores[x->node] - x->core)
            return error_set(
                err, ERROR_INPUT,
                "task '%s' needs %u core(s) from core %u on of node '%s', which has %u",
                workflow_task_name(w, x->task), w->cores[x->task], x->core,
                platform_node_name(p, x->node), p->cores[x->node]);
        if (!isfinite(x->start) || !isfinite(x->finish) || x->start < 0 || x->finish < x->start)
            return error_set(err, ERROR_INPUT,
                             "task '%s' is planned from %g to %g: not a span of time",
                             workflow_task_name(w, x->task), x->start, x->finish);
        uint32_t end = x->core + w->cores[x->task];
        if (l->node_first[x->node + 1] < end)
            l->node_first[x->node + 1] = end;
    }
    return true;
}

int lane_compare_keys(const void *a, const void *b)
{
    const struct lane_key *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->placement > y->placement) - (x->placement < y->placement);
}

/* Lanes are filled in the order of the plan, which planners deliver sorted by start; only lanes
 * that this leaves out of order (equal starts, plans written by hand) come here. */
static void sort_lane(const struct workflow *w, const struct plan *plan, uint32_t *at, size_t n,
                      uint32_t **rank)
{
    const struct placement *place = plan->placements.at;
    if (!*rank) {
        *rank = mem_new(uint32_t, w->ntasks);
        for (uint32_t i = 0; i < w->ntasks; i++)
            (*rank)[w->topo[i]] = i;
    }
    struct lane_key *keys = mem_new(struct lane_key, n);
    for (size_t i = 0; i < n; i++) {
        const struct placement *x = &place[at[i]];
        keys[i] = (struct lane_key){x->start, x->finish, (*rank)[x->task], at[i]};
    }
    qsort(keys, n, sizeof *keys, lane_compare_keys);
    for (size_t i = 0; i < n; i++)
        at[i] = keys[i].placement;
    free(keys);
}

/* Three passes over the placements: how many cores each node uses, how many placements each core
 * has, then who stands where. Planners hand placements over in order of their start, so that a core
 * is nearly always sorted when it is filled; only those that are not are sorted, by planned start,
 * planned finish, then the graph's order. */
bool lanes_build(struct lanes *l, const struct workflow *w, const struct platform *p,
                 const struct plan *plan, struct error *err)
{
    *l = (struct lanes){0};
    /* Lanes only for the cores in use: a node may claim a billion cores. */
    l->node_first = mem_new_zero(uint32_t, (size_t)p->nnodes + 1);
    if (!check_placements(l, w, p, plan, err)) {
        lanes_free(l);
        return false;
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < p->nnodes; i++) {
        total += l->node_first[i + 1];
        if (total > MOST_LANES) {
            lanes_free(l);
            return error_set(err, ERROR_INPUT, "the plan uses more than %d cores", MOST_LANES);
        }
        l->node_first[i + 1] = (uint32_t)total;
    }
    l->nlanes = (uint32_t)total;
    l->off = mem_new_zero(size_t, (size_t)l->nlanes + 1);
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        for (uint32_t c = 0; c < w->cores[x->task]; c++)
            l->off[l->node_first[x->node] + x->core + c + 1]++;
    }
    for (uint32_t i = 0; i < l->nlanes; i++)
        l->off[i + 1] += l->off[i];
    if (l->off[l->nlanes] > MOST_SLOTS) {
        lanes_free(l);
        return error_set(err, ERROR_INPUT,
                         "the tasks of the plan occupy more than %d cores one after the other",
                         MOST_SLOTS);
    }
    l->placement = mem_new(uint32_t, l->off[l->nlanes]);
    l->head = mem_new(size_t, l->nlanes);
    /* -1 before the first: starts are at least 0 */
    double *last = mem_new(double, l->nlanes); /* NAN: the lane is out of order */
    for (uint32_t i = 0; i < l->nlanes; i++) {
        l->head[i] = l->off[i];
        last[i] = -1;
    }
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        for (uint32_t c = 0; c < w->cores[x->task]; c++) {
            uint32_t lane = l->node_first[x->node] + x->core + c;
            l->placement[l->head[lane]++] = (uint32_t)i;
            last[lane] = x->start > last[lane] ? x->start : NAN;
        }
    }
    uint32_t *rank = NULL;
    for (uint32_t i = 0; i < l->nlanes; i++) {
        l->head[i] = l->off[i];
        if (isnan(last[i]))
            sort_lane(w, plan, l->placement + l->off[i], l->off[i + 1] - l->off[i], &rank);
    }
    free(rank);
    free(last);
    return true;
}

void lanes_free(struct lanes *l)
{
    free(l->node_first);
    free(l->off);
    free(l->placement);
    free(l->head);
    *l = (struct lanes){0};
}
