/* Two things a scheduler knows of data and their way: what an interface has still to send makes tasks that
 * read it dear to thieves, and a share of the graph that is connected stays with the node that holds it. */
#include "sched/testing.h"

static const struct sched_config base = {.node = 0,
                                         .nodes = 3,
                                         .cores = 2,
                                         .bandwidth = 100,
                                         .default_length = 1,
                                         .share_local = true,
                                         .wait_poll = -1};

/* What this node says it can spare, while others wait for `sending` bytes from it. */
static uint32_t load_reply(struct bed *b, double sending)
{
    struct sched_message m = {.kind = SCHED_LOAD_QUERY, .from = 1, .to = 0, .round = 1};
    event(b, (struct sched_event){
                 .kind = SCHED_EVENT_MESSAGE, .sending = sending, .message = {&m, NULL}});
    return b->out.sends.n == 1 ? b->out.sends.at[0].load : UINT32_MAX;
}

static void test_interface(void)
{
    struct bed b = bed_new(base);
    b.size = 100; /* a second of the network, as long as a task */
    b.where = 0;
    submit(&b, 0, 20);
    ok(look(&b).at[SCHED_LREADYQ] == 18, "two run, eighteen stay with their data");
    ok(load_reply(&b, 0) == 16, "nobody waits for this node: two would begin here first");
    ok(load_reply(&b, 500) == 6, "five seconds to send: so many more would begin here first");
    b.now = 5;
    ok(load_reply(&b, 0) == 16, "five seconds later all is sent");
    message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 1, .to = 0, .round = 2}, NULL);
    ok(look(&b).at[SCHED_MOVING] == 8, "a thief gets half of them");
    ok(load_reply(&b, 0) == 6, "the one object that they read counts for the next");
    bed_free(&b);

    struct sched_config rigid = base;
    rigid.share_local = false;
    b = bed_new(rigid);
    submit(&b, 0, 20); /* no data */
    ok(load_reply(&b, 1e6) == 18, "tasks without data are spared whatever is sent");
    bed_free(&b);
}

/* Twenty stolen tasks, whose data node 1 says to have sent after so many microseconds; what this node
 * can spare of them. */
static uint32_t stolen_load(struct bed *b, uint32_t load)
{
    struct meta_item items[20];
    for (uint32_t t = 0; t < 20; t++)
        items[t] = (struct meta_item){
            .task = t, .epoch = 0, .holder = 1, .all_size = 100, .max_size = 100, .max_node = 1};
    b->size = 100;
    b->where = 1;
    message(
        b,
        (struct sched_message){.kind = SCHED_TASKS, .from = 1, .to = 0, .load = load, .count = 20},
        items);
    answer(b);
    return load_reply(b, 0);
}

static void test_awaited(void)
{
    struct bed b = bed_new(base);
    is_int(stolen_load(&b, 0), 16, "data are there soon: two would begin here first");
    bed_free(&b);
    b = bed_new(base);
    is_int(stolen_load(&b, 5000000), 6, "five seconds of others' data before them: ten more");
    message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 2, .to = 0, .round = 2}, NULL);
    ok(b.out.sends.n && b.out.sends.at[0].count == 3 && b.out.sends.at[0].load == 6000000,
       "who steals them again hears when its data come");
    is_int(load_reply(&b, 0), 1, "and the next would wait longer still");
    b.now = 6;
    is_int(load_reply(&b, 0), 13, "until all has been sent");
    bed_free(&b);
    struct sched_config slow = base;
    slow.default_length = 100;
    b = bed_new(slow);
    is_int(stolen_load(&b, 0), 18,
           "tasks of minutes are all spared: a second of the network is nothing");
    bed_free(&b);
}

/* One of the tasks that wait here is ready, its data at node 1. */
static void ready_elsewhere(struct bed *b, uint32_t task)
{
    struct meta_item item = {
        .task = task, .epoch = 1, .holder = 0, .all_size = 1000, .max_size = 1000, .max_node = 1};
    message(b,
            (struct sched_message){.kind = SCHED_READY, .from = 1, .to = 0, .first = 0, .count = 1},
            &item);
}

static void test_share(bool connected)
{
    struct sched_config config = base;
    config.share_local = connected;
    struct bed b = bed_new(config);
    b.waiting = 1;
    submit(&b, 0, 100);
    ready_elsewhere(&b, 0);
    ok((look(&b).at[SCHED_RUNNING] == 1) == connected,
       connected ? "an idle node keeps the first of the share that it holds"
                 : "as in the paper it goes to its data");
    bed_free(&b);
}

/* What else there is to start, stolen as a rule, does not send a branch of the share away. */
static void test_busy(void)
{
    struct bed b = bed_new(base);
    (void)stolen_load(&b, 0);
    uint32_t queued = look(&b).at[SCHED_SREADYQ] + look(&b).at[SCHED_LREADYQ];
    b.waiting = 1;
    submit(&b, 100, 100);
    ready_elsewhere(&b, 100);
    ok(queued >= 2 && look(&b).pushed == 0, "a node with %u tasks to start keeps a branch, too",
       queued);
    is_int(look(&b).at[SCHED_LREADYQ], 1, "and starts it before what was stolen");
    bed_free(&b);
}

/* A node whose tasks turn out to have their data elsewhere every time sends them there. */
static void test_scattered(void)
{
    struct bed b = bed_new(base);
    b.waiting = 1;
    submit(&b, 0, 100);
    uint32_t kept = 0;
    for (uint32_t t = 0; t < 60; t++) {
        ready_elsewhere(&b, t);
        bool starts = b.out.starts.n == 1;
        kept += starts;
        if (starts)
            end_task(&b, b.out.starts.at[0], 1, false, 0);
        answer(&b);
    }
    ok(kept > 0 && kept < 20, "of a scattered share %u of 60 stay", kept);
    ok(look(&b).pushed == 60 - kept, "the others go to their data");
    bed_free(&b);
}

static void test_connected(void)
{
    test_share(true);
}

static void test_rigid(void)
{
    test_share(false);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_interface), TAP_CASE(test_awaited),
                                            TAP_CASE(test_connected), TAP_CASE(test_rigid),
                                            TAP_CASE(test_busy),      TAP_CASE(test_scattered)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
