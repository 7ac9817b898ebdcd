/* Operations that end no task: nodes that die, come and go, objects, and looks. As in ops.c, they answer
 * the very bytes that apply.lua answers. */
#include "store/module/call.h"
#include "store/redis/script.h"

enum { OBJECT_BYTES = 14 };

/* ---- nodes that die, come and go ---- */

/* That life and all before it are over, also when its JOIN is still on the way. The dead will not ask
 * again, so its kept answers go; should it ask, the number says that the call was applied. */
static void ops_fence(struct module_call *c, uint32_t node, uint32_t over)
{
    struct module_node now = *keys_node(c, node);
    size_t n = 0;
    if (now.fenced && now.life >= over)
        return;
    const unsigned char *s = now.nclient ? keys_answers(c, now.client, &n) : NULL;
    if (s && n >= 4) {
        unsigned char number[5] = {0};
        memcpy(number, s, 4);
        struct server_reply *set =
            server.call(c->ctx, "HSET", "!sbb", c->keys[KEY_ANSWERS], (const char *)now.client,
                        (size_t)CLIENT, (const char *)number, sizeof number);
        if (set)
            server.reply_free(set);
    }
    now.life = now.life > over ? now.life : over;
    now.fenced = true;
    keys_set_node(c, &now);
}

/* Another life has begun since that one was over: it takes its tasks back itself. */
static bool ops_is_back(struct module_call *c, const struct module_op *op, uint32_t over)
{
    return op->x != op->node && over > 0 && keys_node(c, op->x)->life > over;
}

void op_adopt(struct module_call *c, const struct module_op *op)
{
    uint32_t limit = call_u32(c), scan = call_u32(c), over = call_u32(c), taken = 0, stop = 0;
    if (c->bad)
        return;
    if (c->resent || !ops_may_take(c, op->node, op->epoch)) {
        call_put_u8(c, OUTCOME_STALE);
        return;
    }
    bool back = ops_is_back(c, op, over);
    if (!back && op->x != op->node)
        ops_fence(c, op->x, over);
    uint32_t i = back ? c->tasks : op->task;
    uint64_t last = (uint64_t)op->task + scan < c->tasks ? (uint64_t)op->task + scan : c->tasks;
    call_put_u8(c, OUTCOME_OK);
    size_t place = c->out.n;
    call_put(c, (const unsigned char[9]){0}, 9); /* known when all have been looked at */
    for (; i < last; i++) {
        unsigned char *rec = keys_record(c, i);
        if (u32_at(rec + AT_HOLDER) != op->x || rec[AT_STATUS] == ABSENT || rec[AT_STATUS] >= DONE)
            continue;
        if (taken == limit) {
            stop = 1;
            break;
        }
        ops_take(c, i, op->node, op->time);
        rec[AT_STATUS] = QUEUED;
        call_put_u32(c, i);
        taken++;
    }
    put_u32_at(c->out.at + place, i);
    c->out.at[place + 4] = (uint8_t)stop;
    put_u32_at(c->out.at + place + 5, taken);
}

void op_join(struct module_call *c, const struct module_op *op)
{
    struct module_node now = *keys_node(c, op->node);
    bool same = now.nclient && memcmp(now.client, c->client, CLIENT) == 0;
    if (op->x < now.life || (op->x == now.life && now.fenced)) {
        call_put_u8(c, OUTCOME_STALE);
        return;
    }
    if (op->x != now.life || now.fenced || !same) {
        if (now.nclient && !same)
            keys_answers_drop(c, now.client);
        now.life = op->x;
        now.fenced = false;
        now.nclient = CLIENT;
        memcpy(now.client, c->client, CLIENT);
        keys_set_node(c, &now);
    }
    call_put_u8(c, OUTCOME_OK);
}

/* Whose children may not all have been notified? */
void op_fence(struct module_call *c, const struct module_op *op)
{
    uint32_t over = call_u32(c);
    if (c->bad)
        return;
    if (!ops_may_take(c, op->node, op->epoch)) {
        call_put_u8(c, OUTCOME_STALE);
        return;
    }
    call_put_u8(c, OUTCOME_OK);
    if (ops_is_back(c, op, over)) {
        call_put_u32(c, 0);
        return;
    }
    if (op->x != op->node)
        ops_fence(c, op->x, over);
    keys_reply_done(c);
    c->reply = server.call(c->ctx, "HGETALL", "s", c->keys[KEY_PENDING]);
    size_t n = c->reply && server.reply_type(c->reply) == SERVER_REPLY_ARRAY
                   ? server.reply_length(c->reply)
                   : 0;
    call_put_u32(c, (uint32_t)(n / 2));
    for (size_t i = 0; i + 1 < n; i += 2) {
        size_t digits, length;
        const char *text = server.reply_bytes(server.reply_at(c->reply, i), &digits);
        uint32_t task = 0;
        for (size_t k = 0; text && k < digits; k++)
            task = 10 * task + (uint32_t)(text[k] - '0');
        const char *note = server.reply_bytes(server.reply_at(c->reply, i + 1), &length);
        call_put_u32(c, task);
        call_put(c, note, note ? length : 0);
    }
}

/* ---- objects ---- */

