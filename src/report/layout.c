/* Layered layout of a graph, after Sugiyama, Tagawa and Toda: layers by depth, bends where an edge
 * passes a layer, few crossings by sweeps over the layers, then coordinates.
 *
 *   layers       longest path; sources move down to just above their first successor
 *   bends        one chain a task, shared by its edges; at most LAYOUT_BENDS in all
 *   order        barycentre sweeps down and up with exchanges of neighbours; the best is kept
 *   coordinates  least squares towards the neighbours, in order and apart
 *
 * Each sweep is O(segments log), and there are at most 24: linear in practice. Deterministic. */
#include "report/layout.h"
#include "base/compare.h"
#include "base/mem.h"
#include "model/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Neighbours above and below, by node. */
struct adjacency {
    uint32_t *up_off, *up, *down_off, *down;
};

/* CSR offsets of the neighbours above (`up`) or below. */
static uint32_t *layout_offsets(const struct layout *l, bool up)
{
    uint32_t *off = mem_new_zero(uint32_t, l->nnodes + 1);
    for (size_t i = 0; i < l->segments.n; i++)
        off[(up ? l->segments.at[i].to : l->segments.at[i].from) + 1]++;
    for (uint32_t v = 0; v < l->nnodes; v++)
        off[v + 1] += off[v];
    return off;
}

/* Both directions from the segments, in O(segments). */
static void adjacency_new(struct adjacency *a, const struct layout *l)
{
    a->up_off = layout_offsets(l, true);
    a->down_off = layout_offsets(l, false);
    a->up = mem_new(uint32_t, l->segments.n + 1);
    a->down = mem_new(uint32_t, l->segments.n + 1);
    uint32_t *up_fill = mem_new(uint32_t, l->nnodes + 1),
             *down_fill = mem_new(uint32_t, l->nnodes + 1);
    memcpy(up_fill, a->up_off, (l->nnodes + 1) * sizeof *up_fill);
    memcpy(down_fill, a->down_off, (l->nnodes + 1) * sizeof *down_fill);
    for (size_t i = 0; i < l->segments.n; i++) {
        struct layout_segment s = l->segments.at[i];
        a->up[up_fill[s.to]++] = s.from;
        a->down[down_fill[s.from]++] = s.to;
    }
    free(up_fill);
    free(down_fill);
}

static void adjacency_free(struct adjacency *a)
{
    free(a->up_off);
    free(a->up);
    free(a->down_off);
    free(a->down);
}

/* ---- levels and bends ---- */

/* A task without any edge. */
static bool is_alone(const struct workflow *w, uint32_t t)
{
    return w->pred_off[t] == w->pred_off[t + 1] && w->succ_off[t] == w->succ_off[t + 1];
}

/* Tasks without edges would make one endless row: they go below the others, in rows as wide as
 * those or about as a page. */
static void assign_alone(struct layout *l, uint32_t alone)
{
    const struct workflow *w = l->workflow;
    uint32_t *count = mem_new_zero(uint32_t, l->nlayers + 1), row = 10, seen = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!is_alone(w, t) && ++count[l->layer[t]] > row)
            row = count[l->layer[t]];
    free(count);
    /* a block about two and a half times as wide as high */
    double page = ceil(sqrt(2.5 * alone));
    row = page > row ? (uint32_t)page : row;
    if (alone == w->ntasks)
        l->nlayers = 0;
    l->alone = l->nlayers;
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (is_alone(w, t))
            l->layer[t] = l->nlayers + seen++ / row;
    l->nlayers += (alone + row - 1) / row;
}

/* A source that only feeds something deep down stands near it, not at the top. */
static void assign_layers(struct layout *l)
{
    const struct workflow *w = l->workflow;
    uint32_t alone = 0;
    l->depth = l->nlayers = graph_depths(w, l->layer);
    for (uint32_t t = 0; t < w->ntasks; t++)
        l->layer[t]--;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        alone += is_alone(w, t);
        if (w->pred_off[t] != w->pred_off[t + 1] || w->succ_off[t] == w->succ_off[t + 1])
            continue;
        uint32_t first = NONE;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t layer = l->layer[w->succ_task[e]];
            first = layer < first ? layer : first;
        }
        /* it has at least one successor, and that one is not in layer 0 */
        l->layer[t] = first - 1;
    }
    l->alone = l->nlayers;
    if (alone)
        assign_alone(l, alone);
}

