/* Runs: the same operation on the task after the last one. Both become one operation, or it joins the run
 * that is there, so that what is done to thousands of neighbours (handed in, adopted, held, ended) costs the
 * server one comparison and one write. A run looks as its first operation does, and then
 *
 *     PUT, HOLD, ITEM    count I, first edge I, edges I
 *     COMPLETE           count I, 0 I, 0 I, then for each: start d, end d, proof 16
 *
 * Only tasks without inputs of the workflow, and of COMPLETE those without children: the server need not
 * know where one ends and the next begins. The script looks at a run as a whole (`run_of` in apply.lua) and
 * falls back on one after the other; decode.c takes the answers apart. */
#include "store/redis/encode.h"

/* RUN_CHEAP: so many of a run take the server as long as one operation by itself, or less. */
enum { RUN_HEAD = 28, RUN_MOST = 1024, RUN_CHEAP = 8 };

static uint8_t run_kind(uint8_t kind)
{
    return kind == META_PUT        ? REDIS_PUTS
           : kind == META_HOLD     ? REDIS_HOLDS
           : kind == META_COMPLETE ? REDIS_COMPLETES
                                   : REDIS_ITEMS;
}

static void run_put_u32(struct redis_call *c, size_t at, uint32_t v)
{
    memcpy(c->bytes.at + c->last_at + at, &v, 4);
}

static bool run_is_same(const struct meta_op *a, const struct meta_op *b)
{
    return a->kind == b->kind && a->status == b->status && a->attempt == b->attempt &&
           a->epoch == b->epoch && a->node == b->node && a->life == b->life &&
           (a->kind == META_COMPLETE || a->time == b->time);
}

/* The part at the end of the call that this operation continues; NULL: none. An ITEM is a question of the
 * one entry, all others are entries of their own, one after the other. */
static struct redis_part *run_before(struct redis *r, struct redis_call *c, uint64_t number,
                                     uint32_t task)
{
    struct redis_part *last = c->parts.n && c->joinable ? &c->parts.at[c->parts.n - 1] : NULL;
    const struct meta_op *op = &redis_entry_at(r, number)->op;
    if (!last || last->task + last->count != task || last->count == RUN_MOST)
        return NULL;
    if (last->kind == REDIS_PART_ITEM)
        return last->entry == number ? last : NULL;
    return op->kind != META_ADOPT && last->entry + last->count == number &&
                   run_is_same(&redis_entry_at(r, last->entry)->op, op)
               ? last
               : NULL;
}

static void run_put_end(const struct redis *r, struct redis_call *c, const struct meta_op *op)
{
    unsigned char proof[REDIS_SCRIPT_PROOF];
    redis_prove_end(r, op, proof);
    encode_double(c, op->start);
    encode_double(c, op->time);
    encode_bytes(c, proof, sizeof proof);
}

bool redis_run_joins(struct redis *r, struct redis_call *c, uint64_t number, uint32_t task)
{
    const struct redis_shard *shard = c->shard;
    const struct workflow *w = r->w;
    struct redis_part *run = run_before(r, c, number, task);
    if (!run || (w->input_off && w->input_off[task] != w->input_off[task + 1]))
        return false;
    const struct meta_op *op = &redis_entry_at(r, number)->op;
    bool ends = run->kind == REDIS_PART_OP && op->kind == META_COMPLETE;
    if (run->count == 1) {
        c->bytes.at[c->last_at] = run_kind(run->kind == REDIS_PART_ITEM ? REDIS_ITEM : op->kind);
        c->bytes.n = c->last_at + RUN_HEAD;
        for (int i = 0; i < 3; i++)
            encode_u32(c, 0);
        run_put_u32(c, RUN_HEAD + 4, ends ? 0 : w->pred_off[run->task] - shard->first_edge);
        if (ends)
            run_put_end(r, c, &redis_entry_at(r, run->entry)->op);
    }
    if (ends)
        run_put_end(r, c, op);
    else
        run_put_u32(c, RUN_HEAD + 8, w->pred_off[task + 1] - w->pred_off[run->task]);
    run->count++;
    c->operations += ++c->joined % RUN_CHEAP == 0;
    run_put_u32(c, RUN_HEAD, run->count);
    return true;
}

void redis_run_begins(struct redis_call *c, const struct workflow *w, uint32_t task, size_t at)
{
    c->last_at = at;
    c->joinable = !w->input_off || w->input_off[task] == w->input_off[task + 1];
}
