/* Pairs of clusters that PRH may merge, and a cheap estimate of what each would do; pairs.h has the
 * contract.
 *
 *    clusters      up to PAIRS_EXACT   up to PAIRS_MANY             more
 *    looked at     all pairs           all pairs, the best `most`   linked, or near in time
 *    judged by     full estimates      a pass over their tasks      a pass over their tasks
 *
 * `linked` is a bit matrix of clusters that exchange data. `rough` ranks before any estimate:
 * linked pairs first, then those that overlap least in time, since tasks that do not run at once
 * lose nothing on one node. */
#include "plan/stream/pairs.h"

void pairs_init(struct stream_pairs *r, const struct stream_problem *q,
                const struct stream_state *state, const struct stream_estimate *estimate)
{
    uint32_t n = q->g->ntasks, m = state->nclusters;
    size_t dense = m < PAIRS_MANY ? m : PAIRS_MANY;
    *r = (struct stream_pairs){.q = q, .state = state, .estimate = estimate};
    r->off = mem_new(uint32_t, (size_t)m + 2);
    r->first = mem_new(double, m);
    r->last = mem_new(double, m);
    r->finish = mem_new(double, n);
    r->stamp = mem_new_zero(uint32_t, n);
    r->linked = mem_new(uint8_t, dense * dense / 8 + 1);
}

void stream_pairs_free(struct stream_pairs *r)
{
    free(r->off);
    free(r->task);
    free(r->first);
    free(r->last);
    free(r->finish);
    free(r->stamp);
    free(r->linked);
    array_free(&r->list);
}

/* Tasks by cluster, in the order of the estimate, with the first begin and last end of each.
 * O(copies + transfers). */
static void group_tasks(struct stream_pairs *r)
{
    const struct stream_state *s = r->state;
    const struct stream_graph *g = r->q->g;
    uint32_t m = s->nclusters;
    memset(r->off, 0, ((size_t)m + 2) * sizeof *r->off);
    for (uint32_t i = 0; i < s->off[s->ntasks]; i++)
        r->off[s->cluster[i] + 2]++;
    for (uint32_t c = 0; c < m; c++) {
        r->off[c + 2] += r->off[c + 1];
        r->first[c] = INFINITY;
        r->last[c] = 0;
    }
    free(r->task);
    r->task = mem_new(uint32_t, s->off[s->ntasks]);
    for (uint32_t k = 0; k < g->norder; k++) {
        uint32_t t = g->order[k];
        if (t >= s->ntasks)
            continue;
        for (uint32_t i = s->off[t]; i < s->off[t + 1]; i++) {
            uint32_t c = s->cluster[i];
            r->task[r->off[c + 1]++] = t;
            r->first[c] = fmin(r->first[c], r->estimate->begin.at[i]);
            r->last[c] = fmax(r->last[c], r->estimate->end.at[i]);
        }
    }
    if (m > PAIRS_MANY)
        return;
    memset(r->linked, 0, (size_t)m * m / 8 + 1);
    for (size_t i = 0; i < r->estimate->messages.n; i++) {
        size_t a = r->estimate->messages.at[i].from, b = r->estimate->messages.at[i].to;
        r->linked[(a * m + b) / 8] |= (uint8_t)(1 << (a * m + b) % 8);
        r->linked[(b * m + a) / 8] |= (uint8_t)(1 << (b * m + a) % 8);
    }
}

/* Seconds of the copies that both clusters hold. */
static double shared_time(const struct stream_pairs *r, uint32_t a, uint32_t b)
{
    const struct stream_state *s = r->state;
    double shared = 0;
    if (s->off[s->ntasks] == s->ntasks)
        return 0;
    for (uint32_t k = r->off[a]; k < r->off[a + 1]; k++) {
        uint32_t t = r->task[k];
        if (s->off[t + 1] - s->off[t] > 1 && state_has(s, t, b))
            shared += r->q->g->time[t];
    }
    return shared;
}

/* Replicas of the merged cluster as a real number; NAN: it would be too slow for a task that may
 * not be replicated. */
static double merged_need(const struct stream_pairs *r, uint32_t a, uint32_t b)
{
    const struct stream_state *s = r->state;
    double time = s->time[a] + s->time[b] - shared_time(r, a, b), need = r->q->throughput * time;
    if (s->fixed[a] || s->fixed[b])
        return need > 1 + 1e-7 ? NAN : need;
    return s->clusters == 2 ? need : need + s->extra[a] + s->extra[b];
}

/* Whole replicas of the merged cluster. */
static double procs_of(const struct stream_pairs *r, uint32_t a, uint32_t b, double need)
{
    const struct stream_state *s = r->state;
    return s->fixed[a] || s->fixed[b] ? 1 : fmax(1, ceil(need - 1e-7));
}

