/* A partition of a tree into pieces, its mapping, and the makespan kept up to date; partition.h
 * says the cost of each operation.
 *
 * The pieces form the quotient tree, linked by slots:
 *
 *         slot 0: root piece            first/next/prev link the children of a piece,
 *         /      |        \             slot_of[task] is set for roots of pieces,
 *     slot 3   slot 1   slot 4          cut[task] says that a task is one,
 *       |                               unused slots hang on `unused` by `next`: last in, first out
 *     slot 2
 *
 * Invariants: length = seconds of the piece + below; below = the longest transfer + length of a
 * child; holder[] and proc are inverse. An operation changes some pieces and brings lengths up to
 * date along the ways to the root, stopping where nothing changes. */
#include "plan/tree/partition.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

/* A search meets the same pieces again and again. 64 bits of hash are taken for the piece: of 10^7
 * different pieces two alike are less likely than a broken memory cell, and every plan is checked
 * in the end. */
struct remembered {
    uint64_t key;
    double memory;
};
enum { REMEMBERED = 1 << 14 };

struct partition *partition_new(const struct tree_setting *s, bool equal)
{
    struct partition *p = mem_new_zero(struct partition, 1);
    p->s = s;
    p->speed = equal ? s->equal : s->speed;
    p->holder = mem_new(uint32_t, s->nprocs);
    p->cut = mem_new_zero(uint8_t, s->t->n);
    p->slot_of = mem_new(uint32_t, s->t->n);
    p->room = hill_room_new(s->hills);
    p->memories = mem_new_zero(struct remembered, REMEMBERED);
    p->capacity = 64;
    p->at = mem_new(struct tree_piece, p->capacity);
    partition_clear(p);
    return p;
}

void partition_free(struct partition *p)
{
    if (!p)
        return;
    free(p->at);
    free(p->holder);
    free(p->cut);
    free(p->slot_of);
    hill_room_free(p->room);
    free(p->cuts);
    free(p->memories);
    free(p);
}

void partition_clear(struct partition *p)
{
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->at[i].root != NONE)
            p->cut[p->at[i].root] = 0;
    for (uint32_t q = 0; q < p->s->nprocs; q++)
        p->holder[q] = NONE;
    p->idle = p->s->nprocs;
    p->slots = p->live = 1;
    p->unused = NONE;
    p->at[0] = (struct tree_piece){.root = 0,
                                   .proc = NONE,
                                   .parent = NONE,
                                   .first = NONE,
                                   .next = NONE,
                                   .prev = NONE,
                                   .stamp = ++p->stamps,
                                   .work = p->s->work[0],
                                   .memory = p->s->least[0],
                                   .most = p->s->least[0]};
    p->cut[0] = 1;
    p->slot_of[0] = 0;
    partition_refresh(p, 0);
}

void partition_use_speeds(struct partition *p, bool equal)
{
    p->speed = equal ? p->s->equal : p->s->speed;
    partition_refresh_all(p);
}

double partition_makespan(const struct partition *p)
{
    return p->s->root_transfer + p->at[0].length;
}

/* Always from whole subtrees, so that errors do not add up. */
static void sum_work(struct partition *p, uint32_t i)
{
    struct tree_piece *piece = &p->at[i];
    double work = p->s->work[piece->root];
    for (uint32_t c = piece->first; c != NONE; c = p->at[c].next)
        work -= p->s->work[p->at[c].root];
    piece->work = work > 0 ? work : 0;
    piece->stale_work = false;
}

/* MS of one piece from its children's; did it change? O(children). */
static bool recompute_length(struct partition *p, uint32_t i)
{
    struct tree_piece *piece = &p->at[i];
    double below = 0, was = piece->length;
    if (piece->stale_work)
        sum_work(p, i);
    if (p->s->uniform) {
        const double *file = p->s->t->file;
        for (uint32_t c = piece->first; c != NONE; c = p->at[c].next) {
            double through = p->s->latency + file[p->at[c].root] * p->s->per_byte + p->at[c].length;
            below = through > below ? through : below;
        }
    } else {
        for (uint32_t c = piece->first; c != NONE; c = p->at[c].next)
            below = fmax(below, piece_transfer(p, c) + p->at[c].length);
    }
    piece->below = below;
    piece->length = piece_seconds(p, piece) + below;
    return piece->length != was;
}

/* The length of piece i was `was` when its parent looked: on towards the root while something
 * changes. With links alike a parent looks at all its children only when the longest of them became
 * shorter. */
