/* access.h: who may ask. The order of the questions is the order of the refusals: a stranger who asks for another host learns
 * only that, and nothing is compared with a secret before the host is ours.
 *
 *     method ─▶ host ─▶ token of the address? ─▶ origin ─▶ cookie ─▶ read only?
 *      405      421      303 or 401             403       401       403
 *
 * Comparisons of secrets take the same time wherever they differ. Wrong passwords double the time until the next one is looked at,
 * up to ACCESS_LONGEST, for everybody: who has come in already has the cookie and does not notice. */
#include "ui/access.h"
#include "base/digest.h"
#include <stdio.h>
#include <string.h>

static const double ACCESS_SHORTEST = 0.25, ACCESS_LONGEST = 30; /* seconds after wrong passwords */

/* A name or an address without its port, as it stands in a list. */
static void access_add_host(struct access *a, const char *host, size_t n)
{
    if (n && n < ACCESS_HOST_TEXT - 8 && a->nhosts < ACCESS_HOSTS)
        snprintf(a->host[a->nhosts++], ACCESS_HOST_TEXT, "%.*s:%u", (int)n, host, a->port);
}

void access_begin(struct access *a, const struct access_options *o)
{
    *a = (struct access){
        .port = o->port, .read_only = o->read_only, .tls = o->tls, .signs_in = o->password != NULL};
    snprintf(a->token, sizeof a->token, "%s", o->token);
    snprintf(a->cookie, sizeof a->cookie, "weft-%u", o->port);
    const char *hosts = o->hosts ? o->hosts : "127.0.0.1,localhost";
    for (size_t n; *hosts; hosts += n + (hosts[n] == ',')) {
        n = strcspn(hosts, ",");
        access_add_host(a, hosts, n);
    }
    if (o->password)
        digest_of(o->password, strlen(o->password), &a->password);
    struct digest session;
    char text[sizeof "weft ui session " + ACCESS_TOKEN_TEXT];
    int n = snprintf(text, sizeof text, "weft ui session %s", a->token);
    digest_of(text, (size_t)n, &session);
    digest_text(&session, a->session);
}

/* Takes as long whether the first or the last letter differs, so that nobody learns a token by trying. */
static bool access_same(const char *given, size_t n, const char *right)
{
    if (n != strlen(right))
        return false;
    unsigned char differs = 0;
    for (size_t i = 0; i < n; i++)
        differs |= (unsigned char)(given[i] ^ right[i]);
    return differs == 0;
}

/* "127.0.0.1:8787" or "localhost:8787", and nothing else that leads here. Without a port it is the scheme's own. */
static bool access_host_is_ours(const struct access *a, const char *host)
{
    for (unsigned i = 0; host && i < a->nhosts; i++) {
        size_t bare = (size_t)(strrchr(a->host[i], ':') - a->host[i]);
        bool standard = a->port == (a->tls ? 443 : 80);
        if (strcmp(host, a->host[i]) == 0 ||
            (standard && strlen(host) == bare && memcmp(host, a->host[i], bare) == 0))
            return true;
    }
    return false;
}

static bool access_has_cookie(const struct access *a, const char *cookies)
{
    size_t name = strlen(a->cookie);
    for (const char *at = cookies; at && *at;) {
        at += strspn(at, "; ");
        size_t n = strcspn(at, ";");
        if (n > name && strncmp(at, a->cookie, name) == 0 && at[name] == '=' &&
            access_same(at + name + 1, n - name - 1, a->session))
            return true;
        at += n;
    }
    return false;
}

/* A page of ours asks with our origin, or says that it is of the same one. What changes something must say
 * so; looking may come without (an address that is typed has no origin). */
static bool access_origin_is_ours(const struct access *a, const struct access_request *r,
                                  bool changes)
{
    if (r->site && strcmp(r->site, "same-origin") != 0 && strcmp(r->site, "none") != 0)
        return false;
    if (!r->origin)
        return !changes || (r->site && strcmp(r->site, "same-origin") == 0);
    const char *scheme = a->tls ? "https://" : "http://";
    size_t n = strlen(scheme);
    return strncmp(r->origin, scheme, n) == 0 && access_host_is_ours(a, r->origin + n);
}

enum access_verdict access_judge(const struct access *a, const struct access_request *r)
{
    bool changes = strcmp(r->method, "POST") == 0;
    if (!changes && strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
        return ACCESS_WRONG_METHOD;
    if (!access_host_is_ours(a, r->host))
        return ACCESS_WRONG_HOST;
    /* a link in a mail or a terminal's program may bring the token from anywhere */
    if (r->token && !changes && !a->signs_in)
        return access_same(r->token, strlen(r->token), a->token) ? ACCESS_EXCHANGE
                                                                 : ACCESS_STRANGER;
    if (!access_origin_is_ours(a, r, changes))
        return ACCESS_WRONG_ORIGIN;
    if (!access_has_cookie(a, r->cookies))
        return ACCESS_STRANGER;
    return changes && a->read_only ? ACCESS_READ_ONLY : ACCESS_GRANTED;
}

enum access_verdict access_sign_in(struct access *a, const struct access_request *r,
                                   const char *password, size_t n, double now)
{
    struct digest given;
    if (!a->signs_in)
        return ACCESS_STRANGER;
    if (!access_host_is_ours(a, r->host))
        return ACCESS_WRONG_HOST;
    if (!access_origin_is_ours(a, r, true))
        return ACCESS_WRONG_ORIGIN;
    if (now < a->again)
        return ACCESS_TOO_OFTEN;
    digest_of(password, n, &given); /* of equal length, so that not even that is told */
    unsigned char differs = 0;
    for (size_t i = 0; i < sizeof given; i++)
        differs |= ((const unsigned char *)&given)[i] ^ ((const unsigned char *)&a->password)[i];
    if (!differs) {
        a->wrong = 0;
        return ACCESS_EXCHANGE;
    }
    double wait = ACCESS_SHORTEST * (double)(1U << (a->wrong < 8 ? a->wrong : 8));
    a->wrong++;
    a->again = now + (wait < ACCESS_LONGEST ? wait : ACCESS_LONGEST);
    return ACCESS_STRANGER;
}

unsigned access_status(enum access_verdict verdict, const char **sentence)
{
    static const struct {
        unsigned status;
        const char *sentence;
    } answers[] = {
        [ACCESS_GRANTED] = {200, ""},
        [ACCESS_EXCHANGE] = {303, ""},
        [ACCESS_WRONG_HOST] =
            {421, "this server answers to its own address alone; `weft ui --host` names others"},
        [ACCESS_WRONG_ORIGIN] = {403, "another site sent this request"},
        [ACCESS_STRANGER] = {401, "open the address that `weft ui` has printed: it has the token"},
        [ACCESS_READ_ONLY] = {403, "this server was started with --read-only"},
        [ACCESS_TOO_OFTEN] = {429, "too many wrong passwords: wait half a minute"},
        [ACCESS_WRONG_METHOD] = {405, "only GET, HEAD and POST are answered"},
    };
    *sentence = answers[verdict].sentence;
    return answers[verdict].status;
}
