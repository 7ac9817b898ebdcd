/* Operations to what the script reads: a head of 28 bytes each, then what its kind needs. Numbers
 * of tasks and edges are the shard's own, from 0 on; apply.lua unpacks them in the same order.
 *
 *     offset  0     1       2        4     8      12    16                     20    28
 *             kind  status  attempt  task  epoch  node  x: other, life, ...    time  more, by kind
 *             B     B       H        I     I      I     I                      d
 *
 * Relies on: an operation that must be seen in order by the next is encoded into the same
 * shard's queue, or holds the next one up (redis_encode). */
#include "store/redis/encode.h"

#include "model/growth.h"

/* What the next answer in this call will be for: decode.c goes through the parts in this order. */
static void encode_part(struct redis_call *c, uint64_t entry, enum redis_part_kind kind,
                        uint32_t task)
{
    array_push(&c->parts, (struct redis_part){
                              .entry = entry, .kind = (uint8_t)kind, .task = task, .count = 1});
    c->operations++;
    c->joinable = false;
}

static void encode_head(struct redis_call *c, uint8_t kind, uint32_t task, uint32_t x,
                        const struct meta_op *op)
{
    static const bool reads[] = {
        [META_GET] = true,   [META_READ] = true,   [META_WHERE] = true,      [META_COUNT] = true,
        [REDIS_ITEM] = true, [REDIS_ITEMS] = true, [REDIS_COMPLETES] = false};
    unsigned char head[28];
    if (!reads[kind])
        c->keep = REDIS_KEEP_ANSWER;
    head[0] = kind;
    head[1] = op->status;
    memcpy(head + 2, &op->attempt, 2);
    memcpy(head + 4, &task, 4);
    memcpy(head + 8, &op->epoch, 4);
    memcpy(head + 12, &op->node, 4);
    memcpy(head + 16, &x, 4);
    memcpy(head + 20, &op->time, 8);
    encode_bytes(c, head, sizeof head);
}

/* The workflow's own inputs that the task reads: how many, and their numbers. The shard adds where
 * each has a copy. */
static void encode_inputs(struct redis_call *c, const struct workflow *w, uint32_t task)
{
    uint32_t first = w->input_off ? w->input_off[task] : 0;
    uint32_t n = w->input_off ? w->input_off[task + 1] - first : 0;
    encode_u32(c, n);
    if (n)
        encode_bytes(c, w->input_object + first, (size_t)n * 4);
}

/* Where the task's edges stand in the shard's E and S, and its inputs: enough for the script to
 * answer all that an item is made of (`section` and `put_item` in apply.lua). */
static void encode_section(struct redis_call *c, const struct redis_shard *shard,
                           const struct workflow *w, uint32_t task)
{
    encode_u32(c, w->pred_off[task] - shard->first_edge);
    encode_u32(c, w->pred_off[task + 1] - w->pred_off[task]);
    encode_inputs(c, w, task);
}

/* Where a producer ran, as its children note it: never 0, and its last byte never 0, so that four
 * zero bytes among notes are a producer that is not done. */
uint32_t redis_mark_of(uint32_t node)
{
    return node < REDIS_NODES_MAX ? node | 1u << 24 : 2u << 24;
}

/* What the children of a task that COMPLETEs note of it. Without children nobody looks. */
void redis_edge_of(const struct redis *r, const struct meta_op *op,
                   unsigned char out[static REDIS_SCRIPT_EDGE])
{
    const struct workflow *w = r->w;
    memset(out, 0, REDIS_SCRIPT_EDGE);
    if (w->succ_off[op->task] < w->succ_off[op->task + 1] ||
        growth_first_later(w, op->task) != NONE)
        redis_prove_edge(r, op->task, redis_mark_of(op->node), out);
}

/* The script takes eight zero bytes for "as in the workflow". */
static double size_word(double bytes)
{
    return bytes == 0 ? -0.0 : bytes;
}

/* Edges into a task are sorted by parent: binary search, O(log edges). */
uint32_t redis_run(const struct workflow *w, uint32_t parent, uint32_t child, uint32_t *first)
{
    uint32_t low = w->pred_off[child], high = w->pred_off[child + 1], end = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->pred_task[middle] < parent)
            low = middle + 1;
        else
            high = middle;
    }
    *first = low;
    while (low < end && w->pred_task[low] == parent)
        low++;
    return low - *first;
}