/* The longest edges that may have bends, so that there are at most LAYOUT_BENDS of them. */
static uint32_t longest_with_bends(const struct layout *l)
{
    const struct workflow *w = l->workflow;
    uint32_t limit = l->nlayers;
    /* halve until the bends fit: a graph of a few edges over thousands of layers would have
     * millions */
    for (;; limit /= 2) {
        uint64_t bends = 0;
        for (uint32_t t = 0; t < w->ntasks; t++) {
            uint32_t most = 1;
            for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
                uint32_t span = l->layer[w->succ_task[e]] - l->layer[t];
                most = span > most && span <= limit ? span : most;
            }
            bends += most - 1;
        }
        if (bends <= LAYOUT_BENDS || limit <= 1)
            return limit;
    }
}

/* Bends are made task by task, each after its chain's length is known; segments of an edge that
 * others share are made once. */
static void make_bends(struct layout *l)
{
    const struct workflow *w = l->workflow;
    uint32_t n = w->ntasks;
    l->longest = longest_with_bends(l);
    l->chain = mem_new_zero(uint32_t, n + 1);
    l->chain_length = mem_new_zero(uint32_t, n + 1);
    l->nnodes = n;
    for (uint32_t t = 0; t < n; t++) {
        uint32_t most = 1;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t span = l->layer[w->succ_task[e]] - l->layer[t];
            most = span > most && span <= l->longest ? span : most;
        }
        l->chain[t] = l->nnodes;
        l->chain_length[t] = most - 1;
        l->nnodes += most - 1;
    }
    l->layer = mem_resize(l->layer, (size_t)l->nnodes + 1);
    uint32_t *joined = mem_new_zero(uint32_t, n + 1); /* last source of an edge to it, + 1 */
    for (uint32_t t = 0; t < n; t++) {
        for (uint32_t i = 0; i < l->chain_length[t]; i++) {
            uint32_t bend = l->chain[t] + i;
            l->layer[bend] = l->layer[t] + 1 + i;
            array_push(&l->segments, (struct layout_segment){i ? bend - 1 : t, bend});
        }
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t to = w->succ_task[e], span = l->layer[to] - l->layer[t];
            if (joined[to] == t + 1 || span > l->longest)
                continue;
            joined[to] = t + 1;
            uint32_t from = span == 1 ? t : l->chain[t] + span - 2;
            array_push(&l->segments, (struct layout_segment){from, to});
        }
    }
    free(joined);
}

/* ---- order ---- */

/* place[] is the inverse of at[] within each layer. */
static void number_places(struct layout *l)
{
    for (uint32_t layer = 0; layer < l->nlayers; layer++)
        for (uint32_t i = l->layer_off[layer]; i < l->layer_off[layer + 1]; i++)
            l->place[l->at[i]] = i - l->layer_off[layer];
}

/* Depth first from each source: a tree comes out without crossings, and components side by side. */
static void first_order(struct layout *l, const struct adjacency *a)
{
    uint32_t n = l->nnodes;
    for (uint32_t v = 0; v < n; v++)
        l->layer_off[l->layer[v] + 1]++;
    for (uint32_t layer = 0; layer < l->nlayers; layer++)
        l->layer_off[layer + 1] += l->layer_off[layer];
    uint32_t *fill = mem_new(uint32_t, l->nlayers + 1), *next = mem_new(uint32_t, n + 1);
    uint32_t *stack = mem_new(uint32_t, n + 1);
    memcpy(fill, l->layer_off, (l->nlayers + 1) * sizeof *fill);
    uint8_t *seen = mem_new_zero(uint8_t, n + 1);
    memcpy(next, a->down_off, (n + 1) * sizeof *next);
    for (uint32_t root = 0; root < n; root++) {
        if (seen[root] || a->up_off[root] != a->up_off[root + 1])
            continue;
        /* a stack of our own: chains may be long */
        uint32_t depth = 0;
        stack[depth++] = root;
        seen[root] = 1;
        l->at[fill[l->layer[root]]++] = root;
        while (depth) {
            uint32_t v = stack[depth - 1];
            if (next[v] == a->down_off[v + 1]) {
                depth--;
                continue;
            }
            uint32_t to = a->down[next[v]++];
            if (seen[to])
                continue;
            seen[to] = 1;
            l->at[fill[l->layer[to]]++] = to;
            stack[depth++] = to;
        }
    }
    free(fill);
    free(next);
    free(stack);
    free(seen);
    number_places(l);
}

