/* Algorithms on the graph alone: levels, critical path, reachability, shortcuts, components,
 * shapes, statistics. All are iterative (a chain of ten million tasks is a normal graph) and
 * linear in tasks and edges where not said otherwise. */
#include "model/graph.h"
#include "base/bitset.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* depth[t]: tasks on the longest chain that ends in t. Returns the deepest. */
uint32_t graph_depths(const struct workflow *w, uint32_t *depth)
{
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i], d = 0;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (depth[w->pred_task[e]] > d)
                d = depth[w->pred_task[e]];
        depth[t] = d + 1;
        if (depth[t] > deepest)
            deepest = depth[t];
    }
    return deepest;
}

/* Seconds that an edge costs at mean latency and bandwidth; an ordering edge costs nothing. */
static inline double edge_weight(const struct workflow *w, uint32_t object, double latency,
                                 double seconds_per_byte)
{
    return object == NONE ? 0 : latency + w->size[object] * seconds_per_byte;
}

/* bottom[t]: longest way from the start of t to an exit, t included. From the exits backwards. */
void graph_bottom_levels(const struct workflow *w, const double *task_weight, double latency,
                         double seconds_per_byte, double *bottom)
{
    const double *weight = task_weight ? task_weight : w->work;
    for (uint32_t i = w->ntasks; i--;) {
        uint32_t t = w->topo[i];
        double most = 0;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            double way = edge_weight(w, w->succ_object[e], latency, seconds_per_byte) +
                         bottom[w->succ_task[e]];
            if (way > most)
                most = way;
        }
        bottom[t] = weight[t] + most;
    }
}

/* top[t]: longest way from an entry to the start of t, t excluded. */
void graph_top_levels(const struct workflow *w, const double *task_weight, double latency,
                      double seconds_per_byte, double *top)
{
    const double *weight = task_weight ? task_weight : w->work;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        double most = 0;
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++) {
            uint32_t p = w->pred_task[e];
            double way =
                top[p] + weight[p] + edge_weight(w, w->pred_object[e], latency, seconds_per_byte);
            if (way > most)
                most = way;
        }
        top[t] = most;
    }
}

/* The way follows the successor with the largest bottom level; of equal ones the first, so the
 * path is the same each time. `path` has room for ntasks. */
double graph_critical_path(const struct workflow *w, const double *task_weight, uint32_t *path,
                           uint32_t *path_length)
{
    double *bottom = mem_new(double, w->ntasks), longest = 0;
    graph_bottom_levels(w, task_weight, 0, 0, bottom);
    uint32_t at = NONE, length = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (at == NONE || bottom[t] > longest) {
            longest = bottom[t];
            at = t;
        }
    while (path && at != NONE) {
        path[length++] = at;
        uint32_t next = NONE;
        for (uint32_t e = w->succ_off[at]; e < w->succ_off[at + 1]; e++) {
            uint32_t s = w->succ_task[e];
            if (next == NONE || bottom[s] > bottom[next])
                next = s;
        }
        at = next;
    }
    if (path_length)
        *path_length = length;
    free(bottom);
    return longest;
}

/* A depth-first search: O(tasks + edges) a question. Who asks often builds graph_closure(). */
bool graph_reaches(const struct workflow *w, uint32_t from, uint32_t to)
{
    if (from == to)
        return false;
    uint64_t *seen = mem_new_zero(uint64_t, bitset_words(w->ntasks));
    uint32_t *stack = mem_new(uint32_t, w->ntasks), n = 0;
    bool found = false;
    stack[n++] = from;
    bitset_set(seen, from);
    while (n && !found) {
        uint32_t t = stack[--n];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1] && !found; e++) {
            uint32_t s = w->succ_task[e];
            found = s == to;
            if (!bitset_get(seen, s)) {
                bitset_set(seen, s);
                stack[n++] = s;
            }
        }
    }
    free(stack);
    free(seen);
    return found;
}

/* A bit matrix, ntasks^2 / 8 bytes: row t holds all that t reaches. From the exits backwards; a
 * successor that is in the row already brings nothing new, which saves most unions in dense
 * graphs. The caller frees it. */
