/* What only holders of one secret key can read or say (libsodium): the key's file, sealed pieces of
 * data at rest, and a sealed conversation between two ends of a byte stream. No sockets here. */
#pragma once
#include "base/error.h"
#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seal_key {
    uint8_t at[32];
};

/* The file is one line of text. Reading refuses what others may read or write (any bit of 077),
 * what belongs to somebody else, is no regular file or no key: an error that says what to do.
 * Making never overwrites. */
bool seal_key_read(const char *path, struct seal_key *key, struct error *err);
bool seal_key_make(const char *path, struct error *err);
bool seal_key_write(const char *path, const struct seal_key *key, struct error *err);
/* The line as text (with its newline), and back: for a key that comes through a pipe. */
enum { SEAL_KEY_TEXT = 96 };
void seal_key_text(const struct seal_key *key, char text[static SEAL_KEY_TEXT]);
bool seal_key_parse(const char *text, size_t n, struct seal_key *key, struct error *err);
void seal_key_random(struct seal_key *key);
void seal_random(void *out, size_t n);
/* A secret for another purpose, from which nobody finds the key. At most 64 bytes. */
void seal_derive(const struct seal_key *key, const char *purpose, void *out, size_t n);
/* Eight hexadecimal digits by which people can tell keys apart. */
void seal_key_name(const struct seal_key *key, char name[static 9]);

/* ---- at rest ---- */

/* Where a sealed piece or a proof belongs. All of it is authenticated and nothing of it is stored: a
 * piece that was copied to another place (purpose, cluster, number) does not open there. `number` is
 * what the purpose counts: a run, a member's node and life; 0: nothing. docs/cluster.md lists the
 * purposes. */
enum { SEAL_ID = 16, SEAL_PROOF = 16 };
struct seal_place {
    const char *purpose;
    uint8_t cluster[SEAL_ID];
    uint64_t number;
};

/* Appended to `out`. Every piece has a nonce of its own. */
void seal_piece(const struct seal_key *key, const struct seal_place *place, const void *data,
                size_t n, struct strbuf *out);
/* False: another key, another place, or damaged. */
bool seal_open_piece(const struct seal_key *key, const struct seal_place *place, const void *data,
                     size_t n, struct strbuf *out);

/* ---- proofs: who wrote what everybody may read ----
 *
 * A prover is the key of one place and one thing there (`id`: a run's, which never repeats): what it
 * proves holds nowhere else. A proof is BLAKE2b under that key, some 200 ns. It says that a holder of
 * the cluster's key wrote this once, not that nothing newer was written since: who must not be taken
 * back remembers what he saw. */
struct seal_prover {
    uint8_t at[32];
};
void seal_prover_make(const struct seal_key *key, const struct seal_place *place,
                      const uint8_t id[static SEAL_ID], struct seal_prover *out);
void seal_prove(const struct seal_prover *by, const void *data, size_t n,
                uint8_t proof[static SEAL_PROOF]);
/* In constant time. `size`: of a proof that was kept short, at least 8. */
bool seal_proves(const struct seal_prover *by, const void *data, size_t n, const void *proof,
                 size_t size);

/* ---- a conversation ----
 *
 *     caller                                    answerer
 *       ◀── 32 random bytes (challenge) ──────────
 *       ── magic, own fresh public key, sealed: version, realm, self, other ──▶
 *       ◀── own fresh public key, sealed: version, realm, self ───   or a refusal, sealed, that says why
 *       ◀──────────── sealed frames ─────────────▶
 *
 * Keys of the frames come from the shared key, both fresh ones and all that was said before: what was
 * recorded cannot be read later with the key alone, and cannot be played again. Who does not know the
 * key gets 32 random bytes and a closed connection.
 *
 * The key alone proves too little, since clusters may share it: each end says which realm it is of and
 * who it is, the caller also whom it calls, and both compare. So a conversation that somebody in
 * between leads elsewhere ends with a text that says where it came out. */

enum { SEAL_FRAME_MAX = 1 << 20, SEAL_NAMES_MAX = 1024 };

/* Lines of text (without a newline), in all at most SEAL_NAMES_MAX bytes. */
struct seal_names {
    const char *realm; /* the same at both ends */
    const char *self;
    const char *other; /* the caller's: the answerer must be this; the answerer's: NULL */
};

struct seal;

/* `version` must be the same at both ends; the end that answers refuses another with a text that
 * names both (`program` is the version for people). */
struct seal *seal_new(const struct seal_key *key, bool caller, uint32_t version,
                      const char *program, const struct seal_names *names);
void seal_free(struct seal *s);

enum seal_progress {
    SEAL_MORE,   /* nothing yet: more bytes are needed */
    SEAL_OPEN,   /* the hands are shaken, just now: seal_other() is there */
    SEAL_FRAME,  /* a frame: its bytes are in *frame, until the next call */
    SEAL_BROKEN, /* close; `err` says why, for the log */
};

/* What is to be sent before anything else (the challenge, for the answerer), appended to `out`. */
void seal_begin(struct seal *s, struct strbuf *out);
/* Bytes came in. Call it until it says MORE: first with the bytes, then with n = 0. What must be
 * sent in return is appended to `out`, also when BROKEN (a refusal). */
enum seal_progress seal_take(struct seal *s, const void *data, size_t n, struct strbuf *out,
                             const void **frame, size_t *frame_size, struct error *err);
/* Where the rest of a large frame may be written at once instead of being copied there by seal_take():
 * *n bytes, until the next call. NULL: no large frame has begun. What was written is told by
 * seal_filled(), and seal_take() is called with n = 0. */
void *seal_room(struct seal *s, size_t *n);
void seal_filled(struct seal *s, size_t n);
/* Seal a frame of at most SEAL_FRAME_MAX bytes in two parts, appended to `out`. Only when open. */
void seal_frame(struct seal *s, const void *head, size_t nhead, const void *body, size_t nbody,
                struct strbuf *out);
bool seal_is_open(const struct seal *s);
const char *seal_other(const struct seal *s); /* who the other end is: its `self` */
/* Did the stream end at a good place (between frames, after the hands were shaken)? */
bool seal_at_rest(const struct seal *s);
