/* LMH, minimise the latency (Algorithm 3 of the report): shorten the critical path by merging and
 * duplicating along it, keeping throughput and processors.
 *
 * A move that leaves the latency as it is is allowed (plateaus), so states are remembered by hash
 * and none is visited twice; after `patience` moves without gain it stops with the best. Chains
 * whose joint is heavier than those around it are collapsed first (Theorem 2: that is never worse).
 *
 * Moves x critical transfers x cost of an estimate, bounded by MOST_WORK. */
#include "plan/stream/mos.h"

/* Estimates times elements, in all: some 20 seconds. Graphs of 1,000 tasks seldom come near. */
#define MOST_WORK 4e8

/* Open addressing of state hashes. */
struct lmh_seen {
    uint64_t *at;
    size_t n, mask;
};

static bool seen_has(const struct lmh_seen *s, uint64_t hash)
{
    if (!s->at)
        return false;
    for (size_t i = hash & s->mask; s->at[i]; i = (i + 1) & s->mask)
        if (s->at[i] == hash)
            return true;
    return false;
}

static void seen_add(struct lmh_seen *s, uint64_t hash)
{
    if (s->n * 2 >= (s->at ? s->mask + 1 : 0)) {
        struct lmh_seen old = *s;
        s->mask = old.at ? old.mask * 2 + 1 : 63;
        s->at = mem_new_zero(uint64_t, s->mask + 1);
        s->n = 0;
        for (size_t i = 0; old.at && i <= old.mask; i++)
            if (old.at[i])
                seen_add(s, old.at[i]);
        free(old.at);
    }
    size_t i = hash & s->mask;
    while (s->at[i] && s->at[i] != hash)
        i = (i + 1) & s->mask;
    s->n += !s->at[i];
    s->at[i] = hash;
}

/* Least latency, fewest processors, fewest copies. */
static bool lmh_is_better(const struct stream_state *a, const struct stream_state *b)
{
    if (a->latency < b->latency * (1 - STREAM_TOLERANCE))
        return true;
    if (a->latency > b->latency * (1 + STREAM_TOLERANCE))
        return false;
    if (a->processors != b->processors)
        return a->processors < b->processors;
    return a->off[a->ntasks] < b->off[b->ntasks];
}

/* After every move: slack on top of the estimate, which says which transfers are critical. */
static void estimate_now(const struct stream_problem *q, struct mos_bench *x)
{
    state_perform(&x->current, q, &x->now, &x->look[0], false);
    struct stream_map map = state_map(&x->current);
    stream_slack(q->work, &map, &x->now);
}

/* Theorem 2: two clusters in a chain whose joint is heavier than the joints around them are better
 * one. */
static bool collapse_chain(const struct stream_problem *q, struct mos_bench *x,
                           const struct lmh_seen *seen)
{
    const struct stream_estimate *e = &x->now;
    uint32_t m = x->current.nclusters;
    uint32_t *in = mem_new_zero(uint32_t, m), *out = mem_new_zero(uint32_t, m);
    double *in_weight = mem_new_zero(double, m), *out_weight = mem_new_zero(double, m);
    bool done = false;
    for (size_t i = 0; i < e->messages.n; i++) {
        const struct stream_message *s = &e->messages.at[i];
        out[s->from]++;
        in[s->to]++;
        out_weight[s->from] = in_weight[s->to] = s->end - s->begin;
    }
    for (size_t i = 0; i < e->messages.n && !done; i++) {
        const struct stream_message *s = &e->messages.at[i];
        uint32_t a = s->from, b = s->to;
        /* a chain, and its middle joint heavier than both outer ones together */
        if (in[a] != 1 || out[a] != 1 || in[b] != 1 || out[b] != 1 ||
            s->end - s->begin <= (in_weight[a] + out_weight[b]) * (1 + STREAM_TOLERANCE))
            continue;
        state_copy(&x->trial, &x->current);
        state_merge(&x->trial, q, a, b);
        done = state_estimate_above(&x->trial, q, x->current.latency * (1 + STREAM_TOLERANCE),
                                    q->throughput, e, x->look) &&
               state_meets(&x->trial, q) && !seen_has(seen, state_hash(&x->trial));
    }
    if (done) {
        state_copy(&x->current, &x->trial);
        estimate_now(q, x);
    }
    free(in);
    free(out);
    free(in_weight);
    free(out_weight);
    return done;
}

/* A transfer without slack. */
struct critical {
    uint32_t message;
    double gain; /* the most that zeroing it can bring */
};

static int compare_critical(const void *a, const void *b)
{
    const struct critical *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return (x->message > y->message) - (x->message < y->message);
}

/* Meets what is asked for, is not longer than now, and was not visited. */
static bool step_is_admissible(const struct stream_problem *q, const struct mos_bench *x,
                               const struct lmh_seen *seen)
{
    return state_meets(&x->trial, q) &&
           x->trial.latency <= x->current.latency * (1 + STREAM_TOLERANCE) &&
           !seen_has(seen, state_hash(&x->trial));
}

