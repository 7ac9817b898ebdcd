/* The optimum of a small tree.
 *
 * Tasks are decided from the leaves up (numbers fall, so children come before parents): a task
 * stays with its parent, or its edge is cut and its part, whole by then, goes to a processor. So
 * work, least memory and everything below a part are exact when it is closed:
 *
 *            0  ..... undecided
 *           / \
 *          1   2 ...  undecided
 *         /|   |\
 *        3 4   5 6    decided: 4 stays with 1 (open[1] = w1 + w4), 3 is cut: below[1] = its tail
 *
 * A branch ends when it cannot become shorter than the best known:
 *   - what is below a cut, its transfer, and all open work on the way to the root, each task at
 *     best on the fastest processor that holds what is joined to it already;
 *   - all open work over the processors left;
 *   - memory only grows when a part grows: an open part that no processor left holds ends it.
 *
 * Processors of equal speed and memory are one kind, unless links differ. */
#include "plan/tree/small.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

enum { REMEMBERED_PARTS = 1 << 12, MOST_KINDS = 64 };

/* Processors that cannot be told apart. */
struct proc_kind {
    double speed, memory;
    uint32_t proc[SMALL_TREE_TASKS]; /* of the setting */
    uint32_t left, count;
};

struct known_part {
    uint32_t tasks; /* a bit each; 0: empty */
    double memory;
};

struct small_search {
    const struct tree_setting *s;
    uint32_t n, nkinds;
    struct proc_kind kind[MOST_KINDS]; /* fastest first */
    struct tree_memory *room;
    struct known_part *known;
    uint64_t steps; /* left; 0: given up */
    double speeds;  /* of all processors left */
    double waiting; /* work not closed yet */

    /* per task; what is said of x holds for x with what has joined it */
    uint8_t cut[SMALL_TREE_TASKS];
    uint32_t proc[SMALL_TREE_TASKS]; /* of parts closed */
    uint32_t joined[SMALL_TREE_TASKS];
    double open[SMALL_TREE_TASKS], below[SMALL_TREE_TASKS];
    double needs[SMALL_TREE_TASKS]; /* a lower bound on the memory of the part that will hold x */
    double length[SMALL_TREE_TASKS];

    double best;
    uint8_t best_cut[SMALL_TREE_TASKS];
    uint32_t best_proc[SMALL_TREE_TASKS];
};

static int fastest_kind_first(const void *a, const void *b)
{
    const struct proc_kind *x = a, *y = b;
    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory > y->memory ? -1 : 1;
    return x->proc[0] < y->proc[0] ? -1 : x->proc[0] > y->proc[0];
}

/* The kinds into kind[]; false: too many of them. No more of a kind than there are tasks. */
static bool list_kinds(const struct tree_setting *s, struct proc_kind *kind, uint32_t *count)
{
    uint32_t n = 0;
    for (uint32_t q = 0; q < s->nprocs; q++) {
        uint32_t k = 0;
        while (k < n &&
               (!s->uniform || kind[k].speed != s->speed[q] || kind[k].memory != s->memory[q]))
            k++;
        if (k == MOST_KINDS)
            return false;
        if (k == n)
            kind[n++] = (struct proc_kind){.speed = s->speed[q], .memory = s->memory[q]};
        if (kind[k].left < s->t->n)
            kind[k].proc[kind[k].left++] = q;
        kind[k].count = kind[k].left;
    }
    qsort(kind, n, sizeof *kind, fastest_kind_first);
    *count = n;
    return true;
}

bool small_tree(const struct tree_setting *s)
{
    struct proc_kind kind[MOST_KINDS];
    uint32_t count;
    return s->t->n <= SMALL_TREE_TASKS && list_kinds(s, kind, &count);
}

/* Least memory of the part of x, whose cuts are all decided. */
static double part_memory(struct small_search *b, uint32_t x)
{
    uint32_t tasks = b->joined[x];
    struct known_part *entry = &b->known[(tasks * 2654435761u) >> 20];
    if (entry->tasks != tasks) {
        entry->tasks = tasks;
        entry->memory = tree_least_memory(b->room, x, b->cut, b->s->counting, NULL, NULL);
    }
    return entry->memory;
}

/* The fastest kind left that has so much memory; 0: none. */
static double fastest_left(const struct small_search *b, double memory)
{
    for (uint32_t k = 0; k < b->nkinds; k++)
        if (b->kind[k].left && b->kind[k].memory >= memory)
            return b->kind[k].speed;
    return 0;
}

/* Could the mapping still become shorter than the best, when what ends at task x (with its open
 * work) has `tail` seconds after it? */
static bool has_hope(const struct small_search *b, uint32_t x, double tail)
{
    double limit = (b->best - b->s->root_transfer) * (1 - 1e-12);
    if (b->waiting >= b->speeds * limit)
        return false;
    for (; x != NONE; x = b->s->t->parent[x]) {
        double speed = fastest_left(b, b->needs[x]);
        if (speed == 0)
            return false;
        tail += b->open[x] / speed;
        if (tail >= limit)
            return false;
    }
    return true;
}

/* Seconds to send the file of x to its part on processor q: at best, when the sender is open. */
static double soonest_transfer(const struct small_search *b, uint32_t x, uint32_t q)
{
    const struct tree_setting *s = b->s;
    if (s->uniform)
        return setting_transfer(s, q, q, x);
    double least = INFINITY;
    for (uint32_t k = 0; k < b->nkinds; k++)
        if (b->kind[k].left)
            least = fmin(least, setting_transfer(s, b->kind[k].proc[0], q, x));
    return least;
}

