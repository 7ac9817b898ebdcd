/* Blocks of bytes, squeezed (squeeze.h). What stands more than once is written once:
 *
 *     a block   sequences; the last has no match
 *     sequence  lengths B (literals << 4 | match - 4), more of either (255 255 ... rest),
 *               the literals, how far back the match is H
 *
 * A length of 15 in its half byte goes on in the bytes behind: 255 means that another follows. The table
 * remembers where four bytes stood last; what is overwritten there is only not found. */
#include "base/squeeze.h"

#include <string.h>

enum { LEAST = 4, TABLE_BITS = 13, MORE = 15 };

static uint32_t squeeze_word(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint32_t squeeze_slot(uint32_t word)
{
    return word * 2654435761u >> (32 - TABLE_BITS);
}

static unsigned char *squeeze_length(unsigned char *to, size_t n)
{
    for (n -= MORE; n >= 255; n -= 255)
        *to++ = 255;
    *to++ = (unsigned char)n;
    return to;
}

/* `match` 0: the last one. */
static unsigned char *squeeze_sequence(unsigned char *to, const unsigned char *literals, size_t n,
                                       size_t match, size_t back)
{
    size_t more = match ? match - LEAST : 0;
    *to++ = (unsigned char)((n < MORE ? n : MORE) << 4 | (more < MORE ? more : MORE));
    if (n >= MORE)
        to = squeeze_length(to, n);
    memcpy(to, literals, n);
    to += n;
    if (!match)
        return to;
    uint16_t far = (uint16_t)back;
    memcpy(to, &far, sizeof far);
    to += sizeof far;
    return more >= MORE ? squeeze_length(to, more) : to;
}

/* How many bytes are the same from here on. */
static size_t squeeze_match(const unsigned char *a, const unsigned char *b,
                            const unsigned char *end)
{
    const unsigned char *from = b;
    while (end - b >= 8) {
        uint64_t x, y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (x != y)
            break;
        a += 8;
        b += 8;
    }
    while (b < end && *a == *b)
        a++, b++;
    return (size_t)(b - from);
}

/* The block into `to`, which has room for what cannot be squeezed. */
static size_t squeeze_block(const unsigned char *in, size_t n, unsigned char *to)
{
    uint16_t table[1 << TABLE_BITS] = {0};
    const unsigned char *end = in + n, *start = to;
    size_t at = 1, done = 0; /* at 1: place 0 is where nothing was seen points to, too */
    while (at + LEAST <= n) {
        uint32_t word = squeeze_word(in + at), slot = squeeze_slot(word);
        size_t before = table[slot];
        table[slot] = (uint16_t)at;
        if (squeeze_word(in + before) != word) {
            at += 1 + ((at - done) >> 6); /* faster through what does not repeat itself */
            continue;
        }
        size_t match = LEAST + squeeze_match(in + before + LEAST, in + at + LEAST, end);
        to = squeeze_sequence(to, in + done, at - done, match, at - before);
        at += match;
        done = at;
    }
    return (size_t)(squeeze_sequence(to, in + done, n - done, 0, 0) - start);
}

static void squeeze_flush(struct squeeze *s)
{
    /* a literal costs a byte in 255, a sequence at most what it spares */
    size_t n = s->have, most = n + n / 255 + 16;
    strbuf_reserve(s->out, 8 + most);
    unsigned char *to = (unsigned char *)s->out->at + s->out->n + 8;
    size_t packed = squeeze_block(s->block, n, to);
    if (packed >= n)
        memcpy(to, s->block, packed = n);
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

struct unsqueeze_block {
    const unsigned char *at, *end;
    unsigned char *to;
    const unsigned char *start, *most;
    bool bad;
};

static size_t unsqueeze_length(struct unsqueeze_block *b, size_t n)
{
    unsigned char more = 255;
    while (n >= MORE && more == 255 && !b->bad) {
        b->bad |= b->at == b->end;
        more = b->bad ? 0 : *b->at++;
        n += more;
    }
    return n;
}

/* Overlapping on purpose: what is copied may be what was just written. Each round has twice as much to copy
 * from as the one before. */
static void unsqueeze_repeat(struct unsqueeze_block *b, size_t back, size_t n)
{
    if (!back || back > (size_t)(b->to - b->start) || n > (size_t)(b->most - b->to)) {
        b->bad = true;
        return;
    }
    const unsigned char *from = b->to - back;
    while (n) {
        size_t some = (size_t)(b->to - from) < n ? (size_t)(b->to - from) : n;
        memcpy(b->to, from, some);
        b->to += some;
        n -= some;
    }
}

static void unsqueeze_sequence(struct unsqueeze_block *b)
{
    unsigned char lengths = *b->at++;
    size_t n = unsqueeze_length(b, lengths >> 4), match = lengths & 15;
    if (b->bad || n > (size_t)(b->end - b->at) || n > (size_t)(b->most - b->to)) {
        b->bad = true;
        return;
    }
    memcpy(b->to, b->at, n);
    b->to += n;
    b->at += n;
    if (b->at == b->end)
        return;
    uint16_t back;
    if (b->end - b->at < (ptrdiff_t)sizeof back) {
        b->bad = true;
        return;
    }
    memcpy(&back, b->at, sizeof back);
    b->at += sizeof back;
    unsqueeze_repeat(b, back, LEAST + unsqueeze_length(b, match));
}

static void unsqueeze_next(struct unsqueeze *u)
{
    uint32_t sizes[2] = {0, 0};
    if (u->left >= sizeof sizes)
        memcpy(sizes, u->at, sizeof sizes);
    if (!sizes[0] || sizes[0] > SQUEEZE_BLOCK || sizes[1] > sizes[0] ||
        sizes[1] > u->left - sizeof sizes) {
        u->bad = true;
        return;
    }
    struct unsqueeze_block b = {.at = u->at + sizeof sizes,
                                .end = u->at + sizeof sizes + sizes[1],
                                .to = u->block,
                                .start = u->block,
                                .most = u->block + sizes[0]};
    if (sizes[0] == sizes[1]) {
        memcpy(u->block, b.at, sizes[0]);
        b.to += sizes[0];
    } else {
        while (b.at < b.end && !b.bad)
            unsqueeze_sequence(&b);
    }
    u->bad |= b.bad || b.to != b.most;
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
