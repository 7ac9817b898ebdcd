/* What the script says, back to answers: the client knows the graph, so it makes the items. The
 * script writes no lengths that follow from the graph; both sides count the same edges.
 *
 * A reply is not trusted: every read is checked (struct redis_cursor), and one that does not
 * come out even is refused as a whole. */
#include "store/redis/state.h"

#include "model/growth.h"
#include <math.h>

struct redis_cursor {
    const unsigned char *at, *end;
    bool bad; /* read past the end; what was read is zero */
};

static const unsigned char no_bytes[REDIS_SCRIPT_RECORD];

/* All reading ends here: past the end there is only zero, and the whole answer is thrown away at
 * the end. */
static const unsigned char *decode_bytes(struct redis_cursor *c, size_t n)
{
    if ((size_t)(c->end - c->at) < n) {
        c->bad = true;
        return NULL;
    }
    c->at += n;
    return c->at - n;
}

static uint8_t decode_u8(struct redis_cursor *c)
{
    const unsigned char *p = decode_bytes(c, 1);
    return p ? *p : 0;
}

static uint32_t read_u32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static uint32_t decode_u32(struct redis_cursor *c)
{
    const unsigned char *p = decode_bytes(c, 4);
    return p ? read_u32(p) : 0;
}

static double read_double(const unsigned char *p)
{
    double v;
    memcpy(&v, p, 8);
    return v;
}

/* ---- looking at a task ---- */

struct redis_seen {
    uint32_t task, n;            /* n: edges in */
    const unsigned char *record; /* REDIS_SCRIPT_RECORD bytes */
    const unsigned char *marks;  /* REDIS_SCRIPT_EDGE bytes an edge; NULL: none is marked */
    const unsigned char *sizes;  /* 8 bytes an edge, or NULL: as in the workflow */
    const unsigned char *inputs; /* 13 bytes each, or NULL: nobody has one */
};

/* The parts of `put_item` in apply.lua, in its order. Points into the reply: valid as long as that
 * is. */
static struct redis_seen decode_seen(struct redis_cursor *c, const struct workflow *w,
                                     uint32_t task)
{
    struct redis_seen s = {.task = task, .n = w->pred_off[task + 1] - w->pred_off[task]};
    s.record = decode_bytes(c, REDIS_SCRIPT_RECORD);
    if (s.n) {
        s.marks = decode_bytes(c, (size_t)s.n * REDIS_SCRIPT_EDGE);
        if (decode_u8(c))
            s.sizes = decode_bytes(c, (size_t)s.n * 8);
    }
    if (decode_u8(c) && w->input_off)
        s.inputs = decode_bytes(c, (size_t)(w->input_off[task + 1] - w->input_off[task]) * 13);
    if (!s.record)
        s.record = no_bytes;
    if (c->bad)
        s.n = 0;
    return s;
}

static uint8_t status_of(const struct redis_seen *s)
{
    return s->record[0];
}

static uint32_t holder_of(const struct redis_seen *s)
{
    return status_of(s) == META_ABSENT ? NONE : read_u32(s->record + 8);
}

/* Eight zero bytes are "as in the workflow"; a size of zero came as -0.0, which + 0.0 makes 0 again
 * (encode.c). */
static double edge_size(const struct redis_seen *s, const struct workflow *w, uint32_t i)
{
    uint32_t object = w->pred_object[w->pred_off[s->task] + i];
    if (object == NONE)
        return 0;
    uint64_t word = 0;
    if (s->sizes)
        memcpy(&word, s->sizes + (size_t)i * 8, 8);
    return word ? read_double(s->sizes + (size_t)i * 8) + 0.0 : w->size[object];
}

/* The other direction of mark_of() in encode.c. */
static uint32_t node_of_mark(uint32_t mark)
{
    return mark >> 24 == 1 ? mark & (REDIS_NODES_MAX - 1) : NONE;
}

