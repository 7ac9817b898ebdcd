/* The conversation. Its bytes (all numbers little-endian):
 *
 *     challenge   32 random bytes
 *     call        magic 8, public key 32, u16 n, n bytes sealed: u32 version, u8 length, program,
 *                 realm, newline, self, newline, other
 *     answer      public key 32, u16 n, n bytes sealed: u8 accepted, u32 version, u8 length,
 *                 program, realm, newline, self; or, not accepted, the reason
 *     frame       u32 n, n bytes sealed, 16 bytes of proof (Poly1305, over n too)
 *
 * Everything that was said so far, in this order, is hashed with the shared key (BLAKE2b) into the
 * key of the next sealed part; from the answer on the secret that only the two fresh key pairs give
 * (X25519) is hashed with it. So each key serves for one part of one conversation, an old call does
 * not fit a new challenge, and the two directions have keys of their own. What is sealed proves
 * itself: nothing in `call` or `answer` but the magic can be read or made without the key.
 *
 * In the words of the Noise framework this is NNpsk0 after a challenge: fresh keys on both sides, the
 * shared key mixed in before anything is said. The names are its prologue. They are said, sealed,
 * instead of only hashed, so that the end that refuses can tell what differs; since all that is said is
 * hashed into the next key, they bind just as much. */
#include "base/seal.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/seal_cipher.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHALLENGE = 32,
    PUBLIC = crypto_scalarmult_BYTES,
    PROOF = crypto_aead_chacha20poly1305_ietf_ABYTES,
    PROGRAM_MAX = 64,
    BOX_MIN = 1 + 4 + 1 + PROOF,
    BOX_MAX = BOX_MIN + PROGRAM_MAX + SEAL_NAMES_MAX,
    FRAME_HEAD = 4,
    CALL_HEAD = 8 + PUBLIC + 2,
    ANSWER_HEAD = PUBLIC + 2,
    ROOM_FROM = 64 << 10, /* bytes of a frame: for smaller ones one read brings many */
};

static const char magic[8] = {'w', 'e', 'f', 't', 's', 'e', 'a', '1'};

/* One step after the other, in the order of the conversation; any mistake leads to BROKEN, for
 * good:
 *
 *   caller      CHALLENGING ──▶ ANSWERING ──▶ OPEN        answerer   CALLING ──▶ OPEN */
enum seal_step { CHALLENGING, CALLING, ANSWERING, OPEN, BROKEN };

/* One direction of frames. Numbers never repeat: 2^64 frames are more than a connection can have.
 */
struct way {
    struct seal_cipher cipher;
    uint64_t number;
};

struct seal {
    bool caller;
    enum seal_step state; /* what is awaited: CHALLENGING the challenge, ... */
    uint32_t version;
    char program[PROGRAM_MAX + 1];
    char *realm, *self, *expected; /* our own; expected: the caller's, of the answerer */
    char *their_self;
    struct error why; /* BROKEN: the first reason */

    unsigned char hands[32]; /* from the shared key, for hands only; wiped once they are shaken */
    unsigned char own[PUBLIC], own_secret[32], secret[32];
    struct strbuf said; /* all of the handshake until now */

    struct way in, out;
    struct strbuf got; /* bytes from `used` on are not read yet */
    size_t used;
};

struct seal *seal_new(const struct seal_key *key, bool caller, uint32_t version,
                      const char *program, const struct seal_names *names)
{
    struct seal *s = mem_new_zero(struct seal, 1);
    s->caller = caller;
    s->state = caller ? CHALLENGING : CALLING;
    s->version = version;
    snprintf(s->program, sizeof s->program, "%s", program);
    s->realm = mem_copy_string(names->realm);
    s->self = mem_copy_string(names->self);
    s->expected = mem_copy_string(caller ? names->other : "");
    seal_derive(key, "weft: shaking hands", s->hands, sizeof s->hands);
    return s;
}

/* What could open this conversation later is wiped as soon as it is not needed. */
static void forget_handshake(struct seal *s)
{
    sodium_memzero(s->hands, sizeof s->hands);
    sodium_memzero(s->own_secret, sizeof s->own_secret);
    sodium_memzero(s->secret, sizeof s->secret);
    strbuf_free(&s->said);
}

