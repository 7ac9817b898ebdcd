/* One transfer to somebody who asked for an object. Private to a depot.
 *
 *     asked ──┬─ not here, will be computed ──▶ WAITING ─ made ─▶ READY ─ its turn ─▶ OPEN ─▶ sent
 *             └─ here ────────────────────────────────────────────▲
 *
 * A transfer stands in the ring of its peer that its state names. */
#pragma once
#include "base/bytes.h"
#include "base/digest.h"
#include "cluster/data/depot_pack.h"
#include "cluster/data/depot_ring.h"

struct depot;
struct link;

enum serve_state {
    SERVE_WAITING, /* until it is computed */
    SERVE_READY,   /* until fewer are open */
    SERVE_OPEN,    /* has its files open */
    SERVE_STATES,
};

/* A link that asked for something. */
struct depot_peer {
    struct link *link;
    struct depot_ring ring[SERVE_STATES];
    uint32_t nopen;
};

struct depot_serve {
    struct depot_ring ring; /* first: found by its address */
    enum serve_state state; /* changed by serve_change() alone */
    struct depot_peer *peer;
    uint32_t object;
    struct depot_serve *next; /* of the same object */
    uint64_t offset;          /* asked for, then where it is */
    double owed;              /* its part of depot.owed */
    struct digest digest;     /* of what is asked for, then of what is sent */
    /* when OPEN */
    uint8_t form; /* enum message_form */
    uint64_t total;
    bool hashing; /* what is sent, because it may not be what it was */
    int fd;
    struct digest_state hash;
    struct depot_pack pack;
};

/* Messages: false when malformed. */
bool depot_serve_fetch(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
bool depot_serve_unfetch(struct depot *d, struct link *l, uint32_t object, struct bytes *in);
/* It stands here now; or it never will. */
void depot_serve_added(struct depot *d, uint32_t object);
void depot_serve_unavailable(struct depot *d, uint32_t object, const char *why);
void depot_serve_drained(struct depot *d, struct link *l);
void depot_serve_closed(struct depot *d, struct link *l);
void depot_serve_free(struct depot *d);
