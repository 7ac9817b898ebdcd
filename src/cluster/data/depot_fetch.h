/* One fetch: an object on its way here. Private to a depot.
 *
 *                turn                head                    whole
 *     WAITING ─────────▶ ASKED ─────────────▶ RECEIVING ────────────▶ CHECKING ──▶ in its place
 *                          │ later               ▲   └─ all hashed while it came ─▲
 *                          └──────▶ LATER ───────┘ head
 *
 * Any of them may end: absent, damaged, silent, its link closed, not needed any more. A fetch
 * that is ASKED, RECEIVING or CHECKING takes one of the depot's `most` turns; one that is LATER
 * takes none, since computing may last for hours. */
#pragma once
#include "base/bytes.h"
#include "base/digest.h"
#include "cluster/data/depot_pack.h"
#include "cluster/data/depot_ring.h"

struct depot;
struct link;

enum fetch_state {
    FETCH_WAITING,   /* for one of `most` turns */
    FETCH_ASKED,     /* FETCH was sent */
    FETCH_LATER,     /* they compute it */
    FETCH_RECEIVING, /* HEAD came */
    FETCH_CHECKING,  /* all came; it is still being hashed */
    FETCH_STATES,
};

enum fetch_event {
    FETCH_GETS_TURN,
    FETCH_GETS_LATER,
    FETCH_GETS_HEAD,
    FETCH_IS_WHOLE,
    FETCH_EVENTS,
};

struct depot_fetch {
    struct depot_ring ring; /* first: found by its address */
    uint32_t object;
    struct link *from;
    enum fetch_state state; /* changed by fetch_change() alone */
    bool make;              /* they may compute it */
    bool resumed;           /* goes on behind what was here */
    struct digest expected; /* zero: any */
    uint64_t asked_offset;
    struct digest asked;
    double silent; /* since when, by the ticks; below 0: since the last one */
    /* from HEAD on */
    double began;         /* clock_seconds() */
    uint8_t form;         /* enum message_form */
    uint32_t mode;        /* permission bits */
    struct digest digest; /* that it should have */
    uint64_t total, written;
    uint64_t hashed; /* < written after a resume */
    int fd;          /* of a file; -1: none */
    struct digest_state hash;
    struct depot_hash *apart;   /* of a large file, that a thread hashes; NULL: as it comes */
    struct depot_unpack unpack; /* of a folder */
};

/* Messages about a fetch of ours that is under way. False: malformed. */
bool depot_fetch_head(struct depot *d, struct depot_fetch *f, struct bytes *in);
bool depot_fetch_data(struct depot *d, struct depot_fetch *f, struct bytes *in);
bool depot_fetch_absent(struct depot *d, struct depot_fetch *f, struct bytes *in);
bool depot_fetch_later(struct depot *d, struct depot_fetch *f, struct bytes *in);
/* The fetch that a message over this link is about; NULL: none. */
struct depot_fetch *depot_fetch_find(const struct depot *d, const struct link *l, uint32_t object);
/* We have told this link that we do not want it any more, and it has not answered yet. */
bool depot_fetch_is_stale(const struct depot *d, const struct link *l, uint32_t object);
/* It has answered now. False: nobody asked. */
bool depot_fetch_unfetched(struct depot *d, struct link *l, uint32_t object, struct bytes *in);

/* A thread has hashed all of it; NULL: it cannot be read again. */
void depot_fetch_hashed(struct depot *d, uint32_t object, const struct digest_state *hash);
void depot_fetch_closed(struct depot *d, struct link *l);
void depot_fetch_tick(struct depot *d, double now);
/* It is not needed any more: it came into being here, or the depot ends. */
void depot_fetch_cancel(struct depot *d, uint32_t object, bool tell);
