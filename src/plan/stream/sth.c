/* STH, satisfy the throughput (Algorithm 1 of the report): from one cluster a task on, transfers
 * that are too slow are merged away, saved by duplicates, or sped up by replicas, until the rate is
 * met. It may use more processors than there are: PRH follows.
 *
 * First every edge whose transfer alone is too slow, the heaviest first; then the channel of the
 * largest minimum cycle time, again and again. Of the ways to mend, the one of least latency wins;
 * ties: fewest processors, then the first.
 *
 * An estimate is O(copies + transfers log transfers); a move tries a few of them. Past 2 x MANY
 * clusters a share of the channels is mended at once. */
#include "plan/stream/mos.h"

/* Tasks up to which all transfers of a channel and all ancestors are tried; ancestors otherwise. */
enum { PATIENT = 100, FEW_ANCESTORS = 8 };
/* Past twice so many clusters, this share of them is merged at once. */
enum { MANY = 100 };

/* Can it be had at all: enough processors for the replicas as real numbers, and no fixed cluster
 * too slow? */
static bool state_fits(const struct stream_problem *q, const struct stream_state *s)
{
    return s->possible && s->need <= q->processors + 1e-7;
}

/* The predecessor of an added task, not in the cluster, with the heaviest transfer to it. */
static uint32_t heaviest_input(const struct stream_problem *q, const struct stream_state *s,
                               const uint32_t *added, size_t count, uint32_t cluster)
{
    const struct workflow *w = q->g->w;
    double heaviest = 0;
    uint32_t best = NONE;
    for (size_t k = 0; k < count; k++)
        for (uint32_t e = w->pred_off[added[k]]; e < w->pred_off[added[k] + 1]; e++) {
            uint32_t i = w->pred_task[e], object = w->pred_object[e];
            double weight = object == NONE ? 0 : q->g->transfer[w->object_edge[object]];
            if (weight > heaviest && !state_has(s, i, cluster)) {
                heaviest = weight;
                best = i;
            }
        }
    return best;
}

/* Of the inputs of added tasks that come by transfer, the producer of the last to arrive. */
static uint32_t latest_input(const struct stream_problem *q, const struct stream_estimate *e,
                             const uint32_t *added, size_t count, uint32_t cluster)
{
    double latest = 0;
    uint32_t best = NONE;
    for (size_t i = 0; i < e->messages.n; i++) {
        const struct stream_message *m = &e->messages.at[i];
        if (m->to != cluster || m->end <= latest)
            continue;
        for (size_t k = 0; k < count; k++)
            if (added[k] == q->g->w->succ_task[m->edge]) {
                latest = m->end;
                best = q->g->edge_from[m->edge];
                break;
            }
    }
    return best;
}

/* Is the latency beyond the limit, however many ancestors of the task follow it? */
static bool bound_exceeds(const struct stream_problem *q, const struct stream_state *s,
                          uint32_t task, uint32_t cluster, double limit)
{
    struct stream_map map = state_map(s);
    return isfinite(limit) && stream_bound_through(q->work, &map, task, cluster) > limit;
}

static void sth_swap(struct stream_estimate *a, struct stream_estimate *b)
{
    struct stream_estimate other = *a;
    *a = *b;
    *b = other;
}

/* What is asked of a duplicate and the ancestors that follow it. */
struct sth_copies {
    const struct stream_problem *q;
    struct stream_state *s;
    ARRAY(uint32_t) added;
    double needed, wanted; /* the rate, and what counts as it */
    double limit;          /* of the latency; INFINITY: ancestors may bring back what exceeds it */
    double bound;          /* that the result must be below; INFINITY: not known */
    bool deep;             /* further ancestors follow while that shortens the latency */
};

enum sth_verdict { COPIES_MISS, COPIES_LATE, COPIES_STOP, COPIES_MET };

