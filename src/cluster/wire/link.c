/* One link, from the first byte to the last. Its states and what leads from one to the next
 * stand in link_machine.h.
 *
 * Invariants:
 *   I1. Only link_change() sets `state`.
 *   I2. `closed` of the owner is called once, from the loop and never from within a call of his
 *       own: always out of link_released(), which the loop calls after uv_close().
 *   I3. A link is freed after `closed` returned and the resolver has let go of `lookup`.
 *   I4. Messages are sealed in the order in which they were sent. Before the handshake they wait in
 *       `early`, unsealed; from then on they are sealed into `out` at once. `busy` belongs to the
 *       system while `writing`.
 *   I5. A stream that ends without a sealed goodbye was cut, by a crash or by somebody in between,
 *       and the owner is told so.
 *   I6. After link_fail() nothing of the link is read or written any more; callers return at once.
 *
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

static void link_write_some(struct link *l);
static void link_try_next(struct link *l);
static void links_flush(uv_idle_t *h);

/* ---- states ---- */

/* False: the event means nothing now. */
static bool link_change(struct link *l, enum link_event event)
{
    enum link_state next = link_next(l->state, event);
    if (next == LINK_STATES)
        return false;
    if (l->all->config.trace) {
        char line[400];
        snprintf(line, sizeof line, "%s: %s -> %s (%s)", l->address, link_state_name(l->state),
                 link_state_name(next), link_event_name(event));
        l->all->config.trace(l->all->config.context, line);
    }
    l->state = next;
    return true;
}

/* We have closed it in order, and wait for the other end. */
static bool link_is_leaving(const struct link *l)
{
    return l->state == LINK_DRAINING || l->state == LINK_HALF_CLOSED;
}

/* ---- the end of a link ---- */

/* Out of both lists, and freed. The last thing that happens to a link; `all` may go with it. */
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

static void link_released(uv_handle_t *h)
{
    struct link *l = h->data;
    struct links *all = l->all;
    l->has_tcp = false;
    if (!link_change(l, LINK_RELEASED)) { /* one address was in vain */
        link_try_next(l);
        return;
    }
    if (l->accepted)
        all->accepted--;
    if (all->config.closed)
        all->config.closed(all->config.context, l, l->why ? l->why : "");
    if (!l->resolving)
        link_remove(l);
}

/* When there is no handle, one is made and closed: it brings us back from the loop (I2). */
void link_end(struct link *l)
{
    if (!link_change(l, LINK_END))
        return;
    if (l->resolving)
        uv_cancel((uv_req_t *)&l->lookup);
    if (!l->has_tcp) {
        uv_tcp_init(l->all->config.loop, &l->tcp);
        l->tcp.data = l;
        l->has_tcp = true;
    }
    if (!uv_is_closing((uv_handle_t *)&l->tcp))
        uv_close((uv_handle_t *)&l->tcp, link_released);
}

/* The first reason stays: what goes wrong while a link is being closed is a consequence. */
void link_fail(struct link *l, bool refused, const char *fmt, ...)
{
    if (l->state >= LINK_CLOSING)
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
        links_log(l->all, l->address, text);
    }
    link_end(l);
}

/* ---- writing ---- */

/* It has something to write: the idle handle will, at the end of this turn. O(1). */
static void link_make_dirty(struct link *l)
{
    struct links *all = l->all;
    if (l->dirty)
        return;
    l->dirty = true;
    l->next_dirty = all->dirty;
    if (!all->dirty && !uv_is_active((uv_handle_t *)&all->flush))
        uv_idle_start(&all->flush, links_flush);
    all->dirty = l;
}

/* A link that once carried megabytes does not keep them for the heartbeats that follow. */
static void link_empty_buffer(struct strbuf *b)
{
    if (b->cap > KEPT_MAX)
        strbuf_free(b);
    else
        strbuf_clear(b);
}

/* One frame: the kind and the head are put together, the body is sealed from where it is, so that
 * the bytes of a file are copied once. */
static void link_seal_message(struct link *l, uint8_t kind, const void *head, size_t nhead,
                              const void *body, size_t nbody)
{
    struct strbuf *front = &l->all->scratch;
    strbuf_clear(front);
    bytes_put_u8(front, kind);
    bytes_put(front, head, nhead);
    seal_frame(l->seal, front->at, front->n, body, nbody, &l->out);
    l->sent_at = links_now(l->all);
    link_make_dirty(l);
}

/* Their end is waited for (link_stream_ended, or the clock); only a failure ends it here. */
static void link_shutdown_done(uv_shutdown_t *r, int status)
{
    struct link *l = r->data;
    if (status < 0 && link_is_leaving(l))
        link_end(l);
}

