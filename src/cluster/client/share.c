/* Which agent gets which task (share.h). Only where a run begins: stealing balances it later. Pure;
 * the same input gives the same shares.
 *
 *     many branches side by side           few columns, many rows
 *
 *     a a a a | b b b b                    a a | b b
 *     │ │ │ │ | │ │ │ │                    │╳│ ╳ │╳│
 *     a a a a | b b b b                    a a | b b
 *                                          │╳│ ╳ │╳│
 *     connected shares: hardly an          shares of each level: connected ones would be rows 1 to n/2
 *     edge between agents                  and the rest, and one agent could only begin after the other
 */
#include "cluster/client/share.h"

#include "base/mem.h"
#include "model/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Connected shares are good enough when they take no longer than this times the least that any shares take. */
static const double share_good_enough = 1.25;
/* Seconds that agents and store work for an edge from one agent to another, and bytes a second on its way; what a
 * task takes at least of which nothing is known: a call is worth handing in, a command is a process. */
static const double share_edge_seconds = 10e-6, share_bandwidth = 1.25e8,
                    share_call_seconds = 10e-6, share_command_seconds = 10e-3;

/* Every task after all that it needs, and what a task needs right before it: a walk back from the
 * tasks that nobody waits for, by number. Consecutive parts of this order have few edges between
 * them. O(V + E), no recursion. */
static uint32_t *share_order(const struct workflow *w)
{
    uint32_t *order = mem_new(uint32_t, w->ntasks), *stack = mem_new(uint32_t, w->ntasks);
    uint32_t *next = mem_new(uint32_t, w->ntasks); /* the edge to look at next */
    uint8_t *seen = mem_new_zero(uint8_t, w->ntasks);
    uint32_t n = 0, depth = 0;
    for (uint32_t sink = 0; sink < w->ntasks; sink++) {
        if (w->succ_off[sink] != w->succ_off[sink + 1])
            continue;
        stack[depth++] = sink;
        seen[sink] = 1;
        next[sink] = w->pred_off[sink];
        while (depth) {
            uint32_t task = stack[depth - 1];
            if (next[task] == w->pred_off[task + 1]) {
                order[n++] = task;
                depth--;
                continue;
            }
            uint32_t parent = w->pred_task[next[task]++];
            if (!seen[parent]) {
                seen[parent] = 1;
                next[parent] = w->pred_off[parent];
                stack[depth++] = parent;
            }
        }
    }
    free(stack);
    free(next);
    free(seen);
    return order;
}

/* What counts of a task: its work when all that must run have one, else 1. */
static bool share_all_have_work(const struct workflow *w, const uint8_t *skip)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!(skip && skip[t]) && !(w->work[t] > 0))
            return false;
    return true;
}

/* The graph as the shares see it: tasks without a home do not count. */
struct share_graph {
    const struct workflow *w;
    bool by_work;
    uint32_t n;      /* agents */
    uint32_t *order; /* share_order() */
    /* Tasks of level l, in that order: by_level[level_off[l] .. level_off[l + 1]) */
    uint32_t levels, *level_off, *by_level;
    /* What each agent has of a level; of another one it is nothing. */
    double *load;
    uint32_t *load_level;
};

static double share_graph_weight(const struct share_graph *g, uint32_t task)
{
    return g->by_work ? g->w->work[task] : 1;
}

static double *share_graph_load(const struct share_graph *g, uint32_t level, uint32_t agent)
{
    if (g->load_level[agent] != level) {
        g->load_level[agent] = level;
        g->load[agent] = 0;
    }
    return &g->load[agent];
}

static void share_find_levels(struct share_graph *g, const uint32_t *home)
{
    const struct workflow *w = g->w;
    uint32_t *depth = mem_new(uint32_t, w->ntasks);
    g->levels = graph_depths(w, depth);
    g->level_off = mem_new_zero(uint32_t, g->levels + 2);
    g->by_level = mem_new(uint32_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (home[t] != NONE)
            g->level_off[depth[t] + 1]++; /* the first level has depth 1 */
    for (uint32_t l = 0; l <= g->levels; l++)
        g->level_off[l + 1] += g->level_off[l];
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t task = g->order[i];
        if (home[task] != NONE)
            g->by_level[g->level_off[depth[task]]++] = task;
    }
    free(
        depth); /* what was counted up moved each offset to the next level's: levels begin at 0 now */
    g->load = mem_new(double, g->n);
    g->load_level = mem_new(uint32_t, g->n);
}

