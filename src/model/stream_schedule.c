/* Building the periodic schedule; stream_schedule.h states what it is.
 *
 *     circle of a node with 3 replicas:  |a........|b....|...gap...|c..|   3 periods, then again
 *                                                   ^ the earliest start that leaves all else alone
 *
 * Tasks and transfers come in the graph's fixed order, in which every dependence points forward.
 * Each takes the earliest gap on its circles. A circle without a gap that is long enough is
 * *packed*, and everything is placed anew:
 *
 *     a cluster's tasks   each begins, on the circle, where the one before it ended. Their sum is
 *                         at most the circle, or the computation rate would be missed
 *     a component's       each begins where the estimate's communication schedule has it. Channels
 *     transfers           span at most (fewest replicas) periods there, or the data rate would be
 *                         missed; so no two meet on a port. On a link they may, as it may use two
 *                         channels: then other orders of putting them onto the circles are tried
 *
 * What is packed never fails again, so this ends after at most one round a cluster and component. */
#include "model/stream_schedule.h"
#include "base/rng.h"

/* Overlap that is rounding, as a share of the circle. */
#define HAIR 1e-9
/* Going round link, sender and receiver: past so many moves of one transfer there is no gap. */
enum { MOST_ROUNDS = 2000 };
/* Orders in which the transfers of a component are tried. */
enum { MOST_PACKINGS = 40 };

/* ---- a plan's clusters as arrays ---- */

/* off is filled by a counting sort: shifted by two, so that after the second pass off[t] is the
 * start. */
void stream_tables_fill(struct stream_tables *s, const struct plan *plan, uint32_t ntasks)
{
    uint32_t n = ntasks, m = (uint32_t)plan->clusters.n, nnodes = 0;
    s->off = mem_new_zero(uint32_t, (size_t)n + 2);
    s->home = mem_new_zero(uint32_t, n);
    s->procs = mem_new(uint32_t, m);
    s->node_off = mem_new_zero(uint32_t, (size_t)m + 1);
    s->nodes = mem_new(uint32_t, plan->nodes.n);
    for (uint32_t i = 0; i < m; i++) {
        const struct cluster *x = &plan->clusters.at[i];
        for (uint32_t k = 0; k < x->ntasks; k++)
            s->off[plan->tasks.at[x->tasks + k] + 2]++;
        for (uint32_t k = 0; k < x->nduplicates; k++)
            s->off[plan->tasks.at[x->duplicates + k] + 2]++;
    }
    for (uint32_t t = 0; t < n; t++)
        s->off[t + 2] += s->off[t + 1];
    s->cluster = mem_new(uint32_t, s->off[n + 1]);
    for (uint32_t i = 0; i < m; i++) {
        const struct cluster *x = &plan->clusters.at[i];
        s->procs[i] = (uint32_t)fmax(1, ceil(x->replicas - 1e-7));
        for (uint32_t k = 0; k < x->ntasks; k++) {
            uint32_t t = plan->tasks.at[x->tasks + k];
            s->home[t] = i;
            s->cluster[s->off[t + 1]++] = i;
        }
        for (uint32_t k = 0; k < x->nduplicates; k++)
            s->cluster[s->off[plan->tasks.at[x->duplicates + k] + 1]++] = i;
        for (uint32_t k = 0; k < x->nnodes; k++)
            s->nodes[nnodes++] = plan->nodes.at[x->nodes + k];
        s->node_off[i + 1] = nnodes;
    }
}

void stream_tables_free(struct stream_tables *s)
{
    free(s->off);
    free(s->cluster);
    free(s->home);
    free(s->procs);
    free(s->node_off);
    free(s->nodes);
    *s = (struct stream_tables){0};
}

struct stream_map stream_tables_map(const struct stream_tables *s, const struct plan *plan)
{
    return (struct stream_map){.nclusters = (uint32_t)plan->clusters.n,
                               .off = s->off,
                               .cluster = s->cluster,
                               .home = s->home,
                               .procs = s->procs,
                               .node_off = s->node_off,
                               .nodes = s->nodes};
}

double stream_meeting(uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b;
    while (y) {
        uint32_t rest = x % y;
        x = y;
        y = rest;
    }
    return (double)a / x * b;
}

/* ---- circles ---- */

struct circle_arc {
    double start, finish;
};

