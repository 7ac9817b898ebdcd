/* TLS as a filter over bytes: the connection moves them, this turns one kind into the other. (The
 * hiredis of Debian 12 has no TLS of its own.) */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

struct redis_tls_options {
    const char *ca, *cert, *key, *name; /* files and the name in the certificate; NULL: none */
    const char *pin; /* text (PEM) of the only certificate to believe, whatever name and dates it
                        has; NULL: any that `ca` vouches for */
    bool unchecked;
};

struct redis_tls_context;
struct redis_tls;

struct redis_tls_context *redis_tls_context_new(const struct redis_tls_options *o,
                                                struct error *err);
void redis_tls_context_free(struct redis_tls_context *c); /* NULL is fine */

/* One session; `host` is what the certificate must name unless the options say otherwise. */
struct redis_tls *redis_tls_new(const struct redis_tls_context *c, const char *host);
void redis_tls_free(struct redis_tls *t); /* NULL is fine */

/* Ciphered bytes that came from the server. */
void redis_tls_feed(struct redis_tls *t, const void *data, size_t n);
/* Go on shaking hands. 1: done, 0: more bytes are needed, -1: refused, `why` says what for. */
int redis_tls_shake(struct redis_tls *t, char *why, size_t size);
/* Were hands refused because the server is not the pinned one? Trying again is of no use. */
bool redis_tls_is_stranger(const struct redis_tls *t);
/* Plain bytes out of what was fed: how many; 0 none yet, -1 the session is over. */
long redis_tls_read(struct redis_tls *t, void *data, size_t n);
/* Plain bytes to cipher, all of them; false: the session is over. */
bool redis_tls_write(struct redis_tls *t, const void *data, size_t n);
/* Ciphered bytes for the server: how many, 0 none. */
size_t redis_tls_take(struct redis_tls *t, void *data, size_t n);
