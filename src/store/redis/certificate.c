/* The certificate of a store that a cluster serves itself, from a seed that every holder of the
 * cluster's key can derive (certificate.h). So nobody hands out certificates: a client makes the
 * same one and believes no other (tls.c, I3). The private key is wiped from OpenSSL's buffers
 * after use. */
#include "store/redis/certificate.h"
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Whatever stands here is compared byte by byte: a change parts the versions of weft. */
#define NAME "weft-store"
#define VALID_FROM "20200101000000Z"
#define VALID_TO "20991231235959Z"

/* An end of the chain and its beginning at once, so that other clients can be told to believe it
 * (redis-cli --cacert). */
static bool add_extension(X509 *x, int which, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, x, x, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &context, which, value);
    bool good = e && X509_add_ext(x, e, -1) == 1;
    X509_EXTENSION_free(e);
    return good;
}

/* Version, serial, dates, name: all fixed. Self-signed. */
static bool certificate_fill(X509 *x, EVP_PKEY *pair)
{
    X509_NAME *name = X509_get_subject_name(x);
    return X509_set_version(x, X509_VERSION_3) == 1 &&
           ASN1_INTEGER_set(X509_get_serialNumber(x), 1) == 1 &&
           ASN1_TIME_set_string_X509(X509_getm_notBefore(x), VALID_FROM) == 1 &&
           ASN1_TIME_set_string_X509(X509_getm_notAfter(x), VALID_TO) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)NAME, -1, -1,
                                      0) == 1 &&
           X509_set_issuer_name(x, name) == 1 && X509_set_pubkey(x, pair) == 1 &&
           add_extension(x, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(x, NID_subject_alt_name, "DNS:" NAME) &&
           X509_sign(x, pair, NULL) > 0; /* Ed25519 takes no chance: the same signature each time */
}

/* Move what was written to the end of `out`, and leave no copy behind. */
static bool certificate_take(BIO *memory, struct strbuf *out)
{
    char *at = NULL;
    long n = BIO_get_mem_data(memory, &at);
    if (n <= 0)
        return false;
    strbuf_add_bytes(out, at, (size_t)n);
    OPENSSL_cleanse(at, (size_t)n);
    return BIO_reset(memory) == 1;
}

/* The same seed gives the same bytes, on any machine and in any year: nothing here is random, and
 * nothing is from a clock. */
bool redis_certificate_make(const uint8_t seed[static REDIS_CERTIFICATE_SEED],
                            struct strbuf *certificate, struct strbuf *key, struct error *err)
{
    EVP_PKEY *pair =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, REDIS_CERTIFICATE_SEED);
    X509 *x = X509_new();
    BIO *memory = BIO_new(BIO_s_mem());
    bool good = pair && x && memory && certificate_fill(x, pair);
    if (good && certificate)
        good = PEM_write_bio_X509(memory, x) == 1 && certificate_take(memory, certificate);
    if (good && key)
        good = PEM_write_bio_PrivateKey(memory, pair, NULL, NULL, 0, NULL, NULL) == 1 &&
               certificate_take(memory, key);
    BIO_free(memory);
    X509_free(x);
    EVP_PKEY_free(pair);
    if (good)
        return true;
    const char *text = ERR_reason_error_string(ERR_get_error());
    ERR_clear_error();
    return error_set(err, ERROR_FAILED, "the store's certificate cannot be made: %s",
                     text ? text : "no reason given");
}
