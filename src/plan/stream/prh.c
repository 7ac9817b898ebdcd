/* Algorithm 2: reduce the processors to those that are there.
 *
 * The report evaluates every pair of clusters before every merge. Up to PAIRS_EXACT clusters that
 * is done; above, a pair is first estimated by a pass over its own tasks alone (times of all others
 * kept), and only the most promising SHORTLIST are evaluated. Where many merges are needed, several
 * are done at once: the best, and others that look as good and share no cluster. */
#include "plan/stream/pairs.h"

/* Merges together may lengthen the item so much more than each alone. */
#define SPOILT 1.1
enum { LONGLIST = 256, SHORTLIST = 24, PRH_ROUNDS = 128, BATCHED = 256 };
/* While there are more than PAIRS_MANY clusters, an estimate takes milliseconds. */
enum { SHORTLIST_MANY = 8, PRH_ROUNDS_MANY = 64 };

struct reducer {
    const struct stream_problem *q;
    struct mos_bench x;
    struct stream_pairs pairs;
    struct stream_estimate chosen; /* of x.choice, where `judged` */
    bool replicate, missed, judged;
    uint32_t batch; /* merges at once at most; halved when they spoil each other */
    /* before the first merge that misses the throughput: up to it both ways are one */
    struct stream_state fork;
    uint32_t fork_batch;
};

/* Candidates of the same latency: connected, not concurrent, waste. */
static bool merge_wins_tie(const struct reducer *r, const struct pair_candidate *c,
                           const struct pair_candidate *d, bool defragment)
{
    if (defragment)
        return c->a != d->a ? c->a < d->a : c->b < d->b;
    if (c->connected != d->connected)
        return c->connected;
    bool ours = pairs_concurrent(&r->pairs, c->a, c->b),
         theirs = pairs_concurrent(&r->pairs, d->a, d->b);
    if (ours != theirs)
        return theirs;
    if (fabs(c->waste - d->waste) > 1e-9)
        return c->waste > d->waste;
    return c->a != d->a ? c->a < d->a : c->b < d->b;
}

/* x->trial with candidate c against x->choice with candidate d: meets T, least latency, tie. */
static bool merge_is_better(const struct reducer *r, const struct pair_candidate *c,
                            const struct pair_candidate *d, bool defragment)
{
    const struct stream_state *a = &r->x.trial, *b = &r->x.choice;
    if (c->keeps != d->keeps && !defragment)
        return c->keeps > d->keeps;
    if (a->latency < b->latency * (1 - STREAM_TOLERANCE))
        return true;
    if (a->latency > b->latency * (1 + STREAM_TOLERANCE))
        return false;
    return merge_wins_tie(r, c, d, defragment);
}

/* The latency up to which candidate c may still win. Who loses a tie must be strictly better: most merges leave the critical
 * path alone, and then a bound refuses them. */
static double merge_limit(const struct reducer *r, const struct pair_candidate *c,
                          const struct pair_candidate *best, bool defragment)
{
    double tie = merge_wins_tie(r, c, best, defragment) ? 2 * STREAM_TOLERANCE : -STREAM_TOLERANCE;
    return r->x.choice.latency * (1 + tie);
}

/* The best pair alone, into x->choice. */
static bool merge_best(struct reducer *r, bool defragment, struct pair_candidate *best)
{
    struct mos_bench *x = &r->x;
    struct stream_pairs *pairs = &r->pairs;
    uint32_t m = x->current.nclusters;
    size_t most = m > PAIRS_MANY ? SHORTLIST_MANY : SHORTLIST;
    bool found = false, few = m <= PAIRS_EXACT || pairs->list.n <= most;
    if (!few)
        pairs_sort(pairs);
    size_t tries = few ? pairs->list.n : most;
    double wanted = r->q->throughput * (1 - STREAM_TOLERANCE);
    for (size_t i = 0; i < pairs->list.n; i++) {
        if (i >= tries && found && (best->keeps == KEEPS || i >= 4 * most))
            break; /* look further only for one that keeps the throughput */
        struct pair_candidate *c = &pairs->list.at[i];
        state_copy(&x->trial, &x->current);
        state_merge(&x->trial, r->q, c->a, c->b);
        /* then only one that keeps it, too, and is not longer, can still win */
        bool kept = found && best->keeps == KEEPS;
        double limit = kept ? merge_limit(r, c, best, defragment) : INFINITY;
        if (!x->trial.possible ||
            !state_estimate_above(&x->trial, r->q, limit,
                                  kept && !defragment ? r->q->throughput : 0, &x->now, x->look))
            continue;
        c->keeps = KEEPS;
        if (x->trial.rate < wanted) {
            state_copy(&x->step, &x->trial);
            state_close(&x->step, r->q, x->look);
            c->keeps = x->step.processors < x->current.processors && x->step.rate >= wanted
                           ? REPLICATES
                           : MISSES;
            if (c->keeps == REPLICATES || r->replicate)
                state_copy(&x->trial, &x->step);
        }
        if (!found || merge_is_better(r, c, best, defragment)) {
            state_copy(&x->choice, &x->trial);
            *best = *c;
            found = true;
            r->judged = c->keeps == KEEPS;
            struct stream_estimate other = r->chosen;
            r->chosen = x->look[0];
            x->look[0] = other;
        }
    }
    if (found && best->keeps == MISSES && !r->missed) {
        state_copy(&r->fork, &x->current);
        r->fork_batch = r->batch;
        r->missed = true;
    }
    return found;
}

/* With the best pair in x->choice: merge also those that look no worse and share no cluster, as
 * long as together they keep the throughput. */
