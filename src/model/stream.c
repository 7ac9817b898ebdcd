/* The estimate of a stream's mapping: one pass over tasks and transfers in the graph's fixed
 * order.
 *
 * Two schedules come out of the same pass. The periodic one gives each transfer a slot (a start,
 * a channel at each end) in which it repeats for every item; the span of a channel is its cycle
 * time, and replicas / cycle of the slowest contention component bounds the data rate. The
 * schedule DAG of one item gives the latency: a transfer begins when its source has ended and
 * when the transfers before it on link and channels have.
 *
 *     transfer A->B    |====slot====|......................|====slot====|   next item
 *     channel of A     first start ------ cycle time ------ last end
 *     one item         source ends --> begin --> end --> consumer may start
 *
 * Planners change a mapping a little and ask again, thousands of times. With a `base` estimate,
 * transfers between clusters that nothing has touched keep their slots without a search: they
 * enter the lanes of a cluster only when a search needs that cluster. And the pass begins where the
 * two mappings begin to differ (stream_origin.c): what is before it is taken over as it is. */
#include "model/stream.h"
#include "model/stream_slots.h"

/* ---- memory ---- */

/* Empty; it grows with the first estimate and keeps its memory for the next. */
struct stream_work *stream_work_new(const struct stream_graph *g)
{
    struct stream_work *work = mem_new_zero(struct stream_work, 1);
    work->g = g;
    return work;
}

/* Grows, never shrinks: estimates of one search differ little in size. */
void stream_work_fit(struct stream_work *work, uint32_t nclusters, uint32_t ncopies)
{
    if (nclusters > work->nsides) {
        work->sides = mem_resize(work->sides, nclusters);
        memset(work->sides + work->nsides, 0, (nclusters - work->nsides) * sizeof *work->sides);
        work->last_copy = mem_resize(work->last_copy, nclusters);
        work->dirty = mem_resize(work->dirty, nclusters);
        work->booked = mem_resize(work->booked, nclusters);
        work->last_message = mem_resize(work->last_message, nclusters);
        work->limit = mem_resize(work->limit, nclusters);
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
    free(work->booked);
    free(work->last_message);
    free(work->limit);
    array_free(&work->linked);
    array_free(&work->waiting);
    array_free(&work->renumber);
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
    array_free(&e->of.off);
    array_free(&e->of.cluster);
    array_free(&e->of.home);
}

/* An empty cluster has no message and no port: only the lists by cluster close up. */
void stream_estimate_renumber(struct stream_estimate *e, const uint32_t *number)
{
    for (size_t i = 0; i < e->messages.n; i++) {
        e->messages.at[i].from = number[e->messages.at[i].from];
        e->messages.at[i].to = number[e->messages.at[i].to];
    }
    for (size_t i = 0; i < e->ports.n; i++)
        e->ports.at[i].cluster = number[e->ports.at[i].cluster];
    size_t m = 0;
    for (size_t c = 0; c < e->component.n; c++) {
        if (number[c] == NONE)
            continue;
        e->component.at[m] = e->component.at[c];
        e->member.at[m++] = number[e->member.at[c]];
    }
    e->component.n = e->member.n = m;
    for (size_t i = 0; i < e->of.cluster.n; i++)
        e->of.cluster.at[i] = number[e->of.cluster.at[i]];
    for (size_t i = 0; i < e->of.home.n; i++)
        e->of.home.at[i] = number[e->of.home.at[i]];
    if (e->slow_cluster != NONE)
        e->slow_cluster = number[e->slow_cluster];
}

/* ---- the pass ---- */

/* One estimate under way. base_at: how far the base's messages have been walked along. */
struct pass {
    struct stream_work *work;
    const struct stream_graph *g;
    const struct workflow *w;
    const struct stream_map *map;
    struct stream_estimate *out;
    const struct stream_estimate *base;
    size_t base_at;
    uint32_t kept;      /* so many messages at the beginning are the base's */
    double limit, rate; /* most latency, least throughput */
    bool slow;          /* a channel's cycle is already too long for it */
    bool bounded;       /* work->latest has the tails of the copies */
};

/* The end of the data that copy `at` of `task` in cluster b takes without a transfer: from copies
 * beside it, and along edges that cost nothing. */
static double local_ready(const struct pass *s, uint32_t task, uint32_t b)
{
    const struct stream_map *map = s->map;
    const uint32_t *pred = s->w->pred_task;
    double ready = 0;
    for (uint32_t e = s->w->pred_off[task], last = s->w->pred_off[task + 1]; e < last; e++) {
        uint32_t source = stream_copy(map, pred[e], b);
        if (source == NONE) {
            if (!s->g->pred_free[e])
                continue;
            source = stream_copy(map, pred[e], map->home[pred[e]]);
        }
        if (s->work->end[source] > ready)
            ready = s->work->end[source];
    }
    return ready;
}

/* What must still follow the end of copy `c`. Where nodes differ only the graph's tail is known, and of several copies not even
 * that: one may feed only those that end early. */
static double copy_tail(const struct pass *s, uint32_t task, uint32_t c)
{
    if (s->bounded)
        return s->work->latest[c];
    return s->map->off[task + 1] - s->map->off[task] == 1 ? s->g->tail[task] : 0;
}

/* All copies of a task: each starts when its data is there and its cluster's copy before it has
 * ended. False: the latency must exceed the limit. */
static bool stream_take_task(struct pass *s, const struct stream_step *step)
{
    struct stream_work *work = s->work;
    uint32_t task = step->task;
    for (uint32_t c = s->map->off[task]; c < s->map->off[task + 1]; c++) {
        uint32_t b = s->map->cluster[c], last = work->last_copy[b];
        double start = local_ready(s, task, b);
        if (work->ready[c] > start)
            start = work->ready[c];
        if (last != NONE && work->end[last] > start)
            start = work->end[last];
        double time = s->g->uniform ? step->time : stream_time(s->g, s->map, task, b);
        double end = start + time;
        work->chain[c] = last;
        work->last_copy[b] = c;
        work->end[c] = end;
        work->cluster_time[b] += time;
        s->out->begin.at[c] = start;
        if (end > s->out->latency)
            s->out->latency = end;
        if (end + copy_tail(s, task, c) > s->limit)
            return false;
    }
    return true;
}

/* Has the object gone to cluster b for an earlier edge already? An object travels once to a
 * cluster, however many tasks read it there. */
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
        s->work->renumber.at[s->base_at++] = (uint32_t)s->out->messages.n;
        if (r == rank && m->to == b && m->from == a)
            return m;
        s->work->dirty[m->from] = s->work->dirty[m->to] = 1;
    }
    return NULL;
}