/* `e` gets the estimate; s->rate is 0 where it was not made to the end. */
static enum sth_verdict judge_copies(struct sth_copies *x, const struct stream_estimate *base,
                                     struct stream_estimate *e)
{
    if (isfinite(x->limit)) {
        if (state_misses(x->s, x->q, x->wanted)) {
            x->s->rate = 0;
            return COPIES_MISS;
        }
        if (!state_estimate(x->s, x->q, x->limit, base, e))
            return COPIES_STOP;
    } else if (x->deep && x->needed <= 0 && x->q->g->uniform) {
        /* any rate will do: of what is too long only the inputs of the copies are asked for */
        if (!state_estimate_past(x->s, x->q, x->bound, x->added.at, x->added.n, base, e))
            return COPIES_LATE;
    } else {
        state_estimate_above(x->s, x->q, x->limit, x->needed, base, e);
    }
    return x->s->rate < x->wanted ? COPIES_MISS : COPIES_MET;
}

/* Duplicate `task` into `cluster`, and its ancestors after it while the rate is missed; see mos.h.
 */
bool mos_duplicate(const struct stream_problem *q, struct stream_state *s, uint32_t task,
                   uint32_t cluster, double rate, double limit, struct stream_state *deeper,
                   const struct stream_estimate *base, struct stream_estimate e[2])
{
    struct sth_copies x = {.q = q, .s = s, .needed = fmin(q->throughput, rate), .deep = deeper};
    bool good = false, patient = q->g->ntasks <= PATIENT;
    uint32_t further = 0, turn = 0;
    if (!q->duplication)
        return false;
    x.wanted = x.needed * (1 - STREAM_TOLERANCE);
    /* Ancestors may bring back under the limit what the first copy put above it: worth the time on
     * graphs of ordinary size, unless already the way through the copy is too long. */
    x.bound = deeper ? limit : INFINITY;
    x.limit = patient ? INFINITY : limit;
    while (task != NONE && (patient || x.added.n <= FEW_ANCESTORS)) {
        array_push(&x.added, task);
        state_add(s, q, task, cluster);
        if (!state_fits(q, s) || bound_exceeds(q, s, task, cluster, x.bound))
            break;
        struct stream_estimate *made = &e[turn];
        enum sth_verdict verdict = judge_copies(&x, base, made);
        if (verdict == COPIES_STOP)
            break;
        /* each copy changes what the one before it made: that is the nearest to start from */
        if (s->rate > 0) {
            base = made;
            turn = !turn;
        }
        if (verdict == COPIES_MISS) {
            task = heaviest_input(q, s, x.added.at, x.added.n, cluster);
            continue;
        }
        if (!deeper) {
            good = true;
            if (turn == 0)
                sth_swap(&e[0], &e[1]);
            break;
        }
        if (verdict == COPIES_MET) {
            if (!good || s->latency < deeper->latency * (1 - STREAM_TOLERANCE))
                state_copy(deeper, s);
            good = true;
            x.bound = fmin(x.bound, deeper->latency * (1 - STREAM_TOLERANCE));
        }
        /* what is as short as the longest path with free edges cannot be had shorter */
        bool least = good && deeper->latency * (1 - STREAM_TOLERANCE) <= q->g->longest;
        task = !least && further++ < FEW_ANCESTORS
                   ? latest_input(q, made, x.added.at, x.added.n, cluster)
                   : NONE;
    }
    if (deeper && good)
        state_copy(s, deeper);
    array_free(&x.added);
    return good;
}

/* Keep the better of two: least latency, then fewest processors; the first stays on ties. */
static bool sth_is_better(const struct stream_state *a, const struct stream_state *b)
{
    if (a->latency < b->latency * (1 - STREAM_TOLERANCE))
        return true;
    if (a->latency > b->latency * (1 + STREAM_TOLERANCE))
        return false;
    return a->processors < b->processors;
}

