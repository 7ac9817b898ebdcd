/* The graph of a stream: times per item, levels, and the one order in which every estimate takes
 * tasks and transfers. Built once a workflow and platform; estimates only read it.
 *
 * The order is by decreasing bottom level with all edges at full weight, so that every dependence
 * points forward in it, also those that a mapping adds. Ties go by topological position, tasks
 * before their edges. */
#include "base/heap.h"
#include "model/stream.h"

/* Then times do not depend on where: most of the estimate's work falls away. */
static bool stream_nodes_alike(const struct stream_graph *g)
{
    const struct platform *p = g->p;
    uint32_t first = NONE;
    if (p->nlinks || g->costs->unrelated)
        return false;
    for (uint32_t i = 0; i < p->nnodes; i++) {
        if (!p->up[i])
            continue;
        if (first == NONE)
            first = i;
        else if (p->speed[i] != p->speed[first] || p->memory[i] != p->memory[first] ||
                 p->cores[i] != p->cores[first] || platform_ports(p, i) != platform_ports(p, first))
            return false;
    }
    return true;
}

static bool is_shared(const struct workflow *w, uint32_t object)
{
    uint32_t consumers = 0;
    if (object != NONE)
        workflow_consumers(w, object, &consumers);
    return consumers > 1;
}

/* Where nodes differ these are means, for the order only; estimates ask the costs. */
static void fill_times(struct stream_graph *g)
{
    const struct workflow *w = g->w;
    double latency, seconds_per_byte;
    platform_mean_transfer(g->p, &latency, &seconds_per_byte);
    if (g->uniform) { /* also on one node, where no pair exists to take a mean over */
        latency = g->p->latency;
        seconds_per_byte = 1 / g->p->bandwidth;
    }
    uint32_t up = 0;
    while (up + 1 < g->p->nnodes && !g->p->up[up])
        up++;
    for (uint32_t t = 0; t < g->ntasks; t++) {
        double mean = g->uniform ? costs_time(g->costs, t, up) : costs_mean(g->costs, t);
        g->time[t] = isfinite(mean) ? mean : w->work[t];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t object = w->succ_object[e];
            g->edge_from[e] = t;
            g->shared[e] = is_shared(w, object);
            g->transfer[e] = object == NONE ? 0 : latency + w->size[object] * seconds_per_byte;
        }
    }
}

/* Kahn's algorithm with a heap: of the tasks that are free the lowest number first, so that the
 * order does not depend on how the graph was read. O((tasks + edges) log tasks). */
static void fill_positions(struct stream_graph *g, uint32_t *topo)
{
    const struct workflow *w = g->w;
    uint32_t *left = mem_new(uint32_t, g->ntasks), n = 0;
    struct heap ready = {0};
    for (uint32_t t = 0; t < g->ntasks; t++) {
        left[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!left[t])
            heap_push(&ready, t, t);
    }
    while (ready.n) {
        uint32_t t = (uint32_t)heap_pop(&ready).value;
        g->position[t] = n;
        topo[n++] = t;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            if (--left[w->succ_task[e]] == 0)
                heap_push(&ready, w->succ_task[e], w->succ_task[e]);
    }
    heap_free(&ready);
    free(left);
}

/* bottom: with edges at full weight, for the order. tail: with edges free and best times, a lower
 * bound with which estimates give up early. */
static void fill_levels(struct stream_graph *g, const uint32_t *topo)
{
    const struct workflow *w = g->w;
    for (uint32_t i = g->ntasks; i-- > 0;) {
        uint32_t t = topo[i];
        double below = 0, tail = 0;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t s = w->succ_task[e];
            double least = g->uniform ? g->time[s] : costs_least(g->costs, s, NULL);
            if (g->transfer[e] + g->bottom[s] > below)
                below = g->transfer[e] + g->bottom[s];
            if (isfinite(least) && least + g->tail[s] > tail)
                tail = least + g->tail[s];
        }
        g->bottom[t] = g->time[t] + below;
        g->tail[t] = tail;
        double own = g->uniform ? g->time[t] : costs_least(g->costs, t, NULL);
        if (isfinite(own) && own + tail > g->longest)
            g->longest = own + tail;
    }
}

