/* Step 3a: fewer pieces. MERGE of Gou et al. for equal processors, HETERMERGE of HetPart
 * (Algorithms 2 and 3) for unequal ones; merge.h has the contracts.
 *
 * Every round lists all merges with the exact longest path through the merged piece, O(pieces log
 * pieces), and takes the first that fit. The memory of a merge is dear, so it is asked last: cheap
 * bounds from both sides first (what its pieces need at least, what its whole subtree needs at
 * most), then what was computed before.
 *
 * Ties: the lower piece, then two-way before three-way. */
#include "plan/tree/merge.h"
#include "base/array.h"

struct merge_candidate {
    double through; /* longest path through the merged piece */
    uint32_t i, k;  /* i goes into its parent, k as well unless NONE */
};

/* Memory of a merge that was computed before, good as long as none of its pieces changed. Pieces
 * only grow while merging, and a larger piece never needs less: whatever became of i's parent
 * since, the value stays a lower bound. */
struct merge_known {
    uint32_t i, j, k; /* stamps */
    double memory;
};

struct merger {
    struct partition *p;
    ARRAY(struct merge_candidate) candidates;
    uint32_t *order;
    double *start, *longest, *second; /* per slot */
    uint32_t *critical;               /* child that makes the longest */
    uint8_t *touched;
    struct merge_known *known; /* two per slot: two-way and three-way */
    uint32_t room;
};

static void merger_open(struct merger *m, struct partition *p)
{
    /* Merging never makes slots: what there is now is enough. */
    *m = (struct merger){.p = p, .room = p->slots};
    m->order = mem_new(uint32_t, m->room);
    m->start = mem_new(double, m->room);
    m->longest = mem_new(double, m->room);
    m->second = mem_new(double, m->room);
    m->critical = mem_new(uint32_t, m->room);
    m->touched = mem_new(uint8_t, m->room);
    m->known = mem_new_zero(struct merge_known, 2 * (size_t)m->room);
}

static void merger_close(struct merger *m)
{
    array_free(&m->candidates);
    free(m->order);
    free(m->start);
    free(m->longest);
    free(m->second);
    free(m->critical);
    free(m->touched);
    free(m->known);
}

/* The shortest path through the merged piece first. */
static int by_path(const void *a, const void *b)
{
    const struct merge_candidate *x = a, *y = b;
    if (x->through != y->through)
        return x->through < y->through ? -1 : 1;
    if (x->i != y->i)
        return x->i < y->i ? -1 : 1;
    return x->k > y->k ? -1 : x->k < y->k; /* two-way (NONE) first */
}

/* For each piece its two longest children, so that "the longest without i" takes O(1). */
static void list_candidates(struct merger *m)
{
    const struct partition *p = m->p;
    double slow = 1 / p->s->mean_speed;
    partition_order(p, m->order);
    partition_starts(p, m->order, m->start);
    for (uint32_t k = 0; k < p->live; k++) {
        uint32_t j = m->order[k];
        m->longest[j] = m->second[j] = 0;
        m->critical[j] = NONE;
        m->touched[j] = 0;
        for (uint32_t c = p->at[j].first; c != NONE; c = p->at[c].next) {
            double through = piece_transfer(p, c) + p->at[c].length;
            if (m->critical[j] == NONE || through > m->longest[j]) {
                m->second[j] = m->longest[j];
                m->longest[j] = through;
                m->critical[j] = c;
            } else {
                m->second[j] = fmax(m->second[j], through);
            }
        }
    }
    m->candidates.n = 0;
    for (uint32_t n = 1; n < p->live; n++) {
        uint32_t i = m->order[n], j = p->at[i].parent;
        const struct tree_piece *piece = &p->at[i], *parent = &p->at[j];
        double rest = m->critical[j] == i ? m->second[j] : m->longest[j];
        double through =
            m->start[j] + (piece->work + parent->work) * slow + fmax(rest, piece->below);
        array_push(&m->candidates, (struct merge_candidate){through, i, NONE});
        /* A leaf with one sibling: both may go. The sibling need not be a leaf (the published code
         * forgets what is below it). */
        if (piece->first != NONE)
            continue;
        uint32_t k = piece->next != NONE ? piece->next : piece->prev;
        bool only = k != NONE && (p->at[k].next == i || p->at[k].prev == i) &&
                    (piece->next == NONE) != (piece->prev == NONE) &&
                    (p->at[k].next == NONE) != (p->at[k].prev == NONE);
        if (!only)
            continue;
        through =
            m->start[j] + (piece->work + parent->work + p->at[k].work) * slow + p->at[k].below;
        array_push(&m->candidates, (struct merge_candidate){through, i, k});
    }
    if (m->candidates.n)
        qsort(m->candidates.at, m->candidates.n, sizeof *m->candidates.at, by_path);
}

