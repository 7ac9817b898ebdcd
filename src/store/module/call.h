/* One call while it is applied: the keys of its shard, where we read in it, and its answers. The
 * same call and the same answers as those of redis/apply.lua, whose head draws the keys; docs/store.md
 * says when which of the two is used. */
#pragma once
#include "store/module/api.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum module_key {
    KEY_RECORDS, /* R */
    KEY_EDGES,   /* E */
    KEY_SIZES,   /* S */
    KEY_NODES,   /* N */
    KEY_MOVES,   /* M */
    KEY_COUNTS,  /* C */
    KEY_COPIES,  /* K */
    KEY_INPUTS,  /* Z */
    KEY_PENDING, /* P */
    KEY_RUN,     /* I */
    KEY_ENDED,   /* D */
    KEY_ANSWERS, /* A */
    KEYS,
};

enum { CLIENT = 8, TIME = 8, SIZE = 8, ENDED_BYTES = 20 };

/* As in model/metadata.h, which a server's module does not include. */
enum task_status { ABSENT, QUEUED, RUNNING, DONE, FAILED, REMOVED, SKIPPED, EXCUSED, STATUSES };
enum task_outcome { OUTCOME_OK, OUTCOME_STALE, OUTCOME_ENDED, OUTCOME_UNKNOWN };

#define NOBODY UINT32_MAX

/* Where things stand in a record (apply.lua draws it). */
enum {
    AT_STATUS = 0,
    AT_DOOMED = 1,
    AT_ATTEMPTS = 2,
    AT_EPOCH = 4,
    AT_HOLDER = 8,
    AT_FIRST = 12,
    AT_QUEUED = 16,
    AT_STARTED = 24,
    AT_ENDED = 32,
    AT_SUBMITTED = 40,
    AT_PROOF = 48,
};

/* A string of the server that is read and changed in place. What changed is replicated at the end,
 * neighbours together. */
struct area {
    struct server_key *key; /* NULL: not open */
    unsigned char *at;
    size_t size;
    uint64_t *dirty;  /* a bit for each AREA_CHUNK bytes that changed; all 0 between two calls */
    size_t room;      /* words of `dirty` */
    size_t low, high; /* of them, those that may have one; low >= high: none */
};
enum { AREA_CHUNK = 64 };

struct module_node {
    uint32_t node, life;
    bool fenced;
    uint8_t nclient; /* 0: nobody's */
    unsigned char client[CLIENT];
};

/* A buffer that keeps its memory from call to call: the server has one thread for commands. */
struct module_buffer {
    unsigned char *at;
    size_t n, room;
};

struct module_call {
    struct server_ctx *ctx;
    struct server_string **keys; /* by enum module_key */
    const unsigned char *at, *end;
    bool bad;   /* it is no call of weft's: nothing more is done */
    bool looks; /* it may change nothing */

    uint8_t resent, keep;
    uint32_t expire, tasks, edges, number;
    const unsigned char *client;

    struct area records, marks, sizes;
    bool copied; /* some object has a copy */
    uint32_t ended[STATUSES];
    struct module_node *nodes;
    size_t nnodes, nodes_room;
    struct module_buffer out;
    struct server_reply *reply; /* of the last question to a hash */
    unsigned char blank[64];    /* stands for a record that is none */
};

/* What stands before every operation (redis/encode.c draws it). */
struct module_op {
    uint8_t kind, status;
    uint16_t attempt;
    uint32_t task, epoch, node, x;
    const unsigned char *time;
};

/* ---- reading the call; past its end it is `bad` and all is zero ---- */

const unsigned char *call_bytes(struct module_call *c, size_t n);
uint32_t call_u32(struct module_call *c);

