/* Runs: the same operation on neighbours (redis/runs.c writes them). Each is applied by itself; what is
 * short is the answer, when all came out alike. */
#include "store/module/call.h"
#include "store/redis/script.h"

enum { END_BYTES = 2 * TIME + REDIS_SCRIPT_PROOF };

static bool run_is_alike(const unsigned char *records, uint32_t n)
{
    return n < 2 || memcmp(records, records + REDIS_SCRIPT_RECORD,
                           (size_t)(n - 1) * REDIS_SCRIPT_RECORD) == 0;
}

static bool run_is_unmarked(const unsigned char *edges, uint32_t n)
{
    size_t bytes = (size_t)n * REDIS_SCRIPT_EDGE;
    return !n || (edges[0] == 0 && memcmp(edges, edges + 1, bytes - 1) == 0);
}

/* Each task's outcome into the answer; true: all are OK. */
static bool run_each(struct module_call *c, const struct module_op *op, uint32_t count)
{
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t outcome = op->kind == REDIS_PUTS    ? ops_put_task(c, op, op->task + i)
                          : op->kind == REDIS_HOLDS ? ops_hold_task(c, op, op->task + i)
                                                    : OUTCOME_OK;
        call_put_u8(c, outcome);
        good &= outcome == OUTCOME_OK;
    }
    return good;
}

/* PUTs, HOLDs and ITEMs: their records and the edges into them; in short when all are alike and nobody
 * has told them anything. */
void op_run(struct module_call *c, const struct module_op *op)
{
    uint32_t count = call_u32(c), first = call_u32(c), n = call_u32(c);
    const unsigned char *edges = keys_edges(c, first, n);
    if (c->bad || !count || (uint64_t)op->task + count > c->tasks) {
        c->bad = true;
        return;
    }
    const unsigned char *records = keys_record(c, op->task);
    size_t place = c->out.n;
    call_put_u8(c, 0);
    bool good = run_each(c, op, count);
    if (good && !c->sizes.key && run_is_alike(records, count) && run_is_unmarked(edges, n)) {
        c->out.n = place;
        call_put_u8(c, 1);
        call_put(c, records, REDIS_SCRIPT_RECORD);
        return;
    }
    call_put(c, records, (size_t)count * REDIS_SCRIPT_RECORD);
    call_put(c, edges, (size_t)n * REDIS_SCRIPT_EDGE);
    call_put_u8(c, c->sizes.key != NULL);
    if (c->sizes.key && n)
        call_put(c, c->sizes.at + (size_t)first * SIZE, (size_t)n * SIZE);
}

/* COMPLETEs of tasks that nobody waits for: start, end and proof of each. */
void op_ends(struct module_call *c, const struct module_op *op)
{
    uint32_t count = call_u32(c);
    call_bytes(c, 8); /* no edges */
    const unsigned char *ends = call_bytes(c, (size_t)count * END_BYTES);
    if (c->bad || (uint64_t)op->task + count > c->tasks) {
        c->bad = true;
        return;
    }
    size_t place = c->out.n;
    bool all = true;
    call_put_u8(c, 0);
    for (uint32_t i = 0; i < count; i++) {
        const unsigned char *at = ends + (size_t)i * END_BYTES;
        struct ops_end end = ops_complete(c, op, op->task + i, at, at + TIME, at + 2 * TIME, false);
        all &= end.outcome == OUTCOME_OK && end.fresh;
        ops_put_end(c, end);
    }
    if (!all)
        return;
    c->out.n = place;
    call_put_u8(c, 1);
}