static void climb_on(struct partition *p, uint32_t i, double was)
{
    for (uint32_t parent; (parent = p->at[i].parent) != NONE && p->at[i].length != was;
         i = parent) {
        struct tree_piece *above = &p->at[parent];
        double transfer = piece_transfer(p, i), now = transfer + p->at[i].length;
        double before = above->length;
        if (now < above->below && transfer + was < above->below)
            return;
        if (now >= above->below) {
            above->below = now;
            above->length = piece_seconds(p, above) + now;
        } else {
            recompute_length(p, parent);
        }
        was = before;
    }
}

/* The same where links differ: a new processor changes the transfers on both sides, so the parent is
 * looked at in any case. */
static void climb_lengths(struct partition *p, uint32_t i, bool look)
{
    while (i != NONE) {
        bool changed = recompute_length(p, i);
        if (!changed && !look)
            break;
        look = false;
        i = p->at[i].parent;
    }
}

void partition_refresh(struct partition *p, uint32_t i)
{
    if (!p->deferred && p->s->uniform) {
        double was = p->at[i].length;
        recompute_length(p, i);
        climb_on(p, i, was);
        return;
    }
    if (!p->deferred) {
        climb_lengths(p, i, true);
        return;
    }
    for (uint32_t k = 0; k < p->nstale && k < PARTITION_STALE; k++)
        if (p->stale[k] == i)
            return;
    if (p->nstale < PARTITION_STALE)
        p->stale[p->nstale] = i;
    p->nstale++;
}

void partition_defer(struct partition *p)
{
    p->deferred = true;
    p->nstale = 0;
}

/* First every stale piece by itself, then the ways up from them: a piece is consistent with its
 * children in the end, since whoever changed climbs on from there. */
void partition_settle(struct partition *p)
{
    p->deferred = false;
    if (p->nstale > PARTITION_STALE) {
        partition_refresh_all(p);
        return;
    }
    double was[PARTITION_STALE];
    for (uint32_t k = p->nstale; k--;) {
        was[k] = p->at[p->stale[k]].length; /* of one that is gone, too: nobody asks */
        if (p->at[p->stale[k]].root != NONE)
            recompute_length(p, p->stale[k]);
    }
    for (uint32_t k = 0; k < p->nstale; k++) {
        if (p->at[p->stale[k]].root == NONE)
            continue;
        if (p->s->uniform)
            climb_on(p, p->stale[k], was[k]);
        else
            climb_lengths(p, p->stale[k], true);
    }
}

void partition_order(const struct partition *p, uint32_t *out)
{
    uint32_t n = 0;
    out[n++] = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t c = p->at[out[k]].first; c != NONE; c = p->at[c].next)
            out[n++] = c;
}

/* Children before parents, once each. */
void partition_refresh_all(struct partition *p)
{
    uint32_t *order = mem_new(uint32_t, p->live);
    partition_order(p, order);
    for (uint32_t k = p->live; k--;)
        recompute_length(p, order[k]);
    free(order);
}

void partition_starts(const struct partition *p, const uint32_t *order, double *out)
{
    for (uint32_t k = 0; k < p->live; k++) {
        uint32_t i = order[k], parent = p->at[i].parent;
        out[i] = piece_transfer(p, i);
        if (parent != NONE)
            out[i] += out[parent] + piece_seconds(p, &p->at[parent]);
    }
}

uint32_t partition_critical(const struct partition *p, uint32_t *out)
{
    uint32_t n = 0, i = 0;
    while (i != NONE) {
        out[n++] = i;
        uint32_t next = NONE;
        double longest = -1;
        for (uint32_t c = p->at[i].first; c != NONE; c = p->at[c].next) {
            double through = piece_transfer(p, c) + p->at[c].length;
            if (through > longest || (through == longest && p->at[c].root < p->at[next].root)) {
                longest = through;
                next = c;
            }
        }
        i = next;
    }
    return n;
}

/* ---- changing ---- */

uint32_t partition_piece_of(const struct partition *p, uint32_t x)
{
    while (!p->cut[x])
        x = p->s->t->parent[x];
    return p->slot_of[x];
}

static void link_child(struct partition *p, uint32_t parent, uint32_t i)
{
    p->at[i].parent = parent;
    p->at[i].prev = NONE;
    p->at[i].next = p->at[parent].first;
    if (p->at[i].next != NONE)
        p->at[p->at[i].next].prev = i;
    p->at[parent].first = i;
}

static void unlink_child(struct partition *p, uint32_t i)
{
    struct tree_piece *piece = &p->at[i];
    if (piece->prev != NONE)
        p->at[piece->prev].next = piece->next;
    else
        p->at[piece->parent].first = piece->next;
    if (piece->next != NONE)
        p->at[piece->next].prev = piece->prev;
}

