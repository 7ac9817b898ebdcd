/* One scheduler, event by event. */
#include "sched/testing.h"

/* ---- order and packing ---- */

static void test_order(void)
{
    double priority[] = {1, 5, 5, 9, 0};
    struct bed b = bed_new((struct sched_config){.priority = priority});
    uint32_t held = 4;
    event(&b, (struct sched_event){.kind = SCHED_EVENT_SUBMIT, .submit = {&held, 1}});
    answer(&b);
    struct sched_start running = b.out.starts.at[0];
    is_int(running.task, 4, "the only task starts at once");
    submit(&b, 0, 4);
    const uint32_t expected[] = {3, 1, 2, 0};
    for (int i = 0; i < 4; i++) {
        end_task(&b, running, 1, false, 0);
        running = b.out.starts.at[0];
        is_int(running.task, expected[i], "by the plan's priority, then in order of arrival");
    }
    is_int(b.out.timers.n + b.out.sends.n, 0, "a node alone sends nothing and sets no timer");
    bed_free(&b);

    b = bed_new((struct sched_config){0});
    held = 9;
    event(&b, (struct sched_event){.kind = SCHED_EVENT_SUBMIT, .submit = {&held, 1}});
    answer(&b);
    running = b.out.starts.at[0];
    b.where = 0;
    for (uint32_t t = 0; t < 3; t++) {
        b.size = (double[]){10, 30, 20}[t];
        submit(&b, t, 1);
    }
    b.size = 1e12;
    submit(&b, 3, 1);
    const uint32_t by_size[] = {3, 1, 2, 0};
    for (int i = 0; i < 4; i++) {
        end_task(&b, running, 1, false, 0);
        running = b.out.starts.at[0];
        is_int(running.task, by_size[i], "the LReadyQ first, then the most data");
    }
    bed_free(&b);
}

static void test_packing(void)
{
    uint32_t cores[] = {2, 3, 1, 99};
    double memory[] = {6, 6, 6, 1};
    struct bed b = bed_new((struct sched_config){
        .cores = 4, .memory = 10, .task_cores = cores, .task_memory = memory});
    submit(&b, 0, 4);
    is_int(b.out.starts.n, 1, "2 cores run; 3 more do not fit, and nobody overtakes");
    end_task(&b, b.out.starts.at[0], 1, false, 0);
    is_int(b.out.starts.n, 1, "3 cores run; the next would fit by cores, not by memory");
    end_task(&b, b.out.starts.at[0], 1, false, 0);
    is_int(b.out.starts.n, 1, "1 core runs");
    end_task(&b, b.out.starts.at[0], 1, false, 0);
    is_int(b.out.starts.n, 0, "what wants more than the node has never starts here");
    is_int(sched_place(b.s, 3, NULL), SCHED_UNFIT, "and waits, alone, for a node that has it");
    bed_free(&b);
}

/* ---- what fits where ---- */

static void set_capacity(struct bed *b, uint32_t node, struct capacity has)
{
    struct sched_event e = {.kind = SCHED_EVENT_CAPACITY};
    e.capacity.node = node;
    e.capacity.has = has;
    event(b, e);
}

static void test_send_on(void)
{
    uint32_t cores[] = {2, 2, 1, 8, 7};
    uint64_t needs[] = {0, 1, 0, 0, 0};
    struct capacity has[] = {{.cores = 1, .memory = 10},
                             {.cores = 2, .memory = 10, .has = 1},
                             {.cores = 2, .memory = 10}};
    struct bed b = bed_new((struct sched_config){.nodes = 3,
                                                 .cores = 1,
                                                 .memory = 10,
                                                 .capacity = has,
                                                 .task_cores = cores,
                                                 .task_needs = needs});
    submit(&b, 1, 1);
    ok(b.out.sends.n && b.out.sends.at[0].kind == SCHED_TASKS && b.out.sends.at[0].to == 1,
       "a task that does not fit here goes to a node that has its cores and attributes");
    submit(&b, 3, 2);
    is_int(sched_place(b.s, 3, NULL), SCHED_UNFIT, "one that fits nowhere waits");
    set_capacity(&b, 2, (struct capacity){.cores = 4, .memory = 10});
    is_int(sched_place(b.s, 3, NULL), SCHED_UNFIT, "also when a node has more, and too little");
    set_capacity(&b, 3, (struct capacity){.cores = 8, .memory = 10});
    is_int(sched_place(b.s, 3, NULL), SCHED_UNFIT, "and while it is not up");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_UP, .node = 3});
    ok(sched_place(b.s, 3, NULL) == SCHED_MOVING && b.out.sends.at[0].to == 3,
       "one that has room comes: it goes there");
    is_int(sched_place(b.s, 4, NULL), SCHED_MOVING, "and with it all that waited for that much");
    bed_free(&b);
}

