/* Algorithm 2: reduce the processors to those that are there.
 *
 * The report evaluates every pair of clusters before every merge. Up to EXACT clusters that is
 * done; above, a pair is first estimated by a pass over its own tasks alone (times of all others
 * kept), and only the most promising SHORTLIST are evaluated. */
#include "plan/stream/mos.h"

enum { EXACT = 12, LONGLIST = 256, SHORTLIST = 24 };

struct candidate {
    uint32_t a, b;
    double rough; /* overlap in time: how much of it would be serialised at most */
    double estimate;
    double waste;
    bool connected;
};

struct reducer {
    const struct stream_problem *q;
    struct mos_bench x;
    /* tasks of each cluster in task order, and the time it is occupied by an item */
    uint32_t *off, *task;
    double *first, *last;
    double *finish; /* per task, of the pass over a pair */
    uint32_t *stamp, now;
    uint8_t
        *linked; /* pairs with a transfer: nclusters^2 / 8; NULL when there are too many clusters */
    ARRAY(struct candidate) list;
};

static void group_tasks(struct reducer *r)
{
    const struct state *s = &r->x.current;
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
            r->first[c] = fmin(r->first[c], r->x.now.begin.at[i]);
            r->last[c] = fmax(r->last[c], r->x.now.end.at[i]);
        }
    }
    size_t bits = (size_t)m * m;
    memset(r->linked, 0, bits / 8 + 1);
    for (size_t i = 0; i < r->x.now.messages.n; i++) {
        size_t a = r->x.now.messages.at[i].from, b = r->x.now.messages.at[i].to;
        r->linked[(a * m + b) / 8] |= (uint8_t)(1 << (a * m + b) % 8);
        r->linked[(b * m + a) / 8] |= (uint8_t)(1 << (b * m + a) % 8);
    }
}

static bool is_linked(const struct reducer *r, uint32_t a, uint32_t b)
{
    size_t at = (size_t)a * r->x.current.nclusters + b;
    return r->linked[at / 8] >> at % 8 & 1;
}

