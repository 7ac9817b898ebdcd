/* The keys of one shard, as the module uses them: three strings in place, hashes by the server's own
 * commands.
 *
 *   I1. Nothing outside a string is read or written, whatever the call says: every number of a task
 *       or an edge is checked here.
 *   I2. What changed in place is replicated as SETRANGE, before the command ends, also when the call
 *       turns out to be bad: memory, file and replicas never differ. A server without this module can
 *       read that file. */
#include "store/module/call.h"
#include "store/redis/script.h"

#define GAP 512u /* bytes between two changes that are written along: a SETRANGE costs more */

void *module_room(void *at, size_t n, size_t more, size_t *room, size_t each)
{
    if (n + more <= *room)
        return at;
    *room = 2 * (n + more);
    return server.resize(at, *room * each);
}

/* ---- strings ---- */

/* False: it is no string of at least so many bytes. */
static bool area_open(struct module_call *c, struct area *a, enum module_key key, size_t least)
{
    int mode = c->looks ? SERVER_READ : SERVER_READ | SERVER_WRITE;
    a->size = 0;
    a->low = SIZE_MAX;
    a->high = 0;
    a->key = server.open(c->ctx, c->keys[key], mode);
    if (a->key && server.type(a->key) == SERVER_KEY_STRING)
        a->at = (unsigned char *)server.direct(a->key, &a->size, mode);
    size_t words = a->size / ((size_t)64 * AREA_CHUNK) + 1;
    if (words > a->room) {
        a->dirty = server.resize(a->dirty, words * sizeof *a->dirty);
        memset(a->dirty + a->room, 0, (words - a->room) * sizeof *a->dirty);
        a->room = words;
    }
    return a->size >= least;
}

static void area_changed(struct area *a, size_t from, size_t to)
{
    size_t first = from / AREA_CHUNK, last = (to - 1) / AREA_CHUNK;
    for (size_t i = first; i <= last; i++)
        a->dirty[i / 64] |= (uint64_t)1 << i % 64;
    a->low = first / 64 < a->low ? first / 64 : a->low;
    a->high = last / 64 + 1 > a->high ? last / 64 + 1 : a->high;
}

static void area_replicate(struct module_call *c, const struct area *a, enum module_key key,
                           size_t from, size_t to)
{
    to = to < a->size ? to : a->size;
    if (from < to)
        server.replicate(c->ctx, "SETRANGE", "slb", c->keys[key], (long long)from,
                         (char *)a->at + from, to - from);
}

/* I2. From bit to bit, in rising order; what lies between two that are close goes along. */
static void area_close(struct module_call *c, struct area *a, enum module_key key)
{
    size_t from = 0, to = 0;
    for (size_t word = a->low; word < a->high; word++) {
        for (uint64_t bits = a->dirty[word]; bits; bits &= bits - 1) {
            size_t at = (word * 64 + (size_t)__builtin_ctzll(bits)) * AREA_CHUNK;
            if (at > to + GAP || !to) {
                area_replicate(c, a, key, from, to);
                from = at;
            }
            to = at + AREA_CHUNK;
        }
        a->dirty[word] = 0;
    }
    area_replicate(c, a, key, from, to);
    if (a->key)
        server.close(a->key);
    a->key = NULL;
}

static bool keys_exist(struct module_call *c, enum module_key key)
{
    struct server_key *k = server.open(c->ctx, c->keys[key], SERVER_READ);
    bool is = k && server.type(k) != SERVER_KEY_EMPTY;
    if (k)
        server.close(k);
    return is;
}

bool keys_open(struct module_call *c)
{
    bool good = area_open(c, &c->records, KEY_RECORDS, (size_t)c->tasks * REDIS_SCRIPT_RECORD) &&
                c->records.size == (size_t)c->tasks * REDIS_SCRIPT_RECORD &&
                area_open(c, &c->marks, KEY_EDGES, (size_t)c->edges * REDIS_SCRIPT_EDGE);
    if (good && keys_exist(c, KEY_SIZES))
        good = area_open(c, &c->sizes, KEY_SIZES, (size_t)c->edges * SIZE);
    c->copied = good && keys_exist(c, KEY_COPIES);
    return good;
}

void keys_close(struct module_call *c)
{
    keys_reply_done(c);
    area_close(c, &c->records, KEY_RECORDS);
    area_close(c, &c->marks, KEY_EDGES);
    area_close(c, &c->sizes, KEY_SIZES);
}

/* I1 */
unsigned char *keys_record(struct module_call *c, uint32_t task)
{
    if (task < c->tasks)
        return c->records.at + (size_t)task * REDIS_SCRIPT_RECORD;
    c->bad = true;
    memset(c->blank, 0, sizeof c->blank);
    return c->blank;
}

void keys_record_changed(struct module_call *c, uint32_t task, uint32_t count)
{
    if ((uint64_t)task + count <= c->tasks)
        area_changed(&c->records, (size_t)task * REDIS_SCRIPT_RECORD,
                     ((size_t)task + count) * REDIS_SCRIPT_RECORD);
}

