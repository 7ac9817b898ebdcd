/* The idle gaps of one core or channel as a B+-tree; timeline.h has the contract.
 *
 *    inner page   start:  0       40       90        lower bounds of the starts below
 *                 value:  7       12        3        the longest gap below
 *                         |        |         |
 *    leaf pages   [0,2) [9,16)   [40,52)   [91,94)   gaps: start, value = end     | tail ->
 *
 * Invariants: gaps do not overlap and are sorted by start across leaves; an inner `start` never
 * exceeds the starts below it; an inner `value` is exactly the longest gap below; no page but the
 * root is empty. Removal frees empty pages but does not merge half-full ones: gaps come and go at
 * the end of time, where pages fill again.
 *
 * Comparisons of lengths allow a slack of 4 ulp of the tail (end - start is rounded); the last word
 * is always start + duration <= end, which is what the checker computes. */
#include "plan/list/timeline.h"
#include <assert.h>
#include <string.h>

#define NO_PAGE UINT32_MAX

/* Where we are in the tree: page[0] is the root, page[depth] a leaf. */
struct path {
    uint32_t page[TIMELINE_DEPTH];
    uint32_t index[TIMELINE_DEPTH];
    uint32_t depth;
};

void timeline_store_free(struct timeline_store *store)
{
    array_free(&store->pages);
    array_free(&store->spare);
}

void timeline_store_clear(struct timeline_store *store)
{
    store->pages.n = 0;
    store->spare.n = 0;
}

void timeline_init(struct core_timeline *t, double least)
{
    *t = (struct core_timeline){.gaps_end = -1, .longest = -1, .least = least, .root = NO_PAGE};
}

static uint32_t page_new(struct timeline_store *store, bool leaf)
{
    uint32_t id;
    if (store->spare.n) {
        id = array_pop(&store->spare);
    } else {
        id = (uint32_t)store->pages.n;
        array_add(&store->pages);
    }
    store->pages.at[id].n = 0;
    store->pages.at[id].leaf = leaf;
    return id;
}

static double page_longest(const struct timeline_page *p)
{
    double longest = -1;
    for (uint32_t i = 0; i < p->n; i++) {
        double here = p->leaf ? p->value[i] - p->start[i] : p->value[i];
        longest = here > longest ? here : longest;
    }
    return longest;
}

