/* Mappings with their nodes: which nodes a cluster's replicas get, judging, annealing.
 * assignment.h has the contract; on equal nodes the lists of nodes are left out.
 *
 * Annealing moves tasks between clusters, duplicates, merges, exchanges nodes; an estimate gives up
 * once the latency is beyond the limit. */
#include "plan/stream/assignment.h"

/* ---- nodes ---- */

/* A node and how long it would take for all tasks. */
struct ranked_copy {
    double time;
    uint32_t ports; /* 0: any number */
    uint32_t node;
};

static int compare_ranked_copies(const void *a, const void *b)
{
    const struct ranked_copy *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->ports != y->ports) /* the more the better; 0 - 1 is the most */
        return x->ports - 1 > y->ports - 1 ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

void assignment_space_init(struct assignment_space *space, struct stream_problem *q)
{
    const struct stream_graph *g = q->g;
    *space = (struct assignment_space){.q = q};
    struct ranked_copy *list = mem_new(struct ranked_copy, g->p->nnodes);
    for (uint32_t i = 0; i < g->p->nnodes; i++) {
        if (!g->p->up[i])
            continue;
        double time = 0;
        for (uint32_t t = 0; t < g->ntasks; t++) {
            double here = costs_time(g->costs, t, i);
            time += isfinite(here) ? here
                                   : 10 * g->time[t]; /* cannot run it: less useful, not useless */
        }
        list[space->nnodes++] = (struct ranked_copy){time, platform_ports(g->p, i), i};
    }
    qsort(list, space->nnodes, sizeof *list, compare_ranked_copies);
    space->ranking = mem_new(uint32_t, space->nnodes);
    for (uint32_t i = 0; i < space->nnodes; i++)
        space->ranking[i] = list[i].node;
    free(list);
}

void assignment_space_free(struct assignment_space *space)
{
    free(space->ranking);
    stream_estimate_free(&space->estimate);
}

void assignment_init(struct assignment *l, const struct assignment_space *space)
{
    *l = (struct assignment){.latency = INFINITY};
    state_init(&l->state, space->q->g->ntasks);
    l->node_off = mem_new_zero(uint32_t, (size_t)space->q->g->ntasks + 1);
    l->nodes = mem_new(uint32_t, space->nnodes);
}

void assignment_free(struct assignment *l)
{
    state_free(&l->state);
    free(l->node_off);
    free(l->nodes);
}

void assignment_copy(struct assignment *to, const struct assignment *from,
                     const struct assignment_space *space)
{
    state_copy(&to->state, &from->state);
    memcpy(to->node_off, from->node_off,
           ((size_t)from->state.nclusters + 1) * sizeof *to->node_off);
    memcpy(to->nodes, from->nodes, space->nnodes * sizeof *to->nodes);
    to->latency = from->latency;
    to->rate = from->rate;
    to->processors = from->processors;
    to->meets = from->meets;
}

bool assignment_better(const struct assignment *a, const struct assignment *b)
{
    if (a->meets != b->meets)
        return a->meets;
    if (a->latency < b->latency * (1 - STREAM_TOLERANCE))
        return true;
    return a->latency <= b->latency * (1 + STREAM_TOLERANCE) && a->processors < b->processors;
}

/* ---- judging ---- */

static struct stream_map assignment_map(const struct assignment *l,
                                        const struct assignment_space *space)
{
    struct stream_map map = state_map(&l->state);
    if (!space->q->g->uniform) {
        map.node_off = l->node_off;
        map.nodes = l->nodes;
    }
    return map;
}

void assignment_judge(struct assignment *l, struct assignment_space *space, double limit)
{
    const struct stream_problem *q = space->q;
    struct stream_map map = assignment_map(l, space);
    bool within = stream_estimate(q->work, &map, q->ports, limit, NULL, &space->estimate);
    l->latency = within ? space->estimate.latency : INFINITY;
    l->rate = within ? space->estimate.throughput : 0;
    l->processors = space->estimate.processors;
    l->meets = within && isfinite(l->latency) && l->processors <= space->nnodes &&
               l->rate >= q->throughput * (1 - STREAM_TOLERANCE);
}