/* Time modulo `length`, with what is taken, by start. */
struct stream_circle {
    double length;
    ARRAY(struct circle_arc) busy;
};

/* The earliest time from `from` on at which the circle is free for so long; INFINITY: never. A third
 * turn is looked at because a gap may begin late in the second. */
static double circle_next(const struct stream_circle *c, double from, double duration)
{
    double hair = HAIR * c->length;
    if (duration > c->length + hair)
        return INFINITY;
    if (!c->busy.n)
        return from;
    double phase = from - floor(from / c->length) * c->length, at = phase;
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < c->busy.n; i++) {
            double start = c->busy.at[i].start + turn * c->length,
                   finish = c->busy.at[i].finish + turn * c->length;
            if (finish <= at + hair)
                continue;
            if (start >= at + duration - hair)
                return at > phase ? from + (at - phase) : from;
            at = finish;
            if (at - phase > c->length + hair)
                return INFINITY;
        }
    return INFINITY;
}

static void circle_insert_arc(struct stream_circle *c, double start, double finish)
{
    array_push(&c->busy, (struct circle_arc){start, finish});
    struct circle_arc *at = c->busy.at;
    for (size_t i = c->busy.n - 1; i > 0 && at[i - 1].start > at[i].start; i--) {
        struct circle_arc swap = at[i];
        at[i] = at[i - 1];
        at[i - 1] = swap;
    }
}

/* What goes past the end of the circle goes on at its beginning. */
static void circle_book(struct stream_circle *c, double start, double duration)
{
    double phase = start - floor(start / c->length) * c->length, hair = HAIR * c->length;
    if (c->length - phase <= hair)
        phase = 0;
    if (phase + duration <= c->length + hair) {
        circle_insert_arc(c, phase, fmin(phase + duration, c->length));
    } else {
        circle_insert_arc(c, phase, c->length);
        circle_insert_arc(c, 0, fmin(phase + duration - c->length, c->length));
    }
}

/* The first time from `from` on that stands at this phase of the circle. */
static double next_at_phase(double from, double phase, double length)
{
    return fmax(from, phase + ceil((from - phase) / length - HAIR) * length);
}

/* ---- placing ---- */

struct schedule_side { /* a cluster */
    struct stream_circle node;
    ARRAY(struct stream_circle) channels; /* those in use; more may be opened up to `limit` */
    uint32_t limit;                       /* 0: any number */
    bool packed;                          /* its tasks */
    double edge;                          /* packed: where the last task ended; NAN: no task yet */
};

struct schedule_build {
    const struct stream_graph *g;
    const struct stream_map *map;
    struct stream_estimate estimate;
    struct schedule_side *sides;
    struct stream_circle *links;
    uint32_t *link_of; /* per message */
    uint32_t nlinks;
    enum {
        OPEN,
        CROWDED,
        PACKED
    } *
        packing;   /* per cluster that names a component: its transfers */
    double *phase; /* per message of a packed component */
    double period;
    double *ready, *end; /* per copy */
    bool again;          /* something was packed: this round does not count */
    struct stream_schedule *out;
};

static uint64_t message_pair(const struct stream_message *m)
{
    uint32_t low = m->from < m->to ? m->from : m->to, high = m->from < m->to ? m->to : m->from;
    return (uint64_t)low << 32 | high;
}

struct message_key {
    uint64_t pair;
    uint32_t message;
};

static int compare_message_keys(const void *a, const void *b)
{
    const struct message_key *x = a, *y = b;
    return (x->pair > y->pair) - (x->pair < y->pair);
}

/* Messages between the same two clusters share a link. */
static void number_links(struct schedule_build *b)
{
    size_t n = b->estimate.messages.n;
    struct message_key *keys = mem_new(struct message_key, n);
    b->link_of = mem_new(uint32_t, n);
    b->links = mem_new_zero(struct stream_circle, n);
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct message_key){message_pair(&b->estimate.messages.at[i]), (uint32_t)i};
    if (n)
        qsort(keys, n, sizeof *keys, compare_message_keys);
    for (size_t i = 0; i < n; i++) {
        const struct stream_message *m = &b->estimate.messages.at[keys[i].message];
        if (!i || keys[i].pair != keys[i - 1].pair)
            b->links[b->nlinks++].length =
                stream_meeting(b->map->procs[m->from], b->map->procs[m->to]) * b->period;
        b->link_of[keys[i].message] = b->nlinks - 1;
    }
    free(keys);
}

