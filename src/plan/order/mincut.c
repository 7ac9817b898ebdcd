/* Maximum flow and minimum cut by Dinic's algorithm, without recursion, with a budget of arc
 * visits. Used by sidney.c on networks of tails and heads. O(V^2 E) at worst, which the budget cuts
 * short.
 *
 * Arcs stand in pairs: arc a and its reverse a ^ 1, left[] what either can still carry; first[] and
 * next[] chain the arcs out of a node. */
#include "plan/order/mincut.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void mincut_reset(struct mincut *m, uint32_t nodes)
{
    if (nodes > m->node_cap) {
        m->node_cap = nodes;
        m->first = mem_resize(m->first, nodes);
        m->level = mem_resize(m->level, nodes);
        m->current = mem_resize(m->current, nodes);
        m->queue = mem_resize(m->queue, nodes);
        m->path = mem_resize(m->path, nodes);
    }
    m->nnodes = nodes;
    m->narcs = 0;
    memset(m->first, 0xff, nodes * sizeof *m->first);
}

/* One arc; its reverse follows. */
static void add_arc(struct mincut *m, uint32_t from, uint32_t to, int64_t capacity)
{
    if (m->narcs == m->arc_cap) {
        m->arc_cap += m->arc_cap / 2 + 64;
        m->next = mem_resize(m->next, m->arc_cap);
        m->to = mem_resize(m->to, m->arc_cap);
        m->left = mem_resize(m->left, m->arc_cap);
    }
    uint32_t a = m->narcs++;
    m->to[a] = to;
    m->left[a] = capacity;
    m->next[a] = m->first[from];
    m->first[from] = a;
}

void mincut_arc(struct mincut *m, uint32_t from, uint32_t to, int64_t capacity)
{
    add_arc(m, from, to, capacity);
    add_arc(m, to, from, 0);
}

/* Distances from the source along arcs with capacity left; false: the sink is cut off. */
static bool mincut_levels(struct mincut *m, uint64_t *spent)
{
    uint32_t n = 0;
    memset(m->level, 0xff, m->nnodes * sizeof *m->level);
    m->level[MINCUT_SOURCE] = 0;
    m->queue[n++] = MINCUT_SOURCE;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t a = m->first[m->queue[i]]; a != UINT32_MAX; a = m->next[a]) {
            ++*spent;
            if (m->left[a] > 0 && m->level[m->to[a]] == UINT32_MAX) {
                m->level[m->to[a]] = m->level[m->queue[i]] + 1;
                m->queue[n++] = m->to[a];
            }
        }
    return m->level[MINCUT_SINK] != UINT32_MAX;
}

/* One augmenting path along the levels, depth first without recursion; 0: none is left. */
static int64_t mincut_augment(struct mincut *m, uint64_t *spent)
{
    uint32_t depth = 0, at = MINCUT_SOURCE;
    while (at != MINCUT_SINK) {
        /* the next arc of this node that leads one level on; those before it are used up for this
         * phase */
        uint32_t a = m->current[at];
        while (a != UINT32_MAX && (m->left[a] <= 0 || m->level[m->to[a]] != m->level[at] + 1)) {
            ++*spent;
            a = m->next[a];
        }
        m->current[at] = a;
        if (a != UINT32_MAX) {
            m->path[depth++] = a;
            at = m->to[a];
        } else if (depth == 0) {
            return 0;
        } else {
            /* a dead end: step back, and go past the arc that led here */
            a = m->path[--depth];
            at = m->to[a ^ 1];
            m->current[at] = m->next[a];
        }
    }
    /* the path carries what its narrowest arc can */
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < depth; i++)
        least = m->left[m->path[i]] < least ? m->left[m->path[i]] : least;
    for (uint32_t i = 0; i < depth; i++) {
        m->left[m->path[i]] -= least;
        m->left[m->path[i] ^ 1] += least;
    }
    *spent += depth;
    return least;
}

bool mincut_run(struct mincut *m, uint64_t *budget, int64_t *flow)
{
    uint64_t spent = 0;
    *flow = 0;
    bool more;
    while ((more = mincut_levels(m, &spent)) && spent <= *budget) {
        memcpy(m->current, m->first, m->nnodes * sizeof *m->first);
        int64_t pushed;
        while (spent <= *budget && (pushed = mincut_augment(m, &spent)) > 0)
            *flow += pushed;
    }
    bool done = spent <= *budget;
    *budget -= done ? spent : *budget;
    return done && !more;
}

bool mincut_is_source_side(const struct mincut *m, uint32_t node)
{
    return m->level[node] != UINT32_MAX;
}

void mincut_free(struct mincut *m)
{
    free(m->first);
    free(m->next);
    free(m->to);
    free(m->left);
    free(m->level);
    free(m->current);
    free(m->queue);
    free(m->path);
    *m = (struct mincut){0};
}