uint64_t *graph_closure(const struct workflow *w)
{
    size_t words = bitset_words(w->ntasks);
    uint64_t *rows = mem_array_zero((size_t)w->ntasks * words, sizeof *rows);
    for (uint32_t i = w->ntasks; i--;) {
        uint32_t t = w->topo[i];
        uint64_t *row = rows + t * words;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t s = w->succ_task[e];
            if (bitset_get(row, s))
                continue; /* its row is in already */
            const uint64_t *other = rows + s * words;
            for (size_t k = 0; k < words; k++)
                row[k] |= other[k];
            bitset_set(row, s);
        }
    }
    return rows;
}

/* One window of graph_shortcuts(): 64 tails, and for each task which of them reach it by one edge or
 * more, and by two or more. */
struct shortcut_window {
    const uint32_t *tails, *position;
    uint32_t size, lo,
        hi;              /* tails in it; positions from the first tail to the furthest long head */
    uint64_t *one, *two; /* by task, a bit a tail */
};

/* Carry the bits once through the window, in topological order. Returns the edges looked at. */
static uint64_t sweep_window(const struct workflow *w, const struct shortcut_window *v)
{
    uint64_t spent = 0;
    uint32_t next = 0;
    for (uint32_t x = v->lo; x <= v->hi; x++) {
        uint32_t t = w->topo[x];
        uint64_t mine = v->one[t];
        uint64_t self = next < v->size && v->tails[next] == t ? (uint64_t)1 << next : 0;
        next += self != 0;
        if (!mine && !self)
            continue;
        spent += w->succ_off[t + 1] - w->succ_off[t];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t s = w->succ_task[e];
            if (v->position[s] <= v->hi) {
                v->two[s] |= mine;
                v->one[s] |= mine | self;
            }
        }
    }
    return spent;
}

/* Transitive reduction by levels and windows of 64 tails (specs/ic-spec.md, section 1).
 *
 * An edge to the next level (longest-path depth) is never a shortcut: another way has at least two
 * edges. For the rest, take 64 tails with long edges at a time, in topological order, and sweep the
 * window of positions from the first tail to the furthest long head once, carrying for each task
 * which of the 64 tails reach it by one edge or more, and by two or more. */
size_t graph_shortcuts(const struct workflow *w, bool *shortcut, uint64_t budget)
{
    uint32_t n = w->ntasks;
    uint32_t *depth = mem_new(uint32_t, n), *position = mem_new(uint32_t, n);
    uint32_t *tails = mem_new(uint32_t, n), ntails = 0;
    uint64_t *one = mem_new_zero(uint64_t, n), *two = mem_new_zero(uint64_t, n), spent = 0;
    size_t undecided = 0;
    graph_depths(w, depth);
    for (uint32_t i = 0; i < n; i++)
        position[w->topo[i]] = i;
    memset(shortcut, 0, w->nedges * sizeof *shortcut);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = w->topo[i];
        bool has_long = false;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            has_long |= depth[w->succ_task[e]] > depth[t] + 1;
        if (has_long)
            tails[ntails++] = t;
    }
    /* 64 tails share a sweep, one bit each */
    for (uint32_t batch = 0; batch < ntails; batch += 64) {
        uint32_t size = ntails - batch < 64 ? ntails - batch : 64;
        uint32_t lo = position[tails[batch]], hi = lo;
        for (uint32_t j = 0; j < size; j++) {
            uint32_t t = tails[batch + j];
            for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
                if (depth[w->succ_task[e]] > depth[t] + 1 && position[w->succ_task[e]] > hi)
                    hi = position[w->succ_task[e]];
        }
        /* past the budget edges are left undecided rather than the program without an answer */
        bool skip = budget && spent > budget;
        if (!skip)
            spent += sweep_window(
                w, &(struct shortcut_window){tails + batch, position, size, lo, hi, one, two});
        for (uint32_t j = 0; j < size; j++) {
            uint32_t t = tails[batch + j];
            for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
                uint32_t s = w->succ_task[e];
                if (depth[s] <= depth[t] + 1)
                    continue;
                undecided += skip;
                shortcut[e] = !skip && (two[s] >> j & 1);
            }
        }
        for (uint32_t x = lo; x <= hi; x++)
            one[w->topo[x]] = two[w->topo[x]] = 0;
    }
    free(depth);
    free(position);
    free(tails);
    free(one);
    free(two);
    return undecided;
}

