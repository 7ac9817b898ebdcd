/* The partial schedule of the exact search: what is interchangeable, placing and taking back, and
 * the table of states met before. exact.h proves what may be left out.
 *
 * push and pop are exact opposites (the log keeps what the cores were), so the search allocates
 * nothing per state. The table holds 128-bit marks, open addressing with 8 probes; when it is
 * crowded the newest mark replaces an old one: forgetting costs time, not truth. It grows to 2^22
 * slots, 64 MB. */
#include "plan/search/exact_state.h"
#include <math.h>
#include <string.h>

enum { TABLE_SMALLEST = 1 << 10, TABLE_LARGEST = 1 << 22, TABLE_PROBES = 8 };

/* ---- what is interchangeable ---- */

static double pair_cost(const struct problem *p, double bytes, uint32_t a, uint32_t b)
{
    return problem_far(p, bytes, a, b);
}

/* Swapping a and b changes nothing: same times, cores, memory, and the same links to every third
 * node. */
static bool nodes_are_alike(const struct problem *p, uint32_t a, uint32_t b)
{
    const struct platform *platform = p->costs->platform;
    if (platform->up[a] != platform->up[b] || platform->cores[a] != platform->cores[b] ||
        platform->memory[a] != platform->memory[b])
        return false;
    for (uint32_t t = 0; t < p->n; t++)
        if (problem_time(p, t, a) != problem_time(p, t, b))
            return false;
    if (p->uniform)
        return true;
    for (uint32_t v = 0; v < p->m; v++) {
        if (v == a || v == b)
            continue;
        for (double bytes = 0; bytes < 2; bytes++) /* latency, and latency + a byte */
            if (pair_cost(p, bytes, a, v) != pair_cost(p, bytes, b, v))
                return false;
    }
    return true;
}

/* Same times, cores, memory; same producers with the same data, same consumers with the same data.
 */
static bool tasks_alike(const struct problem *p, uint32_t a, uint32_t b)
{
    uint32_t preds = p->pred_off[a + 1] - p->pred_off[a];
    uint32_t succs = p->succ_off[a + 1] - p->succ_off[a];
    if (p->cores[a] != p->cores[b] || p->memory[a] != p->memory[b] ||
        preds != p->pred_off[b + 1] - p->pred_off[b] ||
        succs != p->succ_off[b + 1] - p->succ_off[b])
        return false;
    for (uint32_t v = 0; v < p->m; v++)
        if (problem_time(p, a, v) != problem_time(p, b, v))
            return false;
    for (uint32_t i = 0; i < preds; i++) /* both sorted by producer */
        if (p->pred[p->pred_off[a] + i] != p->pred[p->pred_off[b] + i] ||
            p->pred_bytes[p->pred_off[a] + i] != p->pred_bytes[p->pred_off[b] + i])
            return false;
    for (uint32_t i = 0; i < succs; i++) /* both sorted by consumer */
        if (p->succ[p->succ_off[a] + i] != p->succ[p->succ_off[b] + i] ||
            p->succ_bytes[p->succ_off[a] + i] != p->succ_bytes[p->succ_off[b] + i])
            return false;
    return true;
}

/* Classes of interchangeable nodes, named by their first; chains of twin tasks. O(m^2 n + n^2
 * degree), once. */
static void find_symmetries(struct exact_state *s)
{
    const struct problem *p = s->problem;
    for (uint32_t v = 0; v < p->m; v++) {
        s->node_class[v] = v;
        for (uint32_t u = 0; u < v; u++)
            if (s->node_class[u] == u && nodes_are_alike(p, u, v)) {
                s->node_class[v] = u;
                break;
            }
    }
    for (uint32_t i = 0; i < p->n; i++) { /* along topo, so that twins are taken in key order */
        s->twin[p->topo[i]] = NONE;
        for (uint32_t j = i; j-- > 0;)
            if (tasks_alike(p, p->topo[i], p->topo[j])) {
                s->twin[p->topo[i]] = p->topo[j];
                break;
            }
    }
}

/* Does every entry of the first list stand in the second, with no more bytes (`more`: no fewer)
 * there? Both are sorted. */
static bool list_is_covered(const uint32_t *a, const double *a_bytes, uint32_t na,
                            const uint32_t *b, const double *b_bytes, uint32_t nb, bool more)
{
    uint32_t j = 0;
    for (uint32_t i = 0; i < na; i++) {
        while (j < nb && b[j] != a[i])
            j++;
        if (j == nb || (more ? a_bytes[i] < b_bytes[j] : a_bytes[i] > b_bytes[j]))
            return false;
    }
    return true;
}