/* All that was queued has gone to the system. */
static void link_all_written(struct link *l)
{
    struct links *all = l->all;
    if (link_change(l, LINK_FLUSHED)) {
        l->shutdown.data = l;
        if (uv_shutdown(&l->shutdown, (uv_stream_t *)&l->tcp, link_shutdown_done) < 0)
            link_end(l);
    } else if (l->state == LINK_OPEN && all->config.drained) {
        all->config.drained(all->config.context, l);
    }
}

static void link_write_failed(struct link *l, int status)
{
    if (link_is_leaving(l))
        link_end(l); /* they are gone already, as we wanted */
    else
        link_fail(l, false, "cannot be written to: %s", uv_strerror(status));
}

/* What was left over of link_write_some() is gone; meanwhile more may have been sealed. */
static void link_write_done(uv_write_t *r, int status)
{
    struct link *l = r->data;
    l->writing = false;
    l->all->counts.sent += status < 0 ? 0 : l->busy.n - l->written;
    link_empty_buffer(&l->busy);
    if (l->state >= LINK_CLOSING)
        return;
    if (status < 0) {
        link_write_failed(l, status);
        return;
    }
    if (link_is_leaving(l))
        l->since = links_now(l->all);
    l->sent_at = links_now(l->all);
    if (l->out.n)
        link_write_some(l);
    else
        link_all_written(l);
}

/* As much as the system takes at once; the rest goes when it can. */
static void link_write_some(struct link *l)
{
    if (l->writing || l->out.n == 0 || l->state >= LINK_CLOSING || l->state < LINK_HANDSHAKING)
        return;
    uv_stream_t *stream = (uv_stream_t *)&l->tcp;
    uv_buf_t all = uv_buf_init(l->out.at, (unsigned)l->out.n);
    int n = uv_try_write(stream, &all, 1);
    if (n < 0 && n != UV_EAGAIN) {
        link_write_failed(l, n);
        return;
    }
    size_t gone = n > 0 ? (size_t)n : 0;
    l->all->counts.sent += gone;
    if (gone == l->out.n) {
        link_empty_buffer(&l->out);
        link_all_written(l);
        return;
    }
    struct strbuf spare = l->busy;
    l->busy = l->out;
    l->out = spare;
    l->written = gone;
    l->writing = true;
    l->write.data = l;
    uv_buf_t rest = uv_buf_init(l->busy.at + gone, (unsigned)(l->busy.n - gone));
    int status = uv_write(&l->write, stream, &rest, 1, link_write_done);
    if (status < 0) {
        l->writing = false;
        link_write_failed(l, status);
    }
}

/* Once a turn of the loop: many small messages of one turn go out in one write. */
static void links_flush(uv_idle_t *h)
{
    struct links *all = h->data;
    /* those who become dirty meanwhile (in `drained`) have their turn in the next one */
    struct link *l = all->dirty;
    all->dirty = NULL;
    while (l) {
        struct link *next = l->next_dirty;
        l->dirty = false;
        link_write_some(l);
        l = next;
    }
    if (!all->dirty)
        uv_idle_stop(&all->flush);
}

/* libuv counts what it still holds of `busy`. */
size_t link_queued(const struct link *l)
{
    size_t busy = l->writing ? uv_stream_get_write_queue_size((const uv_stream_t *)&l->tcp) : 0;
    return busy + l->out.n + l->early.n;
}

/* Before the handshake the message waits in `early` as u32 length, u8 kind, bytes: it cannot be
 * sealed without the keys of the session. */
void link_send(struct link *l, uint8_t kind, const void *head, size_t nhead, const void *body,
               size_t nbody)
{
    if (l->state >= LINK_DRAINING || l->close_when_open || kind == KIND_OWN)
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
        link_seal_message(l, kind, head, nhead, body, nbody);
    } else {
        bytes_put_u32(&l->early, (uint32_t)(nhead + nbody));
        bytes_put_u8(&l->early, kind);
        bytes_put(&l->early, head, nhead);
        bytes_put(&l->early, body, nbody);
    }
}

void link_keep_alive(struct link *l)
{
    link_seal_message(l, KIND_OWN, NULL, 0, NULL, 0);
}

/* The keys are there: seal what was sent before, in order (I4). */
static void link_send_early(struct link *l)
{
    struct bytes in = {.at = l->early.at, .n = l->early.n};
    while (in.n) {
        size_t n = bytes_u32(&in);
        uint8_t kind = bytes_u8(&in);
        link_seal_message(l, kind, bytes_take(&in, n), n, NULL, 0);
    }
    strbuf_free(&l->early);
}

