/* The store of many machines: task metadata in a Redis 7 server or cluster, many clients at once.
 * Every client has the workflow; the server keeps only what changes (docs/store.md has the keys,
 * the script and what is promised).
 *
 * One thread, no blocking: store_fd() is an epoll descriptor that becomes readable when there is
 * something to do, and store_poll() does it: reads, writes, connects, follows a cluster that moves
 * its slots, sends again what a lost connection left open. */
#pragma once
#include "base/seal.h"
#include "model/workflow.h"
#include "store/store.h"

/* A zeroed field takes the default in brackets. Texts need to live only until open returns. */
struct store_redis_config {
    const struct workflow *workflow; /* must outlive the store; nodes are numbered below 2^24 */
    /* by which ends of tasks are proved, of this run: all its clients have the same, and whoever else
     * writes to the server does not (docs/cluster.md) */
    struct seal_prover prover;
    const char *servers; /* "host:port,host:port" ["127.0.0.1:6379"]; of a cluster any */
    const char *prefix;  /* of this run's keys, letters, digits and -_.: ["weft"]; one a run */
    const char *user, *password;
    bool tls;
    const char *tls_ca;             /* file [the system's] */
    const char *tls_cert, *tls_key; /* files, for a server that asks for them */
    const char *tls_name;           /* the name in the server's certificate [its host] */
    const char *tls_pin; /* text (PEM) of the only certificate to believe: no `tls_ca`, no name */
    bool tls_unchecked;  /* believe any certificate */
    uint32_t shards; /* parts of the run, each in one slot [1; in a cluster 64; what the run has] */
    uint32_t replicas; /* that must have an operation before it is answered (WAIT) [0] */
    uint32_t expire;   /* seconds after the last operation when the server drops the run [never] */
    bool forget;       /* closing removes the run from the server */
    double patience; /* seconds without the server until poll says so [60]; opening takes a tenth of
                        it */
};

/* False with NULL: no server, wrong password, not Redis 7, another workflow under this prefix: an
 * error that says which. `existed`: the run was there already (may be NULL). */
struct store *store_redis_open(const struct store_redis_config *config, bool *existed,
                               struct error *err);

/* How it will close: `forget` as above, and for how long closing may wait for a server that is not
 * there. */
void store_redis_closing(struct store *s, bool forget, double patience);

struct store_redis_counts {
    uint64_t operations;  /* answered */
    uint64_t calls;       /* of the script, each a batch of operations for one shard */
    uint64_t round_trips; /* times that a connection without an open question was asked something */
    uint64_t sent, received; /* bytes */
    uint64_t resent;         /* calls sent again, for any reason */
    uint64_t redirected;     /* MOVED, ASK */
    uint64_t connects;       /* connections that became ready */
    uint64_t unconfirmed;    /* calls that too few replicas had in time */
};

struct store_redis_counts store_redis_counts(const struct store *s);