struct keyed {
    double key;
    uint32_t node, place;
};

static int layout_by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Sort a layer by the mean place of its neighbours in the layer above (or below). */
static void sort_layer(struct layout *l, const struct adjacency *a, uint32_t layer, bool up,
                       struct keyed *keyed)
{
    uint32_t first = l->layer_off[layer], count = l->layer_off[layer + 1] - first;
    uint32_t other = up ? layer - 1 : layer + 1;
    /* nodes without neighbours there keep their relative place */
    double scale = (double)(l->layer_off[other + 1] - l->layer_off[other]) / (count ? count : 1);
    const uint32_t *off = up ? a->up_off : a->down_off, *near = up ? a->up : a->down;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = l->at[first + i];
        double sum = 0;
        for (uint32_t k = off[v]; k < off[v + 1]; k++)
            sum += l->place[near[k]];
        uint32_t degree = off[v + 1] - off[v];
        keyed[i] = (struct keyed){degree ? sum / degree : i * scale, v, i};
    }
    qsort(keyed, count, sizeof *keyed, layout_by_key);
    for (uint32_t i = 0; i < count; i++) {
        l->at[first + i] = keyed[i].node;
        l->place[keyed[i].node] = i;
    }
}

/* Crossings between the edges of two neighbours if a stands left of b. */
static uint64_t pair_crossings(const struct layout *l, const uint32_t *off, const uint32_t *near,
                               uint32_t a, uint32_t b)
{
    uint64_t count = 0;
    for (uint32_t i = off[a]; i < off[a + 1]; i++)
        for (uint32_t j = off[b]; j < off[b + 1]; j++)
            count += l->place[near[i]] > l->place[near[j]];
    return count;
}

/* Exchange neighbours wherever that saves crossings. Tasks with very many edges are left: their
 * pairs cost too much to count. */
static void layout_exchange(struct layout *l, const struct adjacency *a)
{
    for (uint32_t layer = 0; layer < l->nlayers; layer++)
        for (uint32_t i = l->layer_off[layer]; i + 1 < l->layer_off[layer + 1]; i++) {
            uint32_t u = l->at[i], v = l->at[i + 1];
            uint64_t du = a->up_off[u + 1] - a->up_off[u] + a->down_off[u + 1] - a->down_off[u];
            uint64_t dv = a->up_off[v + 1] - a->up_off[v] + a->down_off[v + 1] - a->down_off[v];
            /* counting costs du x dv for each of four counts */
            if (du * dv > 400)
                continue;
            uint64_t now = pair_crossings(l, a->up_off, a->up, u, v) +
                           pair_crossings(l, a->down_off, a->down, u, v);
            uint64_t then = pair_crossings(l, a->up_off, a->up, v, u) +
                            pair_crossings(l, a->down_off, a->down, v, u);
            if (then >= now)
                continue;
            l->at[i] = v;
            l->at[i + 1] = u;
            l->place[v]--;
            l->place[u]++;
        }
}

/* Inversions among the lower ends, upper ends in order: a Fenwick tree over the places below. */
static uint64_t count_crossings(const struct layout *l, const struct adjacency *a)
{
    uint64_t total = 0;
    uint32_t *tree = mem_new(uint32_t, l->nnodes + 2), *ends = mem_new(uint32_t, l->segments.n + 1);
    for (uint32_t layer = 0; layer + 1 < l->nlayers; layer++) {
        /* inversions between this layer and the next, in O(edges log width) */
        uint32_t width = l->layer_off[layer + 2] - l->layer_off[layer + 1], entered = 0;
        memset(tree, 0, (width + 1) * sizeof *tree);
        for (uint32_t i = l->layer_off[layer]; i < l->layer_off[layer + 1]; i++) {
            uint32_t v = l->at[i], degree = 0;
            for (uint32_t k = a->down_off[v]; k < a->down_off[v + 1]; k++)
                ends[degree++] = l->place[a->down[k]];
            qsort(ends, degree, sizeof *ends, compare_u32);
            for (uint32_t k = 0; k < degree; k++) {
                uint32_t not_right = 0;
                for (uint32_t j = ends[k] + 1; j; j &= j - 1)
                    not_right += tree[j];
                total += entered - not_right; /* earlier nodes' ends further right */
            }
            for (uint32_t k = 0; k < degree; k++)
                for (uint32_t j = ends[k] + 1; j <= width; j += j & -j)
                    tree[j]++;
            entered += degree;
        }
    }
    free(tree);
    free(ends);
    return total;
}