static void share_forget_loads(const struct share_graph *g)
{
    for (uint32_t a = 0; a < g->n; a++)
        g->load_level[a] = NONE;
}

/* Consecutive parts of the order, of equal weight: home[t] is a place in the list. A task belongs to
 * the part in which its middle lies, so that one heavy task does not push all others along.
 * O(V + E). */
static void share_connected(const struct share_graph *g, uint32_t *home)
{
    double total = 0, before = 0;
    for (uint32_t t = 0; t < g->w->ntasks; t++)
        if (home[t] != NONE)
            total += share_graph_weight(g, t);
    for (uint32_t i = 0; i < g->w->ntasks; i++) {
        uint32_t task = g->order[i];
        if (home[task] == NONE)
            continue;
        double weight = share_graph_weight(g, task);
        double part = (before + weight / 2) / total * g->n; /* a task is where its middle is */
        home[task] = part < g->n ? (uint32_t)part : g->n - 1;
        before += weight;
    }
}

/* What agents take that begin a level together, and the next when all have ended; and the least that any
 * shares take so. In weights. O(V + levels). */
static double share_graph_takes(const struct share_graph *g, const uint32_t *home, double *least)
{
    double takes = 0;
    *least = 0;
    share_forget_loads(g);
    for (uint32_t l = 0; l < g->levels; l++) {
        double most = 0, total = 0, heaviest = 0;
        for (uint32_t i = g->level_off[l]; i < g->level_off[l + 1]; i++) {
            double weight = share_graph_weight(g, g->by_level[i]);
            double *load = share_graph_load(g, l, home[g->by_level[i]]);
            *load += weight;
            total += weight;
            most = fmax(most, *load);
            heaviest = fmax(heaviest, weight);
        }
        takes += most;
        *least += fmax(total / g->n, heaviest);
    }
    return takes;
}

/* Seconds that go by for what agents hand to each other: an object goes to an agent once, whoever reads it
 * there. O(V + E). */
static double share_cut_seconds(const struct share_graph *g, const uint32_t *home)
{
    const struct workflow *w = g->w;
    double seconds = 0;
    share_forget_loads(g);
    for (uint32_t o = 0; o < w->nobjects; o++) {
        uint32_t count = 0, from = w->producer[o] == NONE ? NONE : home[w->producer[o]];
        const uint32_t *readers = workflow_consumers(w, o, &count);
        for (uint32_t i = 0; from != NONE && i < count; i++) {
            uint32_t to = home[readers[i]];
            if (to == NONE || to == from || *share_graph_load(g, o, to) > 0)
                continue;
            *share_graph_load(g, o, to) = 1;
            seconds += share_edge_seconds + w->size[o] / share_bandwidth;
        }
    }
    for (uint32_t t = 0; t < w->ntasks; t++) /* edges without an object */
        for (uint32_t e = w->pred_off[t]; home[t] != NONE && e < w->pred_off[t + 1]; e++)
            if (w->pred_object[e] == NONE && home[w->pred_task[e]] != NONE &&
                home[w->pred_task[e]] != home[t])
                seconds += share_edge_seconds;
    return seconds;
}

/* Seconds of a weight of 1. */
static double share_graph_seconds(const struct share_graph *g, const double *seconds,
                                  const uint32_t *home)
{
    double sum = 0, weight = 0;
    bool commands = false;
    for (uint32_t t = 0; t < g->w->ntasks; t++) {
        if (home[t] == NONE)
            continue;
        commands = commands || !(g->w->flags[t] & TASK_CALL);
        if (seconds && seconds[t] > 0) {
            sum += seconds[t];
            weight += share_graph_weight(g, t);
        }
    }
    return weight > 0   ? sum / weight
           : g->by_work ? 1
           : commands   ? share_command_seconds
                        : share_call_seconds;
}

/* Where most of its parents are, the first among equals; NONE: nowhere. O(parents), but for one with more
 * than a few, whose first stand for all. */
