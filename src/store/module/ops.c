/* Operations on one shard, one function a kind (enum meta_kind, enum redis_word). They read what
 * follows the head of an operation and put their answer: the very bytes that apply.lua answers, which
 * says why each is decided so. Both and encode.c, decode.c change together.
 *
 * Exactly once: see apply.lua. A record is changed in place; nothing is kept back. */
#include "store/module/call.h"
#include "store/redis/script.h"

#include <math.h>

enum { SMALL = 32 }; /* edges in: a task with more has a counter instead of being read whole */
enum { NOTIFY_BYTES = 33, COMPLETE_BYTES = 53, REMOVE_BYTES = 25 };

static bool is_zero(const unsigned char *p, size_t n)
{
    unsigned char any = 0;
    for (size_t i = 0; i < n; i++)
        any |= p[i];
    return !any;
}

/* The fourth byte of a mark is never zero, so four bytes tell. */
static bool is_marked(const unsigned char *edge)
{
    return u32_at(edge) != 0;
}

static bool is_held(const unsigned char *rec, const struct module_op *op)
{
    return u32_at(rec + AT_HOLDER) == op->node && u32_at(rec + AT_EPOCH) == op->epoch;
}

bool ops_may_take(struct module_call *c, uint32_t node, uint32_t life)
{
    const struct module_node *n = keys_node(c, node);
    return !n->fenced && life >= n->life;
}

/* ---- items ---- */

struct ops_section ops_section(struct module_call *c)
{
    struct ops_section s = {.first = call_u32(c), .count = call_u32(c), .ninputs = call_u32(c)};
    s.inputs = call_bytes(c, (size_t)s.ninputs * 4);
    return s;
}

/* Where each input of the workflow has a copy. */
static void ops_put_inputs(struct module_call *c, uint32_t n, const unsigned char *inputs)
{
    if (!n || !c->copied) {
        call_put_u8(c, 0);
        return;
    }
    call_put_u8(c, 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t object = u32_at(inputs + (size_t)i * 4);
        unsigned char entry[4 + 1 + SIZE] = {255, 255, 255, 255};
        size_t size;
        const unsigned char *s = keys_hash(c, KEY_COPIES, object, &size);
        if (s && size >= 4) {
            memcpy(entry, s, 4);
            s = keys_hash(c, KEY_INPUTS, object, &size);
            entry[4] = s && size == SIZE;
            if (entry[4])
                memcpy(entry + 5, s, SIZE);
        }
        call_put(c, entry, sizeof entry);
    }
}

static void ops_put_item(struct module_call *c, const unsigned char *record, uint32_t first,
                         uint32_t count, uint32_t ninputs, const unsigned char *inputs)
{
    const unsigned char *marks = keys_edges(c, first, count);
    call_put(c, record, REDIS_SCRIPT_RECORD);
    if (marks) {
        call_put(c, marks, (size_t)count * REDIS_SCRIPT_EDGE);
        call_put_u8(c, c->sizes.key != NULL);
        if (c->sizes.key)
            call_put(c, c->sizes.at + (size_t)first * SIZE, (size_t)count * SIZE);
    }
    if (!c->bad)
        ops_put_inputs(c, ninputs, inputs);
}

void ops_put_section(struct module_call *c, const unsigned char *record,
                     const struct ops_section *s)
{
    ops_put_item(c, record, s->first, s->count, s->ninputs, s->inputs);
}

/* ---- who holds a task ---- */

/* Another holder, queued since then, its epoch one more. */
void ops_take(struct module_call *c, uint32_t task, uint32_t node, const unsigned char *time)
{
    unsigned char *rec = keys_record(c, task);
    if (u32_at(rec + AT_FIRST) == NOBODY) {
        put_u32_at(rec + AT_FIRST, node);
    } else if (u32_at(rec + AT_HOLDER) != node) {
        size_t n;
        const unsigned char *before = keys_hash(c, KEY_MOVES, task, &n);
        struct module_buffer all = {.at = NULL};
        all.at = module_room(NULL, 0, n + 4, &all.room, 1);
        if (n)
            memcpy(all.at, before, n);
        put_u32_at(all.at + n, node);
        keys_hash_set(c, KEY_MOVES, task, all.at, n + 4);
        server.release(all.at);
    }
    put_u32_at(rec + AT_EPOCH, u32_at(rec + AT_EPOCH) + 1);
    put_u32_at(rec + AT_HOLDER, node);
    memcpy(rec + AT_QUEUED, time, TIME);
    keys_record_changed(c, task, 1);
}

