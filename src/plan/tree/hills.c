/* Least memory of pieces over the kept segments of whole subtrees; hills.h says why.
 *
 * Liu's optimal traversal of a subtree is a sequence of segments: each climbs to a hill and ends in
 * a valley, hills fall and valleys rise from one to the next. Merging children interleaves their
 * segments by falling hill - valley, and the task itself comes last:
 *
 *    memory  /\  hill 1
 *           /  \      /\  hill 2
 *          /    \    /  \    /\ hill 3
 *         /      \__/    \__/  \____ valley 3 = the file that stays
 *               valley 1  valley 2
 *
 * Stacks share what lies below them, as persistent lists do, so all whole subtrees take O(n)
 * segments as a rule; a piece recomputes only the tasks on the ways to its cuts. */
#include "plan/tree/hills.h"
#include "base/array.h"
#include <math.h>

/* A stack of segments hangs from its last one; segments are never changed, so stacks share what is
 * below. Levels count from the stack's start. */
struct hill {
    double hill, valley;
    double peak;     /* the highest hill of the stack: its first */
    uint32_t below;  /* NONE: the first */
    uint32_t height; /* segments in the stack */
};

typedef ARRAY(struct hill) hill_array;

struct hills {
    const struct tree *t;
    hill_array at;
    uint32_t *top; /* number -> stack of its whole subtree */
};

/* A segment by itself: how far it climbs and where it ends, from where it starts. */
struct loose_segment {
    double rise, net;
    uint32_t order;
};

struct hill_room {
    const struct hills *h;
    hill_array at; /* segments of this piece: indexes go on where the kept ones end */
    uint32_t *top, *mark, now;
    ARRAY(uint32_t) way;
    ARRAY(struct loose_segment) loose;
};

/* Segments of whole subtrees and of the piece in hand have one numbering. */
static const struct hill *hill_segment(const struct hill_room *r, uint32_t i)
{
    size_t kept = r->h->at.n;
    return i < kept ? &r->h->at.at[i] : &r->at.at[i - kept];
}

/* Put a segment on the stack; those it makes superfluous (a hill not higher, or a valley not lower)
 * become part of it. */
static void push_segment(struct hill_room *r, uint32_t *top, double hill, double valley)
{
    double peak = 0;
    uint32_t height = 1;
    while (*top != NONE) {
        const struct hill *below = hill_segment(r, *top);
        if (below->hill > hill && below->valley < valley) {
            peak = below->peak;
            height = below->height + 1;
            break;
        }
        hill = below->hill > hill ? below->hill : hill;
        *top = below->below;
    }
    if (height == 1)
        peak = hill;
    array_push(&r->at, (struct hill){hill, valley, peak, *top, height});
    *top = (uint32_t)(r->h->at.n + r->at.n - 1);
}

/* Take the last segment off the stack, relative to where it starts. */
static void loosen_segments(struct hill_room *r, uint32_t *top)
{
    const struct hill *s = hill_segment(r, *top);
    double start = s->below == NONE ? 0 : hill_segment(r, s->below)->valley;
    array_push(&r->loose,
               (struct loose_segment){s->hill - start, s->valley - start, (uint32_t)r->loose.n});
    *top = s->below;
}

/* The order in which segments of several children are run: largest fall from hill to valley first
 * (Liu 1987). */
static bool goes_before(const struct loose_segment *x, const struct loose_segment *y)
{
    double dx = x->rise - x->net, dy = y->rise - y->net;
    if (dx != dy)
        return dx > dy;
    /* Taken off later means earlier in its stack: it must stay in front of its own successors. */
    return x->order > y->order;
}

static int compare_drops(const void *a, const void *b)
{
    return goes_before(a, b) ? -1 : 1;
}

/* Few, as a rule: insertion, unless there are many. */
static void sort_loose(struct loose_segment *at, size_t n)
{
    if (n > 24) {
        qsort(at, n, sizeof *at, compare_drops);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct loose_segment item = at[i];
        size_t k = i;
        for (; k && goes_before(&item, &at[k - 1]); k--)
            at[k] = at[k - 1];
        at[k] = item;
    }
}

/* The stack of the piece in hand where it was recomputed, else that of the whole subtree. */
static uint32_t top_of(const struct hill_room *r, uint32_t x)
{
    return r->mark[x] == r->now ? r->top[x] : r->h->top[x];
}

/* The stack of task x over those of its children: as in model/tree_memory.c, on the longest of
 * them. */
