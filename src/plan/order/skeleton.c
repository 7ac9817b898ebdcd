/* From a workflow to phases and blocks; skeleton.h defines both.
 *
 *    workflow --copy_arcs--> dag --find_phases--> series cuts
 *       --drop_early_arcs--> arcs within phases --remove_shortcuts--> reduced dag
 *       --find_classes--> blocks --merge_cycles--> a super-dag without cycles
 *
 * Union-find over 2n ports ("out of t", "into t") gives the blocks: arcs that share a tail or a
 * head are one class. Everything is linear but for the shortcuts. */
#include "plan/order/skeleton.h"
#include "base/array.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* ---- arcs ---- */

/* Parents from children. */
static void fill_parents(struct skeleton *s)
{
    uint32_t n = s->n, arcs = s->child_off[n];
    s->parent_off = mem_new_zero(uint32_t, (size_t)n + 2);
    s->parent = mem_new(uint32_t, arcs);
    for (uint32_t a = 0; a < arcs; a++)
        s->parent_off[s->child[a] + 2]++;
    for (uint32_t t = 0; t < n; t++)
        s->parent_off[t + 2] += s->parent_off[t + 1];
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++)
            s->parent[s->parent_off[s->child[a] + 1]++] = t;
}

/* The workflow's arcs, each pair of tasks once. */
static void copy_arcs(struct skeleton *s, const struct workflow *w)
{
    uint32_t n = w->ntasks, at = 0;
    uint32_t *seen = mem_new(uint32_t, n);
    memset(seen, 0xff, n * sizeof *seen);
    s->child_off = mem_new(uint32_t, (size_t)n + 1);
    s->child = mem_new(uint32_t, w->npairs);
    for (uint32_t t = 0; t < n; t++) {
        s->child_off[t] = at;
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t to = w->succ_task[e];
            if (seen[to] == t)
                continue;
            seen[to] = t;
            s->child[at++] = to;
        }
    }
    s->child_off[n] = at;
    free(seen);
    fill_parents(s);
}

void skeleton_drop_arcs(struct skeleton *s, const bool *marked)
{
    uint32_t at = 0;
    for (uint32_t t = 0, a = 0; t < s->n; t++) {
        uint32_t end = s->child_off[t + 1];
        s->child_off[t] = at;
        for (; a < end; a++)
            if (!marked[a])
                s->child[at++] = s->child[a];
    }
    s->child_off[s->n] = at;
    free(s->parent_off);
    free(s->parent);
    fill_parents(s);
}

/* ---- phases ---- */

/* A nonsink's state in the walk: not yet runnable; minimal in the rest; maximal in the prefix;
 * below a tip. */
enum skeleton_state { UNREADY, READY, TIP, COVERED };

static uint32_t parents_in_state(const struct skeleton *s, const uint8_t *state, uint32_t t,
                                 enum skeleton_state want)
{
    uint32_t count = 0;
    for (uint32_t a = s->parent_off[t]; a < s->parent_off[t + 1]; a++)
        count += state[s->parent[a]] == want;
    return count;
}

/* Nothing is run yet: counts missing parents; nonsinks without any are ready. Returns how many. */
static uint64_t start_walk(struct skeleton *s, uint8_t *state, uint32_t *missing)
{
    uint64_t ready = 0;
    for (uint32_t t = 0; t < s->n; t++) {
        missing[t] = s->parent_off[t + 1] - s->parent_off[t];
        s->phase[t] = NONE;
        bool is_nonsink = s->child_off[t + 1] > s->child_off[t];
        if (!missing[t])
            s->sources++;
        if (!missing[t] && is_nonsink) {
            state[t] = READY;
            ready++;
        }
    }
    return ready;
}

/* Walk the nonsinks topologically. A prefix is a series cut iff its maximal elements (tips) are all
 * parents of all minimal elements of the rest (ready): the number of arcs between the two, kept up
 * to date, is then the product of their counts. Every topological order passes through every series
 * cut, so one walk finds all. */
