/* An index of names against a plain count: small tables, tables large enough for tags, tables that were
 * settled and grow again. Names share hash slots by their number, and some are parts of others. */
#include "base/mem.h"
#include "base/pool.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

struct named {
    struct pool pool;
    struct name_index index;
    str_id *names;
    uint32_t n;
};

/* "f7", "f7/f7", "f7." ...: every number's name is its own, and some are parts of others. Names that differ
 * in their last digit alone are neighbours in a large table: with and without extensions, digits in those,
 * digits far from the end, none at all. */
static size_t name_of(uint32_t i, char *text, size_t size)
{
    static const char *const forms[] = {
        "f%u", "f%u/f%u", "f%u.", "f%u.mp4", "%u7.v%u", "%u/a-name-without-a-number-at-its-end"};
    return (size_t)snprintf(text, size, forms[i % 6], i / 6, i / 6);
}

static void add_names(struct named *x, uint32_t upto)
{
    char text[64];
    for (; x->n < upto; x->n++) {
        size_t length = name_of(x->n, text, sizeof text);
        x->names[x->n] = pool_add(&x->pool, text, length);
        name_index_add(&x->index, &x->pool, x->names, x->n);
    }
}

/* How many of all names are not found as what they are: those entered by their number, others not. */
static uint32_t count_wrong(const struct named *x, uint32_t all, const uint32_t *number)
{
    char text[64];
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < all; i++) {
        size_t length = name_of(i, text, sizeof text);
        uint32_t found = name_index_find(&x->index, &x->pool, x->names, text, length);
        wrong += found != (i < x->n ? number ? number[i] : i : UINT32_MAX);
    }
    return wrong;
}

static void test_sizes(void)
{
    static const uint32_t sizes[] = {1, 12, 1000, 49152, 49153, 200000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n = sizes[i], most = n + n / 2 + 10;
        struct named x = {.names = mem_new(str_id, 2 * (size_t)most)};
        pool_init(&x.pool);
        name_index_init(&x.index);
        add_names(&x, n);
        is_int(count_wrong(&x, most, NULL), 0, "%u names are found, others are not", n);
        name_index_settle(&x.index);
        ok(!x.index.tag, "settled, nothing is kept that only adding needs");
        is_int(count_wrong(&x, most, NULL), 0, "they are found all the same");
        add_names(&x, 2 * most);
        is_int(count_wrong(&x, 2 * most, NULL), 0, "%u more are added and found", x.n - n);
        ok((x.index.tag != NULL) == (x.index.mask >= 1 << 16), "a large table has tags");
        name_index_free(&x.index);
        pool_free(&x.pool);
        free(x.names);
    }
}

static void test_renumbered(void)
{
    const uint32_t n = 100000;
    struct named x = {.names = mem_new(str_id, n)};
    uint32_t *number = mem_new(uint32_t, n);
    str_id *moved = mem_new(str_id, n);
    pool_init(&x.pool);
    name_index_init(&x.index);
    add_names(&x, n);
    for (uint32_t i = 0; i < n; i++)
        number[i] = n - 1 - i;
    ok(name_index_renumber(&x.index, number), "all names get other numbers");
    for (uint32_t i = 0; i < n; i++)
        moved[number[i]] = x.names[i];
    free(x.names);
    x.names = moved;
    is_int(count_wrong(&x, n + 1000, number), 0, "they are found by them, with tags");
    number[5] = UINT32_MAX;
    ok(!name_index_renumber(&x.index, number), "a number that has no other is refused");
    name_index_free(&x.index);
    pool_free(&x.pool);
    free(x.names);
    free(number);
}

int main(void)
{
    TAP_DO(test_sizes());
    TAP_DO(test_renumbered());
    return tap_done();
}
