/* DagHetMem and DagHetPart: Kulagina, Meyerhenke, Benoit 2024 (arXiv 2407.09077).
 *
 * daghetmem takes the tasks in an order that needs little memory and fills node after node, the largest first,
 * never going back. daghetpart works on blocks, one a node:
 *
 *     1 partition   k blocks of about equal work with few bytes between them (acyclic.h), for several k and orders
 *     2 fit         the block that needs most goes to the largest free node; if it does not fit, it is halved
 *     3 merge       a block without a node joins the one with which the makespan of the blocks is shortest, the
 *                   graph of blocks has no cycle and memory suffices
 *     4 swap        nodes of two blocks, or of one and an idle node, are exchanged while that helps
 *
 * The mapping of daghetmem goes through step 4, too, and is the answer where nothing is shorter, so that daghetpart is
 * never longer than its yardstick; the published one may be.
 *
 * The published program cuts with dagP and finds traversals with memDag; here acyclic.h and traversal.h. A block's memory is that of its tasks in this order, files from and for other blocks counted while
 * their task runs. Makespans of blocks are the paper's: a block starts when all blocks before it have ended and
 * sent. The plan itself is then made by keep.h with the nodes of the blocks, task by task, and is shorter. */
#include "plan/memory/acyclic.h"
#include "plan/memory/fill.h"
#include "plan/memory/traversal.h"
#include "plan/memory/within.h"
#include "plan/planner.h"
#include <math.h>
#include <string.h>

/* Larger graphs are cut in one order only, for the time's sake. */
enum { MOST_BLOCKS = 512, SWAP_ROUNDS = 20, MANY_TASKS = 20000 };

struct dag_blocks {
    const struct workflow *w;
    const struct platform *p;
    const struct costs *costs;
    const uint32_t *order;
    uint32_t *place;  /* per task: in the order */
    uint32_t *block;  /* per task */
    uint32_t *member; /* tasks by block, each block's in the order: blocks_list() */
    uint32_t from[MOST_BLOCKS + 2];
    uint32_t n;                 /* blocks, some of them empty after merges */
    uint32_t node[MOST_BLOCKS]; /* NONE: not given */
    double work[MOST_BLOCKS];   /* 0: empty */
    double peak[MOST_BLOCKS];
    uint32_t tasks[MOST_BLOCKS];
    double *bytes;  /* n x n: what one sends to another; -1: nothing */
    uint32_t *left; /* per object, scratch */
};

/* The tasks of each block, after changes of block[]: O(tasks). */
static void blocks_list(struct dag_blocks *s)
{
    memset(s->from, 0, (s->n + 2) * sizeof *s->from);
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        s->from[s->block[t] + 2]++;
    for (uint32_t b = 0; b < s->n; b++)
        s->from[b + 2] += s->from[b + 1];
    for (uint32_t i = 0; i < s->w->ntasks; i++)
        s->member[s->from[s->block[s->order[i]] + 1]++] = s->order[i];
}

/* The task of two rows that comes first in the order; it is passed. */
static uint32_t block_next(const struct dag_blocks *s, uint32_t at[2], const uint32_t end[2])
{
    int row = at[0] == end[0];
    if (at[0] < end[0] && at[1] < end[1])
        row = s->place[s->member[at[1]]] < s->place[s->member[at[0]]];
    return s->member[at[row]++];
}

/* The memory of the tasks of block a (and of b, taken for the same block; NONE: no other) in their order. O(their edges). */
static double block_peak(const struct dag_blocks *s, uint32_t a, uint32_t b)
{
    const struct workflow *w = s->w;
    double waiting = 0, peak = 0;
    uint32_t at[2] = {s->from[a], b == NONE ? 0 : s->from[b]};
    const uint32_t end[2] = {s->from[a + 1], b == NONE ? 0 : s->from[b + 1]};
    while (at[0] < end[0] || at[1] < end[1]) {
        uint32_t t = block_next(s, at, end);
        double now = waiting + keep_task_bytes(w, t), freed = 0;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t o = w->pred_object[e], from = s->block[w->pred_task[e]];
            if (o == NONE || (from != a && from != b))
                continue;
            now -= w->size[o]; /* it is among what waits */
            freed += --s->left[o] == 0 ? w->size[o] : 0;
        }
        peak = fmax(peak, now);
        waiting -= freed;
        for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++) {
            uint32_t count, inside = 0;
            const uint32_t *reader = workflow_consumers(w, o, &count);
            for (uint32_t k = 0; k < count; k++)
                inside += s->block[reader[k]] == a || s->block[reader[k]] == b;
            s->left[o] = inside;
            waiting += inside ? w->size[o] : 0;
        }
    }
    return peak;
}

