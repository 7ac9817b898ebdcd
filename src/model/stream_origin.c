/* Which mapping an estimate is of, and from which step on another one differs from it.
 *
 *     step          0 ...... first ................. norder
 *     the base      |  same  |  searched again where touched
 *                            ^ the first place where copies of a task count that are elsewhere
 *
 * Equal nodes only: elsewhere times depend on more than the copies. */
#include "model/stream_slots.h"

uint32_t stream_origin_common(const struct stream_graph *g, const struct stream_origin *of,
                              const struct stream_map *map)
{
    uint32_t first = g->norder;
    if (!g->uniform)
        return 0;
    for (uint32_t t = 0; t < g->ntasks; t++) {
        const uint32_t *a = of->cluster.at + of->off.at[t], *b = map->cluster + map->off[t];
        uint32_t n = map->off[t + 1] - map->off[t], k = 0;
        if (g->touched[t] >= first)
            continue;
        if (of->off.at[t + 1] - of->off.at[t] == n && of->home.at[t] == map->home[t])
            while (k < n && a[k] == b[k])
                k++;
        if (k < n)
            first = g->touched[t];
    }
    return first;
}

void stream_origin_note(const struct stream_graph *g, struct stream_origin *of,
                        const struct stream_map *map)
{
    uint32_t n = g->ntasks, copies = map->off[n];
    array_reserve(&of->off, (size_t)n + 1);
    array_reserve(&of->cluster, copies);
    array_reserve(&of->home, n);
    of->off.n = (size_t)n + 1;
    of->cluster.n = copies;
    of->home.n = n;
    memcpy(of->off.at, map->off, ((size_t)n + 1) * sizeof *map->off);
    memcpy(of->cluster.at, map->cluster, copies * sizeof *map->cluster);
    memcpy(of->home.at, map->home, n * sizeof *map->home);
}
