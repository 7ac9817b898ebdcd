/* Numbers and texts as bytes for a wire or a file, little-endian, and back without trust: a reader
 * that has run out of bytes stays `bad` and gives zeros, so a message is decoded first and judged
 * once.
 *
 *     struct strbuf out = {0};                struct bytes in = {data, n};
 *     bytes_put_u32(&out, 7);                 uint32_t x = bytes_u32(&in);
 *     bytes_put_text(&out, "abc", 3);         const char *t = bytes_text(&in, &length);
 *                                             if (!bytes_end(&in)) ... malformed */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const void *at;
    size_t n;
    bool bad;
};

static inline void bytes_put(struct strbuf *out, const void *data, size_t n)
{
    if (n)
        strbuf_add_bytes(out, data, n);
}
static inline void bytes_put_u8(struct strbuf *out, uint8_t x)
{
    bytes_put(out, &x, 1);
}
static inline void bytes_put_u32(struct strbuf *out, uint32_t x)
{
    uint8_t b[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24)};
    bytes_put(out, b, sizeof b);
}
static inline void bytes_put_u64(struct strbuf *out, uint64_t x)
{
    bytes_put_u32(out, (uint32_t)x);
    bytes_put_u32(out, (uint32_t)(x >> 32));
}
static inline void bytes_put_f64(struct strbuf *out, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bytes_put_u64(out, bits);
}
static inline void bytes_put_text(struct strbuf *out, const void *text, size_t n)
{
    bytes_put_u32(out, (uint32_t)n);
    bytes_put(out, text, n);
}

/* The next n bytes where they stand; NULL: there are not so many. */
static inline const void *bytes_take(struct bytes *in, size_t n)
{
    if (in->bad || n > in->n) {
        in->bad = true;
        return NULL;
    }
    const char *at = in->at;
    in->at = n ? at + n : at;
    in->n -= n;
    return at;
}
static inline uint8_t bytes_u8(struct bytes *in)
{
    const uint8_t *b = bytes_take(in, 1);
    return b ? *b : 0;
}
static inline uint32_t bytes_u32(struct bytes *in)
{
    const uint8_t *b = bytes_take(in, 4);
    return b ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24
             : 0;
}
static inline uint64_t bytes_u64(struct bytes *in)
{
    uint64_t low = bytes_u32(in);
    return low | (uint64_t)bytes_u32(in) << 32;
}
static inline double bytes_f64(struct bytes *in)
{
    uint64_t bits = bytes_u64(in);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* Not NUL-terminated. */
static inline const char *bytes_text(struct bytes *in, size_t *n)
{
    *n = bytes_u32(in);
    const char *text = bytes_take(in, *n);
    if (!text)
        *n = 0;
    return text;
}
/* Everything was there, and nothing is left. */
static inline bool bytes_end(const struct bytes *in)
{
    return !in->bad && in->n == 0;
}
