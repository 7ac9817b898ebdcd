/* Nodes that are set aside, and attempts for which their node is to blame: one scheduler, event by
 * event. */
#include "sched/testing.h"

static void set_aside(struct bed *b, uint32_t node, bool is)
{
    event(b, (struct sched_event){.kind = SCHED_EVENT_ASIDE, .aside = {node, is}});
}

/* Its node failed it. */
static void fail_node(struct bed *b, struct sched_start start, uint8_t cost)
{
    struct sched_ended e = {.task = start.task,
                            .slot = start.slot,
                            .failed = true,
                            .returned = true,
                            .passed_on = cost};
    event(b, (struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {&e, 1}});
}

/* To whom the last actions give this task, UINT32_MAX: to nobody. */
static uint32_t given_to(const struct bed *b, uint32_t task, struct meta_item *item)
{
    for (size_t i = 0; i < b->out.sends.n; i++) {
        const struct sched_message *m = &b->out.sends.at[i];
        for (uint32_t k = 0; m->kind == SCHED_TASKS && k < m->count; k++)
            if (b->out.items.at[m->first + k].task == task) {
                *item = b->out.items.at[m->first + k];
                return m->to;
            }
    }
    return UINT32_MAX;
}

static void test_passed_on(void)
{
    struct bed b = bed_new((struct sched_config){.node = 0, .nodes = 3, .cores = 1});
    struct meta_item item = {0};
    submit(&b, 7, 1);
    ok(b.out.starts.n == 1 && b.out.starts.at[0].attempt == 1, "it runs");
    ok(sched_may_pass_on(b.s, 7, 1), "others could take it");
    struct sched_start start = b.out.starts.at[0];
    fail_node(&b, start, 1);
    uint32_t to = given_to(&b, 7, &item);
    ok(to == 1 || to == 2, "its node failed it: another has it, node %u", to);
    ok(item.attempts == 0 && item.passed == 1, "no attempt was made, and it is counted");
    ok(b.out.starts.n == 0 && look(&b).failed_attempts == 0 && look(&b).passed_on == 1,
       "nor has it failed here");
    bed_free(&b);
}

static void test_too_often(void)
{
    struct bed b = bed_new((struct sched_config){.node = 0, .nodes = 2, .cores = 1});
    struct meta_item item = {.task = 7, .epoch = 3, .max_node = NONE, .passed = 9};
    message(&b, (struct sched_message){.kind = SCHED_TASKS, .from = 1, .to = 0, .count = 1}, &item);
    answer(&b);
    ok(b.out.starts.n == 1, "it came from another, and runs");
    ok(sched_may_pass_on(b.s, 7, 1) && !sched_may_pass_on(b.s, 7, 5),
       "once more; not when the task may be to blame");
    set_aside(&b, 1, true);
    ok(!sched_may_pass_on(b.s, 7, 1), "nor to a node that is no better");
    set_aside(&b, 1, false);
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = 1});
    ok(!sched_may_pass_on(b.s, 7, 1), "or is dead");
    bed_free(&b);
}

/* It was killed twice where memory was short, and then came to a full disk: that is not its own fault. */
static void test_two_reasons(void)
{
    for (uint8_t passed = 10; passed <= 20; passed += 10) {
        struct bed b = bed_new((struct sched_config){.node = 0, .nodes = 2, .cores = 1});
        struct meta_item item = {.task = 7, .epoch = 3, .max_node = NONE, .passed = passed};
        message(&b, (struct sched_message){.kind = SCHED_TASKS, .from = 1, .to = 0, .count = 1},
                &item);
        answer(&b);
        ok(!sched_may_pass_on(b.s, 7, 5) && sched_may_pass_on(b.s, 7, 1) == (passed < 20),
           "%u: a node's own failures are passed on further, and not for ever", passed);
        bed_free(&b);
    }
}

