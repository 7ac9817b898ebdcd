/* Step 1: cut for a short makespan, memory not looked at, speeds equal. ASAP, SPLITSUBTREES and
 * IMPROVEDSPLIT of Gou et al. 2020.
 *
 * SPLITSUBTREES runs the top of the piece alone and then its subtrees side by side. The top grows
 * by the root of the longest subtree, one task a step, and the best number of steps is kept: O(m
 * log m), because two heaps know the sum of those subtrees that get no processor.
 *
 *              top: sequential
 *             /    |     \
 *         sub 1   sub 2   sub 3 ...     the pieces - 1 heaviest are cut; the others,
 *                                       the surplus, run with the top
 */
#include "plan/tree/split.h"
#include "base/array.h"
#include "base/heap.h"
#include "plan/tree/merge.h"

/* Room for splitting pieces of one partition, by number of the tree. */
struct splitter {
    struct partition *p;
    double slow;     /* seconds for a unit of work */
    uint32_t *nodes; /* tasks of the piece, parents first */
    uint32_t *rank;  /* when it was moved to the sequential part; NONE: never */
    double *inside;  /* work of its descendants inside the piece, itself included */
    double *under;   /* longest MS of a cut task below it */
    uint8_t *place;  /* one of enum split_place */
    struct heap queue, kept, spare;
    uint32_t nkept;
    double surplus;
    ARRAY(uint32_t) moved;  /* the sequential part in order of moving */
    ARRAY(uint32_t) chosen; /* subtrees to cut */
};

enum split_place { OUTSIDE, KEPT, SPARE };

static void splitter_open(struct splitter *sp, struct partition *p)
{
    uint32_t n = p->s->t->n;
    *sp = (struct splitter){.p = p, .slow = 1 / p->s->mean_speed};
    sp->nodes = mem_new(uint32_t, n);
    sp->rank = mem_new(uint32_t, n);
    sp->inside = mem_new(double, n);
    sp->under = mem_new(double, n);
    sp->place = mem_new_zero(uint8_t, n);
}

static void splitter_close(struct splitter *sp)
{
    free(sp->nodes);
    free(sp->rank);
    free(sp->inside);
    free(sp->under);
    free(sp->place);
    heap_free(&sp->queue);
    heap_free(&sp->kept);
    heap_free(&sp->spare);
    array_free(&sp->moved);
    array_free(&sp->chosen);
}

/* MS of the subtree if it were cut off now. */
static double subtree_span(const struct splitter *sp, uint32_t x)
{
    return setting_transfer(sp->p->s, NONE, NONE, x) + sp->inside[x] * sp->slow + sp->under[x];
}

/* Work and waiting below every task of the piece. */
static void split_survey(struct splitter *sp, uint32_t from)
{
    const struct partition *p = sp->p;
    const struct tree *t = p->s->t;
    uint32_t n = 0;
    sp->nodes[n++] = p->at[from].root;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t c = t->child_off[sp->nodes[k]]; c < t->child_off[sp->nodes[k] + 1]; c++)
            if (!p->cut[c])
                sp->nodes[n++] = c;
    while (n--) {
        uint32_t x = sp->nodes[n];
        sp->inside[x] = t->work[x];
        sp->under[x] = 0;
        sp->rank[x] = NONE;
        sp->place[x] = OUTSIDE;
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            if (p->cut[c]) {
                uint32_t i = p->slot_of[c];
                sp->under[x] = fmax(sp->under[x], piece_transfer(p, i) + p->at[i].length);
            } else {
                sp->inside[x] += sp->inside[c];
                sp->under[x] = fmax(sp->under[x], sp->under[c]);
            }
        }
    }
}

/* Of the parallel subtrees the `most` heaviest get pieces of their own; the others stay with the
 * sequential part as its surplus. Two heaps face each other: the lightest of the kept, the heaviest
 * of the spare. Entries of tasks that moved on are dropped when they surface. */
static void keep_heaviest(struct splitter *sp, uint32_t x, uint32_t most)
{
    sp->place[x] = KEPT;
    heap_push(&sp->kept, sp->inside[x], x);
    if (++sp->nkept <= most)
        return;
    struct heap_item item;
    do
        item = heap_pop(&sp->kept);
    while (sp->place[item.value] != KEPT);
    sp->nkept--;
    sp->place[item.value] = SPARE;
    sp->surplus += sp->inside[item.value];
    heap_push(&sp->spare, -sp->inside[item.value], item.value);
}

