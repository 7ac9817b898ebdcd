/* A lower bound on the makespan of every valid mapping of a tree, transfers and memory counted.
 *
 * For each task x and each kind k of processor that its part may have:
 *
 *     reach[x][k]   the soonest end of the way from the root to x: each task on a kind that holds
 *                   it; between two kinds there is a cut, so the file between them is sent
 *     then          either all that is below x stays in x's part (only if k holds that), or some
 *                   of it is cut off at a task y: the way to y runs on k, the file of y is sent,
 *                   and the rest of the work is at best spread evenly over the other processors
 *
 * The least over k counts, and the largest over x is the bound:
 *
 *          0
 *          |      reach[x][k]: the way 0 .. x, the last of it on kind k
 *          x
 *         / \     W: work below x;  S: all speeds;  s: the speed of k
 *        .   .    stays:     W / s                            if k holds the subtree of x
 *       /         cut at y:  E / s + file(y) + (W - E) / (S - s)      E at least the way to y
 *      y
 *
 * The second is linear in E, so its least stands at the way to y, or at W where k is faster than
 * all others together.
 *
 * Besides: tasks that only the q largest memories hold are in at most q parts, which are connected, so
 * that these parts have tasks between them, too; the least work of such parts, and the waits for their
 * inputs, over the speeds of the q. Where memory is short this is what decides.
 *
 * Valid because it only drops constraints. O(n x kinds); processors are put together into MOST_KINDS
 * kinds by speed, each as fast and as large as its best. */
#include "plan/tree/bound.h"
#include "base/mem.h"
#include <stdlib.h>

enum { MOST_KINDS = 16, CELLS = 4000000 };

/* Processors with speeds from `slow` to `fast`; the largest has `memory`. */
struct bound_kind {
    double slow, fast, memory;
};

struct bound_work {
    const struct tree_setting *s;
    struct bound_kind kind[MOST_KINDS];
    uint32_t nkinds;
    double latency, per_byte; /* of the best link */
    double *reach;            /* tasks x kinds */
    double *soonest;          /* per task: what a cut below it costs, for one kind */
    double *least;            /* per task: over the kinds so far */
};

static int compare_kinds(const void *a, const void *b)
{
    const struct bound_kind *x = a, *y = b;
    if (x->fast != y->fast)
        return x->fast > y->fast ? -1 : 1;
    return x->memory > y->memory ? -1 : x->memory < y->memory;
}

/* Speeds and memories that differ; neighbours are put together while there are too many. */
static void bound_kinds(struct bound_work *b)
{
    const struct tree_setting *s = b->s;
    struct bound_kind *all = mem_new(struct bound_kind, s->nprocs);
    uint32_t distinct = 0;
    for (uint32_t q = 0; q < s->nprocs; q++)
        all[q] = (struct bound_kind){s->speed[q], s->speed[q], s->memory[q]};
    qsort(all, s->nprocs, sizeof *all, compare_kinds);
    for (uint32_t q = 0; q < s->nprocs; q++)
        if (!distinct || compare_kinds(&all[distinct - 1], &all[q]) != 0)
            all[distinct++] = all[q];
    uint32_t most = (uint32_t)(CELLS / s->t->n);
    most = most < 2 ? 2 : most > MOST_KINDS ? MOST_KINDS : most;
    b->nkinds = distinct < most ? distinct : most;
    for (uint32_t k = 0; k < b->nkinds; k++) {
        uint32_t from = (uint32_t)((uint64_t)k * distinct / b->nkinds);
        uint32_t to = (uint32_t)((uint64_t)(k + 1) * distinct / b->nkinds);
        b->kind[k] = all[from];
        for (uint32_t q = from; q < to; q++) {
            b->kind[k].slow = all[q].slow;
            b->kind[k].memory = fmax(b->kind[k].memory, all[q].memory);
        }
    }
    free(all);
}

/* No transfer is quicker than over the best link. */
static void best_link(struct bound_work *b)
{
    const struct platform *p = b->s->platform;
    b->latency = p->latency;
    b->per_byte = 1 / p->bandwidth;
    for (size_t i = 0; i < p->nlinks; i++)
        if (p->links[i].bandwidth > 0) {
            b->latency = fmin(b->latency, p->links[i].latency);
            b->per_byte = fmin(b->per_byte, 1 / p->links[i].bandwidth);
        }
}