uint8_t ops_put_task(struct module_call *c, const struct module_op *op, uint32_t task)
{
    static const double nan_time = NAN;
    unsigned char *rec = keys_record(c, task);
    bool held = op->node != NOBODY;
    if (rec[AT_STATUS] != ABSENT)
        return OUTCOME_OK;
    if (held && keys_node(c, op->node)->fenced)
        return OUTCOME_STALE;
    uint8_t doomed = rec[AT_DOOMED];
    memset(rec, 0, REDIS_SCRIPT_RECORD);
    rec[AT_STATUS] = QUEUED;
    rec[AT_DOOMED] = doomed;
    put_u32_at(rec + AT_EPOCH, held);
    put_u32_at(rec + AT_HOLDER, op->node);
    put_u32_at(rec + AT_FIRST, op->node);
    memcpy(rec + AT_QUEUED, held ? (const void *)op->time : &nan_time, TIME);
    memcpy(rec + AT_STARTED, &nan_time, TIME);
    memcpy(rec + AT_ENDED, &nan_time, TIME);
    memcpy(rec + AT_SUBMITTED, op->time, TIME);
    keys_record_changed(c, task, 1);
    return OUTCOME_OK;
}

uint8_t ops_hold_task(struct module_call *c, const struct module_op *op, uint32_t task)
{
    const unsigned char *rec = keys_record(c, task);
    uint32_t epoch = u32_at(rec + AT_EPOCH);
    if (rec[AT_STATUS] == ABSENT)
        return OUTCOME_UNKNOWN;
    if (rec[AT_STATUS] >= DONE)
        return OUTCOME_ENDED;
    if (epoch == op->epoch + 1 && u32_at(rec + AT_HOLDER) == op->node)
        return OUTCOME_OK;
    if (epoch != op->epoch || !ops_may_take(c, op->node, op->x))
        return OUTCOME_STALE;
    ops_take(c, task, op->node, op->time);
    return OUTCOME_OK;
}

void op_one(struct module_call *c, const struct module_op *op)
{
    struct ops_section s = ops_section(c);
    const unsigned char *rec = keys_record(c, op->task);
    if (c->bad)
        return;
    call_put_u8(c, op->kind == 0 ? ops_put_task(c, op, op->task) : ops_hold_task(c, op, op->task));
    ops_put_section(c, rec, &s);
}

void op_get(struct module_call *c, const struct module_op *op)
{
    struct ops_section s = ops_section(c);
    const unsigned char *rec = keys_record(c, op->task);
    call_put_u8(c, rec[AT_STATUS] == ABSENT ? OUTCOME_UNKNOWN
                   : rec[AT_STATUS] >= DONE ? OUTCOME_ENDED
                                            : OUTCOME_OK);
    ops_put_section(c, rec, &s);
}

/* START and RETRY. */
void op_attempt(struct module_call *c, const struct module_op *op)
{
    unsigned char *rec = keys_record(c, op->task);
    uint8_t outcome = OUTCOME_OK;
    uint16_t attempts;
    memcpy(&attempts, rec + AT_ATTEMPTS, sizeof attempts);
    bool starts = op->kind == 3;
    if (rec[AT_STATUS] == ABSENT) {
        outcome = OUTCOME_UNKNOWN;
    } else if (rec[AT_STATUS] >= DONE) {
        outcome = OUTCOME_ENDED;
    } else if (!is_held(rec, op)) {
        outcome = OUTCOME_STALE;
    } else if (starts ? rec[AT_STATUS] != RUNNING || attempts != op->attempt
                      : rec[AT_STATUS] != QUEUED || attempts < op->attempt) {
        rec[AT_STATUS] = starts ? RUNNING : QUEUED;
        memcpy(rec + AT_ATTEMPTS, &op->attempt, sizeof op->attempt);
        if (starts)
            memcpy(rec + AT_STARTED, op->time, TIME);
        keys_record_changed(c, op->task, 1);
    }
    call_put_u8(c, outcome);
    call_put_u8(c, rec[AT_STATUS]);
    call_put_u32(c, u32_at(rec + AT_HOLDER));
}

/* ---- ends, and who hears of them ---- */

static bool ops_all_marked(const unsigned char *marks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!is_marked(marks + (size_t)i * REDIS_SCRIPT_EDGE))
            return false;
    return true;
}

static long long ops_counted(struct module_call *c, uint32_t task)
{
    size_t n;
    const unsigned char *s = keys_hash(c, KEY_COUNTS, task, &n);
    long long v = 0;
    for (size_t i = 0; s && i < n && s[i] >= '0' && s[i] <= '9'; i++)
        v = 10 * v + (s[i] - '0');
    return v;
}

