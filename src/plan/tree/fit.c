/* Step 2: cut pieces until they fit into memory (Gou et al. 2020; BIGGESTFIT of HetPart, Algorithm
 * 1).
 *
 * The piece's best traversal (Liu 1987) is walked; when the next task does not fit beside the files
 * that wait, waiting subtrees are cut off by one of three rules (fit.h). FIT_FIRST asks for the
 * task needed last whose file is large enough: a tree of maxima over the traversal answers in O(log
 * m).
 *
 *    place        0    1    2    3          k: a node of the tree, 2k and 2k+1 its children
 *    largest     -1    5   -1    9          leaves: the file of a waiting task, else -1
 *                  \__/      \__/
 *                   5          9            last place with a file >= 4:
 *                                           go right where the right is enough
 *
 * In-trees are walked from the root like out-trees: the traversal is turned around, memory is
 * symmetric. */
#include "plan/tree/fit.h"
#include "base/array.h"
#include "base/heap.h"

enum fit_mark { UNSEEN, WAITING, GONE };

struct fitter {
    struct partition *p;
    enum fit_method method;
    uint32_t *order, *place; /* the traversal; where in it a task stands */
    struct tree_memory *room;
    uint8_t *mark;
    double *largest;     /* a tree of maxima over the places: the file of a waiting task, else -1 */
    uint32_t width;      /* places the tree of maxima has now, a power of 2 */
    struct heap by_file; /* FIT_LARGEST */
    ARRAY(uint32_t) cuts;
    ARRAY(uint32_t) slots;
    double occupied; /* files waiting */
};

struct fitter *fitter_new(struct partition *p, enum fit_method method)
{
    uint32_t n = p->s->t->n;
    size_t width = 1;
    while (width < n)
        width *= 2;
    struct fitter *f = mem_new_zero(struct fitter, 1);
    f->p = p;
    f->method = method;
    f->order = mem_new(uint32_t, n);
    f->place = mem_new(uint32_t, n);
    f->room = tree_memory_new(p->s->t);
    f->mark = mem_new(uint8_t, n);
    f->largest = mem_new(double, 2 * width);
    return f;
}

void fitter_free(struct fitter *f)
{
    if (!f)
        return;
    free(f->order);
    free(f->place);
    tree_memory_free(f->room);
    free(f->mark);
    free(f->largest);
    heap_free(&f->by_file);
    array_free(&f->cuts);
    array_free(&f->slots);
    free(f);
}

const uint32_t *fitter_new_pieces(const struct fitter *f, size_t *count)
{
    *count = f->cuts.n;
    return f->slots.at;
}

/* ---- waiting tasks ---- */

/* One leaf and the maxima above it. */
static void set_file(struct fitter *f, uint32_t place, double file)
{
    size_t k = f->width + place;
    f->largest[k] = file;
    for (k /= 2; k; k /= 2)
        f->largest[k] = fmax(f->largest[2 * k], f->largest[2 * k + 1]);
}

/* The last place whose file is at least `bytes`; NONE. */
static uint32_t last_with(const struct fitter *f, double bytes)
{
    size_t k = 1;
    if (f->largest[k] < bytes)
        return NONE;
    while (k < f->width)
        k = f->largest[2 * k + 1] >= bytes ? 2 * k + 1 : 2 * k;
    return f->order[k - f->width];
}

/* The task's file is in memory until the task runs or is cut off. */
static void start_waiting(struct fitter *f, uint32_t x)
{
    f->mark[x] = WAITING;
    if (f->method == FIT_FIRST)
        set_file(f, f->place[x], f->p->s->t->file[x]);
    else if (f->method == FIT_LARGEST)
        heap_push(&f->by_file, -f->p->s->t->file[x], x);
}

static void stop_waiting(struct fitter *f, uint32_t x)
{
    f->mark[x] = GONE;
    if (f->method == FIT_FIRST)
        set_file(f, f->place[x], -1);
}

