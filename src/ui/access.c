/* access.h: who may ask. The order of the questions is the order of the refusals: a stranger who asks for another host learns
 * only that, and nothing is compared with a secret before the host is ours.
 *
 *     method ─▶ host ─▶ token of the address? ─▶ origin ─▶ cookie ─▶ read only?
 *      405      421      303 or 401             403       401       403
 *
 * Comparisons of secrets take the same time wherever they differ. */
#include "ui/access.h"
#include "base/digest.h"
#include <stdio.h>
#include <string.h>

void access_begin(struct access *a, const char *token, uint16_t port, bool read_only)
{
    *a = (struct access){.port = port, .read_only = read_only};
    snprintf(a->token, sizeof a->token, "%s", token);
    snprintf(a->cookie, sizeof a->cookie, "weft-%u", port);
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

/* "127.0.0.1:8787" or "localhost:8787", and nothing else that leads here. */
static bool access_host_is_ours(const struct access *a, const char *host)
{
    char numeric[32], named[32];
    snprintf(numeric, sizeof numeric, "127.0.0.1:%u", a->port);
    snprintf(named, sizeof named, "localhost:%u", a->port);
    return host && (strcmp(host, numeric) == 0 || strcmp(host, named) == 0);
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
    return strncmp(r->origin, "http://", 7) == 0 && access_host_is_ours(a, r->origin + 7);
}

enum access_verdict access_judge(const struct access *a, const struct access_request *r)
{
    bool changes = strcmp(r->method, "POST") == 0;
    if (!changes && strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0)
        return ACCESS_WRONG_METHOD;
    if (!access_host_is_ours(a, r->host))
        return ACCESS_WRONG_HOST;
    /* a link in a mail or a terminal's program may bring the token from anywhere */
    if (r->token && !changes)
        return access_same(r->token, strlen(r->token), a->token) ? ACCESS_EXCHANGE
                                                                 : ACCESS_STRANGER;
    if (!access_origin_is_ours(a, r, changes))
        return ACCESS_WRONG_ORIGIN;
    if (!access_has_cookie(a, r->cookies))
        return ACCESS_STRANGER;
    return changes && a->read_only ? ACCESS_READ_ONLY : ACCESS_GRANTED;
}

unsigned access_status(enum access_verdict verdict, const char **sentence)
{
    static const struct {
        unsigned status;
        const char *sentence;
    } answers[] = {
        [ACCESS_GRANTED] = {200, ""},
        [ACCESS_EXCHANGE] = {303, ""},
        [ACCESS_WRONG_HOST] = {421, "this server answers to 127.0.0.1 and localhost alone"},
        [ACCESS_WRONG_ORIGIN] = {403, "another site sent this request"},
        [ACCESS_STRANGER] = {401, "open the address that `weft ui` has printed: it has the token"},
        [ACCESS_READ_ONLY] = {403, "this server was started with --read-only"},
        [ACCESS_WRONG_METHOD] = {405, "only GET, HEAD and POST are answered"},
    };
    *sentence = answers[verdict].sentence;
    return answers[verdict].status;
}
