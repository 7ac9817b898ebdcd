/* Private to the links: all of them (links.c). */
#pragma once
#include "base/strbuf.h"
#include "cluster/wire/link.h"

#define LINK_READ_SIZE ((size_t)256 << 10) /* one read of the system; more saves no time */

struct links {
    struct links_config config;
    char *self;
    char realm[2 * SEAL_ID + 1]; /* the cluster, as text */
    char address[300];           /* that it listens at */
    uv_tcp_t listener;
    uv_idle_t flush; /* active while some link is dirty: writes once a turn of the loop */
    uv_timer_t timer;
    unsigned handles; /* of the three, not yet closed */
    bool freeing;
    uint64_t tick, ticked; /* milliseconds: between checks of the clock, the last one */
    struct link *first;    /* all of them, doubly linked */
    struct link *dirty;    /* those that have something to write */
    uint32_t accepted;
    struct links_counts counts;
    uint64_t log_second;
    unsigned log_lines, log_left_out;
    struct strbuf scratch;
    char *read; /* LINK_READ_SIZE: bytes are taken before the next read */
};

static inline uint64_t links_now(const struct links *all)
{
    return uv_now(all->config.loop);
}
/* A line in the log; not more than a few a second. */
void links_log(struct links *all, const char *address, const char *text);
/* "host:port" or "[host]:port" in its parts. */
bool links_split(const char *text, char *host, size_t host_size, int *port);
/* The clock runs while there are links. */
void links_start_clock(struct links *all);
/* A link is gone: perhaps the last one. */
void links_over(struct links *all);
