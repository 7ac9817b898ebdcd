/* Frames sealed and opened, by the quicker of two libraries for their size. Both are constant in time, and
 * seal_cipher_test.c holds one against the other. */
#include "base/seal_cipher.h"

#include <openssl/evp.h>
#include <sodium.h>

_Static_assert(SEAL_CIPHER_KEY == crypto_aead_chacha20poly1305_ietf_KEYBYTES &&
                   SEAL_CIPHER_NONCE == crypto_aead_chacha20poly1305_ietf_NPUBBYTES &&
                   SEAL_CIPHER_PROOF == crypto_aead_chacha20poly1305_ietf_ABYTES,
               "libsodium's sizes");

/* OpenSSL's context with the key in it: setting the key for each frame would cost what it saves of a small
 * one. False: libsodium does it. */
static bool cipher_prepare(struct seal_cipher *c, size_t n)
{
    if (n < SEAL_CIPHER_LARGE || c->small_only)
        return false;
    if (c->large)
        return true;
    c->large = EVP_CIPHER_CTX_new();
    if (c->large && EVP_CipherInit_ex(c->large, EVP_chacha20_poly1305(), NULL, c->key, NULL, 1))
        return true;
    EVP_CIPHER_CTX_free(c->large);
    c->large = NULL;
    c->small_only = true;
    return false;
}

/* Everything but the proof; lengths of frames are far below INT_MAX. */
static bool cipher_large(struct seal_cipher *c, const struct seal_cipher_frame *f, int closing)
{
    int n;
    return EVP_CipherInit_ex(c->large, NULL, NULL, NULL, f->nonce, closing) &&
           (closing ||
            EVP_CIPHER_CTX_ctrl(c->large, EVP_CTRL_AEAD_SET_TAG, SEAL_CIPHER_PROOF, f->proof)) &&
           EVP_CipherUpdate(c->large, NULL, &n, f->said, (int)f->nsaid) &&
           EVP_CipherUpdate(c->large, f->text, &n, f->text, (int)f->n) &&
           EVP_CipherFinal_ex(c->large, f->text + n, &n) == 1;
}

void seal_cipher_close(struct seal_cipher *c, const struct seal_cipher_frame *f)
{
    if (!cipher_prepare(c, f->n))
        crypto_aead_chacha20poly1305_ietf_encrypt_detached(
            f->text, f->proof, NULL, f->text, f->n, f->said, f->nsaid, NULL, f->nonce, c->key);
    else if (!cipher_large(c, f, 1) ||
             !EVP_CIPHER_CTX_ctrl(c->large, EVP_CTRL_AEAD_GET_TAG, SEAL_CIPHER_PROOF, f->proof))
        sodium_misuse(); /* text may be half sealed: it must not go anywhere */
}

bool seal_cipher_open(struct seal_cipher *c, const struct seal_cipher_frame *f)
{
    if (cipher_prepare(c, f->n))
        return cipher_large(c, f, 0);
    return crypto_aead_chacha20poly1305_ietf_decrypt_detached(
               f->text, NULL, f->text, f->n, f->proof, f->said, f->nsaid, f->nonce, c->key) == 0;
}

void seal_cipher_wipe(struct seal_cipher *c)
{
    EVP_CIPHER_CTX_free(c->large); /* it wipes its key */
    sodium_memzero(c, sizeof *c);
}
