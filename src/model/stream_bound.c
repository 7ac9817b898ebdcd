/* Bounds of a mapping's latency and rate, were there no contention: what they refuse need not be estimated. Searches ask for thousands of
 * mappings that differ little, and most are longer than the best so far already by the ways through them.
 *
 * A way goes from copy to copy: to the next one in its cluster, to readers beside it, and from home by a transfer to readers in
 * clusters that have no copy. All these are arcs of the schedule DAG of the estimate, which has more of them: those of links and
 * channels. Equal nodes only; O(copies + edges x copies). */
#include "model/stream_slots.h"

/* The longest way from the end of a copy to an exit, given those of its readers. */
static double bound_tail(const struct stream_work *work, const struct stream_map *map,
                         uint32_t task, uint32_t cluster)
{
    const struct stream_graph *g = work->g;
    const struct workflow *w = g->w;
    bool feeds = map->home[task] == cluster, several = map->off[task + 1] - map->off[task] > 1;
    double longest = 0;
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
        uint32_t j = w->succ_task[e];
        double time = g->time[j], transfer = g->transfer[e];
        for (uint32_t d = map->off[j]; d < map->off[j + 1]; d++) {
            double way = time + work->latest[d];
            if (map->cluster[d] != cluster) {
                if (!feeds || (several && stream_copy(map, task, map->cluster[d]) != NONE))
                    continue;
                way += transfer;
            }
            longest = way > longest ? way : longest;
        }
    }
    return longest;
}

double stream_bound_tails(struct stream_work *work, const struct stream_map *map, double limit)
{
    const struct stream_graph *g = work->g;
    double *after = work->cluster_time; /* from the start of the cluster's earliest copy so far */
    double longest = 0;
    for (uint32_t c = 0; c < map->nclusters; c++)
        after[c] = 0;
    /* consumers first */
    for (uint32_t k = g->ntasks; k-- > 0;) {
        uint32_t t = g->tasks[k];
        for (uint32_t c = map->off[t]; c < map->off[t + 1]; c++) {
            uint32_t b = map->cluster[c];
            double tail = bound_tail(work, map, t, b);
            work->latest[c] = tail > after[b] ? tail : after[b];
            after[b] = g->time[t] + work->latest[c];
            double way = g->head[t] + after[b];
            longest = way > longest ? way : longest;
            if (longest > limit)
                return longest;
        }
    }
    return longest;
}

bool stream_bound_exceeds(struct stream_work *work, const struct stream_map *map, double limit)
{
    if (!work->g->uniform || isinf(limit))
        return false;
    stream_work_fit(work, map->nclusters, map->off[work->g->ntasks]);
    return stream_bound_tails(work, map, limit) > limit;
}

double stream_bound_through(struct stream_work *work, const struct stream_map *map, uint32_t task,
                            uint32_t cluster)
{
    const struct stream_graph *g = work->g;
    double time = 0;
    if (!g->uniform)
        return 0;
    stream_work_fit(work, map->nclusters, map->off[g->ntasks]);
    stream_bound_tails(work, map, INFINITY);
    for (uint32_t k = 0; k < g->ntasks; k++) {
        uint32_t t = g->tasks[k], c = stream_copy(map, t, cluster);
        if (c == NONE)
            continue;
        time = (time > g->head[t] ? time : g->head[t]) + g->time[t];
        if (t == task)
            return time + work->latest[c];
    }
    return 0;
}

/* ---- the rate ---- */

/* A channel's cycle is at least the share of its cluster's transfers that it must carry. What may
 * travel with another transfer is left out: counting less keeps it a bound. */
double stream_rate_bound(struct stream_work *work, const struct stream_map *map, uint32_t ports)
{
    const struct stream_graph *g = work->g;
    uint32_t channels = ports ? ports : stream_ports(g, NULL, 0), m = map->nclusters;
    if (!g->uniform || !channels)
        return INFINITY;
    stream_work_fit(work, m, map->off[g->ntasks]);
    double *held = work->cluster_time, bound = INFINITY;
    for (uint32_t c = 0; c < m; c++) {
        work->parent[c] = c;
        work->least_procs[c] = UINT32_MAX;
        held[c] = 0;
    }
    for (uint32_t e = 0; e < g->nedges; e++) {
        uint32_t i = g->edge_from[e], j = g->w->succ_task[e], a = map->home[i];
        if (g->transfer[e] <= 0 || g->shared[e])
            continue;
        for (uint32_t c = map->off[j]; c < map->off[j + 1]; c++) {
            uint32_t b = map->cluster[c];
            if (b == a || stream_copy(map, i, b) != NONE)
                continue;
            uint32_t pa = map->procs[a], pb = map->procs[b];
            held[a] += g->transfer[e];
            held[b] += g->transfer[e];
            stream_join_components(work, a, b, pa < pb ? pa : pb);
        }
    }
    for (uint32_t c = 0; c < m; c++) {
        double most = (double)channels * work->least_procs[stream_root(work->parent, c)];
        if (held[c] > 0 && most < bound * held[c])
            bound = most / held[c];
    }
    return bound;
}