/* A child with several edges from one parent is notified once: at the first of them. */
static bool encode_is_first_edge(const struct workflow *w, uint32_t edge, uint32_t parent,
                                 uint32_t *first, uint32_t *n)
{
    *n = redis_run(w, parent, w->succ_task[edge], first);
    return w->pred_object[*first] == w->succ_object[edge];
}

/* The same for a child that joined later. */
static bool encode_is_first_later(const struct workflow *w, const struct later_edge *edge,
                                  uint32_t parent, uint32_t *first, uint32_t *n)
{
    *n = redis_run(w, parent, edge->task, first);
    return w->pred_object[*first] == edge->object;
}

static void encode_widen(struct redis_span *span, uint32_t from, uint32_t to)
{
    span->from = from < span->from ? from : span->from;
    span->to = to > span->to ? to : span->to;
}

/* The script will look at this task and the edges into it. */
static void encode_tells(struct redis_call *c, const struct redis_shard *shard,
                         const struct workflow *w, uint32_t task)
{
    c->told++;
    encode_widen(&c->records, task - shard->first, task - shard->first + 1);
    encode_widen(&c->edges, w->pred_off[task] - shard->first_edge,
                 w->pred_off[task + 1] - shard->first_edge);
}

/* What the script needs to notify one child (`notify` in apply.lua): its edges, which of them come
 * from this parent, and the size of what they carry. */
static void encode_child(struct redis_call *c, const struct redis_shard *shard,
                         const struct workflow *w, uint32_t child, uint32_t first, uint32_t n,
                         bool doom, double bytes)
{
    encode_u32(c, child - shard->first);
    if (doom) {
        encode_section(c, shard, w, child);
        return;
    }
    uint32_t from = w->pred_off[child], object = w->pred_object[first];
    encode_tells(c, shard, w, child);
    bool sized = bytes > 0 && object != NONE;
    encode_u32(c, from - shard->first_edge);
    encode_u32(c, w->pred_off[child + 1] - from);
    encode_u32(c, first - from);
    encode_u32(c, n);
    encode_u8(c, sized && w->size[object] != bytes);
    encode_double(c, sized ? bytes : 0);
    encode_inputs(c, w, child);
}

/* The bytes that COMPLETE says count for the one object of the task; 0: it has none or several. */
static double object_bytes(const struct workflow *w, const struct meta_op *op)
{
    return w->object_end[op->task] - w->object_off[op->task] == 1 && op->bytes > 0 ? op->bytes : 0;
}

/* Children that joined later stand in other shards: they are busy until they were notified. */
static void encode_busy_later(struct redis *r, struct redis_entry *e)
{
    const struct workflow *w = r->w;
    const struct later_edge *edge;
    uint32_t first, n;
    e->known = w->ntasks;
    growth_each_later(w, e->op.task, edge)
    {
        if (!encode_is_first_later(w, edge, e->op.task, &first, &n))
            continue;
        e->several = true;
        r->busy[edge->task]++;
    }
}

/* COMPLETE and REMOVE, the half in the task's own shard: the operation and the children that stand
 * there. Children elsewhere are counted as busy: what others ask about them waits until they were
 * notified. */