/* I1 */
unsigned char *keys_edges(struct module_call *c, uint32_t first, uint32_t count)
{
    if ((uint64_t)first + count <= c->edges)
        return count ? c->marks.at + (size_t)first * REDIS_SCRIPT_EDGE : NULL;
    c->bad = true;
    return NULL;
}

void keys_edges_changed(struct module_call *c, uint32_t first, uint32_t count)
{
    area_changed(&c->marks, (size_t)first * REDIS_SCRIPT_EDGE,
                 ((size_t)first + count) * REDIS_SCRIPT_EDGE);
}

/* Sizes are there from the first on that differs from the workflow's. */
void keys_set_size(struct module_call *c, uint32_t edge, bool differs, const unsigned char *size)
{
    if (edge >= c->edges)
        c->bad = true;
    if (c->bad || (!differs && !c->sizes.key))
        return;
    if (!c->sizes.key) {
        struct server_reply *made = server.call(c->ctx, "SETRANGE", "!slb", c->keys[KEY_SIZES],
                                                (long long)c->edges * SIZE - 1, "", (size_t)1);
        if (made)
            server.reply_free(made);
        if (!area_open(c, &c->sizes, KEY_SIZES, (size_t)c->edges * SIZE)) {
            c->bad = true;
            return;
        }
    }
    memcpy(c->sizes.at + (size_t)edge * SIZE, size, SIZE);
    area_changed(&c->sizes, (size_t)edge * SIZE, ((size_t)edge + 1) * SIZE);
}

/* ---- hashes ---- */

void keys_reply_done(struct module_call *c)
{
    if (c->reply)
        server.reply_free(c->reply);
    c->reply = NULL;
}

static const unsigned char *keys_value(struct module_call *c, size_t *n)
{
    *n = 0;
    if (!c->reply || server.reply_type(c->reply) != SERVER_REPLY_STRING)
        return NULL;
    return (const unsigned char *)server.reply_bytes(c->reply, n);
}

const unsigned char *keys_hash(struct module_call *c, enum module_key key, uint32_t field,
                               size_t *n)
{
    keys_reply_done(c);
    c->reply = server.call(c->ctx, "HGET", "sl", c->keys[key], (long long)field);
    return keys_value(c, n);
}

void keys_hash_set(struct module_call *c, enum module_key key, uint32_t field, const void *value,
                   size_t n)
{
    struct server_reply *set =
        server.call(c->ctx, "HSET", "!slb", c->keys[key], (long long)field, value, n);
    if (set)
        server.reply_free(set);
}

void keys_hash_drop(struct module_call *c, enum module_key key, uint32_t field)
{
    struct server_reply *gone = server.call(c->ctx, "HDEL", "!sl", c->keys[key], (long long)field);
    if (gone)
        server.reply_free(gone);
}

const unsigned char *keys_answers(struct module_call *c, const unsigned char *client, size_t *n)
{
    keys_reply_done(c);
    c->reply = server.call(c->ctx, "HGET", "sb", c->keys[KEY_ANSWERS], (const char *)client,
                           (size_t)CLIENT);
    return keys_value(c, n);
}

void keys_answers_drop(struct module_call *c, const unsigned char *client)
{
    struct server_reply *gone = server.call(c->ctx, "HDEL", "!sb", c->keys[KEY_ANSWERS],
                                            (const char *)client, (size_t)CLIENT);
    if (gone)
        server.reply_free(gone);
}

/* ---- nodes: few in one call ---- */

const struct module_node *keys_node(struct module_call *c, uint32_t node)
{
    for (size_t i = 0; i < c->nnodes; i++)
        if (c->nodes[i].node == node)
            return &c->nodes[i];
    struct module_node now = {.node = node};
    size_t n;
    const unsigned char *s = keys_hash(c, KEY_NODES, node, &n);
    if (s && n >= 5) {
        now.life = u32_at(s);
        now.fenced = s[4] == 1;
        now.nclient = n == 5 + CLIENT ? CLIENT : 0;
        memcpy(now.client, s + 5, now.nclient);
    }
    c->nodes = module_room(c->nodes, c->nnodes, 1, &c->nodes_room, sizeof *c->nodes);
    c->nodes[c->nnodes] = now;
    return &c->nodes[c->nnodes++];
}

void keys_set_node(struct module_call *c, const struct module_node *now)
{
    unsigned char s[5 + CLIENT];
    put_u32_at(s, now->life);
    s[4] = now->fenced;
    memcpy(s + 5, now->client, now->nclient);
    keys_hash_set(c, KEY_NODES, now->node, s, (size_t)5 + now->nclient);
    keys_node(c, now->node);
    for (size_t i = 0; i < c->nnodes; i++)
        if (c->nodes[i].node == now->node)
            c->nodes[i] = *now;
}
