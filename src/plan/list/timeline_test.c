/* The gap tree against a plain sorted list of bookings. */
#include "base/rng.h"
#include "plan/list/profile.h"
#include "plan/list/timeline.h"
#include "tap.h"

struct interval {
    double start, finish;
};

struct naive {
    ARRAY(struct interval) busy; /* sorted by start */
};

static double naive_find(const struct naive *x, double ready, double duration)
{
    double at = ready;
    for (size_t i = 0; i < x->busy.n; i++) {
        const struct interval *b = &x->busy.at[i];
        if (at + duration <= b->start)
            return at;
        if (b->finish > at)
            at = b->finish;
    }
    return at;
}

static void naive_book(struct naive *x, double start, double finish)
{
    size_t i = x->busy.n;
    array_push(&x->busy, (struct interval){0, 0});
    while (i > 0 && (x->busy.at[i - 1].start > start ||
                     (x->busy.at[i - 1].start == start && x->busy.at[i - 1].finish > finish))) {
        x->busy.at[i] = x->busy.at[i - 1];
        i--;
    }
    x->busy.at[i] = (struct interval){start, finish};
}

/* Durations: whole numbers (many exact fits) or fractions (rounding). `zeros`: some take no time.
 */
static double duration_of(struct rng *rng, bool whole, bool zeros)
{
    if (zeros && rng_below(rng, 4) == 0)
        return 0;
    return whole ? 1 + (double)rng_below(rng, 9) : rng_uniform(rng, 0.1, 10);
}

static void test_against_naive(bool whole, bool zeros, int count, uint64_t seed)
{
    struct timeline_store store = {0};
    struct core_timeline line;
    struct naive naive = {0};
    struct rng rng;
    rng_seed(&rng, seed);
    timeline_init(&line, zeros ? 0 : whole ? 1 : 0.1 * (1 - 1e-9));
    double reach = 1;
    int differ = 0;
    for (int i = 0; i < count; i++) {
        double duration = duration_of(&rng, whole, zeros);
        double ready = rng_uniform(&rng, 0, reach);
        if (whole)
            ready = floor(ready);
        double start = timeline_find(&store, &line, ready, duration);
        differ += start != naive_find(&naive, ready, duration);
        timeline_book(&store, &line, start, start + duration);
        naive_book(&naive, start, start + duration);
        if (rng_below(&rng, 3) == 0)
            reach += 12; /* leaves gaps behind */
    }
    is_int(differ, 0, "%d bookings%s%s as in a plain list", count, whole ? ", whole" : "",
           zeros ? ", some empty" : "");
    array_free(&naive.busy);
    timeline_store_free(&store);
}

/* Book some, remember what is found everywhere, book more, take them back: all is as it was. */
static void test_take_back(bool zeros, uint64_t seed)
{
    struct timeline_store store = {0};
    struct core_timeline line;
    struct rng rng;
    rng_seed(&rng, seed);
    timeline_init(&line, zeros ? 0 : DBL_MIN);
    int differ = 0;
    double found[64];
    struct timeline_booking undo[40];
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 20; i++) {
            double duration = duration_of(&rng, true, zeros);
            double start =
                timeline_find(&store, &line, rng_uniform(&rng, 0, 40 * (round + 1)), duration);
            timeline_book(&store, &line, start, start + duration);
        }
        double reach = 50 * (round + 1);
        for (int i = 0; i < 64; i++)
            found[i] = timeline_find(&store, &line, i * reach / 64, 1 + i % 7);
        for (int i = 0; i < 40; i++) {
            double duration = duration_of(&rng, true, zeros);
            double start = timeline_find(&store, &line, rng_uniform(&rng, 0, reach), duration);
            undo[i] = timeline_book(&store, &line, start, start + duration);
        }
        for (int i = 40; i-- > 0;)
            timeline_unbook(&store, &line, &undo[i]);
        for (int i = 0; i < 64; i++)
            differ += found[i] != timeline_find(&store, &line, i * reach / 64, 1 + i % 7);
    }
    is_int(differ, 0, "taking bookings back restores every answer%s", zeros ? ", some empty" : "");
    timeline_store_free(&store);
}

static void test_profile(void)
{
    struct memory_profile p = {0};
    profile_add(&p, 0, 10, 6);
    profile_add(&p, 5, 8, 3);
    is_dbl(profile_find(&p, 10, 0, 4, 4), 0, 0, "memory: fits before the second task");
    is_dbl(profile_find(&p, 10, 2, 4, 4), 8, 0, "memory: waits for the second task's end");
    is_dbl(profile_find(&p, 10, 2, 3, 4), 2, 0, "memory: just fits before it");
    is_dbl(profile_find(&p, 10, 0, 1, 5), 10, 0, "memory: waits for the first task's end");
    is_dbl(profile_find(&p, 10, 6, 0, 9), 6, 0, "memory: what takes no time needs none");
    profile_add(&p, 5, 8, -3);
    is_dbl(profile_find(&p, 10, 2, 4, 4), 2, 0, "memory: given back");
    is_int(p.steps.n, 2, "memory: no steps left behind");
    profile_free(&p);
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        TAP_DO(test_against_naive(true, false, 2000, seed));
        TAP_DO(test_against_naive(false, false, 2000, seed));
        TAP_DO(test_against_naive(true, true, 1000, seed));
        TAP_DO(test_take_back(false, seed));
        TAP_DO(test_take_back(true, seed));
    }
    test_against_naive(true, false, 12000, 9); /* a tree of three levels */
    TAP_DO(test_profile());
    return tap_done();
}
