/* Another life of a node whose process went on: what becomes of the tasks that it held. */
#include "sched/testing.h"

/* The store's word about a task that runs. */
static void tell_holder(struct bed *b, struct sched_start start, uint32_t holder, uint32_t epoch)
{
    struct meta_answer a = {.kind = META_GET,
                            .slot = start.slot,
                            .asked_epoch = 1,
                            .item = {.task = start.task, .epoch = epoch, .holder = holder}};
    event(b, (struct sched_event){.kind = SCHED_EVENT_STORE, .store = {.at = &a, .n = 1}});
}

/* Others took it for dead, and hold by now what it thinks is its own. */
static void test_life_after(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 2, .cores = 2, .wait_poll = -1});
    submit(&b, 0, 5);
    struct sched_start first = b.out.starts.at[0], second = b.out.starts.at[1];
    event(&b, (struct sched_event){.kind = SCHED_EVENT_START, .life = 2});
    ok(look(&b).at[SCHED_RUNNING] == 2 && look(&b).at[SCHED_SREADYQ] == 0,
       "what runs goes on, what has not begun does not before it is adopted");
    ok(sched_is_doubted(b.s, first.task) && !sched_is_lost(b.s, first.task), "nobody knows yet");
    ok(b.out.ops.n == 3 && b.out.ops.at[1].kind == META_GET && b.out.ops.at[2].kind == META_GET,
       "the store is asked about what runs");
    tell_holder(&b, first, 1, 2);
    ok(sched_is_lost(b.s, first.task) && b.out.stops.n == 1 && b.out.stops.at[0].task == first.task,
       "one is another's: it is stopped");
    tell_holder(&b, second, 0, 1);
    ok(!sched_is_doubted(b.s, second.task) && !b.out.stops.n, "the other is its own");
    end_task(&b, first, 1, false, 0);
    ok(!b.out.ops.n && sched_place(b.s, first.task, NULL) == SCHED_NOWHERE,
       "the end of what is another's counts for nothing");
    end_task(&b, second, 1, false, 0);
    is_int(b.out.ops.n, 1, "that of its own does");
    bed_free(&b);
}

/* It is being stopped since another had it, and that one dies, too. */
static void test_lost_and_found(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 2, .cores = 1, .wait_poll = -1});
    submit(&b, 0, 1);
    struct sched_start start = b.out.starts.at[0];
    event(&b, (struct sched_event){.kind = SCHED_EVENT_START, .life = 2});
    tell_holder(&b, start, 1, 2);
    struct meta_item item = {.task = 0, .epoch = 3, .holder = 0, .max_node = NONE};
    struct meta_answer adopted = {
        .kind = META_ADOPT, .count = 1, .item = {.task = NONE, .holder = 1}};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE,
                                   .store = {.at = &adopted, .n = 1, .items = &item}});
    struct sched_ended e = {.task = 0, .slot = start.slot, .failed = true, .returned = true};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {&e, 1}});
    is_int(b.out.starts.n, 1, "it is its own again, and runs once more");
    bed_free(&b);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_life_after),
                                            TAP_CASE(test_lost_and_found)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