/* Node 0 has work for all; a thief of one core asks first, one of four cores after it. */
static void test_steal_what_fits(void)
{
    uint32_t cores[] = {4, 4, 1, 1, 1, 4};
    double memory[] = {0, 0, 0, 0, 50, 0};
    struct capacity has[] = {
        {.cores = 4, .memory = 100}, {.cores = 1, .memory = 10}, {.cores = 4, .memory = 100}};
    struct bed b = bed_new((struct sched_config){.nodes = 3,
                                                 .cores = 4,
                                                 .memory = 100,
                                                 .capacity = has,
                                                 .task_cores = cores,
                                                 .task_memory = memory});
    submit(&b, 0, 6);
    is_int(b.out.starts.at[0].task, 0, "the first starts, and the others wait");
    message(&b, (struct sched_message){.kind = SCHED_LOAD_QUERY, .from = 1, .to = 0}, NULL);
    is_int(b.out.sends.at[0].load, 2, "a small thief hears of the two that fit it");
    message(&b, (struct sched_message){.kind = SCHED_LOAD_QUERY, .from = 2, .to = 0}, NULL);
    is_int(b.out.sends.at[0].load, 5, "a large one of all five");
    message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 1, .to = 0}, NULL);
    ok(b.out.items.n == 1 && cores[b.out.items.at[0].task] == 1 &&
           memory[b.out.items.at[0].task] == 0,
       "and gets half of them");
    message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 2, .to = 0}, NULL);
    ok(b.out.items.n == 2 && b.out.items.at[0].task != 2 && b.out.items.at[0].task != 3,
       "the large one first gets what the small one cannot have");
    bed_free(&b);
}

static void test_leaving(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 2, .cores = 1});
    submit(&b, 0, 3);
    struct sched_start running = b.out.starts.at[0];
    set_capacity(&b, 0, (struct capacity){0});
    is_int(b.out.items.n, 2, "a node that leaves gives its ready tasks to the other");
    end_task(&b, running, 1, false, 0);
    is_int(b.out.starts.n, 0, "and starts nothing more");
    is_int(sched_place(b.s, 0, NULL), SCHED_COMPLETEQ, "what runs may end");
    bed_free(&b);

    b = bed_new((struct sched_config){.nodes = 2, .cores = 1, .record_starts = true});
    submit(&b, 0, 1);
    running = b.out.starts.at[0];
    struct sched_ended back = {.task = 0, .slot = running.slot, .returned = true};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {&back, 1}});
    ok(b.out.starts.n == 1 && b.out.starts.at[0].attempt == 1,
       "a task that was given back is tried again, and no attempt is counted");
    is_int(b.out.ops.at[0].kind, META_RETRY, "the store learns that it does not run");
    bed_free(&b);
}

/* ---- between nodes ---- */

static const struct sched_timer *find_timer(const struct bed *b, uint32_t kind)
{
    for (size_t i = 0; i < b->out.timers.n; i++)
        if (b->out.timers.at[i].kind == kind)
            return &b->out.timers.at[i];
    return NULL;
}

