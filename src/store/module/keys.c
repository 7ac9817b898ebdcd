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

#include <stdlib.h>

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
    a->nchanged = 0;
    a->rising = true;
    a->size = 0;
    a->key = server.open(c->ctx, c->keys[key], mode);
    if (a->key && server.type(a->key) == SERVER_KEY_STRING)
        a->at = (unsigned char *)server.direct(a->key, &a->size, mode);
    return a->size >= least;
}

static void area_changed(struct area *a, size_t from, size_t to)
{
    struct area_range *last = a->nchanged ? &a->changed[a->nchanged - 1] : NULL;
    if (last && from >= last->from && from <= last->to + GAP) {
        last->to = to > last->to ? to : last->to;
        return;
    }
    a->rising &= !last || from > last->from;
    a->changed = module_room(a->changed, a->nchanged, 1, &a->room, sizeof *a->changed);
    a->changed[a->nchanged++] = (struct area_range){from, to};
}

static int area_by_place(const void *x, const void *y)
{
    size_t a = ((const struct area_range *)x)->from, b = ((const struct area_range *)y)->from;
    return (a > b) - (a < b);
}

/* I2 */
static void area_close(struct module_call *c, struct area *a, enum module_key key)
{
    if (!a->rising)
        qsort(a->changed, a->nchanged, sizeof *a->changed, area_by_place);
    for (size_t i = 0; i < a->nchanged;) {
        struct area_range all = a->changed[i++];
        for (; i < a->nchanged && a->changed[i].from <= all.to + GAP; i++)
            all.to = a->changed[i].to > all.to ? a->changed[i].to : all.to;
        server.replicate(c->ctx, "SETRANGE", "slb", c->keys[key], (long long)all.from,
                         (char *)a->at + all.from, all.to - all.from);
    }
    a->nchanged = 0;
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