/* The longest transfer and length below the part of x, when it is on processor q: exact. */
static double below_on(const struct small_search *b, uint32_t x, uint32_t q)
{
    const struct tree *t = b->s->t;
    if (b->s->uniform)
        return b->below[x];
    double below = 0;
    for (uint32_t c = x + 1; c < b->n; c++)
        if (b->cut[c] && (b->joined[x] >> t->parent[c] & 1))
            below = fmax(below, setting_transfer(b->s, q, b->proc[c], c) + b->length[c]);
    return below;
}

static void decide_task(struct small_search *b, uint32_t x);

static void close_root(struct small_search *b)
{
    double memory = part_memory(b, 0);
    for (uint32_t k = 0; k < b->nkinds; k++) {
        struct proc_kind *kind = &b->kind[k];
        if (!kind->left || kind->memory < memory)
            continue;
        uint32_t q = kind->proc[kind->left - 1];
        double makespan = b->s->root_transfer + b->open[0] / kind->speed + below_on(b, 0, q);
        if (makespan < b->best * (1 - 1e-12)) {
            b->best = makespan;
            b->proc[0] = q;
            memcpy(b->best_cut, b->cut, sizeof b->cut);
            memcpy(b->best_proc, b->proc, sizeof b->proc);
        }
    }
}

/* Cut x off, on every kind of processor that holds it. */
static void try_cuts(struct small_search *b, uint32_t x)
{
    uint32_t parent = b->s->t->parent[x];
    double was = b->below[parent];
    b->cut[x] = 1;
    b->waiting -= b->open[x];
    for (uint32_t k = 0; k < b->nkinds; k++) {
        struct proc_kind *kind = &b->kind[k];
        if (!kind->left || kind->memory < b->needs[x])
            continue;
        uint32_t q = kind->proc[--kind->left];
        b->speeds -= kind->speed;
        b->proc[x] = q;
        b->length[x] = b->open[x] / kind->speed + below_on(b, x, q);
        double tail = soonest_transfer(b, x, q) + b->length[x];
        b->below[parent] = fmax(was, tail);
        if (has_hope(b, parent, b->below[parent]))
            decide_task(b, x - 1);
        b->speeds += kind->speed;
        kind->left++;
    }
    b->below[parent] = was;
    b->waiting += b->open[x];
    b->cut[x] = 0;
}

/* Leave x with its parent. */
static void try_joining(struct small_search *b, uint32_t x)
{
    uint32_t parent = b->s->t->parent[x];
    double open = b->open[parent], below = b->below[parent], needs = b->needs[parent];
    b->open[parent] += b->open[x];
    b->below[parent] = fmax(below, b->below[x]);
    b->needs[parent] = fmax(needs, b->needs[x]);
    b->joined[parent] |= b->joined[x];
    if (has_hope(b, parent, b->below[parent]))
        decide_task(b, x - 1);
    b->open[parent] = open;
    b->below[parent] = below;
    b->needs[parent] = needs;
    b->joined[parent] &= ~b->joined[x];
}

/* x and all above it are open; everything with a larger number is decided. As deep as the tree has
 * tasks: SMALL_TREE_TASKS. */
static void decide_task(struct small_search *b, uint32_t x)
{
    if (b->steps == 0 || --b->steps == 0)
        return;
    if (x == 0) {
        close_root(b);
        return;
    }
    double needs = b->needs[x];
    b->needs[x] = part_memory(b, x);
    if (fastest_left(b, b->needs[x]) > 0) {
        try_joining(b, x);
        try_cuts(b, x);
    }
    b->needs[x] = needs;
}

/* The best found as a snapshot. */
static void store_best(const struct small_search *b, struct snapshot *best)
{
    struct partition *p = partition_new(b->s, false);
    for (uint32_t x = 0; x < b->n; x++)
        if (b->best_cut[x] || x == 0) {
            uint32_t i = x ? partition_cut(p, partition_piece_of(p, x), x) : 0;
            partition_map(p, i, b->best_proc[x]);
        }
    snapshot_store(best, p);
    partition_free(p);
}

/* Branch and bound from the leaves up: tasks are numbered parents first, so that the last is a leaf,
 * and when a task is decided everything below it has been. True: all was tried within the steps, and
 * the best that is known is the optimum, or there is none. */
bool small_tree_search(const struct tree_setting *s, struct snapshot *best, uint64_t steps)
{
    struct small_search *b = mem_new_zero(struct small_search, 1);
    b->s = s;
    b->n = s->t->n;
    list_kinds(s, b->kind, &b->nkinds);
    b->room = tree_memory_new(s->t);
    b->known = mem_new_zero(struct known_part, REMEMBERED_PARTS);
    b->steps = steps;
    b->best = best->makespan;
    for (uint32_t k = 0; k < b->nkinds; k++)
        b->speeds += b->kind[k].left * b->kind[k].speed;
    for (uint32_t x = 0; x < b->n; x++) {
        b->open[x] = s->t->work[x];
        b->waiting += s->t->work[x];
        b->needs[x] = s->need[x];
        b->joined[x] = 1u << x;
    }
    decide_task(b, b->n - 1);
    bool all = b->steps > 0;
    if (b->best < best->makespan)
        store_best(b, best);
    tree_memory_free(b->room);
    free(b->known);
    free(b);
    return all;
}
