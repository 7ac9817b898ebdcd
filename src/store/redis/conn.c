/* One connection to one server (conn.h).
 *
 *     redis_conn_command ──▶ plain ── TLS, or as it is ──▶ out ── flush ──▶ socket
 *     redis_conn_reply   ◀── parser ◀── TLS, or as it is ◀────── move ◀──── socket
 *
 *   I1. Nothing blocks but looking a name up.
 *   I2. `open` has a mark for each command whose reply has not been taken, in the order of sending;
 *       Redis answers in that order.
 *   I3. A function that returns false has noted why in `why` and closed nothing: its owner
 *       decides to end the connection by redis_conn_stop(), which forgets bytes and marks at
 *       once. */
#include "store/redis/conn.h"
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define BACK_OFF_FIRST 0.01   /* seconds, see redis_conn_stop() */
#define BACK_OFF_MOST 0.5     /* likewise */
#define READ_SIZE (64u << 10) /* of one recv: a typical answer in one call, and small on a stack */
#define KEEP_SIZE (8u << 20)  /* a larger buffer goes when it is empty */

struct redis_conn *redis_conn_new(const char *host, uint16_t port, uint32_t index, int epoll,
                                  const struct redis_tls_context *tls)
{
    struct redis_conn *c = mem_new_zero(struct redis_conn, 1);
    snprintf(c->host, sizeof c->host, "%s", host);
    c->port = port;
    c->index = index;
    c->epoll = epoll;
    c->tls_context = tls;
    c->fd = -1;
    return c;
}

/* Closed, and everything that belonged to this connection forgotten: bytes, marks, the TLS
 * session. */
static void conn_drop(struct redis_conn *c)
{
    if (c->fd >= 0)
        close(c->fd); /* epoll forgets it too */
    c->fd = -1;
    redis_tls_free(c->tls);
    c->tls = NULL;
    if (c->reader)
        redisReaderFree(c->reader);
    c->reader = NULL;
    c->plain.n = c->out.n = c->out_at = c->open.n = c->open_at = 0;
    c->state = REDIS_CONN_DOWN;
}

void redis_conn_free(struct redis_conn *c)
{
    if (!c)
        return;
    conn_drop(c);
    array_free(&c->plain);
    array_free(&c->out);
    array_free(&c->open);
    free(c);
}

/* The first address that the resolver gives. Blocks, so it is done when a client opens, not in its
 * loop. */
bool redis_conn_resolve(struct redis_conn *c)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", c->port);
    int failed = getaddrinfo(c->host, port, &hints, &found);
    if (failed) {
        snprintf(c->why, sizeof c->why, "%s", gai_strerror(failed));
        return false;
    }
    memcpy(&c->address, found->ai_addr, found->ai_addrlen);
    c->address_size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

/* 10 ms, doubled up to half a second: a server that restarts is found again quickly, one that is
 * gone is not asked a thousand times. */
void redis_conn_stop(struct redis_conn *c, double now, const char *why)
{
    if (why && why != c->why)
        snprintf(c->why, sizeof c->why, "%s", why);
    conn_drop(c);
    c->back_off = c->back_off > 0 ? c->back_off * 2 : BACK_OFF_FIRST;
    if (c->back_off > BACK_OFF_MOST)
        c->back_off = BACK_OFF_MOST;
    c->retry_at = now + c->back_off;
}

/* Note the reason for whoever ends the connection; false, to be passed on. */
static bool conn_lost(struct redis_conn *c, const char *why)
{
    snprintf(c->why, sizeof c->why, "%s", why);
    return false;
}

/* Never blocks (but for a name that nobody has looked up yet, of a server that a cluster
 * announced). */
