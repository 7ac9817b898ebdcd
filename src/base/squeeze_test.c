/* What goes in comes out, whatever it is; damaged streams give an error or other bytes, and nothing
 * outside is touched (the sanitizers look). */
#include "base/squeeze.h"

#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static void squeezed(const unsigned char *data, size_t n, size_t step, struct strbuf *out)
{
    struct squeeze *s = mem_new_zero(struct squeeze, 1);
    s->out = out;
    for (size_t at = 0; at < n; at += step)
        squeeze_put(s, data + at, n - at < step ? n - at : step);
    squeeze_end(s);
    free(s);
}

/* From a copy of exactly its size, so that a byte too far is seen. */
static bool comes_back(const char *bytes, size_t size, const unsigned char *data, size_t n,
                       size_t step)
{
    struct unsqueeze *u = mem_new_zero(struct unsqueeze, 1);
    unsigned char *copy = malloc(size ? size : 1), *got = malloc(n ? n : 1);
    if (size)
        memcpy(copy, bytes, size);
    u->at = copy;
    u->left = size;
    bool good = true;
    for (size_t at = 0; at < n && good; at += step)
        good = unsqueeze_take(u, got + at, n - at < step ? n - at : step);
    good = good && unsqueeze_is_whole(u) && (!n || memcmp(got, data, n) == 0);
    free(got);
    free(copy);
    free(u);
    return good;
}

static unsigned char *make_bytes(struct rng *r, size_t n, int kind)
{
    unsigned char *data = malloc(n ? n : 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = rng_next(r), rising = i % 4 == 0 ? i / 4 : i % 4 == 1 ? i / 1024 : 0;
        uint64_t text = (unsigned char)"name: { run: 'true' }\n"[i % 22] + (v % 50 == 0);
        const uint64_t kinds[] = {v, 'x', v % 3, text, rising};
        data[i] = (unsigned char)kinds[kind];
    }
    return data;
}

static void test_all_kinds(void)
{
    static const size_t sizes[] = {0,     1,      2,      3,      4,      5,       15,    16,
                                   17,    255,    300,    4096,   65535,  65536,   65537, 65540,
                                   70000, 131072, 200000, 300001, 524288, 1000003, 269,   270};
    struct rng r;
    rng_seed(&r, 1);
    for (int kind = 0; kind < 5; kind++) {
        bool good = true, small = true;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct strbuf out = {0};
            unsigned char *data = make_bytes(&r, sizes[i], kind);
            squeezed(data, sizes[i], 1 + rng_next(&r) % 100000, &out);
            good &= comes_back(out.at, out.n, data, sizes[i], 1 + rng_next(&r) % 90000);
            small &= out.n <= sizes[i] + 8 * (sizes[i] / SQUEEZE_BLOCK + 1);
            if ((kind == 1 || kind == 3) && sizes[i] > 4000)
                small &= out.n < sizes[i] / 2;
            free(data);
            strbuf_free(&out);
        }
        ok(good, "kind %d: what goes in comes out", kind);
        ok(small, "kind %d: and takes no more, less if it repeats itself", kind);
    }
}

static void test_damage(void)
{
    struct rng r;
    struct strbuf out = {0};
    rng_seed(&r, 2);
    unsigned char *data = make_bytes(&r, 3000, 3);
    squeezed(data, 3000, 3000, &out);
    unsigned believed = 0;
    for (size_t cut = 0; cut < out.n; cut++)
        believed += comes_back(out.at, cut, data, 3000, 700);
    is_int(believed, 0, "a stream that is cut off is none");
    for (unsigned i = 0; i < tap_rounds(20000); i++) {
        char *copy = mem_copy_bytes(out.at, out.n);
        for (int k = 0; k < 3; k++)
            copy[rng_next(&r) % out.n] = (char)rng_next(&r);
        believed += comes_back(copy, out.n, data, 3000, 700);
        free(copy);
    }
    ok(believed < 100, "one with other bytes ends, and is told (%u were the same)", believed);
    free(data);
    strbuf_free(&out);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_all_kinds), TAP_CASE(test_damage)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