static double least_transfer(const struct bound_work *b, uint32_t x)
{
    return b->latency + b->s->t->file[x] * b->per_byte;
}

/* Parents come before children. */
static void reach_tasks(struct bound_work *b)
{
    const struct tree *t = b->s->t;
    for (uint32_t x = 0; x < t->n; x++) {
        double *own = b->reach + (size_t)x * b->nkinds, over = 0;
        const double *above = x ? b->reach + (size_t)t->parent[x] * b->nkinds : NULL;
        if (x) {
            over = above[0];
            for (uint32_t k = 1; k < b->nkinds; k++)
                over = fmin(over, above[k]);
            over += least_transfer(b, x);
        }
        for (uint32_t k = 0; k < b->nkinds; k++) {
            double from = x ? fmin(above[k], over) : 0;
            own[k] =
                b->s->need[x] <= b->kind[k].memory ? from + t->work[x] / b->kind[k].fast : INFINITY;
        }
    }
}

/* What is below each task when its part has kind k: least[] becomes no more than that. */
static void bound_below(struct bound_work *b, uint32_t k)
{
    const struct tree_setting *s = b->s;
    const struct tree *t = s->t;
    double fast = b->kind[k].fast, others = s->all_speeds - b->kind[k].slow;
    /* seconds more for each unit of work on the way to a cut than if it were spread, and for each
     * unit that is spread */
    double rate = others > fast ? 1 / others : 1 / fast;
    double more = others > fast ? 1 / fast - 1 / others : 0;
    for (uint32_t x = t->n; x--;) {
        double cut = INFINITY, below = s->work[x] - t->work[x];
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
            cut = fmin(cut, fmin(least_transfer(b, c), t->work[c] * more + b->soonest[c]));
        b->soonest[x] = s->nprocs > 1 ? cut : INFINITY;
        double stays = s->least[x] <= b->kind[k].memory ? below / fast : INFINITY;
        double then = fmin(stays, b->soonest[x] + below * rate);
        b->least[x] = fmin(b->least[x], b->reach[(size_t)x * b->nkinds + k] + then);
    }
}

/* The same with another unknown: the fastest kind on the whole way to x is k, so every task on it runs
 * no faster, and what is below has all other processors at best. No transfers: where files are small
 * and the way changes kinds, this is the larger of the two. `path` is room for a number a task. */
static void bound_ways(struct bound_work *b, uint32_t k, const double *fastest, double *path,
                       double *least)
{
    const struct tree *t = b->s->t;
    double fast = b->kind[k].fast, rest = fmax(fast, b->s->all_speeds - b->kind[k].slow);
    for (uint32_t x = 0; x < t->n; x++) {
        path[x] = (x ? path[t->parent[x]] : 0) + t->work[x] / fmin(fast, fastest[x]);
        least[x] = fmin(least[x], path[x] + (b->s->work[x] - t->work[x]) / rest);
    }
}

static double ways_bound(struct bound_work *b)
{
    uint32_t n = b->s->t->n;
    double *fastest = mem_new(double, n), *path = mem_new(double, n), bound = 0;
    for (uint32_t x = 0; x < n; x++) {
        b->least[x] = INFINITY;
        fastest[x] = 0;
        for (uint32_t k = 0; k < b->nkinds; k++)
            if (b->s->need[x] <= b->kind[k].memory)
                fastest[x] = fmax(fastest[x], b->kind[k].fast);
        if (fastest[x] == 0)
            fastest[x] = b->kind[0].fast;
    }
    for (uint32_t k = 0; k < b->nkinds; k++)
        bound_ways(b, k, fastest, path, b->least);
    for (uint32_t x = 0; x < n; x++)
        bound = fmax(bound, b->least[x]);
    free(fastest);
    free(path);
    return bound;
}

/* ---- parts that memory forces ---- */

/* Of the q processors with the largest memories. */
struct forced_parts {
    uint32_t q;
    double next;    /* what is larger than this fits into none of the others; < 0: there are none */
    double speeds;  /* together */
    double slowest; /* a part that waits for t seconds loses at least so much work a second */
    double price;   /* of a part */
    double
        *inside; /* per task, with all below it: the least cost if its part has its parent, too */
    double *outside; /* so too, if not */
};

/* The least work, waits and prices of disjoint parts that hold every task that needs more than `next`.
 * A part waits until its input can be there (`starts`). */