/* Latency through the pair if merged, everything else staying where it is. */
static double estimate_pair(struct stream_pairs *r, uint32_t a, uint32_t b)
{
    const struct stream_graph *g = r->q->g;
    const struct workflow *w = g->w;
    const struct stream_state *s = r->state;
    const struct stream_estimate *e = r->estimate;
    uint32_t i = r->off[a], j = r->off[b];
    double time = 0, worst = 0;
    r->now++;
    while (i < r->off[a + 1] || j < r->off[b + 1]) {
        uint32_t t;
        if (j == r->off[b + 1])
            t = r->task[i++];
        else if (i == r->off[a + 1])
            t = r->task[j++];
        else if (r->task[i] == r->task[j])
            t = r->task[i++], j++;
        else if (g->bottom[r->task[i]] > g->bottom[r->task[j]] ||
                 (g->bottom[r->task[i]] == g->bottom[r->task[j]] &&
                  g->position[r->task[i]] < g->position[r->task[j]]))
            t = r->task[i++];
        else
            t = r->task[j++];
        double start = time;
        for (uint32_t k = w->pred_off[t]; k < w->pred_off[t + 1]; k++) {
            uint32_t p = w->pred_task[k], object = w->pred_object[k];
            double there = r->stamp[p] == r->now
                               ? r->finish[p]
                               : e->end.at[s->off[p]] +
                                     (object == NONE ? 0 : g->transfer[w->object_edge[object]]);
            start = fmax(start, there);
        }
        time = start + g->time[t];
        r->finish[t] = time;
        r->stamp[t] = r->now;
        /* what follows it elsewhere: at least the transfer and the way down as planned now */
        for (uint32_t k = w->succ_off[t]; k < w->succ_off[t + 1]; k++) {
            uint32_t next = w->succ_task[k];
            if (!state_has(s, next, a) && !state_has(s, next, b))
                worst = fmax(worst, time + g->transfer[k] + g->time[next] + g->tail[next]);
        }
        worst = fmax(worst, time);
    }
    return worst;
}

/* Keep the pairs with the least overlap; linked ones come first. */
static void keep_candidate(struct stream_pairs *r, struct pair_candidate c)
{
    size_t limit = r->state->nclusters <= PAIRS_EXACT ? SIZE_MAX : r->most;
    if (r->list.n < limit) {
        array_push(&r->list, c);
        /* a heap with the largest overlap on top */
        for (size_t i = r->list.n - 1; i && r->list.at[(i - 1) / 2].rough < r->list.at[i].rough;
             i = (i - 1) / 2) {
            struct pair_candidate swap = r->list.at[i];
            r->list.at[i] = r->list.at[(i - 1) / 2];
            r->list.at[(i - 1) / 2] = swap;
        }
        return;
    }
    if (c.rough >= r->list.at[0].rough)
        return;
    r->list.at[0] = c;
    for (size_t i = 0;;) {
        size_t child = 2 * i + 1;
        if (child >= r->list.n)
            break;
        if (child + 1 < r->list.n && r->list.at[child + 1].rough > r->list.at[child].rough)
            child++;
        if (r->list.at[child].rough <= r->list.at[i].rough)
            break;
        struct pair_candidate swap = r->list.at[i];
        r->list.at[i] = r->list.at[child];
        r->list.at[child] = swap;
        i = child;
    }
}

/* fmin() and fmax() of the library are calls, and this is asked for each pair of clusters. */
static double pair_rough(const struct stream_pairs *r, uint32_t a, uint32_t b, bool linked)
{
    double end = r->last[a] < r->last[b] ? r->last[a] : r->last[b],
           begin = r->first[a] > r->first[b] ? r->first[a] : r->first[b], overlap = end - begin;
    return linked ? overlap - 1e12 : overlap > 0 ? overlap : 0;
}

/* The overlap from which on no pair is kept any more; INFINITY: there is room. */
static double rough_limit(const struct stream_pairs *r)
{
    bool full = r->state->nclusters > PAIRS_EXACT && r->list.n >= r->most;
    return full ? r->list.at[0].rough : INFINITY;
}

/* One pair. In the first pass it must save a processor; in the second, most so far count. */
static void consider_pair(struct stream_pairs *r, uint32_t a, uint32_t b, bool linked, int pass,
                          double *most)
{
    const struct stream_state *s = r->state;
    double rough = pair_rough(r, a, b, linked);
    if (!pass && rough >= rough_limit(r))
        return;
    double need = merged_need(r, a, b);
    if (isnan(need))
        return;
    double procs = procs_of(r, a, b, need), waste = procs - need;
    if (!pass && procs >= s->procs[a] + s->procs[b])
        return;
    if (pass) {
        if (waste < *most - 1e-9)
            return;
        if (waste > *most + 1e-9)
            r->list.n = 0;
        *most = fmax(*most, waste);
    }
    keep_candidate(r, (struct pair_candidate){
                          .a = a, .b = b, .rough = rough, .waste = waste, .connected = linked});
}

