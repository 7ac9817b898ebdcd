/* The ready queue and the table of slots against naive ones. */
#include "base/rng.h"
#include "sched/ready.h"
#include "sched/slots.h"
#include "tap.h"

#define N 200

static void test_ready(uint32_t keys, uint64_t seed)
{
    struct slot slots[N] = {0};
    double key[N];
    uint64_t order[N], clock = 0;
    bool in[N] = {false};
    struct ready_queue q;
    readyq_init(&q);
    struct rng r;
    rng_seed(&r, seed);
    uint32_t wrong = 0;
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)rng_below(&r, N), what = (uint32_t)rng_below(&r, 5);
        if (what < 2 && !in[i]) {
            key[i] = (double)rng_below(&r, keys);
            order[i] = clock++;
            in[i] = true;
            readyq_push(&q, slots, i, key[i]);
        } else if (what == 2 && in[i]) {
            readyq_remove(&q, slots, i);
            in[i] = false;
        } else if (what > 2) {
            uint32_t best = NONE;
            for (uint32_t k = 0; k < N; k++)
                if (in[k] && (best == NONE || key[k] > key[best] ||
                              (key[k] == key[best] && order[k] < order[best])))
                    best = k;
            wrong += readyq_peek(&q) != best;
            uint32_t got = readyq_pop(&q, slots);
            wrong += got != best;
            if (got != NONE)
                in[got] = false;
        }
        if (step % 64 == 0)
            wrong += !readyq_check(&q, slots);
    }
    is_int(wrong, 0, "%u keys: always the largest, the oldest of equals", keys);
    readyq_free(&q);
}

/* Looking ahead and behind, while the queue is used. */
static void test_ends(uint32_t keys)
{
    struct slot slots[N] = {0};
    double key[N];
    bool in[N] = {false};
    struct ready_queue q;
    struct rng r;
    uint32_t wrong = 0, seen[N];
    readyq_init(&q);
    rng_seed(&r, keys);
    for (uint32_t i = 0; i < N; i++)
        slots[i].task = i;
    for (int step = 0; step < 5000; step++) {
        uint32_t i = (uint32_t)rng_below(&r, N);
        if (!in[i]) {
            key[i] = (double)rng_below(&r, keys);
            readyq_push(&q, slots, i, key[i]);
            in[i] = true;
        } else if (rng_below(&r, 2)) {
            uint32_t last = readyq_tail(&q);
            wrong += last == NONE || !in[last];
            readyq_remove(&q, slots, last);
            in[last] = false;
            wrong += !readyq_check(&q, slots);
        } else {
            in[readyq_pop(&q, slots)] = false;
        }
        uint32_t most = (uint32_t)rng_below(&r, 9), n = readyq_first(&q, slots, seen, most);
        wrong += n != (q.length < most ? q.length : most);
        wrong += n && seen[0] != slots[readyq_peek(&q)].task;
        for (uint32_t k = 0; k < n; k++)
            wrong += !in[seen[k]] || (k && key[seen[k]] > key[seen[k - 1]]);
    }
    while (q.length) { /* all that it said at last is what comes, in that order */
        uint32_t n = readyq_first(&q, slots, seen, 5);
        for (uint32_t k = 0; k < n; k++)
            wrong += slots[readyq_pop(&q, slots)].task != seen[k];
    }
    wrong += readyq_tail(&q) != NONE || readyq_first(&q, slots, seen, 3) != 0;
    is_int(wrong, 0, "%u keys: the first in order without taking them, and one from the far end",
           keys);
    readyq_free(&q);
}

static void test_slots(uint32_t stride)
{
    struct slots s;
    slots_init(&s);
    struct rng r;
    rng_seed(&r, stride);
    uint32_t where[3000], wrong = 0;
    memset(where, 0xff, sizeof where);
    for (int step = 0; step < 60000; step++) {
        uint32_t i = (uint32_t)rng_below(&r, step < 40000 ? 3000 : 300), task = i * stride;
        wrong += slots_find(&s, task) != where[i];
        if (where[i] == NONE) {
            where[i] = slots_add(&s, task);
        } else {
            slots_drop(&s, where[i]);
            where[i] = NONE;
        }
    }
    is_int(wrong, 0, "tasks %u apart are found, and only those", stride);
    slots_free(&s);
}

int main(void)
{
    TAP_DO(test_ready(1, 1));
    TAP_DO(test_ready(3, 2));
    TAP_DO(test_ready(1000, 3));
    TAP_DO(test_ends(1));
    TAP_DO(test_ends(7));
    TAP_DO(test_ends(1000000));
    TAP_DO(test_slots(1));
    TAP_DO(test_slots(8));
    TAP_DO(test_slots(1024));
    TAP_DO(test_slots(1000003));
    return tap_done();
}