static void test_push(void)
{
    struct bed b = bed_new((struct sched_config){
        .nodes = 3, .node = 0, .policy = SCHED_RLDS, .wait_poll = -1, .reply_timeout = 2});
    b.size = 1e12;
    b.where = 2;
    submit(&b, 7, 1);
    ok(b.out.sends.n >= 1 && b.out.sends.at[0].kind == SCHED_PUSH && b.out.sends.at[0].to == 2,
       "data elsewhere: the task is pushed there");
    is_int(sched_place(b.s, 7, NULL), SCHED_MOVING, "and kept in mind");
    is_int(b.out.items.at[0].epoch, 1, "with its epoch");
    struct sched_timer moving = {0};
    for (size_t i = 0; i < b.out.timers.n; i++)
        if (b.out.timers.at[i].kind == TIMER_MOVING)
            moving = b.out.timers.at[i];
    is_dbl(moving.when, 2, 0, "for as long as patience lasts");
    timer(&b, moving);
    is_int(sched_place(b.s, 7, NULL), SCHED_ARRIVING, "no word: it wants the task back");
    answer(&b);
    is_int(sched_place(b.s, 7, NULL), SCHED_RUNNING, "and, granted, runs it here");
    submit(&b, 8, 1);
    struct meta_item ack = {.task = 8, .epoch = 1};
    message(&b, (struct sched_message){.kind = SCHED_ACK, .from = 2, .to = 0, .count = 1}, &ack);
    is_int(sched_place(b.s, 8, NULL), SCHED_NOWHERE, "acknowledged: forgotten");
    struct meta_item pushed = {
        .task = 9, .epoch = 4, .max_node = 0, .all_size = 1e12, .max_size = 1e12};
    message(&b, (struct sched_message){.kind = SCHED_PUSH, .from = 1, .to = 0, .count = 1},
            &pushed);
    is_int(b.out.ops.n, 1, "a task pushed here is claimed");
    ok(b.out.ops.at[0].kind == META_HOLD && b.out.ops.at[0].epoch == 4,
       "at the epoch at which it was sent");
    is_int(b.out.starts.n, 0, "before it may run");
    b.where = 0;
    answer(&b);
    is_int(sched_place(b.s, 9, NULL), SCHED_LREADYQ, "then goes to the LReadyQ");
    ok(b.out.sends.n && b.out.sends.at[0].kind == SCHED_ACK && b.out.sends.at[0].to == 1,
       "and its giver hears of it");
    message(&b, (struct sched_message){.kind = SCHED_PUSH, .from = 1, .to = 0, .count = 1},
            &pushed);
    is_int(b.out.ops.n, 0, "the same message again changes nothing");
    bed_free(&b);
}