/* Pieces that no edge joins, whatever its direction; component[t] (may be NULL) numbers them by
 * their lowest task. */
uint32_t graph_components(const struct workflow *w, uint32_t *component)
{
    uint32_t *label = component ? component : mem_new(uint32_t, w->ntasks);
    uint32_t *stack = mem_new(uint32_t, w->ntasks), count = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        label[t] = NONE;
    for (uint32_t root = 0; root < w->ntasks; root++) {
        if (label[root] != NONE)
            continue;
        uint32_t n = 0;
        stack[n++] = root;
        label[root] = count;
        while (n) {
            uint32_t t = stack[--n];
            for (int way = 0; way < 2; way++) {
                const uint32_t *off = way ? w->pred_off : w->succ_off;
                const uint32_t *other = way ? w->pred_task : w->succ_task;
                for (uint32_t e = off[t]; e < off[t + 1]; e++)
                    if (label[other[e]] == NONE) {
                        label[other[e]] = count;
                        stack[n++] = other[e];
                    }
            }
        }
        count++;
    }
    free(stack);
    if (!component)
        free(label);
    return count;
}

/* Different tasks in a run of edges (parallel edges stand together by object, not by task). */
static bool one_neighbour(const uint32_t *task, uint32_t from, uint32_t to)
{
    for (uint32_t e = from + 1; e < to; e++)
        if (task[e] != task[from])
            return false;
    return true;
}

/* One pass over degrees: a single source and one predecessor each is an out-tree, and connected. */
enum tree_shape graph_tree_shape(const struct workflow *w)
{
    if (!w->ntasks)
        return TREE_NOT;
    bool out = true, in = true;
    uint32_t sources = 0, sinks = 0;
    for (uint32_t t = 0; t < w->ntasks && (out || in); t++) {
        sources += w->pred_off[t] == w->pred_off[t + 1];
        sinks += w->succ_off[t] == w->succ_off[t + 1];
        out &= one_neighbour(w->pred_task, w->pred_off[t], w->pred_off[t + 1]);
        in &= one_neighbour(w->succ_task, w->succ_off[t], w->succ_off[t + 1]);
    }
    out &= sources == 1; /* one root and one parent each: connected */
    in &= sinks == 1;
    return out && in ? TREE_CHAIN : out ? TREE_OUT : in ? TREE_IN : TREE_NOT;
}

/* What `weft show` prints. Linear but for the width. */
void graph_statistics(const struct workflow *w, struct statistics *out)
{
    *out = (struct statistics){0};
    out->tasks = w->ntasks;
    out->edges = w->npairs;
    out->objects = w->nobjects;
    double edge_bytes = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        out->sources += w->pred_off[t] == w->pred_off[t + 1];
        out->sinks += w->succ_off[t] == w->succ_off[t + 1];
        out->work += w->work[t];
        out->memory = fmax(out->memory, w->memory[t]);
    }
    for (uint32_t o = 0; o < w->nobjects; o++)
        out->data += w->size[o];
    for (uint32_t e = 0; e < w->nedges; e++)
        if (w->succ_object[e] != NONE)
            edge_bytes += w->size[w->succ_object[e]];
    uint32_t *depth = mem_new(uint32_t, w->ntasks);
    out->depth = graph_depths(w, depth);
    free(depth);
    /* a bound on the search, so that `show` answers soon; past it the widest level is shown */
    out->width = graph_width(w, 60000000, &out->width_exact);
    out->components = graph_components(w, NULL);
    out->critical_path = graph_critical_path(w, NULL, NULL, NULL);
    if (out->work > 0 && w->npairs)
        out->ccr = edge_bytes / w->npairs / (out->work / w->ntasks);
    out->tree = graph_tree_shape(w);
}
