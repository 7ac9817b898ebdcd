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
    const uint32_t *off = map->off, *in = map->cluster;
    double longest = 0;
    for (uint32_t e = w->succ_off[task], last = w->succ_off[task + 1]; e < last; e++) {
        uint32_t j = w->succ_task[e], d = off[j], end = off[j + 1];
        double time = g->time[j];
        do { /* mostly one */
            double way = time + work->latest[d];
            if (in[d] != cluster) {
                if (!feeds || (several && stream_copy(map, task, in[d]) != NONE))
                    continue;
                way += g->transfer[e];
            }
            longest = way > longest ? way : longest;
        } while (++d < end);
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

/* The seconds that the transfers of each cluster take. What may travel with another transfer is left
 * out: counting less keeps it a bound. `join`: clusters that exchange become one component. Returns
 * the most of a cluster. */
static inline double bound_held(struct stream_work *work, const struct stream_map *map, bool join)
{
    const struct stream_graph *g = work->g;
    double *held = work->cluster_time, most = 0;
    for (uint32_t c = 0; c < map->nclusters; c++)
        held[c] = 0;
    for (const struct stream_step *x = g->steps, *end = x + g->norder; x < end; x++) {
        if (x->edge == NONE || x->shared)
            continue;
        uint32_t a = map->home[x->from];
        bool several = map->off[x->from + 1] - map->off[x->from] > 1;
        for (uint32_t c = map->off[x->task]; c < map->off[x->task + 1]; c++) {
            uint32_t b = map->cluster[c], pa = map->procs[a], pb = map->procs[b];
            if (b == a || (several && stream_copy(map, x->from, b) != NONE))
                continue;
            held[a] += x->time;
            held[b] += x->time;
            if (join)
                stream_join_components(work, a, b, pa < pb ? pa : pb);
        }
    }
    for (uint32_t c = 0; c < map->nclusters; c++)
        most = held[c] > most ? held[c] : most;
    return most;
}

/* A channel's cycle is at least the share of its cluster's transfers that it must carry, and a
 * component has the rate of its fewest processors. Mostly the fewest of all, or those of the cluster
 * alone, decide. */
bool stream_rate_below(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                       double rate)
{
    const struct stream_graph *g = work->g;
    uint32_t channels = ports ? ports : stream_ports(g, NULL, 0), m = map->nclusters;
    uint32_t fewest = UINT32_MAX;
    if (!g->uniform || !channels || rate <= 0)
        return false;
    stream_work_fit(work, m, map->off[g->ntasks]);
    double most = bound_held(work, map, false), *held = work->cluster_time;
    for (uint32_t c = 0; c < m; c++) {
        if (held[c] > 0 && (double)channels * map->procs[c] / held[c] < rate)
            return true;
        fewest = held[c] > 0 && map->procs[c] < fewest ? map->procs[c] : fewest;
    }
    if (most <= 0 || (double)channels * fewest / most >= rate)
        return false;
    for (uint32_t c = 0; c < m; c++) {
        work->parent[c] = c;
        work->least_procs[c] = UINT32_MAX;
    }
    bound_held(work, map, true);
    for (uint32_t c = 0; c < m; c++) {
        double procs = work->least_procs[stream_root(work->parent, c)];
        if (held[c] > 0 && channels * procs / held[c] < rate)
            return true;
    }
    return false;
}
