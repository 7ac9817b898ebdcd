/* Items dealt out to the copies of each task: how Filter Copy Pipeline maps. The report estimates it
 * without port limits. With them a port's load bounds the throughput as a processor's does, which no
 * order of the transfers need reach: planners promise what a replay reaches. */
#include "model/stream.h"

/* Items after which the pattern repeats; a sample of it when that is long. */
enum { MOST_ITEMS = 840 };
/* Under port limits an item is scheduled transfer by transfer: milliseconds for 1,000 tasks. */
enum { MOST_PORTED = 60 };

/* Items after which two copy counts are in step again. */
static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

static double rotate_time_on(const struct stream_graph *g, const uint32_t *nodes, uint32_t task,
                             uint32_t processor)
{
    return g->uniform || !nodes ? g->time[task] : costs_time(g->costs, task, nodes[processor]);
}

static double transfer_on(const struct stream_graph *g, const uint32_t *nodes, uint32_t edge,
                          uint32_t from, uint32_t to)
{
    if (from == to || g->transfer[edge] <= 0)
        return 0;
    if (g->uniform || !nodes)
        return g->transfer[edge];
    return platform_transfer(g->p, nodes[from], nodes[to], g->w->size[g->w->succ_object[edge]]);
}

/* The longest transfer that copies of the two tasks make with each other; 0: always local. */
static double worst_transfer(const struct stream_graph *g, const struct stream_rotation *r,
                             const uint32_t *nodes, uint32_t edge)
{
    uint32_t i = g->edge_from[edge], j = g->w->succ_task[edge];
    uint32_t a = r->off[i + 1] - r->off[i], b = r->off[j + 1] - r->off[j];
    uint64_t round = common_multiple(a, b);
    double worst = 0;
    /* on equal nodes all transfers of an edge last the same */
    for (uint64_t n = 0; n < round && !(g->uniform && worst > 0); n++)
        worst = fmax(worst, transfer_on(g, nodes, edge, r->processor[r->off[i] + n % a],
                                        r->processor[r->off[j] + n % b]));
    return worst;
}

/* One item on its way: tasks in order, each on the copy whose turn it is. O(tasks + edges). */
static double item_latency(const struct stream_graph *g, const struct stream_rotation *r,
                           const uint32_t *nodes, uint64_t item, double *finish, double *free_at)
{
    const struct workflow *w = g->w;
    double latency = 0;
    memset(free_at, 0, r->nprocessors * sizeof *free_at);
    memset(finish, 0, g->ntasks * sizeof *finish);
    for (uint32_t k = 0; k < g->norder; k++) {
        uint32_t t = g->order[k];
        if (t >= g->ntasks)
            continue;
        uint32_t p = r->processor[r->off[t] + item % (r->off[t + 1] - r->off[t])];
        /* finish[t] holds, until t itself is taken, when its data is there */
        double end = fmax(finish[t], free_at[p]) + rotate_time_on(g, nodes, t, p);
        free_at[p] = end;
        latency = fmax(latency, end);
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t j = w->succ_task[e];
            uint32_t q = r->processor[r->off[j] + item % (r->off[j + 1] - r->off[j])];
            finish[j] = fmax(finish[j], end + transfer_on(g, nodes, e, p, q));
        }
    }
    return latency;
}

/* Seconds an item that a processor's ports are held, by the copies of the two tasks that meet: each
 * pair for 1 item in `round`. */
static void add_port_load(const struct stream_graph *g, const struct stream_rotation *r,
                          const uint32_t *nodes, uint32_t edge, double *held)
{
    uint32_t i = g->edge_from[edge], j = g->w->succ_task[edge];
    uint32_t a = r->off[i + 1] - r->off[i], b = r->off[j + 1] - r->off[j];
    uint64_t round = common_multiple(a, b);
    for (uint64_t n = 0; n < round && g->transfer[edge] > 0; n++) {
        uint32_t from = r->processor[r->off[i] + n % a], to = r->processor[r->off[j] + n % b];
        double share = transfer_on(g, nodes, edge, from, to) / (double)round;
        held[from] += share;
        held[to] += share;
    }
}

/* The rate at which the busiest node has all its ports in use all the time. */
static double port_rate(const struct stream_graph *g, const struct stream_rotation *r,
                        const uint32_t *nodes, uint32_t ports)
{
    double *held = mem_new_zero(double, r->nprocessors), most = 0;
    for (uint32_t e = 0; e < g->nedges; e++)
        add_port_load(g, r, nodes, e, held);
    for (uint32_t p = 0; p < r->nprocessors; p++)
        most = fmax(most, held[p]);
    free(held);
    return most > 0 ? ports / most : INFINITY;
}

/* The longest of the items that are alone, each as the list schedule of one item has it. */
static double ported_latency(const struct stream_graph *g, const struct stream_rotation *r,
                             const uint32_t *nodes, uint32_t ports, uint64_t round)
{
    struct stream_work *work = stream_work_new(g);
    uint32_t *processor = mem_new(uint32_t, g->ntasks);
    double latency = 0;
    for (uint64_t n = 0; n < round && n < MOST_PORTED; n++) {
        for (uint32_t t = 0; t < g->ntasks; t++)
            processor[t] = r->processor[r->off[t] + n % (r->off[t + 1] - r->off[t])];
        latency = fmax(latency, stream_item(work, r->nprocessors, nodes, ports, processor));
    }
    free(processor);
    stream_work_free(work);
    return latency;
}

/* A processor works 1 / copies of the time on each task it has a copy of; an edge carries at most
 * as many transfers at once as its smaller end has copies. */
void stream_rotate(const struct stream_graph *g, const struct stream_rotation *r,
                   const uint32_t *nodes, uint32_t ports, double *throughput, double *latency)
{
    double *load = mem_new_zero(double, r->nprocessors), *finish = mem_new(double, g->ntasks);
    uint64_t round = 1;
    *throughput = INFINITY;
    *latency = 0;
    for (uint32_t t = 0; t < g->ntasks; t++) {
        uint32_t copies = r->off[t + 1] - r->off[t];
        if (round < MOST_ITEMS)
            round = common_multiple(round, copies);
        for (uint32_t c = r->off[t]; c < r->off[t + 1]; c++)
            load[r->processor[c]] += rotate_time_on(g, nodes, t, r->processor[c]) / copies;
    }
    for (uint32_t p = 0; p < r->nprocessors; p++)
        if (load[p] > 0)
            *throughput = fmin(*throughput, 1 / load[p]);
    for (uint32_t e = 0; e < g->nedges; e++) {
        double worst = worst_transfer(g, r, nodes, e);
        uint32_t i = g->edge_from[e], j = g->w->succ_task[e];
        uint32_t a = r->off[i + 1] - r->off[i], b = r->off[j + 1] - r->off[j];
        if (worst > 0)
            *throughput = fmin(*throughput, (a < b ? a : b) / worst);
    }
    if (ports) {
        *throughput = fmin(*throughput, port_rate(g, r, nodes, ports));
        *latency = ported_latency(g, r, nodes, ports, round);
    }
    for (uint64_t n = 0; n < round && n < MOST_ITEMS && !ports; n++)
        *latency = fmax(*latency, item_latency(g, r, nodes, n, finish, load));
    free(load);
    free(finish);
}
