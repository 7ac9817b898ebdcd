/* Nodes that go at a known time: what starts there, what goes elsewhere, what thieves get; and random tasks
 * on two nodes of which one goes, with clocks of the test's own. */
#include "base/rng.h"
#include "sched/testing.h"

enum { TASKS = 40 };
static double seconds[TASKS];

static bool predict(void *context, uint32_t task, uint32_t node, struct prediction *out)
{
    (void)context;
    (void)node;
    *out = (struct prediction){.seconds = seconds[task], .samples = 1};
    return seconds[task] > 0;
}

static const struct predictor predictor = {predict, NULL};

static struct sched_config node_until(double ends, uint32_t cores)
{
    return (struct sched_config){.cores = cores, .ends = ends, .predictor = &predictor};
}

static bool began(const struct bed *b, uint32_t task)
{
    for (size_t i = 0; i < b->out.starts.n; i++)
        if (b->out.starts.at[i].task == task)
            return true;
    return false;
}

/* Alone: what is too long waits for a node that stays, and says so. */
static void lasts_test_alone(void)
{
    const double lengths[] = {50, 101, 0, 100};
    memcpy(seconds, lengths, sizeof lengths);
    struct bed b = bed_new(node_until(100, 8));
    submit(&b, 0, 4);
    ok(began(&b, 0) && began(&b, 3), "what ends before the node goes starts, to the second");
    ok(!began(&b, 1), "what would not does not");
    ok(began(&b, 2), "of what nobody knows nothing is said");
    is_int(sched_place(b.s, 1, NULL), SCHED_UNFIT, "it waits for a node");
    is_int(sched_unfit(b.s), 1, "and can be named");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_CAPACITY,
                                   .capacity = {0, {.cores = 8, .memory = INFINITY, .ends = 120}}});
    ok(began(&b, 1), "the node was given more time");
    bed_free(&b);
}

/* Time passes while it waits for a core. */
static void lasts_test_later(void)
{
    const double lengths[] = {60, 30, 60};
    const double priority[] = {3, 2, 1};
    memcpy(seconds, lengths, sizeof lengths);
    struct sched_config config = node_until(100, 1);
    config.priority = priority;
    struct bed b = bed_new(config);
    submit(&b, 0, 3);
    ok(began(&b, 0), "one has the core, and the others could follow");
    is_int(sched_place(b.s, 2, NULL), SCHED_SREADYQ, "one waits that is as long");
    struct sched_start first = b.out.starts.at[0];
    b.now = 60;
    end_task(&b, first, 60, false, 0);
    ok(began(&b, 1), "the short one has time");
    struct sched_start second = b.out.starts.at[0];
    b.now = 90;
    end_task(&b, second, 30, false, 0);
    is_int(b.out.starts.n, 0, "the long one has not");
    is_int(sched_place(b.s, 2, NULL), SCHED_UNFIT, "and waits elsewhere");
    bed_free(&b);
}

/* Another node has more time: it is sent there; a thief that goes soon gets only what is short. */
static void lasts_test_others(void)
{
    const double lengths[] = {500, 20, 20, 20, 200};
    memcpy(seconds, lengths, sizeof lengths);
    struct capacity has[] = {{.cores = 1, .memory = INFINITY, .ends = 300},
                             {.cores = 1, .memory = INFINITY, .ends = 1000},
                             {.cores = 1, .memory = INFINITY, .ends = 60}};
    struct sched_config config = node_until(300, 1);
    config.nodes = 3;
    config.capacity = has;
    struct bed b = bed_new(config);
    submit(&b, 0, 5);
    size_t sent = 0;
    for (size_t i = 0; i < b.out.sends.n; i++)
        sent += b.out.sends.at[i].kind == SCHED_TASKS && b.out.sends.at[i].to == 1;
    is_int(sent, 1, "what is too long here goes to the node that has the time");
    is_int(sched_place(b.s, 0, NULL), SCHED_MOVING, "which is asked to take it");
    uint32_t ready = 0;
    for (uint32_t t = 1; t < 5; t++)
        ready += sched_place(b.s, t, NULL) == SCHED_SREADYQ;
    struct sched_message ask = {.kind = SCHED_LOAD_QUERY, .from = 1, .to = 0};
    message(&b, ask, NULL);
    is_int(b.out.sends.at[0].load, ready, "a thief that stays hears of all");
    ask.from = 2;
    message(&b, ask, NULL);
    ok(b.out.sends.at[0].load == ready || b.out.sends.at[0].load == ready - 1,
       "one that goes does not hear of the long one");
    bool has_long = sched_place(b.s, 4, NULL) == SCHED_SREADYQ;
    is_int(b.out.sends.at[0].load, ready - has_long, "but of the others");
    b.now = 50;
    message(&b, ask, NULL);
    is_int(b.out.sends.at[0].load, 0, "and of none when its time has passed");
    bed_free(&b);
}

