/* More tasks started than there are threads (start_has_room()): short ones many at a time, so that they are handed
 * over at once; long ones are left for thieves. */
#include "sched/testing.h"

static void test_lengths_are_learnt(void)
{
    struct bed b = bed_new((struct sched_config){
        .nodes = 2, .cores = 256, .threads = 1, .start_early = 0.01, .wait_poll = -1});
    submit(&b, 0, 1000);
    is_int(look(&b).at[SCHED_RUNNING], 1, "nobody knows yet how long they take");
    struct sched_start first = {.task = 0, .slot = slots_find(&b.s->tasks, 0)};
    end_task(&b, first, 1e-6, false, 0);
    is_int(look(&b).at[SCHED_RUNNING], 256, "a microsecond each: as many as there may be");
    struct sched_start second = {.task = 1, .slot = slots_find(&b.s->tasks, 1)};
    b.now = 10;
    end_task(&b, second, 8, false, 0);
    is_int(look(&b).at[SCHED_RUNNING], 255, "some are long: no more are started");
    message(&b, (struct sched_message){.kind = SCHED_LOAD_QUERY, .from = 1, .to = 0}, NULL);
    is_int(b.out.sends.at[0].load, 1000 - 2 - 255, "whatever was not is a thief's");
    bed_free(&b);
}

static void test_both_threads_have_work(void)
{
    struct bed b = bed_new((struct sched_config){
        .nodes = 2, .cores = 512, .threads = 2, .start_early = 0.01, .wait_poll = -1});
    submit(&b, 0, 100);
    struct sched_start one = {.task = 0, .slot = slots_find(&b.s->tasks, 0)};
    b.now = 1;
    end_task(&b, one, 0.004, false, 0);
    is_int(look(&b).at[SCHED_RUNNING], 2 + 4, "four more of 4 ms keep two threads busy for 8 ms");
    bed_free(&b);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_lengths_are_learnt),
                                            TAP_CASE(test_both_threads_have_work)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
