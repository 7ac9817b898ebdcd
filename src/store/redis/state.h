/* What the parts of the Redis store share. An operation is an entry, from submit until its answer
 * is shown; what it asks of a shard is a part of a call; a call is one run of the script.
 *
 *     submit ─▶ entries ── encode.c ─▶ a shard's calls ── client ─▶ server
 *                  ▲                     (calls.c)                    │
 *                  └───────────────────── decode.c ◀──────────────────┘
 *                  │
 *                  └─ in the order of submission ─▶ answers
 *
 * A shard has one call in flight, the next one fills meanwhile: a slow server makes larger
 * batches. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "store/redis/redis.h"
#include "store/redis/client.h"
#include "store/redis/script.h"
#include "store/table.h"

#define REDIS_NODES_MAX (1u << 24) /* as in the table */

enum redis_part_kind {
    REDIS_PART_OP,     /* the operation itself */
    REDIS_PART_CHILD,  /* a child in another shard was notified, or doomed */
    REDIS_PART_REPAIR, /* likewise, for somebody who died before */
    REDIS_PART_QUIET,  /* nobody waits for it */
    REDIS_PART_FENCE,
    REDIS_PART_ITEM,
};

struct redis_part {
    uint64_t entry;
    uint32_t task; /* the child, the task looked at */
    uint8_t kind;
    uint16_t count; /* of a run: so many neighbours, from `task` on */
};

/* The first two are also the numbers of their scripts. */
enum redis_call_kind { REDIS_CALL_APPLY, REDIS_CALL_OPEN, REDIS_CALL_FORGET };
#define REDIS_SCRIPTS 2

struct redis_span { /* of a shard's tasks or edges; empty: from > to */
    uint32_t from, to;
};

struct redis_call {
    struct redis_command command; /* first: the client knows it by this */
    struct redis_call *next_spare;
    struct redis_shard *shard;
    uint8_t kind;    /* enum redis_call_kind */
    uint8_t keep;    /* enum redis_keep */
    uint32_t number; /* of this shard's calls */
    ARRAY(unsigned char) bytes;
    ARRAY(struct redis_part) parts;   /* in the order of their answers */
    uint32_t operations;              /* what others wait for: of a run some eighth */
    uint32_t joined;                  /* operations that joined a run */
    uint32_t told;                    /* tasks that end, and children that hear of it */
    struct redis_span records, edges; /* of all those */
    size_t last_at;                   /* of `bytes`: the last operation, if `joinable` */
    bool joinable;                    /* it may become a run, or a longer one */
};

struct redis_shard {
    uint32_t first, count;      /* its tasks */
    uint32_t first_edge, edges; /* the edges into them */
    char *key[REDIS_SCRIPT_KEYS];
    size_t key_size;
    struct redis_channel *channel; /* has the same index */
    uint32_t numbered;             /* calls made */
    bool kept;                     /* the server keeps an answer of ours */
    double touched;                /* when expiry was renewed */
    char *run;                     /* the answer of REDIS_CALL_OPEN */
    char *wanted;                  /* of a part that joined: what that answer must be */
    uint32_t first_object;         /* of a part that joined */
};

struct redis_entry {
    struct meta_op op;
    struct meta_answer answer;
    struct meta_record *record; /* READ */
    ARRAY(struct meta_item) items;
    ARRAY(uint32_t) nodes;        /* WHERE, READ; ADOPT: the tasks taken */
    ARRAY(struct digest) digests; /* WHERE: of what each of `nodes` has */
    uint32_t open;                /* parts that have not come back */
    uint32_t shard;               /* ADOPT: where it looks */
    uint32_t known;               /* COMPLETE, REMOVE, SETTLE: tasks that there were then */
    bool done, fresh, several;    /* several: children in other shards */
    bool scanning;
};

struct redis_settled { /* of a dead node, while an ADOPT repairs it */
    uint32_t task;
};

/* An edge whose proof was verified; the edge is zero: none, since a mark never is. */
struct redis_proved_edge {
    uint32_t producer;
    unsigned char edge[REDIS_SCRIPT_EDGE];
};
#define REDIS_PROVED_EDGES                                                                         \
    16384u /* a quarter of a megabyte: tasks that end together have near numbers */

struct redis {
    struct store store;
    const struct workflow *w;
    struct seal_prover prover;
    struct redis_proved_edge *proved_edges; /* NULL until the first */
    char forged[320]; /* the first that somebody without the key wrote, for people; "": none */
    char *prefix;
    char name[REDIS_SCRIPT_CLIENT]; /* ours, by chance: the shards keep our answers under it */
    uint32_t replicas, expire;
    bool forget;
    double patience;

    struct redis_client *client;
    uint32_t nshards, per_shard;
    uint32_t base_shards, base_tasks, base_objects; /* of them, those of the workflow as it began */
    struct redis_shard **shards;
    struct redis_call *spare;
    char scratch[3][24]; /* numbers of a call, while it is composed */

    struct redis_entry *entries;     /* a ring: number & mask */
    uint64_t mask, head, next, tail; /* answered up to head, dispatched up to next */
    uint32_t *busy; /* by task: operations under way that will still tell it something */
    uint32_t busy_room;
    uint32_t parts;        /* of the workflow that have shards here */
    struct meta_op joined; /* the last JOIN, for shards that come later; kind not JOIN: none */
    uint32_t several;      /* entries with children in other shards under way */
    bool exclusive;        /* an ADOPT is under way */
    ARRAY(struct redis_settled) repairs;