/* Every pair of one cluster with a higher number. Once only linked pairs can be kept, eight others
 * are passed by at a time. */
static void consider_row(struct stream_pairs *r, uint32_t a, int pass, double *most)
{
    size_t m = r->state->nclusters, row = (size_t)a * m;
    for (uint32_t b = a + 1; b < m; b++) {
        size_t at = row + b;
        if (at % 8 == 0 && b + 8 <= m && !r->linked[at / 8] && !pass && rough_limit(r) <= 0)
            b += 7;
        else
            consider_pair(r, a, b, r->linked[at / 8] >> at % 8 & 1, pass, most);
    }
}

static int compare_pair_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Clusters in order of time, for consider_near(). */
struct begun {
    double first;
    uint32_t cluster;
};

static int compare_begun(const void *a, const void *b)
{
    const struct begun *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->cluster > y->cluster) - (x->cluster < y->cluster);
}

/* Pairs with a transfer, each once; then each cluster with the next that begin after its end, and
 * with its neighbour by begin. O((m + transfers) log). */
static void consider_near(struct stream_pairs *r, int pass, double *most)
{
    enum { FOLLOWERS = 4 };
    uint32_t m = r->state->nclusters;
    ARRAY(uint64_t) keys = {0};
    for (size_t i = 0; i < r->estimate->messages.n; i++) {
        uint64_t a = r->estimate->messages.at[i].from, b = r->estimate->messages.at[i].to;
        array_push(&keys, a < b ? a << 32 | b : b << 32 | a);
    }
    if (keys.n)
        qsort(keys.at, keys.n, sizeof *keys.at, compare_pair_keys);
    for (size_t i = 0; i < keys.n; i++)
        if (!i || keys.at[i] != keys.at[i - 1])
            consider_pair(r, (uint32_t)(keys.at[i] >> 32), (uint32_t)keys.at[i], true, pass, most);
    struct begun *order = mem_new(struct begun, m);
    for (uint32_t c = 0; c < m; c++)
        order[c] = (struct begun){r->first[c], c};
    qsort(order, m, sizeof *order, compare_begun);
    for (uint32_t i = 0; i < m; i++) {
        uint32_t c = order[i].cluster, low = i + 1, high = m;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (order[middle].first < r->last[c])
                low = middle + 1;
            else
                high = middle;
        }
        for (uint32_t k = low; k < m && k < low + FOLLOWERS; k++)
            consider_pair(r, c < order[k].cluster ? c : order[k].cluster,
                          c < order[k].cluster ? order[k].cluster : c, false, pass, most);
        if (i + 1 < low)
            consider_pair(r, c < order[i + 1].cluster ? c : order[i + 1].cluster,
                          c < order[i + 1].cluster ? order[i + 1].cluster : c, false, pass, most);
    }
    free(order);
    array_free(&keys);
}

bool pairs_gather(struct stream_pairs *r, size_t most)
{
    const struct stream_state *s = r->state;
    double waste = -1;
    group_tasks(r);
    r->list.n = 0;
    r->most = most;
    for (int pass = 0; pass < 2; pass++) {
        if (s->nclusters > PAIRS_MANY) {
            consider_near(r, pass, &waste);
        } else {
            for (uint32_t a = 0; a < s->nclusters; a++)
                consider_row(r, a, pass, &waste);
        }
        if (r->list.n)
            return !pass;
    }
    return false;
}

/* Least estimated latency, linked first, most waste (processors that the merge uses up better),
 * lowest numbers. */
static int compare_candidates(const void *x, const void *y)
{
    const struct pair_candidate *a = x, *b = y;
    if (a->estimate != b->estimate)
        return a->estimate < b->estimate ? -1 : 1;
    if (a->connected != b->connected)
        return a->connected ? -1 : 1;
    if (a->waste != b->waste)
        return a->waste > b->waste ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

void pairs_sort(struct stream_pairs *r)
{
    for (size_t i = 0; i < r->list.n; i++)
        r->list.at[i].estimate =
            fmax(estimate_pair(r, r->list.at[i].a, r->list.at[i].b), r->state->latency * 0.5);
    if (r->list.n)
        qsort(r->list.at, r->list.n, sizeof *r->list.at, compare_candidates);
}

bool pairs_concurrent(const struct stream_pairs *r, uint32_t a, uint32_t b)
{
    const uint64_t *closure = r->q->closure;
    size_t words = r->q->closure_words;
    if (!closure)
        return false;
    for (uint32_t i = r->off[a]; i < r->off[a + 1]; i++)
        for (uint32_t j = r->off[b]; j < r->off[b + 1]; j++) {
            uint32_t u = r->task[i], v = r->task[j];
            if (u != v && !(closure[u * words + v / 64] >> v % 64 & 1) &&
                !(closure[v * words + u / 64] >> u % 64 & 1))
                return true;
        }
    return false;
}
