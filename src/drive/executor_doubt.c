/* Tasks that have ended on an agent that may not be their holder any more: others took it for dead, while
 * it was stopped or cut off, and run them, too. What this one made must not take the place of what they
 * made, which others read by now; and its failure stops nothing.
 *
 *     ended ──▶ whose is it? ── this node's ──▶ as any other
 *                  ├─ nobody knows yet ──▶ doubted ── executor_settle_doubts() asks again
 *                  └─ another's ──▶ lost: nothing is taken, and the scheduler is told that it did not begin
 *
 * The owner knows (run_gang.holds). A command that is doubted keeps its lane and its sandbox, a call its
 * arguments, and both count as running. */
#include "drive/executor_private.h"

#include "base/tree.h"

enum run_holding executor_holding(struct executor *x, uint32_t task, bool good)
{
    const struct run_gang *gang = x->o->gang;
    return x->stop == EXECUTOR_ENDS_NOW ? RUN_HOLDS : gang->holds(gang->context, task, good);
}

static bool child_is_good(const struct child_result *c)
{
    return c->end == CHILD_EXITED && !c->status;
}

bool executor_doubts(struct executor *x, const struct child_result *c)
{
    enum run_holding holding = executor_holding(x, c->task, child_is_good(c));
    if (holding == RUN_DOUBTS)
        array_push(&x->doubted, *c);
    else if (holding == RUN_LOST)
        executor_child_lost(x, c);
    return holding != RUN_HOLDS;
}

/* Nothing of it is taken. */
static void call_lost(struct executor *x, const struct call_result *c)
{
    struct call_arguments *a = x->arguments.at[c->slot];
    double began = driver_began(x->driver);
    struct sched_ended ended = {.task = c->task,
                                .slot = a->slot,
                                .failed = true,
                                .returned = true,
                                .start = c->start - began,
                                .finish = c->finish - began};
    outbox_event(x->outbox, &(struct trace_event){.kind = TRACE_TASK,
                                                  .id = c->task,
                                                  .lane = c->lane,
                                                  .start = ended.start,
                                                  .finish = ended.finish,
                                                  .outcome = TRACE_CANCELLED,
                                                  .attempt = c->attempt,
                                                  .cpu = c->cpu});
    if (a->sandbox)
        tree_remove(a->sandbox);
    executor_give_arguments(x, c->slot);
    x->running--;
    driver_ended(x->driver, &ended);
}

bool executor_doubts_call(struct executor *x, const struct call_result *c)
{
    enum run_holding holding = executor_holding(x, c->task, !c->status);
    if (holding == RUN_DOUBTS)
        array_push(&x->doubted_calls, *c);
    else if (holding == RUN_LOST)
        call_lost(x, c);
    return holding != RUN_HOLDS;
}

/* Each is taken out before it is looked at again: what is still doubted stands there anew. */
void executor_settle_doubts(struct executor *x)
{
    for (size_t n = x->doubted.n; n--;) {
        struct child_result c = x->doubted.at[n];
        x->doubted.at[n] = array_pop(&x->doubted);
        executor_child_ended(x, &c);
    }
    for (size_t n = x->doubted_calls.n; n--;) {
        struct call_result c = x->doubted_calls.at[n];
        x->doubted_calls.at[n] = array_pop(&x->doubted_calls);
        executor_call_ended(x, &c);
    }
}

void executor_lose_doubted(struct executor *x, uint32_t task)
{
    for (size_t n = x->doubted.n; n--;) {
        struct child_result c = x->doubted.at[n];
        if (task != NONE && c.task != task)
            continue;
        x->doubted.at[n] = array_pop(&x->doubted);
        executor_child_lost(x, &c);
    }
    for (size_t n = x->doubted_calls.n; n--;) {
        struct call_result c = x->doubted_calls.at[n];
        if (task != NONE && c.task != task)
            continue;
        x->doubted_calls.at[n] = array_pop(&x->doubted_calls);
        call_lost(x, &c);
    }
}