/* Enter the messages of a cluster that were taken over from the base, in their order: from now on slots are searched for on it.
 * Not twice. */
static void enter_waiting(struct pass *s, uint32_t cluster)
{
    struct stream_work *work = s->work;
    const struct stream_message *all = s->out->messages.at;
    uint32_t count = 0;
    work->booked[cluster] = 1;
    stream_slots_clear_side(work, cluster);
    for (uint32_t i = work->last_message[cluster]; i != NONE;
         i = all[i].behind[all[i].from != cluster])
        work->waiting.at[count++] = i;
    while (count--) {
        uint32_t i = work->waiting.at[count];
        const struct stream_message *m = &all[i];
        if (!work->linked.at[i]) {
            struct stream_slot slot = {m->start, m->from_channel, m->to_channel,
                                       stream_slots_link(work, m->from, m->to)};
            stream_slot_book_link(work, m->from, m->to, &slot, m->finish - m->start, i);
            work->linked.at[i] = 1;
        }
        stream_slot_book_side(work, cluster, m->from == cluster ? m->from_channel : m->to_channel,
                              m->start, m->finish, i);
    }
}

/* A slot as in the base: what came before it there comes before it here. */
static void keep_slot(const struct pass *s, const struct stream_message *same,
                      struct stream_message *m)
{
    m->from_channel = same->from_channel;
    m->to_channel = same->to_channel;
    m->start = same->start;
    m->finish = same->finish;
    for (int k = 0; k < 3; k++)
        m->before[k] = same->before[k] == NONE     ? NONE
                       : same->before[k] < s->kept ? same->before[k]
                                                   : s->work->renumber.at[same->before[k]];
}

