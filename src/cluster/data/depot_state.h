/* A depot, as its files see it: depot.c (what stands here), depot_fetch.c (incoming), depot_serve.c
 * (outgoing). Private to them. */
#pragma once
#include "base/array.h"
#include "base/bytes.h"
#include "base/strbuf.h"
#include "cluster/data/depot.h"
#include "cluster/data/depot_fetch.h"
#include "cluster/data/depot_serve.h"
#include "cluster/wire/protocol.h"

enum {
    DEPOT_PIECE = 256 << 10,     /* of a file in one message, and a transfer in one turn */
    DEPOT_QUEUED_MOST = 2 << 20, /* bytes on a link, above which nothing is added */
    DEPOT_AT_ONCE = 4,           /* open files for one link; others wait their turn */
    DEPOT_LABEL = 512,
};

/* DOUBTED: a receiver found it damaged, or nobody has read it since this process began. */
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
    uint32_t objects_known, room; /* of the workflow; entries of these */
    uint8_t *state;
    struct depot_object *objects;
    struct depot_fetch **fetches;
    struct depot_serve **serves;
    double owed; /* bytes that peers asked for, are here and are not sent */

    struct depot_ring waiting, begun; /* fetches */
    uint32_t nfetches[FETCH_STATES];  /* by state */
    bool refused; /* while `arrived` is called: the other side said why it does not come */
    const struct depot_came *came; /* likewise: how it came */
    ARRAY(struct depot_stale) stale;
    ARRAY(struct depot_peer *) peers;
    struct depot_counts counts;
    ARRAY(struct depot_check *) checks; /* that a thread makes now */
    struct strbuf path, other, message;
    char *piece; /* DEPOT_PIECE */
};

/* depot_hash.c: hashes a file behind those who write it, and tells depot_fetch_hashed(). NULL: it is not to
 * be, there is no loop or no descriptor. */
struct depot_hash *depot_hash_new(struct depot *d, uint32_t object, int fd, uint64_t total);
void depot_hash_written(struct depot_hash *h, uint64_t written); /* so many bytes stand there now */
void depot_hash_free(struct depot_hash *h);

/* depot_check.c */
void depot_check_free(struct depot *d); /* those that go on end without a word */

/* depot.c */
const char *depot_label(const struct depot *d, uint32_t object, char label[static DEPOT_LABEL]);
const char *depot_path(struct depot *d, uint32_t object); /* until the next call */
void depot_put_here(struct depot *d, uint32_t object, const struct digest *digest, double bytes);
/* Begin a message in d->message. */
struct strbuf *depot_begin_message(struct depot *d, uint32_t object);
void depot_send(struct depot *d, struct link *l, uint8_t kind);
/* Fetches that take one of the `most` turns. */
static inline uint32_t depot_turns_taken(const struct depot *d)
{
    return d->nfetches[FETCH_ASKED] + d->nfetches[FETCH_RECEIVING] + d->nfetches[FETCH_CHECKING];
}
