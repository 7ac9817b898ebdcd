/* Least memory of a part of a tree.
 *
 * Liu's algorithm, from the leaves up: finishing x leaves its file f_x behind; while x runs, its
 * children's files, its own memory and f_x are there. The best traversal of a subtree is kept as
 * segments (hill, valley): within a segment memory climbs to the hill and ends in the valley; hills
 * fall and valleys rise from one segment to the next. Segments of siblings are merged by decreasing
 * hill - valley; the node itself is appended; whatever is not a falling hill with a rising valley
 * is fused.
 *
 * A subtree's segments are a stack, last segment on top, levels counted from the subtree's start.
 * Merging keeps the longest stack and reworks only its top, down to the first segment that goes
 * before all others: chains and caterpillars cost O(1) a node. */
#include "base/array.h"
#include "model/tree.h"

#include <math.h>
#include <string.h>

struct segment {
    double hill, valley;
    uint32_t head, tail; /* nodes in order of execution from the leaves, linked by next[] */
    uint32_t below;      /* segment before this one; NONE: the first */
};

/* A segment taken off its stack: climbs and ends relative to where it starts. */
struct loose {
    double rise, net;
    uint32_t head, tail, order;
};

struct tree_memory {
    const struct tree *tree;
    uint32_t *nodes;        /* the part, parents before children */
    uint32_t *next;         /* order of execution */
    uint32_t *top, *height; /* per node: its stack */
    double *peak;           /* per node, for postorders */
    ARRAY(struct segment) segments;
    uint32_t unused; /* free list through below */
    ARRAY(struct loose) loose;
};

struct tree_memory *tree_memory_new(const struct tree *t)
{
    struct tree_memory *m = mem_new_zero(struct tree_memory, 1);
    m->tree = t;
    m->nodes = mem_new(uint32_t, t->n);
    m->next = mem_new(uint32_t, t->n);
    m->top = mem_new(uint32_t, t->n);
    m->height = mem_new(uint32_t, t->n);
    m->peak = mem_new(double, t->n);
    return m;
}

void tree_memory_free(struct tree_memory *m)
{
    if (!m)
        return;
    free(m->nodes);
    free(m->next);
    free(m->top);
    free(m->height);
    free(m->peak);
    array_free(&m->segments);
    array_free(&m->loose);
    free(m);
}

/* The nodes of the part into m->nodes, parents before children. */
static uint32_t part_gather(struct tree_memory *m, uint32_t root, const uint8_t *cut)
{
    const struct tree *t = m->tree;
    uint32_t n = 0;
    m->nodes[n++] = root;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = t->child_off[m->nodes[i]]; c < t->child_off[m->nodes[i] + 1]; c++)
            if (!cut || !cut[c])
                m->nodes[n++] = c;
    return n;
}

/* What executing x adds to its children's files inside the part. */
static double own_need(const struct tree *t, uint32_t x, const uint8_t *cut,
                       enum tree_count counting)
{
    double bytes = t->memory[x] + t->file[x];
    if (cut && counting == TREE_STRICT)
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
            bytes += cut[c] ? t->file[c] : 0;
    return bytes;
}

/* Segments live in one array and are reused through a free list: a tree of a million nodes makes
 * millions of them and has few at once. */
static uint32_t new_segment(struct tree_memory *m, struct segment s)
{
    if (m->unused == NONE) {
        array_push(&m->segments, s);
        return (uint32_t)m->segments.n - 1;
    }
    uint32_t i = m->unused;
    m->unused = m->segments.at[i].below;
    m->segments.at[i] = s;
    return i;
}

static void free_segment(struct tree_memory *m, uint32_t i)
{
    m->segments.at[i].below = m->unused;
    m->unused = i;
}

/* Put a segment (levels absolute in this stack) on top, fusing it with those below that it
 * swallows. */
static void segment_push(struct tree_memory *m, uint32_t *top, uint32_t *height, double hill,
                         double valley, uint32_t head, uint32_t tail)
{
    while (*top != NONE) {
        struct segment below = m->segments.at[*top];
        if (below.hill > hill && below.valley < valley)
            break;
        hill = fmax(hill, below.hill);
        m->next[below.tail] = head;
        head = below.head;
        free_segment(m, *top);
        *top = below.below;
        --*height;
    }
    *top = new_segment(m, (struct segment){hill, valley, head, tail, *top});
    ++*height;
}