static void clear_circles(struct schedule_build *b)
{
    for (uint32_t c = 0; c < b->map->nclusters; c++) {
        struct schedule_side *s = &b->sides[c];
        s->node.busy.n = 0;
        s->edge = NAN;
        for (size_t i = 0; i < s->channels.n; i++)
            s->channels.at[i].busy.n = 0;
    }
    for (uint32_t i = 0; i < b->nlinks; i++)
        b->links[i].busy.n = 0;
}

/* Data that comes without a transfer: from a copy beside it, or along an edge that costs nothing. */
static double ready_beside(const struct schedule_build *b, uint32_t task, uint32_t cluster)
{
    const struct workflow *w = b->g->w;
    double ready = 0;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        uint32_t from = w->pred_task[e], object = w->pred_object[e];
        uint32_t source = stream_copy(b->map, from, cluster);
        if (source == NONE && (object == NONE || b->g->transfer[w->object_edge[object]] <= 0))
            source = stream_copy(b->map, from, b->map->home[from]);
        if (source != NONE)
            ready = fmax(ready, b->end[source]);
    }
    return ready;
}

static void place_task(struct schedule_build *b, uint32_t task)
{
    for (uint32_t c = b->map->off[task]; c < b->map->off[task + 1]; c++) {
        uint32_t cluster = b->map->cluster[c];
        struct schedule_side *s = &b->sides[cluster];
        double time = stream_time(b->g, b->map, task, cluster);
        double start = fmax(b->ready[c], ready_beside(b, task, cluster));
        if (s->packed) {
            if (!isnan(s->edge))
                start = next_at_phase(start, s->edge, s->node.length);
            s->edge = start + time;
        } else if (time > 0) {
            double gap = circle_next(&s->node, start, time);
            if (gap == INFINITY) {
                s->packed = b->again = true;
            } else {
                start = gap;
                circle_book(&s->node, start, time);
            }
        }
        b->end[c] = start + time;
        array_push(&b->out->starts, (struct stream_start){task, cluster, start});
    }
}

/* The earliest time at which one of the cluster's channels is free. */
static double side_next(const struct schedule_side *s, double from, double duration)
{
    if (!s->limit || s->channels.n < s->limit)
        return from;
    double best = INFINITY;
    for (size_t i = 0; i < s->channels.n && best > from; i++)
        best = fmin(best, circle_next(&s->channels.at[i], from, duration));
    return best;
}

static void side_book(struct schedule_side *s, double start, double duration)
{
    for (size_t i = 0; i < s->channels.n && s->limit; i++)
        if (circle_next(&s->channels.at[i], start, duration) <= start) {
            circle_book(&s->channels.at[i], start, duration);
            return;
        }
    if (s->limit) {
        array_push(&s->channels, (struct stream_circle){.length = s->node.length});
        circle_book(&array_last(&s->channels), start, duration);
    }
}

/* Round link, sender and receiver until none of them moves the start any further. */
static double find_gap(const struct schedule_build *b, uint32_t message, double ready,
                       double duration)
{
    const struct stream_message *m = &b->estimate.messages.at[message];
    double at = ready;
    for (int round = 0; round < MOST_ROUNDS && at < INFINITY; round++) {
        double start = circle_next(&b->links[b->link_of[message]], at, duration);
        if (start < INFINITY)
            start = side_next(&b->sides[m->from], start, duration);
        if (start < INFINITY)
            start = side_next(&b->sides[m->to], start, duration);
        if (start <= at)
            return at;
        at = start;
    }
    return INFINITY;
}

static void book_message(struct schedule_build *b, uint32_t message, double start)
{
    const struct stream_message *m = &b->estimate.messages.at[message];
    double duration = m->finish - m->start;
    circle_book(&b->links[b->link_of[message]], start, duration);
    side_book(&b->sides[m->from], start, duration);
    side_book(&b->sides[m->to], start, duration);
}