/* x->trial competes with x->choice. `judged`: its estimate is in x->look[0], and who wins may need it. */
static void sth_offer(struct mos_bench *x, bool judged, bool *found)
{
    if (*found && !sth_is_better(&x->trial, &x->choice))
        return;
    state_copy(&x->choice, &x->trial);
    *found = true;
    if (judged) {
        sth_swap(&x->kept, &x->look[0]);
        x->kept_state = state_fingerprint(&x->trial) | 1;
    }
}

/* The chosen move is made: empty clusters go, and its estimate is the base of the next. */
static void perform_merge(const struct stream_problem *q, struct mos_bench *x)
{
    bool judged = x->kept_state == (state_fingerprint(&x->choice) | 1);
    state_copy(&x->current, &x->choice);
    state_perform(&x->current, q, &x->now, judged ? &x->kept : &x->look[0], judged);
    x->kept_state = 0;
}

static void try_merge(const struct stream_problem *q, struct mos_bench *x, uint32_t a, uint32_t b,
                      double limit, bool *found)
{
    state_copy(&x->trial, &x->current);
    state_merge(&x->trial, q, a, b);
    if (x->trial.possible && mos_estimate_trial(q, x, limit, 0))
        sth_offer(x, x->fresh, found);
}

/* Worse latencies than that of the best move so far need not be computed to the end. */
static double limit_of(bool found, const struct stream_state *best)
{
    return found ? best->latency * (1 + 2 * STREAM_TOLERANCE) : INFINITY;
}

struct heavy {
    double weight;
    uint32_t edge;
};

static int compare_heavy(const void *a, const void *b)
{
    const struct heavy *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->edge > y->edge) - (x->edge < y->edge);
}

/* The message that carries this edge, if it is one now. */
static const struct stream_message *message_of(const struct mos_bench *x, uint32_t edge)
{
    for (size_t i = 0; i < x->now.messages.n; i++)
        if (x->now.messages.at[i].edge == edge)
            return &x->now.messages.at[i];
    return NULL;
}

/* Would this transfer alone hold up the stream, with the replicas that its ends have? */
static bool is_slow(const struct stream_problem *q, const struct mos_bench *x,
                    const struct stream_message *m)
{
    uint32_t a = x->current.procs[m->from], b = x->current.procs[m->to];
    return (a < b ? a : b) / (m->end - m->begin) < q->throughput * (1 - STREAM_TOLERANCE);
}

/* One slow edge: merge its ends, duplicate its producer, or replicate both. */
static void mend_edge(const struct stream_problem *q, struct mos_bench *x, uint32_t edge)
{
    const struct stream_message *m;
    /* a step may leave the edge slow for another receiver; each removes a transfer or makes one
     * fast */
    for (uint32_t guard = 0; guard <= q->g->ntasks && (m = message_of(x, edge)) && is_slow(q, x, m);
         guard++) {
        uint32_t from = m->from, to = m->to, task = q->g->edge_from[edge];
        double weight = m->end - m->begin;
        bool found = false;
        try_merge(q, x, from, to, INFINITY, &found);
        state_copy(&x->trial, &x->current);
        if (mos_duplicate(q, &x->trial, task, to, x->current.rate, limit_of(found, &x->choice),
                          NULL, &x->now, x->look))
            sth_offer(x, true, &found);
        if (!x->current.fixed[from] && !x->current.fixed[to]) {
            uint32_t replicas = (uint32_t)ceil(q->throughput * weight - 1e-7);
            state_copy(&x->trial, &x->current);
            state_ask(&x->trial, q, from, replicas);
            state_ask(&x->trial, q, to, replicas);
            state_refresh(&x->trial, q);
            if (state_fits(q, &x->trial) &&
                state_estimate(&x->trial, q, INFINITY, &x->now, x->look))
                sth_offer(x, true, &found);
        }
        if (!found)
            return;
        perform_merge(q, x);
    }
}

/* Transfers of the slowest channel that are tried, the heaviest first: a hub may have hundreds. */
static size_t most_of_channel(uint32_t ntasks)
{
    return ntasks <= PATIENT ? 8 : 5;
}