/* The same sums in the same order as the table's. A parent whose end nobody proves is waited for. */
static struct meta_item decode_item(struct redis *r, const struct redis_seen *s)
{
    const struct workflow *w = r->w;
    struct meta_item item = {.task = s->task,
                             .epoch = read_u32(s->record + 4),
                             .holder = holder_of(s),
                             .max_node = NONE};
    uint16_t attempts;
    memcpy(&attempts, s->record + 2, 2);
    item.attempts = attempts;
    const uint32_t *parent = s->n ? w->pred_task + w->pred_off[s->task] : NULL;
    for (uint32_t i = 0; i < s->n;) {
        uint32_t first = i;
        uint32_t mark =
            s->marks ? redis_proved_mark(r, parent[i], s->marks + (size_t)i * REDIS_SCRIPT_EDGE)
                     : 0;
        double sum = 0;
        for (; i < s->n && parent[i] == parent[first]; i++) {
            sum += edge_size(s, w, i);
            item.waiting += !mark;
        }
        item.all_size += sum;
        if (sum > item.max_size && mark) {
            item.max_size = sum;
            item.max_node = node_of_mark(mark);
        }
    }
    if (!s->inputs)
        return item;
    for (uint32_t i = w->input_off[s->task]; i < w->input_off[s->task + 1]; i++) {
        const unsigned char *p = s->inputs + (size_t)(i - w->input_off[s->task]) * 13;
        if (read_u32(p) == NONE)
            continue;
        double size = p[4] ? read_double(p + 5) + 0.0 : w->size[w->input_object[i]];
        item.all_size += size;
        if (size > item.max_size) {
            item.max_size = size;
            item.max_node = read_u32(p);
        }
    }
    return item;
}

/* ---- COMPLETE and REMOVE ---- */

/* A child that became ready (or is doomed) is described; one that did not is a zero byte. */
static void decode_child(struct redis *r, struct redis_cursor *c, uint32_t child,
                         struct redis_entry *e)
{
    if (!decode_u8(c))
        return;
    struct redis_seen s = decode_seen(c, r->w, child);
    struct meta_item item = decode_item(r, &s);
    /* ready but for a parent whose end is not proved: that one will notify it when it is */
    bool ready = !item.waiting || (e && e->op.kind == META_REMOVE);
    if (e && ready)
        array_push(&e->items, item);
}

static int by_task(const void *a, const void *b)
{
    uint32_t x = ((const struct meta_item *)a)->task, y = ((const struct meta_item *)b)->task;
    return (x > y) - (x < y);
}

/* Children in the order of the edges, as the table lists them: a fresh COMPLETE names a child at
 * its last edge, everything else at each. */
static void decode_sort_children(struct redis *r, struct redis_entry *e)
{
    const struct workflow *w = r->w;
    uint32_t task = e->op.task;
    if (!e->items.n)
        return;
    ARRAY(struct meta_item) sorted = {0};
    qsort(e->items.at, e->items.n, sizeof *e->items.at, by_task);
    for (uint32_t edge = w->succ_off[task]; edge < w->succ_off[task + 1]; edge++) {
        struct meta_item key = {.task = w->succ_task[edge]};
        const struct meta_item *found = bsearch(&key, e->items.at, e->items.n, sizeof key, by_task);
        if (!found)
            continue;
        uint32_t first, n = redis_run(w, task, key.task, &first);
        if (!e->fresh || e->op.kind == META_REMOVE ||
            w->pred_object[first + n - 1] == w->succ_object[edge])
            array_push(&sorted, *found);
    }
    const struct later_edge *later;
    growth_each_later(w, task, later)
    {
        struct meta_item key = {.task = later->task};
        const struct meta_item *found = bsearch(&key, e->items.at, e->items.n, sizeof key, by_task);
        uint32_t first, n = redis_run(w, task, key.task, &first);
        if (found && (!e->fresh || e->op.kind == META_REMOVE ||
                      w->pred_object[first + n - 1] == later->object))
            array_push(&sorted, *found);
    }
    array_free(&e->items);
    e->items.at = sorted.at;
    e->items.n = sorted.n;
    e->items.cap = sorted.cap;
}

/* All shards have answered: others may ask about the children, the note goes, and the answer is
 * complete. */
static void end_finished(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    if (e->several) {
        redis_release(r, e);
        if (e->answer.outcome == META_OK && e->op.kind != META_SETTLE)
            redis_encode_settled(r, e->op.task);
    }
    decode_sort_children(r, e);
    redis_entry_done(r, number);
}

/* The first half of COMPLETE or REMOVE is back. If it was granted and children stand elsewhere, the
 * second half goes out now. */
