#include "model/stream.h"
#include "model/stream_slots.h"

/* ---- times of copies and transfers ---- */

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
            const struct link *l = &g->p->links[i];
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

/* ---- memory ---- */

struct stream_work *stream_work_new(const struct stream_graph *g)
{
    struct stream_work *work = mem_new_zero(struct stream_work, 1);
    work->g = g;
    return work;
}

void stream_work_fit(struct stream_work *work, uint32_t nclusters, uint32_t ncopies)
{
    if (nclusters > work->nsides) {
        work->sides = mem_resize(work->sides, nclusters);
        memset(work->sides + work->nsides, 0, (nclusters - work->nsides) * sizeof *work->sides);
        work->last_copy = mem_resize(work->last_copy, nclusters);
        work->dirty = mem_resize(work->dirty, nclusters);
        work->parent = mem_resize(work->parent, nclusters);
        work->least_procs = mem_resize(work->least_procs, nclusters);
        work->cluster_time = mem_resize(work->cluster_time, nclusters);
        work->nsides = nclusters;
    }
    if (ncopies > work->ncopies) {
        work->ready = mem_resize(work->ready, ncopies);
        work->end = mem_resize(work->end, ncopies);
        work->latest = mem_resize(work->latest, ncopies);
        work->chain = mem_resize(work->chain, ncopies);
        work->ncopies = ncopies;
    }
}

void stream_work_free(struct stream_work *work)
{
    if (!work)
        return;
    stream_slots_free(work);
    free(work->sides);
    free(work->ready);
    free(work->end);
    free(work->latest);
    free(work->chain);
    free(work->last_copy);
    free(work->dirty);
    free(work->parent);
    free(work->least_procs);
    free(work->cluster_time);
    free(work);
}

void stream_estimate_free(struct stream_estimate *e)
{
    array_free(&e->messages);
    array_free(&e->ports);
    array_free(&e->component);
    array_free(&e->member);
    array_free(&e->begin);
    array_free(&e->end);
}

/* ---- the pass ---- */

struct pass {
    struct stream_work *work;
    const struct stream_graph *g;
    const struct workflow *w;
    const struct stream_map *map;
    struct stream_estimate *out;
    const struct stream_estimate *base;
    size_t base_at;
    uint32_t ports;
    double limit;
};

/* The end of the data that copy `at` of `task` in cluster b takes without a transfer: from copies
 * beside it, and along edges that cost nothing. */
static double local_ready(const struct pass *s, uint32_t task, uint32_t b)
{
    const struct workflow *w = s->w;
    double ready = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t i = w->pred_task[e], object = w->pred_object[e], source = NONE;
        if (s->map->off[i + 1] - s->map->off[i] == 1) {
            if (s->map->cluster[s->map->off[i]] == b)
                source = s->map->off[i];
        } else {
            source = stream_copy(s->map, i, b);
        }
        if (source == NONE && (object == NONE || s->g->transfer[s->w->object_edge[object]] <= 0))
            source = stream_copy(s->map, i, s->map->home[i]);
        if (source != NONE && s->work->end[source] > ready)
            ready = s->work->end[source];
    }
    return ready;
}

static bool take_task(struct pass *s, uint32_t task)
{
    struct stream_work *work = s->work;
    for (uint32_t c = s->map->off[task]; c < s->map->off[task + 1]; c++) {
        uint32_t b = s->map->cluster[c], last = work->last_copy[b];
        double start = fmax(work->ready[c], local_ready(s, task, b));
        if (last != NONE && work->end[last] > start)
            start = work->end[last];
        double time = stream_time(s->g, s->map, task, b), end = start + time;
        work->chain[c] = last;
        work->last_copy[b] = c;
        work->end[c] = end;
        work->cluster_time[b] += time;
        s->out->begin.at[c] = start;
        if (end > s->out->latency)
            s->out->latency = end;
        if (end + s->g->tail[task] > s->limit)
            return false;
    }
    return true;
}

static bool sent_before(const struct pass *s, uint32_t edge, uint32_t b)
{
    uint32_t object = s->w->succ_object[edge], from = s->g->edge_from[edge];
    uint32_t first = s->w->object_edge[object];
    for (uint32_t e = first; e < s->w->succ_off[from + 1] && s->w->succ_object[e] == object; e++)
        if (e != edge && s->g->rank[e] < s->g->rank[edge] &&
            stream_copy(s->map, s->w->succ_task[e], b) != NONE)
            return true;
    return false;
}