static void encode_end(struct redis *r, uint64_t number)
{
    const struct workflow *w = r->w;
    struct redis_entry *e = redis_entry_at(r, number);
    const struct meta_op *op = &e->op;
    struct redis_shard *shard = redis_shard_of(r, op->task);
    struct redis_call *c = redis_call_filling(r, shard);
    bool doom = op->kind == META_REMOVE;
    double bytes = doom ? 0 : object_bytes(w, op);
    bool alone = !doom && !op->ahead && w->succ_off[op->task] == w->succ_off[op->task + 1] &&
                 growth_first_later(w, op->task) == NONE;
    size_t at = c->bytes.n;
    e->open = 1;
    e->known = w->ntasks;
    if (alone && redis_run_joins(r, c, number, op->task))
        return;
    encode_part(c, number, REDIS_PART_OP, op->task);
    encode_head(c, op->kind, op->task - shard->first, op->ahead != 0, op);
    unsigned char proof[REDIS_SCRIPT_PROOF], mark[REDIS_SCRIPT_EDGE];
    if (!doom) {
        encode_double(c, op->start);
        encode_double(c, bytes);
        redis_edge_of(r, op, mark);
        redis_remember_edge(r, op->task, mark);
        encode_bytes(c, mark, sizeof mark);
    }
    redis_prove_end(r, op, proof);
    encode_bytes(c, proof, sizeof proof);
    /* several, count and length of the children: known when they have been written */
    size_t place = c->bytes.n;
    encode_bytes(c, (const unsigned char[9]){0}, 9);
    if (op->ahead) { /* its own edges, which must all be marked */
        encode_u32(c, w->pred_off[op->task] - shard->first_edge);
        encode_u32(c, w->pred_off[op->task + 1] - w->pred_off[op->task]);
    }
    size_t children = c->bytes.n;
    uint32_t count = 0;
    for (uint32_t edge = w->succ_off[op->task]; edge < w->succ_off[op->task + 1]; edge++) {
        uint32_t child = w->succ_task[edge], first, n;
        if (!encode_is_first_edge(w, edge, op->task, &first, &n))
            continue;
        if (redis_shard_of(r, child) != shard) {
            e->several = true;
            r->busy[child]++;
            continue;
        }
        encode_child(c, shard, w, child, first, n, doom, bytes);
        count++;
    }
    encode_busy_later(r, e);
    uint32_t length = (uint32_t)(c->bytes.n - children);
    c->bytes.at[place] = e->several;
    memcpy(c->bytes.at + place + 1, &count, 4);
    memcpy(c->bytes.at + place + 5, &length, 4);
    r->several += e->several;
    if (count && !doom)
        encode_widen(&c->records, op->task - shard->first, op->task - shard->first + 1);
    if (alone)
        redis_run_begins(c, w, op->task, at);
}

/* One child in another shard hears of the task. */
static void encode_word(struct redis *r, const struct redis_part *part, uint32_t first, uint32_t n,
                        const unsigned char *edge_bytes, double bytes)
{
    static const struct meta_op nothing;
    bool doom = !edge_bytes;
    struct redis_shard *shard = redis_shard_of(r, part->task);
    struct redis_call *c = redis_call_filling(r, shard);
    encode_part(c, part->entry, (enum redis_part_kind)part->kind, part->task);
    encode_head(c, doom ? REDIS_DOOM : REDIS_NOTIFY, 0, 0, &nothing);
    if (!doom)
        encode_bytes(c, edge_bytes, REDIS_SCRIPT_EDGE);
    encode_child(c, shard, r->w, part->task, first, n, doom, bytes);
}

/* The other half, when the first is answered: a call to each shard that has children of the
 * task. `edge_bytes`: what they note; NULL: the task failed or was removed. */
uint32_t redis_encode_children(struct redis *r, uint64_t number, uint32_t task,
                               const unsigned char *edge_bytes, double bytes,
                               enum redis_part_kind kind)
{
    const struct workflow *w = r->w;
    const struct later_edge *later;
    uint32_t parts = 0, first, n;
    for (uint32_t edge = w->succ_off[task]; edge < w->succ_off[task + 1]; edge++) {
        uint32_t child = w->succ_task[edge];
        if (redis_shard_of(r, child) == redis_shard_of(r, task) ||
            !encode_is_first_edge(w, edge, task, &first, &n))
            continue;
        encode_word(r, &(struct redis_part){number, child, (uint8_t)kind, 1}, first, n, edge_bytes,
                    bytes);
        parts++;
    }
    growth_each_later(w, task, later)
    {
        if (!encode_is_first_later(w, later, task, &first, &n))
            continue;
        encode_word(r, &(struct redis_part){number, later->task, (uint8_t)kind, 1}, first, n,
                    edge_bytes, bytes);
        parts++;
    }
    return parts;
}

