/* What the files of a depot share: depot.c (what stands here), depot_fetch.c (incoming),
 * depot_serve.c (outgoing). Private to them. */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "base/strbuf.h"
#include "cluster/data/depot.h"
#include "cluster/data/depot_pack.h"
#include "cluster/wire/protocol.h"

enum {
    DEPOT_PIECE = 256 << 10,     /* of a file in one message, and a transfer in one turn */
    DEPOT_QUEUED_MOST = 2 << 20, /* bytes on a link, above which nothing is added */
    DEPOT_AT_ONCE = 4,           /* open files for one link; others wait their turn */
    DEPOT_LABEL = 512,
};

/* A ring with a head that is no element. */
struct depot_ring {
    struct depot_ring *prev, *next;
};

static inline void depot_ring_init(struct depot_ring *head)
{
    head->prev = head->next = head;
}
static inline void depot_ring_add(struct depot_ring *head, struct depot_ring *x) /* last */
{
    x->prev = head->prev;
    x->next = head;
    head->prev->next = x;
    head->prev = x;
}
static inline void depot_ring_remove(struct depot_ring *x)
{
    x->prev->next = x->next;
    x->next->prev = x->prev;
    x->prev = x->next = x;
}
static inline bool depot_ring_is_empty(const struct depot_ring *head)
{
    return head->next == head;
}

enum depot_fetch_state {
    FETCH_WAITING,  /* for one of `most` turns */
    FETCH_ASKED,    /* FETCH was sent */
    FETCH_LATER,    /* they make it; takes no turn */
    FETCH_GROWING,  /* HEAD came */
    FETCH_CHECKING, /* all came; the beginning, from before a cut, is still being hashed */
};

struct depot_fetch {
    struct depot_ring ring; /* first: found by its address */
    uint32_t object;
    struct link *from;
    enum depot_fetch_state state;
    bool make, resumed;
    struct digest expected; /* zero: any */
    uint64_t asked_offset;
    struct digest asked;
    double silent; /* since when, by the ticks; below 0: since the last one */
    /* from HEAD on */
    uint8_t form;
    struct digest digest;
    uint64_t total, written, hashed; /* hashed < written after a resume */
    int fd;                          /* of a file */
    struct digest_state state_of_hash;
    struct depot_unpack unpack; /* of a folder */
};

struct depot_peer;

struct depot_serve {
    struct depot_ring ring; /* of the peer: waiting, ready or open */
    struct depot_peer *peer;
    uint32_t object;
    struct depot_serve *next; /* of the same object */
    bool waiting, open;       /* until it is made; has its files open */
    uint64_t offset;          /* asked for, then where it is */
    struct digest digest;     /* of what is asked for, then of what is sent */
    /* when open */
    uint8_t form;
    uint64_t total;
    bool hashing; /* what is sent, because it may not be what it was */
    int fd;
    struct digest_state state;
    struct depot_pack pack;
};

/* A link that asked for something. */
struct depot_peer {
    struct link *link;
    struct depot_ring waiting, ready, open;
    uint32_t nopen;
};

enum { OBJECT_HERE = 1, OBJECT_DOUBTED = 2 };

struct depot_object {
    double bytes;
    struct digest digest;
};

/* UNFETCH was sent and is not answered: what comes of it is not wanted. */
struct depot_stale {
    struct link *link;
    uint32_t object;
};

struct depot {
    struct depot_config config;
    const struct workflow *w;
    char *folder, *partial;
    bool partial_made;
    /* by object; zeroed memory that is not touched before something happens to it */
    uint8_t *state;
    struct depot_object *objects;
    struct depot_fetch **fetches;
    struct depot_serve **serves;

    struct depot_ring waiting, begun; /* fetches */
    uint32_t nwaiting, nlater, under_way;
    ARRAY(struct depot_stale) stale;
    ARRAY(struct depot_peer *) peers;
    struct depot_counts counts;
    struct strbuf path, other, message;
    char *piece; /* DEPOT_PIECE */
};

/* depot.c */
const char *depot_label(const struct depot *d, uint32_t object, char label[static DEPOT_LABEL]);
const char *depot_path(struct depot *d, uint32_t object); /* until the next call */
void depot_put_here(struct depot *d, uint32_t object, const struct digest *digest, double bytes);
/* Begin a message in d->message. */
struct strbuf *depot_say(struct depot *d, uint32_t object);
void depot_send(struct depot *d, struct link *l, uint8_t kind);

/* depot_fetch.c. Messages: false when malformed. */
bool depot_fetch_head(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
bool depot_fetch_data(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
bool depot_fetch_absent(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
bool depot_fetch_later(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
bool depot_fetch_unfetched(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
void depot_fetch_closed(struct depot *d, struct link *l);
void depot_fetch_tick(struct depot *d, double now);
/* It is not needed any more: it came into being here, or the depot ends. */
void depot_fetch_cancel(struct depot *d, uint32_t object, bool tell);

/* depot_serve.c */
bool depot_serve_fetch(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
bool depot_serve_unfetch(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
void depot_serve_made(struct depot *d, uint32_t object);
void depot_serve_cannot(struct depot *d, uint32_t object, const char *why);
void depot_serve_drained(struct depot *d, struct link *l);
void depot_serve_closed(struct depot *d, struct link *l);
void depot_serve_free(struct depot *d);