/* Enter it where the ends are entered; where they are not, a search will do it. */
static void enter_kept(struct pass *s, const struct stream_message *m, uint32_t number)
{
    struct stream_work *work = s->work;
    bool from = work->booked[m->from], to = work->booked[m->to];
    work->linked.at[number] = from || to;
    if (from)
        stream_slot_book_side(work, m->from, m->from_channel, m->start, m->finish, number);
    if (to)
        stream_slot_book_side(work, m->to, m->to_channel, m->start, m->finish, number);
    if (from || to) {
        struct stream_slot slot = {m->start, m->from_channel, m->to_channel,
                                   stream_slots_link(work, m->from, m->to)};
        stream_slot_book_link(work, m->from, m->to, &slot, m->finish - m->start, number);
    }
}

/* Search the earliest slot. When it is not the base's, both clusters are dirty: what follows on
 * them must be searched, too. */
static void find_slot(struct pass *s, const struct stream_message *same, double duration,
                      struct stream_message *m, uint32_t number)
{
    struct stream_work *work = s->work;
    uint32_t a = m->from, b = m->to;
    if (s->base) {
        if (!work->booked[a])
            enter_waiting(s, a);
        if (!work->booked[b])
            enter_waiting(s, b);
        work->linked.at[number] = 1;
    }
    struct stream_forerunners before;
    struct stream_slot slot = stream_slot_take(work, a, b, duration, number, &before);
    if (s->base && !(same && same->start == slot.start && same->from_channel == slot.from_channel &&
                     same->to_channel == slot.to_channel))
        work->dirty[a] = work->dirty[b] = 1;
    m->from_channel = slot.from_channel;
    m->to_channel = slot.to_channel;
    m->start = slot.start;
    m->finish = slot.start + duration;
    m->before[0] = before.link;
    m->before[1] = before.from;
    m->before[2] = before.to;
}

/* The cycle time of a channel so far: it only grows. */
static double lane_cycle(const struct stream_side *side, uint32_t channel)
{
    const struct stream_blocks *busy = &side->lanes.at[channel].busy;
    return busy->last - busy->at[0].start;
}

/* One transfer home(i) -> b, from copy `source`. Returns its end. */
static double stream_send_message(struct pass *s, uint32_t edge, uint32_t source, uint32_t a,
                                  uint32_t b, double duration)
{
    struct stream_work *work = s->work;
    const struct stream_message *same = s->base ? same_in_base(s, edge, a, b) : NULL;
    /* filled where it stands: a copy of what was just written would wait for the writes */
    uint32_t number = (uint32_t)s->out->messages.n;
    struct stream_message *all = s->out->messages.at, *m = &all[number];
    s->out->messages.n = number + 1;
    m->edge = edge;
    m->from = a;
    m->to = b;
    m->behind[0] = work->last_message[a];
    m->behind[1] = work->last_message[b];
    bool kept = same && !work->dirty[a] && !work->dirty[b];
    if (kept) {
        keep_slot(s, same, m);
        enter_kept(s, m, number);
    } else {
        find_slot(s, same, duration, m, number);
    }
    work->last_message[a] = work->last_message[b] = number;
    double begin = work->end[source];
    for (int k = 0; k < 3; k++)
        if (m->before[k] != NONE && all[m->before[k]].end > begin)
            begin = all[m->before[k]].end;
    m->begin = begin;
    m->end = begin + duration;
    uint32_t pa = s->map->procs[a], pb = s->map->procs[b];
    double procs = stream_join_components(work, a, b, pa < pb ? pa : pb);
    if (s->rate > 0 && !kept)
        s->slow = procs / lane_cycle(&work->sides[a], m->from_channel) < s->rate ||
                  procs / lane_cycle(&work->sides[b], m->to_channel) < s->rate;
    return m->end;
}

