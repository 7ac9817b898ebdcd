/* A stream mapping made ready to execute: every (task, cluster) becomes a copy, every object that a
 * cluster needs from elsewhere a feed. Sorted arrays throughout; O(n log n) in copies plus edges.
 *
 *   copies[i].local_off ..  copies beside it that its end may make ready
 *   copies[i].feed_off  ..  feeds that its end sends (only the copy at home sends)
 *   feeds[f].waiter_off ..  copies in the receiving cluster that wait for the feed */
#include "sim/mapping.h"
#include "base/mem.h"
#include "model/graph.h"
#include "model/stream_schedule.h"

/* Plans come from files: sizes, numbers, and every task at home exactly once. Fills `home`. */
static bool check_clusters(const struct workflow *w, const struct platform *p,
                           const struct plan *plan, uint32_t *home, struct error *err)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        home[t] = NONE;
    uint32_t *inside = mem_new(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        inside[t] = NONE;
    bool good = true;
    for (size_t c = 0; c < plan->clusters.n && good; c++) {
        const struct cluster *x = &plan->clusters.at[c];
        if (x->tasks > plan->tasks.n || x->ntasks > plan->tasks.n - x->tasks ||
            x->duplicates > plan->tasks.n || x->nduplicates > plan->tasks.n - x->duplicates ||
            x->nodes > plan->nodes.n || x->nnodes > plan->nodes.n - x->nodes)
            good = error_set(err, ERROR_INPUT, "cluster %zu of the plan is not whole", c);
        else if (!x->nnodes)
            good = error_set(err, ERROR_INPUT, "cluster %zu of the plan has no nodes", c);
        for (uint32_t k = 0; k < x->nnodes && good; k++)
            if (plan->nodes.at[x->nodes + k] >= p->nnodes)
                good = error_set(err, ERROR_INPUT,
                                 "the plan does not belong to this platform: cluster %zu is on "
                                 "node number %u of %u",
                                 c, plan->nodes.at[x->nodes + k], p->nnodes);
        for (uint32_t k = 0; k < x->ntasks + x->nduplicates && good; k++) {
            bool at_home = k < x->ntasks;
            uint32_t t = plan->tasks.at[at_home ? x->tasks + k : x->duplicates + k - x->ntasks];
            if (t >= w->ntasks)
                good = error_set(err, ERROR_INPUT,
                                 "the plan does not belong to this workflow: cluster %zu holds "
                                 "task number %u of %u",
                                 c, t, w->ntasks);
            else if (inside[t] == c)
                good = error_set(err, ERROR_INPUT, "task '%s' stands twice in cluster %zu",
                                 workflow_task_name(w, t), c);
            else if (at_home && home[t] != NONE)
                good = error_set(err, ERROR_INPUT, "task '%s' is at home in clusters %u and %zu",
                                 workflow_task_name(w, t), home[t], c);
            else {
                inside[t] = (uint32_t)c;
                if (at_home)
                    home[t] = (uint32_t)c;
            }
        }
    }
    for (uint32_t t = 0; t < w->ntasks && good; t++)
        if (home[t] == NONE)
            good = error_set(err, ERROR_INPUT,
                             "the plan does not belong to this workflow: task '%s' is at home in "
                             "no cluster",
                             workflow_task_name(w, t));
    free(inside);
    return good;
}

/* Copies that share the items task by task, as clusters: each task alone, a replica a copy. Nodes
 * then belong to several clusters, which a replay does not mind. */
static struct plan *unroll_rotation(const struct workflow *w, const struct plan *plan)
{
    struct plan *own = plan_new(PLAN_STREAM);
    struct stream_tables s = {0};
    stream_tables_fill(&s, plan, w->ntasks);
    own->pipelined = true;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        struct cluster x = {.tasks = t, .ntasks = 1, .nodes = (uint32_t)own->nodes.n};
        for (uint32_t k = s.off[t]; k < s.off[t + 1]; k++)
            array_push(&own->nodes, s.nodes[s.node_off[s.cluster[k]]]);
        x.nnodes = (uint32_t)own->nodes.n - x.nodes;
        x.replicas = x.nnodes;
        array_push(&own->tasks, t);
        array_push(&own->clusters, x);
    }
    stream_tables_free(&s);
    return own;
}

/* One key for several sorts: decreasing level, then increasing rank, minor and value. */
struct sort_key {
    double level;
    uint32_t rank, minor, value;
};

static int mapping_compare_keys(const void *a, const void *b)
{
    const struct sort_key *x = a, *y = b;
    if (x->level != y->level)
        return x->level > y->level ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->minor != y->minor)
        return x->minor < y->minor ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* A feed as one consumer sees it; drafts of the same (sender, object, cluster) become one feed. */
