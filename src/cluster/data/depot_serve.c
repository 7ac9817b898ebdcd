/* Outgoing: what links ask for. A link has a few transfers open, which take turns, piece by piece,
 * as long as it has little queued; the others wait in order. States are drawn in depot_serve.h.
 *
 * Invariants:
 *   I1. At most one transfer of an object over a link; it is in the list serves[object] and in the
 *       ring of its peer that its state names. nopen is the length of the ring OPEN.
 *   I2. What is sent is what was promised: its size is checked when it is opened, its digest before
 *       the last piece goes out when there is any doubt.
 *   I3. A link never has much more than DEPOT_QUEUED_MOST bytes queued by us: memory is bounded by
 *       the number of links, and messages of others are not held up for long.
 *   I4. Ending a transfer may free it at any call of serve_begin() and serve_send_piece(): callers
 *       do not use it afterwards. */
#include "cluster/data/depot_state.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- peers and what they ask ---- */

/* Linear: a depot has as many peers as there are agents that read its objects. */
static struct depot_peer *serve_find_peer(const struct depot *d, const struct link *l)
{
    for (size_t i = 0; i < d->peers.n; i++)
        if (d->peers.at[i]->link == l)
            return d->peers.at[i];
    return NULL;
}

static struct depot_peer *serve_add_peer(struct depot *d, struct link *l)
{
    struct depot_peer *p = mem_new_zero(struct depot_peer, 1);
    p->link = l;
    for (int i = 0; i < SERVE_STATES; i++)
        depot_ring_init(&p->ring[i]);
    array_push(&d->peers, p);
    return p;
}

static struct depot_serve *serve_find(const struct depot *d, const struct link *l, uint32_t object)
{
    for (struct depot_serve *s = d->serves[object]; s; s = s->next)
        if (s->peer->link == l)
            return s;
    return NULL;
}

/* From one ring of its peer to another, or behind the others of the same. */
static void serve_change(struct depot_serve *s, enum serve_state state)
{
    struct depot_peer *p = s->peer;
    p->nopen -= s->state == SERVE_OPEN;
    p->nopen += state == SERVE_OPEN;
    s->state = state;
    depot_ring_remove(&s->ring);
    depot_ring_add(&p->ring[state], &s->ring);
}

/* It is here, and goes out when it is its turn. Until its end it counts as a whole. */
static void serve_is_owed(struct depot *d, struct depot_serve *s)
{
    s->owed = fmax(depot_bytes(d, s->object) - (double)s->offset, 0);
    d->owed += s->owed;
    serve_change(s, SERVE_READY);
}

/* Out of the object's list and the peer's ring; the peer stays until its link closes. */
static void serve_end(struct depot *d, struct depot_serve *s)
{
    struct depot_serve **at = &d->serves[s->object];
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    depot_ring_remove(&s->ring);
    s->peer->nopen -= s->state == SERVE_OPEN;
    d->owed = fmax(d->owed - s->owed, 0);
    if (s->fd >= 0)
        close(s->fd);
    depot_pack_free(&s->pack);
    free(s);
}

/* At most 1000 bytes of the reason travel: it ends in a line for people. */
static void serve_end_absent(struct depot *d, struct depot_serve *s, const char *why)
{
    size_t n = strlen(why);
    bytes_put_text(depot_begin_message(d, s->object), why, n < 1000 ? n : 1000);
    depot_send(d, s->peer->link, MESSAGE_ABSENT);
    serve_end(d, s);
}

/* What should stand here does not, or is not what it was. */
static void serve_end_lost(struct depot *d, struct depot_serve *s, const char *why)
{
    uint32_t object = s->object;
    serve_end_absent(d, s, why);
    depot_removed(d, object);
    if (d->config.lost)
        d->config.lost(d->config.context, object, why);
}

/* ---- one transfer ---- */

/* Is it still what it was? The memo knows the digest for this inode, size and time. What it does
 * not know, or what a receiver found damaged, is hashed while it is sent, and the last piece is
 * held back when it turns out to be another content. */
static bool serve_open_file(struct depot *d, struct depot_serve *s, const char *path,
                            const struct stat *st, struct error *err)
{
    const struct depot_object *o = &d->objects[s->object];
    struct digest known;
    if ((double)st->st_size != o->bytes)
        return error_set(err, ERROR_FAILED, "%s: its size has changed", path);
    bool doubted = d->state[s->object] & OBJECT_DOUBTED;
    bool as_it_was = memo_known(d->config.memo, path, st, &known);
    if (as_it_was && !digest_equal(&known, &o->digest))
        return error_set(err, ERROR_FAILED, "%s: has changed", path);
    s->form = MESSAGE_FILE;
    s->total = (uint64_t)st->st_size;
    if (doubted || s->offset > s->total || !digest_equal(&s->digest, &o->digest))
        s->offset = 0;
    /* what may have changed unseen is looked at while it is sent */
    s->hashing = (doubted || !as_it_was) && s->offset == 0;
    digest_begin(&s->hash);
    return true;
}

