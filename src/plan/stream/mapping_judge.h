/* What a mapping of a small graph onto equal nodes is worth, for tests: written from the report's model (sections 1 to 6 of
 * mos-spec.md in the shared folder), apart from model/stream.c, with lists that are searched from one end to the other. Times
 * are the workflow's works, transfers its sizes: nodes of speed 1, links of bandwidth 1 and latency 0. */
#pragma once
#include "model/workflow.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { JUDGE_TASKS = 8, JUDGE_EDGES = 64, JUDGE_CHANNELS = 16 };

/* An edge of the graph, as the workflow lists it. */
struct judge_edge {
    uint32_t from, to, object, number;
    double time, level; /* level: bl(i,j) */
};

struct judge {
    uint32_t ntasks, nedges, ports; /* 0 ports: any number */
    double time[JUDGE_TASKS], level[JUDGE_TASKS];
    uint32_t position[JUDGE_TASKS];      /* Kahn, smallest number first */
    uint32_t by_level[JUDGE_TASKS];      /* tasks in their order */
    struct judge_edge edge[JUDGE_EDGES]; /* transfers in their order */
};

/* A channel of a processor, or the link between two, in use. */
struct judge_use {
    uint32_t a, b, channel_a, channel_b;
    double start, end;  /* its slot */
    double latency_end; /* of one item */
};

static inline bool judge_edge_is_before(const struct judge *j, const struct judge_edge *x,
                                        const struct judge_edge *y)
{
    if (x->level != y->level)
        return x->level > y->level;
    if (j->position[x->from] != j->position[y->from])
        return j->position[x->from] < j->position[y->from];
    return x->number < y->number;
}

static inline void judge_sort(struct judge *j)
{
    for (uint32_t i = 0; i < j->ntasks; i++) {
        uint32_t t = i, k = i;
        for (; k && (j->level[j->by_level[k - 1]] < j->level[t] ||
                     (j->level[j->by_level[k - 1]] == j->level[t] &&
                      j->position[j->by_level[k - 1]] > j->position[t]));
             k--)
            j->by_level[k] = j->by_level[k - 1];
        j->by_level[k] = t;
    }
    for (uint32_t i = 1; i < j->nedges; i++) {
        struct judge_edge e = j->edge[i];
        uint32_t k = i;
        for (; k && judge_edge_is_before(j, &e, &j->edge[k - 1]); k--)
            j->edge[k] = j->edge[k - 1];
        j->edge[k] = e;
    }
}

static inline struct judge judge_of(const struct workflow *w, uint32_t ports)
{
    struct judge j = {.ntasks = w->ntasks, .ports = ports};
    bool placed[JUDGE_TASKS] = {0};
    uint32_t order[JUDGE_TASKS] = {0};
    for (uint32_t k = 0; k < w->ntasks; k++)
        for (uint32_t t = 0; t < w->ntasks; t++) {
            bool ready = !placed[t];
            for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
                ready &= placed[w->pred_task[e]];
            if (!ready)
                continue;
            placed[t] = true;
            order[k] = t;
            j.position[t] = k;
            break;
        }
    for (uint32_t k = w->ntasks; k--;) {
        uint32_t t = order[k];
        double longest = 0;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            double time = w->size[w->succ_object[e]];
            double level = time + j.level[w->succ_task[e]];
            j.edge[j.nedges++] = (struct judge_edge){.from = t,
                                                     .to = w->succ_task[e],
                                                     .object = w->succ_object[e],
                                                     .number = e,
                                                     .time = time,
                                                     .level = level};
            longest = fmax(longest, level);
        }
        j.time[t] = w->work[t];
        j.level[t] = j.time[t] + longest;
    }
    judge_sort(&j);
    return j;
}

/* ---- slots under the k-port rules ---- */

static inline bool judge_overlaps(const struct judge_use *u, double start, double end)
{
    return u->start < end && start < u->end;
}

/* The channel of processor `p` to other processor `q` that is idle then; UINT32_MAX: none. */
static inline uint32_t judge_channel(const struct judge *j, const struct judge_use *use, uint32_t n,
                                     uint32_t p, uint32_t q, double start, double end)
{
    uint32_t count = j->ports && j->ports < JUDGE_CHANNELS ? j->ports : JUDGE_CHANNELS;
    uint32_t idle = UINT32_MAX;
    for (uint32_t c = 0; c < count; c++) {
        bool busy = false, carries = false;
        for (uint32_t i = 0; i < n; i++) {
            bool here = (use[i].a == p && use[i].channel_a == c) ||
                        (use[i].b == p && use[i].channel_b == c);
            busy |= here && judge_overlaps(&use[i], start, end);
            carries |= here && (use[i].a == q || use[i].b == q);
        }
        if (!busy && carries)
            return c;
        if (!busy && idle == UINT32_MAX)
            idle = c;
    }
    return idle;
}

