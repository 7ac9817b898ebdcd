/* What a browser asks and what it gets, without a word of HTTP's library: handlers see only this. */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct laboratory;

enum { REQUEST_VALUES = 16, REQUEST_BODY = 1 << 20 };

struct request {
    const char *path;                                         /* "/api/runs" */
    const char *name[REQUEST_VALUES], *value[REQUEST_VALUES]; /* of the address, after the '?' */
    size_t nvalues;
    char *body; /* of a POST, ends with a NUL; its reader may change it */
    size_t nbody;
    int64_t run; /* the number in the path, where the route has one */
};
/* NULL: the address has none such, or it is empty. */
const char *request_value(const struct request *r, const char *name);

struct reply {
    unsigned status;
    const char *type;   /* "application/json" */
    struct strbuf body; /* owned */
    bool document;      /* a page of its own, with styles inside and no script: shown in a frame */
};
/* {"error": TEXT} with this status: place, cause, remedy. */
void reply_fail(struct reply *out, unsigned status, const char *text);

/* Answers one route. Handlers ask the library and write; they decide nothing. */
typedef void (*route_handler)(const struct laboratory *lab, const struct request *r,
                              struct reply *out);

/* Which handler answers which address. */
struct ui_route {
    bool post; /* it changes something: not with --read-only, and only for the page itself */
    /* "/api/run/#/page": "#" stands for a number. "~" before it: it may take seconds, and touches nothing but the
     * library and its reply; it is answered on a thread of its own (slow.h). NULL: the end of the rows */
    const char *pattern;
    route_handler handler;
};
/* The row that answers a request, the number of its path filled in; NULL: nobody does, and `out` says so. */
const struct ui_route *route_of(bool post, struct request *r, struct reply *out);

/* What the server knows of a view: its addresses, and what it looks at. */
struct ui_view {
    const struct ui_route *routes;
    /* Once a second while some page listens: has anything changed that nobody told this process? It tells
     * pages by event_hub_tell(lab->hub, ...). May be NULL. */
    void (*look)(const struct laboratory *lab);
};
extern const struct ui_view ui_views[]; /* routes.c; the end has no routes */

/* Fill in `out` for the request; an address that nobody knows is 404. */
/* The handler, with what it took on the account of the run that was asked about (thrift.h). From any thread. */
void route_answer(const struct ui_route *route, const struct laboratory *lab,
                  const struct request *r, struct reply *out);
void route_request(const struct laboratory *lab, bool post, struct request *r, struct reply *out);