bool redis_conn_start(struct redis_conn *c, double now)
{
    c->since = now;
    if (!c->address_size && !redis_conn_resolve(c)) {
        redis_conn_stop(c, now, NULL);
        return false;
    }
    c->fd = socket(c->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* no waiting for fuller packets: what is flushed is a whole batch already; keepalive finds dead
     * peers */
    int one = 1;
    if (c->fd >= 0) {
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        setsockopt(c->fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    }
    if (c->fd < 0 || (connect(c->fd, (struct sockaddr *)&c->address, c->address_size) < 0 &&
                      errno != EINPROGRESS)) {
        redis_conn_stop(c, now, strerror(errno));
        return false;
    }
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT, .data.u64 = c->index};
    if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->fd, &e) < 0) {
        redis_conn_stop(c, now, strerror(errno));
        return false;
    }
    c->wants_write = true;
    c->state = REDIS_CONN_CONNECTING;
    c->reader = redisReaderCreate();
    if (c->tls_context)
        c->tls = redis_tls_new(c->tls_context, c->host);
    return true;
}

/* Growing by doubling; `plain` keeps its memory for the next batch. */
static void conn_add(struct redis_conn *c, const char *bytes, size_t n)
{
    array_reserve(&c->plain, c->plain.n + n);
    if (n)
        memcpy(c->plain.at + c->plain.n, bytes, n);
    c->plain.n += n;
}

/* RESP: an array of bulk strings, so arguments may be any bytes. */
void redis_conn_command(struct redis_conn *c, struct redis_conn_mark mark, size_t n,
                        const char *const *args, const size_t *lengths)
{
    char head[32];
    conn_add(c, head, (size_t)snprintf(head, sizeof head, "*%zu\r\n", n));
    for (size_t i = 0; i < n; i++) {
        conn_add(c, head, (size_t)snprintf(head, sizeof head, "$%zu\r\n", lengths[i]));
        conn_add(c, args[i], lengths[i]);
        conn_add(c, "\r\n", 2);
    }
    array_push(&c->open, mark);
}

/* epoll is asked only when the wish changes: most flushes go out at once. */
static void conn_want_write(struct redis_conn *c, bool want)
{
    if (want == c->wants_write)
        return;
    struct epoll_event e = {.events = EPOLLIN | (want ? EPOLLOUT : 0), .data.u64 = c->index};
    epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->fd, &e);
    c->wants_write = want;
}

/* What OpenSSL has made for the server, until there is no more. */
static void conn_take_ciphered(struct redis_conn *c)
{
    for (size_t got = 1; got;) {
        array_reserve(&c->out, c->out.n + 16384);
        got = redis_tls_take(c->tls, c->out.at + c->out.n, c->out.cap - c->out.n);
        c->out.n += got;
    }
}

bool redis_conn_flush(struct redis_conn *c)
{
    if (c->state <= REDIS_CONN_CONNECTING)
        return true;
    if (c->tls && c->state >= REDIS_CONN_GREETING && c->plain.n) {
        if (!redis_tls_write(c->tls, c->plain.at, c->plain.n))
            return conn_lost(c, "the TLS session ended");
        c->plain.n = 0;
    }
    if (c->tls) {
        conn_take_ciphered(c);
    } else if (c->plain.n && c->out_at == c->out.n) { /* nothing before it: as it is */
        __typeof__(c->out) swap = c->out;
        c->out.at = c->plain.at, c->out.n = c->plain.n, c->out.cap = c->plain.cap;
        c->plain.at = swap.at, c->plain.cap = swap.cap, c->plain.n = 0;
        c->out_at = 0;
    } else if (c->plain.n) {
        array_reserve(&c->out, c->out.n + c->plain.n);
        memcpy(c->out.at + c->out.n, c->plain.at, c->plain.n);
        c->out.n += c->plain.n;
        c->plain.n = 0;
    }
    while (c->out_at < c->out.n) {
        ssize_t put = send(c->fd, c->out.at + c->out_at, c->out.n - c->out_at, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno != EAGAIN)
            return conn_lost(c, strerror(errno));
        if (put < 0)
            break;
        c->out_at += (size_t)put;
        c->sent += (uint64_t)put;
    }
    /* all is out; after a large text the memory goes too */
    if (c->out_at == c->out.n) {
        c->out.n = c->out_at = 0;
        if (c->out.cap > KEEP_SIZE)
            array_free(&c->out);
    }
    conn_want_write(c, c->out.n > 0);
    return true;
}