/* Least memory of the merged piece. O(its tasks), unless it was asked before. */
static double merged_memory(struct merger *m, const struct merge_candidate *c)
{
    struct partition *p = m->p;
    uint32_t i = c->i, k = c->k, j = p->at[i].parent;
    struct merge_known *known = &m->known[2 * (size_t)i + (k != NONE)];
    uint32_t third = k == NONE ? 0 : p->at[k].stamp;
    if (known->i == p->at[i].stamp && known->j == p->at[j].stamp && known->k == third)
        return known->memory;
    /* cuts of the merged piece: the children of all three, but for those that go into it */
    uint32_t three[3] = {i, j, k}, count = 0;
    for (int n = 0; n < 3; n++)
        for (uint32_t d = three[n] == NONE ? NONE : p->at[three[n]].first; d != NONE;
             d = p->at[d].next)
            if (d != i && d != k)
                partition_note_cut(p, count++, p->at[d].root);
    p->cut[p->at[i].root] = 0;
    if (k != NONE)
        p->cut[p->at[k].root] = 0;
    double memory =
        hills_piece(p->room, p->at[j].root, p->cuts, count, p->cut, p->s->counting, &p->effort);
    p->cut[p->at[i].root] = 1;
    if (k != NONE)
        p->cut[p->at[k].root] = 1;
    *known = (struct merge_known){p->at[i].stamp, p->at[j].stamp, third, memory};
    return memory;
}

/* A merge needs at least what any of its pieces needs: what is known of that, without computing
 * anything. */
static double memory_at_least(const struct merger *m, const struct merge_candidate *c)
{
    const struct partition *p = m->p;
    uint32_t three[3] = {c->i, p->at[c->i].parent, c->k};
    double most = m->known[2 * (size_t)c->i].memory;
    for (int n = 0; n < 3; n++)
        if (three[n] != NONE) {
            const struct tree_piece *piece = &p->at[three[n]];
            most = fmax(most, isnan(piece->memory) ? p->s->need[piece->root] : piece->memory);
        }
    return most;
}

/* The most the merged piece may need. */
static double memory_at_hand(const struct merger *m, const struct merge_candidate *c)
{
    const struct partition *p = m->p;
    uint32_t three[3] = {c->i, p->at[c->i].parent, c->k};
    double most = 0;
    for (int n = 0; n < 3; n++)
        if (three[n] != NONE && p->at[three[n]].proc != NONE)
            most = fmax(most, p->s->memory[p->at[three[n]].proc]);
    for (uint32_t q = 0; q < p->s->nprocs && p->idle; q++)
        if (p->holder[q] == NONE)
            return fmax(most, p->s->memory[q]);
    return most;
}

/* Of the processors of i, j and k the smallest with so much memory; NONE. */
static uint32_t own_processor(const struct partition *p, uint32_t i, uint32_t j, uint32_t k,
                              double memory)
{
    uint32_t three[3] = {i, j, k}, best = NONE;
    for (int n = 0; n < 3; n++) {
        uint32_t q = three[n] == NONE ? NONE : p->at[three[n]].proc;
        /* processors go by decreasing memory: a larger index is a smaller one */
        if (q != NONE && p->s->memory[q] >= memory && (best == NONE || q > best))
            best = q;
    }
    return best;
}

uint32_t merge_choose_processor(const struct partition *p, uint32_t i, uint32_t j, uint32_t k,
                                double memory)
{
    uint32_t own = own_processor(p, i, j, k, memory);
    if (own != NONE)
        return own;
    for (uint32_t q = p->s->nprocs; q-- && p->idle;)
        if (p->holder[q] == NONE && p->s->memory[q] >= memory)
            return q;
    return NONE;
}

/* Merge on a processor; every other one becomes idle (the papers release only one: section 4, item
 * 2). */
static void merge_onto(struct merger *m, const struct merge_candidate *c, uint32_t proc,
                       double memory)
{
    struct partition *p = m->p;
    uint32_t j = p->at[c->i].parent;
    m->touched[j]++;
    partition_merge(p, c->i);
    if (c->k != NONE)
        partition_merge(p, c->k);
    if (proc != p->at[j].proc) {
        partition_map(p, j, NONE);
        partition_map(p, j, proc);
    }
    if (!isnan(memory))
        p->at[j].memory = memory;
}

/* Is the candidate still what it was when it was listed? With many merges a round a parent may take
 * up to 16 of its children. */