/* All tasks of the receiving cluster that read the object may start after it. */
static void deliver_object(struct schedule_build *b, const struct stream_message *m, double end)
{
    const struct workflow *w = b->g->w;
    uint32_t object = w->succ_object[m->edge], from = b->g->edge_from[m->edge];
    for (uint32_t e = w->object_edge[object];
         e < w->succ_off[from + 1] && w->succ_object[e] == object; e++) {
        uint32_t c = stream_copy(b->map, w->succ_task[e], m->to);
        if (c != NONE)
            b->ready[c] = fmax(b->ready[c], end);
    }
}

static void place_message(struct schedule_build *b, uint32_t message)
{
    const struct stream_message *m = &b->estimate.messages.at[message];
    struct stream_circle *link = &b->links[b->link_of[message]];
    uint32_t component = b->estimate.member.at[m->from];
    double duration = m->finish - m->start;
    double start = b->end[stream_copy(b->map, b->g->edge_from[m->edge], m->from)];
    if (b->packing[component] == PACKED) {
        start = next_at_phase(start, b->phase[message], link->length);
    } else {
        double gap = find_gap(b, message, start, duration);
        if (gap == INFINITY) {
            b->packing[component] = CROWDED;
            b->again = true;
        } else {
            start = gap;
            book_message(b, message, start);
        }
    }
    deliver_object(b, m, start + duration);
    array_push(&b->out->sends,
               (struct stream_send){b->g->w->succ_object[m->edge], m->from, m->to, start});
}

/* Everything once, in order. */
static void place_all(struct schedule_build *b)
{
    const struct stream_graph *g = b->g;
    uint32_t message = 0;
    clear_circles(b);
    memset(b->ready, 0, b->map->off[g->ntasks] * sizeof *b->ready);
    b->out->starts.n = b->out->sends.n = 0;
    b->again = false;
    for (uint32_t i = 0; i < g->norder; i++) {
        uint32_t x = g->order[i];
        if (x < g->ntasks) {
            place_task(b, x);
            continue;
        }
        while (message < b->estimate.messages.n &&
               b->estimate.messages.at[message].edge == x - g->ntasks)
            place_message(b, message++);
    }
}

/* ---- packing the transfers of a component ---- */

struct packing_key {
    double key;
    uint32_t message;
};

static int compare_packing_keys(const void *a, const void *b)
{
    const struct packing_key *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->message > y->message) - (x->message < y->message);
}

/* The order of try `k`: the estimate's, the longest first, and then at random. */
static void order_packing(const struct schedule_build *b, struct packing_key *keys, size_t n, int k,
                          struct rng *rng)
{
    for (size_t i = 0; i < n; i++) {
        const struct stream_message *m = &b->estimate.messages.at[keys[i].message];
        keys[i].key = k < 2    ? (double)keys[i].message
                      : k == 2 ? m->start - m->finish
                               : rng_unit(rng);
    }
    qsort(keys, n, sizeof *keys, compare_packing_keys);
}

/* Phases for the component's transfers on circles that are theirs alone. */
static bool pack_component(struct schedule_build *b, uint32_t component)
{
    struct packing_key *keys = mem_new(struct packing_key, b->estimate.messages.n);
    size_t n = 0;
    bool good = false;
    struct rng rng;
    rng_seed(&rng, 1);
    for (size_t i = 0; i < b->estimate.messages.n; i++)
        if (b->estimate.member.at[b->estimate.messages.at[i].from] == component)
            keys[n++].message = (uint32_t)i;
    for (int k = 0; k < MOST_PACKINGS && !good; k++) {
        order_packing(b, keys, n, k, &rng);
        clear_circles(b);
        good = true;
        for (size_t i = 0; i < n && good; i++) {
            uint32_t message = keys[i].message;
            const struct stream_message *m = &b->estimate.messages.at[message];
            double at = k ? 0 : m->start, duration = m->finish - m->start;
            double gap = k ? find_gap(b, message, at, duration)
                           : circle_next(&b->links[b->link_of[message]], at, duration);
            /* the first try takes the estimate's slots as they are */
            good = gap < INFINITY && (k || gap <= at);
            b->phase[message] = gap;
            if (good && k)
                book_message(b, message, gap);
            else if (good)
                circle_book(&b->links[b->link_of[message]], gap, duration);
        }
    }
    free(keys);
    return good;
}

/* Rounds of placing and packing. False: some component cannot be packed. */
static bool place_and_pack(struct schedule_build *b)
{
    for (;;) {
        place_all(b);
        if (!b->again)
            return true;
        for (uint32_t c = 0; c < b->map->nclusters; c++) {
            if (b->packing[c] != CROWDED)
                continue;
            if (!pack_component(b, c))
                return false;
            b->packing[c] = PACKED;
        }
    }
}

