/* Tests over sequences (every pair in order) and cross products (every pair), counted without
 * looking at every pair: by sorting and by Fenwick trees over ranks, O(n log n).
 *
 * A sequence in order of scheduling is watched: scheduling a task adds its pairs with what was
 * scheduled before (or with what is not yet), taking it back restores the saved count. O(log n) a
 * step, where counting anew would be O(n log n) for each of millions of states. */
#include "query/constraint.h"
#include <math.h>

/* ---- Fenwick tree: counts by rank ---- */

/* Fenwick tree, ranks from 1. */
static void tree_add(uint32_t *tree, uint32_t ranks, uint32_t rank, uint32_t amount)
{
    for (; rank <= ranks; rank += rank & -rank)
        tree[rank] += amount;
}

/* How many have a rank of at most `rank`. */
static uint32_t tree_up_to(const uint32_t *tree, uint32_t rank)
{
    uint32_t sum = 0;
    for (; rank; rank -= rank & -rank)
        sum += tree[rank];
    return sum;
}

/* Of `total` counted ones, how many x make (x test rank) false? */
static double failing_before(const uint32_t *tree, uint32_t total, enum test test, uint32_t rank)
{
    double below = tree_up_to(tree, rank - 1), up_to = tree_up_to(tree, rank);
    switch (test) {
    case TEST_LESS:
        return total - below;
    case TEST_AT_MOST:
        return total - up_to;
    case TEST_EQUAL:
        return total - (up_to - below);
    case TEST_DIFFERENT:
        return up_to - below;
    case TEST_AT_LEAST:
        return below;
    case TEST_MORE:
        return up_to;
    }
    return 0;
}

/* ---- whole lists ---- */

static int compare_values(const void *a, const void *b)
{
    return value_compare(a, b);
}

/* The known ones, sorted. */
static size_t sort_known(const struct values *v, struct value **out)
{
    struct value *list = mem_new(struct value, v->list.n + 1);
    size_t count = 0;
    for (size_t i = 0; i < v->list.n; i++)
        if (v->list.at[i].kind != VALUE_UNKNOWN)
            list[count++] = v->list.at[i];
    qsort(list, count, sizeof *list, compare_values);
    *out = list;
    return count;
}

/* Few values: quadratic is quicker. */
static double small_pairs(const struct values *v, enum test test)
{
    double failed = 0;
    for (size_t i = 0; i < v->list.n; i++)
        for (size_t k = i + 1; k < v->list.n; k++)
            failed += value_test(&v->list.at[i], test, &v->list.at[k]) == TRUTH_FALSE;
    return failed;
}

/* Unknown values fail no test. */
double count_failed_pairs(const struct values *v, enum test test)
{
    if (v->list.n <= 24)
        return small_pairs(v, test);
    struct value *list;
    size_t count = sort_known(v, &list), distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (!i || value_compare(&list[distinct - 1], &list[i]) != 0)
            list[distinct++] = list[i];
    uint32_t *tree = mem_new_zero(uint32_t, distinct + 1), total = 0;
    double failed = 0;
    for (size_t i = 0; i < v->list.n; i++) {
        const struct value *value = &v->list.at[i];
        if (value->kind == VALUE_UNKNOWN)
            continue;
        const struct value *found = bsearch(value, list, distinct, sizeof *list, compare_values);
        uint32_t rank = (uint32_t)(found - list) + 1;
        failed += failing_before(tree, total++, test, rank);
        tree_add(tree, (uint32_t)distinct, rank, 1);
    }
    free(tree);
    free(list);
    return failed;
}

/* By counting smaller and equal values of b for every value of a. */
double count_failed_product(const struct values *a, enum test test, const struct values *b)
{
    double failed = 0;
    if (a->list.n * b->list.n <= 64) {
        for (size_t i = 0; i < a->list.n; i++)
            for (size_t k = 0; k < b->list.n; k++)
                failed += value_test(&a->list.at[i], test, &b->list.at[k]) == TRUTH_FALSE;
        return failed;
    }
    struct value *list;
    size_t count = sort_known(b, &list);
    for (size_t i = 0; i < a->list.n; i++) {
        const struct value *v = &a->list.at[i];
        if (v->kind == VALUE_UNKNOWN)
            continue;
        size_t below = 0, high = count; /* how many of b are smaller, and not larger */
        while (below < high) {
            size_t middle = (below + high) / 2;
            if (value_compare(&list[middle], v) < 0)
                below = middle + 1;
            else
                high = middle;
        }
        size_t up_to = below;
        for (high = count; up_to < high;) {
            size_t middle = (up_to + high) / 2;
            if (value_compare(&list[middle], v) <= 0)
                up_to = middle + 1;
            else
                high = middle;
        }
        size_t passed = test == TEST_LESS        ? count - up_to
                        : test == TEST_AT_MOST   ? count - below
                        : test == TEST_EQUAL     ? up_to - below
                        : test == TEST_DIFFERENT ? count - (up_to - below)
                        : test == TEST_AT_LEAST  ? up_to
                                                 : below;
        failed += (double)(count - passed);
    }
    free(list);
    return failed;
}

/* Testing = UNKNOWN fails for every known value, <> UNKNOWN for every unknown one. */
double count_failed_unknown(const struct values *a, enum test test)
{
    double known = 0;
    for (size_t i = 0; i < a->list.n; i++)
        known += a->list.at[i].kind != VALUE_UNKNOWN;
    return test == TEST_EQUAL ? known : (double)a->list.n - known;
}