/* Plain bytes into the parser of replies. */
static bool conn_feed(struct redis_conn *c, const char *bytes, size_t n)
{
    if (redisReaderFeed(c->reader, bytes, n) == REDIS_OK)
        return true;
    return conn_lost(c, c->reader->errstr);
}

/* Ciphered bytes in, as many plain ones as they give out of it. */
static bool conn_feed_ciphered(struct redis_conn *c, const char *bytes, size_t n)
{
    char plain[16384];
    redis_tls_feed(c->tls, bytes, n);
    if (c->state == REDIS_CONN_SHAKING)
        return true;
    for (;;) {
        long got = redis_tls_read(c->tls, plain, sizeof plain);
        if (got < 0)
            return conn_lost(c, "the TLS session ended");
        if (!got)
            return true;
        if (!conn_feed(c, plain, (size_t)got))
            return false;
    }
}

/* One step of the handshake; at its end the state becomes GREETING. */
static bool conn_shake(struct redis_conn *c)
{
    char why[160];
    int done = redis_tls_shake(c->tls, why, sizeof why);
    conn_take_ciphered(c);
    c->stranger = done < 0 && redis_tls_is_stranger(c->tls);
    if (done < 0) {
        snprintf(c->why, sizeof c->why, "TLS: %s", why);
        return false;
    }
    if (done) {
        c->state = REDIS_CONN_GREETING;
        return conn_feed_ciphered(c, "", 0); /* what came with the last message of the handshake */
    }
    return true;
}

bool redis_conn_move(struct redis_conn *c, double now)
{
    char bytes[READ_SIZE];
    if (c->state == REDIS_CONN_CONNECTING) {
        int error = 0;
        socklen_t size = sizeof error;
        if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error)
            return conn_lost(c, strerror(error ? error : errno));
        c->state = c->tls ? REDIS_CONN_SHAKING : REDIS_CONN_GREETING;
        c->since = now;
        if (c->tls && !conn_shake(c))
            return false;
        return redis_conn_flush(c);
    }
    for (;;) {
        ssize_t got = recv(c->fd, bytes, sizeof bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            break;
        /* a server with a TLS port alone closes at the first plain byte */
        if (got <= 0 && !c->tls && c->state == REDIS_CONN_GREETING)
            return conn_lost(c, "the server hung up at the first word (TLS only? then rediss://)");
        if (got < 0)
            return conn_lost(c, strerror(errno));
        if (!got)
            return conn_lost(c, "the server closed the connection");
        c->since = now;
        c->received += (uint64_t)got;
        if (!(c->tls ? conn_feed_ciphered(c, bytes, (size_t)got)
                     : conn_feed(c, bytes, (size_t)got)))
            return false;
        if (c->state == REDIS_CONN_SHAKING && !conn_shake(c)) {
            redis_conn_flush(c); /* the alert that tells the server why */
            return false;
        }
        /* less than asked for: the socket is empty, another call would only say so */
        if ((size_t)got < sizeof bytes)
            break;
    }
    return redis_conn_flush(c);
}

/* Replies come in the order of commands (I2), so the oldest mark is this one's. */
redisReply *redis_conn_reply(struct redis_conn *c, struct redis_conn_mark *mark, bool *lost)
{
    void *reply = NULL;
    if (!c->reader || c->state < REDIS_CONN_GREETING)
        return NULL;
    if (redisReaderGetReply(c->reader, &reply) != REDIS_OK || (reply && c->open_at == c->open.n)) {
        *lost = true;
        snprintf(c->why, sizeof c->why, "this is not a Redis server: %.128s",
                 c->reader->err ? c->reader->errstr : "it speaks unasked");
        if (reply)
            freeReplyObject(reply);
        return NULL;
    }
    if (!reply)
        return NULL;
    *mark = c->open.at[c->open_at++];
    if (c->open_at == c->open.n)
        c->open.n = c->open_at = 0;
    return reply;
}
