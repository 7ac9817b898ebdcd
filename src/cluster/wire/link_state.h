/* Private to the links: one link (link.c) and all of them (links.c). */
#pragma once
#include "cluster/wire/link.h"

#define LINK_READ_SIZE ((size_t)256 << 10)

enum link_state {
    LINK_LOOKING_UP,
    LINK_CONNECTING,
    LINK_SHAKING,
    LINK_OPEN,
    LINK_LEAVING,
    LINK_CLOSING
};

struct link {
    struct links *all;
    struct link *before, *after;
    enum link_state state;
    bool caller, accepted; /* accepted: counted in all->accepted */
    bool leave;            /* LEAVING as soon as the hands are shaken */
    bool ended;            /* the end of our stream is sent, or about to be */
    bool has_tcp;          /* the handle is initialised and not closed */
    bool told, looking;    /* looking: the resolver holds `lookup` */
    bool dirty;            /* in all->dirty */
    struct link *next_dirty;
    char address[300]; /* of the other end */
    char *why;
    void *data;
    struct seal *seal;

    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_getaddrinfo_t lookup;
    struct addrinfo *found, *next; /* addresses of the name, and the one to try next */
    uv_shutdown_t shutdown;

    uv_write_t write;
    bool writing; /* the system has `busy` */
    struct strbuf busy, out, early;
    size_t written; /* of busy, before it was handed over */
    uint64_t since; /* when it began; LEAVING: last progress */
    uint64_t heard, said;
};

struct links {
    struct links_config config;
    char *hello;
    char address[300];
    uv_tcp_t listener;
    uv_idle_t flush;
    uv_timer_t timer;
    unsigned handles; /* of the three, not yet closed */
    bool freeing;
    uint64_t tick, ticked; /* milliseconds: between looks at the clock, the last one */
    struct link *first, *dirty;
    uint32_t accepted;
    struct links_counts counts;
    uint64_t log_second;
    unsigned log_lines, log_left_out;
    struct strbuf scratch;
    char *read;
};
/* ---- links.c ---- */

static inline uint64_t links_now(const struct links *all)
{
    return uv_now(all->config.loop);
}
/* A line in the log; not more than a few a second. */
void links_say(struct links *all, const char *address, const char *text);
/* "host:port" or "[host]:port" in its parts. */
bool links_split(const char *text, char *host, size_t host_size, int *port);
/* The clock runs while there are links. */
void links_wind_clock(struct links *all);
/* A link is gone: perhaps the last one. */
void links_over(struct links *all);

/* ---- link.c ---- */

struct link *link_make(struct links *all, bool caller);
/* There is a connection: hands, within the time that is left. */
void link_begin(struct link *l);
void link_still_here(struct link *l);
/* The end, with what was told before as the reason. */
void link_end(struct link *l);
/* The end because of this; `refused`: it is the other end's fault, and logged. */
void link_fail(struct link *l, bool refused, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
