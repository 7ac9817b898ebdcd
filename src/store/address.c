/* Where a store is, from text (address.h). Errors name the part that is wrong and never repeat the
 * address, which may hold a password; `text` is the address without it.
 *
 *     rediss://me:secret@10.0.0.1:6379,10.0.0.2:6379/lab?ca=/etc/ca.pem&replicas=1
 *     └──┬──┘  └───┬───┘ └────────────┬───────────┘ └┬┘ └──────────┬───────────┘
 *       TLS     person             servers        prefix        options
 *
 * The person ends at the last @, since a password may hold one; everything between separators may be
 * percent-encoded. What is safe is decided when all parts are known: without TLS a server must be on
 * this machine, or `insecure` must say that the network is trusted. */
#include "store/address.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "store/redis/words.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_KEPT (30u * 86400) /* seconds without a client, until a run that nobody ended goes */
#define PREFIX_MOST 64         /* with ".run.NUMBER" it fits the buffer of store_address_config() */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* NULL: a percent sign without two digits, or a NUL. */
static char *address_decoded(const char *text, size_t n)
{
    char *out = mem_alloc(n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        int high = 0, low = 0;
        if (text[i] != '%') {
            out[k++] = text[i];
            continue;
        }
        if (i + 2 >= n || (high = digit_of(text[i + 1])) < 0 || (low = digit_of(text[i + 2])) < 0 ||
            !(high | low)) {
            free(out);
            return NULL;
        }
        out[k++] = (char)(high * 16 + low);
        i += 2;
    }
    out[k] = 0;
    return out;
}

/* One percent-decoded part; `what` names it in the error, which never shows the part itself. */
static bool address_take(const char *text, size_t n, const char *what, char **out,
                         struct error *err)
{
    *out = address_decoded(text, n);
    return *out || error_set(err, ERROR_INPUT,
                             "store address: the %s has a '%%' that is not followed by two "
                             "hexadecimal digits (write %%25 for '%%')",
                             what);
}

static bool address_take_number(const char *name, const char *value, uint32_t most, uint32_t *out,
                                struct error *err)
{
    char *end;
    unsigned long x = strtoul(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || x > most)
        return error_set(err, ERROR_INPUT, "store address: %s=%.40s: expected a number up to %u",
                         name, value, most);
    *out = (uint32_t)x;
    return true;
}

static bool address_take_option(struct store_address *a, const char *name, const char *value,
                                bool *of_tls, struct error *err)
{
    static const char *const names[] = {"ca",       "cert",   "key",  "name",     "unchecked",
                                        "replicas", "shards", "auth", "insecure", "may-lose"};
    char **const texts[] = {&a->tls_ca, &a->tls_cert, &a->tls_key, &a->tls_name};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && strcmp(name, names[i]) != 0)
        i++;
    /* the first five of the names */
    *of_tls |= i < 5;
    switch (i) {
    case 0:
    case 1:
    case 2:
    case 3:
        free(*texts[i]);
        *texts[i] = mem_copy_string(value);
        return true;
    case 4: {
        uint32_t yes;
        if (!address_take_number(name, value, 1, &yes, err))
            return false;
        a->tls_unchecked = yes;
        return true;
    }
    case 5:
        return address_take_number(name, value, 100, &a->replicas, err);
    case 6:
        return address_take_number(name, value, 4096, &a->shards, err);
    case 7:
        a->auth_key = strcmp(value, "key") == 0;
        return a->auth_key ||
               error_set(err, ERROR_INPUT, "store address: auth=...: only 'key' is known");
    case 8: {
        uint32_t yes;
        if (!address_take_number(name, value, 1, &yes, err))
            return false;
        a->insecure = yes;
        return true;
    }
    case 9: {
        uint32_t yes;
        if (!address_take_number(name, value, 1, &yes, err))
            return false;
        a->may_lose = yes;
        return true;
    }
    default:
        return error_set(err, ERROR_INPUT,
                         "store address: unknown option '%.40s': expected ca, cert, key, name, "
                         "unchecked, replicas, shards, insecure, may-lose or auth",
                         name);
    }
}

/* An option of TLS without TLS is a mistake that would go unnoticed: refused. */
static bool address_take_options(struct store_address *a, const char *at, struct error *err)
{
    bool of_tls = false, good = true;
    while (*at && good) {
        size_t n = strcspn(at, "&"), equals = strcspn(at, "=&");
        char *name = NULL, *value = NULL;
        if (equals == n)
            good = error_set(err, ERROR_INPUT,
                             "store address: option '%.*s' has no value: expected name=value",
                             (int)(n < 40 ? n : 40), at);
        good = good && address_take(at, equals, "name of an option", &name, err) &&
               address_take(at + equals + 1, n - equals - 1, "value of an option", &value, err) &&
               address_take_option(a, name, value, &of_tls, err);
        free(name);
        free(value);
        at += n + (at[n] == '&');
    }
    if (good && of_tls && !a->tls)
        return error_set(err, ERROR_INPUT,
                         "store address: an option of TLS (ca, cert, key, name, unchecked), but "
                         "the address is redis://: write rediss://");
    return good;
}

/* The servers are only checked here; the client takes them from the text again. Names are not looked
 * up: who answers may differ by the time we connect. */