/* ---- the whole ---- */

static void open_sides(struct schedule_build *b, uint32_t ports)
{
    b->sides = mem_new_zero(struct schedule_side, b->map->nclusters);
    for (uint32_t c = 0; c < b->map->nclusters; c++) {
        b->sides[c].node.length = b->map->procs[c] * b->period;
        b->sides[c].limit = ports ? ports : stream_ports(b->g, b->map, c);
    }
}

static void schedule_build_free(struct schedule_build *b)
{
    for (uint32_t c = 0; b->sides && c < b->map->nclusters; c++) {
        array_free(&b->sides[c].node.busy);
        for (size_t i = 0; i < b->sides[c].channels.n; i++)
            array_free(&b->sides[c].channels.at[i].busy);
        array_free(&b->sides[c].channels);
    }
    for (uint32_t i = 0; i < b->nlinks; i++)
        array_free(&b->links[i].busy);
    stream_estimate_free(&b->estimate);
    free(b->sides);
    free(b->links);
    free(b->link_of);
    free(b->packing);
    free(b->phase);
    free(b->ready);
    free(b->end);
}

/* Every cluster has one replica and one node: the schedule of one item on them. */
static bool build_list_schedule(const struct stream_graph *g, const struct plan *plan,
                                const struct stream_map *map, struct stream_work *work,
                                struct stream_schedule *out)
{
    uint32_t m = map->nclusters;
    if (map->off[g->ntasks] > g->ntasks)
        return false; /* the list schedule knows no duplicates */
    uint32_t *nodes = mem_new(uint32_t, m), *processor = mem_new(uint32_t, g->ntasks);
    bool placed = true;
    for (uint32_t i = 0; i < m; i++) {
        placed &= map->node_off[i] < map->node_off[i + 1];
        nodes[i] = placed ? map->nodes[map->node_off[i]] : 0;
    }
    memcpy(processor, map->home, g->ntasks * sizeof *processor);
    out->period = stream_item_schedule(work, m, placed ? nodes : NULL, plan->ports, processor, out);
    free(nodes);
    free(processor);
    return out->period > 0 && isfinite(out->period);
}

bool stream_schedule_build(const struct stream_graph *g, const struct plan *plan, double period,
                           struct stream_schedule *out)
{
    struct stream_tables tables = {0};
    struct stream_work *work = stream_work_new(g);
    stream_tables_fill(&tables, plan, g->ntasks);
    struct stream_map map = stream_tables_map(&tables, plan);
    struct schedule_build b = {.g = g, .map = &map, .period = period, .out = out};
    bool good;
    *out = (struct stream_schedule){.period = period};
    if (!plan->pipelined) {
        good = build_list_schedule(g, plan, &map, work, out);
    } else {
        good = period > 0 && isfinite(period) &&
               stream_estimate(work, &map, plan->ports, INFINITY, NULL, &b.estimate);
        if (good) {
            open_sides(&b, plan->ports);
            number_links(&b);
            b.packing = mem_array_zero(map.nclusters, sizeof *b.packing);
            b.phase = mem_new(double, b.estimate.messages.n);
            b.ready = mem_new(double, map.off[g->ntasks]);
            b.end = mem_new(double, map.off[g->ntasks]);
            good = place_and_pack(&b);
        }
    }
    schedule_build_free(&b);
    stream_work_free(work);
    stream_tables_free(&tables);
    if (!good)
        stream_schedule_free(out);
    return good;
}

double stream_schedule_latency(const struct stream_graph *g, const struct plan *plan,
                               const struct stream_schedule *schedule)
{
    struct stream_tables tables = {0};
    stream_tables_fill(&tables, plan, g->ntasks);
    struct stream_map map = stream_tables_map(&tables, plan);
    double first = INFINITY, last = 0;
    for (size_t i = 0; i < schedule->starts.n; i++) {
        const struct stream_start *x = &schedule->starts.at[i];
        first = fmin(first, x->start);
        last = fmax(last, x->start + stream_time(g, &map, x->task, x->cluster));
    }
    stream_tables_free(&tables);
    return schedule->starts.n ? last - first : 0;
}
