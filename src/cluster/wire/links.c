/* All links of a process: where they come in, their clock and their log.
 *
 * Invariants:
 *   I1. Every link is in `first` from link_make() until it is freed; the clock runs while one is.
 *   I2. After links_free() no link is made, each that is there is closed, and the memory goes with
 *       the last of links and handles.
 *   I3. What strangers do costs bounded space: accepted links at most config.most, of which at most
 *       config.strangers have not proved the key for longer than a moment, at most
 *       config.strangers_each from one address; log lines at most LOG_BURST a second, one read buffer
 *       for all. */
#include "cluster/wire/link_state.h"

#include "base/mem.h"
#include "base/plural.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_BURST 50 /* lines a second; strangers must not fill the disk */
#define MOMENT 250   /* milliseconds in which a friend has proved the key, also among a hundred */

/* ---- the log ---- */

void links_log(struct links *all, const char *address, const char *text)
{
    if (!all->config.log)
        return;
    char line[1200];
    uint64_t second = links_now(all) / 1000;
    if (second != all->log_second) {
        if (all->log_left_out) {
            snprintf(line, sizeof line, "links: %u more line%s like these left out",
                     all->log_left_out, plural(all->log_left_out));
            all->config.log(all->config.context, line);
        }
        all->log_second = second;
        all->log_lines = all->log_left_out = 0;
    }
    if (++all->log_lines > LOG_BURST) {
        all->log_left_out++;
        return;
    }
    snprintf(line, sizeof line, "link %s: %s", address, text);
    all->config.log(all->config.context, line);
}

/* ---- addresses ---- */

bool links_split(const char *text, char *host, size_t host_size, int *port)
{
    const char *colon = strrchr(text, ':');
    if (!colon)
        return false;
    size_t n = (size_t)(colon - text);
    const char *from = text;
    if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
        from++;
        n -= 2;
    } else if (memchr(text, ':', n)) {
        return false; /* IPv6 without brackets: where does the port begin? */
    }
    char *end;
    unsigned long number = strtoul(colon + 1, &end, 10);
    if (n == 0 || n >= host_size || colon[1] < '0' || colon[1] > '9' || *end || number > 65535)
        return false;
    memcpy(host, from, n);
    host[n] = 0;
    *port = (int)number;
    return true;
}

/* "host:port" or "[host]:port", as links_split() reads it. */
static void links_address_text(const struct sockaddr_storage *a, char *out, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (a->ss_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, a, sizeof six);
        uv_ip6_name(&six, host, sizeof host);
        snprintf(out, size, "[%s]:%u", host, ntohs(six.sin6_port));
    } else {
        struct sockaddr_in four;
        memcpy(&four, a, sizeof four);
        uv_ip4_name(&four, host, sizeof host);
        snprintf(out, size, "%s:%u", host, ntohs(four.sin_port));
    }
}

/* ---- strangers ---- */

static bool links_is_stranger(const struct link *l)
{
    return l->accepted && l->state == LINK_HANDSHAKING;
}

/* Their addresses without the ports. Those of this machine are not told apart: agents that were
 * started together all have one. */
static bool links_same_host(const struct link *a, const struct link *b)
{
    size_t n =
        strlen(a->address) - strlen(strrchr(a->address, ':') ? strrchr(a->address, ':') : "");
    return strncmp(a->address, "127.", 4) != 0 && strncmp(a->address, "[::1]", 5) != 0 &&
           strncmp(a->address, b->address, n) == 0 && b->address[n] == ':';
}

/* The one that waits longest, of the host of `like` (NULL: of any), and how many there are. */
static struct link *links_oldest_stranger(const struct links *all, const struct link *like,
                                          uint32_t *count)
{
    struct link *oldest = NULL;
    *count = 0;
    for (struct link *l = all->first; l; l = l->after) {
        if (!links_is_stranger(l) || (like && !links_same_host(like, l)))
            continue;
        ++*count;
        if (!oldest || l->since < oldest->since)
            oldest = l;
    }
    return oldest;
}

/* Who has had a moment and said nothing makes room: for `l`, which has just come, or because there
 * are too many. Friends prove the key in milliseconds, so that a crowd of them is let in. */