/* Where its consumers look, and an input's own size: size 8, differs B, input B, count I; edges. */
void op_object(struct module_call *c, const struct module_op *op)
{
    const unsigned char *h = call_bytes(c, OBJECT_BYTES);
    if (c->bad)
        return;
    if (h[9] == 1)
        keys_hash_set(c, KEY_INPUTS, op->task, h, SIZE);
    for (uint32_t i = 0, n = u32_at(h + 10); i < n && !c->bad; i++)
        keys_set_size(c, call_u32(c), h[8], h);
    call_put_u8(c, OUTCOME_OK);
}

/* Newest first; one a node. */
void op_copy(struct module_call *c, const struct module_op *op)
{
    enum { COPY = REDIS_SCRIPT_COPY };
    const unsigned char *copy = call_bytes(c, COPY);
    if (c->bad)
        return;
    size_t n, at = 0;
    const unsigned char *s = keys_hash(c, KEY_COPIES, op->task, &n);
    n = s ? n - n % COPY : 0;
    while (at < n && memcmp(s + at, copy, 4) != 0)
        at += COPY;
    bool there = at < n, wanted = op->status != 0;
    struct module_buffer all = {.at = NULL};
    all.at = module_room(NULL, 0, n + COPY, &all.room, 1);
    if (wanted && !there) {
        memcpy(all.at, copy, COPY);
        memcpy(all.at + COPY, s ? s : copy, n);
        keys_hash_set(c, KEY_COPIES, op->task, all.at, n + COPY);
        c->copied = true;
    } else if (wanted && memcmp(s + at, copy, COPY) != 0) { /* made again, and not to the bit */
        memcpy(all.at, s, n);
        memcpy(all.at + at, copy, COPY);
        keys_hash_set(c, KEY_COPIES, op->task, all.at, n);
    } else if (!wanted && there && n == COPY) {
        keys_hash_drop(c, KEY_COPIES, op->task);
    } else if (!wanted && there) {
        memcpy(all.at, s, at);
        memcpy(all.at + at, s + at + COPY, n - at - COPY);
        keys_hash_set(c, KEY_COPIES, op->task, all.at, n - COPY);
    }
    server.release(all.at);
    call_put_u8(c, OUTCOME_OK);
}

void op_read(struct module_call *c, const struct module_op *op)
{
    struct ops_section s = ops_section(c);
    const unsigned char *rec = keys_record(c, op->task), *moves = NULL;
    size_t n = 0;
    if (u32_at(rec + AT_EPOCH) > 1)
        moves = keys_hash(c, KEY_MOVES, op->task, &n);
    n -= n % 4;
    call_put_u32(c, (uint32_t)(n / 4));
    call_put(c, moves, n);
    ops_put_section(c, rec, &s);
}

void op_where(struct module_call *c, const struct module_op *op)
{
    static const unsigned char none[REDIS_SCRIPT_RECORD];
    const unsigned char *rec = op->x != NOBODY ? keys_record(c, op->x) : none;
    size_t n;
    const unsigned char *s = keys_hash(c, KEY_COPIES, op->task, &n);
    n = s ? n / REDIS_SCRIPT_COPY : 0;
    call_put(c, rec, REDIS_SCRIPT_RECORD);
    call_put_u32(c, (uint32_t)n);
    call_put(c, s, n * REDIS_SCRIPT_COPY);
}

void op_item(struct module_call *c, const struct module_op *op)
{
    struct ops_section s = ops_section(c);
    ops_put_section(c, keys_record(c, op->task), &s);
}

/* Of this shard, with those of this call. */
void ops_sum(struct module_call *c, unsigned char sum[static ENDED_BYTES])
{
    static const uint8_t order[] = {DONE, FAILED, REMOVED, SKIPPED, EXCUSED};
    size_t n = 0;
    keys_reply_done(c);
    c->reply = server.call(c->ctx, "GET", "s", c->keys[KEY_ENDED]);
    const char *s = c->reply && server.reply_type(c->reply) == SERVER_REPLY_STRING
                        ? server.reply_bytes(c->reply, &n)
                        : NULL;
    for (size_t i = 0; i < sizeof order; i++) {
        uint32_t before = s && n == ENDED_BYTES ? u32_at((const unsigned char *)s + 4 * i) : 0;
        put_u32_at(sum + 4 * i, before + c->ended[order[i]]);
    }
}

/* 1: the records, for who has the key to verify them. */
void op_count(struct module_call *c, const struct module_op *op)
{
    unsigned char sum[ENDED_BYTES];
    if (op->status != 1) {
        ops_sum(c, sum);
        call_put(c, sum, sizeof sum);
    } else if ((uint64_t)op->task + op->x > c->tasks) {
        c->bad = true;
    } else if (op->x) {
        call_put(c, keys_record(c, op->task), (size_t)op->x * REDIS_SCRIPT_RECORD);
    }
}

void op_notify(struct module_call *c, const struct module_op *op)
{
    const unsigned char *mark = call_bytes(c, REDIS_SCRIPT_EDGE);
    (void)op;
    if (!c->bad)
        ops_notify(c, mark);
}

void op_doom(struct module_call *c, const struct module_op *op)
{
    (void)op;
    ops_doom(c);
}

void op_settled(struct module_call *c, const struct module_op *op)
{
    keys_hash_drop(c, KEY_PENDING, op->task);
    call_put_u8(c, OUTCOME_OK);
}
