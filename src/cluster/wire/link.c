/* A link's life:
 *
 *     LOOKING_UP ─▶ CONNECTING ─▶ SHAKING ─▶ OPEN ─▶ LEAVING ─▶ CLOSING ─▶ told, freed
 *     (a name)      (caller)      ▲ accepted         (in order)   ▲
 *                                 └──────────────────────────────┴── anything that goes wrong
 *
 * LEAVING: we closed in order. What is queued and a sealed goodbye are sent, then the end of the
 * stream; what still comes is thrown away until the other end closes too. A stream that ends
 * without a goodbye was cut, by a crash or by somebody in between.
 *
 * Messages are sealed into `out` when they are sent, or kept in `early` until the hands are shaken.
 * An idle handle, active only while some link has something to write, writes it all once a turn of
 * the loop; it also keeps the loop from sleeping before that. */
#include "cluster/wire/link_state.h"

#include "base/bytes.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_MAX ((size_t)256 << 20) /* who does not read this much is given up */
#define KEPT_MAX ((size_t)1 << 20)    /* a buffer that grew larger is given back when empty */

enum { KIND_OWN = 0, GOODBYE = 1 }; /* kind 0: empty "still here", or one byte */

static void write_some(struct link *l);
static void try_next(struct link *l);
static void flush_all(uv_idle_t *h);

/* ---- the end of a link ---- */

static void link_remove(struct link *l)
{
    struct links *all = l->all;
    if (l->before)
        l->before->after = l->after;
    else
        all->first = l->after;
    if (l->after)
        l->after->before = l->before;
    if (l->dirty) {
        struct link **at = &all->dirty;
        while (*at != l)
            at = &(*at)->next_dirty;
        *at = l->next_dirty;
    }
    if (l->found)
        uv_freeaddrinfo(l->found);
    seal_free(l->seal);
    strbuf_free(&l->busy);
    strbuf_free(&l->out);
    strbuf_free(&l->early);
    free(l->why);
    free(l);
    links_over(all);
}

/* Tell, and free unless the resolver still has the request. */
static void link_over(struct link *l)
{
    struct links *all = l->all;
    if (!l->told) {
        l->told = true;
        if (l->accepted)
            all->accepted--;
        if (all->config.closed)
            all->config.closed(all->config.context, l, l->why ? l->why : "");
    }
    if (!l->looking)
        link_remove(l);
}

static void tcp_closed(uv_handle_t *h)
{
    struct link *l = h->data;
    l->has_tcp = false;
    if (l->state == LINK_CLOSING)
        link_over(l);
    else
        try_next(l);
}

/* The handle is closed, or there never was one: a handle of its own brings us back from the loop,
 * so that nobody is told from within his own call. */
void link_end(struct link *l)
{
    l->state = LINK_CLOSING;
    if (l->looking)
        uv_cancel((uv_req_t *)&l->lookup);
    if (!l->has_tcp) {
        uv_tcp_init(l->all->config.loop, &l->tcp);
        l->tcp.data = l;
        l->has_tcp = true;
    }
    if (!uv_is_closing((uv_handle_t *)&l->tcp))
        uv_close((uv_handle_t *)&l->tcp, tcp_closed);
}

void link_fail(struct link *l, bool refused, const char *fmt, ...)
{
    if (l->state == LINK_CLOSING)
        return;
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    free(l->why);
    l->why = mem_copy_string(text);
    if (refused) {
        l->all->counts.refused++;
        links_say(l->all, l->address, text);
    }
    link_end(l);
}

/* ---- writing ---- */

static void make_dirty(struct link *l)
{
    struct links *all = l->all;
    if (l->dirty)
        return;
    l->dirty = true;
    l->next_dirty = all->dirty;
    if (!all->dirty && !uv_is_active((uv_handle_t *)&all->flush))
        uv_idle_start(&all->flush, flush_all);
    all->dirty = l;
}

static void strbuf_empty(struct strbuf *b)
{
    if (b->cap > KEPT_MAX)
        strbuf_free(b);
    else
        strbuf_clear(b);
}

static void seal_message(struct link *l, uint8_t kind, const void *head, size_t nhead,
                         const void *body, size_t nbody)
{
    struct strbuf *front = &l->all->scratch;
    strbuf_clear(front);
    bytes_put_u8(front, kind);
    bytes_put(front, head, nhead);
    seal_frame(l->seal, front->at, front->n, body, nbody, &l->out);
    l->said = links_now(l->all);
    make_dirty(l);
}