/* Equal nodes: the closed form of the least replicas. */
static void assign_equal(struct assignment *l, struct assignment_space *space, double limit)
{
    const struct stream_problem *q = space->q;
    struct stream_state *s = &l->state;
    for (uint32_t c = 0; c < s->nclusters; c++)
        s->extra[c] = 0;
    state_refresh(s, q);
    l->meets = false;
    l->latency = INFINITY;
    l->processors = s->processors;
    if (!s->possible || s->processors > q->processors)
        return;
    if (!state_estimate(s, q, limit, NULL, &space->estimate))
        return;
    if (s->rate < q->throughput * (1 - STREAM_TOLERANCE))
        state_close(s, q, &space->estimate);
    l->latency = s->latency;
    l->rate = s->rate;
    l->processors = s->processors;
    l->meets = state_meets(s, q);
}

/* Tasks of each cluster. */
struct members {
    uint32_t *off, *task;
};

static void members_init(struct members *m, const struct stream_state *s)
{
    uint32_t copies = s->off[s->ntasks];
    m->off = mem_new_zero(uint32_t, (size_t)s->nclusters + 2);
    m->task = mem_new(uint32_t, copies);
    for (uint32_t i = 0; i < copies; i++)
        m->off[s->cluster[i] + 2]++;
    for (uint32_t c = 0; c < s->nclusters; c++)
        m->off[c + 2] += m->off[c + 1];
    for (uint32_t t = 0; t < s->ntasks; t++)
        for (uint32_t i = s->off[t]; i < s->off[t + 1]; i++)
            m->task[m->off[s->cluster[i] + 1]++] = t;
}

static void members_free(struct members *m)
{
    free(m->off);
    free(m->task);
}

/* Seconds of an item in a cluster on a node; INFINITY: some task cannot run there. */
static double cluster_time_on(const struct members *m, const struct stream_graph *g,
                              uint32_t cluster, uint32_t node)
{
    double time = 0;
    for (uint32_t k = m->off[cluster]; k < m->off[cluster + 1] && time < INFINITY; k++)
        time += costs_time(g->costs, m->task[k], node);
    return time;
}

/* Fastest nodes to the heaviest clusters, as many as the rate needs; at least `least[c]`. False:
 * nodes run out. */
static bool hand_out(struct assignment *l, struct assignment_space *space, const uint32_t *least)
{
    const struct stream_graph *g = space->q->g;
    struct stream_state *s = &l->state;
    struct ranked_copy *clusters = mem_new(struct ranked_copy, s->nclusters);
    bool *used = mem_new_zero(bool, space->nnodes), good = true;
    uint32_t *given = mem_new(uint32_t, space->nnodes); /* cluster of each ranked node */
    for (uint32_t c = 0; c < s->nclusters; c++)
        clusters[c] = (struct ranked_copy){-s->time[c], 0, c};
    qsort(clusters, s->nclusters, sizeof *clusters, compare_ranked_copies);
    for (uint32_t i = 0; i < space->nnodes; i++)
        given[i] = NONE;
    struct members members;
    members_init(&members, s);
    for (uint32_t k = 0; k < s->nclusters && good; k++) {
        uint32_t c = clusters[k].node, count = 0;
        double worst = 0;
        for (uint32_t i = 0; i < space->nnodes; i++) {
            uint32_t node = space->ranking[i];
            double time = used[i] ? INFINITY : cluster_time_on(&members, g, c, node);
            if (time == INFINITY)
                continue;
            used[i] = true;
            given[i] = c;
            count++;
            worst = fmax(worst, time);
            if (count >= least[c] && count >= space->q->throughput * worst * (1 - 1e-9))
                break;
            if (s->fixed[c])
                break;
        }
        s->procs[c] = count;
        good = count > 0;
    }
    for (uint32_t c = 0; c <= s->nclusters; c++)
        l->node_off[c] = 0;
    for (uint32_t i = 0; i < space->nnodes; i++)
        if (given[i] != NONE)
            l->node_off[given[i] + 1]++;
    for (uint32_t c = 0; c < s->nclusters; c++)
        l->node_off[c + 1] += l->node_off[c];
    s->processors = l->node_off[s->nclusters];
    for (uint32_t i = 0; i < space->nnodes; i++)
        if (given[i] != NONE)
            l->nodes[l->node_off[given[i]]++] = space->ranking[i];
    for (uint32_t c = s->nclusters; c > 0; c--)
        l->node_off[c] = l->node_off[c - 1];
    l->node_off[0] = 0;
    members_free(&members);
    free(clusters);
    free(used);
    free(given);
    return good;
}