/* x joins the top: the heaviest of the spare takes its place among the kept. */
static void drop_kept(struct splitter *sp, uint32_t x)
{
    if (sp->place[x] == SPARE) {
        sp->surplus -= sp->inside[x];
        sp->place[x] = OUTSIDE;
        return;
    }
    sp->place[x] = OUTSIDE;
    sp->nkept--;
    while (sp->spare.n) {
        uint32_t y = (uint32_t)heap_pop(&sp->spare).value;
        if (sp->place[y] != SPARE)
            continue;
        sp->surplus -= sp->inside[y];
        sp->place[y] = KEPT;
        sp->nkept++;
        heap_push(&sp->kept, sp->inside[y], y);
        return;
    }
}

static int by_work(const void *a, const void *b, void *context)
{
    const struct splitter *sp = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sp->inside[x] != sp->inside[y])
        return sp->inside[x] > sp->inside[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Move tasks to the sequential part, always the root of the longest subtree, and find after how
 * many moves the makespan is least. */
static size_t best_prefix(struct splitter *sp, uint32_t root, uint32_t most)
{
    const struct partition *p = sp->p;
    const struct tree *t = p->s->t;
    heap_clear(&sp->queue);
    heap_clear(&sp->kept);
    heap_clear(&sp->spare);
    sp->moved.n = 0;
    sp->nkept = 0;
    sp->surplus = 0;
    /* The published code forgets cut subtrees after the step in which it meets them (spec, section
     * 2); they do wait for the whole sequential part, so `met` stays. */
    double sequential = 0, met = 0, best = sp->inside[root] * sp->slow + sp->under[root];
    size_t best_count = 0;
    heap_push(&sp->queue, -subtree_span(sp, root), root);
    while (sp->queue.n) {
        uint32_t x = (uint32_t)heap_pop(&sp->queue).value;
        bool parallel = false;
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1] && !parallel; c++)
            parallel = !p->cut[c];
        if (!parallel)
            break;
        if (x != root)
            drop_kept(sp, x);
        sp->rank[x] = (uint32_t)sp->moved.n;
        array_push(&sp->moved, x);
        sequential += t->work[x];
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
            if (p->cut[c]) {
                uint32_t i = p->slot_of[c];
                met = fmax(met, piece_transfer(p, i) + p->at[i].length);
            } else {
                heap_push(&sp->queue, -subtree_span(sp, c), c);
                keep_heaviest(sp, c, most);
            }
        }
        const struct heap_item *next = heap_peek(&sp->queue); /* none: every child is cut */
        double longest = next ? fmax(met, -next->key) : met;
        double makespan = (sequential + fmax(sp->surplus, 0)) * sp->slow + longest;
        if (makespan < best) {
            best = makespan;
            best_count = sp->moved.n;
        }
    }
    return best_count;
}

/* Split one piece in two levels; returns how many subtrees were cut off, listed in sp->chosen. */
static uint32_t split_piece(struct splitter *sp, uint32_t from, uint32_t pieces)
{
    struct partition *p = sp->p;
    const struct tree *t = p->s->t;
    if (pieces < 2)
        return 0;
    split_survey(sp, from);
    size_t count = best_prefix(sp, p->at[from].root, pieces - 1);
    sp->chosen.n = 0;
    for (size_t k = 0; k < count; k++) {
        uint32_t x = sp->moved.at[k];
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
            if (!p->cut[c] && (sp->rank[c] == NONE || sp->rank[c] >= count))
                array_push(&sp->chosen, c);
    }
    if (sp->chosen.n)
        qsort_r(sp->chosen.at, sp->chosen.n, sizeof *sp->chosen.at, by_work, sp);
    if (sp->chosen.n > pieces - 1)
        sp->chosen.n = pieces - 1;
    uint32_t *slots = mem_new(uint32_t, sp->chosen.n + 1);
    partition_cut_all(p, from, sp->chosen.at, sp->chosen.n, slots);
    free(slots);
    return (uint32_t)sp->chosen.n;
}