static bool is_open(const struct merger *m, const struct merge_candidate *c, bool many)
{
    const struct partition *p = m->p;
    if (p->at[c->i].root == NONE || m->touched[c->i])
        return false;
    uint32_t j = p->at[c->i].parent;
    if (c->k != NONE && (p->at[c->k].root == NONE || m->touched[c->k] || p->at[c->k].parent != j))
        return false;
    return m->touched[j] < (many ? 16 : 1);
}

/* Many pieces above the target: several merges a round, of different pieces, so that a hundred
 * thousand pieces take tens of rounds. */
static uint32_t merges_a_round(uint32_t surplus)
{
    return surplus < 64 ? 1 : surplus / 16;
}

/* As many merges a round as merges_a_round() says; a round without one ends it. */
bool merge_homogeneous(struct partition *p, uint32_t pieces, double limit)
{
    struct merger m;
    merger_open(&m, p);
    bool stuck = false;
    while (p->live > pieces && !stuck) {
        uint32_t wanted = merges_a_round(p->live - pieces);
        bool many = wanted > 1;
        list_candidates(&m);
        stuck = true;
        for (size_t n = 0; n < m.candidates.n && wanted && p->live > pieces; n++) {
            struct merge_candidate c = m.candidates.at[n];
            if (!is_open(&m, &c, many) || (c.k != NONE && p->live == pieces + 1))
                continue;
            double memory = NAN;
            if (isfinite(limit)) {
                if (memory_at_least(&m, &c) > limit)
                    continue;
                memory = merged_memory(&m, &c);
                if (memory > limit)
                    continue;
            }
            merge_onto(&m, &c, NONE, memory);
            stuck = false;
            wanted--;
        }
    }
    merger_close(&m);
    return p->live <= pieces;
}

void merge_down(struct partition *p, uint32_t pieces)
{
    merge_homogeneous(p, pieces ? pieces : 1, INFINITY);
}

struct merge_waiting {
    double memory;
    uint32_t piece;
};

static int by_need(const void *a, const void *b)
{
    const struct merge_waiting *x = a, *y = b;
    if (x->memory != y->memory)
        return x->memory > y->memory ? -1 : 1;
    return x->piece < y->piece ? -1 : x->piece > y->piece;
}

/* Every unmapped piece, the most demanding first, to the smallest idle processor that holds it. */
static void map_waiting(struct partition *p)
{
    if (!p->idle || partition_mapped(p))
        return;
    ARRAY(struct merge_waiting) waiting = {0};
    for (uint32_t i = 0; i < p->slots; i++)
        if (p->at[i].root != NONE && p->at[i].proc == NONE)
            array_push(&waiting, (struct merge_waiting){partition_memory(p, i), i});
    if (waiting.n)
        qsort(waiting.at, waiting.n, sizeof *waiting.at, by_need);
    for (size_t n = 0; n < waiting.n && p->idle; n++) {
        uint32_t q = partition_smallest_fit(p, waiting.at[n].piece);
        if (q != NONE)
            partition_map(p, waiting.at[n].piece, q);
    }
    array_free(&waiting);
}

/* Whatever fits an idle processor is mapped first; then the merges that cost least are made, one a
 * round, or several where many pieces are too many, until everything is mapped. Memory is the dear
 * question: bounds answer it for most candidates, and only what is left is computed. */
bool merge_heterogeneous(struct partition *p)
{
    struct merger m;
    merger_open(&m, p);
    bool stuck = false;
    for (map_waiting(p); !partition_mapped(p) && !stuck; map_waiting(p)) {
        uint32_t unmapped = p->live - (p->s->nprocs - p->idle);
        uint32_t wanted = merges_a_round(unmapped);
        bool many = wanted > 1;
        list_candidates(&m);
        stuck = true;
        for (size_t n = 0; n < m.candidates.n && wanted; n++) {
            struct merge_candidate c = m.candidates.at[n];
            if (!is_open(&m, &c, many) || memory_at_least(&m, &c) > memory_at_hand(&m, &c))
                continue;
            /* The whole subtree's least memory bounds the merged piece's: where it fits, nothing
             * need be computed. */
            uint32_t j = p->at[c.i].parent;
            double memory = NAN;
            uint32_t q = own_processor(p, c.i, j, c.k, p->s->least[p->at[j].root]);
            if (q == NONE) {
                memory = merged_memory(&m, &c);
                q = merge_choose_processor(p, c.i, j, c.k, memory);
            }
            if (q == NONE)
                continue;
            merge_onto(&m, &c, q, memory);
            stuck = false;
            wanted--;
        }
    }
    merger_close(&m);
    return partition_mapped(p);
}