void assignment_assign(struct assignment *l, struct assignment_space *space, double limit)
{
    struct stream_state *s = &l->state;
    if (space->q->g->uniform) {
        assign_equal(l, space, limit);
        return;
    }
    uint32_t *least = mem_new(uint32_t, s->nclusters);
    for (uint32_t c = 0; c < s->nclusters; c++)
        least[c] = 1;
    l->meets = false;
    l->latency = INFINITY;
    /* more replicas where communication needs them; slower nodes may make transfers longer, so look
     * again */
    for (int round = 0; round < 3; round++) {
        if (!hand_out(l, space, least))
            break;
        assignment_judge(l, space, limit);
        if (l->meets || !isfinite(l->latency) || space->estimate.component.n < s->nclusters)
            break;
        for (uint32_t c = 0; c < s->nclusters; c++)
            least[c] = (uint32_t)fmin(
                space->nnodes + 1.0,
                fmax(1, ceil(space->q->throughput * space->estimate.component.at[c] - 1e-7)));
    }
    free(least);
}

/* ---- annealing ---- */

/* A move of one of six kinds; a neighbour in the graph names the cluster to go to, because only
 * such moves save transfers. */
static void random_move(struct assignment *l, struct assignment_space *space, struct rng *rng,
                        bool *keeps_nodes)
{
    struct stream_state *s = &l->state;
    const struct stream_problem *q = space->q;
    const struct workflow *w = q->g->w;
    uint32_t task = (uint32_t)rng_below(rng, s->ntasks);
    uint32_t copy = s->off[task] + (uint32_t)rng_below(rng, s->off[task + 1] - s->off[task]);
    uint32_t from = s->cluster[copy], kind = (uint32_t)rng_below(rng, 10);
    *keeps_nodes = false;
    if (kind < 1 && !q->g->uniform && s->nclusters > 1) {
        /* two clusters change one node */
        uint32_t other = (uint32_t)rng_below(rng, s->nclusters);
        uint32_t a =
            l->node_off[from] + (uint32_t)rng_below(rng, l->node_off[from + 1] - l->node_off[from]);
        *keeps_nodes = true;
        if (other == from) { /* ... or one takes a node that nobody has */
            uint32_t fresh = space->ranking[rng_below(rng, space->nnodes)];
            for (uint32_t i = 0; i < l->node_off[s->nclusters]; i++)
                if (l->nodes[i] == fresh)
                    return;
            l->nodes[a] = fresh; /* judged as impossible if it cannot run the tasks */
            return;
        }
        uint32_t b = l->node_off[other] +
                     (uint32_t)rng_below(rng, l->node_off[other + 1] - l->node_off[other]);
        uint32_t swap = l->nodes[a];
        l->nodes[a] = l->nodes[b];
        l->nodes[b] = swap;
        return;
    }
    /* a neighbour in the graph names the cluster to go to; now and then any, or a new one */
    uint32_t before = w->pred_off[task + 1] - w->pred_off[task],
             after = w->succ_off[task + 1] - w->succ_off[task];
    uint32_t to = NONE, near = NONE;
    if (before + after) {
        uint32_t k = (uint32_t)rng_below(rng, before + after);
        near = k < before ? w->pred_task[w->pred_off[task] + k]
                          : w->succ_task[w->succ_off[task] + k - before];
        to = s->cluster[s->off[near] + rng_below(rng, s->off[near + 1] - s->off[near])];
    }
    if (to == NONE || rng_below(rng, 6) == 0)
        to = (uint32_t)rng_below(rng, s->nclusters);
    if (kind < 3 && s->nclusters < s->ntasks && s->nclusters < space->nnodes)
        to = s->nclusters;
    if (kind == 9 && to < s->nclusters && to != from)
        state_merge(s, q, from, to);
    else if (kind >= 7 && q->duplication && to < s->nclusters)
        state_add(s, q,
                  near != NONE && rng_below(rng, 2) && w->succ_off[near] < w->succ_off[near + 1]
                      ? near
                      : task,
                  to);
    else if (to != from)
        state_move(s, q, task, from, to);
    state_compact(s, NULL);
}