/* The goodbye is sealed behind everything else: who reads it knows that nothing was cut (I5). */
static void link_leave(struct link *l)
{
    link_change(l, LINK_CLOSE);
    l->since = links_now(l->all);
    link_seal_message(l, KIND_OWN, &(uint8_t){GOODBYE}, 1, NULL, 0);
}

void link_close(struct link *l, const char *why)
{
    bool orderly = !why || !*why;
    if (l->state >= LINK_CLOSING || (orderly && (link_is_leaving(l) || l->close_when_open)))
        return;
    if (!orderly)
        link_fail(l, false, "%s", why);
    else if (l->state == LINK_OPEN)
        link_leave(l);
    else if (l->early.n)
        l->close_when_open = true;
    else
        link_fail(l, false, "%s", "");
}

/* ---- reading ---- */

/* All links read into one buffer: its bytes are taken before the next read, by link_take_bytes(). But
 * the rest of a large frame goes to where it is opened, so that files are not copied once more. */
static void link_give_buffer(uv_handle_t *h, size_t wanted, uv_buf_t *buffer)
{
    struct link *l = h->data;
    (void)wanted;
    size_t n = 0;
    char *room = seal_room(l->seal, &n);
    *buffer = room ? uv_buf_init(room, (unsigned)n) : uv_buf_init(l->all->read, LINK_READ_SIZE);
}

/* Both ends have proved the key. `open` may close the link: the state is looked at again. */
static void link_shaken(struct link *l)
{
    struct links *all = l->all;
    link_change(l, LINK_SHAKEN);
    if (!l->close_when_open && all->config.open)
        all->config.open(all->config.context, l);
    if (l->state == LINK_OPEN && l->close_when_open)
        link_leave(l);
}

/* One frame, decrypted. Kind 0 is the links' own: empty, or the goodbye. */
static void link_take_message(struct link *l, const uint8_t *frame, size_t n)
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

/* Feed the seal until it wants more. A handler may close the link at any frame, which ends the
 * loop; what is left of the bytes is then dropped with the seal. */
