/* Who may ask the page's server, and what. Pure: a request's words in, a verdict out.
 *
 * The server listens on loopback, where every program of this machine and every site that a browser
 * shows can reach it. So:
 *   - a stranger has neither the token (in the address that is printed once) nor the cookie that it is
 *     exchanged for;
 *   - a site whose name was made to mean this machine (DNS rebinding) asks for another host;
 *   - a site that sends the user's browser here (CSRF) has another origin, and SameSite=Strict keeps the
 *     cookie from it.
 * On another address than loopback it speaks TLS alone, nobody is given a token, and whoever comes signs in with a password,
 * which can be tried only so often. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/digest.h"

enum { ACCESS_TOKEN_TEXT = 65, ACCESS_HOSTS = 8, ACCESS_HOST_TEXT = 264 };

struct access {
    uint16_t port;
    bool read_only, tls;
    bool signs_in;                 /* with a password; else by the token */
    char token[ACCESS_TOKEN_TEXT]; /* 64 hexadecimal digits */
    char session
        [ACCESS_TOKEN_TEXT]; /* the cookie's value: it proves the token and does not tell it */
    char cookie[24];         /* its name; cookies know no ports, so the name does */
    char host[ACCESS_HOSTS][ACCESS_HOST_TEXT]; /* with the port: what a browser may ask for */
    unsigned nhosts;
    struct digest password;
    unsigned wrong; /* passwords in a row */
    double again;   /* clock_seconds() from which one is looked at again */
};

struct access_options {
    const char *token; /* 64 hexadecimal digits, random */
    uint16_t port;
    bool read_only, tls;
    const char *hosts;    /* "10.0.0.7,lab.example.org"; NULL: 127.0.0.1 and localhost */
    const char *password; /* NULL: whoever has the token may come in */
};

/* Words of a request; NULL: it has none such. */
struct access_request {
    const char *method;
    const char *host, *origin, *site; /* Host, Origin, Sec-Fetch-Site */
    const char *cookies;              /* the whole Cookie header */
    const char *token;                /* of the address */
};

enum access_verdict {
    ACCESS_GRANTED,
    ACCESS_EXCHANGE,     /* the token is right: set the cookie, and come again without it */
    ACCESS_WRONG_HOST,   /* 421 */
    ACCESS_WRONG_ORIGIN, /* 403 */
    ACCESS_STRANGER,     /* 401 */
    ACCESS_READ_ONLY,    /* 403: it would change something */
    ACCESS_WRONG_METHOD, /* 405 */
    ACCESS_TOO_OFTEN,    /* 429: after wrong passwords; right ones are not looked at either */
};

void access_begin(struct access *a, const struct access_options *o);
enum access_verdict access_judge(const struct access *a, const struct access_request *r);
/* Somebody signs in: EXCHANGE, STRANGER or TOO_OFTEN; or why the request is not even looked at. `now`: clock_seconds(). */
enum access_verdict access_sign_in(struct access *a, const struct access_request *r,
                                   const char *password, size_t n, double now);
/* The status of HTTP that goes with it, and a sentence for people. */
unsigned access_status(enum access_verdict verdict, const char **sentence);