/* Members, work, tasks and traffic of all blocks anew: O(edges + n^2). */
static void blocks_measure(struct dag_blocks *s)
{
    const struct workflow *w = s->w;
    blocks_list(s);
    for (uint32_t b = 0; b < s->n; b++)
        s->work[b] = s->tasks[b] = 0;
    for (size_t i = 0; i < (size_t)s->n * s->n; i++)
        s->bytes[i] = -1;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t a = s->block[t];
        s->work[a] += w->work[t];
        s->tasks[a]++;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t b = s->block[w->succ_task[e]], o = w->succ_object[e];
            double *cell = &s->bytes[(size_t)a * s->n + b];
            if (a != b)
                *cell = fmax(*cell, 0) + (o == NONE ? 0 : w->size[o]);
        }
    }
}

/* The paper's makespan of the blocks, as if `from` were part of `into` (NONE: as they are). Blocks without a
 * node count at speed 1. INFINITY: there is a cycle. O(n^2). */
static double blocks_makespan(const struct dag_blocks *s, uint32_t from, uint32_t into)
{
    double ready[MOST_BLOCKS] = {0}, end[MOST_BLOCKS], last = 0;
    uint32_t missing[MOST_BLOCKS] = {0}, queue[MOST_BLOCKS], n = s->n, head = 0, tail = 0, seen = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            if (s->bytes[(size_t)a * n + b] >= 0) {
                uint32_t x = a == from ? into : a, y = b == from ? into : b;
                missing[y] += x != y;
            }
    for (uint32_t a = 0; a < n; a++)
        if (a != from && s->tasks[a]) {
            seen++;
            if (!missing[a])
                queue[tail++] = a;
        }
    while (head < tail) {
        uint32_t a = queue[head++], members[2] = {a, a == into ? from : NONE};
        double work = s->work[a] + (members[1] != NONE ? s->work[from] : 0);
        end[a] = ready[a] + work / (s->node[a] == NONE ? 1 : s->p->speed[s->node[a]]);
        last = fmax(last, end[a]);
        for (int m = 0; m < 2 && members[m] != NONE; m++)
            for (uint32_t b = 0; b < n; b++) {
                double bytes = s->bytes[(size_t)members[m] * n + b];
                uint32_t y = b == from ? into : b;
                if (bytes < 0 || y == a)
                    continue;
                double moves = s->node[a] != NONE && s->node[y] != NONE
                                   ? platform_transfer(s->p, s->node[a], s->node[y], bytes)
                                   : s->p->latency + bytes / s->p->bandwidth;
                ready[y] = fmax(ready[y], end[a] + moves);
                if (--missing[y] == 0)
                    queue[tail++] = y;
            }
    }
    return tail == seen ? last : INFINITY;
}

/* ---- the four steps ---- */

/* 1 */
static void blocks_partition(struct dag_blocks *s, const uint32_t *order, uint32_t k)
{
    acyclic_partition(s->w, order, k, s->block);
    s->n = k;
    for (uint32_t b = 0; b < k; b++)
        s->node[b] = NONE;
}

/* The second half of block b, in the order, becomes a block of its own. */
static void blocks_halve(struct dag_blocks *s, uint32_t b)
{
    uint32_t keep = s->tasks[b] / 2, added = s->n++;
    s->node[added] = NONE;
    for (uint32_t i = s->from[b] + keep; i < s->from[b + 1]; i++)
        s->block[s->member[i]] = added;
    s->tasks[added] = s->tasks[b] - keep;
    s->tasks[b] = keep;
    blocks_list(s);
}

