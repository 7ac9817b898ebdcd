/* The certificate of a store that a cluster starts for itself. Whoever has the secret it is made of
 * makes the same bytes, so nothing is handed out and there is nothing to configure: the server
 * shows it, and a client believes this one alone (`tls_pin` of store/redis.h). */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum { REDIS_CERTIFICATE_SEED = 32 };

/* An Ed25519 key pair from the seed, self-signed, always the same; PEM, appended. NULL: not wanted.
 * The text of the key is as secret as the seed. */
bool redis_certificate_make(const uint8_t seed[static REDIS_CERTIFICATE_SEED],
                            struct strbuf *certificate, struct strbuf *key, struct error *err);