static long long ops_count(struct module_call *c, uint32_t task, uint32_t more)
{
    keys_reply_done(c);
    c->reply = server.call(c->ctx, "HINCRBY", "!sll", c->keys[KEY_COUNTS], (long long)task,
                           (long long)more);
    return c->reply && server.reply_type(c->reply) == SERVER_REPLY_INTEGER
               ? server.reply_integer(c->reply)
               : 0;
}

/* Marks on the edges from one parent. True: they are new. `was_marked`: some mark stood there. */
static bool ops_mark(unsigned char *at, uint32_t n, const unsigned char *mark, bool *was_marked)
{
    bool same = true;
    *was_marked = is_marked(at);
    for (uint32_t i = 0; i < n && same; i++)
        same = memcmp(at + (size_t)i * REDIS_SCRIPT_EDGE, mark, REDIS_SCRIPT_EDGE) == 0;
    for (uint32_t i = 0; i < n && !same; i++)
        memcpy(at + (size_t)i * REDIS_SCRIPT_EDGE, mark, REDIS_SCRIPT_EDGE);
    return !same;
}

/* One child, once: edges that carry this mark already are left alone. */
void ops_notify(struct module_call *c, const unsigned char *mark)
{
    const unsigned char *h = call_bytes(c, NOTIFY_BYTES);
    if (c->bad)
        return;
    uint32_t child = u32_at(h), first = u32_at(h + 4), total = u32_at(h + 8);
    uint32_t pos = u32_at(h + 12), len = u32_at(h + 16), ninputs = u32_at(h + 29);
    const unsigned char *size = h + 21, *inputs = call_bytes(c, (size_t)ninputs * 4);
    const unsigned char *rec = keys_record(c, child);
    unsigned char *edges = keys_edges(c, first, total);
    if (c->bad || !edges || !len || (uint64_t)pos + len > total) {
        c->bad = true;
        return;
    }
    bool was_marked;
    if (ops_mark(edges + (size_t)pos * REDIS_SCRIPT_EDGE, len, mark, &was_marked)) {
        keys_edges_changed(c, first + pos, len);
        if (!is_zero(size, SIZE))
            keys_set_size(c, first + pos, h[20], size);
    }
    bool ready = total <= SMALL ? ops_all_marked(edges, total)
                 : was_marked   ? ops_counted(c, child) == total
                                : ops_count(c, child, len) == total;
    ready = ready && rec[AT_STATUS] == QUEUED;
    call_put_u8(c, ready);
    if (ready)
        ops_put_item(c, rec, first, total, ninputs, inputs);
}

/* One child of a task that failed or was removed: marked, and listed unless it has ended. */
void ops_doom(struct module_call *c)
{
    uint32_t child = call_u32(c);
    struct ops_section s = ops_section(c);
    unsigned char *rec = keys_record(c, child);
    if (c->bad)
        return;
    if (!rec[AT_DOOMED]) {
        rec[AT_DOOMED] = 1;
        keys_record_changed(c, child, 1);
    }
    bool open = rec[AT_STATUS] != ABSENT && rec[AT_STATUS] < DONE;
    call_put_u8(c, open);
    if (open)
        ops_put_section(c, rec, &s);
}

/* Of a task that began before the ends of its parents were known here: they still are not. */
static bool ops_is_early(struct module_call *c, const struct module_op *op)
{
    if (op->x != 1)
        return false;
    uint32_t first = call_u32(c), count = call_u32(c);
    const unsigned char *edges = keys_edges(c, first, count);
    if (count > SMALL)
        return ops_counted(c, op->task) != count;
    return edges && !ops_all_marked(edges, count);
}

struct ops_end ops_complete(struct module_call *c, const struct module_op *op, uint32_t task,
                            const unsigned char *start, const unsigned char *time,
                            const unsigned char *proof, bool early)
{
    unsigned char *rec = keys_record(c, task);
    bool held = is_held(rec, op);
    struct ops_end end = {.status = rec[AT_STATUS], .holder = u32_at(rec + AT_HOLDER)};
    /* whoever said so before had no key: it is said now */
    if (end.status == DONE && held && is_zero(rec + AT_PROOF, REDIS_SCRIPT_PROOF))
        end.status = RUNNING;
    if (end.status == ABSENT) {
        end.outcome = OUTCOME_UNKNOWN;
    } else if (end.status >= DONE) {
        bool other = end.status == FAILED || end.status == REMOVED || !held;
        end.outcome = other ? OUTCOME_ENDED : OUTCOME_OK;
    } else if (!held || early) {
        end.outcome = OUTCOME_STALE;
    } else {
        end.fresh = 1;
        end.status = op->status >= SKIPPED ? op->status : DONE;
        c->ended[end.status < STATUSES ? end.status : EXCUSED]++;
        rec[AT_STATUS] = end.status;
        if (op->attempt)
            memcpy(rec + AT_ATTEMPTS, &op->attempt, sizeof op->attempt);
        memcpy(rec + AT_STARTED, start, TIME);
        memcpy(rec + AT_ENDED, time, TIME);
        memcpy(rec + AT_PROOF, proof, REDIS_SCRIPT_PROOF);
        keys_record_changed(c, task, 1);
    }
    return end;
}