static void link_take_bytes(struct link *l, const void *data, size_t n)
{
    struct error err = {0};
    while (l->state == LINK_HANDSHAKING || l->state == LINK_OPEN) {
        const void *frame = NULL;
        size_t size = 0;
        size_t before = l->out.n;
        enum seal_progress p = seal_take(l->seal, data, n, &l->out, &frame, &size, &err);
        data = NULL;
        n = 0;
        if (l->out.n > before)
            link_make_dirty(l);
        switch (p) {
        case SEAL_MORE:
            return;
        case SEAL_OPEN:
            link_send_early(l);
            link_shaken(l);
            break;
        case SEAL_FRAME:
            link_take_message(l, frame, size);
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

/* The other end has closed, or the connection broke. Why tells people what to do: another key, a
 * crash, somebody in between. */
static void link_stream_ended(struct link *l, int status)
{
    if (link_is_leaving(l)) {
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
        links_log(l->all, l->address, why);
        link_fail(l, false, "%s", why);
    }
}

/* What comes on a link that is DRAINING or HALF_CLOSED only proves that they live. */
static void link_received(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
    struct link *l = stream->data;
    if (l->state >= LINK_CLOSING || n == 0)
        return;
    if (n < 0) {
        uv_read_stop(stream);
        link_stream_ended(l, (int)n);
        return;
    }
    l->all->counts.received += (uint64_t)n;
    l->received_at = links_now(l->all);
    if (buffer->base == l->all->read) {
        link_take_bytes(l, buffer->base, (size_t)n);
    } else {
        seal_filled(l->seal, (size_t)n);
        link_take_bytes(l, NULL, 0);
    }
}

/* ---- beginning ---- */

struct link *link_make(struct links *all, bool caller, const char *name)
{
    struct link *l = mem_new_zero(struct link, 1);
    l->all = all;
    l->caller = caller;
    l->seal = seal_new(&all->config.key, caller, LINK_VERSION, WEFT_VERSION,
                       &(struct seal_names){.realm = all->realm, .self = all->self, .other = name});
    /* the loop's idea of now may be old when we are not called from it */
    uv_update_time(all->config.loop);
    l->since = l->received_at = l->sent_at = links_now(all);
    l->after = all->first;
    if (l->after)
        l->after->before = l;
    all->first = l;
    links_start_clock(all);
    return l;
}

/* The caller's hello goes out at once, without waiting for the loop: it saves a turn on every
 * connection. */
void link_begin(struct link *l)
{
    link_change(l, LINK_CONNECTED);
    l->received_at = links_now(l->all);
    uv_tcp_nodelay(&l->tcp, 1);
    seal_begin(l->seal, &l->out);
    int status = uv_read_start((uv_stream_t *)&l->tcp, link_give_buffer, link_received);
    if (status < 0) {
        link_fail(l, false, "cannot be read: %s", uv_strerror(status));
        return;
    }
    link_write_some(l);
}

/* An address that does not answer is followed by the next of the name, each with a handle of its
 * own: a socket cannot connect twice. */
static void link_connect_done(uv_connect_t *r, int status)
{
    struct link *l = r->data;
    if (l->state != LINK_CONNECTING)
        return;
    if (status == 0) {
        link_begin(l);
    } else if (l->next) {
        uv_close((uv_handle_t *)&l->tcp, link_released);
    } else {
        link_fail(l, false, "cannot be reached: %s", uv_strerror(status));
    }
}

/* Begin with one address. What fails at once is treated as what fails later. */
static void link_connect_to(struct link *l, const struct sockaddr *a)
{
    link_change(l, LINK_ADDRESS);
    int status = uv_tcp_init(l->all->config.loop, &l->tcp);
    l->tcp.data = l;
    l->has_tcp = true;
    l->connect.data = l;
    if (status == 0)
        status = uv_tcp_connect(&l->connect, &l->tcp, a, link_connect_done);
    if (status == 0)
        return;
    if (l->next)
        uv_close((uv_handle_t *)&l->tcp, link_released);
    else
        link_fail(l, false, "cannot be reached: %s", uv_strerror(status));
}

/* A name may stand for several addresses: the next one. */
static void link_try_next(struct link *l)
{
    const struct addrinfo *one = l->next;
    l->next = l->next->ai_next;
    link_connect_to(l, one->ai_addr);
}

/* The resolver has let go of `lookup`. The link may be over by now (I3). */
static void link_resolved(uv_getaddrinfo_t *r, int status, struct addrinfo *found)
{
    struct link *l = r->data;
    l->resolving = false;
    l->found = l->next = found;
    if (l->state >= LINK_CLOSING) {
        if (l->state == LINK_CLOSED)
            link_remove(l); /* I3: it waited for us */
    } else if (status < 0 || !found) {
        link_fail(l, false, "no such host: %s", uv_strerror(status));
    } else {
        link_try_next(l);
    }
}

/* Numbers are not looked up; names are, on a thread of libuv's. `closed` comes from the loop even
 * when the text is no address (I2). */
struct link *link_connect(struct links *all, const char *address, const char *name)
{
    if (all->freeing)
        return NULL;
    struct link *l = link_make(all, true, name);
    char host[256], service[16];
    int port = 0;
    snprintf(l->address, sizeof l->address, "%s", address);
    struct sockaddr_storage a = {0};
    if (!links_split(address, host, sizeof host, &port)) {
        link_fail(l, false, "'%s' is no address: HOST:PORT or [IPV6]:PORT is one", address);
    } else if (uv_ip4_addr(host, port, (struct sockaddr_in *)(void *)&a) == 0 ||
               uv_ip6_addr(host, port, (struct sockaddr_in6 *)(void *)&a) == 0) {
        link_connect_to(l, (const struct sockaddr *)&a);
    } else {
        struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
        snprintf(service, sizeof service, "%d", port);
        l->lookup.data = l;
        link_change(l, LINK_LOOKUP);
        int status =
            uv_getaddrinfo(all->config.loop, &l->lookup, link_resolved, host, service, &hints);
        l->resolving = status == 0;
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

const char *link_name(const struct link *l)
{
    return seal_other(l->seal);
}

const char *link_agent_name(uint32_t node, uint32_t life, char out[static LINK_NAME])
{
    snprintf(out, LINK_NAME, "agent %u.%u", node, life);
    return out;
}

uint32_t link_agent_node(const struct link *l)
{
    unsigned node, life;
    const char *name = link_is_open(l) ? link_name(l) : NULL;
    return name && sscanf(name, "agent %u.%u", &node, &life) == 2 ? node : UINT32_MAX;
}

enum link_role link_role(const struct link *l)
{
    const char *name = link_name(l);
    if (strcmp(name, LINK_CLIENT_NAME) == 0)
        return LINK_CLIENT;
    return strncmp(name, "agent ", 6) == 0 ? LINK_AGENT : LINK_STRANGER;
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