static void decode_end(struct redis *r, struct redis_shard *shard, struct redis_cursor *c,
                       uint64_t number)
{
    const struct workflow *w = r->w;
    struct redis_entry *e = redis_entry_at(r, number);
    uint32_t task = e->op.task;
    e->answer.outcome = decode_u8(c);
    if (e->op.kind == META_COMPLETE)
        e->fresh = decode_u8(c);
    e->answer.status = decode_u8(c);
    uint32_t holder = decode_u32(c);
    e->answer.item.holder = e->answer.status == META_ABSENT ? NONE : holder;
    e->open--;
    if (e->answer.outcome == META_OK) {
        for (uint32_t edge = w->succ_off[task]; edge < w->succ_off[task + 1]; edge++) {
            uint32_t child = w->succ_task[edge], first;
            redis_run(w, task, child, &first);
            if (redis_shard_of(r, child) == shard && w->pred_object[first] == w->succ_object[edge])
                decode_child(r, c, child, e);
        }
        unsigned char edge[REDIS_SCRIPT_EDGE];
        if (e->several) {
            redis_edge_of(r, &e->op, edge);
            e->open += redis_encode_children(
                r, number, task, e->op.kind == META_REMOVE ? NULL : edge,
                w->object_end[task] - w->object_off[task] == 1 ? e->op.bytes : 0, REDIS_PART_CHILD);
        }
    }
    if (!e->open)
        end_finished(r, number);
}

/* How the task ended that a SETTLE is about: if it has, its children that joined later hear of it. */
static void decode_settle(struct redis *r, struct redis_cursor *c, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    uint32_t task = e->op.task;
    struct redis_seen s = decode_seen(c, r->w, task);
    uint8_t status = redis_proved_status(r, task, s.record);
    unsigned char edge[REDIS_SCRIPT_EDGE];
    if (meta_is_complete(status))
        redis_prove_edge(r, task, redis_mark_of(holder_of(&s)), edge);
    e->open--;
    if (status >= META_DONE)
        e->open += redis_encode_children(r, number, task, meta_is_complete(status) ? edge : NULL, 0,
                                         REDIS_PART_CHILD);
    if (!e->open)
        end_finished(r, number);
}

/* ---- ADOPT ---- */

/* The store is no longer this ADOPT's alone. */
static void adopt_finished(struct redis *r, uint64_t number)
{
    r->exclusive = false;
    redis_entry_done(r, number);
}

/* STALE: the node that asks was declared dead itself, or nobody knows whether the call was
 * applied. */
static void adopt_refused(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    e->answer.outcome = META_STALE;
    e->answer.item.task = NONE;
    e->items.n = e->nodes.n = 0;
    adopt_finished(r, number);
}

/* The second half: children were notified for the dead, so their notes can go, and the scan begins
 * at the task asked for. */
static void adopt_scan(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    for (size_t i = 0; i < r->repairs.n; i++)
        redis_encode_settled(r, r->repairs.at[i].task);
    r->repairs.n = 0;
    struct redis_shard *shard = r->shards[e->shard];
    uint32_t from = e->op.task > shard->first ? e->op.task : shard->first;
    redis_encode_adopt(r, number,
                       from < shard->first + shard->count ? from : shard->first + shard->count);
}

/* A shard knows that the node is dead, and which words are on their way to children elsewhere; all
 * of them are said again, since nobody can tell which of the speakers still live. */
static void decode_fence(struct redis *r, struct redis_shard *shard, struct redis_cursor *c,
                         uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    if (decode_u8(c)) {
        e->answer.outcome = META_STALE;
    } else {
        for (uint32_t i = 0, n = decode_u32(c); i < n && !c->bad; i++) {
            uint32_t task = decode_u32(c);
            const unsigned char *word = decode_bytes(c, 1 + REDIS_SCRIPT_EDGE + 8);
            if (!word || task >= shard->count) {
                c->bad = true;
                return;
            }
            task += shard->first;
            array_push(&r->repairs, (struct redis_settled){task});
            /* its proof goes along as it is: who made it up made up nothing that is believed */
            e->open +=
                redis_encode_children(r, number, task, word[0] == 2 ? NULL : word + 1,
                                      read_double(word + 1 + REDIS_SCRIPT_EDGE), REDIS_PART_REPAIR);
        }
    }
}

