/* Which combinations are tried: all, a sample without repetition, or those listed. A row has one
 * choice a substitution. Deterministic for a seed; O(combinations x substitutions). */
#include "experiment/combine.h"
#include "base/compare.h"
#include "base/pool.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "base/plural.h"

#include <string.h>

/* UINT64_MAX: more than 63 bits can count. */
uint64_t combinations_of_all(const struct experiment *x)
{
    uint64_t total = 1;
    for (size_t s = 0; s < x->substitutions.n; s++)
        if (__builtin_mul_overflow(total, (uint64_t)x->substitutions.at[s].by.n, &total) ||
            total > INT64_MAX)
            return UINT64_MAX;
    return total;
}

/* Number `index` of all combinations, the last substitution turning fastest. */
static void combine_nth(const struct experiment *x, uint64_t index, uint32_t *row)
{
    for (size_t s = x->substitutions.n; s--;) {
        uint64_t n = x->substitutions.at[s].by.n;
        row[s] = (uint32_t)(index % n);
        index /= n;
    }
}

/* A set of rows: open addressing over row numbers. */
struct row_set {
    uint32_t *slot; /* row + 1; 0: free */
    uint32_t mask;
    size_t width; /* bytes of a row */
};

/* At most half full with `most` rows. */
static void row_set_init(struct row_set *set, uint64_t most, size_t columns)
{
    uint32_t size = 16;
    while (size < 2 * most)
        size *= 2;
    set->slot = mem_new_zero(uint32_t, size);
    set->mask = size - 1;
    set->width = columns * sizeof(uint32_t);
}

/* Enter row `number` of `rows`; false: an equal one is there. */
static bool row_set_add(struct row_set *set, const uint32_t *rows, uint32_t number)
{
    size_t columns = set->width / sizeof *rows;
    const uint32_t *row = rows + number * columns;
    uint32_t at = (uint32_t)hash_bytes(row, set->width) & set->mask;
    for (; set->slot[at]; at = (at + 1) & set->mask)
        if (memcmp(rows + (set->slot[at] - 1) * columns, row, set->width) == 0)
            return false;
    set->slot[at] = number + 1;
    return true;
}

/* `want` different numbers below `total`, in order: Floyd's way, where every set is as likely as
 * any other and no number is drawn in vain. */
static void sample_numbers(struct rng *r, uint64_t total, uint32_t want, uint64_t *out)
{
    uint32_t size = 16;
    while (size < 2 * (uint64_t)want)
        size *= 2;
    uint64_t *slot = mem_new_zero(uint64_t, size); /* number + 1; 0: free */
    uint32_t n = 0;
    for (uint64_t top = total - want; top < total; top++) {
        uint64_t pick = rng_below(r, top + 1);
        for (bool again = true; again;) {
            uint32_t at = (uint32_t)hash_bytes(&pick, sizeof pick) & (size - 1);
            while (slot[at] && slot[at] != pick + 1)
                at = (at + 1) & (size - 1);
            again = slot[at] != 0;
            if (again)
                pick = top; /* drawn before: the newest number, which cannot be there yet */
            else
                slot[at] = pick + 1;
        }
        out[n++] = pick;
    }
    free(slot);
    qsort(out, n, sizeof *out, compare_u64);
}

/* A row that can be sorted; qsort() gives no context. */
struct wide_row {
    const uint32_t *at;
    size_t columns;
};

static int combine_compare_rows(const void *a, const void *b)
{
    const struct wide_row *x = a, *y = b;
    for (size_t s = 0; s < x->columns; s++)
        if (x->at[s] != y->at[s])
            return x->at[s] < y->at[s] ? -1 : 1;
    return 0;
}

