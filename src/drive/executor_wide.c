/* Tasks that span several nodes, as the node that runs their command sees them. Who the others are and
 * whether they live is their owner's to know (run_options.gang): here are the variables that the command
 * finds, and what is made of an end for which a node may be to blame: another one, or this one, which
 * is being taken away.
 *
 *     ended badly ──▶ whose doing? ── the task's ──▶ a failure
 *                        ├─ nobody knows yet ──▶ parked ──▶ executor_judge() ──▶ a failure, or lost
 *                        └─ a node's ──▶ lost
 *
 * Lost is neither done nor failed: it goes back to the scheduler, and no attempt was made. A parked
 * command keeps its lane, and with it the log that its failure may need. */
#include "drive/executor_private.h"

#include "base/tree.h"

#include <signal.h>
#include <string.h>

bool executor_is_wide(const struct executor *x, uint32_t task)
{
    return x->o->gang && workflow_span(x->w, task) > 1;
}

/* env NAME=VALUE ... in front of the words. They are the executor's, and end with NULL. */
bool executor_add_variables(struct executor *x, uint32_t task, const char **program,
                            struct error *err)
{
    const struct run_gang *gang = x->o->gang;
    size_t n = 0, added = 1;
    while (x->words.at[n])
        n++;
    if (!executor_is_wide(x, task))
        return true;
    strbuf_clear(&x->variables);
    if (!gang->begin(gang->context, task, &x->variables, err))
        return false;
    for (size_t i = 0; i < x->variables.n; i += strlen(x->variables.at + i) + 1)
        added++;
    array_reserve(&x->words, n + 1 + added);
    memmove(x->words.at + added, x->words.at, (n + 1) * sizeof *x->words.at);
    if (*program)
        x->words.at[added] = (char *)*program;
    x->words.at[0] = (char *)"env";
    added = 1;
    for (size_t i = 0; i < x->variables.n; i += strlen(x->variables.at + i) + 1)
        x->words.at[added++] = x->variables.at + i;
    *program = NULL;
    return true;
}

/* What a batch system, a shutdown or a terminal sends to all that runs; a shell says it as 128 and more. */
static bool executor_was_killed(const struct child_result *c)
{
    return c->status == 128 + SIGTERM || c->status == 128 + SIGKILL || c->status == 128 + SIGINT ||
           c->status == 128 + SIGHUP;
}

void executor_child_lost(struct executor *x, const struct child_result *c)
{
    struct active *a = &x->active[c->slot];
    double began = driver_began(x->driver);
    struct trace_event e = {.kind = TRACE_TASK,
                            .id = c->task,
                            .lane = c->slot,
                            .start = c->start - began,
                            .finish = c->finish - began,
                            .outcome = TRACE_CANCELLED,
                            .attempt = c->attempt,
                            .cpu = c->cpu,
                            .memory = c->memory};
    if (a->sandbox)
        tree_remove(a->sandbox);
    input_marks_free(&a->inputs);
    uint32_t slot = a->slot;
    executor_clear_lane(x, c->slot);
    x->running--;
    outbox_event(x->outbox, &e);
    driver_ended(x->driver, &(struct sched_ended){.task = c->task,
                                                  .slot = slot,
                                                  .failed = true,
                                                  .returned = true,
                                                  .start = e.start,
                                                  .finish = e.finish});
}

bool executor_excuse(struct executor *x, const struct child_result *c)
{
    const struct run_gang *gang = x->o->gang;
    bool bad = c->end == CHILD_SIGNALLED || (c->end == CHILD_EXITED && c->status);
    if (!bad || x->stop == EXECUTOR_ENDS_NOW)
        return false;
    switch (gang->blame(gang->context, c->task, executor_was_killed(c))) {
    case RUN_BLAMES_TASK:
        return false;
    case RUN_BLAMES_NOBODY:
        array_push(&x->parked, *c);
        break;
    case RUN_BLAMES_NODE:
        executor_child_lost(x, c);
        break;
    }
    return true;
}

bool executor_take_lost(struct executor *x, const struct child_result *c)
{
    bool good = c->end == CHILD_EXITED && !c->status;
    if (!x->active[c->slot].lost || good || x->stop == EXECUTOR_ENDS_NOW)
        return false;
    executor_child_lost(x, c);
    return true;
}

bool executor_judge(struct executor *x, uint32_t task, bool lost)
{
    for (size_t i = 0; i < x->parked.n; i++) {
        struct child_result c = x->parked.at[i];
        if (c.task != task)
            continue;
        x->parked.at[i] = array_pop(&x->parked);
        if (lost)
            executor_child_lost(x, &c);
        else
            executor_child_over(x, &c);
        return true;
    }
    return false;
}

void executor_lose_all(struct executor *x)
{
    while (x->parked.n)
        executor_judge(x, x->parked.at[0].task, true);
    executor_lose_doubted(x, NONE);
    for (uint32_t lane = 0; lane < x->o->cores; lane++)
        x->active[lane].lost = x->active[lane].used;
    executor_return_waiting(x);
    executor_end_all(x);
}

void executor_lose_task(struct executor *x, uint32_t task)
{
    if (executor_judge(x, task, true))
        return;
    executor_lose_doubted(x, task);
    for (uint32_t lane = 0; lane < x->o->cores; lane++)
        if (x->active[lane].used && x->active[lane].task == task)
            x->active[lane].lost = true;
    executor_stop_task(x, task);
}