/* As tail, from the other end. */
static void fill_heads(struct stream_graph *g, const uint32_t *topo)
{
    const struct workflow *w = g->w;
    for (uint32_t i = 0; i < g->ntasks; i++) {
        uint32_t t = topo[i];
        double own = g->uniform ? g->time[t] : costs_least(g->costs, t, NULL);
        for (uint32_t e = w->succ_off[t]; isfinite(own) && e < w->succ_off[t + 1]; e++)
            g->head[w->succ_task[e]] = fmax(g->head[w->succ_task[e]], g->head[t] + own);
    }
}

/* A task or an edge in the order; `element` is the edge's number plus ntasks. */
struct element {
    double level;
    uint32_t position, is_edge, element;
};

static int compare_elements(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    if (x->level != y->level)
        return x->level > y->level ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element); /* tasks are below edges */
}

/* O((tasks + edges) log): once a graph, not once an estimate. */
static void fill_order(struct stream_graph *g)
{
    const struct workflow *w = g->w;
    ARRAY(struct element) all = {0};
    uint32_t ntasks = 0;
    for (uint32_t t = 0; t < g->ntasks; t++) {
        array_push(&all, (struct element){g->bottom[t], g->position[t], 0, t});
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            if (g->transfer[e] > 0)
                array_push(&all, (struct element){g->transfer[e] + g->bottom[w->succ_task[e]],
                                                  g->position[t], 1, g->ntasks + e});
    }
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, compare_elements);
    for (size_t i = 0; i < all.n; i++) {
        g->order[i] = all.at[i].element;
        if (all.at[i].is_edge) {
            g->rank[all.at[i].element - g->ntasks] = (uint32_t)i;
        } else {
            g->task_rank[all.at[i].element] = (uint32_t)i;
            g->tasks[ntasks++] = all.at[i].element;
        }
    }
    g->norder = (uint32_t)all.n;
    array_free(&all);
}

/* Messages to a task's copies come with its inputs; an object that others read, too, may come with theirs. */
static void fill_touched(struct stream_graph *g)
{
    const struct workflow *w = g->w;
    memcpy(g->touched, g->task_rank, g->ntasks * sizeof *g->touched);
    for (uint32_t e = 0; e < g->nedges; e++) {
        uint32_t to = w->succ_task[e], object = w->succ_object[e], from = g->edge_from[e];
        if (g->transfer[e] <= 0)
            continue;
        for (uint32_t k = w->object_edge[object];
             k < w->succ_off[from + 1] && w->succ_object[k] == object; k++)
            if (g->rank[k] < g->touched[to])
                g->touched[to] = g->rank[k];
    }
}

/* Estimates walk along the order thousands of times: what they ask lies side by side. */
static void fill_steps(struct stream_graph *g)
{
    const struct workflow *w = g->w;
    for (uint32_t i = 0; i < g->norder; i++) {
        uint32_t x = g->order[i], e = x - g->ntasks;
        if (x < g->ntasks) {
            g->steps[i] = (struct stream_step){.edge = NONE, .task = x, .time = g->time[x]};
            continue;
        }
        uint32_t task = w->succ_task[e];
        g->steps[i] = (struct stream_step){.edge = e,
                                           .task = task,
                                           .from = g->edge_from[e],
                                           .shared = g->shared[e],
                                           .time = g->transfer[e],
                                           .after = g->uniform ? g->time[task] : 0};
    }
    for (uint32_t e = 0; e < g->nedges; e++) {
        uint32_t object = w->pred_object[e];
        g->pred_free[e] = object == NONE || g->transfer[w->object_edge[object]] <= 0;
    }
}

