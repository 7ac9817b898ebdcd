/* Bytes in less bytes, quickly: for what is sent, sealed and written once and repeats itself (texts of
 * workflows, arrays of numbers that rise). By liblz4: some 800 MB/s in, 2 GB/s out; not for files that others
 * read.
 *
 *     struct squeeze s = {.out = &text};                    struct unsqueeze u = {.at = bytes, .left = n};
 *     squeeze_put(&s, data, n); ...                         unsqueeze_take(&u, data, n) ...
 *     squeeze_end(&s);                                      unsqueeze_is_whole(&u)
 *
 * A stream is blocks of at most 64 KB, each by itself, so that neither side needs more memory than one:
 *
 *     raw I   packed I   bytes ...      packed == raw: as they are; else a block of LZ4
 *
 * What comes out is checked: damaged bytes give other bytes or an error, never more than was asked for. */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum { SQUEEZE_BLOCK = 1 << 16 };

struct squeeze {
    struct strbuf *out; /* appended to */
    size_t have;
    unsigned char block[SQUEEZE_BLOCK];
};

void squeeze_put(struct squeeze *s, const void *data, size_t n);
void squeeze_end(struct squeeze *s); /* what is left of the last block */

struct unsqueeze {
    const unsigned char *at; /* the stream's bytes that are left */
    size_t left;
    size_t have, used; /* of `block` */
    bool bad;
    unsigned char block[SQUEEZE_BLOCK];
};

/* The next n bytes; false: there are not so many, or the stream is damaged. */
bool unsqueeze_take(struct unsqueeze *u, void *to, size_t n);
bool unsqueeze_is_whole(const struct unsqueeze *u); /* all was taken, and nothing was bad */
