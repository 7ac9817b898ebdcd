/* Profiles of blocks, each kept once, with answers about pairs remembered; shape.h says what is
 * asked.
 *
 *    rise                 .-'      atoms: the corners of the upper hull; between two corners the
 *                    .--o'         average gain (slope) is constant, and slopes never rise
 *               o--'
 *            .'
 *          o'          -> tails run
 *
 * Priority a |> b (equation (1)) compares windows: gains over k consecutive tails anywhere in a
 * profile. The least and largest of them are tabled at the profile's corners only, O(corners x
 * tails); convex and concave profiles need no table. Past the budget every answer is "no", which
 * costs proofs, never correctness. */
#include "plan/order/shape.h"
#include "plan/order/sweep.h"

void shapes_init(struct shapes *s, uint64_t budget)
{
    *s = (struct shapes){.budget = budget};
}

void shapes_free(struct shapes *s)
{
    for (size_t i = 0; i < s->all.n; i++) {
        struct order_shape *x = &s->all.at[i];
        free(x->rise);
        free(x->atoms);
        if (x->has_windows && !x->is_convex && !x->is_concave) {
            free(x->least);
            free(x->most);
        }
    }
    array_free(&s->all);
    free(s->slots);
    free(s->pairs);
    free(s->answers);
}

/* ---- the table of profiles ---- */

