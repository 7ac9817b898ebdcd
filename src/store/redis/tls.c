/* TLS over two memory buffers (tls.h): OpenSSL never sees the socket. Bytes from the server are fed
 * in, bytes for it are taken out, by conn.c, in the same places where plain bytes would be moved.
 *
 *   I1. `in` and `out` belong to the session, which frees them.
 *   I2. OpenSSL's queue of errors is a global of the thread: it is cleared before each call whose
 *       failure is asked about, or an old error would be reported.
 *   I3. With a pin the chain, name and dates are not looked at: only the very certificate is
 *       believed. */
#include "store/redis/tls.h"
#include "base/mem.h"
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct redis_tls_context {
    SSL_CTX *ssl;
    char *name;
    X509 *pin; /* NULL: none */
    bool unchecked;
};

struct redis_tls {
    SSL *ssl;
    bool pinned;
    BIO *in, *out; /* belong to ssl */
};

/* The first reason in OpenSSL's queue, which is emptied. */
static const char *tls_reason(void)
{
    unsigned long code = ERR_get_error();
    ERR_clear_error();
    const char *text = code ? ERR_reason_error_string(code) : NULL;
    return text ? text : "no reason given";
}

/* In place of OpenSSL's own look at the chain: only the very certificate will do. */
static int tls_is_pinned(X509_STORE_CTX *seen, void *pin)
{
    X509 *shown = X509_STORE_CTX_get0_cert(seen);
    if (shown && X509_cmp(shown, pin) == 0)
        return 1;
    X509_STORE_CTX_set_error(seen, X509_V_ERR_CERT_REJECTED);
    return 0;
}

static bool tls_take_pin(struct redis_tls_context *c, const char *text, struct error *err)
{
    BIO *memory = BIO_new_mem_buf(text, -1);
    c->pin = memory ? PEM_read_bio_X509(memory, NULL, NULL, NULL) : NULL;
    BIO_free(memory);
    if (!c->pin)
        return error_set(err, ERROR_INPUT, "redis: the certificate to believe is none: %s",
                         tls_reason());
    SSL_CTX_set_cert_verify_callback(c->ssl, tls_is_pinned, c->pin);
    return true;
}

/* One a client, shared by its connections. A pin replaces the chain, the name and the dates. */
struct redis_tls_context *redis_tls_context_new(const struct redis_tls_options *o,
                                                struct error *err)
{
    struct redis_tls_context *c = mem_new_zero(struct redis_tls_context, 1);
    c->ssl = SSL_CTX_new(TLS_client_method());
    c->unchecked = o->unchecked;
    c->name = o->name ? mem_copy_string(o->name) : NULL;
    bool good = c->ssl || error_set(err, ERROR_FAILED, "redis: no TLS: %s", tls_reason());
    if (good)
        SSL_CTX_set_min_proto_version(c->ssl, TLS1_2_VERSION);
    if (good && o->pin)
        good = tls_take_pin(c, o->pin, err);
    if (good && o->ca && SSL_CTX_load_verify_locations(c->ssl, o->ca, NULL) != 1)
        good = error_set(err, ERROR_INPUT, "%s: no certificates to trust: %s", o->ca, tls_reason());
    if (good && !o->ca && !o->pin)
        SSL_CTX_set_default_verify_paths(c->ssl);
    if (good && o->cert && SSL_CTX_use_certificate_chain_file(c->ssl, o->cert) != 1)
        good = error_set(err, ERROR_INPUT, "%s: no certificate: %s", o->cert, tls_reason());
    const char *key = o->key ? o->key : o->cert;
    if (good && key && SSL_CTX_use_PrivateKey_file(c->ssl, key, SSL_FILETYPE_PEM) != 1)
        good = error_set(err, ERROR_INPUT, "%s: no private key: %s", key, tls_reason());
    if (good && o->cert && SSL_CTX_check_private_key(c->ssl) != 1)
        good = error_set(err, ERROR_INPUT, "%s: not the key of the certificate %s", key, o->cert);
    if (good) {
        SSL_CTX_set_verify(c->ssl, o->unchecked ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
        return c;
    }
    redis_tls_context_free(c);
    return NULL;
}

void redis_tls_context_free(struct redis_tls_context *c)
{
    if (!c)
        return;
    SSL_CTX_free(c->ssl);
    X509_free(c->pin);
    free(c->name);
    free(c);
}

struct redis_tls *redis_tls_new(const struct redis_tls_context *c, const char *host)
{
    struct redis_tls *t = mem_new_zero(struct redis_tls, 1);
    const char *name = c->name ? c->name : host;
    unsigned char address[sizeof(struct in6_addr)];
    t->pinned = c->pin && !c->unchecked;
    t->ssl = SSL_new(c->ssl);
    t->in = BIO_new(BIO_s_mem());
    t->out = BIO_new(BIO_s_mem());
    if (!t->ssl || !t->in || !t->out) {
        fprintf(stderr, "weft: out of memory\n");
        exit(1);
    }
    SSL_set_bio(t->ssl, t->in, t->out);
    SSL_set_connect_state(t->ssl);
    /* an address has no name to announce, and is compared with the certificate in another way */
    bool numeric =
        inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
    if (!numeric)
        SSL_set_tlsext_host_name(t->ssl, name);
    if (!c->unchecked && !c->pin) {
        if (numeric)
            X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(t->ssl), name);
        else
            SSL_set1_host(t->ssl, name);
    }
    return t;
}