/* The tasks of piece i changed: its work and memory are unknown. */
static void renew_piece(struct partition *p, uint32_t i)
{
    struct tree_piece *piece = &p->at[i];
    piece->most = p->s->least[piece->root];
    piece->memory = piece->first == NONE ? piece->most : NAN;
    piece->stamp = ++p->stamps;
    piece->stale_work = true; /* summed with the length, in one pass over the children */
}

/* A new piece with root x, not linked yet. */
static uint32_t new_piece(struct partition *p, uint32_t x)
{
    uint32_t k = p->unused;
    if (k != NONE) {
        p->unused = p->at[k].next;
    } else {
        if (p->slots == p->capacity) {
            p->capacity *= 2;
            p->at = mem_resize(p->at, p->capacity);
        }
        k = p->slots++;
    }
    p->at[k] = (struct tree_piece){
        .root = x, .proc = NONE, .first = NONE, .next = NONE, .prev = NONE, .length = -1};
    p->cut[x] = 1;
    p->slot_of[x] = k;
    p->live++;
    return k;
}

uint32_t partition_cut(struct partition *p, uint32_t from, uint32_t x)
{
    double most = isnan(p->at[from].memory) ? p->at[from].most : p->at[from].memory;
    uint32_t k = new_piece(p, x);
    for (uint32_t c = p->at[from].first, next; c != NONE; c = next) {
        next = p->at[c].next;
        if (setting_inside(p->s, p->at[c].root, x)) {
            unlink_child(p, c);
            link_child(p, k, c);
        }
    }
    link_child(p, from, k);
    renew_piece(p, k);
    renew_piece(p, from);
    /* A part of a piece needs no more than the piece. */
    p->at[k].most = fmin(p->at[k].most, most);
    p->at[from].most = fmin(p->at[from].most, most);
    if (p->deferred)
        partition_refresh(p, k);
    else
        recompute_length(p, k);
    partition_refresh(p, from);
    return k;
}