static double forced_cost(const struct tree_setting *s, const double *starts,
                          struct forced_parts *f)
{
    const struct tree *t = s->t;
    for (uint32_t x = t->n; x--;) {
        double with = t->work[x], without = s->need[x] > f->next ? INFINITY : 0;
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            with += fmin(f->inside[c], f->outside[c]);
            without += f->outside[c];
        }
        f->inside[x] = with;
        f->outside[x] = fmin(without, with + f->price + f->slowest * starts[x]);
    }
    return f->outside[0];
}

/* Whatever the price of a part, cost - price x q is no more than what at most q parts cost: the best
 * price, by golden section since that is concave, gives the bound. */
static double forced_bound(const struct tree_setting *s, const double *starts,
                           struct forced_parts *f)
{
    enum { PRICES = 40 };
    static const double GOLDEN = 0.6180339887498949;
    double low = 0, high = s->work[0] + f->slowest * s->work[0], most = 0;
    for (int i = 0; i < PRICES; i++) {
        double left = high - GOLDEN * (high - low), right = low + GOLDEN * (high - low);
        f->price = left;
        double at_left = forced_cost(s, starts, f) - left * f->q;
        f->price = right;
        double at_right = forced_cost(s, starts, f) - right * f->q;
        most = fmax(most, fmax(at_left, at_right));
        if (at_left > at_right)
            high = right;
        else
            low = left;
    }
    return most / f->speeds;
}

/* For each q whose memories are all larger than those of the others. `starts`: when the input of each
 * task can be there at the soonest, if it is cut off. */
static double memory_bound(const struct tree_setting *s, const double *starts)
{
    enum { MOST_STEPS = 16 };
    struct forced_parts f = {.slowest = INFINITY};
    uint32_t steps = 0, seen = 0;
    double most = 0, largest = 0;
    for (uint32_t q = 1; q < s->nprocs; q++)
        steps += s->memory[q] < s->memory[q - 1];
    for (uint32_t x = 0; x < s->t->n; x++)
        largest = fmax(largest, s->need[x]);
    f.inside = mem_new(double, s->t->n);
    f.outside = mem_new(double, s->t->n);
    for (uint32_t q = 1; q <= s->nprocs; q++) {
        f.speeds += s->speed[q - 1];
        f.slowest = fmin(f.slowest, s->speed[q - 1]);
        f.next = q < s->nprocs ? s->memory[q] : -1;
        f.q = q;
        if (q < s->nprocs && (s->memory[q] == s->memory[q - 1] || largest <= s->memory[q]))
            continue;
        /* many memories that differ: some of them, and all processors */
        bool looked = q == s->nprocs || steps <= MOST_STEPS || seen++ % (steps / MOST_STEPS) == 0;
        if (looked)
            most = fmax(most, forced_bound(s, starts, &f));
    }
    free(f.inside);
    free(f.outside);
    return most;
}

/* When the input of each task can be there if it is the first of a part. */
static void bound_starts(const struct bound_work *b, double *starts)
{
    starts[0] = 0;
    for (uint32_t x = 1; x < b->s->t->n; x++) {
        const double *above = b->reach + (size_t)b->s->t->parent[x] * b->nkinds;
        double soonest = above[0];
        for (uint32_t k = 1; k < b->nkinds; k++)
            soonest = fmin(soonest, above[k]);
        starts[x] = soonest + least_transfer(b, x);
    }
}

/* A hair less than computed: the makespan sums in another order. */
double tree_lower_bound(const struct tree_setting *s)
{
    struct bound_work b = {.s = s};
    uint32_t n = s->t->n;
    bound_kinds(&b);
    best_link(&b);
    b.reach = mem_new(double, (size_t)n *b.nkinds);
    b.soonest = mem_new(double, n);
    b.least = mem_new(double, n);
    for (uint32_t x = 0; x < n; x++)
        b.least[x] = INFINITY;
    reach_tasks(&b);
    for (uint32_t k = 0; k < b.nkinds; k++)
        bound_below(&b, k);
    bound_starts(&b, b.soonest);
    double bound = memory_bound(s, b.soonest);
    for (uint32_t x = 0; x < n; x++)
        if (isfinite(b.least[x])) /* no mapping at all, or rounding of the memory */
            bound = fmax(bound, b.least[x]);
    bound = fmax(bound, ways_bound(&b));
    free(b.reach);
    free(b.soonest);
    free(b.least);
    return (bound + s->root_transfer) * (1 - 1e-12);
}