uint32_t split_subtrees(struct partition *p, uint32_t from, uint32_t pieces)
{
    struct splitter sp;
    splitter_open(&sp, p);
    uint32_t made = split_piece(&sp, from, pieces);
    splitter_close(&sp);
    return made;
}

/* ---- improved ---- */

/* A call of the recursion "split the piece, then its longest subtrees, then its top again", kept on
 * a stack of our own: as deep as cuts nest. */
struct split_frame {
    uint32_t root;
    size_t from, to; /* its subtrees by decreasing MS in `list`: from is the next to be split */
    double before;   /* MS of the subtree that is being split */
};

/* MS of a piece by its root. */
static double span_of(const struct partition *p, uint32_t root)
{
    uint32_t i = p->slot_of[root];
    return piece_transfer(p, i) + p->at[i].length;
}

static int by_span(const void *a, const void *b, void *context)
{
    const struct partition *p = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double sx = span_of(p, x), sy = span_of(p, y);
    if (sx != sy)
        return sx > sy ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* ImprovedSplit without recursion: a frame is a subtree that was split, and the range of `list` that
 * holds what it was split into, longest first. A frame goes on to its next subtree only while the one
 * before got shorter and the next is now the longest: else nothing below could shorten it. */
void split_improved(struct partition *p, uint32_t pieces)
{
    struct splitter sp;
    ARRAY(struct split_frame) stack = {0};
    ARRAY(uint32_t) list = {0};
    /* Published without any limit and merged down afterwards; a few times the target loses nothing
     * and keeps a star of a million leaves from becoming a million pieces. */
    uint32_t most = pieces * 4 < 64 ? 64 : pieces * 4;
    splitter_open(&sp, p);
    array_push(&stack, (struct split_frame){.root = 0, .before = INFINITY});
    while (stack.n) {
        struct split_frame *f = &array_last(&stack);
        if (f->from < f->to) {
            /* A subtree came back: go on with the next one only if this one shrank and the next is
             * now longer. */
            double after = span_of(p, list.at[f->from]);
            if (f->before != INFINITY) {
                bool shrank = after < f->before;
                f->from++;
                if (!shrank || f->from == f->to || span_of(p, list.at[f->from]) <= after)
                    f->from = f->to;
                f->before = INFINITY;
                continue;
            }
            f->before = after;
            array_push(&stack, (struct split_frame){.root = list.at[f->from], .before = INFINITY});
            continue;
        }
        /* All subtrees done, or none yet: split the top. */
        uint32_t made = 0;
        if (p->live < most)
            made = split_piece(&sp, p->slot_of[f->root], most - p->live + 1);
        if (!made) {
            stack.n--;
            /* the caller's list ends where this frame's began */
            continue;
        }
        f->from = list.n;
        for (uint32_t k = 0; k < made; k++)
            array_push(&list, sp.chosen.at[k]);
        f->to = list.n;
        if (made && list.at)
            qsort_r(list.at + f->from, made, sizeof *list.at, by_span, p);
    }
    splitter_close(&sp);
    array_free(&stack);
    array_free(&list);
    merge_down(p, pieces);
}

/* ---- as soon as possible ---- */

/* Cut, look at the makespan, and at the end take back what came after the best. */
void split_asap(struct partition *p, uint32_t pieces)
{
    const struct tree *t = p->s->t;
    struct heap queue = {0};
    ARRAY(uint32_t) cuts = {0};
    uint32_t x = 0;
    while (t->child_off[x + 1] - t->child_off[x] == 1)
        x = t->child_off[x];
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
        heap_push(&queue, -p->s->work[c], c);
    double best = partition_makespan(p);
    size_t best_count = 0;
    while (queue.n && cuts.n + 1 < pieces) {
        x = (uint32_t)heap_pop(&queue).value;
        uint32_t parent = t->parent[x];
        if (t->child_off[parent + 1] - t->child_off[parent] > 1 && !p->cut[x]) {
            array_push(&cuts, partition_cut(p, partition_piece_of(p, x), x));
            if (partition_makespan(p) < best) {
                best = partition_makespan(p);
                best_count = cuts.n;
            }
        }
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
            heap_push(&queue, -p->s->work[c], c);
    }
    while (cuts.n > best_count)
        partition_merge(p, array_pop(&cuts));
    heap_free(&queue);
    array_free(&cuts);
}