/* Number of entries that start at or before `time`. */
static uint32_t entries_until(const struct timeline_page *p, double time)
{
    uint32_t low = 0, high = p->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (p->start[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From path->page[level] down to a leaf, always the first or always the last entry. */
static void go_down(const struct timeline_store *store, struct path *path, uint32_t level,
                    bool last)
{
    const struct timeline_page *p = &store->pages.at[path->page[level]];
    while (!p->leaf) {
        path->index[level] = last ? p->n - 1u : 0;
        path->page[level + 1] = p->child[path->index[level]];
        p = &store->pages.at[path->page[++level]];
    }
    path->index[level] = last ? p->n - 1u : 0;
    path->depth = level;
}

/* To the leaf where a gap of this start belongs; its index may be one before the first (UINT32_MAX)
 * when all start later. */
static void timeline_descend(const struct timeline_store *store, const struct core_timeline *t,
                             double start, struct path *path)
{
    uint32_t level = 0, id = t->root;
    for (;;) {
        const struct timeline_page *p = &store->pages.at[id];
        uint32_t count = entries_until(p, start);
        path->page[level] = id;
        if (p->leaf) {
            path->index[level] = count - 1;
            path->depth = level;
            return;
        }
        path->index[level] = count ? count - 1 : 0;
        id = p->child[path->index[level]];
        level++;
    }
}

/* To the last gap that starts at or before `time`; false: there is none. Taking back a booking
 * joins gaps across pages, so that a gap may stand in the page before the one its time points to.
 */
static bool timeline_locate(const struct timeline_store *store, const struct core_timeline *t,
                            double time, struct path *path)
{
    timeline_descend(store, t, time, path);
    if (path->index[path->depth] != UINT32_MAX)
        return true;
    for (uint32_t level = path->depth; level-- > 0;) {
        if (path->index[level] == 0)
            continue;
        path->index[level]--;
        path->page[level + 1] = store->pages.at[path->page[level]].child[path->index[level]];
        go_down(store, path, level + 1, true);
        return true;
    }
    return false;
}

/* First the gap in which `ready` lies, then the rest of its leaf, then up and down to the first
 * leaf that promises enough. A promise within the slack may fail, so the search goes on from there.
 */
double timeline_search(const struct timeline_store *store, const struct core_timeline *t,
                       double ready, double duration)
{
    double behind = ready > t->tail ? ready : t->tail;
    if (t->root == NO_PAGE)
        return behind;
    double enough = duration - t->tail * 4 * DBL_EPSILON;
    struct path path;
    uint32_t from; /* the first entry of the leaf that starts after `ready` */
    if (timeline_locate(store, t, ready, &path)) {
        const struct timeline_page *leaf = &store->pages.at[path.page[path.depth]];
        uint32_t i = path.index[path.depth];
        if (ready + duration <= leaf->value[i])
            return ready;
        from = i + 1;
    } else {
        path.page[0] = t->root;
        go_down(store, &path, 0, false);
        from = 0;
    }
    for (;;) {
        const struct timeline_page *leaf = &store->pages.at[path.page[path.depth]];
        for (uint32_t i = from; i < leaf->n; i++)
            if (leaf->start[i] + duration <= leaf->value[i])
                return leaf->start[i];
        /* up to a page with a promising entry to the right, and down to the first promising leaf */
        uint32_t level = path.depth;
        bool found = false;
        while (level-- > 0 && !found) {
            const struct timeline_page *p = &store->pages.at[path.page[level]];
            for (uint32_t i = path.index[level] + 1; i < p->n; i++)
                if (p->value[i] >= enough) {
                    path.index[level] = i;
                    found = true;
                    break;
                }
            if (found)
                break;
        }
        if (!found)
            return behind;
        for (const struct timeline_page *p = &store->pages.at[path.page[level]]; !p->leaf;) {
            path.page[level + 1] = p->child[path.index[level]];
            p = &store->pages.at[path.page[++level]];
            uint32_t i = 0;
            if (!p->leaf)
                while (p->value[i] < enough)
                    i++;
            path.index[level] = i;
        }
        path.depth = level;
        from = 0;
    }
}

/* After a change in the leaf of `path`: the longest gaps above it, and the timeline's own. */
static void refresh_longest(struct timeline_store *store, struct core_timeline *t,
                            const struct path *path)
{
    for (uint32_t level = path->depth; level > 0; level--) {
        struct timeline_page *above = &store->pages.at[path->page[level - 1]];
        above->value[path->index[level - 1]] = page_longest(&store->pages.at[path->page[level]]);
    }
    t->longest = t->root == NO_PAGE ? -1 : page_longest(&store->pages.at[t->root]);
}

/* Insert an entry at position i of a page with room. */
static void page_insert(struct timeline_page *p, uint32_t i, double start, double value,
                        uint32_t child)
{
    size_t tail = p->n - i;
    memmove(&p->start[i + 1], &p->start[i], tail * sizeof *p->start);
    memmove(&p->value[i + 1], &p->value[i], tail * sizeof *p->value);
    memmove(&p->child[i + 1], &p->child[i], tail * sizeof *p->child);
    p->start[i] = start;
    p->value[i] = value;
    p->child[i] = child;
    p->n++;
}

static void page_remove(struct timeline_page *p, uint32_t i)
{
    size_t tail = p->n - i - 1u;
    memmove(&p->start[i], &p->start[i + 1], tail * sizeof *p->start);
    memmove(&p->value[i], &p->value[i + 1], tail * sizeof *p->value);
    memmove(&p->child[i], &p->child[i + 1], tail * sizeof *p->child);
    p->n--;
}

/* Move the entries from `keep` on to a new page to the right; returns it. */
static uint32_t page_split(struct timeline_store *store, uint32_t id, uint32_t keep)
{
    uint32_t other = page_new(store, store->pages.at[id].leaf);
    struct timeline_page *p = &store->pages.at[id], *q = &store->pages.at[other];
    q->n = (uint16_t)(p->n - keep);
    memcpy(q->start, &p->start[keep], q->n * sizeof *q->start);
    memcpy(q->value, &p->value[keep], q->n * sizeof *q->value);
    memcpy(q->child, &p->child[keep], q->n * sizeof *q->child);
    p->n = (uint16_t)keep;
    return other;
}

/* Insert into the leaf, splitting full pages from the leaf up. O(log gaps x page). */
static void insert_gap(struct timeline_store *store, struct core_timeline *t, double start,
                       double end)
{
    if (end > t->gaps_end)
        t->gaps_end = end;
    if (t->root == NO_PAGE)
        t->root = page_new(store, true);
    struct path path;
    timeline_descend(store, t, start, &path);
    /* Split full pages from the leaf up. Gaps mostly come in order of time, so a page that
     * overflows at its end keeps nearly all. */
    double key = start, value = end;
    uint32_t child = 0, level = path.depth, at = path.index[level] + 1;
    for (;;) {
        uint32_t id = path.page[level];
        if (store->pages.at[id].n < PAGE_ENTRIES) {
            page_insert(&store->pages.at[id], at, key, value, child);
            path.depth = level;
            path.index[level] = at;
            if (level && store->pages.at[id].start[0] <
                             store->pages.at[path.page[level - 1]].start[path.index[level - 1]])
                store->pages.at[path.page[level - 1]].start[path.index[level - 1]] =
                    store->pages.at[id].start[0];
            refresh_longest(store, t, &path);
            return;
        }
        uint32_t keep = at == PAGE_ENTRIES ? PAGE_ENTRIES - 2 : PAGE_ENTRIES / 2;
        uint32_t right = page_split(store, id, keep);
        if (at > keep)
            page_insert(&store->pages.at[right], at - keep, key, value, child);
        else
            page_insert(&store->pages.at[id], at, key, value, child);
        if (level == 0) {
            uint32_t root = page_new(store, false);
            const struct timeline_page *left = &store->pages.at[id];
            page_insert(&store->pages.at[root], 0, left->start[0], page_longest(left), id);
            const struct timeline_page *moved = &store->pages.at[right];
            page_insert(&store->pages.at[root], 1, moved->start[0], page_longest(moved), right);
            t->root = root;
            t->longest = page_longest(&store->pages.at[root]);
            return;
        }
        struct timeline_page *above = &store->pages.at[path.page[level - 1]];
        above->value[path.index[level - 1]] = page_longest(&store->pages.at[id]);
        if (store->pages.at[id].start[0] < above->start[path.index[level - 1]])
            above->start[path.index[level - 1]] = store->pages.at[id].start[0];
        key = store->pages.at[right].start[0];
        value = page_longest(&store->pages.at[right]);
        child = right;
        level--;
        at = path.index[level] + 1;
    }
}

/* The end of the last gap: timeline_find() answers most questions by it alone. */
static void set_gaps_end(const struct timeline_store *store, struct core_timeline *t)
{
    t->gaps_end = -1;
    if (t->root == NO_PAGE)
        return;
    struct path path = {.page = {t->root}};
    go_down(store, &path, 0, true);
    t->gaps_end = store->pages.at[path.page[path.depth]].value[path.index[path.depth]];
}

/* Remove the gap at the end of the path. */
static void remove_gap(struct timeline_store *store, struct core_timeline *t, struct path *path)
{
    uint32_t level = path->depth;
    page_remove(&store->pages.at[path->page[level]], path->index[level]);
    while (store->pages.at[path->page[level]].n == 0) {
        array_push(&store->spare, path->page[level]);
        if (level == 0) {
            t->root = NO_PAGE;
            t->longest = t->gaps_end = -1;
            return;
        }
        level--;
        page_remove(&store->pages.at[path->page[level]], path->index[level]);
    }
    path->depth = level;
    refresh_longest(store, t, path);
    set_gaps_end(store, t);
}

static void set_gap_end(struct timeline_store *store, struct core_timeline *t,
                        const struct path *path, double end)
{
    double *value = &store->pages.at[path->page[path->depth]].value[path->index[path->depth]];
    bool last = *value == t->gaps_end;
    *value = end;
    if (last)
        t->gaps_end = end;
    refresh_longest(store, t, path);
}

/* No task is shorter than `least`: a shorter gap would only slow the searches down. */
static bool worth_keeping(const struct core_timeline *t, double start, double end)
{
    return end - start >= t->least;
}

/* Something that takes no time splits a gap into two that touch; the point between them must not
 * become a third. */
static bool gap_starts_at(const struct timeline_store *store, const struct core_timeline *t,
                          double time)
{
    struct path path;
    return timeline_locate(store, t, time, &path) &&
           store->pages.at[path.page[path.depth]].start[path.index[path.depth]] == time;
}

struct timeline_booking timeline_book(struct timeline_store *store, struct core_timeline *t,
                                      double start, double finish)
{
    struct timeline_booking done = {.kind = BOOKED_TAIL, .start = t->tail, .finish = finish};
    if (start >= t->tail) {
        if (start == finish && start == t->tail) {
            done.kind = BOOKED_NOTHING;
            return done;
        }
        done.left = worth_keeping(t, t->tail, start);
        if (done.left)
            insert_gap(store, t, t->tail, start);
        t->tail = finish;
        return done;
    }
    struct path path;
    bool found = t->root != NO_PAGE && timeline_locate(store, t, start, &path);
    assert(found);
    const struct timeline_page *leaf = &store->pages.at[path.page[path.depth]];
    done.kind = BOOKED_GAP;
    done.start = leaf->start[path.index[path.depth]];
    done.end = leaf->value[path.index[path.depth]];
    assert(finish <= done.end);
    if (!found || (start == finish && (start == done.start || start == done.end))) {
        done.kind = BOOKED_NOTHING; /* takes no time at a border: all stays as it is */
        return done;
    }
    done.left = worth_keeping(t, done.start, start);
    done.right = worth_keeping(t, finish, done.end) &&
                 (finish < done.end || !gap_starts_at(store, t, finish));
    if (done.left)
        set_gap_end(store, t, &path, start);
    else
        remove_gap(store, t, &path);
    if (done.right)
        insert_gap(store, t, finish, done.end);
    return done;
}

void timeline_unbook(struct timeline_store *store, struct core_timeline *t,
                     const struct timeline_booking *booking)
{
    struct path path;
    switch (booking->kind) {
    case BOOKED_NOTHING:
        return;
    case BOOKED_TAIL:
        t->tail = booking->start;
        if (booking->left && timeline_locate(store, t, booking->start, &path))
            remove_gap(store, t, &path);
        return;
    case BOOKED_GAP:
        if (booking->right && timeline_locate(store, t, booking->finish, &path))
            remove_gap(store, t, &path);
        if (!booking->left)
            insert_gap(store, t, booking->start, booking->end);
        else if (timeline_locate(store, t, booking->start, &path))
            set_gap_end(store, t, &path, booking->end);
        return;
    }
}
