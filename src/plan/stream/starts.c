/* Starts for `stream` on equal nodes, beside MOS: MOS merges step by step and may be caught where
 * processors outnumber tasks (500 tasks on 512 processors: 22,463, where EXPERT has 2,187).
 *
 *     EXPERT, EXPERT-e        their clusters, replicas counted anew
 *     FCP                     tasks whose first copies share a processor are a cluster
 *     list schedules          of one item on all, half, a quarter ... of the processors: one cluster
 *                             a processor
 *
 * What misses the throughput or needs too many processors is repaired by MOS's second step, up to
 * MOST_REPAIRED tasks. If one of them is the best, MOS's third step shortens it further. */
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
    state_compact(&trial.state);
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

/* As it is; what is short and lacks something, merged until the processors suffice. Merging is the
 * costly part, and seldom shortens: what is long already is left. */
static void offer_repaired(struct stream_solution *best, struct assignment_space *space,
                           struct stream_state *s)
{
    if (!offer_state(best, space, s) || s->ntasks > MOST_REPAIRED)
        return;
    for (uint32_t c = 0; c < s->nclusters; c++)
        s->extra[c] = 0;
    state_refresh(s, space->q);
    mos_reduce_processors(space->q, true, s);
    offer_state(best, space, s);
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

static void offer_owners(struct stream_solution *best, struct assignment_space *space,
                         const uint32_t *owner, uint32_t most)
{
    struct stream_state s;
    state_init(&s, space->q->g->ntasks);
    clusters_by_owner(&s, owner, most);
    state_refresh(&s, space->q);
    offer_repaired(best, space, &s);
    state_free(&s);
}

static void offer_expert(struct stream_solution *best, struct assignment_space *space,
                         bool extended)
{
    struct mos_result r;
    expert_run(space->q, extended, &r);
    offer_repaired(best, space, &r.state);
    mos_result_free(&r);
}

static void offer_fcp(struct stream_solution *best, struct assignment_space *space, uint32_t *owner)
{
    struct fcp_result r = {0};
    fcp_run(space->q, false, &r);
    for (uint32_t t = 0; t < space->q->g->ntasks; t++)
        owner[t] = r.mapping.processor[r.mapping.off[t]];
    offer_owners(best, space, owner, r.mapping.nprocessors);
    fcp_result_free(&r);
}

void stream_start_others(struct stream_solution *best, struct assignment_space *space)
{
    const struct stream_problem *q = space->q;
    uint32_t n = q->g->ntasks, *owner = mem_new(uint32_t, n);
    double before = best->assignment.meets ? best->assignment.latency : INFINITY;
    offer_expert(best, space, false);
    offer_expert(best, space, true);
    if (q->throughput > 0)
        offer_fcp(best, space, owner);
    for (uint32_t count = q->processors < n ? q->processors : n; count > 1; count /= 2) {
        for (uint32_t t = 0; t < n; t++)
            owner[t] = NONE;
        if (isfinite(stream_item(q->work, count, NULL, q->ports, owner)))
            offer_owners(best, space, owner, count);
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