/* Folders are sent whole: an offset into an archive means nothing after one file has changed. */
static bool serve_open_folder(struct depot *d, struct depot_serve *s, const char *path,
                              struct error *err)
{
    struct digest now;
    double bytes;
    s->form = MESSAGE_FOLDER;
    s->offset = 0;
    if (!memo_digest(d->config.memo, path, false, &now, &bytes, err))
        return error_set(err, ERROR_FAILED, "%s: is gone", path);
    if (!digest_equal(&now, &d->objects[s->object].digest))
        return error_set(err, ERROR_FAILED, "%s: has changed", path);
    if (!depot_pack_begin(&s->pack, path, err))
        return false;
    s->total = s->pack.total;
    return true;
}

/* Open what is asked for and say what it is. False: it is over. */
static bool serve_begin(struct depot *d, struct depot_serve *s)
{
    char label[DEPOT_LABEL];
    if (!depot_has(d, s->object)) {
        serve_end_absent(d, s, "it is not here any more");
        return false;
    }
    const char *path = depot_path(d, s->object);
    struct error err = {0};
    struct stat st;
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        serve_end_absent(d, s, "too many files are open here");
        return false;
    }
    bool good = s->fd >= 0 && fstat(s->fd, &st) == 0;
    if (!good)
        error_set(&err, ERROR_FAILED, "'%.300s' cannot be read: %s",
                  depot_label(d, s->object, label), strerror(errno));
    else if (S_ISDIR(st.st_mode))
        good = serve_open_folder(d, s, path, &err);
    else if (S_ISREG(st.st_mode))
        good = serve_open_file(d, s, path, &st, &err);
    else
        good = error_set(&err, ERROR_FAILED, "%s: neither a file nor a folder", path);
    if (!good) {
        serve_end_lost(d, s, err.text);
        return false;
    }
    serve_change(s, SERVE_OPEN);
    s->digest = d->objects[s->object].digest;
    struct strbuf *m = depot_begin_message(d, s->object);
    bytes_put_u64(m, s->offset);
    bytes_put_u64(m, s->total);
    bytes_put(m, s->digest.at, sizeof s->digest.at);
    bytes_put_u8(m, s->form);
    bytes_put_u32(m, st.st_mode & MESSAGE_MODE);
    depot_send(d, s->peer->link, MESSAGE_HEAD);
    return true;
}

/* `want` bytes into d->piece. False when the file is shorter than it was, or, with the last piece,
 * when what was sent is not what it should be. */