/* Take the top off a stack, relative to where it starts. */
static void segment_loosen(struct tree_memory *m, uint32_t *top, uint32_t *height)
{
    struct segment s = m->segments.at[*top];
    free_segment(m, *top);
    *top = s.below;
    --*height;
    double start = *top == NONE ? 0 : m->segments.at[*top].valley;
    array_push(&m->loose, (struct loose){s.hill - start, s.valley - start, s.head, s.tail,
                                         (uint32_t)m->loose.n});
}

static int by_drop(const void *a, const void *b)
{
    const struct loose *x = a, *y = b;
    double dx = x->rise - x->net, dy = y->rise - y->net;
    if (dx != dy)
        return dx > dy ? -1 : 1;
    /* Taken off later means earlier in its stack: it must stay in front of its own successors. */
    return x->order > y->order ? -1 : x->order < y->order;
}

/* Merge the stacks of x's children inside the part into one; returns it by top and height. */
static void merge_children(struct tree_memory *m, uint32_t x, const uint8_t *cut, uint32_t *top,
                           uint32_t *height)
{
    const struct tree *t = m->tree;
    uint32_t longest = NONE, children = 0;
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
        if (cut && cut[c])
            continue;
        children++;
        if (longest == NONE || m->height[c] > m->height[longest])
            longest = c;
    }
    *top = NONE;
    *height = 0;
    if (longest == NONE)
        return;
    *top = m->top[longest];
    *height = m->height[longest];
    if (children == 1)
        return;
    m->loose.n = 0;
    double largest = 0;
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
        if (c == longest || (cut && cut[c]))
            continue;
        while (m->top[c] != NONE)
            segment_loosen(m, &m->top[c], &m->height[c]);
        const struct loose *first = &array_last(&m->loose);
        largest = fmax(largest, first->rise - first->net);
    }
    while (*top != NONE && m->segments.at[*top].hill - m->segments.at[*top].valley <= largest)
        segment_loosen(m, top, height);
    qsort(m->loose.at, m->loose.n, sizeof *m->loose.at, by_drop);
    double level = *top == NONE ? 0 : m->segments.at[*top].valley;
    for (size_t i = 0; i < m->loose.n; i++) {
        const struct loose s = m->loose.at[i];
        segment_push(m, top, height, level + s.rise, level + s.net, s.head, s.tail);
        level += s.net;
    }
}

/* Give the order of execution from the leaves as it is (in-tree) or reversed (out-tree). */
static void traversal_orient(const struct tree *t, uint32_t *order, uint32_t n)
{
    if (t->in)
        return;
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t swap = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = swap;
    }
}

/* From the leaves up; m->nodes has parents first, so the loop runs backwards. */
double tree_least_memory(struct tree_memory *m, uint32_t root, const uint8_t *cut,
                         enum tree_count counting, uint32_t *order, uint32_t *count)
{
    const struct tree *t = m->tree;
    uint32_t n = part_gather(m, root, cut);
    m->segments.n = 0;
    m->unused = NONE;
    for (uint32_t i = n; i--;) {
        uint32_t x = m->nodes[i], top, height;
        merge_children(m, x, cut, &top, &height);
        double level = top == NONE ? 0 : m->segments.at[top].valley;
        segment_push(m, &top, &height, level + own_need(t, x, cut, counting), t->file[x], x, x);
        m->top[x] = top;
        m->height[x] = height;
    }
    /* The first segment has the highest hill. The stack hangs from the last: walk down once. */
    double peak = 0;
    uint32_t at = n;
    for (uint32_t s = m->top[root]; s != NONE; s = m->segments.at[s].below) {
        peak = m->segments.at[s].hill;
        if (!order)
            continue;
        /* A segment's nodes are linked forwards; count them, then put them in front of what is
         * there. */
        uint32_t length = 1;
        for (uint32_t x = m->segments.at[s].head; x != m->segments.at[s].tail; x = m->next[x])
            length++;
        at -= length;
        uint32_t x = m->segments.at[s].head;
        for (uint32_t k = 0; k < length; k++, x = m->next[x])
            order[at + k] = x;
    }
    if (order)
        traversal_orient(t, order, n);
    if (count)
        *count = n;
    return peak;
}