static int by_preorder(const void *a, const void *b, void *context)
{
    const struct tree_setting *s = context;
    uint32_t x = s->enter[*(const uint32_t *)a], y = s->enter[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

void partition_cut_all(struct partition *p, uint32_t from, uint32_t *tasks, size_t count,
                       uint32_t *slots)
{
    const struct tree_setting *s = p->s;
    if (!count)
        return;
    qsort_r(tasks, count, sizeof *tasks, by_preorder, (void *)s);
    for (size_t k = 0; k < count; k++)
        slots[k] = new_piece(p, tasks[k]);
    for (uint32_t c = p->at[from].first, next; c != NONE; c = next) {
        next = p->at[c].next;
        /* the last of the tasks that does not come after c */
        size_t low = 0, high = count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (s->enter[tasks[middle]] <= s->enter[p->at[c].root])
                low = middle + 1;
            else
                high = middle;
        }
        if (low && setting_inside(s, p->at[c].root, tasks[low - 1])) {
            unlink_child(p, c);
            link_child(p, slots[low - 1], c);
        }
    }
    for (size_t k = 0; k < count; k++) {
        link_child(p, from, slots[k]);
        renew_piece(p, slots[k]);
        recompute_length(p, slots[k]);
    }
    renew_piece(p, from);
    partition_refresh(p, from);
}

void partition_merge(struct partition *p, uint32_t i)
{
    uint32_t parent = p->at[i].parent;
    partition_map(p, i, NONE);
    unlink_child(p, i);
    for (uint32_t c = p->at[i].first, next; c != NONE; c = next) {
        next = p->at[c].next;
        link_child(p, parent, c);
    }
    p->cut[p->at[i].root] = 0;
    p->at[i].root = NONE;
    p->at[i].next = p->unused;
    p->unused = i;
    p->live--;
    renew_piece(p, parent);
    partition_refresh(p, parent);
}

void partition_map(struct partition *p, uint32_t i, uint32_t proc)
{
    struct tree_piece *piece = &p->at[i];
    if (piece->proc == proc)
        return;
    if (piece->proc != NONE) {
        p->holder[piece->proc] = NONE;
        p->idle++;
    }
    piece->proc = proc;
    if (proc != NONE) {
        p->holder[proc] = i;
        p->idle--;
    }
    partition_refresh(p, i);
}

void partition_swap(struct partition *p, uint32_t a, uint32_t b)
{
    uint32_t i = p->holder[a], j = p->holder[b];
    p->holder[a] = j;
    p->holder[b] = i;
    if (i != NONE)
        p->at[i].proc = b;
    if (j != NONE)
        p->at[j].proc = a;
    if (i != NONE)
        partition_refresh(p, i);
    if (j != NONE)
        partition_refresh(p, j);
}

/* ---- memory ---- */

/* splitmix64: sums of scrambled numbers do not depend on the order of the children. */
static uint64_t partition_scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A piece is its root and the roots of its children, in any order. */
static uint64_t piece_key(const struct partition *p, uint32_t i)
{
    uint64_t key = partition_scramble(p->at[i].root);
    for (uint32_t c = p->at[i].first; c != NONE; c = p->at[c].next)
        key += partition_scramble((uint64_t)p->at[c].root << 32 | 1);
    return key | 1; /* never 0, the empty entry */
}

void partition_note_cut(struct partition *p, uint32_t k, uint32_t root)
{
    if (k == p->cuts_capacity) {
        p->cuts_capacity = k ? 2 * k : 64;
        p->cuts = mem_resize(p->cuts, p->cuts_capacity);
    }
    p->cuts[k] = root;
}

/* Computed when asked, remembered in the piece, and by hash across pieces of other partitions of
 * the search. */
double partition_memory(struct partition *p, uint32_t i)
{
    struct tree_piece *piece = &p->at[i];
    if (isnan(piece->memory)) {
        uint64_t key = piece_key(p, i);
        struct remembered *entry = &p->memories[(key >> 20) % REMEMBERED];
        if (entry->key != key) {
            uint32_t count = 0;
            for (uint32_t c = piece->first; c != NONE; c = p->at[c].next)
                partition_note_cut(p, count++, p->at[c].root);
            entry->key = key;
            entry->memory = hills_piece(p->room, piece->root, p->cuts, count, p->cut,
                                        p->s->counting, &p->effort);
        }
        piece->memory = entry->memory;
    }
    return piece->memory;
}

bool partition_fits(struct partition *p, uint32_t i, double limit)
{
    const struct tree_piece *piece = &p->at[i];
    if (isnan(piece->memory) && piece->most <= limit)
        return true;
    if (p->s->need[piece->root] > limit)
        return false;
    return partition_memory(p, i) <= limit;
}

uint32_t partition_smallest_fit(struct partition *p, uint32_t i)
{
    for (uint32_t q = p->s->nprocs; q--;)
        if (p->holder[q] == NONE && partition_fits(p, i, p->s->memory[q]))
            return q;
    return NONE;
}

bool partition_mapped(const struct partition *p)
{
    return p->s->nprocs - p->idle == p->live;
}

/* ---- snapshots ---- */

static void snapshot_reserve(struct snapshot *s, uint32_t n)
{
    if (s->capacity < n) {
        s->root = mem_resize(s->root, n);
        s->proc = mem_resize(s->proc, n);
        s->capacity = n;
    }
    s->n = n;
}

void snapshot_store(struct snapshot *out, const struct partition *p)
{
    snapshot_reserve(out, p->live);
    uint32_t *order = mem_new(uint32_t, p->live);
    partition_order(p, order);
    for (uint32_t k = 0; k < p->live; k++) {
        out->root[k] = p->at[order[k]].root;
        out->proc[k] = p->at[order[k]].proc;
    }
    free(order);
    out->makespan = partition_makespan(p);
}

/* Parents come before children, so every cut is made inside a piece that exists. */
void snapshot_load(struct partition *p, const struct snapshot *in)
{
    partition_clear(p);
    for (uint32_t k = 0; k < in->n; k++) {
        uint32_t i = 0;
        if (k)
            i = partition_cut(p, partition_piece_of(p, in->root[k]), in->root[k]);
        if (in->proc[k] != NONE)
            partition_map(p, i, in->proc[k]);
    }
}

void snapshot_copy(struct snapshot *out, const struct snapshot *in)
{
    snapshot_reserve(out, in->n);
    if (in->n) {
        memcpy(out->root, in->root, in->n * sizeof *in->root);
        memcpy(out->proc, in->proc, in->n * sizeof *in->proc);
    }
    out->makespan = in->makespan;
}

void snapshot_keep(const struct partition *p, struct snapshot *out, uint32_t *found, uint32_t most)
{
    double makespan = partition_makespan(p);
    uint32_t at = 0;
    while (at < *found && out[at].makespan < makespan)
        at++;
    if (at == most || (at < *found && out[at].makespan == makespan))
        return;
    if (*found < most)
        ++*found;
    struct snapshot last = out[*found - 1];
    for (uint32_t k = *found - 1; k > at; k--)
        out[k] = out[k - 1];
    out[at] = last;
    snapshot_store(&out[at], p);
}

void snapshot_free(struct snapshot *s)
{
    free(s->root);
    free(s->proc);
    *s = (struct snapshot){0};
}