/* Cut x off, with all below it: its file waits no more. */
static void send_away(struct fitter *f, uint32_t x)
{
    stop_waiting(f, x);
    f->occupied -= f->p->s->t->file[x];
    array_push(&f->cuts, x);
}

/* Make room for `bytes` by cutting waiting tasks; the next task itself waits no more. */
static void cut_until_room(struct fitter *f, double bytes)
{
    const double *file = f->p->s->t->file;
    if (f->method == FIT_FIRST) {
        uint32_t enough = last_with(f, bytes);
        if (enough != NONE) {
            send_away(f, enough);
            return;
        }
    }
    while (bytes > 0) {
        uint32_t x = NONE;
        if (f->method == FIT_FIRST) {
            /* The published fallback counts the same file again and again (section 3); here each is
             * cut and counted once. */
            x = last_with(f, 0);
        } else {
            while (f->by_file.n && x == NONE) {
                x = (uint32_t)heap_pop(&f->by_file).value;
                x = f->mark[x] == WAITING ? x : NONE;
            }
        }
        if (x == NONE)
            return;
        bytes -= file[x];
        send_away(f, x);
    }
}

/* Bytes while x runs beside the other waiting files; *inside: files of its children in the piece.
 */
static double bytes_while_running(const struct fitter *f, uint32_t x, double *inside)
{
    const struct partition *p = f->p;
    const struct tree *t = p->s->t;
    double outside = 0;
    *inside = 0;
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
        *(p->cut[c] ? &outside : inside) += t->file[c];
    return t->memory[x] + t->file[x] + *inside + (p->s->counting == TREE_STRICT ? outside : 0);
}

/* Files of cut children do not count leniently: cut the largest children until x runs within
 * `limit`. Afterwards *inside is what remains. */
static void shed_children(struct fitter *f, uint32_t x, double limit, double *inside)
{
    const struct partition *p = f->p;
    const struct tree *t = p->s->t;
    struct heap files = {0};
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
        if (!p->cut[c])
            heap_push(&files, -t->file[c], c);
    while (files.n && t->memory[x] + t->file[x] + *inside > limit) {
        uint32_t c = (uint32_t)heap_pop(&files).value;
        f->mark[c] = GONE;
        array_push(&f->cuts, c);
        *inside -= t->file[c];
    }
    heap_free(&files);
}

/* Walk the traversal; false when the first task does not fit. */
static bool walk_traversal(struct fitter *f, uint32_t count, double limit)
{
    const struct partition *p = f->p;
    const struct tree *t = p->s->t;
    bool lenient = p->s->counting == TREE_LENIENT;
    f->occupied = t->file[f->order[0]];
    for (uint32_t k = 0; k < count; k++) {
        uint32_t x = f->order[k];
        if (k && f->mark[x] != WAITING) {
            f->mark[x] = GONE;
            continue;
        }
        double inside, alone = bytes_while_running(f, x, &inside),
                       others = f->occupied - t->file[x];
        double need = others + alone - limit;
        stop_waiting(f, x);
        if (need > 0 && (alone > limit || f->method == FIT_IMMEDIATELY)) {
            /* Who cuts nothing but the task itself must have room beside what waits. */
            double room = f->method == FIT_IMMEDIATELY ? limit - others : limit;
            bool shed = alone > limit && lenient && p->s->need[x] <= room;
            if (!shed && k) {
                /* The task goes, with all below it. */
                f->occupied -= t->file[x];
                array_push(&f->cuts, x);
                continue;
            }
            if (alone > limit && !shed)
                return false;
            if (shed)
                shed_children(f, x, room, &inside);
            need = others + t->memory[x] + t->file[x] + inside - limit;
        }
        if (need > 0)
            cut_until_room(f, need);
        f->occupied += inside - t->file[x];
        for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
            if (!p->cut[c] && f->mark[c] != GONE)
                start_waiting(f, c);
    }
    return true;
}