struct draft_feed {
    uint32_t sender, object, from_task, to, edge;
    double level; /* largest over its edges */
};

struct mapping_build {
    struct mapping *m;
    const struct workflow *w;
    const struct plan *plan;
    uint32_t *home, *rank;
    double *bottom;
    double latency, per_byte;
    uint32_t *copy_off, *copy_of; /* by task: its copies */
    ARRAY(struct draft_feed) drafts;
};

/* Copies in priority order, so that their numbers can be compared instead of priorities. */
static void make_copies(struct mapping_build *b)
{
    struct mapping *m = b->m;
    const struct workflow *w = b->w;
    ARRAY(struct sort_key) keys = {0};
    for (size_t c = 0; c < b->plan->clusters.n; c++) {
        const struct cluster *x = &b->plan->clusters.at[c];
        for (uint32_t k = 0; k < x->ntasks + x->nduplicates; k++) {
            uint32_t t =
                b->plan->tasks.at[k < x->ntasks ? x->tasks + k : x->duplicates + k - x->ntasks];
            array_push(&keys, (struct sort_key){b->bottom[t], b->rank[t], (uint32_t)c, t});
        }
    }
    if (keys.n)
        qsort(keys.at, keys.n, sizeof *keys.at, mapping_compare_keys);
    m->ncopies = (uint32_t)keys.n;
    m->copies = mem_new_zero(struct mapping_copy, keys.n + 1);
    b->copy_off = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    b->copy_of = mem_new(uint32_t, keys.n);
    for (size_t i = 0; i < keys.n; i++) {
        uint32_t t = keys.at[i].value;
        m->copies[i] = (struct mapping_copy){.task = t, .cluster = keys.at[i].minor};
        m->copies[i].is_exit =
            w->succ_off[t] == w->succ_off[t + 1] && b->home[t] == keys.at[i].minor;
        m->nexits += m->copies[i].is_exit;
        b->copy_off[t + 1]++;
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        b->copy_off[t + 1] += b->copy_off[t];
    uint32_t *fill = mem_new(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        fill[t] = b->copy_off[t];
    for (uint32_t i = 0; i < m->ncopies; i++)
        b->copy_of[fill[m->copies[i].task]++] = i;
    free(fill);
    array_free(&keys);
}

/* The copy of a task in a cluster; NONE: it is not there. Tasks have few copies. */
static uint32_t copy_in(const struct mapping_build *b, uint32_t task, uint32_t cluster)
{
    for (uint32_t k = b->copy_off[task]; k < b->copy_off[task + 1]; k++)
        if (b->m->copies[b->copy_of[k]].cluster == cluster)
            return b->copy_of[k];
    return NONE;
}

typedef ARRAY(struct sort_key) sort_keys;

/* What every copy waits for: a copy beside it, or a feed from the home of the producer. Drafts of
 * feeds come from the consumers' side, one an edge; `waiters` has the consumer of each. */
static void draft_inputs(struct mapping_build *b, sort_keys *locals, sort_keys *waiters)
{
    const struct workflow *w = b->w;
    for (uint32_t i = 0; i < b->m->ncopies; i++) {
        struct mapping_copy *c = &b->m->copies[i];
        uint32_t before = NONE;
        for (uint32_t e = w->pred_off[c->task]; e < w->pred_off[c->task + 1]; e++) {
            uint32_t from = w->pred_task[e], object = w->pred_object[e];
            uint32_t beside = copy_in(b, from, c->cluster);
            if (beside != NONE) {
                if (from != before) { /* several objects of one producer: one wait */
                    array_push(locals, (struct sort_key){0, beside, i, 0});
                    c->inputs++;
                }
            } else {
                uint32_t sender = copy_in(b, from, b->home[from]);
                double size = object == NONE ? 0 : w->size[object];
                double wt = object == NONE ? 0 : b->latency + size * b->per_byte;
                array_push(&b->drafts, (struct draft_feed){sender, object, from, c->cluster, e,
                                                           wt + b->bottom[c->task]});
                array_push(waiters, (struct sort_key){0, i, 0, 0});
                c->inputs++;
            }
            before = from;
        }
    }
}

/* Followers beside each copy, as a CSR by copy. */
static void connect_locals(struct mapping *m, sort_keys *locals)
{
    if (locals->n)
        qsort(locals->at, locals->n, sizeof *locals->at, mapping_compare_keys);
    m->local = mem_new(uint32_t, locals->n);
    size_t at = 0;
    for (uint32_t i = 0; i <= m->ncopies; i++) {
        m->copies[i].local_off = (uint32_t)at;
        for (; at < locals->n && locals->at[at].rank == i; at++)
            m->local[at] = locals->at[at].minor;
    }
}

/* What ranks a feed: its highest bottom level, and the edge and sender that it was drafted for. */
struct feed_rank {
    double level;
    uint32_t edge, sender;
};

/* Drafts of the same (sender, object, cluster) become one feed with several waiters. Sorting puts
 * them side by side, and feeds of one sender together. */
static void merge_drafts(struct mapping_build *b, const sort_keys *waiters, struct sort_key *order,
                         struct feed_rank *rank)
{
    struct mapping *m = b->m;
    for (size_t i = 0; i < b->drafts.n; i++) {
        const struct draft_feed *d = &b->drafts.at[i];
        order[i] = (struct sort_key){-(double)d->sender, d->object, d->to, (uint32_t)i};
    }
    if (b->drafts.n)
        qsort(order, b->drafts.n, sizeof *order, mapping_compare_keys);
    for (size_t i = 0; i < b->drafts.n; i++) {
        const struct draft_feed *d = &b->drafts.at[order[i].value];
        bool same = i && order[i].level == order[i - 1].level &&
                    order[i].rank == order[i - 1].rank && order[i].minor == order[i - 1].minor;
        if (!same) {
            m->feeds[m->nfeeds] = (struct feed){d->object, d->sender, d->to, 0, (uint32_t)i};
            rank[m->nfeeds++] = (struct feed_rank){d->level, d->edge, d->sender};
        } else if (d->level > rank[m->nfeeds - 1].level) {
            rank[m->nfeeds - 1].level = d->level;
        }
        m->waiters[i] = waiters->at[order[i].value].rank;
    }
    m->feeds[m->nfeeds].waiter_off = (uint32_t)b->drafts.n; /* the sentinel ends the last list */
}

/* Local followers and feeds of every copy. */
static void mapping_connect(struct mapping_build *b)
{
    struct mapping *m = b->m;
    sort_keys locals = {0}, waiters = {0};
    draft_inputs(b, &locals, &waiters);
    connect_locals(m, &locals);
    array_free(&locals);

    struct sort_key *order = mem_new(struct sort_key, b->drafts.n);
    struct feed_rank *rank = mem_new(struct feed_rank, b->drafts.n + 1);
    m->feeds = mem_new_zero(struct feed, b->drafts.n + 1);
    m->waiters = mem_new(uint32_t, b->drafts.n);
    merge_drafts(b, &waiters, order, rank);
    uint32_t f = 0;
    for (uint32_t i = 0; i <= m->ncopies; i++) {
        m->copies[i].feed_off = f;
        while (f < m->nfeeds && rank[f].sender == i)
            f++;
    }
    /* The network serves by rank: decreasing level, then topological position, then edge. */
    for (uint32_t i = 0; i < m->nfeeds; i++)
        order[i] = (struct sort_key){rank[i].level, b->rank[m->copies[rank[i].sender].task],
                                     rank[i].edge, i};
    if (m->nfeeds)
        qsort(order, m->nfeeds, sizeof *order, mapping_compare_keys);
    for (uint32_t i = 0; i < m->nfeeds; i++)
        m->feeds[order[i].value].rank = i;
    free(order);
    free(rank);
    array_free(&waiters);
}

bool mapping_build(struct mapping *m, const struct workflow *w, const struct platform *p,
                   const struct costs *costs, const struct plan *plan, struct error *err)
{
    *m = (struct mapping){.plan = plan};
    struct mapping_build b = {.m = m, .w = w, .plan = plan};
    b.home = mem_new(uint32_t, w->ntasks);
    bool good = check_clusters(w, p, plan, b.home, err);
    if (good && plan->rotating) {
        m->plan = b.plan = m->unrolled = unroll_rotation(w, plan);
        for (uint32_t t = 0; t < w->ntasks; t++)
            b.home[t] = t;
    }
    if (good) {
        double *weight = mem_new(double, w->ntasks);
        for (uint32_t t = 0; t < w->ntasks; t++)
            weight[t] = costs_mean(costs, t);
        platform_mean_transfer(p, &b.latency, &b.per_byte);
        b.bottom = mem_new(double, w->ntasks);
        graph_bottom_levels(w, weight, b.latency, b.per_byte, b.bottom);
        free(weight);
        b.rank = mem_new(uint32_t, w->ntasks);
        for (uint32_t i = 0; i < w->ntasks; i++)
            b.rank[w->topo[i]] = i;
        make_copies(&b);
        mapping_connect(&b);
    }
    free(b.home);
    free(b.bottom);
    free(b.rank);
    free(b.copy_off);
    free(b.copy_of);
    array_free(&b.drafts);
    return good;
}

void mapping_free(struct mapping *m)
{
    free(m->copies);
    free(m->local);
    free(m->feeds);
    free(m->waiters);
    plan_free(m->unrolled);
    *m = (struct mapping){0};
}
