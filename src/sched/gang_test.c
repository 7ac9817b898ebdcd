/* Tasks that span several nodes, seen from one scheduler: as their owner, and as one that gives parts.
 * Many of them among each other, with all that can go wrong: tests/faults. */
#include "sched/testing.h"

static const uint32_t spans[] = {1, 1, 1, 3, 2, 1};
static const uint32_t cores[] = {1, 1, 1, 1, 2, 1};

static struct bed gang_bed(uint32_t node)
{
    return bed_new((struct sched_config){.node = node,
                                         .nodes = 3,
                                         .cores = 2,
                                         .task_cores = cores,
                                         .task_nodes = spans,
                                         .steal_first = 1e6,
                                         .wait_poll = -1});
}

static uint32_t sent(const struct bed *b, enum sched_message_kind kind, uint32_t to)
{
    uint32_t n = 0;
    for (size_t i = 0; i < b->out.sends.n; i++)
        n += b->out.sends.at[i].kind == kind && b->out.sends.at[i].to == to;
    return n;
}

static void tell(struct bed *b, enum sched_message_kind kind, uint32_t from, uint32_t to,
                 struct meta_item item, uint32_t load)
{
    struct sched_message m = {
        .kind = (uint8_t)kind, .from = from, .to = to, .round = 1, .load = load, .count = 1};
    message(b, m, &item);
}

static void node_event(struct bed *b, enum sched_event_kind kind, uint32_t node)
{
    event(b, (struct sched_event){.kind = kind, .node = node});
}

/* Node 1 owns task 3, which spans all three. */
static void test_owner(void)
{
    struct bed b = gang_bed(1);
    struct meta_item item = {.task = 3, .epoch = 1, .holder = 1};
    submit(&b, 3, 1);
    is_int(sent(&b, SCHED_GANG_ASK, 0), 1, "the node with the smallest number is asked first");
    is_int(sent(&b, SCHED_GANG_ASK, 2), 0, "and nobody else");
    tell(&b, SCHED_GANG_GRANT, 0, 1, item, 0);
    is_int(sent(&b, SCHED_GANG_ASK, 2), 1, "this node's own part is next, then the last");
    is_int(b.out.starts.n, 0, "nothing runs with two of three");
    tell(&b, SCHED_GANG_GRANT, 0, 1, item, 0);
    is_int(b.out.sends.n, 0, "a word said twice changes nothing");
    tell(&b, SCHED_GANG_GRANT, 2, 1, item, 0);
    is_int(b.out.starts.n, 1, "with all three it starts");
    struct sched_start start = b.out.starts.at[0];
    uint32_t n = 0;
    const uint32_t *nodes = sched_gang(b.s, 3, &n);
    ok(n == 3 && nodes[0] == 0 && nodes[1] == 1 && nodes[2] == 2, "and its nodes are known");

    node_event(&b, SCHED_EVENT_NODE_DOWN, 2);
    is_int(b.out.stops.n, 1, "a node is lost: the task is stopped");
    ok(sched_is_lost(b.s, 3), "and why is known");
    end_task(&b, start, 1, true, 0);
    is_int(sent(&b, SCHED_GANG_FREE, 0), 1, "the others get their parts back");
    is_int(look(&b).failed_attempts, 0, "its end is no failure");
    is_int(look(&b).at[SCHED_UNFIT], 1, "two nodes are not enough: it waits");
    node_event(&b, SCHED_EVENT_NODE_UP, 2);
    is_int(sent(&b, SCHED_GANG_ASK, 0), 1, "the third is back: from the beginning");
    tell(&b, SCHED_GANG_HERE, 0, 1, (struct meta_item){.task = 3, .epoch = 2, .holder = 1}, 0);
    is_int(look(&b).at[SCHED_GATHERING], 1, "an answer about another try means nothing");
    bed_free(&b);
}

/* Node 2 gives parts to tasks of node 0. */
static void test_parts(void)
{
    struct bed b = gang_bed(2);
    struct meta_item three = {.task = 3, .epoch = 1, .holder = 0},
                     four = {.task = 4, .epoch = 1, .holder = 0};
    tell(&b, SCHED_GANG_ASK, 0, 2, three, 0);
    is_int(sent(&b, SCHED_GANG_GRANT, 0), 1, "there is room: granted");
    tell(&b, SCHED_GANG_ASK, 0, 2, three, 0);
    is_int(sent(&b, SCHED_GANG_GRANT, 0), 1, "asked again: said again, and nothing more is taken");
    submit(&b, 0, 1);
    is_int(b.out.starts.n, 1, "the other core is the node's own");
    struct sched_start start = b.out.starts.at[0];
    tell(&b, SCHED_GANG_ASK, 0, 2, four, 0);
    is_int(b.out.sends.n, 0, "a part of two cores waits");
    submit(&b, 1, 1);
    end_task(&b, start, 1, false, 0);
    is_int(b.out.starts.n, 0, "and what becomes free is kept for it");
    tell(&b, SCHED_GANG_FREE, 0, 2, three, 0);
    is_int(sent(&b, SCHED_GANG_GRANT, 0), 1, "until it has both");
    is_int(b.out.starts.n, 0, "the task that waits goes on waiting");
    node_event(&b, SCHED_EVENT_NODE_DOWN, 0);
    is_int(b.out.starts.n, 1, "its owner is dead: the cores are free, and the task starts");
    is_int(look(&b).parts, 0, "no part is left");
    tell(&b, SCHED_GANG_CALL, 1, 2, (struct meta_item){.task = 3, .epoch = 1, .holder = 1}, 0);
    ok(b.out.sends.n == 1 && b.out.sends.at[0].kind == SCHED_GANG_HERE && !b.out.sends.at[0].load,
       "who calls a node that knows nothing of it is told so");
    bed_free(&b);
}

/* Task 4 of node 0 needs two of three nodes: those that are idle. */
static void test_choice(void)
{
    struct bed b = gang_bed(0);
    struct meta_item item = {.task = 4, .epoch = 1, .holder = 0};
    submit(&b, 4, 1);
    ok(sent(&b, SCHED_GANG_QUERY, 1) && sent(&b, SCHED_GANG_QUERY, 2), "all are asked");
    tell(&b, SCHED_GANG_OFFER, 1, 0, item, 1);
    tell(&b, SCHED_GANG_OFFER, 2, 0, item, 0);
    is_int(sent(&b, SCHED_GANG_ASK, 2), 1, "the idle one is taken");
    bed_free(&b);

    b = gang_bed(0);
    submit(&b, 0, 1); /* busy: two cores are not to be had */
    submit(&b, 4, 1);
    tell(&b, SCHED_GANG_OFFER, 1, 0, item, 0);
    tell(&b, SCHED_GANG_OFFER, 2, 0, item, 0);
    is_int(sent(&b, SCHED_TASKS, 1) + sent(&b, SCHED_TASKS, 2), 1,
           "both others are idle and this one is not: one of them gets the task");
    bed_free(&b);
}

int main(void)
{
    TAP_DO(test_owner());
    TAP_DO(test_parts());
    TAP_DO(test_choice());
    return tap_done();
}
