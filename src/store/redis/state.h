/* What the parts of the Redis store share. An operation is an entry, from submit until its answer
 * is shown; what it asks of a shard is a part of a call; a call is one run of the script.
 *
 *     submit ─▶ entries ─ encode ─▶ lane's calls ─ conn ─▶ server ─▶ decode ─▶ entries ─ in order
 * ─▶ answers
 *
 * A lane is a shard: it has one call in flight, the next one fills meanwhile. So its calls are
 * applied in order whatever happens to connections and slots, and a slow server makes larger
 * batches. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "store/redis/redis.h"
#include "store/redis/conn.h"
#include "store/redis/script.h"
#include "store/table.h"

#define REDIS_NODES_MAX (1u << 24) /* as in the table */

enum redis_part_kind {
    REDIS_PART_OP,     /* the operation itself */
    REDIS_PART_CHILD,  /* a child in another shard was told, or doomed */
    REDIS_PART_REPAIR, /* likewise, for somebody who died before */
    REDIS_PART_QUIET,  /* nobody waits for it */
    REDIS_PART_FENCE,
    REDIS_PART_LOOK,
};

struct redis_part {
    uint64_t entry;
    uint32_t task; /* the child, the task looked at */
    uint8_t kind;
};

enum redis_call_kind { REDIS_CALL_APPLY, REDIS_CALL_OPEN, REDIS_CALL_FORGET };

struct redis_call {
    struct redis_call *next;
    uint8_t kind;
    uint8_t keep;     /* enum redis_keep */
    bool resent;      /* it may have been applied already */
    uint32_t number;  /* of this lane's calls */
    redisReply *held; /* until enough replicas have it */
    ARRAY(unsigned char) bytes;
    ARRAY(struct redis_part) parts;
};

struct redis_lane {
    uint32_t index, first, count; /* its tasks */
    uint32_t first_edge, edges;   /* the edges into them */
    uint16_t slot;
    char *key[REDIS_SCRIPT_KEYS];
    size_t key_size;
    struct redis_call *calls, *last;
    uint32_t numbered; /* calls made */
    bool kept;         /* the server has an answer of ours */
    bool flying;       /* the first call is with the server */
    bool asking;       /* its next try goes to `asked` */
    uint32_t conn, asked, sent_on;
    uint32_t tries; /* of the first call that were sent elsewhere or later */
    double since;   /* 0: well */
    double retry_at;
    double touched; /* expiry was renewed */
    char *run;      /* the answer of REDIS_CALL_OPEN */
    char why[200];
};

struct redis_entry {
    struct meta_op op;
    struct meta_answer answer;
    struct meta_record *record; /* READ */
    ARRAY(struct meta_item) items;
    ARRAY(uint32_t) nodes;     /* WHERE, READ; ADOPT: the tasks taken */
    uint32_t open;             /* parts that have not come back */
    uint32_t lane;             /* ADOPT: where it looks */
    bool done, fresh, several; /* several: children in other shards */
    bool scanning;
};

struct redis_settled { /* of a dead node, while an ADOPT repairs it */
    uint32_t task;
};

struct redis {
    struct store store;
    const struct workflow *w;
    char *prefix, *user, *password, *servers;
    char client[REDIS_SCRIPT_CLIENT]; /* our name, by chance */
    struct redis_tls_context *tls;
    uint32_t replicas, expire;
    bool forget;
    double patience;

    uint32_t nlanes, per_lane;
    struct redis_lane *lanes;
    ARRAY(struct redis_conn *) conns;
    uint32_t seeds;
    int epoll, event, timer;
    int pace; /* of the timer */
    bool cluster, known_mode, has_aof, unwell, refreshing, signalled;
    double refresh_at;
    char sha[2][48]; /* apply, open */
    struct redis_call *spare;

    struct redis_entry *entries;     /* a ring: number & mask */
    uint64_t mask, head, next, tail; /* answered up to head, dispatched up to next */
    uint32_t *busy;   /* by task: operations under way that will still tell it something */
    uint32_t several; /* entries with children in other shards under way */
    bool exclusive;   /* an ADOPT is under way */
    ARRAY(struct redis_settled) repairs;

    struct answers ready, shown;
    struct error trouble;
    bool troubled, final;
    struct store_redis_counts counts;
};

static inline struct redis_entry *redis_entry_at(struct redis *r, uint64_t number)
{
    return &r->entries[number & r->mask];
}
static inline struct redis_lane *redis_lane_of(struct redis *r, uint32_t task)
{
    return &r->lanes[task / r->per_lane];
}

/* ---- redis_encode.c: operations to calls ---- */

/* False: it must wait for an operation before it. */
bool redis_encode(struct redis *r, uint64_t number);
/* The second half of COMPLETE and REMOVE, for children in other shards: how many parts. */
uint32_t redis_encode_children(struct redis *r, uint64_t number, uint32_t task, bool doom,
                               uint32_t node, double bytes, enum redis_part_kind kind);
void redis_encode_settled(struct redis *r, uint32_t task);
void redis_encode_adopt(struct redis *r, uint64_t number, uint32_t from);
void redis_encode_look(struct redis *r, uint64_t number, uint32_t task);
/* What the children in other shards waited for has happened, or will not. */
void redis_release(struct redis *r, uint32_t task);
/* Edges into `child` from `parent`: the first, and how many. */
uint32_t redis_run(const struct workflow *w, uint32_t parent, uint32_t child, uint32_t *first);

/* ---- redis_decode.c: replies to answers ---- */

/* All parts of a call; false: this is no reply of the script. */
bool redis_decode(struct redis *r, struct redis_lane *lane, const struct redis_call *call,
                  const unsigned char *bytes, size_t n);

/* ---- redis_lanes.c: calls, connections, slots ---- */

struct redis_call *redis_call_new(struct redis *r, struct redis_lane *lane, uint8_t kind);
struct redis_call *redis_call_filling(struct redis *r, struct redis_lane *lane);
void redis_call_free(struct redis_call *call);
void redis_lanes_kick(struct redis *r); /* send what can be sent */
/* Do what is possible; wait for it at most `timeout` milliseconds (-1: for ever). */
void redis_lanes_pump(struct redis *r, int timeout);
struct redis_conn *redis_lanes_conn(struct redis *r, const char *host, uint16_t port);

/* ---- redis.c ---- */

void redis_entry_done(struct redis *r, uint64_t number);
void redis_dispatch(struct redis *r);
bool redis_trouble(struct redis *r, bool final, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
