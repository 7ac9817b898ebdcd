/* Private to the links: one link (link.c). */
#pragma once
#include "cluster/wire/link_machine.h"
#include "cluster/wire/links_state.h"

struct link {
    struct links *all;
    struct link *before, *after;
    enum link_state state; /* changed by link_change() alone */
    bool caller;
    bool accepted;        /* counted in all->accepted */
    bool close_when_open; /* closed in order before the handshake, with messages still to be sent */
    bool has_tcp;         /* the handle is initialised and not closed */
    bool resolving;       /* the resolver holds `lookup` */
    bool dirty;           /* in all->dirty */
    struct link *next_dirty;
    char address[300]; /* of the other end */
    char *why;         /* the reason of the end; NULL: none yet */
    void *data;
    struct seal *seal;

    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_getaddrinfo_t lookup;
    struct addrinfo *found, *next; /* addresses of the name, and the one to try next */
    uv_shutdown_t shutdown;

    uv_write_t write;
    bool writing;                  /* the system has `busy` */
    struct strbuf busy;            /* sealed, given to the system */
    struct strbuf out;             /* sealed, to be given */
    struct strbuf early;           /* not sealed yet: sent before the handshake was over */
    size_t written;                /* of busy, before it was handed over */
    uint64_t since;                /* when it began; DRAINING and HALF_CLOSED: last progress [ms] */
    uint64_t received_at, sent_at; /* the last byte, either way [ms] */
};

/* `name`: who must answer; NULL: it was accepted. */
struct link *link_make(struct links *all, bool caller, const char *name);
/* There is a connection: the handshake, within the time that is left. */
void link_begin(struct link *l);
void link_keep_alive(struct link *l);
/* The end, with the reason that was set before. */
void link_end(struct link *l);
/* The end because of this; `refused`: it is the other end's fault, and logged. */
void link_fail(struct link *l, bool refused, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