/* The traversal, the walk, then all cuts at once. */
bool fitter_fit(struct fitter *f, uint32_t i, double limit)
{
    struct partition *p = f->p;
    f->cuts.n = f->slots.n = 0;
    if (partition_fits(p, i, limit))
        return true;
    uint32_t count;
    tree_least_memory(f->room, p->at[i].root, p->cut, p->s->counting, f->order, &count);
    p->effort += count;
    if (p->s->t->in)
        for (uint32_t k = 0; k < count / 2; k++) {
            uint32_t swap = f->order[k];
            f->order[k] = f->order[count - 1 - k];
            f->order[count - 1 - k] = swap;
        }
    f->width = 1;
    while (f->width < count)
        f->width *= 2;
    for (size_t k = 0; k < 2 * (size_t)f->width; k++)
        f->largest[k] = -1;
    heap_clear(&f->by_file);
    for (uint32_t k = 0; k < count; k++) {
        f->place[f->order[k]] = k;
        f->mark[f->order[k]] = UNSEEN;
    }
    /* A hair less, so that sums in another order still fit. */
    if (!walk_traversal(f, count, limit * (1 - 1e-12)))
        return false;
    array_reserve(&f->slots, f->cuts.n);
    partition_cut_all(p, i, f->cuts.at, f->cuts.n, f->slots.at);
    return true;
}

/* ---- whole partitions ---- */

bool fit_all(struct partition *p, enum fit_method method, double limit, uint32_t *task)
{
    struct fitter *f = fitter_new(p, method);
    ARRAY(uint32_t) open = {0};
    bool good = true;
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->at[i].root != NONE)
            array_push(&open, i);
    while (open.n && good) {
        uint32_t i = array_pop(&open);
        size_t count;
        good = fitter_fit(f, i, limit);
        if (!good)
            *task = p->at[i].root;
        const uint32_t *made = fitter_new_pieces(f, &count);
        for (size_t k = 0; k < count && good; k++)
            array_push(&open, made[k]);
    }
    array_free(&open);
    fitter_free(f);
    return good;
}

static void push_piece(struct heap *queue, struct partition *p, uint32_t i)
{
    heap_push(queue, -partition_memory(p, i), i);
}

/* Algorithm 1 of HetPart; both queues by falling memory of the piece. */
void fit_biggest(struct partition *p, enum fit_method method)
{
    const struct tree_setting *s = p->s;
    struct fitter *f = fitter_new(p, method);
    struct heap queue = {0}, rest = {0};
    size_t count;
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->at[i].root != NONE)
            push_piece(&queue, p, i);
    for (uint32_t q = 0; q < s->nprocs && queue.n;) {
        uint32_t i = (uint32_t)heap_pop(&queue).value;
        if (!fitter_fit(f, i, s->memory[q])) {
            /* Its root alone needs more than any processor left: to be merged, and the processor is
             * not used up (section 3). */
            push_piece(&rest, p, i);
            continue;
        }
        partition_map(p, i, q++);
        const uint32_t *made = fitter_new_pieces(f, &count);
        for (size_t k = 0; k < count; k++)
            push_piece(&queue, p, made[k]);
    }
    while (queue.n)
        push_piece(&rest, p, (uint32_t)heap_pop(&queue).value);
    /* "min(M)" of line 12 is the smallest of all processors, M being empty by then; a task that
     * needs more by itself sets the limit. */
    double smallest = s->memory[s->nprocs - 1];
    while (rest.n) {
        uint32_t i = (uint32_t)heap_pop(&rest).value;
        double limit = fmax(smallest, s->need[p->at[i].root] * (1 + 1e-9));
        if (!fitter_fit(f, i, limit))
            continue;
        const uint32_t *made = fitter_new_pieces(f, &count);
        for (size_t k = 0; k < count; k++)
            push_piece(&rest, p, made[k]);
    }
    heap_free(&queue);
    heap_free(&rest);
    fitter_free(f);
}
