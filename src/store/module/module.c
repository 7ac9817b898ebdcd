/* A module for redis-server: what redis/apply.lua does, in C, on the same keys, with the same calls and
 * answers. A store that weft serves itself loads it (cluster/launch/store_server.c); any other server
 * runs the script. Clients see which by INFO, and may change from one to the other between two calls.
 *
 *     WEFT.APPLY  the 12 keys of a shard  a call      applies it
 *     WEFT.LOOK   likewise                            one that only reads: refused in no trouble
 *
 * The server has one thread for commands, so a call is one step that nobody sees half of. Whoever has
 * the store's password may send any bytes: they are checked before they are believed (keys.c, I1). */
#include "store/module/call.h"
#include "store/redis/script.h"

#include <stdio.h>

enum { HEAD = 28, HEADER = 42, ANSWERS_LONG = 1048576 /* longer ones are not kept */ };

struct server_functions server;

/* What keeps its memory from call to call. */
static struct module_call module_last;

/* ---- reading and answering ---- */

const unsigned char *call_bytes(struct module_call *c, size_t n)
{
    if (n > (size_t)(c->end - c->at)) {
        c->bad = true;
        return NULL;
    }
    c->at += n;
    return c->at - n;
}

uint32_t call_u32(struct module_call *c)
{
    const unsigned char *p = call_bytes(c, 4);
    return p ? u32_at(p) : 0;
}

void call_put(struct module_call *c, const void *bytes, size_t n)
{
    struct module_buffer *out = &c->out;
    if (!n)
        return;
    out->at = module_room(out->at, out->n, n, &out->room, 1);
    memcpy(out->at + out->n, bytes, n);
    out->n += n;
}

void call_put_u8(struct module_call *c, uint8_t v)
{
    call_put(c, &v, 1);
}

void call_put_u32(struct module_call *c, uint32_t v)
{
    call_put(c, &v, sizeof v);
}

/* ---- one call ---- */

struct module_row {
    void (*apply)(struct module_call *c, const struct module_op *op);
    bool looks; /* it changes nothing */
};

static const struct module_row module_rows[] = {
    [0] = {op_one, false},
    [1] = {op_one, false},
    [2] = {op_get, true},
    [3] = {op_attempt, false},
    [4] = {op_attempt, false},
    [5] = {op_complete, false},
    [6] = {op_remove, false},
    [7] = {op_adopt, false},
    [8] = {op_join, false},
    [9] = {op_object, false},
    [10] = {op_copy, false},
    [11] = {op_read, true},
    [12] = {op_where, true},
    [13] = {op_count, true},
    [REDIS_NOTIFY] = {op_notify, false},
    [REDIS_DOOM] = {op_doom, false},
    [REDIS_SETTLED] = {op_settled, false},
    [REDIS_FENCE] = {op_fence, false},
    [REDIS_ITEM] = {op_item, true},
    [REDIS_PUTS] = {op_run, false},
    [REDIS_HOLDS] = {op_run, false},
    [REDIS_ITEMS] = {op_run, true},
    [REDIS_COMPLETES] = {op_ends, false},
};

static void module_apply_one(struct module_call *c)
{
    const unsigned char *h = call_bytes(c, HEAD);
    size_t rows = sizeof module_rows / sizeof *module_rows;
    const struct module_row *row = h && h[0] < rows ? &module_rows[h[0]] : NULL;
    if (!row || !row->apply || (c->looks && !row->looks)) {
        c->bad = true;
        return;
    }
    struct module_op op = {.kind = h[0],
                           .status = h[1],
                           .task = u32_at(h + 4),
                           .epoch = u32_at(h + 8),
                           .node = u32_at(h + 12),
                           .x = u32_at(h + 16),
                           .time = h + 20};
    memcpy(&op.attempt, h + 2, sizeof op.attempt);
    row->apply(c, &op);
}

/* False: too short for one. */
static bool module_read_header(struct module_call *c, const unsigned char *bytes, size_t n)
{
    c->at = bytes;
    c->end = bytes + n;
    const unsigned char *h = call_bytes(c, HEADER);
    if (!h)
        return false;
    c->resent = h[0];
    c->keep = h[1];
    c->expire = u32_at(h + 2);
    c->tasks = u32_at(h + 6);
    c->edges = u32_at(h + 10);
    c->client = h + 14;
    c->number = u32_at(h + 22);
    return true; /* where things stand (26 to 42) is for the script */
}

/* Sent again: applied before? Then the same answers as then. */
static bool module_answers_again(struct module_call *c)
{
    size_t n;
    if (c->resent != 1 || c->keep != REDIS_KEEP_ANSWER)
        return false;
    const unsigned char *s = keys_answers(c, c->client, &n);
    bool same = s && n >= 5 && u32_at(s) == c->number;
    if (!same)
        c->resent = 0; /* it never came here */
    if (!same || s[4] != 1)
        return false;
    server.answer(c->ctx, (const char *)s + 5, n - 5);
    return true;
}

