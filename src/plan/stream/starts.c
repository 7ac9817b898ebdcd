/* Starts for `stream` on equal nodes, beside MOS: MOS merges step by step and may be caught where
 * processors outnumber tasks (500 tasks on 512 processors: 21,988, where a list schedule's clusters
 * have 2,900). At the ends of the slowest channel it merges into a cluster with more transfers than
 * before, which is the slowest again, until most of the graph is one cluster.
 *
 *     EXPERT            its clusters, replicas counted anew
 *     FCP               tasks whose first copies share a processor are a cluster
 *     list schedules    of one item on all, half, a quarter ... of the processors: one cluster a
 *                       processor
 *
 * Each is a ladder: its clusters, then those merged by traffic up to 1, 2, 4 ... periods of work.
 * Higher up there is less to send and every cluster has more replicas; an estimate a rung. What
 * lacks something is also merged by MOS's second step, up to MOST_REPAIRED tasks. If one of them is
 * the best, MOS's third step shortens it further. */
#include "plan/stream/baselines.h"
#include "plan/stream/stream.h"

/* Merging hundreds of clusters takes tens of seconds for each start, far longer than MOS. */
enum { MOST_REPAIRED = 128 };

/* Judge with the replicas that the throughput needs; the better stays. True: it could be the better,
 * but for processors or throughput that it lacks. */
static bool offer_state(struct stream_solution *best, struct assignment_space *space,
                        const struct stream_state *s)
{
    double limit = best->assignment.meets ? best->assignment.latency : INFINITY;
    struct assignment trial;
    assignment_init(&trial, space);
    state_copy(&trial.state, s);
    state_compact(&trial.state, NULL);
    for (uint32_t c = 0; c < trial.state.nclusters; c++)
        trial.state.extra[c] = 0;
    state_refresh(&trial.state, space->q);
    assignment_assign(&trial, space, limit * (1 + STREAM_TOLERANCE));
    bool lacks = !trial.meets && trial.latency < limit;
    if (assignment_better(&trial, &best->assignment))
        assignment_copy(&best->assignment, &trial, space);
    assignment_free(&trial);
    return lacks;
}

/* One cluster for each value in `owner`; values are below `most`. */
static void clusters_by_owner(struct stream_state *s, const uint32_t *owner, uint32_t most)
{
    uint32_t *number = mem_new(uint32_t, most);
    for (uint32_t i = 0; i < most; i++)
        number[i] = NONE;
    s->nclusters = 0;
    for (uint32_t t = 0; t < s->ntasks; t++) {
        if (number[owner[t]] == NONE) {
            s->extra[s->nclusters] = 0;
            number[owner[t]] = s->nclusters++;
        }
        s->off[t] = t;
        s->cluster[t] = s->home[t] = number[owner[t]];
    }
    s->off[s->ntasks] = s->ntasks;
    free(number);
}

/* Merged by MOS's second step until the processors suffice. Seldom shortens: what is long already is
 * left. */
static void offer_reduced(struct stream_solution *best, struct assignment_space *space,
                          struct stream_state *s)
{
    mos_reduce_replicating(space->q, s);
    offer_state(best, space, s);
}

/* The ladder of one start. `owner`: the cluster of each task, below `count`; spoilt. */
static void offer_ladder(struct stream_solution *best, struct assignment_space *space,
                         uint32_t *owner, uint32_t count)
{
    const struct stream_problem *q = space->q;
    struct stream_state s;
    state_init(&s, q->g->ntasks);
    clusters_by_owner(&s, owner, count);
    state_refresh(&s, q);
    bool lacks = offer_state(best, space, &s);
    uint32_t last = s.nclusters;
    memcpy(owner, s.home, s.ntasks * sizeof *owner);
    if (lacks && s.ntasks <= MOST_REPAIRED)
        offer_reduced(best, space, &s);
    for (double periods = 1; q->throughput > 0 && last > 1; periods *= 2) {
        uint32_t left = expert_coarsen(q, periods / q->throughput, owner, last);
        if (left < last) {
            clusters_by_owner(&s, owner, left);
            state_refresh(&s, q);
            offer_state(best, space, &s);
        } else if (periods / q->throughput > q->g->total) {
            break; /* parts that exchange nothing */
        }
        last = left;
    }
    state_free(&s);
}

static void offer_expert(struct stream_solution *best, struct assignment_space *space,
                         uint32_t *owner)
{
    struct mos_result r;
    expert_run(space->q, false, &r);
    memcpy(owner, r.state.home, r.state.ntasks * sizeof *owner);
    offer_ladder(best, space, owner, r.state.nclusters);
    mos_result_free(&r);
}

static void offer_fcp(struct stream_solution *best, struct assignment_space *space, uint32_t *owner)
{
    struct fcp_result r = {0};
    fcp_run(space->q, false, 0, &r);
    for (uint32_t t = 0; t < space->q->g->ntasks; t++)
        owner[t] = r.mapping.processor[r.mapping.off[t]];
    offer_ladder(best, space, owner, r.mapping.nprocessors);
    fcp_result_free(&r);
}

void stream_start_others(struct stream_solution *best, struct assignment_space *space)
{
    const struct stream_problem *q = space->q;
    uint32_t n = q->g->ntasks, *owner = mem_new(uint32_t, n);
    double before = best->assignment.meets ? best->assignment.latency : INFINITY;
    offer_expert(best, space, owner);
    if (q->throughput > 0)
        offer_fcp(best, space, owner);
    for (uint32_t count = q->processors < n ? q->processors : n; count > 1; count /= 2) {
        for (uint32_t t = 0; t < n; t++)
            owner[t] = NONE;
        if (isfinite(stream_item(q->work, count, NULL, q->ports, owner)))
            offer_ladder(best, space, owner, count);
    }
    if (best->assignment.meets && best->assignment.latency < before * (1 - STREAM_TOLERANCE)) {
        struct stream_state s;
        state_init(&s, n);
        state_copy(&s, &best->assignment.state);
        mos_minimise_latency(q, &s);
        offer_state(best, space, &s);
        state_free(&s);
    }
    free(owner);
}