static uint32_t largest_free_node(const struct dag_blocks *s)
{
    uint32_t best = NONE;
    for (uint32_t n = 0; n < s->p->nnodes; n++) {
        bool free_node = s->p->up[n];
        for (uint32_t b = 0; b < s->n && free_node; b++)
            free_node = s->node[b] != n;
        if (free_node && (best == NONE || s->p->memory[n] > s->p->memory[best]))
            best = n;
    }
    return best;
}

/* 2: the block that needs most to the largest node that is free; false: a task alone is too large. */
static bool blocks_fit(struct dag_blocks *s)
{
    for (uint32_t b = 0; b < s->n; b++)
        s->peak[b] = block_peak(s, b, NONE);
    for (;;) {
        uint32_t most = NONE, node = largest_free_node(s);
        for (uint32_t b = 0; b < s->n; b++)
            if (s->tasks[b] && s->node[b] == NONE && (most == NONE || s->peak[b] > s->peak[most]))
                most = b;
        if (most == NONE || node == NONE)
            return true; /* what is left is merged */
        if (s->peak[most] <= s->p->memory[node]) {
            s->node[most] = node;
            continue;
        }
        if (s->tasks[most] < 2 || s->n == MOST_BLOCKS)
            return s->n == MOST_BLOCKS; /* too many: merged as far as that goes */
        blocks_halve(s, most);
        s->peak[most] = block_peak(s, most, NONE);
        s->peak[s->n - 1] = block_peak(s, s->n - 1, NONE);
    }
}

/* 3: false: some block can join nobody. */
static bool blocks_merge(struct dag_blocks *s)
{
    blocks_measure(s);
    for (uint32_t u = 0; u < s->n; u++) {
        if (!s->tasks[u] || s->node[u] != NONE)
            continue;
        uint32_t best = NONE;
        double shortest = INFINITY, best_peak = 0;
        for (uint32_t v = 0; v < s->n; v++) {
            if (v == u || !s->tasks[v] || s->node[v] == NONE)
                continue;
            double makespan = blocks_makespan(s, u, v);
            double peak = makespan < shortest ? block_peak(s, v, u) : INFINITY;
            if (peak <= s->p->memory[s->node[v]]) {
                best = v;
                shortest = makespan;
                best_peak = peak;
            }
        }
        if (best == NONE)
            return false;
        for (uint32_t i = s->from[u]; i < s->from[u + 1]; i++)
            s->block[s->member[i]] = best;
        s->peak[best] = best_peak;
        blocks_measure(s);
    }
    return true;
}

/* Block a goes to `node`, and the block that is there, if any, to a's. False: they do not fit. */
static bool exchange_nodes(struct dag_blocks *s, uint32_t a, uint32_t node)
{
    uint32_t old = s->node[a], b = 0;
    while (b < s->n && (!s->tasks[b] || s->node[b] != node))
        b++;
    if (node == old || !s->p->up[node] || s->peak[a] > s->p->memory[node] ||
        (b < s->n && s->peak[b] > s->p->memory[old]))
        return false;
    s->node[a] = node;
    if (b < s->n)
        s->node[b] = old;
    return true;
}

/* 4: the first exchange that helps is made, until none does. */
static double blocks_swap(struct dag_blocks *s)
{
    double makespan = blocks_makespan(s, NONE, NONE);
    bool better = true;
    for (int round = 0; round < SWAP_ROUNDS && better; round++) {
        better = false;
        for (uint32_t a = 0; a < s->n; a++)
            for (uint32_t node = 0; s->tasks[a] && node < s->p->nnodes; node++) {
                uint32_t old = s->node[a];
                if (!exchange_nodes(s, a, node))
                    continue;
                double now = blocks_makespan(s, NONE, NONE);
                if (now < makespan * (1 - 1e-9)) {
                    makespan = now;
                    better = true;
                } else {
                    exchange_nodes(s, a, old);
                }
            }
    }
    return makespan;
}

/* ---- the planners ---- */

