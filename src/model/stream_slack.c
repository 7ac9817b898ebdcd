/* Slack of a stream's mapping: which transfers make an item late. One pass backwards over the order
 * of the estimate, O(copies + transfers + edges); model/stream.c made that estimate. */
#include "model/stream.h"
#include "model/stream_slots.h"

/* Backwards over the same order: `latest` is when a copy or message may end without making the
 * item later. */
void stream_slack(struct stream_work *work, const struct stream_map *map, struct stream_estimate *e)
{
    const struct stream_graph *g = work->g;
    const struct workflow *w = g->w;
    uint32_t ncopies = map->off[g->ntasks];
    size_t next = e->messages.n;
    for (uint32_t c = 0; c < ncopies; c++)
        work->latest[c] = e->latency;
    for (size_t i = 0; i < e->messages.n; i++)
        e->messages.at[i].latest = e->latency;
    for (uint32_t at = g->norder; at-- > 0;) {
        uint32_t x = g->order[at];
        if (x >= g->ntasks) {
            for (; next && e->messages.at[next - 1].edge == x - g->ntasks; next--) {
                struct stream_message *m = &e->messages.at[next - 1];
                uint32_t object = w->succ_object[m->edge], from = g->edge_from[m->edge];
                for (uint32_t k = w->object_edge[object];
                     k < w->succ_off[from + 1] && w->succ_object[k] == object; k++) {
                    uint32_t c = stream_copy(map, w->succ_task[k], m->to);
                    if (c != NONE)
                        m->latest =
                            fmin(m->latest, work->latest[c] - (e->end.at[c] - e->begin.at[c]));
                }
                double start = m->latest - (m->end - m->begin);
                for (int k = 0; k < 3; k++)
                    if (m->before[k] != NONE)
                        e->messages.at[m->before[k]].latest =
                            fmin(e->messages.at[m->before[k]].latest, start);
                uint32_t source = stream_copy(map, from, m->from);
                work->latest[source] = fmin(work->latest[source], start);
            }
            continue;
        }
        for (uint32_t c = map->off[x + 1]; c-- > map->off[x];) {
            double start = work->latest[c] - (e->end.at[c] - e->begin.at[c]);
            if (work->chain[c] != NONE)
                work->latest[work->chain[c]] = fmin(work->latest[work->chain[c]], start);
            for (uint32_t k = w->pred_off[x]; k < w->pred_off[x + 1]; k++) {
                uint32_t i = w->pred_task[k], object = w->pred_object[k];
                uint32_t source = stream_copy(map, i, map->cluster[c]);
                if (source == NONE && (object == NONE || g->transfer[w->object_edge[object]] <= 0))
                    source = stream_copy(map, i, map->home[i]);
                if (source != NONE)
                    work->latest[source] = fmin(work->latest[source], start);
            }
        }
    }
}