static void links_limit_strangers(struct links *all, const struct link *l)
{
    uint32_t count;
    if (all->accepted <= all->config.strangers_each) /* the usual case costs nothing */
        return;
    for (int of_host = l != NULL; of_host >= 0; of_host--) {
        uint32_t most = of_host ? all->config.strangers_each : all->config.strangers;
        for (;;) {
            struct link *oldest = links_oldest_stranger(all, of_host ? l : NULL, &count);
            if (!oldest || count <= most || links_now(all) - oldest->since < MOMENT)
                break;
            link_fail(oldest, true, "it has not proved the key, and others wait");
        }
    }
}

/* ---- coming in ---- */

/* Somebody connects. Beyond config.most he is closed at once: a flood of strangers must not take
 * the descriptors of friends. */
static void links_accept(uv_stream_t *listener, int status)
{
    struct links *all = listener->data;
    if (status < 0) {
        links_log(all, all->address, uv_strerror(status));
        return;
    }
    struct link *l = link_make(all, false, NULL);
    uv_tcp_init(all->config.loop, &l->tcp);
    l->tcp.data = l;
    l->has_tcp = l->accepted = true;
    all->accepted++;
    snprintf(l->address, sizeof l->address, "(gone already)");
    status = uv_accept(listener, (uv_stream_t *)&l->tcp);
    struct sockaddr_storage peer = {0};
    int size = sizeof peer;
    if (status == 0 && uv_tcp_getpeername(&l->tcp, (struct sockaddr *)&peer, &size) == 0)
        links_address_text(&peer, l->address, sizeof l->address);
    if (status < 0)
        link_fail(l, false, "cannot be accepted: %s", uv_strerror(status));
    else if (all->accepted > all->config.most)
        link_fail(l, true, "too many: %u links are open already", all->config.most);
    else
        link_begin(l);
    links_limit_strangers(all, l);
}

/* ---- the clock ---- */

/* What each state may last. The handshake's time includes looking up and connecting, so that a
 * stranger who says nothing is gone after it. */
static void links_check_time(struct link *l, uint64_t now)
{
    const struct links_config *c = &l->all->config;
    double since = 1e-3 * (double)(now - l->since), silent = 1e-3 * (double)(now - l->received_at);
    switch (l->state) {
    case LINK_NEW:
    case LINK_RESOLVING:
    case LINK_CONNECTING:
        if (since > c->handshake)
            link_fail(l, false, "cannot be reached within %g s", c->handshake);
        break;
    case LINK_HANDSHAKING:
        if (since > c->handshake)
            link_fail(l, true, "too slow: hands were not shaken within %g s", c->handshake);
        break;
    case LINK_OPEN:
        if (silent > c->silence)
            link_fail(l, true, "silence: nothing was heard for %g s", c->silence);
        else if (1e-3 * (double)(now - l->sent_at) > c->silence / 3 && link_queued(l) == 0)
            link_keep_alive(l);
        break;
    case LINK_DRAINING:
        if (since > c->handshake)
            link_fail(l, true, "it did not read what was sent before the end");
        break;
    case LINK_HALF_CLOSED:
        if (since > c->handshake)
            link_end(l);
        break;
    case LINK_CLOSING:
    case LINK_CLOSED:
    case LINK_STATES:
        break;
    }
}

/* A moment before we were held up counts from so much later; one of a link that came since then stays. */
static void links_excuse(uint64_t *moment, uint64_t own, uint64_t now)
{
    *moment = now - *moment > own ? *moment + own : now;
}

static void links_check_clock(uv_timer_t *h)
{
    struct links *all = h->data;
    uint64_t now = links_now(all), gap = now - all->ticked;
    /* we were held up ourselves (stopped, swapped out, busy): nobody else's silence */
    uint64_t own = gap > 2 * all->tick ? gap - all->tick : 0;
    all->ticked = now;
    for (struct link *l = all->first, *after; l; l = after) {
        after = l->after;
        links_excuse(&l->received_at, own, now);
        links_excuse(&l->since, own, now);
        links_check_time(l, now);
    }
    links_limit_strangers(all, NULL);
    if (!all->first)
        uv_timer_stop(&all->timer);
}

void links_start_clock(struct links *all)
{
    if (uv_is_active((uv_handle_t *)&all->timer))
        return;
    all->ticked = links_now(all);
    uv_timer_start(&all->timer, links_check_clock, all->tick, all->tick);
}

/* ---- all of them ---- */