/* The earliest slot from `ready` on; starts to try are `ready` and the ends of what is there. */
static inline struct judge_use judge_slot(const struct judge *j, const struct judge_use *use,
                                          uint32_t n, uint32_t a, uint32_t b, double ready,
                                          double time)
{
    struct judge_use best = {.a = a, .b = b, .start = INFINITY};
    for (uint32_t k = 0; k <= n; k++) {
        double start = k == n ? ready : use[k].end;
        if (start < ready || start >= best.start)
            continue;
        bool linked = false;
        for (uint32_t i = 0; i < n; i++)
            linked |= ((use[i].a == a && use[i].b == b) || (use[i].a == b && use[i].b == a)) &&
                      judge_overlaps(&use[i], start, start + time);
        if (linked)
            continue;
        uint32_t at_a = judge_channel(j, use, n, a, b, start, start + time);
        uint32_t at_b = judge_channel(j, use, n, b, a, start, start + time);
        if (at_a == UINT32_MAX || at_b == UINT32_MAX)
            continue;
        best.channel_a = at_a;
        best.channel_b = at_b;
        best.start = start;
        best.end = start + time;
    }
    return best;
}

/* ---- a mapping ---- */

/* Task t has copies in the clusters of in[t]; home[t] feeds clusters that have none. False: its latency is above `most`, or
 * it takes more than `nodes` to have the throughput. */
static inline bool judge_mapping(const struct judge *j, uint32_t clusters, const uint32_t *in,
                                 const uint32_t *home, double throughput, uint32_t nodes,
                                 double most, double *latency)
{
    struct judge_use use[JUDGE_EDGES * 2];
    uint32_t sent[JUDGE_EDGES] = {0}, n = 0, next = 0, total = 0; /* sent: by object, clusters */
    double end[JUDGE_TASKS][JUDGE_TASKS], came[JUDGE_TASKS][JUDGE_TASKS];
    double busy[JUDGE_TASKS] = {0}, sum[JUDGE_TASKS] = {0}, cycle[JUDGE_TASKS] = {0};
    uint32_t group[JUDGE_TASKS];
    *latency = 0;
    memset(came, 0, sizeof came);
    for (uint32_t t = 0; t < j->ntasks; t++)
        for (uint32_t c = 0; c < clusters; c++)
            sum[c] += in[t] >> c & 1 ? j->time[t] : 0;
    for (uint32_t c = 0; c < clusters; c++)
        total += (uint32_t)fmax(1, ceil(throughput * sum[c] - 1e-7));
    if (total > nodes)
        return false;
    for (uint32_t i = 0; i < j->ntasks; i++) {
        uint32_t t = j->by_level[i];
        for (; next < j->nedges && j->edge[next].level >= j->level[t]; next++) {
            const struct judge_edge *e = &j->edge[next];
            uint32_t a = home[e->from];
            for (uint32_t b = 0; b < clusters; b++) {
                if (!(in[e->to] >> b & 1) || in[e->from] >> b & 1 || sent[e->object] >> b & 1)
                    continue;
                sent[e->object] |= 1u << b;
                struct judge_use x = judge_slot(j, use, n, a, b, 0, e->time);
                double begin = end[e->from][a];
                for (uint32_t k = 0; k < n; k++) {
                    const struct judge_use *u = &use[k];
                    bool before = (u->a == a && u->b == b) || (u->a == b && u->b == a);
                    before |= u->a == a && u->channel_a == x.channel_a;
                    before |= u->b == a && u->channel_b == x.channel_a;
                    before |= u->a == b && u->channel_a == x.channel_b;
                    before |= u->b == b && u->channel_b == x.channel_b;
                    begin = before && u->latency_end > begin ? u->latency_end : begin;
                }
                x.latency_end = begin + e->time;
                use[n++] = x;
                /* whoever reads the object there */
                for (uint32_t k = 0; k < j->nedges; k++)
                    if (j->edge[k].object == e->object && in[j->edge[k].to] >> b & 1)
                        came[j->edge[k].to][b] = fmax(came[j->edge[k].to][b], x.latency_end);
            }
        }
        for (uint32_t c = 0; c < clusters; c++) {
            if (!(in[t] >> c & 1))
                continue;
            double start = fmax(busy[c], came[t][c]);
            for (uint32_t k = 0; k < j->nedges; k++)
                if (j->edge[k].to == t && in[j->edge[k].from] >> c & 1)
                    start = fmax(start, end[j->edge[k].from][c]);
            busy[c] = end[t][c] = start + j->time[t];
            *latency = fmax(*latency, end[t][c]);
        }
        if (*latency > most)
            return false;
    }
    /* clusters that exchange are one component: all have the longest window of a channel */
    for (uint32_t c = 0; c < clusters; c++)
        group[c] = c;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0, from = group[use[i].a], to = group[use[i].b]; c < clusters; c++)
            group[c] = group[c] == from ? to : group[c];
    for (uint32_t c = 0; c < clusters; c++)
        for (uint32_t channel = 0; channel < JUDGE_CHANNELS; channel++) {
            double first = INFINITY, last = 0;
            for (uint32_t i = 0; i < n; i++)
                if ((use[i].a == c && use[i].channel_a == channel) ||
                    (use[i].b == c && use[i].channel_b == channel)) {
                    first = fmin(first, use[i].start);
                    last = fmax(last, use[i].end);
                }
            if (first < INFINITY)
                cycle[group[c]] = fmax(cycle[group[c]], last - first);
        }
    total = 0;
    for (uint32_t c = 0; c < clusters; c++)
        total += (uint32_t)fmax(
            1, fmax(ceil(throughput * sum[c] - 1e-7), ceil(throughput * cycle[group[c]] - 1e-7)));
    return total <= nodes;
}