/* One transfer serves all readers of the object in the cluster. */
static void stream_deliver_object(struct pass *s, uint32_t edge, uint32_t b, double end)
{
    uint32_t object = s->w->succ_object[edge], from = s->g->edge_from[edge];
    uint32_t first = s->w->object_edge[object];
    for (uint32_t e = first; e < s->w->succ_off[from + 1] && s->w->succ_object[e] == object; e++) {
        uint32_t c = stream_copy(s->map, s->w->succ_task[e], b);
        if (c != NONE && end > s->work->ready[c])
            s->work->ready[c] = end;
    }
}

/* The transfers of an edge: one to each cluster that holds a copy of the consumer and none of the
 * producer. False: the latency must exceed the limit, the rate be missed, or two nodes cannot talk.
 */
static bool take_edge(struct pass *s, const struct stream_step *step)
{
    const struct stream_map *map = s->map;
    uint32_t i = step->from, j = step->task, a = map->home[i], source = NONE;
    bool several = map->off[i + 1] - map->off[i] > 1;
    for (uint32_t c = map->off[j], last = map->off[j + 1]; c < last; c++) {
        uint32_t b = map->cluster[c];
        if (b == a || (several && stream_copy(map, i, b) != NONE) ||
            (step->shared && sent_before(s, step->edge, b)))
            continue;
        double duration = s->g->uniform ? step->time : stream_transfer(s->g, map, step->edge, a, b);
        if (duration == INFINITY) {
            s->out->latency = INFINITY;
            s->out->data_rate = 0;
            return false;
        }
        if (source == NONE)
            source = several ? stream_copy(map, i, a) : map->off[i];
        double end = duration > 0 ? stream_send_message(s, step->edge, source, a, b, duration)
                                  : s->work->end[source];
        if (s->slow)
            return false;
        if (step->shared)
            stream_deliver_object(s, step->edge, b, end);
        else if (end > s->work->ready[c])
            s->work->ready[c] = end;
        if (end + step->after + copy_tail(s, j, c) > s->limit)
            return false;
    }
    return true;
}

/* The messages before step `first` are those of the base: what must be known of them behind it. */
static bool resume_messages(struct pass *s, uint32_t first)
{
    struct stream_work *work = s->work;
    const uint32_t *procs = s->map->procs;
    for (uint32_t i = 0; i < s->kept; i++) {
        const struct stream_message *m = &s->out->messages.at[i];
        uint32_t pa = procs[m->from], pb = procs[m->to], j = s->w->succ_task[m->edge];
        work->last_message[m->from] = work->last_message[m->to] = i;
        stream_join_components(work, m->from, m->to, pa < pb ? pa : pb);
        if (s->g->shared[m->edge]) {
            stream_deliver_object(s, m->edge, m->to, m->end);
        } else if (s->g->task_rank[j] >= first) {
            uint32_t c = stream_copy(s->map, j, m->to);
            if (m->end > work->ready[c])
                work->ready[c] = m->end;
            if (m->end + s->g->time[j] + copy_tail(s, j, c) > s->limit)
                return false;
        }
    }
    return true;
}

/* Up to step `first` the base's mapping and this one are the same, and so is everything that follows from them. */
static bool resume_at(struct pass *s, uint32_t first)
{
    const struct stream_estimate *base = s->base;
    struct stream_work *work = s->work;
    const uint32_t *off = s->map->off;
    for (uint32_t k = 0; k < s->g->ntasks && s->g->task_rank[s->g->tasks[k]] < first; k++) {
        uint32_t t = s->g->tasks[k], at = base->of.off.at[t];
        for (uint32_t c = off[t]; c < off[t + 1]; c++, at++) {
            uint32_t b = s->map->cluster[c];
            double end = base->end.at[at];
            work->chain[c] = work->last_copy[b];
            work->last_copy[b] = c;
            work->end[c] = end;
            work->cluster_time[b] += s->g->time[t];
            s->out->begin.at[c] = base->begin.at[at];
            if (end > s->out->latency)
                s->out->latency = end;
            if (end + copy_tail(s, t, c) > s->limit)
                return false;
        }
    }
    size_t low = 0, high = base->messages.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->g->rank[base->messages.at[middle].edge] < first)
            low = middle + 1;
        else
            high = middle;
    }
    s->kept = (uint32_t)low;
    s->base_at = s->out->messages.n = low;
    if (low) {
        memcpy(s->out->messages.at, base->messages.at, low * sizeof *base->messages.at);
        memset(work->linked.at, 0, low);
    }
    return resume_messages(s, first);
}