/* The children were notified, or never will be: what waited for that may go on. */
void redis_release(struct redis *r, const struct redis_entry *e)
{
    const struct workflow *w = r->w;
    const struct later_edge *later;
    uint32_t task = e->op.task, known = e->known, at, count;
    growth_each_later(w, task, later) if (later->task < known &&
                                          encode_is_first_later(w, later, task, &at, &count))
        r->busy[later->task]--;
    bool all = e->op.kind != META_SETTLE; /* which is about those alone that joined later */
    for (uint32_t edge = w->succ_off[task]; all && edge < w->succ_off[task + 1]; edge++) {
        uint32_t child = w->succ_task[edge], first, n;
        if (redis_shard_of(r, child) != redis_shard_of(r, task) &&
            encode_is_first_edge(w, edge, task, &first, &n))
            r->busy[child]--;
    }
    r->several--;
}

/* Take the note in P away. Nobody waits for the answer; a note that stays is only repeated by an
 * adopter. */
void redis_encode_settled(struct redis *r, uint32_t task)
{
    static const struct meta_op nothing;
    struct redis_shard *shard = redis_shard_of(r, task);
    struct redis_call *c = redis_call_filling(r, shard);
    encode_part(c, 0, REDIS_PART_QUIET, task);
    encode_head(c, REDIS_SETTLED, task - shard->first, 0, &nothing);
}

#define SCAN_MOST 65536u /* records that one ADOPT reads before others have their turn: 30 ms */

/* One step of the scan over one shard's records; decode_adopt() asks for the next. */
void redis_encode_adopt(struct redis *r, uint64_t number, uint32_t from)
{
    struct redis_entry *e = redis_entry_at(r, number);
    struct redis_shard *shard = r->shards[e->shard];
    struct redis_call *c = redis_call_filling(r, shard);
    uint64_t left = e->op.limit - e->nodes.n;
    encode_part(c, number, REDIS_PART_OP, NONE);
    encode_head(c, META_ADOPT, from - shard->first, e->op.other, &e->op);
    encode_u32(c, left < UINT32_MAX ? (uint32_t)left : UINT32_MAX);
    encode_u32(c, SCAN_MOST);
    encode_u32(c, (uint32_t)e->op.bytes);
    e->scanning = true;
    e->open = 1;
}

/* The item of a task that was adopted: read after all are taken, so that it is up to date. */
void redis_encode_item(struct redis *r, uint64_t number, uint32_t task)
{
    struct redis_shard *shard = redis_shard_of(r, task);
    struct redis_call *c = redis_call_filling(r, shard);
    size_t at = c->bytes.n;
    redis_entry_at(r, number)->open++;
    if (redis_run_joins(r, c, number, task))
        return;
    encode_part(c, number, REDIS_PART_ITEM, task);
    encode_head(c, REDIS_ITEM, task - shard->first, 0, &redis_entry_at(r, number)->op);
    encode_section(c, shard, r->w, task);
    redis_run_begins(c, r->w, task, at);
}

/* ADOPT begins by fencing the dead node off everywhere and learning whom it left half notified;
 * with one shard nobody is, and taking its tasks fences it. */
static void encode_adopt_first(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    uint32_t last = r->w->ntasks ? r->w->ntasks - 1 : 0;
    e->shard = redis_shard_number(r, e->op.task < r->w->ntasks ? e->op.task : last);
    r->exclusive = true;
    if (r->nshards == 1) {
        redis_encode_adopt(r, number, e->op.task < r->w->ntasks ? e->op.task : r->w->ntasks);
        return;
    }
    for (uint32_t i = 0; i < r->nshards; i++) {
        struct redis_call *c = redis_call_filling(r, r->shards[i]);
        encode_part(c, number, REDIS_PART_FENCE, i);
        encode_head(c, REDIS_FENCE, 0, e->op.other, &e->op);
        encode_u32(c, (uint32_t)e->op.bytes);
    }
    e->open = r->nshards;
}

/* ---- objects: with the producer; inputs with every reader, and at home for those who ask ---- */

static uint32_t home_of(const struct redis *r, uint32_t object)
{
    uint32_t producer = r->w->producer[object];
    return producer == NONE ? redis_input_home(r, object) : redis_shard_number(r, producer);
}