/* A task on two nodes needs the time on both. */
static void lasts_test_gang(void)
{
    const double lengths[] = {100};
    const uint32_t span[] = {2};
    memcpy(seconds, lengths, sizeof lengths);
    struct capacity has[] = {{.cores = 1, .memory = INFINITY, .ends = 300},
                             {.cores = 1, .memory = INFINITY, .ends = 60}};
    struct sched_config config = node_until(300, 1);
    config.nodes = 2;
    config.capacity = has;
    config.task_nodes = span;
    struct bed b = bed_new(config);
    submit(&b, 0, 1);
    is_int(sched_place(b.s, 0, NULL), SCHED_UNFIT, "one of its nodes goes before it would end");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_CAPACITY,
                                   .capacity = {1, {.cores = 1, .memory = INFINITY, .ends = 101}}});
    is_int(sched_place(b.s, 0, NULL), SCHED_GATHERING, "with time on both it gathers them");
    bed_free(&b);
}

/* Nothing that starts would end after the node, and what is short enough is not kept waiting. */
static void lasts_test_random(void)
{
    uint32_t late = 0, kept = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng rng;
        rng_seed_stream(&rng, seed, 5);
        double ends = 50 + (double)rng_below(&rng, 100);
        for (uint32_t t = 0; t < TASKS; t++)
            seconds[t] = rng_below(&rng, 5) ? 1 + (double)rng_below(&rng, 160) : 0;
        struct bed b = bed_new(node_until(ends, 1 + (uint32_t)rng_below(&rng, 4)));
        struct sched_start running[TASKS];
        double end[TASKS];
        uint32_t n = 0, submitted = 0;
        while (submitted < TASKS || n) {
            if (submitted < TASKS && (!n || rng_below(&rng, 2))) {
                submit(&b, submitted, 1);
                submitted++;
            } else {
                uint32_t next = 0;
                for (uint32_t i = 1; i < n; i++)
                    next = end[i] < end[next] ? i : next;
                struct sched_start s = running[next];
                b.now = end[next] > b.now ? end[next] : b.now;
                running[next] = running[--n];
                end[next] = end[n];
                end_task(&b, s, 1, false, 0);
            }
            for (size_t i = 0; i < b.out.starts.n; i++) {
                struct sched_start s = b.out.starts.at[i];
                late += b.now + seconds[s.task] > ends && seconds[s.task] > 0;
                running[n] = s;
                end[n++] = b.now + (seconds[s.task] > 0 ? seconds[s.task] : 5);
            }
        }
        for (uint32_t t = 0; t < TASKS; t++)
            kept += sched_place(b.s, t, NULL) == SCHED_UNFIT && b.now + seconds[t] <= ends;
        bed_free(&b);
    }
    is_int(late, 0, "nothing starts that would end after its node");
    is_int(kept, 0, "nothing waits that has the time");
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(lasts_test_alone), TAP_CASE(lasts_test_later),  TAP_CASE(lasts_test_others),
        TAP_CASE(lasts_test_gang),  TAP_CASE(lasts_test_random),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
