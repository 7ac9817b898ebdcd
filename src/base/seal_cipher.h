/* ChaCha20-Poly1305 (RFC 8439) with one key for many frames. Two libraries make the same bytes: libsodium,
 * and for frames from SEAL_CIPHER_LARGE on OpenSSL's, which takes 0.3 s of a core for a gigabyte where
 * libsodium takes 0.8, but half a microsecond more to begin. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
    SEAL_CIPHER_KEY = 32,
    SEAL_CIPHER_NONCE = 12,
    SEAL_CIPHER_PROOF = 16,
    SEAL_CIPHER_LARGE = 4 << 10, /* bytes; they are even at one to two KiB */
};

struct evp_cipher_ctx_st;

/* Zeroed and with its key set by the owner; one direction at a time, one thread at a time. */
struct seal_cipher {
    unsigned char key[SEAL_CIPHER_KEY];
    struct evp_cipher_ctx_st *large; /* made for the first large frame */
    bool small_only;                 /* OpenSSL may not do it (its FIPS provider has no ChaCha20) */
};

/* A frame: n bytes that are sealed in place, and said bytes before them that are proved with them. */
struct seal_cipher_frame {
    const unsigned char *nonce; /* never twice with one key */
    const void *said;
    size_t nsaid;
    unsigned char *text;
    size_t n;
    unsigned char *proof; /* SEAL_CIPHER_PROOF */
};

void seal_cipher_close(struct seal_cipher *c, const struct seal_cipher_frame *f);
/* False: it was not made with this key and nonce; `text` is of no use then. */
bool seal_cipher_open(struct seal_cipher *c, const struct seal_cipher_frame *f);
void seal_cipher_wipe(struct seal_cipher *c);
