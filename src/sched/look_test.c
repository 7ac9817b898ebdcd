/* Inputs of joins that come while there is nothing to do (look.c): see sched.h, `looks`. */
#include "sched/testing.h"

static const struct sched_config base = {.node = 0,
                                         .nodes = 2,
                                         .cores = 1,
                                         .bandwidth = 100,
                                         .default_length = 1,
                                         .share_local = true,
                                         .steal_first = 0.001,
                                         .wait_poll = -1};

/* The other node has nothing: one round of stealing that fails. */
static void fail_to_steal(struct bed *b)
{
    uint32_t round = 0;
    for (size_t i = 0; i < b->out.sends.n; i++)
        if (b->out.sends.at[i].kind == SCHED_LOAD_QUERY)
            round = b->out.sends.at[i].round;
    ok(round > 0, "it is idle, and asks for work");
    message(b, (struct sched_message){.kind = SCHED_LOAD_REPLY, .from = 1, .to = 0, .round = round},
            NULL);
}

/* A node that holds task 7, which waits for three parents, and that failed to steal. */
static struct bed idle(const struct sched_config *config)
{
    struct bed b = bed_new(*config);
    b.waiting = 3;
    b.size = 300;
    b.where = 1;
    submit(&b, 7, 1);
    fail_to_steal(&b);
    return b;
}

/* The timer of a look, of those that were just set. */
static const struct sched_timer *look_set(const struct bed *b)
{
    for (size_t i = 0; i < b->out.timers.n; i++)
        if (b->out.timers.at[i].when > b->now + 0.009)
            return &b->out.timers.at[i];
    return NULL;
}

/* That timer fires, the store is asked, and says that so many parents are not done. When the next look is:
 * without news, or with. */
static bool look_at(struct bed *b, const struct sched_timer *t, uint32_t waiting,
                    struct sched_timer *next)
{
    timer(b, *t);
    if (b->out.ops.n != 1 || b->out.ops.at[0].kind != META_GET || !look_set(b))
        return false;
    *next = *look_set(b);
    /* the bed answers every operation with a new epoch: a GET changes none */
    struct meta_op op = b->out.ops.at[0];
    struct meta_answer a = {.kind = META_GET, .slot = op.slot, .asked_epoch = op.epoch};
    a.item = (struct meta_item){
        .task = op.task, .epoch = op.epoch, .holder = 0, .waiting = waiting, .max_node = 1};
    event(b, (struct sched_event){.kind = SCHED_EVENT_STORE, .store = {.at = &a, .n = 1}});
    if (look_set(b))
        *next = *look_set(b);
    return true;
}

/* Its last parent is done, and most of its data are on the other node. */
static void becomes_ready(struct bed *b)
{
    struct meta_item item = {
        .task = 7, .epoch = 1, .holder = 0, .all_size = 300, .max_size = 100, .max_node = 1};
    message(b, (struct sched_message){.kind = SCHED_READY, .from = 1, .to = 0, .count = 1}, &item);
}

static void test_news(void)
{
    struct bed b = idle(&base);
    ok(look_set(&b), "nobody has anything: it will look at what waits");
    if (!look_set(&b))
        return;
    struct sched_timer next = *look_set(&b), late;
    double pause = next.when - b.now;
    ok(look_at(&b, &next, 3, &next) && !b.out.looks.n, "no parent more is done: nothing to bring");
    is_dbl(next.when - b.now, 2 * pause, 1e-9, "the next pause is twice as long");
    ok(look_at(&b, &next, 3, &late), "and the one after that");
    is_dbl(late.when - b.now, 4 * pause, 1e-9, "again");
    ok(look_at(&b, &late, 2, &next) && b.out.looks.n == 1 && b.out.looks.at[0] == 7,
       "one is: what it made is to come");
    is_dbl(next.when - b.now, pause, 1e-9, "and the first pause again");
    ok(look_at(&b, &next, 2, &next) && !b.out.looks.n, "told once is enough");
    timer(&b, late);
    ok(!b.out.ops.n, "a timer from before the news is passed over");
    becomes_ready(&b);
    ok(b.out.starts.n == 1 && look(&b).pushed == 0, "then it starts here, where its data come");
    bed_free(&b);
}

static void test_without(void)
{
    struct bed b = idle(&base);
    becomes_ready(&b);
    ok(look(&b).pushed == 1, "without news it goes to its data, by Algorithm 1");
    bed_free(&b);

    struct sched_config rigid = base;
    rigid.share_local = false;
    b = idle(&rigid);
    ok(!look_set(&b), "as in the paper: no look");
    bed_free(&b);

    b = bed_new(base);
    b.where = 0;
    submit(&b, 0, 1);
    b.waiting = 3;
    submit(&b, 7, 1);
    ok(look(&b).at[SCHED_RUNNING] == 1 && !look_set(&b), "a node with work to do does not look");
    bed_free(&b);
}

int main(void)
{
    static const struct tap_case cases[] = {TAP_CASE(test_news), TAP_CASE(test_without)};
    return tap_run(cases, sizeof cases / sizeof *cases);
}