uint64_t layout_crossings(const struct layout *l)
{
    struct adjacency a;
    adjacency_new(&a, l);
    uint64_t count = count_crossings(l, &a);
    adjacency_free(&a);
    return count;
}

/* 24 sweeps, or six in a row without gain: more change nothing on the graphs that were tried. */
static void reduce_crossings(struct layout *l, const struct adjacency *a)
{
    struct keyed *keyed = mem_new(struct keyed, l->nnodes + 1);
    uint32_t *best = mem_new(uint32_t, l->nnodes + 1);
    memcpy(best, l->at, l->nnodes * sizeof *best);
    uint64_t least = count_crossings(l, a);
    for (int sweep = 0, idle = 0; sweep < 24 && idle < 6 && least; sweep++) {
        if (sweep % 2 == 0)
            for (uint32_t layer = 1; layer < l->nlayers; layer++)
                sort_layer(l, a, layer, true, keyed);
        else
            for (uint32_t layer = l->nlayers - 1; layer-- > 0;)
                sort_layer(l, a, layer, false, keyed);
        layout_exchange(l, a);
        uint64_t count = count_crossings(l, a);
        /* sweeps may make it worse for a while: the best order seen is what counts */
        if (count < least) {
            least = count;
            memcpy(best, l->at, l->nnodes * sizeof *best);
            idle = 0;
        } else {
            idle++;
        }
    }
    memcpy(l->at, best, l->nnodes * sizeof *best);
    number_places(l);
    free(best);
    free(keyed);
}

void layout_new(struct layout *l, const struct workflow *w)
{
    *l = (struct layout){.workflow = w};
    l->layer = mem_new_zero(uint32_t, w->ntasks + 1);
    assign_layers(l);
    make_bends(l);
    l->at = mem_new_zero(uint32_t, l->nnodes + 1);
    l->place = mem_new_zero(uint32_t, l->nnodes + 1);
    l->x = mem_new_zero(double, l->nnodes + 1);
    l->layer_off = mem_new_zero(uint32_t, l->nlayers + 1);
    struct adjacency a;
    adjacency_new(&a, l);
    first_order(l, &a);
    reduce_crossings(l, &a);
    adjacency_free(&a);
}

void layout_free(struct layout *l)
{
    free(l->layer);
    free(l->at);
    free(l->layer_off);
    free(l->place);
    free(l->chain);
    free(l->chain_length);
    free(l->x);
    array_free(&l->segments);
}

/* ---- coordinates ---- */

/* A run of neighbours that touch: it moves as one, to the mean of its nodes' wishes. */
struct layout_block {
    double sum, weight; /* of the wishes of its nodes, offsets taken out */
    uint32_t count;
};

struct placing {
    struct layout *l;
    const struct adjacency *a;
    const double *width;
    double gap, bend_gap;
    double *offset;
    struct layout_block *blocks;
};

static bool is_bend(const struct layout *l, uint32_t v)
{
    return v >= l->workflow->ntasks;
}

static double node_width(const struct placing *p, uint32_t v)
{
    return is_bend(p->l, v) ? 0 : p->width[v];
}

/* Least distance of the middles of two neighbours. */
static double layout_distance(const struct placing *p, uint32_t u, uint32_t v)
{
    bool bend = is_bend(p->l, u) || is_bend(p->l, v);
    return (node_width(p, u) + node_width(p, v)) / 2 + (bend ? p->bend_gap : p->gap);
}