/* One part of the first half of an ADOPT is back. */
static void adopt_step(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    if (--e->open)
        return;
    if (e->answer.outcome == META_OK) {
        adopt_scan(r, number);
        return;
    }
    r->repairs.n = 0;
    adopt_refused(r, number);
}

/* One step of the scan: more of this shard, the next shard, or the end (all records read, or as
 * many tasks as were asked for). */
static void decode_adopt(struct redis *r, struct redis_shard *shard, struct redis_cursor *c,
                         uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    e->open--;
    if (decode_u8(c)) {
        adopt_refused(r, number);
        return;
    }
    uint32_t at = decode_u32(c), stop = decode_u8(c), n = decode_u32(c);
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        uint32_t task = decode_u32(c);
        if (task >= shard->count)
            c->bad = true;
        else
            array_push(&e->nodes, shard->first + task);
    }
    if (c->bad)
        return;
    if (!stop && at < shard->count) {
        redis_encode_adopt(r, number, shard->first + at);
        return;
    }
    if (!stop && e->shard + 1 < r->nshards) {
        e->shard++;
        redis_encode_adopt(r, number, r->shards[e->shard]->first);
        return;
    }
    e->answer.item.task = stop ? shard->first + at : NONE;
    for (size_t i = 0; i < e->nodes.n; i++)
        redis_encode_item(r, number, e->nodes.at[i]);
    e->scanning = false;
    /* looks of different shards come back in any order: each has its place */
    for (size_t i = 0; i < e->nodes.n; i++)
        array_push(&e->items, (struct meta_item){.task = e->nodes.at[i]});
    if (!e->open)
        adopt_finished(r, number);
}

/* One of the tasks that ADOPT took. The last completes the answer. */
static void decode_taken(struct redis *r, struct redis_cursor *c, uint64_t number,
                         const struct redis_seen *s)
{
    struct redis_entry *e = redis_entry_at(r, number);
    struct meta_item key = {.task = s->task};
    struct meta_item *place =
        e->items.n ? bsearch(&key, e->items.at, e->items.n, sizeof key, by_task) : NULL;
    if (!place) {
        c->bad = true;
        return;
    }
    *place = decode_item(r, s);
    if (--e->open)
        return;
    e->nodes.n = 0;
    adopt_finished(r, number);
}

/* ---- the others ---- */

/* READ: a record with its history, oldest holder first. */
static void decode_record(struct redis *r, struct redis_cursor *c, struct redis_entry *e)
{
    const struct workflow *w = r->w;
    uint32_t task = e->op.task, moves = decode_u32(c);
    const unsigned char *nodes = decode_bytes(c, (size_t)moves * 4);
    struct redis_seen s = decode_seen(c, w, task);
    if (c->bad)
        return;
    struct meta_item item = decode_item(r, &s);
    bool absent = status_of(&s) == META_ABSENT;
    uint8_t status = redis_proved_status(r, task, s.record);
    uint32_t first = absent ? NONE : read_u32(s.record + 12);
    struct meta_record *record = e->record = mem_new(struct meta_record, 1);
    *record = (struct meta_record){.task = task,
                                   .holder = item.holder,
                                   .epoch = item.epoch,
                                   .ran_on = status == META_DONE ? item.holder : NONE,
                                   .attempts = (uint16_t)item.attempts,
                                   .status = status,
                                   .forged = status != status_of(&s),
                                   .all_size = item.all_size,
                                   .queued = absent ? NAN : read_double(s.record + 16),
                                   .started = absent ? NAN : read_double(s.record + 24),
                                   .ended = absent ? NAN : read_double(s.record + 32),
                                   .submitted = absent ? NAN : read_double(s.record + 40)};
    for (uint32_t i = 0, last = NONE; i < s.n; i++) {
        uint32_t parent = w->pred_task[w->pred_off[task] + i];
        record->waiting_parents +=
            parent != last &&
            !redis_proved_mark(r, parent, s.marks + (size_t)i * REDIS_SCRIPT_EDGE);
        last = parent;
    }
    if (first != NONE)
        array_push(&e->nodes, first);
    for (uint32_t i = 0; i < moves; i++)
        array_push(&e->nodes, read_u32(nodes + (size_t)i * 4));
    record->count = (uint32_t)e->nodes.n;
    e->answer.status = status;
    e->answer.item.holder = item.holder;
}

