/* The calls of the store's scripts: batches of operations, one queue a shard, and the store's side
 * of the client (client.h).
 *
 *   I1. A shard's channel has a window of 1: its calls are applied in the order in which they were
 *       created, whatever happens to connections and slots.
 *   I2. A call that is in flight, or may have been applied, is sealed: nothing is added to it. So a
 *       call that is sent again has the same number and the same operations.
 *   I3. A call that changes something carries its number and REDIS_KEEP_ANSWER. Sent again, the
 *       shard finds the number of our last call, and gives the kept answers instead of applying it
 *       twice.
 *
 * What a call looks like (apply.lua reads it; numbers are little-endian):
 *
 *     offset  0       1     2       6      10     14      22      26                 42
 *             resent  keep  expire  tasks  edges  client  number  records, edges     operations ...
 *             B       B     I       I      I      8       I       IIII: from, to     28 bytes or more each
 *
 * Records and edges: where the tasks that COMPLETE and their children stand, if it is worth reading all
 * of that at once. */
#include "base/clock.h"
#include "store/redis/state.h"
#include "store/redis/words.h"
#include <stdio.h>

#define CALL_PARTS                                                                                 \
    1024u /* operations, most in one call: others wait no longer than for these, 5 ms */
#define CALL_BYTES (256u << 10) /* likewise */
#define HEADER_BYTES (2 + 3 * 4 + REDIS_SCRIPT_CLIENT + 4 + 4 * 4)
#define AHEAD_BYTES                                                                                \
    384u /* read for nothing, at most, to save one question of the script to the server */

const char *const redis_scripts[REDIS_SCRIPTS] = {
    [REDIS_CALL_APPLY] = store_redis_apply_lua,
    [REDIS_CALL_OPEN] = store_redis_open_lua,
};

static struct redis_call *call_of(struct redis_command *c)
{
    return (struct redis_call *)c; /* its first member */
}

struct redis_call *redis_call_new(struct redis *r, struct redis_shard *shard,
                                  enum redis_call_kind kind)
{
    struct redis_call *c = r->spare;
    if (c)
        r->spare = c->next_spare;
    else
        c = mem_new_zero(struct redis_call, 1);
    c->shard = shard;
    c->kind = (uint8_t)kind;
    c->keep = REDIS_KEEP_NOT;
    c->number = shard->numbered++;
    c->parts.n = 0;
    c->operations = c->joined = 0;
    c->joinable = false;
    c->told = 0;
    c->records = c->edges = (struct redis_span){UINT32_MAX, 0};
    array_reserve(&c->bytes, HEADER_BYTES);
    memset(c->bytes.at, 0, HEADER_BYTES);
    c->bytes.n = HEADER_BYTES;
    c->command.script = kind == REDIS_CALL_FORGET ? -1 : (int)kind;
    c->command.native = NULL;
    c->command.changes = kind == REDIS_CALL_APPLY;
    redis_client_ask(r->client, shard->channel, &c->command);
    return c;
}

struct redis_call *redis_call_filling(struct redis *r, struct redis_shard *shard)
{
    struct redis_command *last = shard->channel->last;
    struct redis_call *c = last ? call_of(last) : NULL;
    bool sealed = !c || c->kind != REDIS_CALL_APPLY || last->in_flight || last->resent || /* I2 */
                  c->operations >= CALL_PARTS || c->bytes.n >= CALL_BYTES;
    return sealed ? redis_call_new(r, shard, REDIS_CALL_APPLY) : c;
}

void redis_call_free(struct redis_call *call)
{
    array_free(&call->bytes);
    array_free(&call->parts);
    free(call);
}

size_t redis_calls_bytes(const struct redis *r)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->nshards; i++)
        for (struct redis_command *c = r->shards[i]->channel->first; c; c = c->next)
            n += call_of(c)->bytes.cap + call_of(c)->parts.cap * sizeof *call_of(c)->parts.at;
    return n;
}

/* ---- what the client asks of us ---- */

/* Nothing where it is far apart. */
static void calls_write_span(const struct redis_call *call, struct redis_span span, size_t each,
                             unsigned char *at)
{
    uint32_t ends[2] = {span.from, span.to};
    if (call->told < 2 || (span.to - span.from) * each > (size_t)call->told * AHEAD_BYTES)
        ends[0] = ends[1] = 0;
    memcpy(at, ends, sizeof ends);
}

/* The header is written at each sending: whether it is sent again, and whether the run's expiry is
 * to be renewed (four times in its length), is only known now. True: it is. */
static bool calls_write_header(struct redis *r, struct redis_call *call, double now)
{
    struct redis_shard *shard = call->shard;
    bool renew = r->expire && now - shard->touched > r->expire / 4.0;
    uint32_t numbers[3] = {renew ? r->expire : 0, shard->count, shard->edges};
    if (renew)
        shard->touched = now;
    call->bytes.at[0] = call->command.resent;
    call->bytes.at[1] = call->keep;
    memcpy(call->bytes.at + 2, numbers, sizeof numbers);
    memcpy(call->bytes.at + 14, r->name, sizeof r->name);
    memcpy(call->bytes.at + 14 + sizeof r->name, &call->number, 4);
    calls_write_span(call, call->records, REDIS_SCRIPT_RECORD, call->bytes.at + 26);
    calls_write_span(call, call->edges, REDIS_SCRIPT_EDGE, call->bytes.at + 34);
    shard->kept |= call->keep == REDIS_KEEP_ANSWER;
    r->calls++;
    return renew;
}