/* Chains of bends pull hardest: an edge should be straight where it passes others' layers. */
static double layout_pull(const struct layout *l, uint32_t u, uint32_t v)
{
    return is_bend(l, u) && is_bend(l, v) ? 8 : is_bend(l, u) || is_bend(l, v) ? 2 : 1;
}

/* A node wishes to stand at the weighted mean of its neighbours. */
static void add_wishes(const struct placing *p, uint32_t v, const uint32_t *off,
                       const uint32_t *near, double *sum, double *weight)
{
    for (uint32_t k = off[v]; k < off[v + 1]; k++) {
        double w = layout_pull(p->l, v, near[k]);
        *sum += w * p->l->x[near[k]];
        *weight += w;
    }
}

/* Least squares of the wishes, in order and apart: pool adjacent violators on x minus the offsets.
 */
static void place_layer(struct placing *p, uint32_t layer, bool up, bool down)
{
    struct layout *l = p->l;
    const uint32_t *at = l->at + l->layer_off[layer];
    uint32_t count = l->layer_off[layer + 1] - l->layer_off[layer], nblocks = 0;
    double offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        double sum = 0, weight = 0;
        if (up)
            add_wishes(p, at[i], p->a->up_off, p->a->up, &sum, &weight);
        if (down)
            add_wishes(p, at[i], p->a->down_off, p->a->down, &sum, &weight);
        if (weight == 0) {
            weight = 0.05; /* stays, but gives way */
            sum = weight * l->x[at[i]];
        }
        if (i)
            offset += layout_distance(p, at[i - 1], at[i]);
        p->offset[i] = offset;
        struct layout_block b = {sum - weight * offset, weight, 1};
        while (nblocks &&
               p->blocks[nblocks - 1].sum / p->blocks[nblocks - 1].weight > b.sum / b.weight) {
            const struct layout_block *last = &p->blocks[--nblocks];
            b = (struct layout_block){b.sum + last->sum, b.weight + last->weight,
                                      b.count + last->count};
        }
        p->blocks[nblocks++] = b;
    }
    for (uint32_t i = 0, k = 0; k < nblocks; k++)
        for (uint32_t j = 0; j < p->blocks[k].count; j++, i++)
            l->x[at[i]] = p->blocks[k].sum / p->blocks[k].weight + p->offset[i];
}

void layout_place(struct layout *l, const double *width, double gap, double bend_gap)
{
    struct adjacency a;
    adjacency_new(&a, l);
    struct placing p = {.l = l, .a = &a, .width = width, .gap = gap, .bend_gap = bend_gap};
    p.offset = mem_new(double, l->nnodes + 1);
    p.blocks = mem_new(struct layout_block, l->nnodes + 1);
    /* a first placement: every layer as tight as it can be, its middle at 0 */
    for (uint32_t layer = 0; layer < l->nlayers; layer++) {
        const uint32_t *at = l->at + l->layer_off[layer];
        uint32_t count = l->layer_off[layer + 1] - l->layer_off[layer];
        double x = 0;
        for (uint32_t i = 0; i < count; i++) {
            x += i ? layout_distance(&p, at[i - 1], at[i]) : 0;
            l->x[at[i]] = x;
        }
        for (uint32_t i = 0; i < count; i++)
            l->x[at[i]] -= x / 2; /* middles above each other */
    }
    /* six passes that look one way spread the wishes over the whole graph; six that look both ways
     * balance them */
    for (int pass = 0; pass < 12; pass++) {
        for (uint32_t layer = 1; layer < l->nlayers; layer++)
            place_layer(&p, layer, true, pass >= 6);
        for (uint32_t layer = l->nlayers; layer-- > 1;)
            place_layer(&p, layer - 1, pass >= 6, true);
    }
    /* the leftmost edge becomes 0 */
    double left = INFINITY, right = -INFINITY;
    for (uint32_t v = 0; v < l->nnodes; v++) {
        left = fmin(left, l->x[v] - node_width(&p, v) / 2);
        right = fmax(right, l->x[v] + node_width(&p, v) / 2);
    }
    for (uint32_t v = 0; v < l->nnodes; v++)
        l->x[v] -= left;
    l->width = l->nnodes ? right - left : 0;
    free(p.offset);
    free(p.blocks);
    adjacency_free(&a);
}
