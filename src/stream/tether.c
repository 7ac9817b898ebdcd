/* Sealed connections for threads that wait. Sockets do not block: waiting is poll(), in steps of a tenth of
 * a second, so that a stream that is stopped leaves. */
#include "stream/tether.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TETHER_VERSION = 1,            /* of what helpers and streams say to each other */
    TETHER_READ = 1 << 16,         /* bytes at once, where no large frame has begun */
    TETHER_QUEUE = 1 << 18,        /* bytes: then they are sent, not queued */
    TETHER_FRAME = SEAL_FRAME_MAX, /* a larger piece goes in several */
};

struct tether {
    int fd;
    struct seal *seal;
    const atomic_int *halt;
    double deadline; /* of the shaking of hands; INFINITY after it */
    struct strbuf out;
    char *room; /* TETHER_READ bytes */
    size_t fresh;
    bool failed, open;
};

/* ---- waiting ---- */

/* False: it will not come, or nobody wants it any more. */
static bool tether_wait(struct tether *t, short events)
{
    for (;;) {
        struct pollfd p = {.fd = t->fd, .events = events};
        if (t->halt && atomic_load_explicit(t->halt, memory_order_relaxed) >= 2)
            return false;
        if (clock_seconds() > t->deadline)
            return false;
        int n = poll(&p, 1, 100);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}

/* All of it, however long the other end takes. */
bool tether_flush(struct tether *t)
{
    size_t done = 0;
    while (done < t->out.n && !t->failed) {
        ssize_t n = send(t->fd, t->out.at + done, t->out.n - done, MSG_NOSIGNAL);
        if (n > 0)
            done += (size_t)n;
        else if (n < 0 && (errno == EAGAIN || errno == EINTR))
            t->failed = !tether_wait(t, POLLOUT);
        else
            t->failed = true;
    }
    strbuf_clear(&t->out);
    return !t->failed;
}

/* Bytes, as many as there are: into the frame that has begun, where it is a large one. */
static bool tether_read(struct tether *t)
{
    while (!t->failed) {
        size_t want = 0;
        char *room = seal_room(t->seal, &want);
        ssize_t n = recv(t->fd, room ? room : t->room, room ? want : TETHER_READ, 0);
        if (n > 0 && room)
            seal_filled(t->seal, (size_t)n);
        else if (n > 0)
            t->fresh = (size_t)n;
        if (n > 0)
            return true;
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            t->failed = !tether_wait(t, POLLIN);
        else
            t->failed = true;
    }
    return false;
}

/* ---- frames ---- */

/* Until a frame is there, or, while hands are shaken, until they are. */
static bool tether_advance(struct tether *t, const void **frame, size_t *n, struct error *err)
{
    while (!t->failed) {
        size_t fresh = t->fresh;
        t->fresh = 0;
        enum seal_progress p = seal_take(t->seal, t->room, fresh, &t->out, frame, n, err);
        if (p == SEAL_FRAME)
            return true;
        if (p == SEAL_OPEN) {
            t->open = true;
            return tether_flush(t);
        }
        if (p == SEAL_BROKEN) {
            tether_flush(t); /* a refusal, that says why */
            t->failed = true;
        } else if (tether_flush(t)) {
            tether_read(t);
        }
    }
    return false;
}

/* What is wrong with a frame is nobody's business but the log's, and there is none here: it failed. */
bool tether_take(struct tether *t, const void **frame, size_t *n)
{
    struct error ignored = {0};
    return tether_advance(t, frame, n, &ignored);
}

bool tether_fill(struct tether *t, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        const void *frame;
        size_t size;
        if (!tether_take(t, &frame, &size) || size > n - done)
            return false;
        memcpy((char *)to + done, frame, size);
        done += size;
    }
    return true;
}

/* Pieces of at most a frame; no more than a few of them stand in the queue. */
bool tether_put(struct tether *t, const void *data, size_t n)
{
    for (size_t done = 0; done < n && !t->failed;) {
        size_t piece = n - done < TETHER_FRAME ? n - done : TETHER_FRAME;
        seal_frame(t->seal, NULL, 0, (const char *)data + done, piece, &t->out);
        done += piece;
        if (t->out.n > TETHER_QUEUE)
            tether_flush(t);
    }
    return !t->failed;
}

/* ---- opening and closing ---- */

/* Keep-alives: an item may take an hour, in which nothing is said, and a dead machine must be noticed, as
 * soon as the cluster does (its lease is 5 s). The systems answer each other: a process that stands still,
 * or a machine under load, is not taken for dead. */
static void tether_set_up(int fd)
{
    int on = 1, idle = 2, interval = 1, count = 3, most = 5000;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
}