static void test_steal(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 16,
                                                 .node = 3,
                                                 .seed = 7,
                                                 .wait_poll = -1,
                                                 .adapt_tt = true,
                                                 .tt = 8,
                                                 .tt_small = 1e-9,
                                                 .steal_first = 0.001,
                                                 .steal_bound = 0.004});
    event(&b, (struct sched_event){.kind = SCHED_EVENT_POLICY, .policy = {SCHED_FLDS, -1, -1}});
    is_int(b.out.sends.n, 4, "an idle node of 16 asks 4 neighbours");
    bool distinct = true;
    uint32_t asked[4], round = b.out.sends.at[0].round;
    for (int i = 0; i < 4; i++) {
        asked[i] = b.out.sends.at[i].to;
        distinct &= b.out.sends.at[i].kind == SCHED_LOAD_QUERY && asked[i] != 3 && asked[i] < 16;
        for (int k = 0; k < i; k++)
            distinct &= asked[k] != asked[i];
    }
    ok(distinct, "different ones, and not itself");
    const uint32_t loads[] = {2, 9, 9, 0};
    for (int i = 0; i < 4; i++)
        message(&b,
                (struct sched_message){.kind = SCHED_LOAD_REPLY,
                                       .from = asked[i],
                                       .to = 3,
                                       .round = round,
                                       .load = loads[i]},
                NULL);
    is_int(b.out.sends.n, 1, "when all have answered");
    ok(b.out.sends.at[0].kind == SCHED_STEAL &&
           b.out.sends.at[0].to == (asked[1] < asked[2] ? asked[1] : asked[2]),
       "it steals from the most loaded, the lowest number of equals");
    struct meta_item items[2] = {{.task = 1, .epoch = 1, .max_node = NONE},
                                 {.task = 2, .epoch = 1, .max_node = NONE}};
    message(&b,
            (struct sched_message){.kind = SCHED_TASKS,
                                   .from = asked[1],
                                   .to = 3,
                                   .round = b.out.sends.at[0].round,
                                   .count = 2},
            items);
    answer(&b);
    is_int(look(&b).at[SCHED_SREADYQ] + look(&b).at[SCHED_RUNNING], 2,
           "the stolen tasks are in the SReadyQ, and one runs");
    is_int(look(&b).stolen, 2, "counted");
    bed_free(&b);

    b = bed_new((struct sched_config){.nodes = 4,
                                      .node = 0,
                                      .seed = 7,
                                      .wait_poll = -1,
                                      .adapt_tt = true,
                                      .tt = 8,
                                      .tt_small = 1e-9,
                                      .steal_first = 0.001,
                                      .steal_bound = 0.004});
    event(&b, (struct sched_event){.kind = SCHED_EVENT_POLICY, .policy = {SCHED_FLDS, -1, -1}});
    double waits[] = {0.001, 0.002, 0.004}, tt = 8;
    for (int i = 0; i < 3; i++) {
        uint32_t first = b.out.sends.at[0].to, second = b.out.sends.at[1].to;
        round = b.out.sends.at[0].round;
        message(&b,
                (struct sched_message){
                    .kind = SCHED_LOAD_REPLY, .from = first, .to = 0, .round = round},
                NULL);
        message(&b,
                (struct sched_message){
                    .kind = SCHED_LOAD_REPLY, .from = second, .to = 0, .round = round},
                NULL);
        const struct sched_timer *t = find_timer(&b, TIMER_STEAL);
        if (!ok(t != NULL, "nobody has any: it waits"))
            break;
        is_dbl(t->when - b.now, waits[i], 1e-12, "%g s, twice as long each time", waits[i]);
        tt /= 2;
        is_dbl(look(&b).tt, tt, 0, "tt halves after a failed steal");
        timer(&b, *t);
        is_int(b.out.sends.n, 2, "and asks again");
    }
    const struct sched_timer *reply = find_timer(&b, TIMER_REPLY);
    ok(reply != NULL, "a round without answers");
    timer(&b, *reply);
    ok(look(&b).dormant, "ends too, and past the bound it sleeps");
    is_int(b.out.timers.n + b.out.sends.n, 0, "with no timer and no message");
    submit(&b, 0, 5);
    ok(!look(&b).dormant, "work wakes it");
    message(&b, (struct sched_message){.kind = SCHED_LOAD_QUERY, .from = 2, .to = 0, .round = 5},
            NULL);
    is_int(b.out.sends.at[0].load, 4, "its load is the length of its SReadyQ");
    message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 2, .to = 0, .round = 6}, NULL);
    ok(b.out.sends.at[0].kind == SCHED_TASKS && b.out.sends.at[0].count == 2 &&
           b.out.sends.at[0].round == 6,
       "a thief gets half of 4");
    message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 1, .to = 0, .round = 6}, NULL);
    is_int(b.out.sends.at[0].count, 1, "then half of 2");
    message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 1, .to = 0, .round = 6}, NULL);
    is_int(b.out.sends.at[0].count, 1, "then the last one");
    message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 3, .to = 0, .round = 6}, NULL);
    is_int(b.out.sends.at[0].count, 0, "then an empty answer");
    bed_free(&b);
}

/* Agents join and go during a run: numbers past the last are newcomers, and word of a death names
 * the life that is over. */