void seal_free(struct seal *s)
{
    if (!s)
        return;
    forget_handshake(s);
    free(s->realm);
    free(s->self);
    free(s->expected);
    free(s->their_self);
    strbuf_free(&s->got);
    seal_cipher_wipe(&s->in.cipher);
    seal_cipher_wipe(&s->out.cipher);
    sodium_memzero(s, sizeof *s);
    free(s);
}

bool seal_is_open(const struct seal *s)
{
    return s->state == OPEN;
}

const char *seal_other(const struct seal *s)
{
    return s->their_self ? s->their_self : "";
}

bool seal_at_rest(const struct seal *s)
{
    return s->state == OPEN && s->used == s->got.n;
}

/* A key of the handshake: from the shared one, its use, the secret of the fresh ones (zeros until
 * both are known) and all that was said. */
static void key_of_now(const struct seal *s, const char *use, unsigned char *out, size_t n)
{
    struct strbuf all = {0};
    strbuf_add_bytes(&all, use, strlen(use) + 1);
    bytes_put(&all, s->secret, sizeof s->secret);
    bytes_put(&all, s->said.at, s->said.n);
    crypto_generichash(out, n, (const unsigned char *)all.at, all.n, s->hands, sizeof s->hands);
    sodium_memzero(all.at, all.n);
    strbuf_free(&all);
}

static const unsigned char nonce_zero[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];

/* Says `head` (already in `said`) followed by the length and the sealed `text`. */
static void box_put(struct seal *s, const char *use, const struct strbuf *text)
{
    unsigned char key[32], box[BOX_MAX];
    size_t n = text->n + PROOF;
    uint8_t length[2] = {(uint8_t)n, (uint8_t)(n >> 8)};
    bytes_put(&s->said, length, sizeof length);
    key_of_now(s, use, key, sizeof key);
    crypto_aead_chacha20poly1305_ietf_encrypt(box, NULL, (const unsigned char *)text->at, text->n,
                                              NULL, 0, NULL, nonce_zero, key);
    bytes_put(&s->said, box, n);
    sodium_memzero(key, sizeof key);
}

/* The text of a box whose head and length are in `said`; the box is said after it. False: not made
 * by somebody who has the key and heard the same. */
static bool box_take(struct seal *s, const char *use, const void *box, size_t n,
                     struct strbuf *text)
{
    unsigned char key[32], plain[BOX_MAX];
    key_of_now(s, use, key, sizeof key);
    bool good = crypto_aead_chacha20poly1305_ietf_decrypt(plain, NULL, NULL, box, n, NULL, 0,
                                                          nonce_zero, key) == 0;
    if (good)
        bytes_put(text, plain, n - PROOF);
    bytes_put(&s->said, box, n);
    sodium_memzero(key, sizeof key);
    sodium_memzero(plain, sizeof plain);
    return good;
}

/* Which program we are; the same in every version of the protocol, so that others can say which. */
static void put_version(const struct seal *s, struct strbuf *text)
{
    bytes_put_u32(text, s->version);
    bytes_put_u8(text, (uint8_t)strlen(s->program));
    strbuf_add(text, s->program);
}

/* Who the other end says it is. */
struct other {
    uint32_t version;
    char program[PROGRAM_MAX + 1];
    char names[SEAL_NAMES_MAX + 1]; /* its lines, each ended; of a refusal the reason */
    const char *realm, *self, *called;
};

/* False: sizes that cannot be. A NUL inside would hide what follows it. Lines that are missing are "".
 */
static bool take_other(struct bytes *in, struct other *o)
{
    o->version = bytes_u32(in);
    size_t n = bytes_u8(in);
    const char *program = bytes_take(in, n);
    if (!program || n > PROGRAM_MAX || in->n > SEAL_NAMES_MAX || memchr(in->at, 0, in->n))
        return false;
    snprintf(o->program, sizeof o->program, "%.*s", (int)n, program);
    snprintf(o->names, sizeof o->names, "%.*s", (int)in->n, (const char *)in->at);
    const char **lines[] = {&o->realm, &o->self, &o->called};
    char *at = o->names;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        *lines[i] = at;
        at += strcspn(at, "\n");
        if (*at)
            *at++ = 0;
    }
    return true;
}