    int event; /* readable while `ready` has answers; in the client's epoll */
    bool signalled;
    bool polled; /* redis_poll() goes on, and takes what is ready at its end */
    struct answers ready, shown;
    struct error trouble;
    bool troubled, final;
    uint64_t operations, calls; /* answered; sent */
};

static inline struct redis_entry *redis_entry_at(struct redis *r, uint64_t number)
{
    return &r->entries[number & r->mask];
}
/* growth.c: of a task that joined. */
uint32_t redis_joined_shard(const struct redis *r, uint32_t task);
static inline uint32_t redis_shard_number(const struct redis *r, uint32_t task)
{
    return task < r->base_tasks ? task / r->per_shard : redis_joined_shard(r, task);
}
static inline struct redis_shard *redis_shard_of(const struct redis *r, uint32_t task)
{
    return r->shards[redis_shard_number(r, task)];
}

/* ---- proofs.c: who ended what ---- */

void redis_prove_end(const struct redis *r, const struct meta_op *op,
                     unsigned char proof[static REDIS_SCRIPT_PROOF]);
void redis_prove_edge(const struct redis *r, uint32_t producer, uint32_t mark,
                      unsigned char out[static REDIS_SCRIPT_EDGE]);
/* What redis_prove_edge() made needs no verifying. */
void redis_remember_edge(struct redis *r, uint32_t producer, const unsigned char *edge);
void redis_prove_copy(const struct redis *r, const struct meta_op *op,
                      unsigned char out[static REDIS_SCRIPT_COPY]);
/* False: nobody proves that `node` has this; noted. */
bool redis_copy_is_proved(struct redis *r, uint32_t object, const unsigned char *copy);
/* The status of a record that came; an end that nobody proves is none: QUEUED, and noted. */
uint8_t redis_proved_status(struct redis *r, uint32_t task, const unsigned char *record);
/* The mark of an edge; 0: its producer is not done, as far as anybody proves. */
uint32_t redis_proved_mark(struct redis *r, uint32_t producer, const unsigned char *edge);

/* ---- encode.c: operations to calls ---- */

/* False: it must wait for an operation before it. */
bool redis_encode(struct redis *r, uint64_t number);
/* The second half of COMPLETE and REMOVE, for children in other shards: how many parts. */
uint32_t redis_encode_children(struct redis *r, uint64_t number, uint32_t task,
                               const unsigned char *edge, double bytes, enum redis_part_kind kind);
void redis_edge_of(const struct redis *r, const struct meta_op *op,
                   unsigned char out[static REDIS_SCRIPT_EDGE]);
/* How many records one COUNT that looks at them (`status` 1) takes from `first` on. */
uint32_t redis_audited(const struct redis *r, uint32_t first);
void redis_encode_settled(struct redis *r, uint32_t task);
void redis_encode_adopt(struct redis *r, uint64_t number, uint32_t from);
void redis_encode_item(struct redis *r, uint64_t number, uint32_t task);
/* What the children in other shards waited for has happened, or will not. */
void redis_release(struct redis *r, const struct redis_entry *e);
/* Edges into `child` from `parent`: the first, and how many. */
uint32_t redis_run(const struct workflow *w, uint32_t parent, uint32_t child, uint32_t *first);

/* A node that joined before this shard was there. */
void redis_encode_join(struct redis *r, struct redis_shard *shard, const struct meta_op *op);
uint32_t redis_mark_of(uint32_t node);

/* ---- growth.c: shards for what joins ---- */

/* Of an input of the workflow: the shard in which it is at home. */
uint32_t redis_input_home(const struct redis *r, uint32_t object);
/* Shards for the parts of the workflow that have none yet. They are created when the server answers. */
void redis_make_part_shards(struct redis *r);

/* ---- decode.c: replies to answers ---- */

/* All parts of a call; false: this is no reply of the script. */
bool redis_decode(struct redis *r, struct redis_shard *shard, const struct redis_call *call,
                  const unsigned char *bytes, size_t n);

/* ---- calls.c: batches of operations, and the store's side of the client ---- */

extern const char *const redis_scripts[REDIS_SCRIPTS];
extern const struct redis_client_ops redis_calls_ops;
/* A call at the end of the shard's queue. */
struct redis_call *redis_call_new(struct redis *r, struct redis_shard *shard,
                                  enum redis_call_kind kind);
/* The call that takes the shard's next operation. */
struct redis_call *redis_call_filling(struct redis *r, struct redis_shard *shard);
void redis_call_free(struct redis_call *call);
size_t redis_calls_bytes(const struct redis *r); /* of memory */

/* ---- redis.c ---- */

#define REDIS_SHARDS_MOST 4096u      /* of 16384 slots; each costs a call in every JOIN and COUNT */
#define REDIS_SHARD_TASKS (1u << 21) /* a string of the server holds 512 MB: records of 64 bytes, */
#define REDIS_SHARD_EDGES (1u << 25) /* marks of 12 bytes an edge */
/* With these tasks and edges, as number `i` of the run's shards. */
struct redis_shard *redis_shard_new(struct redis *r, uint32_t i, uint32_t first, uint32_t end);

void redis_entry_done(struct redis *r, uint64_t number);
void redis_dispatch(struct redis *r);
bool redis_trouble(struct redis *r, bool final, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
