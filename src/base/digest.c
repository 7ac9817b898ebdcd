/* BLAKE2b of 256 bits by libsodium: names of computations and contents. Safe from any number of
 * threads, since a state belongs to its caller. */
#include "base/digest.h"

#include "base/mem.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Files are read a megabyte at a time: large enough for the disk, small enough for many threads. */
#define PIECE ((size_t)1 << 20)

_Static_assert(sizeof(crypto_generichash_state) <= sizeof((struct digest_state){0}.opaque),
               "the state does not fit");

/* The header knows nothing of libsodium: the state is bytes there. */
static crypto_generichash_state *digest_inner_state(struct digest_state *s)
{
    return (crypto_generichash_state *)(void *)s->opaque;
}

void digest_begin(struct digest_state *s)
{
    crypto_generichash_init(digest_inner_state(s), NULL, 0, sizeof(struct digest));
}

void digest_bytes(struct digest_state *s, const void *data, size_t n)
{
    if (n)
        crypto_generichash_update(digest_inner_state(s), data, n);
}

/* Little-endian whatever the machine: digests are compared across machines. */
void digest_number(struct digest_state *s, uint64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    digest_bytes(s, bytes, sizeof bytes);
}

/* With its length, so that "ab" "c" and "a" "bc" differ. */
void digest_string(struct digest_state *s, const char *text, size_t n)
{
    digest_number(s, n);
    digest_bytes(s, text, n);
}

void digest_end(struct digest_state *s, struct digest *out)
{
    crypto_generichash_final(digest_inner_state(s), out->at, sizeof out->at);
}

void digest_of(const void *data, size_t n, struct digest *out)
{
    struct digest_state s;
    digest_begin(&s);
    digest_bytes(&s, data, n);
    digest_end(&s, out);
}

/* pread(): the descriptor's own position is left alone, and others may read it at the same time. */
bool digest_of_fd(int fd, const char *path, struct digest *out, struct error *err)
{
    struct digest_state s;
    digest_begin(&s);
    char *piece = mem_new(char, PIECE);
    off_t at = 0;
    for (;;) {
        ssize_t n = pread(fd, piece, PIECE, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            error_set(err, ERROR_FAILED, "%s: cannot be read: %s", path, strerror(errno));
            free(piece);
            return false;
        }
        if (n == 0)
            break;
        digest_bytes(&s, piece, (size_t)n);
        at += n;
    }
    free(piece);
    digest_end(&s, out);
    return true;
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return memcmp(a->at, b->at, sizeof a->at) == 0;
}

bool digest_is_zero(const struct digest *d)
{
    static const struct digest zero;
    return digest_equal(d, &zero);
}

const char *digest_text(const struct digest *d, char text[static DIGEST_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof d->at; i++) {
        text[2 * i] = hex[d->at[i] >> 4];
        text[2 * i + 1] = hex[d->at[i] & 15];
    }
    text[DIGEST_TEXT - 1] = 0;
    return text;
}