/* What follows from the times, whichever constructor set them. */
static void finish_graph(struct stream_graph *g)
{
    uint32_t *topo = mem_new(uint32_t, g->ntasks);
    fill_positions(g, topo);
    fill_levels(g, topo);
    fill_heads(g, topo);
    fill_order(g);
    fill_touched(g);
    fill_steps(g);
    free(topo);
    g->all_fixed = g->ntasks > 0;
    for (uint32_t t = 0; t < g->ntasks; t++) {
        bool fixed = g->w->flags[t] & TASK_NOT_REPLICABLE;
        g->any_fixed |= fixed;
        g->all_fixed &= fixed;
        g->total += g->time[t];
    }
}

/* Room for everything, filled by the caller. */
static struct stream_graph *new_graph(const struct workflow *w, const struct platform *p)
{
    struct stream_graph *g = mem_new_zero(struct stream_graph, 1);
    g->w = w;
    g->p = p;
    g->costs = costs_lenient(w, p);
    g->ntasks = w->ntasks;
    g->nedges = w->nedges;
    for (uint32_t i = 0; i < p->nnodes; i++)
        g->nodes_up += p->up[i] != 0;
    g->time = mem_new_zero(double, g->ntasks);
    g->transfer = mem_new_zero(double, g->nedges);
    g->tail = mem_new_zero(double, g->ntasks);
    g->head = mem_new_zero(double, g->ntasks);
    g->bottom = mem_new_zero(double, g->ntasks);
    g->position = mem_new(uint32_t, g->ntasks);
    g->edge_from = mem_new(uint32_t, g->nedges);
    g->shared = mem_new_zero(uint8_t, g->nedges);
    g->order = mem_new(uint32_t, (size_t)g->ntasks + g->nedges);
    g->steps = mem_new(struct stream_step, (size_t)g->ntasks + g->nedges);
    g->pred_free = mem_new(uint8_t, g->nedges);
    g->tasks = mem_new(uint32_t, g->ntasks);
    g->rank = mem_new_zero(uint32_t, g->nedges);
    g->task_rank = mem_new(uint32_t, g->ntasks);
    g->touched = mem_new(uint32_t, g->ntasks);
    return g;
}

struct stream_graph *stream_graph_new(const struct workflow *w, const struct platform *p)
{
    struct stream_graph *g = new_graph(w, p);
    g->uniform = stream_nodes_alike(g);
    fill_times(g);
    finish_graph(g);
    return g;
}

/* A bound from above that is uniform: whatever is mapped with it runs at least as fast. */
struct stream_graph *stream_graph_worst(const struct workflow *w, const struct platform *p,
                                        const uint32_t *nodes, uint32_t count)
{
    struct stream_graph *g = new_graph(w, p);
    double latency = 0, slowest = 0;
    g->uniform = true;
    g->nodes_up = count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = i + 1; k < count; k++) {
            double bandwidth, wait;
            platform_link(p, nodes[i], nodes[k], &bandwidth, &wait);
            latency = fmax(latency, wait);
            slowest = fmax(slowest, bandwidth > 0 ? 1 / bandwidth : INFINITY);
        }
    for (uint32_t t = 0; t < g->ntasks; t++) {
        for (uint32_t i = 0; i < count; i++)
            g->time[t] = fmax(g->time[t], costs_time(g->costs, t, nodes[i]));
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t object = w->succ_object[e];
            g->edge_from[e] = t;
            g->shared[e] = is_shared(w, object);
            if (object != NONE)
                g->transfer[e] = latency + (w->size[object] > 0 ? w->size[object] * slowest : 0);
        }
    }
    finish_graph(g);
    return g;
}

void stream_graph_free(struct stream_graph *g)
{
    if (!g)
        return;
    costs_free(g->costs);
    free(g->time);
    free(g->transfer);
    free(g->tail);
    free(g->head);
    free(g->tasks);
    free(g->bottom);
    free(g->position);
    free(g->edge_from);
    free(g->shared);
    free(g->order);
    free(g->steps);
    free(g->pred_free);
    free(g->rank);
    free(g->task_rank);
    free(g->touched);
    free(g);
}