/* A child and by how much memory falls when its subtree is done. */
struct sibling {
    double drop;
    uint32_t node;
};

static int by_sibling_drop(const void *a, const void *b)
{
    const struct sibling *x = a, *y = b;
    if (x->drop != y->drop)
        return x->drop > y->drop ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Children in the order of decreasing peak - file: the best order of whole subtrees. */
static void memory_order_children(const struct tree_memory *m, uint32_t x, const uint8_t *cut,
                                  struct sibling *out, uint32_t *count)
{
    const struct tree *t = m->tree;
    *count = 0;
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
        if (!cut || !cut[c])
            out[(*count)++] = (struct sibling){m->peak[c] - t->file[c], c};
    if (*count > 1)
        qsort(out, *count, sizeof *out, by_sibling_drop);
}

/* Liu's rule for postorders: subtrees by decreasing peak - file. O(n log n). */
double tree_best_postorder(struct tree_memory *m, uint32_t root, const uint8_t *cut,
                           enum tree_count counting, uint32_t *order, uint32_t *count)
{
    const struct tree *t = m->tree;
    uint32_t n = part_gather(m, root, cut), most = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t children = t->child_off[m->nodes[i] + 1] - t->child_off[m->nodes[i]];
        most = children > most ? children : most;
    }
    struct sibling *sibling = mem_new(struct sibling, most);
    for (uint32_t i = n; i--;) {
        uint32_t x = m->nodes[i], children;
        double level = 0, peak = 0;
        memory_order_children(m, x, cut, sibling, &children);
        for (uint32_t k = 0; k < children; k++) {
            peak = fmax(peak, level + m->peak[sibling[k].node]);
            level += t->file[sibling[k].node];
        }
        m->peak[x] = fmax(peak, level + own_need(t, x, cut, counting));
    }
    if (order) {
        /* Root first: a node, then its children's subtrees from the last to the first. Reversed,
         * this is the postorder. */
        uint32_t at = 0, depth = 0, *stack = m->next; /* every node is on the stack once */
        stack[depth++] = root;
        while (depth) {
            uint32_t x = stack[--depth], children;
            order[at++] = x;
            memory_order_children(m, x, cut, sibling, &children);
            for (uint32_t k = 0; k < children; k++)
                stack[depth++] = sibling[k].node;
        }
        if (t->in)
            for (uint32_t i = 0; i < n / 2; i++) {
                uint32_t swap = order[i];
                order[i] = order[n - 1 - i];
                order[n - 1 - i] = swap;
            }
    }
    free(sibling);
    if (count)
        *count = n;
    return m->peak[root];
}

/* Simulates the traversal: `level` is what is held between tasks, the peak counts what the
 * running task adds. NAN when a task comes before its parent, twice, or does not exist. */
double tree_peak_of_order(const struct tree *t, const uint32_t *order, uint32_t count,
                          enum tree_count counting)
{
    /* state: 0 outside the part, 1 inside, 2 its file is pending, 3 executed */
    uint8_t *state = mem_new_zero(uint8_t, t->n);
    bool good = count > 0;
    for (uint32_t i = 0; i < count && good; i++) {
        good = order[i] < t->n && !state[order[i]];
        if (good)
            state[order[i]] = 1;
    }
    double level = 0, peak = 0;
    if (good) {
        state[order[0]] = 2;
        level = t->file[order[0]];
    }
    for (uint32_t i = 0; i < count && good; i++) {
        uint32_t x = order[i];
        good = state[x] == 2;
        state[x] = 3;
        double inside = 0, outside = 0;
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            if (state[c] == 1) {
                state[c] = 2;
                inside += t->file[c];
            } else {
                outside += t->file[c];
            }
        }
        peak = fmax(peak, level + t->memory[x] + inside + (counting == TREE_STRICT ? outside : 0));
        level += inside - t->file[x];
    }
    free(state);
    return good ? peak : NAN;
}
