/* Exact search over ideals: the largest number of heads rendered by any t tails, for every t, and
 * an order of largest AREA. ideals.h has the contract.
 *
 * An ideal is a set of tails that contains what its members need. Up to IDEALS_TABLE tails all
 * subsets stand in a table: f(X), the heads rendered by X, is a sum over subsets (zeta transform,
 * O(n 2^n)), best(X) a maximum over the last tail. Beyond that ideals are walked layer by layer,
 * with a hash table a layer, until `cap`. Or the dual piece is solved instead, when it is smaller:
 * an order of the dual read backwards is as good (Cordasco et al., duality).
 *
 * An IC-optimal order exists iff the AREA reaches the sum of the maxima of all sizes.
 *
 * Twins (same children, same parents) are run in one order only. */
#include "plan/order/ideals.h"
#include "base/array.h"
#include "base/bitset.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>

void ideals_free(struct ideals *i)
{
    free(i->order);
    free(i->most);
    *i = (struct ideals){0};
}

/* The area that an order would have if it were best at every step. */
static uint64_t profile_sum(const uint32_t *most, uint32_t n)
{
    return rise_area(most, n);
}

/* ---- twins ---- */

static bool same_run(const uint32_t *off, const uint32_t *at, uint32_t a, uint32_t b)
{
    uint32_t n = off[a + 1] - off[a];
    return n == off[b + 1] - off[b] &&
           (n == 0 || memcmp(at + off[a], at + off[b], n * sizeof *at) == 0);
}

/* A hash of children and parents: equal neighbours meet after sorting. */
struct ideals_key {
    uint64_t hash;
    uint32_t tail;
};

static int compare_ideals_keys(const void *a, const void *b)
{
    const struct ideals_key *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->tail < y->tail ? -1 : x->tail > y->tail;
}

/* before[t]: the twin that must run before t; NONE. Twins have the same children and the same
 * parents. */
static uint32_t *find_twins(const struct order_piece *p)
{
    uint32_t n = p->ntails, *before = mem_new(uint32_t, n);
    struct ideals_key *keys = mem_new(struct ideals_key, n);
    for (uint32_t t = 0; t < n; t++) {
        uint64_t hash = 1469598103934665603u;
        for (uint32_t a = p->child_off[t]; a < p->child_off[t + 1]; a++)
            hash = (hash ^ p->child[a]) * 1099511628211u;
        hash = (hash ^ UINT32_MAX) * 1099511628211u;
        if (p->self[t] != NONE)
            for (uint32_t a = p->parent_off[p->self[t]]; a < p->parent_off[p->self[t] + 1]; a++)
                hash = (hash ^ p->parent[a]) * 1099511628211u;
        keys[t] = (struct ideals_key){hash, t};
        before[t] = NONE;
    }
    if (n)
        qsort(keys, n, sizeof *keys, compare_ideals_keys);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t a = keys[i - 1].tail, b = keys[i].tail;
        uint32_t x = p->self[a], y = p->self[b];
        if (keys[i].hash == keys[i - 1].hash && same_run(p->child_off, p->child, a, b) &&
            (x == NONE) == (y == NONE) && (x == NONE || same_run(p->parent_off, p->parent, x, y)))
            before[b] = a;
    }
    free(keys);
    return before;
}

/* ---- all subsets in a table ---- */

/* Subset sums of f over n bits; the low bits block by block, so that most passes stay in the cache.
 */
static void sum_subsets(uint32_t *f, uint32_t n)
{
    uint32_t low = n < 14 ? n : 14, size = 1u << low, all = 1u << n;
    for (uint32_t base = 0; base < all; base += size)
        for (uint32_t i = 0; i < low; i++)
            for (uint32_t x = 0; x < size; x += 2u << i)
                for (uint32_t k = 0; k < 1u << i; k++)
                    f[base + x + (1u << i) + k] += f[base + x + k];
    for (uint32_t i = low; i < n; i++)
        for (uint32_t x = 0; x < all; x += 2u << i)
            for (uint32_t k = 0; k < 1u << i; k++)
                f[x + (1u << i) + k] += f[x + k];
}

