/* Times of a stream's copies and transfers, and the ports of its clusters: where nodes are alike they
 * are the graph's, else those of the worst replica or pair of replicas. */
#include "model/stream.h"

/* A cluster is as slow as its slowest replica; where no nodes are named, as the slowest node that
 * is up. */
double stream_time(const struct stream_graph *g, const struct stream_map *map, uint32_t task,
                   uint32_t cluster)
{
    if (g->uniform)
        return g->time[task];
    double worst = 0;
    if (map->node_off && map->node_off[cluster] < map->node_off[cluster + 1]) {
        for (uint32_t i = map->node_off[cluster]; i < map->node_off[cluster + 1]; i++)
            worst = fmax(worst, costs_time(g->costs, task, map->nodes[i]));
        return worst;
    }
    for (uint32_t node = 0; node < g->p->nnodes; node++) {
        double time = costs_time(g->costs, task, node);
        if (g->p->up[node] && isfinite(time))
            worst = fmax(worst, time);
    }
    return worst;
}

/* Replicas i and j meet when some item number is i modulo one count and j modulo the other. */
static bool replicas_meet(uint32_t i, uint32_t j, uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b;
    while (y) {
        uint32_t rest = x % y;
        x = y;
        y = rest;
    }
    return i % x == j % x;
}

/* The longest transfer among pairs of replicas that meet. Without nodes: the slowest link of the
 * platform. */
double stream_transfer(const struct stream_graph *g, const struct stream_map *map, uint32_t edge,
                       uint32_t from, uint32_t to)
{
    if (g->uniform)
        return g->transfer[edge];
    double bytes = g->w->size[g->w->succ_object[edge]], worst = 0;
    const uint32_t *off = map->node_off;
    if (!off || off[from] == off[from + 1] || off[to] == off[to + 1]) {
        worst = g->p->latency + bytes / g->p->bandwidth;
        for (size_t i = 0; i < g->p->nlinks; i++) {
            const struct platform_link *l = &g->p->links[i];
            if (l->bandwidth > 0)
                worst = fmax(worst, l->latency + bytes / l->bandwidth);
        }
        return worst;
    }
    if (platform_is_uniform(g->p))
        return g->transfer[edge];
    uint32_t a = off[from + 1] - off[from], b = off[to + 1] - off[to];
    for (uint32_t i = 0; i < a; i++)
        for (uint32_t j = 0; j < b; j++)
            if (replicas_meet(i, j, a, b))
                worst = fmax(worst, platform_transfer(g->p, map->nodes[off[from] + i],
                                                      map->nodes[off[to] + j], bytes));
    return worst;
}

/* 0 is "no limit", so a plain minimum would be wrong. */
static uint32_t fewer_ports(uint32_t a, uint32_t b)
{
    return !a ? b : !b ? a : a < b ? a : b;
}

uint32_t stream_ports(const struct stream_graph *g, const struct stream_map *map, uint32_t cluster)
{
    const struct platform *p = g->p;
    uint32_t least = 0;
    if (!p->node_ports)
        return p->ports;
    if (map && map->node_off && map->node_off[cluster] < map->node_off[cluster + 1]) {
        for (uint32_t i = map->node_off[cluster]; i < map->node_off[cluster + 1]; i++)
            least = fewer_ports(least, platform_ports(p, map->nodes[i]));
        return least;
    }
    for (uint32_t node = 0; node < p->nnodes; node++)
        if (p->up[node])
            least = fewer_ports(least, platform_ports(p, node));
    return least;
}