static void shutdown_done(uv_shutdown_t *r, int status)
{
    struct link *l = r->data;
    if (status < 0 && l->state == LINK_LEAVING)
        link_end(l);
}

/* All that was queued has gone to the system. */
static void all_written(struct link *l)
{
    struct links *all = l->all;
    if (l->state == LINK_LEAVING && !l->ended) {
        l->ended = true;
        l->shutdown.data = l;
        if (uv_shutdown(&l->shutdown, (uv_stream_t *)&l->tcp, shutdown_done) < 0)
            link_end(l);
    } else if (l->state == LINK_OPEN && all->config.drained) {
        all->config.drained(all->config.context, l);
    }
}

static void write_failed(struct link *l, int status)
{
    if (l->state == LINK_LEAVING)
        link_end(l); /* they are gone already, as we wanted */
    else
        link_fail(l, false, "cannot be written to: %s", uv_strerror(status));
}

static void write_done(uv_write_t *r, int status)
{
    struct link *l = r->data;
    l->writing = false;
    l->all->counts.sent += status < 0 ? 0 : l->busy.n - l->written;
    strbuf_empty(&l->busy);
    if (l->state == LINK_CLOSING)
        return;
    if (status < 0) {
        write_failed(l, status);
        return;
    }
    if (l->state == LINK_LEAVING)
        l->since = links_now(l->all);
    l->said = links_now(l->all);
    if (l->out.n)
        write_some(l);
    else
        all_written(l);
}

/* As much as the system takes at once; the rest goes when it can. */
static void write_some(struct link *l)
{
    if (l->writing || l->out.n == 0 || l->state == LINK_CLOSING || l->state < LINK_SHAKING)
        return;
    uv_stream_t *stream = (uv_stream_t *)&l->tcp;
    uv_buf_t all = uv_buf_init(l->out.at, (unsigned)l->out.n);
    int n = uv_try_write(stream, &all, 1);
    if (n < 0 && n != UV_EAGAIN) {
        write_failed(l, n);
        return;
    }
    size_t gone = n > 0 ? (size_t)n : 0;
    l->all->counts.sent += gone;
    if (gone == l->out.n) {
        strbuf_empty(&l->out);
        all_written(l);
        return;
    }
    struct strbuf spare = l->busy;
    l->busy = l->out;
    l->out = spare;
    l->written = gone;
    l->writing = true;
    l->write.data = l;
    uv_buf_t rest = uv_buf_init(l->busy.at + gone, (unsigned)(l->busy.n - gone));
    int status = uv_write(&l->write, stream, &rest, 1, write_done);
    if (status < 0) {
        l->writing = false;
        write_failed(l, status);
    }
}

static void flush_all(uv_idle_t *h)
{
    struct links *all = h->data;
    /* those who become dirty meanwhile (in `drained`) have their turn in the next one */
    struct link *l = all->dirty;
    all->dirty = NULL;
    while (l) {
        struct link *next = l->next_dirty;
        l->dirty = false;
        write_some(l);
        l = next;
    }
    if (!all->dirty)
        uv_idle_stop(&all->flush);
}

size_t link_queued(const struct link *l)
{
    size_t busy = l->writing ? uv_stream_get_write_queue_size((const uv_stream_t *)&l->tcp) : 0;
    return busy + l->out.n + l->early.n;
}

void link_send(struct link *l, uint8_t kind, const void *head, size_t nhead, const void *body,
               size_t nbody)
{
    if (l->state >= LINK_LEAVING || l->leave || kind == KIND_OWN)
        return;
    if (nhead > LINK_MESSAGE_MAX || nbody > LINK_MESSAGE_MAX - nhead) {
        link_fail(l, false, "a message of %zu bytes was to be sent; at most %d are possible",
                  nhead + nbody, LINK_MESSAGE_MAX);
        return;
    }
    if (link_queued(l) > QUEUE_MAX) {
        link_fail(l, true, "it does not read: %zu bytes are waiting for it", link_queued(l));
        return;
    }
    if (l->state == LINK_OPEN) {
        seal_message(l, kind, head, nhead, body, nbody);
    } else {
        bytes_put_u32(&l->early, (uint32_t)(nhead + nbody));
        bytes_put_u8(&l->early, kind);
        bytes_put(&l->early, head, nhead);
        bytes_put(&l->early, body, nbody);
    }
}

