/* Keys, their files, and sealed pieces at rest. The file's line is
 *
 *     weft-key-1 SIXTY-FOUR-HEXADECIMAL-DIGITS EIGHT-OF-ITS-NAME
 *
 * the name so that a line copied with a slip is noticed here and not as a wrong proof elsewhere. */
#include "base/seal.h"

#include "base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    KEY_PROOF = crypto_aead_xchacha20poly1305_ietf_ABYTES,
};

static const char key_word[] = "weft-key-1 ";

/* Chooses the quick implementations for this processor; safe to call again and from any thread. */
static void seal_key_ready(void)
{
    if (sodium_init() < 0) {
        fputs("weft: no source of random numbers\n", stderr);
        abort();
    }
}

/* ---- keys ---- */

void seal_random(void *out, size_t n)
{
    seal_key_ready();
    randombytes_buf(out, n);
}

void seal_key_random(struct seal_key *key)
{
    seal_random(key->at, sizeof key->at);
}

/* A key for one purpose: knowing it tells nothing about the shared key or other purposes. */
void seal_derive(const struct seal_key *key, const char *purpose, void *out, size_t n)
{
    unsigned char all[crypto_generichash_BYTES_MAX];
    seal_key_ready();
    crypto_generichash(all, sizeof all, (const unsigned char *)purpose, strlen(purpose), key->at,
                       sizeof key->at);
    memcpy(out, all, n < sizeof all ? n : sizeof all);
    sodium_memzero(all, sizeof all);
}

/* Eight digits that name a key without telling anything about it. */
void seal_key_name(const struct seal_key *key, char name[static 9])
{
    unsigned char four[4];
    seal_derive(key, "weft: name of a key", four, sizeof four);
    sodium_bin2hex(name, 9, four, sizeof four);
}

void seal_key_text(const struct seal_key *key, char text[static SEAL_KEY_TEXT])
{
    char hex[2 * sizeof key->at + 1], name[9];
    sodium_bin2hex(hex, sizeof hex, key->at, sizeof key->at);
    seal_key_name(key, name);
    snprintf(text, SEAL_KEY_TEXT, "%s%s %s\n", key_word, hex, name);
    sodium_memzero(hex, sizeof hex);
}

/* On failure the key is wiped: half of one must not be used by mistake. */
bool seal_key_parse(const char *text, size_t n, struct seal_key *key, struct error *err)
{
    enum { WORD = sizeof key_word - 1, HEX = 2 * sizeof key->at, ALL = WORD + HEX + 1 + 8 };
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r' || text[n - 1] == ' '))
        n--;
    size_t length = 0;
    if (n != ALL || memcmp(text, key_word, WORD) != 0 || text[WORD + HEX] != ' ' ||
        sodium_hex2bin(key->at, sizeof key->at, text + WORD, HEX, NULL, &length, NULL) != 0 ||
        length != sizeof key->at) {
        sodium_memzero(key, sizeof *key);
        return error_set(err, ERROR_INPUT, "not a key of weft: make one with `weft key FILE`");
    }
    char name[9];
    seal_key_name(key, name);
    if (sodium_memcmp(name, text + WORD + HEX + 1, 8) != 0) {
        sodium_memzero(key, sizeof *key);
        return error_set(err, ERROR_INPUT,
                         "a damaged key (its last eight digits do not fit): copy it again");
    }
    return true;
}

/* Asked of the open descriptor, so that nobody can exchange the file in between. */
static bool key_file_check(int fd, const char *path, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_set(err, ERROR_INPUT, "%s: cannot be looked at: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_INPUT, "%s: not a regular file: a key is one line in a file",
                         path);
    if (st.st_uid != geteuid())
        return error_set(err, ERROR_INPUT,
                         "%s: belongs to user %lu, not to you (%lu): make a copy of your own", path,
                         (unsigned long)st.st_uid, (unsigned long)geteuid());
    if (st.st_mode & 077)
        return error_set(
            err, ERROR_INPUT,
            "%s: others may read or write it (mode %04o): chmod 600 it, and make a new "
            "key if somebody may have read it",
            path, (unsigned)(st.st_mode & 07777));
    return true;
}