/* Nothing is shorter than the longest path with free edges. */
static bool lmh_is_least(const struct stream_problem *q, const struct stream_state *s)
{
    return s->latency * (1 - STREAM_TOLERANCE) <= q->g->longest;
}

/* The better of merging and duplicating at one critical transfer, into x->step. `chosen`: x->choice is to be beaten. */
static bool mend_transfer(const struct stream_problem *q, struct mos_bench *x,
                          const struct stream_message *m, bool try_merge, bool chosen,
                          const struct lmh_seen *seen)
{
    double limit = chosen ? x->choice.latency * (1 - STREAM_TOLERANCE)
                          : x->current.latency * (1 + STREAM_TOLERANCE);
    bool found = false;
    x->tried += 2;
    if (try_merge) {
        state_copy(&x->trial, &x->current);
        state_merge(&x->trial, q, m->from, m->to);
        if (x->trial.possible && mos_estimate_trial(q, x, limit, q->throughput) &&
            step_is_admissible(q, x, seen)) {
            state_copy(&x->step, &x->trial);
            found = true;
            if (lmh_is_least(q, &x->step))
                return true;
        }
    }
    state_copy(&x->trial, &x->current);
    if (mos_duplicate(q, &x->trial, q->g->edge_from[m->edge], m->to, x->current.rate, limit,
                      &x->deeper, &x->now, x->look) &&
        step_is_admissible(q, x, seen) &&
        (!found || x->trial.latency < x->step.latency * (1 - STREAM_TOLERANCE))) {
        state_copy(&x->step, &x->trial);
        found = true;
    }
    return found;
}

/* The best admissible move at the critical transfers, into x->choice. */
static bool choose_move(const struct stream_problem *q, struct mos_bench *x,
                        const struct lmh_seen *seen)
{
    ARRAY(struct critical) list = {0};
    const struct stream_estimate *e = &x->now;
    double room = e->latency - q->g->longest;
    bool found = false;
    for (size_t i = 0; i < e->messages.n; i++) {
        const struct stream_message *m = &e->messages.at[i];
        if (m->latest - m->end <= STREAM_TOLERANCE * e->latency)
            array_push(&list, (struct critical){(uint32_t)i, fmin(m->end - m->begin, room)});
    }
    if (list.n)
        qsort(list.at, list.n, sizeof *list.at, compare_critical);
    for (size_t i = 0; i < list.n; i++) {
        if (found && (list.at[i].gain < list.at[i - 1].gain || lmh_is_least(q, &x->choice)))
            break;
        const struct stream_message *m = &e->messages.at[list.at[i].message];
        bool first = true; /* one merge of this pair is enough */
        for (size_t k = 0; k < i && first; k++) {
            const struct stream_message *o = &e->messages.at[list.at[k].message];
            first =
                !((o->from == m->from && o->to == m->to) || (o->from == m->to && o->to == m->from));
        }
        if (mend_transfer(q, x, m, first, found, seen) &&
            (!found || x->step.latency < x->choice.latency * (1 - STREAM_TOLERANCE))) {
            state_copy(&x->choice, &x->step);
            found = true;
        }
    }
    array_free(&list);
    return found;
}

void mos_minimise_latency(const struct stream_problem *q, struct stream_state *s)
{
    struct mos_bench x = {0};
    struct lmh_seen seen = {0};
    uint32_t n = q->g->ntasks, idle = 0;
    double work = 0; /* elements of the schedule DAG looked at, roughly */
    /* plateaus as long as the graph is wide and deep, but not of thousands of moves */
    uint32_t patience = 2 * n < 400 ? 2 * n : 400;
    struct stream_state *all[] = {&x.current, &x.best, &x.trial, &x.choice, &x.step, &x.deeper};
    for (size_t i = 0; i < 6; i++)
        state_init(all[i], n);
    state_copy(&x.current, s);
    state_compact(&x.current, NULL);
    state_estimate(&x.current, q, INFINITY, NULL, &x.now);
    estimate_now(q, &x);
    state_copy(&x.best, &x.current);
    seen_add(&seen, state_hash(&x.current));
    while (idle < patience && work < MOST_WORK) {
        bool moved = collapse_chain(q, &x, &seen);
        if (!moved && (moved = choose_move(q, &x, &seen))) {
            state_copy(&x.current, &x.choice);
            estimate_now(q, &x);
        }
        if (!moved)
            break;
        seen_add(&seen, state_hash(&x.current));
        bool gain = x.current.latency < x.best.latency * (1 - STREAM_TOLERANCE);
        if (lmh_is_better(&x.current, &x.best))
            state_copy(&x.best, &x.current);
        idle = gain ? 0 : idle + 1;
        work += (double)x.tried * q->g->norder;
        x.tried = 0;
    }
    state_copy(s, &x.best);
    for (size_t i = 0; i < 6; i++)
        state_free(all[i]);
    stream_estimate_free(&x.now);
    stream_estimate_free(&x.look[0]);
    stream_estimate_free(&x.look[1]);
    free(x.memo.at);
    free(seen.at);
}