/* OBJECT and COPY in one shard: the edges that carry the object, or its entry among the inputs. */
static void encode_object_in(struct redis *r, uint64_t number, uint32_t shard_index,
                             const uint32_t *consumers, uint32_t n)
{
    struct redis_entry *e = redis_entry_at(r, number);
    const struct meta_op *op = &e->op;
    const struct workflow *w = r->w;
    struct redis_shard *shard = r->shards[shard_index];
    bool input = w->producer[op->task] == NONE;
    struct redis_call *c = redis_call_filling(r, shard);
    encode_part(c, number, REDIS_PART_OP, op->task);
    encode_head(c, op->kind, op->task, 0, op);
    e->open++;
    if (op->kind == META_COPY) {
        unsigned char copy[REDIS_SCRIPT_COPY];
        redis_prove_copy(r, op, copy);
        encode_bytes(c, copy, sizeof copy);
        return;
    }
    encode_double(c, size_word(op->bytes));
    encode_u8(c, w->size[op->task] != op->bytes);
    encode_u8(c, input);
    encode_u32(c, input ? 0 : n);
    for (uint32_t i = 0; !input && i < n; i++) {
        uint32_t first, run = redis_run(w, w->producer[op->task], consumers[i], &first);
        for (uint32_t edge = first; edge < first + run; edge++)
            if (w->pred_object[edge] == op->task) {
                encode_u32(c, edge - shard->first_edge);
                break;
            }
    }
}

/* Consumers of an object stand in rising order, so those of one shard are a run. */
static void encode_object(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    const struct meta_op *op = &e->op;
    uint32_t home = home_of(r, op->task), n = 0;
    bool input = r->w->producer[op->task] == NONE, at_home = false;
    if (op->kind == META_WHERE) {
        struct redis_shard *shard = r->shards[home];
        struct redis_call *c = redis_call_filling(r, shard);
        encode_part(c, number, REDIS_PART_OP, op->task);
        encode_head(c, op->kind, op->task, input ? NONE : r->w->producer[op->task] - shard->first,
                    op);
        e->open = 1;
        return;
    }
    const uint32_t *consumers = workflow_consumers(r->w, op->task, &n);
    for (uint32_t i = 0, from; (input || op->kind == META_OBJECT) && i < n;) {
        uint32_t shard = redis_shard_number(r, consumers[from = i]);
        while (i < n && redis_shard_number(r, consumers[i]) == shard)
            i++;
        encode_object_in(r, number, shard, consumers + from, i - from);
        at_home |= shard == home;
    }
    if (!at_home && (input || op->kind == META_COPY))
        encode_object_in(r, number, home, NULL, 0);
}

/* Nobody waits for it. */
void redis_encode_join(struct redis *r, struct redis_shard *shard, const struct meta_op *op)
{
    struct redis_call *c = redis_call_filling(r, shard);
    encode_part(c, 0, REDIS_PART_QUIET, 0);
    encode_head(c, META_JOIN, 0, op->life, op);
}

/* SETTLE: how it ended is asked first. Children that joined are busy from now on, so that what is asked
 * of them next waits. */
static void encode_settle(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    encode_busy_later(r, e);
    if (!e->several) {
        redis_entry_done(r, number);
        return;
    }
    r->several++;
    struct redis_shard *shard = redis_shard_of(r, e->op.task);
    struct redis_call *c = redis_call_filling(r, shard);
    encode_part(c, number, REDIS_PART_OP, e->op.task);
    encode_head(c, REDIS_ITEM, e->op.task - shard->first, 0, &e->op);
    encode_section(c, shard, r->w, e->op.task);
    e->open = 1;
}

/* JOIN must reach every shard before a node takes anything; COUNT sums over all. */
static void encode_everywhere(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    for (uint32_t i = 0; i < r->nshards; i++) {
        struct redis_call *c = redis_call_filling(r, r->shards[i]);
        encode_part(c, number, REDIS_PART_OP, i);
        encode_head(c, e->op.kind, 0, e->op.life, &e->op);
    }
    e->open = r->nshards;
}

#define AUDIT_MOST 16384u /* records of one COUNT that looks at them: a megabyte */

uint32_t redis_audited(const struct redis *r, uint32_t first)
{
    const struct redis_shard *shard = redis_shard_of(r, first);
    uint32_t left = shard->first + shard->count - first;
    return left < AUDIT_MOST ? left : AUDIT_MOST;
}

