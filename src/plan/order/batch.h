/* Batched schedules: the server hands out `size` tasks at once, or as many as are eligible; all of
 * them end before the next batch.
 *
 *     eligible at first  ──▶ batch 1 ──▶ E_1 eligible ──▶ batch 2 ──▶ E_2 eligible ──▶ ...
 *
 * A schedule is optimal when E_1 is as large as it can be, E_2 as large as it can be then, and so on:
 * the largest sequence in the order of dictionaries. Unlike IC-optimal orders such a schedule always
 * exists (Malewicz, Rosenberg 2005); finding one is NP-hard. */
#pragma once
#include "model/workflow.h"

struct batch_schedule {
    uint32_t *order;    /* every task; the next min(size, eligible) of it are the next batch */
    uint32_t *eligible; /* after batch i, i = 0 .. nbatches - 1 */
    uint32_t nbatches;
    bool is_optimal; /* proved by search */
};

/* Exact where the search needs at most `budget` choices of a batch (and there are at most 64 tasks
 * with children); else the better of a greedy rule and `other` (an order of all tasks; may be NULL). */
void batch_solve(const struct workflow *w, uint32_t size, uint64_t budget, const uint32_t *other,
                 struct batch_schedule *out);
void batch_schedule_free(struct batch_schedule *s);