/* All subsets; tails are numbered topologically. O(n 2^n) time, 8 x 2^n bytes. */
static void solve_table(const struct order_piece *p, struct ideals *out)
{
    uint32_t n = p->ntails, all = 1u << n, needs[IDEALS_TABLE] = {0};
    uint32_t *f = mem_new_zero(uint32_t, all), *best = mem_new_zero(uint32_t, all);
    uint32_t *before = find_twins(p);
    for (uint32_t h = 0; h < p->nheads; h++) {
        uint32_t mask = 0;
        for (uint32_t a = p->parent_off[h]; a < p->parent_off[h + 1]; a++)
            mask |= 1u << p->parent[a];
        f[mask]++;
    }
    for (uint32_t t = 0; t < n; t++) {
        if (p->self[t] != NONE)
            for (uint32_t a = p->parent_off[p->self[t]]; a < p->parent_off[p->self[t] + 1]; a++)
                needs[t] |= 1u << p->parent[a];
        if (before[t] != NONE)
            needs[t] |= 1u << before[t];
    }
    free(before);
    sum_subsets(f, n);
    out->order = mem_new(uint32_t, n);
    out->most = mem_new_zero(uint32_t, (size_t)n + 1);
    /* best[X]: 0 no ideal, else 1 + the largest area of an order of X. Tails are numbered
     * topologically, so the highest of X is maximal: X is an ideal iff X without it is one that
     * holds what it needs. */
    best[0] = 1;
    out->visited = 1;
    for (uint32_t x = 1; x < all; x++) {
        uint32_t top = 31 - (uint32_t)__builtin_clz(x), most = 0;
        if (!best[x ^ 1u << top] || needs[top] & ~x)
            continue;
        for (uint32_t rest = x; rest; rest &= rest - 1) {
            uint32_t without = best[x ^ (rest & -rest)];
            most = without > most ? without : most;
        }
        uint32_t size = (uint32_t)__builtin_popcount(x);
        best[x] = most + f[x];
        out->most[size] = f[x] > out->most[size] ? f[x] : out->most[size];
        out->visited++;
    }
    out->area = best[all - 1] - 1;
    for (uint32_t x = all - 1, at = n; x;) {
        for (uint32_t t = n; t-- > 0;)
            if (x >> t & 1 && best[x ^ 1u << t] && best[x ^ 1u << t] + f[x] == best[x]) {
                out->order[--at] = t;
                x ^= 1u << t;
                break;
            }
    }
    out->is_ic = profile_sum(out->most, n) == out->area;
    free(f);
    free(best);
}

/* ---- layers of ideals ---- */

/* An ideal of the walk; `from` and `tail` lead back along the best order. */
struct ideals_state {
    uint32_t rise, from, tail, next; /* from: state of the layer before; next: of the same hash */
    uint64_t area;
};

struct walk {
    const struct order_piece *p;
    uint32_t words;
    uint64_t *needs; /* a set for each tail */
    uint32_t
        *group_off; /* heads of equal parents are one group with a weight: per tail, its groups */
    uint32_t *group;
    uint64_t *group_parents;
    uint32_t *group_weight;
    ARRAY(struct ideals_state) states; /* all layers */
    uint64_t *sets, *next_sets;        /* of the layer being left and the one being made */
    size_t next_cap;
    uint32_t *buckets;
    uint32_t bucket_mask;
    uint64_t steps; /* ways from one ideal to a larger */
};

static int compare_groups(const void *a, const void *b, void *words)
{
    return memcmp(a, b, *(uint32_t *)words * sizeof(uint64_t));
}

/* Heads with the same parents become one weighted group. */
static void make_groups(struct walk *k)
{
    const struct order_piece *p = k->p;
    uint32_t words = k->words, n = 0;
    uint64_t *sets = mem_new_zero(uint64_t, (size_t)p->nheads * words);
    for (uint32_t h = 0; h < p->nheads; h++)
        for (uint32_t a = p->parent_off[h]; a < p->parent_off[h + 1]; a++)
            bitset_set(sets + (size_t)h * words, p->parent[a]);
    if (p->nheads)
        qsort_r(sets, p->nheads, words * sizeof(uint64_t), compare_groups, &words);
    k->group_weight = mem_new_zero(uint32_t, (size_t)p->nheads + 1);
    for (uint32_t h = 0; h < p->nheads; h++) {
        uint64_t *at = sets + (size_t)h * words;
        if (n && memcmp(sets + (size_t)(n - 1) * words, at, words * sizeof *sets) == 0) {
            k->group_weight[n - 1]++;
            continue;
        }
        memmove(sets + (size_t)n * words, at, words * sizeof *sets);
        k->group_weight[n++] = 1;
    }
    k->group_parents = sets;
    k->group_off = mem_new_zero(uint32_t, (size_t)p->ntails + 2);
    uint32_t total = 0;
    for (uint32_t g = 0; g < n; g++)
        for (uint32_t t = 0; t < p->ntails; t++)
            if (bitset_get(sets + (size_t)g * words, t)) {
                k->group_off[t + 2]++;
                total++;
            }
    for (uint32_t t = 0; t < p->ntails; t++)
        k->group_off[t + 2] += k->group_off[t + 1];
    k->group = mem_new(uint32_t, total);
    for (uint32_t g = 0; g < n; g++)
        for (uint32_t t = 0; t < p->ntails; t++)
            if (bitset_get(sets + (size_t)g * words, t))
                k->group[k->group_off[t + 1]++] = g;
}