/* The first reason stays, and every later call reports it. */
static enum seal_progress seal_broken(struct seal *s, struct error *err, const char *why)
{
    if (s->state != BROKEN) {
        error_set(&s->why, ERROR_FAILED, "%s", why);
        s->state = BROKEN;
        forget_handshake(s);
        strbuf_free(&s->got);
        s->used = 0;
    }
    error_set(err, s->why.kind, "%s", s->why.text);
    return SEAL_BROKEN;
}

/* What is wrong with whom we met, in `why`; true: nothing. What we say of it goes to somebody who has
 * proved the key. */
static bool is_expected(const struct seal *s, const struct other *o, char *why, size_t size)
{
    if (strcmp(o->realm, s->realm) != 0)
        snprintf(why, size, "it is of another cluster (%.8s, this is %.8s) that has the same key",
                 o->realm, s->realm);
    else if (s->caller && strcmp(o->self, s->expected) != 0)
        snprintf(why, size, "'%.60s' was called, and '%.60s' answers", s->expected, o->self);
    else if (!s->caller && strcmp(o->called, s->self) != 0)
        snprintf(why, size, "it calls '%.60s', and this is '%.60s'", o->called, s->self);
    else
        return true;
    return false;
}

/* The version is inside the sealed part: only somebody with the key can make us say this. */
static enum seal_progress other_version(struct seal *s, const struct other *o, struct error *err)
{
    char text[400];
    snprintf(text, sizeof text,
             "the other end is weft %s (protocol %u), this is weft %s (protocol %u): install the "
             "same version on both",
             o->program, o->version, s->program, s->version);
    return seal_broken(s, err, text);
}

/* The fresh pair of this end. */
static void pair_make(struct seal *s)
{
    randombytes_buf(s->own_secret, sizeof s->own_secret);
    crypto_scalarmult_base(s->own, s->own_secret);
}

/* False: a public key that gives everybody the same secret. */
static bool pair_meet(struct seal *s, const void *theirs)
{
    return crypto_scalarmult(s->secret, s->own_secret, theirs) == 0;
}

/* The last key of the handshake is split into one for each direction. */
static void seal_opened(struct seal *s, const struct other *o)
{
    unsigned char both[64];
    key_of_now(s, "frames", both, sizeof both);
    memcpy(s->caller ? s->out.cipher.key : s->in.cipher.key, both, 32);
    memcpy(s->caller ? s->in.cipher.key : s->out.cipher.key, both + 32, 32);
    sodium_memzero(both, sizeof both);
    s->their_self = mem_copy_string(o->self);
    s->state = OPEN;
    forget_handshake(s);
}

void seal_begin(struct seal *s, struct strbuf *out)
{
    if (s->caller || s->said.n)
        return;
    unsigned char challenge[CHALLENGE];
    randombytes_buf(challenge, sizeof challenge);
    bytes_put(&s->said, challenge, sizeof challenge);
    bytes_put(out, challenge, sizeof challenge);
}

/* Bytes received and not taken yet. */
static size_t seal_unread_size(const struct seal *s)
{
    return s->got.n - s->used;
}

static const unsigned char *seal_unread(const struct seal *s)
{
    return (const unsigned char *)s->got.at + s->used;
}

static uint32_t seal_number_at(const unsigned char *b, size_t n)
{
    struct bytes in = {.at = b, .n = n};
    return n == 2 ? (uint32_t)(b[0] | b[1] << 8) : bytes_u32(&in);
}

/* The caller has the challenge: its call. */
static enum seal_progress take_challenge(struct seal *s, struct strbuf *out)
{
    if (seal_unread_size(s) < CHALLENGE)
        return SEAL_MORE;
    bytes_put(&s->said, seal_unread(s), CHALLENGE);
    s->used += CHALLENGE;
    pair_make(s);
    bytes_put(&s->said, magic, sizeof magic);
    bytes_put(&s->said, s->own, sizeof s->own);
    struct strbuf text = {0};
    put_version(s, &text);
    strbuf_printf(&text, "%s\n%s\n%s", s->realm, s->self, s->expected);
    box_put(s, "call", &text);
    strbuf_free(&text);
    bytes_put(out, s->said.at + CHALLENGE, s->said.n - CHALLENGE);
    s->state = ANSWERING;
    return SEAL_MORE;
}