static void module_do(struct module_call *c, const char *name, const char *format,
                      enum module_key key, const unsigned char *first, size_t nfirst,
                      const unsigned char *second, size_t nsecond)
{
    struct server_reply *r =
        server.call(c->ctx, name, format, c->keys[key], first, nfirst, second, nsecond);
    if (r)
        server.reply_free(r);
}

/* In the same step as the changes: a call is applied and remembered, or neither. */
static void module_remember(struct module_call *c)
{
    bool kept = c->out.n - 5 <= ANSWERS_LONG;
    unsigned char sum[ENDED_BYTES];
    uint32_t any = 0;
    for (int i = DONE; i < STATUSES; i++)
        any |= c->ended[i];
    if (any) {
        ops_sum(c, sum);
        module_do(c, "SET", "!sb", KEY_ENDED, sum, sizeof sum, NULL, 0);
    }
    put_u32_at(c->out.at, c->number);
    c->out.at[4] = kept;
    if (c->keep == REDIS_KEEP_ANSWER)
        module_do(c, "HSET", "!sbb", KEY_ANSWERS, c->client, CLIENT, c->out.at,
                  kept ? c->out.n : 5);
    else if (c->keep == REDIS_KEEP_BYE)
        keys_answers_drop(c, c->client);
    for (int k = 0; k < KEYS && c->expire; k++) {
        struct server_reply *r =
            server.call(c->ctx, "EXPIRE", "!sl", c->keys[k], (long long)c->expire);
        if (r)
            server.reply_free(r);
    }
}

/* The answers begin behind five bytes, for what is kept of them: number and whether they follow. */
static void module_apply(struct module_call *c)
{
    if (!keys_open(c)) {
        server.answer_error(c->ctx, "WEFTGONE the keys of this run are gone");
        return;
    }
    if (module_answers_again(c))
        return;
    call_put(c, "\0\0\0\0", 5);
    while (c->at < c->end && !c->bad)
        module_apply_one(c);
    if (c->bad) {
        server.answer_error(c->ctx, "ERR this is no call of weft");
        return;
    }
    if (!c->looks)
        module_remember(c);
    server.answer(c->ctx, (const char *)c->out.at + 5, c->out.n - 5);
}

static int module_run(struct server_ctx *ctx, struct server_string **argv, int argc, bool looks)
{
    struct module_call *c = &module_last;
    size_t n = 0;
    if (argc != 1 + KEYS + 1)
        return server.answer_error(ctx, "ERR expected the twelve keys of a shard and a call");
    *c = (struct module_call){.ctx = ctx,
                              .keys = argv + 1,
                              .looks = looks,
                              .nodes = c->nodes,
                              .nodes_room = c->nodes_room,
                              .out = {.at = c->out.at, .room = c->out.room},
                              .records = {.dirty = c->records.dirty, .room = c->records.room},
                              .marks = {.dirty = c->marks.dirty, .room = c->marks.room},
                              .sizes = {.dirty = c->sizes.dirty, .room = c->sizes.room}};
    const char *bytes = server.bytes(argv[1 + KEYS], &n);
    if (!module_read_header(c, (const unsigned char *)bytes, n) || (looks && c->keep)) {
        return server.answer_error(ctx, "ERR this is no call of weft");
    }
    module_apply(c);
    keys_close(c);
    return SERVER_OK;
}

static int module_apply_command(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return module_run(ctx, argv, argc, false);
}

static int module_look_command(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    return module_run(ctx, argv, argc, true);
}

/* ---- loading ---- */

/* The first word of the context is the function that gives out all others. */
static bool module_find_functions(struct server_ctx *ctx)
{
    int (*get)(const char *name, void *at);
    memcpy(&get, (const void *)ctx, sizeof(void *));
    bool good = true;
#define FIND(result, name, theirs, arguments)                                                      \
    good &= get("RedisModule_" #theirs, (void *)&server.name) == SERVER_OK;
    SERVER_FUNCTIONS(FIND)
    return good;
}

__attribute__((visibility("default"))) int
RedisModule_OnLoad(struct server_ctx *ctx, struct server_string **argv, int argc);
int RedisModule_OnLoad(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    (void)argv;
    (void)argc;
    if (!module_find_functions(ctx))
        return SERVER_ERR;
    server.attributes(ctx, REDIS_MODULE_NAME, REDIS_MODULE_VERSION, SERVER_API);
    bool good = server.command(ctx, REDIS_MODULE_APPLY, module_apply_command, "write deny-oom", 1,
                               KEYS, 1) == SERVER_OK &&
                server.command(ctx, REDIS_MODULE_LOOK, module_look_command, "readonly", 1, KEYS,
                               1) == SERVER_OK;
    return good ? SERVER_OK : SERVER_ERR;
}