/* Task by task on the nodes of the blocks; where that comes to a standstill, tasks may leave them. */
static struct plan *blocks_plan(struct dag_blocks *s, const double *key)
{
    uint32_t *node = mem_new(uint32_t, s->w->ntasks), stuck;
    for (uint32_t t = 0; t < s->w->ntasks; t++)
        node[t] = s->node[s->block[t]];
    struct keep_schedule *k = keep_new(s->costs);
    struct plan *plan = NULL;
    for (int leave = 0; leave < 2 && !plan; leave++) {
        struct fill f = {.key = key, .choice = FILL_RESERVE, .node = node, .prefer = leave};
        keep_reset(k);
        if (fill_schedule(k, &f, &stuck))
            plan = keep_plan(k);
    }
    keep_free(k);
    free(node);
    return plan;
}

/* The shortest plan so far, by the measure that was asked for. */
struct daghet_best {
    struct plan *plan;
    double value;
    bool by_blocks;
};

/* Takes the plan, which may be NULL. */
static void daghet_offer(struct daghet_best *best, struct plan *plan, double blocks)
{
    double value = plan && !best->by_blocks ? plan_makespan(plan) : blocks;
    if (plan && (!best->plan || value < best->value)) {
        plan_free(best->plan);
        best->plan = plan;
        best->value = value;
    } else {
        plan_free(plan);
    }
}

/* DagHetMem's plan as blocks, one a node that it uses. */
static void blocks_of_plan(struct dag_blocks *s, const struct plan *plan)
{
    uint32_t *of = mem_new(uint32_t, s->p->nnodes);
    for (uint32_t n = 0; n < s->p->nnodes; n++)
        of[n] = NONE;
    s->n = 0;
    for (size_t i = 0; i < plan->placements.n; i++) {
        const struct placement *x = &plan->placements.at[i];
        if (of[x->node] == NONE) {
            s->node[s->n] = x->node;
            of[x->node] = s->n++;
        }
        s->block[x->task] = of[x->node];
    }
    free(of);
    blocks_measure(s);
    for (uint32_t b = 0; b < s->n; b++)
        s->peak[b] = block_peak(s, b, NONE);
}

/* Several numbers of blocks and several orders to cut; the baseline is one more. */
static struct plan *partition_best(struct dag_blocks *s, const double *key, struct plan *baseline,
                                   bool by_blocks)
{
    struct daghet_best best = {.by_blocks = by_blocks};
    uint32_t nodes = s->p->nnodes < MOST_BLOCKS / 2 ? s->p->nnodes : MOST_BLOCKS / 2;
    uint32_t *deep = traversal_deep(s->w);
    const uint32_t *orders[] = {s->order, deep, s->w->topo};
    size_t norders = s->w->ntasks <= MANY_TASKS ? sizeof orders / sizeof *orders : 1;
    if (baseline && baseline->placements.n == s->w->ntasks && s->p->nnodes <= MOST_BLOCKS) {
        blocks_of_plan(s, baseline);
        daghet_offer(&best, baseline, blocks_makespan(s, NONE, NONE));
        double makespan = blocks_swap(s);
        daghet_offer(&best, blocks_plan(s, key), makespan);
    } else {
        daghet_offer(&best, baseline, INFINITY);
    }
    for (uint32_t k = nodes; k > 0; k = k * 3 / 4)
        for (size_t i = 0; k <= s->w->ntasks && i < norders; i++) {
            blocks_partition(s, orders[i], k);
            blocks_measure(s);
            if (!blocks_fit(s) || !blocks_merge(s))
                continue;
            double makespan = blocks_swap(s);
            if (!by_blocks || makespan < best.value || !best.plan)
                daghet_offer(&best, blocks_plan(s, key), makespan);
        }
    free(deep);
    return best.plan;
}

static const struct option daghetpart_options[] = {
    {"measure", OPTION_CHOICE, "tasks", "tasks|blocks", 0, 0,
     "which plan is the shortest: tasks, as it is carried out; blocks, as the paper counts, where "
     "a block begins when all "
     "blocks before it have ended and sent"},
    {0},
};
extern const struct planner planner_daghetpart;