static void test_newcomers(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 2, .wait_poll = -1, .steal_bound = 0.01});
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = 1, .over = 7});
    is_int(b.out.ops.n, 1, "the dead one's tasks");
    ok(b.out.ops.at[0].kind == META_ADOPT && b.out.ops.at[0].other == 1 &&
           b.out.ops.at[0].bytes == 7,
       "are asked for, with the life that is over");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = 3, .over = 9});
    ok(b.out.ops.n == 1 && b.out.ops.at[0].other == 3 && b.out.ops.at[0].bytes == 9,
       "so are those of one that was gone before anybody heard of it");
    event(&b,
          (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = 4, .over = SCHED_NOT_YET});
    is_int(b.out.ops.n, 0, "one that is not there yet is left alone");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_UP, .node = 4});
    bool asked = b.out.sends.n == 1 && b.out.sends.at[0].kind == SCHED_LOAD_QUERY &&
                 b.out.sends.at[0].to == 4;
    ok(asked, "a newcomer is asked for work, and not those between, who are not there");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_START, .life = 2});
    struct meta_answer joined = {.kind = META_JOIN, .asked_epoch = 2};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE, .store = {.at = &joined, .n = 1}});
    ok(b.out.ops.n == 3 && b.out.ops.at[1].other == 1 && b.out.ops.at[1].bytes == 7 &&
           b.out.ops.at[2].other == 3,
       "a new life asks again, with the same, and not for those that are not there yet");
    bed_free(&b);
}

/* One that began alone was not told of a parent's end elsewhere: it looks, as soon as it has company. */
static void test_company(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 1, .node = 0});
    b.waiting = 1;
    submit(&b, 1, 1);
    ok(!find_timer(&b, TIMER_WAIT) && sched_place(b.s, 1, NULL) == SCHED_WAITQ,
       "alone it does not look at the WaitQ");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_UP, .node = 1});
    ok(find_timer(&b, TIMER_WAIT), "with another node it does");
    bed_free(&b);
}

/* A new life looks for its tasks when the store knows that it has begun: what an earlier life asked
 * for is then refused, and cannot give it a task that it does not know. */
static void test_join(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 2, .wait_poll = -1});
    event(&b, (struct sched_event){.kind = SCHED_EVENT_START, .life = 5});
    is_int(b.out.ops.n, 1, "at first it joins");
    is_int(b.out.ops.at[0].kind, META_JOIN, "and does nothing else");
    is_int(b.out.ops.at[0].life, 5, "with its life");
    struct meta_answer late = {.kind = META_JOIN, .asked_epoch = 4};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE, .store = {.at = &late, .n = 1}});
    is_int(b.out.ops.n, 0, "an earlier life's answer is nothing");
    late.asked_epoch = 5;
    event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE, .store = {.at = &late, .n = 1}});
    is_int(b.out.ops.n, 1, "then it takes back what it held");
    ok(b.out.ops.at[0].kind == META_ADOPT && b.out.ops.at[0].other == 0 &&
           b.out.ops.at[0].epoch == 5,
       "from itself, in this life");
    bed_free(&b);
}

/* ---- failing and removing ---- */

static void test_retries(void)
{
    struct bed b = bed_new((struct sched_config){.retries = 2, .retry_first = 1});
    submit(&b, 0, 1);
    for (int i = 0; i < 2; i++) {
        is_int(b.out.starts.at[0].attempt, i + 1, "attempt %d", i + 1);
        end_task(&b, b.out.starts.at[0], 0, true, 0);
        is_int(sched_place(b.s, 0, NULL), SCHED_BACKOFF, "failed: tried again later");
        is_dbl(b.out.timers.at[0].when - b.now, i + 1, 0, "in %d s", i + 1);
        timer(&b, b.out.timers.at[0]);
    }
    end_task(&b, b.out.starts.at[0], 0, true, 0);
    ok(b.out.ops.n == 1 && b.out.ops.at[0].kind == META_REMOVE &&
           b.out.ops.at[0].status == META_FAILED,
       "out of attempts: the store is told");
    answer(&b);
    ok(b.out.notes.n == 1 && b.out.notes.at[0].kind == SCHED_NOTE_FAILED, "and the user");
    is_int(sched_place(b.s, 0, NULL), SCHED_NOWHERE, "and it is gone");
    bed_free(&b);
}

