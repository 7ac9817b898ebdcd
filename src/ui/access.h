/* Who may ask the page's server, and what. Pure: a request's words in, a verdict out.
 *
 * The server listens on loopback, where every program of this machine and every site that a browser
 * shows can reach it. So:
 *   - a stranger has neither the token (in the address that is printed once) nor the cookie that it is
 *     exchanged for;
 *   - a site whose name was made to mean this machine (DNS rebinding) asks for another host;
 *   - a site that sends the user's browser here (CSRF) has another origin, and SameSite=Strict keeps the
 *     cookie from it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { ACCESS_TOKEN_TEXT = 65 };

struct access {
    uint16_t port;
    bool read_only;
    char token[ACCESS_TOKEN_TEXT]; /* 64 hexadecimal digits */
    char session
        [ACCESS_TOKEN_TEXT]; /* the cookie's value: it proves the token and does not tell it */
    char cookie[24];         /* its name; cookies know no ports, so the name does */
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
};

/* `token`: 64 hexadecimal digits. */
void access_begin(struct access *a, const char *token, uint16_t port, bool read_only);
enum access_verdict access_judge(const struct access *a, const struct access_request *r);
/* The status of HTTP that goes with it, and a sentence for people. */
unsigned access_status(enum access_verdict verdict, const char **sentence);