void ops_put_end(struct module_call *c, struct ops_end end)
{
    call_put_u8(c, end.outcome);
    call_put_u8(c, end.fresh);
    call_put_u8(c, end.status);
    call_put_u32(c, end.holder);
}

/* A note that children in other shards may not know. */
static void ops_note(struct module_call *c, uint32_t task, uint8_t what, const unsigned char *mark,
                     const unsigned char *bytes)
{
    unsigned char note[1 + REDIS_SCRIPT_EDGE + SIZE] = {what};
    if (mark)
        memcpy(note + 1, mark, REDIS_SCRIPT_EDGE);
    if (bytes)
        memcpy(note + 1 + REDIS_SCRIPT_EDGE, bytes, SIZE);
    keys_hash_set(c, KEY_PENDING, task, note, sizeof note);
}

/* start 8, bytes 8, mark 12, proof 16, remote B, count I, length I; [edges II]; children */
void op_complete(struct module_call *c, const struct module_op *op)
{
    const unsigned char *h = call_bytes(c, COMPLETE_BYTES);
    if (c->bad)
        return;
    const unsigned char *bytes = h + 8, *mark = h + 16, *proof = h + 28;
    uint32_t count = u32_at(h + 45), length = u32_at(h + 49);
    bool early = ops_is_early(c, op);
    const unsigned char *children = c->at;
    struct ops_end end = {.outcome = OUTCOME_UNKNOWN};
    keys_record(c, op->task);
    if (c->bad || !call_bytes(c, length))
        return;
    end = ops_complete(c, op, op->task, h, op->time, proof, early);
    ops_put_end(c, end);
    if (end.fresh && h[44])
        ops_note(c, op->task, 1, mark, bytes);
    if (end.outcome != OUTCOME_OK)
        return;
    c->at = children;
    for (uint32_t i = 0; i < count && !c->bad; i++)
        ops_notify(c, mark);
    c->bad |= c->at != children + length;
}

/* proof 16, remote B, count I, length I; [edges II]; children */
void op_remove(struct module_call *c, const struct module_op *op)
{
    const unsigned char *h = call_bytes(c, REMOVE_BYTES);
    unsigned char *rec = keys_record(c, op->task);
    if (c->bad)
        return;
    uint32_t count = u32_at(h + 17), length = u32_at(h + 21);
    bool early = ops_is_early(c, op);
    const unsigned char *children = c->at;
    uint8_t want = op->status == FAILED ? FAILED : REMOVED, outcome = OUTCOME_OK;
    if (!call_bytes(c, length))
        return;
    if (rec[AT_STATUS] == ABSENT) {
        outcome = OUTCOME_UNKNOWN;
    } else if (rec[AT_STATUS] >= DONE) {
        bool again =
            c->resent && rec[AT_STATUS] == want && memcmp(rec + AT_ENDED, op->time, TIME) == 0;
        outcome = again ? OUTCOME_OK : OUTCOME_ENDED;
    } else if (want == FAILED && (early || !is_held(rec, op))) {
        outcome = OUTCOME_STALE;
    } else {
        rec[AT_STATUS] = want;
        c->ended[want]++;
        memcpy(rec + AT_ENDED, op->time, TIME);
        memcpy(rec + AT_PROOF, h, REDIS_SCRIPT_PROOF);
        keys_record_changed(c, op->task, 1);
        if (h[16])
            ops_note(c, op->task, 2, NULL, NULL);
    }
    call_put_u8(c, outcome);
    call_put_u8(c, rec[AT_STATUS]);
    call_put_u32(c, u32_at(rec + AT_HOLDER));
    if (outcome != OUTCOME_OK)
        return;
    c->at = children;
    for (uint32_t i = 0; i < count && !c->bad; i++)
        ops_doom(c);
    c->bad |= c->at != children + length;
}