static double total_bytes(const double *bytes, uint32_t from, uint32_t to)
{
    double sum = 0;
    for (uint32_t e = from; e < to; e++)
        sum += fmax(0, bytes[e]);
    return sum;
}

/* May b and a, run back to back in the order a, b, be swapped without harm to anybody? b has its
 * data whenever a has, and whoever waits for one waits for both and for at least as many bytes of
 * b. Ties go by rank, so that one order remains. */
static bool rather_first(const struct problem *p, uint32_t b, uint32_t a)
{
    uint32_t pa = p->pred_off[a], pb = p->pred_off[b], sa = p->succ_off[a], sb = p->succ_off[b];
    uint32_t npa = p->pred_off[a + 1] - pa, npb = p->pred_off[b + 1] - pb;
    uint32_t nsa = p->succ_off[a + 1] - sa, nsb = p->succ_off[b + 1] - sb;
    if (a == b || nsa != nsb || !(p->least[a] > 0) || !(p->least[b] > 0))
        return false;
    if (!list_is_covered(p->pred + pb, p->pred_bytes + pb, npb, p->pred + pa, p->pred_bytes + pa,
                         npa, false) ||
        !list_is_covered(p->succ + sb, p->succ_bytes + sb, nsb, p->succ + sa, p->succ_bytes + sa,
                         nsa, true))
        return false;
    double out_a = total_bytes(p->succ_bytes, sa, sa + nsa),
           out_b = total_bytes(p->succ_bytes, sb, sb + nsb);
    double in_a = total_bytes(p->pred_bytes, pa, pa + npa),
           in_b = total_bytes(p->pred_bytes, pb, pb + npb);
    if (out_a != out_b)
        return out_b > out_a;
    if (in_a != in_b)
        return in_b < in_a;
    return p->rank[b] < p->rank[a];
}

/* Bit b of not_after[a]: trying b right behind a is left to the other order. */
static void find_swaps(struct exact_state *s)
{
    const struct problem *p = s->problem;
    if (p->wide || p->memory_binds) /* swapping may then disturb the neighbours */
        return;
    for (uint32_t a = 0; a < p->n; a++)
        for (uint32_t b = 0; b < p->n; b++)
            if (rather_first(p, b, a))
                s->not_after[a] |= (uint64_t)1 << b;
}

/* How long after a task's end its data may still be under way: after that, when it ended no longer
 * matters to a state's mark. */
static void find_reach(struct exact_state *s)
{
    const struct problem *p = s->problem;
    for (uint32_t t = 0; t < p->n; t++) {
        double far = 0;
        for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++) {
            if (p->uniform) {
                far = fmax(far, p->succ_comm[e]);
                continue;
            }
            for (uint32_t a = 0; a < p->m; a++)
                for (uint32_t b = 0; b < p->m; b++)
                    if (a != b)
                        far = fmax(far, pair_cost(p, p->succ_bytes[e], a, b));
        }
        s->reach[t] = far;
    }
}

/* ---- life ---- */

/* All memory at once; children and log grow, the table grows. */
struct exact_state *exact_state_new(const struct problem *p, double root_bound)
{
    struct exact_state *s = mem_new_zero(struct exact_state, 1);
    uint32_t n = p->n, m = p->m, cores = p->core_off[m];
    s->problem = p;
    s->node_class = mem_new(uint32_t, m);
    s->twin = mem_new(uint32_t, n);
    s->not_after = mem_new_zero(uint64_t, n);
    s->by_tail = mem_new(uint32_t, n);
    s->last = mem_new(uint32_t, cores);
    for (uint32_t c = 0; c < cores; c++)
        s->last[c] = NONE;
    s->reach = mem_new(double, n);
    s->placed = mem_new(uint32_t, n);
    s->waiting = mem_new(uint32_t, n);
    s->node = mem_new(uint32_t, n);
    s->core = mem_new(uint32_t, n);
    s->start = mem_new(double, n);
    s->finish = mem_new(double, n);
    s->available = mem_new_zero(double, cores);
    s->tasks_on = mem_new_zero(uint32_t, m);
    s->representative = mem_new(uint32_t, m);
    s->ready = mem_new_zero(double, (size_t)n *m);
    s->bound = mem_new_zero(double, (size_t)n + 1);
    s->frames = mem_new_zero(struct exact_frame, (size_t)n + 1);
    s->early = mem_new(double, (size_t)n *m);
    s->early_least = mem_new(double, n);
    s->open = mem_new(double, m);
    s->base = mem_new(double, cores);
    s->table_slots = TABLE_SMALLEST;
    s->table = mem_new_zero(uint64_t, 2 * s->table_slots);
    s->bound[0] = root_bound;
    find_symmetries(s);
    find_swaps(s);
    find_reach(s);
    for (uint32_t v = 0; v < m; v++)
        s->representative[v] = s->node_class[v];
    for (uint32_t t = 0; t < n; t++) {
        s->waiting[t] = p->pred_off[t + 1] - p->pred_off[t];
        uint32_t at = t;
        for (; at > 0 && p->tail[s->by_tail[at - 1]] < p->tail[t]; at--)
            s->by_tail[at] = s->by_tail[at - 1];
        s->by_tail[at] = t;
    }
    return s;
}