struct slow_port {
    double cycle;
    uint32_t port;
};

static int compare_slow(const void *a, const void *b)
{
    const struct slow_port *x = a, *y = b;
    if (x->cycle != y->cycle)
        return x->cycle > y->cycle ? -1 : 1;
    return (x->port > y->port) - (x->port < y->port);
}

/* Many clusters: merge the ends of the heaviest transfer of each of the `count` slowest channels at
 * once, no cluster twice. One estimate a round instead of some for every merge. */
static bool mend_channels(const struct stream_problem *q, struct mos_bench *x, uint32_t count)
{
    const struct stream_estimate *e = &x->now;
    uint32_t m = x->current.nclusters, merged = 0, *port_of = mem_new(uint32_t, (size_t)m + 1);
    struct slow_port *slow = mem_new(struct slow_port, e->ports.n);
    uint32_t *heaviest = mem_new(uint32_t, e->ports.n);
    uint8_t *taken = mem_new_zero(uint8_t, m);
    /* ports come by cluster: port_of[c] is the first of cluster c */
    for (uint32_t c = 0, k = 0; c <= m; c++) {
        while (k < e->ports.n && e->ports.at[k].cluster < c)
            k++;
        port_of[c] = k;
    }
    for (uint32_t k = 0; k < e->ports.n; k++) {
        slow[k] = (struct slow_port){e->ports.at[k].cycle, k};
        heaviest[k] = NONE;
    }
    for (uint32_t i = 0; i < e->messages.n; i++) {
        const struct stream_message *s = &e->messages.at[i];
        uint32_t end[2] = {s->from, s->to}, channel[2] = {s->from_channel, s->to_channel};
        for (int side = 0; side < 2; side++)
            for (uint32_t k = port_of[end[side]]; k < port_of[end[side] + 1]; k++) {
                if (e->ports.at[k].channel != channel[side])
                    continue;
                const struct stream_message *best =
                    heaviest[k] == NONE ? NULL : &e->messages.at[heaviest[k]];
                if (!best || s->end - s->begin > best->end - best->begin)
                    heaviest[k] = i;
            }
    }
    if (e->ports.n)
        qsort(slow, e->ports.n, sizeof *slow, compare_slow);
    /* the slowest channels first, each with its heaviest transfer, no cluster twice */
    state_copy(&x->choice, &x->current);
    for (size_t k = 0; k < e->ports.n && merged < count; k++) {
        if (heaviest[slow[k].port] == NONE)
            continue;
        const struct stream_message *s = &e->messages.at[heaviest[slow[k].port]];
        double time = x->current.time[s->from] + x->current.time[s->to];
        bool fixed = x->current.fixed[s->from] || x->current.fixed[s->to];
        if (taken[s->from] || taken[s->to] || (fixed && q->throughput * time > 1 + 1e-7))
            continue;
        taken[s->from] = taken[s->to] = 1;
        state_merge(&x->choice, q, s->from, s->to);
        merged++;
    }
    if (merged)
        perform_merge(q, x);
    free(port_of);
    free(slow);
    free(heaviest);
    free(taken);
    return merged;
}

/* The slowest channel: merge or duplicate one of its transfers, or replicate its component. False:
 * nothing is possible. */