/* COUNT with `status` 1: the records themselves, for decode.c to verify. */
static void encode_audit(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    struct redis_shard *shard = redis_shard_of(r, e->op.task);
    struct redis_call *c = redis_call_filling(r, shard);
    encode_part(c, number, REDIS_PART_OP, e->op.task);
    encode_head(c, META_COUNT, e->op.task - shard->first, redis_audited(r, e->op.task), &e->op);
    e->open = 1;
}

/* Operations on one task that concern no other. */
static void encode_task(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    struct redis_shard *shard = redis_shard_of(r, e->op.task);
    struct redis_call *c = redis_call_filling(r, shard);
    bool runs = e->op.kind == META_PUT || e->op.kind == META_HOLD;
    size_t at = c->bytes.n;
    e->open = 1;
    if (runs && redis_run_joins(r, c, number, e->op.task))
        return;
    encode_part(c, number, REDIS_PART_OP, e->op.task);
    encode_head(c, e->op.kind, e->op.task - shard->first, e->op.life, &e->op);
    if (e->op.kind != META_START && e->op.kind != META_RETRY)
        encode_section(c, shard, r->w, e->op.task);
    if (runs)
        redis_run_begins(c, r->w, e->op.task, at);
}

/* What needs no server: numbers that cannot be. */
static bool encode_refused(const struct redis *r, const struct meta_op *op, uint8_t *outcome)
{
    *outcome = META_UNKNOWN;
    switch (op->kind) {
    case META_ADOPT:
        *outcome = META_STALE;
        return op->node >= REDIS_NODES_MAX || op->other >= REDIS_NODES_MAX;
    case META_JOIN:
        return op->node >= REDIS_NODES_MAX;
    case META_COUNT:
        *outcome = META_OK;
        return op->status == 1 && op->task >= r->w->ntasks;
    case META_OBJECT:
    case META_COPY:
    case META_WHERE:
        return op->task >= r->w->nobjects || (op->kind == META_COPY && op->node == NONE);
    default:
        return op->kind >= META_KINDS || op->task >= r->w->ntasks;
    }
}

/* An operation into the calls of its shards. It waits (false) while a task that it names is still
 * to be notified by one before it, and ADOPT while anything is: so the operations of one client see
 * each other in order. */
bool redis_encode(struct redis *r, uint64_t number)
{
    struct redis_entry *e = redis_entry_at(r, number);
    const struct meta_op *op = &e->op;
    e->answer = (struct meta_answer){.kind = op->kind,
                                     .slot = op->slot,
                                     .asked_epoch = op->epoch,
                                     .item = {.task = op->task, .holder = NONE, .max_node = NONE}};
    if (op->kind == META_ADOPT)
        e->answer.item = (struct meta_item){.task = NONE, .holder = op->other, .max_node = NONE};
    if (op->kind == META_COUNT)
        e->answer.item = (struct meta_item){.holder = NONE, .max_node = NONE};
    uint8_t outcome;
    if (encode_refused(r, op, &outcome)) {
        e->answer.outcome = outcome;
        redis_entry_done(r, number);
        return true;
    }
    switch (op->kind) {
    case META_ADOPT:
        if (r->several)
            return false;
        encode_adopt_first(r, number);
        return true;
    case META_JOIN:
        r->joined = *op;
        encode_everywhere(r, number);
        return true;
    case META_COUNT:
        if (op->status == 1)
            encode_audit(r, number);
        else
            encode_everywhere(r, number);
        return true;
    case META_OBJECT:
    case META_COPY:
    case META_WHERE:
        encode_object(r, number);
        if (!e->open)
            redis_entry_done(r, number); /* nobody reads it */
        return true;
    case META_COMPLETE:
    case META_REMOVE:
        if (r->busy && r->busy[op->task])
            return false;
        encode_end(r, number);
        return true;
    case META_SETTLE:
        if (r->busy && r->busy[op->task])
            return false;
        encode_settle(r, number);
        return true;
    default:
        if (r->busy && r->busy[op->task])
            return false;
        encode_task(r, number);
        return true;
    }
}