struct tether *tether_open(int fd, const struct seal_key *key, const char *self, bool caller,
                           double patience, const atomic_int *halt, struct error *err)
{
    struct tether *t = mem_new_zero(struct tether, 1);
    struct seal_names names = {"weft stream", self, caller ? "stream" : NULL};
    const void *frame;
    size_t n;
    tether_set_up(fd);
    t->fd = fd;
    t->halt = halt;
    t->deadline = clock_seconds() + patience;
    t->room = mem_new(char, TETHER_READ);
    t->seal = seal_new(key, caller, TETHER_VERSION, WEFT_VERSION, &names);
    seal_begin(t->seal, &t->out);
    if (tether_flush(t) && tether_advance(t, &frame, &n, err) && t->open) {
        t->deadline = INFINITY;
        return t;
    }
    if (err && err->kind == ERROR_NONE)
        error_set(err, ERROR_FAILED, "the other end did not answer, or does not know the key");
    tether_close(t);
    return NULL;
}

void tether_close(struct tether *t)
{
    if (!t)
        return;
    close(t->fd);
    seal_free(t->seal);
    strbuf_free(&t->out);
    free(t->room);
    free(t);
}

const char *tether_other(const struct tether *t)
{
    return seal_other(t->seal);
}

bool tether_is_gone(const struct tether *t)
{
    char byte;
    ssize_t n = recv(t->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* ---- addresses ---- */

/* HOST:PORT or [HOST]:PORT into its parts. */
static bool tether_split(const char *text, size_t n, char host[256], char port[16])
{
    size_t colon = n;
    while (colon > 0 && text[colon - 1] != ':')
        colon--;
    if (!colon || n - colon >= 16 || n == colon)
        return false;
    size_t first = 0, last = colon - 1;
    if (last > 1 && text[0] == '[' && text[last - 1] == ']') {
        first++;
        last--;
    }
    if (last <= first || last - first >= 256)
        return false;
    memcpy(host, text + first, last - first);
    host[last - first] = 0;
    memcpy(port, text + colon, n - colon);
    port[n - colon] = 0;
    return true;
}

/* Within three seconds: of several addresses of a machine some may lead nowhere. */
static int tether_try(const struct addrinfo *at)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int reason = 0;
    socklen_t size = sizeof reason;
    if (fd < 0)
        return -1;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (connect(fd, at->ai_addr, at->ai_addrlen) == 0 ||
        (errno == EINPROGRESS && poll(&p, 1, 3000) == 1 &&
         getsockopt(fd, SOL_SOCKET, SO_ERROR, &reason, &size) == 0 && reason == 0))
        return fd;
    close(fd);
    return -1;
}

/* In their order: those of a network come before the loopback's. */
int tether_connect(const char *addresses, struct error *err)
{
    for (const char *at = addresses; *at;) {
        size_t n = strcspn(at, ",");
        char host[256], port[16];
        struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
        int fd = -1;
        if (tether_split(at, n, host, port) && getaddrinfo(host, port, &hints, &found) == 0) {
            for (struct addrinfo *i = found; i && fd < 0; i = i->ai_next)
                fd = tether_try(i);
            freeaddrinfo(found);
        }
        if (fd >= 0)
            return fd;
        at += n + (at[n] == ',');
    }
    error_set(err, ERROR_FAILED, "nobody answers at %.400s", addresses);
    return -1;
}

/* All that are up; the loopback's last. */
static void tether_add_own(struct strbuf *addresses, unsigned port)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (struct ifaddrs *i = all; i; i = i->ifa_next) {
        char host[NI_MAXHOST];
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !(i->ifa_flags & IFF_UP) ||
            i->ifa_flags & IFF_LOOPBACK ||
            getnameinfo(i->ifa_addr, sizeof(struct sockaddr_in), host, sizeof host, NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        strbuf_printf(addresses, "%s:%u,", host, port);
    }
    strbuf_printf(addresses, "127.0.0.1:%u", port);
    if (all)
        freeifaddrs(all);
}

/* One socket; IPv4 where nothing else was asked for, as agents have it. */
int tether_listen(const char *bind_to, struct strbuf *addresses, struct error *err)
{
    char host[256] = "0.0.0.0", port[16] = "0";
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
    int fd = -1, on = 1;
    struct sockaddr_in6 own = {0}; /* large enough for both families */
    socklen_t size = sizeof own;
    if (bind_to && !tether_split(bind_to, strlen(bind_to), host, port)) {
        error_set(err, ERROR_INPUT, "'%.200s': expected HOST:PORT", bind_to);
        return -1;
    }
    int reason = getaddrinfo(host, port, &hints, &found);
    if (reason == 0) {
        fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0)
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (fd >= 0 && (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 128) != 0 ||
                        getsockname(fd, (struct sockaddr *)&own, &size) != 0)) {
            close(fd);
            fd = -1;
        }
        freeaddrinfo(found);
    }
    if (fd < 0) {
        error_set(err, ERROR_FAILED, "cannot listen at %s:%s for helpers: %s", host, port,
                  reason ? gai_strerror(reason) : strerror(errno));
        return -1;
    }
    unsigned number = ntohs(own.sin6_port); /* where sockaddr_in has it, too */
    if (bind_to)
        strbuf_printf(addresses, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, number);
    else
        tether_add_own(addresses, number);
    return fd;
}
