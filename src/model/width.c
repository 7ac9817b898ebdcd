/* The width of a DAG: by Dilworth, the fewest chains that cover it. Chains may skip tasks, that is,
 * paths may share tasks, so this is a minimum flow in which every task must be passed at least
 * once.
 *
 * Start from a cover by disjoint paths (each task takes over the path of the first predecessor that
 * nobody continued yet) and reduce it: a way from the sink to the source in the residual network
 * takes one path away. A phase searches depth first with shared marks and takes as many ways as it
 * finds; a phase that finds none proves the cover minimal. A phase costs O(tasks + edges); wide
 * workflows need few because the start is nearly right. */
#include "base/mem.h"
#include "model/graph.h"

#include <stdlib.h>
#include <string.h>

/* Residual states: 2t = before task t, 2t+1 = after it. */
struct cover {
    const struct workflow *w;
    uint32_t *flow;          /* per edge of succ_* */
    uint32_t *through;       /* per task, at least 1 */
    uint32_t *begins, *ends; /* paths that start / end at the task */
    uint32_t *pred_edge;     /* succ index of each pred entry */
    uint32_t paths;
    /* search */
    uint8_t *marked;
    uint32_t *parent, *by; /* the state we came from, and the edge (NONE: through the task) */
    uint32_t *stack, *cursor;
    uint64_t visits;
};

/* Disjoint paths: each task continues the path of its first predecessor that nobody continued
 * yet. Not minimal, but near it on real workflows, so that few phases remain. */
static void greedy_cover(struct cover *c)
{
    const struct workflow *w = c->w;
    uint8_t *continued = mem_new_zero(uint8_t, w->ntasks);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        c->through[t] = 1;
        c->begins[t] = 1;
        c->ends[t] = 1;
        c->paths++;
        for (uint32_t k = w->pred_off[t]; k < w->pred_off[t + 1]; k++) {
            uint32_t p = w->pred_task[k];
            if (continued[p])
                continue;
            continued[p] = 1;
            c->flow[c->pred_edge[k]] = 1;
            c->begins[t] = 0;
            c->ends[p] = 0;
            c->paths--;
            break;
        }
    }
    free(continued);
}

/* Undo one path along the way that ends in `state` (before a task where a path begins). */
static void take_away(struct cover *c, uint32_t state)
{
    c->begins[state / 2]--;
    c->paths--;
    for (;;) {
        uint32_t from = c->parent[state], edge = c->by[state];
        if (from == NONE)
            break;
        if (edge == NONE) { /* through the task: after -> before lowers, before -> after raises */
            if (from & 1)
                c->through[from / 2]--;
            else
                c->through[from / 2]++;
        } else if (from & 1) { /* after u -> before v: one more on this edge */
            c->flow[edge]++;
        } else { /* before v -> after u: one less */
            c->flow[edge]--;
        }
        state = from;
    }
    c->ends[state / 2]--;
}

/* Put a state on the stack unless it was marked in this phase. Marks stay for the whole phase: a
 * state from which no way was found has none later in it either. */
static bool cover_visit(struct cover *c, uint32_t state, uint32_t from, uint32_t edge,
                        uint32_t *depth)
{
    if (c->marked[state])
        return false;
    c->marked[state] = 1;
    c->parent[state] = from;
    c->by[state] = edge;
    c->cursor[state] = 0;
    c->stack[(*depth)++] = state;
    return true;
}

/* Advance the search from `state` by one residual arc; false when it has none left. */
static bool cover_advance(struct cover *c, uint32_t state, uint32_t *depth)
{
    const struct workflow *w = c->w;
    uint32_t t = state / 2;
    uint32_t i = c->cursor[state]++;
    c->visits++;
    if (i == 0) { /* through the task: backwards only if another path still passes */
        if (state & 1 ? c->through[t] > 1 : true)
            cover_visit(c, state ^ 1, state, NONE, depth);
        return true;
    }
    i--;
    if (state & 1) {
        uint32_t e = w->succ_off[t] + i;
        if (e >= w->succ_off[t + 1])
            return false;
        cover_visit(c, 2 * w->succ_task[e], state, e, depth);
        return true;
    }
    uint32_t k = w->pred_off[t] + i;
    if (k >= w->pred_off[t + 1])
        return false;
    if (c->flow[c->pred_edge[k]])
        cover_visit(c, 2 * w->pred_task[k] + 1, state, c->pred_edge[k], depth);
    return true;
}

/* One phase: how many paths it took away. */
static uint32_t cover_reduce(struct cover *c)
{
    uint32_t n = c->w->ntasks, taken = 0;
    memset(c->marked, 0, 2 * (size_t)n);
    for (uint32_t t = 0; t < n; t++) {
        while (c->ends[t] && !c->marked[2 * t + 1]) {
            uint32_t depth = 0;
            bool found = false;
            cover_visit(c, 2 * t + 1, NONE, NONE, &depth);
            while (depth && !found) {
                uint32_t state = c->stack[depth - 1];
                if (!(state & 1) && c->begins[state / 2]) {
                    take_away(c, state);
                    taken++;
                    found = true;
                } else if (!cover_advance(c, state, &depth)) {
                    depth--;
                }
            }
        }
    }
    return taken;
}

/* `budget` counts visits of the search; past it the largest level, a lower bound, is the answer
 * and *exact is false. Memory: 46 bytes a task and 8 an edge. */
uint32_t graph_width(const struct workflow *w, uint64_t budget, bool *exact)
{
    uint32_t n = w->ntasks, level = 0;
    uint32_t *depth = mem_new(uint32_t, n), *count = mem_new_zero(uint32_t, (size_t)n + 1);
    graph_depths(w, depth);
    for (uint32_t t = 0; t < n; t++)
        if (++count[depth[t]] > level)
            level = count[depth[t]];
    free(depth);
    free(count);
    struct cover c = {.w = w,
                      .flow = mem_new_zero(uint32_t, w->nedges),
                      .through = mem_new(uint32_t, n),
                      .begins = mem_new(uint32_t, n),
                      .ends = mem_new(uint32_t, n),
                      .pred_edge = mem_new(uint32_t, w->nedges),
                      .marked = mem_new(uint8_t, 2 * (size_t)n),
                      .parent = mem_new(uint32_t, 2 * (size_t)n),
                      .by = mem_new(uint32_t, 2 * (size_t)n),
                      .stack = mem_new(uint32_t, 2 * (size_t)n),
                      .cursor = mem_new(uint32_t, 2 * (size_t)n)};
    uint32_t *next = mem_new(uint32_t, (size_t)n + 1);
    memcpy(next, w->pred_off, ((size_t)n + 1) * sizeof *next);
    for (uint32_t e = 0; e < w->nedges; e++)
        c.pred_edge[next[w->succ_task[e]]++] = e;
    free(next);
    greedy_cover(&c);
    *exact = true;
    /* The largest level is an antichain: when the cover meets it, both are proven. */
    while (c.paths > level) {
        if (c.visits > budget) {
            *exact = false;
            break;
        }
        if (!cover_reduce(&c))
            break;
    }
    uint32_t width = *exact ? c.paths : level;
    free(c.flow);
    free(c.through);
    free(c.begins);
    free(c.ends);
    free(c.pred_edge);
    free(c.marked);
    free(c.parent);
    free(c.by);
    free(c.stack);
    free(c.cursor);
    return width;
}