static void settle_task(struct hill_room *r, uint32_t x, const uint8_t *cut,
                        enum tree_count counting)
{
    const struct tree *t = r->h->t;
    uint32_t from = t->child_off[x], to = t->child_off[x + 1], longest = NONE, children = 0;
    uint32_t height = 0;
    double own = t->memory[x] + t->file[x];
    for (uint32_t c = from; c < to; c++) {
        if (cut && cut[c]) {
            own += counting == TREE_STRICT ? t->file[c] : 0;
            continue;
        }
        uint32_t high = hill_segment(r, top_of(r, c))->height;
        children++;
        if (high > height) {
            height = high;
            longest = c;
        }
    }
    /* the child with the most segments keeps its stack; the others' are merged into it */
    uint32_t top = longest == NONE ? NONE : top_of(r, longest);
    if (children > 1) {
        double largest = 0;
        r->loose.n = 0;
        for (uint32_t c = from; c < to; c++) {
            if (c == longest || (cut && cut[c]))
                continue;
            for (uint32_t rest = top_of(r, c); rest != NONE;)
                loosen_segments(r, &rest);
            const struct loose_segment *first = &array_last(&r->loose);
            largest = fmax(largest, first->rise - first->net);
        }
        /* of the longest stack only the segments that could come later than one of the others are
         * taken off */
        while (top != NONE && hill_segment(r, top)->hill - hill_segment(r, top)->valley <= largest)
            loosen_segments(r, &top);
        sort_loose(r->loose.at, r->loose.n);
        double level = top == NONE ? 0 : hill_segment(r, top)->valley;
        for (size_t k = 0; k < r->loose.n; k++) {
            push_segment(r, &top, level + r->loose.at[k].rise, level + r->loose.at[k].net);
            level += r->loose.at[k].net;
        }
    }
    double level = top == NONE ? 0 : hill_segment(r, top)->valley;
    push_segment(r, &top, level + own, t->file[x]);
    r->top[x] = top;
    r->mark[x] = r->now;
}

struct hill_room *hill_room_new(const struct hills *h)
{
    struct hill_room *r = mem_new_zero(struct hill_room, 1);
    r->h = h;
    r->top = mem_new(uint32_t, h->t->n);
    r->mark = mem_new_zero(uint32_t, h->t->n);
    return r;
}

void hill_room_free(struct hill_room *r)
{
    if (!r)
        return;
    free(r->top);
    free(r->mark);
    array_free(&r->at);
    array_free(&r->way);
    array_free(&r->loose);
    free(r);
}

struct hills *hills_new(const struct tree *t)
{
    struct hills *h = mem_new_zero(struct hills, 1);
    h->t = t;
    struct hill_room *r = hill_room_new(h);
    r->now = 1;
    for (uint32_t x = t->n; x--;)
        settle_task(r, x, NULL, TREE_STRICT);
    h->top = r->top;
    h->at = r->at;
    r->top = NULL;
    r->at = (hill_array){0};
    hill_room_free(r);
    return h;
}

void hills_free(struct hills *h)
{
    if (!h)
        return;
    free(h->top);
    array_free(&h->at);
    free(h);
}

double hills_whole(const struct hills *h, uint32_t x)
{
    return h->at.at[h->top[x]].peak;
}

static int compare_falling_tasks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x > y ? -1 : x < y;
}

double hills_piece(struct hill_room *r, uint32_t root, const uint32_t *cuts, uint32_t count,
                   const uint8_t *cut, enum tree_count counting, uint64_t *seen)
{
    const struct tree *t = r->h->t;
    if (count == 0)
        return hills_whole(r->h, root);
    if (++r->now == 0) { /* the marks of four thousand million pieces ago */
        memset(r->mark, 0, t->n * sizeof *r->mark);
        r->now = 1;
    }
    r->at.n = r->way.n = 0;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t x = t->parent[cuts[k]]; r->mark[x] != r->now; x = t->parent[x]) {
            r->mark[x] = r->now;
            array_push(&r->way, x);
            if (x == root)
                break;
        }
    /* Children have larger numbers. */
    qsort(r->way.at, r->way.n, sizeof *r->way.at, compare_falling_tasks);
    for (size_t k = 0; k < r->way.n; k++)
        settle_task(r, r->way.at[k], cut, counting);
    *seen += r->way.n;
    return hill_segment(r, r->top[root])->peak;
}