/* Out of attempts here, and another's by now: the store refuses it, and it was no failure. */
static void test_failure_refused(void)
{
    struct bed b = bed_new((struct sched_config){0});
    submit(&b, 0, 1);
    end_task(&b, b.out.starts.at[0], 0, true, 0);
    struct meta_op op = b.out.ops.at[0];
    struct meta_answer a = {.kind = op.kind,
                            .slot = op.slot,
                            .asked_epoch = op.epoch,
                            .outcome = META_STALE,
                            .status = META_RUNNING,
                            .item = {.task = 0, .holder = 1, .max_node = NONE}};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE, .store = {.at = &a, .n = 1}});
    ok(b.out.notes.n == 1 && b.out.notes.at[0].kind == SCHED_NOTE_LOST && look(&b).lost == 1,
       "a failure that the store refuses is no failure");
    is_int(sched_place(b.s, 0, NULL), SCHED_NOWHERE, "and it is gone");
    bed_free(&b);
}

/* A task that ends without outputs is committed as such, and its children go on. */
static void test_without_outputs(void)
{
    static const struct {
        struct sched_ended end;
        enum meta_kind kind;
        uint8_t status;
        enum sched_note_kind note;
        const char *what;
    } cases[] = {
        {{.skipped = true}, META_COMPLETE, META_SKIPPED, SCHED_NOTE_SKIPPED, "skipped"},
        {{.failed = true, .last = true, .excused = true},
         META_COMPLETE,
         META_EXCUSED,
         SCHED_NOTE_EXCUSED,
         "failed, and may"},
        {{.failed = true, .last = true},
         META_REMOVE,
         META_FAILED,
         SCHED_NOTE_FAILED,
         "failed in a way that is not tried again"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bed b = bed_new((struct sched_config){.retries = 5});
        submit(&b, 0, 1);
        struct sched_ended e = cases[i].end;
        e.task = b.out.starts.at[0].task;
        e.slot = b.out.starts.at[0].slot;
        event(&b, (struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {&e, 1}});
        ok(b.out.ops.n == 1 && b.out.ops.at[0].kind == cases[i].kind &&
               b.out.ops.at[0].status == cases[i].status,
           "%s: the store is told", cases[i].what);
        answer(&b);
        ok(b.out.notes.n == 1 && b.out.notes.at[0].kind == cases[i].note, "and the user");
        is_int(sched_place(b.s, 0, NULL), SCHED_NOWHERE, "and it is gone");
        bed_free(&b);
    }
    struct bed b = bed_new((struct sched_config){.retries = 1});
    submit(&b, 0, 1);
    struct sched_ended e = {.failed = true, .excused = true, .slot = b.out.starts.at[0].slot};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {&e, 1}});
    ok(b.out.starts.n == 1 && b.out.starts.at[0].attempt == 2, "one that may fail is tried again");
    bed_free(&b);
}

static void test_remove(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 2, .wait_poll = -1});
    submit(&b, 0, 2);
    struct sched_start running = b.out.starts.at[0];
    struct meta_item children[] = {{.task = 5, .holder = 0}, {.task = 6, .holder = 1}};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_REMOVE, .task = 0});
    is_int(b.out.ops.at[0].kind, META_REMOVE, "the store decides about a removal");
    struct meta_answer a = {.kind = META_REMOVE,
                            .status = META_REMOVED,
                            .slot = NONE,
                            .count = 2,
                            .item = {.task = 0, .holder = 0}};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE,
                                   .store = {.at = &a, .n = 1, .items = children}});
    ok(b.out.stops.n == 1 && b.out.stops.at[0].task == 0, "a running task is stopped");
    ok(b.out.ops.n == 2 && b.out.ops.at[0].task == 5 && b.out.ops.at[1].task == 6,
       "its children follow");
    a = (struct meta_answer){.kind = META_REMOVE,
                             .status = META_REMOVED,
                             .slot = NONE,
                             .item = {.task = 6, .holder = 1}};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE, .store = {.at = &a, .n = 1}});
    ok(b.out.sends.n == 1 && b.out.sends.at[0].kind == SCHED_DROP && b.out.sends.at[0].to == 1,
       "whoever holds one is told");
    end_task(&b, running, 1, false, 0);
    ok(b.out.ops.n == 0 && b.out.starts.n == 1 && b.out.starts.at[0].task == 1,
       "the end of the removed task counts for nothing but its core");
    struct meta_item drop = {.task = 1};
    message(&b, (struct sched_message){.kind = SCHED_DROP, .from = 1, .to = 0, .count = 1}, &drop);
    is_int(b.out.stops.n, 1, "another node's removal stops it too");
    a = (struct meta_answer){.kind = META_REMOVE,
                             .outcome = META_ENDED,
                             .status = META_DONE,
                             .slot = NONE,
                             .item = {.task = 9}};
    event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE, .store = {.at = &a, .n = 1}});
    ok(b.out.notes.n == 1 && b.out.notes.at[0].kind == SCHED_NOTE_KEPT,
       "a removal that came too late is told");
    bed_free(&b);
}