static void address_see_server(void *context, const char *host, uint16_t port)
{
    bool *beyond = context;
    struct in_addr here;
    (void)port;
    bool loopback = strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
                    (inet_pton(AF_INET, host, &here) == 1 && ntohl(here.s_addr) >> 24 == 127);
    if (!loopback)
        *beyond = true;
}

static bool address_is_safe(const struct store_address *a, bool beyond, struct error *err)
{
    static const char remedy[] = "write rediss:// (TLS; `weft agent --serve-store` has it), or say "
                                 "--insecure-store (insecure=1) in a network that you trust";
    if (a->tls || a->insecure)
        return true;
    if (beyond)
        return error_set(err, ERROR_INPUT,
                         "store address: a Redis on another machine without TLS: everybody on the "
                         "way can read and change what is said; %s",
                         remedy);
    return !a->auth_key ||
           error_set(err, ERROR_INPUT,
                     "store address: auth=key without TLS gives the password to who listens; %s",
                     remedy);
}

/* user[:password]@ */
static bool address_take_person(struct store_address *a, const char *at, size_t n,
                                struct error *err)
{
    const char *colon = memchr(at, ':', n);
    size_t user = colon ? (size_t)(colon - at) : n;
    if (user && !address_take(at, user, "user", &a->user, err))
        return false;
    if (!colon)
        return true;
    if (!address_take(colon + 1, n - user - 1, "password", &a->password, err))
        return false;
    return a->password[0] ||
           error_set(err, ERROR_INPUT, "store address: an empty password: leave the ':' away");
}

/* The parts from left to right; `a` is freed by the caller when one is wrong. */
static bool address_parse_parts(struct store_address *a, const char *text, struct error *err)
{
    a->tls = strncmp(text, "rediss://", 9) == 0;
    if (!a->tls && strncmp(text, "redis://", 8) != 0)
        return error_set(err, ERROR_INPUT,
                         "store address: expected redis://host:port, or rediss:// for TLS");
    const char *at = text + (a->tls ? 9 : 8), *query = strchr(at, '?');
    size_t n = query ? (size_t)(query - at) : strlen(at);
    const char *person = memrchr(at, '@', n); /* the last: a password may hold one */
    if (person && !address_take_person(a, at, (size_t)(person - at), err))
        return false;
    const char *host = person ? person + 1 : at;
    size_t rest = n - (size_t)(host - at);
    const char *slash = memchr(host, '/', rest);
    size_t servers = slash ? (size_t)(slash - host) : rest;
    a->servers = mem_copy_bytes(host, servers);
    bool beyond = false;
    if (!redis_words_servers(a->servers, address_see_server, &beyond, err))
        return false;
    size_t prefix = slash ? rest - servers - 1 : 0;
    if (!address_take(prefix ? slash + 1 : "weft", prefix ? prefix : 4, "prefix", &a->prefix,
                      err) ||
        !redis_words_prefix(a->prefix, PREFIX_MOST, err) ||
        (query && !address_take_options(a, query + 1, err)))
        return false;
    if (a->auth_key && a->password)
        return error_set(err, ERROR_INPUT,
                         "store address: a password and auth=key: the password comes from one of "
                         "them");
    if (!address_is_safe(a, beyond, err))
        return false;
    /* the text for people: the same without what stands between the colon and the @ */
    const char *colon = person ? memchr(at, ':', (size_t)(person - at)) : NULL;
    struct strbuf shown = {0};
    strbuf_add_bytes(&shown, text, (size_t)((colon ? colon : person ? person : at) - text));
    strbuf_add(&shown, person && (!colon || colon > at) ? "@" : "");
    strbuf_add(&shown, host);
    a->text = strbuf_steal(&shown);
    return true;
}

bool store_address_parse(const char *text, struct store_address *out, struct error *err)
{
    *out = (struct store_address){0};
    if (address_parse_parts(out, text, err))
        return true;
    store_address_free(out);
    return false;
}

void store_address_free(struct store_address *a)
{
    free(a->text);
    free(a->servers);
    free(a->prefix);
    free(a->user);
    if (a->password)
        explicit_bzero(a->password, strlen(a->password));
    free(a->password);
    free(a->tls_ca);
    free(a->tls_cert);
    free(a->tls_key);
    free(a->tls_name);
    free(a->tls_pin);
    *a = (struct store_address){0};
}

/* A run has a prefix of its own under the cluster's, and expires, should nobody ever collect it. */
struct store_redis_config store_address_config(const struct store_address *a, uint64_t run,
                                               const struct seal_prover *prover,
                                               char prefix[static 128])
{
    snprintf(prefix, 128, "%s.run.%llu", a->prefix, (unsigned long long)run);
    return (struct store_redis_config){.prover = *prover,
                                       .expire = RUN_KEPT,
                                       .servers = a->servers,
                                       .prefix = prefix,
                                       .user = a->user,
                                       .password = a->password,
                                       .tls = a->tls,
                                       .tls_ca = a->tls_ca,
                                       .tls_cert = a->tls_cert,
                                       .tls_key = a->tls_key,
                                       .tls_name = a->tls_name,
                                       .tls_pin = a->tls_pin,
                                       .tls_unchecked = a->tls_unchecked,
                                       .replicas = a->replicas,
                                       .shards = a->shards};
}