/* The answer goes out as it stands in `said`, so both ends hash the same. `refusal`: NULL, or why. */
static void put_answer(struct seal *s, const char *refusal, struct strbuf *out)
{
    struct strbuf text = {0};
    size_t before = s->said.n;
    bytes_put(&s->said, s->own, sizeof s->own);
    bytes_put_u8(&text, !refusal);
    put_version(s, &text);
    if (refusal)
        strbuf_add(&text, refusal);
    else
        strbuf_printf(&text, "%s\n%s", s->realm, s->self);
    box_put(s, "answer", &text);
    strbuf_free(&text);
    bytes_put(out, s->said.at + before, s->said.n - before);
}

/* The answerer has the call, or part of it. Nothing is said to who did not prove the key. */
static enum seal_progress take_call(struct seal *s, struct strbuf *out, struct error *err)
{
    size_t n = seal_unread_size(s);
    if (n && memcmp(seal_unread(s), magic, n < sizeof magic ? n : sizeof magic) != 0)
        return seal_broken(s, err, "garbage: it does not speak as weft does");
    if (n < CALL_HEAD)
        return SEAL_MORE;
    size_t box = seal_number_at(seal_unread(s) + CALL_HEAD - 2, 2);
    if (box < BOX_MIN - 1 || box > BOX_MAX)
        return seal_broken(s, err, "garbage: a call of impossible size");
    if (n < CALL_HEAD + box)
        return SEAL_MORE;
    bytes_put(&s->said, seal_unread(s), CALL_HEAD);
    struct strbuf text = {0};
    bool good = box_take(s, "call", seal_unread(s) + CALL_HEAD, box, &text);
    if (!good) {
        strbuf_free(&text);
        return seal_broken(
            s, err, "its proof is wrong: it has another key, or plays an old conversation again");
    }
    struct other o = {0};
    char why[300];
    struct bytes in = {.at = text.at, .n = text.n};
    pair_make(s);
    enum seal_progress p = SEAL_OPEN;
    if (!pair_meet(s, seal_unread(s) + sizeof magic) || !take_other(&in, &o)) {
        p = seal_broken(s, err, "a malformed call from somebody who has the key");
    } else if (o.version != s->version) {
        put_answer(s, "", out);
        p = other_version(s, &o, err);
    } else if (!is_expected(s, &o, why, sizeof why)) {
        put_answer(s, why, out);
        p = seal_broken(s, err, why);
    } else {
        s->used += CALL_HEAD + box;
        put_answer(s, NULL, out);
        seal_opened(s, &o);
    }
    strbuf_free(&text);
    return p;
}

/* The caller has the answer, or part of it. */
static enum seal_progress take_answer(struct seal *s, struct error *err)
{
    size_t n = seal_unread_size(s);
    if (n < ANSWER_HEAD)
        return SEAL_MORE;
    size_t box = seal_number_at(seal_unread(s) + ANSWER_HEAD - 2, 2);
    if (box < BOX_MIN || box > BOX_MAX)
        return seal_broken(s, err, "garbage: an answer of impossible size");
    if (n < ANSWER_HEAD + box)
        return SEAL_MORE;
    bytes_put(&s->said, seal_unread(s), ANSWER_HEAD);
    struct strbuf text = {0};
    if (!pair_meet(s, seal_unread(s)) ||
        !box_take(s, "answer", seal_unread(s) + ANSWER_HEAD, box, &text)) {
        strbuf_free(&text);
        return seal_broken(s, err,
                           "its proof is wrong: it has another key, or somebody stands between");
    }
    struct other o = {0};
    char why[300];
    struct bytes in = {.at = text.at, .n = text.n};
    bool accepted = bytes_u8(&in);
    enum seal_progress p = SEAL_OPEN;
    if (!take_other(&in, &o)) {
        p = seal_broken(s, err, "a malformed answer from somebody who has the key");
    } else if (o.version != s->version) {
        p = other_version(s, &o, err);
    } else if (!accepted) { /* the reason was made by somebody with the key, for our eyes */
        snprintf(why, sizeof why, "it refuses: %.250s", o.names);
        p = seal_broken(s, err, why);
    } else if (!is_expected(s, &o, why, sizeof why)) {
        p = seal_broken(s, err, why);
    } else {
        s->used += ANSWER_HEAD + box;
        seal_opened(s, &o);
    }
    strbuf_free(&text);
    return p;
}

/* The number of the frame: never twice with one key. */
static void nonce_of(uint64_t number, unsigned char nonce[static 12])
{
    memset(nonce, 0, 4);
    for (int i = 0; i < 8; i++)
        nonce[4 + i] = (unsigned char)(number >> (8 * i));
}

