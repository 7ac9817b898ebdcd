#include "sim/engine.h"
#include "sim/pairmap.h"
#include "tap.h"

static void order_of_events(void)
{
    struct engine e;
    engine_init(&e, 1);
    engine_at(&e, 2, 1, 10);
    engine_at(&e, 1, 2, 20);
    engine_at(&e, 2, 3, 30);
    engine_at(&e, 1, 4, ((uint64_t)1 << 56) - 1);
    struct event a = engine_take(&e), b = engine_take(&e), c = engine_take(&e);
    ok(a.kind == 2 && a.payload == 20 && a.time == 1, "the earliest comes first");
    ok(b.kind == 4 && b.payload == ((uint64_t)1 << 56) - 1, "of one instant, the one put in first; "
                                                            "payloads of 56 bits survive");
    ok(c.kind == 1 && e.now == 2, "the clock follows");
    engine_take(&e);
    ok(engine_next(&e) == INFINITY, "an empty queue is due never");
    is_int(e.events, 4, "events are counted");
    engine_free(&e);
}

static void many_events(void)
{
    struct engine e;
    engine_init(&e, 7);
    enum { MANY = 20000 };
    bool sorted = true, stable = true;
    /* a hold model: take one, put one later, with many ties */
    for (uint64_t i = 0; i < 500; i++)
        engine_at(&e, (double)rng_below(&e.rng, 20), 0, i);
    double last = 0;
    uint64_t last_number = 0;
    uint64_t number = 500;
    for (int i = 0; i < MANY; i++) {
        struct event x = engine_take(&e);
        sorted = sorted && x.time >= last;
        stable = stable && (x.time > last || x.payload > last_number || i == 0);
        last = x.time;
        last_number = x.payload;
        engine_at(&e, x.time + (double)rng_below(&e.rng, 20), 0, number++);
    }
    ok(sorted, "times never go back");
    ok(stable, "equal times keep the order of insertion");
    engine_free(&e);
}

static void pairs(void)
{
    struct pairmap m = {0};
    bool good = true;
    for (uint32_t i = 0; i < 200; i++)
        for (uint32_t j = 0; j < 50; j++)
            good = good && pairmap_number(&m, i, j) == i * 50 + j;
    for (uint32_t i = 0; i < 200; i++)
        for (uint32_t j = 0; j < 50; j++)
            good = good && pairmap_number(&m, i, j) == i * 50 + j;
    ok(good, "10,000 pairs keep their numbers");
    is_int(m.used, 10000, "and are counted once");
    pairmap_free(&m);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(order_of_events),
        TAP_CASE(many_events),
        TAP_CASE(pairs),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