/* The producer's node first, if it is done, then the copies; no node twice at the front. */
static void decode_where(struct redis *r, struct redis_cursor *c, struct redis_entry *e)
{
    const unsigned char *record = decode_bytes(c, REDIS_SCRIPT_RECORD);
    uint32_t producer = r->w->producer[e->op.task], n = decode_u32(c);
    if (c->bad)
        return;
    uint8_t status = producer == NONE ? META_ABSENT : redis_proved_status(r, producer, record);
    uint32_t holder = read_u32(record + 8);
    e->answer.status = status;
    if (status == META_DONE) {
        array_push(&e->nodes, holder);
        array_add(&e->digests);
    }
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *copy = decode_bytes(c, REDIS_SCRIPT_COPY);
        struct digest content;
        if (!copy)
            return;
        if (!redis_copy_is_proved(r, e->op.task, copy))
            continue;
        memcpy(&content, copy + 4, sizeof content);
        if (!digest_is_zero(&content))
            memcpy(&e->answer.item.all_size, copy + 4 + sizeof content, 8);
        if (e->nodes.n && e->nodes.at[0] == read_u32(copy)) {
            e->digests.at[0] = content;
            continue;
        }
        array_push(&e->nodes, read_u32(copy));
        array_push(&e->digests, content);
    }
}

static void decode_looked(struct redis *r, struct redis_entry *e, const struct redis_seen *s)
{
    e->answer.item = decode_item(r, s);
    e->answer.status = redis_proved_status(r, e->op.task, s->record);
    if (e->op.kind == META_GET)
        e->answer.doomed =
            e->answer.item.waiting && s->record[1] && e->answer.outcome != META_UNKNOWN;
}

/* PUT, HOLD and GET answer with an item, START and RETRY with status and holder only. */
static void decode_task(struct redis *r, struct redis_cursor *c, struct redis_entry *e)
{
    if (e->op.kind == META_READ) {
        decode_record(r, c, e);
        return;
    }
    e->answer.outcome = decode_u8(c);
    if (e->op.kind == META_START || e->op.kind == META_RETRY) {
        e->answer.status = decode_u8(c);
        uint32_t holder = decode_u32(c);
        e->answer.item.holder = e->answer.status == META_ABSENT ? NONE : holder;
        return;
    }
    struct redis_seen s = decode_seen(c, r->w, e->op.task);
    decode_looked(r, e, &s);
}

/* COUNT by looking: the ends that are proved, and where to go on. */
static void decode_audit(struct redis *r, struct redis_cursor *c, struct redis_entry *e)
{
    uint32_t first = e->op.task, n = redis_audited(r, first);
    const unsigned char *records = decode_bytes(c, (size_t)n * REDIS_SCRIPT_RECORD);
    for (uint32_t i = 0; records && i < n; i++) {
        uint8_t status =
            redis_proved_status(r, first + i, records + (size_t)i * REDIS_SCRIPT_RECORD);
        e->answer.item.task += status == META_DONE;
        e->answer.item.epoch += status == META_FAILED;
        e->answer.item.waiting += status == META_REMOVED;
        e->answer.item.all_size += status == META_SKIPPED;
        e->answer.item.max_size += status == META_EXCUSED;
    }
    e->answer.item.holder = first + n < r->w->ntasks ? first + n : NONE;
}

static void decode_op(struct redis *r, struct redis_shard *shard, struct redis_cursor *c,
                      uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    switch (e->op.kind) {
    case META_COMPLETE:
    case META_REMOVE:
        decode_end(r, shard, c, number);
        return;
    case META_SETTLE:
        decode_settle(r, c, number);
        return;
    case META_ADOPT:
        decode_adopt(r, shard, c, number);
        return;
    case META_WHERE:
        decode_where(r, c, e);
        break;
    case META_COUNT:
        if (e->op.status == 1) {
            decode_audit(r, c, e);
            break;
        }
        e->answer.item.task += decode_u32(c);
        e->answer.item.epoch += decode_u32(c);
        e->answer.item.waiting += decode_u32(c);
        e->answer.item.all_size += decode_u32(c);
        e->answer.item.max_size += decode_u32(c);
        break;
    case META_JOIN:
    case META_OBJECT:
    case META_COPY:
        if (decode_u8(c))
            e->answer.outcome = META_STALE;
        break;
    default:
        decode_task(r, c, e);
    }
    if (!--e->open)
        redis_entry_done(r, number);
}