void redis_tls_free(struct redis_tls *t)
{
    if (!t)
        return;
    SSL_free(t->ssl);
    free(t);
}

/* Memory takes everything: it cannot fail but for want of memory. */
void redis_tls_feed(struct redis_tls *t, const void *data, size_t n)
{
    BIO_write(t->in, data, (int)n);
}

/* The reason for a refusal: OpenSSL's word about the certificate if that was it, else its first
 * error. */
int redis_tls_shake(struct redis_tls *t, char *why, size_t size)
{
    ERR_clear_error();
    int result = SSL_do_handshake(t->ssl);
    if (result == 1)
        return 1;
    int error = SSL_get_error(t->ssl, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return 0;
    long verified = SSL_get_verify_result(t->ssl);
    bool plain = ERR_GET_REASON(ERR_peek_error()) == SSL_R_WRONG_VERSION_NUMBER;
    const char *text = tls_reason();
    if (redis_tls_is_stranger(t))
        snprintf(why, size,
                 "its certificate is not the one of our key: this store belongs to a cluster with "
                 "another key");
    else
        snprintf(why, size, "%s%s", verified ? X509_verify_cert_error_string(verified) : text,
                 plain ? " (is it TLS that the server speaks there? redis:// is without)" : "");
    return -1;
}

bool redis_tls_is_stranger(const struct redis_tls *t)
{
    return t->pinned && SSL_get_verify_result(t->ssl) == X509_V_ERR_CERT_REJECTED;
}

long redis_tls_read(struct redis_tls *t, void *data, size_t n)
{
    ERR_clear_error();
    int got = SSL_read(t->ssl, data, (int)n);
    if (got > 0)
        return got;
    int error = SSL_get_error(t->ssl, got);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

bool redis_tls_write(struct redis_tls *t, const void *data, size_t n)
{
    /* The way out is memory, which takes everything. */
    for (size_t at = 0; at < n;) {
        /* SSL_write counts in int; a megabyte at a time also keeps its own buffers small */
        size_t part = n - at < 1u << 20 ? n - at : 1u << 20;
        ERR_clear_error();
        int put = SSL_write(t->ssl, (const char *)data + at, (int)part);
        if (put <= 0)
            return false;
        at += (size_t)put;
    }
    return true;
}

size_t redis_tls_take(struct redis_tls *t, void *data, size_t n)
{
    int got = BIO_read(t->out, data, (int)n);
    return got > 0 ? (size_t)got : 0;
}