static inline uint32_t u32_at(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void put_u32_at(unsigned char *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}

/* ---- answers ---- */

void call_put(struct module_call *c, const void *bytes, size_t n);
void call_put_u8(struct module_call *c, uint8_t v);
void call_put_u32(struct module_call *c, uint32_t v);

/* ---- the shard's keys (keys.c) ---- */

bool keys_open(struct module_call *c);  /* false: the run's keys are gone */
void keys_close(struct module_call *c); /* replicates what changed */
unsigned char *keys_record(struct module_call *c, uint32_t task);
void keys_record_changed(struct module_call *c, uint32_t task, uint32_t count);
/* NULL: there are no such edges, and the call is bad; or count is 0. */
unsigned char *keys_edges(struct module_call *c, uint32_t first, uint32_t count);
void keys_edges_changed(struct module_call *c, uint32_t first, uint32_t count);
/* The real size of what an edge carries, in the words of the call. */
void keys_set_size(struct module_call *c, uint32_t edge, bool differs, const unsigned char *size);

/* The value of a field, until the next question; NULL: none. */
const unsigned char *keys_hash(struct module_call *c, enum module_key key, uint32_t field,
                               size_t *n);
void keys_hash_set(struct module_call *c, enum module_key key, uint32_t field, const void *value,
                   size_t n);
void keys_hash_drop(struct module_call *c, enum module_key key, uint32_t field);
/* The kept answers of a client. */
const unsigned char *keys_answers(struct module_call *c, const unsigned char *client, size_t *n);
void keys_answers_drop(struct module_call *c, const unsigned char *client);
void keys_reply_done(struct module_call *c); /* no question's reply is needed any more */

const struct module_node *keys_node(struct module_call *c, uint32_t node);
void keys_set_node(struct module_call *c, const struct module_node *now);

/* Room for n more elements of `each` bytes. */
void *module_room(void *at, size_t n, size_t more, size_t *room, size_t each);

/* ---- operations: ops.c (tasks), ops_others.c, runs.c; module.c has the table ---- */

void op_one(struct module_call *c, const struct module_op *op); /* PUT, HOLD */
void op_get(struct module_call *c, const struct module_op *op);
void op_attempt(struct module_call *c, const struct module_op *op); /* START, RETRY */
void op_complete(struct module_call *c, const struct module_op *op);
void op_remove(struct module_call *c, const struct module_op *op);
void op_adopt(struct module_call *c, const struct module_op *op);
void op_join(struct module_call *c, const struct module_op *op);
void op_object(struct module_call *c, const struct module_op *op);
void op_copy(struct module_call *c, const struct module_op *op);
void op_read(struct module_call *c, const struct module_op *op);
void op_where(struct module_call *c, const struct module_op *op);
void op_count(struct module_call *c, const struct module_op *op);
void op_notify(struct module_call *c, const struct module_op *op);
void op_doom(struct module_call *c, const struct module_op *op);
void op_settled(struct module_call *c, const struct module_op *op);
void op_fence(struct module_call *c, const struct module_op *op);
void op_item(struct module_call *c, const struct module_op *op);
void op_run(struct module_call *c, const struct module_op *op);  /* PUTs, HOLDs, ITEMs */
void op_ends(struct module_call *c, const struct module_op *op); /* COMPLETEs */

/* What an item is asked with: where its edges stand, and the workflow's inputs that it reads. */
struct ops_section {
    uint32_t first, count, ninputs;
    const unsigned char *inputs;
};
struct ops_section ops_section(struct module_call *c);
/* What an item is made of; decode.c reads it. */
void ops_put_section(struct module_call *c, const unsigned char *record,
                     const struct ops_section *s);

bool ops_may_take(struct module_call *c, uint32_t node, uint32_t life);
void ops_take(struct module_call *c, uint32_t task, uint32_t node, const unsigned char *time);
void ops_notify(struct module_call *c, const unsigned char *mark);
void ops_doom(struct module_call *c);
void ops_sum(struct module_call *c, unsigned char sum[static ENDED_BYTES]);
uint8_t ops_put_task(struct module_call *c, const struct module_op *op, uint32_t task);
uint8_t ops_hold_task(struct module_call *c, const struct module_op *op, uint32_t task);

struct ops_end { /* one task that ends well */
    uint8_t outcome, fresh, status;
    uint32_t holder;
};
struct ops_end ops_complete(struct module_call *c, const struct module_op *op, uint32_t task,
                            const unsigned char *start, const unsigned char *time,
                            const unsigned char *proof, bool early);
void ops_put_end(struct module_call *c, struct ops_end end);
