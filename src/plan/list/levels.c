/* HLFET (Adam, Chandy, Dickson 1974), MCP (Wu and Gajski 1990) and the older algorithm of Wu and
 * Gajski (1988, as Ahrens et al. 1997 tell it): an order from the levels of the graph, then one
 * look at the nodes.
 *
 * HLFET orders by static level, without communication; Wu-Gajski by the longest path to an output
 * with communication; MCP by the latest start (ALAP time) of the task, then those of its
 * descendants. HLFET and Wu-Gajski append, MCP fills gaps as HEFT does.
 *
 * O(edges + tasks x nodes x log tasks); MCP's order takes O(16 edges + tasks log tasks). Ties in
 * topological order. */
#include "plan/list/list.h"

/* After the last task of a core: where it ends first (HLFET), or where it starts first (Wu and
 * Gajski; starts that differ by rounding only are equal, and the earlier end decides). */
static struct schedule_slot append_best(struct list_run *l, uint32_t task, bool by_start)
{
    struct schedule_slot best = {.start = INFINITY, .finish = INFINITY};
    for (uint32_t n = 0; n < l->p->nnodes; n++) {
        struct schedule_slot slot = schedule_append(l->s, task, n);
        bool better = slot.finish < best.finish;
        if (by_start && !(fabs(slot.start - best.start) <= 1e-9 * best.start))
            better = slot.start < best.start;
        if (better)
            best = slot;
    }
    return best;
}

static struct plan *run_hlfet(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = rank_times(l.costs), *level = rank_static(l.costs, times);
    uint32_t *order = rank_order(l.w, level);
    bool done = true;
    for (uint32_t i = 0; done && i < l.w->ntasks; i++)
        done = list_place(&l, order[i], append_best(&l, order[i], false), err);
    free(times);
    free(level);
    free(order);
    return list_end(&l, done);
}

static struct plan *run_wu_gajski(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = rank_times(l.costs), *level = rank_upward(l.costs, times);
    uint32_t *order = rank_order(l.w, level);
    bool done = true;
    for (uint32_t i = 0; done && i < l.w->ntasks; i++)
        done = list_place(&l, order[i], append_best(&l, order[i], true), err);
    free(times);
    free(level);
    free(order);
    return list_end(&l, done);
}

/* ---- MCP ---- */

/* MCP orders tasks by the sorted list of latest starts of the task and all its descendants. Lists
 * of all descendants would take n^2 room; the first few entries decide nearly always, and those can
 * be merged from the children's. */
enum { MCP_LIST = 16 };

struct mcp {
    const struct workflow *w;
    const double *level; /* latest start = critical path - level */
    uint32_t *list;      /* MCP_LIST tasks a task, by falling level, then rising index */
    uint8_t *length;
    uint32_t *position; /* in topological order */
};

/* The order within a list: the earlier latest start first; the task number makes it total, so that
 * equal entries of two lists meet. */
static bool mcp_before(const struct mcp *m, uint32_t a, uint32_t b)
{
    return m->level[a] > m->level[b] || (m->level[a] == m->level[b] && a < b);
}

/* Merge a child's list into the task's, each entry once, the first MCP_LIST of the result.
 * O(MCP_LIST). */
static void mcp_merge(struct mcp *m, uint32_t task, uint32_t child)
{
    uint32_t *mine = m->list + (size_t)task * MCP_LIST;
    const uint32_t *theirs = m->list + (size_t)child * MCP_LIST;
    uint32_t merged[MCP_LIST], n = 0, i = 0, k = 0;
    while (n < MCP_LIST && (i < m->length[task] || k < m->length[child])) {
        bool both = i < m->length[task] && k < m->length[child];
        if (both && mine[i] == theirs[k]) {
            merged[n++] = mine[i++];
            k++;
        } else if (k == m->length[child] || (both && mcp_before(m, mine[i], theirs[k]))) {
            merged[n++] = mine[i++];
        } else {
            merged[n++] = theirs[k++];
        }
    }
    for (i = 0; i < n; i++)
        mine[i] = merged[i];
    m->length[task] = (uint8_t)n;
}

/* Lexicographic, as the paper compares the lists l(n); a list that ends first comes later. */
static int compare_mcp(const void *a, const void *b, void *context)
{
    const struct mcp *m = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t *p = m->list + (size_t)x * MCP_LIST, *q = m->list + (size_t)y * MCP_LIST;
    for (uint32_t i = 0; i < m->length[x] && i < m->length[y]; i++)
        if (m->level[p[i]] != m->level[q[i]])
            return m->level[p[i]] > m->level[q[i]] ? -1 : 1;
    if (m->length[x] != m->length[y])
        return m->length[x] > m->length[y] ? -1 : 1;
    return m->position[x] < m->position[y] ? -1 : 1;
}

static uint32_t *mcp_order(const struct workflow *w, const double *level)
{
    struct mcp m = {w, level, mem_new(uint32_t, (size_t)w->ntasks * MCP_LIST),
                    mem_new(uint8_t, w->ntasks), mem_new(uint32_t, w->ntasks)};
    uint32_t *order = mem_new(uint32_t, w->ntasks);
    for (uint32_t i = w->ntasks; i-- > 0;) {
        uint32_t task = w->topo[i];
        m.list[(size_t)task * MCP_LIST] = task;
        m.length[task] = 1;
        m.position[task] = i;
        for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++)
            mcp_merge(&m, task, w->succ_task[e]);
        order[i] = task;
    }
    qsort_r(order, w->ntasks, sizeof *order, compare_mcp, &m);
    free(m.list);
    free(m.length);
    free(m.position);
    return order;
}

static struct plan *run_mcp(const struct plan_request *request, struct error *err)
{
    struct list_run l;
    if (!list_begin(&l, request, err))
        return NULL;
    double *times = rank_times(l.costs), *level = rank_upward(l.costs, times);
    uint32_t *order = mcp_order(l.w, level);
    bool done = list_place_in_order(&l, order, err);
    free(times);
    free(level);
    free(order);
    return list_end(&l, done);
}

const struct planner planner_hlfet = {
    .name = "hlfet",
    .family = "list",
    .summary = "highest level first: static levels, then the node where it ends first, without "
               "insertion",
    .paper = "T. L. Adam, K. M. Chandy, J. R. Dickson: A comparison of list schedules for parallel "
             "processing systems. CACM 17(12), 1974",
    .tie_rule = "equal levels: first in topological order; equal ends: lowest node",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_hlfet,
};

const struct planner planner_mcp = {
    .name = "mcp",
    .family = "list",
    .summary = "modified critical path: least latest start first (its descendants' break ties), "
               "then the slot that ends first",
    .paper = "M.-Y. Wu, D. D. Gajski: Hypertool: a programming aid for message-passing systems. "
             "IEEE TPDS 1(3), 1990",
    .tie_rule = "latest starts of the task and its 15 most urgent descendants, compared in order, "
                "then first in topological order; equal ends: lowest node",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_MEDIUM,
    .run = run_mcp,
};

const struct planner planner_wu_gajski = {
    .name = "wu-gajski",
    .family = "list",
    .summary = "longest path to an output first, then the node where it starts first, without "
               "insertion",
    .paper = "M.-Y. Wu, D. D. Gajski: A programming aid for hypercube architectures. J. "
             "Supercomputing 2(3), 1988; as retold by Ahrens et al. 1997",
    .tie_rule = "equal paths: first in topological order; equal starts: the node where it ends "
                "first, then the lowest",
    .accepts = ACCEPTS_DAG,
    .portfolio = PORTFOLIO_SMALL,
    .run = run_wu_gajski,
};