/* Walk the base along. The messages of the two mappings come in the same order; where one has what
 * the other has not, both its ends are touched. */
static const struct stream_message *same_in_base(struct pass *s, uint32_t edge, uint32_t a,
                                                 uint32_t b)
{
    const struct stream_estimate *base = s->base;
    uint32_t rank = s->g->rank[edge];
    while (s->base_at < base->messages.n) {
        const struct stream_message *m = &base->messages.at[s->base_at];
        uint32_t r = s->g->rank[m->edge];
        if (r > rank || (r == rank && m->to > b))
            return NULL;
        s->base_at++;
        if (r == rank && m->to == b && m->from == a)
            return m;
        s->work->dirty[m->from] = s->work->dirty[m->to] = 1;
    }
    return NULL;
}

static uint32_t lane_before(const struct stream_side *side, uint32_t channel)
{
    return channel < side->lanes.n ? side->lanes.at[channel].message : NONE;
}

static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void join(struct stream_work *work, uint32_t a, uint32_t b, uint32_t procs)
{
    a = find_root(work->parent, a);
    b = find_root(work->parent, b);
    uint32_t root = a < b ? a : b, other = a < b ? b : a;
    work->parent[other] = root;
    if (work->least_procs[other] < work->least_procs[root])
        work->least_procs[root] = work->least_procs[other];
    if (procs < work->least_procs[root])
        work->least_procs[root] = procs;
}

/* One transfer home(i) -> b. */
static void send(struct pass *s, uint32_t edge, uint32_t a, uint32_t b, double duration)
{
    struct stream_work *work = s->work;
    const struct stream_message *same = s->base ? same_in_base(s, edge, a, b) : NULL;
    struct stream_slot slot;
    if (same && !work->dirty[a] && !work->dirty[b]) {
        slot = (struct stream_slot){same->start, same->from_channel, same->to_channel,
                                    stream_slots_link(work, a, b)};
    } else {
        slot = stream_slot_find(work, a, b, 0, duration, s->ports);
        if (s->base &&
            !(same && same->start == slot.start && same->from_channel == slot.from_channel &&
              same->to_channel == slot.to_channel))
            work->dirty[a] = work->dirty[b] = 1;
    }
    uint32_t i = s->g->edge_from[edge];
    double begin = work->end[stream_copy(s->map, i, a)];
    struct stream_message m = {.edge = edge,
                               .from = a,
                               .to = b,
                               .from_channel = slot.from_channel,
                               .to_channel = slot.to_channel,
                               .start = slot.start,
                               .finish = slot.start + duration,
                               .before = {work->links.at[slot.link].message,
                                          lane_before(&work->sides[a], slot.from_channel),
                                          lane_before(&work->sides[b], slot.to_channel)}};
    for (int k = 0; k < 3; k++)
        if (m.before[k] != NONE && s->out->messages.at[m.before[k]].end > begin)
            begin = s->out->messages.at[m.before[k]].end;
    m.begin = begin;
    m.end = begin + duration;
    stream_slot_book(work, a, b, &slot, duration, (uint32_t)s->out->messages.n);
    array_push(&s->out->messages, m);
    uint32_t pa = s->map->procs[a], pb = s->map->procs[b];
    join(work, a, b, pa < pb ? pa : pb);
}

static void deliver(struct pass *s, uint32_t edge, uint32_t b, double end)
{
    uint32_t object = s->w->succ_object[edge], from = s->g->edge_from[edge];
    uint32_t first = s->w->object_edge[object];
    for (uint32_t e = first; e < s->w->succ_off[from + 1] && s->w->succ_object[e] == object; e++) {
        uint32_t c = stream_copy(s->map, s->w->succ_task[e], b);
        if (c != NONE && end > s->work->ready[c])
            s->work->ready[c] = end;
    }
}

static bool take_edge(struct pass *s, uint32_t edge)
{
    const struct stream_map *map = s->map;
    uint32_t i = s->g->edge_from[edge], j = s->w->succ_task[edge], a = map->home[i];
    uint32_t consumers;
    workflow_consumers(s->w, s->w->succ_object[edge], &consumers);
    for (uint32_t c = map->off[j]; c < map->off[j + 1]; c++) {
        uint32_t b = map->cluster[c];
        if (b == a || stream_copy(map, i, b) != NONE || (consumers > 1 && sent_before(s, edge, b)))
            continue;
        double duration = stream_transfer(s->g, map, edge, a, b), end;
        if (duration == INFINITY) {
            s->out->latency = INFINITY;
            s->out->data_rate = 0;
            return false;
        }
        if (duration > 0) {
            send(s, edge, a, b, duration);
            end = array_last(&s->out->messages).end;
        } else {
            end = s->work->end[stream_copy(map, i, a)];
        }
        if (consumers > 1)
            deliver(s, edge, b, end);
        else if (end > s->work->ready[c])
            s->work->ready[c] = end;
        if (end + (s->g->uniform ? s->g->time[j] : 0) + s->g->tail[j] > s->limit)
            return false;
    }
    return true;
}