static bool serve_read_piece(struct depot *d, struct depot_serve *s, size_t want, struct error *err)
{
    char label[DEPOT_LABEL];
    size_t got = 0;
    if (s->form == MESSAGE_FOLDER)
        return depot_pack_read(&s->pack, d->piece, want, &got, err) && got == want;
    while (got < want) {
        ssize_t n = pread(s->fd, d->piece + got, want - got, (off_t)(s->offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return error_set(err, ERROR_FAILED, "'%.300s' %s", depot_label(d, s->object, label),
                             n < 0 ? strerror(errno) : "became shorter while it was sent");
        got += (size_t)n;
    }
    if (!s->hashing)
        return true;
    digest_bytes(&s->hash, d->piece, want);
    if (s->offset + want < s->total)
        return true;
    struct digest now;
    digest_end(&s->hash, &now);
    return digest_equal(&now, &s->digest) ||
           error_set(err, ERROR_FAILED, "'%.300s' is damaged: its content has changed",
                     depot_label(d, s->object, label));
}

/* The next piece, and the end when it is the last. Bytes that were sent. */
static size_t serve_send_piece(struct depot *d, struct depot_serve *s)
{
    struct error err = {0};
    uint64_t left = s->total - s->offset;
    size_t n = left < DEPOT_PIECE ? (size_t)left : DEPOT_PIECE;
    if (n && !serve_read_piece(d, s, n, &err)) {
        serve_end_lost(d, s, err.kind ? err.text : "the folder changed while it was sent");
        return 0;
    }
    if (n) {
        struct strbuf *m = depot_begin_message(d, s->object);
        link_send(s->peer->link, MESSAGE_DATA, m->at, m->n, d->piece, n);
        d->counts.served_bytes += (double)n;
        s->offset += n;
    }
    if (s->offset < s->total) {
        serve_change(s, SERVE_OPEN); /* the others first */
        return n;
    }
    uint32_t object = s->object;
    if (s->hashing)
        d->state[object] &= (uint8_t)~OBJECT_DOUBTED;
    serve_end(d, s);
    d->counts.served++;
    if (d->config.served)
        d->config.served(d->config.context, object, depot_bytes(d, object));
    return n;
}

/* A piece of every open transfer, and of small ones until it makes a piece. */
static void serve_pump(struct depot *d, struct depot_peer *p)
{
    size_t sent = 0;
    do {
        while (p->nopen < DEPOT_AT_ONCE && !depot_ring_is_empty(&p->ring[SERVE_READY])) {
            serve_begin(d, (struct depot_serve *)p->ring[SERVE_READY].next);
            sent += 64; /* the message: the ready ones may be many, and empty */
        }
        for (uint32_t n = p->nopen; n && p->nopen && link_queued(p->link) < DEPOT_QUEUED_MOST; n--)
            sent += serve_send_piece(d, (struct depot_serve *)p->ring[SERVE_OPEN].next);
    } while (sent < DEPOT_PIECE && link_queued(p->link) < DEPOT_QUEUED_MOST &&
             (p->nopen || !depot_ring_is_empty(&p->ring[SERVE_READY])));
}

/* ---- messages ---- */

/* One at a time of an object over a link: a second FETCH before the end of the first is malformed.
 * `make` of the owner may make it at once, and even send it. */
bool depot_serve_fetch(struct depot *d, struct link *l, uint32_t object, struct bytes *in)
{
    uint64_t offset = bytes_u64(in);
    const void *digest = bytes_take(in, sizeof(struct digest));
    uint8_t make = bytes_u8(in);
    if (!bytes_end(in) || make > 1 || serve_find(d, l, object))
        return false;
    struct depot_peer *p = serve_find_peer(d, l);
    if (!p)
        p = serve_add_peer(d, l);
    struct depot_serve *s = mem_new_zero(struct depot_serve, 1);
    s->peer = p;
    s->object = object;
    s->offset = offset;
    memcpy(s->digest.at, digest, sizeof s->digest.at);
    s->fd = -1;
    depot_ring_init(&s->ring); /* in none yet */
    s->next = d->serves[object];
    d->serves[object] = s;
    char label[DEPOT_LABEL];
    bool safe = depot_name_is_safe(depot_label(d, object, label));
    if (safe && depot_has(d, object)) {
        serve_is_owed(d, s);
        if (link_queued(l) < DEPOT_QUEUED_MOST)
            serve_pump(d, p);
        return true;
    }
    serve_change(s, SERVE_WAITING);
    bool will = safe && make && d->config.make && d->config.make(d->config.context, object);
    /* it may have been made at once, and even be sent by now */
    s = serve_find(d, l, object);
    if (!s || s->state != SERVE_WAITING)
        return true;
    if (!will) {
        serve_end_absent(d, s, "it is not here");
        return true;
    }
    depot_begin_message(d, object);
    depot_send(d, l, MESSAGE_LATER);
    return true;
}

/* Answered always, also when it is over: they wait for the answer before they believe us again. */
bool depot_serve_unfetch(struct depot *d, struct link *l, uint32_t object, struct bytes *in)
{
    uint8_t damaged = bytes_u8(in);
    if (!bytes_end(in) || damaged > 1)
        return false;
    struct depot_serve *s = serve_find(d, l, object);
    if (s)
        serve_end(d, s);
    if (damaged && depot_has(d, object))
        d->state[object] |= OBJECT_DOUBTED;
    depot_begin_message(d, object);
    depot_send(d, l, MESSAGE_UNFETCHED);
    return true;
}

/* All links may have a new transfer; each is pumped once. */
void depot_serve_added(struct depot *d, uint32_t object)
{
    for (struct depot_serve *s = d->serves[object]; s; s = s->next)
        if (s->state == SERVE_WAITING)
            serve_is_owed(d, s);
    if (!d->serves[object])
        return;
    for (size_t i = 0; i < d->peers.n; i++)
        if (!depot_ring_is_empty(&d->peers.at[i]->ring[SERVE_READY]) &&
            link_queued(d->peers.at[i]->link) < DEPOT_QUEUED_MOST)
            serve_pump(d, d->peers.at[i]);
}

void depot_serve_unavailable(struct depot *d, uint32_t object, const char *why)
{
    for (struct depot_serve *s = d->serves[object], *next; s; s = next) {
        next = s->next;
        if (s->state == SERVE_WAITING)
            serve_end_absent(d, s, why[0] ? why : "it could not be made");
    }
}

/* The system has taken what was queued: the next pieces. */
void depot_serve_drained(struct depot *d, struct link *l)
{
    struct depot_peer *p = serve_find_peer(d, l);
    if (p && (p->nopen || !depot_ring_is_empty(&p->ring[SERVE_READY])))
        serve_pump(d, p);
}

/* `why`: what they are told; NULL: nothing, the link is closed. */
static void serve_free_peer(struct depot *d, struct depot_peer *p, const char *why)
{
    for (int i = 0; i < SERVE_STATES; i++)
        for (struct depot_ring *r = p->ring[i].next, *next; r != &p->ring[i]; r = next) {
            next = r->next;
            if (why)
                serve_end_absent(d, (struct depot_serve *)r, why);
            else
                serve_end(d, (struct depot_serve *)r);
        }
    free(p);
}

void depot_serve_closed(struct depot *d, struct link *l)
{
    for (size_t i = 0; i < d->peers.n; i++)
        if (d->peers.at[i]->link == l) {
            struct depot_peer *p = d->peers.at[i];
            d->peers.at[i] = array_last(&d->peers);
            d->peers.n--;
            serve_free_peer(d, p, NULL);
            return;
        }
}

/* The links stay open for other runs: who waits is told. */
void depot_serve_free(struct depot *d)
{
    for (size_t i = 0; i < d->peers.n; i++)
        serve_free_peer(d, d->peers.at[i], "the run has ended there");
    d->peers.n = 0;
}