/* Threshold and chance by relative rise of the latency, cooling linearly; every 1,000 moves back to
 * the best. */
void assignment_anneal(struct assignment *l, struct assignment_space *space, uint64_t moves,
                       struct rng *rng)
{
    struct assignment current, trial;
    assignment_init(&current, space);
    assignment_init(&trial, space);
    assignment_copy(&current, l, space);
    double floor_latency = space->q->g->longest * (1 + STREAM_TOLERANCE);
    for (uint64_t i = 0; i < moves && l->latency > floor_latency; i++) {
        double heat = 0.05 * (1 - (double)i / (double)moves);
        bool keeps_nodes;
        assignment_copy(&trial, &current, space);
        random_move(&trial, space, rng, &keeps_nodes);
        double limit = current.latency * (1 + 4 * heat);
        if (keeps_nodes)
            assignment_judge(&trial, space, limit);
        else
            assignment_assign(&trial, space, limit);
        if (!trial.meets)
            continue;
        double rise = (trial.latency - current.latency) / current.latency;
        if (rise > 0 && rng_unit(rng) >= exp(-rise / (heat * 0.2 + 1e-9)))
            continue;
        assignment_copy(&current, &trial, space);
        if (assignment_better(&current, l))
            assignment_copy(l, &current, space);
        /* far from the best for long: begin again there */
        if (i % 1000 == 999)
            assignment_copy(&current, l, space);
    }
    assignment_free(&current);
    assignment_free(&trial);
}

/* ---- fewer processors ---- */

/* The lightest clusters first, each with the lightest of the others: a merge saves a processor when
 * the replicas of both together round up to fewer. After a merge the numbers are new, and it begins
 * again. */
static bool thin_once(struct assignment *l, struct assignment *trial,
                      struct assignment_space *space, uint64_t *moves)
{
    struct stream_state *s = &l->state;
    double limit = l->latency * (1 + STREAM_TOLERANCE), rate = space->q->throughput;
    struct ranked_copy *light = mem_new(struct ranked_copy, s->nclusters);
    for (uint32_t c = 0; c < s->nclusters; c++)
        light[c] = (struct ranked_copy){s->time[c], 0, c};
    qsort(light, s->nclusters, sizeof *light, compare_ranked_copies);
    bool found = false;
    for (uint32_t i = 0; i < s->nclusters && *moves && !found; i++)
        for (uint32_t k = i + 1; k < s->nclusters && *moves && !found; k++) {
            uint32_t a = light[i].node, b = light[k].node;
            if (s->fixed[a] || s->fixed[b] ||
                ceil(rate * (s->time[a] + s->time[b]) - 1e-7) >= s->procs[a] + s->procs[b])
                continue;
            --*moves;
            assignment_copy(trial, l, space);
            state_merge(&trial->state, space->q, a, b);
            state_compact(&trial->state, NULL);
            assignment_assign(trial, space, limit);
            found = trial->meets && trial->processors < l->processors && trial->latency <= limit;
        }
    free(light);
    if (found)
        assignment_copy(l, trial, space);
    return found;
}

void assignment_thin(struct assignment *l, struct assignment_space *space, uint64_t moves)
{
    struct assignment trial;
    assignment_init(&trial, space);
    while (moves && thin_once(l, &trial, space, &moves))
        continue;
    assignment_free(&trial);
}
