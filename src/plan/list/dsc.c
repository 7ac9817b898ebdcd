/* DSC, dominant sequence clustering: Yang and Gerasoulis 1994; then clusters onto the nodes.
 *
 * Phase 1 clusters for unbounded equal processors. The dominant sequence is the longest path of the
 * clustered graph; tasks are examined in order of priority (top level plus bottom level), and each
 * joins the cluster of a predecessor if zeroing that edge makes it start sooner. Phase 2 maps
 * clusters by falling work to the least loaded node and orders the tasks of each by falling bottom
 * level.
 *
 * A task joins one cluster of its predecessors; the paper's further step, which also pulls in
 * predecessors that have no other child, is left out, so joins are not clustered optimally.
 *
 * O((tasks + edges) log tasks) for the clusters, O(tasks x nodes) for the mapping. Ties: first to
 * become free, edge order, lowest node. */
#include "plan/list/list.h"

struct dsc {
    const struct workflow *w;
    double *times, *bottom; /* mean times; bottom levels with mean communication */
    double latency, seconds_per_byte;

    uint32_t *cluster;   /* per task, named by its first task; NONE: not examined */
    double *start;       /* per examined task */
    double *cluster_end; /* per cluster: when its last task ends */
    uint32_t *missing;   /* per task: edges from tasks not examined */
    double *
        arrival; /* per task: when the data of the examined predecessors is there, no edge zeroed */
    uint32_t *dominant;        /* per task: the examined predecessor that sends it */
    struct heap free, partial; /* by falling priority; entries of `partial` may be outdated */
};

/* Mean seconds of a message: the nodes are not chosen yet. */
static double dsc_message_time(const struct dsc *d, uint32_t object)
{
    return object == NONE ? 0 : d->latency + d->w->size[object] * d->seconds_per_byte;
}

/* The length of the longest path through the task as clustered so far: the paper's PRIO(n) = tlevel
 * + blevel. */
static double dsc_priority(const struct dsc *d, uint32_t task)
{
    return d->arrival[task] + d->bottom[task];
}

/* The partially free task of greatest priority; NONE: none. */
static uint32_t first_partial(struct dsc *d)
{
    const struct heap_item *top;
    while ((top = heap_peek(&d->partial))) {
        uint32_t task = (uint32_t)top->value;
        if (d->missing[task] > 0 && -top->key == dsc_priority(d, task))
            return task;
        heap_pop(&d->partial);
    }
    return NONE;
}

/* When the task could start as the next one of the cluster. */
static double start_in_cluster(const struct dsc *d, uint32_t task, uint32_t cluster)
{
    double start = d->cluster_end[cluster];
    for (uint32_t e = d->w->pred_off[task]; e < d->w->pred_off[task + 1]; e++) {
        uint32_t from = d->w->pred_task[e];
        double there = d->start[from] + d->times[from];
        if (d->cluster[from] != cluster)
            there += dsc_message_time(d, d->w->pred_object[e]);
        start = fmax(start, there);
    }
    return start;
}

/* Examine a free task: join the predecessor's cluster in which it starts soonest, if that is sooner
 * than alone. A cluster that would shorten the dominant sequence through a partially free task of
 * greater priority is kept free for that one (the paper's dominant sequence reduction warranty). */
static void dsc_examine(struct dsc *d, uint32_t task)
{
    uint32_t rival = first_partial(d), reserved = NONE;
    if (rival != NONE && dsc_priority(d, rival) > dsc_priority(d, task) &&
        d->dominant[rival] != NONE) {
        uint32_t cluster = d->cluster[d->dominant[rival]];
        if (d->cluster_end[cluster] < d->arrival[rival])
            reserved = cluster;
    }
    uint32_t best = task;
    double best_start = d->arrival[task];
    /* Every candidate costs a pass over the predecessors: at most 64 clusters that
     * could help are tried, in edge order. */
    uint32_t tried = 0;
    for (uint32_t e = d->w->pred_off[task]; e < d->w->pred_off[task + 1] && tried < 64; e++) {
        uint32_t cluster = d->cluster[d->w->pred_task[e]];
        if (cluster == reserved || d->cluster_end[cluster] >= best_start)
            continue;
        tried++;
        double start = start_in_cluster(d, task, cluster);
        if (start < best_start) {
            best = cluster;
            best_start = start;
        }
    }
    d->cluster[task] = best;
    d->start[task] = best_start;
    d->cluster_end[best] = best_start + d->times[task];
    for (uint32_t e = d->w->succ_off[task]; e < d->w->succ_off[task + 1]; e++) {
        uint32_t child = d->w->succ_task[e];
        double there = best_start + d->times[task] + dsc_message_time(d, d->w->succ_object[e]);
        if (there > d->arrival[child]) {
            d->arrival[child] = there;
            d->dominant[child] = task;
        }
        heap_push(--d->missing[child] ? &d->partial : &d->free, -dsc_priority(d, child), child);
    }
}