/* Words that mean nothing to it must not hurt it. */
static void test_nonsense(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 4, .cores = 2});
    struct meta_item item = {.task = 3, .epoch = 1, .max_node = 77};
    for (uint32_t kind = 0; kind < 12; kind++)
        for (uint32_t from = 0; from < 6; from++) {
            message(&b,
                    (struct sched_message){
                        .kind = (uint8_t)kind, .from = from, .to = 0, .round = 9, .count = 1},
                    &item);
            struct meta_answer a = {
                .kind = (uint8_t)kind, .outcome = (uint8_t)(from % 4), .slot = from, .item = item};
            event(&b, (struct sched_event){.kind = SCHED_EVENT_STORE,
                                           .store = {.at = &a, .n = 1, .items = &item}});
            timer(&b, (struct sched_timer){b.now, kind, from});
            end_task(&b, (struct sched_start){.task = from, .slot = kind}, 1, false, 0);
        }
    b.now = -5;
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = 99});
    ok(true, "nonsense is survived, with all queues in order");
    bed_free(&b);
}

/* Any event at any time, with fields that could be meant: nothing may break, whatever the sense. */
static void test_random_events(uint64_t seeds)
{
    uint64_t events = 0, broken = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct rng r;
        rng_seed(&r, seed);
        double disk[24];
        for (int i = 0; i < 24; i++)
            disk[i] = (double)rng_below(&r, 4);
        struct sched *s =
            sched_new(&(struct sched_config){.nodes = 1 + (uint32_t)rng_below(&r, 5),
                                             .seed = seed,
                                             .cores = 1 + (uint32_t)rng_below(&r, 3),
                                             .retries = 1,
                                             .retry_first = (double)rng_below(&r, 2),
                                             .disk = (double)rng_below(&r, 8),
                                             .task_disk = rng_below(&r, 2) ? disk : NULL,
                                             .adapt_tt = true,
                                             .adapt_policy = true,
                                             .steal_bound = 0.01});
        struct sched_actions out = {0};
        double now = 0;
        for (int step = 0; step < 400; step++) {
            struct meta_item items[6];
            struct meta_answer answers[3];
            struct sched_ended ended[3];
            uint32_t tasks[4];
            for (int i = 0; i < 6; i++)
                items[i] = (struct meta_item){.task = (uint32_t)rng_below(&r, 24),
                                              .epoch = (uint32_t)rng_below(&r, 4),
                                              .holder = (uint32_t)rng_below(&r, 6),
                                              .waiting = (uint32_t)rng_below(&r, 2),
                                              .max_node = (uint32_t)rng_below(&r, 6),
                                              .all_size = (double)rng_below(&r, 3) * 1e9,
                                              .max_size = (double)rng_below(&r, 3) * 1e9};
            for (int i = 0; i < 3; i++) {
                answers[i] = (struct meta_answer){
                    .kind = (uint8_t)rng_below(&r, META_KINDS + 1),
                    .outcome = rng_below(&r, 3) ? META_OK : (uint8_t)rng_below(&r, 4),
                    .status = (uint8_t)rng_below(&r, 6),
                    .doomed = rng_below(&r, 9) == 0,
                    .slot = (uint32_t)rng_below(&r, 26),
                    .asked_epoch = (uint32_t)rng_below(&r, 4),
                    .count = (uint32_t)rng_below(&r, 5),
                    .first = 1,
                    .item = items[i]};
                ended[i] = (struct sched_ended){.task = (uint32_t)rng_below(&r, 24),
                                                .slot = (uint32_t)rng_below(&r, 26),
                                                .failed = rng_below(&r, 3) == 0,
                                                .finish = rng_unit(&r),
                                                .fetched = rng_unit(&r) * 1e9};
            }
            for (int i = 0; i < 4; i++)
                tasks[i] = (uint32_t)rng_below(&r, 24);
            /* Now and then the answer that is due: pure noise would never get far. */
            if (out.ops.n && rng_below(&r, 2)) {
                const struct meta_op *op = &out.ops.at[rng_below(&r, out.ops.n)];
                answers[0].kind = op->kind;
                answers[0].slot = op->slot;
                answers[0].asked_epoch = op->epoch;
                answers[0].item.task = op->task;
            }
            if (out.starts.n) {
                ended[0].task = out.starts.at[0].task;
                ended[0].slot = out.starts.at[0].slot;
            }
            struct sched_message m = {.kind = (uint8_t)rng_below(&r, SCHED_MESSAGE_KINDS + 1),
                                      .from = (uint32_t)rng_below(&r, 6),
                                      .round = (uint32_t)rng_below(&r, 9),
                                      .load = (uint32_t)rng_below(&r, 4),
                                      .count = (uint32_t)rng_below(&r, 6)};
            struct sched_event e = {.kind =
                                        (enum sched_event_kind)rng_below(&r, SCHED_EVENT_DISK + 1),
                                    .now = now += rng_unit(&r) - 0.1};
            switch (e.kind) {
            case SCHED_EVENT_SUBMIT:
                e.submit.tasks = tasks;
                e.submit.n = 4;
                break;
            case SCHED_EVENT_MESSAGE:
                e.message.head = &m;
                e.message.items = items;
                break;
            case SCHED_EVENT_TIMER:
                e.timer.kind = (uint32_t)rng_below(&r, 9);
                e.timer.mark = (uint32_t)rng_below(&r, 24);
                break;
            case SCHED_EVENT_ENDED:
                e.ended.at = ended;
                e.ended.n = 3;
                break;
            case SCHED_EVENT_STORE:
                e.store = (struct meta_answers){.at = answers, .n = 3, .items = items};
                break;
            case SCHED_EVENT_DISK: /* also less than nothing: files grew past the limit */
                e.disk = 8 * rng_unit(&r) - 2;
                break;
            case SCHED_EVENT_POLICY:
                e.policy.policy = (enum sched_policy)rng_below(&r, 5);
                e.policy.t = rng_unit(&r) - 0.5;
                e.policy.tt = rng_unit(&r) - 0.5;
                break;
            default:
                e.node = (uint32_t)rng_below(&r, 6);
                break;
            }
            sched_actions_clear(&out);
            sched_handle(s, &e, &out);
            events++;
            struct error err = {0};
            if (!sched_check(s, &err)) {
                printf("# seed %llu: %s\n", (unsigned long long)seed, err.text);
                broken++;
                break;
            }
        }
        sched_actions_free(&out);
        sched_free(s);
    }
    is_int(broken, 0, "random events: %llu seeds, %llu events", (unsigned long long)seeds,
           (unsigned long long)events);
}

int main(void)
{
    const char *rounds = getenv("SCHED_ROUNDS"); /* more random events than usual */
    TAP_DO(test_order());
    TAP_DO(test_packing());
    TAP_DO(test_send_on());
    TAP_DO(test_steal_what_fits());
    TAP_DO(test_leaving());
    TAP_DO(test_push());
    TAP_DO(test_steal());
    TAP_DO(test_join());
    TAP_DO(test_retries());
    TAP_DO(test_failure_refused());
    TAP_DO(test_without_outputs());
    TAP_DO(test_remove());
    TAP_DO(test_nonsense());
    TAP_DO(test_random_events(rounds ? strtoull(rounds, NULL, 10) : 300));
    TAP_DO(test_newcomers());
    TAP_DO(test_company());
    return tap_done();
}