/* A run of COMPLETEs: all ended just now, or how each did. */
static void decode_ends(struct redis *r, struct redis_shard *shard, struct redis_cursor *c,
                        const struct redis_part *run)
{
    bool all = decode_u8(c);
    for (uint32_t i = 0; i < run->count && !c->bad; i++) {
        struct redis_entry *e = redis_entry_at(r, run->entry + i);
        if (!all) {
            decode_end(r, shard, c, run->entry + i);
            continue;
        }
        e->fresh = true;
        e->answer.status = e->op.status >= META_SKIPPED ? e->op.status : META_DONE;
        e->answer.item.holder = e->op.node;
        e->open--;
        end_finished(r, run->entry + i);
    }
}

/* A run of PUTs, HOLDs or ITEMs (`put_run` in apply.lua): one record for all, or one of each, with the
 * edges behind them. */
static void decode_run(struct redis *r, struct redis_cursor *c, const struct redis_part *run)
{
    const struct workflow *w = r->w;
    uint32_t n = run->count, first = w->pred_off[run->task];
    size_t edges = w->pred_off[run->task + n] - first;
    bool alike = decode_u8(c);
    const unsigned char *outcomes = alike ? NULL : decode_bytes(c, n);
    const unsigned char *records = decode_bytes(c, (size_t)(alike ? 1 : n) * REDIS_SCRIPT_RECORD);
    const unsigned char *marks = alike ? NULL : decode_bytes(c, edges * REDIS_SCRIPT_EDGE);
    const unsigned char *sizes =
        !alike && decode_u8(c) && edges ? decode_bytes(c, edges * 8) : NULL;
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        uint32_t task = run->task + i;
        size_t before = w->pred_off[task] - first;
        struct redis_seen s = {
            .task = task,
            .n = w->pred_off[task + 1] - w->pred_off[task],
            .record = records + (alike ? 0 : (size_t)i * REDIS_SCRIPT_RECORD),
            .marks = marks ? marks + before * REDIS_SCRIPT_EDGE : NULL,
            .sizes = sizes ? sizes + before * 8 : NULL,
        };
        if (run->kind == REDIS_PART_ITEM) {
            decode_taken(r, c, run->entry, &s);
            continue;
        }
        struct redis_entry *e = redis_entry_at(r, run->entry + i);
        e->answer.outcome = outcomes ? outcomes[i] : META_OK;
        decode_looked(r, e, &s);
        if (!--e->open)
            redis_entry_done(r, run->entry + i);
    }
}

bool redis_decode(struct redis *r, struct redis_shard *shard, const struct redis_call *call,
                  const unsigned char *bytes, size_t n)
{
    struct redis_cursor c = {bytes, bytes + n, false};
    for (size_t i = 0; i < call->parts.n && !c.bad; i++) {
        const struct redis_part *part = &call->parts.at[i];
        if (part->count > 1 && part->kind == REDIS_PART_OP &&
            redis_entry_at(r, part->entry)->op.kind == META_COMPLETE) {
            decode_ends(r, shard, &c, part);
            continue;
        }
        if (part->count > 1) {
            decode_run(r, &c, part);
            continue;
        }
        switch ((enum redis_part_kind)part->kind) {
        case REDIS_PART_OP:
            decode_op(r, shard, &c, part->entry);
            break;
        case REDIS_PART_CHILD: {
            struct redis_entry *e = redis_entry_at(r, part->entry);
            decode_child(r, &c, part->task, e);
            if (!--e->open)
                end_finished(r, part->entry);
            break;
        }
        case REDIS_PART_REPAIR:
            decode_child(r, &c, part->task, NULL);
            adopt_step(r, part->entry);
            break;
        case REDIS_PART_FENCE:
            decode_fence(r, shard, &c, part->entry);
            adopt_step(r, part->entry);
            break;
        case REDIS_PART_ITEM: {
            struct redis_seen s = decode_seen(&c, r->w, part->task);
            decode_taken(r, &c, part->entry, &s);
            break;
        }
        case REDIS_PART_QUIET:
            decode_u8(&c);
            break;
        }
    }
    return !c.bad && c.at == c.end;
}