/* ---- sequences in order of scheduling ---- */

static bool take_word(const struct query_token **at, const struct query_token *end,
                      const char *word)
{
    if (*at >= end || !token_is(*at, word))
        return false;
    ++*at;
    return true;
}

/* The next token, if it is this attribute. */
static bool take_attribute(const struct query_token **at, const struct query_token *end,
                           int attribute)
{
    if (*at >= end || (*at)->attribute != attribute)
        return false;
    ++*at;
    return true;
}

/* select A from task order by task_schedule_order nulls last, A [desc]
 * select A from task where task_assigned_proc_id <> UNKNOWN order by task_schedule_order */
bool order_watch_recognise(struct order_watch *o, const struct lexed *l, size_t first, size_t end,
                           enum test test)
{
    /* parentheses around everything */
    const struct query_token *at = l->tokens.at + first, *last = l->tokens.at + end;
    while (at < last - 1 && token_is(at, "(") && token_is(last - 1, ")")) {
        at++;
        last--;
    }
    if (!take_word(&at, last, "select") || at >= last || at->attribute < 0)
        return false;
    int attribute = at++->attribute;
    const struct attribute_row *row = &attribute_table[attribute];
    if (row->relation != RELATION_TASK || row->changes || row->kind == VALUE_TEXT ||
        attribute == TASK_DEADLINE)
        return false;
    if (!take_word(&at, last, "from") || !take_word(&at, last, "task"))
        return false;
    bool filtered = take_word(&at, last, "where");
    if (filtered) {
        if (!take_attribute(&at, last, TASK_ASSIGNED_PROC_ID))
            return false;
        bool known = take_word(&at, last, "<>") && take_word(&at, last, "unknown");
        if (!known)
            return false;
    }
    if (!take_word(&at, last, "order") || !take_word(&at, last, "by") ||
        !take_attribute(&at, last, TASK_SCHEDULE_ORDER))
        return false;
    bool nulls_last = take_word(&at, last, "nulls") && take_word(&at, last, "last");
    bool descending = false, second = false;
    if (take_word(&at, last, ",")) {
        second = take_attribute(&at, last, attribute);
        descending = take_word(&at, last, "desc");
        take_word(&at, last, "asc");
        if (!second)
            return false;
    }
    if (at != last)
        return false;
    /* with the rest behind in best order, only tests that this order fulfils can be counted */
    bool unique = attribute == TASK_ID || attribute == TASK_PATH_RANK;
    bool fits = descending ? test == TEST_AT_LEAST || (unique && test == TEST_MORE)
                           : test == TEST_AT_MOST || (unique && test == TEST_LESS);
    if (!filtered && !(nulls_last && second && fits))
        return false;
    o->rest = !filtered;
    o->descending = descending;
    o->attribute = (enum attribute)attribute;
    return true;
}

static int compare_ordered_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Ranks of the attribute; at first nothing is scheduled. */
void order_watch_begin(struct order_watch *o, struct relations *r)
{
    uint32_t n = r->w->ntasks, distinct = 0;
    double *keys = mem_new(double, n), *list = mem_new(double, n);
    for (uint32_t t = 0; t < n; t++)
        keys[t] = list[t] = relations_value(r, o->attribute, t).number;
    qsort(list, n, sizeof *list, compare_ordered_values);
    for (uint32_t i = 0; i < n; i++)
        if (!i || list[distinct - 1] != list[i])
            list[distinct++] = list[i];
    free(o->rank);
    free(o->count);
    o->ranks = distinct;
    o->rank = mem_new(uint32_t, n);
    o->count = mem_new_zero(uint32_t, distinct + 1u);
    for (uint32_t t = 0; t < n; t++) {
        const double *found =
            bsearch(&keys[t], list, distinct, sizeof *list, compare_ordered_values);
        o->rank[t] = (uint32_t)(found - list) + 1;
        if (o->rest)
            tree_add(o->count, o->ranks, o->rank[t], 1);
    }
    free(keys);
    free(list);
    o->failed = 0;
    o->saved.n = 0;
    o->active = true;
}

/* With `rest`, the tasks not scheduled follow best first, so only those that should have come
 * before it fail. */
void order_watch_push(struct order_watch *o, enum test test, uint32_t task)
{
    uint32_t rank = o->rank[task];
    array_push(&o->saved, o->failed);
    if (o->rest) {
        tree_add(o->count, o->ranks, rank, UINT32_MAX); /* one less */
        uint32_t total = tree_up_to(o->count, o->ranks);
        o->failed +=
            o->descending ? total - tree_up_to(o->count, rank) : tree_up_to(o->count, rank - 1);
    } else {
        o->failed += failing_before(o->count, (uint32_t)o->saved.n - 1, test, rank);
        tree_add(o->count, o->ranks, rank, 1);
    }
}

/* The count before the push was saved. */
void order_watch_pop(struct order_watch *o, uint32_t task)
{
    tree_add(o->count, o->ranks, o->rank[task], o->rest ? 1 : UINT32_MAX);
    o->failed = array_pop(&o->saved);
}

void order_watch_free(struct order_watch *o)
{
    free(o->rank);
    free(o->count);
    array_free(&o->saved);
}