void exact_state_free(struct exact_state *s)
{
    free(s->node_class);
    free(s->twin);
    free(s->not_after);
    free(s->last);
    free(s->by_tail);
    free(s->reach);
    free(s->placed);
    free(s->waiting);
    free(s->node);
    free(s->core);
    free(s->start);
    free(s->finish);
    free(s->available);
    free(s->tasks_on);
    free(s->representative);
    free(s->ready);
    free(s->bound);
    free(s->frames);
    free(s->early);
    free(s->early_least);
    free(s->open);
    free(s->base);
    free(s->table);
    array_free(&s->children);
    array_free(&s->log);
    free(s);
}

/* ---- growing and shrinking ---- */

/* Of the empty nodes of a class only the first is tried. */
static void find_representatives(struct exact_state *s, uint32_t class)
{
    uint32_t first = NONE;
    for (uint32_t v = class; v < s->problem->m; v++) {
        if (s->node_class[v] != class)
            continue;
        if (s->tasks_on[v]) {
            s->representative[v] = v;
            continue;
        }
        if (first == NONE)
            first = v;
        s->representative[v] = first;
    }
}

/* All producers are placed: when the data is where, once for all children. */
static void find_ready(struct exact_state *s, uint32_t t)
{
    const struct problem *p = s->problem;
    double *ready = s->ready + (size_t)t * p->m;
    for (uint32_t v = 0; v < p->m; v++)
        ready[v] = 0;
    for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++) {
        uint32_t from = p->pred[e];
        for (uint32_t v = 0; v < p->m; v++)
            ready[v] = fmax(ready[v], s->finish[from] + problem_comm(p, e, s->node[from], v));
    }
}

/* Place the child: O(cores + degree x nodes). */
void exact_state_push(struct exact_state *s, const struct exact_child *child)
{
    const struct problem *p = s->problem;
    struct exact_child c = *child;
    uint32_t t = c.task;
    s->placed[s->depth] = t;
    struct exact_frame *frame = &s->frames[++s->depth];
    frame->entry = c;
    frame->begin = frame->next = frame->end = s->children.n;
    frame->log = s->log.n;
    s->bound[s->depth] = c.bound;
    s->done |= (uint64_t)1 << t;
    s->node[t] = c.node;
    s->core[t] = c.core;
    s->start[t] = c.start;
    s->finish[t] = c.finish;
    for (uint32_t k = 0; k < p->cores[t]; k++) {
        array_push(&s->log, (struct exact_core){s->available[c.core + k], s->last[c.core + k]});
        s->available[c.core + k] = c.finish;
        s->last[c.core + k] = t;
    }
    if (s->tasks_on[c.node]++ == 0)
        find_representatives(s, s->node_class[c.node]);
    for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++)
        if (--s->waiting[p->succ[e]] == 0)
            find_ready(s, p->succ[e]);
}

/* The exact opposite of the last push; ready[] of successors stays, it is computed again when
 * needed. */
void exact_state_pop(struct exact_state *s)
{
    const struct problem *p = s->problem;
    const struct exact_frame *frame = &s->frames[s->depth--];
    uint32_t t = frame->entry.task;
    s->done &= ~((uint64_t)1 << t);
    for (uint32_t k = 0; k < p->cores[t]; k++) {
        s->available[frame->entry.core + k] = s->log.at[frame->log + k].available;
        s->last[frame->entry.core + k] = s->log.at[frame->log + k].last;
    }
    s->log.n = frame->log;
    if (--s->tasks_on[frame->entry.node] == 0)
        find_representatives(s, s->node_class[frame->entry.node]);
    for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1]; e++)
        s->waiting[p->succ[e]]++;
}

bool exact_in_order(const struct exact_state *s, const struct exact_child *child)
{
    if (s->depth == 0)
        return true;
    const struct exact_child *last = &s->frames[s->depth].entry;
    if (child->start != last->start)
        return child->start > last->start;
    if (child->finish != last->finish)
        return child->finish > last->finish;
    return s->problem->rank[child->task] > s->problem->rank[last->task];
}

/* ---- states met before ---- */

