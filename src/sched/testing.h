/* For the tests of one scheduler: a bed that gives it events, grants all it asks of the store, and
 * checks after every event that what it keeps twice agrees. */
#pragma once
#include "sched/state.h"
#include "tap.h"

/* A scheduler with a store that grants everything. `size` bytes of input stand at `where` for every
 * task, until changed. */
struct bed {
    struct sched *s;
    struct sched_actions out;
    double now, size;
    uint32_t where, waiting;
    ARRAY(struct meta_op) ops; /* all that were sent */
};

__attribute__((unused)) static struct bed bed_new(struct sched_config config)
{
    return (struct bed){.s = sched_new(&config), .where = NONE};
}

__attribute__((unused)) static void bed_free(struct bed *b)
{
    sched_free(b->s);
    sched_actions_free(&b->out);
    array_free(&b->ops);
}

/* Handle one event; the actions of the one before are gone. */
__attribute__((unused)) static void event(struct bed *b, struct sched_event e)
{
    sched_actions_clear(&b->out);
    e.now = b->now;
    sched_handle(b->s, &e, &b->out);
    struct error err = {0};
    if (!sched_check(b->s, &err))
        ok(false, "%s", err.text);
}

/* Answer the HOLDs and COMPLETEs among the last actions, as one event. */
__attribute__((unused)) static void answer(struct bed *b)
{
    ARRAY(struct meta_answer) answers = {0};
    for (size_t i = 0; i < b->out.ops.n; i++) {
        struct meta_op *op = &b->out.ops.at[i];
        array_push(&b->ops, *op);
        struct meta_answer a = {
            .kind = op->kind, .slot = op->slot, .asked_epoch = op->epoch, .status = op->status};
        a.item = (struct meta_item){.task = op->task,
                                    .epoch = op->epoch + 1,
                                    .holder = op->node,
                                    .waiting = b->waiting,
                                    .all_size = b->size,
                                    .max_size = b->size,
                                    .max_node = b->where};
        array_push(&answers, a);
    }
    if (answers.n)
        event(b, (struct sched_event){.kind = SCHED_EVENT_STORE,
                                      .store = {.at = answers.at, .n = answers.n}});
    array_free(&answers);
}

__attribute__((unused)) static void submit(struct bed *b, uint32_t first, uint32_t n)
{
    uint32_t *tasks = mem_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        tasks[i] = first + i;
    event(b, (struct sched_event){.kind = SCHED_EVENT_SUBMIT, .submit = {tasks, n}});
    free(tasks);
    answer(b);
}

__attribute__((unused)) static void end_task(struct bed *b, struct sched_start start,
                                             double seconds, bool failed, double fetched)
{
    struct sched_ended e = {.task = start.task,
                            .slot = start.slot,
                            .failed = failed,
                            .start = b->now - seconds,
                            .finish = b->now,
                            .fetched = fetched};
    event(b, (struct sched_event){.kind = SCHED_EVENT_ENDED, .ended = {&e, 1}});
}

__attribute__((unused)) static void timer(struct bed *b, struct sched_timer t)
{
    b->now = t.when > b->now ? t.when : b->now;
    event(b, (struct sched_event){.kind = SCHED_EVENT_TIMER, .timer = {t.kind, t.mark}});
}

__attribute__((unused)) static void message(struct bed *b, struct sched_message m,
                                            const struct meta_item *items)
{
    event(b, (struct sched_event){.kind = SCHED_EVENT_MESSAGE, .message = {&m, items}});
}

__attribute__((unused)) static struct sched_counts look(const struct bed *b)
{
    struct sched_counts c;
    sched_snapshot(b->s, &c);
    return c;
}