static uint64_t hash_rise(const uint32_t *rise, uint32_t tails)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ tails;
    for (uint32_t t = 1; t <= tails; t++) {
        hash = (hash ^ rise[t]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Upper hull of the points (t, rise[t]), kept at every point that touches it. */
static void shape_make_atoms(struct order_shape *x)
{
    uint32_t *hull = mem_new(uint32_t, (size_t)x->tails + 1), n = 1;
    hull[0] = 0;
    for (uint32_t t = 1; t <= x->tails; t++) {
        while (n > 1) {
            uint32_t a = hull[n - 2], b = hull[n - 1];
            struct atom before = {b - a, x->rise[b] - x->rise[a]};
            struct atom after = {t - b, x->rise[t] - x->rise[b]};
            if (atom_compare(before, after) >= 0)
                break;
            n--;
        }
        hull[n++] = t;
    }
    x->natoms = n - 1;
    x->atoms = mem_new(struct atom, n);
    for (uint32_t i = 0; i + 1 < n; i++)
        x->atoms[i] = (struct atom){hull[i + 1] - hull[i], x->rise[hull[i + 1]] - x->rise[hull[i]]};
    free(hull);
}

static void grow_slots(struct shapes *s)
{
    s->nslots = s->nslots ? 2 * s->nslots : 64;
    free(s->slots);
    s->slots = mem_new_zero(uint32_t, s->nslots);
    for (uint32_t i = 0; i < s->all.n; i++) {
        uint64_t at = hash_rise(s->all.at[i].rise, s->all.at[i].tails) & (s->nslots - 1);
        while (s->slots[at])
            at = (at + 1) & (s->nslots - 1);
        s->slots[at] = i + 1;
    }
}

uint32_t shapes_add(struct shapes *s, const uint32_t *rise, uint32_t tails)
{
    if (2 * (s->all.n + 1) > s->nslots)
        grow_slots(s);
    uint64_t at = hash_rise(rise, tails) & (s->nslots - 1);
    for (; s->slots[at]; at = (at + 1) & (s->nslots - 1)) {
        const struct order_shape *x = &s->all.at[s->slots[at] - 1];
        if (x->tails == tails && memcmp(x->rise, rise, ((size_t)tails + 1) * sizeof *rise) == 0)
            return s->slots[at] - 1;
    }
    struct order_shape *x = array_add(&s->all);
    s->slots[at] = (uint32_t)s->all.n;
    x->tails = tails;
    x->rise = mem_new(uint32_t, (size_t)tails + 1);
    memcpy(x->rise, rise, ((size_t)tails + 1) * sizeof *rise);
    x->is_convex = x->is_concave = true;
    for (uint32_t t = 1; t < tails; t++) {
        uint32_t before = rise[t] - rise[t - 1], after = rise[t + 1] - rise[t];
        x->is_convex &= before <= after;
        x->is_concave &= before >= after;
    }
    shape_make_atoms(x);
    return (uint32_t)(s->all.n - 1);
}

/* ---- answers by pair ---- */

enum { KNOWN_PRIORITY = 1, PRIORITY = 2, KNOWN_SWEEP = 4, SWEEP = 8 };

static void shapes_grow_pairs(struct shapes *s)
{
    uint64_t old = s->pair_slots, *pairs = s->pairs;
    uint8_t *answers = s->answers;
    s->pair_slots = old ? 2 * old : 256;
    s->pairs = mem_new_zero(uint64_t, s->pair_slots);
    s->answers = mem_new_zero(uint8_t, s->pair_slots);
    for (uint64_t i = 0; i < old; i++) {
        if (!answers[i])
            continue;
        uint64_t at = (pairs[i] * 0x9e3779b97f4a7c15u >> 20) & (s->pair_slots - 1);
        while (s->answers[at])
            at = (at + 1) & (s->pair_slots - 1);
        s->pairs[at] = pairs[i];
        s->answers[at] = answers[i];
    }
    free(pairs);
    free(answers);
}

/* Where the answers of (a, b) stand; valid until the next call. */
static uint8_t *answer_of(struct shapes *s, uint32_t a, uint32_t b)
{
    if (2 * (s->npairs + 1) > s->pair_slots)
        shapes_grow_pairs(s);
    uint64_t key = (uint64_t)a << 32 | b;
    uint64_t at = (key * 0x9e3779b97f4a7c15u >> 20) & (s->pair_slots - 1);
    while (s->answers[at] && s->pairs[at] != key)
        at = (at + 1) & (s->pair_slots - 1);
    if (!s->answers[at])
        s->npairs++;
    s->pairs[at] = key;
    return &s->answers[at];
}

/* ---- priority ---- */

/* Best and worst window of every length. A window that cannot be improved by shifting begins or
 * ends where gains change, so only those are looked at: length x changes. */
static bool make_windows(struct shapes *s, struct order_shape *x)
{
    if (x->has_windows || x->no_windows)
        return x->has_windows;
    uint32_t n = x->tails;
    if (x->is_convex || x->is_concave) { /* answered by prefixes and suffixes, without tables */
        x->has_windows = true;
        return true;
    }
    uint32_t *edge = mem_new(uint32_t, (size_t)n + 1), edges = 0;
    for (uint32_t t = 0; t <= n; t++)
        if (t == 0 || t == n || x->rise[t + 1] - x->rise[t] != x->rise[t] - x->rise[t - 1])
            edge[edges++] = t;
    uint64_t cost = (uint64_t)edges * n;
    if (s->spent + cost > s->budget) {
        x->no_windows = true;
        free(edge);
        return false;
    }
    s->spent += cost;
    x->least = mem_new(uint32_t, (size_t)n + 1);
    x->most = mem_new_zero(uint32_t, (size_t)n + 1);
    memset(x->least, 0xff, ((size_t)n + 1) * sizeof *x->least);
    for (uint32_t i = 0; i < edges; i++) {
        uint32_t at = edge[i];
        for (uint32_t k = 0; k + at <= n; k++) {
            uint32_t gain = x->rise[at + k] - x->rise[at];
            x->least[k] = gain < x->least[k] ? gain : x->least[k];
            x->most[k] = gain > x->most[k] ? gain : x->most[k];
        }
        for (uint32_t k = 0; k <= at; k++) {
            uint32_t gain = x->rise[at] - x->rise[at - k];
            x->least[k] = gain < x->least[k] ? gain : x->least[k];
            x->most[k] = gain > x->most[k] ? gain : x->most[k];
        }
    }
    free(edge);
    x->has_windows = true;
    return true;
}

static uint32_t shape_prefix(const struct order_shape *x, uint32_t k)
{
    return x->rise[k];
}
static uint32_t shape_suffix(const struct order_shape *x, uint32_t k)
{
    return x->rise[x->tails] - x->rise[x->tails - k];
}
static uint32_t least_window(const struct order_shape *x, uint32_t k)
{
    return x->is_convex ? shape_prefix(x, k) : x->is_concave ? shape_suffix(x, k) : x->least[k];
}
static uint32_t most_window(const struct order_shape *x, uint32_t k)
{
    return x->is_convex ? shape_suffix(x, k) : x->is_concave ? shape_prefix(x, k) : x->most[k];
}

/* Equation (1) in windows: b's prefixes gain no more than any window of a, b's windows no more than
 * a's suffixes. */
static bool has_priority(struct shapes *s, struct order_shape *a, struct order_shape *b)
{
    /* the last atom of a must not be flatter than the first of b */
    if (a->natoms && b->natoms && atom_compare(a->atoms[a->natoms - 1], b->atoms[0]) < 0)
        return false;
    uint32_t n = a->tails < b->tails ? a->tails : b->tails;
    if (!make_windows(s, a) || !make_windows(s, b) || s->spent + n > s->budget)
        return false;
    s->spent += n;
    for (uint32_t k = 1; k <= n; k++)
        if (shape_prefix(b, k) > least_window(a, k) || most_window(b, k) > shape_suffix(a, k))
            return false;
    return true;
}

bool shapes_priority(struct shapes *s, uint32_t a, uint32_t b)
{
    uint8_t *answer = answer_of(s, a, b);
    if (!(*answer & KNOWN_PRIORITY)) {
        *answer |= KNOWN_PRIORITY;
        if (has_priority(s, &s->all.at[a], &s->all.at[b]))
            *answer |= PRIORITY;
    }
    return *answer & PRIORITY;
}

bool shapes_sweepable(struct shapes *s, uint32_t a, uint32_t b)
{
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    if (shapes_priority(s, a, b) || shapes_priority(s, b, a))
        return true;
    uint8_t *answer = answer_of(s, a, b);
    if (!(*answer & KNOWN_SWEEP)) {
        const struct order_shape *x = &s->all.at[a], *y = &s->all.at[b];
        uint64_t cost = ((uint64_t)x->tails + 1) * ((uint64_t)y->tails + 1);
        *answer |= KNOWN_SWEEP;
        if (s->spent + cost <= s->budget) {
            s->spent += cost;
            if (sweep_two(x->rise, x->tails, y->rise, y->tails, NULL))
                *answer |= SWEEP;
        }
    }
    return *answer & SWEEP;
}

double shapes_ratio(struct shapes *s, uint32_t a, uint32_t b)
{
    enum { POINTS = 128 };
    const struct order_shape *x = &s->all.at[a], *y = &s->all.at[b];
    uint64_t nx = x->tails < POINTS ? x->tails : POINTS, ny = y->tails < POINTS ? y->tails : POINTS;
    double ratio = 1;
    for (uint64_t i = 0; i <= nx; i++)
        for (uint64_t j = 0; j <= ny; j++) {
            uint64_t u = nx ? i * x->tails / nx : 0, v = ny ? j * y->tails / ny : 0, sum = u + v;
            double have = (double)x->rise[u] + y->rise[v];
            double left = (double)x->rise[sum < x->tails ? sum : x->tails] +
                          y->rise[sum > x->tails ? sum - x->tails : 0];
            if (have > 0 && left / have < ratio)
                ratio = left / have;
        }
    return ratio;
}