/* The finaliser of splitmix64: every bit of the input moves every bit of the output. */
static uint64_t exact_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t double_bits(double x)
{
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

struct exact_mark {
    uint64_t a, b;
};

/* Sums of these do not depend on the order of the parts. The two words are mixed apart from each
 * other, so that they collide together only as 128 bits do. */
static void mark_pair(struct exact_mark *mark, uint64_t tag, struct exact_mark value)
{
    mark->a += exact_mix(value.a + 0x9e3779b97f4a7c15u * (tag + 1));
    mark->b +=
        exact_mix(exact_mix(value.b ^ 0xd1b54a32d192ed03u) + 0xc2b2ae3d27d4eb4fu * (tag + 1));
}

static void mark_add(struct exact_mark *mark, uint64_t tag, uint64_t value)
{
    mark_pair(mark, tag, (struct exact_mark){value, value});
}

/* All that matters to the tasks still to come, which start at `now` or later. */
static struct exact_mark state_mark(const struct exact_state *s)
{
    const struct problem *p = s->problem;
    const struct exact_child *last = &s->frames[s->depth].entry;
    double now = last->start;
    struct exact_mark all = {0};
    mark_add(&all, 1, s->done);
    mark_add(&all, 2, double_bits(now));
    mark_add(&all, 3, double_bits(last->finish));
    mark_add(&all, 4, p->rank[last->task]);
    for (uint32_t v = 0; v < p->m; v++) {
        struct exact_mark node = {0};
        for (uint32_t c = p->core_off[v]; c < p->core_off[v + 1]; c++) {
            /* what may follow a core's last task matters as long as something can follow it at once
             */
            uint32_t previous = s->last[c];
            uint64_t tag = p->wide ? 1000 + c - p->core_off[v] : 5;
            if (previous != NONE && s->available[c] >= now && (s->not_after[previous] & ~s->done))
                tag = 4000000000u + previous;
            mark_add(&node, tag, double_bits(fmax(now, s->available[c])));
        }
        if (s->tasks_on[v])
            for (uint32_t i = 0; i < s->depth; i++) {
                uint32_t t = s->placed[i];
                if (s->node[t] != v)
                    continue;
                bool awaited = false;
                for (uint32_t e = p->succ_off[t]; e < p->succ_off[t + 1] && !awaited; e++)
                    awaited = !(s->done >> p->succ[e] & 1);
                if (awaited && s->finish[t] + s->reach[t] > now)
                    mark_add(&node, 2000000000u + t, double_bits(s->finish[t]));
                if (p->memory_binds && s->finish[t] > now)
                    mark_add(&node, double_bits(p->memory[t]) | 1, double_bits(s->finish[t]));
            }
        mark_pair(&all, 3000000000u + s->node_class[v], node);
    }
    if (!all.a && !all.b)
        all.a = 1;
    return all;
}

/* False: no free slot within TABLE_PROBES. */
static bool table_add(uint64_t *table, size_t slots, struct exact_mark mark, bool *fresh)
{
    size_t at = (size_t)mark.a & (slots - 1);
    for (size_t i = 0; i < TABLE_PROBES; i++) {
        uint64_t *slot = table + 2 * ((at + i) & (slots - 1));
        if (slot[0] == mark.a && slot[1] == mark.b) {
            *fresh = false;
            return true;
        }
        if (!slot[0] && !slot[1]) {
            slot[0] = mark.a;
            slot[1] = mark.b;
            *fresh = true;
            return true;
        }
    }
    return false;
}

static void table_grow(struct exact_state *s)
{
    size_t slots = 2 * s->table_slots;
    uint64_t *table = mem_new_zero(uint64_t, 2 * slots);
    for (size_t i = 0; i < s->table_slots; i++) {
        struct exact_mark mark = {s->table[2 * i], s->table[2 * i + 1]};
        bool fresh;
        if (mark.a || mark.b) /* one that finds no place is forgotten: that costs time, not truth */
            table_add(table, slots, mark, &fresh);
    }
    free(s->table);
    s->table = table;
    s->table_slots = slots;
}

bool exact_state_is_new(struct exact_state *s)
{
    struct exact_mark mark = state_mark(s);
    if (s->table_used * 2 > s->table_slots && s->table_slots < TABLE_LARGEST)
        table_grow(s);
    bool fresh = true;
    if (!table_add(s->table, s->table_slots, mark, &fresh)) { /* crowded: the newest wins */
        size_t at = ((size_t)mark.a + (mark.b & (TABLE_PROBES - 1))) & (s->table_slots - 1);
        s->table[2 * at] = mark.a;
        s->table[2 * at + 1] = mark.b;
        return true;
    }
    s->table_used += fresh;
    return fresh;
}
