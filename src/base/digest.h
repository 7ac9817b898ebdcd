/* A 256-bit digest of bytes (BLAKE2b): equal digests mean equal content. libsodium behind one
 * module, so that the algorithm is chosen once. */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_TEXT (2 * 32 + 1) /* hexadecimal and a NUL */

struct digest {
    uint8_t at[32];
};

/* Fed piece by piece. A piece's length is part of what is hashed only if the caller adds it:
 * digest_string() does, so that "ab","c" and "a","bc" differ. */
struct digest_state {
    _Alignas(64) unsigned char opaque[384];
};

void digest_begin(struct digest_state *s);
void digest_bytes(struct digest_state *s, const void *data, size_t n);
void digest_string(struct digest_state *s, const char *text, size_t n); /* its length first */
void digest_number(struct digest_state *s, uint64_t number);
void digest_end(struct digest_state *s, struct digest *out);

/* All of it at once. */
void digest_of(const void *data, size_t n, struct digest *out);
/* The content of an open file from its beginning; reads in pieces, so any size costs 1 MiB. */
bool digest_of_fd(int fd, const char *path, struct digest *out, struct error *err);

bool digest_equal(const struct digest *a, const struct digest *b);
bool digest_is_zero(const struct digest *d); /* "not known": what no content has */
const char *digest_text(const struct digest *d, char text[static DIGEST_TEXT]);