static void rates(struct pass *s)
{
    struct stream_work *work = s->work;
    struct stream_estimate *out = s->out;
    const struct stream_map *map = s->map;
    uint32_t m = map->nclusters;
    out->computation_rate = out->data_rate = INFINITY;
    array_reserve(&out->component, m);
    array_reserve(&out->member, m);
    out->component.n = out->member.n = m;
    uint32_t *slow_cluster =
        work->last_copy; /* no longer needed: channel owner with the cycle of the component */
    for (uint32_t c = 0; c < m; c++) {
        out->component.at[c] = 0;
        slow_cluster[c] = NONE;
        if (work->cluster_time[c] > 0)
            out->computation_rate =
                fmin(out->computation_rate, map->procs[c] / work->cluster_time[c]);
        out->processors += map->procs[c];
    }
    for (uint32_t c = 0; c < m; c++) {
        uint32_t root = find_root(work->parent, c);
        out->member.at[c] = root;
        for (uint32_t k = 0; k < work->sides[c].lanes.n; k++) {
            const struct stream_lane *lane = &work->sides[c].lanes.at[k];
            if (!lane->busy.n)
                continue;
            double cycle = array_last(&lane->busy).finish - lane->busy.at[0].start;
            array_push(&out->ports, (struct stream_port){c, k, cycle});
            if (cycle > out->component.at[root]) {
                out->component.at[root] = cycle;
                slow_cluster[root] = (uint32_t)out->ports.n - 1;
            }
            if (cycle > out->cycle)
                out->cycle = cycle;
        }
    }
    for (uint32_t c = 0; c < m; c++) {
        if (work->parent[c] != c || out->component.at[c] <= 0)
            continue;
        double rate = work->least_procs[c] / out->component.at[c];
        if (rate < out->data_rate) {
            out->data_rate = rate;
            out->slow_cluster = out->ports.at[slow_cluster[c]].cluster;
            out->slow_channel = out->ports.at[slow_cluster[c]].channel;
        }
    }
    for (uint32_t c = 0; c < m; c++)
        out->component.at[c] = out->component.at[out->member.at[c]];
    out->throughput = fmin(out->computation_rate, out->data_rate);
}

bool stream_estimate(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                     double limit, const struct stream_estimate *base, struct stream_estimate *out)
{
    const struct stream_graph *g = work->g;
    uint32_t ncopies = map->off[g->ntasks], m = map->nclusters;
    struct pass s = {.work = work,
                     .g = g,
                     .w = g->w,
                     .map = map,
                     .out = out,
                     .base = base,
                     .ports = ports,
                     .limit = limit};
    stream_work_fit(work, m, ncopies);
    out->messages.n = out->ports.n = 0;
    out->latency = out->cycle = out->throughput = out->computation_rate = out->data_rate = 0;
    out->processors = 0;
    out->slow_cluster = out->slow_channel = NONE;
    array_reserve(&out->begin, ncopies);
    array_reserve(&out->end, ncopies);
    out->begin.n = out->end.n = ncopies;
    for (uint32_t c = 0; c < m; c++) {
        work->last_copy[c] = NONE;
        work->dirty[c] = 0;
        work->parent[c] = c;
        work->least_procs[c] = UINT32_MAX;
        work->cluster_time[c] = 0;
    }
    stream_slots_clear(work, m);
    memset(work->ready, 0, ncopies * sizeof *work->ready);
    for (uint32_t i = 0; i < g->norder; i++) {
        uint32_t x = g->order[i];
        if (!(x < g->ntasks ? take_task(&s, x) : take_edge(&s, x - g->ntasks))) {
            for (uint32_t c = 0; c < m; c++)
                out->processors += map->procs[c];
            return false;
        }
    }
    memcpy(out->end.at, work->end, ncopies * sizeof *work->end);
    rates(&s);
    return true;
}

/* ---- slack ---- */

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