static bool mend_channel(const struct stream_problem *q, struct mos_bench *x)
{
    const struct stream_estimate *e = &x->now;
    uint32_t cluster = e->slow_cluster, channel = e->slow_channel;
    bool found = false;
    double weight = 0;
    if (cluster == NONE)
        return false;
    ARRAY(struct heavy) list = {0};
    for (size_t i = 0; i < e->messages.n; i++) {
        const struct stream_message *m = &e->messages.at[i];
        if ((m->from == cluster && m->from_channel == channel) ||
            (m->to == cluster && m->to_channel == channel))
            array_push(&list, (struct heavy){m->end - m->begin, (uint32_t)i});
    }
    size_t most = most_of_channel(q->g->ntasks);
    if (list.n > most)
        qsort(list.at, list.n, sizeof *list.at, compare_heavy);
    for (size_t i = 0; i < list.n && i < most; i++) {
        struct stream_message m = e->messages.at[list.at[i].edge];
        bool here = false;
        double limit = limit_of(found, &x->choice);
        struct stream_state keep = x->choice;
        /* collect the best of this edge in `step`, then against the best of the others */
        x->choice = x->step;
        try_merge(q, x, m.from, m.to, limit, &here);
        state_copy(&x->trial, &x->current);
        limit = fmin(limit, limit_of(here, &x->choice));
        if (mos_duplicate(q, &x->trial, q->g->edge_from[m.edge], m.to, x->current.rate, limit, NULL,
                          e, x->look) &&
            x->trial.rate > x->current.rate * (1 + STREAM_TOLERANCE))
            sth_offer(x, true, &here);
        x->step = x->choice;
        x->choice = keep;
        if (!here)
            continue;
        double w = m.end - m.begin;
        bool tie = found && fabs(x->step.latency - x->choice.latency) <=
                                STREAM_TOLERANCE * x->choice.latency;
        if (!found || (tie ? w > weight : x->step.latency < x->choice.latency)) {
            state_copy(&x->choice, &x->step);
            weight = w;
            found = true;
        }
    }
    array_free(&list);
    uint32_t root = e->member.at[cluster];
    uint32_t replicas = (uint32_t)ceil(q->throughput * e->component.at[cluster] - 1e-7);
    bool fixed = false;
    state_copy(&x->trial, &x->current);
    for (uint32_t c = 0; c < x->current.nclusters; c++)
        if (e->member.at[c] == root && e->component.at[c] > 0) {
            fixed |= x->current.fixed[c];
            state_ask(&x->trial, q, c, replicas);
        }
    state_refresh(&x->trial, q);
    if (!fixed && state_fits(q, &x->trial) && state_estimate(&x->trial, q, INFINITY, e, x->look))
        sth_offer(x, true, &found);
    if (found)
        perform_merge(q, x);
    return found;
}

/* One cluster a task, then edges by falling weight, then channels. */
void mos_satisfy_throughput(const struct stream_problem *q, struct stream_state *s)
{
    struct mos_bench x = {0};
    const struct stream_graph *g = q->g;
    double wanted = q->throughput * (1 - STREAM_TOLERANCE);
    state_init(&x.current, g->ntasks);
    state_init(&x.trial, g->ntasks);
    state_init(&x.choice, g->ntasks);
    state_init(&x.step, g->ntasks);
    state_single(&x.current, q);
    state_estimate(&x.current, q, INFINITY, NULL, &x.now);
    if (q->throughput > 0 && x.current.rate < wanted) {
        ARRAY(struct heavy) edges = {0};
        for (uint32_t e = 0; e < g->nedges; e++)
            if (g->transfer[e] > 0)
                array_push(&edges, (struct heavy){g->transfer[e], e});
        if (edges.n)
            qsort(edges.at, edges.n, sizeof *edges.at, compare_heavy);
        for (size_t i = 0; i < edges.n; i++)
            mend_edge(q, &x, edges.at[i].edge);
        array_free(&edges);
        while (x.current.rate < wanted) {
            uint32_t count = x.current.nclusters / MANY;
            if (!(count > 1 ? mend_channels(q, &x, count) : mend_channel(q, &x)))
                break;
        }
    }
    state_copy(s, &x.current);
    state_free(&x.current);
    state_free(&x.trial);
    state_free(&x.choice);
    state_free(&x.step);
    stream_estimate_free(&x.now);
    stream_estimate_free(&x.kept);
    stream_estimate_free(&x.look[0]);
    stream_estimate_free(&x.look[1]);
    free(x.memo.at);
}