/* ---- one item at a time ---- */

/* When task t would end on processor p, and the transfers for that. */
static inline double judge_place(const struct judge *j, uint32_t t, uint32_t p,
                                 const uint32_t *processor, const double *start, const double *end,
                                 const bool *placed, struct judge_use *use, uint32_t *n,
                                 double came[][JUDGE_EDGES])
{
    bool taken[JUDGE_EDGES] = {0};
    double ready = 0, at;
    for (;;) { /* inputs in order of their producers' ends, then of objects */
        uint32_t next = UINT32_MAX;
        for (uint32_t k = 0; k < j->nedges; k++) {
            const struct judge_edge *e = &j->edge[k], *f = next == UINT32_MAX ? e : &j->edge[next];
            if (e->to == t && !taken[k] &&
                (next == UINT32_MAX || end[e->from] < end[f->from] ||
                 (end[e->from] == end[f->from] && e->object < f->object)))
                next = k;
        }
        if (next == UINT32_MAX)
            break;
        const struct judge_edge *e = &j->edge[next];
        taken[next] = true;
        double there = end[e->from];
        if (processor[e->from] != p) {
            if (came[p][e->object] == 0) {
                use[*n] = judge_slot(j, use, *n, processor[e->from], p, there, e->time);
                came[p][e->object] = use[(*n)++].end;
            }
            there = came[p][e->object];
        }
        ready = fmax(ready, there);
    }
    at = ready;
    for (bool moved = true; moved;) { /* the first gap */
        moved = false;
        for (uint32_t u = 0; u < j->ntasks; u++)
            if (placed[u] && processor[u] == p && at < end[u] && start[u] < at + j->time[t]) {
                at = end[u];
                moved = true;
            }
    }
    return at + j->time[t];
}

/* The list schedule that is not pipelined: its makespan. */
static inline double judge_item(const struct judge *j, uint32_t processors)
{
    struct judge_use use[JUDGE_EDGES * 2];
    static double came[JUDGE_TASKS * 2][JUDGE_EDGES], tried[JUDGE_TASKS * 2][JUDGE_EDGES];
    uint32_t n = 0, processor[JUDGE_TASKS] = {0};
    double start[JUDGE_TASKS] = {0}, end[JUDGE_TASKS] = {0}, makespan = 0;
    bool placed[JUDGE_TASKS] = {0};
    memset(came, 0, sizeof came);
    for (uint32_t i = 0; i < j->ntasks; i++) {
        uint32_t t = j->by_level[i], best = 0;
        double least = INFINITY;
        for (uint32_t p = 0; p < processors; p++) {
            uint32_t copy = n;
            memcpy(tried, came, sizeof came);
            double finish = judge_place(j, t, p, processor, start, end, placed, use, &copy, tried);
            if (finish < least) {
                least = finish;
                best = p;
            }
        }
        end[t] = judge_place(j, t, best, processor, start, end, placed, use, &n, came);
        start[t] = end[t] - j->time[t];
        processor[t] = best;
        placed[t] = true;
        makespan = fmax(makespan, end[t]);
    }
    return makespan;
}