bool seal_key_read(const char *path, struct seal_key *key, struct error *err)
{
    /* O_NONBLOCK: a pipe without a writer is refused, not waited for */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return error_set(err, ERROR_INPUT, "%s: cannot be read: %s%s", path, strerror(errno),
                         errno == ENOENT ? " (`weft key FILE` makes a key)" : "");
    bool good = key_file_check(fd, path, err);
    char text[SEAL_KEY_TEXT + 1];
    ssize_t n = good ? read(fd, text, sizeof text) : 0;
    if (good && n < 0)
        good = error_set(err, ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    struct error why = {0};
    if (good && !seal_key_parse(text, (size_t)n, key, &why))
        good = error_set(err, ERROR_INPUT, "%s: %s", path, why.text);
    sodium_memzero(text, sizeof text);
    close(fd);
    return good;
}

/* O_EXCL and O_NOFOLLOW: never through a link that somebody else put there; 0600 from the start. */
bool seal_key_write(const char *path, const struct seal_key *key, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EEXIST)
        return error_set(err, ERROR_INPUT,
                         "%s: there is something already, and a key is never overwritten: remove "
                         "it or name another file",
                         path);
    if (fd < 0)
        return error_set(err, ERROR_INPUT, "%s: cannot be made: %s", path, strerror(errno));
    char text[SEAL_KEY_TEXT];
    seal_key_text(key, text);
    size_t n = strlen(text);
    bool good = write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
    if (!good)
        error_set(err, ERROR_FAILED, "%s: cannot be written: %s", path, strerror(errno));
    sodium_memzero(text, sizeof text);
    close(fd);
    if (!good)
        unlink(path);
    return good;
}

bool seal_key_make(const char *path, struct error *err)
{
    struct seal_key key;
    seal_key_random(&key);
    bool good = seal_key_write(path, &key, err);
    sodium_memzero(&key, sizeof key);
    return good;
}

/* ---- at rest: nonce 24, then the sealed bytes with their proof ---- */

/* What is authenticated of a place: purpose with its NUL, cluster, number. No two places give the
 * same bytes. */
static void place_bytes(const struct seal_place *place, struct strbuf *out)
{
    bytes_put(out, place->purpose, strlen(place->purpose) + 1);
    bytes_put(out, place->cluster, sizeof place->cluster);
    bytes_put_u64(out, place->number);
}

void seal_piece(const struct seal_key *key, const struct seal_place *place, const void *data,
                size_t n, struct strbuf *out)
{
    unsigned char nonce[NONCE], own[32];
    static const char room[KEY_PROOF];
    struct strbuf where = {0};
    place_bytes(place, &where);
    seal_random(nonce, sizeof nonce);
    seal_derive(key, "weft: pieces at rest", own, sizeof own);
    bytes_put(out, nonce, sizeof nonce);
    size_t at = out->n;
    bytes_put(out, data, n);
    bytes_put(out, room, sizeof room);
    unsigned char *box = (unsigned char *)out->at + at;
    crypto_aead_xchacha20poly1305_ietf_encrypt(box, NULL, box, n, (const unsigned char *)where.at,
                                               where.n, NULL, nonce, own);
    sodium_memzero(own, sizeof own);
    strbuf_free(&where);
}

bool seal_open_piece(const struct seal_key *key, const struct seal_place *place, const void *data,
                     size_t n, struct strbuf *out)
{
    if (n < NONCE + KEY_PROOF)
        return false;
    unsigned char own[32];
    const unsigned char *nonce = data, *box = nonce + NONCE;
    struct strbuf where = {0};
    place_bytes(place, &where);
    seal_derive(key, "weft: pieces at rest", own, sizeof own);
    size_t at = out->n, plain = n - NONCE - KEY_PROOF;
    strbuf_reserve(out, plain); /* never NULL, also for an empty piece */
    bool good = crypto_aead_xchacha20poly1305_ietf_decrypt(
                    (unsigned char *)out->at + at, NULL, NULL, box, n - NONCE,
                    (const unsigned char *)where.at, where.n, nonce, own) == 0;
    out->n = good ? at + plain : at;
    out->at[out->n] = 0;
    sodium_memzero(own, sizeof own);
    strbuf_free(&where);
    return good;
}

/* ---- proofs ---- */

void seal_prover_make(const struct seal_key *key, const struct seal_place *place,
                      const uint8_t id[static SEAL_ID], struct seal_prover *out)
{
    unsigned char own[32];
    struct strbuf where = {0};
    place_bytes(place, &where);
    bytes_put(&where, id, SEAL_ID);
    seal_derive(key, "weft: proofs", own, sizeof own);
    crypto_generichash(out->at, sizeof out->at, (const unsigned char *)where.at, where.n, own,
                       sizeof own);
    sodium_memzero(own, sizeof own);
    strbuf_free(&where);
}

void seal_prove(const struct seal_prover *by, const void *data, size_t n,
                uint8_t proof[static SEAL_PROOF])
{
    crypto_generichash(proof, SEAL_PROOF, data, n, by->at, sizeof by->at);
}

bool seal_proves(const struct seal_prover *by, const void *data, size_t n, const void *proof,
                 size_t size)
{
    uint8_t right[SEAL_PROOF];
    seal_prove(by, data, n, right);
    return size >= 8 && size <= sizeof right && sodium_memcmp(right, proof, size) == 0;
}