static void merge_more(struct reducer *r, const struct pair_candidate *best, uint32_t count)
{
    struct mos_bench *x = &r->x;
    double wanted = r->q->throughput * (1 - STREAM_TOLERANCE);
    double bound = fmax(x->choice.latency, x->current.latency) * (1 + STREAM_TOLERANCE);
    uint8_t *taken = mem_new_zero(uint8_t, x->current.nclusters);
    uint32_t merged = 1;
    taken[best->a] = taken[best->b] = 1;
    state_copy(&x->trial, &x->choice);
    for (size_t i = 0; i < r->pairs.list.n && merged < count; i++) {
        const struct pair_candidate *c = &r->pairs.list.at[i];
        if (taken[c->a] || taken[c->b] || c->estimate > bound)
            continue;
        taken[c->a] = taken[c->b] = 1;
        state_merge(&x->trial, r->q, c->a, c->b);
        merged++;
    }
    free(taken);
    if (merged == 1)
        return;
    if (x->trial.possible && state_estimate(&x->trial, r->q, INFINITY, &x->now, x->look) &&
        x->trial.rate >= wanted && x->trial.latency <= bound * SPOILT) {
        state_copy(&x->choice, &x->trial);
        r->judged = false;
        r->batch = 2 * count;
    } else {
        r->batch = merged / 2;
    }
}

/* One round: the best pair, and with many clusters others beside it. False: no pair may be merged.
 */
static bool merge_pairs(struct reducer *r)
{
    uint32_t excess = r->x.current.processors - r->q->processors, m = r->x.current.nclusters;
    uint32_t count = m > BATCHED ? 1 + excess / (m > PAIRS_MANY ? PRH_ROUNDS_MANY : PRH_ROUNDS) : 1;
    struct pair_candidate best = {0};
    if (count > r->batch)
        count = r->batch > 2 ? r->batch : 2;
    bool saves = pairs_gather(&r->pairs, count * 4 > LONGLIST ? count * 4 : LONGLIST);
    if (!merge_best(r, !saves, &best))
        return false;
    if (count > 1 && saves && best.keeps == KEEPS)
        merge_more(r, &best, count);
    return true;
}

/* Only the rate is missing: replicate if that is enough, else merge the ends of a transfer of the
 * slowest channel. */
static bool merge_slow(struct reducer *r)
{
    struct mos_bench *x = &r->x;
    const struct stream_estimate *e = &x->now;
    bool found = false;
    state_copy(&x->choice, &x->current);
    state_close(&x->choice, r->q, e);
    if (x->choice.processors <= r->q->processors &&
        x->choice.rate >= r->q->throughput * (1 - STREAM_TOLERANCE))
        return true;
    for (size_t i = 0; i < e->messages.n; i++) {
        const struct stream_message *m = &e->messages.at[i];
        if (!((m->from == e->slow_cluster && m->from_channel == e->slow_channel) ||
              (m->to == e->slow_cluster && m->to_channel == e->slow_channel)))
            continue;
        state_copy(&x->trial, &x->current);
        state_merge(&x->trial, r->q, m->from, m->to);
        if (x->trial.possible && state_estimate(&x->trial, r->q, INFINITY, e, x->look) &&
            (!found || x->trial.latency < x->choice.latency * (1 - STREAM_TOLERANCE))) {
            state_copy(&x->choice, &x->trial);
            found = true;
        }
    }
    return found;
}

/* Merge until processors and rate suffice, one way. */
static void reduce_one_way(struct reducer *r, struct stream_state *s)
{
    const struct stream_problem *q = r->q;
    struct mos_bench *x = &r->x;
    state_copy(&x->current, s);
    state_compact(&x->current, NULL);
    state_estimate(&x->current, q, INFINITY, NULL, &x->now);
    pairs_init(&r->pairs, q, &x->current, &x->now);
    for (;;) {
        bool found;
        r->judged = false;
        if (x->current.processors > q->processors)
            found = merge_pairs(r);
        else if (x->current.rate < q->throughput * (1 - STREAM_TOLERANCE))
            found = merge_slow(r);
        else
            break;
        if (!found)
            break; /* only tasks that may not be replicated can stop it */
        state_copy(&x->current, &x->choice);
        state_perform(&x->current, q, &x->now, r->judged ? &r->chosen : &x->look[0], r->judged);
    }
    state_copy(s, &x->current);
    stream_pairs_free(&r->pairs);
}

static void reducer_init(struct reducer *r, const struct stream_problem *q)
{
    *r = (struct reducer){.q = q, .batch = UINT32_MAX};
    struct stream_state *all[] = {&r->x.current, &r->x.trial, &r->x.choice, &r->x.step, &r->fork};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        state_init(all[i], q->g->ntasks);
}

static void reducer_free(struct reducer *r)
{
    struct stream_state *all[] = {&r->x.current, &r->x.trial, &r->x.choice, &r->x.step, &r->fork};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        state_free(all[i]);
    stream_estimate_free(&r->chosen);
    stream_estimate_free(&r->x.now);
    stream_estimate_free(&r->x.look[0]);
    stream_estimate_free(&r->x.look[1]);
}

bool mos_reduce_processors(const struct stream_problem *q, struct stream_state *s,
                           struct stream_state *other)
{
    struct reducer r;
    reducer_init(&r, q);
    reduce_one_way(&r, s);
    bool twice = r.missed;
    if (twice) {
        r.replicate = true;
        r.batch = r.fork_batch;
        state_copy(other, &r.fork);
        reduce_one_way(&r, other);
    }
    reducer_free(&r);
    return twice;
}

void mos_reduce_replicating(const struct stream_problem *q, struct stream_state *s)
{
    struct reducer r;
    reducer_init(&r, q);
    r.replicate = true;
    reduce_one_way(&r, s);
    reducer_free(&r);
}