static void test_set_aside(void)
{
    static const uint32_t cores[8] = {1, 1, 1, 2, 1, 1, 1, 1};
    static const double priority[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    const struct capacity capacity[2] = {{.cores = 2, .memory = INFINITY},
                                         {.cores = 1, .memory = INFINITY}};
    struct bed b = bed_new((struct sched_config){.node = 0,
                                                 .nodes = 2,
                                                 .cores = 2,
                                                 .task_cores = cores,
                                                 .priority = priority,
                                                 .capacity = capacity});
    struct meta_item item;
    submit(&b, 0, 6);
    ok(look(&b).at[SCHED_RUNNING] == 2 && look(&b).at[SCHED_SREADYQ] == 4, "two run, four wait");
    struct sched_start first = b.out.starts.at[0], second = b.out.starts.at[1];
    set_aside(&b, 0, true);
    ok(given_to(&b, 4, &item) == 1 && given_to(&b, 5, &item) == 1 && given_to(&b, 2, &item) == 1,
       "what is ready goes to the other");
    ok(look(&b).at[SCHED_RUNNING] == 2, "what runs goes on");
    ok(look(&b).at[SCHED_SREADYQ] == 1, "what fits nowhere else stays");
    end_task(&b, first, 1, false, 0);
    answer(&b);
    end_task(&b, second, 1, false, 0);
    ok(b.out.starts.n == 1 && b.out.starts.at[0].task == 3, "and runs here");
    bool asks = false;
    for (size_t i = 0; i < b.out.sends.n; i++)
        asks |= b.out.sends.at[i].kind == SCHED_LOAD_QUERY;
    ok(!asks, "it does not steal");
    submit(&b, 6, 1);
    ok(given_to(&b, 6, &item) == 1, "what becomes ready goes on at once");
    set_aside(&b, 1, true);
    submit(&b, 7, 1);
    ok(given_to(&b, 7, &item) == UINT32_MAX && look(&b).at[SCHED_UNFIT] == 0,
       "with nobody better it stays");
    set_aside(&b, 1, false);
    ok(given_to(&b, 7, &item) == 1, "until somebody is");
    set_aside(&b, 0, false);
    ok(look(&b).at[SCHED_RUNNING] == 1, "back again");
    bed_free(&b);
}

static void test_thief(void)
{
    struct bed b = bed_new((struct sched_config){.node = 0, .nodes = 2, .cores = 1});
    submit(&b, 0, 5);
    struct sched_message steal = {.kind = SCHED_STEAL, .from = 1, .to = 0, .round = 1};
    set_aside(&b, 1, true);
    message(&b, steal, NULL);
    ok(b.out.sends.n == 1 && b.out.sends.at[0].count == 0, "one that is set aside gets nothing");
    set_aside(&b, 1, false);
    message(&b, steal, NULL);
    ok(b.out.sends.n == 1 && b.out.sends.at[0].count == 2, "later it does");
    bed_free(&b);
}

/* A busy node has what idle ones have failed: they do not get it by stealing. */
static void test_thief_that_failed(void)
{
    struct bed b = bed_new((struct sched_config){.node = 0, .nodes = 2, .cores = 1});
    struct meta_item item = {.task = 9, .epoch = 3, .max_node = NONE, .passed = 5};
    meta_item_set_failed_at(&item, 1 << 1);
    submit(&b, 0, 1);
    message(&b, (struct sched_message){.kind = SCHED_TASKS, .from = 1, .to = 0, .count = 1}, &item);
    answer(&b);
    is_int(look(&b).at[SCHED_SREADYQ], 1, "it waits here, where it can run");
    struct sched_message query = {.kind = SCHED_LOAD_QUERY, .from = 1, .to = 0, .round = 1};
    message(&b, query, NULL);
    ok(b.out.sends.n == 1 && b.out.sends.at[0].load == 0, "a thief does not hear of it");
    query.kind = SCHED_STEAL;
    message(&b, query, NULL);
    ok(b.out.sends.n == 1 && b.out.sends.at[0].count == 0, "nor does it get it");
    submit(&b, 1, 2);
    message(&b, query, NULL);
    ok(b.out.sends.n == 1 && b.out.sends.at[0].count == 1, "of others it gets its share");
    bed_free(&b);
}

/* Not back to whom it came from, as long as there is another; then to whoever is left. */
static void test_other_way(void)
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct bed b =
            bed_new((struct sched_config){.node = 1, .nodes = 4, .cores = 1, .seed = seed});
        struct meta_item item = {.task = 9, .epoch = 3, .max_node = 0, .passed = 1};
        meta_item_set_failed_at(&item, 1 << 0 | 1 << 2);
        message(&b, (struct sched_message){.kind = SCHED_TASKS, .from = 0, .to = 1, .count = 1},
                &item);
        answer(&b);
        fail_node(&b, b.out.starts.at[0], 1);
        uint32_t to = given_to(&b, 9, &item);
        bool told = meta_item_failed_at(&item) == (1 << 0 | 1 << 1 | 1 << 2);
        b.now += 2; /* it does not take it in time: it comes back, and goes there again */
        event(&b, (struct sched_event){.kind = SCHED_EVENT_TIMER, .timer = {TIMER_MOVING, 0}});
        answer(&b);
        bool again = given_to(&b, 9, &item) == 3 && !b.out.starts.n;
        ok(to == 3 && told && again, "seed %d: to the one that has not failed it", (int)seed);
        bed_free(&b);
    }
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_passed_on), TAP_CASE(test_too_often), TAP_CASE(test_two_reasons),
        TAP_CASE(test_set_aside), TAP_CASE(test_thief),     TAP_CASE(test_thief_that_failed),
        TAP_CASE(test_other_way)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
