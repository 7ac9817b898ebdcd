#include "ui/access.h"
#include "tap.h"

#define TOKEN "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* On another address: TLS, names of its own, and a password that can be tried only so often. */
static void signing_in(void)
{
    struct access a;
    access_begin(&a, &(struct access_options){.token = TOKEN,
                                              .port = 8787,
                                              .tls = true,
                                              .hosts = "10.0.0.7,lab.example",
                                              .password = "correct horse"});
    const char *here = "lab.example:8787", *page = "https://lab.example:8787";
    struct access_request r = {"POST", here, page, "same-origin", NULL, NULL};
    struct access_request token = {"GET", here, NULL, NULL, NULL, TOKEN};
    struct access_request loopback = {"GET", "127.0.0.1:8787", NULL, NULL, NULL, NULL};
    struct access_request plain = {"POST", here, "http://lab.example:8787", NULL, NULL, NULL};
    struct access_request other = {"POST", here, "https://evil.example", NULL, NULL, NULL};
    is_int(access_judge(&a, &token), ACCESS_STRANGER, "no token opens it");
    is_int(access_judge(&a, &loopback), ACCESS_WRONG_HOST, "another name than its own");
    is_int(access_sign_in(&a, &plain, "correct horse", 13, 0), ACCESS_WRONG_ORIGIN, "not by http");
    is_int(access_sign_in(&a, &other, "correct horse", 13, 0), ACCESS_WRONG_ORIGIN,
           "not from elsewhere");
    is_int(access_sign_in(&a, &r, "correct horse", 13, 0), ACCESS_EXCHANGE, "the password");
    is_int(access_sign_in(&a, &r, "correct", 7, 0), ACCESS_STRANGER, "a part of it");
    is_int(access_sign_in(&a, &r, "correct horse", 13, 0.1), ACCESS_TOO_OFTEN, "then one waits");
    double now = 0;
    for (int i = 0; i < 12; i++) {
        now += 40;
        is_int(access_sign_in(&a, &r, "wrong", 5, now), ACCESS_STRANGER, "a wrong one");
    }
    is_int(access_sign_in(&a, &r, "correct horse", 13, now + 29), ACCESS_TOO_OFTEN, "longer");
    is_int(access_sign_in(&a, &r, "correct horse", 13, now + 31), ACCESS_EXCHANGE, "not for ever");
    char cookie[128];
    snprintf(cookie, sizeof cookie, "weft-8787=%s", a.session);
    r.cookies = cookie;
    is_int(access_judge(&a, &r), ACCESS_GRANTED, "the cookie");
    struct access open;
    access_begin(&open, &(struct access_options){.token = TOKEN, .port = 8787});
    is_int(access_sign_in(&open, &loopback, "", 0, 0), ACCESS_STRANGER,
           "nobody without a password");
}

int main(void)
{
    struct access a, watched;
    access_begin(&a, &(struct access_options){.token = TOKEN, .port = 8787});
    access_begin(&watched,
                 &(struct access_options){.token = TOKEN, .port = 8787, .read_only = true});
    char right[128], other[256], wrong[128];
    snprintf(right, sizeof right, "weft-8787=%s", a.session);
    snprintf(other, sizeof other, "theme=dark; %s; x=y", right);
    snprintf(wrong, sizeof wrong, "weft-8787=%s", a.token);
    ok(strcmp(a.session, TOKEN) != 0 && strlen(a.session) == 64, "the cookie is not the token");
    const char *here = "127.0.0.1:8787", *page = "http://127.0.0.1:8787";
    const struct {
        const char *what;
        struct access_request asked;
        enum access_verdict expected;
    } rows[] = {
        {"the cookie", {"GET", here, NULL, NULL, right, NULL}, ACCESS_GRANTED},
        {"among others", {"GET", here, NULL, "same-origin", other, NULL}, ACCESS_GRANTED},
        {"by name", {"HEAD", "localhost:8787", NULL, "none", right, NULL}, ACCESS_GRANTED},
        {"a page of ours", {"POST", here, page, "same-origin", right, NULL}, ACCESS_GRANTED},
        {"an old browser's", {"POST", here, page, NULL, right, NULL}, ACCESS_GRANTED},
        {"no cookie", {"GET", here, NULL, NULL, NULL, NULL}, ACCESS_STRANGER},
        {"another's", {"GET", here, NULL, NULL, "weft-8788=1; weft-8787=", NULL}, ACCESS_STRANGER},
        {"the token as cookie", {"GET", here, NULL, NULL, wrong, NULL}, ACCESS_STRANGER},
        {"the token", {"GET", here, NULL, "cross-site", NULL, TOKEN}, ACCESS_EXCHANGE},
        {"a part of it", {"GET", here, NULL, NULL, right, "0011"}, ACCESS_STRANGER},
        {"the token by POST", {"POST", here, NULL, NULL, NULL, TOKEN}, ACCESS_WRONG_ORIGIN},
        {"a name that was bent to us",
         {"GET", "evil.example:8787", NULL, NULL, right, NULL},
         ACCESS_WRONG_HOST},
        {"a longer name",
         {"GET", "127.0.0.1:8787.evil.example", NULL, NULL, right, NULL},
         ACCESS_WRONG_HOST},
        {"another port", {"GET", "127.0.0.1:80", NULL, NULL, right, NULL}, ACCESS_WRONG_HOST},
        {"no host", {"GET", NULL, NULL, NULL, right, NULL}, ACCESS_WRONG_HOST},
        {"the token, for another host",
         {"GET", "evil.example", NULL, NULL, NULL, TOKEN},
         ACCESS_WRONG_HOST},
        {"another site looks",
         {"GET", here, "http://evil.example", NULL, right, NULL},
         ACCESS_WRONG_ORIGIN},
        {"another site's script",
         {"GET", here, NULL, "cross-site", right, NULL},
         ACCESS_WRONG_ORIGIN},
        {"a neighbour port's", {"GET", here, NULL, "same-site", right, NULL}, ACCESS_WRONG_ORIGIN},
        {"another site changes",
         {"POST", here, "http://evil.example", NULL, right, NULL},
         ACCESS_WRONG_ORIGIN},
        {"a file's page", {"POST", here, "null", NULL, right, NULL}, ACCESS_WRONG_ORIGIN},
        {"nobody says whose", {"POST", here, NULL, NULL, right, NULL}, ACCESS_WRONG_ORIGIN},
        {"https is not us",
         {"POST", here, "https://127.0.0.1:8787", NULL, right, NULL},
         ACCESS_WRONG_ORIGIN},
        {"other methods", {"DELETE", here, NULL, NULL, right, NULL}, ACCESS_WRONG_METHOD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_int(access_judge(&a, &rows[i].asked), rows[i].expected, "%s", rows[i].what);
    struct access_request change = {"POST", here, page, NULL, right, NULL};
    is_int(access_judge(&watched, &change), ACCESS_READ_ONLY, "read only: no change");
    change.method = "GET";
    is_int(access_judge(&watched, &change), ACCESS_GRANTED, "read only: looking is free");
    const char *sentence;
    is_int(access_status(ACCESS_WRONG_HOST, &sentence), 421, "a wrong host is misdirected");
    signing_in();
    return tap_done();
}