/* More combinations than 63 bits count: equal draws are as good as impossible, and drawn again. */
static void sample_wide(const struct experiment *x, struct rng *r, uint32_t want, uint32_t *rows)
{
    size_t columns = x->substitutions.n;
    uint32_t *drawn = mem_new(uint32_t, columns * want);
    struct row_set set;
    row_set_init(&set, want, columns);
    for (uint32_t i = 0; i < want;) {
        for (size_t s = 0; s < columns; s++)
            drawn[i * columns + s] = (uint32_t)rng_below(r, x->substitutions.at[s].by.n);
        i += row_set_add(&set, drawn, i);
    }
    free(set.slot);
    struct wide_row *order = mem_new(struct wide_row, want);
    for (uint32_t i = 0; i < want; i++)
        order[i] = (struct wide_row){drawn + i * columns, columns};
    qsort(order, want, sizeof *order, combine_compare_rows);
    for (uint32_t i = 0; i < want; i++)
        memcpy(rows + i * columns, order[i].at, columns * sizeof *rows);
    free(order);
    free(drawn);
}

/* As the user wrote them; what stands twice is taken once. The caller frees. */
static uint32_t *listed_rows(const struct experiment *x, size_t columns, uint32_t *count)
{
    size_t n = columns ? x->listed.n / columns : 0;
    uint32_t *rows = mem_new(uint32_t, columns * n + 1), kept = 0;
    struct row_set set;
    row_set_init(&set, n, columns);
    for (size_t i = 0; i < n; i++) {
        memcpy(rows + kept * columns, x->listed.at + i * columns, columns * sizeof *rows);
        kept += row_set_add(&set, rows, kept);
    }
    free(set.slot);
    *count = kept;
    return rows;
}

bool combinations_make(const struct experiment *x, uint32_t **rows, uint32_t *count,
                       struct error *err)
{
    size_t columns = x->substitutions.n;
    /* a sample of more than there are is all of them */
    uint64_t total = combinations_of_all(x), want = total;
    if (x->combine == COMBINE_LISTED) {
        if (columns && x->listed.n / columns > MOST_COMBINATIONS)
            return error_at(err, x->file, 0, "%zu combination%s; at most %d are taken at once",
                            x->listed.n / columns, plural(x->listed.n / columns),
                            MOST_COMBINATIONS);
        *rows = listed_rows(x, columns, count);
        return true;
    }
    if (x->combine == COMBINE_SAMPLE && x->sample < total)
        want = x->sample;
    /* refused, not cut: whoever wrote the experiment thinks that all are tried */
    if (want > MOST_COMBINATIONS)
        return error_at(err, x->file, 0,
                        "%s%llu combination%s; at most %d are taken at once: 'combine: {sample: "
                        "1000}' tries some of them",
                        total == UINT64_MAX && want == total ? "more than " : "",
                        (unsigned long long)(want == UINT64_MAX ? INT64_MAX : want),
                        plural((unsigned long long)(want == UINT64_MAX ? INT64_MAX : want)),
                        MOST_COMBINATIONS);
    *rows = mem_new(uint32_t, columns * want + 1);
    *count = (uint32_t)want;
    struct rng r;
    rng_seed(&r, x->seed);
    if (want == total) {
        for (uint32_t i = 0; i < want; i++)
            combine_nth(x, i, *rows + i * columns);
    } else if (total < UINT64_MAX) {
        uint64_t *number = mem_new(uint64_t, want);
        sample_numbers(&r, total, (uint32_t)want, number);
        for (uint32_t i = 0; i < want; i++)
            combine_nth(x, number[i], *rows + i * columns);
        free(number);
    } else {
        sample_wide(x, &r, (uint32_t)want, *rows);
    }
    return true;
}

/* "method=sobel,image=lena"; `only` is a set of substitutions, NULL: all of them. Names folders and
 * tasks. */
void combination_label(const struct experiment *x, const uint32_t *row, const uint64_t *only,
                       struct strbuf *out)
{
    bool first = true;
    for (size_t s = 0; s < x->substitutions.n; s++) {
        const struct substitution *sub = &x->substitutions.at[s];
        if (row[s] == CHOICE_ORIGINAL || (only && !(only[s / 64] >> (s % 64) & 1)))
            continue;
        if (!first)
            strbuf_add_char(out, ',');
        first = false;
        strbuf_add(out, sub->name);
        strbuf_add_char(out, '=');
        strbuf_add(out, sub->by.at[row[s]].label);
    }
}