/* Both share the order that needs little memory. DagHetMem fills node after node with it; DagHetPart
 * cuts it into blocks. Where files do not count neither has a reason to fail, and the plan is a list
 * schedule in that order. */
static struct plan *daghet_run(const struct plan_request *request, bool partition,
                               struct error *err)
{
    const struct workflow *w = request->workflow;
    if (platform_limits_ports(request->platform) || w->asks)
        return within_plain_list(request, false, err);
    struct costs *costs = costs_new(w, request->platform, err);
    if (!costs)
        return NULL;
    double peak, *key = mem_new(double, w->ntasks);
    uint32_t *order = traversal_best(w, &peak), stuck = NONE;
    for (uint32_t i = 0; i < w->ntasks; i++)
        key[order[i]] = i;
    struct keep_schedule *in_turn = keep_new(costs);
    struct fill turns = {.key = key, .choice = FILL_IN_TURN, .strict = true};
    struct plan *plan = fill_schedule(in_turn, &turns, &stuck) ? keep_plan(in_turn) : NULL;
    keep_free(in_turn);
    if (partition && w->ntasks) { /* nothing cannot be cut */
        struct dag_blocks *s = mem_new_zero(struct dag_blocks, 1);
        *s = (struct dag_blocks){.w = w, .p = request->platform, .costs = costs, .order = order};
        s->block = mem_new_zero(uint32_t, w->ntasks);
        s->member = mem_new(uint32_t, w->ntasks);
        s->place = mem_new(uint32_t, w->ntasks);
        for (uint32_t i = 0; i < w->ntasks; i++)
            s->place[order[i]] = i;
        s->left = mem_new_zero(uint32_t, w->nobjects);
        s->bytes = mem_new(double, (size_t)MOST_BLOCKS *MOST_BLOCKS);
        const char *measure = request_text(request, &planner_daghetpart, "measure");
        plan = partition_best(s, key, plan, strcmp(measure, "blocks") == 0);
        free(s->block);
        free(s->member);
        free(s->place);
        free(s->left);
        free(s->bytes);
        free(s);
    }
    if (!plan && !within_asked(request)) { /* then memory is no reason to have none */
        struct keep_schedule *k = keep_new(costs);
        struct fill f = {.key = key, .choice = FILL_EARLIEST};
        plan = fill_schedule(k, &f, &stuck) ? keep_plan(k) : NULL;
        keep_free(k);
    }
    if (!plan && (!within_asked(request) || within_possible(w, costs, err)))
        error_set(err, ERROR_INFEASIBLE,
                  "%s found no mapping within memory%s%s; --with heft-mem may find one",
                  partition ? "daghetpart" : "daghetmem",
                  stuck == NONE ? "" : ": no node is left for ",
                  stuck == NONE ? "" : workflow_task_name(w, stuck));
    free(order);
    free(key);
    costs_free(costs);
    return plan;
}

static struct plan *run_daghetmem(const struct plan_request *request, struct error *err)
{
    return daghet_run(request, false, err);
}

static struct plan *run_daghetpart(const struct plan_request *request, struct error *err)
{
    return daghet_run(request, true, err);
}

#define DAGHET                                                                                     \
    "S. Kulagina, H. Meyerhenke, A. Benoit: Mapping large memory-constrained workflows onto "      \
    "heterogeneous platforms. ICPP Workshops 2024"

const struct planner planner_daghetmem = {
    .name = "daghetmem",
    .family = "memory",
    .summary = "an order that needs little memory, put onto node after node by falling memory: a "
               "yardstick",
    .paper = DAGHET,
    .tie_rule = "nodes of equal memory: the faster, then the lower one",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_daghetmem,
};

const struct planner planner_daghetpart = {
    .name = "daghetpart",
    .family = "memory",
    .summary = "cut a graph into blocks, one a node, that fit into memory; merge and swap them for "
               "the makespan",
    .paper = DAGHET,
    .guarantee = "never longer than daghetmem",
    .tie_rule = "the first block, the first node",
    .options = daghetpart_options,
    .accepts = ACCEPTS_DAG | ACCEPTS_SLOW,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_daghetpart,
};