/* Opened in place; *frame is valid until the next call. The length is proved too, so nobody can
 * shift the borders of frames. */
static enum seal_progress take_frame(struct seal *s, const void **frame, size_t *frame_size,
                                     struct error *err)
{
    size_t n = seal_unread_size(s);
    if (n < FRAME_HEAD)
        return SEAL_MORE;
    size_t size = seal_number_at(seal_unread(s), FRAME_HEAD);
    if (size > SEAL_FRAME_MAX) {
        char text[120];
        snprintf(text, sizeof text, "oversized: a message of %zu bytes; at most %d are allowed",
                 size, SEAL_FRAME_MAX);
        return seal_broken(s, err, text);
    }
    if (n < FRAME_HEAD + size + PROOF)
        return SEAL_MORE;
    unsigned char nonce[12];
    nonce_of(s->in.number, nonce);
    unsigned char *text = (unsigned char *)s->got.at + s->used + FRAME_HEAD;
    if (!seal_cipher_open(&s->in.cipher, &(struct seal_cipher_frame){.nonce = nonce,
                                                                     .said = seal_unread(s),
                                                                     .nsaid = FRAME_HEAD,
                                                                     .text = text,
                                                                     .n = size,
                                                                     .proof = text + size}))
        return seal_broken(s, err, "a message that was changed, or played again");
    s->in.number++;
    s->used += FRAME_HEAD + size + PROOF;
    *frame = text;
    *frame_size = size;
    return SEAL_FRAME;
}

/* What is left of a frame moves to the front: less than one frame when all whole ones were taken,
 * as they should be. */
static void seal_move_to_front(struct seal *s)
{
    size_t left = seal_unread_size(s);
    if (s->used)
        memmove(s->got.at, s->got.at + s->used, left);
    s->got.n = left;
    s->used = 0;
}

/* The head of the frame that follows is read along with the rest of this one, so that a stream of large
 * frames is never copied: each begins at the front of `got`. */
void *seal_room(struct seal *s, size_t *n)
{
    size_t there = seal_unread_size(s);
    size_t size =
        s->state == OPEN && there >= FRAME_HEAD ? seal_number_at(seal_unread(s), FRAME_HEAD) : 0;
    if (size < ROOM_FROM || size > SEAL_FRAME_MAX || there >= FRAME_HEAD + size + PROOF)
        return NULL;
    seal_move_to_front(s);
    *n = FRAME_HEAD + size + PROOF - there + FRAME_HEAD;
    strbuf_reserve(&s->got, *n);
    return s->got.at + there;
}

void seal_filled(struct seal *s, size_t n)
{
    s->got.n += n;
}

/* Bytes come in pieces of any size; call again with n = 0 until SEAL_MORE. */
enum seal_progress seal_take(struct seal *s, const void *data, size_t n, struct strbuf *out,
                             const void **frame, size_t *frame_size, struct error *err)
{
    if (n && s->state != BROKEN) {
        seal_move_to_front(s);
        bytes_put(&s->got, data, n);
    }
    switch (s->state) {
    case CHALLENGING:
        return take_challenge(s, out);
    case CALLING:
        return take_call(s, out, err);
    case ANSWERING:
        return take_answer(s, err);
    case OPEN:
        return take_frame(s, frame, frame_size, err);
    case BROKEN:
        break;
    }
    return seal_broken(s, err, "");
}

/* Copies once, seals in place behind what `out` already holds. */
void seal_frame(struct seal *s, const void *head, size_t nhead, const void *body, size_t nbody,
                struct strbuf *out)
{
    static const char room[PROOF];
    size_t at = out->n, n = nhead + nbody;
    bytes_put_u32(out, (uint32_t)n);
    bytes_put(out, head, nhead);
    bytes_put(out, body, nbody);
    bytes_put(out, room, sizeof room);
    unsigned char nonce[12];
    nonce_of(s->out.number++, nonce);
    unsigned char *length = (unsigned char *)out->at + at, *text = length + FRAME_HEAD;
    seal_cipher_close(&s->out.cipher, &(struct seal_cipher_frame){.nonce = nonce,
                                                                  .said = length,
                                                                  .nsaid = FRAME_HEAD,
                                                                  .text = text,
                                                                  .n = n,
                                                                  .proof = text + n});
}