static bool set_holds(const uint64_t *set, const uint64_t *part, uint32_t words)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < words; i++)
        missing |= part[i] & ~set[i];
    return !missing;
}

static void walk_init(struct walk *k, const struct order_piece *p)
{
    *k = (struct walk){.p = p, .words = (uint32_t)bitset_words(p->ntails)};
    k->needs = mem_new_zero(uint64_t, (size_t)p->ntails * k->words);
    uint32_t *before = find_twins(p);
    for (uint32_t t = 0; t < p->ntails; t++) {
        uint64_t *set = k->needs + (size_t)t * k->words;
        if (p->self[t] != NONE)
            for (uint32_t a = p->parent_off[p->self[t]]; a < p->parent_off[p->self[t] + 1]; a++)
                bitset_set(set, p->parent[a]);
        if (before[t] != NONE)
            bitset_set(set, before[t]);
    }
    free(before);
    make_groups(k);
}

static void walk_free(struct walk *k)
{
    free(k->needs);
    free(k->group_off);
    free(k->group);
    free(k->group_parents);
    free(k->group_weight);
    array_free(&k->states);
    free(k->sets);
    free(k->next_sets);
    free(k->buckets);
}

static uint64_t hash_set(const uint64_t *set, uint32_t words)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < words; i++) {
        hash = (hash ^ set[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
        hash *= 0xc4ceb9fe1a85ec53u; /* so that the highest tails reach the lowest bits */
        hash ^= hash >> 29;
    }
    return hash;
}

/* Only the layer being made is in the table: others are never asked for again. */
static void walk_rehash(struct walk *k, uint32_t first)
{
    uint32_t size = k->bucket_mask ? 2 * (k->bucket_mask + 1) : 64;
    k->buckets = mem_resize(k->buckets, size);
    k->bucket_mask = size - 1;
    for (uint32_t i = 0; i < size; i++)
        k->buckets[i] = NONE;
    for (uint32_t s = first; s < k->states.n; s++) {
        uint32_t b = (uint32_t)hash_set(k->next_sets + (size_t)(s - first) * k->words, k->words) &
                     k->bucket_mask;
        k->states.at[s].next = k->buckets[b];
        k->buckets[b] = s;
    }
}

/* The state of `set` in the layer that begins at `first`, made when new. */
static struct ideals_state *walk_enter(struct walk *k, uint32_t first, const uint64_t *set,
                                       uint32_t rise)
{
    uint64_t hash = hash_set(set, k->words);
    for (uint32_t s = k->buckets[hash & k->bucket_mask]; s != NONE; s = k->states.at[s].next)
        if (memcmp(k->next_sets + (size_t)(s - first) * k->words, set, k->words * sizeof *set) == 0)
            return &k->states.at[s];
    size_t count = k->states.n - first;
    if (count + 1 > k->next_cap) {
        k->next_cap = k->next_cap * 2 + 64;
        k->next_sets = mem_resize(k->next_sets, k->next_cap * k->words);
    }
    memcpy(k->next_sets + count * k->words, set, k->words * sizeof *set);
    struct ideals_state *s = array_add(&k->states);
    s->rise = rise;
    s->tail = NONE;
    s->next = k->buckets[hash & k->bucket_mask];
    k->buckets[hash & k->bucket_mask] = (uint32_t)(k->states.n - 1);
    if (count + 1 > k->bucket_mask) {
        walk_rehash(k, first);
        s = &array_last(&k->states);
    }
    return s;
}

/* Every tail that may follow the ideal of state `s`. */
static void walk_expand(struct walk *k, uint32_t s, uint64_t *set, uint32_t first)
{
    for (uint32_t t = 0; t < k->p->ntails; t++) {
        if (bitset_get(set, t) || !set_holds(set, k->needs + (size_t)t * k->words, k->words))
            continue;
        bitset_set(set, t);
        k->steps++;
        uint32_t rise = k->states.at[s].rise;
        for (uint32_t a = k->group_off[t]; a < k->group_off[t + 1]; a++)
            if (set_holds(set, k->group_parents + (size_t)k->group[a] * k->words, k->words))
                rise += k->group_weight[k->group[a]];
        uint64_t area = k->states.at[s].area + rise;
        struct ideals_state *to = walk_enter(k, first, set, rise);
        if (to->tail == NONE || area > to->area) {
            to->area = area;
            to->from = s;
            to->tail = t;
        }
        bitset_clear(set, t);
    }
}

/* Eight steps count as one ideal. */
static bool is_over(const struct walk *k, uint64_t cap)
{
    return k->states.n > cap || k->steps / 8 > cap;
}

/* Layer by layer; gives up past `cap` ideals. Memory: all states, and the sets of two layers. */
static bool solve_walk(const struct order_piece *p, uint64_t cap, struct ideals *out)
{
    struct walk k;
    uint32_t n = p->ntails;
    walk_init(&k, p);
    uint64_t *set = mem_new_zero(uint64_t, k.words);
    out->most = mem_new_zero(uint32_t, (size_t)n + 1);
    walk_rehash(&k, 0);
    walk_enter(&k, 0, set, 0);
    uint32_t from = 0, to = 1;
    for (uint32_t size = 0; size < n && !is_over(&k, cap); size++) {
        uint64_t *swap = k.sets;
        k.sets = k.next_sets;
        k.next_sets = swap;
        k.next_cap = 0; /* the other buffer grows again from its own size: realloc keeps it cheap */
        memset(k.buckets, 0xff, ((size_t)k.bucket_mask + 1) * sizeof *k.buckets);
        for (uint32_t s = from; s < to && !is_over(&k, cap); s++) {
            memcpy(set, k.sets + (size_t)(s - from) * k.words, k.words * sizeof *set);
            walk_expand(&k, s, set, to);
        }
        from = to;
        to = (uint32_t)k.states.n;
        for (uint32_t s = from; s < to; s++)
            if (k.states.at[s].rise > out->most[size + 1])
                out->most[size + 1] = k.states.at[s].rise;
    }
    bool done = !is_over(&k, cap);
    out->visited = k.steps / 8 > k.states.n ? k.steps / 8 : k.states.n;
    if (done) {
        out->order = mem_new(uint32_t, n);
        out->area = k.states.at[from].area;
        for (uint32_t s = from, at = n; at > 0; s = k.states.at[s].from)
            out->order[--at] = k.states.at[s].tail;
        out->is_ic = profile_sum(out->most, n) == out->area;
    } else {
        ideals_free(out);
    }
    free(set);
    walk_free(&k);
    return done;
}

/* M of the piece from M of its dual: z heads need at least ntails - M~(nheads - z) tails. */
static void most_from_dual(const struct order_piece *p, const uint32_t *dual_most, uint32_t *most)
{
    memset(most, 0, ((size_t)p->ntails + 1) * sizeof *most);
    for (uint32_t z = 1; z <= p->nheads; z++)
        most[p->ntails - dual_most[p->nheads - z]] = z;
    for (uint32_t t = 1; t <= p->ntails; t++)
        most[t] = most[t] > most[t - 1] ? most[t] : most[t - 1];
}

/* Solve the piece turned round and carry the answer back. */
static bool solve_dual(const struct order_piece *p, uint64_t cap, struct ideals *out)
{
    struct order_piece *dual = piece_dual(p);
    struct ideals theirs = {0};
    bool done = true;
    if (dual->ntails <= IDEALS_TABLE)
        solve_table(dual, &theirs);
    else
        done = solve_walk(dual, cap, &theirs);
    if (done) {
        out->order = mem_new(uint32_t, p->ntails);
        out->most = mem_new(uint32_t, (size_t)p->ntails + 1);
        uint32_t *rise = mem_new(uint32_t, (size_t)p->ntails + 1);
        piece_from_dual(p, dual, theirs.order, out->order);
        piece_rise(p, out->order, rise);
        most_from_dual(p, theirs.most, out->most);
        out->area = rise_area(rise, p->ntails);
        out->is_ic = theirs.is_ic;
        out->visited = theirs.visited;
        free(rise);
    }
    ideals_free(&theirs);
    piece_free(dual);
    return done;
}

bool ideals_solve(const struct order_piece *p, uint64_t cap, struct ideals *out)
{
    enum { TABLE_AT_ONCE = 14, FEW = 30000 };
    *out = (struct ideals){0};
    bool can_walk = p->ntails <= 1024 && p->nheads <= 1u << 16 && cap < UINT32_MAX / 2;
    if (p->ntails <= TABLE_AT_ONCE) {
        solve_table(p, out);
        return true;
    }
    if (p->nheads <= TABLE_AT_ONCE)
        return solve_dual(p, cap, out);
    /* a narrow piece has far fewer ideals than subsets */
    if (can_walk && solve_walk(p, cap < FEW ? cap : FEW, out))
        return true;
    if (p->ntails <= IDEALS_TABLE && p->ntails <= p->nheads) {
        solve_table(p, out);
        return true;
    }
    if (p->nheads <= IDEALS_TABLE)
        return solve_dual(p, cap, out);
    if (p->ntails <= IDEALS_TABLE) {
        solve_table(p, out);
        return true;
    }
    return can_walk && cap > FEW && solve_walk(p, cap, out);
}