static void make_clusters(struct dsc *d, const struct costs *c)
{
    const struct workflow *w = d->w = c->workflow;
    uint32_t n = w->ntasks;
    rank_network(c->platform, &d->latency, &d->seconds_per_byte);
    d->times = rank_times(c);
    d->bottom = rank_upward(c, d->times);
    d->cluster = mem_new(uint32_t, n);
    d->start = mem_new_zero(double, n);
    d->cluster_end = mem_new_zero(double, n);
    d->missing = mem_new(uint32_t, n);
    d->arrival = mem_new_zero(double, n);
    d->dominant = mem_new(uint32_t, n);
    for (uint32_t t = 0; t < n; t++) {
        d->cluster[t] = d->dominant[t] = NONE;
        d->missing[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!d->missing[t])
            heap_push(&d->free, -dsc_priority(d, t), t);
    }
    while (d->free.n)
        dsc_examine(d, (uint32_t)heap_pop(&d->free).value);
}

static void dsc_free(struct dsc *d)
{
    free(d->times);
    free(d->bottom);
    free(d->cluster);
    free(d->start);
    free(d->cluster_end);
    free(d->missing);
    free(d->arrival);
    free(d->dominant);
    heap_free(&d->free);
    heap_free(&d->partial);
}

/* Clusters by falling work, each to the node that is through with its load first (a node that
 * cannot run some of its tasks only when no other can run more of them). Fills node[cluster]. */
static void map_clusters(const struct list_run *l, const struct dsc *d, uint32_t *node)
{
    uint32_t ntasks = l->w->ntasks, nnodes = l->p->nnodes;
    double *work = mem_new_zero(double, ntasks), *load = mem_new_zero(double, nnodes);
    double *time = mem_new(double, nnodes);
    uint32_t *missing = mem_new(uint32_t, nnodes);
    uint32_t *first = mem_new(uint32_t, ntasks), *next = mem_new(uint32_t, ntasks);
    for (uint32_t t = 0; t < ntasks; t++) {
        first[t] = NONE;
        work[d->cluster[t]] += d->times[t];
    }
    for (uint32_t t = ntasks; t-- > 0;) {
        next[t] = first[d->cluster[t]];
        first[d->cluster[t]] = t;
    }
    /* clusters are named by their first task, so that an order of tasks by work is one of clusters
     */
    uint32_t *order = rank_order(l->w, work);
    for (uint32_t i = 0; i < ntasks; i++) {
        uint32_t cluster = order[i], best = 0;
        if (first[cluster] == NONE)
            continue;
        for (uint32_t n = 0; n < nnodes; n++) {
            time[n] = 0;
            missing[n] = 0;
            for (uint32_t t = first[cluster]; t != NONE; t = next[t]) {
                double here = costs_time(l->costs, t, n);
                if (here < INFINITY)
                    time[n] += here * l->w->cores[t] / l->p->cores[n];
                else
                    missing[n]++;
            }
            if (missing[n] < missing[best] ||
                (missing[n] == missing[best] && load[n] + time[n] < load[best] + time[best]))
                best = n;
        }
        node[cluster] = best;
        load[best] += time[best];
    }
    free(work);
    free(load);
    free(time);
    free(missing);
    free(first);
    free(next);
    free(order);
}

/* Clusters, their nodes, then all tasks by falling bottom level, each on its cluster's node. */
static struct plan *run_dsc(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    struct dsc d = {0};
    make_clusters(&d, l.costs);
    uint32_t *node = mem_new(uint32_t, l.w->ntasks), *order = rank_order(l.w, d.bottom);
    map_clusters(&l, &d, node);
    bool done = true;
    for (uint32_t i = 0; done && i < l.w->ntasks; i++) {
        struct schedule_slot slot = schedule_earliest(l.s, order[i], node[d.cluster[order[i]]]);
        if (!(slot.finish < INFINITY))
            slot = schedule_best(l.s, order[i]);
        done = list_place(&l, order[i], slot, err);
    }
    free(node);
    free(order);
    dsc_free(&d);
    return list_end(&l, done);
}

const struct planner planner_dsc = {
    .name = "dsc",
    .family = "clustering",
    .summary =
        "dominant sequence clustering on unbounded processors; then clusters by falling work "
        "to the least loaded node, tasks by falling bottom level",
    .paper = "T. Yang, A. Gerasoulis: DSC: scheduling parallel tasks on an unbounded number of "
             "processors. IEEE TPDS 5(9), 1994",
    .tie_rule = "equal priorities: the task that became free first; clusters of equal work: first "
                "in topological order; equal loads: lowest node; a task that its cluster's node "
                "cannot run goes where it ends first",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_dsc,
};