static uint32_t share_at_parents(const struct workflow *w, uint32_t task, const uint32_t *home)
{
    enum { LOOK = 16 };
    uint32_t best = NONE, most = 0, first = w->pred_off[task];
    uint32_t end = w->pred_off[task + 1] - first > LOOK ? first + LOOK : w->pred_off[task + 1];
    for (uint32_t e = first; e < end; e++) {
        uint32_t at = home[w->pred_task[e]], same = 0;
        for (uint32_t f = first; at != NONE && f < end; f++)
            same += home[w->pred_task[f]] == at;
        if (same > most) {
            most = same;
            best = at;
        }
    }
    return best;
}

/* A part of each level, as large as the others' and near what it reads. O(V + E). */
static void share_levels(const struct share_graph *g, uint32_t *home)
{
    share_forget_loads(g);
    for (uint32_t l = 0; l < g->levels; l++) {
        double total = 0;
        for (uint32_t i = g->level_off[l]; i < g->level_off[l + 1]; i++)
            total += share_graph_weight(g, g->by_level[i]);
        uint32_t next = 0; /* all before it have their part */
        for (uint32_t i = g->level_off[l]; i < g->level_off[l + 1]; i++) {
            uint32_t task = g->by_level[i], at = share_at_parents(g->w, task, home);
            double weight = share_graph_weight(g, task), part = total / g->n * (1 + 1e-9);
            double *load = at == NONE ? NULL : share_graph_load(g, l, at);
            if (!load || (*load > 0 && *load + weight / 2 > part)) {
                while (next + 1 < g->n && *share_graph_load(g, l, next) > 0 &&
                       *share_graph_load(g, l, next) + weight / 2 > part)
                    next++;
                at = next;
                load = share_graph_load(g, l, at);
            }
            *load += weight;
            home[task] = at;
        }
    }
}

/* Connected shares, or shares of each level where these end sooner by more than their edges cost. */
static void share_evenly(const struct workflow *w, const struct share_agents *agents,
                         const uint8_t *skip, uint32_t *home)
{
    struct share_graph g = {
        .w = w, .n = agents->n, .by_work = share_all_have_work(w, skip), .order = share_order(w)};
    share_find_levels(&g, home);
    share_connected(&g, home);
    double least, takes = share_graph_takes(&g, home, &least);
    if (takes > share_good_enough * least) {
        uint32_t *leveled = mem_new(uint32_t, w->ntasks);
        memcpy(leveled, home, w->ntasks * sizeof *home);
        share_levels(&g, leveled);
        double saved = takes - share_graph_takes(&g, leveled, &least);
        double cut = share_cut_seconds(&g, leveled) - share_cut_seconds(&g, home);
        if (saved * share_graph_seconds(&g, agents->seconds, home) > cut)
            memcpy(home, leveled, w->ntasks * sizeof *home);
        free(leveled);
    }
    free(g.order);
    free(g.level_off);
    free(g.by_level);
    free(g.load);
    free(g.load_level);
}

/* A task that its agent has no room for goes to the next that has, in turn. O(tasks) while all fit. */
static void share_by_room(const struct workflow *w, const struct share_agents *agents,
                          uint32_t *home)
{
    uint32_t turn = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        struct capacity asks = capacity_demand(w, t);
        if (home[t] == NONE || capacity_fits(&agents->capacity[home[t]], &asks))
            continue;
        for (uint32_t i = 0; i < agents->n; i++) {
            uint32_t at = (turn + i) % agents->n;
            if (!capacity_fits(&agents->capacity[at], &asks))
                continue;
            home[t] = at;
            turn = at + 1;
            break;
        }
    }
}

void share_tasks(const struct workflow *w, enum share_kind kind, const struct share_agents *agents,
                 const uint8_t *skip, uint32_t *home)
{
    for (uint32_t t = 0; t < w->ntasks; t++)
        home[t] = skip && skip[t] ? NONE : 0;
    if (kind == SHARE_BEST && agents->n > 1 && w->ntasks)
        share_evenly(w, agents, skip, home);
    if (agents->capacity && agents->n > 1)
        share_by_room(w, agents, home);
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (home[t] != NONE)
            home[t] = agents->nodes[home[t]];
}