static void find_phases(struct skeleton *s, const struct workflow *w, bool use_phases)
{
    uint32_t n = s->n, done = 0, phase = 0;
    uint64_t tips = 0, between = 0;
    uint8_t *state = mem_new_zero(uint8_t, n);
    uint32_t *missing = mem_new(uint32_t, n);
    s->phase = mem_new(uint32_t, n);
    s->phase_task = mem_new(uint32_t, n);
    uint64_t ready = start_walk(s, state, missing);
    ARRAY(uint32_t) starts = {0};
    array_push(&starts, 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = w->topo[i];
        if (s->child_off[v + 1] == s->child_off[v])
            continue;
        /* every tip is a parent of every ready node: a series cut */
        if (use_phases && done && tips * ready == between) {
            array_push(&starts, done);
            phase++;
        }
        s->phase[v] = phase;
        s->phase_task[done++] = v;
        /* v leaves the ready ones ... */
        between -= parents_in_state(s, state, v, TIP);
        ready--;
        /* ... and becomes a tip; its parents are tips no more, and their arcs to ready nodes do not
         * count */
        state[v] = TIP;
        tips++;
        for (uint32_t a = s->parent_off[v]; a < s->parent_off[v + 1]; a++) {
            uint32_t p = s->parent[a];
            if (state[p] != TIP)
                continue;
            state[p] = COVERED;
            tips--;
            for (uint32_t b = s->child_off[p]; b < s->child_off[p + 1]; b++)
                between -= state[s->child[b]] == READY;
        }
        for (uint32_t a = s->child_off[v]; a < s->child_off[v + 1]; a++) {
            uint32_t c = s->child[a];
            if (--missing[c] == 0 && s->child_off[c + 1] > s->child_off[c]) {
                state[c] = READY;
                ready++;
                between += parents_in_state(s, state, c, TIP);
            }
        }
    }
    s->nonsinks = done;
    s->nphases = done ? phase + 1 : 0;
    array_push(&starts, done);
    s->phase_off = starts.at;
    free(state);
    free(missing);
}

/* Arcs into a head from phases before its last are satisfied when it matters: drop them. */
static void drop_early_arcs(struct skeleton *s)
{
    uint32_t n = s->n;
    uint32_t *last = mem_new_zero(uint32_t, n);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++)
            if (s->phase[t] > last[s->child[a]])
                last[s->child[a]] = s->phase[t];
    bool *early = mem_new_zero(bool, s->child_off[n]);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++)
            early[a] = last[s->child[a]] != s->phase[t];
    free(last);
    skeleton_drop_arcs(s, early);
    free(early);
}

/* ---- blocks ---- */

/* Path halving. */
static uint32_t union_find(uint32_t *up, uint32_t x)
{
    while (up[x] != x) {
        up[x] = up[up[x]];
        x = up[x];
    }
    return x;
}

/* The lower number becomes the root: blocks are numbered by their first tail. */
static void union_join(uint32_t *up, uint32_t a, uint32_t b)
{
    a = union_find(up, a);
    b = union_find(up, b);
    if (a < b)
        up[b] = a;
    else
        up[a] = b;
}

/* tail_block and head_block become classes of arcs; returns their number. Ports: t is "out of t", n
 * + t "into t". */
static uint32_t find_classes(struct skeleton *s)
{
    uint32_t n = s->n, count = 0;
    uint32_t *up = mem_new(uint32_t, 2 * (size_t)n), *name = mem_new(uint32_t, 2 * (size_t)n);
    for (uint32_t i = 0; i < 2 * n; i++) {
        up[i] = i;
        name[i] = NONE;
    }
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t a = s->child_off[t]; a < s->child_off[t + 1]; a++)
            union_join(up, t, n + s->child[a]);
    s->tail_block = mem_new(uint32_t, n);
    s->head_block = mem_new(uint32_t, n);
    memset(s->tail_block, 0xff, n * sizeof(uint32_t));
    memset(s->head_block, 0xff, n * sizeof(uint32_t));
    for (uint32_t i = 0; i < s->nonsinks; i++) {
        uint32_t t = s->phase_task[i], root = union_find(up, t);
        if (name[root] == NONE)
            name[root] = count++;
        s->tail_block[t] = name[root];
    }
    for (uint32_t t = 0; t < n; t++)
        if (s->parent_off[t + 1] > s->parent_off[t])
            s->head_block[t] = name[union_find(up, n + t)];
    free(up);
    free(name);
    return count;
}

/* Lists of tails and heads per block, in the order of phase_task and topo. */
static void fill_lists(struct skeleton *s, const struct workflow *w)
{
    uint32_t n = s->n, blocks = s->nblocks;
    s->tail_off = mem_new_zero(uint32_t, (size_t)blocks + 2);
    s->head_off = mem_new_zero(uint32_t, (size_t)blocks + 2);
    s->tail = mem_new(uint32_t, n);
    s->head = mem_new(uint32_t, n);
    for (uint32_t t = 0; t < n; t++) {
        if (s->tail_block[t] != NONE)
            s->tail_off[s->tail_block[t] + 2]++;
        if (s->head_block[t] != NONE)
            s->head_off[s->head_block[t] + 2]++;
    }
    for (uint32_t b = 0; b < blocks; b++) {
        s->tail_off[b + 2] += s->tail_off[b + 1];
        s->head_off[b + 2] += s->head_off[b + 1];
    }
    for (uint32_t i = 0; i < s->nonsinks; i++) {
        uint32_t t = s->phase_task[i];
        s->tail[s->tail_off[s->tail_block[t] + 1]++] = t;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = w->topo[i];
        if (s->head_block[t] != NONE)
            s->head[s->head_off[s->head_block[t] + 1]++] = t;
    }
}