void link_still_here(struct link *l)
{
    seal_message(l, KIND_OWN, NULL, 0, NULL, 0);
}

static void send_early(struct link *l)
{
    struct bytes in = {.at = l->early.at, .n = l->early.n};
    while (in.n) {
        size_t n = bytes_u32(&in);
        uint8_t kind = bytes_u8(&in);
        seal_message(l, kind, bytes_take(&in, n), n, NULL, 0);
    }
    strbuf_free(&l->early);
}

static void leave(struct link *l)
{
    l->state = LINK_LEAVING;
    l->since = links_now(l->all);
    seal_message(l, KIND_OWN, &(uint8_t){GOODBYE}, 1, NULL, 0);
}

void link_close(struct link *l, const char *why)
{
    bool orderly = !why || !*why;
    if (l->state == LINK_CLOSING || (orderly && (l->state == LINK_LEAVING || l->leave)))
        return;
    if (!orderly)
        link_fail(l, false, "%s", why);
    else if (l->state == LINK_OPEN)
        leave(l);
    else if (l->early.n)
        l->leave = true;
    else
        link_fail(l, false, "%s", "");
}

/* ---- reading ---- */

static void give_buffer(uv_handle_t *h, size_t wanted, uv_buf_t *buffer)
{
    struct link *l = h->data;
    (void)wanted;
    *buffer = uv_buf_init(l->all->read, LINK_READ_SIZE);
}

static void hands_shaken(struct link *l)
{
    struct links *all = l->all;
    l->state = LINK_OPEN;
    if (!l->leave && all->config.open)
        all->config.open(all->config.context, l);
    if (l->state == LINK_OPEN && l->leave)
        leave(l);
}

static void take_message(struct link *l, const uint8_t *frame, size_t n)
{
    struct links *all = l->all;
    if (n == 0) {
        link_fail(l, true, "garbage: a message without a kind");
    } else if (frame[0] != KIND_OWN) {
        if (all->config.message)
            all->config.message(all->config.context, l, frame[0], frame + 1, n - 1);
    } else if (n == 2 && frame[1] == GOODBYE) {
        link_fail(l, false, "%s", "");
    } else if (n != 1) {
        link_fail(l, true, "garbage: a message of no known kind");
    }
}

static void take_bytes(struct link *l, const void *data, size_t n)
{
    struct error err = {0};
    while (l->state == LINK_SHAKING || l->state == LINK_OPEN) {
        const void *frame = NULL;
        size_t size = 0;
        size_t before = l->out.n;
        enum seal_progress p = seal_take(l->seal, data, n, &l->out, &frame, &size, &err);
        data = NULL;
        n = 0;
        if (l->out.n > before)
            make_dirty(l);
        switch (p) {
        case SEAL_MORE:
            return;
        case SEAL_OPEN:
            send_early(l);
            hands_shaken(l);
            break;
        case SEAL_FRAME:
            take_message(l, frame, size);
            break;
        case SEAL_BROKEN:
            if (l->out.n && !l->writing) /* a refusal: it goes at once, or not */
                uv_try_write((uv_stream_t *)&l->tcp,
                             &(uv_buf_t){.base = l->out.at, .len = l->out.n}, 1);
            link_fail(l, true, "%s", err.text);
            return;
        }
    }
}

static void stream_ended(struct link *l, int status)
{
    if (l->state == LINK_LEAVING) {
        link_end(l);
    } else if (!seal_is_open(l->seal)) {
        const char *why = status == UV_EOF ? "it closed" : uv_strerror(status);
        if (l->caller)
            link_fail(l, false, "%s before hands were shaken: it has another key, or no room", why);
        else
            link_fail(l, true, "truncated: %s before it had proved the key", why);
    } else if (!seal_at_rest(l->seal)) {
        link_fail(l, true, "truncated: the stream ended within a message");
    } else {
        const char *why = status == UV_EOF ? "gone without a goodbye: it crashed, or was cut off"
                                           : uv_strerror(status);
        links_say(l->all, l->address, why);
        link_fail(l, false, "%s", why);
    }
}

static void got_bytes(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
    struct link *l = stream->data;
    if (l->state == LINK_CLOSING || n == 0)
        return;
    if (n < 0) {
        uv_read_stop(stream);
        stream_ended(l, (int)n);
        return;
    }
    l->all->counts.received += (uint64_t)n;
    l->heard = links_now(l->all);
    take_bytes(l, buffer->base, (size_t)n);
}