/* Seconds of the copies that both clusters hold. */
static double shared_time(const struct reducer *r, uint32_t a, uint32_t b)
{
    const struct state *s = &r->x.current;
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
static double merged_need(const struct reducer *r, uint32_t a, uint32_t b)
{
    const struct state *s = &r->x.current;
    double time = s->time[a] + s->time[b] - shared_time(r, a, b), need = r->q->throughput * time;
    if (s->fixed[a] || s->fixed[b])
        return need > 1 + 1e-7 ? NAN : need;
    return s->clusters == 2 ? need : need + s->extra[a] + s->extra[b];
}

static double procs_of(const struct reducer *r, uint32_t a, uint32_t b, double need)
{
    const struct state *s = &r->x.current;
    return s->fixed[a] || s->fixed[b] ? 1 : fmax(1, ceil(need - 1e-7));
}

/* Latency through the pair if merged, everything else staying where it is. */
static double estimate_pair(struct reducer *r, uint32_t a, uint32_t b)
{
    const struct stream_graph *g = r->q->g;
    const struct workflow *w = g->w;
    const struct state *s = &r->x.current;
    const struct stream_estimate *e = &r->x.now;
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

/* Keep the LONGLIST pairs with the least overlap; linked ones come first. */
static void keep_candidate(struct reducer *r, struct candidate c)
{
    size_t limit = r->x.current.nclusters <= EXACT ? SIZE_MAX : LONGLIST;
    if (r->list.n < limit) {
        array_push(&r->list, c);
        /* a heap with the largest overlap on top */
        for (size_t i = r->list.n - 1; i && r->list.at[(i - 1) / 2].rough < r->list.at[i].rough;
             i = (i - 1) / 2) {
            struct candidate swap = r->list.at[i];
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
        struct candidate swap = r->list.at[i];
        r->list.at[i] = r->list.at[child];
        r->list.at[child] = swap;
        i = child;
    }
}

/* Pairs that save a processor, or else those that waste the most of one. */
static void gather(struct reducer *r)
{
    const struct state *s = &r->x.current;
    double most = -1;
    r->list.n = 0;
    for (int pass = 0; pass < 2 && !r->list.n; pass++) {
        for (uint32_t a = 0; a < s->nclusters; a++)
            for (uint32_t b = a + 1; b < s->nclusters; b++) {
                double need = merged_need(r, a, b);
                if (isnan(need))
                    continue;
                double procs = procs_of(r, a, b, need), waste = procs - need;
                bool linked = is_linked(r, a, b);
                if (!pass && procs >= s->procs[a] + s->procs[b])
                    continue;
                if (pass) {
                    if (waste < most - 1e-9)
                        continue;
                    if (waste > most + 1e-9)
                        r->list.n = 0;
                    most = fmax(most, waste);
                }
                double overlap = fmin(r->last[a], r->last[b]) - fmax(r->first[a], r->first[b]);
                keep_candidate(
                    r, (struct candidate){.a = a,
                                          .b = b,
                                          .rough = linked ? overlap - 1e12 : fmax(overlap, 0),
                                          .waste = waste,
                                          .connected = linked});
            }
    }
}

static int compare_candidates(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;
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

/* Some task of one and some task of the other could run at the same time. */
static bool are_concurrent(const struct reducer *r, uint32_t a, uint32_t b)
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

/* x->trial with candidate c against x->choice with candidate d: meets T, least latency, connected,
 * not concurrent, waste. */
static bool is_better(const struct reducer *r, const struct candidate *c, const struct candidate *d,
                      bool defragment)
{
    const struct state *a = &r->x.trial, *b = &r->x.choice;
    double wanted = r->q->throughput * (1 - STREAM_TOLERANCE);
    bool good = a->rate >= wanted, other = b->rate >= wanted;
    if (good != other && !defragment)
        return good;
    if (a->latency < b->latency * (1 - STREAM_TOLERANCE))
        return true;
    if (a->latency > b->latency * (1 + STREAM_TOLERANCE))
        return false;
    if (defragment)
        return c->a != d->a ? c->a < d->a : c->b < d->b;
    if (c->connected != d->connected)
        return c->connected;
    bool ours = are_concurrent(r, c->a, c->b), theirs = are_concurrent(r, d->a, d->b);
    if (ours != theirs)
        return theirs;
    if (fabs(c->waste - d->waste) > 1e-9)
        return c->waste > d->waste;
    return c->a != d->a ? c->a < d->a : c->b < d->b;
}

static bool merge_best(struct reducer *r, bool defragment)
{
    struct mos_bench *x = &r->x;
    struct candidate best = {0};
    bool found = false;
    if (r->list.n > SHORTLIST && x->current.nclusters > EXACT) {
        for (size_t i = 0; i < r->list.n; i++)
            r->list.at[i].estimate =
                fmax(estimate_pair(r, r->list.at[i].a, r->list.at[i].b), x->current.latency * 0.5);
        qsort(r->list.at, r->list.n, sizeof *r->list.at, compare_candidates);
    }
    size_t tries = x->current.nclusters > EXACT && r->list.n > SHORTLIST ? SHORTLIST : r->list.n;
    double wanted = r->q->throughput * (1 - STREAM_TOLERANCE);
    for (size_t i = 0; i < r->list.n; i++) {
        if (i >= tries && found && (x->choice.rate >= wanted || i >= 4 * (size_t)SHORTLIST))
            break; /* look further only for one that keeps the throughput */
        const struct candidate *c = &r->list.at[i];
        state_copy(&x->trial, &x->current);
        state_merge(&x->trial, r->q, c->a, c->b);
        double limit = found && x->choice.rate >= wanted
                           ? x->choice.latency * (1 + 2 * STREAM_TOLERANCE)
                           : INFINITY;
        if (!x->trial.possible || !state_estimate(&x->trial, r->q, limit, &x->now, &x->look))
            continue;
        if (!found || is_better(r, c, &best, defragment)) {
            state_copy(&x->choice, &x->trial);
            best = *c;
            found = true;
        }
    }
    return found;
}

/* Only the rate is missing: merge the ends of a transfer of the slowest channel. */
static bool merge_slow(struct reducer *r)
{
    struct mos_bench *x = &r->x;
    const struct stream_estimate *e = &x->now;
    bool found = false;
    for (size_t i = 0; i < e->messages.n; i++) {
        const struct stream_message *m = &e->messages.at[i];
        if (!((m->from == e->slow_cluster && m->from_channel == e->slow_channel) ||
              (m->to == e->slow_cluster && m->to_channel == e->slow_channel)))
            continue;
        state_copy(&x->trial, &x->current);
        state_merge(&x->trial, r->q, m->from, m->to);
        if (x->trial.possible && state_estimate(&x->trial, r->q, INFINITY, e, &x->look) &&
            (!found || x->trial.latency < x->choice.latency * (1 - STREAM_TOLERANCE))) {
            state_copy(&x->choice, &x->trial);
            found = true;
        }
    }
    return found;
}

void mos_reduce_processors(const struct stream_problem *q, struct state *s)
{
    struct reducer r = {.q = q};
    uint32_t n = q->g->ntasks, m = s->nclusters;
    state_init(&r.x.current, n);
    state_init(&r.x.trial, n);
    state_init(&r.x.choice, n);
    r.off = mem_new(uint32_t, (size_t)m + 2);
    r.first = mem_new(double, m);
    r.last = mem_new(double, m);
    r.finish = mem_new(double, n);
    r.stamp = mem_new_zero(uint32_t, n);
    r.linked = mem_new(uint8_t, (size_t)m * m / 8 + 1);
    state_copy(&r.x.current, s);
    state_compact(&r.x.current);
    for (;;) {
        state_estimate(&r.x.current, q, INFINITY, NULL, &r.x.now);
        bool found;
        if (r.x.current.processors > q->processors) {
            group_tasks(&r);
            gather(&r);
            bool saves = r.list.n &&
                         procs_of(&r, r.list.at[0].a, r.list.at[0].b,
                                  merged_need(&r, r.list.at[0].a, r.list.at[0].b)) <
                             r.x.current.procs[r.list.at[0].a] + r.x.current.procs[r.list.at[0].b];
            found = merge_best(&r, !saves);
        } else if (r.x.current.rate < q->throughput * (1 - STREAM_TOLERANCE)) {
            found = merge_slow(&r);
        } else {
            break;
        }
        if (!found)
            break; /* only tasks that may not be replicated can stop it */
        state_copy(&r.x.current, &r.x.choice);
        state_compact(&r.x.current);
    }
    state_copy(s, &r.x.current);
    state_free(&r.x.current);
    state_free(&r.x.trial);
    state_free(&r.x.choice);
    stream_estimate_free(&r.x.now);
    stream_estimate_free(&r.x.look);
    free(r.off);
    free(r.task);
    free(r.first);
    free(r.last);
    free(r.finish);
    free(r.stamp);
    free(r.linked);
    array_free(&r.list);
}