static size_t calls_compose(void *owner, struct redis_command *c, double now, const char **words,
                            size_t *lengths)
{
    struct redis *r = owner;
    struct redis_call *call = call_of(c);
    struct redis_shard *shard = call->shard;
    size_t n = 0;
    words[n] = call->kind == REDIS_CALL_FORGET ? "UNLINK" : "12"; /* or the number of keys */
    lengths[n] = strlen(words[n]), n++;
    for (int k = 0; k < REDIS_SCRIPT_KEYS; k++)
        words[n] = shard->key[k], lengths[n++] = shard->key_size;
    if (call->kind == REDIS_CALL_APPLY) {
        bool renews = calls_write_header(r, call, now);
        bool looks = call->keep == REDIS_KEEP_NOT && !renews;
        c->native = looks ? REDIS_MODULE_LOOK : REDIS_MODULE_APPLY;
        words[n] = (const char *)call->bytes.at, lengths[n++] = call->bytes.n;
    } else if (call->kind == REDIS_CALL_OPEN) {
        const size_t sizes[3] = {(size_t)shard->count * REDIS_SCRIPT_RECORD,
                                 (size_t)shard->edges * REDIS_SCRIPT_EDGE, r->expire};
        words[n] = (const char *)call->bytes.at + HEADER_BYTES;
        lengths[n++] = call->bytes.n - HEADER_BYTES;
        for (int k = 0; k < 3; k++) {
            words[n] = r->scratch[k];
            lengths[n++] = (size_t)snprintf(r->scratch[k], sizeof r->scratch[k], "%zu", sizes[k]);
        }
    }
    return n;
}

static void calls_answered(void *owner, struct redis_channel *ch, struct redis_command *c,
                           const redisReply *reply)
{
    struct redis *r = owner;
    struct redis_shard *shard = r->shards[ch->index];
    struct redis_call *call = call_of(c);
    if (call->kind == REDIS_CALL_OPEN && reply->type == REDIS_REPLY_STRING) {
        free(shard->run);
        shard->run = mem_copy_bytes(reply->str, reply->len);
        if (shard->wanted && strcmp(shard->run, shard->wanted) != 0)
            redis_trouble(r, true,
                          "redis: run '%s' grew otherwise than here (%.80s): another version of "
                          "weft works on it, or somebody else writes to the store",
                          r->prefix, shard->run);
    } else if (call->kind == REDIS_CALL_APPLY &&
               (reply->type != REDIS_REPLY_STRING ||
                !redis_decode(r, shard, call, (const unsigned char *)reply->str, reply->len))) {
        redis_trouble(
            r, true,
            "redis: the server's answer is not what our script says; does another version "
            "of weft write to run '%s'?",
            r->prefix);
    }
}

/* The call stays in its queue: once the cause is mended, store_retry() sends it again. */
static bool calls_refused(void *owner, struct redis_command *c, const struct redis_conn *by,
                          const char *text)
{
    struct redis *r = owner;
    (void)c;
    if (!by)
        redis_trouble(r, true, "redis: %s", text);
    else if (strstr(text, "WEFTGONE"))
        redis_trouble(r, true,
                      "redis %s:%u: the metadata of run '%s' are gone: the server lost or dropped "
                      "them (no append-only file? FLUSHALL? expired?); start the run again",
                      by->host, by->port, r->prefix);
    else if (redis_words_start(text, "OOM"))
        redis_trouble(
            r, false,
            "redis %s:%u: the server's memory is full (%s): raise its maxmemory or remove "
            "old runs, then go on",
            by->host, by->port, text);
    else if (redis_words_start(text, "MISCONF"))
        redis_trouble(r, false,
                      "redis %s:%u: the server cannot write its disk (%s): make space, "
                      "then go on",
                      by->host, by->port, text);
    else
        redis_trouble(r, false, "redis %s:%u: %s", by->host, by->port, text);
    return false;
}

/* Calls are used again: a run makes one for each batch, with buffers that have grown. */
static void calls_release(void *owner, struct redis_command *c)
{
    struct redis *r = owner;
    struct redis_call *call = call_of(c);
    /* a stack: the one used last is the likeliest to be in the cache */
    call->next_spare = r->spare;
    r->spare = call;
}

/* Between answers and the next sending: operations that waited for those answers join the batch. */
static void calls_turn(void *owner)
{
    struct redis *r = owner;
    if (redis_client_is_hopeless(r->client))
        redis_trouble(r, true, "%s", redis_client_trouble(r->client));
    redis_dispatch(r);
}

static void calls_stuck(void *owner, const struct redis_channel *ch, double seconds)
{
    struct redis *r = owner;
    if (seconds <= r->patience)
        return;
    const struct redis_conn *c = redis_client_server(r->client, ch);
    redis_trouble(r, false,
                  "redis %s:%u: %s, for %.0f s; %llu operations are recorded, %llu wait in "
                  "memory: bring the server back, then go on",
                  c->host, c->port, c->state != REDIS_CONN_READY ? c->why : ch->why, seconds,
                  (unsigned long long)r->head, (unsigned long long)(r->tail - r->head));
}

const struct redis_client_ops redis_calls_ops = {
    .compose = calls_compose,
    .answered = calls_answered,
    .refused = calls_refused,
    .release = calls_release,
    .turn = calls_turn,
    .stuck = calls_stuck,
};