/* ---- beginning ---- */

struct link *link_make(struct links *all, bool caller)
{
    struct link *l = mem_new_zero(struct link, 1);
    l->all = all;
    l->caller = caller;
    l->seal = seal_new(&all->config.key, caller, LINK_VERSION, WEFT_VERSION, all->hello);
    /* the loop's idea of now may be old when we are not called from it */
    uv_update_time(all->config.loop);
    l->since = l->heard = l->said = links_now(all);
    l->after = all->first;
    if (l->after)
        l->after->before = l;
    all->first = l;
    links_wind_clock(all);
    return l;
}

void link_begin(struct link *l)
{
    l->state = LINK_SHAKING;
    l->heard = links_now(l->all);
    uv_tcp_nodelay(&l->tcp, 1);
    seal_begin(l->seal, &l->out);
    int status = uv_read_start((uv_stream_t *)&l->tcp, give_buffer, got_bytes);
    if (status < 0) {
        link_fail(l, false, "cannot be read: %s", uv_strerror(status));
        return;
    }
    write_some(l);
}

static void connect_done(uv_connect_t *r, int status)
{
    struct link *l = r->data;
    if (l->state != LINK_CONNECTING)
        return;
    if (status == 0) {
        link_begin(l);
    } else if (l->next) {
        uv_close((uv_handle_t *)&l->tcp, tcp_closed);
    } else {
        link_fail(l, false, "cannot be reached: %s", uv_strerror(status));
    }
}

static void connect_to(struct link *l, const struct sockaddr *a)
{
    l->state = LINK_CONNECTING;
    int status = uv_tcp_init(l->all->config.loop, &l->tcp);
    l->tcp.data = l;
    l->has_tcp = true;
    l->connect.data = l;
    if (status == 0)
        status = uv_tcp_connect(&l->connect, &l->tcp, a, connect_done);
    if (status == 0)
        return;
    if (l->next)
        uv_close((uv_handle_t *)&l->tcp, tcp_closed);
    else
        link_fail(l, false, "cannot be reached: %s", uv_strerror(status));
}

/* A name may stand for several addresses: the next one. */
static void try_next(struct link *l)
{
    const struct addrinfo *one = l->next;
    l->next = l->next->ai_next;
    connect_to(l, one->ai_addr);
}

static void looked_up(uv_getaddrinfo_t *r, int status, struct addrinfo *found)
{
    struct link *l = r->data;
    l->looking = false;
    l->found = l->next = found;
    if (l->state == LINK_CLOSING) {
        if (l->told)
            link_remove(l);
    } else if (status < 0 || !found) {
        link_fail(l, false, "no such host: %s", uv_strerror(status));
    } else {
        try_next(l);
    }
}

struct link *link_connect(struct links *all, const char *address)
{
    if (all->freeing)
        return NULL;
    struct link *l = link_make(all, true);
    char host[256], service[16];
    int port = 0;
    snprintf(l->address, sizeof l->address, "%s", address);
    struct sockaddr_storage a = {0};
    if (!links_split(address, host, sizeof host, &port)) {
        link_fail(l, false, "'%s' is no address: HOST:PORT or [IPV6]:PORT is one", address);
    } else if (uv_ip4_addr(host, port, (struct sockaddr_in *)(void *)&a) == 0 ||
               uv_ip6_addr(host, port, (struct sockaddr_in6 *)(void *)&a) == 0) {
        connect_to(l, (const struct sockaddr *)&a);
    } else {
        struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
        snprintf(service, sizeof service, "%d", port);
        l->lookup.data = l;
        int status = uv_getaddrinfo(all->config.loop, &l->lookup, looked_up, host, service, &hints);
        l->looking = status == 0;
        if (status < 0)
            link_fail(l, false, "no such host: %s", uv_strerror(status));
    }
    return l;
}
bool link_is_open(const struct link *l)
{
    return l->state == LINK_OPEN;
}

bool link_is_caller(const struct link *l)
{
    return l->caller;
}

const char *link_hello(const struct link *l)
{
    return seal_hello(l->seal);
}

const char *link_address(const struct link *l)
{
    return l->address;
}

void link_set_data(struct link *l, void *data)
{
    l->data = data;
}

void *link_data(const struct link *l)
{
    return l->data;
}
