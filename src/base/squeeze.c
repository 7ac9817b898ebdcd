/* Blocks of bytes, squeezed by liblz4 (squeeze.h): one call a block. The library writes nothing past the room
 * that it is given, and reads nothing past the bytes; that the sizes before a block are possible is
 * checked here. Safe for several threads, each with a stream of its own. */
#include "base/squeeze.h"

#include <lz4.h>
#include <string.h>

static void squeeze_flush(struct squeeze *s)
{
    size_t n = s->have;
    strbuf_reserve(s->out, 8 + n);
    char *to = s->out->at + s->out->n + 8;
    /* room for one byte less: what takes as much as before stands there as it is */
    int fits = LZ4_compress_default((const char *)s->block, to, (int)n, (int)n - 1);
    size_t packed = fits > 0 ? (size_t)fits : n;
    if (packed == n)
        memcpy(to, s->block, n);
    uint32_t sizes[2] = {(uint32_t)n, (uint32_t)packed};
    memcpy(to - 8, sizes, sizeof sizes);
    s->out->n += 8 + packed;
    s->out->at[s->out->n] = 0;
    s->have = 0;
}

void squeeze_put(struct squeeze *s, const void *data, size_t n)
{
    const unsigned char *from = data;
    while (n) {
        size_t some = SQUEEZE_BLOCK - s->have < n ? SQUEEZE_BLOCK - s->have : n;
        memcpy(s->block + s->have, from, some);
        s->have += some;
        from += some;
        n -= some;
        if (s->have == SQUEEZE_BLOCK)
            squeeze_flush(s);
    }
}

void squeeze_end(struct squeeze *s)
{
    if (s->have)
        squeeze_flush(s);
}

/* ---- the other way ---- */

static bool unsqueeze_block(struct unsqueeze *u, const unsigned char *from, size_t n, size_t raw)
{
    if (n == raw) {
        memcpy(u->block, from, n);
        return true;
    }
    return LZ4_decompress_safe((const char *)from, (char *)u->block, (int)n, (int)raw) == (int)raw;
}

static void unsqueeze_next(struct unsqueeze *u)
{
    uint32_t sizes[2] = {0, 0};
    if (u->left >= sizeof sizes)
        memcpy(sizes, u->at, sizeof sizes);
    if (!sizes[0] || sizes[0] > SQUEEZE_BLOCK || sizes[1] > sizes[0] ||
        sizes[1] > u->left - sizeof sizes ||
        !unsqueeze_block(u, u->at + sizeof sizes, sizes[1], sizes[0])) {
        u->bad = true;
        return;
    }
    u->have = sizes[0];
    u->used = 0;
    u->at += sizeof sizes + sizes[1];
    u->left -= sizeof sizes + sizes[1];
}

bool unsqueeze_take(struct unsqueeze *u, void *to, size_t n)
{
    unsigned char *at = to;
    while (n && !u->bad) {
        if (u->used == u->have) {
            unsqueeze_next(u);
            continue;
        }
        size_t some = u->have - u->used < n ? u->have - u->used : n;
        memcpy(at, u->block + u->used, some);
        u->used += some;
        at += some;
        n -= some;
    }
    return !u->bad;
}

bool unsqueeze_is_whole(const struct unsqueeze *u)
{
    return !u->bad && !u->left && u->used == u->have;
}
