/* Things that tasks hold: who waits, who passes, what thieves get; and random tasks on one node, with
 * sums of the test's own. */
#include "base/rng.h"
#include "sched/testing.h"

/* Sort 0 has ids, sort 1 is an amount. */
enum { NOTHING, ONE, TWO, HALF, SOME, BOTH, DEMANDS };
static const uint32_t amounts[DEMANDS * THING_SORTS] = {
    [ONE * THING_SORTS] = THING_ONE,      [TWO * THING_SORTS] = 2 * THING_ONE,
    [HALF * THING_SORTS] = THING_ONE / 2, [SOME * THING_SORTS + 1] = 25000,
    [BOTH * THING_SORTS] = THING_ONE,     [BOTH * THING_SORTS + 1] = 25000,
};

static struct sched_config node_with(uint32_t ids, uint32_t cores, const uint32_t *asks)
{
    return (struct sched_config){.cores = cores,
                                 .things = 1,
                                 .thing = {ids * THING_ONE, 30000},
                                 .task_asks = asks,
                                 .amount = amounts};
}

static bool started(const struct bed *b, uint32_t task)
{
    for (size_t i = 0; i < b->out.starts.n; i++)
        if (b->out.starts.at[i].task == task)
            return true;
    return false;
}

static void test_passing(void)
{
    /* priorities fall, so tasks are met in order */
    uint32_t asks[] = {ONE, ONE, TWO, ONE, NOTHING, SOME, NOTHING};
    double priority[] = {9, 8, 7, 6, 5, 4, 3};
    struct sched_config config = node_with(2, 8, asks);
    config.priority = priority;
    struct bed b = bed_new(config);
    submit(&b, 0, 7);
    ok(started(&b, 0) && started(&b, 1), "two tasks hold the two");
    ok(started(&b, 4) && started(&b, 5) && started(&b, 6),
       "those that want none, or something else, pass");
    struct sched_start zero = b.out.starts.at[0], one = b.out.starts.at[1];
    end_task(&b, zero, 1, false, 0);
    is_int(b.out.starts.n, 0, "one is free, and kept for the task that wants two");
    end_task(&b, one, 1, false, 0);
    ok(b.out.starts.n == 1 && started(&b, 2), "which starts when both are");
    struct sched_start two = b.out.starts.at[0];
    end_task(&b, two, 1, true, 0);
    ok(b.out.starts.n == 0 || started(&b, 3), "one that fails gives back what it held");
    bed_free(&b);
}

static void test_thieves(void)
{
    uint32_t asks[] = {ONE, ONE, ONE, ONE, NOTHING, NOTHING};
    struct capacity has[] = {{.cores = 1, .memory = INFINITY, .things = 1, .thing = {THING_ONE}},
                             {.cores = 4, .memory = INFINITY, .things = 1, .thing = {THING_ONE}},
                             {.cores = 4, .memory = INFINITY}};
    struct sched_config config = node_with(1, 1, asks);
    config.nodes = 3;
    config.capacity = has;
    struct bed b = bed_new(config);
    submit(&b, 0, 6);
    struct sched_message ask = {.kind = SCHED_LOAD_QUERY, .from = 2, .to = 0};
    message(&b, ask, NULL);
    is_int(b.out.sends.at[0].load, 2, "a thief that has none hears of tasks that want none");
    ask.from = 1;
    message(&b, ask, NULL);
    is_int(b.out.sends.at[0].load, 5, "one that has hears of all");
    ask.load = 1;
    message(&b, ask, NULL);
    is_int(b.out.sends.at[0].load, 2, "but for those whose thing is not to be had there now");
    ask.kind = SCHED_STEAL;
    message(&b, ask, NULL);
    ok(b.out.items.n == 1 && asks[b.out.items.at[0].task] == NOTHING, "and gets no other");
    bed_free(&b);

    /* the other side: all that is ready here waits for things */
    config = node_with(1, 4, asks);
    config.nodes = 2;
    b = bed_new(config);
    submit(&b, 0, 2);
    size_t asked = 0;
    for (size_t i = 0; i < b.out.sends.n; i++)
        asked += b.out.sends.at[i].kind == SCHED_LOAD_QUERY && b.out.sends.at[i].load & 1;
    is_int(asked, 1, "idle cores ask for work, and say that it must not want what is short here");
    bed_free(&b);
}

/* ---- random ---- */

enum { TASKS = 60 };

struct load {
    uint32_t asks[TASKS], cores[TASKS];
    double end[TASKS]; /* of a running task; 0: it does not run */
    struct sched_start start[TASKS];
};

static bool within(const struct load *l, uint32_t ids, uint32_t ncores)
{
    uint64_t used[2] = {0}, cores = 0;
    for (uint32_t t = 0; t < TASKS; t++)
        if (l->end[t] > 0) {
            used[0] += amounts[l->asks[t] * THING_SORTS];
            used[1] += amounts[l->asks[t] * THING_SORTS + 1];
            cores += l->cores[t];
        }
    return used[0] <= (uint64_t)ids * THING_ONE && used[1] <= 30000 && cores <= ncores;
}

static void test_random(void)
{
    bool never_more = true, all_done = true;
    uint32_t failures = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct rng rng;
        rng_seed_stream(&rng, seed, 3);
        struct load l = {0};
        uint32_t ids = 2 + (uint32_t)rng_below(&rng, 3), ncores = 2 + (uint32_t)rng_below(&rng, 6);
        for (uint32_t t = 0; t < TASKS; t++) {
            l.asks[t] = (uint32_t)rng_below(&rng, DEMANDS);
            l.cores[t] = 1 + (uint32_t)rng_below(&rng, 2);
        }
        struct sched_config config = node_with(ids, ncores, l.asks);
        config.task_cores = l.cores;
        config.retries = 50;
        struct bed b = bed_new(config);
        uint32_t submitted = 0, done = 0;
        for (int step = 0; step < 2000 && done < TASKS; step++) {
            b.now += 1;
            uint32_t next = TASKS;
            for (uint32_t t = 0; t < TASKS; t++)
                if (l.end[t] > 0 && (next == TASKS || l.end[t] < l.end[next]))
                    next = t;
            if (submitted < TASKS && (next == TASKS || rng_below(&rng, 2))) {
                uint32_t n = 1 + (uint32_t)rng_below(&rng, 8);
                n = n < TASKS - submitted ? n : TASKS - submitted;
                submit(&b, submitted, n);
                submitted += n;
            } else if (next < TASKS) {
                bool failed = rng_below(&rng, 5) == 0;
                l.end[next] = 0;
                failures += failed;
                done += !failed;
                end_task(&b, l.start[next], 1, failed, 0);
            } else {
                break;
            }
            for (int round = 0; round < 2; round++) { /* what started, and after the answers */
                for (size_t i = 0; i < b.out.starts.n; i++) {
                    struct sched_start s = b.out.starts.at[i];
                    l.start[s.task] = s;
                    l.end[s.task] = b.now + 1 + (double)rng_below(&rng, 20);
                }
                never_more = never_more && within(&l, ids, ncores);
                if (!round)
                    answer(&b);
            }
        }
        all_done = all_done && done == TASKS;
        bed_free(&b);
    }
    ok(never_more, "never more is in use than there is");
    ok(all_done, "and all tasks come to their end");
    ok(failures > 100, "%u attempts failed on the way", failures);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_passing), TAP_CASE(test_thieves),
                                            TAP_CASE(test_random)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