/* Looking up an address to listen at may block: it is done once, before the loop runs. */
static bool links_listen(struct links *all, const char *bind, struct error *err)
{
    char host[256], service[16];
    int port = 0;
    if (!links_split(bind, host, sizeof host, &port))
        return error_set(
            err, ERROR_INPUT,
            "'%s' is no address to listen at: HOST:PORT or [IPV6]:PORT is one (port 0: "
            "any that is free)",
            bind);
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    uv_getaddrinfo_t lookup;
    snprintf(service, sizeof service, "%d", port);
    int status = uv_getaddrinfo(all->config.loop, &lookup, NULL, host, service, &hints);
    if (status < 0)
        return error_set(err, ERROR_INPUT, "cannot listen at '%s': %s", bind, uv_strerror(status));
    status = uv_tcp_bind(&all->listener, lookup.addrinfo->ai_addr, 0);
    uv_freeaddrinfo(lookup.addrinfo);
    if (status == 0)
        status = uv_listen((uv_stream_t *)&all->listener, 1024, links_accept);
    struct sockaddr_storage own = {0};
    int size = sizeof own;
    if (status == 0)
        status = uv_tcp_getsockname(&all->listener, (struct sockaddr *)&own, &size);
    if (status < 0)
        return error_set(err, ERROR_INPUT, "cannot listen at '%s': %s", bind, uv_strerror(status));
    links_address_text(&own, all->address, sizeof all->address);
    return true;
}

/* The clock is looked at four times in the shortest of the times that it measures. */
struct links *links_new(const struct links_config *config, struct error *err)
{
    struct links *all = mem_new_zero(struct links, 1);
    all->config = *config;
    all->config.self = all->self = mem_copy_string(config->self);
    for (int i = 0; i < SEAL_ID; i++)
        snprintf(all->realm + 2 * i, 3, "%02x", config->cluster[i]);
    all->config.bind = NULL;
    if (!(all->config.handshake > 0))
        all->config.handshake = 5;
    if (!(all->config.silence > 0))
        all->config.silence = 30;
    if (all->config.most == 0)
        all->config.most = 4096;
    if (all->config.strangers == 0)
        all->config.strangers = 64;
    if (all->config.strangers_each == 0)
        all->config.strangers_each = 8;
    double shorter = all->config.silence / 3 < all->config.handshake ? all->config.silence / 3
                                                                     : all->config.handshake;
    all->tick = shorter * 250 > 1 ? (uint64_t)(shorter * 250) : 1;
    all->read = mem_new(char, LINK_READ_SIZE);
    uv_tcp_init(config->loop, &all->listener);
    uv_idle_init(config->loop, &all->flush);
    uv_timer_init(config->loop, &all->timer);
    all->listener.data = all->flush.data = all->timer.data = all;
    all->handles = 3;
    if (config->bind && !links_listen(all, config->bind, err)) {
        links_free(all);
        return NULL;
    }
    return all;
}

/* The third of three: nothing of the loop knows us any more. */
static void links_handle_closed(uv_handle_t *h)
{
    struct links *all = h->data;
    if (--all->handles > 0)
        return;
    strbuf_free(&all->scratch);
    explicit_bzero(&all->config.key, sizeof all->config.key);
    free(all->read);
    free(all->self);
    free(all);
}

/* The last link is gone: so are the handles, once the loop has seen it. */
void links_over(struct links *all)
{
    if (!all->freeing || all->first || uv_is_closing((uv_handle_t *)&all->timer))
        return;
    uv_close((uv_handle_t *)&all->timer, links_handle_closed);
    uv_close((uv_handle_t *)&all->flush, links_handle_closed);
}

/* Every link is closed in order: what was sent before still goes out, as far as the loop runs. */
void links_free(struct links *all)
{
    if (!all || all->freeing)
        return;
    all->freeing = true;
    uv_close((uv_handle_t *)&all->listener, links_handle_closed);
    for (struct link *l = all->first; l; l = l->after)
        link_close(l, "");
    links_over(all);
}

void links_cut_off(struct links *all)
{
    struct links_config *c = &all->config;
    c->open = NULL;
    c->message = NULL;
    c->closed = NULL;
    c->drained = NULL;
    c->log = NULL;
    c->trace = NULL;
    links_free(all);
    for (struct link *l = all->first; l; l = l->after)
        link_end(l);
}

void links_rename(struct links *all, const char *self)
{
    free(all->self);
    all->config.self = all->self = mem_copy_string(self);
}

const char *links_address(const struct links *all)
{
    return all->address;
}

struct links_counts links_counts(const struct links *all)
{
    return all->counts;
}