static void free_lists(struct skeleton *s)
{
    free(s->tail_off);
    free(s->head_off);
    free(s->tail);
    free(s->head);
}

/* Can the blocks be taken one after another (no block waits for itself)? */
static bool is_acyclic(const struct skeleton *s)
{
    uint32_t removed = 0;
    uint32_t *waiting = mem_new_zero(uint32_t, s->nblocks);
    ARRAY(uint32_t) free_blocks = {0};
    for (uint32_t t = 0; t < s->n; t++)
        if (s->tail_block[t] != NONE && s->head_block[t] != NONE)
            waiting[s->tail_block[t]]++;
    for (uint32_t b = 0; b < s->nblocks; b++)
        if (!waiting[b])
            array_push(&free_blocks, b);
    while (free_blocks.n) {
        uint32_t b = array_pop(&free_blocks);
        removed++;
        for (uint32_t i = s->head_off[b]; i < s->head_off[b + 1]; i++) {
            uint32_t to = s->tail_block[s->head[i]];
            if (to != NONE && --waiting[to] == 0)
                array_push(&free_blocks, to);
        }
    }
    free(waiting);
    array_free(&free_blocks);
    return removed == s->nblocks;
}

/* Tarjan's strong components of the super-graph, with its own stack. component[b]; returns the
 * number. */
static uint32_t strong_components(const struct skeleton *s, uint32_t *component)
{
    uint32_t blocks = s->nblocks, time = 0, count = 0;
    uint32_t *index = mem_new_zero(uint32_t, blocks), *low = mem_new_zero(uint32_t, blocks);
    uint32_t *next = mem_new(uint32_t, blocks);
    ARRAY(uint32_t) path = {0};
    ARRAY(uint32_t) open = {0};
    memset(component, 0xff, blocks * sizeof *component);
    for (uint32_t root = 0; root < blocks; root++) {
        if (index[root])
            continue;
        array_push(&path, root);
        while (path.n) {
            uint32_t b = array_last(&path);
            if (!index[b]) {
                index[b] = low[b] = ++time;
                next[b] = s->head_off[b];
                array_push(&open, b);
            }
            bool deeper = false;
            while (next[b] < s->head_off[b + 1] && !deeper) {
                uint32_t to = s->tail_block[s->head[next[b]]];
                if (to == NONE || component[to] != NONE) {
                    next[b]++;
                } else if (!index[to]) {
                    array_push(&path, to);
                    deeper = true;
                } else {
                    low[b] = low[to] < low[b] ? low[to] : low[b];
                    next[b]++;
                }
            }
            if (deeper)
                continue;
            path.n--;
            if (low[b] == index[b]) {
                uint32_t member;
                do {
                    member = array_pop(&open);
                    component[member] = count;
                } while (member != b);
                count++;
            }
        }
    }
    free(index);
    free(low);
    free(next);
    array_free(&path);
    array_free(&open);
    return count;
}

/* Blocks that wait for each other become one that is not bipartite; numbers are given anew. */
static void merge_cycles(struct skeleton *s, const struct workflow *w)
{
    uint32_t *component = mem_new(uint32_t, s->nblocks);
    uint32_t classes = s->nblocks, count = strong_components(s, component), next = 0;
    uint32_t *name = mem_new(uint32_t, count), *members = mem_new_zero(uint32_t, count);
    memset(name, 0xff, count * sizeof *name);
    for (uint32_t b = 0; b < classes; b++)
        members[component[b]]++;
    for (uint32_t i = 0; i < s->nonsinks; i++) { /* numbered by phase and first tail again */
        uint32_t c = component[s->tail_block[s->phase_task[i]]];
        if (name[c] == NONE)
            name[c] = next++;
    }
    bool *merged = mem_new_zero(bool, count);
    for (uint32_t t = 0; t < s->n; t++) {
        uint32_t out = s->tail_block[t], in = s->head_block[t];
        if (out != NONE)
            s->tail_block[t] = name[component[out]];
        if (in != NONE)
            s->head_block[t] = name[component[in]];
        if (out != NONE && in != NONE && component[out] == component[in])
            merged[name[component[out]]] = true;
    }
    free_lists(s);
    s->nblocks = count;
    s->merged = merged;
    fill_lists(s, w);
    for (uint32_t b = 0; b < count; b++)
        s->nmerged += merged[b];
    free(component);
    free(name);
    free(members);
}

