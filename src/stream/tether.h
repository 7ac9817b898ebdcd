/* A sealed connection between a stream and one of its helpers, for threads that wait: frames in, frames
 * out, in order, over a socket (base/seal.h does the sealing). One thread at a time has it.
 *
 * Whoever waits looks at `halt` ten times a second and leaves when it says 2. A connection that failed
 * stays failed: close it. A machine that is gone without a word is noticed by the system within five
 * seconds (keep-alives, however long an item takes). */
#pragma once
#include "base/error.h"
#include "base/seal.h"

#include <stdatomic.h>

struct tether;

/* Takes the socket, shakes hands within `patience` seconds. The caller of the two says who it is (`self`).
 * NULL: the other end does not know the key, or is not there; the socket is closed. */
struct tether *tether_open(int fd, const struct seal_key *key, const char *self, bool caller,
                           double patience, const atomic_int *halt, struct error *err);
void tether_close(struct tether *t);              /* NULL is fine */
const char *tether_other(const struct tether *t); /* who the caller is */
bool tether_is_gone(const struct tether *t); /* the other end has closed it. Costs a system call */

/* Queue bytes, of any number, as frames; then send what is queued. False: it failed. */
bool tether_put(struct tether *t, const void *data, size_t n);
bool tether_flush(struct tether *t);
/* The next frame, until the next call. */
bool tether_take(struct tether *t, const void **frame, size_t *n);
/* So many bytes, that were put by one call. */
bool tether_fill(struct tether *t, void *to, size_t n);

/* "HOST:PORT,HOST:PORT ...": the first that answers. -1: none. */
int tether_connect(const char *addresses, struct error *err);
/* Listens at `bind`, "HOST:PORT", port 0: any; NULL: all addresses of this machine. `addresses`: where
 * others find it, as tether_connect() wants them. -1: an error. */
int tether_listen(const char *bind, struct strbuf *addresses, struct error *err);