/* The cycle times of a cluster's channels: from its lanes, or as in the base. */
static void list_ports(struct pass *s, uint32_t cluster, size_t *base_port)
{
    struct stream_estimate *out = s->out;
    const struct stream_side *side = &s->work->sides[cluster];
    if (s->base) {
        while (*base_port < s->base->ports.n && s->base->ports.at[*base_port].cluster < cluster)
            ++*base_port;
        if (s->work->dirty[cluster] && !s->work->booked[cluster])
            enter_waiting(s, cluster);
    }
    if (s->base && !s->work->booked[cluster]) {
        for (; *base_port < s->base->ports.n && s->base->ports.at[*base_port].cluster == cluster;
             ++*base_port)
            array_push(&out->ports, s->base->ports.at[*base_port]);
        return;
    }
    for (uint32_t k = 0; k < side->lanes.n; k++) {
        if (side->lanes.at[k].busy.n)
            array_push(&out->ports, (struct stream_port){cluster, k, lane_cycle(side, k)});
    }
}

/* Throughput is the smaller of the computation rate (processors / time of the slowest cluster)
 * and the data rate (fewest processors / cycle time of the slowest component). */
static void stream_compute_rates(struct pass *s)
{
    struct stream_work *work = s->work;
    struct stream_estimate *out = s->out;
    const struct stream_map *map = s->map;
    uint32_t m = map->nclusters;
    size_t base_port = 0;
    /* what the base had at the end and is no more */
    for (; s->base && s->base_at < s->base->messages.n; s->base_at++) {
        const struct stream_message *gone = &s->base->messages.at[s->base_at];
        work->dirty[gone->from] = work->dirty[gone->to] = 1;
    }
    out->computation_rate = out->data_rate = INFINITY;
    array_reserve(&out->component, m);
    array_reserve(&out->member, m);
    out->component.n = out->member.n = m;
    uint32_t *slow_cluster =
        work->last_copy; /* no longer needed: channel owner with the cycle of the component */
    for (uint32_t c = 0; c < m; c++) {
        out->component.at[c] = 0;
        slow_cluster[c] = NONE;
        double rate = work->cluster_time[c] > 0 ? map->procs[c] / work->cluster_time[c] : INFINITY;
        if (rate < out->computation_rate)
            out->computation_rate = rate;
        out->processors += map->procs[c];
    }
    for (uint32_t c = 0; c < m; c++) {
        uint32_t root = stream_root(work->parent, c);
        size_t first = out->ports.n;
        out->member.at[c] = root;
        list_ports(s, c, &base_port);
        for (size_t k = first; k < out->ports.n; k++) {
            double cycle = out->ports.at[k].cycle;
            if (cycle > out->component.at[root]) {
                out->component.at[root] = cycle;
                slow_cluster[root] = (uint32_t)k;
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

/* What is refused early still says how many processors it has: searches compare them. */
static bool stream_refuse(struct pass *s)
{
    s->out->processors = 0;
    for (uint32_t c = 0; c < s->map->nclusters; c++)
        s->out->processors += s->map->procs[c];
    return false;
}

/* Nothing is known of the mapping yet. */
static void pass_begin(struct pass *s, uint32_t ports)
{
    struct stream_work *work = s->work;
    struct stream_estimate *out = s->out;
    const struct stream_map *map = s->map;
    uint32_t ncopies = map->off[s->g->ntasks];
    stream_work_fit(work, map->nclusters, ncopies);
    out->messages.n = out->ports.n = 0;
    out->latency = out->cycle = out->throughput = out->computation_rate = out->data_rate = 0;
    out->processors = 0;
    out->slow_cluster = out->slow_channel = NONE;
    array_reserve(&out->begin, ncopies);
    array_reserve(&out->end, ncopies);
    out->begin.n = out->end.n = ncopies;
    for (uint32_t c = 0; c < map->nclusters; c++) {
        work->last_copy[c] = work->last_message[c] = NONE;
        work->dirty[c] = 0;
        work->booked[c] = !s->base;
        work->limit[c] = ports ? ports : stream_ports(s->g, map, c);
        work->parent[c] = c;
        work->least_procs[c] = UINT32_MAX;
        work->cluster_time[c] = 0;
    }
    size_t most = 0; /* messages */
    for (uint32_t t = 0; t < s->g->ntasks; t++)
        most +=
            (size_t)(map->off[t + 1] - map->off[t]) * (s->w->pred_off[t + 1] - s->w->pred_off[t]);
    array_reserve(&out->messages, most);
    memset(work->ready, 0, ncopies * sizeof *work->ready);
    if (s->base) {
        stream_slots_clear_links(work);
        array_reserve(&work->linked, most);
        array_reserve(&work->waiting, most);
        array_reserve(&work->renumber, s->base->messages.n);
    } else {
        stream_slots_clear(work, map->nclusters);
    }
}

static bool pass_steps(struct pass *s, uint32_t first, uint32_t last)
{
    for (const struct stream_step *x = s->g->steps + first, *end = s->g->steps + last; x < end; x++)
        if (!(x->edge == NONE ? stream_take_task(s, x) : take_edge(s, x)))
            return false;
    return true;
}

/* All steps were taken. */
static bool pass_end(struct pass *s)
{
    memcpy(s->out->end.at, s->work->end, s->out->end.n * sizeof *s->work->end);
    stream_origin_note(s->g, &s->out->of, s->map);
    stream_compute_rates(s);
    return s->out->throughput >= s->rate;
}

/* An estimate that nothing limits yet. */
static struct pass pass_of(struct stream_work *work, const struct stream_map *map,
                           const struct stream_estimate *base, struct stream_estimate *out)
{
    return (struct pass){.work = work,
                         .g = work->g,
                         .w = work->g->w,
                         .map = map,
                         .out = out,
                         .base = base,
                         .limit = INFINITY};
}

/* All steps, from the first one on in which the base differs. The limit of the pass becomes this one at
 * step `past`. */
static bool pass_take(struct pass *s, uint32_t ports, uint32_t past, double limit)
{
    const struct stream_graph *g = s->g;
    uint32_t first = s->base ? stream_origin_common(g, &s->base->of, s->map) : 0;
    pass_begin(s, ports);
    if (s->base && !resume_at(s, first))
        return stream_refuse(s);
    if (first < past) {
        pass_steps(s, first, past);
        first = past;
    }
    s->limit = limit;
    return pass_steps(s, first, g->norder) ? pass_end(s) : stream_refuse(s);
}

bool stream_estimate_above(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                           double limit, double rate, const struct stream_estimate *base,
                           struct stream_estimate *out)
{
    struct pass s = pass_of(work, map, base, out);
    s.limit = limit;
    s.rate = rate;
    s.bounded = work->g->uniform && isfinite(limit);
    stream_work_fit(work, map->nclusters, map->off[work->g->ntasks]);
    if ((s.bounded && stream_bound_tails(work, map, limit) > limit) ||
        stream_rate_below(work, map, ports, rate))
        return stream_refuse(&s);
    return pass_take(&s, ports, 0, limit);
}

bool stream_estimate_past(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                          double limit, const uint32_t *tasks, size_t ntasks,
                          const struct stream_estimate *base, struct stream_estimate *out)
{
    struct pass s = pass_of(work, map, base, out);
    uint32_t past = 0;
    for (size_t i = 0; i < ntasks; i++)
        past = work->g->task_rank[tasks[i]] > past ? work->g->task_rank[tasks[i]] : past;
    s.bounded = isfinite(limit);
    stream_work_fit(work, map->nclusters, map->off[work->g->ntasks]);
    if (s.bounded)
        stream_bound_tails(work, map, INFINITY);
    return pass_take(&s, ports, past, limit);
}

bool stream_estimate(struct stream_work *work, const struct stream_map *map, uint32_t ports,
                     double limit, const struct stream_estimate *base, struct stream_estimate *out)
{
    return stream_estimate_above(work, map, ports, limit, 0, base, out);
}