/* Classes, lists, and the first block of every phase. */
static void skeleton_parse(struct skeleton *s, const struct workflow *w)
{
    s->nblocks = find_classes(s);
    fill_lists(s, w);
    if (is_acyclic(s))
        s->merged = mem_new_zero(bool, s->nblocks);
    else
        merge_cycles(s, w);
    s->phase_block = mem_new(uint32_t, (size_t)s->nphases + 1);
    uint32_t phase = 0;
    for (uint32_t b = 0; b < s->nblocks; b++)
        while (phase <= s->phase[s->tail[s->tail_off[b]]])
            s->phase_block[phase++] = b;
    s->phase_block[s->nphases] = s->nblocks;
}

struct skeleton *skeleton_new(const struct workflow *w, bool use_phases, uint64_t budget)
{
    struct skeleton *s = mem_new_zero(struct skeleton, 1);
    s->n = w->ntasks;
    s->topo = w->topo;
    s->place = mem_new(uint32_t, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        s->place[w->topo[i]] = i;
    copy_arcs(s, w);
    find_phases(s, w, use_phases); /* shortcuts do not disturb it: tips have none to ready nodes */
    if (s->nphases > 1)
        drop_early_arcs(s);
    skeleton_remove_shortcuts(s, budget);
    skeleton_parse(s, w);
    return s;
}

void skeleton_free(struct skeleton *s)
{
    if (!s)
        return;
    free(s->place);
    free(s->child_off);
    free(s->child);
    free(s->parent_off);
    free(s->parent);
    free(s->phase);
    free(s->phase_off);
    free(s->phase_task);
    free(s->tail_block);
    free(s->head_block);
    free_lists(s);
    free(s->phase_block);
    free(s->merged);
    free(s);
}

/* ---- pieces ---- */

static int compare_places(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

struct order_piece *skeleton_piece(const struct skeleton *s, const uint32_t *tails, uint32_t ntails,
                                   const uint32_t *heads, uint32_t nheads, uint32_t *local)
{
    uint32_t *off = mem_new(uint32_t, (size_t)nheads + 1), at = 0;
    for (uint32_t h = 0; h < nheads; h++) {
        off[h] = at;
        at += s->parent_off[heads[h] + 1] - s->parent_off[heads[h]];
    }
    off[nheads] = at;
    uint32_t *parent = mem_new(uint32_t, at), *self = mem_new(uint32_t, ntails);
    for (uint32_t t = 0; t < ntails; t++)
        local[tails[t]] = t;
    for (uint32_t h = 0; h < nheads; h++) {
        for (uint32_t a = off[h]; a < off[h + 1]; a++)
            parent[a] = local[s->parent[s->parent_off[heads[h]] + a - off[h]]];
        qsort(parent + off[h], off[h + 1] - off[h], sizeof *parent, compare_places);
    }
    for (uint32_t t = 0; t < ntails; t++)
        self[t] = NONE;
    for (uint32_t h = 0; h < nheads; h++) {
        uint32_t v = heads[h]; /* a tail of the same piece: its place was noted above */
        if (s->tail_block[v] != NONE && local[v] < ntails && tails[local[v]] == v)
            self[local[v]] = h;
    }
    return piece_new(ntails, nheads, off, parent, self);
}

struct order_piece *skeleton_phase_piece(const struct skeleton *s, uint32_t phase, uint32_t *local)
{
    uint32_t from = s->phase_off[phase], ntails = s->phase_off[phase + 1] - from;
    uint32_t first = s->phase_block[phase], end = s->phase_block[phase + 1];
    uint32_t nheads = s->head_off[end] - s->head_off[first], *heads = mem_new(uint32_t, nheads);
    for (uint32_t h = 0; h < nheads; h++)
        heads[h] = s->place[s->head[s->head_off[first] + h]];
    if (nheads)
        qsort(heads, nheads, sizeof *heads, compare_places);
    for (uint32_t h = 0; h < nheads; h++)
        heads[h] = s->topo[heads[h]];
    struct order_piece *p = skeleton_piece(s, s->phase_task + from, ntails, heads, nheads, local);
    free(heads);
    return p;
}
